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

Lemma density_pos x : 0 < density x.
Proof. apply Rdiv_lt_0_compat; [apply exp_pos|apply root_pos]. Qed.

Lemma density_continuous x : continuous density x.
Proof.
  apply (ex_derive_continuous density). unfold density. auto_derive. assert (H := root_pos). easy.
Qed.

Lemma density_integrable a b : ex_RInt density a b.
Proof. apply (ex_RInt_continuous density). intros. apply density_continuous. Qed.

Lemma cumulative_derive x : is_derive cumulative x (density x).
Proof.
  unfold cumulative. replace (density x) with (plus 0 (density x)) by (unfold plus; simpl; ring).
  apply (is_derive_plus (fun _ => / 2) (fun x => RInt density 0 x)); [now auto_derive|].
  apply (is_derive_RInt density (fun x => RInt density 0 x) 0 x); [|apply density_continuous].
  exists (mkposreal 1 Rlt_0_1). intros y _. apply (@RInt_correct R_CompleteNormedModule), density_integrable.
Qed.

Lemma density_derive x : is_derive density x (- x * density x).
Proof. assert (H := root_pos). unfold density. auto_derive; [easy|]. unfold Rdiv. simpl.
  replace (- (x * (x * 1)) * / 2) with (- x ^ 2 / 2) by (simpl; field). unfold Rdiv. field. lra. Qed.

Lemma RInt_mult f a b c : ex_RInt f a b -> RInt (fun t => c * f t) a b = c * RInt f a b.
Proof. apply (RInt_scal (V := R_CompleteNormedModule) f a b c). Qed.

Lemma density_even x : density (- x) = density x.
Proof. unfold density. do 2 f_equal. field. Qed.

(** Ψ(x) + Ψ(−x) = 1 *)
Lemma cumulative_odd x : cumulative (- x) = 1 - cumulative x.
Proof.
  unfold cumulative. assert (H : - RInt density 0 x = RInt density 0 (- x)); [|lra].
  assert (K := RInt_comp_lin density (-1) 0 0 x).
  replace (-1 * 0 + 0) with 0 in K by ring. replace (-1 * x + 0) with (- x) in K by ring.
  assert (K1 : RInt (fun t => -1 * density t) 0 x = RInt density 0 (- x)).
  { rewrite <- K by apply density_integrable. apply RInt_ext. intros t _.
    change (-1 * density t = -1 * density (-1 * t + 0)). replace (-1 * t + 0) with (- t) by ring.
      now rewrite density_even. }
  rewrite <- K1, RInt_mult by apply density_integrable. ring.
Qed.

(** the classical proof: (∫_0^x e^(−t²/2))² + 2 ∫_0^1 e^(−x²(1+t²)/2)/(1+t²) dt = π/2 *)
Definition bump (x : R) : R := RInt (fun t => exp (- t ^ 2 / 2)) 0 x.
Definition tail (x : R) : R := RInt (fun t => exp (- x ^ 2 * (1 + t ^ 2) / 2) / (1 + t ^ 2)) 0 1.

Lemma one_plus t : 0 < 1 + t ^ 2.
Proof. assert (0 <= t ^ 2) by apply pow2_ge_0. lra. Qed.

Lemma bump_continuous x : continuous (fun t => exp (- t ^ 2 / 2)) x.
Proof. apply (ex_derive_continuous (fun t => exp (- t ^ 2 / 2))). auto_derive. easy. Qed.

Lemma bump_integrable a b : ex_RInt (fun t => exp (- t ^ 2 / 2)) a b.
Proof. apply (ex_RInt_continuous (fun t => exp (- t ^ 2 / 2))). intros. apply bump_continuous. Qed.

Lemma bump_derive x : is_derive bump x (exp (- x ^ 2 / 2)).
Proof.
  apply (is_derive_RInt (fun t => exp (- t ^ 2 / 2)) bump 0 x); [|apply bump_continuous].
  exists (mkposreal 1 Rlt_0_1). intros y _. apply (@RInt_correct R_CompleteNormedModule), bump_integrable.
Qed.

Lemma tail_integrand_derive (u t : R) : is_derive (fun u => exp (- u ^ 2 * (1 + t ^ 2) / 2) / (1 + t ^ 2)) u
  (- u * exp (- u ^ 2 * (1 + t ^ 2) / 2)).
Proof.
  assert (P := one_plus t). auto_derive; [easy|].
  replace (- (u * (u * 1)) * (1 + t * (t * 1)) * / 2) with (- u ^ 2 * (1 + t ^ 2) / 2) by (simpl; field). simpl.
    simpl in P. field. lra.
Qed.

