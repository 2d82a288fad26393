(** Self-bounding: the squared gradient of a squared loss is at most a multiple of the loss; Theorem A. *)
Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.means base.matrices base.gradient base.squared_loss.
From Shallow Require Import base.draws.

Import ListNotations.

Open Scope R_scope.

(** rᵀGr / (n‖r‖²): the factor along the gradient (0 if r = 0) *)
Definition rayleigh (n : nat) (G : matrix) (r : vector) : R := form n G r / (INR n * sq n r).

(** A² is one of the three factors: along the gradient, λ_max(G)/n in Gram form, tr(G)/n in trace form *)
Definition factor (n : nat) (G : matrix) (r : vector) (A2 : R) : Prop :=
  A2 = rayleigh n G r \/ (exists lam, largest_eigenvalue n G lam /\ A2 = lam / INR n) \/ A2 = mean n (fun j => G j j).

Lemma sq_loss n f y x : (0 < n)%nat -> sq n (residual f y x) = INR n * loss n f y x.
Proof. intros H. apply INR_pos in H. unfold loss, mean, sq. field. lra. Qed.

Lemma quadratic_along n G r : (0 < n)%nat -> form n G r = rayleigh n G r * (INR n * sq n r).
Proof.
  intros H. apply INR_pos in H. unfold rayleigh. destruct (Req_dec (sq n r) 0) as [Z|Z].
  - rewrite quadratic_zero by easy. unfold Rdiv. ring.
  - field. split; lra.
Qed.

Lemma quadratic_factor p n D x r A2 : (0 < n)%nat -> factor n (gram p D x) r A2 ->
  form n (gram p D x) r <= A2 * (INR n * sq n r).
Proof.
  intros H F. assert (N := INR_pos n H). destruct F as [->|[(lam & [_ L] & ->)| ->]].
  - right. now apply quadratic_along.
  - replace (lam / INR n * (INR n * sq n r)) with (lam * sq n r) by (field; lra). apply L.
  - eapply Rle_trans; [apply quadratic_trace|]. right. unfold mean. field. lra.
Qed.

(** ‖∇L‖² ≤ 4 A² L, with equality along the gradient *)
Lemma gradient_factor p n f y x D g A2 : (0 < n)%nat -> (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) ->
  gradient p (loss n f y) x g -> factor n (gram p D x) (residual f y x) A2 -> sq p g <= 4 * A2 * loss n f y x.
Proof.
  intros H G K F. assert (N := INR_pos n H). rewrite (loss_gradient_sq p n f y x D g G K).
  assert (Q := quadratic_factor p n D x (residual f y x) A2 H F). rewrite sq_loss in Q by easy.
  apply Rmult_le_reg_l with (INR n ^ 2 / 4); [apply Rdiv_lt_0_compat; [apply pow_lt; lra|lra]|].
  replace (INR n ^ 2 / 4 * (4 / INR n ^ 2 * form n (gram p D x) (residual f y x)))
    with (form n (gram p D x) (residual f y x)) by (field; lra). lra.
Qed.

Lemma gradient_rayleigh p n f y x D g : (0 < n)%nat -> (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) ->
  gradient p (loss n f y) x g -> sq p g = 4 * rayleigh n (gram p D x) (residual f y x) * loss n f y x.
Proof.
  intros H G K. assert (N := INR_pos n H). rewrite (loss_gradient_sq p n f y x D g G K).
  rewrite (quadratic_along n (gram p D x) (residual f y x) H), sq_loss by easy. field. lra.
Qed.

