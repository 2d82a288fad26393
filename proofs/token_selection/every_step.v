(** Every step of descent gains on the goal; the key lemma; who can be lost among two samples of two tokens. *)
Require Import Reals Lra Lia Psatz Arith.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.shortest base.samples.
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

Lemma gap_abs D W i t e : pair D i t -> longest D e -> Rabs (gap D W i t) <= e * mnorm (dim D) W.
Proof.
  intros Hp [_ He]. rewrite gap_Ek. eapply Rle_trans; [apply mcauchy|]. apply Rmult_le_compat_r; [apply mnorm_ge0|].
  apply He. now exists i, t.
Qed.

Lemma exp_le a b : a <= b -> exp a <= exp b.
Proof. intros [H| ->]; [left; now apply exp_increasing|lra]. Qed.

Lemma start_weight D W e i : proper D -> longest D e -> (i < num D)%nat ->
  / (1 + (INR (len D) - 1) * exp (e * mnorm (dim D) W)) <= phi D W i (opt D i).
Proof.
  intros P He Hi. destruct P as [_ [HT HP]]. destruct (HP i Hi) as [_ [Ho _]]. apply phi_from_below; [easy|].
  rewrite <- (others_const D i) by easy. apply others_le. intros t Ht Hn.
  assert (Q := gap_abs D W i t e ltac:(repeat split; easy) He). apply Rabs_le_between in Q. apply exp_le. lra.
Qed.

Lemma exp_ln2 x : x <= ln 2 -> exp x <= 2.
Proof. intros H. rewrite <- (exp_ln 2) by lra. now apply exp_le. Qed.

(** one sample in ℝ: the optimal token 1, which asks, and T − 1 tokens 0 *)
Definition equal_tokens (T : nat) : data := Data 1 T 1 (fun _ t _ => if Nat.eqb t 0 then 1 else 0) (fun _ => 1) (fun _ => 1) (fun _ => 0%nat).

(** ts-lemma-2-sharp
    Covers: the whole statement.
    Reads: with 𝖤 = max ‖E_k‖, φ_opt ≥ 1/(1 + (T − 1) exp(𝖤‖W‖)) for every W and sample; for every T ≥ 2 and every r ≥ 0 some data and W with 𝖤‖W‖ = r attain it; and 𝖤‖W‖ ≤ log 2 gives φ_opt ≥ 1/(2T − 1).
    Mistake: `/ (1 + / 2 * (INR (len D) - 1) * exp (e * mnorm (dim D) W))` for `/ (1 + (INR (len D) - 1) * exp (e * mnorm (dim D) W))`
    Mistake: `/ (INR (len D) - 1) <= phi` for `/ (2 * INR (len D) - 1) <= phi`
*)
Theorem ts_lemma_2_sharp :
  (forall D W e i, proper D -> longest D e -> (i < num D)%nat ->
    / (1 + (INR (len D) - 1) * exp (e * mnorm (dim D) W)) <= phi D W i (opt D i) /\
    (e * mnorm (dim D) W <= ln 2 -> / (2 * INR (len D) - 1) <= phi D W i (opt D i))) /\
  (forall T r, (2 <= T)%nat -> 0 <= r -> exists D W e, proper D /\ len D = T /\ longest D e /\ e * mnorm (dim D) W = r /\
    phi D W 0 (opt D 0%nat) = / (1 + (INR T - 1) * exp r)).
