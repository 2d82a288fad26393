(** Theorem 1, line by line: one step towards a comparator, the balance of a run, the average iterate. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.squared_loss base.draws
  base.head_gradient.
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
    Reads: for any functions f_j with gradients, labels, φ⁽⁰⁾, φ and z, with e_j = ε_app,j + ε_lin,j(φ) + ε_CoF,j: ⟨∇f_j(φ), z − φ⟩ = −r_j + e_j; ⟨∇L(φ), z − φ⟩ = −2L(φ) + (2/n) Σ r_j e_j; and e_j = ε_app,j + ε_lin,j(z) − Rem_j.
    Mistake: `lin_error p f D x0 z j + remainder p f D x z j` for `lin_error p f D x0 z j - remainder p f D x z j`
    Mistake: `- loss n f y x +` for `- 2 * loss n f y x +`
*)
Theorem kr_theorem_1_step : forall p n f D y x0 x z g,
  let r := residual f y x in let e := total_error p f D y x0 x z in
  (forall j u, (j < n)%nat -> gradient p (f j) u (D j u)) -> gradient p (loss n f y) x g ->
  (forall j, (j < n)%nat -> dot p (D j x) (vminus z x) = - r j + e j) /\
  dot p g (vminus z x) = - 2 * loss n f y x + 2 * Mean n (fun j => r j * e j) /\
  (forall j, (j < n)%nat -> e j = app_error p f D y x0 z j + lin_error p f D x0 z j - remainder p f D x z j).
Proof.
  intros p n f D y x0 x z g r e G K. split; [|split].
  - intros j _. unfold e. rewrite total_tangent. unfold tangent_error, r. ring.
  - rewrite (pull p n f y x D g z (fun j => G j x) K). do 2 f_equal. apply Mean_ext. intros j _. unfold e.
    now rewrite total_tangent.
  - intros j _. unfold e. rewrite total_tangent. unfold tangent_error, app_error, lin_error, remainder, residual. ring.
Qed.

(** kr-theorem-1-balance
    Covers: the whole statement.
    Reads: let g⁽ˢ⁾ = ∇L(φ⁽ˢ⁾) and φ⁽ˢ⁺¹⁾ a nearest point of the convex Ω to φ⁽ˢ⁾ − ηg⁽ˢ⁾ for s < τ, z any point, V_s = ‖φ⁽ˢ⁾ − z‖², P_s = ‖φ⁽ˢ⁾ − ηg⁽ˢ⁾ − z‖² − V_{s+1}. Then V_{s+1} = V_s − 4ηL + (4η/n) Σ r_j e_j + η²‖∇L‖² − P_s, and the mean loss over s < τ is (V₀ − V_τ)/(4ητ) + (η/4)⟨‖∇L‖²⟩ − ⟨P⟩/(4η) + ⟨(1/n) Σ r_j e_j⟩. If z ∈ Ω, P_s ≥ ‖φ⁽ˢ⁾ − ηg⁽ˢ⁾ − φ⁽ˢ⁺¹⁾‖² ≥ 0.
    Mistake: `eta / 2 * Mean tau` for `eta / 4 * Mean tau`
    Mistake: without `Omega z ->`
*)
Theorem kr_theorem_1_balance : forall p n tau f D y Omega x0 z (phi g : nat -> vector) eta,
  let L s := loss n f y (phi s) in let V s := sq p (vminus (phi s) z) in
  let width s := Mean n (fun j => residual f y (phi s) j * total_error p f D y x0 (phi s) z j) in
  let stepped s := vminus (phi s) (vscal eta (g s)) in let P s := sq p (vminus (stepped s) z) - V (S s) in
  (0 < n)%nat -> (0 < tau)%nat -> 0 < eta -> (forall j u, (j < n)%nat -> gradient p (f j) u (D j u)) -> convex Omega ->
  (forall s, (s < tau)%nat -> gradient p (loss n f y) (phi s) (g s) /\ nearest p Omega (stepped s) (phi (S s))) ->
  (forall s, (s < tau)%nat -> V (S s) = V s - 4 * eta * L s + 4 * eta * width s + eta ^ 2 * sq p (g s) - P s) /\
  Mean tau L = (V O - V tau) / (4 * eta * INR tau) + eta / 4 * Mean tau (fun s => sq p (g s)) - Mean tau P / (4 * eta)
    + Mean tau width /\
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
    specialize (T tau ltac:(lia)). unfold Mean. apply Rmult_eq_reg_l with (4 * eta * INR tau); [|].
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
   sqrt (loss n f y (average tau phi)) <= (sqrt (Mean tau (fun s => loss n f y (phi s))) + 2 * b)) /\
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
    assert (Mean tau (fun s => rms n (lin_error p f D x0 (phi s))) <= b)
      by (rewrite <- (Mean_const tau b Ht); now apply Mean_le). unfold lin_error in *. lra.
  - intros l b. assert (0 <= (4 * l - 3 * b) ^ 2) by apply pow2_ge_0. lra.
  - intros l b. split; intros H; [replace l with (3 / 4 * b) by lra; field|].
    assert ((4 * l - 3 * b) ^ 2 = 0) by lra. assert (4 * l - 3 * b = 0) by (apply Rsqr_0_uniq; now rewrite Rsqr_pow2).
    lra.
Qed.

(** kr-theorem-1
    Covers: a part: the five lines that lead from the bounds along the run to both displays; on the page: that the bounds hold with probability at least 1 − δ − δ', and the order for η = 1/√τ.
    Reads: let Ω be convex, φ⁽ˢ⁺¹⁾ = Π(φ⁽ˢ⁾ − η∇L(φ⁽ˢ⁾)) for s < τ from φ⁽⁰⁾ ∈ Ω, z ∈ Ω with ‖φ⁽⁰⁾ − z‖² ≤ N. If |r_j| ≤ F, ‖∇f_j‖ ≤ A, |f − f_lin| ≤ B_lin and |ε_CoF,j| ≤ B_CoF at the data at all points of Ω, and |f_lin(z) − y_j| ≤ B_app, then min_{s<τ} L(φ⁽ˢ⁾) ≤ (1/τ) Σ L(φ⁽ˢ⁾) ≤ N/(4ητ) + ηF²A² + F(B_app + B_lin + B_CoF), and with M for the last right side L(φ̄) ≤ 4M + 6B_lin² at the average iterate φ̄.
    Mistake: `N / (8 * eta * INR tau)` for `N / (4 * eta * INR tau)`
    Mistake: without `Omega z ->`
*)
Theorem kr_theorem_1 : forall p n tau f D y Omega z (phi : nat -> vector) eta N F A Bapp Blin BCoF,
  (0 < n)%nat -> (0 < tau)%nat -> 0 < eta -> (forall j u, (j < n)%nat -> gradient p (f j) u (D j u)) -> convex Omega ->
  Omega (phi O) -> Omega z -> sq p (vminus (phi O) z) <= N ->
  (forall s, (s < tau)%nat -> projected_step p Omega (loss n f y) eta (phi s) (phi (S s))) ->
  (forall j u, (j < n)%nat -> Omega u -> Rabs (residual f y u j) <= F /\ vnorm p (D j u) <= A /\
    Rabs (lin_error p f D (phi O) u j) <= Blin /\ Rabs (feature_error p D (phi O) u z j) <= BCoF) ->
  (forall j, (j < n)%nat -> Rabs (app_error p f D y (phi O) z j) <= Bapp) ->
  let M := N / (4 * eta * INR tau) + eta * F ^ 2 * A ^ 2 + F * (Bapp + Blin + BCoF) in
  Min tau (fun s => loss n f y (phi s)) <= Mean tau (fun s => loss n f y (phi s)) <= M /\
  loss n f y (average tau phi) <= 4 * M + 6 * Blin ^ 2.
