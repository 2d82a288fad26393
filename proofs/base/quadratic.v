(** Matrices as quadratic forms: bounds by the Frobenius norm, and what a lower bound of XXᵀ says of XᵀX. *)
Require Import Reals Lra Lia.
From Shallow Require Import base.sums base.vectors base.frobenius base.dependence.
Open Scope R_scope.

Lemma sq_ext n x y : (forall i, (i < n)%nat -> x i = y i) -> sq n x = sq n y.
Proof. intros H. apply Sum_ext; intros. now rewrite H. Qed.

Lemma sq_zero n x : sq n x = 0 -> forall i, (i < n)%nat -> x i = 0.
Proof.
  intros H i Hi. assert (K := Sum_term n (fun i => x i ^ 2) i Hi (fun j _ => pow2_ge_0 (x j))).
  unfold sq in H. rewrite H in K. assert (L := pow2_ge_0 (x i)). cbv beta in K.
  destruct (Req_dec (x i) 0); [easy|]. assert (0 < x i ^ 2) by (rewrite <- Rsqr_pow2; now apply Rsqr_pos_lt). lra.
Qed.

Lemma frob2_zero m n A : frob2 m n A = 0 -> forall i j, (i < m)%nat -> (j < n)%nat -> A i j = 0.
Proof.
  intros H i j Hi Hj. rewrite frob2_rows in H. apply (sq_zero n (A i)); [|easy].
  assert (K := Sum_term m (fun i => sq n (A i)) i Hi (fun l _ => sq_ge0 n (A l))). cbv beta in K.
  assert (L := sq_ge0 n (A i)). lra.
Qed.

Lemma matvec_sq m n A v : sq m (matvec n A v) <= frob2 m n A * sq n v.
Proof.
  rewrite frob2_rows, Rmult_comm, <- Sum_scal. apply Sum_le; intros i _. rewrite Rmult_comm. apply cauchy_sq.
Qed.

(** |vᵀAv| ≤ ‖A‖ ‖v‖² in the Frobenius norm *)
Lemma quadratic_frobenius n A v : Rabs (dot n v (matvec n A v)) <= sqrt (frob2 n n A) * sq n v.
Proof.
  assert (H := cauchy n v (matvec n A v)). eapply Rle_trans; [exact H|]. unfold vnorm.
  apply Rle_trans with (sqrt (sq n v) * sqrt (frob2 n n A * sq n v)).
  - apply Rmult_le_compat_l; [apply sqrt_pos|]. apply sqrt_le_1_alt, matvec_sq.
  - rewrite sqrt_mult by (apply frob2_ge0 || apply sq_ge0).
    apply Req_le. transitivity (sqrt (frob2 n n A) * (sqrt (sq n v) * sqrt (sq n v))); [ring|].
    now rewrite sqrt_sqrt by apply sq_ge0.
Qed.

Lemma dot_matvec m n A v w : dot m v (matvec n A w) = dot n (matvec m (transpose A) v) w.
Proof.
  unfold dot, matvec, transpose.
  rewrite (Sum_ext m _ (fun i => Sum n (fun j => v i * A i j * w j))).
  2:{ intros. rewrite <- Sum_scal. apply Sum_ext; intros; ring. }
  rewrite Sum_swap. apply Sum_ext; intros. rewrite (Rmult_comm _ (w i)), <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma matvec_matmul m n A B v : matvec n (matmul m A B) v = matvec m A (matvec n B v).
Proof.
  apply FunctionalExtensionality.functional_extensionality; intros i. unfold matvec, matmul.
  rewrite (Sum_ext n _ (fun j => Sum m (fun l => A i l * B l j * v j))).
  2:{ intros. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring. }
  rewrite Sum_swap. apply Sum_ext; intros. rewrite <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma matvec_ext n A v w : (forall j, (j < n)%nat -> v j = w j) -> matvec n A v = matvec n A w.
Proof.
  intros H. apply FunctionalExtensionality.functional_extensionality; intros i. apply Sum_ext; intros. now rewrite H.
Qed.

(** Row i of AX is Xᵀ applied to row i of A. *)
Lemma matmul_row n A X i : matmul n A X i = matvec n (transpose X) (A i).
Proof.
  apply FunctionalExtensionality.functional_extensionality; intros j. apply Sum_ext; intros. unfold transpose. ring.
Qed.

(** If ‖Xᵀw‖² ≥ κ‖w‖² with κ > 0, every y is Xᵀw + y' with Xy' = 0. *)
Lemma row_space k r X kappa y : 0 < kappa -> (forall w, kappa * sq k w <= sq r (matvec k (transpose X) w)) ->
  exists w y', (forall j, (j < r)%nat -> y j = matvec k (transpose X) w j + y' j) /\
    forall i, (i < k)%nat -> matvec r X y' i = 0.
