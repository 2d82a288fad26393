(** Runs of gradient descent: lengths of paths, limits, what a step takes, and how far the run can get. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.matrices base.gradient.
Open Scope R_scope.

(** s does not increase on [0, r] *)
Definition falling (s : R -> R) (r : R) : Prop := forall u v, 0 <= u -> u <= v -> v <= r -> s v <= s u.

(** 1 where s ≥ c, else 0 *)
Definition above (s : R -> R) (c u : R) : R := if Rle_dec c (s u) then 1 else 0.

Lemma above_integrable s r c : 0 <= r -> falling s r -> ex_RInt (above s c) 0 r.
Proof.
  intros Hr Hs. set (Q := fun u => 0 <= u <= r /\ (u = 0 \/ c <= s u)).
  destruct (completeness Q) as [m [Hm Hl]]; [exists r; intros u [Hu _]; lra | exists 0; split; [lra|now left]|].
  assert (0 <= m) by (apply Hm; split; [lra|now left]). assert (m <= r) by (apply Hl; intros u [Hu _]; lra).
  apply (ex_RInt_Chasles _ 0 m r).
  - apply (ex_RInt_ext (fun _ => 1)); [|apply ex_RInt_const]. rewrite Rmin_left, Rmax_right by easy. intros x Hx.
    unfold above. destruct (Rle_dec c (s x)) as [|N]; [easy|]. exfalso. assert (m <= x); [|lra]. apply Hl.
    intros u [Hu [->|Hc]]; [lra|]. destruct (Rle_lt_dec u x); [easy|]. exfalso. apply N.
    apply (Rle_trans _ (s u)); [easy|]. apply Hs; lra.
  - apply (ex_RInt_ext (fun _ => 0)); [|apply ex_RInt_const]. rewrite Rmin_left, Rmax_right by easy. intros x Hx.
    unfold above. destruct (Rle_dec c (s x)) as [Y|]; [|easy]. exfalso. assert (x <= m); [|lra]. apply Hm.
    split; [lra|now right].
Qed.

Lemma staircase n eps x : 0 <= eps -> 0 <= x -> x <= INR n * eps ->
  let y := Sum n (fun k => eps * (if Rle_dec (INR (S k) * eps) x then 1 else 0)) in y <= x /\ x - eps <= y.
Proof.
  intros He Hx Hn. cbv zeta.
  assert (K : forall n, let y := Sum n (fun k => eps * (if Rle_dec (INR (S k) * eps) x then 1 else 0)) in
    y <= x /\ y <= INR n * eps /\ (x - eps <= y \/ y = INR n * eps)).
  { clear n Hn. induction n as [|n [A [B C]]]; [simpl; lra|]. cbn [Sum]. rewrite S_INR in *.
    set (y := Sum n _) in *. destruct (Rle_dec ((INR n + 1) * eps) x) as [Y|N].
    - split; [|split; [lra|right]]; destruct C; lra.
    - apply Rnot_le_lt in N. split; [lra|split; [lra|left]]. destruct C; lra. }
  destruct (K n) as [A [B [C|C]]]; cbv zeta in *; split; lra.
Qed.

Lemma falling_integrable s r : 0 <= r -> falling s r -> ex_RInt s 0 r.
Proof.
  intros Hr Hs. set (cut := fun u => Rmax 0 (Rmin u r)).
  assert (Hcut : forall u, 0 <= cut u <= r)
    by (intros u; split; [apply Rmax_l|apply Rmax_lub; [easy|apply Rmin_r]]).
  apply (ex_RInt_ext (fun u => s (cut u))).
  { rewrite Rmin_left, Rmax_right by easy. intros x Hx. unfold cut. now rewrite Rmin_left, Rmax_right by lra. }
  set (g := fun u => s (cut u)).
  assert (Hg : falling g r).
  { intros u v Hu Huv Hv. unfold g, cut. rewrite !Rmin_left, !Rmax_right by lra. now apply Hs. }
  set (w := s 0 - s r). assert (Hw : 0 <= w) by (unfold w; specialize (Hs 0 r); lra).
  set (eps := fun n => w / INR (S n)).
  set (f := fun n u => s r + Sum (S n) (fun k => eps n * above (fun u => g u - s r) (INR (S k) * eps n) u)).
  assert (He : forall n, 0 <= eps n) by (intros n; apply Rmult_le_pos; [easy|left; apply Rinv_0_lt_compat, lt_0_INR;
    lia]).
  assert (If : forall n, ex_RInt (f n) 0 r).
  { intros n. apply (ex_RInt_plus (fun _ => s r)); [apply ex_RInt_const|]. generalize (S n). intros N.
    induction N; simpl; [apply ex_RInt_const|].
    apply (ex_RInt_plus (fun u => Sum N (fun k => eps n * above (fun u => g u - s r) (INR (S k) * eps n) u)));
      [easy|]. apply (ex_RInt_scal (above (fun u => g u - s r) (INR (S N) * eps n))), above_integrable; [easy|].
    intros u v A B C. specialize (Hg u v A B C). lra. }
  assert (U : forall n u, Rabs (f n u - g u) <= eps n).
  { intros n u. specialize (Hcut u).
    assert (g u <= s 0) by (apply Hs; lra). assert (s r <= g u) by (apply Hs; lra).
    destruct (staircase (S n) (eps n) (g u - s r)) as [A B]; [apply He|lra| |].
    - unfold eps. replace (INR (S n) * (w / INR (S n))) with w by (field; apply not_0_INR; lia). unfold w. lra.
    - unfold f, above. apply Rabs_le. lra. }
  destruct (filterlim_RInt f 0 r eventually _ g (fun n => RInt (f n) 0 r)) as [I [_ HI]].
  - intros n. now apply (RInt_correct (V := R_CompleteNormedModule)).
  - intros P [e HP]. destruct (nfloor_ex (w / e)) as [N [_ HN]];
      [apply Rmult_le_pos; [easy|left; apply Rinv_0_lt_compat, cond_pos]|]. exists N. intros n Hn. apply HP. intros u.
    apply (Rle_lt_trans _ (eps n)); [apply U|]. unfold eps. apply Rlt_div_l; [apply lt_0_INR; lia|].
    assert (INR N + 1 <= INR (S n)) by (rewrite <- S_INR; apply le_INR; lia). assert (H' := cond_pos e).
    apply Rlt_div_l in HN; [|easy]. nra.
  - now exists I.
Qed.

(** ∫₀^(U+h) s ≤ ∫₀ᵁ s + h s(U) *)
Lemma RInt_step s r U h : falling s r -> 0 <= U -> 0 <= h -> U + h <= r ->
  RInt s 0 (U + h) <= RInt s 0 U + h * s U.
Proof.
  intros Hs HU Hh Hr.
  assert (F : forall q, q <= r -> falling s q) by (intros q Hq u v A B C; apply Hs; lra).
  assert (I1 : ex_RInt s 0 U) by (apply falling_integrable; [easy|apply F; lra]).
  assert (I : ex_RInt s 0 (U + h)) by (apply falling_integrable; [lra|apply F; lra]).
  assert (I2 : ex_RInt s U (U + h)) by (apply (ex_RInt_Chasles_2 (V := R_CompleteNormedModule) s 0); [lra|easy]).
  assert (E := RInt_Chasles (V := R_CompleteNormedModule) s 0 U (U + h) I1 I2).
  assert (L : RInt s U (U + h) <= RInt (fun _ => s U) U (U + h)).
  { apply RInt_le; [lra|easy|apply ex_RInt_const|]. intros x Hx. apply Hs; lra. }
  rewrite RInt_const in L. unfold scal in L; simpl in L; unfold mult in L; simpl in L.
  unfold plus in E; simpl in E. rewrite <- E. replace (h * s U) with ((U + h - U) * s U) by ring. lra.
Qed.

(** ∫₀ᵁ s ≤ ∫₀ⱽ s for U ≤ V, s ≥ 0 *)
Lemma RInt_grows s r U V : falling s r -> (forall u, 0 <= u <= r -> 0 < s u) -> 0 <= U -> U <= V -> V <= r ->
  RInt s 0 U <= RInt s 0 V.
Proof.
  intros Hs Hp HU HV Hr. assert (I : ex_RInt s 0 V) by (apply falling_integrable; [lra|intros u v ? ? ?; apply Hs;
    lra]).
  assert (I1 : ex_RInt s 0 U) by (apply falling_integrable; [easy|intros u v ? ? ?; apply Hs; lra]).
  assert (I2 : ex_RInt s U V) by (apply (ex_RInt_Chasles_2 (V := R_CompleteNormedModule) s 0); [lra|easy]).
  assert (E := RInt_Chasles (V := R_CompleteNormedModule) s 0 U V I1 I2). unfold plus in E; simpl in E.
  assert (0 <= RInt s U V) by (apply RInt_ge_0; [easy|easy|intros x Hx; left; apply Hp; lra]). lra.
Qed.

(** ‖z − c‖ *)
Definition distance (D : nat) (c z : vector) : R := vnorm D (vminus z c).

(** U_t = Σ_{s<t} ‖θ_{s+1} − θ_s‖, the length of the path after t steps *)
Definition path (D : nat) (theta : nat -> vector) (t : nat) : R :=
  Sum t (fun s => distance D (theta s) (theta (S s))).

(** ‖θ_t − θ*‖ → 0 *)
Definition converges (D : nat) (theta : nat -> vector) (limit : vector) : Prop :=
  is_lim_seq (fun t => distance D limit (theta t)) 0.

(** θ_{t+1} = θ_t − μ ∇(θ_t) *)
Definition descends (mu : R) (grad : vector -> vector) (theta : nat -> vector) : Prop :=
  forall t, theta (S t) = vminus (theta t) (vscal mu (grad (theta t))).

Lemma distance_triangle D a b c : distance D a c <= distance D a b + distance D b c.
Proof.
  unfold distance. rewrite (norm_ext D (vminus c a) (vplus (vminus b a) (vminus c b)))
    by (intros; unfold vminus, vplus; ring). apply norm_triangle.
Qed.

Lemma distance_sym D a b : distance D a b = distance D b a.
Proof. apply norm_swap. Qed.

Lemma distance_self D a : distance D a a = 0.
Proof. apply norm_zero. intros. unfold vminus. ring. Qed.

Lemma path_le D theta t T : (t <= T)%nat -> distance D (theta t) (theta T) <= path D theta T - path D theta t.
Proof.
  induction 1 as [|T H IH]; [rewrite distance_self; lra|]. unfold path in *. cbn [Sum].
  assert (K := distance_triangle D (theta t) (theta T) (theta (S T))). lra.
Qed.

Lemma path_mono D theta t T : (t <= T)%nat -> path D theta t <= path D theta T.
Proof. intros H. assert (K := path_le D theta t T H). assert (0 <= distance D (theta t) (theta T)) by apply norm_ge0.
lra. Qed.

Lemma norm_sum d x : vnorm d x <= Sum d (fun i => Rabs (x i)).
Proof.
  assert (P : forall n, 0 <= Sum n (fun i => Rabs (x i))) by (intros; apply Sum_ge0; intros; apply Rabs_pos).
  apply norm_le; [apply P|]. unfold sq. induction d; [simpl; lra|]. cbn [Sum]. specialize (P d).
  assert (0 <= Rabs (x d)) by apply Rabs_pos. rewrite <- (pow2_abs (x d)). nra.
Qed.

(** A path of bounded length has an end, and the rest of the path bounds the distance from it. *)
Lemma finite_path D theta r : (forall t, path D theta t <= r) -> exists l, converges D theta l /\
  (forall t c, (forall T, (t <= T)%nat -> path D theta T - path D theta t <= c) -> distance D l (theta t) <= c) /\
  (forall c b, (forall t, distance D c (theta t) <= b) -> distance D c l <= b).
Proof.
  intros Hr. assert (HP : ex_finite_lim_seq (path D theta)).
  { apply (ex_finite_lim_seq_incr _ r); [|easy]. intros t. apply path_mono. lia. }
  assert (Hi : forall i, (i < D)%nat -> is_lim_seq (fun t => theta t i) (real (Lim_seq (fun t => theta t i)))).
  { intros i Hi. assert (ex_finite_lim_seq (fun t => (theta t i + path D theta t) - path D theta t)).
    { destruct HP as [p HP]. destruct (ex_finite_lim_seq_incr (fun t => theta t i + path D theta t)
        (theta 0%nat i + r + r)) as [q Hq].
      - intros t. assert (K := coordinate D (vminus (theta (S t)) (theta t)) i Hi).
        apply Rabs_le_between in K. unfold path. cbn [Sum]. unfold distance, vminus in *. lra.
      - intros t. assert (K := coordinate D (vminus (theta t) (theta 0%nat)) i Hi).
        assert (L := path_le D theta 0 t ltac:(lia)). unfold path at 2 in L. simpl in L.
        apply Rabs_le_between in K. specialize (Hr t). unfold distance in L.
        assert (theta t i - theta 0%nat i <= vnorm D (vminus (theta t) (theta 0%nat))) by apply K. lra.
      - exists (q - p). now apply (is_lim_seq_minus' _ _ q p). }
    apply Lim_seq_correct'. destruct H as [l Hl]. exists l. revert Hl. apply is_lim_seq_ext. intros; ring. }
  set (l := fun i => real (Lim_seq (fun t => theta t i))). exists l.
  assert (C : converges D theta l).
  { apply (is_lim_seq_le_le (fun _ => 0) _ (fun t => Sum D (fun i => Rabs (theta t i - l i)))).
    - intros t. split; [apply norm_ge0|apply norm_sum].
    - apply is_lim_seq_const.
    - assert (G : forall n, (n <= D)%nat -> is_lim_seq (fun t => Sum n (fun i => Rabs (theta t i - l i))) 0).
      { induction n; intros Hn; [apply is_lim_seq_const|]. cbn [Sum]. replace (Finite 0) with (Finite (0 + 0))
        by (f_equal; ring).
        apply is_lim_seq_plus'; [apply IHn; lia|]. rewrite <- Rabs_R0. apply (is_lim_seq_abs _ 0).
        replace (Finite 0) with (Finite (l n - l n)) by (f_equal; ring).
        apply is_lim_seq_minus'; [apply Hi; lia|apply is_lim_seq_const]. }
      now apply G. }
  split; [exact C|]. assert (Z : forall t c b, (forall T, (t <= T)%nat -> c <= b + distance D l (theta T)) -> c <= b).
  { intros t c b H. assert (0 <= b - c + 0); [|lra].
    apply (is_lim_seq_le_loc (fun _ => 0) (fun T => b - c + distance D l (theta T)) 0 (b - c + 0)).
    - exists t. intros T HT. specialize (H T HT). lra.
    - apply is_lim_seq_const.
    - apply is_lim_seq_plus'; [apply is_lim_seq_const|exact C]. }
  split.
  - intros t c H. apply (Z t). intros T HT. specialize (H T HT).
    assert (K := distance_triangle D l (theta T) (theta t)).
    assert (P := path_le D theta t T HT). rewrite (distance_sym D (theta T)) in K. lra.
  - intros c b H. apply (Z 0%nat). intros T _. specialize (H T). assert (K := distance_triangle D c (theta T) l).
    rewrite (distance_sym D (theta T)) in K. lra.
Qed.

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

(** On B: Φ has the gradient g, g the Jacobian H, and Φ is continuous *)
Definition smooth_on (D : nat) (Phi : vector -> R) (g : vector -> vector) (H : vector -> matrix) (B : vector ->
  Prop) : Prop :=
  (forall z, B z -> gradient D Phi z (g z) /\ jacobian_is D D g z (H z)) /\
  forall l eps, B l -> 0 < eps -> exists del, 0 < del /\ forall z, B z -> distance D l z < del ->
    Rabs (Phi z - Phi l) < eps.

(** ⟨w, H(z) w⟩ ≤ L ‖w‖² at the points of B where Φ ≤ top *)
Definition curvature_below (D : nat) (Phi : vector -> R) (H : vector -> matrix) (L top : R) (B : vector ->
  Prop) : Prop :=
  forall z w, B z -> Phi z <= top -> dot D w (matvec D (H z) w) <= L * sq D w.

(** A part k of a step lowers Φ by (1 − kL/2) k ‖∇Φ‖² at least. *)
Lemma part_descends D Phi g H B L z k : smooth_on D Phi g H B -> curvature_below D Phi H L (Phi z) B -> 0 <= k ->
  k * L < 2 -> (forall x, 0 <= x <= 1 -> B (part g z (x * k))) ->
  Phi (part g z k) <= Phi z - (1 - k * L / 2) * k * sq D (g z).
Proof.
  intros [HS _] HL Hk Hk2 HB. set (v := vscal (-1) (g z)).
  assert (P : forall x, part g z x = along z v x).
  { intros x. apply functional_extensionality; intros i. unfold part, along, vminus, v, vscal. ring. }
  assert (Bx : forall x, 0 <= x <= k -> B (along z v x)).
  { intros x Hx. rewrite <- P. destruct (Req_dec k 0) as [Z|Z].
    - replace x with (1 * k) by lra. apply HB. lra.
    - replace x with (x / k * k) by (field; easy). apply HB. split; [apply Rmult_le_pos; [easy|left;
      apply Rinv_0_lt_compat; lra]|].
      apply Rle_div_l; lra. }
  assert (Vv : sq D v = sq D (g z)) by (unfold v; rewrite sq_scal; ring).
  set (h := fun x => Phi (along z v x)). set (h1 := fun x => dot D v (g (along z v x))).
  set (h2 := fun x => dot D v (matvec D (H (along z v x)) v)).
  assert (D1 : forall x, 0 <= x <= k -> is_derive h x (h1 x)).
  { intros x Hx. unfold h1. rewrite dot_sym. now apply gradient_along, HS, Bx. }
  assert (D2 : forall x, 0 <= x <= k -> is_derive h1 x (h2 x)) by (intros x Hx; now apply jacobian_along, HS, Bx).
  assert (H0 : h1 0 = - sq D (g z)) by (unfold h1; rewrite along_0; unfold v; rewrite dot_scal_l, <- sq_dot; ring).
  assert (h0 : h 0 = Phi z) by (unfold h; now rewrite along_0). rewrite P. fold (h k).
  destruct (sq_ge0 D (g z)) as [G|G].
  - destruct (sublevel h h1 h2 (L * sq D (g z)) k) with (s := k) as [_ K]; try easy; try lra.
    + intros x Hx Hh. unfold h2. rewrite <- Vv. apply HL; [now apply Bx|]. rewrite <- h0. exact Hh.
    + rewrite H0. assert (0 < (1 - k * L / 2) * sq D (g z)) by (apply Rmult_lt_0_compat; lra). lra.
    + rewrite h0, H0 in K. lra.
  - assert (Z : forall x, h1 x = 0).
    { intros x. assert (C := cauchy_sq D v (g (along z v x))). rewrite Vv, <- G in C. unfold h1.
      assert (0 <= dot D v (g (along z v x)) ^ 2) by apply pow2_ge_0. nra. }
    rewrite <- G. assert (K := falls 0 k h h1 Hk D1 ltac:(intros; rewrite Z; lra)). lra.
Qed.

(** At a zero of Φ = e²/2 the gradient vanishes. *)
Lemma flat_at_zero D (e : vector -> R) z g : gradient D (fun z => e z ^ 2 / 2) z g -> e z = 0 -> vnorm D g = 0.
Proof.
  intros H E. specialize (H g). rewrite <- sq_dot in H. set (h := fun s => e (along z g s) ^ 2 / 2).
  change (is_derive h 0 (sq D g)) in H.
  assert (h0 : h 0 = 0) by (unfold h; rewrite along_0, E; field). unfold vnorm. rewrite <- sqrt_0. f_equal.
  destruct (sq_ge0 D g) as [G|]; [|easy]. exfalso. apply is_derive_Reals in H.
  destruct (H (sq D g) G) as [del Hd]. assert (d0 := cond_pos del).
  specialize (Hd (- (del / 2)) ltac:(lra) ltac:(rewrite Rabs_left; lra)). rewrite Rplus_0_l, h0, Rminus_0_r in Hd.
  apply Rabs_lt_between in Hd. assert (0 <= h (- (del / 2))) by (unfold h;
    assert (0 <= e (along z g (- (del / 2))) ^ 2) by apply pow2_ge_0; lra).
  assert (h (- (del / 2)) / - (del / 2) <= 0); [|lra]. unfold Rdiv at 1. rewrite Rinv_opp.
  assert (0 <= h (- (del / 2)) * / (del / 2)) by (apply Rmult_le_pos; [easy|left; apply Rinv_0_lt_compat; lra]). lra.
Qed.

(** Where Φ vanishes along a run that converges inside a set on which it is continuous, it vanishes at the limit. *)
Lemma zero_limit D Phi g H B theta l : smooth_on D Phi g H B -> (forall t, B (theta t)) -> B l -> converges D theta l ->
  is_lim_seq (fun t => Phi (theta t)) 0 -> 0 <= Phi l -> Phi l = 0.
Proof.
  intros [_ HC] HB Hl C Z P. destruct P as [P|]; [|easy]. exfalso.
  destruct (HC l (Phi l / 2) Hl ltac:(lra)) as [del [d0 Hd]].
  apply is_lim_seq_spec in C. apply is_lim_seq_spec in Z. destruct (C (mkposreal del d0)) as [N1 C1].
  assert (q : 0 < Phi l / 2) by lra. destruct (Z (mkposreal _ q)) as [N2 C2]. set (t := (N1 + N2)%nat).
  specialize (C1 t ltac:(unfold t; lia)). specialize (C2 t ltac:(unfold t; lia)). simpl in C1, C2.
  rewrite Rminus_0_r in C1, C2. assert (distance D l (theta t) < del) by (apply Rabs_lt_between in C1; lra).
  specialize (Hd (theta t) (HB t) H0). apply Rabs_lt_between in Hd. apply Rabs_lt_between in C2. lra.
Qed.
