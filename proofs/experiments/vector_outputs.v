(** Chapter "Whole series at once": what k outputs cost the linear model. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.means base.matrices base.attention base.head base.covariance.
From Shallow Require Import base.skewness base.lines base.gradient kernel_regime.smoothness.
Open Scope R_scope.

(* prove first what K needs *)
Local Ltac premise K := match type of K with ?A -> _ => let H := fresh in assert (H : A); [|specialize (K H)] end.

Lemma norm_combination k m (x : vector) (A : matrix) :
  vnorm k (fun a => Sum m (fun i => A i a * x i)) <= Sum m (fun i => vnorm k (A i) * Rabs (x i)).
Proof.
  induction m; simpl; [right; now apply norm_zero|].
  eapply Rle_trans; [apply (norm_triangle k (fun a => Sum m (fun i => A i a * x i)) (fun a => A m a * x m))|].
  apply Rplus_le_compat; [easy|]. rewrite (norm_ext k _ (vscal (x m) (A m))) by (intros; unfold vscal; ring).
  rewrite norm_scal. lra.
Qed.

(** A bound on ‖C v‖ is one on ‖Cᵀ x‖. *)
Lemma transposed m k C c : 0 <= c -> (forall v, vnorm m (matvec k C v) <= c * vnorm k v) ->
  forall x, vnorm k (matvec m (transpose C) x) <= c * vnorm m x.
Proof.
  intros Hc H x. set (y := matvec m (transpose C) x). assert (N := norm_ge0 k y). assert (M := norm_ge0 m x).
  destruct (Req_dec (vnorm k y) 0) as [->|Z]; [now apply Rmult_le_pos|].
  apply Rmult_le_reg_r with (vnorm k y); [lra|]. replace (vnorm k y * vnorm k y) with (dot m x (matvec k C y)).
  - eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply cauchy|].
    replace (c * vnorm m x * vnorm k y) with (vnorm m x * (c * vnorm k y)) by ring. now apply Rmult_le_compat_l.
  - rewrite dot_matvec. fold y. rewrite <- sq_dot, <- norm_sq. ring.
Qed.

(** A head that moves: its change, and what is left of it beyond the derivative. *)
Lemma head_moves sigma s1 s2 sigma1 T d X q U u W Delta R ru rw G1 G2 :
  (forall z, is_derive sigma z (s1 z)) -> (forall z, is_derive s1 z (s2 z)) -> (forall z, Rabs (s1 z) <= sigma1) ->
  (0 < T)%nat -> (0 < d)%nat -> in_ball T d X -> vnorm d q <= 1 ->
  (forall t, 0 <= t <= 1 -> vnorm d (along U u t) <= R) -> vnorm d u <= ru -> fnorm d d Delta <= rw ->
  (forall s, 0 <= s <= 1 -> ru * s + rw * (1 - s ^ 2) * R <= G1) ->
  (forall s z, 0 <= s <= 1 -> Rabs z <= s * R -> Rabs (s2 z) * (ru * s + rw * (1 - s ^ 2) * R) ^ 2 +
    2 * Rabs (s1 z) * (1 - s ^ 2) * (ru * rw + rw ^ 2 * (s * R)) <= G2) ->
  let h t := head sigma T d X q (along U u t) (shifted W Delta t) in
  Rabs (h 1 - h 0) <= sigma1 * G1 /\ Rabs (h 1 - h 0 - Derive h 0) <= / 2 * G2.
