(** How attention becomes sparse: saturation from norm and angle, the speed limit, the loss above its infimum. *)
Require Import Reals Lra Lia Psatz Arith.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.shortest base.samples.
From Shallow Require Import token_selection.selection token_selection.every_step.
Open Scope R_scope.

(** W = r W_mm + V with V ⟂ W_mm: r = ⟨W, W_mm⟩/‖W_mm‖² and V = W − r W_mm *)
Definition along (D : data) (Wmm W : matrix) : R := mdot (dim D) W Wmm / frob2 (dim D) (dim D) Wmm.
Definition residual (D : data) (Wmm W : matrix) : matrix := madd W (- along D Wmm W) Wmm.

Lemma residual_orthogonal D Wmm W : 0 < frob2 (dim D) (dim D) Wmm -> mdot (dim D) (residual D Wmm W) Wmm = 0.
Proof. intros H. unfold residual. rewrite mdot_madd_l, <- frob2_mdot. unfold along. field. lra. Qed.

Lemma sharp_gap D Wmm W e i t : proper D -> longest D e -> solution D Wmm -> 0 <= along D Wmm W -> pair D i t ->
  along D Wmm W - sqrt (e ^ 2 - / frob2 (dim D) (dim D) Wmm) * mnorm (dim D) (residual D Wmm W) <= gap D W i t.
