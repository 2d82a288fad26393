(** Descent on a mean squared loss in ℝᵖ: gradients, nearest points, residuals, Gram matrices. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors.
Open Scope R_scope.

(** Mean n f = (f 0 + … + f (n − 1)) / n *)
Definition Mean (n : nat) (f : nat -> R) : R := / INR n * Sum n f.

(** Min n f = min (f 0, …, f (n − 1)) for n ≥ 1 *)
Fixpoint Min (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S O => f O | S k => Rmin (Min k f) (f k) end.

(** g is the gradient of F at x in ℝᵖ: F has at x the derivative ⟨g, v⟩ in every direction v *)
Definition gradient (p : nat) (F : vector -> R) (x g : vector) : Prop :=
  forall v, is_derive (fun t => F (vplus x (vscal t v))) 0 (dot p g v).

(** the set Ω contains with two points the segment between them *)
Definition convex (Omega : vector -> Prop) : Prop :=
  forall x z t, Omega x -> Omega z -> 0 <= t <= 1 -> Omega (vplus x (vscal t (vminus z x))).

(** z is a point of Ω that is nearest to x in ℝᵖ *)
Definition nearest (p : nat) (Omega : vector -> Prop) (x z : vector) : Prop :=
  Omega z /\ forall psi, Omega psi -> sq p (vminus x z) <= sq p (vminus x psi).

(** one step of projected gradient descent: x' = Π(x − η ∇F(x)), with Π a nearest point of Ω *)
Definition projected_step (p : nat) (Omega : vector -> Prop) (F : vector -> R) (eta : R) (x x' : vector) : Prop :=
  exists g, gradient p F x g /\ nearest p Omega (vminus x (vscal eta g)) x'.

(** r_j = f_j(x) − y_j *)
Definition residual (f : nat -> vector -> R) (y x : vector) : vector := fun j => f j x - y j.

(** (1/n) Σ r_j² *)
Definition loss (n : nat) (f : nat -> vector -> R) (y x : vector) : R := Mean n (fun j => residual f y x j ^ 2).

(** e_j = f_j(x) − y_j + ⟨∇f_j(x), z − x⟩: the tangent model at x, read at z, less the label *)
Definition tangent_error (p : nat) (f : nat -> vector -> R) (D : nat -> vector -> vector) (y x z : vector) : vector :=
  fun j => residual f y x j + dot p (D j x) (vminus z x).

(** f_lin at u: the tangent of f_j at x, f_j(x) + ⟨∇f_j(x), u − x⟩ *)
Definition linear_model (p : nat) (f : nat -> vector -> R) (D : nat -> vector -> vector) (x : vector) (j : nat)
  (u : vector) : R := f j x + dot p (D j x) (vminus u x).

(** the average iterate (1/τ) Σ φ⁽ˢ⁾ *)
Definition average (tau : nat) (phi : nat -> vector) : vector := fun i => Mean tau (fun s => phi s i).

(** the root mean square ((1/n) Σ e_j²)^(1/2) *)
Definition rms (n : nat) (e : vector) : R := sqrt (Mean n (fun j => e j ^ 2)).

(** G_jk = ⟨∇f_j, ∇f_k⟩ at the point x, and rᵀGr *)
Definition gram (p : nat) (D : nat -> vector -> vector) (x : vector) : matrix := fun j k => dot p (D j x) (D k x).
Definition quadratic (n : nat) (G : matrix) (r : vector) : R := Sum n (fun j => r j * matvec n G r j).

(** λ is the largest eigenvalue of the symmetric G: an eigenvalue that no Rayleigh quotient exceeds *)
Definition largest_eigenvalue (n : nat) (G : matrix) (lam : R) : Prop :=
  (exists v, sq n v <> 0 /\ forall j, (j < n)%nat -> matvec n G v j = lam * v j) /\
  forall v, quadratic n G v <= lam * sq n v.

Lemma Mean_ext n f g : (forall j, (j < n)%nat -> f j = g j) -> Mean n f = Mean n g.
Proof. intros H. unfold Mean. f_equal. now apply Sum_ext. Qed.

Lemma Mean_plus n f g : Mean n (fun j => f j + g j) = Mean n f + Mean n g.
Proof. unfold Mean. rewrite Sum_plus. ring. Qed.

Lemma Mean_minus n f g : Mean n (fun j => f j - g j) = Mean n f - Mean n g.
Proof. unfold Mean. rewrite Sum_minus. ring. Qed.

Lemma Mean_scal n c f : Mean n (fun j => c * f j) = c * Mean n f.
Proof. unfold Mean. rewrite Sum_scal. ring. Qed.

Lemma INR_pos n : (0 < n)%nat -> 0 < INR n.
Proof. intros. now apply lt_0_INR. Qed.

Lemma Mean_const n c : (0 < n)%nat -> Mean n (fun _ => c) = c.
Proof. intros H. apply INR_pos in H. unfold Mean. rewrite Sum_const. field. lra. Qed.

Lemma inv_ge0 n : 0 <= / INR n.
Proof. destruct n; [simpl; rewrite Rinv_0; lra|]. left. apply Rinv_0_lt_compat, INR_pos. lia. Qed.

Lemma Mean_le n f g : (forall j, (j < n)%nat -> f j <= g j) -> Mean n f <= Mean n g.
Proof. intros H. apply Rmult_le_compat_l; [apply inv_ge0|now apply Sum_le]. Qed.

Lemma Mean_ge0 n f : (forall j, (j < n)%nat -> 0 <= f j) -> 0 <= Mean n f.
Proof. intros H. apply Rmult_le_pos; [apply inv_ge0|now apply Sum_ge0]. Qed.

Lemma Min_le n f i : (i < n)%nat -> Min n f <= f i.
Proof.
  induction n as [|[|n] IH]; intros H; [lia|replace i with O by lia; simpl; lra|].
  change (Rmin (Min (S n) f) (f (S n)) <= f i). destruct (Nat.eq_dec i (S n)) as [->|]; [apply Rmin_r|].
  eapply Rle_trans; [apply Rmin_l|apply IH; lia].
Qed.

Lemma Min_le_Mean n f : (0 < n)%nat -> Min n f <= Mean n f.
Proof. intros H. rewrite <- (Mean_const n (Min n f) H). apply Mean_le. intros; now apply Min_le. Qed.

(** (1/n Σ f g)² ≤ 1/n Σ f² · 1/n Σ g² *)
Lemma Mean_cauchy n f g : Mean n (fun j => f j * g j) ^ 2 <= Mean n (fun j => f j ^ 2) * Mean n (fun j => g j ^ 2).
Proof.
  assert (H := Sum_cauchy n (fun _ => / INR n) f g (fun _ _ => inv_ge0 n)). cbv beta in H. now rewrite !Sum_scal in H.
Qed.

Lemma rms_ge0 n e : 0 <= rms n e.
Proof. apply sqrt_pos. Qed.

Lemma rms_sq n e : rms n e ^ 2 = Mean n (fun j => e j ^ 2).
Proof. apply pow2_sqrt, Mean_ge0. intros; apply pow2_ge_0. Qed.

Lemma le_of_sq a b : 0 <= b -> a ^ 2 <= b ^ 2 -> a <= b.
Proof. intros Hb H. apply Rsqr_incr_0_var; [|easy]. rewrite !Rsqr_pow2. easy. Qed.

Lemma Mean_rms n f g : Mean n (fun j => f j * g j) <= rms n f * rms n g.
Proof.
  apply le_of_sq; [apply Rmult_le_pos; apply rms_ge0|]. rewrite Rpow_mult_distr, !rms_sq. apply Mean_cauchy.
Qed.

(** Minkowski *)
Lemma rms_plus n f g : rms n (fun j => f j + g j) <= rms n f + rms n g.
Proof.
  apply le_of_sq; [apply Rplus_le_le_0_compat; apply rms_ge0|]. rewrite rms_sq.
  rewrite (Mean_ext n _ (fun j => f j ^ 2 + (2 * (f j * g j) + g j ^ 2))) by (intros; ring).
  rewrite !Mean_plus, Mean_scal, <- !rms_sq. assert (H := Mean_rms n f g). lra.
Qed.

Lemma rms_ext n f g : (forall j, (j < n)%nat -> f j = g j) -> rms n f = rms n g.
Proof. intros H. unfold rms. f_equal. apply Mean_ext. intros. now rewrite H. Qed.

Lemma rms_scal n c f : rms n (fun j => c * f j) = Rabs c * rms n f.
Proof.
  unfold rms. rewrite (Mean_ext n _ (fun j => c ^ 2 * f j ^ 2)) by (intros; ring).
  rewrite Mean_scal, sqrt_mult_alt by apply pow2_ge_0. now rewrite <- Rsqr_pow2, sqrt_Rsqr_abs.
Qed.

Lemma rms_Sum n m f : rms n (fun j => Sum m (fun s => f s j)) <= Sum m (fun s => rms n (f s)).
Proof.
  induction m; simpl; [|eapply Rle_trans; [apply rms_plus|]; lra].
  unfold rms. rewrite (Mean_ext n _ (fun j => 0 * 0)), Mean_scal, Rmult_0_l, sqrt_0 by (intros; ring). lra.
Qed.

(** (1/m Σ x)² ≤ 1/m Σ x² *)
Lemma Mean_sq m x : (0 < m)%nat -> Mean m x ^ 2 <= Mean m (fun s => x s ^ 2).
Proof.
  intros H. assert (C := Mean_cauchy m (fun _ => 1) x). cbv beta in C.
  rewrite (Mean_ext m (fun _ => 1 ^ 2) (fun _ => 1)) in C by (intros; ring).
  rewrite (Mean_const m 1 H) in C. rewrite (Mean_ext m (fun j => 1 * x j) x) in C by (intros; ring). lra.
Qed.

Lemma Mean_le_rms m x : (0 < m)%nat -> Mean m x <= rms m x.
Proof. intros H. apply le_of_sq; [apply rms_ge0|]. rewrite rms_sq. now apply Mean_sq. Qed.

Lemma dot_minus_r d x y z : dot d x (vminus y z) = dot d x y - dot d x z.
Proof. now rewrite dot_sym, dot_minus_l, !(dot_sym d _ x). Qed.

Lemma dot_scal_r d c x y : dot d x (vscal c y) = c * dot d x y.
Proof. now rewrite dot_sym, dot_scal_l, dot_sym. Qed.

Lemma sq_ext d x y : (forall i, (i < d)%nat -> x i = y i) -> sq d x = sq d y.
Proof. intros H. apply Sum_ext. intros. now rewrite H. Qed.

Lemma sq_opp d x y : sq d (vminus x y) = sq d (vminus y x).
Proof. apply Sum_ext. intros. unfold vminus. ring. Qed.

Lemma sq_zero d x : sq d x = 0 -> forall i, (i < d)%nat -> x i = 0.
Proof.
  intros H i Hi. assert (T := Sum_term d (fun i => x i ^ 2) i Hi (fun j _ => pow2_ge_0 (x j))).
  unfold sq in H. assert (S := pow2_ge_0 (x i)). cbv beta in T. apply Rsqr_0_uniq. rewrite Rsqr_pow2. lra.
Qed.

(** From a nearest point of a convex set every point of the set lies on the other side: ⟨x − z, ψ − z⟩ ≤ 0. *)
Lemma nearest_angle p Omega x z psi : convex Omega -> nearest p Omega x z -> Omega psi ->
  dot p (vminus x z) (vminus psi z) <= 0.
Proof.
  intros C [Hz N] Hpsi. set (D := dot p (vminus x z) (vminus psi z)). set (Q := sq p (vminus psi z)).
  assert (HQ : 0 <= Q) by apply sq_ge0. destruct (Rle_or_lt D 0) as [|HD]; [easy|exfalso].
  assert (A : forall t, 0 <= t <= 1 -> 0 <= - (2 * t * D) + t ^ 2 * Q).
  { intros t Ht. specialize (N _ (C z psi t Hz Hpsi Ht)).
    rewrite (sq_ext p (vminus x (vplus z (vscal t (vminus psi z)))) (vminus (vminus x z) (vscal t (vminus psi z)))) in N
      by (intros; unfold vminus, vplus, vscal; ring).
    rewrite (sq_minus p (vminus x z) (vscal t (vminus psi z))), dot_scal_r, sq_scal in N. fold D Q in N. lra. }
  assert (H0 : 0 < D / (D + Q)) by (apply Rdiv_lt_0_compat; lra).
  assert (H1 : D / (D + Q) <= 1) by (apply Rmult_le_reg_r with (D + Q); [lra|]; unfold Rdiv;
    rewrite Rmult_assoc, Rinv_l; lra).
  specialize (A (D / (D + Q)) ltac:(lra)).
  assert (E : D / (D + Q) * Q <= D).
  { apply Rmult_le_reg_r with (D + Q); [lra|]. replace (D / (D + Q) * Q * (D + Q)) with (D * Q) by (field; lra). nra. }
  set (t := D / (D + Q)) in *. assert (t * (t * Q) <= t * D) by (apply Rmult_le_compat_l; lra).
  assert (0 < t * D) by now apply Rmult_lt_0_compat. lra.
Qed.

(** ‖ψ − z‖² + ‖x − z‖² ≤ ‖ψ − x‖² *)
Lemma nearest_gain p Omega x z psi : convex Omega -> nearest p Omega x z -> Omega psi ->
  sq p (vminus psi z) + sq p (vminus x z) <= sq p (vminus x psi).
Proof.
  intros C N H. assert (A := nearest_angle p Omega x z psi C N H).
  rewrite (sq_ext p (vminus x psi) (vminus (vminus x z) (vminus psi z))) by (intros; unfold vminus; ring).
  rewrite (sq_minus p (vminus x z)). lra.
Qed.

(** ‖x − ηg − z‖² = ‖x − z‖² + 2η⟨g, z − x⟩ + η²‖g‖² *)
Lemma expand p x g z eta : sq p (vminus (vminus x (vscal eta g)) z) =
  sq p (vminus x z) + 2 * eta * dot p g (vminus z x) + eta ^ 2 * sq p g.
Proof.
  rewrite (sq_ext p _ (vminus (vminus x z) (vscal eta g))) by (intros; unfold vminus, vscal; ring).
  rewrite (sq_minus p (vminus x z)), sq_scal, dot_scal_r, (dot_sym p g), !dot_minus_l. ring.
Qed.

Lemma gradient_unique p F x g h : gradient p F x g -> gradient p F x h -> forall v, dot p g v = dot p h v.
Proof. intros H K v. rewrite <- (is_derive_unique _ _ _ (H v)). now apply is_derive_unique. Qed.

Lemma gradient_sq p F x g h : gradient p F x g -> gradient p F x h -> sq p g = sq p h.
Proof.
  intros H K. assert (U := gradient_unique p F x g h H K). rewrite !sq_dot.
  now rewrite U, dot_sym, U.
Qed.

Lemma dot_Mean p n (c : vector) (D : matrix) v :
  dot p (fun i => Mean n (fun j => c j * D j i)) v = Mean n (fun j => c j * dot p (D j) v).
Proof.
  unfold dot. rewrite (Sum_ext p _ (fun i => / INR n * Sum n (fun j => c j * (D j i * v i)))).
  - rewrite Sum_scal, Sum_swap. unfold Mean. f_equal. apply Sum_ext. intros. now rewrite Sum_scal.
  - intros i _. unfold Mean. rewrite Rmult_assoc. f_equal. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros; ring.
Qed.

Lemma square_derive h h' c : is_derive h 0 h' -> is_derive (fun t => (h t - c) ^ 2) 0 (2 * (h 0 - c) * h').
Proof.
  intros H. auto_derive; [now exists h'|]. replace (Derive (fun x : R => h x) 0) with h'; [ring|]. symmetry.
  now apply is_derive_unique.
Qed.

Lemma line_start x v : vplus x (vscal 0 v) = x.
Proof. apply FunctionalExtensionality.functional_extensionality. intros i. unfold vplus, vscal. ring. Qed.

(** ∇((1/n) Σ r_j²) = (2/n) Σ r_j ∇f_j *)
Lemma loss_gradient p n f y x (D : nat -> vector -> vector) : (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) ->
  gradient p (loss n f y) x (fun i => Mean n (fun j => 2 * residual f y x j * D j x i)).
Proof.
  intros H v. unfold loss, Mean at 1.
  rewrite (dot_Mean p n (fun j => 2 * residual f y x j) (fun j => D j x)). unfold Mean.
  apply (is_derive_scal (fun t => Sum n (fun j => residual f y (vplus x (vscal t v)) j ^ 2))).
  apply (Sum_derive n (fun t j => residual f y (vplus x (vscal t v)) j ^ 2)). intros j Hj.
  assert (S := square_derive _ _ (y j) (H j Hj v)). cbv beta in S. now rewrite line_start in S.
Qed.

(** ⟨∇L, v⟩ = (2/n) Σ r_j ⟨∇f_j, v⟩ *)
Lemma loss_gradient_dot p n f y x D g v : (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) ->
  gradient p (loss n f y) x g -> dot p g v = Mean n (fun j => 2 * residual f y x j * dot p (D j x) v).
Proof.
  intros H K. rewrite (gradient_unique p _ x _ _ K (loss_gradient p n f y x D H)).
  apply (dot_Mean p n (fun j => 2 * residual f y x j) (fun j => D j x)).
Qed.

(** ‖∇L‖² = (4/n²) rᵀGr *)
Lemma loss_gradient_sq p n f y x D g : (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) ->
  gradient p (loss n f y) x g -> sq p g = 4 / INR n ^ 2 * quadratic n (gram p D x) (residual f y x).
Proof.
  intros H K. rewrite sq_dot, (loss_gradient_dot p n f y x D g g H K).
  rewrite (Mean_ext n _ (fun j => 2 / INR n * (2 * (residual f y x j * matvec n (gram p D x) (residual f y x) j)))).
  - unfold Mean, quadratic. rewrite Sum_scal, Sum_scal. unfold Rdiv. rewrite <- (pow_inv (INR n) 2). ring.
  - intros j Hj. rewrite (dot_sym p (D j x) g), (loss_gradient_dot p n f y x D g _ H K). unfold Mean, matvec.
    rewrite (Sum_ext n _ (fun k => 2 * (gram p D x j k * residual f y x k)))
      by (intros; unfold gram; rewrite (dot_sym p (D j x)); ring).
    rewrite Sum_scal. unfold Rdiv. ring.
Qed.

Lemma loss_ge0 n f y x : 0 <= loss n f y x.
Proof. apply Mean_ge0. intros; apply pow2_ge_0. Qed.

(** ⟨∇L, z − x⟩ = −2 L + (2/n) Σ r_j e_j *)
Lemma pull p n f y x D g z : (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) ->
  gradient p (loss n f y) x g -> dot p g (vminus z x) =
  - 2 * loss n f y x + 2 * Mean n (fun j => residual f y x j * tangent_error p f D y x z j).
Proof.
  intros H K. rewrite (loss_gradient_dot p n f y x D g _ H K). unfold loss. rewrite <- !Mean_scal, <- Mean_plus.
  apply Mean_ext. intros. unfold tangent_error. ring.
Qed.

(** rᵀGr = ‖Σ r_j ∇f_j‖² ≤ ‖r‖² Σ ‖∇f_j‖² *)
Lemma quadratic_gram p n D x r :
  quadratic n (gram p D x) r = sq p (fun i => Sum n (fun j => r j * D j x i)).
Proof.
  unfold quadratic, matvec, gram, dot, sq.
  rewrite (Sum_ext p _ (fun i => Sum n (fun j => r j * (D j x i * Sum n (fun k => r k * D k x i))))).
  - rewrite Sum_swap. apply Sum_ext. intros j _. rewrite Sum_scal. f_equal.
    rewrite (Sum_ext n _ (fun k => Sum p (fun i => D j x i * (r k * D k x i)))).
    + rewrite Sum_swap. apply Sum_ext. intros i _. now rewrite Sum_scal.
    + intros k _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros; ring.
  - intros i _. set (t := Sum n (fun k => r k * D k x i)).
    rewrite (Sum_ext n (fun j => r j * (D j x i * t)) (fun j => t * (r j * D j x i))) by (intros; ring).
    rewrite Sum_scal. fold t. ring.
Qed.

Lemma quadratic_trace p n D x r :
  quadratic n (gram p D x) r <= sq n r * Sum n (fun j => gram p D x j j).
Proof.
  rewrite quadratic_gram. unfold sq at 1.
  apply Rle_trans with (Sum p (fun i => sq n r * Sum n (fun j => D j x i ^ 2))).
  - apply Sum_le. intros i _. apply (cauchy_sq n r (fun j => D j x i)).
  - rewrite Sum_scal, Sum_swap. right. f_equal. apply Sum_ext. intros. apply sq_dot.
Qed.

Lemma quadratic_zero n G r : sq n r = 0 -> quadratic n G r = 0.
Proof.
  intros H. unfold quadratic. rewrite (Sum_ext n _ (fun _ => 0)), Sum_zero; [easy|].
  intros j Hj. rewrite (sq_zero n r H j Hj). ring.
Qed.

(** A convex set contains averages. *)
Lemma convex_average Omega tau phi : convex Omega -> (forall s, (s < S tau)%nat -> Omega (phi s)) ->
  Omega (average (S tau) phi).
Proof.
  intros C. induction tau; intros H.
  - replace (average 1 phi) with (phi O); [apply H; lia|]. apply FunctionalExtensionality.functional_extensionality.
    intros i. unfold average, Mean. simpl. field.
  - assert (A := C _ _ (/ INR (S (S tau))) (IHtau ltac:(intros; apply H; lia)) (H (S tau) ltac:(lia))).
    assert (N := INR_pos (S tau) ltac:(lia)).
    replace (average (S (S tau)) phi) with
      (vplus (average (S tau) phi) (vscal (/ INR (S (S tau))) (vminus (phi (S tau)) (average (S tau) phi)))).
    + apply A. rewrite (S_INR (S tau)). split; [left; apply Rinv_0_lt_compat; lra|].
      apply Rle_trans with (/ 1); [apply Rinv_le_contravar; lra|rewrite Rinv_1; lra].
    + apply FunctionalExtensionality.functional_extensionality. intros i. unfold average, Mean, vplus, vscal, vminus.
      change (Sum (S (S tau)) (fun s => phi s i)) with (Sum (S tau) (fun s => phi s i) + phi (S tau) i).
      rewrite (S_INR (S tau)). field. lra.
Qed.

Lemma linear_average p f D x0 j tau phi : (0 < tau)%nat ->
  linear_model p f D x0 j (average tau phi) = Mean tau (fun s => linear_model p f D x0 j (phi s)).
Proof.
  intros H. unfold linear_model. rewrite Mean_plus, (Mean_const tau _ H). f_equal.
  unfold dot, Mean at 1. rewrite Sum_swap, <- Sum_scal. apply Sum_ext. intros i _.
  unfold vminus, average, Mean. rewrite Sum_scal, Sum_minus, Sum_const. apply INR_pos in H. field. lra.
Qed.

(** Minkowski's inequality for the average iterate *)
Lemma average_loss p n tau f D y x0 phi : (0 < n)%nat -> (0 < tau)%nat ->
  let beta u := rms n (fun j => f j u - linear_model p f D x0 j u) in
  sqrt (loss n f y (average tau phi)) <=
  sqrt (Mean tau (fun s => loss n f y (phi s))) + beta (average tau phi) + Mean tau (fun s => beta (phi s)).
Proof.
  intros Hn Ht beta. set (a := average tau phi). set (dev := fun u j => f j u - linear_model p f D x0 j u).
  change (sqrt (loss n f y a)) with (rms n (residual f y a)).
  rewrite (rms_ext n _ (fun j => dev a j + (Mean tau (fun s => residual f y (phi s) j) + Mean tau (fun s => - dev (phi
    s) j)))).
  - eapply Rle_trans; [apply rms_plus|]. eapply Rle_trans; [apply Rplus_le_compat_l, rms_plus|].
    assert (Hm : forall g, rms n (fun j => Mean tau (fun s => g s j)) <= Mean tau (fun s => rms n (g s))).
    { intros g. unfold Mean at 1. rewrite rms_scal, Rabs_pos_eq by apply inv_ge0.
      apply Rmult_le_compat_l; [apply inv_ge0|apply rms_Sum]. }
    assert (H1 := Hm (fun s => residual f y (phi s))). assert (H2 := Hm (fun s j => - dev (phi s) j)).
    cbv beta in H1, H2.
    rewrite (Mean_ext tau (fun s => rms n (fun j => - dev (phi s) j)) (fun s => beta (phi s))) in H2.
    + assert (H3 := Mean_le_rms tau (fun s => rms n (residual f y (phi s))) Ht).
      replace (rms tau (fun s => rms n (residual f y (phi s)))) with (sqrt (Mean tau (fun s => loss n f y (phi s)))) in
        H3.
      * change (rms n (dev a)) with (beta a). lra.
      * unfold rms at 1. f_equal. apply Mean_ext. intros. now rewrite rms_sq.
    + intros s _. rewrite (rms_ext n _ (fun j => -1 * dev (phi s) j)) by (intros; ring).
      rewrite rms_scal, Rabs_left by lra. unfold beta, dev. ring.
  - intros j _. assert (LA := linear_average p f D x0 j tau phi Ht). fold a in LA. rewrite <- Mean_plus.
    rewrite (Mean_ext tau (fun s => residual f y (phi s) j + - dev (phi s) j)
      (fun s => linear_model p f D x0 j (phi s) - y j)) by (intros; unfold dev, residual; ring).
    rewrite Mean_minus, (Mean_const tau _ Ht), <- LA. unfold dev, residual. ring.
Qed.

Lemma rms_le n e b : (0 < n)%nat -> 0 <= b -> (forall j, (j < n)%nat -> Rabs (e j) <= b) -> rms n e <= b.
Proof.
  intros Hn Hb H. apply le_of_sq; [easy|]. rewrite rms_sq, <- (Mean_const n (b ^ 2) Hn). apply Mean_le. intros j Hj.
  rewrite <- (pow2_abs (e j)). apply pow_incr. split; [apply Rabs_pos|auto].
Qed.
