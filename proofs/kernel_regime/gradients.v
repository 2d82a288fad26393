(** The gradients of the model: their closed form, their bounds for every length, and where they fade. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.matrices base.covariance.
Open Scope R_scope.

(** f at the parameters (c, U, W) + e (dc, dU, dW) *)
Definition model_along sigma m T d X q c (U : matrix) (W : nat -> matrix) dc (dU : matrix) (dW : nat -> matrix) (e :
  R) : R :=
  model sigma m T d X q (fun i => c i + e * dc i) (fun i k => U i k + e * dU i k) (fun i k l => W i k l + e * dW i k l).

(** the partial derivatives of f in c_i, in the entries of U_i and in those of W_i *)
Definition nabla_c sigma m T d X q c U W (i : nat) : R :=
  Derive (model_along sigma m T d X q c U W (delta i) (fun _ _ => 0) (fun _ _ _ => 0)) 0.
Definition nabla_U sigma m T d X q c U W (i : nat) : vector := fun k =>
  Derive (model_along sigma m T d X q c U W (fun _ => 0) (fun j n => delta i j * delta k n) (fun _ _ _ => 0)) 0.
Definition nabla_W sigma m T d X q c U W (i : nat) : matrix := fun k l =>
  Derive (model_along sigma m T d X q c U W (fun _ => 0) (fun _ _ => 0) (fun j n p => delta i j * (delta k n * delta
    l p))) 0.

(** (M v)_k = E (⟨X, v⟩ − E⟨X, v⟩) X_k *)
Lemma covariance_apply T d alpha X v k : distribution T alpha ->
  matvec d (covariance T alpha X) v k =
  E T alpha (fun t => (dot d (X t) v - E T alpha (fun s => dot d (X s) v)) * X t k).
Proof.
  intros H. set (a := attended T alpha X). rewrite (E_ext T alpha (fun s => dot d (X s) v) (fun s => dot d v (X s))),
    E_dot by (intros; apply dot_sym). fold a.
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
  dot d U (matvec d M (matvec d dW q)) = fdot d d (fun k l => matvec d M U k * q l) dW.
Proof.
  intros S. unfold dot, fdot.
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
    (Derive sigma (dot d U a) * (dot d a dU + fdot d d (fun k l => matvec d M U k * q l) dW)).
Proof.
  intros HT Hs a M. pose (p e k := pooled T d X q (fun i j => W i j + e * dW i j) k).
  assert (p0 : forall k, p 0 k = a k).
  { intros k. unfold p, a, pooled, attended, E, weights. apply Sum_ext; intros t _. f_equal.
    assert (Q : forall s, dot d (X s) (matvec d (fun i j => W i j + 0 * dW i j) q) = dot d (X s) (matvec d W q)).
    { intros s. unfold dot, matvec. apply Sum_ext; intros. f_equal. apply Sum_ext; intros; ring. }
    unfold softmax. rewrite Q. f_equal. apply Sum_ext; intros; now rewrite Q. }
  assert (D : is_derive (fun e => Sum d (fun k => (U k + e * dU k) * p e k)) 0
    (dot d a dU + fdot d d (fun k l => matvec d M U k * q l) dW)).
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
  is_derive (model_along sigma m T d X q c U W dc dU dW) 0 (/ sqrt (INR m) * Sum m (fun i =>
    let a := pooled T d X q (W i) in let M := covariance T (weights T d X q (W i)) X in
    sigma (dot d (U i) a) * dc i +
    c i * (Derive sigma (dot d (U i) a) *
      (dot d a (dU i) + fdot d d (fun k l => matvec d M (U i) k * q l) (dW i))))).
Proof.
  intros HT Hs. unfold model_along, model.
  apply (is_derive_scal (fun e => Sum m (fun i => (c i + e * dc i) *
    head sigma T d X q (fun k => U i k + e * dU i k) (fun k l => W i k l + e * dW i k l)))).
  apply (Sum_derive m (fun e i => (c i + e * dc i) *
    head sigma T d X q (fun k => U i k + e * dU i k) (fun k l => W i k l + e * dW i k l))). intros i _. cbv zeta.
  assert (H0 : head sigma T d X q (fun k => U i k + 0 * dU i k) (fun k l => W i k l + 0 * dW i k l) =
    head sigma T d X q (U i) (W i)).
  { unfold head, preactivation, dot, pooled, attended, E, weights. f_equal. apply Sum_ext; intros k _. f_equal; [ring|].
    apply Sum_ext; intros t _. f_equal.
    assert (Q : forall s, dot d (X s) (matvec d (fun k l => W i k l + 0 * dW i k l) q) =
      dot d (X s) (matvec d (W i) q)).
    { intros s. unfold dot, matvec. apply Sum_ext; intros. f_equal. apply Sum_ext; intros; ring. }
    unfold softmax. rewrite Q. f_equal. apply Sum_ext; intros; now rewrite Q. }
  eapply derive_value.
  - apply derive_mult; [|now apply head_derive]. instantiate (1 := dc i). auto_derive; [easy|ring].
  - cbv beta. rewrite H0. unfold head, preactivation. ring.
Qed.

Lemma frob_zero d A B : (forall k l, (k < d)%nat -> (l < d)%nat -> B k l = 0) -> fdot d d A B = 0.
Proof.
  intros H. unfold fdot. rewrite <- (Sum_zero d). apply Sum_ext; intros k Hk. rewrite <- (Sum_zero d).
  apply Sum_ext; intros l Hl. rewrite H by easy. ring.
Qed.

Lemma frob_delta d A k l : (k < d)%nat -> (l < d)%nat -> fdot d d A (fun n p => delta k n * delta l p) = A k l.
Proof.
  intros Hk Hl. unfold fdot. rewrite (Sum_ext d _ (fun n => delta k n * A n l)).
  - now rewrite (Sum_delta d k (fun n => A n l)).
  - intros n _. rewrite (Sum_ext d _ (fun p => delta k n * (delta l p * A n p))) by (intros; ring).
    rewrite Sum_scal, (Sum_delta d l (A n)) by easy. ring.
Qed.

Lemma dot_zero d a b : (forall k, (k < d)%nat -> b k = 0) -> dot d a b = 0.
Proof. intros H. unfold dot. rewrite <- (Sum_zero d). apply Sum_ext; intros k Hk. rewrite H by easy. ring. Qed.

(** kr-lemma-1
    Covers: the whole statement, gradients as derivatives along every line.
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
  (forall dc dU dW, is_derive (model_along sigma m T d X q c U W dc dU dW) 0
    (Sum m (fun i => nabla_c sigma m T d X q c U W i * dc i + dot d (nabla_U sigma m T d X q c U W i) (dU i) +
      fdot d d (nabla_W sigma m T d X q c U W i) (dW i)))).
Proof.
  intros sigma m T d X q c U W HT Hs a z M.
  assert (Z1 : forall A, fdot d d A (fun _ _ => 0) = 0) by (intros; now apply frob_zero).
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
        assert (Q : forall A, fdot d d A (fun n p => 1 * (delta k n * delta l p)) = A k l).
        { intros A. rewrite <- (frob_delta d A k l Hk Hl). apply Sum_ext; intros; apply Sum_ext; intros; ring. }
        rewrite Q. unfold z, a, M. ring.
      + rewrite (delta_other i j N), frob_zero by (intros; ring). ring. }
  split; [exact C|split; [exact V|split; [exact P|]]].
  intros dc dU dW. eapply derive_value; [now apply along_derive|]. rewrite <- Sum_scal. apply Sum_ext; intros i Hi.
  cbv zeta. fold (a i). fold (z i). fold (M i).
  rewrite (C i Hi). set (g := c i * Derive sigma (z i) / sqrt (INR m)).
  assert (Q1 : dot d (nabla_U sigma m T d X q c U W i) (dU i) = g * dot d (a i) (dU i)).
  { unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros k Hk. rewrite V by easy. unfold g. ring. }
  assert (Q2 : fdot d d (nabla_W sigma m T d X q c U W i) (dW i) =
    g * fdot d d (fun k l => matvec d (M i) (U i) k * q l) (dW i)).
  { unfold fdot. rewrite <- Sum_scal. apply Sum_ext; intros k Hk. rewrite <- Sum_scal.
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

(** kr-remark-4-attained
    Covers: the whole statement.
    Reads: let σ be differentiable with |σ′| ≤ σ₁ = |σ′(0)|, and i one of the m heads. For T ≥ 2 and U_i ≠ 0 the largest ‖∇_{W_i} f‖_F over tokens in the ball, the matrix of head i and ‖q‖ ≤ 1, all else fixed, is |c_i| σ₁ ‖U_i‖/√m; it is the value at any tokens ±U_i/‖U_i‖ whose two camps have mass ½, if ‖q‖ = 1; and such camps exist, also with q = X_T. For T = 1 the gradient is 0. For T ≥ 1 and d ≥ 2 the largest ‖∇_{U_i} f‖ is |c_i| σ₁/√m, the value whenever all tokens are one unit vector orthogonal to U_i.
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
    (exists X A S, camps T d S (vscal (/ vnorm d (U i)) (U i)) X /\
      mass T (weights T d X (X (T - 1)%nat) A) S = 1 / 2 /\ in_ball T d X /\ norm_W T X (X (T - 1)%nat) A = top)) /\
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
    assert (L : exists X A S, camps T d S e X /\ mass T (weights T d X (X (T - 1)%nat) A) S = 1 / 2 /\
      in_ball T d X /\ vnorm d (X (T - 1)%nat) = 1 /\ norm_W T X (X (T - 1)%nat) A = top).
    { assert (Nq : vnorm d (against e (T - 1)%nat) = 1).
      { transitivity (vnorm d e); [|exact Ne]. unfold vnorm. f_equal. apply Sum_ext; intros k _. unfold against.
        destruct (T - 1 =? 0)%nat; ring. }
      destruct (against_mass T d e _ (1 / 2) HT Ne Nq ltac:(lra)) as [A P].
      assert (K : camps T d (fun t => (t =? 0)%nat) e (against e)) by (intros t k _ _; easy).
      exists (against e), A, (fun t => (t =? 0)%nat). split; [exact K|]. split; [exact P|]. split; [now apply against_ball|].
      split; [exact Nq|]. now apply (C (against e) (against e (T - 1)%nat) A (fun t => (t =? 0)%nat)). }
    split; [split|split; [exact C|]].
    + destruct L as (X & A & S & _ & _ & B & N & V). exists X, (X (T - 1)%nat), A. repeat split; [easy|lra|now symmetry].
    + intros v (X & q & A & B & Nq & ->).
      apply (kr_remark_4 sigma s1 m T d X q c U (replace W i A) i ltac:(lia) Hi Hs H1 B Nq).
    + destruct L as (X & A & S & K & P & B & _ & V). now exists X, A, S.
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
    + destruct (right_angle d (U i) Hd) as (b & Nb & Ob). exists (fun _ => b), (fun _ => 0), (W i). split; [|split].
      * intros t _. lra.
      * apply norm_le1. unfold sq. rewrite (Sum_ext d _ (fun _ => 0)) by (intros; ring). rewrite Sum_zero. lra.
      * symmetry. now apply C with b.
    + intros v (X & q & A & B & _ & ->).
      apply (kr_remark_5 sigma s1 m T d X q c U (replace W i A) i ltac:(lia) Hi Hs H1 B).
Qed.
