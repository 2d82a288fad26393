(** Stochastic gradients: the noise of a batch, the losses seen on every path, and Proposition 1 in expectation. *)
Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.squared_loss base.draws.
Import ListNotations.
Open Scope R_scope.

(** kr-proposition-1-noise
    Covers: the whole statement.
    Reads: at a fixed point with g = ∇L, for the stochastic gradient g_B of a batch B of b ≥ 1 of the n samples, drawn uniformly with replacement (the mean over all n^b sequences): E g_B = g; E‖g_B‖² = (1/b)(4/n) Σ r_j²‖∇f_j‖² + (1 − 1/b)‖g‖² ≤ 4L[(1/b) Q + (1 − 1/b) λ/n] with λ the largest eigenvalue of the Gram matrix and any Q ≥ all ‖∇f_j‖², for instance their maximum; and E‖g_B − g‖² ≤ (4/b) Q L.
    Mistake: `2 * Mean n` for `4 * Mean n`
    Mistake: `2 / INR b * Q * L` for `4 / INR b * Q * L`
    Mistake: `(/ INR b * (lam / INR n) +` for `(/ INR b * Q +`
*)
Theorem kr_proposition_1_noise : forall p n b f D y x g lam Q,
  let L := loss n f y x in let gB := batch_gradient b f D y x in
  (0 < n)%nat -> (0 < b)%nat -> (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) -> gradient p (loss n f y) x g ->
  largest_eigenvalue n (gram p D x) lam -> (forall j, (j < n)%nat -> sq p (D j x) <= Q) ->
  (forall i, (i < p)%nat -> batch n b (fun B => gB B i) = g i) /\
  batch n b (fun B => sq p (gB B)) =
    / INR b * (4 * Mean n (fun j => residual f y x j ^ 2 * sq p (D j x))) + (1 - / INR b) * sq p g /\
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
    replace (INR n ^ 2 / 4 * (4 / INR n ^ 2 * quadratic n (gram p D x) (residual f y x)))
      with (quadratic n (gram p D x) (residual f y x)) by (field; lra).
    replace (INR n ^ 2 / 4 * (4 * (lam / INR n) * L)) with (lam * sq n (residual f y x)); [easy|].
    unfold L, loss, Mean, sq. field. lra. }
  split; [|split; [|split]].
  - intros i Hi0. assert (U := E1 (fun k => if Nat.eqb k i then 1 else 0)).
    assert (X : forall h, dot p h (fun k => if Nat.eqb k i then 1 else 0) = h i).
    { intros h. unfold dot. rewrite (Sum_single p _ i Hi0); [rewrite Nat.eqb_refl; ring|].
      intros k _ Hk. apply Nat.eqb_neq in Hk. rewrite Hk. ring. }
    rewrite X in U. rewrite <- U. apply (mean_ext _ _ (batch_mean n b Hn)). intros w _. now rewrite X.
  - exact E2.
  - rewrite E2. apply (Rmult_le_compat_l (/ INR b)) in LG; [|lra].
    apply (Rmult_le_compat_l (1 - / INR b)) in SG; [|lra]. lra.
  - rewrite (mean_ext _ _ (batch_mean n b Hn) _ (fun w => sq p (gB w) + (-2 * dot p (gB w) g + sq p g)))
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
    Reads: for any sequence J₀, …, J_{τ−1} of samples and φ⁽ˢ⁺¹⁾ a nearest point of the convex Ω to φ⁽ˢ⁾ − 2η r_J ∇f_J(φ⁽ˢ⁾), J = J_s, and any z ∈ Ω: if ‖∇f_{J_s}(φ⁽ˢ⁾)‖² ≤ Ā² for s < τ and θ = ηĀ² < 1, then with ℓ² = (1/τ) Σ r_{J_s}(φ⁽ˢ⁾)², ε² = (1/τ) Σ e_{J_s}(φ⁽ˢ⁾)² and V₀ = ‖φ⁽⁰⁾ − z‖², ℓ ≤ (ε + √(ε² + (1 − θ)V₀/(ητ)))/(2(1 − θ)). And if the samples are independent and uniform and φ⁽ˢ⁾ = φ(J_{s−1}, …, J₀) is any function of the draws before, E ℓ² = (1/τ) Σ E L(φ⁽ˢ⁾).
    Mistake: `(2 * eta * INR tau)` for `(eta * INR tau)`
    Mistake: `loss n f y (phi s))` for `residual f y (phi s) (J s) ^ 2)`
