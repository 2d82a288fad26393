(** Pairs of heads at a symmetric start: points, products, the parts of a pair, and how they move in a step. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.means.
Open Scope R_scope.

(** A point (c, θ): readout c_i and parameters θ_i of every head i < 2N; heads p and N + p are partners. *)
Definition point := (vector * matrix)%type.

(** φ − φ′, c φ, and ⟨φ, φ′⟩ = Σ c_i c′_i + Σ ⟨θ_i, θ′_i⟩ with D parameters a head *)
Definition pminus (a b : point) : point := (fun i => fst a i - fst b i, fun i k => snd a i k - snd b i k).
Definition pscal (s : R) (a : point) : point := (fun i => s * fst a i, fun i k => s * snd a i k).
Definition pplus (a b : point) : point := (fun i => fst a i + fst b i, fun i k => snd a i k + snd b i k).
Definition pdot (N D : nat) (a b : point) : R :=
  Sum (N + N) (fun i => fst a i * fst b i + dot D (snd a i) (snd b i)).

(** f_j = m^(−1/2) Σ c_i h_j(θ_i), where h_j(θ) is the output of a head at input j *)
Definition output (N : nat) (h : nat -> vector -> R) (phi : point) (j : nat) : R :=
  / sqrt (INR (N + N)) * Sum (N + N) (fun i => fst phi i * h j (snd phi i)).

(** ∇f_j: m^(−1/2) h_j(θ_i) in c_i and m^(−1/2) c_i ∇h_j(θ_i) in θ_i; g_j stands for ∇h_j *)
Definition slope (N : nat) (h : nat -> vector -> R) (g : nat -> vector -> vector) (phi : point) (j : nat) : point :=
  (fun i => / sqrt (INR (N + N)) * h j (snd phi i),
   fun i k => / sqrt (INR (N + N)) * (fst phi i * g j (snd phi i) k)).

(** L(φ) = 1/n Σ (f_j − y_j)², and its gradient 2/n Σ (f_j − y_j) ∇f_j *)
Definition loss (n N : nat) (h : nat -> vector -> R) (y : vector) (phi : point) : R :=
  Sum n (fun j => (output N h phi j - y j) ^ 2) / INR n.
Definition loss_slope (n N : nat) (h : nat -> vector -> R) (g : nat -> vector -> vector) (y : vector) (phi : point) :
  point :=
  (fun i => 2 / INR n * Sum n (fun j => (output N h phi j - y j) * fst (slope N h g phi j) i),
   fun i k => 2 / INR n * Sum n (fun j => (output N h phi j - y j) * snd (slope N h g phi j) i k)).

(** Gradient descent on the loss with the step η, without projection *)
Fixpoint run (n N : nat) (h : nat -> vector -> R) (g : nat -> vector -> vector) (y : vector) (eta : R) (phi0 : point)
  (s : nat) : point :=
  match s with
  | O => phi0
  | S s' => let phi := run n N h g y eta phi0 s' in pminus phi (pscal eta (loss_slope n N h g y phi))
  end.

(** A start at which partners have the same parameters and opposite readouts *)
Definition mirrored (N : nat) (phi : point) : Prop :=
  forall p, (p < N)%nat -> fst phi (N + p)%nat = - fst phi p /\ snd phi (N + p)%nat = snd phi p.

(** What two partners do: α and β are half the difference and half the sum of the moves of their θ, γ and χ half the
    sum and half the difference of those of their c: θ± = θ⁰ + β ± α, c± = ±(c⁰ + χ) + γ. *)
Definition alpha (N : nat) (x : point) (p : nat) : vector := fun k => (snd x p k - snd x (N + p)%nat k) / 2.
Definition beta (N : nat) (x : point) (p : nat) : vector := fun k => (snd x p k + snd x (N + p)%nat k) / 2.
Definition gamma (N : nat) (x : point) (p : nat) : R := (fst x p + fst x (N + p)%nat) / 2.
Definition chi (N : nat) (x : point) (p : nat) : R := (fst x p - fst x (N + p)%nat) / 2.

(** P: keeps α and γ, drops β and χ *)
Definition apart (N : nat) (x : point) : point :=
  (fun i => if (i <? N)%nat then gamma N x i else gamma N x (i - N),
   fun i k => if (i <? N)%nat then alpha N x i k else - alpha N x (i - N) k).

Section Products.
Variables (N D : nat).

Lemma pdot_pairs a b : pdot N D a b =
  Sum N (fun p => 2 * (gamma N a p * gamma N b p + chi N a p * chi N b p) +
    2 * (dot D (alpha N a p) (alpha N b p) + dot D (beta N a p) (beta N b p))).
Proof.
  unfold pdot. rewrite Sum_split, <- Sum_plus. apply Sum_ext; intros p Hp.
  replace (dot D (snd a p) (snd b p)) with (Sum D (fun k => snd a p k * snd b p k)) by easy.
  replace (dot D (snd a (N + p)%nat) (snd b (N + p)%nat)) with
    (Sum D (fun k => snd a (N + p)%nat k * snd b (N + p)%nat k)) by easy.
  assert (Q : Sum D (fun k => snd a p k * snd b p k) + Sum D (fun k => snd a (N + p)%nat k * snd b (N + p)%nat k) =
    2 * (dot D (alpha N a p) (alpha N b p) + dot D (beta N a p) (beta N b p))).
  { unfold dot. rewrite <- Sum_plus, <- Sum_plus, <- Sum_scal. apply Sum_ext; intros. unfold alpha, beta. field. }
  rewrite <- Q. unfold gamma, chi. field.
Qed.

Lemma apart_parts x p : (p < N)%nat ->
  gamma N (apart N x) p = gamma N x p /\ chi N (apart N x) p = 0 /\
  (forall k, alpha N (apart N x) p k = alpha N x p k) /\ (forall k, beta N (apart N x) p k = 0).
Proof.
  intros H. unfold gamma at 1, chi, alpha at 1, beta, apart. cbn [fst snd].
  assert (A : (p <? N)%nat = true) by now apply Nat.ltb_lt.
  assert (B : (N + p <? N)%nat = false) by (apply Nat.ltb_ge; lia).
  rewrite A, B. replace (N + p - N)%nat with p by lia.
  repeat split; intros; field.
Qed.

Lemma pdot_minus_r a b c : pdot N D a (pminus b c) = pdot N D a b - pdot N D a c.
Proof.
  unfold pdot. rewrite <- Sum_minus. apply Sum_ext; intros i _. unfold pminus, dot. cbn [fst snd].
  replace (Sum D (fun k => snd a i k * (snd b i k - snd c i k))) with
    (Sum D (fun k => snd a i k * snd b i k) - Sum D (fun k => snd a i k * snd c i k)); [ring|].
  rewrite <- Sum_minus. apply Sum_ext; intros; ring.
Qed.

Lemma pdot_scal_r a s b : pdot N D a (pscal s b) = s * pdot N D a b.
Proof.
  unfold pdot. rewrite <- Sum_scal. apply Sum_ext; intros i _. unfold pscal, dot. cbn [fst snd].
  rewrite Rmult_plus_distr_l, <- Sum_scal. f_equal; [ring|]. apply Sum_ext; intros; ring.
Qed.

Lemma pdot_sym a b : pdot N D a b = pdot N D b a.
Proof. apply Sum_ext; intros. rewrite dot_sym. ring. Qed.

Lemma pdot_combination a n (r : vector) (b : nat -> point) :
  pdot N D a (fun i => Sum n (fun l => r l * fst (b l) i), fun i k => Sum n (fun l => r l * snd (b l) i k)) =
  Sum n (fun l => r l * pdot N D a (b l)).
Proof.
  unfold pdot. rewrite (Sum_ext n (fun l => r l * Sum (N + N) (fun i => fst a i * fst (b l) i + dot D (snd a i) (snd
    (b l) i)))
    (fun l => Sum (N + N) (fun i => r l * (fst a i * fst (b l) i + dot D (snd a i) (snd (b l) i))))).
  2: { intros. now rewrite Sum_scal. }
  rewrite Sum_swap. apply Sum_ext; intros i _. cbn [fst snd]. symmetry.
  rewrite (Sum_ext n _ (fun l => fst a i * (r l * fst (b l) i) + Sum D (fun k => snd a i k * (r l * snd (b l) i k)))).
  2: { intros. unfold dot. rewrite (Rmult_plus_distr_l (r i0)), <- Sum_scal. f_equal; [ring|].
    apply Sum_ext; intros; ring. }
  rewrite Sum_plus, Sum_scal. f_equal. unfold dot. rewrite Sum_swap. apply Sum_ext; intros. now rewrite Sum_scal.
Qed.

(** The rows of the tangent at a mirrored start see α and γ only. *)
Lemma slope_start h g phi0 j p : mirrored N phi0 -> (p < N)%nat ->
  gamma N (slope N h g phi0 j) p = / sqrt (INR (N + N)) * h j (snd phi0 p) /\
  chi N (slope N h g phi0 j) p = 0 /\
  (forall k, alpha N (slope N h g phi0 j) p k = / sqrt (INR (N + N)) * (fst phi0 p * g j (snd phi0 p) k)) /\
  (forall k, beta N (slope N h g phi0 j) p k = 0).
Proof.
  intros M H. destruct (M p H) as [A B]. unfold gamma, chi, alpha, beta, slope. cbn [fst snd].
  rewrite A, B. repeat split; intros; field; apply Rgt_not_eq, sqrt_lt_R0, lt_0_INR; lia.
Qed.

Lemma pdot_apart h g phi0 j x : mirrored N phi0 ->
  pdot N D (slope N h g phi0 j) x = pdot N D (slope N h g phi0 j) (apart N x).
Proof.
  intros M. rewrite !pdot_pairs. apply Sum_ext; intros p Hp.
  destruct (slope_start h g phi0 j p M Hp) as (_ & C & _ & B). destruct (apart_parts x p Hp) as (G & X & A & Z).
  rewrite G, C, X. replace (dot D (beta N (slope N h g phi0 j) p) (beta N x p)) with 0.
  - replace (dot D (beta N (slope N h g phi0 j) p) (beta N (apart N x) p)) with 0.
    + replace (dot D (alpha N (slope N h g phi0 j) p) (alpha N (apart N x) p)) with
        (dot D (alpha N (slope N h g phi0 j) p) (alpha N x p)); [ring|].
      apply Sum_ext; intros. now rewrite A.
    + symmetry. unfold dot. rewrite (Sum_ext D _ (fun _ => 0)); [apply Sum_zero|]. intros. rewrite B. ring.
  - symmetry. unfold dot. rewrite (Sum_ext D _ (fun _ => 0)); [apply Sum_zero|]. intros. rewrite B. ring.
Qed.

Lemma output_start h phi0 j : mirrored N phi0 -> output N h phi0 j = 0.
Proof.
  intros M. unfold output. rewrite Sum_split.
  rewrite (Sum_ext N (fun i => fst phi0 (N + i)%nat * h j (snd phi0 (N + i)%nat)) (fun i => -1 * (fst phi0 i * h j
    (snd phi0 i)))).
  - rewrite Sum_scal. ring.
  - intros i Hi. destruct (M i Hi) as [-> ->]. ring.
Qed.

(** The gradient is the gradient. *)
Lemma output_derive (h : nat -> vector -> R) (g : nat -> vector -> vector) phi v j :
  (forall th w, is_derive (fun e => h j (fun k => th k + e * w k)) 0 (dot D (g j th) w)) ->
  is_derive (fun e => output N h (pplus phi (pscal e v)) j) 0 (pdot N D (slope N h g phi j) v).
Proof.
  intros Hg. unfold output.
  replace (pdot N D (slope N h g phi j) v) with (/ sqrt (INR (N + N)) * Sum (N + N) (fun i =>
    fst v i * h j (snd phi i) + fst phi i * dot D (g j (snd phi i)) (snd v i))).
  - apply (is_derive_scal (fun e => Sum (N + N) (fun i => (fst phi i + e * fst v i) * h j (fun k => snd phi i k + e *
    snd v i k)))).
    apply Sum_derive; intros i Hi.
    assert (A : is_derive (fun e : R => fst phi i + e * fst v i) 0 (fst v i)) by (auto_derive; [easy|ring]).
    assert (B := is_derive_mult _ _ _ _ _ A (Hg (snd phi i) (snd v i)) Rmult_comm).
    replace (fst v i * h j (snd phi i) + fst phi i * dot D (g j (snd phi i)) (snd v i)) with
      (fst v i * h j (fun k => snd phi i k + 0 * snd v i k) + (fst phi i + 0 * fst v i) * dot D (g j (snd phi i)) (snd
        v i)).
    + exact B.
    + replace (fun k => snd phi i k + 0 * snd v i k) with (snd phi i); [ring|].
      apply FunctionalExtensionality.functional_extensionality; intros. ring.
  - unfold pdot. rewrite <- Sum_scal. apply Sum_ext; intros i _. unfold slope, dot. cbn [fst snd].
    rewrite Rmult_plus_distr_l, <- !Sum_scal. f_equal; [ring|]. apply Sum_ext; intros; ring.
Qed.

Lemma loss_derive n (h : nat -> vector -> R) (g : nat -> vector -> vector) y phi v :
  (forall j th w, (j < n)%nat -> is_derive (fun e => h j (fun k => th k + e * w k)) 0 (dot D (g j th) w)) ->
  is_derive (fun e => loss n N h y (pplus phi (pscal e v))) 0 (pdot N D (loss_slope n N h g y phi) v).
Proof.
  intros Hg. unfold loss.
  replace (pdot N D (loss_slope n N h g y phi) v) with
    (/ INR n * Sum n (fun j => 2 * (output N h phi j - y j) * pdot N D (slope N h g phi j) v)).
  - apply (is_derive_ext (fun e => / INR n * Sum n (fun j => (output N h (pplus phi (pscal e v)) j - y j) ^ 2))).
    { intros. apply Rmult_comm. }
    apply (is_derive_scal (fun e => Sum n (fun j => (output N h (pplus phi (pscal e v)) j - y j) ^ 2))).
    apply Sum_derive; intros j Hj.
    assert (A := output_derive h g phi v j (fun th w => Hg j th w Hj)).
    assert (Z : output N h (pplus phi (pscal 0 v)) j = output N h phi j).
    { unfold output, pplus, pscal. cbn [fst snd]. f_equal. apply Sum_ext; intros. f_equal; [ring|]. f_equal.
      apply FunctionalExtensionality.functional_extensionality; intros. ring. }
    set (F := fun e => output N h (pplus phi (pscal e v)) j) in *.
    assert (B : is_derive (fun e => F e - y j) 0 (pdot N D (slope N h g phi j) v - 0)).
    { apply (is_derive_minus F (fun _ => y j)); [exact A|apply (is_derive_const (y j))]. }
    assert (C := is_derive_pow _ 2 _ _ B). simpl in C.
    replace (2 * (output N h phi j - y j) * pdot N D (slope N h g phi j) v) with
      ((1 + 1) * (pdot N D (slope N h g phi j) v - 0) * ((F 0 - y j) * 1)).
    + exact C.
    + unfold F. rewrite Z. ring.
  - rewrite pdot_sym.
    transitivity (pdot N D v (pscal (2 / INR n) (fun i => Sum n (fun l => (output N h phi l - y l) * fst (slope N h g
      phi l) i),
      fun i k => Sum n (fun l => (output N h phi l - y l) * snd (slope N h g phi l) i k)))).
    + rewrite pdot_scal_r, pdot_combination. unfold Rdiv. rewrite (Rmult_comm 2), Rmult_assoc. f_equal.
      rewrite <- Sum_scal. apply Sum_ext; intros. rewrite (pdot_sym v). ring.
    + reflexivity.
Qed.

End Products.

(** ‖φ‖ for a point *)
Definition pnorm (N D : nat) (a : point) : R := sqrt (pdot N D a a).

Section Points.
Variables (N D : nat).

Lemma pdot_ge0 a : 0 <= pdot N D a a.
Proof.
  apply Sum_ge0; intros. apply Rplus_le_le_0_compat; [apply Rle_0_sqr|]. rewrite <- sq_dot. apply sq_ge0.
Qed.

Lemma pnorm_sq a : pnorm N D a ^ 2 = pdot N D a a.
Proof. apply pow2_sqrt, pdot_ge0. Qed.

Lemma pdot_cauchy a b : Rabs (pdot N D a b) <= pnorm N D a * pnorm N D b.
Proof.
  unfold pnorm. rewrite <- sqrt_mult by apply pdot_ge0. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. unfold Rsqr.
  assert (Q : forall t, 0 <= pdot N D a a - 2 * t * pdot N D a b + t ^ 2 * pdot N D b b).
  { intros t. replace (pdot N D a a - 2 * t * pdot N D a b + t ^ 2 * pdot N D b b) with
      (pdot N D (pminus a (pscal t b)) (pminus a (pscal t b))); [apply pdot_ge0|].
    rewrite pdot_minus_r, pdot_scal_r, !(pdot_sym N D (pminus a (pscal t b))), !pdot_minus_r, !pdot_scal_r.
    rewrite (pdot_sym N D b a). ring. }
  assert (A := pdot_ge0 a). assert (C := pdot_ge0 b).
  set (x := pdot N D a a) in *. set (z := pdot N D b b) in *. set (y := pdot N D a b) in *. clearbody x y z.
  destruct (Req_dec z 0) as [->|Z].
  - destruct (Req_dec y 0) as [->|Y]; [lra|]. specialize (Q ((x + 1) / (2 * y))).
    replace (2 * ((x + 1) / (2 * y)) * y) with (x + 1) in Q by (field; easy). lra.
  - specialize (Q (y / z)). replace (x - 2 * (y / z) * y + (y / z) ^ 2 * z) with ((x * z - y * y) * / z) in Q by
    (field; easy).
    assert (0 < / z) by (apply Rinv_0_lt_compat; lra). nra.
Qed.

(** The mean of r_l times the points b_l *)
Definition pmean (n : nat) (r : vector) (b : nat -> point) : point :=
  (fun i => mean n (fun l => r l * fst (b l) i), fun i k => mean n (fun l => r l * snd (b l) i k)).

Lemma pdot_pmean a n r b : pdot N D a (pmean n r b) = mean n (fun l => r l * pdot N D a (b l)).
Proof.
  unfold mean. rewrite <- pdot_combination, <- pdot_scal_r. reflexivity.
Qed.

Lemma pmean_norm n r b : (0 < n)%nat -> pnorm N D (pmean n r b) <= rms n r * rms n (fun l => pnorm N D (b l)).
Proof.
  intros H. set (v := pmean n r b). assert (V := sqrt_pos (pdot N D v v)). fold (pnorm N D v) in V.
  assert (Q : pnorm N D v ^ 2 <= rms n r * rms n (fun l => pnorm N D (b l)) * pnorm N D v).
  { rewrite pnorm_sq. unfold v at 2. rewrite pdot_pmean. eapply Rle_trans; [apply Rle_abs|].
    eapply Rle_trans; [apply mean_product|].
    rewrite Rmult_assoc. apply Rmult_le_compat_l; [apply rms_ge0|].
    eapply Rle_trans; [apply (rms_le n _ (fun l => pnorm N D v * pnorm N D (b l))); [easy|]|].
    - intros. apply pdot_cauchy.
    - rewrite rms_scal, Rabs_right by (easy || now apply Rle_ge). lra. }
  assert (B : 0 <= rms n r * rms n (fun l => pnorm N D (b l))) by (apply Rmult_le_pos; apply rms_ge0).
  destruct (Req_dec (pnorm N D v) 0) as [->|Z]; [easy|]. apply Rmult_le_reg_r with (pnorm N D v); lra.
Qed.

End Points.

(** One step of gradient descent: the four parts of a pair. *)
Lemma parts_step n N (h : nat -> vector -> R) (g : nat -> vector -> vector) y eta phi0 phi p :
  mirrored N phi0 -> (p < N)%nat ->
  let x := pminus phi phi0 in let eh := 2 * eta / sqrt (INR (N + N)) in let c0 := fst phi0 p in
  let x' := pminus (pminus phi (pscal eta (loss_slope n N h g y phi))) phi0 in
  let r := fun j => output N h phi j - y j in
  let hp := fun j => h j (snd phi p) in let hm := fun j => h j (snd phi (N + p)%nat) in
  let gp := fun j => g j (snd phi p) in let gm := fun j => g j (snd phi (N + p)%nat) in
  (forall k, alpha N x' p k = alpha N x p k - eh * mean n (fun j => r j *
    ((c0 + chi N x p) * ((gp j k + gm j k) / 2) + gamma N x p * ((gp j k - gm j k) / 2)))) /\
  (forall k, beta N x' p k = beta N x p k - eh * mean n (fun j => r j *
    ((c0 + chi N x p) * ((gp j k - gm j k) / 2) + gamma N x p * ((gp j k + gm j k) / 2)))) /\
  gamma N x' p = gamma N x p - eh * mean n (fun j => r j * ((hp j + hm j) / 2)) /\
  chi N x' p = chi N x p - eh * mean n (fun j => r j * ((hp j - hm j) / 2)).
