(** Independent draws: the mean of a function over all sequences of draws, each draw averaged given the past. *)
Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.squared_loss.
Import ListNotations.
Open Scope R_scope.

(** E F(w) over s independent draws, the last of them first in the list w; draw f is the mean of f over one draw *)
Fixpoint Expect {A : Type} (draw : (A -> R) -> R) (s : nat) (F : list A -> R) : R :=
  match s with O => F [] | S k => Expect draw k (fun w => draw (fun a => F (a :: w))) end.

(** the mean over one batch: b independent uniform draws from 0 … n − 1, with replacement *)
Definition batch (n b : nat) (F : list nat -> R) : R := Expect (Mean n) b F.

(** a list of s draws, each with the property P *)
Definition draws {A : Type} (P : A -> Prop) (s : nat) (w : list A) : Prop := length w = s /\ List.Forall P w.

(** a batch of b samples of 0 … n − 1 *)
Definition is_batch (n b : nat) : list nat -> Prop := draws (fun j => (j < n)%nat) b.

(** the sum of f over the entries of a list *)
Definition Over (w : list nat) (f : nat -> R) : R := fold_right (fun j t => f j + t) 0 w.

(** the stochastic gradient of a batch w of b samples: (1/b) Σ_{j ∈ w} 2 r_j ∇f_j(x) *)
Definition batch_gradient (b : nat) (f : nat -> vector -> R) (D : nat -> vector -> vector) (y x : vector)
  (w : list nat) : vector := fun i => / INR b * Over w (fun j => 2 * residual f y x j * D j x i).

(** φ⁽ˢ⁾ of a run of τ steps along the draws w, where phi w' is the point reached by the draws w' *)
Definition iterate {A : Type} (tau : nat) (phi : list A -> vector) (w : list A) (s : nat) : vector :=
  phi (skipn (tau - s) w).

(** a mean over one draw with property P: monotone, linear, 1 for the constant 1 *)
Definition is_mean {A : Type} (P : A -> Prop) (draw : (A -> R) -> R) : Prop :=
  (forall f g, (forall a, P a -> f a <= g a) -> draw f <= draw g) /\
  (forall f g, draw (fun a => f a + g a) = draw f + draw g) /\
  (forall c f, draw (fun a => c * f a) = c * draw f) /\ (forall c, draw (fun _ => c) = c).

Lemma Mean_is_mean n : (0 < n)%nat -> is_mean (fun j => (j < n)%nat) (Mean n).
Proof.
  intros H. split; [|split; [|split]]; intros.
  - now apply Mean_le. - apply Mean_plus. - apply Mean_scal. - now apply Mean_const.
Qed.

Section Means.
Context {A : Type} (P : A -> Prop) (draw : (A -> R) -> R).
Hypothesis H : is_mean P draw.

Lemma mean_ext f g : (forall a, P a -> f a = g a) -> draw f = draw g.
Proof. intros K. destruct H as [L _]. apply Rle_antisym; apply L; intros a Ha; rewrite (K a Ha); lra. Qed.

Lemma mean_minus f g : draw (fun a => f a - g a) = draw f - draw g.
Proof.
  destruct H as (_ & Hp & Hs & _). rewrite (mean_ext _ (fun a => f a + -1 * g a)) by (intros; ring). rewrite Hp, Hs.
  ring.
Qed.

Lemma mean_ge0 f : (forall a, P a -> 0 <= f a) -> 0 <= draw f.
Proof. intros K. destruct H as (L & _ & _ & C). rewrite <- (C 0). now apply L. Qed.

