(** Independent draws: the mean of a function over all sequences of draws, each draw averaged given the past. *)
Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.means base.gradient base.squared_loss.
Import ListNotations.
Open Scope R_scope.

(** E F(w) over s independent draws, the last of them first in the list w; draw f is the mean of f over one draw *)
Fixpoint Expect {A : Type} (draw : (A -> R) -> R) (s : nat) (F : list A -> R) : R :=
  match s with O => F [] | S k => Expect draw k (fun w => draw (fun a => F (a :: w))) end.

(** the mean over one batch: b independent uniform draws from 0 … n − 1, with replacement *)
Definition batch (n b : nat) (F : list nat -> R) : R := Expect (mean n) b F.

(** a list of s draws, each with the property P *)
Definition draws {A : Type} (P : A -> Prop) (s : nat) (w : list A) : Prop := length w = s /\ List.Forall P w.

(** a batch of b samples of 0 … n − 1 *)
Definition is_batch (n b : nat) : list nat -> Prop := draws (fun j => (j < n)%nat) b.

(** the sum of f over the entries of a list *)
Definition Over (w : list nat) (f : nat -> R) : R := fold_right (fun j t => f j + t) 0 w.

(** the stochastic gradient of a batch w of b samples: (1/b) Σ_{j ∈ w} 2 r_j ∇f_j(x) *)
Definition batch_gradient (b : nat) (f : nat -> vector -> R) (D : nat -> vector -> vector) (y x : vector)
  (w : list nat) : vector := fun i => / INR b * Over w (fun j => 2 * residual f y x j * D j x i).

(** a mean over one draw with property P: monotone, linear, 1 for the constant 1 *)
Definition is_mean {A : Type} (P : A -> Prop) (draw : (A -> R) -> R) : Prop :=
  (forall f g, (forall a, P a -> f a <= g a) -> draw f <= draw g) /\
  (forall f g, draw (fun a => f a + g a) = draw f + draw g) /\
  (forall c f, draw (fun a => c * f a) = c * draw f) /\ (forall c, draw (fun _ => c) = c).

Lemma mean_is_mean n : (0 < n)%nat -> is_mean (fun j => (j < n)%nat) (mean n).
Proof.
  intros H. split; [|split; [|split]]; intros.
  - now apply mean_le. - apply mean_plus. - apply mean_scal. - now apply mean_const.
Qed.

Section Means.
Context {A : Type} (P : A -> Prop) (draw : (A -> R) -> R).
Hypothesis H : is_mean P draw.

Lemma draw_ext f g : (forall a, P a -> f a = g a) -> draw f = draw g.
Proof. intros K. destruct H as [L _]. apply Rle_antisym; apply L; intros a Ha; rewrite (K a Ha); lra. Qed.

