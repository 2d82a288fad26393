(** Finite steps from bounds on derivatives. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(** f ≤ g at t if f(0) ≤ g(0) and f′ ≤ g′ on [0, t]. *)
Lemma grow f g f' g' t : 0 <= t -> (forall x, is_derive f x (f' x)) -> (forall x, is_derive g x (g' x)) ->
  (forall x, 0 <= x <= t -> f' x <= g' x) -> f 0 <= g 0 -> f t <= g t.
Proof.
  intros Ht Df Dg L B.
  assert (D : forall x, is_derive (fun x => g x - f x) x (g' x - f' x)) by (intros; apply (is_derive_minus g f); easy).
  destruct (MVT_gen (fun x => g x - f x) 0 t (fun x => g' x - f' x)) as (c & C & E).
  - intros; apply D.
  - intros x _. apply continuity_pt_filterlim. apply (ex_derive_continuous (fun x => g x - f x)). eexists; apply D.
  - rewrite Rmin_left, Rmax_right in C by easy. specialize (L c C). rewrite Rminus_0_r in E.
    assert (0 <= (g' c - f' c) * t) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma step_first f f' K : (forall x, is_derive f x (f' x)) -> (forall x, 0 <= x <= 1 -> Rabs (f' x) <= K) ->
  forall t, 0 <= t <= 1 -> Rabs (f t - f 0) <= K * t.
Proof.
  intros D B t Ht. assert (LIN : forall c x, is_derive (fun x => f 0 + c * x) x c) by (intros; auto_derive;
    [easy|ring]).
  assert (A := grow f (fun x => f 0 + K * x) f' (fun _ => K) t ltac:(lra) D (LIN K)
    ltac:(intros x Hx; specialize (B x ltac:(lra)); apply Rabs_le_between in B; lra) ltac:(lra)).
  assert (C := grow (fun x => f 0 + - K * x) f (fun _ => - K) f' t ltac:(lra) (LIN (- K)) D
    ltac:(intros x Hx; specialize (B x ltac:(lra)); apply Rabs_le_between in B; lra) ltac:(lra)).
  cbv beta in A, C. apply Rabs_le. lra.
Qed.

(** Taylor's remainder: |f(t) − f(0) − t f′(0)| ≤ ½ K t². *)
Lemma step_second f f' f'' K : (forall x, is_derive f x (f' x)) -> (forall x, is_derive f' x (f'' x)) ->
  (forall x, 0 <= x <= 1 -> Rabs (f'' x) <= K) -> forall t, 0 <= t <= 1
    -> Rabs (f t - f 0 - t * f' 0) <= / 2 * K * t ^ 2.
Proof.
  intros D D' B t Ht. assert (F := step_first f' f'' K D' B).
  assert (QUAD : forall c x, is_derive (fun x => f 0 + x * f' 0 + c * / 2 * x ^ 2) x (f' 0 + c * x))
    by (intros; auto_derive; [easy|field]).
  assert (A := grow f (fun x => f 0 + x * f' 0 + K * / 2 * x ^ 2) f' (fun x => f' 0 + K * x) t ltac:(lra) D (QUAD K)
    ltac:(intros x Hx; specialize (F x ltac:(lra)); apply Rabs_le_between in F; lra) ltac:(lra)).
  assert (C := grow (fun x => f 0 + x * f' 0 + - K * / 2 * x ^ 2) f (fun x => f' 0 + - K * x) f' t ltac:(lra) (QUAD (-
    K)) D
    ltac:(intros x Hx; specialize (F x ltac:(lra)); apply Rabs_le_between in F; lra) ltac:(lra)).
  cbv beta in A, C. apply Rabs_le. lra.
Qed.
