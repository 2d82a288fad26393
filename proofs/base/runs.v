(** Runs of gradient descent: the path and its limit, least squares, and what a step on a quadratic takes. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.along.
Open Scope R_scope.

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

(** Jᵀ w for a matrix of n rows *)
Definition pullback (n : nat) (J : matrix) (w : vector) : vector := matvec n (transpose J) w.

Lemma sq_ext d x y : (forall i, (i < d)%nat -> x i = y i) -> sq d x = sq d y.
Proof. intros H. apply Sum_ext; intros. now rewrite H. Qed.

Lemma norm_ext d x y : (forall i, (i < d)%nat -> x i = y i) -> vnorm d x = vnorm d y.
Proof. intros H. unfold vnorm. now rewrite (sq_ext d x y H). Qed.

Lemma norm_zero d x : (forall i, (i < d)%nat -> x i = 0) -> vnorm d x = 0.
Proof.
  intros H. unfold vnorm, sq. rewrite (Sum_ext d _ (fun _ => 0)) by (intros; rewrite H by easy; ring).
  rewrite Sum_zero. apply sqrt_0.
Qed.

Lemma norm_opp d x y : vnorm d (vminus x y) = vnorm d (vminus y x).
Proof. unfold vnorm. f_equal. apply Sum_ext; intros. unfold vminus. ring. Qed.

Lemma coordinate d x i : (i < d)%nat -> Rabs (x i) <= vnorm d x.
Proof.
  intros H. unfold vnorm. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. rewrite Rsqr_pow2.
  apply (Sum_term d (fun i => x i ^ 2)); [easy|]. intros; apply pow2_ge_0.
Qed.

Lemma distance_triangle D a b c : distance D a c <= distance D a b + distance D b c.
Proof.
  unfold distance. rewrite (norm_ext D (vminus c a) (vplus (vminus b a) (vminus c b)))
    by (intros; unfold vminus, vplus; ring). apply norm_triangle.
Qed.

Lemma distance_sym D a b : distance D a b = distance D b a.
Proof. apply norm_opp. Qed.

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

Lemma matvec_minus D J v w : matvec D J (vminus v w) = vminus (matvec D J v) (matvec D J w).
Proof.
  apply functional_extensionality; intros k. unfold matvec, vminus. rewrite <- Sum_minus. apply Sum_ext; intros; ring.
Qed.
