(** One unit of an independently recurrent network: states, their derivatives forwards and backwards in time. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors.
Open Scope R_scope.

(** h₀ = 0, h_t = σ(x_t + w h_{t−1}); the drive x_t of time t has the index t − 1, and so has z_t = x_t + w h_{t−1} *)
Fixpoint state (sigma : R -> R) (w : R) (x : vector) (t : nat) : R :=
  match t with O => 0 | S t' => sigma (x t' + w * state sigma w x t') end.

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