*)
Theorem kr_proposition_1_online :
  (forall p n tau f D y Omega z (phi : nat -> vector) (J : nat -> nat) eta A2,
   let V0 := sq p (vminus (phi O) z) in let theta := eta * A2 in
   let l := sqrt (Mean tau (fun s => residual f y (phi s) (J s) ^ 2)) in
   let eps := rms tau (fun s => tangent_error p f D y (phi s) z (J s)) in
   (0 < tau)%nat -> 0 < eta -> (forall s, (s < tau)%nat -> (J s < n)%nat) ->
   (forall j u, (j < n)%nat -> gradient p (f j) u (D j u)) -> convex Omega -> Omega z ->
   (forall s, (s < tau)%nat -> nearest p Omega
     (vminus (phi s) (vscal (2 * eta * residual f y (phi s) (J s)) (D (J s) (phi s)))) (phi (S s))) ->
   (forall s, (s < tau)%nat -> sq p (D (J s) (phi s)) <= A2) -> theta < 1 ->
   l <= (eps + sqrt (eps ^ 2 + (1 - theta) * V0 / (eta * INR tau))) / (2 * (1 - theta))) /\
  (forall n tau f y (phi : list nat -> vector), (0 < n)%nat ->
   Expect (Mean n) tau (fun w => / INR tau * seen f y phi w) =
   Mean tau (fun s => Expect (Mean n) s (fun w => loss n f y (phi w)))).
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
    assert (L2 : l ^ 2 = Mean tau (fun s => r s ^ 2)) by apply rms_sq.
    assert (MR := Mean_rms tau r e). change (Mean tau (fun s => r s * e s) <= l * eps) in MR.
    assert (W : (1 - theta) * l ^ 2 - eps * l <= V0 / (4 * (eta * INR tau))).
    { rewrite L2. eapply Rle_trans with ((1 - theta) * Mean tau (fun s => r s ^ 2) - Mean tau (fun s => r s * e s));
      [lra|].
      assert (P : 0 < eta * INR tau) by now apply Rmult_lt_0_compat.
      apply Rmult_le_reg_l with (4 * (eta * INR tau)); [lra|].
      replace (4 * (eta * INR tau) * (V0 / (4 * (eta * INR tau)))) with V0 by (field; lra). unfold Mean.
      match goal with |- ?a <= _ => replace a with (4 * eta * ((1 - theta) * Sum tau (fun s => r s ^ 2))
        - 4 * eta * Sum tau (fun s => r s * e s)) by (field; lra) end. lra. }
    apply Rmult_le_reg_l with (2 * (1 - theta)); [lra|].
    match goal with |- _ <= ?b => replace b with (eps + sqrt (eps ^ 2 + (1 - theta) * V0 / (eta * INR tau))) by (field;
      lra) end.
    enough (2 * (1 - theta) * l - eps <= sqrt (eps ^ 2 + (1 - theta) * V0 / (eta * INR tau))) by lra.
    eapply Rle_trans; [apply Rle_abs|]. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. unfold Rsqr.
    replace ((1 - theta) * V0 / (eta * INR tau)) with (4 * (1 - theta) * (V0 / (4 * (eta * INR tau)))) by (field; lra).
    apply (Rmult_le_compat_l (4 * (1 - theta))) in W; lra.
  - intros n tau f y phi Hn. assert (K := Mean_is_mean n Hn).
    destruct (Expect_mean _ _ K tau) as (_ & _ & Hs & _). rewrite Hs. unfold Mean at 2. f_equal. clear Hs.
    induction tau; [easy|]. cbn [Sum Expect]. destruct (Expect_mean _ _ K tau) as (L & Hp & Hs & Hc).
    rewrite <- IHtau, <- Hp. apply (mean_ext _ _ (Expect_mean _ _ K tau)). intros w _. cbn [seen].
    now rewrite Mean_plus, (Mean_const n _ Hn).
Qed.

