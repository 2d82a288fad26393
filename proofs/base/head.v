(** The model: attention heads that read one sequence, each with a neuron of its own; its parameters, and the mirror. *)
Require Import Reals Lra Lia.
From Shallow Require Import base.sums base.vectors base.attention.
Open Scope R_scope.

(** α_t = softmax of the logits ⟨X_t, W q⟩, the pooled token a(X; W) = Σ α_t X_t, and the preactivation ⟨U, a⟩ *)
Definition weights (T d : nat) (X : matrix) (q : vector) (W : matrix) : vector :=
  softmax T (fun t => dot d (X t) (matvec d W q)).
Definition pooled (T d : nat) (X : matrix) (q : vector) (W : matrix) : vector := attended T (weights T d X q W) X.
Definition preactivation (T d : nat) (X : matrix) (q U : vector) (W : matrix) : R := dot d U (pooled T d X q W).

(** h = σ(⟨U, a(X; W)⟩) *)
Definition head (sigma : R -> R) (T d : nat) (X : matrix) (q U : vector) (W : matrix) : R :=
  sigma (preactivation T d X q U W).

(** f = m^(−1/2) Σ c_i h(X; U_i, W_i) *)
Definition model (sigma : R -> R) (m T d : nat) (X : matrix) (q c : vector) (U : matrix) (W : nat -> matrix) : R :=
  / sqrt (INR m) * Sum m (fun i => c i * head sigma T d X q (U i) (W i)).

(** φ: block k of head i is c_i for k = 0, U_i for k = 1 and W_i for k = 2, row by row *)
Definition parameters := nat -> nat -> vector.

(** the number of entries of a block: 1, d, d² *)
Definition size (d k : nat) : nat := match k with 0%nat => 1%nat | 1%nat => d | _ => (d * d)%nat end.

(** the d × d matrix with the given rows one after another *)
Definition rows (d : nat) (w : vector) : matrix := fun i j => w (i * d + j)%nat.

(** f at φ, the model of the m heads (φ_i0, φ_i1, rows of φ_i2) *)
Definition model_at (sigma : R -> R) (m T d : nat) (X : matrix) (q : vector) (phi : parameters) : R :=
  model sigma m T d X q (fun i => phi i 0%nat 0%nat) (fun i => phi i 1%nat) (fun i => rows d (phi i 2%nat)).

(** φ + t δ, and ‖φ‖² for m heads *)
Definition moved (phi : parameters) (t : R) (delta : parameters) : parameters :=
  fun i k j => phi i k j + t * delta i k j.
Definition psq (m d : nat) (phi : parameters) : R := Sum m (fun i => Sum 3 (fun k => sq (size d k) (phi i k))).

(** equal as parameters of m heads: in every entry that the model has *)
Definition same_parameters (m d : nat) (phi psi : parameters) : Prop :=
  forall i k j, (i < m)%nat -> (k < 3)%nat -> (j < size d k)%nat -> phi i k j = psi i k j.

(** the partner of head i among 2N heads: i + N for i < N, and i − N otherwise *)
Definition partner (N i : nat) : nat := if Nat.ltb i N then (i + N)%nat else (i - N)%nat.

(** ℛφ: partners exchanged, readouts negated *)
Definition mirror (N : nat) (phi : parameters) : parameters :=
  fun i k j => (if Nat.eqb k 0 then -1 else 1) * phi (partner N i) k j.

(** a symmetric initialisation of 2N heads: readouts ±1, opposite between partners, which have the same U
  and W *)
Definition symmetric_start (N d : nat) (phi : parameters) : Prop :=
  forall i, (i < N)%nat -> (phi i 0%nat 0%nat = 1 \/ phi i 0%nat 0%nat = -1) /\
    phi (i + N)%nat 0%nat 0%nat = - phi i 0%nat 0%nat /\
    forall k j, (k = 1 \/ k = 2)%nat -> (j < size d k)%nat -> phi (i + N)%nat k j = phi i k j.

Lemma partner_low N i : (i < N)%nat -> partner N i = (i + N)%nat.
Proof. intros H. unfold partner. now rewrite (proj2 (Nat.ltb_lt i N) H). Qed.

Lemma partner_high N i : partner N (N + i) = i.
Proof. unfold partner. rewrite (proj2 (Nat.ltb_ge (N + i) N)) by lia. lia. Qed.

