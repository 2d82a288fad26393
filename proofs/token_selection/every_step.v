(** Every step of descent gains on the goal; the key lemma; who can be lost among two samples of two tokens. *)
Require Import Reals Lra Lia Psatz Arith.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.matrices base.samples base.two_gaps.
From Shallow Require Import token_selection.selection.
Open Scope R_scope.

Lemma phi_from_below D W i x : (opt D i < len D)%nat -> others D i (fun t => exp (- gap D W i t)) <= x ->
  / (1 + x) <= phi D W i (opt D i).
Proof.
  intros Ho H. assert (Q := phi_opt D W i Ho). assert (Q2 := others_exp_ge0 D W i). assert (Q3 := phi_le1 D W i Ho).
  set (S := others D i (fun t => exp (- gap D W i t))) in *. set (p := phi D W i (opt D i)) in *.
  apply Rmult_le_reg_r with (1 + x); [lra|]. rewrite Rinv_l by lra.
  assert (p * S <= p * x) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma gap_abs D W i t e : pair D i t -> longest D e -> Rabs (gap D W i t) <= e * fnorm (dim D) (dim D) W.
Proof.
  intros Hp [_ He]. rewrite gap_Ek. eapply Rle_trans; [apply fdot_cauchy|]. apply Rmult_le_compat_r; [apply fnorm_ge0|].
  apply He. now exists i, t.
Qed.

Lemma exp_le a b : a <= b -> exp a <= exp b.
Proof. intros [H| ->]; [left; now apply exp_increasing|lra]. Qed.

Lemma start_weight D W e i : proper D -> longest D e -> (i < num D)%nat ->
  / (1 + (INR (len D) - 1) * exp (e * fnorm (dim D) (dim D) W)) <= phi D W i (opt D i).
Proof.
  intros P He Hi. destruct P as [_ [HT HP]]. destruct (HP i Hi) as [_ [Ho _]]. apply phi_from_below; [easy|].
  rewrite <- (others_const D i) by easy. apply others_le. intros t Ht Hn.
  assert (Q := gap_abs D W i t e ltac:(repeat split; easy) He). apply Rabs_le_between in Q. apply exp_le. lra.
Qed.

Lemma exp_ln2 x : x <= ln 2 -> exp x <= 2.
Proof. intros H. rewrite <- (exp_ln 2) by lra. now apply exp_le. Qed.

(** one sample in ℝ: the optimal token 1, which asks, and T − 1 tokens 0 *)
Definition equal_tokens (T : nat) : data := Data 1 T 1 (fun _ t _ => if Nat.eqb t 0 then 1 else 0) (fun _ => 1)
  (fun _ => 1) (fun _ => 0%nat).

(** ts-lemma-2-sharp
    Covers: the whole statement.
    Reads: with 𝖤 = max ‖E_k‖, φ_opt ≥ 1/(1 + (T − 1) exp(𝖤‖W‖)) for every W and sample; for every T ≥ 2 and every r ≥ 0 some data and W with 𝖤‖W‖ = r attain it; and 𝖤‖W‖ ≤ log 2 gives φ_opt ≥ 1/(2T − 1).
    Mistake: `/ (1 + / 2 * (INR (len D) - 1) * exp (e * fnorm (dim D) (dim D) W))` for `/ (1 + (INR (len D) - 1) * exp (e * fnorm (dim D) (dim D) W))`
    Mistake: `/ (INR (len D) - 1) <= phi` for `/ (2 * INR (len D) - 1) <= phi`
*)
Theorem ts_lemma_2_sharp :
  (forall D W e i, proper D -> longest D e -> (i < num D)%nat ->
    / (1 + (INR (len D) - 1) * exp (e * fnorm (dim D) (dim D) W)) <= phi D W i (opt D i) /\
    (e * fnorm (dim D) (dim D) W <= ln 2 -> / (2 * INR (len D) - 1) <= phi D W i (opt D i))) /\
  (forall T r, (2 <= T)%nat -> 0 <= r -> exists D W e, proper D /\ len D = T /\ longest D e /\
    e * fnorm (dim D) (dim D) W = r /\
    phi D W 0 (opt D 0%nat) = / (1 + (INR T - 1) * exp r)).
Proof.
  split.
  - intros D W e i P He Hi. assert (Q := start_weight D W e i P He Hi). split; [easy|]. intros H.
    eapply Rle_trans; [|exact Q].
    assert (2 <= INR (len D)) by (apply (le_INR 2); apply P). apply exp_ln2 in H.
    assert (0 < exp (e * fnorm (dim D) (dim D) W)) by apply exp_pos. apply Rinv_le_contravar; nra.
  - intros T r HT Hr. exists (equal_tokens T), (fun _ _ => - r), 1. set (D := equal_tokens T).
    assert (PK : forall i t, pair D i t -> (0 < t)%nat) by (intros i t [_ [_ N]]; simpl in N; lia).
    assert (EK : forall i t, pair D i t -> Ek D i t 0%nat 0%nat = 1).
    { intros i t Hp. apply PK in Hp. unfold Ek. simpl. destruct t; [lia|]. simpl. ring. }
    assert (PD : proper D).
    { split; [simpl; lia|split; [easy|]]. intros i Hi. split; [left; easy|split; [simpl; lia|]]. intros t Hp.
      apply PK in Hp.
      unfold score, dot. simpl. destruct t; [lia|]. simpl. lra. }
    split; [easy|]. split; [easy|]. split; [split|split].
    + exists 0%nat, 1%nat. assert (Hp : pair D 0 1) by (repeat split; simpl; lia). split; [easy|].
      unfold fnorm, frob2. simpl dim. cbn [Sum]. rewrite (EK 0%nat 1%nat Hp).
        replace (0 + (0 + 1 ^ 2)) with 1 by ring. now rewrite sqrt_1.
    + intros x [i [t [Hp ->]]]. unfold fnorm, frob2. simpl dim. cbn [Sum]. rewrite (EK i t Hp).
      replace (0 + (0 + 1 ^ 2)) with 1 by ring. rewrite sqrt_1. lra.
    + unfold fnorm, frob2. simpl dim. cbn [Sum]. replace (0 + (0 + (- r) ^ 2)) with (r ^ 2) by ring.
      rewrite sqrt_pow2 by easy. ring.
    + assert (Q := phi_opt D (fun _ _ => - r) 0 ltac:(simpl; lia)). rewrite (others_ext D 0 _ (fun _ => exp r)) in Q.
      * rewrite others_const in Q by (simpl; lia). simpl len in Q. assert (2 <= INR T) by (apply (le_INR 2); easy).
        assert (0 < exp r) by apply exp_pos. assert (0 < 1 + (INR T - 1) * exp r) by nra.
        apply Rmult_eq_reg_r with (1 + (INR T - 1) * exp r); [|lra]. rewrite Rinv_l by lra. exact Q.
      * intros t Ht Hn. f_equal. rewrite gap_Ek. unfold fdot. simpl dim. cbn [Sum].
        rewrite EK by (repeat split; simpl; lia || easy). ring.
Qed.

Lemma fnorm_Ek D i t : fnorm (dim D) (dim D) (Ek D i t) = vnorm (dim D) (vminus (tok D i (opt D i)) (tok D i t))
  * vnorm (dim D) (tok D i 0%nat).
Proof.
  unfold fnorm, vnorm. rewrite <- sqrt_mult by apply sq_ge0. f_equal.
  transitivity (frob2 (dim D) (dim D) (fun a b => 1 * (vminus (tok D i (opt D i)) (tok D i t) a * tok D i 0%nat b))).
  - apply frob2_ext. intros. unfold Ek, vminus. ring.
  - rewrite frob2_rank1. ring.
Qed.

Lemma Ek_tokens D B i t : proper D -> (forall j s, (j < num D)%nat -> (s < len D)%nat ->
  vnorm (dim D) (tok D j s) <= B) ->
  pair D i t -> fnorm (dim D) (dim D) (Ek D i t) <= 2 * B ^ 2.
Proof.
  intros [_ [HT HP]] HB [Hi [Ht Hn]]. rewrite fnorm_Ek. destruct (HP i Hi) as [_ [Ho _]].
  assert (A := norm_minus (dim D) (tok D i t) (tok D i (opt D i))).
  assert (A1 := HB i (opt D i) Hi Ho). assert (A2 := HB i t Hi Ht). assert (A3 := HB i 0%nat Hi ltac:(lia)).
  assert (A4 := norm_ge0 (dim D) (tok D i 0%nat)).
    assert (A5 := norm_ge0 (dim D) (vminus (tok D i (opt D i)) (tok D i t))).
  replace (2 * B ^ 2) with ((2 * B) * B) by ring. apply Rmult_le_compat; lra.
Qed.

Lemma longest_exists D : proper D -> exists e, longest D e.
Proof.
  intros P. destruct (pair_least D (fun i t => - fnorm (dim D) (dim D) (Ek D i t)) P) as [i [t [Hp M]]].
  exists (fnorm (dim D) (dim D) (Ek D i t)). split; [now exists i, t|]. intros x [j [s [Hq ->]]]. assert (Q := M j s Hq). lra.
Qed.

(** ts-lemma-2
    Covers: a part: the first sentence; on the page: the Gaussian start.
    Reads: if all tokens have norm at most B and 2B²‖W₀‖ ≤ log 2, then φ_opt ≥ 1/(2T) for every sample.
    Mistake: `/ INR (len D) <=` for `/ (2 * INR (len D)) <=`
    Mistake: without `2 * B ^ 2 * fnorm (dim D) (dim D) W0 <= ln 2 ->`
*)
Theorem ts_lemma_2 : forall D B W0, proper D ->
  (forall i t, (i < num D)%nat -> (t < len D)%nat -> vnorm (dim D) (tok D i t) <= B) ->
  2 * B ^ 2 * fnorm (dim D) (dim D) W0 <= ln 2 ->
  forall i, (i < num D)%nat -> / (2 * INR (len D)) <= phi D W0 i (opt D i).
Proof.
  intros D B W0 P HB H i Hi. destruct (longest_exists D P) as [e He]. destruct ts_lemma_2_sharp as [Q _].
  destruct (Q D W0 e i P He Hi) as [_ Q2]. assert (2 <= INR (len D)) by (apply (le_INR 2); apply P).
  eapply Rle_trans; [|apply Q2].
  - apply Rinv_le_contravar; lra.
  - eapply Rle_trans; [|exact H]. apply Rmult_le_compat_r; [apply fnorm_ge0|]. destruct He as [[j [s [Hq ->]]] _].
    now apply Ek_tokens.
Qed.

Lemma lead_pos D i : proper D -> equal_scores D -> (i < num D)%nat -> 0 < lead D i.
Proof. intros P ES. now apply (ts_definition_a2 D P). Qed.

Lemma weight_pos D W i t : proper D -> equal_scores D -> pair D i t -> 0 < weight D W i t.
Proof.
  intros P ES Hp. assert (HT : (0 < len D)%nat) by (destruct P as [_ [HT _]]; lia). unfold weight.
  assert (A := num_pos D P). assert (B := lead_pos D i P ES (proj1 Hp)). assert (C := phi_pos D W i (opt D i) HT).
  assert (C2 := phi_pos D W i t HT). assert (C3 : 0 < sample_loss D W i) by apply exp_pos.
  apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat;
    [easy|now apply Rmult_lt_0_compat]|]|]; easy.
Qed.

Lemma weights_pos D W : proper D -> equal_scores D -> 0 < pairs D (weight D W).
Proof.
  intros P ES. destruct (some_pair D 0 P) as [t Ht]; [destruct P; lia|].
  eapply Rlt_le_trans; [apply (weight_pos D W 0 t P ES Ht)|]. apply pairs_term; [easy|].
  intros j s Hq. left. now apply weight_pos.
Qed.

Lemma mdot_descent_pairs D W V : proper D -> equal_scores D ->
  fdot (dim D) (dim D) (descent D W) V = pairs D (fun i t => weight D W i t * gap D V i t).
Proof.
  intros P ES. rewrite (fdot_ext_l _ _ _ (fun a b => pairs D (fun i t => weight D W i t * Ek D i t a b)))
    by (intros; now apply descent_pairs).
  rewrite mdot_pairs. apply pairs_ext. intros. now rewrite gap_Ek.
Qed.

Lemma descent_gain D W V : proper D -> equal_scores D -> separates D V ->
  pairs D (weight D W) <= fdot (dim D) (dim D) (descent D W) V.
Proof.
  intros P ES S. rewrite mdot_descent_pairs by easy. apply pairs_le. intros i t Hp. assert (Q := S i t Hp).
  assert (Q2 := weight_pos D W i t P ES Hp). nra.
Qed.

Lemma descent_length D W e : proper D -> equal_scores D -> longest D e ->
  fnorm (dim D) (dim D) (descent D W) <= pairs D (weight D W) * e.
Proof.
  intros P ES [_ He]. replace (fnorm (dim D) (dim D) (descent D W)) with (fnorm (dim D) (dim D)
    (fun a b => pairs D (fun i t => weight D W i t * Ek D i t a b))).
  - apply mnorm_pairs. intros i t Hp. split; [left; now apply weight_pos|]. apply He. now exists i, t.
  - unfold fnorm. f_equal. apply frob2_ext. intros. symmetry. now apply descent_pairs.
Qed.

Lemma descent_nonzero D W V : proper D -> equal_scores D -> separates D V -> 0 < fnorm (dim D) (dim D) (descent D W).
Proof.
  intros P ES S. assert (A := descent_gain D W V P ES S). assert (B := weights_pos D W P ES).
  assert (C := fdot_le (dim D) (dim D) (descent D W) V). assert (F := fnorm_ge0 (dim D) (dim D) (descent D W)).
  destruct F as [F|F]; [easy|]. rewrite <- F in C. lra.
Qed.

(** ts-lemma-4
    Covers: the whole statement.
    Reads: under Assumption 2, if ⟨E_k, W′⟩ ≥ 1 for all k, then at every W ⟨−∇𝓛, W′⟩ ≥ Σ w_k = (1/n) Σ a_i φ_opt (1 − φ_opt) > 0 with a_i = ℓ_i Δ_i, ‖∇𝓛‖ ≤ 𝖤 Σ w_k, and descent is not 0 and has a cosine of at least 1/(𝖤‖W_mm‖) with W_mm.
    Mistake: `2 * pairs D (weight D W) <= fdot` for `pairs D (weight D W) <= fdot`
    Mistake: `2 / (e * fnorm (dim D) (dim D) Wmm)` for `/ (e * fnorm (dim D) (dim D) Wmm)`
    Mistake: `<= / 2 * e * pairs D (weight D W)` for `<= e * pairs D (weight D W)`
*)
Theorem ts_lemma_4 : forall D W e, proper D -> equal_scores D -> longest D e ->
  (forall V, separates D V -> pairs D (weight D W) <= fdot (dim D) (dim D) (descent D W) V) /\
  pairs D (weight D W) = / INR (num D) * Sum (num D) (fun i =>
    sample_loss D W i * lead D i * phi D W i (opt D i) * (1 - phi D W i (opt D i))) /\
  0 < pairs D (weight D W) /\
  fnorm (dim D) (dim D) (descent D W) <= e * pairs D (weight D W) /\
  (forall Wmm, solution D Wmm -> 0 < fnorm (dim D) (dim D) (descent D W) /\
    / (e * fnorm (dim D) (dim D) Wmm) <= corr (dim D) (descent D W) Wmm).
