(** A complete Transformer and its six gradients: activation, softmax, covariance, gradients, entrywise maps. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.singular base.six_blocks base.normal.
Open Scope R_scope.

Ltac as_real := match goal with |- ?a = ?b => change (@eq R a b) end.

(** Assumption 1: φ(0) = 0, φ is non-decreasing and |φ(x) − φ(y)| ≤ |x − y| *)
Definition assumption_1 (phi : R -> R) : Prop :=
  phi 0 = 0 /\ (forall x y, x <= y -> phi x <= phi y) /\ forall x y, Rabs (phi x - phi y) <= Rabs (x - y).

Lemma smoothed_slope tau x y : 0 < tau -> x <= y -> 0 <= smoothed tau y - smoothed tau x <= y - x.
Proof.
  intros Ht H. destruct (MVT_gen (smoothed tau) x y (fun x => cumulative (x / tau))) as [c [_ E]].
  - intros. now apply smoothed_derive.
  - intros t _. apply continuity_pt_filterlim. apply (ex_derive_continuous (smoothed tau)). eexists. now apply smoothed_derive.
  - rewrite E. assert (B := cumulative_bounds (c / tau)). nra.
Qed.

(** rt-definition-a1
    Covers: the whole statement, with its two examples and the one-line form that the page checks.
    Reads: Assumption 1 (φ(0) = 0, φ non-decreasing, |φ(x) − φ(y)| ≤ |x − y|) holds for ReLU and for φ_τ with every τ > 0; and a φ with φ(0) = 0 obeys it if and only if x ↦ 2φ(x) − x does not stretch.
    Mistake: `assumption_1 (fun x => 2 * relu x)` for `assumption_1 relu`
    Mistake: `(3 * phi x - x)` for `(2 * phi x - x)`
*)
Theorem rt_definition_a1 : assumption_1 relu /\ (forall tau, 0 < tau -> assumption_1 (smoothed tau)) /\
  forall phi, phi 0 = 0 ->
    (assumption_1 phi <-> forall x y, Rabs ((2 * phi x - x) - (2 * phi y - y)) <= Rabs (x - y)).
Proof.
  split; [|split].
  - unfold assumption_1, relu. split; [apply Rmax_right; lra|split].
    + intros x y H. unfold Rmax. repeat destruct Rle_dec; lra.
    + intros x y. unfold Rmax, Rabs. repeat destruct Rle_dec; repeat destruct Rcase_abs; lra.
  - intros tau H. split; [apply smoothed_zero; lra|split].
    + intros x y L. assert (K := smoothed_slope tau x y H L). lra.
    + intros x y. destruct (Rle_dec x y) as [L|L].
      * assert (K := smoothed_slope tau x y H L). rewrite !Rabs_left1; lra.
      * assert (K := smoothed_slope tau y x H ltac:(lra)). rewrite !Rabs_right; lra.
  - intros phi P0. split.
    + intros [_ [M L]] x y. destruct (Rle_dec x y) as [H|H].
      * assert (A := M x y H). assert (B := L x y). rewrite !Rabs_left1 in B by lra.
        rewrite (Rabs_left1 (x - y)) by lra. apply Rabs_le. lra.
      * assert (A := M y x ltac:(lra)). assert (B := L x y). rewrite !Rabs_right in B by lra.
        rewrite (Rabs_right (x - y)) by lra. apply Rabs_le. lra.
    + intros H. split; [easy|split].
      * intros x y L. assert (K := H x y). rewrite (Rabs_left1 (x - y)) in K by lra. apply Rabs_le_between in K. lra.
      * intros x y. assert (K := H x y). destruct (Rle_dec x y) as [L|L].
        -- rewrite (Rabs_left1 (x - y)) in * by lra. apply Rabs_le_between in K. apply Rabs_le. lra.
        -- rewrite (Rabs_right (x - y)) in * by lra. apply Rabs_le_between in K. apply Rabs_le. lra.
Qed.

Lemma smoothed_increasing tau x y : 0 < tau -> x < y -> smoothed tau x < smoothed tau y.
Proof.
  intros Ht H. destruct (MVT_gen (smoothed tau) x y (fun x => cumulative (x / tau))) as [c [_ E]].
  - intros. now apply smoothed_derive.
  - intros t _. apply continuity_pt_filterlim. apply (ex_derive_continuous (smoothed tau)). eexists. now apply smoothed_derive.
  - assert (B := cumulative_bounds (c / tau)). nra.
Qed.

(** ∫ relu(x + τξ) ψ(ξ) dξ over [−b, b], b ≥ |x|/τ *)
Lemma relu_mean tau x b : 0 < tau -> Rabs (x / tau) <= b ->
  RInt (fun xi => relu (x + tau * xi) * density xi) (- b) b
  = x * (cumulative b - cumulative (- (x / tau))) - tau * (density b - density (x / tau)).
Proof.
  intros Ht Hb. apply Rabs_le_between in Hb. set (a := - (x / tau)). assert (Ea : x + tau * a = 0) by (unfold a; field; lra).
  apply is_RInt_unique. rewrite <- (Rplus_0_l (_ - _)).
  apply (is_RInt_Chasles (fun xi => relu (x + tau * xi) * density xi) (- b) a b).
  - apply (is_RInt_ext (fun _ => 0)).
    + rewrite Rmin_left, Rmax_right by (unfold a; lra). intros t [_ H]. unfold relu. rewrite Rmax_right by nra. as_real. ring.
    + assert (Q := is_RInt_const (V := R_NormedModule) (- b) a 0). unfold scal in Q. simpl in Q. unfold mult in Q. simpl in Q.
      now rewrite Rmult_0_r in Q.
  - apply (is_RInt_ext (fun xi => (x + tau * xi) * density xi)).
    + rewrite Rmin_left, Rmax_right by (unfold a; lra). intros t [H _]. unfold relu. rewrite Rmax_left by nra. easy.
    + replace (x * (cumulative b - cumulative a) - tau * (density b - density (x / tau)))
        with (minus (x * cumulative b - tau * density b) (x * cumulative a - tau * density a)).
      2:{ unfold minus, plus, opp; simpl. unfold a. rewrite (density_even (x / tau)). ring. }
      apply (is_RInt_derive (fun t => x * cumulative t - tau * density t) (fun xi => (x + tau * xi) * density xi)).
      * intros t _. assert (A := cumulative_derive t). assert (B := density_derive t).
        auto_derive; [split; [eexists; exact A|split; [eexists; exact B|easy]]|].
        rewrite Derive_cumulative, Derive_density. ring.
      * intros t _. apply (ex_derive_continuous (fun xi => (x + tau * xi) * density xi)). assert (B := density_derive t).
        auto_derive. eexists; exact B.
Qed.

Lemma density_limit : is_lim density p_infty 0.
Proof.
  apply (is_lim_ext (fun x => exp (- x ^ 2 / 2) * / sqrt (2 * PI))); [easy|].
  replace (Finite 0) with (Rbar_mult 0 (/ sqrt (2 * PI))) by (simpl; f_equal; ring).
  apply (is_lim_scal_r (fun x => exp (- x ^ 2 / 2)) (/ sqrt (2 * PI)) p_infty 0). exact exp_small.
Qed.

Lemma relu_mean_limit tau x : 0 < tau ->
  is_lim (fun b => RInt (fun xi => relu (x + tau * xi) * density xi) (- b) b) p_infty
    (x * cumulative (x / tau) + tau * density (x / tau)).
Proof.
  intros Ht. apply (is_lim_ext_loc (fun b => x * (cumulative b - cumulative (- (x / tau))) - tau * (density b - density (x / tau)))).
  - exists (Rabs (x / tau)). intros b Hb. symmetry. apply relu_mean; [easy|lra].
  - replace (Finite (x * cumulative (x / tau) + tau * density (x / tau)))
      with (Finite (x * (1 - cumulative (- (x / tau))) - tau * (0 - density (x / tau)))) by (rewrite cumulative_odd; f_equal; ring).
    apply is_lim_minus'.
    + apply (is_lim_scal_l (fun b => cumulative b - cumulative (- (x / tau))) x p_infty (Finite _)).
      apply is_lim_minus'; [apply cumulative_limit|apply is_lim_const].
    + apply (is_lim_scal_l (fun b => density b - density (x / tau)) tau p_infty (Finite _)).
      apply is_lim_minus'; [apply density_limit|apply is_lim_const].
Qed.

(** x (1 − Ψ(x)) → 0, since 1 − Ψ(x) ≤ 2 e^(−x²/2)/π *)
Lemma mills : is_lim (fun x => x * (1 - cumulative x)) p_infty 0.
Proof.
  apply (is_lim_le_le_loc (fun _ => 0) (fun x => 4 * / x)); [|apply is_lim_const|].
  - exists 0. intros x Hx. assert (B := cumulative_bounds x). split; [nra|].
    assert (Q := mass_square x). assert (T := tail_small x). assert (T0 := tail_pos x). assert (P3 := PI2_1).
    assert (C : 1 - cumulative x <= 2 * tail x).
    { unfold cumulative in *. set (m := RInt density 0 x) in *.
      assert (tail x / PI <= tail x) by (apply Rle_div_l; nra).
      assert (0 <= m) by (apply RInt_ge_0; [lra|apply density_integrable|intros; left; apply density_pos]). nra. }
    assert (Ex : exp (- x ^ 2 / 2) <= 2 / x ^ 2).
    { assert (X2 : 0 < x ^ 2) by (apply pow_lt; lra). assert (K := exp_ineq1 (x ^ 2 / 2) ltac:(lra)).
      replace (- x ^ 2 / 2) with (- (x ^ 2 / 2)) by field. rewrite exp_Ropp. replace (2 / x ^ 2) with (/ (x ^ 2 / 2)) by (field; lra).
      left. apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; [lra|apply exp_pos]|lra]. }
    apply Rle_trans with (x * (2 * (2 / x ^ 2))); [apply Rmult_le_compat_l; lra|].
    right. field. lra.
  - replace (Finite 0) with (Rbar_mult 4 0) by (simpl; f_equal; ring). apply (is_lim_scal_l (fun x => / x) 4 p_infty 0).
    apply (is_lim_inv (fun x => x) p_infty p_infty); [apply is_lim_id|easy].
