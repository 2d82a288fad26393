(** Linear dependence, solvability, the row space of a matrix and its least singular value. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
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

(** the rows A_0 … A_(N−1) of ℝᵈ are linearly dependent: Σ v_i A_i = 0 for some v ≠ 0 *)
Definition dependent (N d : nat) (A : matrix) : Prop :=
  exists v : vector, (exists i, (i < N)%nat /\ v i <> 0) /\ forall j, (j < d)%nat -> Sum N (fun i => v i * A i j) = 0.

Lemma too_many n A : dependent (S n) n A.
Proof.
  destruct (dependence n (S n) (transpose A) ltac:(lia)) as (v & Hv & H). exists v. split; [easy|]. intros j Hj.
  rewrite <- (H j Hj). apply Sum_ext; intros. unfold transpose. ring.
Qed.

(** If ‖Xᵀw‖² ≥ κ‖w‖² with κ > 0, every y is Xᵀw + y' with Xy' = 0. *)
Lemma row_space k r X kappa y : 0 < kappa -> (forall w, kappa * sq k w <= sq r (matvec k (transpose X) w)) ->
  exists w y', (forall j, (j < r)%nat -> y j = matvec k (transpose X) w j + y' j) /\
    forall i, (i < k)%nat -> matvec r X y' i = 0.
Proof.
  intros Hk H. destruct (onto k (matmul r X (transpose X)) (matvec r X y)) as (w & Hw).
  - intros x Hx. apply sq_zero. assert (K := H x).
    rewrite (sq_dot r), <- dot_matvec, <- matvec_matmul in K.
    assert (Z : dot k x (matvec k (matmul r X (transpose X)) x) = 0)
      by (unfold dot; rewrite (Sum_ext k _ (fun _ => 0)), Sum_zero; [easy|intros; rewrite Hx by easy; ring]).
    rewrite Z in K. assert (L := sq_ge0 k x). nra.
  - exists w, (fun j => y j - matvec k (transpose X) w j). split; [intros; ring|]. intros i Hi.
    transitivity (matvec r X y i - matvec r X (matvec k (transpose X) w) i).
    + unfold matvec. rewrite <- Sum_minus. apply Sum_ext; intros; ring.
    + rewrite <- matvec_matmul, Hw by easy. ring.
Qed.

