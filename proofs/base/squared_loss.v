(** Descent on a mean squared loss in ℝᵖ: nearest points, residuals, Gram matrices and their largest eigenvalue. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.means base.matrices base.gradient.
Open Scope R_scope.

(** Min n f = min (f 0, …, f (n − 1)) for n ≥ 1 *)
Fixpoint Min (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S O => f O | S k => Rmin (Min k f) (f k) end.

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
Definition loss (n : nat) (f : nat -> vector -> R) (y x : vector) : R := mean n (fun j => residual f y x j ^ 2).

(** e_j = f_j(x) − y_j + ⟨∇f_j(x), z − x⟩: the tangent model at x, read at z, less the label *)
Definition tangent_error (p : nat) (f : nat -> vector -> R) (D : nat -> vector -> vector) (y x z : vector) : vector :=
  fun j => residual f y x j + dot p (D j x) (vminus z x).

(** f_lin at u: the tangent of f_j at x, f_j(x) + ⟨∇f_j(x), u − x⟩ *)
Definition linear_model (p : nat) (f : nat -> vector -> R) (D : nat -> vector -> vector) (x : vector) (j : nat)
  (u : vector) : R := f j x + dot p (D j x) (vminus u x).

(** the average iterate (1/τ) Σ φ⁽ˢ⁾ *)
Definition average (tau : nat) (phi : nat -> vector) : vector := fun i => mean tau (fun s => phi s i).

(** G_jk = ⟨∇f_j, ∇f_k⟩ at the point x *)
Definition gram (p : nat) (D : nat -> vector -> vector) (x : vector) : matrix := fun j k => dot p (D j x) (D k x).

(** λ is the largest eigenvalue of the symmetric G: an eigenvalue that no Rayleigh quotient exceeds *)
Definition largest_eigenvalue (n : nat) (G : matrix) (lam : R) : Prop :=
  (exists v, sq n v <> 0 /\ forall j, (j < n)%nat -> matvec n G v j = lam * v j) /\
  forall v, form n G v <= lam * sq n v.

Lemma Min_le n f i : (i < n)%nat -> Min n f <= f i.
Proof.
  induction n as [|[|n] IH]; intros H; [lia|replace i with O by lia; simpl; lra|].
  change (Rmin (Min (S n) f) (f (S n)) <= f i). destruct (Nat.eq_dec i (S n)) as [->|]; [apply Rmin_r|].
  eapply Rle_trans; [apply Rmin_l|apply IH; lia].
Qed.

Lemma Min_le_mean n f : (0 < n)%nat -> Min n f <= mean n f.
Proof. intros H. rewrite <- (mean_const n (Min n f) H). apply mean_le. intros; now apply Min_le. Qed.

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

Lemma square_derive h h' c : is_derive h 0 h' -> is_derive (fun t => (h t - c) ^ 2) 0 (2 * (h 0 - c) * h').
Proof.
  intros H. auto_derive; [now exists h'|]. replace (Derive (fun x : R => h x) 0) with h'; [ring|]. symmetry.
  now apply is_derive_unique.
Qed.

(** ∇((1/n) Σ r_j²) = (2/n) Σ r_j ∇f_j *)
Lemma loss_gradient p n f y x (D : nat -> vector -> vector) : (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) ->
  gradient p (loss n f y) x (fun i => mean n (fun j => 2 * residual f y x j * D j x i)).
Proof.
  intros H v. unfold loss, mean at 1.
  rewrite (dot_mean p n (fun j => 2 * residual f y x j) (fun j => D j x)). unfold mean.
  apply (is_derive_scal (fun t => Sum n (fun j => residual f y (along x v t) j ^ 2))).
  apply (Sum_derive n (fun t j => residual f y (along x v t) j ^ 2)). intros j Hj.
  assert (S := square_derive _ _ (y j) (H j Hj v)). cbv beta in S. now rewrite along_0 in S.
Qed.

(** ⟨∇L, v⟩ = (2/n) Σ r_j ⟨∇f_j, v⟩ *)
Lemma loss_gradient_dot p n f y x D g v : (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) ->
  gradient p (loss n f y) x g -> dot p g v = mean n (fun j => 2 * residual f y x j * dot p (D j x) v).
Proof.
  intros H K. rewrite (gradient_unique p _ x _ _ K (loss_gradient p n f y x D H)).
  apply (dot_mean p n (fun j => 2 * residual f y x j) (fun j => D j x)).
Qed.

(** ‖∇L‖² = (4/n²) rᵀGr *)
Lemma loss_gradient_sq p n f y x D g : (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) ->
  gradient p (loss n f y) x g -> sq p g = 4 / INR n ^ 2 * form n (gram p D x) (residual f y x).
Proof.
  intros H K. rewrite sq_dot, (loss_gradient_dot p n f y x D g g H K).
  rewrite (mean_ext n _ (fun j => 2 / INR n * (2 * (residual f y x j * matvec n (gram p D x) (residual f y x) j)))).
  - unfold mean, form, dot. rewrite Sum_scal, Sum_scal. unfold Rdiv. rewrite <- (pow_inv (INR n) 2). ring.
  - intros j Hj. rewrite (dot_sym p (D j x) g), (loss_gradient_dot p n f y x D g _ H K). unfold mean, matvec.
    rewrite (Sum_ext n _ (fun k => 2 * (gram p D x j k * residual f y x k)))
      by (intros; unfold gram; rewrite (dot_sym p (D j x)); ring).
    rewrite Sum_scal. unfold Rdiv. ring.
Qed.

Lemma loss_ge0 n f y x : 0 <= loss n f y x.
Proof. apply mean_ge0. intros; apply pow2_ge_0. Qed.

(** ⟨∇L, z − x⟩ = −2 L + (2/n) Σ r_j e_j *)
Lemma pull p n f y x D g z : (forall j, (j < n)%nat -> gradient p (f j) x (D j x)) ->
  gradient p (loss n f y) x g -> dot p g (vminus z x) =
  - 2 * loss n f y x + 2 * mean n (fun j => residual f y x j * tangent_error p f D y x z j).
Proof.
  intros H K. rewrite (loss_gradient_dot p n f y x D g _ H K). unfold loss. rewrite <- !mean_scal, <- mean_plus.
  apply mean_ext. intros. unfold tangent_error. ring.
Qed.

(** rᵀGr = ‖Σ r_j ∇f_j‖² ≤ ‖r‖² Σ ‖∇f_j‖² *)
Lemma quadratic_gram p n D x r :
  form n (gram p D x) r = sq p (fun i => Sum n (fun j => r j * D j x i)).
Proof.
  unfold form, matvec, gram, dot, sq.
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
  form n (gram p D x) r <= sq n r * Sum n (fun j => gram p D x j j).
Proof.
  rewrite quadratic_gram. unfold sq at 1.
  apply Rle_trans with (Sum p (fun i => sq n r * Sum n (fun j => D j x i ^ 2))).
  - apply Sum_le. intros i _. apply (cauchy_sq n r (fun j => D j x i)).
  - rewrite Sum_scal, Sum_swap. right. f_equal. apply Sum_ext. intros. apply sq_dot.
Qed.

Lemma quadratic_zero n G r : sq n r = 0 -> form n G r = 0.
Proof.
  intros H. unfold form, dot. rewrite (Sum_ext n _ (fun _ => 0)), Sum_zero; [easy|].
  intros j Hj. rewrite (sq_zero n r H j Hj). ring.
Qed.

(** A convex set contains averages. *)
Lemma convex_average Omega tau phi : convex Omega -> (forall s, (s < S tau)%nat -> Omega (phi s)) ->
  Omega (average (S tau) phi).
Proof.
  intros C. induction tau; intros H.
  - replace (average 1 phi) with (phi O); [apply H; lia|]. apply FunctionalExtensionality.functional_extensionality.
    intros i. unfold average, mean. simpl. field.
  - assert (A := C _ _ (/ INR (S (S tau))) (IHtau ltac:(intros; apply H; lia)) (H (S tau) ltac:(lia))).
    assert (N := INR_pos (S tau) ltac:(lia)).
    replace (average (S (S tau)) phi) with
      (vplus (average (S tau) phi) (vscal (/ INR (S (S tau))) (vminus (phi (S tau)) (average (S tau) phi)))).
    + apply A. rewrite (S_INR (S tau)). split; [left; apply Rinv_0_lt_compat; lra|].
      apply Rle_trans with (/ 1); [apply Rinv_le_contravar; lra|rewrite Rinv_1; lra].
    + apply FunctionalExtensionality.functional_extensionality. intros i. unfold average, mean, vplus, vscal, vminus.
      change (Sum (S (S tau)) (fun s => phi s i)) with (Sum (S tau) (fun s => phi s i) + phi (S tau) i).
      rewrite (S_INR (S tau)). field. lra.
Qed.

Lemma linear_average p f D x0 j tau phi : (0 < tau)%nat ->
  linear_model p f D x0 j (average tau phi) = mean tau (fun s => linear_model p f D x0 j (phi s)).
Proof.
  intros H. unfold linear_model. rewrite mean_plus, (mean_const tau _ H). f_equal.
  unfold dot, mean at 1. rewrite Sum_swap, <- Sum_scal. apply Sum_ext. intros i _.
  unfold vminus, average, mean. rewrite Sum_scal, Sum_minus, Sum_const. apply INR_pos in H. field. lra.
Qed.

(** Minkowski's inequality for the average iterate *)
Lemma average_loss p n tau f D y x0 phi : (0 < n)%nat -> (0 < tau)%nat ->
  let beta u := rms n (fun j => f j u - linear_model p f D x0 j u) in
  sqrt (loss n f y (average tau phi)) <=
  sqrt (mean tau (fun s => loss n f y (phi s))) + beta (average tau phi) + mean tau (fun s => beta (phi s)).
Proof.
  intros Hn Ht beta. set (a := average tau phi). set (dev := fun u j => f j u - linear_model p f D x0 j u).
  change (sqrt (loss n f y a)) with (rms n (residual f y a)).
  rewrite (rms_ext n _ (fun j => dev a j + (mean tau (fun s => residual f y (phi s) j) + mean tau (fun s => - dev (phi
    s) j)))).
  - eapply Rle_trans; [apply rms_plus|]. eapply Rle_trans; [apply Rplus_le_compat_l, rms_plus|].
    assert (Hm : forall g, rms n (fun j => mean tau (fun s => g s j)) <= mean tau (fun s => rms n (g s))).
    { intros g. unfold mean at 1. rewrite rms_scal, Rabs_pos_eq by apply inv_ge0.
      apply Rmult_le_compat_l; [apply inv_ge0|apply rms_Sum]. }
    assert (H1 := Hm (fun s => residual f y (phi s))). assert (H2 := Hm (fun s j => - dev (phi s) j)).
    cbv beta in H1, H2.
    rewrite (mean_ext tau (fun s => rms n (fun j => - dev (phi s) j)) (fun s => beta (phi s))) in H2.
    + assert (H3 := mean_le_rms tau (fun s => rms n (residual f y (phi s))) Ht).
      replace (rms tau (fun s => rms n (residual f y (phi s)))) with (sqrt (mean tau (fun s => loss n f y (phi s)))) in
        H3.
      * change (rms n (dev a)) with (beta a). lra.
      * unfold rms at 1. f_equal. apply mean_ext. intros. now rewrite rms_sq.
    + intros s _. rewrite (rms_ext n _ (fun j => -1 * dev (phi s) j)) by (intros; ring).
      rewrite rms_scal, Rabs_left by lra. unfold beta, dev. ring.
  - intros j _. assert (LA := linear_average p f D x0 j tau phi Ht). fold a in LA. rewrite <- mean_plus.
    rewrite (mean_ext tau (fun s => residual f y (phi s) j + - dev (phi s) j)
      (fun s => linear_model p f D x0 j (phi s) - y j)) by (intros; unfold dev, residual; ring).
    rewrite mean_minus, (mean_const tau _ Ht), <- LA. unfold dev, residual. ring.
Qed.

(** λ_max ≤ tr G, with equality iff all gradients are parallel: ‖∇f_j − v_j u‖² summed is the gap. *)
Lemma trace_gap p n D x lam : largest_eigenvalue n (gram p D x) lam ->
  lam <= Sum n (fun j => gram p D x j j) /\
  (lam = Sum n (fun j => gram p D x j j) <-> exists u a, forall j i, (j < n)%nat -> (i < p)%nat -> D j x i = a j * u i).
Proof.
  intros [(v & Hv & E) R]. set (u := fun i => Sum n (fun j => v j * D j x i)).
  assert (Vp : 0 < sq n v) by (assert (0 <= sq n v) by apply sq_ge0; lra).
  assert (Q : sq p u = lam * sq n v).
  { unfold u. rewrite <- (quadratic_gram p n D x v). unfold form, sq. rewrite <- Sum_scal. apply Sum_ext.
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

(** Where the Rayleigh quotient is largest, the vector is an eigenvector. *)
Lemma top_vector p n D x lam r : largest_eigenvalue n (gram p D x) lam ->
  form n (gram p D x) r = lam * sq n r -> forall j, (j < n)%nat -> matvec n (gram p D x) r j = lam * r j.
Proof.
  intros [_ R] E. set (G := gram p D x) in *. set (w := fun j => matvec n G r j - lam * r j).
  assert (Sy : dot n r (matvec n G w) = dot n (matvec n G r) w).
  { unfold dot, matvec. rewrite (Sum_ext n _ (fun i => Sum n (fun j => r i * G i j * w j)))
      by (intros; rewrite <- Sum_scal; apply Sum_ext; intros; ring).
    rewrite Sum_swap. apply Sum_ext. intros j _. rewrite (Rmult_comm (Sum n _)), <- Sum_scal. apply Sum_ext. intros i _.
    unfold G, gram. rewrite (dot_sym p (D i x)). ring. }
  assert (I : forall t, 2 * t * sq n w + t ^ 2 * (form n G w - lam * sq n w) <= 0).
  { intros t. specialize (R (vplus r (vscal t w))). rewrite sq_plus, dot_scal_r, sq_scal in R.
    assert (X : form n G (vplus r (vscal t w)) =
      form n G r + 2 * t * dot n (matvec n G r) w + t ^ 2 * form n G w).
    { unfold form. rewrite matvec_plus, matvec_scal, dot_plus_l, !dot_plus_r, !dot_scal_l, !dot_scal_r, Sy,
        (dot_sym n w (matvec n G r)). ring. }
    rewrite X, E in R.
    assert (Y : sq n w = dot n (matvec n G r) w - lam * dot n r w).
    { rewrite sq_dot. change w with (vminus (matvec n G r) (vscal lam r)) at 1. now rewrite dot_minus_l, dot_scal_l. }
    apply (f_equal (Rmult t)) in Y. lra. }
  assert (W : sq n w = 0).
  { set (b := form n G w - lam * sq n w) in *. assert (S := sq_ge0 n w).
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
  rewrite Rmult_0_l. replace (lam * sq n v) with (form n (gram p D x) v); [rewrite quadratic_gram; apply sq_ge0|].
  unfold form, sq. rewrite <- Sum_scal. apply Sum_ext. intros j Hj. rewrite E by easy. ring.
Qed.
