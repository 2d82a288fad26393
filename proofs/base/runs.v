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

(** E = F(z) − y, and e = ‖E‖ *)
Definition errors (F : vector -> vector) (y z : vector) : vector := vminus (F z) y.
Definition error (n : nat) (F : vector -> vector) (y z : vector) : R := vnorm n (errors F y z).

(** Jᵀ E, the gradient of ½‖F − y‖² *)
Definition least_squares (n : nat) (F : vector -> vector) (J : vector -> matrix) (y z : vector) : vector :=
  pullback n (J z) (errors F y z).

(** ‖(J(z) − J(z′)) v‖ ≤ M ‖z − z′‖ ‖v‖ on B *)
Definition lipschitz_jacobian (n D : nat) (J : vector -> matrix) (M : R) (B : vector -> Prop) : Prop :=
  forall z z' v, B z -> B z' ->
    vnorm n (vminus (matvec D (J z) v) (matvec D (J z') v)) <= M * distance D z' z * vnorm D v.

(** J is the Jacobian of F on B *)
Definition jacobian_on (n D : nat) (F : vector -> vector) (J : vector -> matrix) (B : vector -> Prop) : Prop :=
  forall z, B z -> jacobian_at n D F z (J z).

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

Lemma dot_ext d x y x' y' : (forall i, (i < d)%nat -> x i = x' i) -> (forall i, (i < d)%nat -> y i = y' i) ->
  dot d x y = dot d x' y'.
Proof. intros H K. apply Sum_ext; intros. now rewrite H, K. Qed.

Lemma dot_plus_r d x y z : dot d x (vplus y z) = dot d x y + dot d x z.
Proof. rewrite dot_sym, dot_plus_l, (dot_sym d y), (dot_sym d z). ring. Qed.

Lemma dot_minus_r d x y z : dot d x (vminus y z) = dot d x y - dot d x z.
Proof. rewrite dot_sym, dot_minus_l, (dot_sym d y), (dot_sym d z). ring. Qed.

Lemma dot_scal_r d c x y : dot d x (vscal c y) = c * dot d x y.
Proof. rewrite dot_sym, dot_scal_l, (dot_sym d y). ring. Qed.

(** ⟨w, J v⟩ = ⟨Jᵀ w, v⟩ *)
Lemma adjoint n D J w v : dot n w (matvec D J v) = dot D (pullback n J w) v.
Proof.
  unfold dot, pullback, matvec, transpose.
  rewrite (Sum_ext n _ (fun k => Sum D (fun j => w k * (J k j * v j)))) by (intros; now rewrite Sum_scal).
  rewrite Sum_swap. apply Sum_ext; intros j _.
  rewrite <- (Rmult_comm (v j)), <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma matvec_scal D J c v : matvec D J (vscal c v) = vscal c (matvec D J v).
Proof.
  apply functional_extensionality; intros k. unfold matvec, vscal. rewrite <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma matvec_minus D J v w : matvec D J (vminus v w) = vminus (matvec D J v) (matvec D J w).
Proof.
  apply functional_extensionality; intros k. unfold matvec, vminus. rewrite <- Sum_minus. apply Sum_ext; intros; ring.
Qed.

Lemma matvec_plus D J v w : matvec D J (vplus v w) = vplus (matvec D J v) (matvec D J w).
Proof.
  apply functional_extensionality; intros k. unfold matvec, vplus. rewrite <- Sum_plus. apply Sum_ext; intros; ring.
Qed.

(** ‖J v‖ ≤ c ‖v‖ for all v gives the same for Jᵀ. *)
Lemma transpose_bound n D J mu : 0 <= mu -> (forall v, mu * sq n (matvec D J v) <= sq D v) ->
  forall w, mu * sq D (pullback n J w) <= sq n w.
Proof.
  intros Hm H w. set (g := pullback n J w). assert (E : sq D g = dot n w (matvec D J g)) by (rewrite adjoint;
    apply sq_dot).
  assert (C := cauchy_sq n w (matvec D J g)). rewrite <- E in C. specialize (H g).
  assert (0 <= sq D g) by apply sq_ge0. assert (0 <= sq n w) by apply sq_ge0.
  assert (K : mu * sq D g ^ 2 <= sq n w * sq D g).
  { apply (Rle_trans _ (mu * (sq n w * sq n (matvec D J g)))); [now apply Rmult_le_compat_l|].
    replace (mu * (sq n w * sq n (matvec D J g))) with (sq n w * (mu * sq n (matvec D J g))) by ring.
    now apply Rmult_le_compat_l. }
  destruct (Req_dec (sq D g) 0) as [->|]; [lra|]. apply (Rmult_le_reg_r (sq D g)); [lra|]. lra.
Qed.

(** ‖(I − k JJᵀ) E‖² ≤ (1 − k s)(‖E‖² − k ‖Jᵀ E‖²) if s I ≤ JJᵀ ≤ I/k. *)
Lemma contraction n D J E k s : 0 <= k -> (forall w, k * sq D (pullback n J w) <= sq n w) ->
  (forall w, s * sq n w <= sq D (pullback n J w)) ->
  sq n (vminus E (vscal k (matvec D J (pullback n J E)))) <= (1 - k * s) * (sq n E - k * sq D (pullback n J E)).
Proof.
  intros Hk H1 H2. set (g := pullback n J E). set (E' := vminus E (vscal k (matvec D J g))).
  set (c := fun w => sq n w - k * sq D (pullback n J w)).
  assert (P : forall w, 0 <= c w) by (intros w; specialize (H1 w); unfold c; lra).
  assert (L : forall w, c w <= (1 - k * s) * sq n w).
  { intros w. assert (k * (s * sq n w) <= k * sq D (pullback n J w)) by now apply Rmult_le_compat_l. unfold c. lra. }
  assert (N : sq n E' = dot n E E' - k * dot D g (pullback n J E')).
  { rewrite sq_dot. unfold E' at 1. rewrite dot_minus_l, dot_scal_l, (dot_sym n (matvec D J g)), adjoint.
    now rewrite (dot_sym D g). }
  assert (Q : forall t, 0 <= c E - 2 * t * sq n E' + t ^ 2 * c E').
  { intros t. specialize (P (vminus E (vscal t E'))). unfold c in *.
    replace (pullback n J (vminus E (vscal t E'))) with (vminus g (vscal t (pullback n J E'))) in P
      by (unfold g, pullback; now rewrite matvec_minus, matvec_scal).
    rewrite !sq_minus, !sq_scal, !dot_scal_r in P. rewrite N at 1. fold g. lra. }
  assert (L1 := L E). assert (L2 := L E'). assert (P1 := P E). assert (P2 := P E').
  assert (0 <= sq n E') by apply sq_ge0. assert (0 <= sq n E) by apply sq_ge0.
  change (sq n E - k * sq D g) with (c E). set (q := 1 - k * s) in *.
  destruct (Rle_lt_dec q 0) as [Hq|Hq].
  - assert (c E <= 0) by nra. assert (c E = 0) by lra. assert (c E' <= 0) by nra. specialize (Q 1).
    assert (q * c E = 0) by (replace (c E) with 0 by lra; ring). lra.
  - specialize (Q (/ q)). apply (Rmult_le_compat_l q) in Q; [|lra].
    assert (q * (/ q ^ 2 * c E') <= sq n E').
    { replace (q * (/ q ^ 2 * c E')) with (c E' / q) by (field; lra). apply Rle_div_l; lra. }
    replace (q * (c E - 2 * / q * sq n E' + (/ q) ^ 2 * c E')) with (q * c E - 2 * sq n E' + q * (/ q ^ 2 * c E'))
      in Q by (field; lra). lra.
Qed.

(** ‖F(z + v) − F(z) − J(z) v‖ ≤ M ‖v‖²/2 *)
Lemma remainder n D F J M B z v : 0 <= M -> jacobian_on n D F J B -> lipschitz_jacobian n D J M B -> 
  (forall s, 0 <= s <= 1 -> B (along z v s)) ->
  vnorm n (vminus (vminus (F (along z v 1)) (F z)) (matvec D (J z) v)) <= M / 2 * sq D v.
Proof.
  intros H0 HJ HM HB. set (w := vminus _ _).
  assert (K := quadratic (fun s => dot n w (F (along z v s))) (fun s => dot n w (matvec D (J (along z v s)) v))
    (vnorm n w * M * sq D v) 1 ltac:(lra)). simpl in K. rewrite !along_0 in K.
  assert (L : dot n w (F (along z v 1)) <=
    dot n w (F z) + dot n w (matvec D (J z) v) * 1 + vnorm n w * M * sq D v / 2 * (1 * (1 * 1))).
  { apply K; [intros s Hs; apply jacobian_along, HJ, HB, Hs|]. intros s Hs.
    specialize (HM (along z v s) z v (HB s Hs)). assert (B z) by (rewrite <- (along_0 z v); apply HB; lra).
    specialize (HM H). assert (Dz : distance D z (along z v s) = s * vnorm D v).
    { unfold distance. rewrite (norm_ext D _ (vscal s v)) by (intros; unfold vminus, along, vscal; ring).
      rewrite norm_scal, Rabs_right by lra. easy. }
    rewrite Dz in HM. assert (C := Rle_trans _ _ _ (Rle_abs _)
      (cauchy n w (vminus (matvec D (J (along z v s)) v) (matvec D (J z) v)))).
    rewrite dot_minus_r in C. assert (0 <= vnorm n w) by apply norm_ge0. rewrite <- norm_sq.
    assert (vnorm n w * vnorm n (vminus (matvec D (J (along z v s)) v) (matvec D (J z) v)) <=
      vnorm n w * (M * (s * vnorm D v) * vnorm D v)) by now apply Rmult_le_compat_l. nra. }
  assert (W : vnorm n w ^ 2 <= vnorm n w * (M / 2 * sq D v)).
  { rewrite norm_sq, sq_dot. unfold w at 2. rewrite !dot_minus_r. lra. }
  assert (P := norm_ge0 n w). destruct (Req_dec (vnorm n w) 0) as [Z|]; [|nra].
  rewrite Z. apply Rmult_le_pos; [lra|apply sq_ge0].
Qed.