Lemma Expect_mean s : is_mean (draws P s) (Expect draw s).
Proof.
  destruct H as (L & Hp & Hs & Hc). induction s as [|s (L' & Hp' & Hs' & Hc')]; simpl.
  - split; [|split; [|split]]; intros; try easy. apply H0. now split; [|constructor].
  - assert (X : forall F G : list A -> R, (forall w, draws P s w -> F w = G w) -> Expect draw s F = Expect draw s G).
    { intros F G K. apply Rle_antisym; apply L'; intros w Hw; rewrite (K w Hw); lra. }
    split; [|split; [|split]]; intros.
    + apply L'. intros w [W1 W2]. apply L. intros a Ha. apply H0. split; [simpl; now rewrite W1|now constructor].
    + rewrite <- Hp'. apply X. intros. apply Hp.
    + rewrite <- Hs'. apply X. intros. apply Hs.
    + transitivity (Expect draw s (fun _ => c)); [apply X; intros; apply Hc|apply Hc'].
Qed.

End Means.

Lemma batch_mean n b : (0 < n)%nat -> is_mean (is_batch n b) (batch n b).
Proof. intros. apply Expect_mean, mean_is_mean. easy. Qed.

Lemma dot_Over d x w (v : nat -> vector) : dot d x (fun i => Over w (fun j => v j i)) = Over w (fun j => dot d x (v j)).
Proof.
  induction w; simpl; [unfold dot; rewrite (Sum_ext d _ (fun _ => 0)), Sum_zero; intros; [easy|ring]|].
  rewrite <- IHw. unfold dot. rewrite <- Sum_plus. apply Sum_ext. intros; ring.
Qed.

(** E Σ_{j ∈ w} f_j = b · (1/n) Σ f_j *)
Lemma batch_Over n b f : (0 < n)%nat -> batch n b (fun w => Over w f) = INR b * mean n f.
Proof.
  intros Hn. unfold batch. induction b; [simpl; ring|]. rewrite S_INR. cbn [Expect].
  assert (K := batch_mean n b Hn). unfold batch in K.
  rewrite (draw_ext _ _ K _ (fun w => mean n f + Over w f)).
  - destruct K as (_ & Hp & _ & Hc). rewrite Hp, Hc, IHb. ring.
  - intros w _. simpl. now rewrite mean_plus, (mean_const n _ Hn).
Qed.

(** E ‖Σ_{j ∈ w} v_j‖² = b · (1/n) Σ ‖v_j‖² + b (b − 1) ‖(1/n) Σ v_j‖² *)
Lemma batch_square n b d (v : nat -> vector) : (0 < n)%nat ->
  batch n b (fun w => sq d (fun i => Over w (fun j => v j i))) =
  INR b * mean n (fun j => sq d (v j)) + INR b * (INR b - 1) * sq d (fun i => mean n (fun j => v j i)).
Proof.
  intros Hn. set (m := fun i => mean n (fun j => v j i)). unfold batch.
  assert (Dm : forall x, mean n (fun j => dot d x (v j)) = dot d x m).
  { intros x. rewrite (dot_sym d x m). unfold m. rewrite <- (mean_ext n (fun j => 1 * dot d (v j) x)) by
      (intros; rewrite dot_sym; ring). rewrite <- (dot_mean d n (fun _ => 1) v x). unfold dot. apply Sum_ext. intros.
    f_equal. apply mean_ext. intros; ring. }
  induction b.
  - simpl. unfold sq. rewrite (Sum_ext d _ (fun _ => 0)), Sum_zero; intros; ring.
  - cbn [Expect]. assert (K := batch_mean n b Hn). unfold batch in K.
    rewrite (draw_ext _ _ K _ (fun w => mean n (fun j => sq d (v j)) +
      (2 * Over w (fun j => dot d m (v j)) + sq d (fun i => Over w (fun j => v j i))))).
    + destruct K as (_ & Hp & Hs & Hc). rewrite Hp, Hp, Hs, Hc, IHb, S_INR.
      assert (O := batch_Over n b (fun j => dot d m (v j)) Hn). unfold batch in O. rewrite O, Dm, <- sq_dot. ring.
    + intros w _. rewrite <- (mean_const n (sq d (fun i => Over w (fun j => v j i))) Hn).
      rewrite <- (dot_Over d m w v), dot_sym, <- Dm, <- mean_scal, <- !mean_plus. apply mean_ext. intros j _.
      simpl. change (fun i => v j i + Over w (fun k => v k i)) with (vplus (v j) (fun i => Over w (fun k => v k i))).
      rewrite sq_plus, (dot_sym d (v j)). ring.
Qed.

Lemma batch_direction n b p f D y x g u : (0 < n)%nat -> (0 < b)%nat ->
  (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) -> gradient p (loss n f y) x g ->
  batch n b (fun w => dot p (batch_gradient b f D y x w) u) = dot p g u.
Proof.
  intros Hn Hb G K. assert (B := INR_pos b Hb). assert (M := batch_mean n b Hn).
  rewrite (draw_ext _ _ M _ (fun w => / INR b * Over w (fun j => 2 * residual f y x j * dot p (D j x) u))).
  - destruct M as (_ & _ & Hs & _). rewrite Hs, (batch_Over n b _ Hn), (loss_gradient_dot p n f y x D g u G K). field.
    lra.
  - intros w _. rewrite dot_sym. unfold batch_gradient.
    change (fun i => / INR b * Over w (fun j => 2 * residual f y x j * D j x i))
      with (vscal (/ INR b) (fun i => Over w (fun j => (vscal (2 * residual f y x j) (D j x)) i))).
    rewrite dot_scal_r, dot_Over. f_equal. induction w; simpl; [easy|]. rewrite IHw, dot_scal_r, dot_sym. easy.
Qed.

(** E‖g‖² = (1/b)(4/n) Σ r_j² ‖∇f_j‖² + (1 − 1/b) ‖∇L‖² *)
Lemma batch_second_moment n b p f D y x g : (0 < n)%nat -> (0 < b)%nat ->
  (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) -> gradient p (loss n f y) x g ->
  batch n b (fun w => sq p (batch_gradient b f D y x w)) =
  / INR b * (4 * mean n (fun j => residual f y x j ^ 2 * sq p (D j x))) + (1 - / INR b) * sq p g.
Proof.
  intros Hn Hb G K. assert (B := INR_pos b Hb). assert (M := batch_mean n b Hn).
  rewrite (draw_ext _ _ M _ (fun w => (/ INR b) ^ 2 *
    sq p (fun i => Over w (fun j => (vscal (2 * residual f y x j) (D j x)) i)))).
  - destruct M as (_ & _ & Hs & _). rewrite Hs, (batch_square n b p (fun j => vscal (2 * residual f y x j) (D j x)) Hn).
    rewrite (mean_ext n (fun j => sq p (vscal (2 * residual f y x j) (D j x)))
      (fun j => 4 * (residual f y x j ^ 2 * sq p (D j x)))) by (intros; rewrite sq_scal; ring).
    rewrite mean_scal, (gradient_sq p _ x g _ K (loss_gradient p n f y x D G)). unfold vscal. field. lra.
  - intros w _. rewrite <- sq_scal. apply sq_ext. intros i _. reflexivity.
Qed.

(** (1/n) Σ r_j² ‖∇f_j‖² ≤ Q L *)
Lemma largest_gradient n p f D y x Q : (forall j, (j < n)%nat -> sq p (D j x) <= Q) ->
  mean n (fun j => residual f y x j ^ 2 * sq p (D j x)) <= Q * loss n f y x.
Proof.
  intros H. unfold loss. rewrite <- mean_scal. apply mean_le. intros j Hj. rewrite Rmult_comm.
  apply Rmult_le_compat_r; [apply pow2_ge_0|auto].
Qed.