Qed.

Lemma smoothed_left tau : 0 < tau -> is_lim (fun y => smoothed tau (- y)) p_infty (- tau / sqrt (2 * PI)).
Proof.
  intros Ht. assert (P := root_pos). set (c := - tau / sqrt (2 * PI)).
  assert (G : is_lim (fun x => - tau * (x * (1 - cumulative x)) + tau * density x + c) p_infty c).
  { replace (Finite c) with (Finite (- tau * 0 + tau * 0 + c)) by (f_equal; ring).
    apply is_lim_plus'; [|apply is_lim_const]. apply is_lim_plus'.
    - apply (is_lim_scal_l _ (- tau) p_infty (Finite 0)), mills.
    - apply (is_lim_scal_l _ tau p_infty (Finite 0)), density_limit. }
  apply (is_lim_ext (fun y => (fun x => - tau * (x * (1 - cumulative x)) + tau * density x + c) (/ tau * y))).
  - intros y. rewrite smoothed_form by easy. replace (- y / tau) with (- (/ tau * y)) by (field; lra).
    rewrite cumulative_odd, density_even. unfold c. field. lra.
  - apply (is_lim_comp _ (fun y => / tau * y) p_infty c p_infty G).
    + assert (I : 0 < / tau) by now apply Rinv_0_lt_compat.
      replace p_infty with (Rbar_mult (/ tau) p_infty) at 2; [apply (is_lim_scal_l (fun y => y)), is_lim_id|].
      unfold Rbar_mult, Rbar_mult'. destruct (Rle_dec 0 (/ tau)) as [L|L]; [|lra]. destruct (Rle_lt_or_eq_dec 0 (/ tau) L); [easy|lra].
    + now exists 0.
