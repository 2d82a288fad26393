(** Means and root mean squares over n samples. *)
Require Import Reals Lra Lia.
From Shallow Require Import base.sums base.vectors.
Open Scope R_scope.

(** ⟨x⟩ = (x_0 + … + x_(n−1)) / n, the mean over the samples, and ‖x‖_n = ⟨x²⟩^(1/2), the root mean square *)
Definition mean (n : nat) (x : vector) : R := / INR n * Sum n x.
Definition rms (n : nat) (x : vector) : R := sqrt (mean n (fun j => x j ^ 2)).

Lemma mean_ext n f g : (forall j, (j < n)%nat -> f j = g j) -> mean n f = mean n g.
Proof. intros H. unfold mean. f_equal. now apply Sum_ext. Qed.

Lemma mean_plus n f g : mean n (fun j => f j + g j) = mean n f + mean n g.
Proof. unfold mean. rewrite Sum_plus. ring. Qed.

Lemma mean_minus n f g : mean n (fun j => f j - g j) = mean n f - mean n g.
Proof. unfold mean. rewrite Sum_minus. ring. Qed.

Lemma mean_scal n c f : mean n (fun j => c * f j) = c * mean n f.
Proof. unfold mean. rewrite Sum_scal. ring. Qed.

Lemma mean_const n c : (0 < n)%nat -> mean n (fun _ => c) = c.
Proof. intros H. apply INR_pos in H. unfold mean. rewrite Sum_const. field. lra. Qed.

Lemma mean_le n f g : (forall j, (j < n)%nat -> f j <= g j) -> mean n f <= mean n g.
Proof. intros H. apply Rmult_le_compat_l; [apply inv_ge0|now apply Sum_le]. Qed.

Lemma mean_ge0 n f : (forall j, (j < n)%nat -> 0 <= f j) -> 0 <= mean n f.
Proof. intros H. apply Rmult_le_pos; [apply inv_ge0|now apply Sum_ge0]. Qed.

(** (1/n Σ f g)² ≤ 1/n Σ f² · 1/n Σ g² *)
Lemma mean_cauchy n f g : mean n (fun j => f j * g j) ^ 2 <= mean n (fun j => f j ^ 2) * mean n (fun j => g j ^ 2).
Proof.
  assert (H := Sum_cauchy n (fun _ => / INR n) f g (fun _ _ => inv_ge0 n)). cbv beta in H. now rewrite !Sum_scal in H.
Qed.

Lemma rms_ge0 n e : 0 <= rms n e.
Proof. apply sqrt_pos. Qed.

Lemma rms_sq n e : rms n e ^ 2 = mean n (fun j => e j ^ 2).
Proof. apply pow2_sqrt, mean_ge0. intros; apply pow2_ge_0. Qed.

Lemma mean_rms n f g : mean n (fun j => f j * g j) <= rms n f * rms n g.
Proof.
  apply le_of_sq; [apply Rmult_le_pos; apply rms_ge0|]. rewrite Rpow_mult_distr, !rms_sq. apply mean_cauchy.
Qed.

(** Minkowski *)
Lemma rms_plus n f g : rms n (fun j => f j + g j) <= rms n f + rms n g.
Proof.
  apply le_of_sq; [apply Rplus_le_le_0_compat; apply rms_ge0|]. rewrite rms_sq.
  rewrite (mean_ext n _ (fun j => f j ^ 2 + (2 * (f j * g j) + g j ^ 2))) by (intros; ring).
  rewrite !mean_plus, mean_scal, <- !rms_sq. assert (H := mean_rms n f g). lra.
Qed.

Lemma rms_ext n f g : (forall j, (j < n)%nat -> f j = g j) -> rms n f = rms n g.
Proof. intros H. unfold rms. f_equal. apply mean_ext. intros. now rewrite H. Qed.

Lemma rms_scal n c f : rms n (fun j => c * f j) = Rabs c * rms n f.
Proof.
  unfold rms. rewrite (mean_ext n _ (fun j => c ^ 2 * f j ^ 2)) by (intros; ring).
  rewrite mean_scal, sqrt_mult_alt by apply pow2_ge_0. now rewrite <- Rsqr_pow2, sqrt_Rsqr_abs.
Qed.

Lemma rms_Sum n m f : rms n (fun j => Sum m (fun s => f s j)) <= Sum m (fun s => rms n (f s)).
Proof.
  induction m; simpl; [|eapply Rle_trans; [apply rms_plus|]; lra].
  unfold rms. rewrite (mean_ext n _ (fun j => 0 * 0)), mean_scal, Rmult_0_l, sqrt_0 by (intros; ring). lra.
Qed.

(** (1/m Σ x)² ≤ 1/m Σ x² *)
Lemma mean_sq m x : (0 < m)%nat -> mean m x ^ 2 <= mean m (fun s => x s ^ 2).
Proof.
  intros H. assert (C := mean_cauchy m (fun _ => 1) x). cbv beta in C.
  rewrite (mean_ext m (fun _ => 1 ^ 2) (fun _ => 1)) in C by (intros; ring).
  rewrite (mean_const m 1 H) in C. rewrite (mean_ext m (fun j => 1 * x j) x) in C by (intros; ring). lra.
Qed.

Lemma mean_le_rms m x : (0 < m)%nat -> mean m x <= rms m x.
Proof. intros H. apply le_of_sq; [apply rms_ge0|]. rewrite rms_sq. now apply mean_sq. Qed.

Lemma rms_le n x y : (0 < n)%nat -> (forall j, (j < n)%nat -> Rabs (x j) <= y j) -> rms n x <= rms n y.
Proof.
  intros Hn H. unfold rms. apply sqrt_le_1_alt, mean_le. intros i Hi. rewrite <- (pow2_abs (x i)). apply pow_incr.
    split; [apply Rabs_pos|now apply H].