Proof.
  intros p n tau f D y Omega z phi eta N F A Bapp Blin BCoF Hn Ht He G C H0 Hz HN R B Ba M.
  assert (I : forall s, (s <= tau)%nat -> Omega (phi s)).
  { intros s Hs. destruct s; [easy|]. destruct (R s ltac:(lia)) as (g & _ & K & _). exact K. }
  assert (TN := INR_pos tau Ht).
  assert (X : Mean tau (fun s => loss n f y (phi s)) <= M).
  { assert (D1 : forall s, (s < tau)%nat -> sq p (vminus (phi (S s)) z) - sq p (vminus (phi s) z) <=
      - 4 * eta * loss n f y (phi s) + 4 * eta * (F * (Bapp + Blin + BCoF)) + 4 * eta ^ 2 * (F ^ 2 * A ^ 2)).
    { intros s Hs. destruct (R s Hs) as (g & K & P). assert (Os := I s ltac:(lia)).
      assert (Q := nearest_gain p Omega _ _ z C P Hz).
      rewrite (expand p (phi s) g z eta), (sq_opp p z), (pull p n f y (phi s) D g z (fun j => G j (phi s)) K) in Q.
      assert (S0 := sq_ge0 p (vminus (vminus (phi s) (vscal eta g)) (phi (S s)))).
      assert (W : Mean n (fun j => residual f y (phi s) j * tangent_error p f D y (phi s) z j) <= F * (Bapp + Blin +
        BCoF)).
      { rewrite <- (Mean_const n (F * (Bapp + Blin + BCoF)) Hn). apply Mean_le. intros j Hj.
        destruct (B j (phi s) Hj Os) as (B1 & B2 & B3 & B4). assert (B5 := Ba j Hj).
        eapply Rle_trans; [apply Rle_abs|]. rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; [easy|].
        rewrite <- (total_tangent p f D y (phi O) (phi s) z j). unfold total_error.
        eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|easy].
        eapply Rle_trans; [apply Rabs_triang|]. now apply Rplus_le_compat. }
      assert (Z : sq p g <= 4 * (F ^ 2 * A ^ 2)).
      { assert (Fp : 0 <= F) by (eapply Rle_trans; [apply Rabs_pos|apply (B O (phi s) Hn Os)]).
        assert (Ap : 0 <= A) by (eapply Rle_trans; [apply norm_ge0|apply (B O (phi s) Hn Os)]).
        replace (4 * (F ^ 2 * A ^ 2)) with ((2 * F * A) ^ 2) by ring. apply norm_le_sq.
        assert (Y : sq p g <= 2 * F * A * vnorm p g).
        { rewrite sq_dot, (loss_gradient_dot p n f y (phi s) D g g (fun j => G j (phi s)) K).
          rewrite <- (Mean_const n (2 * F * A * vnorm p g) Hn). apply Mean_le. intros j Hj.
          destruct (B j (phi s) Hj Os) as (B1 & B2 & _ & _).
          eapply Rle_trans; [apply Rle_abs|]. rewrite !Rabs_mult, (Rabs_pos_eq 2) by lra.
          rewrite (Rmult_assoc (2 * F)). apply Rmult_le_compat; try apply Rabs_pos;
            [apply Rmult_le_pos; [lra|apply Rabs_pos]|lra|].
          eapply Rle_trans; [apply cauchy|]. apply Rmult_le_compat_r; [apply norm_ge0|easy]. }
        rewrite <- norm_sq in Y. assert (V := norm_ge0 p g).
        destruct V as [V|V]; [|rewrite <- V; apply Rmult_le_pos; [lra|easy]].
        apply Rmult_le_reg_r with (vnorm p g); [easy|]. lra. }
      apply (Rmult_le_compat_l (eta ^ 2) _ _ (pow2_ge_0 eta)) in Z.
      apply (Rmult_le_compat_l eta _ _ (Rlt_le _ _ He)) in W. lra. }
    assert (T : forall k, (k <= tau)%nat -> sq p (vminus (phi k) z) + 4 * eta * Sum k (fun s => loss n f y (phi s)) <=
      N + INR k * (4 * eta * (F * (Bapp + Blin + BCoF)) + 4 * eta ^ 2 * (F ^ 2 * A ^ 2))).
    { induction k; intros Hk; [simpl; lra|]. rewrite S_INR. cbn [Sum]. assert (T1 := IHk ltac:(lia)).
      assert (T2 := D1 k ltac:(lia)).
      lra. }
    specialize (T tau ltac:(lia)). assert (V := sq_ge0 p (vminus (phi tau) z)).
    apply Rmult_le_reg_l with (4 * eta * INR tau); [apply Rmult_lt_0_compat; lra|]. unfold Mean, M.
    replace (4 * eta * INR tau * (/ INR tau * Sum tau (fun s => loss n f y (phi s))))
      with (4 * eta * Sum tau (fun s => loss n f y (phi s))) by (field; lra).
    match goal with |- _ <= ?r => replace r with (N + INR tau * (4 * eta * (F * (Bapp + Blin + BCoF)) +
      4 * eta ^ 2 * (F ^ 2 * A ^ 2))) by (field; lra) end. lra. }
  split; [split; [now apply Min_le_Mean|easy]|].
  assert (Bp : 0 <= Blin) by (eapply Rle_trans; [apply Rabs_pos|apply (B O (phi O) Hn H0)]).
  destruct kr_theorem_1_average as [K1 [K2 _]].
  destruct (K1 p n tau f D y Omega (phi O) phi Blin Hn Ht C (fun s Hs => I s ltac:(lia))) as [_ K3].
  { right. intros u Hu. apply rms_le; [easy|easy|]. intros j Hj. apply (B j u Hj Hu). }
  assert (ML : 0 <= Mean tau (fun s => loss n f y (phi s))) by (apply Mean_ge0; intros; apply loss_ge0).
  rewrite <- (pow2_sqrt _ (loss_ge0 n f y (average tau phi))).
  apply Rle_trans with ((sqrt (Mean tau (fun s => loss n f y (phi s))) + 2 * Blin) ^ 2).
  - apply pow_incr. split; [apply sqrt_pos|easy].
  - eapply Rle_trans; [apply K2|]. rewrite (pow2_sqrt _ ML). assert (0 <= Blin ^ 2) by apply pow2_ge_0. lra.
Qed.

