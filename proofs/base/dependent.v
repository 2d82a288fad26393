(** n + 1 vectors of ℝⁿ are linearly dependent. *)
Require Import Reals Lra Lia.
From Shallow Require Import base.sums base.vectors.
Open Scope R_scope.

(** the rows A_0 … A_(N−1) of ℝᵈ are linearly dependent: Σ v_i A_i = 0 for some v ≠ 0 *)
Definition dependent (N d : nat) (A : matrix) : Prop :=
  exists v : vector, (exists i, (i < N)%nat /\ v i <> 0) /\ forall j, (j < d)%nat -> Sum N (fun i => v i * A i j) = 0.

(** a sum without its p-th term *)
Lemma Sum_skip m f p : (p <= m)%nat -> Sum (S m) f = Sum m (fun i => if (i <? p)%nat then f i else f (S i)) + f p.
Proof.
  revert p. induction m; intros p Hp.
  - replace p with O by lia. simpl. ring.
  - destruct (Nat.eq_dec p (S m)) as [->|].
    + cbn [Sum]. rewrite (Sum_ext m (fun i => if (i <? S m)%nat then f i else f (S i)) f).
      * replace (m <? S m)%nat with true by (symmetry; apply Nat.ltb_lt; lia). ring.
      * intros i Hi. now replace (i <? S m)%nat with true by (symmetry; apply Nat.ltb_lt; lia).
    + change (Sum (S (S m)) f) with (Sum (S m) f + f (S m)). rewrite (IHm p) by lia. cbn [Sum].
      replace (m <? p)%nat with false by (symmetry; apply Nat.ltb_ge; lia). ring.
Qed.

Lemma zero_or_not n (a : vector) : (forall i, (i < n)%nat -> a i = 0) \/ exists i, (i < n)%nat /\ a i <> 0.
Proof.
  induction n; [left; lia|]. destruct IHn as [Z|[i [Hi Ni]]]; [|right; exists i; split; [lia|easy]].
  destruct (Req_dec (a n) 0) as [E|E]; [left|right; exists n; split; [lia|easy]].
  intros i Hi. destruct (Nat.eq_dec i n) as [->|]; [easy|apply Z; lia].
Qed.

Lemma too_many n A : dependent (S n) n A.
Proof.
  revert A. induction n; intros A.
  - exists (fun _ => 1). split; [exists O; split; [lia|lra]|lia].
  - destruct (zero_or_not (S (S n)) (fun i => A i n)) as [Z|[p [Hp Np]]].
    + destruct (IHn A) as [v [[i [Hi Ni]] H]].
      exists (fun i => if (i <? S n)%nat then v i else 0). split.
      * exists i. split; [lia|]. now replace (i <? S n)%nat with true by (symmetry; apply Nat.ltb_lt; lia).
      * intros j Hj. change (Sum (S (S n)) ?f) with (Sum (S n) f + f (S n)). cbn beta.
        replace (S n <? S n)%nat with false by (symmetry; apply Nat.ltb_ge; lia). rewrite Rmult_0_l, Rplus_0_r.
        rewrite (Sum_ext (S n) _ (fun i => v i * A i j))
          by (intros k Hk; now replace (k <? S n)%nat with true by (symmetry; apply Nat.ltb_lt; lia)).
        destruct (Nat.eq_dec j n) as [->|]; [|apply H; lia].
        rewrite (Sum_ext (S n) _ (fun _ => 0)), Sum_zero; [easy|]. intros k Hk. rewrite Z by lia. ring.
    + set (s := fun i => if (i <? p)%nat then i else S i).
      destruct (IHn (fun i j => A (s i) j - A (s i) n / A p n * A p j)) as [v [[i [Hi Ni]] H]].
      set (c := - Sum (S n) (fun i => v i * A (s i) n) / A p n).
      set (w := fun i => if (i =? p)%nat then c else if (i <? p)%nat then v i else v (pred i)).
      assert (W : forall i, w (s i) = v i).
      { intros k. unfold w, s. destruct (Nat.ltb_spec k p) as [L|L].
        - replace (k =? p)%nat with false by (symmetry; apply Nat.eqb_neq; lia).
          now replace (k <? p)%nat with true by (symmetry; apply Nat.ltb_lt; lia).
        - replace (S k =? p)%nat with false by (symmetry; apply Nat.eqb_neq; lia).
          now replace (S k <? p)%nat with false by (symmetry; apply Nat.ltb_ge; lia). }
      exists w. split.
      * exists (s i). split; [unfold s; destruct (i <? p)%nat; lia|now rewrite W].
      * intros j Hj. rewrite (Sum_skip (S n) _ p) by lia.
        rewrite (Sum_ext (S n) _ (fun i => v i * A (s i) j)).
        2:{ intros k _. rewrite <- (W k). unfold s. now destruct (k <? p)%nat. }
        unfold w at 1. rewrite Nat.eqb_refl. unfold c.
        destruct (Nat.eq_dec j n) as [->|].
        -- field. easy.
        -- assert (K := H j ltac:(lia)).
           rewrite (Sum_ext (S n) _ (fun i => v i * A (s i) j - (A p j / A p n) * (v i * A (s i) n))), Sum_minus,
             Sum_scal in K
             by (intros; field; easy).
           replace (- Sum (S n) (fun i => v i * A (s i) n) / A p n * A p j)
             with (- (A p j / A p n * Sum (S n) (fun i => v i * A (s i) n)))
             by (field; easy). lra.
Qed.
