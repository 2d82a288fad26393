(** Stochastic gradients: the noise of a batch, the losses seen on every path, and Proposition 1 in expectation. *)
Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.means base.matrices base.gradient base.squared_loss.
From Shallow Require Import base.draws.

Import ListNotations.

Open Scope R_scope.

(** kr-proposition-1-noise
    Covers: the whole statement.
    Reads: at a fixed point with g = ∇L, for the stochastic gradient g_B of a batch B of b ≥ 1 of the n samples, drawn uniformly with replacement (the mean over all n^b sequences): E g_B = g; E‖g_B‖² = (1/b)(4/n) Σ r_j²‖∇f_j‖² + (1 − 1/b)‖g‖² ≤ 4L[(1/b) Q + (1 − 1/b) λ/n] with λ the largest eigenvalue of the Gram matrix and any Q ≥ all ‖∇f_j‖², for instance their maximum; and E‖g_B − g‖² ≤ (4/b) Q L.
    Mistake: `2 * mean n` for `4 * mean n`
    Mistake: `2 / INR b * Q * L` for `4 / INR b * Q * L`
    Mistake: `(/ INR b * (lam / INR n) +` for `(/ INR b * Q +`
*)
Theorem kr_proposition_1_noise : forall p n b f D y x g lam Q,
  let L := loss n f y x in let gB := batch_gradient b f D y x in
  (0 < n)%nat -> (0 < b)%nat -> (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) -> gradient p (loss n f y) x g ->
  largest_eigenvalue n (gram p D x) lam -> (forall j, (j < n)%nat -> sq p (D j x) <= Q) ->
  (forall i, (i < p)%nat -> batch n b (fun B => gB B i) = g i) /\
  batch n b (fun B => sq p (gB B)) =
    / INR b * (4 * mean n (fun j => residual f y x j ^ 2 * sq p (D j x))) + (1 - / INR b) * sq p g /\
  batch n b (fun B => sq p (gB B)) <= 4 * L * (/ INR b * Q + (1 - / INR b) * (lam / INR n)) /\
  batch n b (fun B => sq p (vminus (gB B) g)) <= 4 / INR b * Q * L.
Proof.
  intros p n b f D y x g lam Q L gB Hn Hb G K Hl HQ. assert (B := INR_pos b Hb). assert (N := INR_pos n Hn).
  assert (Hi : 0 < / INR b) by now apply Rinv_0_lt_compat.
  assert (Hi1 : / INR b <= 1).
  { rewrite <- Rinv_1. apply Rinv_le_contravar; [lra|]. change 1 with (INR 1). apply le_INR. lia. }
  assert (E2 := batch_second_moment n b p f D y x g Hn Hb G K). fold gB in E2.
  assert (E1 := fun u => batch_direction n b p f D y x g u Hn Hb G K). fold gB in E1.
  assert (LG := largest_gradient n p f D y x Q HQ). fold L in LG.
  assert (R := loss_gradient_sq p n f y x D g G K).
  assert (SG : sq p g <= 4 * (lam / INR n) * L).
  { rewrite R. destruct Hl as [_ Hl]. specialize (Hl (residual f y x)).
    apply Rmult_le_reg_l with (INR n ^ 2 / 4); [apply Rdiv_lt_0_compat; [now apply pow_lt|lra]|].
    replace (INR n ^ 2 / 4 * (4 / INR n ^ 2 * form n (gram p D x) (residual f y x)))
      with (form n (gram p D x) (residual f y x)) by (field; lra).
    replace (INR n ^ 2 / 4 * (4 * (lam / INR n) * L)) with (lam * sq n (residual f y x)); [easy|].
    unfold L, loss, mean, sq. field. lra. }
  split; [|split; [|split]].
  - intros i Hi0. assert (U := E1 (fun k => if Nat.eqb k i then 1 else 0)).
    assert (X : forall h, dot p h (fun k => if Nat.eqb k i then 1 else 0) = h i).
    { intros h. unfold dot. rewrite (Sum_single p _ i Hi0); [rewrite Nat.eqb_refl; ring|].
      intros k _ Hk. apply Nat.eqb_neq in Hk. rewrite Hk. ring. }
    rewrite X in U. rewrite <- U. apply (draw_ext _ _ (batch_mean n b Hn)). intros w _. now rewrite X.
  - exact E2.
  - rewrite E2. apply (Rmult_le_compat_l (/ INR b)) in LG; [|lra].
    apply (Rmult_le_compat_l (1 - / INR b)) in SG; [|lra]. lra.
  - rewrite (draw_ext _ _ (batch_mean n b Hn) _ (fun w => sq p (gB w) + (-2 * dot p (gB w) g + sq p g)))
      by (intros; rewrite sq_minus; ring).
    destruct (batch_mean n b Hn) as (_ & Hp & Hs & Hc). rewrite Hp, Hp, Hs, Hc, E2, E1, <- sq_dot.
    assert (0 <= / INR b * sq p g) by (apply Rmult_le_pos; [lra|apply sq_ge0]).
    apply (Rmult_le_compat_l (/ INR b)) in LG; [|lra]. unfold Rdiv. lra.
