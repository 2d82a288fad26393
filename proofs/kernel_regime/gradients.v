(** The gradients of the model: their closed form, their bounds for every length, and where they fade. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.spread base.softmax_derivative base.multihead
  base.leader base.hyperbolic base.delta.
Open Scope R_scope.

(** ⟨A, B⟩_F of d × d matrices *)
Definition frob_inner (d : nat) (A B : matrix) : R := Sum d (fun k => Sum d (fun l => A k l * B k l)).

(** f at the parameters (c, U, W) + e (dc, dU, dW) *)
Definition along sigma m T d X q c (U : matrix) (W : nat -> matrix) dc (dU : matrix) (dW : nat -> matrix) (e : R) : R :=
  model sigma m T d X q (fun i => c i + e * dc i) (fun i k => U i k + e * dU i k) (fun i k l => W i k l + e * dW i k l).

(** the partial derivatives of f in c_i, in the entries of U_i and in those of W_i *)
Definition nabla_c sigma m T d X q c U W (i : nat) : R :=
  Derive (along sigma m T d X q c U W (delta i) (fun _ _ => 0) (fun _ _ _ => 0)) 0.
Definition nabla_U sigma m T d X q c U W (i : nat) : vector := fun k =>
  Derive (along sigma m T d X q c U W (fun _ => 0) (fun j n => delta i j * delta k n) (fun _ _ _ => 0)) 0.
Definition nabla_W sigma m T d X q c U W (i : nat) : matrix := fun k l =>
  Derive (along sigma m T d X q c U W (fun _ => 0) (fun _ _ => 0) (fun j n p => delta i j * (delta k n * delta l p))) 0.

(** (M v)_k = E (⟨X, v⟩ − E⟨X, v⟩) X_k *)
Lemma covariance_apply T d alpha X v k : distribution T alpha ->
  matvec d (covariance T alpha X) v k =
  E T alpha (fun t => (dot d (X t) v - E T alpha (fun s => dot d (X s) v)) * X t k).
Proof.
  intros H. set (a := attended T alpha X). rewrite (score_split T d X v). fold a.
  rewrite (E_ext T alpha _ (fun t => (dot d (X t) v * X t k - dot d v a * X t k))) by (intros; ring).
  rewrite E_minus, E_scal. unfold matvec.
  rewrite (Sum_ext d _ (fun j => moment T alpha X k j * v j - a k * (v j * a j))).
  - rewrite Sum_minus, Sum_scal. change (E T alpha (fun t => X t k)) with (a k). unfold dot at 2. rewrite Rmult_comm.
    f_equal. rewrite (E_ext T alpha _ (fun t => Sum d (fun j => v j * (X t k * X t j)))).
    + rewrite E_Sum. apply Sum_ext; intros j _. rewrite E_scal. unfold moment. ring.
    + intros t _. unfold dot. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring.
  - intros j _. rewrite covariance_moment by easy. fold a. ring.
Qed.

Lemma pooled_derive T d X q W dW k : (0 < T)%nat ->
  is_derive (fun e => pooled T d X q (fun i j => W i j + e * dW i j) k) 0
    (matvec d (covariance T (weights T d X q W) X) (matvec d dW q) k).
Proof.
  intros HT. set (z := fun t => dot d (X t) (matvec d W q)). set (v := fun t => dot d (X t) (matvec d dW q)).
  apply is_derive_ext with (f := fun e => E T (softmax T (fun s => z s + e * v s)) (fun t => X t k)).
  - intros e. unfold pooled, attended, E, weights. apply Sum_ext; intros t _. f_equal.
    assert (Q : forall s, z s + e * v s = dot d (X s) (matvec d (fun i j => W i j + e * dW i j) q)).
    { intros s. unfold z, v, dot, matvec. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext; intros i _.
      rewrite (Sum_ext d (fun j => (W i j + e * dW i j) * q j) (fun j => W i j * q j + e * (dW i j * q j))) by
        (intros; ring).
      rewrite Sum_plus, Sum_scal. ring. }
    unfold softmax. rewrite Q. f_equal. apply Sum_ext; intros; now rewrite Q.
  - eapply derive_value; [now apply mean_derive_const|].
    rewrite covariance_apply by now apply weights_distribution. reflexivity.
Qed.

(** ⟨U, M dW q⟩ = ⟨(M U) qᵀ, dW⟩ *)
Lemma turn d M U dW q : (forall i j, M i j = M j i) ->
  dot d U (matvec d M (matvec d dW q)) = frob_inner d (fun k l => matvec d M U k * q l) dW.
Proof.
  intros S. unfold dot, frob_inner.
  rewrite (Sum_ext d _ (fun i => Sum d (fun k => U i * M i k * matvec d dW q k))).
  - rewrite Sum_swap. apply Sum_ext; intros k _. unfold matvec at 2.
    rewrite (Sum_ext d _ (fun i => matvec d dW q k * (M k i * U i))) by (intros; rewrite (S k); ring).
    rewrite Sum_scal, Rmult_comm. unfold matvec. rewrite <- Sum_scal. apply Sum_ext; intros; ring.
  - intros i _. unfold matvec at 1. rewrite <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma covariance_sym T alpha X i j : covariance T alpha X i j = covariance T alpha X j i.
Proof. apply E_ext; intros; ring. Qed.

Lemma head_derive sigma T d X q U W dU dW : (0 < T)%nat -> (forall x, ex_derive sigma x) ->
  let a := pooled T d X q W in let M := covariance T (weights T d X q W) X in
  is_derive (fun e => head sigma T d X q (fun k => U k + e * dU k) (fun k l => W k l + e * dW k l)) 0
    (Derive sigma (dot d U a) * (dot d a dU + frob_inner d (fun k l => matvec d M U k * q l) dW)).
Proof.
  intros HT Hs a M. pose (p e k := pooled T d X q (fun i j => W i j + e * dW i j) k).
  assert (p0 : forall k, p 0 k = a k).
  { intros k. unfold p, a, pooled, attended, E, weights. apply Sum_ext; intros t _. f_equal.
    assert (Q : forall s, dot d (X s) (matvec d (fun i j => W i j + 0 * dW i j) q) = dot d (X s) (matvec d W q)).
    { intros s. unfold dot, matvec. apply Sum_ext; intros. f_equal. apply Sum_ext; intros; ring. }
    unfold softmax. rewrite Q. f_equal. apply Sum_ext; intros; now rewrite Q. }
  assert (D : is_derive (fun e => Sum d (fun k => (U k + e * dU k) * p e k)) 0
    (dot d a dU + frob_inner d (fun k l => matvec d M U k * q l) dW)).
  { eapply derive_value.
    - apply (Sum_derive d (fun e k => (U k + e * dU k) * p e k)). intros k _.
      apply (derive_mult (fun e => U k + e * dU k) (fun e => p e k)); [|exact (pooled_derive T d X q W dW k HT)].
      instantiate (1 := dU k). auto_derive; [easy|ring].
    - cbv beta. rewrite Sum_plus. f_equal.
      + apply Sum_ext; intros. rewrite p0. ring.
      + rewrite <- turn by (intros; apply covariance_sym). apply Sum_ext; intros. fold M. ring. }
  assert (Z0 : Sum d (fun k => (U k + 0 * dU k) * p 0 k) = dot d U a).
  { apply Sum_ext; intros. rewrite p0. ring. }
  assert (S := Derive_correct sigma _ (Hs (dot d U a))). rewrite <- Z0 in S at 1.
  eapply derive_value; [exact (is_derive_comp sigma (fun e => Sum d (fun k => (U k + e * dU k) * p e k)) 0 _ _ S D)|].
  apply Rmult_comm.
Qed.

Lemma along_derive sigma m T d X q c U W dc dU dW : (0 < T)%nat -> (forall x, ex_derive sigma x) ->
  is_derive (along sigma m T d X q c U W dc dU dW) 0 (/ sqrt (INR m) * Sum m (fun i =>
    let a := pooled T d X q (W i) in let M := covariance T (weights T d X q (W i)) X in
    sigma (dot d (U i) a) * dc i +
    c i * (Derive sigma (dot d (U i) a) *
      (dot d a (dU i) + frob_inner d (fun k l => matvec d M (U i) k * q l) (dW i))))).
Proof.
  intros HT Hs. unfold along, model.
  apply (is_derive_scal (fun e => Sum m (fun i => (c i + e * dc i) *
    head sigma T d X q (fun k => U i k + e * dU i k) (fun k l => W i k l + e * dW i k l)))).
  apply (Sum_derive m (fun e i => (c i + e * dc i) *
    head sigma T d X q (fun k => U i k + e * dU i k) (fun k l => W i k l + e * dW i k l))). intros i _. cbv zeta.
  assert (H0 : head sigma T d X q (fun k => U i k + 0 * dU i k) (fun k l => W i k l + 0 * dW i k l) =
    head sigma T d X q (U i) (W i)).
  { unfold head, dot, pooled, attended, E, weights. f_equal. apply Sum_ext; intros k _. f_equal; [ring|].
    apply Sum_ext; intros t _. f_equal.
    assert (Q : forall s, dot d (X s) (matvec d (fun k l => W i k l + 0 * dW i k l) q) =
      dot d (X s) (matvec d (W i) q)).
    { intros s. unfold dot, matvec. apply Sum_ext; intros. f_equal. apply Sum_ext; intros; ring. }
    unfold softmax. rewrite Q. f_equal. apply Sum_ext; intros; now rewrite Q. }
  eapply derive_value.
  - apply derive_mult; [|now apply head_derive]. instantiate (1 := dc i). auto_derive; [easy|ring].
  - cbv beta. rewrite H0. unfold head. ring.
Qed.

Lemma frob_zero d A B : (forall k l, (k < d)%nat -> (l < d)%nat -> B k l = 0) -> frob_inner d A B = 0.
Proof.
  intros H. unfold frob_inner. rewrite <- (Sum_zero d). apply Sum_ext; intros k Hk. rewrite <- (Sum_zero d).
  apply Sum_ext; intros l Hl. rewrite H by easy. ring.
Qed.

Lemma frob_delta d A k l : (k < d)%nat -> (l < d)%nat -> frob_inner d A (fun n p => delta k n * delta l p) = A k l.
Proof.
  intros Hk Hl. unfold frob_inner. rewrite (Sum_ext d _ (fun n => delta k n * A n l)).
  - now rewrite (Sum_delta d k (fun n => A n l)).
  - intros n _. rewrite (Sum_ext d _ (fun p => delta k n * (delta l p * A n p))) by (intros; ring).
    rewrite Sum_scal, (Sum_delta d l (A n)) by easy. ring.
Qed.

Lemma dot_zero d a b : (forall k, (k < d)%nat -> b k = 0) -> dot d a b = 0.
Proof. intros H. unfold dot. rewrite <- (Sum_zero d). apply Sum_ext; intros k Hk. rewrite H by easy. ring. Qed.

(** kr-lemma-1
    Covers: the whole statement, for every differentiable σ.
    Reads: for T ≥ 1, any σ differentiable on ℝ, tokens, query and parameters, with z_i = ⟨U_i, a_i⟩: ∂f/∂c_i = σ(z_i)/√m; ∇_{U_i} f = c_i σ′(z_i)/√m · a_i; ∇_{W_i} f = c_i σ′(z_i)/√m · (M_i U_i) qᵀ, as partial derivatives in every entry; and along any line (c, U, W) + e (dc, dU, dW), f has at e = 0 the derivative Σ_i (∂f/∂c_i dc_i + ⟨∇_{U_i} f, dU_i⟩ + ⟨∇_{W_i} f, dW_i⟩_F).
    Mistake: `matvec d (M i) (a i) k * q l` for `matvec d (M i) (U i) k * q l`
    Mistake: `= sigma (z i) / INR m` for `= sigma (z i) / sqrt (INR m)`
    Mistake: without `* a i k`
*)
Theorem kr_lemma_1 : forall sigma m T d X q c U W, (0 < T)%nat -> (forall x, ex_derive sigma x) ->
  let a i := pooled T d X q (W i) in let z i := dot d (U i) (a i) in
  let M i := covariance T (weights T d X q (W i)) X in
  (forall i, (i < m)%nat -> nabla_c sigma m T d X q c U W i = sigma (z i) / sqrt (INR m)) /\
  (forall i k, (i < m)%nat -> (k < d)%nat ->
    nabla_U sigma m T d X q c U W i k = c i * Derive sigma (z i) / sqrt (INR m) * a i k) /\
  (forall i k l, (i < m)%nat -> (k < d)%nat -> (l < d)%nat -> nabla_W sigma m T d X q c U W i k l =
    c i * Derive sigma (z i) / sqrt (INR m) * (matvec d (M i) (U i) k * q l)) /\
  (forall dc dU dW, is_derive (along sigma m T d X q c U W dc dU dW) 0
    (Sum m (fun i => nabla_c sigma m T d X q c U W i * dc i + dot d (nabla_U sigma m T d X q c U W i) (dU i) +
      frob_inner d (nabla_W sigma m T d X q c U W i) (dW i)))).
Proof.
  intros sigma m T d X q c U W HT Hs a z M.
  assert (Z1 : forall A, frob_inner d A (fun _ _ => 0) = 0) by (intros; now apply frob_zero).
  assert (Z2 : forall v, dot d v (fun _ => 0) = 0) by (intros; now apply dot_zero).
  assert (C : forall i, (i < m)%nat -> nabla_c sigma m T d X q c U W i = sigma (z i) / sqrt (INR m)).
  { intros i Hi. unfold nabla_c. rewrite (is_derive_unique _ _ _ (along_derive _ _ _ _ _ _ _ _ _ _ _ _ HT Hs)).
    cbv zeta. rewrite (Sum_ext m _ (fun j => delta i j * sigma (z j))).
    - rewrite Sum_delta by easy. unfold Rdiv. ring.
    - intros j _. rewrite Z1, Z2. unfold z, a. ring. }
  assert (V : forall i k, (i < m)%nat -> (k < d)%nat ->
    nabla_U sigma m T d X q c U W i k = c i * Derive sigma (z i) / sqrt (INR m) * a i k).
  { intros i k Hi Hk. unfold nabla_U. rewrite (is_derive_unique _ _ _ (along_derive _ _ _ _ _ _ _ _ _ _ _ _ HT Hs)).
    cbv zeta. rewrite (Sum_ext m _ (fun j => delta i j * (c j * Derive sigma (z j) * a j k))).
    - rewrite (Sum_delta m i (fun j => c j * Derive sigma (z j) * a j k)) by easy. unfold Rdiv. ring.
    - intros j _. rewrite Z1.
      assert (Q : dot d (a j) (fun n => delta i j * delta k n) = delta i j * a j k).
      { rewrite dot_sym. change (fun n => delta i j * delta k n) with (vscal (delta i j) (delta k)).
        rewrite dot_scal_l, dot_sym, dot_delta by easy. reflexivity. }
      unfold a in Q. rewrite Q. unfold z, a. ring. }
  assert (P : forall i k l, (i < m)%nat -> (k < d)%nat -> (l < d)%nat -> nabla_W sigma m T d X q c U W i k l =
    c i * Derive sigma (z i) / sqrt (INR m) * (matvec d (M i) (U i) k * q l)).
  { intros i k l Hi Hk Hl. unfold nabla_W.
    rewrite (is_derive_unique _ _ _ (along_derive _ _ _ _ _ _ _ _ _ _ _ _ HT Hs)).
    cbv zeta. rewrite (Sum_ext m _ (fun j => delta i j * (c j * Derive sigma (z j) * (matvec d (M j) (U j) k * q l)))).
    - rewrite (Sum_delta m i (fun j => c j * Derive sigma (z j) * (matvec d (M j) (U j) k * q l))) by easy.
      unfold Rdiv. ring.
    - intros j _. rewrite Z2. destruct (Nat.eq_dec j i) as [->|N].
      + rewrite delta_same.
        assert (Q : forall A, frob_inner d A (fun n p => 1 * (delta k n * delta l p)) = A k l).
        { intros A. rewrite <- (frob_delta d A k l Hk Hl). apply Sum_ext; intros; apply Sum_ext; intros; ring. }
        rewrite Q. unfold z, a, M. ring.
      + rewrite (delta_other i j N), frob_zero by (intros; ring). ring. }
  split; [exact C|split; [exact V|split; [exact P|]]].
  intros dc dU dW. eapply derive_value; [now apply along_derive|]. rewrite <- Sum_scal. apply Sum_ext; intros i Hi.
  cbv zeta. fold (a i). fold (z i). fold (M i).
  rewrite (C i Hi). set (g := c i * Derive sigma (z i) / sqrt (INR m)).
  assert (Q1 : dot d (nabla_U sigma m T d X q c U W i) (dU i) = g * dot d (a i) (dU i)).
  { unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros k Hk. rewrite V by easy. unfold g. ring. }
  assert (Q2 : frob_inner d (nabla_W sigma m T d X q c U W i) (dW i) =
    g * frob_inner d (fun k l => matvec d (M i) (U i) k * q l) (dW i)).
  { unfold frob_inner. rewrite <- Sum_scal. apply Sum_ext; intros k Hk. rewrite <- Sum_scal.
    apply Sum_ext; intros l Hl. rewrite P by easy. unfold g. ring. }
  rewrite Q1, Q2. unfold g, Rdiv. ring.
Qed.

(** ‖u qᵀ‖_F = ‖u‖ ‖q‖, and the norms of the gradients in W_i and U_i *)
Lemma fnorm_outer d g u q A : (forall k l, (k < d)%nat -> (l < d)%nat -> A k l = g * (u k * q l)) ->
  fnorm d d A = Rabs g * (vnorm d u * vnorm d q).
Proof.
  intros H. rewrite <- (Rabs_right (vnorm d u * vnorm d q)) by (apply Rle_ge, Rmult_le_pos; apply norm_ge0).
  rewrite <- Rabs_mult, <- sqrt_Rsqr_abs, Rsqr_pow2. unfold fnorm. f_equal.
  rewrite !Rpow_mult_distr, !norm_sq. unfold frob2. transitivity (Sum d (fun k => g ^ 2 * sq d q * u k ^ 2)).
  - apply Sum_ext; intros k Hk. replace (g ^ 2 * sq d q * u k ^ 2) with (g ^ 2 * u k ^ 2 * sq d q) by ring.
    unfold sq. rewrite <- Sum_scal. apply Sum_ext; intros l Hl. rewrite H by easy. ring.
  - rewrite Sum_scal. unfold sq at 2. ring.
Qed.

Lemma vnorm_scaled d g a v : (forall k, (k < d)%nat -> v k = g * a k) -> vnorm d v = Rabs g * vnorm d a.
Proof.
  intros H. rewrite <- norm_scal. unfold vnorm. f_equal. apply Sum_ext; intros k Hk. now rewrite H.
Qed.

Lemma root_div g m : (0 < m)%nat -> Rabs (g / sqrt (INR m)) = Rabs g / sqrt (INR m).
Proof.
  intros Hm. assert (P : 0 < sqrt (INR m)) by now apply sqrt_lt_R0, lt_0_INR.
  unfold Rdiv. rewrite Rabs_mult, (Rabs_right (/ _)); [easy|]. left. now apply Rinv_0_lt_compat.
Qed.

Lemma norm_nabla_W sigma m T d X q c U W i : (0 < T)%nat -> (forall x, ex_derive sigma x) -> (i < m)%nat ->
  fnorm d d (nabla_W sigma m T d X q c U W i) =
  Rabs (c i) * Rabs (Derive sigma (dot d (U i) (pooled T d X q (W i)))) / sqrt (INR m) *
  (vnorm d (matvec d (covariance T (weights T d X q (W i)) X) (U i)) * vnorm d q).
Proof.
  intros HT Hs Hi. destruct (kr_lemma_1 sigma m T d X q c U W HT Hs) as (_ & _ & P & _).
  rewrite (fnorm_outer d _ _ _ _ (fun k l => P i k l Hi)), root_div, Rabs_mult by lia. reflexivity.
Qed.

Lemma norm_nabla_U sigma m T d X q c U W i : (0 < T)%nat -> (forall x, ex_derive sigma x) -> (i < m)%nat ->
  vnorm d (nabla_U sigma m T d X q c U W i) =
  Rabs (c i) * Rabs (Derive sigma (dot d (U i) (pooled T d X q (W i)))) / sqrt (INR m) * vnorm d (pooled T d X q (W i)).
Proof.
  intros HT Hs Hi. destruct (kr_lemma_1 sigma m T d X q c U W HT Hs) as (_ & P & _).
  rewrite (vnorm_scaled d _ _ _ (fun k => P i k Hi)), root_div, Rabs_mult by lia. reflexivity.
Qed.

(** factors below their bounds: |c| s x / r ≤ |c| s₁ y / r *)
Lemma factors c s s1 r x y : 0 <= s <= s1 -> 0 < r -> 0 <= x <= y -> Rabs c * s / r * x <= Rabs c * s1 * y / r.
Proof.
  intros Hs Hr Hx. assert (C := Rabs_pos c). unfold Rdiv.
  replace (Rabs c * s * / r * x) with (Rabs c * / r * (s * x)) by ring.
  replace (Rabs c * s1 * y * / r) with (Rabs c * / r * (s1 * y)) by ring.
  apply Rmult_le_compat_l; [apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]|].
  apply Rmult_le_compat; easy.
