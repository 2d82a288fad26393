(** Where no pair pulls another back, every start of a run converges to the max-margin direction. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.matrices base.samples.
From Shallow Require Import token_selection.selection token_selection.every_step token_selection.how_fast.
Open Scope R_scope.

(** no pair pulls another one back: all G_kl ≥ 0, and G_kk > 0 *)
Definition no_pull_back (D : data) : Prop := (forall i t j s, pair D i t -> pair D j s -> 0 <= gram D i t j s) /\
  forall i t, pair D i t -> 0 < gram D i t i t.

Lemma gain D W i t : proper D -> equal_scores D -> no_pull_back D -> pair D i t ->
  weight D W i t * gram D i t i t <= gap D (descent D W) i t.
Proof.
  intros P ES [G0 _] Hp. rewrite gap_Ek, fdot_sym, mdot_descent_pairs by easy.
  rewrite (pairs_ext D _ (fun j s => weight D W j s * gram D j s i t)) by (intros; now rewrite gap_Ek, gram_Ek).
  apply (pairs_term D (fun j s => weight D W j s * gram D j s i t) i t Hp). intros j s Hq.
  apply Rmult_le_pos; [left; now apply weight_pos|now apply G0].
Qed.

Lemma gaps_grow D eta W n i t : proper D -> equal_scores D -> no_pull_back D -> run D eta W -> pair D i t ->
  gap D (W n) i t < gap D (W (S n)) i t.
Proof.
  intros P ES G H Hp. destruct (H n) as [Eta E]. rewrite E, gap_shifted. assert (Q := gain D (W n) i t P ES G Hp).
  assert (0 < weight D (W n) i t * gram D i t i t) by (apply Rmult_lt_0_compat; [now apply weight_pos|now apply G]).
  nra.
Qed.

Lemma never_falls D eta W i t : proper D -> equal_scores D -> no_pull_back D -> run D eta W -> (i < num D)%nat ->
  phi D (W 0%nat) i (opt D i) <= phi D (W t) i (opt D i).
Proof.
  intros P ES G H Hi. destruct (proj2 (proj2 P) i Hi) as [_ [Ho _]]. induction t as [|t IH]; [lra|].
  eapply Rle_trans; [exact IH|]. assert (Q := phi_opt D (W t) i Ho). assert (Q2 := others_exp_ge0 D (W t) i).
  set (x := others D i (fun s => exp (- gap D (W t) i s))) in *.
  replace (phi D (W t) i (opt D i)) with (/ (1 + x)) by (field_simplify_eq; [|lra]; lra).
  apply phi_from_below; [easy|]. apply others_le. intros s Hs1 Hs2. apply exp_le.
  assert (Q3 := gaps_grow D eta W t i s P ES G H ltac:(repeat split; easy)). lra.
Qed.

Lemma attended_start D eta W : proper D -> equal_scores D -> no_pull_back D -> run D eta W ->
  exists p, attended_run D p W.
Proof.
  intros P ES G H.
  destruct (finite_least (num D) (fun _ => True) (fun i => phi D (W 0%nat) i (opt D i))) as [k [Hk [_ M]]]; [tauto| |].
  - exists 0%nat. split; [exact (proj1 P)|easy].
  - exists (phi D (W 0%nat) k (opt D k)). split; [apply phi_pos; destruct P as [_ [HT _]]; lia|]. intros t i Hi.
    eapply Rle_trans; [exact (M i Hi I)|]. now apply (never_falls D eta).
Qed.

(** In a ball of norm X the gradient of an attended sample is not short; nowhere is it longer than 𝖤 Ψ_max. *)
Lemma gradient_bounds D e low high Wmm p X : proper D -> equal_scores D -> longest D e -> psi_min D low ->
  psi_max D high -> solution D Wmm -> 0 < p ->
  (forall W, fnorm (dim D) (dim D) (descent D W) <= e * high) /\ exists l, 0 < l /\ forall W, fnorm (dim D) (dim D) W <= X ->
    (forall i, (i < num D)%nat -> p <= phi D W i (opt D i)) -> l <= fnorm (dim D) (dim D) (descent D W).
Proof.
  intros P ES He Hl Hh S Hp. assert (N := num_pos D P). assert (PL := psi_min_pos D low P Hl).
  assert (PE := longest_pos D e Wmm P ES He (proj1 S)). assert (PW := solution_pos D Wmm P (proj1 S)). split.
  - intros W. destruct (ts_lemma_4 D W e P ES He) as [_ [E [_ [Q _]]]]. eapply Rle_trans; [exact Q|].
    apply Rmult_le_compat_l; [lra|]. rewrite E. apply Rmult_le_reg_l with (INR (num D)); [apply lt_0_INR, P|].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by (apply not_0_INR; destruct P; lia). rewrite <- Sum_const. apply Sum_le.
    intros i Hi. destruct (proj2 (proj2 P) i Hi) as [_ [Ho _]]. assert (A := phi_le1 D W i Ho).
    assert (B := a_bounds D W low high i P ES Hl Hh Hi). nra.
  - assert (0 < INR (num D)) by apply lt_0_INR, P. destruct (some_pair D 0 P) as [t Ht]; [apply P|].
    assert (E0 := exp_pos (- (e * X))).
    exists (/ INR (num D) * low * p * (p * exp (- (e * X))) / fnorm (dim D) (dim D) Wmm). split.
    { apply Rdiv_lt_0_compat; [|easy]. repeat apply Rmult_lt_0_compat; easy. }
    intros W HW Ha. destruct (pull_norm D W Wmm P ES S) as [A B].
    apply Rmult_le_reg_r with (fnorm (dim D) (dim D) Wmm); [easy|].
    replace (/ INR (num D) * low * p * (p * exp (- (e * X))) / fnorm (dim D) (dim D) Wmm * fnorm (dim D) (dim D) Wmm) with
      (/ INR (num D) * low * p * (p * exp (- (e * X)))) by (field; split; lra).
    eapply Rle_trans; [|eapply Rle_trans; [exact A|exact B]].
    eapply Rle_trans; [|apply (pairs_term D (weight D W) 0 t Ht); intros; left; now apply weight_pos].
    assert (Q := Ha 0%nat (proj1 Ht)). assert (AB := a_bounds D W low high 0 P ES Hl Hh (proj1 Ht)).
    assert (GA := gap_abs D W 0 t e Ht He). apply Rabs_le_between in GA. unfold weight. rewrite (phi_gap D W 0 t)
      by (destruct P as [_ [HT _]]; lia).
    assert (EX : exp (- (e * X)) <= exp (- gap D W 0 t)) by (apply exp_le; nra).
    assert (0 <= / INR (num D) * low) by (apply Rmult_le_pos; lra).
    apply Rmult_le_compat; [apply Rmult_le_pos; lra|apply Rmult_le_pos; lra| |apply Rmult_le_compat; lra].
    apply Rmult_le_compat; [easy|lra| |easy]. apply Rmult_le_compat_l; lra.
Qed.

(** ts-proposition-p
    Covers: the whole statement, convergence of the direction as 1 − corr_t ≤ C/S_t with S_t → ∞, since ‖W_t/‖W_t‖ − W_mm/‖W_mm‖‖² = 2(1 − corr_t).
    Reads: under Assumption 2, with all G_kl ≥ 0 and G_kk > 0: (W-SVM) is feasible; at every W gap k gains at least w_k G_kk > 0 along −∇𝓛, and every gap grows at every step of every run; in a run from any W₀ with s_t ≤ s̄ and S_t → ∞, 1 − corr_t ≤ C/S_t for some C and all late t; and with η_t = c/‖∇𝓛‖ (NGD, where S_t = ct) or η_t = c (GD), for any c > 0, lengths are bounded and S_t → ∞.
    Mistake: `2 * (weight D W i t * gram D i t i t) <= gap` for `weight D W i t * gram D i t i t <= gap`
    Mistake: without `no_pull_back D ->`
    Mistake: `C / Sum t (step_length D W) ^ 3` for `C / Sum t (step_length D W)`
*)
Theorem ts_proposition_p : forall D, proper D -> equal_scores D -> no_pull_back D ->
  (exists V, separates D V) /\
  (forall W i t, pair D i t -> 0 < weight D W i t /\ weight D W i t * gram D i t i t <= gap D (descent D W) i t) /\
  forall Wmm eta W, solution D Wmm -> run D eta W ->
    (forall n i t, pair D i t -> gap D (W n) i t < gap D (W (S n)) i t) /\
    (forall sbar, (forall t, step_length D W t <= sbar) -> (forall x, exists t, x <= Sum t (step_length D W)) ->
      exists C t0, forall t, (t0 <= t)%nat -> 1 - corr (dim D) (W t) Wmm <= C / Sum t (step_length D W)) /\
    forall c, 0 < c ->
      ((forall t, eta t = c / fnorm (dim D) (dim D) (descent D (W t))) -> forall t, Sum t (step_length D W) = c * INR t) /\
      ((forall t, eta t = c / fnorm (dim D) (dim D) (descent D (W t))) \/ (forall t, eta t = c) ->
      (exists sbar, forall t, step_length D W t <= sbar) /\ forall x, exists t, x <= Sum t (step_length D W)).
Proof.
  intros D P ES G. split; [|split].
  - destruct (pair_least D (fun i t => gram D i t i t) P) as [i0 [t0 [Hp M]]].
    assert (G0 := proj2 G i0 t0 Hp). exists (support D (fun _ _ => / gram D i0 t0 i0 t0)). intros i t Hq.
    rewrite gap_Ek, fdot_sym, mdot_support. apply Rle_trans with (/ gram D i0 t0 i0 t0 * gap D (Ek D i t) i t).
    + rewrite gap_Ek, <- gram_Ek. apply Rmult_le_reg_l with (gram D i0 t0 i0 t0); [easy|].
      rewrite <- Rmult_assoc, Rinv_r by lra. rewrite Rmult_1_l, Rmult_1_r. now apply M.
    + apply (pairs_term D (fun j s => / gram D i0 t0 i0 t0 * gap D (Ek D i t) j s) i t Hq). intros j s Hr.
      rewrite gap_Ek, <- gram_Ek. apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat|now apply (proj1 G)].
  - intros W i t Hp. split; [now apply weight_pos|now apply gain].
  - intros Wmm eta W S H. destruct (attended_start D eta W P ES G H) as [p HA]. split; [|split].
    + intros n i t Hp. now apply (gaps_grow D eta).
    + intros sb Hb HS. now apply (late_rate D Wmm eta W p sb).
    + intros c Hc. destruct (longest_exists D P) as [e He].
      assert (N := normalised_path D Wmm eta W c P ES S H Hc). split; [apply N|]. intros [Hn|Hn].
      * destruct (N Hn) as [L [_ U]]. split; [exists c; intros t; rewrite L; lra|easy].
      * destruct (psi_min_exists D P) as [low Hl].
        destruct (psi_max_exists D P) as [high Hh]. split.
        -- exists (c * (e * high)). intros t. rewrite (length_eta D eta), Hn by easy. apply Rmult_le_compat_l; [lra|].
           apply (proj1 (gradient_bounds D e low high Wmm p 0 P ES He Hl Hh S (proj1 HA))).
        -- apply (path_unbounded D e Wmm eta W P ES He S H). intros X.
           destruct (gradient_bounds D e low high Wmm p X P ES He Hl Hh S (proj1 HA)) as [_ [l [L0 L]]].
           exists (c * l). split; [now apply Rmult_lt_0_compat|]. intros t Ht. rewrite (length_eta D eta), Hn by easy.
           apply Rmult_le_compat_l; [lra|]. apply L; [easy|]. intros. now apply HA.
Qed.
