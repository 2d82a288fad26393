(** The numbers 74 and 34 in the width that is enough for equation (9′), by interval arithmetic. *)
Require Import Reals Lra.
From Interval Require Import Tactic.
Open Scope R_scope.

(** rt-theorem-p
    Covers: a part: that the stated width makes the bound on the probability at most δ; on the page: the bound itself.
    Reads: with v = ½ − 1/(2π), ϑ = 0.06, ε = 0.553 and h = ε + (1 − ε) log(1 − ε): (1 − ε)(v − ϑ) ≥ ⅛; and for κ̄ ≥ 1, n ≥ 1, 0 < δ ≤ 1 and d₁ ≥ 74 κ̄ log(34κ̄) log(n/δ), n exp(−d₁(v − ϑ)h/(4κ̄ log(2κ̄/ϑ))) ≤ δ.
    Constants: / 2 - / (2 * PI) = companion.theory.residual.kernel.OF_RELU
    Mistake: `60 * kappa` for `74 * kappa`
    Mistake: `/ 7 <= (1` for `/ 8 <= (1`
    Mistake: `d1 <= 74 * kappa * ln (34 * kappa) * ln (n / delta)` for `74 * kappa * ln (34 * kappa) * ln (n / delta) <= d1`
*)
Theorem rt_theorem_p :
  let v := / 2 - / (2 * PI) in let theta := 6 / 100 in let epsilon := 553 / 1000 in
  let h := epsilon + (1 - epsilon) * ln (1 - epsilon) in
  / 8 <= (1 - epsilon) * (v - theta) /\
  forall kappa n delta d1, 1 <= kappa -> 1 <= n -> 0 < delta <= 1 ->
    74 * kappa * ln (34 * kappa) * ln (n / delta) <= d1 ->
    n * exp (- (d1 * (v - theta) * h / (4 * kappa * ln (2 * kappa / theta)))) <= delta.
Proof.
  intros v theta epsilon h. split; [unfold v, theta, epsilon; interval|].
  intros kappa n delta d1 Hk Hn Hd H.
  assert (C : 4 <= 74 * ((v - theta) * h)) by (unfold v, theta, h, epsilon; interval with (i_prec 60)).
  set (c := (v - theta) * h) in *.
  assert (mono : forall x y, 0 < x -> x <= y -> ln x <= ln y) by (intros x y Hx [L|<-]; [left;
    now apply ln_increasing|lra]).
  assert (L1 : 0 < ln (2 * kappa / theta)).
  { rewrite <- ln_1. apply ln_increasing; unfold theta; lra. }
  assert (L2 : ln (2 * kappa / theta) <= ln (34 * kappa)) by (apply mono; unfold theta; lra).
  assert (ND : 1 <= n / delta) by (apply (Rmult_le_reg_r delta); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
  assert (L3 : 0 <= ln (n / delta)) by (rewrite <- ln_1; apply mono; lra).
  set (X := d1 * (v - theta) * h / (4 * kappa * ln (2 * kappa / theta))).
  assert (HX : ln (n / delta) <= X).
  { unfold X. apply (Rmult_le_reg_r (4 * kappa * ln (2 * kappa / theta))); [apply Rmult_lt_0_compat; lra|].
    replace (d1 * (v - theta) * h / (4 * kappa * ln (2 * kappa / theta)) * (4 * kappa * ln (2 * kappa / theta)))
      with (d1 * c)
      by (unfold c; field; lra).
    assert (0 < c) by lra. assert (P : 0 <= kappa * ln (n / delta)) by (apply Rmult_le_pos; lra).
    apply Rle_trans with (74 * kappa * ln (34 * kappa) * ln (n / delta) * c); [|apply Rmult_le_compat_r; lra].
    apply Rle_trans with (74 * c * (kappa * ln (n / delta) * ln (2 * kappa / theta))).
    - assert (0 <= kappa * ln (n / delta) * ln (2 * kappa / theta)) by (apply Rmult_le_pos; lra).
      replace (ln (n / delta) * (4 * kappa * ln (2 * kappa / theta)))
        with (4 * (kappa * ln (n / delta) * ln (2 * kappa / theta))) by ring.
      apply Rmult_le_compat_r; lra.
    - replace (74 * kappa * ln (34 * kappa) * ln (n / delta) * c)
        with (74 * c * (kappa * ln (n / delta) * ln (34 * kappa))) by ring.
      apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; lra. }
  apply Rle_trans with (n * exp (- ln (n / delta))).
  - apply Rmult_le_compat_l; [lra|]. destruct HX as [HX|<-]; [left; apply exp_increasing; lra|lra].
  - rewrite exp_Ropp, exp_ln by lra. right. field. lra.
Qed.
