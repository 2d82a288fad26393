(** Theorem 1, line by line: one step towards a comparator, the balance of a run, the average iterate. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.means base.matrices base.gradient.
From Shallow Require Import base.squared_loss base.draws.
Open Scope R_scope.

(** ε_app,j + ε_lin,j(x) + ε_CoF,j: the errors of approximation and of linearisation and the change of features *)
Definition app_error (p : nat) f D (y x0 z : vector) : vector := fun j => linear_model p f D x0 j z - y j.
Definition lin_error (p : nat) f D (x0 x : vector) : vector := fun j => f j x - linear_model p f D x0 j x.
Definition feature_error (p : nat) (D : nat -> vector -> vector) (x0 x z : vector) : vector :=
  fun j => dot p (D j x) (vminus z x) - dot p (D j x0) (vminus z x).
Definition total_error (p : nat) f D (y x0 x z : vector) : vector :=
  fun j => app_error p f D y x0 z j + lin_error p f D x0 x j + feature_error p D x0 x z j.

(** Rem_j = f_j(z) − f_j(x) − ⟨∇f_j(x), z − x⟩ *)
Definition remainder (p : nat) (f : nat -> vector -> R) (D : nat -> vector -> vector) (x z : vector) : vector :=
  fun j => f j z - f j x - dot p (D j x) (vminus z x).

Lemma total_tangent p f D y x0 x z j : total_error p f D y x0 x z j = tangent_error p f D y x z j.
Proof.
  unfold total_error, app_error, lin_error, feature_error, tangent_error, linear_model, residual.
  rewrite (dot_minus_r p (D j x0) z x0), (dot_minus_r p (D j x0) x x0), (dot_minus_r p (D j x0) z x). ring.
Qed.

(** kr-theorem-1-step
    Covers: the whole statement.
    Reads: for any functions f_j with gradients, labels, φ⁽⁰⁾, φ and φ̃, with e_j = ε_app,j + ε_lin,j(φ) + ε_CoF,j: ⟨∇f_j(φ), φ̃ − φ⟩ = −r_j + e_j; ⟨∇L(φ), φ̃ − φ⟩ = −2L(φ) + (2/n) Σ r_j e_j; and e_j = ε_app,j + ε_lin,j(φ̃) − Rem_j.
    Mistake: `lin_error p f D x0 z j + remainder p f D x z j` for `lin_error p f D x0 z j - remainder p f D x z j`
    Mistake: `- loss n f y x +` for `- 2 * loss n f y x +`
*)
Theorem kr_theorem_1_step : forall p n f D y x0 x z g,
  let r := residual f y x in let e := total_error p f D y x0 x z in
  (forall j u, (j < n)%nat -> gradient p (f j) u (D j u)) -> gradient p (loss n f y) x g ->
  (forall j, (j < n)%nat -> dot p (D j x) (vminus z x) = - r j + e j) /\
  dot p g (vminus z x) = - 2 * loss n f y x + 2 * mean n (fun j => r j * e j) /\
  (forall j, (j < n)%nat -> e j = app_error p f D y x0 z j + lin_error p f D x0 z j - remainder p f D x z j).
Proof.
  intros p n f D y x0 x z g r e G K. split; [|split].
  - intros j _. unfold e. rewrite total_tangent. unfold tangent_error, r. ring.
  - rewrite (pull p n f y x D g z (fun j => G j x) K). do 2 f_equal. apply mean_ext. intros j _. unfold e.
    now rewrite total_tangent.
  - intros j _. unfold e. rewrite total_tangent. unfold tangent_error, app_error, lin_error, remainder, residual. ring.
Qed.

(** kr-theorem-1-balance
    Covers: the whole statement.
    Reads: let g⁽ˢ⁾ = ∇L(φ⁽ˢ⁾) and φ⁽ˢ⁺¹⁾ a nearest point of the convex Ω to φ⁽ˢ⁾ − ηg⁽ˢ⁾ for s < τ, φ̃ any point, V_s = ‖φ⁽ˢ⁾ − φ̃‖², P_s = ‖φ⁽ˢ⁾ − ηg⁽ˢ⁾ − φ̃‖² − V_{s+1}. Then V_{s+1} = V_s − 4ηL + (4η/n) Σ r_j e_j + η²‖∇L‖² − P_s, and the mean loss over s < τ is (V₀ − V_τ)/(4ητ) + (η/4)⟨‖∇L‖²⟩ − ⟨P⟩/(4η) + ⟨(1/n) Σ r_j e_j⟩. If φ̃ ∈ Ω, P_s ≥ ‖φ⁽ˢ⁾ − ηg⁽ˢ⁾ − φ⁽ˢ⁺¹⁾‖² ≥ 0.
    Mistake: `eta / 2 * mean tau` for `eta / 4 * mean tau`
    Mistake: without `Omega z ->`
*)
Theorem kr_theorem_1_balance : forall p n tau f D y Omega x0 z (phi g : nat -> vector) eta,
  let L s := loss n f y (phi s) in let V s := sq p (vminus (phi s) z) in
  let width s := mean n (fun j => residual f y (phi s) j * total_error p f D y x0 (phi s) z j) in
  let stepped s := vminus (phi s) (vscal eta (g s)) in let P s := sq p (vminus (stepped s) z) - V (S s) in
  (0 < n)%nat -> (0 < tau)%nat -> 0 < eta -> (forall j u, (j < n)%nat -> gradient p (f j) u (D j u)) -> convex Omega ->
  (forall s, (s < tau)%nat -> gradient p (loss n f y) (phi s) (g s) /\ nearest p Omega (stepped s) (phi (S s))) ->
  (forall s, (s < tau)%nat -> V (S s) = V s - 4 * eta * L s + 4 * eta * width s + eta ^ 2 * sq p (g s) - P s) /\
  mean tau L = (V O - V tau) / (4 * eta * INR tau) + eta / 4 * mean tau (fun s => sq p (g s)) - mean tau P / (4 * eta)
    + mean tau width /\
  (Omega z -> forall s, (s < tau)%nat -> 0 <= sq p (vminus (stepped s) (phi (S s))) <= P s).
Proof.
  intros p n tau f D y Omega x0 z phi g eta L V width stepped P Hn Ht He G C R.
  assert (N := INR_pos tau Ht).
  assert (B : forall s, (s < tau)%nat -> V (S s) = V s - 4 * eta * L s + 4 * eta * width s + eta ^ 2 * sq p (g s) - P
    s).
  { intros s Hs. destruct (R s Hs) as [K _].
    destruct (kr_theorem_1_step p n f D y x0 (phi s) z (g s) G K) as (_ & K2 & _).
    unfold P, stepped. rewrite expand, K2. fold (L s) (V s) (width s). ring. }
  split; [exact B|]. split.
  - assert (T : forall k, (k <= tau)%nat -> 4 * eta * Sum k L =
      V O - V k + 4 * eta * Sum k width + eta ^ 2 * Sum k (fun s => sq p (g s)) - Sum k P).
    { induction k; intros Hk; [simpl; ring|]. assert (I := IHk ltac:(lia)). assert (Bk := B k ltac:(lia)).
      cbn [Sum]. lra. }
    specialize (T tau ltac:(lia)). unfold mean. apply Rmult_eq_reg_l with (4 * eta * INR tau); [|].
    + replace (4 * eta * INR tau * (/ INR tau * Sum tau L)) with (4 * eta * Sum tau L) by (field; lra). rewrite T.
      field. lra.
    + apply Rgt_not_eq, Rmult_lt_0_compat; lra.
  - intros Hz s Hs. destruct (R s Hs) as [_ K]. assert (Q := nearest_gain p Omega _ _ z C K Hz).
    assert (S0 := sq_ge0 p (vminus (stepped s) (phi (S s)))). rewrite (sq_opp p z) in Q. fold (V (S s)) in Q.
    unfold P. fold (stepped s) in Q. lra.
Qed.

(** kr-theorem-1-average
    Covers: the whole statement.
    Reads: for any points φ⁽⁰⁾, …, φ⁽τ⁻¹⁾ and any labels, if b bounds the root mean square over the data of f − f_lin at these points and at their average φ̄, then L(φ̄)^(1/2) ≤ (1/τ Σ L(φ⁽ˢ⁾))^(1/2) + 2b. If the points lie in a convex Ω, φ̄ does too, so a bound b on Ω serves. For all ℓ, b: (ℓ + 2b)² ≤ 11/12 (4ℓ² + 6b²), with equality iff 4ℓ = 3b.
    Mistake: `+ b))` for `+ 2 * b))`
    Mistake: `(l + 2 * b) ^ 2 <= 10 / 12` for `(l + 2 * b) ^ 2 <= 11 / 12`
*)
Theorem kr_theorem_1_average :
  (forall p n tau f D y Omega x0 (phi : nat -> vector) b, (0 < n)%nat -> (0 < tau)%nat -> convex Omega ->
   (forall s, (s < tau)%nat -> Omega (phi s)) ->
   ((forall s, (s < tau)%nat -> rms n (lin_error p f D x0 (phi s)) <= b) /\
     rms n (lin_error p f D x0 (average tau phi)) <= b \/
    forall u, Omega u -> rms n (lin_error p f D x0 u) <= b) ->
   Omega (average tau phi) /\
   sqrt (loss n f y (average tau phi)) <= (sqrt (mean tau (fun s => loss n f y (phi s))) + 2 * b)) /\
  (forall l b, (l + 2 * b) ^ 2 <= 11 / 12 * (4 * l ^ 2 + 6 * b ^ 2)) /\
  (forall l b, 4 * l = 3 * b <-> (l + 2 * b) ^ 2 = 11 / 12 * (4 * l ^ 2 + 6 * b ^ 2)).
Proof.
  split; [|split].
  - intros p n tau f D y Omega x0 phi b Hn Ht C HO HB.
    assert (A : Omega (average tau phi)) by (destruct tau; [lia|now apply convex_average]). split; [easy|].
    assert (B : (forall s, (s < tau)%nat -> rms n (lin_error p f D x0 (phi s)) <= b) /\
      rms n (lin_error p f D x0 (average tau phi)) <= b) by (destruct HB as [|HB]; [easy|]; split; intros; apply HB;
        auto).
    destruct B as [B1 B2]. assert (M := average_loss p n tau f D y x0 phi Hn Ht). cbv zeta in M.
    assert (mean tau (fun s => rms n (lin_error p f D x0 (phi s))) <= b)
      by (rewrite <- (mean_const tau b Ht); now apply mean_le). unfold lin_error in *. lra.
  - intros l b. assert (0 <= (4 * l - 3 * b) ^ 2) by apply pow2_ge_0. lra.
  - intros l b. split; intros H; [replace l with (3 / 4 * b) by lra; field|].
    assert ((4 * l - 3 * b) ^ 2 = 0) by lra. assert (4 * l - 3 * b = 0) by (apply Rsqr_0_uniq; now rewrite Rsqr_pow2).
    lra.
Qed.

(** B_{U,m}(δ') + ρ_u/√m: √d + √(2 log(m/(2δ'))) + ρ_u/√m *)
Definition radius (d m : nat) (delta rho_u : R) : R :=
  sqrt (INR d) + sqrt (2 * ln (INR m / (2 * delta))) + rho_u / sqrt (INR m).