Qed.

Lemma rms_minus n x y : (0 < n)%nat -> rms n (fun j => x j - y j) <= rms n x + rms n y.
Proof.
  intros H. rewrite (rms_ext n _ (fun j => x j + -1 * y j)) by (intros; ring).
  eapply Rle_trans; [now apply rms_plus|]. rewrite rms_scal by easy. rewrite Rabs_left by lra. lra.
Qed.

(** |mean of x y| ≤ ‖x‖_n ‖y‖_n *)
Lemma mean_product n x y : Rabs (mean n (fun j => x j * y j)) <= rms n x * rms n y.
Proof.
  assert (A := mean_rms n x y). assert (B := mean_rms n (fun j => -1 * x j) y).
  rewrite (mean_ext n _ (fun j => -1 * (x j * y j))), mean_scal, rms_scal, Rabs_left in B by (intros; ring || lra).
  apply Rabs_le. lra.
Qed.

(** Root mean square over the data of the lengths of vectors *)
Definition vrms (n d : nat) (X : nat -> vector) : R := rms n (fun j => vnorm d (X j)).

Lemma vrms_le n d X z : (0 < n)%nat -> (forall j, vnorm d (X j) <= z j) -> vrms n d X <= rms n z.
Proof. intros H L. apply rms_le; [easy|]. intros j _. rewrite Rabs_right by apply Rle_ge, norm_ge0. apply L. Qed.

Lemma vrms_plus n d X Z : (0 < n)%nat -> vrms n d (fun j => vplus (X j) (Z j)) <= vrms n d X + vrms n d Z.
Proof. intros H. eapply Rle_trans; [apply vrms_le; [easy|intros; apply norm_triangle]|]. now apply rms_plus. Qed.

Lemma vrms_scal n d c X : (0 < n)%nat -> vrms n d (fun j => vscal c (X j)) = Rabs c * vrms n d X.
Proof.
  intros H. unfold vrms. rewrite (rms_ext n _ (fun j => Rabs c * vnorm d (X j))) by (intros; apply norm_scal).
  rewrite rms_scal, Rabs_Rabsolu by easy. easy.
Qed.

Lemma vrms_ext n d X Z : (forall j k, X j k = Z j k) -> vrms n d X = vrms n d Z.
Proof. intros H. apply rms_ext; intros. unfold vnorm, sq. f_equal. apply Sum_ext; intros. now rewrite H. Qed.

Lemma vrms_ge0 n d X : 0 <= vrms n d X.
Proof. apply rms_ge0. Qed.

(** Means of vectors: ‖mean of r X‖ ≤ ‖r‖_n times the root mean square of ‖X_j‖. *)
Lemma mean_vector n d r (X : nat -> vector) : (0 < n)%nat ->
  vnorm d (fun k => mean n (fun j => r j * X j k)) <= rms n r * vrms n d X.
Proof.
  intros H. unfold vrms. set (v := fun k => mean n (fun j => r j * X j k)).
  assert (Q : sq d v <= rms n r * rms n (fun j => vnorm d (X j)) * vnorm d v).
  { replace (sq d v) with (mean n (fun j => r j * dot d (X j) v)).
    - eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply mean_product|].
      rewrite Rmult_assoc. apply Rmult_le_compat_l; [apply rms_ge0|].
      eapply Rle_trans; [apply (rms_le n _ (fun j => vnorm d v * vnorm d (X j))); [easy|]|].
      + intros. rewrite Rmult_comm. apply cauchy.
      + rewrite rms_scal, Rabs_right by (easy || apply Rle_ge, norm_ge0). lra.
    - unfold sq, dot, mean.
      rewrite (Sum_ext n _ (fun j => Sum d (fun i => r j * X j i * v i))).
      2: { intros. rewrite <- Sum_scal. apply Sum_ext; intros; ring. }
      rewrite Sum_swap, <- Sum_scal. apply Sum_ext; intros i _.
      rewrite (Sum_ext n _ (fun j => v i * (r j * X j i))) by (intros; ring). rewrite Sum_scal. unfold v, mean. ring. }
  assert (B : 0 <= rms n r * rms n (fun j => vnorm d (X j))) by (apply Rmult_le_pos; apply rms_ge0).
  rewrite <- norm_sq in Q. assert (V := norm_ge0 d v). clear H.
  destruct (Req_dec (vnorm d v) 0) as [->|Z]; [easy|]. apply Rmult_le_reg_r with (vnorm d v); lra.
Qed.

Lemma rms_bound n e b : (0 < n)%nat -> 0 <= b -> (forall j, (j < n)%nat -> Rabs (e j) <= b) -> rms n e <= b.
Proof.
  intros Hn Hb H. apply le_of_sq; [easy|]. rewrite rms_sq, <- (mean_const n (b ^ 2) Hn). apply mean_le. intros j Hj.
  rewrite <- (pow2_abs (e j)). apply pow_incr. split; [apply Rabs_pos|auto].
Qed.

Lemma dot_mean p n (c : vector) (D : matrix) v :
  dot p (fun i => mean n (fun j => c j * D j i)) v = mean n (fun j => c j * dot p (D j) v).
Proof.
  unfold dot. rewrite (Sum_ext p _ (fun i => / INR n * Sum n (fun j => c j * (D j i * v i)))).
  - rewrite Sum_scal, Sum_swap. unfold mean. f_equal. apply Sum_ext. intros. now rewrite Sum_scal.
  - intros i _. unfold mean. rewrite Rmult_assoc. f_equal. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros; ring.
Qed.
