(** The Transformer of six matrices: N tokens in ℝᵈ, attention, a feed-forward network, a residual around each. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.matrices.
Open Scope R_scope.

(** every row of A, N × N, is a probability distribution over the N tokens *)
Definition stochastic (N : nat) (A : matrix) : Prop := forall i, (i < N)%nat -> distribution N (A i).

(** Π = I − (1/N) 1 1ᵀ *)
Definition centring (N : nat) : matrix := fun i j => identity i j - / INR N.

(** x̄ = (1/N) Σ x_i, the mean of the N rows *)
Definition column_means (N : nat) (X : matrix) : vector := fun k => / INR N * Sum N (fun i => X i k).

(** φ(M), entry by entry *)
Definition entrywise (phi : R -> R) (M : matrix) : matrix := fun i j => phi (M i j).

(** L = γ X W_Q W_Kᵀ Xᵀ, for d dimensions and keys of d_k *)
Definition logit_matrix (d dk : nat) (gamma : R) (Q K X : matrix) : matrix :=
  fun i j => gamma * matmul d (matmul dk (matmul d X Q) (transpose K)) (transpose X) i j.

(** S = softmax(L), by rows *)
Definition softmax_rows (N d dk : nat) (gamma : R) (Q K X : matrix) : matrix :=
  fun i => softmax N (logit_matrix d dk gamma Q K X i).

(** Z = gX + S X W_V, the attention output *)
Definition output (N d : nat) (g : R) (X A V : matrix) : matrix :=
  fun i k => g * X i k + matmul d (matmul N A X) V i k.

(** F = (g_f Z + φ(Z W_1) W_2) W_U, the outputs of the feed-forward network with d_1 hidden units *)
Definition readout (d d1 : nat) (gf : R) (phi : R -> R) (Z W1 W2 U : matrix) : matrix :=
  matmul d (fun i k => gf * Z i k + matmul d1 (entrywise phi (matmul d Z W1)) W2 i k) U.

(** F for one sequence X and the six matrices *)
Definition network (N d dk d1 : nat) (gamma g gf : R) (phi : R -> R) (Q K V W1 W2 U X : matrix) : matrix :=
  readout d d1 gf phi (output N d g X (softmax_rows N d dk gamma Q K X) V) W1 W2 U.

(** Φ = ½ Σ_p ‖F_p − Y_p‖²_F over P sequences, with m output dimensions *)
Definition loss (P N m : nat) (F Y : nat -> matrix) : R :=
  / 2 * Sum P (fun p => frob2 N m (fun i k => F p i k - Y p i k)).

Lemma identity_sum_r N f k : (k < N)%nat -> Sum N (fun j => f j * identity j k) = f k.
Proof. apply (identity_r N (fun _ j => f j) O k). Qed.

(** (Πy)_i = y_i − mean of y *)
Lemma centring_apply N y i : (i < N)%nat -> matvec N (centring N) y i = y i - / INR N * Sum N y.
Proof.
  intros Hi. unfold matvec, centring. rewrite (Sum_ext N _ (fun j => identity i j * y j - / INR N * y j)) by (intros;
    ring).
  now rewrite Sum_minus, Sum_delta, Sum_scal.
Qed.

Lemma centring_matmul N M i k : (i < N)%nat -> matmul N (centring N) M i k = M i k - / INR N * Sum N (fun l => M l k).
Proof. intros Hi. apply (centring_apply N (fun l => M l k) i Hi). Qed.
