(** Chapter "How well m heads approximate": the slips of the printed proof of Lemma 5, as exact numbers. *)
Require Import Reals Lra Lia ZArith List.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention.
Open Scope R_scope.

(** ‖Z‖_ψ₂ ≤ t for a variable Z on T points with weights α: E exp(Z²/t²) ≤ 2 *)
Definition psi2_le (T : nat) (alpha Z : vector) (t : R) : Prop := 0 < t /\ E T alpha (fun k => exp (Z k ^ 2 / t ^ 2))
  <= 2.

(** Rows of Pascal's triangle: the weights of the number of +1 among n fair signs are C(n, k)/2ⁿ *)
Definition next_row (r : list Z) : list Z := map (fun p => fst p + snd p)%Z (combine (0 :: r)%Z (r ++ (0 :: nil))%Z).
Fixpoint row (n : nat) : list Z := match n with O => (1 :: nil)%Z | S m => next_row (row m) end.
Definition binomial (n k : nat) : R := IZR (nth k (row n) 0%Z) / 2 ^ n.

Lemma ln2_pos : 0 < ln 2.
Proof. rewrite <- ln_1. apply ln_increasing; lra. Qed.

Lemma exp_ln2 n : exp (INR n * ln 2) = 2 ^ n.
Proof.
  induction n; [cbn; rewrite Rmult_0_l; apply exp_0|]. rewrite S_INR, Rmult_plus_distr_r, exp_plus, IHn, Rmult_1_l,
    exp_ln by lra.
  simpl. ring.
Qed.

Lemma exp_half : exp (ln 2 / 2) ^ 2 = 2.
Proof. simpl. rewrite Rmult_1_r, <- exp_plus. replace (ln 2 / 2 + ln 2 / 2) with (ln 2) by field. apply exp_ln. lra.
  Qed.

Lemma exp_ge1 x : 0 <= x -> 1 <= exp x.
Proof. intros H. rewrite <- exp_0. destruct H as [H|<-]; [left; now apply exp_increasing|lra]. Qed.

Lemma binomial_ge0 k : 0 <= binomial 40 k.
Proof.
  unfold binomial. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, pow_lt; lra]. apply IZR_le.
  assert (A : forallb (fun z => 0 <=? z)%Z (row 40) = true) by (vm_compute; reflexivity).
  rewrite forallb_forall in A. destruct (nth_in_or_default k (row 40) 0%Z) as [I|E]; [|rewrite E; lia].
  apply A in I. now apply Z.leb_le.
Qed.

Lemma Sum_nth n (l : list Z) c :
  Sum n (fun k => IZR (nth k l 0%Z) / c) = IZR (fold_right Z.add 0%Z (map (fun k => nth k l 0%Z) (seq 0 n))) / c.
Proof.
  assert (A : forall (m : list Z) y, fold_right Z.add y m = (fold_right Z.add 0 m + y)%Z).
  { intros m y. induction m; cbn; [easy|]. rewrite IHm. ring. }
  induction n; [change (0 = 0 * / c); now rewrite Rmult_0_l|]. rewrite seq_S, map_app, fold_right_app. cbn [Sum].
  rewrite A, IHn.
  replace (fold_right Z.add 0%Z (map (fun k => nth k l 0%Z) ((0 + n)%nat :: nil))) with (nth n l 0%Z)
    by (simpl; now rewrite Z.add_0_r).
  rewrite plus_IZR. unfold Rdiv. now rewrite Rmult_plus_distr_r.
Qed.

Lemma Sum_pair n f i : (S i < n)%nat -> (forall k, 0 <= f k) -> f i + f (S i) <= Sum n f.
Proof.
  intros H P. replace n with (i + (2 + (n - i - 2)))%nat by lia. rewrite !Sum_split. cbn [Sum].
  replace (i + 0)%nat with i by lia. replace (i + 1)%nat with (S i) by lia.
  assert (A : 0 <= Sum i f) by (apply Sum_ge0; intros; apply P).
  assert (B : 0 <= Sum (n - i - 2) (fun k => f (i + (2 + k))%nat)) by (apply Sum_ge0; intros; apply P). lra.
Qed.

