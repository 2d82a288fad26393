(** Matrices as arguments of a loss: gradients, products in the Frobenius norm, least singular values. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.along base.runs.
Open Scope R_scope.

(** ⟨A, B⟩ = Σ A_ij B_ij, and the entries of A + s B and A − B *)
Definition frob_dot (k n : nat) (A B : matrix) : R := Sum k (fun i => dot n (A i) (B i)).
Definition mplus (A B : matrix) (s : R) : matrix := fun i j => A i j + s * B i j.
Definition mminus (A B : matrix) : matrix := fun i j => A i j - B i j.

(** ∇Φ(W) = G for a matrix W of k rows and n columns: the derivative of Φ at W in direction V is ⟨G, V⟩ *)
Definition matrix_gradient (k n : nat) (Phi : matrix -> R) (W G : matrix) : Prop :=
  forall V, is_derive (fun s => Phi (mplus W V s)) 0 (frob_dot k n G V).

(** ½‖F − Y‖²_F *)
Definition square_loss (n K : nat) (F Y : matrix) : R := frob2 n K (mminus F Y) / 2.

(** s is the least c with ‖B v‖ = c ‖v‖ for a v ≠ 0 of ℝᵏ: the least singular value of B on ℝᵏ; norm says ‖B v‖² *)
Definition least_singular (k : nat) (norm : vector -> R) (s : R) : Prop :=
  0 <= s /\ (forall v, s ^ 2 * sq k v <= norm v) /\ exists v, 0 < sq k v /\ norm v = s ^ 2 * sq k v.

(** column j *)
Definition column (A : matrix) (j : nat) : vector := fun i => A i j.

Lemma frob2_columns k n A : frob2 k n A = Sum n (fun j => sq k (column A j)).
Proof. apply Sum_swap. Qed.

Lemma frob_dot_left n l d A E V : frob_dot n d E (matmul l A V) = frob_dot l d (matmul n (transpose A) E) V.
Proof.
  unfold frob_dot, dot, matmul, transpose.
  rewrite (Sum_ext n _ (fun i => Sum d (fun j => Sum l (fun k => E i j * (A i k * V k j)))))
    by (intros; apply Sum_ext; intros; now rewrite Sum_scal).
  rewrite (Sum_ext n _ (fun i => Sum l (fun k => Sum d (fun j => E i j * (A i k * V k j))))) by (intros;
    apply Sum_swap).
  rewrite Sum_swap. apply Sum_ext; intros k _. rewrite Sum_swap. apply Sum_ext; intros j _.
  rewrite <- (Rmult_comm (V k j)), <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

(** If F is affine in W, the gradient of ½‖F − Y‖² is what the errors are pulled back to. *)
Lemma affine_gradient k m n K (F : matrix -> matrix) (L : matrix -> matrix) Y W G :
  (forall V s i j, F (mplus W V s) i j = F W i j + s * L V i j) ->
  (forall V, frob_dot n K (mminus (F W) Y) (L V) = frob_dot k m G V) ->
  matrix_gradient k m (fun W => square_loss n K (F W) Y) W G.
Proof.
  intros HF HG V. rewrite <- HG. unfold square_loss, frob2, frob_dot, dot, mminus.
  apply (is_derive_ext (fun s => Sum n (fun i => Sum K (fun j => (F W i j + s * L V i j - Y i j) ^ 2 / 2)))).
  { intros s. unfold Rdiv. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros i _. rewrite <- Sum_scal.
    apply Sum_ext; intros j _. rewrite HF. ring. }
  apply Sum_derive; intros i _. apply Sum_derive; intros j _. auto_derive; [easy|field].
Qed.

(** ‖Aᵀ E‖² ≥ s² ‖E‖² and ‖E Wᵀ‖² ≥ s² ‖E‖² *)
Lemma left_bound n l d A s E : (forall v, s * sq n v <= sq l (pullback n A v)) ->
  s * frob2 n d E <= frob2 l d (matmul n (transpose A) E).
Proof. intros H. rewrite !frob2_columns, <- Sum_scal. apply Sum_le; intros j _. apply H. Qed.

(** u vᵀ *)
Definition outer (u v : vector) : matrix := fun i j => u i * v j.

Lemma frob2_outer n K u v : frob2 n K (outer u v) = sq n u * sq K v.
Proof.
  unfold frob2, outer. rewrite (Sum_ext n _ (fun i => sq K v * u i ^ 2)).
  - rewrite Sum_scal. unfold sq. ring.
  - intros i _. unfold sq. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma frob2_ext k n A B : (forall i j, (i < k)%nat -> (j < n)%nat -> A i j = B i j) -> frob2 k n A = frob2 k n B.
Proof. intros H. apply Sum_ext; intros; apply Sum_ext; intros. now rewrite H. Qed.

Lemma outer_left n A u v i j : matmul n (transpose A) (outer u v) i j = outer (pullback n A u) v i j.
Proof.
  unfold matmul, outer, pullback, matvec. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring.
Qed.
