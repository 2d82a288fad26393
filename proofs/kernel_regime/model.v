(** The model: merged heads, narrow keys, independent heads, and what the model cannot see. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.covariance.
Open Scope R_scope.

(** the outputs of m heads one after another, a vector of m d numbers, and blkdiag(U_1ᵀ, …, U_mᵀ) *)
Definition concatenated (T d : nat) (X : matrix) (q : vector) (W : nat -> matrix) : vector := fun n =>
  pooled T d X q (W (n / d)%nat) (n mod d)%nat.
Definition blkdiag (d : nat) (U : matrix) : matrix := fun i n => if (n / d =? i)%nat then U i (n mod d)%nat else 0.

(** kr-remark-2
    Covers: the whole statement.
    Reads: for m heads with outputs concatenated to A(X) in ℝ^{md} and V = blkdiag(U_1ᵀ, …, U_mᵀ): σ((V A)_i) = h(X; U_i, W_i) for i < m, and f = m^(−1/2) ⟨c, σ(V A)⟩.
    Mistake: `matvec d (blkdiag d U) (concatenated T d X q W) j` for `matvec (m * d) (blkdiag d U) (concatenated T d X q W) j`
    Mistake: `sqrt (INR (m * d))` for `sqrt (INR m)`
*)
Theorem kr_remark_2 : forall sigma m T d X q c U W,
  (forall i, (i < m)%nat ->
    sigma (matvec (m * d) (blkdiag d U) (concatenated T d X q W) i) = head sigma T d X q (U i) (W i)) /\
  model sigma m T d X q c U W =
    / sqrt (INR m) * dot m c (fun j => sigma (matvec (m * d) (blkdiag d U) (concatenated T d X q W) j)).
Proof.
  intros sigma m T d X q c U W.
  assert (H : forall i, (i < m)%nat ->
    sigma (matvec (m * d) (blkdiag d U) (concatenated T d X q W) i) = head sigma T d X q (U i) (W i)).
  { intros i Hi. unfold head. f_equal. unfold matvec. rewrite Sum_blocks, (Sum_single m _ i Hi).
    - apply Sum_ext; intros k Hk. unfold blkdiag, concatenated.
      rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r, Nat.eqb_refl, Nat.add_comm, Nat.mod_add, Nat.mod_small by lia.
      reflexivity.
    - intros j _ N. rewrite <- (Sum_zero d). apply Sum_ext; intros k Hk. unfold blkdiag.
      rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia. destruct (Nat.eqb_spec j i); [easy|ring]. }
  split; [exact H|]. unfold model. f_equal. apply Sum_ext; intros i Hi. now rewrite H.
Qed.