Proof.
  split.
  - intros D W e i P He Hi. assert (Q := start_weight D W e i P He Hi). split; [easy|]. intros H. eapply Rle_trans; [|exact Q].
    assert (2 <= INR (len D)) by (apply (le_INR 2); apply P). apply exp_ln2 in H.
    assert (0 < exp (e * mnorm (dim D) W)) by apply exp_pos. apply Rinv_le_contravar; nra.
  - intros T r HT Hr. exists (equal_tokens T), (fun _ _ => - r), 1. set (D := equal_tokens T).
    assert (PK : forall i t, pair D i t -> (0 < t)%nat) by (intros i t [_ [_ N]]; simpl in N; lia).
    assert (EK : forall i t, pair D i t -> Ek D i t 0%nat 0%nat = 1).
    { intros i t Hp. apply PK in Hp. unfold Ek. simpl. destruct t; [lia|]. simpl. ring. }
    assert (PD : proper D).
    { split; [simpl; lia|split; [easy|]]. intros i Hi. split; [left; easy|split; [simpl; lia|]]. intros t Hp. apply PK in Hp.
      unfold score, dot. simpl. destruct t; [lia|]. simpl. lra. }
    split; [easy|]. split; [easy|]. split; [split|split].
    + exists 0%nat, 1%nat. assert (Hp : pair D 0 1) by (repeat split; simpl; lia). split; [easy|].
      unfold mnorm, frob2. simpl dim. cbn [Sum]. rewrite (EK 0%nat 1%nat Hp). replace (0 + (0 + 1 ^ 2)) with 1 by ring. now rewrite sqrt_1.
    + intros x [i [t [Hp ->]]]. unfold mnorm, frob2. simpl dim. cbn [Sum]. rewrite (EK i t Hp).
      replace (0 + (0 + 1 ^ 2)) with 1 by ring. rewrite sqrt_1. lra.
    + unfold mnorm, frob2. simpl dim. cbn [Sum]. replace (0 + (0 + (- r) ^ 2)) with (r ^ 2) by ring. rewrite sqrt_pow2 by easy. ring.
    + assert (Q := phi_opt D (fun _ _ => - r) 0 ltac:(simpl; lia)). rewrite (others_ext D 0 _ (fun _ => exp r)) in Q.
      * rewrite others_const in Q by (simpl; lia). simpl len in Q. assert (2 <= INR T) by (apply (le_INR 2); easy).
        assert (0 < exp r) by apply exp_pos. assert (0 < 1 + (INR T - 1) * exp r) by nra.
        apply Rmult_eq_reg_r with (1 + (INR T - 1) * exp r); [|lra]. rewrite Rinv_l by lra. exact Q.
      * intros t Ht Hn. f_equal. rewrite gap_Ek. unfold mdot. simpl dim. cbn [Sum]. rewrite EK by (repeat split; simpl; lia || easy). ring.
Qed.

Lemma mnorm_Ek D i t : mnorm (dim D) (Ek D i t) = vnorm (dim D) (vminus (tok D i (opt D i)) (tok D i t)) * vnorm (dim D) (tok D i 0%nat).
Proof.
  unfold mnorm, vnorm. rewrite <- sqrt_mult by apply sq_ge0. f_equal.
  transitivity (frob2 (dim D) (dim D) (fun a b => 1 * (vminus (tok D i (opt D i)) (tok D i t) a * tok D i 0%nat b))).
  - apply frob2_ext. intros. unfold Ek, vminus. ring.
  - rewrite frob2_rank1. ring.
Qed.

Lemma norm_triangle_minus d x y : vnorm d (vminus x y) <= vnorm d x + vnorm d y.
Proof.
  replace (vnorm d (vminus x y)) with (vnorm d (vplus x (vscal (-1) y))).
  - eapply Rle_trans; [apply norm_triangle|]. rewrite norm_scal. replace (Rabs (-1)) with 1; [lra|].
    rewrite Rabs_left; lra.
  - unfold vnorm, sq. f_equal. apply Sum_ext. intros. unfold vplus, vminus, vscal. ring.
Qed.

Lemma Ek_tokens D B i t : proper D -> (forall j s, (j < num D)%nat -> (s < len D)%nat -> vnorm (dim D) (tok D j s) <= B) ->
  pair D i t -> mnorm (dim D) (Ek D i t) <= 2 * B ^ 2.
Proof.
  intros [_ [HT HP]] HB [Hi [Ht Hn]]. rewrite mnorm_Ek. destruct (HP i Hi) as [_ [Ho _]].
  assert (A := norm_triangle_minus (dim D) (tok D i (opt D i)) (tok D i t)).
  assert (A1 := HB i (opt D i) Hi Ho). assert (A2 := HB i t Hi Ht). assert (A3 := HB i 0%nat Hi ltac:(lia)).
  assert (A4 := norm_ge0 (dim D) (tok D i 0%nat)). assert (A5 := norm_ge0 (dim D) (vminus (tok D i (opt D i)) (tok D i t))).
  replace (2 * B ^ 2) with ((2 * B) * B) by ring. apply Rmult_le_compat; lra.
