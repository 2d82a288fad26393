(** Two numbers that push each other: h₁ moves by g₁ δ₁ − c δ₂ and h₂ by g₂ δ₂ − c δ₁ with δ > 0. *)
Require Import Reals Lra Lia Psatz Arith Classical.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums.
Open Scope R_scope.

Lemma lim_p_inf u : is_lim_seq u p_infty <-> forall M, exists N, forall n, (N <= n)%nat -> M < u n.
Proof. rewrite <- is_lim_seq_spec. easy. Qed.

Lemma lim_m_inf u : is_lim_seq u m_infty <-> forall M, exists N, forall n, (N <= n)%nat -> u n < M.
Proof. rewrite <- is_lim_seq_spec. easy. Qed.

Lemma Sum_mono f s t : (forall i, 0 <= f i) -> (s <= t)%nat -> Sum s f <= Sum t f.
Proof. intros H L. induction L as [|t L IH]; [lra|]. simpl. assert (Q := H t). lra. Qed.

(** A sequence that falls by b at most, and only above − M, is bounded below. *)
Lemma falls_only_above x M b T0 : (forall t, (T0 <= t)%nat -> x t <= - M -> x t <= x (S t)) -> 0 <= b ->
  (forall t, x t - b <= x (S t)) -> exists m, forall t, m <= x t.
Proof.
  intros H B L. assert (EARLY : forall t, (t <= T0)%nat -> x 0%nat - b * INR T0 <= x t).
  { intros t Ht. assert (Q : x 0%nat - b * INR t <= x t).
    { clear Ht. induction t; [simpl; lra|]. rewrite S_INR. assert (Q := L t). lra. }
    apply le_INR in Ht. assert (b * INR t <= b * INR T0) by (apply Rmult_le_compat_l; easy). lra. }
  exists (Rmin (x 0%nat - b * INR T0) (- M - b)). intros t. destruct (le_lt_dec t T0) as [C|C].
  - eapply Rle_trans; [apply Rmin_l|]. now apply EARLY.
  - assert (Q : forall k, Rmin (x 0%nat - b * INR T0) (- M - b) <= x (T0 + k)%nat).
    { induction k.
      - rewrite Nat.add_0_r. eapply Rle_trans; [apply Rmin_l|]. now apply EARLY.
      - rewrite Nat.add_succ_r. destruct (Rle_lt_dec (x (T0 + k)%nat) (- M)) as [Y|Y].
        + eapply Rle_trans; [exact IHk|]. apply H; [lia|easy].
        + eapply Rle_trans; [apply Rmin_r|]. assert (Q := L (T0 + k)%nat). lra. }
    replace t with (T0 + (t - T0))%nat by lia. apply Q.
Qed.

Section TwoGaps.
Variables (g1 g2 c : R) (h1 h2 d1 d2 : nat -> R).
Hypothesis step1 : forall t, h1 (S t) = h1 t + g1 * d1 t - c * d2 t.
Hypothesis step2 : forall t, h2 (S t) = h2 t + g2 * d2 t - c * d1 t.

Lemma gaps_by_pushes t : h1 t = h1 0%nat + g1 * Sum t d1 - c * Sum t d2 /\
  h2 t = h2 0%nat + g2 * Sum t d2 - c * Sum t d1.
Proof. induction t as [|t [A B]]; simpl; [lra|]. rewrite step1, step2, A, B. lra. Qed.

Hypothesis pos1 : forall t, 0 < d1 t.
Hypothesis pos2 : forall t, 0 < d2 t.
Hypothesis diverges : forall M, exists t, M < Sum t d1 + Sum t d2.

Lemma Sum_pos1 t : 0 <= Sum t d1.
Proof. apply Sum_ge0. intros. left. apply pos1. Qed.

Lemma Sum_pos2 t : 0 <= Sum t d2.
Proof. apply Sum_ge0. intros. left. apply pos2. Qed.

