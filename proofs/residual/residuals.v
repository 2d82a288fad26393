(** What a residual really does: rank, collapse, conditioning, the plateau, and coefficients. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
Require Import FunctionalExtensionality.
From Shallow Require Import base.sums base.vectors base.attention base.singular base.dependent base.six_blocks
  base.normal base.jacobian.
Open Scope R_scope.

Lemma average_norm N d X S r y i : stochastic N S -> (i < N)%nat -> (forall j, (j < N)%nat -> vnorm d (X j) <= r) ->
  Rabs (matvec N S (matvec d X y) i) <= r * vnorm d y.
Proof.
  intros HS Hi H. destruct (HS i Hi) as [P E1]. unfold matvec at 1. eapply Rle_trans; [apply Sum_abs|].
  rewrite <- (Rmult_1_l (r * _)), <- E1, Rmult_comm, <- Sum_scal. apply Sum_le. intros j Hj.
  rewrite Rabs_mult, (Rabs_right (S i j)) by (apply Rle_ge; auto). rewrite Rmult_comm.
  apply Rmult_le_compat_r; [auto|]. eapply Rle_trans; [apply cauchy|].
  apply Rmult_le_compat_r; [apply norm_ge0|auto].
Qed.

Lemma norm_SX N d X S r y : stochastic N S -> 0 <= r -> (forall j, (j < N)%nat -> vnorm d (X j) <= r) ->
  vnorm N (matvec N S (matvec d X y)) <= sqrt (INR N) * r * vnorm d y.
Proof.
  intros HS Hr H. assert (P := norm_ge0 d y). apply norm_le.
  - apply Rmult_le_pos; [apply Rmult_le_pos; [apply sqrt_pos|easy]|easy].
  - rewrite !Rpow_mult_distr, pow2_sqrt by apply pos_INR. rewrite Rmult_assoc, <- Sum_const. apply Sum_le. intros i Hi.
    rewrite <- Rpow_mult_distr, <- (pow2_abs (matvec _ _ _ _)). apply pow_incr.
      split; [apply Rabs_pos|now apply average_norm].
Qed.

Lemma scaled_plus n g A B x i : matvec n (fun i k => g * A i k + B i k) x i = vplus (vscal g (matvec n A x)) (matvec n
  B x) i.
Proof. unfold vplus, vscal, matvec. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext. intros. ring. Qed.

(** inf ‖(gA + B)x‖ ≥ g inf ‖Ax‖ − b if ‖Bx‖ ≤ b on unit vectors *)
Lemma weyl k n g A B b : (0 < n)%nat -> 0 <= g -> (forall x, sq n x = 1 -> vnorm k (matvec n B x) <= b) ->
  g * shortest k n A - b <= shortest k n (fun i j => g * A i j + B i j).
Proof.
  intros Hn Hg H. apply shortest_ge; [easy|]. intros x Hx.
  rewrite (norm_ext k _ _ (fun i _ => scaled_plus n g A B x i)).
  eapply Rle_trans; [|apply norm_reverse]. rewrite norm_scal, Rabs_right by lra.
  assert (K := H x Hx). assert (L := shortest_unit k n A x Hx).
  assert (g * shortest k n A <= g * vnorm k (matvec n A x)) by now apply Rmult_le_compat_l. lra.
Qed.

Lemma norm_unit_spectral k n B x : sq n x = 1 -> vnorm k (matvec n B x) <= spectral k n B.
Proof. apply spectral_unit. Qed.

(** rt-lemma-q
    Covers: the whole statement.
    Reads: for N ≥ 1 tokens in ℝᵈ, d ≥ 1, any attention matrix S (rows are distributions), any W_V and g ≥ 0, Z = gX + SXW_V: σ_min(Z) ≥ g σ_min(X) − ‖SXW_V‖, and for every r with ‖x_i‖ ≤ r for all i, g σ_min(X) − ‖SXW_V‖ ≥ g σ_min(X) − √N r ‖W_V‖.
    Mistake: `g * sigma_min N d X` for `g * sigma_min N d X - spectral N d (matmul d (matmul N S X) V)`
    Mistake: `sqrt (INR N) / 2 * r` for `sqrt (INR N) * r`
    Mistake: without `stochastic N S ->`
*)
Theorem rt_lemma_q : forall N d g X S V r, (0 < N)%nat -> (0 < d)%nat -> 0 <= g -> stochastic N S ->
  (forall i, (i < N)%nat -> vnorm d (X i) <= r) ->
  sigma_min N d (output N d g X S V) >= g * sigma_min N d X - spectral N d (matmul d (matmul N S X) V) /\
  spectral N d (matmul d (matmul N S X) V) <= sqrt (INR N) * r * spectral d d V.
Proof.
  intros N d g X S V r HN Hd Hg HS H. split.
  - apply Rle_ge. unfold sigma_min, output. destruct (N <=? d)%nat.
    + apply (weyl d N g (transpose X) (transpose (matmul d (matmul N S X) V))); [easy|easy|].
      intros x Hx. eapply Rle_trans; [apply spectral_unit, Hx|apply spectral_transpose].
    + apply weyl; [easy|easy|]. intros x Hx. now apply spectral_unit.
  - assert (Hr : 0 <= r) by (eapply Rle_trans; [apply (norm_ge0 d (X O))|now apply H]).
    apply spectral_le.
    + apply Rmult_le_pos; [apply Rmult_le_pos; [apply sqrt_pos|easy]|apply spectral_ge0].
    + intros x Hx. rewrite (norm_ext N _ (matvec N S (matvec d X (matvec d V x)))).
      * eapply Rle_trans; [apply norm_SX; eassumption|].
        apply Rmult_le_compat_l; [apply Rmult_le_pos; [apply sqrt_pos|easy]|now apply spectral_unit].
      * intros i _. now rewrite <- !matvec_matvec.
Qed.

Lemma stochastic_one N S i : stochastic N S -> (i < N)%nat -> matvec N S (fun _ => 1) i = 1.
Proof. intros HS Hi. destruct (HS i Hi) as [_ E1]. transitivity (Sum N (S i)); [apply Sum_ext; intros; ring|easy]. Qed.

(** ‖Πy‖ ≤ ‖y‖ *)
Lemma centring_norm N y : (0 < N)%nat -> vnorm N (matvec N (centring N) y) <= vnorm N y.
Proof.
  intros HN. assert (P := INR_pos N HN). unfold vnorm. apply sqrt_le_1_alt.
  rewrite (sq_ext N _ (fun i => y i - / INR N * Sum N y)) by (intros; now apply centring_apply).
  unfold sq. rewrite (Sum_ext N _ (fun i => y i ^ 2 - (2 * / INR N * Sum N y * y i - (/ INR N * Sum N y) ^ 2)))
    by (intros; ring).
  rewrite Sum_minus, Sum_minus, Sum_scal, Sum_const.
  replace (2 * / INR N * Sum N y * Sum N y - INR N * (/ INR N * Sum N y) ^ 2) with (/ INR N * Sum N y ^ 2) by (field;
    lra).
  assert (0 < / INR N) by now apply Rinv_0_lt_compat. assert (0 <= Sum N y ^ 2) by apply pow2_ge_0. nra.
Qed.

(** ΠS y = ΠSΠ(Πy): rows of S add up to 1 *)
Lemma collapse_split N S y i : (0 < N)%nat -> stochastic N S -> (i < N)%nat ->
  matvec N (centring N) (matvec N S y) i
  = matvec N (matmul N (matmul N (centring N) S) (centring N)) (matvec N (centring N) y) i.
Proof.
  intros HN HS Hi. assert (P := INR_pos N HN).
  rewrite <- matvec_matvec, <- matvec_matvec. set (m := / INR N * Sum N y).
  assert (Z : Sum N (matvec N (centring N) y) = 0).
  { rewrite (Sum_ext N _ (fun i => y i - m)) by (intros; now apply centring_apply).
    rewrite Sum_minus, Sum_const. unfold m. field. lra. }
  assert (A : forall l, (l < N)%nat -> matvec N S (matvec N (centring N) (matvec N (centring N) y)) l = matvec N S y l
    - m).
  { intros l Hl. unfold matvec at 1. rewrite (Sum_ext N _ (fun j => S l j * y j - m * (S l j * 1))).
    - rewrite Sum_minus, Sum_scal. assert (E1 := stochastic_one N S l HS Hl). unfold matvec in E1 |- *. rewrite E1.
        ring.
    - intros j Hj. rewrite centring_apply, Z, centring_apply by easy. fold m. ring. }
  rewrite !centring_apply by easy. rewrite A by easy.
  rewrite (Sum_ext N (matvec N S (matvec N (centring N) (matvec N (centring N) y))) (fun l => matvec N S y l - m))
    by easy.
  rewrite Sum_minus, Sum_const. field. lra.
Qed.

(** ‖z_i − z_j‖² ≤ 2 ‖ΠZ‖² *)
Lemma rows_near N d Z i j : (i < N)%nat -> (j < N)%nat -> i <> j ->
  vnorm d (vminus (Z i) (Z j)) <= sqrt 2 * spectral N d (matmul N (centring N) Z).
Proof.
  intros Hi Hj Hij. set (u := fun l => identity i l - identity j l).
  assert (Hu : vnorm N u = sqrt 2).
  { unfold vnorm. f_equal. unfold sq, u.
    rewrite (Sum_ext N _ (fun l => identity i l * (identity i l - 2 * identity j l) + identity j l * identity j l))
      by (intros; ring).
    rewrite Sum_plus, !identity_sum by easy. unfold identity. rewrite !Nat.eqb_refl.
    replace (j =? i)%nat with false by (symmetry; apply Nat.eqb_neq; lia). ring. }
  rewrite (norm_ext d _ (matvec N (transpose (matmul N (centring N) Z)) u)).
  - rewrite <- Hu, Rmult_comm. eapply Rle_trans; [apply spectral_apply|].
    apply Rmult_le_compat_r; [apply norm_ge0|apply spectral_transpose].
  - intros k _. unfold matvec, transpose, u, vminus.
    rewrite (Sum_ext N _ (fun l => identity i l * matmul N (centring N) Z l k - identity j l * matmul N (centring N) Z
      l k))
      by (intros; ring).
    rewrite Sum_minus, !identity_sum, !centring_matmul by easy. ring.
Qed.

(** ‖ΠSXV‖ ≤ ‖ΠSΠ‖ ‖ΠXV‖ *)
Lemma collapse_norm N d X S V : (0 < N)%nat -> stochastic N S ->
  spectral N d (matmul N (centring N) (output N d 0 X S V)) <=
  spectral N N (matmul N (matmul N (centring N) S) (centring N)) * spectral N d (matmul N (centring N) (matmul d X V)).
Proof.
  intros HN HS. apply spectral_le; [apply Rmult_le_pos; apply spectral_ge0|]. intros x Hx.
  rewrite (norm_ext N _ (matvec N (matmul N (matmul N (centring N) S) (centring N))
    (matvec N (centring N) (matvec d (matmul d X V) x)))).
  - eapply Rle_trans; [apply spectral_apply|]. apply Rmult_le_compat_l; [apply spectral_ge0|].
    rewrite (norm_ext N _ (matvec d (matmul N (centring N) (matmul d X V)) x)) by (intros; apply matvec_matvec).
    now apply spectral_unit.
  - intros i Hi. rewrite <- collapse_split, <- matvec_matvec by easy. apply matvec_ext. intros j Hj. split; [easy|].
    rewrite (matvec_ext d _ (matmul d (matmul N S X) V) x x) by (intros; split; [unfold output; ring|easy]).
    rewrite <- matvec_matvec, <- matvec_matvec. apply matvec_ext. intros l _. split; [easy|apply matvec_matvec].
Qed.

(** rt-corollary-q
    Covers: the whole statement, with α = σ_min(Ā)²σ_min(W_U)²/16 as on the page.
    Reads: for P sequences of N ≥ 2 tokens, PN ≤ d₁, φ 1-Lipschitz, attention matrices S_p (rows are distributions), Z_p = S_pX_pW_V (g = 0), Ā = φ(Z̄W₁), and every p < P: σ_min(Ā) ≤ ‖W₁‖‖ΠS_pΠ‖‖ΠX_pW_V‖ =: b, α = σ_min(Ā)²σ_min(W_U)²/16 ≤ σ_min(W_U)² b²/16, and if N ≤ d then σ_min(Z_p) ≤ ‖ΠS_pΠ‖‖ΠX_pW_V‖.
    Mistake: `sigma_min (P * N) d1 A <= / 2 * (spectral d d1 W1 * left)` for `sigma_min (P * N) d1 A <= (spectral d d1 W1 * left)`
    Mistake: without `stochastic N (S p) ->`
    Mistake: without `(forall x y, Rabs (phi x - phi y) <= Rabs (x - y)) ->`
*)
Theorem rt_corollary_q : forall P N d d1 K phi X S V W1 U p, (2 <= N)%nat -> (P * N <= d1)%nat -> (p < P)%nat ->
  stochastic N (S p) -> (forall x y, Rabs (phi x - phi y) <= Rabs (x - y)) ->
  let Z := fun p => output N d 0 (X p) (S p) V in
  let A := entrywise phi (matmul d (stack N Z) W1) in
  let left := spectral N N (matmul N (matmul N (centring N) (S p)) (centring N))
    * spectral N d (matmul N (centring N) (matmul d (X p) V)) in
  sigma_min (P * N) d1 A <= (spectral d d1 W1 * left) /\
  sigma_min (P * N) d1 A ^ 2 * sigma_min d K U ^ 2 / 16 <= sigma_min d K U ^ 2 / 16 * (spectral d d1 W1 * left) ^ 2 /\
  ((N <= d)%nat -> sigma_min N d (Z p) <= left).
Proof.
  intros P N d d1 K phi X S V W1 U p HN Hd Hp HS Hphi Z A left.
  assert (HZ := collapse_norm N d (X p) (S p) V ltac:(lia) HS). fold (Z p) in HZ. fold left in HZ.
  assert (R2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (near : vnorm d (vminus (Z p 0%nat) (Z p 1%nat)) <= sqrt 2 * left).
  { eapply Rle_trans; [apply (rows_near N); lia|]. apply Rmult_le_compat_l; lra. }
  assert (first : sigma_min (P * N) d1 A <= spectral d d1 W1 * left).
  { unfold sigma_min. replace (P * N <=? d1)%nat with true by (symmetry; apply Nat.leb_le; lia).
    set (i := (p * N)%nat). set (j := (p * N + 1)%nat).
    assert (Hi : (i < P * N)%nat) by (unfold i; nia). assert (Hj : (j < P * N)%nat) by (unfold j; nia).
    set (u := fun l => identity i l - identity j l).
    assert (Hu : vnorm (P * N) u = sqrt 2).
    { unfold vnorm. f_equal. unfold sq, u.
      rewrite (Sum_ext _ _ (fun l => identity i l * (identity i l - 2 * identity j l) + identity j l * identity j l))
        by (intros; ring).
      rewrite Sum_plus, !identity_sum by easy. unfold identity. rewrite !Nat.eqb_refl.
      replace (j =? i)%nat with false by (symmetry; apply Nat.eqb_neq; lia). ring. }
    assert (B := shortest_apply d1 (P * N) (transpose A) u). rewrite Hu in B.
    assert (C : vnorm d1 (matvec (P * N) (transpose A) u) <= spectral d d1 W1 * (sqrt 2 * left)).
    { rewrite (norm_ext d1 _ (vminus (A i) (A j))).
      - apply Rle_trans with (vnorm d1 (matvec d (transpose W1) (vminus (Z p 0%nat) (Z p 1%nat)))).
        + unfold vnorm. apply sqrt_le_1_alt, Sum_le. intros k _. unfold vminus at 1, A, entrywise.
          rewrite <- pow2_abs, <- (pow2_abs (matvec _ _ _ _)). apply pow_incr. split; [apply Rabs_pos|].
          eapply Rle_trans; [apply Hphi|]. apply Req_le. f_equal. unfold matmul, matvec, transpose, vminus.
          rewrite <- Sum_minus. apply Sum_ext. intros l _. unfold stack, i, j.
          rewrite Nat.div_mul, Nat.mod_mul by lia. rewrite (Nat.add_comm (p * N)), Nat.div_add, Nat.mod_add by lia.
          rewrite Nat.div_small, Nat.mod_small by lia. simpl. ring.
        + eapply Rle_trans; [apply spectral_apply|].
          apply Rmult_le_compat; [apply spectral_ge0|apply norm_ge0|apply spectral_transpose|easy].
      - intros k _. unfold matvec, transpose, u, vminus.
        rewrite (Sum_ext _ _ (fun l => identity i l * A l k - identity j l * A l k)) by (intros; ring).
        now rewrite Sum_minus, !identity_sum. }
    apply (Rmult_le_reg_r (sqrt 2)); [easy|]. lra. }
  split; [easy|split].
  - assert (0 <= sigma_min (P * N) d1 A) by (unfold sigma_min; destruct (P * N <=? d1)%nat; apply shortest_ge0).
    assert (sigma_min (P * N) d1 A ^ 2 <= (spectral d d1 W1 * left) ^ 2) by (apply pow_incr; easy).
    assert (0 <= sigma_min d K U ^ 2) by apply pow2_ge_0. nra.
  - intros L. unfold sigma_min. replace (N <=? d)%nat with true by (symmetry; apply Nat.leb_le; lia).
    assert (B := shortest_apply d N (transpose (Z p)) (fun l => identity 0%nat l - identity 1%nat l)).
    assert (Hu : vnorm N (fun l => identity 0%nat l - identity 1%nat l) = sqrt 2).
    { unfold vnorm. f_equal. unfold sq.
      rewrite (Sum_ext _ _ (fun l => identity 0%nat l * (identity 0%nat l - 2 * identity 1%nat l) + identity 1%nat l *
        identity 1%nat l)) by (intros; ring).
      rewrite Sum_plus, !identity_sum by lia. unfold identity. simpl. ring. }
    rewrite Hu, (norm_ext d _ (vminus (Z p 0%nat) (Z p 1%nat))) in B.
    + apply (Rmult_le_reg_r (sqrt 2)); [easy|]. lra.
    + intros k _. unfold matvec, transpose, vminus.
      rewrite (Sum_ext _ _ (fun l => identity 0%nat l * Z p l k - identity 1%nat l * Z p l k)) by (intros; ring).
      now rewrite Sum_minus, !identity_sum by lia.
Qed.

(** I − A has dependent rows for every attention matrix A: it annihilates 1 *)
Lemma stationary N A : (0 < N)%nat -> stochastic N A -> dependent N N (fun i j => identity i j - A i j).
Proof.
  intros HN HA. destruct N as [|n]; [lia|]. destruct (too_many n (fun i j => identity i j - A i j)) as [v [Hv H]].
  exists v. split; [easy|]. intros j Hj. destruct (Nat.eq_dec j n) as [->|]; [|apply H; lia].
  set (f := fun j => Sum (S n) (fun i => v i * (identity i j - A i j))).
  assert (Z : Sum (S n) f = 0).
  { unfold f. rewrite <- Sum_swap. rewrite (Sum_ext _ _ (fun _ => 0)), Sum_zero; [easy|]. intros i Hi.
    rewrite Sum_scal, Sum_minus. destruct (HA i Hi) as [_ ->].
    rewrite (Sum_ext _ _ (fun j => identity i j * 1)), identity_sum by (first [easy | intros; ring]). ring. }
  cbn [Sum] in Z. rewrite (Sum_ext n f (fun _ => 0)), Sum_zero in Z by (intros; apply H; lia).
  change (f n = 0). lra.
Qed.

Lemma output_scalar N d g X A c i k : (k < d)%nat ->
  output N d g X A (fun i k => c * identity i k) i k = g * X i k + c * matmul N A X i k.
Proof.
  intros Hk. unfold output. f_equal. unfold matmul at 1.
  rewrite (Sum_ext d _ (fun j => c * (matmul N A X i j * identity j k))) by (intros; ring).
  now rewrite Sum_scal, identity_sum_r.
Qed.

(** Z = gX + 1wᵀ with w = W_Vᵀ x̄ if all attention is uniform *)
Lemma uniform_output N d g X V i k : output N d g X (fun _ _ => / INR N) V i k = g * X i k + matvec d (transpose V)
  (mean N X) k.
Proof.
  unfold output. f_equal. unfold matmul, matvec, transpose, mean. apply Sum_ext. intros j _. rewrite Sum_scal. ring.
Qed.

Lemma softmax_two z t : softmax 2 z t = exp (z t) / (exp (z 0%nat) + exp (z 1%nat)).
Proof. unfold softmax. simpl. now rewrite Rplus_0_l. Qed.

(** rt-remark-q
    Covers: a part: parts 1 and 2 but for "almost all", in whose place stands one pair W_Q, W_K as exact numbers; on the page: without the residual the rank is N for almost all W_Q, W_K.
    Reads: (1) for N ≥ 1 tokens, every attention matrix S (rows are distributions), g and X, the rows of Z = gX + SXW_V with W_V = −gI are linearly dependent. As exact numbers: for N = d = d_k = 2, X = W_Q = W_K = I, every γ > 0 and g > 0, S = softmax(γXW_QW_KᵀXᵀ) and W_V = −gI, the tokens are independent, the rows of Z = gX + SXW_V are dependent, and those of SXW_V are independent. If matrices S_n tend to I entry by entry, the entries of gX + S_nXW_V with W_V = −gI tend to 0. (2) For N > d ≥ 1, uniform attention, g > 0 and every W_V, Z = gX + 1wᵀ with w = W_Vᵀx̄, and σ_min(gX + 1wᵀ) ≥ g σ_min(ΠX) for every w, with equality for w = −gx̄; ΠXu = 0 if and only if all ⟨x_i, u⟩ are equal.
    Mistake: `~ dependent N d (output` for `dependent N d (output`
    Mistake: without `0 < gamma ->`
    Mistake: `g * 2 * sigma_min N d (matmul N (centring N) X)` for `g * sigma_min N d (matmul N (centring N) X)`
*)
Theorem rt_remark_q :
  (forall N d g X A, (0 < N)%nat -> stochastic N A ->
    dependent N d (output N d g X A (fun i k => - g * identity i k))) /\
  (forall gamma g, 0 < gamma -> 0 < g -> let A := weights 2 2 2 gamma identity identity identity in
    ~ dependent 2 2 identity /\ dependent 2 2 (output 2 2 g identity A (fun i k => - g * identity i k)) /\
    ~ (dependent 2 2 (output 2 2 0 identity A (fun i k => - g * identity i k)))) /\
  (forall N d g X (A : nat -> matrix),
    (forall i j, (i < N)%nat -> (j < N)%nat -> is_lim_seq (fun n => A n i j) (identity i j)) ->
    forall i k, (i < N)%nat -> (k < d)%nat ->
      is_lim_seq (fun n => output N d g X (A n) (fun i k => - g * identity i k) i k) 0) /\
  (forall N d g X, (0 < d < N)%nat -> 0 < g ->
    (forall V i k, output N d g X (fun _ _ => / INR N) V i k = g * X i k + matvec d (transpose V) (mean N X) k) /\
    (forall w, sigma_min N d (fun i k => g * X i k + w k) >= g * sigma_min N d (matmul N (centring N) X)) /\
    sigma_min N d (fun i k => g * X i k + - g * mean N X k) = g * (sigma_min N d (matmul N (centring N) X)) /\
    (forall u, (forall i, (i < N)%nat -> matvec d (matmul N (centring N) X) u i = 0) <->
      forall i j, (i < N)%nat -> (j < N)%nat -> dot d (X i) u = dot d (X j) u)).
Proof.
  split; [|split; [|split]].
  - intros N d g X A HN HA. destruct (stationary N A HN HA) as [v [Hv H]]. exists v. split; [easy|]. intros k Hk.
    rewrite (Sum_ext N _ (fun i => g * Sum N (fun j => v i * (identity i j - A i j) * X j k))).
    + rewrite Sum_scal, Sum_swap, (Sum_ext N _ (fun _ => 0)), Sum_zero; [ring|]. intros j Hj.
      rewrite (Sum_ext N _ (fun i => X j k * (v i * (identity i j - A i j)))) by (intros; ring).
      rewrite Sum_scal, H by easy. ring.
    + intros i Hi. rewrite output_scalar by easy.
      rewrite (Sum_ext N _ (fun j => v i * (identity i j * X j k - A i j * X j k))) by (intros; ring).
      rewrite Sum_scal, Sum_minus, identity_sum by easy. unfold matmul. ring.
  - intros gamma g Hg Hg2 A.
    assert (E1 : exp 0 < exp gamma) by now apply exp_increasing. assert (E0 := exp_pos 0).
    assert (A00 : A 0%nat 0%nat = exp gamma / (exp gamma + exp 0)).
    { unfold A, weights. rewrite softmax_two. unfold logits, matmul, transpose, identity. simpl. repeat f_equal; ring. }
    assert (A01 : A 0%nat 1%nat = exp 0 / (exp gamma + exp 0)).
    { unfold A, weights. rewrite softmax_two. unfold logits, matmul, transpose, identity. simpl. repeat f_equal; ring. }
    assert (A10 : A 1%nat 0%nat = exp 0 / (exp 0 + exp gamma)).
    { unfold A, weights. rewrite softmax_two. unfold logits, matmul, transpose, identity. simpl. repeat f_equal; ring. }
    assert (A11 : A 1%nat 1%nat = exp gamma / (exp 0 + exp gamma)).
    { unfold A, weights. rewrite softmax_two. unfold logits, matmul, transpose, identity. simpl. repeat f_equal; ring. }
    split; [|split].
    + intros [v [[i [Hi Ni]] H]]. apply Ni. rewrite <- (H i Hi). now rewrite identity_sum_r.
    + exists (fun _ => 1). split; [exists 0%nat; split; [lia|lra]|]. intros k Hk.
      unfold Sum. rewrite !output_scalar by easy. unfold matmul, Sum.
      destruct k as [|[|k]]; [| |lia]; rewrite A00, A01, A10, A11; unfold identity; simpl; field; lra.
    + intros [v [[i [Hi Ni]] H]]. assert (H0 := H 0%nat ltac:(lia)). assert (H1 := H 1%nat ltac:(lia)).
      unfold Sum in H0, H1. rewrite !output_scalar in H0, H1 by lia. unfold matmul, Sum in H0, H1.
      rewrite A00, A10, A01, A11 in *. unfold identity in H0, H1. simpl in H0, H1.
      set (a := v 0%nat) in *. set (b := v 1%nat) in *. set (p := exp gamma) in *. set (q := exp 0) in *.
      assert (K0 : a * p + b * q = 0).
      { apply (Rmult_eq_reg_r (- g / (p + q))); [|apply Rlt_not_eq; apply (Rmult_lt_reg_r (p + q));
          [lra|field_simplify; lra]].
        rewrite Rmult_0_l, <- H0. field. lra. }
      assert (K1 : a * q + b * p = 0).
      { apply (Rmult_eq_reg_r (- g / (p + q))); [|apply Rlt_not_eq; apply (Rmult_lt_reg_r (p + q));
          [lra|field_simplify; lra]].
        rewrite Rmult_0_l, <- H1. field. lra. }
      assert (a + b = 0) by (apply (Rmult_eq_reg_r (p + q)); lra).
      assert (a - b = 0) by (apply (Rmult_eq_reg_r (p - q)); lra).
      apply Ni. destruct i as [|[|i]]; [| |lia]; fold a b; lra.
  - intros N d g X A HA i k Hi Hk.
    apply (is_lim_seq_ext (fun n => g * X i k + - g * Sum N (fun j => A n i j * X j k))).
    { intros n. now rewrite output_scalar. }
    replace (Finite 0) with (Finite (g * X i k + - g * Sum N (fun j => identity i j * X j k)))
      by (rewrite identity_sum by easy; f_equal; ring).
    apply (is_lim_seq_plus' (fun _ => g * X i k)); [apply is_lim_seq_const|].
    apply (is_lim_seq_scal_l (fun n => Sum N (fun j => A n i j * X j k)) (- g) (Finite _)).
    assert (G : forall m, (m <= N)%nat -> is_lim_seq (fun n => Sum m (fun j => A n i j * X j k)) (Sum m (fun j =>
      identity i j * X j k))).
    { induction m; intros Hm; simpl; [apply is_lim_seq_const|]. apply is_lim_seq_plus'; [apply IHm; lia|].
      apply (is_lim_seq_scal_r (fun n => A n i m) (X m k) (Finite _)). apply HA; lia. }
    now apply G.
  - intros N d g X Hd Hg. assert (P := INR_pos N ltac:(lia)).
    assert (Sg : forall M, sigma_min N d M = shortest N d M).
    { intros M. unfold sigma_min. now replace (N <=? d)%nat with false by (symmetry; apply Nat.leb_gt; lia). }
    assert (PX : forall x i, (i < N)%nat -> matvec d (matmul N (centring N) X) x i = matvec N (centring N) (matvec d X
      x) i)
      by (intros; symmetry; apply matvec_matvec).
    assert (C : forall x w i, (i < N)%nat -> matvec N (centring N) (matvec d (fun i k => g * X i k + w k) x) i
      = g * matvec N (centring N) (matvec d X x) i).
    { intros x w i Hi. rewrite !centring_apply by easy.
      rewrite (Sum_ext N (matvec d (fun i k => g * X i k + w k) x) (fun i => g * matvec d X x i + dot d w x)).
      - rewrite Sum_plus, Sum_scal, Sum_const.
        replace (matvec d (fun i k => g * X i k + w k) x i) with (g * matvec d X x i + dot d w x); [field; lra|].
        unfold matvec, dot. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext. intros. ring.
      - intros j _. unfold matvec, dot. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext. intros. ring. }
    assert (B : forall w x, g * vnorm N (matvec d (matmul N (centring N) X) x) <= vnorm N (matvec d (fun i k => g * X i
      k + w k) x)).
    { intros w x. rewrite <- (Rabs_right g), <- norm_scal, Rabs_right by lra.
      rewrite (norm_ext N _ (matvec N (centring N) (matvec d (fun i k => g * X i k + w k) x))); [apply centring_norm;
        lia|].
      intros i Hi. unfold vscal. now rewrite PX, C. }
    assert (D : forall w, g * shortest N d (matmul N (centring N) X) <= shortest N d (fun i k => g * X i k + w k)).
    { intros w. apply shortest_ge; [lia|]. intros x Hx. eapply Rle_trans; [|apply B].
      apply Rmult_le_compat_l; [lra|now apply shortest_unit]. }
    split; [|split; [|split]].
    + intros. apply uniform_output.
    + intros w. rewrite !Sg. apply Rle_ge, D.
    + rewrite !Sg. apply Rle_antisym; [|apply (D (vscal (- g) (mean N X)))].
      rewrite Rmult_comm. apply (Rle_div_l _ _ g); [lra|]. apply shortest_ge; [lia|]. intros x Hx.
      apply (Rle_div_l _ _ g); [lra|]. eapply Rle_trans; [apply shortest_unit, Hx|].
      rewrite Rmult_comm, <- (Rabs_right g) at 1 by lra. rewrite <- norm_scal. apply Req_le, norm_ext. intros i Hi.
      unfold vscal. rewrite <- matvec_scal. unfold matvec. apply Sum_ext. intros k _. rewrite centring_matmul by easy.
      unfold vscal, mean. ring.
    + intros u. split.
      * intros H i j Hi Hj. assert (H1 := H i Hi). assert (H2 := H j Hj). rewrite PX, centring_apply in H1, H2 by easy.
        change (dot d (X i) u) with (matvec d X u i). change (dot d (X j) u) with (matvec d X u j). lra.
      * intros H i Hi. rewrite PX, centring_apply by easy.
        rewrite (Sum_ext N _ (fun _ => matvec d X u i)) by (intros j Hj; apply (H j i); easy).
        rewrite Sum_const. field. lra.
Qed.

(** a symmetric 2 × 2 matrix with equal diagonal entries a and off-diagonal entries b *)
Lemma two_lengths (M : matrix) a b x : M 0%nat 0%nat = a -> M 1%nat 1%nat = a -> M 0%nat 1%nat = b ->
  M 1%nat 0%nat = b ->
  sq 2 (matvec 2 M x) = (a + b) ^ 2 * ((x 0%nat + x 1%nat) ^ 2 / 2) + (a - b) ^ 2 * ((x 0%nat - x 1%nat) ^ 2 / 2) /\
  sq 2 x = (x 0%nat + x 1%nat) ^ 2 / 2 + (x 0%nat - x 1%nat) ^ 2 / 2.
Proof. intros H0 H1 H2 H3. unfold sq, matvec. simpl. rewrite H0, H1, H2, H3. split; field. Qed.

Lemma two_values (M : matrix) a b : M 0%nat 0%nat = a -> M 1%nat 1%nat = a -> M 0%nat 1%nat = b -> M 1%nat 0%nat = b ->
  spectral 2 2 M = Rmax (Rabs (a + b)) (Rabs (a - b)) /\ shortest 2 2 M = Rmin (Rabs (a + b)) (Rabs (a - b)).
Proof.
  intros H0 H1 H2 H3. assert (L := fun x => two_lengths M a b x H0 H1 H2 H3).
  assert (R2 : sqrt 2 ^ 2 = 2) by (apply pow2_sqrt; lra). assert (Q2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  set (p := fun _ : nat => / sqrt 2). set (q := fun i : nat => if (i =? 0)%nat then / sqrt 2 else - / sqrt 2).
  assert (I2 : (/ sqrt 2) ^ 2 = / 2) by (rewrite pow_inv, R2; easy).
  assert (Hp : sq 2 p = 1) by (unfold sq, p; simpl; simpl in I2; lra).
  assert (Hq : sq 2 q = 1) by (unfold sq, q; simpl; simpl in I2; lra).
  assert (Vp : vnorm 2 (matvec 2 M p) = Rabs (a + b)).
  { unfold vnorm. destruct (L p) as [-> _]. rewrite <- sqrt_Rsqr_abs, Rsqr_pow2. f_equal. unfold p.
    replace ((/ sqrt 2 + / sqrt 2) ^ 2) with (4 * (/ sqrt 2) ^ 2) by ring. rewrite I2.
    replace (/ sqrt 2 - / sqrt 2) with 0 by ring. field. }
  assert (Vq : vnorm 2 (matvec 2 M q) = Rabs (a - b)).
  { unfold vnorm. destruct (L q) as [-> _]. rewrite <- sqrt_Rsqr_abs, Rsqr_pow2. f_equal. unfold q. simpl Nat.eqb.
      cbv iota.
    replace ((/ sqrt 2 - - / sqrt 2) ^ 2) with (4 * (/ sqrt 2) ^ 2) by ring. rewrite I2.
    replace (/ sqrt 2 + - / sqrt 2) with 0 by ring. field. }
  set (u := Rabs (a + b)) in *. set (v := Rabs (a - b)) in *.
  assert (Eu : (a + b) ^ 2 = u ^ 2) by (unfold u; now rewrite pow2_abs).
  assert (Ev : (a - b) ^ 2 = v ^ 2) by (unfold v; now rewrite pow2_abs).
  assert (Pu : 0 <= u) by apply Rabs_pos. assert (Pv : 0 <= v) by apply Rabs_pos.
  split; apply Rle_antisym.
  - assert (Mu := Rmax_l u v). assert (Mv := Rmax_r u v). apply spectral_le; [lra|]. intros x Hx. apply norm_le; [lra|].
    destruct (L x) as [-> N]. rewrite Hx in N. rewrite Eu, Ev. set (m := Rmax u v) in *.
    assert (u ^ 2 <= m ^ 2) by (apply pow_incr; lra). assert (v ^ 2 <= m ^ 2) by (apply pow_incr; lra).
    assert (0 <= (x 0%nat + x 1%nat) ^ 2) by apply pow2_ge_0. assert (0 <= (x 0%nat - x 1%nat) ^ 2) by apply pow2_ge_0.
      nra.
  - apply Rmax_lub; [rewrite <- Vp|rewrite <- Vq]; now apply spectral_unit.
  - apply Rmin_glb; [rewrite <- Vp|rewrite <- Vq]; now apply shortest_unit.
  - assert (Mu := Rmin_l u v). assert (Mv := Rmin_r u v). apply shortest_ge; [lia|]. intros x Hx.
    assert (P0 : 0 <= Rmin u v) by (apply Rmin_glb; easy).
    rewrite <- (sqrt_pow2 (Rmin u v) P0). unfold vnorm. apply sqrt_le_1_alt.
    destruct (L x) as [-> N]. rewrite Hx in N. rewrite Eu, Ev. set (m := Rmin u v) in *.
    assert (m ^ 2 <= u ^ 2) by (apply pow_incr; lra). assert (m ^ 2 <= v ^ 2) by (apply pow_incr; lra).
    assert (0 <= (x 0%nat + x 1%nat) ^ 2) by apply pow2_ge_0. assert (0 <= (x 0%nat - x 1%nat) ^ 2) by apply pow2_ge_0.
      nra.
Qed.

(** κ(M) = σ_max(M) / σ_min(M) *)
Definition condition (k n : nat) (M : matrix) : R := spectral k n M / sigma_min k n M.

Lemma condition_two (M : matrix) a b : M 0%nat 0%nat = a -> M 1%nat 1%nat = a -> M 0%nat 1%nat = b ->
  M 1%nat 0%nat = b ->
  0 < Rabs (a + b) -> 0 < Rabs (a - b) -> condition 2 2 M = Rmax (Rabs (a - b) / Rabs (a + b)) (Rabs (a + b) / Rabs (a
    - b)).
Proof.
  intros H0 H1 H2 H3 Pu Pv. unfold condition, sigma_min. simpl Nat.leb. cbv iota.
  destruct (two_values M a b H0 H1 H2 H3) as [-> _].
  destruct (two_values (transpose M) a b H0 H1 H3 H2) as [_ ->].
  set (u := Rabs (a + b)) in *. set (v := Rabs (a - b)) in *.
  destruct (Rle_dec u v) as [L|L].
  - rewrite Rmax_right, Rmin_left, Rmax_left; try lra.
    apply Rle_trans with 1; [apply Rle_div_l; lra|apply Rle_div_r; lra].
  - rewrite Rmax_left, Rmin_right, Rmax_right; try lra.
    apply Rle_trans with 1; [apply Rle_div_l; lra|apply Rle_div_r; lra].
Qed.

(** the tokens (1, −0.9), (−0.9, 1) *)
Definition two_tokens : matrix := fun i j => if (i =? j)%nat then 1 else - (9 / 10).

(** Z = gX + SXW_V for these tokens, uniform attention and W_V = sI *)
Definition two_outputs (s g : R) : matrix := output 2 2 g two_tokens (fun _ _ => / 2) (fun i k => s * identity i k).

Lemma two_outputs_condition s g : 0 < g -> g / 10 + s / 10 <> 0 ->
  condition 2 2 (two_outputs s g) = Rmax (19 / 10 * g / Rabs (g / 10 + s / 10)) (Rabs (g / 10 + s / 10) / (19 / 10 *
    g)).
Proof.
  intros Hg Hn. set (a := g + s / 20). set (b := - (9 / 10) * g + s / 20).
  rewrite (condition_two _ a b); try (unfold a, b;
    replace (g + s / 20 + (- (9 / 10) * g + s / 20)) with (g / 10 + s / 10) by field).
  - replace (g + s / 20 - (- (9 / 10) * g + s / 20)) with (19 / 10 * g) by field.
      now rewrite (Rabs_right (19 / 10 * g)) by lra.
  - unfold two_outputs. rewrite output_scalar by lia. unfold matmul, two_tokens. simpl. unfold a. field.
  - unfold two_outputs. rewrite output_scalar by lia. unfold matmul, two_tokens. simpl. unfold a. field.
  - unfold two_outputs. rewrite output_scalar by lia. unfold matmul, two_tokens. simpl. unfold b. field.
  - unfold two_outputs. rewrite output_scalar by lia. unfold matmul, two_tokens. simpl. unfold b. field.
  - now apply Rabs_pos_lt.
  - apply Rabs_pos_lt. unfold a, b. lra.
Qed.

(** rt-remark-r
    Covers: the whole statement.
    Reads: for X with rows (1, −0.9), (−0.9, 1): κ(X) = 19. For S = ½11ᵀ, W_V = sI, s = 20 or s = −20, every g > 0 with 0.1g + s/10 ≠ 0: κ(Z) is the larger of 1.9g/|0.1g + s/10| and its inverse. For W_V = 20I it is 1 at g = 10/9, increases strictly for g ≥ 10/9, and tends to 19 as g → ∞. For W_V = −20I and g = 20, σ_min(Z) = 0 < ‖Z‖, that is κ(Z) = ∞.
    Mistake: `= 18` for `= 19`
    Mistake: `(two_outputs 20 1)` for `(two_outputs 20 (10 / 9))`
    Mistake: `sigma_min 2 2 (two_outputs 20 20)` for `sigma_min 2 2 (two_outputs (-20) 20)`
*)
Theorem rt_remark_r :
  condition 2 2 two_tokens = 19 /\
  (forall s g, s = 20 \/ s = -20 -> 0 < g -> g / 10 + s / 10 <> 0 ->
    condition 2 2 (two_outputs s g) =
    Rmax (19 / 10 * g / Rabs (g / 10 + s / 10)) (/ (19 / 10 * g / Rabs (g / 10 + s / 10)))) /\
  condition 2 2 (two_outputs 20 (10 / 9)) = 1 /\
  (forall g h, 10 / 9 <= g -> g < h -> condition 2 2 (two_outputs 20 g) < condition 2 2 (two_outputs 20 h)) /\
  is_lim (fun g => condition 2 2 (two_outputs 20 g)) p_infty 19 /\
  (sigma_min 2 2 (two_outputs (-20) 20) = 0 /\ 0 < spectral 2 2 (two_outputs (-20) 20)).
Proof.
  assert (C : forall g, 10 / 9 <= g -> condition 2 2 (two_outputs 20 g) = 19 - 380 / (g + 20)).
  { intros g Hg. rewrite two_outputs_condition by lra. rewrite Rabs_right by lra. rewrite Rmax_left.
    - field. lra.
    - apply Rle_trans with 1; [apply Rle_div_l; lra|apply Rle_div_r; lra]. }
  split; [|split; [|split; [|split; [|split]]]].
  - rewrite (condition_two _ 1 (- (9 / 10))) by (easy || apply Rabs_pos_lt; lra).
    rewrite !Rabs_right by lra. replace ((1 - - (9 / 10)) / (1 + - (9 / 10))) with 19 by field.
    replace ((1 + - (9 / 10)) / (1 - - (9 / 10))) with (/ 19) by field. rewrite Rmax_left; lra.
  - intros s g Hs Hg Hn. rewrite two_outputs_condition by easy. f_equal. assert (P := Rabs_pos_lt _ Hn). field. lra.
  - rewrite C; lra.
  - intros g h Hg Hh. rewrite !C by lra. assert (380 / (h + 20) < 380 / (g + 20)); [|lra].
    apply Rmult_lt_compat_l; [lra|]. apply Rinv_lt_contravar; [nra|lra].
  - apply (is_lim_ext_loc (fun g => 19 - 380 * / (g + 20))).
    + exists (10 / 9). intros g Hg. rewrite C by lra. easy.
    + replace (Finite 19) with (Finite (19 - 380 * 0)) by (f_equal; ring).
      apply (is_lim_minus' (fun _ => 19)); [apply is_lim_const|].
      apply (is_lim_scal_l (fun g => / (g + 20)) 380 p_infty (Finite 0)).
      apply (is_lim_inv (fun g => g + 20) p_infty p_infty); [|easy].
      apply (is_lim_plus (fun g => g) (fun _ => 20) p_infty p_infty 20 p_infty);
        [apply is_lim_id|apply is_lim_const|easy].
  - assert (H : forall i j, (i < 2)%nat -> (j < 2)%nat -> two_outputs (-20) 20 i j = if (i =? j)%nat then 19 else -19).
    { intros i j Hi Hj. unfold two_outputs. rewrite output_scalar by easy. unfold matmul, two_tokens.
      destruct i as [|[|i]]; try lia; destruct j as [|[|j]]; try lia; simpl; field. }
    split.
    + unfold sigma_min. simpl Nat.leb. cbv iota.
      destruct (two_values (transpose (two_outputs (-20) 20)) 19 (-19)) as [_ ->]; try (unfold transpose;
        rewrite H by lia; easy).
      rewrite Rmin_left; replace (19 + -19) with 0 by ring; rewrite Rabs_R0; [easy|apply Rabs_pos].
    + destruct (two_values (two_outputs (-20) 20) 19 (-19)) as [-> _]; try (rewrite H by lia; easy).
      eapply Rlt_le_trans; [|apply Rmax_r]. apply Rabs_pos_lt. lra.
Qed.

(** the distance of y to the affine hull of the tokens: the infimum of ‖y − Σ c_i x_i‖ over c with Σ c_i = 1 *)
Definition hull_distance (N d : nat) (X : matrix) (y : vector) : R :=
  real (Glb_Rbar (fun t => exists c, Sum N c = 1 /\ t = vnorm d (fun k => y k - Sum N (fun i => c i * X i k)))).

Lemma hull_distance_bounds N d X y c : Sum N c = 1 ->
  0 <= hull_distance N d X y <= vnorm d (fun k => y k - Sum N (fun i => c i * X i k)).
Proof.
  intros Hc. unfold hull_distance. set (D := fun t => _).
  destruct (Glb_Rbar_correct D) as [U L].
  assert (A := U (vnorm d (fun k => y k - Sum N (fun i => c i * X i k))) ltac:(now exists c)).
  assert (B := L (Finite 0) ltac:(intros t [e [_ ->]]; apply norm_ge0)).
  destruct (Glb_Rbar D); simpl in *; easy.
Qed.

(** rt-proposition-t
    Covers: a part: the criterion and the bound; on the page: the probability for Gaussian W_V.
    Reads: for uniform attention, g > 0, N ≥ 1 linearly independent tokens in ℝᵈ and w = W_Vᵀx̄, Z = gX + SXW_V = gX + 1wᵀ; its rows are linearly dependent if and only if −w/g = Σ c_i x_i for some c with Σ c_i = 1; and with δ the infimum of ‖−w/g − Σ c_i x_i‖ over such c, σ_min(Z) ≥ g σ_min(X) gδ/(gδ + ‖w‖).
    Mistake: `(g * delta + vnorm d w / 2)` for `(g * delta + vnorm d w)`
    Mistake: `(k < d)%nat -> - w k * g` for `(k < d)%nat -> - w k / g`
    Mistake: without `~ dependent N d X ->`
*)
Theorem rt_proposition_t : forall N d g X V, (0 < N)%nat -> 0 < g -> ~ dependent N d X ->
  let Z := output N d g X (fun _ _ => / INR N) V in
  let w := matvec d (transpose V) (mean N X) in
  let delta := hull_distance N d X (fun k => - w k / g) in
  (forall i k, Z i k = g * X i k + w k) /\
  (dependent N d Z <-> exists c, Sum N c = 1 /\ forall k, (k < d)%nat -> - w k / g = Sum N (fun i => c i * X i k)) /\
  sigma_min N d Z >= g * sigma_min N d X * (g * delta / (g * delta + vnorm d w)).
Proof.
  intros N d g X V HN Hg HX Z w delta.
  assert (EZ : forall i k, Z i k = g * X i k + w k) by (intros; apply uniform_output).
  assert (comb : forall v k, Sum N (fun i => v i * Z i k) = g * Sum N (fun i => v i * X i k) + Sum N v * w k).
  { intros v k. rewrite (Sum_ext N _ (fun i => g * (v i * X i k) + w k * v i)) by (intros; rewrite EZ; ring).
    rewrite Sum_plus, !Sum_scal. ring. }
  split; [easy|split].
  - split.
    + intros [v [Hv H]]. assert (HC : Sum N v <> 0).
      { intros E0. apply HX. exists v. split; [easy|]. intros k Hk. assert (K := H k Hk). rewrite comb, E0 in K.
        apply (Rmult_eq_reg_l g); lra. }
      exists (fun i => / Sum N v * v i). split; [rewrite Sum_scal; now field|]. intros k Hk. assert (K := H k Hk).
        rewrite comb in K.
      rewrite (Sum_ext N _ (fun i => / Sum N v * (v i * X i k))), Sum_scal by (intros; ring).
      apply (Rmult_eq_reg_l (g * Sum N v)); [field_simplify; lra|]. apply Rmult_integral_contrapositive. lra.
    + intros [c [Hc H]]. exists c. split.
      * destruct (zero_or_not N c) as [Z0|Z0]; [|easy]. exfalso.
        rewrite (Sum_ext N c (fun _ => 0)), Sum_zero in Hc by easy. lra.
      * intros k Hk. rewrite comb, Hc, <- H by easy. field. lra.
  - assert (ND : (N <= d)%nat).
    { destruct (Nat.le_gt_cases N d) as [L|L]; [easy|]. exfalso. now apply HX, more_than_dimensions. }
    unfold sigma_min. replace (N <=? d)%nat with true by (symmetry; now apply Nat.leb_le).
    set (s := shortest d N (transpose X)). assert (Hs : 0 <= s) by apply shortest_ge0.
    set (W := vnorm d w). assert (HW : 0 <= W) by apply norm_ge0.
    assert (HD : 0 <= delta) by (apply (hull_distance_bounds N d X _ (fun _ => / INR N)); rewrite Sum_const; field;
      apply Rgt_not_eq, INR_pos, HN).
    assert (HgD : 0 <= g * delta) by (apply Rmult_le_pos; lra). assert (Hgs : 0 <= g * s) by (apply Rmult_le_pos; lra).
    apply Rle_ge, shortest_ge; [easy|]. intros v Hv.
    set (c := Sum N v). set (len := vnorm d (matvec N (transpose Z) v)).
    assert (EV : len = vnorm d (vplus (vscal g (matvec N (transpose X) v)) (vscal c w))).
    { apply norm_ext. intros k _. unfold vplus, vscal, matvec, transpose.
      rewrite (Sum_ext N _ (fun i => v i * Z i k)), comb by (intros; ring). unfold c. f_equal. f_equal. apply Sum_ext.
        intros. ring. }
    assert (one : g * s - Rabs c * W <= len).
    { rewrite EV. eapply Rle_trans; [|apply norm_reverse]. rewrite !norm_scal, (Rabs_right g) by lra.
      assert (g * s <= g * vnorm d (matvec N (transpose X) v)) by (apply Rmult_le_compat_l;
        [lra|now apply shortest_unit]).
      unfold W. lra. }
    assert (two : Rabs c * (g * delta) <= len).
    { destruct (Req_dec c 0) as [E0|N0]; [rewrite E0, Rabs_R0, Rmult_0_l; apply norm_ge0|].
      assert (K : delta <= _) by (apply (hull_distance_bounds N d X (fun k => - w k / g) (fun i => / c * v i));
        rewrite Sum_scal; fold c; now field).
      rewrite EV. rewrite (norm_ext d _ (vscal (- (c * g)) (fun k => - w k / g - Sum N (fun i => / c * v i * X i k)))).
      - rewrite norm_scal, Rabs_Ropp, Rabs_mult, (Rabs_right g) by lra.
        rewrite <- Rmult_assoc. apply Rmult_le_compat_l; [apply Rmult_le_pos; [apply Rabs_pos|lra]|easy].
      - intros k _. unfold vplus, vscal, matvec, transpose.
        rewrite (Sum_ext N (fun i => / c * v i * X i k) (fun i => / c * (X i k * v i))), Sum_scal by (intros; ring).
        field. lra. }
    fold len. destruct (Req_dec (g * delta + W) 0) as [E0|N0].
    { replace (g * delta) with 0 by lra. unfold Rdiv. rewrite Rmult_0_l, Rmult_0_r. apply norm_ge0. }
    destruct (Rle_dec (g * s) (Rabs c * (g * delta + W))) as [L|L].
    + apply Rle_trans with (Rabs c * (g * delta)); [|easy].
      replace (g * s * (g * delta / (g * delta + W))) with (g * s * (g * delta) / (g * delta + W)) by now field.
      apply Rle_div_l; [lra|]. nra.
    + apply Rle_trans with (g * s - Rabs c * W); [|easy].
      replace (g * s * (g * delta / (g * delta + W))) with (g * s - g * s / (g * delta + W) * W) by now field.
      assert (Rabs c <= g * s / (g * delta + W)) by (apply Rle_div_r; lra). nra.
Qed.

(** M with e added to the entry (i, j) *)
Definition shift (M : matrix) (i j : nat) (e : R) : matrix := fun a b => M a b + e * (identity i a * identity j b).

(** G holds the derivatives of f by the entries of a k × n matrix, at M *)
Definition gradient (k n : nat) (f : matrix -> R) (M G : matrix) : Prop :=
  forall i j, (i < k)%nat -> (j < n)%nat -> is_derive (fun e => f (shift M i j e)) 0 (G i j).

(** c M *)
Definition mscal (c : R) (M : matrix) : matrix := fun i j => c * M i j.

(** M − c G, a step of descent *)
Definition step (c : R) (M G : matrix) : matrix := fun i j => M i j - c * G i j.

Lemma network_scale N d dk d1 gamma g gf tau Q K V W1 W2 U X : 0 < g -> 0 <= tau ->
  network N d dk d1 gamma g gf (smoothed tau) Q K V W1 W2 U X
  = network N d dk d1 gamma 1 gf (smoothed (tau / g)) Q K (mscal (/ g) V) W1 W2 (mscal g U) X.
Proof.
  intros Hg Ht. apply functional_extensionality. intros i. apply functional_extensionality. intros m. unfold network.
  set (A := weights N d dk gamma Q K X). set (Z := output N d g X A V). set (Z' := output N d 1 X A (mscal (/ g) V)).
  assert (EZ : forall k, Z i k = g * Z' i k).
  { intros k. unfold Z, Z', output, mscal. unfold matmul at 1 3.
    rewrite (Sum_ext d (fun j => matmul N A X i j * (/ g * V j k)) (fun j => / g * (matmul N A X i j * V j k)))
      by (intros; ring).
    rewrite Sum_scal. field. lra. }
  assert (EH : forall l, matmul d Z W1 i l = g * matmul d Z' W1 i l).
  { intros l. unfold matmul. rewrite <- Sum_scal. apply Sum_ext. intros. rewrite EZ. ring. }
  unfold readout, matmul at 1 4. unfold mscal. apply Sum_ext. intros k _.
  rewrite EZ. unfold matmul at 1 3. replace (gf * (g * Z' i k) + Sum d1 (fun j => entrywise (smoothed tau) (matmul d Z
    W1) i j * W2 j k))
    with (g * (gf * Z' i k + Sum d1 (fun j => entrywise (smoothed (tau / g)) (matmul d Z' W1) i j * W2 j k))); [ring|].
  rewrite Rmult_plus_distr_l, <- Sum_scal. f_equal; [ring|]. apply Sum_ext. intros l _. unfold entrywise.
  rewrite EH, smoothed_scale by easy. ring.
Qed.

(** rt-theorem-u
    Covers: the whole statement, for one step of descent and so for every number of them.
    Reads: for every g > 0, τ ≥ 0 and g_f, with φ_τ the smoothed ReLU (φ_0 = relu), F_{g,τ}(W_Q, W_K, W_V, W_1, W_2, W_U) = F_{1,τ/g}(W_Q, W_K, W_V/g, W_1, W_2, gW_U). For any loss ℓ of the outputs of all sequences, if G_Q, …, G_U hold the partial derivatives of ℓ on the left at a point, then G_Q, G_K, gG_V, G_1, G_2, G_U/g hold those on the right at the corresponding point; and a step μ on the left is a step on the right with μ/g² for W_V, μg² for W_U and μ for the others.
    Mistake: `(smoothed tau) Q K (mscal (/ g) V)` for `(smoothed (tau / g)) Q K (mscal (/ g) V)`
    Mistake: `(mu / g)` for `(mu / g ^ 2)`
    Mistake: without `0 < g ->`
*)
Theorem rt_theorem_u : forall N d dk d1 m gamma g gf tau (ell : (nat -> matrix) -> R) (X : nat -> matrix), 0 < g ->
  0 <= tau ->
  (forall Q K V W1 W2 U p, network N d dk d1 gamma g gf (smoothed tau) Q K V W1 W2 U (X p)
    = network N d dk d1 gamma 1 gf (smoothed (tau / g)) Q K (mscal (/ g) V) W1 W2 (mscal g U) (X p)) /\
  (let left := fun Q K V W1 W2 U => ell (fun p => network N d dk d1 gamma g gf (smoothed tau) Q K V W1 W2 U (X p)) in
   let right := fun Q K V W1 W2 U => ell (fun p => network N d dk d1 gamma 1 gf (smoothed (tau * / g)) Q K V W1 W2 U (X
     p)) in
   forall Q K V W1 W2 U GQ GK GV G1 G2 GU mu,
    gradient d dk (fun M => left M K V W1 W2 U) Q GQ -> gradient d dk (fun M => left Q M V W1 W2 U) K GK ->
    gradient d d (fun M => left Q K M W1 W2 U) V GV -> gradient d d1 (fun M => left Q K V M W2 U) W1 G1 ->
    gradient d1 d (fun M => left Q K V W1 M U) W2 G2 -> gradient d m (fun M => left Q K V W1 W2 M) U GU ->
    let V' := mscal (/ g) V in let U' := mscal g U in
    (gradient d dk (fun M => right M K V' W1 W2 U') Q GQ /\ gradient d dk (fun M => right Q M V' W1 W2 U') K GK /\
     gradient d d (fun M => right Q K M W1 W2 U') V' (mscal g GV) /\
       gradient d d1 (fun M => right Q K V' M W2 U') W1 G1 /\
     gradient d1 d (fun M => right Q K V' W1 M U') W2 G2 /\
       gradient d m (fun M => right Q K V' W1 W2 M) U' (mscal (/ g) GU)) /\
    step (mu / g ^ 2) V' (mscal g GV) = mscal (/ g) (step mu V GV) /\
    step (mu * g ^ 2) U' (mscal (/ g) GU) = mscal g (step mu U GU)).
Proof.
  intros N d dk d1 m gamma g gf tau ell X Hg Ht. split; [intros; now apply network_scale|].
  intros left right Q K V W1 W2 U GQ GK GV G1 G2 GU mu HQ HK HV H1 H2 HU V' U'.
  assert (LR : forall Q K V W1 W2 U, left Q K V W1 W2 U = right Q K (mscal (/ g) V) W1 W2 (mscal g U)).
  { intros. unfold left, right. f_equal. apply functional_extensionality. intros p. now apply network_scale. }
  assert (same : forall k n f f' M G, (forall M, f M = f' M) -> gradient k n f M G -> gradient k n f' M G).
  { intros k n f f' M G E H i j Hi Hj. apply (is_derive_ext (fun e => f (shift M i j e))); [intros;
      apply E|now apply H]. }
  assert (scaled : forall k n f f' M G c, c <> 0 -> (forall M, f M = f' (mscal c M)) -> gradient k n f M G ->
    gradient k n f' (mscal c M) (mscal (/ c) G)).
  { intros k n f f' M G c Hc E H i j Hi Hj. apply (is_derive_ext (fun e => f (shift M i j (/ c * e)))).
    - intros e. rewrite E. f_equal. apply functional_extensionality. intros a. apply functional_extensionality.
        intros b.
      unfold mscal, shift. field. easy.
    - unfold mscal. apply (is_derive_comp (fun e => f (shift M i j e)) (fun e => / c * e)).
      + rewrite Rmult_0_r. now apply H.
      + auto_derive; [easy|ring]. }
  split; [split; [|split; [|split; [|split; [|split]]]]|split].
  - apply (same _ _ _ _ _ _ (fun M => LR M K V W1 W2 U) HQ).
  - apply (same _ _ _ _ _ _ (fun M => LR Q M V W1 W2 U) HK).
  - assert (K1 := scaled _ _ _ (fun M => right Q K M W1 W2 U') V GV (/ g) ltac:(apply Rinv_neq_0_compat;
      lra) (fun M => LR Q K M W1 W2 U) HV).
    rewrite Rinv_inv in K1. exact K1.
  - apply (same _ _ _ _ _ _ (fun M => LR Q K V M W2 U) H1).
  - apply (same _ _ _ _ _ _ (fun M => LR Q K V W1 M U) H2).
  - apply (scaled _ _ _ (fun M => right Q K V' W1 W2 M) U GU g ltac:(lra) (fun M => LR Q K V W1 W2 M) HU).
  - apply functional_extensionality. intros i. apply functional_extensionality. intros j. unfold step, V', mscal.
      field. lra.
  - apply functional_extensionality. intros i. apply functional_extensionality. intros j. unfold step, U', mscal.
      field. lra.
Qed.

(** ‖(W_Q, W_K)‖²_F for pairs of d × n matrices *)
Definition pair2 (d n : nat) (Q K : matrix) : R := frob2 d n Q + frob2 d n K.

(** Π_{s < t} f(s) *)
Fixpoint Prod (t : nat) (f : nat -> R) : R := match t with O => 1 | S k => Prod k f * f k end.

Lemma frob_columns d n M : frob2 d n M = Sum n (fun c => sq d (fun i => M i c)).
Proof. unfold frob2, sq. apply Sum_swap. Qed.

Lemma pair_step d n mu M Q K : 0 <= mu ->
  pair2 d n (step mu Q (matmul d M K)) (step mu K (matmul d (transpose M) Q)) <= (1 + mu * spectral d d M) ^ 2 * pair2
    d n Q K.
Proof.
  intros Hmu. unfold pair2. rewrite !frob_columns, <- !Sum_plus, <- Sum_scal. apply Sum_le. intros c _.
  set (q := fun i => Q i c). set (k := fun i => K i c). set (s := spectral d d M).
    assert (S0 : 0 <= s) by apply spectral_ge0.
  assert (one : forall x A y, spectral d d A <= s ->
    vnorm d (fun i => x i - mu * matvec d A y i) <= vnorm d x + mu * s * vnorm d y).
  { intros x A y HA. rewrite (norm_ext d _ (vplus x (vscal (- mu) (matvec d A y)))) by (intros; unfold vplus, vscal;
      ring).
    eapply Rle_trans; [apply norm_triangle|]. rewrite norm_scal, Rabs_Ropp, Rabs_right by lra. apply Rplus_le_compat_l.
    rewrite Rmult_assoc. apply Rmult_le_compat_l; [easy|]. eapply Rle_trans; [apply spectral_apply|].
    apply Rmult_le_compat_r; [apply norm_ge0|easy]. }
  assert (A := one q M k (Rle_refl _)). assert (B := one k (transpose M) q (spectral_transpose d d M)).
  change (sq d (fun i => q i - mu * matvec d M k i) + sq d (fun i => k i - mu * matvec d (transpose M) q i) <= (1 + mu
    * s) ^ 2 * (sq d q + sq d k)).
  rewrite <- !norm_sq. assert (Q0 := norm_ge0 d q). assert (K0 := norm_ge0 d k).
  assert (A2 := pow_incr _ _ 2 (conj (norm_ge0 _ _) A)). assert (B2 := pow_incr _ _ 2 (conj (norm_ge0 _ _) B)).
  assert (M0 : 0 <= mu * s) by now apply Rmult_le_pos.
  eapply Rle_trans; [apply Rplus_le_compat; [exact A2|exact B2]|]. set (a := vnorm d q) in *.
    set (b := vnorm d k) in *. set (r := mu * s) in *.
  assert (0 <= r * (a - b) ^ 2) by (apply Rmult_le_pos; [easy|apply pow2_ge_0]).
  replace ((1 + r) ^ 2 * (a ^ 2 + b ^ 2)) with ((a + r * b) ^ 2 + (b + r * a) ^ 2 + 2 * (r * (a - b) ^ 2)) by ring. lra.
Qed.

(** rt-corollary-s
    Covers: a part: both bounds for every run; on the page: the constant C.
    Reads: for μ ≥ 0 and any run W_Q ← W_Q − μ𝓜_sW_K, W_K ← W_K − μ𝓜_sᵀW_Q: ‖V_t‖_F ≤ ‖V_0‖_F Π_{s<t} (1 + μ‖𝓜_s‖), V = (W_Q; W_K). If Φ_s ≤ ϱˢΦ_0, 0 ≤ ϱ < 1, Φ_s ≥ 0 and ‖𝓜_s‖ ≤ C√(2Φ_s) for all s with a C ≥ 0, then ‖V_t‖_F ≤ ‖V_0‖_F exp(μC√(2Φ_0)/(1 − √ϱ)) for all t.
    Mistake: `(1 - rho)` for `(1 - sqrt rho)`
    Mistake: `(1 + mu * spectral d d (M s) / 2)` for `(1 + mu * spectral d d (M s))`
    Mistake: without `rho < 1 ->`
*)
Theorem rt_corollary_s : forall d dk mu (M Q K : nat -> matrix), 0 <= mu ->
  (forall t, Q (S t) = step mu (Q t) (matmul d (M t) (K t))) ->
  (forall t, K (S t) = step mu (K t) (matmul d (transpose (M t)) (Q t))) ->
  (forall t, sqrt (pair2 d dk (Q t) (K t)) <= sqrt (pair2 d dk (Q 0%nat) (K 0%nat)) * Prod t (fun s =>
    (1 + mu * spectral d d (M s)))) /\
  (forall (Phi : nat -> R) rho C, 0 <= rho -> rho < 1 -> 0 <= C -> (forall s, 0 <= Phi s <= rho ^ s * Phi 0%nat) ->
    (forall s, spectral d d (M s) <= C * sqrt (2 * Phi s)) ->
    forall t, sqrt (pair2 d dk (Q t) (K t)) <=
      sqrt (pair2 d dk (Q 0%nat) (K 0%nat)) * exp (mu * C * sqrt (2 * Phi 0%nat) / (1 - sqrt rho))).
Proof.
  intros d dk mu M Q K Hmu HQ HK.
  assert (P0 : forall t, 0 <= pair2 d dk (Q t) (K t)).
  { intros t. unfold pair2, frob2. apply Rplus_le_le_0_compat; apply Sum_ge0; intros; apply sq_ge0. }
  assert (first : forall t, sqrt (pair2 d dk (Q t) (K t)) <= sqrt (pair2 d dk (Q 0%nat) (K 0%nat)) * Prod t (fun s =>
    (1 + mu * spectral d d (M s)))).
  { induction t; [simpl; lra|]. cbn [Prod]. assert (S0 := spectral_ge0 d d (M t)).
      assert (R0 : 0 <= mu * spectral d d (M t)) by now apply Rmult_le_pos.
    rewrite <- Rmult_assoc. apply Rle_trans with (sqrt (pair2 d dk (Q t) (K t)) * (1 + mu * spectral d d (M t))).
    - rewrite <- (sqrt_pow2 (1 + mu * spectral d d (M t))), <- sqrt_mult by (try apply pow2_ge_0; try apply P0; lra).
      apply sqrt_le_1_alt. rewrite HQ, HK, Rmult_comm. now apply pair_step.
    - apply Rmult_le_compat_r; [lra|easy]. }
  split; [easy|]. intros Phi rho C Hr0 Hr HC HPhi HM t. eapply Rle_trans; [apply first|].
  apply Rmult_le_compat_l; [apply sqrt_pos|].
  assert (SR : 0 <= sqrt rho < 1) by (split; [apply sqrt_pos|rewrite <- sqrt_1; now apply sqrt_lt_1_alt]).
  set (B := mu * C * sqrt (2 * Phi 0%nat)). assert (HB : 0 <= B) by (apply Rmult_le_pos;
    [now apply Rmult_le_pos|apply sqrt_pos]).
  assert (T : forall t, Prod t (fun s => (1 + mu * spectral d d (M s))) <= exp (B * (1 - sqrt rho ^ t) / (1 - sqrt rho))
    /\ 0 <= Prod t (fun s => (1 + mu * spectral d d (M s)))).
  { induction t0 as [|s [IH1 IH2]]; [replace (B * (1 - sqrt rho ^ 0) / (1 - sqrt rho)) with 0 by (simpl; field; lra);
      rewrite exp_0; simpl; lra|]. cbn [Prod].
    assert (S0 := spectral_ge0 d d (M s)). assert (R0 : 0 <= mu * spectral d d (M s)) by now apply Rmult_le_pos.
    split; [|apply Rmult_le_pos; lra].
    replace (B * (1 - sqrt rho ^ S s) / (1 - sqrt rho))
      with (B * (1 - sqrt rho ^ s) / (1 - sqrt rho) + B * sqrt rho ^ s) by (simpl; field; lra).
    rewrite exp_plus. apply Rmult_le_compat; [easy|lra|easy|].
    apply Rle_trans with (1 + B * sqrt rho ^ s).
    - apply Rplus_le_compat_l. unfold B. rewrite !Rmult_assoc. apply Rmult_le_compat_l; [easy|].
      eapply Rle_trans; [apply HM|]. apply Rmult_le_compat_l; [easy|].
      assert (RS : sqrt rho ^ s = sqrt (rho ^ s)).
      { clear -Hr0. induction s; simpl; [now rewrite sqrt_1|]. rewrite sqrt_mult, IHs by (try apply pow_le; easy).
          easy. }
      rewrite RS, <- sqrt_mult by (try apply pow_le; try easy; destruct (HPhi 0%nat); lra). apply sqrt_le_1_alt.
      destruct (HPhi s) as [_ H]. lra.
    - destruct (Req_dec (B * sqrt rho ^ s) 0) as [->|N0]; [rewrite exp_0; lra|]. left. apply exp_ineq1.
      assert (0 <= B * sqrt rho ^ s) by (apply Rmult_le_pos; [easy|apply pow_le; lra]). lra. }
  eapply Rle_trans; [apply T|]. set (a := B * (1 - sqrt rho ^ t) / (1 - sqrt rho)).
  assert (a <= B / (1 - sqrt rho)).
  { unfold a, Rdiv. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
      assert (0 <= sqrt rho ^ t) by (apply pow_le; lra). nra. }
  destruct (Req_dec a (B / (1 - sqrt rho))) as [->|]; [lra|]. left. apply exp_increasing. lra.
Qed.

(** the even part φ̂(x) = ½(φ(x) + φ(−x)) *)
Definition even_part (phi : R -> R) (x : R) : R := (phi x + phi (- x)) / 2.

(** rt-lemma-p
    Covers: a part: random vectors w with finitely many values; on the page: every symmetric law with covariance β²I.
    Reads: for τ ≥ 0, w with values w_t of probability α_t, t < m, w ∼ −w (E f(w) = E f(−w) for every f) and E w_iw_j = β²δ_ij, and any matrix Z of n rows z_i: K_ij = E φ_τ(⟨z_i, w⟩)φ_τ(⟨z_j, w⟩) = (β²/4)⟨z_i, z_j⟩ + E φ̂(⟨z_i, w⟩)φ̂(⟨z_j, w⟩), and ⟨x, Kx⟩ ≥ (β²/4)⟨x, ZZᵀx⟩ for every x in ℝⁿ.
    Mistake: `beta ^ 2 / 3 * dot d (Z i) (Z j)` for `beta ^ 2 / 4 * dot d (Z i) (Z j)`
    Mistake: `beta ^ 2 / 3 * sq d` for `beta ^ 2 / 4 * sq d`
    Mistake: without `(forall f : vector -> R, E m alpha (fun t => f (w t)) = E m alpha (fun t => f (vscal (-1) (w t)))) ->`
*)
Theorem rt_lemma_p : forall d n m tau beta alpha (w : nat -> vector) (Z : matrix), 0 <= tau -> distribution m alpha ->
  (forall f : vector -> R, E m alpha (fun t => f (w t)) = E m alpha (fun t => f (vscal (-1) (w t)))) ->
  (forall i j, (i < d)%nat -> (j < d)%nat -> E m alpha (fun t => w t i * w t j) = beta ^ 2 * identity i j) ->
  let phi := smoothed tau in
  let K := fun i j => E m alpha (fun t => phi (dot d (Z i) (w t)) * phi (dot d (Z j) (w t))) in
  (forall i j, K i j = beta ^ 2 / 4 * dot d (Z i) (Z j)
    + E m alpha (fun t => even_part phi (dot d (Z i) (w t)) * even_part phi (dot d (Z j) (w t)))) /\
  (forall x, dot n x (matvec n K x) >= beta ^ 2 / 4 * sq d (matvec n (transpose Z) x)).
Proof.
  intros d n m tau beta alpha w Z Ht HA Hsym Hcov phi K.
  assert (odd : forall x, phi x = x / 2 + even_part phi x).
  { intros x. assert (H := smoothed_odd tau x Ht). unfold even_part, phi in *. lra. }
  assert (ev : forall x, even_part phi (- x) = even_part phi x) by (intros; unfold even_part; rewrite Ropp_involutive;
    lra).
  assert (neg : forall i t, dot d (Z i) (vscal (-1) (w t)) = - dot d (Z i) (w t)) by (intros;
    rewrite dot_sym, dot_scal_l, dot_sym; ring).
  assert (cross : forall i j, E m alpha (fun t => dot d (Z i) (w t) * even_part phi (dot d (Z j) (w t))) = 0).
  { intros i j. assert (H := Hsym (fun v => dot d (Z i) v * even_part phi (dot d (Z j) v))).
    cbv beta in H.
    rewrite (E_ext m alpha (fun t => dot d (Z i) (vscal (-1) (w t)) * even_part phi (dot d (Z j) (vscal (-1) (w t))))
      (fun t => (-1) * (dot d (Z i) (w t) * even_part phi (dot d (Z j) (w t))))) in H
      by (intros; rewrite !neg, ev; ring).
    rewrite E_scal in H. lra. }
  assert (lin : forall i j, E m alpha (fun t => dot d (Z i) (w t) * dot d (Z j) (w t)) = beta ^ 2 * dot d (Z i) (Z j)).
  { intros i j. unfold E, dot.
    rewrite (Sum_ext m _ (fun t => Sum d (fun a => Sum d (fun b => Z i a * Z j b * (alpha t * (w t a * w t b)))))).
    - rewrite Sum_swap, <- Sum_scal. apply Sum_ext. intros a Ha. rewrite Sum_swap.
      rewrite (Sum_ext d _ (fun b => identity a b * (Z i a * Z j b * beta ^ 2))).
      + rewrite identity_sum by easy. ring.
      + intros b Hb. rewrite Sum_scal. change (Sum m (fun t => alpha t * (w t a * w t b)))
          with (E m alpha (fun t => w t a * w t b)).
        rewrite Hcov by easy. ring.
    - intros t _. transitivity (Sum d (fun a => alpha t * Sum d (fun b => Z j b * w t b) * (Z i a * w t a)));
        [rewrite Sum_scal; ring|].
      apply Sum_ext. intros a _. transitivity (alpha t * (Z i a * w t a) * Sum d (fun b => Z j b * w t b)); [ring|].
      rewrite <- Sum_scal. apply Sum_ext. intros. ring. }
  assert (KE : forall i j, K i j = beta ^ 2 / 4 * dot d (Z i) (Z j)
    + E m alpha (fun t => even_part phi (dot d (Z i) (w t)) * even_part phi (dot d (Z j) (w t)))).
  { intros i j. unfold K.
    rewrite (E_ext m alpha _ (fun t => / 4 * (dot d (Z i) (w t) * dot d (Z j) (w t)) + (/ 2 * (dot d (Z i) (w t) *
      even_part phi (dot d (Z j) (w t)))
      + (/ 2 * (dot d (Z j) (w t) * even_part phi (dot d (Z i) (w t))) + even_part phi (dot d (Z i) (w t)) * even_part
          phi (dot d (Z j) (w t)))))).
    - rewrite E_plus, E_plus, E_plus, !E_scal, !cross, lin. field.
    - intros t _. rewrite (odd (dot d (Z i) (w t))), (odd (dot d (Z j) (w t))). field. }
  split; [easy|]. intros x.
  set (e := fun t => Sum n (fun i => x i * even_part phi (dot d (Z i) (w t)))).
  assert (Q : dot n x (matvec n K x) = beta ^ 2 / 4 * sq d (matvec n (transpose Z) x) + E m alpha (fun t => e t ^ 2)).
  { unfold dot, matvec. rewrite (Sum_ext n _ (fun i => beta ^ 2 / 4 * (x i * dot d (Z i) (matvec n (transpose Z) x))
      + E m alpha (fun t => x i * even_part phi (dot d (Z i) (w t)) * e t))).
    - rewrite Sum_plus, Sum_scal. f_equal.
      + f_equal. rewrite sq_dot, (adjoint d n (transpose Z) x). apply Sum_ext. intros i _. rewrite Rmult_comm. easy.
      + unfold E. rewrite Sum_swap. apply Sum_ext. intros t _.
        rewrite (Sum_ext n _ (fun i => alpha t * e t * (x i * even_part phi (dot d (Z i) (w t))))) by (intros; ring).
        rewrite Sum_scal. fold (e t). ring.
    - intros i _. rewrite (Sum_ext n _ (fun j => beta ^ 2 / 4 * (dot d (Z i) (Z j) * x j)
        + E m alpha (fun t => even_part phi (dot d (Z i) (w t)) * (x j * even_part phi (dot d (Z j) (w t)))))).
      + rewrite Sum_plus, Sum_scal, Rmult_plus_distr_l. f_equal.
        * replace (dot d (Z i) (matvec n (transpose Z) x)) with (Sum n (fun j => dot d (Z i) (Z j) * x j)); [ring|].
          rewrite adjoint. unfold dot. apply Sum_ext. intros j _. f_equal. unfold matvec, transpose. apply Sum_ext.
            intros. ring.
        * unfold E. rewrite Sum_swap, <- Sum_scal. apply Sum_ext. intros t _. unfold e.
          rewrite <- Sum_scal. rewrite <- Sum_scal. rewrite <- Sum_scal. apply Sum_ext. intros. ring.
      + intros j _. rewrite KE, Rmult_plus_distr_r. f_equal; [ring|]. rewrite Rmult_comm, <- E_scal. apply E_ext.
          intros. ring. }
  rewrite Q. assert (0 <= E m alpha (fun t => e t ^ 2)) by (apply E_ge0; [easy|]; intros; apply pow2_ge_0). lra.
Qed.

(** G is the gradient of h at B: along every path of k × n matrices through B, the derivative of h is ⟨G, B′⟩ *)
Definition gradient_along (k n : nat) (h : matrix -> R) (B G : matrix) : Prop := forall (path : R ->
  matrix) (D : matrix),
  path 0 = B -> (forall i j, is_derive (fun t => path t i j) 0 (D i j)) ->
    is_derive (fun t => h (path t)) 0 (inner k n G D).

(** ⟨M, DKᵀ⟩ = ⟨MK, D⟩ *)
Lemma inner_query d n M D K : inner d d M (matmul n D (transpose K)) = inner d n (matmul d M K) D.
Proof.
  unfold inner, matmul, transpose. apply Sum_ext. intros i _.
  rewrite (Sum_ext d _ (fun j => Sum n (fun c => M i j * K j c * D i c))) by (intros; rewrite <- Sum_scal;
    apply Sum_ext; intros; ring).
  rewrite Sum_swap. apply Sum_ext. intros c _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros. ring.
Qed.

(** ⟨M, QDᵀ⟩ = ⟨MᵀQ, D⟩ *)
Lemma inner_key d n M D Q : inner d d M (matmul n Q (transpose D)) = inner d n (matmul d (transpose M) Q) D.
Proof.
  unfold inner, matmul, transpose. rewrite Sum_swap. apply Sum_ext. intros j _.
  rewrite (Sum_ext d _ (fun i => Sum n (fun c => M i j * Q i c * D j c))) by (intros; rewrite <- Sum_scal;
    apply Sum_ext; intros; ring).
  rewrite Sum_swap. apply Sum_ext. intros c _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros. ring.
Qed.

Lemma matmul_derive n (A B : R -> matrix) A' B' t i j :
  (forall i j, is_derive (fun t => A t i j) t (A' i j)) -> (forall i j, is_derive (fun t => B t i j) t (B' i j)) ->
  is_derive (fun t => matmul n (A t) (B t) i j) t (matmul n A' (B t) i j + matmul n (A t) B' i j).
Proof.
  intros HA HB. unfold matmul. rewrite <- Sum_plus. apply Sum_derive. intros l _.
  apply (is_derive_mult (fun t => A t i l) (fun t => B t l j)); [apply HA|apply HB|intros; apply Rmult_comm].
Qed.

Lemma uniform_weights N d dk gamma X i j : weights N d dk gamma (fun _ _ => 0) (fun _ _ => 0) X i j = / INR N.
Proof.
  assert (Z : forall t, logits d dk gamma (fun _ _ => 0) (fun _ _ => 0) X i t = 0).
  { intros t. unfold logits, matmul at 1 2. rewrite (Sum_ext d _ (fun _ => 0)), Sum_zero; [ring|]. intros a _.
    rewrite (Sum_ext dk _ (fun _ => 0)), Sum_zero; [ring|]. intros c _. unfold transpose. ring. }
  unfold weights, softmax. rewrite (Sum_ext N _ (fun _ => 1)) by (intros; now rewrite Z, exp_0).
  rewrite Z, exp_0, Sum_const. unfold Rdiv. now rewrite Rmult_1_l, Rmult_1_r.
Qed.

(** the readout acts on single rows *)
Lemma readout_row d d1 gf phi Z Z' W1 W2 U i i' k : (forall j, Z i j = Z' i' j) ->
  readout d d1 gf phi Z W1 W2 U i k = readout d d1 gf phi Z' W1 W2 U i' k.
Proof.
  intros H. unfold readout, matmul. apply Sum_ext. intros j _. rewrite H. do 2 f_equal. apply Sum_ext. intros l _.
  f_equal. unfold entrywise. f_equal. apply Sum_ext. intros a _. now rewrite H.
Qed.

Lemma constant_from_derivative (f : R -> R) : (forall t, is_derive f t 0) -> forall t, f t = f 0.
Proof.
  intros H t. destruct (MVT_gen f 0 t (fun _ => 0)) as [c [_ K]]; [intros; apply H| |lra].
  intros s _. apply continuity_pt_filterlim. apply (ex_derive_continuous f). eexists. apply H.
Qed.

(** rt-proposition-u
    Covers: a part: the gradients, the floor, the conserved difference; on the page: the inequality for ∇_{W_2} above the floor.
    Reads: (1) if 𝓜 is the gradient of h at W_QW_Kᵀ, then 𝓜W_K and 𝓜ᵀW_Q are the gradients of h(W_QW_Kᵀ) in W_Q and W_K; both are 0 if W_Q = W_K = 0. (2) For W_Q = W_K = 0, g = 0, N ≥ 1 and any φ, g_f, the outputs of all tokens of a sequence are f(x̄_p) = (g_f w + φ(wW_1)W_2)W_U with w = W_Vᵀx̄_p, and Φ = ½Σ_p‖ΠY_p‖²_F + (N/2)Σ_p‖f(x̄_p) − ȳ_p‖². (3) W_Qᵀ(𝓜W_K) = (𝓜ᵀW_Q)ᵀW_K; along W_Q′ = −𝓜W_K, W_K′ = −𝓜ᵀW_Q with any 𝓜(t), W_QᵀW_Q − W_KᵀW_K is constant; if W_Q(0) = 0, then ‖W_K(t)x‖ ≥ ‖W_K(0)x‖ for every x and t.
    Mistake: `INR N / 3 *` for `INR N / 2 *`
    Mistake: `/ 2 * Sum P (fun p => frob2 N m (Y p))` for `/ 2 * Sum P (fun p => frob2 N m (matmul N (centring N) (Y p)))`
    Mistake: `matmul d (transpose (M t)) (Q t) i c` for `- matmul d (transpose (M t)) (Q t) i c`
*)
Theorem rt_proposition_u :
  (forall d dk h M Q K, gradient_along d d h (matmul dk Q (transpose K)) M ->
    gradient_along d dk (fun Q => h (matmul dk Q (transpose K))) Q (matmul d M K) /\
    gradient_along d dk (fun K => h (matmul dk Q (transpose K))) K (matmul d (transpose M) Q) /\
    ((forall i c, Q i c = 0 /\ K i c = 0) -> forall i c, matmul d M K i c = 0 /\ matmul d (transpose M) Q i c = 0)) /\
  (forall P N d dk d1 m gamma gf phi V W1 W2 U X Y, (0 < N)%nat ->
    let F := fun p => network N d dk d1 gamma 0 gf phi (fun _ _ => 0) (fun _ _ => 0) V W1 W2 U (X p) in
    let f := fun p => readout d d1 gf phi (fun _ => matvec d (transpose V) (mean N (X p))) W1 W2 U 0%nat in
    (forall p i k, F p i k = f p k) /\
    loss P N m F Y = / 2 * Sum P (fun p => frob2 N m (matmul N (centring N) (Y p)))
      + INR N / 2 * Sum P (fun p => sq m (vminus (f p) (mean N (Y p))))) /\
  (forall d dk (M Q K : R -> matrix),
    (forall t i j, matmul d (transpose (Q t)) (matmul d (M t) (K t)) i j = matmul d (transpose (matmul d (transpose (M
      t)) (Q t))) (K t) i j) /\
    ((forall t i c, is_derive (fun t => Q t i c) t (- matmul d (M t) (K t) i c)) ->
     (forall t i c, is_derive (fun t => K t i c) t (- matmul d (transpose (M t)) (Q t) i c)) ->
     (forall t a b, matmul d (transpose (Q t)) (Q t) a b - matmul d (transpose (K t)) (K t) a b
       = matmul d (transpose (Q 0)) (Q 0) a b - matmul d (transpose (K 0)) (K 0) a b) /\
     ((forall i c, Q 0 i c = 0) -> forall t x, vnorm d (matvec dk (K 0) x) <= vnorm d (matvec dk (K t) x)))).
Proof.
  split; [|split].
  - intros d dk h M Q K H. split; [|split].
    + intros path D H0 HD. rewrite <- inner_query.
        apply (H (fun t => matmul dk (path t) (transpose K))); [now rewrite H0|]. intros i j.
      assert (R := matmul_derive dk path (fun _ => transpose K) D (fun _ _ => 0) 0 i j HD ltac:(intros;
        now auto_derive)).
      replace (matmul dk D (transpose K) i j) with (matmul dk D (transpose K) i j + matmul dk (path 0) (fun _ _ => 0) i
        j); [exact R|].
      unfold matmul at 2. rewrite (Sum_ext dk _ (fun _ => 0)), Sum_zero by (intros; ring). ring.
    + intros path D H0 HD. rewrite <- inner_key. apply (H (fun t => matmul dk Q (transpose (path t))));
        [now rewrite H0|]. intros i j.
      assert (R := matmul_derive dk (fun _ => Q) (fun t => transpose (path t)) (fun _ _ => 0) (transpose D) 0 i j
        ltac:(intros; now auto_derive)
        ltac:(intros; apply HD)).
      replace (matmul dk Q (transpose D) i j) with (matmul dk (fun _ _ => 0) (transpose (path 0)) i j + matmul dk Q
        (transpose D) i j); [exact R|].
      unfold matmul at 1. rewrite (Sum_ext dk _ (fun _ => 0)), Sum_zero by (intros; ring). ring.
    + intros HZ i c. unfold matmul. split; rewrite (Sum_ext d _ (fun _ => 0)), Sum_zero; try easy; intros j _;
        destruct (HZ j c) as [A B]; rewrite ?A, ?B; ring.
  - intros P N d dk d1 m gamma gf phi V W1 W2 U X Y HN F f. assert (IN := INR_pos N HN).
    assert (EF : forall p i k, F p i k = f p k).
    { intros p i k. unfold F, f, network.
      assert (EZ : forall k, output N d 0 (X p) (weights N d dk gamma (fun _ _ => 0) (fun _ _ => 0) (X p)) V i k =
        matvec d (transpose V) (mean N (X p)) k).
      { intros l. transitivity (output N d 0 (X p) (fun _ _ => / INR N) V i l); [|rewrite uniform_output; ring].
        unfold output. f_equal. unfold matmul. apply Sum_ext. intros j _. f_equal. apply Sum_ext. intros a _.
          now rewrite uniform_weights. }
      now apply readout_row. }
    split; [easy|]. unfold loss. rewrite <- !Sum_scal, <- Sum_plus. apply Sum_ext. intros p _.
    unfold frob2, sq. rewrite !(Sum_swap N m).
    replace (INR N / 2 * Sum m (fun k => vminus (f p) (mean N (Y p)) k ^ 2))
      with (/ 2 * Sum m (fun k => INR N * vminus (f p) (mean N (Y p)) k ^ 2))
      by (rewrite Sum_scal; field).
    rewrite <- Rmult_plus_distr_l, <- Sum_plus. f_equal. apply Sum_ext. intros k _.
    set (y := fun i => Y p i k). set (mu := mean N (Y p) k). set (c := f p k).
    assert (Emu : Sum N y = INR N * mu) by (unfold mu, mean, y; field; lra).
    rewrite (Sum_ext N _ (fun i => (c ^ 2 - 2 * c * y i) + y i ^ 2)) by (intros; rewrite EF; unfold c, y; ring).
    rewrite (Sum_ext N (fun i => matmul N _ _ i k ^ 2) (fun i => (mu ^ 2 - 2 * mu * y i) + y i ^ 2)).
    + rewrite !Sum_plus, !Sum_minus, !Sum_const, !Sum_scal, Emu. unfold vminus. fold c mu. ring.
    + intros i Hi. replace (matmul N (centring N) (Y p) i k) with (y i - mu) by (rewrite centring_matmul by easy;
        easy). ring.
  - intros d dk M Q K.
    assert (assoc : forall t i j, matmul d (transpose (Q t)) (matmul d (M t) (K t)) i j = matmul d (transpose (matmul d
      (transpose (M t)) (Q t))) (K t) i j).
    { intros t i j. unfold matmul, transpose.
      rewrite (Sum_ext d _ (fun a => Sum d (fun b => Q t a i * M t a b * K t b j))) by (intros; rewrite <- Sum_scal;
        apply Sum_ext; intros; ring).
      rewrite Sum_swap. apply Sum_ext. intros b _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros. ring. }
    split; [easy|]. intros HQ HK.
    assert (cons : forall t a b, matmul d (transpose (Q t)) (Q t) a b - matmul d (transpose (K t)) (K t) a b
       = matmul d (transpose (Q 0)) (Q 0) a b - matmul d (transpose (K 0)) (K 0) a b).
    { intros t a b. apply (constant_from_derivative (fun t => matmul d (transpose (Q t)) (Q t) a b - matmul d
        (transpose (K t)) (K t) a b)).
      clear t. intros t.
      assert (A := matmul_derive d (fun t => transpose (Q t)) Q (fun c i => - matmul d (M t) (K t) i c) (fun i c => -
        matmul d (M t) (K t) i c) t a b
        ltac:(intros; apply HQ) ltac:(intros; apply HQ)).
      assert (B := matmul_derive d (fun t => transpose (K t)) K (fun c i => - matmul d (transpose (M t)) (Q t) i c)
        (fun i c => - matmul d (transpose (M t)) (Q t) i c) t a b ltac:(intros; apply HK) ltac:(intros; apply HK)).
      assert (AB := is_derive_minus _ _ t _ _ A B). cbv beta in AB. unfold minus, plus, opp in AB. simpl in AB.
      match type of AB with is_derive _ _ ?v => replace 0 with v; [exact AB|] end.
      assert (left : forall A B, matmul d (fun c i => - A i c) B a b = - matmul d (transpose B) A b a).
      { intros A' B'. unfold matmul, transpose. replace (- Sum d (fun j => B' j b * A' j a))
          with (-1 * Sum d (fun j => B' j b * A' j a)) by ring.
        rewrite <- Sum_scal. apply Sum_ext. intros. ring. }
      assert (right : forall A B, matmul d (transpose B) (fun i c => - A i c) a b = - matmul d (transpose B) A a b).
      { intros A' B'. unfold matmul, transpose. replace (- Sum d (fun j => B' j a * A' j b))
          with (-1 * Sum d (fun j => B' j a * A' j b)) by ring.
        rewrite <- Sum_scal. apply Sum_ext. intros. ring. }
      assert (turn : forall A B i j, matmul d (transpose A) B i j = matmul d (transpose B) A j i).
      { intros A' B' i j. unfold matmul, transpose. apply Sum_ext. intros. ring. }
      rewrite !left, !right, (turn (K t)), (turn (K t)), <- !assoc. ring. }
    split; [easy|]. intros H0 t x.
    assert (quad : forall A, sq d (matvec dk A x) = Sum dk (fun a => Sum dk (fun b => x a * x b * matmul d (transpose
      A) A a b))).
    { intros A. unfold sq, matvec, matmul, transpose.
      rewrite (Sum_ext d _ (fun i => Sum dk (fun a => Sum dk (fun b => x a * x b * (A i a * A i b))))).
      - rewrite Sum_swap. apply Sum_ext. intros a _. rewrite Sum_swap. apply Sum_ext. intros b _. now rewrite Sum_scal.
      - intros i _. simpl. rewrite Rmult_1_r, <- Sum_scal. apply Sum_ext. intros a _. rewrite Rmult_comm, <- Sum_scal.
        apply Sum_ext. intros. ring. }
    unfold vnorm. apply sqrt_le_1_alt. assert (Q1 := sq_ge0 d (matvec dk (Q t) x)).
    assert (E0 : sq d (matvec dk (K t) x) = sq d (matvec dk (K 0) x) + sq d (matvec dk (Q t) x)); [|lra].
    rewrite !quad, <- Sum_plus. apply Sum_ext. intros a _. rewrite <- Sum_plus. apply Sum_ext. intros b _.
    assert (C := cons t a b). assert (Z : matmul d (transpose (Q 0)) (Q 0) a b = 0).
    { unfold matmul, transpose. rewrite (Sum_ext d _ (fun _ => 0)), Sum_zero; [easy|]. intros j _. rewrite !H0. ring. }
    rewrite Z in C. rewrite <- Rmult_plus_distr_l. f_equal. lra.
Qed.

(** ψ_N(ω) = log(1 + (e^ω − 1)/N)/ω *)
Definition collapse_factor (N : nat) (omega : R) : R := ln (1 + (exp omega - 1) / INR N) / omega.

(** softmax ignores a shift of the logits *)
Lemma softmax_shift N x c i : (0 < N)%nat -> softmax N (fun t => x t - c) i = softmax N x i.
Proof.
  intros HN. unfold softmax. rewrite (Sum_ext N _ (fun s => exp (- c) * exp (x s))) by (intros; unfold Rminus;
    rewrite exp_plus; ring).
  unfold Rminus. rewrite Sum_scal, exp_plus. assert (H := exp_pos (- c)). assert (P := partition_pos N x HN). field.
    lra.
Qed.

(** the largest weight is at most e^(tω)/(N − 1 + e^(tω)) *)
Lemma largest_weight N x omega t : (0 < N)%nat -> 0 <= t -> (forall j k, (j < N)%nat -> (k < N)%nat ->
  x j - x k <= omega) ->
  largest N (softmax N (fun j => t * x j)) <= exp (t * omega) / (INR N + (exp (t * omega) - 1)).
Proof.
  intros HN Ht H. assert (P1 : 1 <= INR N) by (apply (le_INR 1); lia). assert (E0 := exp_pos (t * omega)).
  apply largest_le; [apply Rlt_le, Rdiv_lt_0_compat; lra|]. intros j Hj. unfold softmax. set (Z := Sum N _).
  assert (HZ : 0 < Z) by (apply (partition_pos N (fun j => t * x j) HN)). set (a := exp (t * x j)).
    set (c := a / exp (t * omega)).
  assert (HA : 0 < a) by apply exp_pos.
  assert (K : a - c + INR N * c <= Z).
  { replace (a - c + INR N * c) with (Sum N (fun k => identity j k * (a - c) + c))
      by (rewrite Sum_plus, identity_sum, Sum_const by easy; ring).
    apply Sum_le. intros k Hk. unfold identity. destruct (Nat.eqb_spec j k) as [<-|]; [unfold a; lra|].
    rewrite Rmult_0_l, Rplus_0_l. unfold c, a, Rdiv. rewrite <- exp_Ropp, <- exp_plus.
    assert (B := H j k Hj Hk). destruct (Req_dec (t * x j + - (t * omega)) (t * x k)) as [->|]; [lra|]. left.
      apply exp_increasing. nra. }
  apply Rle_div_l; [easy|]. replace (exp (t * omega) / (INR N + (exp (t * omega) - 1)) * Z)
    with (Z * exp (t * omega) / (INR N + (exp (t * omega) - 1)))
    by (field; lra). apply Rle_div_r; [lra|].
  replace (a * (INR N + (exp (t * omega) - 1))) with ((a - c + INR N * c) * exp (t * omega)) by (unfold c; field; lra).
  apply Rmult_le_compat_r; lra.
Qed.

Lemma collapse_row N x omega : (0 < N)%nat -> 0 < omega -> (forall j k, (j < N)%nat -> (k < N)%nat ->
  x j - x k <= omega) ->
  vnorm N (fun j => softmax N x j - / INR N) <= collapse_factor N omega * vnorm N x.
Proof.
  intros HN Ho H. assert (P1 : 1 <= INR N) by (apply (le_INR 1); lia).
  set (u := fun j => softmax N x j - / INR N). set (a := vnorm N u). set (b := vnorm N x).
  assert (A0 : 0 <= a) by apply norm_ge0. assert (B0 : 0 <= b) by apply norm_ge0.
  set (s := fun t => softmax N (fun j => t * x j)).
  set (f' := fun t => dot N u (matvec N (jacobian (s t)) x)).
  set (h' := fun t => exp (t * omega) / (INR N + (exp (t * omega) - 1))).
  set (F := fun t => dot N u (s t) - a * b * (ln (1 + (exp (t * omega) - 1) / INR N) / omega)).
  assert (pos : forall t, 0 < 1 + (exp (t * omega) - 1) / INR N).
  { intros t. assert (E0 := exp_pos (t * omega)). replace (1 + (exp (t * omega) - 1) / INR N)
      with ((INR N - 1 + exp (t * omega)) / INR N) by (field; lra).
    apply Rdiv_lt_0_compat; lra. }
  assert (D : forall t, is_derive F t (f' t - a * b * h' t)).
  { intros t. apply (is_derive_minus (fun t => dot N u (s t)) (fun t => a * b * (ln (1 + (exp (t * omega) - 1) / INR N)
      / omega))).
    - apply Sum_derive. intros i Hi. apply (is_derive_scal (fun t => s t i) t (u i)).
      apply softmax_derive; [easy|easy|]. intros j _. auto_derive; [easy|ring].
    - apply (is_derive_scal (fun t => ln (1 + (exp (t * omega) - 1) / INR N) / omega)).
      assert (Q := pos t). assert (E0 := exp_pos (t * omega)). auto_derive; [exact Q|]. unfold h'. field. lra. }
  destruct (MVT_gen F 0 1 (fun t => f' t - a * b * h' t)) as [c [Hc E1]].
  - intros. apply D.
  - intros t _. apply continuity_pt_filterlim. apply (ex_derive_continuous F). eexists. apply D.
  - rewrite Rmin_left, Rmax_right in Hc by lra.
    assert (HS : distribution N (s c)) by now apply softmax_distribution.
    assert (up : f' c <= a * b * h' c).
    { assert (K := jacobian_cauchy N (s c) u x HS). fold (f' c) in K.
      assert (V1 := Var_largest N (s c) u HS). assert (V2 := Var_largest N (s c) x HS). rewrite <- norm_sq in V1, V2.
        fold a in V1. fold b in V2.
      assert (W := largest_weight N x omega c HN ltac:(lra) H). fold (s c) in W. fold (h' c) in W.
        assert (L0 := largest_ge0 N (s c)).
      assert (G1 := Var_ge0 N (s c) u HS). assert (G2 := Var_ge0 N (s c) x HS).
      assert (ab : 0 <= a * b) by now apply Rmult_le_pos.
      eapply Rle_trans; [apply Rle_abs|]. apply Rsqr_incr_0_var; [|apply Rmult_le_pos; lra].
        rewrite <- Rsqr_abs, !Rsqr_pow2.
      eapply Rle_trans; [exact K|]. apply Rle_trans with ((largest N (s c) * a ^ 2) * (largest N (s c) * b ^ 2));
        [now apply Rmult_le_compat|].
      replace ((a * b * h' c) ^ 2) with ((a * b) ^ 2 * h' c ^ 2) by ring.
      replace (largest N (s c) * a ^ 2 * (largest N (s c) * b ^ 2)) with ((a * b) ^ 2 * largest N (s c) ^ 2) by ring.
      apply Rmult_le_compat_l; [apply pow2_ge_0|]. apply pow_incr. easy. }
    assert (F10 : F 1 - F 0 = a ^ 2 - a * b * collapse_factor N omega).
    { unfold F. replace (0 * omega) with 0 by ring. rewrite exp_0.
        replace (1 + (1 - 1) / INR N) with 1 by (field; lra). rewrite ln_1, Rmult_1_l.
      assert (d1 : dot N u (s 1) - dot N u (s 0) = a ^ 2).
      { unfold a. rewrite norm_sq. unfold dot. rewrite <- Sum_minus. apply Sum_ext. intros j _. unfold s.
        rewrite (softmax_ext N (fun j => 1 * x j) x) by (intros; ring).
        replace (softmax N (fun j => 0 * x j) j) with (/ INR N); [unfold u; ring|].
        unfold softmax. rewrite (Sum_ext N _ (fun _ => 1)) by (intros; rewrite Rmult_0_l; apply exp_0).
          rewrite Rmult_0_l, exp_0, Sum_const.
        field. lra. }
      unfold collapse_factor. rewrite <- d1. unfold Rdiv. ring. }
    rewrite F10 in E1. rewrite Rminus_0_r, Rmult_1_r in E1. destruct (Req_dec a 0) as [Ea|Na].
    + rewrite Ea. apply Rmult_le_pos; [|easy]. unfold collapse_factor. apply Rdiv_le_0_compat; [|easy]. rewrite <- ln_1.
      destruct (Req_dec omega 0) as [|_]; [lra|]. left. apply ln_increasing; [lra|].
        assert (K := exp_ineq1 omega ltac:(lra)).
      assert (0 < (exp omega - 1) / INR N) by (apply Rdiv_lt_0_compat; lra). lra.
    + apply (Rmult_le_reg_l a); [lra|]. simpl in E1. lra.
Qed.

(** rt-proposition-q
    Covers: a part: the inequality of part 1; on the page: equality in the limit, the remainder and the second singular value.
    Reads: for N ≥ 1, S = softmax(L) by rows and every ω > 0 with L_ij − L_ik ≤ ω for all i, j, k: ‖S − (1/N)11ᵀ‖_F ≤ ψ_N(ω)‖LΠ‖_F with ψ_N(ω) = log(1 + (e^ω − 1)/N)/ω, and ‖S − (1/N)11ᵀ‖_F ≤ ½‖LΠ‖_F.
    Mistake: `collapse_factor N omega / 2 *` for `collapse_factor N omega *`
    Mistake: `/ 3 * sqrt` for `/ 2 * sqrt`
    Mistake: without `(forall i j k, (i < N)%nat -> (j < N)%nat -> (k < N)%nat -> L i j - L i k <= omega) ->`
*)
Theorem rt_proposition_q : forall N L omega, (0 < N)%nat -> 0 < omega ->
  (forall i j k, (i < N)%nat -> (j < N)%nat -> (k < N)%nat -> L i j - L i k <= omega) ->
  let far := sqrt (frob2 N N (fun i j => softmax_rows N L i j - / INR N)) in
  let centred := frob2 N N (fun i j => L i j - / INR N * Sum N (L i)) in
  far <= collapse_factor N omega * sqrt centred /\ far <= / 2 * sqrt centred.
Proof.
  intros N L omega HN Ho H far centred. assert (P1 : 1 <= INR N) by (apply (le_INR 1); lia).
  set (x := fun i j => L i j - / INR N * Sum N (L i)).
  assert (E1 : forall i j, softmax_rows N L i j = softmax N (x i) j) by (intros; symmetry; now apply softmax_shift).
  assert (C0 : 0 <= centred) by (apply Sum_ge0; intros; apply sq_ge0).
  assert (rows : forall c, 0 <= c -> (forall i, (i < N)%nat ->
    vnorm N (fun j => softmax N (x i) j - / INR N) <= c * vnorm N (x i)) -> far <= c * sqrt centred).
  { intros c Hc Hrow. unfold far. rewrite <- (sqrt_pow2 c), <- sqrt_mult by (try apply pow2_ge_0; easy).
      apply sqrt_le_1_alt.
    unfold centred, frob2. rewrite <- Sum_scal. apply Sum_le. intros i Hi.
    change (sq N (fun j => softmax_rows N L i j - / INR N) <= c ^ 2 * sq N (x i)).
    rewrite (sq_ext N _ (fun j => softmax N (x i) j - / INR N)) by (intros; now rewrite E1).
    rewrite <- !norm_sq, <- Rpow_mult_distr. apply pow_incr. split; [apply norm_ge0|now apply Hrow]. }
  split; apply rows.
  - unfold collapse_factor. apply Rdiv_le_0_compat; [|easy]. rewrite <- ln_1. left. apply ln_increasing; [lra|].
    assert (K := exp_ineq1 omega ltac:(lra)). assert (0 < (exp omega - 1) / INR N) by (apply Rdiv_lt_0_compat; lra).
      lra.
  - intros i Hi. apply collapse_row; [easy|easy|]. intros j k Hj Hk. unfold x. assert (K := H i j k Hi Hj Hk). lra.
  - lra.
  - intros i Hi. assert (K := softmax_half N (x i) (fun _ => 0) HN).
    rewrite (sq_ext N (vminus (x i) (fun _ => 0)) (x i)) in K by (intros; unfold vminus; ring).
    rewrite (sq_ext N _ (fun j => softmax N (x i) j - / INR N)) in K.
    + rewrite <- !norm_sq in K. apply Rsqr_incr_0_var; [|assert (Q := norm_ge0 N (x i)); lra].
        rewrite !Rsqr_pow2, Rpow_mult_distr. lra.
    + intros j _. unfold vminus. f_equal. unfold softmax. rewrite exp_0, Sum_const. field. lra.
Qed.

(** rt-proposition-s
    Covers: a part: part 2 but for the number N; on the page: that full rank is generic, and that there are at most N exceptional coefficients.
    Reads: for N tokens in ℝᵈ and X⁺ with XX⁺ = I, any S, W_V, g and Z = gX + SXW_V: if the rows of Z are linearly dependent, then −g is an eigenvalue of SXW_VX⁺ (vᵀSXW_VX⁺ = −gvᵀ for some v ≠ 0) and |g| ≤ ‖SXW_VX⁺‖; for N = d and X⁺X = I each real eigenvalue −g makes them dependent.
    Mistake: `= g * v j` for `= - g * v j`
    Mistake: `Rabs g <= spectral N N W / 2` for `Rabs g <= spectral N N W`
*)
Theorem rt_proposition_s : forall N d g X A V Xp, (forall i j, (i < N)%nat -> (j < N)%nat ->
  matmul d X Xp i j = identity i j) ->
  let Z := output N d g X A V in let W := matmul d (matmul d (matmul N A X) V) Xp in
  let eigenvalue := exists v : vector, (exists i, (i < N)%nat /\ v i <> 0) /\
    forall j, (j < N)%nat -> Sum N (fun i => v i * W i j) = - g * v j in
  (dependent N d Z -> eigenvalue /\ Rabs g <= spectral N N W) /\
  (N = d -> (forall k l, (k < d)%nat -> (l < d)%nat -> matmul N Xp X k l = identity k l) -> eigenvalue ->
    dependent N d Z).
Proof.
  intros N d g X A V Xp HX Z W eigenvalue. split.
  - intros [v [[i [Hi Ni]] H]].
    assert (Ev : forall j, (j < N)%nat -> Sum N (fun i => v i * W i j) = - g * v j).
    { intros j Hj. assert (K : Sum d (fun k => Sum N (fun i => v i * Z i k) * Xp k j) = 0).
      { rewrite (Sum_ext d _ (fun _ => 0)), Sum_zero; [easy|]. intros k Hk. rewrite H by easy. ring. }
      assert (E1 : Sum d (fun k => Sum N (fun i => v i * Z i k) * Xp k j) = Sum N (fun i => v i * (g * matmul d X Xp i
        j + W i j))).
      { rewrite (Sum_ext d _ (fun k => Sum N (fun i => v i * (Z i k * Xp k j)))).
        - rewrite Sum_swap. apply Sum_ext. intros l _. rewrite Sum_scal. f_equal. unfold W, matmul at 1 2.
          rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext. intros k _. unfold Z, output. ring.
        - intros k _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros. ring. }
      rewrite E1, (Sum_ext N _ (fun i => g * (v i * identity i j) + v i * W i j)), Sum_plus, Sum_scal,
        identity_sum_r in K by
        (first [easy | intros; rewrite HX by easy; ring]). lra. }
    split; [exists v; split; [now exists i|easy]|].
    assert (U := spectral_apply N N (transpose W) v).
    rewrite (norm_ext N _ (vscal (- g) v)), norm_scal, Rabs_Ropp in U.
    + assert (Pv : 0 < vnorm N v).
      { destruct (Rle_lt_or_eq_dec _ _ (norm_ge0 N v)) as [L|E0]; [easy|]. exfalso. apply Ni.
        apply (sq_zero N v); [now apply norm_zero|easy]. }
      apply Rle_trans with (spectral N N (transpose W)); [nra|apply spectral_transpose].
    + intros j Hj. unfold vscal. rewrite <- Ev by easy. apply Sum_ext. intros. unfold transpose. ring.
  - intros ND HXX [v [Hv H]]. exists v. split; [easy|]. intros k Hk.
    assert (WX : forall i, Sum N (fun j => W i j * X j k) = matmul d (matmul N A X) V i k).
    { intros i. unfold W. set (M := matmul d (matmul N A X) V). unfold matmul.
      rewrite (Sum_ext N _ (fun j => Sum d (fun l => M i l * (Xp l j * X j k)))).
      - rewrite Sum_swap, (Sum_ext d _ (fun l => M i l * identity l k)); [now apply identity_sum_r|].
        intros l Hl. rewrite <- HXX by easy. now rewrite Sum_scal.
      - intros j _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros. ring. }
    rewrite (Sum_ext N _ (fun i => g * (v i * X i k) + Sum N (fun j => v i * W i j * X j k))).
    + rewrite Sum_plus, Sum_swap, Sum_scal.
      rewrite (Sum_ext N (fun j => Sum N (fun i => v i * W i j * X j k)) (fun j => - g * (v j * X j k)));
        [rewrite Sum_scal; ring|].
      intros j Hj. rewrite (Sum_ext N _ (fun i => X j k * (v i * W i j))), Sum_scal, H by (first [easy | intros;
        ring]). ring.
    + intros i _. unfold Z, output. rewrite <- WX, Rmult_plus_distr_l, <- Sum_scal. f_equal; [ring|]. apply Sum_ext.
        intros. ring.
Qed.
