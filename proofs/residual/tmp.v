(** Why it converges: an error pays for the path. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.lines base.falling base.runs base.least_squares base.readout
  base.paid_path.
Open Scope R_scope.

From Shallow Require Import residual.convergence.

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
  assert (area : forall c, 0 < c -> (forall T, (t <= T)%nat -> c * (RInt s 0 (U (S T)) - RInt s 0 (U T)) <= e T - e (S T)) ->
    distance D l (theta t) <= e t / (c * q)).
  { intros c c0 H. apply A4. intros T HT.
    assert (S1 : c * (q * (U T - U t)) <= e t - e T).
    { induction HT as [|T HT IH]; [lra|]. assert (Um : U T <= U (S T)) by (apply path_mono; lia).
      specialize (H T HT). assert (F1 : ex_RInt s 0 (U (S T))).
      { apply falling_integrable; [apply path_ge0|]. intros u v ? ? ?. specialize (HU (S T)). apply Hf; unfold U in *; lra. }
      assert (P0 : 0 <= U T) by apply path_ge0. assert (Ur : U (S T) <= r) by apply HU.
      assert (F0 : ex_RInt s 0 (U T)) by (apply (ex_RInt_Chasles_1 (V := R_CompleteNormedModule) s 0 (U T) (U (S T))); [lra|easy]).
      assert (F2 : ex_RInt s (U T) (U (S T))) by (apply (ex_RInt_Chasles_2 (V := R_CompleteNormedModule) s 0); [lra|easy]).
      assert (E := RInt_Chasles (V := R_CompleteNormedModule) s 0 (U T) (U (S T)) F0 F2). unfold plus in E; simpl in E.
      assert (L : RInt (fun _ => q) (U T) (U (S T)) <= RInt s (U T) (U (S T))).
      { apply RInt_le; [easy|apply ex_RInt_const|easy|]. intros x Hx. apply Hqs. lra. }
      rewrite RInt_const in L. unfold scal in L; simpl in L; unfold mult in L; simpl in L.
      assert (c * (q * (U (S T) - U T)) <= c * (RInt s 0 (U (S T)) - RInt s 0 (U T))) by (apply Rmult_le_compat_l; lra). lra. }
    assert (0 <= e T) by apply norm_ge0. apply Rle_div_r; [now apply Rmult_lt_0_compat|]. lra. }
  assert (step : forall T, U (S T) = U T + mu * vnorm D (least_squares n F J y (theta T))) by
    (intros T; apply path_step; [lra|easy]).
  assert (err : forall T, e (S T) = error n F y (part (least_squares n F J y) (theta T) mu)) by
    (intros T; unfold e; now rewrite (Hd T)).
  split; [|split].
  - assert (V := mean_value n D F J C B l (vminus (theta t) l) C0 HJ). rewrite along_to in V.
    unfold e, error. rewrite (norm_ext n _ (vminus (F (theta t)) (F l))).
    + apply V; [|easy]. intros x Hx. apply ball_convex; [easy|easy|]. apply (Rle_trans _ (U t)); [apply from_start|apply HU].
    + intros k Hk. unfold errors, vminus. now rewrite A3.
  - apply area; [lra|]. intros T HT. rewrite err, step.
    assert (eT : e T <= e t) by (clear -down HT; induction HT; [lra|]; destruct (down m); lra).
    assert (mu * M * e T <= mu * M * e t) by now apply Rmult_le_compat_l.
    eapply Rle_trans; [|apply (c_pay n D F J y theta mu M r s); try easy; [lra|fold (U T); rewrite <- step; apply HU|fold (e T); lra]].
    apply Rmult_le_compat_r; [|fold (e T); lra]. fold (U T). rewrite <- step.
    assert (G := RInt_grows s r (U T) (U (S T)) Hf Hs (path_ge0 D theta T) ltac:(apply path_mono; lia) (HU (S T))). lra.
  - intros [s0 E]. rewrite <- (Rmult_1_l q). apply area; [lra|]. intros T _. rewrite err, step, Rmult_1_l.
    apply (c_pay_linear n D F J y theta mu M r s) with (s0 := s0); try easy; [lra|]. fold (U T). rewrite <- step. apply HU.
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
    assert (M * u * vnorm n (errors F y z) <= M * u * (e0 + C * r)) by (apply Rmult_le_compat_l; [now apply Rmult_le_pos|exact Ez]).
    lra.
  - intros i _. unfold least_squares, vplus, vminus, pullback, matvec, transpose, errors, vminus.
    rewrite <- !Sum_minus, <- Sum_plus. apply Sum_ext; intros; ring.
Qed.

(** rt-corollary-a
    Covers: a part: for any F whose Jacobian is M-Lipschitz on the ball of radius R; on the page: the Transformer's M₂(R) in closed form.
    Reads: on the ball of radius R around c let J be the Jacobian of F, M-Lipschitz, ‖J(c)v‖ ≤ j₀‖v‖. At a point z inside the ball (nearer than R) where e(z) ≤ e(c), if s ↦ J(z + s v)v has the derivative b at 0, then s ↦ ½‖F(z + s v) − y‖² has, at s near 0, the derivative ⟨F − y, Jv⟩ and this the derivative ⟨v, ∇²Φ v⟩ = ‖J(z)v‖² + ⟨F(z) − y, b⟩ at 0, which is at most ((j₀ + MR)² + e(c)M)‖v‖² in size.
    Mistake: `(j0 + M * R) ^ 2 * sq D v` for `((j0 + M * R) ^ 2 + error n F y c * M) * sq D v`
    Mistake: `(j0 ^ 2 + error n F y c * M) * sq D v` for `((j0 + M * R) ^ 2 + error n F y c * M) * sq D v`
*)
Theorem rt_corollary_a : forall n D F J y c M R j0 z v b,
  let B z := distance D c z <= R in
  let slope x := dot n (errors F y (along z v x)) (matvec D (J (along z v x)) v) in
  let curvature := sq n (matvec D (J z) v) + dot n (errors F y z) b in
  0 <= M -> 0 <= j0 -> jacobian_on n D F J B -> lipschitz_jacobian n D J M B ->
  (forall v, vnorm n (matvec D (J c) v) <= j0 * vnorm D v) ->
  distance D c z < R -> error n F y z <= error n F y c ->
  (forall k, (k < n)%nat -> is_derive (fun x => matvec D (J (along z v x)) v k) 0 (b k)) ->
  (forall x, B (along z v x) -> is_derive (fun x => sq n (errors F y (along z v x)) / 2) x (slope x)) /\
  is_derive slope 0 curvature /\
  Rabs curvature <= ((j0 + M * R) ^ 2 + error n F y c * M) * sq D v.
Proof.
  intros n D F J y c M R j0 z v b B slope curvature M0 j00 HJ HL Hj Hz He Hb.
  assert (Bz : B z) by (unfold B; lra). assert (R0 : 0 <= R) by (assert (0 <= distance D c z) by apply norm_ge0; lra).
  assert (dF : forall x k, (k < n)%nat -> B (along z v x) ->
    is_derive (fun x => errors F y (along z v x) k) x (matvec D (J (along z v x)) v k)).
  { intros x k Hk HB. unfold errors, vminus.
    replace (matvec D (J (along z v x)) v k) with (dot D (J (along z v x) k) v - 0) by (unfold dot, matvec; ring).
    apply (is_derive_minus (fun x => F (along z v x) k) (fun _ => y k)); [|apply (is_derive_const (y k))].
    apply (gradient_along D (fun z => F z k)). now apply HJ. }
  split; [|split].
  - intros x HB. unfold slope, dot, sq.
    apply (is_derive_ext (fun x => Sum n (fun k => errors F y (along z v x) k ^ 2 / 2))).
    { intros t. unfold Rdiv. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring. }
    apply Sum_derive; intros k Hk. assert (K := dF x k Hk HB). auto_derive; [now exists (matvec D (J (along z v x)) v k)|].
    rewrite (is_derive_unique _ _ _ K). field.
  - unfold slope, curvature. rewrite (sq_dot n (matvec D (J z) v)).
    assert (E : dot n (matvec D (J z) v) (matvec D (J z) v) + dot n (errors F y z) b =
      Sum n (fun k => matvec D (J z) v k * matvec D (J z) v k + errors F y z k * b k)) by (rewrite Sum_plus; easy).
    rewrite E. apply Sum_derive; intros k Hk. assert (K := dF 0 k Hk). rewrite along_0 in K.
    assert (L := Hb k Hk). assert (Q := is_derive_mult (fun x => errors F y (along z v x) k)
      (fun x => matvec D (J (along z v x)) v k) 0 _ _ (K Bz) L Rmult_comm). rewrite along_0 in Q. exact Q.
  - assert (P := norm_ge0 D v). assert (Jz := jacobian_bound n D J M c R j0 z v M0 R0 HL Hj Bz).
    assert (Nb : vnorm n b <= M * sq D v).
    { admit. }
    admit.
Admitted.
