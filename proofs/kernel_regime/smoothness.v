(** How smooth a head is: skewness, first and second derivatives, Lipschitz constants. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.skewness base.skewbounds.
From Shallow Require Import base.spectral base.lines base.steps.
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
  { intros t Ht. assert (K := cauchy d e (X t)). rewrite N in K. eapply Rle_trans; [exact K|]. rewrite Rmult_1_l.
    apply norm_le; [lra|]. rewrite pow1. now apply B. }
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
    rewrite sq_scal, U, Rmult_1_r. destruct (Nat.eqb t 0); easy.
  - rewrite A, norm_scal. replace (vnorm d e) with 1 by (unfold vnorm; rewrite U; symmetry; apply sqrt_1). ring.
  - exists e. split; [easy|]. rewrite spread_diagonal, EE, !Y, UE. cbn [Nat.eqb]. ring.
  - intros w W. rewrite spread_diagonal, EE, !Y. cbn [Nat.eqb]. assert (K := cauchy_sq d w e). rewrite W, U in K.
    replace (p * ((x0 - mu) * dot d w e) ^ 2 + (1 - p) * ((x1 - mu) * dot d w e) ^ 2) with
      ((p * (x0 - mu) ^ 2 + (1 - p) * (x1 - mu) ^ 2) * dot d w e ^ 2) by ring. nra.
  - rewrite third_diagonal, EE, !Y, UE. cbn [Nat.eqb]. ring.
Qed.

(** kr-lemma-2-skewness
    Covers: the whole statement.
    Reads: for T tokens of the unit ball of ℝᵈ, any attention weights, s = ‖a‖ and λ = ‖M‖_op (the largest ⟨e,
      Me⟩ over unit e), and all unit vectors u, v, w: some unit e has |κ₃(u, v, w)| ≤ |κ₃(e, e, e)|;
        |κ₃(u, v, w)| ≤ 2λ√(1 − λ); |κ₃(u, v, w)| ≤ k(s), which is 2s(1 − s²) for s ≥ ⅓ and (1 + s)³/4 below;
          |κ₃(u, v, w)| ≤ 4/(3√3). For every unit e: tokens ±e with masses (1 ± s)/2, 0 ≤ s ≤ 1, have ‖a‖ = s,
            ‖M‖_op = 1 − s² and |κ₃(e, e, e)| = 2s(1 − s²), which is 2λ√(1 − λ) for λ = 1 − s²,
              and 4/(3√3) at s = 1/√3; tokens e, −(1 + 3s)/2·e with masses ⅓, ⅔, 0 ≤ s ≤ ⅓, have ‖a‖ = s and κ₃(e, e,
                e) = (1 + s)³/4.
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
  - intros T d alpha X D B u v w U V W. destruct (diagonal T d alpha (centred T alpha X) u v w U V W) as (e & HE & K).
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

Lemma dot_vnorm d u v : Rabs (dot d u v) <= vnorm d u * vnorm d v.
Proof. apply cauchy. Qed.

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
  dot d (gradient_U s1 T d X q U W) u + Sum d (fun i => dot d (gradient_W s1 T d X q U W i) (Delta i)) =
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
  (forall u Delta, dot d g u + Sum d (fun i => dot d (G i) (Delta i)) <= L * length d u Delta) -> length d g G <= L.
Proof.
  intros HL H. specialize (H g G). replace (dot d g g + _) with (length d g G ^ 2) in H.
  - assert (N := length_ge0 d g G). destruct (Req_dec (length d g G) 0); [lra|].
      apply Rmult_le_reg_r with (length d g G); lra.
  - rewrite length_sq, sq_dot. f_equal. apply Sum_ext; intros. apply sq_dot.
Qed.

Lemma pairing_minus d a b A B u D : dot d (vminus a b) u + Sum d (fun i => dot d (fun j => A i j - B i j) (D i)) =
  (dot d a u + Sum d (fun i => dot d (A i) (D i))) - (dot d b u + Sum d (fun i => dot d (B i) (D i))).
Proof.
  rewrite dot_minus_l. assert (K : Sum d (fun i => dot d (fun j => A i j - B i j) (D i)) =
    Sum d (fun i => dot d (A i) (D i)) - Sum d (fun i => dot d (B i) (D i))).
  { rewrite <- Sum_minus. apply Sum_ext; intros i _. exact (dot_minus_l d (A i) (B i) (D i)). }
  rewrite K. ring.
Qed.

Lemma vline_end U U' : vline U 1 (vminus U' U) = U'.
Proof. apply FunctionalExtensionality.functional_extensionality; intros. unfold vline, vminus. ring. Qed.
Lemma vline_start U u : vline U 0 u = U.
Proof. apply FunctionalExtensionality.functional_extensionality; intros. unfold vline. ring. Qed.
Lemma mline_end W W' : mline W 1 (fun i j => W' i j - W i j) = W'.
Proof.
  apply FunctionalExtensionality.functional_extensionality; intros.
    apply FunctionalExtensionality.functional_extensionality; intros.
  unfold mline. ring.
Qed.
Lemma mline_start W Delta : mline W 0 Delta = W.
Proof.
  apply FunctionalExtensionality.functional_extensionality; intros.
    apply FunctionalExtensionality.functional_extensionality; intros.
  unfold mline. ring.
Qed.

