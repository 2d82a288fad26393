(** Attention as a random token: a distribution over T tokens, means under it, softmax. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors.
Open Scope R_scope.

(** α is a probability distribution over the tokens 0 … T − 1 *)
Definition distribution (T : nat) (alpha : vector) : Prop :=
  (forall t, (t < T)%nat -> 0 <= alpha t) /\ Sum T alpha = 1.

(** E f = Σ α_t f(t), the mean of f over the token that attention draws *)
Definition E (T : nat) (alpha f : vector) : R := Sum T (fun t => alpha t * f t).

(** a_i = Σ α_t X_ti, the attended token *)
Definition attended (T : nat) (alpha : vector) (X : matrix) : vector := fun i => E T alpha (fun t => X t i).

(** M_ij = E (X_i − a_i)(X_j − a_j), the softmax covariance of the tokens *)
Definition covariance (T : nat) (alpha : vector) (X : matrix) : matrix := fun i j =>
  E T alpha (fun t => (X t i - attended T alpha X i) * (X t j - attended T alpha X j)).

(** softmax(z)_t = exp z_t / Σ exp z_s *)
Definition softmax (T : nat) (z : vector) : vector := fun t => exp (z t) / Sum T (fun s => exp (z s)).

(** diag(p) − p pᵀ, the Jacobian of softmax at weights p *)
Definition jacobian (p : vector) : matrix := fun s t => (if Nat.eqb s t then p s else 0) - p s * p t.

Lemma E_ext T alpha f g : (forall t, (t < T)%nat -> f t = g t) -> E T alpha f = E T alpha g.
Proof. intros H. apply Sum_ext; intros. now rewrite H. Qed.

Lemma E_plus T alpha f g : E T alpha (fun t => f t + g t) = E T alpha f + E T alpha g.
Proof. unfold E. rewrite <- Sum_plus. apply Sum_ext; intros; ring. Qed.

Lemma E_scal T alpha c f : E T alpha (fun t => c * f t) = c * E T alpha f.
Proof. unfold E. rewrite <- Sum_scal. apply Sum_ext; intros; ring. Qed.

Lemma E_const T alpha c : distribution T alpha -> E T alpha (fun _ => c) = c.
Proof.
  intros [_ H]. unfold E. rewrite (Sum_ext _ _ (fun t => c * alpha t)) by (intros; ring).
  rewrite Sum_scal, H. ring.
Qed.

Lemma E_le T alpha f g : distribution T alpha -> (forall t, (t < T)%nat -> f t <= g t) -> E T alpha f <= E T alpha g.
Proof. intros [P _] H. apply Sum_le; intros. apply Rmult_le_compat_l; auto. Qed.

Lemma E_ge0 T alpha f : distribution T alpha -> (forall t, (t < T)%nat -> 0 <= f t) -> 0 <= E T alpha f.
Proof. intros [P _] H. apply Sum_ge0; intros. apply Rmult_le_pos; auto. Qed.

(** E (f − E f)² = E f² − (E f)² *)
Lemma variance T alpha f : distribution T alpha ->
  E T alpha (fun t => (f t - E T alpha f) ^ 2) = E T alpha (fun t => f t ^ 2) - E T alpha f ^ 2.
Proof.
  intros H. rewrite (E_ext T alpha _ (fun t => f t ^ 2 + (-2 * E T alpha f * f t + E T alpha f ^ 2))) by (intros; ring).
  rewrite E_plus, E_plus, (E_scal T alpha (-2 * E T alpha f) f), (E_const T alpha _ H). ring.
Qed.

(** |E f g|² ≤ E f² E g² *)
Lemma E_cauchy T alpha f g : distribution T alpha ->
  E T alpha (fun t => f t * g t) ^ 2 <= E T alpha (fun t => f t ^ 2) * E T alpha (fun t => g t ^ 2).
Proof. intros [P _]. now apply Sum_cauchy. Qed.

Lemma partition_pos T z : (0 < T)%nat -> 0 < Sum T (fun s => exp (z s)).
Proof. intros H. apply Sum_gt0; [easy|]. intros; apply exp_pos. Qed.

Lemma softmax_pos T z t : (0 < T)%nat -> 0 < softmax T z t.
Proof. intros. apply Rdiv_lt_0_compat; [apply exp_pos | now apply partition_pos]. Qed.

Lemma softmax_distribution T z : (0 < T)%nat -> distribution T (softmax T z).
Proof.
  intros H. split; [intros; left; now apply softmax_pos|].
  unfold softmax. rewrite (Sum_ext _ _ (fun t => / Sum T (fun s => exp (z s)) * exp (z t))) by (intros; unfold Rdiv;
    ring).
  rewrite Sum_scal. apply Rinv_l. apply Rgt_not_eq, partition_pos, H.
Qed.

Lemma E_minus T alpha f g : E T alpha (fun t => f t - g t) = E T alpha f - E T alpha g.
Proof. unfold E. rewrite <- Sum_minus. apply Sum_ext; intros; ring. Qed.

Lemma E_Sum T d alpha f : E T alpha (fun t => Sum d (f t)) = Sum d (fun i => E T alpha (fun t => f t i)).
Proof.
  unfold E. rewrite (Sum_swap d T). apply Sum_ext; intros t _. now rewrite <- Sum_scal.
Qed.

Lemma E_zero T alpha f : (forall t, (t < T)%nat -> f t = 0) -> E T alpha f = 0.
Proof. intros H. unfold E. rewrite <- (Sum_zero T). apply Sum_ext; intros t Ht. rewrite H by easy. ring. Qed.

Lemma softmax_ext T y z t : (forall s, y s = z s) -> softmax T y t = softmax T z t.
Proof. intros H. unfold softmax. rewrite H. f_equal. apply Sum_ext. intros. now rewrite H. Qed.

(** E ⟨u, X⟩ = ⟨u, a⟩ *)
Lemma E_dot T d alpha X u : E T alpha (fun t => dot d u (X t)) = dot d u (attended T alpha X).
Proof.
  unfold E, dot, attended. rewrite (Sum_ext T _ (fun t => Sum d (fun i => u i * (alpha t * X t i)))).
  - rewrite Sum_swap. apply Sum_ext; intros. unfold E. now rewrite Sum_scal.
  - intros. rewrite <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

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

(** d/dτ E f = E (ω − E ω) f + E f′ where the logits move by ω. *)
Lemma E_derive T zeta omega (f : R -> vector) f' tau : (0 < T)%nat ->
  (forall t, (t < T)%nat -> is_derive (fun tau => f tau t) tau (f' t)) ->
  let alpha := softmax T (fun t => zeta t + tau * omega t) in
  is_derive (fun tau => E T (softmax T (fun t => zeta t + tau * omega t)) (f tau)) tau
    (E T alpha (fun t => (omega t - E T alpha omega) * f tau t) + E T alpha f').
Proof.
  intros HT D alpha. set (z := fun t => zeta t + tau * omega t).
  assert (Q : forall s, tau + (s - tau) = s) by (intros; ring).
  apply (is_derive_ext (fun s => E T (softmax T (fun t => z t + (s - tau) * omega t)) (f (tau + (s - tau))))).
  { intros s. rewrite Q. apply Sum_ext; intros t _. f_equal. apply softmax_ext. intros r. unfold z. ring. }
  rewrite <- (Rmult_1_l (_ + _)).
  apply (is_derive_comp (fun u => E T (softmax T (fun t => z t + u * omega t)) (f (tau + u))) (fun s => s - tau)).
  - replace (tau - tau) with 0 by ring. eapply derive_value.
    + apply (mean_derive T z omega (fun u => f (tau + u)) f' HT). intros t Ht. rewrite <- (Rmult_1_l (f' t)).
      apply (is_derive_comp (fun s => f s t) (fun u => tau + u)); [|auto_derive; [easy|ring]].
      rewrite Rplus_0_r. now apply D.
    + cbv beta. now rewrite Rplus_0_r.
  - auto_derive; [easy|ring].
Qed.
