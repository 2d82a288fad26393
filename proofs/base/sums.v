(** Finite sums: Sum n f = f 0 + … + f (n − 1). *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(** f 0 + … + f (n − 1) *)
Fixpoint Sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S k => Sum k f + f k end.

Lemma Sum_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> Sum n f = Sum n g.
Proof. induction n; simpl; intros H; [easy|]. rewrite IHn by (intros; apply H; lia). now rewrite H by lia. Qed.

Lemma Sum_plus n f g : Sum n (fun i => f i + g i) = Sum n f + Sum n g.
Proof. induction n; simpl; [lra|]. rewrite IHn. lra. Qed.

Lemma Sum_minus n f g : Sum n (fun i => f i - g i) = Sum n f - Sum n g.
Proof. induction n; simpl; [lra|]. rewrite IHn. lra. Qed.

Lemma Sum_scal n c f : Sum n (fun i => c * f i) = c * Sum n f.
Proof. induction n; simpl; [lra|]. rewrite IHn. lra. Qed.

Lemma Sum_const n c : Sum n (fun _ => c) = INR n * c.
Proof. induction n; [simpl; lra|]. rewrite S_INR. simpl. rewrite IHn. lra. Qed.

Lemma Sum_zero n : Sum n (fun _ => 0) = 0.
Proof. rewrite Sum_const. lra. Qed.

Lemma Sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> Sum n f <= Sum n g.
Proof.
  induction n; simpl; intros H; [lra|].
  apply Rplus_le_compat; [apply IHn; intros; apply H; lia | apply H; lia].
Qed.

Lemma Sum_ge0 n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= Sum n f.
Proof. intros H. rewrite <- (Sum_zero n). now apply Sum_le. Qed.

Lemma Sum_gt0 n f : (0 < n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < Sum n f.
Proof.
  destruct n; [lia|]. intros _ H. simpl. apply Rplus_le_lt_0_compat; [|apply H; lia].
  apply Sum_ge0. intros; left; apply H; lia.
Qed.

(** One term of a sum of non-negative terms. *)
Lemma Sum_term n f k : (k < n)%nat -> (forall i, (i < n)%nat -> 0 <= f i) -> f k <= Sum n f.
Proof.
  induction n; intros Hk H; [lia|]. simpl. assert (0 <= f n) by (apply H; lia).
  destruct (Nat.eq_dec k n) as [->|]; [assert (0 <= Sum n f) by (apply Sum_ge0; intros; apply H; lia); lra|].
  assert (f k <= Sum n f) by (apply IHn; [lia|intros; apply H; lia]). lra.
Qed.

Lemma Sum_abs n f : Rabs (Sum n f) <= Sum n (fun i => Rabs (f i)).
Proof. induction n; simpl; [rewrite Rabs_R0; lra|]. eapply Rle_trans; [apply Rabs_triang|lra]. Qed.

Lemma Sum_swap n m f : Sum n (fun i => Sum m (fun j => f i j)) = Sum m (fun j => Sum n (fun i => f i j)).
Proof. induction n; simpl; [now rewrite Sum_zero|]. rewrite IHn. now rewrite Sum_plus. Qed.

(** The single term that is not 0. *)
Lemma Sum_single n f k : (k < n)%nat -> (forall i, (i < n)%nat -> i <> k -> f i = 0) -> Sum n f = f k.
Proof.
  induction n; intros Hk H; [lia|]. simpl. destruct (Nat.eq_dec k n) as [->|].
  - rewrite (Sum_ext n f (fun _ => 0)) by (intros; apply H; lia). rewrite Sum_zero. ring.
  - rewrite IHn by (try lia; intros; apply H; lia). rewrite (H n) by lia. ring.
Qed.

Lemma Sum_split n m f : Sum (n + m) f = Sum n f + Sum m (fun i => f (n + i)%nat).
Proof. induction m; simpl; [rewrite Nat.add_0_r; lra|]. rewrite Nat.add_succ_r. simpl. rewrite IHm. lra. Qed.

(** Cauchy–Schwarz, with weights: (Σ w f g)² ≤ Σ w f² · Σ w g². *)
Lemma Sum_cauchy n w f g : (forall i, (i < n)%nat -> 0 <= w i) ->
  Sum n (fun i => w i * (f i * g i)) ^ 2 <= Sum n (fun i => w i * f i ^ 2) * Sum n (fun i => w i * g i ^ 2).
Proof.
  induction n; intros H; [simpl; lra|]. cbn [Sum].
  specialize (IHn ltac:(intros; apply H; lia)). assert (Hw : 0 <= w n) by (apply H; lia).
  set (P := Sum n (fun i => w i * (f i * g i))) in *. set (F := Sum n (fun i => w i * f i ^ 2)) in *.
  set (G := Sum n (fun i => w i * g i ^ 2)) in *.
  assert (HF : 0 <= F) by (apply Sum_ge0; intros; apply Rmult_le_pos; [apply H; lia|apply pow2_ge_0]).
  assert (HG : 0 <= G) by (apply Sum_ge0; intros; apply Rmult_le_pos; [apply H; lia|apply pow2_ge_0]).
  assert (K : 2 * P * (f n * g n) <= F * g n ^ 2 + G * f n ^ 2).
  { set (a := f n). set (b := g n). apply Rsqr_incr_0_var; [|apply Rplus_le_le_0_compat; apply Rmult_le_pos; auto
    using pow2_ge_0].
    unfold Rsqr. assert (Q : 0 <= (F * b ^ 2 - G * a ^ 2) ^ 2) by apply pow2_ge_0.
    assert (a ^ 2 * b ^ 2 * P ^ 2 <= a ^ 2 * b ^ 2 * (F * G)) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; apply
      pow2_ge_0|easy]).
    lra. }
  assert (w n * (2 * P * (f n * g n)) <= w n * (F * g n ^ 2 + G * f n ^ 2)) by (apply Rmult_le_compat_l; easy).
  lra.
