(** The norm of a covariance is taken: a quadratic form has a largest value on the unit sphere. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.matrices base.covariance base.skewness.
Open Scope R_scope.

(** t, moved into [−1, 1] *)
Definition clip (t : R) : R := Rmax (-1) (Rmin 1 t).

Lemma clip_in t : -1 <= clip t <= 1.
Proof. unfold clip, Rmax, Rmin. repeat destruct Rle_dec; lra. Qed.

Lemma clip_id t : -1 <= t <= 1 -> clip t = t.
Proof. intros. unfold clip, Rmax, Rmin. repeat destruct Rle_dec; lra. Qed.

Lemma clip_lip s t : Rabs (clip s - clip t) <= Rabs (s - t).
Proof. unfold clip, Rmax, Rmin, Rabs. repeat destruct Rle_dec; repeat destruct Rcase_abs; lra. Qed.

(** A Lipschitz function of d numbers that is negative everywhere on the cube is so by a margin. *)
Lemma margin d : forall K (f : vector -> R), 0 <= K ->
  (forall x y, Rabs (f x - f y) <= K * Sum d (fun i => Rabs (x i - y i))) ->
  (forall x, (forall i, -1 <= x i <= 1) -> f x < 0) ->
  exists delta, 0 < delta /\ forall x, (forall i, -1 <= x i <= 1) -> f x <= - delta.
Proof.
  induction d; intros K f HK L N.
  - set (o := fun _ : nat => 0). assert (No : f o < 0) by (apply N; unfold o; intros; lra).
    exists (- f o). split; [lra|]. intros x _. specialize (L x o). cbn in L. apply Rabs_le_between in L. lra.
  - set (put := fun (x : vector) t => fun i => if Nat.eqb i d then clip t else x i).
    assert (LP : forall x y s t, Rabs (f (put x s) - f (put y t)) <= K * (Sum d (fun i => Rabs (x i - y i)) + Rabs
      (clip s - clip t))).
    { intros x y s t. eapply Rle_trans; [apply L|]. cbn [Sum]. apply Rmult_le_compat_l; [easy|].
      unfold put at 3 4. rewrite Nat.eqb_refl. apply Rplus_le_compat_r. right. apply Sum_ext. intros i Hi. unfold put.
      rewrite (proj2 (Nat.eqb_neq i d)) by lia. reflexivity. }
    assert (LT : forall x s t, Rabs (f (put x s) - f (put x t)) <= K * Rabs (s - t)).
    { intros x s t. eapply Rle_trans; [apply LP|]. apply Rmult_le_compat_l; [easy|]. rewrite (Sum_ext d _ (fun _ => 0)).
      - rewrite Sum_zero, Rplus_0_l. apply clip_lip.
      - intros. rewrite Rminus_diag_eq by easy. apply Rabs_R0. }
    assert (MAX : forall x, exists t, forall s, f (put x s) <= f (put x t)).
    { intros x. destruct (continuity_ab_maj (fun t => f (put x t)) (-1) 1 ltac:(lra)) as (t & H & _).
      - intros t _. intros eps He. exists (eps / (K + 1)). split; [apply Rdiv_lt_0_compat; lra|].
        intros s [_ Hs]. cbn in Hs |- *. unfold R_dist in *. eapply Rle_lt_trans; [apply LT|].
        apply Rmult_lt_compat_r with (r := K + 1) in Hs; [|lra]. unfold Rdiv in Hs.
          rewrite Rmult_assoc, Rinv_l in Hs by lra.
        assert (P := Rabs_pos (s - t)). lra.
      - exists t. intros s. destruct (clip_in s) as [A B]. specialize (H (clip s) (conj A B)). cbv beta in H.
        replace (put x (clip s)) with (put x s) in H; [easy|]. unfold put. now rewrite (clip_id (clip s)). }
    set (P := fun x y => exists t, y = f (put x t)).
    assert (BD : forall x, bound (P x)) by (intros x; destruct (MAX x) as [t Ht]; exists (f (put x t));
      intros y [s ->]; apply Ht).
    assert (NE : forall x, exists y, P x y) by (intros x; exists (f (put x 0)), 0; reflexivity).
    set (m := fun x => proj1_sig (completeness (P x) (BD x) (NE x))).
    assert (MV : forall x, exists t, m x = f (put x t) /\ forall s, f (put x s) <= m x).
    { intros x. destruct (MAX x) as [t Ht]. exists t. unfold m.
        destruct (completeness (P x) (BD x) (NE x)) as [v [U V]]. cbn.
      assert (f (put x t) <= v) by (apply U; now exists t). assert (v <= f (put x t)) by (apply V; intros y [s ->];
        apply Ht).
      split; [lra|]. intros s. apply U. now exists s. }
    destruct (IHd K m HK) as (delta & D & B).
    + intros x y. destruct (MV x) as (t & E1 & F1). destruct (MV y) as (s & E2 & F2).
      specialize (F1 s). specialize (F2 t). assert (A := LP x y t t). assert (C := LP x y s s).
      rewrite (Rminus_diag_eq (clip t)), Rabs_R0, Rplus_0_r in A by easy.
        rewrite (Rminus_diag_eq (clip s)), Rabs_R0, Rplus_0_r in C by easy.
      apply Rabs_le_between in A. apply Rabs_le_between in C. apply Rabs_le. lra.
    + intros x Hx. destruct (MV x) as (t & -> & _). apply N. intros i. unfold put. destruct (Nat.eqb i d);
        [apply clip_in|apply Hx].
    + exists delta. split; [easy|]. intros x Hx. destruct (MV x) as (_ & _ & F). specialize (F (x d)).
        specialize (B x Hx).
      replace (put x (x d)) with x in F; [lra|]. apply FunctionalExtensionality.functional_extensionality. intros i.
        unfold put.
      destruct (Nat.eqb_spec i d) as [->|]; [now rewrite clip_id|easy].
Qed.

Lemma form_lip d (A : matrix) x y : (forall i, -1 <= x i <= 1) -> (forall i, -1 <= y i <= 1) ->
  Rabs (dot d x (matvec d A x) - dot d y (matvec d A y)) <=
  2 * Sum d (fun i => Sum d (fun j => Rabs (A i j))) * Sum d (fun i => Rabs (x i - y i)).
Proof.
  intros X Y. set (S := Sum d (fun i => Rabs (x i - y i))).
  replace (dot d x (matvec d A x) - dot d y (matvec d A y)) with
    (Sum d (fun i => Sum d (fun j => A i j * (x i * x j - y i * y j)))).
  - eapply Rle_trans; [apply Sum_abs|]. replace (2 * _ * S) with (2 * S * Sum d (fun i => Sum d (fun j => Rabs (A i
      j)))) by ring.
    rewrite <- Sum_scal. apply Sum_le; intros i Hi. eapply Rle_trans; [apply Sum_abs|]. rewrite <- Sum_scal.
      apply Sum_le; intros j Hj.
    rewrite Rabs_mult, Rmult_comm. apply Rmult_le_compat_r; [apply Rabs_pos|].
    assert (I := Sum_term d (fun i => Rabs (x i - y i)) i Hi ltac:(intros; apply Rabs_pos)).
    assert (J := Sum_term d (fun i => Rabs (x i - y i)) j Hj ltac:(intros; apply Rabs_pos)). fold S in I, J.
      cbv beta in I, J.
    replace (x i * x j - y i * y j) with (x i * (x j - y j) + (x i - y i) * y j) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
    assert (Rabs (x i) <= 1) by (apply Rabs_le; apply X). assert (Rabs (y j) <= 1) by (apply Rabs_le; apply Y).
    assert (P := Rabs_pos (x j - y j)). assert (Q := Rabs_pos (x i - y i)).
    assert (Rabs (x i) * Rabs (x j - y j) <= 1 * Rabs (x j - y j)) by (apply Rmult_le_compat_r; lra).
    assert (Rabs (x i - y i) * Rabs (y j) <= Rabs (x i - y i) * 1) by (apply Rmult_le_compat_l; lra). lra.
  - unfold dot, matvec. rewrite <- Sum_minus. apply Sum_ext; intros i _. rewrite <- !Sum_scal, <- Sum_minus.
    apply Sum_ext; intros; ring.
Qed.

Lemma sq_lip d x y : (forall i, -1 <= x i <= 1) -> (forall i, -1 <= y i <= 1) ->
  Rabs (sq d x - sq d y) <= 2 * Sum d (fun i => Rabs (x i - y i)).
Proof.
  intros X Y. unfold sq. rewrite <- Sum_minus, <- Sum_scal. eapply Rle_trans; [apply Sum_abs|]. apply Sum_le;
    intros i _.
  replace (x i ^ 2 - y i ^ 2) with ((x i + y i) * (x i - y i)) by ring. rewrite Rabs_mult.
  apply Rmult_le_compat_r; [apply Rabs_pos|]. apply Rabs_le. specialize (X i). specialize (Y i). lra.
Qed.

Lemma entry_le d e i : sq d e = 1 -> (i < d)%nat -> -1 <= e i <= 1.
Proof.
  intros U Hi. assert (K := Sum_term d (fun i => e i ^ 2) i Hi ltac:(intros; apply pow2_ge_0)). fold (sq d e) in K.
  cbv beta in K. rewrite U in K. split; nra.
Qed.

(** A quadratic form takes its supremum on the unit sphere of ℝᵈ, d ≥ 1. *)
Lemma top_exists d (A : matrix) : (0 < d)%nat -> exists lambda, (exists g, sq d g = 1
  /\ dot d g (matvec d A g) = lambda) /\
  (forall e, sq d e = 1 -> dot d e (matvec d A e) <= lambda).
Proof.
  intros Hd. set (Q := fun x => dot d x (matvec d A x)). set (P := fun y => exists e, sq d e = 1 /\ y = Q e).
  set (K := Sum d (fun i => Sum d (fun j => Rabs (A i j)))).
  assert (K0 : 0 <= K) by (apply Sum_ge0; intros; apply Sum_ge0; intros; apply Rabs_pos).
  set (cut := fun (x : vector) i => clip (x i)).
  assert (QC : forall e, sq d e = 1 -> Q (cut e) = Q e /\ sq d (cut e) = sq d e).
  { intros e U. assert (C : forall i, (i < d)%nat -> cut e i = e i) by (intros; now apply clip_id, (entry_le d)).
    split; [|unfold sq; apply Sum_ext; intros; now rewrite C].
    unfold Q, dot, matvec. apply Sum_ext; intros i Hi. rewrite C by easy. f_equal. apply Sum_ext; intros.
      now rewrite C. }
  assert (BD : bound P).
  { exists (2 * K * INR d). intros y (e & U & ->). destruct (QC e U) as [<- _].
    assert (F := form_lip d A (cut e) (fun _ => 0) ltac:(intros; apply clip_in) ltac:(intros; lra)).
      fold (Q (cut e)) in F. fold K in F.
    replace (dot d (fun _ => 0) _) with 0 in F.
    2:{ unfold dot. rewrite (Sum_ext d _ (fun _ => 0)) by (intros; ring). now rewrite Sum_zero. }
    apply Rabs_le_between in F. assert (S : Sum d (fun i => Rabs (cut e i - 0)) <= INR d).
    { rewrite <- (Rmult_1_r (INR d)), <- Sum_const. apply Sum_le; intros. rewrite Rminus_0_r. apply Rabs_le, clip_in. }
    assert (2 * K * Sum d (fun i => Rabs (cut e i - 0)) <= 2 * K * INR d) by (apply Rmult_le_compat_l; lra). lra. }
  assert (NE : exists y, P y).
  { exists (Q (fun j => if Nat.eqb j 0 then 1 else 0)), (fun j => if Nat.eqb j 0 then 1 else 0). split; [|easy].
    unfold sq. rewrite (Sum_single d _ 0%nat Hd); [cbn; ring|]. intros i _ Hi. rewrite (proj2 (Nat.eqb_neq i 0) Hi).
      ring. }
  destruct (completeness P BD NE) as (lambda & UB & LUB).
  assert (TOP : forall e, sq d e = 1 -> Q e <= lambda) by (intros e U; apply UB; now exists e).
  exists lambda. split; [|exact TOP]. apply Classical_Prop.NNPP. intros NO.
  set (F := fun x => Q (cut x) - lambda * sq d (cut x) - Rabs (1 - sq d (cut x))).
  destruct (margin d (2 * K + 2 * Rabs lambda + 2) F) as (delta & D & B).
  - assert (H := Rabs_pos lambda). lra.
  - intros x y. set (S := Sum d (fun i => Rabs (x i - y i))).
    assert (SC : Sum d (fun i => Rabs (cut x i - cut y i)) <= S) by (apply Sum_le; intros; apply clip_lip).
    assert (A1 := form_lip d A (cut x) (cut y) ltac:(intros; apply clip_in) ltac:(intros; apply clip_in)).
    assert (A2 := sq_lip d (cut x) (cut y) ltac:(intros; apply clip_in) ltac:(intros; apply clip_in)).
    fold (Q (cut x)) (Q (cut y)) K in A1. set (S' := Sum d (fun i => Rabs (cut x i - cut y i))) in *.
    assert (HL := Rabs_pos lambda).
    assert (A3 : Rabs (Rabs (1 - sq d (cut x)) - Rabs (1 - sq d (cut y))) <= Rabs (sq d (cut x) - sq d (cut y))).
    { eapply Rle_trans; [apply Rabs_triang_inv2|]. right. rewrite <- Rabs_Ropp. f_equal. ring. }
    unfold F. replace (Q (cut x) - lambda * sq d (cut x) - Rabs (1 - sq d (cut x)) - (Q (cut y) - lambda * sq d (cut y)
      - Rabs (1 - sq d (cut y))))
      with ((Q (cut x) - Q (cut y)) + (- lambda * (sq d (cut x) - sq d (cut y)) + - (Rabs (1 - sq d (cut x)) - Rabs (1
        - sq d (cut y))))) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat_l, Rabs_triang|].
    rewrite Rabs_mult, !Rabs_Ropp.
    assert (Rabs lambda * Rabs (sq d (cut x) - sq d (cut y)) <= Rabs lambda * (2 * S')) by (apply Rmult_le_compat_l;
      easy).
    assert ((2 * K + 2 * Rabs lambda + 2) * S' <= (2 * K + 2 * Rabs lambda + 2) * S) by (apply Rmult_le_compat_l; lra).
      lra.
  - intros x Hx. unfold F. assert (CX : cut x = x).
    { apply FunctionalExtensionality.functional_extensionality. intros i. now apply clip_id. }
    rewrite CX. assert (R0 := Rabs_pos (1 - sq d x)). destruct (Req_dec (sq d x) 1) as [U|U].
    + assert (Q x <> lambda) by (intros E; apply NO; now exists x). specialize (TOP x U).
        rewrite U, (Rminus_diag_eq 1 1), Rabs_R0 by easy. lra.
    + assert (0 < Rabs (1 - sq d x)) by (apply Rabs_pos_lt; lra).
      assert (QS : Q x <= lambda * sq d x); [|lra]. assert (S0 := sq_ge0 d x). destruct (Req_dec (sq d x) 0) as [Z|Z].
      * right. rewrite Z, Rmult_0_r. unfold Q. assert (C := cauchy_sq d x (matvec d A x)). rewrite Z, Rmult_0_l in C.
          nra.
      * assert (N : 0 < vnorm d x) by (apply sqrt_lt_R0; lra). assert (N2 := norm_sq d x).
        assert (T := TOP (vscal (/ vnorm d x) x) ltac:(rewrite sq_scal, <- N2; field; lra)).
        replace (Q (vscal (/ vnorm d x) x)) with (/ vnorm d x ^ 2 * Q x) in T.
        -- apply (Rmult_le_compat_l (vnorm d x ^ 2)) in T; [|nra].
            rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l in T by nra. rewrite N2 in T. lra.
        -- unfold Q. rewrite dot_scal_l. replace (dot d x (matvec d A (vscal (/ vnorm d x) x))) with (/ vnorm d x * dot
            d x (matvec d A x));
             [field; lra|]. rewrite <- dot_scal_r. apply Sum_ext; intros i _. f_equal. unfold vscal at 1, matvec.
               rewrite <- Sum_scal.
           apply Sum_ext; intros; unfold vscal; ring.
  - assert (lambda <= lambda - delta); [|lra]. apply LUB. intros y (e & U & ->). destruct (QC e U) as [C1 C2].
    specialize (B (cut e) ltac:(intros; apply clip_in)). unfold F in B.
    assert (CC : cut (cut e) = cut e).
    { apply FunctionalExtensionality.functional_extensionality. intros i. unfold cut. apply clip_id, clip_in. }
    rewrite CC, C1, C2, U, (Rminus_diag_eq 1 1), Rabs_R0 in B by easy. lra.
Qed.

Lemma spread_norm_exists T d alpha X : (0 < d)%nat -> exists lambda, spread_norm T d alpha X lambda.
Proof. intros Hd. exact (top_exists d (covariance T alpha X) Hd). Qed.