Proof.
  intros D W e P ES He. assert (L := descent_length D W e P ES He). split; [|split; [|split; [|split]]].
  - intros V S. now apply descent_gain.
  - unfold pairs. rewrite <- Sum_scal. apply Sum_ext. intros i Hi. destruct P as [_ [_ HP]].
    destruct (HP i Hi) as [_ [Ho _]].
    rewrite <- phi_others by easy. rewrite <- Rmult_assoc, <- others_scal. apply others_ext. intros. unfold weight.
      ring.
  - now apply weights_pos.
  - lra.
  - intros Wmm S. assert (N := descent_nonzero D W Wmm P ES (proj1 S)). split; [easy|].
    assert (PW := solution_pos D Wmm P (proj1 S)). assert (G := descent_gain D W Wmm P ES (proj1 S)).
    assert (E0 : 0 < e) by (assert (B := weights_pos D W P ES); nra).
    unfold corr. set (x := fnorm (dim D) (dim D) (descent D W)) in *. set (w := fnorm (dim D) (dim D) Wmm) in *.
    apply Rmult_le_reg_r with (x * w); [now apply Rmult_lt_0_compat|].
    replace (fdot (dim D) (dim D) (descent D W) Wmm / (x * w) * (x * w)) with (fdot (dim D) (dim D) (descent D W)
      Wmm) by (field; lra).
    eapply Rle_trans; [|exact G]. apply Rmult_le_reg_r with e; [easy|].
    replace (/ (e * w) * (x * w) * e) with x by (field; lra). easy.
Qed.

Lemma run_step D eta W t : run D eta W -> fnorm (dim D) (dim D) (shifted (W (S t)) (W t) (-1)) = eta t * fnorm (dim
  D) (dim D)
  (descent D (W t)).
Proof.
  intros H. destruct (H t) as [A B]. rewrite B. rewrite <- (Rabs_pos_eq (eta t)) at 2 by lra. rewrite <- mnorm_scale.
    unfold fnorm. f_equal. apply frob2_ext.
  intros. unfold shifted, mplus, mscal. ring.
Qed.

(** ts-lemma-5
    Covers: the whole statement.
    Reads: under Assumption 2, with S_t = Σ s_τ over τ < t, ρ* = 1/(𝖤‖W_mm‖) and Ŵ = W_mm/‖W_mm‖, every run has ρ* S_t − ‖W₀‖ ≤ ⟨W_t, Ŵ⟩ ≤ ‖W_t‖ ≤ S_t + ‖W₀‖; for normalised descent, η_t = η/‖∇𝓛(W_t)‖, S_t = ηt.
    Mistake: `2 / (e * fnorm (dim D) (dim D) Wmm)` for `/ (e * fnorm (dim D) (dim D) Wmm)`
    Mistake: `/ 2 * Sum t (step_length D W) + fnorm (dim D) (dim D) (W 0%nat)` for `Sum t (step_length D W) + fnorm (dim D) (dim D) (W 0%nat)`
*)
Theorem ts_lemma_5 : forall D e Wmm eta W, proper D -> equal_scores D -> longest D e -> solution D Wmm -> run D eta W ->
  (forall t, / (e * fnorm (dim D) (dim D) Wmm) * Sum t (step_length D W) - fnorm (dim D) (dim D) (W 0%nat)
      <= fdot (dim D) (dim D) (W t) Wmm / fnorm (dim D) (dim D) Wmm <= fnorm (dim D) (dim D) (W t) /\
    fnorm (dim D) (dim D) (W t) <= Sum t (step_length D W) + fnorm (dim D) (dim D) (W 0%nat)) /\
  (forall c, (forall t, eta t = c / fnorm (dim D) (dim D) (descent D (W t))) -> forall t, Sum t (step_length D W) = c
    * INR t).
Proof.
  intros D e Wmm eta W P ES He S H. assert (PW := solution_pos D Wmm P (proj1 S)). set (w := fnorm (dim D) (dim D)
    Wmm) in *.
  assert (SL : forall t, step_length D W t = eta t * fnorm (dim D) (dim D) (descent D (W t))) by (intros;
    now apply (run_step D eta)).
  split.
  - intros t. assert (UP : fdot (dim D) (dim D) (W t) Wmm / w <= fnorm (dim D) (dim D) (W t)).
    { apply Rmult_le_reg_r with w; [easy|]. replace (fdot (dim D) (dim D) (W t) Wmm / w * w) with (fdot (dim D) (dim
      D) (W t) Wmm)
      by (field; lra).
      apply fdot_le. }
    split; [split; [|easy]|]; clear UP; induction t as [|t IH]; cbn [Sum].
    + assert (Q := fdot_ge (dim D) (dim D) (W 0%nat) Wmm). fold w in Q. rewrite Rmult_0_r.
      apply Rmult_le_reg_r with w; [easy|]. replace (fdot (dim D) (dim D) (W 0%nat) Wmm / w * w) with (fdot (dim D)
        (dim D) (W 0%nat)
        Wmm) by (field; lra). lra.
    + destruct (H t) as [Eta B]. rewrite B, fdot_shifted_l. rewrite SL.
      destruct (ts_lemma_4 D (W t) e P ES He) as [_ [_ [_ [_ Q]]]]. destruct (Q Wmm S) as [N C]. unfold corr in C.
        fold w in C |- *.
      set (x := fnorm (dim D) (dim D) (descent D (W t))) in *. set (m := fdot (dim D) (dim D) (descent D (W t)) Wmm)
        in *.
      assert (C2 : / (e * w) * x <= m / w).
      { apply (Rmult_le_compat_r x) in C; [|lra]. replace (m / (x * w) * x) with (m / w) in C by (field; lra). easy. }
      assert (eta t * (/ (e * w) * x) <= eta t * (m / w)) by (apply Rmult_le_compat_l; lra).
      unfold Rdiv in *. rewrite Rmult_plus_distr_r. lra.
    + lra.
    + destruct (H t) as [Eta B]. rewrite B at 1. rewrite SL. eapply Rle_trans; [apply fnorm_shifted|].
      rewrite Rabs_pos_eq by lra. lra.
  - intros c Hc t. induction t as [|t IH]; [simpl; ring|]. rewrite S_INR. cbn [Sum]. rewrite IH, SL, Hc.
    assert (Q := descent_nonzero D (W t) Wmm P ES (proj1 S)). field. lra.
Qed.

(** a_i = ℓ_i Δ_i lies in [Ψ_min, Ψ_max]. *)
Lemma a_bounds D W low high i : proper D -> equal_scores D -> psi_min D low -> psi_max D high -> (i < num D)%nat ->
  low <= sample_loss D W i * lead D i <= high.