Qed.

Lemma longest_exists D : proper D -> exists e, longest D e.
Proof.
  intros P. destruct (pair_least D (fun i t => - mnorm (dim D) (Ek D i t)) P) as [i [t [Hp M]]].
  exists (mnorm (dim D) (Ek D i t)). split; [now exists i, t|]. intros x [j [s [Hq ->]]]. assert (Q := M j s Hq). lra.
Qed.

(** ts-lemma-2
    Covers: a part: the first sentence; on the page: the Gaussian start.
    Reads: if all tokens have norm at most B and 2B²‖W₀‖ ≤ log 2, then φ_opt ≥ 1/(2T) for every sample.
    Mistake: `/ INR (len D) <=` for `/ (2 * INR (len D)) <=`
    Mistake: without `2 * B ^ 2 * mnorm (dim D) W0 <= ln 2 ->`
*)
Theorem ts_lemma_2 : forall D B W0, proper D ->
  (forall i t, (i < num D)%nat -> (t < len D)%nat -> vnorm (dim D) (tok D i t) <= B) ->
  2 * B ^ 2 * mnorm (dim D) W0 <= ln 2 ->
  forall i, (i < num D)%nat -> / (2 * INR (len D)) <= phi D W0 i (opt D i).
Proof.
  intros D B W0 P HB H i Hi. destruct (longest_exists D P) as [e He]. destruct ts_lemma_2_sharp as [Q _].
  destruct (Q D W0 e i P He Hi) as [_ Q2]. assert (2 <= INR (len D)) by (apply (le_INR 2); apply P).
  eapply Rle_trans; [|apply Q2].
  - apply Rinv_le_contravar; lra.
  - eapply Rle_trans; [|exact H]. apply Rmult_le_compat_r; [apply mnorm_ge0|]. destruct He as [[j [s [Hq ->]]] _].
    now apply Ek_tokens.
Qed.

Lemma delta_pos D i : proper D -> equal_scores D -> (i < num D)%nat -> 0 < delta D i.
Proof. intros P ES. now apply (ts_definition_a2 D P). Qed.

Lemma weight_pos D W i t : proper D -> equal_scores D -> pair D i t -> 0 < weight D W i t.
Proof.
  intros P ES Hp. assert (HT : (0 < len D)%nat) by (destruct P as [_ [HT _]]; lia). unfold weight.
  assert (A := num_pos D P). assert (B := delta_pos D i P ES (proj1 Hp)). assert (C := phi_pos D W i (opt D i) HT).
  assert (C2 := phi_pos D W i t HT). assert (C3 : 0 < sample_loss D W i) by apply exp_pos.
  apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [easy|now apply Rmult_lt_0_compat]|]|]; easy.
Qed.

Lemma weights_pos D W : proper D -> equal_scores D -> 0 < pairs D (weight D W).
Proof.
  intros P ES. destruct (some_pair D 0 P) as [t Ht]; [destruct P; lia|].
  eapply Rlt_le_trans; [apply (weight_pos D W 0 t P ES Ht)|]. apply pairs_term; [easy|].
  intros j s Hq. left. now apply weight_pos.
Qed.

Lemma mdot_descent_pairs D W V : proper D -> equal_scores D ->
  mdot (dim D) (descent D W) V = pairs D (fun i t => weight D W i t * gap D V i t).
Proof.
  intros P ES. rewrite (mdot_ext _ _ (fun a b => pairs D (fun i t => weight D W i t * Ek D i t a b)))
    by (intros; now apply descent_pairs).
  rewrite mdot_pairs. apply pairs_ext. intros. now rewrite gap_Ek.
Qed.

Lemma descent_gain D W V : proper D -> equal_scores D -> separates D V -> pairs D (weight D W) <= mdot (dim D) (descent D W) V.
Proof.
  intros P ES S. rewrite mdot_descent_pairs by easy. apply pairs_le. intros i t Hp. assert (Q := S i t Hp).
  assert (Q2 := weight_pos D W i t P ES Hp). nra.
Qed.

