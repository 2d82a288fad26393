(** Chapter "A recurrence, for contrast": backpropagation through time, and the cutoff. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.activations.
Open Scope R_scope.

(** h₀ = 0, h_t = σ(x_t + w h_{t−1}); the drive x_t of time t has the index t − 1, and so has z_t = x_t + w h_{t−1} *)
Fixpoint state (sigma : R -> R) (w : R) (x : vector) (t : nat) : R :=
  match t with O => 0 | S t' => sigma (x t' + w * state sigma w x t') end.

(** z_t = x_t + w h_{t−1} *)
Definition seen (sigma : R -> R) (w : R) (x : vector) (t : nat) : R := x t + w * state sigma w x t.

(** q₀ = 0, q_t = σ′(z_t)(ξ_t + w q_{t−1}): p_t for ξ_t = h_{t−1}, and one coordinate of P_t for ξ_t = (X_t)_k *)
Fixpoint forwards (sigma sigma' : R -> R) (w : R) (x xi : vector) (t : nat) : R :=
  match t with O => 0 | S t' => sigma' (seen sigma w x t') * (xi t' + w * forwards sigma sigma' w x xi t') end.

(** b_T = σ′(z_T) and b_{T−k} = w σ′(z_{T−k}) b_{T−k+1} *)
Fixpoint back (sigma sigma' : R -> R) (w : R) (x : vector) (T k : nat) : R :=
  match k with
  | O => sigma' (seen sigma w x (T - 1))
  | S k' => w * sigma' (seen sigma w x (T - 1 - k)) * back sigma sigma' w x T k'
  end.

(** The state k steps after a time t at which the unit sees z *)
Fixpoint replay (sigma : R -> R) (w : R) (x : vector) (t : nat) (z : R) (k : nat) : R :=
  match k with O => sigma z | S k' => sigma (x (t + k)%nat + w * replay sigma w x t z k') end.

Section Unit.
Variables (sigma sigma' : R -> R).
Hypothesis Hs : forall z, is_derive sigma z (sigma' z).

Lemma replay_state w x t k : replay sigma w x t (seen sigma w x t) k = state sigma w x (t + S k)%nat.
Proof.
  induction k; cbn [replay]; [now replace (t + 1)%nat with (S t) by lia|].
  rewrite IHk. now replace (t + S (S k))%nat with (S (t + S k))%nat by lia.
Qed.

Lemma replay_derive w x t k :
  is_derive (fun z => replay sigma w x t z k) (seen sigma w x t) (back sigma sigma' w x (t + S k) k).
Proof.
  assert (B : forall m l, back sigma sigma' w x (S m) (S l) = w * sigma' (seen sigma w x m) * back sigma sigma' w x m
    l \/ (m <= l)%nat).
  { intros m l. destruct (le_lt_dec m l) as [|L]; [now right|left]. induction l.
    - cbn [back]. replace (S m - 1 - 1)%nat with (m - 1)%nat by lia. replace (S m - 1)%nat with m by lia. ring.
    - change (back sigma sigma' w x (S m) (S (S l))) with
        (w * sigma' (seen sigma w x (S m - 1 - S (S l))) * back sigma sigma' w x (S m) (S l)).
      rewrite IHl by lia. cbn [back]. replace (S m - 1 - S (S l))%nat with (m - 1 - S l)%nat by lia. ring. }
  induction k.
  - cbn [replay back]. replace (t + 1 - 1)%nat with t by lia. apply Hs.
  - replace (t + S (S k))%nat with (S (t + S k)) by lia. destruct (B (t + S k)%nat k) as [->|L]; [|lia]. cbn [replay].
    assert (D := Hs (x (t + S k)%nat + w * replay sigma w x t (seen sigma w x t) k)).
    rewrite replay_state in D.
    assert (C : is_derive (fun z => x (t + S k)%nat + w * replay sigma w x t z k) (seen sigma w x t)
      (w * back sigma sigma' w x (t + S k) k)).
    { evar_last; [apply (is_derive_plus (fun _ => x (t + S k)%nat)); [apply is_derive_const|apply is_derive_scal,
      IHk]|].
      unfold plus, zero; simpl. ring. }
    evar_last; [apply (is_derive_comp sigma); [rewrite replay_state; exact D|exact C]|].
    unfold scal; simpl; unfold mult; simpl. unfold seen. ring.
Qed.

(** The sum over the past is the recursion forwards. *)
Lemma forwards_sum w x xi T :
  forwards sigma sigma' w x xi T = Sum T (fun t => back sigma sigma' w x T (T - 1 - t) * xi t).
Proof.
  induction T; [reflexivity|]. cbn [forwards Sum]. rewrite IHT. replace (S T - 1 - T)%nat with O by lia.
  cbn [back]. replace (S T - 1)%nat with T by lia.
  rewrite (Sum_ext T (fun t => back sigma sigma' w x (S T) (T - t) * xi t)
    (fun t => w * sigma' (seen sigma w x T) * (back sigma sigma' w x T (T - 1 - t) * xi t))).
  - rewrite Sum_scal. ring.
  - intros t Ht. replace (T - t)%nat with (S (T - 1 - t)) by lia.
    assert (B : forall l, (l < T)%nat ->
      back sigma sigma' w x (S T) (S l) = w * sigma' (seen sigma w x T) * back sigma sigma' w x T l).
    { induction l; intros Hl.
      - cbn [back]. replace (S T - 1 - 1)%nat with (T - 1)%nat by lia. replace (S T - 1)%nat with T by lia. ring.
      - change (back sigma sigma' w x (S T) (S (S l))) with
          (w * sigma' (seen sigma w x (S T - 1 - S (S l))) * back sigma sigma' w x (S T) (S l)).
        rewrite IHl by lia. cbn [back]. replace (S T - 1 - S (S l))%nat with (T - 1 - S l)%nat by lia. ring. }
    rewrite B by lia. ring.
Qed.

(** Moving the weight at the speed w′ and the drives at the speeds x′ *)
Lemma state_derive w w' x x' t :
  is_derive (fun e => state sigma (w + e * w') (fun s => x s + e * x' s) t) 0
    (forwards sigma sigma' w x (fun s => x' s + w' * state sigma w x s) t).
Proof.
  induction t; cbn [state forwards]; [apply (is_derive_const 0)|].
  assert (Z : state sigma (w + 0 * w') (fun s => x s + 0 * x' s) t = state sigma w x t).
  { replace (w + 0 * w') with w by ring. clear. induction t; cbn [state]; [easy|]. rewrite IHt. f_equal. ring. }
  set (F := fun e => state sigma (w + e * w') (fun s => x s + e * x' s) t) in *.
  assert (C : is_derive (fun e => (x t + e * x' t) + (w + e * w') * F e) 0
    (x' t + (w' * F 0 + w * forwards sigma sigma' w x (fun s => x' s + w' * state sigma w x s) t))).
  { apply (is_derive_plus (fun e => x t + e * x' t) (fun e => (w + e * w') * F e)); [auto_derive; [easy|ring]|].
    evar_last; [apply (is_derive_mult (fun e => w + e * w') F); [auto_derive; [easy|reflexivity]|exact IHt|exact
      Rmult_comm]|].
    unfold plus, mult; simpl. ring. }
  evar_last; [apply (is_derive_comp sigma (fun e => (x t + e * x' t) + (w + e * w') * F e) 0 _ _ (Hs _) C)|].
  unfold scal; simpl; unfold mult; simpl. unfold F. rewrite Z. unfold seen.
  replace (x t + 0 * x' t + (w + 0 * w') * state sigma w x t) with (x t + w * state sigma w x t) by ring. ring.
Qed.

End Unit.

(** kr-proposition-2-gradient
    Covers: the whole statement, for every activation with a derivative; the gradient as the derivative along every direction.
    Reads: for m units, T tokens and h_t, z_t of the chapter: b_T = σ′(z_T) and b_t = w σ′(z_t) b_{t+1}; b_t is the derivative of h_T in z_t; along every direction (c′, U′, w′) the derivative of f_rnn is m^(−1/2) Σ_i [c′_i h_T + c_i(⟨U′_i, Σ b_t X_t⟩ + w′_i p_T)] with p_T = Σ b_t h_{t−1}, and p₀ = 0, p_t = σ′(z_t)(h_{t−1} + w p_{t−1}).
    Mistake: `Sum T (fun t => b i t * h i (S t))` for `Sum T (fun t => b i t * h i t)`
    Mistake: `b i t = sigma' (seen sigma (w i) (x i) t) * b i (S t)` for `b i t = w i * sigma' (seen sigma (w i) (x i) t) * b i (S t)`
*)
Theorem kr_proposition_2_gradient : forall sigma sigma' m d T (c w : vector) (U X : matrix),
  (forall z, is_derive sigma z (sigma' z)) ->
  let x := fun i t => dot d (U i) (X t) in
  let h := fun i => state sigma (w i) (x i) in
  let b := fun i t => back sigma sigma' (w i) (x i) T (T - 1 - t) in
  let p := fun i => forwards sigma sigma' (w i) (x i) (h i) in
  (forall i t, (S t = T -> b i t = sigma' (seen sigma (w i) (x i) t)) /\
    ((S t < T)%nat -> b i t = w i * sigma' (seen sigma (w i) (x i) t) * b i (S t))) /\
  (forall i t, (t < T)%nat -> replay sigma (w i) (x i) t (seen sigma (w i) (x i) t) (T - 1 - t) = h i T /\
    is_derive (fun z => replay sigma (w i) (x i) t z (T - 1 - t)) (seen sigma (w i) (x i) t) (b i t)) /\
  (forall (c' w' : vector) (U' : matrix),
    is_derive (fun e => / sqrt (INR m) * Sum m (fun i => (c i + e * c' i) *
      state sigma (w i + e * w' i) (fun t => dot d (fun k => U i k + e * U' i k) (X t)) T)) 0
      (/ sqrt (INR m) * Sum m (fun i => c' i * h i T +
        c i * (dot d (U' i) (fun k => Sum T (fun t => b i t * X t k)) + w' i * p i T)))) /\
  forall i, p i T = Sum T (fun t => b i t * h i t) /\ p i O = 0 /\
    forall t, p i (S t) = sigma' (seen sigma (w i) (x i) t) * (h i t + w i * p i t).
Proof.
  intros sigma sigma' m d T c w U X Hs x h b p. split; [|split; [|split]].
  - intros i t. unfold b. split; intros H.
    + replace (T - 1 - t)%nat with O by lia. cbn [back]. now replace (T - 1)%nat with t by lia.
    + replace (T - 1 - t)%nat with (S (T - 1 - S t)) by lia. cbn [back].
      now replace (T - 1 - S (T - 1 - S t))%nat with t by lia.
  - intros i t H. assert (E : (t + S (T - 1 - t) = T)%nat) by lia. split.
    + rewrite replay_state. unfold h. now rewrite E.
    + assert (Q := replay_derive sigma sigma' Hs (w i) (x i) t (T - 1 - t)). rewrite E in Q. exact Q.
  - intros c' w' U'.
    apply (is_derive_scal (fun e => Sum m (fun i => (c i + e * c' i) *
      state sigma (w i + e * w' i) (fun t => dot d (fun k => U i k + e * U' i k) (X t)) T))).
    apply Sum_derive; intros i _.
    set (F := fun e => state sigma (w i + e * w' i) (fun t => dot d (fun k => U i k + e * U' i k) (X t)) T).
    assert (D : is_derive F 0 (dot d (U' i) (fun k => Sum T (fun t => b i t * X t k)) + w' i * p i T)).
    { assert (Q := state_derive sigma sigma' Hs (w i) (w' i) (x i) (fun t => dot d (U' i) (X t)) T).
      assert (E1 : forall e t, x i t + e * dot d (U' i) (X t) = dot d (fun k => U i k + e * U' i k) (X t)).
      { intros e t. unfold x, dot. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext; intros; ring. }
      evar_last; [eapply is_derive_ext; [|exact Q]|].
      - intros e. unfold F. f_equal. apply FunctionalExtensionality.functional_extensionality; intros; apply E1.
      - unfold p. rewrite !forwards_sum by easy. fold (h i). unfold dot.
        rewrite (Sum_ext T _ (fun t => b i t * Sum d (fun k => U' i k * X t k) + w' i * (b i t * h i t))).
        2: { intros. unfold b. ring. }
        rewrite Sum_plus, Sum_scal. f_equal.
        rewrite (Sum_ext T _ (fun t => Sum d (fun k => b i t * (U' i k * X t k)))) by (intros; now rewrite Sum_scal).
        rewrite Sum_swap. apply Sum_ext; intros k _. rewrite <- Sum_scal. apply Sum_ext; intros; ring. }
    assert (Z : F 0 = h i T).
    { unfold F, h, x. replace (w i + 0 * w' i) with (w i) by ring. f_equal.
      apply FunctionalExtensionality.functional_extensionality; intros t. apply Sum_ext; intros; ring. }
    evar_last; [apply (is_derive_mult (fun e => c i + e * c' i) F); [auto_derive; [easy|reflexivity]|exact D|exact
      Rmult_comm]|].
    unfold plus, mult; simpl. rewrite Z. ring.
  - intros i. split; [now apply forwards_sum|]. split; reflexivity.
Qed.

Lemma tanh_exp z : tanh z = 1 - 2 / (exp (2 * z) + 1).
Proof.
  unfold tanh, sinh, cosh. assert (A := exp_pos z). rewrite exp_Ropp. replace (2 * z) with (z + z) by ring.
    rewrite exp_plus.
  field. split; nra.
Qed.

Lemma tanh_0 : tanh 0 = 0.
Proof. rewrite tanh_exp, Rmult_0_r, exp_0. field. Qed.

Lemma tanh_incr a b : a < b -> tanh a < tanh b.
Proof.
  intros H. rewrite !tanh_exp. assert (A := exp_pos (2 * a)).
    assert (exp (2 * a) < exp (2 * b)) by (apply exp_increasing; lra).
  assert (/ (exp (2 * b) + 1) < / (exp (2 * a) + 1)) by (apply Rinv_lt_contravar; nra). unfold Rdiv. lra.
Qed.

Lemma tanh_odd a : tanh (- a) = - tanh a.
Proof. unfold tanh, sinh, cosh. rewrite Ropp_involutive. field. assert (A := exp_pos a). assert (B := exp_pos (- a)).
  lra. Qed.

Lemma tanh_le a : 0 <= a -> tanh a <= a.
Proof.
  intros H. destruct (MVT_gen tanh 0 a (fun z => 1 - tanh z ^ 2)) as [c [_ E]].
  - intros; apply derive_tanh.
  - intros c _. apply continuity_pt_filterlim, (ex_derive_continuous tanh). eexists. apply derive_tanh.
  - rewrite tanh_0 in E. assert (Q := pow2_ge_0 (tanh c)). nra.
Qed.

(** p of a unit with tanh *)
Definition slope_w (w : R) (x : vector) : vector := forwards tanh (fun z => 1 - tanh z ^ 2) w x (state tanh w x).

Lemma slope_w_derive w x T : is_derive (fun v => state tanh v x T) w (slope_w w x T).
Proof.
  assert (Q := state_derive tanh _ derive_tanh w 1 x (fun _ => 0) T). cbn beta in Q.
  assert (E : forall v, state tanh v x T = state tanh (w + (v - w) * 1) (fun s => x s + (v - w) * 0) T).
  { intros v. replace (w + (v - w) * 1) with v by ring. f_equal.
    apply FunctionalExtensionality.functional_extensionality; intros; ring. }
  eapply is_derive_ext; [intros t; symmetry; apply E|].
  evar_last; [apply (is_derive_comp (fun e => state tanh (w + e * 1) (fun s => x s + e * 0) T) (fun v => v - w));
    [rewrite Rminus_eq_0; exact Q|auto_derive; [easy|reflexivity]]|].
  unfold scal; simpl; unfold mult; simpl. unfold slope_w. rewrite Rmult_1_l. f_equal.
  apply FunctionalExtensionality.functional_extensionality; intros; ring.
Qed.

Lemma slope_w_S w x t : slope_w w x (S t) = (1 - state tanh w x (S t) ^ 2) * (state tanh w x t + w * slope_w w x t).
Proof. reflexivity. Qed.

(** g_{t+1} = h_t + w p_t *)
Definition push_w (w : R) (x : vector) (t : nat) : R := state tanh w x t + w * slope_w w x t.

Lemma state_bound w x t : Rabs (state tanh w x t) < 1.
Proof.
  destruct t; cbn [state]; [rewrite Rabs_R0; lra|]. apply Rabs_def1; assert (Q := tanh_bound (x t + w * state tanh w x
    t)); lra.
Qed.

Lemma slope_w_le w x t : Rabs (slope_w w x (S t)) <= Rabs (push_w w x t).
Proof.
  rewrite slope_w_S, Rabs_mult. fold (push_w w x t). rewrite <- (Rmult_1_l (Rabs (push_w w x t))) at 2.
  apply Rmult_le_compat_r; [apply Rabs_pos|]. assert (Q := state_bound w x (S t)).
    rewrite <- (pow2_abs (state _ _ _ _)).
  assert (A := Rabs_pos (state tanh w x (S t))). apply Rabs_le. nra.
Qed.

Lemma push_w_le w x t : exists s, 0 <= s < 1 /\ Rabs (push_w w x (S t)) <= s + Rabs w * (1 - s ^ 2) * Rabs (push_w w x
  t).
Proof.
  exists (Rabs (state tanh w x (S t))). assert (Q := state_bound w x (S t)).
    assert (A := Rabs_pos (state tanh w x (S t))).
  split; [lra|]. unfold push_w at 1. rewrite slope_w_S. fold (push_w w x t).
  eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, pow2_abs.
  rewrite (Rabs_right (1 - state tanh w x (S t) ^ 2)); [lra|]. rewrite <- (pow2_abs (state _ _ _ _)). nra.
Qed.

(** s + ω(1 − s²)C ≤ ωC + 1/(4ωC) *)
Lemma parabola s a : 0 < a -> s + a * (1 - s ^ 2) <= a + / (4 * a).
Proof.
  intros H. assert (Q : 0 <= a * (s - / (2 * a)) ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
  replace (a * (s - / (2 * a)) ^ 2) with (a * s ^ 2 - s + / (4 * a)) in Q by (field; lra). lra.
Qed.

Lemma push_below w C x t : 0 < C -> (forall s, 0 <= s < 1 -> s + Rabs w * (1 - s ^ 2) * C <= C) -> Rabs (push_w w x t)
  <= C.
Proof.
  intros HC H. induction t.
  - unfold push_w. cbn. rewrite Rmult_0_r, Rplus_0_r, Rabs_R0. lra.
  - destruct (push_w_le w x t) as [s [Hs L]]. eapply Rle_trans; [exact L|]. eapply Rle_trans; [|apply (H s Hs)].
    apply Rplus_le_compat_l. apply Rmult_le_compat_l; [|easy]. apply Rmult_le_pos; [apply Rabs_pos|nra].
Qed.

Lemma slope_below w C x T : 0 < C -> (forall s, 0 <= s < 1 -> s + Rabs w * (1 - s ^ 2) * C <= C) -> Rabs (slope_w w x
  T) <= C.
Proof.
  intros HC H. destruct T; [unfold slope_w; cbn; rewrite Rabs_R0; lra|].
  eapply Rle_trans; [apply slope_w_le|now apply push_below].
Qed.

Lemma cutoff_1 w x T : 1 / 2 <= Rabs w < 1 -> Rabs (slope_w w x T) <= / (2 * sqrt (Rabs w * (1 - Rabs w))).
Proof.
  intros H. set (o := Rabs w) in *. assert (P : 0 < o * (1 - o)) by nra. assert (Q := sqrt_lt_R0 _ P).
  apply slope_below; [apply Rinv_0_lt_compat; lra|]. fold o. intros s Hs.
  set (C := / (2 * sqrt (o * (1 - o)))). assert (HC : 0 < C) by (apply Rinv_0_lt_compat; lra).
  replace (o * (1 - s ^ 2) * C) with (o * C * (1 - s ^ 2)) by ring.
  assert (OC : 0 < o * C) by (apply Rmult_lt_0_compat; lra).
  eapply Rle_trans; [now apply parabola|]. apply Req_le. unfold C.
  assert (E := sqrt_sqrt (o * (1 - o)) (Rlt_le _ _ P)). set (q := sqrt (o * (1 - o))) in *.
  replace (/ (4 * (o * / (2 * q)))) with (/ (2 * q) * (q * q / o)) by (field; lra). rewrite E. field. lra.
Qed.

Lemma cutoff_1' w x T : Rabs w < 1 / 2 -> Rabs (slope_w w x T) <= 1.
Proof. intros H. apply slope_below; [lra|]. intros s Hs. assert (A := Rabs_pos w).
  assert (0 <= (1 - s) * (1 - Rabs w * (1 + s))) by (apply Rmult_le_pos; nra). lra. Qed.

Lemma sqrt_step t : 0 <= t -> sqrt t + 1 + / (4 * (sqrt t + 1)) <= sqrt (t + 1 / 2) + 1.
Proof.
  intros H. assert (A := sqrt_pos t). assert (B : sqrt (t + 1 / 2) * sqrt (t + 1 / 2) = t + 1 / 2) by (apply
    sqrt_sqrt; lra).
  assert (B' := sqrt_sqrt t H). assert (C : 0 <= sqrt (t + 1 / 2)) by apply sqrt_pos.
  set (a := sqrt t) in *. set (b := sqrt (t + 1 / 2)) in *.
  assert (D : b <= a + 1) by (apply Rnot_lt_le; intros L; nra).
  assert (E : / (4 * (a + 1)) <= b - a); [|lra].
  apply Rmult_le_reg_l with (4 * (a + 1)); [lra|]. rewrite Rinv_r by lra.
  assert (F : (b - a) * (b + a) = 1 / 2) by (replace ((b - a) * (b + a)) with (b * b - a * a) by ring; lra).
  assert (0 <= b - a) by (apply Rnot_lt_le; intros L; nra). nra.
Qed.

Lemma push_at w x t : Rabs w = 1 -> Rabs (push_w w x t) <= sqrt (INR t / 2) + 1.
Proof.
  intros H. induction t.
  - unfold push_w. cbn. rewrite Rmult_0_r, Rplus_0_r, Rabs_R0. assert (Q := sqrt_pos (0 / 2)). lra.
  - destruct (push_w_le w x t) as [s [Hs L]]. eapply Rle_trans; [exact L|]. rewrite H, Rmult_1_l.
    set (C := sqrt (INR t / 2) + 1) in *. assert (HC : 1 <= C) by (unfold C; assert (Q := sqrt_pos (INR t / 2)); lra).
    assert (S1 : (1 - s ^ 2) * Rabs (push_w w x t) <= C * (1 - s ^ 2)) by (rewrite Rmult_comm; apply
      Rmult_le_compat_r; [nra|easy]).
    assert (S2 := parabola s C ltac:(lra)). assert (S3 := sqrt_step (INR t / 2) ltac:(assert (Q := pos_INR t); lra)).
      fold C in S3.
    rewrite S_INR. replace ((INR t + 1) / 2) with (INR t / 2 + 1 / 2) by field. lra.
Qed.

(** Turning the sign of w turns every second state and drive, and changes no size. *)
Lemma turned_sign w x t : let x' := fun s => (-1) ^ S s * x s in
  state tanh (- w) x' t = (-1) ^ t * state tanh w x t /\ slope_w (- w) x' t = - (-1) ^ t * slope_w w x t.
Proof.
  intros x'. assert (E : forall s, (-1) ^ s = 1 \/ (-1) ^ s = -1).
  { induction s; simpl; [now left|]. destruct IHs as [-> | ->]; [right|left]; ring. }
  induction t as [|t [IH1 IH2]]; [split; unfold slope_w; cbn; ring|].
  assert (A : state tanh (- w) x' (S t) = (-1) ^ S t * state tanh w x (S t)).
  { cbn [state]. rewrite IH1. unfold x'. replace ((-1) ^ S t * x t + - w * ((-1) ^ t * state tanh w x t)) with
      ((-1) ^ S t * (x t + w * state tanh w x t)) by (simpl; ring).
    destruct (E (S t)) as [-> | ->]; [now rewrite !Rmult_1_l|].
    replace (-1 * (x t + w * state tanh w x t)) with (- (x t + w * state tanh w x t)) by ring. rewrite tanh_odd. ring. }
  split; [exact A|]. rewrite !slope_w_S, A, IH1, IH2. simpl. destruct (E t) as [-> | ->]; ring.
Qed.

(** States may be chosen instead of drives. *)
Lemma steer w R (hs : vector) : 0 <= R -> hs O = 0 -> (forall t, -1 < hs t < 1) ->
  (forall t a, tanh a = hs (S t) -> Rabs (a - w * hs t) <= R) ->
  exists x, (forall t, Rabs (x t) <= R) /\ (forall t, state tanh w x t = hs t).
Proof.
  intros HR H0 H1 H2.
  set (f := fun t => ln ((1 + hs (S t)) / (1 - hs (S t))) / 2).
  assert (F : forall t, tanh (f t) = hs (S t)).
  { intros t. unfold f. specialize (H1 (S t)). rewrite tanh_exp.
    replace (2 * (ln ((1 + hs (S t)) / (1 - hs (S t))) / 2)) with (ln ((1 + hs (S t)) / (1 - hs (S t)))) by field.
    rewrite exp_ln by (apply Rdiv_lt_0_compat; lra). field. lra. }
  exists (fun t => f t - w * hs t). split; [intros; now apply H2|].
  induction t; cbn [state]; [easy|]. rewrite IHt, <- F. f_equal. ring.
Qed.

(** Part 3: one push, then silence. *)
Lemma cutoff_3 w R T : 1 < w -> 0 < R -> (2 <= T)%nat -> exists x, (forall t, Rabs (x t) <= R) /\
  Rmin (tanh R) (R / w) * w ^ (T - 2) <= Rabs (slope_w w x T).
Proof.
  intros Hw HR HT. set (e := Rmin (tanh R) (R / w)). assert (Q := tanh_bound R).
  assert (P0 : 0 < tanh R) by (rewrite <- tanh_0; now apply tanh_incr).
  assert (P1 : 0 < R / w) by (apply Rdiv_lt_0_compat; lra).
  assert (E0 : 0 < e) by (now apply Rmin_glb_lt). assert (E1 : e <= tanh R) by apply Rmin_l.
  assert (E2 : w * e <= w * (R / w)) by (apply Rmult_le_compat_l; [lra|apply Rmin_r]).
  replace (w * (R / w)) with R in E2 by (field; lra).
  destruct (steer w R (fun t => if (t =? 1)%nat then e else 0)) as [x [X1 X2]]; [lra|easy| | |].
  - intros t. destruct (t =? 1)%nat; lra.
  - intros t a Ha. destruct t as [|[|t]]; cbn in Ha; cbn.
    + rewrite Rmult_0_r, Rminus_0_r. apply Rabs_le. split; [|apply Rnot_lt_le; intros L; apply tanh_incr in L; lra].
      apply Rnot_lt_le; intros L. assert (a < 0) by lra. apply tanh_incr in H. rewrite tanh_0 in H. lra.
    + assert (a = 0) as ->. { apply Rle_antisym; apply Rnot_lt_le; intros L; apply tanh_incr in L; rewrite tanh_0 in
      L; lra. }
      rewrite Rminus_0_l, Rabs_Ropp, Rabs_right by nra. easy.
    + assert (a = 0) as ->. { apply Rle_antisym; apply Rnot_lt_le; intros L; apply tanh_incr in L; rewrite tanh_0 in
      L; lra. }
      rewrite Rmult_0_r, Rminus_0_r, Rabs_R0. lra.
  - exists x. split; [easy|]. replace T with (S (S (T - 2))) at 2 by lia.
    assert (S2 : forall k, slope_w w x (S (S k)) = e * w ^ k).
    { induction k; rewrite slope_w_S, !X2; [rewrite slope_w_S, !X2; unfold slope_w; cbn; ring|].
      rewrite IHk. cbn -[pow]. simpl. ring. }
    rewrite S2. apply Rle_abs.
Qed.

(** Part 2, from below: the greedy states. *)
Section Greedy.
Variable r : R.
Hypothesis Hr : 0 < r < 1.

(** the greedy readout at the state g, and the states that it leads to from 0 *)
Definition greedy_choice (g : R) : R := if Rle_dec (2 * r * g) 1 then r else / (2 * g).
Fixpoint greedy (t : nat) : R :=
  match t with O => 0 | S t' => greedy_choice (greedy t') + (1 - greedy_choice (greedy t') ^ 2) * greedy t' end.

Lemma choice_bound g : 0 <= g -> 0 <= greedy_choice g <= r.
Proof.
  intros H. unfold greedy_choice. destruct (Rle_dec (2 * r * g) 1); [lra|].
  assert (0 < g) by (destruct H; [easy|subst; lra]). split; [left; apply Rinv_0_lt_compat; lra|].
  apply Rmult_le_reg_l with (2 * g); [lra|]. rewrite Rinv_r by lra. lra.
Qed.

Lemma greedy_ge0 t : 0 <= greedy t.
Proof.
  induction t; cbn [greedy]; [lra|]. assert (Q := choice_bound _ IHt).
  apply Rplus_le_le_0_compat; [easy|]. apply Rmult_le_pos; nra.
Qed.

Lemma greedy_small t : 2 * r * greedy t <= 1 -> greedy t + r / 2 <= greedy (S t).
Proof.
  intros H. cbn [greedy]. unfold greedy_choice. destruct (Rle_dec (2 * r * greedy t) 1); [|easy].
  assert (Q := greedy_ge0 t). nra.
Qed.

Lemma greedy_large t : 1 < 2 * r * greedy t -> greedy (S t) = greedy t + / (4 * greedy t).
Proof.
  intros H. cbn [greedy]. unfold greedy_choice. destruct (Rle_dec (2 * r * greedy t) 1); [lra|].
  field. nra.
Qed.

Lemma greedy_starts : exists t0, 1 < 2 * r * greedy t0.
Proof.
  destruct (Classical_Prop.classic (exists t0, 1 < 2 * r * greedy t0)) as [|N]; [easy|].
  assert (L : forall t, 2 * r * greedy t <= 1) by (intros t; apply Rnot_lt_le; intros A; apply N; now exists t).
  assert (G : forall t, INR t * (r / 2) <= greedy t).
  { induction t; [cbn; lra|]. rewrite S_INR. assert (Q := greedy_small t (L t)). lra. }
  assert (P : 0 < / r ^ 2) by (apply Rinv_0_lt_compat, pow_lt; lra).
  destruct (nfloor_ex (/ r ^ 2) (Rlt_le _ _ P)) as [n0 [_ Hk]]. set (k := S n0). rewrite <- S_INR in Hk. fold k in Hk.
    specialize (G k). specialize (L k). exfalso.
  assert (1 < r ^ 2 * INR k). { rewrite <- (Rinv_r (r ^ 2)) by nra. apply Rmult_lt_compat_l; nra. }
  nra.
Qed.

Lemma greedy_grows t0 k : 1 < 2 * r * greedy t0 -> 1 < 2 * r * greedy (t0 + k)%nat /\ INR k / 2 <= greedy (t0 + k)%nat
  ^ 2.
Proof.
  intros H. induction k as [|k [IH1 IH2]].
  - rewrite Nat.add_0_r. split; [easy|]. cbn [INR]. assert (Q := pow2_ge_0 (greedy t0)). lra.
  - replace (t0 + S k)%nat with (S (t0 + k)) by lia. rewrite greedy_large by easy. set (g := greedy (t0 + k)%nat) in *.
    assert (G : 0 < g) by nra. assert (I : 0 < / (4 * g)) by (apply Rinv_0_lt_compat; lra). split; [nra|].
    rewrite S_INR. replace ((g + / (4 * g)) ^ 2) with (g ^ 2 + / 2 + / (4 * g) ^ 2) by (field; lra).
    assert (0 < / (4 * g) ^ 2) by (apply Rinv_0_lt_compat, pow_lt; lra). lra.
Qed.

End Greedy.

Lemma reach R T : 0 < R -> exists x, (forall t, Rabs (x t) <= R) /\ slope_w 1 x (S T) = greedy (tanh R) T.
Proof.
  intros HR. set (r := tanh R). assert (Q := tanh_bound R). assert (P0 : 0 < r) by (unfold r; rewrite <- tanh_0; now
    apply tanh_incr).
  assert (Hr : 0 < r < 1) by (fold r in Q; lra).
  set (hs := fun t => if (t =? S T)%nat then 0 else match t with O => 0 | S t' => greedy_choice r (greedy r t') end).
  assert (B : forall t, 0 <= hs t <= r).
  { intros t. unfold hs. destruct (t =? S T)%nat; [lra|]. destruct t; [lra|]. now apply choice_bound, greedy_ge0. }
  destruct (steer 1 R hs) as [x [X1 X2]]; [lra|reflexivity| | |].
  - intros t. specialize (B t). lra.
  - intros t a Ha. rewrite Rmult_1_l. assert (B1 := B t). assert (B2 := B (S t)). assert (L := tanh_le R ltac:(lra)).
    fold r in L.
    assert (A0 : 0 <= a). { apply Rnot_lt_le; intros N; apply tanh_incr in N; rewrite tanh_0 in N; lra. }
    assert (A1 : a <= R). { apply Rnot_lt_le; intros N; apply tanh_incr in N; fold r in N; lra. }
    apply Rabs_le. lra.
  - exists x. split; [easy|].
    assert (G : forall t, (t <= T)%nat -> state tanh 1 x t + 1 * slope_w 1 x t = greedy r t).
    { induction t; intros Ht; [unfold slope_w; cbn; ring|]. rewrite slope_w_S, IHt, X2 by lia.
      unfold hs. replace (S t =? S T)%nat with false by (symmetry; apply Nat.eqb_neq; lia). cbn [greedy]. ring. }
    rewrite slope_w_S, G, X2 by lia. unfold hs. rewrite Nat.eqb_refl. ring.
Qed.

(** P, the gradient of h_T in the input vector U *)
Definition slope_U (w : R) (d : nat) (U : vector) (X : matrix) (T : nat) : vector := fun k =>
  forwards tanh (fun z => 1 - tanh z ^ 2) w (fun t => dot d U (X t)) (fun t => X t k) T.

Lemma slope_U_derive w d U X T V :
  is_derive (fun e => state tanh w (fun t => dot d (fun k => U k + e * V k) (X t)) T) 0 (dot d V (slope_U w d U X T)).
Proof.
  set (x := fun t => dot d U (X t)).
  assert (Q := state_derive tanh _ derive_tanh w 0 x (fun t => dot d V (X t)) T).
  evar_last; [eapply is_derive_ext; [|exact Q]|].
  - intros e. cbn beta. replace (w + e * 0) with w by ring. f_equal.
    apply FunctionalExtensionality.functional_extensionality; intros t. unfold x, dot.
    rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext; intros; ring.
  - unfold slope_U. fold x. rewrite forwards_sum. unfold dot at 2.
    set (sp := fun z => 1 - tanh z ^ 2).
    rewrite (Sum_ext d _ (fun k => Sum T (fun t => V k * (back tanh sp w x T (T - 1 - t) * X t k)))).
    2: { intros k _. rewrite forwards_sum, <- Sum_scal. reflexivity. }
    rewrite Sum_swap. apply Sum_ext; intros t _. unfold dot.
    rewrite (Sum_ext d (fun k => V k * (back tanh sp w x T (T - 1 - t) * X t k))
      (fun k => back tanh sp w x T (T - 1 - t) * (V k * X t k))) by (intros; ring).
    rewrite Sum_scal. change (fun z : R_AbsRing => 1 - tanh z ^ 2) with sp. ring.
Qed.

Lemma slope_U_S w d U X t : let x := fun s => dot d U (X s) in
  slope_U w d U X (S t) = vscal (1 - state tanh w x (S t) ^ 2) (vplus (X t) (vscal w (slope_U w d U X t))).
Proof. reflexivity. Qed.

Lemma geometric o T : Sum (S T) (fun k => o ^ k) = 1 + o * Sum T (fun k => o ^ k).
Proof.
  induction T; [simpl; ring|]. transitivity (1 + o * Sum T (fun k => o ^ k) + o * o ^ T); [|simpl; ring].
  rewrite <- IHT. simpl. ring.
Qed.

Lemma slope_U_le w d U X T : (forall t, vnorm d (X t) <= 1) -> vnorm d (slope_U w d U X T) <= Sum T (fun k => Rabs w ^
  k).
Proof.
  intros H. induction T.
  - unfold slope_U, vnorm, sq. cbn. rewrite (Sum_ext d _ (fun _ => 0)) by (intros; ring). rewrite Sum_zero, sqrt_0. lra.
  - rewrite slope_U_S, norm_scal, geometric. set (x := fun s => dot d U (X s)).
    assert (Q := state_bound w x (S T)). rewrite <- (pow2_abs (state _ _ _ _)).
    assert (A := Rabs_pos (state tanh w x (S T))).
    assert (N := norm_triangle d (X T) (vscal w (slope_U w d U X T))). rewrite norm_scal in N. specialize (H T).
    assert (Rabs w * vnorm d (slope_U w d U X T) <= Rabs w * Sum T (fun k => Rabs w ^ k))
      by (apply Rmult_le_compat_l; [apply Rabs_pos|easy]).
    assert (N0 := norm_ge0 d (vplus (X T) (vscal w (slope_U w d U X T)))). rewrite Rabs_right by nra. nra.
Qed.

Lemma slope_U_attained w d U T : (2 <= d)%nat -> exists X, (forall t, vnorm d (X t) <= 1) /\
  (forall t, (t <= T)%nat -> state tanh w (fun s => dot d U (X s)) t = 0) /\
  vnorm d (slope_U w d U X T) = Sum T (fun k => Rabs w ^ k).
Proof.
  intros Hd. destruct (right_angle d U Hd) as (e & N & O).
  set (sg := if Rlt_dec w 0 then -1 else 1). assert (Sg : sg * w = Rabs w /\ sg * sg = 1 /\ Rabs sg = 1).
  { unfold sg. destruct (Rlt_dec w 0); [rewrite Rabs_left, (Rabs_left (-1)) by lra|rewrite Rabs_right, (Rabs_right 1)
    by lra]; lra. }
  destruct Sg as (S1 & S2 & S3). set (X := fun t => vscal (sg ^ t) e). exists X.
  assert (Sp : forall t, Rabs (sg ^ t) = 1) by (intros; rewrite <- RPow_abs, S3; apply pow1).
  assert (St : forall t, state tanh w (fun s => dot d U (X s)) t = 0).
  { induction t; cbn [state]; [easy|]. rewrite IHt. unfold X. rewrite dot_sym, dot_scal_l, dot_sym, O.
    replace (sg ^ t * 0 + w * 0) with 0 by ring. apply tanh_0. }
  split; [intros; unfold X; rewrite norm_scal, Sp, N; lra|]. split; [intros; apply St|].
  assert (G : forall t k, slope_U w d U X (S t) k = sg ^ t * (Sum (S t) (fun k => Rabs w ^ k)) * e k).
  { induction t; intros k; rewrite slope_U_S, St; unfold vscal, vplus.
    - unfold X, vscal, slope_U. cbn. ring.
    - rewrite IHt, (geometric (Rabs w) (S t)), <- S1. unfold X, vscal. simpl (sg ^ S t).
      replace w with (sg * (sg * w)) at 1 by (rewrite <- Rmult_assoc, S2; ring). ring. }
  destruct T as [|T].
  - unfold slope_U, vnorm, sq. cbn. rewrite (Sum_ext d _ (fun _ => 0)) by (intros; ring). now rewrite Sum_zero, sqrt_0.
  - assert (P : 0 <= Sum (S T) (fun k => Rabs w ^ k)) by (apply Sum_ge0; intros; apply pow_le, Rabs_pos).
    replace (vnorm d (slope_U w d U X (S T))) with (vnorm d (vscal (sg ^ T * Sum (S T) (fun k => Rabs w ^ k)) e)).
    + rewrite norm_scal, N, Rabs_mult, Sp, Rabs_right by lra. ring.
    + unfold vnorm, sq. f_equal. apply Sum_ext; intros. unfold vscal. now rewrite G.
Qed.

Lemma cutoff_2 w R eps : Rabs w = 1 -> 0 < R -> 0 < eps -> exists T0, forall T, (T0 <= T)%nat ->
  (forall x, Rabs (slope_w w x T) <= (1 + eps) * sqrt (INR T / 2)) /\
  exists x, (forall t, Rabs (x t) <= R) /\ (1 - eps) * sqrt (INR T / 2) <= Rabs (slope_w w x T).
Proof.
  intros Hw HR He. set (r := tanh R). assert (Q := tanh_bound R).
  assert (Hr : 0 < r < 1) by (split; [unfold r; rewrite <- tanh_0; now apply tanh_incr|apply Q]).
  destruct (greedy_starts r Hr) as [t0 Ht0].
  assert (big : forall c, exists k, forall T, (k <= T)%nat -> c <= INR T).
  { intros c. destruct (Rle_dec c 0) as [N|N]; [exists O; intros; assert (A := pos_INR T); lra|].
    destruct (nfloor_ex c) as [k [_ Hk]]; [lra|]. exists (S k). intros T HT. apply le_INR in HT. rewrite S_INR in HT.
      lra. }
  destruct (big (2 / eps ^ 2)) as [k1 K1].
  destruct (big (INR (S t0) / (1 - (1 - eps) ^ 2))) as [k2 K2].
  exists (k1 + k2 + S t0)%nat. intros T HT. specialize (K1 T ltac:(lia)). specialize (K2 T ltac:(lia)).
  assert (P2 : 0 < eps ^ 2) by (apply pow_lt; lra). assert (PT := pos_INR T). split.
  - intros x. destruct T as [|T]; [lia|].
    eapply Rle_trans; [apply slope_w_le|]. eapply Rle_trans; [now apply push_at|].
    assert (L : sqrt (INR T / 2) <= sqrt (INR (S T) / 2)) by (apply sqrt_le_1_alt; rewrite S_INR; lra).
    assert (M : 1 <= eps * sqrt (INR (S T) / 2)); [|lra].
    rewrite <- (sqrt_pow2 eps) by lra. rewrite <- sqrt_mult by lra. rewrite <- sqrt_1. apply sqrt_le_1_alt.
    replace 1 with (eps ^ 2 * ((2 / eps ^ 2) / 2)) by (field; lra). apply Rmult_le_compat_l; lra.
  - destruct T as [|T]; [lia|]. destruct (reach R T HR) as [x [X1 X2]]. fold r in X2.
    assert (G := greedy_grows r Hr t0 (T - t0) Ht0). replace (t0 + (T - t0))%nat with T in G by lia.
      destruct G as [_ G].
    assert (G0 := greedy_ge0 r Hr T). rewrite minus_INR in G by lia.
    assert (L : (1 - eps) * sqrt (INR (S T) / 2) <= greedy r T).
    { destruct (Rle_dec 1 eps) as [N|N]; [assert (A := sqrt_pos (INR (S T) / 2)); nra|].
      rewrite <- (sqrt_pow2 (greedy r T)) by easy. rewrite <- (sqrt_pow2 (1 - eps)) at 1 by lra.
      rewrite <- sqrt_mult by (try apply pow2_ge_0; lra). apply sqrt_le_1_alt. eapply Rle_trans; [|exact G].
      assert (D : 0 < 1 - (1 - eps) ^ 2) by nra.
      assert (M : INR (S t0) <= (1 - (1 - eps) ^ 2) * INR (S T)).
      { apply Rmult_le_compat_l with (r := 1 - (1 - eps) ^ 2) in K2; [|lra].
        replace ((1 - (1 - eps) ^ 2) * (INR (S t0) / (1 - (1 - eps) ^ 2))) with (INR (S t0)) in K2 by (field; lra).
          lra. }
      rewrite !S_INR in M. rewrite S_INR. lra. }
    assert (HX : Rabs (slope_w 1 x (S T)) = greedy r T) by (rewrite X2; apply Rabs_right; lra).
    destruct (Rcase_abs w) as [N|N]; [rewrite (Rabs_left w N) in Hw|rewrite (Rabs_right w N) in Hw].
    + replace w with (- (1)) by lra. exists (fun s => (-1) ^ S s * x s).
      split; [intros t; rewrite Rabs_mult, pow_1_abs, Rmult_1_l; apply X1|].
      destruct (turned_sign 1 x (S T)) as [_ ->]. rewrite Rabs_mult, Rabs_Ropp, pow_1_abs, Rmult_1_l, HX. exact L.
    + subst w. exists x. split; [easy|]. now rewrite HX.
Qed.

Lemma cutoff_3' w R T : 1 < Rabs w -> 0 < R -> (2 <= T)%nat -> exists x, (forall t, Rabs (x t) <= R) /\
  Rmin (tanh R) (R / Rabs w) * Rabs w ^ (T - 2) <= Rabs (slope_w w x T).
Proof.
  intros Hw HR HT. destruct (cutoff_3 (Rabs w) R T Hw HR HT) as [x [X1 X2]].
  destruct (Rcase_abs w) as [N|N]; [rewrite (Rabs_left w N) in *|rewrite (Rabs_right w N) in *].
  - exists (fun s => (-1) ^ S s * x s). split; [intros t; rewrite Rabs_mult, pow_1_abs, Rmult_1_l; apply X1|].
    destruct (turned_sign (- w) x T) as [_ E]. rewrite Ropp_involutive in E. rewrite E.
    now rewrite Rabs_mult, Rabs_Ropp, pow_1_abs, Rmult_1_l.
  - now exists x.
Qed.

(** kr-proposition-2-cutoff
    Covers: the whole statement; the limit in part 2 as two inequalities for every ε, the gradient in U as the derivative along every direction.
    Reads: for h_t = tanh(w h_{t−1} + x_t), h₀ = 0, R > 0: (1) for all drives |∂h_T/∂w| ≤ 1/(2√(|w|(1 − |w|))) if ½ ≤ |w| < 1, and ≤ 1 if |w| < ½; (2) if |w| = 1, for every ε > 0 from some T on |∂h_T/∂w| ≤ (1 + ε)√(T/2) for all drives, and ≥ (1 − ε)√(T/2) for some drives |x_t| ≤ R; (3) if |w| > 1 and T ≥ 2, some drives |x_t| ≤ R have |∂h_T/∂w| ≥ min{tanh R, R/|w|}|w|^(T−2); drives |x_t| ≤ ‖U‖ are those of tokens in the unit ball; (4) for d ≥ 2 and tokens in the unit ball the gradient P of h_T in U has ‖P‖ ≤ Σ_{k<T}|w|^k, and some tokens attain it; for |w| = 1 the sum is T.
    Mistake: `/ (3 * sqrt (Rabs w * (1 - Rabs w)))` for `/ (2 * sqrt (Rabs w * (1 - Rabs w)))`
    Mistake: `(1 + eps) * sqrt (INR T / 3)` for `(1 + eps) * sqrt (INR T / 2)`
    Mistake: `Rabs w ^ (T - 1) <= Rabs` for `Rabs w ^ (T - 2) <= Rabs`
*)
Theorem kr_proposition_2_cutoff : forall w,
  let dw := fun x T => Derive (fun v => state tanh v x T) w in
  (forall x T, ex_derive (fun v => state tanh v x T) w) /\
  (forall x T, (1 / 2 <= Rabs w < 1 -> Rabs (dw x T) <= / (2 * sqrt (Rabs w * (1 - Rabs w)))) /\
    (Rabs w < 1 / 2 -> Rabs (dw x T) <= 1)) /\
  (forall R eps, Rabs w = 1 -> 0 < R -> 0 < eps -> exists T0, forall T, (T0 <= T)%nat ->
    (forall x, Rabs (dw x T) <= (1 + eps) * sqrt (INR T / 2)) /\
    exists x, (forall t, Rabs (x t) <= R) /\ (1 - eps) * sqrt (INR T / 2) <= Rabs (dw x T)) /\
  (forall R T, 1 < Rabs w -> 0 < R -> (2 <= T)%nat -> exists x, (forall t, Rabs (x t) <= R) /\
    Rmin (tanh R) (R / Rabs w) * Rabs w ^ (T - 2) <= Rabs (dw x T)) /\
  (forall d U x, Rabs x <= vnorm d U <-> exists X, vnorm d X <= 1 /\ dot d U X = x) /\
  (forall d U T, (2 <= d)%nat -> let P := slope_U w d U in
    (forall X V, is_derive (fun e => state tanh w (fun t => dot d (fun k => U k + e * V k) (X t)) T) 0
      (dot d V (P X T))) /\
    (forall X, (forall t, vnorm d (X t) <= 1) -> vnorm d (P X T) <= Sum T (fun k => Rabs w ^ k)) /\
    exists X, (forall t, vnorm d (X t) <= 1) /\ vnorm d (P X T) = Sum T (fun k => Rabs w ^ k)) /\
  (Rabs w = 1 -> forall T, Sum T (fun k => Rabs w ^ k) = INR T).
Proof.
  intros w dw. assert (E : forall x T, dw x T = slope_w w x T) by (intros; apply is_derive_unique, slope_w_derive).
  split; [intros; eexists; apply slope_w_derive|]. split; [|split; [|split; [|split; [|split]]]].
  - intros x T. rewrite E. split; [apply cutoff_1|apply cutoff_1'].
  - intros R eps H1 H2 H3. destruct (cutoff_2 w R eps H1 H2 H3) as [T0 H]. exists T0. intros T HT.
    destruct (H T HT) as [A [x [X1 X2]]]. split; [intros; rewrite E; apply A|]. exists x. now rewrite E.
  - intros R T H1 H2 H3. destruct (cutoff_3' w R T H1 H2 H3) as [x X]. exists x. now rewrite E.
  - intros d U x. split.
    + intros H. destruct (Req_dec (vnorm d U) 0) as [Z|Z].
      * assert (x = 0) as ->. { rewrite Z in H. assert (A := Rabs_pos x). apply Rabs_eq_0. lra. }
        exists (vscal 0 U). rewrite norm_scal, Rabs_R0, dot_sym, dot_scal_l. split; [lra|ring].
      * assert (N := norm_ge0 d U). exists (vscal (x / vnorm d U ^ 2) U).
        rewrite norm_scal, dot_sym, dot_scal_l, <- sq_dot, <- norm_sq.
        split; [|field; easy]. unfold Rdiv. rewrite Rabs_mult, (Rabs_right (/ vnorm d U ^ 2)).
        2: { apply Rle_ge. left. apply Rinv_0_lt_compat, pow_lt. lra. }
        replace 1 with (vnorm d U * / vnorm d U ^ 2 * vnorm d U) by (field; easy).
        apply Rmult_le_compat_r; [easy|]. apply Rmult_le_compat_r; [|easy]. left. apply Rinv_0_lt_compat, pow_lt. lra.
    + intros [X [N <-]]. eapply Rle_trans; [apply cauchy|]. assert (A := norm_ge0 d U). nra.
  - intros d U T Hd P. split; [intros; apply slope_U_derive|]. split; [intros; now apply slope_U_le|].
    destruct (slope_U_attained w d U T Hd) as (X & X1 & _ & X2). now exists X.
  - intros H T. rewrite (Sum_ext T _ (fun _ => 1)); [rewrite Sum_const; ring|]. intros. rewrite H. apply pow1.
Qed.

(** kr-proposition-2
    Covers: a part: what is violated, for σ = tanh (σ₁ = 1) at equality in the cutoff: derivatives of the state over the neighbourhood are not bounded in T; on the page: the paper's statement, its bound, and how μ_T is read (the bound itself stays open).
    Reads: let γ + ρ_w/√m = 1. Then some weight w that Ω_ρ contains, |w − γ| ≤ ρ_w/√m (it is γ + ρ_w/√m), has the following: for every d ≥ 2, every U and every T some tokens in the unit ball give h_T a vector P of length exactly T with ⟨P, V⟩ its derivative along every direction V of U; and for every bound B and every R > 0 some T and drives |x_t| ≤ R give |∂h_T/∂w| > B. So no constant bounds these derivatives for all T.
    Mistake: `= INR T + 1` for `= INR T`
    Mistake: `gam + rho_w / sqrt (INR m) = 1 / 2` for `gam + rho_w / sqrt (INR m) = 1`
*)
Theorem kr_proposition_2 : forall (gam rho_w : R) (m : nat), 0 <= rho_w -> gam + rho_w / sqrt (INR m) = 1 ->
  exists w, Rabs (w - gam) <= rho_w / sqrt (INR m) /\
    (forall d U T, (2 <= d)%nat -> exists X P, (forall t, vnorm d (X t) <= 1) /\
      (forall V, is_derive (fun e => state tanh w (fun t => dot d (fun k => U k + e * V k) (X t)) T) 0 (dot d V P)) /\
      vnorm d P = INR T) /\
    forall B R, 0 < R -> exists T x, (forall t, Rabs (x t) <= R) /\ B < Rabs (Derive (fun v => state tanh v x T) w).
Proof.
  intros gam rho_w m H0 H. exists 1.
  assert (P : 0 <= rho_w / sqrt (INR m)).
  { destruct (Req_dec (sqrt (INR m)) 0) as [Z|Z]; [rewrite Z; unfold Rdiv; rewrite Rinv_0; lra|].
    assert (A := sqrt_pos (INR m)). apply Rmult_le_pos; [easy|]. left. apply Rinv_0_lt_compat. lra. }
  split; [|split].
  - replace (1 - gam) with (rho_w / sqrt (INR m)) by lra. rewrite Rabs_right; lra.
  - intros d U T Hd. destruct (slope_U_attained 1 d U T Hd) as (X & X1 & _ & X2). exists X, (slope_U 1 d U X T).
    split; [easy|]. split; [intros; apply slope_U_derive|]. rewrite X2, Rabs_right by lra.
    rewrite (Sum_ext T _ (fun _ => 1)) by (intros; apply pow1). rewrite Sum_const. ring.
  - intros B R HR. destruct (cutoff_2 1 R (1 / 2)) as [T0 HT]; [apply Rabs_right; lra|easy|lra|].
    destruct (nfloor_ex (8 * (Rabs B + 1) ^ 2)) as [k [_ Hk]]; [assert (Q := pow2_ge_0 (Rabs B + 1)); lra|].
    destruct (HT (T0 + S k)%nat) as [_ [x [X1 X2]]]; [lia|]. exists (T0 + S k)%nat, x. split; [easy|].
    assert (Ed : Derive (fun v => state tanh v x (T0 + S k)%nat) 1 = slope_w 1 x (T0 + S k)%nat)
      by apply is_derive_unique, slope_w_derive. rewrite Ed. eapply Rlt_le_trans; [|exact X2].
    assert (L : 2 * (Rabs B + 1) <= sqrt (INR (T0 + S k) / 2)).
    { assert (A := Rabs_pos B). rewrite <- (sqrt_pow2 (2 * (Rabs B + 1))) by lra. apply sqrt_le_1_alt.
      rewrite plus_INR, S_INR. assert (Q := pos_INR T0). nra. }
    assert (A := Rle_abs B). lra.
Qed.
