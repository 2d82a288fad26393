(** Gradient descent on ½‖F − y‖²: what a step takes from the error, and where a run ends. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.along base.falling base.runs.
Open Scope R_scope.

(** The point after a part k of a step, and the length of that part. *)
Definition part (grad : vector -> vector) (z : vector) (k : R) : vector := vminus z (vscal k (grad z)).

Lemma part_along grad z k : part grad z k = along z (vscal (- k) (grad z)) 1.
Proof. apply functional_extensionality; intros i. unfold part, along, vminus, vscal. ring. Qed.

Lemma along_part grad z k s : along z (vscal (- k) (grad z)) s = part grad z (s * k).
Proof. apply functional_extensionality; intros i. unfold part, along, vminus, vscal. ring. Qed.

Lemma part_distance D grad z k : 0 <= k -> distance D z (part grad z k) = k * vnorm D (grad z).
Proof.
  intros Hk. unfold distance. rewrite (norm_ext D _ (vscal (- k) (grad z)))
    by (intros; unfold part, vminus, vscal; ring). rewrite norm_scal, Rabs_Ropp, Rabs_right by lra. easy.
Qed.

Lemma path_step D (mu : R) grad theta t : 0 <= mu -> descends mu grad theta ->
  path D theta (S t) = path D theta t + mu * vnorm D (grad (theta t)).
Proof. intros Hm H. unfold path. cbn [Sum]. rewrite (H t). now rewrite <- part_distance. Qed.

Lemma path_0 D theta : path D theta 0 = 0.
Proof. easy. Qed.

Lemma path_ge0 D theta t : 0 <= path D theta t.
Proof. apply Sum_ge0. intros. apply norm_ge0. Qed.

Lemma from_start D theta t : distance D (theta 0%nat) (theta t) <= path D theta t.
Proof. assert (K := path_le D theta 0 t ltac:(lia)). rewrite path_0 in K. lra. Qed.

Lemma part_near D grad theta t k : 0 <= k ->
  distance D (theta 0%nat) (part grad (theta t) k) <= path D theta t + k * vnorm D (grad (theta t)).
Proof.
  intros Hk. assert (K := distance_triangle D (theta 0%nat) (theta t) (part grad (theta t) k)).
  rewrite part_distance in K by easy. assert (L := from_start D theta t). lra.
Qed.

Lemma error_ge0 n F y z : 0 <= error n F y z.
Proof. apply norm_ge0. Qed.

(** ‖(I − k JJᵀ) E‖ *)
Definition linear_error (n D : nat) (F : vector -> vector) (J : vector -> matrix) (y z : vector) (k : R) : R :=
  vnorm n (vminus (errors F y z) (vscal k (matvec D (J z) (least_squares n F J y z)))).

Lemma part_error n D F J M B y z k : 0 <= M -> jacobian_on n D F J B -> lipschitz_jacobian n D J M B ->
  (forall s, 0 <= s <= 1 -> B (part (least_squares n F J y) z (s * k))) ->
  error n F y (part (least_squares n F J y) z k) <=
    linear_error n D F J y z k + M / 2 * (k * vnorm D (least_squares n F J y z)) ^ 2.
Proof.
  intros H0 HJ HM HB. set (g := least_squares n F J y z). set (v := vscal (- k) g).
  assert (R := remainder n D F J M B z v H0 HJ HM). unfold error, linear_error. fold g.
  rewrite part_along. fold g v.
  replace ((k * vnorm D g) ^ 2) with (sq D v) by (unfold v; rewrite sq_scal, <- norm_sq; ring).
  assert (E : matvec D (J z) v = vscal (- k) (matvec D (J z) g)) by (unfold v; apply matvec_scal).
  rewrite (norm_ext n (errors F y (along z v 1)) (vplus (vminus (errors F y z) (vscal k (matvec D (J z) g)))
    (vminus (vminus (F (along z v 1)) (F z)) (matvec D (J z) v))))
    by (intros; rewrite E; unfold errors, vplus, vminus, vscal; ring).
  eapply Rle_trans; [apply norm_triangle|]. apply Rplus_le_compat_l, R. intros s Hs.
  unfold v, g. rewrite along_part. now apply HB.
Qed.

(** The key inequality in numbers: e − ê ≥ q k G, e² − ê² ≥ k G². *)
Lemma pays e e' G k q : 0 <= k -> 0 <= q -> 0 <= e -> 0 <= e' -> 0 <= G ->
  e' ^ 2 <= (1 - k * q ^ 2) * (e ^ 2 - k * G ^ 2) -> k * G ^ 2 <= e ^ 2 -> k * (q ^ 2 * e ^ 2) <= k * G ^ 2 ->
  q * (k * G) <= e - e' /\ (k * G) ^ 2 <= 2 * k * (e * (e - e')).
