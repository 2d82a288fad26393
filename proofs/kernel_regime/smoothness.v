(** How smooth a head is: skewness, first and second derivatives, Lipschitz constants. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.matrices base.gradient.
From Shallow Require Import base.covariance base.skewness base.spectral base.lines.
Open Scope R_scope.

(** two tokens x₀ e and x₁ e with masses p and 1 − p *)
Definition two_tokens (x0 x1 : R) (e : vector) : matrix := fun t i => (if Nat.eqb t 0 then x0 else x1) * e i.
Definition masses (p : R) : vector := fun t => if Nat.eqb t 0 then p else 1 - p.

Lemma third_diagonal T d alpha X e : third T d alpha X e e e = E T alpha (fun t => dot d e (centred T alpha X t) ^ 3).
Proof. apply E_ext; intros; ring. Qed.

(** Y along a unit vector: at most 1 + ‖a‖ in size, of energy at most 1 − ‖a‖². *)
Lemma along_unit T d alpha X e : distribution T alpha -> in_ball T d X -> sq d e = 1 ->
  Rabs (dot d e (attended T alpha X)) <= vnorm d (attended T alpha X) /\
  (forall t, (t < T)%nat -> Rabs (dot d e (X t)) <= 1) /\
  (forall t, (t < T)%nat -> Rabs (dot d e (centred T alpha X t)) <= 1 + vnorm d (attended T alpha X)).
Proof.
  intros D B U. assert (N : vnorm d e = 1) by (unfold vnorm; rewrite U; apply sqrt_1).
  assert (A : Rabs (dot d e (attended T alpha X)) <= vnorm d (attended T alpha X)).
  { assert (K := cauchy d e (attended T alpha X)). rewrite N in K. lra. }
  assert (X1 : forall t, (t < T)%nat -> Rabs (dot d e (X t)) <= 1).
  { intros t Ht. assert (K := cauchy d e (X t)). rewrite N in K. specialize (B t Ht). lra. }
  repeat split; auto. intros t Ht. rewrite dot_centred. specialize (X1 t Ht).
  eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra.
Qed.

(** The energy along one unit vector, and along two at a right angle. *)
Lemma energy_one T d alpha X e : distribution T alpha -> in_ball T d X -> sq d e = 1 ->
  E T alpha (fun t => dot d e (centred T alpha X t) ^ 2) <= 1 - sq d (attended T alpha X).
Proof.
  intros D B U. eapply Rle_trans; [|now apply energy]. apply E_le; [easy|]. intros t _.
  assert (K := cauchy_sq d e (centred T alpha X t)). rewrite U in K. lra.
Qed.

Lemma energy_two T d alpha X g h : distribution T alpha -> in_ball T d X -> sq d g = 1 -> sq d h = 1 -> dot d g h = 0 ->
  E T alpha (fun t => dot d g (centred T alpha X t) ^ 2) + E T alpha (fun t => dot d h (centred T alpha X t) ^ 2) <=
  1 - sq d (attended T alpha X).
Proof.
  intros D B G H GH. eapply Rle_trans; [|now apply energy]. rewrite <- E_plus. apply E_le; [easy|]. intros t _.
  set (y := centred T alpha X t). assert (K := sq_ge0 d (vminus y (vplus (vscal (dot d g y) g) (vscal (dot d h y) h)))).
  rewrite sq_minus, sq_plus, !sq_scal, dot_plus_r, !dot_scal_r, dot_scal_l, G, H, GH, !(dot_sym d y) in K. lra.
Qed.

Lemma spread_diagonal T d alpha X e : spread T d alpha X e e = E T alpha (fun t => dot d e (centred T alpha X t) ^ 2).
Proof. rewrite spread_E. apply E_ext; intros; ring. Qed.

(** E ⟨e, Y⟩³ ≤ B for all unit e bounds the size, too. *)
Lemma both_signs T d alpha X B : (forall e, sq d e = 1 -> E T alpha (fun t => dot d e (centred T alpha X t) ^ 3) <= B)
  ->
  forall e, sq d e = 1 -> Rabs (E T alpha (fun t => dot d e (centred T alpha X t) ^ 3)) <= B.
Proof.
  intros H e U. apply Rabs_le. split; [|now apply H].
  assert (K := H (vscal (-1) e) ltac:(rewrite sq_scal, U; ring)).
  rewrite (E_ext _ _ _ (fun t => -1 * dot d e (centred T alpha X t) ^ 3)) in K by (intros; rewrite dot_scal_l; ring).
  rewrite E_scal in K. lra.
Qed.

Lemma skew_line T d alpha X e D : distribution T alpha -> in_ball T d X -> sq d e = 1
  -> vnorm d (attended T alpha X) <= D ->
  E T alpha (fun t => dot d e (centred T alpha X t) ^ 3) <=
  E T alpha (fun t => dot d e (centred T alpha X t) ^ 2) * (1 + D - E T alpha (fun t => dot d e (centred T alpha X t) ^
    2) / (1 + D)).
Proof.
  intros HD B U S. destruct (along_unit T d alpha X e HD B U) as (_ & _ & Y).
    assert (N := norm_ge0 d (attended T alpha X)).
  apply dagger; [easy|lra|now apply E_centred|]. intros t Ht. specialize (Y t Ht). apply Rabs_le_between in Y. lra.
Qed.

(** Part 2 along one direction. *)
Lemma skew_given_spread T d alpha X lambda n : distribution T alpha -> in_ball T d X -> spread_norm T d alpha X lambda
  ->
  sq d n = 1 -> Rabs (E T alpha (fun t => dot d n (centred T alpha X t) ^ 3)) <= 2 * lambda * sqrt (1 - lambda).
Proof.
  intros D B [(g & G & TOP) BOUND] UN. set (a := attended T alpha X). set (s := vnorm d a).
  assert (S2 : s ^ 2 = sq d a) by apply norm_sq. assert (S0 : 0 <= s) by apply norm_ge0.
  assert (VG := spread_diagonal T d alpha X g). rewrite TOP in VG.
  assert (L1 : lambda <= 1 - s ^ 2) by (rewrite VG, S2; now apply energy_one).
  assert (L0 : 0 <= lambda) by (rewrite VG; apply E_ge0; [easy|intros; apply pow2_ge_0]).
  set (eta := sqrt (1 - lambda)). assert (H2 : eta ^ 2 = 1 - lambda) by (apply pow2_sqrt; nra).
  assert (H0 : 0 <= eta) by apply sqrt_pos. assert (SE : s <= eta) by (apply Rsqr_incr_0_var; [unfold Rsqr; nra|easy]).
  replace lambda with (1 - eta ^ 2) by lra. destruct (Rle_dec (1 / 3) eta) as [LOW|HIGH].
  - revert n UN. apply both_signs. intros e U. eapply Rle_trans; [apply (skew_line T d alpha X e eta); easy|].
    replace (2 * (1 - eta ^ 2) * eta) with (2 * eta * (1 - eta ^ 2)) by ring.
    replace (2 * eta * (1 - eta ^ 2)) with (skewness_bound eta).
    + apply cubic_mean; [easy|]. rewrite <- spread_diagonal. replace (1 - eta ^ 2) with lambda by lra. now apply BOUND.
    + unfold skewness_bound. destruct (Rle_dec (1 / 3) eta); [easy|contradiction].
  - set (c := dot d n g). set (r := vminus n (vscal c g)).
    assert (RR : sq d r = 1 - c ^ 2) by (unfold r; rewrite sq_minus, sq_scal, dot_scal_r, UN, G; fold c; ring).
    assert (RG : dot d r g = 0) by (unfold r; rewrite dot_minus_l, dot_scal_l, <- sq_dot, G; fold c; ring).
    assert (DEC : forall y, dot d n y = c * dot d g y + dot d r y) by (intros; unfold r;
      rewrite dot_minus_l, dot_scal_l; ring).
    destruct (unit_of d g r G) as (h & H & HR).
    destruct (along_unit T d alpha X g D B G) as (_ & XG & YG).
      destruct (along_unit T d alpha X h D B H) as (_ & _ & YH).
    assert (BG : forall t, (t < T)%nat -> (dot d g (centred T alpha X t) + dot d g a) ^ 2 <= 1).
    { intros t Ht. rewrite dot_centred. fold a. specialize (XG t Ht). apply Rabs_le_between in XG. nra. }
    fold a s in YG, YH.
    destruct (Req_dec (vnorm d r) 0) as [ZR|ZR].
    * rewrite (E_ext _ _ _ (fun t => (c * dot d g (centred T alpha X t) + 0 * 0) ^ 3)) by (intros; rewrite DEC, HR, ZR;
        ring).
      apply (skew_of_two T alpha (fun t => dot d g (centred T alpha X t)) (fun _ => 0) (dot d g a) c 0 eta s);
        cbv beta; try easy; try lra.
      -- now apply E_centred.
      -- now apply E_const.
      -- rewrite (E_ext _ _ _ (fun _ => 0)) by (intros; ring). now apply E_const.
      -- rewrite (E_ext _ _ _ (fun _ => 0)) by (intros; ring). rewrite E_const by easy. nra.
      -- intros. rewrite Rabs_R0. lra.
      -- assert (Q := norm_sq d r). rewrite ZR, RR in Q. lra.
    * assert (GH : dot d g h = 0).
      { assert (Q := HR g). rewrite RG in Q. symmetry in Q. apply Rmult_integral in Q. rewrite dot_sym. now destruct Q.
          }
      rewrite (E_ext _ _ _ (fun t => (c * dot d g (centred T alpha X t) + vnorm d r * dot d h (centred T alpha X t)) ^
        3))
        by (intros; now rewrite DEC, HR).
      apply (skew_of_two T alpha (fun t => dot d g (centred T alpha X t)) (fun t => dot d h (centred T alpha X t))
        (dot d g a) c (vnorm d r) eta s); cbv beta; try easy; try lra.
      -- now apply E_centred.
      -- now apply E_centred.
      -- now apply (top_direction T d alpha X lambda).
      -- assert (Q := energy_two T d alpha X g h D B G H GH). fold a in Q. rewrite <- VG in Q. lra.
      -- rewrite norm_sq, RR. ring.
Qed.

(** Tokens with two values on a line. *)
Lemma two_values p x0 x1 d e : let mu := p * x0 + (1 - p) * x1 in sq d e = 1 -> 0 <= p <= 1 -> x0 ^ 2 <= 1
  -> x1 ^ 2 <= 1 ->
  distribution 2 (masses p) /\ in_ball 2 d (two_tokens x0 x1 e) /\
  vnorm d (attended 2 (masses p) (two_tokens x0 x1 e)) = Rabs mu /\
  spread_norm 2 d (masses p) (two_tokens x0 x1 e) (p * (x0 - mu) ^ 2 + (1 - p) * (x1 - mu) ^ 2) /\
  third 2 d (masses p) (two_tokens x0 x1 e) e e e = p * (x0 - mu) ^ 3 + (1 - p) * (x1 - mu) ^ 3.
Proof.
  intros mu U P X0 X1.
  assert (EE : forall f, E 2 (masses p) f = p * f 0%nat + (1 - p) * f 1%nat) by (intros; unfold E, masses; cbn; ring).
  assert (A : attended 2 (masses p) (two_tokens x0 x1 e) = vscal mu e).
  { apply FunctionalExtensionality.functional_extensionality. intros i. unfold attended. rewrite EE.
    unfold two_tokens, vscal, mu. cbn [Nat.eqb]. ring. }
  assert (Y : forall u t, dot d u (centred 2 (masses p) (two_tokens x0 x1 e) t) =
    ((if Nat.eqb t 0 then x0 else x1) - mu) * dot d u e).
  { intros u t. rewrite dot_centred, A, dot_scal_r.
      change (two_tokens x0 x1 e t) with (vscal (if Nat.eqb t 0 then x0 else x1) e).
    rewrite dot_scal_r. ring. }
  assert (UE : dot d e e = 1) by (now rewrite <- sq_dot).
  assert (V : 0 <= p * (x0 - mu) ^ 2 + (1 - p) * (x1 - mu) ^ 2)
    by (assert (Q := pow2_ge_0 (x0 - mu)); assert (Q' := pow2_ge_0 (x1 - mu)); nra).
  repeat apply conj.
  - intros t Ht. unfold masses. destruct (Nat.eqb t 0); lra.
  - unfold masses. cbn. ring.
  - intros t Ht. change (two_tokens x0 x1 e t) with (vscal (if Nat.eqb t 0 then x0 else x1) e).
    apply norm_le1. rewrite sq_scal, U, Rmult_1_r. destruct (Nat.eqb t 0); easy.
  - rewrite A, norm_scal. replace (vnorm d e) with 1 by (unfold vnorm; rewrite U; symmetry; apply sqrt_1). ring.
  - exists e. split; [easy|]. rewrite spread_diagonal, EE, !Y, UE. cbn [Nat.eqb]. ring.
  - intros w W. rewrite spread_diagonal, EE, !Y. cbn [Nat.eqb]. assert (K := cauchy_sq d w e). rewrite W, U in K.
    replace (p * ((x0 - mu) * dot d w e) ^ 2 + (1 - p) * ((x1 - mu) * dot d w e) ^ 2) with
      ((p * (x0 - mu) ^ 2 + (1 - p) * (x1 - mu) ^ 2) * dot d w e ^ 2) by ring. nra.
  - rewrite third_diagonal, EE, !Y, UE. cbn [Nat.eqb]. ring.
Qed.

(** kr-lemma-2-skewness
    Covers: the whole statement.
    Reads: for T tokens of the unit ball of ℝᵈ, any attention weights, s = ‖a‖ and λ = ‖M‖_op (the largest ⟨e, Me⟩ over unit e), and all unit vectors u, v, w: some unit e has |κ₃(u, v, w)| ≤ |κ₃(e, e, e)|; |κ₃(u, v, w)| ≤ 2λ√(1 − λ); |κ₃(u, v, w)| ≤ k(s), which is 2s(1 − s²) for s ≥ ⅓ and (1 + s)³/4 below; |κ₃(u, v, w)| ≤ 4/(3√3). For every unit e: tokens ±e with masses (1 ± s)/2, 0 ≤ s ≤ 1, have ‖a‖ = s, ‖M‖_op = 1 − s² and |κ₃(e, e, e)| = 2s(1 − s²), which is 2λ√(1 − λ) for λ = 1 − s², and 4/(3√3) at s = 1/√3; tokens e, −(1 + 3s)/2·e with masses ⅓, ⅔, 0 ≤ s ≤ ⅓, have ‖a‖ = s and κ₃(e, e, e) = (1 + s)³/4.
    Constants: 4 / (3 * sqrt 3) = shallowformer.probability.cumulants.KAPPA
    Mistake: `<= 3 / 4)` for `<= 4 / (3 * sqrt 3))`
    Mistake: `<= 19 / 10 * lambda * sqrt (1 - lambda))` for `<= 2 * lambda * sqrt (1 - lambda))`
    Mistake: without `in_ball T d X ->`
*)
Theorem kr_lemma_2_skewness :
  (forall T d alpha X, distribution T alpha -> in_ball T d X -> forall u v w, sq d u = 1 -> sq d v = 1 -> sq d w = 1 ->
    (exists e, sq d e = 1 /\ Rabs (third T d alpha X u v w) <= Rabs (third T d alpha X e e e)) /\
    (forall lambda, spread_norm T d alpha X lambda -> Rabs (third T d alpha X u v w) <= 2 * lambda * sqrt (1 - lambda))
      /\
    Rabs (third T d alpha X u v w) <= skewness_bound (vnorm d (attended T alpha X)) /\
    (Rabs (third T d alpha X u v w) <= 4 / (3 * sqrt 3))) /\
  (forall d e s, sq d e = 1 -> 0 <= s <= 1 -> let alpha := masses ((1 + s) / 2) in let X := two_tokens 1 (-1) e in
    distribution 2 alpha /\ in_ball 2 d X /\ vnorm d (attended 2 alpha X) = s /\ spread_norm 2 d alpha X (1 - s ^ 2) /\
    Rabs (third 2 d alpha X e e e) = 2 * s * (1 - s ^ 2) /\ sqrt (1 - (1 - s ^ 2)) = s /\
    (s = 1 / sqrt 3 -> Rabs (third 2 d alpha X e e e) = 4 / 3 / sqrt 3)) /\
  (forall d e s, sq d e = 1 -> 0 <= s <= 1 / 3
    -> let alpha := masses (1 / 3) in let X := two_tokens 1 (- (1 + 3 * s) / 2) e in
    distribution 2 alpha /\ in_ball 2 d X /\ vnorm d (attended 2 alpha X) = s
      /\ third 2 d alpha X e e e = (1 + s) ^ 3 / 4).
Proof.
  repeat apply conj.
  - intros T d alpha X D B u v w U V W. destruct (on_diagonal T d alpha (centred T alpha X) u v w U V W) as (e & HE &
    K).
    change (Rabs (third T d alpha X u v w) <= Rabs (E T alpha (fun t => dot d e (centred T alpha X t) ^ 3))) in K.
    assert (S : Rabs (third T d alpha X u v w) <= skewness_bound (vnorm d (attended T alpha X))).
    { eapply Rle_trans; [exact K|]. revert e HE K. intros e HE _. revert e HE. apply both_signs. intros e HE.
      assert (N := norm_ge0 d (attended T alpha X)). eapply Rle_trans;
        [apply (skew_line T d alpha X e _ D B HE (Rle_refl _))|].
      apply cubic_mean; [easy|]. rewrite norm_sq. now apply energy_one. }
    repeat apply conj.
    + exists e. split; [easy|]. now rewrite third_diagonal.
    + intros lambda L. eapply Rle_trans; [exact K|]. now apply skew_given_spread.
    + exact S.
    + eapply Rle_trans; [exact S|apply skewness_bound_kappa, norm_ge0].
  - intros d e s U S alpha X. assert (C := two_values ((1 + s) / 2) 1 (-1) d e U ltac:(lra) ltac:(lra) ltac:(lra)).
    cbv zeta in C. fold alpha X in C. replace ((1 + s) / 2 * 1 + (1 - (1 + s) / 2) * -1) with s in C by field.
    destruct C as (C1 & C2 & C3 & C4 & C5).
    assert (C6 : Rabs (third 2 d alpha X e e e) = 2 * s * (1 - s ^ 2)).
    { rewrite C5. replace (_ + _) with (- (2 * s * (1 - s ^ 2))) by field. rewrite Rabs_Ropp. apply Rabs_pos_eq. nra. }
    refine (conj C1 (conj C2 (conj _ (conj _ (conj C6 (conj _ _)))))).
    + rewrite C3. apply Rabs_pos_eq. lra.
    + refine (eq_ind _ (spread_norm 2 d alpha X) C4 _ _). field.
    + replace (1 - (1 - s ^ 2)) with (s ^ 2) by ring. apply sqrt_pow2. lra.
    + intros E. rewrite C6, E. destruct kappa_sqrt3 as (_ & Q & P).
      replace ((1 / sqrt 3) ^ 2) with (1 / (sqrt 3 * sqrt 3)) by (field; lra). rewrite Q. field. lra.
  - intros d e s U S alpha X. assert (C := two_values (1 / 3) 1 (- (1 + 3 * s) / 2) d e U ltac:(lra) ltac:(lra)
      ltac:(nra)).
    cbv zeta in C. fold alpha X in C. replace (1 / 3 * 1 + (1 - 1 / 3) * (- (1 + 3 * s) / 2)) with (- s) in C by field.
    destruct C as (C1 & C2 & C3 & _ & C5). refine (conj C1 (conj C2 (conj _ _))).
    + rewrite C3, Rabs_Ropp. apply Rabs_pos_eq. lra.
    + rewrite C5. field.
Qed.

Lemma axis d : (0 < d)%nat -> exists e, sq d e = 1.
Proof.
  intros H. exists (fun j => if Nat.eqb j 0 then 1 else 0). unfold sq. rewrite (Sum_single d _ 0%nat H); [cbn; ring|].
  intros i _ N. rewrite (proj2 (Nat.eqb_neq i 0) N). ring.
Qed.

(** One number ς governs mean, spread and skewness: λ = 1 − ς². *)
Lemma one_number T d alpha X : (0 < d)%nat -> distribution T alpha -> in_ball T d X -> exists s, 0 <= s <= 1 /\
  vnorm d (attended T alpha X) <= s /\
  (forall u w, Rabs (spread T d alpha X u w) <= (1 - s ^ 2) * (vnorm d u * vnorm d w)) /\
  (forall u v w, Rabs (third T d alpha X u v w) <= 2 * s * (1 - s ^ 2) * (vnorm d u * vnorm d v * vnorm d w)).
Proof.
  intros Hd D B. destruct (spread_norm_exists T d alpha X Hd) as (lambda & L). destruct (axis d Hd) as (e0 & E0).
  assert (SK := fun u v w U V W => proj1 (proj2 (proj1 kr_lemma_2_skewness T d alpha X D B u v w U V W)) lambda L).
  destruct L as [(g & G & TOP) BOUND]. assert (VG := spread_diagonal T d alpha X g). rewrite TOP in VG.
  assert (L1 : lambda <= 1 - sq d (attended T alpha X)) by (rewrite VG; now apply energy_one).
  assert (L0 : 0 <= lambda) by (rewrite VG; apply E_ge0; [easy|intros; apply pow2_ge_0]).
  assert (A0 := sq_ge0 d (attended T alpha X)). set (s := sqrt (1 - lambda)).
  assert (S2 : s ^ 2 = 1 - lambda) by (apply pow2_sqrt; lra). assert (S0 : 0 <= s) by apply sqrt_pos.
  exists s. replace (1 - s ^ 2) with lambda by lra. repeat apply conj; [easy| | | |].
  - apply Rsqr_incr_0_var; unfold Rsqr; nra.
  - apply norm_le; [easy|]. lra.
  - intros u w. destruct (unit_of d e0 u E0) as (x & Hx & X1). destruct (unit_of d e0 w E0) as (y & Hy & Y1).
    replace (spread T d alpha X u w) with (vnorm d u * vnorm d w * spread T d alpha X x y).
    2:{ rewrite !spread_E, <- E_scal. apply E_ext; intros. rewrite X1, Y1. ring. }
    rewrite Rabs_mult, (Rabs_pos_eq (_ * _)), Rmult_comm by (apply Rmult_le_pos; apply norm_ge0).
    apply Rmult_le_compat_r; [apply Rmult_le_pos; apply norm_ge0|]. apply Rsqr_incr_0_var; [|easy].
      rewrite !Rsqr_pow2, pow2_abs, spread_E.
    eapply Rle_trans; [now apply E_cauchy|]. cbv beta. rewrite <- !spread_diagonal.
      replace (lambda ^ 2) with (lambda * lambda) by ring.
    apply Rmult_le_compat; try (now apply BOUND); rewrite spread_diagonal; (apply E_ge0; [easy|intros;
      apply pow2_ge_0]).
  - intros u v w. destruct (unit_of d e0 u E0) as (x & Hx & X1). destruct (unit_of d e0 v E0) as (y & Hy & Y1).
    destruct (unit_of d e0 w E0) as (z & Hz & Z1).
    replace (third T d alpha X u v w) with (vnorm d u * vnorm d v * vnorm d w * third T d alpha X x y z).
    2:{ unfold third. rewrite <- E_scal. apply E_ext; intros. rewrite X1, Y1, Z1. ring. }
    assert (P : 0 <= vnorm d u * vnorm d v * vnorm d w) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; apply norm_ge0).
    rewrite Rabs_mult, (Rabs_pos_eq (_ * _)), Rmult_comm by easy. apply Rmult_le_compat_r; [easy|].
    replace (2 * s * lambda) with (2 * lambda * s) by ring. now apply SK.
Qed.

(** |z|, |z′| and |z″| at one law: with the lengths R of U, x and y of a direction. *)
Lemma law_bounds T d alpha X R : (0 < d)%nat -> distribution T alpha -> in_ball T d X -> exists s, 0 <= s <= 1 /\
  (forall U, vnorm d U <= R -> Rabs (dot d U (attended T alpha X)) <= s * R) /\
  (forall U u w, vnorm d U <= R -> Rabs (slope T d alpha X U u w) <= vnorm d u * s + vnorm d w * (1 - s ^ 2) * R) /\
  (forall U u w u' w', vnorm d U <= R -> Rabs (bend T d alpha X U u w u' w') <=
    (1 - s ^ 2) * (vnorm d u * vnorm d w' + vnorm d u' * vnorm d w + 2 * s * R * (vnorm d w * vnorm d w'))).
Proof.
  intros Hd D B. destruct (one_number T d alpha X Hd D B) as (s & S & A & M & K). exists s. split; [easy|].
  assert (S2 : 0 <= 1 - s ^ 2) by nra. repeat apply conj.
  - intros U HU. assert (C := cauchy d U (attended T alpha X)). assert (N := norm_ge0 d U).
      assert (N' := norm_ge0 d (attended T alpha X)).
    eapply Rle_trans; [exact C|]. rewrite Rmult_comm. apply Rmult_le_compat; easy.
  - intros U u w HU. unfold slope. assert (C := cauchy d u (attended T alpha X)). assert (N := norm_ge0 d u).
      assert (N' := norm_ge0 d w).
    eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat.
    + eapply Rle_trans; [exact C|]. now apply Rmult_le_compat_l.
    + eapply Rle_trans; [apply M|]. replace (vnorm d w * (1 - s ^ 2) * R) with ((1 - s ^ 2) * (R * vnorm d w)) by ring.
      apply Rmult_le_compat_l; [easy|]. now apply Rmult_le_compat_r.
  - intros U u w u' w' HU. unfold bend. eapply Rle_trans; [apply Rabs_triang|].
    eapply Rle_trans; [apply Rplus_le_compat_r, Rabs_triang|].
    assert (M1 := M u w'). assert (M2 := M u' w). assert (K1 := K U w w').
    assert (P : 0 <= vnorm d w * vnorm d w') by (apply Rmult_le_pos; apply norm_ge0).
    assert (K2 : 2 * s * (1 - s ^ 2) * (vnorm d U * vnorm d w * vnorm d w') <= 2 * s * (1 - s ^ 2) * (R * (vnorm d w *
      vnorm d w'))).
    { rewrite (Rmult_assoc (vnorm d U)). apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|].
        now apply Rmult_le_compat_r. }
    lra.
Qed.

(** ‖(u, Δ)‖ = (‖u‖² + ‖Δ‖²_F)^½ *)
Definition length (d : nat) (u : vector) (Delta : matrix) : R := sqrt (sq d u + frob2 d d Delta).

(** ∇h(X; θ): σ′(z) a for U, and σ′(z) (MU) qᵀ for W *)
Definition gradient_U (s1 : R -> R) (T d : nat) (X : matrix) (q U : vector) (W : matrix) : vector := fun i =>
  s1 (preactivation T d X q U W) * attended T (weights T d X q W) X i.
Definition gradient_W (s1 : R -> R) (T d : nat) (X : matrix) (q U : vector) (W : matrix) : matrix := fun i j =>
  s1 (preactivation T d X q U W) * (matvec d (covariance T (weights T d X q W) X) U i * q j).

(** σ has the derivatives σ′ = s₁ and σ″ = s₂, bounded by σ₁ and σ₂ *)
Definition activation (sigma s1 s2 : R -> R) (sigma1 sigma2 : R) : Prop :=
  (forall z, is_derive sigma z (s1 z)) /\ (forall z, is_derive s1 z (s2 z)) /\
  (forall z, Rabs (s1 z) <= sigma1) /\ (forall z, Rabs (s2 z) <= sigma2).

Lemma length_sq d u Delta : length d u Delta ^ 2 = sq d u + frob2 d d Delta.
Proof.
  unfold length. apply pow2_sqrt. apply Rplus_le_le_0_compat; [apply sq_ge0|]. apply Sum_ge0; intros. apply sq_ge0.
Qed.

Lemma length_ge0 d u Delta : 0 <= length d u Delta.
Proof. apply sqrt_pos. Qed.

Lemma frob_product d Delta q : sq d q <= 1 -> sq d (matvec d Delta q) <= frob2 d d Delta.
Proof.
  intros Q. apply Sum_le; intros i _. assert (C := cauchy_sq d (Delta i) q).
  change (matvec d Delta q i) with (dot d (Delta i) q). fold (sq d (Delta i)). assert (S := sq_ge0 d (Delta i)). nra.
Qed.

(** ‖u‖² + ‖Δq‖² ≤ ‖(u, Δ)‖². *)
Lemma length_two d u Delta q : sq d q <= 1 -> vnorm d u ^ 2 + vnorm d (matvec d Delta q) ^ 2 <= length d u Delta ^ 2.
Proof. intros Q. rewrite length_sq, !norm_sq. apply Rplus_le_compat_l. now apply frob_product. Qed.

Lemma gradient_pairing s1 T d X q U W u Delta :
  dot d (gradient_U s1 T d X q U W) u + fdot d d (gradient_W s1 T d X q U W) Delta =
  s1 (preactivation T d X q U W) * slope T d (weights T d X q W) X U u (matvec d Delta q).
Proof.
  unfold slope. rewrite spread_sym. unfold spread. rewrite Rmult_plus_distr_l. f_equal.
  - rewrite dot_sym. unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros; unfold gradient_U; ring.
  - unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros i _.
    transitivity (s1 (preactivation T d X q U W) * matvec d (covariance T (weights T d X q W) X) U i *
      Sum d (fun j => Delta i j * q j)).
    + rewrite <- Sum_scal. apply Sum_ext; intros. unfold gradient_W. ring.
    + unfold matvec. ring.
Qed.

(** A bound on all pairings bounds the length. *)
Lemma length_dual d g G L : 0 <= L ->
  (forall u Delta, dot d g u + fdot d d G Delta <= L * length d u Delta) -> length d g G <= L.
Proof.
  intros HL H. specialize (H g G). replace (dot d g g + _) with (length d g G ^ 2) in H.
  - assert (N := length_ge0 d g G). destruct (Req_dec (length d g G) 0); [lra|].
      apply Rmult_le_reg_r with (length d g G); lra.
  - now rewrite length_sq, sq_dot, frob2_fdot.
Qed.

Lemma pairing_minus d a b A B u D : dot d (vminus a b) u + fdot d d (mminus A B) D =
  (dot d a u + fdot d d A D) - (dot d b u + fdot d d B D).
Proof. rewrite dot_minus_l, fdot_minus_l. ring. Qed.

Lemma vline_ball d R U U' t : vnorm d U <= R -> vnorm d U' <= R -> 0 <= t <= 1
  -> vnorm d (along U (vminus U' U) t) <= R.
Proof.
  intros H H' Ht. replace (along U (vminus U' U) t) with (vplus (vscal (1 - t) U) (vscal t U')).
  - eapply Rle_trans; [apply norm_triangle|]. rewrite !norm_scal, !Rabs_pos_eq by lra. nra.
  - apply FunctionalExtensionality.functional_extensionality; intros. unfold along, vminus, vplus, vscal. ring.
Qed.

Lemma head_line sigma s1 T d X q U u W Delta : (0 < T)%nat -> (forall z, is_derive sigma z (s1 z)) -> forall tau,
  is_derive (fun tau => head sigma T d X q (along U u tau) (shifted W Delta tau)) tau
    (s1 (preactivation T d X q (along U u tau) (shifted W Delta tau)) *
     slope T d (weights T d X q (shifted W Delta tau)) X (along U u tau) u (matvec d Delta q)).
Proof.
  intros HT D tau. unfold head. evar_last.
  - apply (is_derive_comp sigma (fun tau => preactivation T d X q (along U u tau) (shifted W Delta tau))); [apply D|].
    now apply preactivation_line.
  - unfold scal. cbn. unfold mult. cbn. ring.
Qed.

Lemma gradient_line s1 s2 T d X q U u W Delta u' w' : (0 < T)%nat -> (forall z, is_derive s1 z (s2 z)) -> forall tau,
  is_derive (fun tau => s1 (preactivation T d X q (along U u tau) (shifted W Delta tau)) *
     slope T d (weights T d X q (shifted W Delta tau)) X (along U u tau) u' w') tau
    (s2 (preactivation T d X q (along U u tau) (shifted W Delta tau)) *
      slope T d (weights T d X q (shifted W Delta tau)) X (along U u tau) u (matvec d Delta q) *
      slope T d (weights T d X q (shifted W Delta tau)) X (along U u tau) u' w' +
     s1 (preactivation T d X q (along U u tau) (shifted W Delta tau)) *
      bend T d (weights T d X q (shifted W Delta tau)) X (along U u tau) u (matvec d Delta q) u' w').
Proof.
  intros HT D tau. evar_last.
  - apply (is_derive_mult (fun tau => s1 (preactivation T d X q (along U u tau) (shifted W Delta tau)))
      (fun tau => slope T d (weights T d X q (shifted W Delta tau)) X (along U u tau) u' w'));
      [apply (head_line s1 s2 T d X q U u W Delta HT D) | now apply slope_line | intros; apply Rmult_comm].
  - unfold plus, mult. cbn. ring.
Qed.

(** the slope bound: x s + y (1 − s²) R ≤ max(1, R) n for x² + y² ≤ n² *)
Lemma larger_of_two s R x y n : 0 <= s <= 1 -> 0 <= R -> 0 <= x -> 0 <= y -> 0 <= n -> x ^ 2 + y ^ 2 <= n ^ 2 ->
  x * s + y * (1 - s ^ 2) * R <= Rmax 1 R * n.
Proof.
  intros S HR X Y N H. set (b := (1 - s ^ 2) * R). set (k := Rmax 1 R). assert (K1 : 1 <= k) by apply Rmax_l.
  assert (K2 : R <= k) by apply Rmax_r. assert (SB : s ^ 2 + b ^ 2 <= k ^ 2).
  { assert (R ^ 2 <= k ^ 2) by (apply pow_incr; lra). assert (1 <= k ^ 2) by nra. unfold b.
    replace (((1 - s ^ 2) * R) ^ 2) with ((1 - s ^ 2) * (1 - s ^ 2) * R ^ 2) by ring. set (t := s ^ 2).
    assert (0 <= t <= 1) by (unfold t; nra). assert (P : 0 <= R ^ 2) by apply pow2_ge_0.
    assert ((1 - t) * (1 - t) * R ^ 2 <= (1 - t) * R ^ 2) by (apply Rmult_le_compat_r; nra).
    assert ((1 - t) * R ^ 2 <= (1 - t) * k ^ 2) by (apply Rmult_le_compat_l; lra).
    assert (t * 1 <= t * k ^ 2) by (apply Rmult_le_compat_l; lra). lra. }
  replace (x * s + y * (1 - s ^ 2) * R) with (x * s + y * b) by (unfold b; ring).
  apply Rsqr_incr_0_var; [|apply Rmult_le_pos; lra]. rewrite !Rsqr_pow2, Rpow_mult_distr.
  assert (Q := pow2_ge_0 (x * b - y * s)). apply Rle_trans with ((x ^ 2 + y ^ 2) * (s ^ 2 + b ^ 2)); [lra|].
  rewrite Rmult_comm. apply Rmult_le_compat; try easy; nra.
Qed.

Lemma slope_max T d alpha X U u Delta q R : (0 < d)%nat -> distribution T alpha -> in_ball T d X -> sq d q <= 1 ->
  vnorm d U <= R -> Rabs (slope T d alpha X U u (matvec d Delta q)) <= Rmax 1 R * length d u Delta.
Proof.
  intros Hd D B Q HU. destruct (law_bounds T d alpha X R Hd D B) as (s & S & _ & L & _).
  assert (0 <= R) by (eapply Rle_trans; [apply norm_ge0|exact HU]). eapply Rle_trans; [now apply L|].
  apply larger_of_two; try easy; try apply norm_ge0; [apply length_ge0|now apply length_two].
Qed.

Lemma kappa_small : 4 / (3 * sqrt 3) <= 1.
Proof. destruct kappa_sqrt3 as (-> & Q & P). nra. Qed.

Lemma cross x y x' y' n n' : 0 <= x -> 0 <= y -> 0 <= x' -> 0 <= y' -> 0 <= n -> 0 <= n' ->
  x ^ 2 + y ^ 2 <= n ^ 2 -> x' ^ 2 + y' ^ 2 <= n' ^ 2 -> x * y' + x' * y <= n * n' /\ y * y' <= n * n'.
Proof.
  intros. assert (Y : y <= n) by nra. assert (Y' : y' <= n') by nra. split; [|now apply Rmult_le_compat].
  apply Rsqr_incr_0_var; [|now apply Rmult_le_pos]. rewrite !Rsqr_pow2, Rpow_mult_distr.
  assert (Q := pow2_ge_0 (x * x' - y * y')). apply Rle_trans with ((x ^ 2 + y ^ 2) * (x' ^ 2 + y' ^ 2)); [lra|].
  apply Rmult_le_compat; try easy; nra.
Qed.

(** The bilinear form of ∇²z is at most 1 + R. *)
Lemma bend_max T d alpha X U u Delta u' Delta' q R : (0 < d)%nat -> distribution T alpha -> in_ball T d X
  -> sq d q <= 1 ->
  vnorm d U <= R -> Rabs (bend T d alpha X U u (matvec d Delta q) u' (matvec d Delta' q)) <=
  (1 + R) * (length d u Delta * length d u' Delta').
Proof.
  intros Hd D B Q HU. destruct (law_bounds T d alpha X R Hd D B) as (s & S & _ & _ & L).
  assert (HR : 0 <= R) by (eapply Rle_trans; [apply norm_ge0|exact HU]). eapply Rle_trans; [now apply L|].
  destruct (cross (vnorm d u) (vnorm d (matvec d Delta q)) (vnorm d u') (vnorm d (matvec d Delta' q))
    (length d u Delta) (length d u' Delta')) as [C1 C2]; try apply norm_ge0; try apply length_ge0;
      try now apply length_two.
  set (A := _ * vnorm d (matvec d Delta' q) + _) in *.
    set (P := vnorm d (matvec d Delta q) * vnorm d (matvec d Delta' q)) in *.
  set (N := length d u Delta * length d u' Delta') in *.
  assert (A0 : 0 <= A) by (apply Rplus_le_le_0_compat; apply Rmult_le_pos; apply norm_ge0).
  assert (P0 : 0 <= P) by (apply Rmult_le_pos; apply norm_ge0).
  assert (K := kappa_above s ltac:(lra)). assert (K' := kappa_small).
  assert (S2 : 0 <= 1 - s ^ 2 <= 1) by nra.
  assert ((1 - s ^ 2) * A <= 1 * A) by (apply Rmult_le_compat_r; lra).
  assert (2 * s * (1 - s ^ 2) * (R * P) <= 1 * (R * P)) by (apply Rmult_le_compat_r; [now apply Rmult_le_pos|lra]).
  assert (R * P <= R * N) by (now apply Rmult_le_compat_l). lra.
Qed.

Lemma paper_constants R : 0 <= R -> Rmax 1 R <= sqrt (1 + R ^ 2) /\ Rmax 1 R ^ 2 <= 1 + R ^ 2
  /\ 1 + R <= 8 * sqrt (1 + R ^ 2).
Proof.
  intros HR. assert (M : Rmax 1 R ^ 2 <= 1 + R ^ 2) by (unfold Rmax; destruct Rle_dec; nra).
  assert (P : Rmax 1 R <= sqrt (1 + R ^ 2)).
  { rewrite <- (sqrt_pow2 (Rmax 1 R)) by (eapply Rle_trans; [|apply Rmax_l]; lra). now apply sqrt_le_1_alt. }
  repeat split; try easy. assert (A := Rmax_l 1 R). assert (B := Rmax_r 1 R). lra.
Qed.

(** The four lines of Remark 3. *)
Lemma four_lines sigma s1 s2 sigma1 sigma2 T d X q R : activation sigma s1 s2 sigma1 sigma2 -> (0 < T)%nat
  -> (0 < d)%nat ->
  in_ball T d X -> sq d q <= 1 -> forall U W U' W', vnorm d U <= R -> vnorm d U' <= R ->
  let step := length d (vminus U' U) (mminus W' W) in
  let K2 := sigma2 * Rmax 1 R ^ 2 + sigma1 * (1 + R) in
  Rabs (head sigma T d X q U' W' - head sigma T d X q U W) <= sigma1 * Rmax 1 R * step /\
  length d (gradient_U s1 T d X q U W) (gradient_W s1 T d X q U W) <= sigma1 * Rmax 1 R /\
  length d (vminus (gradient_U s1 T d X q U' W') (gradient_U s1 T d X q U W))
    (mminus (gradient_W s1 T d X q U' W') (gradient_W s1 T d X q U W)) <= K2 * step /\
  Rabs (head sigma T d X q U' W' - head sigma T d X q U W - (dot d (gradient_U s1 T d X q U W) (vminus U' U) +
    fdot d d (gradient_W s1 T d X q U W) (mminus W' W))) <= / 2 * K2 * step ^ 2.
Proof.
  intros (D1 & D2 & B1 & B2) HT Hd B Q U W U' W' HU HU' step K2. set (u := vminus U' U) in *.
  set (Delta := mminus W' W) in *. assert (N := length_ge0 d u Delta). fold step in N.
  assert (HR : 0 <= R) by (eapply Rle_trans; [apply norm_ge0|exact HU]).
  assert (S1 : 0 <= sigma1) by (eapply Rle_trans; [apply Rabs_pos|apply (B1 0)]).
  assert (S2 : 0 <= sigma2) by (eapply Rle_trans; [apply Rabs_pos|apply (B2 0)]).
  assert (M0 : 0 <= Rmax 1 R) by (eapply Rle_trans; [|apply Rmax_l]; lra).
  assert (DI : forall tau, distribution T (weights T d X q (shifted W Delta tau))) by (intros;
    now apply softmax_distribution).
  assert (IN : forall tau, 0 <= tau <= 1 -> vnorm d (along U u tau) <= R) by (intros; now apply vline_ball).
  assert (FIRST : forall tau, 0 <= tau <= 1 -> forall u' Delta',
    Rabs (s1 (preactivation T d X q (along U u tau) (shifted W Delta tau)) *
     slope T d (weights T d X q (shifted W Delta tau)) X (along U u tau) u' (matvec d Delta' q)) <= sigma1 * Rmax 1 R *
       length d u' Delta').
  { intros tau Ht u' Delta'. rewrite Rabs_mult, Rmult_assoc. apply Rmult_le_compat; try apply Rabs_pos; [apply B1|].
    apply slope_max; auto. }
  assert (SECOND : forall tau, 0 <= tau <= 1 -> forall u' Delta',
    Rabs (s2 (preactivation T d X q (along U u tau) (shifted W Delta tau)) *
      slope T d (weights T d X q (shifted W Delta tau)) X (along U u tau) u (matvec d Delta q) *
      slope T d (weights T d X q (shifted W Delta tau)) X (along U u tau) u' (matvec d Delta' q) +
     s1 (preactivation T d X q (along U u tau) (shifted W Delta tau)) *
      bend T d (weights T d X q (shifted W Delta tau)) X (along U u tau) u (matvec d Delta q) u' (matvec d Delta' q)) <=
    K2 * step * length d u' Delta').
  { intros tau Ht u' Delta'. eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
    assert (A1 := slope_max T d _ X _ u Delta q R Hd (DI tau) B Q (IN tau Ht)).
    assert (A2 := slope_max T d _ X _ u' Delta' q R Hd (DI tau) B Q (IN tau Ht)).
    assert (A3 := bend_max T d _ X _ u Delta u' Delta' q R Hd (DI tau) B Q (IN tau Ht)). fold step in A1, A3.
    assert (N' := length_ge0 d u' Delta').
    unfold K2. replace ((sigma2 * Rmax 1 R ^ 2 + sigma1 * (1 + R)) * step * length d u' Delta') with
      (sigma2 * (Rmax 1 R * step) * (Rmax 1 R * length d u' Delta') + sigma1 * ((1 + R) * (step * length d u' Delta')))
        by ring.
    apply Rplus_le_compat; [apply Rmult_le_compat; try apply Rabs_pos; auto|].
    - apply Rmult_le_pos; apply Rabs_pos.
    - apply Rmult_le_compat; try apply Rabs_pos; auto.
    - apply Rmult_le_compat; try apply Rabs_pos; auto. }
  assert (E1 : along U u 1 = U') by apply along_to. assert (E2 : shifted W Delta 1 = W') by apply shifted_to.
  repeat apply conj.
  - assert (K := step_first _ _ _ (head_line sigma s1 T d X q U u W Delta HT D1) (fun tau Ht => FIRST tau Ht u Delta) 1
      ltac:(lra)).
    cbv beta in K. rewrite along_0, shifted_0, E1, E2 in K. fold step in K. lra.
  - apply length_dual; [now apply Rmult_le_pos|]. intros u' Delta'. rewrite gradient_pairing.
    assert (K := FIRST 0 ltac:(lra) u' Delta'). rewrite along_0, shifted_0 in K. eapply Rle_trans;
      [apply Rle_abs|exact K].
  - apply length_dual.
    + apply Rmult_le_pos; [|easy]. apply Rplus_le_le_0_compat; apply Rmult_le_pos; try easy; [apply pow2_ge_0|lra].
    + intros u' Delta'. rewrite pairing_minus, !gradient_pairing.
      assert (K := step_first _ _ _ (gradient_line s1 s2 T d X q U u W Delta u' (matvec d Delta' q) HT D2)
        (fun tau Ht => SECOND tau Ht u' Delta') 1 ltac:(lra)).
      cbv beta in K. rewrite along_0, shifted_0, E1, E2, Rmult_1_r in K. eapply Rle_trans;
        [apply Rle_abs|exact K].
  - rewrite gradient_pairing.
    assert (K := step_second _ _ _ _ (head_line sigma s1 T d X q U u W Delta HT D1)
      (gradient_line s1 s2 T d X q U u W Delta u (matvec d Delta q) HT D2) (fun tau Ht => SECOND tau Ht u Delta) 1
        ltac:(lra)).
    cbv beta in K. rewrite along_0, shifted_0, E1, E2 in K. fold step in K.
    replace (/ 2 * K2 * step ^ 2) with (/ 2 * (K2 * step * step) * 1 ^ 2) by ring. rewrite Rmult_1_l in K. exact K.
Qed.

(** kr-lemma-2
    Covers: the whole statement, for σ with a derivative σ′ = s₁ and second derivative σ″ = s₂ everywhere; the gradient as the derivative along every direction.
    Reads: let |σ′| ≤ σ₁, |σ″| ≤ σ₂, tokens and query in the unit ball of ℝᵈ. (gradient_U, gradient_W) is the gradient of h = σ(z) in (U, W), as its pairing with every direction is the derivative along it; for ‖U‖, ‖U′‖ ≤ B and any W, W′: |h(θ′) − h(θ)| ≤ σ₁√(1 + B²) ‖θ′ − θ‖ and ‖∇h(θ′) − ∇h(θ)‖ ≤ (σ₂(1 + B²) + 8σ₁√(1 + B²)) ‖θ′ − θ‖.
    Constants: 8 = round((shallowformer.kernel_regime.bounds.smoothness.L2_paper(0.0) -
      shallowformer.activations.TANH.bounds[2]) / shallowformer.activations.TANH.bounds[1])
    Mistake: `sigma1 * / 2 * step` for `sigma1 * sqrt (1 + B ^ 2) * step`
    Mistake: `/ 8 * sigma1 * sqrt` for `8 * sigma1 * sqrt`
*)
Theorem kr_lemma_2 : forall sigma s1 s2 sigma1 sigma2 T d X q B, activation sigma s1 s2 sigma1 sigma2 ->
  (0 < T)%nat -> (0 < d)%nat -> in_ball T d X -> sq d q <= 1 ->
  (forall U W u Delta, is_derive (fun tau => head sigma T d X q (along U u tau) (shifted W Delta tau)) 0
    (dot d (gradient_U s1 T d X q U W) u + fdot d d (gradient_W s1 T d X q U W) Delta)) /\
  (forall U W U' W', vnorm d U <= B -> vnorm d U' <= B
    -> let step := length d (vminus U' U) (mminus W' W) in
    Rabs (head sigma T d X q U' W' - head sigma T d X q U W) <= sigma1 * sqrt (1 + B ^ 2) * step /\
    length d (vminus (gradient_U s1 T d X q U' W') (gradient_U s1 T d X q U W))
      (mminus (gradient_W s1 T d X q U' W') (gradient_W s1 T d X q U W)) <=
      (sigma2 * (1 + B ^ 2) + 8 * sigma1 * sqrt (1 + B ^ 2)) * step).
Proof.
  intros sigma s1 s2 sigma1 sigma2 T d X q R A HT Hd B Q. split.
  - intros U W u Delta. rewrite gradient_pairing. evar_last; [apply (head_line sigma s1); [easy|apply A]|].
    now rewrite along_0, shifted_0.
  - intros U W U' W' HU HU' step. assert (F := four_lines sigma s1 s2 sigma1 sigma2 T d X q R A HT Hd B Q U W U' W' HU
      HU').
    cbv zeta in F. fold step in F. destruct F as (F1 & _ & F3 & _).
    assert (HR : 0 <= R) by (eapply Rle_trans; [apply norm_ge0|exact HU]).
      destruct (paper_constants R HR) as (P1 & P2 & P3).
    assert (S1 : 0 <= sigma1) by (eapply Rle_trans; [apply Rabs_pos|apply (proj1 (proj2 (proj2 A)) 0)]).
    assert (S2 : 0 <= sigma2) by (eapply Rle_trans; [apply Rabs_pos|apply (proj2 (proj2 (proj2 A)) 0)]).
    assert (N : 0 <= step) by apply length_ge0. split.
    + eapply Rle_trans; [exact F1|]. apply Rmult_le_compat_r; [easy|]. now apply Rmult_le_compat_l.
    + eapply Rle_trans; [exact F3|]. apply Rmult_le_compat_r; [easy|]. apply Rplus_le_compat;
        [now apply Rmult_le_compat_l|].
      rewrite (Rmult_comm 8), Rmult_assoc. now apply Rmult_le_compat_l.
Qed.

(** kr-remark-3
    Covers: the whole statement.
    Reads: with the hypotheses and constants L₁ = σ₁√(1 + B²), L₂ = σ₂(1 + B²) + 8σ₁√(1 + B²) of Lemma 2, for ‖U‖, ‖U′‖ ≤ B: |h(θ′) − h(θ)| ≤ L₁‖θ′ − θ‖, ‖∇h(θ)‖ ≤ L₁, ‖∇h(θ′) − ∇h(θ)‖ ≤ L₂‖θ′ − θ‖, and |h(θ′) − h(θ) − ⟨∇h(θ), θ′ − θ⟩| ≤ ½L₂‖θ′ − θ‖².
    Constants: 8 = round((shallowformer.kernel_regime.bounds.smoothness.L2_paper(0.0) - shallowformer.activations.TANH.bounds[2]) / shallowformer.activations.TANH.bounds[1])
    Mistake: `- / 2 * L2 * step` for `/ 2 * L2 * step`
    Mistake: `let L1 := sigma1 * / 2 in` for `let L1 := sigma1 * sqrt (1 + B ^ 2) in`
*)
Theorem kr_remark_3 : forall sigma s1 s2 sigma1 sigma2 T d X q B, activation sigma s1 s2 sigma1 sigma2 ->
  (0 < T)%nat -> (0 < d)%nat -> in_ball T d X -> sq d q <= 1 ->
  let L1 := sigma1 * sqrt (1 + B ^ 2) in let L2 := sigma2 * (1 + B ^ 2) + 8 * sigma1 * sqrt (1 + B ^ 2) in
  forall U W U' W', vnorm d U <= B -> vnorm d U' <= B
    -> let step := length d (vminus U' U) (mminus W' W) in
    Rabs (head sigma T d X q U' W' - head sigma T d X q U W) <= L1 * step /\
    length d (gradient_U s1 T d X q U W) (gradient_W s1 T d X q U W) <= L1 /\
    length d (vminus (gradient_U s1 T d X q U' W') (gradient_U s1 T d X q U W))
      (mminus (gradient_W s1 T d X q U' W') (gradient_W s1 T d X q U W)) <= L2 * step /\
    Rabs (head sigma T d X q U' W' - head sigma T d X q U W - (dot d (gradient_U s1 T d X q U W) (vminus U' U) +
      fdot d d (gradient_W s1 T d X q U W) (mminus W' W))) <= / 2 * L2 * step ^ 2.
Proof.
  intros sigma s1 s2 sigma1 sigma2 T d X q R A HT Hd B Q L1 L2 U W U' W' HU HU' step.
  assert (F := four_lines sigma s1 s2 sigma1 sigma2 T d X q R A HT Hd B Q U W U' W' HU HU').
  cbv zeta in F. fold step in F. destruct F as (F1 & F2 & F3 & F4).
  assert (HR : 0 <= R) by (eapply Rle_trans; [apply norm_ge0|exact HU]).
    destruct (paper_constants R HR) as (P1 & P2 & P3).
  assert (S1 : 0 <= sigma1) by (eapply Rle_trans; [apply Rabs_pos|apply (proj1 (proj2 (proj2 A)) 0)]).
  assert (S2 : 0 <= sigma2) by (eapply Rle_trans; [apply Rabs_pos|apply (proj2 (proj2 (proj2 A)) 0)]).
  assert (N : 0 <= step) by apply length_ge0.
  assert (K1 : sigma1 * Rmax 1 R <= L1) by now apply Rmult_le_compat_l.
  assert (K2 : sigma2 * Rmax 1 R ^ 2 + sigma1 * (1 + R) <= L2).
  { unfold L2. apply Rplus_le_compat; [now apply Rmult_le_compat_l|]. rewrite (Rmult_comm 8), Rmult_assoc.
      now apply Rmult_le_compat_l. }
  repeat apply conj.
  - eapply Rle_trans; [exact F1|]. now apply Rmult_le_compat_r.
  - lra.
  - eapply Rle_trans; [exact F3|]. now apply Rmult_le_compat_r.
  - eapply Rle_trans; [exact F4|]. apply Rmult_le_compat_r; [apply pow2_ge_0|]. lra.
Qed.

(** Two camps of any T ≥ 2 tokens on a line, at the masses (1 ± s)/2,
  by an attention matrix and the last token as query. *)
Definition camps (e : vector) : matrix := fun t i => (if Nat.eqb t 0 then 1 else -1) * e i.

Lemma Sum_one_other T (a b : R) : (0 < T)%nat -> Sum T (fun t => if Nat.eqb t 0 then a else b) = a + (INR T - 1) * b.
Proof.
  intros H. replace T with (1 + (T - 1))%nat by lia. rewrite Sum_split. cbn [Sum Nat.eqb].
  rewrite (Sum_ext (T - 1) _ (fun _ => b)) by (intros; cbn; easy). rewrite Sum_const, plus_INR. simpl (INR 1). ring.
Qed.

Lemma camps_weights T d e s : (2 <= T)%nat -> sq d e = 1 -> -1 < s < 1 -> exists W,
  let alpha := weights T d (camps e) (camps e (T - 1)%nat) W in
  (forall u, dot d u (attended T alpha (camps e)) = s * dot d u e) /\
  (forall u w, spread T d alpha (camps e) u w = (1 - s ^ 2) * (dot d u e * dot d w e)) /\
  (forall u v w, third T d alpha (camps e) u v w = -2 * s * (1 - s ^ 2) * (dot d u e * dot d v e * dot d w e)).
Proof.
  intros HT U S. assert (TN : 2 <= INR T) by (apply (le_INR 2); lia).
  set (rho := (1 + s) / (1 - s) * (INR T - 1)). assert (RHO : 0 < rho).
  { apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat|]; lra. }
  assert (RS : rho * (1 - s) = (1 + s) * (INR T - 1)) by (unfold rho; field; lra).
  set (om := / 2 * ln rho). exists (fun i j => - om * (e i * e j)). set (q := camps e (T - 1)%nat).
    set (W := fun i j => _). intros alpha.
  assert (XQ : forall u t, dot d u (camps e t) = (if Nat.eqb t 0 then 1 else -1) * dot d u e).
  { intros. change (camps e t) with (vscal (if Nat.eqb t 0 then 1 else -1) e). apply dot_scal_r. }
  assert (UE : dot d e e = 1) by (now rewrite <- sq_dot).
  assert (WQ : forall u, dot d u (matvec d W q) = om * dot d u e).
  { intros u. replace (om * dot d u e) with (dot d u (vscal om e)) by apply dot_scal_r. apply Sum_ext; intros i _.
      f_equal.
    unfold matvec, W, vscal. rewrite (Sum_ext d _ (fun j => - om * e i * (e j * q j))) by (intros; ring).
      rewrite Sum_scal.
    fold (dot d e q). unfold q. rewrite XQ, UE. replace (Nat.eqb (T - 1) 0) with false by (symmetry; apply Nat.eqb_neq;
      lia). ring. }
  set (p := (1 + s) / 2). assert (P : 0 < p < 1) by (unfold p; lra).
  assert (EE : exp om * exp om = rho) by (rewrite <- exp_plus; replace (om + om) with (ln rho) by (unfold om; field);
    now apply exp_ln).
  assert (EP := exp_pos om). assert (EN : exp (- om) = / exp om) by apply exp_Ropp.
  assert (LOGIT : forall t, dot d (camps e t) (matvec d W q) = if Nat.eqb t 0 then om else - om).
  { intros t. rewrite WQ, dot_sym, XQ, UE. destruct (Nat.eqb t 0); ring. }
  assert (AL : forall t, alpha t = if Nat.eqb t 0 then p else (1 - p) / (INR T - 1)).
  { intros t. unfold alpha, weights, softmax.
      rewrite (Sum_ext T _ (fun s => if Nat.eqb s 0 then exp om else exp (- om))).
    2:{ intros r _. rewrite LOGIT. now destruct (Nat.eqb r 0). }
    rewrite Sum_one_other, LOGIT, EN by lia. destruct (Nat.eqb t 0).
    - transitivity (exp om * exp om / (exp om * exp om + (INR T - 1))); [field; split; nra|]. rewrite EE.
      apply (Rmult_eq_reg_r (rho + (INR T - 1))); [|lra]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. unfold p.
        lra.
    - rewrite ?EN. transitivity (1 / (exp om * exp om + (INR T - 1))); [field; split; nra|]. rewrite EE. unfold Rdiv.
      apply (Rmult_eq_reg_r ((rho + (INR T - 1)) * (INR T - 1))); [|apply Rgt_not_eq, Rmult_lt_0_compat; lra].
      replace (1 * / (rho + (INR T - 1)) * ((rho + (INR T - 1)) * (INR T - 1))) with (INR T - 1) by (field; lra).
      replace ((1 - p) * / (INR T - 1) * ((rho + (INR T - 1)) * (INR T - 1))) with ((1 - p) * (rho + (INR T - 1))) by
        (field; lra).
      unfold p. lra. }
  assert (EX : forall f f0 f1, (forall t, f t = if Nat.eqb t 0 then f0 else f1) -> E T alpha f = p * f0 + (1 - p) * f1).
  { intros f f0 f1 H. unfold E. rewrite (Sum_ext T _ (fun t => if Nat.eqb t 0 then p * f0 else (1 - p) / (INR T - 1) *
      f1)).
    - rewrite Sum_one_other by lia. field. lra.
    - intros t _. rewrite AL, H. now destruct (Nat.eqb t 0). }
  assert (A : forall u, dot d u (attended T alpha (camps e)) = s * dot d u e).
  { intros u. rewrite <- E_dot, (EX _ (dot d u e) (- dot d u e)); [unfold p; field|].
    intros t. rewrite XQ. destruct (Nat.eqb t 0); ring. }
  assert (Y : forall u t, dot d u (centred T alpha (camps e) t) = if Nat.eqb t 0 then (1 - s) * dot d u e else (-1 - s)
    * dot d u e).
  { intros u t. rewrite dot_centred, A, XQ. destruct (Nat.eqb t 0); ring. }
  repeat apply conj; [exact A| |].
  - intros u w. rewrite spread_E, (EX _ ((1 - s) ^ 2 * (dot d u e * dot d w e)) ((-1 - s) ^ 2 * (dot d u e * dot d w
      e)));
      [unfold p; field|]. intros t. rewrite !Y. destruct (Nat.eqb t 0); ring.
  - intros u v w. unfold third. rewrite (EX _ ((1 - s) ^ 3 * (dot d u e * dot d v e * dot d w e))
      ((-1 - s) ^ 3 * (dot d u e * dot d v e * dot d w e))); [unfold p; field|]. intros t. rewrite !Y.
        destruct (Nat.eqb t 0); ring.
Qed.

(** The direction of W that turns the query into y e: ‖y e qᵀ‖_F = |y| for a unit query, and length² = x² + y². *)
Lemma outer_direction d e q x y : sq d e = 1 -> sq d q = 1 ->
  matvec d (fun i j => y * e i * q j) q = vscal y e
    /\ length d (vscal x e) (fun i j => y * e i * q j) ^ 2 = x ^ 2 + y ^ 2.
Proof.
  intros U Q. split.
  - apply FunctionalExtensionality.functional_extensionality. intros i. unfold matvec, vscal.
    rewrite (Sum_ext d _ (fun j => y * e i * q j ^ 2)) by (intros; ring). rewrite Sum_scal. fold (sq d q). rewrite Q.
      ring.
  - rewrite length_sq, sq_scal, U. f_equal; [ring|]. unfold frob2.
    rewrite (Sum_ext d _ (fun i => y ^ 2 * e i ^ 2)).
    + rewrite Sum_scal. fold (sq d e). rewrite U. ring.
    + intros i _. rewrite (Sum_ext d _ (fun j => y ^ 2 * e i ^ 2 * q j ^ 2)) by (intros; ring). rewrite Sum_scal.
        fold (sq d q). rewrite Q. ring.
Qed.

(** kr-lemma-2-lipschitz
    Covers: the whole statement.
    Reads: for tokens and query in the unit ball, |σ′| ≤ σ₁ and ‖U‖, ‖U′‖ ≤ R: |h(θ′) − h(θ)| ≤ σ₁ max(1, R) ‖θ′ − θ‖. Let |σ′(0)| = σ₁ and e a unit vector. For R ≥ 1 and T ≥ 2, U = R e, tokens e, −e, …, −e, the last as query: some W (with ⟨e, a⟩ = 0, so half of the mass on each camp) and some direction of length 1 have the derivative of h of size σ₁R. For R ≤ 1 and T ≥ 1, all tokens e and any U at a right angle to e (as 0, or for d ≥ 2 one of length R): for every W and query some direction of length 1 has the derivative of h of size σ₁.
    Mistake: `sigma1 * R * length d` for `sigma1 * Rmax 1 R * length d`
    Mistake: `Rabs D = sigma1 * R + 1)` for `Rabs D = sigma1 * R)`
*)
Theorem kr_lemma_2_lipschitz : forall sigma s1 s2 sigma1 sigma2, activation sigma s1 s2 sigma1 sigma2 ->
  (forall T d X q R, (0 < T)%nat -> (0 < d)%nat -> in_ball T d X -> sq d q <= 1 ->
    forall U W U' W', vnorm d U <= R -> vnorm d U' <= R ->
    Rabs (head sigma T d X q U' W' - head sigma T d X q U W) <=
      sigma1 * Rmax 1 R * length d (vminus U' U) (mminus W' W)) /\
  (Rabs (s1 0) = sigma1 -> forall d e, sq d e = 1 ->
    (forall T R, (2 <= T)%nat -> 1 <= R -> exists W u Delta D,
      dot d e (attended T (weights T d (camps e) (camps e (T - 1)%nat) W) (camps e)) = 0 /\ length d u Delta = 1 /\
      is_derive (fun tau => head sigma T d (camps e) (camps e (T - 1)%nat) (along (vscal R e) u tau)
        (shifted W Delta tau)) 0 D /\
      Rabs D = sigma1 * R) /\
    (forall T q U W, (0 < T)%nat -> dot d U e = 0 -> exists u Delta D, length d u Delta = 1 /\
      is_derive (fun tau => head sigma T d (fun _ => e) q (along U u tau) (shifted W Delta tau)) 0 D /\ Rabs D =
        sigma1)).
Proof.
  intros sigma s1 s2 sigma1 sigma2 A. split.
  - intros T d X q R HT Hd B Q U W U' W' HU HU'.
    exact (proj1 (four_lines sigma s1 s2 sigma1 sigma2 T d X q R A HT Hd B Q U W U' W' HU HU')).
  - intros S0 d e U. split.
    + intros T R HT HR. destruct (camps_weights T d e 0 HT U ltac:(lra)) as (W & H). cbv zeta in H.
        destruct H as (HA & HM & _).
      assert (Q : sq d (camps e (T - 1)%nat) = 1).
      { change (camps e (T - 1)%nat) with (vscal (if Nat.eqb (T - 1) 0 then 1 else -1) e). rewrite sq_scal, U.
        destruct (Nat.eqb (T - 1) 0); ring. }
      destruct (outer_direction d e (camps e (T - 1)%nat) 0 1 U Q) as (O1 & O2).
      exists W, (vscal 0 e), (fun i j => 1 * e i * camps e (T - 1)%nat j).
      eexists. split; [rewrite HA; ring|split; [|split; [apply (head_line sigma s1); [lia|apply A]|]]].
      * assert (N := length_ge0 d (vscal 0 e) (fun i j => 1 * e i * camps e (T - 1)%nat j)). nra.
      * rewrite along_0, shifted_0, O1. unfold preactivation, slope.
          rewrite !HA, HM, !dot_scal_l, <- sq_dot, U, Rabs_mult.
        rewrite !Rmult_0_l, S0. f_equal. rewrite Rabs_pos_eq; lra.
    + intros T q V W HT HV. exists e, (fun _ _ => 0). eexists. split; [|split; [apply (head_line sigma s1);
        [easy|apply A]|]].
      * assert (L := length_sq d e (fun _ _ => 0)). rewrite U in L. unfold frob2 in L.
        rewrite (Sum_ext d _ (fun _ => 0)) in L by (intros; rewrite (Sum_ext d _ (fun _ => 0)) by (intros; ring);
          apply Sum_zero).
        rewrite Sum_zero in L. assert (N := length_ge0 d e (fun _ _ => 0)). nra.
      * rewrite along_0, shifted_0. set (al := weights T d (fun _ => e) q W).
        assert (D : distribution T al) by now apply softmax_distribution.
        assert (AT : forall u, dot d u (attended T al (fun _ => e)) = dot d u e) by (intros; rewrite <- E_dot;
          now apply E_const).
        unfold preactivation, slope. fold al. rewrite !AT, HV, <- sq_dot, U, spread_E.
        rewrite (E_ext _ _ _ (fun _ => 0)), E_const by (try easy; intros; rewrite dot_centred, AT; ring).
        rewrite Rplus_0_r, Rmult_1_r. exact S0.
Qed.