Proof.
  intros P ES [_ Hl] [_ Hh] Hi. destruct (some_pair D i P Hi) as [t Ht]. assert (DP := lead_pos D i P ES Hi).
  assert (Q := ES i t Ht). assert (P' := P). destruct P' as [_ [_ HP]]. destruct (HP i Hi) as [_ [Ho Hs]].
  assert (AB := answer_below D W i Ho). rewrite (others_ext D i _ (fun s => lead D i * phi D W i s)) in AB.
  2:{ intros s Hs1 Hs2. rewrite (ES i s) by (repeat split; easy). unfold lead. ring. }
  rewrite others_scal, phi_others in AB by easy. assert (PH := phi_le1 D W i Ho).
  assert (A1 : score D i t <= lab D i * answer D W i) by (rewrite Q; unfold lead in *; nra).
  assert (A2 : lab D i * answer D W i <= score D i (opt D i)) by nra.
  assert (B1 : low <= (score D i (opt D i) - score D i t) * exp (- score D i (opt D i))) by (apply Hl; now exists i, t).
  assert (B2 : (score D i (opt D i) - score D i t) * exp (- score D i t) <= high)
    by (apply Hh; exists i, t; destruct Ht as [U [V _]]; repeat split; easy).
  replace (score D i (opt D i) - score D i t) with (lead D i) in * by (unfold lead; lra). unfold sample_loss.
  assert (exp (- score D i (opt D i)) <= exp (- (lab D i * answer D W i))) by (apply exp_le; lra).
  assert (exp (- (lab D i * answer D W i)) <= exp (- score D i t)) by (apply exp_le; lra). nra.
Qed.

Lemma pairs_const D c : proper D -> pairs D (fun _ _ => c) = INR (num D) * (INR (len D) - 1) * c.
Proof.
  intros [_ [_ HP]]. unfold pairs. rewrite (Sum_ext _ _ (fun _ => (INR (len D) - 1) * c)).
  - rewrite Sum_const. ring.
  - intros i Hi. destruct (HP i Hi) as [_ [Ho _]]. now apply others_const.
Qed.

(** A weighted average of gaps exceeds the smallest by Λ at most, as (x − Λ) exp(− x) ≤ exp(− 1 − Λ). *)
Lemma one_line D W low high p Lam m : proper D -> equal_scores D -> psi_min D low -> psi_max D high ->
  0 < p -> (forall i, (i < num D)%nat -> p <= phi D W i (opt D i)) -> 0 <= Lam ->
  (INR (num D) * (INR (len D) - 1) - 1) * (high / low) / (exp 1 * p ^ 2) <= Lam * exp Lam -> worst_gap D W m ->
  pairs D (fun i t => weight D W i t * gap D W i t) <= (m + Lam) * pairs D (weight D W).
Proof.
  intros P ES Hl Hh Hp Hphi HL HLam [[i0 [t0 [Hp0 Em]]] Hm]. assert (PL := psi_min_pos D low P Hl).
  assert (Nn := num_pos D P). set (N := / INR (num D)) in *.
  assert (E1 : 0 < exp (- 1 - Lam)) by apply exp_pos.
  set (C := N * high * exp (- 1 - Lam)). set (c := N * low * p ^ 2).
  set (f := fun i t => exp m * weight D W i t * (gap D W i t - (m + Lam))).
  assert (WE : forall i t, pair D i t -> exp m * weight D W i t =
    N * (sample_loss D W i * lead D i) * phi D W i (opt D i) ^ 2 * exp (- (gap D W i t - m))).
  { intros i t Hq. unfold weight. fold N. rewrite (phi_gap D W i t) by (destruct P as [_ [HT _]]; lia).
    replace (- (gap D W i t - m)) with (m + - gap D W i t) by ring. rewrite exp_plus. ring. }
  assert (HT : (0 < len D)%nat) by (destruct P as [_ [HT _]]; lia). assert (HP := proj2 (proj2 P)).
  assert (FC : forall i t, pair D i t -> 0 <= C - f i t).
  { intros i t Hq. unfold f. rewrite WE by easy. set (x := gap D W i t - m).
    assert (AB := a_bounds D W low high i P ES Hl Hh (proj1 Hq)). set (a := sample_loss D W i * lead D i) in *.
    destruct (HP i (proj1 Hq)) as [_ [Ho _]]. assert (PB := phi_le1 D W i Ho). set (ph := phi D W i (opt D i)) in *.
    replace (gap D W i t - (m + Lam)) with (x - Lam) by (unfold x; ring).
    assert (X : (x - Lam) * exp (- x) <= exp (-1 - Lam)).
    { assert (Q := exp_ineq1_le (x - Lam - 1)). replace (-1 - Lam) with (- x + (x - Lam - 1)) by ring. rewrite exp_plus.
      assert (0 < exp (- x)) by apply exp_pos. rewrite Rmult_comm. apply Rmult_le_compat_l; lra. }
    assert (P2 : 0 < ph ^ 2 <= 1) by (split; [apply pow_lt; lra|]; nra).
    assert (A1 : N * a * ph ^ 2 <= N * high).
    { rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. nra. }
    assert (A0 : 0 <= N * a * ph ^ 2) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
    unfold C. set (k := N * a * ph ^ 2) in *.
    assert (k * ((x - Lam) * exp (- x)) <= k * exp (-1 - Lam)) by (apply Rmult_le_compat_l; easy).
    assert (k * exp (-1 - Lam) <= N * high * exp (-1 - Lam)) by (apply Rmult_le_compat_r; lra). lra. }
  assert (F0 : f i0 t0 <= - c * Lam).
  { unfold f. rewrite WE by easy. rewrite <- Em. replace (- (m - m)) with 0 by ring. rewrite exp_0.
    replace (m - (m + Lam)) with (- Lam) by ring. assert (AB := a_bounds D W low high i0 P ES Hl Hh (proj1 Hp0)).
    set (a := sample_loss D W i0 * lead D i0) in *. assert (Q := Hphi i0 (proj1 Hp0)).
      set (ph := phi D W i0 (opt D i0)) in *.
    assert (p ^ 2 <= ph ^ 2) by (apply pow_incr; lra). assert (0 < p ^ 2) by now apply pow_lt.
    assert (low * p ^ 2 <= a * ph ^ 2) by (apply Rmult_le_compat; lra).
    assert (N * (low * p ^ 2) <= N * (a * ph ^ 2)) by (apply Rmult_le_compat_l; lra). unfold c.
    assert (N * (low * p ^ 2) * Lam <= N * (a * ph ^ 2) * Lam) by (apply Rmult_le_compat_r; lra). lra. }
  assert (T := pairs_term D (fun i t => C - f i t) i0 t0 Hp0 FC). cbv beta in T.
  rewrite (pairs_ext D (fun i t => C - f i t) (fun i t => C + -1 * f i t)) in T by (intros; ring).
  rewrite pairs_plus, pairs_scal, pairs_const in T by easy. set (K := INR (num D) * (INR (len D) - 1)) in *.
  assert (KC : (K - 1) * C <= c * Lam).
  { unfold C, c. assert (Q : exp (- 1 - Lam) * (exp 1 * exp Lam) = 1).
    { rewrite <- !exp_plus. replace (- 1 - Lam + (1 + Lam)) with 0 by ring. apply exp_0. }
    assert (0 < exp 1) by apply exp_pos. assert (0 < exp Lam) by apply exp_pos.
    apply (Rmult_le_compat_l (low * p ^ 2 * exp 1)) in HLam; [|apply Rmult_le_pos; [apply Rmult_le_pos;
      [lra|apply pow2_ge_0]|lra]].
    replace (low * p ^ 2 * exp 1 * ((K - 1) * (high / low) / (exp 1 * p ^ 2))) with ((K - 1) * high)
      in HLam by (field; lra).
    apply (Rmult_le_compat_l (N * exp (- 1 - Lam))) in HLam; [|apply Rmult_le_pos; lra].
    replace (N * exp (- 1 - Lam) * (low * p ^ 2 * exp 1 * (Lam * exp Lam))) with
      (N * low * p ^ 2 * Lam * (exp (- 1 - Lam) * (exp 1 * exp Lam))) in HLam by ring.
    rewrite Q in HLam. lra. }
  assert (PF : pairs D f <= 0) by lra.
  assert (PF2 : pairs D f = exp m * (pairs D (fun i t => weight D W i t * gap D W i t) - (m + Lam)
    * pairs D (weight D W))).
  { unfold f. rewrite <- pairs_scal, Rmult_minus_distr_l, <- pairs_scal.
    replace (pairs D (fun i t => exp m * (weight D W i t * gap D W i t)) - exp m * pairs D (fun i t => (m + Lam)
      * weight D W i t))
      with (pairs D (fun i t => exp m * (weight D W i t * gap D W i t)) + - exp m * pairs D (fun i t => (m + Lam)
        * weight D W i t)) by ring.
    rewrite <- pairs_scal, <- pairs_plus. apply pairs_ext. intros; ring. }
  rewrite PF2 in PF. assert (0 < exp m) by apply exp_pos. nra.
Qed.

Lemma key D W Wmm low high p Lam eps : proper D -> equal_scores D -> psi_min D low -> psi_max D high ->
  solution D Wmm ->
  0 < p -> (forall i, (i < num D)%nat -> p <= phi D W i (opt D i)) -> 0 <= Lam ->
  (INR (num D) * (INR (len D) - 1) - 1) * (high / low) / (exp 1 * p ^ 2) <= Lam * exp Lam ->
  0 < eps -> 0 < fnorm (dim D) (dim D) W -> Lam * fnorm (dim D) (dim D) Wmm / eps <= fnorm (dim D) (dim D) W ->
  fdot (dim D) (dim D) (descent D W) W / fnorm (dim D) (dim D) W <= (1 + eps) * (fdot (dim D) (dim D) (descent D W)
    Wmm / fnorm (dim D) (dim D) Wmm).
Proof.
  intros P ES Hl Hh S Hp Hphi HL HLam Heps PX HR. assert (PW := solution_pos D Wmm P (proj1 S)).
  destruct (pair_least D (gap D W) P) as [i [t [Hq M]]]. set (m := gap D W i t) in *.
  assert (OL := one_line D W low high p Lam m P ES Hl Hh Hp Hphi HL HLam).
  rewrite <- mdot_descent_pairs in OL by easy. assert (G := descent_gain D W Wmm P ES (proj1 S)).
  assert (PS := weights_pos D W P ES). assert (AV := average D W Wmm m S M). rewrite <- fnorm_sq in AV.
  assert (MD := fdot_le (dim D) (dim D) W Wmm). set (x := fnorm (dim D) (dim D) W) in *. set (w := fnorm (dim D) (dim
    D) Wmm) in *.
  set (A := fdot (dim D) (dim D) (descent D W) W) in *. set (B := fdot (dim D) (dim D) (descent D W) Wmm) in *.
    set (Sw := pairs D (weight D W)) in *.
  specialize (OL ltac:(split; [now exists i, t|intros y [j [s [Hr ->]]]; now apply M])).
  assert (MX : m <= x / w).
  { apply Rmult_le_reg_r with (w ^ 2); [now apply pow_lt|]. replace (x / w * w ^ 2) with (x * w) by (field; lra). lra. }
  assert (LX : Lam <= eps * (x / w)).
  { apply (Rmult_le_compat_r (eps / w)) in HR; [|left; now apply Rdiv_lt_0_compat].
    replace (Lam * w / eps * (eps / w)) with Lam in HR by (field; lra).
      replace (x * (eps / w)) with (eps * (x / w)) in HR by (field; lra). easy. }
  assert (XW : 0 < x / w) by now apply Rdiv_lt_0_compat.
  assert (A <= (1 + eps) * (x / w) * B).
  { eapply Rle_trans; [exact OL|]. apply Rle_trans with ((1 + eps) * (x / w) * Sw); [apply Rmult_le_compat_r; lra|].
    apply Rmult_le_compat_l; [|easy]. apply Rmult_le_pos; lra. }
  apply Rmult_le_reg_r with x; [easy|]. replace (A / x * x) with A by (field; lra).
  replace ((1 + eps) * (B / w) * x) with ((1 + eps) * (x / w) * B) by (field; lra). easy.
Qed.

(** ts-lemma-7-sharp
    Covers: a part: the inequality and what follows from it; on the page: that Λ₀ cannot be made smaller.
    Reads: under Assumption 2, if φ_opt ≥ φ_min > 0 in all samples at W, K = n(T − 1), Υ = Ψ_max/Ψ_min and Λ₀ ≥ 0 solves Λ e^Λ = (K − 1)Υ/(e φ_min²), then Σ w_k h_k ≤ (min h_k + Λ₀) Σ w_k; hence for every ε > 0 and ‖W‖ ≥ Λ₀‖W_mm‖/ε, W ≠ 0, (1 + ε)⟨−∇𝓛, W_mm/‖W_mm‖⟩ ≥ ⟨−∇𝓛, W/‖W‖⟩; and such a Λ₀ exists.
    Mistake: `(m + / 4 * Lam)` for `(m + Lam)`
    Mistake: without `(forall i, (i < num D)%nat -> p <= phi D W i (opt D i)) ->`
*)
Theorem ts_lemma_7_sharp : forall D W Wmm low high p, proper D -> equal_scores D -> psi_min D low -> psi_max D high ->
  solution D Wmm -> 0 < p -> (forall i, (i < num D)%nat -> p <= phi D W i (opt D i)) ->
  (exists Lam, 0 <= Lam /\ Lam * exp Lam = (INR (num D) * (INR (len D) - 1) - 1) * (high / low) / (exp 1 * p ^ 2)) /\
  (forall Lam, 0 <= Lam -> Lam * exp Lam = (INR (num D) * (INR (len D) - 1) - 1) * (high / low) / (exp 1 * p ^ 2) ->
    (forall m, worst_gap D W m ->
      pairs D (fun i t => weight D W i t * gap D W i t) <= (m + Lam) * pairs D (weight D W)) /\
    (forall eps, 0 < eps -> 0 < fnorm (dim D) (dim D) W -> Lam * fnorm (dim D) (dim D) Wmm / eps <= fnorm (dim D) (dim D) W ->
      fdot (dim D) (dim D) (descent D W) W / fnorm (dim D) (dim D) W <=
      (1 + eps) * (fdot (dim D) (dim D) (descent D W) Wmm / fnorm (dim D) (dim D) Wmm))).
Proof.
  intros D W Wmm low high p P ES Hl Hh S Hp Hphi. split.
  - set (c := (INR (num D) * (INR (len D) - 1) - 1) * (high / low) / (exp 1 * p ^ 2)).
    assert (C0 : 0 <= c).
    { assert (1 <= INR (num D)) by (apply (le_INR 1); apply P).
      assert (2 <= INR (len D)) by (apply (le_INR 2); apply P).
      assert (PL := psi_min_pos D low P Hl). assert (AB := a_bounds D W low high 0 P ES Hl Hh ltac:(destruct P; lia)).
      assert (0 < exp 1) by apply exp_pos. assert (0 < p ^ 2) by now apply pow_lt.
      unfold c. unfold Rdiv. apply Rmult_le_pos; [apply Rmult_le_pos; [nra|apply Rmult_le_pos; [lra|left;
        now apply Rinv_0_lt_compat]]|].
      left. apply Rinv_0_lt_compat. now apply Rmult_lt_0_compat. }
    assert (CF : forall x, continuity_pt (fun x => x * exp x - c) x) by (intros; reg).
    destruct C0 as [C0|C0].
    + destruct (IVT (fun x => x * exp x - c) 0 c) as [x [Hx Ex]].
      * intros y. apply CF.
      * easy.
      * rewrite Rmult_0_l. lra.
      * assert (Q := exp_ineq1_le c). assert (c * (1 + c) <= c * exp c) by (apply Rmult_le_compat_l; lra). nra.
      * exists x. split; lra.
    + exists 0. split; lra.
  - intros Lam HL E. split.
    + intros m. apply (one_line D W low high p Lam m P ES Hl Hh Hp Hphi HL). lra.
    + intros eps He PX HR. apply (key D W Wmm low high p Lam eps); auto. lra.
Qed.

Lemma psi_min_exists D : proper D -> exists low, psi_min D low.
Proof.
  intros P. destruct (pair_least D (fun i t => (score D i (opt D i) - score D i t) * exp (- score D i (opt D i))) P)
    as [i [t [Hp M]]].
  exists ((score D i (opt D i) - score D i t) * exp (- score D i (opt D i))). split; [now exists i, t|].
  intros x [j [s [Hq ->]]]. now apply M.
Qed.

Lemma key_radius D Wmm p eps : proper D -> equal_scores D -> solution D Wmm -> 0 < p -> 0 < eps ->
  exists R, 0 < R /\ forall W, (forall i, (i < num D)%nat -> p <= phi D W i (opt D i)) -> R <= fnorm (dim D) (dim D)
    W ->
    fdot (dim D) (dim D) (descent D W) W / fnorm (dim D) (dim D) W <=
    (1 + eps) * (fdot (dim D) (dim D) (descent D W) Wmm / fnorm (dim D) (dim D) Wmm).
Proof.
  intros P ES S Hp He. destruct (psi_min_exists D P) as [low Hl]. destruct (psi_max_exists D P) as [high Hh].
  set (c := (INR (num D) * (INR (len D) - 1) - 1) * (high / low) / (exp 1 * p ^ 2)).
  assert (C0 : 0 <= Rabs c) by apply Rabs_pos. assert (PW := solution_pos D Wmm P (proj1 S)).
  assert (R0 : 0 <= Rabs c * fnorm (dim D) (dim D) Wmm / eps).
  { unfold Rdiv. apply Rmult_le_pos; [apply Rmult_le_pos; lra|left; apply Rinv_0_lt_compat; lra]. }
  exists (Rabs c * fnorm (dim D) (dim D) Wmm / eps + 1). split; [lra|]. intros W Hphi HR.
  apply (key D W Wmm low high p (Rabs c) eps); auto; try lra. fold c. assert (Q := exp_ineq1_le (Rabs c)).
  assert (Q2 := Rle_abs c). assert (Rabs c * 1 <= Rabs c * exp (Rabs c)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** ts-lemma-7
    Covers: the whole statement, for all W with such weights, on a run or not.
    Reads: under Assumption 2, for every ε ∈ (0, 1) and φ_min > 0 there is an R_ε such that at every W with φ_opt ≥ φ_min in all samples and ‖W‖ ≥ R_ε, (1 + ε)⟨−∇𝓛(W), W_mm/‖W_mm‖⟩ ≥ ⟨−∇𝓛(W), W/‖W‖⟩.
    Mistake: without `(forall i, (i < num D)%nat -> p <= phi D W i (opt D i)) ->`
    Mistake: `(1 - eps) * (fdot` for `(1 + eps) * (fdot`
*)
Theorem ts_lemma_7 : forall D Wmm p eps, proper D -> equal_scores D -> solution D Wmm -> 0 < p -> 0 < eps < 1 ->
  exists R, 0 < R /\ forall W, (forall i, (i < num D)%nat -> p <= phi D W i (opt D i)) -> R <= fnorm (dim D) (dim D)
    W ->
    fdot (dim D) (dim D) (descent D W) W / fnorm (dim D) (dim D) W <=
    (1 + eps) * (fdot (dim D) (dim D) (descent D W) Wmm / fnorm (dim D) (dim D) Wmm).
Proof.
  intros D Wmm p eps P ES S Hp He. now apply key_radius.
Qed.

(** two samples in the plane: optimal tokens (a, 0) and (0, 1), which ask, all others 0; u = (1, 1); and its W_mm *)
Definition two_axes (a : R) : data := Data 2 2 2 (fun i t => match i, t with
  | 0, 0 => vec3 a 0 0 | 1, 0 => vec3 0 1 0 | _, _ => vec3 0 0 0 end%nat) (fun _ => 1) (fun _ => 1) (fun _ => 0%nat).
Definition diagonal2 (x y : R) : matrix := fun i j => match i, j with O, O => x | S O, S O => y | _, _ => 0 end.

Lemma two_axes_pair a i t : pair (two_axes a) i t -> t = 1%nat /\ (i = 0%nat \/ i = 1%nat).
Proof. intros [A [B C]]. simpl in A, B, C. lia. Qed.

Lemma two_axes_proper a : 0 < a -> proper (two_axes a).
Proof.
  intros Ha. split; [simpl; lia|split; [simpl; lia|]]. intros i Hi. split; [left; easy|split; [simpl; lia|]].
    intros t Hp.
  apply two_axes_pair in Hp. destruct Hp as [-> [-> | ->]]; unfold score, dot; simpl; lra.
Qed.

Lemma two_axes_solution a : 0 < a -> solution (two_axes a) (diagonal2 (/ a ^ 2) 1).
Proof.
  intros Ha. apply (multipliers_solution _ (fun i _ => if Nat.eqb i 0 then / a ^ 4 else 1)).
  assert (0 < / a ^ 4) by (apply Rinv_0_lt_compat; now apply pow_lt). split; [|split; [|split]].
  - intros i t _. destruct (Nat.eqb i 0); lra.
  - intros x y Hx Hy. simpl in Hx, Hy. unfold support, pairs, others, Ek.
    destruct x as [|[|x]]; [| |lia]; (destruct y as [|[|y]]; [| |lia]); simpl; field; lra.
  - intros i t Hp. apply two_axes_pair in Hp. right.
    destruct Hp as [-> [-> | ->]]; unfold gap, dot, vminus, matvec; simpl; field; lra.
  - intros i t Hp Hg. exfalso. apply two_axes_pair in Hp.
    assert (E : gap (two_axes a) (diagonal2 (/ a ^ 2) 1) i t = 1); [|lra].
    destruct Hp as [-> [-> | ->]]; unfold gap, dot, vminus, matvec; simpl; field; lra.
Qed.

(** ts-remark-1
    Covers: a part: that the inequality is false sample by sample, for n = T = 2, and true of the sum; on the page: what earlier papers do.
    Reads: for every ε > 0 there are two samples of two tokens, with equal scores and a solution W_mm, such that for every R > 0 some W with ‖W‖ = R and both φ_opt ≥ 1/2 has w₂⟨E₂, W/‖W‖⟩ > (1 + ε) w₂⟨E₂, W_mm/‖W_mm‖⟩, while the sum over both samples satisfies the inequality from some ‖W‖ on; for orthonormal E₁, E₂ (a = 1), every ε < √2 − 1 and every R > 0 some W with ‖W‖ = R has w₂⟨E₂, W/‖W‖⟩ > (1 + ε) w₂⟨E₂, W_mm/‖W_mm‖⟩.
    Mistake: `eps < 1 -> forall` for `eps < sqrt 2 - 1 -> forall`
    Mistake: `exists W, fnorm 2 2 W = r /\ (forall i, (i < 2)%nat -> 1 <= phi D W i 0%nat)` for `exists W, fnorm 2 2 W = r /\ (forall i, (i < 2)%nat -> / 2 <= phi D W i 0%nat)`
*)
Theorem ts_remark_1 :
  (forall eps, 0 < eps -> exists D Wmm, proper D /\ num D = 2%nat /\ len D = 2%nat /\ dim D = 2%nat /\ equal_scores D /\
    solution D Wmm /\ (forall i, opt D i = 0%nat) /\
    (forall r, 0 < r -> exists W, fnorm 2 2 W = r /\ (forall i, (i < 2)%nat -> / 2 <= phi D W i 0%nat) /\
      (1 + eps) * (weight D W 1 1 * (gap D Wmm 1 1 / fnorm 2 2 Wmm)) < weight D W 1 1 * (gap D W 1 1 / fnorm 2 2 W)) /\
    (exists R, 0 < R /\ forall W, (forall i, (i < 2)%nat -> / 2 <= phi D W i 0%nat) -> R <= fnorm 2 2 W ->
      fdot 2 2 (descent D W) W / fnorm 2 2 W <= (1 + eps) * (fdot 2 2 (descent D W) Wmm / fnorm 2 2 Wmm))) /\
  (fnorm 2 2 (Ek (two_axes 1) 0 1) = 1 /\ fnorm 2 2 (Ek (two_axes 1) 1 1) = 1 /\
    fdot 2 2 (Ek (two_axes 1) 0 1) (Ek (two_axes 1) 1 1) = 0 /\ exists Wmm, solution (two_axes 1) Wmm /\
    forall eps, eps < sqrt 2 - 1 -> forall r, 0 < r -> exists W, fnorm 2 2 W = r /\
      (1 + eps) * (weight (two_axes 1) W 1 1 * (gap (two_axes 1) Wmm 1 1 / fnorm 2 2 Wmm))
      < weight (two_axes 1) W 1 1 * (gap (two_axes 1) W 1 1 / fnorm 2 2 W)).
Proof.
  assert (NR : forall r, 0 < r -> fnorm 2 2 (diagonal2 0 r) = r).
  { intros r Hr. unfold fnorm, frob2, diagonal2. cbn [Sum]. replace (_ + _) with (r ^ 2) by ring. apply sqrt_pow2.
    lra. }
  assert (G : forall a x y, gap (two_axes a) (diagonal2 x y) 1 1 = y) by (intros; unfold gap, dot, vminus, matvec;
    simpl; ring).
  assert (MAIN : forall a eps r, 0 < a -> 0 < r -> 1 + eps < fnorm 2 2 (diagonal2 (/ a ^ 2) 1) ->
    (1 + eps) * (weight (two_axes a) (diagonal2 0 r) 1 1 * (gap (two_axes a) (diagonal2 (/ a ^ 2) 1)
      1 1 / fnorm 2 2 (diagonal2 (/ a ^ 2) 1)))
      < weight (two_axes a) (diagonal2 0 r) 1 1 * (gap (two_axes a) (diagonal2 0 r) 1 1 / fnorm 2 2 (diagonal2 0 r))).
  { intros a eps r Ha Hr H. rewrite !G, NR by easy. assert (P := two_axes_proper a Ha).
    assert (PW := weight_pos (two_axes a) (diagonal2 0 r) 1 1 P (proj2 (ts_definition_a2 _ P) eq_refl)
      ltac:(repeat split; simpl; lia)).
    assert (QW : 0 < fnorm 2 2 (diagonal2 (/ a ^ 2) 1)) by apply (solution_pos _ _ P (proj1 (two_axes_solution a Ha))).
    set (w := weight _ _ 1 1) in *. set (x := fnorm 2 2 (diagonal2 (/ a ^ 2) 1)) in *.
    replace (w * (r / r)) with (w * 1) by (field; lra).
      replace ((1 + eps) * (w * (1 / x))) with (w * ((1 + eps) / x)) by (field; lra).
    apply Rmult_lt_compat_l; [easy|]. apply Rmult_lt_reg_r with x; [easy|].
      replace ((1 + eps) / x * x) with (1 + eps) by (field; lra). lra. }
  assert (NW : forall a, 0 < a -> fnorm 2 2 (diagonal2 (/ a ^ 2) 1) = sqrt (1 + (/ a ^ 2) ^ 2)).
  { intros a Ha. unfold fnorm, frob2, diagonal2. cbn [Sum]. f_equal. ring. }
  split.
  - intros eps He. set (a := / sqrt (1 + eps)). assert (S1 : 0 < sqrt (1 + eps)) by (apply sqrt_lt_R0; lra).
    assert (Ha : 0 < a) by now apply Rinv_0_lt_compat.
    assert (A2 : / a ^ 2 = 1 + eps).
    { unfold a. rewrite pow_inv, Rinv_inv. apply pow2_sqrt. lra. }
    exists (two_axes a), (diagonal2 (/ a ^ 2) 1). assert (P := two_axes_proper a Ha).
      assert (S := two_axes_solution a Ha).
    split; [easy|]. do 3 (split; [easy|]). assert (ES := proj2 (ts_definition_a2 _ P) eq_refl). split; [easy|].
      split; [easy|]. split; [easy|].
    split.
    + intros r Hr. exists (diagonal2 0 r). split; [now apply NR|]. split.
      * intros i Hi. assert (Q := phi_from_below (two_axes a) (diagonal2 0 r) i 1 ltac:(simpl; lia)).
        replace (/ 2) with (/ (1 + 1)) by (f_equal; ring).
        apply Q. unfold others. simpl len. cbn [Sum]. simpl. rewrite !Rplus_0_l, <- exp_0. apply exp_le.
        destruct i as [|[|i]]; [| |lia]; unfold gap, dot, vminus, matvec; simpl; nra.
      * apply MAIN; [easy|easy|]. rewrite NW, A2 by easy. apply Rsqr_incrst_0; [|lra|apply sqrt_pos].
        rewrite Rsqr_sqrt; unfold Rsqr; nra.
    + destruct (key_radius (two_axes a) _ (/ 2) eps P ES S ltac:(lra) He) as [R [HR HK]]. exists R. split; [easy|].
      exact HK.
  - split; [unfold fnorm, frob2, Ek; simpl; transitivity (sqrt 1); [f_equal; ring|apply sqrt_1]|].
    split; [unfold fnorm, frob2, Ek; simpl; transitivity (sqrt 1); [f_equal; ring|apply sqrt_1]|].
    split; [unfold fdot, Ek; simpl; ring|].
    exists (diagonal2 (/ 1 ^ 2) 1). split; [apply two_axes_solution; lra|]. intros eps He r Hr. exists (diagonal2 0 r).
    split; [now apply NR|]. apply MAIN; [lra|easy|]. rewrite NW by lra. replace (1 + (/ 1 ^ 2) ^ 2) with 2 by field.
      lra.
Qed.

(** the index of the token of a sample of two that is not optimal; its matrix E_i, gap h_i and weight w_i *)
Definition other (D : data) (i : nat) : nat := (1 - opt D i)%nat.
Definition edge (D : data) (i : nat) : matrix := Ek D i (other D i).
Definition gap_of (D : data) (W : matrix) (i : nat) : R := gap D W i (other D i).
Definition pull_of (D : data) (W : matrix) (i : nat) : R := weight D W i (other D i).

(** one sample of two tokens, and r that are equal to each other *)
Definition with_copies (D : data) (r : nat) : Prop := proper D /\ (1 <= r)%nat /\ num D = S r /\ len D = 2%nat /\
  forall i, (1 <= i)%nat -> (i < num D)%nat -> tok D i = tok D 1%nat /\ lab D i = lab D 1%nat /\ opt D i = opt D 1%nat.

Lemma opt_two D i : proper D -> len D = 2%nat -> (i < num D)%nat -> (opt D i < 2)%nat /\ pair D i (other D i).
Proof.
  intros [_ [_ HP]] HL Hi. destruct (HP i Hi) as [_ [Ho _]]. rewrite HL in Ho. split; [easy|]. unfold other.
  repeat split; rewrite ?HL; lia.
Qed.

Lemma others_two D i f : proper D -> len D = 2%nat -> (i < num D)%nat -> others D i f = f (other D i).
Proof.
  intros P HL Hi. destruct (opt_two D i P HL Hi) as [Ho _]. unfold others, other. rewrite HL. cbn [Sum].
  destruct (opt D i) as [|[|o]]; simpl; [ring|ring|lia].
Qed.

Lemma pairs_copies D r f : with_copies D r -> (forall i, (1 <= i)%nat -> (i < num D)%nat -> f i = f 1%nat) ->
  pairs D f = f 0%nat (other D 0) + INR r * f 1%nat (other D 1).
Proof.
  intros [P [_ [HN [HL HC]]]] Hf. unfold pairs.
  rewrite (Sum_ext _ _ (fun i => f i (other D i))) by (intros; now apply others_two). rewrite HN.
  replace (S r) with (1 + r)%nat by lia. rewrite Sum_split. cbn [Sum]. rewrite Rplus_0_l. f_equal.
  rewrite (Sum_ext r _ (fun _ => f 1%nat (other D 1))); [apply Sum_const|]. intros i Hi. simpl.
  rewrite (Hf (S i)) by lia. unfold other. now rewrite (proj2 (proj2 (HC (S i) ltac:(lia) ltac:(lia)))).
Qed.

Lemma Ek_copies D r i : with_copies D r -> (1 <= i)%nat -> (i < num D)%nat -> Ek D i = Ek D 1.
Proof. intros [_ [_ [_ [_ HC]]]] Hi Hn. destruct (HC i Hi Hn) as [A [_ B]]. unfold Ek. now rewrite A, B. Qed.

Lemma weight_copies D r W i : with_copies D r -> (1 <= i)%nat -> (i < num D)%nat -> weight D W i = weight D W 1.
Proof.
  intros [_ [_ [_ [_ HC]]]] Hi Hn. destruct (HC i Hi Hn) as [A [B C]].
  unfold weight, sample_loss, answer, phi, lead, rest, score. now rewrite A, B, C.
Qed.

Lemma descent_copies D r W a b : with_copies D r ->
  descent D W a b = pull_of D W 0 * edge D 0 a b + INR r * (pull_of D W 1 * edge D 1 a b).
Proof.
  intros C. assert (C' := C). destruct C' as [P [_ [_ [HL _]]]].
    rewrite descent_pairs by (easy || now apply (ts_definition_a2 D P)).
  rewrite (pairs_copies D r) by (easy || (intros; now rewrite (weight_copies D r), (Ek_copies D r))). easy.
Qed.

(** w/(φ (1 − φ)) lies between two constants; φ (1 − φ) = 1 / (2 + e^h + e^{−h}) *)
Definition bump (h : R) : R := / (2 + exp h + exp (- h)).
Definition pull_low (D : data) (i : nat) : R := / INR (num D) * (lead D i * exp (- score D i (opt D i))).
Definition pull_high (D : data) (i : nat) : R := / INR (num D) * (lead D i * exp (- rest D i)).

Lemma bump_pos h : 0 < bump h.
Proof. assert (A := exp_pos h). assert (B := exp_pos (- h)). apply Rinv_0_lt_compat. lra. Qed.

Lemma pull_bounds D W i : proper D -> len D = 2%nat -> (i < num D)%nat ->
  pull_low D i * bump (gap_of D W i) <= pull_of D W i <= pull_high D i * bump (gap_of D W i).
Proof.
  intros P HL Hi. assert (ES := proj2 (ts_definition_a2 D P) HL). destruct (opt_two D i P HL Hi) as [Ho Hp].
  assert (Ho' : (opt D i < len D)%nat) by (rewrite HL; easy).
  assert (PH := phi_opt D W i Ho'). rewrite others_two in PH by easy. fold (gap_of D W i) in PH.
  assert (DP := lead_pos D i P ES Hi). assert (Nn := num_pos D P).
  assert (FB : phi D W i (opt D i) * phi D W i (other D i) = bump (gap_of D W i)).
  { rewrite (phi_gap D W i (other D i)) by lia. fold (gap_of D W i). set (h := gap_of D W i) in *.
    set (p := phi D W i (opt D i)) in *.
    assert (A := exp_pos h). unfold bump. rewrite exp_Ropp in *.
      assert (Hp1 : p = exp h / (exp h + 1)) by (field_simplify_eq; [|lra]; field_simplify_eq in PH; lra).
    rewrite Hp1. field. nra. }
  assert (AB := answer_below D W i Ho'). rewrite others_two in AB by easy. rewrite (ES i (other D i) Hp) in AB.
    fold (lead D i) in AB.
  assert (PO := phi_others D W i Ho'). rewrite others_two in PO by easy. assert (PL := phi_le1 D W i Ho').
  assert (P2 := phi_pos D W i (other D i) ltac:(lia)).
  assert (L1 : exp (- score D i (opt D i)) <= sample_loss D W i) by (apply exp_le; nra).
  assert (L2 : sample_loss D W i <= exp (- rest D i)) by (apply exp_le; unfold lead in *; nra).
  assert (PB := bump_pos (gap_of D W i)).
  replace (pull_of D W i) with (/ INR (num D) * (sample_loss D W i * lead D i) * bump (gap_of D W i))
    by (unfold pull_of, weight; rewrite <- FB; ring).
  unfold pull_low, pull_high. split; (apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_l; [lra|]; nra).
Qed.

(** Feasible matrices that push each other are not opposite. *)
Lemma not_opposite D V A B : 1 <= fdot D D A V -> 1 <= fdot D D B V -> 0 < - fdot D D A B ->
  fdot D D A B ^ 2 < frob2 D D A * frob2 D D B /\ 0 < frob2 D D A /\ 0 < frob2 D D B.
Proof.
  intros HA HB Hc. set (c := - fdot D D A B) in *. set (g := frob2 D D A). set (k := frob2 D D B).
  assert (PA : forall A, 1 <= fdot D D A V -> 0 < frob2 D D A).
  { intros A0 H. assert (Q := fdot_le D D A0 V). assert (Z := frob2_ge0 D D A0). destruct Z as [Z|Z]; [easy|].
    assert (N : fnorm D D A0 = 0) by (unfold fnorm; rewrite <- Z; apply sqrt_0). rewrite N in Q. lra. }
  assert (Pg : 0 < g) by now apply PA. assert (Pk : 0 < k) by now apply PA. split; [|easy].
  replace (fdot D D A B) with (- c) by (unfold c; ring). replace ((- c) ^ 2) with (c ^ 2) by ring.
  set (U := shifted (fun a b => k * A a b) B c).
  assert (NU : frob2 D D U = k * (g * k - c ^ 2)).
  { unfold U. rewrite frob2_shifted. rewrite !frob2_fdot.
    assert (S1 : fdot D D (fun a b => k * A a b) B = - k * c).
    { rewrite (fdot_ext_l D D _ (shifted (fun _ _ => 0) A k)) by (intros; unfold shifted, mplus, mscal; ring).
      rewrite fdot_shifted_l.
      replace (fdot D D (fun _ _ => 0) B) with 0; [unfold c; ring|]. symmetry. unfold fdot.
        rewrite (Sum_ext D _ (fun _ => 0)), Sum_zero; [easy|].
      intros. rewrite (Sum_ext D _ (fun _ => 0)), Sum_zero; [easy|]. intros; ring. }
    rewrite S1, <- !frob2_fdot. assert (S2 : frob2 D D (fun a b => k * A a b) = k ^ 2 * g).
    { unfold g, frob2. rewrite <- Sum_scal. apply Sum_ext. intros. rewrite <- Sum_scal. apply Sum_ext. intros; ring. }
    rewrite S2. fold k. ring. }
  assert (MU : 0 < fdot D D U V).
  { unfold U. rewrite fdot_shifted_l. assert (S1 : fdot D D (fun a b => k * A a b) V = k * fdot D D A V).
    { unfold fdot. rewrite <- Sum_scal. apply Sum_ext. intros. rewrite <- Sum_scal. apply Sum_ext. intros; ring. }
    rewrite S1. nra. }
  assert (Q := fdot_le D D U V). assert (ZU := frob2_ge0 D D U). destruct ZU as [ZU|ZU].
  - rewrite NU in ZU. nra.
  - exfalso. assert (N : fnorm D D U = 0) by (unfold fnorm; rewrite <- ZU; apply sqrt_0). rewrite N in Q. lra.
Qed.

Lemma two_is_copies D : proper D -> num D = 2%nat -> len D = 2%nat -> with_copies D 1.
Proof. intros P HN HL. split; [easy|]. repeat split; try easy; replace i with 1%nat by lia; easy. Qed.

(** a run whose steps are bounded and add up to ∞ *)
Definition bounded_run (D : data) (eta : nat -> R) (W : nat -> matrix) : Prop :=
  run D eta W /\ (exists s, forall t, step_length D W t <= s) /\ is_lim_seq (fun t => Sum t (step_length D W)) p_infty.

Lemma bump_behind h : h <= 0 -> / 4 * exp h <= bump h <= exp h.
Proof.
  intros H. assert (A := exp_pos h). assert (B := exp_pos (- h)).
    assert (C : exp h <= 1) by (rewrite <- exp_0; now apply exp_le).
  assert (F : exp h * exp (- h) = 1) by (rewrite <- exp_plus, <- exp_0; f_equal; ring).
  assert (G : 1 <= exp (- h)) by nra. unfold bump. split.
  - apply Rmult_le_reg_r with (2 + exp h + exp (- h)); [lra|]. rewrite Rinv_l by lra. nra.
  - apply Rmult_le_reg_r with (2 + exp h + exp (- h)); [lra|]. rewrite Rinv_l by lra. nra.
Qed.

Lemma bump_even h : bump (- h) = bump h.
Proof. unfold bump. rewrite Ropp_involutive. f_equal. ring. Qed.

Lemma pull_low_pos D i : proper D -> len D = 2%nat -> (i < num D)%nat -> 0 < pull_low D i.
Proof.
  intros P HL Hi. assert (A := num_pos D P). assert (B := lead_pos D i P (proj2 (ts_definition_a2 D P) HL) Hi).
  assert (C := exp_pos (- score D i (opt D i))). unfold pull_low. apply Rmult_lt_0_compat; [easy|].
    now apply Rmult_lt_0_compat.
Qed.

Lemma pull_high_pos D i : proper D -> len D = 2%nat -> (i < num D)%nat -> 0 < pull_high D i.
Proof.
  intros P HL Hi. assert (A := num_pos D P). assert (B := lead_pos D i P (proj2 (ts_definition_a2 D P) HL) Hi).
  assert (C := exp_pos (- rest D i)). unfold pull_high. apply Rmult_lt_0_compat; [easy|]. now apply Rmult_lt_0_compat.
Qed.

Lemma pull_tool D W i j : proper D -> len D = 2%nat -> (i < num D)%nat -> (j < num D)%nat ->
  gap_of D W i <= 0 <= gap_of D W j ->
  pull_low D i / (4 * pull_high D j) * exp (gap_of D W i + gap_of D W j) * pull_of D W j <= pull_of D W i /\
  pull_of D W i <= 4 * pull_high D i / pull_low D j * exp (gap_of D W i + gap_of D W j) * pull_of D W j.
Proof.
  intros P HL Hi Hj [H1 H2]. destruct (pull_bounds D W i P HL Hi) as [A1 A2].
    destruct (pull_bounds D W j P HL Hj) as [B1 B2].
  set (x := gap_of D W i) in *. set (y := gap_of D W j) in *. destruct (bump_behind x H1) as [C1 C2].
  destruct (bump_behind (- y) ltac:(lra)) as [D1 D2]. rewrite bump_even in D1, D2.
  assert (L1 := pull_low_pos D i P HL Hi). assert (L2 := pull_low_pos D j P HL Hj).
  assert (G1 := pull_high_pos D i P HL Hi). assert (G2 := pull_high_pos D j P HL Hj).
  set (li := pull_low D i) in *. set (lj := pull_low D j) in *. set (hi := pull_high D i) in *.
    set (hj := pull_high D j) in *.
  set (p := pull_of D W i) in *. set (q := pull_of D W j) in *. rewrite exp_plus. assert (EX := exp_pos x).
    assert (EY := exp_pos y).
  assert (EE : exp y * exp (- y) = 1) by (rewrite <- exp_plus, <- exp_0; f_equal; ring). assert (EM := exp_pos (- y)).
  split.
  - assert (Q1 : q <= hj * exp (- y)) by (eapply Rle_trans; [exact B2|]; apply Rmult_le_compat_l; lra).
    assert (Q2 : li * (/ 4 * exp x) <= p) by (eapply Rle_trans; [|exact A1]; apply Rmult_le_compat_l; lra).
    eapply Rle_trans; [|exact Q2]. assert (K : 0 <= li / (4 * hj) * (exp x * exp y)).
    { apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat; lra|]. left. now apply Rmult_lt_0_compat. }
    apply Rle_trans with (li / (4 * hj) * (exp x * exp y) * (hj * exp (- y))); [now apply Rmult_le_compat_l|].
    right. transitivity (li / 4 * exp x * (exp y * exp (- y))); [field; lra|]. rewrite EE. field.
  - assert (Q1 : lj * (/ 4 * exp (- y)) <= q) by (eapply Rle_trans; [|exact B1]; apply Rmult_le_compat_l; lra).
    assert (Q2 : p <= hi * exp x) by (eapply Rle_trans; [exact A2|]; apply Rmult_le_compat_l; lra).
    eapply Rle_trans; [exact Q2|]. assert (K : 0 <= 4 * hi / lj * (exp x * exp y)).
    { apply Rmult_le_pos; [left; apply Rdiv_lt_0_compat; lra|]. left. now apply Rmult_lt_0_compat. }
    apply Rle_trans with (4 * hi / lj * (exp x * exp y) * (lj * (/ 4 * exp (- y)))); [|now apply Rmult_le_compat_l].
    right. transitivity (hi * exp x * (exp y * exp (- y))); [rewrite EE; ring|]. field. lra.
Qed.

(** i and j are the two samples. *)
Definition both (D : data) (i j : nat) : Prop := proper D /\ num D = 2%nat /\ len D = 2%nat /\ (i = 0 /\
  j = 1 \/ i = 1 /\ j = 0)%nat.

Lemma run_gaps D eta W i j : both D i j -> run D eta W -> forall t, gap_of D (W (S t)) i = gap_of D (W t) i +
  frob2 (dim D) (dim D) (edge D i) * (eta t * pull_of D (W t) i) - - fdot (dim D) (dim D) (edge D 0) (edge D 1)
    * (eta t * pull_of D (W t) j).
Proof.
  intros [P [HN [HL HIJ]]] H t. destruct (H t) as [_ E]. unfold gap_of at 1. rewrite E, gap_shifted.
    fold (gap_of D (W t) i).
  assert (Q : gap D (descent D (W t)) i (other D i) = pull_of D (W t) 0 * fdot (dim D) (dim D) (edge D i) (edge D 0)
    + pull_of D (W t) 1 * fdot (dim D) (dim D) (edge D i) (edge D 1)).
  { rewrite (gap_ext D _ (shifted (shifted (fun _ _ => 0) (edge D 0) (pull_of D (W t) 0)) (edge D 1) (pull_of D (W t)
    1))).
    - rewrite !gap_shifted, !gap_Ek. fold (edge D i). replace (fdot (dim D) (dim D) (edge D i) (fun _ _ => 0)) with
      0; [ring|].
      symmetry. unfold fdot. rewrite (Sum_ext _ _ (fun _ => 0)), Sum_zero; [easy|]. intros.
        rewrite (Sum_ext _ _ (fun _ => 0)), Sum_zero; [easy|]. intros; ring.
    - intros a b _ _. rewrite (descent_copies D 1) by (now apply two_is_copies). unfold shifted, mplus, mscal. simpl
      INR. ring. }
  rewrite Q, frob2_fdot. destruct HIJ as [[-> ->]|[-> ->]]; [ring|]. rewrite (fdot_sym _ _ (edge D 1) (edge D 0)). ring.
Qed.

Lemma both_sym D i j : both D i j -> both D j i.
Proof. intros [P [A [B C]]]. split; [easy|split; [easy|split; [easy|lia]]]. Qed.

Lemma run_pushes D eta W i j : both D i j -> bounded_run D eta W ->
  (forall t, 0 < eta t * pull_of D (W t) i) /\
    (forall M, exists t, M < Sum t (fun t => eta t * pull_of D (W t) i) + Sum t (fun t => eta t * pull_of D (W t) j)) /\
  exists b, 0 <= b /\ forall t, gap_of D (W t) i - b <= gap_of D (W (S t)) i.
Proof.
  intros B [H [[s Hs] Hd]]. assert (B' := B). destruct B' as [P [HN [HL HIJ]]].
    assert (ES := proj2 (ts_definition_a2 D P) HL).
  assert (PP : forall k, (k < 2)%nat -> forall t, 0 < eta t * pull_of D (W t) k).
  { intros k Hk t. destruct (H t) as [A _]. apply Rmult_lt_0_compat; [easy|]. apply weight_pos; [easy|easy|].
    apply opt_two; [easy|easy|lia]. }
  split; [intros t; apply PP; lia|]. split.
  - set (K := fnorm (dim D) (dim D) (edge D 0) + fnorm (dim D) (dim D) (edge D 1)).
    assert (K0 := fnorm_ge0 (dim D) (dim D) (edge D 0)). assert (K1 := fnorm_ge0 (dim D) (dim D) (edge D 1)).
    set (di := fun t => eta t * pull_of D (W t) i). set (dj := fun t => eta t * pull_of D (W t) j).
    assert (SU : forall t, Sum t (step_length D W) <= K * (Sum t di + Sum t dj)).
    { intros t. rewrite <- Sum_plus, <- Sum_scal. apply Sum_le. intros x _.
      assert (Q : step_length D W x <= eta x * pull_of D (W x) 0 * fnorm (dim D) (dim D) (edge D 0) + eta x * pull_of
        D (W x)
        1 * fnorm (dim D) (dim D) (edge D 1)).
      { unfold step_length. destruct (H x) as [A E]. assert (A0 := PP 0%nat ltac:(lia) x).
        assert (A1 := PP 1%nat ltac:(lia) x).
        replace (fnorm (dim D) (dim D) (shifted (W (S x)) (W x) (-1))) with (fnorm (dim D) (dim D)
          (shifted (fun a b => eta x * pull_of D (W x) 0 * edge D 0 a b) (edge D 1) (eta x * pull_of D (W x) 1))).
        - eapply Rle_trans; [apply fnorm_shifted|]. rewrite mnorm_scale, !Rabs_pos_eq by lra. lra.
        - unfold fnorm. f_equal. apply frob2_ext. intros a b _ _. rewrite E. unfold shifted, mplus, mscal.
          rewrite (descent_copies D 1) by (now apply two_is_copies).
          simpl INR. ring. }
      assert (A0 := PP 0%nat ltac:(lia) x). assert (A1 := PP 1%nat ltac:(lia) x). unfold di, dj, K.
      destruct HIJ as [[-> ->]|[-> ->]]; nra. }
    intros M. assert (HD := proj1 (lim_p_inf _) Hd ((K + 1) * Rabs M)). destruct HD as [N HN2]. exists N.
      assert (Q := HN2 N (Nat.le_refl N)).
    assert (Q2 := SU N). assert (S0 : 0 <= Sum N di + Sum N dj).
    { apply Rplus_le_le_0_compat; apply Sum_ge0; intros; left; apply PP; lia. }
    assert (Rabs M < Sum N di + Sum N dj) by (apply Rmult_lt_reg_l with (K + 1); unfold K in *; lra).
    assert (U := Rle_abs M). unfold di, dj in *. lra.
  - exists (fnorm (dim D) (dim D) (edge D i) * Rabs s). split; [apply Rmult_le_pos; [apply fnorm_ge0|apply Rabs_pos]|].
    intros t.
    assert (Q : gap_of D (W (S t)) i - gap_of D (W t) i = fdot (dim D) (dim D) (edge D i) (shifted (W (S t)) (W t)
      (-1))).
    { unfold gap_of. rewrite !gap_Ek. fold (edge D i). rewrite fdot_shifted_r. ring. }
    assert (Q2 := fdot_ge (dim D) (dim D) (edge D i) (shifted (W (S t)) (W t) (-1))). assert (Q3 := Hs t).
      unfold step_length in Q3.
    assert (U := Rle_abs s). assert (fnorm (dim D) (dim D) (edge D i) * fnorm (dim D) (dim D) (shifted (W (S t)) (W
      t) (-1))
      <= fnorm (dim D) (dim D) (edge D i) * Rabs s).
    { apply Rmult_le_compat_l; [apply fnorm_ge0|lra]. }
    lra.
Qed.

(** A normalised run from anywhere *)
Lemma normalised_run D W0 : proper D -> equal_scores D ->
  (exists V, separates D V) -> exists eta W, bounded_run D eta W /\ W 0%nat = W0.
Proof.
  intros P ES [V SV]. set (next := fun W => shifted W (descent D W) (/ fnorm (dim D) (dim D) (descent D W))).
  set (W := fun t => Nat.iter t next W0). assert (N : forall t, 0 < fnorm (dim D) (dim D) (descent D (W t))) by (intros;
    now apply (descent_nonzero D _ V)).
  assert (H : run D (fun t => / fnorm (dim D) (dim D) (descent D (W t))) W) by (intros t; split;
    [now apply Rinv_0_lt_compat|easy]).
  assert (S1 : forall t, step_length D W t = 1).
  { intros t. unfold step_length. rewrite (run_step D _ W t H). apply Rinv_l. assert (Q := N t). lra. }
  exists (fun t => / fnorm (dim D) (dim D) (descent D (W t))), W. split; [|easy]. split; [easy|].
    split; [exists 1; intros; rewrite S1; lra|].
  apply (is_lim_seq_ext INR); [|apply is_lim_seq_INR]. intros t.
    rewrite (Sum_ext t _ (fun _ => 1)) by (intros; apply S1). rewrite Sum_const. ring.
Qed.

(** ts-definition-a1-exact
    Covers: the whole statement.
    Reads: for two samples of two tokens with (W-SVM) feasible and c = −⟨E₁, E₂⟩: some run with bounded steps and Σ s_t = ∞ has a gap that tends to −∞ if and only if c > min{‖E₁‖², ‖E₂‖²}. If c > ‖E_j‖² and i is the other sample, there is an open ball of starts W₀ from which every such run has h_i → −∞, and h_j is bounded below along every such run from every start. If c ≤ min{‖E₁‖², ‖E₂‖²}, both gaps of every such run from every start are bounded below.
    Mistake: `<= Rmax (frob2` for `<= Rmin (frob2`
    Mistake: without `(exists V, separates D V) ->`
    Mistake: `m <= gap_of D (W t) i)) /\` for `m <= gap_of D (W t) j)) /\`
*)
Theorem ts_definition_a1_exact : forall D, proper D -> num D = 2%nat -> len D = 2%nat -> (exists V, separates D V) ->
  ((exists eta W k, (k < 2)%nat /\ bounded_run D eta W /\ is_lim_seq (fun t => gap_of D (W t) k) m_infty) <->
    Rmin (frob2 (dim D) (dim D) (edge D 0)) (frob2 (dim D) (dim D) (edge D 1)) < - fdot (dim D) (dim D) (edge D 0)
      (edge D 1)) /\
  (forall i j, (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat ->
    frob2 (dim D) (dim D) (edge D j) < - fdot (dim D) (dim D) (edge D 0) (edge D 1) ->
    (exists W0 r, 0 < r /\ forall eta W, bounded_run D eta W -> fnorm (dim D) (dim D) (shifted (W 0%nat) W0 (-1)) < r ->
      is_lim_seq (fun t => gap_of D (W t) i) m_infty) /\
    (forall eta W, bounded_run D eta W -> exists m, forall t, m <= gap_of D (W t) j)) /\
  (- fdot (dim D) (dim D) (edge D 0) (edge D 1) <= Rmin (frob2 (dim D) (dim D) (edge D 0)) (frob2 (dim D) (dim D)
    (edge D 1)) ->
    forall eta W, bounded_run D eta W -> forall k, (k < 2)%nat -> exists m, forall t, m <= gap_of D (W t) k).
Proof.
  intros D P HN HL [V SV]. set (c := - fdot (dim D) (dim D) (edge D 0) (edge D 1)).
  set (g := fun k => frob2 (dim D) (dim D) (edge D k)). fold (g 0%nat). fold (g 1%nat).
  assert (ES := proj2 (ts_definition_a2 D P) HL).
  assert (SVE : forall k, (k < 2)%nat -> 1 <= fdot (dim D) (dim D) (edge D k) V).
  { intros k Hk. unfold edge. rewrite <- gap_Ek. apply SV, opt_two; [easy|easy|lia]. }
  assert (PD : 0 < c -> c ^ 2 < g 0%nat * g 1%nat /\ 0 < g 0%nat /\ 0 < g 1%nat).
  { intros Pc. destruct (not_opposite (dim D) V (edge D 0) (edge D 1) (SVE 0%nat ltac:(lia)) (SVE 1%nat ltac:(lia))
    Pc) as [A B].
    split; [|easy]. unfold c. replace ((- fdot (dim D) (dim D) (edge D 0) (edge D 1)) ^ 2) with (fdot (dim D) (dim D)
      (edge D 0)
      (edge D 1) ^ 2) by ring. exact A. }
  assert (BOTH : forall i j, (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat -> both D i j) by (intros; split; [easy|split;
    [easy|now split]]).
  assert (GT : forall i j, (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat -> g j < c ->
    c < g i /\ c ^ 2 < g i * g j /\ 0 < g j).
  { intros i j HIJ H. assert (0 <= g j) by apply frob2_ge0. destruct (PD ltac:(lra)) as [A [B C]].
    destruct HIJ as [[-> ->]|[-> ->]]; split; try nra; split; nra. }
  assert (KEPT2 : forall i j, (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat -> g j < c ->
    forall eta W, bounded_run D eta W -> exists m, forall t, m <= gap_of D (W t) j).
  { intros i j HIJ H eta W HW. assert (B := BOTH i j HIJ). destruct (GT i j HIJ H) as [G1 [G2 G3]].
    destruct (run_pushes D eta W i j B HW) as [Pi [Dv _]].
      destruct (run_pushes D eta W j i (both_sym _ _ _ B) HW) as [Pj [_ [b [B0 Bj]]]].
    apply (second_kept (g i) (g j) c (fun t => gap_of D (W t) i) (fun t => gap_of D (W t) j)
      (fun t => eta t * pull_of D (W t) i)
      (fun t => eta t * pull_of D (W t) j) (run_gaps D eta W i j B (proj1 HW))
        (run_gaps D eta W j i (both_sym _ _ _ B) (proj1 HW)) Pi Pj
      (pull_low D j / (4 * pull_high D i)) b); try easy.
    - assert (X := pull_low_pos D j P HL ltac:(lia)). assert (Y := pull_high_pos D i P HL ltac:(lia)).
      apply Rdiv_lt_0_compat; lra.
    - intros t Ht. destruct (pull_tool D (W t) j i P HL ltac:(lia) ltac:(lia) Ht) as [T _].
      destruct (proj1 HW t) as [E _].
      rewrite (Rplus_comm (gap_of D (W t) i)).
      apply (Rmult_le_compat_l (eta t)) in T; lra. }
  assert (LOST : forall i j, (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat -> g j < c ->
    exists W0 r, 0 < r /\ forall eta W, bounded_run D eta W -> fnorm (dim D) (dim D) (shifted (W 0%nat) W0 (-1)) < r ->
      is_lim_seq (fun t => gap_of D (W t) i) m_infty).
  { intros i j HIJ H. assert (B := BOTH i j HIJ). destruct (GT i j HIJ H) as [G1 [G2 G3]].
    set (q := 4 * pull_high D i / pull_low D j). set (k := (c - g j) / (2 * (g i - c))).
    assert (Pq : 0 < q).
    { assert (X := pull_low_pos D j P HL ltac:(lia)). assert (Y := pull_high_pos D i P HL ltac:(lia)).
      apply Rdiv_lt_0_compat; lra. }
    assert (Pk : 0 < k) by (apply Rdiv_lt_0_compat; lra). set (a := Rabs (ln (k / q))).
    assert (A0 : 0 <= a) by apply Rabs_pos. set (det := g i * g j - c ^ 2).
      assert (Pdet : 0 < det) by (unfold det; lra).
    set (z1 := (- (a + 4) * g j + c) / det). set (z2 := (g i - c * (a + 4)) / det).
    set (W0 := shifted (fun a b => z1 * edge D i a b) (edge D j) z2).
    assert (CIJ : fdot (dim D) (dim D) (edge D i) (edge D j) = - c /\ fdot (dim D) (dim D) (edge D j) (edge D i) = - c).
    { destruct HIJ as [[-> ->]|[-> ->]]; split; unfold c; rewrite ?(fdot_sym _ _ (edge D 1)); ring. }
    assert (SC : forall k, fdot (dim D) (dim D) (edge D k) (fun a b => z1 * edge D i a b) = z1 * fdot (dim D) (dim D)
      (edge D k)
      (edge D i)).
    { intros x. unfold fdot. rewrite <- Sum_scal. apply Sum_ext. intros. rewrite <- Sum_scal. apply Sum_ext.
      intros; ring. }
    assert (Gi : gap_of D W0 i = - (a + 4)).
    { unfold gap_of. rewrite gap_Ek. fold (edge D i). unfold W0. rewrite fdot_shifted_r, SC, <- frob2_fdot. fold (g i).
      rewrite (proj1 CIJ).
      unfold z1, z2. transitivity (- (a + 4) * (g i * g j - c ^ 2) / det); [field; lra|]. fold det. field. lra. }
    assert (Gj : gap_of D W0 j = 1).
    { unfold gap_of. rewrite gap_Ek. fold (edge D j). unfold W0. rewrite fdot_shifted_r, SC, <- frob2_fdot. fold (g j).
      rewrite (proj2 CIJ).
      unfold z1, z2. transitivity ((g i * g j - c ^ 2) / det); [field; lra|]. fold det. field. lra. }
    set (e := fnorm (dim D) (dim D) (edge D 0) + fnorm (dim D) (dim D) (edge D 1) + 1).
    assert (E0 := fnorm_ge0 (dim D) (dim D) (edge D 0)). assert (E1 := fnorm_ge0 (dim D) (dim D) (edge D 1)).
    exists W0, (/ e). split; [apply Rinv_0_lt_compat; unfold e; lra|]. intros eta W HW HC.
    assert (NEAR : forall x, (x < 2)%nat -> Rabs (gap_of D (W 0%nat) x - gap_of D W0 x) <= 1).
    { intros x Hx. replace (gap_of D (W 0%nat) x - gap_of D W0 x) with (fdot (dim D) (dim D) (edge D x) (shifted (W
      0%nat) W0 (-1))).
      2:{ unfold gap_of. rewrite !gap_Ek. fold (edge D x). rewrite fdot_shifted_r. ring. }
      eapply Rle_trans; [apply fdot_cauchy|]. assert (N0 := fnorm_ge0 (dim D) (dim D) (shifted (W 0%nat) W0 (-1))).
        apply Rle_trans with (e * / e).
      - apply Rmult_le_compat; try lra; [apply fnorm_ge0|]. destruct x as [|[|x]]; unfold e; [lra|lra|lia].
      - right. apply Rinv_r. unfold e. lra. }
    assert (Ni := NEAR i ltac:(lia)). assert (Nj := NEAR j ltac:(lia)). rewrite Gi in Ni. rewrite Gj in Nj.
    apply Rabs_le_between in Ni. apply Rabs_le_between in Nj.
    destruct (run_pushes D eta W i j B HW) as [Pi [Dv _]].
      destruct (run_pushes D eta W j i (both_sym _ _ _ B) HW) as [Pj _].
    apply (lost (g i) (g j) c (fun t => gap_of D (W t) i) (fun t => gap_of D (W t) j)
      (fun t => eta t * pull_of D (W t) i)
      (fun t => eta t * pull_of D (W t) j) (run_gaps D eta W i j B (proj1 HW))
        (run_gaps D eta W j i (both_sym _ _ _ B) (proj1 HW)) Pj Dv a);
      try easy; try lra.
    intros t Ht Hs. destruct (pull_tool D (W t) i j P HL ltac:(lia) ltac:(lia) Ht) as [_ T]. fold q in T.
      destruct (proj1 HW t) as [E _].
    assert (EK : q * exp (gap_of D (W t) i + gap_of D (W t) j) <= k).
    { apply Rle_trans with (q * (k / q)); [|right; field; lra]. apply Rmult_le_compat_l; [lra|].
      rewrite <- (exp_ln (k / q)) by now apply Rdiv_lt_0_compat. apply exp_le.
      assert (U := Rle_abs (- ln (k / q))). rewrite Rabs_Ropp in U. fold a in U. lra. }
    assert (Pw := Pj t). assert (Pw2 : 0 < pull_of D (W t) j) by (apply Rmult_lt_reg_l with (eta t); lra).
    apply (Rmult_le_compat_r (pull_of D (W t) j)) in EK; [|lra]. fold k.
    assert (pull_of D (W t) i <= k * pull_of D (W t) j) by lra.
    apply (Rmult_le_compat_l (eta t)) in H0; lra. }
  assert (KEPT : c <= Rmin (g 0%nat) (g 1%nat) -> forall eta W, bounded_run D eta W -> forall k, (k < 2)%nat ->
    exists m, forall t, m <= gap_of D (W t) k).
  { intros H eta W HW. assert (H0 : c <= g 0%nat) by (eapply Rle_trans; [exact H|apply Rmin_l]).
    assert (H1 : c <= g 1%nat) by (eapply Rle_trans; [exact H|apply Rmin_r]).
    assert (HG : forall i j, (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat ->
      c <= g i /\ c <= g j) by (intros i j [[-> ->]|[-> ->]]; easy).
    assert (TOOL : forall i j, (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat -> 0 < pull_low D i / (4 * pull_high D j) /\
      forall t, gap_of D (W t) i <= 0 <= gap_of D (W t) j ->
        pull_low D i / (4 * pull_high D j) * exp (gap_of D (W t) i + gap_of D (W t) j) *
        (eta t * pull_of D (W t) j) <= eta t * pull_of D (W t) i).
    { intros i j HIJ. split.
      - assert (X := pull_low_pos D i P HL ltac:(lia)). assert (Y := pull_high_pos D j P HL ltac:(lia)).
        apply Rdiv_lt_0_compat; lra.
      - intros t Ht. destruct (pull_tool D (W t) i j P HL ltac:(lia) ltac:(lia) Ht) as [T _].
        destruct (proj1 HW t) as [E _].
        apply (Rmult_le_compat_l (eta t)) in T; lra. }
    destruct (Rle_lt_dec c 0) as [Hc|Hc].
    - intros k Hk. exists (gap_of D (W 0%nat) k).
      assert (ST : forall i j, (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat ->
      forall t, gap_of D (W 0%nat) i <= gap_of D (W t) i).
      { intros i j HIJ t. assert (B := BOTH i j HIJ). destruct (run_pushes D eta W i j B HW) as [Pi _].
        destruct (run_pushes D eta W j i (both_sym _ _ _ B) HW) as [Pj _].
        induction t as [|t IH]; [lra|]. rewrite (run_gaps D eta W i j B (proj1 HW)). fold (g i). fold c.
          assert (A1 := Pi t). assert (A2 := Pj t).
        assert (0 <= g i) by apply frob2_ge0. nra. }
      intros t. destruct k as [|[|k]]; [apply (ST 0%nat 1%nat); lia|apply (ST 1%nat 0%nat); lia|lia].
    - destruct (PD Hc) as [A [B1 B2]].
      assert (PASS : forall L, exists t, L <= gap_of D (W t) 0 + gap_of D (W t) 1).
      { intros L. assert (Str : c < g 0%nat \/ c < g 1%nat) by (destruct (Rle_lt_dec (g 0%nat) c); [right;
        nra|now left]).
        assert (PS : forall i j, (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat -> c < g i ->
          exists t, L <= gap_of D (W t) i + gap_of D (W t) j).
        { intros i j HIJ G. assert (B := BOTH i j HIJ). destruct (HG i j HIJ) as [_ G2].
          destruct (run_pushes D eta W i j B HW) as [Pi [Dv _]].
            destruct (run_pushes D eta W j i (both_sym _ _ _ B) HW) as [Pj _].
          destruct (TOOL i j HIJ) as [T0 T1].
          now apply (sum_passes (g i) (g j) c (fun t => gap_of D (W t) i) (fun t => gap_of D (W t) j)
            (fun t => eta t * pull_of D (W t) i)
            (fun t => eta t * pull_of D (W t) j) (run_gaps D eta W i j B (proj1 HW))
              (run_gaps D eta W j i (both_sym _ _ _ B) (proj1 HW)) Pi Pj Dv
            (pull_low D i / (4 * pull_high D j)) T0 T1). }
        destruct Str as [Str|Str]; [now apply (PS 0%nat 1%nat); [lia|]|].
        destruct (PS 1%nat 0%nat ltac:(lia) Str) as [t Ht]. exists t. lra. }
      assert (FK : forall i j, (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat -> exists m, forall t, m <= gap_of D (W t) i).
      { intros i j HIJ. assert (B := BOTH i j HIJ). destruct (HG i j HIJ) as [G1 G2].
        destruct (run_pushes D eta W i j B HW) as [Pi [Dv [b [Hb Bi]]]].
          destruct (run_pushes D eta W j i (both_sym _ _ _ B) HW) as [Pj _].
        destruct (TOOL i j HIJ) as [T0 T1].
        destruct (PASS (Rmax 0 (ln (c / g i / (pull_low D i / (4 * pull_high D j)))))) as [t0 Ht0].
        assert (Ht1 : Rmax 0 (ln (c / g i / (pull_low D i / (4 * pull_high D j)))) <= gap_of D (W t0)
          i + gap_of D (W t0) j)
          by (destruct HIJ as [[-> ->]|[-> ->]]; lra).
        now apply (first_kept (g i) (g j) c (fun t => gap_of D (W t) i) (fun t => gap_of D (W t) j)
          (fun t => eta t * pull_of D (W t) i)
            (fun t => eta t * pull_of D (W t) j) (run_gaps D eta W i j B (proj1 HW))
              (run_gaps D eta W j i (both_sym _ _ _ B) (proj1 HW)) Pi Pj
            (pull_low D i / (4 * pull_high D j)) b T0 T1 Hb Bi t0). }
      intros k Hk. destruct k as [|[|k]]; [apply (FK 0%nat 1%nat); lia|apply (FK 1%nat 0%nat); lia|lia]. }
  split; [|split].
  - split.
    + intros [eta [W [k [Hk [HW HL2]]]]]. apply Rnot_le_lt. intros N. destruct (KEPT N eta W HW k Hk) as [m Hm].
      destruct (proj1 (lim_m_inf _) HL2 m) as [T HT]. assert (Q := HT T (Nat.le_refl T)). assert (Q2 := Hm T). lra.
    + intros H. assert (EX : exists i j, (i = 0 /\ j = 1 \/ i = 1 /\ j = 0)%nat /\ g j < c).
      { unfold Rmin in H. destruct (Rle_dec (g 0%nat) (g 1%nat)); [exists 1%nat, 0%nat|exists 0%nat, 1%nat]; split;
        try lia; easy. }
      destruct EX as [i [j [HIJ G]]]. destruct (LOST i j HIJ G) as [W0 [r [Hr HL2]]].
      destruct (normalised_run D W0 P ES) as [eta [W [HW HW0]]]; [now exists V|]. exists eta, W, i. split; [lia|].
        split; [easy|].
      apply (HL2 eta W HW). rewrite HW0. rewrite mnorm_zero; [easy|]. intros. unfold shifted, mplus, mscal. ring.
  - intros i j HIJ H. split; [now apply (LOST i j)|now apply (KEPT2 i j)].
  - exact KEPT.
Qed.

Lemma dot_minus2 d x y z w : dot d (vminus x y) (vminus z w) = dot d x z - dot d x w - dot d y z + dot d y w.
Proof. rewrite dot_minus_l, (dot_sym d x), (dot_sym d y), !dot_minus_l, !(dot_sym d z), !(dot_sym d w). ring. Qed.

(** What condition (A1′) says of inner products of the E_k *)
Lemma own_product D nu M m s1 i t s : overlaps D nu M m s1 -> 3 * nu < m -> proper D -> pair D i t -> pair D i s ->
  (m - 3 * nu) * s1 <= fdot (dim D) (dim D) (Ek D i t) (Ek D i s).
Proof.
  intros [[_ Hnu] [_ [[_ Hm] [[k [_ Es]] Hs]]]] H3 P [Hi [Ht Nt]] [_ [Hs' Ns]]. rewrite <- gram_Ek. unfold gram.
  destruct P as [_ [HT HP]]. destruct (HP i Hi) as [_ [Ho _]].
  assert (A : m <= inner D i (opt D i) i (opt D i)) by (apply Hm; now exists i).
  assert (B : s1 <= inner D i 0 i 0) by (apply Hs; now exists i).
  assert (Z : 0 <= s1) by (rewrite Es; unfold inner; rewrite <- sq_dot; apply sq_ge0).
  assert (X : forall a b, (a < len D)%nat -> (b < len D)%nat -> a <> b -> ~ (a = opt D i /\ b = opt D i) ->
    Rabs (inner D i a i b) <= nu).
  { intros a b Ha Hb N NN. apply Hnu. exists i, a, i, b. repeat split; try easy. congruence. }
  assert (X1 := X (opt D i) s Ho Hs' ltac:(congruence) ltac:(tauto)).
    assert (X2 := X t (opt D i) Ht Ho Nt ltac:(tauto)).
  assert (X3 : - nu <= inner D i t i s).
  { destruct (Nat.eq_dec t s) as [->|N].
    - unfold inner. rewrite <- sq_dot. assert (Q := sq_ge0 (dim D) (tok D i s)).
      assert (Q2 := Rabs_pos (inner D i (opt D i) i s)). lra.
    - assert (Q := X t s Ht Hs' N ltac:(tauto)). apply Rabs_le_between in Q. lra. }
  apply Rabs_le_between in X1. apply Rabs_le_between in X2. fold (inner D i 0 i 0).
  apply Rmult_le_compat; [lra|lra| |easy]. rewrite dot_minus2. unfold inner in *. lra.
Qed.

Lemma product_above nu K d y : - K <= d <= K -> - nu <= y <= nu -> - (nu * K) <= d * y.
Proof.
  intros H1 H2. assert (0 <= (K - d) * (nu + y)) by (apply Rmult_le_pos; lra).
  assert (0 <= (K + d) * (nu - y)) by (apply Rmult_le_pos; lra).
    assert (0 <= (K - d) * (nu - y)) by (apply Rmult_le_pos; lra).
  assert (0 <= (K + d) * (nu + y)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma other_product D nu M m s1 i t j s : overlaps D nu M m s1 -> proper D -> pair D i t -> pair D j s -> i <> j ->
  - (nu * (M + 3 * nu)) <= fdot (dim D) (dim D) (Ek D i t) (Ek D j s).
Proof.
  intros [[_ Hnu] [HM _]] P [Hi [Ht Nt]] [Hj [Hs Ns]] NE. rewrite <- gram_Ek. unfold gram.
  destruct P as [_ [HT HP]]. destruct (HP i Hi) as [_ [Hoi _]]. destruct (HP j Hj) as [_ [Hoj _]].
  assert (X : forall a b, (a < len D)%nat -> (b < len D)%nat -> ~ (a = opt D i /\ b = opt D j) ->
    Rabs (inner D i a j b) <= nu).
  { intros a b Ha Hb N. apply Hnu. exists i, a, j, b. repeat split; try easy. congruence. }
  assert (C : Rabs (inner D i (opt D i) j (opt D j)) <= M).
  { destruct HM as [[H1 _]|[_ HM]]; [lia|]. apply HM. now exists i, j. }
  assert (X1 := X (opt D i) s Hoi Hs ltac:(tauto)). assert (X2 := X t (opt D j) Ht Hoj ltac:(tauto)).
    assert (X3 := X t s Ht Hs ltac:(tauto)).
  set (c := inner D i (opt D i) j (opt D j)) in *.
  set (d := dot (dim D) (vminus (tok D i (opt D i)) (tok D i t)) (vminus (tok D j (opt D j)) (tok D j s))).
  assert (DE : d = c - inner D i (opt D i) j s - inner D i t j (opt D j) + inner D i t j s).
  { unfold d, c, inner. apply dot_minus2. }
  apply Rabs_le_between in X1. apply Rabs_le_between in X2. apply Rabs_le_between in X3.
  assert (N0 : 0 <= nu) by lra. assert (M0 : 0 <= M) by (assert (Q := Rabs_pos c); lra). fold (inner D i 0 j 0).
  destruct (Nat.eq_dec (opt D i) 0) as [Oi|Oi]; [destruct (Nat.eq_dec (opt D j) 0) as [Oj|Oj]|].
  - replace (inner D i 0 j 0) with c by (unfold c; now rewrite Oi, Oj).
    set (z := d - c). assert (Z : - (3 * nu) <= z <= 3 * nu) by (unfold z; lra).
      replace d with (c + z) by (unfold z; ring).
    assert (0 <= (c + z / 2) ^ 2) by apply pow2_ge_0. assert (0 <= nu * M) by now apply Rmult_le_pos.
    assert (0 <= (3 * nu - z) * (3 * nu + z)) by (apply Rmult_le_pos; lra). assert (0 <= nu ^ 2) by apply pow2_ge_0.
      lra.
  - assert (Q := X 0%nat 0%nat ltac:(lia) ltac:(lia) ltac:(intros [_ ?]; congruence)). apply Rabs_le_between in Q.
    apply Rabs_le_between in C.
    apply product_above; lra.
  - assert (Q := X 0%nat 0%nat ltac:(lia) ltac:(lia) ltac:(intros [? _]; congruence)). apply Rabs_le_between in Q.
    apply Rabs_le_between in C.
    apply product_above; lra.
Qed.

Lemma own_others D W i : proper D -> (i < num D)%nat ->
  others D i (weight D W i) = / INR (num D) * (sample_loss D W i * lead D i * (phi D W i (opt D i)
    * (1 - phi D W i (opt D i)))).
Proof.
  intros P Hi. destruct P as [_ [_ HP]]. destruct (HP i Hi) as [_ [Ho _]].
  rewrite <- phi_others by easy. rewrite (others_ext D i _ (fun t => / INR (num D) * (sample_loss D W i * lead D i)
    * phi D W i (opt D i) * phi D W i t)) by easy.
  rewrite others_scal. ring.
Qed.

(** A sample with at most half of its attention right is pushed up by all together. *)
Lemma pushed_up D W low high p nu M m s1 i t : proper D -> equal_scores D -> psi_min D low -> psi_max D high ->
  overlaps D nu M m s1 -> 0 < p -> a1_prime (num D) (high / low) p nu M m s1 -> pair D i t ->
  p <= phi D W i (opt D i) <= / 2 -> 0 <= gap D (descent D W) i t.
Proof.
  intros P ES Hl Hh OV Hp [H3 HA] Hit [Hp1 Hp2]. rewrite gap_Ek, fdot_sym, mdot_descent_pairs by easy.
  assert (Nn := num_pos D P). assert (PL := psi_min_pos D low P Hl). set (N := / INR (num D)) in *.
  assert (IN : 1 <= INR (num D)) by (apply (le_INR 1); apply P).
  set (A := N * ((m - 3 * nu) * s1 * (low * p / 2))). set (B := N * (nu * (M + 3 * nu) * (high / 4))).
  assert (K0 : 0 <= nu * (M + 3 * nu) /\ 0 <= (m - 3 * nu) * s1).
  { assert (OV' := OV). destruct OV' as [[[i1 [t1 [j1 [r1 [_ [_ [_ [_ [_ [_ E1]]]]]]]]]] _] [HM [_ [[k [_ Es]] _]]]].
    assert (0 <= nu) by (rewrite E1; apply Rabs_pos).
    assert (0 <= M) by (destruct HM as [[_ ->]|[[i2 [j2 [_ [_ [_ ->]]]]] _]]; [lra|apply Rabs_pos]).
    assert (0 <= s1) by (rewrite Es; unfold inner; rewrite <- sq_dot; apply sq_ge0). split; nra. }
  assert (F : forall j, (j < num D)%nat -> - B + (if Nat.eqb j i then A + B else 0) <=
    others D j (fun s => weight D W j s * gap D (Ek D i t) j s)).
  { intros j Hj. assert (AB := a_bounds D W low high j P ES Hl Hh Hj). assert (OW := own_others D W j P Hj).
    fold N in OW.
    assert (HPj := proj2 (proj2 P) j Hj). destruct HPj as [_ [Hoj _]]. assert (PJ := phi_le1 D W j Hoj).
    set (a := sample_loss D W j * lead D j) in *. set (ph := phi D W j (opt D j)) in *.
    destruct (Nat.eqb_spec j i) as [->|NE].
    - fold ph in Hp1, Hp2. replace (- B + (A + B)) with A by ring.
      apply Rle_trans with ((m - 3 * nu) * s1 * others D i (weight D W i)).
      + rewrite OW. unfold A. assert (L : low * p / 2 <= a * (ph * (1 - ph))).
        { replace (low * p / 2) with (low * (p * / 2)) by field.
          apply Rmult_le_compat; [lra|lra|lra|]. apply Rmult_le_compat; lra. }
        assert ((m - 3 * nu) * s1 * (low * p / 2) <= (m - 3 * nu) * s1 * (a * (ph * (1 - ph))))
          by (apply Rmult_le_compat_l; lra).
        apply (Rmult_le_compat_l N) in H; lra.
      + rewrite <- others_scal. apply others_le. intros s Hs Ns. assert (Hps : pair D i s) by (repeat split; easy).
        rewrite gap_Ek. assert (Q := own_product D nu M m s1 i s t OV H3 P Hps Hit).
          assert (Q2 := weight_pos D W i s P ES Hps). nra.
    - rewrite Rplus_0_r. apply Rle_trans with (- (nu * (M + 3 * nu)) * others D j (weight D W j)).
      + rewrite OW. unfold B. assert (L : a * (ph * (1 - ph)) <= high * / 4).
        { assert (0 <= (ph - / 2) ^ 2) by apply pow2_ge_0.
          apply Rmult_le_compat; [lra|apply Rmult_le_pos; lra|lra|lra]. }
        assert (nu * (M + 3 * nu) * (a * (ph * (1 - ph))) <= nu * (M + 3 * nu) * (high * / 4))
          by (apply Rmult_le_compat_l; lra).
        apply (Rmult_le_compat_l N) in H; lra.
      + rewrite <- others_scal. apply others_le. intros s Hs Ns. assert (Hps : pair D j s) by (repeat split; easy).
        rewrite gap_Ek. assert (Q := other_product D nu M m s1 j s i t OV P Hps Hit NE).
          assert (Q2 := weight_pos D W j s P ES Hps). nra. }
  eapply Rle_trans; [|apply Sum_le; exact F]. rewrite Sum_plus, Sum_const.
  rewrite (Sum_single (num D) (fun j => if Nat.eqb j i then A + B else 0) i (proj1 Hit)).
  2:{ intros j _ NE. destruct (Nat.eqb_spec j i); easy. }
  rewrite Nat.eqb_refl. assert (G : (INR (num D) - 1) * B <= A); [|lra].
  unfold A, B. apply (Rmult_le_compat_l (N * (low * p / 2))) in HA; [|apply Rmult_le_pos; [lra|]; nra].
  replace (N * (low * p / 2) * ((INR (num D) - 1) * (high / low) / (2 * p) * (nu * (M + 3 * nu)))) with
    ((INR (num D) - 1) * (N * (nu * (M + 3 * nu) * (high / 4)))) in HA by (field; lra). lra.
Qed.

(** ts-lemma-3
    Covers: the whole statement.
    Reads: under Assumption 2 and (A1′) with φ_min < 1/2, if φ_opt ≥ φ_min in all samples at W₀ and all steps of a run have 𝖤 s_t ≤ log((1 − φ_min)/φ_min), then φ_opt ≥ φ_min along the run, and in a step that starts with φ_opt ≤ 1/2 neither φ_opt nor any gap of the sample falls.
    Mistake: without `a1_prime (num D) (high / low) p nu M m s1 ->`
    Mistake: without `(forall t, e * step_length D W t <= ln ((1 - p) / p)) ->`
    Mistake: `phi D (W t) i (opt D i) <= 2 ->` for `phi D (W t) i (opt D i) <= / 2 ->`
*)
Theorem ts_lemma_3 : forall D eta W e low high p nu M m s1, proper D -> equal_scores D -> longest D e ->
  psi_min D low -> psi_max D high -> overlaps D nu M m s1 -> 0 < p < / 2 ->
  a1_prime (num D) (high / low) p nu M m s1 ->
  (forall i, (i < num D)%nat -> p <= phi D (W 0%nat) i (opt D i)) ->
  run D eta W -> (forall t, e * step_length D W t <= ln ((1 - p) / p)) ->
  (forall t i, (i < num D)%nat -> p <= phi D (W t) i (opt D i)) /\
  (forall t i, (i < num D)%nat -> phi D (W t) i (opt D i) <= / 2 ->
    phi D (W t) i (opt D i) <= phi D (W (S t)) i (opt D i) /\
    forall s, pair D i s -> gap D (W t) i s <= gap D (W (S t)) i s).
Proof.
  intros D eta W e low high p nu M m s1 P ES He Hl Hh OV [Hp Hp2] HA H0 H Hs.
  assert (HP := proj2 (proj2 P)).
  assert (UP : forall t i, (i < num D)%nat -> p <= phi D (W t) i (opt D i) <= / 2 ->
    phi D (W t) i (opt D i) <= phi D (W (S t)) i (opt D i) /\ forall s, pair D i s ->
      gap D (W t) i s <= gap D (W (S t)) i s).
  { intros t i Hi HB. destruct (HP i Hi) as [_ [Ho _]]. destruct (H t) as [Eta E].
    assert (G : forall s, pair D i s -> gap D (W t) i s <= gap D (W (S t)) i s).
    { intros s Hps. rewrite E, gap_shifted. assert (Q := pushed_up D (W t)
      low high p nu M m s1 i s P ES Hl Hh OV Hp HA Hps HB). nra. }
    split; [|easy]. assert (Q := phi_opt D (W t) i Ho). assert (Q3 := others_exp_ge0 D (W t) i).
    set (x := others D i (fun s => exp (- gap D (W t) i s))) in *.
    replace (phi D (W t) i (opt D i)) with (/ (1 + x)) by (field_simplify_eq; [|lra]; lra).
    apply phi_from_below; [easy|]. apply others_le. intros s Hs1 Hs2. apply exp_le.
      assert (Q2 := G s ltac:(repeat split; easy)). lra. }
  assert (ALL : forall t i, (i < num D)%nat -> p <= phi D (W t) i (opt D i)).
  { induction t as [|t IH]; [easy|]. intros i Hi. destruct (HP i Hi) as [_ [Ho _]]. assert (Q := IH i Hi).
    destruct (Rle_lt_dec (phi D (W t) i (opt D i)) (/ 2)) as [L|L]; [assert (Q2 := proj1 (UP t i Hi ltac:(lra))); lra|].
    assert (PH := phi_opt D (W t) i Ho). assert (PL := phi_le1 D (W t) i Ho).
    set (x := others D i (fun s => exp (- gap D (W t) i s))) in *. set (ph := phi D (W t) i (opt D i)) in *.
    assert (X1 : x <= 1) by (apply Rnot_lt_le; intros C; nra). assert (X0 : 0 <= x) by apply others_exp_ge0.
    assert (PR : 0 < (1 - p) / p) by (apply Rdiv_lt_0_compat; lra).
    replace p with (/ (1 + (1 - p) / p)) by (field; lra). apply phi_from_below; [easy|].
    apply Rle_trans with ((1 - p) / p * x); [|rewrite <- (Rmult_1_r ((1 - p) / p)) at 2; apply Rmult_le_compat_l; lra].
    unfold x. rewrite <- others_scal. apply others_le. intros s Hs1 Hs2. rewrite <- (exp_ln ((1 - p) / p)) by easy.
    rewrite <- exp_plus. apply exp_le. assert (Hps : pair D i s) by (repeat split; easy).
    assert (GD := gap_abs D (shifted (W (S t)) (W t) (-1)) i s e Hps He). rewrite gap_shifted in GD.
      apply Rabs_le_between in GD.
    assert (Q2 := Hs t). unfold step_length in Q2. lra. }
  split; [easy|]. intros t i Hi HB. apply UP; [easy|]. split; [now apply ALL|easy].
Qed.

(** g = log Σ exp(− h_t) over the tokens of a sample that are not optimal *)
Definition soft (D : data) (W : matrix) (i : nat) : R := ln (others D i (fun t => exp (- gap D W i t))).

Lemma soft_exp D W i : proper D -> (i < num D)%nat -> exp (soft D W i) = others D i (fun t => exp (- gap D W i t)).
Proof.
  intros P Hi. apply exp_ln. destruct (some_pair D i P Hi) as [t Ht].
    eapply Rlt_le_trans; [|apply (others_exp_pos D W i t Ht)]. apply exp_pos.
Qed.

(** g is convex: it lies above its tangent. *)
Lemma soft_tangent D W V i : proper D -> (i < num D)%nat ->
  soft D W i - others D i (fun t => exp (- gap D W i t) * (gap D V i t - gap D W i t)) / exp (soft D W i) <= soft D V i.
Proof.
  intros P Hi. assert (SW := soft_exp D W i P Hi). assert (SVx := soft_exp D V i P Hi).
    set (mu := _ / exp (soft D W i)).
  assert (Pw := exp_pos (soft D W i)). assert (Q : exp (soft D W i - mu) <= exp (soft D V i)).
  { rewrite SVx. unfold Rminus at 1. rewrite exp_plus, SW.
    apply Rle_trans with (others D i (fun t => exp (- mu) * (1 + mu) * exp (- gap D W i t) + - exp (- mu)
      * (exp (- gap D W i t) * (gap D V i t - gap D W i t)))).
    - rewrite others_plus, !others_scal, <- SW.
      replace (others D i (fun t => exp (- gap D W i t) * (gap D V i t - gap D W i t))) with (mu * exp (soft D W i))
        by (unfold mu; field; lra). right. ring.
    - apply others_le. intros t _ _. set (x := gap D V i t - gap D W i t).
      replace (- gap D V i t) with (- gap D W i t + (- mu + (mu - x))) by (unfold x; ring).
      rewrite !exp_plus. assert (A := exp_pos (- gap D W i t)). assert (B := exp_pos (- mu)).
        assert (C := exp_ineq1_le (mu - x)).
      assert (0 <= exp (- gap D W i t) * (exp (- mu) * (exp (mu - x) - (1 + (mu - x))))) by (apply three_ge0; lra).
        lra. }
  apply Rnot_lt_le. intros N. apply exp_increasing in N. lra.
Qed.

Lemma soft_lipschitz D W V i e : proper D -> longest D e -> (i < num D)%nat ->
  soft D V i <= soft D W i + e * fnorm (dim D) (dim D) (shifted V W (-1)).
Proof.
  intros P He Hi. set (x := e * fnorm (dim D) (dim D) (shifted V W (-1))). assert (Q : exp (soft D V i) <= exp (soft
    D W i + x)).
  { rewrite exp_plus, !soft_exp by easy. rewrite Rmult_comm, <- others_scal. apply others_le. intros t Ht Hn.
    rewrite <- exp_plus. apply exp_le.
    assert (G := gap_abs D (shifted V W (-1)) i t e ltac:(repeat split; easy) He). rewrite gap_shifted in G.
      apply Rabs_le_between in G. fold x in G. lra. }
  apply Rnot_lt_le. intros N. apply exp_increasing in N. lra.
Qed.

Lemma soft_raised D W Wmm a i : proper D -> separates D Wmm -> 0 <= a -> (i < num D)%nat ->
  soft D (shifted W Wmm a) i <= soft D W i - a.
Proof.
  intros P Sep Ha Hi. assert (Q : exp (soft D (shifted W Wmm a) i) <= exp (soft D W i - a)).
  { unfold Rminus. rewrite exp_plus, !soft_exp by easy. rewrite Rmult_comm, <- others_scal. apply others_le.
    intros t Ht Hn. rewrite <- exp_plus. apply exp_le.
    rewrite gap_shifted. assert (G := Sep i t ltac:(repeat split; easy)). nra. }
  apply Rnot_lt_le. intros N. apply exp_increasing in N. lra.
Qed.

(** ts-definition-a1-single
    Covers: the whole statement.
    Reads: for one sample under Assumption 2 with (W-SVM) feasible and g = log Σ exp(− h_t), φ_opt = 1/(1 + e^g), and every run with steps of length at most s̄ has g(W_t) ≤ g(W₀) + ½ 𝖤 s̄ (𝖤‖W_mm‖ − 1) for all t.
    Mistake: `/ 4 * e * s` for `/ 2 * e * s`
    Mistake: `(num D <= 2)%nat` for `num D = 1%nat`
*)
Theorem ts_definition_a1_single : forall D e s Wmm eta W, proper D -> num D = 1%nat -> equal_scores D -> longest D e ->
  solution D Wmm -> run D eta W -> (forall t, step_length D W t <= s) -> forall t,
  phi D (W t) 0 (opt D 0%nat) = / (1 + exp (soft D (W t) 0)) /\
  soft D (W t) 0 <= soft D (W 0%nat) 0 + / 2 * e * s * (e * fnorm (dim D) (dim D) Wmm - 1).
Proof.
  intros D e s Wmm eta W P HN ES He Sol H Hs. assert (H0 : (0 < num D)%nat) by lia.
    assert (HP := proj2 (proj2 P) 0%nat H0).
  destruct HP as [_ [Ho _]]. assert (PW := solution_pos D Wmm P (proj1 Sol)). set (d := dim D) in *.
    set (w := fnorm d d Wmm) in *.
  assert (E0 : 0 <= e) by (destruct He as [[i [t [_ ->]]] _]; apply fnorm_ge0).
  assert (S0 : 0 <= s) by (eapply Rle_trans; [apply fnorm_ge0|apply (Hs 0%nat)]).
  set (a := / 2 * e * s). assert (A0 : 0 <= a) by (unfold a; apply Rmult_le_pos; [lra|easy]).
  (* a step from where g exceeds its value at Z by a does not leave Z further behind *)
  assert (STEP : forall t Z, soft D Z 0 + a <= soft D (W t) 0 ->
    fnorm d d (shifted (W (S t)) Z (-1)) <= fnorm d d (shifted (W t) Z (-1))).
  { intros t Z HZ. assert (T := soft_tangent D (W t) Z 0 P H0). set (X := others D 0 _) in T.
    assert (PS := exp_pos (soft D (W t) 0)).
    set (k := pairs D (weight D (W t))). assert (Pk : 0 < k) by now apply weights_pos.
    assert (MD : fdot d d (descent D (W t)) (shifted Z (W t) (-1)) = k * (X / exp (soft D (W t) 0))).
    { unfold d. rewrite mdot_descent_pairs by easy. unfold k, pairs. rewrite HN. cbn [Sum]. rewrite !Rplus_0_l.
      assert (WF : forall x, weight D (W t) 0 x = / INR (num D) * (sample_loss D (W t) 0 * lead D 0) * phi D (W t)
        0 (opt D 0%nat) ^ 2 * exp (- gap D (W t) 0 x)).
      { intros x. unfold weight. rewrite (phi_gap D (W t) 0 x) by lia. ring. }
      set (cc := / INR (num D) * (sample_loss D (W t) 0 * lead D 0) * phi D (W t) 0 (opt D 0%nat) ^ 2) in *.
      rewrite (others_ext D 0 (weight D (W t) 0) (fun x => cc * exp (- gap D (W t) 0 x))) by (intros; apply WF).
      rewrite others_scal, <- soft_exp by easy. unfold X.
      rewrite (others_ext D 0 _ (fun x => cc * (exp (- gap D (W t) 0 x) * (gap D Z 0 x - gap D (W t) 0 x)))).
      - rewrite others_scal. field. lra.
      - intros x _ _. rewrite WF, gap_shifted. ring. }
    set (y := X / exp (soft D (W t) 0)) in *. assert (Y : a <= y) by lra. destruct (H t) as [Eta E].
    set (G := descent D (W t)) in *. assert (LG := descent_length D (W t) e P ES He). fold G k d in LG.
    assert (SL := Hs t). unfold step_length in SL. rewrite (run_step D eta W t H) in SL. fold G d in SL.
    apply fnorm_le. rewrite (frob2_ext d d (shifted (W (S t)) Z (-1)) (shifted (shifted (W t) Z (-1)) G (eta t)))
      by (intros; rewrite E; unfold shifted, mplus, mscal; ring).
    rewrite frob2_shifted. assert (CR : fdot d d (shifted (W t) Z (-1)) G = - (k * y)).
    { rewrite <- MD, (fdot_sym d d G), !fdot_shifted_l. ring. }
    rewrite CR, <- (fnorm_sq d d G). set (n := fnorm d d G) in *. assert (N0 : 0 <= n) by apply fnorm_ge0.
    assert (Q1 : (eta t * n) * (eta t * n) <= (eta t * n) * s) by (apply Rmult_le_compat_l; [apply Rmult_le_pos;
      lra|easy]).
    assert (Q2 : eta t * n * s <= eta t * (k * e) * s) by (apply Rmult_le_compat_r; [easy|]; apply Rmult_le_compat_l;
      lra).
    assert (Q3 : eta t * k * a <= eta t * k * y) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|easy]).
      unfold a in Q3. lra. }
  assert (NZ : forall V, fnorm d d (shifted V (shifted V Wmm a) (-1)) = a * w).
  { intros V. unfold w. rewrite <- (Rabs_pos_eq a A0) at 2. rewrite <- mnorm_scale. unfold fnorm. f_equal.
    rewrite !frob2_fdot.
    transitivity (frob2 d d (fun i j => - (a * Wmm i j))); [rewrite <- frob2_fdot; apply frob2_ext; intros;
      unfold shifted, mplus, mscal; ring|].
    rewrite <- frob2_fdot. unfold frob2. apply Sum_ext. intros. apply Sum_ext. intros. ring. }
  assert (INV : forall t, exists V, soft D V 0 <= soft D (W 0%nat) 0 /\
    fnorm d d (shifted (W t) (shifted V Wmm a) (-1)) <= a * w).
  { induction t as [|t [V [V1 V2]]]; [exists (W 0%nat); rewrite NZ; lra|].
    destruct (Rle_lt_dec (soft D (W t) 0) (soft D (W 0%nat) 0)) as [L|L].
    - exists (W t). split; [easy|]. eapply Rle_trans; [apply STEP|rewrite NZ; lra].
      assert (Q := soft_raised D (W t) Wmm a 0 P (proj1 Sol) A0 H0). lra.
    - exists V. split; [easy|]. eapply Rle_trans; [apply STEP|exact V2].
      assert (Q := soft_raised D V Wmm a 0 P (proj1 Sol) A0 H0). lra. }
  intros t. split.
  - rewrite soft_exp by easy. assert (Q := phi_opt D (W t) 0 Ho). assert (Q2 := others_exp_ge0 D (W t) 0).
    set (x := others D 0 (fun x => exp (- gap D (W t) 0 x))) in *. field_simplify_eq; [lra|lra].
  - destruct (INV t) as [V [V1 V2]]. assert (Q := soft_lipschitz D (shifted V Wmm a) (W t) 0 e P He H0). fold d in Q.
    assert (Q2 := soft_raised D V Wmm a 0 P (proj1 Sol) A0 H0).
    assert (e * fnorm d d (shifted (W t) (shifted V Wmm a) (-1)) <= e * (a * w)) by (apply Rmult_le_compat_l; easy).
      fold a.
      lra.
Qed.
