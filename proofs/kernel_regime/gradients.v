(** The gradients of the model: their closed form, their bounds for every length, and where they fade. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.spread base.softmax_derivative base.multihead.
Open Scope R_scope.

(** ⟨A, B⟩_F of d × d matrices *)
Definition frob_inner (d : nat) (A B : matrix) : R := Sum d (fun k => Sum d (fun l => A k l * B k l)).

(** f at the parameters (c, U, W) + e (dc, dU, dW) *)
Definition along sigma m T d X q c (U : matrix) (W : nat -> matrix) dc (dU : matrix) (dW : nat -> matrix) (e : R) : R :=
  model sigma m T d X q (fun i => c i + e * dc i) (fun i k => U i k + e * dU i k) (fun i k l => W i k l + e * dW i k l).

(** 1 if i = j, else 0 *)
Definition delta (i j : nat) : R := if (i =? j)%nat then 1 else 0.

(** the partial derivatives of f in c_i, in the entries of U_i and in those of W_i *)
Definition nabla_c sigma m T d X q c U W (i : nat) : R :=
  Derive (along sigma m T d X q c U W (delta i) (fun _ _ => 0) (fun _ _ _ => 0)) 0.
Definition nabla_U sigma m T d X q c U W (i : nat) : vector := fun k =>
  Derive (along sigma m T d X q c U W (fun _ => 0) (fun j n => delta i j * delta k n) (fun _ _ _ => 0)) 0.
Definition nabla_W sigma m T d X q c U W (i : nat) : matrix := fun k l =>
  Derive (along sigma m T d X q c U W (fun _ => 0) (fun _ _ => 0) (fun j n p => delta i j * (delta k n * delta l p))) 0.

Lemma delta_same i : delta i i = 1.
Proof. unfold delta. now rewrite Nat.eqb_refl. Qed.

Lemma delta_other i j : j <> i -> delta i j = 0.
Proof. intros H. unfold delta. destruct (Nat.eqb_spec i j); [now subst|easy]. Qed.

Lemma Sum_delta n i f : (i < n)%nat -> Sum n (fun j => delta i j * f j) = f i.
Proof.
  intros H. rewrite (Sum_single n _ i H); [rewrite delta_same; ring|]. intros j _ N. rewrite delta_other by easy. ring.
Qed.

Lemma score_split T d X U (alpha : vector) : E T alpha (fun t => dot d (X t) U) = dot d U (attended T alpha X).
Proof.
  unfold dot, attended. rewrite E_Sum. apply Sum_ext; intros i _. rewrite <- E_scal. apply E_ext; intros; ring.
Qed.

(** (M v)_k = E (⟨X, v⟩ − E⟨X, v⟩) X_k *)
Lemma covariance_apply T d alpha X v k : distribution T alpha ->
  matvec d (covariance T alpha X) v k =
  E T alpha (fun t => (dot d (X t) v - E T alpha (fun s => dot d (X s) v)) * X t k).
Proof.
  intros H. set (a := attended T alpha X). rewrite (score_split T d X v). fold a.
  rewrite (E_ext T alpha _ (fun t => (dot d (X t) v * X t k - dot d v a * X t k))) by (intros; ring).
  rewrite E_minus, E_scal. unfold matvec.
  rewrite (Sum_ext d _ (fun j => moment T alpha X k j * v j - a k * (v j * a j))).
  - rewrite Sum_minus, Sum_scal. change (E T alpha (fun t => X t k)) with (a k). unfold dot at 2. rewrite Rmult_comm.
    f_equal. rewrite (E_ext T alpha _ (fun t => Sum d (fun j => v j * (X t k * X t j)))).
    + rewrite E_Sum. apply Sum_ext; intros j _. rewrite E_scal. unfold moment. ring.
    + intros t _. unfold dot. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring.
  - intros j _. rewrite covariance_moment by easy. fold a. ring.
Qed.

Lemma pooled_derive T d X q W dW k : (0 < T)%nat ->
  is_derive (fun e => pooled T d X q (fun i j => W i j + e * dW i j) k) 0
    (matvec d (covariance T (weights T d X q W) X) (matvec d dW q) k).
Proof.
  intros HT. set (z := fun t => dot d (X t) (matvec d W q)). set (v := fun t => dot d (X t) (matvec d dW q)).
  apply is_derive_ext with (f := fun e => E T (softmax T (fun s => z s + e * v s)) (fun t => X t k)).
  - intros e. unfold pooled, attended, E, weights. apply Sum_ext; intros t _. f_equal.
    assert (Q : forall s, z s + e * v s = dot d (X s) (matvec d (fun i j => W i j + e * dW i j) q)).
    { intros s. unfold z, v, dot, matvec. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext; intros i _.
      rewrite (Sum_ext d (fun j => (W i j + e * dW i j) * q j) (fun j => W i j * q j + e * (dW i j * q j))) by (intros; ring).
      rewrite Sum_plus, Sum_scal. ring. }
    unfold softmax. rewrite Q. f_equal. apply Sum_ext; intros; now rewrite Q.
  - eapply derive_value; [now apply mean_derive_const|].
    rewrite covariance_apply by now apply weights_distribution. reflexivity.
Qed.

(** ⟨U, M dW q⟩ = ⟨(M U) qᵀ, dW⟩ *)
Lemma turn d M U dW q : (forall i j, M i j = M j i) ->
  dot d U (matvec d M (matvec d dW q)) = frob_inner d (fun k l => matvec d M U k * q l) dW.
Proof.
  intros S. unfold dot, frob_inner.
  rewrite (Sum_ext d _ (fun i => Sum d (fun k => U i * M i k * matvec d dW q k))).
  - rewrite Sum_swap. apply Sum_ext; intros k _. unfold matvec at 2.
    rewrite (Sum_ext d _ (fun i => matvec d dW q k * (M k i * U i))) by (intros; rewrite (S k); ring).
    rewrite Sum_scal, Rmult_comm. unfold matvec. rewrite <- Sum_scal. apply Sum_ext; intros; ring.
  - intros i _. unfold matvec at 1. rewrite <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma covariance_sym T alpha X i j : covariance T alpha X i j = covariance T alpha X j i.
Proof. apply E_ext; intros; ring. Qed.

Lemma head_derive sigma T d X q U W dU dW : (0 < T)%nat -> (forall x, ex_derive sigma x) ->
  let a := pooled T d X q W in let M := covariance T (weights T d X q W) X in
  is_derive (fun e => head sigma T d X q (fun k => U k + e * dU k) (fun k l => W k l + e * dW k l)) 0
    (Derive sigma (dot d U a) * (dot d a dU + frob_inner d (fun k l => matvec d M U k * q l) dW)).
Proof.
  intros HT Hs a M. pose (p e k := pooled T d X q (fun i j => W i j + e * dW i j) k).
  assert (p0 : forall k, p 0 k = a k).
  { intros k. unfold p, a, pooled, attended, E, weights. apply Sum_ext; intros t _. f_equal.
    assert (Q : forall s, dot d (X s) (matvec d (fun i j => W i j + 0 * dW i j) q) = dot d (X s) (matvec d W q)).
    { intros s. unfold dot, matvec. apply Sum_ext; intros. f_equal. apply Sum_ext; intros; ring. }
    unfold softmax. rewrite Q. f_equal. apply Sum_ext; intros; now rewrite Q. }
  assert (D : is_derive (fun e => Sum d (fun k => (U k + e * dU k) * p e k)) 0
    (dot d a dU + frob_inner d (fun k l => matvec d M U k * q l) dW)).
  { eapply derive_value.
    - apply (Sum_derive d (fun e k => (U k + e * dU k) * p e k)). intros k _.
      apply (derive_mult (fun e => U k + e * dU k) (fun e => p e k)); [|exact (pooled_derive T d X q W dW k HT)].
      instantiate (1 := dU k). auto_derive; [easy|ring].
    - cbv beta. rewrite Sum_plus. f_equal.
      + apply Sum_ext; intros. rewrite p0. ring.
      + rewrite <- turn by (intros; apply covariance_sym). apply Sum_ext; intros. fold M. ring. }
  assert (Z0 : Sum d (fun k => (U k + 0 * dU k) * p 0 k) = dot d U a).
  { apply Sum_ext; intros. rewrite p0. ring. }
  assert (S := Derive_correct sigma _ (Hs (dot d U a))). rewrite <- Z0 in S at 1.
  eapply derive_value; [exact (is_derive_comp sigma (fun e => Sum d (fun k => (U k + e * dU k) * p e k)) 0 _ _ S D)|].
  apply Rmult_comm.
Qed.

Lemma along_derive sigma m T d X q c U W dc dU dW : (0 < T)%nat -> (forall x, ex_derive sigma x) ->
  is_derive (along sigma m T d X q c U W dc dU dW) 0 (/ sqrt (INR m) * Sum m (fun i =>
    let a := pooled T d X q (W i) in let M := covariance T (weights T d X q (W i)) X in
    sigma (dot d (U i) a) * dc i +
    c i * (Derive sigma (dot d (U i) a) * (dot d a (dU i) + frob_inner d (fun k l => matvec d M (U i) k * q l) (dW i))))).
Proof.
  intros HT Hs. unfold along, model.
  apply (is_derive_scal (fun e => Sum m (fun i => (c i + e * dc i) *
    head sigma T d X q (fun k => U i k + e * dU i k) (fun k l => W i k l + e * dW i k l)))).
  apply (Sum_derive m (fun e i => (c i + e * dc i) *
    head sigma T d X q (fun k => U i k + e * dU i k) (fun k l => W i k l + e * dW i k l))). intros i _. cbv zeta.
  assert (H0 : head sigma T d X q (fun k => U i k + 0 * dU i k) (fun k l => W i k l + 0 * dW i k l) =
    head sigma T d X q (U i) (W i)).
  { unfold head, dot, pooled, attended, E, weights. f_equal. apply Sum_ext; intros k _. f_equal; [ring|].
    apply Sum_ext; intros t _. f_equal.
    assert (Q : forall s, dot d (X s) (matvec d (fun k l => W i k l + 0 * dW i k l) q) = dot d (X s) (matvec d (W i) q)).
    { intros s. unfold dot, matvec. apply Sum_ext; intros. f_equal. apply Sum_ext; intros; ring. }
    unfold softmax. rewrite Q. f_equal. apply Sum_ext; intros; now rewrite Q. }
  eapply derive_value.
  - apply derive_mult; [|now apply head_derive]. instantiate (1 := dc i). auto_derive; [easy|ring].
  - cbv beta. rewrite H0. unfold head. ring.
Qed.