(** From {h₁ ≤ 0 ≤ h₂, h₁ + h₂ ≤ − a} number 1 is lost, if 2 pushes enough harder there. *)
Lemma lost a : g2 < c -> c < g1 -> c ^ 2 < g1 * g2 -> 0 < g2 ->
  (forall t, h1 t <= 0 <= h2 t -> h1 t + h2 t <= - a -> d1 t <= (c - g2) / (2 * (g1 - c)) * d2 t) ->
  h1 0%nat <= 0 <= h2 0%nat -> h1 0%nat + h2 0%nat <= - a -> is_lim_seq h1 m_infty.
Proof.
  intros G2 G1 PD P2 Hd H0 Ha. set (k := (c - g2) / (2 * (g1 - c))) in *.
  assert (K1 : (g1 - c) * k = / 2 * (c - g2)) by (unfold k; field; lra).
    assert (K0 : 0 < k) by (apply Rdiv_lt_0_compat; lra).
  assert (K2 : g1 * k <= c).
  { apply Rmult_le_reg_r with (2 * (g1 - c)); [lra|]. unfold k.
    replace (g1 * ((c - g2) / (2 * (g1 - c))) * (2 * (g1 - c)))
      with (g1 * (c - g2)) by (field; lra). nra. }
  assert (K3 : c * k <= g2).
  { apply Rmult_le_reg_r with (2 * (g1 - c)); [lra|]. unfold k.
    replace (c * ((c - g2) / (2 * (g1 - c))) * (2 * (g1 - c)))
      with (c * (c - g2)) by (field; lra). nra. }
  assert (INV : forall t, h1 t <= 0 <= h2 t /\ h1 t + h2 t <= - a - / 2 * (c - g2) * Sum t d2 /\
    Sum t d1 <= k * Sum t d2).
  { induction t as [|t [A [B C]]]; [simpl; lra|]. assert (S2 := Sum_pos2 t).
    assert (0 <= / 2 * (c - g2) * Sum t d2) by (apply Rmult_le_pos; lra).
    assert (Q := Hd t A ltac:(lra)). assert (P := pos2 t).
    assert (X : (g1 - c) * d1 t <= (g1 - c) * (k * d2 t)) by (apply Rmult_le_compat_l; lra).
      rewrite <- Rmult_assoc, K1 in X.
    assert (Y : g1 * d1 t <= g1 * (k * d2 t)) by (apply Rmult_le_compat_l; lra).
    assert (Y2 : g1 * k * d2 t <= c * d2 t) by (apply Rmult_le_compat_r; lra).
    assert (Z : c * d1 t <= c * (k * d2 t)) by (apply Rmult_le_compat_l; lra).
    assert (Z2 : c * k * d2 t <= g2 * d2 t) by (apply Rmult_le_compat_r; lra).
    cbn [Sum]. rewrite step1, step2. repeat split; lra. }
  apply lim_m_inf. intros M. destruct (diverges ((1 + k) * (2 * (Rabs M + Rabs a + 1) / (c - g2)))) as [N HN].
  exists N. intros t Ht. destruct (INV t) as [A [B C]]. destruct (INV N) as [A' [B' C']].
  assert (MN := Sum_mono d2 N t ltac:(intros; left; apply pos2) Ht).
  assert (L : 2 * (Rabs M + Rabs a + 1) / (c - g2) < Sum N d2).
  { apply Rmult_lt_reg_l with (1 + k); lra. }
  assert (L2 : Rabs M + Rabs a + 1 < / 2 * (c - g2) * Sum t d2).
  { apply Rlt_le_trans with (/ 2 * (c - g2) * Sum N d2); [|apply Rmult_le_compat_l; lra].
    apply Rmult_lt_reg_l with (2 / (c - g2)); [apply Rdiv_lt_0_compat; lra|].
    replace (2 / (c - g2) * (/ 2 * (c - g2) * Sum N d2)) with (Sum N d2) by (field; lra).
    replace (2 / (c - g2) * (Rabs M + Rabs a + 1)) with (2 * (Rabs M + Rabs a + 1) / (c - g2)) by (unfold Rdiv;
      ring). easy. }
  assert (U := Rle_abs (- M)). rewrite Rabs_Ropp in U. assert (V := Rle_abs (- a)). rewrite Rabs_Ropp in V. lra.
Qed.

Variables (k1 k2 b : R).
Hypothesis K1 : 0 < k1.
Hypothesis K2 : 0 < k2.

(* far from 0 the one that is behind pushes with a share of the other's force that grows with h₁ + h₂ *)
Hypothesis tool1 : forall t, h1 t <= 0 <= h2 t -> k1 * exp (h1 t + h2 t) * d2 t <= d1 t.
Hypothesis tool2 : forall t, h2 t <= 0 <= h1 t -> k2 * exp (h1 t + h2 t) * d1 t <= d2 t.
Hypothesis B0 : 0 <= b.
Hypothesis bounded1 : forall t, h1 t - b <= h1 (S t).
Hypothesis bounded2 : forall t, h2 t - b <= h2 (S t).

Lemma exp_ge x k : 0 < k -> ln k <= x -> k <= exp x.
Proof. intros H L. rewrite <- (exp_ln k H). destruct L as [L| ->]; [left; now apply exp_increasing|lra]. Qed.

(** Number 2 is never lost if it pushes 1 harder than 1 pushes itself. *)
Lemma second_kept : g2 < c -> c < g1 -> c ^ 2 < g1 * g2 -> 0 < g2 -> exists m, forall t, m <= h2 t.
Proof.
  intros G2 G1 PD P2. set (V := c * h1 0%nat + g1 * h2 0%nat).
  assert (HV : forall t, V <= c * h1 t + g1 * h2 t).
  { intros t. destruct (gaps_by_pushes t) as [-> ->]. assert (Q := Sum_pos2 t). unfold V. nra. }
  assert (GR : 0 < g1 / c - 1) by (assert (1 < g1 / c); [|lra]; apply Rmult_lt_reg_r with c; [lra|];
    replace (g1 / c * c) with g1 by (field; lra); lra).
  set (L := ln (c / g2 / k2)).
  set (M := Rmax (Rabs V / g1) ((Rabs L + Rabs (V / c)) / (g1 / c - 1))).
  apply (falls_only_above h2 M b 0); [|easy|easy]. intros t _ Ht.
  assert (M1 : Rabs V / g1 <= M) by apply Rmax_l.
    assert (M2 : (Rabs L + Rabs (V / c)) / (g1 / c - 1) <= M) by apply Rmax_r.
  set (m := - h2 t). assert (Hm : M <= m) by (unfold m; lra).
  assert (N1 : Rabs V <= g1 * m).
  { apply Rle_trans with (g1 * (Rabs V / g1)); [right; field; lra|]. apply Rmult_le_compat_l; lra. }
  assert (N2 : Rabs L + Rabs (V / c) <= (g1 / c - 1) * m).
  { apply Rle_trans with ((g1 / c - 1) * ((Rabs L + Rabs (V / c)) / (g1 / c - 1))); [right; field; split; lra|].
    apply Rmult_le_compat_l; lra. }
  assert (Q := HV t). assert (U := Rle_abs (- V)). rewrite Rabs_Ropp in U. assert (V0 := Rabs_pos V).
  assert (m0 : 0 <= m) by nra.
  assert (H1 : V / c + g1 / c * m <= h1 t).
  { apply Rmult_le_reg_l with c; [lra|]. replace (c * (V / c + g1 / c * m)) with (V + g1 * m) by (field; lra).
    unfold m. lra. }
  assert (H10 : 0 <= h1 t) by (apply Rmult_le_reg_l with c; [lra|]; unfold m in N1; lra).
  assert (SL : L <= h1 t + h2 t).
  { assert (W := Rle_abs (- (V / c))). rewrite Rabs_Ropp in W. assert (W2 := Rle_abs L). unfold m in *. lra. }
  assert (T := tool2 t ltac:(unfold m in m0; lra)).
    apply exp_ge in SL; [|apply Rdiv_lt_0_compat; [apply Rdiv_lt_0_compat|]; lra].
  assert (P := pos1 t). assert (X : c / g2 * d1 t <= k2 * exp (h1 t + h2 t) * d1 t).
  { apply Rmult_le_compat_r; [lra|]. apply (Rmult_le_compat_l k2) in SL; [|lra].
    replace (k2 * (c / g2 / k2)) with (c / g2) in SL by (field; lra). easy. }
  rewrite step2. assert (Y : g2 * (c / g2 * d1 t) <= g2 * d2 t) by (apply Rmult_le_compat_l; lra).
  replace (g2 * (c / g2 * d1 t)) with (c * d1 t) in Y by (field; lra). lra.
Qed.

Lemma sum_grows s t : c <= g1 -> c <= g2 -> (s <= t)%nat -> h1 s + h2 s <= h1 t + h2 t.
Proof.
  intros C1 C2 H. induction H as [|t H IH]; [lra|]. rewrite step1, step2. assert (P := pos1 t). assert (Q := pos2 t).
    nra.
Qed.

(** If neither pushes the other harder than itself, their sum passes every bound. *)
Lemma sum_passes L : 0 < c -> c < g1 -> c <= g2 -> exists t, L <= h1 t + h2 t.
Proof.
  intros Pc C1 C2. apply NNPP. intros N. assert (HL : forall t, h1 t + h2 t < L).
  { intros t. apply Rnot_le_lt. intros Q. apply N. now exists t. }
  set (s0 := h1 0%nat + h2 0%nat) in *. set (B := (L - s0) / (g1 - c)).
  assert (SB : forall t, Sum t d1 <= B).
  { intros t. assert (Q := HL t). destruct (gaps_by_pushes t) as [A1 A2]. rewrite A1, A2 in Q. assert (P := Sum_pos2 t).
    assert (0 <= (g2 - c) * Sum t d2) by (apply Rmult_le_pos; lra).
    apply Rmult_le_reg_l with (g1 - c); [lra|]. unfold B, s0.
      replace ((g1 - c) * ((L - (h1 0%nat + h2 0%nat)) / (g1 - c)))
      with (L - (h1 0%nat + h2 0%nat)) by (field; lra). lra. }
  assert (B0' : 0 <= B) by (assert (Q := SB 0%nat); simpl in Q; lra).
  assert (D2 : forall M, exists t, M < Sum t d2).
  { intros M. destruct (diverges (M + B)) as [t Ht]. exists t. assert (Q := SB t). lra. }
  destruct (D2 ((Rabs (h1 0%nat) + g1 * B) / c + (Rabs (h2 0%nat) + c * B) / c)) as [T0 HT].
  set (k := k1 * exp s0). assert (Pk : 0 < k) by (apply Rmult_lt_0_compat; [easy|apply exp_pos]).
  assert (X1 : 0 <= (Rabs (h1 0%nat) + g1 * B) / c) by (assert (Q := Rabs_pos (h1 0%nat)); apply Rdiv_le_0_compat; nra).
  assert (X2 : 0 <= (Rabs (h2 0%nat) + c * B) / c) by (assert (Q := Rabs_pos (h2 0%nat)); apply Rdiv_le_0_compat; nra).
  assert (LATE : forall j, k * (Sum (T0 + j) d2 - Sum T0 d2) <= Sum (T0 + j) d1).
  { induction j.
    - rewrite Nat.add_0_r. assert (Q := Sum_pos1 T0). lra.
    - rewrite Nat.add_succ_r. cbn [Sum]. set (t := (T0 + j)%nat) in *.
      assert (M := Sum_mono d2 T0 t ltac:(intros; left; apply pos2) ltac:(unfold t; lia)).
      destruct (gaps_by_pushes t) as [A1 A2]. assert (Q := SB t). assert (Q1 := Sum_pos1 t).
      assert (Y1 : Rabs (h1 0%nat) + g1 * B <= c * Sum t d2).
      { apply Rle_trans with (c * ((Rabs (h1 0%nat) + g1 * B) / c)); [right; field; lra|].
        apply Rmult_le_compat_l; lra. }
      assert (Y2 : Rabs (h2 0%nat) + c * B <= c * Sum t d2).
      { apply Rle_trans with (c * ((Rabs (h2 0%nat) + c * B) / c)); [right; field; lra|].
        apply Rmult_le_compat_l; lra. }
      assert (U1 := Rle_abs (h1 0%nat)). assert (U2 := Rle_abs (- h2 0%nat)). rewrite Rabs_Ropp in U2.
      assert (g1 * Sum t d1 <= g1 * B) by (apply Rmult_le_compat_l; lra).
      assert (c * Sum t d1 <= c * B) by (apply Rmult_le_compat_l; lra).
      assert (c * Sum t d2 <= g2 * Sum t d2) by (apply Rmult_le_compat_r; [apply Sum_pos2|lra]).
      assert (T := tool1 t ltac:(lra)). assert (S0 := sum_grows 0 t ltac:(lra) C2 ltac:(lia)). fold s0 in S0.
      assert (E : exp s0 <= exp (h1 t + h2 t)) by (destruct S0 as [S0| ->]; [left; now apply exp_increasing|lra]).
      assert (P2 := pos2 t). assert (k * d2 t <= k1 * exp (h1 t + h2 t) * d2 t).
      { apply Rmult_le_compat_r; [lra|]. unfold k. apply Rmult_le_compat_l; lra. }
      lra. }
  destruct (D2 (Sum T0 d2 + B / k)) as [t Ht].
  assert (BK : 0 <= B / k) by (apply Rdiv_le_0_compat; lra).
  destruct (le_lt_dec T0 t) as [C|C].
  - assert (Q := LATE (t - T0)%nat). replace (T0 + (t - T0))%nat with t in Q by lia. assert (Q2 := SB t).
    assert (k * (B / k) < k * (Sum t d2 - Sum T0 d2)) by (apply Rmult_lt_compat_l; lra).
    replace (k * (B / k)) with B in * by (field; lra). lra.
  - assert (M := Sum_mono d2 t T0 ltac:(intros; left; apply pos2) ltac:(lia)). lra.
Qed.

(** Once the sum is large the one that is behind rises. *)
Lemma first_kept T0 : 0 < c -> c <= g1 -> c <= g2 -> Rmax 0 (ln (c / g1 / k1)) <= h1 T0 + h2 T0 ->
  exists m, forall t, m <= h1 t.
Proof.
  intros Pc C1 C2 HT. assert (M1 : 0 <= h1 T0 + h2 T0) by (eapply Rle_trans; [apply Rmax_l|exact HT]).
  assert (M2 : ln (c / g1 / k1) <= h1 T0 + h2 T0) by (eapply Rle_trans; [apply Rmax_r|exact HT]).
  apply (falls_only_above h1 0 b T0); [|easy|easy]. intros t Ht H. assert (G := sum_grows T0 t C1 C2 Ht).
  assert (T := tool1 t ltac:(lra)). assert (SL : ln (c / g1 / k1) <= h1 t + h2 t) by lra.
  apply exp_ge in SL; [|apply Rdiv_lt_0_compat; [apply Rdiv_lt_0_compat|]; lra].
  assert (P := pos2 t). assert (X : c / g1 * d2 t <= k1 * exp (h1 t + h2 t) * d2 t).
  { apply Rmult_le_compat_r; [lra|]. apply (Rmult_le_compat_l k1) in SL; [|lra].
    replace (k1 * (c / g1 / k1)) with (c / g1) in SL by (field; lra). easy. }
  rewrite step1. assert (Y : g1 * (c / g1 * d2 t) <= g1 * d1 t) by (apply Rmult_le_compat_l; lra).
  replace (g1 * (c / g1 * d2 t)) with (c * d2 t) in Y by (field; lra). lra.
Qed.

End TwoGaps.