Proof.
  intros P He S Hr Hp. set (d := dim D) in *. assert (PW := solution_pos D Wmm P (proj1 S)). fold d in PW.
  set (F := frob2 d d Wmm) in *. assert (PF : 0 < F) by (unfold F; rewrite <- mnorm_sq; now apply pow_lt).
  set (r := along D Wmm W) in *. set (V := residual D Wmm W).
    assert (OV : mdot d V Wmm = 0) by now apply residual_orthogonal.
  set (m := gap D Wmm i t). assert (M1 : 1 <= m) by now apply S. set (E := Ek D i t).
  set (Ep := madd E (- (m / F)) Wmm).
  assert (ME : mdot d E Wmm = m) by (unfold m; now rewrite gap_Ek).
  assert (NE : frob2 d d Ep = frob2 d d E - m ^ 2 / F) by (unfold Ep; rewrite frob2_madd, ME; fold F; field; lra).
  assert (EE : frob2 d d E <= e ^ 2).
  { rewrite <- mnorm_sq. apply pow_incr. split; [apply mnorm_ge0|]. apply He. now exists i, t. }
  assert (IF : 0 < / F) by now apply Rinv_0_lt_compat.
  assert (MF : / F <= m ^ 2 / F) by (unfold Rdiv; rewrite <- (Rmult_1_l (/ F)) at 1; apply Rmult_le_compat_r; nra).
  assert (NB : mnorm d Ep <= sqrt (e ^ 2 - / F)) by (apply sqrt_le_1_alt; lra).
  assert (GW : gap D W i t = r * m + mdot d Ep V).
  { rewrite gap_Ek. fold d E. unfold Ep. rewrite mdot_madd_l, (mdot_sym d Wmm V), OV. unfold V, residual. fold r.
    rewrite mdot_madd_r, ME. ring. }
  rewrite GW. assert (Q := mdot_ge d Ep V).
  assert (mnorm d Ep * mnorm d V <= sqrt (e ^ 2 - / F) * mnorm d V) by (apply Rmult_le_compat_r;
    [apply mnorm_ge0|easy]).
  assert (0 <= r * (m - 1)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma unselected_from_gaps D W i s : proper D -> (i < num D)%nat -> (forall t, pair D i t -> s <= gap D W i t) ->
  1 - phi D W i (opt D i) <= / (1 + exp s / (INR (len D) - 1)) /\
    / (1 + (INR (len D) - 1) * exp (- s)) <= phi D W i (opt D i).
Proof.
  intros P Hi H. destruct P as [_ [HT HP]]. destruct (HP i Hi) as [_ [Ho _]].
    assert (IT : 2 <= INR (len D)) by (apply (le_INR 2); easy).
  assert (L : others D i (fun t => exp (- gap D W i t)) <= (INR (len D) - 1) * exp (- s)).
  { rewrite <- (others_const D i) by easy. apply others_le. intros t Ht Hn. apply exp_le.
    assert (Q := H t ltac:(repeat split; easy)). lra. }
  assert (L2 := phi_from_below D W i _ Ho L). split; [|easy]. set (T := INR (len D) - 1) in *. assert (E := exp_pos s).
  rewrite exp_Ropp in L2. assert (PT : 1 <= T) by (unfold T; lra).
  assert (X : / (1 + exp s / T) = 1 - / (1 + T * / exp s)) by (field; repeat split; nra).
  rewrite X. apply Rplus_le_compat_l, Ropp_le_contravar, L2.
Qed.

(** two samples with one query (0, 0, 1) and differences (1, 1, 0) and (1, −1, 0), and matrices r e₁qᵀ + y e₂qᵀ *)
Definition fork : data := Data 2 2 3 (fun i t => match t, i with
  | O, _ => vec3 0 0 1 | _, O => vec3 1 1 1 | _, _ => vec3 1 (-1) 1 end) (fun _ => 1) (vec3 1 0 0) (fun _ => 1%nat).
Definition fork_matrix (r y : R) : matrix := fun a b => match a, b with O, S (S O) => r | S O, S (S O)
  => y | _, _ => 0 end.

Lemma fork_pair i t : pair fork i t -> t = 0%nat /\ (i = 0%nat \/ i = 1%nat).
Proof. intros [A [B C]]. simpl in A, B, C. lia. Qed.

Lemma fork_proper : proper fork.
Proof.
  split; [simpl; lia|split; [simpl; lia|]]. intros i Hi. split; [left; easy|split; [simpl; lia|]]. intros t Hp.
  apply fork_pair in Hp. destruct Hp as [-> [-> | ->]]; unfold score, dot; simpl; lra.
Qed.

Lemma fork_gap r y i t : pair fork i t -> gap fork (fork_matrix r y) i t = match i with O => r + y | _ => r - y end.
Proof. intros Hp. apply fork_pair in Hp. destruct Hp as [-> [-> | ->]]; unfold gap, dot, vminus, matvec; simpl; ring.
  Qed.

Lemma fork_solution : solution fork (fork_matrix 1 0).
Proof.
  apply (multipliers_solution _ (fun _ _ => / 2)). split; [intros; lra|]. split; [|split].
  - intros x y Hx Hy. simpl in Hx, Hy. unfold support, pairs, others, Ek.
    destruct x as [|[|[|x]]]; [| | |lia]; (destruct y as [|[|[|y]]]; [| | |lia]); simpl; field.
  - intros i t Hp. rewrite fork_gap by easy. destruct i; lra.
  - intros i t Hp Hg. rewrite fork_gap in Hg by easy. destruct i; lra.
Qed.

Lemma fork_norm r y : frob2 3 3 (fork_matrix r y) = r ^ 2 + y ^ 2.
Proof. unfold frob2, fork_matrix. simpl. ring. Qed.

Lemma fork_longest : longest fork (sqrt 2).
Proof.
  assert (N : forall i t, pair fork i t -> mnorm (dim fork) (Ek fork i t) = sqrt 2).
  { intros i t Hp. apply fork_pair in Hp. unfold mnorm. f_equal.
    destruct Hp as [-> [-> | ->]]; unfold frob2, Ek; simpl; ring. }
  split.
  - exists 0%nat, 0%nat. assert (Hp : pair fork 0 0) by (repeat split; simpl; lia). split; [easy|]. now rewrite N.
  - intros x [i [t [Hp ->]]]. rewrite N by easy. lra.
Qed.

(** ts-lemma-8-sharp
    Covers: the whole statement.
    Reads: with W = rW_mm + V, V ⟂ W_mm, and b = √(𝖤² − ‖W_mm‖⁻²): if r ≥ 0, all gaps are at least r − b‖V‖ and 1 − φ_opt ≤ (1 + e^{r − b‖V‖}/(T − 1))⁻¹ in every sample; for every r some sample has 1 − φ_opt ≥ (1 + e^r)⁻¹. For every r ≥ 0 and y ≥ 0 there are data of two tokens and a W with this r and ‖V‖ = y at which some sample attains the first, and, if y = 0, every sample the second.
    Mistake: `2 * exp (along D Wmm W - sqrt` for `exp (along D Wmm W - sqrt`
    Mistake: `2 / (1 + exp (along D Wmm W)) <= 1` for `/ (1 + exp (along D Wmm W)) <= 1`
    Mistake: without `0 <= along D Wmm W ->`
*)
Theorem ts_lemma_8_sharp :
  (forall D Wmm W e, proper D -> longest D e -> solution D Wmm ->
    mdot (dim D) (residual D Wmm W) Wmm = 0 /\
    (0 <= along D Wmm W -> (forall i t, pair D i t ->
      along D Wmm W - sqrt (e ^ 2 - / frob2 (dim D) (dim D) Wmm) * mnorm (dim D) (residual D Wmm W) <= gap D W i t) /\
      forall i, (i < num D)%nat -> 1 - phi D W i (opt D i) <=
        / (1 + exp (along D Wmm W - sqrt (e ^ 2 - / frob2 (dim D) (dim D) Wmm) * mnorm (dim D) (residual D Wmm W))
          / (INR (len D) - 1))) /\
    exists i, (i < num D)%nat /\ / (1 + exp (along D Wmm W)) <= 1 - phi D W i (opt D i)) /\
  (forall r y, 0 <= r -> 0 <= y -> exists D Wmm W e, proper D /\ longest D e /\ solution D Wmm /\ len D = 2%nat /\
    along D Wmm W = r /\ mnorm (dim D) (residual D Wmm W) = y /\
    (exists i, (i < num D)%nat /\ 1 - phi D W i (opt D i) =
      / (1 + exp (r - sqrt (e ^ 2 - / frob2 (dim D) (dim D) Wmm) * y) / (INR (len D) - 1))) /\
    (y = 0 -> forall i, (i < num D)%nat -> 1 - phi D W i (opt D i) = / (1 + exp r))).
Proof.
  split.
  - intros D Wmm W e P He S. assert (PW := solution_pos D Wmm P (proj1 S)).
    assert (PF : 0 < frob2 (dim D) (dim D) Wmm) by (rewrite <- mnorm_sq; now apply pow_lt).
    split; [now apply residual_orthogonal|]. split.
    + intros Hr. assert (G : forall i t, pair D i t -> along D Wmm W - sqrt (e ^ 2 - / frob2 (dim D) (dim D) Wmm) *
        mnorm (dim D) (residual D Wmm W) <= gap D W i t) by (intros i t Hp; now apply sharp_gap).
      split; [easy|]. intros i Hi. apply unselected_from_gaps; [easy|easy|]. intros t Hp. now apply G.
    + destruct (pair_least D (gap D W) P) as [i [t [Hp M]]]. exists i. split; [apply Hp|].
      assert (Q := average D W Wmm _ S M). assert (Q2 : gap D W i t <= along D Wmm W).
      { apply Rmult_le_reg_r with (frob2 (dim D) (dim D) Wmm); [easy|]. unfold along.
        replace (mdot (dim D) W Wmm / frob2 (dim D) (dim D) Wmm * frob2 (dim D) (dim D) Wmm) with (mdot (dim D)
          W Wmm) by (field; lra). easy. }
      destruct P as [_ [_ HP]]. destruct (HP i (proj1 Hp)) as [_ [Ho _]].
      apply Rle_trans with (off (gap D W i t)); [now apply off_decreasing|]. apply off_unselected; [easy|].
        now apply others_exp_pos.
  - intros r y Hr Hy. exists fork, (fork_matrix 1 0), (fork_matrix r y), (sqrt 2).
    split; [apply fork_proper|]. split; [apply fork_longest|]. split; [apply fork_solution|]. split; [easy|]. simpl dim.
    assert (AL : along fork (fork_matrix 1 0) (fork_matrix r y) = r).
    { unfold along. simpl dim. rewrite fork_norm.
      replace (mdot 3 (fork_matrix r y) (fork_matrix 1 0)) with r by (unfold mdot, fork_matrix; simpl; ring). field. }
    split; [easy|]. split.
    { unfold mnorm. transitivity (sqrt (y ^ 2)); [f_equal|now apply sqrt_pow2].
      transitivity (frob2 3 3 (fork_matrix 0 y)); [|rewrite fork_norm; ring]. apply frob2_ext. intros a b _ _.
        unfold residual, madd. rewrite AL.
      destruct a as [|[|a]]; destruct b as [|[|[|b]]]; simpl; ring. }
    assert (PH : forall i, (i < 2)%nat -> 1 - phi fork (fork_matrix r y) i (opt fork i)
      = off (match i with O => r + y | _ => r - y end)).
    { intros i Hi. assert (Ho : (opt fork i < len fork)%nat) by (simpl; lia).
      assert (E : others fork i (fun t => exp (- gap fork (fork_matrix r y) i t))
        = exp (- match i with O => r + y | _ => r - y end)).
      { unfold others. simpl len. cbn [Sum]. simpl opt. simpl. rewrite Rplus_0_l, Rplus_0_r.
        rewrite fork_gap; [easy|]. repeat split; simpl; lia. }
      apply Rle_antisym; [apply unselected_off|apply off_unselected]; rewrite ?E; easy || lra. }
    split.
    + exists 1%nat. split; [simpl; lia|]. rewrite PH by lia. rewrite fork_norm. rewrite pow2_sqrt by lra.
      replace (2 - / (1 ^ 2 + 0 ^ 2)) with 1 by field. rewrite sqrt_1. unfold off. simpl len. f_equal. f_equal.
      replace (r - 1 * y) with (r - y) by ring. simpl INR. field.
    + intros -> i Hi. simpl in Hi. rewrite PH by easy. unfold off. destruct i; do 3 f_equal; ring.
Qed.

(** ts-lemma-8
    Covers: the whole statement.
    Reads: if all tokens have norm at most B, every W ≠ 0 and every sample has φ_opt ≥ [1 + (T − 1) exp{−‖W‖(1/‖W_mm‖ − 2√2 B² √(1 − corr))}]⁻¹.
    Mistake: `2 * (1 / mnorm (dim D) Wmm) - 2 * sqrt 2` for `/ mnorm (dim D) Wmm - 2 * sqrt 2`
    Mistake: `(len D) - 2) * exp` for `(len D) - 1) * exp`
*)
Theorem ts_lemma_8 : forall D Wmm W B i, proper D -> solution D Wmm ->
  (forall j s, (j < num D)%nat -> (s < len D)%nat -> vnorm (dim D) (tok D j s) <= B) ->
  0 < mnorm (dim D) W -> (i < num D)%nat ->
  / (1 + (INR (len D) - 1) * exp (- (mnorm (dim D)
    W * (/ mnorm (dim D) Wmm - 2 * sqrt 2 * B ^ 2 * sqrt (1 - corr (dim D) W Wmm)))))
    <= phi D W i (opt D i).
Proof.
  intros D Wmm W B i P S HB HW Hi. apply (unselected_from_gaps D W i); [easy|easy|]. intros t Hp.
  assert (PW := solution_pos D Wmm P (proj1 S)). set (d := dim D) in *. set (w := mnorm d Wmm) in *.
    set (x := mnorm d W) in *.
  set (c := corr d W Wmm). set (V := madd (fun a b => / x * W a b) (- / w) Wmm).
  assert (SC : forall A, mdot d (fun a b => / x * W a b) A = / x * mdot d W A).
  { intros A. unfold mdot. rewrite <- Sum_scal. apply Sum_ext. intros. rewrite <- Sum_scal. apply Sum_ext.
    intros; ring. }
  assert (NV : frob2 d d V = 2 * (1 - c)).
  { unfold V. rewrite frob2_madd. rewrite !frob2_mdot, SC, SC, (mdot_sym d W), SC, <- !frob2_mdot, <- !mnorm_sq.
    fold w x.
    unfold c, corr. fold w x. field. lra. }
  assert (GE : gap D W i t = x * (/ w * gap D Wmm i t + mdot d (Ek D i t) V)).
  { rewrite !gap_Ek. fold d. unfold V. rewrite mdot_madd_r, (mdot_sym d _ (fun a b => / x * W a b)), SC, (mdot_sym d
    W). field. lra. }
  rewrite GE. apply Rmult_le_compat_l; [lra|]. assert (M1 := proj1 S i t Hp).
  assert (IW : 0 < / w) by now apply Rinv_0_lt_compat.
    assert (/ w * 1 <= / w * gap D Wmm i t) by (apply Rmult_le_compat_l; lra).
  assert (Q := mdot_ge d (Ek D i t) V). assert (EB := Ek_tokens D B i t P HB Hp). fold d in EB.
  assert (C1 : 0 <= 1 - c) by (assert (Z := frob2_ge0 d V); lra).
  assert (MV : mnorm d V = sqrt 2 * sqrt (1 - c)) by (unfold mnorm; rewrite NV; apply sqrt_mult; lra).
  assert (mnorm d (Ek D i t) * mnorm d V <= 2 * B ^ 2 * mnorm d V) by (apply Rmult_le_compat_r; [apply mnorm_ge0|easy]).
  rewrite MV in *. lra.
Qed.

(** ts-lemma-1-rates
    Covers: a part: the speed limit, for any steps of length at most η; on the page: parts 1 to 3.
    Reads: if ‖W_{t+1} − W_t‖ ≤ η for all t, then at every t some sample has 1 − φ_opt ≥ (1 + exp((ηt + ‖W₀‖)/‖W_mm‖))⁻¹.
    Mistake: `2 / (1 + exp` for `/ (1 + exp`
    Mistake: without `(forall t, step_length D W t <= eta) ->`
*)
Theorem ts_lemma_1_rates : forall D Wmm eta W t, proper D -> solution D Wmm -> (forall t, step_length D W t <= eta) ->
  exists i, (i < num D)%nat /\
    / (1 + exp ((eta * INR t + mnorm (dim D) (W 0%nat)) / mnorm (dim D) Wmm)) <= 1 - phi D (W t) i (opt D i).
Proof.
  intros D Wmm eta W t P Sol H. destruct (longest_exists D P) as [e He]. destruct ts_lemma_8_sharp as [Q _].
  destruct (Q D Wmm (W t) e P He Sol) as [_ [_ [i [Hi Hq]]]]. exists i. split; [easy|]. eapply Rle_trans; [|exact Hq].
  assert (PW := solution_pos D Wmm P (proj1 Sol)). apply off_decreasing. set (w := mnorm (dim D) Wmm) in *.
  assert (N : mnorm (dim D) (W t) <= eta * INR t + mnorm (dim D) (W 0%nat)).
  { clear Hq. induction t as [|t IH]; [simpl; lra|]. rewrite S_INR. assert (Q2 := H t). unfold step_length in Q2.
    assert (Q3 := mnorm_madd (dim D) (W t) 1 (madd (W (S t)) (-1) (W t))). rewrite Rabs_R1 in Q3.
    replace (mnorm (dim D) (madd (W t) 1 (madd (W (S t)) (-1) (W t)))) with (mnorm (dim D) (W (S t))) in Q3.
    - lra.
    - unfold mnorm. f_equal. apply frob2_ext. intros. unfold madd. ring. }
  unfold along. rewrite <- mnorm_sq. fold w. assert (Q2 := mdot_le (dim D) (W t) Wmm). fold w in Q2.
  apply Rmult_le_reg_r with (w ^ 2); [now apply pow_lt|].
  replace (mdot (dim D) (W t) Wmm / w ^ 2 * w ^ 2) with (mdot (dim D) (W t) Wmm) by (field; lra).
  replace ((eta * INR t + mnorm (dim D) (W 0%nat)) / w * w ^ 2) with ((eta * INR t + mnorm (dim D) (W 0%nat)) * w)
    by (field; lra).
  eapply Rle_trans; [exact Q2|]. apply Rmult_le_compat_r; lra.
Qed.

(** 𝓛 − 𝓛* between 1/(1 + s) and exp(δ s) times Σ ψ_k exp(− h_k), where s = Σ exp(− h_k) and Δ_i ≤ δ *)
Definition psi (D : data) (i : nat) : R := / INR (num D) * (delta D i * exp (- score D i (opt D i))).

Lemma loss_squeeze D W dmax : proper D -> equal_scores D -> (forall i, (i < num D)%nat -> delta D i <= dmax) ->
  / (1 + pairs D (fun i t => exp (- gap D W i t))) * pairs D (fun i t => psi D i * exp (- gap D W i t))
    <= loss D W - infimum D
    <= exp (dmax * pairs D (fun i t => exp (- gap D W i t))) * pairs D (fun i t => psi D i * exp (- gap D W i t)).
Proof.
  intros P ES HD. assert (Nn := num_pos D P). set (s := pairs D (fun i t => exp (- gap D W i t))).
  assert (HP := proj2 (proj2 P)).
  assert (SI : forall i, (i < num D)%nat -> 0 <= others D i (fun t => exp (- gap D W i t)) <= s).
  { intros i Hi. split; [apply others_exp_ge0|].
    apply (Sum_term (num D) (fun i => others D i (fun t => exp (- gap D W i t)))); [easy|].
    intros. apply others_exp_ge0. }
  assert (ONE : forall i, (i < num D)%nat -> let S := others D i (fun t => exp (- gap D W i t)) in
    / (1 + s) * (delta D i * exp (- score D i (opt D i)) * S) <= sample_loss D W i - exp (- score D i (opt D i)) <=
      exp (dmax * s) * (delta D i * exp (- score D i (opt D i)) * S)).
  { intros i Hi S. destruct (HP i Hi) as [_ [Ho _]]. assert (Q := phi_opt D W i Ho). fold S in Q.
    destruct (SI i Hi) as [S0 S1]. fold S in S0, S1.
    assert (DP := delta_pos D i P ES Hi). assert (DM := HD i Hi). assert (AB := answer_below D W i Ho).
    rewrite (others_ext D i _ (fun t => delta D i * phi D W i t)) in AB.
    2:{ intros t Ht Hn. rewrite (ES i t) by (repeat split; easy). unfold delta. ring. }
    rewrite others_scal, phi_others in AB by easy. assert (PL := phi_le1 D W i Ho).
    set (p := phi D W i (opt D i)) in *. set (g := score D i (opt D i)) in *. set (x := delta D i * (1 - p)) in *.
    assert (X1 : delta D i * (/ (1 + s) * S) <= x).
    { apply Rmult_le_compat_l; [lra|]. replace (1 - p) with (p * S) by lra. apply Rmult_le_compat_r; [easy|].
      apply Rmult_le_reg_r with (1 + s); [lra|]. rewrite Rinv_l by lra. nra. }
    assert (X2 : x <= delta D i * S) by (apply Rmult_le_compat_l; [lra|]; replace (1 - p) with (p * S) by lra; nra).
    assert (X0 : 0 <= x) by (apply Rmult_le_pos; lra). unfold sample_loss.
      replace (- (lab D i * answer D W i)) with (- g + x) by lra.
    rewrite exp_plus. assert (EG := exp_pos (- g)). assert (L1 := exp_ineq1_le x). split.
    - assert (exp (- g) * (delta D i * (/ (1 + s) * S)) <= exp (- g) * (exp x - 1)) by (apply Rmult_le_compat_l;
      lra). lra.
    - assert (L2 := exp_ineq1_le (- x)). rewrite exp_Ropp in L2. assert (EX := exp_pos x).
      assert (L3 : exp x - 1 <= x * exp x).
      { apply (Rmult_le_compat_r (exp x)) in L2; [|lra]. rewrite Rinv_l in L2 by lra. lra. }
      assert (EM : exp x <= exp (dmax * s)) by (apply exp_le; nra).
      assert (x * exp x <= delta D i * S * exp (dmax * s)) by (apply Rmult_le_compat; lra).
      assert (exp (- g) * (exp x - 1) <= exp (- g) * (delta D i * S * exp (dmax * s))) by (apply Rmult_le_compat_l;
        lra). lra. }
  assert (PE : pairs D (fun i t => psi D i * exp (- gap D W i t)) = / INR (num D) * Sum (num D) (fun i =>
    delta D i * exp (- score D i (opt D i)) * others D i (fun t => exp (- gap D W i t)))).
  { unfold pairs. rewrite <- Sum_scal. apply Sum_ext. intros. rewrite others_scal. unfold psi. ring. }
  rewrite loss_infimum, PE. split.
  - rewrite (Rmult_comm (/ (1 + s))), Rmult_assoc. apply Rmult_le_compat_l; [lra|]. rewrite Rmult_comm, <- Sum_scal.
    apply Sum_le. intros i Hi. now apply ONE.
  - rewrite (Rmult_comm (exp _)), Rmult_assoc. apply Rmult_le_compat_l; [lra|]. rewrite Rmult_comm, <- Sum_scal.
    apply Sum_le. intros i Hi. now apply ONE.
Qed.

Lemma lim_Sum0 n (f : nat -> nat -> R) : (forall i, (i < n)%nat -> is_lim_seq (f i) 0) ->
  is_lim_seq (fun t => Sum n (fun i => f i t)) 0.
Proof.
  induction n as [|n IH]; intros H; simpl; [apply is_lim_seq_const|]. replace 0 with (0 + 0) by ring.
  apply is_lim_seq_plus'; [apply IH; intros; apply H; lia|apply H; lia].
Qed.

(** ts-lemma-1-loss
    Covers: a part: the first sentence; on the page: its consequence for normalised descent.
    Reads: under Assumption 2, along any sequence W_t whose gaps all tend to ∞, the quotient of 𝓛(W_t) − 𝓛* and Σ ψ_k exp(− h_k) tends to 1, with ψ_k = (1/n) Δ_i exp(− γ_opt); and 𝓛* > 0.
    Mistake: `(Finite 2)` for `(Finite 1)`
    Mistake: `is_lim_seq (fun t => gap D (W t) i s) 0)` for `is_lim_seq (fun t => gap D (W t) i s) p_infty)`
*)
Theorem ts_lemma_1_loss : forall D W, proper D -> equal_scores D ->
  (forall i s, pair D i s -> is_lim_seq (fun t => gap D (W t) i s) p_infty) ->
  0 < infimum D /\ is_lim_seq (fun t => (loss D (W t) - infimum D) / pairs D (fun i s => psi D i * exp (- gap D (W t)
    i s))) (Finite 1).
Proof.
  intros D W P ES H. assert (Nn := num_pos D P). split.
  - unfold infimum. apply Rmult_lt_0_compat; [easy|]. apply Sum_gt0; [destruct P; lia|]. intros. apply exp_pos.
  - set (s := fun t => pairs D (fun i k => exp (- gap D (W t) i k))).
    assert (LS : is_lim_seq s 0).
    { unfold s, pairs, others. apply (lim_Sum0 (num D) (fun i t => Sum (len D) (fun k => if Nat.eqb k (opt D i)
      then 0 else exp (- gap D (W t) i k)))).
      intros i Hi. apply (lim_Sum0 (len D) (fun k t => if Nat.eqb k (opt D i) then 0 else exp (- gap D (W t) i k))).
        intros k Hk.
      destruct (Nat.eqb_spec k (opt D i)) as [|N]; [apply is_lim_seq_const|].
        assert (Q := H i k ltac:(repeat split; easy)).
      apply is_lim_seq_spec. intros eps. destruct eps as [eps He]. simpl.
        destruct (proj1 (two_gaps.lim_p_inf _) Q (- ln eps)) as [M HM].
      exists M. intros n Hn. rewrite Rminus_0_r, Rabs_pos_eq by (left; apply exp_pos). rewrite <- (exp_ln eps He).
        apply exp_increasing.
      assert (Q2 := HM n Hn). lra. }
    set (dmax := Sum (num D) (fun i => delta D i)).
    assert (HD : forall i, (i < num D)%nat -> delta D i <= dmax).
    { intros i Hi. apply (Sum_term (num D) (fun i => delta D i)); [easy|]. intros. left. now apply delta_pos. }
    assert (PP : forall t, 0 < pairs D (fun i k => psi D i * exp (- gap D (W t) i k))).
    { intros t. assert (X : forall i k, pair D i k -> 0 < psi D i * exp (- gap D (W t) i k)).
      { intros i k Hp. apply Rmult_lt_0_compat; [|apply exp_pos]. unfold psi. apply Rmult_lt_0_compat; [easy|].
        apply Rmult_lt_0_compat; [apply delta_pos; [easy|easy|apply Hp]|apply exp_pos]. }
      destruct (some_pair D 0 P) as [k Hk]; [destruct P; lia|]. eapply Rlt_le_trans; [apply (X 0%nat k Hk)|].
      apply (pairs_term D (fun i k => psi D i * exp (- gap D (W t) i k)) 0 k Hk). intros. left. now apply X. }
    apply (is_lim_seq_le_le (fun t => / (1 + s t)) _ (fun t => exp (dmax * s t))).
    + intros t. destruct (loss_squeeze D (W t) dmax P ES HD) as [A B]. fold (s t) in A, B. assert (Q := PP t).
      set (y := pairs D (fun i k => psi D i * exp (- gap D (W t) i k))) in *. split.
      * apply Rmult_le_reg_r with y; [easy|]. replace ((loss D (W t) - infimum D) / y * y) with (loss D (W t)
        - infimum D) by (field; lra). easy.
      * apply Rmult_le_reg_r with y; [easy|]. replace ((loss D (W t) - infimum D) / y * y) with (loss D (W t)
        - infimum D) by (field; lra). easy.
    + replace (Finite 1) with (Finite ((fun x => / (1 + x)) 0)) by (f_equal; field).
      apply (is_lim_seq_continuous (fun x => / (1 + x))); [|exact LS]. apply continuity_pt_inv; [|lra].
      apply continuity_pt_plus; [now apply continuity_pt_const|apply continuity_pt_id].
    + replace (Finite 1) with (Finite ((fun x => exp (dmax * x)) 0)) by (f_equal; rewrite Rmult_0_r; apply exp_0).
      apply (is_lim_seq_continuous (fun x => exp (dmax * x))); [|exact LS]. reg.
Qed.

(** ts-lemma-8-trap
    Covers: a part: the bound, and the excess of two weights that come out equal; on the page: that double precision makes them equal there.
    Reads: if Λ₀e^{Λ₀} = 1/e, then for all gaps h₁, h₂ the average of gaps under the weights exp(− h_k), those of c₊ = c₋, is at most min{h₁, h₂} + Λ₀; and the average of the gaps 35.64 and 36.73 under equal weights exceeds 35.64 by more than 1.9 Λ₀.
    Mistake: `/ 2 * Lam` for `+ Lam`
    Mistake: `2 * Lam <` for `19 / 10 * Lam <`
*)
Theorem ts_lemma_8_trap : forall Lam, Lam * exp Lam = / exp 1 ->
  (forall h1 h2, (exp (- h1) * h1 + exp (- h2) * h2) / (exp (- h1) + exp (- h2)) <= Rmin h1 h2 + Lam) /\
  19 / 10 * Lam < (3564 / 100 + 3673 / 100) / 2 - 3564 / 100.
Proof.
  intros Lam HL. assert (E1 := exp_pos 1). assert (EL := exp_pos Lam). assert (PL : 0 < Lam).
  { assert (0 < Lam * exp Lam) by (rewrite HL; now apply Rinv_0_lt_compat). apply Rmult_lt_reg_r with (exp Lam); lra. }
  assert (CORE : forall x, 0 <= x -> x * exp (- x) <= Lam * (1 + exp (- x))).
  { intros x Hx. assert (Q := exp_ineq1_le (x - Lam - 1)). assert (EX := exp_pos (- x)).
    assert (R : exp (x - Lam - 1) * exp (- x) = Lam).
    { rewrite <- exp_plus. replace (x - Lam - 1 + - x) with (- Lam + - (1)) by ring.
      rewrite exp_plus, !exp_Ropp, <- HL. field. lra. }
    assert ((1 + (x - Lam - 1)) * exp (- x) <= exp (x - Lam - 1) * exp (- x)) by (apply Rmult_le_compat_r; lra). lra. }
  assert (ORD : forall h1 h2, h1 <= h2 -> (exp (- h1) * h1 + exp (- h2) * h2) / (exp (- h1) + exp (- h2)) <= h1 + Lam).
  { intros h1 h2 H. assert (Q := CORE (h2 - h1) ltac:(lra)). assert (A := exp_pos (- h1)). assert (B := exp_pos (- h2)).
    assert (X : exp (- h2) = exp (- h1) * exp (- (h2 - h1))) by (rewrite <- exp_plus; f_equal; ring).
    apply Rmult_le_reg_r with (exp (- h1) + exp (- h2)); [lra|].
    replace ((exp (- h1) * h1 + exp (- h2) * h2) / (exp (- h1) + exp (- h2)) * (exp (- h1) + exp (- h2)))
      with (exp (- h1) * h1 + exp (- h2) * h2) by (field; lra).
    rewrite X. set (y := exp (- (h2 - h1))) in *.
      assert (exp (- h1) * ((h2 - h1) * y) <= exp (- h1) * (Lam * (1 + y))) by (apply Rmult_le_compat_l; lra). lra. }
  split.
  - intros h1 h2. unfold Rmin. destruct (Rle_dec h1 h2) as [H|H]; [now apply ORD|].
    rewrite (Rplus_comm (exp (- h1) * h1)), (Rplus_comm (exp (- h1))). apply ORD. lra.
  - apply Rnot_le_lt. intros N. assert (L1 : 2868 / 10000 <= Lam) by lra.
    assert (X : exp (32 / 25) <= exp (1 + Lam)) by (apply exp_le; lra).
    assert (Y : Lam * exp (1 + Lam) = 1) by (rewrite exp_plus;
      replace (Lam * (exp 1 * exp Lam)) with (Lam * exp Lam * exp 1) by ring; rewrite HL; field; lra).
    assert (Z : exp (32 / 25) = exp (/ 50) ^ 64).
    { rewrite <- Rpower_pow by apply exp_pos. unfold Rpower. rewrite ln_exp. f_equal. simpl. field. }
    assert (V : 51 / 50 <= exp (/ 50)) by (assert (Q := exp_ineq1_le (/ 50)); lra).
    assert (U : (51 / 50) ^ 64 <= exp (/ 50) ^ 64) by (apply pow_incr; split; [lra|easy]).
    assert (T : 35 / 10 < (51 / 50) ^ 64) by lra.
    assert (2868 / 10000 * exp (32 / 25) <= Lam * exp (1 + Lam)) by (apply Rmult_le_compat; try lra; left;
      apply exp_pos). lra.
Qed.
