(** The shortest vector under finitely many linear constraints, or a certificate that there is none. *)
Require Import Reals Lra Lia Psatz.
From Shallow Require Import base.sums base.vectors.
Open Scope R_scope.

(** Σ λ_k E_k over k < K *)
Definition combination (K : nat) (lam : vector) (E : nat -> vector) : vector := fun a => Sum K (fun k => lam k * E k a).

(** λ are multipliers of the shortest W with ⟨E_k, W⟩ ≥ b_k: λ ≥ 0, W = Σ λ_k E_k meets all constraints, and
    λ_k = 0 wherever one holds with room *)
Definition multipliers (K D : nat) (E : nat -> vector) (b lam : vector) : Prop :=
  forall k, (k < K)%nat -> 0 <= lam k /\ b k <= dot D (E k) (combination K lam E) /\
    lam k * (dot D (E k) (combination K lam E) - b k) = 0.

(** λ ≥ 0 with Σ λ_k E_k = 0 and Σ λ_k b_k > 0: no W has ⟨E_k, W⟩ ≥ b_k for all k *)
Definition certificate (K D : nat) (E : nat -> vector) (b lam : vector) : Prop :=
  (forall k, (k < K)%nat -> 0 <= lam k) /\ (forall a, (a < D)%nat -> combination K lam E a = 0) /\
  0 < Sum K (fun k => lam k * b k).

Lemma dot_ext d x y v w : (forall a, (a < d)%nat -> x a = v a) -> (forall a, (a < d)%nat -> y a = w a) ->
  dot d x y = dot d v w.
Proof. intros H K. apply Sum_ext; intros. now rewrite H, K. Qed.

Lemma dot_combination K D lam E V : dot D (combination K lam E) V = Sum K (fun k => lam k * dot D (E k) V).
Proof.
  unfold dot, combination. rewrite (Sum_ext D _ (fun a => Sum K (fun k => lam k * (E k a * V a)))).
  - rewrite Sum_swap. apply Sum_ext; intros. now rewrite <- Sum_scal.
  - intros a _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma sq_zero d x : sq d x = 0 -> forall a, (a < d)%nat -> x a = 0.
Proof.
  intros H a Ha. assert (x a ^ 2 <= 0) by (rewrite <- H; apply (Sum_term d (fun i => x i ^ 2)); auto using pow2_ge_0).
  nra.
Qed.

Definition extend (K : nat) (lam : vector) (c : R) : vector := fun k => if Nat.eqb k K then c else lam k.

Lemma extend_last K lam c : extend K lam c K = c.
Proof. unfold extend. now rewrite Nat.eqb_refl. Qed.

Lemma extend_old K lam c k : (k < K)%nat -> extend K lam c k = lam k.
Proof. intros H. unfold extend. destruct (Nat.eqb_spec k K); [lia|easy]. Qed.

Lemma extend_sum K lam c f : Sum (S K) (fun k => extend K lam c k * f k) = Sum K (fun k => lam k * f k) + c * f K.
Proof. cbn [Sum]. rewrite extend_last. f_equal. apply Sum_ext; intros. now rewrite extend_old. Qed.

Lemma extend_combination K lam c E a : combination (S K) (extend K lam c) E a = combination K lam E a + c * E K a.
Proof. apply (extend_sum K lam c (fun k => E k a)). Qed.

(** One constraint at a time: if the shortest vector of the others violates it, it holds with equality. *)
Lemma shortest_or_certificate D K : forall E b,
  (exists lam, multipliers K D E b lam) \/ (exists lam, certificate K D E b lam).
