(** Chapter "Beyond one layer": one mirror is enough, and repeated tokens change nothing. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.means.
Open Scope R_scope.

(** kr-proposition-w
    Covers: a part: that the output at the start is 0 and the error is odd, 1 for the mean and for events above and below, and 2 as oddness of the error in δ; on the page: third order for three derivatives, and that the listed maps are such mirrors.
    Reads: let 𝓡 be linear, orthogonal and its own inverse on ℝᴰ, f(X; 𝓡φ) = −f(X; φ) for all φ, and 𝓡φ⁽⁰⁾ = φ⁽⁰⁾; let f have the gradient ∇f at φ⁽⁰⁾, and e(δ) = f(φ⁽⁰⁾ + δ) − f(φ⁽⁰⁾) − ⟨∇f, δ⟩. Then f(X; φ⁽⁰⁾) = 0 and e(𝓡δ) = −e(δ). For every mean Ex of a law of δ (0 where a function is not integrable) under which 𝓡δ has the law of δ: Ex e = 0, and Ex 1[e > 0] = Ex 1[e < 0]. If 𝓡δ = −δ, then e(−δ) = −e(δ).
    Mistake: `e (R d) = e d)` for `e (R d) = - e d)`
    Mistake: without `(forall k, R phi0 k = phi0 k) ->`
*)
Theorem kr_proposition_w : forall D (f : vector -> R) (R : vector -> vector) (phi0 grad : vector),
  (forall x y k, R (fun i => x i + y i) k = R x k + R y k) -> (forall c x k, R (fun i => c * x i) k = c * R x k) ->
  (forall x y, dot D (R x) (R y) = dot D x y) -> (forall x k, R (R x) k = x k) ->
  (forall phi, f (R phi) = - f phi) -> (forall k, R phi0 k = phi0 k) ->
  (forall v, is_derive (fun t => f (fun k => phi0 k + t * v k)) 0 (dot D grad v)) ->
  let e := fun d => f (fun k => phi0 k + d k) - f phi0 - dot D grad d in
  f phi0 = 0 /\ (forall d, e (R d) = - e d) /\
  (forall Ex : (vector -> Rdefinitions.R) -> Rdefinitions.R,
    (forall F, Ex (fun d => F (R d)) = Ex F) -> (forall F, Ex (fun d => -1 * F d) = -1 * Ex F) ->
    Ex e = 0 /\ Ex (fun d => if Rlt_dec 0 (e d) then 1 else 0) = Ex (fun d => if Rlt_dec (e d) 0 then 1 else 0)) /\
  (forall d, (forall k, R d k = - d k) -> e (fun k => - d k) = - e d).
Proof.
  intros D f R phi0 grad Hadd Hscal Horth Hinv Hf H0 Hg e.
  assert (ext : forall x y : vector, (forall k, x k = y k) -> x = y).
  { intros. now apply FunctionalExtensionality.functional_extensionality. }
  assert (E0 : R phi0 = phi0) by now apply ext.
  assert (F0 : f phi0 = 0) by (specialize (Hf phi0); rewrite E0 in Hf; lra).
  assert (Sh : forall d, (fun k => phi0 k + R d k) = R (fun k => phi0 k + d k)).
  { intros d. apply ext. intros k. now rewrite Hadd, H0. }
  assert (G : forall v, dot D grad (R v) = - dot D grad v).
  { intros v. assert (A := Hg (R v)).
    assert (B : is_derive (fun t => f (fun k => phi0 k + t * R v k)) 0 (- dot D grad v)).
    { apply (is_derive_ext (fun t => - f (fun k => phi0 k + t * v k))).
      - intros t. rewrite <- Hf. f_equal. apply ext; intros k. now rewrite Hadd, H0, Hscal.
      - apply (is_derive_opp (fun t => f (fun k => phi0 k + t * v k))), Hg. }
    rewrite <- (is_derive_unique _ _ _ A). now apply is_derive_unique. }
  assert (odd : forall d, e (R d) = - e d) by (intros d; unfold e; rewrite Sh, Hf, G, F0; ring).
  split; [easy|]. split; [exact odd|]. split.
  - intros Ex Hlaw Hopp. split.
    + assert (A := Hlaw e). replace (fun d => e (R d)) with (fun d => -1 * e d) in A.
      * rewrite Hopp in A. lra.
      * apply FunctionalExtensionality.functional_extensionality; intros d. rewrite odd. ring.
    + rewrite <- Hlaw. f_equal. apply FunctionalExtensionality.functional_extensionality; intros d. rewrite odd.
      destruct (Rlt_dec 0 (- e d)), (Rlt_dec (e d) 0); lra.
  - intros d Hd. rewrite <- odd. f_equal. apply ext; intros; now rewrite Hd.
Qed.

(** A sequence of kT tokens in which token t stands at the places i T + t, in any order π of the places *)
Lemma Sum_copies k T F (pi inv : nat -> nat) :
  (forall s, (s < k * T)%nat -> (pi s < k * T)%nat) -> (forall s, (s < k * T)%nat -> inv (pi s) = s) ->
  (forall s, (s < k * T)%nat -> (inv s < k * T)%nat) -> (forall s, (s < k * T)%nat -> pi (inv s) = s) ->
  Sum (k * T) (fun s => F (pi s)) = Sum (k * T) F.
Proof.
  intros H1 H2 H3 H4.
  rewrite (Sum_ext (k * T) (fun s => F (pi s)) (fun s => Sum (k * T) (fun r => if Nat.eq_dec r (pi s) then F r else
    0))).
  - rewrite Sum_swap. apply Sum_ext; intros r Hr. rewrite (Sum_single (k * T) _ (inv r)); [|now apply H3|].
    + rewrite H4 by easy. now destruct (Nat.eq_dec r r).
    + intros s Hs Ns. destruct (Nat.eq_dec r (pi s)) as [->|]; [|easy]. rewrite H2 in Ns by easy. easy.
  - intros s Hs. rewrite (Sum_single (k * T) _ (pi s)); [|now apply H1|].
    + now destruct (Nat.eq_dec (pi s) (pi s)).
    + intros r Hr Nr. destruct (Nat.eq_dec r (pi s)); [easy|easy].
Qed.

(** Y is X with every token k times, in any order: Y_s = X_{π(s) mod T} for a permutation π of the kT places. *)
Definition padded (k T : nat) (X Y : matrix) : Prop := exists pi inv,
  (forall s, (s < k * T)%nat -> (pi s < k * T)%nat /\ inv (pi s) = s /\ (inv s < k * T)%nat /\ pi (inv s) = s) /\
  forall s, (s < k * T)%nat -> Y s = X (pi s mod T).

Lemma padded_Sum k T X Y (F : vector -> R) : (0 < T)%nat -> padded k T X Y ->
  Sum (k * T) (fun s => F (Y s)) = INR k * Sum T (fun t => F (X t)).
Proof.
  intros HT (pi & inv & P & HY). rewrite (Sum_ext _ _ (fun s => F (X (pi s mod T)))) by (intros; now rewrite HY).
  rewrite (Sum_copies k T (fun s => F (X (s mod T))) pi inv) by (intros; now apply P).
  rewrite Sum_blocks, <- Sum_const. apply Sum_ext; intros i _. apply Sum_ext; intros t Ht.
  do 2 f_equal. rewrite Nat.add_comm, Nat.mod_add by lia. now apply Nat.mod_small.
Qed.

Lemma padded_look k T d X Y q W i : (0 < k)%nat -> (0 < T)%nat -> padded k T X Y ->
  pooled (k * T) d Y q W i = pooled T d X q W i.
Proof.
  intros Hk HT HP. unfold pooled, attended, E, weights, softmax.
  assert (K : 0 < INR k) by now apply lt_0_INR. set (Z := fun x : vector => exp (dot d x (matvec d W q))).
  assert (S1 := padded_Sum k T X Y Z HT HP). change (Sum (k * T) (fun s => exp (dot d (Y s) (matvec d W q))) =
    INR k * Sum T (fun t => exp (dot d (X t) (matvec d W q)))) in S1.
  assert (P : 0 < Sum T (fun t => exp (dot d (X t) (matvec d W q)))) by (apply Sum_gt0; [easy|intros; apply exp_pos]).
  rewrite S1. set (z := Sum T (fun t => exp (dot d (X t) (matvec d W q)))) in *.
  assert (S2 := padded_Sum k T X Y (fun x => exp (dot d x (matvec d W q)) / (INR k * z) * x i) HT HP). cbn beta in S2.
    rewrite S2, <- Sum_scal.
  apply Sum_ext; intros t _. field. split; lra.
Qed.

(** kr-proposition-w-padding
    Covers: a part: heads, dense and sequence for every readout: what a query sees; hence outputs, and losses, gradients and runs as functions of them; on the page: the loss of sequence, a mean over positions, and the second layer of deep, where copies are queries, too.
    Reads: let Y have kT tokens, k, T ≥ 1: those of X, each k times, in any order. Then a(Y, q; W) = a(X, q; W) for every query q and every W. So for every function f of finitely many a(X, q; W_i), and every q, W_1 … W_m, f is unchanged; and at every place s of Y the query Y_s gets what the original token X_t gets.
    Mistake: without `(0 < k)%nat ->`
    Mistake: `pooled (k * T) d Y q W i = INR k * pooled T d X q W i` for `pooled (k * T) d Y q W i = pooled T d X q W i`
*)
Theorem kr_proposition_w_padding : forall k T d X Y, (0 < k)%nat -> (0 < T)%nat -> padded k T X Y ->
  (forall q W i, pooled (k * T) d Y q W i = pooled T d X q W i) /\
  (forall (f : (nat -> vector) -> R) q (W : nat -> matrix),
    f (fun j => pooled (k * T) d Y q (W j)) = f (fun j => pooled T d X q (W j))) /\
  forall s, (s < k * T)%nat -> exists t, (t < T)%nat /\ Y s = X t /\
    forall W i, pooled (k * T) d Y (Y s) W i = pooled T d X (X t) W i.
Proof.
  intros k T d X Y Hk HT HP. split; [intros; now apply padded_look|]. split.
  - intros f q W. f_equal. apply FunctionalExtensionality.functional_extensionality; intros j.
    apply FunctionalExtensionality.functional_extensionality; intros i. now apply padded_look.
  - intros s Hs. destruct HP as (pi & inv & P & HY) eqn:EHP. exists (pi s mod T).
    split; [apply Nat.mod_upper_bound; lia|]. split; [now apply HY|]. intros W i. rewrite <- HY by easy.
    apply padded_look; [easy|easy|]. now exists pi, inv.
Qed.
