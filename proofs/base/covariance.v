(** The covariance of a random token: trace, norms and order; masses of sets of tokens; two camps. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.matrices.
Open Scope R_scope.

(** c = ‖A‖_op, the supremum of ‖A w‖ over ‖w‖ ≤ 1 *)
Definition op_norm (d : nat) (A : matrix) (c : R) : Prop :=
  is_lub (fun v => exists w, vnorm d w <= 1 /\ v = vnorm d (matvec d A w)) c.

(** all T tokens lie in the unit ball of ℝᵈ *)
Definition in_ball (T d : nat) (X : matrix) : Prop := forall t, (t < T)%nat -> vnorm d (X t) <= 1.

(** Σ α_t X_t X_tᵀ *)
Definition moment (T : nat) (alpha : vector) (X : matrix) : matrix := fun i j => E T alpha (fun t => X t i * X t j).

(** α(S) = Σ_{t ∈ S} α_t, for a set S of tokens given by a test *)
Definition mass (T : nat) (alpha : vector) (S : nat -> bool) : R := Sum T (fun t => if S t then alpha t else 0).

(** the tokens of S are e, the others −e *)
Definition camps (T d : nat) (S : nat -> bool) (e : vector) (X : matrix) : Prop :=
  forall t i, (t < T)%nat -> (i < d)%nat -> X t i = if S t then e i else - e i.

(** M = Σ α X Xᵀ − a aᵀ *)
Lemma covariance_moment T alpha X i j : distribution T alpha ->
  covariance T alpha X i j = moment T alpha X i j - attended T alpha X i * attended T alpha X j.
Proof.
  intros H. unfold covariance, moment. set (a := attended T alpha X).
  rewrite (E_ext T alpha _ (fun t => X t i * X t j - (a i * X t j + a j * X t i - a i * a j))) by (intros; ring).
  rewrite E_minus, E_minus, E_plus, !E_scal, (E_const _ _ _ H). fold (attended T alpha X i) (attended T alpha X j).
  unfold a, attended. ring.
Qed.

(** ⟨w, (Σ α y yᵀ) w⟩ = Σ α ⟨w, y⟩² *)
Lemma form_moment T d alpha y w : form d (moment T alpha y) w = E T alpha (fun t => dot d w (y t) ^ 2).
Proof.
  unfold form, dot at 1, matvec, moment.
  rewrite (E_ext T alpha _ (fun t => Sum d (fun i => Sum d (fun j => w i * w j * (y t i * y t j))))).
  - rewrite E_Sum. apply Sum_ext; intros i _. rewrite E_Sum, <- Sum_scal. apply Sum_ext; intros j _. rewrite E_scal.
    ring.
  - intros t _. replace (dot d w (y t) ^ 2) with (dot d w (y t) * dot d w (y t)) by ring. unfold dot at 1.
    rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros i _. unfold dot. rewrite Rmult_comm, <- Sum_scal.
    apply Sum_ext; intros; ring.
Qed.

(** tr M = Σ α ‖X‖² − ‖a‖² *)
Lemma trace_covariance T d alpha X : distribution T alpha ->
  trace d (covariance T alpha X) = E T alpha (fun t => sq d (X t)) - sq d (attended T alpha X).
Proof.
  intros H. unfold trace, sq. rewrite E_Sum, <- Sum_minus. apply Sum_ext; intros i _.
  rewrite covariance_moment by easy. unfold moment. rewrite (E_ext _ _ _ (fun t => X t i ^ 2)) by (intros; ring). ring.
Qed.

Lemma trace_ge0 T d alpha X : distribution T alpha -> 0 <= trace d (covariance T alpha X).
Proof.
  intros H. apply Sum_ge0; intros i _. apply E_ge0; [easy|]. intros t _. apply Rle_0_sqr.
Qed.

(** ‖M‖²_F ≤ (tr M)², as M_ij² ≤ M_ii M_jj *)
Lemma frob_trace T d alpha X : distribution T alpha ->
  frob2 d d (covariance T alpha X) <= trace d (covariance T alpha X) ^ 2.
Proof.
  intros H. set (M := covariance T alpha X).
  apply Rle_trans with (Sum d (fun i => Sum d (fun j => M i i * M j j))).
  - apply Sum_le; intros i _. apply Sum_le; intros j _. unfold M, covariance. set (a := attended T alpha X).
    eapply Rle_trans; [apply (E_cauchy _ _ (fun t => X t i - a i) (fun t => X t j - a j) H)|].
    right. f_equal; apply E_ext; intros; ring.
  - right. unfold trace. replace (Sum d (fun i => M i i) ^ 2) with (Sum d (fun i => M i i) * Sum d (fun i => M i i))
      by ring.
    rewrite <- Sum_scal. apply Sum_ext; intros i _. rewrite Sum_scal. ring.
Qed.

Lemma fnorm_trace T d alpha X : distribution T alpha ->
  fnorm d d (covariance T alpha X) <= trace d (covariance T alpha X).
Proof.
  intros H. unfold fnorm. rewrite <- (sqrt_pow2 (trace d _)) by now apply trace_ge0.
  now apply sqrt_le_1_alt, frob_trace.
Qed.

Lemma matvec_trace T d alpha X w : distribution T alpha ->
  vnorm d (matvec d (covariance T alpha X) w) <= trace d (covariance T alpha X) * vnorm d w.
Proof.
  intros H. eapply Rle_trans; [apply matvec_fnorm|]. apply Rmult_le_compat_r; [apply norm_ge0|now apply fnorm_trace].
Qed.

Lemma moment_ball T d alpha X : distribution T alpha -> in_ball T d X -> E T alpha (fun t => sq d (X t)) <= 1.
Proof. intros H B. rewrite <- (E_const T alpha 1 H). apply E_le; [easy|]. intros t Ht. now apply norm_le1, B. Qed.

Lemma trace_ball T d alpha X : distribution T alpha -> in_ball T d X ->
  trace d (covariance T alpha X) <= 1 - sq d (attended T alpha X).
Proof. intros H B. rewrite trace_covariance by easy. assert (A := moment_ball _ _ _ _ H B). lra. Qed.

Lemma attended_ball T d alpha X : distribution T alpha -> in_ball T d X -> vnorm d (attended T alpha X) <= 1.
Proof.
  intros H B. apply norm_le1. assert (A := trace_ball _ _ _ _ H B). assert (G := trace_ge0 T d alpha X H). lra.
Qed.

Lemma mass_E T alpha S : mass T alpha S = E T alpha (fun t => if S t then 1 else 0).
Proof. apply Sum_ext; intros t _. destruct (S t); ring. Qed.

Lemma mass_range T alpha S : distribution T alpha -> 0 <= mass T alpha S <= 1.
Proof.
  intros H. rewrite mass_E. split; [|apply Rle_trans with (E T alpha (fun _ => 1)); [|right; now apply E_const]].
  - apply E_ge0; [easy|]. intros t _. destruct (S t); lra.
  - apply E_le; [easy|]. intros t _. destruct (S t); lra.
Qed.

(** two camps of masses (1 ± s)/2: a = s e and M = (1 − s²) e eᵀ *)
Lemma camps_mean T d alpha S e X s i : distribution T alpha -> camps T d S e X -> mass T alpha S = (1 + s) / 2 ->
  (i < d)%nat -> attended T alpha X i = s * e i.
Proof.
  intros H C P Hi. unfold attended. rewrite (E_ext _ _ _ (fun t => 2 * e i * (if S t then 1 else 0) - e i)).
  - rewrite E_minus, E_scal, (E_const _ _ _ H), <- mass_E, P. field.
  - intros t Ht. rewrite (C t i Ht Hi). destruct (S t); ring.
Qed.

Lemma camps_covariance T d alpha S e X s i j : distribution T alpha -> camps T d S e X ->
  mass T alpha S = (1 + s) / 2 -> (i < d)%nat -> (j < d)%nat -> covariance T alpha X i j = (1 - s ^ 2) * (e i * e j).
Proof.
  intros H C P Hi Hj. rewrite covariance_moment by easy.
  rewrite (camps_mean T d alpha S e X s i), (camps_mean T d alpha S e X s j) by easy.
  unfold moment. rewrite (E_ext _ _ _ (fun _ => e i * e j)).
  - rewrite (E_const _ _ _ H). ring.
  - intros t Ht. rewrite (C t i Ht Hi), (C t j Ht Hj). destruct (S t); ring.
Qed.

(** one token with logit x against T − 1 tokens with logit y *)
Lemma one_against T z x y : (0 < T)%nat -> (forall t, (t < T)%nat -> z t = if (t =? 0)%nat then x else y) ->
  mass T (softmax T z) (fun t => (t =? 0)%nat) = exp x / (exp x + INR (T - 1) * exp y).
Proof.
  intros HT H. destruct T as [|n]; [lia|]. unfold mass, softmax. rewrite !Sum_first. simpl Nat.eqb. cbv iota.
  rewrite Sum_zero, (Sum_ext n _ (fun _ => exp y)) by (intros; rewrite H by lia; easy).
  rewrite (H 0%nat) by lia. rewrite Sum_const, Nat.sub_succ, Nat.sub_0_r. simpl. ring.
Qed.
