(** The centred random token, its third cumulant, cubic forms on the diagonal, and the bounds of skewness. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.matrices base.covariance.
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
    assert (E T alpha (fun t => sq d (X t)) <= 1) by now apply moment_ball. lra.
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
Lemma on_diagonal T d alpha (Y : matrix) u v w : sq d u = 1 -> sq d v = 1 -> sq d w = 1 ->
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

(** E y³ ≤ v (D − v/D) for E y = 0, E y² = v and y ≤ D. *)
Lemma dagger T alpha y D : distribution T alpha -> 0 < D -> E T alpha y = 0 -> (forall t, (t < T)%nat -> y t <= D) ->
  E T alpha (fun t => y t ^ 3) <= E T alpha (fun t => y t ^ 2) * (D - E T alpha (fun t => y t ^ 2) / D).
Proof.
  intros H HD M B. set (v := E T alpha (fun t => y t ^ 2)). set (g := - v / D).
  assert (K : 0 <= E T alpha (fun t => (D - y t) * (y t - g) ^ 2)).
  { apply E_ge0; [easy|]. intros t Ht. specialize (B t Ht). apply Rmult_le_pos; [lra|apply pow2_ge_0]. }
  rewrite (E_ext _ _ _ (fun t => (D + 2 * g) * y t ^ 2 + ((- (2 * D * g) - g ^ 2) * y t + (-1 * y t ^ 3 + D * g ^ 2))))
    in K by (intros; ring).
  rewrite !E_plus, !E_scal, (E_const _ _ _ H), M in K. fold v in K.
    replace (v * (D - v / D)) with ((D + 2 * g) * v + D * g ^ 2);
    [lra|]. unfold g. field. lra.
Qed.

(** k(s), which is 2s(1 − s²) for s ≥ 1/3 and (1 + s)³/4 for s ≤ 1/3 *)
Definition skewness_bound (s : R) : R := if Rle_dec (1 / 3) s then 2 * s * (1 - s ^ 2) else (1 + s) ^ 3 / 4.

Lemma cubic_mean v s : 0 <= s -> v <= 1 - s ^ 2 -> v * (1 + s - v / (1 + s)) <= skewness_bound s.
Proof.
  intros Hs Hv. unfold skewness_bound. destruct (Rle_dec (1 / 3) s).
  - apply Rmult_le_reg_r with (1 + s); [lra|].
    replace (v * (1 + s - v / (1 + s)) * (1 + s)) with (v * ((1 + s) ^ 2 - v)) by (field; lra).
    replace (2 * s * (1 - s ^ 2) * (1 + s)) with ((1 - s ^ 2) * ((1 + s) ^ 2 - (1 - s ^ 2))) by ring.
    assert (0 <= (1 - s ^ 2 - v) * ((1 + s) ^ 2 - (1 - s ^ 2) - v)); [|nra]. apply Rmult_le_pos; nra.
  - apply Rmult_le_reg_r with (1 + s); [lra|].
    replace (v * (1 + s - v / (1 + s)) * (1 + s)) with (v * ((1 + s) ^ 2 - v)) by (field; lra).
    assert (K := pow2_ge_0 (v - (1 + s) ^ 2 / 2)). lra.
Qed.

Lemma kappa_sqrt3 : 4 / (3 * sqrt 3) = 4 * sqrt 3 / 9 /\ sqrt 3 * sqrt 3 = 3 /\ 4 / 3 <= sqrt 3.
Proof.
  assert (Q : sqrt 3 * sqrt 3 = 3) by (apply sqrt_sqrt; lra). assert (P : 0 < sqrt 3) by (apply sqrt_lt_R0; lra).
  repeat split; [|easy|nra]. apply Rmult_eq_reg_r with (9 * (3 * sqrt 3)); [|nra]. field_simplify; [|lra].
  simpl. rewrite !Rmult_1_r, Q. ring.
Qed.

Lemma kappa_above s : 0 <= s -> 2 * s * (1 - s ^ 2) <= 4 / (3 * sqrt 3).
Proof.
  intros Hs. destruct kappa_sqrt3 as (-> & Q & P). set (r := sqrt 3) in *.
  assert (K : 0 <= (s - r / 3) ^ 2 * (s + 2 * r / 3)) by (apply Rmult_le_pos; [apply pow2_ge_0 | lra]).
  replace ((s - r / 3) ^ 2 * (s + 2 * r / 3)) with (s ^ 3 - s * (r * r) / 3 + 2 * (r * r) * r / 27) in K by field.
  rewrite Q in K. lra.
Qed.

Lemma skewness_bound_kappa s : 0 <= s -> skewness_bound s <= 4 / (3 * sqrt 3).
Proof.
  intros Hs. unfold skewness_bound. destruct (Rle_dec (1 / 3) s); [now apply kappa_above|].
  destruct kappa_sqrt3 as (-> & _ & P). assert ((1 + s) ^ 3 <= (4 / 3) ^ 3) by (apply pow_incr; lra). lra.
Qed.

(** The last inequality of part 2, for λ > 8/9. *)
Lemma nearly_camps eta s z C C' : 0 <= eta <= 1 / 3 -> 0 <= s -> 0 <= z -> s ^ 2 + z ^ 2 = eta ^ 2 -> 0 <= C -> 0 <= C'
  ->
  C ^ 2 + C' ^ 2 = 1 ->
  C ^ 3 * ((1 - eta ^ 2) * (2 * s + z ^ 2 / (1 + s))) + 3 * C ^ 2 * C' * (eta * z) +
  (3 * C * C' ^ 2 + C' ^ 3) * ((1 + s) * z ^ 2) <= 2 * (1 - eta ^ 2) * eta.
Proof.
  intros He Hs Hz S HC HC' CC. destruct (Req_dec eta 0) as [EZ|EZ].
  { subst eta. assert (s = 0) by nra. assert (z = 0) by nra. subst. right. field. }
  assert (He' : 0 < eta) by lra. set (x := z / eta). assert (X : z = eta * x) by (unfold x; field; lra).
  assert (X0 : 0 <= x) by (apply Rmult_le_pos; [easy|left; apply Rinv_0_lt_compat; lra]).
  rewrite X in *. clear X. set (lam := 1 - eta ^ 2). assert (L : 8 / 9 <= lam) by (unfold lam; nra).
  assert (Q := pow2_ge_0 s). assert (Q' := pow2_ge_0 (eta * x)). assert (X2 := pow2_ge_0 x).
  assert (E2 : 0 < eta ^ 2) by (apply pow_lt; lra).
  assert (X1 : x ^ 2 <= 1) by (apply Rmult_le_reg_l with (eta ^ 2); [easy|]; rewrite Rpow_mult_distr in S; lra).
  assert (SE : s <= eta) by (apply Rsqr_incr_0_var; unfold Rsqr; lra).
  assert (S1 : s <= eta * (1 - x ^ 2 / 2)).
  { apply Rsqr_incr_0_var; [|apply Rmult_le_pos; lra]. unfold Rsqr.
    assert (0 <= eta ^ 2 * x ^ 4) by (apply Rmult_le_pos; [lra|apply (pow_le x 4); lra]). lra. }
  assert (T1 : lam * (2 * s + (eta * x) ^ 2 / (1 + s)) <= 2 * lam * eta * (1 - x ^ 2 / 3)).
  { replace (2 * lam * eta * (1 - x ^ 2 / 3)) with (lam * (2 * eta * (1 - x ^ 2 / 3))) by ring.
      apply Rmult_le_compat_l; [lra|].
    assert ((eta * x) ^ 2 / (1 + s) <= (eta * x) ^ 2).
    { apply Rmult_le_reg_r with (1 + s); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. clear - Hs Q'. nra. }
    assert ((eta * x) ^ 2 <= eta * x ^ 2 / 3) by (assert (0 <= eta * (1 / 3 - eta) * x ^ 2) by (apply Rmult_le_pos;
      [apply Rmult_le_pos|]; lra); lra). lra. }
  assert (T2 : 3 * (eta * (eta * x)) <= 2 * lam * eta * (9 / 16 * x)).
  { replace (2 * lam * eta * (9 / 16 * x)) with (eta * x * (9 / 8 * lam)) by field.
    replace (3 * (eta * (eta * x))) with (eta * x * (3 * eta)) by ring. apply Rmult_le_compat_l; [apply Rmult_le_pos|];
      lra. }
  assert (T3 : (1 + s) * (eta * x) ^ 2 <= 2 * lam * eta * (x ^ 2 / 4)).
  { replace (2 * lam * eta * (x ^ 2 / 4)) with (eta * x ^ 2 * (lam / 2)) by field.
    replace ((1 + s) * (eta * x) ^ 2) with (eta * x ^ 2 * ((1 + s) * eta)) by ring.
    apply Rmult_le_compat_l; [apply Rmult_le_pos; [lra|apply pow2_ge_0]|]. nra. }
  assert (F1 : C * (1 - x ^ 2 / 3) + C' * (9 / 16 * x) <= 1).
  { set (a := 1 - x ^ 2 / 3). set (b := 9 / 16 * x). assert (AB : a ^ 2 + b ^ 2 <= 1).
    { unfold a, b. assert (0 <= x ^ 2) by apply pow2_ge_0. set (w := x ^ 2) in *.
      replace ((1 - w / 3) ^ 2 + (9 / 16 * x) ^ 2) with (1 - 2 * w / 3 + w * w / 9 + 81 / 256 * w) by (unfold w;
        field). nra. }
    assert (R1 := pow2_ge_0 (C - a)). assert (R2 := pow2_ge_0 (C' - b)). lra. }
  assert (F2 : x ^ 2 * ((3 * C + C') / 4) <= 1).
  { assert (C1 : C <= 1) by (clear - CC HC HC'; nra). assert (C1' : C' <= 1) by (clear - CC HC HC'; nra).
    set (b := (3 * C + C') / 4). assert (0 <= b <= 1) by (unfold b; lra). clearbody b. clear - X1 X2 H. nra. }
  assert (LE : 0 < 2 * lam * eta) by (apply Rmult_lt_0_compat; lra).
  assert (P3 : 0 <= C ^ 3) by now apply pow_le. assert (P3' : 0 <= C' ^ 3) by now apply pow_le.
  assert (P2 : 0 <= C ^ 2) by apply pow2_ge_0. assert (P2' : 0 <= C' ^ 2) by apply pow2_ge_0.
  assert (A1 := Rmult_le_compat_l _ _ _ P3 T1).
  assert (A2 := Rmult_le_compat_l (C ^ 2 * C') _ _ ltac:(now apply Rmult_le_pos) T2).
  assert (A3 := Rmult_le_compat_l (3 * C * C' ^ 2 + C' ^ 3) _ _ ltac:(assert (0 <= C * C' ^ 2) by (now apply
    Rmult_le_pos); lra) T3).
  assert (B1 := Rmult_le_compat_l _ _ _ P2 F1). assert (B2 := Rmult_le_compat_l _ _ _ P2' F2).
  assert (Z : C ^ 3 * (1 - x ^ 2 / 3) + C ^ 2 * C' * (9 / 16 * x) + (3 * C * C' ^ 2 + C' ^ 3) * (x ^ 2 / 4) <= 1) by
    lra.
  assert (Z' := Rmult_le_compat_l _ _ _ (Rlt_le _ _ LE) Z). lra.
Qed.

(** Two orthogonal scalars of the token, one with almost all of the variance. *)
Lemma skew_of_two T alpha P H mu c c' eta s : distribution T alpha -> 0 <= eta <= 1 / 3 -> 0 <= s ->
  E T alpha P = 0 -> E T alpha H = 0 -> E T alpha (fun t => P t * H t) = 0 ->
  E T alpha (fun t => P t ^ 2) = 1 - eta ^ 2 -> E T alpha (fun t => H t ^ 2) <= eta ^ 2 - s ^ 2 ->
  (forall t, (t < T)%nat -> Rabs (P t) <= 1 + s) -> (forall t, (t < T)%nat -> Rabs (H t) <= 1 + s) ->
  (forall t, (t < T)%nat -> (P t + mu) ^ 2 <= 1) -> c ^ 2 + c' ^ 2 = 1 ->
  Rabs (E T alpha (fun t => (c * P t + c' * H t) ^ 3)) <= 2 * (1 - eta ^ 2) * eta.
Proof.
  intros D He Hs EP EH EPH VP VH BP BH BM CC. set (z := sqrt (eta ^ 2 - s ^ 2)).
  assert (V0 : 0 <= E T alpha (fun t => H t ^ 2)) by (apply E_ge0; [easy|intros; apply pow2_ge_0]).
  assert (Z2 : z ^ 2 = eta ^ 2 - s ^ 2) by (apply pow2_sqrt; lra). assert (Z0 : 0 <= z) by apply sqrt_pos.
  eapply Rle_trans; [|apply (nearly_camps eta s z (Rabs c) (Rabs c')); try apply Rabs_pos; try easy; try lra;
    rewrite !pow2_abs; exact CC].
  assert (A0 : Rabs (E T alpha (fun t => P t ^ 3)) <= (1 - eta ^ 2) * (2 * s + z ^ 2 / (1 + s))).
  { replace ((1 - eta ^ 2) * (2 * s + z ^ 2 / (1 + s))) with ((1 - eta ^ 2) * (1 + s - (1 - eta ^ 2) / (1 + s)))
      by (rewrite Z2; field; lra). rewrite <- VP. apply Rabs_le. split.
    - assert (K := dagger T alpha (fun t => -1 * P t) (1 + s) D ltac:(lra)). rewrite E_scal, EP in K.
      rewrite (E_ext _ _ (fun t => (-1 * P t) ^ 3) (fun t => -1 * P t ^ 3)),
        (E_ext _ _ (fun t => (-1 * P t) ^ 2) (fun t => P t ^ 2)), E_scal in K by (intros; ring).
      assert (K' := K ltac:(ring) ltac:(intros t Ht; specialize (BP t Ht); apply Rabs_le_between in BP; lra)). lra.
    - apply dagger; try easy; [lra|]. intros t Ht. specialize (BP t Ht). apply Rabs_le_between in BP. lra. }
  assert (A1 : Rabs (E T alpha (fun t => P t ^ 2 * H t)) <= eta * z).
  { assert (Q : E T alpha (fun t => P t ^ 2 * H t) = E T alpha (fun t => ((P t + mu) ^ 2 - 1) * H t)).
    { rewrite (E_ext _ _ (fun t => ((P t + mu) ^ 2 - 1) * H t) (fun t => P t ^ 2 * H t +
        (2 * mu * (P t * H t) + (mu ^ 2 - 1) * H t))) by (intros; ring). rewrite !E_plus, !E_scal, EPH, EH. ring. }
    assert (K := E_cauchy T alpha (fun t => (P t + mu) ^ 2 - 1) H D). cbv beta in K. rewrite <- Q in K.
    assert (W : E T alpha (fun t => ((P t + mu) ^ 2 - 1) ^ 2) <= eta ^ 2).
    { apply Rle_trans with (E T alpha (fun t => 1 + -1 * (P t + mu) ^ 2)).
      - apply E_le; [easy|]. intros t Ht. specialize (BM t Ht). assert (N := pow2_ge_0 (P t + mu)). nra.
      - rewrite E_plus, E_scal, (E_const _ _ _ D).
        rewrite (E_ext _ _ (fun t => (P t + mu) ^ 2) (fun t => P t ^ 2 + (2 * mu * P t + mu ^ 2))) by (intros; ring).
        rewrite !E_plus, E_scal, EP, VP, (E_const _ _ _ D). assert (N := pow2_ge_0 mu). lra. }
    assert (W0 : 0 <= E T alpha (fun t => ((P t + mu) ^ 2 - 1) ^ 2)) by (apply E_ge0; [easy|intros; apply pow2_ge_0]).
    apply Rsqr_incr_0_var; [|apply Rmult_le_pos; lra]. rewrite !Rsqr_pow2, pow2_abs, Rpow_mult_distr, Z2.
    eapply Rle_trans; [exact K|]. apply Rmult_le_compat; easy. }
  assert (HT : forall F, (forall t, (t < T)%nat -> Rabs (F t) <= 1 + s) ->
    Rabs (E T alpha (fun t => F t * H t ^ 2)) <= (1 + s) * z ^ 2).
  { intros F B. rewrite Z2. apply Rle_trans with ((1 + s) * E T alpha (fun t => H t ^ 2)); [|apply Rmult_le_compat_l;
      lra].
    rewrite <- E_scal. apply Rabs_le. split.
    - replace (- E T alpha (fun t => (1 + s) * H t ^ 2)) with (E T alpha (fun t => - (1 + s) * H t ^ 2)) by (rewrite
        !E_scal; ring).
      apply E_le; [easy|]. intros t Ht. specialize (B t Ht). apply Rabs_le_between in B.
      apply Rmult_le_compat_r; [apply pow2_ge_0|lra].
    - apply E_le; [easy|]. intros t Ht. specialize (B t Ht). apply Rabs_le_between in B.
      apply Rmult_le_compat_r; [apply pow2_ge_0|lra]. }
  assert (A2 := HT P BP). assert (A3 := HT H BH).
  rewrite (E_ext _ _ _ (fun t => c ^ 3 * P t ^ 3 + (3 * c ^ 2 * c' * (P t ^ 2 * H t) + (3 * c * c' ^ 2 * (P t * H t ^
    2) +
    c' ^ 3 * (H t * H t ^ 2))))) by (intros; ring).
  rewrite !E_plus, !E_scal.
  set (a0 := E T alpha (fun t => P t ^ 3)) in *. set (a1 := E T alpha (fun t => P t ^ 2 * H t)) in *.
  set (a2 := E T alpha (fun t => P t * H t ^ 2)) in *. set (a3 := E T alpha (fun t => H t * H t ^ 2)) in *.
  eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_l, Rabs_triang|].
  eapply Rle_trans; [apply Rplus_le_compat_l, Rplus_le_compat_l, Rabs_triang|].
  rewrite !Rabs_mult, <- !RPow_abs, (Rabs_pos_eq 3) by lra.
  set (C := Rabs c) in *. set (C' := Rabs c') in *. assert (0 <= C) by apply Rabs_pos.
    assert (0 <= C') by apply Rabs_pos.
  assert (M0 := Rmult_le_compat_l (C ^ 3) _ _ ltac:(now apply pow_le) A0).
  assert (M1 := Rmult_le_compat_l (3 * C ^ 2 * C') _ _ ltac:(apply Rmult_le_pos; [apply Rmult_le_pos;
    [lra|apply pow2_ge_0]|easy]) A1).
  assert (M2 := Rmult_le_compat_l (3 * C * C' ^ 2) _ _ ltac:(apply Rmult_le_pos; [lra|apply pow2_ge_0]) A2).
  assert (M3 := Rmult_le_compat_l (C' ^ 3) _ _ ltac:(now apply pow_le) A3). lra.
Qed.

(** The norm g attains is a stationary value: ⟨g, M h⟩ = 0 for h at a right angle. *)
Lemma top_direction T d alpha X lambda g h : distribution T alpha -> sq d g = 1 -> sq d h = 1 -> dot d g h = 0 ->
  spread T d alpha X g g = lambda -> (forall e, sq d e = 1 -> spread T d alpha X e e <= lambda) ->
  E T alpha (fun t => dot d g (centred T alpha X t) * dot d h (centred T alpha X t)) = 0.
Proof.
  intros D G H GH TOP BOUND. rewrite <- spread_E. set (b := spread T d alpha X g h).
  assert (Q : forall x, 2 * x * b <= x ^ 2 * (lambda - spread T d alpha X h h)).
  { intros x. set (n := sqrt (1 + x ^ 2)). assert (N2 : n ^ 2 = 1 + x ^ 2) by (apply pow2_sqrt; nra).
    assert (N : 0 < n) by (apply sqrt_lt_R0; nra).
    assert (K := BOUND (vscal (/ n) (vplus g (vscal x h)))).
    rewrite sq_scal, sq_plus, sq_scal, dot_scal_r, G, H, GH in K.
    assert (K' := K ltac:(replace (1 + 2 * (x * 0) + x ^ 2 * 1) with (n ^ 2) by lra; field; lra)).
    rewrite spread_E in K'. rewrite (E_ext _ _ _ (fun t => / n ^ 2 * (dot d g (centred T alpha X t) * dot d g (centred
      T alpha X t) +
      (2 * x * (dot d g (centred T alpha X t) * dot d h (centred T alpha X t)) +
       x ^ 2 * (dot d h (centred T alpha X t) * dot d h (centred T alpha X t)))))) in K'.
    2:{ intros. rewrite !dot_scal_l, !dot_plus_l, !dot_scal_l. field. lra. }
    rewrite E_scal, !E_plus, !E_scal, <- !spread_E, TOP in K'. fold b in K'.
    apply (Rmult_le_compat_l (n ^ 2)) in K'; [|nra]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l, N2 in K' by nra.
    lra. }
  set (r := lambda - spread T d alpha X h h) in *. destruct (Req_dec b 0) as [Z|Z]; [easy|]. exfalso.
  set (K := Rabs r + 1). assert (HK : 0 < K) by (unfold K; assert (P := Rabs_pos r); lra).
  assert (RK : r < K) by (unfold K; assert (P := Rle_abs r); lra). specialize (Q (b / K)).
  apply (Rmult_le_compat_r (K ^ 2)) in Q; [|apply pow2_ge_0].
  replace (2 * (b / K) * b * K ^ 2) with (2 * K * b ^ 2) in Q by (field; lra).
  replace ((b / K) ^ 2 * r * K ^ 2) with (r * b ^ 2) in Q by (field; lra). assert (0 < b ^ 2) by nra. nra.
Qed.
