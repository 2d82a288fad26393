(** The chapter preconditioned/ingredients: the imbalance, the start by singular vectors, the price of a context. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.frobenius base.two_factors base.rotated
  base.quadratic base.isotropic.
Open Scope R_scope.

(** WC + CW *)
Definition anticommutator (r : nat) (W C : matrix) : matrix := mplus (matmul r W C) (matmul r C W).

(** f_0 = ½‖UVᵀ − M‖², the loss with λ = 0, and a path of factors from gradient descent on it *)
Definition descends (eta : R) (m d r : nat) (M : matrix) (U V : nat -> matrix) : Prop := forall t,
  U (S t) = mminus (U t) (mscal eta (grad_U 0 m d r M (U t) (V t))) /\
  V (S t) = mminus (V t) (mscal eta (grad_V 0 m d r M (U t) (V t))).

(** After a step −η g the imbalance is C − η (first order) + η² (g_Uᵀ g_U − g_Vᵀ g_V). *)
Lemma imbalance_step eta m d U V GU GV :
  imbalance m d (mminus U (mscal eta GU)) (mminus V (mscal eta GV)) =
  mplus (mminus (imbalance m d U V) (mscal eta (mminus (mplus (matmul m (transpose U) GU) (matmul m (transpose GU) U))
    (mplus (matmul d (transpose V) GV) (matmul d (transpose GV) V))))) (mscal (eta ^ 2) (imbalance m d GU GV)).
Proof. unfold imbalance. spread. matrix_ext. unfold mplus, mminus, mscal. ring. Qed.

(** The first order of exact gradients is λ (WC + CW). *)
Lemma imbalance_first lam m d r M U V :
  let GU := grad_U lam m d r M U V in let GV := grad_V lam m d r M U V in
  mminus (mplus (matmul m (transpose U) GU) (matmul m (transpose GU) U))
    (mplus (matmul d (transpose V) GV) (matmul d (transpose GV) V)) =
  mscal lam (anticommutator r (gram m d U V) (imbalance m d U V)).
Proof.
  intros GU GV. unfold GU, GV, grad_U, grad_V, anticommutator, gram.
  assert (HC := imbalance_sym m d U V). set (C := imbalance m d U V) in *. spread. rewrite HC.
  rewrite !matmul_assoc. matrix_ext. unfold mplus, mminus, mscal. ring.
Qed.

Lemma imbalance_bound m d r A B : fnorm r r (imbalance m d A B) <= frob2 m r A + frob2 d r B.
Proof.
  unfold imbalance. eapply Rle_trans; [apply fnorm_opp|]. apply Rplus_le_compat; apply fnorm_gram.
Qed.

(** U' = −∇_U, V' = −∇_V at all times t ≥ 0, entry by entry *)
Definition flows (lam : R) (m d r : nat) (M : matrix) (U V : R -> matrix) : Prop := forall t, 0 <= t ->
  (forall i j, (i < m)%nat -> (j < r)%nat -> is_derive (fun t => U t i j) t (- grad_U lam m d r M (U t) (V t) i j)) /\
  (forall i j, (i < d)%nat -> (j < r)%nat -> is_derive (fun t => V t i j) t (- grad_V lam m d r M (U t) (V t) i j)).

(** (ZᵀZ)' = Z'ᵀZ + ZᵀZ' where Z' = −G *)
Lemma gram_flow m (Z : R -> matrix) G t i j :
  (forall l, (l < m)%nat -> is_derive (fun t => Z t l i) t (- G l i)) ->
  (forall l, (l < m)%nat -> is_derive (fun t => Z t l j) t (- G l j)) ->
  is_derive (fun t => matmul m (transpose (Z t)) (Z t) i j) t
    (- (matmul m (transpose (Z t)) G i j + matmul m (transpose G) (Z t) i j)).
Proof.
  intros Hi Hj. replace (- _) with (Sum m (fun l => - G l i * Z t l j + Z t l i * - G l j)).
  - apply (Sum_derive m (fun t l => Z t l i * Z t l j)). intros l Hl.
    apply (is_derive_mult (fun t => Z t l i) (fun t => Z t l j)); auto. intros; apply Rmult_comm.
  - unfold matmul, transpose. rewrite <- Sum_plus.
    transitivity (-1 * Sum m (fun l => Z t l i * G l j + G l i * Z t l j)); [|ring].
    rewrite <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

(** Along the flow C' = −λ (WC + CW). *)
Lemma imbalance_flow lam m d r M U V t : flows lam m d r M U V -> 0 <= t -> forall i j, (i < r)%nat -> (j < r)%nat ->
  is_derive (fun t => imbalance m d (U t) (V t) i j) t
    (- lam * anticommutator r (gram m d (U t) (V t)) (imbalance m d (U t) (V t)) i j).
Proof.
  intros H Ht i j Hi Hj. destruct (H t Ht) as [HU HV].
  assert (E := imbalance_first lam m d r M (U t) (V t)). cbv zeta in E.
  apply (f_equal (fun A => A i j)) in E. unfold mminus, mplus, mscal in E.
  rewrite Ropp_mult_distr_l_reverse, <- E.
  set (GU := grad_U _ _ _ _ _ _ _) in *. set (GV := grad_V _ _ _ _ _ _ _) in *.
  replace (- _) with (- (matmul m (transpose (U t)) GU i j + matmul m (transpose GU) (U t) i j)
    - - (matmul d (transpose (V t)) GV i j + matmul d (transpose GV) (V t) i j)) by ring.
  apply (is_derive_minus (fun t => matmul m (transpose (U t)) (U t) i j) (fun t => matmul d (transpose (V t)) (V t) i
    j));
    apply gram_flow; intros; auto.
Qed.

Lemma frob2_derive r (C : R -> matrix) C' t :
  (forall i j, (i < r)%nat -> (j < r)%nat -> is_derive (fun t => C t i j) t (C' i j)) ->
  is_derive (fun t => frob2 r r (C t)) t (2 * fdot r r (C t) C').
Proof.
  intros H. replace (2 * _) with (Sum r (fun i => Sum r (fun j => 2 * (C t i j * C' i j)))).
  - apply (Sum_derive r (fun t i => Sum r (fun j => C t i j ^ 2))); intros i Hi.
    apply (Sum_derive r (fun t j => C t i j ^ 2)); intros j Hj.
    replace (2 * (C t i j * C' i j)) with (INR 2 * C' i j * C t i j ^ pred 2) by (simpl; ring).
    apply (is_derive_pow (fun t => C t i j) 2); auto.
  - unfold fdot. rewrite <- Sum_scal. apply Sum_ext; intros. now rewrite Sum_scal.
Qed.

(** ⟨C, WC + CW⟩ ≥ 2w ‖C‖² if W ⪰ w and C is symmetric *)
Lemma anticommutator_below r W C w : transpose C = C -> transpose W = W ->
  (forall v, w * sq r v <= dot r v (matvec r W v)) -> 2 * w * frob2 r r C <= fdot r r C (anticommutator r W C).
Proof.
  intros HC HW H. unfold anticommutator. rewrite fdot_plus_r.
  assert (E : fdot r r C (matmul r C W) = fdot r r C (matmul r W C)).
  { rewrite (fdot_transpose r r C (matmul r C W)), transpose_matmul. now rewrite HC, HW. }
  rewrite E. enough (w * frob2 r r C <= fdot r r C (matmul r W C)) by lra.
  unfold fdot, frob2. rewrite (Sum_swap r r (fun i j => C i j * _)), (Sum_swap r r (fun i j => C i j ^ 2)), <- Sum_scal.
  apply Sum_le; intros j _. apply (H (fun i => C i j)).
Qed.

Lemma slope_sum lam m d r M U V :
  slope2 lam m d r M U V = frob2 m r (grad_U lam m d r M U V) + frob2 d r (grad_V lam m d r M U V).
Proof. reflexivity. Qed.

(** Steps of descent on f_0 change the imbalance by η² times the slope at most. *)
Lemma imbalance_descent eta m d r M U V t : descends eta m d r M U V ->
  fnorm r r (imbalance m d (U (S t)) (V (S t))) <=
  fnorm r r (imbalance m d (U t) (V t)) + eta ^ 2 * slope2 0 m d r M (U t) (V t).
Proof.
  intros H. destruct (H t) as [EU EV]. rewrite EU, EV, imbalance_step.
  assert (E := imbalance_first 0 m d r M (U t) (V t)). cbv zeta in E. rewrite E.
  replace (mminus (imbalance m d (U t) (V t)) _) with (imbalance m d (U t) (V t))
    by (matrix_ext; unfold mminus, mscal; ring).
  eapply Rle_trans; [apply fnorm_triangle|]. apply Rplus_le_compat_l.
  rewrite fnorm_scal, Rabs_pos_eq by apply pow2_ge_0.
  apply Rmult_le_compat_l; [apply pow2_ge_0|apply imbalance_bound].
Qed.

(** pa-theorem-x
    Covers: a part: the change of C in a step, the damping and conservation of C along gradient flow, that the flow of λ = 0 from C = 0 solves the equation of every λ, and the bound for descent with its best constant; on the page: that solutions of the flow are unique, so that these flows are one and the same.
    Reads: with W = UᵀU + VᵀV, C = UᵀU − VᵀV and g = ∇f_λ + ξ, after a step of size η along g the imbalance C is C − ηλ(WC + CW) − η(Uᵀξ_U + ξ_UᵀU − Vᵀξ_V − ξ_VᵀV) + η²(g_Uᵀg_U − g_Vᵀg_V). (1) Along gradient flow of f_λ, λ ≥ 0, if W(t) ⪰ w(t) and I is an integral of w with I(0) = 0, then ‖C_t‖ ≤ ‖C_0‖ exp(−2λ I(t)) for t ≥ 0; at λ = 0, C is constant; where C = 0 the gradients are the same for all λ. (2) Under descent on f_0 from C_0 = 0 with steps that satisfy f_0(z_{t+1}) ≤ f_0(z_t) − η/2 ‖∇f_0(z_t)‖², ‖C_t‖ ≤ 2η f_0(z_0) for all t; and there is such a descent with f_0(z_0) > 0 and ‖C_1‖ = 2η f_0(z_0).
    Mistake: `mscal (2 * eta * lam) (anticommutator` for `mscal (eta * lam) (anticommutator`
    Mistake: `exp (- 4 * lam * I t)` for `exp (- 2 * lam * I t)`
    Mistake: `<= eta * loss` for `<= 2 * eta * loss`
*)
Theorem pa_theorem_x : forall m d r M,
  (forall lam eta U V XU XV, let C := imbalance m d U V in let W := gram m d U V in
    let gU := mplus (grad_U lam m d r M U V) XU in let gV := mplus (grad_V lam m d r M U V) XV in
    imbalance m d (mminus U (mscal eta gU)) (mminus V (mscal eta gV)) =
    mplus (mminus (mminus C (mscal (eta * lam) (anticommutator r W C)))
      (mscal eta (mminus (mplus (matmul m (transpose U) XU) (matmul m (transpose XU) U))
        (mplus (matmul d (transpose V) XV) (matmul d (transpose XV) V)))))
      (mscal (eta ^ 2) (mminus (matmul m (transpose gU) gU) (matmul d (transpose gV) gV)))) /\
  (forall lam U V (w I : R -> R), 0 <= lam -> flows lam m d r M U V ->
    (forall t, 0 <= t -> is_derive I t (w t) /\
      forall v, w t * sq r v <= dot r v (matvec r (gram m d (U t) (V t)) v)) -> I 0 = 0 ->
    forall t, 0 <= t -> fnorm r r (imbalance m d (U t) (V t)) <=
      fnorm r r (imbalance m d (U 0) (V 0)) * exp (- 2 * lam * I t)) /\
  (forall U V, flows 0 m d r M U V -> forall t i j, 0 <= t -> (i < r)%nat -> (j < r)%nat ->
    imbalance m d (U t) (V t) i j = imbalance m d (U 0) (V 0) i j) /\
  (forall lam U V, same r r (imbalance m d U V) zero ->
    same m r (grad_U lam m d r M U V) (grad_U 0 m d r M U V) /\
    same d r (grad_V lam m d r M U V) (grad_V 0 m d r M U V)) /\
  (forall eta U V, 0 < eta -> descends eta m d r M U V -> same r r (imbalance m d (U O) (V O)) zero ->
    (forall t, loss 0 m d r M (U (S t)) (V (S t)) <=
      loss 0 m d r M (U t) (V t) - eta / 2 * slope2 0 m d r M (U t) (V t)) ->
    forall t, fnorm r r (imbalance m d (U t) (V t)) <= 2 * eta * loss 0 m d r M (U O) (V O)) /\
  (exists N eta U V, 0 < eta /\ descends eta 2 1 1 N U V /\ same 1 1 (imbalance 2 1 (U O) (V O)) zero /\
    (forall t, loss 0 2 1 1 N (U (S t)) (V (S t)) <=
      loss 0 2 1 1 N (U t) (V t) - eta / 2 * slope2 0 2 1 1 N (U t) (V t)) /\
    0 < loss 0 2 1 1 N (U O) (V O) /\
    fnorm 1 1 (imbalance 2 1 (U 1%nat) (V 1%nat)) = 2 * eta * loss 0 2 1 1 N (U O) (V O)).
Proof.
  intros m d r M. split; [|split; [|split; [|split; [|split]]]].
  - intros lam eta U V XU XV C W gU gV. rewrite imbalance_step.
    assert (E := imbalance_first lam m d r M U V). cbv zeta in E. fold C W in E |- *.
    unfold gU at 1 2, gV at 1 2. spread. matrix_ext. apply (f_equal (fun A => A x x0)) in E.
    unfold imbalance at 1. unfold mplus, mminus, mscal in *. fold C.
    transitivity (C x x0 - eta * (lam * anticommutator r W C x x0) - eta * (matmul m (transpose U) XU x x0
      + matmul m (transpose XU) U x x0 - (matmul d (transpose V) XV x x0 + matmul d (transpose XV) V x x0))
      + eta ^ 2 * (matmul m (transpose gU) gU x x0 - matmul d (transpose gV) gV x x0)); [rewrite <- E|]; ring.
  - intros lam U V w I Hl HF HI I0 T HT. set (C := fun t => imbalance m d (U t) (V t)).
    set (W := fun t => gram m d (U t) (V t)).
    set (h := fun t => exp (4 * lam * I t) * frob2 r r (C t)).
    assert (D : forall t, 0 <= t -> exists l, l <= 0 /\ is_derive h t l).
    { intros t Ht. destruct (HI t Ht) as [DI HW].
      assert (DC := frob2_derive r C (mscal (- lam) (anticommutator r (W t) (C t))) t
        (fun i j Hi Hj => imbalance_flow lam m d r M U V t HF Ht i j Hi Hj)).
      rewrite fdot_scal_r in DC.
      assert (B := anticommutator_below r (W t) (C t) (w t) (imbalance_sym _ _ _ _) (gram_sym _ _ _ _) HW).
      exists (exp (4 * lam * I t) * (4 * lam * w t) * frob2 r r (C t)
        + exp (4 * lam * I t) * (2 * (- lam * fdot r r (C t) (anticommutator r (W t) (C t))))). split.
      - assert (X := exp_pos (4 * lam * I t)). set (q := fdot _ _ _ _) in *. set (c := frob2 _ _ _) in *.
        replace (_ + _) with (- (exp (4 * lam * I t) * (2 * lam) * (q - 2 * w t * c))) by ring.
        enough (0 <= exp (4 * lam * I t) * (2 * lam) * (q - 2 * w t * c)) by lra.
        apply Rmult_le_pos; [apply Rmult_le_pos|]; lra.
      - apply (is_derive_mult (fun t => exp (4 * lam * I t)) (fun t => frob2 r r (C t))); [|exact DC|intros;
        apply Rmult_comm].
        evar_last; [apply (is_derive_comp exp (fun t => 4 * lam * I t));
          [apply is_derive_exp|apply (is_derive_scal I), DI]|]. unfold scal; simpl; unfold mult; simpl. ring. }
    assert (K : h T <= h 0).
    { destruct (Req_dec T 0) as [->|HT0]; [lra|].
      destruct (MVT_gen h 0 T (Derive h)) as (c & Hc & E).
      - rewrite Rmin_left, Rmax_right by lra. intros x Hx. destruct (D x ltac:(lra)) as (l & _ & Hx').
        rewrite (is_derive_unique _ _ _ Hx'). exact Hx'.
      - rewrite Rmin_left, Rmax_right by lra. intros x Hx. destruct (D x ltac:(lra)) as (l & _ & Hx').
        apply continuity_pt_filterlim, (ex_derive_continuous h). now exists l.
      - rewrite Rmin_left, Rmax_right in Hc by lra. destruct (D c ltac:(lra)) as (l & Hl' & Hc').
        rewrite (is_derive_unique _ _ _ Hc') in E. nra. }
    unfold h in K. rewrite I0, Rmult_0_r, exp_0, Rmult_1_l in K. fold (C T) (C 0).
    apply Rsqr_incr_0_var; [|apply Rmult_le_pos; [apply sqrt_pos|left; apply exp_pos]].
    rewrite !Rsqr_pow2, Rpow_mult_distr, !fnorm_sq.
    apply Rmult_le_reg_l with (exp (4 * lam * I T)); [apply exp_pos|]. eapply Rle_trans; [exact K|].
    apply Req_le. replace (exp (- 2 * lam * I T) ^ 2) with (exp (- (4 * lam * I T))).
    + rewrite exp_Ropp. field. apply Rgt_not_eq, exp_pos.
    + simpl. rewrite Rmult_1_r, <- exp_plus. f_equal. ring.
  - intros U V HF t i j Ht Hi Hj. destruct (Req_dec t 0) as [->|Ht0]; [easy|].
    assert (D : forall x, 0 <= x -> is_derive (fun t => imbalance m d (U t) (V t) i j) x 0).
    { intros x Hx. evar_last; [apply (imbalance_flow 0 m d r M U V x HF Hx i j Hi Hj)|]. rewrite Ropp_0.
    apply Rmult_0_l. }
    destruct (MVT_gen (fun t => imbalance m d (U t) (V t) i j) 0 t (fun _ => 0)) as (c & _ & E).
    + rewrite Rmin_left, Rmax_right by lra. intros x Hx. apply D. lra.
    + rewrite Rmin_left, Rmax_right by lra. intros x Hx.
      apply continuity_pt_filterlim. apply (ex_derive_continuous (fun t => imbalance m d (U t) (V t) i j)).
      exists 0. apply D. lra.
    + cbv beta in E. lra.
  - intros lam U V HC. assert (Z : forall A i j, (j < r)%nat -> matmul r A (imbalance m d U V) i j = 0).
    { intros A i j Hj. unfold matmul. transitivity (Sum r (fun _ => 0)); [|apply Sum_zero].
      apply Sum_ext; intros l Hl. rewrite HC by easy. unfold zero. ring. }
    split; intros i j Hi Hj; unfold grad_U, grad_V, mplus, mminus, mscal; rewrite Z by easy; ring.
  - intros eta U V He HD HC Hs t.
    assert (K : fnorm r r (imbalance m d (U t) (V t)) <=
      2 * eta * (loss 0 m d r M (U O) (V O) - loss 0 m d r M (U t) (V t))).
    { induction t.
      - unfold fnorm. rewrite (frob2_none r r _ HC), sqrt_0. lra.
      - assert (B := imbalance_descent eta m d r M U V t HD). specialize (Hs t).
        assert (eta * (eta / 2 * slope2 0 m d r M (U t) (V t)) <=
          eta * (loss 0 m d r M (U t) (V t) - loss 0 m d r M (U (S t)) (V (S t)))) by (apply Rmult_le_compat_l; lra).
        lra. }
    assert (P : 0 <= loss 0 m d r M (U t) (V t)).
    { unfold loss. assert (Q := frob2_ge0 m d (residual r M (U t) (V t))). lra. }
    assert (0 <= eta * loss 0 m d r M (U t) (V t)) by (apply Rmult_le_pos; lra). lra.
  - exists (fun _ _ => 1), 1, (fun t i _ => if Nat.eqb t 0 then if Nat.eqb i 0 then 1 else 0 else 1), (fun _ _ _ => 1).
    split; [lra|split; [|split; [|split; [|split]]]].
    + intros t. split; matrix_ext; unfold mminus, mscal, grad_U, grad_V, residual, imbalance, mplus, mminus, matmul,
        transpose, mscal; destruct t; simpl; try destruct (Nat.eqb x 0); ring.
    + intros i j Hi Hj. unfold zero, imbalance, mminus, matmul, transpose. simpl. ring.
    + intros t. unfold loss, slope2, grad_U, grad_V, residual, imbalance, frob2, mplus,
        mminus, matmul, transpose, mscal.
      destruct t; simpl; lra.
    + unfold loss, residual, imbalance, frob2, mminus, matmul, transpose. simpl. lra.
    + unfold fnorm, loss, residual, imbalance, frob2, mminus, matmul, transpose. simpl.
      replace (_ + _) with (1 * 1) at 1 by ring. rewrite sqrt_square by lra. field.
Qed.

(** ‖UᵀU ϱ − VᵀV/ϱ‖² λ/4 with ϱ = ‖V‖/‖U‖: the scale-invariant regulariser *)
Definition scale_free (lam : R) (m d r : nat) (U V : matrix) : R :=
  let rho := fnorm d r V / fnorm m r U in
  lam / 4 * frob2 r r (mminus (mscal rho (matmul m (transpose U) U)) (mscal (/ rho) (matmul d (transpose V) V))).

(** pa-proposition-t
    Covers: a part: the first claim, that the regulariser does not change with the scale; on the page: its gradient and the spectrum at a balanced optimum.
    Reads: for U, V ≠ 0, R_si(hU, V/h) = R_si(U, V) for h > 0; with ϱ = ‖V‖/‖U‖ and R = λ/4 ‖C‖², R_si(U, V) = R(√ϱ U, V/√ϱ), and there both factors have the same norm.
    Mistake: `4 * frob2 r r (imbalance m d (mscal rho U)` for `4 * frob2 r r (imbalance m d (mscal (sqrt rho) U)`
    Mistake: `mscal (/ h ^ 2) V` for `mscal (/ h) V`
*)
Theorem pa_proposition_t : forall lam m d r U V, frob2 m r U <> 0 -> frob2 d r V <> 0 ->
  (forall h, 0 < h -> scale_free lam m d r (mscal h U) (mscal (/ h) V) = scale_free lam m d r U V) /\
  let rho := fnorm d r V / fnorm m r U in
  scale_free lam m d r U V =
    lam / 4 * frob2 r r (imbalance m d (mscal (sqrt rho) U) (mscal (/ sqrt rho) V)) /\
  fnorm m r (mscal (sqrt rho) U) = fnorm d r (mscal (/ sqrt rho) V).
Proof.
  intros lam m d r U V HU HV.
  assert (PU : 0 < fnorm m r U) by (apply sqrt_lt_R0; assert (K := frob2_ge0 m r U); lra).
  assert (PV : 0 < fnorm d r V) by (apply sqrt_lt_R0; assert (K := frob2_ge0 d r V); lra).
  split.
  - intros h Hh. unfold scale_free. rewrite !fnorm_scal, !Rabs_pos_eq by (left;
    assumption || now apply Rinv_0_lt_compat).
    f_equal. f_equal. spread. matrix_ext. unfold mminus, mscal. field. repeat split; lra.
  - intros rho. assert (Hr : 0 < rho) by now apply Rdiv_lt_0_compat.
    assert (Sr : 0 < sqrt rho) by now apply sqrt_lt_R0. assert (Er := sqrt_sqrt rho (Rlt_le _ _ Hr)). split.
    + unfold scale_free, imbalance. fold rho. f_equal. f_equal. spread. matrix_ext. unfold mminus, mscal.
      rewrite <- Er at 1 2. field. lra.
    + rewrite !fnorm_scal, !Rabs_pos_eq by (left; assumption || now apply Rinv_0_lt_compat).
      apply Rmult_eq_reg_r with (sqrt rho); [|lra].
      transitivity (sqrt rho * sqrt rho * fnorm m r U); [ring|]. rewrite Er. unfold rho at 1. field. lra.
Qed.

(** ℓ(U, V; z) = 1/(2n) Σ ‖cU ẑ_i − y_i‖² with ẑ_i = Σ_j softmax_j(z_jᵀVᵀz_i / c) z_j: the loss of the layer on
  whitened tokens z_1, …, z_n, the rows of Z, at scale c *)
Definition layer_loss (n d m : nat) (c : R) (Z Y U V : matrix) : R :=
  / (2 * INR n) * Sum n (fun i => sq m (fun a => c * matvec d U (attended n (softmax n (fun j =>
    / c * matmul d Z (matmul d (transpose V) (transpose Z)) j i)) Z) a - Y i a)).

Lemma layer_turned n d m c Z Y O U V : layer_loss n d m c (matmul d Z (transpose O)) Y U V =
  layer_loss n d m c Z Y (matmul d U O) (matmul d (transpose O) (matmul d V O)).
Proof.
  unfold layer_loss. f_equal. apply Sum_ext; intros i _. apply Sum_ext; intros a _. f_equal. f_equal. f_equal.
  assert (HE : matmul d (matmul d Z (transpose O)) (matmul d (transpose V) (transpose (matmul d Z (transpose O)))) =
    matmul d Z (matmul d (transpose (matmul d (transpose O) (matmul d V O))) (transpose Z))).
  { spread. now rewrite !matmul_assoc. }
  rewrite HE, matvec_matmul. apply Sum_ext; intros l _. f_equal. unfold attended, E, matvec, matmul, transpose.
  set (p := softmax _ _).
  rewrite (Sum_ext n _ (fun t => Sum d (fun j => p t * (Z t j * O l j)))) by (intros; now rewrite <- Sum_scal).
  rewrite Sum_swap. apply Sum_ext; intros. rewrite <- Sum_scal. apply Sum_ext; intros. ring.
Qed.

Lemma loss_turned lam m d r M U V O : orthogonal r O ->
  loss lam m d r M (matmul r U O) (matmul r V O) = loss lam m d r M U V.
Proof.
  intros HO. unfold loss. f_equal.
  - f_equal. apply frob2_ext. intros i j _ _. unfold residual, mminus. f_equal. rewrite transpose_matmul, matmul_assoc.
    apply Sum_ext; intros l Hl. f_equal.
    assert (K := orthogonal_cancel r (S j) O (transpose V) HO l j Hl (le_n _)). exact K.
  - f_equal. replace (imbalance m d (matmul r U O) (matmul r V O)) with
      (matmul r (transpose O) (matmul r (imbalance m d U V) O)).
    + rewrite frob2_fdot, (fdot_rotate r r O _ _ HO), <- frob2_fdot, frob2_transpose', transpose_matmul, imbalance_sym.
      now rewrite frob2_fdot, (fdot_rotate r r O _ _ HO), <- frob2_fdot.
    + unfold imbalance. spread. now rewrite !matmul_assoc.
Qed.

Lemma layer_loss_ext n d m c Z Y U V V' : same d d V V' -> layer_loss n d m c Z Y U V = layer_loss n d m c Z Y U V'.
Proof.
  intros H. unfold layer_loss. f_equal. apply Sum_ext; intros i _. apply Sum_ext; intros a _. f_equal. f_equal. f_equal.
  apply Sum_ext; intros l _. f_equal. unfold attended, E. apply Sum_ext; intros t _. f_equal. f_equal.
  apply functional_extensionality; intros j. f_equal. apply Sum_ext; intros b Hb. f_equal.
  apply Sum_ext; intros e He. unfold transpose. now rewrite H.
Qed.

(** One coordinate, two tokens √2 and 0 with labels √2 s and 0 *)
Lemma layer_loss_two c s u v : c <> 0 ->
  layer_loss 2 1 1 c (fun i _ => if Nat.eqb i 0 then sqrt 2 else 0) (fun i _ => if Nat.eqb i 0 then sqrt 2 * s else 0)
    (fun _ _ => u) (fun _ _ => v) =
  / 2 * ((c * u * (exp (2 * (v / c)) / (exp (2 * (v / c)) + 1)) - s) ^ 2 + (c * u / 2) ^ 2).
Proof.
  intros Hc. unfold layer_loss, sq, matvec, attended, E, softmax, matmul, transpose. simpl.
  assert (H2 := sqrt_sqrt 2 ltac:(lra)).
  replace (/ c * (0 + sqrt 2 * (0 + v * sqrt 2))) with (2 * (v / c)) by
    (transitivity (/ c * v * (sqrt 2 * sqrt 2)); [rewrite H2; field; easy|ring]).
  replace (/ c * (0 + 0 * (0 + v * sqrt 2))) with 0 by ring.
  replace (/ c * (0 + sqrt 2 * (0 + v * 0))) with 0 by ring. replace (/ c * (0 + 0 * (0 + v * 0))) with 0 by ring.
  rewrite !exp_0. set (e := exp (2 * (v / c))). assert (He : 0 < e) by apply exp_pos.
  transitivity (/ 4 * (sqrt 2 * sqrt 2) * ((c * u * (e / (e + 1)) - s) ^ 2 + (c * u / 2) ^ 2)); [field; lra|].
  rewrite H2. field. lra.
Qed.

(** pa-theorem-u-svd
    Covers: a part: how the start by singular vectors turns, that rotations do not matter in the limit, and exact data on which they do, already through the sign of the one singular vector; on the page: the sizes of the differences in the chapter's example.
    Reads: for whitened tokens Oz the loss at (PS^{1/2}, OQS^{1/2}) is that on the tokens z at (U_0 O, V_0 O), where U_0 = PS^{1/2}, V_0 = QS^{1/2}, O orthogonal, at the same scale c. For the limit objective f_λ, (UO, VO) has the same value as (U, V). But for d = m = 1, n = 2, z = (√2, 0), y = (√2 s, 0), whose (1/n) Σ y_i z_i is s, U_0 = V_0 = √s, c = √s/b, and O = −1: for all s > 0 and b ≥ ½ the losses at (U_0, V_0) and at (U_0 O, V_0 O) are not equal.
    Mistake: `U0 V0 =` for `U0 V0 <>`
    Mistake: `(matmul d O U0)` for `(matmul d U0 O)`
*)
Theorem pa_theorem_u_svd :
  (forall n d m c Z Y O U0 V0, orthogonal d O ->
    layer_loss n d m c (matmul d Z (transpose O)) Y U0 (matmul d O V0) =
    layer_loss n d m c Z Y (matmul d U0 O) (matmul d V0 O)) /\
  (forall lam m d r M U V O, orthogonal r O ->
    loss lam m d r M (matmul r U O) (matmul r V O) = loss lam m d r M U V) /\
  (forall s b, 0 < s -> / 2 <= b -> let z : matrix := fun i _ => if Nat.eqb i 0 then sqrt 2 else 0 in
    let y : matrix := fun i _ => if Nat.eqb i 0 then sqrt 2 * s else 0 in let H : matrix := fun _ _ => -1 in
    let U0 : matrix := fun _ _ => sqrt s in let V0 : matrix := fun _ _ => sqrt s in
    / 2 * Sum 2 (fun i => y i 0%nat * z i 0%nat) = s /\ orthogonal 1 H /\
    layer_loss 2 1 1 (sqrt s / b) z y U0 V0 <>
    layer_loss 2 1 1 (sqrt s / b) z y (matmul 1 U0 H) (matmul 1 V0 H)).
Proof.
  split; [|split].
  - intros n d m c Z Y O U0 V0 HO. rewrite layer_turned. apply layer_loss_ext. rewrite matmul_assoc.
    now apply orthogonal_cancel'.
  - intros. now apply loss_turned.
  - intros s b Hs Hb z y H U0 V0. assert (H2 := sqrt_sqrt 2 ltac:(lra)). assert (Ss := sqrt_sqrt s (Rlt_le _ _ Hs)).
    assert (S0 : 0 < sqrt s) by now apply sqrt_lt_R0. split; [|split].
    + unfold y, z. simpl. transitivity (/ 2 * (sqrt 2 * sqrt 2) * s); [ring|rewrite H2; field].
    + split; intros i j Hi Hj; replace i with 0%nat by lia; replace j with 0%nat by lia;
        unfold H, matmul, transpose, identity, diagonal; simpl; ring.
    + replace (matmul 1 U0 H) with (fun _ _ : nat => - sqrt s) by (matrix_ext; unfold matmul, U0, H; simpl; ring).
      replace (matmul 1 V0 H) with (fun _ _ : nat => - sqrt s) by (matrix_ext; unfold matmul, V0, H; simpl; ring).
      assert (Hc : sqrt s / b <> 0) by (apply Rgt_not_eq, Rdiv_lt_0_compat; lra).
      unfold z, y, U0, V0. rewrite !layer_loss_two by easy.
      replace (sqrt s / (sqrt s / b)) with b by (field; lra).
      replace (- sqrt s / (sqrt s / b)) with (- b) by (field; lra).
      replace (sqrt s / b * sqrt s) with (s / b) by (rewrite <- Ss at 1; field; lra).
      replace (sqrt s / b * - sqrt s) with (- (s / b)) by (rewrite <- Ss at 1; field; lra).
      replace (2 * - b) with (- (2 * b)) by ring. rewrite exp_Ropp.
      assert (He : 1 < exp (2 * b)) by (rewrite <- exp_0; apply exp_increasing; lra). set (e := exp (2 * b)) in *.
      set (q := e / (e + 1)). replace (/ e / (/ e + 1)) with (1 - q) by (unfold q; field; lra).
      assert (Hq : / 2 < q < 1).
      { unfold q. split; apply Rmult_lt_reg_r with (e + 1); try lra; field_simplify; lra. }
      clearbody q. clear e He. intros A. set (w := s / b) in *.
      assert (Hw : 0 < w) by (apply Rdiv_lt_0_compat; lra). assert (Ew : s = w * b) by (unfold w; field; lra).
      clearbody w. rewrite Ew in A. assert (w ^ 2 * ((q - b) ^ 2 - (1 - q + b) ^ 2) = 0) by lra.
      assert (0 < w ^ 2) by (apply pow_lt; lra). nra.
Qed.

(** Π_{i<n} f_i *)
Fixpoint Prod (n : nat) (f : nat -> R) : R := match n with O => 1 | S k => Prod k f * f k end.

Lemma Prod_ge1 n f : (forall i, (i < n)%nat -> 1 <= f i) -> 1 <= Prod n f.
Proof.
  induction n; intros H; cbn; [lra|]. assert (1 <= Prod n f) by (apply IHn; intros; apply H; lia).
  assert (1 <= f n) by (apply H; lia). nra.
Qed.

Lemma Prod_term n f i : (i < n)%nat -> (forall i, (i < n)%nat -> 1 <= f i) -> f i <= Prod n f.
Proof.
  induction n; intros Hi H; [lia|]. cbn. assert (1 <= f n) by (apply H; lia).
  assert (1 <= Prod n f) by (apply Prod_ge1; intros; apply H; lia).
  destruct (Nat.eq_dec i n) as [->|]; [nra|].
  assert (f i <= Prod n f) by (apply IHn; [lia|intros; apply H; lia]). nra.
Qed.

Lemma root_ge1 x : 0 < x < 1 -> 1 <= Rpower x (- / 2).
Proof.
  intros H. assert (ln x < 0) by (rewrite <- ln_1; apply ln_increasing; lra). unfold Rpower. left.
  rewrite <- exp_0 at 1. apply exp_increasing. lra.
Qed.

(** 𝒱 for K with eigenvalues k_i and eigenvectors the columns of E: det(I − 2K)^{−1/2} tr M[K⁻¹ + (I − 2K)⁻¹]Mᵀ *)
Definition price (m d : nat) (M E : matrix) (k : vector) : R :=
  Prod d (fun i => Rpower (1 - 2 * k i) (- / 2)) *
  fdot m d (matmul d M (matmul d (matmul d E (diagonal (fun i => / k i + / (1 - 2 * k i)))) (transpose E))) M.

Lemma price_columns m d M E k : price m d M E k = Prod d (fun i => Rpower (1 - 2 * k i) (- / 2)) *
  Sum d (fun i => (/ k i + / (1 - 2 * k i)) * Sum m (fun a => matmul d M E a i ^ 2)).
Proof.
  unfold price. f_equal. rewrite <- !matmul_assoc, fdot_right, transpose_transpose. unfold fdot.
  rewrite Sum_swap. apply Sum_ext; intros i Hi. rewrite <- Sum_scal. apply Sum_ext; intros a _.
  rewrite diagonal_r by easy. ring.
Qed.

(** pa-theorem-y
    Covers: a part: the bound 𝒱 ≥ c⋆ ‖M‖² for 𝒱 in the eigenvectors of K, where c⋆ is attained, and that it is 𝒱 for d = 1; on the page: that 𝒱 is the noise constant, the infimum for M of rank one, least squares, and what follows for the risk.
    Reads: let K have eigenvalues k_1, …, k_d in (0, ½) and eigenvectors the columns of an orthogonal E, and 𝒱 = det(I − 2K)^{−1/2} tr M[K⁻¹ + (I − 2K)⁻¹]Mᵀ. With k⋆ = (5 − √13)/6, which lies in (0, ½), and c⋆ = (1 − k⋆)/(k⋆(1 − 2k⋆)^{3/2}): (1 − k)/(k(1 − 2k)^{3/2}) > c⋆ for all other k in (0, ½), and 𝒱 ≥ c⋆ ‖M‖². For d = 1 and k_1 = k⋆, 𝒱 = c⋆ ‖M‖².
    Mistake: `(5 - sqrt 12) / 6` for `(5 - sqrt 13) / 6`
    Mistake: `2 * c * frob2 m d M <= price` for `c * frob2 m d M <= price`
*)
Theorem pa_theorem_y : let k0 := (5 - sqrt 13) / 6 in
  let g := fun k => (1 - k) / (k * Rpower (1 - 2 * k) (3 / 2)) in let c := g k0 in
  0 < k0 < / 2 /\ (forall k, 0 < k < / 2 -> k <> k0 -> c < g k) /\
  (forall m d M E k, orthogonal d E -> (forall i, (i < d)%nat -> 0 < k i < / 2) ->
    c * frob2 m d M <= price m d M E k) /\
  (forall m M E, orthogonal 1 E -> price m 1 M E (fun _ => k0) = c * frob2 m 1 M).
Proof.
  intros k0 g c. assert (E0 : k0 = best_square 1).
  { unfold k0, best_square. replace (1 ^ 2 + 4 * 1 + 8) with 13 by ring. field. }
  assert (H0 := best_square_in 1 ltac:(lra)). rewrite <- E0 in H0.
  assert (G : forall k, 0 < k < / 2 -> g k = isotropic 1 k).
  { intros k Hk. unfold g, isotropic. replace (- (1 / 2 + 1)) with (- (3 / 2)) by field. rewrite Rpower_Ropp. field.
    split; [apply Rgt_not_eq, exp_pos|lra]. }
  assert (L : forall k, 0 < k < / 2 -> k <> k0 -> c < g k).
  { intros k Hk Hn. unfold c. rewrite !G by easy. rewrite E0. apply isotropic_least; [lra|easy|now rewrite <- E0]. }
  assert (GP : forall k, 0 < k < / 2 -> g k = Rpower (1 - 2 * k) (- / 2) * (/ k + / (1 - 2 * k))).
  { intros k Hk. unfold g. replace (3 / 2) with (/ 2 + 1) by field. rewrite Rpower_plus, Rpower_Ropp, Rpower_1 by lra.
    field. repeat split; try lra. apply Rgt_not_eq, exp_pos. }
  assert (Le : forall k, 0 < k < / 2 -> c <= g k).
  { intros k Hk. destruct (Req_dec k k0) as [->|N]; [apply Rle_refl|left; now apply L]. }
  assert (FE : forall m d M E, orthogonal d E ->
    frob2 m d M = Sum d (fun i => Sum m (fun a => matmul d M E a i ^ 2))).
  { intros m d M E HE. transitivity (frob2 d m (transpose (matmul d M E))); [|reflexivity].
    rewrite (frob2_transpose' m d M), transpose_matmul, !frob2_fdot. now rewrite fdot_rotate. }
  split; [easy|split; [easy|split]].
  - intros m d M E k HE Hk. rewrite price_columns, (FE m d M E HE), <- !Sum_scal. apply Sum_le; intros i Hi.
    rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [apply Sum_ge0; intros; apply pow2_ge_0|].
    eapply Rle_trans; [apply (Le (k i)); now apply Hk|]. rewrite GP by now apply Hk.
    assert (Hki := Hk i Hi). apply Rmult_le_compat_r.
    + apply Rplus_le_le_0_compat; left; apply Rinv_0_lt_compat; lra.
    + apply (Prod_term d (fun i => Rpower (1 - 2 * k i) (- / 2)) i Hi). intros j Hj. assert (Hkj := Hk j Hj).
      apply root_ge1; lra.
  - intros m M E HE. rewrite price_columns, (FE m 1%nat M E HE). unfold c. rewrite (GP k0 H0). cbn [Sum Prod]. ring.
Qed.
