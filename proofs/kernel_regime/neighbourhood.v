(** Symmetric initialisation, its mirror, and the neighbourhood Ω with its projection. *)
Require Import Reals Lra Lia FunctionalExtensionality.
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

Lemma Sum_null n f : (forall i, (i < n)%nat -> f i = 0) -> Sum n f = 0.
Proof. intros H. rewrite <- (Sum_zero n). now apply Sum_ext. Qed.

(** kr-remark-6
    Covers: the whole statement.
    Reads: for 2N heads with a symmetric initialisation φ⁽⁰⁾, any activation, tokens and query: h(X; θ_{i+N}) = h(X; θ_i) for i < N, f(X; φ⁽⁰⁾) = 0, and the loss of any n inputs and labels is (1/n) Σ (y_j)².
    Mistake: `phi0 = 1)` for `phi0 = 0)`
    Mistake: without `symmetric_start N d phi0 ->`
*)
Theorem kr_remark_6 : forall sigma N T d phi0, symmetric_start N d phi0 ->
  (forall X q i, (i < N)%nat -> head sigma T d X q (phi0 (i + N)%nat 1%nat) (rows d (phi0 (i + N)%nat 2%nat)) =
    head sigma T d X q (phi0 i 1%nat) (rows d (phi0 i 2%nat))) /\
  (forall X q, model_at sigma (2 * N) T d X q phi0 = 0) /\
  (forall n (X : nat -> matrix) (q : nat -> vector) y,
    / INR n * Sum n (fun j => (model_at sigma (2 * N) T d (X j) (q j) phi0 - y j) ^ 2) = / INR n * Sum n (fun j => y j ^
      2)).
Proof.
  intros sigma N T d phi0 S.
  assert (Z : forall X q, model_at sigma (2 * N) T d X q phi0 = 0).
  { intros X q. assert (H := model_mirror sigma N T d X q phi0).
    rewrite (model_same _ _ _ _ _ _ _ _ (start_mirror N d phi0 S)) in H. lra. }
  split; [|split].
  - intros X q i Hi. destruct (S i Hi) as (_ & _ & B). apply head_ext; intros; apply B; cbn; lia.
  - exact Z.
  - intros n X q y. f_equal. apply Sum_ext; intros j _. rewrite Z. ring.
Qed.

Lemma Sum_lim n (u : nat -> nat -> R) (l : nat -> R) :
  (forall i, (i < n)%nat -> is_lim_seq (fun k => u k i) (l i)) -> is_lim_seq (fun k => Sum n (u k)) (Sum n l).
