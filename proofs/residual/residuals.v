(** What a residual really does: rank, collapse, conditioning, the plateau, and coefficients. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
Require Import FunctionalExtensionality.
From Shallow Require Import base.sums base.vectors base.attention base.matrices base.gradient base.dependence.
From Shallow Require Import base.six_blocks base.activations.
Open Scope R_scope.

(** ‖Πy‖ ≤ ‖y‖ *)
Lemma centring_norm N y : (0 < N)%nat -> vnorm N (matvec N (centring N) y) <= vnorm N y.
Proof.
  intros HN. assert (P := INR_pos N HN). unfold vnorm. apply sqrt_le_1_alt.
  rewrite (sq_ext N _ (fun i => y i - / INR N * Sum N y)) by (intros; now apply centring_apply).
  unfold sq. rewrite (Sum_ext N _ (fun i => y i ^ 2 - (2 * / INR N * Sum N y * y i - (/ INR N * Sum N y) ^ 2)))
    by (intros; ring).
  rewrite Sum_minus, Sum_minus, Sum_scal, Sum_const.
  replace (2 * / INR N * Sum N y * Sum N y - INR N * (/ INR N * Sum N y) ^ 2) with (/ INR N * Sum N y ^ 2) by (field;
    lra).
  assert (0 < / INR N) by now apply Rinv_0_lt_compat. assert (0 <= Sum N y ^ 2) by apply pow2_ge_0. nra.
Qed.

(** I − A has dependent rows for every attention matrix A: it annihilates 1 *)
Lemma stationary N A : (0 < N)%nat -> stochastic N A -> dependent N N (fun i j => identity i j - A i j).
Proof.
  intros HN HA. destruct N as [|n]; [lia|]. destruct (too_many n (fun i j => identity i j - A i j)) as [v [Hv H]].
  exists v. split; [easy|]. intros j Hj. destruct (Nat.eq_dec j n) as [->|]; [|apply H; lia].
  set (f := fun j => Sum (S n) (fun i => v i * (identity i j - A i j))).
  assert (Z : Sum (S n) f = 0).
  { unfold f. rewrite <- Sum_swap. rewrite (Sum_ext _ _ (fun _ => 0)), Sum_zero; [easy|]. intros i Hi.
    rewrite Sum_scal, Sum_minus. destruct (HA i Hi) as [_ ->].
    rewrite (Sum_ext _ _ (fun j => identity i j * 1)), Sum_delta by (first [easy | intros; ring]). ring. }
  cbn [Sum] in Z. rewrite (Sum_ext n f (fun _ => 0)), Sum_zero in Z by (intros; apply H; lia).
  change (f n = 0). lra.
Qed.

Lemma output_scalar N d g X A c i k : (k < d)%nat ->
  output N d g X A (fun i k => c * identity i k) i k = g * X i k + c * matmul N A X i k.
Proof.
  intros Hk. unfold output. f_equal. unfold matmul at 1.
  rewrite (Sum_ext d _ (fun j => c * (matmul N A X i j * identity j k))) by (intros; ring).
  now rewrite Sum_scal, identity_sum_r.
Qed.

(** Z = gX + 1wᵀ with w = W_Vᵀ x̄ if all attention is uniform *)
Lemma uniform_output N d g X V i k : output N d g X (fun _ _ => / INR N) V i k = g * X i k + matvec d (transpose V)
  (column_means N X) k.
Proof.
  unfold output. f_equal. unfold matmul, matvec, transpose, column_means. apply Sum_ext. intros j _. rewrite
    Sum_scal. ring.
Qed.

Lemma softmax_two z t : softmax 2 z t = exp (z t) / (exp (z 0%nat) + exp (z 1%nat)).
Proof. unfold softmax. simpl. now rewrite Rplus_0_l. Qed.

(** rt-remark-q
    Covers: a part: parts 1 and 2 but for "almost all", in whose place stands one pair W_Q, W_K as exact numbers; on the page: without the residual the rank is N for almost all W_Q, W_K, and that σ_min(gX + 1wᵀ) is 0 only if ΠXu = 0 for some u ≠ 0.
    Reads: (1) for N ≥ 1 tokens, every attention matrix S (rows are distributions), g and X, the rows of Z = gX + SXW_V with W_V = −gI are linearly dependent. As exact numbers: for N = d = d_k = 2, X = W_Q = W_K = I, every γ > 0 and g > 0, S = softmax(γXW_QW_KᵀXᵀ) and W_V = −gI, the tokens are independent, the rows of Z = gX + SXW_V are dependent, and those of SXW_V are independent. If matrices S_n tend to I entry by entry, the entries of gX + S_nXW_V with W_V = −gI tend to 0. (2) For N > d ≥ 1, uniform attention, g > 0 and every W_V, Z = gX + 1wᵀ with w = W_Vᵀx̄, and σ_min(gX + 1wᵀ) ≥ g σ_min(ΠX) for every w, with equality for w = −gx̄; ΠXu = 0 if and only if all ⟨x_i, u⟩ are equal.
    Mistake: `~ dependent N d (output` for `dependent N d (output`
    Mistake: without `0 < gamma ->`
    Mistake: `g * 2 * sigma_min N d (matmul N (centring N) X)` for `g * sigma_min N d (matmul N (centring N) X)`
*)
Theorem rt_remark_q :
  (forall N d g X A, (0 < N)%nat -> stochastic N A ->
    dependent N d (output N d g X A (fun i k => - g * identity i k))) /\
  (forall gamma g, 0 < gamma -> 0 < g -> let A := softmax_rows 2 2 2 gamma identity identity identity in
    ~ dependent 2 2 identity /\ dependent 2 2 (output 2 2 g identity A (fun i k => - g * identity i k)) /\
    ~ (dependent 2 2 (output 2 2 0 identity A (fun i k => - g * identity i k)))) /\
  (forall N d g X (A : nat -> matrix),
    (forall i j, (i < N)%nat -> (j < N)%nat -> is_lim_seq (fun n => A n i j) (identity i j)) ->
    forall i k, (i < N)%nat -> (k < d)%nat ->
      is_lim_seq (fun n => output N d g X (A n) (fun i k => - g * identity i k) i k) 0) /\
  (forall N d g X, (0 < d < N)%nat -> 0 < g ->
    (forall V i k, output N d g X (fun _ _ => / INR N) V i k = g * X i k + matvec d (transpose V) (column_means N X)
      k) /\
    (forall w, sigma_min N d (fun i k => g * X i k + w k) >= g * sigma_min N d (matmul N (centring N) X)) /\
    sigma_min N d (fun i k => g * X i k + - g * column_means N X k) = g * (sigma_min N d (matmul N (centring N) X)) /\
    (forall u, (forall i, (i < N)%nat -> matvec d (matmul N (centring N) X) u i = 0) <->
      forall i j, (i < N)%nat -> (j < N)%nat -> dot d (X i) u = dot d (X j) u)).
Proof.
  split; [|split; [|split]].
  - intros N d g X A HN HA. destruct (stationary N A HN HA) as [v [Hv H]]. exists v. split; [easy|]. intros k Hk.
    rewrite (Sum_ext N _ (fun i => g * Sum N (fun j => v i * (identity i j - A i j) * X j k))).
    + rewrite Sum_scal, Sum_swap, (Sum_ext N _ (fun _ => 0)), Sum_zero; [ring|]. intros j Hj.
      rewrite (Sum_ext N _ (fun i => X j k * (v i * (identity i j - A i j)))) by (intros; ring).
      rewrite Sum_scal, H by easy. ring.
    + intros i Hi. rewrite output_scalar by easy.
      rewrite (Sum_ext N _ (fun j => v i * (identity i j * X j k - A i j * X j k))) by (intros; ring).
      rewrite Sum_scal, Sum_minus, Sum_delta by easy. unfold matmul. ring.
  - intros gamma g Hg Hg2 A.
    assert (E1 : exp 0 < exp gamma) by now apply exp_increasing. assert (E0 := exp_pos 0).
    assert (A00 : A 0%nat 0%nat = exp gamma / (exp gamma + exp 0)).
    { unfold A, softmax_rows. rewrite softmax_two. unfold logit_matrix, matmul, transpose, identity, delta. simpl.
      repeat f_equal; ring. }
    assert (A01 : A 0%nat 1%nat = exp 0 / (exp gamma + exp 0)).
    { unfold A, softmax_rows. rewrite softmax_two. unfold logit_matrix, matmul, transpose, identity, delta. simpl.
      repeat f_equal; ring. }
    assert (A10 : A 1%nat 0%nat = exp 0 / (exp 0 + exp gamma)).
    { unfold A, softmax_rows. rewrite softmax_two. unfold logit_matrix, matmul, transpose, identity, delta. simpl.
      repeat f_equal; ring. }
    assert (A11 : A 1%nat 1%nat = exp gamma / (exp 0 + exp gamma)).
    { unfold A, softmax_rows. rewrite softmax_two. unfold logit_matrix, matmul, transpose, identity, delta. simpl.
      repeat f_equal; ring. }
    split; [|split].
    + intros [v [[i [Hi Ni]] H]]. apply Ni. rewrite <- (H i Hi). now rewrite identity_sum_r.
    + exists (fun _ => 1). split; [exists 0%nat; split; [lia|lra]|]. intros k Hk.
      unfold Sum. rewrite !output_scalar by easy. unfold matmul, Sum.
      destruct k as [|[|k]]; [| |lia]; rewrite A00, A01, A10, A11; unfold identity, delta; simpl; field; lra.
    + intros [v [[i [Hi Ni]] H]]. assert (H0 := H 0%nat ltac:(lia)). assert (H1 := H 1%nat ltac:(lia)).
      unfold Sum in H0, H1. rewrite !output_scalar in H0, H1 by lia. unfold matmul, Sum in H0, H1.
      rewrite A00, A10, A01, A11 in *. unfold identity, delta in H0, H1. simpl in H0, H1.
      set (a := v 0%nat) in *. set (b := v 1%nat) in *. set (p := exp gamma) in *. set (q := exp 0) in *.
      assert (K0 : a * p + b * q = 0).
      { apply (Rmult_eq_reg_r (- g / (p + q))); [|apply Rlt_not_eq; apply (Rmult_lt_reg_r (p + q));
          [lra|field_simplify; lra]].
        rewrite Rmult_0_l, <- H0. field. lra. }
      assert (K1 : a * q + b * p = 0).
      { apply (Rmult_eq_reg_r (- g / (p + q))); [|apply Rlt_not_eq; apply (Rmult_lt_reg_r (p + q));
          [lra|field_simplify; lra]].
        rewrite Rmult_0_l, <- H1. field. lra. }
      assert (a + b = 0) by (apply (Rmult_eq_reg_r (p + q)); lra).
      assert (a - b = 0) by (apply (Rmult_eq_reg_r (p - q)); lra).
      apply Ni. destruct i as [|[|i]]; [| |lia]; fold a b; lra.
  - intros N d g X A HA i k Hi Hk.
    apply (is_lim_seq_ext (fun n => g * X i k + - g * Sum N (fun j => A n i j * X j k))).
    { intros n. now rewrite output_scalar. }
    replace (Finite 0) with (Finite (g * X i k + - g * Sum N (fun j => identity i j * X j k)))
      by (rewrite Sum_delta by easy; f_equal; ring).
    apply (is_lim_seq_plus' (fun _ => g * X i k)); [apply is_lim_seq_const|].
    apply (is_lim_seq_scal_l (fun n => Sum N (fun j => A n i j * X j k)) (- g) (Finite _)).
    assert (G : forall m, (m <= N)%nat -> is_lim_seq (fun n => Sum m (fun j => A n i j * X j k)) (Sum m (fun j =>
      identity i j * X j k))).
    { induction m; intros Hm; simpl; [apply is_lim_seq_const|]. apply is_lim_seq_plus'; [apply IHm; lia|].
      apply (is_lim_seq_scal_r (fun n => A n i m) (X m k) (Finite _)). apply HA; lia. }
    now apply G.
  - intros N d g X Hd Hg. assert (P := INR_pos N ltac:(lia)).
    assert (Sg : forall M, sigma_min N d M = shortest N d M).
    { intros M. unfold sigma_min. now replace (N <=? d)%nat with false by (symmetry; apply Nat.leb_gt; lia). }
    assert (PX : forall x i, (i < N)%nat -> matvec d (matmul N (centring N) X) x i = matvec N (centring N) (matvec d X
      x) i)
      by (intros; now rewrite matvec_matmul).
    assert (C : forall x w i, (i < N)%nat -> matvec N (centring N) (matvec d (fun i k => g * X i k + w k) x) i
      = g * matvec N (centring N) (matvec d X x) i).
    { intros x w i Hi. rewrite !centring_apply by easy.
      rewrite (Sum_ext N (matvec d (fun i k => g * X i k + w k) x) (fun i => g * matvec d X x i + dot d w x)).
      - rewrite Sum_plus, Sum_scal, Sum_const.
        replace (matvec d (fun i k => g * X i k + w k) x i) with (g * matvec d X x i + dot d w x); [field; lra|].
        unfold matvec, dot. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext. intros. ring.
      - intros j _. unfold matvec, dot. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext. intros. ring. }
    assert (B : forall w x, g * vnorm N (matvec d (matmul N (centring N) X) x) <= vnorm N (matvec d (fun i k => g * X i
      k + w k) x)).
    { intros w x. rewrite <- (Rabs_right g), <- norm_scal, Rabs_right by lra.
      rewrite (norm_ext N _ (matvec N (centring N) (matvec d (fun i k => g * X i k + w k) x))); [apply centring_norm;
        lia|].
      intros i Hi. unfold vscal. now rewrite PX, C. }
    assert (D : forall w, g * shortest N d (matmul N (centring N) X) <= shortest N d (fun i k => g * X i k + w k)).
    { intros w. apply shortest_ge; [lia|]. intros x Hx. eapply Rle_trans; [|apply B].
      apply Rmult_le_compat_l; [lra|now apply shortest_unit]. }
    split; [|split; [|split]].
    + intros. apply uniform_output.
    + intros w. rewrite !Sg. apply Rle_ge, D.
    + rewrite !Sg. apply Rle_antisym; [|apply (D (vscal (- g) (column_means N X)))].
      rewrite Rmult_comm. apply (Rle_div_l _ _ g); [lra|]. apply shortest_ge; [lia|]. intros x Hx.
      apply (Rle_div_l _ _ g); [lra|]. eapply Rle_trans; [apply shortest_unit, Hx|].
      rewrite Rmult_comm, <- (Rabs_right g) at 1 by lra. rewrite <- norm_scal. apply Req_le, norm_ext. intros i Hi.
      rewrite <- matvec_scal. unfold matvec. apply Sum_ext. intros k _. rewrite centring_matmul by easy.
      unfold vscal, column_means. ring.
    + intros u. split.
      * intros H i j Hi Hj. assert (H1 := H i Hi). assert (H2 := H j Hj). rewrite PX, centring_apply in H1, H2 by easy.
        change (dot d (X i) u) with (matvec d X u i). change (dot d (X j) u) with (matvec d X u j). lra.
      * intros H i Hi. rewrite PX, centring_apply by easy.
        rewrite (Sum_ext N _ (fun _ => matvec d X u i)) by (intros j Hj; apply (H j i); easy).
        rewrite Sum_const. field. lra.
Qed.

(** M − c G, a step of descent *)
Definition step (c : R) (M G : matrix) : matrix := fun i j => M i j - c * G i j.

Lemma network_scale N d dk d1 gamma g gf tau Q K V W1 W2 U X : 0 < g -> 0 <= tau ->
  network N d dk d1 gamma g gf (smoothed tau) Q K V W1 W2 U X
  = network N d dk d1 gamma 1 gf (smoothed (tau / g)) Q K (mscal (/ g) V) W1 W2 (mscal g U) X.
Proof.
  intros Hg Ht. apply functional_extensionality. intros i. apply functional_extensionality. intros m. unfold network.
  set (A := softmax_rows N d dk gamma Q K X). set (Z := output N d g X A V). set (Z' := output N d 1 X A (mscal (/ g)
    V)).
  assert (EZ : forall k, Z i k = g * Z' i k).
  { intros k. unfold Z, Z', output, mscal. unfold matmul at 1 3.
    rewrite (Sum_ext d (fun j => matmul N A X i j * (/ g * V j k)) (fun j => / g * (matmul N A X i j * V j k)))
      by (intros; ring).
    rewrite Sum_scal. field. lra. }
  assert (EH : forall l, matmul d Z W1 i l = g * matmul d Z' W1 i l).
  { intros l. unfold matmul. rewrite <- Sum_scal. apply Sum_ext. intros. rewrite EZ. ring. }
  unfold readout, matmul at 1 4. unfold mscal. apply Sum_ext. intros k _.
  rewrite EZ. unfold matmul at 1 3. replace (gf * (g * Z' i k) + Sum d1 (fun j => entrywise (smoothed tau) (matmul d Z
    W1) i j * W2 j k))
    with (g * (gf * Z' i k + Sum d1 (fun j => entrywise (smoothed (tau / g)) (matmul d Z' W1) i j * W2 j k))); [ring|].
  rewrite Rmult_plus_distr_l, <- Sum_scal. f_equal; [ring|]. apply Sum_ext. intros l _. unfold entrywise.
  rewrite EH, smoothed_scale by easy. ring.
