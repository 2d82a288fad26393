(** How attention becomes sparse: saturation from norm and angle, the speed limit, the loss above its infimum. *)
Require Import Reals Lra Lia Psatz Arith.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.matrices base.samples.
From Shallow Require Import token_selection.selection token_selection.every_step.
Open Scope R_scope.

(** W = r W_mm + V with V ⟂ W_mm: r = ⟨W, W_mm⟩/‖W_mm‖² and V = W − r W_mm *)
Definition share (D : data) (Wmm W : matrix) : R := fdot (dim D) (dim D) W Wmm / frob2 (dim D) (dim D) Wmm.
Definition residual (D : data) (Wmm W : matrix) : matrix := shifted W Wmm (- share D Wmm W).

Lemma residual_orthogonal D Wmm W : 0 < frob2 (dim D) (dim D) Wmm -> fdot (dim D) (dim D) (residual D Wmm W) Wmm = 0.
Proof. intros H. unfold residual. rewrite fdot_shifted_l, <- frob2_fdot. unfold share. field. lra. Qed.

Lemma sharp_gap D Wmm W e i t : proper D -> longest D e -> solution D Wmm -> 0 <= share D Wmm W -> pair D i t ->
  share D Wmm W - sqrt (e ^ 2 - / frob2 (dim D) (dim D) Wmm) * fnorm (dim D) (dim D) (residual D Wmm W) <= gap D W i t.
