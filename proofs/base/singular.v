(** The largest and the smallest singular value, as supremum and infimum of ‖Mx‖ over unit vectors. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors.
Open Scope R_scope.

(** the lengths ‖Mx‖ of the images of unit vectors x of ℝⁿ, M with k rows and n columns *)
Definition lengths (k n : nat) (M : matrix) (y : R) : Prop := exists x, sq n x = 1 /\ y = vnorm k (matvec n M x).

(** ‖M‖ = sup ‖Mx‖ over unit vectors x, the spectral norm *)
Definition spectral (k n : nat) (M : matrix) : R := real (Lub_Rbar (lengths k n M)).

(** inf ‖Mx‖ over unit vectors x *)
Definition shortest (k n : nat) (M : matrix) : R := real (Glb_Rbar (lengths k n M)).

(** σ_min(M), the last of min(k, n) singular values: inf ‖Mᵀu‖ if M has no more rows than columns, else inf ‖Mx‖ *)
Definition sigma_min (k n : nat) (M : matrix) : R :=
  if (k <=? n)%nat then shortest n k (transpose M) else shortest k n M.

Lemma sq_ext d x y : (forall i, (i < d)%nat -> x i = y i) -> sq d x = sq d y.
Proof. intros H. apply Sum_ext. intros. now rewrite H. Qed.

Lemma norm_ext d x y : (forall i, (i < d)%nat -> x i = y i) -> vnorm d x = vnorm d y.
Proof. intros H. unfold vnorm. now rewrite (sq_ext d x y H). Qed.

Lemma matvec_ext n A B x y i : (forall j, (j < n)%nat -> A i j = B i j /\ x j = y j) -> matvec n A x i = matvec n B y i.
Proof. intros H. apply Sum_ext. intros j Hj. destruct (H j Hj) as [-> ->]. ring. Qed.

Lemma sq_zero d x : sq d x = 0 -> forall i, (i < d)%nat -> x i = 0.
Proof.
  intros H i Hi. assert (K := Sum_term d (fun i => x i ^ 2) i Hi ltac:(intros; apply pow2_ge_0)).
  unfold sq in H. rewrite H in K. simpl in K. assert (0 <= x i * x i) by apply Rle_0_sqr. nra.
Qed.

Lemma norm_zero d x : vnorm d x = 0 -> sq d x = 0.
Proof. intros H. rewrite <- norm_sq, H. ring. Qed.

Lemma norm_one d x : sq d x = 1 -> vnorm d x = 1.
Proof. intros H. unfold vnorm. rewrite H. apply sqrt_1. Qed.

Lemma matvec_scal n M c x i : matvec n M (vscal c x) i = c * matvec n M x i.
Proof. unfold matvec. rewrite <- Sum_scal. apply Sum_ext. intros. unfold vscal. ring. Qed.

Lemma matvec_zero n M x i : (forall j, (j < n)%nat -> x j = 0) -> matvec n M x i = 0.
Proof. intros H. unfold matvec. rewrite <- (Sum_zero n). apply Sum_ext. intros j Hj. rewrite H by easy. ring. Qed.

Lemma norm_null d x : (forall i, (i < d)%nat -> x i = 0) -> vnorm d x = 0.
Proof.
  intros H. unfold vnorm. rewrite (sq_ext d x (fun _ => 0)) by easy.
  unfold sq. rewrite (Sum_ext d _ (fun _ => 0)), Sum_zero by (intros; ring). apply sqrt_0.
Qed.

(** ⟨y, Mx⟩ = ⟨Mᵀy, x⟩ *)
Lemma adjoint k n M x y : dot k y (matvec n M x) = dot n (matvec k (transpose M) y) x.
Proof.
  unfold dot, matvec, transpose. rewrite (Sum_ext k _ (fun i => Sum n (fun j => y i * (M i j * x j)))).
  - rewrite Sum_swap. apply Sum_ext. intros j _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros. ring.
  - intros. now rewrite Sum_scal.
Qed.

(** A(Bx) = (AB)x *)
Lemma matvec_matvec m n A B x i : matvec m A (matvec n B x) i = matvec n (matmul m A B) x i.
Proof.
  unfold matvec, matmul. rewrite (Sum_ext m _ (fun j => Sum n (fun l => A i j * B j l * x l))).
  - rewrite Sum_swap. apply Sum_ext. intros l _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros. ring.
  - intros j _. rewrite <- Sum_scal. apply Sum_ext. intros. ring.
Qed.

(** ‖Mx‖² ≤ ‖M‖²_F ‖x‖² *)
Lemma frob_apply k n M x : sq k (matvec n M x) <= frob2 k n M * sq n x.
Proof.
  unfold frob2. rewrite Rmult_comm, <- Sum_scal. apply Sum_le. intros i _.
  rewrite Rmult_comm. apply (cauchy_sq n (M i) x).
Qed.

Lemma lengths_bounded k n M y : lengths k n M y -> 0 <= y <= sqrt (frob2 k n M).
Proof.
  intros [x [H ->]]. split; [apply norm_ge0|]. unfold vnorm. apply sqrt_le_1_alt.
  assert (K := frob_apply k n M x). rewrite H in K. lra.
Qed.

(** every vector is a multiple of a unit vector *)
Lemma unit_of n x : sq n x <> 0 -> exists u, sq n u = 1 /\ forall i, x i = vnorm n x * u i.
Proof.
  intros H. assert (P : vnorm n x <> 0) by (intros E; apply H, norm_zero, E).
  exists (vscal (/ vnorm n x) x). split.
  - rewrite sq_scal, <- norm_sq. now field.
  - intros i. unfold vscal. now field.
Qed.

Lemma norm_matvec_scal k n M c u x : (forall i, x i = c * u i) -> 0 <= c ->
  vnorm k (matvec n M x) = c * vnorm k (matvec n M u).
Proof.
  intros H Hc. rewrite (norm_ext k _ (vscal c (matvec n M u))).
  - rewrite norm_scal. now rewrite Rabs_right by lra.
  - intros i _. unfold vscal. rewrite <- matvec_scal. apply matvec_ext. intros j _. split; [easy|apply H].
Qed.

Lemma spectral_unit k n M x : sq n x = 1 -> vnorm k (matvec n M x) <= spectral k n M.
Proof.
  intros H. destruct (Lub_Rbar_correct (lengths k n M)) as [U L]. unfold spectral.
  assert (A := U (vnorm k (matvec n M x)) ltac:(now exists x)).
  assert (B := L (Finite (sqrt (frob2 k n M))) ltac:(intros y Hy; apply lengths_bounded, Hy)).
  destruct (Lub_Rbar (lengths k n M)); simpl in *; easy.
Qed.

Lemma spectral_ge0 k n M : 0 <= spectral k n M.
Proof.
  destruct n.
  - unfold spectral. replace (Lub_Rbar (lengths k 0 M)) with m_infty; [simpl; lra|].
    symmetry. apply is_lub_Rbar_unique. split; [intros y [x [H _]]; unfold sq in H; simpl in H; lra|now intros [| |] _].
  - apply Rle_trans with (vnorm k (matvec (S n) M (fun i => if (i =? 0)%nat then 1 else 0))); [apply norm_ge0|].
    apply spectral_unit. unfold sq. rewrite (Sum_single (S n) _ 0) by (lia || (intros i _ Hi; apply Nat.eqb_neq in Hi;
      rewrite Hi; ring)).
    simpl. ring.
Qed.

(** ‖Mx‖ ≤ ‖M‖‖x‖ *)
Lemma spectral_apply k n M x : vnorm k (matvec n M x) <= spectral k n M * vnorm n x.
Proof.
  destruct (Req_dec (sq n x) 0) as [Z|Z].
  - rewrite norm_null; [apply Rmult_le_pos; [apply spectral_ge0|apply norm_ge0]|].
    intros i _. apply matvec_zero. now apply sq_zero.
  - destruct (unit_of n x Z) as [u [U E]]. rewrite (norm_matvec_scal k n M _ u x E (norm_ge0 _ _)), Rmult_comm.
    apply Rmult_le_compat_r; [apply norm_ge0|now apply spectral_unit].
Qed.

Lemma spectral_le k n M c : 0 <= c -> (forall x, sq n x = 1 -> vnorm k (matvec n M x) <= c) -> spectral k n M <= c.
Proof.
  intros Hc H. destruct (Lub_Rbar_correct (lengths k n M)) as [_ L]. unfold spectral.
  assert (B := L (Finite c) ltac:(intros y [x [U ->]]; apply H, U)).
  destruct (Lub_Rbar (lengths k n M)); simpl in *; easy || lra.
Qed.

(** ‖M‖ ≤ ‖M‖_F *)
Lemma spectral_frob k n M : spectral k n M <= sqrt (frob2 k n M).
Proof.
  apply spectral_le; [apply sqrt_pos|]. intros x H. apply (lengths_bounded k n M). now exists x.
Qed.

Lemma shortest_unit k n M x : sq n x = 1 -> shortest k n M <= vnorm k (matvec n M x).
Proof.
  intros H. destruct (Glb_Rbar_correct (lengths k n M)) as [U L]. unfold shortest.
  assert (A := U (vnorm k (matvec n M x)) ltac:(now exists x)).
  assert (B := L (Finite 0) ltac:(intros y Hy; apply (lengths_bounded k n M), Hy)).
  destruct (Glb_Rbar (lengths k n M)); simpl in *; easy.
Qed.

Lemma shortest_ge k n M c : (0 < n)%nat -> (forall x, sq n x = 1 -> c <= vnorm k (matvec n M x)) -> c <= shortest k n M.
Proof.
  intros Hn H. destruct (Glb_Rbar_correct (lengths k n M)) as [U L]. unfold shortest.
  assert (B := L (Finite c) ltac:(intros y [x [K ->]]; apply H, K)).
  set (e := fun i : nat => if (i =? 0)%nat then 1 else 0).
  assert (sq n e = 1).
  { unfold sq. rewrite (Sum_single n _ 0) by (lia || (intros i _ Hi; apply Nat.eqb_neq in Hi; unfold e; rewrite Hi;
      ring)).
    unfold e. simpl. ring. }
  assert (A := U (vnorm k (matvec n M e)) ltac:(now exists e)).
  destruct (Glb_Rbar (lengths k n M)); simpl in *; easy.
Qed.

Lemma shortest_ge0 k n M : 0 <= shortest k n M.
Proof.
  destruct n; [|apply shortest_ge; [lia|intros; apply norm_ge0]].
  unfold shortest. replace (Glb_Rbar (lengths k 0 M)) with p_infty; [simpl; lra|].
  symmetry. apply is_glb_Rbar_unique. split; [intros y [x [H _]]; unfold sq in H; simpl in H; lra|now intros [| |] _].
Qed.

(** inf ‖Mu‖ · ‖x‖ ≤ ‖Mx‖ *)
Lemma shortest_apply k n M x : shortest k n M * vnorm n x <= vnorm k (matvec n M x).
Proof.
  destruct (Req_dec (sq n x) 0) as [Z|Z].
  - unfold vnorm at 1. rewrite Z, sqrt_0, Rmult_0_r. apply norm_ge0.
  - destruct (unit_of n x Z) as [u [U E]]. rewrite (norm_matvec_scal k n M _ u x E (norm_ge0 _ _)), Rmult_comm.
    apply Rmult_le_compat_l; [apply norm_ge0|now apply shortest_unit].
Qed.

Lemma dot_self d x : dot d x x = vnorm d x ^ 2.
Proof. now rewrite norm_sq, sq_dot. Qed.

(** ‖Mᵀ‖ ≤ ‖M‖ *)
Lemma spectral_transpose k n M : spectral n k (transpose M) <= spectral k n M.
Proof.
  apply spectral_le; [apply spectral_ge0|]. intros y Hy. set (z := matvec k (transpose M) y).
  assert (A : vnorm n z ^ 2 <= spectral k n M * vnorm n z).
  { rewrite <- dot_self. unfold z at 1. rewrite <- adjoint.
    apply Rle_trans with (vnorm k y * vnorm k (matvec n M z)); [eapply Rle_trans; [apply Rle_abs|apply cauchy]|].
    rewrite (norm_one k y Hy), Rmult_1_l. apply spectral_apply. }
  assert (B := norm_ge0 n z). destruct (Req_dec (vnorm n z) 0) as [->|N]; [apply spectral_ge0|nra].
Qed.

(** ‖x‖ − ‖y‖ ≤ ‖x + y‖ *)
Lemma norm_reverse d x y : vnorm d x - vnorm d y <= vnorm d (vplus x y).
Proof.
  assert (H := norm_triangle d (vplus x y) (vscal (-1) y)).
  rewrite (norm_ext d _ x), norm_scal in H by (intros; unfold vplus, vscal; ring).
  replace (Rabs (-1)) with 1 in H by (rewrite Rabs_left; lra). lra.
Qed.
