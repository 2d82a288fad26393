(** One-dimensional constants, enclosed by interval arithmetic: a second route beside the page's balls. *)
Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Shallow Require Import base.activations.
Open Scope R_scope.

(** (1 − s²)(sR + √(1 + s²R²)), whose maximum over 0 ≤ s ≤ 1 is H⋆(R) *)
Definition compromise (radius s : R) : R := (1 - s ^ 2) * (s * radius + sqrt (1 + s ^ 2 * radius ^ 2)).

(** the supremum of f over the points in D lies in [low, high]: no value exceeds high, some value reaches low *)
Definition supremum_between (D : R -> Prop) (f : R -> R) (low high : R) : Prop :=
  (forall x, D x -> f x <= high) /\ (exists x, D x /\ low <= f x).

(** the unit interval, and the whole line *)
Definition unit (x : R) : Prop := 0 <= x <= 1.
Definition line (x : R) : Prop := True.

(** kr-lemma-g
    Covers: a part: items 1, 2 and 3, all their digits; on the page: items 4 (the worst sign's constant) and 5 (Gaussian norms).
    Reads: max of 2s(1 − s²) and of 2λ√(1 − λ) over [0, 1] lie in [0.76980035891, 0.76980035892], that of (2s(1 − s²)(1 − s⁴))^½ in [0.83883618, 0.83883619]; sup over ℝ of |tanh″| in [0.76980035891, 0.76980035892], of |tanh‴| is 2 (attained), of the derivative of order 4, |tanh⁗|, in [4.08588550, 4.08588551]; max over 0 ≤ s ≤ 1 of (1 − s²)(sR + √(1 + s²R²)) in [1.2408064788, 1.2408064789], [2.3753287037, 2.3753287038], [2.4966989991, 2.4966989992], [5.4706631646, 5.4706631647] for R = 1, √8, 3, 7.
    Mistake: `(1 - s ^ 2)) 0.76980035890 0.76980035891` for `(1 - s ^ 2)) 0.76980035891 0.76980035892`
    Mistake: `4.08588549` for `4.08588551`
    Mistake: `5.4706631645` for `5.4706631647`
*)
Theorem kr_lemma_g :
  supremum_between unit (fun s => 2 * s * (1 - s ^ 2)) 0.76980035891 0.76980035892 /\
  supremum_between unit (fun l => 2 * l * sqrt (1 - l)) 0.76980035891 0.76980035892 /\
  supremum_between unit (fun s => sqrt (2 * s * (1 - s ^ 2) * (1 - s ^ 4))) 0.83883618 0.83883619 /\
  supremum_between line (fun z => Rabs (Derive_n tanh 2 z)) 0.76980035891 0.76980035892 /\
  supremum_between line (fun z => Rabs (Derive_n tanh 3 z)) 2 2 /\
  supremum_between line (fun z => Rabs (Derive_n tanh 4 z)) 4.08588550 4.08588551 /\
  supremum_between unit (compromise 1) 1.2408064788 1.2408064789 /\
  supremum_between unit (compromise (sqrt 8)) 2.3753287037 2.3753287038 /\
  supremum_between unit (compromise 3) 2.4966989991 2.4966989992 /\
  supremum_between unit (compromise 7) 5.4706631646 5.4706631647.
Proof.
  unfold supremum_between, unit, compromise. repeat apply conj.
  - intros s Hs. interval with (i_bisect s, i_taylor s, i_prec 60, i_depth 30).
  - exists 0.57735026919. split; [lra|]. interval.
  - intros l Hl. destruct (Rle_dec l 0.9).
    + assert (0 <= l <= 0.9) by lra. interval with (i_bisect l, i_taylor l, i_prec 60, i_depth 30).
    + assert (sqrt (1 - l) <= sqrt 0.1) by (apply sqrt_le_1_alt; lra). assert (0 <= sqrt (1 - l)) by apply sqrt_pos.
      assert (sqrt 0.1 <= 0.32) by interval. nra.
  - exists (2 / 3). split; [lra|]. interval.
  - intros s Hs. rewrite <- (sqrt_pow2 0.83883619) by lra. apply sqrt_le_1_alt.
    interval with (i_bisect s, i_taylor s, i_prec 60, i_depth 30).
  - exists 0.5110810845. split; [lra|]. interval.
  - intros z _. destruct (derive_n_tanh z) as (_ & -> & _). assert (H := tanh_bound z).
    set (t := tanh z) in *. assert (-1 <= t <= 1) by lra. clearbody t.
    interval with (i_bisect t, i_taylor t, i_prec 60, i_depth 30).
  - destruct (tanh_onto 0.57735026919) as [z Hz]; [lra|]. exists z. split; [easy|].
    destruct (derive_n_tanh z) as (_ & -> & _). rewrite Hz. interval.
  - intros z _. destruct (derive_n_tanh z) as (_ & _ & -> & _). assert (H := tanh_bound z).
    set (t := tanh z) in *. clearbody t. assert (0 <= t ^ 2 <= 1) by nra. apply Rabs_le. split; nra.
  - destruct (tanh_onto 0) as [z Hz]; [lra|]. exists z. split; [easy|].
    destruct (derive_n_tanh z) as (_ & _ & -> & _). rewrite Hz. rewrite Rabs_left; lra.
  - intros z _. destruct (derive_n_tanh z) as (_ & _ & _ & ->). assert (H := tanh_bound z).
    set (t := tanh z) in *. assert (-1 <= t <= 1) by lra. clearbody t.
    interval with (i_bisect t, i_taylor t, i_prec 60, i_depth 30).
  - destruct (tanh_onto 0.398039) as [z Hz]; [lra|]. exists z. split; [easy|].
    destruct (derive_n_tanh z) as (_ & _ & _ & ->). rewrite Hz. interval.
  - intros s Hs. interval with (i_bisect s, i_taylor s, i_prec 60, i_depth 30).
  - exists 0.3933198932. split; [lra|]. interval.
  - intros s Hs. interval with (i_bisect s, i_taylor s, i_prec 60, i_depth 30).
  - exists 0.5434460833. split; [lra|]. interval.
  - intros s Hs. interval with (i_bisect s, i_taylor s, i_prec 60, i_depth 30).
  - exists 0.5470047745. split; [lra|]. interval.
  - intros s Hs. interval with (i_bisect s, i_taylor s, i_prec 60, i_depth 30).
  - exists 0.5715187450. split; [lra|]. interval.
Qed.