Qed.

(** rt-lemma-b
    Covers: the whole statement, the expectations as limits of the integrals of relu(x + τξ)ψ(ξ) over [−b, b].
    Reads: for τ > 0, with φ_τ(x) = xΨ(x/τ) + τψ(x/τ) − τ/√(2π) and φ_0 = relu: (1) E relu(x + τξ) and E relu(τξ) exist and φ_τ(x) is their difference; (2) φ_τ′ = Ψ(x/τ) ∈ (0, 1), φ_τ″ = ψ(x/τ)/τ, 0 < φ_τ″ ≤ 1/(τ√(2π)), with equality only for x = 0, and at 0; (3) φ_τ(0) = 0, |φ_τ(x)| ≤ |x|, and Assumption 1 holds; (4) φ_τ(x) − φ_τ(−x) = x, also for τ = 0; (5) −τ/√(2π) < φ_τ(x) − relu(x) ≤ 0, equal to 0 at x = 0, tending to −τ/√(2π) at ∞ and −∞.
    Mistake: `/ (2 * tau * sqrt (2 * PI))` for `/ (tau * sqrt (2 * PI))`
    Mistake: `- tau / 2 / sqrt (2 * PI) < smoothed` for `- tau / sqrt (2 * PI) < smoothed`
    Mistake: `0 < cumulative (x / tau) < / 2` for `0 < cumulative (x / tau) < 1`
*)
Theorem rt_lemma_b : forall tau x, 0 < tau ->
  (exists m m0, is_lim (fun b => RInt (fun xi => relu (x + tau * xi) * density xi) (- b) b) p_infty (Finite m) /\
    is_lim (fun b => RInt (fun xi => relu (tau * xi) * density xi) (- b) b) p_infty (Finite m0) /\
    smoothed tau x = m - m0) /\
  (is_derive (smoothed tau) x (cumulative (x / tau)) /\ 0 < cumulative (x / tau) < 1 /\
    is_derive (fun y => cumulative (y / tau)) x (density (x / tau) / tau) /\ 0 < density (x / tau) / tau /\
    density (x / tau) / tau <= / (tau * sqrt (2 * PI)) /\
    (density (x / tau) / tau = / (tau * (sqrt (2 * PI))) <-> x = 0)) /\
  (smoothed tau 0 = 0 /\ Rabs (smoothed tau x) <= Rabs x /\ assumption_1 (smoothed tau)) /\
  (smoothed tau x - smoothed tau (- x) = x /\ smoothed 0 x - smoothed 0 (- x) = x) /\
  (- tau / sqrt (2 * PI) < smoothed tau x - relu x <= 0 /\ smoothed tau 0 - relu 0 = 0 /\
    is_lim (fun y => smoothed tau y - relu y) p_infty (- tau / (sqrt (2 * PI))) /\
    is_lim (fun y => smoothed tau y - relu y) m_infty (- tau / (sqrt (2 * PI)))).