Lemma vline_ball d R U U' t : vnorm d U <= R -> vnorm d U' <= R -> 0 <= t <= 1
  -> vnorm d (vline U t (vminus U' U)) <= R.
Proof.
  intros H H' Ht. replace (vline U t (vminus U' U)) with (vplus (vscal (1 - t) U) (vscal t U')).
  - eapply Rle_trans; [apply norm_triangle|]. rewrite !norm_scal, !Rabs_pos_eq by lra. nra.
  - apply FunctionalExtensionality.functional_extensionality; intros. unfold vline, vminus, vplus, vscal. ring.
Qed.

Lemma head_line sigma s1 T d X q U u W Delta : (0 < T)%nat -> (forall z, is_derive sigma z (s1 z)) -> forall tau,
  is_derive (fun tau => head sigma T d X q (vline U tau u) (mline W tau Delta)) tau
    (s1 (preactivation T d X q (vline U tau u) (mline W tau Delta)) *
     slope T d (weights T d X q (mline W tau Delta)) X (vline U tau u) u (matvec d Delta q)).
Proof.
  intros HT D tau. unfold head. evar_last.
  - apply (is_derive_comp sigma (fun tau => preactivation T d X q (vline U tau u) (mline W tau Delta))); [apply D|].
    now apply preactivation_line.
  - unfold scal. cbn. unfold mult. cbn. ring.
Qed.

Lemma gradient_line s1 s2 T d X q U u W Delta u' w' : (0 < T)%nat -> (forall z, is_derive s1 z (s2 z)) -> forall tau,
  is_derive (fun tau => s1 (preactivation T d X q (vline U tau u) (mline W tau Delta)) *
     slope T d (weights T d X q (mline W tau Delta)) X (vline U tau u) u' w') tau
    (s2 (preactivation T d X q (vline U tau u) (mline W tau Delta)) *
      slope T d (weights T d X q (mline W tau Delta)) X (vline U tau u) u (matvec d Delta q) *
      slope T d (weights T d X q (mline W tau Delta)) X (vline U tau u) u' w' +
     s1 (preactivation T d X q (vline U tau u) (mline W tau Delta)) *
      bend T d (weights T d X q (mline W tau Delta)) X (vline U tau u) u (matvec d Delta q) u' w').
Proof.
  intros HT D tau. evar_last.
  - apply (is_derive_mult (fun tau => s1 (preactivation T d X q (vline U tau u) (mline W tau Delta)))
      (fun tau => slope T d (weights T d X q (mline W tau Delta)) X (vline U tau u) u' w'));
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
  let step := length d (vminus U' U) (fun i j => W' i j - W i j) in
  let K2 := sigma2 * Rmax 1 R ^ 2 + sigma1 * (1 + R) in
  Rabs (head sigma T d X q U' W' - head sigma T d X q U W) <= sigma1 * Rmax 1 R * step /\
  length d (gradient_U s1 T d X q U W) (gradient_W s1 T d X q U W) <= sigma1 * Rmax 1 R /\
  length d (vminus (gradient_U s1 T d X q U' W') (gradient_U s1 T d X q U W))
    (fun i j => gradient_W s1 T d X q U' W' i j - gradient_W s1 T d X q U W i j) <= K2 * step /\
  Rabs (head sigma T d X q U' W' - head sigma T d X q U W - (dot d (gradient_U s1 T d X q U W) (vminus U' U) +
    Sum d (fun i => dot d (gradient_W s1 T d X q U W i) (fun j => W' i j - W i j)))) <= / 2 * K2 * step ^ 2.
Proof.
  intros (D1 & D2 & B1 & B2) HT Hd B Q U W U' W' HU HU' step K2. set (u := vminus U' U) in *.
  set (Delta := fun i j => W' i j - W i j) in *. assert (N := length_ge0 d u Delta). fold step in N.
  assert (HR : 0 <= R) by (eapply Rle_trans; [apply norm_ge0|exact HU]).
  assert (S1 : 0 <= sigma1) by (eapply Rle_trans; [apply Rabs_pos|apply (B1 0)]).
  assert (S2 : 0 <= sigma2) by (eapply Rle_trans; [apply Rabs_pos|apply (B2 0)]).
  assert (M0 : 0 <= Rmax 1 R) by (eapply Rle_trans; [|apply Rmax_l]; lra).
  assert (DI : forall tau, distribution T (weights T d X q (mline W tau Delta))) by (intros;
    now apply softmax_distribution).
  assert (IN : forall tau, 0 <= tau <= 1 -> vnorm d (vline U tau u) <= R) by (intros; now apply vline_ball).
  assert (FIRST : forall tau, 0 <= tau <= 1 -> forall u' Delta',
    Rabs (s1 (preactivation T d X q (vline U tau u) (mline W tau Delta)) *
     slope T d (weights T d X q (mline W tau Delta)) X (vline U tau u) u' (matvec d Delta' q)) <= sigma1 * Rmax 1 R *
       length d u' Delta').
  { intros tau Ht u' Delta'. rewrite Rabs_mult, Rmult_assoc. apply Rmult_le_compat; try apply Rabs_pos; [apply B1|].
    apply slope_max; auto. }
  assert (SECOND : forall tau, 0 <= tau <= 1 -> forall u' Delta',
    Rabs (s2 (preactivation T d X q (vline U tau u) (mline W tau Delta)) *
      slope T d (weights T d X q (mline W tau Delta)) X (vline U tau u) u (matvec d Delta q) *
      slope T d (weights T d X q (mline W tau Delta)) X (vline U tau u) u' (matvec d Delta' q) +
     s1 (preactivation T d X q (vline U tau u) (mline W tau Delta)) *
      bend T d (weights T d X q (mline W tau Delta)) X (vline U tau u) u (matvec d Delta q) u' (matvec d Delta' q)) <=
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
  assert (E1 : vline U 1 u = U') by apply vline_end. assert (E2 : mline W 1 Delta = W') by apply mline_end.
  repeat apply conj.
  - assert (K := step_first _ _ _ (head_line sigma s1 T d X q U u W Delta HT D1) (fun tau Ht => FIRST tau Ht u Delta) 1
      ltac:(lra)).
    cbv beta in K. rewrite vline_start, mline_start, E1, E2 in K. fold step in K. lra.
  - apply length_dual; [now apply Rmult_le_pos|]. intros u' Delta'. rewrite gradient_pairing.
    assert (K := FIRST 0 ltac:(lra) u' Delta'). rewrite vline_start, mline_start in K. eapply Rle_trans;
      [apply Rle_abs|exact K].
  - apply length_dual.
    + apply Rmult_le_pos; [|easy]. apply Rplus_le_le_0_compat; apply Rmult_le_pos; try easy; [apply pow2_ge_0|lra].
    + intros u' Delta'. rewrite pairing_minus, !gradient_pairing.
      assert (K := step_first _ _ _ (gradient_line s1 s2 T d X q U u W Delta u' (matvec d Delta' q) HT D2)
        (fun tau Ht => SECOND tau Ht u' Delta') 1 ltac:(lra)).
      cbv beta in K. rewrite vline_start, mline_start, E1, E2, Rmult_1_r in K. eapply Rle_trans;
        [apply Rle_abs|exact K].
  - change (Sum d (fun i => dot d (gradient_W s1 T d X q U W i) (fun j => W' i j - W i j))) with
      (Sum d (fun i => dot d (gradient_W s1 T d X q U W i) (Delta i))). rewrite gradient_pairing.
    assert (K := step_second _ _ _ _ (head_line sigma s1 T d X q U u W Delta HT D1)
      (gradient_line s1 s2 T d X q U u W Delta u (matvec d Delta q) HT D2) (fun tau Ht => SECOND tau Ht u Delta) 1
        ltac:(lra)).
    cbv beta in K. rewrite vline_start, mline_start, E1, E2 in K. fold step in K.
    replace (/ 2 * K2 * step ^ 2) with (/ 2 * (K2 * step * step) * 1 ^ 2) by ring. rewrite Rmult_1_l in K. exact K.
Qed.

(** kr-lemma-2-derivatives
    Covers: a part: z′, z″ and h″ along every line; on the page: the eigenvalues of the Hessian,
      and that its norm does not decrease with ‖q‖.
    Reads: at every point (U + τu, W + τΔ) of every line, with a, M,
      κ₃ taken there and w = Δq: z has the derivative ⟨a, u⟩ + ⟨U, Mw⟩, which has the derivative 2⟨u, Mw⟩ + κ₃(U, w,
        w); h = σ(z) has the derivative σ′(z) z′, which has the derivative σ″(z) z′² + σ′(z) z″.
    Mistake: `2 * third T d (alpha tau)` for `third T d (alpha tau)`
    Mistake: `(spread T d (alpha tau) X u w +` for `(2 * spread T d (alpha tau) X u w +`
*)
Theorem kr_lemma_2_derivatives : forall sigma s1 s2 T d X q U u W Delta, (0 < T)%nat ->
  (forall z, is_derive sigma z (s1 z)) -> (forall z, is_derive s1 z (s2 z)) ->
  let w := matvec d Delta q in
  let alpha tau := weights T d X q (mline W tau Delta) in
  let z tau := preactivation T d X q (vline U tau u) (mline W tau Delta) in
  let z1 tau := dot d (attended T (alpha tau) X) u + spread T d (alpha tau) X (vline U tau u) w in
  let z2 tau := (2 * spread T d (alpha tau) X u w + third T d (alpha tau) X (vline U tau u) w w) in
  forall tau, is_derive z tau (z1 tau) /\ is_derive z1 tau (z2 tau) /\
    is_derive (fun tau => head sigma T d X q (vline U tau u) (mline W tau Delta)) tau (s1 (z tau) * z1 tau) /\
    is_derive (fun tau => s1 (z tau) * z1 tau) tau (s2 (z tau) * z1 tau ^ 2 + s1 (z tau) * z2 tau).
Proof.
  intros sigma s1 s2 T d X q U u W Delta HT D1 D2 w alpha z z1 z2 tau.
  assert (Z1 : forall tau, slope T d (alpha tau) X (vline U tau u) u w = z1 tau) by (intros; unfold slope, z1;
    now rewrite dot_sym).
  assert (Z2 : bend T d (alpha tau) X (vline U tau u) u w u w = z2 tau) by (unfold bend, z2; ring).
  assert (A := preactivation_line T d X q W Delta HT U u tau). assert (B := slope_line T d X q W Delta HT U u u w tau).
  assert (C := head_line sigma s1 T d X q U u W Delta HT D1 tau).
  assert (F := gradient_line s1 s2 T d X q U u W Delta u w HT D2 tau). cbv beta zeta in A, B.
  fold w in A, B, C, F.
  change (weights T d X q (mline W tau Delta)) with (alpha tau) in A, B, C, F. rewrite Z1 in A, C, F.
    rewrite Z2 in B, F.
  refine (conj A (conj _ (conj C _))).
  - apply is_derive_ext with (2 := B). intros t. apply Z1.
  - apply is_derive_ext with (f := fun tau => s1 (z tau) * slope T d (alpha tau) X (vline U tau u) u w); [intros;
      now rewrite Z1|].
    evar_last; [exact F|]. fold (z tau). ring.
Qed.

(** kr-lemma-2
    Covers: the whole statement, for σ with a derivative σ′ = s₁ and second derivative σ″ = s₂ everywhere.
    Reads: let |σ′| ≤ σ₁, |σ″| ≤ σ₂, tokens and query in the unit ball of ℝᵈ.
    (gradient_U, gradient_W) is the gradient of h = σ(z) in (U, W),
      as its pairing with every direction is the derivative along it;
        for ‖U‖, ‖U′‖ ≤ B and any W, W′: |h(θ′) − h(θ)| ≤ σ₁√(1 + B²) ‖θ′ − θ‖ and ‖∇h(θ′) − ∇h(θ)‖ ≤ (σ₂(1 + B²) +
          8σ₁√(1 + B²)) ‖θ′ − θ‖.
    Constants: 8 = round((shallowformer.kernel_regime.bounds.smoothness.L2_paper(0.0) -
      shallowformer.activations.TANH.bounds[2]) / shallowformer.activations.TANH.bounds[1])
    Mistake: `sigma1 * / 2 * step` for `sigma1 * sqrt (1 + B ^ 2) * step`
    Mistake: `/ 8 * sigma1 * sqrt` for `8 * sigma1 * sqrt`
*)
Theorem kr_lemma_2 : forall sigma s1 s2 sigma1 sigma2 T d X q B, activation sigma s1 s2 sigma1 sigma2 ->
  (0 < T)%nat -> (0 < d)%nat -> in_ball T d X -> sq d q <= 1 ->
  (forall U W u Delta, is_derive (fun tau => head sigma T d X q (vline U tau u) (mline W tau Delta)) 0
    (dot d (gradient_U s1 T d X q U W) u + Sum d (fun i => dot d (gradient_W s1 T d X q U W i) (Delta i)))) /\
  (forall U W U' W', vnorm d U <= B -> vnorm d U' <= B
    -> let step := length d (vminus U' U) (fun i j => W' i j - W i j) in
    Rabs (head sigma T d X q U' W' - head sigma T d X q U W) <= sigma1 * sqrt (1 + B ^ 2) * step /\
    length d (vminus (gradient_U s1 T d X q U' W') (gradient_U s1 T d X q U W))
      (fun i j => gradient_W s1 T d X q U' W' i j - gradient_W s1 T d X q U W i j) <=
      (sigma2 * (1 + B ^ 2) + 8 * sigma1 * sqrt (1 + B ^ 2)) * step).
Proof.
  intros sigma s1 s2 sigma1 sigma2 T d X q R A HT Hd B Q. split.
  - intros U W u Delta. rewrite gradient_pairing. evar_last; [apply (head_line sigma s1); [easy|apply A]|].
    now rewrite vline_start, mline_start.
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
    Reads: with the hypotheses and constants L₁ = σ₁√(1 + B²), L₂ = σ₂(1 + B²) + 8σ₁√(1 + B²) of Lemma 2, for ‖U‖,
      ‖U′‖ ≤ B: |h(θ′) − h(θ)| ≤ L₁‖θ′ − θ‖, ‖∇h(θ)‖ ≤ L₁, ‖∇h(θ′) − ∇h(θ)‖ ≤ L₂‖θ′ − θ‖, and |h(θ′) − h(θ) − ⟨∇h(θ),
        θ′ − θ⟩| ≤ ½L₂‖θ′ − θ‖².
    Mistake: `- / 2 * L2 * step` for `/ 2 * L2 * step`
    Mistake: `let L1 := sigma1 * / 2 in` for `let L1 := sigma1 * sqrt (1 + B ^ 2) in`
*)
Theorem kr_remark_3 : forall sigma s1 s2 sigma1 sigma2 T d X q B, activation sigma s1 s2 sigma1 sigma2 ->
  (0 < T)%nat -> (0 < d)%nat -> in_ball T d X -> sq d q <= 1 ->
  let L1 := sigma1 * sqrt (1 + B ^ 2) in let L2 := sigma2 * (1 + B ^ 2) + 8 * sigma1 * sqrt (1 + B ^ 2) in
  forall U W U' W', vnorm d U <= B -> vnorm d U' <= B
    -> let step := length d (vminus U' U) (fun i j => W' i j - W i j) in
    Rabs (head sigma T d X q U' W' - head sigma T d X q U W) <= L1 * step /\
    length d (gradient_U s1 T d X q U W) (gradient_W s1 T d X q U W) <= L1 /\
    length d (vminus (gradient_U s1 T d X q U' W') (gradient_U s1 T d X q U W))
      (fun i j => gradient_W s1 T d X q U' W' i j - gradient_W s1 T d X q U W i j) <= L2 * step /\
    Rabs (head sigma T d X q U' W' - head sigma T d X q U W - (dot d (gradient_U s1 T d X q U W) (vminus U' U) +
      Sum d (fun i => dot d (gradient_W s1 T d X q U W i) (fun j => W' i j - W i j)))) <= / 2 * L2 * step ^ 2.
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

Lemma Sum_first T (a b : R) : (0 < T)%nat -> Sum T (fun t => if Nat.eqb t 0 then a else b) = a + (INR T - 1) * b.
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
    rewrite Sum_first, LOGIT, EN by lia. destruct (Nat.eqb t 0).
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
    - rewrite Sum_first by lia. field. lra.
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

Lemma camps_ball T d e : sq d e = 1 -> in_ball T d (camps e).
Proof.
  intros U t _. change (camps e t) with (vscal (if Nat.eqb t 0 then 1 else -1) e). rewrite sq_scal, U.
    destruct (Nat.eqb t 0); lra.
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
    Reads: for tokens and query in the unit ball, |σ′| ≤ σ₁ and ‖U‖, ‖U′‖ ≤ R: |h(θ′) − h(θ)| ≤ σ₁ max(1, R) ‖θ′ − θ‖.
    Let |σ′(0)| = σ₁ and e a unit vector. For R ≥ 1 and T ≥ 2, U = R e, tokens e, −e, …, −e,
      the last as query: some W (two camps of half of the mass each) and some direction of length 1 have the derivative
        of h of size σ₁R. For R ≤ 1 and T ≥ 1, all tokens e and any U at a right angle to e (as 0,
          or for d ≥ 2 one of length R): for every W and query some direction of length 1 has the derivative of h of
            size σ₁.
    Mistake: `sigma1 * R * length d` for `sigma1 * Rmax 1 R * length d`
    Mistake: `Rabs D = sigma1 * R + 1)` for `Rabs D = sigma1 * R)`
*)
Theorem kr_lemma_2_lipschitz : forall sigma s1 s2 sigma1 sigma2, activation sigma s1 s2 sigma1 sigma2 ->
  (forall T d X q R, (0 < T)%nat -> (0 < d)%nat -> in_ball T d X -> sq d q <= 1 ->
    forall U W U' W', vnorm d U <= R -> vnorm d U' <= R ->
    Rabs (head sigma T d X q U' W' - head sigma T d X q U W) <=
      sigma1 * Rmax 1 R * length d (vminus U' U) (fun i j => W' i j - W i j)) /\
  (Rabs (s1 0) = sigma1 -> forall d e, sq d e = 1 ->
    (forall T R, (2 <= T)%nat -> 1 <= R -> exists W u Delta D, length d u Delta = 1 /\
      is_derive (fun tau => head sigma T d (camps e) (camps e (T - 1)%nat) (vline (vscal R e) tau u) (mline W tau
        Delta)) 0 D /\
      Rabs D = sigma1 * R) /\
    (forall T q U W, (0 < T)%nat -> dot d U e = 0 -> exists u Delta D, length d u Delta = 1 /\
      is_derive (fun tau => head sigma T d (fun _ => e) q (vline U tau u) (mline W tau Delta)) 0 D /\ Rabs D = sigma1)).
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
      eexists. split; [|split; [apply (head_line sigma s1); [lia|apply A]|]].
      * assert (N := length_ge0 d (vscal 0 e) (fun i j => 1 * e i * camps e (T - 1)%nat j)). nra.
      * rewrite vline_start, mline_start, O1. unfold preactivation, slope.
          rewrite !HA, HM, !dot_scal_l, <- sq_dot, U, Rabs_mult.
        rewrite !Rmult_0_l, S0. f_equal. rewrite Rabs_pos_eq; lra.
    + intros T q V W HT HV. exists e, (fun _ _ => 0). eexists. split; [|split; [apply (head_line sigma s1);
        [easy|apply A]|]].
      * assert (L := length_sq d e (fun _ _ => 0)). rewrite U in L. unfold frob2 in L.
        rewrite (Sum_ext d _ (fun _ => 0)) in L by (intros; rewrite (Sum_ext d _ (fun _ => 0)) by (intros; ring);
          apply Sum_zero).
        rewrite Sum_zero in L. assert (N := length_ge0 d e (fun _ _ => 0)). nra.
      * rewrite vline_start, mline_start. set (al := weights T d (fun _ => e) q W).
        assert (D : distribution T al) by now apply softmax_distribution.
        assert (AT : forall u, dot d u (attended T al (fun _ => e)) = dot d u e) by (intros; rewrite <- E_dot;
          now apply E_const).
        unfold preactivation, slope. fold al. rewrite !AT, HV, <- sq_dot, U, spread_E.
        rewrite (E_ext _ _ _ (fun _ => 0)), E_const by (try easy; intros; rewrite dot_centred, AT; ring).
        rewrite Rplus_0_r, Rmult_1_r. exact S0.
Qed.

(** (1 − s²)(sR + √(1 + s²R²)), its maximiser s_R, and H⋆(R) *)
Definition compromise (radius s : R) : R := (1 - s ^ 2) * (s * radius + sqrt (1 + s ^ 2 * radius ^ 2)).
Definition extremal_mean (radius : R) : R := sqrt (radius ^ 2 / (2 + radius ^ 2 + 2 * sqrt (1 + radius ^ 2 + radius ^
  4))).
Definition H_star (radius : R) : R := compromise radius (extremal_mean radius).

Lemma extremal_spec r : 0 <= r -> 0 <= extremal_mean r < 1 /\
  r * (1 - extremal_mean r ^ 2) = 2 * extremal_mean r * sqrt (1 + extremal_mean r ^ 2 * r ^ 2).
Proof.
  intros HR. set (Q := sqrt (1 + r ^ 2 + r ^ 4)). assert (R2 : 0 <= r ^ 2) by apply pow2_ge_0.
  assert (R4 : 0 <= r ^ 4) by (apply (pow_le r 4); easy). assert (Q2 : Q ^ 2 = 1 + r ^ 2 + r ^ 4) by (apply pow2_sqrt;
    lra).
  assert (Q0 : 0 <= Q) by apply sqrt_pos. set (den := 2 + r ^ 2 + 2 * Q). assert (DEN : 0 < den) by (unfold den; lra).
  set (s := extremal_mean r). assert (S2 : s ^ 2 = r ^ 2 / den).
  { unfold s, extremal_mean. fold Q den. apply pow2_sqrt. apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]. }
  assert (S0 : 0 <= s) by apply sqrt_pos. assert (T1 : s ^ 2 < 1).
  { rewrite S2. apply Rmult_lt_reg_r with den; [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. unfold den.
      lra. }
  split; [split; [easy|nra]|]. set (t := s ^ 2) in *. assert (TD : t * den = r ^ 2) by (rewrite S2; field; lra).
  assert (QUAD : 3 * r ^ 2 * t ^ 2 + (4 + 2 * r ^ 2) * t - r ^ 2 = 0).
  { apply (Rmult_eq_reg_r (den ^ 2)); [|apply pow_nonzero; lra]. rewrite Rmult_0_l.
    replace ((3 * r ^ 2 * t ^ 2 + (4 + 2 * r ^ 2) * t - r ^ 2) * den ^ 2) with
      (3 * r ^ 2 * (t * den) ^ 2 + (4 + 2 * r ^ 2) * (t * den) * den - r ^ 2 * den ^ 2) by ring. rewrite TD.
    replace (3 * r ^ 2 * (r ^ 2) ^ 2 + (4 + 2 * r ^ 2) * r ^ 2 * den - r ^ 2 * den ^ 2) with
      (r ^ 2 * (3 * r ^ 4 + (2 + r ^ 2) ^ 2 - 4 * Q ^ 2)) by (unfold den; ring). rewrite Q2. ring. }
  set (W := sqrt (1 + t * r ^ 2)). assert (TR : 0 <= t * r ^ 2) by (apply Rmult_le_pos; [unfold t;
    apply pow2_ge_0|easy]).
  assert (W2 : W ^ 2 = 1 + t * r ^ 2) by (apply pow2_sqrt; lra). assert (W0 : 0 <= W) by apply sqrt_pos.
  apply Rsqr_inj; [apply Rmult_le_pos; lra | apply Rmult_le_pos; lra|]. unfold Rsqr.
  replace (2 * s * W * (2 * s * W)) with (4 * s ^ 2 * W ^ 2) by ring. rewrite W2. fold t. lra.
Qed.

Lemma H_star_max r s : 0 <= r -> 0 <= s <= 1 -> compromise r s <= H_star r.
Proof.
  intros HR Hs. destruct (extremal_spec r HR) as (X & EQ). unfold H_star. set (m := extremal_mean r) in *.
  set (f' := fun s => (s * r + sqrt (1 + s ^ 2 * r ^ 2)) * (r * (1 - s ^ 2) - 2 * s * sqrt (1 + s ^ 2 * r ^ 2)) / sqrt
    (1 + s ^ 2 * r ^ 2)).
  assert (W : forall s, 0 < 1 + s ^ 2 * r ^ 2).
  { intros v. assert (0 <= v ^ 2 * r ^ 2) by (apply Rmult_le_pos; apply pow2_ge_0). lra. }
  assert (D : forall s, is_derive (compromise r) s (f' s)).
  { intros v. unfold compromise, f'. assert (P := sqrt_lt_R0 _ (W v)). assert (P2 := sqrt_sqrt _ (Rlt_le _ _ (W v))).
    auto_derive; [apply W|]. set (u := sqrt (1 + v ^ 2 * r ^ 2)) in *.
    replace (sqrt (1 + v * (v * 1) * (r * (r * 1)))) with u by (unfold u; f_equal; ring).
    apply (Rmult_eq_reg_r u); [|lra].
    replace ((v * r + u) * (r * (1 - v ^ 2) - 2 * v * u) / u * u) with ((v * r + u) * (r * (1 - v ^ 2) - 2 * v * u)) by
      (field; lra).
    replace (u * u) with (1 + v ^ 2 * r ^ 2) in P2 by easy. field_simplify; [|lra]. nra. }
  destruct (MVT_gen (compromise r) s m f') as (c & C & E).
  - intros; apply D.
  - intros x _. apply continuity_pt_filterlim. apply (ex_derive_continuous (compromise r)). eexists; apply D.
  - assert (HW : forall a b, 0 <= a -> a <= b -> sqrt (1 + a ^ 2 * r ^ 2) <= sqrt (1 + b ^ 2 * r ^ 2)).
    { intros a b A B. apply sqrt_le_1_alt. assert (a ^ 2 <= b ^ 2) by (apply pow_incr; lra).
      assert (a ^ 2 * r ^ 2 <= b ^ 2 * r ^ 2) by (apply Rmult_le_compat_r; [apply pow2_ge_0|easy]). lra. }
    assert (C0 : 0 <= c) by (assert (0 <= Rmin s m) by (apply Rmin_glb; lra); lra).
    assert (P := sqrt_lt_R0 _ (W c)). assert (P' := sqrt_lt_R0 _ (W m)).
    assert (FC : 0 <= (c * r + sqrt (1 + c ^ 2 * r ^ 2)) / sqrt (1 + c ^ 2 * r ^ 2)).
    { apply Rmult_le_pos; [|left; now apply Rinv_0_lt_compat]. assert (0 <= c * r) by now apply Rmult_le_pos. lra. }
    set (g := r * (1 - c ^ 2) - 2 * c * sqrt (1 + c ^ 2 * r ^ 2)).
    assert (FE : f' c = (c * r + sqrt (1 + c ^ 2 * r ^ 2)) / sqrt (1 + c ^ 2 * r ^ 2) * g) by (unfold f', g; field;
      lra).
    assert (GE : 0 <= g * (m - s)).
    { destruct (Rle_dec s m) as [L|L].
      - rewrite Rmin_left, Rmax_right in C by lra. assert (A := HW c m C0 (proj2 C)). apply Rmult_le_pos; [|lra].
          unfold g.
        assert (c ^ 2 <= m ^ 2) by (apply pow_incr; lra).
          assert (r * (1 - m ^ 2) <= r * (1 - c ^ 2)) by (apply Rmult_le_compat_l; lra).
        assert (c * sqrt (1 + c ^ 2 * r ^ 2) <= m * sqrt (1 + m ^ 2 * r ^ 2)) by (apply Rmult_le_compat; lra). lra.
      - rewrite Rmin_right, Rmax_left in C by lra. assert (A := HW m c (proj1 X) (proj1 C)).
        assert (g <= 0).
        { unfold g. assert (m ^ 2 <= c ^ 2) by (apply pow_incr; lra).
            assert (r * (1 - c ^ 2) <= r * (1 - m ^ 2)) by (apply Rmult_le_compat_l; lra).
          assert (m * sqrt (1 + m ^ 2 * r ^ 2) <= c * sqrt (1 + c ^ 2 * r ^ 2)) by (apply Rmult_le_compat; lra). lra. }
        nra. }
    rewrite FE, Rmult_assoc in E. assert (0 <= (c * r + sqrt (1 + c ^ 2 * r ^ 2)) / sqrt (1 + c ^ 2 * r ^ 2) * (g * (m
      - s)))
      by now apply Rmult_le_pos. lra.
Qed.

(** 2xy + 2b y² ≤ (b + √(1 + b²))(x² + y²) *)
Lemma top_of_two b x y : 0 <= b -> 2 * x * y + 2 * b * y ^ 2 <= (b + sqrt (1 + b ^ 2)) * (x ^ 2 + y ^ 2).
Proof.
  intros B. set (w := sqrt (1 + b ^ 2)). assert (W : w ^ 2 = 1 + b ^ 2) by (apply pow2_sqrt; nra).
  assert (W0 : 0 < w) by (apply sqrt_lt_R0; nra). set (c := b + w). assert (C : 0 < c) by (unfold c; lra).
  assert (CC : c ^ 2 = 2 * b * c + 1) by (unfold c; nra). apply (Rmult_le_reg_l c); [easy|].
  assert (K := pow2_ge_0 (c * x - y)). nra.
Qed.

(** kr-lemma-2-hessian
    Covers: the whole statement.
    Reads: let ‖U‖ ≤ R, tokens of the unit ball and ‖q‖ ≤ 1. ∇²z[δ, δ] for δ = (u, Δ) (with w = Δq it is 2⟨u,
      Mw⟩ + κ₃(U, w, w)) is at most H⋆(R)‖δ‖² in size,
        where H⋆(R) = (1 − s²)(sR + √(1 + s²R²)) at s = s_R = (R²/(2 + R² + 2√(1 + R² + R⁴)))^½ ∈ [0, 1),
          its largest value over 0 ≤ s ≤ 1. For every T ≥ 2, R ≥ 0 and unit vector e it is attained
            by U = Re, tokens e, −e, …, −e, the last as the query, some W (with it ‖a‖ = s_R,
              so masses (1 ± s_R)/2) and some δ of length 1.
              H⋆(0) = 1, H⋆ increases, and κR ≤ H⋆(R) ≤ ½(κR + √(κ²R² + 4)). For T = 1 the form is 0.
    Constants: 4 / (3 * sqrt 3) = shallowformer.probability.cumulants.KAPPA
    Mistake: `<= / 2 * H_star R * length d u Delta ^ 2)` for `<= H_star R * length d u Delta ^ 2)`
    Mistake: `H_star 0 = 2` for `H_star 0 = 1`
    Mistake: `<= kappa * R) /\` for `<= / 2 * (kappa * R + sqrt (kappa ^ 2 * R ^ 2 + 4))) /\`
*)
Theorem kr_lemma_2_hessian : let kappa := 4 / (3 * sqrt 3) in
  (forall T d X q R U W u Delta, (0 < T)%nat -> (0 < d)%nat -> in_ball T d X -> sq d q <= 1 -> vnorm d U <= R ->
    let w := matvec d Delta q in
    Rabs (bend T d (weights T d X q W) X U u w u w) <= H_star R * length d u Delta ^ 2) /\
  (forall R, 0 <= R -> 0 <= extremal_mean R < 1 /\ forall s, 0 <= s <= 1 -> compromise R s <= H_star R) /\
  (forall T d e R, (2 <= T)%nat -> sq d e = 1 -> 0 <= R -> exists W u Delta,
    let q := camps e (T - 1)%nat in let alpha := weights T d (camps e) q W in let w := matvec d Delta q in
    length d u Delta = 1 /\ vnorm d (attended T alpha (camps e)) = extremal_mean R /\
    Rabs (bend T d alpha (camps e) (vscal R e) u w u w) = H_star R) /\
  H_star 0 = 1 /\ (forall R R', 0 <= R -> R < R' -> H_star R < H_star R') /\
  (forall R, 0 <= R -> kappa * R <= H_star R) /\
  (forall R, 0 <= R -> H_star R <= / 2 * (kappa * R + sqrt (kappa ^ 2 * R ^ 2 + 4))) /\
  (forall d X q U W u Delta, let w := matvec d Delta q in bend 1 d (weights 1 d X q W) X U u w u w = 0).
Proof.
  intros kappa.
  assert (SUB : forall R R' s, 0 <= R -> R <= R' -> 0 <= s <= 1
    -> compromise R s + (1 - s ^ 2) * (s * (R' - R)) <= compromise R' s).
  { intros R R' s H0 H1 Hs. unfold compromise. assert (0 <= 1 - s ^ 2) by nra.
    assert (sqrt (1 + s ^ 2 * R ^ 2) <= sqrt (1 + s ^ 2 * R' ^ 2)).
    { apply sqrt_le_1_alt. apply Rplus_le_compat_l, Rmult_le_compat_l; [apply pow2_ge_0|apply pow_incr; lra]. }
    nra. }
  repeat apply conj.
  - intros T d X q R U W u Delta HT Hd B Q HU w. assert (HR : 0 <= R) by (eapply Rle_trans; [apply norm_ge0|exact HU]).
    destruct (law_bounds T d (weights T d X q W) X R Hd ltac:(now apply softmax_distribution) B) as (s & S & _ & _ & L).
    eapply Rle_trans; [now apply L|]. assert (LT := length_two d u Delta q Q). fold w in LT.
    set (x := vnorm d u) in *. set (y := vnorm d w) in *.
    assert (K := top_of_two (s * R) x y ltac:(apply Rmult_le_pos; lra)). assert (S2 : 0 <= 1 - s ^ 2) by nra.
    apply Rle_trans with ((1 - s ^ 2) * ((s * R + sqrt (1 + (s * R) ^ 2)) * (x ^ 2 + y ^ 2))).
    + apply Rmult_le_compat_l; [easy|]. lra.
    + rewrite <- Rmult_assoc. replace ((1 - s ^ 2) * (s * R + sqrt (1 + (s * R) ^ 2))) with (compromise R s)
        by (unfold compromise; rewrite Rpow_mult_distr; reflexivity).
      apply Rmult_le_compat; try easy; [|assert (0 <= x ^ 2) by apply pow2_ge_0;
        assert (0 <= y ^ 2) by apply pow2_ge_0; lra|now apply H_star_max].
      unfold compromise. apply Rmult_le_pos; [easy|]. apply Rplus_le_le_0_compat; [apply Rmult_le_pos;
        lra|apply sqrt_pos].
  - intros R HR. split; [now apply extremal_spec|]. intros s Hs. now apply H_star_max.
  - intros T d e R HT U HR. destruct (extremal_spec R HR) as (X & _). unfold H_star. set (s := extremal_mean R) in *.
    destruct (camps_weights T d e s HT U ltac:(lra)) as (W & H). cbv zeta in H. destruct H as (HA & HM & HK).
    assert (Q : sq d (camps e (T - 1)%nat) = 1).
    { change (camps e (T - 1)%nat) with (vscal (if Nat.eqb (T - 1) 0 then 1 else -1) e). rewrite sq_scal, U.
      destruct (Nat.eqb (T - 1) 0); ring. }
    set (b := s * R). assert (B0 : 0 <= b) by (apply Rmult_le_pos; lra). set (v := sqrt (1 + b ^ 2)).
    assert (V2 : v ^ 2 = 1 + b ^ 2) by (apply pow2_sqrt; nra). assert (V0 : 0 < v) by (apply sqrt_lt_R0; nra).
    set (c := b + v). assert (C0 : 0 < c) by (unfold c; lra). assert (CC : c ^ 2 = 2 * b * c + 1) by (unfold c; nra).
    set (n := sqrt (1 + c ^ 2)). assert (N2 : n ^ 2 = 1 + c ^ 2) by (apply pow2_sqrt; nra).
      assert (N0 : 0 < n) by (apply sqrt_lt_R0; nra).
    destruct (outer_direction d e (camps e (T - 1)%nat) (- / n) (c / n) U Q) as (O1 & O2).
    exists W, (vscal (- / n) e), (fun i j => c / n * e i * camps e (T - 1)%nat j). cbv zeta. rewrite O1.
    assert (LEN : (- / n) ^ 2 + (c / n) ^ 2 = 1) by (replace ((- / n) ^ 2 + (c / n) ^ 2) with ((1 + c ^ 2) / n ^ 2) by
      (field; lra); rewrite N2; field; nra).
    repeat apply conj.
    + rewrite LEN in O2. assert (P := length_ge0 d (vscal (- / n) e) (fun i j => c / n * e i * camps e (T - 1)%nat j)).
        nra.
    + assert (EA : sq d (attended T (weights T d (camps e) (camps e (T - 1)%nat) W) (camps e)) = s ^ 2).
      { rewrite sq_dot, HA, dot_sym, HA, <- sq_dot, U. ring. }
      unfold vnorm. rewrite EA. apply sqrt_pow2. lra.
    + unfold bend. rewrite !HM, HK, !dot_scal_l, <- sq_dot, U.
      replace (_ + _ + _) with (- ((1 - s ^ 2) * ((2 * c + 2 * b * c ^ 2) / n ^ 2))) by (unfold b; field; lra).
      rewrite Rabs_Ropp, N2. replace ((2 * c + 2 * b * c ^ 2) / (1 + c ^ 2)) with c.
      * unfold compromise. replace (1 + s ^ 2 * R ^ 2) with (1 + b ^ 2) by (unfold b; ring). fold b v c.
        apply Rabs_pos_eq. apply Rmult_le_pos; [nra|lra].
      * apply (Rmult_eq_reg_r (1 + c ^ 2)); [|nra]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by nra. nra.
  - unfold H_star, compromise, extremal_mean. replace (0 ^ 2 / _) with 0 by (unfold Rdiv; ring). rewrite sqrt_0.
    replace (1 + 0 ^ 2 * 0 ^ 2) with 1 by ring. rewrite sqrt_1. ring.
  - intros R R' H0 H1. destruct (extremal_spec R H0) as (X & EQ). destruct (Req_dec R 0) as [Z|Z].
    + subst R. set (v := R' / (2 + R' ^ 2)). assert (R2 := pow2_ge_0 R').
        assert (VP : v * (2 + R' ^ 2) = R') by (unfold v; field; lra).
      assert (V0 : 0 < v) by (apply Rdiv_lt_0_compat; lra).
      assert (V2 : v ^ 2 <= 1 / 8).
      { apply (Rmult_le_reg_r ((2 + R' ^ 2) ^ 2)); [apply pow_lt; lra|]. rewrite <- Rpow_mult_distr, VP.
        assert (K := pow2_ge_0 (R' ^ 2 - 2)). lra. }
      assert (VR : v <= R' / 2) by (assert (0 <= v * R' ^ 2) by (apply Rmult_le_pos; lra); lra).
      apply Rlt_le_trans with (compromise R' v); [|apply H_star_max; nra].
      unfold H_star, extremal_mean. replace (0 ^ 2 / _) with 0 by (unfold Rdiv; ring). rewrite sqrt_0.
        unfold compromise.
      replace (1 + 0 ^ 2 * 0 ^ 2) with 1 by ring. rewrite sqrt_1.
      assert (1 <= sqrt (1 + v ^ 2 * R' ^ 2)).
      { rewrite <- sqrt_1 at 1. apply sqrt_le_1_alt. assert (0 <= v ^ 2 * R' ^ 2) by (apply Rmult_le_pos;
          apply pow2_ge_0). lra. }
      assert ((1 - v ^ 2) * (v * R' + 1) <= (1 - v ^ 2) * (v * R' + sqrt (1 + v ^ 2 * R' ^ 2))) by (apply
        Rmult_le_compat_l; lra).
      assert (v ^ 2 * R' <= 1 / 8 * R') by (apply Rmult_le_compat_r; lra).
      assert (0 < v * (R' - v - v ^ 2 * R')) by (apply Rmult_lt_0_compat; lra). lra.
    + assert (SP : 0 < extremal_mean R).
      { destruct (Req_dec (extremal_mean R) 0) as [E|E]; [|lra]. rewrite E in EQ. exfalso. apply Z. lra. }
      apply Rlt_le_trans with (compromise R' (extremal_mean R)); [|apply H_star_max; lra]. unfold H_star.
      assert (K := SUB R R' (extremal_mean R) H0 ltac:(lra) ltac:(lra)). set (s := extremal_mean R) in *.
      assert (0 < (1 - s ^ 2) * (s * (R' - R))) by (apply Rmult_lt_0_compat; [nra|apply Rmult_lt_0_compat; lra]). lra.
  - intros R HR. destruct kappa_sqrt3 as (K & Q & P). apply Rle_trans with (compromise R (sqrt 3 / 3));
      [|apply H_star_max; nra].
    unfold compromise, kappa. rewrite K. set (r := sqrt 3) in *. replace ((r / 3) ^ 2) with (r * r / 9) by field.
      rewrite Q.
    assert (r / 3 * R <= sqrt (1 + 3 / 9 * R ^ 2)).
    { rewrite <- (sqrt_pow2 (r / 3 * R)) by (apply Rmult_le_pos; lra). apply sqrt_le_1_alt.
      replace ((r / 3 * R) ^ 2) with (r * r / 9 * R ^ 2) by field. rewrite Q. lra. }
    lra.
  - intros R HR. destruct (extremal_spec R HR) as (X & _). unfold H_star. set (s := extremal_mean R) in *.
      unfold compromise.
    assert (KA := kappa_above s ltac:(lra)). fold kappa in KA. set (b := 2 * s * (1 - s ^ 2)) in *.
      assert (S2 : 0 <= 1 - s ^ 2 <= 1) by nra.
    assert (B0 : 0 <= b) by (unfold b; apply Rmult_le_pos; lra).
    assert (SQ : 2 * (1 - s ^ 2) * sqrt (1 + s ^ 2 * R ^ 2) <= sqrt (kappa ^ 2 * R ^ 2 + 4)).
    { rewrite <- (sqrt_pow2 (2 * (1 - s ^ 2))) by lra. rewrite <- sqrt_mult by (try apply pow2_ge_0;
        assert (0 <= s ^ 2 * R ^ 2) by (apply Rmult_le_pos; apply pow2_ge_0); lra).
      apply sqrt_le_1_alt. replace ((2 * (1 - s ^ 2)) ^ 2 * (1 + s ^ 2 * R ^ 2)) with (4 * (1 - s ^ 2) ^ 2 + b ^ 2 * R
        ^ 2) by (unfold b; ring).
      assert (b ^ 2 <= kappa ^ 2) by (apply pow_incr; lra).
        assert (b ^ 2 * R ^ 2 <= kappa ^ 2 * R ^ 2) by (apply Rmult_le_compat_r; [apply pow2_ge_0|easy]).
      assert ((1 - s ^ 2) ^ 2 <= 1) by nra. lra. }
    assert (b * R <= kappa * R) by (now apply Rmult_le_compat_r). unfold b in *. lra.
  - intros d X q U W u Delta w. assert (D : distribution 1 (weights 1 d X q W)) by (apply softmax_distribution; lia).
    assert (A1 : weights 1 d X q W 0%nat = 1) by (destruct D as [_ D]; cbn in D; lra).
    assert (Y : forall v, dot d v (centred 1 (weights 1 d X q W) X 0%nat) = 0).
    { intros v. assert (Z := E_centred 1 d _ X v D). unfold E in Z. cbn in Z. rewrite A1 in Z. lra. }
    unfold bend. rewrite !spread_E. unfold third, E. cbn. rewrite !Y. ring.
Qed.

(** r_u s + r_w (1 − s²) R, its largest value G₁ over 0 ≤ s ≤ 1 in closed form, and what G₂ is the largest value of *)
Definition G1_form (radius ru rw s : R) : R := ru * s + rw * (1 - s ^ 2) * radius.
Definition G1 (radius ru rw : R) : R :=
  if Rlt_dec ru (2 * rw * radius) then rw * radius + ru ^ 2 / (4 * rw * radius) else ru.
Definition G2_form (s1 s2 : R -> R) (radius ru rw s zeta : R) : R :=
  Rabs (s2 zeta) * G1_form radius ru rw s ^ 2 + 2 * Rabs (s1 zeta) * (1 - s ^ 2) * (ru * rw + rw ^ 2 * s * radius).

(** G bounds that for all 0 ≤ s ≤ 1 and |ζ| ≤ sR; the least such G is G₂ *)
Definition bounds_G2 (s1 s2 : R -> R) (radius ru rw G : R) : Prop :=
  forall s zeta, 0 <= s <= 1 -> Rabs zeta <= s * radius -> G2_form s1 s2 radius ru rw s zeta <= G.

Lemma G1_max radius ru rw : 0 <= radius -> 0 <= ru -> 0 <= rw ->
  (forall s, 0 <= s <= 1 -> G1_form radius ru rw s <= G1 radius ru rw) /\
  (exists s, 0 <= s <= 1 /\ G1_form radius ru rw s = G1 radius ru rw /\ (ru < 2 * rw * radius -> s < 1) /\
    (2 * rw * radius <= ru -> s = 1)).
Proof.
  intros HR Hu Hw. unfold G1, G1_form. destruct (Rlt_dec ru (2 * rw * radius)) as [L|L].
  - set (p := rw * radius). assert (P : 0 < p) by (unfold p; lra). replace (4 * rw * radius) with (4 * p) by (unfold p;
      ring). split.
    + intros s Hs. replace (rw * (1 - s ^ 2) * radius) with (p * (1 - s ^ 2)) by (unfold p; ring).
      apply (Rmult_le_reg_r (4 * p)); [lra|]. replace ((p + ru ^ 2 / (4 * p)) * (4 * p)) with (4 * p ^ 2 + ru ^ 2) by
        (field; lra).
      assert (K := pow2_ge_0 (ru - 2 * p * s)). lra.
    + exists (ru / (2 * p)). assert (Q : ru / (2 * p) * (2 * p) = ru) by (field; lra).
      assert (0 <= ru / (2 * p)) by (apply Rmult_le_pos; [easy|left; apply Rinv_0_lt_compat; lra]).
      assert (ru / (2 * p) < 1) by (apply (Rmult_lt_reg_r (2 * p)); [lra|]; rewrite Q; unfold p; lra).
      repeat split; try lra. replace (rw * (1 - (ru / (2 * p)) ^ 2) * radius) with (p * (1 - (ru / (2 * p)) ^ 2)) by
        (unfold p; ring). field. lra.
  - split.
    + intros s Hs. assert (0 <= (1 - s) * (ru - rw * radius * (1 + s))); [|lra].
      assert (0 <= rw * radius) by now apply Rmult_le_pos. apply Rmult_le_pos; nra.
    + exists 1. repeat split; lra.
Qed.

(** A direction of blocks at most r_u and r_w long. *)
Lemma block_bounds s1 s2 T d alpha X U u Delta q R ru rw : (0 < d)%nat -> distribution T alpha -> in_ball T d X
  -> sq d q <= 1 ->
  vnorm d U <= R -> vnorm d u <= ru -> sqrt (frob2 d d Delta) <= rw -> let w := matvec d Delta q in
  let z := dot d U (attended T alpha X) in
  Rabs (slope T d alpha X U u w) <= G1 R ru rw /\
  (forall G, bounds_G2 s1 s2 R ru rw G -> Rabs (s2 z * slope T d alpha X U u w ^ 2 + s1 z * bend T d alpha X U u w u w)
    <= G).
Proof.
  intros Hd D B Q HU Hu Hw w z. assert (HR : 0 <= R) by (eapply Rle_trans; [apply norm_ge0|exact HU]).
  assert (Hu0 : 0 <= ru) by (eapply Rle_trans; [apply norm_ge0|exact Hu]). assert (Hw0 : 0 <= rw) by (eapply Rle_trans;
    [apply sqrt_pos|exact Hw]).
  destruct (law_bounds T d alpha X R Hd D B) as (s & S & LZ & L1 & L2).
  assert (W : vnorm d w <= rw) by (eapply Rle_trans; [apply sqrt_le_1_alt, frob_product, Q|exact Hw]).
  assert (N := norm_ge0 d w). assert (N' := norm_ge0 d u). assert (S2 : 0 <= 1 - s ^ 2) by nra.
  specialize (L1 U u w HU). specialize (L2 U u w u w HU). specialize (LZ U HU).
  assert (F : Rabs (slope T d alpha X U u w) <= G1_form R ru rw s).
  { eapply Rle_trans; [exact L1|]. unfold G1_form. apply Rplus_le_compat; [apply Rmult_le_compat_r; lra|].
    apply Rmult_le_compat_r; [easy|]. now apply Rmult_le_compat_r. }
  assert (H : Rabs (bend T d alpha X U u w u w) <= 2 * (1 - s ^ 2) * (ru * rw + rw ^ 2 * s * R)).
  { eapply Rle_trans; [exact L2|]. replace (2 * (1 - s ^ 2) * (ru * rw + rw ^ 2 * s * R)) with
      ((1 - s ^ 2) * (ru * rw + ru * rw + 2 * s * R * (rw * rw))) by ring. apply Rmult_le_compat_l; [easy|].
    assert (vnorm d u * vnorm d w <= ru * rw) by now apply Rmult_le_compat.
    assert (vnorm d w * vnorm d w <= rw * rw) by now apply Rmult_le_compat.
    assert (0 <= 2 * s * R) by (apply Rmult_le_pos; lra).
    assert (2 * s * R * (vnorm d w * vnorm d w) <= 2 * s * R * (rw * rw)) by now apply Rmult_le_compat_l. lra. }
  split; [eapply Rle_trans; [exact F|]; now apply G1_max|]. intros G HG. eapply Rle_trans; [|exact (HG s z S LZ)].
    unfold G2_form.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, <- RPow_abs. apply Rplus_le_compat.
  - apply Rmult_le_compat_l; [apply Rabs_pos|]. apply pow_incr. split; [apply Rabs_pos|exact F].
  - replace (2 * Rabs (s1 z) * (1 - s ^ 2) * (ru * rw + rw ^ 2 * s * R)) with (Rabs (s1 z) * (2 * (1 - s ^ 2) * (ru *
      rw + rw ^ 2 * s * R))) by ring.
    apply Rmult_le_compat_l; [apply Rabs_pos|exact H].
Qed.

(** kr-lemma-2-sharp
    Covers: a part: the bounds G₁ and G₂, G₁ in closed form and attained, monotony in R, and L₂♯ ≤ σ₂ max(1,
      R²) + σ₁H⋆(R); on the page: that h is L₂♯-smooth.
    Reads: let ‖U‖ ≤ R, ‖q‖ ≤ 1, tokens of the unit ball and a direction with ‖δ_U‖ ≤ r_u, ‖δ_W‖_F ≤ r_w.
    ⟨∇z, δ⟩ is at most G₁(R; r_u, r_w) in size, and ∇²h[δ, δ] = σ″(z)⟨∇z, δ⟩² + σ′(z)∇²z[δ, δ]
      at most every upper bound G of |σ″(ζ)|(r_u s + r_w(1 − s²)R)² + 2|σ′(ζ)|(1 − s²)(r_u r_w + r_w² sR) over 0 ≤ s ≤
        1, |ζ| ≤ sR, hence G₂; |⟨∇h, δ⟩| ≤ σ₁G₁. G₁ = r_w R + r_u²/(4 r_w R) if r_u < 2 r_w R, else r_u,
          is the largest value of r_u s + r_w(1 − s²)R over 0 ≤ s ≤ 1,
            and for every T ≥ 2 and unit e it is attained by some tokens in the ball, a unit query, some W,
              U = Re and such a δ. If R ≤ R′, then G₁ at R is at most G₁ at R′, and an upper bound at R′ is one at R.
              For r_u² + r_w² = 1, σ₂ max(1, R²) + σ₁H⋆(R) is such an upper bound.
    Mistake: `<= / 2 * G1 R ru rw /\` for `<= G1 R ru rw /\`
    Mistake: `(sigma2 * R ^ 2 +` for `(sigma2 * Rmax 1 (R ^ 2) +`
*)
Theorem kr_lemma_2_sharp : forall sigma s1 s2 sigma1 sigma2, activation sigma s1 s2 sigma1 sigma2 ->
  (forall T d X q R ru rw U W u Delta, (0 < T)%nat -> (0 < d)%nat -> in_ball T d X -> sq d q <= 1 ->
    vnorm d U <= R -> vnorm d u <= ru -> sqrt (frob2 d d Delta) <= rw ->
    let w := matvec d Delta q in let alpha := weights T d X q W in let z := preactivation T d X q U W in
    Rabs (slope T d alpha X U u w) <= G1 R ru rw /\ Rabs (s1 z * slope T d alpha X U u w) <= sigma1 * G1 R ru rw /\
    forall G, bounds_G2 s1 s2 R ru rw G -> Rabs (s2 z * slope T d alpha X U u w ^ 2 + s1 z * bend T d alpha X U u w u
      w) <= G) /\
  (forall R ru rw, 0 <= R -> 0 <= ru -> 0 <= rw ->
    (forall s, 0 <= s <= 1 -> G1_form R ru rw s <= G1 R ru rw) /\
    (exists s, 0 <= s <= 1 /\ G1_form R ru rw s = G1 R ru rw) /\
    (forall T d e, (2 <= T)%nat -> (0 < d)%nat -> sq d e = 1 -> exists X q W u Delta, in_ball T d X /\ sq d q = 1 /\
      vnorm d u <= ru /\ sqrt (frob2 d d Delta) <= rw /\
      slope T d (weights T d X q W) X (vscal R e) u (matvec d Delta q) = G1 R ru rw) /\
    (forall R', R <= R' -> G1 R ru rw <= G1 R' ru rw /\
      forall G, bounds_G2 s1 s2 R' ru rw G -> bounds_G2 s1 s2 R ru rw G) /\
    (ru ^ 2 + rw ^ 2 = 1 -> bounds_G2 s1 s2 R ru rw (sigma2 * Rmax 1 (R ^ 2) + sigma1 * H_star R))).
Proof.
  intros sigma s1 s2 sigma1 sigma2 (D1 & D2 & B1 & B2).
  assert (S1 : 0 <= sigma1) by (eapply Rle_trans; [apply Rabs_pos|apply (B1 0)]).
  split; [|intros R ru rw HR Hu Hw; destruct (G1_max R ru rw HR Hu Hw) as (MX & s & Hs & Es & L1 & L2);
    repeat apply conj].
  - intros T d X q R ru rw U W u Delta HT Hd B Q HU Hu Hw w alpha z.
    destruct (block_bounds s1 s2 T d alpha X U u Delta q R ru rw Hd ltac:(now apply softmax_distribution) B Q HU Hu Hw)
      as (K1 & K2).
    fold w in K1, K2. repeat apply conj; auto. rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; auto.
  - exact MX.
  - now exists s.
  - intros T d e HT Hd U. rewrite <- Es. destruct (Rlt_dec ru (2 * rw * R)) as [L|L].
    + specialize (L1 L). destruct (camps_weights T d e s HT U ltac:(lra)) as (W & H). cbv zeta in H.
        destruct H as (HA & HM & _).
      set (q := camps e (T - 1)%nat) in *. assert (Q : sq d q = 1).
      { unfold q. change (camps e (T - 1)%nat) with (vscal (if Nat.eqb (T - 1) 0 then 1 else -1) e). rewrite sq_scal, U.
        destruct (Nat.eqb (T - 1) 0); ring. }
      destruct (outer_direction d e q ru rw U Q) as (O1 & _). destruct (outer_direction d e q 0 rw U Q) as (_ & O2).
      exists (camps e), q, W, (vscal ru e), (fun i j => rw * e i * q j). rewrite O1. repeat apply conj.
      * now apply camps_ball.
      * exact Q.
      * right. rewrite norm_scal. unfold vnorm. rewrite U, sqrt_1, Rmult_1_r. now apply Rabs_pos_eq.
      * rewrite length_sq, sq_scal in O2. replace (frob2 d d (fun i j => rw * e i * q j)) with (rw ^ 2) by lra.
          rewrite sqrt_pow2; lra.
      * unfold slope. rewrite HA, HM, !dot_scal_l, <- sq_dot, U. unfold G1_form. ring.
    + assert (s = 1) by (apply L2; lra). subst s. exists (fun _ => e), e, (fun _ _ => 0), (vscal ru e), (fun _ _ => 0).
      set (al := weights _ _ _ _ _). assert (D : distribution T al) by (apply softmax_distribution; lia).
      assert (AT : forall u, dot d u (attended T al (fun _ => e)) = dot d u e) by (intros; rewrite <- E_dot;
        now apply E_const).
      repeat apply conj.
      * intros t _. now right.
      * exact U.
      * right. rewrite norm_scal. unfold vnorm. rewrite U, sqrt_1, Rmult_1_r. now apply Rabs_pos_eq.
      * unfold frob2. rewrite (Sum_ext d _ (fun _ => 0)) by (intros; rewrite (Sum_ext d _ (fun _ => 0)) by (intros;
          ring); apply Sum_zero).
        now rewrite Sum_zero, sqrt_0.
      * unfold slope. rewrite AT, dot_scal_l, <- sq_dot, U, spread_E.
        rewrite (E_ext _ _ _ (fun _ => 0)), E_const by (try easy; intros; rewrite !dot_centred, !AT; ring).
          unfold G1_form. ring.
  - intros R' HR'. split.
    + rewrite <- Es. eapply Rle_trans; [|apply (proj1 (G1_max R' ru rw ltac:(lra) Hu Hw) s Hs)]. unfold G1_form.
      apply Rplus_le_compat_l, Rmult_le_compat_l; [apply Rmult_le_pos; nra|easy].
    + intros G H v zeta Hv Hz. eapply Rle_trans; [|apply (H v zeta Hv); eapply Rle_trans;
        [exact Hz|apply Rmult_le_compat_l; lra]].
      unfold G2_form, G1_form. assert (0 <= 1 - v ^ 2) by nra. apply Rplus_le_compat.
      * apply Rmult_le_compat_l; [apply Rabs_pos|]. apply pow_incr. split.
        -- apply Rplus_le_le_0_compat; repeat apply Rmult_le_pos; lra.
        -- apply Rplus_le_compat_l, Rmult_le_compat_l; [apply Rmult_le_pos; lra|easy].
      * apply Rmult_le_compat_l; [repeat apply Rmult_le_pos; try lra; apply Rabs_pos|].
        apply Rplus_le_compat_l, Rmult_le_compat_l; [apply Rmult_le_pos; [apply pow2_ge_0|lra]|easy].
  - intros RR v zeta Hv Hz. unfold G2_form. apply Rplus_le_compat.
    + apply Rmult_le_compat; [apply Rabs_pos|apply pow2_ge_0|apply B2|].
      assert (K := larger_of_two v R ru rw 1 Hv HR Hu Hw ltac:(lra) ltac:(lra)). rewrite Rmult_1_r in K.
      apply Rle_trans with (Rmax 1 R ^ 2).
      * apply pow_incr. split; [|exact K]. unfold G1_form. assert (0 <= 1 - v ^ 2) by nra. apply Rplus_le_le_0_compat;
          repeat apply Rmult_le_pos; lra.
      * unfold Rmax. destruct (Rle_dec 1 R), (Rle_dec 1 (R ^ 2)); nra.
    + rewrite (Rmult_comm 2), !Rmult_assoc. apply Rmult_le_compat; [apply Rabs_pos| |apply B1|].
      * assert (0 <= 1 - v ^ 2) by nra. assert (0 <= rw ^ 2) by apply pow2_ge_0. apply Rmult_le_pos; [lra|].
        apply Rmult_le_pos; [easy|]. apply Rplus_le_le_0_compat; [now apply Rmult_le_pos|]. apply Rmult_le_pos; [easy|].
        apply Rmult_le_pos; lra.
      * eapply Rle_trans; [|apply (H_star_max R v HR Hv)]. unfold compromise.
        assert (K := top_of_two (v * R) ru rw ltac:(apply Rmult_le_pos; lra)).
          rewrite RR, Rmult_1_r, Rpow_mult_distr in K.
        assert (0 <= 1 - v ^ 2) by nra. assert (K' := Rmult_le_compat_l _ _ _ H K). lra.
Qed.

Lemma quintic D : 1 <= D <= 178 / 100 -> D ^ 5 <= 8 / 3 * (5 * D - 2).
Proof.
  intros H. assert (D2 : D ^ 2 <= 278 / 100 * D - 178 / 100) by nra. assert (P : 0 <= D ^ 2) by apply pow2_ge_0.
  assert (D3 : D ^ 3 <= 278 / 100 * D ^ 2 - 178 / 100 * D) by nra.
  assert (D4 : D ^ 4 <= 278 / 100 * D ^ 3 - 178 / 100 * D ^ 2) by nra.
  assert (P3 : 0 <= D ^ 3) by (apply pow_le; lra).
  assert (D5 : D ^ 5 <= 278 / 100 * D ^ 4 - 178 / 100 * D ^ 3).
  { replace (D ^ 5) with (D ^ 3 * D ^ 2) by ring.
    replace (278 / 100 * D ^ 4 - 178 / 100 * D ^ 3) with (D ^ 3 * (278 / 100 * D - 178 / 100)) by field.
    now apply Rmult_le_compat_l. }
  lra.
Qed.

Lemma fourth_real D y : 1 <= D <= 2 -> 0 <= y <= 2 - D -> D * y * (D ^ 2 - y * (5 * D - 2)) <= 2 / 3.
Proof.
  intros HD Hy. destruct (Rle_dec D (178 / 100)) as [L|L].
  - assert (Q := quintic D ltac:(lra)). assert (K := pow2_ge_0 (2 * (5 * D - 2) * y - D ^ 2)).
    apply (Rmult_le_reg_l (4 * (5 * D - 2))); [lra|].
    assert (0 <= D * (2 * (5 * D - 2) * y - D ^ 2) ^ 2) by (apply Rmult_le_pos; lra).
    replace (4 * (5 * D - 2) * (D * y * (D ^ 2 - y * (5 * D - 2)))) with (D ^ 5 - D * (2 * (5 * D - 2) * y - D ^ 2) ^
      2) by ring. lra.
  - set (p := D * (2 - D)). apply Rle_trans with (p * (4 - 6 * p)).
    + assert (Z : 0 <= (2 - D - y) * (D ^ 2 - (2 - D + y) * (5 * D - 2))).
      { apply Rmult_le_pos; [lra|]. assert ((2 - D + y) * (5 * D - 2) <= (2 * (2 - D)) * (5 * D - 2))
        by (apply Rmult_le_compat_r; lra). nra. }
      assert (Z' : 0 <= D * ((2 - D - y) * (D ^ 2 - (2 - D + y) * (5 * D - 2)))) by (apply Rmult_le_pos; lra).
      unfold p. lra.
    + assert (K := pow2_ge_0 (p - 1 / 3)). lra.
Qed.

(** E ⟨e, Y⟩⁴ − 3 (E ⟨e, Y⟩²)², the fourth cumulant κ₄(e, e, e, e) *)
Definition fourth (T d : nat) (alpha : vector) (X : matrix) (e : vector) : R :=
  E T alpha (fun t => dot d e (centred T alpha X t) ^ 4) - 3 * E T alpha (fun t => dot d e (centred T alpha X t) ^ 2) ^
    2.

Lemma fourth_upper T d alpha X e : distribution T alpha -> in_ball T d X -> sq d e = 1 ->
  0 <= dot d e (attended T alpha X) -> fourth T d alpha X e <= 2 / 3.
Proof.
  intros D B U M. destruct (along_unit T d alpha X e D B U) as (A & X1 & _).
  set (mu := dot d e (attended T alpha X)) in *.
  set (Y := fun t => dot d e (centred T alpha X t)). assert (YX : forall t, Y t = dot d e (X t) - mu) by (intros;
    apply dot_centred).
  set (v := E T alpha (fun t => Y t ^ 2)). assert (V0 : 0 <= v) by (apply E_ge0; [easy|intros; apply pow2_ge_0]).
  assert (EY : E T alpha Y = 0) by now apply E_centred.
  assert (YB : forall t, (t < T)%nat -> Y t ^ 2 <= 1 - mu ^ 2 - 2 * mu * Y t).
  { intros t Ht. rewrite YX. specialize (X1 t Ht). apply Rabs_le_between in X1. nra. }
  assert (V1 : v <= 1 - mu ^ 2).
  { apply Rle_trans with (E T alpha (fun t => (1 - mu ^ 2) + -2 * mu * Y t)).
    - apply E_le; [easy|]. intros t Ht. specialize (YB t Ht). lra.
    - rewrite E_plus, E_const, E_scal, EY by easy. lra. }
  assert (MU : mu <= 1) by nra.
  assert (F : E T alpha (fun t => Y t ^ 4) <= (1 - mu ^ 2) * v + 2 * mu * E T alpha (fun t => (-1 * Y t) ^ 3)).
  { unfold v. rewrite <- !E_scal, <- E_plus. apply E_le; [easy|]. intros t Ht. specialize (YB t Ht).
    assert (P := pow2_ge_0 (Y t)).
    assert (K := Rmult_le_compat_l _ _ _ P YB). lra. }
  assert (G := dagger T alpha (fun t => -1 * Y t) (1 + mu) D ltac:(lra) ltac:(rewrite E_scal, EY; ring)
    ltac:(intros t Ht; cbv beta; rewrite YX; specialize (X1 t Ht); apply Rabs_le_between in X1; lra)).
  cbv beta in G. rewrite (E_ext _ _ (fun t => (-1 * Y t) ^ 2) (fun t => Y t ^ 2)) in G by (intros; ring). fold v in G.
  assert (H : E T alpha (fun t => Y t ^ 4) <= (1 - mu ^ 2) * v + 2 * mu * (v * (1 + mu - v / (1 + mu)))).
  { eapply Rle_trans; [exact F|]. apply Rplus_le_compat_l, Rmult_le_compat_l; [lra|exact G]. }
  unfold fourth. fold Y. change (E T alpha (fun t => dot d e (centred T alpha X t) ^ 4)) with (E T alpha (fun t => Y t
    ^ 4)).
  change (E T alpha (fun t => dot d e (centred T alpha X t) ^ 2)) with v.
  set (y := v / (1 + mu)). assert (VY : v = (1 + mu) * y) by (unfold y; field; lra).
  assert (Y0 : 0 <= y) by (apply Rmult_le_pos; [easy|left; apply Rinv_0_lt_compat; lra]).
  assert (Y1 : y <= 1 - mu) by (apply (Rmult_le_reg_l (1 + mu)); lra).
  assert (Q := fourth_real (1 + mu) y ltac:(lra) ltac:(lra)). fold y in H. rewrite VY in H |- *. lra.
Qed.

(** kr-lemma-2-third
    Covers: a part: the fourth cumulant on the diagonal, with its attained ends;
      on the page: its bound 2 off the diagonal and the third derivative of a head.
    Reads: for tokens of the unit ball and a unit vector e, −2 ≤ κ₄(e, e, e, e) = E⟨e, Y⟩⁴ − 3(E⟨e, Y⟩²)² ≤ ⅔;
      tokens ±e with masses (1 ± s)/2 have the value −2 at s = 0 and ⅔ at s² = ⅔.
    Mistake: `<= 6 / 10` for `<= 2 / 3`
    Mistake: `-19 / 10 <=` for `-2 <=`
*)
Theorem kr_lemma_2_third :
  (forall T d alpha X e, distribution T alpha -> in_ball T d X -> sq d e = 1 -> -2 <= fourth T d alpha X e <= 2 / 3) /\
  (forall d e s, sq d e = 1 -> 0 <= s <= 1 -> let value := fourth 2 d (masses ((1 + s) / 2)) (two_tokens 1 (-1) e) e in
    (s = 0 -> value = -2) /\ (s ^ 2 = 2 / 3 -> value = 4 / 6)).
Proof.
  split.
  - intros T d alpha X e D B U. split.
    + unfold fourth. set (Y := fun t => dot d e (centred T alpha X t)). set (v := E T alpha (fun t => Y t ^ 2)).
      assert (V1 := energy_one T d alpha X e D B U). fold v in V1. assert (A := sq_ge0 d (attended T alpha X)).
      assert (V0 : 0 <= v) by (apply E_ge0; [easy|intros; apply pow2_ge_0]).
      assert (K := variance T alpha (fun t => Y t ^ 2) D). cbv beta in K.
      assert (K0 : 0 <= E T alpha (fun t => (Y t ^ 2 - E T alpha (fun t => Y t ^ 2)) ^ 2)) by (apply E_ge0;
        [easy|intros; apply pow2_ge_0]).
      rewrite K in K0. fold v in K0. rewrite (E_ext _ _ _ (fun t => Y t ^ 4)) in K0 by (intros; ring).
      change (E T alpha (fun t => dot d e (centred T alpha X t) ^ 2)) with v in V1.
      change (-2 <= E T alpha (fun t => Y t ^ 4) - 3 * v ^ 2). nra.
    + destruct (Rle_dec 0 (dot d e (attended T alpha X))) as [L|L]; [now apply fourth_upper|].
      assert (K := fourth_upper T d alpha X (vscal (-1) e) D B ltac:(rewrite sq_scal, U;
        ring) ltac:(rewrite dot_scal_l; lra)).
      unfold fourth in *. rewrite (E_ext _ _ (fun t => dot d (vscal (-1) e) _ ^ 4) (fun t => dot d e (centred T alpha X
        t) ^ 4)),
        (E_ext _ _ (fun t => dot d (vscal (-1) e) (centred T alpha X t) ^ 2) (fun t => dot d e (centred T alpha X t) ^
          2)) in K
        by (intros; rewrite dot_scal_l; ring). exact K.
  - intros d e s U Hs value.
    assert (EE : forall f, E 2 (masses ((1 + s) / 2)) f = (1 + s) / 2 * f 0%nat + (1 - (1 + s) / 2) * f 1%nat)
      by (intros; unfold E, masses; cbn; ring).
    assert (Y : forall t, dot d e (centred 2 (masses ((1 + s) / 2)) (two_tokens 1 (-1) e) t) = (if Nat.eqb t 0 then 1
      else -1) - s).
    { intros t. rewrite dot_centred, <- E_dot, EE.
      assert (X : forall t, dot d e (two_tokens 1 (-1) e t) = if Nat.eqb t 0 then 1 else -1).
      { intros r. change (two_tokens 1 (-1) e r) with (vscal (if Nat.eqb r 0 then 1 else -1) e).
        rewrite dot_scal_r, <- sq_dot, U. ring. }
      rewrite !X. cbn [Nat.eqb]. field. }
    assert (V : value = (1 - s ^ 2) * (6 * s ^ 2 - 2)) by (unfold value, fourth; rewrite !EE, !Y; cbn [Nat.eqb]; field).
    split; intros H; rewrite V, ?H; [ring|field].
Qed.