(** kr-lemma-5-orlicz
    Covers: a part: 1 for variables with finitely many values (without the digits 1.2011); the last inequality of 2; 3, by other numbers than the page's; 4, at one t and one number of signs; on the page: the ψ₂ norms of Gaussian variables in 2, and 4 for every t below √log 2 and all large N.
    Reads: (1) |Z| ≤ B, B > 0, gives E exp(Z²/t²) ≤ 2 at t = B/√log 2; for |Z| = B this holds for t > 0 only if t ≥ B/√log 2, so not at t = B. (2) 2/(1 − 2^(−2/d)) ≥ d/log 2. (3) With Z = 2√log 2 of probability 1/20 and −½√log 2 of probability 19/20, ‖Z‖_ψ₂ ≤ 1 and not ‖Z − EZ‖_ψ₂ ≤ 1. (4) Z = ±√log 2 has ‖Z‖_ψ₂ ≤ 1; the mean of 40 fair such signs is z_k = √log 2 (2k − 40)/40, for the 41 numbers k = 0, …, 40, with probability C(40, k)/2⁴⁰, and the probability of |z_k| ≥ t = ½√log 2 is more than 2 exp(−40t²).
    Mistake: `psi2_le T alpha Z B)` for `psi2_le T alpha Z (B / sqrt (ln 2)))`
    Mistake: `psi2_le 2 p (fun k => Z k - mu) 1` for `~ psi2_le 2 p (fun k => Z k - mu) 1`
    Mistake: `3 * exp (- (40 * t ^ 2)) < E 41` for `2 * exp (- (40 * t ^ 2)) < E 41`
*)
Theorem kr_lemma_5_orlicz :
  (forall T alpha Z B, distribution T alpha -> 0 < B ->
    ((forall k, (k < T)%nat -> Rabs (Z k) <= B) -> psi2_le T alpha Z (B / sqrt (ln 2))) /\
    ((forall k, (k < T)%nat -> Rabs (Z k) = B) -> forall t, psi2_le T alpha Z t -> B / sqrt (ln 2) <= t /\ B < t)) /\
  (forall d, (0 < d)%nat -> INR d / ln 2 <= 2 / (1 - Rpower 2 (- (2 / INR d)))) /\
  (let p := fun k => match k with O => / 20 | _ => 19 / 20 end in
   let Z := fun k => match k with O => 2 * sqrt (ln 2) | _ => - (/ 2 * sqrt (ln 2)) end in
   let mu := E 2 p Z in
   distribution 2 p /\ psi2_le 2 p Z 1 /\ ~ psi2_le 2 p (fun k => Z k - mu) 1) /\
  (let fair := fun _ : nat => / 2 in
   let sign := fun k => match k with O => sqrt (ln 2) | _ => - sqrt (ln 2) end in
   let z := fun k => sqrt (ln 2) * ((2 * INR k - 40) / 40) in
   let t := / 2 * sqrt (ln 2) in
   psi2_le 2 fair sign 1 /\ distribution 41 (binomial 40) /\
   2 * exp (- (40 * t ^ 2)) < E 41 (binomial 40) (fun k => if Rle_dec t (Rabs (z k)) then 1 else 0)).
