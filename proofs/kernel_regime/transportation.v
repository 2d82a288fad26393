(** Chapter "Transportation mappings and the RKHS": instructions that do nothing, and where instructions lead. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.matrices.
Open Scope R_scope.

(** A head (c, U, W), and an instruction v = (v_c, v_u, v_w) for every head *)
Record triple := Triple { hc : R; hU : vector; hW : matrix }.
Record instruction := Instruction { vc : triple -> R; vu : triple -> vector; vw : triple -> matrix }.

(** The mean a and the covariance M of the tokens of an input (T tokens X_t, query q) under a head *)
Definition token (T d : nat) X q k : vector := pooled T d X q (hW k).
Definition scatter (T d : nat) X q k : matrix := covariance T (weights T d X q (hW k)) X.

(** ⟨φ(X), v⟩ = σ(z) v_c + σ′(z)⟨a, v_u⟩ + σ′(z) Σ (MU)_i q_j (v_w)_ij at a head, z = ⟨U, a⟩ *)
Definition pairing (sigma sigma' : R -> R) (T d : nat) (X : matrix) (q : vector) (v : instruction) (k : triple) : R :=
  let z := dot d (hU k) (token T d X q k) in
  sigma z * vc v k + sigma' z * dot d (token T d X q k) (vu v k) +
  sigma' z * Sum d (fun i => Sum d (fun j => matvec d (scatter T d X q k) (hU k) i * q j * vw v k i j)).

(** ‖v‖² at a head *)
Definition size2 (d : nat) (v : instruction) (k : triple) : R := vc v k ^ 2 + sq d (vu v k) + frob2 d d (vw v k).
Definition flip_c (k : triple) : triple := Triple (- hc k) (hU k) (hW k).
Definition flip_U (k : triple) : triple := Triple (hc k) (vscal (-1) (hU k)) (hW k).
Definition times (s : R) (v : instruction) : instruction :=
  Instruction (fun k => s * vc v k) (fun k => vscal s (vu v k)) (fun k i j => s * vw v k i j).

Lemma pairing_flip_c sigma sigma' T d X q v k :
  (vc v (flip_c k) = - vc v k) -> (forall i, vu v (flip_c k) i = - vu v k i) ->
  (forall i j, vw v (flip_c k) i j = - vw v k i j) ->
  pairing sigma sigma' T d X q v (flip_c k) = - pairing sigma sigma' T d X q v k.
Proof.
  intros A B C. unfold pairing. change (token T d X q (flip_c k)) with (token T d X q k).
  change (scatter T d X q (flip_c k)) with (scatter T d X q k). change (hU (flip_c k)) with (hU k). rewrite A.
  replace (dot d (token T d X q k) (vu v (flip_c k))) with (- dot d (token T d X q k) (vu v k)).
  2: { unfold dot. rewrite <- (Rmult_1_l (Sum d _)), Ropp_mult_distr_l, <- Sum_scal. apply Sum_ext; intros. rewrite B.
    ring. }
  replace (Sum d (fun i => Sum d (fun j => matvec d (scatter T d X q k) (hU k) i * q j * vw v (flip_c k) i j))) with
    (- Sum d (fun i => Sum d (fun j => matvec d (scatter T d X q k) (hU k) i * q j * vw v k i j))); [ring|].
  rewrite <- (Rmult_1_l (Sum d _)), Ropp_mult_distr_l, <- Sum_scal. apply Sum_ext; intros i _.
  rewrite <- Sum_scal. apply Sum_ext; intros j _. rewrite C. ring.
Qed.

Lemma odd_derivative (sigma sigma' : R -> R) z : (forall u, is_derive sigma u (sigma' u)) ->
  (forall u, sigma (- u) = - sigma u) -> sigma' (- z) = sigma' z.
Proof.
  intros D O. assert (A : is_derive (fun u => - sigma (- u)) z (sigma' (- z))).
  { evar_last; [apply (is_derive_opp (fun u => sigma (- u))), (is_derive_comp sigma (fun u => - u));
      [apply D|auto_derive; [easy|reflexivity]]|].
    unfold scal, opp; simpl; unfold mult; simpl. ring. }
  assert (B : is_derive sigma z (sigma' (- z))).
  { eapply is_derive_ext; [|exact A]. intros t. change (- sigma (- t) = sigma t). rewrite O. ring. }
  rewrite <- (is_derive_unique _ _ _ B). now apply is_derive_unique.
Qed.

Lemma pairing_flip_U sigma sigma' T d X q v k :
  (forall u, is_derive sigma u (sigma' u)) -> (forall u, sigma (- u) = - sigma u) ->
  (vc v (flip_U k) = vc v k) -> (forall i, vu v (flip_U k) i = - vu v k i) ->
  (forall i j, vw v (flip_U k) i j = vw v k i j) ->
  pairing sigma sigma' T d X q v (flip_U k) = - pairing sigma sigma' T d X q v k.
Proof.
  intros D O A B C. unfold pairing. change (token T d X q (flip_U k)) with (token T d X q k).
  change (scatter T d X q (flip_U k)) with (scatter T d X q k). cbn [hU flip_U]. rewrite dot_scal_l, A.
  replace (-1 * dot d (hU k) (token T d X q k)) with (- dot d (hU k) (token T d X q k)) by ring.
  rewrite O, (odd_derivative sigma sigma') by easy.
  replace (dot d (token T d X q k) (vu v (flip_U k))) with (- dot d (token T d X q k) (vu v k)).
  2: { unfold dot. rewrite <- (Rmult_1_l (Sum d _)), Ropp_mult_distr_l, <- Sum_scal. apply Sum_ext; intros. rewrite B.
    ring. }
  replace (Sum d (fun i => Sum d (fun j => matvec d (scatter T d X q k) (vscal (-1) (hU k)) i * q j * vw v (flip_U k) i
    j))) with
    (- Sum d (fun i => Sum d (fun j => matvec d (scatter T d X q k) (hU k) i * q j * vw v k i j))); [ring|].
  rewrite <- (Rmult_1_l (Sum d _)), Ropp_mult_distr_l, <- Sum_scal. apply Sum_ext; intros i _.
  rewrite <- Sum_scal. apply Sum_ext; intros j _. rewrite C.
  replace (matvec d (scatter T d X q k) (vscal (-1) (hU k)) i) with (- matvec d (scatter T d X q k) (hU k) i); [ring|].
  unfold matvec. rewrite <- (Rmult_1_l (Sum d _)), Ropp_mult_distr_l, <- Sum_scal. apply Sum_ext; intros.
    unfold vscal. ring.
Qed.

(** kr-remark-9-norm
    Covers: the whole statement, for every law of heads, given by its mean Ex (0 by convention where a function is not integrable), under which c and −c (in the last part U and −U) have one law; c = ±1.
    Reads: let Ex be homogeneous, Ex 1 = 1, Ex F(−c, U, W) = Ex F. Then v = (c, 0, 0) represents zero at every input and has Ex‖v‖² = 1, while v = 0 represents zero with norm 0; every v odd in c represents zero, and if its norm is not 0 a multiple of it has norm 1. If σ is odd with derivative σ′ and Ex F(c, −U, W) = Ex F, every v with v_c, v_w even and v_u odd in U represents zero.
    Mistake: `Ex (size2 d v1) = 0` for `Ex (size2 d v1) = 1`
    Mistake: without `(forall F, Ex (fun k => F (flip_c k)) = Ex F) ->`
*)
Theorem kr_remark_9_norm : forall (Ex : (triple -> R) -> R) sigma sigma' T d,
  (forall F G, (forall k, (hc k = 1 \/ hc k = -1) -> F k = G k) -> Ex F = Ex G) ->
  (forall s F, Ex (fun k => s * F k) = s * Ex F) -> Ex (fun _ => 1) = 1 ->
  (forall F, Ex (fun k => F (flip_c k)) = Ex F) ->
  let zero := fun v => forall X q, Ex (pairing sigma sigma' T d X q v) = 0 in
  let v0 := Instruction (fun _ => 0) (fun _ _ => 0) (fun _ _ _ => 0) in
  let v1 := Instruction hc (fun _ _ => 0) (fun _ _ _ => 0) in
  (zero v0 /\ Ex (size2 d v0) = 0) /\ (zero v1 /\ Ex (size2 d v1) = 1) /\
  (forall v, (forall k, vc v (flip_c k) = - vc v k) -> (forall k i, vu v (flip_c k) i = - vu v k i) ->
    (forall k i j, vw v (flip_c k) i j = - vw v k i j) ->
    zero v /\ (0 < Ex (size2 d v) -> exists s, zero (times s v) /\ Ex (size2 d (times s v)) = 1)) /\
  ((forall F, Ex (fun k => F (flip_U k)) = Ex F) -> (forall u, is_derive sigma u (sigma' u)) ->
    (forall u, sigma (- u) = - sigma u) ->
    forall v, (forall k, vc v (flip_U k) = vc v k) -> (forall k i, vu v (flip_U k) i = - vu v k i) ->
    (forall k i j, vw v (flip_U k) i j = vw v k i j) -> zero v).
Proof.
  intros Ex sigma sigma' T d Hext Hs H1 Hc zero v0 v1.
  assert (Z0 : Ex (fun _ => 0) = 0). { rewrite (Hext _ (fun _ => 0 * 1)) by (intros; ring). rewrite Hs. ring. }
  assert (odd : forall f, (forall F, Ex (fun k => F (f k)) = Ex F) ->
    forall F, (forall k, F (f k) = - F k) -> Ex F = 0).
  { intros f Hf F HF. assert (Q := Hf F). rewrite (Hext _ (fun k => -1 * F k)) in Q by (intros; rewrite HF; ring).
    rewrite Hs in Q. lra. }
  assert (zz : forall X q k v, vc v k = 0 -> (forall i, vu v k i = 0) -> (forall i j, vw v k i j = 0) ->
    pairing sigma sigma' T d X q v k = 0).
  { intros X q k v A B C. unfold pairing. rewrite A.
    replace (dot d (token T d X q k) (vu v k)) with 0.
    2: { symmetry. unfold dot. rewrite (Sum_ext d _ (fun _ => 0)); [apply Sum_zero|]. intros. rewrite B. ring. }
    rewrite (Sum_ext d _ (fun _ => 0)); [rewrite Sum_zero; ring|]. intros.
    rewrite (Sum_ext d _ (fun _ => 0)) by (intros; rewrite C; ring). apply Sum_zero. }
  assert (oddc : forall v, (forall k, vc v (flip_c k) = - vc v k) -> (forall k i, vu v (flip_c k) i = - vu v k i) ->
    (forall k i j, vw v (flip_c k) i j = - vw v k i j) -> zero v).
  { intros v A B C X q. apply (odd flip_c Hc). intros k. now apply pairing_flip_c. }
  assert (S0 : Sum d (fun _ => 0 ^ 2) = 0).
  { rewrite (Sum_ext d _ (fun _ => 0)) by (intros; ring). apply Sum_zero. }
  assert (S00 : Sum d (fun _ => Sum d (fun _ => 0 ^ 2)) = 0).
  { rewrite S0. apply Sum_zero. }
  assert (S1 : forall k, size2 d v1 k = hc k ^ 2).
  { intros k. unfold size2, v1, sq, frob2. cbn [vc vu vw]. rewrite S00, S0. ring. }
  split; [split|split; [split|split]].
  - intros X q. rewrite (Hext _ (fun _ => 0)); [exact Z0|]. intros. now apply zz.
  - rewrite (Hext _ (fun _ => 0)); [exact Z0|]. intros k _. unfold size2, v0, sq, frob2. cbn [vc vu vw].
    rewrite S00, S0. ring.
  - apply oddc; intros; cbn; ring.
  - rewrite (Hext _ (fun _ => 1)); [exact H1|]. intros k [E|E]; rewrite S1, E; ring.
  - intros v A B C. split; [now apply oddc|]. intros P. exists (/ sqrt (Ex (size2 d v))).
    set (s := / sqrt (Ex (size2 d v))). split.
    + apply oddc; intros; cbn; unfold vscal; rewrite ?A, ?B, ?C; ring.
    + rewrite (Hext _ (fun k => s ^ 2 * size2 d v k)).
      * rewrite Hs. unfold s. rewrite pow_inv, pow2_sqrt by lra. apply Rinv_l. lra.
      * intros k _. unfold size2, times, frob2. cbn [vc vu vw]. rewrite sq_scal, !Rmult_plus_distr_l, <- Sum_scal.
        f_equal; [ring|].
        apply Sum_ext; intros. rewrite <- Sum_scal. apply Sum_ext; intros. ring.
  - intros HU D O v A B C X q. apply (odd flip_U HU). intros k. now apply pairing_flip_U.
Qed.

(** v ∈ 𝒱_ν: |v_c| ≤ ν_c, ‖v_u‖ ≤ ν_u, ‖v_w‖_F ≤ ν_w at every head (ν ≥ 0) *)
Definition bounded_by (d : nat) (nc nu nw : R) (v : instruction) : Prop := forall k,
  Rabs (vc v k) <= nc /\ sq d (vu v k) <= nu ^ 2 /\ frob2 d d (vw v k) <= nw ^ 2.

(** 2N heads at a symmetric initialisation: partners i and N + i share U and W, and have opposite c = ±1 *)
Definition symmetric_heads (N : nat) (k : nat -> triple) : Prop :=
  (forall i, (i < N + N)%nat -> hc (k i) = 1 \/ hc (k i) = -1) /\
  forall i, (i < N)%nat -> hc (k (N + i)%nat) = - hc (k i) /\ hU (k (N + i)%nat) = hU (k i) /\ hW (k (N + i)%nat) = hW
    (k i).

(** The moves of the transported point: m^(−1/2) v_c, c m^(−1/2) v_u, c m^(−1/2) v_w *)
Definition move_c (N : nat) (v : instruction) (k : triple) : R := / sqrt (INR (N + N)) * vc v k.
Definition move_U (N : nat) (v : instruction) (k : triple) : vector := vscal (hc k * / sqrt (INR (N + N))) (vu v k).
Definition move_W (N : nat) (v : instruction) (k : triple) : matrix := fun i j => hc k * / sqrt (INR (N + N)) * vw v k i
  j.

(** f_lin = f(φ⁽⁰⁾) + ⟨∇f(φ⁽⁰⁾), moves⟩ with ∇f = m^(−1/2)(φ_c, c φ_u, c φ_w) *)
Definition transported sigma sigma' (T d : nat) X q (N : nat) (k : nat -> triple) (v : instruction) : R :=
  / sqrt (INR (N + N)) * Sum (N + N) (fun i => hc (k i) * sigma (dot d (hU (k i)) (token T d X q (k i)))) +
  / sqrt (INR (N + N)) * Sum (N + N) (fun i => let z := dot d (hU (k i)) (token T d X q (k i)) in
    sigma z * move_c N v (k i) + hc (k i) * (sigma' z * dot d (token T d X q (k i)) (move_U N v (k i)) +
    sigma' z * Sum d (fun a => Sum d (fun b => matvec d (scatter T d X q (k i)) (hU (k i)) a * q b * move_W N v (k i) a
      b)))).

Lemma frob2_scal d s A : frob2 d d (fun i j => s * A i j) = s ^ 2 * frob2 d d A.
Proof. unfold frob2. rewrite <- Sum_scal. apply Sum_ext; intros. rewrite <- Sum_scal. apply Sum_ext; intros. ring. Qed.

Lemma transported_mean sigma sigma' T d X q N k v : (0 < N)%nat -> symmetric_heads N k ->
  transported sigma sigma' T d X q N k v = / INR (N + N) * Sum (N + N) (fun i => pairing sigma sigma' T d X q v (k i)).
Proof.
  intros HN [S1 S2]. unfold transported. set (m := INR (N + N)). assert (P : 0 < m) by (apply lt_0_INR; lia).
  assert (W := sqrt_lt_R0 _ P). assert (E := sqrt_sqrt m ltac:(lra)).
  replace (Sum (N + N) (fun i => hc (k i) * sigma (dot d (hU (k i)) (token T d X q (k i))))) with 0.
  2: { rewrite Sum_split, <- Sum_plus. symmetry. rewrite (Sum_ext N _ (fun _ => 0)); [apply Sum_zero|]. intros i Hi.
    destruct (S2 i Hi) as (A & B & C). rewrite A. unfold token, pooled, weights. rewrite B, C. ring. }
  rewrite Rmult_0_r, Rplus_0_l. replace (/ m) with (/ sqrt m * / sqrt m) by (rewrite <- E at 3; field; lra).
  rewrite Rmult_assoc. f_equal. rewrite <- Sum_scal. apply Sum_ext; intros i Hi.
  unfold pairing, move_c, move_U, move_W. fold m. cbv zeta. rewrite (dot_sym d (token T d X q (k i)) (vscal _ _)),
    dot_scal_l, (dot_sym d (vu v (k i))).
  assert (Q : Sum d (fun a => Sum d (fun b => matvec d (scatter T d X q (k i)) (hU (k i)) a * q b *
      (hc (k i) * / sqrt m * vw v (k i) a b))) = hc (k i) * / sqrt m *
    Sum d (fun a => Sum d (fun b => matvec d (scatter T d X q (k i)) (hU (k i)) a * q b * vw v (k i) a b))).
  { rewrite <- Sum_scal. apply Sum_ext; intros. rewrite <- Sum_scal. apply Sum_ext; intros. ring. }
  rewrite Q. destruct (S1 i Hi) as [-> | ->]; ring.
Qed.

(** kr-remark-9-transport
    Covers: the whole statement, with Lemma 1 for the gradient in f_lin.
    Reads: at a symmetric initialisation of m = 2N ≥ 2 heads with c = ±1 and for every mapping v: (1) f_lin(X; φ̃) = (1/m) Σ ⟨φ(X; φ_i), v(φ_i)⟩; (2) ‖φ̃ − φ⁽⁰⁾‖² = (1/m) Σ ‖v(φ_i)‖², at most ν_c² + ν_u² + ν_w² for v ∈ 𝒱_ν; (3) if ρ ≥ ν ≥ 0 in all three components, then all moves are within ρ/√m for every v ∈ 𝒱_ν; if d ≥ 1 and one component of ρ ≥ 0 is smaller, some v ∈ 𝒱_ν has a move of some head that is not.
    Mistake: `/ INR N * Sum (N + N) (fun i => pairing` for `/ INR (N + N) * Sum (N + N) (fun i => pairing`
    Mistake: `nc <= rc -> nu <= ru -> (forall v` for `nc <= rc -> nu <= ru -> nw <= rw -> (forall v`
*)
Theorem kr_remark_9_transport : forall sigma sigma' T d X q N k nc nu nw,
  (0 < N)%nat -> symmetric_heads N k -> 0 <= nc -> 0 <= nu -> 0 <= nw ->
  let m := INR (N + N) in
  let far := fun v => Sum (N + N) (fun i => move_c N v (k i) ^ 2 + sq d (move_U N v (k i)) + frob2 d d (move_W N v (k
    i))) in
  let inside := fun rc ru rw v => forall i, (i < N + N)%nat -> Rabs (move_c N v (k i)) <= rc / sqrt m /\
    vnorm d (move_U N v (k i)) <= ru / sqrt m /\ sqrt (frob2 d d (move_W N v (k i))) <= rw / sqrt m in
  (forall v, transported sigma sigma' T d X q N k v =
    / INR (N + N) * Sum (N + N) (fun i => pairing sigma sigma' T d X q v (k i))) /\
  (forall v, far v = / m * Sum (N + N) (fun i => size2 d v (k i))) /\
  (forall v, bounded_by d nc nu nw v -> far v <= nc ^ 2 + nu ^ 2 + nw ^ 2) /\
  (forall rc ru rw, nc <= rc -> nu <= ru -> nw <= rw -> (forall v, bounded_by d nc nu nw v -> inside rc ru rw v)) /\
  (forall rc ru rw, (0 < d)%nat -> 0 <= rc -> 0 <= ru -> 0 <= rw -> rc < nc \/ ru < nu \/ rw < nw ->
    exists v, bounded_by d nc nu nw v /\ ~ inside rc ru rw v).
Proof.
  intros sigma sigma' T d X q N k nc nu nw HN S Hc Hu Hw m far inside. destruct S as [S1 S2].
  assert (P : 0 < m) by (apply lt_0_INR; lia). assert (W := sqrt_lt_R0 _ P). assert (E := sqrt_sqrt m ltac:(lra)).
  assert (I : 0 < / sqrt m) by now apply Rinv_0_lt_compat.
  assert (c2 : forall i, (i < N + N)%nat -> hc (k i) ^ 2 = 1) by (intros i Hi; destruct (S1 i Hi) as [-> | ->]; ring).
  assert (ca : forall i, (i < N + N)%nat -> Rabs (hc (k i) * / sqrt m) = / sqrt m).
  { intros i Hi. rewrite Rabs_mult, (Rabs_right (/ sqrt m)) by lra.
    destruct (S1 i Hi) as [-> | ->]; [rewrite Rabs_R1|rewrite Rabs_left by lra]; ring. }
  assert (FW : forall v i, (i < N + N)%nat -> sqrt (frob2 d d (move_W N v (k i))) = / sqrt m * sqrt (frob2 d d (vw v
    (k i)))).
  { intros v i Hi. unfold move_W. fold m. rewrite (frob2_scal d (hc (k i) * / sqrt m)), sqrt_mult.
    - now rewrite <- Rsqr_pow2, sqrt_Rsqr_abs, ca.
    - apply pow2_ge_0.
    - apply Sum_ge0; intros. apply Sum_ge0; intros. apply pow2_ge_0. }
  assert (F1 : forall v, far v = / m * Sum (N + N) (fun i => size2 d v (k i))).
  { intros v. unfold far. rewrite <- Sum_scal. apply Sum_ext; intros i Hi. unfold size2, move_c, move_U, move_W. fold m.
    rewrite sq_scal, (frob2_scal d (hc (k i) * / sqrt m)), !Rpow_mult_distr, c2 by easy.
    replace ((/ sqrt m) ^ 2) with (/ m) by (rewrite <- E at 1; field; lra). ring. }
  split; [intros; apply transported_mean; [easy|now split]|]. split; [exact F1|]. split; [|split].
  - intros v V. rewrite F1. apply Rmult_le_reg_l with m; [easy|]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
    unfold m. rewrite <- Sum_const. apply Sum_le; intros i _. destruct (V (k i)) as (A & B & C). unfold size2.
    assert (vc v (k i) ^ 2 <= nc ^ 2); [|lra]. rewrite <- pow2_abs. apply pow_incr. split; [apply Rabs_pos|easy].
  - intros rc ru rw L1 L2 L3 v V i Hi. destruct (V (k i)) as (A & B & C). rewrite FW by easy.
    unfold move_c, move_U. fold m. rewrite norm_scal, ca, Rabs_mult, (Rabs_right (/ sqrt m)) by (easy || lra).
      unfold Rdiv.
    rewrite !(Rmult_comm (/ sqrt m)).
    assert (vnorm d (vu v (k i)) <= nu) by now apply norm_le.
    assert (sqrt (frob2 d d (vw v (k i))) <= nw) by (rewrite <- (sqrt_pow2 nw Hw); now apply sqrt_le_1_alt).
    repeat split; apply Rmult_le_compat_r; lra.
  - intros rc ru rw Hd R1 R2 R3 L. set (e := fun s : R => (fun i => if (i =? 0)%nat then s else 0) : vector).
    set (e2 := fun s : R => (fun i j => if (i =? 0)%nat then e s j else 0) : matrix).
    assert (Es : forall s, sq d (e s) = s ^ 2).
    { intros s. unfold sq. rewrite (Sum_single d _ O Hd); [reflexivity|]. intros [|i] _ Ni; [easy|]. cbn. ring. }
    assert (E2 : forall s, frob2 d d (e2 s) = s ^ 2).
    { intros s. unfold frob2. rewrite (Sum_single d _ O Hd); [exact (Es s)|]. intros [|i] _ Ni; [easy|]. cbn.
      rewrite (Sum_ext d _ (fun _ => 0)) by (intros; ring). apply Sum_zero. }
    exists (Instruction (fun _ => nc) (fun _ => e nu) (fun _ => e2 nw)). split.
    + intros j. cbn. rewrite Es, E2, Rabs_right by lra. lra.
    + intros A. destruct (A O) as (A1 & A2 & A3); [lia|]. rewrite FW in A3 by lia. unfold move_c, move_U in *.
      fold m in A1, A2.
      cbn in A1, A2, A3. rewrite norm_scal, ca in A2 by lia. unfold vnorm in A2. rewrite Es, sqrt_pow2 in A2 by easy.
      rewrite E2, sqrt_pow2 in A3 by easy. rewrite Rabs_right in A1 by (apply Rle_ge, Rmult_le_pos; lra).
      unfold Rdiv in *. rewrite (Rmult_comm (/ sqrt m)) in A1, A2, A3.
      apply Rmult_le_reg_r in A1, A2, A3; try easy. lra.
Qed.

(** v̄ = ½(v(c, U, W) + v(−c, U, W)) *)
Definition evened (v : instruction) : instruction :=
  Instruction (fun k => (vc v k + vc v (flip_c k)) / 2) (fun k i => (vu v k i + vu v (flip_c k) i) / 2)
    (fun k i j => (vw v k i j + vw v (flip_c k) i j) / 2).

Lemma half_square a b : ((a + b) / 2) ^ 2 <= (a ^ 2 + b ^ 2) / 2.
Proof. assert (Q := pow2_ge_0 (a - b)). lra. Qed.

Lemma evened_sq d x z : sq d (fun i => (x i + z i) / 2) <= (sq d x + sq d z) / 2.
Proof.
  unfold sq, Rdiv. rewrite <- Sum_plus, Rmult_comm, <- Sum_scal. apply Sum_le; intros.
    assert (Q := half_square (x i) (z i)). lra.
Qed.

Lemma evened_frob d A B : frob2 d d (fun i j => (A i j + B i j) / 2) <= (frob2 d d A + frob2 d d B) / 2.
Proof.
  unfold frob2, Rdiv. rewrite <- Sum_plus, Rmult_comm, <- Sum_scal. apply Sum_le; intros i _.
  assert (Q := evened_sq d (A i) (B i)). unfold sq in Q. lra.
Qed.

Lemma evened_pairing sigma sigma' T d X q v k : pairing sigma sigma' T d X q (evened v) k =
  (pairing sigma sigma' T d X q v k + pairing sigma sigma' T d X q v (flip_c k)) / 2.
Proof.
  unfold pairing. change (token T d X q (flip_c k)) with (token T d X q k).
  change (scatter T d X q (flip_c k)) with (scatter T d X q k). change (hU (flip_c k)) with (hU k). cbn [vc vu vw
    evened].
  set (a := token T d X q k). set (u := matvec d (scatter T d X q k) (hU k)).
  replace (dot d a (fun i => (vu v k i + vu v (flip_c k) i) / 2)) with ((dot d a (vu v k) + dot d a (vu v (flip_c k)))
    / 2).
  2: { unfold dot, Rdiv. rewrite <- Sum_plus, Rmult_comm, <- Sum_scal. apply Sum_ext; intros; field. }
  replace (Sum d (fun i => Sum d (fun j => u i * q j * ((vw v k i j + vw v (flip_c k) i j) / 2)))) with
    ((Sum d (fun i => Sum d (fun j => u i * q j * vw v k i j)) +
      Sum d (fun i => Sum d (fun j => u i * q j * vw v (flip_c k) i j))) / 2); [field|].
  unfold Rdiv. rewrite <- Sum_plus, Rmult_comm, <- Sum_scal. apply Sum_ext; intros i _.
  rewrite <- Sum_plus, <- Sum_scal. apply Sum_ext; intros; field.
Qed.

(** kr-remark-9-even
    Covers: the whole statement, for every law of heads, given by its mean Ex on a class I of integrable functions, under which c and −c have one law.
    Reads: let Ex be linear and monotone on I, I closed under sums, multiples and c → −c, and Ex F(−c, U, W) = Ex F on I. With v̄ = ½(v(c, U, W) + v(−c, U, W)): (1) v̄ ∈ 𝒱_ν if v ∈ 𝒱_ν; Ex‖v̄‖² ≤ Ex‖v‖² and f̃(X; v̄) = f̃(X; v) where these are integrable; (2) at every symmetric initialisation f_lin(X; φ̃) is the same for v and v̄; (3) the moves of v̄ are paired: those of c are equal for partners, those of U and W opposite.
    Mistake: `move_c N (evened v) (k (N + i)%nat) = - move_c N (evened v) (k i)` for `move_c N (evened v) (k (N + i)%nat) = move_c N (evened v) (k i)`
    Mistake: `Ex (size2 d (evened v)) <= Ex (size2 d v) / 2` for `Ex (size2 d (evened v)) <= Ex (size2 d v)`
*)
Theorem kr_remark_9_even : forall (I : (triple -> R) -> Prop) (Ex : (triple -> R) -> R) sigma sigma' T d,
  (forall F, I F -> I (fun k => F (flip_c k)) /\ Ex (fun k => F (flip_c k)) = Ex F) ->
  (forall s F, I F -> I (fun k => s * F k) /\ Ex (fun k => s * F k) = s * Ex F) ->
  (forall F G, I F -> I G -> I (fun k => F k + G k) /\ Ex (fun k => F k + G k) = Ex F + Ex G) ->
  (forall F G, I F -> I G -> (forall k, F k <= G k) -> Ex F <= Ex G) ->
  forall v,
  (forall nc nu nw, bounded_by d nc nu nw v -> bounded_by d nc nu nw (evened v)) /\
  (I (size2 d v) -> I (size2 d (evened v)) -> Ex (size2 d (evened v)) <= Ex (size2 d v)) /\
  (forall X q, let p := pairing sigma sigma' T d X q in I (p v) -> I (p (evened v)) -> Ex (p (evened v)) = Ex (p v)) /\
  forall N k, (0 < N)%nat -> symmetric_heads N k ->
    (forall X q, transported sigma sigma' T d X q N k (evened v) = transported sigma sigma' T d X q N k v) /\
    forall i, (i < N)%nat -> move_c N (evened v) (k (N + i)%nat) = move_c N (evened v) (k i) /\
      (forall a, move_U N (evened v) (k (N + i)%nat) a = - move_U N (evened v) (k i) a) /\
      forall a b, move_W N (evened v) (k (N + i)%nat) a b = - move_W N (evened v) (k i) a b.
Proof.
  intros I Ex sigma sigma' T d Hf Hs Hp Hm v.
  assert (half : forall F, I F -> I (fun k => / 2 * (F k + F (flip_c k))) /\ Ex (fun k => / 2 * (F k + F (flip_c k)))
    = Ex F).
  { intros F HF. destruct (Hf F HF) as [F1 F2]. destruct (Hp F _ HF F1) as [P1 P2]. destruct (Hs (/ 2) _ P1) as [S1 S2].
    split; [exact S1|]. rewrite S2, P2, F2. field. }
  split; [|split; [|split]].
  - intros nc nu nw V k. destruct (V k) as (A & B & C). destruct (V (flip_c k)) as (A' & B' & C').
    cbn [vc vu vw evened].
    split; [|split].
    + apply Rabs_le_between in A. apply Rabs_le_between in A'. apply Rabs_le. lra.
    + assert (Q := evened_sq d (vu v k) (vu v (flip_c k))). lra.
    + assert (Q := evened_frob d (vw v k) (vw v (flip_c k))). lra.
  - intros I1 I2. destruct (half _ I1) as [H1 <-]. apply Hm; [easy|easy|]. intros k. unfold size2.
    cbn [vc vu vw evened].
    assert (Q1 := half_square (vc v k) (vc v (flip_c k))). assert (Q2 := evened_sq d (vu v k) (vu v (flip_c k))).
    assert (Q3 := evened_frob d (vw v k) (vw v (flip_c k))). lra.
  - intros X q p I1 I2. destruct (half _ I1) as [H1 <-].
    apply Rle_antisym; apply Hm; try easy; intros k; unfold p; rewrite evened_pairing; lra.
  - intros N k HN S. assert (S' := S). destruct S' as [S1 S2].
    assert (K : forall i, (i < N)%nat -> k (N + i)%nat = flip_c (k i)).
    { intros i Hi. destruct (S2 i Hi) as (A & B & C). destruct (k (N + i)%nat), (k i). cbn in *. unfold flip_c. cbn.
      now subst. }
    assert (Fl : forall h, flip_c (flip_c h) = h) by (intros [a b c]; unfold flip_c; cbn; f_equal; ring).
    split.
    + intros X q. rewrite !transported_mean by easy. f_equal. rewrite !Sum_split, <- !Sum_plus.
      apply Sum_ext; intros i Hi.
      rewrite !evened_pairing, (K i Hi), Fl. field.
    + intros i Hi. unfold move_c, move_U, move_W, vscal. cbn [vc vu vw evened]. rewrite (K i Hi), Fl. cbn [hc flip_c].
      repeat split; intros; field; apply Rgt_not_eq, sqrt_lt_R0, lt_0_INR; lia.
Qed.
