(** The Jacobian 𝒥(s) of softmax as a covariance, its bounds, and softmax along segments of logits. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.singular base.six_blocks.
Open Scope R_scope.

(** 𝒥(s) = diag s − ssᵀ, the Jacobian of softmax *)
Definition jacobian (s : vector) : matrix := fun i j => s i * (identity i j - s j).

(** max f over n indices of a non-negative f (0 if there are none) *)
Fixpoint largest (n : nat) (f : nat -> R) : R := match n with O => 0 | S k => Rmax (largest k f) (f k) end.

Lemma largest_ge n f i : (i < n)%nat -> f i <= largest n f.
Proof.
  induction n; intros H; [lia|]. simpl. destruct (Nat.eq_dec i n) as [->|]; [apply Rmax_r|].
  eapply Rle_trans; [apply IHn; lia|apply Rmax_l].
Qed.

Lemma largest_ge0 n f : 0 <= largest n f.
Proof. induction n; simpl; [lra|]. eapply Rle_trans; [exact IHn|apply Rmax_l]. Qed.

Lemma largest_le n f c : 0 <= c -> (forall i, (i < n)%nat -> f i <= c) -> largest n f <= c.
Proof. intros Hc. induction n; intros H; simpl; [easy|].
  apply Rmax_lub; [apply IHn; intros; apply H; lia|apply H; lia]. Qed.

(** Var_s(v) = E v² − (E v)² *)
Definition Var (N : nat) (s v : vector) : R := E N s (fun t => v t ^ 2) - E N s v ^ 2.

Lemma jacobian_apply N s v i : distribution N s -> (i < N)%nat -> matvec N (jacobian s) v i = s i * (v i - E N s v).
Proof.
  intros [_ H] Hi. unfold matvec, jacobian. rewrite (Sum_ext N _ (fun j => s i * (identity i j * v j) - s i * (s j * v
    j))) by (intros; ring).
  rewrite Sum_minus, !Sum_scal, identity_sum by easy. unfold E. ring.
Qed.

(** ⟨u, 𝒥v⟩ is the covariance of u and v *)
Lemma jacobian_form N s u v : distribution N s ->
  dot N u (matvec N (jacobian s) v) = E N s (fun t => (u t - E N s u) * (v t - E N s v)).
Proof.
  intros H. rewrite (E_ext N s _ (fun t => u t * (v t - E N s v) + - E N s u * (v t + - E N s v))) by (intros; ring).
  rewrite E_plus, E_scal, E_plus, E_const by easy.
  transitivity (E N s (fun t => u t * (v t - E N s v))); [|ring].
  apply Sum_ext. intros. rewrite jacobian_apply by easy. ring.
Qed.

Lemma jacobian_var N s v : distribution N s -> dot N v (matvec N (jacobian s) v) = Var N s v.
Proof. intros H. rewrite jacobian_form by easy. unfold Var. rewrite <- variance by easy. apply E_ext. intros. ring. Qed.

Lemma Var_ge0 N s v : distribution N s -> 0 <= Var N s v.
Proof. intros H. unfold Var. rewrite <- variance by easy. apply E_ge0; [easy|]. intros. apply pow2_ge_0. Qed.

Lemma jacobian_cauchy N s u v : distribution N s -> dot N u (matvec N (jacobian s) v) ^ 2 <= Var N s u * Var N s v.
Proof.
  intros H. rewrite jacobian_form by easy. unfold Var. rewrite <- !variance by easy.
  apply (E_cauchy N s (fun t => u t - E N s u) (fun t => v t - E N s v) H).
Qed.

(** Popoviciu: Var v ≤ (b − a)²/4 if a ≤ v ≤ b *)
Lemma popoviciu N s v a b : distribution N s -> (forall t, (t < N)%nat -> a <= v t <= b) ->
  Var N s v <= (b - a) ^ 2 / 4.
Proof.
  intros H Hv. assert (K : 0 <= E N s (fun t => (v t - a) * (b - v t))).
  { apply E_ge0; [easy|]. intros t Ht. assert (V := Hv t Ht). apply Rmult_le_pos; lra. }
  rewrite (E_ext N s _ (fun t => (-1) * v t ^ 2 + ((a + b) * v t + - (a * b)))) in K by (intros; ring).
  rewrite E_plus, !E_scal, E_plus, E_scal, E_const in K by easy. unfold Var. set (m := E N s v) in *.
  assert (0 <= (m - (a + b) / 2) ^ 2) by apply pow2_ge_0. simpl in *. nra.
Qed.

Lemma minimum N v : (0 < N)%nat -> exists i, (i < N)%nat /\ forall j, (j < N)%nat -> v i <= v j.
Proof.
  intros HN. induction N as [|[|n] IH]; [lia| |].
  - exists O. split; [lia|]. intros j Hj. replace j with O by lia. lra.
  - destruct (IH ltac:(lia)) as [i [Hi H]]. destruct (Rle_dec (v i) (v (S n))) as [L|L].
    + exists i. split; [lia|]. intros j Hj. destruct (Nat.eq_dec j (S n)) as [->|]; [easy|apply H; lia].
    + exists (S n). split; [lia|]. intros j Hj. destruct (Nat.eq_dec j (S n)) as [->|]; [lra|].
      assert (v i <= v j) by (apply H; lia). lra.
Qed.

(** the same with the largest difference of two values *)
Lemma popoviciu_range N s v r : (0 < N)%nat -> distribution N s ->
  (forall i j, (i < N)%nat -> (j < N)%nat -> v i - v j <= r) -> Var N s v <= r ^ 2 / 4.
Proof.
  intros HN H Hr. destruct (minimum N v HN) as [i [Hi Hm]].
  assert (K := popoviciu N s v (v i) (v i + r) H). replace (v i + r - v i) with r in K by ring. apply K.
  intros t Ht. assert (A := Hm t Ht). assert (B := Hr t i Ht Hi). lra.
Qed.

(** ‖𝒥v‖ ≤ m ‖v‖ if Var v ≤ m ‖v‖² for all v *)
Lemma jacobian_norm N s m v : distribution N s -> 0 <= m -> (forall v, Var N s v <= m * sq N v) ->
  vnorm N (matvec N (jacobian s) v) <= m * vnorm N v.
Proof.
  intros H Hm HV. set (w := matvec N (jacobian s) v). assert (K := jacobian_cauchy N s w v H). fold w in K.
  rewrite dot_self in K. assert (A := HV w). assert (B := HV v). rewrite <- !norm_sq in *.
  assert (P := norm_ge0 N w). assert (Q := norm_ge0 N v). set (a := vnorm N w) in *. set (b := vnorm N v) in *.
  assert (A0 := Var_ge0 N s w H). assert (B0 := Var_ge0 N s v H).
  assert (C : (a ^ 2) ^ 2 <= (m * a ^ 2) * (m * b ^ 2)) by (eapply Rle_trans; [exact K|apply Rmult_le_compat; easy]).
  destruct (Req_dec a 0) as [->|Na]; [apply Rmult_le_pos; easy|]. assert (0 < a ^ 2) by (apply pow_lt; lra).
  assert (a ^ 2 <= (m * b) ^ 2) by (apply (Rmult_le_reg_l (a ^ 2)); [easy|]; lra).
  apply Rsqr_incr_0_var; [|apply Rmult_le_pos; easy]. rewrite !Rsqr_pow2. easy.
Qed.

Lemma Var_largest N s v : distribution N s -> Var N s v <= largest N s * sq N v.
Proof.
  intros [P _]. unfold Var. assert (0 <= E N s v ^ 2) by apply pow2_ge_0.
  assert (E N s (fun t => v t ^ 2) <= largest N s * sq N v); [|lra].
  unfold E, sq. rewrite <- Sum_scal. apply Sum_le. intros i Hi.
    apply Rmult_le_compat_r; [apply pow2_ge_0|now apply largest_ge].
Qed.

(** no eigenvalue exceeds the largest absolute sum of a row *)
Lemma Var_rows N s v : distribution N s -> Var N s v <= 2 * largest N (fun i => s i * (1 - s i)) * sq N v.
Proof.
  intros [P O]. set (D := Sum N (fun i => s i ^ 2 * v i ^ 2)).
  assert (K : 4 * D <= 2 * E N s (fun t => v t ^ 2) + 2 * E N s v ^ 2).
  { replace (2 * E N s (fun t => v t ^ 2) + 2 * E N s v ^ 2)
      with (Sum N (fun i => Sum N (fun j => s i * s j * (v i + v j) ^ 2))).
    - unfold D. rewrite <- Sum_scal. apply Sum_le. intros i Hi.
      replace (4 * (s i ^ 2 * v i ^ 2)) with (s i * s i * (v i + v i) ^ 2) by ring.
      apply (Sum_term N (fun j => s i * s j * (v i + v j) ^ 2) i Hi). intros j Hj.
      apply Rmult_le_pos; [apply Rmult_le_pos; auto|apply pow2_ge_0].
    - rewrite (Sum_ext N _ (fun i => s i * v i ^ 2 + (E N s (fun t => v t ^ 2) * s i + 2 * E N s v * (s i * v i)))).
      + rewrite Sum_plus, Sum_plus, !Sum_scal, O. unfold E. ring.
      + intros i _. rewrite (Sum_ext N _ (fun j => s i * v i ^ 2 * s j + (s i * (s j * v j ^ 2) + 2 * s i * v i * (s j
          * v j)))) by (intros; ring).
        rewrite Sum_plus, Sum_plus, !Sum_scal, O. unfold E. ring. }
  unfold Var. apply Rle_trans with (2 * (E N s (fun t => v t ^ 2) - D)); [lra|].
  rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|]. unfold E, D, sq. rewrite <- Sum_minus, <- Sum_scal.
    apply Sum_le.
  intros i Hi. replace (s i * v i ^ 2 - s i ^ 2 * v i ^ 2) with (s i * (1 - s i) * v i ^ 2) by ring.
  apply Rmult_le_compat_r; [apply pow2_ge_0|]. now apply (largest_ge N (fun i => s i * (1 - s i))).