Proof.
  assert (L := ln2_pos). assert (Sq := sqrt_lt_R0 _ L). assert (S2 : sqrt (ln 2) ^ 2 = ln 2) by (apply pow2_sqrt; lra).
  split; [|split; [|split]].
  - intros T alpha Z B P HB. split.
    + intros H. split; [now apply Rdiv_lt_0_compat|].
      eapply Rle_trans; [apply (E_le T alpha _ (fun _ => 2) P)|rewrite E_const by easy; lra]. intros k Hk.
      apply Rle_trans with (exp (ln 2)); [|rewrite exp_ln; lra]. assert (A : Z k ^ 2 / (B / sqrt (ln 2)) ^ 2 <= ln 2).
      { replace (Z k ^ 2 / (B / sqrt (ln 2)) ^ 2) with (Z k ^ 2 / B ^ 2 * sqrt (ln 2) ^ 2) by (field; lra). rewrite S2.
        rewrite <- (Rmult_1_l (ln 2)) at 2. apply Rmult_le_compat_r; [lra|].
        apply Rmult_le_reg_r with (B ^ 2); [now apply pow_lt|]. unfold Rdiv.
          rewrite Rmult_assoc, Rinv_l, Rmult_1_l, Rmult_1_r by (apply pow_nonzero; lra).
        rewrite <- pow2_abs. apply pow_incr. split; [apply Rabs_pos|now apply H]. }
      destruct A as [A| ->]; [left; now apply exp_increasing|lra].
    + intros H t [Ht Q]. rewrite (E_ext T alpha _ (fun _ => exp (B ^ 2 / t ^ 2))), E_const in Q.
      2: easy. 2: { intros k Hk. now rewrite <- pow2_abs, (H k Hk). }
      assert (A : B ^ 2 / t ^ 2 <= ln 2).
      { apply Rnot_lt_le; intros N. apply exp_increasing in N. rewrite exp_ln in N by lra. lra. }
      assert (A2 : B ^ 2 <= ln 2 * t ^ 2).
      { apply Rmult_le_compat_r with (r := t ^ 2) in A; [|apply pow2_ge_0]. unfold Rdiv in A.
        rewrite Rmult_assoc, Rinv_l, Rmult_1_r in A by (apply pow_nonzero; lra). easy. }
      assert (A3 : B <= sqrt (ln 2) * t).
      { apply Rsqr_incr_0_var; [|apply Rmult_le_pos; lra]. rewrite !Rsqr_pow2, Rpow_mult_distr, S2. easy. }
      assert (L1 : ln 2 < 1).
      { rewrite <- (ln_exp 1). apply ln_increasing; [lra|]. assert (Q1 := exp_ineq1 1 ltac:(lra)). lra. }
      split; [|nra]. apply Rmult_le_reg_r with (sqrt (ln 2)); [easy|]. unfold Rdiv.
        rewrite Rmult_assoc, Rinv_l by lra. lra.
  - intros d Hd. assert (P : 0 < INR d) by now apply lt_0_INR. set (x := 2 / INR d * ln 2).
    assert (X : 0 < x) by (unfold x; apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra|easy]).
    unfold Rpower. replace (- (2 / INR d) * ln 2) with (- x) by (unfold x; ring).
    assert (A := exp_ineq1 (- x) ltac:(lra)). assert (B : exp (- x) < 1) by (rewrite <- exp_0; apply exp_increasing;
      lra).
    replace (INR d / ln 2) with (2 * / x) by (unfold x; field; lra). unfold Rdiv. apply Rmult_le_compat_l; [lra|].
    apply Rinv_le_contravar; lra.
  - intros p Z mu. assert (P : distribution 2 p).
    { split; [intros [|k] _; cbn; lra|]. cbn. lra. }
    split; [easy|]. assert (Q4 : exp (ln 2 / 4) < 6 / 5).
    { apply Rnot_le_lt; intros N. assert (exp (ln 2 / 4) ^ 4 = 2).
      { replace (exp (ln 2 / 4) ^ 4) with ((exp (ln 2 / 4) * exp (ln 2 / 4)) ^ 2) by ring. rewrite <- exp_plus.
        replace (ln 2 / 4 + ln 2 / 4) with (ln 2 / 2) by field. apply exp_half. }
      assert ((6 / 5) ^ 4 <= exp (ln 2 / 4) ^ 4) by (apply pow_incr; lra). lra. }
    split.
    + split; [lra|]. unfold E. cbn [Sum]. unfold p, Z. replace ((2 * sqrt (ln 2)) ^ 2 / 1 ^ 2) with (4 * sqrt (ln 2) ^
      2) by field.
      replace ((- (/ 2 * sqrt (ln 2))) ^ 2 / 1 ^ 2) with (sqrt (ln 2) ^ 2 / 4) by field.
      rewrite S2. replace (4 * ln 2) with (INR 4 * ln 2) by (simpl; ring).
      rewrite exp_ln2. lra.
    + intros [_ N]. assert (M : mu = - (3 / 8 * sqrt (ln 2))) by (unfold mu, E; cbn [Sum]; unfold p, Z; field).
      unfold E in N. cbn [Sum] in N. unfold p, Z in N. rewrite M in N.
      replace ((2 * sqrt (ln 2) - - (3 / 8 * sqrt (ln 2))) ^ 2 / 1 ^ 2) with (361 / 64 * sqrt (ln 2) ^ 2) in N by field.
      rewrite S2 in N. replace (361 / 64 * ln 2) with (INR 5 * ln 2 + (ln 2 / 2 + 9 / 64 * ln 2)) in N by (simpl;
        field).
      rewrite !exp_plus, exp_ln2 in N. assert (A := exp_half). assert (B := exp_ge1 (9 / 64 * ln 2) ltac:(lra)).
      assert (C := exp_pos (ln 2 / 2)). assert (D : 7 / 5 <= exp (ln 2 / 2)) by (apply Rnot_lt_le; intros K; nra).
      match type of N with _ + ?a * exp ?b <= _ => assert (G := exp_pos b) end. nra.
  - intros fair sign z t. split; [|split].
    + split; [lra|]. unfold E. cbn [Sum]. unfold fair, sign.
      replace ((- sqrt (ln 2)) ^ 2 / 1 ^ 2) with (sqrt (ln 2) ^ 2 / 1 ^ 2) by field. rewrite S2.
      replace (ln 2 / 1 ^ 2) with (ln 2) by field. rewrite exp_ln by lra. lra.
    + split.
      * intros k _. apply binomial_ge0.
      * change (Sum 41 (fun k => IZR (nth k (row 40) 0%Z) / 2 ^ 40) = 1). rewrite Sum_nth.
        replace (fold_right Z.add 0%Z (map (fun k => nth k (row 40) 0%Z) (seq 0 41))) with (2 ^ 40)%Z
          by (vm_compute; reflexivity).
        change (2 ^ 40)%Z with (2 ^ Z.of_nat 40)%Z. rewrite <- pow_IZR. apply Rinv_r, pow_nonzero. lra.
    + set (f := fun k => if Rle_dec t (Rabs (z k)) then 1 else 0).
      assert (f0 : forall k, 0 <= f k) by (intros; unfold f; destruct (Rle_dec _ _); lra).
      assert (f1 : forall k, (30 <= k)%nat -> f k = 1).
      { intros k Hk. unfold f. destruct (Rle_dec t (Rabs (z k))) as [|N]; [easy|]. exfalso. apply N.
        apply le_INR in Hk. simpl in Hk.
        unfold t, z. rewrite Rabs_right by (apply Rle_ge, Rmult_le_pos; lra). rewrite Rmult_comm.
          apply Rmult_le_compat_l; lra. }
      assert (f2 : forall k, (k <= 10)%nat -> f k = 1).
      { intros k Hk. unfold f. destruct (Rle_dec t (Rabs (z k))) as [|N]; [easy|]. exfalso. apply N.
        apply le_INR in Hk. simpl in Hk.
        unfold t, z. rewrite Rabs_left1 by (assert (0 <= sqrt (ln 2) * ((40 - 2 * INR k) / 40)) by (apply
          Rmult_le_pos; lra); lra).
        replace (- (sqrt (ln 2) * ((2 * INR k - 40) / 40))) with (sqrt (ln 2) * ((40 - 2 * INR k) / 40)) by field.
        rewrite Rmult_comm. apply Rmult_le_compat_l; lra. }
      replace (- (40 * t ^ 2)) with (- (INR 10 * ln 2)) by (unfold t; rewrite Rpow_mult_distr, S2; simpl; field).
      rewrite exp_Ropp, exp_ln2. unfold E. fold f.
      assert (Lo : binomial 40 9 * f 9%nat + binomial 40 10 * f 10%nat + binomial 40 30 * f 30%nat + binomial 40 31 *
        f 31%nat <=
        Sum 41 (fun k => binomial 40 k * f k)).
      { set (F := fun k => binomial 40 k * f k).
        assert (N : forall k, 0 <= F k) by (intros; apply Rmult_le_pos; [apply binomial_ge0|apply f0]).
        replace 41%nat with (20 + 21)%nat by reflexivity. rewrite Sum_split.
        assert (Q1 : F 9%nat + F 10%nat <= Sum 20 F) by exact (Sum_pair 20 F 9 ltac:(lia) N).
        assert (Q2 : F 30%nat + F 31%nat <= Sum 21 (fun k => F (20 + k)%nat))
          by exact (Sum_pair 21 (fun k => F (20 + k)%nat) 10 ltac:(lia) (fun k => N (20 + k)%nat)).
        change (F 9%nat + F 10%nat + F 30%nat + F 31%nat <= Sum 20 F + Sum 21 (fun k => F (20 + k)%nat)). lra. }
      rewrite (f2 9%nat), (f2 10%nat), (f1 30%nat), (f1 31%nat) in Lo by lia. eapply Rlt_le_trans; [|exact Lo].
        unfold binomial.
      replace (nth 9 (row 40) 0%Z) with 273438880%Z by (vm_compute; reflexivity).
      replace (nth 10 (row 40) 0%Z) with 847660528%Z by (vm_compute; reflexivity).
      replace (nth 30 (row 40) 0%Z) with 847660528%Z by (vm_compute; reflexivity).
      replace (nth 31 (row 40) 0%Z) with 273438880%Z by (vm_compute; reflexivity). lra.
