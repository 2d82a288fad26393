(** The chapter preconditioned/factorisation and its supplement: gradients, rotated coordinates, curvature. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.matrices base.dependence base.factors.
Open Scope R_scope.

(** pa-lemma-i
    Covers: the whole statement, gradients as derivatives along every line.
    Reads: for every λ, U (m × r), V (d × r) and M̃ (m × d), with D = UVᵀ − M̃ and C = UᵀU − VᵀV, the derivative of f_λ at (U, V) in every direction (A, B) is ⟨DV + λUC, A⟩ + ⟨DᵀU − λVC, B⟩, and ‖DV + λUC‖² + ‖DᵀU − λVC‖² = ‖DV‖² + ‖DᵀU‖² + λ² (‖UC‖² + ‖VC‖²).
    Mistake: `fdot d r (mplus (matmul m` for `fdot d r (mminus (matmul m`
    Mistake: `+ lam * (frob2` for `+ lam ^ 2 * (frob2`
*)
Theorem pa_lemma_i : forall lam m d r M U V,
  let D := residual r M U V in let C := imbalance m d U V in
  (forall A B, is_derive (fun e => loss lam m d r M (shifted U A e) (shifted V B e)) 0
    (fdot m r (mplus (matmul d D V) (mscal lam (matmul r U C))) A +
     fdot d r (mminus (matmul m (transpose D) U) (mscal lam (matmul r V C))) B)) /\
  slope2 lam m d r M U V = frob2 m r (matmul d D V) + frob2 d r (matmul m (transpose D) U)
    + lam ^ 2 * (frob2 m r (matmul r U C) + frob2 d r (matmul r V C)).
Proof.
  intros lam m d r M U V D C. split; [intros; apply loss_slope|].
  unfold slope2, grad_U, grad_V. fold D C. rewrite !frob2_fdot. spread.
  assert (HC : transpose C = C) by apply imbalance_sym.
  assert (E : fdot m r (matmul d D V) (matmul r U C) = fdot d r (matmul m (transpose D) U) (matmul r V C)).
  { rewrite fdot_left, fdot_sym, <- matmul_assoc, fdot_right. now rewrite HC. }
  rewrite (fdot_sym m r (matmul r U C) (matmul d D V)), (fdot_sym d r (matmul r V C) (matmul m _ U)), E. ring.
Qed.

(** pa-lemma-l
    Covers: the whole statement, with the complements of the ranges of P and Q as the further columns of orthogonal matrices.
    Reads: let M̃ = PSQᵀ with orthogonal P (m × m) and Q (d × d), s_1, …, s_k > 0 in S. X and Y are the first k rows of (PᵀU ± QᵀV)/√2, T the m + d − 2k other rows of PᵀU and QᵀV, W = XᵀX + YᵀY + TᵀT, and f = f_{1/2}. Then ‖X‖² + ‖Y‖² + ‖T‖² = ‖U‖² + ‖V‖²; every X, Y, T are those of some U, V; 8f = ‖XXᵀ − 2S‖² + ‖YYᵀ‖² + 4⟨SY, Y⟩ + ‖TTᵀ‖² + 2‖XYᵀ‖² + 2‖XTᵀ‖² + 2‖YTᵀ‖²; X, Y and T of the gradients DV + ½UC and DᵀU − ½VC of pa-lemma-i are ½XW − SX, ½YW + SY and ½TW. If r ≥ k, (U, V) is a global minimum of f if and only if Y = 0, T = 0 and XXᵀ = 2S.
    Mistake: `frob2 k k (mminus (matmul r X (transpose X)) (mscal 3` for `frob2 k k (mminus (matmul r X (transpose X)) (mscal 2`
    Mistake: `+ 2 * fdot k r` for `+ 4 * fdot k r`
    Mistake: `(mminus (mscal (/ 2) (matmul r Y W))` for `(mplus (mscal (/ 2) (matmul r Y W))`
*)
Theorem pa_lemma_l : forall k m d r s P Q M U V, (k <= m)%nat -> (k <= d)%nat -> svd k m d s P Q M ->
  (forall i, (i < k)%nat -> 0 < s i) ->
  let X := rot_plus m d P Q U V in let Y := rot_minus m d P Q U V in let T := rot_rest k m d P Q U V in
  let z := (m + d - 2 * k)%nat in let f := loss (/ 2) m d r M in
  let W := mplus (mplus (matmul k (transpose X) X) (matmul k (transpose Y) Y)) (matmul z (transpose T) T) in
  let GU := grad_U (/ 2) m d r M U V in let GV := grad_V (/ 2) m d r M U V in
  frob2 k r X + frob2 k r Y + frob2 z r T = frob2 m r U + frob2 d r V /\
  (forall X1 Y1 T1, exists U1 V1, same k r (rot_plus m d P Q U1 V1) X1 /\ same k r (rot_minus m d P Q U1 V1) Y1 /\
    same z r (rot_rest k m d P Q U1 V1) T1) /\
  8 * f U V = frob2 k k (mminus (matmul r X (transpose X)) (mscal 2 (diagonal s)))
    + frob2 k k (matmul r Y (transpose Y)) + 4 * fdot k r (matmul k (diagonal s) Y) Y
    + frob2 z z (matmul r T (transpose T)) + 2 * frob2 k k (matmul r X (transpose Y))
    + 2 * frob2 k z (matmul r X (transpose T)) + 2 * frob2 k z (matmul r Y (transpose T)) /\
  same k r (rot_plus m d P Q GU GV) (mminus (mscal (/ 2) (matmul r X W)) (matmul k (diagonal s) X)) /\
  same k r (rot_minus m d P Q GU GV) (mplus (mscal (/ 2) (matmul r Y W)) (matmul k (diagonal s) Y)) /\
  same z r (rot_rest k m d P Q GU GV) (mscal (/ 2) (matmul r T W)) /\
  ((k <= r)%nat -> ((forall U1 V1, f U V <= f U1 V1) <->
    same k r Y zero /\ same z r T zero /\ same k k (matmul r X (transpose X)) (mscal 2 (diagonal s)))).
Proof.
  intros k m d r s P Q M U V Hm Hd HM Hs X Y T z f W GU GV. destruct (HM) as (HP & HQ & _).
  assert (EW : gram m d U V = W) by now apply rot_gram.
  assert (F : forall U V, 8 * f U V = _) by (intros U1 V1; exact (loss_rotated k m d r s P Q M U1 V1 Hm Hd HM)).
  split; [|split; [|split; [|split; [|split; [|split; [|intros Hr; split]]]]]].
  - now apply rot_isometry.
  - intros X1 Y1 T1.
    exists (matmul m P (fun i j => if Nat.ltb i k then / sqrt 2 * (X1 i j + Y1 i j) else T1 (i - k)%nat j)).
    exists (matmul d Q (fun i j => if Nat.ltb i k then / sqrt 2 * (X1 i j - Y1 i j) else T1 (m - k + (i - k))%nat j)).
    assert (HA : forall n R A i j, orthogonal n R -> (i < n)%nat ->
      matmul n (transpose R) (matmul n R A) i j = A i j).
    { intros n R A i j H Hi. exact (orthogonal_cancel' n (S j) R A H i j Hi (le_n _)). }
    repeat split; intros i j Hi Hj.
    + unfold rot_plus. rewrite !HA by (easy || lia). replace (Nat.ltb i k) with true by (symmetry;
      now apply Nat.ltb_lt).
      transitivity (2 * (/ sqrt 2 * / sqrt 2) * X1 i j); [ring|rewrite half_half; field].
    + unfold rot_minus. rewrite !HA by (easy || lia). replace (Nat.ltb i k) with true by (symmetry;
      now apply Nat.ltb_lt).
      transitivity (2 * (/ sqrt 2 * / sqrt 2) * Y1 i j); [ring|rewrite half_half; field].
    + unfold rot_rest. destruct (Nat.ltb i (m - k)) eqn:E.
      * apply Nat.ltb_lt in E. rewrite HA by (easy || lia).
        replace (Nat.ltb (k + i) k) with false by (symmetry; apply Nat.ltb_ge; lia). f_equal; lia.
      * apply Nat.ltb_ge in E. unfold z in Hi. rewrite HA by (easy || lia).
        replace (Nat.ltb (k + (i - (m - k))) k) with false by (symmetry; apply Nat.ltb_ge; lia). f_equal; lia.
  - apply F.
  - rewrite <- EW. exact (rot_plus_grad k m d r s P Q M U V Hm Hd HM).
  - rewrite <- EW. exact (rot_minus_grad k m d r s P Q M U V Hm Hd HM).
  - rewrite <- EW. exact (rot_rest_grad k m d r s P Q M U V Hm Hd HM).
  - assert (S0 : exists U1 V1, f U1 V1 = 0).
    { destruct (slice k m d r s P Q M (fun i => sqrt (2 * s i)) Hm Hd ltac:(easy) HM) as (U1 & V1 & E & _).
      exists U1, V1. enough (8 * f U1 V1 = 0) by lra. unfold f. rewrite E, <- (Sum_zero k). apply Sum_ext; intros i Hi.
      rewrite pow2_sqrt; [ring|]. specialize (Hs i Hi). lra. }
    intros Hmin. destruct S0 as (U1 & V1 & E). specialize (Hmin U1 V1). rewrite E in Hmin.
    specialize (F U V). cbv zeta in F. fold X Y T z in F.
    assert (Z : forall c A, frob2 c c (matmul r A (transpose A)) = 0 -> same c r A zero).
    { intros c A HA i j Hi Hj. apply (sq_zero r (A i)); [|easy]. rewrite <- (frob2_zero c c _ HA i i Hi Hi).
      apply Sum_ext; intros. unfold transpose. ring. }
    assert (P4 : 0 <= fdot k r (matmul k (diagonal s) Y) Y).
    { apply Sum_ge0; intros i Hi. apply Sum_ge0; intros j _. rewrite diagonal_l by easy. assert (K := Hs i Hi).
      assert (L := pow2_ge_0 (Y i j)). nra. }
    assert (PP := fun a b A => frob2_ge0 a b A).
    assert (P1 := PP k k (mminus (matmul r X (transpose X)) (mscal 2 (diagonal s)))).
    assert (P2 := PP k k (matmul r Y (transpose Y))). assert (P3 := PP z z (matmul r T (transpose T))).
    assert (P5 := PP k k (matmul r X (transpose Y))). assert (P6 := PP k z (matmul r X (transpose T))).
    assert (P7 := PP k z (matmul r Y (transpose T))).
    split; [apply Z; lra|split; [apply Z; lra|]]. intros i j Hi Hj.
    assert (K : frob2 k k (mminus (matmul r X (transpose X)) (mscal 2 (diagonal s))) = 0) by lra.
    apply (fun H => frob2_zero k k _ H i j Hi Hj) in K. unfold mminus in K. lra.
  - intros (HY & HT & HX) U1 V1. apply Rle_trans with 0; [|apply loss_ge0].
    specialize (F U V). cbv zeta in F. fold X Y T z in F.
    rewrite (frob2_none k k (mminus _ _)) in F by (intros i j Hi Hj; unfold mminus; rewrite HX by easy; ring).
    rewrite !(frob2_none _ z (matmul r _ (transpose T))), !(frob2_none _ k (matmul r _ (transpose Y))) in F
      by now apply none_r.
    replace (fdot k r (matmul k (diagonal s) Y) Y) with 0 in F; [lra|].
    unfold fdot. transitivity (Sum k (fun _ => 0)); [symmetry; apply Sum_zero|]. apply Sum_ext; intros i Hi.
    transitivity (Sum r (fun _ => 0)); [symmetry; apply Sum_zero|]. apply Sum_ext; intros j Hj.
    rewrite HY by easy. unfold zero. ring.
Qed.