Qed.

Lemma Var_half N s v : distribution N s -> Var N s v <= / 2 * sq N v.
Proof.
  intros H. eapply Rle_trans; [now apply Var_rows|]. apply Rmult_le_compat_r; [apply sq_ge0|].
  assert (largest N (fun i => s i * (1 - s i)) <= / 4); [|lra]. apply largest_le; [lra|]. intros i _.
  assert (0 <= (s i - / 2) ^ 2) by apply pow2_ge_0. simpl in *. nra.
Qed.

Lemma pair_sum N (f : vector) i j : (i < N)%nat -> (j < N)%nat ->
  Sum N (fun t => f t * (identity i t - identity j t)) = f i - f j.
Proof.
  intros Hi Hj. rewrite (Sum_ext N _ (fun t => identity i t * f t - identity j t * f t)) by (intros; ring).
  now rewrite Sum_minus, !identity_sum.
Qed.

Lemma pair_norm N i j : (i < N)%nat -> (j < N)%nat -> i <> j -> sq N (fun t => identity i t - identity j t) = 2.
Proof.
  intros Hi Hj Hij. unfold sq.
  rewrite (Sum_ext N _ (fun t => (identity i t - identity j t) * (identity i t - identity j t))) by (intros; ring).
  rewrite (pair_sum N (fun t => identity i t - identity j t)) by easy. unfold identity. rewrite !Nat.eqb_refl.
  replace (i =? j)%nat with false by (symmetry; now apply Nat.eqb_neq).
  replace (j =? i)%nat with false by (symmetry; apply Nat.eqb_neq; lia). ring.
