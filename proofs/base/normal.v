(** The standard normal density ψ and distribution function Ψ, and ReLU smoothed by it. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(** ψ(x) = exp(−x²/2)/√(2π) *)
Definition density (x : R) : R := exp (- x ^ 2 / 2) / sqrt (2 * PI).

(** Ψ(x) = ½ + ∫_0^x ψ, the mass below x *)
Definition cumulative (x : R) : R := / 2 + RInt density 0 x.

(** φ_τ(x) = xΨ(x/τ) + τψ(x/τ) − τ/√(2π) for τ > 0, and φ_0 = relu *)
Definition relu (x : R) : R := Rmax x 0.
Definition smoothed (tau x : R) : R :=
  if Req_EM_T tau 0 then relu x else x * cumulative (x / tau) + tau * density (x / tau) - tau / sqrt (2 * PI).

Lemma root_pos : 0 < sqrt (2 * PI).
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
    replace (g * x / tau) with (x / (tau / g)) by (field; lra). assert (P := root_pos). field. lra.
  - replace (0 / g) with 0 by (field; lra). rewrite !smoothed_relu. unfold relu. rewrite <- RmaxRmult by lra.
      now rewrite Rmult_0_r.
Qed.
