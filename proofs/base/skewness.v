(** The centred random token, its third cumulant, and cubic forms on the diagonal. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention.
Open Scope R_scope.

(** Y_t = X_t − a, the centred token *)
Definition centred (T : nat) (alpha : vector) (X : matrix) (t : nat) : vector := fun i => X t i - attended T alpha X i.

(** ⟨u, M w⟩ for the covariance M of the tokens *)
Definition spread (T d : nat) (alpha : vector) (X : matrix) (u w : vector) : R :=
  dot d u (matvec d (covariance T alpha X) w).

(** κ₃(u, v, w) = Σ α_t ⟨u, Y_t⟩⟨v, Y_t⟩⟨w, Y_t⟩, the third cumulant *)
Definition third (T d : nat) (alpha : vector) (X : matrix) (u v w : vector) : R := E T alpha (fun t =>
  dot d u (centred T alpha X t) * dot d v (centred T alpha X t) * dot d w (centred T alpha X t)).

(** λ = ‖M‖_op: the largest ⟨e, M e⟩ over unit vectors e, and it is taken *)
Definition spread_norm (T d : nat) (alpha : vector) (X : matrix) (lambda : R) : Prop :=
  (exists g, sq d g = 1 /\ spread T d alpha X g g = lambda) /\
  (forall e, sq d e = 1 -> spread T d alpha X e e <= lambda).

(** all tokens lie in the unit ball *)
Definition in_ball (T d : nat) (X : matrix) : Prop := forall t, (t < T)%nat -> sq d (X t) <= 1.

Lemma dot_plus_r d x y z : dot d x (vplus y z) = dot d x y + dot d x z.
Proof. rewrite !(dot_sym d x). apply dot_plus_l. Qed.

Lemma dot_scal_r d c x y : dot d x (vscal c y) = c * dot d x y.
Proof. rewrite !(dot_sym d x). apply dot_scal_l. Qed.

(** E ⟨u, X⟩ = ⟨u, a⟩ *)
Lemma E_dot T d alpha X u : E T alpha (fun t => dot d u (X t)) = dot d u (attended T alpha X).
Proof.
  unfold E, dot, attended. rewrite (Sum_ext T _ (fun t => Sum d (fun i => u i * (alpha t * X t i)))).
  - rewrite Sum_swap. apply Sum_ext; intros. unfold E. now rewrite Sum_scal.
  - intros. rewrite <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma dot_centred T d alpha X u t :
  dot d u (centred T alpha X t) = dot d u (X t) - dot d u (attended T alpha X).
Proof. unfold dot. rewrite <- Sum_minus. apply Sum_ext; intros; unfold centred; ring. Qed.

Lemma E_centred T d alpha X u : distribution T alpha -> E T alpha (fun t => dot d u (centred T alpha X t)) = 0.
Proof.
  intros H. rewrite (E_ext _ _ _ (fun t => dot d u (X t) + -1 * dot d u (attended T alpha X)))
    by (intros; rewrite dot_centred; ring).
  rewrite E_plus, E_dot, E_const by easy. ring.
Qed.

Lemma spread_E T d alpha X u w : spread T d alpha X u w =
  E T alpha (fun t => dot d u (centred T alpha X t) * dot d w (centred T alpha X t)).
Proof.
  unfold spread, dot at 1, matvec, covariance, E.
  rewrite (Sum_ext d _ (fun i => Sum d (fun j => Sum T (fun t =>
    alpha t * (u i * centred T alpha X t i) * (w j * centred T alpha X t j))))).
  - rewrite (Sum_ext d _ (fun i => Sum T (fun t => Sum d (fun j =>
      alpha t * (u i * centred T alpha X t i) * (w j * centred T alpha X t j))))) by (intros; apply Sum_swap).
    rewrite Sum_swap. apply Sum_ext; intros t _. unfold dot.
    rewrite (Sum_ext d _ (fun i => alpha t * Sum d (fun j => w j * centred T alpha X t j) * (u i * centred T alpha X t
      i)))
      by (intros; rewrite Sum_scal; ring).
    rewrite Sum_scal. ring.
  - intros i _. rewrite <- Sum_scal. apply Sum_ext; intros j _.
      rewrite (Rmult_comm _ (w j)), <- Rmult_assoc, <- Sum_scal.
    apply Sum_ext; intros. unfold centred. ring.
Qed.

(** E ‖Y‖² ≤ 1 − ‖a‖² for tokens in the ball. *)
Lemma energy T d alpha X : distribution T alpha -> in_ball T d X ->
  E T alpha (fun t => sq d (centred T alpha X t)) <= 1 - sq d (attended T alpha X).
Proof.
  intros H B. set (a := attended T alpha X).
  rewrite (E_ext _ _ _ (fun t => sq d (X t) + (-2 * dot d a (X t) + sq d a))).
  - rewrite E_plus, E_plus, E_scal, E_dot, E_const by easy. fold a. rewrite <- sq_dot.
    assert (E T alpha (fun t => sq d (X t)) <= 1) by (rewrite <- (E_const T alpha 1 H); now apply E_le). lra.
  - intros t _. change (centred T alpha X t) with (vminus (X t) a). rewrite sq_minus, dot_sym. ring.
Qed.

(** Every vector is its length times a unit vector. *)
Lemma unit_of d u a : sq d u = 1 -> exists x, sq d x = 1 /\ forall y, dot d a y = vnorm d a * dot d x y.
Proof.
  intros U. destruct (Req_dec (vnorm d a) 0) as [Z|Z].
  - exists u. split; [easy|]. intros y. rewrite Z, Rmult_0_l. assert (C := cauchy d a y). rewrite Z, Rmult_0_l in C.
    assert (P := Rabs_pos (dot d a y)). apply Rabs_eq_0. lra.
  - exists (vscal (/ vnorm d a) a). rewrite sq_scal, <- norm_sq. split; [field; easy|].
    intros. rewrite dot_scal_l. field. easy.
Qed.

(** ⟨x, y⟩²⟨w, y⟩ is an average of cubes ⟨e, y⟩³ over three unit vectors, by trisecting the angle of x and w. *)
Lemma trisection d x w : sq d x = 1 -> sq d w = 1 -> exists mu0 mu1 mu2 e0 e1 e2,
  0 <= mu0 /\ 0 <= mu1 /\ 0 <= mu2 /\ mu0 + mu1 + mu2 = 1 /\ sq d e0 = 1 /\ sq d e1 = 1 /\ sq d e2 = 1 /\
  forall y, dot d x y ^ 2 * dot d w y = mu0 * dot d e0 y ^ 3 + mu1 * dot d e1 y ^ 3 + mu2 * dot d e2 y ^ 3.
Proof.
  intros X W. set (c := dot d x w). assert (C : c ^ 2 <= 1).
  { assert (K := cauchy_sq d x w). rewrite X, W in K. fold c in K. lra. }
  assert (C' : -1 <= c <= 1) by nra. set (r := vminus w (vscal c x)).
  assert (RR : sq d r = 1 - c ^ 2).
  { unfold r. rewrite sq_minus, sq_scal, dot_scal_r, X, W, (dot_sym d w x). fold c. ring. }
  assert (RX : dot d r x = 0).
  { unfold r. rewrite dot_minus_l, dot_scal_l, <- sq_dot, X, dot_sym. fold c. ring. }
  assert (DEC : forall y, dot d w y = c * dot d x y + dot d r y).
  { intros. unfold r. rewrite dot_minus_l, dot_scal_l. ring. }
  destruct (unit_of d x r X) as (g0 & _ & G0).
  destruct (Req_dec (1 - c ^ 2) 0) as [Z|Z].
  - exists 1, 0, 0, (vscal c x), x, x. rewrite sq_scal, X. repeat split; try lra. intros y.
    rewrite DEC, G0, dot_scal_l. replace (vnorm d r) with 0 by (unfold vnorm; rewrite RR, Z; symmetry; apply sqrt_0).
    replace ((c * dot d x y) ^ 3) with (c ^ 2 * (c * dot d x y ^ 3)) by ring. replace (c ^ 2) with 1 by lra. ring.
  - assert (SP : 0 < 1 - c ^ 2) by nra. set (psi := acos c / 3). set (p := cos psi). set (m := sqrt 3 * sin psi).
    assert (Q3 : sqrt 3 * sqrt 3 = 3) by (apply sqrt_sqrt; lra). assert (S3 : 0 < sqrt 3) by (apply sqrt_lt_R0; lra).
    assert (PM : p ^ 2 + m ^ 2 / 3 = 1).
    { unfold m, p. assert (K := sin2_cos2 psi). unfold Rsqr in K.
      replace (cos psi ^ 2 + (sqrt 3 * sin psi) ^ 2 / 3) with (cos psi * cos psi + (sqrt 3 * sqrt 3) * (sin psi * sin
        psi) / 3)
        by (simpl; field). rewrite Q3. lra. }
    assert (A3 : acos c = psi + (psi + psi)) by (unfold psi; field).
    assert (COS : c = p ^ 3 - p * m ^ 2).
    { rewrite <- (cos_acos c) by easy. rewrite A3, cos_plus, cos_plus, sin_plus. fold p. unfold m.
      replace (p ^ 3 - p * (sqrt 3 * sin psi) ^ 2) with (p ^ 3 - p * (sqrt 3 * sqrt 3) * sin psi ^ 2) by ring.
        rewrite Q3. ring. }
    assert (SIN : vnorm d r = (m * p ^ 2 - m ^ 3 / 9) * sqrt 3).
    { unfold vnorm. rewrite RR, <- Rsqr_pow2, <- sin_acos by easy. rewrite A3, sin_plus, sin_plus, cos_plus. fold p.
        unfold m.
      replace ((sqrt 3 * sin psi * p ^ 2 - (sqrt 3 * sin psi) ^ 3 / 9) * sqrt 3) with
        ((sqrt 3 * sqrt 3) * sin psi * p ^ 2 - (sqrt 3 * sqrt 3) ^ 2 * sin psi ^ 3 / 9) by (field). rewrite Q3. field. }
    set (n := vnorm d r) in *. assert (N2 : n ^ 2 = 1 - c ^ 2) by (unfold n; now rewrite norm_sq).
    assert (N : n <> 0) by (intros N; rewrite N in N2; lra).
    set (G := vscal (sqrt 3 / n) r).
    assert (GG : sq d G = 3).
    { unfold G. rewrite sq_scal, RR, <- N2. replace ((sqrt 3 / n) ^ 2 * n ^ 2) with (sqrt 3 * sqrt 3) by (field; easy).
        easy. }
    assert (GX : dot d x G = 0) by (unfold G; rewrite dot_scal_r, dot_sym, RX; ring).
    set (e := fun a b => vplus (vscal a x) (vscal b G)).
    assert (UNIT : forall a b, a ^ 2 + 3 * b ^ 2 = 1 -> sq d (e a b) = 1).
    { intros a b H. unfold e. rewrite sq_plus, !sq_scal, dot_scal_l, dot_scal_r, X, GG, GX. lra. }
    exists ((p ^ 2 - (m / 3) ^ 2) ^ 2), ((((p + m) / 2) ^ 2 - ((p - m / 3) / 2) ^ 2) ^ 2),
      ((((m - p) / 2) ^ 2 - ((p + m / 3) / 2) ^ 2) ^ 2), (e p (m / 3)), (e (- (p + m) / 2) ((p - m / 3) / 2)),
      (e ((m - p) / 2) (- (p + m / 3) / 2)).
    repeat split; try apply pow2_ge_0; try (apply UNIT; lra).
    + transitivity ((p ^ 2 + m ^ 2 / 3) ^ 2); [field|rewrite PM; ring].
    + intros y. unfold e. rewrite !dot_plus_l, !dot_scal_l, DEC. set (P := dot d x y). set (Q := dot d G y).
      replace (dot d r y) with ((m * p ^ 2 - m ^ 3 / 9) * Q).
      * rewrite COS. transitivity (P ^ 2 * ((p ^ 3 - p * m ^ 2) * P + (m * p ^ 2 - m ^ 3 / 9) * Q) * (p ^ 2 + m ^ 2 /
          3) ^ 2);
          [rewrite PM; ring|field].
      * unfold Q, G. rewrite dot_scal_l. replace (m * p ^ 2 - m ^ 3 / 9) with (n / sqrt 3).
        -- field. split; lra.
        -- rewrite SIN. field. lra.
Qed.

(** A symmetric cubic form is largest on the diagonal: here E ⟨u, Y⟩⟨v, Y⟩⟨w, Y⟩. *)
Lemma diagonal T d alpha (Y : matrix) u v w : sq d u = 1 -> sq d v = 1 -> sq d w = 1 ->
  exists e, sq d e = 1 /\
    Rabs (E T alpha (fun t => dot d u (Y t) * dot d v (Y t) * dot d w (Y t))) <= Rabs (E T alpha (fun t => dot d e (Y
      t) ^ 3)).
Proof.
  intros U V W.
  assert (STEP : forall x, sq d x = 1 -> exists e, sq d e = 1 /\
    Rabs (E T alpha (fun t => dot d x (Y t) ^ 2 * dot d w (Y t))) <= Rabs (E T alpha (fun t => dot d e (Y t) ^ 3))).
  { intros x X. destruct (trisection d x w X W) as (m0 & m1 & m2 & e0 & e1 & e2 & M0 & M1 & M2 & M & E0 & E1 & E2 & I).
    rewrite (E_ext T alpha _ (fun t => m0 * dot d e0 (Y t) ^ 3 + (m1 * dot d e1 (Y t) ^ 3 + m2 * dot d e2 (Y t) ^ 3)))
      by (intros; rewrite I; ring).
    rewrite !E_plus, !E_scal. set (F := fun e => E T alpha (fun t => dot d e (Y t) ^ 3)). fold (F e0) (F e1) (F e2).
    assert (B : Rabs (m0 * F e0 + (m1 * F e1 + m2 * F e2)) <= m0 * Rabs (F e0) + m1 * Rabs (F e1) + m2 * Rabs (F e2)).
    { eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_l, Rabs_triang|].
      rewrite !Rabs_mult, (Rabs_pos_eq m0), (Rabs_pos_eq m1), (Rabs_pos_eq m2) by easy. lra. }
    destruct (Rle_dec (Rabs (F e1)) (Rabs (F e0))), (Rle_dec (Rabs (F e2)) (Rabs (F e0))),
      (Rle_dec (Rabs (F e2)) (Rabs (F e1)));
      [exists e0|exists e0|exists e0|exists e2|exists e1|exists e2|exists e1|exists e2]; (split; [easy|]);
        fold (F e0) (F e1) (F e2);
      nra. }
  destruct (unit_of d u (vplus u v) U) as (x & X & DX). destruct (unit_of d u (vminus u v) U) as (x' & X' & DX').
  destruct (STEP x X) as (e & E1 & E2). destruct (STEP x' X') as (e' & E1' & E2').
  assert (Q : E T alpha (fun t => dot d u (Y t) * dot d v (Y t) * dot d w (Y t)) =
    / 4 * vnorm d (vplus u v) ^ 2 * E T alpha (fun t => dot d x (Y t) ^ 2 * dot d w (Y t)) +
    - / 4 * vnorm d (vminus u v) ^ 2 * E T alpha (fun t => dot d x' (Y t) ^ 2 * dot d w (Y t))).
  { rewrite <- !E_scal, <- E_plus. apply E_ext; intros t _. assert (A := DX (Y t)). assert (B := DX' (Y t)).
    rewrite dot_plus_l in A. rewrite dot_minus_l in B.
    replace (dot d u (Y t) * dot d v (Y t) * dot d w (Y t)) with (/ 4 * ((dot d u (Y t) + dot d v (Y t)) ^ 2 -
      (dot d u (Y t) - dot d v (Y t)) ^ 2) * dot d w (Y t)) by field. rewrite A, B. ring. }
  set (A := E T alpha (fun t => dot d x (Y t) ^ 2 * dot d w (Y t))) in *.
  set (B := E T alpha (fun t => dot d x' (Y t) ^ 2 * dot d w (Y t))) in *.
  assert (S : vnorm d (vplus u v) ^ 2 + vnorm d (vminus u v) ^ 2 = 4) by (rewrite !norm_sq, sq_plus, sq_minus, U, V;
    ring).
  assert (P := pow2_ge_0 (vnorm d (vplus u v))). assert (P' := pow2_ge_0 (vnorm d (vminus u v))).
  set (a := vnorm d (vplus u v) ^ 2) in *. set (b := vnorm d (vminus u v) ^ 2) in *. rewrite Q. clear Q DX DX'.
  assert (K : Rabs (/ 4 * a * A + - / 4 * b * B) <= / 4 * a * Rabs A + / 4 * b * Rabs B).
  { eapply Rle_trans; [apply Rabs_triang|].
      rewrite !Rabs_mult, Rabs_Ropp, (Rabs_pos_eq a), (Rabs_pos_eq b), Rabs_pos_eq by lra. lra. }
  destruct (Rle_dec (Rabs B) (Rabs A)); [exists e | exists e']; (split; [easy|]); nra.
Qed.