Qed.

(** e_i − e_j is an eigenvector where s_i = s_j = m: ‖𝒥‖ ≥ m *)
Lemma jacobian_pair N s i j m : distribution N s -> (i < N)%nat -> (j < N)%nat -> i <> j -> s i = m -> s j = m ->
  m <= spectral N N (jacobian s).
Proof.
  intros H Hi Hj Hij Si Sj. set (v := fun t => identity i t - identity j t).
  assert (Ev : E N s v = 0) by (unfold E, v; rewrite pair_sum by easy; lra).
  assert (P : 0 <= m) by (rewrite <- Si; now apply H).
  assert (K := spectral_apply N N (jacobian s) v).
  rewrite (norm_ext N _ (vscal m v)), norm_scal, Rabs_right in K.
  - assert (0 < vnorm N v); [|nra]. unfold vnorm, v. rewrite pair_norm by easy. apply sqrt_lt_R0. lra.
  - lra.
  - intros t Ht. rewrite jacobian_apply, Ev, Rminus_0_r by easy. unfold vscal, v, identity.
    destruct (Nat.eqb_spec i t) as [<-|]; [now rewrite Si|]. destruct (Nat.eqb_spec j t) as [<-|]; [now rewrite Sj|].
      ring.
Qed.

(** the derivative of softmax along any path of logits *)
Lemma softmax_derive N (z : R -> vector) z' e t : (0 < N)%nat -> (t < N)%nat ->
  (forall j, (j < N)%nat -> is_derive (fun e => z e j) e (z' j)) ->
  is_derive (fun e => softmax N (z e) t) e (matvec N (jacobian (softmax N (z e))) z' t).
Proof.
  intros HN Ht H. assert (P := partition_pos N (z e) HN).
  assert (D : is_derive (fun e => Sum N (fun j => exp (z e j))) e (Sum N (fun j => z' j * exp (z e j)))).
  { apply Sum_derive. intros j Hj. apply (is_derive_comp exp (fun e => z e j)); [apply is_derive_exp|now apply H]. }
  assert (D1 : is_derive (fun e => exp (z e t)) e (z' t * exp (z e t))).
  { apply (is_derive_comp exp (fun e => z e t)); [apply is_derive_exp|now apply H]. }
  rewrite jacobian_apply by (easy || now apply softmax_distribution).
  replace (softmax N (z e) t * (z' t - E N (softmax N (z e)) z')) with
    ((z' t * exp (z e t) * Sum N (fun j => exp (z e j)) - exp (z e t) * Sum N (fun j => z' j * exp (z e j)))
      / Sum N (fun j => exp (z e j)) ^ 2).
  - apply (is_derive_div (fun e => exp (z e t)) (fun e => Sum N (fun j => exp (z e j)))); [easy|easy|lra].
  - unfold E, softmax. rewrite (Sum_ext N (fun u => exp (z e u) / _ * z' u) (fun u => / Sum N (fun j => exp (z e j)) *
      (z' u * exp (z e u))))
      by (intros; unfold Rdiv; ring).
    rewrite Sum_scal. field. lra.
Qed.

Lemma softmax_ext N z y i : (forall t, z t = y t) -> softmax N z i = softmax N y i.
Proof.
  intros H. unfold softmax. rewrite (Sum_ext N _ (fun s => exp (y s))) by (intros; now rewrite H). now rewrite H.
Qed.

(** the mean value theorem for ⟨u, softmax⟩ along a segment of logits *)
Lemma softmax_segment N u z y : (0 < N)%nat -> exists c, let s := softmax N (vplus y (vscal c (vminus z y))) in
  dot N u (vminus (softmax N z) (softmax N y)) = dot N u (matvec N (jacobian s) (vminus z y)).
Proof.
  intros HN. set (path := fun t => vplus y (vscal t (vminus z y))).
  assert (D : forall t, is_derive (fun t => dot N u (softmax N (path t))) t
    (dot N u (matvec N (jacobian (softmax N (path t))) (vminus z y)))).
  { intros t. apply Sum_derive. intros i Hi. apply (is_derive_scal (fun t => softmax N (path t) i) t (u i)).
    apply softmax_derive; [easy|easy|]. intros j _. unfold path, vplus, vscal, vminus. auto_derive; [easy|ring]. }
  destruct (MVT_gen (fun t => dot N u (softmax N (path t))) 0 1 (fun t => dot N u (matvec N (jacobian (softmax N (path
    t))) (vminus z y))))
    as [c [_ H]].
  - intros. apply D.
  - intros t _. apply continuity_pt_filterlim. apply (ex_derive_continuous (fun t => dot N u (softmax N (path t)))).
      eexists. apply D.
  - exists c. fold (path c). rewrite Rminus_0_r, Rmult_1_r in H. cbv zeta. rewrite <- H.
    assert (S1 : forall i, softmax N (path 1) i = softmax N z i).
    { intros i. apply softmax_ext. intros t. unfold path, vplus, vscal, vminus. ring. }
    assert (S0 : forall i, softmax N (path 0) i = softmax N y i).
    { intros i. apply softmax_ext. intros t. unfold path, vplus, vscal, vminus. ring. }
    unfold dot. rewrite <- Sum_minus. apply Sum_ext. intros i _. rewrite S1, S0. unfold vminus. ring.
Qed.

(** softmax of one row is ½-Lipschitz *)
Lemma softmax_half N z y : (0 < N)%nat -> sq N (vminus (softmax N z) (softmax N y)) <= / 4 * sq N (vminus z y).
Proof.
  intros HN. set (u := vminus (softmax N z) (softmax N y)). destruct (softmax_segment N u z y HN) as [c H]. fold u in H.
  cbv zeta in H. set (s := softmax N (vplus y (vscal c (vminus z y)))) in H. rewrite <- sq_dot in H.
  assert (J := jacobian_norm N s (/ 2) (vminus z y) ltac:(now apply softmax_distribution) ltac:(lra)
    ltac:(intros; apply Var_half; now apply softmax_distribution)).
  assert (C := Rle_trans _ _ _ (Rle_abs _) (cauchy N u (matvec N (jacobian s) (vminus z y)))). rewrite <- H in C.
  rewrite <- !norm_sq in *. assert (P := norm_ge0 N u). assert (Q := norm_ge0 N (vminus z y)).
  set (a := vnorm N u) in *. set (b := vnorm N (vminus z y)) in *.
    set (j := vnorm N (matvec N (jacobian s) (vminus z y))) in *.
  assert (a * j <= a * (/ 2 * b)) by now apply Rmult_le_compat_l.
  destruct (Req_dec a 0) as [->|Na]; [assert (0 <= b ^ 2) by apply pow2_ge_0; lra|].
  assert (a <= / 2 * b) by (apply (Rmult_le_reg_l a); lra). simpl. nra.
Qed.

(** softmax of every row *)
Definition softmax_rows (N : nat) (L : matrix) : matrix := fun i => softmax N (L i).

(** M − M′ *)
Definition mminus (A B : matrix) : matrix := fun i => vminus (A i) (B i).

Lemma frob_rows M N L L' : (0 < N)%nat ->
  frob2 M N (mminus (softmax_rows N L) (softmax_rows N L')) <= / 4 * frob2 M N (mminus L L').
Proof. intros HN. unfold frob2. rewrite <- Sum_scal. apply Sum_le. intros i _. now apply (softmax_half N (L i) (L' i)).
  Qed.

Lemma row_at_most_one N s : distribution N s -> sq N s <= 1.
Proof.
  intros [P O]. rewrite <- O. unfold sq. apply Sum_le. intros i Hi. assert (A := P i Hi).
  assert (B := Sum_term N s i Hi P). simpl. nra.
Qed.
