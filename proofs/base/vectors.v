(** Vectors of ℝᵈ and matrices as functions of indices; what lies beyond the last index is never read. *)
Require Import Reals Lra Lia FunctionalExtensionality.
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

(** x + s v, and the unit vector e_i: 1 at i and 0 elsewhere *)
Definition along (x v : vector) (s : R) : vector := fun i => x i + s * v i.
Definition delta (i j : nat) : R := if (i =? j)%nat then 1 else 0.

(** A x for a matrix of n columns, A B for n inner indices, Aᵀ, and ‖A‖²_F of k rows and n columns *)
Definition matvec (n : nat) (A : matrix) (x : vector) : vector := fun i => Sum n (fun j => A i j * x j).
Definition matmul (n : nat) (A B : matrix) : matrix := fun i k => Sum n (fun j => A i j * B j k).
Definition transpose (A : matrix) : matrix := fun i j => A j i.
Definition frob2 (k n : nat) (A : matrix) : R := Sum k (fun i => Sum n (fun j => A i j ^ 2)).

(** Jᵀ w for a matrix of n rows *)
Definition pullback (n : nat) (J : matrix) (w : vector) : vector := matvec n (transpose J) w.

Lemma along_0 x v : along x v 0 = x.
Proof. apply functional_extensionality; intros i. unfold along. ring. Qed.

Lemma along_to x x' : along x (vminus x' x) 1 = x'.
Proof. apply functional_extensionality; intros i. unfold along, vminus. ring. Qed.

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
  unfold dot, sq. rewrite (Sum_ext d _ (fun i => 1 * (x i * y i))), (Sum_ext d (fun i => x i ^ 2) (fun i => 1 * x i ^
    2)),
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

Lemma delta_same i : delta i i = 1.
Proof. unfold delta. now rewrite Nat.eqb_refl. Qed.

Lemma delta_other i j : j <> i -> delta i j = 0.
Proof. intros H. unfold delta. destruct (Nat.eqb_spec i j); [now subst|easy]. Qed.

Lemma Sum_delta n i f : (i < n)%nat -> Sum n (fun j => delta i j * f j) = f i.
Proof.
  intros H. rewrite (Sum_single n _ i H); [rewrite delta_same; ring|]. intros j _ N. rewrite delta_other by easy. ring.
Qed.

Lemma dot_delta d a k : (k < d)%nat -> dot d a (delta k) = a k.
Proof.
  intros H. unfold dot. rewrite (Sum_ext d _ (fun j => delta k j * a j)) by (intros; ring). now apply Sum_delta.
Qed.

Lemma dot_ext d x y v w : (forall a, (a < d)%nat -> x a = v a) -> (forall a, (a < d)%nat -> y a = w a) ->
  dot d x y = dot d v w.
Proof. intros H K. apply Sum_ext; intros. now rewrite H, K. Qed.

Lemma dot_plus_r d x y z : dot d x (vplus y z) = dot d x y + dot d x z.
Proof. rewrite !(dot_sym d x). apply dot_plus_l. Qed.

Lemma dot_scal_r d c x y : dot d x (vscal c y) = c * dot d x y.
Proof. rewrite !(dot_sym d x). apply dot_scal_l. Qed.

Lemma dot_minus_r d x y z : dot d x (vminus y z) = dot d x y - dot d x z.
Proof. now rewrite dot_sym, dot_minus_l, !(dot_sym d _ x). Qed.

Lemma sq_ext d x y : (forall i, (i < d)%nat -> x i = y i) -> sq d x = sq d y.
Proof. intros H. apply Sum_ext. intros. now rewrite H. Qed.

Lemma sq_opp d x y : sq d (vminus x y) = sq d (vminus y x).
Proof. apply Sum_ext. intros. unfold vminus. ring. Qed.

Lemma sq_zero d x : sq d x = 0 -> forall i, (i < d)%nat -> x i = 0.
Proof.
  intros H i Hi. assert (T := Sum_term d (fun i => x i ^ 2) i Hi (fun j _ => pow2_ge_0 (x j))).
  unfold sq in H. assert (S := pow2_ge_0 (x i)). cbv beta in T. apply Rsqr_0_uniq. rewrite Rsqr_pow2. lra.
Qed.

Lemma norm_le1 d x : vnorm d x <= 1 <-> sq d x <= 1.
Proof.
  split; intros H; [apply norm_le_sq in H; lra|]. apply norm_le; lra.
Qed.

Lemma norm_eq1 d x : vnorm d x = 1 <-> sq d x = 1.
Proof.
  split; intros H; [rewrite <- norm_sq, H; ring|]. unfold vnorm. rewrite H. apply sqrt_1.
Qed.

Lemma norm_ext d x y : (forall i, (i < d)%nat -> x i = y i) -> vnorm d x = vnorm d y.
Proof. intros H. unfold vnorm. now rewrite (sq_ext d x y H). Qed.

Lemma norm_zero d x : (forall i, (i < d)%nat -> x i = 0) -> vnorm d x = 0.
Proof.
  intros H. unfold vnorm, sq. rewrite (Sum_ext d _ (fun _ => 0)) by (intros; rewrite H by easy; ring).
  rewrite Sum_zero. apply sqrt_0.