Proof.
  intros Hk H. destruct (onto k (matmul r X (transpose X)) (matvec r X y)) as (w & Hw).
  - intros x Hx. apply sq_zero. assert (K := H x).
    rewrite (sq_dot r), <- dot_matvec, <- matvec_matmul in K.
    assert (Z : dot k x (matvec k (matmul r X (transpose X)) x) = 0)
      by (unfold dot; rewrite (Sum_ext k _ (fun _ => 0)), Sum_zero; [easy|intros; rewrite Hx by easy; ring]).
    rewrite Z in K. assert (L := sq_ge0 k x). nra.
  - exists w, (fun j => y j - matvec k (transpose X) w j). split; [intros; ring|]. intros i Hi.
    transitivity (matvec r X y i - matvec r X (matvec k (transpose X) w) i).
    + unfold matvec. rewrite <- Sum_minus. apply Sum_ext; intros; ring.
    + rewrite <- matvec_matmul, Hw by easy. ring.
Qed.

(** Then ‖XᵀXy‖² ≥ κ²‖Xᵀw‖², and ‖y‖² = ‖Xᵀw‖² + ‖y'‖². *)
Lemma row_space_bound k r X kappa y : 0 < kappa -> (forall w, kappa * sq k w <= sq r (matvec k (transpose X) w)) ->
  exists p q, 0 <= p /\ 0 <= q /\ sq r y = p + q /\
    kappa ^ 2 * p <= sq r (matvec k (transpose X) (matvec r X y)) /\
    ((forall u, exists v, forall j, (j < r)%nat -> matvec k (transpose X) v j = u j) -> q = 0).
Proof.
  intros Hk H. destruct (row_space k r X kappa y Hk H) as (w & y' & Hy & H0).
  set (y1 := matvec k (transpose X) w) in *. exists (sq r y1), (sq r y').
  assert (O : forall u, dot r (matvec k (transpose X) u) y' = 0).
  { intros u. rewrite <- dot_matvec. unfold dot. rewrite (Sum_ext k _ (fun _ => 0)), Sum_zero; [easy|].
    intros i Hi. rewrite H0 by easy. ring. }
  split; [apply sq_ge0|split; [apply sq_ge0|split; [|split]]].
  - rewrite (sq_ext r y (vplus y1 y')) by (intros; now apply Hy). rewrite sq_plus. unfold y1. rewrite O. ring.
  - assert (E : forall i, (i < k)%nat -> matvec r X y i = matvec r X y1 i).
    { intros i Hi. rewrite <- (Rplus_0_r (matvec r X y1 i)), <- (H0 i Hi). unfold matvec. rewrite <- Sum_plus.
      apply Sum_ext; intros. rewrite Hy by easy. ring. }
    rewrite (matvec_ext k (transpose X) _ _ E).
    assert (B : kappa * sq r y1 <= sq k (matvec r X y1)).
    { assert (K := H w). fold y1 in K. assert (C := cauchy_sq k w (matvec r X y1)).
      rewrite dot_matvec in C. fold y1 in C. rewrite <- sq_dot in C.
      assert (P1 := sq_ge0 r y1). assert (P2 := sq_ge0 k (matvec r X y1)). assert (P3 := sq_ge0 k w).
      destruct (Rle_lt_or_eq_dec 0 _ P1) as [L|L]; [|rewrite <- L; lra].
      apply Rmult_le_reg_l with (sq r y1); [easy|].
      apply Rle_trans with (kappa * (sq k w * sq k (matvec r X y1))); [nra|]. nra. }
    specialize (H (matvec r X y1)). nra.
  - intros S. destruct (S y') as (v & Hv). rewrite sq_dot, <- (O v). apply Sum_ext; intros j Hj. now rewrite Hv.
Qed.

(** For square X: ‖XᵀXy‖ ≥ κ‖y‖. *)
Lemma square_bound k X kappa y : 0 < kappa -> (forall w, kappa * sq k w <= sq k (matvec k (transpose X) w)) ->
  kappa ^ 2 * sq k y <= sq k (matvec k (transpose X) (matvec k X y)).
Proof.
  intros Hk H. destruct (row_space_bound k k X kappa y Hk H) as (p & q & Hp & Hq & E & B & S).
  rewrite E, S, Rplus_0_r; [easy|]. intros u. apply onto. intros x Hx. apply sq_zero. specialize (H x).
  rewrite (sq_ext k _ (fun _ => 0) Hx) in H. assert (Z : sq k (fun _ => 0) = 0)
    by (unfold sq; rewrite (Sum_ext k _ (fun _ => 0)); [apply Sum_zero|intros; ring]).
  assert (L := sq_ge0 k x). nra.
Qed.

Lemma frob2_transpose' m n A : frob2 m n A = frob2 n m (transpose A).
Proof. now rewrite !frob2_fdot, fdot_transpose. Qed.

Lemma form_plus n A B v : dot n v (matvec n (mplus A B) v) = dot n v (matvec n A v) + dot n v (matvec n B v).
Proof.
  unfold dot. rewrite <- Sum_plus. apply Sum_ext; intros. rewrite <- Rmult_plus_distr_l. f_equal.
  unfold matvec. rewrite <- Sum_plus. apply Sum_ext; intros. unfold mplus. ring.
Qed.

Lemma root_8 f : sqrt (8 * f) = 2 * sqrt (2 * f).
Proof.
  replace (8 * f) with (2 ^ 2 * (2 * f)) by ring. rewrite sqrt_mult_alt by (apply pow2_ge_0).
  now rewrite sqrt_pow2 by lra.
Qed.