Proof.
  intros M Hp x eh c0 x' r hp hm gp gm. destruct (M p Hp) as [A B].
  assert (C : fst phi p = c0 + chi N x p + gamma N x p) by (unfold chi, gamma, x, pminus, c0; cbn [fst]; field).
  assert (C' : fst phi (N + p)%nat = gamma N x p - c0 - chi N x p).
  { unfold chi, gamma, x, pminus, c0; cbn [fst]. rewrite A. field. }
  set (z := / sqrt (INR (N + N))). set (L := loss_slope n N h g y phi).
  assert (S2 : forall F G : vector, (forall j, F j = z * G j) -> 2 / INR n * Sum n F * eta = eh * mean n G).
  { intros F G H. rewrite (Sum_ext n F (fun j => z * G j)) by (intros; apply H). rewrite Sum_scal.
    unfold eh, mean, z, Rdiv. ring. }
  assert (HM : forall F G : vector,
    Sum n (fun j => r j * ((F j - G j) / 2)) = (Sum n (fun j => r j * F j) - Sum n (fun j => r j * G j)) / 2).
  { intros F G. rewrite <- Sum_minus. unfold Rdiv. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring. }
  assert (HP : forall F G : vector,
    Sum n (fun j => r j * ((F j + G j) / 2)) = (Sum n (fun j => r j * F j) + Sum n (fun j => r j * G j)) / 2).
  { intros F G. rewrite <- Sum_plus. unfold Rdiv. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring. }
  split; [|split; [|split]].
  - intros k. replace (alpha N x' p k) with (alpha N x p k - alpha N L p k * eta).
    2: { unfold alpha, x', x, L, pminus, pscal. cbn [fst snd]. field. }
    f_equal. rewrite <- (S2 (fun j => r j * alpha N (slope N h g phi j) p k)).
    + f_equal. unfold alpha. rewrite (HM (fun j => snd (slope N h g phi j) p k) (fun j => snd (slope N h g phi j) (N +
      p)%nat k)).
      unfold L, loss_slope, r, Rdiv. cbn [fst snd]. ring.
    + intros j. unfold alpha, slope. cbn [snd]. fold z. rewrite C, C'. fold (gp j) (gm j). field.
  - intros k. replace (beta N x' p k) with (beta N x p k - beta N L p k * eta).
    2: { unfold beta, x', x, L, pminus, pscal. cbn [fst snd]. field. }
    f_equal. rewrite <- (S2 (fun j => r j * beta N (slope N h g phi j) p k)).
    + f_equal. unfold beta. rewrite (HP (fun j => snd (slope N h g phi j) p k) (fun j => snd (slope N h g phi j) (N +
      p)%nat k)).
      unfold L, loss_slope, r, Rdiv. cbn [fst snd]. ring.
    + intros j. unfold beta, slope. cbn [snd]. fold z. rewrite C, C'. fold (gp j) (gm j). field.
  - replace (gamma N x' p) with (gamma N x p - gamma N L p * eta).
    2: { unfold gamma, x', x, L, pminus, pscal. cbn [fst snd]. field. }
    f_equal. rewrite <- (S2 (fun j => r j * gamma N (slope N h g phi j) p)).
    + f_equal. unfold gamma. rewrite (HP (fun j => fst (slope N h g phi j) p) (fun j => fst (slope N h g phi j) (N +
      p)%nat)).
      unfold L, loss_slope, r, Rdiv. cbn [fst snd]. ring.
    + intros j. unfold gamma, slope. cbn [fst]. fold z. fold (hp j) (hm j). field.
  - replace (chi N x' p) with (chi N x p - chi N L p * eta).
    2: { unfold chi, x', x, L, pminus, pscal. cbn [fst snd]. field. }
    f_equal. rewrite <- (S2 (fun j => r j * chi N (slope N h g phi j) p)).
    + f_equal. unfold chi. rewrite (HM (fun j => fst (slope N h g phi j) p) (fun j => fst (slope N h g phi j) (N +
      p)%nat)).
      unfold L, loss_slope, r, Rdiv. cbn [fst snd]. ring.
    + intros j. unfold chi, slope. cbn [fst]. fold z. fold (hp j) (hm j). field.
Qed.
