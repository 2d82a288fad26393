(** Softmax calculus: the potential, the half-mass lemma, and the shared budget of mean and spread. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.matrices base.covariance.
Open Scope R_scope.

(** ψ(λ) = log Σ exp ⟨X_t, λ⟩, and the logits ⟨X_t, λ⟩ *)
Definition logits (d : nat) (X : matrix) (lam : vector) : vector := fun t => dot d (X t) lam.
Definition potential (T d : nat) (X : matrix) (lam : vector) : R := ln (Sum T (fun t => exp (logits d X lam t))).

(** (K_U)_ij = Σ α_t ⟨U, Y_t⟩ Y_ti Y_tj with Y_t = X_t − a *)
Definition third_cumulant (T d : nat) (alpha : vector) (X : matrix) (U : vector) : matrix := fun i j =>
  let Y t := vminus (X t) (attended T alpha X) in E T alpha (fun t => dot d U (Y t) * (Y t i * Y t j)).

(** N = ‖A‖_{∞→1}, the largest Σ |(A u)_t| over |u_t| ≤ 1 *)
Definition inf_one_norm (T : nat) (A : matrix) (N : R) : Prop :=
  largest (fun v => exists u, (forall t, (t < T)%nat -> Rabs (u t) <= 1) /\
    v = Sum T (fun t => Rabs (matvec T A u t))) N.

Lemma logits_line d X lam U e t : logits d X (vplus lam (vscal e U)) t = logits d X lam t + e * logits d X U t.
Proof.
  unfold logits. rewrite dot_sym, dot_plus_l, dot_scal_l, (dot_sym d lam), (dot_sym d U). ring.
Qed.

Lemma centred_score T d alpha X U t :
  logits d X U t - E T alpha (logits d X U) = dot d U (vminus (X t) (attended T alpha X)).
Proof.
  rewrite (dot_sym d U (vminus _ _)), dot_minus_l. unfold logits. f_equal. unfold dot. rewrite E_Sum.
  apply Sum_ext; intros i _.
  unfold attended. rewrite (Rmult_comm (E _ _ _)), <- E_scal. apply E_ext; intros; ring.
Qed.

Lemma centred_mean T d alpha X U : distribution T alpha ->
  E T alpha (fun t => dot d U (vminus (X t) (attended T alpha X))) = 0.
Proof.
  intros H. rewrite (E_ext T alpha _ (fun t => logits d X U t - E T alpha (logits d X U))).
  - rewrite E_minus, (E_const _ _ _ H). ring.
  - intros; now rewrite centred_score.
Qed.

(** E ⟨U, Y⟩ X_i = (M U)_i *)
Lemma centred_token T d alpha X U i : distribution T alpha ->
  E T alpha (fun t => dot d U (vminus (X t) (attended T alpha X)) * X t i) = matvec d (covariance T alpha X) U i.
Proof.
  intros H. set (a := attended T alpha X). set (v := fun t => dot d U (vminus (X t) a)).
  rewrite (E_ext T alpha _ (fun t => v t * (X t i - a i) + a i * v t)) by (intros; unfold v; ring).
  rewrite E_plus, E_scal. unfold v at 2, a at 3. rewrite (centred_mean _ _ _ _ _ H).
  unfold matvec, covariance. fold a. rewrite Rmult_0_r, Rplus_0_r.
  rewrite (E_ext T alpha _ (fun t => Sum d (fun j => U j * ((X t i - a i) * (X t j - a j))))).
  - rewrite E_Sum. apply Sum_ext; intros j _. rewrite E_scal. ring.
  - intros t _. unfold v, dot, vminus. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma attended_derive T d X lam U i : (0 < T)%nat ->
  is_derive (fun e => attended T (softmax T (logits d X (vplus lam (vscal e U)))) X i) 0
    (matvec d (covariance T (softmax T (logits d X lam)) X) U i).
Proof.
  intros HT. set (z := logits d X lam). assert (H := softmax_distribution T z HT).
  apply is_derive_ext with (f := fun e => E T (softmax T (fun s => z s + e * logits d X U s)) (fun t => X t i)).
  - intros e. unfold attended, E. apply Sum_ext; intros t _. f_equal.
    apply softmax_ext; intros s. now rewrite logits_line.
  - eapply derive_value; [now apply mean_derive_const|]. rewrite <- centred_token by easy.
    apply E_ext; intros t _. now rewrite <- centred_score.
Qed.

(** kr-proposition-b
    Covers: the whole statement, as derivatives along every line λ + eU at every λ.
    Reads: for T ≥ 1 tokens in ℝᵈ, every λ and every direction U: along λ + eU, at e = 0, ψ has the derivative ⟨a, U⟩, every a_i the derivative (MU)_i, and every M_ij the derivative (K_U)_ij.
    Mistake: `(2 * dot d (attended` for `(dot d (attended`
    Mistake: `third_cumulant T d alpha X U j j` for `third_cumulant T d alpha X U i j`
*)
Theorem kr_proposition_b : forall T d X lam U, (0 < T)%nat ->
  let alpha := softmax T (logits d X lam) in
  let moved e := vplus lam (vscal e U) in
  is_derive (fun e => potential T d X (moved e)) 0 (dot d (attended T alpha X) U) /\
  (forall i, (i < d)%nat -> is_derive (fun e => attended T (softmax T (logits d X (moved e))) X i) 0
    (matvec d (covariance T alpha X) U i)) /\
  (forall i j, (i < d)%nat -> (j < d)%nat ->
    is_derive (fun e => covariance T (softmax T (logits d X (moved e))) X i j) 0 (third_cumulant T d alpha X U i j)).
Proof.
  intros T d X lam U HT alpha moved. set (z := logits d X lam).
  assert (H := softmax_distribution T z HT : distribution T alpha).
  split; [|split; [intros i _; now apply attended_derive|]].
  - apply is_derive_ext with (f := fun e => ln (Sum T (fun t => exp (z t + e * logits d X U t)))).
    { intros e. unfold potential. f_equal. apply Sum_ext; intros t _. unfold moved. now rewrite logits_line. }
    assert (D : is_derive (fun e => Sum T (fun t => exp (z t + e * logits d X U t))) 0
      (Sum T (fun t => logits d X U t * exp (z t)))).
    { apply (Sum_derive T (fun e t => exp (z t + e * logits d X U t))). intros t _. auto_derive; [easy|].
      rewrite Rmult_0_l, Rplus_0_r. ring. }
    assert (Z0 : Sum T (fun t => exp (z t + 0 * logits d X U t)) = Sum T (fun t => exp (z t))).
    { apply Sum_ext; intros. f_equal. ring. }
    assert (P := partition_pos T z HT).
    assert (L := is_derive_ln _ P). rewrite <- Z0 in L at 1.
    eapply derive_value; [apply (is_derive_comp ln (fun e => Sum T (fun t => exp (z t + e * logits d X U t)))
      0 _ _ L D)|].
    unfold scal; simpl; unfold mult; simpl.
    transitivity (E T alpha (logits d X U)).
    + unfold E, alpha, softmax. fold z. rewrite Rmult_comm, <- Sum_scal.
      apply Sum_ext; intros. field. lra.
    + unfold logits, dot, attended. rewrite E_Sum. apply Sum_ext; intros i _. rewrite Rmult_comm, <- E_scal.
      apply E_ext; intros; ring.
  - intros i j _ _. set (a := attended T alpha X).
    pose (al e := softmax T (logits d X (moved e))).
    apply is_derive_ext with (f := fun e => E T (softmax T (fun s => z s + e * logits d X U s)) (fun t => X t i * X t j)
      - attended T (al e) X i * attended T (al e) X j).
    { intros e. rewrite (covariance_moment _ (softmax T _)) by now apply softmax_distribution. unfold moment, E, al.
      f_equal. apply Sum_ext; intros t _. f_equal. apply softmax_ext; intros s. unfold moved. now rewrite logits_line. }
    assert (al0 : forall k, attended T (al 0) X k = a k).
    { intros k. unfold a, attended, E, al, alpha. apply Sum_ext; intros t _. f_equal. apply softmax_ext; intros s.
      unfold moved. rewrite logits_line. ring. }
    eapply derive_value.
    { apply (is_derive_minus (fun e => E T (softmax T (fun s => z s + e * logits d X U s)) (fun t => X t i * X t j))
        (fun e => attended T (al e) X i * attended T (al e) X j)); [now apply mean_derive_const|].
      apply (derive_mult (fun e => attended T (al e) X i) (fun e => attended T (al e) X j));
        [exact (attended_derive T d X lam U i HT)|exact (attended_derive T d X lam U j HT)]. }
    rewrite !al0. fold z. change (softmax T z) with alpha. rewrite <- !centred_token by easy. fold a.
    set (v := fun t => dot d U (vminus (X t) a)).
    assert (V0 : E T alpha v = 0) by exact (centred_mean T d alpha X U H).
    assert (K : third_cumulant T d alpha X U i j =
      E T alpha (fun t => v t * (X t i * X t j)) -
        (a j * E T alpha (fun t => v t * X t i) + a i * E T alpha (fun t => v t * X t j))).
    { unfold third_cumulant. fold a. rewrite (E_ext T alpha _ (fun t => v t * (X t i * X t j)
        - (a j * (v t * X t i) + a i * (v t * X t j) - a i * a j * v t))) by (intros; unfold v, vminus; ring).
      rewrite E_minus, E_minus, E_plus, !E_scal, V0. ring. }
    rewrite K. rewrite (E_ext T alpha _ (fun t => v t * (X t i * X t j))).
    2:{ intros t _. unfold v, a. now rewrite <- centred_score. }
    change (fun t => dot d U (vminus (X t) a) * X t i) with (fun t => v t * X t i).
    change (fun t => dot d U (vminus (X t) a) * X t j) with (fun t => v t * X t j).
    unfold minus, plus, opp; simpl. ring.
Qed.

(** (J u)_t = α_t (u_t − ū) *)
Lemma jacobian_apply T z u t : (t < T)%nat ->
  matvec T (jacobian (softmax T z)) u t = softmax T z t * (u t - E T (softmax T z) u).
Proof.
  intros Ht. unfold matvec, jacobian, E.
  rewrite (Sum_ext T _ (fun s => (if (t =? s)%nat then softmax T z t * u s else 0)
    - softmax T z t * (softmax T z s * u s))).
  - rewrite Sum_minus, Sum_scal, (Sum_single T _ t Ht).
    + rewrite Nat.eqb_refl. ring.
    + intros s _ Hs. destruct (Nat.eqb_spec t s); [now subst|easy].
  - intros s _. destruct (t =? s)%nat; ring.
Qed.

Lemma jacobian_norm T z u : (0 < T)%nat -> Sum T (fun t => Rabs (matvec T (jacobian (softmax T z)) u t)) =
  E T (softmax T z) (fun t => Rabs (u t - E T (softmax T z) u)).
Proof.
  intros HT. apply Sum_ext; intros t Ht. rewrite jacobian_apply, Rabs_mult, (Rabs_right (softmax T z t)); try easy.
  left. now apply softmax_pos.
Qed.

(** The bound: for u in the cube the tokens with u_t ≥ ū are a set S with E |u − ū| ≤ 4 α(S) (1 − α(S)). *)
Lemma above_mean T alpha u : distribution T alpha -> (forall t, (t < T)%nat -> Rabs (u t) <= 1) ->
  exists S, E T alpha (fun t => Rabs (u t - E T alpha u)) <= 4 * (mass T alpha S * (1 - mass T alpha S)).
Proof.
  intros H Hu. set (m := E T alpha u). set (S t := if Rle_dec m (u t) then true else false). exists S.
  set (i t := if S t then 1 else 0). set (p := mass T alpha S). set (A := E T alpha (fun t => i t * u t)).
  assert (Hp : p = E T alpha i) by apply mass_E. assert (P : 0 <= p <= 1) by now apply mass_range.
  (* E |u − ū| = 2 E i (u − ū), since E (u − ū) = 0 *)
  assert (D : E T alpha (fun t => Rabs (u t - m)) = 2 * (A - p * m)).
  { rewrite (E_ext T alpha _ (fun t => 2 * (i t * u t) - 2 * m * i t - (u t - m))).
    - rewrite !E_minus, !E_scal, (E_const _ _ _ H), <- Hp. fold A m. ring.
    - intros t _. unfold i, S. destruct (Rle_dec m (u t)); [rewrite Rabs_right|rewrite Rabs_left]; lra. }
  (* what lies above contributes at most p to the mean, what lies below at least −(1 − p) *)
  assert (B : forall t, (t < T)%nat -> -1 <= u t <= 1) by (intros t Ht; apply Rabs_le_between; auto).
  assert (B1 : A <= p).
  { rewrite Hp. apply E_le; [easy|]. intros t Ht. specialize (B t Ht). unfold i. destruct (S t); lra. }
  assert (B2 : 0 <= m - A + (1 - p)).
  { replace (m - A + (1 - p)) with (E T alpha (fun t => u t - i t * u t + (1 - i t))).
    - apply E_ge0; [easy|]. intros t Ht. specialize (B t Ht). unfold i. destruct (S t); lra.
    - rewrite E_plus, !E_minus, (E_const _ _ _ H), <- Hp. reflexivity. }
  (* A − p ū = (1 − p) A − p (ū − A) ≤ (1 − p) p + p (1 − p) *)
  rewrite D. assert (0 <= (1 - p) * (p - A)) by (apply Rmult_le_pos; lra).
  assert (0 <= p * (m - A + (1 - p))) by (apply Rmult_le_pos; lra). lra.
Qed.

(** The value: the sign vector of S has E |u − ū| = 4 α(S) (1 − α(S)). *)
Lemma sign_vector T alpha (S : nat -> bool) : distribution T alpha -> let u t := if S t then 1 else -1 in
  E T alpha (fun t => Rabs (u t - E T alpha u)) = 4 * (mass T alpha S * (1 - mass T alpha S)).
Proof.
  intros H u. set (p := mass T alpha S). assert (P : 0 <= p <= 1) by now apply mass_range.
  assert (Hu : E T alpha u = 2 * p - 1).
  { rewrite (E_ext T alpha u (fun t => 2 * (if S t then 1 else 0) - 1)) by (intros; unfold u; destruct (S _); ring).
    rewrite E_minus, E_scal, (E_const _ _ _ H), <- mass_E. reflexivity. }
  rewrite Hu, (E_ext T alpha _ (fun t => (2 - 4 * p) * (if S t then 1 else 0) + 2 * p)).
  - rewrite E_plus, E_scal, (E_const _ _ _ H), <- mass_E. fold p. ring.
  - intros t _. unfold u. destruct (S t); [rewrite Rabs_right by lra | rewrite Rabs_left1 by lra]; ring.
Qed.

(** Among the sets of n tokens one is best. *)
Lemma best_set n (f : (nat -> bool) -> R) :
  (forall S S', (forall t, (t < n)%nat -> S t = S' t) -> f S = f S') -> exists S, forall S', f S' <= f S.
Proof.
  revert f. induction n as [|n IH]; intros f H.
  - exists (fun _ => true). intros S. right. apply H. lia.
  - set (put (b : bool) S t := if (t =? n)%nat then b else S t : bool).
    assert (Q : forall b S S', (forall t, (t < n)%nat -> S t = S' t) -> f (put b S) = f (put b S')).
    { intros b S S' HS. apply H; intros t Ht. unfold put. destruct (Nat.eqb_spec t n); [easy|apply HS; lia]. }
    destruct (IH _ (Q true)) as [S1 H1], (IH _ (Q false)) as [S0 H0].
    assert (V : forall S, f S = f (put (S n) S)).
    { intros S. apply H; intros t _. unfold put. now destruct (Nat.eqb_spec t n); subst. }
    destruct (Rle_dec (f (put true S1)) (f (put false S0))); [exists (put false S0)|exists (put true S1)];
      intros S'; rewrite V; destruct (S' n); specialize (H1 S'); specialize (H0 S'); lra.
Qed.

(** The norm is the value at the sign vector of a best set. *)
Lemma half_mass T z : (0 < T)%nat -> let p := mass T (softmax T z) in
  exists S, (forall S', p S' * (1 - p S') <= p S * (1 - p S)) /\ inf_one_norm T (jacobian (softmax T z)) (4 * (p S *
    (1 - p S))).
Proof.
  intros HT p. assert (H := softmax_distribution T z HT). destruct (best_set T (fun S => p S * (1 - p S))) as [S HS].
  { intros S S' HE. assert (Q : p S = p S') by (apply Sum_ext; intros t Ht; now rewrite HE). now rewrite Q. }
  exists S. split; [exact HS|]. split.
  - exists (fun t => if S t then 1 else -1). split.
    + intros t _. destruct (S t); [rewrite Rabs_R1 | rewrite Rabs_left by lra]; lra.
    + rewrite jacobian_norm by easy. symmetry. apply (sign_vector T (softmax T z) S H).
  - intros v (u & Hu & ->). rewrite jacobian_norm by easy. destruct (above_mean T _ u H Hu) as [S' B].
    specialize (HS S'). unfold p in *. lra.
Qed.

(** kr-fact-1-sharp
    Covers: the whole statement.
    Reads: for every T ≥ 1 and z in ℝᵀ with α = softmax(z), some number N is both ‖J_s(z)‖_{∞→1} and the largest 4 α(S)(1 − α(S)) over all sets S of tokens; N ≤ 1; N = 1 exactly when α(S) = ½ for some S; and N = 0 if T = 1. For every T ≥ 2 there are z and S with α(S) = ½.
    Mistake: `v = 2 * (alpha` for `v = 4 * (alpha`
    Mistake: `alpha S = 1 / 3` for `alpha S = 1 / 2`
    Mistake: `(1 <= T)` for `(2 <= T)`
*)
Theorem kr_fact_1_sharp :
  (forall T z, (0 < T)%nat -> let alpha := mass T (softmax T z) in
    exists N, inf_one_norm T (jacobian (softmax T z)) N /\ largest (fun v => exists S, v = 4 * (alpha S * (1 - alpha
      S))) N /\
      N <= 1 /\ (N = 1 <-> exists S, alpha S = 1 / 2) /\ (T = 1%nat -> N = 0)) /\
  (forall T, (2 <= T)%nat -> exists z S, mass T (softmax T z) S = 1 / 2).
Proof.
  split.
  - intros T z HT p. destruct (half_mass T z HT) as (S & HS & N). fold p in HS, N.
    assert (Q : forall x, 4 * (x * (1 - x)) = 1 - (2 * x - 1) ^ 2) by (intros; ring).
    exists (4 * (p S * (1 - p S))). split; [exact N|]. split; [|split; [|split]].
    + split; [now exists S|]. intros v [S' ->]. specialize (HS S'). lra.
    + rewrite Q. assert (0 <= (2 * p S - 1) ^ 2) by apply pow2_ge_0. lra.
    + split; [intros E1; exists S | intros [S' E1]; specialize (HS S'); rewrite E1 in HS].
      * rewrite Q in E1. assert (Z : (2 * p S - 1) * (2 * p S - 1) = 0) by lra. apply Rmult_integral in Z. lra.
      * rewrite Q. assert (0 <= (2 * p S - 1) ^ 2) by apply pow2_ge_0. rewrite <- Q in *. lra.
    + intros ->. destruct (softmax_distribution 1 z HT) as [_ O]. unfold p, mass in *. simpl in *.
      destruct (S 0%nat); nra.
  - intros T HT. exists (fun t => if (t =? 0)%nat then ln (INR (T - 1)) else 0), (fun t => (t =? 0)%nat).
    assert (P : 0 < INR (T - 1)) by (apply lt_0_INR; lia).
    rewrite (one_against T _ (ln (INR (T - 1))) 0) by (lia || easy). rewrite exp_ln, exp_0 by easy. field. lra.
Qed.

(** kr-fact-1
    Covers: the whole statement, with the Jacobian as the derivative along every line z + e u.
    Reads: for T ≥ 1 and z in ℝᵀ, J = diag α − α αᵀ with α = softmax(z): along z + e u, at e = 0, every α_t has the derivative (J u)_t; J is symmetric; J 1 = 0; the largest ‖J u‖₁ over ‖u‖_∞ ≤ 1 exists and is at most 2.
    Mistake: `(2 * matvec` for `(matvec`
    Mistake: `N <= 1 / 2` for `N <= 2`
*)
Theorem kr_fact_1 : forall T z, (0 < T)%nat ->
  (forall u t, (t < T)%nat ->
    is_derive (fun e => softmax T (fun s => z s + e * u s) t) 0 (matvec T (jacobian (softmax T z)) u t)) /\
  (forall t s, jacobian (softmax T z) t s = jacobian (softmax T z) s t) /\
  (forall t, (t < T)%nat -> matvec T (jacobian (softmax T z)) (fun _ => 1) t = 0) /\
  (exists N, inf_one_norm T (jacobian (softmax T z)) N /\ N <= 2).
Proof.
  intros T z HT. assert (H := softmax_distribution T z HT). split; [|split; [|split]].
  - intros u t Ht. rewrite jacobian_apply by easy. now apply softmax_derive.
  - intros t s. unfold jacobian. rewrite (Nat.eqb_sym s t). destruct (Nat.eqb_spec t s); [subst|]; ring.
  - intros t Ht. rewrite jacobian_apply, (E_const _ _ _ H) by easy. ring.
  - destruct (proj1 kr_fact_1_sharp T z HT) as (N & HN & _ & N1 & _). exists N. split; [exact HN|lra].
Qed.

(** tr M = 0 only if every token with a weight is the mean *)
Lemma no_spread T d alpha X : distribution T alpha -> trace d (covariance T alpha X) <= 0 ->
  forall t i, (t < T)%nat -> (i < d)%nat -> 0 < alpha t -> X t i = attended T alpha X i.
Proof.
  intros H Z t i Ht Hi P. set (a := attended T alpha X).
  assert (N : forall i, (i < d)%nat -> 0 <= covariance T alpha X i i).
  { intros j _. apply E_ge0; [easy|]. intros s _. apply Rle_0_sqr. }
  assert (V : covariance T alpha X i i = 0).
  { apply (Sum_zero_terms d (fun i => covariance T alpha X i i)); try easy. assert (G := trace_ge0 T d alpha X H).
    unfold trace in *. lra. }
  assert (W : alpha t * ((X t i - a i) * (X t i - a i)) = 0).
  { apply (Sum_zero_terms T (fun t => alpha t * ((X t i - a i) * (X t i - a i)))); try easy.
    intros s Hs. apply Rmult_le_pos; [now apply H|apply Rle_0_sqr]. }
  apply Rmult_integral in W. destruct W as [W|W]; [lra|]. apply Rmult_integral in W. lra.
Qed.

(** kr-fact-2
    Covers: the whole statement, for any weights α_t ≥ 0 that add up to 1 (softmax weights of finite logits are positive).
    Reads: for tokens of norm at most 1 and any weights, ‖a‖ ≤ 1; if all weights are positive, then ‖a‖ = 1 exactly when all tokens are one and the same unit vector e, and ‖a‖ = 1 implies M = 0.
    Mistake: without `in_ball T d X ->`
    Mistake: without `(forall t, (t < T)%nat -> 0 < alpha t) ->`
*)
Theorem kr_fact_2 : forall T d alpha X, distribution T alpha -> in_ball T d X ->
  vnorm d (attended T alpha X) <= 1 /\
  ((forall t, (t < T)%nat -> 0 < alpha t) ->
    (vnorm d (attended T alpha X) = 1 <->
      exists e, vnorm d e = 1 /\ forall t i, (t < T)%nat -> (i < d)%nat -> X t i = e i) /\
    (vnorm d (attended T alpha X) = 1 -> forall i j, (i < d)%nat -> (j < d)%nat -> covariance T alpha X i j = 0)).
Proof.
  intros T d alpha X H B. split; [now apply attended_ball|]. intros P. set (a := attended T alpha X).
  assert (Q : vnorm d a = 1 -> forall t i, (t < T)%nat -> (i < d)%nat -> X t i = a i).
  { intros N t i Ht Hi. apply (no_spread T d); auto. apply norm_eq1 in N. assert (G := trace_ball T d alpha X H B).
    fold a in G. lra. }
  split; [split|].
  - intros N. exists a. split; [easy|now apply Q].
  - intros (e & N & HX). rewrite <- N. unfold vnorm. f_equal. apply Sum_ext; intros i Hi. f_equal. unfold a, attended.
    rewrite (E_ext _ _ _ (fun _ => e i)) by auto. now apply E_const.
  - intros N i j Hi Hj. apply E_zero. intros t Ht. rewrite (Q N t i), (Q N t j) by easy. fold a. ring.
Qed.

(** kr-fact-3
    Covers: the whole statement.
    Reads: for tokens of norm at most 1 and any weights α_t ≥ 0 that add up to 1: M_ij = Σ α_t X_ti X_tj − a_i a_j; M is symmetric; 0 ≤ ⟨w, M w⟩ ≤ ⟨w, (Σ α_t X_t X_tᵀ) w⟩ for every w; and ‖M‖_F ≤ tr M ≤ Σ α_t ‖X_t‖² ≤ 1.
    Mistake: `2 * fnorm` for `fnorm`
    Mistake: without `in_ball T d X ->`
*)
Theorem kr_fact_3 : forall T d alpha X, distribution T alpha -> in_ball T d X ->
  let M := covariance T alpha X in let a := attended T alpha X in
  (forall i j, M i j = moment T alpha X i j - a i * a j) /\
  (forall i j, M i j = M j i) /\
  (forall w, 0 <= form d M w <= form d (moment T alpha X) w) /\
  fnorm d d M <= trace d M <= E T alpha (fun t => sq d (X t)) /\ E T alpha (fun t => sq d (X t)) <= 1.
Proof.
  intros T d alpha X H B M a.
  assert (F : forall w, form d M w = E T alpha (fun t => dot d w (vminus (X t) a) ^ 2)).
  { intros w. rewrite <- form_moment. reflexivity. }
  assert (C : forall i j, M i j = moment T alpha X i j - a i * a j) by (intros; now apply covariance_moment).
  split; [exact C|split; [|split; [|split; [split|]]]].
  - intros i j. apply E_ext; intros; ring.
  - intros w. split; [rewrite F; apply E_ge0; [easy|]; intros; apply pow2_ge_0|].
    rewrite F, form_moment. set (v := logits d X w).
    rewrite (E_ext T alpha _ (fun t => (v t - E T alpha v) ^ 2)) by (intros; unfold v; now rewrite centred_score).
    rewrite (variance _ _ _ H), (E_ext T alpha (fun t => dot d w (X t) ^ 2) (fun t => v t ^ 2)).
    + assert (G := pow2_ge_0 (E T alpha v)). lra.
    + intros t _. unfold v, logits. now rewrite dot_sym.
  - now apply fnorm_trace.
  - unfold M. rewrite trace_covariance by easy. assert (G := sq_ge0 d (attended T alpha X)). lra.
  - now apply moment_ball.
Qed.

Lemma op_norm_fnorm d A : exists c, op_norm d A c /\ c <= fnorm d d A.
Proof.
  assert (Z : vnorm d (fun _ => 0) <= 1).
  { apply norm_le1. unfold sq. rewrite (Sum_ext d _ (fun _ => 0)) by (intros; ring). rewrite Sum_zero. lra. }
  assert (B : is_upper_bound (fun v => exists w, vnorm d w <= 1 /\ v = vnorm d (matvec d A w)) (fnorm d d A)).
  { intros v (w & Hw & ->). eapply Rle_trans; [apply matvec_fnorm|]. rewrite <- (Rmult_1_r (fnorm d d A)) at 2.
    apply Rmult_le_compat_l; [apply sqrt_pos|easy]. }
  destruct (completeness (fun v => exists w, vnorm d w <= 1 /\ v = vnorm d (matvec d A w))) as [c Hc].
  - now exists (fnorm d d A).
  - exists (vnorm d (matvec d A (fun _ => 0))), (fun _ => 0). easy.
  - exists c. split; [exact Hc|]. now apply Hc.
Qed.

(** kr-fact-3-sharp
    Covers: the whole statement, for any weights α_t ≥ 0 that add up to 1 and any number of tokens in each camp.
    Reads: for tokens of norm at most 1 and any weights, ‖M‖_op ≤ ‖M‖_F ≤ tr M = Σ α_t ‖X_t‖² − ‖a‖² ≤ 1 − ‖a‖², with equality in the last exactly when every token with α_t > 0 is a unit vector. If 0 ≤ s < 1 and the tokens are ±e, ‖e‖ = 1, with mass (1 + s)/2 on e, then ‖a‖ = s and ‖M‖_op = ‖M‖_F = tr M = 1 − ‖a‖²; for each such s two logits give two tokens these masses.
    Mistake: `trace d M <= 1 - 2 * a2` for `trace d M <= 1 - a2`
    Mistake: `0 <= alpha t -> vnorm` for `0 < alpha t -> vnorm`
    Mistake: without `vnorm d e = 1 ->`
*)
Theorem kr_fact_3_sharp :
  (forall T d alpha X, distribution T alpha -> in_ball T d X ->
    let M := covariance T alpha X in let a2 := sq d (attended T alpha X) in
    (exists c, op_norm d M c /\ c <= fnorm d d M) /\ fnorm d d M <= trace d M /\
    trace d M = E T alpha (fun t => sq d (X t)) - a2 /\ trace d M <= 1 - a2 /\
    (trace d M = 1 - a2 <-> forall t, (t < T)%nat -> 0 < alpha t -> vnorm d (X t) = 1)) /\
  (forall T d alpha X S e s, distribution T alpha -> vnorm d e = 1 -> camps T d S e X -> 0 <= s < 1 ->
    mass T alpha S = (1 + s) / 2 -> let M := covariance T alpha X in let a := attended T alpha X in
    vnorm d a = s /\ op_norm d M (1 - s ^ 2) /\ fnorm d d M = 1 - s ^ 2 /\ trace d M = 1 - s ^ 2) /\
  (forall s, 0 <= s < 1 -> exists z, mass 2 (softmax 2 z) (fun t => (t =? 0)%nat) = (1 + s) / 2).
Proof.
  split; [|split].
  - intros T d alpha X H B M a2. split; [apply op_norm_fnorm|]. split; [now apply fnorm_trace|].
    assert (Q : trace d M = E T alpha (fun t => sq d (X t)) - a2) by now apply trace_covariance.
    split; [exact Q|]. split; [now apply trace_ball|]. rewrite Q.
    assert (D : 1 - E T alpha (fun t => sq d (X t)) = E T alpha (fun t => 1 - sq d (X t))).
    { rewrite E_minus, (E_const _ _ _ H). reflexivity. }
    split.
    + intros Z t Ht P. apply norm_eq1. assert (Y : alpha t * (1 - sq d (X t)) = 0).
      { apply (Sum_zero_terms T (fun t => alpha t * (1 - sq d (X t)))); [|unfold E in *; lra|easy].
        intros r Hr. apply Rmult_le_pos; [now apply H|]. assert (G := proj1 (norm_le1 _ _) (B r Hr)). lra. }
      apply Rmult_integral in Y. lra.
    + intros Z. cut (E T alpha (fun t => 1 - sq d (X t)) = 0); [lra|]. unfold E. rewrite <- (Sum_zero T).
      apply Sum_ext; intros t Ht. destruct (proj1 H t Ht) as [P|<-]; [|ring].
      rewrite (proj1 (norm_eq1 _ _) (Z t Ht P)). ring.
  - intros T d alpha X S e s H N C Hs P M a. apply norm_eq1 in N.
    assert (A : forall i, (i < d)%nat -> a i = s * e i) by (intros; now apply (camps_mean T d alpha S e X s)).
    assert (Q : forall i j, (i < d)%nat -> (j < d)%nat -> M i j = (1 - s ^ 2) * (e i * e j)).
    { intros; now apply (camps_covariance T d alpha S e X s). }
    assert (s1 : 0 <= 1 - s ^ 2) by (clear - Hs; nra).
    assert (F : fnorm d d M = 1 - s ^ 2).
    { unfold fnorm, frob2. rewrite <- (sqrt_pow2 (1 - s ^ 2) s1). f_equal.
      transitivity ((1 - s ^ 2) ^ 2 * (sq d e * sq d e)); [|rewrite N; ring].
      unfold sq at 1. rewrite (Rmult_comm (Sum d _)), <- !Sum_scal. apply Sum_ext; intros i Hi.
      unfold sq. rewrite (Rmult_comm (Sum d _)), <- !Sum_scal. apply Sum_ext; intros j Hj. rewrite Q by easy. ring. }
    split; [|split; [|split; [exact F|]]].
    + transitivity (vnorm d (vscal s e)).
      * unfold vnorm. f_equal. apply Sum_ext; intros i Hi. now rewrite A.
      * rewrite norm_scal, Rabs_right by lra. rewrite (proj2 (norm_eq1 d e) N). ring.
    + split.
      * intros v (w & Hw & ->). eapply Rle_trans; [apply matvec_fnorm|]. rewrite F.
        rewrite <- (Rmult_1_r (1 - s ^ 2)) at 2. now apply Rmult_le_compat_l.
      * intros b Hb. apply Hb. exists e. split; [apply norm_le1; lra|].
        transitivity (vnorm d (vscal (1 - s ^ 2) e)).
        { rewrite norm_scal, Rabs_right by lra. rewrite (proj2 (norm_eq1 d e) N). ring. }
        unfold vnorm. f_equal. apply Sum_ext; intros i Hi. f_equal. unfold vscal, matvec.
        rewrite (Sum_ext d _ (fun j => (1 - s ^ 2) * e i * e j ^ 2)) by (intros; rewrite Q by easy; ring).
        rewrite Sum_scal. fold (sq d e). rewrite N. ring.
    + unfold trace. rewrite (Sum_ext d _ (fun i => (1 - s ^ 2) * e i ^ 2)) by (intros; rewrite Q by easy; ring).
      rewrite Sum_scal. fold (sq d e). rewrite N. ring.
  - intros s Hs. exists (fun t => if (t =? 0)%nat then ln (1 + s) else ln (1 - s)).
    rewrite (one_against 2 _ (ln (1 + s)) (ln (1 - s))) by (lia || easy). rewrite !exp_ln by lra. simpl. field. lra.
Qed.