Qed.

Lemma Sum_derive n (f : R -> nat -> R) (f' : nat -> R) e :
  (forall i, (i < n)%nat -> is_derive (fun e => f e i) e (f' i)) -> is_derive (fun e => Sum n (f e)) e (Sum n f').
Proof.
  induction n; intros H; simpl; [apply (is_derive_const 0)|].
  apply (is_derive_plus (fun e => Sum n (f e)) (fun e => f e n)); [apply IHn; intros; apply H; lia | apply H; lia].
Qed.

(** m is the least, or the largest, number with the property P *)
Definition least (P : R -> Prop) (m : R) : Prop := P m /\ forall x, P x -> m <= x.
Definition largest (P : R -> Prop) (m : R) : Prop := P m /\ forall x, P x -> x <= m.

Lemma INR_pos n : (0 < n)%nat -> 0 < INR n.
Proof. apply lt_0_INR. Qed.

Lemma inv_ge0 n : 0 <= / INR n.
Proof. destruct n; [simpl; rewrite Rinv_0; lra|]. left. apply Rinv_0_lt_compat, INR_pos. lia. Qed.

Lemma root_pos m : (0 < m)%nat -> 0 < sqrt (INR m).
Proof. intros. now apply sqrt_lt_R0, lt_0_INR. Qed.

Lemma le_of_sq a b : 0 <= b -> a ^ 2 <= b ^ 2 -> a <= b.
Proof. intros Hb H. apply Rsqr_incr_0_var; [|easy]. rewrite !Rsqr_pow2. easy. Qed.

Lemma Sum_zero_terms n f k : (forall i, (i < n)%nat -> 0 <= f i) -> Sum n f = 0 -> (k < n)%nat -> f k = 0.
Proof. intros P H Hk. assert (A := Sum_term n f k Hk P). specialize (P k Hk). lra. Qed.

Lemma Sum_first n f : Sum (S n) f = f 0%nat + Sum n (fun i => f (S i)).
Proof. change (S n) with (1 + n)%nat. rewrite Sum_split. simpl. ring. Qed.

(** A sum in blocks. *)
Lemma Sum_blocks k T F : Sum (k * T) F = Sum k (fun i => Sum T (fun t => F (i * T + t)%nat)).
Proof. induction k; [reflexivity|]. replace (S k * T)%nat with (k * T + T)%nat by lia. rewrite Sum_split. simpl.
  now rewrite IHk. Qed.
