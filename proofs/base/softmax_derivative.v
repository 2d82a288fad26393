(** How softmax weights, and means under them, move when the logits move along a line. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.spread.
Open Scope R_scope.

Lemma derive_mult (f g : R -> R) (x a b : R) : is_derive f x a -> is_derive g x b ->
  is_derive (fun e => f e * g e) x (a * g x + f x * b).
Proof. intros F G. apply (is_derive_mult f g x a b F G). intros; apply Rmult_comm. Qed.

Lemma derive_value (f : R -> R) (x a b : R) : is_derive f x a -> a = b -> is_derive f x b.
Proof. now intros H <-. Qed.

(** along the line z + e v the derivative of α_t is α_t (v_t − E v) *)
Lemma softmax_derive T z v t : (0 < T)%nat ->
  is_derive (fun e => softmax T (fun s => z s + e * v s) t) 0 (softmax T z t * (v t - E T (softmax T z) v)).
Proof.
  intros HT. set (Z := Sum T (fun s => exp (z s))). assert (HZ : 0 < Z) by now apply partition_pos.
  assert (R0 : forall s, exp (z s + 0 * v s) = exp (z s)) by (intros; f_equal; ring).
  assert (D : forall s, is_derive (fun e => exp (z s + e * v s)) 0 (v s * exp (z s))).
  { intros s. auto_derive; [easy|]. rewrite R0. ring. }
  assert (DZ : is_derive (fun e => Sum T (fun s => exp (z s + e * v s))) 0 (Sum T (fun s => v s * exp (z s)))).
  { apply (Sum_derive T (fun e s => exp (z s + e * v s))). intros; apply D. }
  assert (Z0 : Sum T (fun s => exp (z s + 0 * v s)) = Z) by (apply Sum_ext; intros; apply R0).
  eapply derive_value; [apply is_derive_div; [apply D|exact DZ|rewrite Z0; lra]|]. cbv beta. rewrite Z0, R0.
  assert (HV : Sum T (fun s => v s * exp (z s)) = Z * E T (softmax T z) v).
  { unfold E, softmax. fold Z. rewrite <- Sum_scal. apply Sum_ext; intros; field; lra. }
  rewrite HV. unfold softmax. fold Z. field. lra.
Qed.

(** d E g = E (v − E v) g + E dg *)
Lemma mean_derive T z v (g : R -> vector) g' : (0 < T)%nat ->
  (forall t, (t < T)%nat -> is_derive (fun e => g e t) 0 (g' t)) ->
  is_derive (fun e => E T (softmax T (fun s => z s + e * v s)) (g e)) 0
    (E T (softmax T z) (fun t => (v t - E T (softmax T z) v) * g 0 t) + E T (softmax T z) g').
Proof.
  intros HT G. unfold E at 1. eapply derive_value.
  - apply (Sum_derive T (fun e t => softmax T (fun s => z s + e * v s) t * g e t)). intros t Ht.
    apply derive_mult; [now apply softmax_derive|now apply G].
  - rewrite Sum_plus. f_equal; apply Sum_ext; intros t _; [ring|].
    f_equal. unfold softmax. f_equal; [|apply Sum_ext; intros]; f_equal; ring.
Qed.

Lemma mean_derive_const T z v g : (0 < T)%nat ->
  is_derive (fun e => E T (softmax T (fun s => z s + e * v s)) g) 0
    (E T (softmax T z) (fun t => (v t - E T (softmax T z) v) * g t)).
Proof.
  intros HT. eapply derive_value; [apply (mean_derive T z v (fun _ => g) (fun _ => 0) HT); intros;
    apply @is_derive_const|].
  rewrite (E_zero T _ (fun _ => 0)) by easy. cbv beta. ring.
Qed.