(** kr-theorem-1-sharp
    Covers: a part: the whole argument from the bounds along the run on; on the page: which constants bound them, with probability at least 1 − δ.
    Reads: let Ω be convex, φ⁽ˢ⁺¹⁾ = Π(φ⁽ˢ⁾ − η∇L(φ⁽ˢ⁾)) for s < τ from φ⁽⁰⁾ ∈ Ω, z ∈ Ω with ‖φ⁽⁰⁾ − z‖² ≤ N. If √L ≤ F, ‖∇f_j‖ ≤ Ā and the root mean squares over the data of Rem and of f − f_lin are at most B_rem and B_ρ at all points of Ω, and those of f_lin(z) − y and of f − f_lin at z are at most B_app and B_ν, then (1/τ) Σ L(φ⁽ˢ⁾) ≤ M = N/(4ητ) + ηF²Ā² + F(B_app + B_ν + B_rem) and L(φ̄)^(1/2) ≤ √M + 2B_ρ.
    Mistake: `N / (8 * eta * INR tau)` for `N / (4 * eta * INR tau)`
    Mistake: without `Omega z ->`
*)
Theorem kr_theorem_1_sharp : forall p n tau f D y Omega z (phi : nat -> vector) eta N F A Bapp Bnu Brem Brho,
  (0 < n)%nat -> (0 < tau)%nat -> 0 < eta -> (forall j u, (j < n)%nat -> gradient p (f j) u (D j u)) -> convex Omega ->
  Omega (phi O) -> Omega z -> sq p (vminus (phi O) z) <= N ->
  (forall s, (s < tau)%nat -> projected_step p Omega (loss n f y) eta (phi s) (phi (S s))) ->
  (forall u, Omega u -> sqrt (loss n f y u) <= F /\ (forall j, (j < n)%nat -> vnorm p (D j u) <= A) /\
    rms n (remainder p f D u z) <= Brem /\ rms n (lin_error p f D (phi O) u) <= Brho) ->
  rms n (app_error p f D y (phi O) z) <= Bapp -> rms n (lin_error p f D (phi O) z) <= Bnu ->
  let M := N / (4 * eta * INR tau) + eta * F ^ 2 * A ^ 2 + F * (Bapp + Bnu + Brem) in
  Mean tau (fun s => loss n f y (phi s)) <= M /\ sqrt (loss n f y (average tau phi)) <= sqrt M + 2 * Brho.
Proof.
  intros p n tau f D y Omega z phi eta N F A Bapp Bnu Brem Brho Hn Ht He G C H0 Hz HN R B Ba Bn M.
  assert (I : forall s, (s <= tau)%nat -> Omega (phi s)).
  { intros s Hs. destruct s; [easy|]. destruct (R s ltac:(lia)) as (g & _ & K & _). exact K. }
  assert (TN := INR_pos tau Ht). assert (Nn := INR_pos n Hn).
  assert (X : Mean tau (fun s => loss n f y (phi s)) <= M).
  { assert (D1 : forall s, (s < tau)%nat -> sq p (vminus (phi (S s)) z) - sq p (vminus (phi s) z) <=
      - 4 * eta * loss n f y (phi s) + 4 * eta * (F * (Bapp + Bnu + Brem)) + 4 * eta ^ 2 * (F ^ 2 * A ^ 2)).
    { intros s Hs. destruct (R s Hs) as (g & K & P). destruct (B (phi s) (I s ltac:(lia))) as (BF & BA & BR & _).
      assert (Q := nearest_gain p Omega _ _ z C P Hz).
      rewrite (expand p (phi s) g z eta), (sq_opp p z) in Q.
      destruct (kr_theorem_1_step p n f D y (phi O) (phi s) z g G K) as (_ & K2 & K3). rewrite K2 in Q.
      assert (S0 := sq_ge0 p (vminus (vminus (phi s) (vscal eta g)) (phi (S s)))).
      assert (L0 := loss_ge0 n f y (phi s)). assert (F0 : 0 <= F) by (eapply Rle_trans; [apply sqrt_pos|apply BF]).
      assert (We : rms n (total_error p f D y (phi O) (phi s) z) <= Bapp + Bnu + Brem).
      { rewrite (rms_ext n _ (fun j => app_error p f D y (phi O) z j + (lin_error p f D (phi O) z j +
          -1 * remainder p f D (phi s) z j))) by (intros j Hj; rewrite (K3 j Hj); ring).
        eapply Rle_trans; [apply rms_plus|]. eapply Rle_trans; [apply Rplus_le_compat_l, rms_plus|].
        rewrite rms_scal, Rabs_left by lra. lra. }
      assert (W := Mean_rms n (residual f y (phi s)) (total_error p f D y (phi O) (phi s) z)).
      assert (W2 := Rmult_le_compat _ _ _ _ (rms_ge0 n _) (rms_ge0 n _) BF We).
      change (sqrt (loss n f y (phi s))) with (rms n (residual f y (phi s))) in W2.
      assert (LF : loss n f y (phi s) <= F ^ 2).
      { rewrite <- (pow2_sqrt _ L0). apply pow_incr. split; [apply sqrt_pos|easy]. }
      assert (Z := gradient_below_mean n p f D y (phi s) g Hn (fun j => G j (phi s)) K).
      assert (Z2 := largest_gradient n p f D y (phi s) (A ^ 2) (fun j Hj => norm_le_sq p _ A (BA j Hj))).
      assert (Z3 := Rmult_le_compat_l _ _ _ (pow2_ge_0 A) LF).
      assert (Z4 : sq p g <= 4 * (F ^ 2 * A ^ 2)) by lra.
      apply (Rmult_le_compat_l (eta ^ 2) _ _ (pow2_ge_0 eta)) in Z4.
      apply (Rle_trans _ _ _ W), (Rmult_le_compat_l eta _ _ (Rlt_le _ _ He)) in W2. lra. }
    assert (T : forall k, (k <= tau)%nat -> sq p (vminus (phi k) z) + 4 * eta * Sum k (fun s => loss n f y (phi s)) <=
      N + INR k * (4 * eta * (F * (Bapp + Bnu + Brem)) + 4 * eta ^ 2 * (F ^ 2 * A ^ 2))).
    { induction k; intros Hk; [simpl; lra|]. rewrite S_INR. cbn [Sum].
      assert (T1 := IHk ltac:(lia)). assert (T2 := D1 k ltac:(lia)). lra. }
    specialize (T tau ltac:(lia)). assert (V := sq_ge0 p (vminus (phi tau) z)).
    apply Rmult_le_reg_l with (4 * eta * INR tau); [apply Rmult_lt_0_compat; lra|]. unfold Mean, M.
    replace (4 * eta * INR tau * (/ INR tau * Sum tau (fun s => loss n f y (phi s))))
      with (4 * eta * Sum tau (fun s => loss n f y (phi s))) by (field; lra).
    match goal with |- _ <= ?r => replace r with (N + INR tau * (4 * eta * (F * (Bapp + Bnu + Brem)) +
      4 * eta ^ 2 * (F ^ 2 * A ^ 2))) by (field; lra) end. lra. }
  split; [easy|]. destruct kr_theorem_1_average as [K1 _].
  destruct (K1 p n tau f D y Omega (phi O) phi Brho Hn Ht C (fun s Hs => I s ltac:(lia))) as [_ K3].
  - right. intros u Hu. apply (B u Hu).
  - apply sqrt_le_1_alt in X. lra.
