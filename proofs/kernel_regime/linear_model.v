(** The linear model and the gap between it and the model. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.matrices base.gradient.
From Shallow Require Import base.covariance base.skewness base.lines kernel_regime.neighbourhood.
From Shallow Require Import kernel_regime.smoothness.
Open Scope R_scope.

(** h(X; θ_i), and ⟨∇h(X; θ_i), δθ_i⟩ = σ′(z)(⟨a, δU⟩ + ⟨U, M δW q⟩) for a displacement δ *)
Definition output (sigma : R -> R) (T d : nat) (X : matrix) (q : vector) (phi : parameters) (i : nat) : R :=
  head sigma T d X q (phi i 1%nat) (rows d (phi i 2%nat)).
Definition feature (s1 : R -> R) (T d : nat) (X : matrix) (q : vector) (phi : parameters) (i : nat) (delta :
  parameters) : R :=
  s1 (preactivation T d X q (phi i 1%nat) (rows d (phi i 2%nat))) *
  slope T d (weights T d X q (rows d (phi i 2%nat))) X (phi i 1%nat) (delta i 1%nat) (matvec d (rows d (delta i 2%nat))
    q).

(** m^(−1/2) Σ [δc_i φ_c + c_i⁽⁰⁾⟨φ_u, δU_i⟩ + c_i⁽⁰⁾⟨φ_w, δW_i⟩], and f_lin = f(φ⁽⁰⁾) + that at δ = φ − φ⁽⁰⁾ *)
Definition tangent (sigma s1 : R -> R) (m T d : nat) (X : matrix) (q : vector) (phi0 delta : parameters) : R :=
  / sqrt (INR m) * Sum m (fun i => delta i 0%nat 0%nat * output sigma T d X q phi0 i +
    phi0 i 0%nat 0%nat * feature s1 T d X q phi0 i delta).
Definition linear (sigma s1 : R -> R) (m T d : nat) (X : matrix) (q : vector) (phi0 phi : parameters) : R :=
  model_at sigma m T d X q phi0 + tangent sigma s1 m T d X q phi0 (pminus phi phi0).

(** The gap as a sum over heads, the paper's (18). *)
Lemma gap_sum sigma s1 m T d X q phi0 phi : model_at sigma m T d X q phi - linear sigma s1 m T d X q phi0 phi =
  / sqrt (INR m) * Sum m (fun i => (phi i 0%nat 0%nat - phi0 i 0%nat 0%nat) * (output sigma T d X q phi i - output
    sigma T d X q phi0 i) +
    phi0 i 0%nat 0%nat * (output sigma T d X q phi i - output sigma T d X q phi0 i - feature s1 T d X q phi0 i (pminus
      phi phi0))).
Proof.
  unfold linear, model_at, model, tangent, output.
  rewrite <- Rmult_plus_distr_l, <- Sum_plus, <- Rmult_minus_distr_l, <- Sum_minus. f_equal. apply Sum_ext; intros i _.
  unfold pminus. ring.
Qed.

(** If every bracket is at most b_i/m, then the gap is at most m^(−1/2) times the mean of the b_i. *)
Lemma gap_bound sigma s1 m T d X q phi0 phi rc b1 b2 : (0 < m)%nat -> 0 <= rc ->
  (forall i, (i < m)%nat -> Rabs (phi0 i 0%nat 0%nat) = 1) ->
  (forall i, (i < m)%nat -> Rabs (phi i 0%nat 0%nat - phi0 i 0%nat 0%nat) <= rc / sqrt (INR m)) ->
  (forall i, (i < m)%nat -> Rabs (output sigma T d X q phi i - output sigma T d X q phi0 i) <= b1 i / sqrt (INR m)) ->
  (forall i, (i < m)%nat -> Rabs (output sigma T d X q phi i - output sigma T d X q phi0 i - feature s1 T d X q phi0 i
    (pminus phi phi0)) <=
    b2 i / INR m) ->
  Rabs (model_at sigma m T d X q phi - linear sigma s1 m T d X q phi0 phi) <=
    / sqrt (INR m) * (/ INR m * Sum m (fun i => rc * b1 i + b2 i)).
Proof.
  intros Hm Hrc C1 C H1 H2. assert (W := root_pos m Hm). assert (HI := lt_0_INR m Hm).
    rewrite gap_sum, Rabs_mult, Rabs_pos_eq by (left; now apply Rinv_0_lt_compat).
  apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|]. eapply Rle_trans; [apply Sum_abs|]. rewrite <- Sum_scal.
  apply Sum_le; intros i Hi. eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, C1, Rmult_1_l by easy.
  assert (IM : / INR m = / sqrt (INR m) * / sqrt (INR m)) by (rewrite <- Rinv_mult, sqrt_sqrt by lra; reflexivity).
  replace (/ INR m * (rc * b1 i + b2 i)) with (rc / sqrt (INR m) * (b1 i / sqrt (INR m)) + b2 i / INR m) by (unfold
    Rdiv; rewrite IM; ring).
  apply Rplus_le_compat; [|now apply H2]. apply Rmult_le_compat; try apply Rabs_pos; auto.
Qed.

Lemma rows_frob d w : frob2 d d (rows d w) = sq (d * d) w.
Proof. unfold sq. rewrite Sum_blocks. reflexivity. Qed.

Lemma norm_one x : vnorm 1 x = Rabs (x 0%nat).
Proof. unfold vnorm, sq. cbn [Sum]. rewrite Rplus_0_l, <- Rsqr_pow2. apply sqrt_Rsqr_abs. Qed.

(** kr-lemma-3
    Covers: the whole statement, with Lemma 1 for the gradient in f_lin.
    Reads: let |σ′| ≤ σ₁, |σ″| ≤ σ₂, tokens and query in the unit ball, |c_i⁽⁰⁾| = 1, ρ ≥ 0, r² = ρ_u² + ρ_w², all ‖U_i⁽⁰⁾‖ ≤ √d + √(2 log(m/(2δ′))) (the event), B = B_{U,m}(δ′), L₁ = σ₁√(1 + B²), L₂ = σ₂(1 + B²) + 8σ₁√(1 + B²). For all φ ∈ Ω_ρ (3 blocks a head): |f − f_lin| ≤ (L₁ρ_c r + ½L₂r²)/√m ≤ (L₁ρ_c r + L₂r²)/√m.
    Constants: 8 = round((shallowformer.kernel_regime.bounds.smoothness.L2_paper(0.0) - shallowformer.activations.TANH.bounds[2]) / shallowformer.activations.TANH.bounds[1])
    Mistake: `L1 * rho 0%nat * r + / 4 * L2 * r ^ 2)` for `L1 * rho 0%nat * r + L2 * r ^ 2)`
    Mistake: without `(forall i, (i < m)%nat -> Rabs (phi0 i 0%nat 0%nat) = 1) ->`
*)
Theorem kr_lemma_3 : forall sigma s1 s2 sigma1 sigma2 m T d X q delta rho phi0, activation sigma s1 s2 sigma1 sigma2 ->
  (0 < T)%nat -> (0 < d)%nat -> (0 < m)%nat -> in_ball T d X -> sq d q <= 1 -> (forall k, (k < 3)%nat -> 0 <= rho k) ->
  (forall i, (i < m)%nat -> Rabs (phi0 i 0%nat 0%nat) = 1) ->
  (forall i, (i < m)%nat -> vnorm d (phi0 i 1%nat) <= moderate d m delta) ->
  let B := longest d m delta (rho 1%nat) in let r := sqrt (rho 1%nat ^ 2 + rho 2%nat ^ 2) in
  let L1 := sigma1 * sqrt (1 + B ^ 2) in let L2 := sigma2 * (1 + B ^ 2) + 8 * sigma1 * sqrt (1 + B ^ 2) in
  forall phi, neighbourhood m d rho phi0 phi ->
    Rabs (model_at sigma m T d X q phi - linear sigma s1 m T d X q phi0 phi) <= / sqrt (INR m) * (L1 * rho 0%nat * r
      + / 2
      * L2 * r ^ 2) /\
    / sqrt (INR m) * (L1 * rho 0%nat * r + / 2 * L2 * r ^ 2) <= / sqrt (INR m) * (L1 * rho 0%nat * r + L2 * r ^ 2).
Proof.
  intros sigma s1 s2 sigma1 sigma2 m T d X q delta rho phi0 A HT Hd Hm BX Q P C1 EV B r L1 L2 phi HO.
  assert (W := root_pos m Hm). assert (HI := lt_0_INR m Hm).
  assert (S1 : 0 <= sigma1) by (eapply Rle_trans; [apply Rabs_pos|apply (proj1 (proj2 (proj2 A)) 0)]).
  assert (S2 : 0 <= sigma2) by (eapply Rle_trans; [apply Rabs_pos|apply (proj2 (proj2 (proj2 A)) 0)]).
  assert (B2 := pow2_ge_0 B). assert (SB := sqrt_pos (1 + B ^ 2)). assert (R2 := pow2_ge_0 r).
  assert (L10 : 0 <= L1) by now apply Rmult_le_pos.
  assert (L20 : 0 <= L2) by (unfold L2; apply Rplus_le_le_0_compat; repeat apply Rmult_le_pos; lra).
  assert (P0 : 0 <= rho 1%nat / sqrt (INR m)) by (apply Rmult_le_pos; [apply P; lia|left; now apply Rinv_0_lt_compat]).
  assert (STEP : forall i, (i < m)%nat -> length d (vminus (phi i 1%nat) (phi0 i 1%nat))
    (mminus (rows d (phi i 2%nat)) (rows d (phi0 i 2%nat))) <= r / sqrt (INR m)).
  { intros i Hi. assert (A1 := HO i 1%nat Hi ltac:(lia)). assert (A2 := HO i 2%nat Hi ltac:(lia)). cbn [size] in A1, A2.
    apply norm_le_sq in A1. apply norm_le_sq in A2. rewrite <- rows_frob in A2. unfold length.
    replace (r / sqrt (INR m)) with (sqrt ((r / sqrt (INR m)) ^ 2)) by (apply sqrt_pow2, Rmult_le_pos;
      [apply sqrt_pos|left; now apply Rinv_0_lt_compat]).
    apply sqrt_le_1_alt. replace ((r / sqrt (INR m)) ^ 2) with ((rho 1%nat / sqrt (INR m)) ^ 2 + (rho 2%nat / sqrt (INR
      m)) ^ 2).
    - now apply Rplus_le_compat.
    - unfold Rdiv. rewrite !Rpow_mult_distr. unfold r. rewrite pow2_sqrt; [ring|].
      apply Rplus_le_le_0_compat; apply pow2_ge_0. }
  assert (REM : forall i, (i < m)%nat ->
    Rabs (output sigma T d X q phi i - output sigma T d X q phi0 i) <= L1 * r / sqrt (INR m) /\
    Rabs (output sigma T d X q phi i - output sigma T d X q phi0 i - feature s1 T d X q phi0 i (pminus phi phi0)) <= /
      2 * L2 * r ^ 2 / INR m).
  { intros i Hi. assert (U0 : vnorm d (phi0 i 1%nat) <= B) by (specialize (EV i Hi); unfold B, longest; lra).
    assert (U1 : vnorm d (phi i 1%nat) <= B).
    { eapply Rle_trans; [now apply (proj1 (kr_remark_7 m d rho phi0 Hm Hd P))|]. specialize (EV i Hi).
        unfold B, longest. lra. }
    destruct (kr_remark_3 sigma s1 s2 sigma1 sigma2 T d X q B A HT Hd BX Q (phi0 i 1%nat) (rows d (phi0 i 2%nat))
      (phi i 1%nat) (rows d (phi i 2%nat)) U0 U1) as (F1 & _ & _ & F4). specialize (STEP i Hi).
    set (st := length d _ _) in *. fold L1 in F1. fold L2 in F4. assert (ST0 : 0 <= st) by apply length_ge0. split.
    - eapply Rle_trans; [exact F1|]. replace (L1 * r / sqrt (INR m)) with (L1 * (r / sqrt (INR m))) by (unfold Rdiv;
        ring).
      now apply Rmult_le_compat_l.
    - rewrite (gradient_pairing s1 T d X q (phi0 i 1%nat) (rows d (phi0 i 2%nat)) (vminus (phi i 1%nat) (phi0 i 1%nat))
        (mminus (rows d (phi i 2%nat)) (rows d (phi0 i 2%nat)))) in F4.
      eapply Rle_trans; [exact F4|]. replace (/ 2 * L2 * r ^ 2 / INR m) with (/ 2 * L2 * (r / sqrt (INR m)) ^ 2).
      + apply Rmult_le_compat_l; [lra|]. apply pow_incr; lra.
      + unfold Rdiv. rewrite Rpow_mult_distr, pow_inv, pow2_sqrt by lra. ring. }
  split.
  - eapply Rle_trans; [apply (gap_bound sigma s1 m T d X q phi0 phi (rho 0%nat) (fun _ => L1 * r) (fun _ => / 2 * L2 *
      r ^ 2)); try easy|].
    + apply P. lia.
    + intros i Hi. assert (H := HO i 0%nat Hi ltac:(lia)). cbn [size] in H. rewrite norm_one in H. exact H.
    + intros i Hi. now apply REM.
    + intros i Hi. now apply REM.
    + right. f_equal. rewrite Sum_const. field. lra.
  - apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|]. assert (0 <= L2 * r ^ 2) by now apply Rmult_le_pos.
      lra.
Qed.
