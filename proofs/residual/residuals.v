(** What a residual really does: rank, collapse, conditioning, the plateau, and coefficients. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.singular base.dependent base.six_blocks.
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
    rewrite <- Rpow_mult_distr, <- (pow2_abs (matvec _ _ _ _)). apply pow_incr. split; [apply Rabs_pos|now apply average_norm].
Qed.

Lemma scaled_plus n g A B x i : matvec n (fun i k => g * A i k + B i k) x i = vplus (vscal g (matvec n A x)) (matvec n B x) i.
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
  unfold sq. rewrite (Sum_ext N _ (fun i => y i ^ 2 - (2 * / INR N * Sum N y * y i - (/ INR N * Sum N y) ^ 2))) by (intros; ring).
  rewrite Sum_minus, Sum_minus, Sum_scal, Sum_const.
  replace (2 * / INR N * Sum N y * Sum N y - INR N * (/ INR N * Sum N y) ^ 2) with (/ INR N * Sum N y ^ 2) by (field; lra).
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
  assert (A : forall l, (l < N)%nat -> matvec N S (matvec N (centring N) (matvec N (centring N) y)) l = matvec N S y l - m).
  { intros l Hl. unfold matvec at 1. rewrite (Sum_ext N _ (fun j => S l j * y j - m * (S l j * 1))).
    - rewrite Sum_minus, Sum_scal. assert (E1 := stochastic_one N S l HS Hl). unfold matvec in E1 |- *. rewrite E1. ring.
    - intros j Hj. rewrite centring_apply, Z, centring_apply by easy. fold m. ring. }
  rewrite !centring_apply by easy. rewrite A by easy.
  rewrite (Sum_ext N (matvec N S (matvec N (centring N) (matvec N (centring N) y))) (fun l => matvec N S y l - m)) by easy.
  rewrite Sum_minus, Sum_const. field. lra.
Qed.

(** ‖z_i − z_j‖² ≤ 2 ‖ΠZ‖² *)
Lemma rows_near N d Z i j : (i < N)%nat -> (j < N)%nat -> i <> j ->
  vnorm d (vminus (Z i) (Z j)) <= sqrt 2 * spectral N d (matmul N (centring N) Z).
Proof.
  intros Hi Hj Hij. set (u := fun l => identity i l - identity j l).
  assert (Hu : vnorm N u = sqrt 2).
  { unfold vnorm. f_equal. unfold sq, u.
    rewrite (Sum_ext N _ (fun l => identity i l * (identity i l - 2 * identity j l) + identity j l * identity j l)) by (intros; ring).
    rewrite Sum_plus, !identity_sum by easy. unfold identity. rewrite !Nat.eqb_refl.
    replace (j =? i)%nat with false by (symmetry; apply Nat.eqb_neq; lia). ring. }
  rewrite (norm_ext d _ (matvec N (transpose (matmul N (centring N) Z)) u)).
  - rewrite <- Hu, Rmult_comm. eapply Rle_trans; [apply spectral_apply|].
    apply Rmult_le_compat_r; [apply norm_ge0|apply spectral_transpose].
  - intros k _. unfold matvec, transpose, u, vminus.
    rewrite (Sum_ext N _ (fun l => identity i l * matmul N (centring N) Z l k - identity j l * matmul N (centring N) Z l k))
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

(** Ā = φ(Z̄W_1), row pN + i that of token i of sequence p *)
Definition stacked (N : nat) (Z : nat -> matrix) : matrix := fun r k => Z (r / N)%nat (r mod N)%nat k.

(** rt-corollary-q
    Covers: the whole statement, with α = σ_min(Ā)²σ_min(W_U)²/16 as on the page.
    Reads: for P sequences of N ≥ 2 tokens, PN ≤ d₁, φ 1-Lipschitz, attention matrices S_p (rows are distributions), Z_p = S_pX_pW_V (g = 0), Ā = φ(Z̄W₁), and every p < P: σ_min(Ā) ≤ ‖W₁‖‖ΠS_pΠ‖‖ΠX_pW_V‖ =: b, α = σ_min(Ā)²σ_min(W_U)²/16 ≤ σ_min(W_U)² b²/16, and if N ≤ d then σ_min(Z_p) ≤ ‖ΠS_pΠ‖‖ΠX_pW_V‖.
    Mistake: `/ 2 * (spectral d d1 W1 *` for `(spectral d d1 W1 *`
    Mistake: without `stochastic N (S p) ->`
    Mistake: without `(forall x y, Rabs (phi x - phi y) <= Rabs (x - y)) ->`
*)
Theorem rt_corollary_q : forall P N d d1 K phi X S V W1 U p, (2 <= N)%nat -> (P * N <= d1)%nat -> (p < P)%nat ->
  stochastic N (S p) -> (forall x y, Rabs (phi x - phi y) <= Rabs (x - y)) ->
  let Z := fun p => output N d 0 (X p) (S p) V in
  let A := entrywise phi (matmul d (stacked N Z) W1) in
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
      rewrite (Sum_ext _ _ (fun l => identity i l * (identity i l - 2 * identity j l) + identity j l * identity j l)) by (intros; ring).
      rewrite Sum_plus, !identity_sum by easy. unfold identity. rewrite !Nat.eqb_refl.
      replace (j =? i)%nat with false by (symmetry; apply Nat.eqb_neq; lia). ring. }
    assert (B := shortest_apply d1 (P * N) (transpose A) u). rewrite Hu in B.
    assert (C : vnorm d1 (matvec (P * N) (transpose A) u) <= spectral d d1 W1 * (sqrt 2 * left)).
    { rewrite (norm_ext d1 _ (vminus (A i) (A j))).
      - apply Rle_trans with (vnorm d1 (matvec d (transpose W1) (vminus (Z p 0%nat) (Z p 1%nat)))).
        + unfold vnorm. apply sqrt_le_1_alt, Sum_le. intros k _. unfold vminus at 1, A, entrywise.
          rewrite <- pow2_abs, <- (pow2_abs (matvec _ _ _ _)). apply pow_incr. split; [apply Rabs_pos|].
          eapply Rle_trans; [apply Hphi|]. apply Req_le. f_equal. unfold matmul, matvec, transpose, vminus.
          rewrite <- Sum_minus. apply Sum_ext. intros l _. unfold stacked, i, j.
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
      rewrite (Sum_ext _ _ (fun l => identity 0%nat l * (identity 0%nat l - 2 * identity 1%nat l) + identity 1%nat l * identity 1%nat l)) by (intros; ring).
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
Lemma uniform_output N d g X V i k : output N d g X (fun _ _ => / INR N) V i k = g * X i k + matvec d (transpose V) (mean N X) k.
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
      { apply (Rmult_eq_reg_r (- g / (p + q))); [|apply Rlt_not_eq; apply (Rmult_lt_reg_r (p + q)); [lra|field_simplify; lra]].
        rewrite Rmult_0_l, <- H0. field. lra. }
      assert (K1 : a * q + b * p = 0).
      { apply (Rmult_eq_reg_r (- g / (p + q))); [|apply Rlt_not_eq; apply (Rmult_lt_reg_r (p + q)); [lra|field_simplify; lra]].
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
    assert (G : forall m, (m <= N)%nat -> is_lim_seq (fun n => Sum m (fun j => A n i j * X j k)) (Sum m (fun j => identity i j * X j k))).
    { induction m; intros Hm; simpl; [apply is_lim_seq_const|]. apply is_lim_seq_plus'; [apply IHm; lia|].
      apply (is_lim_seq_scal_r (fun n => A n i m) (X m k) (Finite _)). apply HA; lia. }
    now apply G.
  - intros N d g X Hd Hg. assert (P := INR_pos N ltac:(lia)).
    assert (Sg : forall M, sigma_min N d M = shortest N d M).
    { intros M. unfold sigma_min. now replace (N <=? d)%nat with false by (symmetry; apply Nat.leb_gt; lia). }
    assert (PX : forall x i, (i < N)%nat -> matvec d (matmul N (centring N) X) x i = matvec N (centring N) (matvec d X x) i)
      by (intros; symmetry; apply matvec_matvec).
    assert (C : forall x w i, (i < N)%nat -> matvec N (centring N) (matvec d (fun i k => g * X i k + w k) x) i
      = g * matvec N (centring N) (matvec d X x) i).
    { intros x w i Hi. rewrite !centring_apply by easy.
      rewrite (Sum_ext N (matvec d (fun i k => g * X i k + w k) x) (fun i => g * matvec d X x i + dot d w x)).
      - rewrite Sum_plus, Sum_scal, Sum_const.
        replace (matvec d (fun i k => g * X i k + w k) x i) with (g * matvec d X x i + dot d w x); [field; lra|].
        unfold matvec, dot. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext. intros. ring.
      - intros j _. unfold matvec, dot. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext. intros. ring. }
    assert (B : forall w x, g * vnorm N (matvec d (matmul N (centring N) X) x) <= vnorm N (matvec d (fun i k => g * X i k + w k) x)).
    { intros w x. rewrite <- (Rabs_right g), <- norm_scal, Rabs_right by lra.
      rewrite (norm_ext N _ (matvec N (centring N) (matvec d (fun i k => g * X i k + w k) x))); [apply centring_norm; lia|].
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
Lemma two_lengths (M : matrix) a b x : M 0%nat 0%nat = a -> M 1%nat 1%nat = a -> M 0%nat 1%nat = b -> M 1%nat 0%nat = b ->
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
  { unfold vnorm. destruct (L q) as [-> _]. rewrite <- sqrt_Rsqr_abs, Rsqr_pow2. f_equal. unfold q. simpl Nat.eqb. cbv iota.
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
    assert (0 <= (x 0%nat + x 1%nat) ^ 2) by apply pow2_ge_0. assert (0 <= (x 0%nat - x 1%nat) ^ 2) by apply pow2_ge_0. nra.
  - apply Rmax_lub; [rewrite <- Vp|rewrite <- Vq]; now apply spectral_unit.
  - apply Rmin_glb; [rewrite <- Vp|rewrite <- Vq]; now apply shortest_unit.
  - assert (Mu := Rmin_l u v). assert (Mv := Rmin_r u v). apply shortest_ge; [lia|]. intros x Hx.
    assert (P0 : 0 <= Rmin u v) by (apply Rmin_glb; easy).
    rewrite <- (sqrt_pow2 (Rmin u v) P0). unfold vnorm. apply sqrt_le_1_alt.
    destruct (L x) as [-> N]. rewrite Hx in N. rewrite Eu, Ev. set (m := Rmin u v) in *.
    assert (m ^ 2 <= u ^ 2) by (apply pow_incr; lra). assert (m ^ 2 <= v ^ 2) by (apply pow_incr; lra).
    assert (0 <= (x 0%nat + x 1%nat) ^ 2) by apply pow2_ge_0. assert (0 <= (x 0%nat - x 1%nat) ^ 2) by apply pow2_ge_0. nra.
Qed.

(** κ(M) = σ_max(M) / σ_min(M) *)
Definition condition (k n : nat) (M : matrix) : R := spectral k n M / sigma_min k n M.

Lemma condition_two (M : matrix) a b : M 0%nat 0%nat = a -> M 1%nat 1%nat = a -> M 0%nat 1%nat = b -> M 1%nat 0%nat = b ->
  0 < Rabs (a + b) -> 0 < Rabs (a - b) -> condition 2 2 M = Rmax (Rabs (a - b) / Rabs (a + b)) (Rabs (a + b) / Rabs (a - b)).
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
  condition 2 2 (two_outputs s g) = Rmax (19 / 10 * g / Rabs (g / 10 + s / 10)) (Rabs (g / 10 + s / 10) / (19 / 10 * g)).
Proof.
  intros Hg Hn. set (a := g + s / 20). set (b := - (9 / 10) * g + s / 20).
  rewrite (condition_two _ a b); try (unfold a, b; replace (g + s / 20 + (- (9 / 10) * g + s / 20)) with (g / 10 + s / 10) by field).
  - replace (g + s / 20 - (- (9 / 10) * g + s / 20)) with (19 / 10 * g) by field. now rewrite (Rabs_right (19 / 10 * g)) by lra.
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
      apply (is_lim_plus (fun g => g) (fun _ => 20) p_infty p_infty 20 p_infty); [apply is_lim_id|apply is_lim_const|easy].
  - assert (H : forall i j, (i < 2)%nat -> (j < 2)%nat -> two_outputs (-20) 20 i j = if (i =? j)%nat then 19 else -19).
    { intros i j Hi Hj. unfold two_outputs. rewrite output_scalar by easy. unfold matmul, two_tokens.
      destruct i as [|[|i]]; try lia; destruct j as [|[|j]]; try lia; simpl; field. }
    split.
    + unfold sigma_min. simpl Nat.leb. cbv iota.
      destruct (two_values (transpose (two_outputs (-20) 20)) 19 (-19)) as [_ ->]; try (unfold transpose; rewrite H by lia; easy).
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
    Mistake: `- w k * g` for `- w k / g`
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
      exists (fun i => / Sum N v * v i). split; [rewrite Sum_scal; now field|]. intros k Hk. assert (K := H k Hk). rewrite comb in K.
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
    assert (HD : 0 <= delta) by (apply (hull_distance_bounds N d X _ (fun _ => / INR N)); rewrite Sum_const; field; apply Rgt_not_eq, INR_pos, HN).
    assert (HgD : 0 <= g * delta) by (apply Rmult_le_pos; lra). assert (Hgs : 0 <= g * s) by (apply Rmult_le_pos; lra).
    apply Rle_ge, shortest_ge; [easy|]. intros v Hv.
    set (c := Sum N v). set (len := vnorm d (matvec N (transpose Z) v)).
    assert (EV : len = vnorm d (vplus (vscal g (matvec N (transpose X) v)) (vscal c w))).
    { apply norm_ext. intros k _. unfold vplus, vscal, matvec, transpose.
      rewrite (Sum_ext N _ (fun i => v i * Z i k)), comb by (intros; ring). unfold c. f_equal. f_equal. apply Sum_ext. intros. ring. }
    assert (one : g * s - Rabs c * W <= len).
    { rewrite EV. eapply Rle_trans; [|apply norm_reverse]. rewrite !norm_scal, (Rabs_right g) by lra.
      assert (g * s <= g * vnorm d (matvec N (transpose X) v)) by (apply Rmult_le_compat_l; [lra|now apply shortest_unit]).
      unfold W. lra. }
    assert (two : Rabs c * (g * delta) <= len).
    { destruct (Req_dec c 0) as [E0|N0]; [rewrite E0, Rabs_R0, Rmult_0_l; apply norm_ge0|].
      assert (K : delta <= _) by (apply (hull_distance_bounds N d X (fun k => - w k / g) (fun i => / c * v i)); rewrite Sum_scal; fold c; now field).
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
