(** The chapter preconditioned/factorisation and its supplement: gradients, rotated coordinates, curvature. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.frobenius base.two_factors base.rotated base.quadratic.
Open Scope R_scope.

(** pa-lemma-i
    Covers: the whole statement.
    Reads: for every λ, U (m × r), V (d × r) and M (m × d), with D = UVᵀ − M and C = UᵀU − VᵀV, the derivative of f_λ at (U, V) in every direction (A, B) is ⟨DV + λUC, A⟩ + ⟨DᵀU − λVC, B⟩, and ‖DV + λUC‖² + ‖DᵀU − λVC‖² = ‖DV‖² + ‖DᵀU‖² + λ² (‖UC‖² + ‖VC‖²).
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
    Reads: let M = PSQᵀ with orthogonal P (m × m) and Q (d × d), s_1, …, s_k > 0 in S. X and Y are the first k rows of (PᵀU ± QᵀV)/√2, T the m + d − 2k other rows of PᵀU and QᵀV, W = XᵀX + YᵀY + TᵀT, and f = f_{1/2}. Then ‖X‖² + ‖Y‖² + ‖T‖² = ‖U‖² + ‖V‖²; every X, Y, T are those of some U, V; 8f is the sum of the seven terms of the page; X, Y and T of the gradients of f are ½XW − SX, ½YW + SY and ½TW. If r ≥ k, (U, V) is a global minimum of f if and only if Y = 0, T = 0 and XXᵀ = 2S.
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

Lemma zero_norm n A : frob2 n n (matmul n (transpose A) A) = 0 -> same n n A zero.
Proof.
  intros H i j Hi Hj. assert (K := frob2_zero n n _ H j j Hj Hj).
  apply (sq_zero n (fun l => A l j)); [|easy]. rewrite <- K. apply Sum_ext; intros. unfold transpose. ring.
Qed.

(** Σ_i over the columns in I of p_i √s_i o_iᵀ: the factor P_I S_I^{1/2} Oᵀ *)
Definition kept (k : nat) (I : nat -> bool) (s : vector) (P O : matrix) : matrix := fun a b =>
  Sum k (fun i => if I i then P a i * sqrt (s i) * O b i else 0).

(** The columns of O in I are orthonormal vectors of ℝʳ. *)
Definition orthonormal_in (k r : nat) (I : nat -> bool) (O : matrix) : Prop := forall i j, (i < k)%nat -> (j < k)%nat ->
  I i = true -> I j = true -> Sum r (fun b => O b i * O b j) = identity i j.

Lemma kept_product k r I s P Q O a c : (forall i, (i < k)%nat -> 0 < s i) -> orthonormal_in k r I O ->
  matmul r (kept k I s P O) (transpose (kept k I s Q O)) a c = Sum k (fun i => if I i then s i * P a i * Q c i else 0).
Proof.
  intros Hs HO. unfold matmul, transpose, kept.
  rewrite (Sum_ext r _ (fun b => Sum k (fun i => Sum k (fun j => (if I i then P a i * sqrt (s i) * O b i else 0) *
    (if I j then Q c j * sqrt (s j) * O b j else 0))))).
  2:{ intros b _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros i _. rewrite Rmult_comm, <- Sum_scal.
      apply Sum_ext; intros; ring. }
  rewrite Sum_swap. apply Sum_ext; intros i Hi. rewrite Sum_swap, (Sum_single k _ i Hi).
  - destruct (I i) eqn:E; [|rewrite (Sum_ext r _ (fun _ => 0)) by (intros; ring); apply Sum_zero].
    rewrite (Sum_ext r _ (fun b => P a i * Q c i * (sqrt (s i) * sqrt (s i)) * (O b i * O b i))) by (intros; ring).
    rewrite Sum_scal, (HO i i), sqrt_sqrt by (try easy; left; now apply Hs). unfold identity, diagonal.
    rewrite Nat.eqb_refl. ring.
  - intros j Hj Hn. destruct (I i) eqn:E, (I j) eqn:E2;
      try (rewrite (Sum_ext r _ (fun _ => 0)) by (intros; ring); apply Sum_zero).
    rewrite (Sum_ext r _ (fun b => P a i * sqrt (s i) * (Q c j * sqrt (s j)) * (O b i * O b j))) by (intros; ring).
    rewrite Sum_scal, (HO i j) by easy. apply not_eq_sym, Nat.eqb_neq in Hn. unfold identity, diagonal. rewrite Hn.
    ring.
Qed.

(** (P X)ᵀ(P X) for orthonormal columns of P *)
Lemma kept_gram k m I s P O b c : (forall i, (i < k)%nat -> 0 < s i) ->
  (forall i j, (i < k)%nat -> (j < k)%nat -> Sum m (fun a => P a i * P a j) = identity i j) ->
  matmul m (transpose (kept k I s P O)) (kept k I s P O) b c = Sum k (fun i => if I i then s i * O b i * O c i else 0).
Proof.
  intros Hs HP. unfold matmul, transpose, kept.
  rewrite (Sum_ext m _ (fun a => Sum k (fun i => Sum k (fun j => (if I i then P a i * sqrt (s i) * O b i else 0) *
    (if I j then P a j * sqrt (s j) * O c j else 0))))).
  2:{ intros a _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros i _. rewrite Rmult_comm, <- Sum_scal.
      apply Sum_ext; intros; ring. }
  rewrite Sum_swap. apply Sum_ext; intros i Hi. rewrite Sum_swap, (Sum_single k _ i Hi).
  - destruct (I i) eqn:E; [|rewrite (Sum_ext m _ (fun _ => 0)) by (intros; ring); apply Sum_zero].
    rewrite (Sum_ext m _ (fun a => O b i * O c i * (sqrt (s i) * sqrt (s i)) * (P a i * P a i))) by (intros; ring).
    rewrite Sum_scal, (HP i i), sqrt_sqrt by (try easy; left; now apply Hs). unfold identity, diagonal.
    rewrite Nat.eqb_refl. ring.
  - intros j Hj Hn. destruct (I i) eqn:E, (I j) eqn:E2;
      try (rewrite (Sum_ext m _ (fun _ => 0)) by (intros; ring); apply Sum_zero).
    rewrite (Sum_ext m _ (fun a => sqrt (s i) * O b i * (sqrt (s j) * O c j) * (P a i * P a j))) by (intros; ring).
    rewrite Sum_scal, (HP i j) by easy. apply not_eq_sym, Nat.eqb_neq in Hn. unfold identity, diagonal. rewrite Hn.
    ring.
Qed.

(** Σ_i s_i p_i q_iᵀ over i < k, for the columns of P and Q *)
Lemma svd_sum k m d s P Q M a c : (k <= m)%nat -> (k <= d)%nat -> svd k m d s P Q M -> (a < m)%nat -> (c < d)%nat ->
  M a c = Sum k (fun i => s i * P a i * Q c i).
Proof.
  intros Hm Hd (_ & _ & HM) Ha Hc. rewrite HM by easy. unfold matmul at 1. replace m with (k + (m - k))%nat by lia.
  rewrite Sum_split, (Sum_ext (m - k) _ (fun _ => 0)), Sum_zero, Rplus_0_r.
  - apply Sum_ext; intros i Hi. rewrite core_l by easy. unfold transpose. ring.
  - intros. rewrite core_l0 by lia. ring.
Qed.

Lemma kept_null k m I s (P O : matrix) b l : (l < k)%nat -> I l = false ->
  (forall i j, (i < k)%nat -> (j < k)%nat -> Sum m (fun a => P a i * P a j) = identity i j) ->
  Sum m (fun a => P a l * kept k I s P O a b) = 0.
Proof.
  intros Hl HI HP. unfold kept.
  rewrite (Sum_ext m _ (fun a => Sum k (fun i => if I i then sqrt (s i) * O b i * (P a l * P a i) else 0))).
  2:{ intros a _. rewrite <- Sum_scal. apply Sum_ext; intros i _. destruct (I i); ring. }
  rewrite Sum_swap. transitivity (Sum k (fun _ => 0)); [|apply Sum_zero]. apply Sum_ext; intros i Hi.
  destruct (I i) eqn:E; [|apply Sum_zero]. rewrite Sum_scal, HP by easy. unfold identity, diagonal.
  replace (Nat.eqb l i) with false; [ring|]. symmetry. apply Nat.eqb_neq. intros ->. congruence.
Qed.

(** pa-theorem-j
    Covers: a part: a point is stationary if and only if DV, DᵀU and C are 0, and all points of the page's form are stationary, with the value stated; on the page: that there are no others.
    Reads: let λ > 0. ∇f_λ(U, V) = 0 if and only if DV = 0, DᵀU = 0 and C = 0. Let M = PSQᵀ with s_i > 0, I a set of indices up to k, o_i for i in I orthonormal vectors of ℝʳ, and U = Σ_{i∈I} √s_i p_i o_iᵀ, V = Σ_{i∈I} √s_i q_i o_iᵀ. Then ‖∇f_λ(U, V)‖ = 0 and f_λ(U, V) = ½ Σ_{i∉I} s_i².
    Mistake: `if I i then s i ^ 2 else 0` for `if I i then 0 else s i ^ 2`
    Mistake: without `orthonormal_in k r I O ->`
*)
Theorem pa_theorem_j : forall lam m d r M, 0 < lam ->
  (forall U V, slope2 lam m d r M U V = 0 <->
    same m r (matmul d (residual r M U V) V) zero /\ same d r (matmul m (transpose (residual r M U V)) U) zero /\
    same r r (imbalance m d U V) zero) /\
  (forall k s P Q (I : nat -> bool) O, (k <= m)%nat -> (k <= d)%nat -> svd k m d s P Q M ->
    (forall i, (i < k)%nat -> 0 < s i) -> orthonormal_in k r I O ->
    slope2 lam m d r M (kept k I s P O) (kept k I s Q O) = 0 /\
    loss lam m d r M (kept k I s P O) (kept k I s Q O) = / 2 * Sum k (fun i => if I i then 0 else s i ^ 2)).
Proof.
  intros lam m d r M Hl.
  assert (St : forall U V, slope2 lam m d r M U V = 0 <->
    same m r (matmul d (residual r M U V) V) zero /\ same d r (matmul m (transpose (residual r M U V)) U) zero /\
    same r r (imbalance m d U V) zero).
  { intros U V. destruct (pa_lemma_i lam m d r M U V) as [_ E]. rewrite E. set (C := imbalance m d U V).
    set (DV := matmul d _ V). set (DU := matmul m _ U).
    assert (P1 := frob2_ge0 m r DV). assert (P2 := frob2_ge0 d r DU). assert (P3 := frob2_ge0 m r (matmul r U C)).
    assert (P4 := frob2_ge0 d r (matmul r V C)). assert (Hl2 : 0 < lam ^ 2) by now apply pow_lt. split.
    - intros Z. assert (F3 : frob2 m r (matmul r U C) = 0) by nra. assert (F4 : frob2 d r (matmul r V C) = 0) by nra.
      split; [|split]; [intros i j Hi Hj; apply (frob2_zero m r DV); (easy || nra)
        |intros i j Hi Hj; apply (frob2_zero d r DU); (easy || nra)|].
      apply zero_norm. rewrite (imbalance_sym m d U V : transpose C = C).
      rewrite (frob2_ext r r _ zero); [now apply frob2_none|].
      intros i j Hi Hj. unfold C at 1. unfold imbalance. spread. rewrite !matmul_assoc. unfold mminus, zero.
      unfold matmul at 1 3. rewrite (Sum_ext m _ (fun _ => 0)), (Sum_ext d _ (fun _ => 0)), !Sum_zero; [ring| |].
      + intros l Hl'. rewrite (frob2_zero d r (matmul r V C) F4 l j) by easy. ring.
      + intros l Hl'. rewrite (frob2_zero m r (matmul r U C) F3 l j) by easy. ring.
    - intros (Z1 & Z2 & Z3). rewrite !(frob2_none _ _ _ Z1), !(frob2_none _ _ _ Z2).
      assert (ZC : forall n A, same n r (matmul r A C) zero).
      { intros n A i j Hi Hj. unfold matmul, zero. transitivity (Sum r (fun _ => 0)); [|apply Sum_zero].
        apply Sum_ext; intros. rewrite Z3 by easy. unfold zero. ring. }
      rewrite !(frob2_none _ _ _ (ZC _ _)). ring. }
  split; [exact St|]. intros k s P Q I O Hm Hd HM Hs HO. destruct (HM) as ((HP & _) & (HQ & _) & _).
  assert (HP' : forall i j, (i < k)%nat -> (j < k)%nat -> Sum m (fun a => P a i * P a j) = identity i j)
    by (intros; apply HP; lia).
  assert (HQ' : forall i j, (i < k)%nat -> (j < k)%nat -> Sum d (fun a => Q a i * Q a j) = identity i j)
    by (intros; apply HQ; lia).
  set (U := kept k I s P O). set (V := kept k I s Q O).
  assert (HC : same r r (imbalance m d U V) zero).
  { intros b c _ _. unfold imbalance, mminus, U, V, zero. rewrite !kept_gram by easy. ring. }
  assert (HD : forall a c, (a < m)%nat -> (c < d)%nat ->
    residual r M U V a c = Sum k (fun i => (if I i then 0 else - s i) * P a i * Q c i)).
  { intros a c Ha Hc. unfold residual, mminus, U, V. rewrite kept_product, (svd_sum k m d s P Q M a c) by easy.
    rewrite <- Sum_minus. apply Sum_ext; intros i _. destruct (I i); ring. }
  split.
  - apply St. split; [|split; [|exact HC]].
    + intros a b Ha Hb. unfold matmul. rewrite (Sum_ext d _ (fun c => Sum k (fun i => (if I i then 0 else - s i) * P a i
        * (Q c i * V c b)))).
      2:{ intros c Hc. rewrite HD, Rmult_comm, <- Sum_scal by easy. apply Sum_ext; intros; ring. }
      rewrite Sum_swap. unfold zero. transitivity (Sum k (fun _ => 0)); [|apply Sum_zero]. apply Sum_ext; intros i Hi.
      rewrite Sum_scal. destruct (I i) eqn:E; [ring|]. unfold V. rewrite (kept_null k d I s Q O b i) by easy. ring.
    + intros c b Hc Hb. unfold matmul, transpose. rewrite (Sum_ext m _ (fun a => Sum k (fun i => (if I i then 0 else -
      s i)
        * Q c i * (P a i * U a b)))).
      2:{ intros a Ha. rewrite HD, Rmult_comm, <- Sum_scal by easy. apply Sum_ext; intros; ring. }
      rewrite Sum_swap. unfold zero. transitivity (Sum k (fun _ => 0)); [|apply Sum_zero]. apply Sum_ext; intros i Hi.
      rewrite Sum_scal. destruct (I i) eqn:E; [ring|]. unfold U. rewrite (kept_null k m I s P O b i) by easy. ring.
  - unfold loss. rewrite (frob2_none r r _ HC). set (t := fun i => if I i then 0 else - s i).
    assert (HT : svd k m d t P Q (residual r M U V)).
    { destruct (HM) as (H1 & H2 & _). split; [easy|split; [easy|]]. intros a c Ha Hc. rewrite HD by easy. symmetry.
      unfold matmul at 1. replace m with (k + (m - k))%nat at 1 by lia.
      rewrite Sum_split, (Sum_ext (m - k) _ (fun _ => 0)), Sum_zero, Rplus_0_r.
      - apply Sum_ext; intros i Hi. rewrite core_l by easy. unfold transpose, t. ring.
      - intros. rewrite core_l0 by lia. ring. }
    rewrite (target_norm k m d t P Q _ Hm Hd HT), frob2_wide by lia.
    rewrite (Sum_ext k (fun i => t i ^ 2) (fun i => if I i then 0 else s i ^ 2)); [lra|].
    intros i _. unfold t. destruct (I i); ring.
Qed.

(** The non-zero eigenvalues at a global minimum, from the table of the chapter: s_i + s_j and 2λ(s_i + s_j) for i,
  j ≤ k (for i = j, 2s_i and 4λs_i), for wide factors also 2λs_i, for rectangular ones also s_i *)
Definition at_square (lam : R) (k : nat) (s : vector) (e : R) : Prop := exists i j, (i < k)%nat /\ (j < k)%nat /\
  (e = s i + s j \/ e = 2 * lam * (s i + s j)).
Definition at_wide (lam : R) (k : nat) (s : vector) (e : R) : Prop :=
  at_square lam k s e \/ exists i, (i < k)%nat /\ e = 2 * lam * s i.
Definition at_rectangular (lam : R) (k : nat) (s : vector) (e : R) : Prop :=
  at_square lam k s e \/ exists i, (i < k)%nat /\ e = s i.

(** q is the largest element of a set of numbers over its smallest one. *)
Definition quotient (A : R -> Prop) (q : R) : Prop := exists low high,
  A low /\ A high /\ 0 < low /\ (forall e, A e -> low <= e <= high) /\ q = high / low.

Lemma times_max a b c : 0 <= a -> a * Rmax b c = Rmax (a * b) (a * c).
Proof. intros. now rewrite RmaxRmult. Qed.

Lemma at_square_bounds lam k s e : descending k s -> (0 < k)%nat -> 0 < lam -> at_square lam k s e ->
  2 * s (k - 1)%nat * Rmin 1 (2 * lam) <= e <= 2 * s O * Rmax 1 (2 * lam).
Proof.
  intros [Hd Hp] Hk Hl (i & j & Hi & Hj & He).
  assert (A1 := Hd i (k - 1)%nat ltac:(lia) ltac:(lia)). assert (A2 := Hd j (k - 1)%nat ltac:(lia) ltac:(lia)).
  assert (B1 := Hd O i ltac:(lia) Hi). assert (B2 := Hd O j ltac:(lia) Hj).
  assert (C := Hp (k - 1)%nat ltac:(lia)). assert (C0 := Hp O ltac:(lia)).
  assert (M1 := Rmin_l 1 (2 * lam)). assert (M2 := Rmin_r 1 (2 * lam)).
  assert (M3 := Rmax_l 1 (2 * lam)). assert (M4 := Rmax_r 1 (2 * lam)).
  assert (0 < Rmin 1 (2 * lam)) by (apply Rmin_pos; lra).
  destruct He as [->| ->]; split; nra.
Qed.

(** pa-theorem-k
    Covers: a part: the quotients and the best λ, from the eigenvalues of the table; on the page: that these are the eigenvalues of the Hessian, and that its kernel is the tangent space.
    Reads: let s_1 ≥ … ≥ s_k > 0, κ = s_1/s_k, λ > 0. The largest over the smallest of the eigenvalues at a global minimum (the table's s_i + s_j, 2λ(s_i + s_j), for wide factors also 2λs_i, for rectangular ones also s_i) is κ max{2λ, 1/(2λ)} for square factors, κ max{1, 2λ}/min{1, λ} for wide ones, κ max{1, 2λ}/min{½, 2λ} for rectangular ones. The first factor is at least 1, with equality only at λ = ½; the second is at least 2, with equality if and only if ½ ≤ λ ≤ 1; the third is at least 2, with equality if and only if ¼ ≤ λ ≤ ½.
    Mistake: `kappa * Rmax (2 * lam) (/ lam)` for `kappa * Rmax (2 * lam) (/ (2 * lam))`
    Mistake: `Rmin (/ 2) lam)) /\` for `Rmin (/ 2) (2 * lam))) /\`
    Mistake: `/ 2 <= lam <= 2` for `/ 2 <= lam <= 1`
*)
Theorem pa_theorem_k : forall lam k s, (0 < k)%nat -> descending k s -> 0 < lam ->
  let kappa := s O / s (k - 1)%nat in
  quotient (at_square lam k s) (kappa * Rmax (2 * lam) (/ (2 * lam))) /\
  quotient (at_wide lam k s) (kappa * (Rmax 1 (2 * lam) / Rmin 1 lam)) /\
  quotient (at_rectangular lam k s) (kappa * (Rmax 1 (2 * lam) / Rmin (/ 2) (2 * lam))) /\
  (1 <= Rmax (2 * lam) (/ (2 * lam)) /\ (Rmax (2 * lam) (/ (2 * lam)) = 1 <-> lam = / 2)) /\
  (2 <= Rmax 1 (2 * lam) / Rmin 1 lam /\ (Rmax 1 (2 * lam) / Rmin 1 lam = 2 <-> / 2 <= lam <= 1)) /\
  (2 <= Rmax 1 (2 * lam) / Rmin (/ 2) (2 * lam) /\
    (Rmax 1 (2 * lam) / Rmin (/ 2) (2 * lam) = 2 <-> / 4 <= lam <= / 2)).
Proof.
  intros lam k s Hk Hs Hl kappa. destruct (Hs) as [Hd Hp]. assert (P0 := Hp O Hk).
  assert (P1 := Hp (k - 1)%nat ltac:(lia)).
  assert (Low : forall i, (i < k)%nat -> s (k - 1)%nat <= s i) by (intros; apply Hd; lia).
  assert (High : forall i, (i < k)%nat -> s i <= s O) by (intros; apply Hd; lia).
  assert (I1 : at_square lam k s (2 * s O)) by (exists O, O; repeat split; try lia; left; ring).
  assert (I2 : at_square lam k s (2 * s O * (2 * lam))) by (exists O, O; repeat split; try lia; right; ring).
  assert (I3 : at_square lam k s (2 * s (k - 1)%nat)) by (exists (k - 1)%nat, (k - 1)%nat; repeat split; try lia; left;
    ring).
  assert (I4 : at_square lam k s (2 * s (k - 1)%nat * (2 * lam)))
    by (exists (k - 1)%nat, (k - 1)%nat; repeat split; try lia; right; ring).
  assert (IH : at_square lam k s (2 * s O * Rmax 1 (2 * lam))) by
    (unfold Rmax; destruct (Rle_dec 1 (2 * lam)); [exact I2|now rewrite Rmult_1_r]).
  assert (IL : at_square lam k s (2 * s (k - 1)%nat * Rmin 1 (2 * lam))) by
    (unfold Rmin; destruct (Rle_dec 1 (2 * lam)); [now rewrite Rmult_1_r|exact I4]).
  assert (N1 : 0 < Rmin 1 (2 * lam)) by (apply Rmin_pos; lra).
  assert (N2 : 0 < Rmin 1 lam) by (apply Rmin_pos; lra).
  assert (N3 : 0 < Rmin (/ 2) (2 * lam)) by (apply Rmin_pos; lra).
  split; [|split; [|split; [|split; [|split]]]].
  - exists (2 * s (k - 1)%nat * Rmin 1 (2 * lam)), (2 * s O * Rmax 1 (2 * lam)).
    split; [exact IL|split; [exact IH|split; [nra|split]]].
    + intros e He. now apply at_square_bounds.
    + unfold kappa, Rmax, Rmin in *. destruct (Rle_dec 1 (2 * lam)), (Rle_dec (2 * lam) (/ (2 * lam))).
      * assert (2 * lam = 1); [|field_simplify; [|lra|lra]; replace lam with (/ 2) by lra; field; lra].
        apply Rle_antisym; [|lra]. apply (Rmult_le_compat_r (2 * lam)) in r0; [|lra]. rewrite Rinv_l in r0 by lra. nra.
      * field. lra.
      * field. lra.
      * exfalso. apply n0. apply Rle_trans with 1; [lra|]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
  - exists (2 * s (k - 1)%nat * Rmin 1 lam), (2 * s O * Rmax 1 (2 * lam)).
    split; [|split; [now left|split; [nra|split]]].
    + unfold Rmin. destruct (Rle_dec 1 lam); [left; now rewrite Rmult_1_r|right; exists (k - 1)%nat; split; [lia|ring]].
    + assert (Q : Rmin 1 lam <= Rmin 1 (2 * lam)) by (unfold Rmin; destruct (Rle_dec 1 lam), (Rle_dec 1 (2 * lam));
      lra).
      intros e [He|(i & Hi & ->)].
      * apply at_square_bounds in He; try easy. split; [|easy]. eapply Rle_trans; [|apply He].
      apply Rmult_le_compat_l; lra.
      * specialize (Low i Hi). specialize (High i Hi). assert (M := Rmin_r 1 lam). assert (M' := Rmax_r 1 (2 * lam)).
      split; nra.
    + unfold kappa. field. lra.
  - exists (2 * s (k - 1)%nat * Rmin (/ 2) (2 * lam)), (2 * s O * Rmax 1 (2 * lam)).
    split; [|split; [now left|split; [nra|split]]].
    + unfold Rmin. destruct (Rle_dec (/ 2) (2 * lam)); [right; exists (k - 1)%nat; split; [lia|field]|now left].
    + assert (Q : Rmin (/ 2) (2 * lam) <= Rmin 1 (2 * lam))
        by (unfold Rmin; destruct (Rle_dec (/ 2) (2 * lam)), (Rle_dec 1 (2 * lam)); lra).
      intros e [He|(i & Hi & ->)].
      * apply at_square_bounds in He; try easy. split; [|easy]. eapply Rle_trans; [|apply He].
      apply Rmult_le_compat_l; lra.
      * specialize (Low i Hi). specialize (High i Hi). assert (M := Rmin_l (/ 2) (2 * lam)).
        assert (M' := Rmax_l 1 (2 * lam)). split; nra.
    + unfold kappa. field. lra.
  - assert (T : 2 * lam * / (2 * lam) = 1) by (apply Rinv_r; lra).
    assert (T0 : 0 < / (2 * lam)) by (apply Rinv_0_lt_compat; lra). set (j := / (2 * lam)) in *.
    unfold Rmax. destruct (Rle_dec (2 * lam) j); (split; [nra|split; intros; [nra|]]);
      subst lam; nra.
  - assert (E : Rmax 1 (2 * lam) = Rmax 1 (2 * lam) / Rmin 1 lam * Rmin 1 lam) by (field; lra).
    set (q := Rmax 1 (2 * lam) / Rmin 1 lam) in *. clearbody q. unfold Rmax, Rmin in *.
    destruct (Rle_dec 1 (2 * lam)), (Rle_dec 1 lam); try lra; (split; [nra|split; intros; nra]).
  - assert (E : Rmax 1 (2 * lam) = Rmax 1 (2 * lam) / Rmin (/ 2) (2 * lam) * Rmin (/ 2) (2 * lam)) by (field; lra).
    set (q := Rmax 1 (2 * lam) / Rmin (/ 2) (2 * lam)) in *. clearbody q. unfold Rmax, Rmin in *.
    destruct (Rle_dec 1 (2 * lam)), (Rle_dec (/ 2) (2 * lam)); try lra; (split; [nra|split; intros; nra]).
Qed.

(** pa-proposition-r-exact
    Covers: a part: the formula for f and the gradient; on the page: the closed form of the flow and when it reaches the optimum.
    Reads: for λ = ½ and all U (m × r), V (d × r) and M (m × d): 8f = ‖UUᵀ‖² + ‖VVᵀ‖² + 2‖UVᵀ − 2M‖² − 4‖M‖², which is ‖ZZᵀ − 2M̂‖² − 4‖M‖² in blocks; and with W = UᵀU + VᵀV = ZᵀZ the gradients are ½UW − MV and ½VW − MᵀU, the blocks of ½ZZᵀZ − M̂Z.
    Mistake: `- 2 * frob2 m d M` for `- 4 * frob2 m d M`
    Mistake: `(mscal 2 (matmul d M V)) /\` for `(matmul d M V) /\`
*)
Theorem pa_proposition_r_exact : forall m d r M U V,
  let W := mplus (matmul m (transpose U) U) (matmul d (transpose V) V) in
  8 * loss (/ 2) m d r M U V = frob2 m m (matmul r U (transpose U)) + frob2 d d (matmul r V (transpose V))
    + 2 * frob2 m d (mminus (matmul r U (transpose V)) (mscal 2 M)) - 4 * frob2 m d M /\
  grad_U (/ 2) m d r M U V = mminus (mscal (/ 2) (matmul r U W)) (matmul d M V) /\
  grad_V (/ 2) m d r M U V = mminus (mscal (/ 2) (matmul r V W)) (matmul m (transpose M) U).
Proof.
  intros m d r M U V W. split; [|split; [apply grad_U_gram|apply grad_V_gram]].
  rewrite loss_gram. unfold gram. rewrite <- !fdot_gram, !frob2_fdot. spread.
  rewrite (fdot_sym m d M (matmul r U (transpose V))), (fdot_right m d r U (transpose V) M), transpose_transpose.
  rewrite <- (frob2_fdot m d (matmul r U (transpose V))), <- fdot_gram.
  rewrite (fdot_sym r r (matmul d _ _) (matmul m _ _)). field.
Qed.

Lemma orthonormal_norm d P w : orthonormal d d P -> sq d (matvec d P w) = sq d w.
Proof.
  intros H. rewrite !sq_dot, dot_matvec, <- matvec_matmul. apply Sum_ext; intros i Hi. f_equal. unfold matvec.
  rewrite (Sum_single d _ i Hi); [rewrite (H i i) by easy; unfold identity, diagonal; rewrite Nat.eqb_refl; ring|].
  intros j Hj Hn. rewrite (H i j) by easy. apply not_eq_sym, Nat.eqb_neq in Hn. unfold identity, diagonal. rewrite Hn.
  ring.
Qed.

(** pa-theorem-r-operator
    Covers: a part: the bound for λ_min(X_0X_0ᵀ), that X_0 is invertible in the ball; on the page: that the flow then converges, and that no larger radius will do.
    Reads: let M = PSQᵀ be d × d with s_i ≥ s_d, and X_0 = (PᵀU_0 + QᵀV_0)/√2. If ‖(U_0V_0ᵀ − M) v‖ ≤ ρ‖v‖ for all v, then ‖X_0ᵀw‖² ≥ 2(s_d − ρ)‖w‖² for all w; so if ρ < s_d, X_0ᵀw = 0 for w = 0 only.
    Mistake: `3 * (sigma - rho) * sq d w <=` for `2 * (sigma - rho) * sq d w <=`
    Mistake: without `(forall v, sq d (matvec d (residual d M U V) v) <= rho ^ 2 * sq d v) ->`
*)
Theorem pa_theorem_r_operator : forall d s P Q M U V sigma rho, svd d d d s P Q M ->
  (forall i, (i < d)%nat -> sigma <= s i) -> 0 <= rho ->
  (forall v, sq d (matvec d (residual d M U V) v) <= rho ^ 2 * sq d v) ->
  let X := rot_plus d d P Q U V in
  (forall w, 2 * (sigma - rho) * sq d w <= sq d (matvec d (transpose X) w)) /\
  (rho < sigma -> forall w, (forall i, (i < d)%nat -> matvec d (transpose X) w i = 0) ->
    forall i, (i < d)%nat -> w i = 0).
Proof.
  intros d s P Q M U V sigma rho HM Hs Hr Hrho X. destruct (HM) as (HP & HQ & _).
  assert (L : forall w, 2 * (sigma - rho) * sq d w <= sq d (matvec d (transpose X) w)).
  { intros w. set (a := matvec d (transpose (matmul d (transpose P) U)) w).
    set (b := matvec d (transpose (matmul d (transpose Q) V)) w).
    assert (EX : sq d (matvec d (transpose X) w) = / 2 * sq d (vplus a b)).
    { unfold sq. rewrite <- Sum_scal. apply Sum_ext; intros j _.
    unfold vplus, a, b, matvec, X, transpose at 1, rot_plus.
      rewrite (Sum_ext d _ (fun i => / sqrt 2 * (matmul d (transpose P) U i j * w i + matmul d (transpose Q) V i j * w
        i)))
        by (intros; ring).
      rewrite Sum_scal, Sum_plus, Rpow_mult_distr. f_equal. simpl. rewrite Rmult_1_r. apply half_half. }
    rewrite EX, sq_plus.
    assert (Sq : 2 * dot d a b <= sq d a + sq d b) by (assert (K := sq_ge0 d (vminus a b)); rewrite sq_minus in K; lra).
    enough ((sigma - rho) * sq d w <= dot d a b) by lra.
    unfold a at 1. rewrite <- dot_matvec. unfold b. rewrite <- matvec_matmul. spread. rewrite !matmul_assoc.
    assert (EM : matmul d U (matmul d (transpose V) Q) = mplus (matmul d (residual d M U V) Q) (matmul d M Q)).
    { rewrite <- matmul_plus_l, <- matmul_assoc. f_equal. unfold residual. matrix_ext. unfold mplus, mminus. ring. }
    rewrite EM, matmul_plus_r, form_plus.
    assert (T1 : - rho * sq d w <= dot d w (matvec d (matmul d (transpose P) (matmul d (residual d M U V) Q)) w)).
    { rewrite !matvec_matmul, dot_matvec, transpose_transpose.
      assert (K := cauchy d (matvec d P w) (matvec d (residual d M U V) (matvec d Q w))). apply Rabs_le_between in K.
      destruct K as [K _]. eapply Rle_trans; [|exact K].
      assert (Kv : vnorm d (matvec d (residual d M U V) (matvec d Q w)) <= rho * vnorm d w).
      { apply norm_le; [apply Rmult_le_pos; [easy|apply norm_ge0]|]. rewrite Rpow_mult_distr, norm_sq.
        eapply Rle_trans; [apply Hrho|]. rewrite (orthonormal_norm d Q w) by apply HQ. lra. }
      assert (Kp : vnorm d (matvec d P w) = vnorm d w) by (unfold vnorm; rewrite (orthonormal_norm d P w) by apply HP;
        easy).
      rewrite Kp, <- norm_sq. assert (Kn := norm_ge0 d w). nra. }
    assert (T2 : sigma * sq d w <= dot d w (matvec d (matmul d (transpose P) (matmul d M Q)) w)).
    { assert (EC : same d d (matmul d (transpose P) (matmul d M Q)) (core d s)).
      { eapply same_trans; [apply (svd_left d d d d s P Q M Q HM)|]. intros i j Hi Hj. rewrite core_l by lia.
        destruct HQ as [HQ _]. rewrite (HQ i j Hi Hj). unfold identity, diagonal, core.
        replace (Nat.ltb i d) with true by (symmetry; now apply Nat.ltb_lt). destruct (Nat.eqb i j); ring. }
      unfold dot, sq. rewrite <- Sum_scal. apply Sum_le; intros i Hi. unfold matvec. rewrite (Sum_single d _ i Hi).
      - rewrite EC by easy. unfold core. rewrite Nat.eqb_refl.
        replace (Nat.ltb i d) with true by (symmetry; now apply Nat.ltb_lt).
        assert (K := Hs i Hi). assert (K' := pow2_ge_0 (w i)). nra.
      - intros j Hj Hn. rewrite EC by easy. apply not_eq_sym, Nat.eqb_neq in Hn. unfold core. rewrite Hn. ring. }
    lra. }
  split; [exact L|]. intros Hlt w Hw. apply sq_zero. specialize (L w). rewrite (sq_ext d _ (fun _ => 0) Hw) in L.
  assert (Z : sq d (fun _ => 0) = 0) by (unfold sq; rewrite (Sum_ext d _ (fun _ => 0)); [apply Sum_zero|intros; ring]).
  assert (K := sq_ge0 d w). nra.
Qed.

(** αᵀMβ = Σ s_i (Pᵀα)_i (Qᵀβ)_i *)
Lemma svd_form k m d s P Q M alpha beta : (k <= m)%nat -> (k <= d)%nat -> svd k m d s P Q M ->
  dot m alpha (matvec d M beta) =
  Sum k (fun i => s i * (matvec m (transpose P) alpha i * matvec d (transpose Q) beta i)).
Proof.
  intros Hm Hd HM.
  transitivity (Sum k (fun i => Sum m (fun a => s i * (P a i * alpha a) * matvec d (transpose Q) beta i))).
  - rewrite Sum_swap. apply Sum_ext; intros a Ha.
    transitivity (alpha a * Sum d (fun c => Sum k (fun i => s i * P a i * (Q c i * beta c)))).
    + f_equal. apply Sum_ext; intros c Hc. rewrite (svd_sum k m d s P Q M a c), Rmult_comm, <- Sum_scal by easy.
      apply Sum_ext; intros; ring.
    + rewrite Sum_swap, <- Sum_scal. apply Sum_ext; intros i _. rewrite Sum_scal. unfold matvec, transpose. ring.
  - apply Sum_ext; intros i _. set (b := matvec d (transpose Q) beta i).
    rewrite (Sum_ext m _ (fun a => s i * b * (P a i * alpha a))) by (intros; ring).
    rewrite Sum_scal. unfold matvec, transpose. ring.
Qed.

(** Σ_{i<k} (Pᵀα)_i² ≤ ‖α‖² *)
Lemma bessel k m P alpha : (k <= m)%nat -> orthogonal m P ->
  Sum k (fun i => matvec m (transpose P) alpha i ^ 2) <= sq m alpha.
Proof.
  intros Hm [_ HP]. assert (E : sq m (matvec m (transpose P) alpha) = sq m alpha)
    by (apply orthonormal_norm; unfold orthonormal; now rewrite transpose_transpose).
  rewrite <- E. unfold sq. set (h := fun i => matvec m (transpose P) alpha i ^ 2).
  replace (Sum m h) with (Sum (k + (m - k)) h) by (f_equal; lia). rewrite Sum_split.
  assert (0 <= Sum (m - k) (fun i => h (k + i)%nat))
    by (apply Sum_ge0; intros; apply pow2_ge_0). lra.
Qed.

Lemma frob2_minus m n A B : frob2 m n (mminus A B) = frob2 m n A - 2 * fdot m n A B + frob2 m n B.
Proof. rewrite !frob2_fdot. spread. rewrite (fdot_sym m n B A). ring. Qed.

Lemma three_cauchy h1 h2 e x y t : 0 <= t -> h1 ^ 2 + 2 * e ^ 2 + h2 ^ 2 <= t ^ 2 ->
  h1 * x ^ 2 + 2 * (e * (x * y)) + h2 * y ^ 2 <= t * (x ^ 2 + y ^ 2).
Proof.
  intros Ht H. apply Rsqr_incr_0_var; [|apply Rmult_le_pos; [easy|apply Rplus_le_le_0_compat; apply pow2_ge_0]].
  rewrite !Rsqr_pow2, Rpow_mult_distr.
  apply Rle_trans with ((h1 ^ 2 + 2 * e ^ 2 + h2 ^ 2) * (x ^ 2 + y ^ 2) ^ 2).
  - assert (0 <= 2 * (h1 * (x * y) - e * x ^ 2) ^ 2 + (h1 * y ^ 2 - h2 * x ^ 2) ^ 2 + 2 * (e * y ^ 2 - h2 * (x * y)) ^
    2)
      by (repeat apply Rplus_le_le_0_compat; try (apply Rmult_le_pos; [lra|]); apply pow2_ge_0).
    lra.
  - apply Rmult_le_compat_r; [apply pow2_ge_0|easy].
Qed.

Section Curvature.
Variables (k m d r : nat) (s : vector) (P Q M U V : matrix).
Hypotheses (Hk : (0 < k)%nat) (Hm : (k <= m)%nat) (Hd : (k <= d)%nat) (HM : svd k m d s P Q M).
Hypothesis Hs : forall i, (i < k)%nat -> 0 <= s i <= s O.
Let f := loss (/ 2) m d r M U V.
Let E1 := matmul m P (matmul m (core k s) (transpose P)).
Let E2 := matmul d Q (matmul d (core k s) (transpose Q)).
Let H1 := mminus (matmul r U (transpose U)) E1.
Let H2 := mminus (matmul r V (transpose V)) E2.
Let D := residual r M U V.

Lemma svd_E1 : svd k m m s P P E1.
Proof. destruct HM as (HP & _). split; [easy|split; [easy|apply same_refl]]. Qed.
Lemma svd_E2 : svd k d d s Q Q E2.
Proof. destruct HM as (_ & HQ & _). split; [easy|split; [easy|apply same_refl]]. Qed.

(** ‖UUᵀ − PSPᵀ‖² + 2‖UVᵀ − M‖² + ‖VVᵀ − QSQᵀ‖² ≤ 8f *)
Lemma hat_bound : frob2 m m H1 + 2 * frob2 m d D + frob2 d d H2 <= 8 * f.
Proof.
  unfold f, H1, H2, D, residual. rewrite loss_gram, !frob2_minus.
  rewrite (target_norm k m m s P P E1 Hm Hm svd_E1), (target_norm k d d s Q Q E2 Hd Hd svd_E2),
    (target_norm k m d s P Q M Hm Hd HM).
  rewrite !(fdot_right _ _ r), !transpose_transpose. unfold gram. rewrite (frob2_fdot r r). spread.
  rewrite (fdot_sym r r (matmul d _ _) (matmul m _ _)), !fdot_gram.
  assert (C : forall p q N A B, fdot p r A (matmul q N B) =
    Sum r (fun c => dot p (fun i => A i c) (matvec q N (fun i => B i c)))) by (intros; unfold fdot;
      now rewrite Sum_swap).
  enough (0 <= fdot m r U (matmul m E1 U) - 2 * fdot m r U (matmul d M V) + fdot d r V (matmul d E2 V)) by lra.
  rewrite !C, <- Sum_scal, <- Sum_minus, <- Sum_plus. apply Sum_ge0; intros c _.
  rewrite (svd_form k m m s P P E1), (svd_form k d d s Q Q E2), (svd_form k m d s P Q M)
    by (easy || apply svd_E1 || apply svd_E2).
  rewrite <- Sum_scal, <- Sum_minus, <- Sum_plus. apply Sum_ge0; intros i Hi.
  set (a := matvec m _ _ i). set (b := matvec d _ _ i). destruct (Hs i Hi) as [K _].
  assert (L := pow2_ge_0 (a - b)). nra.
Qed.

(** ‖Uᵀα + Vᵀβ‖² ≤ √(8f) (‖α‖² + ‖β‖²) + Σ s_i ((Pᵀα)_i + (Qᵀβ)_i)² *)
Lemma outer_bound alpha beta :
  sq r (vplus (matvec m (transpose U) alpha) (matvec d (transpose V) beta)) <=
  sqrt (8 * f) * (sq m alpha + sq d beta) +
  Sum k (fun i => s i * (matvec m (transpose P) alpha i + matvec d (transpose Q) beta i) ^ 2).
Proof.
  assert (F1 : sq r (matvec m (transpose U) alpha) = dot m alpha (matvec m (mplus H1 E1) alpha)).
  { replace (mplus H1 E1) with (matmul r U (transpose U)) by (unfold H1; matrix_ext; unfold mplus, mminus; ring).
    now rewrite matvec_matmul, dot_matvec, sq_dot. }
  assert (F2 : sq r (matvec d (transpose V) beta) = dot d beta (matvec d (mplus H2 E2) beta)).
  { replace (mplus H2 E2) with (matmul r V (transpose V)) by (unfold H2; matrix_ext; unfold mplus, mminus; ring).
    now rewrite matvec_matmul, dot_matvec, sq_dot. }
  assert (F3 : dot r (matvec m (transpose U) alpha) (matvec d (transpose V) beta) =
    dot m alpha (matvec d D beta) + dot m alpha (matvec d M beta)).
  { rewrite <- dot_matvec, <- matvec_matmul. unfold dot. rewrite <- Sum_plus. apply Sum_ext; intros a _.
    rewrite <- Rmult_plus_distr_l. f_equal. unfold matvec. rewrite <- Sum_plus. apply Sum_ext; intros.
    unfold D, residual, mminus. ring. }
  rewrite sq_plus, F1, F2, F3, !form_plus.
  rewrite (svd_form k m m s P P E1), (svd_form k d d s Q Q E2), (svd_form k m d s P Q M)
    by (easy || apply svd_E1 || apply svd_E2).
  assert (B1 := Rle_trans _ _ _ (Rle_abs _) (quadratic_frobenius m H1 alpha)).
  assert (B2 := Rle_trans _ _ _ (Rle_abs _) (quadratic_frobenius d H2 beta)).
  assert (B3 : dot m alpha (matvec d D beta) <= sqrt (frob2 m d D) * (vnorm m alpha * vnorm d beta)).
  { eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply cauchy|].
    assert (K : vnorm m (matvec d D beta) <= sqrt (frob2 m d D) * vnorm d beta)
      by (unfold vnorm; rewrite <- sqrt_mult by (apply frob2_ge0 || apply sq_ge0); apply sqrt_le_1_alt, matvec_sq).
    assert (L := norm_ge0 m alpha). nra. }
  set (S1 := Sum k _) at 1. set (S2 := Sum k _) at 1. set (S3 := Sum k _) at 1. set (S4 := Sum k _).
  assert (ES : S1 + 2 * S2 + S3 = S4).
  { unfold S1, S2, S3, S4. rewrite <- Sum_scal, <- !Sum_plus. apply Sum_ext; intros; ring. }
  assert (F0 : 0 <= f) by apply loss_ge0. assert (HB := hat_bound).
  assert (TC := three_cauchy (sqrt (frob2 m m H1)) (sqrt (frob2 d d H2)) (sqrt (frob2 m d D)) (vnorm m alpha)
    (vnorm d beta) (sqrt (8 * f)) (sqrt_pos _)).
  rewrite !pow2_sqrt in TC by (apply frob2_ge0 || lra). specialize (TC ltac:(lra)). rewrite !norm_sq in TC. lra.
Qed.

Lemma form_weight (x : vector) : Sum k (fun i => s i * x i ^ 2) <= s O * Sum k (fun i => x i ^ 2).
Proof.
  rewrite <- Sum_scal. apply Sum_le; intros i Hi. destruct (Hs i Hi). assert (K := pow2_ge_0 (x i)). nra.
Qed.

(** ‖Uᵀα + Vᵀβ‖² ≤ (2s_1 + √(8f)) (‖α‖² + ‖β‖²), and minus 2αᵀMβ it is at most (s_1 + √(8f)) (…). *)
Lemma outer_top alpha beta : let N := sq m alpha + sq d beta in
  sq r (vplus (matvec m (transpose U) alpha) (matvec d (transpose V) beta)) <= (2 * s O + sqrt (8 * f)) * N /\
  sq r (vplus (matvec m (transpose U) alpha) (matvec d (transpose V) beta)) - 2 * dot m alpha (matvec d M beta)
    <= (s O + sqrt (8 * f)) * N.
Proof.
  intros N. destruct (HM) as (HP & HQ & _). assert (B := outer_bound alpha beta). fold N in B.
  assert (G1 := bessel k m P alpha Hm HP). assert (G2 := bessel k d Q beta Hd HQ).
  set (a := fun i => matvec m (transpose P) alpha i) in *. set (b := fun i => matvec d (transpose Q) beta i) in *.
  change (Sum k (fun i => a i ^ 2) <= sq m alpha) in G1. change (Sum k (fun i => b i ^ 2) <= sq d beta) in G2.
  assert (W1 := form_weight a). assert (W2 := form_weight b).
  rewrite (Sum_ext k _ (fun i => 2 * (s i * (a i * b i)) + (s i * a i ^ 2 + s i * b i ^ 2))) in B
    by (intros; unfold a, b; ring).
  rewrite Sum_plus, Sum_plus, Sum_scal in B.
  rewrite (svd_form k m d s P Q M alpha beta Hm Hd HM). fold (a 0%nat).
  change (Sum k (fun i => s i * (matvec m (transpose P) alpha i * matvec d (transpose Q) beta i))) with
    (Sum k (fun i => s i * (a i * b i))).
  destruct (Hs O ltac:(lia)) as [S0 _].
  assert (X : s O * (Sum k (fun i => a i ^ 2) + Sum k (fun i => b i ^ 2)) <= s O * N) by (apply Rmult_le_compat_l;
    unfold N; lra).
  assert (C : 2 * Sum k (fun i => s i * (a i * b i)) <= Sum k (fun i => s i * a i ^ 2) + Sum k (fun i => s i * b i ^
    2)).
  { rewrite <- Sum_scal, <- Sum_plus. apply Sum_le; intros i Hi. destruct (Hs i Hi) as [K _].
    assert (L := pow2_ge_0 (a i - b i)). nra. }
  split; lra.
Qed.

Lemma gram_top delta : sq m (matvec r U delta) + sq d (matvec r V delta) <= (2 * s O + sqrt (8 * f)) * sq r delta.
Proof.
  set (T := _ + _). destruct (outer_top (matvec r U delta) (matvec r V delta)) as [B _]. fold T in B.
  set (w := vplus _ _) in B.
  assert (ET : dot r delta w = T).
  { unfold T. rewrite !sq_dot, !dot_matvec, <- dot_plus_l. apply dot_sym. }
  assert (C := cauchy_sq r delta w). rewrite ET in C. assert (PT : 0 <= T) by (apply Rplus_le_le_0_compat;
    apply sq_ge0).
  assert (Pd := sq_ge0 r delta). destruct (Hs O Hk) as [S0 _]. assert (R0 := sqrt_pos (8 * f)).
  destruct (Rle_lt_or_eq_dec 0 T PT) as [L|L]; [|rewrite <- L; apply Rmult_le_pos; lra].
  apply Rmult_le_reg_l with T; [easy|]. apply Rle_trans with (sq r delta * sq r w); [lra|].
  apply Rle_trans with (sq r delta * ((2 * s O + sqrt (8 * f)) * T)); [apply Rmult_le_compat_l; easy|lra].
Qed.

Lemma hessian_bounds A B : let N := frob2 m r A + frob2 d r B in
  let G := mplus (matmul m (transpose A) U) (matmul d (transpose B) V) in
  let h := / 4 * frob2 r r (mplus G (transpose G)) + / 2 * fdot r r (gram m d U V) (gram m d A B)
    - 2 * fdot m r A (matmul d M B) in
  - s O * N <= h <= (2 * s O + 3 / 2 * sqrt (8 * f)) * N.
Proof.
  intros N G h.
  assert (EN : N = Sum r (fun a => sq m (fun i => A i a) + sq d (fun i => B i a))).
  { unfold N, frob2. rewrite (Sum_swap m), (Sum_swap d), <- Sum_plus. reflexivity. }
  assert (EM : fdot m r A (matmul d M B) = Sum r (fun a => dot m (fun i => A i a) (matvec d M (fun i => B i a)))).
  { unfold fdot. now rewrite Sum_swap. }
  assert (EW : fdot r r (gram m d U V) (gram m d A B) =
    Sum m (fun j => sq m (matvec r U (A j)) + sq d (matvec r V (A j)))
    + Sum d (fun j => sq m (matvec r U (B j)) + sq d (matvec r V (B j)))).
  { unfold gram. rewrite fdot_plus_l, !fdot_plus_r, !fdot_gram, !Sum_plus.
    assert (C : forall p q X Y, frob2 p q (matmul r X (transpose Y)) = Sum q (fun j => sq p (matvec r X (Y j))))
      by (intros; unfold frob2; now rewrite Sum_swap).
    rewrite !C. ring. }
  assert (PW : 0 <= fdot r r (gram m d U V) (gram m d A B)).
  { rewrite EW. apply Rplus_le_le_0_compat; apply Sum_ge0; intros; apply Rplus_le_le_0_compat; apply sq_ge0. }
  assert (TW : fdot r r (gram m d U V) (gram m d A B) <= (2 * s O + sqrt (8 * f)) * N).
  { rewrite EW. unfold N. rewrite !frob2_rows, Rmult_plus_distr_l, <- !Sum_scal.
    apply Rplus_le_compat; apply Sum_le; intros; apply gram_top. }
  assert (PG := frob2_ge0 r r (mplus G (transpose G))).
  assert (TG : frob2 r r (mplus G (transpose G)) <= 4 * frob2 r r G).
  { assert (K := frob2_ge0 r r (mminus G (transpose G))). rewrite frob2_minus, <- frob2_transpose in K.
    rewrite (frob2_fdot r r (mplus _ _)). spread. rewrite (fdot_sym r r (transpose G) G), <- !frob2_fdot,
      <- frob2_transpose.
    lra. }
  assert (GR : frob2 r r G = Sum r (fun a => sq r (vplus (matvec m (transpose U) (fun i => A i a))
    (matvec d (transpose V) (fun i => B i a))))).
  { rewrite frob2_rows. apply Sum_ext; intros a _. apply Sum_ext; intros j _. f_equal. unfold G, mplus, vplus.
    f_equal; unfold matvec, matmul, transpose; apply Sum_ext; intros; ring. }
  split.
  - enough (2 * fdot m r A (matmul d M B) <= s O * N) by (unfold h; lra).
    rewrite EM, EN, <- !Sum_scal. apply Sum_le; intros a _. destruct (HM) as (HP & HQ & _).
    rewrite (svd_form k m d s P Q M _ _ Hm Hd HM).
    assert (G1 := bessel k m P (fun i => A i a) Hm HP). assert (G2 := bessel k d Q (fun i => B i a) Hd HQ).
    destruct (Hs O Hk) as [S0 _].
    apply Rle_trans with (s O * (Sum k (fun i => matvec m (transpose P) (fun i => A i a) i ^ 2)
      + Sum k (fun i => matvec d (transpose Q) (fun i => B i a) i ^ 2))); [|apply Rmult_le_compat_l; lra].
    rewrite <- Sum_plus, <- !Sum_scal. apply Sum_le; intros i Hi. destruct (Hs i Hi) as [K0 K1].
    set (x := matvec m _ _ i). set (y := matvec d _ _ i). assert (L := pow2_ge_0 (x - y)).
    assert (L1 := pow2_ge_0 x). assert (L2 := pow2_ge_0 y).
    apply Rle_trans with (s i * (x ^ 2 + y ^ 2)); [|apply Rmult_le_compat_r; lra].
    enough (0 <= s i * (x - y) ^ 2) by lra. now apply Rmult_le_pos.
  - assert (TT : frob2 r r G - 2 * fdot m r A (matmul d M B) <= (s O + sqrt (8 * f)) * N).
    { rewrite GR, EM, EN, <- !Sum_scal, <- Sum_minus. apply Sum_le; intros a _.
      apply (outer_top (fun i => A i a) (fun i => B i a)). }
    unfold h. lra.
Qed.
End Curvature.

Lemma second_derivative (F : R -> R) c0 c1 c2 c3 c4 :
  (forall e, F e = c0 + c1 * e + c2 * e ^ 2 + c3 * e ^ 3 + c4 * e ^ 4) -> is_derive_n F 2 0 (2 * c2).
Proof.
  intros H. simpl.
  apply (is_derive_ext (fun e => c1 + 2 * c2 * e + 3 * c3 * e ^ 2 + 4 * c4 * e ^ 3)).
  - intros e. symmetry. apply is_derive_unique.
    eapply is_derive_ext; [intros t; symmetry; apply H|]. auto_derive; [easy|ring].
  - auto_derive; [easy|ring].
Qed.

(** f along a line *)
Lemma balanced_along m d r M U V A B : exists c0 c1 c3 c4, forall e,
  loss (/ 2) m d r M (shifted U A e) (shifted V B e) = c0 + c1 * e
  + / 2 * (/ 4 * frob2 r r (mplus (mplus (matmul m (transpose A) U) (matmul d (transpose B) V))
      (transpose (mplus (matmul m (transpose A) U) (matmul d (transpose B) V))))
    + / 2 * fdot r r (gram m d U V) (gram m d A B) - 2 * fdot m r A (matmul d M B)) * e ^ 2 + c3 * e ^ 3 + c4 * e ^ 4.
Proof.
  set (G := mplus (matmul m (transpose A) U) (matmul d (transpose B) V)).
  assert (EW : forall e, gram m d (shifted U A e) (shifted V B e) =
    mplus (gram m d U V) (mplus (mscal e (mplus G (transpose G))) (mscal (e ^ 2) (gram m d A B)))).
  { intros e. unfold gram, shifted, G. spread. matrix_ext. unfold mplus, mscal. ring. }
  exists (/ 8 * (frob2 r r (gram m d U V) - 8 * fdot m r U (matmul d M V) + 4 * frob2 m d M)),
    (/ 4 * fdot r r (gram m d U V) (mplus G (transpose G)) - fdot m r A (matmul d M V) - fdot m r U (matmul d M B)),
    (/ 4 * fdot r r (mplus G (transpose G)) (gram m d A B)), (/ 8 * frob2 r r (gram m d A B)).
  intros e. rewrite loss_gram, EW, frob2_quartic.
  assert (EP : fdot m r (shifted U A e) (matmul d M (shifted V B e)) = fdot m r U (matmul d M V)
    + e * (fdot m r A (matmul d M V) + fdot m r U (matmul d M B)) + e ^ 2 * fdot m r A (matmul d M B)).
  { unfold shifted. spread. ring. }
  rewrite EP. field.
Qed.

Lemma hessian_at m d r M U V A B : is_derive_n (fun e => loss (/ 2) m d r M (shifted U A e) (shifted V B e)) 2 0
  (/ 4 * frob2 r r (mplus (mplus (matmul m (transpose A) U) (matmul d (transpose B) V))
      (transpose (mplus (matmul m (transpose A) U) (matmul d (transpose B) V))))
    + / 2 * fdot r r (gram m d U V) (gram m d A B) - 2 * fdot m r A (matmul d M B)).
Proof.
  destruct (balanced_along m d r M U V A B) as (c0 & c1 & c3 & c4 & H).
  set (h := _ - _) in H. change (is_derive_n (fun e => loss (/ 2) m d r M (shifted U A e) (shifted V B e)) 2 0 h).
  replace h with (2 * (/ 2 * h)) by field. exact (second_derivative _ c0 c1 (/ 2 * h) c3 c4 H).
Qed.

Lemma placed_shifted n k P X Y e : shifted (placed n k P X) (placed n k P Y) e = placed n k P (shifted X Y e).
Proof.
  unfold shifted, placed. rewrite <- matmul_scal_r, <- matmul_plus_r. f_equal. matrix_ext. unfold mplus, mscal.
  destruct (Nat.ltb x k); ring.
Qed.

(** The unit vector e_0, and x with e added to its first entry *)
Definition first : vector := fun i => if Nat.eqb i 0 then 1 else 0.
Definition first_moved (x : vector) (e : R) : vector := fun i => x i + e * first i.

Lemma slice_moved m d k P Q x e :
  shifted (slice_U m k P x) (slice_U m k P first) e = slice_U m k P (first_moved x e) /\
  shifted (slice_V d k Q x) (slice_V d k Q first) e = slice_V d k Q (first_moved x e).
Proof.
  unfold slice_U, slice_V. rewrite !placed_shifted. split; f_equal; matrix_ext;
    unfold shifted, mscal, mplus, mminus, diagonal, first_moved, zero; destruct (Nat.eqb x0 x1); ring.
Qed.

Lemma first_norm k r : (0 < k)%nat -> (0 < r)%nat -> frob2 k r (diagonal first) = 1.
Proof.
  intros Hk Hr. unfold frob2. rewrite (Sum_single k _ 0%nat Hk).
  - rewrite (Sum_single r _ 0%nat Hr); [unfold diagonal, first; simpl; ring|]. intros j _ Hj. destruct j; [easy|].
    unfold diagonal. simpl. ring.
  - intros i _ Hi. transitivity (Sum r (fun _ => 0)); [|apply Sum_zero]. apply Sum_ext; intros j _.
    unfold diagonal. replace (first i) with 0 by (destruct i; easy). destruct (Nat.eqb i j); ring.
Qed.

Lemma first_turned k m d r s P Q M : (0 < k)%nat -> (k <= m)%nat -> (k <= d)%nat -> (0 < r)%nat -> svd k m d s P Q M ->
  frob2 m r (slice_U m k P first) + frob2 d r (slice_V d k Q first) = 1 /\
  fdot m r (slice_U m k P first) (matmul d M (slice_V d k Q first)) = / 2 * s O.
Proof.
  intros Hk Hm Hd Hr HM. destruct (HM) as (HP & HQ & _).
  assert (EX := placed_plus k m d r s P Q M (diagonal first) zero Hm Hd HM).
  assert (EY := placed_minus k m d r s P Q M (diagonal first) zero Hm Hd HM).
  assert (ET := placed_rest k m d r s P Q M (diagonal first) zero Hm Hd HM).
  fold (slice_U m k P first) (slice_V d k Q first) in EX, EY, ET. split.
  - rewrite <- (rot_isometry k m d r P Q) by easy.
    rewrite (frob2_ext k r _ _ EX), (frob2_none k r _ EY), (frob2_none _ r _ ET), first_norm by easy. ring.
  - assert (E := target_product k m d r s P Q M (slice_U m k P first) (slice_V d k Q first) Hm Hd HM).
    rewrite (fdot_ext k r _ _ _ _ (matmul_same k r k _ _ _ _ (same_refl _ _ _) EX) EX) in E.
    rewrite (fdot_ext k r _ _ _ _ (matmul_same k r k _ _ _ _ (same_refl _ _ _) EY) EY) in E.
    rewrite zero_r in E. assert (Z : fdot k r zero zero = 0) by (rewrite <- frob2_fdot; now apply frob2_none).
    rewrite Z in E. assert (F : fdot k r (matmul k (diagonal s) (diagonal first)) (diagonal first) = s O); [|lra].
    transitivity (s O * frob2 k r (diagonal first)); [|rewrite first_norm by easy; ring].
    unfold fdot, frob2. rewrite <- Sum_scal. apply Sum_ext; intros i Hi. rewrite <- Sum_scal. apply Sum_ext; intros j _.
    rewrite diagonal_l by easy. unfold diagonal, first. destruct (Nat.eqb i j); [|ring]. destruct i; simpl; ring.
Qed.

(** pa-lemma-m
    Covers: the whole statement.
    Reads: let M = PSQᵀ be m × d of rank k ≥ 1, s_1 ≥ … ≥ s_k > 0, f = f_{1/2}. At every (U, V) and in every direction (A, B) f has a second derivative h with −s_1 N ≤ h ≤ (2s_1 + 3√(2f)) N, N = ‖A‖² + ‖B‖². If r ≥ 1, at (0, 0) some direction with N = 1 has h = −s_1. If r ≥ k, for every f_0 ≥ 0 there are a point with f = f_0 and a direction with N = 1 and h = 2s_1 + 3√(2f_0).
    Mistake: `h <= (2 * s O + 2 * sqrt` for `h <= (2 * s O + 3 * sqrt`
    Mistake: `2 0 (- 2 * s O)` for `2 0 (- s O)`
*)
Theorem pa_lemma_m : forall k m d r s P Q M, (0 < k)%nat -> (k <= m)%nat -> (k <= d)%nat -> svd k m d s P Q M ->
  descending k s ->
  let along := fun U V A B e => loss (/ 2) m d r M (shifted U A e) (shifted V B e) in
  let N := fun A B => frob2 m r A + frob2 d r B in
  (forall U V A B, exists h, is_derive_n (along U V A B) 2 0 h /\ - s O * N A B <= h /\
    h <= (2 * s O + 3 * sqrt (2 * loss (/ 2) m d r M U V)) * N A B) /\
  ((0 < r)%nat -> exists A B, N A B = 1 /\ is_derive_n (along zero zero A B) 2 0 (- s O)) /\
  ((k <= r)%nat -> forall f0, 0 <= f0 -> exists U V A B, loss (/ 2) m d r M U V = f0 /\ N A B = 1 /\
    is_derive_n (along U V A B) 2 0 (2 * s O + 3 * sqrt (2 * f0))).
Proof.
  intros k m d r s P Q M Hk Hm Hd HM Hs along N. destruct (Hs) as [Hs1 Hs2].
  assert (Hb : forall i, (i < k)%nat -> 0 <= s i <= s O) by (intros i Hi; split; [left; now apply Hs2|apply Hs1; lia]).
  destruct (HM) as (HP & HQ & _). split; [|split].
  - intros U V A B. eexists. split; [apply hessian_at|].
    assert (K := hessian_bounds k m d r s P Q M U V Hk Hm Hd HM Hb A B). cbv zeta in K. rewrite root_8 in K.
    destruct K as [K1 K2]. split; [exact K1|]. eapply Rle_trans; [exact K2|]. apply Req_le. unfold N. field.
  - intros Hr. exists (slice_U m k P first), (slice_V d k Q first).
    destruct (first_turned k m d r s P Q M Hk Hm Hd Hr HM) as [EN EM]. split; [exact EN|].
    assert (H := hessian_at m d r M zero zero (slice_U m k P first) (slice_V d k Q first)).
    evar_last; [exact H|]. unfold gram. change (transpose zero) with zero. rewrite ?zero_r, ?zero_l.
    rewrite (frob2_none r r (mplus _ _)) by (intros i j _ _; unfold mplus, transpose, zero; ring).
    rewrite fdot_plus_l, EM. assert (Z : forall A, fdot r r zero A = 0).
    { intros A. unfold fdot. transitivity (Sum r (fun _ => 0)); [|apply Sum_zero]. apply Sum_ext; intros.
      transitivity (Sum r (fun _ => 0)); [|apply Sum_zero]. apply Sum_ext; intros. unfold zero. ring. }
    rewrite !Z. field.
  - intros Hr f0 Hf. set (q := sqrt (2 * f0)). assert (Eq : q ^ 2 = 2 * f0) by (apply pow2_sqrt; lra).
    assert (Hq : 0 <= q) by apply sqrt_pos. assert (S0 := Hs2 O Hk).
    set (x := fun i => if Nat.eqb i 0 then sqrt (2 * s O + 2 * q) else sqrt (2 * s i)).
    assert (Ex : x O ^ 2 = 2 * s O + 2 * q) by (apply pow2_sqrt; lra).
    assert (EF : forall e, loss (/ 2) m d r M (shifted (slice_U m k P x) (slice_U m k P first) e)
      (shifted (slice_V d k Q x) (slice_V d k Q first) e) = / 8 * ((x O + e) ^ 2 - 2 * s O) ^ 2).
    { intros e. destruct (slice_moved m d k P Q x e) as [-> ->].
      destruct (slice_at k m d r s P Q M (first_moved x e) Hm Hd Hr HM) as [E _].
      rewrite (Sum_single k _ 0%nat Hk) in E.
      - replace (first_moved x e 0%nat) with (x 0%nat + e) in E
          by (unfold first_moved, first; rewrite Nat.eqb_refl; ring).
        lra.
      - intros i Hi Hn. unfold first_moved, first, x. destruct i; [easy|]. simpl Nat.eqb. cbv iota.
        rewrite Rmult_0_r, Rplus_0_r, pow2_sqrt; [ring|]. specialize (Hs2 _ Hi). lra. }
    exists (slice_U m k P x), (slice_V d k Q x), (slice_U m k P first), (slice_V d k Q first).
    destruct (first_turned k m d r s P Q M Hk Hm Hd ltac:(lia) HM) as [EN _]. split; [|split; [exact EN|]].
    + specialize (EF 0). assert (Z : forall A B, shifted A B 0 = A) by (intros; matrix_ext;
      unfold shifted, mplus, mscal; ring).
      rewrite !Z, Rplus_0_r, Ex in EF. rewrite EF. replace ((2 * s O + 2 * q - 2 * s O) ^ 2) with (4 * q ^ 2) by ring.
      rewrite Eq. field.
    + evar_last.
      * apply (second_derivative _ (/ 8 * (x O ^ 2 - 2 * s O) ^ 2) (/ 2 * x O * (x O ^ 2 - 2 * s O))
          (/ 8 * (2 * (x O ^ 2 - 2 * s O) + 4 * x O ^ 2)) (/ 2 * x O) (/ 8)). intros e. unfold along. rewrite EF. field.
      * rewrite Ex. fold q. field.
Qed.

(** pa-proposition-j-slope
    Covers: a part: the point with its exact values, for M = diag(s); on the page: other M, by rotation.
    Reads: let λ = 0, d ≥ 2, M = diag(s_1, …, s_d) with all s_i > 0. For every γ > 0 there are d × d factors with f_0 = s_1²/(2γ⁴), ‖∇f_0‖² = (6s_1/γ²) f_0, and a direction B for V with ‖B‖ = 1 along which f_0(U, V + eB) has the coefficient ½ s_1γ² at e²: a curvature of s_1γ².
    Mistake: `f U V = - s O ^ 2 /` for `f U V = s O ^ 2 /`
    Mistake: `(diagonal s) U V = - 6 * s O` for `(diagonal s) U V = 6 * s O`
*)
Theorem pa_proposition_j_slope : forall d s gamma, (2 <= d)%nat -> (forall i, (i < d)%nat -> 0 < s i) -> 0 < gamma ->
  let f := loss 0 d d d (diagonal s) in
  exists U V, f U V = s O ^ 2 / (2 * gamma ^ 4) /\ slope2 0 d d d (diagonal s) U V = 6 * s O / gamma ^ 2 * f U V /\
    exists B, frob2 d d B = 1 /\ exists c, forall e, f U (shifted V B e) = f U V + c * e
      + / 2 * (s O * gamma ^ 2) * e ^ 2.
Proof.
  intros d s gamma Hd Hs Hg f. assert (S0 : 0 < s O) by (apply Hs; lia). assert (S1 := sqrt_sqrt (s O) (Rlt_le _ _ S0)).
  assert (R0 : 0 < sqrt (s O)) by now apply sqrt_lt_R0.
  set (eps := s O / gamma ^ 2). set (n := (d - 1)%nat).
  set (u := fun i => if Nat.eqb i 0 then sqrt (s O) * gamma else if Nat.eqb i n then sqrt (s O) / gamma else sqrt (s
    i)).
  assert (Hu : forall i, (i < d)%nat -> 0 < u i).
  { intros i Hi. unfold u. destruct (Nat.eqb i 0); [now apply Rmult_lt_0_compat|].
    destruct (Nat.eqb i n); [now apply Rdiv_lt_0_compat|apply sqrt_lt_R0; now apply Hs]. }
  set (J := fun i j : nat => if (Nat.eqb i n && Nat.eqb j 0)%bool then eps else 0).
  set (U := diagonal u). set (V := fun j i => (diagonal s i j + J i j) / u i).
  assert (HD : same d d (residual d (diagonal s) U V) J).
  { intros i j Hi Hj. unfold residual, mminus, U. rewrite diagonal_l by easy. unfold transpose, V.
    specialize (Hu i Hi). field. lra. }
  assert (Nn : Nat.eqb n 0 = false) by (apply Nat.eqb_neq; unfold n; lia).
  assert (Hn : (n < d)%nat) by (unfold n; lia).
  assert (Jn : J n O = eps) by (unfold J; now rewrite !Nat.eqb_refl).
  assert (J0 : forall i j, i <> n \/ j <> 0%nat -> J i j = 0).
  { intros i j [H|H]; apply Nat.eqb_neq in H; unfold J; rewrite H; [easy|]. now destruct (Nat.eqb i n). }
  assert (Uu : forall i j, (i < d)%nat -> U i j = if Nat.eqb i j then u i else 0) by reflexivity.
  assert (u0 : u O = sqrt (s O) * gamma) by reflexivity.
  assert (un : u n = sqrt (s O) / gamma) by (unfold u; now rewrite Nn, Nat.eqb_refl).
  assert (ND : frob2 d d (residual d (diagonal s) U V) = eps ^ 2).
  { rewrite (frob2_ext d d _ _ HD). unfold frob2. rewrite (Sum_single d _ n Hn).
    - rewrite (Sum_single d _ 0%nat); [now rewrite Jn|lia|]. intros j _ Hj. rewrite J0 by tauto. ring.
    - intros i _ Hi. transitivity (Sum d (fun _ => 0)); [|apply Sum_zero]. apply Sum_ext; intros. rewrite J0 by tauto.
    ring. }
  assert (NV : frob2 d d (matmul d (residual d (diagonal s) U V) V) = eps ^ 2 * (3 * s O / gamma ^ 2 - s O / gamma ^
    2)).
  { rewrite (frob2_ext d d _ (fun i j => if Nat.eqb i n then eps * V O j else 0)).
    - unfold frob2. rewrite (Sum_single d _ n Hn).
      + rewrite Nat.eqb_refl.
        rewrite (Sum_ext d _ (fun j => (if Nat.eqb j 0 then eps ^ 2 * (s O / u O) ^ 2 else 0)
          + (if Nat.eqb j n then eps ^ 2 * (eps / u n) ^ 2 else 0))).
        * rewrite Sum_plus, (Sum_single d _ 0%nat), (Sum_single d _ n Hn), !Nat.eqb_refl; try lia;
            try (intros j _ Hj; apply Nat.eqb_neq in Hj; now rewrite Hj).
          rewrite u0, un. unfold eps.
          transitivity ((s O / gamma ^ 2) ^ 2 * (s O ^ 2 / ((sqrt (s O) * sqrt (s O)) * gamma ^ 2)
            + s O ^ 2 / (gamma ^ 2 * (sqrt (s O) * sqrt (s O))))); [field; lra|]. rewrite S1. field. lra.
        * intros j Hj. unfold V, diagonal. destruct (Nat.eqb j 0) eqn:E0.
          -- apply Nat.eqb_eq in E0. subst j. rewrite (J0 O O) by (left; unfold n; lia).
             rewrite (Nat.eqb_sym 0 n), Nn. unfold Rdiv. ring.
          -- unfold J. rewrite Nat.eqb_refl. destruct (Nat.eqb j n) eqn:En; simpl; unfold Rdiv.
             ++ apply Nat.eqb_eq in En. subst j. ring.
             ++ ring.
      + intros i _ Hi. apply Nat.eqb_neq in Hi. rewrite Hi. transitivity (Sum d (fun _ => 0)); [|apply Sum_zero].
        apply Sum_ext; intros; ring.
    - intros i j Hi Hj. unfold matmul. rewrite (Sum_single d _ 0%nat); [|lia|].
      + rewrite HD by lia. destruct (Nat.eqb i n) eqn:E; [apply Nat.eqb_eq in E; subst i; now rewrite Jn|].
        apply Nat.eqb_neq in E. rewrite J0 by tauto. ring.
      + intros l Hl Hl0. rewrite HD, J0 by tauto || easy. ring. }
  assert (NU : frob2 d d (matmul d (transpose (residual d (diagonal s) U V)) U) = eps ^ 2 * (s O / gamma ^ 2)).
  { unfold frob2. rewrite (Sum_single d _ 0%nat); [rewrite (Sum_single d _ n Hn)|lia|].
    - unfold matmul, transpose. rewrite (Sum_single d _ n Hn).
      + rewrite HD, Jn, Uu, Nat.eqb_refl, un by lia.
        transitivity (eps ^ 2 * ((sqrt (s O) * sqrt (s O)) / gamma ^ 2)); [field; lra|now rewrite S1].
      + intros l Hl Hne. rewrite HD, J0 by (tauto || lia). ring.
    - intros j Hj Hne. unfold matmul, transpose. rewrite (Sum_single d _ n Hn).
      + rewrite Uu by easy. apply not_eq_sym, Nat.eqb_neq in Hne. rewrite Hne. ring.
      + intros l Hl Hne'. rewrite HD, J0 by (tauto || lia). ring.
    - intros i Hi Hi0. transitivity (Sum d (fun _ => 0)); [|apply Sum_zero]. apply Sum_ext; intros j Hj.
      unfold matmul, transpose. rewrite (Sum_ext d _ (fun _ => 0)), Sum_zero; [ring|]. intros l Hl.
      rewrite HD, J0 by tauto || easy. ring. }
  assert (EL : f U V = / 2 * eps ^ 2) by (unfold f, loss; rewrite ND; lra).
  exists U, V. split; [rewrite EL; unfold eps; field; lra|split].
  - unfold slope2, grad_U, grad_V.
    replace (mscal 0 (matmul d U (imbalance d d U V))) with zero by (matrix_ext; unfold zero, mscal; ring).
    replace (mscal 0 (matmul d V (imbalance d d U V))) with zero by (matrix_ext; unfold zero, mscal; ring).
    replace (mplus (matmul d (residual d (diagonal s) U V) V) zero) with (matmul d (residual d (diagonal s) U V) V)
      by (matrix_ext; unfold zero, mplus; ring).
    replace (mminus (matmul d (transpose (residual d (diagonal s) U V)) U) zero) with
      (matmul d (transpose (residual d (diagonal s) U V)) U) by (matrix_ext; unfold zero, mminus; ring).
    rewrite NV, NU, EL. field. lra.
  - set (B := fun i j : nat => if (Nat.eqb i 0 && Nat.eqb j 0)%bool then 1 else 0). exists B.
    assert (NB : forall a : R, frob2 d d (fun i j => a * B i j) = a ^ 2).
    { intros a. unfold frob2. rewrite (Sum_single d _ 0%nat); [rewrite (Sum_single d _ 0%nat)|lia|]; [unfold B; simpl;
      ring|lia| |].
      - intros j _ Hj. apply Nat.eqb_neq in Hj. unfold B. rewrite Hj. simpl. ring.
      - intros i _ Hi. transitivity (Sum d (fun _ => 0)); [|apply Sum_zero]. apply Sum_ext; intros j _.
        apply Nat.eqb_neq in Hi. unfold B. rewrite Hi. simpl. ring. }
    split.
    + rewrite (frob2_ext d d B (fun i j => 1 * B i j)) by (intros i j _ _; ring). rewrite NB. ring.
    + exists (fdot d d (residual d (diagonal s) U V) (matmul d U (transpose B))). intros e. unfold f, loss.
      assert (ER : residual d (diagonal s) U (shifted V B e) =
        mplus (residual d (diagonal s) U V) (mscal e (matmul d U (transpose B)))).
      { unfold residual, shifted. spread. matrix_ext. unfold mplus, mminus, mscal. ring. }
      rewrite ER, !frob2_fdot. spread. rewrite (fdot_sym d d (matmul d U (transpose B)) (residual _ _ _ _)).
      rewrite <- (frob2_fdot d d (matmul d U (transpose B))).
      rewrite (frob2_ext d d (matmul d U (transpose B)) (fun i j => u O * B i j)).
      * rewrite NB, u0. replace ((sqrt (s O) * gamma) ^ 2) with (s O * gamma ^ 2) by (rewrite <- S1 at 1; ring). field.
      * intros i j Hi Hj. unfold U. rewrite diagonal_l by easy. unfold transpose, B.
        destruct (Nat.eqb i 0) eqn:E1, (Nat.eqb j 0); simpl; try ring. apply Nat.eqb_eq in E1. subst i. ring.
Qed.

(** det A for a 2 × 2 matrix, and det[v, w] for columns v, w *)
Definition det2 (A : matrix) : R := A 0%nat 0%nat * A 1%nat 1%nat - A 0%nat 1%nat * A 1%nat 0%nat.
Definition det_columns (v w : vector) : R := v 0%nat * w 1%nat - w 0%nat * v 1%nat.

(** pa-proposition-s-determinant
    Covers: a part: the second claim, how a determinant of 0 is left in one step; on the page: equal singular values, and the certified starts.
    Reads: let d = 2, square factors, M = PSQᵀ, λ = ½, and a step of size η of descent from (U, V). If X = (PᵀU + QᵀV)/√2 = uvᵀ and Y = (PᵀU − QᵀV)/√2, then after the step det X = −(η²/2)(s_1 − s_2) u_1u_2 det[v, YᵀYv].
    Mistake: `- (eta / 2) * (s` for `- (eta ^ 2 / 2) * (s`
    Mistake: `(s 0%nat + s 1%nat)` for `(s 0%nat - s 1%nat)`
*)
Theorem pa_proposition_s_determinant : forall s P Q M U V eta u v, svd 2 2 2 s P Q M ->
  let X := rot_plus 2 2 P Q U V in let Y := rot_minus 2 2 P Q U V in
  same 2 2 X (fun i j => u i * v j) ->
  det2 (rot_plus 2 2 P Q (mminus U (mscal eta (grad_U (/ 2) 2 2 2 M U V)))
    (mminus V (mscal eta (grad_V (/ 2) 2 2 2 M U V)))) =
  - (eta ^ 2 / 2) * (s 0%nat - s 1%nat) * u 0%nat * u 1%nat *
    det_columns v (matvec 2 (matmul 2 (transpose Y) Y) v).
Proof.
  intros s P Q M U V eta u v HM X Y HX.
  assert (E : forall i j, (i < 2)%nat -> (j < 2)%nat ->
    rot_plus 2 2 P Q (mminus U (mscal eta (grad_U (/ 2) 2 2 2 M U V))) (mminus V (mscal eta (grad_V (/ 2) 2 2 2 M U
      V))) i j
    = u i * v j - eta * (/ 2 * Sum 2 (fun l => u i * v l * (Sum 2 (fun a => u a * v l * (u a * v j))
      + Sum 2 (fun a => Y a l * Y a j))) - s i * (u i * v j))).
  { intros i j Hi Hj.
    transitivity (X i j - eta * rot_plus 2 2 P Q (grad_U (/ 2) 2 2 2 M U V) (grad_V (/ 2) 2 2 2 M U V) i j).
    { unfold X, rot_plus. spread. unfold mminus, mscal. ring. }
    rewrite (rot_plus_grad 2 2 2 2 s P Q M U V (le_n _) (le_n _) HM i j Hi Hj). fold X.
    unfold mminus, mscal. rewrite diagonal_l, HX by easy. f_equal. f_equal. f_equal. f_equal.
    destruct (HM) as (HP & HQ & _). rewrite (rot_gram 2 2 2 P Q U V (le_n _) (le_n _) HP HQ). fold X Y.
    apply Sum_ext; intros l Hl. rewrite HX by easy. f_equal. unfold mplus.
    change (2 + 2 - 2 * 2)%nat with O. unfold matmul at 3. cbn [Sum]. rewrite Rplus_0_r.
    unfold matmul, transpose. cbn [Sum]. rewrite !HX by lia. ring. }
  unfold det2. rewrite !E by lia. unfold det_columns, matvec, matmul, transpose. cbn [Sum]. field.
Qed.

(** pa-proposition-s-edge
    Covers: a part: one step far out, and the last claim, how far apart the two bounds for the step are; on the page: that almost no start arrives above 1/s_1, and that descent then diverges.
    Reads: let s > 0 (the page's s_1), a = √(2f_0) > 0. The quotient of min{1/s, √(2/f_0)} by 2/(2s + 3√(2f_0)) is at least 1 and at most 4, it is 4 at √(2f_0) = 2s, and it is at most 1 + 3√(2f_0)/(2s). For η > 0 the factor η/2 σ² − 1 − ηs of one step is above 1 if and only if σ² > 2s + 4/η.
    Mistake: `Rmin (1 / s) (sqrt (2 / f0)) / (2 / (2 * s + 3 * sqrt (2 * f0))) <= 3` for `Rmin (1 / s) (sqrt (2 / f0)) / (2 / (2 * s + 3 * sqrt (2 * f0))) <= 4`
    Mistake: `2 * s + 3 / eta` for `2 * s + 4 / eta`
*)
Theorem pa_proposition_s_edge : forall s, 0 < s ->
  (forall f0, 0 < f0 -> 1 <= Rmin (1 / s) (sqrt (2 / f0)) / (2 / (2 * s + 3 * sqrt (2 * f0))) /\
    Rmin (1 / s) (sqrt (2 / f0)) / (2 / (2 * s + 3 * sqrt (2 * f0))) <= 4 /\
    Rmin (1 / s) (sqrt (2 / f0)) / (2 / (2 * s + 3 * sqrt (2 * f0))) <= 1 + 3 * sqrt (2 * f0) / (2 * s) /\
    (sqrt (2 * f0) = 2 * s -> Rmin (1 / s) (sqrt (2 / f0)) / (2 / (2 * s + 3 * sqrt (2 * f0))) = 4)) /\
  (forall eta sigma, 0 < eta -> (1 < eta / 2 * sigma ^ 2 - 1 - eta * s <-> 2 * s + 4 / eta < sigma ^ 2)).
Proof.
  intros s Hs. split.
  - intros f0 Hf. set (a := sqrt (2 * f0)). assert (Ha : 0 < a) by (apply sqrt_lt_R0; lra).
    assert (Ea : a ^ 2 = 2 * f0) by (apply pow2_sqrt; lra).
    assert (E : sqrt (2 / f0) = 2 / a).
    { replace (2 / f0) with ((2 / a) ^ 2).
      - apply sqrt_pow2. left. apply Rdiv_lt_0_compat; lra.
      - replace f0 with (a ^ 2 / 2) by lra. field. lra. }
    rewrite E. set (q := Rmin (1 / s) (2 / a) / (2 / (2 * s + 3 * a))).
    assert (P1 : 0 < 3 * a / (2 * s)) by (apply Rdiv_lt_0_compat; lra).
    assert (P2 : 0 < 2 * s / a) by (apply Rdiv_lt_0_compat; lra).
    assert (Q1 : 1 / s / (2 / (2 * s + 3 * a)) = 1 + 3 * a / (2 * s)) by (field; lra).
    assert (Q2 : 2 / a / (2 / (2 * s + 3 * a)) = 2 * s / a + 3) by (field; lra).
    assert (Cs : a <= 2 * s -> 3 * a / (2 * s) <= 3).
    { intros H. apply Rmult_le_reg_r with (2 * s); [lra|]. replace (3 * a / (2 * s) * (2 * s)) with (3 * a) by (field;
      lra). lra. }
    assert (Cb : 2 * s <= a -> 2 * s / a <= 1).
    { intros H. apply Rmult_le_reg_r with a; [lra|]. replace (2 * s / a * a) with (2 * s) by (field; lra). lra. }
    assert (Iv : 1 / s <= 2 / a <-> a <= 2 * s).
    { split; intros H.
      - apply (Rmult_le_compat_r (s * a)) in H; [|nra]. replace (1 / s * (s * a)) with a in H by (field; lra).
        replace (2 / a * (s * a)) with (2 * s) in H by (field; lra). exact H.
      - apply Rmult_le_reg_r with (s * a); [nra|]. replace (1 / s * (s * a)) with a by (field; lra).
        replace (2 / a * (s * a)) with (2 * s) by (field; lra). exact H. }
    unfold q, Rmin. destruct (Rle_dec (1 / s) (2 / a)) as [L|L]; rewrite ?Q1, ?Q2.
    + apply Iv in L. specialize (Cs L). repeat split; try lra. intros H. rewrite H. field. lra.
    + assert (L' : 2 * s < a) by (destruct (Rlt_or_le (2 * s) a); [easy|exfalso; apply L, Iv; easy]).
      specialize (Cb ltac:(lra)). repeat split; try lra.
      apply Rle_trans with 4; [lra|]. enough (3 <= 3 * a / (2 * s)) by lra.
      apply Rmult_le_reg_r with (2 * s); [lra|]. replace (3 * a / (2 * s) * (2 * s)) with (3 * a) by (field; lra). lra.
  - intros eta sigma He. replace (2 * s + 4 / eta) with (2 / eta * (2 + eta * s)) by (field; lra).
    assert (R : sigma ^ 2 = 2 / eta * (eta / 2 * sigma ^ 2)) by (field; lra).
    assert (P : 0 < 2 / eta) by (apply Rdiv_lt_0_compat; lra). split; intros H.
    + rewrite R. apply Rmult_lt_compat_l; lra.
    + rewrite R in H. apply Rmult_lt_reg_l in H; lra.
Qed.
