(** Root mean squares over n samples, and means of products under them. *)
Require Import Reals Lra Lia.
From Shallow Require Import base.sums base.vectors.
Open Scope R_scope.

(** ‖x‖_n = √(Σ x_j² / n), the root mean square over the samples *)
Definition rms (n : nat) (x : vector) : R := sqrt (sq n x / INR n).

Lemma rms_norm n x : (0 < n)%nat -> rms n x = vnorm n x / sqrt (INR n).
Proof. intros H. unfold rms, vnorm. apply sqrt_div; [apply sq_ge0|now apply lt_0_INR]. Qed.

Lemma rms_ge0 n x : 0 <= rms n x.
Proof. apply sqrt_pos. Qed.

Lemma rms_sq n x : (0 < n)%nat -> rms n x ^ 2 = sq n x / INR n.
Proof.
  intros H. unfold rms. apply pow2_sqrt. apply Rmult_le_pos; [apply sq_ge0|].
  left. now apply Rinv_0_lt_compat, lt_0_INR.
Qed.

Lemma rms_ext n x y : (forall j, (j < n)%nat -> x j = y j) -> rms n x = rms n y.
Proof. intros H. unfold rms, sq. f_equal. f_equal. apply Sum_ext; intros. now rewrite H. Qed.

Lemma rms_triangle n x y : (0 < n)%nat -> rms n (fun j => x j + y j) <= rms n x + rms n y.
Proof.
  intros H. rewrite !rms_norm by easy. unfold Rdiv. rewrite <- Rmult_plus_distr_r. apply Rmult_le_compat_r.
  - left. apply Rinv_0_lt_compat, sqrt_lt_R0. now apply lt_0_INR.
  - apply (norm_triangle n x y).
Qed.

Lemma rms_scal n c x : (0 < n)%nat -> rms n (fun j => c * x j) = Rabs c * rms n x.
Proof.
  intros H. rewrite !rms_norm by easy. change (fun j => c * x j) with (vscal c x). rewrite norm_scal.
  unfold Rdiv. ring.
Qed.

Lemma rms_zero n : (0 < n)%nat -> rms n (fun _ => 0) = 0.
Proof. intros H. rewrite (rms_ext n _ (fun j => 0 * 0)) by (intros; ring). rewrite rms_scal, Rabs_R0 by easy. ring. Qed.

Lemma rms_le n x y : (0 < n)%nat -> (forall j, (j < n)%nat -> Rabs (x j) <= y j) -> rms n x <= rms n y.
Proof.
  intros Hn H. unfold rms. apply sqrt_le_1_alt. apply Rmult_le_compat_r.
  - left. now apply Rinv_0_lt_compat, lt_0_INR.
  - apply Sum_le; intros i Hi. rewrite <- (pow2_abs (x i)). apply pow_incr. split; [apply Rabs_pos|now apply H].
Qed.

Lemma rms_minus n x y : (0 < n)%nat -> rms n (fun j => x j - y j) <= rms n x + rms n y.
Proof.
  intros H. rewrite (rms_ext n _ (fun j => x j + -1 * y j)) by (intros; ring).
  eapply Rle_trans; [now apply rms_triangle|]. rewrite rms_scal by easy. rewrite Rabs_left by lra. lra.
Qed.

Lemma rms_sum n N x : (0 < n)%nat -> rms n (fun j => Sum N (fun p => x p j)) <= Sum N (fun p => rms n (x p)).
Proof.
  intros H. induction N; simpl; [rewrite rms_zero by easy; lra|].
  eapply Rle_trans; [now apply rms_triangle|]. apply Rplus_le_compat_r, IHN.
Qed.

(** |mean of x y| ≤ ‖x‖_n ‖y‖_n *)
Lemma mean_product n x y : (0 < n)%nat -> Rabs (Sum n (fun j => x j * y j) / INR n) <= rms n x * rms n y.
Proof.
  intros H. assert (P : 0 < INR n) by now apply lt_0_INR. rewrite !rms_norm by easy.
  replace (vnorm n x / sqrt (INR n) * (vnorm n y / sqrt (INR n))) with (vnorm n x * vnorm n y / INR n).
  - unfold Rdiv. rewrite Rabs_mult, (Rabs_right (/ INR n)) by (left; now apply Rinv_0_lt_compat).
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|apply cauchy].
  - rewrite <- (sqrt_sqrt (INR n)) at 1 by lra. field. apply Rgt_not_eq, sqrt_lt_R0, P.
Qed.

(** Means of vectors: ‖mean of r X‖ ≤ ‖r‖_n times the root mean square of ‖X_j‖. *)
Lemma mean_vector n d r (X : nat -> vector) : (0 < n)%nat ->
  vnorm d (fun k => Sum n (fun j => r j * X j k) / INR n) <= rms n r * rms n (fun j => vnorm d (X j)).
Proof.
  intros H. set (v := fun k => Sum n (fun j => r j * X j k) / INR n).
  assert (Q : sq d v <= rms n r * rms n (fun j => vnorm d (X j)) * vnorm d v).
  { replace (sq d v) with (Sum n (fun j => r j * dot d (X j) v) / INR n).
    - eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [now apply mean_product|].
      rewrite Rmult_assoc. apply Rmult_le_compat_l; [apply rms_ge0|].
      eapply Rle_trans; [apply (rms_le n _ (fun j => vnorm d v * vnorm d (X j))); [easy|]|].
      + intros. rewrite Rmult_comm. apply cauchy.
      + rewrite rms_scal, Rabs_right by (easy || apply Rle_ge, norm_ge0). lra.
    - unfold sq, dot.
      rewrite (Sum_ext n _ (fun j => Sum d (fun i => r j * X j i * v i))).
      2: { intros. rewrite <- Sum_scal. apply Sum_ext; intros; ring. }
      rewrite Sum_swap. unfold Rdiv. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros i _.
      rewrite (Sum_ext n _ (fun j => v i * (r j * X j i))) by (intros; ring). rewrite Sum_scal. unfold v, Rdiv. ring. }
  assert (B : 0 <= rms n r * rms n (fun j => vnorm d (X j))) by (apply Rmult_le_pos; apply rms_ge0).
  rewrite <- norm_sq in Q. assert (V := norm_ge0 d v). clear H.
  destruct (Req_dec (vnorm d v) 0) as [->|Z]; [easy|]. apply Rmult_le_reg_r with (vnorm d v); lra.
Qed.
