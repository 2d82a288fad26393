(** On data: norms, a head with a fair step, attention's part of the answer. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.means base.matrices base.gradient base.descent.
From Shallow Require Import base.readout base.activations.
Open Scope R_scope.

(** deviation x = (Σ (x_j − mean x)²/d)^½, norm(x)_j = w_j (x_j − mean x)/deviation x + b_j *)
Definition deviation (d : nat) (x : vector) : R := rms d (fun j => x j - mean d x).
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
  { apply mean_scal. }
  assert (V : deviation d (vscal c x) = c * deviation d x).
  { unfold deviation. rewrite M, (rms_ext d _ (fun j => c * (x j - mean d x))) by (intros; unfold vscal; ring).
    now rewrite rms_scal, Rabs_pos_eq by lra. }
  apply functional_extensionality; intros j. unfold layer_norm. rewrite M, V. unfold vscal. f_equal. f_equal.
  unfold Rdiv. rewrite Rinv_mult.
  replace (c * x j - c * mean d x) with (c * (x j - mean d x)) by ring.
  rewrite (Rmult_comm c), Rmult_assoc, <- (Rmult_assoc c), Rinv_r, Rmult_1_l by lra. easy.
Qed.

(** rt-lemma-g-norm
    Covers: the whole statement, also where a row is constant, with 0 for 0/0.
    Reads: for g > 0, any number of steps h ← norm(g h + f_k(h)) with any f_k(h) = inner_k(h) W_k + b_k, attention and network in turn (all W_k with m rows; narrower maps with 0 beyond their width), gives what the steps h ← norm(h + f_k(h)) give with W_k/g and b_k/g in the place of W_k and b_k.
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
Definition feed_forward (d d1 : nat) (gf : R) (W1 W2 WU : matrix) (m : vector) : vector :=
  pullback d WU (vplus (vscal gf m) (pullback d1 W2 (fun l => relu (pullback d W1 m l)))).

Lemma relu_lipschitz x y : (relu x - relu y) ^ 2 <= (x - y) ^ 2.
Proof.
  unfold relu. rewrite (Rmax_comm x), (Rmax_comm y). destruct (Rle_lt_dec 0 x) as [A|A], (Rle_lt_dec 0 y) as [B|B].
  - rewrite !Rmax_right by easy. lra.
  - rewrite (Rmax_right 0 x), (Rmax_left 0 y) by lra. nra.
  - rewrite (Rmax_left 0 x), (Rmax_right 0 y) by lra. nra.
  - rewrite !Rmax_left by lra. assert (0 <= (x - y) ^ 2) by apply pow2_ge_0. lra.
Qed.

Lemma pullback_minus n A x y : vminus (pullback n A x) (pullback n A y) = pullback n A (vminus x y).
Proof. symmetry. apply matvec_minus. Qed.

(** rt-proposition-e-part
    Covers: the whole statement, for any matrix S of attention's weights.
    Reads: let N tokens be the rows of X, Z = gX + SXW_V, h(M) the rows (g_f m + relu(m W₁)W₂)W_U, w₁, w₂, w_U bounds on the spectral norms of W₁, W₂, W_U. For g, g_f ≥ 0, ‖h(Z) − g h(X)‖_F ≤ ‖SXW_V‖_F (g_f + w₁w₂) w_U. If all matrices are the number 1, both sides are g_f + 1, for every g, g_f ≥ 0.
    Mistake: `frob2 N K (mminus (F gf) (fun i j => g * h gf (X i) j)) <= 1 / 2 *` for `frob2 N K (mminus (F gf) (fun i j => g * h gf (X i) j)) <=`
    Mistake: without `0 <= g ->`
*)
Theorem rt_proposition_e_part : forall N d d1 K (X S WV W1 W2 WU : matrix) g gf w1 w2 wU,
  let SXW := matmul d (matmul N S X) WV in
  let Z := shifted (fun i j => g * X i j) SXW 1 in
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
      - rewrite !Rmax_left by (try apply Rmult_le_pos; lra). easy.
      - rewrite !Rmax_right by nra. ring. }
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
      f_equal. apply Sum_ext; intros j _. unfold m, m', Z, shifted, mplus, mscal, vminus, vscal. ring.
  - unfold frob2, mminus, feed_forward, pullback, matvec, transpose, matmul, vplus, vscal, relu. simpl.
    rewrite !Rmax_left by lra. ring.
  - unfold frob2, matmul. simpl. ring.
Qed.