Qed.

Lemma root_pos m : (0 < m)%nat -> 0 < sqrt (INR m).
Proof. intros. now apply sqrt_lt_R0, lt_0_INR. Qed.

(** kr-remark-4
    Covers: the whole statement.
    Reads: for T ≥ 1 tokens of norm at most 1, ‖q‖ ≤ 1, σ differentiable with |σ′| ≤ σ₁, and every head i of m: M = Σ α_t X_t X_tᵀ − a aᵀ, tr M ≤ 1, ‖M‖_F ≤ 1, and ‖∇_{W_i} f‖_F ≤ |c_i| σ₁ ‖U_i‖ / √m.
    Mistake: without `vnorm d q <= 1 ->`
    Mistake: `vnorm d (U i) / INR m` for `vnorm d (U i) / sqrt (INR m)`
    Mistake: `trace d M <= 1 / 2` for `trace d M <= 1`
*)
Theorem kr_remark_4 : forall sigma s1 m T d X q c U W i, (0 < T)%nat -> (i < m)%nat ->
  (forall x, ex_derive sigma x) -> (forall x, Rabs (Derive sigma x) <= s1) -> in_ball T d X -> vnorm d q <= 1 ->
  let alpha := weights T d X q (W i) in let M := covariance T alpha X in let a := pooled T d X q (W i) in
  (forall k l, M k l = moment T alpha X k l - a k * a l) /\ trace d M <= 1 /\ fnorm d d M <= 1 /\
  fnorm d d (nabla_W sigma m T d X q c U W i) <= Rabs (c i) * s1 * vnorm d (U i) / sqrt (INR m).