Qed.

(** rt-theorem-u
    Covers: the whole statement, gradients as derivatives along every line, for one step of descent and so for every number of them.
    Reads: for every g > 0, τ ≥ 0 and g_f, with φ_τ the smoothed ReLU (φ_0 = relu), F_{g,τ}(W_Q, W_K, W_V, W_1, W_2, W_U) = F_{1,τ/g}(W_Q, W_K, W_V/g, W_1, W_2, gW_U). For any loss ℓ of the outputs of all sequences, if G_Q, …, G_U are the gradients of ℓ on the left at a point, by derivatives along every line, then G_Q, G_K, gG_V, G_1, G_2, G_U/g are those on the right at the corresponding point; and a step μ on the left is a step on the right with μ/g² for W_V, μg² for W_U and μ for the others.
    Mistake: `(smoothed tau) Q K (mscal (/ g) V)` for `(smoothed (tau / g)) Q K (mscal (/ g) V)`
    Mistake: `(mu / g)` for `(mu / g ^ 2)`
    Mistake: without `0 < g ->`
*)
Theorem rt_theorem_u : forall N d dk d1 m gamma g gf tau (ell : (nat -> matrix) -> R) (X : nat -> matrix), 0 < g ->
  0 <= tau ->
  (forall Q K V W1 W2 U p, network N d dk d1 gamma g gf (smoothed tau) Q K V W1 W2 U (X p)
    = network N d dk d1 gamma 1 gf (smoothed (tau / g)) Q K (mscal (/ g) V) W1 W2 (mscal g U) (X p)) /\
  (let left := fun Q K V W1 W2 U => ell (fun p => network N d dk d1 gamma g gf (smoothed tau) Q K V W1 W2 U (X p)) in
   let right := fun Q K V W1 W2 U => ell (fun p => network N d dk d1 gamma 1 gf (smoothed (tau * / g)) Q K V W1 W2 U (X
     p)) in
   forall Q K V W1 W2 U GQ GK GV G1 G2 GU mu,
    matrix_gradient d dk (fun M => left M K V W1 W2 U) Q GQ -> matrix_gradient d dk (fun M => left Q M V W1 W2 U) K
      GK ->
    matrix_gradient d d (fun M => left Q K M W1 W2 U) V GV -> matrix_gradient d d1 (fun M => left Q K V M W2 U) W1 G1 ->
    matrix_gradient d1 d (fun M => left Q K V W1 M U) W2 G2 -> matrix_gradient d m (fun M => left Q K V W1 W2 M) U GU ->
    let V' := mscal (/ g) V in let U' := mscal g U in
    (matrix_gradient d dk (fun M => right M K V' W1 W2 U') Q GQ /\ matrix_gradient d dk (fun M => right Q M V' W1 W2
      U') K GK /\
     matrix_gradient d d (fun M => right Q K M W1 W2 U') V' (mscal g GV) /\
       matrix_gradient d d1 (fun M => right Q K V' M W2 U') W1 G1 /\
     matrix_gradient d1 d (fun M => right Q K V' W1 M U') W2 G2 /\
       matrix_gradient d m (fun M => right Q K V' W1 W2 M) U' (mscal (/ g) GU)) /\
    step (mu / g ^ 2) V' (mscal g GV) = mscal (/ g) (step mu V GV) /\
    step (mu * g ^ 2) U' (mscal (/ g) GU) = mscal g (step mu U GU)).
Proof.
  intros N d dk d1 m gamma g gf tau ell X Hg Ht. split; [intros; now apply network_scale|].
  intros left right Q K V W1 W2 U GQ GK GV G1 G2 GU mu HQ HK HV H1 H2 HU V' U'.
  assert (LR : forall Q K V W1 W2 U, left Q K V W1 W2 U = right Q K (mscal (/ g) V) W1 W2 (mscal g U)).
  { intros. unfold left, right. f_equal. apply functional_extensionality. intros p. now apply network_scale. }
  assert (same : forall k n f f' M G, (forall M, f M = f' M) -> matrix_gradient k n f M G -> matrix_gradient k n f' M
    G).
  { intros k n f f' M G E H B. apply (is_derive_ext (fun e => f (shifted M B e))); [intros; apply E|apply H]. }
  assert (scaled : forall k n f f' M G c, c <> 0 -> (forall M, f M = f' (mscal c M)) -> matrix_gradient k n f M G ->
    matrix_gradient k n f' (mscal c M) (mscal (/ c) G)).
  { intros k n f f' M G c Hc E H B. rewrite fdot_scal_l.
    apply (is_derive_ext (fun e => f (shifted M B (/ c * e)))).
    - intros e. rewrite E. f_equal. matrix_ext. unfold shifted, mplus, mscal. field. easy.
    - apply (is_derive_comp (fun e => f (shifted M B e)) (fun e => / c * e)).
      + rewrite Rmult_0_r. apply H.
      + auto_derive; [easy|ring]. }
  split; [split; [|split; [|split; [|split; [|split]]]]|split].
  - apply (same _ _ _ _ _ _ (fun M => LR M K V W1 W2 U) HQ).
  - apply (same _ _ _ _ _ _ (fun M => LR Q M V W1 W2 U) HK).
  - assert (K1 := scaled _ _ _ (fun M => right Q K M W1 W2 U') V GV (/ g) ltac:(apply Rinv_neq_0_compat;
      lra) (fun M => LR Q K M W1 W2 U) HV).
    rewrite Rinv_inv in K1. exact K1.
  - apply (same _ _ _ _ _ _ (fun M => LR Q K V M W2 U) H1).
  - apply (same _ _ _ _ _ _ (fun M => LR Q K V W1 M U) H2).
  - apply (scaled _ _ _ (fun M => right Q K V' W1 W2 M) U GU g ltac:(lra) (fun M => LR Q K V W1 W2 M) HU).
  - apply functional_extensionality. intros i. apply functional_extensionality. intros j. unfold step, V', mscal.
      field. lra.
  - apply functional_extensionality. intros i. apply functional_extensionality. intros j. unfold step, U', mscal.
      field. lra.
Qed.
