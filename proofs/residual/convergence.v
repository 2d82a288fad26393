(** Why it converges: an error pays for the path. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.along base.falling base.runs base.least_squares base.readout
  base.paid_path base.descent.
Open Scope R_scope.

(** rt-theorem-c
    Covers: the whole statement.
    Reads: let J be the Jacobian of F : ℝᴰ → ℝⁿ on the ball of radius r around θ⁽⁰⁾, M-Lipschitz there, with ‖J(θ)ᵀw‖² ≥ s(u)²‖w‖² at distance u from the centre, s > 0 not increasing on [0, r]; let μ > 0, μ‖J(θ⁽ᵗ⁾)v‖² ≤ ‖v‖² for all iterates in the ball, U_t the length of the path after t steps. If μMe₀ < 1 and e₀/(1 − μMe₀) < ∫₀ʳ s, then every step's segment stays in the ball, the iterates converge to a θ* in it where F = y, ∫₀^{U_t} s ≤ (e₀ − e_t)/(1 − μMe₀), U_t ≤ r, and e_{t+1} ≤ (1 − μ s(U_t)²(1 − μMe_t/2)) e_t. If s(u) = s₀ − Mu with Mr < s₀, then e₀ < ∫₀ʳ s gives the same, with ∫₀^{U_t} s ≤ e₀ − e_t.
    Mistake: `RInt s 0 (path D theta t) <= c / 2 * (e 0%nat - e t)` for `RInt s 0 (path D theta t) <= c * (e 0%nat - e t)`
    Mistake: `(1 - mu * M * e t / 4)` for `(1 - mu * M * e t / 2)`
    Mistake: `mu / 4 * sq n (matvec D (J (theta t)) v)` for `mu * sq n (matvec D (J (theta t)) v)`
*)
Theorem rt_theorem_c : forall n D F J y theta mu M r (s : R -> R),
  let e t := error n F y (theta t) in
  let B z := distance D (theta 0%nat) z <= r in
  let safe c :=
    (forall t x, 0 <= x <= 1 -> B (along (theta t) (vminus (theta (S t)) (theta t)) x)) /\
    (forall t, path D theta t <= r /\ RInt s 0 (path D theta t) <= c * (e 0%nat - e t)) /\
    (forall t, e (S t) <= (1 - mu * s (path D theta t) ^ 2 * (1 - mu * M * e t / 2)) * e t) /\
    exists limit, B limit /\ converges D theta limit /\ (forall k, (k < n)%nat -> F limit k = y k) in
  0 < mu -> 0 <= M -> 0 <= r -> jacobian_on n D F J B -> lipschitz_jacobian n D J M B ->
  (forall u, 0 <= u <= r -> 0 < s u) -> falling s r ->
  (forall z w, B z -> s (distance D (theta 0%nat) z) ^ 2 * sq n w <= sq D (pullback n (J z) w)) ->
  descends mu (least_squares n F J y) theta ->
  (forall t v, B (theta t) -> mu * sq n (matvec D (J (theta t)) v) <= sq D v) ->
  (mu * M * e 0%nat < 1 -> e 0%nat / (1 - mu * M * e 0%nat) < RInt s 0 r -> safe (/ (1 - mu * M * e 0%nat))) /\
  (forall s0, (forall u, 0 <= u <= r -> s u = s0 - M * u) -> M * r < s0 -> e 0%nat < RInt s 0 r -> safe 1).
Proof.
  intros n D F J y theta mu M r s e B safe Hmu HM Hr HJ HL Hs Hf Hq Hd Hn.
  assert (common : forall c, 0 < c -> mu * M * e 0%nat < 1 ->
    (forall t, path D theta t <= r /\ RInt s 0 (path D theta t) <= c * (e 0%nat - e t)) -> safe c).
  { intros c Hc Hm HU. assert (He : forall t, e t <= e 0%nat).
    { intros t. destruct (HU t) as [A C]. now apply (c_falls n D F y theta r c s Hs Hf). }
    assert (Hin : forall t, B (theta t)) by (intros t; eapply Rle_trans; [apply from_start|apply HU]).
    split; [|split; [easy|split]].
    - intros t x Hx. apply ball_convex; [easy|apply Hin|apply Hin].
    - intros t. apply (c_rate n D F J y theta mu M r s); try easy; [apply HU|].
      assert (mu * M * e t <= mu * M * e 0%nat) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|apply He]).
      unfold e in *. lra.
    - destruct (c_end n D F J y theta mu M r s) as [l [A [C [K _]]]]; try easy; [apply HU|]. now exists l. }
  split.
  - intros Hm HR. set (q := 1 - mu * M * e 0%nat) in *. assert (0 < q) by (unfold q; lra).
    apply common; [now apply Rinv_0_lt_compat|easy|].
    apply (c_stays n D F J y theta mu r (/ q) s); try easy; [now apply Rinv_0_lt_compat|fold (e 0%nat);
      unfold Rdiv in HR; lra|].
    intros t k Hk HU He. assert (mu * M * error n F y (theta t) <= mu * M * e 0%nat)
      by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|exact He]).
    assert (P := c_pay n D F J y theta mu M r s HM HJ HL Hs Hf Hq Hn t k Hk HU ltac:(lra)).
    set (I := RInt s 0 _ - RInt s 0 _) in *. apply (Rmult_le_reg_l q); [easy|].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. eapply Rle_trans; [|exact P].
    apply Rmult_le_compat_r; [|unfold q; lra].
    assert (0 <= k * vnorm D (least_squares n F J y (theta t))) by (apply Rmult_le_pos; [lra|apply norm_ge0]).
    assert (G := RInt_grows s r (path D theta t) (path D theta t + k * vnorm D (least_squares n F J y (theta t))) Hf Hs
      (path_ge0 D theta t) ltac:(lra) HU). unfold I. lra.
  - intros s0 E Hs0 He.
    assert (Hm : mu * M * e 0%nat < 1).
    { destruct (Req_dec (e 0%nat) 0) as [->|Z]; [lra|]. assert (0 <= e 0%nat) by apply norm_ge0.
      destruct (c_facts n D F J y theta mu r s Hs Hf Hq Hn 0%nat mu) as [_ [A C]]; [lra|rewrite path_0; easy|].
      fold (e 0%nat) in A, C. rewrite path_0, (E 0) in C by lra.
      assert (mu * s0 ^ 2 <= 1) by (apply (Rmult_le_reg_r (e 0%nat ^ 2)); [apply pow_lt; lra|]; lra).
      rewrite (linear_area s s0 M r r E) in He by lra. destruct HM as [HM|<-]; [|lra].
      assert (M * (s0 * r - M / 2 * r ^ 2) <= s0 ^ 2 / 2) by (assert (Q := pow2_ge_0 (s0 - M * r)); lra).
      assert (M * e 0%nat < M * (s0 * r - M / 2 * r ^ 2)) by (apply Rmult_lt_compat_l; lra).
      assert (mu * (M * e 0%nat) < mu * (s0 ^ 2 / 2)) by (apply Rmult_lt_compat_l; lra). lra. }
    apply common; [lra|easy|]. apply (c_stays n D F J y theta mu r 1 s); try easy; [lra|fold (e 0%nat); lra|].
    intros t k Hk HU _. rewrite Rmult_1_l. now apply (c_pay_linear n D F J y theta mu M r s) with (s0 := s0).
Qed.