Proof.
  intros Hk Hq He He' HG H1 H2 H3. assert (K2 : 0 <= k * q ^ 2) by (apply Rmult_le_pos; [easy|apply pow2_ge_0]).
  assert (A : q * (k * G) <= e).
  { apply Rsqr_incr_0_var; [|easy]. rewrite !Rsqr_pow2.
    assert (k * q ^ 2 * (k * G ^ 2) <= k * q ^ 2 * e ^ 2) by now apply Rmult_le_compat_l. lra. }
  assert (B : e' <= e - q * (k * G)).
  { apply Rsqr_incr_0_var; [|lra]. rewrite !Rsqr_pow2.
    assert (0 <= k * (G - q * e) ^ 2) by (apply Rmult_le_pos; [easy|apply pow2_ge_0]). lra. }
  split; [lra|].
  assert (C : k * G ^ 2 <= e ^ 2 - e' ^ 2).
  { assert (0 <= k * q ^ 2 * (e ^ 2 - k * G ^ 2)) by (apply Rmult_le_pos; lra). lra. }
  assert (0 <= (e - e') ^ 2) by apply pow2_ge_0.
  replace ((k * G) ^ 2) with (k * (k * G ^ 2)) by ring.
  replace (2 * k * (e * (e - e'))) with (k * (2 * (e * (e - e')))) by ring.
  apply Rmult_le_compat_l; lra.
Qed.

(** The rate in numbers. *)
Lemma rate e e' G k q m : 0 <= k -> 0 <= e -> 0 <= e' -> m * e < 1 ->
  e' ^ 2 <= (1 - k * q ^ 2) * (e ^ 2 - k * G ^ 2) -> k * G ^ 2 <= e ^ 2 -> k * (q ^ 2 * e ^ 2) <= k * G ^ 2 ->
  e' + m / 2 * (k * G ^ 2) <= (1 - k * q ^ 2 * (1 - m * e / 2)) * e.
Proof.
  intros Hk He He' Hm H1 H2 H3. set (a := k * G ^ 2) in *. destruct (Req_dec e 0) as [->|].
  - assert (0 <= a) by (apply Rmult_le_pos; [easy|apply pow2_ge_0]). assert (a = 0) by lra.
    rewrite H0 in *. assert (e' ^ 2 <= 0) by lra. assert (e' = 0) by nra. lra.
  - set (w := a / e). assert (Ea : a = w * e) by (unfold w; field; easy). rewrite Ea in *.
    set (p := k * q ^ 2) in *.
    replace (k * (q ^ 2 * e ^ 2)) with (p * e ^ 2) in H3 by (unfold p; ring).
    assert (Hp : p * e <= w) by (apply (Rmult_le_reg_r e); lra).
    assert (w <= e) by (apply (Rmult_le_reg_r e); lra).
    assert (p <= 1) by (apply (Rmult_le_reg_r e); lra).
    assert (A : e' <= ((1 - p) * e + (e - w)) / 2).
    { assert (0 <= (1 - p) * e) by (apply Rmult_le_pos; lra).
      apply Rsqr_incr_0_var; [|lra]. rewrite !Rsqr_pow2.
      assert (0 <= ((1 - p) * e - (e - w)) ^ 2) by apply pow2_ge_0. lra. }
    assert ((1 - m * e) * (p * e) <= (1 - m * e) * w) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma geometric_limit (e : nat -> R) k : 0 < k -> (forall t, 0 <= e t) -> (forall t, e (S t) <= (1 - k) * e t) ->
  is_lim_seq e 0.
Proof.
  intros Hk H0 H. assert (P : e 0%nat = 0 \/ 0 <= 1 - k).
  { specialize (H 0%nat). assert (A := H0 0%nat). assert (B := H0 1%nat).
    destruct (Req_dec (e 0%nat) 0); [now left|right].
    destruct (Rle_lt_dec 0 (1 - k)); [easy|]. nra. }
  destruct P as [P|P].
  - assert (Z : forall t, e t = 0).
    { induction t; [easy|]. specialize (H t). rewrite IHt in H. specialize (H0 (S t)). lra. }
    apply (is_lim_seq_ext (fun _ => 0)); [now intros|]. apply is_lim_seq_const.
  - apply (is_lim_seq_le_le (fun _ => 0) _ (fun t => (1 - k) ^ t * e 0%nat)).
    + intros t. split; [easy|]. induction t; [simpl; lra|]. eapply Rle_trans; [apply H|]. simpl.
      rewrite Rmult_assoc. now apply Rmult_le_compat_l.
    + apply is_lim_seq_const.
    + replace (Finite 0) with (Finite (0 * e 0%nat)) by (f_equal; ring).
      apply is_lim_seq_mult'; [|apply is_lim_seq_const]. apply is_lim_seq_geom. rewrite Rabs_right; lra.
Qed.

Lemma matvec_bound n D J : exists c, 0 <= c /\ forall v, vnorm n (matvec D J v) <= c * vnorm D v.
Proof.
  exists (sqrt (frob2 n D J)). split; [apply sqrt_pos|]. intros v. apply norm_le.
  - apply Rmult_le_pos; [apply sqrt_pos|apply norm_ge0].
  - assert (0 <= frob2 n D J) by (apply Sum_ge0; intros; apply Sum_ge0; intros; apply pow2_ge_0).
    rewrite Rpow_mult_distr, pow2_sqrt, norm_sq by easy. unfold frob2.
    rewrite Rmult_comm, <- Sum_scal. apply Sum_le. intros k _. rewrite Rmult_comm. exact (cauchy_sq D (J k) v).
Qed.

(** Where errors vanish along a run that converges inside a convex set, they vanish at the limit. *)
Lemma error_limit n D F J M B y theta l : 0 <= M -> jacobian_on n D F J B -> lipschitz_jacobian n D J M B ->
  (forall t s, 0 <= s <= 1 -> B (along l (vminus (theta t) l) s)) -> converges D theta l ->
  is_lim_seq (fun t => error n F y (theta t)) 0 -> forall k, (k < n)%nat -> F l k = y k.
Proof.
  intros H0 HJ HM HB HC HE. destruct (matvec_bound n D (J l)) as [c [_ Hc]].
  assert (K : forall t, error n F y l <= error n F y (theta t) + (c * distance D l (theta t) +
    M / 2 * (distance D l (theta t) * distance D l (theta t)))).
  { intros t. set (v := vminus (theta t) l). assert (R := remainder n D F J M B l v H0 HJ HM (HB t)).
    unfold v in R at 1. rewrite along_to in R. specialize (Hc v). unfold distance. fold v.
    replace (vnorm D v * vnorm D v) with (sq D v) by (rewrite <- norm_sq; ring). unfold error.
    rewrite (norm_ext n (errors F y l) (vplus (errors F y (theta t))
      (vminus (vminus (vminus (F l) (F (theta t))) (vscal (- 1) (matvec D (J l) v))) (matvec D (J l) v))))
      by (intros; unfold errors, vplus, vminus, vscal; ring).
    eapply Rle_trans; [apply norm_triangle|]. apply Rplus_le_compat_l.
    rewrite (norm_ext n _ (vplus (vscal (- 1) (matvec D (J l) v))
      (vscal (- 1) (vminus (vminus (F (theta t)) (F l)) (matvec D (J l) v)))))
      by (intros; unfold vplus, vminus, vscal; ring).
    eapply Rle_trans; [apply norm_triangle|]. rewrite !norm_scal.
    replace (Rabs (- 1)) with 1 by (rewrite Rabs_left; lra). lra. }
  assert (E : error n F y l = 0).
  { apply Rle_antisym; [|apply error_ge0].
    apply (is_lim_seq_le (fun _ => error n F y l) _ (error n F y l) 0 K); [apply is_lim_seq_const|].
    replace (Finite 0) with (Finite (0 + (c * 0 + M / 2 * (0 * 0)))) by (f_equal; ring).
    apply is_lim_seq_plus'; [easy|]. apply is_lim_seq_plus'.
    - apply is_lim_seq_mult'; [apply is_lim_seq_const|exact HC].
    - apply is_lim_seq_mult'; [apply is_lim_seq_const|]. apply is_lim_seq_mult'; exact HC. }
  intros k Hk. assert (C := coordinate n (errors F y l) k Hk). unfold error in E. rewrite E in C.
  assert (errors F y l k = 0) by (apply Rabs_eq_0, Rle_antisym; [easy|apply Rabs_pos]).
  unfold errors, vminus in H. lra.
Qed.

(** Balls and their products are convex. *)
Lemma ball_convex D c r a b s : 0 <= s <= 1 -> distance D c a <= r -> distance D c b <= r ->
  distance D c (along a (vminus b a) s) <= r.
Proof.
  intros Hs Ha Hb. unfold distance in *.
  rewrite (norm_ext D _ (vplus (vscal (1 - s) (vminus a c)) (vscal s (vminus b c))))
    by (intros; unfold along, vplus, vscal, vminus; ring).
  eapply Rle_trans; [apply norm_triangle|]. rewrite !norm_scal, !Rabs_right by lra.
  assert ((1 - s) * vnorm D (vminus a c) <= (1 - s) * r) by (apply Rmult_le_compat_l; lra).
  assert (s * vnorm D (vminus b c) <= s * r) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** What a part k of a step does to the linear error, in the three numbers that the lemmas above ask for. *)
Lemma step_facts n D F J y z mu q k : 0 <= k <= mu -> (forall v, mu * sq n (matvec D (J z) v) <= sq D v) ->
  (forall w, q ^ 2 * sq n w <= sq D (pullback n (J z) w)) ->
  let e := error n F y z in let G := vnorm D (least_squares n F J y z) in
  linear_error n D F J y z k ^ 2 <= (1 - k * q ^ 2) * (e ^ 2 - k * G ^ 2) /\
  k * G ^ 2 <= e ^ 2 /\ k * (q ^ 2 * e ^ 2) <= k * G ^ 2.
Proof.
  intros Hk HJ Hq. cbv zeta. unfold linear_error, error, least_squares. rewrite !norm_sq.
  assert (T : forall w, k * sq D (pullback n (J z) w) <= sq n w).
  { intros w. assert (L := transpose_bound n D (J z) mu ltac:(lra) HJ w).
    assert (k * sq D (pullback n (J z) w) <= mu * sq D (pullback n (J z) w))
      by (apply Rmult_le_compat_r; [apply sq_ge0|lra]). lra. }
  split; [apply contraction; [lra|easy|easy]|split; [apply T|apply Rmult_le_compat_l; [lra|apply Hq]]].
Qed.

(** A part of the step that stays within a budget, and is the whole step or uses the budget up. *)
Lemma exit mu G U r : 0 <= mu -> 0 <= G -> U <= r ->
  exists k, 0 <= k <= mu /\ U + k * G <= r /\ (k = mu \/ (U + k * G = r /\ k < mu /\ 0 < G)).
Proof.
  intros Hm HG HU. destruct (Rle_lt_dec (U + mu * G) r) as [H|H]; [exists mu; lra|].
  assert (0 < G) by (destruct HG as [|<-]; [easy|lra]). exists ((r - U) / G).
  assert (0 <= (r - U) / G) by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
  assert ((r - U) / G < mu) by (apply Rlt_div_l; lra).
  assert ((r - U) / G * G = r - U) by (field; lra). repeat split; lra.
Qed.

Lemma exit_two mu G1 U r G2 P R : 0 <= mu -> 0 <= G1 -> 0 <= G2 -> U <= r -> P <= R ->
  exists k, 0 <= k <= mu /\ U + k * G1 <= r /\ P + k * G2 <= R /\
    (k = mu \/ (k < mu /\ (U + k * G1 = r /\ 0 < G1 \/ P + k * G2 = R /\ 0 < G2))).
Proof.
  intros Hm H1 H2 HU HP. destruct (exit mu G1 U r) as [k1 [K1 [A1 B1]]]; try easy.
  destruct (exit mu G2 P R) as [k2 [K2 [A2 B2]]]; try easy. destruct (Rle_lt_dec k1 k2) as [L|L].
  - exists k1. assert (k1 * G2 <= k2 * G2) by now apply Rmult_le_compat_r. repeat split; lra.
  - exists k2. assert (k2 * G1 <= k1 * G1) by (apply Rmult_le_compat_r; lra). repeat split; lra.
Qed.

(** The coordinates from a on. *)
Definition tail (a : nat) (z : vector) : vector := fun i => z (a + i)%nat.

Lemma sq_split a b v : sq (a + b) v = sq a v + sq b (tail a v).
Proof. apply Sum_split. Qed.

Lemma tail_le a b v : vnorm b (tail a v) <= vnorm (a + b) v.
Proof. apply sqrt_le_1_alt. rewrite sq_split. assert (0 <= sq a v) by apply sq_ge0. lra. Qed.

Lemma tail_part a b mu (grad : vector -> vector) theta t : 0 <= mu -> descends mu grad theta ->
  path b (fun t => tail a (theta t)) (S t) = path b (fun t => tail a (theta t)) t + mu * vnorm b (tail a (grad (theta
    t))).
Proof.
  intros Hm H. unfold path. cbn [Sum]. rewrite (H t). f_equal. unfold distance.
  rewrite (norm_ext b _ (vscal (- mu) (tail a (grad (theta t))))) by (intros; unfold tail, vminus, vscal; ring).
  rewrite norm_scal, Rabs_Ropp, Rabs_right by lra. easy.
Qed.

Lemma tail_near a b grad theta t k : 0 <= k ->
  distance b (tail a (theta 0%nat)) (tail a (part grad (theta t) k)) <=
    path b (fun t => tail a (theta t)) t + k * vnorm b (tail a (grad (theta t))).
Proof.
  intros Hk. assert (K := distance_triangle b (tail a (theta 0%nat)) (tail a (theta t)) (tail a (part grad (theta t)
    k))).
  assert (L := from_start b (fun t => tail a (theta t)) t). cbv beta in L.
  assert (E : distance b (tail a (theta t)) (tail a (part grad (theta t) k)) = k * vnorm b (tail a (grad (theta t)))).
  { unfold distance. rewrite (norm_ext b _ (vscal (- k) (tail a (grad (theta t)))))
      by (intros; unfold part, tail, vminus, vscal; ring). rewrite norm_scal, Rabs_Ropp, Rabs_right by lra. easy. }
  lra.
Qed.

Lemma tail_closed a b theta l c r : converges (a + b) theta l ->
  (forall t, distance b c (tail a (theta t)) <= r) -> distance b c (tail a l) <= r.
Proof.
  intros C H. assert (L := is_lim_seq_le (fun _ => distance b c (tail a l)) (fun t => r + distance (a + b) l (theta t))
    (distance b c (tail a l)) (r + 0)). simpl in L. enough (distance b c (tail a l) <= r + 0) by lra.
  apply L; [|apply is_lim_seq_const|apply is_lim_seq_plus'; [apply is_lim_seq_const|exact C]].
  intros t. specialize (H t). assert (K := distance_triangle b c (tail a (theta t)) (tail a l)).
  rewrite (distance_sym b (tail a (theta t))) in K.
  assert (Q : distance b (tail a l) (tail a (theta t)) <= distance (a + b) l (theta t))
    by exact (tail_le a b (vminus (theta t) l)). lra.
Qed.

(** A run of bounded length with a linear rate inside a closed convex set ends at a zero of the errors. *)
Lemma ls_end n D F J M B y theta r kappa : 0 <= M -> jacobian_on n D F J B -> lipschitz_jacobian n D J M B ->
  (forall t, path D theta t <= r) -> (forall t, B (theta t)) ->
  (forall a b x, 0 <= x <= 1 -> B a -> B b -> B (along a (vminus b a) x)) ->
  (forall l, converges D theta l -> (forall c q, (forall t, distance D c (theta t) <= q) -> distance D c l <= q) ->
    B l) ->
  0 < kappa -> (forall t, error n F y (theta (S t)) <= (1 - kappa) * error n F y (theta t)) ->
  exists limit, B limit /\ converges D theta limit /\ forall k, (k < n)%nat -> F limit k = y k.
Proof.
  intros H0 HJ HM Hr HB Hc Hl Hk He. destruct (finite_path D theta r Hr) as [l [C [_ K]]]. exists l.
  assert (B l) by now apply Hl. repeat split; try easy. apply (error_limit n D F J M B y theta l); try easy.
  - intros t x Hx. now apply Hc.
  - apply (geometric_limit _ kappa); [easy|intros; apply error_ge0|easy].
Qed.
