(** A complete Transformer and its six gradients: activation, softmax, covariance, gradients, entrywise maps. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.singular base.six_blocks base.normal
  base.jacobian.
Open Scope R_scope.

Ltac as_real := match goal with |- ?a = ?b => change (@eq R a b) end.

(** Assumption 1: φ(0) = 0, φ is non-decreasing and |φ(x) − φ(y)| ≤ |x − y| *)
Definition assumption_1 (phi : R -> R) : Prop :=
  phi 0 = 0 /\ (forall x y, x <= y -> phi x <= phi y) /\ forall x y, Rabs (phi x - phi y) <= Rabs (x - y).

Lemma smoothed_slope tau x y : 0 < tau -> x <= y -> 0 <= smoothed tau y - smoothed tau x <= y - x.
Proof.
  intros Ht H. destruct (MVT_gen (smoothed tau) x y (fun x => cumulative (x / tau))) as [c [_ E]].
  - intros. now apply smoothed_derive.
  - intros t _. apply continuity_pt_filterlim. apply (ex_derive_continuous (smoothed tau)). eexists.
      now apply smoothed_derive.
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
  - intros t _. apply continuity_pt_filterlim. apply (ex_derive_continuous (smoothed tau)). eexists.
      now apply smoothed_derive.
  - assert (B := cumulative_bounds (c / tau)). nra.
Qed.

(** ∫ relu(x + τξ) ψ(ξ) dξ over [−b, b], b ≥ |x|/τ *)
Lemma relu_mean tau x b : 0 < tau -> Rabs (x / tau) <= b ->
  RInt (fun xi => relu (x + tau * xi) * density xi) (- b) b
  = x * (cumulative b - cumulative (- (x / tau))) - tau * (density b - density (x / tau)).
Proof.
  intros Ht Hb. apply Rabs_le_between in Hb. set (a := - (x / tau)).
    assert (Ea : x + tau * a = 0) by (unfold a; field; lra).
  apply is_RInt_unique. rewrite <- (Rplus_0_l (_ - _)).
  apply (is_RInt_Chasles (fun xi => relu (x + tau * xi) * density xi) (- b) a b).
  - apply (is_RInt_ext (fun _ => 0)).
    + rewrite Rmin_left, Rmax_right by (unfold a; lra). intros t [_ H]. unfold relu. rewrite Rmax_right by nra.
        as_real. ring.
    + assert (Q := is_RInt_const (V := R_NormedModule) (- b) a 0). unfold scal in Q. simpl in Q. unfold mult in Q.
        simpl in Q.
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
      * intros t _. apply (ex_derive_continuous (fun xi => (x + tau * xi) * density xi)).
          assert (B := density_derive t).
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
  intros Ht. apply (is_lim_ext_loc (fun b => x * (cumulative b - cumulative (- (x / tau))) - tau * (density b - density
    (x / tau)))).
  - exists (Rabs (x / tau)). intros b Hb. symmetry. apply relu_mean; [easy|lra].
  - replace (Finite (x * cumulative (x / tau) + tau * density (x / tau)))
      with (Finite (x * (1 - cumulative (- (x / tau))) - tau * (0 - density (x / tau)))) by (rewrite cumulative_odd;
        f_equal; ring).
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
      replace (- x ^ 2 / 2) with (- (x ^ 2 / 2)) by field. rewrite exp_Ropp.
        replace (2 / x ^ 2) with (/ (x ^ 2 / 2)) by (field; lra).
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
      unfold Rbar_mult, Rbar_mult'. destruct (Rle_dec 0 (/ tau)) as [L|L]; [|lra].
        destruct (Rle_lt_or_eq_dec 0 (/ tau) L); [easy|lra].
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
    + assert (K := relu_mean_limit tau 0 Ht). replace (0 / tau) with 0 in K by (field; lra).
        rewrite Rmult_0_l, Rplus_0_l in K.
      revert K. apply is_lim_ext. intros b. apply RInt_ext. intros t _. now rewrite Rplus_0_l.
    + rewrite smoothed_form, D0 by easy. unfold Rdiv. ring.
  - split; [now apply smoothed_derive|]. split; [apply cumulative_bounds|]. split.
    { assert (A := cumulative_derive (x / tau)). auto_derive; [eexists; exact A|]. rewrite Derive_cumulative.
        unfold Rdiv. ring. }
    split; [apply Rdiv_lt_0_compat; [apply density_pos|easy]|].
    assert (E1 : density (x / tau) / tau = exp (- (x / tau) ^ 2 / 2) * / (tau * sqrt (2 * PI))) by (unfold density;
      field; lra).
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
      apply (is_lim_le_loc (fun y => smoothed tau (- y)) (fun _ => smoothed tau (y - 1)) p_infty c (smoothed tau (y -
        1)));
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

Lemma largest_lt n f c : 0 < c -> (forall i, (i < n)%nat -> f i < c) -> largest n f < c.
Proof. intros Hc. induction n; intros H; simpl; [easy|].
  apply Rmax_lub_lt; [apply IHn; intros; apply H; lia|apply H; lia]. Qed.

(** one weight ½, the others at most ½ − 4κ: Var v ≤ (½ − κ/2)‖v‖² *)
Lemma Var_one_half N s i kappa v : distribution N s -> (i < N)%nat -> s i = / 2 -> 0 < kappa <= / 8 ->
  (forall j, (j < N)%nat -> j <> i -> s j <= / 2 - 4 * kappa) -> Var N s v <= (/ 2 - kappa / 2) * sq N v.
Proof.
  intros [P O] Hi Si Hk Hs. set (o := fun j => 1 - identity i j).
  assert (oi : forall j, j <> i -> o j = 1) by (intros j Hj; unfold o, identity;
    replace (i =? j)%nat with false by (symmetry; apply Nat.eqb_neq; lia); ring).
  assert (oo : o i = 0) by (unfold o, identity; rewrite Nat.eqb_refl; ring).
  set (r := Sum N (fun j => o j * s j * v j)). set (R2 := Sum N (fun j => o j * s j * v j ^ 2)).
    set (rest := Sum N (fun j => o j * v j ^ 2)).
  assert (ev : E N s v = / 2 * v i + r).
  { unfold E, r. rewrite (Sum_ext N _ (fun j => identity i j * (s j * v j) + o j * s j * v j)) by (intros; unfold o;
      ring).
    rewrite Sum_plus, identity_sum, Si by easy. ring. }
  assert (e2 : E N s (fun t => v t ^ 2) = / 2 * v i ^ 2 + R2).
  { unfold E, R2. rewrite (Sum_ext N _ (fun j => identity i j * (s j * v j ^ 2) + o j * s j * v j ^ 2)) by (intros;
      unfold o; ring).
    rewrite Sum_plus, identity_sum, Si by easy. ring. }
  assert (sv : sq N v = v i ^ 2 + rest).
  { unfold sq, rest. rewrite (Sum_ext N _ (fun j => identity i j * v j ^ 2 + o j * v j ^ 2)) by (intros; unfold o;
      ring).
    now rewrite Sum_plus, identity_sum. }
  assert (o0 : forall j, 0 <= o j) by (intros j; unfold o, identity; destruct (i =? j)%nat; lra).
  assert (half : Sum N (fun j => o j * s j) = / 2).
  { rewrite (Sum_ext N _ (fun j => s j - identity i j * s j)) by (intros; unfold o; ring).
      rewrite Sum_minus, identity_sum, O, Si by easy. lra. }
  assert (cs : r ^ 2 <= / 2 * R2).
  { assert (K := Sum_cauchy N (fun j => o j * s j) (fun _ => 1) v ltac:(intros; apply Rmult_le_pos; auto)).
    cbv beta in K.
    rewrite (Sum_ext N (fun j => o j * s j * (1 * v j)) (fun j => o j * s j * v j)) in K by (intros; ring).
    rewrite (Sum_ext N (fun j => o j * s j * 1 ^ 2) (fun j => o j * s j)) in K by (intros; ring). rewrite half in K.
      exact K. }
  assert (rb : R2 <= (/ 2 - 4 * kappa) * rest).
  { unfold R2, rest. rewrite <- Sum_scal. apply Sum_le. intros j Hj. assert (0 <= v j ^ 2) by apply pow2_ge_0.
    destruct (Nat.eq_dec j i) as [->|Hji]; [rewrite oo; lra|]. rewrite (oi j Hji), !Rmult_1_l.
      apply Rmult_le_compat_r; auto. }
  assert (r0 : 0 <= rest) by (apply Sum_ge0; intros; apply Rmult_le_pos; [easy|apply pow2_ge_0]).
  unfold Var. rewrite e2, ev, sv. set (x := v i) in *.
  set (theta := / 2 - kappa).
  assert (T : 0 < theta) by (unfold theta; lra).
  (* −xr ≤ ½θx² + r²/(2θ) *)
  assert (amgm : - (x * r) <= / 2 * theta * x ^ 2 + / (2 * theta) * r ^ 2).
  { apply (Rmult_le_reg_l (2 * theta)); [lra|].
    replace (2 * theta * (/ 2 * theta * x ^ 2 + / (2 * theta) * r ^ 2)) with ((theta * x) ^ 2 + r ^ 2) by (field; lra).
    assert (0 <= (theta * x + r) ^ 2) by apply pow2_ge_0. lra. }
  assert (c0 : / (2 * theta) - 1 <= 8 / 3 * kappa).
  { apply (Rmult_le_reg_l (2 * theta)); [lra|]. rewrite Rmult_minus_distr_l, Rinv_r by lra. unfold theta. nra. }
  assert (c1 : 0 <= / (2 * theta) - 1).
  { assert (1 <= / (2 * theta)); [|lra]. rewrite <- Rinv_1. apply Rinv_le_contravar; unfold theta; lra. }
  assert (s1 : (/ (2 * theta) - 1) * r ^ 2 <= 8 / 3 * kappa * (/ 2 * R2)) by (apply Rmult_le_compat;
    [easy|apply pow2_ge_0|easy|easy]).
  assert (0 <= x ^ 2) by apply pow2_ge_0.
  assert (s2 : (1 + 4 / 3 * kappa) * R2 <= (1 + 4 / 3 * kappa) * ((/ 2 - 4 * kappa) * rest))
    by (apply Rmult_le_compat_l; lra).
  assert (s3 : (1 + 4 / 3 * kappa) * ((/ 2 - 4 * kappa) * rest) <= (/ 2 - kappa / 2) * rest).
  { rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [easy|nra]. }
  replace (/ 2 * x ^ 2 + R2 - (/ 2 * x + r) ^ 2) with (/ 4 * x ^ 2 + R2 + - (x * r) - r ^ 2) by field.
  assert (s4 : (/ 4 + / 2 * theta) * x ^ 2 = (/ 2 - kappa / 2) * x ^ 2) by (unfold theta; field). lra.
Qed.

(** ‖𝒥(s)‖ = ½ only for two weights ½ *)
Lemma half_only N s : distribution N s -> spectral N N (jacobian s) = / 2 ->
  exists i j, (i < N)%nat /\ (j < N)%nat /\ i <> j /\ s i = / 2 /\ s j = / 2.
Proof.
  intros H Hhalf.
  assert (up : forall m, 0 <= m -> (forall v, Var N s v <= m * sq N v) -> spectral N N (jacobian s) <= m).
  { intros m Hm HV. apply spectral_le; [easy|]. intros x Hx. rewrite <- (Rmult_1_r m), <- (norm_one N x Hx).
      now apply jacobian_norm. }
  assert (find : forall n (f : nat -> R), (exists i, (i < n)%nat /\ f i = / 2) \/ forall i, (i < n)%nat -> f i <> / 2).
  { intros n f. induction n as [|n [[i [Hi Fi]]|IH]]; [right; lia|left; exists i; split; [lia|easy]|].
    destruct (Req_dec (f n) (/ 2)) as [E|E]; [left; exists n; split; [lia|easy]|right; intros i Hi].
    destruct (Nat.eq_dec i n) as [->|]; [easy|apply IH; lia]. }
  destruct (find N s) as [[i [Hi Si]]|None].
  - destruct (find N (fun j => if (i =? j)%nat then 0 else s j)) as [[j [Hj Sj]]|Other].
    + destruct (Nat.eqb_spec i j) as [->|Nij]; [lra|]. exists i, j. auto.
    + exfalso. destruct H as [P O].
      assert (small : forall j, (j < N)%nat -> j <> i -> s j < / 2).
      { intros j Hj Hji. assert (Q := Other j Hj). cbv beta in Q.
          replace (i =? j)%nat with false in Q by (symmetry; apply Nat.eqb_neq; lia).
        assert (T := Sum_term N (fun t => (1 - identity i t) * s t) j Hj).
        rewrite (Sum_ext N _ (fun t => s t - identity i t * s t)), Sum_minus, identity_sum, O, Si in T
          by (first [easy | intros; ring]).
        assert (s j <= 1 - / 2); [|lra]. replace (s j) with ((1 - identity i j) * s j); [apply T|].
        - intros t Ht. apply Rmult_le_pos; [unfold identity; destruct (i =? t)%nat; lra|now apply P].
        - unfold identity. replace (i =? j)%nat with false by (symmetry; apply Nat.eqb_neq; lia). ring. }
      set (M := largest N (fun j => if (i =? j)%nat then 0 else s j)).
      assert (HM : M < / 2).
      { apply largest_lt; [lra|]. intros j Hj. destruct (Nat.eqb_spec i j); [lra|apply small; [easy|lia]]. }
      assert (M0 : 0 <= M) by apply largest_ge0. set (kappa := (/ 2 - M) / 4).
      assert (B : spectral N N (jacobian s) <= / 2 - kappa / 2).
      { apply up; [unfold kappa; lra|]. intros v. apply (Var_one_half N s i); [now split|easy|easy|unfold kappa; lra|].
        intros j Hj Hji. replace (/ 2 - 4 * kappa) with M by (unfold kappa; field).
        assert (K := largest_ge N (fun j => if (i =? j)%nat then 0 else s j) j Hj). cbv beta in K.
        replace (i =? j)%nat with false in K by (symmetry; apply Nat.eqb_neq; lia). exact K. }
      unfold kappa in B. lra.
  - exfalso. assert (L : largest N (fun i => s i * (1 - s i)) < / 4).
    { apply largest_lt; [lra|]. intros i Hi. assert (Q := None i Hi).
        assert (0 < (s i - / 2) ^ 2) by (apply pow2_gt_0; lra). simpl in *. nra. }
    assert (L0 := largest_ge0 N (fun i => s i * (1 - s i))).
    assert (B := up (2 * largest N (fun i => s i * (1 - s i))) ltac:(lra) ltac:(intros; now apply Var_rows)). lra.
Qed.

(** rt-lemma-d
    Covers: the whole statement.
    Reads: for a distribution s over N tokens: ‖𝒥(s)‖ ≤ min{max s_i, 2 max s_i(1 − s_i)} ≤ ½; vᵀ𝒥(s)v ≤ (b − a)²/4 whenever a ≤ v_j ≤ b for all j; ‖𝒥(s)‖ = ½ if and only if s_i = s_j = ½ for some i ≠ j; and ‖𝒥(s)‖ = max s_i if every s_t is 0 or m and two of them are m.
    Mistake: `(b - a) ^ 2 / 5` for `(b - a) ^ 2 / 4`
    Mistake: `(largest N (fun i => s i * (1 - s i)))` for `(2 * largest N (fun i => s i * (1 - s i)))`
    Mistake: `<= / 3 /\` for `<= / 2 /\`
*)
Theorem rt_lemma_d : forall N s, distribution N s ->
  spectral N N (jacobian s) <= Rmin (largest N s) (2 * largest N (fun i => s i * (1 - s i))) /\
  Rmin (largest N s) (2 * (largest N (fun i => s i * (1 - s i)))) <= / 2 /\
  (forall v a b, (forall t, (t < N)%nat -> a <= v t <= b) -> dot N v (matvec N (jacobian s) v) <= (b - a) ^ 2 / 4) /\
  (spectral N N (jacobian s) = / 2 <-> exists i j, (i < N)%nat /\ (j < N)%nat /\ i <> j /\ s i = / 2 /\ s j = / 2) /\
  (forall i j m, (i < N)%nat -> (j < N)%nat -> i <> j -> s i = m -> s j = m ->
    (forall t, (t < N)%nat -> s t = 0 \/ s t = m) -> spectral N N (jacobian s) = largest N s).
Proof.
  intros N s H. assert (L0 := largest_ge0 N s). assert (L1 := largest_ge0 N (fun i => s i * (1 - s i))).
  assert (Q : largest N (fun i => s i * (1 - s i)) <= / 4).
  { apply largest_le; [lra|]. intros i _. assert (0 <= (s i - / 2) ^ 2) by apply pow2_ge_0. simpl in *. nra. }
  assert (up : forall m, 0 <= m -> (forall v, Var N s v <= m * sq N v) -> spectral N N (jacobian s) <= m).
  { intros m Hm HV. apply spectral_le; [easy|]. intros x Hx. rewrite <- (Rmult_1_r m), <- (norm_one N x Hx).
      now apply jacobian_norm. }
  split; [|split; [|split; [|split]]].
  - apply Rmin_glb; apply up; [easy|intros; now apply Var_largest|lra|intros; now apply Var_rows].
  - eapply Rle_trans; [apply Rmin_r|]. lra.
  - intros v a b Hv. rewrite jacobian_var by easy. now apply popoviciu.
  - split; [now apply half_only|]. intros [i [j [Hi [Hj [Hij [Si Sj]]]]]].
    apply Rle_antisym; [apply up; [lra|intros; now apply Var_half]|now apply (jacobian_pair N s i j)].
  - intros i j m Hi Hj Hij Si Sj Hm. apply Rle_antisym; [apply up; [easy|intros; now apply Var_largest]|].
    apply Rle_trans with m; [|now apply (jacobian_pair N s i j)].
    assert (0 <= m) by (rewrite <- Si; now apply H). apply largest_le; [easy|]. intros t Ht. destruct (Hm t Ht); lra.
Qed.

(** rt-lemma-2
    Covers: the whole statement.
    Reads: for N ≥ 1 tokens: ‖S‖ ≤ √N for S = softmax(L) by rows; ∂s_i/∂ℓ_j = s_i(δ_ij − s_j) for a row s = softmax(ℓ); and there is a constant c with ‖S − S′‖_F ≤ c ‖L − L′‖_F for all N, L, L′.
    Mistake: `sqrt (INR N) / 2` for `sqrt (INR N)`
    Mistake: `(2 * jacobian (softmax N l) i j)` for `(jacobian (softmax N l) i j)`
*)
Theorem rt_lemma_2 :
  (forall N L, (0 < N)%nat -> spectral N N (softmax_rows N L) <= sqrt (INR N)) /\
  (forall N l i j, (i < N)%nat -> (j < N)%nat ->
    is_derive (fun e => softmax N (vplus l (vscal e (identity j))) i) 0 (jacobian (softmax N l) i j)) /\
  exists c, forall N L L', (0 < N)%nat ->
    sqrt (frob2 N N (mminus (softmax_rows N L) (softmax_rows N L'))) <= c * sqrt (frob2 N N (mminus L L')).
Proof.
  split; [|split].
  - intros N L HN. eapply Rle_trans; [apply spectral_frob|]. apply sqrt_le_1_alt. unfold frob2.
    rewrite <- (Rmult_1_r (INR N)), <- Sum_const. apply Sum_le. intros i _.
    now apply (row_at_most_one N (softmax N (L i))), softmax_distribution.
  - intros N l i j Hi Hj. assert (HN : (0 < N)%nat) by lia.
    assert (K := softmax_derive N (fun e => vplus l (vscal e (identity j))) (identity j) 0 i HN Hi).
    assert (S0 : forall t, softmax N (vplus l (vscal 0 (identity j))) t = softmax N l t).
    { intros t. apply softmax_ext. intros r. unfold vplus, vscal. ring. }
    replace (jacobian (softmax N l) i j) with (matvec N (jacobian (softmax N (vplus l (vscal 0 (identity j)))))
      (identity j) i).
    + apply K. intros t _. unfold vplus, vscal. auto_derive; [easy|ring].
    + unfold matvec, jacobian. rewrite S0. rewrite (Sum_ext N _ (fun t => identity j t * (softmax N l i * (identity i t
        - softmax N l t))))
        by (intros; rewrite S0; ring). now rewrite identity_sum.
  - exists (/ 2). intros N L L' HN. rewrite <- (sqrt_pow2 (/ 2)) by lra. rewrite <- sqrt_mult.
    + apply sqrt_le_1_alt. eapply Rle_trans; [now apply frob_rows|]. right. field.
    + apply pow2_ge_0.
    + apply Sum_ge0. intros. apply sq_ge0.
Qed.

(** rt-lemma-c
    Covers: the whole statement.
    Reads: for N ≥ 1, S with rows that are distributions and C its largest column sum: 1 ≤ ‖S‖ ≤ √C ≤ √N. If all column sums are 1, ‖S‖ = 1 = √(largest column sum); if all rows are the same basis vector e_j, the largest column sum is N and ‖S‖ = √N. For N ≥ 2 a softmax has ‖S‖ < √N, and for every ε > 0 there is one with ‖S‖ > √N − ε.
    Mistake: `spectral N N A <= sqrt (largest N (fun j => Sum N (fun i => A i j)) / 2)` for `spectral N N A <= sqrt (largest N (fun j => Sum N (fun i => A i j)))`
    Mistake: `2 <= spectral N N A` for `1 <= spectral N N A`
    Mistake: `sqrt (INR N) + epsilon` for `sqrt (INR N) - epsilon`
*)
Theorem rt_lemma_c :
  (forall N A, (0 < N)%nat -> stochastic N A ->
    1 <= spectral N N A /\ spectral N N A <= sqrt (largest N (fun j => Sum N (fun i => A i j))) /\
    sqrt (largest N (fun j => (Sum N (fun i => A i j)))) <= sqrt (INR N) /\
    ((forall j, (j < N)%nat -> Sum N (fun i => A i j) = 1) ->
      spectral N N A = 1 /\ sqrt (largest N (fun j => (Sum N (fun i => A i j)))) = 1) /\
    (forall k, (k < N)%nat -> (forall i j, (i < N)%nat -> (j < N)%nat -> A i j = identity k j) ->
      spectral N N A = sqrt (INR N) /\ sqrt (largest N (fun j => (Sum N (fun i => A i j)))) = (sqrt (INR N)))) /\
  (forall N L, (2 <= N)%nat -> spectral N N (softmax_rows N L) < sqrt (INR N)) /\
  (forall N epsilon, (2 <= N)%nat -> 0 < epsilon -> exists L, sqrt (INR N) - epsilon < spectral N N (softmax_rows N L)).
Proof.
  assert (one : forall N A, (0 < N)%nat -> stochastic N A ->
    spectral N N A <= sqrt (largest N (fun j => Sum N (fun i => A i j)))).
  { intros N A HN HA. apply spectral_le; [apply sqrt_pos|]. intros x Hx. unfold vnorm. apply sqrt_le_1_alt.
    apply Rle_trans with (Sum N (fun i => Sum N (fun j => A i j * x j ^ 2))).
    - apply Sum_le. intros i Hi. assert (K := Var_ge0 N (A i) x (HA i Hi)). unfold Var, E in K.
      change (matvec N A x i) with (Sum N (fun j => A i j * x j)). lra.
    - rewrite Sum_swap, <- (Rmult_1_r (largest _ _)), <- Hx. unfold sq. rewrite <- Sum_scal. apply Sum_le. intros j Hj.
      rewrite (Sum_ext N _ (fun i => x j ^ 2 * A i j)), Sum_scal, Rmult_comm by (intros; ring).
      apply Rmult_le_compat_r; [apply pow2_ge_0|]. now apply (largest_ge N (fun j => Sum N (fun i => A i j))). }
  assert (low : forall N A, (0 < N)%nat -> stochastic N A -> 1 <= spectral N N A).
  { intros N A HN HA. assert (K := spectral_apply N N A (fun _ => 1)).
    rewrite (norm_ext N (matvec N A (fun _ => 1)) (fun _ => 1)) in K.
    - assert (0 < vnorm N (fun _ => 1)); [|nra]. unfold vnorm, sq. rewrite Sum_const. apply sqrt_lt_R0.
      assert (P := INR_pos N HN). lra.
    - intros i Hi. destruct (HA i Hi) as [_ O]. transitivity (Sum N (A i)); [apply Sum_ext; intros; ring|easy]. }
  assert (unit : forall N k, (k < N)%nat -> sq N (identity k) = 1).
  { intros N k Hk. unfold sq. rewrite (Sum_ext N _ (fun t => identity k t * identity k t)), identity_sum
      by (first [easy | intros; ring]).
    unfold identity. now rewrite Nat.eqb_refl. }
  assert (col : forall N A j, stochastic N A -> (j < N)%nat -> Sum N (fun i => A i j) <= INR N).
  { intros N A j HA Hj. rewrite <- (Rmult_1_r (INR N)), <- Sum_const. apply Sum_le. intros i Hi.
    destruct (HA i Hi) as [P O]. rewrite <- O. now apply Sum_term. }
  split; [|split].
  - intros N A HN HA. split; [now apply low|]. split; [now apply one|]. split.
    { apply sqrt_le_1_alt, largest_le; [apply pos_INR|]. intros j Hj. now apply col. }
    split.
    + intros H1. assert (M1 : largest N (fun j => Sum N (fun i => A i j)) = 1).
      { apply Rle_antisym; [apply largest_le; [lra|]; intros j Hj; rewrite H1 by easy; lra|].
        rewrite <- (H1 0%nat HN). exact (largest_ge N (fun j => Sum N (fun i => A i j)) 0%nat HN). }
      assert (K := one N A HN HA). rewrite M1, sqrt_1 in *. split; [|easy]. apply Rle_antisym; [easy|now apply low].
    + intros k Hk HR. assert (MN : largest N (fun j => Sum N (fun i => A i j)) = INR N).
      { apply Rle_antisym; [apply largest_le; [apply pos_INR|]; intros; now apply col|].
        replace (INR N) with (Sum N (fun i => A i k)); [now apply (largest_ge N (fun j => Sum N (fun i => A i j)))|].
        rewrite (Sum_ext N _ (fun _ => 1)), Sum_const; [ring|]. intros i Hi. rewrite HR by easy. unfold identity.
          now rewrite Nat.eqb_refl. }
      assert (K := one N A HN HA). rewrite MN in *. split; [|easy]. apply Rle_antisym; [easy|].
      assert (U := spectral_unit N N A (identity k) (unit N k Hk)). eapply Rle_trans; [|exact U]. right.
      unfold vnorm, sq. f_equal. rewrite (Sum_ext N _ (fun _ => 1)), Sum_const; [ring|]. intros i Hi. unfold matvec.
      rewrite (Sum_ext N _ (fun j => identity k j * A i j)), identity_sum, HR by (first [easy | intros; ring]).
      unfold identity. rewrite Nat.eqb_refl. ring.
  - intros N L HN. set (A := softmax_rows N L). assert (HA : stochastic N A) by (intros i _;
      apply softmax_distribution; lia).
    eapply Rle_lt_trans; [apply one; [lia|exact HA]|]. apply sqrt_lt_1_alt. split; [apply largest_ge0|].
    assert (P := INR_pos N ltac:(lia)).
    assert (lt : forall n, (n <= N)%nat -> largest n (fun j => Sum N (fun i => A i j)) < INR N).
    { induction n; intros Hn; simpl; [easy|]. apply Rmax_lub_lt; [apply IHn; lia|].
      assert (0 < Sum N (fun i => 1 - A i n)); [|rewrite Sum_minus, Sum_const in H; lra].
      apply Sum_gt0; [lia|]. intros i Hi. destruct (HA i Hi) as [Q O].
      set (k := if (n =? 0)%nat then 1%nat else 0%nat).
      assert (Hk : (k < N)%nat /\ k <> n) by (unfold k; destruct (Nat.eqb_spec n 0); lia).
      assert (T := Sum_term N (fun t => (1 - identity n t) * A i t) k ltac:(easy)).
      rewrite (Sum_ext N _ (fun t => A i t - identity n t * A i t)), Sum_minus, identity_sum, O in T
        by (first [lia | intros; ring]).
      assert (A i k <= 1 - A i n).
      { replace (A i k) with ((1 - identity n k) * A i k); [apply T|].
        - intros t Ht. apply Rmult_le_pos; [unfold identity; destruct (n =? t)%nat; lra|now apply Q].
        - unfold identity. replace (n =? k)%nat with false by (symmetry; apply Nat.eqb_neq; lia). ring. }
      assert (0 < A i k) by (apply softmax_pos; lia). lra. }
    now apply lt.
  - intros N epsilon HN He. assert (P := INR_pos N ltac:(lia)). assert (P1 : 1 <= INR N) by (apply (le_INR 1); lia).
    assert (Q : 0 < sqrt (INR N)) by now apply sqrt_lt_R0.
    set (K := INR N * sqrt (INR N) / epsilon + 1).
    assert (EK : epsilon * K = INR N * sqrt (INR N) + epsilon) by (unfold K; field; lra).
    assert (HK : 0 < K) by (unfold K; assert (0 < INR N * sqrt (INR N) / epsilon) by (apply Rdiv_lt_0_compat; nra);
      lra).
    exists (fun _ t => identity 0%nat t * ln K). set (A := softmax_rows N _).
    assert (A0 : forall i, A i 0%nat = K / (INR N + (K - 1))).
    { intros i. unfold A, softmax_rows, softmax. f_equal.
      - unfold identity. simpl. rewrite Rmult_1_l. now apply exp_ln.
      - rewrite (Sum_ext N _ (fun t => 1 + identity 0%nat t * (K - 1))).
        + rewrite Sum_plus, Sum_const, identity_sum by lia. ring.
        + intros t _. unfold identity. destruct (0 =? t)%nat; [rewrite Rmult_1_l, exp_ln by easy; ring|].
          rewrite Rmult_0_l, exp_0. ring. }
    assert (U := spectral_unit N N A (identity 0%nat) (unit N 0%nat ltac:(lia))).
    eapply Rlt_le_trans; [|exact U].
    replace (vnorm N (matvec N A (identity 0%nat))) with (sqrt (INR N) * (K / (INR N + (K - 1)))).
    + apply (Rmult_lt_reg_r (INR N + (K - 1))); [lra|].
      replace (sqrt (INR N) * (K / (INR N + (K - 1))) * (INR N + (K - 1))) with (sqrt (INR N) * K) by (field; lra). nra.
    + rewrite (norm_ext N _ (vscal (K / (INR N + (K - 1))) (fun _ => 1))).
      * rewrite norm_scal, Rabs_right by (apply Rle_ge, Rlt_le, Rdiv_lt_0_compat; lra). rewrite Rmult_comm. f_equal.
        unfold vnorm, sq. rewrite Sum_const. f_equal. ring.
      * intros i _. unfold matvec, vscal. rewrite (Sum_ext N _ (fun j => identity 0%nat j * A i j)), identity_sum
          by (first [lia | intros; ring]).
        rewrite A0. ring.
Qed.

Lemma exp_difference e : 0 < e <= / 2 -> 2 * e / (1 + e) <= exp e - exp (- e) /\ exp e + exp (- e) <= 2 + 4 * e.
Proof.
  intros He. assert (A := exp_ineq1 e ltac:(lra)). assert (B := exp_ineq1 (- e) ltac:(lra)).
  assert (C : exp (- e) = / exp e) by apply exp_Ropp.
    assert (D : exp e = / exp (- e)) by (rewrite C; rewrite Rinv_inv; easy).
  assert (E1 : exp (- e) <= / (1 + e)) by (rewrite C; left; apply Rinv_lt_contravar; [nra|easy]).
  assert (E2 : exp e <= / (1 - e)) by (rewrite D; left; apply Rinv_lt_contravar; [nra|lra]).
  assert (E3 : / (1 - e) <= 1 + 2 * e).
  { apply (Rmult_le_reg_l (1 - e)); [lra|]. rewrite Rinv_r by lra. nra. }
  assert (E4 : 2 * e / (1 + e) <= 1 + e - / (1 + e)).
  { apply (Rmult_le_reg_r (1 + e)); [lra|]. replace (2 * e / (1 + e) * (1 + e)) with (2 * e) by (field; lra).
    replace ((1 + e - / (1 + e)) * (1 + e)) with ((1 + e) ^ 2 - 1) by (field; lra). nra. }
  assert (exp (- e) <= 1) by (left; rewrite <- exp_0; apply exp_increasing; lra). lra.
Qed.

(** T = S ⊙ (M − ((S ⊙ M)1)1ᵀ): what comes back through softmax *)
Definition backward (N : nat) (A M : matrix) : matrix := fun i j => A i j * (M i j - Sum N (fun k => A i k * M i k)).

Lemma backward_row N A M i j : distribution N (A i) -> (j < N)%nat ->
  backward N A M i j = matvec N (jacobian (A i)) (M i) j.
Proof. intros H Hj. now rewrite jacobian_apply. Qed.

(** rt-lemma-e
    Covers: the whole statement.
    Reads: for N ≥ 1 tokens and any number r of rows: ‖S − S′‖_F ≤ ½‖L − L′‖_F; for N ≥ 2 and every 0 ≤ c < ½ there are L, L′ of one row with ‖S − S′‖_F > c‖L − L′‖_F; and ‖T‖_F ≤ ½‖M‖_F for T = S ⊙ (M − ((S ⊙ M)1)1ᵀ) and every S whose rows are distributions.
    Mistake: `/ 3 * sqrt (frob2 r N (mminus L L'))` for `/ 2 * sqrt (frob2 r N (mminus L L'))`
    Mistake: `0 <= c <= / 2` for `0 <= c < / 2`
    Mistake: `/ 3 * sqrt (frob2 r N M)` for `/ 2 * sqrt (frob2 r N M)`
*)
Theorem rt_lemma_e :
  (forall N r L L', (0 < N)%nat ->
    sqrt (frob2 r N (mminus (softmax_rows N L) (softmax_rows N L'))) <= / 2 * sqrt (frob2 r N (mminus L L'))) /\
  (forall N c, (2 <= N)%nat -> 0 <= c < / 2 -> exists L L',
    c * sqrt (frob2 1 N (mminus L L')) < sqrt (frob2 1 N (mminus (softmax_rows N L) (softmax_rows N L')))) /\
  (forall N r A M, (forall i, (i < r)%nat -> distribution N (A i)) ->
    sqrt (frob2 r N (backward N A M)) <= / 2 * sqrt (frob2 r N M)).
Proof.
  assert (root : forall a b, 0 <= b -> a <= / 4 * b -> sqrt a <= / 2 * sqrt b).
  { intros a b Hb H. rewrite <- (sqrt_pow2 (/ 2)), <- sqrt_mult by (try apply pow2_ge_0; lra). apply sqrt_le_1_alt.
      simpl. lra. }
  split; [|split].
  - intros N r L L' HN. apply root; [apply Sum_ge0; intros; apply sq_ge0|now apply frob_rows].
  - intros N c HN Hc. assert (P : 2 <= INR N) by (apply (le_INR 2); lia).
    set (e := (1 - 2 * c) / (16 + 4 * INR N)).
    assert (Ee : e * (16 + 4 * INR N) = 1 - 2 * c) by (unfold e; field; lra).
    assert (He : 0 < e <= / 2) by (split; [unfold e; apply Rdiv_lt_0_compat; lra|nra]).
    set (v := fun t => identity 0%nat t - identity 1%nat t).
    set (y := fun t => (1 - identity 0%nat t - identity 1%nat t) * ln e).
    set (z := fun t => y t + e * v t). exists (fun _ => z), (fun _ => y). unfold frob2, mminus. cbn [Sum].
      rewrite !Rplus_0_l.
    change (c * sqrt (sq N (vminus z y)) < sqrt (sq N (vminus (softmax N z) (softmax N y)))).
    assert (V : vnorm N v = sqrt 2) by (unfold vnorm, v; rewrite pair_norm by lia; easy).
    change (c * vnorm N (vminus z y) < vnorm N (vminus (softmax N z) (softmax N y))).
    rewrite (norm_ext N (vminus z y) (vscal e v)), norm_scal, V, Rabs_right by (lra || intros; unfold vminus, vscal, z;
      ring).
    assert (K := Rle_trans _ _ _ (Rle_abs _) (cauchy N (vminus (softmax N z) (softmax N y)) v)). rewrite V in K.
    unfold dot, v in K. rewrite pair_sum in K by lia. unfold vminus at 1 2 in K.
    assert (R2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra). assert (Q2 : sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra).
    apply (Rmult_lt_reg_r (sqrt 2)); [easy|]. eapply Rlt_le_trans; [|exact K].
    replace (c * (e * sqrt 2) * sqrt 2) with (c * e * (sqrt 2 * sqrt 2)) by ring. rewrite Q2.
    assert (Y : softmax N y 0%nat = softmax N y 1%nat).
    { unfold softmax. f_equal. f_equal. unfold y, identity. simpl. ring. }
    rewrite Y. replace (softmax N z 0%nat - softmax N y 1%nat - (softmax N z 1%nat - softmax N y 1%nat))
      with (softmax N z 0%nat - softmax N z 1%nat) by ring.
    destruct (exp_difference e He) as [D1 D2].
    set (Z := Sum N (fun s => exp (z s))). assert (HZ : 0 < Z) by (apply partition_pos; lia).
    assert (Z0 : exp (z 0%nat) = exp e) by (f_equal; unfold z, y, v, identity; simpl; ring).
    assert (Z1 : exp (z 1%nat) = exp (- e)) by (f_equal; unfold z, y, v, identity; simpl; ring).
    assert (ZZ : Z <= 2 + 4 * e + INR N * e).
    { apply Rle_trans with (Sum N (fun t => identity 0%nat t * exp e + (identity 1%nat t * exp (- e) + e))).
      - apply Sum_le. intros t _. destruct t as [|[|t]].
        + rewrite Z0. unfold identity. simpl. lra.
        + rewrite Z1. unfold identity. simpl. lra.
        + unfold z, y, v, identity. simpl. replace ((1 - 0 - 0) * ln e + e * (0 - 0)) with (ln e) by ring.
            rewrite exp_ln; lra.
      - rewrite Sum_plus, Sum_plus, !identity_sum, Sum_const by lia. lra. }
    unfold softmax. fold Z. rewrite Z0, Z1. apply (Rmult_lt_reg_r Z); [easy|].
    replace ((exp e / Z - exp (- e) / Z) * Z) with (exp e - exp (- e)) by (field; lra).
    eapply Rlt_le_trans; [|exact D1]. apply (Rmult_lt_reg_r (1 + e)); [lra|].
    replace (2 * e / (1 + e) * (1 + e)) with (2 * e) by (field; lra).
    assert (G : c * ((1 + e) * Z) < 1).
    { apply Rle_lt_trans with (c * ((1 + e) * (2 + 4 * e + INR N * e))); [apply Rmult_le_compat_l; nra|].
      assert (X : (1 + e) * (2 + 4 * e + INR N * e) <= 2 + (8 + 2 * INR N) * e) by nra.
      apply Rle_lt_trans with (c * (2 + (8 + 2 * INR N) * e)); [apply Rmult_le_compat_l; lra|].
      assert ((8 + 2 * INR N) * e = (1 - 2 * c) / 2) by lra. rewrite H. nra. }
    replace (c * e * 2 * Z * (1 + e)) with (2 * e * (c * ((1 + e) * Z))) by ring. nra.
  - intros N r A M HA. apply root; [apply Sum_ge0; intros; apply sq_ge0|]. unfold frob2. rewrite <- Sum_scal.
      apply Sum_le. intros i Hi.
    rewrite (Sum_ext N _ (fun j => matvec N (jacobian (A i)) (M i) j ^ 2)) by (intros; rewrite backward_row; auto).
    change (sq N (matvec N (jacobian (A i)) (M i)) <= / 4 * sq N (M i)). rewrite <- !norm_sq.
    assert (J := jacobian_norm N (A i) (/ 2) (M i) (HA i Hi) ltac:(lra) ltac:(intros; apply Var_half; auto)).
    assert (P := norm_ge0 N (matvec N (jacobian (A i)) (M i))). assert (Q := norm_ge0 N (M i)).
    replace (/ 4 * vnorm N (M i) ^ 2) with ((/ 2 * vnorm N (M i)) ^ 2) by field. apply pow_incr. lra.
Qed.

(** α-covariance of ⟨p, x⟩ and ⟨q, x⟩ *)
Lemma covariance_form N d alpha X p q :
  dot d p (matvec d (covariance N alpha X) q)
  = E N alpha (fun t => (dot d p (X t) - dot d p (attended N alpha X)) * (dot d q (X t) - dot d q (attended N alpha
    X))).
Proof.
  set (c := fun t i => X t i - attended N alpha X i).
  assert (C : forall p t, dot d p (X t) - dot d p (attended N alpha X) = dot d p (c t)).
  { intros. unfold dot. rewrite <- Sum_minus. apply Sum_ext. intros. unfold c. ring. }
  rewrite (E_ext N alpha _ (fun t => dot d p (c t) * dot d q (c t))) by (intros; now rewrite !C).
  unfold E, dot. transitivity (Sum d (fun i => Sum N (fun t => p i * (alpha t * c t i * Sum d (fun j => q j * c t
    j))))).
  - apply Sum_ext. intros i _. rewrite Sum_scal. f_equal. unfold matvec, covariance, E. fold c.
    rewrite (Sum_ext d _ (fun j => Sum N (fun t => alpha t * c t i * (q j * c t j)))).
    + rewrite Sum_swap. apply Sum_ext. intros t _. now rewrite Sum_scal.
    + intros j _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros. unfold c. ring.
  - rewrite Sum_swap. apply Sum_ext. intros t _.
    rewrite (Sum_ext d _ (fun i => alpha t * Sum d (fun j => q j * c t j) * (p i * c t i))) by (intros; ring).
    rewrite Sum_scal. ring.
Qed.

Lemma attended_dot N d alpha X p : dot d p (attended N alpha X) = E N alpha (fun t => dot d p (X t)).
Proof.
  unfold dot, attended, E. rewrite (Sum_ext N _ (fun t => Sum d (fun i => alpha t * (p i * X t i)))) by (intros;
    now rewrite Sum_scal).
  rewrite Sum_swap. apply Sum_ext. intros i _. rewrite <- Sum_scal. apply Sum_ext. intros. ring.
Qed.

(** rt-lemma-f
    Covers: a part: the first two bounds, and two tokens that attain both; on the page: the third cumulant.
    Reads: for N ≥ 1 tokens in ℝᵈ, a distribution over them with covariance Σ, any W (d × m) and W′ (d × m′): if all distances of rows of XW are at most D₁ and those of XW′ at most D₂, then ‖WᵀΣW′‖ ≤ D₁D₂/4; and ‖x_i − x_j‖² ≤ 2‖X‖² for all i, j. For the numbers 1, −1 as tokens, half of the attention on each and W = W′ = 1, ‖Σ‖ = 2·2/4, and 2² = 2‖X‖².
    Mistake: `D1 * D2 / 5` for `D1 * D2 / 4`
    Mistake: `<= spectral N d X ^ 2` for `<= 2 * spectral N d X ^ 2`
    Mistake: `3 * 2 / 4` for `2 * 2 / 4`
*)
Theorem rt_lemma_f :
  (forall N d m m' alpha X W W' D1 D2, (0 < N)%nat -> distribution N alpha ->
    (forall i j, (i < N)%nat -> (j < N)%nat -> vnorm m (vminus (matmul d X W i) (matmul d X W j)) <= D1) ->
    (forall i j, (i < N)%nat -> (j < N)%nat -> vnorm m' (vminus (matmul d X W' i) (matmul d X W' j)) <= D2) ->
    spectral m m' (matmul d (transpose W) (matmul d (covariance N alpha X) W')) <= D1 * D2 / 4) /\
  (forall N d X i j, (i < N)%nat -> (j < N)%nat -> sq d (vminus (X i) (X j)) <= 2 * spectral N d X ^ 2) /\
  (let X := fun i _ : nat => if (i =? 0)%nat then 1 else -1 in
    spectral 1 1 (covariance 2 (fun _ => / 2) X) = 2 * 2 / 4 /\ (vnorm 1 (vminus (X 0%nat) (X 1%nat)) = 2 /\
    2 ^ 2 = 2 * (spectral 2 1 X) ^ 2)).
Proof.
  split; [|split].
  - intros N d m m' alpha X W W' D1 D2 HN HA H1 H2.
    assert (P1 : 0 <= D1) by (eapply Rle_trans; [apply norm_ge0|exact (H1 0%nat 0%nat HN HN)]).
    assert (P2 : 0 <= D2) by (eapply Rle_trans; [apply norm_ge0|exact (H2 0%nat 0%nat HN HN)]).
    assert (V : forall k U D y, (forall i j, (i < N)%nat -> (j < N)%nat ->
      vnorm k (vminus (matmul d X U i) (matmul d X U j)) <= D) ->
      Var N alpha (fun t => dot d (matvec k U y) (X t)) <= (D * vnorm k y) ^ 2 / 4).
    { intros k U D y H. apply popoviciu_range; [easy|easy|]. intros i j Hi Hj.
      assert (row : forall t, dot d (matvec k U y) (X t) = dot k (matmul d X U t) y).
      { intros t. rewrite dot_sym. apply (matvec_matvec d k X U y t). }
      rewrite !row, <- dot_minus_l. eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply cauchy|].
      apply Rmult_le_compat_r; [apply norm_ge0|now apply H]. }
    apply spectral_le; [nra|]. intros x Hx. set (y := matvec m' _ x).
    assert (C : vnorm m y ^ 2 <= D1 * vnorm m y * D2 / 4).
    { rewrite <- dot_self. replace (dot m y y) with (dot d (matvec m W y) (matvec d (covariance N alpha X) (matvec m'
        W' x))).
      - rewrite covariance_form. rewrite !attended_dot.
        set (f := fun t => dot d (matvec m W y) (X t)). set (g := fun t => dot d (matvec m' W' x) (X t)).
        change (E N alpha (fun t => (f t - E N alpha f) * (g t - E N alpha g)) <= D1 * vnorm m y * D2 / 4).
        rewrite <- jacobian_form by easy. assert (K := jacobian_cauchy N alpha f g HA).
        assert (Vf := V m W D1 y H1). assert (Vg := V m' W' D2 x H2). fold f in Vf. fold g in Vg.
          rewrite (norm_one m' x Hx), Rmult_1_r in Vg.
        assert (F0 := Var_ge0 N alpha f HA). assert (G0 := Var_ge0 N alpha g HA).
        eapply Rle_trans; [apply Rle_abs|]. apply Rsqr_incr_0_var; [|assert (Q := norm_ge0 m y);
          assert (0 <= D1 * vnorm m y) by nra; nra].
        rewrite <- Rsqr_abs, !Rsqr_pow2. eapply Rle_trans; [exact K|].
        replace ((D1 * vnorm m y * D2 / 4) ^ 2) with ((D1 * vnorm m y) ^ 2 / 4 * (D2 ^ 2 / 4)) by field.
        now apply Rmult_le_compat.
      - rewrite dot_sym, (adjoint d m W). unfold dot. apply Sum_ext. intros i _. f_equal.
        unfold y. rewrite <- matvec_matvec. apply matvec_ext. intros j _. split; [easy|apply matvec_matvec]. }
    assert (Q := norm_ge0 m y). fold y. destruct (Req_dec (vnorm m y) 0) as [->|Ny]; [nra|].
    apply (Rmult_le_reg_l (vnorm m y)); [lra|]. simpl in C. lra.
  - intros N d X i j Hi Hj. destruct (Nat.eq_dec i j) as [->|Hij].
    { unfold sq. rewrite (Sum_ext d _ (fun _ => 0)), Sum_zero by (intros; unfold vminus; ring).
      assert (0 <= spectral N d X ^ 2) by apply pow2_ge_0. lra. }
    rewrite <- norm_sq. assert (K := spectral_apply d N (transpose X) (fun t => identity i t - identity j t)).
    rewrite (norm_ext d _ (vminus (X i) (X j))) in K by (intros k _; unfold matvec, transpose;
      now rewrite (pair_sum N (fun l => X l k))).
    unfold vnorm at 2 in K. rewrite pair_norm in K by easy.
    apply Rle_trans with ((spectral d N (transpose X) * sqrt 2) ^ 2); [apply pow_incr; split; [apply norm_ge0|easy]|].
    rewrite Rpow_mult_distr, pow2_sqrt, Rmult_comm by lra. apply Rmult_le_compat_l; [lra|]. apply pow_incr.
    split; [apply spectral_ge0|apply spectral_transpose].
  - intros X.
    assert (R2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
    assert (one : forall k M c, 0 <= c -> (forall x, x 0%nat ^ 2 = 1 -> sq k (matvec 1 M x) = c ^ 2) ->
      spectral k 1 M = c).
    { intros k M c Hc H. assert (N1 : forall x, sq 1 x = x 0%nat ^ 2) by (intros; unfold sq; simpl; ring).
        apply Rle_antisym.
      - apply spectral_le; [easy|]. intros x Hx. unfold vnorm. rewrite H by (now rewrite <- N1). rewrite sqrt_pow2; lra.
      - assert (U := spectral_unit k 1 M (fun _ => 1)). unfold vnorm in U. rewrite H, sqrt_pow2 in U by (easy || ring).
          apply U. rewrite N1. ring. }
    split; [|split].
    + apply one; [lra|]. intros x Hx. unfold sq, matvec, covariance, attended, E, X. simpl. simpl in Hx.
      match goal with |- ?l = ?r => replace l with (x 0%nat * (x 0%nat * 1)) by field; rewrite Hx; field end.
    + unfold vnorm, sq, vminus, X. simpl. replace (0 + (1 - -1) * ((1 - -1) * 1)) with (2 ^ 2) by ring.
        rewrite sqrt_pow2; lra.
    + rewrite (one 2%nat X (sqrt 2)); [rewrite pow2_sqrt; lra|lra|]. intros x Hx. rewrite pow2_sqrt by lra.
      unfold sq, matvec, X. simpl. simpl in Hx. lra.
Qed.

(** ‖AΠ‖²_F ≤ (N − 1)‖A‖² *)
Lemma centred_frob r N D : (0 < N)%nat -> frob2 r N (fun i j => D i j - / INR N * Sum N (D i)) <= (INR N - 1) *
  spectral r N D ^ 2.
Proof.
  intros HN. assert (P := INR_pos N HN). set (pi := fun j t => identity j t - / INR N).
  unfold frob2. rewrite Sum_swap. rewrite (Sum_ext N _ (fun j => sq r (matvec N D (pi j)))).
  - apply Rle_trans with (Sum N (fun _ => spectral r N D ^ 2 * (1 - / INR N))).
    + apply Sum_le. intros j Hj. rewrite <- norm_sq.
      replace (1 - / INR N) with (vnorm N (pi j) ^ 2).
      * rewrite <- Rpow_mult_distr. apply pow_incr. split; [apply norm_ge0|apply spectral_apply].
      * rewrite norm_sq. unfold sq, pi.
        rewrite (Sum_ext N _ (fun t => identity j t * (identity j t - 2 * / INR N) + / INR N ^ 2)) by (intros;
          unfold identity; destruct (j =? i)%nat; field; lra).
        rewrite Sum_plus, identity_sum, Sum_const by easy. unfold identity. rewrite Nat.eqb_refl. field. lra.
    + rewrite Sum_const. right. field. lra.
  - intros j Hj. apply Sum_ext. intros i _. f_equal. unfold matvec, pi.
    rewrite (Sum_ext N (fun t => D i t * _) (fun t => identity j t * D i t - / INR N * D i t)) by (intros; ring).
    now rewrite Sum_minus, identity_sum, Sum_scal.
Qed.

(** ‖𝒥v − ¼Πv‖ ≤ ¼‖Πv‖, as 0 ⪯ 𝒥 ⪯ ½ and ΠJ = J *)
Lemma jacobian_quarter N s v : (0 < N)%nat -> distribution N s -> let w := fun t => v t - / INR N * Sum N v in
  vnorm N (fun t => matvec N (jacobian s) v t - / 4 * w t) <= / 4 * vnorm N w.
Proof.
  intros HN H w. assert (P := INR_pos N HN). set (j := matvec N (jacobian s) v).
  assert (Sj : Sum N j = 0).
  { rewrite (Sum_ext N j (fun t => s t * v t - E N s v * s t)) by (intros; unfold j; rewrite jacobian_apply by easy;
      ring).
    rewrite Sum_minus, Sum_scal. destruct H as [_ ->]. unfold E. ring. }
  assert (jw : dot N j w = Var N s v).
  { rewrite <- jacobian_var, dot_sym by easy. unfold dot, w. fold j.
      rewrite (Sum_ext N _ (fun t => v t * j t - / INR N * Sum N v * j t)) by (intros; ring).
    rewrite Sum_minus, Sum_scal, Sj. ring. }
  assert (jj : sq N j <= / 2 * Var N s v).
  { assert (K := jacobian_cauchy N s j v H). fold j in K. rewrite <- sq_dot in K. assert (A := Var_half N s j H).
    assert (V := Var_ge0 N s v H). assert (Q := sq_ge0 N j). destruct (Req_dec (sq N j) 0) as [->|Nq]; [lra|].
    apply (Rmult_le_reg_l (sq N j)); [lra|]. nra. }
  apply norm_le; [assert (Q := norm_ge0 N w); lra|].
  rewrite Rpow_mult_distr, norm_sq. unfold sq.
  rewrite (Sum_ext N _ (fun t => j t ^ 2 - (/ 2 * (j t * w t) - (/ 4) ^ 2 * w t ^ 2))) by (intros; field).
  rewrite Sum_minus, Sum_minus, !Sum_scal. fold (sq N j) (sq N w) (dot N j w). rewrite jw. lra.
Qed.

(** one row: ⟨v, 𝒥D⟩ is ¼⟨D, Πv⟩ up to ¼‖v‖‖DΠ‖ *)
Lemma jacobian_split N s v D : (0 < N)%nat -> distribution N s ->
  Rabs (dot N v (matvec N (jacobian s) D) - / 4 * dot N D (fun t => v t - / INR N * Sum N v))
  <= / 4 * vnorm N v * vnorm N (fun t => D t - / INR N * Sum N D).
Proof.
  intros HN H. set (w := fun t => D t - / INR N * Sum N D).
  assert (K := jacobian_quarter N s D HN H). cbv zeta in K. fold w in K.
  replace (dot N D (fun t => v t - / INR N * Sum N v)) with (dot N v w).
  - replace (dot N v (matvec N (jacobian s) D) - / 4 * dot N v w)
      with (dot N v (fun t => matvec N (jacobian s) D t - / 4 * w t)).
    + eapply Rle_trans; [apply cauchy|]. assert (Q := norm_ge0 N v). nra.
    + unfold dot. rewrite <- Sum_scal, <- Sum_minus. apply Sum_ext. intros. ring.
  - unfold dot, w. rewrite (Sum_ext N _ (fun t => D t * v t - / INR N * Sum N D * v t)) by (intros; ring).
    rewrite (Sum_ext N (fun t => D t * (v t - _)) (fun t => D t * v t - / INR N * Sum N v * D t)) by (intros; ring).
    rewrite !Sum_minus, !Sum_scal. ring.
Qed.

(** Σ_i x_i ⟨v, 𝒥(s_i)D_i⟩ ≤ ¼(1 + √(N − 1))‖x‖‖v‖‖D‖ *)
Lemma rows_bound r N (s : matrix) D x v : (0 < N)%nat -> (forall i, (i < r)%nat -> distribution N (s i)) ->
  Sum r (fun i => x i * dot N v (matvec N (jacobian (s i)) (D i)))
  <= / 4 * (1 + sqrt (INR N - 1)) * spectral r N D * (vnorm r x * vnorm N v).
Proof.
  intros HN H. assert (P1 : 1 <= INR N) by (apply (le_INR 1); lia). set (pv := fun t => v t - / INR N * Sum N v).
  set (pd := fun i t => D i t - / INR N * Sum N (D i)).
  assert (Npv : vnorm N pv <= vnorm N v).
  { assert (INRP := INR_pos N HN). unfold vnorm. apply sqrt_le_1_alt. unfold sq, pv.
    rewrite (Sum_ext N _ (fun i => v i ^ 2 - (2 * / INR N * Sum N v * v i - (/ INR N * Sum N v) ^ 2))) by (intros;
      ring).
    rewrite Sum_minus, Sum_minus, Sum_scal, Sum_const.
    replace (2 * / INR N * Sum N v * Sum N v - INR N * (/ INR N * Sum N v) ^ 2) with (/ INR N * Sum N v ^ 2) by (field;
      lra).
    assert (0 < / INR N) by now apply Rinv_0_lt_compat. assert (0 <= Sum N v ^ 2) by apply pow2_ge_0. nra. }
  assert (S0 := spectral_ge0 r N D). assert (X0 := norm_ge0 r x). assert (V0 := norm_ge0 N v).
  assert (first : Sum r (fun i => x i * dot N (D i) pv) <= spectral r N D * (vnorm r x * vnorm N v)).
  { change (Sum r (fun i => x i * dot N (D i) pv)) with (dot r x (matvec N D pv)).
    eapply Rle_trans; [eapply Rle_trans; [apply Rle_abs|apply cauchy]|]. assert (K := spectral_apply r N D pv).
    apply Rle_trans with (vnorm r x * (spectral r N D * vnorm N v)); [|right; ring].
    apply Rmult_le_compat_l; [easy|]. eapply Rle_trans; [exact K|]. now apply Rmult_le_compat_l. }
  assert (second : Sum r (fun i => Rabs (x i) * vnorm N (pd i)) <= vnorm r x * (sqrt (INR N - 1) * spectral r N D)).
  { eapply Rle_trans; [eapply Rle_trans; [apply Rle_abs|
      apply (cauchy r (fun i => Rabs (x i)) (fun i => vnorm N (pd i)))]|].
    apply Rmult_le_compat; [apply norm_ge0|apply norm_ge0| |].
    - right. unfold vnorm. f_equal. apply Sum_ext. intros. apply pow2_abs.
    - apply norm_le; [apply Rmult_le_pos; [apply sqrt_pos|easy]|]. rewrite Rpow_mult_distr, pow2_sqrt by lra.
      eapply Rle_trans; [|now apply centred_frob]. right. unfold frob2. apply Sum_ext. intros i _. now rewrite norm_sq.
        }
  apply Rle_trans with (Sum r (fun i => / 4 * (x i * dot N (D i) pv) + / 4 * vnorm N v * (Rabs (x i) * vnorm N (pd
    i)))).
  - apply Sum_le. intros i Hi. assert (K := jacobian_split N (s i) v (D i) HN (H i Hi)). fold pv in K. fold (pd i) in K.
    set (a := dot N v (matvec N (jacobian (s i)) (D i))) in *. set (b := dot N (D i) pv) in *.
    assert (x i * (a - / 4 * b) <= Rabs (x i) * (/ 4 * vnorm N v * vnorm N (pd i))).
    { eapply Rle_trans; [apply Rle_abs|]. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|easy]. }
    lra.
  - rewrite Sum_plus, !Sum_scal. nra.
Qed.

(** rt-lemma-e-spectral
    Covers: a part: the upper bound for S − S′ and for T, and Λ_2 = ½; on the page: the lower bound for N ≥ 3, and what one token gets.
    Reads: for N ≥ 1 tokens and any number r of rows, ‖S − S′‖ ≤ ¼(1 + √(N − 1))‖L − L′‖, and ‖T‖ ≤ ¼(1 + √(N − 1))‖M‖ for T = S ⊙ (M − ((S ⊙ M)1)1ᵀ) with every S whose rows are distributions. For N = 2 the factor is ½, and no c with 0 ≤ c < ½ will do, already for one row.
    Mistake: `/ 5 * (1 + sqrt (INR N - 1)) * spectral r N (mminus L L')` for `/ 4 * (1 + sqrt (INR N - 1)) * spectral r N (mminus L L')`
    Mistake: `0 <= c <= / 2` for `0 <= c < / 2`
    Mistake: `/ 5 * (1 + sqrt (INR N - 1)) * spectral r N M` for `/ 4 * (1 + sqrt (INR N - 1)) * spectral r N M`
*)
Theorem rt_lemma_e_spectral :
  (forall N r L L', (0 < N)%nat -> spectral r N (mminus (softmax_rows N L) (softmax_rows N L'))
    <= / 4 * (1 + sqrt (INR N - 1)) * spectral r N (mminus L L')) /\
  (forall N r A M, (0 < N)%nat -> (forall i, (i < r)%nat -> distribution N (A i)) ->
    spectral r N (backward N A M) <= / 4 * (1 + sqrt (INR N - 1)) * spectral r N M) /\
  / 4 * (1 + sqrt (INR 2 - 1)) = / 2 /\
  (forall c, 0 <= c < / 2 -> exists L L',
    c * spectral 1 2 (mminus L L') < spectral 1 2 (mminus (softmax_rows 2 L) (softmax_rows 2 L'))).
Proof.
  assert (C0 : forall N r D, (0 < N)%nat -> 0 <= / 4 * (1 + sqrt (INR N - 1)) * spectral r N D).
  { intros N r D HN. assert (A := sqrt_pos (INR N - 1)). assert (B := spectral_ge0 r N D). apply Rmult_le_pos; lra. }
  split; [|split; [|split]].
  - intros N r L L' HN. apply spectral_le; [now apply C0|]. intros v Hv. set (D := mminus L L').
    set (x := matvec N (mminus (softmax_rows N L) (softmax_rows N L')) v).
    set (path := fun t i => vplus (L' i) (vscal t (D i))).
    set (f := fun t => Sum r (fun i => x i * dot N v (softmax N (path t i)))).
    set (f' := fun t => Sum r (fun i => x i * dot N v (matvec N (jacobian (softmax N (path t i))) (D i)))).
    assert (Df : forall t, is_derive f t (f' t)).
    { intros t. apply Sum_derive. intros i _. apply (is_derive_scal (fun t => dot N v (softmax N (path t i))) t (x i)).
      apply Sum_derive. intros j Hj. apply (is_derive_scal (fun t => softmax N (path t i) j) t (v j)).
      apply softmax_derive; [easy|easy|]. intros k _. unfold path, vplus, vscal. auto_derive; [easy|ring]. }
    destruct (MVT_gen f 0 1 f') as [c [_ Hc]].
    + intros. apply Df.
    + intros t _. apply continuity_pt_filterlim. apply (ex_derive_continuous f). eexists. apply Df.
    + rewrite Rminus_0_r, Rmult_1_r in Hc.
      assert (F : f 1 - f 0 = sq r x).
      { unfold f. rewrite <- Sum_minus. apply Sum_ext. intros i _. rewrite <- Rmult_minus_distr_l.
        replace (dot N v (softmax N (path 1 i)) - dot N v (softmax N (path 0 i))) with (x i); [ring|].
        unfold x, matvec, dot. rewrite <- Sum_minus. apply Sum_ext. intros j _. unfold mminus, vminus, softmax_rows.
        rewrite (softmax_ext N (path 1 i) (L i)), (softmax_ext N (path 0 i) (L' i)); [ring| |];
          intros t; unfold path, vplus, vscal, D, mminus, vminus; ring. }
      assert (B := rows_bound r N (fun i => softmax N (path c i)) D x v HN ltac:(intros;
        now apply softmax_distribution)).
      cbv beta in B. fold (f' c) in B. rewrite <- Hc, F, (norm_one N v Hv), Rmult_1_r, <- norm_sq in B.
      assert (X0 := norm_ge0 r x). assert (K := C0 N r D HN). destruct (Req_dec (vnorm r x) 0) as [->|Nx]; [easy|].
      apply (Rmult_le_reg_r (vnorm r x)); [lra|]. simpl in B. lra.
  - intros N r A M HN HA. apply spectral_le; [now apply C0|]. intros v Hv. set (x := matvec N (backward N A M) v).
    assert (B := rows_bound r N A M x v HN HA).
    rewrite (Sum_ext r _ (fun i => x i ^ 2)) in B.
    + fold (sq r x) in B. rewrite (norm_one N v Hv), Rmult_1_r, <- norm_sq in B.
      assert (X0 := norm_ge0 r x). assert (K := C0 N r M HN). destruct (Req_dec (vnorm r x) 0) as [->|Nx]; [easy|].
      apply (Rmult_le_reg_r (vnorm r x)); [lra|]. simpl in B. lra.
    + intros i Hi. simpl. rewrite Rmult_1_r. f_equal. unfold x, matvec at 2, dot. apply Sum_ext. intros j Hj.
      rewrite backward_row by auto. ring.
  - simpl. replace (1 + 1 - 1) with 1 by ring. rewrite sqrt_1. lra.
  - intros c Hc. destruct rt_lemma_e as [_ [K _]]. destruct (K 2%nat c ltac:(lia) Hc) as [L [L' H]]. exists L, L'.
    assert (one : forall M, spectral 1 2 M = sqrt (frob2 1 2 M)).
    { intros M. apply Rle_antisym; [apply spectral_frob|].
      assert (F : frob2 1 2 M = sq 2 (M 0%nat)) by (unfold frob2, sq; simpl; ring).
      assert (U := spectral_apply 1 2 M (M 0%nat)). rewrite F. change (sqrt (sq 2 (M 0%nat))) with (vnorm 2 (M 0%nat)).
      assert (W : vnorm 1 (matvec 2 M (M 0%nat)) = vnorm 2 (M 0%nat) ^ 2).
      { rewrite norm_sq. rewrite <- (sqrt_pow2 (sq 2 (M 0%nat))) by apply sq_ge0. unfold vnorm. f_equal.
          unfold sq, matvec. simpl. ring. }
      rewrite W in U. assert (Q := norm_ge0 2 (M 0%nat)). assert (S0 := spectral_ge0 1 2 M).
      destruct (Req_dec (vnorm 2 (M 0%nat)) 0) as [->|Nz]; [easy|]. apply (Rmult_le_reg_r (vnorm 2 (M 0%nat))); [lra|].
        simpl in U. lra. }
    now rewrite !one.
Qed.

(** rt-proposition-a-kink
    Covers: the whole statement.
    Reads: for all sizes 1, X = 1, W_V = 0, W_U = 1, g = g_f = 1, φ = relu, W_2 = a > 0, W_1 = w, any W_Q, W_K, γ and y < 1: F = 1 + a relu(w); for h > 0 the derivative of Φ = ½(F − y)² in w is D = (1 + ah − y)a at h and 0 at −h, (D − 0)/(2h) = ((1 − y)a + a²h)/(2h), which tends to ∞ as h falls to 0; Φ(h) − Φ(−h) = (1 − y)ah + ½a²h²; and for C > a²/4 the inequality Φ(h) ≤ Φ(−h) + 0·2h + ½C(2h)² fails if and only if h < 2(1 − y)a/(4C − a²).
    Mistake: `h < (1 - y) * a / (4 * C - a ^ 2)` for `h < 2 * (1 - y) * a / (4 * C - a ^ 2)`
    Mistake: `a ^ 2 * h ^ 2` for `/ 2 * a ^ 2 * h ^ 2`
    Mistake: without `y < 1 ->`
*)
Theorem rt_proposition_a_kink : forall gamma Q K a y, 0 < a -> y < 1 ->
  let one := fun _ _ : nat => 1 in
  let F := fun w => network 1 1 1 1 gamma 1 1 relu Q K (fun _ _ => 0) (fun _ _ => w) (fun _ _ => a) one one in
  let Phi := fun w => loss 1 1 1 (fun _ => F w) (fun _ _ _ => y) in
  (forall w, F w 0%nat 0%nat = 1 + a * relu w) /\
  (forall h, 0 < h -> is_derive Phi h ((1 + a * h - y) * a) /\ is_derive Phi (- h) 0 /\
    ((1 + a * h - y) * a - 0) / (2 * h) = ((1 - y) * a + a ^ 2 * h) / (2 * h) /\
    Phi h - Phi (- h) = (1 - y) * a * h + / 2 * a ^ 2 * h ^ 2) /\
  filterlim (fun h => ((1 - y) * a + a ^ 2 * h) / (2 * h)) (at_right 0) (Rbar_locally p_infty) /\
  (forall C h, / 4 * a ^ 2 < C -> 0 < h ->
    (~ Phi h <= Phi (- h) + 0 * (h - - h) + C / 2 * (h - - h) ^ 2 <-> h < 2 * (1 - y) * a / (4 * C - a ^ 2))).
Proof.
  intros gamma Q K a y Ha Hy one F Phi.
  assert (EF : forall w, F w 0%nat 0%nat = 1 + a * relu w).
  { intros w. unfold F, network, readout, output, matmul, entrywise, one. simpl.
    set (s := weights 1 1 1 gamma Q K _ 0%nat 0%nat).
    replace ((1 * 1 + (0 + (0 + s * 1) * 0)) * w) with w by ring.
    replace (0 + w) with w by ring. ring. }
  assert (EP : forall w, Phi w = / 2 * (1 + a * relu w - y) ^ 2).
  { intros w. unfold Phi, loss, frob2. simpl. rewrite EF. simpl. ring. }
  assert (pos : forall w, 0 <= w -> relu w = w) by (intros; unfold relu; now apply Rmax_left).
  assert (neg : forall w, w <= 0 -> relu w = 0) by (intros; unfold relu; now apply Rmax_right).
  split; [easy|]. split; [|split].
  - intros h Hh. split; [|split; [|split]].
    + apply (is_derive_ext_loc (fun w => / 2 * (1 + a * w - y) ^ 2)).
      * exists (mkposreal h Hh). intros w Hw. rewrite EP, pos; [easy|]. unfold ball in Hw. simpl in Hw.
          unfold AbsRing_ball, abs, minus, plus, opp in Hw. simpl in Hw.
        apply Rabs_def2 in Hw. lra.
      * auto_derive; [easy|]. field.
    + apply (is_derive_ext_loc (fun w => / 2 * (1 + a * 0 - y) ^ 2)).
      * exists (mkposreal h Hh). intros w Hw. rewrite EP, neg; [easy|]. unfold ball in Hw. simpl in Hw.
          unfold AbsRing_ball, abs, minus, plus, opp in Hw. simpl in Hw.
        apply Rabs_def2 in Hw. lra.
      * auto_derive; easy.
    + field. lra.
    + rewrite !EP, pos, neg by lra. field.
  - intros P [M HM]. set (d := (1 - y) * a / (2 * (Rabs M + 1))).
    assert (M0 := Rabs_pos M). assert (M1 := Rle_abs M).
    assert (Hd : 0 < d) by (unfold d; apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat|]; lra).
    exists (mkposreal d Hd). intros h Hh Hp. apply HM. unfold ball in Hh. simpl in Hh.
    unfold AbsRing_ball, abs, minus, plus, opp in Hh. simpl in Hh. apply Rabs_def2 in Hh.
    assert (Hh2 : h * (2 * (Rabs M + 1)) < (1 - y) * a).
    { apply Rlt_le_trans with (d * (2 * (Rabs M + 1))); [apply Rmult_lt_compat_r; lra|]. right. unfold d. field. lra. }
    apply (Rmult_lt_reg_r (2 * h)); [lra|].
    replace (((1 - y) * a + a ^ 2 * h) / (2 * h) * (2 * h)) with ((1 - y) * a + a ^ 2 * h) by (field; lra).
    assert (0 < a ^ 2) by (apply pow_lt; lra). nra.
  - intros C h HC Hh. rewrite !EP, pos, neg by lra. rewrite <- Rlt_div_r by lra. split.
    + intros H. apply Rnot_le_lt in H. apply (Rmult_lt_reg_r h); [easy|]. nra.
    + intros H. apply Rlt_not_le. assert (h * (4 * C - a ^ 2) * h < 2 * (1 - y) * a * h) by (apply Rmult_lt_compat_r;
        easy). nra.
Qed.

(** the rows of D (k × n) lie in the span of r orthonormal vectors: rank D ≤ r *)
Definition rank_at_most (k n r : nat) (D : matrix) : Prop := exists v : nat -> vector,
  (forall l m, (l < r)%nat -> (m < r)%nat -> dot n (v l) (v m) = identity l m) /\
  forall i j, (i < k)%nat -> (j < n)%nat -> D i j = Sum r (fun l => dot n (D i) (v l) * v l j).

(** ‖D‖²_F ≤ r‖D‖² *)
Lemma rank_frob k n r D : rank_at_most k n r D -> frob2 k n D <= INR r * spectral k n D ^ 2.
Proof.
  intros [v [O H]]. unfold frob2. rewrite (Sum_ext k _ (fun i => Sum r (fun l => matvec n D (v l) i ^ 2))).
  - rewrite Sum_swap, <- Sum_const. apply Sum_le. intros l Hl.
    change (sq k (matvec n D (v l)) <= spectral k n D ^ 2). rewrite <- norm_sq. apply pow_incr.
      split; [apply norm_ge0|].
    apply spectral_unit. rewrite sq_dot, O by easy. unfold identity. now rewrite Nat.eqb_refl.
  - intros i Hi. rewrite (Sum_ext n _ (fun j => Sum r (fun l => dot n (D i) (v l) * (D i j * v l j)))).
    + rewrite Sum_swap. apply Sum_ext. intros l _. rewrite Sum_scal.
        change (matvec n D (v l) i) with (dot n (D i) (v l)). unfold dot. ring.
    + intros j Hj. simpl. rewrite Rmult_1_r. rewrite (H i j Hi Hj) at 1. rewrite Rmult_comm, <- Sum_scal.
        apply Sum_ext. intros. ring.
Qed.

(** Kronecker powers of the 4 × 4 matrix with −1 on the diagonal and 1 elsewhere: a Hadamard matrix of 4ᵏ rows *)
Fixpoint kronecker (k i j : nat) : R :=
  match k with O => 1 | S m => (1 - 2 * identity (i mod 4)%nat (j mod 4)%nat) * kronecker m (i / 4)%nat (j / 4)%nat end.

Lemma Sum_blocks n f : Sum (4 * n) f = Sum n (fun b => Sum 4 (fun a => f (4 * b + a)%nat)).
Proof.
  induction n; [easy|]. replace (4 * S n)%nat with (4 * n + 4)%nat by lia. rewrite Sum_split, IHn. easy.
Qed.

Lemma block_mod b a : (a < 4)%nat -> ((4 * b + a) mod 4 = a)%nat /\ ((4 * b + a) / 4 = b)%nat.
Proof.
  intros H. rewrite (Nat.mul_comm 4 b), (Nat.add_comm (b * 4)), Nat.mod_add, Nat.div_add, Nat.mod_small,
    Nat.div_small by lia. lia.
Qed.

Lemma kronecker_sum k f i : Sum (4 ^ S k) (fun j => kronecker (S k) i j * f j)
  = Sum (4 ^ k) (fun b => kronecker k (i / 4)%nat b * Sum 4 (fun a => (1 - 2 * identity (i mod 4)%nat a) * f (4 * b +
    a)%nat)).
Proof.
  change (4 ^ S k)%nat with (4 * 4 ^ k)%nat. rewrite Sum_blocks. apply Sum_ext. intros b _. rewrite <- Sum_scal.
    apply Sum_ext. intros a Ha.
  cbn [kronecker]. destruct (block_mod b a Ha) as [-> ->]. ring.
Qed.

Lemma kronecker_sign k i j : kronecker k i j = 1 \/ kronecker k i j = -1.
Proof.
  revert i j. induction k; intros i j; [now left|]. cbn [kronecker].
  destruct (IHk (i / 4)%nat (j / 4)%nat) as [-> | ->]; unfold identity; destruct (_ =? _)%nat; (left; ring) || (right;
    ring).
Qed.

Lemma kronecker_one k i : Sum (4 ^ k) (fun j => kronecker k i j) = 2 ^ k.
Proof.
  revert i. induction k; intros i; [simpl; ring|].
  rewrite (Sum_ext _ _ (fun j => kronecker (S k) i j * 1)) by (intros; ring). rewrite kronecker_sum.
  rewrite (Sum_ext _ _ (fun b => 2 * kronecker k (i / 4)%nat b)).
  - rewrite Sum_scal, IHk. simpl. ring.
  - intros b _. assert (H : (i mod 4 < 4)%nat) by (apply Nat.mod_upper_bound; lia).
    destruct (i mod 4)%nat as [|[|[|[|m]]]]; [| | | |lia]; unfold identity; simpl; ring.
Qed.

Lemma kronecker_symmetric k i j : kronecker k i j = kronecker k j i.
Proof.
  revert i j. induction k; intros i j; [easy|]. cbn [kronecker]. rewrite (IHk (i / 4)%nat). f_equal.
  unfold identity. rewrite Nat.eqb_sym. easy.
Qed.

Lemma kronecker_square k i j : (i < 4 ^ k)%nat -> (j < 4 ^ k)%nat ->
  Sum (4 ^ k) (fun l => kronecker k i l * kronecker k l j) = 4 ^ k * identity i j.
Proof.
  revert i j. induction k; intros i j Hi Hj.
  - simpl in *. replace i with O by lia. replace j with O by lia. unfold identity. simpl. ring.
  - rewrite kronecker_sum.
    rewrite (Sum_ext _ _ (fun b => 4 * identity (i mod 4)%nat (j mod 4)%nat * (kronecker k (i / 4)%nat b * kronecker k
      b (j / 4)%nat))).
    + change (4 ^ S k)%nat with (4 * 4 ^ k)%nat in *. rewrite Sum_scal, IHk by (apply Nat.div_lt_upper_bound; lia).
      replace (identity i j) with (identity (i mod 4)%nat (j mod 4)%nat * identity (i / 4)%nat (j / 4)%nat); [simpl;
        ring|].
      assert (Di := Nat.div_mod i 4 ltac:(lia)). assert (Dj := Nat.div_mod j 4 ltac:(lia)). unfold identity.
      destruct (Nat.eqb_spec (i mod 4) (j mod 4)), (Nat.eqb_spec (i / 4) (j / 4)), (Nat.eqb_spec i j); try ring;
        exfalso; subst; lia.
    + intros b _. cbn [kronecker]. assert (H : (i mod 4 < 4)%nat) by (apply Nat.mod_upper_bound; lia).
      assert (H' : (j mod 4 < 4)%nat) by (apply Nat.mod_upper_bound; lia).
      rewrite (Sum_ext 4 _ (fun a => (1 - 2 * identity (i mod 4)%nat a) * ((1 - 2 * identity a (j mod 4)%nat) *
        kronecker k b (j / 4)%nat)))
        by (intros a Ha; destruct (block_mod b a Ha) as [-> ->]; ring).
      destruct (i mod 4)%nat as [|[|[|[|m]]]]; [| | | |lia]; destruct (j mod 4)%nat as [|[|[|[|m']]]]; try lia;
        unfold identity; simpl; ring.
Qed.

Lemma relu_assumption : assumption_1 relu.
Proof. exact (proj1 rt_definition_a1). Qed.

Lemma entrywise_spectral k n r phi M M' : assumption_1 phi -> rank_at_most k n r (mminus M M') ->
  spectral k n (mminus (entrywise phi M) (entrywise phi M')) <= / 2 * (1 + sqrt (INR r)) * spectral k n (mminus M M').
Proof.
  intros Hphi Hr. destruct rt_definition_a1 as [_ [_ L]]. destruct (L phi (proj1 Hphi)) as [L1 _].
    specialize (L1 Hphi). clear L.
  set (D := mminus M M') in *. set (E := fun i j => (2 * phi (M i j) - M i j) - (2 * phi (M' i j) - M' i j)).
  assert (S0 := spectral_ge0 k n D). assert (R0 := sqrt_pos (INR r)). apply spectral_le; [apply Rmult_le_pos; lra|].
    intros x Hx.
  rewrite (norm_ext k _ (vplus (vscal (/ 2) (matvec n D x)) (vscal (/ 2) (matvec n E x)))).
  - eapply Rle_trans; [apply norm_triangle|]. rewrite !norm_scal, !(Rabs_right (/ 2)) by lra.
    assert (A := spectral_unit k n D x Hx). assert (B := spectral_unit k n E x Hx). assert (C := spectral_frob k n E).
    assert (F : frob2 k n E <= frob2 k n D).
    { apply Sum_le. intros i _. apply Sum_le. intros j _. rewrite <- pow2_abs, <- (pow2_abs (D i j)). apply pow_incr.
      split; [apply Rabs_pos|apply L1]. }
    assert (G : sqrt (frob2 k n E) <= sqrt (INR r) * spectral k n D).
    { rewrite <- (sqrt_pow2 (spectral k n D)), <- sqrt_mult by (try apply pos_INR; try apply pow2_ge_0; easy).
        apply sqrt_le_1_alt.
      eapply Rle_trans; [exact F|now apply rank_frob]. }
    lra.
  - intros i _. unfold vplus, vscal, matvec. rewrite <- !Sum_scal, <- Sum_plus. apply Sum_ext. intros j _.
    unfold E, D, mminus, vminus, entrywise. field.
Qed.

(** rt-proposition-b-entrywise
    Covers: a part: both bounds and the Hadamard matrices of 4ᵏ rows; on the page: the norm for Sylvester's matrix.
    Reads: under Assumption 1, for k × n matrices M, M′: ‖φ(M) − φ(M′)‖_F ≤ ‖M − M′‖_F, and ‖φ(M) − φ(M′)‖ ≤ ½(1 + √r)‖M − M′‖ for every r such that the rows of M − M′ lie in the span of r orthonormal vectors (rank M − M′ ≤ r). For every k there is an n × n matrix R, n = 4ᵏ, with entries ±1, RᵀR = nI and ‖relu(R)‖ = ½(1 + √n)‖R‖; ‖R‖ = √n.
    Mistake: `/ 2 * sqrt (INR r) * spectral` for `/ 2 * (1 + sqrt (INR r)) * spectral`
    Mistake: without `assumption_1 phi ->`
    Mistake: `/ 2 * (2 + sqrt (4 ^ p))` for `/ 2 * (1 + sqrt (4 ^ p))`
*)
Theorem rt_proposition_b_entrywise :
  (forall k n r phi M M', assumption_1 phi ->
    sqrt (frob2 k n (mminus (entrywise phi M) (entrywise phi M'))) <= sqrt (frob2 k n (mminus M M')) /\
    (rank_at_most k n r (mminus M M') ->
      spectral k n (mminus (entrywise phi M) (entrywise phi M')) <= / 2 * (1 + sqrt (INR r)) * spectral k n (mminus M
        M'))) /\
  (forall p, exists H, let n := (4 ^ p)%nat in (forall i j, H i j = 1 \/ H i j = -1) /\
    (forall i j, (i < n)%nat -> (j < n)%nat -> matmul n (transpose H) H i j = 4 ^ p * identity i j) /\
    spectral n n H = sqrt (4 ^ p) /\ spectral n n (entrywise relu H) = / 2 * (1 + sqrt (4 ^ p)) * spectral n n H).
Proof.
  split.
  - intros k n r phi M M' H. split.
    + apply sqrt_le_1_alt. apply Sum_le. intros i _. apply Sum_le. intros j _. destruct H as [_ [_ L]].
      rewrite <- pow2_abs, <- (pow2_abs (mminus M M' i j)). apply pow_incr. split; [apply Rabs_pos|apply L].
    + now apply entrywise_spectral.
  - intros p. exists (kronecker p). intros n. assert (EN : INR n = 4 ^ p) by (unfold n; rewrite pow_INR; f_equal;
      simpl; ring).
    assert (SQ : sqrt (4 ^ p) = 2 ^ p).
    { replace (4 ^ p) with ((2 ^ p) ^ 2); [apply sqrt_pow2, pow_le; lra|]. rewrite <- pow_mult, Nat.mul_comm, pow_mult.
        f_equal. ring. }
    assert (Nn : (0 < n)%nat) by (unfold n; apply Nat.neq_0_lt_0, Nat.pow_nonzero; lia).
    assert (P4 : 0 < 4 ^ p) by (apply pow_lt; lra). assert (P2 : 0 < 2 ^ p) by (apply pow_lt; lra).
    assert (orth : forall i j, (i < n)%nat -> (j < n)%nat ->
      matmul n (transpose (kronecker p)) (kronecker p) i j = 4 ^ p * identity i j).
    { intros i j Hi Hj. unfold matmul, transpose. rewrite <- kronecker_square by easy. apply Sum_ext. intros l _.
        now rewrite (kronecker_symmetric p l i). }
    assert (len : forall x, sq n (matvec n (kronecker p) x) = 4 ^ p * sq n x).
    { intros x. rewrite sq_dot, adjoint. unfold dot at 1. unfold sq. rewrite <- Sum_scal. apply Sum_ext. intros i Hi.
      rewrite matvec_matvec. unfold matvec. rewrite (Sum_ext n _ (fun j => identity i j * (4 ^ p * x j))) by (intros;
        rewrite orth by easy; ring).
      rewrite identity_sum by easy. ring. }
    assert (NH : spectral n n (kronecker p) = sqrt (4 ^ p)).
    { apply Rle_antisym.
      - apply spectral_le; [apply sqrt_pos|]. intros x Hx. unfold vnorm. rewrite len, Hx, Rmult_1_r. lra.
      - assert (U := spectral_unit n n (kronecker p) (identity 0%nat)). unfold vnorm in U. rewrite len in U.
        replace (sq n (identity 0%nat)) with 1 in U; [rewrite Rmult_1_r in U; now apply U|].
        unfold sq. rewrite (Sum_ext n _ (fun t => identity 0%nat t * identity 0%nat t)), identity_sum
          by (first [easy | intros; ring]). easy. }
    split; [apply kronecker_sign|]. split; [easy|]. split; [easy|]. apply Rle_antisym.
    + assert (K := entrywise_spectral n n n relu (kronecker p) (fun _ _ => 0) relu_assumption). rewrite EN in K.
      assert (same : forall A B, (forall i j, A i j = B i j) -> spectral n n A = spectral n n B).
      { intros A B HAB. apply Rle_antisym; apply spectral_le; try apply spectral_ge0; intros x Hx;
          [rewrite (norm_ext n _ (matvec n B x))|rewrite (norm_ext n _ (matvec n A x))];
          try (now apply spectral_unit); intros i _; apply matvec_ext; intros; split; easy || (symmetry; easy). }
      rewrite (same (mminus (kronecker p) (fun _ _ => 0)) (kronecker p)) in K by (intros; unfold mminus, vminus; ring).
      rewrite (same (mminus (entrywise relu (kronecker p)) (entrywise relu (fun _ _ => 0))) (entrywise relu (kronecker
        p))) in K.
      * apply K. exists identity. split.
        -- intros l m Hl Hm. unfold dot. rewrite identity_sum by easy. unfold identity. now rewrite Nat.eqb_sym.
        -- intros i j Hi Hj. unfold dot.
           rewrite (Sum_ext n _ (fun l => mminus (kronecker p) (fun _ _ => 0) i l * identity l j)), identity_sum_r;
             [easy|easy|].
           intros l Hl. rewrite (Sum_ext n (fun t => _ * identity l t) (fun t => identity l t * mminus (kronecker p)
             (fun _ _ => 0) i t)) by (intros; ring).
           now rewrite identity_sum.
      * intros i j. unfold mminus, vminus, entrywise. unfold relu at 2. rewrite (Rmax_right 0 0) by lra. ring.
    + assert (U := spectral_apply n n (entrywise relu (kronecker p)) (fun _ => 1)).
      assert (V : vnorm n (fun _ => 1) = 2 ^ p).
      { unfold vnorm, sq. rewrite Sum_const, EN, <- SQ. f_equal. ring. }
      assert (W : forall i, matvec n (entrywise relu (kronecker p)) (fun _ => 1) i = / 2 * (4 ^ p + 2 ^ p)).
      { intros i. unfold matvec. rewrite (Sum_ext n _ (fun j => / 2 * (1 + kronecker p i j))).
        - rewrite Sum_scal, Sum_plus, Sum_const, EN. unfold n. rewrite kronecker_one. ring.
        - intros j _. unfold entrywise, relu. destruct (kronecker_sign p i j) as [-> | ->];
            [rewrite Rmax_left|rewrite Rmax_right]; lra. }
      rewrite (norm_ext n _ (vscal (/ 2 * (4 ^ p + 2 ^ p)) (fun _ => 1))), norm_scal, V, Rabs_right in U
        by (first [lra | intros; rewrite W; unfold vscal; ring]).
      rewrite NH, SQ. apply (Rmult_le_reg_r (2 ^ p)); [easy|]. replace (4 ^ p) with (2 ^ p * 2 ^ p) in U; [lra|].
      rewrite <- Rpow_mult_distr. now replace (2 * 2) with 4 by ring.
Qed.

(** H = g_f Z + φ(ZW_1)W_2 *)
Definition hidden_state (d d1 : nat) (gf : R) (phi : R -> R) (Z W1 W2 : matrix) : matrix :=
  fun i k => gf * Z i k + matmul d1 (entrywise phi (matmul d Z W1)) W2 i k.

(** 𝒟 = φ′(ZW_1) ⊙ (GW_2ᵀ), B = g_f G + 𝒟W_1ᵀ and M = B(XW_V)ᵀ for G = EW_Uᵀ: what comes back to ZW_1, Z and S *)
Definition back_hidden (d : nat) (dphi : R -> R) (Z W1 W2 G : matrix) : matrix :=
  fun i l => dphi (matmul d Z W1 i l) * matmul d G (transpose W2) i l.
Definition back_output (d1 : nat) (gf : R) (G Dh W1 : matrix) : matrix := fun i k => gf * G i k + matmul d1 Dh
  (transpose W1) i k.
Definition back_weights (d : nat) (B X V : matrix) : matrix := matmul d B (transpose (matmul d X V)).

Lemma inner_left k n m E A B : inner k n E (matmul m A B) = inner k m (matmul n E (transpose B)) A.
Proof.
  unfold inner, matmul, transpose. apply Sum_ext. intros i _.
  rewrite (Sum_ext n _ (fun j => Sum m (fun l => E i j * B l j * A i l))) by (intros; rewrite <- Sum_scal;
    apply Sum_ext; intros; ring).
  rewrite Sum_swap. apply Sum_ext. intros l _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros. ring.
Qed.

Lemma inner_right k n m E A B : inner k n E (matmul m A B) = inner m n (matmul k (transpose A) E) B.
Proof.
  unfold inner, matmul, transpose. rewrite Sum_swap.
  rewrite (Sum_ext n _ (fun j => Sum m (fun l => Sum k (fun i => A i l * E i j) * B l j))).
  - apply Sum_swap.
  - intros j _. rewrite (Sum_ext k _ (fun i => Sum m (fun l => A i l * E i j * B l j))) by (intros;
      rewrite <- Sum_scal; apply Sum_ext; intros; ring).
    rewrite Sum_swap. apply Sum_ext. intros l _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros. ring.
Qed.

Lemma inner_plus k n E A B : inner k n E (fun i j => A i j + B i j) = inner k n E A + inner k n E B.
Proof.
  unfold inner. rewrite <- Sum_plus. apply Sum_ext. intros i _. rewrite <- Sum_plus. apply Sum_ext. intros. ring.
Qed.

Lemma inner_scal k n E c A : inner k n E (fun i j => c * A i j) = c * inner k n E A.
Proof. unfold inner. rewrite <- Sum_scal. apply Sum_ext. intros i _. rewrite <- Sum_scal. apply Sum_ext. intros. ring.
  Qed.

Lemma inner_ext k n E E' A A' : (forall i j, (i < k)%nat -> (j < n)%nat -> E i j = E' i j /\ A i j = A' i j) ->
  inner k n E A = inner k n E' A'.
Proof. intros H. apply Sum_ext. intros i Hi. apply Sum_ext. intros j Hj. destruct (H i j Hi Hj) as [-> ->]. easy. Qed.

Lemma inner_turn k n A B : inner k n A (transpose B) = inner n k (transpose A) B.
Proof. unfold inner, transpose. apply Sum_swap. Qed.

Lemma matmul_derive n (A B : R -> matrix) A' B' t i j :
  (forall l, (l < n)%nat -> is_derive (fun t => A t i l) t (A' i l)) -> (forall l, (l < n)%nat ->
    is_derive (fun t => B t l j) t (B' l j)) ->
  is_derive (fun t => matmul n (A t) (B t) i j) t (matmul n A' (B t) i j + matmul n (A t) B' i j).
Proof.
  intros HA HB. unfold matmul. rewrite <- Sum_plus. apply Sum_derive. intros l Hl.
  apply (is_derive_mult (fun t => A t i l) (fun t => B t l j)); [now apply HA|now apply HB|intros; apply Rmult_comm].
Qed.

Lemma matmul_derive_left n (A : R -> matrix) B A' t i j :
  (forall l, (l < n)%nat -> is_derive (fun t => A t i l) t (A' i l)) ->
    is_derive (fun t => matmul n (A t) B i j) t (matmul n A' B i j).
Proof.
  intros H. unfold matmul. apply Sum_derive. intros l Hl. rewrite Rmult_comm.
  apply (is_derive_ext (fun t => B l j * A t i l)); [intros; apply Rmult_comm|].
    apply (is_derive_scal (fun t => A t i l)). now apply H.
Qed.

Lemma matmul_derive_right n A (B : R -> matrix) B' t i j :
  (forall l, (l < n)%nat -> is_derive (fun t => B t l j) t (B' l j)) ->
    is_derive (fun t => matmul n A (B t) i j) t (matmul n A B' i j).
Proof. intros H. unfold matmul. apply Sum_derive. intros l Hl. apply (is_derive_scal (fun t => B t l j)). now apply H.
  Qed.

(** the derivative of the loss of one sequence along a path of the six matrices *)
Lemma one_sequence N d dk d1 m gamma g gf phi dphi X Y (Q K V W1 W2 U : R ->
  matrix) Q' K' V' W1' W2' U' : (0 < N)%nat ->
  (forall i j, is_derive (fun t => Q t i j) 0 (Q' i j)) -> (forall i j, is_derive (fun t => K t i j) 0 (K' i j)) ->
  (forall i j, is_derive (fun t => V t i j) 0 (V' i j)) -> (forall i j, is_derive (fun t => W1 t i j) 0 (W1' i j)) ->
  (forall i j, is_derive (fun t => W2 t i j) 0 (W2' i j)) -> (forall i j, is_derive (fun t => U t i j) 0 (U' i j)) ->
  let A := weights N d dk gamma (Q 0) (K 0) X in let Z := output N d g X A (V 0) in
  (forall i l, (i < N)%nat -> (l < d1)%nat -> is_derive phi (matmul d Z (W1 0) i l) (dphi (matmul d Z (W1 0) i l))) ->
  let H := hidden_state d d1 gf phi Z (W1 0) (W2 0) in
  let Er := fun i k => matmul d H (U 0) i k - Y i k in
  let G := matmul m Er (transpose (U 0)) in let Dh := back_hidden d dphi Z (W1 0) (W2 0) G in
  let B := back_output d1 gf G Dh (W1 0) in let T := backward N A (back_weights d B X (V 0)) in
  is_derive (fun t => / 2 * frob2 N m (fun i k => network N d dk d1 gamma g gf phi (Q t) (K t) (V t) (W1 t) (W2 t) (U
    t) X i k - Y i k)) 0
    (inner d dk (fun i c => gamma * matmul N (transpose X) (matmul d (matmul N T X) (K 0)) i c) Q'
     + inner d dk (fun i c => gamma * matmul N (transpose (matmul N T X)) (matmul d X (Q 0)) i c) K'
     + inner d d (matmul N (transpose (matmul N A X)) B) V' + inner d d1 (matmul N (transpose Z) Dh) W1'
     + inner d1 d (matmul N (transpose (entrywise phi (matmul d Z (W1 0)))) G) W2' + inner d m (matmul N (transpose H)
         Er) U').
Proof.
  intros HN HQ HK HV H1 H2 HU A Z Hphi H Er G Dh B T.
  set (P' := fun i j => matmul dk (matmul d X Q') (transpose (K 0)) i j + matmul dk (matmul d X (Q 0)) (transpose K') i
    j).
  set (L' := fun i j => gamma * matmul d P' (transpose X) i j).
  assert (DL : forall i j, is_derive (fun t => logits d dk gamma (Q t) (K t) X i j) 0 (L' i j)).
  { intros i j. apply (is_derive_scal (fun t => matmul d (matmul dk (matmul d X (Q t)) (transpose (K t))) (transpose X)
      i j)).
    apply (matmul_derive_left d (fun t => matmul dk (matmul d X (Q t)) (transpose (K t)))). intros l _.
    apply (matmul_derive dk (fun t => matmul d X (Q t)) (fun t => transpose (K t))).
    - intros c _. apply matmul_derive_right. intros; apply HQ.
    - intros c _. apply HK. }
  set (S' := fun i j => matvec N (jacobian (A i)) (L' i) j).
  assert (DS : forall i j, (j < N)%nat -> is_derive (fun t => weights N d dk gamma (Q t) (K t) X i j) 0 (S' i j)).
  { intros i j Hj. apply (softmax_derive N (fun t => logits d dk gamma (Q t) (K t) X i) (L' i) 0 j HN Hj).
      intros; apply DL. }
  set (Z' := fun i k => matmul d (matmul N S' X) (V 0) i k + matmul d (matmul N A X) V' i k).
  assert (DZ : forall i k, is_derive (fun t => output N d g X (weights N d dk gamma (Q t) (K t) X) (V t) i k) 0 (Z' i
    k)).
  { intros i k. replace (Z' i k) with (0 + Z' i k) by ring.
    apply (is_derive_plus (fun _ => g * X i k) (fun t => matmul d (matmul N (weights N d dk gamma (Q t) (K t) X) X) (V
      t) i k)); [now auto_derive|].
    apply (matmul_derive d (fun t => matmul N (weights N d dk gamma (Q t) (K t) X) X) V).
    - intros l _. apply (matmul_derive_left N (fun t => weights N d dk gamma (Q t) (K t) X)). intros; now apply DS.
    - intros; apply HV. }
  set (I' := fun i l => matmul d Z' (W1 0) i l + matmul d Z W1' i l).
  assert (DI : forall i l, is_derive (fun t => matmul d (output N d g X (weights N d dk gamma (Q t) (K t) X) (V t)) (W1
    t) i l) 0 (I' i l)).
  { intros i l. apply (matmul_derive d (fun t => output N d g X (weights N d dk gamma (Q t) (K t) X) (V t)) W1);
      intros; [apply DZ|apply H1]. }
  set (A' := fun i l => dphi (matmul d Z (W1 0) i l) * I' i l).
  set (Act := entrywise phi (matmul d Z (W1 0))).
  set (H' := fun i k => gf * Z' i k + (matmul d1 A' (W2 0) i k + matmul d1 Act W2' i k)).
  assert (DH : forall i k, (i < N)%nat -> is_derive (fun t => hidden_state d d1 gf phi (output N d g X (weights N d dk
    gamma (Q t) (K t) X) (V t)) (W1 t) (W2 t) i k) 0 (H' i k)).
  { intros i k Hi. unfold hidden_state.
    apply (is_derive_plus (fun t => gf * output N d g X (weights N d dk gamma (Q t) (K t) X) (V t) i k)
      (fun t => matmul d1 (entrywise phi (matmul d (output N d g X (weights N d dk gamma (Q t) (K t) X) (V t)) (W1 t)))
        (W2 t) i k)).
    - apply (is_derive_scal (fun t => output N d g X (weights N d dk gamma (Q t) (K t) X) (V t) i k)), DZ.
    - apply (matmul_derive d1 (fun t => entrywise phi (matmul d (output N d g X (weights N d dk gamma (Q t) (K t) X) (V
        t)) (W1 t))) W2); [|intros; apply H2].
      intros l Hl. unfold A'. rewrite Rmult_comm. apply (is_derive_comp phi (fun t => matmul d (output N d g X (weights
        N d dk gamma (Q t) (K t) X) (V t)) (W1 t) i l)).
      + now apply Hphi.
      + apply DI. }
  set (F' := fun i k => matmul d H' (U 0) i k + matmul d H U' i k).
  assert (DF : forall i k, (i < N)%nat -> is_derive (fun t => network N d dk d1 gamma g gf phi (Q t) (K t) (V t) (W1 t)
    (W2 t) (U t) X i k) 0 (F' i k)).
  { intros i k Hi. apply (matmul_derive d (fun t => hidden_state d d1 gf phi (output N d g X (weights N d dk gamma (Q
      t) (K t) X) (V t)) (W1 t) (W2 t)) U);
      intros; [now apply DH|apply HU]. }
  assert (chain : inner N m Er F' = inner d dk (fun i c => gamma * matmul N (transpose X) (matmul d (matmul N T X) (K
    0)) i c) Q'
     + inner d dk (fun i c => gamma * matmul N (transpose (matmul N T X)) (matmul d X (Q 0)) i c) K'
     + inner d d (matmul N (transpose (matmul N A X)) B) V' + inner d d1 (matmul N (transpose Z) Dh) W1'
     + inner d1 d (matmul N (transpose Act) G) W2' + inner d m (matmul N (transpose H) Er) U').
  { assert (c1 : inner N m Er F' = inner N d G H' + inner d m (matmul N (transpose H) Er) U').
    { unfold F'. rewrite inner_plus, inner_left, inner_right. easy. }
    assert (c2 : inner N d G H' = gf * inner N d G Z' + inner N d1 Dh I' + inner d1 d (matmul N (transpose Act) G) W2').
    { unfold H'. rewrite inner_plus, inner_scal, inner_plus, inner_left, inner_right.
      replace (inner N d1 (matmul d G (transpose (W2 0))) A') with (inner N d1 Dh I'); [ring|].
      unfold inner, A', Dh, back_hidden. apply Sum_ext. intros i _. apply Sum_ext. intros. ring. }
    assert (c3 : inner N d1 Dh I' = inner N d (matmul d1 Dh (transpose (W1 0))) Z' + inner d d1 (matmul N (transpose Z)
      Dh) W1').
    { unfold I'. rewrite inner_plus, inner_left, inner_right. easy. }
    assert (c4 : gf * inner N d G Z' + inner N d (matmul d1 Dh (transpose (W1 0))) Z' = inner N d B Z').
    { unfold inner. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext. intros i _. rewrite <- Sum_scal, <- Sum_plus.
        apply Sum_ext. intros.
      unfold B, back_output. ring. }
    assert (c5 : inner N d B Z' = inner N N (back_weights d B X (V 0)) S' + inner d d (matmul N (transpose (matmul N A
      X)) B) V').
    { unfold Z'. rewrite inner_plus, (inner_right N d d B (matmul N A X)), !inner_left. f_equal. apply inner_ext.
        intros i j _ _. split; [|easy].
      unfold back_weights, matmul, transpose.
      rewrite (Sum_ext d _ (fun k => Sum d (fun l => B i l * V 0 k l * X j k))) by (intros;
        rewrite Rmult_comm, <- Sum_scal; apply Sum_ext; intros; ring).
      rewrite Sum_swap. apply Sum_ext. intros l _. rewrite <- Sum_scal. apply Sum_ext. intros. ring. }
    assert (c6 : inner N N (back_weights d B X (V 0)) S' = inner N N T L').
    { apply Sum_ext. intros i Hi. assert (HA : distribution N (A i)) by now apply softmax_distribution.
      change (dot N (back_weights d B X (V 0) i) (matvec N (jacobian (A i)) (L' i)) = Sum N (fun j => T i j * L' i j)).
      transitivity (dot N (L' i) (matvec N (jacobian (A i)) (back_weights d B X (V 0) i))).
      - rewrite !jacobian_form by easy. apply E_ext. intros. ring.
      - rewrite dot_sym. apply Sum_ext. intros j Hj. unfold T. now rewrite backward_row. }
    assert (c7 : inner N N T L' = inner d dk (fun i c => gamma * matmul N (transpose X) (matmul d (matmul N T X) (K 0))
      i c) Q'
       + inner d dk (fun i c => gamma * matmul N (transpose (matmul N T X)) (matmul d X (Q 0)) i c) K').
    { unfold L'. rewrite inner_scal, inner_left. change (transpose (transpose X)) with X. unfold P'. rewrite inner_plus.
      rewrite (inner_left N d dk _ (matmul d X Q')), (inner_right N d dk _ (matmul d X (Q 0))),
        (inner_right N dk d _ X Q'). change (transpose (transpose (K 0))) with (K 0). rewrite inner_turn.
      rewrite Rmult_plus_distr_l. f_equal.
      - unfold inner. rewrite <- Sum_scal. apply Sum_ext. intros i _. rewrite <- Sum_scal. apply Sum_ext. intros. ring.
      - unfold inner. rewrite <- Sum_scal. apply Sum_ext. intros i _. rewrite <- Sum_scal. apply Sum_ext. intros c _.
        assert (turn : forall A B i c, transpose (matmul N (transpose A) B) i c = matmul N (transpose B) A i c)
          by (intros; unfold matmul, transpose; apply Sum_ext; intros; ring).
        rewrite turn. ring. }
    rewrite c1, c2, c3. replace (gf * inner N d G Z' + (inner N d (matmul d1 Dh (transpose (W1 0))) Z' + inner d d1
      (matmul N (transpose Z) Dh) W1'))
      with (inner N d B Z' + inner d d1 (matmul N (transpose Z) Dh) W1') by (rewrite <- c4; ring).
    rewrite c5, c6, c7. ring. }
  fold Act. rewrite <- chain.
  replace (inner N m Er F') with (/ 2 * Sum N (fun i => Sum m (fun k => 2 * (F' i k * Er i k)))).
  - apply (is_derive_scal (fun t => frob2 N m (fun i k => network N d dk d1 gamma g gf phi (Q t) (K t) (V t) (W1 t) (W2
      t) (U t) X i k - Y i k))).
    apply Sum_derive. intros i Hi. apply Sum_derive. intros k _.
    assert (D := DF i k Hi). assert (D2 := is_derive_pow (fun t => network N d dk d1 gamma g gf phi (Q t) (K t) (V t)
      (W1 t) (W2 t) (U t) X i k - Y i k) 2 0 (F' i k)).
    replace (2 * (F' i k * Er i k)) with (INR 2 * F' i k * (network N d dk d1 gamma g gf phi (Q 0) (K 0) (V 0) (W1 0)
      (W2 0) (U 0) X i k - Y i k) ^ pred 2).
    + apply D2. replace (F' i k) with (F' i k - 0) by ring.
      apply (is_derive_minus (fun t => network N d dk d1 gamma g gf phi (Q t) (K t) (V t) (W1 t) (W2 t) (U t) X i k)
        (fun _ => Y i k)); [exact D|now auto_derive].
    + change (network N d dk d1 gamma g gf phi (Q 0) (K 0) (V 0) (W1 0) (W2 0) (U 0) X i k - Y i k) with (Er i k).
        simpl. ring.
  - unfold inner. rewrite <- Sum_scal. apply Sum_ext. intros i _. rewrite <- Sum_scal. apply Sum_ext. intros. field.
Qed.

Lemma matvec_identity d p M k q : (k < d)%nat -> p = identity k -> dot d p (matvec d M q) = matvec d M q k.
Proof. intros Hk ->. unfold dot. now rewrite identity_sum. Qed.

(** (TX)_i = Σ_i W_V B_i, Σ_i the covariance of the tokens under the attention of token i *)
Lemma back_covariance N d A X V B i k : distribution N (A i) -> (k < d)%nat ->
  matmul N (backward N A (back_weights d B X V)) X i k = matvec d (covariance N (A i) X) (matvec d V (B i)) k.
Proof.
  intros HA Hk. rewrite <- (matvec_identity d (identity k) (covariance N (A i) X)) by easy.
  rewrite covariance_form, !attended_dot. set (u := fun t => dot d (matvec d V (B i)) (X t)).
  rewrite (E_ext N (A i) _ (fun t => (X t k - E N (A i) (fun t => X t k)) * (u t - E N (A i) u))).
  - rewrite <- (jacobian_form N (A i) (fun t => X t k) u HA). apply Sum_ext. intros j Hj.
      rewrite backward_row, Rmult_comm by easy. f_equal.
    apply matvec_ext. intros l _. split; [easy|]. unfold u, back_weights, matmul, transpose, dot, matvec.
    rewrite (Sum_ext d _ (fun b => Sum d (fun a => V a b * B i b * X l a))) by (intros; rewrite <- Sum_scal;
      apply Sum_ext; intros; ring).
    rewrite Sum_swap. apply Sum_ext. intros a _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros. ring.
  - intros t _. assert (E1 : forall t, dot d (identity k) (X t) = X t k) by (intros; unfold dot;
      now rewrite identity_sum).
    rewrite E1. do 2 f_equal. apply E_ext. intros. now rewrite E1.
Qed.

Lemma inner_Sum_left P k n G D : inner k n (fun i j => Sum P (fun p => G p i j)) D = Sum P (fun p => inner k n (G p) D).
Proof.
  unfold inner. symmetry. rewrite Sum_swap. apply Sum_ext. intros i _. rewrite Sum_swap. apply Sum_ext. intros j _.
    symmetry.
  rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros. ring.
Qed.

(** rt-lemma-a
    Covers: a part: the six gradients, and those of W_Q and W_K as covariances; on the page: that G, 𝒟, B, M, T are the derivatives by H, ZW_1, Z, S, L.
    Reads: for P sequences of N ≥ 1 tokens, with G = EW_Uᵀ, 𝒟 = φ′(ZW_1) ⊙ (GW_2ᵀ), B = g_fG + 𝒟W_1ᵀ, M = B(XW_V)ᵀ and T = S ⊙ (M − ((S ⊙ M)1)1ᵀ), φ differentiable at the entries of Z_pW_1: along every path of the six matrices that is differentiable at 0, Φ = ½Σ_p‖F_p − Y_p‖²_F has the derivative Σ⟨∇_W, W′⟩ over the six, with ∇_{W_Q} = γΣ_pX_pᵀ((T_pX_p)W_K), ∇_{W_K} = γΣ_p(T_pX_p)ᵀ(X_pW_Q), ∇_{W_V} = Σ_p(S_pX_p)ᵀB_p, ∇_{W_1} = Σ_pZ_pᵀ𝒟_p, ∇_{W_2} = Σ_pA_pᵀG_p, ∇_{W_U} = Σ_pH_pᵀE_p; and (T_pX_p)_i = Σ_{p,i}W_VB_{p,i} with Σ_{p,i} the covariance of the tokens under the attention of token i.
    Mistake: `matmul N (transpose (Z p)) (G p)` for `matmul N (transpose (Z p)) (Dh p)`
    Mistake: `2 * gamma * matmul N (transpose (X p))` for `gamma * matmul N (transpose (X p))`
    Mistake: `= 2 * matvec d (covariance` for `= matvec d (covariance`
*)
Theorem rt_lemma_a : forall P N d dk d1 m gamma g gf phi dphi (X Y : nat -> matrix) (Q K V W1 W2 U : R ->
  matrix) Q' K' V' W1' W2' U',
  (0 < N)%nat ->
  (forall i j, is_derive (fun t => Q t i j) 0 (Q' i j)) -> (forall i j, is_derive (fun t => K t i j) 0 (K' i j)) ->
  (forall i j, is_derive (fun t => V t i j) 0 (V' i j)) -> (forall i j, is_derive (fun t => W1 t i j) 0 (W1' i j)) ->
  (forall i j, is_derive (fun t => W2 t i j) 0 (W2' i j)) -> (forall i j, is_derive (fun t => U t i j) 0 (U' i j)) ->
  let A := fun p => weights N d dk gamma (Q 0) (K 0) (X p) in let Z := fun p => output N d g (X p) (A p) (V 0) in
  (forall p i l, (p < P)%nat -> (i < N)%nat -> (l < d1)%nat ->
    is_derive phi (matmul d (Z p) (W1 0) i l) (dphi (matmul d (Z p) (W1 0) i l))) ->
  let H := fun p => hidden_state d d1 gf phi (Z p) (W1 0) (W2 0) in
  let Er := fun p i k => matmul d (H p) (U 0) i k - Y p i k in
  let G := fun p => matmul m (Er p) (transpose (U 0)) in let Dh := fun p => back_hidden d dphi (Z p) (W1 0) (W2 0) (G
    p) in
  let B := fun p => back_output d1 gf (G p) (Dh p) (W1 0) in let T := fun p => backward N (A p) (back_weights d (B p)
    (X p) (V 0)) in
  is_derive (fun t => loss P N m (fun p => network N d dk d1 gamma g gf phi (Q t) (K t) (V t) (W1 t) (W2 t) (U t) (X
    p)) Y) 0
    (inner d dk (fun i c => Sum P (fun p => gamma * matmul N (transpose (X p)) (matmul d (matmul N (T p) (X p)) (K 0))
      i c)) Q'
     + inner d dk (fun i c => Sum P (fun p => gamma * matmul N (transpose (matmul N (T p) (X p))) (matmul d (X p) (Q
         0)) i c)) K'
     + inner d d (fun i j => Sum P (fun p => matmul N (transpose (matmul N (A p) (X p))) (B p) i j)) V'
     + inner d d1 (fun i l => Sum P (fun p => matmul N (transpose (Z p)) (Dh p) i l)) W1'
     + inner d1 d (fun l j => Sum P (fun p => matmul N (transpose (entrywise phi (matmul d (Z p) (W1 0)))) (G p) l j))
         W2'
     + inner d m (fun i k => Sum P (fun p => matmul N (transpose (H p)) (Er p) i k)) U') /\
  (forall p i k, (i < N)%nat -> (k < d)%nat ->
    matmul N (T p) (X p) i k = matvec d (covariance N (A p i) (X p)) (matvec d (V 0) (B p i)) k).
Proof.
  intros P N d dk d1 m gamma g gf phi dphi X Y Q K V W1 W2 U Q' K' V' W1' W2' U' HN HQ HK HV H1 H2 HU A Z Hphi H Er G
    Dh B T. split.
  - rewrite !inner_Sum_left, <- !Sum_plus.
    apply (is_derive_ext (fun t => Sum P (fun p => / 2 * frob2 N m (fun i k =>
      network N d dk d1 gamma g gf phi (Q t) (K t) (V t) (W1 t) (W2 t) (U t) (X p) i k - Y p i k)))).
    { intros t. unfold loss. now rewrite Sum_scal. }
    apply (Sum_derive P (fun t p => / 2 * frob2 N m (fun i k =>
      network N d dk d1 gamma g gf phi (Q t) (K t) (V t) (W1 t) (W2 t) (U t) (X p) i k - Y p i k))).
    intros p Hp. apply (one_sequence N d dk d1 m gamma g gf phi dphi (X p) (Y p) Q K V W1 W2 U Q' K' V' W1' W2' U' HN
      HQ HK HV H1 H2 HU).
    intros i l Hi Hl. now apply Hphi.
  - intros p i k Hi Hk. apply back_covariance; [now apply softmax_distribution|easy].
Qed.

Lemma Sum_grid P N f : Sum (P * N) f = Sum P (fun p => Sum N (fun i => f (p * N + i)%nat)).
Proof. induction P; [easy|]. replace (S P * N)%nat with (P * N + N)%nat by lia. rewrite Sum_split, IHP. easy. Qed.

Lemma stack_entry N Z p i k : (i < N)%nat -> stack N Z (p * N + i)%nat k = Z p i k.
Proof. intros H. unfold stack. rewrite (Nat.add_comm (p * N)), Nat.div_add, Nat.mod_add, Nat.div_small,
  Nat.mod_small by lia. easy. Qed.

Lemma stack_frob P N n Z : frob2 (P * N) n (stack N Z) = Sum P (fun p => frob2 N n (Z p)).
Proof.
  unfold frob2. rewrite Sum_grid. apply Sum_ext. intros p _. apply Sum_ext. intros i Hi. apply Sum_ext. intros k _.
    now rewrite stack_entry.
Qed.

Lemma stack_product P N A B i j :
  Sum P (fun p => matmul N (transpose (A p)) (B p) i j) = matmul (P * N) (transpose (stack N A)) (stack N B) i j.
Proof.
  unfold matmul at 2. rewrite Sum_grid. apply Sum_ext. intros p _. apply Sum_ext. intros l Hl. unfold transpose.
    now rewrite !stack_entry.
Qed.

Lemma frob2_ge0 k n M : 0 <= frob2 k n M.
Proof. apply Sum_ge0. intros. apply sq_ge0. Qed.

Lemma frob_flat k n M : sqrt (frob2 k n M) = vnorm (k * n) (fun r => M (r / n)%nat (r mod n)%nat).
Proof.
  unfold vnorm, sq, frob2. f_equal. rewrite Sum_grid. apply Sum_ext. intros i _. apply Sum_ext. intros j Hj.
  rewrite (Nat.add_comm (i * n)), Nat.div_add, Nat.mod_add, Nat.div_small, Nat.mod_small by lia. easy.
Qed.

(** ‖A + B‖_F ≤ ‖A‖_F + ‖B‖_F *)
Lemma frob_triangle k n A B : sqrt (frob2 k n (fun i j => A i j + B i j)) <= sqrt (frob2 k n A) + sqrt (frob2 k n B).
Proof. rewrite !frob_flat. apply norm_triangle. Qed.

Lemma root_bound a b c : 0 <= b -> 0 <= c -> a <= b ^ 2 * c -> sqrt a <= b * sqrt c.
Proof. intros Hb Hc H. rewrite <- (sqrt_pow2 b), <- sqrt_mult by (try apply pow2_ge_0; easy). now apply sqrt_le_1_alt.
  Qed.

(** ‖MWᵀ‖_F ≤ ‖W‖‖M‖_F and ‖AᵀB‖_F ≤ ‖A‖‖B‖_F *)
Lemma frob_right k n n' M W : sqrt (frob2 k n' (matmul n M (transpose W))) <= spectral n' n W * sqrt (frob2 k n M).
Proof.
  apply root_bound; [apply spectral_ge0|apply frob2_ge0|]. unfold frob2. rewrite <- Sum_scal. apply Sum_le. intros i _.
  change (sq n' (fun j => matmul n M (transpose W) i j) <= spectral n' n W ^ 2 * sq n (M i)).
  rewrite (sq_ext n' _ (matvec n W (M i))) by (intros j _; apply Sum_ext; intros; unfold transpose; ring).
  rewrite <- !norm_sq, <- Rpow_mult_distr. apply pow_incr. split; [apply norm_ge0|apply spectral_apply].
Qed.

Lemma frob_product k n m A B : sqrt (frob2 n m (matmul k (transpose A) B)) <= spectral k n A * sqrt (frob2 k m B).
Proof.
  apply root_bound; [apply spectral_ge0|apply frob2_ge0|]. unfold frob2. rewrite Sum_swap, (Sum_swap k m), <- Sum_scal.
    apply Sum_le. intros c _.
  change (sq n (matvec k (transpose A) (fun l => B l c)) <= spectral k n A ^ 2 * sq k (fun l => B l c)).
  rewrite <- !norm_sq, <- Rpow_mult_distr. apply pow_incr. split; [apply norm_ge0|].
  eapply Rle_trans; [apply spectral_apply|]. apply Rmult_le_compat_r; [apply norm_ge0|apply spectral_transpose].
Qed.

Lemma frob2_ext k n A B : (forall i j, (i < k)%nat -> (j < n)%nat -> A i j = B i j) -> frob2 k n A = frob2 k n B.
Proof. intros H. apply Sum_ext. intros i Hi. apply Sum_ext. intros j Hj. now rewrite H. Qed.

(** ‖Σ_p A_pᵀB_p‖_F ≤ ‖Ā‖ (Σ_p ‖B_p‖²_F)^½ *)
Lemma stacked_bound P N n m A B :
  sqrt (frob2 n m (fun i j => Sum P (fun p => matmul N (transpose (A p)) (B p) i j)))
  <= spectral (P * N) n (stack N A) * sqrt (Sum P (fun p => frob2 N m (B p))).
Proof.
  rewrite <- stack_frob, (frob2_ext n m _ (matmul (P * N) (transpose (stack N A)) (stack N B))) by (intros;
    apply stack_product).
  apply frob_product.
Qed.

(** the same for Σ_p γ A_pᵀB_p if the rows of B_p are at most a_p times those of C_p *)
Lemma weighted_bound P N n m d gamma A B C a : 0 <= gamma -> (forall p, (p < P)%nat -> 0 <= a p) ->
  (forall p i, (p < P)%nat -> (i < N)%nat -> vnorm m (B p i) <= a p * vnorm d (C p i)) ->
  sqrt (frob2 n m (fun i j => Sum P (fun p => gamma * matmul N (transpose (A p)) (B p) i j)))
  <= gamma * spectral (P * N) n (stack N (fun p i k => a p * A p i k)) * sqrt (Sum P (fun p => frob2 N d (C p))).
Proof.
  intros Hg Ha H. set (B' := fun p i c => / a p * B p i c).
  assert (EB : forall p i c, (p < P)%nat -> (i < N)%nat -> (c < m)%nat -> a p * B' p i c = B p i c).
  { intros p i c Hp Hi Hc. unfold B'. destruct (Req_dec (a p) 0) as [E0|N0]; [|field; easy]. rewrite E0, Rmult_0_l.
      symmetry.
    assert (K := H p i Hp Hi). rewrite E0, Rmult_0_l in K. apply (sq_zero m (B p i)); [|easy]. apply norm_zero.
    apply Rle_antisym; [easy|apply norm_ge0]. }
  rewrite (frob2_ext n m _ (fun i j => gamma * Sum P (fun p => matmul N (transpose (fun i k => a p * A p i k)) (B' p) i
    j))).
  - replace (sqrt (frob2 n m (fun i j => gamma * Sum P (fun p => matmul N (transpose (fun i k => a p * A p i k)) (B' p)
      i j))))
      with (gamma * sqrt (frob2 n m (fun i j => Sum P (fun p => matmul N (transpose (fun i k => a p * A p i k)) (B' p)
        i j)))).
    + rewrite Rmult_assoc. apply Rmult_le_compat_l; [easy|].
        eapply Rle_trans; [apply (stacked_bound P N n m (fun p i k => a p * A p i k) B')|].
      apply Rmult_le_compat_l; [apply spectral_ge0|]. apply sqrt_le_1_alt, Sum_le. intros p Hp. apply Sum_le.
        intros i Hi.
      change (sq m (vscal (/ a p) (B p i)) <= sq d (C p i)). rewrite sq_scal, <- !norm_sq, <- Rpow_mult_distr.
      assert (K := H p i Hp Hi). assert (A0 := Ha p Hp). assert (Q := norm_ge0 m (B p i)).
        assert (Q' := norm_ge0 d (C p i)).
      destruct (Req_dec (a p) 0) as [E0|N0].
      * rewrite E0, Rmult_0_l in K. replace (vnorm m (B p i)) with 0 by lra. rewrite Rmult_0_r. simpl. nra.
      * apply pow_incr. assert (0 < / a p) by (apply Rinv_0_lt_compat; lra). split; [nra|].
        apply (Rmult_le_reg_l (a p)); [lra|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by easy. easy.
    + rewrite !frob_flat. rewrite <- (Rabs_right gamma) at 1 by lra. rewrite <- norm_scal. easy.
  - intros i j Hi Hj. rewrite <- Sum_scal. apply Sum_ext. intros p Hp. f_equal. apply Sum_ext. intros l Hl.
      unfold transpose.
    rewrite <- (EB p l j Hp Hl Hj). ring.
Qed.

(** rt-lemma-g
    Covers: a part: the six bounds; on the page: the two bounds without diameters and that each is attained.
    Reads: with H, E, G, 𝒟, B, T as in the lemma on the six gradients (S_p any matrices whose rows are distributions), |φ′| ≤ 1 at the entries of Z_pW_1, g_f, γ ≥ 0, n_B = ‖W_U‖(g_f + ‖W_1‖‖W_2‖), e = (Σ_p‖E_p‖²_F)^½, and numbers D_p, D^K_p, D^V_p that no distance of two tokens, keys, values of sequence p exceeds: ‖∇_{W_U}‖_F ≤ ‖H̄‖e, ‖∇_{W_2}‖_F ≤ ‖Ā‖‖W_U‖e, ‖∇_{W_1}‖_F ≤ ‖Z̄‖‖W_2‖‖W_U‖e, ‖∇_{W_V}‖_F ≤ ‖S̄X̄‖n_Be, ‖∇_{W_Q}‖_F ≤ γ‖⟨¼D^KD^V X⟩‖n_Be, ‖∇_{W_K}‖_F ≤ γ‖⟨¼DD^V XW_Q⟩‖n_Be.
    Mistake: `DK p * DV p / 5` for `DK p * DV p / 4`
    Mistake: `DX p * DV p / 5` for `DX p * DV p / 4`
    Mistake: `spectral d m U * (gf + spectral d d1 W1 * spectral d1 d W2) / 2` for `spectral d m U * (gf + spectral d d1 W1 * spectral d1 d W2)`
*)
Theorem rt_lemma_g : forall P N d dk d1 m gamma gf phi dphi (X A Z Er : nat -> matrix) Q K V W1 W2 U (DX DK DV : nat ->
  R),
  (0 < N)%nat -> 0 <= gamma -> 0 <= gf -> (forall p, (p < P)%nat -> forall i, (i < N)%nat -> distribution N (A p i)) ->
  (forall p i l, (p < P)%nat -> (i < N)%nat -> (l < d1)%nat -> 0 <= dphi (matmul d (Z p) W1 i l) <= 1) ->
  (forall p i j, (p < P)%nat -> (i < N)%nat -> (j < N)%nat -> vnorm d (vminus (X p i) (X p j)) <= DX p /\
    vnorm dk (vminus (matmul d (X p) K i) (matmul d (X p) K j)) <= DK p /\
    vnorm d (vminus (matmul d (X p) V i) (matmul d (X p) V j)) <= DV p) ->
  let H := fun p => hidden_state d d1 gf phi (Z p) W1 W2 in let G := fun p => matmul m (Er p) (transpose U) in
  let Dh := fun p => back_hidden d dphi (Z p) W1 W2 (G p) in let B := fun p => back_output d1 gf (G p) (Dh p) W1 in
  let T := fun p => backward N (A p) (back_weights d (B p) (X p) V) in
  let e := sqrt (Sum P (fun p => frob2 N m (Er p))) in
  let nB := spectral d m U * (gf + spectral d d1 W1 * spectral d1 d W2) in
  sqrt (frob2 d m (fun i k => Sum P (fun p => matmul N (transpose (H p)) (Er p) i k))) <= spectral (P * N) d (stack N
    H) * e /\
  sqrt (frob2 d1 d (fun l j => Sum P (fun p => matmul N (transpose (entrywise phi (matmul d (Z p) W1))) (G p) l j)))
    <= spectral (P * N) d1 (stack N (fun p => entrywise phi (matmul d (Z p) W1))) * (spectral d m U * e) /\
  sqrt (frob2 d d1 (fun i l => Sum P (fun p => matmul N (transpose (Z p)) (Dh p) i l)))
    <= spectral (P * N) d (stack N Z) * (spectral d1 d W2 * (spectral d m U * e)) /\
  sqrt (frob2 d d (fun i j => Sum P (fun p => matmul N (transpose (matmul N (A p) (X p))) (B p) i j)))
    <= spectral (P * N) d (stack N (fun p => matmul N (A p) (X p))) * (nB * e) /\
  sqrt (frob2 d dk (fun i c => Sum P (fun p => gamma * matmul N (transpose (X p)) (matmul d (matmul N (T p) (X p)) K) i
    c)))
    <= gamma * spectral (P * N) d (stack N (fun p i k => DK p * DV p / 4 * X p i k)) * (nB * e) /\
  sqrt (frob2 d dk (fun i c => Sum P (fun p => gamma * matmul N (transpose (matmul N (T p) (X p))) (matmul d (X p) Q) i
    c)))
    <= gamma * spectral (P * N) dk (stack N (fun p i k => DX p * DV p / 4 * matmul d (X p) Q i k)) * (nB * e).
Proof.
  intros P N d dk d1 m gamma gf phi dphi X A Z Er Q K V W1 W2 U DX DK DV HN Hg Hgf HA Hphi HD H G Dh B T e nB.
  assert (U0 := spectral_ge0 d m U). assert (S1 := spectral_ge0 d d1 W1). assert (S2 := spectral_ge0 d1 d W2).
  assert (E0 : 0 <= e) by apply sqrt_pos.
  assert (NG : sqrt (Sum P (fun p => frob2 N d (G p))) <= spectral d m U * e).
  { unfold e. rewrite <- !stack_frob. eapply Rle_trans; [|apply (frob_right (P * N) m d (stack N Er) U)]. right.
      reflexivity. }
  assert (ND : sqrt (Sum P (fun p => frob2 N d1 (Dh p))) <= spectral d1 d W2 * (spectral d m U * e)).
  { apply Rle_trans with (sqrt (Sum P (fun p => frob2 N d1 (matmul d (G p) (transpose W2))))).
    - apply sqrt_le_1_alt, Sum_le. intros p Hp. apply Sum_le. intros i Hi. apply Sum_le. intros l Hl.
        unfold Dh, back_hidden.
      assert (K1 := Hphi p i l Hp Hi Hl). rewrite Rpow_mult_distr. set (x := matmul d (G p) (transpose W2) i l).
      assert (0 <= x ^ 2) by apply pow2_ge_0. set (y := dphi _) in *. assert (y ^ 2 <= 1) by nra. nra.
    - eapply Rle_trans; [|apply Rmult_le_compat_l; [easy|exact NG]]. rewrite <- !stack_frob.
      eapply Rle_trans; [|apply (frob_right (P * N) d d1 (stack N G) W2)]. right. f_equal. }
  assert (NB : sqrt (Sum P (fun p => frob2 N d (B p))) <= nB * e).
  { rewrite <- stack_frob. apply Rle_trans with (sqrt (frob2 (P * N) d (fun r k => gf * stack N G r k)) + sqrt (frob2
      (P * N) d (matmul d1 (stack N Dh) (transpose W1)))).
    - eapply Rle_trans; [|apply frob_triangle]. right. f_equal.
    - assert (a1 : sqrt (frob2 (P * N) d (fun r k => gf * stack N G r k)) <= gf * (spectral d m U * e)).
      { eapply Rle_trans; [|apply Rmult_le_compat_l; [easy|exact NG]].
          apply root_bound; [easy|apply Sum_ge0; intros; apply frob2_ge0|].
        rewrite <- stack_frob. right. unfold frob2. rewrite <- Sum_scal. apply Sum_ext. intros r _.
          rewrite <- Sum_scal. apply Sum_ext. intros. ring. }
      assert (a2 := frob_right (P * N) d1 d (stack N Dh) W1). rewrite stack_frob in a2.
      assert (a3 : spectral d d1 W1 * sqrt (Sum P (fun p => frob2 N d1 (Dh p))) <= spectral d d1 W1 * (spectral d1 d W2
        * (spectral d m U * e)))
        by (apply Rmult_le_compat_l; easy).
      unfold nB. lra. }
  assert (diam0 : forall p, (p < P)%nat -> 0 <= DX p /\ 0 <= DK p /\ 0 <= DV p).
  { intros p Hp. destruct (HD p 0%nat 0%nat Hp HN HN) as [a [b c]]. split; [exact (Rle_trans _ _ _ (norm_ge0 _ _) a)|].
    split; [exact (Rle_trans _ _ _ (norm_ge0 _ _) b)|exact (Rle_trans _ _ _ (norm_ge0 _ _) c)]. }
  assert (TX : forall p i k, (p < P)%nat -> (i < N)%nat -> (k < d)%nat ->
    matmul N (T p) (X p) i k = matvec d (covariance N (A p i) (X p)) (matvec d V (B p i)) k).
  { intros p i k Hp Hi Hk. apply back_covariance; [now apply HA|easy]. }
  split; [apply stacked_bound|]. split; [|split; [|split; [|split]]].
  - eapply Rle_trans; [apply stacked_bound|]. apply Rmult_le_compat_l; [apply spectral_ge0|easy].
  - eapply Rle_trans; [apply stacked_bound|]. apply Rmult_le_compat_l; [apply spectral_ge0|easy].
  - eapply Rle_trans; [apply stacked_bound|]. apply Rmult_le_compat_l; [apply spectral_ge0|easy].
  - eapply Rle_trans; [apply (weighted_bound P N d dk d gamma X (fun p => matmul d (matmul N (T p) (X p)) K) B (fun p
      => DK p * DV p / 4))|].
    + easy.
    + intros p Hp. destruct (diam0 p Hp) as [_ [a b]]. nra.
    + intros p i Hp Hi. destruct rt_lemma_f as [F _].
      assert (F1 := F N d dk d (A p i) (X p) K V (DK p) (DV p) HN (HA p Hp i Hi) ltac:(intros;
        now apply HD) ltac:(intros; now apply HD)).
      rewrite (norm_ext dk _ (matvec d (matmul d (transpose K) (matmul d (covariance N (A p i) (X p)) V)) (B p i))).
      * eapply Rle_trans; [apply spectral_apply|]. apply Rmult_le_compat_r; [apply norm_ge0|easy].
      * intros c _. rewrite <- matvec_matvec. unfold matvec at 1, matmul at 1, transpose. apply Sum_ext. intros k Hk.
        rewrite TX by easy. rewrite Rmult_comm. f_equal. apply matvec_matvec.
    + apply Rmult_le_compat_l; [apply Rmult_le_pos; [easy|apply spectral_ge0]|easy].
  - rewrite (frob2_ext d dk _ (transpose (fun c i => Sum P (fun p => gamma * matmul N (transpose (matmul d (X p) Q))
      (matmul N (T p) (X p)) c i)))).
    2:{ intros i c _ _. unfold transpose at 1. apply Sum_ext. intros p _. f_equal. unfold matmul at 1 4.
      unfold transpose. apply Sum_ext. intros. ring. }
    replace (frob2 d dk (transpose _)) with (frob2 dk d (fun c i => Sum P (fun p => gamma * matmul N (transpose (matmul
      d (X p) Q)) (matmul N (T p) (X p)) c i)))
      by apply Sum_swap.
    eapply Rle_trans; [apply (weighted_bound P N dk d d gamma (fun p => matmul d (X p) Q) (fun p => matmul N (T p) (X
      p)) B (fun p => DX p * DV p / 4))|].
    + easy.
    + intros p Hp. destruct (diam0 p Hp) as [a [_ b]]. nra.
    + intros p i Hp Hi. destruct rt_lemma_f as [F _].
      assert (XI : forall i k, (k < d)%nat -> matmul d (X p) identity i k = X p i k) by (intros; unfold matmul;
        now rewrite identity_sum_r).
      assert (F1 := F N d d d (A p i) (X p) identity V (DX p) (DV p) HN (HA p Hp i Hi)).
      assert (F2 : spectral d d (matmul d (transpose identity) (matmul d (covariance N (A p i) (X p)) V)) <= DX p * DV
        p / 4).
      { apply F1; [|intros; now apply HD]. intros a b Ha Hb.
          rewrite (norm_ext d _ (vminus (X p a) (X p b))) by (intros k Hk; unfold vminus; now rewrite !XI).
        now apply HD. }
      rewrite (norm_ext d _ (matvec d (matmul d (transpose identity) (matmul d (covariance N (A p i) (X p)) V)) (B p
        i))).
      * eapply Rle_trans; [apply spectral_apply|]. apply Rmult_le_compat_r; [apply norm_ge0|easy].
      * intros k Hk. rewrite <- matvec_matvec, TX by easy. unfold matvec at 3, transpose.
        rewrite (Sum_ext d _ (fun j => matvec d (matmul d (covariance N (A p i) (X p)) V) (B p i) j * identity j k))
          by (intros; ring).
        rewrite identity_sum_r by easy. apply matvec_matvec.
    + apply Rmult_le_compat_l; [apply Rmult_le_pos; [easy|apply spectral_ge0]|easy].
Qed.