Proof.
  intros tau x Ht. assert (P := root_pos).
  assert (D0 : density 0 = / sqrt (2 * PI)).
  { unfold density. replace (- 0 ^ 2 / 2) with 0 by field. rewrite exp_0. field. lra. }
  split; [|split; [|split; [|split]]].
  - exists (x * cumulative (x / tau) + tau * density (x / tau)), (tau * density 0). split; [|split].
    + now apply relu_mean_limit.
    + assert (K := relu_mean_limit tau 0 Ht). replace (0 / tau) with 0 in K by (field; lra). rewrite Rmult_0_l, Rplus_0_l in K.
      revert K. apply is_lim_ext. intros b. apply RInt_ext. intros t _. now rewrite Rplus_0_l.
    + rewrite smoothed_form, D0 by easy. unfold Rdiv. ring.
  - split; [now apply smoothed_derive|]. split; [apply cumulative_bounds|]. split.
    { assert (A := cumulative_derive (x / tau)). auto_derive; [eexists; exact A|]. rewrite Derive_cumulative. unfold Rdiv. ring. }
    split; [apply Rdiv_lt_0_compat; [apply density_pos|easy]|].
    assert (E1 : density (x / tau) / tau = exp (- (x / tau) ^ 2 / 2) * / (tau * sqrt (2 * PI))) by (unfold density; field; lra).
    rewrite E1. assert (Q : 0 < / (tau * sqrt (2 * PI))) by (apply Rinv_0_lt_compat; nra).
    assert (N : x <> 0 -> exp (- (x / tau) ^ 2 / 2) < 1).
    { intros Hx. rewrite <- exp_0. apply exp_increasing. assert (0 < (x / tau) ^ 2); [|lra].
      apply pow2_gt_0. unfold Rdiv. apply Rmult_integral_contrapositive. split; [easy|apply Rinv_neq_0_compat; lra]. }
    assert (Z : x = 0 -> exp (- (x / tau) ^ 2 / 2) = 1).
    { intros ->. rewrite <- exp_0. f_equal. field. lra. }
    split; [|split].
    + destruct (Req_dec x 0) as [E0|E0]; [rewrite (Z E0); lra|]. assert (K := N E0). nra.
    + intros H. destruct (Req_dec x 0) as [E0|E0]; [easy|]. assert (K := N E0). nra.
    + intros H. rewrite (Z H). ring.
  - assert (A : assumption_1 (smoothed tau)) by (destruct rt_definition_a1 as [_ [K _]]; exact (K tau Ht)).
    split; [apply smoothed_zero; lra|]. split; [|exact A].
    destruct A as [Z [_ L]]. assert (K := L x 0). rewrite Z, !Rminus_0_r in K. exact K.
  - split; apply smoothed_odd; lra.
  - set (c := - tau / sqrt (2 * PI)).
    assert (odd := fun y => smoothed_odd tau y ltac:(lra)).
    assert (neg : forall y, y <= 0 -> relu y = 0) by (intros; unfold relu; now apply Rmax_right).
    assert (pos : forall y, 0 <= y -> relu y = y) by (intros; unfold relu; now apply Rmax_left).
    assert (mirror : forall y, 0 <= y -> smoothed tau y - relu y = smoothed tau (- y)).
    { intros y Hy. rewrite pos by easy. assert (K := odd y). lra. }
    assert (L := smoothed_left tau Ht). fold c in L.
    assert (low : forall y, c < smoothed tau y).
    { intros y. apply Rle_lt_trans with (smoothed tau (y - 1)); [|apply smoothed_increasing; lra].
      apply (is_lim_le_loc (fun y => smoothed tau (- y)) (fun _ => smoothed tau (y - 1)) p_infty c (smoothed tau (y - 1)));
        [|exact L|apply is_lim_const].
      exists (Rabs (y - 1)). intros z Hz. assert (K := Rabs_def2 (y - 1) z Hz). left. apply smoothed_increasing; lra. }
    assert (high : forall y, y <= 0 -> smoothed tau y <= 0).
    { intros y Hy. rewrite <- (smoothed_zero tau) by lra. destruct (Req_dec y 0) as [->|]; [lra|].
      left. apply smoothed_increasing; lra. }
    split; [|split; [|split]].
    + destruct (Rle_dec x 0) as [H|H].
      * rewrite (neg x H), Rminus_0_r. split; [apply low|now apply high].
      * rewrite mirror by lra. split; [apply low|apply high; lra].
    + rewrite smoothed_zero, neg by lra. ring.
    + apply (is_lim_ext_loc (fun y => smoothed tau (- y))); [|exact L].
      exists 0. intros y Hy. symmetry. apply mirror. lra.
    + apply (is_lim_ext_loc (fun y => (fun z => smoothed tau (- z)) (- y))).
      * exists 0. intros y Hy. rewrite neg, Ropp_involutive by lra. ring.
      * apply (is_lim_comp _ (fun y => - y) m_infty c p_infty L); [|now exists 0].
        apply (is_lim_opp (fun y => y) m_infty m_infty), is_lim_id.
Qed.