Lemma drift p n f D y Omega x x' z eta A2 : (0 < n)%nat -> 0 <= eta ->
  (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) -> convex Omega -> Omega z ->
  projected_step p Omega (loss n f y) eta x x' -> factor n (gram p D x) (residual f y x) A2 ->
  sq p (vminus x' z) - sq p (vminus x z) <=
  - 4 * eta * ((1 - eta * A2) * loss n f y x - rms n (tangent_error p f D y x z) * sqrt (loss n f y x)).
Proof.
  intros Hn He G C Hz (g & K & P) F.
  assert (N := nearest_gain p Omega _ x' z C P Hz). rewrite (expand p x g z eta), (pull p n f y x D g z G K) in N.
  rewrite (sq_opp p z x') in N. assert (S := sq_ge0 p (vminus (vminus x (vscal eta g)) x')).
  assert (B := gradient_factor p n f y x D g A2 Hn G K F).
  assert (M := mean_rms n (residual f y x) (tangent_error p f D y x z)).
  change (sqrt (loss n f y x)) with (rms n (residual f y x)).
  assert (eta * (eta * sq p g) <= eta * (eta * (4 * A2 * loss n f y x)))
    by (apply Rmult_le_compat_l; [easy|]; now apply Rmult_le_compat_l).
  apply (Rmult_le_compat_l eta _ _ He) in M. lra.
Qed.

(** a ℓ² − ε ℓ ≤ c keeps ℓ below the larger root *)
Lemma below_root a c eps l : 0 < a -> a * l ^ 2 - eps * l <= c -> l <= (eps + sqrt (eps ^ 2 + 4 * a * c)) / (2 * a).
Proof.
  intros Ha H. apply Rmult_le_reg_l with (2 * a); [lra|].
  replace (2 * a * ((eps + sqrt (eps ^ 2 + 4 * a * c)) / (2 * a))) with (eps + sqrt (eps ^ 2 + 4 * a * c)) by (field;
    lra).
  enough (2 * a * l - eps <= sqrt (eps ^ 2 + 4 * a * c)) by lra.
  eapply Rle_trans; [apply Rle_abs|]. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. unfold Rsqr.
  assert (4 * a * (a * l ^ 2 - eps * l) <= 4 * a * c) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma root_split a V H eps : 0 < a -> 0 <= V -> 0 < H -> 0 <= eps ->
  (eps + sqrt (eps ^ 2 + a * V / H)) / (2 * a) <= eps / a + sqrt (V / (4 * a * H)).
Proof.
  intros Ha HV HH He. assert (W : 0 <= V / (4 * a * H)).
  { apply Rmult_le_pos; [easy|]. left. apply Rinv_0_lt_compat. apply Rmult_lt_0_compat; lra. }
  apply Rmult_le_reg_l with (2 * a); [lra|].
  replace (2 * a * ((eps + sqrt (eps ^ 2 + a * V / H)) / (2 * a))) with (eps + sqrt (eps ^ 2 + a * V / H)) by (field;
    lra).
  replace (2 * a * (eps / a + sqrt (V / (4 * a * H)))) with (eps + (eps + 2 * a * sqrt (V / (4 * a * H)))) by (field;
    lra).
  apply Rplus_le_compat_l. set (q := sqrt (V / (4 * a * H))).
  assert (Hq : 0 <= q) by apply sqrt_pos. assert (q ^ 2 = V / (4 * a * H)) by now apply pow2_sqrt.
  rewrite <- (sqrt_pow2 (eps + 2 * a * q)) by (apply Rplus_le_le_0_compat; [|apply Rmult_le_pos]; lra).
  apply sqrt_le_1_alt. replace (a * V / H) with (4 * a ^ 2 * (V / (4 * a * H))) by (field; lra).
  rewrite <- H0. assert (0 <= eps * (a * q)) by (apply Rmult_le_pos; [easy|apply Rmult_le_pos; lra]). lra.
Qed.

Lemma Sum_step tau (a : vector) c : 0 <= a tau -> (forall s, (s < tau)%nat -> a (S s) - a s <= c s) -> - a O <= Sum tau
  c.
Proof.
  intros H0 H. enough (a tau - a O <= Sum tau c) by lra. clear H0. induction tau; simpl; [lra|].
  assert (a (S tau) - a tau <= c tau) by (apply H; lia).
  assert (a tau - a O <= Sum tau c) by (apply IHtau; intros; apply H; lia).
  lra.
Qed.

(** From a drift at every step, with step sizes that may vary, to the bound on the weighted root mean square of x. *)
Lemma summed tau (eta x V : vector) theta eps H : (forall s, (s < tau)%nat -> 0 <= eta s) -> H = Sum tau eta -> 0 < H ->
  theta < 1 -> 0 <= eps -> (forall s, 0 <= V s) ->
  (forall s, (s < tau)%nat -> V (S s) - V s <= - 4 * eta s * ((1 - theta) * x s ^ 2 - eps * x s)) ->
  sqrt (/ H * Sum tau (fun s => eta s * x s ^ 2)) <= (eps + sqrt (eps ^ 2 + (1 - theta) * V O / H)) / (2 * (1 - theta)).
Proof.
  intros He HH Hp Ht Heps HV D. set (l := sqrt _).
  assert (Q : l ^ 2 = / H * Sum tau (fun s => eta s * x s ^ 2)).
  { apply pow2_sqrt. apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat|].
    apply Sum_ge0. intros; apply Rmult_le_pos; [auto|apply pow2_ge_0]. }
  assert (T := Sum_step tau V _ (HV tau) D).
  rewrite (Sum_ext tau _ (fun s => - 4 * (1 - theta) * (eta s * x s ^ 2) + 4 * eps * (eta s * x s))) in T by (intros;
    ring).
  rewrite Sum_plus, !Sum_scal in T.
  assert (L : / H * Sum tau (fun s => eta s * x s) <= l).
  { apply le_of_sq; [apply sqrt_pos|]. rewrite Q.
    assert (C := Sum_cauchy tau eta (fun _ => 1) x He). cbv beta in C.
    rewrite (Sum_ext tau _ (fun s => eta s * x s)) in C by (intros; ring).
    rewrite (Sum_ext tau (fun i => eta i * 1 ^ 2) eta) in C by (intros; ring). rewrite <- HH in C.
    rewrite Rpow_mult_distr. replace (/ H * Sum tau (fun s => eta s * x s ^ 2))
      with ((/ H) ^ 2 * (H * Sum tau (fun s => eta s * x s ^ 2))) by (field; lra).
    apply Rmult_le_compat_l; [apply pow2_ge_0|easy]. }
  replace ((1 - theta) * V O / H) with (4 * (1 - theta) * (V O / (4 * H))) by (field; lra).
  apply below_root; [lra|]. rewrite Q.
  apply (Rmult_le_compat_l eps _ _ Heps) in L.
  enough ((1 - theta) * (/ H * Sum tau (fun s => eta s * x s ^ 2)) - eps * (/ H * Sum tau (fun s => eta s * x s))
    <= V O / (4 * H)) by lra.
  apply Rmult_le_reg_l with (4 * H); [lra|].
  replace (4 * H * (V O / (4 * H))) with (V O) by (field; lra).
  match goal with |- ?l <= _ => replace l with (4 * (1 - theta) * Sum tau (fun s => eta s * x s ^ 2)
    - 4 * eps * Sum tau (fun s => eta s * x s)) by (field; lra) end. lra.
Qed.

Lemma loss_root n f y x : sqrt (loss n f y x) ^ 2 = loss n f y x.
Proof. apply pow2_sqrt, loss_ge0. Qed.

