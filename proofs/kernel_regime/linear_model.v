(** The linear model and the gap between it and the model. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.skewness base.skewbounds.
From Shallow Require Import base.lines base.steps kernel_regime.neighbourhood kernel_regime.smoothness.
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
  model sigma m T d X q phi0 + tangent sigma s1 m T d X q phi0 (pminus phi phi0).

Lemma output_line sigma s1 T d X q phi0 delta i : (0 < T)%nat -> (forall z, is_derive sigma z (s1 z)) -> forall tau,
  is_derive (fun tau => output sigma T d X q (along phi0 tau delta) i) tau (feature s1 T d X q (along phi0 tau delta) i
    delta).
Proof.
  intros HT D tau. exact (head_line sigma s1 T d X q (phi0 i 1%nat) (delta i 1%nat) (rows d (phi0 i 2%nat)) (rows d
    (delta i 2%nat)) HT D tau).
Qed.

Lemma along_zero phi delta : along phi 0 delta = phi.
Proof. do 3 (apply FunctionalExtensionality.functional_extensionality; intro). unfold along. ring. Qed.
Lemma along_end phi0 phi : along phi0 1 (pminus phi phi0) = phi.
Proof. do 3 (apply FunctionalExtensionality.functional_extensionality; intro). unfold along, pminus. ring. Qed.

Lemma slope_linear T d alpha X U u Delta u' Delta' c q :
  slope T d alpha X U (vline u c u') (matvec d (mline Delta c Delta') q) =
  slope T d alpha X U u (matvec d Delta q) + c * slope T d alpha X U u' (matvec d Delta' q).