Qed.

Lemma coordinate d x i : (i < d)%nat -> Rabs (x i) <= vnorm d x.
Proof.
  intros H. unfold vnorm. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. rewrite Rsqr_pow2.
  apply (Sum_term d (fun i => x i ^ 2)); [easy|]. intros; apply pow2_ge_0.
Qed.

Lemma norm_swap d x y : vnorm d (vminus x y) = vnorm d (vminus y x).
Proof. unfold vnorm. f_equal. apply Sum_ext; intros. unfold vminus. ring. Qed.

Lemma norm_opp d x : vnorm d (vscal (-1) x) = vnorm d x.
Proof. rewrite norm_scal, Rabs_left by lra. ring. Qed.

Lemma norm_minus d a b : vnorm d (vminus b a) <= vnorm d b + vnorm d a.
Proof.
  rewrite (norm_ext d _ (vplus b (vscal (-1) a))) by (intros; unfold vminus, vplus, vscal; ring).
  eapply Rle_trans; [apply norm_triangle|]. rewrite norm_opp. lra.
Qed.

Lemma matvec_plus n A x z : matvec n A (vplus x z) = vplus (matvec n A x) (matvec n A z).
Proof.
  apply functional_extensionality; intros k. unfold matvec, vplus. rewrite <- Sum_plus. apply Sum_ext; intros; ring.
Qed.

Lemma matvec_minus n A x z : matvec n A (vminus x z) = vminus (matvec n A x) (matvec n A z).
Proof.
  apply functional_extensionality; intros k. unfold matvec, vminus. rewrite <- Sum_minus. apply Sum_ext; intros; ring.
Qed.

Lemma matvec_scal n A c x : matvec n A (vscal c x) = vscal c (matvec n A x).
Proof.
  apply functional_extensionality; intros k. unfold matvec, vscal. rewrite <- Sum_scal. apply Sum_ext; intros; ring.
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
  apply functional_extensionality; intros i. unfold matvec, matmul.
  rewrite (Sum_ext n _ (fun j => Sum m (fun l => A i l * B l j * v j))).
  2:{ intros. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring. }
  rewrite Sum_swap. apply Sum_ext; intros. rewrite <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma matvec_ext n A v w : (forall j, (j < n)%nat -> v j = w j) -> matvec n A v = matvec n A w.
Proof.
  intros H. apply functional_extensionality; intros i. apply Sum_ext; intros. now rewrite H.
Qed.

(** ‖A x‖² ≤ ‖A‖²_F ‖x‖² *)
Lemma matvec_sq m n A v : sq m (matvec n A v) <= frob2 m n A * sq n v.
Proof.
  unfold frob2. rewrite Rmult_comm, <- Sum_scal. apply Sum_le; intros i _. rewrite Rmult_comm. apply (cauchy_sq n (A
    i) v).
Qed.

(** U / ‖U‖ *)
Lemma unit_along d U : vnorm d U <> 0 -> vnorm d (vscal (/ vnorm d U) U) = 1 /\
  dot d U (vscal (/ vnorm d U) U) = vnorm d U.
Proof.
  intros N. assert (P : 0 < vnorm d U) by (assert (G := norm_ge0 d U); lra).
  assert (I := Rinv_0_lt_compat _ P). split.
  - rewrite norm_scal, Rabs_right by lra. field. lra.
  - rewrite dot_sym, dot_scal_l, <- sq_dot, <- norm_sq. field. lra.
Qed.

(** In two dimensions or more every vector has a unit vector at a right angle. *)
Lemma right_angle d U : (2 <= d)%nat -> exists b, vnorm d b = 1 /\ dot d U b = 0.
Proof.
  intros Hd. destruct (Req_dec (U 0%nat ^ 2 + U 1%nat ^ 2) 0) as [Z|N].
  - exists (delta 0). split; [|rewrite dot_delta by lia; assert (0 <= U 1%nat ^ 2) by apply pow2_ge_0; nra].
    apply norm_eq1. rewrite sq_dot, dot_delta by lia. apply delta_same.
  - set (w k := if (k =? 0)%nat then U 1%nat else if (k =? 1)%nat then - U 0%nat else 0).
    destruct d as [|[|n]]; try lia.
    assert (Q : sq (S (S n)) w = U 0%nat ^ 2 + U 1%nat ^ 2).
    { unfold sq. rewrite !Sum_first. unfold w at 1 2. simpl Nat.eqb. cbv iota.
      rewrite (Sum_ext n _ (fun _ => 0)) by (intros; unfold w; simpl; ring). rewrite Sum_zero. ring. }
    assert (O : dot (S (S n)) U w = 0).
    { unfold dot. rewrite !Sum_first. unfold w at 1 2. simpl Nat.eqb. cbv iota.
      rewrite (Sum_ext n _ (fun _ => 0)) by (intros; unfold w; simpl; ring). rewrite Sum_zero. ring. }
    assert (Nw : vnorm (S (S n)) w <> 0) by (intros Z; rewrite <- norm_sq, Z in Q; lra).
    exists (vscal (/ vnorm (S (S n)) w) w). split; [now apply unit_along|]. rewrite dot_sym, dot_scal_l, dot_sym, O.
    ring.
Qed.