Lemma varying p n tau f D y Omega z (phi : nat -> vector) (eta : vector) eps theta :
  (0 < n)%nat -> (forall s, (s < tau)%nat -> 0 <= eta s) -> 0 < Sum tau eta ->
  (forall j x, (j < n)%nat -> gradient p (f j) x (D j x)) -> convex Omega -> Omega z ->
  (forall s, (s < tau)%nat -> projected_step p Omega (loss n f y) (eta s) (phi s) (phi (S s))) ->
  (forall s, (s < tau)%nat -> rms n (tangent_error p f D y (phi s) z) <= eps) ->
  (forall s, (s < tau)%nat -> exists A2, factor n (gram p D (phi s)) (residual f y (phi s)) A2 /\ eta s * A2 <= theta)
    ->
  theta < 1 ->
  sqrt (/ Sum tau eta * Sum tau (fun s => eta s * loss n f y (phi s))) <=
  (eps + sqrt (eps ^ 2 + (1 - theta) * sq p (vminus (phi O) z) / Sum tau eta)) / (2 * (1 - theta)) /\
  0 <= eps.
Proof.
  intros Hn He HH G C Hz P M F Ht.
  assert (Heps : 0 <= eps).
  { destruct tau; [simpl in HH; lra|]. eapply Rle_trans; [apply rms_ge0|apply (M O)]. lia. }
  split; [|easy].
  rewrite (Sum_ext tau (fun s => eta s * loss n f y (phi s)) (fun s => eta s * sqrt (loss n f y (phi s)) ^ 2))
    by (intros; now rewrite loss_root).
  apply (summed tau eta (fun s => sqrt (loss n f y (phi s))) (fun s => sq p (vminus (phi s) z)));
    try easy; [intros; apply sq_ge0|].
  intros s Hs. destruct (F s Hs) as (A2 & FA & HA). assert (Es := He s Hs).
  assert (d := drift p n f D y Omega _ _ z (eta s) A2 Hn Es (fun j => G j (phi s)) C Hz (P s Hs) FA).
  eapply Rle_trans; [apply d|]. rewrite loss_root.
  assert (L := loss_ge0 n f y (phi s)). assert (R0 := sqrt_pos (loss n f y (phi s))).
  assert (H1 : eta s * A2 * loss n f y (phi s) <= theta * loss n f y (phi s)) by now apply Rmult_le_compat_r.
  assert (H2 := Rmult_le_compat_r _ _ _ R0 (M s Hs)).
  apply (Rmult_le_compat_l _ _ _ Es) in H1. apply (Rmult_le_compat_l _ _ _ Es) in H2. lra.
Qed.

(** kr-theorem-a
    Covers: the whole statement.
    Reads: let n, τ ≥ 1, η > 0, f_1, …, f_n be any functions on ℝᵖ with gradients ∇f_j, Ω convex, φ⁽ˢ⁺¹⁾ a nearest point of Ω to φ⁽ˢ⁾ − η∇L(φ⁽ˢ⁾) for s < τ, where L is the mean squared loss, and φ̃ any point of Ω. If at every step s < τ the root mean square of e_j = f_j − y_j + ⟨∇f_j, φ̃ − φ⁽ˢ⁾⟩ is at most ε and one of the three factors (rᵀGr/(n‖r‖²), which is 0 at r = 0, λ_max(G)/n, tr(G)/n) is at most Ā², and θ = ηĀ² < 1, then (1/τ Σ L(φ⁽ˢ⁾))^(1/2) ≤ (ε + √(ε² + (1 − θ)V₀/(ητ)))/(2(1 − θ)) ≤ ε/(1 − θ) + √(V₀/(4(1 − θ)ητ)), with V₀ = ‖φ⁽⁰⁾ − φ̃‖².
    Mistake: `(4 * eta * INR tau)` for `(4 * (1 - theta) * eta * INR tau)`
    Mistake: without `theta < 1 ->`
    Mistake: `(2 * eta * INR tau)` for `(eta * INR tau)`
*)
Theorem kr_theorem_a : forall p n tau f D y Omega z (phi : nat -> vector) eta eps A2,
  let V0 := sq p (vminus (phi O) z) in let theta := eta * A2 in
  (0 < n)%nat -> (0 < tau)%nat -> 0 < eta ->
  (forall j x, (j < n)%nat -> gradient p (f j) x (D j x)) -> convex Omega -> Omega z ->
  (forall s, (s < tau)%nat -> projected_step p Omega (loss n f y) eta (phi s) (phi (S s))) ->
  (forall s, (s < tau)%nat -> rms n (tangent_error p f D y (phi s) z) <= eps) ->
  (forall s, (s < tau)%nat -> exists As2, factor n (gram p D (phi s)) (residual f y (phi s)) As2 /\ As2 <= A2) ->
  theta < 1 ->
  let root := (eps + sqrt (eps ^ 2 + (1 - theta) * V0 / (eta * INR tau))) / (2 * (1 - theta)) in
  sqrt (mean tau (fun s => loss n f y (phi s))) <= root /\
  root <= eps / (1 - theta) + sqrt (V0 / (4 * (1 - theta) * eta * INR tau)).
Proof.
  intros p n tau f D y Omega z phi eta eps A2 V0 theta Hn Htau He G C Hz P M F Ht root.
  assert (N := INR_pos tau Htau).
  assert (HS : Sum tau (fun _ => eta) = eta * INR tau) by (rewrite Sum_const; ring).
  assert (Hp : 0 < eta * INR tau) by now apply Rmult_lt_0_compat.
  destruct (varying p n tau f D y Omega z phi (fun _ => eta) eps theta Hn) as [B Heps]; auto.
  - intros; lra.
  - now rewrite HS.
  - intros s Hs. destruct (F s Hs) as (a & Fa & Ha). exists a. split; [easy|]. apply Rmult_le_compat_l; lra.
  - rewrite HS, Sum_scal in B. split.
    + replace (mean tau (fun s => loss n f y (phi s)))
        with (/ (eta * INR tau) * (eta * Sum tau (fun s => loss n f y (phi s)))) by (unfold mean; field; lra). exact B.
    + replace (4 * (1 - theta) * eta * INR tau) with (4 * (1 - theta) * (eta * INR tau)) by ring.
      apply root_split; try easy; [lra|apply sq_ge0].
