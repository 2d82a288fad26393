(** Matrices as arguments of a square loss: the gradient of what is affine in them, and the least singular value. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.matrices base.gradient.
Open Scope R_scope.

(** ½‖F − Y‖²_F *)
Definition square_loss (n K : nat) (F Y : matrix) : R := frob2 n K (mminus F Y) / 2.

(** s is the least c with ‖B v‖ = c ‖v‖ for a v ≠ 0 of ℝᵏ: the least singular value of B on ℝᵏ; norm says ‖B v‖² *)
Definition least_singular (k : nat) (norm : vector -> R) (s : R) : Prop :=
  0 <= s /\ (forall v, s ^ 2 * sq k v <= norm v) /\ exists v, 0 < sq k v /\ norm v = s ^ 2 * sq k v.

(** If F is affine in W, the gradient of ½‖F − Y‖² is what the errors are pulled back to. *)
Lemma affine_gradient k m n K (F : matrix -> matrix) (L : matrix -> matrix) Y W G :
  (forall V s i j, F (shifted W V s) i j = F W i j + s * L V i j) ->
  (forall V, fdot n K (mminus (F W) Y) (L V) = fdot k m G V) ->
  matrix_gradient k m (fun W => square_loss n K (F W) Y) W G.
Proof.
  intros HF HG V. rewrite <- HG. unfold square_loss, frob2, fdot, mminus.
  apply (is_derive_ext (fun s => Sum n (fun i => Sum K (fun j => (F W i j + s * L V i j - Y i j) ^ 2 / 2)))).
  { intros s. unfold Rdiv. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros i _. rewrite <- Sum_scal.
    apply Sum_ext; intros j _. rewrite HF. ring. }
  apply Sum_derive; intros i _. apply Sum_derive; intros j _. auto_derive; [easy|field].
Qed.

(** ‖Aᵀ E‖² ≥ s² ‖E‖² and ‖E Wᵀ‖² ≥ s² ‖E‖² *)
Lemma left_bound n l d A s E : (forall v, s * sq n v <= sq l (pullback n A v)) ->
  s * frob2 n d E <= frob2 l d (matmul n (transpose A) E).
Proof. intros H. rewrite !frob2_columns, <- Sum_scal. apply Sum_le; intros j _. apply H. Qed.