(** kr-proposition-1
    Covers: a part: all that follows from the bounds on Ω, in expectation over the batches; on the page: that the bounds hold with probability at least 1 − δ − δ' over φ⁽⁰⁾, and the order for η = 1/√τ.
    Reads: let every step draw a batch of b ≥ 1 samples, uniformly, with replacement and independently of the past (b = 1: ProjSGD), φ⁽⁰⁾ and z in the convex Ω, ‖φ⁽⁰⁾ − z‖² ≤ N. If |r_j| ≤ F, ‖∇f_j‖ ≤ A, |e_j| ≤ E and |f − f_lin| ≤ B_lin at the data at all points of Ω, where e_j = f_j + ⟨∇f_j, z − φ⟩ − y_j, then E min_{s<τ} L(φ⁽ˢ⁾) ≤ E (1/τ) Σ L(φ⁽ˢ⁾) ≤ M = N/(4ητ) + ηA²F² + F E, and E L(φ̄) ≤ 4M + 6B_lin².
    Mistake: `N / (8 * eta * INR tau)` for `N / (4 * eta * INR tau)`
    Mistake: without `Omega z ->`
*)
Theorem kr_proposition_1 : forall p n b tau f D y Omega z (phi : list (list nat) -> vector) eta N F A Err Blin,
  (0 < n)%nat -> (0 < b)%nat -> (0 < tau)%nat -> 0 < eta ->
  (forall j u, (j < n)%nat -> gradient p (f j) u (D j u)) -> convex Omega ->
  Omega (phi []) -> Omega z -> sq p (vminus (phi []) z) <= N ->
  stochastic_run p n b tau f D y Omega eta phi ->
  (forall j u, (j < n)%nat -> Omega u -> Rabs (residual f y u j) <= F /\ vnorm p (D j u) <= A /\
    Rabs (tangent_error p f D y u z j) <= Err /\ Rabs (f j u - linear_model p f D (phi []) j u) <= Blin) ->
  let L u := loss n f y u in let Ex := Expect (batch n b) tau in
  let M := N / (4 * eta * INR tau) + eta * A ^ 2 * F ^ 2 + F * Err in
  Ex (fun w => Min tau (fun s => L (iterate tau phi w s))) <=
    Ex (fun w => Mean tau (fun s => L (iterate tau phi w s))) /\
  Ex (fun w => Mean tau (fun s => L (iterate tau phi w s))) <= M /\
  Ex (fun w => L (average tau (iterate tau phi w))) <= 4 * M + 6 * Blin ^ 2.