Proof.
  intros sigma s1 m T d X q c U W i HT Hi Hs H1 B Hq alpha M a.
  assert (H : distribution T alpha) by now apply weights_distribution.
  assert (t1 : trace d M <= 1).
  { assert (G := trace_ball T d alpha X H B). assert (S := sq_ge0 d (attended T alpha X)). unfold M. lra. }
  split; [intros; now apply covariance_moment|]. split; [exact t1|].
  split; [apply Rle_trans with (trace d M); [now apply fnorm_trace|exact t1]|].
  rewrite norm_nabla_W by easy. fold alpha M a. apply factors; [split; [apply Rabs_pos|apply H1]|apply root_pos; lia|].
  split; [apply Rmult_le_pos; apply norm_ge0|].
  rewrite <- (Rmult_1_r (vnorm d (U i))). apply Rmult_le_compat; try apply norm_ge0; [|easy].
  eapply Rle_trans; [now apply matvec_trace|]. fold M. rewrite <- (Rmult_1_l (vnorm d (U i))) at 2.
  apply Rmult_le_compat_r; [apply norm_ge0|easy].
Qed.

(** kr-remark-5
    Covers: the whole statement.
    Reads: for T ≥ 1 tokens of norm at most 1, any query, σ differentiable with |σ′| ≤ σ₁, and every head i of m: ‖a_i‖ ≤ 1 and ‖∇_{U_i} f‖ ≤ |c_i| σ₁ / √m.
    Mistake: without `in_ball T d X ->`
    Mistake: `s1 / INR m` for `s1 / sqrt (INR m)`
*)
Theorem kr_remark_5 : forall sigma s1 m T d X q c U W i, (0 < T)%nat -> (i < m)%nat ->
  (forall x, ex_derive sigma x) -> (forall x, Rabs (Derive sigma x) <= s1) -> in_ball T d X ->
  vnorm d (pooled T d X q (W i)) <= 1 /\
  vnorm d (nabla_U sigma m T d X q c U W i) <= Rabs (c i) * s1 / sqrt (INR m).
Proof.
  intros sigma s1 m T d X q c U W i HT Hi Hs H1 B.
  assert (A : vnorm d (pooled T d X q (W i)) <= 1) by (apply attended_ball; [now apply weights_distribution|easy]).
  split; [exact A|]. rewrite norm_nabla_U by easy. rewrite <- (Rmult_1_r (Rabs (c i) * s1)).
  apply factors; [split; [apply Rabs_pos|apply H1]|apply root_pos; lia|split; [apply norm_ge0|easy]].
Qed.

(** the attention matrices W with the one of head i replaced by A *)
Definition replace (W : nat -> matrix) (i : nat) (A : matrix) : nat -> matrix := fun j =>
  if (j =? i)%nat then A else W j.

(** the first token is e, all others are −e *)
Definition against (e : vector) : matrix := fun t k => if (t =? 0)%nat then e k else - e k.

Lemma replace_same W i A : replace W i A i = A.
Proof. unfold replace. now rewrite Nat.eqb_refl. Qed.

Lemma against_camps T d e : camps T d (fun t => (t =? 0)%nat) e (against e).
Proof. easy. Qed.

Lemma against_ball T d e : vnorm d e = 1 -> in_ball T d (against e).
Proof.
  intros H t _. right. rewrite <- H. unfold vnorm. f_equal. apply Sum_ext; intros k _. unfold against.
  destruct (t =? 0)%nat; ring.
Qed.

(** one attention matrix gives the first token of two camps any weight p *)
Lemma against_mass T d e q p : (2 <= T)%nat -> vnorm d e = 1 -> vnorm d q = 1 -> 0 < p < 1 ->
  exists A, mass T (weights T d (against e) q A) (fun t => (t =? 0)%nat) = p.
Proof.
  intros HT He Hq Hp. apply norm_eq1 in He, Hq. set (n := INR (T - 1)).
  assert (Hn : 0 < n) by (apply lt_0_INR; lia). set (w := ln (n * p / (1 - p)) / 2).
  assert (Q : 0 < n * p / (1 - p)) by (apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat|]; lra).
  exists (fun k l => w * e k * q l).
  assert (L : forall k, matvec d (fun k l => w * e k * q l) q k = w * e k).
  { intros k. unfold matvec. rewrite (Sum_ext d _ (fun l => w * e k * q l ^ 2)) by (intros; ring).
    rewrite Sum_scal. fold (sq d q). rewrite Hq. ring. }
  unfold weights. rewrite (one_against T _ w (- w)) by (lia || (intros t _;
    unfold dot, against; rewrite (Sum_ext d _ (fun k => (if (t =? 0)%nat then w else - w) * e k ^ 2))
      by (intros; rewrite L; destruct (t =? 0)%nat; ring); rewrite Sum_scal; fold (sq d e); rewrite He; ring)).
  fold n. assert (P := exp_pos w). assert (G := exp_pos (- w)).
  assert (E2 : exp w = exp (- w) * (n * p / (1 - p))).
  { rewrite <- (exp_ln _ Q) at 1. rewrite <- exp_plus. f_equal. unfold w. field. }
  rewrite E2. set (r := n * p / (1 - p)) in *. assert (r * (1 - p) = n * p) by (unfold r; field; lra).
  assert (0 < exp (- w) * r) by now apply Rmult_lt_0_compat.
  assert (0 < n * exp (- w)) by now apply Rmult_lt_0_compat.
  transitivity (r / (r + n)); [field; repeat split; lra|]. apply (Rmult_eq_reg_r (r + n)); [|lra]. field_simplify; lra.
Qed.

(** for camps of masses (1 ± s)/2: ⟨U, a⟩ = s ⟨U, e⟩ and ‖M U‖ = (1 − s²) |⟨U, e⟩| *)
Lemma camps_response T d alpha S e X s U : distribution T alpha -> vnorm d e = 1 -> camps T d S e X ->
  mass T alpha S = (1 + s) / 2 -> 0 <= 1 - s ^ 2 -> dot d U (attended T alpha X) = s * dot d U e /\
  vnorm d (matvec d (covariance T alpha X) U) = (1 - s ^ 2) * Rabs (dot d U e).
Proof.
  intros H N C P Hs. split.
  - unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros k Hk. rewrite (camps_mean T d alpha S e X s) by easy. ring.
  - rewrite (vnorm_scaled d ((1 - s ^ 2) * dot d U e) e), N, Rabs_mult, (Rabs_right (1 - s ^ 2)); [ring|lra|].
    intros k Hk. unfold matvec, dot. rewrite (Sum_ext d _ (fun j => (1 - s ^ 2) * e k * (U j * e j))).
    + rewrite Sum_scal. ring.
    + intros j Hj. rewrite (camps_covariance T d alpha S e X s) by easy. ring.
Qed.

Lemma unit_along d U : vnorm d U <> 0 -> vnorm d (vscal (/ vnorm d U) U) = 1 /\
  dot d U (vscal (/ vnorm d U) U) = vnorm d U.
Proof.
  intros N. assert (P : 0 < vnorm d U) by (assert (G := norm_ge0 d U); lra).
  assert (I := Rinv_0_lt_compat _ P). split.
  - rewrite norm_scal, Rabs_right by lra. field. lra.
  - rewrite dot_sym, dot_scal_l, <- sq_dot, <- norm_sq. field. lra.
Qed.

Lemma orthogonal d U : (2 <= d)%nat -> exists b, vnorm d b = 1 /\ dot d U b = 0.
Proof.
  intros Hd. destruct (Req_dec (U 0%nat ^ 2 + U 1%nat ^ 2) 0) as [Z|N].
  - exists (delta 0). split; [|rewrite dot_delta by lia; assert (0 <= U 1%nat ^ 2) by apply pow2_ge_0; nra].
    apply norm_eq1. rewrite sq_dot, dot_delta by lia. apply delta_same.
  - set (w k := if (k =? 0)%nat then U 1%nat else if (k =? 1)%nat then - U 0%nat else 0).
    destruct d as [|[|n]]; try lia.
    assert (Q : sq (S (S n)) w = U 0%nat ^ 2 + U 1%nat ^ 2).
    { unfold sq. rewrite !Sum_first. unfold w at 1 2. simpl Nat.eqb. cbv iota.
      rewrite (Sum_ext n _ (fun _ => 0)) by (intros; unfold w; simpl; ring). rewrite Sum_zero. ring. }
    assert (O : dot (S (S n)) U w = 0).
    { unfold dot. rewrite !Sum_first. unfold w at 1 2. simpl Nat.eqb. cbv iota.
      rewrite (Sum_ext n _ (fun _ => 0)) by (intros; unfold w; simpl; ring). rewrite Sum_zero. ring. }
    assert (Nw : vnorm (S (S n)) w <> 0) by (intros Z; rewrite <- norm_sq, Z in Q; lra).
    exists (vscal (/ vnorm (S (S n)) w) w). split; [now apply unit_along|]. rewrite dot_sym, dot_scal_l, dot_sym, O.
    ring.
Qed.

