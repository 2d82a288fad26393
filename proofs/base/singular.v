(** The largest and the smallest singular value, as supremum and infimum of ‖Mx‖ over unit vectors. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors.
Open Scope R_scope.

(** the lengths ‖Mx‖ of the images of unit vectors x of ℝⁿ, M with k rows and n columns *)
Definition lengths (k n : nat) (M : matrix) (y : R) : Prop := exists x, sq n x = 1 /\ y = vnorm k (matvec n M x).

(** inf ‖Mx‖ over unit vectors x *)
Definition shortest (k n : nat) (M : matrix) : R := real (Glb_Rbar (lengths k n M)).

(** σ_min(M), the last of min(k, n) singular values: inf ‖Mᵀu‖ if M has no more rows than columns, else inf ‖Mx‖ *)
Definition sigma_min (k n : nat) (M : matrix) : R :=
  if (k <=? n)%nat then shortest n k (transpose M) else shortest k n M.

Lemma sq_ext d x y : (forall i, (i < d)%nat -> x i = y i) -> sq d x = sq d y.
Proof. intros H. apply Sum_ext. intros. now rewrite H. Qed.

Lemma norm_ext d x y : (forall i, (i < d)%nat -> x i = y i) -> vnorm d x = vnorm d y.
Proof. intros H. unfold vnorm. now rewrite (sq_ext d x y H). Qed.

Lemma matvec_scal n M c x i : matvec n M (vscal c x) i = c * matvec n M x i.
Proof. unfold matvec. rewrite <- Sum_scal. apply Sum_ext. intros. unfold vscal. ring. Qed.

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