Proof.
  intros p n b tau f D y Omega z phi eta N F A Err Blin Hn Hb Ht He G C H0 Hz HN R B L Ex M.
  assert (BM := batch_mean n b Hn). assert (EM := fun s => Expect_mean _ _ BM s).
  assert (I := run_inside p n b tau f D y Omega eta phi H0 R).
  assert (TN := INR_pos tau Ht).
  assert (X : Ex (fun w => Mean tau (fun s => L (iterate tau phi w s))) <= M).
  { unfold Ex. rewrite (Expect_Mean_iterates _ _ tau phi L BM).
    set (x := fun s => Expect (batch n b) s (fun w => L (phi w))).
    set (v := fun s => Expect (batch n b) s (fun w => sq p (vminus (phi w) z))).
    set (c := 4 * eta * (F * Err) + 4 * eta ^ 2 * (F ^ 2 * A ^ 2)).
    assert (St : forall s, (s < tau)%nat -> v (S s) <= v s + (- (4 * eta) * x s + c)).
    { intros s Hs. destruct (EM s) as (Le & Hp & Hsc & Hc).
      eapply Rle_trans; [apply (expected_step p n b tau f D y Omega z eta phi s Hn Hb G C Hz R Hs)|].
      unfold v, x. rewrite <- (Hc c), <- Hsc, <- !Hp. apply Le. intros w Hw. assert (Ow := I s w ltac:(lia) Hw).
      assert (W : Mean n (fun j => residual f y (phi w) j * tangent_error p f D y (phi w) z j) <= F * Err).
      { rewrite <- (Mean_const n (F * Err) Hn). apply Mean_le. intros j Hj.
        destruct (B j (phi w) Hj Ow) as (B1 & _ & B3 & _).
        eapply Rle_trans; [apply Rle_abs|]. rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; easy. }
      assert (Z : second_moment p n b f D y (phi w) <= 4 * (F ^ 2 * A ^ 2)).
      { set (g := fun i => Mean n (fun j => 2 * residual f y (phi w) j * D j (phi w) i)).
        assert (K : gradient p (loss n f y) (phi w) g) by (apply loss_gradient; intros; now apply G).
        unfold second_moment. rewrite (batch_second_moment n b p f D y (phi w) g Hn Hb (fun j => G j (phi w)) K).
        assert (Y := gradient_below_mean n p f D y (phi w) g Hn (fun j => G j (phi w)) K).
        assert (Y2 : Mean n (fun j => residual f y (phi w) j ^ 2 * sq p (D j (phi w))) <= F ^ 2 * A ^ 2).
        { rewrite <- (Mean_const n (F ^ 2 * A ^ 2) Hn). apply Mean_le. intros j Hj.
          destruct (B j (phi w) Hj Ow) as (B1 & B2 & _ & _).
          apply Rmult_le_compat; [apply pow2_ge_0|apply sq_ge0| |now apply norm_le_sq].
          rewrite <- (pow2_abs (residual f y (phi w) j)). apply pow_incr. split; [apply Rabs_pos|easy]. }
        assert (Hi : 0 < / INR b) by now apply Rinv_0_lt_compat, INR_pos.
        assert (Hi1 : / INR b <= 1).
        { rewrite <- Rinv_1. apply Rinv_le_contravar; [lra|]. change 1 with (INR 1). apply le_INR. lia. }
        apply (Rmult_le_compat_l (1 - / INR b)) in Y; [|lra]. lra. }
      apply (Rmult_le_compat_l (eta ^ 2) _ _ (pow2_ge_0 eta)) in Z.
      apply (Rmult_le_compat_l eta _ _ (Rlt_le _ _ He)) in W.
      unfold L, c. lra. }
    assert (T : forall k, (k <= tau)%nat -> v k + 4 * eta * Sum k x <= N + INR k * c).
    { induction k; intros Hk; [unfold v; simpl; lra|]. rewrite S_INR. cbn [Sum].
      assert (T1 := IHk ltac:(lia)). assert (T2 := St k ltac:(lia)). lra. }
    specialize (T tau ltac:(lia)). assert (V : 0 <= v tau) by (apply (mean_ge0 _ _ (EM tau)); intros; apply sq_ge0).
    apply Rmult_le_reg_l with (4 * eta * INR tau); [apply Rmult_lt_0_compat; lra|]. unfold Mean, M.
    replace (4 * eta * INR tau * (/ INR tau * Sum tau x)) with (4 * eta * Sum tau x) by (field; lra).
    match goal with |- _ <= ?r => replace r with (N + INR tau * c) by (unfold c; field; lra) end. lra. }
  destruct (EM tau) as (Le & Hp & Hsc & Hc). split; [|split; [easy|]].
  - apply Le. intros w _. now apply Min_le_Mean.
  - apply Rle_trans with (Ex (fun w => 4 * Mean tau (fun s => L (iterate tau phi w s)) + 6 * Blin ^ 2)).
    2: { unfold Ex. rewrite Hp, Hsc, Hc. fold Ex. lra. }
    apply Le. intros w Hw.
    assert (Bp : 0 <= Blin) by (eapply Rle_trans; [apply Rabs_pos|apply (B O (phi []) Hn H0)]).
    assert (Oi : forall s, (s < tau)%nat -> Omega (iterate tau phi w s)).
    { intros s Hs. apply (I s); [lia|]. apply draws_skipn; [lia|easy]. }
    assert (Oa : Omega (average tau (iterate tau phi w))) by (destruct tau; [lia|now apply convex_average]).
    assert (Bb : forall u, Omega u -> rms n (fun j => f j u - linear_model p f D (phi []) j u) <= Blin).
    { intros u Hu. apply rms_le; [easy|easy|]. intros j Hj. apply (B j u Hj Hu). }
    assert (Av := average_loss p n tau f D y (phi []) (iterate tau phi w) Hn Ht). cbv zeta in Av.
    assert (B1 := Bb _ Oa). assert (B2 : Mean tau (fun s => rms n (fun j => f j (iterate tau phi w s)
      - linear_model p f D (phi []) j (iterate tau phi w s))) <= Blin).
    { rewrite <- (Mean_const tau Blin Ht). apply Mean_le. intros s Hs. apply Bb, Oi, Hs. }
    set (m := Mean tau (fun s => loss n f y (iterate tau phi w s))) in *.
    assert (m0 : 0 <= m) by (apply Mean_ge0; intros; apply loss_ge0).
    unfold L. rewrite <- (pow2_sqrt _ (loss_ge0 n f y (average tau (iterate tau phi w)))). fold m.
    apply Rle_trans with ((sqrt m + 2 * Blin) ^ 2).
    + apply pow_incr. split; [apply sqrt_pos|lra].
    + assert (0 <= (sqrt m - Blin) ^ 2) by apply pow2_ge_0. rewrite <- (pow2_sqrt m m0) at 2.
      assert (Q := pow2_ge_0 (4 * sqrt m - 3 * Blin)). assert (0 <= sqrt m ^ 2) by apply pow2_ge_0.
      assert (0 <= Blin ^ 2) by apply pow2_ge_0. lra.
Qed.