(** Then ‖XᵀXy‖² ≥ κ²‖Xᵀw‖², and ‖y‖² = ‖Xᵀw‖² + ‖y'‖². *)
Lemma row_space_bound k r X kappa y : 0 < kappa -> (forall w, kappa * sq k w <= sq r (matvec k (transpose X) w)) ->
  exists p q, 0 <= p /\ 0 <= q /\ sq r y = p + q /\
    kappa ^ 2 * p <= sq r (matvec k (transpose X) (matvec r X y)) /\
    ((forall u, exists v, forall j, (j < r)%nat -> matvec k (transpose X) v j = u j) -> q = 0).
Proof.
  intros Hk H. destruct (row_space k r X kappa y Hk H) as (w & y' & Hy & H0).
  set (y1 := matvec k (transpose X) w) in *. exists (sq r y1), (sq r y').
  assert (O : forall u, dot r (matvec k (transpose X) u) y' = 0).
  { intros u. rewrite <- dot_matvec. unfold dot. rewrite (Sum_ext k _ (fun _ => 0)), Sum_zero; [easy|].
    intros i Hi. rewrite H0 by easy. ring. }
  split; [apply sq_ge0|split; [apply sq_ge0|split; [|split]]].
  - rewrite (sq_ext r y (vplus y1 y')) by (intros; now apply Hy). rewrite sq_plus. unfold y1. rewrite O. ring.
  - assert (E : forall i, (i < k)%nat -> matvec r X y i = matvec r X y1 i).
    { intros i Hi. rewrite <- (Rplus_0_r (matvec r X y1 i)), <- (H0 i Hi). unfold matvec. rewrite <- Sum_plus.
      apply Sum_ext; intros. rewrite Hy by easy. ring. }
    rewrite (matvec_ext k (transpose X) _ _ E).
    assert (B : kappa * sq r y1 <= sq k (matvec r X y1)).
    { assert (K := H w). fold y1 in K. assert (C := cauchy_sq k w (matvec r X y1)).
      rewrite dot_matvec in C. fold y1 in C. rewrite <- sq_dot in C.
      assert (P1 := sq_ge0 r y1). assert (P2 := sq_ge0 k (matvec r X y1)). assert (P3 := sq_ge0 k w).
      destruct (Rle_lt_or_eq_dec 0 _ P1) as [L|L]; [|rewrite <- L; lra].
      apply Rmult_le_reg_l with (sq r y1); [easy|].
      apply Rle_trans with (kappa * (sq k w * sq k (matvec r X y1))); [nra|]. nra. }
    specialize (H (matvec r X y1)). nra.
  - intros S. destruct (S y') as (v & Hv). rewrite sq_dot, <- (O v). apply Sum_ext; intros j Hj. now rewrite Hv.
Qed.

(** For square X: ‖XᵀXy‖ ≥ κ‖y‖. *)
Lemma square_bound k X kappa y : 0 < kappa -> (forall w, kappa * sq k w <= sq k (matvec k (transpose X) w)) ->
  kappa ^ 2 * sq k y <= sq k (matvec k (transpose X) (matvec k X y)).
Proof.
  intros Hk H. destruct (row_space_bound k k X kappa y Hk H) as (p & q & Hp & Hq & E & B & S).
  rewrite E, S, Rplus_0_r; [easy|]. intros u. apply onto. intros x Hx. apply sq_zero. specialize (H x).
  rewrite (sq_ext k _ (fun _ => 0) Hx) in H. assert (Z : sq k (fun _ => 0) = 0)
    by (unfold sq; rewrite (Sum_ext k _ (fun _ => 0)); [apply Sum_zero|intros; ring]).
  assert (L := sq_ge0 k x). nra.
Qed.

(** the lengths ‖Mx‖ of the images of unit vectors x of ℝⁿ, M with k rows and n columns *)
Definition lengths (k n : nat) (M : matrix) (y : R) : Prop := exists x, sq n x = 1 /\ y = vnorm k (matvec n M x).

(** inf ‖Mx‖ over unit vectors x *)
Definition shortest (k n : nat) (M : matrix) : R := real (Glb_Rbar (lengths k n M)).

(** σ_min(M), the last of min(k, n) singular values: inf ‖Mᵀu‖ if M has no more rows than columns, else inf ‖Mx‖ *)
Definition sigma_min (k n : nat) (M : matrix) : R :=
  if (k <=? n)%nat then shortest n k (transpose M) else shortest k n M.

Lemma lengths_bounded k n M y : lengths k n M y -> 0 <= y <= sqrt (frob2 k n M).
Proof.
  intros [x [H ->]]. split; [apply norm_ge0|]. unfold vnorm. apply sqrt_le_1_alt.
  assert (K := matvec_sq k n M x). rewrite H in K. lra.
Qed.

Lemma shortest_unit k n M x : sq n x = 1 -> shortest k n M <= vnorm k (matvec n M x).
Proof.
  intros H. destruct (Glb_Rbar_correct (lengths k n M)) as [U L]. unfold shortest.
  assert (A := U (vnorm k (matvec n M x)) ltac:(now exists x)).
  assert (B := L (Finite 0) ltac:(intros y Hy; apply (lengths_bounded k n M), Hy)).
  destruct (Glb_Rbar (lengths k n M)); simpl in *; easy.
Qed.

Lemma shortest_ge k n M c : (0 < n)%nat -> (forall x, sq n x = 1 -> c <= vnorm k (matvec n M x)) -> c <= shortest k n M.
Proof.
  intros Hn H. destruct (Glb_Rbar_correct (lengths k n M)) as [U L]. unfold shortest.
  assert (B := L (Finite c) ltac:(intros y [x [K ->]]; apply H, K)).
  set (e := fun i : nat => if (i =? 0)%nat then 1 else 0).
  assert (sq n e = 1).
  { unfold sq. rewrite (Sum_single n _ 0) by (lia || (intros i _ Hi; apply Nat.eqb_neq in Hi; unfold e; rewrite Hi;
      ring)).
    unfold e. simpl. ring. }
  assert (A := U (vnorm k (matvec n M e)) ltac:(now exists e)).
  destruct (Glb_Rbar (lengths k n M)); simpl in *; easy.
Qed.
