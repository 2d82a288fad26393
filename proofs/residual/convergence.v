(** Why it converges: an error pays for the path. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.lines base.falling base.runs base.least_squares.
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
  { apply Rmult_le_compat_l; [lra|]. eapply Rle_trans; [apply Y|]. apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]. }
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

(** rt-theorem-c
    Covers: the whole statement.
    Reads: let J be the Jacobian of F : ℝᴰ → ℝⁿ on the ball of radius r around θ⁽⁰⁾, M-Lipschitz there, with ‖J(θ)ᵀw‖² ≥ s(u)²‖w‖² at distance u from the centre, s > 0 not increasing on [0, r]; let μ > 0, μ‖J(θ⁽ᵗ⁾)v‖² ≤ ‖v‖² for all iterates in the ball, U_t the length of the path after t steps. If μMe₀ < 1 and e₀/(1 − μMe₀) < ∫₀ʳ s, then every step's segment stays in the ball, the iterates converge to a θ* in it where F = y, ∫₀^{U_t} s ≤ (e₀ − e_t)/(1 − μMe₀), U_t ≤ r, and e_{t+1} ≤ (1 − μ s(U_t)²(1 − μMe_t/2)) e_t. If s(u) = s₀ − Mu with Mr < s₀, then e₀ < ∫₀ʳ s gives the same, with ∫₀^{U_t} s ≤ e₀ − e_t.
    Mistake: `RInt s 0 (path D theta t) <= c / 2 * (e 0%nat - e t)` for `RInt s 0 (path D theta t) <= c * (e 0%nat - e t)`
    Mistake: without `falling s r ->`
    Mistake: `4 * mu * sq n (matvec D (J (theta t)) v) <= sq D v / 4` for `mu * sq n (matvec D (J (theta t)) v) <= sq D v`
*)
Theorem rt_theorem_c : forall n D F J y theta mu M r (s : R -> R),
  let e t := error n F y (theta t) in
  let B z := distance D (theta 0%nat) z <= r in
  let safe c :=
    (forall t x, 0 <= x <= 1 -> B (along (theta t) (vminus (theta (S t)) (theta t)) x)) /\
    (forall t, path D theta t <= r /\ RInt s 0 (path D theta t) <= c * (e 0%nat - e t)) /\
    (forall t, e (S t) <= (1 - mu * s (path D theta t) ^ 2 * (1 - mu * M * e t / 2)) * e t) /\
    exists limit, B limit /\ converges D theta limit /\ (forall k, (k < n)%nat -> F limit k = y k) in
  0 < mu -> 0 <= M -> 0 <= r -> jacobian_on n D F J B -> lipschitz_jacobian n D J M B ->
  (forall u, 0 <= u <= r -> 0 < s u) -> falling s r ->
  (forall z w, B z -> s (distance D (theta 0%nat) z) ^ 2 * sq n w <= sq D (pullback n (J z) w)) ->
  descends mu (least_squares n F J y) theta ->
  (forall t v, B (theta t) -> mu * sq n (matvec D (J (theta t)) v) <= sq D v) ->
  (mu * M * e 0%nat < 1 -> e 0%nat / (1 - mu * M * e 0%nat) < RInt s 0 r -> safe (/ (1 - mu * M * e 0%nat))) /\
  (forall s0, (forall u, 0 <= u <= r -> s u = s0 - M * u) -> M * r < s0 -> e 0%nat < RInt s 0 r -> safe 1).
Proof.
  intros n D F J y theta mu M r s e B safe Hmu HM Hr HJ HL Hs Hf Hq Hd Hn.
  assert (common : forall c, 0 < c -> mu * M * e 0%nat < 1 ->
    (forall t, path D theta t <= r /\ RInt s 0 (path D theta t) <= c * (e 0%nat - e t)) -> safe c).
  { intros c Hc Hm HU. assert (He : forall t, e t <= e 0%nat).
    { intros t. destruct (HU t) as [A C]. now apply (c_falls n D F y theta r c s Hs Hf). }
    assert (Hin : forall t, B (theta t)) by (intros t; eapply Rle_trans; [apply from_start|apply HU]).
    split; [|split; [easy|split]].
    - intros t x Hx. apply ball_convex; [easy|apply Hin|apply Hin].
    - intros t. apply (c_rate n D F J y theta mu M r s); try easy; [apply HU|].
      assert (mu * M * e t <= mu * M * e 0%nat) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|apply He]).
      unfold e in *. lra.
    - destruct (c_end n D F J y theta mu M r s) as [l [A [C [K _]]]]; try easy; [apply HU|]. now exists l. }
  split.
  - intros Hm HR. set (q := 1 - mu * M * e 0%nat) in *. assert (0 < q) by (unfold q; lra).
    apply common; [now apply Rinv_0_lt_compat|easy|].
    apply (c_stays n D F J y theta mu r (/ q) s); try easy; [now apply Rinv_0_lt_compat|fold (e 0%nat); unfold Rdiv in HR; lra|].
    intros t k Hk HU He. assert (mu * M * error n F y (theta t) <= mu * M * e 0%nat)
      by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|exact He]).
    assert (P := c_pay n D F J y theta mu M r s HM HJ HL Hs Hf Hq Hn t k Hk HU ltac:(lra)).
    set (I := RInt s 0 _ - RInt s 0 _) in *. apply (Rmult_le_reg_l q); [easy|].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. eapply Rle_trans; [|exact P].
    apply Rmult_le_compat_r; [|unfold q; lra].
    assert (0 <= k * vnorm D (least_squares n F J y (theta t))) by (apply Rmult_le_pos; [lra|apply norm_ge0]).
    assert (G := RInt_grows s r (path D theta t) (path D theta t + k * vnorm D (least_squares n F J y (theta t))) Hf Hs
      (path_ge0 D theta t) ltac:(lra) HU). unfold I. lra.
  - intros s0 E Hs0 He.
    assert (Hm : mu * M * e 0%nat < 1).
    { destruct (Req_dec (e 0%nat) 0) as [->|Z]; [lra|]. assert (0 <= e 0%nat) by apply norm_ge0.
      destruct (c_facts n D F J y theta mu r s Hs Hf Hq Hn 0%nat mu) as [_ [A C]]; [lra|rewrite path_0; easy|].
      fold (e 0%nat) in A, C. rewrite path_0, (E 0) in C by lra.
      assert (mu * s0 ^ 2 <= 1) by (apply (Rmult_le_reg_r (e 0%nat ^ 2)); [apply pow_lt; lra|]; lra).
      rewrite (linear_area s s0 M r r E) in He by lra. destruct HM as [HM|<-]; [|lra].
      assert (M * (s0 * r - M / 2 * r ^ 2) <= s0 ^ 2 / 2) by (assert (Q := pow2_ge_0 (s0 - M * r)); lra).
      assert (M * e 0%nat < M * (s0 * r - M / 2 * r ^ 2)) by (apply Rmult_lt_compat_l; lra).
      assert (mu * (M * e 0%nat) < mu * (s0 ^ 2 / 2)) by (apply Rmult_lt_compat_l; lra). lra. }
    apply common; [lra|easy|]. apply (c_stays n D F J y theta mu r 1 s); try easy; [lra|fold (e 0%nat); lra|].
    intros t k Hk HU _. rewrite Rmult_1_l. now apply (c_pay_linear n D F J y theta mu M r s) with (s0 := s0).
Qed.