Qed.

(** the mean of r_j(φ⁽ˢ⁾)² over the draws of a path of single samples, before the step on each; the last draw stands
  first *)
Fixpoint seen (f : nat -> vector -> R) (y : vector) (phi : list nat -> vector) (w : list nat) : R :=
  match w with [] => 0 | j :: past => seen f y phi past + residual f y (phi past) j ^ 2 end.

(** kr-proposition-1-online
    Covers: the whole statement.
    Reads: for any sequence J₀, …, J_{τ−1} of samples and φ⁽ˢ⁺¹⁾ a nearest point of the convex Ω to φ⁽ˢ⁾ − 2η r_J ∇f_J(φ⁽ˢ⁾), J = J_s, and any φ̃ ∈ Ω: if ‖∇f_{J_s}(φ⁽ˢ⁾)‖² ≤ Ā² for s < τ and θ = ηĀ² < 1, then with ℓ² = (1/τ) Σ r_{J_s}(φ⁽ˢ⁾)², ε² = (1/τ) Σ e_{J_s}(φ⁽ˢ⁾)² and V₀ = ‖φ⁽⁰⁾ − φ̃‖², ℓ ≤ (ε + √(ε² + (1 − θ)V₀/(ητ)))/(2(1 − θ)). And if the samples are independent and uniform and φ⁽ˢ⁾ = φ(J_{s−1}, …, J₀) is any function of the draws before, E ℓ² = (1/τ) Σ E L(φ⁽ˢ⁾).
    Mistake: `(2 * eta * INR tau)` for `(eta * INR tau)`
    Mistake: `loss n f y (phi s))` for `residual f y (phi s) (J s) ^ 2)`
*)
Theorem kr_proposition_1_online :
  (forall p n tau f D y Omega z (phi : nat -> vector) (J : nat -> nat) eta A2,
   let V0 := sq p (vminus (phi O) z) in let theta := eta * A2 in
   let l := sqrt (mean tau (fun s => residual f y (phi s) (J s) ^ 2)) in
   let eps := rms tau (fun s => tangent_error p f D y (phi s) z (J s)) in
   (0 < tau)%nat -> 0 < eta -> (forall s, (s < tau)%nat -> (J s < n)%nat) ->
   (forall j u, (j < n)%nat -> gradient p (f j) u (D j u)) -> convex Omega -> Omega z ->
   (forall s, (s < tau)%nat -> nearest p Omega
     (vminus (phi s) (vscal (2 * eta * residual f y (phi s) (J s)) (D (J s) (phi s)))) (phi (S s))) ->
   (forall s, (s < tau)%nat -> sq p (D (J s) (phi s)) <= A2) -> theta < 1 ->
   l <= (eps + sqrt (eps ^ 2 + (1 - theta) * V0 / (eta * INR tau))) / (2 * (1 - theta))) /\
  (forall n tau f y (phi : list nat -> vector), (0 < n)%nat ->
   Expect (mean n) tau (fun w => / INR tau * seen f y phi w) =
   mean tau (fun s => Expect (mean n) s (fun w => loss n f y (phi w)))).
