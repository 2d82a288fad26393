(** Gradient descent on ½‖F − y‖²: what a step takes from the error, and where a run ends. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.along base.falling base.runs.
Open Scope R_scope.

(** The point after a part k of a step, and the length of that part. *)
Definition part (grad : vector -> vector) (z : vector) (k : R) : vector := vminus z (vscal k (grad z)).

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
