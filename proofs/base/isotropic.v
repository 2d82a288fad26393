(** The function (1 − β)/(β (1 − 2β)^{p/2 + 1}) on (0, ½) and its only minimum. *)
Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(** (1 − β)/β · (1 − 2β)^{−p/2 − 1} *)
Definition isotropic (p beta : R) : R := (1 - beta) / beta * Rpower (1 - 2 * beta) (- (p / 2 + 1)).

(** (p + 4 − √(p² + 4p + 8)) / (2 (p + 2)) *)
Definition best_square (p : R) : R := (p + 4 - sqrt (p ^ 2 + 4 * p + 8)) / (2 * (p + 2)).

Lemma best_square_in p : 0 < p -> 0 < best_square p < / 2.
Proof.
  intros Hp. unfold best_square. assert (H : 0 <= p ^ 2 + 4 * p + 8) by nra.
  assert (S := sqrt_pos (p ^ 2 + 4 * p + 8)). assert (E := sqrt_sqrt _ H). set (r := sqrt _) in *.
  assert (2 < r) by nra. assert (r < p + 4) by nra. split.
  - apply Rdiv_lt_0_compat; lra.
  - apply Rmult_lt_reg_r with (2 * (p + 2)); [lra|]. field_simplify; lra.
Qed.

Lemma best_square_root p : 0 < p -> (p + 2) * best_square p ^ 2 - (p + 4) * best_square p + 1 = 0.
Proof.
  intros Hp. unfold best_square. assert (H : 0 <= p ^ 2 + 4 * p + 8) by nra.
  assert (E := sqrt_sqrt _ H). set (r := sqrt _) in *. field_simplify; [|lra].
  replace (r ^ 2) with (p ^ 2 + 4 * p + 8) by (rewrite <- E; ring). field; lra.
Qed.

(** The logarithm and its derivative *)
Definition log_isotropic (p beta : R) : R := ln (1 - beta) - ln beta - (p / 2 + 1) * ln (1 - 2 * beta).

Lemma isotropic_exp p beta : 0 < beta < / 2 -> isotropic p beta = exp (log_isotropic p beta).
Proof.
  intros H. unfold isotropic, log_isotropic, Rpower. unfold Rminus at 3. rewrite exp_plus.
  unfold Rminus at 3. rewrite exp_plus, exp_Ropp, !exp_ln by lra. unfold Rdiv at 1. f_equal. f_equal. ring.
Qed.

Lemma log_isotropic_slope p beta : 0 < beta < / 2 -> is_derive (log_isotropic p) beta
  (((p + 2) * beta - (p + 2) * beta ^ 2 - (1 - 2 * beta)) / (beta * (1 - beta) * (1 - 2 * beta))).
Proof. intros H. unfold log_isotropic. auto_derive; [repeat split; lra|field; repeat split; lra]. Qed.

Lemma isotropic_least p beta : 0 < p -> 0 < beta < / 2 -> beta <> best_square p ->
  isotropic p (best_square p) < isotropic p beta.
Proof.
  intros Hp Hb Hn. assert (Hs := best_square_in p Hp). assert (Hr := best_square_root p Hp).
  set (c := best_square p) in *. rewrite !isotropic_exp by easy. apply exp_increasing.
  set (g := fun x => ((p + 2) * x - (p + 2) * x ^ 2 - (1 - 2 * x)) / (x * (1 - x) * (1 - 2 * x))).
  assert (G : forall x, 0 < x < / 2 -> derivable_pt_lim (log_isotropic p) x (g x))
    by (intros; apply is_derive_Reals; now apply log_isotropic_slope).
  assert (D : forall x, 0 < x < / 2 -> 0 < x * (1 - x) * (1 - 2 * x))
    by (intros; apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; lra).
  assert (Q : forall x, (p + 2) * x - (p + 2) * x ^ 2 - (1 - 2 * x) = (x - c) * (p + 4 - (p + 2) * (x + c)))
    by (intros; lra).
  destruct (Rlt_or_le beta c) as [L|L].
  - destruct (MVT_cor2 (log_isotropic p) g beta c L) as (x & E & Hx); [intros; apply G; lra|].
    assert (g x < 0); [|nra]. unfold g. rewrite Q. specialize (D x ltac:(lra)).
    apply Rmult_lt_reg_r with (x * (1 - x) * (1 - 2 * x)); [easy|]. unfold Rdiv.
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
    assert (0 < p + 4 - (p + 2) * (x + c)) by nra. nra.
  - destruct (MVT_cor2 (log_isotropic p) g c beta ltac:(lra)) as (x & E & Hx); [intros; apply G; lra|].
    assert (0 < g x); [|nra]. unfold g. rewrite Q. specialize (D x ltac:(lra)). apply Rdiv_lt_0_compat; [|easy].
    assert (0 < p + 4 - (p + 2) * (x + c)) by nra. nra.
Qed.
