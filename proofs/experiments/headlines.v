(** Chapter "Headlines": longer copies give the same run, and what the sample size does to the smallest loss. *)
Require Import Reals Lra Lia.
From Shallow Require Import base.sums base.vectors base.attention base.head base.paired experiments.beyond.
Open Scope R_scope.

(** A batch: the mean square of the residuals at the samples b_0 … b_{n−1} of inputs X (T tokens, query q), labels y,
    for a model F that sees an input only through its attended tokens a(X, q; W_i) *)
Definition batch_loss (n T d : nat) (F : vector -> (matrix -> vector) -> R) (X : nat -> matrix) (q : nat -> vector)
  (y : vector) (b : nat -> nat) (phi : vector) : R :=
  Sum n (fun j => (F phi (pooled T d (X (b j)) (q (b j))) - y (b j)) ^ 2) / INR n.

(** Any descent: the next iterate is made from the step number, the iterate and the loss of the step's batch. *)
Fixpoint trained (next : nat -> vector -> (vector -> R) -> vector) (loss : nat -> vector -> R) (phi0 : vector) (s :
  nat) :
  vector := match s with O => phi0 | S s' => let phi := trained next loss phi0 s' in next s' phi (loss s') end.

(** kr-theorem-1-length
    Covers: a part: equal losses of all batches, equal runs, and, for fixed queries and functions of the outputs, that a bound on all data sets of length kT is one on those of length T; on the page: queries that are the last token, suprema over labels, derivatives in φ (which are derivatives of equal functions), and the last sentence.
    Reads: let every token of every input be repeated k ≥ 1 times, in any order, queries and labels kept. Then every model F(φ, X) that sees inputs through a(X, q; W), all W, has the same outputs for all φ; so the loss of every batch is the same function of φ, and every descent whose steps depend on the iterate and on the loss of a batch goes through the same iterates from one start. Let 𝓓 be a set of data sets that contains with one of length T one of its copies of length kT, and Q any function of the outputs φ ↦ F(φ, X_j), for queries that are the same for all data sets: every upper bound on Q over 𝓓 at length kT is one at length T.
    Mistake: without `(forall j, padded k T (X j) (Y j)) ->`
    Mistake: `exists Z', forall j` for `exists Z', data (k * T)%nat Z' /\ forall j`
*)
Theorem kr_theorem_1_length : forall k T d (F : vector -> (matrix -> vector) -> R) (X Y : nat -> matrix) (q : nat ->
  vector) y,
  (0 < k)%nat -> (0 < T)%nat -> (forall j, padded k T (X j) (Y j)) ->
  (forall phi j, F phi (pooled (k * T) d (Y j) (q j)) = F phi (pooled T d (X j) (q j))) /\
  (forall n b phi, batch_loss n (k * T) d F Y q y b phi = batch_loss n T d F X q y b phi) /\
  (forall next (n : nat -> nat) (b : nat -> nat -> nat) phi0 s,
    trained next (fun s => batch_loss (n s) (k * T) d F Y q y (b s)) phi0 s =
    trained next (fun s => batch_loss (n s) T d F X q y (b s)) phi0 s) /\
  (forall (Q : (nat -> vector -> R) -> R) (data : nat -> (nat -> matrix) -> Prop) C,
    (forall Z, data T Z -> exists Z', data (k * T)%nat Z' /\ forall j, padded k T (Z j) (Z' j)) ->
    (forall Z, data (k * T)%nat Z -> Q (fun j phi => F phi (pooled (k * T) d (Z j) (q j))) <= C) ->
    forall Z, data T Z -> Q (fun j phi => F phi (pooled T d (Z j) (q j))) <= C).
Proof.
  intros k T d F X Y q y Hk HT HP.
  assert (fe : forall (A B : Type) (f g : A -> B), (forall x, f x = g x) -> f = g)
    by (intros; now apply FunctionalExtensionality.functional_extensionality).
  assert (L : forall X Y q, padded k T X Y -> pooled (k * T) d Y q = pooled T d X q).
  { intros. apply fe; intros W. apply fe; intros i. now apply padded_look. }
  assert (B : forall n b phi, batch_loss n (k * T) d F Y q y b phi = batch_loss n T d F X q y b phi).
  { intros n b phi. unfold batch_loss. f_equal. apply Sum_ext; intros j _. now rewrite (L (X (b j))). }
  split; [intros; now rewrite (L (X j))|]. split; [exact B|]. split.
  - intros next n b phi0 s. f_equal. apply fe; intros s'. apply fe; intros phi. apply B.
  - intros Q data C HD HC Z HZ. destruct (HD Z HZ) as (Z' & H1 & H2). specialize (HC Z' H1).
    replace (fun j phi => F phi (pooled T d (Z j) (q j))) with (fun j phi => F phi (pooled (k * T) d (Z' j) (q j)));
      [easy|].
    apply fe; intros j. apply fe; intros phi. now rewrite (L (Z j)).
Qed.