(** F = f^max + y^max with f^max = L₁ρ_θ + σ₀ρ_c, L₁ = σ₁√(1 + B²) and y^max = σ₀ν_c + σ₁ν_u + σ₁√d ν_w *)
Definition envelope (d m : nat) (delta s0 s1 rho_c rho_u rho_w nu_c nu_u nu_w : R) : R :=
  s1 * sqrt (1 + radius d m delta rho_u ^ 2) * sqrt (rho_u ^ 2 + rho_w ^ 2) + s0 * rho_c +
  (s0 * nu_c + s1 * nu_u + s1 * sqrt (INR d) * nu_w).

(** kr-theorem-1-informal
    Covers: the whole statement.
    Reads: with F = f^max + y^max as in Lemma 6, B = √d + √(2 log(m/(2δ'))) + ρ_u/√m, L₁ = σ₁√(1 + B²), ρ_θ = √(ρ_u² + ρ_w²), constants ≥ 0, 0 < δ' < 1 and m ≥ 2δ', m ≥ 1: F·E/E = F for every E ≠ 0, and F ≥ L₁ρ_θ ≥ σ₁ρ_θ√(d + 2 log(m/(2δ'))). If ρ_θ > 0 and σ₁ > 0, for every K, m and δ' there is a d with F > K: no constant bounds F.
    Mistake: `exists d, F d m delta < K)` for `exists d, F d m delta > K)`
    Mistake: `sqrt (4 * INR d + 2 * ln` for `sqrt (INR d + 2 * ln`
*)
Theorem kr_theorem_1_informal : forall s0 s1 rho_c rho_u rho_w nu_c nu_u nu_w,
  0 <= s0 -> 0 <= s1 -> 0 <= rho_c -> 0 <= rho_u -> 0 <= rho_w -> 0 <= nu_c -> 0 <= nu_u -> 0 <= nu_w ->
  let F d m delta := envelope d m delta s0 s1 rho_c rho_u rho_w nu_c nu_u nu_w in
  let rho_th := sqrt (rho_u ^ 2 + rho_w ^ 2) in
  (forall d m delta errors, errors <> 0 -> F d m delta * errors / errors = F d m delta) /\
  (forall d m delta, (0 < m)%nat -> 0 < delta < 1 -> 2 * delta <= INR m ->
    F d m delta >= s1 * sqrt (1 + radius d m delta rho_u ^ 2) * rho_th /\
    s1 * sqrt (1 + radius d m delta rho_u ^ 2) * rho_th >= s1 * rho_th * sqrt (INR d + 2 * ln (INR m / (2 * delta)))) /\
  (0 < rho_th -> 0 < s1 -> forall K m delta, (0 < m)%nat -> 0 < delta < 1 -> 2 * delta <= INR m ->
    exists d, F d m delta > K).
