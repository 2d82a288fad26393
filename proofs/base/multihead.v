(** The model: m attention heads that read the same sequence, each with a neuron of its own. *)
Require Import Reals Lra Lia.
From Shallow Require Import base.sums base.vectors base.attention base.spread.
Open Scope R_scope.

(** α_t = softmax of the logits ⟨X_t, W q⟩, and a(X; W) = Σ α_t X_t *)
Definition weights (T d : nat) (X : matrix) (q : vector) (W : matrix) : vector :=
  softmax T (fun t => dot d (X t) (matvec d W q)).
Definition pooled (T d : nat) (X : matrix) (q : vector) (W : matrix) : vector := attended T (weights T d X q W) X.

(** h = σ(⟨U, a(X; W)⟩) *)
Definition head (sigma : R -> R) (T d : nat) (X : matrix) (q U : vector) (W : matrix) : R :=
  sigma (dot d U (pooled T d X q W)).

(** f = m^(−1/2) Σ c_i h(X; U_i, W_i) *)
Definition model (sigma : R -> R) (m T d : nat) (X : matrix) (q c : vector) (U : matrix) (W : nat -> matrix) : R :=
  / sqrt (INR m) * Sum m (fun i => c i * head sigma T d X q (U i) (W i)).

Lemma weights_distribution T d X q W : (0 < T)%nat -> distribution T (weights T d X q W).
Proof. intros. now apply softmax_distribution. Qed.