(** (E f g)² ≤ E f² · E g² *)
Lemma mean_cauchy f g : draw (fun a => f a * g a) ^ 2 <= draw (fun a => f a ^ 2) * draw (fun a => g a ^ 2).
Proof.
  destruct H as (L & Hp & Hs & Hc). set (u := draw (fun a => f a ^ 2)). set (v := draw (fun a => g a ^ 2)).
  set (c := draw (fun a => f a * g a)).
  assert (Q : forall t, 0 <= t ^ 2 * u + (- 2 * t * c + v)).
  { intros t. unfold u, v, c. rewrite <- !Hs, <- !Hp. apply mean_ge0. intros a _.
    replace (t ^ 2 * f a ^ 2 + (- 2 * t * (f a * g a) + g a ^ 2)) with ((t * f a - g a) ^ 2) by ring. apply pow2_ge_0. }
  assert (U : 0 <= u) by (apply mean_ge0; intros; apply pow2_ge_0). destruct U as [U|U].
  - specialize (Q (c / u)). apply (Rmult_le_compat_l u) in Q; [|lra].
    replace (u * ((c / u) ^ 2 * u + (-2 * (c / u) * c + v))) with (u * v - c ^ 2) in Q by (field; lra). lra.
  - rewrite <- U in *. destruct (Req_dec c 0) as [Z|Z]; [rewrite Z; lra|exfalso].
    specialize (Q ((v + 1) / (2 * c))). replace (((v + 1) / (2 * c)) ^ 2 * 0 + (-2 * ((v + 1) / (2 * c)) * c + v))
      with (-1) in Q by (field; easy). lra.
Qed.

Lemma mean_product f g : draw (fun a => f a * g a) <= sqrt (draw (fun a => f a ^ 2)) * sqrt (draw (fun a => g a ^ 2)).
Proof.
  apply le_of_sq; [apply Rmult_le_pos; apply sqrt_pos|]. rewrite Rpow_mult_distr, !pow2_sqrt
    by (apply mean_ge0; intros; apply pow2_ge_0). apply mean_cauchy.
Qed.

(** E √f ≤ √(E f) *)
Lemma mean_sqrt f : (forall a, P a -> 0 <= f a) -> draw (fun a => sqrt (f a)) <= sqrt (draw f).
Proof.
  intros K. assert (C := mean_product (fun a => sqrt (f a)) (fun _ => 1)). cbv beta in C.
  rewrite (mean_ext (fun a => sqrt (f a) * 1) (fun a => sqrt (f a))) in C by (intros; ring).
  rewrite (mean_ext (fun a => sqrt (f a) ^ 2) f) in C by (intros; rewrite pow2_sqrt; auto).
  rewrite (mean_ext (fun _ => 1 ^ 2) (fun _ => 1)) in C by (intros; ring).
  destruct H as (_ & _ & _ & Hc). rewrite Hc, sqrt_1 in C. lra.
Qed.

Lemma mean_Sum m (f : nat -> A -> R) : draw (fun a => Sum m (fun s => f s a)) = Sum m (fun s => draw (f s)).
Proof. destruct H as (_ & Hp & _ & Hc). induction m; simpl; [apply Hc|]. now rewrite Hp, IHm. Qed.

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

(** What depends on the first s of τ draws only *)
Lemma Expect_past tau s F : (s <= tau)%nat -> Expect draw tau (fun w => F (skipn (tau - s) w)) = Expect draw s F.
Proof.
  induction tau; intros K; [now replace s with O by lia|].
  destruct (Nat.eq_dec s (S tau)) as [->|]; [rewrite Nat.sub_diag; easy|].
  rewrite <- (IHtau ltac:(lia)). replace (S tau - s)%nat with (S (tau - s)) by lia. simpl.
  destruct (Expect_mean tau) as (L & _ & _ & _). destruct H as (_ & _ & _ & Hc).
  apply Rle_antisym; apply L; intros w _; rewrite Hc; lra.
Qed.
End Means.

Lemma batch_mean n b : (0 < n)%nat -> is_mean (is_batch n b) (batch n b).
Proof. intros. apply Expect_mean, Mean_is_mean. easy. Qed.

Lemma dot_Over d x w (v : nat -> vector) : dot d x (fun i => Over w (fun j => v j i)) = Over w (fun j => dot d x (v j)).
Proof.
  induction w; simpl; [unfold dot; rewrite (Sum_ext d _ (fun _ => 0)), Sum_zero; intros; [easy|ring]|].
  rewrite <- IHw. unfold dot. rewrite <- Sum_plus. apply Sum_ext. intros; ring.