Proof.
  intros P He S Hr Hp. set (d := dim D) in *. assert (PW := solution_pos D Wmm P (proj1 S)). fold d in PW.
  set (F := frob2 d d Wmm) in *. assert (PF : 0 < F) by (unfold F; rewrite <- fnorm_sq; now apply pow_lt).
  set (r := share D Wmm W) in *. set (V := residual D Wmm W).
    assert (OV : fdot d d V Wmm = 0) by now apply residual_orthogonal.
  set (m := gap D Wmm i t). assert (M1 : 1 <= m) by now apply S. set (E := Ek D i t).
  set (Ep := shifted E Wmm (- (m / F))).
  assert (ME : fdot d d E Wmm = m) by (unfold m; now rewrite gap_Ek).
  assert (NE : frob2 d d Ep = frob2 d d E - m ^ 2 / F) by (unfold Ep; rewrite frob2_shifted, ME; fold F; field; lra).
  assert (EE : frob2 d d E <= e ^ 2).
  { rewrite <- fnorm_sq. apply pow_incr. split; [apply fnorm_ge0|]. apply He. now exists i, t. }
  assert (IF : 0 < / F) by now apply Rinv_0_lt_compat.
  assert (MF : / F <= m ^ 2 / F) by (unfold Rdiv; rewrite <- (Rmult_1_l (/ F)) at 1; apply Rmult_le_compat_r; nra).
  assert (NB : fnorm d d Ep <= sqrt (e ^ 2 - / F)) by (apply sqrt_le_1_alt; lra).
  assert (GW : gap D W i t = r * m + fdot d d Ep V).
  { rewrite gap_Ek. fold d E. unfold Ep. rewrite fdot_shifted_l, (fdot_sym d d Wmm V), OV. unfold V, residual. fold r.
    rewrite fdot_shifted_r, ME. ring. }
  rewrite GW. assert (Q := fdot_ge d d Ep V).
  assert (fnorm d d Ep * fnorm d d V <= sqrt (e ^ 2 - / F) * fnorm d d V) by (apply Rmult_le_compat_r;
    [apply fnorm_ge0|easy]).
  assert (0 <= r * (m - 1)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma unselected_from_gaps D W i s : proper D -> (i < num D)%nat -> (forall t, pair D i t -> s <= gap D W i t) ->
  1 - phi D W i (opt D i) <= / (1 + exp s / (INR (len D) - 1)) /\
    / (1 + (INR (len D) - 1) * exp (- s)) <= phi D W i (opt D i).
Proof.
  intros P Hi H. destruct P as [_ [HT HP]]. destruct (HP i Hi) as [_ [Ho _]].
    assert (IT : 2 <= INR (len D)) by (apply (le_INR 2); easy).
  assert (L : others D i (fun t => exp (- gap D W i t)) <= (INR (len D) - 1) * exp (- s)).
  { rewrite <- (others_const D i) by easy. apply others_le. intros t Ht Hn. apply exp_le.
    assert (Q := H t ltac:(repeat split; easy)). lra. }
  assert (L2 := phi_from_below D W i _ Ho L). split; [|easy]. set (T := INR (len D) - 1) in *. assert (E := exp_pos s).
  rewrite exp_Ropp in L2. assert (PT : 1 <= T) by (unfold T; lra).
  assert (X : / (1 + exp s / T) = 1 - / (1 + T * / exp s)) by (field; repeat split; nra).
  rewrite X. apply Rplus_le_compat_l, Ropp_le_contravar, L2.
Qed.

(** two samples with one query (0, 0, 1) and differences (1, 1, 0) and (1, −1, 0), and matrices r e₁qᵀ + y e₂qᵀ *)
Definition fork : data := Data 2 2 3 (fun i t => match t, i with
  | O, _ => vec3 0 0 1 | _, O => vec3 1 1 1 | _, _ => vec3 1 (-1) 1 end) (fun _ => 1) (vec3 1 0 0) (fun _ => 1%nat).
Definition fork_matrix (r y : R) : matrix := fun a b => match a, b with O, S (S O) => r | S O, S (S O)
  => y | _, _ => 0 end.

Lemma fork_pair i t : pair fork i t -> t = 0%nat /\ (i = 0%nat \/ i = 1%nat).
Proof. intros [A [B C]]. simpl in A, B, C. lia. Qed.

Lemma fork_proper : proper fork.
Proof.
  split; [simpl; lia|split; [simpl; lia|]]. intros i Hi. split; [left; easy|split; [simpl; lia|]]. intros t Hp.
  apply fork_pair in Hp. destruct Hp as [-> [-> | ->]]; unfold score, dot; simpl; lra.
Qed.

Lemma fork_gap r y i t : pair fork i t -> gap fork (fork_matrix r y) i t = match i with O => r + y | _ => r - y end.
Proof. intros Hp. apply fork_pair in Hp. destruct Hp as [-> [-> | ->]]; unfold gap, dot, vminus, matvec; simpl; ring.
  Qed.

Lemma fork_solution : solution fork (fork_matrix 1 0).
Proof.
  apply (multipliers_solution _ (fun _ _ => / 2)). split; [intros; lra|]. split; [|split].
  - intros x y Hx Hy. simpl in Hx, Hy. unfold support, pairs, others, Ek.
    destruct x as [|[|[|x]]]; [| | |lia]; (destruct y as [|[|[|y]]]; [| | |lia]); simpl; field.
  - intros i t Hp. rewrite fork_gap by easy. destruct i; lra.
  - intros i t Hp Hg. rewrite fork_gap in Hg by easy. destruct i; lra.
Qed.

Lemma fork_norm r y : frob2 3 3 (fork_matrix r y) = r ^ 2 + y ^ 2.
Proof. unfold frob2, fork_matrix. simpl. ring. Qed.

Lemma fork_longest : longest fork (sqrt 2).
Proof.
  assert (N : forall i t, pair fork i t -> fnorm (dim fork) (dim fork) (Ek fork i t) = sqrt 2).
  { intros i t Hp. apply fork_pair in Hp. unfold fnorm. f_equal.
    destruct Hp as [-> [-> | ->]]; unfold frob2, Ek; simpl; ring. }
  split.
  - exists 0%nat, 0%nat. assert (Hp : pair fork 0 0) by (repeat split; simpl; lia). split; [easy|]. now rewrite N.
  - intros x [i [t [Hp ->]]]. rewrite N by easy. lra.
Qed.

(** ts-lemma-8-sharp
    Covers: the whole statement.
    Reads: with W = rW_mm + D, D ⟂ W_mm, and b = √(𝖤² − ‖W_mm‖⁻²): if r ≥ 0, all gaps are at least r − b‖D‖ and 1 − φ_opt ≤ (1 + e^{r − b‖D‖}/(T − 1))⁻¹ in every sample; for every r some sample has 1 − φ_opt ≥ (1 + e^r)⁻¹. For every r ≥ 0 and y ≥ 0 there are data of two tokens and a W with this r and ‖D‖ = y at which some sample attains the first, and, if y = 0, every sample the second.
    Mistake: `2 * exp (share D Wmm W - sqrt` for `exp (share D Wmm W - sqrt`
    Mistake: `2 / (1 + exp (share D Wmm W)) <= 1` for `/ (1 + exp (share D Wmm W)) <= 1`
    Mistake: without `0 <= share D Wmm W ->`
*)
Theorem ts_lemma_8_sharp :
  (forall D Wmm W e, proper D -> longest D e -> solution D Wmm ->
    fdot (dim D) (dim D) (residual D Wmm W) Wmm = 0 /\
    (0 <= share D Wmm W -> (forall i t, pair D i t ->
      share D Wmm W - sqrt (e ^ 2 - / frob2 (dim D) (dim D) Wmm) * fnorm (dim D) (dim D) (residual D Wmm W) <= gap D
        W i t) /\
      forall i, (i < num D)%nat -> 1 - phi D W i (opt D i) <=
        / (1 + exp (share D Wmm W - sqrt (e ^ 2 - / frob2 (dim D) (dim D) Wmm) * fnorm (dim D) (dim D) (residual D
          Wmm W))
          / (INR (len D) - 1))) /\
    exists i, (i < num D)%nat /\ / (1 + exp (share D Wmm W)) <= 1 - phi D W i (opt D i)) /\
  (forall r y, 0 <= r -> 0 <= y -> exists D Wmm W e, proper D /\ longest D e /\ solution D Wmm /\ len D = 2%nat /\
    share D Wmm W = r /\ fnorm (dim D) (dim D) (residual D Wmm W) = y /\
    (exists i, (i < num D)%nat /\ 1 - phi D W i (opt D i) =
      / (1 + exp (r - sqrt (e ^ 2 - / frob2 (dim D) (dim D) Wmm) * y) / (INR (len D) - 1))) /\
    (y = 0 -> forall i, (i < num D)%nat -> 1 - phi D W i (opt D i) = / (1 + exp r))).
Proof.
  split.
  - intros D Wmm W e P He S. assert (PW := solution_pos D Wmm P (proj1 S)).
    assert (PF : 0 < frob2 (dim D) (dim D) Wmm) by (rewrite <- fnorm_sq; now apply pow_lt).
    split; [now apply residual_orthogonal|]. split.
    + intros Hr. assert (G : forall i t, pair D i t -> share D Wmm W - sqrt (e ^ 2 - / frob2 (dim D) (dim D) Wmm) *
        fnorm (dim D) (dim D) (residual D Wmm W) <= gap D W i t) by (intros i t Hp; now apply sharp_gap).
      split; [easy|]. intros i Hi. apply unselected_from_gaps; [easy|easy|]. intros t Hp. now apply G.
    + destruct (pair_least D (gap D W) P) as [i [t [Hp M]]]. exists i. split; [apply Hp|].
      assert (Q := average D W Wmm _ S M). assert (Q2 : gap D W i t <= share D Wmm W).
      { apply Rmult_le_reg_r with (frob2 (dim D) (dim D) Wmm); [easy|]. unfold share.
        replace (fdot (dim D) (dim D) W Wmm / frob2 (dim D) (dim D) Wmm * frob2 (dim D) (dim D) Wmm) with (fdot (dim
          D) (dim D)
          W Wmm) by (field; lra). easy. }
      destruct P as [_ [_ HP]]. destruct (HP i (proj1 Hp)) as [_ [Ho _]].
      apply Rle_trans with (off (gap D W i t)); [now apply off_decreasing|]. apply off_unselected; [easy|].
        now apply others_exp_pos.
  - intros r y Hr Hy. exists fork, (fork_matrix 1 0), (fork_matrix r y), (sqrt 2).
    split; [apply fork_proper|]. split; [apply fork_longest|]. split; [apply fork_solution|]. split; [easy|]. simpl dim.
    assert (AL : share fork (fork_matrix 1 0) (fork_matrix r y) = r).
    { unfold share. simpl dim. rewrite fork_norm.
      replace (fdot 3 3 (fork_matrix r y) (fork_matrix 1 0)) with r by (unfold fdot, fork_matrix; simpl; ring). field. }
    split; [easy|]. split.
    { unfold fnorm. transitivity (sqrt (y ^ 2)); [f_equal|now apply sqrt_pow2].
      transitivity (frob2 3 3 (fork_matrix 0 y)); [|rewrite fork_norm; ring]. apply frob2_ext. intros a b _ _.
        unfold residual, shifted, mplus, mscal. rewrite AL.
      destruct a as [|[|a]]; destruct b as [|[|[|b]]]; simpl; ring. }
    assert (PH : forall i, (i < 2)%nat -> 1 - phi fork (fork_matrix r y) i (opt fork i)
      = off (match i with O => r + y | _ => r - y end)).
    { intros i Hi. assert (Ho : (opt fork i < len fork)%nat) by (simpl; lia).
      assert (E : others fork i (fun t => exp (- gap fork (fork_matrix r y) i t))
        = exp (- match i with O => r + y | _ => r - y end)).
      { unfold others. simpl len. cbn [Sum]. simpl opt. simpl. rewrite Rplus_0_l, Rplus_0_r.
        rewrite fork_gap; [easy|]. repeat split; simpl; lia. }
      apply Rle_antisym; [apply unselected_off|apply off_unselected]; rewrite ?E; easy || lra. }
    split.
    + exists 1%nat. split; [simpl; lia|]. rewrite PH by lia. rewrite fork_norm. rewrite pow2_sqrt by lra.
      replace (2 - / (1 ^ 2 + 0 ^ 2)) with 1 by field. rewrite sqrt_1. unfold off. simpl len. f_equal. f_equal.
      replace (r - 1 * y) with (r - y) by ring. simpl INR. field.
    + intros -> i Hi. simpl in Hi. rewrite PH by easy. unfold off. destruct i; do 3 f_equal; ring.
Qed.

(** ts-lemma-8
    Covers: the whole statement.
    Reads: if all tokens have norm at most B, every W ≠ 0 and every sample has φ_opt ≥ [1 + (T − 1) exp{−‖W‖(1/‖W_mm‖ − 2√2 B² √(1 − corr))}]⁻¹.
    Mistake: `2 * (1 / fnorm (dim D) (dim D) Wmm) - 2 * sqrt 2` for `/ fnorm (dim D) (dim D) Wmm - 2 * sqrt 2`
    Mistake: `(len D) - 2) * exp` for `(len D) - 1) * exp`
*)
Theorem ts_lemma_8 : forall D Wmm W B i, proper D -> solution D Wmm ->
  (forall j s, (j < num D)%nat -> (s < len D)%nat -> vnorm (dim D) (tok D j s) <= B) ->
  0 < fnorm (dim D) (dim D) W -> (i < num D)%nat ->
  / (1 + (INR (len D) - 1) * exp (- (fnorm (dim D) (dim D)
    W * (/ fnorm (dim D) (dim D) Wmm - 2 * sqrt 2 * B ^ 2 * sqrt (1 - corr (dim D) W Wmm)))))
    <= phi D W i (opt D i).
Proof.
  intros D Wmm W B i P S HB HW Hi. apply (unselected_from_gaps D W i); [easy|easy|]. intros t Hp.
  assert (PW := solution_pos D Wmm P (proj1 S)). set (d := dim D) in *. set (w := fnorm d d Wmm) in *.
    set (x := fnorm d d W) in *.
  set (c := corr d W Wmm). set (V := shifted (fun a b => / x * W a b) Wmm (- / w)).
  assert (SC : forall A, fdot d d (fun a b => / x * W a b) A = / x * fdot d d W A).
  { intros A. unfold fdot. rewrite <- Sum_scal. apply Sum_ext. intros. rewrite <- Sum_scal. apply Sum_ext.
    intros; ring. }
  assert (NV : frob2 d d V = 2 * (1 - c)).
  { unfold V. rewrite frob2_shifted. rewrite !frob2_fdot, SC, SC, (fdot_sym d d W), SC, <- !frob2_fdot, <- !fnorm_sq.
    fold w x.
    unfold c, corr. fold w x. field. lra. }
  assert (GE : gap D W i t = x * (/ w * gap D Wmm i t + fdot d d (Ek D i t) V)).
  { rewrite !gap_Ek. fold d. unfold V. rewrite fdot_shifted_r, (fdot_sym d d _ (fun a b => / x * W a b)), SC,
    (fdot_sym d d
    W). field. lra. }
  rewrite GE. apply Rmult_le_compat_l; [lra|]. assert (M1 := proj1 S i t Hp).
  assert (IW : 0 < / w) by now apply Rinv_0_lt_compat.
    assert (/ w * 1 <= / w * gap D Wmm i t) by (apply Rmult_le_compat_l; lra).
  assert (Q := fdot_ge d d (Ek D i t) V). assert (EB := Ek_tokens D B i t P HB Hp). fold d in EB.
  assert (C1 : 0 <= 1 - c) by (assert (Z := frob2_ge0 d d V); lra).
  assert (MV : fnorm d d V = sqrt 2 * sqrt (1 - c)) by (unfold fnorm; rewrite NV; apply sqrt_mult; lra).
  assert (fnorm d d (Ek D i t) * fnorm d d V <= 2 * B ^ 2 * fnorm d d V) by (apply Rmult_le_compat_r; [apply
    fnorm_ge0|easy]).
  rewrite MV in *. lra.
Qed.