Proof.
  induction K as [|K IH]; intros E b; [left; exists (fun _ => 0); intros k Hk; lia|].
  destruct (IH E b) as [[lam Hlam]|[lam [H0 [H1 H2]]]].
  2:{ right. exists (extend K lam 0). split; [|split].
      - intros k Hk. destruct (Nat.eq_dec k K) as [->|]; [rewrite extend_last; lra|rewrite extend_old by lia;
        apply H0; lia].
      - intros a Ha. rewrite extend_combination, H1 by easy. ring.
      - rewrite extend_sum. lra. }
  set (W := combination K lam E) in *.
  destruct (Rle_lt_dec (b K) (dot D (E K) W)) as [Hb|Hb].
  { left. exists (extend K lam 0). assert (Q : forall k, dot D (E k) (combination (S K) (extend K lam 0) E)
    = dot D (E k) W).
    { intros k. apply dot_ext; [easy|]. intros a _. rewrite extend_combination. unfold W. ring. }
    intros k Hk. rewrite Q. destruct (Nat.eq_dec k K) as [->|].
    - rewrite extend_last. repeat split; try lra.
    - rewrite extend_old by lia. apply Hlam. lia. }
  set (N := sq D (E K)). destruct (Req_dec N 0) as [HN|HN].
  { right. exists (extend K (fun _ => 0) 1). assert (Z := sq_zero D (E K) HN). split; [|split].
    - intros k _. unfold extend. destruct (Nat.eqb k K); lra.
    - intros a Ha. rewrite extend_combination, Z by easy. unfold combination.
      rewrite (Sum_ext K _ (fun _ => 0)) by (intros; ring). rewrite Sum_zero. ring.
    - rewrite extend_sum, (Sum_ext K _ (fun _ => 0)) by (intros; ring). rewrite Sum_zero.
      replace (dot D (E K) W) with 0 in Hb; [lra|]. symmetry. unfold dot.
      rewrite (Sum_ext D _ (fun _ => 0)); [apply Sum_zero|]. intros. rewrite Z by easy. ring. }
  assert (PN : 0 < N) by (assert (0 <= N) by apply sq_ge0; lra).
  set (r := fun k => dot D (E k) (E K) / N).
  set (F := fun k => vminus (E k) (vscal (r k) (E K))).
  set (b' := fun k => b k - r k * b K).
  assert (FE : forall k, dot D (F k) (E K) = 0).
  { intros k. unfold F. rewrite dot_minus_l, dot_scal_l, <- sq_dot. fold N. unfold r. field. lra. }
  assert (CF : forall mu a, combination K mu F a = combination K mu E a - Sum K (fun k => mu k * r k) * E K a).
  { intros mu a. unfold combination, F, vminus, vscal. rewrite Rmult_comm, <- Sum_scal, <- Sum_minus.
    apply Sum_ext; intros; ring. }
  destruct (IH F b') as [[mu Hmu]|[mu [H0 [H1 H2]]]].
  - left. set (c := Sum K (fun k => mu k * r k)). set (V := combination K mu F) in *.
    exists (extend K mu (b K / N - c)). set (W' := combination (S K) (extend K mu (b K / N - c)) E).
    assert (W'V : forall a, W' a = V a + b K / N * E K a).
    { intros a. unfold W', V. rewrite extend_combination, CF. fold c. ring. }
    assert (EV : dot D (E K) V = 0).
    { rewrite dot_sym. unfold V. rewrite dot_combination, (Sum_ext K _ (fun _ => 0)); [apply Sum_zero|].
      intros. rewrite FE. ring. }
    assert (EW' : forall k, dot D (E k) W' = dot D (F k) V + r k * b K).
    { intros k. transitivity (dot D W' (E k)); [apply dot_sym|].
      rewrite (dot_ext D W' (E k) (vplus V (vscal (b K / N) (E K))) (E k)) by (intros; easy || apply W'V).
      rewrite dot_plus_l, dot_scal_l. unfold F.
        rewrite dot_minus_l, dot_scal_l, EV, (dot_sym D V), (dot_sym D (E K) (E k)).
      unfold r. field. lra. }
    assert (EWK : dot D (E K) W' = b K).
    { rewrite dot_sym, (dot_ext D W' (E K) (vplus V (vscal (b K / N) (E K))) (E K)) by (intros; easy || apply W'V).
      rewrite dot_plus_l, dot_scal_l, (dot_sym D V), EV, <- sq_dot. fold N. field. lra. }
    assert (Hk : forall k, (k < K)%nat -> 0 <= mu k /\ b k <= dot D (E k) W' /\ mu k * (dot D (E k) W' - b k) = 0).
    { intros k Hk. destruct (Hmu k Hk) as [A [B C]]. fold V in B, C. rewrite EW'. unfold b' in B, C.
      repeat split; [easy|lra|]. rewrite <- C. ring. }
    intros k Hk1. fold W'. destruct (Nat.eq_dec k K) as [->|].
    2:{ rewrite extend_old by lia. apply Hk. lia. }
    rewrite extend_last, EWK. repeat split; [|lra|ring].
    set (l := b K / N - c) in *.
    (* ‖W' − W‖² ≤ λ_K (b_K − ⟨E_K, W⟩) *)
    assert (Q : sq D (vminus W' W) <= l * (b K - dot D (E K) W)).
    { rewrite sq_dot, dot_minus_l. unfold W' at 1, W at 2. rewrite !dot_combination.
      rewrite (extend_sum K mu l (fun k => dot D (E k) (vminus W' W))).
      assert (DV : forall k, dot D (E k) (vminus W' W) = dot D (E k) W' - dot D (E k) W)
        by (intros; rewrite !(dot_sym D (E _)); apply dot_minus_l).
      rewrite (DV K), EWK.
      assert (Sum K (fun k => mu k * dot D (E k) (vminus W' W)) <= Sum K (fun k => lam k * dot D (E k) (vminus W' W)));
        [|lra].
      apply Sum_le. intros k Hk2. rewrite DV. destruct (Hk k Hk2) as [A [B C]]. destruct (Hlam k Hk2) as [A' [B' C']].
      fold W in B', C'. apply Rle_trans with 0.
      - assert (0 <= mu k * (dot D (E k) W - b k)) by (apply Rmult_le_pos; lra). lra.
      - assert (0 <= lam k * (dot D (E k) W' - b k)) by (apply Rmult_le_pos; lra). lra. }
    assert (0 <= sq D (vminus W' W)) by apply sq_ge0.
    apply Rmult_le_reg_r with (b K - dot D (E K) W); lra.
  - right. set (c := Sum K (fun k => mu k * r k)) in *.
    assert (S2 : Sum K (fun k => mu k * b' k) = Sum K (fun k => mu k * b k) - c * b K).
    { unfold b', c. rewrite (Rmult_comm _ (b K)), <- Sum_scal, <- Sum_minus. apply Sum_ext; intros; ring. }
    assert (CE : forall a, (a < D)%nat -> combination K mu E a = c * E K a).
    { intros a Ha. assert (Q := H1 a Ha). rewrite CF in Q. fold c in Q. lra. }
    destruct (Rle_lt_dec c 0) as [Hc|Hc].
    + exists (extend K mu (- c)). split; [|split].
      * intros k Hk. destruct (Nat.eq_dec k K) as [->|]; [rewrite extend_last; lra|rewrite extend_old by lia;
        apply H0; lia].
      * intros a Ha. rewrite extend_combination, CE by easy. ring.
      * rewrite extend_sum. lra.
    + exfalso. assert (Q : dot D (combination K mu E) W = c * dot D (E K) W).
      { rewrite <- dot_scal_l. apply dot_ext; [exact CE|easy]. }
      rewrite dot_combination in Q. assert (Sum K (fun k => mu k * b k) <= Sum K (fun k => mu k * dot D (E k) W)).
      { apply Sum_le. intros k Hk. apply Rmult_le_compat_l; [now apply H0|apply Hlam, Hk]. }
      assert (c * dot D (E K) W < c * b K) by (apply Rmult_lt_compat_l; lra). lra.
Qed.
