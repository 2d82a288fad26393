(** The chapter preconditioned/tilting and its supplement: gradients, coordinates of a step, the best radius. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.matrices base.dependence.
From Shallow Require Import base.factors.
Open Scope R_scope.

(** (1/n) Σ_i f_i g_iᵀ *)
Definition outer_mean (n : nat) (f g : nat -> vector) : matrix := fun a b => / INR n * Sum n (fun i => f i a * g i b).

(** ẑ = Σ_j p_j c_j and C = Σ_j p_j c_j c_jᵀ − ẑẑᵀ, p the softmax weights of query x over k tokens: scores c_jᵀ Bᵀ x *)
Definition answer (d k : nat) (B c : matrix) (x : vector) : vector := pooled k d c x (transpose B).
Definition spread_of (d k : nat) (B c : matrix) (x : vector) : matrix := fun a b =>
  E k (weights k d c x (transpose B)) (fun j => c j a * c j b) - answer d k B c x a * answer d k B c x b.

(** E_i = A ẑ_i − y_i and L_n = 1/(2n) Σ ‖E_i‖² *)
Definition errors (d k : nat) (A B : matrix) (c : nat -> matrix) (x y : matrix) (i : nat) : vector := fun a =>
  matvec d A (answer d k B (c i) (x i)) a - y i a.
Definition context_loss (n m d k : nat) (A B : matrix) (c : nat -> matrix) (x y : matrix) : R :=
  / (2 * INR n) * Sum n (fun i => sq m (errors d k A B c x y i)).

(** The derivative of a softmax average along a line of scores is a covariance. *)
Lemma attended_slope k (s t : vector) X b : (0 < k)%nat ->
  is_derive (fun e => attended k (softmax k (fun j => s j + e * t j)) X b) 0
    (E k (softmax k s) (fun j => X j b * t j) - attended k (softmax k s) X b * E k (softmax k s) t).
Proof.
  intros Hk. eapply derive_value; [apply (mean_derive_const k s t (fun j => X j b) Hk)|].
  rewrite (E_ext k _ _ (fun j => X j b * t j - E k (softmax k s) t * X j b)) by (intros; ring).
  rewrite E_minus, E_scal. unfold attended. ring.
Qed.

Lemma E_matvec k d (p : vector) (f : matrix) (v : vector) :
  E k p (fun j => dot d (f j) v) = dot d (fun a => E k p (fun j => f j a)) v.
Proof.
  rewrite (dot_sym d _ v). etransitivity; [|apply (E_dot k d p f v)]. apply E_ext; intros; apply dot_sym.
Qed.

Lemma answer_slope d k B Y c x b : (0 < k)%nat -> is_derive (fun e => answer d k (shifted B Y e) c x b) 0
  (matvec d (spread_of d k B c x) (matvec d (transpose Y) x) b).
Proof.
  intros Hk. set (t := fun j => dot d (c j) (matvec d (transpose Y) x)).
  set (s := fun j => dot d (c j) (matvec d (transpose B) x)).
  apply (is_derive_ext (fun e => attended k (softmax k (fun j => s j + e * t j)) c b)).
  - intros e. unfold answer, pooled, weights. f_equal. f_equal. apply functional_extensionality; intros j.
    unfold s, t, dot. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext; intros.
    unfold matvec, transpose, shifted, mplus, mscal.
    rewrite (Sum_ext d (fun j0 => (B j0 i + e * Y j0 i) * x j0) (fun j0 => B j0 i * x j0 + e * (Y j0 i * x j0)))
      by (intros; ring).
    rewrite Sum_plus, Sum_scal. ring.
  - evar_last; [now apply attended_slope|]. unfold t. set (v := matvec d (transpose Y) x).
    set (p := weights k d c x (transpose B)). change (softmax k s) with p. rewrite E_matvec.
    rewrite (E_ext k p _ (fun j => dot d (fun a => c j b * c j a) v))
      by (intros; unfold dot; rewrite <- Sum_scal; apply Sum_ext; intros; ring).
    rewrite (E_matvec k d p (fun j a => c j b * c j a)). unfold matvec, dot. rewrite <- Sum_scal, <- Sum_minus.
    apply Sum_ext; intros a _. unfold spread_of, answer, pooled. fold p. unfold attended. ring.
Qed.

Lemma outer_dot n p q f g N : fdot p q (outer_mean n f g) N =
  / INR n * Sum n (fun i => dot p (f i) (matvec q N (g i))).
Proof.
  transitivity (Sum n (fun i => Sum p (fun a => / INR n * (f i a * matvec q N (g i) a)))).
  - rewrite (Sum_swap n p). apply Sum_ext; intros a _. unfold outer_mean.
    rewrite (Sum_ext q _ (fun b => Sum n (fun i => / INR n * (f i a * (N a b * g i b))))).
    2:{ intros b _. rewrite Rmult_assoc, (Rmult_comm (Sum n _)), <- !Sum_scal. apply Sum_ext; intros; ring. }
    rewrite Sum_swap. apply Sum_ext; intros i _. unfold matvec. rewrite <- !Sum_scal. apply Sum_ext; intros; ring.
  - rewrite <- Sum_scal. apply Sum_ext; intros i _. unfold dot. now rewrite Sum_scal.
Qed.

Lemma spread_sym d k B c x : transpose (spread_of d k B c x) = spread_of d k B c x.
Proof.
  matrix_ext. unfold transpose, spread_of. f_equal; [|ring]. apply E_ext; intros; ring.
Qed.

(** pa-proposition-d
    Covers: the whole statement, gradients as derivatives along every line.
    Reads: for n queries x_i, each with any context of k ≥ 1 tokens c_ij, weights p_ij = softmax_j(c_ijᵀ Bᵀ x_i), ẑ_i = Σ_j p_ij c_ij, E_i = Aẑ_i − y_i, C_i = Σ_j p_ij c_ij c_ijᵀ − ẑ_iẑ_iᵀ and L_n = 1/(2n) Σ ‖E_i‖²: the derivative of L_n at (A, B) in every direction (X, Y) is ⟨(1/n) Σ E_i ẑ_iᵀ, X⟩ + ⟨(1/n) Σ x_i (C_i Aᵀ E_i)ᵀ, Y⟩. The page has contexts of k tokens; n ≥ 1.
    Mistake: `(outer_mean n x (fun i => matvec m (transpose A) (Er i)))` for `(outer_mean n x (fun i => matvec d (Cv i) (matvec m (transpose A) (Er i))))`
    Mistake: `(outer_mean n z Er)` for `(outer_mean n Er z)`
*)
Theorem pa_proposition_d : forall n m d k A B (c : nat -> matrix) (x y : matrix) X Y, (0 < k)%nat ->
  let z := fun i => answer d k B (c i) (x i) in let Er := errors d k A B c x y in
  let Cv := fun i => spread_of d k B (c i) (x i) in
  is_derive (fun e => context_loss n m d k (shifted A X e) (shifted B Y e) c x y) 0
    (fdot m d (outer_mean n Er z) X +
     fdot d d (outer_mean n x (fun i => matvec d (Cv i) (matvec m (transpose A) (Er i)))) Y).
Proof.
  intros n m d k A B c x y X Y Hk z Er Cv.
  set (v := fun i => matvec d (transpose Y) (x i)).
  assert (S0 : forall M N, shifted M N 0 = M) by (intros; matrix_ext; unfold shifted, mplus, mscal; ring).
  assert (DE : forall i a, is_derive (fun e => errors d k (shifted A X e) (shifted B Y e) c x y i a) 0
    (matvec d X (z i) a + matvec d A (matvec d (Cv i) (v i)) a)).
  { intros i a.
    replace (_ + _) with (Sum d (fun l => X a l * z i l + A a l * matvec d (Cv i) (v i) l) - 0)
      by (rewrite Sum_plus; unfold matvec; ring).
    apply (is_derive_minus (fun e => matvec d (shifted A X e) (answer d k (shifted B Y e) (c i) (x i)) a)
        (fun _ => y i a)); [|apply (is_derive_const (y i a))].
    apply (Sum_derive d (fun e l => shifted A X e a l * answer d k (shifted B Y e) (c i) (x i) l)). intros l _.
    assert (DA : is_derive (fun e => shifted A X e a l) 0 (X a l))
      by (unfold shifted, mplus, mscal; auto_derive; [easy|ring]).
    assert (H := is_derive_mult _ _ 0 _ _ DA (answer_slope d k B Y (c i) (x i) l Hk) Rmult_comm).
    cbv beta in H. rewrite !S0 in H. exact H. }
  assert (DL : is_derive (fun e => context_loss n m d k (shifted A X e) (shifted B Y e) c x y) 0
    (/ (2 * INR n) * Sum n (fun i => Sum m (fun a =>
      2 * Er i a * (matvec d X (z i) a + matvec d A (matvec d (Cv i) (v i)) a))))).
  { apply (is_derive_scal (fun e => Sum n (fun i => sq m (errors d k (shifted A X e) (shifted B Y e) c x y i)))).
    apply (Sum_derive n (fun e i => sq m (errors d k (shifted A X e) (shifted B Y e) c x y i))). intros i _.
    apply (Sum_derive m (fun e a => errors d k (shifted A X e) (shifted B Y e) c x y i a ^ 2)). intros a _.
    assert (H := is_derive_pow _ 2 0 _ (DE i a)). cbv beta in H. rewrite !S0 in H. fold Er in H.
    evar_last; [exact H|]. simpl. ring. }
  evar_last; [exact DL|].
  rewrite !outer_dot, <- Rmult_plus_distr_l, <- Sum_plus, Rinv_mult, Rmult_assoc, (Rmult_comm (/ 2)), Rmult_assoc.
  f_equal. rewrite (Rmult_comm (Sum n _)), <- Sum_scal. apply Sum_ext; intros i _.
  assert (K : dot d (x i) (matvec d Y (matvec d (Cv i) (matvec m (transpose A) (Er i)))) =
    dot m (Er i) (matvec d A (matvec d (Cv i) (v i)))).
  { rewrite (dot_matvec d d Y (x i)). fold (v i). rewrite (dot_matvec d d (Cv i) (v i)), (dot_matvec m d A (Er i)).
    unfold Cv. rewrite spread_sym. apply dot_sym. }
  rewrite K. unfold dot. rewrite <- Sum_plus. rewrite <- (Sum_scal m (/ 2)) || rewrite (Rmult_comm _ (/ 2)),
    <- Sum_scal.
  apply Sum_ext; intros; field.
Qed.

(** pa-proposition-d-decomposition
    Covers: the whole statement.
    Reads: let q_i = Bᵀx_i, y_i = Mx_i + ω_i, F = ABᵀ − M, Σ̂ = (1/n) Σ x_i x_iᵀ, and e_i, H_i anything, H_i symmetric; ẑ_i = q_i + e_i, C_i = I + H_i, E_i = Aẑ_i − y_i, ∇_A = (1/n) Σ E_i ẑ_iᵀ, ∇_B = (1/n) Σ x_i (C_i Aᵀ E_i)ᵀ. Then ∇_A − FB and ∇_B − FᵀA are the sums of the page, entry by entry.
    Mistake: `+ Ae i a * e i b - om` for `+ Ae i a * q i b + Ae i a * e i b - om`
    Mistake: `(Fx i j + Ae i j + om i j)` for `(Fx i j + Ae i j - om i j)`
*)
Theorem pa_proposition_d_decomposition : forall n m d A B M (x om e : matrix) (H : nat -> matrix),
  (forall i, transpose (H i) = H i) ->
  let q := fun i => matvec d (transpose B) (x i) in let z := fun i => vplus (q i) (e i) in
  let F := mminus (matmul d A (transpose B)) M in let y := fun i => vplus (matvec d M (x i)) (om i) in
  let Er := fun i => vminus (matvec d A (z i)) (y i) in let Cv := fun i => mplus identity (H i) in
  let Sig := outer_mean n x x in let Fx := fun i => matvec d F (x i) in let Ae := fun i => matvec d A (e i) in
  (forall a b, (a < m)%nat -> (b < d)%nat ->
    outer_mean n Er z a b - matmul d F B a b = matmul d F (matmul d (mminus Sig identity) B) a b
    + / INR n * Sum n (fun i => Fx i a * e i b + Ae i a * q i b + Ae i a * e i b - om i a * (q i b + e i b))) /\
  (forall a b, (a < d)%nat -> (b < d)%nat ->
    outer_mean n x (fun i => matvec d (Cv i) (matvec m (transpose A) (Er i))) a b - matmul m (transpose F) A a b =
    matmul d (mminus Sig identity) (matmul m (transpose F) A) a b
    + / INR n * Sum n (fun i => x i a * (Sum m (fun j => (Ae i j - om i j) * A j b)
      + Sum m (fun j => (Fx i j + Ae i j - om i j) * matmul d A (H i) j b)))).
Proof.
  intros n m d A B M x om e H HH q z F y Er Cv Sig Fx Ae.
  assert (EE : forall i a, Er i a = Fx i a + Ae i a - om i a).
  { intros i a. unfold Er, y, z, Fx, Ae, F, q, vminus, vplus, matvec, mminus.
    rewrite (Sum_ext d (fun j => A a j * _) (fun j => A a j * Sum d (fun l => transpose B j l * x i l) + A a j * e i j))
      by (intros; ring).
    rewrite Sum_plus. rewrite (Sum_ext d (fun j => (matmul d A (transpose B) a j - M a j) * x i j)
      (fun j => matmul d A (transpose B) a j * x i j - M a j * x i j)) by (intros; ring). rewrite Sum_minus.
    replace (Sum d (fun j => A a j * Sum d (fun l => transpose B j l * x i l))) with
      (Sum d (fun j => matmul d A (transpose B) a j * x i j)); [ring|].
    exact (f_equal (fun f => f a) (matvec_matmul d d A (transpose B) (x i))). }
  assert (SX : forall N P a b, matmul d N (matmul d Sig P) a b =
    / INR n * Sum n (fun i => matvec d N (x i) a * matvec d (transpose P) (x i) b)).
  { intros N P a b. assert (ES : Sig = mscal (/ INR n) (matmul n (transpose x) x)) by reflexivity.
    rewrite ES. spread. unfold mscal. f_equal. rewrite matmul_assoc, <- matmul_assoc. apply Sum_ext; intros i _.
    f_equal; unfold matvec, matmul, transpose; apply Sum_ext; intros; ring. }
  split; intros a b Ha Hb.
  - assert (T : matmul d F (matmul d (mminus Sig identity) B) a b = matmul d F (matmul d Sig B) a b - matmul d F B a b).
    { spread. unfold mminus. f_equal. apply Sum_ext; intros l Hl. now rewrite identity_l. }
    rewrite T, SX. fold Fx. fold q. unfold outer_mean, z, vplus.
    rewrite (Sum_ext n (fun i => Er i a * _) (fun i => Fx i a * q i b + (Fx i a * e i b + Ae i a * q i b
      + Ae i a * e i b - om i a * (q i b + e i b)))) by (intros; rewrite EE; ring).
    rewrite Sum_plus. unfold q at 1. unfold Fx at 1. ring.
  - set (P := matmul m (transpose F) A).
    assert (T : matmul d (mminus Sig identity) P a b = matmul d Sig P a b - P a b).
    { spread. unfold mminus. f_equal. now apply identity_l. }
    assert (SP : matmul d Sig P a b = / INR n * Sum n (fun i => x i a * Sum m (fun j => Fx i j * A j b))).
    { assert (S0 := SX identity P a b). assert (ES : Sig = mscal (/ INR n) (matmul n (transpose x) x)) by reflexivity.
      rewrite ES. spread. unfold mscal. f_equal. rewrite matmul_assoc. apply Sum_ext; intros i _. unfold transpose at 1.
      f_equal. unfold P. rewrite <- matmul_assoc. apply Sum_ext; intros j _. f_equal.
      unfold Fx, matvec, matmul, transpose.
      apply Sum_ext; intros; ring. }
    rewrite T, SP. unfold outer_mean.
    rewrite (Sum_ext n (fun i => x i a * matvec d (Cv i) _ b) (fun i => x i a * Sum m (fun j => Fx i j * A j b) +
      x i a * (Sum m (fun j => (Ae i j - om i j) * A j b)
      + Sum m (fun j => (Fx i j + Ae i j - om i j) * matmul d A (H i) j b)))); [rewrite Sum_plus; ring|].
    intros i _. rewrite <- Rmult_plus_distr_l. f_equal. unfold Cv.
    transitivity (matvec m (transpose A) (Er i) b + matvec d (H i) (matvec m (transpose A) (Er i)) b).
    { unfold matvec at 1. rewrite (Sum_ext d _ (fun l => identity b l * matvec m (transpose A) (Er i) l
        + H i b l * matvec m (transpose A) (Er i) l)) by (intros; unfold mplus; ring). rewrite Sum_plus. f_equal.
      rewrite (Sum_single d _ b Hb).
      - unfold identity, delta. rewrite Nat.eqb_refl. ring.
      - intros l _ Hl. apply not_eq_sym, Nat.eqb_neq in Hl. unfold identity, delta. rewrite Hl. ring. }
    rewrite <- Rplus_assoc, <- Sum_plus. f_equal.
    + apply Sum_ext; intros. rewrite EE. unfold transpose. ring.
    + rewrite <- matvec_matmul. apply Sum_ext; intros j _. rewrite EE, Rmult_comm. f_equal.
      rewrite <- (HH i) at 1. unfold matmul, transpose. apply Sum_ext; intros; ring.
Qed.

(** pa-proposition-c
    Covers: the whole statement, for every symmetric root R of P that has an inverse (that P ≻ 0 has one is taken as known), gradients as derivatives along every line.
    Reads: let 𝓛 be a function of the m × d matrix A and the d × d matrix B with gradients G_A, G_B at (A, B) (derivatives in all directions), R symmetric with inverse R⁻¹, P = RR. In the coordinates Ã = AR, B̃ = RBR the function has the gradients G_A R⁻¹ and R⁻¹ G_B R⁻¹, and a step −η along them, read in A = ÃR⁻¹ and B = R⁻¹B̃R⁻¹, is A − η G_A P⁻¹ and B − η P⁻¹ G_B P⁻¹. The page's R is the positive root P^{1/2}.
    Mistake: `(mscal eta (matmul d GA Ri)))` for `(mscal eta (matmul d GA (matmul d Ri Ri))))`
    Mistake: `let HA := matmul d GA Rt in` for `let HA := matmul d GA Ri in`
*)
Theorem pa_proposition_c : forall m d (L : matrix -> matrix -> R) A B GA GB (Rt Ri : matrix) eta,
  (forall A1 A2 B1 B2, same m d A1 A2 -> same d d B1 B2 -> L A1 B1 = L A2 B2) ->
  (forall X Y, is_derive (fun e => L (shifted A X e) (shifted B Y e)) 0 (fdot m d GA X + fdot d d GB Y)) ->
  transpose Rt = Rt -> transpose Ri = Ri -> same d d (matmul d Rt Ri) identity -> same d d (matmul d Ri Rt) identity ->
  let Lt := fun At Bt => L (matmul d At Ri) (matmul d Ri (matmul d Bt Ri)) in
  let At := matmul d A Rt in let Bt := matmul d Rt (matmul d B Rt) in
  let HA := matmul d GA Ri in let HB := matmul d Ri (matmul d GB Ri) in
  (forall X Y, is_derive (fun e => Lt (shifted At X e) (shifted Bt Y e)) 0 (fdot m d HA X + fdot d d HB Y)) /\
  same m d (matmul d (mminus At (mscal eta HA)) Ri) (mminus A (mscal eta (matmul d GA (matmul d Ri Ri)))) /\
  same d d (matmul d Ri (matmul d (mminus Bt (mscal eta HB)) Ri))
    (mminus B (mscal eta (matmul d (matmul d Ri Ri) (matmul d GB (matmul d Ri Ri))))).
Proof.
  intros m d L A B GA GB Rt Ri eta HL HG HR HRi H1 H2 Lt At Bt HA HB.
  assert (CA : forall n N i j, (i < n)%nat -> (j < d)%nat -> matmul d (matmul d N Rt) Ri i j = N i j).
  { intros n N i j Hi Hj. rewrite matmul_assoc. transitivity (matmul d N identity i j); [|now apply identity_r].
    apply Sum_ext; intros l Hl. now rewrite H1. }
  assert (CB : forall N i j, (i < d)%nat -> (j < d)%nat ->
    matmul d Ri (matmul d (matmul d Rt (matmul d N Rt)) Ri) i j = N i j).
  { intros N i j Hi Hj. rewrite !matmul_assoc, <- (matmul_assoc d d Ri Rt).
    transitivity (matmul d identity (matmul d N (matmul d Rt Ri)) i j).
    - apply Sum_ext; intros l Hl. now rewrite H2.
    - rewrite identity_l by easy. rewrite <- matmul_assoc. now apply (CA d). }
  split; [|split].
  - intros X Y. specialize (HG (matmul d X Ri) (matmul d Ri (matmul d Y Ri))).
    replace (fdot m d HA X + fdot d d HB Y) with
      (fdot m d GA (matmul d X Ri) + fdot d d GB (matmul d Ri (matmul d Y Ri))).
    + eapply is_derive_ext; [|exact HG]. intros e. unfold Lt. apply HL.
      * intros i j Hi Hj. unfold shifted. spread. unfold mplus, mscal. unfold At. now rewrite (CA m).
      * intros i j Hi Hj. unfold shifted. spread. unfold mplus, mscal. unfold Bt. now rewrite CB.
    + unfold HA, HB. rewrite !(fdot_sym _ _ _ X), !(fdot_sym _ _ _ Y). f_equal.
      * rewrite fdot_sym, fdot_right. now rewrite HRi.
      * rewrite fdot_sym, fdot_left, fdot_right, HRi. now rewrite matmul_assoc.
  - intros i j Hi Hj. spread. unfold mminus, mscal, At, HA. rewrite (CA m) by easy. now rewrite matmul_assoc.
  - intros i j Hi Hj. spread. unfold mminus, mscal, Bt, HB. rewrite CB by easy. now rewrite !matmul_assoc.
Qed.