Proof.
  intros D1 D2 B1 HT Hd B Q IN Hu Hw HG1 HG2 h. set (w := matvec d Delta q).
  assert (W0 : vnorm d w <= rw).
  { eapply Rle_trans; [apply matvec_fnorm|]. assert (F := fnorm_ge0 d d Delta). assert (N := norm_ge0 d q). nra. }
  assert (U0 := norm_ge0 d u). assert (V0 := norm_ge0 d w).
  assert (R0 : 0 <= R) by (eapply Rle_trans; [apply norm_ge0|apply (IN 0); lra]).
  assert (S1 : 0 <= sigma1) by (eapply Rle_trans; [apply Rabs_pos|apply (B1 0)]).
  assert (DI : forall t, distribution T (weights T d X q (shifted W Delta t)))
    by (intros; now apply softmax_distribution).
  assert (SL : forall s, 0 <= s <= 1 -> vnorm d u * s + vnorm d w * (1 - s ^ 2) * R <= ru * s + rw * (1 - s ^ 2) * R).
  { intros s Hs. assert (0 <= 1 - s ^ 2) by nra. apply Rplus_le_compat; [now apply Rmult_le_compat_r|].
    apply Rmult_le_compat_r; [easy|]. now apply Rmult_le_compat_r. }
  assert (HL := head_line sigma s1 T d X q U u W Delta HT D1). fold w in HL.
  assert (GL := gradient_line s1 s2 T d X q U u W Delta u w HT D2). fold w in GL.
  split.
  - assert (K := step_first _ _ (sigma1 * G1) HL). cbv beta in K. premise K.
    { intros t Ht. rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; [apply B1|].
      destruct (law_bounds T d _ X R Hd (DI t) B) as (s & S & _ & L & _).
      eapply Rle_trans; [apply L, IN, Ht|]. eapply Rle_trans; [apply SL, S|]. now apply HG1. }
    specialize (K 1 ltac:(lra)). rewrite Rmult_1_r in K. exact K.
  - assert (K := step_second _ _ _ G2 HL GL). cbv beta in K. premise K.
    { intros t Ht. destruct (law_bounds T d _ X R Hd (DI t) B) as (s & S & L0 & L1 & L2).
      specialize (L0 _ (IN t Ht)). specialize (L1 _ u w (IN t Ht)). specialize (L2 _ u w u w (IN t Ht)).
      assert (P : 0 <= 1 - s ^ 2) by nra. assert (M := SL s S).
      eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [|apply (HG2 s _ S L0)]. rewrite !Rabs_mult.
      assert (A1 := Rabs_pos (s1 (dot d (along U u t) (attended T (weights T d X q (shifted W Delta t)) X)))).
      assert (A2 := Rabs_pos (s2 (dot d (along U u t) (attended T (weights T d X q (shifted W Delta t)) X)))).
      unfold preactivation, pooled. apply Rplus_le_compat.
      - rewrite Rmult_assoc. apply Rmult_le_compat_l; [easy|].
        set (x := Rabs (slope _ _ _ _ _ _ _)) in *. assert (0 <= x) by apply Rabs_pos.
        set (y := ru * s + rw * (1 - s ^ 2) * R) in *. assert (x <= y) by lra. simpl. rewrite Rmult_1_r.
        now apply Rmult_le_compat.
      - set (z := Rabs (s1 _)) in *.
        apply Rle_trans with (z * ((1 - s ^ 2) * (2 * (ru * rw + rw ^ 2 * (s * R))))); [|right; ring].
        apply Rmult_le_compat_l; [easy|]. eapply Rle_trans; [apply L2|]. apply Rmult_le_compat_l; [easy|].
        assert (vnorm d u * vnorm d w <= ru * rw) by now apply Rmult_le_compat.
        assert (vnorm d w * vnorm d w <= rw * rw) by now apply Rmult_le_compat.
        assert (0 <= s * R) by (apply Rmult_le_pos; lra). nra. }
    specialize (K 1 ltac:(lra)). rewrite (is_derive_unique h 0 _ (HL 0)). fold (h 1) (h 0) in K.
    rewrite Rmult_1_l in K. rewrite pow1, Rmult_1_r in K. exact K.
Qed.