Proof.
  unfold slope. change (vline u c u') with (vplus u (vscal c u')). rewrite dot_plus_l, dot_scal_l.
  rewrite (spread_sym T d alpha X U (matvec d (mline Delta c Delta') q)), (spread_sym T d alpha X U (matvec d Delta q)),
    (spread_sym T d alpha X U (matvec d Delta' q)).
  replace (matvec d (mline Delta c Delta') q) with (vline (matvec d Delta q) c (matvec d Delta' q)).
  - rewrite spread_vline. ring.
  - apply FunctionalExtensionality.functional_extensionality; intro. unfold vline, matvec, mline.
      rewrite <- Sum_scal, <- Sum_plus.
    apply Sum_ext; intros; ring.
Qed.

Lemma tangent_linear sigma s1 m T d X q phi0 a c b :
  tangent sigma s1 m T d X q phi0 (along a c b) = tangent sigma s1 m T d X q phi0 a + c * tangent sigma s1 m T d X q
    phi0 b.
Proof.
  set (g := fun e i => e i 0%nat 0%nat * output sigma T d X q phi0 i + phi0 i 0%nat 0%nat * feature s1 T d X q phi0 i
    e).
  change (/ sqrt (INR m) * Sum m (g (along a c b)) = / sqrt (INR m) * Sum m (g a) + c * (/ sqrt (INR m) * Sum m (g b))).
  transitivity (/ sqrt (INR m) * (Sum m (g a) + c * Sum m (g b))); [|ring]. f_equal. rewrite <- Sum_scal, <- Sum_plus.
    unfold g.
  apply Sum_ext; intros i _. unfold feature.
  change (along a c b i 1%nat) with (vline (a i 1%nat) c (b i 1%nat)).
  change (rows d (along a c b i 2%nat)) with (mline (rows d (a i 2%nat)) c (rows d (b i 2%nat))).
  rewrite slope_linear. unfold along. ring.
Qed.

(** f_lin is the tangent: its linear part is the derivative of f along every direction. *)
Lemma model_line sigma s1 m T d X q phi0 delta : (0 < T)%nat -> (forall z, is_derive sigma z (s1 z)) ->
  is_derive (fun tau => model sigma m T d X q (along phi0 tau delta)) 0 (tangent sigma s1 m T d X q phi0 delta).
Proof.
  intros HT D. unfold model, tangent.
  apply (is_derive_scal (fun tau => Sum m (fun i => along phi0 tau delta i 0%nat 0%nat * output sigma T d X q (along
    phi0 tau delta) i))).
  apply (Sum_derive m (fun tau i => along phi0 tau delta i 0%nat 0%nat * output sigma T d X q (along phi0 tau delta)
    i)).
  intros i _. evar_last.
  - apply (is_derive_mult (fun tau => along phi0 tau delta i 0%nat 0%nat) (fun tau => output sigma T d X q (along phi0
      tau delta) i));
      [|apply output_line; eauto|intros; apply Rmult_comm].
    unfold along. auto_derive; [easy|reflexivity].
  - cbv beta. rewrite along_zero. unfold plus, mult, along. cbn. ring.
Qed.

(** What the tangent reads of a head and of a displacement. *)
Lemma weights_ext T d X q W W' : (forall j, (j < d * d)%nat -> W j = W' j) ->
  weights T d X q (rows d W) = weights T d X q (rows d W').
Proof.
  intros H. unfold weights. f_equal. apply FunctionalExtensionality.functional_extensionality; intro s.
    unfold dot, matvec.
  apply Sum_ext. intros a Ha. f_equal. apply Sum_ext. intros b Hb. f_equal. unfold rows. apply H. nia.
Qed.

Lemma feature_same s1 T d X q phi psi delta eta i i' :
  (forall k j, (k = 1 \/ k = 2)%nat -> (j < size d k)%nat -> phi i k j = psi i' k j /\ delta i k j = eta i' k j) ->
  feature s1 T d X q phi i delta = feature s1 T d X q psi i' eta.
Proof.
  intros H. assert (HU : forall j, (j < d)%nat -> phi i 1%nat j = psi i' 1%nat j) by (intros; now apply H; [left|]).
  assert (HW : forall j, (j < d * d)%nat -> phi i 2%nat j = psi i' 2%nat j) by (intros; now apply H; [right|]).
  assert (DU : forall j, (j < d)%nat -> delta i 1%nat j = eta i' 1%nat j) by (intros; now apply H; [left|]).
  assert (DW : forall j, (j < d * d)%nat -> delta i 2%nat j = eta i' 2%nat j) by (intros; now apply H; [right|]).
  unfold feature, preactivation, slope, spread. rewrite (weights_ext T d X q _ _ HW).
  assert (X1 : forall v, dot d (phi i 1%nat) v = dot d (psi i' 1%nat) v) by (intros; apply Sum_ext; intros;
    now rewrite HU).
  assert (X2 : forall v, dot d (delta i 1%nat) v = dot d (eta i' 1%nat) v) by (intros; apply Sum_ext; intros;
    now rewrite DU).
  assert (X3 : forall v M, dot d v (matvec d M (matvec d (rows d (delta i 2%nat)) q)) =
    dot d v (matvec d M (matvec d (rows d (eta i' 2%nat)) q))).
  { intros v M. apply Sum_ext; intros a Ha. f_equal. unfold matvec at 1 3. apply Sum_ext; intros b Hb. f_equal.
    apply Sum_ext; intros e He. f_equal. unfold rows. apply DW. nia. }
  now rewrite !X1, X2, X3.
Qed.

(** kr-definition-3
    Covers: the whole statement.
    Reads: along every direction δ the model at φ⁽⁰⁾ has the derivative m^(−1/2) Σ [δc_i h_i + c_i⁽⁰⁾σ′(z_i)(⟨a_i, δU_i⟩ + ⟨U_i, M_i δW_i q⟩)], the features being those at φ⁽⁰⁾; f_lin(φ) is f(φ⁽⁰⁾) plus this at δ = φ − φ⁽⁰⁾. f_lin is affine, f_lin(φ + t(ψ − φ)) = (1 − t) f_lin(φ) + t f_lin(ψ), with the same derivative along δ at every φ. At a symmetric initialisation f(φ⁽⁰⁾) = 0, so f_lin is the sum alone; f_lin(ℛφ) = −f_lin(φ), and f_lin(φ⁽⁰⁾ + δ) = 0 if ℛδ = δ.
    Mistake: `= linear sigma s1 (2 * N) T d X q phi0 phi) /\` for `= - linear sigma s1 (2 * N) T d X q phi0 phi) /\`
    Mistake: `same (2 * N) d delta delta` for `same (2 * N) d (mirror N delta) delta`
*)
Theorem kr_definition_3 : forall sigma s1 T d X q, (0 < T)%nat -> (forall z, is_derive sigma z (s1 z)) ->
  (forall m phi0 delta, is_derive (fun tau => model sigma m T d X q (along phi0 tau delta)) 0
    (tangent sigma s1 m T d X q phi0 delta)) /\
  (forall m phi0 phi psi t, linear sigma s1 m T d X q phi0 (along phi t (pminus psi phi)) =
    (1 - t) * linear sigma s1 m T d X q phi0 phi + t * linear sigma s1 m T d X q phi0 psi) /\
  (forall m phi0 phi delta, is_derive (fun tau => linear sigma s1 m T d X q phi0 (along phi tau delta)) 0
    (tangent sigma s1 m T d X q phi0 delta)) /\
  (forall N phi0, symmetric_start N d phi0 ->
    (forall phi, linear sigma s1 (2 * N) T d X q phi0 phi = tangent sigma s1 (2 * N) T d X q phi0 (pminus phi phi0)) /\
    (forall phi, linear sigma s1 (2 * N) T d X q phi0 (mirror N phi) = - linear sigma s1 (2 * N) T d X q phi0 phi) /\
    (forall delta, same (2 * N) d (mirror N delta) delta
      -> linear sigma s1 (2 * N) T d X q phi0 (along phi0 1 delta) = 0)).
Proof.
  intros sigma s1 T d X q HT D.
  assert (LIN : forall m phi0 phi t delta, linear sigma s1 m T d X q phi0 (along phi t delta) =
    linear sigma s1 m T d X q phi0 phi + t * tangent sigma s1 m T d X q phi0 delta).
  { intros. unfold linear. rewrite Rplus_assoc, <- tangent_linear. do 2 f_equal.
    do 3 (apply FunctionalExtensionality.functional_extensionality; intro). unfold pminus, along. ring. }
  repeat apply conj.
  - intros. now apply model_line.
  - intros m phi0 phi psi t. rewrite LIN.
    replace (tangent sigma s1 m T d X q phi0 (pminus psi phi)) with (linear sigma s1 m T d X q phi0 psi - linear sigma
      s1 m T d X q phi0 phi);
      [ring|]. rewrite <- (along_end phi psi) at 1. rewrite LIN. ring.
  - intros m phi0 phi delta. apply is_derive_ext with (f := fun tau => linear sigma s1 m T d X q phi0 phi + tau *
      tangent sigma s1 m T d X q phi0 delta).
    + intros t. now rewrite LIN.
    + auto_derive; [easy|ring].
  - intros N phi0 S. assert (M := start_mirror N d phi0 S).
    assert (Z : model sigma (2 * N) T d X q phi0 = 0) by now apply (kr_remark_6 sigma N T d phi0 S).
    assert (F : forall phi, linear sigma s1 (2 * N) T d X q phi0 phi = tangent sigma s1 (2 * N) T d X q phi0 (pminus
      phi phi0))
      by (intros; unfold linear; rewrite Z; ring).
    assert (O : forall phi, linear sigma s1 (2 * N) T d X q phi0 (mirror N phi) = - linear sigma s1 (2 * N) T d X q
      phi0 phi).
    { intros phi. rewrite !F. unfold tangent. rewrite Ropp_mult_distr_r. f_equal.
      set (g := fun i => pminus phi phi0 i 0%nat 0%nat * output sigma T d X q phi0 i + phi0 i 0%nat 0%nat * feature s1
        T d X q phi0 i (pminus phi phi0)).
      fold g. rewrite <- (Sum_partner N g). replace (- Sum (2 * N) (fun i => g (partner N i))) with (-1 * Sum (2 * N)
        (fun i => g (partner N i))) by ring.
      rewrite <- Sum_scal. apply Sum_ext; intros i Hi. unfold g.
      assert (C := M i 0%nat 0%nat Hi ltac:(lia) ltac:(cbn; lia)).
      assert (P : forall k j, (k = 1 \/ k = 2)%nat -> (j < size d k)%nat -> phi0 i k j = phi0 (partner N i) k j).
      { intros k j Hk Hj. rewrite <- (M i k j Hi ltac:(lia) Hj). unfold mirror. destruct Hk as [-> | ->];
          cbn [Nat.eqb]; ring. }
      rewrite (feature_same s1 T d X q phi0 phi0 (pminus (mirror N phi) phi0) (pminus phi phi0) i (partner N i)).
      - replace (output sigma T d X q phi0 i) with (output sigma T d X q phi0 (partner N i)).
        + unfold pminus. rewrite <- C. unfold mirror. cbn [Nat.eqb]. ring.
        + symmetry. apply head_ext; intros; apply P; cbn; auto.
      - intros k j Hk Hj. split; [now apply P|]. unfold pminus. rewrite (P k j Hk Hj). unfold mirror.
        destruct Hk as [-> | ->]; cbn [Nat.eqb]; ring. }
    repeat apply conj; [exact F|exact O|]. intros delta H.
    assert (Q := O (along phi0 1 delta)).
    assert (E : linear sigma s1 (2 * N) T d X q phi0 (mirror N (along phi0 1 delta)) = linear sigma s1 (2 * N) T d X q
      phi0 (along phi0 1 delta)).
    { rewrite !F. unfold tangent. f_equal. apply Sum_ext; intros i Hi.
      assert (V : forall k j, (k < 3)%nat -> (j < size d k)%nat ->
        pminus (mirror N (along phi0 1 delta)) phi0 i k j = pminus (along phi0 1 delta) phi0 i k j).
      { intros k j Hk Hj. assert (A := H i k j Hi Hk Hj). assert (B := M i k j Hi Hk Hj).
          unfold pminus, mirror, along in *. lra. }
      rewrite (V 0%nat 0%nat) by (cbn; lia). f_equal. f_equal. apply feature_same. intros k j Hk Hj. split; [easy|].
        apply V; [lia|easy]. }
    lra.
Qed.

(** The gap as a sum over heads, the paper's (18). *)
Lemma gap_sum sigma s1 m T d X q phi0 phi : model sigma m T d X q phi - linear sigma s1 m T d X q phi0 phi =
  / sqrt (INR m) * Sum m (fun i => (phi i 0%nat 0%nat - phi0 i 0%nat 0%nat) * (output sigma T d X q phi i - output
    sigma T d X q phi0 i) +
    phi0 i 0%nat 0%nat * (output sigma T d X q phi i - output sigma T d X q phi0 i - feature s1 T d X q phi0 i (pminus
      phi phi0))).
Proof.
  unfold linear, model, tangent, output.
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
  Rabs (model sigma m T d X q phi - linear sigma s1 m T d X q phi0 phi) <=
    / sqrt (INR m) * (/ INR m * Sum m (fun i => rc * b1 i + b2 i)).
Proof.
  intros Hm Hrc C1 C H1 H2. assert (W := width_pos m Hm). assert (HI := lt_0_INR m Hm).
    rewrite gap_sum, Rabs_mult, Rabs_pos_eq by (left; now apply Rinv_0_lt_compat).
  apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|]. eapply Rle_trans; [apply Sum_abs|]. rewrite <- Sum_scal.
  apply Sum_le; intros i Hi. eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult, C1, Rmult_1_l by easy.
  assert (IM : / INR m = / sqrt (INR m) * / sqrt (INR m)) by (rewrite <- Rinv_mult, sqrt_sqrt by lra; reflexivity).
  replace (/ INR m * (rc * b1 i + b2 i)) with (rc / sqrt (INR m) * (b1 i / sqrt (INR m)) + b2 i / INR m) by (unfold
    Rdiv; rewrite IM; ring).
  apply Rplus_le_compat; [|now apply H2]. apply Rmult_le_compat; try apply Rabs_pos; auto.
Qed.

Lemma Sum_rows n m f : Sum (n * m) f = Sum n (fun i => Sum m (fun j => f (i * m + j)%nat)).
Proof.
  induction n; [easy|]. replace (S n * m)%nat with (n * m + m)%nat by (cbn; lia). rewrite Sum_split, IHn. reflexivity.
Qed.

Lemma rows_frob d w : frob2 d d (rows d w) = sq (d * d) w.
Proof. unfold sq. rewrite Sum_rows. reflexivity. Qed.

Lemma norm_one x : vnorm 1 x = Rabs (x 0%nat).
Proof. unfold vnorm, sq. cbn [Sum]. rewrite Rplus_0_l, <- Rsqr_pow2. apply sqrt_Rsqr_abs. Qed.

(** kr-lemma-3
    Covers: the whole statement.
    Reads: let |σ′| ≤ σ₁, |σ″| ≤ σ₂, tokens and query in the unit ball, |c_i⁽⁰⁾| = 1, ρ ≥ 0, r² = ρ_u² + ρ_w², all ‖U_i⁽⁰⁾‖ ≤ √d + √(2 log(m/(2δ′))) (the event), B = B_{U,m}(δ′), L₁ = σ₁√(1 + B²), L₂ = σ₂(1 + B²) + 8σ₁√(1 + B²). For all φ ∈ Ω_ρ: |f − f_lin| ≤ (L₁ρ_c r + ½L₂r²)/√m ≤ (L₁ρ_c r + L₂r²)/√m.
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
    Rabs (model sigma m T d X q phi - linear sigma s1 m T d X q phi0 phi) <= / sqrt (INR m) * (L1 * rho 0%nat * r + / 2
      * L2 * r ^ 2) /\
    / sqrt (INR m) * (L1 * rho 0%nat * r + / 2 * L2 * r ^ 2) <= / sqrt (INR m) * (L1 * rho 0%nat * r + L2 * r ^ 2).
Proof.
  intros sigma s1 s2 sigma1 sigma2 m T d X q delta rho phi0 A HT Hd Hm BX Q P C1 EV B r L1 L2 phi HO.
  assert (W := width_pos m Hm). assert (HI := lt_0_INR m Hm).
  assert (S1 : 0 <= sigma1) by (eapply Rle_trans; [apply Rabs_pos|apply (proj1 (proj2 (proj2 A)) 0)]).
  assert (S2 : 0 <= sigma2) by (eapply Rle_trans; [apply Rabs_pos|apply (proj2 (proj2 (proj2 A)) 0)]).
  assert (B2 := pow2_ge_0 B). assert (SB := sqrt_pos (1 + B ^ 2)). assert (R2 := pow2_ge_0 r).
  assert (L10 : 0 <= L1) by now apply Rmult_le_pos.
  assert (L20 : 0 <= L2) by (unfold L2; apply Rplus_le_le_0_compat; repeat apply Rmult_le_pos; lra).
  assert (P0 : 0 <= rho 1%nat / sqrt (INR m)) by (apply Rmult_le_pos; [apply P; lia|left; now apply Rinv_0_lt_compat]).
  assert (STEP : forall i, (i < m)%nat -> length d (vminus (phi i 1%nat) (phi0 i 1%nat))
    (fun a b => rows d (phi i 2%nat) a b - rows d (phi0 i 2%nat) a b) <= r / sqrt (INR m)).
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
        (fun a b => rows d (phi i 2%nat) a b - rows d (phi0 i 2%nat) a b)) in F4.
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

(** G₂ at (R; r_u, r_w): the least upper bound of what it is the largest value of *)
Definition is_G2 (s1 s2 : R -> R) (radius ru rw G : R) : Prop :=
  bounds_G2 s1 s2 radius ru rw G /\ forall G', bounds_G2 s1 s2 radius ru rw G' -> G <= G'.

Lemma bounds_G2_scale s1 s2 radius ru rw G c : bounds_G2 s1 s2 radius ru rw G
  -> bounds_G2 s1 s2 radius (c * ru) (c * rw) (c ^ 2 * G).
Proof.
  intros H s zeta Hs Hz. specialize (H s zeta Hs Hz). apply (Rmult_le_compat_l (c ^ 2)) in H; [|apply pow2_ge_0].
  eapply Rle_trans; [right|exact H]. unfold G2_form, G1_form. ring.
Qed.

Lemma G1_scale radius ru rw c : 0 <= radius -> 0 <= ru -> 0 <= rw -> 0 <= c
  -> G1 radius (c * ru) (c * rw) <= c * G1 radius ru rw.
Proof.
  intros HR Hu Hw Hc. destruct (G1_max radius (c * ru) (c * rw) HR ltac:(now apply Rmult_le_pos) ltac:(now apply
    Rmult_le_pos)) as (_ & s & Hs & <- & _).
  replace (G1_form radius (c * ru) (c * rw) s) with (c * G1_form radius ru rw s) by (unfold G1_form; ring).
  apply Rmult_le_compat_l; [easy|]. now apply G1_max.
Qed.


(** kr-lemma-3-sharp
    Covers: the whole statement.
    Reads: let |σ′| ≤ σ₁, |σ″| ≤ σ₂, tokens and query in the unit ball, |c_i⁽⁰⁾| = 1, ρ ≥ 0, R_i = ‖U_i⁽⁰⁾‖ + ρ_u/√m, and let G₂ᵢ be the least upper bound of |σ″(ζ)|(ρ_u s + ρ_w(1 − s²)R_i)² + 2|σ′(ζ)|(1 − s²)(ρ_uρ_w + ρ_w² sR_i) over 0 ≤ s ≤ 1, |ζ| ≤ sR_i. For every start and all φ ∈ Ω_ρ: |f − f_lin| ≤ m^(−1/2) (1/m) Σ b_i with b_i = σ₁ρ_cG₁(R_i; ρ_u, ρ_w) + ½G₂ᵢ. If all R_i ≤ B, G bounds the same at B, r² = ρ_u² + ρ_w² and L bounds G₂(B; x, y) for all x, y ≥ 0 with x² + y² = 1: (1/m) Σ b_i ≤ σ₁ρ_cG₁(B; ρ_u, ρ_w) + ½G for the least such G, G₁(B; ρ_u, ρ_w) ≤ max(1, B) r, the least G is at most L r², and for the least such L (at most σ₂ max(1, B²) + σ₁H⋆(B)) σ₁ max(1, B)ρ_c r + ½L r² ≤ √m B_lin.
    Mistake: `+ / 4 * G2 i) in` for `+ / 2 * G2 i) in`
    Mistake: `Rabs (phi0 i 0%nat 0%nat) = 2` for `Rabs (phi0 i 0%nat 0%nat) = 1`
*)
Theorem kr_lemma_3_sharp : forall sigma s1 s2 sigma1 sigma2 m T d X q rho phi0 G2, activation sigma s1 s2 sigma1 sigma2
  ->
  (0 < T)%nat -> (0 < d)%nat -> (0 < m)%nat -> in_ball T d X -> sq d q <= 1 -> (forall k, (k < 3)%nat -> 0 <= rho k) ->
  (forall i, (i < m)%nat -> Rabs (phi0 i 0%nat 0%nat) = 1) ->
  let radius i := vnorm d (phi0 i 1%nat) + rho 1%nat / sqrt (INR m) in
  (forall i, (i < m)%nat -> is_G2 s1 s2 (radius i) (rho 1%nat) (rho 2%nat) (G2 i)) ->
  let mean := / INR m * Sum m (fun i => sigma1 * rho 0%nat * G1 (radius i) (rho 1%nat) (rho 2%nat) + / 2 * G2 i) in
  (forall phi, neighbourhood m d rho phi0 phi ->
    Rabs (model sigma m T d X q phi - linear sigma s1 m T d X q phi0 phi) <= / sqrt (INR m) * mean) /\
  (forall B G L, (forall i, (i < m)%nat -> radius i <= B) -> is_G2 s1 s2 B (rho 1%nat) (rho 2%nat) G ->
    (forall x y, 0 <= x -> 0 <= y -> x ^ 2 + y ^ 2 = 1 -> bounds_G2 s1 s2 B x y L) ->
    (forall L', (forall x y, 0 <= x -> 0 <= y -> x ^ 2 + y ^ 2 = 1 -> bounds_G2 s1 s2 B x y L') -> L <= L') ->
    let r := sqrt (rho 1%nat ^ 2 + rho 2%nat ^ 2) in
    mean <= sigma1 * rho 0%nat * G1 B (rho 1%nat) (rho 2%nat) + / 2 * G /\
    sigma1 * rho 0%nat * G1 B (rho 1%nat) (rho 2%nat) + / 2 * G <= sigma1 * Rmax 1 B * rho 0%nat * r + / 2 * L * r ^ 2
      /\
    sigma1 * Rmax 1 B * rho 0%nat * r + / 2 * L * r ^ 2 <=
      sigma1 * sqrt (1 + B ^ 2) * rho 0%nat * r + (sigma2 * (1 + B ^ 2) + 8 * sigma1 * sqrt (1 + B ^ 2)) * r ^ 2).
Proof.
  intros sigma s1 s2 sigma1 sigma2 m T d X q rho phi0 G2 A HT Hd Hm BX Q P C1 radius HG mean.
  assert (SH := kr_lemma_2_sharp sigma s1 s2 sigma1 sigma2 A). destruct SH as (SH & SG).
  assert (W := width_pos m Hm). assert (HI := lt_0_INR m Hm). assert (A' := A). destruct A' as (D1 & D2 & B1 & B2).
  assert (S1 : 0 <= sigma1) by (eapply Rle_trans; [apply Rabs_pos|apply (B1 0)]).
  assert (S2 : 0 <= sigma2) by (eapply Rle_trans; [apply Rabs_pos|apply (B2 0)]).
  assert (Pc := P 0%nat ltac:(lia)). assert (Pu := P 1%nat ltac:(lia)). assert (Pw := P 2%nat ltac:(lia)).
  assert (W' : 0 < / sqrt (INR m)) by now apply Rinv_0_lt_compat.
  assert (RAD : forall i, 0 <= radius i).
  { intros i. apply Rplus_le_le_0_compat; [apply norm_ge0|apply Rmult_le_pos; lra]. }
  split.
  - intros phi HO. set (c := / sqrt (INR m)) in *. assert (C2 : c ^ 2 = / INR m) by (unfold c;
      rewrite pow_inv, pow2_sqrt by lra; reflexivity).
    assert (REM : forall i, (i < m)%nat -> forall tau, 0 <= tau <= 1 ->
      Rabs (feature s1 T d X q (along phi0 tau (pminus phi phi0)) i (pminus phi phi0)) <= sigma1 * (c * G1 (radius i)
        (rho 1%nat) (rho 2%nat)) /\
      Rabs (s2 (preactivation T d X q (vline (phi0 i 1%nat) tau (pminus phi phi0 i 1%nat)) (mline (rows d (phi0 i
        2%nat)) tau (rows d (pminus phi phi0 i 2%nat)))) *
        slope T d (weights T d X q (mline (rows d (phi0 i 2%nat)) tau (rows d (pminus phi phi0 i 2%nat)))) X (vline
          (phi0 i 1%nat) tau (pminus phi phi0 i 1%nat))
          (pminus phi phi0 i 1%nat) (matvec d (rows d (pminus phi phi0 i 2%nat)) q) ^ 2 +
        s1 (preactivation T d X q (vline (phi0 i 1%nat) tau (pminus phi phi0 i 1%nat)) (mline (rows d (phi0 i 2%nat))
          tau (rows d (pminus phi phi0 i 2%nat)))) *
        bend T d (weights T d X q (mline (rows d (phi0 i 2%nat)) tau (rows d (pminus phi phi0 i 2%nat)))) X (vline
          (phi0 i 1%nat) tau (pminus phi phi0 i 1%nat))
          (pminus phi phi0 i 1%nat) (matvec d (rows d (pminus phi phi0 i 2%nat)) q)
          (pminus phi phi0 i 1%nat) (matvec d (rows d (pminus phi phi0 i 2%nat)) q)) <= c ^ 2 * G2 i).
    { intros i Hi tau Ht. assert (A1 := HO i 1%nat Hi ltac:(lia)). assert (A2 := HO i 2%nat Hi ltac:(lia)).
        cbn [size] in A1, A2.
      change (vminus (phi i 1%nat) (phi0 i 1%nat)) with (pminus phi phi0 i 1%nat) in A1.
      change (vminus (phi i 2%nat) (phi0 i 2%nat)) with (pminus phi phi0 i 2%nat) in A2.
      assert (UB : vnorm d (vline (phi0 i 1%nat) tau (pminus phi phi0 i 1%nat)) <= radius i).
      { change (vline (phi0 i 1%nat) tau (pminus phi phi0 i 1%nat)) with (vplus (phi0 i 1%nat) (vscal tau (pminus phi
          phi0 i 1%nat))).
        eapply Rle_trans; [apply norm_triangle|]. apply Rplus_le_compat_l. rewrite norm_scal, Rabs_pos_eq by lra.
        assert (N := norm_ge0 d (pminus phi phi0 i 1%nat)). nra. }
      assert (FW : sqrt (frob2 d d (rows d (pminus phi phi0 i 2%nat))) <= c * rho 2%nat) by (rewrite rows_frob,
        Rmult_comm; exact A2).
      assert (FU : vnorm d (pminus phi phi0 i 1%nat) <= c * rho 1%nat) by (rewrite Rmult_comm; exact A1).
      destruct (SH T d X q (radius i) (c * rho 1%nat) (c * rho 2%nat) _ (mline (rows d (phi0 i 2%nat)) tau (rows d
        (pminus phi phi0 i 2%nat))) _ _
        HT Hd BX Q UB FU FW) as (_ & K1 & K2). split.
      - eapply Rle_trans; [exact K1|]. apply Rmult_le_compat_l; [easy|]. apply G1_scale; auto. lra.
      - apply K2. apply bounds_G2_scale, HG, Hi. }
    assert (DER : forall i, forall tau, is_derive (fun tau => output sigma T d X q (along phi0 tau (pminus phi phi0))
      i) tau
      (feature s1 T d X q (along phi0 tau (pminus phi phi0)) i (pminus phi phi0))) by (intros; now apply output_line).
    eapply Rle_trans; [apply (gap_bound sigma s1 m T d X q phi0 phi (rho 0%nat) (fun i => sigma1 * G1 (radius i) (rho
      1%nat) (rho 2%nat))
      (fun i => / 2 * G2 i)); try easy|].
    + intros i Hi. assert (H := HO i 0%nat Hi ltac:(lia)). cbn [size] in H. rewrite norm_one in H. exact H.
    + intros i Hi. assert (K := step_first _ _ _ (DER i) (fun tau Ht => proj1 (REM i Hi tau Ht)) 1 ltac:(lra)).
      cbv beta in K. rewrite along_zero, along_end in K. unfold Rdiv. fold c. lra.
    + intros i Hi.
      assert (K := step_second _ _ _ (c ^ 2 * G2 i) (DER i)
        (gradient_line s1 s2 T d X q (phi0 i 1%nat) (pminus phi phi0 i 1%nat) (rows d (phi0 i 2%nat)) (rows d (pminus
          phi phi0 i 2%nat))
          (pminus phi phi0 i 1%nat) (matvec d (rows d (pminus phi phi0 i 2%nat)) q) HT D2)).
      assert (K' := K ltac:(intros tau Ht; eapply Rle_trans; [right|exact (proj2 (REM i Hi tau Ht))]; f_equal;
        ring) 1 ltac:(lra)).
      cbv beta in K'. rewrite along_zero, along_end, C2, Rmult_1_l in K'. unfold Rdiv. lra.
    + unfold mean. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|]. right.
      apply Sum_ext; intros; ring.
  - intros B G L HB [HGB HGL] HL LL r. assert (Bpos : 0 <= B) by (eapply Rle_trans; [apply (RAD 0%nat)|apply HB; lia]).
    assert (R2 : r ^ 2 = rho 1%nat ^ 2 + rho 2%nat ^ 2) by (apply pow2_sqrt, Rplus_le_le_0_compat; apply pow2_ge_0).
    assert (R0 : 0 <= r) by apply sqrt_pos. destruct (paper_constants B Bpos) as (PC1 & PC2 & PC3).
    assert (M0 : 1 <= Rmax 1 B) by apply Rmax_l. repeat apply conj.
    + unfold mean. apply Rle_trans with (/ INR m * Sum m (fun _ => sigma1 * rho 0%nat * G1 B (rho 1%nat) (rho 2%nat) +
        / 2 * G)).
      * apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|]. apply Sum_le; intros i Hi.
        destruct (SG (radius i) (rho 1%nat) (rho 2%nat) (RAD i) Pu Pw) as (_ & _ & _ & MON & _).
          destruct (MON B (HB i Hi)) as (MG & MB).
        apply Rplus_le_compat; [apply Rmult_le_compat_l; [now apply Rmult_le_pos|exact MG]|]. apply Rmult_le_compat_l;
          [lra|].
        apply (HG i Hi). now apply MB.
      * right. rewrite Sum_const. field. lra.
    + apply Rplus_le_compat.
      * replace (sigma1 * Rmax 1 B * rho 0%nat * r) with (sigma1 * rho 0%nat * (Rmax 1 B * r)) by ring.
        apply Rmult_le_compat_l; [now apply Rmult_le_pos|].
          destruct (G1_max B (rho 1%nat) (rho 2%nat) Bpos Pu Pw) as (_ & s & Hs & <- & _).
        apply larger_of_two; try easy. lra.
      * rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. apply HGL. destruct (Req_dec r 0) as [Z|Z].
        -- assert (Zu : rho 1%nat = 0) by nra. assert (Zw : rho 2%nat = 0) by nra. intros s zeta _ _.
            rewrite Zu, Zw, Z. unfold G2_form, G1_form.
           right. ring.
        -- assert (RP : 0 < r) by lra. assert (RI : 0 <= / r) by (left; now apply Rinv_0_lt_compat).
           assert (K := bounds_G2_scale s1 s2 B (/ r * rho 1%nat) (/ r * rho 2%nat) L r).
           replace (r * (/ r * rho 1%nat)) with (rho 1%nat) in K by (field; lra).
           replace (r * (/ r * rho 2%nat)) with (rho 2%nat) in K by (field; lra). rewrite Rmult_comm. apply K, HL;
             try (now apply Rmult_le_pos).
           rewrite !Rpow_mult_distr, <- Rmult_plus_distr_l, <- R2, pow_inv. field. lra.
    + assert (RR := pow2_ge_0 r).
      assert (LB : L <= sigma2 * Rmax 1 (B ^ 2) + sigma1 * H_star B).
      { apply LL. intros x y Hx Hy XY. now apply (SG B x y Bpos Hx Hy). }
      assert (HS : H_star B <= 8 * sqrt (1 + B ^ 2)).
      { destruct (extremal_spec B Bpos) as (XS & _). unfold H_star, compromise. set (s := extremal_mean B) in *.
        assert (KA := kappa_above s ltac:(lra)). assert (KS := kappa_small). assert (S3 : 0 <= 1 - s ^ 2 <= 1) by nra.
        assert (SQ : sqrt (1 + s ^ 2 * B ^ 2) <= sqrt (1 + B ^ 2)).
        { apply sqrt_le_1_alt. assert (0 <= B ^ 2) by apply pow2_ge_0.
            assert (s ^ 2 * B ^ 2 <= 1 * B ^ 2) by (apply Rmult_le_compat_r; lra). lra. }
        assert (sqrt (1 + s ^ 2 * B ^ 2) * (1 - s ^ 2) <= sqrt (1 + B ^ 2) * 1) by (apply Rmult_le_compat;
          try apply sqrt_pos; lra).
        assert (2 * s * (1 - s ^ 2) * B <= 1 * B) by (apply Rmult_le_compat_r; lra). assert (K := Rmax_r 1 B). nra. }
      assert (RM : Rmax 1 (B ^ 2) <= 1 + B ^ 2) by (assert (0 <= B ^ 2) by apply pow2_ge_0; apply Rmax_lub; lra).
      assert (L2 : L <= sigma2 * (1 + B ^ 2) + 8 * sigma1 * sqrt (1 + B ^ 2)).
      { eapply Rle_trans; [exact LB|]. apply Rplus_le_compat; [now apply Rmult_le_compat_l|].
          rewrite (Rmult_comm 8), Rmult_assoc.
        now apply Rmult_le_compat_l. }
      assert (L20 : 0 <= sigma2 * (1 + B ^ 2) + 8 * sigma1 * sqrt (1 + B ^ 2)).
      { assert (0 <= B ^ 2) by apply pow2_ge_0. assert (Y := sqrt_pos (1 + B ^ 2)). apply Rplus_le_le_0_compat;
          repeat apply Rmult_le_pos; lra. }
      apply Rplus_le_compat.
      * apply Rmult_le_compat_r; [easy|]. apply Rmult_le_compat_r; [easy|]. now apply Rmult_le_compat_l.
      * apply Rmult_le_compat_r; [easy|]. lra.
Qed.