Lemma tail_integrable x : ex_RInt (fun t => exp (- x ^ 2 * (1 + t ^ 2) / 2) / (1 + t ^ 2)) 0 1.
Proof.
  apply (ex_RInt_continuous (fun t => exp (- x ^ 2 * (1 + t ^ 2) / 2) / (1 + t ^ 2))). intros t _.
  apply (ex_derive_continuous (fun t => exp (- x ^ 2 * (1 + t ^ 2) / 2) / (1 + t ^ 2))).
  assert (P := one_plus t). auto_derive. simpl in P. lra.
Qed.

Lemma tail_derive x : is_derive tail x (- exp (- x ^ 2 / 2) * bump x).
Proof.
  assert (D := is_derive_RInt_param (fun u t => exp (- u ^ 2 * (1 + t ^ 2) / 2) / (1 + t ^ 2)) 0 1 x).
  replace (- exp (- x ^ 2 / 2) * bump x) with (RInt (fun t => Derive (fun u => exp (- u ^ 2 * (1 + t ^ 2) / 2) / (1 + t
    ^ 2)) x) 0 1).
  - apply D; clear D.
    + exists (mkposreal 1 Rlt_0_1). intros y _ t _. eexists. apply tail_integrand_derive.
    + intros t _. apply (continuity_2d_pt_ext (fun u t => - u * exp (- u ^ 2 * (1 + t ^ 2) / 2))).
      { intros u v. symmetry. apply is_derive_unique, tail_integrand_derive. }
      apply continuity_2d_pt_mult; [apply continuity_2d_pt_opp, continuity_2d_pt_id1|].
      apply (continuity_1d_2d_pt_comp exp); [apply derivable_continuous_pt, derivable_pt_exp|].
      apply continuity_2d_pt_mult; [|apply continuity_2d_pt_const].
      apply continuity_2d_pt_mult.
      * apply continuity_2d_pt_opp. simpl. apply continuity_2d_pt_mult; [apply continuity_2d_pt_id1|].
        apply continuity_2d_pt_mult; [apply continuity_2d_pt_id1|apply continuity_2d_pt_const].
      * apply continuity_2d_pt_plus; [apply continuity_2d_pt_const|]. simpl.
        apply continuity_2d_pt_mult; [apply continuity_2d_pt_id2|].
        apply continuity_2d_pt_mult; [apply continuity_2d_pt_id2|apply continuity_2d_pt_const].
    + exists (mkposreal 1 Rlt_0_1). intros y _. apply tail_integrable.
  - rewrite (RInt_ext _ (fun t => - exp (- x ^ 2 / 2) * (x * exp (- (x * t + 0) ^ 2 / 2)))).
    + rewrite RInt_mult.
      * apply Rmult_eq_compat_l. assert (E0 : x * 0 + 0 = 0) by ring. assert (E1 : x * 1 + 0 = x) by ring.
        assert (K := RInt_comp_lin (fun t => exp (- t ^ 2 / 2)) x 0 0 1 (bump_integrable _ _)).
        rewrite E0, E1 in K. symmetry. exact K || exact (eq_sym K).
      * apply (ex_RInt_continuous (fun t => x * exp (- (x * t + 0) ^ 2 / 2))). intros t _.
        apply (ex_derive_continuous (fun t => x * exp (- (x * t + 0) ^ 2 / 2))). auto_derive. easy.
    + intros t _. transitivity (- x * exp (- x ^ 2 * (1 + t ^ 2) / 2));
        [apply is_derive_unique, tail_integrand_derive|].
      replace (- x ^ 2 * (1 + t ^ 2) / 2) with (- x ^ 2 / 2 + - (x * t + 0) ^ 2 / 2) by field.
      rewrite exp_plus. match goal with |- ?a = ?b => change (@eq R a b) end. ring.
Qed.

Lemma tail_zero : tail 0 = PI / 4.
Proof.
  unfold tail. rewrite (RInt_ext _ (fun t => / (1 + t ^ 2))).
  - apply is_RInt_unique. replace (PI / 4) with (minus (atan 1) (atan 0)) by (rewrite atan_1, atan_0;
      unfold minus, plus, opp; simpl; ring).
    apply (is_RInt_derive atan (fun t => / (1 + t ^ 2))).
    + intros t _. assert (H := is_derive_atan t). unfold Rsqr in H. replace (1 + t ^ 2) with (1 + t * t) by ring.
        exact H.
    + intros t _. apply (ex_derive_continuous (fun t => / (1 + t ^ 2))). assert (P := one_plus t). auto_derive.
        simpl in P. lra.
  - intros t _. replace (- 0 ^ 2 * (1 + t ^ 2) / 2) with 0 by field. rewrite exp_0. unfold Rdiv.
    match goal with |- ?a = ?b => change (@eq R a b) end. ring.