Qed.

Lemma factor_ge0 p n D x r A2 : factor n (gram p D x) r A2 -> (0 < n)%nat -> 0 <= A2.
Proof.
  intros F Hn. assert (N := INR_pos n Hn). destruct F as [->|[(lam & L & ->)| ->]].
  - unfold rayleigh. rewrite quadratic_gram. destruct (Req_dec (sq n r) 0) as [Z|Z].
    + rewrite Z, Rmult_0_r. unfold Rdiv. rewrite Rinv_0. lra.
    + apply Rmult_le_pos; [apply sq_ge0|]. left. apply Rinv_0_lt_compat, Rmult_lt_0_compat; [easy|].
      assert (0 <= sq n r) by apply sq_ge0. lra.
  - apply Rmult_le_pos; [now apply (largest_ge0 p n D x)|left; now apply Rinv_0_lt_compat].
  - apply mean_ge0. intros. unfold gram. rewrite <- sq_dot. apply sq_ge0.
Qed.

(** kr-theorem-a-gradient
    Covers: the whole statement.
    Reads: with G = (⟨∇f_j, ∇f_k⟩) at a point where r ≠ 0 and λ the largest eigenvalue of G: ‖∇L‖² = 4 rᵀGr/(n‖r‖²) L ≤ 4 λ/n L ≤ 4 tr(G)/n L. The first inequality is an equality iff Gr = λr, the second iff all ∇f_j are multiples of one vector.
    Mistake: `4 * (lam / INR n) * L <= 3 * mean n` for `4 * (lam / INR n) * L <= 4 * mean n`
    Mistake: without `sq n r <> 0 ->`
*)
Theorem kr_theorem_a_gradient : forall p n f D y x g lam,
  let G := gram p D x in let r := residual f y x in let L := loss n f y x in
  (0 < n)%nat -> (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) -> gradient p (loss n f y) x g ->
  sq n r <> 0 -> largest_eigenvalue n G lam ->
  sq p g = 4 * (form n G r / (INR n * sq n r)) * L /\
  sq p g <= 4 * (lam / INR n) * L <= 4 * mean n (fun j => G j j) * L /\
  (sq p g = 4 * (lam / INR n) * L <-> forall j, (j < n)%nat -> matvec n G r j = lam * r j) /\
  (4 * (lam / INR n) * L = 4 * mean n (fun j => G j j) * L <->
   exists u a, forall j i, (j < n)%nat -> (i < p)%nat -> D j x i = a j * u i).
Proof.
  intros p n f D y x g lam G r L Hn HG K Hr Hl. assert (N := INR_pos n Hn).
  assert (A := gradient_rayleigh p n f y x D g Hn HG K). unfold rayleigh in A. fold G r L in A.
  assert (HL : sq n r = INR n * L) by now apply sq_loss.
  assert (Lp : 0 < L).
  { destruct (Req_dec L 0) as [Z|Z]; [rewrite HL, Z in Hr; lra|]. assert (0 <= L) by apply loss_ge0. lra. }
  assert (B := gradient_factor p n f y x D g (lam / INR n) Hn HG K (or_intror (or_introl (ex_intro _ lam (conj Hl
    eq_refl))))).
  fold L in B. assert (T := trace_gap p n D x lam Hl). fold G in T.
  assert (Q : sq p g = 4 / INR n ^ 2 * form n G r) by (rewrite A, HL; field; lra).
  split; [exact A|]. split; [split; [exact B|]|split].
  - assert (lam <= Sum n (fun j => G j j)) by apply T.
    assert (lam / INR n <= mean n (fun j => G j j)).
    { unfold mean, Rdiv. rewrite (Rmult_comm lam). apply Rmult_le_compat_l; [|easy]. left. now apply Rinv_0_lt_compat. }
    apply Rmult_le_compat_r; lra.
  - rewrite Q. split.
    + intros E. apply (top_vector p n D x lam r Hl). fold G. rewrite HL.
      apply Rmult_eq_reg_l with (4 / INR n ^ 2); [rewrite E; field; lra|].
      apply Rgt_not_eq, Rdiv_lt_0_compat; [lra|apply pow_lt; lra].
    + intros E. assert (form n G r = lam * sq n r) as ->.
      { unfold form, sq. rewrite <- Sum_scal. apply Sum_ext. intros j Hj. rewrite E by easy. ring. }
      rewrite HL. field. lra.
  - rewrite <- (proj2 T). unfold mean. split; intros E.
    + apply Rmult_eq_reg_l with (4 * / INR n * L); [unfold Rdiv in E; lra|].
      assert (0 < / INR n) by now apply Rinv_0_lt_compat. apply Rgt_not_eq, Rmult_lt_0_compat; lra.
    + rewrite E. unfold Rdiv. ring.
Qed.

