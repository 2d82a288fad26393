(** Why it converges: an error pays for the path. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.matrices base.gradient base.descent base.readout.
Open Scope R_scope.

(** rt-lemma-1
    Covers: the whole statement.
    Reads: let f have the gradient ∇f(z), a derivative in every direction, at all z = x + s(x′ − x), 0 ≤ s ≤ 1, with ‖∇f(z) − ∇f(x)‖ ≤ C‖z − x‖ there. Then f(x′) ≤ f(x) + ⟨∇f(x), x′ − x⟩ + (C/2)‖x′ − x‖². (∇f need not be continuous.)
    Mistake: `C / 4 * sq d` for `C / 2 * sq d`
    Mistake: `f x' <= f x - dot d` for `f x' <= f x + dot d`
*)
Theorem rt_lemma_1 : forall d f g C x x',
  (forall s, 0 <= s <= 1 -> let z := along x (vminus x' x) s in gradient d f z (g z)) ->
  (forall s, 0 <= s <= 1 -> let z := along x (vminus x' x) s in vnorm d (vminus (g z) (g x)) <= C * distance d x z) ->
  f x' <= f x + dot d (g x) (vminus x' x) + C / 2 * sq d (vminus x' x).
Proof.
  intros d f g C x x' Hg HC. cbv zeta in *. set (v := vminus x' x) in *.
  assert (K := grows_quadratically (fun s => f (along x v s)) (fun s => dot d (g (along x v s)) v) (C * sq d v) 1
    ltac:(lra)).
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
    gradient d f z (g z) /\ jacobian_is d d g z (H z) /\
    forall w, dot d w (matvec d (H z) w) <= C * sq d w) ->
  f x' <= f x + dot d (g x) (vminus x' x) + C / 2 * sq d (vminus x' x).
Proof.
  intros d f g H C x x' Hz. cbv zeta in *. set (v := vminus x' x) in *.
  assert (K := grows_quadratically (fun s => f (along x v s)) (fun s => dot d v (g (along x v s))) (C * sq d v) 1
    ltac:(lra)).
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

(** rt-lemma-i
    Covers: the whole statement, the gradient as the derivative along every line.
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
      * intros V s i j. unfold F, matmul, shifted, mplus, mscal. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext;
        intros; ring.
      * intros V. rewrite fdot_sym, fdot_left. apply fdot_sym.
    + unfold square_loss, G. assert (B := left_bound n d K H (sH ^ 2) (mminus (F WU) Y) LH). lra.
  - intros HK. exists (mminus (F WU) (outer u (fun _ => 1))). unfold square_loss, G.
    set (E := mminus (F WU) (mminus (F WU) (outer u (fun _ => 1)))).
    assert (EE : forall i j, E i j = outer u (fun _ => 1) i j) by (intros; unfold E, mminus; ring).
    rewrite (frob2_ext n K E (outer u (fun _ => 1))), frob2_outer by (intros ? ? _ _; apply EE).
    rewrite (frob2_ext d K _ (outer (pullback n H u) (fun _ => 1))).
    + rewrite frob2_outer, Eu. assert (0 < sq K (fun _ => 1)) by (apply Sum_gt0; [easy|intros; lra]).
      assert (0 < sq n u * sq K (fun _ => 1)) by now apply Rmult_lt_0_compat. split; lra.
    + intros l j _ _. rewrite <- outer_left. unfold matmul. apply Sum_ext; intros. now rewrite EE.
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
    Covers: a part: for any Φ = e²/2, e ≥ 0, with ‖∇Φ‖² ≥ 2αΦ on the ball; on the page: that for a Transformer this holds on the page's ball, with α = σ_A²σ_U²/16 < L, that both singular values stay above their halves, and the last sentence, by 1/μ in the place of L.
    Reads: let Φ = e²/2 with e ≥ 0 everywhere; on the ball of radius r around θ⁽⁰⁾ let Φ be continuous with the gradient ∇Φ and the Hessian ∇²Φ, ‖∇Φ‖² ≥ 2αΦ there, and ⟨w, ∇²Φ w⟩ ≤ L‖w‖² where Φ ≤ Φ₀, 0 < α < L; let 0 < μ, ν = μL < 2, Γ = (1 − (2 − ν)μα)^½ and r = (1 + Γ)/(2 − ν) · e₀/√α. Then every step's segment stays in the ball, Φ_t ≤ (1 − (2 − ν)μα)ᵗΦ₀, and the iterates converge to a θ* in the ball with Φ = 0 and ‖θ⁽ᵗ⁾ − θ*‖ ≤ (1 + Γ)/(2 − ν) · e_t/√α.
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
