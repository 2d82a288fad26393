(** Vectors of ℝᵈ and matrices as functions of indices; what lies beyond the last index is never read. *)
Require Import Reals Lra Lia.
From Shallow Require Import base.sums.
Open Scope R_scope.

(** vectors and matrices, by their indices *)
Definition vector := nat -> R.
Definition matrix := nat -> nat -> R.

(** ⟨x, y⟩, ‖x‖² and ‖x‖ in ℝᵈ *)
Definition dot (d : nat) (x y : vector) : R := Sum d (fun i => x i * y i).
Definition sq (d : nat) (x : vector) : R := Sum d (fun i => x i ^ 2).
Definition vnorm (d : nat) (x : vector) : R := sqrt (sq d x).

(** x + y, x − y and c x *)
Definition vplus (x y : vector) : vector := fun i => x i + y i.
Definition vminus (x y : vector) : vector := fun i => x i - y i.
Definition vscal (c : R) (x : vector) : vector := fun i => c * x i.

(** A x for a matrix of n columns, A B for n inner indices, Aᵀ, and ‖A‖²_F of k rows and n columns *)
Definition matvec (n : nat) (A : matrix) (x : vector) : vector := fun i => Sum n (fun j => A i j * x j).
Definition matmul (n : nat) (A B : matrix) : matrix := fun i k => Sum n (fun j => A i j * B j k).
Definition transpose (A : matrix) : matrix := fun i j => A j i.
Definition frob2 (k n : nat) (A : matrix) : R := Sum k (fun i => Sum n (fun j => A i j ^ 2)).

Lemma sq_dot d x : sq d x = dot d x x.
Proof. apply Sum_ext; intros; ring. Qed.

Lemma sq_ge0 d x : 0 <= sq d x.
Proof. apply Sum_ge0; intros; apply pow2_ge_0. Qed.

Lemma norm_ge0 d x : 0 <= vnorm d x.
Proof. apply sqrt_pos. Qed.

Lemma norm_sq d x : vnorm d x ^ 2 = sq d x.
Proof. unfold vnorm. apply pow2_sqrt, sq_ge0. Qed.

Lemma dot_sym d x y : dot d x y = dot d y x.
Proof. apply Sum_ext; intros; ring. Qed.

Lemma dot_plus_l d x y z : dot d (vplus x y) z = dot d x z + dot d y z.
Proof. unfold dot. rewrite <- Sum_plus. apply Sum_ext; intros; unfold vplus; ring. Qed.

Lemma dot_minus_l d x y z : dot d (vminus x y) z = dot d x z - dot d y z.
Proof. unfold dot. rewrite <- Sum_minus. apply Sum_ext; intros; unfold vminus; ring. Qed.

Lemma dot_scal_l d c x y : dot d (vscal c x) y = c * dot d x y.
Proof. unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros; unfold vscal; ring. Qed.

Lemma sq_plus d x y : sq d (vplus x y) = sq d x + 2 * dot d x y + sq d y.
Proof.
  unfold sq, dot. rewrite <- (Sum_scal d 2), <- !Sum_plus. apply Sum_ext; intros; unfold vplus; ring.
Qed.

Lemma sq_minus d x y : sq d (vminus x y) = sq d x - 2 * dot d x y + sq d y.
Proof.
  unfold sq, dot. rewrite <- (Sum_scal d 2), <- Sum_minus, <- Sum_plus. apply Sum_ext; intros; unfold vminus; ring.
Qed.

Lemma sq_scal d c x : sq d (vscal c x) = c ^ 2 * sq d x.
Proof. unfold sq. rewrite <- Sum_scal. apply Sum_ext; intros; unfold vscal; ring. Qed.

Lemma norm_scal d c x : vnorm d (vscal c x) = Rabs c * vnorm d x.
Proof.
  unfold vnorm. rewrite sq_scal, sqrt_mult by (apply pow2_ge_0 || apply sq_ge0).
  now rewrite <- Rsqr_pow2, sqrt_Rsqr_abs.
Qed.

Lemma cauchy_sq d x y : dot d x y ^ 2 <= sq d x * sq d y.
Proof.
  assert (H := Sum_cauchy d (fun _ => 1) x y ltac:(intros; lra)).
  unfold dot, sq. rewrite (Sum_ext d _ (fun i => 1 * (x i * y i))), (Sum_ext d (fun i => x i ^ 2) (fun i => 1 * x i ^ 2)),
    (Sum_ext d (fun i => y i ^ 2) (fun i => 1 * y i ^ 2)); [exact H|intros; ring|intros; ring|intros; ring].
Qed.

Lemma cauchy d x y : Rabs (dot d x y) <= vnorm d x * vnorm d y.
Proof.
  unfold vnorm. rewrite <- sqrt_mult by apply sq_ge0. rewrite <- sqrt_Rsqr_abs, Rsqr_pow2.
  apply sqrt_le_1_alt, cauchy_sq.
Qed.

Lemma norm_triangle d x y : vnorm d (vplus x y) <= vnorm d x + vnorm d y.
Proof.
  apply Rsqr_incr_0_var; [|apply Rplus_le_le_0_compat; apply norm_ge0].
  rewrite !Rsqr_pow2, norm_sq, sq_plus. assert (H := Rle_trans _ _ _ (Rle_abs _) (cauchy d x y)).
  rewrite <- !norm_sq. lra.
Qed.

Lemma norm_le d x r : 0 <= r -> sq d x <= r ^ 2 -> vnorm d x <= r.
Proof. intros Hr H. unfold vnorm. rewrite <- (sqrt_pow2 r Hr). now apply sqrt_le_1_alt. Qed.

Lemma norm_le_sq d x r : vnorm d x <= r -> sq d x <= r ^ 2.
Proof. intros H. rewrite <- norm_sq. apply pow_incr. split; [apply norm_ge0|easy]. Qed.
