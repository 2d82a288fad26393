(** tanh: its derivative 1 − tanh², its range, and its inverse. *)
Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

Lemma cosh_pos x : 0 < cosh x.
Proof. unfold cosh. assert (A := exp_pos x). assert (B := exp_pos (- x)). lra. Qed.

Lemma cosh_sinh x : cosh x ^ 2 - sinh x ^ 2 = 1.
Proof.
  unfold cosh, sinh. assert (P : exp x * exp (- x) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0). nra.
Qed.

Lemma tanh_derive x : is_derive tanh x (1 - tanh x ^ 2).
Proof.
  assert (C := cosh_pos x). assert (Q := cosh_sinh x). unfold tanh.
  apply is_derive_Reals. replace (1 - (sinh x / cosh x) ^ 2) with ((cosh x * cosh x - sinh x * sinh x) / Rsqr (cosh x)).
  - apply derivable_pt_lim_div; [apply derivable_pt_lim_sinh | apply derivable_pt_lim_cosh | lra].
  - unfold Rsqr. field. lra.
Qed.

Lemma tanh_sq x : tanh x ^ 2 < 1.
Proof.
  assert (C := cosh_pos x). assert (Q := cosh_sinh x). unfold tanh. unfold Rdiv. rewrite Rpow_mult_distr, pow_inv.
  apply (Rmult_lt_reg_r (cosh x ^ 2)); [nra|]. field_simplify; [|lra]. lra.
Qed.

(** every number in (−1, 1) is a value of tanh *)
Lemma tanh_onto h : -1 < h < 1 -> tanh (ln ((1 + h) / (1 - h)) / 2) = h.
Proof.
  intros H. set (r := (1 + h) / (1 - h)). assert (P : 0 < r) by (apply Rdiv_lt_0_compat; lra).
  set (u := exp (ln r / 2)). assert (U : 0 < u) by apply exp_pos.
  assert (U2 : u * u = r).
  { transitivity (exp (ln r)); [|now apply exp_ln]. unfold u. rewrite <- exp_plus. f_equal. field. }
  unfold tanh, sinh, cosh. rewrite exp_Ropp. fold u.
  transitivity ((u * u - 1) / (u * u + 1)); [field; split; [nra|lra]|]. rewrite U2. unfold r. field. split; lra.
Qed.
