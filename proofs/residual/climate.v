(** On data: norms, a head with a fair step, attention's part of the answer. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.along base.runs base.readout.
Open Scope R_scope.

(** mean x = Σ x_j/d, deviation x = (Σ (x_j − mean x)²/d)^½, norm(x)_j = w_j (x_j − mean x)/deviation x + b_j *)
Definition mean (d : nat) (x : vector) : R := Sum d x / INR d.
Definition deviation (d : nat) (x : vector) : R := sqrt (Sum d (fun j => (x j - mean d x) ^ 2) / INR d).
Definition layer_norm (d : nat) (w b x : vector) : vector :=
  fun j => w j * ((x j - mean d x) / deviation d x) + b j.

(** The map h ↦ inner(h) W + 1 bᵀ, whose last map W has m rows *)
Definition last_map (m : nat) (inner : matrix -> matrix) (W : matrix) (b : vector) (h : matrix) : matrix :=
  fun i j => Sum m (fun k => inner h i k * W k j) + b j.

(** h ← norm(g h + f(h)), N times: f_k(h) = inner_k(h) (c W_k) + c b_k, norms with weights v_k, u_k *)
Fixpoint normed_network (d m : nat) (g c : R) (inner : nat -> matrix -> matrix) (W : nat -> matrix)
  (b v u : nat -> vector) (N : nat) (h : matrix) : matrix :=
  match N with
  | O => h
  | S k => let x := normed_network d m g c inner W b v u k h in
    fun i => layer_norm d (v k) (u k)
      (fun j => g * x i j + last_map m (inner k) (fun r s => c * W k r s) (fun s => c * b k s) x i j)
  end.

Lemma layer_norm_scale d w b c x : 0 < c -> layer_norm d w b (vscal c x) = layer_norm d w b x.
Proof.
  intros Hc. assert (M : mean d (vscal c x) = c * mean d x).
  { unfold mean, Rdiv. rewrite <- Rmult_assoc, <- Sum_scal. easy. }
  assert (V : deviation d (vscal c x) = c * deviation d x).
  { unfold deviation. transitivity (sqrt (c ^ 2 * (Sum d (fun j => (x j - mean d x) ^ 2) / INR d))).
    - f_equal. rewrite M. unfold Rdiv. rewrite <- Rmult_assoc, <- Sum_scal. f_equal. apply Sum_ext; intros.
      unfold vscal. ring.
    - rewrite sqrt_mult_alt, sqrt_pow2 by (lra || apply pow2_ge_0). easy. }
  apply functional_extensionality; intros j. unfold layer_norm. rewrite M, V. unfold vscal. f_equal. f_equal.
  unfold Rdiv. rewrite Rinv_mult.
  replace (c * x j - c * mean d x) with (c * (x j - mean d x)) by ring.
  rewrite (Rmult_comm c), Rmult_assoc, <- (Rmult_assoc c), Rinv_r, Rmult_1_l by lra. easy.
Qed.

(** rt-lemma-g-norm
    Covers: the whole statement, also where a row is constant, with 0 for 0/0.
    Reads: for g > 0, any number of steps h ← norm(g h + f_k(h)) with any f_k(h) = inner_k(h) W_k + b_k, attention and network in turn, gives what the steps h ← norm(h + f_k(h)) give with W_k/g and b_k/g in the place of W_k and b_k.
    Mistake: `normed_network d m 1 g inner` for `normed_network d m 1 (/ g) inner`
    Mistake: without `0 < g ->`
*)
Theorem rt_lemma_g_norm : forall d m g inner W b v u N h, 0 < g ->
  normed_network d m g 1 inner W b v u N h = normed_network d m 1 (/ g) inner W b v u N h.
Proof.
  intros d m g inner W b v u N h Hg. induction N as [|k IH]; [easy|]. cbn [normed_network]. rewrite IH.
  set (x := normed_network d m 1 (/ g) inner W b v u k h). apply functional_extensionality; intros i.
  rewrite <- (layer_norm_scale d (v k) (u k) g (fun j => 1 * x i j + _ j) Hg). f_equal.
  apply functional_extensionality; intros j. unfold vscal, last_map.
  rewrite (Sum_ext m (fun r => inner k x i r * (/ g * W k r j)) (fun r => / g * (inner k x i r * W k r j)))
    by (intros; ring).
  rewrite Sum_scal. rewrite (Sum_ext m (fun r => inner k x i r * (1 * W k r j)) (fun r => inner k x i r * W k r j))
    by (intros; ring). field. lra.
Qed.

(** h(m) = (g_f m + relu(m W₁) W₂) W_U for a token m *)
Definition relu (x : R) : R := Rmax 0 x.
Definition feed_forward (d d1 : nat) (gf : R) (W1 W2 WU : matrix) (m : vector) : vector :=
  pullback d WU (vplus (vscal gf m) (pullback d1 W2 (fun l => relu (pullback d W1 m l)))).

Lemma relu_lipschitz x y : (relu x - relu y) ^ 2 <= (x - y) ^ 2.
Proof.
  unfold relu. destruct (Rle_lt_dec 0 x) as [A|A], (Rle_lt_dec 0 y) as [B|B].
  - rewrite !Rmax_right by easy. lra.
  - rewrite (Rmax_right 0 x), (Rmax_left 0 y) by lra. nra.
  - rewrite (Rmax_left 0 x), (Rmax_right 0 y) by lra. nra.
  - rewrite !Rmax_left by lra. assert (0 <= (x - y) ^ 2) by apply pow2_ge_0. lra.
Qed.

Lemma pullback_minus n A x y : vminus (pullback n A x) (pullback n A y) = pullback n A (vminus x y).
Proof. symmetry. apply matvec_minus. Qed.

(** rt-proposition-e-part
    Covers: the whole statement, for any matrix S of attention's weights.
    Reads: let N tokens be the rows of X, Z = gX + SXW_V, h(M) the rows (g_f m + relu(m W₁)W₂)W_U, w₁, w₂, w_U bounds on the spectral norms of W₁, W₂, W_U. For g, g_f ≥ 0, ‖h(Z) − g h(X)‖_F ≤ ‖SXW_V‖_F (g_f + w₁w₂) w_U. If all matrices are the number 1, both sides are g_f + 1, for every g.
    Mistake: `frob2 N K (mminus (F gf) (fun i j => g * h gf (X i) j)) <= 1 / 2 *` for `frob2 N K (mminus (F gf) (fun i j => g * h gf (X i) j)) <=`
    Mistake: without `0 <= g ->`
*)
Theorem rt_proposition_e_part : forall N d d1 K (X S WV W1 W2 WU : matrix) g gf w1 w2 wU,
  let SXW := matmul d (matmul N S X) WV in
  let Z := mplus (fun i j => g * X i j) SXW 1 in
  let h gf := feed_forward d d1 gf W1 W2 WU in let F gf i := h gf (Z i) in
  0 <= g -> 0 <= gf -> 0 <= w1 -> 0 <= w2 -> 0 <= wU ->
  (forall v, vnorm d1 (pullback d W1 v) <= w1 * vnorm d v) ->
    (forall v, vnorm d (pullback d1 W2 v) <= w2 * vnorm d1 v) ->
  (forall v, vnorm K (pullback d WU v) <= wU * vnorm d v) ->
  frob2 N K (mminus (F gf) (fun i j => g * h gf (X i) j)) <= ((gf + w1 * w2) * wU) ^ 2 * frob2 N d SXW /\
  let one := (fun _ _ => 1) : matrix in
  let h1 := feed_forward 1 1 gf one one one in
  frob2 1 1 (mminus (fun i => h1 (fun j => g * one i j + matmul 1 (matmul 1 one one) one i j))
    (fun i j => g * h1 (one i) j)) = (gf + 1) ^ 2 /\
      ((gf + 1 * 1) * 1) ^ 2 * frob2 1 1 (matmul 1 (matmul 1 one one) one) = (gf + 1) ^ 2.
Proof.
  intros N d d1 K X S WV W1 W2 WU g gf w1 w2 wU SXW Z h F Hg Hgf H1 H2 HU B1 B2 BU. split; [|split].
  - unfold frob2. rewrite <- Sum_scal. apply Sum_le; intros i _.
    assert (hom : forall j, g * h gf (X i) j = h gf (vscal g (X i)) j).
    { intros j. unfold h, feed_forward, pullback, matvec. rewrite <- Sum_scal. apply Sum_ext; intros k _.
      unfold vplus, vscal, transpose. rewrite <- Rmult_assoc, (Rmult_comm g), Rmult_assoc. f_equal.
      rewrite Rmult_plus_distr_l, <- Sum_scal. f_equal; [ring|]. apply Sum_ext; intros l _.
      rewrite <- Rmult_assoc, (Rmult_comm g), Rmult_assoc. f_equal. unfold relu.
      rewrite (Sum_ext d (fun j0 => W1 j0 l * (g * X i j0)) (fun j0 => g * (W1 j0 l * X i j0))) by (intros; ring).
      rewrite Sum_scal. set (p := Sum d _). destruct (Rle_lt_dec 0 p).
      - rewrite !Rmax_right by (try apply Rmult_le_pos; lra). easy.
      - rewrite !Rmax_left by nra. ring. }
    set (m := Z i). set (m' := vscal g (X i)).
    assert (L : vnorm K (vminus (h gf m) (h gf m')) <= (gf + w1 * w2) * wU * vnorm d (vminus m m')).
    { unfold h, feed_forward. rewrite pullback_minus. eapply Rle_trans; [apply BU|].
      rewrite (norm_ext d _ (vplus (vscal gf (vminus m m')) (pullback d1 W2 (vminus (fun l => relu (pullback d W1 m l))
        (fun l => relu (pullback d W1 m' l)))))) by (intros; rewrite <- pullback_minus; unfold vplus, vminus, vscal;
          ring).
      assert (T := norm_triangle d (vscal gf (vminus m m')) (pullback d1 W2 (vminus (fun l => relu (pullback d W1 m l))
        (fun l => relu (pullback d W1 m' l))))).
      rewrite norm_scal, Rabs_right in T by lra. assert (T2 := B2 (vminus (fun l => relu (pullback d W1 m l))
        (fun l => relu (pullback d W1 m' l)))).
      assert (T1 : vnorm d1 (vminus (fun l => relu (pullback d W1 m l)) (fun l => relu (pullback d W1 m' l))) <=
        w1 * vnorm d (vminus m m')).
      { eapply Rle_trans; [|apply B1]. rewrite <- pullback_minus. apply sqrt_le_1_alt, Sum_le. intros l _.
        apply relu_lipschitz. }
      set (D := vnorm d (vminus m m')) in *. set (R1 := vnorm d1 _) in *. set (R2 := vnorm d (vplus _ _)) in *.
      assert (w2 * R1 <= w2 * (w1 * D)) by now apply Rmult_le_compat_l.
      assert (wU * R2 <= wU * (gf * D + w2 * (w1 * D))) by (apply Rmult_le_compat_l; lra). lra. }
    apply (Rle_trans _ (vnorm K (vminus (h gf m) (h gf m')) ^ 2)).
    + rewrite norm_sq. right. apply Sum_ext; intros j _. unfold mminus, F, vminus. now rewrite hom.
    + eapply Rle_trans; [apply pow_incr; split; [apply norm_ge0|apply L]|]. rewrite Rpow_mult_distr, norm_sq. right.
      f_equal. apply Sum_ext; intros j _. unfold m, m', Z, mplus, vminus, vscal. ring.
  - unfold frob2, mminus, feed_forward, pullback, matvec, transpose, matmul, vplus, vscal, relu. simpl.
    rewrite !Rmax_right by lra. ring.
  - unfold frob2, matmul. simpl. ring.
Qed.

(** ℓ(W) = (1/n) Σ_i [ln Σ_c exp((F W)_ic) − (F W)_{i,y_i}], the mean cross-entropy of n rows and C classes *)
Definition head_loss (n m C : nat) (F : matrix) (y : nat -> nat) (W : matrix) : R :=
  Sum n (fun i => ln (Sum C (fun c => exp (matmul m F W i c))) - matmul m F W i (y i)) / INR n.

(** (1/n) Fᵀ (softmax(F W) − one-hot(y)) *)
Definition head_gradient (n m C : nat) (F : matrix) (y : nat -> nat) (W : matrix) : matrix := fun j c =>
  Sum n (fun i => F i j * (softmax C (matmul m F W i) c - (if Nat.eqb c (y i) then 1 else 0))) / INR n.

(** The variance of v under p is at most ½‖v‖². *)
Lemma variance_half C p v : distribution C p -> 0 <= E C p (fun c => v c ^ 2) - E C p v ^ 2 <= sq C v / 2.
Proof.
  intros Hp. assert (P : forall c, (c < C)%nat -> 0 <= p c) by apply Hp. split.
  - rewrite <- variance by easy. apply E_ge0; [easy|]. intros; apply pow2_ge_0.
  - set (m := E C p v). set (q := E C p (fun c => v c ^ 2)).
    assert (A : Sum C (fun s => p s ^ 2 * (4 * v s ^ 2)) <= Sum C (fun s => p s * (v s ^ 2 + 2 * m * v s + q))).
    { apply Sum_le; intros s Hs. assert (B : v s ^ 2 + 2 * m * v s + q = E C p (fun c => (v s + v c) ^ 2)).
      { rewrite (E_ext C p (fun c => (v s + v c) ^ 2) (fun c => v s ^ 2 + (2 * v s * v c + v c ^ 2))) by (intros; ring).
        rewrite !E_plus, (E_scal C p (2 * v s) v), E_const by easy. fold m q. ring. }
      rewrite B. replace (p s ^ 2 * (4 * v s ^ 2)) with (p s * (p s * (v s + v s) ^ 2)) by ring.
      apply Rmult_le_compat_l; [now apply P|]. apply (Sum_term C (fun c => p c * (v s + v c) ^ 2)); [easy|].
      intros c Hc. apply Rmult_le_pos; [now apply P|apply pow2_ge_0]. }
    assert (B : Sum C (fun s => p s * (v s ^ 2 + 2 * m * v s + q)) = q + 2 * m * m + q).
    { change (E C p (fun s => v s ^ 2 + 2 * m * v s + q) = q + 2 * m * m + q).
      rewrite (E_plus C p (fun s => v s ^ 2 + 2 * m * v s)), E_plus, (E_scal C p (2 * m) v), E_const by easy. easy. }
    assert (D : 2 * q - Sum C (fun s => p s ^ 2 * (2 * v s ^ 2)) <= sq C v / 2).
    { unfold q, E, sq. unfold Rdiv. rewrite <- Sum_scal, <- Sum_minus, Rmult_comm, <- Sum_scal.
      apply Sum_le; intros s Hs. assert (0 <= (2 * p s - 1) ^ 2 * v s ^ 2) by (apply Rmult_le_pos; apply pow2_ge_0).
      lra. }
    assert (F : Sum C (fun s => p s ^ 2 * (4 * v s ^ 2)) = 2 * Sum C (fun s => p s ^ 2 * (2 * v s ^ 2)))
      by (rewrite <- Sum_scal; apply Sum_ext; intros; ring).
    rewrite F, B in A. lra.
Qed.

(** Along z + s v the logarithm of the partition function has the slope E v and the curvature Var v. *)
Lemma log_sum_slope C z v s : (0 < C)%nat ->
  is_derive (fun s => ln (Sum C (fun c => exp (along z v s c)))) s (E C (softmax C (along z v s)) v).
Proof.
  intros HC. assert (Z := partition_pos C (along z v s) HC).
  assert (D : is_derive (fun s => Sum C (fun c => exp (along z v s c))) s (Sum C (fun c => v c * exp (along z v s c)))).
  { apply (Sum_derive C (fun s c => exp (along z v s c))). intros c _. unfold along. auto_derive; [easy|ring]. }
  replace (E C (softmax C (along z v s)) v) with
    (Sum C (fun c => v c * exp (along z v s c)) * / Sum C (fun c => exp (along z v s c))).
  - apply (is_derive_comp ln (fun s => Sum C (fun c => exp (along z v s c)))); [|exact D].
    apply is_derive_Reals, derivable_pt_lim_ln, Z.
  - unfold E, softmax. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros. field. lra.
Qed.

Lemma log_sum_curvature C z v s : (0 < C)%nat -> let p := softmax C (along z v s) in
  is_derive (fun s => E C (softmax C (along z v s)) v) s (E C p (fun c => v c ^ 2) - E C p v ^ 2).
Proof.
  intros HC p. assert (Z := partition_pos C (along z v s) HC). set (Q := fun s => Sum C (fun c => exp (along z v s c))).
  assert (D : is_derive Q s (Sum C (fun c => v c * exp (along z v s c)))).
  { apply (Sum_derive C (fun s c => exp (along z v s c))). intros c _. unfold along. auto_derive; [easy|ring]. }
  assert (N : is_derive (fun s => Sum C (fun c => v c * exp (along z v s c))) s (Sum C (fun c => v c ^ 2 * exp (along z
    v s c)))).
  { apply (Sum_derive C (fun s c => v c * exp (along z v s c))). intros c _. unfold along. auto_derive; [easy|ring]. }
  apply (is_derive_ext (fun s => Sum C (fun c => v c * exp (along z v s c)) / Q s)).
  { intros t. unfold E, softmax, Q. unfold Rdiv. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros.
    match goal with |- ?a = ?b => change (@eq R a b) end. ring. }
  assert (K := is_derive_div _ Q s _ _ N D ltac:(unfold Q; lra)).
  replace (E C p (fun c => v c ^ 2) - E C p v ^ 2) with
    ((Sum C (fun c => v c ^ 2 * exp (along z v s c)) * Q s - Sum C (fun c => v c * exp (along z v s c)) *
      Sum C (fun c => v c * exp (along z v s c))) / Q s ^ 2); [exact K|].
  assert (E1 : forall f, E C p f = Sum C (fun c => f c * exp (along z v s c)) / Q s).
  { intros f. unfold E, p, softmax. fold (Q s). unfold Rdiv. rewrite Rmult_comm, <- Sum_scal.
    apply Sum_ext; intros; ring. }
  rewrite !E1. unfold Q in *. field. lra.
Qed.

(** A normalised vector sums to 0, and so does a mean of such. *)
Lemma dependent_columns m (F : matrix) d T w u (x : nat -> nat -> vector) :
  (0 < d)%nat -> (forall j, (j < d)%nat -> w j <> 0) -> m = S d ->
  (forall i j, (j < d)%nat -> F i j = Sum (T i) (fun t => layer_norm d w u (x i t) j) / INR (T i)) ->
  (forall i, (0 < T i)%nat) -> (forall i, F i d = 1) ->
  exists z, (exists j, (j < m)%nat /\ z j <> 0) /\ forall i, matvec m F z i = 0.
Proof.
  intros Hd Hw -> HF HT H1. set (q := Sum d (fun j => u j / w j)).
  exists (fun j => if Nat.eqb j d then - q else / w j). split.
  - exists 0%nat. split; [lia|]. replace (Nat.eqb 0 d) with false by (symmetry; apply Nat.eqb_neq; lia).
    now apply Rinv_neq_0_compat, Hw.
  - intros i. unfold matvec. cbn [Sum]. rewrite Nat.eqb_refl, H1.
    assert (T0 : INR (T i) <> 0) by (apply not_0_INR; specialize (HT i); lia).
    assert (d0 : INR d <> 0) by (apply not_0_INR; lia).
    rewrite (Sum_ext d _ (fun j => / INR (T i) * Sum (T i) (fun t => (x i t j - mean d (x i t)) / deviation d (x i t) +
      u j / w j))).
    + rewrite Sum_scal, Sum_swap. rewrite (Sum_ext (T i) _ (fun _ => q)); [rewrite Sum_const; field; easy|].
      intros t _. rewrite Sum_plus. fold q.
      assert (Z : Sum d (fun j => (x i t j - mean d (x i t)) / deviation d (x i t)) = 0); [|rewrite Z; ring].
      rewrite (Sum_ext d _ (fun j => / deviation d (x i t) * (x i t j - mean d (x i t)))) by (intros; unfold Rdiv;
        ring).
      rewrite Sum_scal, Sum_minus, Sum_const.
      assert (Q : INR d * mean d (x i t) = Sum d (x i t)) by (unfold mean; field; easy). rewrite Q.
      change (Sum d (fun i0 => x i t i0)) with (Sum d (x i t)). rewrite Rminus_eq_0. ring.
    + intros j Hj. replace (Nat.eqb j d) with false by (symmetry; apply Nat.eqb_neq; lia). rewrite HF by easy.
      unfold Rdiv at 1. rewrite (Rmult_comm (Sum _ _)), Rmult_assoc. f_equal. rewrite Rmult_comm, <- Sum_scal.
      apply Sum_ext; intros t _. unfold layer_norm. assert (K := Hw j Hj). unfold Rdiv. rewrite Rmult_plus_distr_l.
      f_equal; [|apply Rmult_comm]. rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by easy. easy.
Qed.

(** rt-proposition-d-head
    Covers: the whole statement, with any number b > 0 for which ‖F̃x‖² ≤ b‖x‖² for ‖F̃‖², and any m columns of F̃ until the last part.
    Reads: let n ≥ 1, C ≥ 1 classes, ‖F̃x‖² ≤ b‖x‖² for all x ∈ ℝᵐ, b > 0, labels y_i < C. Along every line W + sV the loss ℓ has a first and a second derivative, and the second lies between 0 (ℓ is convex) and (b/(2n))‖V‖²_F; ∇ℓ(W) = (1/n)F̃ᵀ(softmax(F̃W) − one-hot(y)), and ℓ(W − (2n/b)∇ℓ(W)) ≤ ℓ(W). For C = 2 and a v with ‖F̃v‖² = b‖v‖², at W = 0 in direction v(e₁ − e₂)ᵀ the second derivative is (b/(2n))‖v(e₁ − e₂)ᵀ‖². If row i of F̃ is the mean over T_i tokens of layer norms of rows of a matrix, with weights w_j ≠ 0 and biases u_j, followed by a 1, then its d + 1 columns are dependent: F̃z = 0 for a z ≠ 0, so its rank is at most d.
    Mistake: `0 <= l2 s <= b / (4 * INR n)` for `0 <= l2 s <= b / (2 * INR n)`
    Mistake: `F i d = INR i` for `F i d = 1`
    Mistake: `(- (6 * INR n / b))` for `(- (2 * INR n / b))`
*)
Theorem rt_proposition_d_head : forall n m C F y b, (0 < n)%nat -> (0 < C)%nat -> 0 < b ->
  (forall i, (i < n)%nat -> (y i < C)%nat) -> (forall x, sq n (matvec m F x) <= b * sq m x) ->
  (forall W V, exists l1 l2, (forall s, is_derive (fun s => head_loss n m C F y (mplus W V s)) s (l1 s) /\
    is_derive l1 s (l2 s) /\ 0 <= l2 s <= b / (2 * INR n) * frob2 m C V)) /\
  (forall W, matrix_gradient m C (head_loss n m C F y) W (head_gradient n m C F y W) /\
    head_loss n m C F y (mplus W (head_gradient n m C F y W) (- (2 * INR n / b))) <= head_loss n m C F y W) /\
  (C = 2%nat -> forall v, sq n (matvec m F v) = b * sq m v ->
    let V := outer v (fun c => match c with O => 1 | _ => -1 end) in
    exists l1, (forall s, is_derive (fun s => head_loss n m C F y (mplus (fun _ _ => 0) V s)) s (l1 s)) /\
      is_derive l1 0 (b / (2 * INR n) * frob2 m C V)) /\
  (forall d T w u (x : nat -> nat -> vector), (0 < d)%nat -> (forall j, (j < d)%nat -> w j <> 0) -> m = S d ->
    (forall i j, (j < d)%nat -> F i j = Sum (T i) (fun t => layer_norm d w u (x i t) j) / INR (T i)) ->
    (forall i, (0 < T i)%nat) -> (forall i, F i d = 1) ->
    exists z, (exists j, (j < m)%nat /\ z j <> 0) /\ forall i, matvec m F z i = 0).
Proof.
  intros n m C F y b Hn HC Hb Hy HF. assert (n0 : 0 < INR n) by now apply lt_0_INR.
  set (u := fun (V : matrix) i => matmul m F V i).
  set (p := fun W V s i => softmax C (along (u W i) (u V i) s)).
  set (l1 := fun W V s => Sum n (fun i => E C (p W V s i) (u V i) - u V i (y i)) / INR n).
  set (l2 := fun W V s => Sum n (fun i => E C (p W V s i) (fun c => u V i c ^ 2) - E C (p W V s i) (u V i) ^ 2) / INR
    n).
  assert (lin : forall W V s i c, u (mplus W V s) i c = along (u W i) (u V i) s c).
  { intros W V s i c. unfold u, matmul, mplus, along. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext; intros; ring. }
  assert (D1 : forall W V s, is_derive (fun s => head_loss n m C F y (mplus W V s)) s (l1 W V s)).
  { intros W V s. unfold head_loss, l1, Rdiv. apply (is_derive_ext (fun s => / INR n * Sum n (fun i =>
      ln (Sum C (fun c => exp (along (u W i) (u V i) s c))) - along (u W i) (u V i) s (y i)))).
    { intros t. match goal with |- ?a = ?b => change (@eq R a b) end. rewrite Rmult_comm. f_equal.
      apply Sum_ext; intros i _.
      change (matmul m F (mplus W V t) i) with (u (mplus W V t) i). rewrite lin. f_equal. f_equal.
      apply Sum_ext; intros c _. now rewrite lin. }
    rewrite Rmult_comm. apply (is_derive_scal (fun s => Sum n (fun i => ln (Sum C (fun c => exp (along (u W i) (u V i)
      s c)))
      - along (u W i) (u V i) s (y i))) s (/ INR n)).
    apply (Sum_derive n (fun s i => ln (Sum C (fun c => exp (along (u W i) (u V i) s c))) - along (u W i) (u V i) s (y
      i))).
    intros i _. apply (is_derive_minus (fun s => ln (Sum C (fun c => exp (along (u W i) (u V i) s c))))
      (fun s => along (u W i) (u V i) s (y i))); [now apply log_sum_slope|]. unfold along. auto_derive; [easy|ring]. }
  assert (D2 : forall W V s, is_derive (l1 W V) s (l2 W V s)).
  { intros W V s. unfold l1, l2, Rdiv.
    apply (is_derive_ext (fun s => / INR n * Sum n (fun i => E C (p W V s i) (u V i) - u V i (y i)))).
    { intros t. apply Rmult_comm. }
    rewrite Rmult_comm. apply (is_derive_scal (fun s => Sum n (fun i => E C (p W V s i) (u V i) - u V i (y i))) s (/
      INR n)).
    apply (Sum_derive n (fun s i => E C (p W V s i) (u V i) - u V i (y i))). intros i _.
    rewrite <- (Rminus_0_r (E C (p W V s i) _ - _)).
    apply (is_derive_minus (fun s => E C (p W V s i) (u V i)) (fun _ => u V i (y i)));
      [now apply log_sum_curvature|apply (is_derive_const (u V i (y i)))]. }
  assert (B2 : forall W V s, 0 <= l2 W V s <= b / (2 * INR n) * frob2 m C V).
  { intros W V s. assert (Hp : forall i, distribution C (p W V s i)) by (intros; now apply softmax_distribution).
    unfold l2. split.
    - apply Rmult_le_pos; [|left; now apply Rinv_0_lt_compat]. apply Sum_ge0; intros i _. now apply variance_half.
    - apply Rle_div_l; [easy|]. apply (Rle_trans _ (Sum n (fun i => / 2 * sq C (u V i)))).
      + apply Sum_le; intros i _. destruct (variance_half C _ (u V i) (Hp i)). lra.
      + rewrite Sum_scal. change (Sum n (fun i => sq C (u V i))) with (frob2 n C (u V)). rewrite frob2_columns.
        assert (K : Sum C (fun c => sq n (column (u V) c)) <= b * frob2 m C V).
        { rewrite frob2_columns, <- Sum_scal. apply Sum_le; intros c _. exact (HF (column V c)). }
        replace (b / (2 * INR n) * frob2 m C V * INR n) with (/ 2 * (b * frob2 m C V)) by (field; lra). lra. }
  assert (G1 : forall W V, l1 W V 0 = frob_dot m C (head_gradient n m C F y W) V).
  { intros W V. set (Q := fun i c => softmax C (u W i) c - (if Nat.eqb c (y i) then 1 else 0)).
    assert (GQ : frob_dot m C (head_gradient n m C F y W) V = / INR n * frob_dot m C (matmul n (transpose F) Q) V).
    { unfold frob_dot. rewrite <- Sum_scal. apply Sum_ext; intros j _. unfold dot. rewrite <- Sum_scal.
      apply Sum_ext; intros c _. unfold head_gradient, Rdiv.
      rewrite (Rmult_comm _ (/ INR n)), Rmult_assoc. easy. }
    rewrite GQ, <- frob_dot_left. unfold l1, Rdiv. rewrite Rmult_comm. f_equal. apply Sum_ext; intros i Hi.
    unfold dot, Q, p, E. rewrite (Sum_ext C (fun c => (softmax C (u W i) c - (if Nat.eqb c (y i) then 1 else 0)) *
      matmul m F V i c) (fun c => softmax C (u W i) c * u V i c - (if Nat.eqb c (y i) then u V i c else 0))).
    - rewrite Sum_minus, along_0. f_equal. rewrite (Sum_single C _ (y i)); [now rewrite Nat.eqb_refl|now apply Hy|].
      intros c _ Hc. now apply Nat.eqb_neq in Hc as ->.
    - intros c _. unfold u. destruct (Nat.eqb c (y i)); ring. }
  split; [intros W V; exists (l1 W V), (l2 W V); intros s; split; [apply D1|split; [apply D2|apply B2]]|].
  split; [|split; [|now apply dependent_columns]].
  2: { intros E2 v Hv V. exists (l1 (fun _ _ => 0) V). split; [intros s; apply D1|].
    replace (b / (2 * INR n) * frob2 m C V) with (l2 (fun _ _ => 0) V 0); [apply D2|].
    assert (U0 : forall i c, u (fun _ _ => 0) i c = 0).
    { intros i c. unfold u, matmul. rewrite (Sum_ext m _ (fun _ => 0)) by (intros; ring). apply Sum_zero. }
    assert (UV : forall i c, u V i c = outer (matvec m F v) (fun c => match c with O => 1 | _ => -1 end) i c).
    { intros i c. unfold u, V, matmul, outer, matvec. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring. }
    assert (P2 : forall i c, p (fun _ _ => 0) V 0 i c = 1 / 2).
    { intros i c. unfold p, softmax. rewrite along_0, E2. cbn [Sum]. rewrite !U0, exp_0. field. }
    unfold l2. rewrite (Sum_ext n _ (fun i => matvec m F v i ^ 2)).
    - change (Sum n (fun i => matvec m F v i ^ 2)) with (sq n (matvec m F v)). rewrite Hv. unfold V.
      rewrite frob2_outer, E2.
      unfold sq at 3. simpl. field. lra.
    - intros i _. unfold E. rewrite E2. cbn [Sum]. rewrite !P2, !UV. unfold outer. field. }
  intros W. split; [intros V; rewrite <- G1; apply D1|]. set (G := head_gradient n m C F y W).
  set (tau := 2 * INR n / b). assert (t0 : 0 < tau) by (apply Rdiv_lt_0_compat; lra).
  set (V := fun i j => - G i j). 
  assert (Q := quadratic (fun s => head_loss n m C F y (mplus W V s)) (l1 W V) (b / (2 * INR n) * frob2 m C V) tau).
  assert (N : frob2 m C V = frob2 m C G) by (apply Sum_ext; intros; apply Sum_ext; intros; unfold V; ring).
  assert (GV : l1 W V 0 = - frob2 m C G).
  { rewrite G1. fold G. unfold frob_dot, frob2, dot, V. rewrite <- (Rmult_1_l (Sum m _)) at 1.
    replace (- Sum m (fun i => Sum C (fun j => G i j ^ 2))) with (-1 * Sum m (fun i => Sum C (fun j => G i j ^ 2)))
      by ring.
    rewrite Rmult_1_l, <- Sum_scal. apply Sum_ext; intros. rewrite <- Sum_scal. apply Sum_ext; intros. ring. }
  assert (M0 : mplus W V 0 = W) by (apply functional_extensionality; intros i; apply functional_extensionality;
    intros j;
    unfold mplus; ring).
  assert (M1 : mplus W V tau = mplus W G (- tau)) by (apply functional_extensionality; intros i;
    apply functional_extensionality; intros j; unfold mplus, V; ring).
  cbv beta in Q. rewrite M0, M1, GV, N in Q. eapply Rle_trans; [apply Q|].
  - lra.
  - intros s _. apply D1.
  - intros s Hs. assert (K := falls 0 s (fun s => l1 W V s - b / (2 * INR n) * frob2 m C G * s)
      (fun s => l2 W V s - b / (2 * INR n) * frob2 m C G) ltac:(lra)). cbv beta in K.
    assert (l1 W V s - b / (2 * INR n) * frob2 m C G * s <= l1 W V 0 - b / (2 * INR n) * frob2 m C G * 0);
      [|rewrite GV in *; lra].
    apply K; intros r Hr.
    + apply (is_derive_minus (l1 W V) (fun s => b / (2 * INR n) * frob2 m C G * s)); [apply D2|auto_derive;
      [easy|ring]].
    + destruct (B2 W V r) as [_ B]. rewrite N in B. lra.
  - assert (0 <= INR n / b * frob2 m C G).
    { apply Rmult_le_pos; [left; now apply Rdiv_lt_0_compat|apply Sum_ge0; intros; apply sq_ge0]. }
    replace (head_loss n m C F y W + - frob2 m C G * tau + b / (2 * INR n) * frob2 m C G / 2 * tau ^ 2) with
      (head_loss n m C F y W - INR n / b * frob2 m C G) by (unfold tau; field; lra). lra.
Qed.