Proof.
  split.
  - intros p n tau f D y Omega z phi J eta A2 V0 theta l eps Ht He HJ _ C Hz R HA H1.
    assert (N := INR_pos tau Ht). set (r := fun s => residual f y (phi s) (J s)).
    set (e := fun s => tangent_error p f D y (phi s) z (J s)).
    assert (St : forall s, (s < tau)%nat -> sq p (vminus (phi (S s)) z) - sq p (vminus (phi s) z) <=
      - 4 * eta * ((1 - theta) * r s ^ 2 - r s * e s)).
    { intros s Hs. assert (Q := nearest_gain p Omega _ _ z C (R s Hs) Hz).
      assert (X := expand p (phi s) (vscal (2 * r s) (D (J s) (phi s))) z eta).
      rewrite (sq_ext p (vminus (vminus (phi s) (vscal eta (vscal (2 * r s) (D (J s) (phi s))))) z)
        (vminus (vminus (phi s) (vscal (2 * eta * residual f y (phi s) (J s)) (D (J s) (phi s)))) z)) in X
        by (intros; unfold vminus, vscal, r; ring).
      rewrite X, (sq_opp p z), dot_scal_l, sq_scal in Q.
      assert (Te : dot p (D (J s) (phi s)) (vminus z (phi s)) = e s - r s) by (unfold e, tangent_error, r; ring).
      rewrite Te in Q. match type of Q with _ + ?t <= _ => assert (0 <= t) by apply sq_ge0 end.
      assert (A := HA s Hs). apply (Rmult_le_compat_l (4 * eta ^ 2 * r s ^ 2)) in A.
      - unfold theta. lra.
      - apply Rmult_le_pos; [apply Rmult_le_pos; [lra|]|]; apply pow2_ge_0. }
    assert (T : forall k, (k <= tau)%nat -> sq p (vminus (phi k) z) + 4 * eta * ((1 - theta) * Sum k (fun s => r s ^
      2)) <=
      V0 + 4 * eta * Sum k (fun s => r s * e s)).
    { induction k; intros Hk; [simpl; fold V0; lra|]. cbn [Sum]. assert (A := IHk ltac:(lia)).
      assert (B := St k ltac:(lia)). lra. }
    specialize (T tau ltac:(lia)). assert (V := sq_ge0 p (vminus (phi tau) z)).
    assert (L2 : l ^ 2 = mean tau (fun s => r s ^ 2)) by apply rms_sq.
    assert (MR := mean_rms tau r e). change (mean tau (fun s => r s * e s) <= l * eps) in MR.
    assert (W : (1 - theta) * l ^ 2 - eps * l <= V0 / (4 * (eta * INR tau))).
    { rewrite L2. eapply Rle_trans with ((1 - theta) * mean tau (fun s => r s ^ 2) - mean tau (fun s => r s * e s));
      [lra|].
      assert (P : 0 < eta * INR tau) by now apply Rmult_lt_0_compat.
      apply Rmult_le_reg_l with (4 * (eta * INR tau)); [lra|].
      replace (4 * (eta * INR tau) * (V0 / (4 * (eta * INR tau)))) with V0 by (field; lra). unfold mean.
      match goal with |- ?a <= _ => replace a with (4 * eta * ((1 - theta) * Sum tau (fun s => r s ^ 2))
        - 4 * eta * Sum tau (fun s => r s * e s)) by (field; lra) end. lra. }
    apply Rmult_le_reg_l with (2 * (1 - theta)); [lra|].
    match goal with |- _ <= ?b => replace b with (eps + sqrt (eps ^ 2 + (1 - theta) * V0 / (eta * INR tau))) by (field;
      lra) end.
    enough (2 * (1 - theta) * l - eps <= sqrt (eps ^ 2 + (1 - theta) * V0 / (eta * INR tau))) by lra.
    eapply Rle_trans; [apply Rle_abs|]. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. unfold Rsqr.
    replace ((1 - theta) * V0 / (eta * INR tau)) with (4 * (1 - theta) * (V0 / (4 * (eta * INR tau)))) by (field; lra).
    apply (Rmult_le_compat_l (4 * (1 - theta))) in W; lra.
  - intros n tau f y phi Hn. assert (K := mean_is_mean n Hn).
    destruct (Expect_mean _ _ K tau) as (_ & _ & Hs & _). rewrite Hs. unfold mean at 2. f_equal. clear Hs.
    induction tau; [easy|]. cbn [Sum Expect]. destruct (Expect_mean _ _ K tau) as (L & Hp & Hs & Hc).
    rewrite <- IHtau, <- Hp. apply (draw_ext _ _ (Expect_mean _ _ K tau)). intros w _. cbn [seen].
    now rewrite mean_plus, (mean_const n _ Hn).
Qed.