Proof.
  induction n; intros H; simpl; [apply is_lim_seq_const|].
  apply (is_lim_seq_plus' (fun k => Sum n (u k)) (fun k => u k n)); [apply IHn; intros; apply H; lia | apply H; lia].
Qed.

(** The vector with one entry r is r long. *)
Lemma norm_axis n r : (0 < n)%nat -> 0 <= r -> vnorm n (fun j => if Nat.eqb j 0 then r else 0) = r.
Proof.
  intros Hn Hr. unfold vnorm, sq. rewrite (Sum_single n _ 0%nat Hn).
  - cbn [Nat.eqb]. now apply sqrt_pow2.
  - intros i _ N. rewrite (proj2 (Nat.eqb_neq i 0) N). ring.
Qed.

Lemma Sum3 f : Sum 3 f = f 0%nat + f 1%nat + f 2%nat.
Proof. cbn. ring. Qed.

Lemma size_pos d k : (0 < d)%nat -> (0 < size d k)%nat.
Proof. destruct k as [|[|]]; cbn; nia. Qed.

(** kr-definition-2
    Covers: the whole statement.
    Reads: Ω_ρ (all φ with ‖φ_ik − φ⁽⁰⁾_ik‖ ≤ ρ_k/√m for each of the 3 blocks of each of the m heads) is convex, closed (it holds the limit of every sequence in it that converges entry by entry), lies in the ball ‖φ − φ⁽⁰⁾‖² ≤ ρ_c² + ρ_u² + ρ_w², and for m, d ≥ 1 and ρ ≥ 0 one of its points is at exactly this distance.
    Mistake: `<= rho 0%nat ^ 2 + rho 1%nat ^ 2)` for `<= rho 0%nat ^ 2 + rho 1%nat ^ 2 + rho 2%nat ^ 2)`
    Mistake: without `0 <= t <= 1 ->`
    Mistake: without `(0 < d)%nat ->`
*)
Theorem kr_definition_2 : forall m d rho phi0, (0 < m)%nat ->
  (forall phi psi t, 0 <= t <= 1 -> neighbourhood m d rho phi0 phi -> neighbourhood m d rho phi0 psi ->
    neighbourhood m d rho phi0 (moved phi t (pminus psi phi))) /\
  (forall (u : nat -> parameters) (phi : parameters), (forall n, neighbourhood m d rho phi0 (u n)) ->
    (forall i k j, (i < m)%nat -> (k < 3)%nat -> (j < size d k)%nat -> is_lim_seq (fun n => u n i k j) (phi i k j)) ->
    neighbourhood m d rho phi0 phi) /\
  (forall phi, neighbourhood m d rho phi0 phi ->
    psq m d (pminus phi phi0) <= rho 0%nat ^ 2 + rho 1%nat ^ 2 + rho 2%nat ^ 2) /\
  ((0 < d)%nat -> (forall k, (k < 3)%nat -> 0 <= rho k) -> exists phi, neighbourhood m d rho phi0 phi /\
    psq m d (pminus phi phi0) = rho 0%nat ^ 2 + rho 1%nat ^ 2 + rho 2%nat ^ 2).
Proof.
  intros m d rho phi0 Hm. assert (W := root_pos m Hm). assert (HI := lt_0_INR m Hm).
  assert (TOTAL : Sum m (fun _ => Sum 3 (fun k => (rho k / sqrt (INR m)) ^ 2)) =
    rho 0%nat ^ 2 + rho 1%nat ^ 2 + rho 2%nat ^ 2).
  { rewrite Sum_const, Sum3. unfold Rdiv. rewrite !Rpow_mult_distr, pow_inv, pow2_sqrt by lra. field; lra. }
  repeat apply conj.
  - intros phi psi t Ht A B i k Hi Hk. specialize (A i k Hi Hk). specialize (B i k Hi Hk). set (r := rho k / _) in *.
    set (a := vminus (phi i k) (phi0 i k)) in *. set (b := vminus (psi i k) (phi0 i k)) in *.
    replace (vnorm _ _) with (vnorm (size d k) (vplus (vscal (1 - t) a) (vscal t b))).
    2:{ unfold vnorm. f_equal. apply sq_ext; intros. unfold vplus, vscal, a, b, vminus, moved, pminus. ring. }
    eapply Rle_trans; [apply norm_triangle|]. rewrite !norm_scal, !Rabs_pos_eq by lra. nra.
  - intros u phi A L i k Hi Hk. set (r := rho k / _). assert (0 <= r).
    { eapply Rle_trans; [apply norm_ge0|]. apply (A 0%nat i k Hi Hk). }
    apply norm_le; [easy|].
    change (Rbar_le (sq (size d k) (vminus (phi i k) (phi0 i k))) (r ^ 2)).
    apply (is_lim_seq_le (fun n => sq (size d k) (vminus (u n i k) (phi0 i k))) (fun _ => r ^ 2)).
    + intros n. apply norm_le_sq, (A n i k Hi Hk).
    + apply (Sum_lim (size d k) (fun n j => vminus (u n i k) (phi0 i k) j ^ 2)). intros j Hj.
        specialize (L i k j Hi Hk Hj).
      unfold vminus. cbn [pow]. apply (is_lim_seq_mult' _ _ (phi i k j - phi0 i k j) ((phi i k j - phi0 i k j) * 1));
        [|apply (is_lim_seq_mult' _ _ (phi i k j - phi0 i k j) 1); [|apply is_lim_seq_const]];
        apply (is_lim_seq_minus' _ _ (phi i k j) (phi0 i k j)); try exact L; apply is_lim_seq_const.
    + apply is_lim_seq_const.
  - intros phi A. rewrite <- TOTAL. apply Sum_le; intros i Hi. apply Sum_le; intros k Hk. apply norm_le_sq, A; easy.
  - intros Hd P. exists (fun i k j => phi0 i k j + if Nat.eqb j 0 then rho k / sqrt (INR m) else 0).
    assert (V : forall i k, (k < 3)%nat -> vnorm (size d k) (vminus (fun j => phi0 i k j +
      if Nat.eqb j 0 then rho k / sqrt (INR m) else 0) (phi0 i k)) = rho k / sqrt (INR m)).
    { intros i k Hk. transitivity (vnorm (size d k) (fun j => if Nat.eqb j 0 then rho k / sqrt (INR m) else 0)).
      - unfold vnorm. f_equal. apply sq_ext; intros. unfold vminus. ring.
      - apply norm_axis; [now apply size_pos|].
        apply Rmult_le_pos; [now apply P | left; now apply Rinv_0_lt_compat]. }
    split.
    + intros i k Hi Hk. now rewrite V by easy; right.
    + rewrite <- TOTAL. apply Sum_ext; intros i Hi. apply Sum_ext; intros k Hk. rewrite <- (V i k Hk), norm_sq.
        reflexivity.
Qed.

(** P x is c x with 0 ≤ c ≤ 1, where c = 1 or c ‖x‖ = r. *)
Lemma project_factor n r x : 0 <= r -> exists c, 0 <= c <= 1 /\ (forall j, (j < n)%nat -> project n r x j = c * x j) /\
  c * vnorm n x <= r /\ (c = 1 \/ c * vnorm n x = r).
Proof.
  intros Hr. unfold project, vscal. assert (N := norm_ge0 n x). assert (S := norm_sq n x). set (y := vnorm n x) in *.
  destruct (Req_dec y 0) as [Z|Z].
  - exists 1. rewrite Z in *. repeat split; try lra; intros; rewrite (sq_zero n x) by (auto; lra); ring.
  - assert (0 < y) by lra. assert (0 <= r / y) by (apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]).
    assert (Q : r / y * y = r) by (field; lra). exists (Rmin 1 (r / y)). unfold Rmin. destruct (Rle_dec 1 (r / y)).
    + repeat split; try lra; nra.
    + repeat split; try lra.
Qed.

Lemma project_norm n r x : 0 <= r -> vnorm n (project n r x) <= r.
Proof.
  intros Hr. destruct (project_factor n r x Hr) as (c & C & P & L & _).
  replace (vnorm n (project n r x)) with (vnorm n (vscal c x)).
  - rewrite norm_scal, Rabs_pos_eq; lra.
  - unfold vnorm. f_equal. apply sq_ext; intros. now rewrite P.
Qed.

(** ⟨x − P x, ψ − P x⟩ ≤ 0 for ‖ψ‖ ≤ r. *)
Lemma project_obtuse n r x psi : vnorm n psi <= r -> dot n (vminus x (project n r x)) (vminus psi (project n r x)) <= 0.
Proof.
  intros H. assert (Hr : 0 <= r) by (eapply Rle_trans; [apply norm_ge0|exact H]).
  destruct (project_factor n r x Hr) as (c & C & P & L & D).
  rewrite (dot_ext n _ _ (vscal (1 - c) x) (vminus psi (vscal c x)))
    by (intros; unfold vminus, vscal; rewrite P by easy; lra).
  rewrite dot_scal_l, dot_sym, dot_minus_l, dot_scal_l, <- sq_dot, <- norm_sq. destruct D as [-> | D]; [lra|].
  assert (K := Rle_trans _ _ _ (Rle_abs _) (cauchy n psi x)). assert (N := norm_ge0 n x).
  assert (dot n psi x - c * vnorm n x ^ 2 <= 0) by nra. nra.
Qed.

Lemma project_ext n r x y : (forall j, (j < n)%nat -> x j = y j) -> forall j, (j < n)%nat
  -> project n r x j = project n r y j.
Proof. intros H j Hj. unfold project, vnorm, vscal. now rewrite (sq_ext n x y H), H. Qed.

(** P commutes with signs. *)
Lemma project_sign n r s x : Rabs s = 1 -> project n r (vscal s x) = vscal s (project n r x).
Proof.
  intros H. unfold project. rewrite norm_scal, H, Rmult_1_l. unfold vscal. extensionality j. ring.
Qed.

Lemma project_closer n r x y : 0 <= r ->
  sq n (vminus (project n r x) (project n r y)) <= sq n (vminus x y).
Proof.
  intros Hr. assert (A := project_obtuse n r x _ (project_norm n r y Hr)).
  assert (B := project_obtuse n r y _ (project_norm n r x Hr)).
  set (p := project n r x) in *. set (p' := project n r y) in *.
  assert (K := sq_ge0 n (vminus (vminus x y) (vminus p p'))). rewrite sq_minus in K.
  assert (Q : dot n (vminus x y) (vminus p p') = sq n (vminus p p') -
    (dot n (vminus x p) (vminus p' p) + dot n (vminus y p') (vminus p p'))).
  { unfold dot, sq. rewrite <- Sum_plus, <- Sum_minus. apply Sum_ext; intros; unfold vminus; ring. }
  lra.
Qed.

Lemma project_sum n r x y : 0 <= r -> sq n (vplus (project n r x) (project n r y)) <= sq n (vplus x y).
Proof.
  intros Hr. assert (K := project_closer n r x (vscal (-1) y) Hr). rewrite project_sign in K by (rewrite Rabs_left;
    lra).
  rewrite (sq_ext n (vplus (project n r x) _) (vminus (project n r x) (vscal (-1) (project n r y)))),
    (sq_ext n (vplus x y) (vminus x (vscal (-1) y))); [easy| |]; intros; unfold vplus, vminus, vscal; ring.
Qed.

(** The shape of every move that the projection makes, ΠΦ − φ⁽⁰⁾. *)
Lemma move_entry m d rho phi0 delta i k j : (j < size d k)%nat ->
  pminus (projected m d rho phi0 (moved phi0 1 delta)) phi0 i k j =
  project (size d k) (rho k / sqrt (INR m)) (delta i k) j.
Proof.
  intros Hj. unfold pminus, projected.
  rewrite (project_ext _ _ (vminus (moved phi0 1 delta i k) (phi0 i k)) (delta i k)); [ring| |easy].
  intros. unfold vminus, moved. ring.
Qed.

Lemma projected_minus m d rho phi0 phi i k j : vminus (projected m d rho phi0 phi i k) (phi0 i k) j =
  project (size d k) (rho k / sqrt (INR m)) (vminus (phi i k) (phi0 i k)) j.
Proof. unfold vminus at 1. unfold projected. ring. Qed.

(** kr-definition-2-projection
    Covers: a part: all but that a projected gradient step from φ⁽⁰⁾ is antisymmetric; on the page: that gradients there are antisymmetric (kr-remark-6-odd).
    Reads: let ρ ≥ 0, m ≥ 1 and Π φ move every block (3 a head) by P(δ) = δ min{1, r/‖δ‖} of its displacement δ, r = ρ_k/√m. Then Π φ ∈ Ω_ρ; ‖ψ − Πφ‖² + ‖φ − Πφ‖² ≤ ‖ψ − φ‖² for all ψ ∈ Ω_ρ; a point of Ω_ρ with this property, or no farther from φ than every other point of Ω_ρ, is Πφ in every entry; Π φ = φ on Ω_ρ (so ΠΠ = Π); ‖Πφ − Πψ‖² ≤ ‖φ − ψ‖² and ‖P(δ) ∓ P(δ′)‖² ≤ ‖δ ∓ δ′‖² in every ℝⁿ for every r ≥ 0; P(−δ) = −P(δ); and for m = 2N heads about a symmetric start Πℛ = ℛΠ, and Π keeps symmetric displacements symmetric and antisymmetric ones antisymmetric.
    Mistake: `<= / 2 * psq m d (pminus psi phi)) /\` for `<= psq m d (pminus psi phi)) /\`
    Mistake: `phi)) (projected m d rho phi0 phi)) /\` for `phi)) (mirror N (projected m d rho phi0 phi))) /\`
    Mistake: `(forall phi psi,` for `(forall phi psi, neighbourhood m d rho phi0 psi ->`
*)
Theorem kr_definition_2_projection : forall m d rho phi0, (0 < m)%nat -> (forall k, (k < 3)%nat -> 0 <= rho k) ->
  (forall phi, neighbourhood m d rho phi0 (projected m d rho phi0 phi)) /\
  (forall phi psi, neighbourhood m d rho phi0 psi -> psq m d (pminus psi (projected m d rho phi0 phi)) +
    psq m d (pminus phi (projected m d rho phi0 phi)) <= psq m d (pminus psi phi)) /\
  (forall phi p, neighbourhood m d rho phi0 p ->
    (forall psi, neighbourhood m d rho phi0 psi -> psq m d (pminus p phi) <= psq m d (pminus psi phi)) ->
    same_parameters m d p (projected m d rho phi0 phi)) /\
  (forall phi p, neighbourhood m d rho phi0 p ->
    (forall psi, neighbourhood m d rho phi0 psi ->
      psq m d (pminus psi p) + psq m d (pminus phi p) <= psq m d (pminus psi phi)) ->
    same_parameters m d p (projected m d rho phi0 phi)) /\
  (forall phi, neighbourhood m d rho phi0 phi -> same_parameters m d (projected m d rho phi0 phi) phi) /\
  (forall phi psi, psq m d (pminus (projected m d rho phi0 phi) (projected m d rho phi0 psi)) <=
    psq m d (pminus phi psi)) /\
  (forall n r x y, 0 <= r -> sq n (vminus (project n r x) (project n r y)) <= sq n (vminus x y) /\
    sq n (vplus (project n r x) (project n r y)) <= sq n (vplus x y) /\
    project n r (vscal (-1) x) = vscal (-1) (project n r x)) /\
  (forall N phi, m = (2 * N)%nat -> symmetric_start N d phi0 ->
    same_parameters m d (projected m d rho phi0 (mirror N phi)) (mirror N (projected m d rho phi0 phi))) /\
  (forall N delta, m = (2 * N)%nat ->
    let move := pminus (projected m d rho phi0 (moved phi0 1 delta)) phi0 in
    (same_parameters m d (mirror N delta) delta -> same_parameters m d (mirror N move) move) /\
    (same_parameters m d (mirror N delta) (opposite delta) -> same_parameters m d (mirror N move) (opposite move))).
Proof.
  intros m d rho phi0 Hm P. assert (W := root_pos m Hm).
  assert (RAD : forall k, (k < 3)%nat -> 0 <= rho k / sqrt (INR m)).
  { intros k Hk. apply Rmult_le_pos; [now apply P | left; now apply Rinv_0_lt_compat]. }
  assert (IN : forall phi, neighbourhood m d rho phi0 (projected m d rho phi0 phi)).
  { intros phi i k Hi Hk. eapply Rle_trans;
      [right|exact (project_norm (size d k) _ (vminus (phi i k) (phi0 i k)) (RAD k Hk))].
    unfold vnorm. f_equal. apply sq_ext. intros j Hj. apply projected_minus. }
  assert (PYTH : forall phi psi, neighbourhood m d rho phi0 psi -> psq m d (pminus psi (projected m d rho phi0 phi)) +
    psq m d (pminus phi (projected m d rho phi0 phi)) <= psq m d (pminus psi phi)).
  { intros phi psi H. unfold psq. rewrite <- Sum_plus. apply Sum_le; intros i Hi. rewrite <- Sum_plus.
    apply Sum_le; intros k Hk. specialize (H i k Hi Hk).
    assert (K := project_obtuse (size d k) _ (vminus (phi i k) (phi0 i k)) _ H).
    set (x := vminus (phi i k) (phi0 i k)) in *. set (y := vminus (psi i k) (phi0 i k)) in *.
    set (p := project _ _ x) in *. rewrite (sq_ext _ (pminus psi phi i k) (vminus (vminus y p) (vminus x p))).
    - rewrite sq_minus, (dot_sym _ (vminus y p)).
      rewrite (sq_ext _ (pminus psi _ i k) (vminus y p)), (sq_ext _ (pminus phi _ i k) (vminus x p)); [lra| |];
        intros; unfold pminus, projected; fold x p; unfold x, y, vminus; ring.
    - intros; unfold pminus, x, y, vminus; ring. }
  assert (ZERO : forall a b, psq m d (pminus a b) <= 0 -> same_parameters m d a b).
  { intros a b H i k j Hi Hk Hj. assert (K : sq (size d k) (pminus a b i k) <= 0).
    { eapply Rle_trans; [|exact H]. eapply Rle_trans; [|apply (Sum_term m _ i Hi)].
      - cbv beta. apply (Sum_term 3 (fun k => sq (size d k) (pminus a b i k)) k Hk). intros; apply sq_ge0.
      - intros; apply Sum_ge0; intros; apply sq_ge0. }
    assert (K' := sq_ge0 (size d k) (pminus a b i k)).
    assert (Z := sq_zero (size d k) (pminus a b i k) ltac:(lra) j Hj). unfold pminus in Z. lra. }
  assert (NEAR : forall phi p, neighbourhood m d rho phi0 p ->
    (forall psi, neighbourhood m d rho phi0 psi -> psq m d (pminus p phi) <= psq m d (pminus psi phi)) ->
    same_parameters m d p (projected m d rho phi0 phi)).
  { intros phi p H K. apply ZERO. specialize (PYTH phi p H). specialize (K _ (IN phi)).
    replace (psq m d (pminus (projected m d rho phi0 phi) phi)) with
      (psq m d (pminus phi (projected m d rho phi0 phi))) in K; [lra|].
    apply Sum_ext; intros; apply Sum_ext; intros; apply Sum_ext; intros; unfold pminus; ring. }
  assert (SIGN : forall k, Rabs (if Nat.eqb k 0 then -1 else 1) = 1).
  { intros k. destruct (Nat.eqb k 0); [rewrite Rabs_left; lra | apply Rabs_R1]. }
  repeat apply conj; auto.
  - intros phi p H K. apply NEAR; [easy|]. intros psi Hpsi. specialize (K psi Hpsi).
    assert (0 <= psq m d (pminus psi p)) by (apply Sum_ge0; intros; apply Sum_ge0; intros; apply sq_ge0).
    replace (psq m d (pminus p phi)) with (psq m d (pminus phi p)); [lra|].
    apply Sum_ext; intros; apply Sum_ext; intros; apply Sum_ext; intros; unfold pminus; ring.
  - intros phi H. apply ZERO. specialize (PYTH phi phi H).
    assert (0 <= psq m d (pminus phi (projected m d rho phi0 phi)))
      by (apply Sum_ge0; intros; apply Sum_ge0; intros; apply sq_ge0).
    assert (psq m d (pminus phi phi) = 0).
    { apply Sum_null; intros; apply Sum_null; intros; apply Sum_null; intros; unfold pminus; ring. }
    replace (psq m d (pminus (projected m d rho phi0 phi) phi)) with
      (psq m d (pminus phi (projected m d rho phi0 phi))); [lra|].
    apply Sum_ext; intros; apply Sum_ext; intros; apply Sum_ext; intros; unfold pminus; ring.
  - intros phi psi. apply Sum_le; intros i Hi. apply Sum_le; intros k Hk.
    assert (K := project_closer (size d k) _ (vminus (phi i k) (phi0 i k)) (vminus (psi i k) (phi0 i k)) (RAD k Hk)).
    eapply Rle_trans; [|eapply Rle_trans; [exact K|]]; right; apply sq_ext; intros j Hj.
    + assert (A := projected_minus m d rho phi0 phi i k j). assert (B := projected_minus m d rho phi0 psi i k j).
      unfold vminus at 1 in A. unfold vminus at 1 in B. unfold vminus at 1. rewrite <- A, <- B. unfold pminus. ring.
    + unfold pminus, vminus. ring.
  - intros n r x y Hr. repeat split; [now apply project_closer | now apply project_sum | apply project_sign].
    rewrite Rabs_left; lra.
  - intros N phi E S i k j Hi Hk Hj. subst m. assert (M := start_mirror N d phi0 S). unfold projected, mirror at 2.
    rewrite Rmult_plus_distr_l. rewrite <- (M i k j Hi Hk Hj) at 1. unfold mirror at 1. f_equal.
    set (s := if Nat.eqb k 0 then -1 else 1).
    change (s * project (size d k) (rho k / sqrt (INR (2 * N))) (vminus (phi (partner N i) k) (phi0 (partner N i) k)) j)
      with (vscal s (project (size d k) (rho k / sqrt (INR (2 * N))) (vminus (phi (partner N i) k) (phi0 (partner N i)
        k))) j).
    rewrite <- project_sign by apply SIGN. apply project_ext; [|easy]. intros b Hb. unfold vminus at 1.
    rewrite <- (M i k b Hi Hk Hb). unfold mirror, vscal, vminus, s. ring.
  - intros N delta E. subst m. intros move.
    assert (MOVE : forall i k j, (i < 2 * N)%nat -> (j < size d k)%nat -> mirror N move i k j =
      project (size d k) (rho k / sqrt (INR (2 * N))) (mirror N delta i k) j).
    { intros i k j Hi Hj. unfold mirror at 1, move. rewrite move_entry by easy. unfold mirror.
      change (fun j0 => ?s * delta ?p k j0) with (vscal s (delta p k)). rewrite project_sign by apply SIGN.
        reflexivity. }
    split; intros H i k j Hi Hk Hj; rewrite MOVE by easy; unfold opposite, move; rewrite move_entry by easy.
    + apply project_ext; [|easy]. intros; now apply H.
    + change (- project ?n ?r ?x j) with (- project n r x j).
      replace (- project (size d k) (rho k / sqrt (INR (2 * N))) (delta i k) j) with
        (vscal (-1) (project (size d k) (rho k / sqrt (INR (2 * N))) (delta i k)) j) by (unfold vscal; ring).
      rewrite <- project_sign by (rewrite Rabs_left; lra). apply project_ext; [|easy].
      intros b Hb. rewrite (H i k b Hi Hk Hb). unfold opposite, vscal. ring.
Qed.

(** the radius √d + √(2 log(m/(2δ′))) of the event that all U are of moderate length, and B_{U,m}(δ′) *)
Definition moderate (d m : nat) (delta : R) : R := sqrt (INR d) + sqrt (2 * ln (INR m / (2 * delta))).
Definition longest (d m : nat) (delta rho_u : R) : R := moderate d m delta + rho_u / sqrt (INR m).

(** kr-remark-7
    Covers: the whole statement.
    Reads: for m, d ≥ 1 and ρ ≥ 0: ‖U_i‖ ≤ R_i = ‖U_i⁽⁰⁾‖ + ρ_u/√m for all i and all φ ∈ Ω_ρ (3 blocks a head), and for every i some φ ∈ Ω_ρ has equality; if all ‖U_i⁽⁰⁾‖ ≤ √d + √(2 log(m/(2δ′))), then ‖U_i‖ ≤ B_{U,m}(δ′) for all i and all φ ∈ Ω_ρ.
    Mistake: `<= vnorm d (phi0 i 1%nat) + / 2 *` for `<= vnorm d (phi0 i 1%nat) +`
    Mistake: `vnorm d (phi0 i 1%nat) <= 2 * moderate d m delta` for `vnorm d (phi0 i 1%nat) <= moderate d m delta`
*)
Theorem kr_remark_7 : forall m d rho phi0, (0 < m)%nat -> (0 < d)%nat -> (forall k, (k < 3)%nat -> 0 <= rho k) ->
  (forall i phi, (i < m)%nat -> neighbourhood m d rho phi0 phi ->
    vnorm d (phi i 1%nat) <= vnorm d (phi0 i 1%nat) + (rho 1%nat / sqrt (INR m))) /\
  (forall i, (i < m)%nat -> exists phi, neighbourhood m d rho phi0 phi /\
    vnorm d (phi i 1%nat) = vnorm d (phi0 i 1%nat) + rho 1%nat / sqrt (INR m)) /\
  (forall delta, 0 < delta < 1 -> (forall i, (i < m)%nat -> vnorm d (phi0 i 1%nat) <= moderate d m delta) ->
    forall i phi, (i < m)%nat -> neighbourhood m d rho phi0 phi
      -> vnorm d (phi i 1%nat) <= longest d m delta (rho 1%nat)).
Proof.
  intros m d rho phi0 Hm Hd P. assert (W := root_pos m Hm).
  assert (RAD : forall k, (k < 3)%nat -> 0 <= rho k / sqrt (INR m)).
  { intros k Hk. apply Rmult_le_pos; [now apply P | left; now apply Rinv_0_lt_compat]. }
  assert (B : forall i phi, (i < m)%nat -> neighbourhood m d rho phi0 phi ->
    vnorm d (phi i 1%nat) <= vnorm d (phi0 i 1%nat) + rho 1%nat / sqrt (INR m)).
  { intros i phi Hi H. specialize (H i 1%nat Hi ltac:(lia)). cbn [size] in H.
    assert (K := norm_triangle d (phi0 i 1%nat) (vminus (phi i 1%nat) (phi0 i 1%nat))).
    replace (vnorm d (phi i 1%nat)) with (vnorm d (vplus (phi0 i 1%nat) (vminus (phi i 1%nat) (phi0 i 1%nat)))); [lra|].
    unfold vnorm. f_equal. apply sq_ext; intros; unfold vplus, vminus; ring. }
  repeat apply conj; [exact B| |].
  - intros i Hi. set (r := rho 1%nat / sqrt (INR m)) in *. set (U := phi0 i 1%nat).
    assert (HR : 0 <= r) by (unfold r; apply RAD; lia).
    assert (STEP : exists e, vnorm d e = r /\ vnorm d (vplus U e) = vnorm d U + r).
    { assert (N := norm_ge0 d U). destruct (Req_dec (vnorm d U) 0) as [Z|Z].
      - exists (fun j => if Nat.eqb j 0 then r else 0). rewrite Z, norm_axis by easy. split; [easy|].
        transitivity (vnorm d (fun j => if Nat.eqb j 0 then r else 0)); [|rewrite norm_axis by easy; ring].
        unfold vnorm. f_equal. apply sq_ext; intros j Hj. unfold vplus. rewrite (sq_zero d U) by
          (try easy; rewrite <- norm_sq, Z; ring). ring.
      - exists (vscal (r / vnorm d U) U). assert (0 < vnorm d U) by lra.
        assert (0 <= r / vnorm d U) by (apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]).
        rewrite norm_scal, Rabs_pos_eq by easy. split; [field; easy|].
        transitivity (vnorm d (vscal (1 + r / vnorm d U) U)).
        + unfold vnorm at 1 3. f_equal. apply sq_ext; intros; unfold vplus, vscal; ring.
        + rewrite norm_scal, Rabs_pos_eq by lra. field; easy. }
    destruct STEP as (e & E1 & E2).
    exists (fun i' k j => phi0 i' k j + if (Nat.eqb i' i && Nat.eqb k 1)%bool then e j else 0). split.
    + intros i' k Hi' Hk. destruct (Nat.eqb i' i && Nat.eqb k 1)%bool eqn:Q.
      * apply andb_prop in Q. destruct Q as [-> %Nat.eqb_eq -> %Nat.eqb_eq]. eapply Rle_trans; [|right; exact E1].
        right. unfold vnorm. f_equal. apply sq_ext; intros. unfold vminus. ring.
      * eapply Rle_trans; [right; apply (f_equal sqrt (y := 0)), Sum_null; intros; unfold vminus; ring|].
        rewrite sqrt_0; now apply RAD.
    + rewrite <- E2. unfold vnorm. f_equal. apply sq_ext; intros. unfold vplus, U. rewrite !Nat.eqb_refl. reflexivity.
  - intros delta _ H i phi Hi Hphi. specialize (H i Hi). specialize (B i phi Hi Hphi). unfold longest. lra.
Qed.

(** kr-remark-7-order
    Covers: the whole statement.
    Reads: for d ≥ 1, even or odd m ≥ 2, δ′ ∈ (0, 1), ρ_u ≥ 0 and L = log(m/(2δ′)): d + 2L ≤ (√d + √(2L))² ≤ 2(d + 2L), at d = 2L it is 2d + 4L (the second bound); the square is at most 1 + 2√(2L/d) times, and at most 1 + 2√(d/(2L)) times d + 2L (so the first bound is approached as L/d → 0 or ∞); B_{U,m}(δ′)² ≤ 3(d + 2L + ρ_u²/m), and is 3d + 6L + 3ρ_u²/m at d = 2L = ρ_u²/m; and B_{U,m}(δ′)²/(d + 2 log m) → 1 as m → ∞.
    Mistake: `19 / 10 * (INR d + 2 * L)` for `2 * (INR d + 2 * L)`
    Mistake: `2 * (INR d + 2 * L + rho_u` for `3 * (INR d + 2 * L + rho_u`
*)
Theorem kr_remark_7_order : forall d delta rho_u, (0 < d)%nat -> 0 < delta < 1 -> 0 <= rho_u ->
  (forall m, (2 <= m)%nat -> let L := ln (INR m / (2 * delta)) in
    INR d + 2 * L <= moderate d m delta ^ 2 <= 2 * (INR d + 2 * L) /\
    (INR d = 2 * L -> moderate d m delta ^ 2 = 2 * INR d + 4 * L) /\
    moderate d m delta ^ 2 <= (1 + 2 * sqrt (2 * L / INR d)) * (INR d + 2 * L) /\
    moderate d m delta ^ 2 <= (1 + 2 * sqrt (INR d / (2 * L))) * (INR d + 2 * L) /\
    longest d m delta rho_u ^ 2 <= 3 * (INR d + 2 * L + rho_u ^ 2 / INR m) /\
    (INR d = 2 * L -> 2 * L = rho_u ^ 2 / INR m ->
      longest d m delta rho_u ^ 2 = 3 * INR d + 6 * L + 3 * rho_u ^ 2 / INR m)) /\
  is_lim_seq (fun m => longest d m delta rho_u ^ 2 / (INR d + 2 * ln (INR m))) 1.
Proof.
  intros d delta rho_u Hd Hdelta Hrho. assert (HD : 0 < INR d) by now apply lt_0_INR. split.
  - intros m Hm L. assert (HM : 2 <= INR m) by (apply (le_INR 2); lia). assert (HL : 0 < L).
    { unfold L. rewrite <- ln_1. apply ln_increasing; [lra|]. apply Rmult_lt_reg_r with (2 * delta); [lra|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    unfold longest, moderate. fold L. set (x := sqrt (INR d)). set (y := sqrt (2 * L)). set (z := rho_u / sqrt (INR m)).
    assert (X : x ^ 2 = INR d) by (apply pow2_sqrt; lra). assert (Y : y ^ 2 = 2 * L) by (apply pow2_sqrt; lra).
    assert (Z : z ^ 2 = rho_u ^ 2 / INR m).
    { unfold z, Rdiv. rewrite Rpow_mult_distr, pow_inv, pow2_sqrt by lra. reflexivity. }
    assert (0 < x) by (apply sqrt_lt_R0; lra). assert (0 < y) by (apply sqrt_lt_R0; lra).
    assert (0 <= z) by (apply Rmult_le_pos; [easy|left; apply Rinv_0_lt_compat, sqrt_lt_R0; lra]).
    rewrite (sqrt_div (2 * L) (INR d)), (sqrt_div (INR d) (2 * L)) by lra. fold x y.
    rewrite <- Z, <- X, <- Y. assert (A := pow2_ge_0 (x - y)). assert (B := pow2_ge_0 (y - z)).
    assert (C := pow2_ge_0 (x - z)). replace (4 * L) with (2 * y ^ 2) by lra. replace (6 * L) with (3 * y ^ 2) by lra.
    replace (3 * rho_u ^ 2 / INR m) with (3 * z ^ 2) by (rewrite Z; unfold Rdiv; ring). repeat split.
    + nra.
    + nra.
    + intros Q. assert (x = y) by nra. nra.
    + replace ((1 + 2 * (y / x)) * (x ^ 2 + y ^ 2)) with ((x + y) ^ 2 + 2 * y ^ 3 / x) by (field; lra).
      assert (0 < 2 * y ^ 3 / x) by (apply Rdiv_lt_0_compat; [assert (0 < y ^ 3) by now apply pow_lt|]; lra). lra.
    + replace ((1 + 2 * (x / y)) * (x ^ 2 + y ^ 2)) with ((x + y) ^ 2 + 2 * x ^ 3 / y) by (field; lra).
      assert (0 < 2 * x ^ 3 / y) by (apply Rdiv_lt_0_compat; [assert (0 < x ^ 3) by now apply pow_lt|]; lra). lra.
    + nra.
    + intros Q Q'. assert (x = y) by nra. assert (y = z) by nra. subst. rewrite <- H3, <- H2 in *. nra.
  - set (c := ln (2 * delta)). set (v := fun m => / (INR d + 2 * ln (INR m))).
    assert (LN : is_lim_seq (fun m => ln (INR m)) p_infty).
    { apply (is_lim_comp_seq ln INR p_infty p_infty is_lim_ln_p); [|apply is_lim_seq_INR].
      exists 0%nat. intros; discriminate. }
    assert (V : is_lim_seq v 0).
    { unfold v. replace (Finite 0) with (Rbar_inv p_infty) by reflexivity. apply is_lim_seq_inv; [|discriminate].
      apply (is_lim_seq_plus (fun _ => INR d) (fun m => 2 * ln (INR m)) (INR d) p_infty);
        [apply is_lim_seq_const| |easy].
      replace p_infty with (Rbar_mult 2 p_infty).
      - apply (is_lim_seq_scal_l (fun m => ln (INR m)) 2 p_infty LN).
      - cbn. destruct (Rle_dec 0 2) as [H|H]; [|lra]. destruct (Rle_lt_or_eq_dec 0 2 H); [easy|lra]. }
    assert (I : is_lim_seq (fun m => / INR m) 0).
    { replace (Finite 0) with (Rbar_inv p_infty) by reflexivity. apply is_lim_seq_inv;
        [apply is_lim_seq_INR|discriminate]. }
    apply is_lim_seq_ext_loc with (u := fun m => (sqrt (INR d * v m) + sqrt (1 - (INR d + 2 * c) * v m) +
      rho_u * sqrt (v m * / INR m)) ^ 2).
    + exists 2%nat. intros m Hm. assert (HM : 2 <= INR m) by (apply (le_INR 2); lia).
      assert (HL : 0 < ln (INR m)) by (rewrite <- ln_1; apply ln_increasing; lra).
      assert (HV : 0 < v m) by (apply Rinv_0_lt_compat; lra).
      assert (LL : ln (INR m / (2 * delta)) = ln (INR m) - c).
      { unfold Rdiv. rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; lra). reflexivity. }
      assert (HC : c < ln (INR m)) by (apply ln_increasing; lra).
      unfold longest, moderate. rewrite LL. unfold Rdiv. fold (v m).
      replace (1 - (INR d + 2 * c) * v m) with (2 * (ln (INR m) - c) * v m) by (unfold v; field; lra).
      rewrite !sqrt_mult, sqrt_inv by (try left; try apply Rinv_0_lt_compat; lra).
      replace (v m) with (sqrt (v m) * sqrt (v m)) at 4 by (apply sqrt_sqrt; lra). ring.
    + replace (Finite 1) with (Finite ((0 + 1 + rho_u * 0) * ((0 + 1 + rho_u * 0) * 1))) by (f_equal; ring).
      assert (K : is_lim_seq (fun m => sqrt (INR d * v m) + sqrt (1 - (INR d + 2 * c) * v m) +
        rho_u * sqrt (v m * / INR m)) (0 + 1 + rho_u * 0)).
      { apply is_lim_seq_plus'; [apply is_lim_seq_plus'|].
        - rewrite <- sqrt_0. apply (is_lim_seq_continuous sqrt); [apply continuity_pt_sqrt; lra|].
          replace (Finite 0) with (Finite (INR d * 0)) by (f_equal; ring).
          apply is_lim_seq_mult'; [apply is_lim_seq_const|exact V].
        - replace (Finite 1) with (Finite (sqrt 1)) by (now rewrite sqrt_1). apply (is_lim_seq_continuous sqrt);
            [apply continuity_pt_sqrt; lra|].
          replace (Finite 1) with (Finite (1 - (INR d + 2 * c) * 0)) by (f_equal; ring).
          apply is_lim_seq_minus'; [apply is_lim_seq_const|].
          apply is_lim_seq_mult'; [apply is_lim_seq_const|exact V].
        - apply is_lim_seq_mult'; [apply is_lim_seq_const|]. rewrite <- sqrt_0.
          apply (is_lim_seq_continuous sqrt); [apply continuity_pt_sqrt; lra|].
          replace (Finite 0) with (Finite (0 * 0)) by (f_equal; ring). now apply is_lim_seq_mult'. }
      cbn [pow]. apply is_lim_seq_mult'; [exact K|]. apply is_lim_seq_mult'; [exact K|apply is_lim_seq_const].
Qed.