(** kr-remark-4-attained
    Covers: the whole statement.
    Reads: let σ be differentiable with |σ′| ≤ σ₁ = |σ′(0)|, and i one of the m heads. For T ≥ 2 and U_i ≠ 0 the largest ‖∇_{W_i} f‖_F over tokens in the ball, the matrix of head i and ‖q‖ ≤ 1, all else fixed, is |c_i| σ₁ ‖U_i‖/√m; it is the value at any tokens ±U_i/‖U_i‖ whose two camps have mass ½, if ‖q‖ = 1, and also for some input with q = X_T. For T = 1 the gradient is 0. For T ≥ 1 and d ≥ 2 the largest ‖∇_{U_i} f‖ is |c_i| σ₁/√m, the value whenever all tokens are one unit vector orthogonal to U_i.
    Mistake: without `Rabs (Derive sigma 0) = s1 ->`
    Mistake: `(1 <= T)%nat -> vnorm d (U i) <> 0` for `(2 <= T)%nat -> vnorm d (U i) <> 0`
    Mistake: `(1 <= d)` for `(2 <= d)`
*)
Theorem kr_remark_4_attained : forall sigma s1 m d c U W i, (i < m)%nat -> (forall x, ex_derive sigma x) ->
  (forall x, Rabs (Derive sigma x) <= s1) -> Rabs (Derive sigma 0) = s1 ->
  let norm_W T X q A := fnorm d d (nabla_W sigma m T d X q c U (replace W i A) i) in
  let norm_U T X q A := vnorm d (nabla_U sigma m T d X q c U (replace W i A) i) in
  let top := Rabs (c i) * s1 * vnorm d (U i) / sqrt (INR m) in
  (forall T, (2 <= T)%nat -> vnorm d (U i) <> 0 ->
    largest (fun v => exists X q A, in_ball T d X /\ vnorm d q <= 1 /\ v = norm_W T X q A) top /\
    (forall X q A S, vnorm d q = 1 -> camps T d S (vscal (/ vnorm d (U i)) (U i)) X ->
      mass T (weights T d X q A) S = 1 / 2 -> norm_W T X q A = top) /\
    (exists X A, in_ball T d X /\ norm_W T X (X (T - 1)%nat) A = top)) /\
  (forall X q A, norm_W 1%nat X q A = 0) /\
  (forall T, (1 <= T)%nat -> (2 <= d)%nat ->
    largest (fun v => exists X q A, in_ball T d X /\ vnorm d q <= 1 /\ v = norm_U T X q A)
      (Rabs (c i) * s1 / sqrt (INR m)) /\
    (forall X q A b, vnorm d b = 1 -> dot d (U i) b = 0 -> (forall t k, (t < T)%nat -> (k < d)%nat -> X t k = b k) ->
      norm_U T X q A = Rabs (c i) * s1 / sqrt (INR m))).
Proof.
  intros sigma s1 m d c U W i Hi Hs H1 H0 norm_W norm_U top. assert (R := root_pos m ltac:(lia)).
  split; [|split].
  - intros T HT HU. destruct (unit_along d (U i) HU) as [Ne De]. set (e := vscal (/ vnorm d (U i)) (U i)) in *.
    assert (C : forall X q A S, vnorm d q = 1 -> camps T d S e X -> mass T (weights T d X q A) S = 1 / 2 ->
      norm_W T X q A = top).
    { intros X q A S Nq C P. unfold norm_W. rewrite norm_nabla_W, replace_same by (easy || lia).
      assert (H := weights_distribution T d X q A ltac:(lia)).
      destruct (camps_response T d _ S e X 0 (U i) H Ne C) as [Z V]; [rewrite P; field|lra|].
      unfold pooled. rewrite Z, V, De, Nq, Rmult_0_l, H0, (Rabs_right (vnorm d (U i))) by (apply Rle_ge, norm_ge0).
      unfold top. field. lra. }
    assert (L : exists X A, in_ball T d X /\ vnorm d (X (T - 1)%nat) = 1 /\ norm_W T X (X (T - 1)%nat) A = top).
    { assert (Nq : vnorm d (against e (T - 1)%nat) = 1).
      { transitivity (vnorm d e); [|exact Ne]. unfold vnorm. f_equal. apply Sum_ext; intros k _. unfold against.
        destruct (T - 1 =? 0)%nat; ring. }
      destruct (against_mass T d e _ (1 / 2) HT Ne Nq ltac:(lra)) as [A P]. exists (against e), A.
      split; [now apply against_ball|]. split; [exact Nq|]. now apply C with (S := fun t => (t =? 0)%nat). }
    split; [split|split; [exact C|]].
    + destruct L as (X & A & B & N & V). exists X, (X (T - 1)%nat), A. repeat split; [easy|lra|now symmetry].
    + intros v (X & q & A & B & Nq & ->).
      apply (kr_remark_4 sigma s1 m T d X q c U (replace W i A) i ltac:(lia) Hi Hs H1 B Nq).
    + destruct L as (X & A & B & _ & V). now exists X, A.
  - intros X q A. unfold norm_W. rewrite norm_nabla_W, replace_same by (easy || lia).
    assert (H := weights_distribution 1 d X q A ltac:(lia)).
    rewrite (vnorm_scaled d 0 (U i)), Rabs_R0; [ring|]. intros k _. unfold matvec. rewrite Rmult_0_l, <- (Sum_zero d).
    apply Sum_ext; intros j _. rewrite covariance_moment by easy. unfold moment, attended, E. destruct H as [_ H].
    simpl in *. rewrite Rplus_0_l in H. rewrite H. ring.
  - intros T HT Hd.
    assert (C : forall X q A b, vnorm d b = 1 -> dot d (U i) b = 0 ->
      (forall t k, (t < T)%nat -> (k < d)%nat -> X t k = b k) -> norm_U T X q A = Rabs (c i) * s1 / sqrt (INR m)).
    { intros X q A b Nb Ob HX. unfold norm_U. rewrite norm_nabla_U, replace_same by (easy || lia).
      assert (H := weights_distribution T d X q A ltac:(lia)).
      assert (a1 : forall k, (k < d)%nat -> pooled T d X q A k = 1 * b k).
      { intros k Hk. unfold pooled, attended. rewrite (E_ext _ _ _ (fun _ => b k)) by auto. rewrite E_const by easy.
        ring. }
      rewrite (vnorm_scaled d 1 b _ a1), Nb, Rabs_R1. replace (dot d (U i) (pooled T d X q A)) with 0; [rewrite H0;
        ring|].
      rewrite <- Ob. apply Sum_ext; intros k Hk. rewrite a1 by easy. ring. }
    split; [split|exact C].
    + destruct (orthogonal d (U i) Hd) as (b & Nb & Ob). exists (fun _ => b), (fun _ => 0), (W i). split; [|split].
      * intros t _. lra.
      * apply norm_le1. unfold sq. rewrite (Sum_ext d _ (fun _ => 0)) by (intros; ring). rewrite Sum_zero. lra.
      * symmetry. now apply C with b.
    + intros v (X & q & A & B & _ & ->).
      apply (kr_remark_5 sigma s1 m T d X q c U (replace W i A) i ltac:(lia) Hi Hs H1 B).
Qed.

Lemma leader_trace T d alpha X k : distribution T alpha -> in_ball T d X -> (k < T)%nat -> 1 / 2 <= alpha k ->
  trace d (covariance T alpha X) <= 4 * alpha k * (1 - alpha k).
Proof.
  intros H B Hk Hp. destruct (leader_split T d alpha X k H B Hk) as (_ & N & D & V).
  set (r := attended T _ X) in *. set (p := alpha k) in *. assert (X1 := proj1 (norm_le1 d (X k)) (B k Hk)).
  rewrite <- (norm_sq d r) in V. assert (R0 := norm_ge0 d r). set (rho := vnorm d r) in *.
  assert (0 <= p * (1 - p) * (1 - sq d (X k))) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
  assert (0 <= p * (dot d (X k) r + rho)) by (apply Rmult_le_pos; lra).
  assert (0 <= (1 - p - rho) * (3 * p - 1 - rho)) by (apply Rmult_le_pos; lra). lra.
Qed.

(** equality for ½ < p < 1: the leading token is a unit vector and the others are opposite *)
Lemma leader_equality T d alpha X k : distribution T alpha -> (forall t, (t < T)%nat -> 0 < alpha t) -> in_ball T d X ->
  (k < T)%nat -> 1 / 2 < alpha k < 1 -> trace d (covariance T alpha X) = 4 * alpha k * (1 - alpha k) ->
  vnorm d (X k) = 1 /\ camps T d (fun t => (t =? k)%nat) (X k) X.
