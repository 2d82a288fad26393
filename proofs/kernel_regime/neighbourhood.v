(** Symmetric initialisation, its mirror, and the neighbourhood Ω with its projection. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head.
Open Scope R_scope.

(** φ and φ₀ are in Ω_ρ of each other: every block of every head is at most ρ_k/√m away, ρ = (ρ_c, ρ_u, ρ_w) *)
Definition neighbourhood (m d : nat) (rho : vector) (phi0 phi : parameters) : Prop :=
  forall i k, (i < m)%nat -> (k < 3)%nat ->
    vnorm (size d k) (vminus (phi i k) (phi0 i k)) <= rho k / sqrt (INR m).

(** φ − ψ and −φ *)
Definition pminus (phi psi : parameters) : parameters := fun i k j => phi i k j - psi i k j.
Definition opposite (phi : parameters) : parameters := fun i k j => - phi i k j.

(** P(δ) = δ min{1, r/‖δ‖} in ℝⁿ (P(0) = 0, whatever 0/0 is) *)
Definition project (n : nat) (r : R) (x : vector) : vector := vscal (Rmin 1 (r / vnorm n x)) x.

(** Π φ: every block projected on its ball about φ₀ *)
Definition projected (m d : nat) (rho : vector) (phi0 phi : parameters) : parameters := fun i k j =>
  phi0 i k j + project (size d k) (rho k / sqrt (INR m)) (vminus (phi i k) (phi0 i k)) j.

(** g is the gradient of f(X; ·) at φ, for m heads *)
Definition gradient (f : parameters -> R) (m d : nat) (phi g : parameters) : Prop :=
  forall e, is_derive (fun t => f (along phi t e)) 0 (pdot m d g e).

Lemma Sum_null n f : (forall i, (i < n)%nat -> f i = 0) -> Sum n f = 0.
Proof. intros H. rewrite <- (Sum_zero n). now apply Sum_ext. Qed.

Lemma pdot_ext m d a b a' b' : same m d a a' -> same m d b b' -> pdot m d a b = pdot m d a' b'.
Proof.
  intros A B. apply Sum_ext; intros i Hi. apply Sum_ext; intros k Hk. apply Sum_ext; intros j Hj.
  now rewrite A, B.
Qed.

Lemma psq_pdot m d a : psq m d a = pdot m d a a.
Proof. apply Sum_ext; intros. apply Sum_ext; intros. apply sq_dot. Qed.

Lemma pdot_mirror N d a b : pdot (2 * N) d (mirror N a) (mirror N b) = pdot (2 * N) d a b.
Proof.
  unfold pdot. rewrite <- (Sum_partner N (fun i => Sum 3 (fun k => dot (size d k) (a i k) (b i k)))).
  apply Sum_ext; intros i _. apply Sum_ext; intros k _. apply Sum_ext; intros j _. unfold mirror.
  destruct (Nat.eqb k 0); ring.
Qed.

Lemma mirror_mirror N d a : same (2 * N) d (mirror N (mirror N a)) a.
Proof. intros i k j Hi _ _. unfold mirror. rewrite partner_partner by easy. destruct (Nat.eqb k 0); ring. Qed.

Lemma pdot_scal m d c a b : pdot m d (fun i k j => c * a i k j) b = c * pdot m d a b.
Proof.
  unfold pdot, dot. rewrite <- Sum_scal. apply Sum_ext; intros i _. rewrite <- Sum_scal. apply Sum_ext; intros k _.
  rewrite <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma pdot_sym m d a b : pdot m d a b = pdot m d b a.
Proof. apply Sum_ext; intros. apply Sum_ext; intros. apply dot_sym. Qed.

(** the direction of one entry *)
Definition entry (i k j : nat) : parameters := fun i' k' j' =>
  if (Nat.eqb i' i && Nat.eqb k' k && Nat.eqb j' j)%bool then 1 else 0.

Lemma pdot_entry m d a i k j : (i < m)%nat -> (k < 3)%nat -> (j < size d k)%nat -> pdot m d a (entry i k j) = a i k j.
Proof.
  intros Hi Hk Hj. unfold pdot. rewrite (Sum_single m _ i Hi), (Sum_single 3 _ k Hk); unfold dot, entry.
  - rewrite (Sum_single _ _ j Hj), !Nat.eqb_refl; [cbn; ring|].
    intros b _ N. rewrite (proj2 (Nat.eqb_neq b j) N), Bool.andb_false_r. ring.
  - intros b _ N. apply Sum_null; intros. rewrite (proj2 (Nat.eqb_neq b k) N), Bool.andb_false_r. cbn. ring.
  - intros b _ N. apply Sum_null; intros x _. apply Sum_null; intros. rewrite (proj2 (Nat.eqb_neq b i) N). cbn. ring.
Qed.

(** At a fixed point of the mirror gradients are antisymmetric. *)
Lemma gradient_mirror sigma N T d X q phi g : same (2 * N) d (mirror N phi) phi ->
  gradient (model sigma (2 * N) T d X q) (2 * N) d phi g -> same (2 * N) d (mirror N g) (opposite g).
Proof.
  intros F G. assert (K : forall e, pdot (2 * N) d (mirror N g) e = - pdot (2 * N) d g e).
  { intros e. rewrite <- pdot_mirror, (pdot_ext _ _ _ _ g (mirror N e)) by (try apply mirror_mirror; now intros ? ? ?).
    assert (D := G (mirror N e)). apply is_derive_unique in D. rewrite <- D. apply is_derive_unique.
    apply is_derive_ext with (f := fun t => - model sigma (2 * N) T d X q (along phi t e)).
    - intros t. rewrite <- model_mirror. apply model_same. intros i k j Hi Hk Hj.
      unfold along. rewrite <- (F i k j Hi Hk Hj). unfold mirror. ring.
    - apply (is_derive_opp (fun t => model sigma (2 * N) T d X q (along phi t e))), G. }
  intros i k j Hi Hk Hj. unfold opposite. rewrite <- !(pdot_entry (2 * N) d _ i k j) by easy. apply K.
Qed.

(** kr-remark-6
    Covers: the whole statement.
    Reads: for 2N heads with a symmetric initialisation φ⁽⁰⁾, any activation, tokens and query: h(X; θ_{i+N}) = h(X; θ_i) for i < N, f(X; φ⁽⁰⁾) = 0, and the loss of any n inputs and labels is (1/n) Σ (y_j)².
    Mistake: `phi0 = 1)` for `phi0 = 0)`
    Mistake: without `symmetric_start N d phi0 ->`
*)
Theorem kr_remark_6 : forall sigma N T d phi0, symmetric_start N d phi0 ->
  (forall X q i, (i < N)%nat -> head sigma T d X q (phi0 (i + N)%nat 1%nat) (rows d (phi0 (i + N)%nat 2%nat)) =
    head sigma T d X q (phi0 i 1%nat) (rows d (phi0 i 2%nat))) /\
  (forall X q, model sigma (2 * N) T d X q phi0 = 0) /\
  (forall n (X : nat -> matrix) (q : nat -> vector) y,
    / INR n * Sum n (fun j => (model sigma (2 * N) T d (X j) (q j) phi0 - y j) ^ 2) = / INR n * Sum n (fun j => y j ^ 2)).
Proof.
  intros sigma N T d phi0 S.
  assert (Z : forall X q, model sigma (2 * N) T d X q phi0 = 0).
  { intros X q. assert (H := model_mirror sigma N T d X q phi0).
    rewrite (model_same _ _ _ _ _ _ _ _ (start_mirror N d phi0 S)) in H. lra. }
  split; [|split].
  - intros X q i Hi. destruct (S i Hi) as (_ & _ & B). apply head_ext; intros; apply B; cbn; lia.
  - exact Z.
  - intros n X q y. f_equal. apply Sum_ext; intros j _. rewrite Z. ring.
Qed.

Lemma derive_reflect f x l : is_derive f (- x) l -> is_derive (fun t => f (- t)) x (- l).
Proof.
  intros H. evar_last; [apply (is_derive_comp f Ropp x l (-1)); [exact H|auto_derive; [easy|ring]]|].
  unfold scal. cbn. unfold mult. cbn. ring.
Qed.

(** kr-remark-6-odd
    Covers: a part: the mirror and its algebra, the decomposition, item 1 with gradients, the first gradient step of 2, of 3 that f is odd in antisymmetric displacements and has no second-order term, and that f and its linear term vanish for symmetric ones, item 4; on the page: that later steps and the cross term do not vanish in general, and the third-order remainder.
    Reads: ℛ is linear, preserves ⟨φ, ψ⟩ and is its own inverse; f(X; ℛφ) = −f(X; φ) for all φ; ℛφ⁽⁰⁾ = φ⁽⁰⁾; every δ is δ₊ + δ₋ with ℛδ₊ = δ₊, ℛδ₋ = −δ₋, ⟨δ₊, δ₋⟩ = 0. For ℛδ = δ: f(X; φ⁽⁰⁾ + δ) = 0, and the gradient g there has ℛg = −g; the gradient g at φ⁽⁰⁾ has ⟨g, δ⟩ = 0. A combination of gradients at φ⁽⁰⁾ at several inputs is antisymmetric. For ℛδ = −δ: f(X; φ⁽⁰⁾ + δ) = −f(X; φ⁽⁰⁾ − δ), and if t ↦ f(X; φ⁽⁰⁾ + tδ) has the derivative F₁ everywhere and F₁ the derivative L at 0, then L = 0. If g and g′ are m^(−1/2) times features (of readouts as they are, of U and W times c_i) that partners share, then ⟨g, g′⟩ = (1/N) Σ_{i<N} ⟨features, features′⟩.
    Mistake: `= model sigma (2 * N) T d X q phi)` for `= - model sigma (2 * N) T d X q phi)`
    Mistake: `is_derive F1 0 L -> L = 1` for `is_derive F1 0 L -> L = 0`
    Mistake: `/ INR (2 * N) * Sum N` for `/ INR N * Sum N`
*)
Theorem kr_remark_6_odd : forall sigma N T d phi0, symmetric_start N d phi0 ->
  (forall phi delta t, same (2 * N) d (mirror N (along phi t delta)) (along (mirror N phi) t (mirror N delta))) /\
  (forall phi psi, pdot (2 * N) d (mirror N phi) (mirror N psi) = pdot (2 * N) d phi psi) /\
  (forall phi, same (2 * N) d (mirror N (mirror N phi)) phi) /\
  (forall X q phi, model sigma (2 * N) T d X q (mirror N phi) = - model sigma (2 * N) T d X q phi) /\
  same (2 * N) d (mirror N phi0) phi0 /\
  (forall delta, exists plus minus, same (2 * N) d (mirror N plus) plus /\
    same (2 * N) d (mirror N minus) (opposite minus) /\
    same (2 * N) d delta (along plus 1 minus) /\ pdot (2 * N) d plus minus = 0) /\
  (forall X q delta, same (2 * N) d (mirror N delta) delta ->
    model sigma (2 * N) T d X q (along phi0 1 delta) = 0 /\
    (forall g, gradient (model sigma (2 * N) T d X q) (2 * N) d (along phi0 1 delta) g ->
      same (2 * N) d (mirror N g) (opposite g)) /\
    (forall g, gradient (model sigma (2 * N) T d X q) (2 * N) d phi0 g -> pdot (2 * N) d g delta = 0)) /\
  (forall n (X : nat -> matrix) (q : nat -> vector) (g : nat -> parameters) (step : vector),
    (forall l, (l < n)%nat -> gradient (model sigma (2 * N) T d (X l) (q l)) (2 * N) d phi0 (g l)) ->
    same (2 * N) d (mirror N (fun i k j => Sum n (fun l => step l * g l i k j)))
      (opposite (fun i k j => Sum n (fun l => step l * g l i k j)))) /\
  (forall X q delta, same (2 * N) d (mirror N delta) (opposite delta) ->
    model sigma (2 * N) T d X q (along phi0 1 delta) = - model sigma (2 * N) T d X q (along phi0 (-1) delta) /\
    forall F1 L, (forall t, is_derive (fun t => model sigma (2 * N) T d X q (along phi0 t delta)) t (F1 t)) ->
      is_derive F1 0 L -> L = 0) /\
  (forall p p' g g' : parameters,
    (forall i k, (i < N)%nat -> p (i + N)%nat k = p i k /\ p' (i + N)%nat k = p' i k) ->
    same (2 * N) d g (fun i k j => / sqrt (INR (2 * N)) * ((if Nat.eqb k 0 then 1 else phi0 i 0%nat 0%nat) * p i k j)) ->
    same (2 * N) d g' (fun i k j => / sqrt (INR (2 * N)) * ((if Nat.eqb k 0 then 1 else phi0 i 0%nat 0%nat) * p' i k j)) ->
    pdot (2 * N) d g g' = / INR N * Sum N (fun i => Sum 3 (fun k => dot (size d k) (p i k) (p' i k)))).
