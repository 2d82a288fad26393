(** Fewer equations than unknowns have a solution other than 0; so what is injective on ℝⁿ is onto. *)
Require Import Reals Lra Lia.
From Shallow Require Import base.sums base.vectors.
Open Scope R_scope.

Lemma Sum_skip n p f : (p <= n)%nat ->
  Sum (S n) f = Sum n (fun j => f (if Nat.ltb j p then j else S j)) + f p.
Proof.
  induction n; intros Hp.
  - replace p with O by lia. simpl. ring.
  - destruct (Nat.eq_dec p (S n)) as [->|].
    + cbn [Sum]. replace (Nat.ltb n (S n)) with true by (symmetry; apply Nat.ltb_lt; lia).
      rewrite (Sum_ext n (fun j => f (if Nat.ltb j (S n) then j else S j)) f); [ring|].
      intros j Hj. now replace (Nat.ltb j (S n)) with true by (symmetry; apply Nat.ltb_lt; lia).
    + change (Sum (S (S n)) f) with (Sum (S n) f + f (S n)). rewrite IHn by lia. cbn [Sum].
      replace (Nat.ltb n p) with false by (symmetry; apply Nat.ltb_ge; lia). ring.
Qed.

Lemma all_zero_or m f : (forall j, (j < m)%nat -> f j = 0) \/ exists j, (j < m)%nat /\ f j <> 0.
Proof.
  induction m; [left; intros; lia|]. destruct IHm as [H|(j & Hj & H)]; [|right; exists j; split; [lia|easy]].
  destruct (Req_dec (f m) 0) as [E|E]; [left|right; exists m; split; [lia|easy]].
  intros j Hj. destruct (Nat.eq_dec j m) as [->|]; [easy|apply H; lia].
Qed.

Lemma dependence n : forall m (A : matrix), (n < m)%nat -> exists c : vector,
  (exists j, (j < m)%nat /\ c j <> 0) /\ forall i, (i < n)%nat -> Sum m (fun j => A i j * c j) = 0.
Proof.
  induction n; intros m A H.
  - exists (fun _ => 1). split; [exists O; split; [lia|lra]|intros; lia].
  - destruct (all_zero_or m (A n)) as [Z|(p & Hp & Hpn)].
    + destruct (IHn m A ltac:(lia)) as (c & Hc & Hs). exists c. split; [easy|]. intros i Hi.
      destruct (Nat.eq_dec i n) as [->|]; [|apply Hs; lia].
      rewrite (Sum_ext m _ (fun _ => 0)), Sum_zero; [easy|]. intros j Hj. rewrite Z by easy. ring.
    + destruct m as [|m]; [lia|]. set (skip := fun j => if Nat.ltb j p then j else S j).
      destruct (IHn m (fun i j => A i (skip j) - A i p * (A n (skip j) / A n p)) ltac:(lia)) as (c & (q & Hq & Hcq) &
        Hs).
      set (t := - Sum m (fun j => A n (skip j) / A n p * c j)).
      exists (fun j => if Nat.eqb j p then t else if Nat.ltb j p then c j else c (pred j)).
      assert (K : forall j, (if Nat.eqb (skip j) p then t else if Nat.ltb (skip j) p then c (skip j) else c (pred (skip
        j))) = c j).
      { intros j. unfold skip. destruct (Nat.ltb j p) eqn:E.
        - apply Nat.ltb_lt in E. replace (Nat.eqb j p) with false by (symmetry; apply Nat.eqb_neq; lia).
          now replace (Nat.ltb j p) with true by (symmetry; apply Nat.ltb_lt; lia).
        - apply Nat.ltb_ge in E. replace (Nat.eqb (S j) p) with false by (symmetry; apply Nat.eqb_neq; lia).
          now replace (Nat.ltb (S j) p) with false by (symmetry; apply Nat.ltb_ge; lia). }
      split.
      * exists (skip q). split; [unfold skip; destruct (Nat.ltb q p); lia|]. now rewrite K.
      * assert (G : forall i, Sum (S m) (fun j => A i j * (if Nat.eqb j p then t else if Nat.ltb j p then c j
          else c (pred j))) = Sum m (fun j => (A i (skip j) - A i p * (A n (skip j) / A n p)) * c j)).
        { intros i. rewrite (Sum_skip m p) by lia. fold skip. rewrite Nat.eqb_refl.
          rewrite (Sum_ext m _ (fun j => A i (skip j) * c j)) by (intros j _; f_equal; apply (K j)).
          unfold t. transitivity (Sum m (fun j => A i (skip j) * c j)
            - A i p * Sum m (fun j => A n (skip j) / A n p * c j)); [ring|].
          rewrite <- Sum_scal, <- Sum_minus. apply Sum_ext; intros; ring. }
        intros i Hi. rewrite G. destruct (Nat.eq_dec i n) as [->|]; [|apply Hs; lia].
        rewrite (Sum_ext m _ (fun _ => 0)), Sum_zero; [easy|]. intros; field; easy.
Qed.

(** If only 0 is mapped to 0 by the n × n matrix A, every y is A x for some x. *)
Lemma onto n (A : matrix) (y : vector) :
  (forall x, (forall i, (i < n)%nat -> matvec n A x i = 0) -> forall i, (i < n)%nat -> x i = 0) ->
  exists x, forall i, (i < n)%nat -> matvec n A x i = y i.
Proof.
  intros H. destruct (dependence n (S n) (fun i j => if Nat.eqb j n then y i else A i j) ltac:(lia))
    as (c & (q & Hq & Hcq) & Hs).
  assert (G : forall i, (i < n)%nat -> matvec n A c i + y i * c n = 0).
  { intros i Hi. rewrite <- (Hs i Hi). cbn [Sum]. rewrite Nat.eqb_refl. f_equal. apply Sum_ext; intros j Hj.
    now replace (Nat.eqb j n) with false by (symmetry; apply Nat.eqb_neq; lia). }
  assert (Hn : c n <> 0).
  { intros Z. assert (K : forall i, (i < n)%nat -> c i = 0) by (apply H; intros i Hi; specialize (G i Hi);
    rewrite Z in G; lra).
    apply Hcq. destruct (Nat.eq_dec q n) as [->|]; [easy|apply K; lia]. }
  exists (fun j => - / c n * c j). intros i Hi.
  transitivity (- / c n * matvec n A c i); [unfold matvec; rewrite <- Sum_scal; apply Sum_ext; intros; ring|].
  replace (matvec n A c i) with (- (y i * c n)) by (specialize (G i Hi); lra). now field.
Qed.