Qed.

(** E Σ_{j ∈ w} f_j = b · (1/n) Σ f_j *)
Lemma batch_Over n b f : (0 < n)%nat -> batch n b (fun w => Over w f) = INR b * Mean n f.
Proof.
  intros Hn. unfold batch. induction b; [simpl; ring|]. rewrite S_INR. cbn [Expect].
  assert (K := batch_mean n b Hn). unfold batch in K.
  rewrite (mean_ext _ _ K _ (fun w => Mean n f + Over w f)).
  - destruct K as (_ & Hp & _ & Hc). rewrite Hp, Hc, IHb. ring.
  - intros w _. simpl. now rewrite Mean_plus, (Mean_const n _ Hn).
Qed.

(** E ‖Σ_{j ∈ w} v_j‖² = b · (1/n) Σ ‖v_j‖² + b (b − 1) ‖(1/n) Σ v_j‖² *)
Lemma batch_square n b d (v : nat -> vector) : (0 < n)%nat ->
  batch n b (fun w => sq d (fun i => Over w (fun j => v j i))) =
  INR b * Mean n (fun j => sq d (v j)) + INR b * (INR b - 1) * sq d (fun i => Mean n (fun j => v j i)).
Proof.
  intros Hn. set (m := fun i => Mean n (fun j => v j i)). unfold batch.
  assert (Dm : forall x, Mean n (fun j => dot d x (v j)) = dot d x m).
  { intros x. rewrite (dot_sym d x m). unfold m. rewrite <- (Mean_ext n (fun j => 1 * dot d (v j) x)) by
      (intros; rewrite dot_sym; ring). rewrite <- (dot_Mean d n (fun _ => 1) v x). unfold dot. apply Sum_ext. intros.
    f_equal. apply Mean_ext. intros; ring. }
  induction b.
  - simpl. unfold sq. rewrite (Sum_ext d _ (fun _ => 0)), Sum_zero; intros; ring.
  - cbn [Expect]. assert (K := batch_mean n b Hn). unfold batch in K.
    rewrite (mean_ext _ _ K _ (fun w => Mean n (fun j => sq d (v j)) +
      (2 * Over w (fun j => dot d m (v j)) + sq d (fun i => Over w (fun j => v j i))))).
    + destruct K as (_ & Hp & Hs & Hc). rewrite Hp, Hp, Hs, Hc, IHb, S_INR.
      assert (O := batch_Over n b (fun j => dot d m (v j)) Hn). unfold batch in O. rewrite O, Dm, <- sq_dot. ring.
    + intros w _. rewrite <- (Mean_const n (sq d (fun i => Over w (fun j => v j i))) Hn).
      rewrite <- (dot_Over d m w v), dot_sym, <- Dm, <- Mean_scal, <- !Mean_plus. apply Mean_ext. intros j _.
      simpl. change (fun i => v j i + Over w (fun k => v k i)) with (vplus (v j) (fun i => Over w (fun k => v k i))).
      rewrite sq_plus, (dot_sym d (v j)). ring.
Qed.

Lemma batch_direction n b p f D y x g u : (0 < n)%nat -> (0 < b)%nat ->
  (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) -> gradient p (loss n f y) x g ->
  batch n b (fun w => dot p (batch_gradient b f D y x w) u) = dot p g u.
Proof.
  intros Hn Hb G K. assert (B := INR_pos b Hb). assert (M := batch_mean n b Hn).
  rewrite (mean_ext _ _ M _ (fun w => / INR b * Over w (fun j => 2 * residual f y x j * dot p (D j x) u))).
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
  / INR b * (4 * Mean n (fun j => residual f y x j ^ 2 * sq p (D j x))) + (1 - / INR b) * sq p g.
