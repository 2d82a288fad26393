(** Attention as a random token: a distribution over T tokens, means under it, softmax. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors.
Open Scope R_scope.

(** α is a probability distribution over the tokens 0 … T − 1 *)
Definition distribution (T : nat) (alpha : vector) : Prop :=
  (forall t, (t < T)%nat -> 0 <= alpha t) /\ Sum T alpha = 1.

(** E f = Σ α_t f(t), the mean of f over the token that attention draws *)
Definition E (T : nat) (alpha f : vector) : R := Sum T (fun t => alpha t * f t).

(** a_i = Σ α_t X_ti, the attended token *)
Definition attended (T : nat) (alpha : vector) (X : matrix) : vector := fun i => E T alpha (fun t => X t i).

(** M_ij = E (X_i − a_i)(X_j − a_j), the softmax covariance of the tokens *)
Definition covariance (T : nat) (alpha : vector) (X : matrix) : matrix := fun i j =>
  E T alpha (fun t => (X t i - attended T alpha X i) * (X t j - attended T alpha X j)).

(** softmax(z)_t = exp z_t / Σ exp z_s *)
Definition softmax (T : nat) (z : vector) : vector := fun t => exp (z t) / Sum T (fun s => exp (z s)).

Lemma E_ext T alpha f g : (forall t, (t < T)%nat -> f t = g t) -> E T alpha f = E T alpha g.
Proof. intros H. apply Sum_ext; intros. now rewrite H. Qed.

Lemma E_plus T alpha f g : E T alpha (fun t => f t + g t) = E T alpha f + E T alpha g.
Proof. unfold E. rewrite <- Sum_plus. apply Sum_ext; intros; ring. Qed.

Lemma E_scal T alpha c f : E T alpha (fun t => c * f t) = c * E T alpha f.
Proof. unfold E. rewrite <- Sum_scal. apply Sum_ext; intros; ring. Qed.

Lemma E_const T alpha c : distribution T alpha -> E T alpha (fun _ => c) = c.
Proof.
  intros [_ H]. unfold E. rewrite (Sum_ext _ _ (fun t => c * alpha t)) by (intros; ring).
  rewrite Sum_scal, H. ring.
Qed.

Lemma E_le T alpha f g : distribution T alpha -> (forall t, (t < T)%nat -> f t <= g t) -> E T alpha f <= E T alpha g.
Proof. intros [P _] H. apply Sum_le; intros. apply Rmult_le_compat_l; auto. Qed.

Lemma E_ge0 T alpha f : distribution T alpha -> (forall t, (t < T)%nat -> 0 <= f t) -> 0 <= E T alpha f.
Proof. intros [P _] H. apply Sum_ge0; intros. apply Rmult_le_pos; auto. Qed.

(** E (f − E f)² = E f² − (E f)² *)
Lemma variance T alpha f : distribution T alpha ->
  E T alpha (fun t => (f t - E T alpha f) ^ 2) = E T alpha (fun t => f t ^ 2) - E T alpha f ^ 2.
Proof.
  intros H. rewrite (E_ext T alpha _ (fun t => f t ^ 2 + (-2 * E T alpha f * f t + E T alpha f ^ 2))) by (intros; ring).
  rewrite E_plus, E_plus, (E_scal T alpha (-2 * E T alpha f) f), (E_const T alpha _ H). ring.
Qed.

(** |E f g|² ≤ E f² E g² *)
Lemma E_cauchy T alpha f g : distribution T alpha ->
  E T alpha (fun t => f t * g t) ^ 2 <= E T alpha (fun t => f t ^ 2) * E T alpha (fun t => g t ^ 2).
Proof. intros [P _]. now apply Sum_cauchy. Qed.

Lemma partition_pos T z : (0 < T)%nat -> 0 < Sum T (fun s => exp (z s)).
Proof. intros H. apply Sum_gt0; [easy|]. intros; apply exp_pos. Qed.

Lemma softmax_pos T z t : (0 < T)%nat -> 0 < softmax T z t.
Proof. intros. apply Rdiv_lt_0_compat; [apply exp_pos | now apply partition_pos]. Qed.

Lemma softmax_distribution T z : (0 < T)%nat -> distribution T (softmax T z).
Proof.
  intros H. split; [intros; left; now apply softmax_pos|].
  unfold softmax. rewrite (Sum_ext _ _ (fun t => / Sum T (fun s => exp (z s)) * exp (z t))) by (intros; unfold Rdiv; ring).
  rewrite Sum_scal. apply Rinv_l. apply Rgt_not_eq, partition_pos, H.
Qed.