(** kr-lemma-3-vector
    Covers: the whole statement, for all upper bounds G₁, G₂ of the two braces of Block smoothness, of which the maxima are the least, and for every Γ ≥ 0 with ‖C⁽⁰⁾v‖ ≤ √m Γ‖v‖; the tangent as the derivative along the move.
    Reads: let tokens and query lie in the unit ball of ℝᵈ, σ have the derivatives s₁ and s₂, |s₁| ≤ σ₁, readouts C⁽⁰⁾, m × k, with ‖C⁽⁰⁾v‖ ≤ √m Γ‖v‖ for all v, and any U⁽⁰⁾, W⁽⁰⁾; let for every head ‖δc_i‖, ‖δU_i‖, ‖δW_i‖ be at most ρ_c/√m, ρ_u/√m, ρ_w/√m, and R_i = ‖U_i⁽⁰⁾‖ + ρ_u/√m. Let G₁ᵢ be at least ρ_u s + ρ_w(1 − s²)R_i for all s in [0, 1], and G₂ᵢ at least |s₂(ζ)|(ρ_u s + ρ_w(1 − s²)R_i)² + 2|s₁(ζ)|(1 − s²)(ρ_uρ_w + ρ_w² s R_i) for all these s and all |ζ| ≤ sR_i. Let f(t) be the k outputs at φ⁽⁰⁾ + tδ, with the derivative L at t = 0. Then ‖f(1) − (f(0) + L)‖ ≤ m^(−1/2) [½ Γ (1/m Σ G₂ᵢ²)^½ + σ₁ρ_c (1/m) Σ G₁ᵢ].
    Mistake: `/ 4 * Gamma` for `/ 2 * Gamma`
    Mistake: `vnorm k (dC i) <= 2 * rho_c / sqrt (INR m)` for `vnorm k (dC i) <= rho_c / sqrt (INR m)`
    Mistake: without `vnorm d q <= 1 ->`
*)
Theorem kr_lemma_3_vector : forall sigma s1 s2 sigma1 m k T d X q (C0 dC U0 dU : matrix) (W0 dW : nat -> matrix)
  Gamma rho_c rho_u rho_w (G1 G2 L : vector),
  (forall z, is_derive sigma z (s1 z)) -> (forall z, is_derive s1 z (s2 z)) -> (forall z, Rabs (s1 z) <= sigma1) ->
  (0 < m)%nat -> (0 < T)%nat -> (0 < d)%nat -> in_ball T d X -> vnorm d q <= 1 ->
  0 <= Gamma -> (forall v, vnorm m (matvec k C0 v) <= sqrt (INR m) * Gamma * vnorm k v) ->
  (forall i, (i < m)%nat -> vnorm k (dC i) <= rho_c / sqrt (INR m) /\ vnorm d (dU i) <= rho_u / sqrt (INR m) /\
    fnorm d d (dW i) <= rho_w / sqrt (INR m)) ->
  let R i := vnorm d (U0 i) + rho_u / sqrt (INR m) in
  (forall i s, (i < m)%nat -> 0 <= s <= 1 -> rho_u * s + rho_w * (1 - s ^ 2) * R i <= G1 i) ->
  (forall i s z, (i < m)%nat -> 0 <= s <= 1 -> Rabs z <= s * R i ->
    Rabs (s2 z) * (rho_u * s + rho_w * (1 - s ^ 2) * R i) ^ 2 +
    2 * Rabs (s1 z) * (1 - s ^ 2) * (rho_u * rho_w + rho_w ^ 2 * (s * R i)) <= G2 i) ->
  let f t a := / sqrt (INR m) * Sum m (fun i => (C0 i a + t * dC i a) *
    head sigma T d X q (along (U0 i) (dU i) t) (shifted (W0 i) (dW i) t)) in
  (forall a, (a < k)%nat -> is_derive (fun t => f t a) 0 (L a)) ->
  vnorm k (fun a => f 1 a - (f 0 a + L a)) <=
  / sqrt (INR m) * (/ 2 * Gamma * sqrt (mean m (fun i => G2 i ^ 2)) + sigma1 * rho_c * mean m G1).