Proof.
  intros s0 s1 rho_c rho_u rho_w nu_c nu_u nu_w H0 H1 Rc Ru Rw Nc Nu Nw F rho_th.
  assert (T0 : 0 <= rho_th) by apply sqrt_pos.
  assert (Low : forall d m delta, (0 < m)%nat -> 0 < delta < 1 -> 2 * delta <= INR m ->
    F d m delta >= s1 * sqrt (1 + radius d m delta rho_u ^ 2) * rho_th /\
    s1 * sqrt (1 + radius d m delta rho_u ^ 2) * rho_th >= s1 * rho_th * sqrt (INR d + 2 * ln (INR m / (2 * delta)))).
  { intros d m delta Hm Hd H2. split.
    - unfold F, envelope. fold rho_th.
      assert (0 <= s0 * rho_c) by now apply Rmult_le_pos. assert (0 <= s0 * nu_c) by now apply Rmult_le_pos.
      assert (0 <= s1 * nu_u) by now apply Rmult_le_pos.
      assert (0 <= s1 * sqrt (INR d) * nu_w) by (apply Rmult_le_pos; [apply Rmult_le_pos; [easy|apply sqrt_pos]|easy]).
      lra.
    - apply Rle_ge. rewrite Rmult_assoc, (Rmult_comm rho_th), <- Rmult_assoc. apply Rmult_le_compat_r; [easy|].
      apply Rmult_le_compat_l; [easy|]. apply sqrt_le_1_alt.
      assert (L : 0 <= ln (INR m / (2 * delta))).
      { rewrite <- ln_1. assert (1 <= INR m / (2 * delta)).
        { apply Rmult_le_reg_r with (2 * delta); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
        destruct H as [H|H]; [left; apply ln_increasing; lra|rewrite <- H; lra]. }
      assert (A := sqrt_pos (INR d)). assert (B := sqrt_pos (2 * ln (INR m / (2 * delta)))).
      assert (A2 := pow2_sqrt (INR d) (pos_INR d)). assert (B2 := pow2_sqrt (2 * ln (INR m / (2 * delta))) ltac:(lra)).
      assert (C : 0 <= rho_u / sqrt (INR m))
        by (apply Rmult_le_pos; [easy|left; apply Rinv_0_lt_compat; now apply root_pos]).
      unfold radius. set (a := sqrt (INR d)) in *. set (b := sqrt (2 * ln (INR m / (2 * delta)))) in *.
      set (e := rho_u / sqrt (INR m)) in *.
      assert (0 <= a * b) by now apply Rmult_le_pos. assert (0 <= e * (2 * (a + b) + e)) by (apply Rmult_le_pos; lra).
      lra. }
  split; [|split; [exact Low|]].
  - intros d m delta errors He. field. easy.
  - intros Ht Hs K m delta Hm Hd H2. assert (Pp : 0 < s1 * rho_th) by now apply Rmult_lt_0_compat.
    set (q := (Rabs K + 1) / (s1 * rho_th)).
    destruct (nfloor_ex (q ^ 2) (pow2_ge_0 q)) as [d0 [_ Hdq]].
    rewrite <- S_INR in Hdq. set (d := S d0) in *. exists d. destruct (Low d m delta Hm Hd H2) as [L1 L2].
    assert (Lq : s1 * rho_th * q <= s1 * rho_th * sqrt (INR d + 2 * ln (INR m / (2 * delta)))).
    { apply Rmult_le_compat_l; [lra|].
      assert (Q0 : 0 <= q) by (apply Rmult_le_pos; [assert (X := Rabs_pos K); lra|left; now apply Rinv_0_lt_compat]).
      rewrite <- (sqrt_pow2 q Q0). apply sqrt_le_1_alt.
      assert (1 <= INR m / (2 * delta)).
      { apply Rmult_le_reg_r with (2 * delta); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
      assert (0 <= ln (INR m / (2 * delta))).
      { rewrite <- ln_1. destruct H as [H|H]; [left; apply ln_increasing; lra|rewrite <- H; lra]. }
      lra. }
    replace (s1 * rho_th * q) with (Rabs K + 1) in Lq by (unfold q; field; split; lra).
    assert (A := Rle_abs K). lra.
Qed.
