(** What a residual really does: rank, collapse, conditioning, the plateau, and coefficients. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.singular base.dependent.
Open Scope R_scope.

(** every row of S, N × N, is a probability distribution over the N tokens *)
Definition stochastic (N : nat) (S : matrix) : Prop := forall i, (i < N)%nat -> distribution N (S i).

(** Z = gX + S X W_V, the attention output of N tokens in ℝᵈ *)
Definition output (N d : nat) (g : R) (X S V : matrix) : matrix :=
  fun i k => g * X i k + matmul d (matmul N S X) V i k.

(** the identity I, and Π = I − (1/N) 1 1ᵀ *)
Definition identity : matrix := fun i j => if (i =? j)%nat then 1 else 0.
Definition centring (N : nat) : matrix := fun i j => identity i j - / INR N.

(** x̄ = (1/N) Σ x_i, the mean of the tokens *)
Definition mean (N : nat) (X : matrix) : vector := fun k => / INR N * Sum N (fun i => X i k).

(** the columns of φ(M), entry by entry *)
Definition entrywise (phi : R -> R) (M : matrix) : matrix := fun i j => phi (M i j).

Lemma identity_sum N f i : (i < N)%nat -> Sum N (fun j => identity i j * f j) = f i.
Proof.
  intros Hi. rewrite (Sum_single N _ i Hi).
  - unfold identity. rewrite Nat.eqb_refl. ring.
  - intros j _ Hj. unfold identity. replace (i =? j)%nat with false; [ring|].
    symmetry. apply Nat.eqb_neq. lia.
Qed.

Lemma identity_sum_r N f k : (k < N)%nat -> Sum N (fun j => f j * identity j k) = f k.
Proof.
  intros Hk. rewrite (Sum_single N _ k Hk).
  - unfold identity. rewrite Nat.eqb_refl. ring.
  - intros j _ Hj. unfold identity. replace (j =? k)%nat with false; [ring|].
    symmetry. apply Nat.eqb_neq. lia.
Qed.

Lemma INR_pos N : (0 < N)%nat -> 0 < INR N.
Proof. apply lt_0_INR. Qed.

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

(** (ΠM)_ik = M_ik − mean of column k *)
Lemma centring_apply N y i : (i < N)%nat -> matvec N (centring N) y i = y i - / INR N * Sum N y.
Proof.
  intros Hi. unfold matvec, centring. rewrite (Sum_ext N _ (fun j => identity i j * y j - / INR N * y j)) by (intros; ring).
  now rewrite Sum_minus, identity_sum, Sum_scal.
Qed.

Lemma centring_matmul N M i k : (i < N)%nat -> matmul N (centring N) M i k = M i k - / INR N * Sum N (fun l => M l k).
Proof. intros Hi. apply (centring_apply N (fun l => M l k) i Hi). Qed.

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