Proof.
  intros sigma s1 s2 sigma1 m k T d X q C0 dC U0 dU W0 dW Gamma rho_c rho_u rho_w G1 G2 L D1 D2 B1 Hm HT Hd B Q HG HC
    HO R HG1 HG2 f HL.
  set (h i t := head sigma T d X q (along (U0 i) (dU i) t) (shifted (W0 i) (dW i) t)).
  assert (W := root_pos m Hm). assert (N := INR_pos m Hm). set (r := sqrt (INR m)) in *.
  assert (RR : r * r = INR m) by (apply sqrt_sqrt; lra). assert (I := Rinv_0_lt_compat _ W).
  assert (HH : forall i, (i < m)%nat -> Rabs (h i 1 - h i 0) <= sigma1 * (/ r * G1 i) /\
    Rabs (h i 1 - h i 0 - Derive (h i) 0) <= / 2 * (/ INR m * G2 i)).
  { intros i Hi. destruct (HO i Hi) as (_ & Hu & Hw).
    apply (head_moves sigma s1 s2 sigma1 T d X q (U0 i) (dU i) (W0 i) (dW i) (R i) (rho_u / r) (rho_w / r)
      _ _ D1 D2 B1 HT Hd B Q).
    - intros t Ht. change (along (U0 i) (dU i) t) with (vplus (U0 i) (vscal t (dU i))).
      eapply Rle_trans; [apply norm_triangle|]. rewrite norm_scal, Rabs_pos_eq by lra. unfold R. fold r.
      assert (V := norm_ge0 d (dU i)). nra.
    - exact Hu.
    - exact Hw.
    - intros s Hs. replace (rho_u / r * s + rho_w / r * (1 - s ^ 2) * R i) with
        (/ r * (rho_u * s + rho_w * (1 - s ^ 2) * R i)) by (field; lra).
      apply Rmult_le_compat_l; [lra|now apply HG1].
    - intros s z Hs Hz. eapply Rle_trans; [|apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat, N|apply (HG2 i s z
        Hi Hs Hz)]]. right. rewrite <- RR. field. lra. }
  assert (DH : forall i, is_derive (h i) 0 (Derive (h i) 0)).
  { intros i. apply Derive_correct. eexists. apply (head_line sigma s1 T d X q (U0 i) (dU i) (W0 i) (dW i) HT D1). }
  set (eps i := h i 1 - h i 0 - Derive (h i) 0). set (mv i := h i 1 - h i 0).
  assert (EQ : forall a, (a < k)%nat -> f 1 a - (f 0 a + L a) =
    / r * (matvec m (transpose C0) eps a + Sum m (fun i => dC i a * mv i))).
  { intros a Ha.
    assert (D : is_derive (fun t => f t a) 0 (/ r * Sum m (fun i => dC i a * h i 0 + C0 i a * Derive (h i) 0))).
    { unfold f. fold r. apply (is_derive_scal (fun t => Sum m (fun i => (C0 i a + t * dC i a) * h i t))).
      apply (Sum_derive m (fun t i => (C0 i a + t * dC i a) * h i t)). intros i _. eapply derive_value.
      - apply derive_mult; [|apply DH]. instantiate (1 := dC i a). auto_derive; [easy|ring].
      - cbv beta. ring. }
    rewrite <- (is_derive_unique _ _ _ (HL a Ha)), (is_derive_unique _ _ _ D).
    unfold f. fold r. rewrite <- Rmult_plus_distr_l, <- Rmult_minus_distr_l. f_equal. unfold matvec, transpose.
    rewrite <- !Sum_plus, <- Sum_minus. apply Sum_ext; intros i _. unfold eps, mv. fold (h i 1) (h i 0). ring. }
  rewrite (norm_ext k _ (vscal (/ r) (vplus (matvec m (transpose C0) eps) (fun a => Sum m (fun i => dC i a * mv i)))))
    by (intros; unfold vscal, vplus; now apply EQ).
  rewrite norm_scal, Rabs_pos_eq by lra. apply Rmult_le_compat_l; [lra|].
  eapply Rle_trans; [apply norm_triangle|]. apply Rplus_le_compat.
  - eapply Rle_trans; [apply (transposed m k C0 (r * Gamma)); [apply Rmult_le_pos; lra|exact HC]|].
    assert (E : vnorm m eps <= / 2 * / r * sqrt (mean m (fun i => G2 i ^ 2))).
    { assert (0 <= sqrt (mean m (fun i => G2 i ^ 2))) by apply sqrt_pos.
      apply norm_le; [apply Rmult_le_pos; [lra|easy]|]. rewrite Rpow_mult_distr.
      rewrite pow2_sqrt by (apply mean_ge0; intros; apply pow2_ge_0). unfold sq, mean. rewrite <- !Sum_scal.
      apply Sum_le; intros i Hi. destruct (HH i Hi) as [_ K]. fold (eps i) in K. rewrite <- (pow2_abs (eps i)).
      replace ((/ 2 * / r) ^ 2 * (/ INR m * G2 i ^ 2)) with ((/ 2 * (/ INR m * G2 i)) ^ 2)
        by (rewrite <- RR; field; lra).
      apply pow_incr. split; [apply Rabs_pos|exact K]. }
    apply Rle_trans with (r * Gamma * (/ 2 * / r * sqrt (mean m (fun i => G2 i ^ 2)))); [|right; field; lra].
    apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|exact E].
  - eapply Rle_trans; [apply norm_combination|].
    apply Rle_trans with (Sum m (fun i => rho_c / r * (sigma1 * (/ r * G1 i)))).
    + apply Sum_le; intros i Hi. destruct (HO i Hi) as (Hc & _). destruct (HH i Hi) as [K _].
      apply Rmult_le_compat; [apply norm_ge0|apply Rabs_pos|easy|easy].
    + right. unfold mean. rewrite <- !Sum_scal. apply Sum_ext; intros i _. rewrite <- RR. field. lra.