(** A sum over 2N heads does not change when partners are exchanged. *)
Lemma Sum_partner N f : Sum (2 * N) (fun i => f (partner N i)) = Sum (2 * N) f.
Proof.
  replace (2 * N)%nat with (N + N)%nat by lia. rewrite !Sum_split, Rplus_comm. f_equal.
  - apply Sum_ext; intros; now rewrite partner_high.
  - apply Sum_ext; intros; rewrite partner_low by easy. f_equal; lia.
Qed.

Lemma start_mirror N d phi : symmetric_start N d phi -> same_parameters (2 * N) d (mirror N phi) phi.
Proof.
  intros H i k j Hi Hk Hj. unfold mirror. destruct (Nat.lt_ge_cases i N) as [L|L].
  - rewrite partner_low by easy. destruct (H i L) as (_ & C & B).
    destruct k as [|[|[|]]]; cbn in Hj |- *; try lia.
    + replace j with 0%nat by lia. rewrite C. ring.
    + rewrite B by (cbn; lia). ring.
    + rewrite B by (cbn; lia). ring.
  - replace i with (N + (i - N))%nat by lia. rewrite partner_high. set (i' := (i - N)%nat).
    destruct (H i' ltac:(lia)) as (_ & C & B). rewrite (Nat.add_comm N i').
    destruct k as [|[|[|]]]; cbn in Hj |- *; try lia.
    + replace j with 0%nat by lia. rewrite C. ring.
    + rewrite B by (cbn; lia). ring.
    + rewrite B by (cbn; lia). ring.
Qed.

(** The model reads only the entries that it has. *)
Lemma head_ext sigma T d X q U U' W W' : (forall j, (j < d)%nat -> U j = U' j) ->
  (forall j, (j < d * d)%nat -> W j = W' j) -> head sigma T d X q U (rows d W) = head sigma T d X q U' (rows d W').
Proof.
  intros HU HW. unfold head, preactivation, dot. f_equal. apply Sum_ext. intros j Hj. rewrite HU by easy. f_equal.
  unfold attended, E. apply Sum_ext. intros t Ht. f_equal. unfold weights, softmax.
  assert (L : forall s, dot d (X s) (matvec d (rows d W) q) = dot d (X s) (matvec d (rows d W') q)).
  { intros s. unfold dot, matvec. apply Sum_ext. intros a Ha. f_equal. apply Sum_ext. intros b Hb. f_equal.
    unfold rows. apply HW. nia. }
  rewrite L. f_equal. apply Sum_ext; intros. now rewrite L.
Qed.

Lemma model_same sigma m T d X q phi psi : same_parameters m d phi psi -> model_at sigma m T d X q phi = model_at
  sigma m T d X q psi.
Proof.
  intros H. unfold model_at, model. f_equal. apply Sum_ext. intros i Hi. rewrite (H i 0%nat 0%nat) by (cbn; lia).
    f_equal.
  apply head_ext; intros; apply H; cbn; lia.
Qed.

Lemma model_mirror sigma N T d X q phi : model_at sigma (2 * N) T d X q (mirror N phi) = - model_at sigma (2 * N) T d
  X q phi.
Proof.
  set (g := fun i => phi i 0%nat 0%nat * head sigma T d X q (phi i 1%nat) (rows d (phi i 2%nat))).
  unfold model_at, model. rewrite Ropp_mult_distr_r. f_equal. fold g. rewrite <- (Sum_partner N g).
  replace (- Sum (2 * N) (fun i => g (partner N i))) with (-1 * Sum (2 * N) (fun i => g (partner N i))) by ring.
  rewrite <- Sum_scal. apply Sum_ext. intros i Hi. unfold g.
  rewrite (head_ext sigma T d X q (mirror N phi i 1%nat) (phi (partner N i) 1%nat)
    (mirror N phi i 2%nat) (phi (partner N i) 2%nat)) by (intros; unfold mirror; cbn [Nat.eqb]; ring).
  unfold mirror. cbn [Nat.eqb]. ring.
Qed.

Lemma weights_distribution T d X q W : (0 < T)%nat -> distribution T (weights T d X q W).
Proof. intros. now apply softmax_distribution. Qed.
