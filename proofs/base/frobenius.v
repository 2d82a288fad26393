(** Matrices: sums, multiples, the Frobenius inner product and how products move from side to side in it. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Shallow Require Import base.sums base.vectors.
Open Scope R_scope.

Definition mplus (A B : matrix) : matrix := fun i j => A i j + B i j.
Definition mminus (A B : matrix) : matrix := fun i j => A i j - B i j.
Definition mscal (c : R) (A : matrix) : matrix := fun i j => c * A i j.

(** The matrix with the vector s on its diagonal and 0 elsewhere; with s = 1, the identity *)
Definition diagonal (s : vector) : matrix := fun i j => if Nat.eqb i j then s i else 0.
Definition identity : matrix := diagonal (fun _ => 1).

(** ⟨A, B⟩ = Σ A_ij B_ij for matrices of m rows and n columns *)
Definition fdot (m n : nat) (A B : matrix) : R := Sum m (fun i => Sum n (fun j => A i j * B i j)).

(** A and B agree on the first m rows and n columns *)
Definition same (m n : nat) (A B : matrix) : Prop := forall i j, (i < m)%nat -> (j < n)%nat -> A i j = B i j.

(** The first n columns of A, which has m rows, are orthonormal: AᵀA = I *)
Definition orthonormal (m n : nat) (A : matrix) : Prop := same n n (matmul m (transpose A) A) identity.

Ltac matrix_ext := apply functional_extensionality; intro; apply functional_extensionality; intro.

Lemma fdot_ext m n A B A' B' : same m n A A' -> same m n B B' -> fdot m n A B = fdot m n A' B'.
Proof. intros H K. apply Sum_ext; intros i Hi. apply Sum_ext; intros j Hj. now rewrite H, K. Qed.

Lemma frob2_fdot m n A : frob2 m n A = fdot m n A A.
Proof. apply Sum_ext; intros. apply Sum_ext; intros. ring. Qed.

Lemma frob2_ext m n A B : same m n A B -> frob2 m n A = frob2 m n B.
Proof. intros H. rewrite !frob2_fdot. now apply fdot_ext. Qed.

Lemma frob2_ge0 m n A : 0 <= frob2 m n A.
Proof. apply Sum_ge0; intros. apply Sum_ge0; intros. apply pow2_ge_0. Qed.

Lemma frob2_rows m n A : frob2 m n A = Sum m (fun i => sq n (A i)).
Proof. reflexivity. Qed.

Lemma fdot_sym m n A B : fdot m n A B = fdot m n B A.
Proof. apply Sum_ext; intros. apply Sum_ext; intros. ring. Qed.

Lemma fdot_plus_l m n A B C : fdot m n (mplus A B) C = fdot m n A C + fdot m n B C.
Proof.
  unfold fdot. rewrite <- Sum_plus. apply Sum_ext; intros. rewrite <- Sum_plus. apply Sum_ext; intros.
  unfold mplus. ring.
Qed.

Lemma fdot_minus_l m n A B C : fdot m n (mminus A B) C = fdot m n A C - fdot m n B C.
Proof.
  unfold fdot. rewrite <- Sum_minus. apply Sum_ext; intros. rewrite <- Sum_minus. apply Sum_ext; intros.
  unfold mminus. ring.
Qed.

Lemma fdot_scal_l m n c A B : fdot m n (mscal c A) B = c * fdot m n A B.
Proof.
  unfold fdot. rewrite <- Sum_scal. apply Sum_ext; intros. rewrite <- Sum_scal. apply Sum_ext; intros.
  unfold mscal. ring.
Qed.

Lemma fdot_plus_r m n A B C : fdot m n C (mplus A B) = fdot m n C A + fdot m n C B.
Proof. now rewrite fdot_sym, fdot_plus_l, !(fdot_sym m n C). Qed.

Lemma fdot_minus_r m n A B C : fdot m n C (mminus A B) = fdot m n C A - fdot m n C B.
Proof. now rewrite fdot_sym, fdot_minus_l, !(fdot_sym m n C). Qed.

Lemma fdot_scal_r m n c A B : fdot m n B (mscal c A) = c * fdot m n B A.
Proof. now rewrite fdot_sym, fdot_scal_l, (fdot_sym m n B). Qed.

Lemma fdot_transpose m n A B : fdot m n A B = fdot n m (transpose A) (transpose B).
Proof. unfold fdot, transpose. now rewrite Sum_swap. Qed.

(** ⟨A B, C⟩ = ⟨A, C Bᵀ⟩ = ⟨B, Aᵀ C⟩ *)
Lemma fdot_right m n k A B C : fdot m n (matmul k A B) C = fdot m k A (matmul n C (transpose B)).
Proof.
  apply Sum_ext; intros i _. unfold matmul, transpose.
  rewrite (Sum_ext n _ (fun j => Sum k (fun l => A i l * B l j * C i j))).
  2:{ intros. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring. }
  rewrite Sum_swap. apply Sum_ext; intros. rewrite <- Sum_scal. apply Sum_ext; intros. ring.
Qed.

Lemma transpose_matmul k A B : transpose (matmul k A B) = matmul k (transpose B) (transpose A).
Proof. matrix_ext. apply Sum_ext; intros. unfold transpose. ring. Qed.

Lemma transpose_plus A B : transpose (mplus A B) = mplus (transpose A) (transpose B).
Proof. reflexivity. Qed.

Lemma transpose_minus A B : transpose (mminus A B) = mminus (transpose A) (transpose B).
Proof. reflexivity. Qed.

Lemma transpose_scal c A : transpose (mscal c A) = mscal c (transpose A).
Proof. reflexivity. Qed.

Lemma transpose_transpose A : transpose (transpose A) = A.
Proof. reflexivity. Qed.

Lemma transpose_diagonal s : transpose (diagonal s) = diagonal s.
Proof.
  matrix_ext. unfold transpose, diagonal. rewrite Nat.eqb_sym. destruct (Nat.eqb _ _) eqn:H; [|easy].
  apply Nat.eqb_eq in H. now subst.
Qed.

Lemma fdot_left m n k A B C : fdot m n (matmul k A B) C = fdot k n B (matmul m (transpose A) C).
Proof.
  rewrite fdot_transpose, transpose_matmul, fdot_right, fdot_transpose.
  now rewrite transpose_matmul, !transpose_transpose.
Qed.

Lemma matmul_assoc k l A B C : matmul l (matmul k A B) C = matmul k A (matmul l B C).
Proof.
  matrix_ext. unfold matmul.
  rewrite (Sum_ext l _ (fun j => Sum k (fun i => A x i * (B i j * C j x0)))).
  2:{ intros. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring. }
  rewrite Sum_swap. apply Sum_ext; intros. now rewrite Sum_scal.
Qed.

Lemma matmul_plus_l k A B C : matmul k (mplus A B) C = mplus (matmul k A C) (matmul k B C).
Proof. matrix_ext. unfold matmul, mplus. rewrite <- Sum_plus. apply Sum_ext; intros; ring. Qed.

Lemma matmul_minus_l k A B C : matmul k (mminus A B) C = mminus (matmul k A C) (matmul k B C).
Proof. matrix_ext. unfold matmul, mminus. rewrite <- Sum_minus. apply Sum_ext; intros; ring. Qed.

Lemma matmul_scal_l k c A C : matmul k (mscal c A) C = mscal c (matmul k A C).
Proof. matrix_ext. unfold matmul, mscal. rewrite <- Sum_scal. apply Sum_ext; intros; ring. Qed.

Lemma matmul_plus_r k A B C : matmul k C (mplus A B) = mplus (matmul k C A) (matmul k C B).
Proof. matrix_ext. unfold matmul, mplus. rewrite <- Sum_plus. apply Sum_ext; intros; ring. Qed.

Lemma matmul_minus_r k A B C : matmul k C (mminus A B) = mminus (matmul k C A) (matmul k C B).
Proof. matrix_ext. unfold matmul, mminus. rewrite <- Sum_minus. apply Sum_ext; intros; ring. Qed.

Lemma matmul_scal_r k c A C : matmul k C (mscal c A) = mscal c (matmul k C A).
Proof. matrix_ext. unfold matmul, mscal. rewrite <- Sum_scal. apply Sum_ext; intros; ring. Qed.

Lemma matmul_same m n k A B A' B' : same m k A A' -> same k n B B' -> same m n (matmul k A B) (matmul k A' B').
Proof. intros H K i j Hi Hj. apply Sum_ext; intros. now rewrite H, K. Qed.

Lemma diagonal_l k s A i j : (i < k)%nat -> matmul k (diagonal s) A i j = s i * A i j.
Proof.
  intros Hi. unfold matmul, diagonal. rewrite (Sum_single k _ i Hi); [now rewrite Nat.eqb_refl|].
  intros l _ Hl. apply Nat.eqb_neq in Hl. rewrite Nat.eqb_sym, Hl. ring.
Qed.

Lemma diagonal_r k s A i j : (j < k)%nat -> matmul k A (diagonal s) i j = A i j * s j.
Proof.
  intros Hj. unfold matmul, diagonal. rewrite (Sum_single k _ j Hj); [now rewrite Nat.eqb_refl|].
  intros l _ Hl. apply Nat.eqb_neq in Hl. rewrite Hl. ring.
Qed.

Lemma identity_l k A i j : (i < k)%nat -> matmul k identity A i j = A i j.
Proof. intros H. unfold identity. rewrite diagonal_l by easy. ring. Qed.

Lemma identity_r k A i j : (j < k)%nat -> matmul k A identity i j = A i j.
Proof. intros H. unfold identity. rewrite diagonal_r by easy. ring. Qed.

(** Push products out of sums, and transposes to the single matrices. *)
Ltac spread := repeat (rewrite ?matmul_plus_l, ?matmul_plus_r, ?matmul_minus_l, ?matmul_minus_r, ?matmul_scal_l,
  ?matmul_scal_r, ?transpose_plus, ?transpose_minus, ?transpose_scal, ?transpose_matmul, ?transpose_transpose,
  ?fdot_plus_l, ?fdot_plus_r, ?fdot_minus_l, ?fdot_minus_r, ?fdot_scal_l, ?fdot_scal_r).
