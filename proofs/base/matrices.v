(** Matrices: sums, multiples and products, the Frobenius inner product and norm, matrices as vectors. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors.
Open Scope R_scope.

(** A + B, A − B and c A *)
Definition mplus (A B : matrix) : matrix := fun i j => A i j + B i j.
Definition mminus (A B : matrix) : matrix := fun i j => A i j - B i j.
Definition mscal (c : R) (A : matrix) : matrix := fun i j => c * A i j.

(** The matrix with the vector s on its diagonal and 0 elsewhere, and the identity, with rows e_i *)
Definition diagonal (s : vector) : matrix := fun i j => if Nat.eqb i j then s i else 0.
Definition identity : matrix := delta.

(** ⟨A, B⟩ = Σ A_ij B_ij for matrices of m rows and n columns *)
Definition fdot (m n : nat) (A B : matrix) : R := Sum m (fun i => Sum n (fun j => A i j * B i j)).

(** tr A = Σ A_ii, and the quadratic form ⟨w, A w⟩ *)
Definition trace (d : nat) (A : matrix) : R := Sum d (fun i => A i i).
Definition form (d : nat) (A : matrix) (w : vector) : R := dot d w (matvec d A w).

(** ‖A‖_F *)
Definition fnorm (k n : nat) (A : matrix) : R := sqrt (frob2 k n A).

(** A + e B *)
Definition shifted (A B : matrix) (e : R) : matrix := mplus A (mscal e B).

(** A and B agree on the first m rows and n columns *)
Definition same (m n : nat) (A B : matrix) : Prop := forall i j, (i < m)%nat -> (j < n)%nat -> A i j = B i j.

(** The first n columns of A, which has m rows, are orthonormal: AᵀA = I *)
Definition orthonormal (m n : nat) (A : matrix) : Prop := same n n (matmul m (transpose A) A) identity.

(** A matrix as a vector: n columns, one row after the other *)
Definition flat (n : nat) (A : matrix) : vector := fun k => A (k / n)%nat (k mod n)%nat.

Ltac matrix_ext := apply functional_extensionality; intro; apply functional_extensionality; intro.

Lemma fdot_ext m n A B A' B' : same m n A A' -> same m n B B' -> fdot m n A B = fdot m n A' B'.
Proof. intros H K. apply Sum_ext; intros i Hi. apply Sum_ext; intros j Hj. now rewrite H, K. Qed.

Lemma frob2_fdot m n A : frob2 m n A = fdot m n A A.
Proof. apply Sum_ext; intros. apply Sum_ext; intros. ring. Qed.

Lemma frob2_ext m n A B : (forall i j, (i < m)%nat -> (j < n)%nat -> A i j = B i j) -> frob2 m n A = frob2 m n B.
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

Lemma shifted_0 A B : shifted A B 0 = A.
Proof. matrix_ext. unfold shifted, mplus, mscal. ring. Qed.

Lemma shifted_to A B : shifted A (mminus B A) 1 = B.
Proof. matrix_ext. unfold shifted, mplus, mminus, mscal. ring. Qed.

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
Proof. intros H. change identity with (diagonal (fun _ => 1)). rewrite diagonal_l by easy. ring. Qed.

Lemma identity_r k A i j : (j < k)%nat -> matmul k A identity i j = A i j.
Proof. intros H. change identity with (diagonal (fun _ => 1)). rewrite diagonal_r by easy. ring. Qed.

(** Push products out of sums, and transposes to the single matrices. *)
Ltac spread := repeat (rewrite ?matmul_plus_l, ?matmul_plus_r, ?matmul_minus_l, ?matmul_minus_r, ?matmul_scal_l,
  ?matmul_scal_r, ?transpose_plus, ?transpose_minus, ?transpose_scal, ?transpose_matmul, ?transpose_transpose,
  ?fdot_plus_l, ?fdot_plus_r, ?fdot_minus_l, ?fdot_minus_r, ?fdot_scal_l, ?fdot_scal_r).

Lemma Sum_flat m n f : Sum (m * n) (fun k => f (k / n)%nat (k mod n)%nat) = Sum m (fun i => Sum n (f i)).
Proof.
  rewrite Sum_blocks. apply Sum_ext; intros i _. apply Sum_ext; intros j Hj. f_equal.
  - symmetry. apply (Nat.div_unique _ _ _ j); lia.
  - symmetry. apply (Nat.mod_unique _ _ i); lia.
Qed.

Lemma fdot_flat m n A B : fdot m n A B = dot (m * n) (flat n A) (flat n B).
Proof. symmetry. apply (Sum_flat m n (fun a b => A a b * B a b)). Qed.

Lemma frob2_flat m n A : frob2 m n A = sq (m * n) (flat n A).
Proof. symmetry. apply (Sum_flat m n (fun a b => A a b ^ 2)). Qed.

Lemma fnorm_flat m n A : fnorm m n A = vnorm (m * n) (flat n A).
Proof. unfold fnorm, vnorm. now rewrite frob2_flat. Qed.

Lemma fnorm_ge0 m n A : 0 <= fnorm m n A.
Proof. apply sqrt_pos. Qed.

Lemma fnorm_sq m n A : fnorm m n A ^ 2 = frob2 m n A.
Proof. apply pow2_sqrt, frob2_ge0. Qed.

Lemma fnorm_le m n A B : fnorm m n A <= fnorm m n B <-> frob2 m n A <= frob2 m n B.
Proof.
  split; intros H; [|apply sqrt_le_1_alt, H]. rewrite <- !fnorm_sq. apply pow_incr. split; [apply fnorm_ge0|easy].
Qed.

(** Cauchy–Schwarz *)
Lemma fdot_cauchy m n A B : Rabs (fdot m n A B) <= fnorm m n A * fnorm m n B.
Proof. rewrite fdot_flat, !fnorm_flat. apply cauchy. Qed.

Lemma fdot_le m n A B : fdot m n A B <= fnorm m n A * fnorm m n B.
Proof. eapply Rle_trans; [apply Rle_abs|apply fdot_cauchy]. Qed.

Lemma fdot_ge m n A B : - (fnorm m n A * fnorm m n B) <= fdot m n A B.
Proof. assert (H := fdot_cauchy m n A B). apply Rabs_le_between in H. lra. Qed.

Lemma fdot_ext_l m n A B V :
  (forall i j, (i < m)%nat -> (j < n)%nat -> A i j = B i j) -> fdot m n A V = fdot m n B V.
Proof. intros H. now apply fdot_ext. Qed.

Lemma fdot_shifted_l m n A B c V : fdot m n (shifted A B c) V = fdot m n A V + c * fdot m n B V.
Proof. unfold shifted. now rewrite fdot_plus_l, fdot_scal_l. Qed.

Lemma fdot_shifted_r m n A B c V : fdot m n V (shifted A B c) = fdot m n V A + c * fdot m n V B.
Proof. unfold shifted. now rewrite fdot_plus_r, fdot_scal_r. Qed.

Lemma frob2_shifted m n A B c :
  frob2 m n (shifted A B c) = frob2 m n A + 2 * c * fdot m n A B + c ^ 2 * frob2 m n B.
Proof. rewrite !frob2_fdot, fdot_shifted_l, !fdot_shifted_r, (fdot_sym m n B A). ring. Qed.

Lemma fnorm_shifted m n A B c : fnorm m n (shifted A B c) <= fnorm m n A + Rabs c * fnorm m n B.
Proof.
  rewrite !fnorm_flat, <- norm_scal. apply (norm_triangle (m * n) (flat n A) (vscal c (flat n B))).
Qed.

Lemma matvec_fnorm k n A w : vnorm k (matvec n A w) <= fnorm k n A * vnorm n w.
Proof.
  unfold fnorm, vnorm. rewrite <- sqrt_mult by (apply frob2_ge0 || apply sq_ge0). apply sqrt_le_1_alt, matvec_sq.
Qed.

Lemma frob2_zero m n A : frob2 m n A = 0 -> forall i j, (i < m)%nat -> (j < n)%nat -> A i j = 0.
Proof.
  intros H i j Hi Hj. rewrite frob2_rows in H. apply (sq_zero n (A i)); [|easy].
  assert (K := Sum_term m (fun i => sq n (A i)) i Hi (fun l _ => sq_ge0 n (A l))). cbv beta in K.
  assert (L := sq_ge0 n (A i)). lra.
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

(** Row i of AX is Xᵀ applied to row i of A. *)
Lemma matmul_row n A X i : matmul n A X i = matvec n (transpose X) (A i).
Proof.
  apply FunctionalExtensionality.functional_extensionality; intros j. apply Sum_ext; intros. unfold transpose. ring.
Qed.

Lemma form_plus n A B v : dot n v (matvec n (mplus A B) v) = dot n v (matvec n A v) + dot n v (matvec n B v).
Proof.
  unfold dot. rewrite <- Sum_plus. apply Sum_ext; intros. rewrite <- Rmult_plus_distr_l. f_equal.
  unfold matvec. rewrite <- Sum_plus. apply Sum_ext; intros. unfold mplus. ring.
Qed.

Lemma frob2_transpose n c A : frob2 n c A = frob2 c n (transpose A).
Proof. now rewrite !frob2_fdot, fdot_transpose. Qed.

Lemma same_trans m n A B C : same m n A B -> same m n B C -> same m n A C.
Proof. intros H K i j Hi Hj. now rewrite H, K. Qed.

Lemma same_refl m n A : same m n A A.
Proof. easy. Qed.

Lemma same_transpose m n A B : same m n A B -> same n m (transpose A) (transpose B).
Proof. intros H i j Hi Hj. now apply H. Qed.

(** column j *)
Definition column (A : matrix) (j : nat) : vector := fun i => A i j.

Lemma frob2_columns k n A : frob2 k n A = Sum n (fun j => sq k (column A j)).
Proof. apply Sum_swap. Qed.

(** u vᵀ *)
Definition outer (u v : vector) : matrix := fun i j => u i * v j.

Lemma frob2_outer n K u v : frob2 n K (outer u v) = sq n u * sq K v.
Proof.
  unfold frob2, outer. rewrite (Sum_ext n _ (fun i => sq K v * u i ^ 2)).
  - rewrite Sum_scal. unfold sq. ring.
  - intros i _. unfold sq. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma outer_left n A u v i j : matmul n (transpose A) (outer u v) i j = outer (pullback n A u) v i j.
Proof.
  unfold matmul, outer, pullback, matvec. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring.
Qed.