Qed.

Lemma sin_square y : sin y * sin y <= y * y.
Proof.
  assert (P : forall u, 0 < u -> - u <= sin u <= u).
  { intros u Hu. split; [|left; now apply sin_lt_x]. destruct (Rle_dec u PI).
    - assert (Q := sin_ge_0 u ltac:(lra) ltac:(lra)). lra.
    - assert (Q := SIN_bound u). assert (B := PI2_1). lra. }
  destruct (Rtotal_order y 0) as [N|[-> |N]]; [|rewrite sin_0; lra|specialize (P y N); nra].
  specialize (P (- y) ltac:(lra)). rewrite sin_neg in P. nra.
Qed.

(** kr-lemma-5
    Covers: a part: the head of the counterexample: what it computes, and that the printed bound vanishes while its contribution does not; on the page: the central limit theorem that makes this a failure with probability near 1 for Gaussian heads.
    Reads: for d = 1, tokens +1 and −1, q = 1 and the weight w, attention has mean a = tanh w and variance M = 1 − a². With σ(u) = sin(εu)/ε (|σ| ≤ 1/ε, |σ′| ≤ 1, |σ″| ≤ ε), v = (ε², ε², 1), 0 < ε, the printed constant is σ₀ε² + σ₁ε² + σ₂·1 = 2ε + ε², while a head contributes g with |g − UM| ≤ ε + ε² + ε²|U|³/2: so, as ε → 0, the first tends to 0 and g to UM, which is not 0 for U ≠ 0 (M > 0). The constant of the appendix, with σ₁·1 for σ₂·1, is ε + ε² + 1.
    Mistake: `a = tanh (2 * w)` for `a = tanh w`
    Mistake: `= eps + eps ^ 2` for `= 2 * eps + eps ^ 2`
*)
Theorem kr_lemma_5 : forall w U eps, 0 < eps ->
  let X := fun (t i : nat) => match t with O => 1 | _ => -1 end in
  let al := softmax 2 (fun t => dot 1 (X t) (fun _ => w * 1)) in
  let a := attended 2 al X O in let M := covariance 2 al X O O in
  let sigma := fun u => sin (eps * u) / eps in
  let sigma' := fun u => cos (eps * u) in let sigma'' := fun u => - eps * sin (eps * u) in
  let g := sigma (U * a) * eps ^ 2 + sigma' (U * a) * a * eps ^ 2 + sigma' (U * a) * (M * U) * 1 in
  a = tanh w /\ M = 1 - a ^ 2 /\ 0 < M /\
  (forall u, is_derive sigma u (sigma' u) /\ is_derive sigma' u (sigma'' u) /\
    Rabs (sigma u) <= / eps /\ Rabs (sigma' u) <= 1 /\ Rabs (sigma'' u) <= eps) /\
  / eps * eps ^ 2 + 1 * eps ^ 2 + eps * 1 = 2 * eps + eps ^ 2 /\
  / eps * eps ^ 2 + 1 * eps ^ 2 + 1 * 1 = eps + eps ^ 2 + 1 /\
  Rabs (g - U * M) <= eps + eps ^ 2 + eps ^ 2 * Rabs U ^ 3 / 2.
Proof.
  intros w U eps He X al a M sigma sigma' sigma'' g.
  assert (D : distribution 2 al) by (apply softmax_distribution; lia).
  assert (A0 : al O + al 1%nat = 1) by (destruct D as [_ D]; cbn in D; lra).
  assert (Pa : 0 < al O /\ 0 < al 1%nat) by (split; apply softmax_pos; lia).
  assert (Ea : a = al O - al 1%nat) by (unfold a, attended, E; cbn; ring).
  assert (EM : M = 1 - a ^ 2).
  { unfold M, covariance, E. cbn [Sum]. change (attended 2 al X O) with a. unfold X. rewrite Ea.
    replace (al 1%nat) with (1 - al O) by lra. ring. }
  assert (Bs : forall x, Rabs (sin x) <= 1) by (intros; apply Rabs_le, SIN_bound).
  assert (Bc : forall x, Rabs (cos x) <= 1) by (intros; apply Rabs_le, COS_bound).
  assert (Ba : Rabs a <= 1) by (rewrite Ea; apply Rabs_le; lra).
  split; [|split; [exact EM|split; [rewrite EM, Ea; replace (al 1%nat) with (1 - al O) by lra; nra|split; [|split; [|split]]]]].
  - rewrite Ea. unfold al, softmax, dot. cbn. unfold tanh, sinh, cosh.
    replace (0 + 1 * (w * 1)) with w by ring. replace (0 + -1 * (w * 1)) with (- w) by ring.
    assert (P1 := exp_pos w). assert (P2 := exp_pos (- w)). field. lra.
  - intros u. split; [unfold sigma, sigma'; auto_derive; [easy|field; lra]|].
    split; [unfold sigma', sigma''; auto_derive; [easy|ring]|]. split; [|split; [apply Bc|]].
    + unfold sigma, Rdiv. rewrite Rabs_mult, (Rabs_right (/ eps)) by (apply Rle_ge; left; now apply Rinv_0_lt_compat).
      rewrite <- (Rmult_1_l (/ eps)) at 2. apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|apply Bs].
    + unfold sigma''. rewrite Rabs_mult, Rabs_Ropp, (Rabs_right eps) by lra. specialize (Bs (eps * u)). nra.
  - field. lra.
  - field. lra.
  - unfold g, sigma, sigma'. set (x := eps * (U * a)).
    replace (sin x / eps * eps ^ 2 + cos x * a * eps ^ 2 + cos x * (M * U) * 1 - U * M) with
      (eps * sin x + eps ^ 2 * (cos x * a) + - (U * M * (1 - cos x))) by (field; lra).
    assert (C1 : 0 <= 1 - cos x <= x ^ 2 / 2).
    { assert (Q := COS_bound x). split; [lra|]. replace (cos x) with (cos (2 * (x / 2))) by (f_equal; field).
      rewrite cos_2a_sin.
      assert (Hs := sin_square (x / 2)). lra. }
    assert (T1 := Rabs_triang (eps * sin x + eps ^ 2 * (cos x * a)) (- (U * M * (1 - cos x)))).
    assert (T2 := Rabs_triang (eps * sin x) (eps ^ 2 * (cos x * a))).
    assert (Y1 : Rabs (eps * sin x) <= eps).
    { rewrite Rabs_mult, (Rabs_right eps) by lra. specialize (Bs x). nra. }
    assert (Y2 : Rabs (eps ^ 2 * (cos x * a)) <= eps ^ 2).
    { rewrite !Rabs_mult, (Rabs_right (eps ^ 2)) by (apply Rle_ge, pow2_ge_0). specialize (Bc x).
      assert (0 < eps ^ 2) by (apply pow_lt; lra). assert (Q1 := Rabs_pos (cos x)). assert (Q2 := Rabs_pos a).
      assert (Rabs (cos x) * Rabs a <= 1) by nra. nra. }
    assert (Y3 : Rabs (- (U * M * (1 - cos x))) <= eps ^ 2 * Rabs U ^ 3 / 2).
    { rewrite Rabs_Ropp, !Rabs_mult, (Rabs_right (1 - cos x)) by lra.
      assert (Q5 := pow2_ge_0 a). assert (Q6 := Rabs_pos a).
      assert (Q4 : a ^ 2 <= 1) by (rewrite <- pow2_abs; clear - Q6 Ba; nra).
      assert (BM : 0 <= M <= 1) by (rewrite EM; clear - Q4 Q5; lra).
      rewrite (Rabs_right M) by lra. assert (Bx : x ^ 2 <= eps ^ 2 * Rabs U ^ 2).
      { unfold x. rewrite !Rpow_mult_distr, pow2_abs. apply Rmult_le_compat_l; [apply pow2_ge_0|].
        assert (a ^ 2 <= 1) by (rewrite <- pow2_abs; assert (Q2 := Rabs_pos a); nra). assert (Q3 := pow2_ge_0 U). nra. }
      assert (Q1 := Rabs_pos U). replace (eps ^ 2 * Rabs U ^ 3 / 2) with (Rabs U * 1 * (eps ^ 2 * Rabs U ^ 2 / 2)) by
        field.
      apply Rmult_le_compat; [apply Rmult_le_pos; lra|lra|apply Rmult_le_compat_l; lra|lra]. }
    lra.
Qed.