Proof.
  intros H P B Hk Hp Q. destruct (leader_split T d alpha X k H B Hk) as (W & N & D & V).
  set (w := fun t => _) in *. set (r := attended T w X) in *. set (p := alpha k) in *.
  assert (X1 := proj1 (norm_le1 d (X k)) (B k Hk)).
  rewrite <- (norm_sq d r), Q in V. assert (R0 := norm_ge0 d r). set (rho := vnorm d r) in *.
  assert (A1 : 0 <= p * (1 - p) * (1 - sq d (X k))) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
  assert (A2 : 0 <= p * (dot d (X k) r + rho)) by (apply Rmult_le_pos; lra).
  assert (A3 : 0 <= (1 - p - rho) * (3 * p - 1 - rho)) by (apply Rmult_le_pos; lra).
  assert (E1 : p * (1 - p) * (1 - sq d (X k)) = 0) by lra.
  assert (E2 : p * (dot d (X k) r + rho) = 0) by lra.
  assert (E3 : (1 - p - rho) * (3 * p - 1 - rho) = 0) by lra.
  apply Rmult_integral in E1. destruct E1 as [E1|E1]; [apply Rmult_integral in E1; lra|].
  apply Rmult_integral in E2. destruct E2 as [E2|E2]; [lra|].
  apply Rmult_integral in E3. destruct E3 as [E3|E3]; [|lra].
  split; [apply norm_eq1; lra|]. intros t i Ht Hi. destruct (Nat.eqb_spec t k) as [->|N']; [easy|].
  apply (leader_opposite T d alpha X k H P B Hk); auto. fold p w r. lra.
Qed.

Lemma mass_one T alpha k : (k < T)%nat -> mass T alpha (fun t => (t =? k)%nat) = alpha k.
Proof.
  intros Hk. unfold mass. rewrite (Sum_single T _ k Hk), Nat.eqb_refl; [easy|].
  intros t _ N. now destruct (Nat.eqb_spec t k).
Qed.

Lemma weights_pos T d X q W t : (0 < T)%nat -> 0 < weights T d X q W t.
Proof. intros. now apply softmax_pos. Qed.

(** s x = s₁ y below the bounds s ≤ s₁, x ≤ y, positive: both are equal *)
Lemma both_equal s s1 x y : 0 <= s <= s1 -> 0 <= x <= y -> 0 < s1 -> 0 < y -> s * x = s1 * y -> s = s1 /\ x = y.
Proof.
  intros Hs Hx P1 P2 Q. assert (s1 * x <= s1 * y) by (apply Rmult_le_compat_l; lra).
  assert (s * x <= s1 * x) by (apply Rmult_le_compat_r; lra).
  assert (x = y) by (apply (Rmult_eq_reg_l s1); lra). split; [|easy]. subst. apply (Rmult_eq_reg_r y); lra.
Qed.

(** kr-corollary-a
    Covers: the whole statement, the case of equality for σ₁ > 0.
    Reads: (1) for any weights and tokens in the ball, a weight p ≥ ½ implies tr M ≤ 4p(1 − p). (2) For T ≥ 2, ½ ≤ p < 1 and unit vectors e and q some W gives token e against tokens −e the weight p, and then tr M = 4p(1 − p). (3) If a token has weight p ≥ ½ in head i, then ‖∇_{W_i} f‖_F ≤ |c_i| σ₁ ‖U_i‖ ‖q‖/√m · 4p(1 − p); if equality holds with ½ < p < 1 and c_i, U_i, q ≠ 0 and σ₁ > 0, the leading token x is a unit vector with |⟨U_i, x⟩| = ‖U_i‖, |z_i| = (2p − 1)‖U_i‖ and |σ′(z_i)| = σ₁, so it does not hold if |σ′(y)| < σ₁ for all y ≠ 0. (4) Equality holds for some input and head matrix with p = ½, if |σ′(0)| = σ₁, T ≥ 2 and U_i ≠ 0. (5) A lead of at least g ≥ log(T − 1) in the logits gives p ≥ ½ and 4p(1 − p) ≤ 4ε/(1 + ε)², ε = (T − 1) e^(−g).
    Mistake: `trace d (covariance T alpha X) <= 3 * alpha k` for `trace d (covariance T alpha X) <= 4 * alpha k`
    Mistake: without `1 / 2 <= alpha k ->`
    Mistake: `4 * eps / (1 + 2 * eps) ^ 2` for `4 * eps / (1 + eps) ^ 2`
*)
Theorem kr_corollary_a :
  (forall T d alpha X k, distribution T alpha -> in_ball T d X -> (k < T)%nat -> 1 / 2 <= alpha k ->
    trace d (covariance T alpha X) <= 4 * alpha k * (1 - alpha k)) /\
  (forall T d e q p, (2 <= T)%nat -> vnorm d e = 1 -> vnorm d q = 1 -> 1 / 2 <= p < 1 ->
    exists A, in_ball T d (against e) /\ weights T d (against e) q A 0%nat = p /\
      trace d (covariance T (weights T d (against e) q A) (against e)) = 4 * p * (1 - p)) /\
  (forall sigma s1 m T d X q c U W i k, (k < T)%nat -> (i < m)%nat -> (forall x, ex_derive sigma x) ->
    (forall x, Rabs (Derive sigma x) <= s1) -> in_ball T d X -> let p := weights T d X q (W i) k in 1 / 2 <= p ->
    let z := dot d (U i) (pooled T d X q (W i)) in
    let norm_W := fnorm d d (nabla_W sigma m T d X q c U W i) in
    let top := Rabs (c i) * s1 * vnorm d (U i) * vnorm d q / sqrt (INR m) * (4 * p * (1 - p)) in
    norm_W <= top /\
    (1 / 2 < p < 1 -> c i <> 0 -> vnorm d (U i) <> 0 -> vnorm d q <> 0 ->
      (0 < s1 -> norm_W = top -> vnorm d (X k) = 1 /\ Rabs (dot d (U i) (X k)) = vnorm d (U i) /\
        Rabs z = (2 * p - 1) * vnorm d (U i) /\ Rabs (Derive sigma z) = s1) /\
      ((forall y, y <> 0 -> Rabs (Derive sigma y) < s1) -> norm_W <> top))) /\
  (forall sigma s1 m T d c U W i, (2 <= T)%nat -> (i < m)%nat -> (forall x, ex_derive sigma x) ->
    (forall x, Rabs (Derive sigma x) <= s1) -> Rabs (Derive sigma 0) = s1 -> vnorm d (U i) <> 0 ->
    exists X q A, in_ball T d X /\ vnorm d q = 1 /\ weights T d X q A 0%nat = 1 / 2 /\
      fnorm d d (nabla_W sigma m T d X q c U (replace W i A) i) =
      Rabs (c i) * s1 * vnorm d (U i) * vnorm d q / sqrt (INR m) * (4 * (1 / 2) * (1 - 1 / 2))) /\
  (forall T z k g, (2 <= T)%nat -> (k < T)%nat -> ln (INR (T - 1)) <= g ->
    (forall t, (t < T)%nat -> t <> k -> z t <= z k - g) ->
    let p := softmax T z k in let eps := INR (T - 1) * exp (- g) in
    1 / 2 <= p /\ 4 * p * (1 - p) <= 4 * eps / (1 + eps) ^ 2).
Proof.
  split; [|split; [|split; [|split]]].
  - exact leader_trace.
  - intros T d e q p HT Ne Nq Hp. destruct (against_mass T d e q p HT Ne Nq ltac:(lra)) as [A P]. exists A.
    split; [now apply against_ball|]. split; [now rewrite <- P, mass_one by lia|].
    set (alpha := weights _ _ _ _ _) in *. unfold trace. apply norm_eq1 in Ne.
    rewrite (Sum_ext d _ (fun i => 4 * p * (1 - p) * e i ^ 2)).
    + rewrite Sum_scal. fold (sq d e). rewrite Ne. ring.
    + intros i Hi. rewrite (camps_covariance T d alpha (fun t => (t =? 0)%nat) e _ (2 * p - 1)); try easy.
      * ring.
      * apply weights_distribution. lia.
      * rewrite P. field.
  - intros sigma s1 m T d X q c U W i k Hk Hi Hs H1 B p Hp z norm_W top.
    assert (HT : (0 < T)%nat) by lia. assert (H := weights_distribution T d X q (W i) HT).
    set (alpha := weights T d X q (W i)) in *. set (M := covariance T alpha X).
    assert (R := root_pos m ltac:(lia)). assert (T4 : trace d M <= 4 * p * (1 - p)) by now apply leader_trace.
    assert (Y1 := matvec_trace T d alpha X (U i) H). fold M in Y1. assert (U0 := norm_ge0 d (U i)).
    assert (Y2 : trace d M * vnorm d (U i) <= 4 * p * (1 - p) * vnorm d (U i)) by now apply Rmult_le_compat_r.
    assert (V : norm_W = Rabs (c i) * Rabs (Derive sigma z) / sqrt (INR m) * (vnorm d (matvec d M (U i)) * vnorm d q)).
    { unfold norm_W. now rewrite norm_nabla_W by easy. }
    set (Y := vnorm d (matvec d M (U i))) in *. assert (Y0 : 0 <= Y) by apply norm_ge0.
    split.
    + rewrite V. replace top with (Rabs (c i) * s1 * (4 * p * (1 - p) * vnorm d (U i) * vnorm d q) / sqrt (INR m))
        by (unfold top, Rdiv; ring).
      apply factors; [split; [apply Rabs_pos|apply H1]|easy|].
      split; [apply Rmult_le_pos; [easy|apply norm_ge0]|]. apply Rmult_le_compat_r; [apply norm_ge0|lra].
    + intros Hp1 Hc HU Hq.
      assert (K : 0 < s1 -> norm_W = top -> vnorm d (X k) = 1 /\ Rabs (dot d (U i) (X k)) = vnorm d (U i) /\
        Rabs z = (2 * p - 1) * vnorm d (U i) /\ Rabs (Derive sigma z) = s1).
      { intros S0 Q. assert (P4 : 0 < 4 * p * (1 - p)) by (apply Rmult_lt_0_compat; lra).
        assert (Pu : 0 < 4 * p * (1 - p) * vnorm d (U i)) by (apply Rmult_lt_0_compat; lra).
        destruct (both_equal (Rabs (Derive sigma z)) s1 Y (4 * p * (1 - p) * vnorm d (U i))) as [Es EY]; auto; try lra.
        { split; [apply Rabs_pos|apply H1]. }
        { assert (F : 0 < Rabs (c i) * vnorm d q / sqrt (INR m)).
          { apply Rdiv_lt_0_compat; [|easy]. apply Rmult_lt_0_compat; [now apply Rabs_pos_lt|].
            assert (G := norm_ge0 d q). lra. }
          apply (Rmult_eq_reg_l (Rabs (c i) * vnorm d q / sqrt (INR m))); [|lra].
          transitivity norm_W; [rewrite V; unfold Rdiv; ring|]. rewrite Q. unfold top, Rdiv; ring. }
        assert (Et : trace d M = 4 * p * (1 - p)) by (apply (Rmult_eq_reg_r (vnorm d (U i))); lra).
        destruct (leader_equality T d alpha X k H) as [Nx C]; try easy.
        { intros; now apply weights_pos. }
        assert (mass T alpha (fun t => (t =? k)%nat) = (1 + (2 * p - 1)) / 2) as Hm.
        { rewrite mass_one by easy. fold p. field. }
        destruct (camps_response T d alpha _ (X k) X (2 * p - 1) (U i) H Nx C Hm) as [Z1 Z2]; [lra|].
        fold M in Z2. fold Y in Z2.
        assert (D : Rabs (dot d (U i) (X k)) = vnorm d (U i)).
        { apply (Rmult_eq_reg_l (4 * p * (1 - p))); [|lra]. rewrite <- EY, Z2. ring. }
        split; [easy|]. split; [easy|]. split; [|easy]. unfold z, pooled. fold alpha.
        rewrite Z1, Rabs_mult, D, Rabs_right by lra. reflexivity. }
      split; [exact K|]. intros St Q. assert (S0 : 0 < s1) by (assert (G := St 1 ltac:(lra));
        assert (G2 := Rabs_pos (Derive sigma 1)); lra).
      destruct (K S0 Q) as (_ & _ & Ez & Es). assert (z <> 0).
      { intros Z. rewrite Z, Rabs_R0 in Ez. symmetry in Ez. apply Rmult_integral in Ez. lra. }
      specialize (St z ltac:(easy)). lra.
  - intros sigma s1 m T d c U W i HT Hi Hs H1 H0 HU. destruct (unit_along d (U i) HU) as [Ne De].
    set (e := vscal (/ vnorm d (U i)) (U i)) in *.
    destruct (against_mass T d e e (1 / 2) HT Ne Ne ltac:(lra)) as [A P]. exists (against e), e, A.
    split; [now apply against_ball|]. split; [exact Ne|]. split; [now rewrite <- P, mass_one by lia|].
    destruct (kr_remark_4_attained sigma s1 m d c U W i Hi Hs H1 H0) as [K _]. destruct (K T HT HU) as (_ & C & _).
    rewrite (C (against e) e A (fun t => (t =? 0)%nat) Ne (against_camps T d e) P), Ne.
    assert (R := root_pos m ltac:(lia)). field. lra.
  - intros T z k g HT Hk Hg L p eps. destruct (leader_gap T z k g Hk L) as [G _]. fold eps p in G.
    assert (N : 0 < INR (T - 1)) by (apply lt_0_INR; lia).
    assert (E0 : 0 < eps) by (apply Rmult_lt_0_compat; [easy|apply exp_pos]).
    assert (E1 : eps <= 1).
    { unfold eps. rewrite <- (exp_ln _ N), <- exp_plus, <- exp_0.
      destruct (Req_dec (ln (INR (T - 1)) + - g) 0) as [->|]; [lra|]. left. apply exp_increasing. lra. }
    set (y := / (1 + eps)) in *. assert (Y : y * (1 + eps) = 1) by (unfold y; apply Rinv_l; lra).
    assert (Y2 : 1 / 2 <= y) by (clear - Y E0 E1; nra).
    split; [lra|]. replace (4 * eps / (1 + eps) ^ 2) with (4 * y * (1 - y)) by (unfold y; field; lra).
    assert (0 <= (p - y) * (p - (1 - y))) by (apply Rmult_le_pos; lra). lra.
Qed.

(** h_t = tanh(w h_{t−1} + x_t) from h_0, with x_{t+1} stored at place t *)
Fixpoint hidden (w : R) (x : vector) (h0 : R) (t : nat) : R :=
  match t with O => h0 | S s => tanh (w * hidden w x h0 s + x s) end.

(** C_0 = 0, C_{t+1} = y + 1/(4y) if y = |w| C_t ≥ ½, else 1; so C_1 = 1 *)
Definition step (y : R) : R := if Rle_dec (1 / 2) y then y + / (4 * y) else 1.
Fixpoint worst (w : R) (t : nat) : R := match t with O => 0 | S s => step (Rabs w * worst w s) end.

Fixpoint slope (w : R) (x : vector) (h0 : R) (t : nat) : R :=
  match t with O => 0 | S s => (1 - hidden w x h0 (S s) ^ 2) * (hidden w x h0 s + w * slope w x h0 s) end.

Lemma hidden_derive w x h0 t : is_derive (fun w => hidden w x h0 t) w (slope w x h0 t).
Proof.
  induction t as [|t IH]; [apply (is_derive_const h0)|].
  assert (D : is_derive (fun w => w * hidden w x h0 t + x t) w (hidden w x h0 t + w * slope w x h0 t)).
  { eapply derive_value; [apply (is_derive_plus (fun w => w * hidden w x h0 t) (fun _ => x t));
      [apply derive_mult; [apply is_derive_id|exact IH]|apply @is_derive_const]|].
    unfold plus, one, zero; simpl; unfold one; simpl. ring. }
  eapply derive_value; [exact (is_derive_comp tanh _ w _ _ (tanh_derive _) D)|]. simpl. apply Rmult_comm.
Qed.

Lemma hidden_Derive w x h0 t : Derive (fun w => hidden w x h0 t) w = slope w x h0 t.
Proof. exact (is_derive_unique _ _ _ (hidden_derive w x h0 t)). Qed.

Lemma hidden_ext w x y h0 t : (forall s, (s < t)%nat -> x s = y s) ->
  hidden w x h0 t = hidden w y h0 t /\ slope w x h0 t = slope w y h0 t.
Proof.
  induction t as [|t IH]; intros H; [easy|]. destruct IH as [A B]; [intros; apply H; lia|].
  simpl. now rewrite A, B, (H t) by lia.
Qed.

Lemma step_ge h y : 0 <= y -> 0 <= h <= 1 -> h + y * (1 - h ^ 2) <= step y.
Proof.
  intros Hy Hh. unfold step. destruct (Rle_dec (1 / 2) y) as [L|L].
  - apply Rminus_le. replace (h + y * (1 - h ^ 2) - (y + / (4 * y))) with (- ((1 - 2 * y * h) ^ 2 * / (4 * y))) by
      (field; lra).
    assert (0 <= (1 - 2 * y * h) ^ 2 * / (4 * y)); [|lra].
    apply Rmult_le_pos; [apply pow2_ge_0|left; apply Rinv_0_lt_compat; lra].
  - assert (0 <= (1 - h) * (1 - y * (1 + h))); [|lra]. apply Rmult_le_pos; [lra|nra].
Qed.

Lemma step_taken y : exists h, 0 <= h <= 1 /\ h + y * (1 - h ^ 2) = step y.
Proof.
  unfold step. destruct (Rle_dec (1 / 2) y) as [L|L]; [|exists 1; split; [lra|ring]].
  exists (/ (2 * y)). assert (P : / (2 * y) * (2 * y) = 1) by (apply Rinv_l; lra).
  assert (0 < / (2 * y)) by (apply Rinv_0_lt_compat; lra). split; [split; [lra|nra]|field; lra].
Qed.

(** the step is approached by h < 1 *)
Lemma step_near y e : 0 <= y -> 0 < e -> exists h, 0 <= h < 1 /\ step y - e <= h + y * (1 - h ^ 2).
Proof.
  intros Hy He. destruct (step_taken y) as (h & H & Q). destruct (Rle_dec h (1 - Rmin e 1)) as [L|L].
  - exists h. assert (G := Rmin_glb_lt e 1 0 He ltac:(lra)). split; [lra|lra].
  - exists (1 - Rmin e 1). assert (G := Rmin_glb_lt e 1 0 He ltac:(lra)). assert (M := Rmin_l e 1).
    assert (M1 := Rmin_r e 1).
    split; [lra|]. rewrite <- Q. set (k := 1 - Rmin e 1) in *.
    assert (0 <= y * ((h - k) * (h + k))); [|unfold k in *; lra].
    apply Rmult_le_pos; [easy|]. apply Rmult_le_pos; unfold k in *; lra.
Qed.

Lemma step_mono y y' : 0 <= y <= y' -> step y <= step y'.
Proof.
  intros H. destruct (step_taken y) as (h & Hh & <-). eapply Rle_trans; [|apply (step_ge h y'); lra].
  apply Rplus_le_compat_l, Rmult_le_compat_r; [nra|lra].
Qed.

Lemma worst_ge0 w t : 0 <= worst w t.
Proof.
  destruct t; [simpl; lra|]. simpl. unfold step. destruct (Rle_dec _ _) as [L|L]; [|lra].
  assert (0 < / (4 * (Rabs w * worst w t))) by (apply Rinv_0_lt_compat; lra). lra.
Qed.

Lemma worst_arg w t : 0 <= Rabs w * worst w t.
Proof. apply Rmult_le_pos; [apply Rabs_pos|apply worst_ge0]. Qed.

(** |h_t + w p_t| ≤ C_{k+t} if |h_0| ≤ C_k *)
Lemma slope_bound w x h0 k t : Rabs h0 <= worst w k ->
  Rabs (hidden w x h0 t + w * slope w x h0 t) <= worst w (k + t).
Proof.
  intros H. induction t as [|t IH].
  - rewrite Nat.add_0_r. simpl. now rewrite Rmult_0_r, Rplus_0_r.
  - rewrite Nat.add_succ_r. cbn [slope worst]. set (h := hidden w x h0 (S t)).
    assert (Hh : h ^ 2 < 1) by apply tanh_sq. set (g := hidden w x h0 t + w * slope w x h0 t) in *.
    assert (A : Rabs h <= 1) by (rewrite <- (pow2_abs h) in Hh; assert (G := Rabs_pos h); nra).
    eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, (Rabs_right (1 - h ^ 2)) by lra.
    eapply Rle_trans; [|apply step_mono; split; [apply Rmult_le_pos; apply Rabs_pos|
      apply Rmult_le_compat_l; [apply Rabs_pos|exact IH]]].
    eapply Rle_trans; [|apply (step_ge (Rabs h)); [apply Rmult_le_pos; apply Rabs_pos|split; [apply Rabs_pos|easy]]].
    rewrite pow2_abs. right. ring.
Qed.

(** … and comes near it for some inputs if |h_0| = C_k *)
Lemma slope_reach w h0 k t e : Rabs h0 = worst w k -> 0 < e ->
  exists x, worst w (k + t) - e <= Rabs (hidden w x h0 t + w * slope w x h0 t).
Proof.
  intros H. revert e. induction t as [|t IH]; intros e He.
  - exists (fun _ => 0). rewrite Nat.add_0_r. simpl. rewrite Rmult_0_r, Rplus_0_r, H. lra.
  - assert (W := Rabs_pos w). destruct (IH (e / (2 * (Rabs w + 1)))) as [x Hx]; [apply Rdiv_lt_0_compat; lra|].
    set (g := hidden w x h0 t + w * slope w x h0 t) in *. set (c := worst w (k + t)) in *.
    destruct (step_near (Rabs w * c) (e / 2) (worst_arg w (k + t)) ltac:(lra)) as (h & Hh & Hn).
    set (s := if Rle_dec 0 (w * g) then h else - h).
    assert (S2 : s ^ 2 = h ^ 2) by (unfold s; destruct (Rle_dec _ _); ring).
    assert (S1 : -1 < s < 1) by (unfold s; destruct (Rle_dec _ _); lra).
    set (u := ln ((1 + s) / (1 - s)) / 2 - w * hidden w x h0 t).
    set (y r := if (r =? t)%nat then u else x r). exists y.
    destruct (hidden_ext w y x h0 t) as [Q1 Q2].
    { intros r Hr. unfold y. destruct (Nat.eqb_spec r t); [lia|easy]. }
    assert (Q3 : hidden w y h0 (S t) = s).
    { cbn [hidden]. rewrite Q1. unfold y at 1. rewrite Nat.eqb_refl.
      transitivity (tanh (ln ((1 + s) / (1 - s)) / 2)); [f_equal; unfold u; ring|now apply tanh_onto]. }
    rewrite Nat.add_succ_r. cbn [slope worst]. rewrite Q3, Q1, Q2. fold g c. rewrite S2.
    assert (V : Rabs (s + w * ((1 - h ^ 2) * g)) = h + (1 - h ^ 2) * (Rabs w * Rabs g)).
    { rewrite <- Rabs_mult. assert (P : 0 <= 1 - h ^ 2) by (clear - Hh; nra). unfold s.
      destruct (Rle_dec 0 (w * g)) as [L|L].
      - rewrite (Rabs_right (w * g)) by lra. replace (w * ((1 - h ^ 2) * g)) with ((1 - h ^ 2) * (w * g)) by ring.
        apply Rabs_right. assert (0 <= (1 - h ^ 2) * (w * g)) by now apply Rmult_le_pos. lra.
      - rewrite (Rabs_left (w * g)) by lra. replace (w * ((1 - h ^ 2) * g)) with (- ((1 - h ^ 2) * - (w * g))) by ring.
        assert (0 <= (1 - h ^ 2) * - (w * g)) by (apply Rmult_le_pos; lra). rewrite Rabs_left1; lra. }
    rewrite V. assert (B : Rabs w * (e / (2 * (Rabs w + 1))) <= e / 2).
    { replace (e / 2) with ((Rabs w + 1) * (e / (2 * (Rabs w + 1)))) by (field; lra).
      apply Rmult_le_compat_r; [left; apply Rdiv_lt_0_compat|]; lra. }
    assert (G : Rabs w * (c - e / (2 * (Rabs w + 1))) <= Rabs w * Rabs g) by now apply Rmult_le_compat_l.
    assert (F : (1 - h ^ 2) * (Rabs w * c - e / 2) <= (1 - h ^ 2) * (Rabs w * Rabs g)).
    { apply Rmult_le_compat_l; [clear - Hh; nra|lra]. }
    assert (0 <= h ^ 2 * (e / 2)) by (apply Rmult_le_pos; [apply pow2_ge_0|lra]). lra.
Qed.

Lemma slope_sup w k t e h0 : Rabs h0 = worst w k -> 0 < e ->
  exists x, worst w (k + t) - e <= Rabs (Derive (fun w => hidden w x h0 (S t)) w).
Proof.
  intros H He. destruct (slope_reach w h0 k t e H He) as [x Hx].
  set (y r := if (r =? t)%nat then - (w * hidden w x h0 t) else x r). exists y.
  destruct (hidden_ext w y x h0 t) as [Q1 Q2].
  { intros r Hr. unfold y. destruct (Nat.eqb_spec r t); [lia|easy]. }
  rewrite hidden_Derive. cbn [slope hidden]. rewrite Q1, Q2.
  unfold y at 1. rewrite Nat.eqb_refl, Rplus_opp_r.
  replace (tanh 0) with 0 by (unfold tanh, sinh; rewrite Ropp_0; unfold Rdiv; ring).
  replace ((1 - 0 ^ 2) * (hidden w x h0 t + w * slope w x h0 t)) with (hidden w x h0 t + w * slope w x h0 t) by ring.
  exact Hx.
Qed.

Lemma slope_le w x h0 k t : Rabs h0 <= worst w k -> Rabs (Derive (fun w => hidden w x h0 (S t)) w) <= worst w (k + t).
Proof.
  intros H. rewrite hidden_Derive. cbn [slope].
  assert (T1 : hidden w x h0 (S t) ^ 2 < 1) by apply tanh_sq. assert (T0 := pow2_ge_0 (hidden w x h0 (S t))).
  rewrite Rabs_mult, (Rabs_right (1 - _)) by lra. eapply Rle_trans; [|now apply (slope_bound w x h0 k t)].
  rewrite <- (Rmult_1_l (Rabs (_ + _))) at 2. apply Rmult_le_compat_r; [apply Rabs_pos|lra].
Qed.

Lemma worst_one w : worst w 1 = 1.
Proof. simpl. unfold step. rewrite Rmult_0_r. destruct (Rle_dec _ _); lra. Qed.

Lemma worst_ge1 w t : 1 <= worst w (S t).
Proof. rewrite <- (worst_one w). simpl. apply step_mono. rewrite Rmult_0_r. split; [lra|apply worst_arg]. Qed.

(** from every starting value in an interval the supremum after t + 1 steps is C_{k+t} *)
Lemma slope_lub w k t (P : R -> Prop) h0 : P h0 -> Rabs h0 = worst w k -> (forall h, P h -> Rabs h <= worst w k) ->
  is_lub (fun v => exists x h, P h /\ v = Rabs (Derive (fun w => hidden w x h (S t)) w)) (worst w (k + t)).
Proof.
  intros P0 H HP. split.
  - intros v (x & h & Ph & ->). now apply slope_le, HP.
  - intros b Hb. destruct (Rle_dec (worst w (k + t)) b) as [L|L]; [exact L|exfalso].
    destruct (slope_sup w k t ((worst w (k + t) - b) / 2) h0 H ltac:(lra)) as [x Hx].
    assert (G : Rabs (Derive (fun w => hidden w x h0 (S t)) w) <= b) by (apply Hb; now exists x, h0). lra.
Qed.

Lemma worst_small w t : Rabs w <= 1 / 2 -> worst w (S t) = 1.
Proof.
  intros H. induction t as [|t IH]; [apply worst_one|]. change (step (Rabs w * worst w (S t)) = 1).
  rewrite IH, Rmult_1_r. unfold step. destruct (Rle_dec (1 / 2) (Rabs w)) as [L|L]; [|easy].
  replace (Rabs w) with (1 / 2) by lra. field.
Qed.

Lemma worst_increases w t : worst w t <= worst w (S t).
Proof.
  induction t as [|t IH]; [simpl; apply (worst_ge0 w 1)|]. apply step_mono. split; [apply worst_arg|].
  apply Rmult_le_compat_l; [apply Rabs_pos|exact IH].
Qed.

Lemma worst_next w t : 1 / 2 < Rabs w ->
  worst w (S (S t)) = Rabs w * worst w (S t) + / (4 * (Rabs w * worst w (S t))).
Proof.
  intros H. change (step (Rabs w * worst w (S t)) = Rabs w * worst w (S t) + / (4 * (Rabs w * worst w (S t)))).
  unfold step. assert (G := worst_ge1 w t). destruct (Rle_dec _ _) as [L|L]; [easy|]. exfalso. apply L. nra.
Qed.

Lemma worst_limit w : 1 / 2 < Rabs w < 1 ->
  let L := 1 / (2 * sqrt (Rabs w * (1 - Rabs w))) in
  (forall t, worst w t <= L) /\ is_lim_seq (worst w) L.
Proof.
  intros H L. set (a := Rabs w) in *. assert (P : 0 < a * (1 - a)) by (apply Rmult_lt_0_compat; lra).
  assert (R := sqrt_lt_R0 _ P). assert (S2 := pow2_sqrt _ (Rlt_le _ _ P)). set (r := sqrt (a * (1 - a))) in *.
  assert (L0 : 0 < L) by (apply Rdiv_lt_0_compat; lra).
  assert (L2 : 4 * (a * (1 - a)) * (L * L) = 1) by (rewrite <- S2; unfold L; field; lra).
  assert (L1 : 1 <= L).
  { assert (4 * (a * (1 - a)) <= 1) by (assert (G := pow2_ge_0 (2 * a - 1)); lra).
    destruct (Rle_dec 1 L) as [|N]; [easy|exfalso]. assert (L * L < 1) by nra. nra. }
  assert (FL : / (4 * (a * L)) = (1 - a) * L).
  { apply (Rmult_eq_reg_r (4 * (a * L))); [|apply Rgt_not_eq; nra]. rewrite Rinv_l by (apply Rgt_not_eq; nra). lra. }
  assert (F : step (a * L) = L).
  { unfold step. destruct (Rle_dec _ _) as [G|G]; [rewrite FL; ring|]. exfalso. apply G. nra. }
  assert (B : forall t, worst w t <= L).
  { induction t as [|t IH]; [simpl; lra|]. simpl. rewrite <- F. apply step_mono. split; [apply worst_arg|].
    apply Rmult_le_compat_l; [apply Rabs_pos|exact IH]. }
  split; [exact B|]. apply is_lim_seq_incr_1.
  assert (D : forall t, L - a ^ t * L <= worst w (S t)).
  { induction t as [|t IH]; [rewrite worst_one; simpl; lra|]. rewrite worst_next by (fold a; lra). fold a.
    set (c := worst w (S t)) in *. assert (C1 : 1 <= c) by apply worst_ge1. assert (CL : c <= L) by apply B.
    assert (I : / (4 * (a * L)) <= / (4 * (a * c))).
    { apply Rinv_le_contravar; [nra|]. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; lra. }
    rewrite FL in I. assert (a * (L - a ^ t * L) <= a * c) by (apply Rmult_le_compat_l; lra). simpl. lra. }
  apply is_lim_seq_le_le with (u := fun t => L - a ^ t * L) (w := fun _ => L).
  - intros t. split; [apply D|apply B].
  - replace (Finite L) with (Finite (L - 0 * L)) by (f_equal; ring).
    apply is_lim_seq_minus'; [apply is_lim_seq_const|]. apply is_lim_seq_mult'; [|apply is_lim_seq_const].
    apply is_lim_seq_geom. unfold a. rewrite Rabs_Rabsolu. fold a. lra.
  - apply is_lim_seq_const.
Qed.

Lemma worst_unit w t : Rabs w = 1 ->
  INR (S t) / 2 <= worst w (S t) ^ 2 <= INR (S t) / 2 + sqrt (INR (S t)).
Proof.
  intros H. induction t as [|t IH]; [rewrite worst_one; simpl; rewrite sqrt_1; lra|].
  rewrite worst_next by lra. rewrite H, !Rmult_1_l. set (c := worst w (S t)) in *.
  assert (C1 : 1 <= c) by apply worst_ge1. rewrite (S_INR (S t)). set (n := INR (S t)) in *.
  assert (N1 : 1 <= n) by (unfold n; rewrite S_INR; assert (G := pos_INR t); lra).
  replace ((c + / (4 * c)) ^ 2) with (c ^ 2 + 1 / 2 + / (16 * c ^ 2)) by (field; lra).
  assert (I0 : 0 < / (16 * c ^ 2)) by (apply Rinv_0_lt_compat; nra).
  assert (I : / (16 * c ^ 2) <= / (8 * n)) by (apply Rinv_le_contravar; lra).
  assert (Q : sqrt n + / (8 * n) <= sqrt (n + 1)).
  { assert (A := sqrt_sqrt n ltac:(lra)). assert (A0 := sqrt_lt_R0 n ltac:(lra)). set (s := sqrt n) in *.
    assert (S1 : 1 <= s) by (unfold s; rewrite <- sqrt_1; now apply sqrt_le_1_alt).
    assert (J : / (8 * n) * (8 * n) = 1) by (apply Rinv_l; lra). set (j := / (8 * n)) in *.
    assert (J0 : 0 < j) by (apply Rinv_0_lt_compat; lra). assert (j <= 1 / 8) by nra.
    assert (j * s <= 1 / 8) by (assert (j * s * s = 1 / 8) by (rewrite Rmult_assoc, A; lra); nra).
    rewrite <- (sqrt_pow2 (s + j)) by lra. apply sqrt_le_1_alt. nra. }
  split; lra.
Qed.

Lemma worst_growth w t : 1 < Rabs w ->
  Rabs w ^ t <= worst w (S t) <= (1 + 1 / (4 * (w ^ 2 - 1))) * Rabs w ^ t.
Proof.
  intros H. rewrite <- (pow2_abs w). set (a := Rabs w) in *. set (k := 1 / (4 * (a ^ 2 - 1))).
  assert (A2 : 0 < a ^ 2 - 1) by nra. assert (K0 : 0 < k) by (apply Rdiv_lt_0_compat; lra).
  assert (Kd : k * (a ^ 2 - 1) = 1 / 4) by (unfold k; field; lra).
  cut (a ^ t <= worst w (S t) <= (1 + k) * a ^ t - k * / a ^ t).
  { assert (P := pow_lt a t ltac:(lra)). assert (I := Rinv_0_lt_compat _ P).
    assert (0 < k * / a ^ t) by now apply Rmult_lt_0_compat. lra. }
  induction t as [|t IH]; [rewrite worst_one; simpl; rewrite Rinv_1; lra|].
  rewrite worst_next by (fold a; lra). fold a. set (c := worst w (S t)) in *. assert (C1 : 1 <= c) by apply worst_ge1.
  assert (P := pow_lt a t ltac:(lra)). set (b := a ^ t) in *. change (a ^ S t) with (a * b).
  assert (I0 : 0 < / (4 * (a * c))) by (apply Rinv_0_lt_compat; nra).
  assert (L1 : a * b <= a * c) by (apply Rmult_le_compat_l; lra).
  assert (L2 : a * c <= a * ((1 + k) * b - k * / b)) by (apply Rmult_le_compat_l; lra).
  assert (I : / (4 * (a * c)) <= / (4 * (a * b))) by (apply Rinv_le_contravar; [nra|lra]).
  assert (J : a * (k * / b) - k * / (a * b) = / (4 * (a * b))).
  { replace (a * (k * / b) - k * / (a * b)) with (k * (a ^ 2 - 1) * / (a * b)) by (field; lra). rewrite Kd. field.
    lra. }
  lra.
Qed.

(** kr-proposition-c
    Covers: the whole statement.
    Reads: with C_0 = 0 and C_{t+1} = y + 1/(4y) if y = |w| C_t ≥ ½, else 1: for T ≥ 1 the supremum of |∂h_T/∂w| over all inputs and all h_0 in [−1, 1] is C_T, and from h_0 = 0 it is C_{T−1}. C_1 = 1, and C_{t+1} is the largest h + |w|(1 − h²)C_t over 0 ≤ h ≤ 1. If |w| ≤ ½, C_T = 1 for T ≥ 1; if ½ < |w| < 1, C_t never falls and tends to 1/(2√(|w|(1 − |w|))) from below; if |w| = 1, C_T/√(T/2) tends to 1; if |w| > 1, |w|^(T−1) ≤ C_T ≤ (1 + 1/(4(w² − 1)))|w|^(T−1) for T ≥ 1.
    Mistake: `(worst w (T + 1))` for `(worst w T)`
    Mistake: `(1 + 1 / (5 * (w ^ 2 - 1)))` for `(1 + 1 / (4 * (w ^ 2 - 1)))`
    Mistake: `sqrt (INR T)) 1` for `sqrt (INR T / 2)) 1`
*)
Theorem kr_proposition_c :
  (forall w T, (1 <= T)%nat ->
    is_lub (fun v => exists x h0, -1 <= h0 <= 1 /\ v = Rabs (Derive (fun w => hidden w x h0 T) w)) (worst w T) /\
    is_lub (fun v => exists x h0, h0 = 0 /\ v = Rabs (Derive (fun w => hidden w x h0 T) w)) (worst w (T - 1))) /\
  (forall w, worst w 1 = 1) /\
  (forall w t, largest (fun v => exists h, 0 <= h <= 1 /\ v = h + Rabs w * (1 - h ^ 2) * worst w t) (worst w (S t))) /\
  (forall w T, Rabs w <= 1 / 2 -> (1 <= T)%nat -> worst w T = 1) /\
  (forall w, 1 / 2 < Rabs w < 1 -> (forall t, worst w t <= worst w (S t)) /\
    is_lim_seq (worst w) (1 / (2 * sqrt (Rabs w * (1 - Rabs w)))) /\
    forall t, worst w t <= 1 / (2 * sqrt (Rabs w * (1 - Rabs w)))) /\
  (forall w, Rabs w = 1 -> is_lim_seq (fun T => worst w T / sqrt (INR T / 2)) 1) /\
  (forall w T, 1 < Rabs w -> (1 <= T)%nat ->
    Rabs w ^ (T - 1) <= worst w T <= (1 + 1 / (4 * (w ^ 2 - 1))) * Rabs w ^ (T - 1)).
Proof.
  split; [|split; [|split; [|split; [|split; [|split]]]]].
  - intros w [|t] HT; [lia|]. split.
    + apply (slope_lub w 1 t (fun h => -1 <= h <= 1) 1); rewrite ?worst_one; [lra|apply Rabs_R1|].
      intros h Hh. now apply Rabs_le.
    + replace (S t - 1)%nat with (0 + t)%nat by lia. apply (slope_lub w 0 t (fun h => h = 0) 0); [easy|apply Rabs_R0|].
      intros h ->. simpl. rewrite Rabs_R0. lra.
  - exact worst_one.
  - intros w t. split.
    + destruct (step_taken (Rabs w * worst w t)) as (h & Hh & Q). exists h. split; [easy|]. simpl. rewrite <- Q. ring.
    + intros v (h & Hh & ->). change (worst w (S t)) with (step (Rabs w * worst w t)).
      replace (Rabs w * (1 - h ^ 2) * worst w t) with (Rabs w * worst w t * (1 - h ^ 2)) by ring.
      apply step_ge; [apply worst_arg|easy].
  - intros w [|t] H HT; [lia|]. now apply worst_small.
  - intros w H. destruct (worst_limit w H) as [B L]. split; [apply worst_increases|]. now split.
  - intros w H. apply is_lim_seq_incr_1.
    apply is_lim_seq_le_le with (u := fun _ => 1) (w := fun t => 1 + 2 * / sqrt (INR (S t)));
      [|apply is_lim_seq_const|].
    + intros t. destruct (worst_unit w t H) as [A B]. set (c := worst w (S t)) in *.
      assert (C1 : 1 <= c) by apply worst_ge1.
      set (n := INR (S t)) in *. assert (N1 : 1 <= n) by (unfold n; rewrite S_INR; assert (G := pos_INR t); lra).
      assert (S0 := sqrt_lt_R0 (n / 2) ltac:(lra)). assert (S2 := sqrt_sqrt (n / 2) ltac:(lra)).
      assert (R0 := sqrt_lt_R0 n ltac:(lra)). assert (R2 := sqrt_sqrt n ltac:(lra)).
      set (s := sqrt (n / 2)) in *. set (r := sqrt n) in *. split.
      * apply (Rmult_le_reg_r s); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
      * apply (Rmult_le_reg_r s); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
        apply Rsqr_incr_0_var; [|assert (0 < / r) by (now apply Rinv_0_lt_compat); apply Rmult_le_pos; lra].
        unfold Rsqr. replace ((1 + 2 * / r) * s * ((1 + 2 * / r) * s)) with (s * s * ((1 + 2 * / r) * (1 + 2 * / r)))
          by ring.
        rewrite S2, <- R2. replace (r * r / 2 * ((1 + 2 * / r) * (1 + 2 * / r))) with (r * r / 2 + 2 * r + 2) by
          (field; lra). nra.
    + replace (Finite 1) with (Finite (1 + 2 * 0)) by (f_equal; ring).
      apply is_lim_seq_plus'; [apply is_lim_seq_const|]. apply is_lim_seq_mult'; [apply is_lim_seq_const|].
      assert (I : is_lim_seq (fun t => sqrt (INR (S t))) p_infty).
      { apply (is_lim_seq_incr_1 (fun t => sqrt (INR t))).
        apply (filterlim_comp _ _ _ INR sqrt _ (Rbar_locally p_infty)); [apply is_lim_seq_INR|apply filterlim_sqrt_p]. }
      apply (is_lim_seq_inv _ p_infty) in I; easy.
  - intros w [|t] H HT; [lia|]. rewrite Nat.sub_succ, Nat.sub_0_r. now apply worst_growth.
Qed.

(** μ_t, the running maximum of z_0 … z_t, and Σ_{s ≤ t} exp(z_s − μ_t) g_s *)
Fixpoint peak (z : vector) (t : nat) : R := match t with O => z 0%nat | S s => Rmax (peak z s) (z (S s)) end.
Definition stream (z : vector) (t : nat) (g : vector) : R := Sum (S t) (fun s => exp (z s - peak z t) * g s).

Lemma stream_mean z t g : stream z t g / stream z t (fun _ => 1) = E (S t) (softmax (S t) z) g.
Proof.
  assert (P := partition_pos (S t) z ltac:(lia)). set (Z := Sum (S t) (fun s => exp (z s))) in *.
  assert (Q : forall g, stream z t g = exp (- peak z t) * Sum (S t) (fun s => exp (z s) * g s)).
  { intros h. unfold stream. rewrite <- Sum_scal. apply Sum_ext; intros s _. unfold Rminus. rewrite exp_plus. ring. }
  rewrite !Q, (Sum_ext (S t) (fun s => exp (z s) * 1) (fun s => exp (z s))) by (intros; ring). fold Z.
  assert (G := exp_pos (- peak z t)). transitivity (/ Z * Sum (S t) (fun s => exp (z s) * g s)); [field; lra|].
  rewrite <- Sum_scal. unfold E, softmax. fold Z. apply Sum_ext; intros; field; lra.
Qed.

(** kr-remark-4-streaming
    Covers: a part: 1, that the sums of the stream give a and MU, and how a new token updates them; on the page: 2, that with the last token for a query a memory needs as many numbers as the tokens.
    Reads: for tokens 0 … t, λ and U, with μ_t the running maximum of the logits ⟨X_s, λ⟩, e_s = exp(⟨X_s, λ⟩ − μ_t) and S, A, B the sums of e_s, e_s X_s, e_s ⟨U, X_s⟩ X_s: a = A/S and MU = B/S − ⟨U, a⟩a; μ_t is the largest of the logits; the sum for t + 1 is exp(μ_t − μ_{t+1}) times the sum for t plus one term; and μ_{t+1} is the larger of μ_t and the new logit.
    Mistake: `- 2 * dot d U a * a i` for `- dot d U a * a i`
    Mistake: `exp (peak z (S t) - peak z t) * stream` for `exp (peak z t - peak z (S t)) * stream`
*)
Theorem kr_remark_4_streaming : forall d X lam U t,
  let z s := dot d (X s) lam in let alpha := softmax (S t) z in let a := attended (S t) alpha X in
  let total := stream z t (fun _ => 1) in
  (forall i, a i = stream z t (fun s => X s i) / total) /\
  (forall i, matvec d (covariance (S t) alpha X) U i =
    stream z t (fun s => dot d U (X s) * X s i) / total - dot d U a * a i) /\
  (forall g, stream z (S t) g =
    exp (peak z t - peak z (S t)) * stream z t g + exp (z (S t) - peak z (S t)) * g (S t)) /\
  peak z (S t) = Rmax (peak z t) (z (S t)) /\ largest (fun v => exists s, (s <= t)%nat /\ v = z s) (peak z t).
Proof.
  intros d X lam U t z alpha a total. assert (H := softmax_distribution (S t) z ltac:(lia)).
  split; [intros i; unfold total; now rewrite stream_mean|]. split; [|split; [|split; [easy|]]].
  - intros i. unfold total. rewrite stream_mean, covariance_apply by easy. rewrite score_split. fold alpha a.
    rewrite (E_ext (S t) alpha _ (fun s => dot d U (X s) * X s i - dot d U a * X s i))
      by (intros; rewrite (dot_sym d (X _) U); ring).
    rewrite E_minus, E_scal. reflexivity.
  - intros g. unfold stream. change (Sum (S (S t)) ?f) with (Sum (S t) f + f (S t)). f_equal.
    rewrite <- Sum_scal. apply Sum_ext; intros s _. rewrite <- Rmult_assoc, <- exp_plus. f_equal. f_equal. ring.
  - clear. induction t as [|t [(s & Hs & Q) B]].
    + split; [now exists 0%nat|]. intros v (s & Hs & ->). replace s with 0%nat by lia. simpl. lra.
    + split.
      * simpl. destruct (Rmax_case (peak z t) (z (S t)) (fun v => v = peak z t \/ v = z (S t))) as [->| ->]; auto.
        -- exists s. split; [lia|easy].
        -- now exists (S t).
      * intros v (r & Hr & ->). simpl. destruct (Nat.eq_dec r (S t)) as [->|N]; [apply Rmax_r|].
        eapply Rle_trans; [apply B; exists r; split; [lia|easy]|apply Rmax_l].
Qed.
