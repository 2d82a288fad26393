(** Chapter "Two layers": heads that weigh tokens differently, and a certificate from a bound on second derivatives. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.means base.matrices base.attention base.gradient.
From Shallow Require Import base.squared_loss kernel_regime.self_bounding.
Open Scope R_scope.

(** Cov(f, g) = E (f − E f)(g − E g) over the token that attention draws *)
Definition cov (T : nat) (alpha f g : vector) : R :=
  E T alpha (fun t => (f t - E T alpha f) * (g t - E T alpha g)).

Lemma cov_raw T alpha f g : distribution T alpha ->
  cov T alpha f g = E T alpha (fun t => f t * g t) - E T alpha f * E T alpha g.
Proof.
  intros H. unfold cov. set (x := E T alpha f). set (y := E T alpha g).
  rewrite (E_ext _ _ _ (fun t => f t * g t + (- y * f t + (- x * g t + x * y)))) by (intros; ring).
  rewrite !E_plus, !E_scal, (E_const _ _ _ H). fold x y. ring.
Qed.

(** d E y = E y′ + Cov(y, ℓ′) when the logits ℓ and the values y move along any path. *)
Lemma weighted_derive T (l y : R -> vector) (l' y' : vector) (s : R) : (0 < T)%nat ->
  (forall t, (t < T)%nat -> is_derive (fun s => l s t) s (l' t) /\ is_derive (fun s => y s t) s (y' t)) ->
  is_derive (fun s => E T (softmax T (l s)) (y s)) s
    (E T (softmax T (l s)) y' + cov T (softmax T (l s)) (y s) l').
Proof.
  intros HT D. rewrite cov_raw by now apply softmax_distribution.
  set (Z := fun s => Sum T (fun t => exp (l s t))). assert (Zp : 0 < Z s) by now apply partition_pos.
  assert (F : forall s (g : vector), E T (softmax T (l s)) g = Sum T (fun t => exp (l s t) * g t) / Z s).
  { intros u g. unfold E, softmax, Rdiv. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros. unfold Z. ring. }
  assert (De : forall t, (t < T)%nat -> is_derive (fun s => exp (l s t)) s (l' t * exp (l s t))).
  { intros t Ht. apply (is_derive_comp exp (fun s => l s t)); [apply is_derive_exp|now apply D]. }
  apply (is_derive_ext (fun s => Sum T (fun t => exp (l s t) * y s t) / Z s)); [intros; now rewrite F|].
  eapply derive_value; [apply is_derive_div|].
  - apply (Sum_derive T (fun s t => exp (l s t) * y s t) (fun t => l' t * exp (l s t) * y s t + exp (l s t) * y' t)).
    intros t Ht. apply (derive_mult (fun s => exp (l s t)) (fun s => y s t)); [now apply De|now apply D].
  - apply (Sum_derive T (fun s t => exp (l s t)) (fun t => l' t * exp (l s t))). exact De.
  - lra.
  - rewrite !F, Sum_plus.
    rewrite (Sum_ext T (fun t => l' t * exp (l s t)) (fun t => exp (l s t) * l' t)) by (intros; ring).
    rewrite (Sum_ext T (fun t => l' t * exp (l s t) * y s t) (fun t => exp (l s t) * (y s t * l' t))) by (intros; ring).
    field. lra.
Qed.

(** kr-lemma-z-heads
    Covers: a part: (1), for all upper bounds b of the sums of which the largest is the least, and (3); on the page: (2), about Gaussian matrices.
    Reads: (1) let k, T ≥ 1, the weights of every head be a distribution over T tokens with α_it ≤ K/T, and Σ_i g_it² ≤ b for every t. Then Σ_i (Σ_t α_it g_it)² ≤ Σ_i Σ_t α_it g_it² ≤ Kb; and α_t ≤ T/T holds for every distribution. (3) Let T ≥ 1, logits ℓ_t and values y_t, t < T, have derivatives ℓ′, ℓ″, y′, y″ everywhere along a path, and E and Cov be mean and covariance under the weights softmax(ℓ). Then z = E y has the derivative E y′ + Cov(y, ℓ′), and that has the derivative E y″ + 2 Cov(y′, ℓ′) + Cov(y, ℓ″) + E (y − z)(ℓ′ − E ℓ′)².
    Mistake: `<= b)` for `<= K * b)`
    Mistake: `+ cov T (alpha s) (y1 s) (l1 s) + cov` for `+ 2 * cov T (alpha s) (y1 s) (l1 s) + cov`
    Mistake: `True /\` for `distribution T (alpha i) /\`
*)
Theorem kr_lemma_z_heads :
  (forall k T K (alpha g : nat -> vector) b, (0 < k)%nat -> (0 < T)%nat ->
    (forall i, (i < k)%nat -> distribution T (alpha i) /\ forall t, (t < T)%nat -> alpha i t <= K / INR T) ->
    (forall t, (t < T)%nat -> Sum k (fun i => g i t ^ 2) <= b) ->
    Sum k (fun i => E T (alpha i) (g i) ^ 2) <= Sum k (fun i => E T (alpha i) (fun t => g i t ^ 2)) /\
    (Sum k (fun i => E T (alpha i) (fun t => g i t ^ 2)) <= K * b)) /\
  (forall T alpha t, distribution T alpha -> (t < T)%nat -> alpha t <= INR T / INR T) /\
  (forall T (l l1 l2 y y1 y2 : R -> vector), (0 < T)%nat ->
    (forall s t, (t < T)%nat -> is_derive (fun s => l s t) s (l1 s t) /\ is_derive (fun s => l1 s t) s (l2 s t) /\
      is_derive (fun s => y s t) s (y1 s t) /\ is_derive (fun s => y1 s t) s (y2 s t)) ->
    let alpha s := softmax T (l s) in let z s := E T (alpha s) (y s) in
    let z1 s := E T (alpha s) (y1 s) + cov T (alpha s) (y s) (l1 s) in
    forall s, is_derive z s (z1 s) /\
    is_derive z1 s (E T (alpha s) (y2 s) + 2 * cov T (alpha s) (y1 s) (l1 s) + cov T (alpha s) (y s) (l2 s) +
      E T (alpha s) (fun t => (y s t - z s) * (l1 s t - E T (alpha s) (l1 s)) ^ 2))).
Proof.
  split; [|split].
  - intros k T K alpha g b Hk HT HA Hb. split.
    + apply Sum_le; intros i Hi. destruct (HA i Hi) as [D _]. assert (V := variance T (alpha i) (g i) D).
      assert (0 <= E T (alpha i) (fun t => (g i t - E T (alpha i) (g i)) ^ 2)) by
        (apply E_ge0; [easy|intros; apply pow2_ge_0]). lra.
    + assert (N := INR_pos T HT). assert (K0 : 0 <= K / INR T).
      { destruct (HA O Hk) as [[P _] L]. apply Rle_trans with (alpha O O); auto. }
      apply Rle_trans with (Sum k (fun i => Sum T (fun t => K / INR T * g i t ^ 2))).
      * apply Sum_le; intros i Hi. apply Sum_le; intros t Ht. apply Rmult_le_compat_r; [apply pow2_ge_0|].
        destruct (HA i Hi) as [[_ _] L]. now apply L.
      * rewrite Sum_swap. apply Rle_trans with (Sum T (fun _ => K / INR T * b)).
        -- apply Sum_le; intros t Ht. rewrite Sum_scal. apply Rmult_le_compat_l; auto.
        -- rewrite Sum_const. right. field. lra.
  - intros T alpha t [P S] Ht. assert (N := INR_pos T ltac:(lia)). replace (INR T / INR T) with 1 by (field; lra).
    rewrite <- S. now apply Sum_term.
  - intros T l l1 l2 y y1 y2 HT D alpha z z1 s.
    assert (A : forall s, distribution T (alpha s)) by (intros; now apply softmax_distribution).
    split; [apply weighted_derive; [easy|]; intros t Ht; split; now apply D|].
    apply (is_derive_ext (fun s => E T (alpha s) (y1 s) + (E T (alpha s) (fun t => y s t * l1 s t) -
      E T (alpha s) (y s) * E T (alpha s) (l1 s)))); [intros; unfold z1; now rewrite cov_raw|].
    assert (W := fun (y : R -> vector) y' => weighted_derive T l y (l1 s) y' s HT).
    assert (W1 := W y1 (y2 s) ltac:(intros; split; now apply D)).
    assert (W2 := W y (y1 s) ltac:(intros; split; now apply D)).
    assert (W3 := W l1 (l2 s) ltac:(intros; split; now apply D)).
    assert (W4 := W (fun s t => y s t * l1 s t) (fun t => y1 s t * l1 s t + y s t * l2 s t)
      ltac:(intros t Ht; split; [now apply D|apply (derive_mult (fun s => y s t) (fun s => l1 s t)); now apply D])).
    eapply derive_value; [exact (is_derive_plus _ _ _ _ _ W1 (is_derive_minus _ _ _ _ _ W4
      (derive_mult (fun s => E T (alpha s) (y s)) (fun s => E T (alpha s) (l1 s)) s _ _ W2 W3)))|].
    match goal with |- plus ?a (minus ?b ?c) = ?r => change (a + (b - c) = r) end. fold (alpha s).
    rewrite !cov_raw by easy. fold (z s). set (m := E T (alpha s) (l1 s)).
    rewrite (E_ext T (alpha s) (fun t => (y s t - z s) * (l1 s t - m) ^ 2) (fun t => y s t * l1 s t * l1 s t +
      (- 2 * m * (y s t * l1 s t) + (m ^ 2 * y s t + (- z s * (l1 s t * l1 s t) + (2 * m * z s * l1 s t +
      - z s * m ^ 2)))))) by (intros; ring).
    rewrite !E_plus, !E_scal, (E_const _ _ _ (A s)). fold (z s) m. ring.
Qed.

(** Every unit u < U of δ, the entries i < p of number u, has at most the length r_u. *)
Definition obeys (p U : nat) (unit : nat -> nat) (r delta : vector) : Prop := forall u, (u < U)%nat ->
  vnorm p (fun i => if Nat.eqb (unit i) u then delta i else 0) <= r u.

(** Ω_ρ around φ⁽⁰⁾ *)
Definition around (p U : nat) (unit : nat -> nat) (r phi0 phi : vector) : Prop := obeys p U unit r (vminus phi phi0).

Lemma obeys_mix p U unit r a b x y : Rabs x + Rabs y <= 1 -> obeys p U unit r a -> obeys p U unit r b ->
  obeys p U unit r (fun i => x * a i + y * b i).
Proof.
  intros Hxy Ha Hb u Hu. specialize (Ha u Hu). specialize (Hb u Hu).
  rewrite (norm_ext p _ (vplus (vscal x (fun i => if Nat.eqb (unit i) u then a i else 0))
    (vscal y (fun i => if Nat.eqb (unit i) u then b i else 0)))).
  2: { intros i _. unfold vplus, vscal. destruct (Nat.eqb (unit i) u); ring. }
  eapply Rle_trans; [apply norm_triangle|]. rewrite !norm_scal.
  assert (X := Rabs_pos x). assert (Y := Rabs_pos y).
  assert (R0 : 0 <= r u) by (eapply Rle_trans; [apply norm_ge0|exact Ha]).
  assert (A := Rmult_le_compat_l _ _ _ X Ha). assert (B := Rmult_le_compat_l _ _ _ Y Hb). nra.
Qed.

Lemma around_convex p U unit r phi0 : convex (around p U unit r phi0).
Proof.
  intros x z t Hx Hz Ht. unfold around.
  replace (vminus _ phi0) with (fun i => (1 - t) * vminus x phi0 i + t * vminus z phi0 i).
  - apply obeys_mix; [|easy|easy]. rewrite !Rabs_pos_eq by lra. lra.
  - apply FunctionalExtensionality.functional_extensionality; intros. unfold vminus, vplus, vscal. ring.
Qed.

(** ⟨v, Hδ⟩ from the form at (v + δ)/2 and (v − δ)/2. *)
Lemma polar p H v d : (forall k l, (k < p)%nat -> (l < p)%nat -> H k l = H l k) ->
  dot p v (matvec p H d) = form p H (fun i => / 2 * v i + / 2 * d i) - form p H (fun i => / 2 * v i + - / 2 * d i).
Proof.
  intros S. assert (Q : dot p d (matvec p H v) = dot p v (matvec p H d)).
  { rewrite dot_matvec, dot_sym. apply Sum_ext; intros i Hi. f_equal. apply Sum_ext; intros j Hj. unfold transpose.
    now rewrite S. }
  assert (B : forall y, form p H (fun i => / 2 * v i + y * d i) = / 4 * form p H v + / 2 * y * dot p v (matvec p H d) +
    / 2 * y * dot p d (matvec p H v) + y ^ 2 * form p H d).
  { intros y. unfold form. change (fun i => / 2 * v i + y * d i) with (vplus (vscal (/ 2) v) (vscal y d)).
    rewrite matvec_plus, !matvec_scal, dot_plus_l, !dot_plus_r, !dot_scal_l, !dot_scal_r. field. }
  rewrite !B, Q. field.
Qed.

(** kr-theorem-a-layers
    Covers: a part: everything from the bound M on second derivatives on, for any f_1, …, f_n with such a bound that are 0 at φ⁽⁰⁾, gradients and Hessians as derivatives along every line. On the page: that two layers have them, with the M of Theorem Z, wide stream.
    Reads: let n, τ ≥ 1, η > 0, f_1, …, f_n be functions on ℝᵖ with gradients and symmetric Hessians everywhere, f_j(φ⁽⁰⁾) = 0; let the entries fall into units with radii r_u ≥ r_min > 0, a move obey the radii if unit u of it is at most r_u long, Ω be the points whose difference from φ⁽⁰⁾ obeys them, and |⟨δ, ∇²f_j δ⟩| ≤ M at every point of Ω for every δ that obeys them. Let Γa = y for the Gram matrix Γ at φ⁽⁰⁾, φ̃ = φ⁽⁰⁾ + Σ a_j ∇f_j lie in Ω, V₀ = ⟨a, y⟩, ε = 5/2 M, Ā² = (1/n) Σ (‖∇f_j(φ⁽⁰⁾)‖ + 2M/r_min)², θ = ηĀ² < 1. Then gradient descent on L = (1/n) Σ (f_j − y_j)², projected on Ω, from φ⁽⁰⁾, has (1/τ Σ L(φ⁽ˢ⁾))^(1/2) ≤ (ε + √(ε² + (1 − θ)V₀/(ητ)))/(2(1 − θ)).
    Mistake: `let eps := 1 / 3 * M in` for `let eps := 5 / 2 * M in`
    Mistake: `V0 / (2 * eta * INR tau)` for `V0 / (eta * INR tau)`
    Mistake: without `Omega target ->`
    Mistake: without `(forall j, (j < n)%nat -> f j phi0 = 0) ->`
*)
Theorem kr_theorem_a_layers : forall p n tau U unit r rmin f D (H : nat -> vector -> matrix) M (phi0 a y : vector)
  (phi : nat -> vector) eta,
  (0 < n)%nat -> (0 < tau)%nat -> 0 < eta -> 0 < rmin -> (forall u, (u < U)%nat -> rmin <= r u) ->
  (forall j x, (j < n)%nat -> gradient p (f j) x (D j x) /\ jacobian_is p p (D j) x (H j x) /\
    forall k l, (k < p)%nat -> (l < p)%nat -> H j x k l = H j x l k) ->
  let Omega := around p U unit r phi0 in
  (forall j x delta, (j < n)%nat -> Omega x -> obeys p U unit r delta -> Rabs (form p (H j x) delta) <= M) ->
  (forall j, (j < n)%nat -> f j phi0 = 0) ->
  (forall j, (j < n)%nat -> matvec n (gram p D phi0) a j = y j) ->
  let target := fun i => phi0 i + Sum n (fun j => a j * D j phi0 i) in Omega target ->
  phi 0%nat = phi0 ->
  (forall s, (s < tau)%nat -> projected_step p Omega (loss n f y) eta (phi s) (phi (S s))) ->
  let V0 := dot n a y in let eps := 5 / 2 * M in
  let A2 := mean n (fun j => (vnorm p (D j phi0) + 2 * M / rmin) ^ 2) in let theta := eta * A2 in theta < 1 ->
  sqrt (mean tau (fun s => loss n f y (phi s))) <=
  (eps + sqrt (eps ^ 2 + (1 - theta) * V0 / (eta * INR tau))) / (2 * (1 - theta)).
Proof.
  intros p n tau U unit r rmin f D H M phi0 a y phi eta Hn Ht He Hr Hru HD Omega HM F0 HG target Htar P0 HP V0 eps A2
    theta Hth.
  assert (Cv : convex Omega) by apply around_convex.
  assert (small : forall v, vnorm p v <= rmin -> obeys p U unit r v).
  { intros v Hv u Hu. eapply Rle_trans; [|apply (Rle_trans _ _ _ Hv (Hru u Hu))]. apply sqrt_le_1_alt, Sum_le.
    intros i _. destruct (Nat.eqb (unit i) u); [lra|]. rewrite pow_i by lia. apply pow2_ge_0. }
  assert (in0 : Omega phi0).
  { apply small. rewrite norm_zero by (intros; unfold vminus; ring). lra. }
  assert (M0 : 0 <= M) by (eapply Rle_trans; [apply Rabs_pos|apply (HM O phi0 _ Hn in0 in0)]).
  assert (Iter : forall s, (s <= tau)%nat -> Omega (phi s)).
  { intros [|s] Hs; [now rewrite P0|]. destruct (HP s Hs) as (g & _ & N & _). exact N. }
  (* Taylor along a segment of Ω *)
  assert (Taylor : forall j x z K, (j < n)%nat -> Omega x -> Omega z ->
    (forall w, Omega w -> Rabs (form p (H j w) (vminus z x)) <= K) ->
    Rabs (f j z - f j x - dot p (D j x) (vminus z x)) <= / 2 * K).
  { intros j x z K Hj Hx Hz HK. set (d := vminus z x) in *.
    assert (D1 : forall s, is_derive (fun s => f j (along x d s)) s (dot p d (D j (along x d s)))).
    { intros s. rewrite dot_sym. apply gradient_along. now apply HD. }
    assert (D2 : forall s, is_derive (fun s => dot p d (D j (along x d s))) s (form p (H j (along x d s)) d)).
    { intros s. apply jacobian_along. now apply HD. }
    assert (S := step_second _ _ _ K D1 D2 (fun s Hs => HK _ (Cv x z s Hx Hz Hs)) 1 ltac:(lra)).
    cbv beta in S. unfold d at 1 in S. rewrite along_to, along_0, Rmult_1_l, pow1, Rmult_1_r, dot_sym in S. exact S. }
  assert (Grad : forall j x, (j < n)%nat -> Omega x -> vnorm p (D j x) <= vnorm p (D j phi0) + 2 * M / rmin).
  { intros j x Hj Hx. set (g := vminus (D j x) (D j phi0)). set (d := vminus x phi0).
    replace (vnorm p (D j x)) with (vnorm p (vplus (D j phi0) g))
      by (apply norm_ext; intros; unfold g, vplus, vminus; ring).
    eapply Rle_trans; [apply norm_triangle|]. apply Rplus_le_compat_l.
    assert (G0 := norm_ge0 p g). destruct (Req_dec (vnorm p g) 0) as [->|Z].
    { apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]. }
    destruct (unit_along p g Z) as [U1 U2]. set (v := vscal rmin (vscal (/ vnorm p g) g)).
    assert (Hv : obeys p U unit r v).
    { apply small. unfold v. rewrite norm_scal, U1, Rabs_pos_eq; lra. }
    assert (D2 : forall s, is_derive (fun s => dot p v (D j (along phi0 d s))) s
      (dot p v (matvec p (H j (along phi0 d s)) d))) by (intros s; apply jacobian_along; now apply HD).
    assert (B : forall s, 0 <= s <= 1 -> Rabs (dot p v (matvec p (H j (along phi0 d s)) d)) <= 2 * M).
    { intros s Hs. assert (I : Omega (along phi0 d s)) by exact (Cv phi0 x s in0 Hx Hs). rewrite polar by now apply HD.
      assert (Q : forall c, Rabs c <= / 2 -> obeys p U unit r (fun i => / 2 * v i + c * d i))
        by (intros; apply obeys_mix; [rewrite (Rabs_pos_eq (/ 2)); lra|easy|exact Hx]).
      assert (B1 := HM j _ _ Hj I (Q (/ 2) ltac:(rewrite Rabs_pos_eq; lra))).
      assert (B2 := HM j _ _ Hj I (Q (- / 2) ltac:(rewrite Rabs_Ropp, Rabs_pos_eq; lra))).
      apply Rabs_le_between in B1. apply Rabs_le_between in B2. apply Rabs_le. lra. }
    assert (S := step_first _ _ _ D2 B 1 ltac:(lra)). cbv beta in S. unfold d in S.
    rewrite along_to, along_0, <- dot_minus_r in S. fold g in S.
    unfold v in S. rewrite dot_scal_l, dot_sym, U2, Rabs_pos_eq in S by (apply Rmult_le_pos; lra).
    apply Rmult_le_reg_l with rmin; [easy|]. replace (rmin * (2 * M / rmin)) with (2 * M) by (field; lra). lra. }
  assert (Lin : forall j, (j < n)%nat -> dot p (D j phi0) (vminus target phi0) = y j).
  { intros j Hj. rewrite <- HG by easy. unfold matvec, gram.
    rewrite (dot_ext p _ _ (D j phi0) (fun i => Sum n (fun l => a l * D l phi0 i)) (fun _ _ => eq_refl))
      by (intros; unfold vminus, target; ring).
    unfold dot. rewrite (Sum_ext p _ (fun i => Sum n (fun l => D j phi0 i * D l phi0 i * a l)))
      by (intros; rewrite <- Sum_scal; apply Sum_ext; intros; ring).
    rewrite Sum_swap. apply Sum_ext; intros. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring. }
  assert (HV : sq p (vminus (phi 0%nat) target) = V0).
  { rewrite P0, sq_opp. unfold V0, dot. rewrite (Sum_ext n _ (fun j => a j * dot p (D j phi0) (vminus target phi0)))
      by (intros; now rewrite Lin).
    rewrite sq_dot. unfold dot at 1. rewrite (Sum_ext p _ (fun i => Sum n (fun j => a j * (D j phi0 i *
      vminus target phi0 i)))).
    - rewrite Sum_swap. apply Sum_ext; intros. unfold dot. now rewrite Sum_scal.
    - intros i _. unfold vminus at 1, target at 1. rewrite Rplus_comm. unfold Rminus. rewrite Rplus_assoc, Rplus_opp_r,
      Rplus_0_r, Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring. }
  rewrite <- HV. apply (kr_theorem_a p n tau f D y Omega target phi eta eps A2); try easy.
  - intros j x Hj. now apply HD.
  - intros s Hs. apply rms_bound; [easy|unfold eps; lra|]. intros j Hj. unfold tangent_error, residual.
    assert (Is := Iter s ltac:(lia)).
    assert (E1 := Taylor j phi0 target M Hj in0 Htar (fun w Hw => HM j w _ Hj Hw Htar)).
    assert (E2 := Taylor j (phi s) target (4 * M) Hj Is Htar). rewrite (F0 j Hj), (Lin j Hj) in E1.
    assert (E3 : forall w, Omega w -> Rabs (form p (H j w) (vminus target (phi s))) <= 4 * M).
    { intros w Hw. set (d := fun i => / 2 * vminus target phi0 i + - / 2 * vminus (phi s) phi0 i).
      replace (vminus target (phi s)) with (vscal 2 d).
      - unfold form. rewrite matvec_scal, dot_scal_l, dot_scal_r. fold (form p (H j w) d).
        assert (Q := HM j w d Hj Hw). rewrite !Rabs_mult, (Rabs_pos_eq 2) by lra.
        assert (Rabs (form p (H j w) d) <= M); [|lra]. apply Q. apply obeys_mix; [|exact Htar|exact Is].
        rewrite Rabs_Ropp, Rabs_pos_eq; lra.
      - apply FunctionalExtensionality.functional_extensionality; intros. unfold d, vscal, vminus. field. }
    specialize (E2 E3). apply Rabs_le_between in E1. apply Rabs_le_between in E2. apply Rabs_le. unfold eps. lra.
  - intros s Hs. exists (mean n (fun j => gram p D (phi s) j j)). split; [right; now right|].
    apply mean_le. intros j Hj. unfold gram. rewrite <- sq_dot. apply norm_le_sq, Grad; [easy|]. apply Iter. lia.
Qed.