Qed.

Lemma root_pos m : (0 < m)%nat -> 0 < sqrt (INR m).
Proof. intros H. apply sqrt_lt_R0. now apply INR_pos. Qed.

(** |c' − c| ≤ (ρ + ν)/√m for two points within ρ/√m and ν/√m of one centre *)
Lemma two_radii c c0 c' rho nu s : Rabs (c - c0) <= rho / s -> Rabs (c' - c0) <= nu / s -> Rabs (c' - c) <= (rho + nu)
  / s.
Proof.
  intros H K. replace (c' - c) with ((c' - c0) + - (c - c0)) by ring. eapply Rle_trans; [apply Rabs_triang|].
  rewrite Rabs_Ropp. unfold Rdiv in *. lra.
Qed.

Lemma two_radii_norm k x x0 x' rho nu s : vnorm k (vminus x x0) <= rho / s -> vnorm k (vminus x' x0) <= nu / s ->
  vnorm k (vminus x' x) <= (rho + nu) / s.
Proof.
  intros H K. apply Rle_trans with (vnorm k (vminus x' x0) + vnorm k (vscal (-1) (vminus x x0))).
  - replace (vnorm k (vminus x' x)) with (vnorm k (vplus (vminus x' x0) (vscal (-1) (vminus x x0))));
    [apply norm_triangle|].
    unfold vnorm. f_equal. apply sq_ext. intros; unfold vplus, vminus, vscal; ring.
  - rewrite norm_scal, Rabs_left by lra. unfold Rdiv in *. lra.
Qed.

Lemma readout_size c c0 rho s : Rabs c0 = 1 -> Rabs (c - c0) <= rho / s -> Rabs c <= 1 + rho / s.
Proof.
  intros H K. replace c with (c0 + (c - c0)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

(** The change of a head's gradient: c ∇h − c⁽⁰⁾ ∇h⁽⁰⁾ = c⁽⁰⁾(∇h − ∇h⁽⁰⁾) + (c − c⁽⁰⁾)∇h *)
Lemma gradient_change k (c c0 : R) G G0 a b L1 : Rabs c0 = 1 -> vnorm k (vminus G G0) <= a -> Rabs (c - c0) <= b ->
  vnorm k G <= L1 -> 0 <= b -> vnorm k (vminus (vscal c G) (vscal c0 G0)) <= a + b * L1.
Proof.
  intros H0 Ha Hb HG Hb0.
  replace (vnorm k (vminus (vscal c G) (vscal c0 G0))) with (vnorm k (vplus (vscal c0 (vminus G G0)) (vscal (c - c0)
    G))).
  - eapply Rle_trans; [apply norm_triangle|]. rewrite !norm_scal, H0, Rmult_1_l. apply Rplus_le_compat; [easy|].
    apply Rmult_le_compat; try easy; [apply Rabs_pos|apply norm_ge0].
  - unfold vnorm. f_equal. apply sq_ext. intros; unfold vplus, vminus, vscal; ring.
Qed.

(** kr-theorem-1-features
    Covers: a part: all that follows from the constants L₁ and L₂ of the heads, as in (30) to (38); on the page: that Lemma 2 and Remark 7 give these constants on the event.
    Reads: let head i have the readouts c_i⁽⁰⁾ = ±1, c_i, c̃_i and parameters θ_i⁽⁰⁾, θ_i, θ̃_i ∈ ℝᵏ, with |c_i − c_i⁽⁰⁾| ≤ ρ_c/√m, ‖θ_i − θ_i⁽⁰⁾‖ ≤ ρ_θ/√m, |c̃_i − c_i⁽⁰⁾| ≤ ν_c/√m, ‖θ̃_i − θ_i⁽⁰⁾‖ ≤ ν_θ/√m, its values h_i, h_i⁽⁰⁾ and gradients g_i, g_i⁽⁰⁾ with |h_i − h_i⁽⁰⁾| ≤ L₁‖θ_i − θ_i⁽⁰⁾‖, ‖g_i‖ ≤ L₁, ‖g_i − g_i⁽⁰⁾‖ ≤ L₂‖θ_i − θ_i⁽⁰⁾‖. Then ε_CoF = m^(−1/2) Σ [(h_i − h_i⁽⁰⁾)(c̃_i − c_i) + ⟨c_i g_i − c_i⁽⁰⁾ g_i⁽⁰⁾, θ̃_i − θ_i⟩] has |ε_CoF| ≤ (L₂ρ_θ + L₁ρ_c + L₁ρ_θ)/√m · (‖ρ‖ + ‖ν̄‖).
    Mistake: `(L2 * rho_th + L1 * rho_c)` for `(L2 * rho_th + L1 * rho_c + L1 * rho_th)`
    Mistake: `sqrt (rho_c ^ 2 + rho_th ^ 2).` for `(sqrt (rho_c ^ 2 + rho_th ^ 2) + sqrt (nu_c ^ 2 + nu_th ^ 2)).`
*)
Theorem kr_theorem_1_features : forall m k (c c0 c' h h0 : vector) (th th0 th' g g0 : nat -> vector)
  L1 L2 rho_c rho_th nu_c nu_th, let s := sqrt (INR m) in
  (0 < m)%nat -> 0 <= L1 -> 0 <= L2 -> 0 <= rho_c -> 0 <= rho_th -> 0 <= nu_c -> 0 <= nu_th ->
  (forall i, (i < m)%nat -> Rabs (c0 i) = 1 /\ Rabs (c i - c0 i) <= rho_c / s /\ Rabs (c' i - c0 i) <= nu_c / s /\
    vnorm k (vminus (th i) (th0 i)) <= rho_th / s /\ vnorm k (vminus (th' i) (th0 i)) <= nu_th / s) ->
  (forall i, (i < m)%nat -> Rabs (h i - h0 i) <= L1 * vnorm k (vminus (th i) (th0 i)) /\ vnorm k (g i) <= L1 /\
    vnorm k (vminus (g i) (g0 i)) <= L2 * vnorm k (vminus (th i) (th0 i))) ->
  Rabs (/ s * Sum m (fun i => (h i - h0 i) * (c' i - c i) +
    dot k (vminus (vscal (c i) (g i)) (vscal (c0 i) (g0 i))) (vminus (th' i) (th i)))) <=
  (L2 * rho_th + L1 * rho_c + L1 * rho_th) / s * (sqrt (rho_c ^ 2 + rho_th ^ 2) + sqrt (nu_c ^ 2 + nu_th ^ 2)).
Proof.
  intros m k c c0 c' h h0 th th0 th' g g0 L1 L2 rho_c rho_th nu_c nu_th s Hm H1 H2 Rc Rt Nc Nt P B.
  assert (Sp : 0 < s) by now apply root_pos. assert (SS : s * s = INR m) by (apply sqrt_sqrt, pos_INR).
  set (N := sqrt (rho_c ^ 2 + rho_th ^ 2) + sqrt (nu_c ^ 2 + nu_th ^ 2)).
  assert (Big : forall a b, 0 <= a -> 0 <= b -> a <= sqrt (a ^ 2 + b ^ 2) /\ b <= sqrt (a ^ 2 + b ^ 2)).
  { intros a b Ha Hb. split; [rewrite <- (sqrt_pow2 a Ha) at 1|rewrite <- (sqrt_pow2 b Hb) at 1]; apply sqrt_le_1_alt;
      [assert (0 <= b ^ 2) by apply pow2_ge_0|assert (0 <= a ^ 2) by apply pow2_ge_0]; lra. }
  destruct (Big rho_c rho_th Rc Rt) as [Ba Bb]. destruct (Big nu_c nu_th Nc Nt) as [Bc Bd].
  assert (Is : 0 < / s) by now apply Rinv_0_lt_compat.
  assert (W : forall i, (i < m)%nat -> Rabs ((h i - h0 i) * (c' i - c i) +
    dot k (vminus (vscal (c i) (g i)) (vscal (c0 i) (g0 i))) (vminus (th' i) (th i))) <=
    (L2 * rho_th + L1 * rho_c + L1 * rho_th) * / s * (N * / s)).
  { intros i Hi. destruct (P i Hi) as (P0 & P1 & P2 & P3 & P4). destruct (B i Hi) as (B1 & B2 & B3).
    assert (X1 := two_radii _ _ _ _ _ _ P1 P2). assert (X2 := two_radii_norm _ _ _ _ _ _ _ P3 P4).
    assert (X3 : Rabs (c' i - c i) <= N * / s) by (eapply Rle_trans; [apply X1|]; apply Rmult_le_compat_r; unfold N;
      lra).
    assert (X4 : vnorm k (vminus (th' i) (th i)) <= N * / s)
      by (eapply Rle_trans; [apply X2|]; apply Rmult_le_compat_r; unfold N; lra).
    assert (Y1 : Rabs (h i - h0 i) <= L1 * (rho_th * / s)) by (eapply Rle_trans; [apply B1|];
      now apply Rmult_le_compat_l).
    assert (Y2 : vnorm k (vminus (g i) (g0 i)) <= L2 * (rho_th * / s))
      by (eapply Rle_trans; [apply B3|]; now apply Rmult_le_compat_l).
    assert (Y3 := gradient_change k (c i) (c0 i) (g i) (g0 i) _ _ L1 P0 Y2 P1 B2 ltac:(apply Rmult_le_pos; lra)).
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
    assert (Z1 : Rabs (h i - h0 i) * Rabs (c' i - c i) <= L1 * (rho_th * / s) * (N * / s))
      by (apply Rmult_le_compat; try apply Rabs_pos; easy).
    assert (Z2 := cauchy k (vminus (vscal (c i) (g i)) (vscal (c0 i) (g0 i))) (vminus (th' i) (th i))).
    assert (Z3 := Rmult_le_compat _ _ _ _ (norm_ge0 k _) (norm_ge0 k _) Y3 X4). unfold Rdiv in *. lra. }
  rewrite Rabs_mult, (Rabs_pos_eq (/ s)) by lra.
  apply Rle_trans with (/ s * Sum m (fun _ => (L2 * rho_th + L1 * rho_c + L1 * rho_th) * / s * (N * / s))).
  - apply Rmult_le_compat_l; [lra|]. eapply Rle_trans; [apply Sum_abs|]. now apply Sum_le.
  - right. rewrite Sum_const, <- SS. field. lra.
Qed.

(** kr-theorem-1-remainder
    Covers: a part: the split of Rem and its bound by head averages; on the page: that Block smoothness bounds the two differences of a head by σ₁G₁(R_i)/√m and ½G₂(R_i)/m.
    Reads: let head i have the readouts c_i⁽⁰⁾ = ±1, c_i, c̃_i with |c_i − c_i⁽⁰⁾| ≤ ρ_c/√m, |c̃_i − c_i⁽⁰⁾| ≤ ν_c/√m, values h_i, h̃_i, gradient g_i at θ_i and Δ_i = θ̃_i − θ_i, with |h̃_i − h_i| ≤ σ₁G₁(i)/√m and |h̃_i − h_i − ⟨g_i, Δ_i⟩| ≤ ½G₂(i)/m. Then Rem = m^(−1/2) Σ [c̃_i h̃_i − c_i h_i − (c̃_i − c_i)h_i − c_i⟨g_i, Δ_i⟩] has |Rem| ≤ m^(−1/2) (1/m) Σ [(ν_c + ρ_c)σ₁G₁(i) + ½(1 + ρ_c/√m)G₂(i)].
    Mistake: `(1 + rho_c / s) * G2 i / 4)` for `(1 + rho_c / s) * G2 i / 2)`
    Mistake: `rho_c * s1 * G1 i` for `(nu_c + rho_c) * s1 * G1 i`
*)
Theorem kr_theorem_1_remainder : forall m k (c c0 c' h h' G1 G2 : vector) (g delta : nat -> vector) s1 rho_c nu_c,
  let s := sqrt (INR m) in (0 < m)%nat ->
  (forall i, (i < m)%nat -> Rabs (c0 i) = 1 /\ Rabs (c i - c0 i) <= rho_c / s /\ Rabs (c' i - c0 i) <= nu_c / s) ->
  (forall i, (i < m)%nat -> Rabs (h' i - h i) <= s1 * G1 i / s /\
    Rabs (h' i - h i - dot k (g i) (delta i)) <= G2 i / 2 / INR m) ->
  Rabs (/ s * Sum m (fun i => c' i * h' i - c i * h i - (c' i - c i) * h i - c i * dot k (g i) (delta i))) <=
  / s * Mean m (fun i => (nu_c + rho_c) * s1 * G1 i + (1 + rho_c / s) * G2 i / 2).
Proof.
  intros m k c c0 c' h h' G1 G2 g delta s1 rho_c nu_c s Hm P B.
  assert (Sp : 0 < s) by now apply root_pos. assert (SS : s * s = INR m) by (apply sqrt_sqrt, pos_INR).
  assert (Is : 0 < / s) by now apply Rinv_0_lt_compat.
  rewrite Rabs_mult, (Rabs_pos_eq (/ s)) by lra. apply Rmult_le_compat_l; [lra|].
  eapply Rle_trans; [apply Sum_abs|]. unfold Mean. rewrite <- Sum_scal. apply Sum_le. intros i Hi.
  destruct (P i Hi) as (P0 & P1 & P2). destruct (B i Hi) as [B1 B2].
  assert (X := two_radii _ _ _ _ _ _ P1 P2). assert (Y := readout_size _ _ _ _ P0 P1).
  replace (c' i * h' i - c i * h i - (c' i - c i) * h i - c i * dot k (g i) (delta i))
    with ((c' i - c i) * (h' i - h i) + c i * (h' i - h i - dot k (g i) (delta i))) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
  assert (Z1 := Rmult_le_compat _ _ _ _ (Rabs_pos _) (Rabs_pos _) X B1).
  assert (Z2 := Rmult_le_compat _ _ _ _ (Rabs_pos _) (Rabs_pos _) Y B2).
  assert (E : (rho_c + nu_c) / s * (s1 * G1 i / s) + (1 + rho_c / s) * (G2 i / 2 / INR m) =
    / INR m * ((nu_c + rho_c) * s1 * G1 i + (1 + rho_c / s) * G2 i / 2)) by (rewrite <- SS; field; lra).
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

(** ‖∇f(X; φ)‖² by Lemma 1: (1/m) Σ [σ(z_i)² + c_i² σ'(z_i)² (‖a_i‖² + ‖M_iU_i‖² ‖q‖²)] *)
Definition gradient_square (T d m : nat) (sigma sigma' : R -> R) (X : matrix) (q c : vector) (U : nat -> vector)
  (W : nat -> matrix) : R :=
  Mean m (fun i => let z := score T d X q (U i) (W i) in sigma z ^ 2 + c i ^ 2 * sigma' z ^ 2 *
    (sq d (attention T d X q (W i)) + sq d (spread T d X q (U i) (W i)) * sq d q)).

Lemma head_slope T d X q U W R : (0 < T)%nat -> (forall t, (t < T)%nat -> sq d (X t) <= 1) -> sq d q <= 1 -> vnorm d U
  <= R ->
  0 <= sq d (attention T d X q W) + sq d (spread T d X q U W) * sq d q <= Rmax 1 (R ^ 2).
Proof.
  intros HT HX Hq HR. assert (B := slope_norm T d X q U W HT HX R HR).
  assert (S := sq_ge0 d (spread T d X q U W)). assert (A := sq_ge0 d (attention T d X q W)). assert (Q := sq_ge0 d q).
  assert (P : 0 <= sq d (spread T d X q U W) * sq d q) by now apply Rmult_le_pos.
  assert (sq d (spread T d X q U W) * sq d q <= sq d (spread T d X q U W) * 1) by now apply Rmult_le_compat_l. lra.
Qed.

Lemma vnorm_moved d U U0 e : vnorm d (vminus U U0) <= e -> vnorm d U <= vnorm d U0 + e.
Proof.
  intros H. replace (vnorm d U) with (vnorm d (vplus U0 (vminus U U0))).
  - eapply Rle_trans; [apply norm_triangle|]. lra.
  - unfold vnorm. f_equal. apply sq_ext. intros; unfold vplus, vminus; ring.
Qed.

Lemma alternating k c : Sum (2 * k) (fun t => c * (if Nat.even t then 1 else -1)) = 0.
Proof.
  induction k; [easy|]. replace (2 * S k)%nat with (S (S (2 * k))) by lia. cbn [Sum]. rewrite IHk.
  assert (E : Nat.even (2 * k) = true) by (apply Nat.even_spec; now exists k).
  rewrite Nat.even_succ, <- Nat.negb_even, E. simpl negb. cbv iota. ring.
Qed.

(** Two camps ±u of half of the mass each: a = 0 and MU = ⟨u, U⟩u *)
Lemma camps k d u q U : (0 < k)%nat -> let X := fun t => vscal (if Nat.even t then 1 else -1) u in
  (forall i, attention (2 * k) d X q (fun _ _ => 0) i = 0) /\
  (forall i, spread (2 * k) d X q U (fun _ _ => 0) i = dot d u U * u i).
Proof.
  intros Hk X. set (al := weights (2 * k) d X q (fun _ _ => 0)).
  assert (N : 0 < INR (2 * k)) by (apply INR_pos; lia).
  assert (W : forall t, al t = / INR (2 * k)).
  { intros t. unfold al, weights, softmax.
    assert (Z : forall s, dot d (X s) (matvec d (fun _ _ => 0) q) = 0).
    { intros s. unfold dot, matvec. rewrite (Sum_ext d _ (fun _ => 0)), Sum_zero; [easy|]. intros i _.
      rewrite (Sum_ext d _ (fun _ => 0)), Sum_zero by (intros; ring). ring. }
    rewrite Z, (Sum_ext (2 * k) _ (fun _ => 1)) by (intros s _; rewrite Z; apply exp_0). rewrite exp_0, Sum_const.
    field. lra. }
  assert (A : forall i, attention (2 * k) d X q (fun _ _ => 0) i = 0).
  { intros i. unfold attention, attended, E. fold al.
    rewrite (Sum_ext (2 * k) _ (fun t => / INR (2 * k) * u i * (if Nat.even t then 1 else -1)))
      by (intros t _; rewrite W; unfold X, vscal; ring). apply alternating. }
  split; [exact A|]. intros i. unfold spread, matvec, covariance. fold al.
  unfold dot. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros j _.
  assert (C : E (2 * k) al (fun t => (X t i - attended (2 * k) al X i) * (X t j - attended (2 * k) al X j)) = u i * u
    j).
  { change (attended (2 * k) al X) with (attention (2 * k) d X q (fun _ _ => 0)).
    unfold E. rewrite (Sum_ext (2 * k) _ (fun _ => / INR (2 * k) * (u i * u j))).
    - rewrite Sum_const. field. lra.
    - intros t _. rewrite W, !A. unfold X, vscal. destruct (Nat.even t); ring. }
  rewrite C. ring.
Qed.

(** kr-theorem-1-gradient
    Covers: the whole statement, with ∇f in the closed form of Lemma 1.
    Reads: for T ≥ 1 tokens and a query in the unit ball, |σ| ≤ σ₀, |σ'| ≤ σ₁, m heads with |c_i⁽⁰⁾| = 1, |c_i − c_i⁽⁰⁾| ≤ ρ_c/√m and ‖U_i − U_i⁽⁰⁾‖ ≤ ρ_u/√m, any W_i, R_i = ‖U_i⁽⁰⁾‖ + ρ_u/√m and b = 1 + ρ_c/√m: ‖∇f‖² ≤ Ā² = σ₀² + b²σ₁²(1/m) Σ max(1, R_i²); for tanh ‖∇f‖² ≤ b²(1/m) Σ max(1, R_i²); if all R_i ≤ B and σ₀, σ₁ ≥ 0, Ā ≤ A_m = σ₀ + bσ₁√(1 + B²). The bound for tanh is an equality for 2k ≥ 2 tokens u, −u, u, −u, … with ‖u‖ = 1, ‖q‖ = 1, W_i = 0, if U_i⁽⁰⁾ = ±a_i u with a_i ≥ 0 and R_i ≥ 1, at c_i = b c_i⁽⁰⁾, U_i = ±R_i u. For the mean squared loss of any functions, ‖∇L‖² ≤ 4L(1/n) Σ ‖∇f_j‖²; if all ‖∇f_j‖² ≤ Ā², |r_j| ≤ F and 0 ≤ Ā ≤ A_m, that is at most 4Ā²L ≤ 4F²A_m².
    Mistake: `sq p g <= 3 * loss n f y x` for `sq p g <= 4 * loss n f y x`
    Mistake: `q c U W <= s0 ^ 2 + b ^ 2 * Mean m` for `q c U W <= s0 ^ 2 + b ^ 2 * s1 ^ 2 * Mean m`
    Mistake: `q c U W <= Mean m` for `q c U W <= b ^ 2 * Mean m`
    Mistake: `/\ 0 <= a i) ->` for `/\ 0 <= a i /\ 1 <= R i) ->`
*)
Theorem kr_theorem_1_gradient :
  (forall T d m X q (c c0 : vector) (U U0 : nat -> vector) (W : nat -> matrix) rho_c rho_u,
   let b := 1 + rho_c / sqrt (INR m) in let R i := vnorm d (U0 i) + rho_u / sqrt (INR m) in
   (0 < T)%nat -> (0 < m)%nat -> (forall t, (t < T)%nat -> sq d (X t) <= 1) -> sq d q <= 1 ->
   (forall i, (i < m)%nat -> Rabs (c0 i) = 1 /\ Rabs (c i - c0 i) <= rho_c / sqrt (INR m) /\
     vnorm d (vminus (U i) (U0 i)) <= rho_u / sqrt (INR m)) ->
   (forall sigma sigma' s0 s1, (forall x, Rabs (sigma x) <= s0) -> (forall x, Rabs (sigma' x) <= s1) ->
     gradient_square T d m sigma sigma' X q c U W <= s0 ^ 2 + b ^ 2 * s1 ^ 2 * Mean m (fun i => Rmax 1 (R i ^ 2))) /\
   gradient_square T d m tanh (fun x => 1 - tanh x ^ 2) X q c U W <= b ^ 2 * Mean m (fun i => Rmax 1 (R i ^ 2)) /\
   (forall s0 s1 B, 0 <= s0 -> 0 <= s1 -> (forall i, (i < m)%nat -> R i <= B) ->
     sqrt (s0 ^ 2 + b ^ 2 * s1 ^ 2 * Mean m (fun i => Rmax 1 (R i ^ 2))) <= s0 + b * (s1 * sqrt (1 + B ^ 2)))) /\
  (forall k d m u q (a e c0 : vector) rho_c rho_u, let b := 1 + rho_c / sqrt (INR m) in
   let X := fun t => vscal (if Nat.even t then 1 else -1) u in let U0 i := vscal (e i * a i) u in
   let R i := vnorm d (U0 i) + rho_u / sqrt (INR m) in let U i := vscal (e i * R i) u in
   (0 < k)%nat -> (0 < m)%nat -> sq d u = 1 -> sq d q = 1 -> 0 <= rho_c -> 0 <= rho_u ->
   (forall i, (i < m)%nat -> Rabs (c0 i) = 1 /\ (e i = 1 \/ e i = -1) /\ 0 <= a i /\ 1 <= R i) ->
   (forall i, (i < m)%nat -> Rabs (b * c0 i - c0 i) <= rho_c / sqrt (INR m) /\
     vnorm d (vminus (U i) (U0 i)) <= rho_u / sqrt (INR m)) /\
   gradient_square (2 * k) d m tanh (fun x => 1 - tanh x ^ 2) X q (fun i => b * c0 i) U (fun _ _ _ => 0) =
     b ^ 2 * Mean m (fun i => Rmax 1 (R i ^ 2))) /\
  (forall p n f D y x g, (0 < n)%nat -> (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) ->
   gradient p (loss n f y) x g ->
   sq p g <= 4 * loss n f y x * Mean n (fun j => sq p (D j x)) /\
   (forall F A Am, 0 <= A <= Am -> (forall j, (j < n)%nat -> sq p (D j x) <= A ^ 2 /\ Rabs (residual f y x j) <= F) ->
     4 * loss n f y x * Mean n (fun j => sq p (D j x)) <= 4 * A ^ 2 * loss n f y x <= 4 * F ^ 2 * Am ^ 2)).
Proof.
  split; [|split].
  - intros T d m X q c c0 U U0 W rho_c rho_u b R HT Hm HX Hq P. assert (Sp := root_pos m Hm).
    assert (B0 : 0 <= b).
    { destruct (P O Hm) as (P0 & P1 & _). assert (K := Rabs_pos (c O - c0 O)). unfold b. lra. }
    assert (Cb : forall i, (i < m)%nat -> c i ^ 2 <= b ^ 2).
    { intros i Hi. destruct (P i Hi) as (P0 & P1 & _). rewrite <- (pow2_abs (c i)). apply pow_incr.
      split; [apply Rabs_pos|].
      now apply (readout_size (c i) (c0 i)). }
    assert (Sl : forall i, (i < m)%nat -> 0 <= sq d (attention T d X q (W i)) + sq d (spread T d X q (U i) (W i)) * sq
      d q <=
      Rmax 1 (R i ^ 2)).
    { intros i Hi. destruct (P i Hi) as (_ & _ & P2). apply head_slope; try easy. now apply vnorm_moved. }
    split; [|split].
    + intros sigma sigma' s0 s1 B1 B2. unfold gradient_square.
      rewrite <- Mean_scal, <- (Mean_const m (s0 ^ 2) Hm), <- Mean_plus.
      apply Mean_le. intros i Hi. cbv zeta. set (z := score T d X q (U i) (W i)).
      assert (Q1 : sigma z ^ 2 <= s0 ^ 2) by (rewrite <- pow2_abs; apply pow_incr; split; [apply Rabs_pos|apply B1]).
      assert (Q2 : sigma' z ^ 2 <= s1 ^ 2) by (rewrite <- pow2_abs; apply pow_incr; split; [apply Rabs_pos|apply B2]).
      destruct (Sl i Hi) as [S0 S1]. apply Rplus_le_compat; [easy|]. apply Rmult_le_compat; try easy.
      * apply Rmult_le_pos; apply pow2_ge_0.
      * apply Rmult_le_compat; try apply pow2_ge_0; [now apply Cb|easy].
    + unfold gradient_square. rewrite <- Mean_scal. apply Mean_le. intros i Hi. cbv zeta.
      set (z := score T d X q (U i) (W i)). destruct (Sl i Hi) as [S0 S1]. set (v := _ + _ * sq d q) in *.
      assert (Th : 0 <= tanh z ^ 2 <= 1).
      { split; [apply pow2_ge_0|]. assert (H1 := exp_pos z). assert (H2 := exp_pos (- z)).
        unfold tanh, sinh, cosh. set (e := exp z) in *. set (e' := exp (- z)) in *.
        replace (((e - e') / 2 / ((e + e') / 2)) ^ 2) with ((e - e') ^ 2 / (e + e') ^ 2) by (field; lra).
        apply Rmult_le_reg_r with ((e + e') ^ 2); [apply pow_lt; lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l.
        - assert (0 < e * e') by now apply Rmult_lt_0_compat. lra.
        - apply Rgt_not_eq, pow_lt; lra. }
      set (x := tanh z ^ 2) in *. assert (M1 : 1 <= Rmax 1 (R i ^ 2)) by apply Rmax_l.
      assert (B2 : 1 <= b ^ 2).
      { assert (b1 : 1 <= b). { destruct (P i Hi) as (_ & P1 & _). assert (K := Rabs_pos (c i - c0 i)). unfold b. lra. }
        rewrite <- (pow1 2). apply pow_incr. lra. }
      set (Y := b ^ 2 * Rmax 1 (R i ^ 2)). assert (Y1 : 1 <= Y).
      { assert (0 <= (b ^ 2 - 1) * (Rmax 1 (R i ^ 2) - 1)) by (apply Rmult_le_pos; lra). unfold Y. lra. }
      assert (V : c i ^ 2 * v <= Y) by (apply Rmult_le_compat; try easy; [apply pow2_ge_0|now apply Cb]).
      assert (X1 : (1 - x) ^ 2 * (c i ^ 2 * v) <= (1 - x) ^ 2 * Y) by (apply Rmult_le_compat_l; [apply pow2_ge_0|easy]).
      assert (X2 : 0 <= x * (1 - x) * Y) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
      assert (X3 : 0 <= x * (Y - 1)) by (apply Rmult_le_pos; lra). lra.
    + intros s0 s1 B H0 H1 HB. assert (Rp : forall i, (i < m)%nat -> 0 <= R i).
      { intros i Hi. destruct (P i Hi) as (_ & _ & P2). assert (K := norm_ge0 d (vminus (U i) (U0 i))).
        assert (K2 := norm_ge0 d (U0 i)). unfold R. lra. }
      assert (M : Mean m (fun i => Rmax 1 (R i ^ 2)) <= 1 + B ^ 2).
      { rewrite <- (Mean_const m (1 + B ^ 2) Hm). apply Mean_le. intros i Hi.
        assert (R i ^ 2 <= B ^ 2) by (apply pow_incr; split; [now apply Rp|now apply HB]).
        assert (0 <= R i ^ 2) by apply pow2_ge_0. apply Rmax_lub; lra. }
      assert (Q := sqrt_pos (1 + B ^ 2)). assert (Q2 := pow2_sqrt (1 + B ^ 2) ltac:(assert (0 <= B ^ 2)
        by apply pow2_ge_0; lra)).
      set (w := sqrt (1 + B ^ 2)) in *. assert (T1 : 0 <= b * (s1 * w)) by (repeat apply Rmult_le_pos; easy).
      rewrite <- (sqrt_pow2 (s0 + b * (s1 * w))) by lra. apply sqrt_le_1_alt.
      assert (T2 : b ^ 2 * s1 ^ 2 * Mean m (fun i => Rmax 1 (R i ^ 2)) <= b ^ 2 * s1 ^ 2 * w ^ 2)
        by (apply Rmult_le_compat_l; [apply Rmult_le_pos; apply pow2_ge_0|lra]).
      assert (0 <= s0 * (b * (s1 * w))) by now apply Rmult_le_pos. lra.
  - intros k d m u q a e c0 rho_c rho_u b X U0 R U Hk Hm Hu Hq Rc Ru P. assert (Sp := root_pos m Hm).
    assert (Rs : 0 <= rho_u / sqrt (INR m)) by (apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]).
    assert (Cs : 0 <= rho_c / sqrt (INR m)) by (apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]).
    assert (Nu : forall t, vnorm d (vscal t u) = Rabs t)
      by (intros t; rewrite norm_scal; unfold vnorm; rewrite Hu, sqrt_1; ring).
    assert (En : forall i, (i < m)%nat -> vnorm d (U0 i) = a i).
    { intros i Hi. destruct (P i Hi) as (_ & He & Ha & _). unfold U0. rewrite Nu, Rabs_mult.
      rewrite (Rabs_pos_eq (a i)) by easy. destruct He as [-> | ->]; [rewrite Rabs_R1|rewrite Rabs_left by lra]; ring. }
    split.
    + intros i Hi. destruct (P i Hi) as (P0 & He & Ha & _). split.
      * replace (b * c0 i - c0 i) with (rho_c / sqrt (INR m) * c0 i) by (unfold b; ring).
        rewrite Rabs_mult, P0, Rabs_pos_eq; lra.
      * rewrite (vnorm_ext d _ (vscal (e i * (rho_u / sqrt (INR m))) u))
          by (intros; unfold U, U0, R, vminus, vscal; fold (vscal (e i * a i) u); fold (U0 i); rewrite (En i Hi); ring).
        rewrite Nu, Rabs_mult, (Rabs_pos_eq (_ / _)) by easy.
        destruct He as [-> | ->]; [rewrite Rabs_R1|rewrite Rabs_left by lra]; lra.
    + unfold gradient_square. rewrite <- Mean_scal. apply Mean_ext. intros i Hi.
      destruct (P i Hi) as (P0 & He & Ha & HR).
      destruct (camps k d u q (U i) Hk) as [A S]. fold X in A, S. cbv zeta.
      assert (Z : score (2 * k) d X q (U i) (fun _ _ => 0) = 0).
      { unfold score, dot. rewrite (Sum_ext d _ (fun _ => 0)), Sum_zero; [easy|]. intros j _. rewrite A. ring. }
      assert (T0 : tanh 0 = 0) by (unfold tanh; rewrite sinh_0; unfold Rdiv; ring). rewrite Z, T0.
      rewrite (sq_ext d (attention (2 * k) d X q (fun _ _ => 0)) (vscal 0 u)), sq_scal
        by (intros; rewrite A; unfold vscal; ring).
      rewrite (sq_ext d (spread (2 * k) d X q (U i) (fun _ _ => 0)) (vscal (dot d u (U i)) u)), sq_scal
        by (intros; rewrite S; easy).
      unfold U at 1. rewrite dot_scal_r, <- sq_dot, Hu, Hq, Rmax_right by (rewrite <- (pow1 2) at 1; apply pow_incr;
        lra).
      assert (C2 : c0 i ^ 2 = 1) by (rewrite <- pow2_abs, P0; ring).
      assert (E2 : e i ^ 2 = 1) by (destruct He as [-> | ->]; ring).
      transitivity (b ^ 2 * (c0 i ^ 2 * e i ^ 2 * R i ^ 2)); [ring|]. rewrite C2, E2. ring.
  - intros p n f D y x g Hn G K. assert (N := INR_pos n Hn). assert (L0 := loss_ge0 n f y x). split.
    + rewrite (loss_gradient_sq p n f y x D g G K). assert (Q := quadratic_trace p n D x (residual f y x)).
      apply Rmult_le_reg_l with (INR n ^ 2 / 4); [apply Rdiv_lt_0_compat; [now apply pow_lt|lra]|].
      replace (INR n ^ 2 / 4 * (4 / INR n ^ 2 * quadratic n (gram p D x) (residual f y x)))
        with (quadratic n (gram p D x) (residual f y x)) by (field; lra).
      eapply Rle_trans; [apply Q|]. right. unfold loss, Mean, sq at 1.
      rewrite (Sum_ext n (fun j => sq p (D j x)) (fun j => gram p D x j j)) by (intros; apply sq_dot). field. lra.
    + intros F A Am HA B. assert (M : Mean n (fun j => sq p (D j x)) <= A ^ 2)
        by (rewrite <- (Mean_const n (A ^ 2) Hn); apply Mean_le; intros j Hj; now apply B).
      assert (LF : loss n f y x <= F ^ 2).
      { rewrite <- (Mean_const n (F ^ 2) Hn). apply Mean_le. intros j Hj. rewrite <- pow2_abs. apply pow_incr.
        split; [apply Rabs_pos|now apply B]. }
      split; [apply (Rmult_le_compat_l (loss n f y x)) in M; lra|].
      assert (A2 : A ^ 2 <= Am ^ 2) by now apply pow_incr.
      assert (Z := Rmult_le_compat _ _ _ _ (pow2_ge_0 A) L0 A2 LF). lra.
Qed.