Proof.
  intros sigma N T d phi0 S. assert (M0 := start_mirror N d phi0 S).
  assert (SYM : forall delta, same (2 * N) d (mirror N delta) delta ->
    same (2 * N) d (mirror N (along phi0 1 delta)) (along phi0 1 delta)).
  { intros delta H i k j Hi Hk Hj. assert (Q := H i k j Hi Hk Hj). assert (Q0 := M0 i k j Hi Hk Hj).
    unfold along, mirror in *. rewrite Rmult_plus_distr_l, Q0. lra. }
  assert (ORTH : forall a b, same (2 * N) d (mirror N a) (opposite a) -> same (2 * N) d (mirror N b) b ->
    pdot (2 * N) d a b = 0).
  { intros a b A B. assert (Q := pdot_mirror N d a b). rewrite (pdot_ext _ _ _ _ _ _ A B) in Q.
    rewrite (pdot_ext _ _ (opposite a) b (fun i k j => -1 * a i k j) b) in Q
      by (intros i k j _ _ _; unfold opposite; ring).
    rewrite pdot_scal in Q. lra. }
  repeat apply conj.
  - intros phi delta t i k j _ _ _. unfold along, mirror. ring.
  - intros. apply pdot_mirror.
  - intros. apply mirror_mirror.
  - intros. apply model_mirror.
  - easy.
  - intros delta. exists (fun i k j => (delta i k j + mirror N delta i k j) / 2),
      (fun i k j => (delta i k j - mirror N delta i k j) / 2). repeat apply conj.
    + intros i k j Hi Hk Hj. assert (Q := mirror_mirror N d delta i k j Hi Hk Hj).
      unfold mirror in *. destruct (Nat.eqb k 0); lra.
    + intros i k j Hi Hk Hj. assert (Q := mirror_mirror N d delta i k j Hi Hk Hj).
      unfold opposite, mirror in *. destruct (Nat.eqb k 0); lra.
    + intros i k j _ _ _. unfold along. field.
    + rewrite pdot_sym. apply ORTH.
      * intros i k j Hi Hk Hj. assert (Q := mirror_mirror N d delta i k j Hi Hk Hj).
        unfold opposite, mirror in *. destruct (Nat.eqb k 0); lra.
      * intros i k j Hi Hk Hj. assert (Q := mirror_mirror N d delta i k j Hi Hk Hj).
        unfold mirror in *. destruct (Nat.eqb k 0); lra.
  - intros X q delta H. repeat apply conj.
    + assert (Q := model_mirror sigma N T d X q (along phi0 1 delta)).
      rewrite (model_same _ _ _ _ _ _ _ _ (SYM delta H)) in Q. lra.
    + intros g G. apply (gradient_mirror sigma N T d X q (along phi0 1 delta)); auto.
    + intros g G. apply ORTH; [|easy]. now apply (gradient_mirror sigma N T d X q phi0).
  - intros n X q g step G i k j Hi Hk Hj.
    assert (A : forall l, (l < n)%nat -> mirror N (g l) i k j = opposite (g l) i k j).
    { intros l Hl. now apply (gradient_mirror sigma N T d (X l) (q l) phi0); auto. }
    unfold opposite in *. unfold mirror in *. rewrite <- Sum_scal.
    replace (- Sum n _) with (-1 * Sum n (fun l => step l * g l i k j)) by ring. rewrite <- Sum_scal.
    apply Sum_ext; intros l Hl. specialize (A l Hl). rewrite <- Rmult_assoc, (Rmult_comm _ (step l)), Rmult_assoc, A. ring.
  - intros X q delta A. apply conj; [rewrite <- model_mirror; apply model_same; intros i k j Hi Hk Hj|].
    { assert (Q := A i k j Hi Hk Hj). assert (Q0 := M0 i k j Hi Hk Hj). unfold opposite, along, mirror in *.
      rewrite Rmult_plus_distr_l, Q0. lra. }
    intros F1 L D1 D2. set (F := fun t => model sigma (2 * N) T d X q (along phi0 t delta)) in *.
    assert (odd : forall t, F (- t) = - F t).
    { intros t. unfold F. rewrite <- model_mirror. apply model_same. intros i k j Hi Hk Hj.
      assert (Q := A i k j Hi Hk Hj). assert (Q0 := M0 i k j Hi Hk Hj). unfold opposite, along, mirror in *.
      rewrite Rmult_plus_distr_l, Q0.
      transitivity (phi0 i k j + t * ((if Nat.eqb k 0 then -1 else 1) * delta (partner N i) k j)); [rewrite Q|]; ring. }
    assert (even : forall t, F1 t = F1 (- t)).
    { intros t. rewrite <- (is_derive_unique _ _ _ (D1 t)). apply is_derive_unique.
      apply is_derive_ext with (f := fun t => - F (- t)); [intros y; rewrite odd; apply Ropp_involutive|].
      rewrite <- (Ropp_involutive (F1 (- t))). apply (is_derive_opp (fun t => F (- t))), derive_reflect, D1. }
    assert (D3 : is_derive F1 0 (- L)).
    { apply is_derive_ext with (f := fun t => F1 (- t)); [intros; now rewrite <- even|].
      apply derive_reflect. now rewrite Ropp_0. }
    apply is_derive_unique in D2. apply is_derive_unique in D3. lra.
  - intros p p' g g' P G G'. rewrite (pdot_ext _ _ _ _ _ _ G G'). unfold pdot. rewrite Sum_pairs.
    destruct (Nat.eq_dec N 0) as [->|HN]; [cbn; ring|]. assert (HI : 0 < INR N) by (apply lt_0_INR; lia).
    rewrite <- Sum_scal. apply Sum_ext; intros i Hi. destruct (S i Hi) as (C & C' & _).
    rewrite <- Sum_plus, <- Sum_scal. apply Sum_ext; intros k _. unfold dot. rewrite <- Sum_plus, <- Sum_scal.
    apply Sum_ext; intros j _. destruct (P i k Hi) as [-> ->]. rewrite C'.
    assert (R : / sqrt (INR (2 * N)) * / sqrt (INR (2 * N)) = / (2 * INR N)).
    { rewrite <- Rinv_mult, sqrt_sqrt, mult_INR by apply pos_INR. easy. }
    assert (K : 2 * (/ (2 * INR N)) = / INR N) by (field; lra). rewrite <- K, <- R.
    destruct (Nat.eqb k 0); [ring|]. destruct C as [-> | ->]; ring.
Qed.
