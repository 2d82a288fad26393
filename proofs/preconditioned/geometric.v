(** The chapter preconditioned/geometric and its supplement: PL constants, logistic envelope, biased descent. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.matrices base.dependence base.factors.
Open Scope R_scope.

(** A symmetric matrix as a form on the columns of N, and a diagonal one *)
Lemma form_columns k c A N : fdot k c N (matmul k A N) =
  Sum c (fun j => dot k (fun i => N i j) (matvec k A (fun i => N i j))).
Proof. unfold fdot. rewrite Sum_swap. easy. Qed.

Lemma form_below k c A N a : (forall v, - a * sq k v <= dot k v (matvec k A v)) ->
  - a * frob2 k c N <= fdot k c N (matmul k A N).
Proof.
  intros H. rewrite form_columns. unfold frob2. rewrite Sum_swap, <- Sum_scal. apply Sum_le; intros j _.
  apply (H (fun i => N i j)).
Qed.

Lemma diagonal_below k c s N sigma : (forall i, (i < k)%nat -> sigma <= s i) ->
  sigma * frob2 k c N <= fdot k c N (matmul k (diagonal s) N).
Proof.
  intros H. unfold frob2, fdot. rewrite <- Sum_scal. apply Sum_le; intros i Hi. rewrite <- Sum_scal.
  apply Sum_le; intros j _. rewrite diagonal_l by easy. assert (K := H i Hi). assert (L := pow2_ge_0 (N i j)). nra.
Qed.

Lemma form_gram k r Y L : 0 <= fdot k k L (matmul k (matmul r Y (transpose Y)) L).
Proof. rewrite matmul_assoc, fdot_sym, fdot_left, <- frob2_fdot. apply frob2_ge0. Qed.

(** The sum of three groups: the proof of the PL inequality, in rotated coordinates and without T *)
Lemma pl_core k r s X Y sigma a kappa mu :
  let A := mminus (matmul r X (transpose X)) (mscal 2 (diagonal s)) in
  let W := mplus (matmul k (transpose X) X) (matmul k (transpose Y) Y) in
  (forall i, (i < k)%nat -> sigma <= s i) -> 0 <= sigma -> (forall v, - a * sq k v <= dot k v (matvec k A v)) ->
  kappa = 2 * sigma - a -> 0 <= a -> mu <= kappa ->
  (forall w, kappa * sq k w <= sq r (matvec k (transpose X) w)) ->
  (forall y t, sigma <= t ->
    4 * t * mu * sq r y <= sq r (matvec k (transpose X) (matvec r X y)) + 4 * t ^ 2 * sq r y) ->
  mu * (frob2 k k A + frob2 k k (matmul r Y (transpose Y)) + 4 * fdot k r (matmul k (diagonal s) Y) Y
    + 2 * frob2 k k (matmul r X (transpose Y))) <=
  4 * (frob2 k r (mminus (mscal (/ 2) (matmul r X W)) (matmul k (diagonal s) X))
    + frob2 k r (mplus (mscal (/ 2) (matmul r Y W)) (matmul k (diagonal s) Y))).
Proof.
  intros A W Hs Hp HA Hk Ha Hmu HX HY. set (N := matmul r X (transpose Y)). set (G := matmul r Y (transpose Y)).
  set (L := matmul r Y (transpose X)). set (SY := matmul k (diagonal s) Y).
  assert (E1 : mminus (mscal (/ 2) (matmul r X W)) (matmul k (diagonal s) X) =
    mscal (/ 2) (mplus (matmul k A X) (matmul k N Y))).
  { unfold A, W, N. spread. rewrite !matmul_assoc. matrix_ext. unfold mplus, mminus, mscal. field. }
  assert (E2 : mplus (mscal (/ 2) (matmul r Y W)) SY =
    mscal (/ 2) (mplus (mplus (matmul k L X) (matmul k G Y)) (mscal 2 SY))).
  { unfold W, L, G. spread. rewrite !matmul_assoc. matrix_ext. unfold mplus, mscal. field. }
  rewrite E1, E2, !(frob2_fdot k r). clear E1 E2. spread.
  assert (T1 : kappa * frob2 k k A <= fdot k r (matmul k A X) (matmul k A X)).
  { rewrite <- frob2_fdot, !frob2_rows, <- Sum_scal. apply Sum_le; intros i _. rewrite matmul_row. apply HX. }
  assert (T2 : - a * frob2 k k N <= fdot k r (matmul k N Y) (matmul k A X)).
  { rewrite fdot_right, matmul_assoc. fold N. now apply form_below. }
  assert (T3 : 0 <= fdot k r (matmul k N Y) (matmul k N Y)) by (rewrite <- frob2_fdot; apply frob2_ge0).
  assert (T4 : 4 * mu * fdot k r SY Y <= fdot k r (matmul k L X) (matmul k L X) + 4 * fdot k r SY SY).
  { unfold fdot. rewrite <- !Sum_scal, <- Sum_plus. apply Sum_le; intros i Hi.
    assert (R := HY (Y i) (s i) (Hs i Hi)). unfold L. rewrite matmul_assoc.
    assert (Q : matmul r Y (matmul k (transpose X) X) i = matvec k (transpose X) (matvec r X (Y i))).
    { rewrite matmul_row. spread. apply matvec_matmul. }
    rewrite Q. fold (dot r (matvec k (transpose X) (matvec r X (Y i))) (matvec k (transpose X) (matvec r X (Y i)))).
    rewrite <- sq_dot. unfold SY.
    replace (Sum r (fun j => matmul k (diagonal s) Y i j * Y i j)) with (s i * sq r (Y i)).
    2:{ unfold sq. rewrite <- Sum_scal. apply Sum_ext; intros. rewrite diagonal_l by easy. ring. }
    replace (Sum r (fun j => matmul k (diagonal s) Y i j * matmul k (diagonal s) Y i j)) with (s i ^ 2 * sq r (Y i)).
    2:{ unfold sq. rewrite <- Sum_scal. apply Sum_ext; intros. rewrite diagonal_l by easy. ring. }
    lra. }
  assert (T5 : 0 <= fdot k r (matmul k G Y) (matmul k G Y)) by (rewrite <- frob2_fdot; apply frob2_ge0).
  assert (T6 : 0 <= fdot k r (matmul k L X) (matmul k G Y)).
  { rewrite fdot_right, matmul_assoc. fold L. apply form_gram. }
  assert (T7 : sigma * frob2 k k N <= fdot k r (matmul k L X) SY).
  { rewrite fdot_right. unfold SY. rewrite matmul_assoc. fold L.
    replace (frob2 k k N) with (frob2 k k L); [now apply diagonal_below|].
    rewrite frob2_transpose. unfold L. now spread. }
  assert (T8 : sigma * frob2 k k G <= fdot k r (matmul k G Y) SY).
  { rewrite fdot_right. unfold SY. rewrite matmul_assoc. fold G. now apply diagonal_below. }
  rewrite (fdot_sym k r (matmul k A X) (matmul k N Y)), (fdot_sym k r (matmul k G Y) (matmul k L X)),
    !(fdot_sym k r SY (matmul k _ _)).
  assert (P1 := frob2_ge0 k k A). assert (P2 := frob2_ge0 k k N). assert (P3 := frob2_ge0 k k G).
  assert (U1 : mu * frob2 k k A <= kappa * frob2 k k A) by (apply Rmult_le_compat_r; easy).
  assert (U2 : mu * frob2 k k N <= kappa * frob2 k k N) by (apply Rmult_le_compat_r; easy).
  assert (U3 : mu * frob2 k k G <= 4 * sigma * frob2 k k G)
  by (apply Rmult_le_compat_r; lra).
  rewrite Hk in U2. lra.
Qed.

(** XXᵀ ⪰ 2σ − ‖XXᵀ − 2S‖ *)
Lemma outer_below k r s X sigma a w : (forall i, (i < k)%nat -> sigma <= s i) ->
  (forall v, - a * sq k v <= dot k v (matvec k (mminus (matmul r X (transpose X)) (mscal 2 (diagonal s))) v)) ->
  (2 * sigma - a) * sq k w <= sq r (matvec k (transpose X) w).
Proof.
  intros Hs HA. rewrite (sq_dot r), <- dot_matvec, <- matvec_matmul.
  replace (matmul r X (transpose X)) with
    (mplus (mminus (matmul r X (transpose X)) (mscal 2 (diagonal s))) (mscal 2 (diagonal s)))
    by (matrix_ext; unfold mplus, mminus; ring).
  rewrite form_plus. specialize (HA w).
  enough (2 * sigma * sq k w <= dot k w (matvec k (mscal 2 (diagonal s)) w)) by lra.
  unfold sq, dot. rewrite <- Sum_scal. apply Sum_le; intros i Hi. unfold matvec.
  rewrite (Sum_single k _ i Hi).
  - unfold mscal, diagonal. rewrite Nat.eqb_refl. assert (K := Hs i Hi). assert (L := pow2_ge_0 (w i)). nra.
  - intros j _ Hj. apply not_eq_sym, Nat.eqb_neq in Hj. unfold mscal, diagonal. rewrite Hj. ring.
Qed.

Lemma descending_least k s : descending k s -> forall i, (i < k)%nat -> s (k - 1)%nat <= s i.
Proof. intros [H _] i Hi. apply H; lia. Qed.

Lemma below_saddle f sigma : 0 <= sigma -> f <= / 2 * sigma ^ 2 -> sqrt (2 * f) <= sigma.
Proof. intros Hs H. rewrite <- (sqrt_pow2 sigma Hs). apply sqrt_le_1_alt. lra. Qed.

(** The PL inequality for k = m = d ≤ r, given a bound of rows *)
Lemma pl_below d r s P Q M U V mu : (0 < d)%nat -> svd d d d s P Q M -> descending d s ->
  let f := loss (/ 2) d d r M U V in let sigma := s (d - 1)%nat in let X := rot_plus d d P Q U V in
  let kappa := 2 * (sigma - sqrt (2 * f)) in
  f <= / 2 * sigma ^ 2 -> mu <= kappa ->
  ((forall w, kappa * sq d w <= sq r (matvec d (transpose X) w)) -> forall y t, sigma <= t ->
    4 * t * mu * sq r y <= sq r (matvec d (transpose X) (matvec r X y)) + 4 * t ^ 2 * sq r y) ->
  2 * mu * f <= slope2 (/ 2) d d r M U V.
Proof.
  intros Hd HM Hs f sigma X kappa Hf Hmu HY. set (Y := rot_minus d d P Q U V).
  assert (Hsig : 0 < sigma) by (apply Hs; lia). assert (Hl := descending_least d s Hs). fold sigma in Hl.
  assert (F := loss_rotated d d d r s P Q M U V (le_n _) (le_n _) HM).
  assert (G := slope_rotated d d d r s P Q M U V (le_n _) (le_n _) HM).
  destruct (HM) as (HP & HQ & _). rewrite (rot_gram d d d P Q U V) in G by easy.
  cbv zeta in F, G. replace (d + d - 2 * d)%nat with O in F, G by lia. fold X Y f in F, G.
  change (mplus (mplus (matmul d (transpose X) X) (matmul d (transpose Y) Y)) (matmul 0 _ _)) with
    (mplus (mplus (matmul d (transpose X) X) (matmul d (transpose Y) Y)) (fun _ _ => 0)) in G.
  replace (mplus (mplus (matmul d (transpose X) X) (matmul d (transpose Y) Y)) (fun _ _ => 0)) with
    (mplus (matmul d (transpose X) X) (matmul d (transpose Y) Y)) in G by (matrix_ext; unfold mplus; ring).
  set (A := mminus (matmul r X (transpose X)) (mscal 2 (diagonal s))) in *.
  assert (HF : frob2 0 0 (matmul r (rot_rest d d d P Q U V) (transpose (rot_rest d d d P Q U V))) = 0) by reflexivity.
  rewrite HF in F.
  assert (HF1 : forall B, frob2 d 0 B = 0) by (intros; unfold frob2; apply Sum_zero).
  rewrite !HF1 in F. change (frob2 0 r _) with 0 in G.
  assert (P1 := frob2_ge0 d d A). assert (P2 := frob2_ge0 d d (matmul r Y (transpose Y))).
  assert (P3 := frob2_ge0 d d (matmul r X (transpose Y))).
  assert (P4 : 0 <= fdot d r (matmul d (diagonal s) Y) Y).
  { rewrite fdot_sym. eapply Rle_trans; [|apply (diagonal_below d r s Y sigma Hl)].
    apply Rmult_le_pos; [lra|apply frob2_ge0]. }
  set (a := sqrt (8 * f)).
  assert (HA : forall v, - a * sq d v <= dot d v (matvec d A v)).
  { intros v. assert (K := quadratic_frobenius d A v). apply Rabs_le_between in K. destruct K as [K _].
    assert (sqrt (frob2 d d A) <= a) by (apply sqrt_le_1_alt; lra).
    assert (sqrt (frob2 d d A) * sq d v <= a * sq d v) by (apply Rmult_le_compat_r; [apply sq_ge0|easy]). lra. }
  assert (Ek : kappa = 2 * sigma - a) by (unfold kappa, a; rewrite root_8; ring).
  assert (HX : forall w, kappa * sq d w <= sq r (matvec d (transpose X) w)).
  { intros w. rewrite Ek. now apply (outer_below d r s X sigma a w). }
  assert (R := pl_core d r s X Y sigma a kappa mu Hl (Rlt_le _ _ Hsig) HA Ek (sqrt_pos _) Hmu HX (HY HX)).
  fold A in R. rewrite G. set (E8 := frob2 d d A + _ + _ + _) in R. replace E8 with (8 * f) in R by (unfold E8; lra).
  lra.
Qed.

(** On the slice f = f_0 and ‖∇f‖² = 4(s_d − √(2f_0)) f_0. *)
Lemma slice_point d r s P Q M f0 : (0 < d)%nat -> (d <= r)%nat -> svd d d d s P Q M -> descending d s ->
  0 < f0 <= / 2 * s (d - 1)%nat ^ 2 -> exists U V, loss (/ 2) d d r M U V = f0 /\
    slope2 (/ 2) d d r M U V / loss (/ 2) d d r M U V = 4 * (s (d - 1)%nat - sqrt (2 * f0)).
Proof.
  intros Hd Hdr HM Hs [H0 H1]. set (sigma := s (d - 1)%nat) in *. assert (Hsig : 0 < sigma) by (apply Hs; lia).
  set (rho := sqrt (2 * f0)). assert (Hr : rho <= sigma) by (apply below_saddle; lra).
    assert (Er : rho ^ 2 = 2 * f0) by (apply pow2_sqrt; lra).
    destruct (slice d d d r s P Q M (fun i => if Nat.eqb i (d - 1) then sqrt (2 * sigma - 2 * rho) else sqrt (2 * s i)))
      as (U & V & EL & ES); try lia; [easy|]. exists U, V.
    assert (Ex : forall i, (i < d)%nat -> (if Nat.eqb i (d - 1) then sqrt (2 * sigma - 2 * rho) else sqrt (2 * s i)) ^ 2
      = if Nat.eqb i (d - 1) then 2 * sigma - 2 * rho else 2 * s i).
    { intros i Hi. destruct (Nat.eqb i (d - 1)); apply pow2_sqrt; [lra|]. destruct Hs as [_ Hs]. specialize (Hs i Hi).
    lra. }
    rewrite (Sum_single d _ (d - 1)%nat) in EL; [|lia|
      intros i Hi Hn; rewrite Ex by easy; apply Nat.eqb_neq in Hn; rewrite Hn; ring].
    rewrite (Sum_single d _ (d - 1)%nat) in ES; [|lia|
      intros i Hi Hn; rewrite Ex by easy; apply Nat.eqb_neq in Hn; rewrite Hn; ring].
    rewrite !Ex, Nat.eqb_refl in EL, ES by lia. fold sigma in EL, ES.
    replace ((2 * sigma - 2 * rho - 2 * sigma) ^ 2) with (4 * rho ^ 2) in EL, ES by ring. rewrite Er in EL, ES.
    assert (EF : loss (/ 2) d d r M U V = f0) by lra. split; [easy|]. rewrite EF.
    apply Rmult_eq_reg_r with f0; [|lra]. field_simplify; lra.
Qed.

(** pa-theorem-n
    Covers: the whole statement.
    Reads: let M̃ be a d × d matrix, d ≥ 1, with a singular value decomposition PSQᵀ, s_1 ≥ … ≥ s_d > 0, and f = ½‖UVᵀ − M̃‖² + ⅛‖UᵀU − VᵀV‖² for d × d factors, with the gradients of pa-lemma-i. Wherever f ≤ ½ s_d², ‖∇f‖² ≥ 4(s_d − √(2f)) f. For 0 < f₀ ≤ ½ s_d² the infimum of ‖∇f‖²/f over 0 < f ≤ f₀ is 4(s_d − √(2f₀)), attained at a point with f = f₀.
    Mistake: `5 * (s (d - 1)%nat - sqrt (2 * loss` for `4 * (s (d - 1)%nat - sqrt (2 * loss`
    Mistake: without `descending d s ->`
    Mistake: `= 3 * (s (d - 1)%nat` for `= 4 * (s (d - 1)%nat`
*)
Theorem pa_theorem_n : forall d s P Q M, (0 < d)%nat -> svd d d d s P Q M -> descending d s ->
  (forall U V, loss (/ 2) d d d M U V <= / 2 * s (d - 1)%nat ^ 2 ->
    4 * (s (d - 1)%nat - sqrt (2 * loss (/ 2) d d d M U V)) * loss (/ 2) d d d M U V <= slope2 (/ 2) d d d M U V) /\
  (forall f0, 0 < f0 <= / 2 * s (d - 1)%nat ^ 2 ->
    (forall U V, 0 < loss (/ 2) d d d M U V <= f0 ->
      4 * (s (d - 1)%nat - sqrt (2 * f0)) <= slope2 (/ 2) d d d M U V / loss (/ 2) d d d M U V) /\
    exists U V, loss (/ 2) d d d M U V = f0 /\
      slope2 (/ 2) d d d M U V / loss (/ 2) d d d M U V = 4 * (s (d - 1)%nat - sqrt (2 * f0))).
Proof.
  intros d s P Q M Hd HM Hs. set (sigma := s (d - 1)%nat). assert (Hsig : 0 < sigma) by (apply Hs; lia).
  assert (PL : forall U V, loss (/ 2) d d d M U V <= / 2 * sigma ^ 2 ->
    4 * (sigma - sqrt (2 * loss (/ 2) d d d M U V)) * loss (/ 2) d d d M U V <= slope2 (/ 2) d d d M U V).
  { intros U V Hf. set (f := loss _ _ _ _ _ _ _) in *. assert (K := below_saddle f sigma (Rlt_le _ _ Hsig) Hf).
    replace (4 * (sigma - sqrt (2 * f)) * f) with (2 * (2 * (sigma - sqrt (2 * f))) * f) by ring.
    apply (pl_below d d s P Q M U V); try easy; [apply Rle_refl|]. intros HX y t Ht.
    fold f in HX |- *. fold sigma in HX, Ht |- *. set (kappa := 2 * (sigma - sqrt (2 * f))) in *.
    assert (L := sq_ge0 d y). set (X := rot_plus d d P Q U V) in *.
    assert (B : kappa ^ 2 * sq d y <= sq d (matvec d (transpose X) (matvec d X y))).
    { destruct (Req_dec kappa 0) as [Z|Z]; [rewrite Z; rewrite pow_ne_zero by lia; rewrite Rmult_0_l; apply sq_ge0|].
      apply square_bound; [unfold kappa in *; lra|easy]. }
    assert (0 <= (kappa - 2 * t) ^ 2 * sq d y) by (apply Rmult_le_pos; [apply pow2_ge_0|easy]). lra. }
  split; [exact PL|]. intros f0 [H0 H1]. split.
  - intros U V [Hp Hf]. assert (K := PL U V ltac:(lra)). set (f := loss _ _ _ _ _ _ _) in *.
    apply Rle_trans with (4 * (sigma - sqrt (2 * f))).
    + assert (sqrt (2 * f) <= sqrt (2 * f0)) by (apply sqrt_le_1_alt; lra). lra.
    + apply Rmult_le_reg_r with f; [easy|]. replace (slope2 (/ 2) d d d M U V / f * f) with (slope2 (/ 2) d d d M U V)
        by (field; lra). easy.
  - apply (slice_point d d s P Q M f0); (easy || lia).
Qed.