Qed.

Lemma bump_tail x : bump x ^ 2 + 2 * tail x = PI / 2.
Proof.
  set (F := fun x => bump x ^ 2 + 2 * tail x). change (F x = PI / 2).
  assert (D : forall y, is_derive F y 0).
  { intros y. assert (A := bump_derive y). assert (B := tail_derive y). unfold F.
    replace 0 with (plus (INR 2 * exp (- y ^ 2 / 2) * bump y ^ pred 2) (2 * (- exp (- y ^ 2 / 2) * bump y))).
    - apply (is_derive_plus (fun x => bump x ^ 2) (fun x => 2 * tail x));
        [now apply is_derive_pow|now apply is_derive_scal].
    - unfold plus. simpl. ring. }
  assert (F0 : F 0 = PI / 2).
  { unfold F, bump. rewrite RInt_point, tail_zero. unfold zero. simpl. field. }
  rewrite <- F0. destruct (MVT_gen F x 0 (fun _ => 0)) as [c [_ H]].
  - intros. apply D.
  - intros t _. apply continuity_pt_filterlim. apply (ex_derive_continuous F). eexists. apply D.
  - lra.
Qed.

Lemma density_bump x : RInt density 0 x = / sqrt (2 * PI) * bump x.
Proof.
  unfold bump. rewrite <- RInt_mult by apply bump_integrable. apply RInt_ext. intros t _.
  unfold density, Rdiv. match goal with |- ?a = ?b => change (@eq R a b) end. ring.
Qed.

Lemma tail_pos x : 0 < tail x.
Proof.
  unfold tail. apply RInt_gt_0; [lra| |].
  - intros t _. apply Rdiv_lt_0_compat; [apply exp_pos|apply one_plus].
  - intros t _. apply (ex_derive_continuous (fun t => exp (- x ^ 2 * (1 + t ^ 2) / 2) / (1 + t ^ 2))).
    assert (P := one_plus t). auto_derive. simpl in P. lra.
Qed.

(** tail x ≤ exp(−x²/2) *)
Lemma tail_small x : tail x <= exp (- x ^ 2 / 2).
Proof.
  unfold tail. replace (exp (- x ^ 2 / 2)) with (RInt (fun _ => exp (- x ^ 2 / 2)) 0 1)
    by (rewrite RInt_const; unfold scal; simpl; unfold mult; simpl; ring).
  apply RInt_le; [lra|apply tail_integrable|apply ex_RInt_const|]. intros t _. assert (P := one_plus t).
  assert (Q := pow2_ge_0 t). assert (Q2 := pow2_ge_0 x). apply Rle_div_l; [easy|].
  assert (E : exp (- x ^ 2 * (1 + t ^ 2) / 2) <= exp (- x ^ 2 / 2)).
  { destruct (Req_dec (- x ^ 2 * (1 + t ^ 2) / 2) (- x ^ 2 / 2)) as [->|N]; [lra|]. left. apply exp_increasing. nra. }
  assert (0 < exp (- x ^ 2 / 2)) by apply exp_pos. nra.
Qed.

(** (∫_0^x ψ)² = ¼ − tail/π, so 0 < Ψ < 1 *)
Lemma mass_square x : RInt density 0 x ^ 2 = / 4 - tail x / PI.
Proof.
  rewrite density_bump, Rpow_mult_distr, pow_inv, pow2_sqrt by (assert (H := PI_RGT_0); lra).
  replace (bump x ^ 2) with (PI / 2 - 2 * tail x) by (rewrite <- (bump_tail x); ring). field. apply PI_neq0.
Qed.

Lemma cumulative_bounds x : 0 < cumulative x < 1.
Proof.
  assert (H := mass_square x). assert (T := tail_pos x). assert (P := PI_RGT_0). unfold cumulative.
  assert (0 < tail x / PI) by now apply Rdiv_lt_0_compat. set (m := RInt density 0 x) in *. nra.
Qed.

Lemma exp_small : is_lim (fun x => exp (- x ^ 2 / 2)) p_infty 0.
Proof.
  apply (is_lim_comp exp (fun x => - x ^ 2 / 2) p_infty 0 m_infty); [apply is_lim_exp_m| |exists 0; easy].
  apply (is_lim_ext (fun x => (- / 2) * (x * x))); [intros; field|].
  replace m_infty with (Rbar_mult (- / 2) p_infty) by (unfold Rbar_mult; simpl; destruct (Rle_dec 0 (- / 2)); [exfalso;
    lra|easy]).
  apply is_lim_scal_l. apply (is_lim_mult (fun x => x) (fun x => x) p_infty p_infty p_infty);
    [apply is_lim_id|apply is_lim_id|easy].
Qed.

