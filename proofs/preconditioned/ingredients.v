(** The chapter preconditioned/ingredients: the imbalance, the start by singular vectors, the price of a context. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.matrices base.dependence base.factors.
Open Scope R_scope.

(** ℓ(U, V; z) = 1/(2n) Σ ‖cU ẑ_i − y_i‖² with ẑ_i = Σ_j softmax_j(z_jᵀVᵀz_i / c) z_j: the loss of the layer on
  whitened tokens z_1, …, z_n, the rows of Z, at scale c *)
Definition layer_loss (n d m : nat) (c : R) (Z Y U V : matrix) : R :=
  / (2 * INR n) * Sum n (fun i => sq m (fun a => c * matvec d U (attended n (softmax n (fun j =>
    / c * matmul d Z (matmul d (transpose V) (transpose Z)) j i)) Z) a - Y i a)).

Lemma layer_turned n d m c Z Y O U V : layer_loss n d m c (matmul d Z (transpose O)) Y U V =
  layer_loss n d m c Z Y (matmul d U O) (matmul d (transpose O) (matmul d V O)).
Proof.
  unfold layer_loss. f_equal. apply Sum_ext; intros i _. apply Sum_ext; intros a _. f_equal. f_equal. f_equal.
  assert (HE : matmul d (matmul d Z (transpose O)) (matmul d (transpose V) (transpose (matmul d Z (transpose O)))) =
    matmul d Z (matmul d (transpose (matmul d (transpose O) (matmul d V O))) (transpose Z))).
  { spread. now rewrite !matmul_assoc. }
  rewrite HE, matvec_matmul. apply Sum_ext; intros l _. f_equal. unfold attended, E, matvec, matmul, transpose.
  set (p := softmax _ _).
  rewrite (Sum_ext n _ (fun t => Sum d (fun j => p t * (Z t j * O l j)))) by (intros; now rewrite <- Sum_scal).
  rewrite Sum_swap. apply Sum_ext; intros. rewrite <- Sum_scal. apply Sum_ext; intros. ring.
Qed.

Lemma loss_turned lam m d r M U V O : orthogonal r O ->
  loss lam m d r M (matmul r U O) (matmul r V O) = loss lam m d r M U V.
Proof.
  intros HO. unfold loss. f_equal.
  - f_equal. apply frob2_ext. intros i j _ _. unfold residual, mminus. f_equal. rewrite transpose_matmul, matmul_assoc.
    apply Sum_ext; intros l Hl. f_equal.
    assert (K := orthogonal_cancel r (S j) O (transpose V) HO l j Hl (le_n _)). exact K.
  - f_equal. replace (imbalance m d (matmul r U O) (matmul r V O)) with
      (matmul r (transpose O) (matmul r (imbalance m d U V) O)).
    + rewrite frob2_fdot, (fdot_rotate r r O _ _ HO), <- frob2_fdot, frob2_transpose, transpose_matmul, imbalance_sym.
      now rewrite frob2_fdot, (fdot_rotate r r O _ _ HO), <- frob2_fdot.
    + unfold imbalance. spread. now rewrite !matmul_assoc.
Qed.

Lemma layer_loss_ext n d m c Z Y U V V' : same d d V V' -> layer_loss n d m c Z Y U V = layer_loss n d m c Z Y U V'.
Proof.
  intros H. unfold layer_loss. f_equal. apply Sum_ext; intros i _. apply Sum_ext; intros a _. f_equal. f_equal. f_equal.
  apply Sum_ext; intros l _. f_equal. unfold attended, E. apply Sum_ext; intros t _. f_equal. f_equal.
  apply functional_extensionality; intros j. f_equal. apply Sum_ext; intros b Hb. f_equal.
  apply Sum_ext; intros e He. unfold transpose. now rewrite H.
Qed.

(** One coordinate, two tokens √2 and 0 with labels √2 s and 0 *)
Lemma layer_loss_two c s u v : c <> 0 ->
  layer_loss 2 1 1 c (fun i _ => if Nat.eqb i 0 then sqrt 2 else 0) (fun i _ => if Nat.eqb i 0 then sqrt 2 * s else 0)
    (fun _ _ => u) (fun _ _ => v) =
  / 2 * ((c * u * (exp (2 * (v / c)) / (exp (2 * (v / c)) + 1)) - s) ^ 2 + (c * u / 2) ^ 2).
Proof.
  intros Hc. unfold layer_loss, sq, matvec, attended, E, softmax, matmul, transpose. simpl.
  assert (H2 := sqrt_sqrt 2 ltac:(lra)).
  replace (/ c * (0 + sqrt 2 * (0 + v * sqrt 2))) with (2 * (v / c)) by
    (transitivity (/ c * v * (sqrt 2 * sqrt 2)); [rewrite H2; field; easy|ring]).
  replace (/ c * (0 + 0 * (0 + v * sqrt 2))) with 0 by ring.
  replace (/ c * (0 + sqrt 2 * (0 + v * 0))) with 0 by ring. replace (/ c * (0 + 0 * (0 + v * 0))) with 0 by ring.
  rewrite !exp_0. set (e := exp (2 * (v / c))). assert (He : 0 < e) by apply exp_pos.
  transitivity (/ 4 * (sqrt 2 * sqrt 2) * ((c * u * (e / (e + 1)) - s) ^ 2 + (c * u / 2) ^ 2)); [field; lra|].
  rewrite H2. field. lra.
Qed.

(** pa-theorem-u-svd
    Covers: a part: that the loss at (U₀, OV₀) on turned tokens is the loss at (U₀O, V₀O) on the old ones, for all U₀ and V₀, that rotations do not matter in the limit, and exact data on which they do, already through the sign of the one singular vector; on the page: that the start by singular vectors becomes (PS^{1/2}, OQS^{1/2}), that runs turn as losses do, and the sizes of the differences in the chapter's example.
    Reads: with ℓ(U, V; z) = 1/(2n) Σ ‖cU ẑ_i − y_i‖², ẑ_i = Σ_j softmax_j(z_jᵀVᵀz_i/c) z_j: for every orthogonal O, all U_0 (m × d) and V_0 (d × d), so for U_0 = PS^{1/2} and V_0 = QS^{1/2}, the loss for tokens Oz at (U_0, OV_0) is that for the tokens z at (U_0 O, V_0 O), at the same scale c. For the limit objective f_λ, (UO, VO) has the same value as (U, V). But for d = m = 1, n = 2, z = (√2, 0), y = (√2 s, 0), whose (1/n) Σ y_i z_i is s, U_0 = V_0 = √s, c = √s/b, and O = −1: for all s > 0 and b ≥ ½ the losses at (U_0, V_0) and at (U_0 O, V_0 O) are not equal.
    Mistake: `U0 V0 =` for `U0 V0 <>`
    Mistake: `(matmul d O U0)` for `(matmul d U0 O)`
*)
Theorem pa_theorem_u_svd :
  (forall n d m c Z Y O U0 V0, orthogonal d O ->
    layer_loss n d m c (matmul d Z (transpose O)) Y U0 (matmul d O V0) =
    layer_loss n d m c Z Y (matmul d U0 O) (matmul d V0 O)) /\
  (forall lam m d r M U V O, orthogonal r O ->
    loss lam m d r M (matmul r U O) (matmul r V O) = loss lam m d r M U V) /\
  (forall s b, 0 < s -> / 2 <= b -> let z : matrix := fun i _ => if Nat.eqb i 0 then sqrt 2 else 0 in
    let y : matrix := fun i _ => if Nat.eqb i 0 then sqrt 2 * s else 0 in let H : matrix := fun _ _ => -1 in
    let U0 : matrix := fun _ _ => sqrt s in let V0 : matrix := fun _ _ => sqrt s in
    / 2 * Sum 2 (fun i => y i 0%nat * z i 0%nat) = s /\ orthogonal 1 H /\
    layer_loss 2 1 1 (sqrt s / b) z y U0 V0 <>
    layer_loss 2 1 1 (sqrt s / b) z y (matmul 1 U0 H) (matmul 1 V0 H)).
Proof.
  split; [|split].
  - intros n d m c Z Y O U0 V0 HO. rewrite layer_turned. apply layer_loss_ext. rewrite matmul_assoc.
    now apply orthogonal_cancel'.
  - intros. now apply loss_turned.
  - intros s b Hs Hb z y H U0 V0. assert (H2 := sqrt_sqrt 2 ltac:(lra)). assert (Ss := sqrt_sqrt s (Rlt_le _ _ Hs)).
    assert (S0 : 0 < sqrt s) by now apply sqrt_lt_R0. split; [|split].
    + unfold y, z. simpl. transitivity (/ 2 * (sqrt 2 * sqrt 2) * s); [ring|rewrite H2; field].
    + split; intros i j Hi Hj; replace i with 0%nat by lia; replace j with 0%nat by lia;
        unfold H, matmul, transpose, identity, delta; simpl; ring.
    + replace (matmul 1 U0 H) with (fun _ _ : nat => - sqrt s) by (matrix_ext; unfold matmul, U0, H; simpl; ring).
      replace (matmul 1 V0 H) with (fun _ _ : nat => - sqrt s) by (matrix_ext; unfold matmul, V0, H; simpl; ring).
      assert (Hc : sqrt s / b <> 0) by (apply Rgt_not_eq, Rdiv_lt_0_compat; lra).
      unfold z, y, U0, V0. rewrite !layer_loss_two by easy.
      replace (sqrt s / (sqrt s / b)) with b by (field; lra).
      replace (- sqrt s / (sqrt s / b)) with (- b) by (field; lra).
      replace (sqrt s / b * sqrt s) with (s / b) by (rewrite <- Ss at 1; field; lra).
      replace (sqrt s / b * - sqrt s) with (- (s / b)) by (rewrite <- Ss at 1; field; lra).
      replace (2 * - b) with (- (2 * b)) by ring. rewrite exp_Ropp.
      assert (He : 1 < exp (2 * b)) by (rewrite <- exp_0; apply exp_increasing; lra). set (e := exp (2 * b)) in *.
      set (q := e / (e + 1)). replace (/ e / (/ e + 1)) with (1 - q) by (unfold q; field; lra).
      assert (Hq : / 2 < q < 1).
      { unfold q. split; apply Rmult_lt_reg_r with (e + 1); try lra; field_simplify; lra. }
      clearbody q. clear e He. intros A. set (w := s / b) in *.
      assert (Hw : 0 < w) by (apply Rdiv_lt_0_compat; lra). assert (Ew : s = w * b) by (unfold w; field; lra).
      clearbody w. rewrite Ew in A. assert (w ^ 2 * ((q - b) ^ 2 - (1 - q + b) ^ 2) = 0) by lra.
      assert (0 < w ^ 2) by (apply pow_lt; lra). nra.
Qed.
