(** The largest eigenvalue of a Gram matrix: at most the trace, attained by eigenvectors only. *)
Require Import Reals Lra Lia.
From Shallow Require Import base.sums base.vectors base.squared_loss.
Open Scope R_scope.

(** λ_max ≤ tr G, with equality iff all gradients are parallel: ‖∇f_j − v_j u‖² summed is the gap. *)
Lemma trace_gap p n D x lam : largest_eigenvalue n (gram p D x) lam ->
  lam <= Sum n (fun j => gram p D x j j) /\
  (lam = Sum n (fun j => gram p D x j j) <-> exists u a, forall j i, (j < n)%nat -> (i < p)%nat -> D j x i = a j * u i).
Proof.
  intros [(v & Hv & E) R]. set (u := fun i => Sum n (fun j => v j * D j x i)).
  assert (Vp : 0 < sq n v) by (assert (0 <= sq n v) by apply sq_ge0; lra).
  assert (Q : sq p u = lam * sq n v).
  { unfold u. rewrite <- (quadratic_gram p n D x v). unfold quadratic, sq. rewrite <- Sum_scal. apply Sum_ext.
    intros j Hj. rewrite E by easy. ring. }
  set (c := / sq n v).
  assert (I : Sum n (fun j => sq p (vminus (D j x) (vscal (c * v j) u))) = Sum n (fun j => gram p D x j j) - lam).
  { rewrite (Sum_ext n _ (fun j => gram p D x j j - 2 * c * (v j * dot p u (D j x)) + c ^ 2 * lam * sq n v * v j ^ 2)).
    - rewrite Sum_plus, Sum_minus, !Sum_scal. fold (sq n v).
      assert (W : Sum n (fun j => v j * dot p u (D j x)) = lam * sq n v).
      { rewrite <- Q. unfold dot, sq. rewrite (Sum_ext n _ (fun j => Sum p (fun i => u i * (v j * D j x i)))).
        - rewrite Sum_swap. apply Sum_ext. intros i _. rewrite Sum_scal. fold (u i). ring.
        - intros j _. rewrite <- Sum_scal. apply Sum_ext. intros; ring. }
      rewrite W. unfold c. field. lra.
    - intros j _. rewrite sq_minus, sq_scal, dot_scal_r, (dot_sym p (D j x)), Q, sq_dot. unfold gram. ring. }
  assert (P : 0 <= Sum n (fun j => sq p (vminus (D j x) (vscal (c * v j) u)))) by (apply Sum_ge0; intros; apply sq_ge0).
  split; [lra|]. split.
  - intros Z. exists u, (fun j => c * v j). intros j i Hj Hi.
    assert (T := Sum_term n (fun j => sq p (vminus (D j x) (vscal (c * v j) u))) j Hj (fun k _ => sq_ge0 p _)).
    cbv beta in T.
    assert (S := sq_ge0 p (vminus (D j x) (vscal (c * v j) u))).
    assert (S1 : sq p (vminus (D j x) (vscal (c * v j) u)) = 0) by lra.
    assert (S0 := sq_zero p _ S1 i Hi). unfold vminus, vscal in S0. lra.
  - intros (w & a & H). apply Rle_antisym; [lra|].
    assert (TR : Sum n (fun j => gram p D x j j) = sq n a * sq p w).
    { rewrite Rmult_comm. unfold sq at 2. rewrite <- Sum_scal. apply Sum_ext. intros j Hj. unfold gram, dot, sq.
      rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros i Hi. rewrite (H j i Hj Hi). ring. }
    rewrite TR. destruct (Req_dec (sq n a) 0) as [Z|Z].
    + rewrite Z, Rmult_0_l. assert (0 <= lam * sq n v) by (rewrite <- Q; apply sq_ge0).
      apply Rmult_le_reg_r with (sq n v); lra.
    + assert (Ap : 0 < sq n a) by (assert (0 <= sq n a) by apply sq_ge0; lra).
      apply Rmult_le_reg_r with (sq n a); [easy|].
      eapply Rle_trans; [|apply (R a)]. rewrite quadratic_gram.
      rewrite (sq_ext p (fun i => Sum n (fun j => a j * D j x i)) (vscal (sq n a) w)), sq_scal; [lra|].
      intros i Hi. unfold vscal, sq.
      rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros j Hj. rewrite (H j i Hj Hi). ring.