(** kr-theorem-a-drift
    Covers: the whole statement.
    Reads: for every step x' of projected gradient descent on the mean squared loss L from x, any η > 0, any z in the convex Ω, and A² any of the three factors at x, ‖x' − z‖² − ‖x − z‖² ≤ −4η[(1 − ηA²)L − ε√L], where ε is the root mean square of e_j = f_j − y_j + ⟨∇f_j, z − x⟩. If x' = x − η∇L and A² is the factor along the gradient, the difference is exactly −4η[(1 − ηA²)L − (1/n) Σ r_j e_j].
    Mistake: `- 5 * eta * ((1 - eta * A2)` for `- 4 * eta * ((1 - eta * A2)`
    Mistake: without `Omega z ->`
*)
Theorem kr_theorem_a_drift : forall p n f D y Omega x x' z eta,
  let V u := sq p (vminus u z) in let e := tangent_error p f D y x z in let L := loss n f y in
  (0 < n)%nat -> 0 < eta -> (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) -> convex Omega -> Omega z ->
  projected_step p Omega L eta x x' ->
  (forall A2, factor n (gram p D x) (residual f y x) A2 ->
    V x' - V x <= - 4 * eta * ((1 - eta * A2) * L x - rms n e * sqrt (L x))) /\
  (forall g, gradient p L x g -> (forall i, (i < p)%nat -> x' i = x i - eta * g i) ->
    V x' - V x = - 4 * eta * ((1 - eta * rayleigh n (gram p D x) (residual f y x)) * L x
      - mean n (fun j => residual f y x j * e j))).