(** Ψ(x) → 1 as x → ∞ *)
Lemma cumulative_limit : is_lim cumulative p_infty 1.
Proof.
  apply (is_lim_ext_loc (fun x => / 2 + sqrt (/ 4 - tail x / PI))).
  - exists 0. intros x Hx. unfold cumulative. f_equal. rewrite <- mass_square. apply sqrt_pow2. left.
    apply RInt_gt_0; [easy|intros; apply density_pos|intros; apply density_continuous].
  - replace (Finite 1) with (Finite (/ 2 + sqrt (/ 4 - 0 / PI))).
    2:{ f_equal. replace (/ 4 - 0 / PI) with ((/ 2) ^ 2) by (field; apply PI_neq0). rewrite sqrt_pow2; lra. }
    apply (is_lim_plus' (fun _ => / 2)); [apply is_lim_const|].
    apply (is_lim_comp_continuous (fun x => / 4 - tail x / PI) sqrt p_infty (/ 4 - 0 / PI)).
    + apply (is_lim_minus' (fun _ => / 4)); [apply is_lim_const|].
      apply (is_lim_scal_r tail (/ PI) p_infty (Finite 0)).
      apply (is_lim_le_le_loc (fun _ => 0) (fun x => exp (- x ^ 2 / 2))); [|apply is_lim_const|apply exp_small].
      exists 0. intros x _. split; [left; apply tail_pos|apply tail_small].
    + apply continuity_pt_filterlim, continuity_pt_sqrt. replace (/ 4 - 0 / PI) with (/ 4) by (field; apply PI_neq0).
        lra.
Qed.

Lemma smoothed_form tau x : 0 < tau ->
  smoothed tau x = x * cumulative (x / tau) + tau * density (x / tau) - tau / sqrt (2 * PI).
Proof. intros H. unfold smoothed. destruct (Req_EM_T tau 0); [lra|easy]. Qed.

Lemma smoothed_relu x : smoothed 0 x = relu x.
Proof. unfold smoothed. destruct (Req_EM_T 0 0); easy. Qed.

(** φ_τ(x) − φ_τ(−x) = x *)
Lemma smoothed_odd tau x : 0 <= tau -> smoothed tau x - smoothed tau (- x) = x.
Proof.
  intros [H|<-].
  - rewrite !smoothed_form by easy. replace (- x / tau) with (- (x / tau)) by (field; lra).
    rewrite cumulative_odd, density_even. ring.
  - rewrite !smoothed_relu. unfold relu. unfold Rmax. repeat destruct Rle_dec; lra.
Qed.

(** φ_τ(gx) = g φ_(τ/g)(x) *)
Lemma smoothed_scale g tau x : 0 < g -> 0 <= tau -> smoothed tau (g * x) = g * smoothed (tau / g) x.
Proof.
  intros Hg [H|<-].
  - assert (0 < tau / g) by now apply Rdiv_lt_0_compat. rewrite !smoothed_form by easy.
    replace (g * x / tau) with (x / (tau / g)) by (field; lra). assert (P := root_pos). field. lra.
  - replace (0 / g) with 0 by (field; lra). rewrite !smoothed_relu. unfold relu. rewrite <- RmaxRmult by lra.
      now rewrite Rmult_0_r.
Qed.

Lemma Derive_cumulative (y : R) : Derive (fun x : R => cumulative x) y = density y.
Proof. apply is_derive_unique, cumulative_derive. Qed.

Lemma Derive_density (y : R) : Derive (fun x : R => density x) y = - y * density y.
Proof. apply is_derive_unique, density_derive. Qed.

Lemma smoothed_derive tau x : 0 < tau -> is_derive (smoothed tau) x (cumulative (x / tau)).
Proof.
  intros H. apply (is_derive_ext (fun x => x * cumulative (x / tau) + tau * density (x / tau) - tau / sqrt (2 * PI))).
  { intros. now rewrite smoothed_form. }
  assert (A := cumulative_derive (x / tau)). assert (B := density_derive (x / tau)).
  auto_derive.
  - split; [eexists; exact A|]. split; [eexists; exact B|easy].
  - rewrite Derive_cumulative, Derive_density. unfold Rdiv. field. lra.
Qed.

Lemma smoothed_zero tau : 0 <= tau -> smoothed tau 0 = 0.
Proof. intros H. assert (K := smoothed_odd tau 0 H). destruct H as [H|<-].
  - rewrite smoothed_form by easy. replace (0 / tau) with 0 by (field; lra). unfold density.
    replace (- 0 ^ 2 / 2) with 0 by field. rewrite exp_0. assert (P := root_pos). field. lra.
  - rewrite smoothed_relu. unfold relu. apply Rmax_right. lra.
Qed.