Qed.

Lemma matvec_plus n G r w t j : matvec n G (vplus r (vscal t w)) j = matvec n G r j + t * matvec n G w j.
Proof. unfold matvec. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext. intros; unfold vplus, vscal; ring. Qed.

(** Where the Rayleigh quotient is largest, the vector is an eigenvector. *)
Lemma top_vector p n D x lam r : largest_eigenvalue n (gram p D x) lam ->
  quadratic n (gram p D x) r = lam * sq n r -> forall j, (j < n)%nat -> matvec n (gram p D x) r j = lam * r j.
Proof.
  intros [_ R] E. set (G := gram p D x) in *. set (w := fun j => matvec n G r j - lam * r j).
  assert (Sy : dot n r (matvec n G w) = dot n (matvec n G r) w).
  { unfold dot, matvec. rewrite (Sum_ext n _ (fun i => Sum n (fun j => r i * G i j * w j)))
      by (intros; rewrite <- Sum_scal; apply Sum_ext; intros; ring).
    rewrite Sum_swap. apply Sum_ext. intros j _. rewrite (Rmult_comm (Sum n _)), <- Sum_scal. apply Sum_ext. intros i _.
    unfold G, gram. rewrite (dot_sym p (D i x)). ring. }
  assert (I : forall t, 2 * t * sq n w + t ^ 2 * (quadratic n G w - lam * sq n w) <= 0).
  { intros t. specialize (R (vplus r (vscal t w))). rewrite sq_plus, dot_scal_r, sq_scal in R.
    assert (X : quadratic n G (vplus r (vscal t w)) =
      quadratic n G r + 2 * t * dot n (matvec n G r) w + t ^ 2 * quadratic n G w).
    { unfold quadratic. rewrite (Sum_ext n (fun j => vplus r (vscal t w) j * matvec n G (vplus r (vscal t w)) j)
        (fun j => r j * matvec n G r j + (t * (matvec n G r j * w j) + (t * (r j * matvec n G w j)
          + t ^ 2 * (w j * matvec n G w j))))) by (intros; rewrite matvec_plus; unfold vplus, vscal; ring).
      rewrite !Sum_plus, !Sum_scal. fold (dot n (matvec n G r) w). fold (dot n r (matvec n G w)). rewrite Sy. ring. }
    rewrite X, E in R.
    assert (Y : sq n w = dot n (matvec n G r) w - lam * dot n r w).
    { rewrite sq_dot. change w with (vminus (matvec n G r) (vscal lam r)) at 1. now rewrite dot_minus_l, dot_scal_l. }
    apply (f_equal (Rmult t)) in Y. lra. }
  assert (W : sq n w = 0).
  { set (b := quadratic n G w - lam * sq n w) in *. assert (S := sq_ge0 n w).
    destruct (Req_dec (sq n w) 0); [easy|exfalso].
    set (t := sq n w / (1 + Rabs b)). assert (Hb := Rabs_pos b). assert (Ht : 0 < t) by (apply Rdiv_lt_0_compat; lra).
    assert (Q := I t). assert (U : t * (1 + Rabs b) = sq n w) by (unfold t; field; lra).
    assert (t * Rabs b <= sq n w) by lra. assert (- Rabs b <= b) by (assert (Z := Rle_abs (- b));
      rewrite Rabs_Ropp in Z; lra).
    assert (t * (t * - b) <= t * sq n w).
    { apply Rmult_le_compat_l; [lra|]. apply Rle_trans with (t * Rabs b); [apply Rmult_le_compat_l; lra|easy]. }
    assert (0 < t * sq n w) by (apply Rmult_lt_0_compat; lra). lra. }
  intros j Hj. assert (Z := sq_zero n w W j Hj). unfold w in Z. lra.
Qed.

Lemma largest_ge0 p n D x lam : largest_eigenvalue n (gram p D x) lam -> 0 <= lam.
Proof.
  intros [(v & Hv & E) R]. apply Rmult_le_reg_r with (sq n v); [assert (0 <= sq n v) by apply sq_ge0; lra|].
  rewrite Rmult_0_l. replace (lam * sq n v) with (quadratic n (gram p D x) v); [rewrite quadratic_gram; apply sq_ge0|].
  unfold quadratic, sq. rewrite <- Sum_scal. apply Sum_ext. intros j Hj. rewrite E by easy. ring.
Qed.