Proof.
  intros Hn Hb G K. assert (B := INR_pos b Hb). assert (M := batch_mean n b Hn).
  rewrite (mean_ext _ _ M _ (fun w => (/ INR b) ^ 2 *
    sq p (fun i => Over w (fun j => (vscal (2 * residual f y x j) (D j x)) i)))).
  - destruct M as (_ & _ & Hs & _). rewrite Hs, (batch_square n b p (fun j => vscal (2 * residual f y x j) (D j x)) Hn).
    rewrite (Mean_ext n (fun j => sq p (vscal (2 * residual f y x j) (D j x)))
      (fun j => 4 * (residual f y x j ^ 2 * sq p (D j x)))) by (intros; rewrite sq_scal; ring).
    rewrite Mean_scal, (gradient_sq p _ x g _ K (loss_gradient p n f y x D G)). unfold vscal. field. lra.
  - intros w _. rewrite <- sq_scal. apply sq_ext. intros i _. reflexivity.
Qed.

(** The mean over a batch of the squared distance after a projected step *)
Lemma batch_step n b p f D y Omega x (x' : list nat -> vector) z eta g : (0 < n)%nat -> (0 < b)%nat -> convex Omega ->
  Omega z ->
  (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) -> gradient p (loss n f y) x g ->
  (forall w, is_batch n b w -> nearest p Omega (vminus x (vscal eta (batch_gradient b f D y x w))) (x' w)) ->
  batch n b (fun w => sq p (vminus (x' w) z)) <= sq p (vminus x z) + 2 * eta * dot p g (vminus z x) + eta ^ 2 *
    (/ INR b * (4 * Mean n (fun j => residual f y x j ^ 2 * sq p (D j x))) + (1 - / INR b) * sq p g).
Proof.
  intros Hn Hb C Hz G K N. rewrite <- (batch_second_moment n b p f D y x g Hn Hb G K).
  rewrite <- (batch_direction n b p f D y x g (vminus z x) Hn Hb G K).
  assert (M := batch_mean n b Hn). destruct M as (L & Hp & Hs & Hc).
  rewrite <- (Hc (sq p (vminus x z))) at 1. rewrite <- !Hs, <- !Hp. apply L. intros w Hw.
  assert (Q := nearest_gain p Omega _ _ z C (N w Hw) Hz). rewrite (expand p x _ z eta), (sq_opp p z) in Q.
  assert (S := sq_ge0 p (vminus (vminus x (vscal eta (batch_gradient b f D y x w))) (x' w))). lra.
Qed.

(** (1/n) Σ r_j² ‖∇f_j‖² ≤ Q L *)
Lemma largest_gradient n p f D y x Q : (forall j, (j < n)%nat -> sq p (D j x) <= Q) ->
  Mean n (fun j => residual f y x j ^ 2 * sq p (D j x)) <= Q * loss n f y x.
Proof.
  intros H. unfold loss. rewrite <- Mean_scal. apply Mean_le. intros j Hj. rewrite Rmult_comm.
  apply Rmult_le_compat_r; [apply pow2_ge_0|auto].
Qed.

(** ‖∇L‖² ≤ (4/n) Σ r_j² ‖∇f_j‖² *)
Lemma gradient_below_mean n p f D y x g : (0 < n)%nat -> (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) ->
  gradient p (loss n f y) x g -> sq p g <= 4 * Mean n (fun j => residual f y x j ^ 2 * sq p (D j x)).
Proof.
  intros Hn G K. enough (sq p g <= 2 * Mean n (fun j => residual f y x j ^ 2 * sq p (D j x)) + / 2 * sq p g) by lra.
  rewrite sq_dot at 1. rewrite (loss_gradient_dot p n f y x D g g G K), <- (Mean_const n (/ 2 * sq p g) Hn), <-
    Mean_scal,
    <- Mean_plus. apply Mean_le. intros j _.
  assert (S := sq_ge0 p (vminus (vscal (2 * residual f y x j) (D j x)) g)).
  rewrite sq_minus, sq_scal, dot_scal_l in S. lra.
Qed.

(** A run of stochastic gradients: from the point reached by the draws w, the batch B leads to a nearest point of Ω *)
Definition stochastic_run (p n b tau : nat) f D (y : vector) (Omega : vector -> Prop) (eta : R)
  (phi : list (list nat) -> vector) : Prop :=
  forall s w B, (s < tau)%nat -> draws (is_batch n b) s w -> is_batch n b B ->
  nearest p Omega (vminus (phi w) (vscal eta (batch_gradient b f D y (phi w) B))) (phi (B :: w)).

(** the mean square of the stochastic gradient of a batch of b samples at x *)
Definition second_moment (p n b : nat) f D (y x : vector) : R :=
  batch n b (fun B => sq p (batch_gradient b f D y x B)).

Lemma expected_step p n b tau f D y Omega z eta phi s : (0 < n)%nat -> (0 < b)%nat ->
  (forall j x, (j < n)%nat -> gradient p (f j) x (D j x)) -> convex Omega -> Omega z ->
  stochastic_run p n b tau f D y Omega eta phi -> (s < tau)%nat ->
  Expect (batch n b) (S s) (fun w => sq p (vminus (phi w) z)) <=
  Expect (batch n b) s (fun w => sq p (vminus (phi w) z) + 4 * eta * (- loss n f y (phi w)
    + Mean n (fun j => residual f y (phi w) j * tangent_error p f D y (phi w) z j))
    + eta ^ 2 * second_moment p n b f D y (phi w)).
Proof.
  intros Hn Hb G C Hz R Hs. cbn [Expect]. assert (M := Expect_mean _ _ (batch_mean n b Hn) s). destruct M as (L & _).
  apply L. intros w Hw. set (g := fun i => Mean n (fun j => 2 * residual f y (phi w) j * D j (phi w) i)).
  assert (K : gradient p (loss n f y) (phi w) g) by (apply loss_gradient; intros; now apply G).
  assert (T := batch_step n b p f D y Omega (phi w) (fun B => phi (B :: w)) z eta g Hn Hb C Hz
    (fun j => G j (phi w)) K (fun B => R s w B Hs Hw)). cbv beta in T.
  rewrite (pull p n f y (phi w) D g z (fun j => G j (phi w)) K) in T. unfold second_moment.
  rewrite (batch_second_moment n b p f D y (phi w) g Hn Hb (fun j => G j (phi w)) K). lra.
Qed.

Lemma run_inside p n b tau f D y (Omega : vector -> Prop) eta (phi : list (list nat) -> vector) : Omega (phi []) ->
  stochastic_run p n b tau f D y Omega eta phi ->
  forall s w, (s <= tau)%nat -> draws (is_batch n b) s w -> Omega (phi w).
Proof.
  intros H0 R s w Hs [W1 W2]. destruct w as [|B w]; [easy|]. simpl in W1. destruct s; [lia|].
  inversion W2 as [|? ? HB HW]; subst. now apply (R s w B ltac:(lia)); [split; [lia|]|].
Qed.

Lemma draws_skipn {A} (P : A -> Prop) tau s w : (s <= tau)%nat -> draws P tau w -> draws P s (skipn (tau - s) w).
Proof.
  intros Hs [W1 W2]. split; [rewrite skipn_length; lia|].
  rewrite <- (firstn_skipn (tau - s) w) in W2. now apply List.Forall_app in W2.
Qed.

(** E (1/τ) Σ_s F(φ⁽ˢ⁾) = (1/τ) Σ_s E F(φ⁽ˢ⁾) *)
Lemma Expect_Mean_iterates {A} (P : A -> Prop) draw tau (phi : list A -> vector) F : is_mean P draw ->
  Expect draw tau (fun w => Mean tau (fun s => F (iterate tau phi w s))) =
  Mean tau (fun s => Expect draw s (fun w => F (phi w))).
Proof.
  intros H. assert (M := Expect_mean P draw H tau). unfold Mean at 1.
  destruct M as (L & Hp & Hs & Hc) eqn:E. rewrite Hs, (mean_Sum _ _ (Expect_mean P draw H tau)). unfold Mean. f_equal.
  apply Sum_ext. intros s Hs'. apply (Expect_past P draw H tau s (fun w => F (phi w))). lia.
Qed.
