(** One head on one input, its gradient in the closed form of Lemma 1, and how large its blocks can be. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.squared_loss.
Open Scope R_scope.

(** α = softmax of the logits ⟨X_t, Wq⟩, for T tokens X_t and the query q in ℝᵈ *)
Definition weights (T d : nat) (X : matrix) (q : vector) (W : matrix) : vector :=
  softmax T (fun t => dot d (X t) (matvec d W q)).

(** a = Σ α_t X_t, z = ⟨U, a⟩ and MU, with M the softmax covariance *)
Definition attention (T d : nat) X q W : vector := attended T (weights T d X q W) X.
Definition score (T d : nat) X q U W : R := dot d U (attention T d X q W).
Definition spread (T d : nat) X q U W : vector := matvec d (covariance T (weights T d X q W) X) U.

Section Head.
Variables (T d : nat) (X : matrix) (q : vector) (U : vector) (W : matrix).
Hypothesis HT : (0 < T)%nat.
Hypothesis HX : forall t, (t < T)%nat -> sq d (X t) <= 1.

Let alpha := weights T d X q W.
Let a := attention T d X q W.

Lemma weights_distribution : distribution T alpha.
Proof. now apply softmax_distribution. Qed.

Lemma E_dot v : dot d a v = E T alpha (fun t => dot d (X t) v).
Proof.
  unfold dot, a, attention, attended, E. fold alpha.
  rewrite (Sum_ext d _ (fun i => Sum T (fun t => alpha t * (X t i * v i)))).
  - rewrite Sum_swap. apply Sum_ext. intros t _. now rewrite Sum_scal.
  - intros i _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros; ring.
Qed.

(** E ‖X − a‖² = E‖X‖² − ‖a‖² ≤ 1 − ‖a‖² *)
Lemma budget : E T alpha (fun t => sq d (vminus (X t) a)) <= 1 - sq d a.
Proof.
  assert (D := weights_distribution).
  rewrite (E_ext T alpha _ (fun t => sq d (X t) + (-2 * dot d (X t) a + sq d a))) by (intros; rewrite sq_minus; ring).
  rewrite E_plus, E_plus, E_scal, (E_const T alpha _ D), <- (E_dot a), <- sq_dot.
  assert (E T alpha (fun t => sq d (X t)) <= 1) by (rewrite <- (E_const T alpha 1 D); now apply E_le). lra.
Qed.

Lemma attention_norm : sq d a <= 1.
Proof.
  assert (B := budget). assert (0 <= E T alpha (fun t => sq d (vminus (X t) a)))
    by (apply E_ge0; [apply weights_distribution|]; intros; apply sq_ge0). lra.
Qed.

(** ‖MU‖ ≤ (1 − ‖a‖²) ‖U‖ *)
Lemma spread_norm : vnorm d (spread T d X q U W) <= (1 - sq d a) * vnorm d U.
Proof.
  set (w := spread T d X q U W). assert (D := weights_distribution).
  assert (V : forall v, E T alpha (fun t => dot d (vminus (X t) a) v ^ 2) <= (1 - sq d a) * sq d v).
  { intros v. apply Rle_trans with (E T alpha (fun t => sq d v * sq d (vminus (X t) a))).
    - apply E_le; [easy|]. intros t _. rewrite Rmult_comm. apply cauchy_sq.
    - rewrite E_scal, Rmult_comm. apply Rmult_le_compat_r; [apply sq_ge0|apply budget]. }
  assert (Ew : forall i, w i = E T alpha (fun t => dot d (vminus (X t) a) U * (X t i - a i))).
  { intros i. unfold w, spread, matvec, covariance. fold alpha.
    rewrite (Sum_ext d _ (fun j => Sum T (fun t => alpha t * ((X t i - a i) * ((X t j - a j) * U j))))).
    - rewrite Sum_swap. apply Sum_ext. intros t _. unfold dot. rewrite Sum_scal, Sum_scal. unfold vminus. ring.
    - intros j _. unfold E. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext.
      intros; unfold a, attention; fold alpha; ring. }
  assert (Dw : sq d w = E T alpha (fun t => dot d (vminus (X t) a) U * dot d (vminus (X t) a) w)).
  { rewrite sq_dot. unfold dot at 1. rewrite (Sum_ext d _ (fun i => Sum T (fun t => alpha t * (dot d (vminus (X t) a) U
    *
      ((X t i - a i) * w i))))).
    - rewrite Sum_swap. apply Sum_ext. intros t _. rewrite Sum_scal, Sum_scal. unfold dot, vminus. ring.
    - intros i _. rewrite Ew at 1. unfold E. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros; ring. }
  assert (C := E_cauchy T alpha (fun t => dot d (vminus (X t) a) U) (fun t => dot d (vminus (X t) a) w) D).
  cbv beta in C. rewrite <- Dw in C. assert (V1 := V U). assert (V2 := V w).
  assert (B0 : 0 <= 1 - sq d a) by (assert (K := attention_norm); lra).
  assert (P : sq d w ^ 2 <= ((1 - sq d a) * sq d U) * ((1 - sq d a) * sq d w)).
  { eapply Rle_trans; [apply C|]. apply Rmult_le_compat; try easy; (apply E_ge0; [easy|]); intros; apply pow2_ge_0. }
  apply le_of_sq; [apply Rmult_le_pos; [easy|apply norm_ge0]|]. rewrite Rpow_mult_distr, !norm_sq.
  assert (S := sq_ge0 d w). destruct S as [S|S]; [apply Rmult_le_reg_r with (sq d w); lra|].
  rewrite <- S. apply Rmult_le_pos; [apply pow2_ge_0|apply sq_ge0].
Qed.

(** ‖a‖² + ‖MU‖² ≤ max(1, R²) for ‖U‖ ≤ R *)
Lemma slope_norm R : vnorm d U <= R -> sq d a + sq d (spread T d X q U W) <= Rmax 1 (R ^ 2).
Proof.
  intros HR. assert (A := attention_norm). assert (S := sq_ge0 d a). assert (M := spread_norm).
  assert (N := norm_ge0 d (spread T d X q U W)). assert (NU := norm_ge0 d U). set (t := sq d a) in *.
  assert (B : sq d (spread T d X q U W) <= (1 - t) * Rmax 1 (R ^ 2)).
  { rewrite <- norm_sq. apply Rle_trans with (((1 - t) * R) ^ 2).
    - apply pow_incr. split; [easy|]. eapply Rle_trans; [apply M|]. apply Rmult_le_compat_l; lra.
    - rewrite Rpow_mult_distr. assert (L : R ^ 2 <= Rmax 1 (R ^ 2)) by apply Rmax_r.
      assert (G : (1 - t) ^ 2 <= 1 - t) by (assert (0 <= t * (1 - t)) by (apply Rmult_le_pos; lra); lra).
      apply Rmult_le_compat; try easy; apply pow2_ge_0. }
  assert (L : 1 <= Rmax 1 (R ^ 2)) by apply Rmax_l.
  assert (0 <= t * (Rmax 1 (R ^ 2) - 1)) by (apply Rmult_le_pos; lra). lra.
Qed.
End Head.
