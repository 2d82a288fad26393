(** tanh and its derivatives; ReLU, the normal density and distribution function, and ReLU smoothed by them. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

Lemma cosh_pos x : 0 < cosh x.
Proof. unfold cosh. assert (H := exp_pos x). assert (K := exp_pos (- x)). lra. Qed.

Lemma tanh_bound x : -1 < tanh x < 1.
Proof.
  unfold tanh. assert (H := cosh_pos x). assert (A := exp_pos x). assert (B := exp_pos (- x)).
  split; apply Rmult_lt_reg_r with (cosh x); try easy; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra;
    unfold cosh, sinh in *; lra.
Qed.

Lemma derive_tanh x : is_derive tanh x (1 - tanh x ^ 2).
Proof.
  apply is_derive_ext with (f := fun x => sinh x / cosh x); [reflexivity|]. unfold tanh, sinh, cosh.
  assert (H : 0 < exp x + exp (- x)) by (apply Rplus_lt_0_compat; apply exp_pos).
  auto_derive; [lra|]. field. lra.
Qed.

(** the derivative of a polynomial p in tanh is p' (1 − tanh²) *)
Lemma derive_n_tanh x : Derive_n tanh 1 x = 1 - tanh x ^ 2 /\ Derive_n tanh 2 x = -2 * tanh x * (1 - tanh x ^ 2) /\
  Derive_n tanh 3 x = -2 * (1 - tanh x ^ 2) * (1 - 3 * tanh x ^ 2) /\
  Derive_n tanh 4 x = 8 * tanh x * (1 - tanh x ^ 2) * (2 - 3 * tanh x ^ 2).
Proof.
  assert (D1 : forall x, Derive_n tanh 1 x = 1 - tanh x ^ 2) by (intros; apply is_derive_unique, derive_tanh).
  assert (T : forall x, ex_derive tanh x) by (intros y; eexists; apply derive_tanh).
  assert (T' : forall x, Derive tanh x = 1 - tanh x ^ 2) by (intros; apply is_derive_unique, derive_tanh).
  assert (D2 : forall x, Derive_n tanh 2 x = -2 * tanh x * (1 - tanh x ^ 2)).
  { intros y. cbn [Derive_n]. erewrite Derive_ext by apply D1. apply is_derive_unique.
    auto_derive; [apply T|]. rewrite T'. ring. }
  assert (D3 : forall x, Derive_n tanh 3 x = -2 * (1 - tanh x ^ 2) * (1 - 3 * tanh x ^ 2)).
  { intros y. transitivity (Derive (Derive_n tanh 2) y); [reflexivity|]. erewrite Derive_ext by apply D2.
      apply is_derive_unique.
    auto_derive; [split; [apply T|easy]|]. rewrite T'. ring. }
  split; [|split; [|split]]; auto.
  transitivity (Derive (Derive_n tanh 3) x); [reflexivity|]. erewrite Derive_ext by apply D3. apply is_derive_unique.
  auto_derive; [repeat split; apply T|]. rewrite T'. ring.
Qed.

(** tanh takes every value between −1 and 1 *)
Lemma tanh_onto t : -1 < t < 1 -> exists z, tanh z = t.
Proof.
  intros H. exists (/ 2 * ln ((1 + t) / (1 - t))). set (z := / 2 * ln ((1 + t) / (1 - t))).
  assert (Q : 0 < (1 + t) / (1 - t)) by (apply Rdiv_lt_0_compat; lra).
  assert (E : exp z * exp z = (1 + t) / (1 - t)).
  { rewrite <- exp_plus. replace (z + z) with (ln ((1 + t) / (1 - t))) by (unfold z; field). now apply exp_ln. }
  unfold tanh, sinh, cosh. rewrite exp_Ropp. assert (P := exp_pos z). set (e := exp z) in *.
  assert (0 < e * e) by now apply Rmult_lt_0_compat.
  replace ((e - / e) / 2 / ((e + / e) / 2)) with ((e * e - 1) / (e * e + 1)) by (field; lra).
  rewrite E. field. lra.
Qed.

(** ψ(x) = exp(−x²/2)/√(2π) *)
Definition density (x : R) : R := exp (- x ^ 2 / 2) / sqrt (2 * PI).

(** Ψ(x) = ½ + ∫_0^x ψ, the mass below x *)
Definition cumulative (x : R) : R := / 2 + RInt density 0 x.

(** φ_τ(x) = xΨ(x/τ) + τψ(x/τ) − τ/√(2π) for τ > 0, and φ_0 = relu *)
Definition relu (x : R) : R := Rmax x 0.
Definition smoothed (tau x : R) : R :=
  if Req_EM_T tau 0 then relu x else x * cumulative (x / tau) + tau * density (x / tau) - tau / sqrt (2 * PI).

Lemma root_2pi_pos : 0 < sqrt (2 * PI).
Proof. apply sqrt_lt_R0. assert (H := PI_RGT_0). lra. Qed.

Lemma smoothed_form tau x : 0 < tau ->
  smoothed tau x = x * cumulative (x / tau) + tau * density (x / tau) - tau / sqrt (2 * PI).
Proof. intros H. unfold smoothed. destruct (Req_EM_T tau 0); [lra|easy]. Qed.

Lemma smoothed_relu x : smoothed 0 x = relu x.
Proof. unfold smoothed. destruct (Req_EM_T 0 0); easy. Qed.

(** φ_τ(gx) = g φ_(τ/g)(x) *)
Lemma smoothed_scale g tau x : 0 < g -> 0 <= tau -> smoothed tau (g * x) = g * smoothed (tau / g) x.
Proof.
  intros Hg [H|<-].
  - assert (0 < tau / g) by now apply Rdiv_lt_0_compat. rewrite !smoothed_form by easy.
    replace (g * x / tau) with (x / (tau / g)) by (field; lra). assert (P := root_2pi_pos). field. lra.
  - replace (0 / g) with 0 by (field; lra). rewrite !smoothed_relu. unfold relu. rewrite <- RmaxRmult by lra.
      now rewrite Rmult_0_r.
Qed.