Proof.
  intros p n f D y Omega x x' z eta V e L Hn He G C Hz P. split.
  - intros A2 F. apply (drift p n f D y Omega x x' z eta A2); auto. lra.
  - intros g K E. unfold V. rewrite (sq_ext p (vminus x' z) (vminus (vminus x (vscal eta g)) z))
      by (intros i Hi; unfold vminus, vscal; rewrite E by easy; ring).
    rewrite (expand p x g z eta), (pull p n f y x D g z G K), (gradient_rayleigh p n f y x D g Hn G K). fold L e. ring.
Qed.

(** kr-theorem-a-polyak
    Covers: the whole statement.
    Reads: as Theorem A, with step sizes η_s ≥ 0 that may vary, η_s A_s² ≤ θ < 1 at every step for one of the three factors, and H = Σ η_s > 0: (1/H Σ η_s L(φ⁽ˢ⁾))^(1/2) ≤ (ε + √(ε² + (1 − θ)V₀/H))/(2(1 − θ)) ≤ ε/(1 − θ) + √(V₀/(4(1 − θ)H)). If η_s = 4θ L(φ⁽ˢ⁾)/‖∇L(φ⁽ˢ⁾)‖² with 0 < θ < 1 and no gradient vanishes, then this holds too, H > 0, and H ≥ θτ/Ā² for every Ā² that is at least one of the three factors at every step.
    Mistake: `(1 - theta) * V0 / (2 * H))` for `(1 - theta) * V0 / H)`
    Mistake: `2 * theta * INR tau / A2` for `theta * INR tau / A2`
*)
Theorem kr_theorem_a_polyak : forall p n tau f D y Omega z (phi g : nat -> vector) eta eps theta,
  let V0 := sq p (vminus (phi O) z) in let L s := loss n f y (phi s) in let H := Sum tau eta in
  let A2s s := factor n (gram p D (phi s)) (residual f y (phi s)) in
  let root := (eps + sqrt (eps ^ 2 + (1 - theta) * V0 / H)) / (2 * (1 - theta)) in
  let bound := sqrt (/ H * Sum tau (fun s => eta s * L s)) <= root /\
    root <= eps / (1 - theta) + sqrt (V0 / (4 * (1 - theta) * H)) in
  (0 < n)%nat -> (0 < tau)%nat -> (forall j x, (j < n)%nat -> gradient p (f j) x (D j x)) -> convex Omega -> Omega z ->
  (forall s, (s < tau)%nat -> gradient p (loss n f y) (phi s) (g s) /\
    nearest p Omega (vminus (phi s) (vscal (eta s) (g s))) (phi (S s))) ->
  (forall s, (s < tau)%nat -> rms n (tangent_error p f D y (phi s) z) <= eps) -> theta < 1 ->
  ((forall s, (s < tau)%nat -> 0 <= eta s /\ exists A2, A2s s A2 /\ eta s * A2 <= theta) -> 0 < H -> bound) /\
  (0 < theta -> (forall s, (s < tau)%nat -> sq p (g s) <> 0 /\ eta s = 4 * theta * L s / sq p (g s)) ->
   0 < H /\ bound /\
   forall A2, (forall s, (s < tau)%nat -> exists a, A2s s a /\ a <= A2) -> theta * INR tau / A2 <= H).
Proof.
  intros p n tau f D y Omega z phi g eta eps theta V0 L H A2s root bound Hn Htau G C Hz P M Ht.
  assert (M0 : (forall s, (s < tau)%nat -> 0 <= eta s /\ exists A2, A2s s A2 /\ eta s * A2 <= theta) -> 0 < H -> bound).
  { intros F HH. destruct (varying p n tau f D y Omega z phi eta eps theta Hn) as [B Heps]; auto.
    - intros s Hs. apply (F s Hs).
    - intros s Hs. exists (g s). now apply P.
    - intros s Hs. apply (F s Hs).
    - split; [exact B|]. apply root_split; try easy; [lra|apply sq_ge0]. }
  split; [exact M0|]. intros Ht0 E.
  assert (K : forall s, (s < tau)%nat -> 0 < eta s /\ 0 < L s /\
    eta s * rayleigh n (gram p D (phi s)) (residual f y (phi s)) = theta /\ sq p (g s) * eta s = 4 * theta * L s).
  { intros s Hs. destruct (E s Hs) as [E1 E2]. destruct (P s Hs) as [P1 _].
    assert (A := gradient_rayleigh p n f y (phi s) D (g s) Hn (fun j => G j (phi s)) P1). fold (L s) in A.
    assert (S0 := sq_ge0 p (g s)). assert (L0 : 0 <= L s) by apply (loss_ge0 n f y).
    destruct (Req_dec (L s) 0) as [Z|Z]; [rewrite Z in A; lra|].
    assert (Q : sq p (g s) * eta s = 4 * theta * L s) by (rewrite E2; field; easy).
    split; [rewrite E2; apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra|lra]|].
    split; [lra|]. split; [|easy]. apply Rmult_eq_reg_l with (4 * L s); [|lra].
    rewrite <- (Rmult_comm theta) in *. rewrite A in Q. lra. }
  assert (HH : 0 < H) by (apply Sum_gt0; [easy|]; intros; now apply K).
  split; [easy|]. split.
  - apply M0; [|easy]. intros s Hs. destruct (K s Hs) as (K1 & _ & K3 & _). split; [lra|].
    eexists. split; [left; reflexivity|]. lra.
  - intros A2 F. assert (W : forall s, (s < tau)%nat -> theta <= A2 * eta s).
    { intros s Hs. destruct (F s Hs) as (a & Fa & Ha). destruct (K s Hs) as (K1 & K2 & _ & K4).
      destruct (P s Hs) as [P1 _].
      assert (B := gradient_factor p n f y (phi s) D (g s) a Hn (fun j => G j (phi s)) P1 Fa). fold (L s) in B.
      apply (Rmult_le_compat_r (eta s)) in B; [|lra]. rewrite K4 in B.
      assert (a * eta s <= A2 * eta s) by (apply Rmult_le_compat_r; lra).
      apply Rle_trans with (a * eta s); [|easy]. apply Rmult_le_reg_l with (4 * L s); [lra|]. lra. }
    assert (A0 : 0 < A2).
    { specialize (W O Htau). destruct (K O Htau) as (K1 & _).
      destruct (Rle_or_lt A2 0); [|easy]. assert (0 <= - A2 * eta O) by (apply Rmult_le_pos; lra). lra. }
    assert (INR tau * theta <= A2 * H).
    { rewrite <- Sum_const. unfold H. rewrite <- Sum_scal. now apply Sum_le. }
    apply Rmult_le_reg_l with A2; [easy|]. replace (A2 * (theta * INR tau / A2)) with (INR tau * theta) by (field;
      lra). easy.
Qed.

Lemma root_at eps g theta : 0 <= eps -> 0 < g -> 0 < theta < 1 ->
  let root := (eps + sqrt (eps ^ 2 + (1 - theta) * (g ^ 2 / theta))) / (2 * (1 - theta)) in
  eps + g <= root /\ (root = eps + g <-> theta = g / (2 * (eps + g))).
Proof.
  intros He Hg Ht root. set (w := eps ^ 2 + (1 - theta) * (g ^ 2 / theta)).
  assert (W : theta * (w - (2 * (1 - theta) * (eps + g) - eps) ^ 2) = (1 - theta) * (g - 2 * theta * (eps + g)) ^ 2)
    by (unfold w; field; lra).
  assert (W0 : 0 <= (1 - theta) * (g - 2 * theta * (eps + g)) ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
  assert (W1 : (2 * (1 - theta) * (eps + g) - eps) ^ 2 <= w).
  { apply Rmult_le_reg_l with theta; lra. }
  assert (Hw : 0 <= w) by (eapply Rle_trans; [apply pow2_ge_0|apply W1]).
  assert (E : root * (2 * (1 - theta)) = eps + sqrt w) by (unfold root; fold w; field; lra).
  assert (S := pow2_sqrt w Hw). assert (S0 := sqrt_pos w).
  split; [|split].
  - apply Rmult_le_reg_r with (2 * (1 - theta)); [lra|]. rewrite E.
    enough (2 * (1 - theta) * (eps + g) - eps <= sqrt w) by lra. apply le_of_sq; [easy|]. now rewrite S.
  - intros R. rewrite R in E. assert (w = (2 * (1 - theta) * (eps + g) - eps) ^ 2) by (rewrite <- S; f_equal; lra).
    assert (Z : (1 - theta) * (g - 2 * theta * (eps + g)) ^ 2 = 0) by (rewrite <- W, H; ring).
    apply Rmult_integral in Z. destruct Z as [Z|Z]; [lra|].
    assert (g - 2 * theta * (eps + g) = 0) by (apply Rsqr_0_uniq; now rewrite Rsqr_pow2).
    apply Rmult_eq_reg_r with (2 * (eps + g)); [|lra]. replace (g / (2 * (eps + g)) * (2 * (eps + g))) with g
      by (field; lra). lra.
  - intros R. assert (R' : 2 * theta * (eps + g) = g) by (rewrite R; field; lra).
    assert (w = (eps + g) ^ 2).
    { apply Rmult_eq_reg_l with theta; [|lra]. replace (g - 2 * theta * (eps + g)) with 0 in W by lra.
      replace (2 * (1 - theta) * (eps + g) - eps) with (eps + g) in W by lra. lra. }
    apply Rmult_eq_reg_r with (2 * (1 - theta)); [|lra]. rewrite E, H, sqrt_pow2 by lra. lra.
Qed.

(** kr-theorem-a-step
    Covers: the whole statement.
    Reads: in the setting of Theorem A, with Ā = √Ā² and V₀ = ‖φ⁽⁰⁾ − z‖²: (1) for η = 1/(2Ā²), min_{s<τ} L(φ⁽ˢ⁾) ≤ (2ε + Ā√(V₀/τ))² ≤ 8ε² + 2Ā²V₀/τ. (2) For η = 1/√τ and √τ ≥ 2Ā², min_{s<τ} L(φ⁽ˢ⁾) ≤ (2ε + √(V₀/(2√τ)))²; without that condition this can fail to follow from Theorem A, whose first, and so both, bounds are larger for some ε, V₀, Ā², τ with θ = Ā²/√τ < 1. (3) If g = Ā√(V₀/τ) > 0, the first bound of Theorem A at η = θ/Ā² is smallest at θ = g/(2(ε + g)) and only there, its value there is ε + g, and with this η (1/τ Σ L)^(1/2) ≤ ε + g.
    Mistake: `(eps + g) ^ 2 <=` for `(2 * eps + g) ^ 2 <=`
    Mistake: `best := g / (eps + g)` for `best := g / (2 * (eps + g))`
    Mistake: `7 * eps ^ 2` for `8 * eps ^ 2`
*)
Theorem kr_theorem_a_step :
  (forall p n tau f D y Omega z (phi : nat -> vector) eta eps A2,
  let V0 := sq p (vminus (phi O) z) in let L s := loss n f y (phi s) in
  let g := sqrt A2 * sqrt (V0 / INR tau) in
  let root theta := (eps + sqrt (eps ^ 2 + (1 - theta) * V0 / (theta / A2 * INR tau))) / (2 * (1 - theta)) in
  (0 < n)%nat -> (0 < tau)%nat -> 0 < eta ->
  (forall j x, (j < n)%nat -> gradient p (f j) x (D j x)) -> convex Omega -> Omega z ->
  (forall s, (s < tau)%nat -> projected_step p Omega (loss n f y) eta (phi s) (phi (S s))) ->
  (forall s, (s < tau)%nat -> rms n (tangent_error p f D y (phi s) z) <= eps) ->
  (forall s, (s < tau)%nat -> exists As2, factor n (gram p D (phi s)) (residual f y (phi s)) As2 /\ As2 <= A2) ->
  (eta = / (2 * A2) -> Min tau L <= (2 * eps + g) ^ 2 <= 8 * eps ^ 2 + 2 * A2 * V0 / INR tau) /\
  (eta = / sqrt (INR tau) -> 2 * A2 <= sqrt (INR tau) ->
    Min tau L <= (2 * eps + sqrt (V0 / (2 * sqrt (INR tau)))) ^ 2) /\
  (0 < g -> let best := g / (2 * (eps + g)) in
    0 < best < 1 /\ root best = eps + g /\
    (forall theta, 0 < theta < 1 -> theta <> best -> root best < root theta) /\
    (eta = best / A2 -> sqrt (mean tau L) <= eps + g))) /\
  (exists eps V0 A2 tau, let theta := A2 / sqrt (INR tau) in
    0 <= eps /\ 0 <= V0 /\ (0 < tau)%nat /\ 0 < theta < 1 /\
    2 * eps + sqrt (V0 / (2 * sqrt (INR tau))) <
    (eps + sqrt (eps ^ 2 + (1 - theta) * V0 / (/ sqrt (INR tau) * INR tau))) / (2 * (1 - theta))).
Proof.
  split.
  2: { exists 0, 1, (3 / 4), 1%nat. cbv zeta. simpl INR. rewrite sqrt_1. repeat split; try lra; [lia|].
    replace (0 ^ 2 + (1 - 3 / 4 / 1) * 1 / (/ 1 * 1)) with ((1 / 2) ^ 2) by field. rewrite sqrt_pow2 by lra.
    replace ((0 + 1 / 2) / (2 * (1 - 3 / 4 / 1))) with (sqrt 1) by (rewrite sqrt_1; field).
    rewrite Rmult_0_r, Rplus_0_l. apply sqrt_lt_1; lra. }
  intros p n tau f D y Omega z phi eta eps A2 V0 L g root Hn Htau He G C Hz P M F.
  assert (N := INR_pos tau Htau). assert (HV : 0 <= V0) by apply sq_ge0.
  assert (Heps : 0 <= eps) by (eapply Rle_trans; [apply rms_ge0|apply (M O Htau)]).
  assert (HW : 0 <= V0 / INR tau) by (apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]).
  assert (A0 : 0 <= A2).
  { destruct (F O Htau) as (a & Fa & Ha). eapply Rle_trans; [|apply Ha]. now apply (factor_ge0 p n D (phi O)) in Fa. }
  assert (Hg : 0 <= g) by (apply Rmult_le_pos; apply sqrt_pos).
  assert (T := kr_theorem_a p n tau f D y Omega z phi eta eps A2 Hn Htau He G C Hz P M F). cbv zeta in T. fold V0 in T.
  change (mean tau (fun s => loss n f y (phi s))) with (mean tau L) in T.
  assert (ML : 0 <= mean tau L) by (apply mean_ge0; intros; apply (loss_ge0 n f y)).
  assert (ME : forall b, sqrt (mean tau L) <= b -> Min tau L <= b ^ 2).
  { intros b Hb. eapply Rle_trans; [now apply Min_le_mean|]. rewrite <- (pow2_sqrt _ ML). apply pow_incr.
    split; [apply sqrt_pos|easy]. }
  split; [|split].
  - intros E. destruct (Req_dec A2 0) as [Z|Z]; [rewrite Z, Rmult_0_r, Rinv_0 in E; lra|].
    assert (E1 : eta * A2 = / 2) by (rewrite E; field; lra). rewrite E1 in T. destruct (T ltac:(lra)) as [T1 T2]. split.
    + apply ME. eapply Rle_trans; [apply T1|]. eapply Rle_trans; [apply T2|]. right.
      unfold g. rewrite <- sqrt_mult by easy. f_equal; [field|]. f_equal. rewrite E. field. lra.
    + assert (g ^ 2 = A2 * (V0 / INR tau)) by (unfold g; rewrite Rpow_mult_distr, !pow2_sqrt by easy; ring).
      replace (2 * A2 * V0 / INR tau) with (2 * g ^ 2) by (rewrite H; field; lra).
      assert (0 <= (2 * eps - g) ^ 2) by apply pow2_ge_0. lra.
  - intros E HA. set (q := sqrt (INR tau)) in *. assert (Hq : 0 < q) by now apply sqrt_lt_R0.
    assert (Q : q * q = INR tau) by (apply sqrt_sqrt; lra).
    assert (E1 : eta * A2 <= / 2).
    { rewrite E. apply Rmult_le_reg_l with (2 * q); [lra|]. replace (2 * q * (/ q * A2)) with (2 * A2) by (field; lra).
      lra. }
    assert (E0 : 0 <= eta * A2) by (apply Rmult_le_pos; lra).
    destruct (T ltac:(lra)) as [T1 T2]. apply ME. eapply Rle_trans; [apply T1|]. eapply Rle_trans; [apply T2|].
    apply Rplus_le_compat.
    + apply Rmult_le_reg_r with (1 - eta * A2); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
      assert (0 <= eps * (1 - 2 * (eta * A2))) by (apply Rmult_le_pos; lra). lra.
    + apply sqrt_le_1_alt. apply Rmult_le_compat_l; [easy|]. apply Rinv_le_contravar; [lra|].
      replace (4 * (1 - eta * A2) * eta * INR tau) with (4 * (1 - eta * A2) * q) by (rewrite E, <- Q; field; lra).
      assert (2 * q <= 4 * (1 - eta * A2) * q) by (apply Rmult_le_compat_r; lra). lra.
  - intros Hg0 best. assert (Ha : 0 < A2).
    { destruct A0 as [|Z]; [easy|]. unfold g in Hg0. rewrite <- Z, sqrt_0 in Hg0. lra. }
    assert (Hb : 0 < best < 1).
    { unfold best. split; [apply Rdiv_lt_0_compat; lra|]. apply Rmult_lt_reg_r with (2 * (eps + g)); [lra|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    assert (R : forall theta, 0 < theta < 1 -> root theta =
      (eps + sqrt (eps ^ 2 + (1 - theta) * (g ^ 2 / theta))) / (2 * (1 - theta))).
    { intros theta Ht. unfold root. do 4 f_equal.
      unfold g. rewrite Rpow_mult_distr, !pow2_sqrt by easy. field. lra. }
    assert (B := R best Hb). destruct (root_at eps g best Heps Hg0 Hb) as [_ [_ B2]]. rewrite <- B in B2.
    specialize (B2 eq_refl). split; [easy|]. split; [easy|]. split.
    + intros theta Ht Hne. rewrite B2, (R theta Ht). destruct (root_at eps g theta Heps Hg0 Ht) as [[K1|K1] [K2 _]];
      [easy|].
      exfalso. apply Hne, K2. now symmetry.
    + intros E. assert (E1 : eta * A2 = best) by (rewrite E; field; lra). rewrite E1 in T.
      destruct (T ltac:(lra)) as [T1 _]. eapply Rle_trans; [apply T1|]. rewrite <- B2. unfold root. rewrite E. lra.
Qed.

(** kr-theorem-a-average
    Covers: the whole statement.
    Reads: for any points φ⁽⁰⁾, …, φ⁽τ⁻¹⁾, their average φ̄ and β(φ) the root mean square over the data of f − f_lin at φ: L(φ̄)^(1/2) ≤ (1/τ Σ L(φ⁽ˢ⁾))^(1/2) + β(φ̄) + (1/τ) Σ β(φ⁽ˢ⁾). If the points lie in a convex Ω and |f − f_lin| ≤ B on Ω at the data, β(φ̄) + (1/τ) Σ β(φ⁽ˢ⁾) ≤ 2B.
    Mistake: `+ mean tau (fun s => beta (phi s)) <= B` for `+ mean tau (fun s => beta (phi s)) <= 2 * B`
    Mistake: `(phi s))) + 0 *` for `(phi s))) +`
*)
Theorem kr_theorem_a_average : forall p n tau f D y x0 (phi : nat -> vector),
  let beta u := rms n (fun j => f j u - linear_model p f D x0 j u) in (0 < n)%nat -> (0 < tau)%nat ->
  sqrt (loss n f y (average tau phi)) <= sqrt (mean tau (fun s => loss n f y (phi s))) + beta (average tau phi) +
    mean tau (fun s => beta (phi s)) /\
  (forall Omega B, convex Omega -> (forall s, (s < tau)%nat -> Omega (phi s)) ->
   (forall j u, (j < n)%nat -> Omega u -> Rabs (f j u - linear_model p f D x0 j u) <= B) ->
   beta (average tau phi) + mean tau (fun s => beta (phi s)) <= 2 * B).
Proof.
  intros p n tau f D y x0 phi beta Hn Ht. split; [now apply average_loss|]. intros Omega B C HO HB.
  assert (B0 : 0 <= B) by (eapply Rle_trans; [apply Rabs_pos|apply (HB O (phi O) Hn (HO O Ht))]).
  assert (Bb : forall u, Omega u -> beta u <= B) by (intros u Hu; apply rms_bound; auto).
  assert (A : Omega (average tau phi)) by (destruct tau; [lia|now apply convex_average]).
  assert (mean tau (fun s => beta (phi s)) <= B) by (rewrite <- (mean_const tau B Ht); apply mean_le; auto).
  assert (K := Bb _ A). lra.
Qed.
