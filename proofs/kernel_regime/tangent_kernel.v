(** Chapter "The tangent kernel": its finite form at the start, and where networks are blind. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.paired.
Open Scope R_scope.

Lemma Sum_mirror N F G : (forall p, (p < N)%nat -> F p = G p /\ F (N + p)%nat = G p) -> Sum (N + N) F = 2 * Sum N G.
Proof.
  intros H. rewrite Sum_split, <- Sum_plus, <- Sum_scal. apply Sum_ext; intros p Hp. destruct (H p Hp) as [-> ->]. ring.
Qed.

(** kr-lemma-4
    Covers: a part: the finite kernel at the start as a mean over independent heads, for every head function h with gradient ∇h; on the page: the blocks of ∇h, and the law of large numbers.
    Reads: at a start at which partners have equal θ and opposite readouts ±1, for any two inputs: K_m(X, X′) = ⟨∇f(X), ∇f(X′)⟩ = (2/m) Σ_{i ≤ m/2} [h h′ + ⟨∇h, ∇h′⟩] at θ_i.
    Mistake: `1 / INR (N + N) * Sum N` for `2 / INR (N + N) * Sum N`
    Mistake: without `(forall p, (p < N)%nat -> Rabs (fst phi0 p) = 1) ->`
*)
Theorem kr_lemma_4 : forall N D h g (phi0 : point) j l, (0 < N)%nat -> mirrored N phi0 ->
  (forall p, (p < N)%nat -> Rabs (fst phi0 p) = 1) ->
  pdot N D (slope N h g phi0 j) (slope N h g phi0 l) = 2 / INR (N + N) * Sum N (fun p =>
    h j (snd phi0 p) * h l (snd phi0 p) + dot D (g j (snd phi0 p)) (g l (snd phi0 p))).
Proof.
  intros N D h g phi0 j l HN M Hc. assert (P : 0 < INR (N + N)) by (apply lt_0_INR; lia).
  assert (W := sqrt_lt_R0 _ P). assert (E := sqrt_sqrt (INR (N + N)) ltac:(lra)). unfold pdot.
  rewrite (Sum_mirror N _ (fun p => / INR (N + N) *
    (h j (snd phi0 p) * h l (snd phi0 p) + dot D (g j (snd phi0 p)) (g l (snd phi0 p))))).
  { rewrite Sum_scal. unfold Rdiv. ring. }
  assert (I : / INR (N + N) = / sqrt (INR (N + N)) * / sqrt (INR (N + N))) by (rewrite <- Rinv_mult, E; reflexivity).
  assert (Q : forall i c, c ^ 2 = 1 -> dot D (fun k => / sqrt (INR (N + N)) * (c * g j (snd phi0 i) k))
    (fun k => / sqrt (INR (N + N)) * (c * g l (snd phi0 i) k)) = / INR (N + N) * dot D (g j (snd phi0 i)) (g l (snd
      phi0 i))).
  { intros i c Hc2. unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros k _. rewrite I.
    set (z := / sqrt (INR (N + N))). replace (z * (c * g j (snd phi0 i) k) * (z * (c * g l (snd phi0 i) k))) with
      (z * z * (c ^ 2) * (g j (snd phi0 i) k * g l (snd phi0 i) k)) by ring. rewrite Hc2. ring. }
  intros p Hp. destruct (M p Hp) as [A B]. specialize (Hc p Hp).
  assert (C2 : fst phi0 p ^ 2 = 1) by (rewrite <- pow2_abs, Hc; ring).
  unfold slope. cbn [fst snd]. rewrite A, B. split.
  - rewrite Q by easy. rewrite I. ring.
  - rewrite (Q p (- fst phi0 p)) by (rewrite <- C2; ring). rewrite I. ring.
Qed.

(** kr-lemma-4-null
    Covers: a part: in 1, that a linear relation of the outputs of all networks of one width is one of the rows of every finite kernel; in 2, that outputs are orthogonal to it; on the page: the converse, the limit, and 3 and 4.
    Reads: let h have the gradient ∇h. If Σ_j u_j f(X_j; φ) = 0 for all φ of m = 2N heads, then at every φ and for every input X_i Σ_j u_j ⟨∇f(X_i), ∇f(X_j)⟩ = 0: K_m u = 0; and labels y_j = f(X_j; φ) have Σ u_j y_j = 0.
    Mistake: without `(forall phi, Sum n (fun j => u j * output N h phi j) = 0) ->`
*)
Theorem kr_lemma_4_null : forall n N D h g (u : vector),
  (forall j th v, is_derive (fun e => h j (fun k => th k + e * v k) : R) 0 (dot D (g j th) v)) ->
  (forall phi, Sum n (fun j => u j * output N h phi j) = 0) ->
  forall (phi : point) i y, (forall j, y j = output N h phi j) ->
  Sum n (fun j => u j * pdot N D (slope N h g phi i) (slope N h g phi j)) = 0 /\ Sum n (fun j => u j * y j) = 0.
Proof.
  intros n N D h g u Hg H phi i y Hy. split.
  - set (v := slope N h g phi i).
    assert (A : is_derive (fun e => Sum n (fun j => u j * output N h (pplus phi (pscal e v)) j)) 0
      (Sum n (fun j => u j * pdot N D (slope N h g phi j) v))).
    { apply Sum_derive; intros j _. apply (is_derive_scal (fun e => output N h (pplus phi (pscal e v)) j)).
      now apply output_derive. }
    assert (B : is_derive (fun e => Sum n (fun j => u j * output N h (pplus phi (pscal e v)) j)) 0 0).
    { eapply is_derive_ext; [intros t; symmetry; apply H|apply (is_derive_const 0)]. }
    assert (C : Sum n (fun j => u j * pdot N D (slope N h g phi j) v) = 0).
    { rewrite <- (is_derive_unique _ _ _ A). now apply is_derive_unique. }
    rewrite <- C. apply Sum_ext; intros j _. now rewrite pdot_sym.
  - rewrite <- (H phi). apply Sum_ext; intros. now rewrite Hy.
Qed.