Qed.

(** kr-theorem-a-vector
    Covers: a part: the bounds on the Jacobian, for every Γ ≥ 0 with ‖Cv‖ ≤ √m Γ‖v‖, operator norms as bounds for every u in ℝᵏ, gradients as derivatives along every line. On the page: Theorem A and its drift for k outputs, and Γ at signs that are drawn.
    Reads: let tokens and query lie in the unit ball of ℝᵈ, |σ| ≤ σ₀, σ have the derivative s₁ with |s₁| ≤ σ₁, ‖Cv‖ ≤ √m Γ‖v‖ for all v, and L_i = σ₁ max(1, ‖U_i‖). For u in ℝᵏ the function ⟨u, f⟩ of (C, U, W) has the gradient (J_c, J_U, J_W) with J_c = h_i u_b/√m, J_U = ⟨u, c_i⟩∇_U h_i/√m, J_W = ⟨u, c_i⟩∇_W h_i/√m, that is Jᵀu. So ‖J_cᵀu‖² ≤ σ₀²‖u‖², ‖J_c‖²_F ≤ kσ₀² (a sum over the basis of ℝᵏ); for the parts in U and W together ‖J_θᵀu‖² ≤ (1/m) Σ L_i²⟨u, c_i⟩² ≤ Γ² max L_i² ‖u‖² and ‖J_θ‖²_F ≤ (1/m) Σ ‖c_i‖²L_i².
    Mistake: `<= sigma0 ^ 2) /\` for `<= INR k * sigma0 ^ 2) /\`
    Mistake: `<= / 2 * (Gamma ^ 2 * Lmax ^ 2 * sq k u))` for `<= Gamma ^ 2 * Lmax ^ 2 * sq k u)`
    Mistake: without `in_ball T d X ->`
*)
Theorem kr_theorem_a_vector : forall sigma s1 sigma0 sigma1 m k T d X q (C U : matrix) (W : nat -> matrix) Gamma,
  (forall z, is_derive sigma z (s1 z)) -> (forall z, Rabs (sigma z) <= sigma0) -> (forall z, Rabs (s1 z) <= sigma1) ->
  (0 < m)%nat -> (0 < T)%nat -> (0 < d)%nat -> in_ball T d X -> vnorm d q <= 1 ->
  0 <= Gamma -> (forall v, vnorm m (matvec k C v) <= sqrt (INR m) * Gamma * vnorm k v) ->
  let L i := sigma1 * Rmax 1 (vnorm d (U i)) in let z := / sqrt (INR m) in
  let Jc u : matrix := fun i b => z * head sigma T d X q (U i) (W i) * u b in
  let JU u i := vscal (z * dot k u (C i)) (gradient_U s1 T d X q (U i) (W i)) in
  let JW u i := mscal (z * dot k u (C i)) (gradient_W s1 T d X q (U i) (W i)) in
  let theta u := Sum m (fun i => length d (JU u i) (JW u i) ^ 2) in
  (forall u dC dU dW, is_derive (fun t => z * Sum m (fun i => dot k u (along (C i) (dC i) t) *
      head sigma T d X q (along (U i) (dU i) t) (shifted (W i) (dW i) t))) 0
    (fdot m k (Jc u) dC + Sum m (fun i => dot d (JU u i) (dU i) + fdot d d (JW u i) (dW i)))) /\
  (forall u, frob2 m k (Jc u) <= sigma0 ^ 2 * sq k u) /\
  (Sum k (fun a => frob2 m k (Jc (delta a))) <= INR k * sigma0 ^ 2) /\
  (forall u, theta u <= mean m (fun i => L i ^ 2 * dot k u (C i) ^ 2)) /\
  (forall u Lmax, (forall i, (i < m)%nat -> L i <= Lmax) ->
    mean m (fun i => L i ^ 2 * dot k u (C i) ^ 2) <= Gamma ^ 2 * Lmax ^ 2 * sq k u) /\
  Sum k (fun a => theta (delta a)) <= mean m (fun i => sq k (C i) * L i ^ 2).
Proof.
  intros sigma s1 sigma0 sigma1 m k T d X q C U W Gamma D1 B0 B1 Hm HT Hd B Q HG HC L z Jc JU JW theta.
  assert (N := INR_pos m Hm). assert (zz : z ^ 2 = / INR m).
  { unfold z. rewrite pow_inv, pow2_sqrt; [easy|lra]. }
  assert (S1 : 0 <= sigma1) by (eapply Rle_trans; [apply Rabs_pos|apply (B1 0)]).
  assert (L0 : forall i, 0 <= L i) by (intros; apply Rmult_le_pos; [easy|apply Rle_trans with 1; [lra|apply Rmax_l]]).
  assert (Cb : forall u, frob2 m k (Jc u) <= sigma0 ^ 2 * sq k u).
  { intros u. rewrite frob2_rows. apply Rle_trans with (Sum m (fun _ => / INR m * sigma0 ^ 2 * sq k u)).
    - apply Sum_le; intros i _. change (Jc u i) with (vscal (z * head sigma T d X q (U i) (W i)) u).
      rewrite sq_scal, Rpow_mult_distr, zz. apply Rmult_le_compat_r; [apply sq_ge0|].
      apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|]. rewrite <- pow2_abs. apply pow_incr.
      split; [apply Rabs_pos|apply B0].
    - rewrite Sum_const. right. field. lra. }
  assert (Tb : forall u, theta u <= mean m (fun i => L i ^ 2 * dot k u (C i) ^ 2)).
  { intros u. unfold mean. rewrite <- Sum_scal. apply Sum_le; intros i _.
    assert (G : length d (gradient_U s1 T d X q (U i) (W i)) (gradient_W s1 T d X q (U i) (W i)) <= L i).
    { apply length_dual; [easy|]. intros u' D. rewrite gradient_pairing. eapply Rle_trans; [apply Rle_abs|].
      rewrite Rabs_mult. unfold L. rewrite Rmult_assoc. apply Rmult_le_compat; try apply Rabs_pos; [apply B1|].
      apply slope_max; [easy|now apply weights_distribution|easy|now apply norm_le1|lra]. }
    assert (E : length d (JU u i) (JW u i) ^ 2 = (z * dot k u (C i)) ^ 2 *
      length d (gradient_U s1 T d X q (U i) (W i)) (gradient_W s1 T d X q (U i) (W i)) ^ 2).
    { rewrite !length_sq. unfold JU, JW. rewrite sq_scal, !frob2_fdot, fdot_scal_l, fdot_scal_r. ring. }
    rewrite E, Rpow_mult_distr, zz, (Rmult_comm (L i ^ 2)), <- Rmult_assoc. apply Rmult_le_compat_l.
    - apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat|apply pow2_ge_0].
    - apply pow_incr. split; [apply length_ge0|exact G]. }
  split; [|split; [exact Cb|split; [|split; [exact Tb|split]]]].
  - intros u dC dU dW. eapply derive_value.
    + apply (is_derive_scal (fun t => Sum m (fun i => dot k u (along (C i) (dC i) t) *
        head sigma T d X q (along (U i) (dU i) t) (shifted (W i) (dW i) t)))).
      apply (Sum_derive m (fun t i => dot k u (along (C i) (dC i) t) *
        head sigma T d X q (along (U i) (dU i) t) (shifted (W i) (dW i) t))). intros i _.
      eapply derive_value; [apply (derive_mult (fun t => dot k u (along (C i) (dC i) t)));
        [|apply (head_line sigma s1 T d X q _ _ _ _ HT D1)]|reflexivity].
      apply (is_derive_ext (fun t => dot k u (C i) + t * dot k u (dC i))).
      * intros t. change (along (C i) (dC i) t) with (vplus (C i) (vscal t (dC i))). now rewrite dot_plus_r, dot_scal_r.
      * instantiate (1 := dot k u (dC i)). auto_derive; [easy|ring].
    + cbv beta. unfold fdot at 1. rewrite <- Sum_plus, <- Sum_scal. apply Sum_ext; intros i _.
      rewrite !along_0, !shifted_0, <- gradient_pairing. unfold JU, JW. rewrite dot_scal_l, fdot_scal_l.
      change (Sum k (fun j => Jc u i j * dC i j)) with (dot k (vscal (z * head sigma T d X q (U i) (W i)) u) (dC i)).
      rewrite dot_scal_l. ring.
  - rewrite <- Sum_const. apply Sum_le; intros b Hb. eapply Rle_trans; [apply Cb|].
    rewrite sq_dot, dot_delta, delta_same by easy. lra.
  - intros u Lmax HL. apply Rle_trans with (Lmax ^ 2 * (/ INR m * sq m (matvec k C u))).
    + unfold mean, sq. rewrite <- !Sum_scal. apply Sum_le; intros i Hi. rewrite dot_sym. fold (matvec k C u i).
      change (dot k (C i) u) with (matvec k C u i).
      rewrite <- Rmult_assoc, (Rmult_comm (/ INR m)), Rmult_assoc. apply Rmult_le_compat_r.
      * apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat|apply pow2_ge_0].
      * apply pow_incr. auto.
    + specialize (HC u). apply norm_le_sq in HC. rewrite !Rpow_mult_distr, pow2_sqrt, norm_sq in HC by lra.
      apply Rle_trans with (Lmax ^ 2 * (/ INR m * (INR m * Gamma ^ 2 * sq k u))); [|right; field; lra].
      apply Rmult_le_compat_l; [apply pow2_ge_0|]. apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|lra].
  - apply Rle_trans with (Sum k (fun b => mean m (fun i => L i ^ 2 * dot k (delta b) (C i) ^ 2))); [now apply Sum_le|].
    right. unfold mean. rewrite Sum_scal, Sum_swap. f_equal. apply Sum_ext; intros i _. rewrite Sum_scal, Rmult_comm.
    f_equal. apply Sum_ext; intros b Hb. now rewrite dot_sym, dot_delta.
Qed.
