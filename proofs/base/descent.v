(** Descent on a function whose curvature is bounded from above where it does not exceed its start. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.along base.runs base.least_squares.
Open Scope R_scope.

(** On B: Φ has the gradient g, g the Jacobian H, and Φ is continuous *)
Definition smooth_on (D : nat) (Phi : vector -> R) (g : vector -> vector) (H : vector -> matrix) (B : vector ->
  Prop) : Prop :=
  (forall z, B z -> gradient_at D Phi z (g z) /\ jacobian_at D D g z (H z)) /\
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
Lemma flat_at_zero D (e : vector -> R) z g : gradient_at D (fun z => e z ^ 2 / 2) z g -> e z = 0 -> vnorm D g = 0.
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