Lemma descent_length D W e : proper D -> equal_scores D -> longest D e -> mnorm (dim D) (descent D W) <= pairs D (weight D W) * e.
Proof.
  intros P ES [_ He]. replace (mnorm (dim D) (descent D W)) with (mnorm (dim D) (fun a b => pairs D (fun i t => weight D W i t * Ek D i t a b))).
  - apply mnorm_pairs. intros i t Hp. split; [left; now apply weight_pos|]. apply He. now exists i, t.
  - unfold mnorm. f_equal. apply frob2_ext. intros. symmetry. now apply descent_pairs.
Qed.

Lemma descent_nonzero D W V : proper D -> equal_scores D -> separates D V -> 0 < mnorm (dim D) (descent D W).
Proof.
  intros P ES S. assert (A := descent_gain D W V P ES S). assert (B := weights_pos D W P ES).
  assert (C := mdot_le (dim D) (descent D W) V). assert (F := mnorm_ge0 (dim D) (descent D W)).
  destruct F as [F|F]; [easy|]. rewrite <- F in C. lra.
Qed.

(** ts-lemma-4
    Covers: the whole statement.
    Reads: under Assumption 2, if ⟨E_k, W′⟩ ≥ 1 for all k, then at every W ⟨−∇𝓛, W′⟩ ≥ Σ w_k = (1/n) Σ a_i φ_opt (1 − φ_opt) > 0 with a_i = ℓ_i Δ_i, ‖∇𝓛‖ ≤ 𝖤 Σ w_k, and descent is not 0 and has a cosine of at least 1/(𝖤‖W_mm‖) with W_mm.
    Mistake: `2 * pairs D (weight D W) <= mdot` for `pairs D (weight D W) <= mdot`
    Mistake: `2 / (e * mnorm (dim D) Wmm)` for `/ (e * mnorm (dim D) Wmm)`
    Mistake: `<= / 2 * e * pairs D (weight D W)` for `<= e * pairs D (weight D W)`
*)
Theorem ts_lemma_4 : forall D W e, proper D -> equal_scores D -> longest D e ->
  (forall V, separates D V -> pairs D (weight D W) <= mdot (dim D) (descent D W) V) /\
  pairs D (weight D W) = / INR (num D) * Sum (num D) (fun i =>
    sample_loss D W i * delta D i * phi D W i (opt D i) * (1 - phi D W i (opt D i))) /\
  0 < pairs D (weight D W) /\
  mnorm (dim D) (descent D W) <= e * pairs D (weight D W) /\
  (forall Wmm, solution D Wmm -> 0 < mnorm (dim D) (descent D W) /\
    / (e * mnorm (dim D) Wmm) <= corr (dim D) (descent D W) Wmm).
Proof.
  intros D W e P ES He. assert (L := descent_length D W e P ES He). split; [|split; [|split; [|split]]].
  - intros V S. now apply descent_gain.
  - unfold pairs. rewrite <- Sum_scal. apply Sum_ext. intros i Hi. destruct P as [_ [_ HP]]. destruct (HP i Hi) as [_ [Ho _]].
    rewrite <- phi_others by easy. rewrite <- Rmult_assoc, <- others_scal. apply others_ext. intros. unfold weight. ring.
  - now apply weights_pos.
  - lra.
  - intros Wmm S. assert (N := descent_nonzero D W Wmm P ES (proj1 S)). split; [easy|].
    assert (PW := solution_pos D Wmm P (proj1 S)). assert (G := descent_gain D W Wmm P ES (proj1 S)).
    assert (E0 : 0 < e) by (assert (B := weights_pos D W P ES); nra).
    unfold corr. set (x := mnorm (dim D) (descent D W)) in *. set (w := mnorm (dim D) Wmm) in *.
    apply Rmult_le_reg_r with (x * w); [now apply Rmult_lt_0_compat|].
    replace (mdot (dim D) (descent D W) Wmm / (x * w) * (x * w)) with (mdot (dim D) (descent D W) Wmm) by (field; lra).
    eapply Rle_trans; [|exact G]. apply Rmult_le_reg_r with e; [easy|].
    replace (/ (e * w) * (x * w) * e) with x by (field; lra). easy.
Qed.

Lemma run_step D eta W t : run D eta W -> mnorm (dim D) (madd (W (S t)) (-1) (W t)) = eta t * mnorm (dim D) (descent D (W t)).
Proof.
  intros H. destruct (H t) as [A B]. rewrite B. rewrite <- (Rabs_pos_eq (eta t)) at 2 by lra. rewrite <- mnorm_scale. unfold mnorm. f_equal. apply frob2_ext.
  intros. unfold madd. ring.
