(** From a random start: a step pays for its path, and the linear run. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.lines base.runs base.least_squares base.readout base.paid_path.
Open Scope R_scope.

(** 𝒦 E = J Jᵀ E for a matrix J of n rows and D columns *)
Definition kernel (n D : nat) (J : matrix) (E : vector) : vector := matvec D J (pullback n J E).

Lemma kernel_dot n D J E G : dot n E (kernel n D J G) = dot D (pullback n J E) (pullback n J G).
Proof. apply adjoint. Qed.

(** rt-lemma-w-path
    Covers: the whole statement.
    Reads: let 𝒦 = JJᵀ, m ≥ 0, μ > 0. If m‖E‖² ≤ ‖JᵀE‖² and μ‖JᵀE‖² ≤ ‖E‖² for all E ∈ ℝⁿ, then ‖E − μ𝒦E‖ + μ√m ‖JᵀE‖ ≤ ‖E‖ for all E, with equality where 𝒦E = mE. And whatever 𝒦, if m > 0 and Λ are eigenvalues of it with μΛ > 1 > μm, then the left side is larger than ‖E‖ for some E.
    Mistake: `+ 2 * mu * sqrt m * vnorm D` for `+ mu * sqrt m * vnorm D`
    Mistake: without `1 < mu * Lam ->`
*)
Theorem rt_lemma_w_path : forall n D J mu m, 0 < mu -> 0 <= m ->
  let path E := vnorm n (vminus E (vscal mu (kernel n D J E))) + mu * sqrt m * vnorm D (pullback n J E) in
  ((forall E, m * sq n E <= sq D (pullback n J E)) -> (forall E, mu * sq D (pullback n J E) <= sq n E) ->
    forall E, path E <= vnorm n E /\
      ((forall i, (i < n)%nat -> kernel n D J E i = m * E i) -> path E = vnorm n E)) /\
  (forall Lam v w, 0 < m -> mu * m < 1 -> 1 < mu * Lam -> 0 < sq n v -> 0 < sq n w ->
    (forall i, (i < n)%nat -> kernel n D J v i = m * v i) -> (forall i, (i < n)%nat -> kernel n D J w i = Lam * w i) ->
    exists E, vnorm n E < path E).
Proof.
  intros n D J mu m Hmu Hm path. assert (Sm : sqrt m ^ 2 = m) by now apply pow2_sqrt. split.
  - intros H1 H2 E. set (e := vnorm n E). set (G := vnorm D (pullback n J E)).
    set (l := vnorm n (vminus E (vscal mu (kernel n D J E)))).
    assert (X : l ^ 2 <= (1 - mu * sqrt m ^ 2) * (e ^ 2 - mu * G ^ 2)).
    { unfold l, e, G. rewrite !norm_sq, Sm. apply contraction; [lra|easy|easy]. }
    assert (Y : mu * G ^ 2 <= e ^ 2) by (unfold e, G; rewrite !norm_sq; apply H2).
    assert (Z : mu * (sqrt m ^ 2 * e ^ 2) <= mu * G ^ 2).
    { rewrite Sm. apply Rmult_le_compat_l; [lra|]. unfold e, G. rewrite !norm_sq. apply H1. }
    destruct (pays e l G mu (sqrt m) ltac:(lra) (sqrt_pos m) (norm_ge0 _ _) (norm_ge0 _ _) (norm_ge0 _ _) X Y Z) as [P _].
    split; [unfold path; fold l G; lra|]. intros HE. unfold path. fold l G.
    assert (G2 : G = sqrt m * e).
    { assert (G ^ 2 = (sqrt m * e) ^ 2).
      { rewrite Rpow_mult_distr, Sm. unfold G, e. rewrite !norm_sq, (sq_dot D), <- kernel_dot, (sq_dot n).
        unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros i Hi. rewrite HE by easy. ring. }
      assert (0 <= sqrt m * e) by (apply Rmult_le_pos; [apply sqrt_pos|apply norm_ge0]). assert (0 <= G) by apply norm_ge0.
      apply Rsqr_inj; try easy. now rewrite !Rsqr_pow2. }
    destruct (Req_dec e 0) as [Z0|Z0].
    + rewrite G2, Z0, !Rmult_0_r, Rplus_0_r. unfold l, e in *. apply Rle_antisym; [|apply norm_ge0].
      rewrite Z0, G2 in X. simpl in X. assert (0 <= vnorm n (vminus E (vscal mu (kernel n D J E)))) by apply norm_ge0. nra.
    + assert (e0 : 0 < e) by (assert (0 <= e) by apply norm_ge0; lra).
      assert (M1 : mu * m <= 1).
      { apply (Rmult_le_reg_r (e ^ 2)); [now apply pow_lt|]. rewrite Sm in Z. lra. }
      assert (L : l = (1 - mu * m) * e).
      { unfold l, e. rewrite (norm_ext n _ (vscal (1 - mu * m) E)).
        - rewrite norm_scal, Rabs_right by lra. easy.
        - intros i Hi. unfold vminus, vscal. rewrite HE by easy. ring. }
      rewrite L, G2. replace ((1 - mu * m) * e + mu * sqrt m * (sqrt m * e)) with (e - mu * m * e + mu * sqrt m ^ 2 * e) by ring.
      rewrite Sm. ring.
  - intros Lam v w m0 X1 Y1 Hv Hw Ev Ew. set (X := mu * m) in *. set (Y := mu * Lam) in *.
    assert (X0 : 0 < X) by (apply Rmult_lt_0_compat; lra).
    set (c := (Y - 1) / (Y + 2)). assert (Ec : c * (Y + 2) = Y - 1) by (unfold c; field; lra).
    assert (c0 : 0 < c) by (apply Rdiv_lt_0_compat; lra). assert (c1 : c < 1) by nra.
    set (p := c * X * (2 + c) / (Y - X)). assert (Ep : p * (Y - X) = c * X * (2 + c)) by (unfold p; field; lra).
    assert (p0 : 0 <= p) by (apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rmult_le_pos|]; lra|left; apply Rinv_0_lt_compat; lra]).
    assert (p1 : p <= 1).
    { apply Rle_div_l; [lra|]. assert (X * (2 + c) <= 1 * (2 + c)) by (apply Rmult_le_compat_r; lra).
      assert (c * (X * (2 + c)) <= c * 3) by (apply Rmult_le_compat_l; lra). assert (c * 3 <= c * (Y + 2)) by (apply Rmult_le_compat_l; lra). lra. }
    set (x := sqrt ((1 - p) / sq n v)). set (z := sqrt (p / sq n w)).
    assert (Ex : x ^ 2 * sq n v = 1 - p).
    { unfold x. rewrite pow2_sqrt by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]). field. lra. }
    assert (Ez : z ^ 2 * sq n w = p).
    { unfold z. rewrite pow2_sqrt by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]). field. lra. }
    assert (orth : dot n v w = 0).
    { assert (A : dot n v (kernel n D J w) = Lam * dot n v w).
      { unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros i Hi. rewrite Ew by easy. ring. }
      assert (B : dot n w (kernel n D J v) = m * dot n v w).
      { unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros i Hi. rewrite Ev by easy. ring. }
      rewrite kernel_dot in A, B. rewrite dot_sym in B. assert ((Lam - m) * dot n v w = 0) by lra.
      apply Rmult_integral in H. destruct H; [|easy]. exfalso. assert (mu * m < mu * Lam) by (unfold X, Y in *; lra).
      assert (m < Lam) by (apply (Rmult_lt_reg_l mu); lra). lra. }
    set (E := vplus (vscal x v) (vscal z w)).
    assert (nrm : forall a b, sq n (vplus (vscal (a * x) v) (vscal (b * z) w)) = a ^ 2 * (1 - p) + b ^ 2 * p).
    { intros a b. rewrite sq_plus, !sq_scal, dot_scal_l, dot_scal_r, orth, <- Ex, <- Ez. ring. }
    assert (KE : forall i, (i < n)%nat -> kernel n D J E i = vplus (vscal (m * x) v) (vscal (Lam * z) w) i).
    { intros i Hi. unfold kernel, E, pullback. rewrite !matvec_plus, !matvec_scal. unfold vplus, vscal.
      change (matvec D J (matvec n (transpose J) v) i) with (kernel n D J v i).
      change (matvec D J (matvec n (transpose J) w) i) with (kernel n D J w i). rewrite Ev, Ew by easy. ring. }
    exists E. unfold path.
    assert (N1 : vnorm n E = 1).
    { unfold vnorm. rewrite (sq_ext n E (vplus (vscal (1 * x) v) (vscal (1 * z) w))), nrm by
        (intros; unfold E, vplus, vscal; ring). transitivity (sqrt 1); [f_equal; ring|apply sqrt_1]. }
    assert (N2 : mu * sqrt m * vnorm D (pullback n J E) = X * (1 + c)).
    { assert (Q : sq D (pullback n J E) = (1 - p) * m + p * Lam).
      { rewrite sq_dot, <- kernel_dot, (dot_ext n E _ E (vplus (vscal (m * x) v) (vscal (Lam * z) w))) by easy.
        unfold E. rewrite dot_plus_l, !dot_plus_r, !dot_scal_l, !dot_scal_r, orth, (dot_sym n w v), orth, <- !sq_dot.
        transitivity (m * (x ^ 2 * sq n v) + Lam * (z ^ 2 * sq n w)); [ring|]. rewrite Ex, Ez. ring. }
      apply Rsqr_inj; [apply Rmult_le_pos; [apply Rmult_le_pos; [lra|apply sqrt_pos]|apply norm_ge0]|apply Rmult_le_pos; lra|].
      rewrite !Rsqr_pow2, !Rpow_mult_distr, Sm, norm_sq, Q.
      replace (mu ^ 2 * m * ((1 - p) * m + p * Lam)) with (X ^ 2 + X * (p * (Y - X))) by (unfold X, Y; ring).
      rewrite Ep. ring. }
    rewrite N1, N2.
    assert (N3 : 1 - X * (1 + c) < vnorm n (vminus E (vscal mu (kernel n D J E)))).
    { unfold vnorm. rewrite (sq_ext n _ (vplus (vscal ((1 - X) * x) v) (vscal ((1 - Y) * z) w))) by
        (intros i Hi; unfold vminus; unfold vscal at 1; rewrite KE by easy; unfold E, vplus, vscal, X, Y; ring).
      rewrite nrm. eapply Rle_lt_trans; [apply Rle_abs|]. rewrite <- sqrt_Rsqr_abs. apply sqrt_lt_1_alt. split; [apply Rle_0_sqr|].
      rewrite Rsqr_pow2. replace ((1 - X) ^ 2 * (1 - p) + (1 - Y) ^ 2 * p) with ((1 - X) ^ 2 + p * (Y - X) * (Y - 2 + X)) by ring.
      rewrite Ep. assert (0 < c * X * (2 * (Y - 1) + c * (Y - 2))); [|lra].
      apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra|]. nra. }
    lra.
Qed.
