(** A token k that leads: its weight, and the sum over the others. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.spread.
Open Scope R_scope.

(** Σ_{t ≠ k} f(t) *)
Definition others (T k : nat) (f : nat -> R) : R := Sum T (fun t => if (t =? k)%nat then 0 else f t).

Lemma Sum_others T k f : (k < T)%nat -> Sum T f = f k + others T k f.
Proof.
  intros Hk. unfold others.
  rewrite (Sum_ext T f (fun t => (if (t =? k)%nat then f t else 0) + (if (t =? k)%nat then 0 else f t))).
  - rewrite Sum_plus, (Sum_single T _ k Hk), Nat.eqb_refl; [easy|].
    intros i _ N. now destruct (Nat.eqb_spec i k).
  - intros t _. destruct (t =? k)%nat; ring.
Qed.

Lemma others_ext T k f g : (forall t, (t < T)%nat -> t <> k -> f t = g t) -> others T k f = others T k g.
Proof. intros H. apply Sum_ext; intros t Ht. destruct (Nat.eqb_spec t k); [easy|now apply H]. Qed.

Lemma others_le T k f g : (forall t, (t < T)%nat -> t <> k -> f t <= g t) -> others T k f <= others T k g.
Proof. intros H. apply Sum_le; intros t Ht. destruct (Nat.eqb_spec t k); [lra|now apply H]. Qed.

Lemma others_plus T k f g : others T k (fun t => f t + g t) = others T k f + others T k g.
Proof. unfold others. rewrite <- Sum_plus. apply Sum_ext; intros t _. destruct (t =? k)%nat; ring. Qed.

Lemma others_scal T k c f : others T k (fun t => c * f t) = c * others T k f.
Proof. unfold others. rewrite <- Sum_scal. apply Sum_ext; intros t _. destruct (t =? k)%nat; ring. Qed.

Lemma others_const T k c : (k < T)%nat -> others T k (fun _ => c) = INR (T - 1) * c.
Proof.
  intros Hk. assert (S := Sum_others T k (fun _ => c) Hk). rewrite Sum_const in S.
  rewrite minus_INR by lia. simpl. lra.
Qed.

Lemma others_zero T k f t : (forall t, (t < T)%nat -> t <> k -> 0 <= f t) -> others T k f = 0 ->
  (t < T)%nat -> t <> k -> f t = 0.
Proof.
  intros P Z Ht N. assert (A := Sum_zero_terms T (fun t => if (t =? k)%nat then 0 else f t) t). cbv beta in A.
  destruct (Nat.eqb_spec t k) as [->|_] in A; [easy|]. apply A; [|exact Z|exact Ht].
  intros i Hi. destruct (Nat.eqb_spec i k); [lra|now apply P].
Qed.

(** 1 / α_k = 1 + Σ_{t ≠ k} exp (z_t − z_k) *)
Lemma leader_weight T z k : (k < T)%nat -> softmax T z k * (1 + others T k (fun t => exp (z t - z k))) = 1.
Proof.
  intros Hk. assert (P := partition_pos T z ltac:(lia)). unfold softmax.
  assert (Q : Sum T (fun s => exp (z s)) = exp (z k) * (1 + others T k (fun t => exp (z t - z k)))).
  { rewrite (Sum_others T k _ Hk), Rmult_plus_distr_l, <- others_scal, Rmult_1_r. f_equal. apply others_ext; intros.
    rewrite <- exp_plus. f_equal. ring. }
  rewrite Q in *. assert (G := exp_pos (z k)). field. split; [|lra]. intros N. rewrite N in P. lra.
Qed.

(** a lead of g gives a weight of at least 1/(1 + ε), ε = (T − 1) exp (−g), with equality only if all gaps are g *)
Lemma leader_gap T z k g : (k < T)%nat -> (forall t, (t < T)%nat -> t <> k -> z t <= z k - g) ->
  let eps := INR (T - 1) * exp (- g) in
  / (1 + eps) <= softmax T z k /\ (softmax T z k = / (1 + eps) <-> forall t, (t < T)%nat -> t <> k -> z t = z k - g).
Proof.
  intros Hk H eps. assert (W := leader_weight T z k Hk). set (D := others T k (fun t => exp (z t - z k))) in *.
  assert (E0 : 0 <= eps) by (apply Rmult_le_pos; [apply pos_INR|left; apply exp_pos]).
  assert (Ec : eps = others T k (fun _ => exp (- g))) by now rewrite others_const.
  assert (D0 : 0 <= D).
  { apply Sum_ge0; intros t _. destruct (t =? k)%nat; [lra|left; apply exp_pos]. }
  assert (DE : D <= eps).
  { rewrite Ec. apply others_le; intros t Ht N. destruct (H t Ht N) as [L|L].
    - left. apply exp_increasing. lra.
    - right. f_equal. lra. }
  assert (V : softmax T z k = / (1 + D)) by (apply (Rmult_eq_reg_r (1 + D)); [rewrite W, Rinv_l; lra|lra]).
  split; [rewrite V; apply Rinv_le_contravar; lra|]. rewrite V. split.
  - intros Q t Ht N. assert (Q' : D = eps) by (apply (f_equal Rinv) in Q; rewrite !Rinv_inv in Q; lra).
    assert (Z : others T k (fun t => exp (- g) + -1 * exp (z t - z k)) = 0).
    { rewrite others_plus, others_scal. fold D. lra. }
    assert (Y := fun P => others_zero T k (fun t => exp (- g) + -1 * exp (z t - z k)) t P Z Ht N). cbv beta in Y.
    assert (Y' : exp (z t - z k) = exp (- g)).
    { apply Rminus_diag_uniq_sym. rewrite <- Y; [ring|]. intros r Hr Nr. destruct (H r Hr Nr) as [L|L].
      - assert (exp (z r - z k) < exp (- g)) by (apply exp_increasing; lra). lra.
      - replace (z r - z k) with (- g) by lra. lra. }
    apply exp_inv in Y'. lra.
  - intros G. f_equal. f_equal. rewrite Ec. apply others_ext; intros t Ht N. f_equal. rewrite (G t Ht N). ring.
Qed.

(** The leading token k apart: w are the weights of the others, r = Σ w_t X_t their share of a. *)
Lemma leader_split T d alpha X k : distribution T alpha -> in_ball T d X -> (k < T)%nat ->
  let p := alpha k in let w t := if (t =? k)%nat then 0 else alpha t in let r := attended T w X in
  Sum T w = 1 - p /\ vnorm d r <= 1 - p /\ - vnorm d r <= dot d (X k) r /\
  trace d (covariance T alpha X) <= p * sq d (X k) + (1 - p) - (p ^ 2 * sq d (X k) + 2 * p * dot d (X k) r + sq d r).
Proof.
  intros H B Hk p w r. assert (Hw : forall t, (t < T)%nat -> 0 <= w t).
  { intros t Ht. unfold w. destruct (t =? k)%nat; [lra|now apply H]. }
  assert (W : Sum T w = 1 - p) by (rewrite <- (proj2 H), (Sum_others T k alpha Hk); unfold others, p, w; ring).
  assert (Ew : forall f, E T alpha f = p * f k + E T w f).
  { intros f. unfold E. rewrite (Sum_others T k _ Hk). f_equal. apply Sum_ext; intros t _. unfold w.
    destruct (t =? k)%nat; ring. }
  assert (W0 : 0 <= 1 - p) by (rewrite <- W; now apply Sum_ge0).
  assert (M2 : E T w (fun t => sq d (X t)) <= 1 - p).
  { rewrite <- W. apply Sum_le; intros t Ht. apply Rle_trans with (w t * 1); [|lra].
    apply Rmult_le_compat_l; [auto|]. now apply norm_le1, B. }
  assert (R2 : sq d r <= (1 - p) ^ 2).
  { apply Rle_trans with ((1 - p) * E T w (fun t => sq d (X t))); [|apply Rle_trans with ((1 - p) * (1 - p)); [|lra];
      now apply Rmult_le_compat_l].
    unfold sq. rewrite E_Sum, <- Sum_scal. apply Sum_le; intros i _. unfold r, attended, E.
    assert (C := Sum_cauchy T w (fun _ => 1) (fun t => X t i) Hw). cbv beta in C.
    rewrite (Sum_ext T (fun t => w t * 1 ^ 2) w) in C by (intros; ring). rewrite W in C.
    rewrite (Sum_ext T _ (fun t => w t * X t i)) in C by (intros; ring). exact C. }
  split; [exact W|]. split; [now apply norm_le|]. split.
  - assert (C := cauchy d (X k) r). apply Rabs_le_between in C. assert (N := norm_ge0 d r).
    assert (vnorm d (X k) * vnorm d r <= 1 * vnorm d r) by (apply Rmult_le_compat_r; auto). lra.
  - rewrite trace_covariance, Ew by easy. replace (sq d (attended T alpha X)) with
      (p ^ 2 * sq d (X k) + 2 * p * dot d (X k) r + sq d r); [lra|].
    transitivity (sq d (vplus (vscal p (X k)) r)); [rewrite sq_plus, sq_scal, dot_scal_l; ring|].
    apply Sum_ext; intros i _. f_equal. symmetry. apply (Ew (fun t => X t i)).
Qed.

(** if ⟨X_k, r⟩ is as small as it can be, the other tokens are opposite to X_k *)
Lemma leader_opposite T d alpha X k : distribution T alpha -> (forall t, (t < T)%nat -> 0 < alpha t) -> in_ball T d X ->
  (k < T)%nat -> dot d (X k) (attended T (fun t => if (t =? k)%nat then 0 else alpha t) X) = - (1 - alpha k) ->
  forall t i, (t < T)%nat -> t <> k -> (i < d)%nat -> X t i = - X k i.
Proof.
  intros H P B Hk D t i Ht N Hi. destruct (leader_split T d alpha X k H B Hk) as (W & _).
  set (w := fun t => _) in *. set (r := attended T w X) in *. set (p := alpha k) in *.
  assert (G : forall s, (s < T)%nat -> 0 <= 1 + dot d (X s) (X k)).
  { intros s Hs. assert (C := cauchy d (X s) (X k)). apply Rabs_le_between in C.
    assert (vnorm d (X s) * vnorm d (X k) <= 1 * 1) by (apply Rmult_le_compat; auto using norm_ge0). lra. }
  assert (Z : w t * (1 + dot d (X t) (X k)) = 0).
  { apply (Sum_zero_terms T (fun t => w t * (1 + dot d (X t) (X k)))); [|.. |exact Ht].
    - intros s Hs. apply Rmult_le_pos; [|now apply G]. unfold w. destruct (s =? k)%nat; [lra|now apply H].
    - rewrite (Sum_ext T _ (fun t => w t + w t * dot d (X t) (X k))) by (intros; ring). rewrite Sum_plus, W.
      change (1 - p + E T w (fun t => dot d (X t) (X k)) = 0). rewrite score_split. fold r. lra. }
  assert (w t <> 0).
  { unfold w. destruct (Nat.eqb_spec t k); [easy|]. specialize (P t Ht). lra. }
  apply Rmult_integral in Z. destruct Z as [Z|Z]; [easy|].
  assert (S0 : sq d (vplus (X t) (X k)) = 0).
  { assert (S0 := sq_ge0 d (vplus (X t) (X k))). rewrite sq_plus in *.
    assert (X1 := proj1 (norm_le1 d (X k)) (B k Hk)). assert (X2 := proj1 (norm_le1 d (X t)) (B t Ht)). lra. }
  assert (K := sq_zero d _ i S0 Hi). unfold vplus in K. lra.
Qed.