Qed.

(** ts-lemma-5
    Covers: the whole statement.
    Reads: under Assumption 2, with S_t = Σ s_τ over τ < t, ρ* = 1/(𝖤‖W_mm‖) and Ŵ = W_mm/‖W_mm‖, every run has ρ* S_t − ‖W₀‖ ≤ ⟨W_t, Ŵ⟩ ≤ ‖W_t‖ ≤ S_t + ‖W₀‖; for normalised descent, η_t = η/‖∇𝓛(W_t)‖, S_t = ηt.
    Mistake: `2 / (e * mnorm (dim D) Wmm)` for `/ (e * mnorm (dim D) Wmm)`
    Mistake: `/ 2 * Sum t (step_length D W) + mnorm (dim D) (W 0%nat)` for `Sum t (step_length D W) + mnorm (dim D) (W 0%nat)`
*)
Theorem ts_lemma_5 : forall D e Wmm eta W, proper D -> equal_scores D -> longest D e -> solution D Wmm -> run D eta W ->
  (forall t, / (e * mnorm (dim D) Wmm) * Sum t (step_length D W) - mnorm (dim D) (W 0%nat)
      <= mdot (dim D) (W t) Wmm / mnorm (dim D) Wmm <= mnorm (dim D) (W t) /\
    mnorm (dim D) (W t) <= Sum t (step_length D W) + mnorm (dim D) (W 0%nat)) /\
  (forall c, (forall t, eta t = c / mnorm (dim D) (descent D (W t))) -> forall t, Sum t (step_length D W) = c * INR t).
Proof.
  intros D e Wmm eta W P ES He S H. assert (PW := solution_pos D Wmm P (proj1 S)). set (w := mnorm (dim D) Wmm) in *.
  assert (SL : forall t, step_length D W t = eta t * mnorm (dim D) (descent D (W t))) by (intros; now apply (run_step D eta)).
  split.
  - intros t. assert (UP : mdot (dim D) (W t) Wmm / w <= mnorm (dim D) (W t)).
    { apply Rmult_le_reg_r with w; [easy|]. replace (mdot (dim D) (W t) Wmm / w * w) with (mdot (dim D) (W t) Wmm) by (field; lra).
      apply mdot_le. }
    split; [split; [|easy]|]; clear UP; induction t as [|t IH]; cbn [Sum].
    + assert (Q := mdot_ge (dim D) (W 0%nat) Wmm). fold w in Q. rewrite Rmult_0_r.
      apply Rmult_le_reg_r with w; [easy|]. replace (mdot (dim D) (W 0%nat) Wmm / w * w) with (mdot (dim D) (W 0%nat) Wmm) by (field; lra). lra.
    + destruct (H t) as [Eta B]. rewrite B, mdot_madd_l. rewrite SL.
      destruct (ts_lemma_4 D (W t) e P ES He) as [_ [_ [_ [_ Q]]]]. destruct (Q Wmm S) as [N C]. unfold corr in C. fold w in C |- *.
      set (x := mnorm (dim D) (descent D (W t))) in *. set (m := mdot (dim D) (descent D (W t)) Wmm) in *.
      assert (C2 : / (e * w) * x <= m / w).
      { apply (Rmult_le_compat_r x) in C; [|lra]. replace (m / (x * w) * x) with (m / w) in C by (field; lra). easy. }
      assert (eta t * (/ (e * w) * x) <= eta t * (m / w)) by (apply Rmult_le_compat_l; lra).
      unfold Rdiv in *. rewrite Rmult_plus_distr_r. lra.
    + lra.
    + destruct (H t) as [Eta B]. rewrite B at 1. rewrite SL. eapply Rle_trans; [apply mnorm_madd|].
      rewrite Rabs_pos_eq by lra. lra.
  - intros c Hc t. induction t as [|t IH]; [simpl; ring|]. rewrite S_INR. cbn [Sum]. rewrite IH, SL, Hc.
    assert (Q := descent_nonzero D (W t) Wmm P ES (proj1 S)). field. lra.
Qed.
