(** A run of gradient descent on least squares whose errors pay for its path. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.along base.falling base.runs base.least_squares.
Open Scope R_scope.

(** A run of theorem C, if parts of steps pay for the path. *)
Section run_of_theorem_c.
Variables (n D : nat) (F : vector -> vector) (J : vector -> matrix) (y : vector) (theta : nat -> vector) (mu M r c : R).
Variable s : R -> R.
Let e t := error n F y (theta t).
Let U := path D theta.
Let grad := least_squares n F J y.
Let G t := vnorm D (grad (theta t)).
Let B z := distance D (theta 0%nat) z <= r.
Hypotheses (Hmu : 0 < mu) (HM : 0 <= M) (Hr : 0 <= r) (HJ : jacobian_on n D F J B)
  (HL : lipschitz_jacobian n D J M B) (Hs : forall u, 0 <= u <= r -> 0 < s u) (Hf : falling s r)
  (Hq : forall z w, B z -> s (distance D (theta 0%nat) z) ^ 2 * sq n w <= sq D (pullback n (J z) w))
  (Hd : descends mu grad theta) (Hn : forall t v, B (theta t) -> mu * sq n (matvec D (J (theta t)) v) <= sq D v).

Lemma c_part t k : 0 <= k -> U t + k * G t <= r -> forall x, 0 <= x <= 1 -> B (part grad (theta t) (x * k)).
Proof.
  intros Hk H x Hx. unfold B. eapply Rle_trans; [apply part_near; apply Rmult_le_pos; lra|]. fold (G t). fold (U t).
  assert (x * k * G t <= 1 * k * G t) by (apply Rmult_le_compat_r; [apply norm_ge0|apply Rmult_le_compat_r; lra]). lra.
Qed.

Lemma c_in t : U t <= r -> B (theta t).
Proof. intros H. unfold B. eapply Rle_trans; [apply from_start|exact H]. Qed.

(** The three numbers, with s at the length of the path. *)
Lemma c_facts t k : 0 <= k <= mu -> U t <= r ->
  linear_error n D F J y (theta t) k ^ 2 <= (1 - k * s (U t) ^ 2) * (e t ^ 2 - k * G t ^ 2) /\
  k * G t ^ 2 <= e t ^ 2 /\ k * (s (U t) ^ 2 * e t ^ 2) <= k * G t ^ 2.
Proof.
  intros Hk HU. apply (step_facts n D F J y (theta t) mu); [easy|intros v; apply Hn, c_in, HU|].
  intros w. eapply Rle_trans; [|apply Hq, c_in, HU]. apply Rmult_le_compat_r; [apply sq_ge0|].
  assert (0 <= U t) by apply path_ge0. apply pow_incr. split; [left; apply Hs; lra|].
  apply Hf; [apply norm_ge0|apply from_start|easy].
Qed.

Lemma c_error t k : 0 <= k -> U t + k * G t <= r ->
  error n F y (part grad (theta t) k) <= linear_error n D F J y (theta t) k + M / 2 * (k * G t) ^ 2.
Proof. intros Hk H. apply (part_error n D F J M B); try easy. now apply c_part. Qed.

(** Any s: (1 − μ M e_t)(∫ s over the part) ≤ e_t − e. *)
Lemma c_pay t k : 0 <= k <= mu -> U t + k * G t <= r -> mu * M * e t < 1 ->
  (1 - mu * M * e t) * (RInt s 0 (U t + k * G t) - RInt s 0 (U t)) <= e t - error n F y (part grad (theta t) k).
Proof.
  intros Hk H Hm. assert (0 <= k * G t) by (apply Rmult_le_pos; [lra|apply norm_ge0]).
  destruct (c_facts t k) as [A [B1 C]]; [easy|lra|]. assert (P := path_ge0 D theta t). fold (U t) in P.
  destruct (pays (e t) (linear_error n D F J y (theta t) k) (G t) k (s (U t))) as [X Y];
    try easy; try apply norm_ge0; [left; apply Hs; lra|].
  assert (Z := c_error t k ltac:(lra) H). assert (S := RInt_step s r (U t) (k * G t) Hf P ltac:(easy) H).
  set (l := linear_error n D F J y (theta t) k) in *. set (p := error n F y _) in *.
  assert (0 <= e t) by apply norm_ge0. assert (0 <= e t - l).
  { eapply Rle_trans; [|apply X]. apply Rmult_le_pos; [left; apply Hs; lra|easy]. }
  assert (M / 2 * (k * G t) ^ 2 <= M / 2 * (2 * mu * (e t * (e t - l)))).
  { apply Rmult_le_compat_l; [lra|]. eapply Rle_trans; [apply Y|]. apply Rmult_le_compat_r; [apply Rmult_le_pos;
    lra|lra]. }
  apply (Rle_trans _ ((1 - mu * M * e t) * (e t - l))); [|lra]. apply Rmult_le_compat_l; lra.
Qed.

(** s(u) = s₀ − M u: ∫ s over the part ≤ e_t − e. *)
Lemma c_pay_linear s0 t k : (forall u, 0 <= u <= r -> s u = s0 - M * u) -> 0 <= k <= mu -> U t + k * G t <= r ->
  RInt s 0 (U t + k * G t) - RInt s 0 (U t) <= e t - error n F y (part grad (theta t) k).
Proof.
  intros E Hk H. assert (0 <= k * G t) by (apply Rmult_le_pos; [lra|apply norm_ge0]).
  destruct (c_facts t k) as [A [B1 C]]; [easy|lra|]. assert (P := path_ge0 D theta t). fold (U t) in P.
  destruct (pays (e t) (linear_error n D F J y (theta t) k) (G t) k (s (U t))) as [X _];
    try easy; try apply norm_ge0; [left; apply Hs; lra|].
  assert (Z := c_error t k ltac:(lra) H). rewrite (E (U t)) in X by lra.
  rewrite !(linear_area s s0 M r) by (easy || lra). lra.
Qed.

Lemma c_falls t : U t <= r -> 0 < c -> RInt s 0 (U t) <= c * (e 0%nat - e t) -> e t <= e 0%nat.
Proof.
  intros H Hc K. assert (P := path_ge0 D theta t). fold (U t) in P.
  assert (L := RInt_floor s (U t) (U t) ltac:(intros u v ? ? ?; apply Hf; lra) ltac:(lra)).
  assert (0 <= U t * s (U t)) by (apply Rmult_le_pos; [easy|left; apply Hs; lra]).
  assert (0 <= e 0%nat - e t); [|lra]. apply (Rmult_le_reg_l c); lra.
Qed.

Lemma c_stays : 0 < c -> c * e 0%nat < RInt s 0 r ->
  (forall t k, 0 <= k <= mu -> U t + k * G t <= r -> e t <= e 0%nat ->
    RInt s 0 (U t + k * G t) - RInt s 0 (U t) <= c * (e t - error n F y (part grad (theta t) k))) ->
  forall t, U t <= r /\ RInt s 0 (U t) <= c * (e 0%nat - e t).
Proof.
  intros Hc He Hp. induction t as [|t [H K]].
  - unfold U. rewrite path_0. split; [easy|]. rewrite RInt_point. unfold zero; simpl. lra.
  - assert (Q := c_falls t H Hc K). destruct (exit mu (G t) (U t) r) as [k [Hk [A B1]]];
      [lra|apply norm_ge0|easy|]. specialize (Hp t k Hk A Q).
    assert (E0 := error_ge0 n F y (part grad (theta t) k)). destruct B1 as [->|[B1 _]].
    + assert (E : U (S t) = U t + mu * G t) by (apply path_step; [lra|easy]). rewrite <- E in *.
      assert (e (S t) = error n F y (part grad (theta t) mu)) by (unfold e; now rewrite (Hd t)).
      split; [easy|]. rewrite <- H0 in *. lra.
    + rewrite B1 in Hp. assert (0 <= c * error n F y (part grad (theta t) k)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma c_rate t : U (S t) <= r -> mu * M * e t < 1 ->
  e (S t) <= (1 - mu * s (U t) ^ 2 * (1 - mu * M * e t / 2)) * e t.
Proof.
  intros H Hm. assert (E : U (S t) = U t + mu * G t) by (apply path_step; [lra|easy]). rewrite E in H.
  assert (0 <= mu * G t) by (apply Rmult_le_pos; [lra|apply norm_ge0]).
  destruct (c_facts t mu) as [A [B1 C]]; [lra|lra|]. assert (Z := c_error t mu ltac:(lra) H).
  assert (R := rate (e t) _ (G t) mu (s (U t)) (mu * M) ltac:(lra) (norm_ge0 _ _) (norm_ge0 _ _) Hm A B1 C).
  unfold e at 1. rewrite (Hd t). eapply Rle_trans; [apply Z|]. eapply Rle_trans; [|apply R].
  apply Rplus_le_compat_l. right. field.
Qed.

Lemma c_end : (forall t, U t <= r) -> (forall t, e t <= e 0%nat) -> mu * M * e 0%nat < 1 ->
  exists limit, B limit /\ converges D theta limit /\ (forall k, (k < n)%nat -> F limit k = y k) /\
  forall t b, (forall T, (t <= T)%nat -> U T - U t <= b) -> distance D limit (theta t) <= b.
Proof.
  intros H He Hm. destruct (finite_path D theta r H) as [l [C [L K]]]. exists l.
  assert (Bl : B l) by (apply K; intros t; apply c_in, H).
  repeat split; [easy|easy| |easy]. apply (error_limit n D F J M B y theta l); try easy.
  - intros t x Hx. unfold B. apply ball_convex; [easy|easy|apply c_in, H].
  - assert (Sr : 0 < s r) by (apply Hs; lra).
    apply (geometric_limit e (mu * s r ^ 2 / 2)); [|intros; apply norm_ge0|].
    { assert (0 < mu * s r ^ 2) by (apply Rmult_lt_0_compat; [easy|now apply pow_lt]). lra. }
    intros t. assert (E0 : 0 <= e t) by apply norm_ge0. specialize (He t).
    assert (mu * M * e t <= mu * M * e 0%nat) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|easy]).
    eapply Rle_trans; [apply c_rate; [apply H|lra]|]. apply Rmult_le_compat_r; [easy|].
    assert (Q : s r ^ 2 <= s (U t) ^ 2).
    { apply pow_incr. split; [lra|]. apply Hf; [apply path_ge0|apply H|lra]. }
    assert (0 <= mu * s r ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
    assert (mu * s r ^ 2 <= mu * s (U t) ^ 2) by (apply Rmult_le_compat_l; lra).
    assert (mu * s r ^ 2 * (1 / 2) <= mu * s (U t) ^ 2 * (1 - mu * M * e t / 2)) by (apply Rmult_le_compat; lra). lra.
Qed.
End run_of_theorem_c.

(** ‖F(z′) − F(z)‖ ≤ C ‖z′ − z‖ where ‖J‖ ≤ C on the segment *)
Lemma mean_value n D F J C B z v : 0 <= C -> jacobian_on n D F J B ->
  (forall x, 0 <= x <= 1 -> B (along z v x)) -> (forall z w, B z -> vnorm n (matvec D (J z) w) <= C * vnorm D w) ->
  vnorm n (vminus (F (along z v 1)) (F z)) <= C * vnorm D v.
Proof.
  intros H0 HJ HB HC. set (w := vminus _ _). set (K := vnorm n w * (C * vnorm D v)).
  assert (L := falls 0 1 (fun x => dot n w (F (along z v x)) - K * x)
    (fun x => dot n w (matvec D (J (along z v x)) v) - K) ltac:(lra)). cbv beta in L. rewrite along_0 in L.
  assert (A : dot n w (F (along z v 1)) - K * 1 <= dot n w (F z) - K * 0).
  { apply L; intros x Hx.
    - apply (is_derive_minus (fun x => dot n w (F (along z v x))) (fun x => K * x));
      [apply jacobian_along, HJ, HB, Hx|].
      auto_derive; [easy|ring].
    - assert (P := Rle_trans _ _ _ (Rle_abs _) (cauchy n w (matvec D (J (along z v x)) v))).
      assert (vnorm n w * vnorm n (matvec D (J (along z v x)) v) <= K)
        by (apply Rmult_le_compat_l; [apply norm_ge0|apply HC, HB, Hx]). lra. }
  assert (Q : vnorm n w ^ 2 <= vnorm n w * (C * vnorm D v)).
  { rewrite norm_sq, sq_dot. unfold w at 2. rewrite dot_minus_r. fold K. lra. }
  assert (P := norm_ge0 n w). destruct (Req_dec (vnorm n w) 0) as [->|]; [|nra].
  apply Rmult_le_pos; [easy|apply norm_ge0].
Qed.

(** ‖B v‖ ≤ c ‖v‖ for all v gives ‖Bᵀ w‖ ≤ c ‖w‖. *)
Lemma transpose_norm n D A c : 0 <= c -> (forall v, vnorm n (matvec D A v) <= c * vnorm D v) ->
  forall w, vnorm D (pullback n A w) <= c * vnorm n w.
Proof.
  intros Hc H w. set (g := pullback n A w). assert (E : vnorm D g ^ 2 = dot n w (matvec D A g))
    by (rewrite adjoint, norm_sq; apply sq_dot).
  assert (C := Rle_trans _ _ _ (Rle_abs _) (cauchy n w (matvec D A g))). specialize (H g).
  assert (P := norm_ge0 D g). assert (Q := norm_ge0 n w).
  assert (vnorm n w * vnorm n (matvec D A g) <= vnorm n w * (c * vnorm D g)) by now apply Rmult_le_compat_l.
  destruct (Req_dec (vnorm D g) 0) as [->|]; [now apply Rmult_le_pos|]. apply (Rmult_le_reg_r (vnorm D g)); [lra|]. nra.
Qed.

(** ‖J(z)ᵀ w − J(z′)ᵀ w‖ ≤ M ‖z − z′‖ ‖w‖ *)
Lemma transpose_lipschitz n D J M B z z' w : 0 <= M -> lipschitz_jacobian n D J M B -> B z -> B z' ->
  vnorm D (vminus (pullback n (J z) w) (pullback n (J z') w)) <= M * distance D z' z * vnorm n w.
Proof.
  intros H0 HL Hz Hz'. set (A := fun i j => J z i j - J z' i j).
  rewrite (norm_ext D _ (pullback n A w)).
  - apply transpose_norm; [apply Rmult_le_pos; [easy|apply norm_ge0]|]. intros v.
    rewrite (norm_ext n _ (vminus (matvec D (J z) v) (matvec D (J z') v))); [now apply HL|].
    intros i _. unfold A, matvec, vminus. rewrite <- Sum_minus. apply Sum_ext; intros; ring.
  - intros i _. unfold A, pullback, matvec, transpose, vminus. rewrite <- Sum_minus. apply Sum_ext; intros; ring.
Qed.

(** ‖J(z) v‖ ≤ (j₀ + M r)‖v‖ on the ball of radius r around c, if ‖J(c) v‖ ≤ j₀ ‖v‖. *)
Lemma jacobian_bound n D J M c r j0 z v : 0 <= M -> 0 <= r ->
  lipschitz_jacobian n D J M (fun z => distance D c z <= r) ->
    (forall v, vnorm n (matvec D (J c) v) <= j0 * vnorm D v) ->
  distance D c z <= r -> vnorm n (matvec D (J z) v) <= (j0 + M * r) * vnorm D v.
Proof.
  intros HM Hr HL Hj Hz. assert (Hc : distance D c c <= r) by (rewrite distance_self; easy).
  assert (L := HL z c v Hz Hc). specialize (Hj v).
  rewrite (norm_ext n (matvec D (J z) v) (vplus (matvec D (J c) v) (vminus (matvec D (J z) v) (matvec D (J c) v))))
    by (intros; unfold vplus, vminus; ring).
  eapply Rle_trans; [apply norm_triangle|]. assert (P := norm_ge0 D v).
  assert (M * distance D c z * vnorm D v <= M * r * vnorm D v)
    by (apply Rmult_le_compat_r; [easy|now apply Rmult_le_compat_l]). lra.
Qed.