(** rt-lemma-1
    Covers: the whole statement.
    Reads: let f have the gradient ∇f(z), a derivative in every direction, at all z = x + s(x′ − x), 0 ≤ s ≤ 1, with ‖∇f(z) − ∇f(x)‖ ≤ C‖z − x‖ there. Then f(x′) ≤ f(x) + ⟨∇f(x), x′ − x⟩ + (C/2)‖x′ − x‖². (∇f need not be continuous.)
    Mistake: `C / 4 * sq d` for `C / 2 * sq d`
    Mistake: `f x' <= f x - dot d` for `f x' <= f x + dot d`
*)
Theorem rt_lemma_1 : forall d f g C x x',
  (forall s, 0 <= s <= 1 -> let z := along x (vminus x' x) s in gradient_at d f z (g z)) ->
  (forall s, 0 <= s <= 1 -> let z := along x (vminus x' x) s in vnorm d (vminus (g z) (g x)) <= C * distance d x z) ->
  f x' <= f x + dot d (g x) (vminus x' x) + C / 2 * sq d (vminus x' x).
Proof.
  intros d f g C x x' Hg HC. cbv zeta in *. set (v := vminus x' x) in *.
  assert (K := quadratic (fun s => f (along x v s)) (fun s => dot d (g (along x v s)) v) (C * sq d v) 1 ltac:(lra)).
  cbv beta in K. rewrite along_0 in K.
  replace (along x v 1) with x' in K by (symmetry; apply along_to).
  eapply Rle_trans; [apply K|right; field].
  - intros s Hs. now apply gradient_along, Hg.
  - intros s Hs. specialize (HC s Hs). assert (Dz : distance d x (along x v s) = s * vnorm d v).
    { unfold distance. rewrite (norm_ext d _ (vscal s v)) by (intros; unfold vminus, along, vscal; ring).
      rewrite norm_scal, Rabs_right by lra. easy. }
    rewrite Dz in HC. assert (P := Rle_trans _ _ _ (Rle_abs _) (cauchy d (vminus (g (along x v s)) (g x)) v)).
    rewrite dot_minus_l in P. assert (N := norm_ge0 d v). rewrite <- norm_sq.
    assert (vnorm d (vminus (g (along x v s)) (g x)) * vnorm d v <= C * (s * vnorm d v) * vnorm d v)
      by now apply Rmult_le_compat_r. lra.
Qed.

(** rt-lemma-1-upper
    Covers: the whole statement.
    Reads: let f have the gradient ∇f and ∇f the Jacobian ∇²f at all points z of the segment from x to x′, with ⟨w, ∇²f(z)w⟩ ≤ C‖w‖² for all w. Then f(x′) ≤ f(x) + ⟨∇f(x), x′ − x⟩ + (C/2)‖x′ − x‖². (∇²f need not be continuous.)
    Mistake: `C / 4 * sq d` for `C / 2 * sq d`
    Mistake: `- C * sq d w <= dot d w (matvec d (H z) w)` for `dot d w (matvec d (H z) w) <= C * sq d w`
*)
Theorem rt_lemma_1_upper : forall d f g H C x x',
  (forall s, 0 <= s <= 1 -> let z := along x (vminus x' x) s in
    gradient_at d f z (g z) /\ jacobian_at d d g z (H z) /\
    forall w, dot d w (matvec d (H z) w) <= C * sq d w) ->
  f x' <= f x + dot d (g x) (vminus x' x) + C / 2 * sq d (vminus x' x).
Proof.
  intros d f g H C x x' Hz. cbv zeta in *. set (v := vminus x' x) in *.
  assert (K := quadratic (fun s => f (along x v s)) (fun s => dot d v (g (along x v s))) (C * sq d v) 1 ltac:(lra)).
  cbv beta in K. rewrite along_0 in K.
  replace (along x v 1) with x' in K by (symmetry; apply along_to).
  eapply Rle_trans; [apply K|rewrite (dot_sym d v); right; field].
  - intros s Hs. rewrite dot_sym. now apply gradient_along, Hz.
  - intros s Hs. assert (L := falls 0 s (fun s => dot d v (g (along x v s)) - C * sq d v * s)
      (fun s => dot d v (matvec d (H (along x v s)) v) - C * sq d v) ltac:(lra)). cbv beta in L.
    rewrite along_0 in L. assert (dot d v (g (along x v s)) - C * sq d v * s <= dot d v (g x) - C * sq d v * 0); [|lra].
    apply L; intros u Hu.
    + apply (is_derive_minus (fun s => dot d v (g (along x v s))) (fun s => C * sq d v * s)).
      * apply (jacobian_along d d g). apply Hz. lra.
      * auto_derive; [easy|ring].
    + destruct (Hz u ltac:(lra)) as [_ [_ B]]. specialize (B v). lra.
Qed.

(** rt-lemma-h
    Covers: a part: for F = (H₀ + A W₂) W_U with H₀ = g_f Z, the gradient in W₂, its bound, and equality for some targets, whatever the matrices; on the page: the gradient in all six matrices, that ‖∇Φ‖ ≥ ‖∇_{W₂}Φ‖, and that with W₂ = 0, g_f = 0 this is an equality as well.
    Reads: let σ_A be the least singular value of Aᵀ on ℝⁿ, n tokens, and σ_U that of W_U on ℝᴷ. At targets Y, with errors E = F − Y, the gradient of Φ = ½‖F − Y‖² in W₂ is AᵀE W_Uᵀ, and its squared norm is at least 2σ_A²σ_U²Φ; there are targets Y with Φ > 0 and equality.
    Mistake: `4 * (sA ^ 2 * sU ^ 2 * square_loss n K (F W2) Y) <=` for `2 * (sA ^ 2 * sU ^ 2 * square_loss n K (F W2) Y) <=`
    Mistake: without `least_singular K (fun v => sq d (matvec K WU v)) sU ->`
*)
Theorem rt_lemma_h : forall n d1 d K A H0 WU W2 sA sU,
  let F W := matmul d (mplus H0 (matmul d1 A W) 1) WU in
  let G Y := matmul n (transpose A) (matmul K (mminus (F W2) Y) (transpose WU)) in
  least_singular n (fun v => sq d1 (pullback n A v)) sA -> least_singular K (fun v => sq d (matvec K WU v)) sU ->
  (forall Y, matrix_gradient d1 d (fun W => square_loss n K (F W) Y) W2 (G Y) /\
    2 * (sA ^ 2 * sU ^ 2 * square_loss n K (F W2) Y) <= frob2 d1 d (G Y)) /\
  exists Y, 0 < square_loss n K (F W2) Y /\
    frob2 d1 d (G Y) = 2 * (sA ^ 2 * sU ^ 2 * square_loss n K (F W2) Y).
Proof.
  intros n d1 d K A H0 WU W2 sA sU F G [_ [LA [u [u0 Eu]]]] [_ [LU [v [v0 Ev]]]]. split.
  - intros Y. split.
    + apply (affine_gradient d1 d n K F (fun V => matmul d (matmul d1 A V) WU)).
      * intros V s i j. unfold F, matmul, mplus. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext; intros k _.
        rewrite (Sum_ext d1 _ (fun l => A i l * W2 l k + s * (A i l * V l k))) by (intros; ring).
        rewrite Sum_plus, Sum_scal. ring.
      * intros V. now rewrite frob_dot_right, frob_dot_left.
    + unfold square_loss, G. set (E := mminus (F W2) Y).
      assert (B := left_bound n d1 d A (sA ^ 2) (matmul K E (transpose WU)) LA).
      assert (C := right_bound n d K WU (sU ^ 2) E LU).
      assert (sA ^ 2 * (sU ^ 2 * frob2 n K E) <= sA ^ 2 * frob2 n d (matmul K E (transpose WU)))
        by (apply Rmult_le_compat_l; [apply pow2_ge_0|easy]). lra.
  - exists (mminus (F W2) (outer u v)). unfold square_loss, G.
    set (E := mminus (F W2) (mminus (F W2) (outer u v))).
    assert (EE : forall i j, E i j = outer u v i j) by (intros; unfold E, mminus; ring).
    rewrite (frob2_ext n K E (outer u v)), frob2_outer by (intros; apply EE).
    rewrite (frob2_ext d1 d _ (outer (pullback n A u) (matvec K WU v))).
    + rewrite frob2_outer, Eu, Ev. assert (0 < sq n u * sq K v) by now apply Rmult_lt_0_compat. split; lra.
    + intros l j _ _. rewrite <- outer_left. unfold matmul at 1 3. apply Sum_ext; intros i _. f_equal.
      rewrite <- outer_right. unfold matmul. apply Sum_ext; intros k _. now rewrite EE.
Qed.

(** rt-lemma-i
    Covers: the whole statement.
    Reads: let F = H W_U with n rows, and σ_H the least singular value of Hᵀ on ℝⁿ. The gradient of Φ = ½‖F − Y‖² in W_U is HᵀE with E = F − Y, its squared norm is at least 2σ_H²Φ for every K and Y, and for K ≥ 1 there are targets with Φ > 0 and equality. (For n > d, σ_H = 0.)
    Mistake: `4 * (sH ^ 2 * square_loss n K (F WU) Y) <=` for `2 * (sH ^ 2 * square_loss n K (F WU) Y) <=`
    Mistake: without `least_singular n (fun v => sq d (pullback n H v)) sH ->`
*)
Theorem rt_lemma_i : forall n d K H WU sH,
  let F W := matmul d H W in
  let G Y := matmul n (transpose H) (mminus (F WU) Y) in
  least_singular n (fun v => sq d (pullback n H v)) sH ->
  (forall Y, matrix_gradient d K (fun W => square_loss n K (F W) Y) WU (G Y) /\
    2 * (sH ^ 2 * square_loss n K (F WU) Y) <= frob2 d K (G Y)) /\
  ((0 < K)%nat -> exists Y, 0 < square_loss n K (F WU) Y /\
    frob2 d K (G Y) = 2 * (sH ^ 2 * square_loss n K (F WU) Y)).
Proof.
  intros n d K H WU sH F G [_ [LH [u [u0 Eu]]]]. split.
  - intros Y. split.
    + apply (affine_gradient d K n K F (fun V => matmul d H V)).
      * intros V s i j. unfold F, matmul, mplus. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext; intros; ring.
      * intros V. now rewrite frob_dot_left.
    + unfold square_loss, G. assert (B := left_bound n d K H (sH ^ 2) (mminus (F WU) Y) LH). lra.
  - intros HK. exists (mminus (F WU) (outer u (fun _ => 1))). unfold square_loss, G.
    set (E := mminus (F WU) (mminus (F WU) (outer u (fun _ => 1)))).
    assert (EE : forall i j, E i j = outer u (fun _ => 1) i j) by (intros; unfold E, mminus; ring).
    rewrite (frob2_ext n K E (outer u (fun _ => 1))), frob2_outer by (intros; apply EE).
    rewrite (frob2_ext d K _ (outer (pullback n H u) (fun _ => 1))).
    + rewrite frob2_outer, Eu. assert (0 < sq K (fun _ => 1)) by (apply Sum_gt0; [easy|intros; lra]).
      assert (0 < sq n u * sq K (fun _ => 1)) by now apply Rmult_lt_0_compat. split; lra.
    + intros l j _ _. rewrite <- outer_left. unfold matmul. apply Sum_ext; intros. now rewrite EE.
Qed.

(** rt-lemma-j
    Covers: a part: the gradients, the bound, equality for some targets, the comparison with the sum of the two constants, and one network with PN = d + d₁ = 2 where the constant is positive; on the page: for all PN up to d + d₁.
    Reads: let F = H W_U, H = H₀ + A W₂ with n rows, σ_U² the least eigenvalue of W_UᵀW_U on ℝᴷ, λ that of HHᵀ + σ_U²AAᵀ on ℝⁿ. With errors E at targets Y the gradients of Φ in W₂ and in W_U are AᵀE W_Uᵀ and HᵀE, ‖∇_{W₂}Φ‖² + ‖∇_{W_U}Φ‖² ≥ 2λΦ, and for some targets this is an equality with Φ > 0. λ is at least σ_H² + σ_U²σ_A² for the least singular values σ_H, σ_A of Hᵀ, Aᵀ on ℝⁿ. For tokens 1, −1, W₁ = W_U = 1, ReLU and W₂ = 0, so H = (1, −1), A = (1, 0), ‖Hᵀx‖² + ‖Aᵀx‖² ≥ ‖x‖²/4.
    Mistake: `4 * (lam ^ 2 * square_loss n K (F W2 WU) Y) <=` for `2 * (lam ^ 2 * square_loss n K (F W2 WU) Y) <=`
    Mistake: `2 * sH ^ 2 + sU ^ 2 * sA ^ 2 <= lam ^ 2` for `sH ^ 2 + sU ^ 2 * sA ^ 2 <= lam ^ 2`
*)
Theorem rt_lemma_j : forall n d1 d K A H0 WU W2 sU lam,
  let H W := mplus H0 (matmul d1 A W) 1 in
  let F W W' := matmul d (H W) W' in
  let E Y := mminus (F W2 WU) Y in
  let G2 Y := matmul n (transpose A) (matmul K (E Y) (transpose WU)) in
  let GU Y := matmul n (transpose (H W2)) (E Y) in
  least_singular K (fun v => sq d (matvec K WU v)) sU ->
  least_singular n (fun x => sq d (pullback n (H W2) x) + sU ^ 2 * sq d1 (pullback n A x)) lam ->
  (forall Y, matrix_gradient d1 d (fun W => square_loss n K (F W WU) Y) W2 (G2 Y) /\
    matrix_gradient d K (fun W => square_loss n K (F W2 W) Y) WU (GU Y) /\
    2 * (lam ^ 2 * square_loss n K (F W2 WU) Y) <= frob2 d1 d (G2 Y) + frob2 d K (GU Y)) /\
  (exists Y, 0 < square_loss n K (F W2 WU) Y /\
    frob2 d1 d (G2 Y) + frob2 d K (GU Y) = 2 * (lam ^ 2 * square_loss n K (F W2 WU) Y)) /\
  (forall sH sA, least_singular n (fun x => sq d (pullback n (H W2) x)) sH ->
    least_singular n (fun x => sq d1 (pullback n A x)) sA -> sH ^ 2 + sU ^ 2 * sA ^ 2 <= lam ^ 2) /\
  (let token i := match i with O => 1 | _ => -1 end in
    forall x, sq 2 x / 4 <= sq 1 (pullback 2 (fun i _ => token i) x) + sq 1 (pullback 2 (fun i _ => Rmax 0 (token i))
      x)).
Proof.
  intros n d1 d K A H0 WU W2 sU lam H F E G2 GU [_ [LU [v [v0 Ev]]]] [_ [LL [u [u0 Eu]]]]. split; [|split; [|split]].
  - intros Y. split; [|split].
    + apply (affine_gradient d1 d n K (fun W => F W WU) (fun V => matmul d (matmul d1 A V) WU)).
      * intros V s i j. unfold F, H, matmul, mplus. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext; intros k _.
        rewrite (Sum_ext d1 _ (fun l => A i l * W2 l k + s * (A i l * V l k))) by (intros; ring).
        rewrite Sum_plus, Sum_scal. ring.
      * intros V. now rewrite frob_dot_right, frob_dot_left.
    + apply (affine_gradient d K n K (F W2) (fun V => matmul d (H W2) V)).
      * intros V s i j. unfold F, matmul, mplus. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext; intros; ring.
      * intros V. now rewrite frob_dot_left.
    + unfold square_loss, G2, GU. fold (E Y).
      rewrite (frob2_ext d1 d (matmul n (transpose A) _) (matmul K (matmul n (transpose A) (E Y)) (transpose WU)))
        by (intros; apply matmul_assoc).
      assert (B := right_bound d1 d K WU (sU ^ 2) (matmul n (transpose A) (E Y)) LU).
      rewrite frob2_columns in B. rewrite (frob2_columns n), (frob2_columns d).
      assert (Q : lam ^ 2 * Sum K (fun j => sq n (column (E Y) j)) <=
        Sum K (fun j => sq d (column (matmul n (transpose (H W2)) (E Y)) j)) +
        sU ^ 2 * Sum K (fun j => sq d1 (column (matmul n (transpose A) (E Y)) j))).
      { rewrite <- !Sum_scal, <- Sum_plus. apply Sum_le; intros j _. apply LL. }
      lra.
  - exists (mminus (F W2 WU) (outer u v)). unfold square_loss, G2, GU.
    set (D := E (mminus (F W2 WU) (outer u v))). fold D.
    assert (EE : forall i j, D i j = outer u v i j) by (intros; unfold D, E, mminus; ring).
    change (mminus (F W2 WU) (mminus (F W2 WU) (outer u v))) with D.
    rewrite (frob2_ext n K D (outer u v)), frob2_outer by (intros; apply EE).
    rewrite (frob2_ext d1 d _ (outer (pullback n A u) (matvec K WU v))).
    + rewrite (frob2_ext d K _ (outer (pullback n (H W2) u) v)).
      * rewrite !frob2_outer, Ev. assert (0 < sq n u * sq K v) by now apply Rmult_lt_0_compat. split; [lra|].
        replace (2 * (lam ^ 2 * (sq n u * sq K v / 2))) with (lam ^ 2 * sq n u * sq K v) by field. rewrite <- Eu. ring.
      * intros l j _ _. rewrite <- outer_left. unfold matmul. apply Sum_ext; intros. now rewrite EE.
    + intros l j _ _. rewrite <- outer_left. unfold matmul at 1 3. apply Sum_ext; intros i _. f_equal.
      rewrite <- outer_right. unfold matmul. apply Sum_ext; intros k _. now rewrite EE.
  - intros sH sA [_ [LH _]] [_ [LA _]]. specialize (LH u). specialize (LA u).
    assert (sU ^ 2 * (sA ^ 2 * sq n u) <= sU ^ 2 * sq d1 (pullback n A u)) by (apply Rmult_le_compat_l;
      [apply pow2_ge_0|easy]).
    apply (Rmult_le_reg_r (sq n u)); [easy|]. lra.
  - intros token x. unfold sq, pullback, matvec, transpose. simpl. rewrite Rmax_right, Rmax_left by lra. 
    assert (A1 := pow2_ge_0 (7 * x 0%nat - 4 * x 1%nat)). assert (A2 := pow2_ge_0 (x 0%nat)).
    assert (A3 := pow2_ge_0 (x 1%nat)). 
    nra.
Qed.

(** rt-theorem-c-split
    Covers: the whole statement.
    Reads: let θ = (θ_a, θ_b) ∈ ℝᵃ⁺ᵇ and B = {‖Δθ_b‖ ≤ r′, ‖Δθ‖ ≤ R}, Δ the difference from θ⁽⁰⁾. On B let J be the Jacobian of F, M-Lipschitz, and J_aJ_aᵀ ⪰ s(‖Δθ_b‖)²I, s > 0 not increasing on [0, r′]; let μ > 0, 0 < ν ≤ 1 and μ‖J(θ⁽ᵗ⁾)v‖² ≤ ν‖v‖² for iterates in B, μMe₀ < 1, e₀/(1 − μMe₀) < (2 − ν)∫₀^{r′} s and R ≥ e₀/((1 − μMe₀)s(r′)). Then every step's segment stays in B, the iterates converge to a θ* in B where F = y, and e_{t+1} ≤ (1 − μ s(‖Δθ_b⁽ᵗ⁾‖)²(1 − μMe_t/2)) e_t.
    Mistake: `(4 - nu) * RInt s 0 r` for `(2 - nu) * RInt s 0 r`
    Mistake: `e 0%nat / 2 / ((1 - mu * M * e 0%nat) * s r) <= far` for `e 0%nat / ((1 - mu * M * e 0%nat) * s r) <= far`
    Mistake: `(1 - mu * M * e t / 4)` for `(1 - mu * M * e t / 2)`
*)
Theorem rt_theorem_c_split : forall n a b F J y theta mu nu M r far (s : R -> R),
  let e t := error n F y (theta t) in
  let moved z := distance b (tail a (theta 0%nat)) (tail a z) in
  let B z := moved z <= r /\ distance (a + b) (theta 0%nat) z <= far in
  0 < mu -> 0 <= M -> 0 <= r -> 0 <= far -> jacobian_on n (a + b) F J B -> lipschitz_jacobian n (a + b) J M B ->
  (forall u, 0 <= u <= r -> 0 < s u) -> falling s r ->
  (forall z w, B z -> s (moved z) ^ 2 * sq n w <= sq a (pullback n (J z) w)) ->
  descends mu (least_squares n F J y) theta -> 0 < nu <= 1 ->
  (forall t v, B (theta t) -> mu * sq n (matvec (a + b) (J (theta t)) v) <= nu * sq (a + b) v) ->
  mu * M * e 0%nat < 1 -> e 0%nat / (1 - mu * M * e 0%nat) < (2 - nu) * RInt s 0 r ->
  e 0%nat / ((1 - mu * M * e 0%nat) * s r) <= far ->
  (forall t x, 0 <= x <= 1 -> B (along (theta t) (vminus (theta (S t)) (theta t)) x)) /\
  (forall t, e (S t) <= (1 - mu * s (moved (theta t)) ^ 2 * (1 - mu * M * e t / 2)) * e t) /\
  exists limit, B limit /\ converges (a + b) theta limit /\ (forall k, (k < n)%nat -> F limit k = y k).
Proof.
  intros n a b F J y theta mu nu M r far s e moved B Hmu HM Hr HR HJ HL Hs Hf Hq Hd Hnu Hn Hm HE HRe.
  set (grad := least_squares n F J y) in *. set (U := path b (fun t => tail a (theta t))).
  set (P := path (a + b) theta).
  set (Gb := fun t => vnorm b (tail a (grad (theta t)))). set (G := fun t => vnorm (a + b) (grad (theta t))).
  set (q := 1 - mu * M * e 0%nat) in *. assert (q0 : 0 < q) by (unfold q; lra).
  assert (Sr : 0 < s r) by (apply Hs; lra).
  assert (GG : forall t, G t ^ 2 = sq a (grad (theta t)) + Gb t ^ 2).
  { intros t. unfold G, Gb. rewrite !norm_sq. apply sq_split. }
  assert (in_B : forall t k, 0 <= k -> U t + k * Gb t <= r -> P t + k * G t <= far ->
    forall x, 0 <= x <= 1 -> B (part grad (theta t) (x * k))).
  { intros t k Hk A1 A2 x Hx. assert (K : 0 <= x * k) by (apply Rmult_le_pos; lra).
    assert (X1 : x * k * Gb t <= 1 * k * Gb t) by (apply Rmult_le_compat_r; [apply norm_ge0|apply Rmult_le_compat_r;
      lra]).
    assert (X2 : x * k * G t <= 1 * k * G t) by (apply Rmult_le_compat_r; [apply norm_ge0|apply Rmult_le_compat_r;
      lra]).
    assert (N1 := tail_near a b grad theta t (x * k) K). assert (N2 := part_near (a + b) grad theta t (x * k) K).
    split; [unfold moved|]; fold (U t) (Gb t) (P t) (G t) in N1, N2; lra. }
  assert (at_B : forall t, U t <= r -> P t <= far -> B (theta t)).
  { intros t A1 A2. split; [exact (Rle_trans _ _ _ (from_start b (fun t => tail a (theta t)) t) A1)|].
    exact (Rle_trans _ _ _ (from_start (a + b) theta t) A2). }
  assert (J1 : forall t v, B (theta t) -> mu * sq n (matvec (a + b) (J (theta t)) v) <= sq (a + b) v).
  { intros t v HB. eapply Rle_trans; [now apply Hn|]. assert (0 <= sq (a + b) v) by apply sq_ge0. nra. }
  assert (facts : forall t k p, 0 <= k <= mu -> B (theta t) -> 0 <= p -> p <= s (moved (theta t)) ->
    linear_error n (a + b) F J y (theta t) k ^ 2 <= (1 - k * p ^ 2) * (e t ^ 2 - k * G t ^ 2) /\
    k * G t ^ 2 <= e t ^ 2 /\ k * (p ^ 2 * e t ^ 2) <= k * G t ^ 2).
  { intros t k p Hk HB Hp Hps. apply (step_facts n (a + b) F J y (theta t) mu); [easy|intros; now apply J1|].
    intros w. eapply Rle_trans; [|rewrite sq_split; apply Rplus_le_compat; [apply Hq, HB|apply sq_ge0]].
    rewrite Rplus_0_r. apply Rmult_le_compat_r; [apply sq_ge0|]. now apply pow_incr. }
  assert (moved_r : forall t, U t <= r -> 0 <= moved (theta t) <= U t).
  { intros t _. split; [apply norm_ge0|apply (from_start b (fun t => tail a (theta t)))]. }
  (* what a part of a step pays *)
  assert (pay : forall t k, 0 <= k <= mu -> U t + k * Gb t <= r -> P t + k * G t <= far -> e t <= e 0%nat ->
    let e' := error n F y (part grad (theta t) k) in let l := linear_error n (a + b) F J y (theta t) k in
    q * ((2 - nu) * (RInt s 0 (U t + k * Gb t) - RInt s 0 (U t))) <= e t - e' /\
    q * (e t - l) <= e t - e' /\ s r * (k * G t) <= e t - l).
  { intros t k Hk A1 A2 He e' l. assert (0 <= k * Gb t) by (apply Rmult_le_pos; [lra|apply norm_ge0]).
    assert (0 <= k * G t) by (apply Rmult_le_pos; [lra|apply norm_ge0]).
    assert (HB : B (theta t)) by (apply at_B; lra). assert (Um := moved_r t ltac:(lra)).
    assert (U0 : 0 <= U t) by apply path_ge0. set (p := s (U t)). assert (p0 : 0 < p) by (apply Hs; lra).
    assert (pm : p <= s (moved (theta t))) by (apply Hf; lra).
    destruct (facts t k p Hk HB ltac:(lra) pm) as [X [Y Z]]. fold l in X.
    assert (e0 : 0 <= e t) by apply norm_ge0. assert (l0 : 0 <= l) by apply norm_ge0.
    destruct (pays (e t) l (G t) k p ltac:(lra) ltac:(lra) e0 l0 (norm_ge0 _ _) X Y Z) as [V W].
    assert (pr : s r <= p) by (apply Hf; lra).
    assert (T3 : s r * (k * G t) <= p * (k * G t)) by now apply Rmult_le_compat_r.
    assert (el : 0 <= e t - l) by (assert (0 <= p * (k * G t)) by (apply Rmult_le_pos; lra); lra).
    assert (Er : e' <= l + M / 2 * (k * G t) ^ 2).
    { apply (part_error n (a + b) F J M B); try easy. apply (in_B t k); lra. }
    assert (MM : M / 2 * (k * G t) ^ 2 <= M / 2 * (2 * mu * (e t * (e t - l)))).
    { apply Rmult_le_compat_l; [lra|]. eapply Rle_trans; [apply W|]. apply Rmult_le_compat_r; [apply Rmult_le_pos;
      lra|lra]. }
    assert (me : mu * M * e t <= mu * M * e 0%nat) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|easy]).
    assert (T2 : q * (e t - l) <= e t - e').
    { apply (Rle_trans _ ((1 - mu * M * e t) * (e t - l))); [apply Rmult_le_compat_r; [easy|unfold q; lra]|]. lra. }
    split; [|split; lra]. eapply Rle_trans; [|apply T2]. apply Rmult_le_compat_l; [lra|].
    (* (2 − ν) s h_b ≤ e − ê *)
    assert (S := RInt_step s r (U t) (k * Gb t) Hf U0 ltac:(easy) A1). fold p in S.
    apply (Rle_trans _ ((2 - nu) * (k * Gb t * p))); [apply Rmult_le_compat_l; lra|].
    assert (L1 : l ^ 2 <= e t ^ 2 - (2 - nu) * (k * G t ^ 2)).
    { unfold l, linear_error, e, error. fold grad. rewrite !norm_sq, sq_minus, sq_scal, dot_scal_r.
      rewrite adjoint. change (pullback n (J (theta t)) (errors F y (theta t))) with (grad (theta t)).
      rewrite <- sq_dot, <- (norm_sq (a + b) (grad (theta t))). fold (G t).
      assert (K := Hn t (grad (theta t)) HB). rewrite <- (norm_sq (a + b)) in K. fold (G t) in K.
      set (N := sq n (matvec (a + b) (J (theta t)) (grad (theta t)))) in *.
      assert (0 <= N) by apply sq_ge0. assert (k * N <= mu * N) by (apply Rmult_le_compat_r; lra).
      assert (k * (k * N) <= k * (nu * G t ^ 2)) by (apply Rmult_le_compat_l; lra). lra. }
    assert (Aa := Hq (theta t) (errors F y (theta t)) HB).
    change (pullback n (J (theta t)) (errors F y (theta t))) with (grad (theta t)) in Aa.
    rewrite <- (norm_sq n) in Aa. fold (e t) in Aa. change (vnorm n (errors F y (theta t))) with (e t) in Aa.
    assert (p2 : p ^ 2 * e t ^ 2 <= s (moved (theta t)) ^ 2 * e t ^ 2)
      by (apply Rmult_le_compat_r; [apply pow2_ge_0|apply pow_incr; lra]).
    assert (B2 : 2 * (p * e t * Gb t) <= G t ^ 2) by (rewrite GG; assert (Q := pow2_ge_0 (p * e t - Gb t)); lra).
    destruct (Req_dec (e t) 0) as [Z0|Z0].
    { rewrite Z0 in *. assert (k * G t ^ 2 = 0) by (assert (0 <= k * G t ^ 2) by (apply Rmult_le_pos;
      [lra|apply pow2_ge_0]); lra).
      assert (k * Gb t ^ 2 <= 0) by (assert (k * Gb t ^ 2 <= k * G t ^ 2) by
        (apply Rmult_le_compat_l; [lra|rewrite GG; assert (0 <= sq a (grad (theta t))) by apply sq_ge0; lra]); lra).
      assert (k * Gb t = 0) by (assert (0 <= Gb t) by apply norm_ge0; assert (0 <= k) by lra; nra).
      rewrite H3. lra. }
    assert (e t > 0) by lra. assert (C : (2 - nu) * (k * Gb t * p) * e t <= (2 - nu) * (k * G t ^ 2) / 2).
    { assert (k * (2 * (p * e t * Gb t)) <= k * G t ^ 2) by (apply Rmult_le_compat_l; lra).
      assert ((2 - nu) * (k * (2 * (p * e t * Gb t))) <= (2 - nu) * (k * G t ^ 2)) by (apply Rmult_le_compat_l; lra).
      lra. }
    apply (Rmult_le_reg_r (e t)); [lra|]. assert (Q := pow2_ge_0 (e t - l)). lra. }
  assert (inv : forall t, U t <= r /\ P t <= far /\ e t <= e 0%nat /\
    q * ((2 - nu) * RInt s 0 (U t)) <= e 0%nat - e t /\ q * (s r * P t) <= e 0%nat - e t).
  { induction t as [|t [A1 [A2 [A3 [A4 A5]]]]].
    - unfold U, P. rewrite !path_0, RInt_point. unfold zero; simpl. lra.
    - destruct (exit_two mu (Gb t) (U t) r (G t) (P t) far) as [k [Hk [E1 [E2 E3]]]]; try apply norm_ge0; try easy;
      [lra|].
      destruct (pay t k Hk E1 E2 A3) as [P1 [P2 P3]]. set (e' := error n F y (part grad (theta t) k)) in *.
      assert (e0' : 0 <= e') by apply norm_ge0. set (l := linear_error n (a + b) F J y (theta t) k) in *.
      assert (P4 : q * (s r * (P t + k * G t)) <= e 0%nat - e t + q * (e t - l)).
      { assert (q * (s r * (k * G t)) <= q * (e t - l)) by (apply Rmult_le_compat_l; lra). lra. }
      destruct E3 as [->|[Hk' [[E3 _]|[E3 G0]]]].
      + assert (EU : U (S t) = U t + mu * Gb t) by (apply (tail_part a b mu grad); [lra|easy]).
        assert (EP : P (S t) = P t + mu * G t) by (apply (path_step (a + b) mu grad); [lra|easy]).
        assert (Ee : e (S t) = e') by (unfold e, e'; now rewrite (Hd t)).
        assert (0 <= q * (e t - l)).
        { apply Rmult_le_pos; [lra|]. eapply Rle_trans; [|apply P3]. apply Rmult_le_pos; [lra|].
          apply Rmult_le_pos; [lra|apply norm_ge0]. }
        rewrite EU, EP, Ee. repeat split; lra.
      + exfalso. rewrite E3 in P1. apply (Rlt_div_l _ _ q q0) in HE.
        assert (q * ((2 - nu) * RInt s 0 r) <= e 0%nat) by lra. lra.
      + exfalso. rewrite E3 in P4. apply (Rle_div_l _ _ (q * s r) (Rmult_lt_0_compat _ _ q0 Sr)) in HRe.
        assert (HB := at_B t A1 A2). destruct (facts t mu 0) as [_ [Y _]];
          [lra|easy|lra|left; apply Hs; destruct (moved_r t A1); lra|].
        assert (e0 : 0 <= e t) by apply norm_ge0.
        assert (0 < mu * G t ^ 2) by (apply Rmult_lt_0_compat; [easy|now apply pow_lt]).
        assert (0 < e t) by nra.
        (* ê ≥ (1 − k/μ) e *)
        assert (0 < l); [|assert (q <= 1) by (unfold q; assert (0 <= mu * M * e 0%nat) by
          (apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]); lra); assert (q * e t <= 1 * e t) by
          (apply Rmult_le_compat_r; lra); assert (0 < q * l) by (apply Rmult_lt_0_compat; lra); lra].
        set (Jg := matvec (a + b) (J (theta t)) (grad (theta t))).
        assert (N1 := J1 t (grad (theta t)) HB). fold Jg in N1. rewrite <- !norm_sq in N1. fold (G t) in N1.
        assert (N2 : mu * vnorm n Jg <= e t).
        { apply Rsqr_incr_0_var; [|easy]. rewrite !Rsqr_pow2. 
          assert (mu * (mu * vnorm n Jg ^ 2) <= mu * G t ^ 2) by (apply Rmult_le_compat_l; lra). lra. }
        assert (N3 : e t <= l + k * vnorm n Jg).
        { unfold e, error. rewrite (norm_ext n _ (vplus (vminus (errors F y (theta t)) (vscal k Jg)) (vscal k Jg)))
            by (intros; unfold vplus, vminus, vscal; ring).
          eapply Rle_trans; [apply norm_triangle|]. rewrite (norm_scal n k), Rabs_right by lra. right. easy. }
        assert (k * vnorm n Jg < e t); [|lra]. destruct (Rle_lt_dec (vnorm n Jg) 0) as [Z|Z].
        * assert (0 <= vnorm n Jg) by apply norm_ge0. replace (vnorm n Jg) with 0 by lra. lra.
        * assert (k * vnorm n Jg < mu * vnorm n Jg) by now apply Rmult_lt_compat_r. lra. }
  assert (HB : forall t, B (theta t)) by (intros t; apply at_B; apply inv).
  assert (conv : forall x z v, 0 <= v <= 1 -> B x -> B z -> B (along x (vminus z x) v)).
  { intros x z v Hv [X1 X2] [Z1 Z2]. split; [|now apply ball_convex].
    unfold moved. change (tail a (along x (vminus z x) v)) with (along (tail a x) (vminus (tail a z) (tail a x)) v).
    now apply ball_convex. }
  assert (rt : forall t, e (S t) <= (1 - mu * s (moved (theta t)) ^ 2 * (1 - mu * M * e t / 2)) * e t).
  { intros t. assert (Mt := moved_r t ltac:(apply inv)). assert (It := inv t). assert (Is := inv (S t)).
    destruct (facts t mu (s (moved (theta t)))) as [X [Y Z]]; [lra|apply HB|left; apply Hs; lra|lra|].
    assert (EU : U (S t) = U t + mu * Gb t) by (apply (tail_part a b mu grad); [lra|easy]).
    assert (EP : P (S t) = P t + mu * G t) by (apply (path_step (a + b) mu grad); [lra|easy]).
    assert (Er := part_error n (a + b) F J M B y (theta t) mu HM HJ HL
      (in_B t mu ltac:(lra) ltac:(rewrite <- EU; apply Is) ltac:(rewrite <- EP; apply Is))).
    assert (me : mu * M * e t <= mu * M * e 0%nat) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|apply It]).
    assert (Rt := rate (e t) _ (G t) mu (s (moved (theta t))) (mu * M) ltac:(lra) (norm_ge0 _ _) (norm_ge0 _ _)
      ltac:(lra) X Y Z).
    unfold e at 1. rewrite (Hd t). eapply Rle_trans; [apply Er|]. eapply Rle_trans; [|apply Rt].
    apply Rplus_le_compat_l. right. unfold G, grad. field. }
  split; [intros t x Hx; now apply conv|split; [exact rt|]].
  apply (ls_end n (a + b) F J M B y theta far (mu * s r ^ 2 / 2)); try easy.
  - intros t. apply inv.
  - intros l C Hl. split; [|apply Hl; intros t; apply HB].
    apply (tail_closed a b theta); [easy|]. intros t. apply HB.
  - assert (0 < mu * s r ^ 2) by (apply Rmult_lt_0_compat; [easy|now apply pow_lt]). lra.
  - intros t. eapply Rle_trans; [apply rt|]. apply Rmult_le_compat_r; [apply norm_ge0|].
    assert (It := inv t). assert (Mt := moved_r t ltac:(apply inv)).
    assert (Q : s r ^ 2 <= s (moved (theta t)) ^ 2) by (apply pow_incr; split; [lra|apply Hf; lra]).
    assert (mu * M * e t <= mu * M * e 0%nat) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|apply It]).
    assert (0 <= mu * s r ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
    assert (mu * s r ^ 2 <= mu * s (moved (theta t)) ^ 2) by (apply Rmult_le_compat_l; lra).
    assert (mu * s r ^ 2 * (1 / 2) <= mu * s (moved (theta t)) ^ 2 * (1 - mu * M * e t / 2))
      by (apply Rmult_le_compat; lra).
    lra.
Qed.

(** rt-theorem-d
    Covers: a part: for any F on a ball where the Jacobian is M-Lipschitz and its least singular value at least σ_A(z)σ_U(z), two numbers that fall at most by ℓ_A x and x_U with x² + x_U² ≤ ‖z − θ⁽⁰⁾‖²; on the page: that the Transformer is such an F, with ℓ_A(r) and M₂(r) in closed form.
    Reads: let s₀ = σ_Aσ_U > 0, ℓ² = σ_A² + ℓ_A²σ_U², 0 < δ < 1, rℓ = δs₀; on the ball of radius r let J be the Jacobian of F, M-Lipschitz, and for every z in it let ‖J(z)ᵀw‖ ≥ σ_A(z)σ_U(z)‖w‖ with σ_A(z) ≥ σ_A − ℓ_A x, σ_U(z) ≥ σ_U − x_U for some x, x_U ≥ 0 with x² + x_U² ≤ ‖z − θ⁽⁰⁾‖². Let ‖J₀v‖ ≤ j₀‖v‖, μ(j₀ + Mr)² ≤ 1, μMe₀ < 1 and e₀/(1 − μMe₀) < (δ − δ²/2)s₀²/ℓ. Then the path is shorter than r and ends where F = y, σ_A(z)σ_U(z) ≥ (1 − δ)s₀ for all z in the ball, and Φ_{t+1} ≤ (1 − μ(1 − δ)²s₀²(1 − μMe_t/2))²Φ_t for Φ = e²/2.
    Mistake: `(delta - delta ^ 2 / 4) * (sigA * sigU) ^ 2 / ell` for `(delta - delta ^ 2 / 2) * (sigA * sigU) ^ 2 / ell`
    Mistake: `ell ^ 2 = sigA ^ 2` for `ell ^ 2 = sigA ^ 2 + ellA ^ 2 * sigU ^ 2`
*)
Theorem rt_theorem_d : forall n D F J y theta mu M r delta sigA sigU ellA ell j0 (A U : vector -> R),
  let e t := error n F y (theta t) in let Phi t := e t ^ 2 / 2 in
  let B z := distance D (theta 0%nat) z <= r in
  0 < mu -> 0 <= M -> 0 < sigA -> 0 < sigU -> 0 <= ellA -> 0 < ell -> ell ^ 2 = sigA ^ 2 + ellA ^ 2 * sigU ^ 2 ->
  0 < delta < 1 -> r * ell = delta * (sigA * sigU) -> jacobian_on n D F J B -> lipschitz_jacobian n D J M B ->
  (forall z, B z -> (exists x xU, 0 <= x /\ 0 <= xU /\ x ^ 2 + xU ^ 2 <= distance D (theta 0%nat) z ^ 2 /\
    sigA - ellA * x <= A z /\ sigU - xU <= U z) /\ forall w, (A z * U z) ^ 2 * sq n w <= sq D (pullback n (J z) w)) ->
  (forall v, vnorm n (matvec D (J (theta 0%nat)) v) <= j0 * vnorm D v) -> 0 <= j0 -> mu * (j0 + M * r) ^ 2 <= 1 ->
  descends mu (least_squares n F J y) theta -> mu * M * e 0%nat < 1 ->
  e 0%nat / (1 - mu * M * e 0%nat) < (delta - delta ^ 2 / 2) * (sigA * sigU) ^ 2 / ell ->
  (forall t, path D theta t < r) /\
  (exists limit, B limit /\ converges D theta limit /\ (forall k, (k < n)%nat -> F limit k = y k)) /\
  (forall z, B z -> (1 - delta) * (sigA * sigU) <= A z * U z) /\
  (forall t, Phi (S t) <= (1 - mu * ((1 - delta) ^ 2 * (sigA * sigU) ^ 2) * (1 - mu * M * e t / 2)) ^ 2 * Phi t).
Proof.
  intros n D F J y theta mu M r delta sigA sigU ellA ell j0 A U e Phi B Hmu HM HA HU HlA Hl El Hd Er HJ HL Hz Hj Hj0 Hmj
    Hde Hm He. set (s0 := sigA * sigU) in *. assert (Hs0 : 0 < s0) by now apply Rmult_lt_0_compat.
  assert (Er' : r = delta * s0 / ell) by (rewrite <- Er; field; lra).
  assert (Hr : 0 < r) by (rewrite Er'; apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra|easy]).
  set (s := fun u => s0 - ell * u).
  assert (low : forall u, 0 <= u <= r -> (1 - delta) * s0 <= s u).
  { intros u Hu. unfold s. assert (ell * u <= ell * r) by (apply Rmult_le_compat_l; lra). lra. }
  assert (d0 : 0 < (1 - delta) * s0) by (apply Rmult_lt_0_compat; lra).
  assert (AU : forall z, B z -> s (distance D (theta 0%nat) z) <= A z * U z).
  { intros z HB. destruct (Hz z HB) as [[x [xU [X1 [X2 [X3 [X4 X5]]]]]] _]. set (u := distance D (theta 0%nat) z) in *.
    assert (u0 : 0 <= u) by apply norm_ge0.
    assert (C : ellA * sigU * x + sigA * xU <= ell * u).
    { apply Rsqr_incr_0_var; [|apply Rmult_le_pos; lra]. rewrite !Rsqr_pow2.
      assert (Q := pow2_ge_0 (ellA * sigU * xU - sigA * x)).
      assert (ell ^ 2 * (x ^ 2 + xU ^ 2) <= ell ^ 2 * u ^ 2) by (apply Rmult_le_compat_l; [apply pow2_ge_0|easy]).
      rewrite El in H at 1. lra. }
    assert (L := low u (conj u0 HB)). unfold s in *.
    assert (Z1 : 0 <= ellA * x) by now apply Rmult_le_pos.
    assert (P1 : 0 < sigA - ellA * x).
    { apply (Rmult_lt_reg_r sigU); [easy|]. unfold s0 in *. assert (0 <= sigA * xU) by (apply Rmult_le_pos; lra). lra. }
    assert (P2 : 0 < sigU - xU).
    { apply (Rmult_lt_reg_l sigA); [easy|]. unfold s0 in *. assert (0 <= ellA * sigU * x) by
        (apply Rmult_le_pos; [apply Rmult_le_pos; lra|easy]). lra. }
    apply (Rle_trans _ ((sigA - ellA * x) * (sigU - xU))); [|apply Rmult_le_compat; lra].
    assert (0 <= ellA * x * xU) by now apply Rmult_le_pos. unfold s0. lra. }
  assert (I : RInt s 0 r = (delta - delta ^ 2 / 2) * s0 ^ 2 / ell).
  { rewrite (linear_area s s0 ell r r); [match goal with |- ?a = ?b => change (@eq R a b) end; rewrite Er'; field;
    lra|intros; reflexivity|lra]. }
  destruct (rt_theorem_c n D F J y theta mu M r s) as [T _]; try easy; try lra.
  - intros u Hu. specialize (low u Hu). lra.
  - intros u v Hu Huv Hv. unfold s. assert (ell * u <= ell * v) by (apply Rmult_le_compat_l; lra). lra.
  - intros z w HB. eapply Rle_trans; [|apply Hz, HB]. apply Rmult_le_compat_r; [apply sq_ge0|]. apply pow_incr.
    split; [|now apply AU]. assert (L := low _ (conj (norm_ge0 D (vminus z (theta 0%nat))) HB)). unfold distance. lra.
  - intros t v HB. assert (L := jacobian_bound n D J M _ r j0 (theta t) v HM ltac:(lra) HL Hj HB).
    rewrite <- !norm_sq. assert (vnorm n (matvec D (J (theta t)) v) ^ 2 <= ((j0 + M * r) * vnorm D v) ^ 2)
      by (apply pow_incr; split; [apply norm_ge0|easy]).
    apply (Rle_trans _ (mu * ((j0 + M * r) * vnorm D v) ^ 2)); [apply Rmult_le_compat_l; lra|].
    replace (mu * ((j0 + M * r) * vnorm D v) ^ 2) with (mu * (j0 + M * r) ^ 2 * vnorm D v ^ 2) by ring.
    rewrite <- (Rmult_1_l (vnorm D v ^ 2)) at 2. apply Rmult_le_compat_r; [apply pow2_ge_0|easy].
  - specialize (T Hm). rewrite I in T. destruct (T He) as [_ [P [R [lim [L1 [L2 L3]]]]]].
    split; [|split; [now exists lim|split]].
    + intros t. destruct (P t) as [[Q|Q] Q2]; [easy|]. exfalso. rewrite Q, I in Q2.
      assert (0 < 1 - mu * M * e 0%nat) by lra. assert (0 <= e t) by apply norm_ge0.
      assert (/ (1 - mu * M * e 0%nat) * (e 0%nat - e t) <= / (1 - mu * M * e 0%nat) * e 0%nat)
        by (apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|lra]). unfold Rdiv in He at 1. unfold e in *.
        lra.
    + intros z HB. eapply Rle_trans; [|now apply AU]. apply low. split; [apply norm_ge0|easy].
    + intros t. unfold Phi. assert (R1 := R t). fold (e t) (e (S t)) in R1. assert (e0 : 0 <= e t) by apply norm_ge0.
      assert (et : mu * M * e t <= mu * M * e 0%nat).
      { apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|]. destruct (P t) as [P1 P2]. apply (c_falls n D F y theta r
          (/ (1 - mu * M * e 0%nat)) s); try easy; [intros u Hu; specialize (low u Hu); lra| |apply Rinv_0_lt_compat;
            lra].
        intros u v Hu Huv Hv. unfold s. assert (ell * u <= ell * v) by (apply Rmult_le_compat_l; lra). lra. }
      set (a := (1 - delta) ^ 2 * s0 ^ 2). set (m := 1 - mu * M * e t / 2) in *.
      assert (K : e (S t) <= (1 - mu * a * m) * e t).
      { eapply Rle_trans; [apply R1|]. apply Rmult_le_compat_r; [easy|].
        assert (a <= s (path D theta t) ^ 2).
        { unfold a. rewrite <- Rpow_mult_distr. apply pow_incr. split; [lra|]. apply low.
          split; [apply path_ge0|apply P]. }
        assert (mu * a * m <= mu * s (path D theta t) ^ 2 * m); [|lra].
        apply Rmult_le_compat_r; [unfold m; lra|]. apply Rmult_le_compat_l; lra. }
      assert (e (S t) ^ 2 <= ((1 - mu * a * m) * e t) ^ 2) by (apply pow_incr; split; [apply norm_ge0|easy]). lra.
Qed.

(** rt-theorem-e
    Covers: a part: for any F on a ball where the Jacobian is M-Lipschitz; on the page: that the Transformer is such an F, with M = M₂(r) in closed form.
    Reads: let ‖J₀ᵀw‖ ≥ s₀‖w‖ with s₀ > 0, 0 < δ < 1, rM = δs₀; on the ball of radius r around θ⁽⁰⁾ let J be the Jacobian of F and M-Lipschitz. Let ‖J₀v‖ ≤ j₀‖v‖, μ(j₀ + Mr)² ≤ 1 and e₀ < (δ − δ²/2)s₀²/M. Then the path is shorter than r and ends where F = y; ϱ = 2Me₀/s₀² < 1, the path is at most (s₀/M)(1 − √(1 − ϱ)) long, and Φ_{t+1} ≤ (1 − μ(1 − ϱ)s₀²(1 − μMe_t/2))²Φ_t for Φ = e²/2.
    Mistake: `(delta - delta ^ 2 / 4) * s0 ^ 2 / M` for `(delta - delta ^ 2 / 2) * s0 ^ 2 / M`
    Mistake: `let rho := M * e 0%nat / s0 ^ 2` for `let rho := 2 * M * e 0%nat / s0 ^ 2`
*)
Theorem rt_theorem_e : forall n D F J y theta mu M r delta s0 j0,
  let e t := error n F y (theta t) in let Phi t := e t ^ 2 / 2 in
  let B z := distance D (theta 0%nat) z <= r in let rho := 2 * M * e 0%nat / s0 ^ 2 in
  0 < mu -> 0 < s0 -> 0 < delta < 1 -> 0 <= r -> r * M = delta * s0 ->
  jacobian_on n D F J B -> lipschitz_jacobian n D J M B ->
  (forall w, s0 * vnorm n w <= vnorm D (pullback n (J (theta 0%nat)) w)) ->
  (forall v, vnorm n (matvec D (J (theta 0%nat)) v) <= j0 * vnorm D v) -> 0 <= j0 -> mu * (j0 + M * r) ^ 2 <= 1 ->
  descends mu (least_squares n F J y) theta -> e 0%nat < (delta - delta ^ 2 / 2) * s0 ^ 2 / M ->
  rho < 1 /\ (forall t, path D theta t < r /\ path D theta t <= s0 / M * (1 - sqrt (1 - rho)) /\
    Phi (S t) <= (1 - mu * ((1 - rho) * s0 ^ 2) * (1 - mu * M * e t / 2)) ^ 2 * Phi t) /\
  exists limit, B limit /\ converges D theta limit /\ (forall k, (k < n)%nat -> F limit k = y k).
Proof.
  intros n D F J y theta mu M r delta s0 j0 e Phi B rho Hmu Hs0 Hd Hr Er HJ HL H0 Hj Hj0 Hmj Hde He.
  assert (ds : 0 < delta * s0) by (apply Rmult_lt_0_compat; lra). assert (HM : 0 < M) by nra.
  assert (Er' : r = delta * s0 / M) by (rewrite <- Er; field; lra).
  assert (r0 : 0 < r) by (rewrite Er'; now apply Rdiv_lt_0_compat).
  assert (E0 : 0 <= e 0%nat) by apply norm_ge0. set (s := fun u => s0 - M * u).
  assert (low : forall u, 0 <= u <= r -> (1 - delta) * s0 <= s u).
  { intros u Hu. unfold s. assert (M * u <= M * r) by (apply Rmult_le_compat_l; lra). lra. }
  assert (d0 : 0 < (1 - delta) * s0) by (apply Rmult_lt_0_compat; lra).
  assert (He' : M * e 0%nat < (delta - delta ^ 2 / 2) * s0 ^ 2) by (apply Rlt_div_r in He; lra).
  assert (fall : falling s r).
  { intros u v Hu Huv Hv. unfold s. assert (M * u <= M * v) by (apply Rmult_le_compat_l; lra). lra. }
  assert (s2 : 0 < s0 ^ 2) by now apply pow_lt.
  assert (Hrho : rho * s0 ^ 2 = 2 * (M * e 0%nat)) by (unfold rho; field; lra).
  assert (rho1 : 1 - rho > (1 - delta) ^ 2) by (apply (Rmult_lt_reg_r (s0 ^ 2)); lra).
  assert (0 < (1 - delta) ^ 2) by (apply pow_lt; lra).
  assert (I : forall u, 0 <= u <= r -> RInt s 0 u = s0 * u - M / 2 * u ^ 2)
    by (intros u Hu; apply (linear_area s s0 M r u); [intros; reflexivity|easy]).
  destruct (rt_theorem_c n D F J y theta mu M r s) as [_ T]; try easy; try lra.
  - intros u Hu. specialize (low u Hu). lra.
  - intros z w HB. set (u := distance D (theta 0%nat) z). assert (L := low u (conj (norm_ge0 D _) HB)).
    rewrite <- !norm_sq. replace (s u ^ 2 * vnorm n w ^ 2) with ((s u * vnorm n w) ^ 2) by ring. apply pow_incr.
    split; [apply Rmult_le_pos; [lra|apply norm_ge0]|]. specialize (H0 w).
    assert (Bc : B (theta 0%nat)) by (unfold B; rewrite distance_self; lra).
    assert (K := transpose_lipschitz n D J M B (theta 0%nat) z w ltac:(lra) HL Bc HB). rewrite distance_sym in K.
    fold u in K.
    assert (N := norm_triangle D (vminus (pullback n (J (theta 0%nat)) w) (pullback n (J z) w)) (pullback n (J z) w)).
    rewrite (norm_ext D (vplus _ _) (pullback n (J (theta 0%nat)) w)) in N by (intros; unfold vplus, vminus; ring).
    unfold s. lra.
  - intros t v HB. assert (L := jacobian_bound n D J M _ r j0 (theta t) v ltac:(lra) ltac:(lra) HL Hj HB).
    rewrite <- !norm_sq. assert (vnorm n (matvec D (J (theta t)) v) ^ 2 <= ((j0 + M * r) * vnorm D v) ^ 2)
      by (apply pow_incr; split; [apply norm_ge0|easy]).
    apply (Rle_trans _ (mu * ((j0 + M * r) * vnorm D v) ^ 2)); [apply Rmult_le_compat_l; lra|].
    replace (mu * ((j0 + M * r) * vnorm D v) ^ 2) with (mu * (j0 + M * r) ^ 2 * vnorm D v ^ 2) by ring.
    rewrite <- (Rmult_1_l (vnorm D v ^ 2)) at 2. apply Rmult_le_compat_r; [apply pow2_ge_0|easy].
  - destruct (T s0) as [_ [P [R L]]]; [easy|lra| |].
    { rewrite I by lra. rewrite Er'. eapply Rlt_le_trans; [apply He|]. right. field. lra. }
    split; [lra|split; [|exact L]]. intros t. destruct (P t) as [P1 P2]. assert (P0 := path_ge0 D theta t).
    set (u := path D theta t) in *. assert (e0 : 0 <= e t) by apply norm_ge0. rewrite I in P2 by lra.
    fold (e 0%nat) (e t) in P2. assert (Lu := low u (conj P0 P1)). unfold s in Lu.
    assert (S2 : (1 - rho) * s0 ^ 2 <= (s0 - M * u) ^ 2).
    { assert (M * (s0 * u - M / 2 * u ^ 2) <= M * e 0%nat) by (apply Rmult_le_compat_l; lra). lra. }
    assert (S1 : sqrt (1 - rho) * s0 <= s0 - M * u).
    { apply Rsqr_incr_0_var; [|lra]. rewrite !Rsqr_pow2, Rpow_mult_distr, pow2_sqrt by lra. easy. }
    assert (U2 : u <= s0 / M * (1 - sqrt (1 - rho))).
    { apply (Rmult_le_reg_l M); [easy|]. replace (M * (s0 / M * (1 - sqrt (1 - rho)))) with (s0 * (1 - sqrt (1 - rho)))
        by (field; lra). lra. }
    assert (sd : 1 - delta < sqrt (1 - rho)).
    { rewrite <- (sqrt_pow2 (1 - delta)) by lra. apply sqrt_lt_1_alt. lra. }
    split; [|split; [easy|]].
    + eapply Rle_lt_trans; [apply U2|]. rewrite Er'. apply (Rmult_lt_reg_l M); [easy|].
      replace (M * (s0 / M * (1 - sqrt (1 - rho)))) with (s0 * (1 - sqrt (1 - rho))) by (field; lra).
      replace (M * (delta * s0 / M)) with (s0 * delta) by (field; lra). apply Rmult_lt_compat_l; lra.
    + unfold Phi. assert (R1 := R t). fold (e t) (e (S t)) u in R1.
      assert (et : e t <= e 0%nat).
      { assert (0 <= s0 * u - M / 2 * u ^ 2); [|lra]. replace (s0 * u - M / 2 * u ^ 2) with (u * (s0 - M * u / 2))
        by field.
        assert (0 <= M * u) by (apply Rmult_le_pos; lra). apply Rmult_le_pos; lra. }
      assert (m1 : mu * M * e t < 1).
      { destruct (Req_dec (e t) 0) as [->|]; [lra|].
        assert (mu * s0 ^ 2 <= 1).
        { assert (B0 : forall w, s0 * vnorm n w <= j0 * vnorm n w).
          { intros w. eapply Rle_trans; [apply H0|]. now apply transpose_norm. }
          specialize (B0 (errors F y (theta t))). change (vnorm n (errors F y (theta t))) with (e t) in B0.
          assert (s0 <= j0) by (apply (Rmult_le_reg_r (e t)); lra).
          assert (s0 ^ 2 <= (j0 + M * r) ^ 2) by (apply pow_incr; lra).
          assert (mu * s0 ^ 2 <= mu * (j0 + M * r) ^ 2) by (apply Rmult_le_compat_l; lra). lra. }
        assert (M * e t <= M * e 0%nat) by (apply Rmult_le_compat_l; lra).
        assert (M * e t <= s0 ^ 2 / 2) by (assert (Q := pow2_ge_0 ((1 - delta) * s0)); lra).
        assert (mu * (M * e t) <= mu * (s0 ^ 2 / 2)) by (apply Rmult_le_compat_l; lra). lra. }
      assert (K : e (S t) <= (1 - mu * ((1 - rho) * s0 ^ 2) * (1 - mu * M * e t / 2)) * e t).
      { eapply Rle_trans; [apply R1|]. apply Rmult_le_compat_r; [easy|].
        assert (mu * ((1 - rho) * s0 ^ 2) * (1 - mu * M * e t / 2) <= mu * s u ^ 2 * (1 - mu * M * e t / 2)); [|lra].
        apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; [lra|exact S2]. }
      assert (e (S t) ^ 2 <= ((1 - mu * ((1 - rho) * s0 ^ 2) * (1 - mu * M * e t / 2)) * e t) ^ 2)
        by (apply pow_incr; split; [apply norm_ge0|easy]). lra.
Qed.

(** rt-corollary-b
    Covers: a part: in the setting of theorem C, with the path in the ball, for any bounds q ≤ s on [0, r] and ‖J‖ ≤ C on the ball; on the page: q = (1 − δ)s₀ and C = ‖J₀‖ + Mr of theorems D and E, and the left side for theorem A+.
    Reads: in the setting of theorem C let U_t ≤ r for all t, μMe₀ < 1, s ≥ q > 0 on [0, r] and ‖J(z)v‖ ≤ C‖v‖ on the ball. The iterates converge to a θ* in the ball where F = y, and for all t e_t ≤ C‖θ⁽ᵗ⁾ − θ*‖ and ‖θ⁽ᵗ⁾ − θ*‖ ≤ e_t/((1 − μMe_t)q), and if s(u) = s₀ − Mu even ‖θ⁽ᵗ⁾ − θ*‖ ≤ e_t/q.
    Mistake: `e t <= C / 2 * distance D limit (theta t)` for `e t <= C * distance D limit (theta t)`
    Mistake: `distance D limit (theta t) <= e t / (2 * q)` for `distance D limit (theta t) <= e t / q`
*)
Theorem rt_corollary_b : forall n D F J y theta mu M r (s : R -> R) q C,
  let e t := error n F y (theta t) in
  let B z := distance D (theta 0%nat) z <= r in
  0 < mu -> 0 <= M -> 0 <= r -> jacobian_on n D F J B -> lipschitz_jacobian n D J M B ->
  (forall u, 0 <= u <= r -> 0 < s u) -> falling s r ->
  (forall z w, B z -> s (distance D (theta 0%nat) z) ^ 2 * sq n w <= sq D (pullback n (J z) w)) ->
  descends mu (least_squares n F J y) theta ->
  (forall t v, B (theta t) -> mu * sq n (matvec D (J (theta t)) v) <= sq D v) ->
  (forall t, path D theta t <= r) -> mu * M * e 0%nat < 1 -> 0 < q -> (forall u, 0 <= u <= r -> q <= s u) ->
  0 <= C -> (forall z v, B z -> vnorm n (matvec D (J z) v) <= C * vnorm D v) ->
  exists limit, B limit /\ converges D theta limit /\ (forall k, (k < n)%nat -> F limit k = y k) /\
    forall t, e t <= C * distance D limit (theta t) /\
      distance D limit (theta t) <= e t / ((1 - mu * M * e t) * q) /\
      ((exists s0, forall u, 0 <= u <= r -> s u = s0 - M * u) -> distance D limit (theta t) <= e t / q).
Proof.
  intros n D F J y theta mu M r s q C e B Hmu HM Hr HJ HL Hs Hf Hq Hd Hn HU Hm q0 Hqs C0 HC.
  assert (mM : 0 <= mu * M) by (apply Rmult_le_pos; lra).
  assert (down : forall t, e t <= e 0%nat /\ e (S t) <= e t).
  { assert (K : forall t, e t <= e 0%nat -> e (S t) <= e t).
    { intros t Ht. assert (e0 : 0 <= e t) by apply norm_ge0.
      assert (mu * M * e t <= mu * M * e 0%nat) by now apply Rmult_le_compat_l.
      eapply Rle_trans; [apply (c_rate n D F J y theta mu M r s); try easy; fold (e t); lra|]. fold (e t).
      assert (0 <= mu * s (path D theta t) ^ 2 * (1 - mu * M * e t / 2)).
      { apply Rmult_le_pos; [apply Rmult_le_pos; [lra|apply pow2_ge_0]|lra]. }
      assert (0 <= mu * s (path D theta t) ^ 2 * (1 - mu * M * e t / 2) * e t) by now apply Rmult_le_pos. lra. }
    assert (L : forall t, e t <= e 0%nat) by (induction t; [lra|specialize (K t IHt); lra]).
    intros t. split; [apply L|apply K, L]. }
  destruct (c_end n D F J y theta mu M r s) as [l [A1 [A2 [A3 A4]]]]; try easy; [intros t; apply down|].
  exists l. split; [easy|split; [easy|split; [easy|]]]. intros t.
  assert (et : mu * M * e t <= mu * M * e 0%nat) by (apply Rmult_le_compat_l; [easy|apply down]).
  assert (e0 : 0 <= e t) by apply norm_ge0. set (U := path D theta) in *.
  assert (area : forall c, 0 < c -> (forall T, (t <= T)%nat ->
    c * (RInt s 0 (U (S T)) - RInt s 0 (U T)) <= e T - e (S T)) ->
    distance D l (theta t) <= e t / (c * q)).
  { intros c c0 H. apply A4. intros T HT.
    assert (S1 : c * (q * (U T - U t)) <= e t - e T).
    { induction HT as [|T HT IH]; [lra|]. assert (Um : U T <= U (S T)) by (apply path_mono; lia).
      specialize (H T HT). assert (F1 : ex_RInt s 0 (U (S T))).
      { apply falling_integrable; [apply path_ge0|]. intros u v ? ? ?. specialize (HU (S T)).
        apply Hf; unfold U in *; lra. }
      assert (P0 : 0 <= U T) by apply path_ge0. assert (Ur : U (S T) <= r) by apply HU.
      assert (F0 : ex_RInt s 0 (U T)) by (apply (ex_RInt_Chasles_1 (V := R_CompleteNormedModule) s 0 (U T) (U (S T)));
        [lra|easy]).
      assert (F2 : ex_RInt s (U T) (U (S T))) by (apply (ex_RInt_Chasles_2 (V := R_CompleteNormedModule) s 0);
        [lra|easy]).
      assert (E := RInt_Chasles (V := R_CompleteNormedModule) s 0 (U T) (U (S T)) F0 F2). unfold plus in E; simpl in E.
      assert (L : RInt (fun _ => q) (U T) (U (S T)) <= RInt s (U T) (U (S T))).
      { apply RInt_le; [easy|apply ex_RInt_const|easy|]. intros x Hx. apply Hqs. lra. }
      rewrite RInt_const in L. unfold scal in L; simpl in L; unfold mult in L; simpl in L.
      assert (c * (q * (U (S T) - U T)) <= c * (RInt s 0 (U (S T)) - RInt s 0 (U T))) by (apply Rmult_le_compat_l;
        lra). lra. }
    assert (0 <= e T) by apply norm_ge0. apply Rle_div_r; [now apply Rmult_lt_0_compat|]. lra. }
  assert (step : forall T, U (S T) = U T + mu * vnorm D (least_squares n F J y (theta T))) by
    (intros T; apply path_step; [lra|easy]).
  assert (err : forall T, e (S T) = error n F y (part (least_squares n F J y) (theta T) mu)) by
    (intros T; unfold e; now rewrite (Hd T)).
  split; [|split].
  - assert (V := mean_value n D F J C B l (vminus (theta t) l) C0 HJ). rewrite along_to in V.
    unfold e, error. rewrite (norm_ext n _ (vminus (F (theta t)) (F l))).
    + apply V; [|easy]. intros x Hx. apply ball_convex; [easy|easy|].
      apply (Rle_trans _ (U t)); [apply from_start|apply HU].
    + intros k Hk. unfold errors, vminus. now rewrite A3.
  - apply area; [lra|]. intros T HT. rewrite err, step.
    assert (eT : e T <= e t) by (clear -down HT; induction HT; [lra|]; destruct (down m); lra).
    assert (mu * M * e T <= mu * M * e t) by now apply Rmult_le_compat_l.
    eapply Rle_trans; [|apply (c_pay n D F J y theta mu M r s); try easy; [lra|fold (U T); rewrite <- step;
      apply HU|fold (e T); lra]].
    apply Rmult_le_compat_r; [|fold (e T); lra]. fold (U T). rewrite <- step.
    assert (G := RInt_grows s r (U T) (U (S T)) Hf Hs (path_ge0 D theta T) ltac:(apply path_mono; lia) (HU (S T))). lra.
  - intros [s0 E]. rewrite <- (Rmult_1_l q). apply area; [lra|]. intros T _. rewrite err, step, Rmult_1_l.
    apply (c_pay_linear n D F J y theta mu M r s) with (s0 := s0); try easy; [lra|]. fold (U T). rewrite <- step.
    apply HU.
Qed.

(** rt-lemma-m
    Covers: a part: for any F whose Jacobian is bounded by C and M-Lipschitz on the ball; on the page: the Transformer's C_* and M₂(r) in closed form.
    Reads: on the ball of radius r around θ⁽⁰⁾ let J be the Jacobian of F, M-Lipschitz, ‖J(z)v‖ ≤ C‖v‖. Then ∇Φ = Jᵀ(F − y) has the Lipschitz constant C² + (e₀ + Cr)M there, e₀ the error at θ⁽⁰⁾.
    Mistake: `C ^ 2 + e0 * M` for `C ^ 2 + (e0 + C * r) * M`
    Mistake: `C ^ 2 / 2 + (e0 + C * r) * M` for `C ^ 2 + (e0 + C * r) * M`
*)
Theorem rt_lemma_m : forall n D F J y c C M r,
  let B z := distance D c z <= r in let e0 := error n F y c in
  0 <= C -> 0 <= M -> jacobian_on n D F J B -> lipschitz_jacobian n D J M B ->
  (forall z v, B z -> vnorm n (matvec D (J z) v) <= C * vnorm D v) ->
  forall z z', B z -> B z' ->
    vnorm D (vminus (least_squares n F J y z) (least_squares n F J y z')) <=
      (C ^ 2 + (e0 + C * r) * M) * distance D z' z.
Proof.
  intros n D F J y c C M r B e0 C0 M0 HJ HL HC z z' Hz Hz'. set (u := distance D z' z).
  assert (P : 0 <= u) by apply norm_ge0.
  assert (far : forall a b, B a -> B b -> vnorm n (vminus (F b) (F a)) <= C * distance D a b).
  { intros a b Ha Hb. assert (V := mean_value n D F J C B a (vminus b a) C0 HJ). rewrite along_to in V.
    apply V; [|easy]. intros x Hx. now apply ball_convex. }
  assert (Bc : B c) by (unfold B in *; rewrite distance_self; eapply Rle_trans; [apply norm_ge0|apply Hz]).
  assert (Ez : error n F y z <= e0 + C * r).
  { unfold error. rewrite (norm_ext n _ (vplus (errors F y c) (vminus (F z) (F c))))
      by (intros; unfold errors, vplus, vminus; ring).
    eapply Rle_trans; [apply norm_triangle|]. apply Rplus_le_compat_l. eapply Rle_trans; [now apply far|].
    now apply Rmult_le_compat_l. }
  rewrite (norm_ext D _ (vplus (vminus (pullback n (J z) (errors F y z)) (pullback n (J z') (errors F y z)))
    (pullback n (J z') (vminus (F z) (F z'))))).
  - eapply Rle_trans; [apply norm_triangle|].
    assert (T1 := transpose_lipschitz n D J M B z z' (errors F y z) M0 HL Hz Hz'). fold u in T1.
    assert (T2 := transpose_norm n D (J z') C C0 (fun v => HC z' v Hz') (vminus (F z) (F z'))).
    assert (T3 := far z' z Hz' Hz). fold u in T3.
    assert (C * vnorm n (vminus (F z) (F z')) <= C * (C * u)) by now apply Rmult_le_compat_l.
    assert (M * u * vnorm n (errors F y z) <= M * u * (e0 + C * r)) by (apply Rmult_le_compat_l;
      [now apply Rmult_le_pos|exact Ez]).
    lra.
  - intros i _. unfold least_squares, vplus, vminus, pullback, matvec, transpose, errors, vminus.
    rewrite <- !Sum_minus, <- Sum_plus. apply Sum_ext; intros; ring.
Qed.

(** rt-corollary-a
    Covers: a part: for any F whose Jacobian is M-Lipschitz on the ball of radius R; on the page: the Transformer's M₂(R) in closed form.
    Reads: on the ball of radius R around c let J be the Jacobian of F, M-Lipschitz, ‖J(c)v‖ ≤ j₀‖v‖. At a point z inside the ball (nearer than R) where e(z) ≤ e(c), if s ↦ J(z + s v)v has the derivative b at 0, then s ↦ ½‖F(z + s v) − y‖² has, at s near 0, the derivative ⟨F − y, Jv⟩ and this the derivative ⟨v, ∇²Φ v⟩ = ‖J(z)v‖² + ⟨F(z) − y, b⟩ at 0, which is at most ((j₀ + MR)² + e(c)M)‖v‖² in size.
    Mistake: `(j0 + M * rad) ^ 2 * sq D v` for `((j0 + M * rad) ^ 2 + error n F y c * M) * sq D v`
    Mistake: `(j0 ^ 2 + error n F y c * M) * sq D v` for `((j0 + M * rad) ^ 2 + error n F y c * M) * sq D v`
*)
Theorem rt_corollary_a : forall n D F J y c M rad j0 z v b,
  let B z := distance D c z <= rad in
  let slope x := dot n (errors F y (along z v x)) (matvec D (J (along z v x)) v) in
  let curvature := sq n (matvec D (J z) v) + dot n (errors F y z) b in
  0 <= M -> 0 <= j0 -> jacobian_on n D F J B -> lipschitz_jacobian n D J M B ->
  (forall v, vnorm n (matvec D (J c) v) <= j0 * vnorm D v) ->
  distance D c z < rad -> error n F y z <= error n F y c ->
  (forall k, (k < n)%nat -> is_derive (fun x => matvec D (J (along z v x)) v k) 0 (b k)) ->
  (forall x, B (along z v x) -> is_derive (fun x => sq n (errors F y (along z v x)) / 2) x (slope x)) /\
  is_derive slope 0 curvature /\
  Rabs curvature <= ((j0 + M * rad) ^ 2 + error n F y c * M) * sq D v.
Proof.
  intros n D F J y c M rad j0 z v b B slope curvature M0 j00 HJ HL Hj Hz He Hb.
  assert (Bz : B z) by (unfold B; lra). assert (R0 : 0 <= rad) by (assert (0 <= distance D c z) by apply norm_ge0; lra).
  assert (dF : forall x k, (k < n)%nat -> B (along z v x) ->
    is_derive (fun x => errors F y (along z v x) k) x (matvec D (J (along z v x)) v k)).
  { intros x k Hk HB. unfold errors, vminus.
    replace (matvec D (J (along z v x)) v k) with (dot D (J (along z v x) k) v - 0) by apply Rminus_0_r.
    apply (is_derive_minus (fun x => F (along z v x) k) (fun _ => y k)); [|apply (is_derive_const (y k))].
    apply (gradient_along D (fun z => F z k)). now apply HJ. }
  split; [|split].
  - intros x HB. unfold slope, dot, sq.
    apply (is_derive_ext (fun x => Sum n (fun k => errors F y (along z v x) k ^ 2 / 2))).
    { intros t. unfold Rdiv. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring. }
    apply Sum_derive; intros k Hk. assert (K := dF x k Hk HB). set (f := fun x => errors F y (along z v x) k).
    set (g := matvec D (J (along z v x)) v k) in *. fold f in K. change (errors F y (along z v x) k) with (f x).
    apply (is_derive_ext (fun x => / 2 * (f x * f x))); [intros t;
      match goal with |- ?l = ?r => change (@eq R l r) end; unfold f; field|].
    replace (f x * g) with (/ 2 * (g * f x + f x * g)) by field.
    apply (is_derive_scal (fun x => f x * f x) x (/ 2)), (is_derive_mult f f x g g K K Rmult_comm).
  - unfold slope, curvature. rewrite (sq_dot n (matvec D (J z) v)).
    assert (E : dot n (matvec D (J z) v) (matvec D (J z) v) + dot n (errors F y z) b =
      Sum n (fun k => matvec D (J z) v k * matvec D (J z) v k + errors F y z k * b k)) by (rewrite Sum_plus; easy).
    rewrite E. apply Sum_derive; intros k Hk. assert (K := dF 0 k Hk). rewrite along_0 in K.
    assert (L := Hb k Hk). assert (Q := is_derive_mult (fun x => errors F y (along z v x) k)
      (fun x => matvec D (J (along z v x)) v k) 0 _ _ (K Bz) L Rmult_comm). cbv beta in Q.
    rewrite along_0 in Q. exact Q.
  - assert (P := norm_ge0 D v). assert (Jz := jacobian_bound n D J M c rad j0 z v M0 R0 HL Hj Bz).
    assert (Nb : vnorm n b <= M * sq D v).
    { set (K := vnorm n b * (M * sq D v)).
      assert (Hd : is_derive (fun x => dot n b (matvec D (J (along z v x)) v)) 0 (sq n b)).
      { rewrite sq_dot. apply (Sum_derive n (fun x k => b k * matvec D (J (along z v x)) v k) (fun k => b k * b k)).
        intros k Hk. apply (is_derive_scal (fun x => matvec D (J (along z v x)) v k) 0 (b k)). now apply Hb. }
      assert (Q : sq n b <= K).
      { destruct (Rle_lt_dec (sq n b) K) as [|Q]; [easy|]. exfalso. apply is_derive_Reals in Hd.
        destruct (Hd (sq n b - K) ltac:(lra)) as [del Hdel].
        set (x := Rmin (del / 2) ((rad - distance D c z) / (vnorm D v + 1))).
        assert (d0 := cond_pos del). assert (x1 : x <= del / 2) by apply Rmin_l.
        assert (x2 : x <= (rad - distance D c z) / (vnorm D v + 1)) by apply Rmin_r.
        assert (x0 : 0 < x) by (apply Rmin_pos; [lra|apply Rdiv_lt_0_compat; lra]).
        specialize (Hdel x ltac:(lra) ltac:(rewrite Rabs_right; lra)). rewrite Rplus_0_l, along_0 in Hdel.
        assert (Dz : distance D z (along z v x) = x * vnorm D v).
        { unfold distance. rewrite (norm_ext D _ (vscal x v)) by (intros; unfold vminus, along, vscal; ring).
          rewrite norm_scal, Rabs_right by lra. easy. }
        assert (Bx : B (along z v x)).
        { unfold B. eapply Rle_trans; [apply (distance_triangle D c z)|]. rewrite Dz.
          apply Rle_div_r in x2; [|lra]. lra. }
        assert (L := HL (along z v x) z v Bx Bz). rewrite Dz in L.
        assert (C := Rle_trans _ _ _ (Rle_abs _) (cauchy n b (vminus (matvec D (J (along z v x)) v) (matvec D (J z)
          v)))).
        rewrite dot_minus_r in C.
        assert (vnorm n b * vnorm n (vminus (matvec D (J (along z v x)) v) (matvec D (J z) v)) <=
          vnorm n b * (M * (x * vnorm D v) * vnorm D v)) by (apply Rmult_le_compat_l; [apply norm_ge0|easy]).
        apply Rabs_lt_between in Hdel.
        set (h := dot n b (matvec D (J (along z v x)) v) - dot n b (matvec D (J z) v)) in *.
        assert (h <= K * x) by (unfold K; rewrite <- norm_sq; lra). assert (h / x <= K) by (apply Rle_div_l; lra).
        lra. }
      unfold K in Q. rewrite <- (norm_sq n b) in Q. assert (0 <= vnorm n b) by apply norm_ge0.
      destruct (Req_dec (vnorm n b) 0) as [->|]; [|nra]. apply Rmult_le_pos; [easy|apply sq_ge0]. }
    unfold curvature. eapply Rle_trans; [apply Rabs_triang|]. rewrite (Rabs_right (sq n _)) by (apply Rle_ge, sq_ge0).
    assert (C := cauchy n (errors F y z) b). fold (error n F y z) in C.
    assert (error n F y z * vnorm n b <= error n F y c * (M * sq D v))
      by (apply Rmult_le_compat; [apply norm_ge0|apply norm_ge0|easy|easy]).
    assert (vnorm n (matvec D (J z) v) ^ 2 <= ((j0 + M * rad) * vnorm D v) ^ 2) by (apply pow_incr; split;
      [apply norm_ge0|easy]).
    rewrite <- (norm_sq n (matvec D (J z) v)), <- (norm_sq D v) in *. unfold error in *. lra.
Qed.

(** rt-theorem-b
    Covers: the whole statement, e being defined and at least 0 everywhere, Φ = e²/2.
    Reads: let θ = (θ_a, θ_b) ∈ ℝᵃ⁺ᵇ, Φ = e²/2, e ≥ 0. On B = {‖Δθ_b‖ ≤ r′, ‖Δθ‖ ≤ R} let Φ be continuous, with the gradient ∇Φ and the Hessian ∇²Φ, and ‖∇_{θ_a}Φ‖ ≥ s(‖Δθ_b‖) e, s > 0 not increasing on [0, r′]; let ⟨w, ∇²Φ w⟩ ≤ L‖w‖² at points of B where Φ ≤ Φ₀, L > 0, 0 < μ, μL < 2, ν = μL, e₀ ≤ (2 − ν)∫₀^{r′} s and R ≥ e₀/((1 − ν/2)s(r′)). Then for all t the step's segment is in B, Φ_{t+1} ≤ (1 − (2 − ν)μ s(u_t)²)Φ_t and (2 − ν)∫₀^{u_t} s ≤ e₀ − e_t, u_t = ‖Δθ_b⁽ᵗ⁾‖, and the iterates converge to a θ* in B where Φ = 0.
    Mistake: `e (theta 0%nat) <= (4 - mu * L) * RInt s 0 r` for `e (theta 0%nat) <= (2 - mu * L) * RInt s 0 r`
    Mistake: `* s r) <= 2 * far` for `* s r) <= far`
    Mistake: `(1 - 2 * (2 - mu * L) * mu * s (moved (theta t)) ^ 2)` for `(1 - (2 - mu * L) * mu * s (moved (theta t)) ^ 2)`
*)
Theorem rt_theorem_b : forall a b (e : vector -> R) g H theta mu L r far (s : R -> R),
  let Phi z := e z ^ 2 / 2 in
  let moved z := distance b (tail a (theta 0%nat)) (tail a z) in
  let B z := moved z <= r /\ distance (a + b) (theta 0%nat) z <= far in
  (forall z, 0 <= e z) -> 0 <= r -> 0 <= far -> smooth_on (a + b) Phi g H B ->
  (forall u, 0 <= u <= r -> 0 < s u) -> falling s r -> (forall z, B z -> s (moved z) * e z <= vnorm a (g z)) ->
  curvature_below (a + b) Phi H L (Phi (theta 0%nat)) B -> 0 < L -> 0 < mu -> mu * L < 2 -> descends mu g theta ->
  e (theta 0%nat) <= (2 - mu * L) * RInt s 0 r -> e (theta 0%nat) / ((1 - mu * L / 2) * s r) <= far ->
  (forall t, (forall x, 0 <= x <= 1 -> B (along (theta t) (vminus (theta (S t)) (theta t)) x)) /\
    Phi (theta (S t)) <= (1 - (2 - mu * L) * mu * s (moved (theta t)) ^ 2) * Phi (theta t) /\
    (2 - mu * L) * RInt s 0 (moved (theta t)) <= e (theta 0%nat) - e (theta t)) /\
  exists limit, B limit /\ converges (a + b) theta limit /\ Phi limit = 0.
Proof.
  intros a b e g H theta mu L r far s Phi moved B He Hr HR HS Hs Hf Hq HL L0 Hmu Hnu Hd HE HRe.
  set (U := path b (fun t => tail a (theta t))). set (P := path (a + b) theta). set (et := fun t => e (theta t)) in *.
  set (Gb := fun t => vnorm b (tail a (g (theta t)))). set (G := fun t => vnorm (a + b) (g (theta t))).
  set (q := 2 - mu * L) in *. assert (q0 : 0 < q) by (unfold q; lra). assert (Sr : 0 < s r) by (apply Hs; lra).
  assert (GG : forall t, G t ^ 2 = vnorm a (g (theta t)) ^ 2 + Gb t ^ 2).
  { intros t. unfold G, Gb. rewrite !norm_sq. apply sq_split. }
  assert (in_B : forall t k, 0 <= k -> U t + k * Gb t <= r -> P t + k * G t <= far ->
    forall x, 0 <= x <= 1 -> B (part g (theta t) (x * k))).
  { intros t k Hk A1 A2 x Hx. assert (K : 0 <= x * k) by (apply Rmult_le_pos; lra).
    assert (X1 : x * k * Gb t <= 1 * k * Gb t) by (apply Rmult_le_compat_r; [apply norm_ge0|apply Rmult_le_compat_r;
      lra]).
    assert (X2 : x * k * G t <= 1 * k * G t) by (apply Rmult_le_compat_r; [apply norm_ge0|apply Rmult_le_compat_r;
      lra]).
    assert (N1 := tail_near a b g theta t (x * k) K). assert (N2 := part_near (a + b) g theta t (x * k) K).
    split; [unfold moved|]; fold (U t) (Gb t) (P t) (G t) in N1, N2; lra. }
  assert (at_B : forall t, U t <= r -> P t <= far -> B (theta t)).
  { intros t A1 A2. split; [exact (Rle_trans _ _ _ (from_start b (fun t => tail a (theta t)) t) A1)|].
    exact (Rle_trans _ _ _ (from_start (a + b) theta t) A2). }
  assert (mr : forall t, 0 <= moved (theta t) <= U t).
  { intros t. split; [apply norm_ge0|apply (from_start b (fun t => tail a (theta t)))]. }
  assert (low : forall t, et t <= et 0%nat -> curvature_below (a + b) Phi H L (Phi (theta t)) B).
  { intros t Ht z w HB Hz. apply HL; [easy|]. eapply Rle_trans; [apply Hz|]. unfold Phi, et in *.
    assert (e (theta t) ^ 2 <= e (theta 0%nat) ^ 2) by (apply pow_incr; split; [apply He|easy]). lra. }
  assert (gain : forall t k, 0 <= k <= mu -> U t + k * Gb t <= r -> P t + k * G t <= far -> et t <= et 0%nat ->
    q * k * G t ^ 2 <= et t ^ 2 - e (part g (theta t) k) ^ 2).
  { intros t k Hk A1 A2 Ht. assert (k * L <= mu * L) by (apply Rmult_le_compat_r; lra).
    assert (D := part_descends (a + b) Phi g H B L (theta t) k HS (low t Ht) ltac:(lra) ltac:(lra)
      (in_B t k ltac:(lra) A1 A2)). rewrite <- norm_sq in D. fold (G t) in D. unfold Phi in D. fold (et t) in D.
    assert (0 <= k * G t ^ 2) by (apply Rmult_le_pos; [lra|apply pow2_ge_0]).
    assert (q * (k * G t ^ 2) <= (2 - k * L) * (k * G t ^ 2)) by (apply Rmult_le_compat_r; [easy|unfold q; lra]). lra. }
  (* both budgets pay from x = q k G²/(2e) *)
  assert (pay : forall t k, 0 <= k <= mu -> U t + k * Gb t <= r -> P t + k * G t <= far -> et t <= et 0%nat ->
    0 < et t ->
    exists x, x <= et t - e (part g (theta t) k) /\ x < et t /\
      q * (RInt s 0 (U t + k * Gb t) - RInt s 0 (U t)) <= x /\ q / 2 * (s r * (k * G t)) <= x).
  { intros t k Hk A1 A2 Ht E0. assert (K := gain t k Hk A1 A2 Ht). set (e' := e (part g (theta t) k)) in *.
    assert (0 <= e') by apply He. assert (0 <= k * Gb t) by (apply Rmult_le_pos; [lra|apply norm_ge0]).
    assert (G0 : 0 <= G t) by apply norm_ge0. assert (0 <= k * G t) by (apply Rmult_le_pos; lra).
    assert (HB : B (theta t)) by (apply at_B; lra). assert (M := mr t). assert (Q := Hq (theta t) HB). fold (et t) in Q.
    set (p := s (U t)). assert (pr : s r <= p) by (apply Hf; lra). assert (pm : p <= s (moved (theta t)))
      by (apply Hf; lra).
    assert (Qp : p * et t <= vnorm a (g (theta t))).
    { eapply Rle_trans; [|exact Q]. apply Rmult_le_compat_r; lra. }
    assert (Q2 : (p * et t) ^ 2 <= vnorm a (g (theta t)) ^ 2) by (apply pow_incr; split; [apply Rmult_le_pos;
      lra|easy]).
    exists (q * k * G t ^ 2 / (2 * et t)). set (x := q * k * G t ^ 2 / (2 * et t)).
    assert (Ex : x * (2 * et t) = q * k * G t ^ 2) by (unfold x; field; lra).
    split; [|split; [|split]].
    - apply (Rmult_le_reg_r (2 * et t)); [lra|]. rewrite Ex. assert (S := pow2_ge_0 (et t - e')). lra.
    - apply (Rmult_lt_reg_r (2 * et t)); [lra|]. rewrite Ex. assert (0 <= e' ^ 2) by apply pow2_ge_0.
      assert (0 < et t ^ 2) by now apply pow_lt. lra.
    - assert (S := RInt_step s r (U t) (k * Gb t) Hf (path_ge0 b _ t) ltac:(easy) A1). fold p in S.
      apply (Rle_trans _ (q * (k * Gb t * p))); [apply Rmult_le_compat_l; lra|].
      apply (Rmult_le_reg_r (2 * et t)); [lra|]. rewrite Ex. rewrite GG. assert (T := pow2_ge_0 (p * et t - Gb t)).
      assert (q * k * (2 * (p * et t * Gb t)) <= q * k * (vnorm a (g (theta t)) ^ 2 + Gb t ^ 2))
        by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|lra]). lra.
    - apply (Rmult_le_reg_r (2 * et t)); [lra|]. rewrite Ex.
      assert (Gp : p * et t <= G t).
      { apply Rsqr_incr_0_var; [|easy]. rewrite !Rsqr_pow2, GG. assert (0 <= Gb t ^ 2) by apply pow2_ge_0. lra. }
      assert (s r * et t <= G t) by (assert (s r * et t <= p * et t) by (apply Rmult_le_compat_r; lra); lra).
      assert (q * (k * G t) * (s r * et t) <= q * (k * G t) * G t) by (apply Rmult_le_compat_l; [apply Rmult_le_pos|];
        lra). lra. }
  assert (inv : forall t, U t <= r /\ P t <= far /\ et t <= et 0%nat /\
    q * RInt s 0 (U t) <= et 0%nat - et t /\ q / 2 * (s r * P t) <= et 0%nat - et t).
  { induction t as [|t [A1 [A2 [A3 [A4 A5]]]]].
    - unfold U, P. rewrite !path_0, RInt_point. unfold zero; simpl. lra.
    - assert (EU : U (S t) = U t + mu * Gb t) by (apply (tail_part a b mu g); [lra|easy]).
      assert (EP : P (S t) = P t + mu * G t) by (apply (path_step (a + b) mu g); [lra|easy]).
      assert (Ee : et (S t) = e (part g (theta t) mu)) by (unfold et; now rewrite (Hd t)).
      destruct (He (theta t)) as [E0|E0]; fold (et t) in E0.
      + destruct (exit_two mu (Gb t) (U t) r (G t) (P t) far) as [k [Hk [E1 [E2 E3]]]]; try apply norm_ge0; try easy;
        [lra|].
        destruct (pay t k Hk E1 E2 A3 E0) as [x [P1 [P2 [P3 P4]]]].
        destruct E3 as [->|[_ [[E3 _]|[E3 _]]]].
        * rewrite EU, EP, Ee. assert (0 <= q / 2 * (s r * (mu * G t))).
          { apply Rmult_le_pos; [lra|apply Rmult_le_pos; [lra|apply Rmult_le_pos; [lra|apply norm_ge0]]]. }
          repeat split; lra.
        * exfalso. rewrite E3 in P3. fold (et 0%nat) in HE. lra.
        * exfalso. assert (c0 : 0 < (1 - mu * L / 2) * s r) by (apply Rmult_lt_0_compat; lra).
          apply (Rle_div_l _ _ _ c0) in HRe. fold (et 0%nat) in HRe. unfold q in *.
          assert (s r * far = s r * P t + s r * (k * G t)) by (rewrite <- E3; ring).
          assert ((2 - mu * L) / 2 * (s r * far) = (2 - mu * L) / 2 * (s r * P t) + (2 - mu * L) / 2 * (s r * (k * G
            t)))
            by (rewrite H0; ring). lra.
      + assert (Z : G t = 0).
        { apply (flat_at_zero (a + b) e (theta t)); [|unfold et in E0; lra]. apply HS, at_B; easy. }
        assert (Zb : Gb t = 0).
        { assert (K := GG t). rewrite Z in K. assert (0 <= Gb t) by apply norm_ge0.
          assert (0 <= vnorm a (g (theta t)) ^ 2) by apply pow2_ge_0. nra. }
        assert (X := gain t mu ltac:(lra) ltac:(rewrite Zb; lra) ltac:(rewrite Z; lra) A3). rewrite Z, <- E0 in X.
        assert (e (part g (theta t) mu) = 0).
        { assert (0 <= e (part g (theta t) mu)) by apply He. assert (0 <= e (part g (theta t) mu) ^ 2)
          by apply pow2_ge_0. nra. }
        rewrite EU, EP, Ee, Z, Zb, H0, !Rmult_0_r, !Rplus_0_r. rewrite <- E0 in *. repeat split; lra. }
  assert (HB : forall t, B (theta t)) by (intros t; apply at_B; apply inv).
  assert (rt : forall t, Phi (theta (S t)) <= (1 - q * mu * s (moved (theta t)) ^ 2) * Phi (theta t)).
  { intros t. assert (It := inv t). assert (Is := inv (S t)). assert (M := mr t).
    assert (EU : U (S t) = U t + mu * Gb t) by (apply (tail_part a b mu g); [lra|easy]).
    assert (EP : P (S t) = P t + mu * G t) by (apply (path_step (a + b) mu g); [lra|easy]).
    assert (X := gain t mu ltac:(lra) ltac:(rewrite <- EU; apply Is) ltac:(rewrite <- EP; apply Is) ltac:(apply It)).
    change (part g (theta t) mu) with (vminus (theta t) (vscal mu (g (theta t)))) in X. rewrite <- (Hd t) in X.
    assert (Q := Hq (theta t) (HB t)). assert (sm : 0 < s (moved (theta t))) by (apply Hs; lra).
    assert (Q2 : (s (moved (theta t)) * et t) ^ 2 <= G t ^ 2).
    { rewrite GG. assert (0 <= Gb t ^ 2) by apply pow2_ge_0.
      assert ((s (moved (theta t)) * et t) ^ 2 <= vnorm a (g (theta t)) ^ 2); [|lra].
      apply pow_incr. split; [apply Rmult_le_pos; [lra|apply He]|exact Q]. }
    assert (q * mu * (s (moved (theta t)) * et t) ^ 2 <= q * mu * G t ^ 2) by (apply Rmult_le_compat_l;
      [apply Rmult_le_pos; lra|easy]).
    unfold Phi, et in *. lra. }
  split.
  - intros t. split; [|split; [apply rt|]].
    + intros x Hx. destruct (HB t) as [X1 X2]. destruct (HB (S t)) as [Z1 Z2]. split; [|now apply ball_convex].
      unfold moved. change (tail a (along (theta t) (vminus (theta (S t)) (theta t)) x)) with
        (along (tail a (theta t)) (vminus (tail a (theta (S t))) (tail a (theta t))) x). now apply ball_convex.
    + destruct (inv t) as [I1 [_ [_ [I4 _]]]]. fold (et t) (et 0%nat). eapply Rle_trans; [|exact I4].
      apply Rmult_le_compat_l; [lra|]. assert (M := mr t). apply (RInt_grows s r); lra || easy.
  - destruct (finite_path (a + b) theta far ltac:(intros; apply inv)) as [l [C [_ K]]]. exists l.
    assert (Bl : B l).
    { split; [|apply K; intros t; apply HB]. apply (tail_closed a b theta); [easy|]. intros t. apply HB. }
    split; [easy|split; [easy|]]. apply (zero_limit (a + b) Phi g H B theta l); try easy.
    + assert (0 < mu * s r ^ 2) by (apply Rmult_lt_0_compat; [easy|now apply pow_lt]).
      apply (geometric_limit _ (q * (mu * s r ^ 2))); [now apply Rmult_lt_0_compat| |].
      * intros t. unfold Phi. assert (0 <= e (theta t) ^ 2) by apply pow2_ge_0. lra.
      * intros t. eapply Rle_trans; [apply rt|].
        assert (Ph : 0 <= Phi (theta t)) by (unfold Phi; assert (0 <= e (theta t) ^ 2) by apply pow2_ge_0; lra).
        apply Rmult_le_compat_r; [easy|]. assert (M := mr t). destruct (inv t) as [I1 _].
        assert (s r ^ 2 <= s (moved (theta t)) ^ 2) by (apply pow_incr; split; [lra|apply Hf; lra]).
        assert (mu * s r ^ 2 <= mu * s (moved (theta t)) ^ 2) by (apply Rmult_le_compat_l; lra).
        assert (q * (mu * s r ^ 2) <= q * (mu * s (moved (theta t)) ^ 2)) by (apply Rmult_le_compat_l; lra). lra.
    + unfold Phi. assert (0 <= e l ^ 2) by apply pow2_ge_0. lra.
Qed.

(** (1 + (1 − k y (2 − y))^½)/(2 − y) grows with y on [0, 2) for 0 < k < 1. *)
Lemma plus_factor_grows k x y : 0 < k < 1 -> 0 <= x -> x < y -> y < 2 ->
  (1 + sqrt (1 - k * (x * (2 - x)))) / (2 - x) < (1 + sqrt (1 - k * (y * (2 - y)))) / (2 - y).
Proof.
  intros Hk Hx Hxy Hy.
  assert (W : forall z, 0 <= z < 2 -> exists w, 0 < w <= 1 /\ / w = (1 + sqrt (1 - k * (z * (2 - z)))) / (2 - z) /\
    z * (1 - k * w ^ 2) = 2 * (1 - w)).
  { intros z Hz. assert (P : 0 <= 1 - k * (z * (2 - z))).
    { assert (0 <= (1 - z) ^ 2) by apply pow2_ge_0. assert (0 <= z * (2 - z)) by (apply Rmult_le_pos; lra). nra. }
    set (q := sqrt (1 - k * (z * (2 - z)))). assert (q0 : 0 <= q) by apply sqrt_pos.
    assert (Q : q ^ 2 = 1 - k * (z * (2 - z))) by (unfold q; now apply pow2_sqrt).
    exists ((2 - z) / (1 + q)). set (w := (2 - z) / (1 + q)). assert (Ew : w * (1 + q) = 2 - z) by (unfold w; field;
      lra).
    split; [split; [apply Rdiv_lt_0_compat; lra|]|split; [unfold w; field; lra|]].
    - apply Rle_div_l; [lra|]. assert (1 - z <= q); [|lra]. destruct (Rle_lt_dec (1 - z) 0); [lra|].
      apply Rsqr_incr_0_var; [|easy]. rewrite !Rsqr_pow2, Q. assert (0 <= z * (2 - z)) by (apply Rmult_le_pos; lra).
      nra.
    - assert (A : (w * q) ^ 2 = (2 - z - w) ^ 2) by (f_equal; lra). rewrite Rpow_mult_distr, Q in A.
      apply (Rmult_eq_reg_l (2 - z)); [|lra]. lra. }
  destruct (W x ltac:(lra)) as [v [Hv [Ev Rv]]]. destruct (W y ltac:(lra)) as [w [Hw [Ew Rw]]]. rewrite <- Ev, <- Ew.
  apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; lra|]. destruct (Rlt_le_dec w v) as [|L]; [easy|]. exfalso.
  assert (K1 : forall u, 0 < u <= 1 -> 0 < 1 - k * u ^ 2).
  { intros u Hu. assert (u ^ 2 <= 1 ^ 2) by (apply pow_incr; lra).
    assert (k * u ^ 2 <= k * 1 ^ 2) by (apply Rmult_le_compat_l; lra). lra. }
  assert (V1 := K1 v Hv). assert (W1 := K1 w Hw).
  assert (A : 0 <= (w - v) * (1 - k * (v + w) + k * (v * w))).
  { apply Rmult_le_pos; [lra|]. assert (0 <= k * ((1 - v) * (1 - w))) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos;
    lra]). lra. }
  assert (B : (1 - w) * (1 - k * v ^ 2) <= (1 - v) * (1 - k * w ^ 2)) by lra.
  assert (y * (1 - k * w ^ 2) * (1 - k * v ^ 2) <= x * (1 - k * v ^ 2) * (1 - k * w ^ 2)) by (rewrite Rw, Rv; lra).
  assert (0 < (1 - k * v ^ 2) * (1 - k * w ^ 2)) by now apply Rmult_lt_0_compat.
  assert (x * ((1 - k * v ^ 2) * (1 - k * w ^ 2)) < y * ((1 - k * v ^ 2) * (1 - k * w ^ 2)))
    by now apply Rmult_lt_compat_r. lra.
Qed.

(** rt-theorem-a-plus
    Covers: a part: for any Φ = e²/2, e ≥ 0, with ‖∇Φ‖² ≥ 2αΦ on the ball; on the page: that for a Transformer this holds on a ball of radius at most {eq-rt-plus}, with α = σ_A²σ_U²/16 < L, and that both singular values stay above their halves.
    Reads: on the ball of radius r around θ⁽⁰⁾ let Φ be continuous with the gradient ∇Φ and the Hessian ∇²Φ, ‖∇Φ‖² ≥ 2αΦ there, and ⟨w, ∇²Φ w⟩ ≤ L‖w‖² where Φ ≤ Φ₀, 0 < α < L; let 0 < μ, ν = μL < 2, Γ = (1 − (2 − ν)μα)^½ and r = (1 + Γ)/(2 − ν) · e₀/√α. Then every step's segment stays in the ball, Φ_t ≤ (1 − (2 − ν)μα)ᵗΦ₀, and the iterates converge to a θ* in the ball with Φ = 0 and ‖θ⁽ᵗ⁾ − θ*‖ ≤ (1 + Γ)/(2 − ν) · e_t/√α.
    Mistake: `let c := (1 + Gam) / (2 - mu * L) / 2 / sqrt alpha in` for `let c := (1 + Gam) / (2 - mu * L) / sqrt alpha in`
    Mistake: `(1 - 2 * (2 - mu * L) * mu * alpha) ^ t` for `(1 - (2 - mu * L) * mu * alpha) ^ t`
*)
Theorem rt_theorem_a_plus : forall D (e : vector -> R) g H theta mu L alpha,
  let Phi z := e z ^ 2 / 2 in let Gam := sqrt (1 - (2 - mu * L) * mu * alpha) in
  let c := (1 + Gam) / (2 - mu * L) / sqrt alpha in
  let B z := distance D (theta 0%nat) z <= c * e (theta 0%nat) in
  (forall z, 0 <= e z) -> smooth_on D Phi g H B -> (forall z, B z -> 2 * alpha * Phi z <= sq D (g z)) ->
  curvature_below D Phi H L (Phi (theta 0%nat)) B -> 0 < alpha < L -> 0 < mu -> mu * L < 2 -> descends mu g theta ->
  (forall t x, 0 <= x <= 1 -> B (along (theta t) (vminus (theta (S t)) (theta t)) x)) /\
  (forall t, Phi (theta t) <= (1 - (2 - mu * L) * mu * alpha) ^ t * Phi (theta 0%nat)) /\
  exists limit, B limit /\ converges D theta limit /\ Phi limit = 0 /\
    forall t, distance D limit (theta t) <= c * e (theta t).
Proof.
  intros D e g H theta mu L alpha Phi Gam c B He HS Hq HL Ha Hmu Hnu Hd.
  set (P := path D theta). set (et := fun t => e (theta t)) in *. set (G := fun t => vnorm D (g (theta t))).
  set (r := c * e (theta 0%nat)) in *. assert (L0 : 0 < L) by lra. assert (sa : 0 < sqrt alpha) by (apply sqrt_lt_R0;
    lra).
  assert (sa2 : sqrt alpha ^ 2 = alpha) by (apply pow2_sqrt; lra).
  set (x0 := fun k => (2 - k * L) * k * alpha). set (f := fun k => (1 + sqrt (1 - x0 k)) / (2 - k * L)).
  assert (X0 : forall k, 0 <= k <= mu -> 0 <= x0 k < 1).
  { intros k Hk. assert (k * L <= mu * L) by (apply Rmult_le_compat_r; lra).
    assert (0 <= k * L) by (apply Rmult_le_pos; lra).
    unfold x0. split; [apply Rmult_le_pos; [apply Rmult_le_pos|]; lra|].
    destruct (Req_dec k 0) as [->|Hk0]; [lra|].
    assert ((2 - k * L) * k * alpha < (2 - k * L) * k * L) by (apply Rmult_lt_compat_l; [apply Rmult_lt_0_compat;
      lra|lra]).
    assert (0 <= (1 - k * L) ^ 2) by apply pow2_ge_0. lra. }
  assert (fx : forall k, f k = (1 + sqrt (1 - alpha / L * ((k * L) * (2 - k * L)))) / (2 - k * L)).
  { intros k. unfold f, x0. do 3 f_equal. field. lra. }
  assert (aL : 0 < alpha / L < 1) by (split; [apply Rdiv_lt_0_compat; lra|apply Rlt_div_l; lra]).
  assert (fm : forall k, 0 <= k < mu -> f k < f mu).
  { intros k Hk. rewrite !fx. apply plus_factor_grows; try easy; [apply Rmult_le_pos; lra|apply Rmult_lt_compat_r;
    lra]. }
  assert (cf : c = f mu / sqrt alpha) by reflexivity.
  assert (f0 : forall k, 0 <= k <= mu -> 0 < f k).
  { intros k Hk. assert (k * L <= mu * L) by (apply Rmult_le_compat_r; lra).
    apply Rdiv_lt_0_compat; [assert (0 <= sqrt (1 - x0 k)) by apply sqrt_pos; lra|lra]. }
  assert (in_B : forall t k, 0 <= k -> P t + k * G t <= r -> forall x, 0 <= x <= 1 -> B (part g (theta t) (x * k))).
  { intros t k Hk A2 x Hx. assert (K : 0 <= x * k) by (apply Rmult_le_pos; lra).
    assert (X2 : x * k * G t <= 1 * k * G t) by (apply Rmult_le_compat_r; [apply norm_ge0|apply Rmult_le_compat_r;
      lra]).
    assert (N2 := part_near D g theta t (x * k) K). unfold B. fold (P t) (G t) in N2. lra. }
  assert (at_B : forall t, P t <= r -> B (theta t)) by (intros t A; exact (Rle_trans _ _ _ (from_start D theta t) A)).
  assert (low : forall t, et t <= et 0%nat -> curvature_below D Phi H L (Phi (theta t)) B).
  { intros t Ht z w HB Hz. apply HL; [easy|]. eapply Rle_trans; [apply Hz|]. unfold Phi, et in *.
    assert (e (theta t) ^ 2 <= e (theta 0%nat) ^ 2) by (apply pow_incr; split; [apply He|easy]). lra. }
  assert (PL : forall t, P t <= r -> alpha * et t ^ 2 <= G t ^ 2).
  { intros t A. specialize (Hq _ (at_B t A)). unfold G. rewrite norm_sq. unfold Phi in Hq. unfold et. lra. }
  (* one part: e(k)² ≤ (1 − x₀) e², √α k G ≤ f(k)(e − e(k)) *)
  assert (pay : forall t k, 0 <= k <= mu -> P t + k * G t <= r -> et t <= et 0%nat ->
    let e' := e (part g (theta t) k) in
    e' ^ 2 <= (1 - x0 k) * et t ^ 2 /\ e' <= et t /\ sqrt alpha * (k * G t) <= f k * (et t - e')).
  { intros t k Hk A2 Ht e'. assert (kL : k * L <= mu * L) by (apply Rmult_le_compat_r; lra).
    assert (kG : 0 <= k * G t) by (apply Rmult_le_pos; [lra|apply norm_ge0]).
    assert (K := part_descends D Phi g H B L (theta t) k HS (low t Ht) ltac:(lra) ltac:(lra) (in_B t k ltac:(lra) A2)).
    rewrite <- norm_sq in K. fold (G t) in K. unfold Phi in K. fold (et t) e' in K.
    assert (Q := PL t ltac:(lra)). assert (X := X0 k Hk). assert (e0' : 0 <= e') by apply He.
    assert (e0 : 0 <= et t) by apply He.
    assert (Y : e' ^ 2 <= (1 - x0 k) * et t ^ 2).
    { assert ((2 - k * L) * k * (alpha * et t ^ 2) <= (2 - k * L) * k * G t ^ 2)
        by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|easy]). unfold x0. lra. }
    set (q := sqrt (1 - x0 k)). assert (q2 : q ^ 2 = 1 - x0 k) by (apply pow2_sqrt; lra).
    assert (q0 : 0 <= q) by apply sqrt_pos. assert (q1 : q <= 1) by nra.
    assert (eq : e' <= q * et t).
    { apply Rsqr_incr_0_var; [|now apply Rmult_le_pos]. rewrite !Rsqr_pow2, Rpow_mult_distr, q2. easy. }
    assert (ee : e' <= et t) by (assert (q * et t <= 1 * et t) by (apply Rmult_le_compat_r; lra); lra).
    split; [easy|split; [easy|]]. set (m := 2 - k * L) in *. assert (m0 : 0 < m) by (unfold m; lra).
    apply (Rmult_le_reg_l m); [easy|]. replace (m * (f k * (et t - e'))) with ((1 + q) * (et t - e')) by (unfold f;
      fold q m; field; lra).
    apply Rsqr_incr_0_var; [|apply Rmult_le_pos; lra]. rewrite !Rsqr_pow2, !Rpow_mult_distr, sa2.
    assert (Z : m * (k * G t ^ 2) <= et t ^ 2 - e' ^ 2) by (unfold m; lra).
    assert (T1 : (1 - q) * (et t + e') <= (1 + q) * (et t - e')) by lra.
    apply (Rle_trans _ (x0 k * (et t ^ 2 - e' ^ 2))).
    - replace (m ^ 2 * (alpha * (k ^ 2 * G t ^ 2))) with (x0 k * (m * (k * G t ^ 2))) by (unfold x0; fold m; ring).
      apply Rmult_le_compat_l; [apply X|easy].
    - replace (x0 k) with ((1 + q) * (1 - q)) by lra.
      assert ((1 + q) * (et t - e') * ((1 - q) * (et t + e')) <= (1 + q) * (et t - e') * ((1 + q) * (et t - e')))
        by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|easy]). lra. }
  assert (inv : forall t, P t <= r /\ et t <= et 0%nat /\ sqrt alpha * P t <= f mu * (et 0%nat - et t)).
  { assert (r2 : sqrt alpha * r = f mu * et 0%nat) by (unfold r; rewrite cf; unfold et; field; lra).
    assert (f0m := f0 mu ltac:(lra)). induction t as [|t [A1 [A2 A3]]].
    - unfold P. rewrite path_0. assert (0 <= r) by (apply Rmult_le_pos; [rewrite cf; left;
      now apply Rdiv_lt_0_compat|apply He]). lra.
    - assert (EP : P (S t) = P t + mu * G t) by (apply (path_step D mu g); [lra|easy]).
      assert (Ee : et (S t) = e (part g (theta t) mu)) by (unfold et; now rewrite (Hd t)).
      destruct (exit mu (G t) (P t) r) as [k [Hk [E2 E3]]]; [lra|apply norm_ge0|easy|].
      destruct (pay t k Hk E2 A2) as [P1 [P2 P3]]. destruct E3 as [->|[E3 [E4 E5]]].
      + rewrite EP, Ee. repeat split; lra.
      + exfalso. assert (E0 : 0 < et t).
        { destruct (He (theta t)) as [|Z]; [easy|]. exfalso.
          assert (Gz := flat_at_zero D e (theta t) (g (theta t)) ltac:(apply HS, at_B; easy) ltac:(easy)).
          unfold G in E5. lra. }
        assert (e0' : 0 <= e (part g (theta t) k)) by apply He. assert (Fk := fm k ltac:(lra)). assert (fk0 := f0 k Hk).
        assert (f k * (et t - e (part g (theta t) k)) <= f k * et t) by (apply Rmult_le_compat_l; lra).
        assert (f k * et t < f mu * et t) by now apply Rmult_lt_compat_r.
        assert (sqrt alpha * r = sqrt alpha * P t + sqrt alpha * (k * G t)) by (rewrite <- E3; ring). lra. }
  assert (HB : forall t, B (theta t)) by (intros t; apply at_B; apply inv).
  set (rho := 1 - (2 - mu * L) * mu * alpha) in *.
  assert (Rr : rho = 1 - x0 mu) by reflexivity. assert (X := X0 mu ltac:(lra)).
  assert (rt : forall t, Phi (theta (S t)) <= rho * Phi (theta t)).
  { intros t. assert (EP : P (S t) = P t + mu * G t) by (apply (path_step D mu g); [lra|easy]).
    destruct (pay t mu ltac:(lra) ltac:(rewrite <- EP; apply inv) ltac:(apply inv)) as [Y _].
    change (part g (theta t) mu) with (vminus (theta t) (vscal mu (g (theta t)))) in Y. rewrite <- (Hd t) in Y.
    unfold Phi, et in *. rewrite Rr. clear - Y. lra. }
  assert (P0 : forall t, 0 <= Phi (theta t)) by (intros t; unfold Phi;
    assert (0 <= e (theta t) ^ 2) by apply pow2_ge_0; lra).
  split; [intros t x Hx; apply ball_convex; [easy|apply HB|apply HB]|split].
  - induction t; [simpl; lra|]. eapply Rle_trans; [apply rt|]. simpl. rewrite Rmult_assoc.
    apply Rmult_le_compat_l; [rewrite Rr; lra|exact IHt].
  - destruct (finite_path D theta r ltac:(intros; apply inv)) as [l [C [K1 K2]]]. exists l.
    assert (Bl : B l) by (apply K2; intros t; apply HB). split; [easy|split; [easy|split]].
    + apply (zero_limit D Phi g H B theta l); try easy.
      * assert (x0 mu <> 0) by (unfold x0; apply Rgt_not_eq, Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra|lra]).
        apply (geometric_limit _ (x0 mu)); [lra|easy|]. intros t. rewrite <- Rr. apply rt.
      * unfold Phi. assert (0 <= e l ^ 2) by apply pow2_ge_0. lra.
    + intros t. apply K1. intros T HT.
      assert (S1 : sqrt alpha * (P T - P t) <= f mu * (et t - et T)).
      { induction HT as [|T HT IH]; [lra|]. assert (EP : P (S T) = P T + mu * G T) by (apply (path_step D mu g);
        [lra|easy]).
        destruct (pay T mu ltac:(lra) ltac:(rewrite <- EP; apply inv) ltac:(apply inv)) as [_ [_ Y]].
        assert (Ee : et (S T) = e (part g (theta T) mu)) by (unfold et; now rewrite (Hd T)). rewrite EP, Ee. lra. }
      assert (0 <= et T) by apply He. assert (f0m := f0 mu ltac:(lra)).
      apply (Rmult_le_reg_l (sqrt alpha)); [easy|]. replace (sqrt alpha * (c * e (theta t))) with (f mu * et t)
        by (rewrite cf; unfold et; field; lra).
      eapply Rle_trans; [exact S1|]. apply Rmult_le_compat_l; lra.
Qed.

(** The coordinates of z that belong to block w, 0 elsewhere; block i is the block of coordinate i *)
Definition block_part (block : nat -> nat) (w : nat) (z : vector) : vector :=
  fun i => if Nat.eqb (block i) w then z i else 0.

(** Σ_{s<t} q^s (1 − q) = 1 − q^t *)
Lemma geometric_sum q t : Sum t (fun s => q ^ s) * (1 - q) = 1 - q ^ t.
Proof. induction t; simpl; [ring|]. rewrite Rmult_plus_distr_r, IHt. ring. Qed.

(** rt-theorem-a
    Covers: a part: for any Φ = e²/2, e ≥ 0, any blocks of coordinates with ‖∇_WΦ‖ ≤ c_W e and ‖∇Φ‖² ≥ 2αΦ where every block has moved by at most 2c_We₀/α; on the page: that for a Transformer {eq-rt-i0} gives this, with c_W in closed form and α = σ_A²σ_U²/16, and that the singular values stay above half of their start.
    Reads: let every coordinate belong to one of m blocks, 𝔅 = {‖Δθ_W‖ ≤ 2c_We₀/α for all blocks W}. On 𝔅 let Φ be continuous with the gradient ∇Φ and the Hessian ∇²Φ, ‖∇_WΦ‖ ≤ c_W e, ‖∇Φ‖² ≥ 2αΦ, and ⟨w, ∇²Φ w⟩ ≤ L‖w‖² where Φ ≤ Φ₀; 0 < α ≤ L, 0 < μ ≤ 1/L. Then the run stays in 𝔅 and Φ_t ≤ (1 − μα)ᵗΦ₀.
    Mistake: `(1 - 2 * (mu * alpha)) ^ t` for `(1 - mu * alpha) ^ t`
    Mistake: `mu * L <= 4` for `mu * L <= 1`
*)
Theorem rt_theorem_a : forall D m block (e : vector -> R) g H theta mu L alpha (c : nat -> R),
  let Phi z := e z ^ 2 / 2 in
  let B z := forall w, (w < m)%nat ->
    distance D (block_part block w (theta 0%nat)) (block_part block w z) <= 2 / alpha * c w * e (theta 0%nat) in
  (forall z, 0 <= e z) -> (forall w, 0 <= c w) -> smooth_on D Phi g H B ->
  (forall z w, (w < m)%nat -> B z -> vnorm D (block_part block w (g z)) <= c w * e z) ->
  (forall z, B z -> 2 * alpha * Phi z <= sq D (g z)) -> curvature_below D Phi H L (Phi (theta 0%nat)) B ->
  0 < alpha <= L -> 0 < mu -> mu * L <= 1 -> descends mu g theta ->
  forall t, B (theta t) /\ Phi (theta t) <= (1 - mu * alpha) ^ t * Phi (theta 0%nat).
Proof.
  intros D m block e g H theta mu L alpha c Phi B He Hc HS Hg Hq HL Ha Hmu Hnu Hd.
  assert (ma : 0 < mu * alpha <= 1).
  { split; [apply Rmult_lt_0_compat; lra|]. assert (mu * alpha <= mu * L) by (apply Rmult_le_compat_l; lra). lra. }
  set (q := sqrt (1 - mu * alpha)). assert (q2 : q ^ 2 = 1 - mu * alpha) by (apply pow2_sqrt; lra).
  assert (q0 : 0 <= q) by apply sqrt_pos. assert (q1 : q < 1) by nra.
  assert (inv : forall t, (forall s, (s <= t)%nat -> e (theta s) <= q ^ s * e (theta 0%nat)) /\
    (forall w, (w < m)%nat -> distance D (block_part block w (theta 0%nat)) (block_part block w (theta t)) <=
      mu * c w * e (theta 0%nat) * Sum t (fun s => q ^ s)) /\ B (theta t)).
  { assert (inB : forall t, (forall w, (w < m)%nat ->
    distance D (block_part block w (theta 0%nat)) (block_part block w (theta t)) <=
      mu * c w * e (theta 0%nat) * Sum t (fun s => q ^ s)) -> B (theta t)).
    { intros t Ht w Hw. eapply Rle_trans; [now apply Ht|].
      assert (S : mu * Sum t (fun s => q ^ s) <= 2 / alpha).
      { assert (K := geometric_sum q t). assert (0 <= q ^ t) by now apply pow_le. set (Z := Sum t _) in *.
        apply (proj1 (Rle_div_r (mu * Z) 2 alpha ltac:(lra))). assert (E : mu * alpha = (1 - q) * (1 + q)) by lra.
        replace (mu * Z * alpha) with (Z * (mu * alpha)) by ring. rewrite E.
        replace (Z * ((1 - q) * (1 + q))) with (Z * (1 - q) * (1 + q)) by ring. rewrite K.
        assert ((1 - q ^ t) * (1 + q) <= 1 * (1 + q)) by (apply Rmult_le_compat_r; lra). lra. }
      assert (mu * Sum t (fun s => q ^ s) * (c w * e (theta 0%nat)) <= 2 / alpha * (c w * e (theta 0%nat)))
        by (apply Rmult_le_compat_r; [apply Rmult_le_pos; [apply Hc|apply He]|easy]). lra. }
    induction t as [|t [I1 [I2 I3]]].
    - assert (Z : forall w, (w < m)%nat ->
      distance D (block_part block w (theta 0%nat)) (block_part block w (theta 0%nat)) <=
        mu * c w * e (theta 0%nat) * Sum 0 (fun s => q ^ s)) by (intros; rewrite distance_self; simpl; lra).
      split; [intros s Hs; replace s with 0%nat by lia; simpl; lra|split; [exact Z|now apply inB]].
    - assert (I2' : forall w, (w < m)%nat ->
      distance D (block_part block w (theta 0%nat)) (block_part block w (theta (S t))) <=
        mu * c w * e (theta 0%nat) * Sum (S t) (fun s => q ^ s)).
      { intros w Hw. cbn [Sum].
        assert (T := distance_triangle D (block_part block w (theta 0%nat)) (block_part block w (theta t)) (block_part
          block w (theta (S t)))).
        assert (K : distance D (block_part block w (theta t)) (block_part block w (theta (S t))) = mu * vnorm D
          (block_part block w (g (theta t)))).
        { unfold distance. rewrite (Hd t), (norm_ext D _ (vscal (- mu) (block_part block w (g (theta t))))).
          - rewrite norm_scal, Rabs_Ropp, Rabs_right by lra. easy.
          - intros i _. unfold block_part, vminus, vscal. destruct (Nat.eqb (block i) w); ring. }
        specialize (I2 w Hw). assert (Gw := Hg (theta t) w Hw I3).
        assert (c w * e (theta t) <= c w * (q ^ t * e (theta 0%nat))) by (apply Rmult_le_compat_l;
          [apply Hc|now apply I1]).
        assert (mu * vnorm D (block_part block w (g (theta t))) <= mu * (c w * (q ^ t * e (theta 0%nat))))
          by (apply Rmult_le_compat_l; lra).
        lra. }
      split; [|split; [exact I2'|now apply inB]]. intros s Hs. destruct (Nat.eq_dec s (S t)) as [->|]; [|apply I1; lia].
      assert (et : e (theta t) <= e (theta 0%nat)).
      { specialize (I1 t ltac:(lia)). assert (q ^ t <= 1 ^ t) by (apply pow_incr; lra). rewrite pow1 in *.
        assert (q ^ t * e (theta 0%nat) <= 1 * e (theta 0%nat)) by (apply Rmult_le_compat_r; [apply He|easy]). lra. }
      assert (seg : forall x, 0 <= x <= 1 -> B (part g (theta t) (x * mu))).
      { intros x Hx w Hw. rewrite <- along_part.
        replace (vscal (- mu) (g (theta t))) with (vminus (theta (S t)) (theta t)).
        - assert (E : block_part block w (along (theta t) (vminus (theta (S t)) (theta t)) x) =
            along (block_part block w (theta t)) (vminus (block_part block w (theta (S t))) (block_part block w (theta
              t))) x).
          { apply functional_extensionality; intros i. unfold block_part, along, vminus.
            destruct (Nat.eqb (block i) w); ring. }
          rewrite E. apply ball_convex; [easy|now apply I3|]. now apply (inB (S t) I2').
        - rewrite (Hd t). apply functional_extensionality; intros i. unfold vminus, vscal. ring. }
      assert (low : curvature_below D Phi H L (Phi (theta t)) B).
      { intros z w HB Hz. apply HL; [easy|]. eapply Rle_trans; [apply Hz|]. unfold Phi.
        assert (e (theta t) ^ 2 <= e (theta 0%nat) ^ 2) by (apply pow_incr; split; [apply He|easy]). lra. }
      assert (K := part_descends D Phi g H B L (theta t) mu HS low ltac:(lra) ltac:(lra) seg).
      change (part g (theta t) mu) with (vminus (theta t) (vscal mu (g (theta t)))) in K. rewrite <- (Hd t) in K.
      assert (Q := Hq (theta t) I3). assert (G0 := sq_ge0 D (g (theta t))).
      assert (1 / 2 * (mu * sq D (g (theta t))) <= (1 - mu * L / 2) * (mu * sq D (g (theta t))))
        by (apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]).
      assert (mu * (2 * alpha * Phi (theta t)) <= mu * sq D (g (theta t))) by (apply Rmult_le_compat_l; lra).
      assert (E2 : e (theta (S t)) ^ 2 <= (q * e (theta t)) ^ 2) by (rewrite Rpow_mult_distr, q2; unfold Phi in *; lra).
      assert (e (theta (S t)) <= q * e (theta t)).
      { apply Rsqr_incr_0_var; [|apply Rmult_le_pos; [easy|apply He]]. now rewrite !Rsqr_pow2. }
      assert (q * e (theta t) <= q * (q ^ t * e (theta 0%nat))) by (apply Rmult_le_compat_l; [easy|now apply I1]).
      simpl. lra. }
  intros t. destruct (inv t) as [I1 [_ I3]]. split; [exact I3|]. specialize (I1 t ltac:(lia)).
  assert (e (theta t) ^ 2 <= (q ^ t * e (theta 0%nat)) ^ 2) by (apply pow_incr; split; [apply He|easy]).
  rewrite <- q2, <- pow_mult, (Nat.mul_comm 2 t), pow_mult. unfold Phi. rewrite Rpow_mult_distr in *. lra.
Qed.

(** rt-corollary-1
    Covers: a part: for any run with steps of at most μ(Σ_W c_W²)^½ e_t and e_t ≤ e₀(1 − μα)^{t/2}, for a Φ continuous on a closed set that it stays in; on the page: that this is so under theorem A.
    Reads: let 0 < μα ≤ 1, Γ = (1 − μα)^½, e_t ≤ Γᵗe₀ and ‖θ⁽ᵗ⁺¹⁾ − θ⁽ᵗ⁾‖ ≤ μc e_t for all t, where c stands for (Σ_W c_W²)^½. Then θ⁽ᵗ⁾ converges to a θ* with ‖θ⁽ᵗ⁾ − θ*‖ ≤ (2/α) c e₀ Γᵗ for all t, and if e is continuous along the run, e = 0 at θ*.
    Mistake: `1 / alpha * c * e (theta 0%nat)` for `2 / alpha * c * e (theta 0%nat)`
    Mistake: without `(forall t, e (theta t) <= sqrt (1 - mu * alpha) ^ t * e (theta 0%nat)) ->`
*)
Theorem rt_corollary_1 : forall D (e : vector -> R) theta mu alpha c, 0 < mu -> 0 < alpha -> mu * alpha <= 1 ->
  0 <= c ->
  (forall z, 0 <= e z) -> (forall t, e (theta t) <= sqrt (1 - mu * alpha) ^ t * e (theta 0%nat)) ->
  (forall t, distance D (theta t) (theta (S t)) <= mu * c * e (theta t)) ->
  exists limit, converges D theta limit /\
    (forall t, distance D limit (theta t) <= 2 / alpha * c * e (theta 0%nat) * sqrt (1 - mu * alpha) ^ t) /\
    (is_lim_seq (fun t => e (theta t)) (e limit) -> e limit = 0).
Proof.
  intros D e theta mu alpha c Hmu Ha Hma Hc He Hq Hs. set (q := sqrt (1 - mu * alpha)) in *.
  assert (m0 : 0 < mu * alpha) by now apply Rmult_lt_0_compat.
  assert (q2 : q ^ 2 = 1 - mu * alpha) by (apply pow2_sqrt; lra).
  assert (q0 : 0 <= q) by apply sqrt_pos. assert (q1 : q < 1) by nra.
  assert (S1 : forall t T, (t <= T)%nat ->
    (path D theta T - path D theta t) * (1 - q) <= mu * c * e (theta 0%nat) * (q ^ t - q ^ T)).
  { intros t T HT. induction HT as [|T HT IH]; [lra|]. unfold path in *. cbn [Sum]. specialize (Hs T).
    specialize (Hq T).
    assert (mu * c * e (theta T) <= mu * c * (q ^ T * e (theta 0%nat))) by (apply Rmult_le_compat_l;
      [apply Rmult_le_pos|]; lra).
    assert (distance D (theta T) (theta (S T)) * (1 - q) <= mu * c * (q ^ T * e (theta 0%nat)) * (1 - q))
      by (apply Rmult_le_compat_r; lra).
    simpl. lra. }
  assert (S2 : forall t T, (t <= T)%nat -> path D theta T - path D theta t <= 2 / alpha * c * e (theta 0%nat) * q ^ t).
  { intros t T HT. specialize (S1 t T HT). assert (0 <= q ^ T) by now apply pow_le.
    assert (0 <= q ^ t) by now apply pow_le.
    assert (e0 := He (theta 0%nat)). assert (ce : 0 <= c * e (theta 0%nat)) by now apply Rmult_le_pos.
    assert (X : mu * c * e (theta 0%nat) * (q ^ t - q ^ T) <= mu * (c * e (theta 0%nat) * q ^ t)).
    { assert (0 <= mu * (c * e (theta 0%nat)) * q ^ T) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|easy]). lra. }
    apply (Rmult_le_reg_r (1 - q)); [lra|]. eapply Rle_trans; [apply S1|]. eapply Rle_trans; [apply X|].
    replace (2 / alpha * c * e (theta 0%nat) * q ^ t * (1 - q)) with (2 * (1 - q) / alpha * (c * e (theta 0%nat) * q ^
      t)) by (field; lra).
    apply Rmult_le_compat_r; [now apply Rmult_le_pos|]. apply (proj1 (Rle_div_r mu (2 * (1 - q)) alpha ltac:(lra))).
    assert ((1 + q) * (1 - q) <= 2 * (1 - q)) by (apply Rmult_le_compat_r; lra). lra. }
  destruct (finite_path D theta (2 / alpha * c * e (theta 0%nat))) as [l [C [K _]]].
  { intros t. specialize (S2 0%nat t ltac:(lia)). rewrite path_0 in S2. simpl in S2. lra. }
  exists l. split; [easy|split; [intros t; apply K; intros T HT; now apply S2|]].
  intros Hl. assert (Z : is_lim_seq (fun t => e (theta t)) 0).
  { apply (is_lim_seq_le_le (fun _ => 0) _ (fun t => q ^ t * e (theta 0%nat))).
    - intros t. split; [apply He|apply Hq].
    - apply is_lim_seq_const.
    - replace (Finite 0) with (Finite (0 * e (theta 0%nat))) by (f_equal; ring).
      apply is_lim_seq_mult'; [|apply is_lim_seq_const]. apply is_lim_seq_geom. rewrite Rabs_right; lra. }
  assert (U := is_lim_seq_unique _ _ Hl). rewrite (is_lim_seq_unique _ _ Z) in U. injection U. intros E.
  now rewrite <- E.
Qed.

(** rt-theorem-2
    Covers: a part: as for theorem A, any Φ = e²/2 and any blocks, c_W > 0, with the bounds where every block has moved by at most half its norm; on the page: that a Transformer has them, and that the singular values stay above half of their start.
    Reads: let n_W be the norm of block W at the start, 𝔅 = {‖Δθ_W‖ ≤ n_W/2 for all blocks}, and on 𝔅 let the hypotheses of theorem A hold: Φ continuous with gradient and Hessian, ‖∇_WΦ‖ ≤ c_W e, ‖∇Φ‖² ≥ 2αΦ, ⟨w, ∇²Φ w⟩ ≤ L‖w‖² where Φ ≤ Φ₀, 0 < α ≤ L, 0 < μ ≤ 1/L, and μα ≤ 3/4. Let Γ = (1 − μα)^½ and e₀/(α(1 − Γ)) ≤ n_W/(2c_W) for all W. Then for all t all blocks have norms of at most (3/2)n_W, and Φ_t ≤ (1 − μα)ᵗΦ₀.
    Mistake: `vnorm D (block_part block w (theta t)) <= norm w` for `vnorm D (block_part block w (theta t)) <= 3 / 2 * norm w`
    Mistake: `(1 - 2 * (mu * alpha)) ^ t` for `(1 - mu * alpha) ^ t`
*)
Theorem rt_theorem_2 : forall D m block (e : vector -> R) g H theta mu L alpha (c : nat -> R),
  let Phi z := e z ^ 2 / 2 in let norm w := vnorm D (block_part block w (theta 0%nat)) in
  let B z := forall w, (w < m)%nat ->
    distance D (block_part block w (theta 0%nat)) (block_part block w z) <= norm w / 2 in
  (forall z, 0 <= e z) -> (forall w, 0 < c w) -> smooth_on D Phi g H B ->
  (forall z w, (w < m)%nat -> B z -> vnorm D (block_part block w (g z)) <= c w * e z) ->
  (forall z, B z -> 2 * alpha * Phi z <= sq D (g z)) -> curvature_below D Phi H L (Phi (theta 0%nat)) B ->
  0 < alpha <= L -> 0 < mu -> mu * L <= 1 -> mu * alpha <= 3 / 4 -> descends mu g theta ->
  (forall w, (w < m)%nat -> e (theta 0%nat) / (alpha * (1 - sqrt (1 - mu * alpha))) <= norm w / (2 * c w)) ->
  forall t, (forall w, (w < m)%nat -> vnorm D (block_part block w (theta t)) <= 3 / 2 * norm w) /\
    Phi (theta t) <= (1 - mu * alpha) ^ t * Phi (theta 0%nat).
Proof.
  intros D m block e g H theta mu L alpha c Phi norm B He Hc [S1 S2] Hg Hq HL Ha Hmu Hnu Hma Hd H0.
  set (q := sqrt (1 - mu * alpha)) in *.
  assert (m0 : 0 < mu * alpha) by (apply Rmult_lt_0_compat; lra).
  assert (q2 : q ^ 2 = 1 - mu * alpha) by (apply pow2_sqrt; lra).
  assert (q0 : 0 <= q) by apply sqrt_pos. assert (q1 : q < 1) by nra. assert (qh : 1 / 2 <= q) by nra.
  set (B' := fun z => forall w, (w < m)%nat -> distance D (block_part block w (theta 0%nat)) (block_part block w z) <=
    2 / alpha * c w * e (theta 0%nat)).
  assert (e0 := He (theta 0%nat)).
  assert (half : forall w, (w < m)%nat -> 2 / alpha * c w * e (theta 0%nat) <= norm w / 2).
  { intros w Hw. specialize (H0 w Hw). assert (cw := Hc w).
    assert (A : 2 * e (theta 0%nat) / alpha <= e (theta 0%nat) / (alpha * (1 - q))).
    { replace (2 * e (theta 0%nat) / alpha) with (2 * (1 - q) * e (theta 0%nat) / (alpha * (1 - q))) by (field; lra).
      apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra|].
      assert (2 * (1 - q) * e (theta 0%nat) <= 1 * e (theta 0%nat)) by (apply Rmult_le_compat_r; lra). lra. }
    assert (K : 2 * e (theta 0%nat) / alpha * c w <= norm w / (2 * c w) * c w) by (apply Rmult_le_compat_r; lra).
    replace (norm w / (2 * c w) * c w) with (norm w / 2) in K by (field; lra).
    replace (2 / alpha * c w * e (theta 0%nat)) with (2 * e (theta 0%nat) / alpha * c w) by (field; lra). easy. }
  assert (BB : forall z, B' z -> B z) by (intros z Hz w Hw; eapply Rle_trans; [now apply Hz|now apply half]).
  assert (T := rt_theorem_a D m block e g H theta mu L alpha c He (fun w => Rlt_le _ _ (Hc w))).
  fold Phi in T. cbv zeta in T. fold B' in T.
  assert (R : forall t, B' (theta t) /\ Phi (theta t) <= (1 - mu * alpha) ^ t * Phi (theta 0%nat)).
  { apply T; try easy.
    - split; [intros z Hz; now apply S1, BB|]. intros l eps Hl Hp. destruct (S2 l eps (BB l Hl) Hp) as [del [d0 Hdel]].
      exists del. split; [easy|]. intros z Hz. now apply Hdel, BB.
    - intros z w Hw Hz. now apply Hg, BB.
    - intros z Hz. now apply Hq, BB.
    - intros z w Hz. now apply HL, BB. }
  intros t. destruct (R t) as [R1 R2]. split; [|exact R2]. intros w Hw. specialize (BB _ R1 w Hw).
  rewrite (norm_ext D _ (vplus (block_part block w (theta 0%nat)) (vminus (block_part block w (theta t)) (block_part
    block w (theta 0%nat)))))
    by (intros; unfold vplus, vminus; ring).
  eapply Rle_trans; [apply norm_triangle|]. unfold distance in BB. unfold norm in *. lra.
Qed.

(** rt-theorem-f
    Covers: a part: for any F on a ball where the Jacobian is M-Lipschitz and its least singular value at distance u at least s₀ − ℓu; on the page: that with the readout W_U, or both readouts, a Transformer is such an F, with s₀ and ℓ in closed form.
    Reads: let s₀ > 0, 0 < δ < 1, ℓ > 0, rℓ = δs₀; on the ball of radius r let J be the Jacobian of F, M-Lipschitz, ‖J(z)ᵀw‖ ≥ (s₀ − ℓ‖z − θ⁽⁰⁾‖)‖w‖, ‖J₀v‖ ≤ j₀‖v‖, μ(j₀ + Mr)² ≤ 1, μMe₀ < 1 and e₀/(1 − μMe₀) < (δ − δ²/2)s₀²/ℓ. Then the path is shorter than r and ends where F = y, and Φ_{t+1} ≤ (1 − μα(1 − μMe_t/2))²Φ_t with α = (1 − δ)²s₀², Φ = e²/2.
    Mistake: `(delta - delta ^ 2 / 4) * s0 ^ 2 / ell` for `(delta - delta ^ 2 / 2) * s0 ^ 2 / ell`
    Mistake: `(s0 - ell / 2 * distance D (theta 0%nat) z)` for `(s0 - ell * distance D (theta 0%nat) z)`
*)
Theorem rt_theorem_f : forall n D F J y theta mu M r delta s0 ell j0,
  let e t := error n F y (theta t) in let Phi t := e t ^ 2 / 2 in
  let B z := distance D (theta 0%nat) z <= r in
  0 < mu -> 0 <= M -> 0 < s0 -> 0 < ell -> 0 < delta < 1 -> r * ell = delta * s0 ->
  jacobian_on n D F J B -> lipschitz_jacobian n D J M B ->
  (forall z w, B z -> (s0 - ell * distance D (theta 0%nat) z) * vnorm n w <= vnorm D (pullback n (J z) w)) ->
  (forall v, vnorm n (matvec D (J (theta 0%nat)) v) <= j0 * vnorm D v) -> 0 <= j0 -> mu * (j0 + M * r) ^ 2 <= 1 ->
  descends mu (least_squares n F J y) theta -> mu * M * e 0%nat < 1 ->
  e 0%nat / (1 - mu * M * e 0%nat) < (delta - delta ^ 2 / 2) * s0 ^ 2 / ell ->
  (forall t, path D theta t < r) /\
  (exists limit, B limit /\ converges D theta limit /\ (forall k, (k < n)%nat -> F limit k = y k)) /\
  (forall t, Phi (S t) <= (1 - mu * ((1 - delta) ^ 2 * s0 ^ 2) * (1 - mu * M * e t / 2)) ^ 2 * Phi t).
Proof.
  intros n D F J y theta mu M r delta s0 ell j0 e Phi B Hmu HM Hs0 Hl Hd Er HJ HL Hz Hj Hj0 Hmj Hde Hm He.
  assert (Er' : r = delta * s0 / ell) by (rewrite <- Er; field; lra).
  assert (Hr : 0 < r) by (rewrite Er'; apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra|easy]).
  set (s := fun u => s0 - ell * u). assert (e00 : 0 <= e 0%nat) by apply norm_ge0.
  assert (low : forall u, 0 <= u <= r -> (1 - delta) * s0 <= s u).
  { intros u Hu. unfold s. assert (ell * u <= ell * r) by (apply Rmult_le_compat_l; lra). lra. }
  assert (d0 : 0 < (1 - delta) * s0) by (apply Rmult_lt_0_compat; lra).
  assert (fall : falling s r).
  { intros u v Hu Huv Hv. unfold s. assert (ell * u <= ell * v) by (apply Rmult_le_compat_l; lra). lra. }
  assert (pos : forall u, 0 <= u <= r -> 0 < s u) by (intros u Hu; specialize (low u Hu); lra).
  assert (I : RInt s 0 r = (delta - delta ^ 2 / 2) * s0 ^ 2 / ell).
  { rewrite (linear_area s s0 ell r r); [match goal with |- ?a = ?b => change (@eq R a b) end; rewrite Er'; field;
    lra|intros; reflexivity|lra]. }
  destruct (rt_theorem_c n D F J y theta mu M r s) as [T _]; try easy; try lra.
  - intros z w HB. rewrite <- !norm_sq, <- Rpow_mult_distr. apply pow_incr. split; [|now apply Hz].
    apply Rmult_le_pos; [left; apply pos; split; [apply norm_ge0|easy]|apply norm_ge0].
  - intros t v HB. assert (L := jacobian_bound n D J M _ r j0 (theta t) v HM ltac:(lra) HL Hj HB).
    rewrite <- !norm_sq. assert (vnorm n (matvec D (J (theta t)) v) ^ 2 <= ((j0 + M * r) * vnorm D v) ^ 2)
      by (apply pow_incr; split; [apply norm_ge0|easy]).
    apply (Rle_trans _ (mu * ((j0 + M * r) * vnorm D v) ^ 2)); [apply Rmult_le_compat_l; lra|].
    replace (mu * ((j0 + M * r) * vnorm D v) ^ 2) with (mu * (j0 + M * r) ^ 2 * vnorm D v ^ 2) by ring.
    rewrite <- (Rmult_1_l (vnorm D v ^ 2)) at 2. apply Rmult_le_compat_r; [apply pow2_ge_0|easy].
  - specialize (T Hm). rewrite I in T. destruct (T He) as [_ [P [R [lim [L1 [L2 L3]]]]]].
    assert (q0 : 0 < 1 - mu * M * e 0%nat) by lra.
    split; [|split; [now exists lim|]].
    + intros t. destruct (P t) as [[Q|Q] Q2]; [easy|]. exfalso. rewrite Q, I in Q2. assert (0 <= e t) by apply norm_ge0.
      assert (/ (1 - mu * M * e 0%nat) * (e 0%nat - e t) <= / (1 - mu * M * e 0%nat) * e 0%nat)
        by (apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|lra]). unfold Rdiv in He at 1. unfold e in *.
        lra.
    + intros t. unfold Phi. assert (R1 := R t). fold (e t) (e (S t)) in R1. assert (e0 : 0 <= e t) by apply norm_ge0.
      assert (et : mu * M * e t <= mu * M * e 0%nat).
      { apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|]. destruct (P t) as [P1 P2].
        apply (c_falls n D F y theta r (/ (1 - mu * M * e 0%nat)) s); try easy. now apply Rinv_0_lt_compat. }
      set (a := (1 - delta) ^ 2 * s0 ^ 2). set (m := 1 - mu * M * e t / 2) in *.
      assert (K : e (S t) <= (1 - mu * a * m) * e t).
      { eapply Rle_trans; [apply R1|]. apply Rmult_le_compat_r; [easy|].
        assert (a <= s (path D theta t) ^ 2).
        { unfold a. rewrite <- Rpow_mult_distr. apply pow_incr. split; [lra|]. apply low.
          split; [apply path_ge0|apply P]. }
        assert (mu * a * m <= mu * s (path D theta t) ^ 2 * m); [|lra].
        apply Rmult_le_compat_r; [unfold m; lra|]. apply Rmult_le_compat_l; lra. }
      assert (e (S t) ^ 2 <= ((1 - mu * a * m) * e t) ^ 2) by (apply pow_incr; split; [apply norm_ge0|easy]). lra.
Qed.
