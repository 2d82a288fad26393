(** From a random start: a step pays for its path, and the linear run. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.along base.runs base.least_squares base.readout base.paid_path.
Open Scope R_scope.

(** 𝒦 E = J Jᵀ E for a matrix J of n rows and D columns *)
Definition kernel (n D : nat) (J : matrix) (E : vector) : vector := matvec D J (pullback n J E).

Lemma kernel_dot n D J E G : dot n E (kernel n D J G) = dot D (pullback n J E) (pullback n J G).
Proof. apply adjoint. Qed.

(** rt-lemma-w-path
    Covers: the whole statement.
    Reads: let 𝒦 = JJᵀ, m ≥ 0, μ > 0. If m‖E‖² ≤ ‖JᵀE‖² and μ‖JᵀE‖² ≤ ‖E‖² for all E ∈ ℝⁿ, then ‖E − μ𝒦E‖ + μ√m ‖JᵀE‖ ≤ ‖E‖ for all E, with equality where 𝒦E = mE. And whatever 𝒦, if m > 0 and Λ are eigenvalues of it with μΛ > 1 > μm, then the left side is larger than ‖E‖ for some E.
    Mistake: `+ 2 * mu * sqrt m * vnorm D` for `+ mu * sqrt m * vnorm D`
    Mistake: without `1 < mu * Lam ->`
*)
Theorem rt_lemma_w_path : forall n D J mu m, 0 < mu -> 0 <= m ->
  let path E := vnorm n (vminus E (vscal mu (kernel n D J E))) + mu * sqrt m * vnorm D (pullback n J E) in
  ((forall E, m * sq n E <= sq D (pullback n J E)) -> (forall E, mu * sq D (pullback n J E) <= sq n E) ->
    forall E, path E <= vnorm n E /\
      ((forall i, (i < n)%nat -> kernel n D J E i = m * E i) -> path E = vnorm n E)) /\
  (forall Lam v w, 0 < m -> mu * m < 1 -> 1 < mu * Lam -> 0 < sq n v -> 0 < sq n w ->
    (forall i, (i < n)%nat -> kernel n D J v i = m * v i) -> (forall i, (i < n)%nat -> kernel n D J w i = Lam * w i) ->
    exists E, vnorm n E < path E).
Proof.
  intros n D J mu m Hmu Hm path. assert (Sm : sqrt m ^ 2 = m) by now apply pow2_sqrt. split.
  - intros H1 H2 E. set (e := vnorm n E). set (G := vnorm D (pullback n J E)).
    set (l := vnorm n (vminus E (vscal mu (kernel n D J E)))).
    assert (X : l ^ 2 <= (1 - mu * sqrt m ^ 2) * (e ^ 2 - mu * G ^ 2)).
    { unfold l, e, G. rewrite !norm_sq, Sm. apply contraction; [lra|easy|easy]. }
    assert (Y : mu * G ^ 2 <= e ^ 2) by (unfold e, G; rewrite !norm_sq; apply H2).
    assert (Z : mu * (sqrt m ^ 2 * e ^ 2) <= mu * G ^ 2).
    { rewrite Sm. apply Rmult_le_compat_l; [lra|]. unfold e, G. rewrite !norm_sq. apply H1. }
    destruct (pays e l G mu (sqrt m) ltac:(lra) (sqrt_pos m) (norm_ge0 _ _) (norm_ge0 _ _) (norm_ge0 _ _) X Y Z) as [P
      _].
    split; [unfold path; fold l G; lra|]. intros HE. unfold path. fold l G.
    assert (G2 : G = sqrt m * e).
    { assert (G ^ 2 = (sqrt m * e) ^ 2).
      { rewrite Rpow_mult_distr, Sm. unfold G, e. rewrite !norm_sq, (sq_dot D), <- kernel_dot, (sq_dot n).
        unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros i Hi. rewrite HE by easy. ring. }
      assert (0 <= sqrt m * e) by (apply Rmult_le_pos; [apply sqrt_pos|apply norm_ge0]).
      assert (0 <= G) by apply norm_ge0.
      apply Rsqr_inj; try easy. now rewrite !Rsqr_pow2. }
    destruct (Req_dec e 0) as [Z0|Z0].
    + rewrite G2, Z0, !Rmult_0_r, Rplus_0_r. unfold l, e in *. apply Rle_antisym; [|apply norm_ge0].
      rewrite Z0, G2 in X. simpl in X. assert (0 <= vnorm n (vminus E (vscal mu (kernel n D J E)))) by apply norm_ge0.
      nra.
    + assert (e0 : 0 < e) by (assert (0 <= e) by apply norm_ge0; lra).
      assert (M1 : mu * m <= 1).
      { apply (Rmult_le_reg_r (e ^ 2)); [now apply pow_lt|]. rewrite Sm in Z. lra. }
      assert (L : l = (1 - mu * m) * e).
      { unfold l, e. rewrite (norm_ext n _ (vscal (1 - mu * m) E)).
        - rewrite norm_scal, Rabs_right by lra. easy.
        - intros i Hi. unfold vminus, vscal. rewrite HE by easy. ring. }
      rewrite L, G2. replace ((1 - mu * m) * e + mu * sqrt m * (sqrt m * e)) with (e - mu * m * e + mu * sqrt m ^ 2 *
        e) by ring.
      rewrite Sm. ring.
  - intros Lam v w m0 X1 Y1 Hv Hw Ev Ew. set (X := mu * m) in *. set (Y := mu * Lam) in *.
    assert (X0 : 0 < X) by (apply Rmult_lt_0_compat; lra).
    set (c := (Y - 1) / (Y + 2)). assert (Ec : c * (Y + 2) = Y - 1) by (unfold c; field; lra).
    assert (c0 : 0 < c) by (apply Rdiv_lt_0_compat; lra). assert (c1 : c < 1) by nra.
    set (p := c * X * (2 + c) / (Y - X)). assert (Ep : p * (Y - X) = c * X * (2 + c)) by (unfold p; field; lra).
    assert (p0 : 0 <= p) by (apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rmult_le_pos|]; lra|left;
      apply Rinv_0_lt_compat; lra]).
    assert (p1 : p <= 1).
    { apply Rle_div_l; [lra|]. assert (X * (2 + c) <= 1 * (2 + c)) by (apply Rmult_le_compat_r; lra).
      assert (c * (X * (2 + c)) <= c * 3) by (apply Rmult_le_compat_l; lra).
      assert (c * 3 <= c * (Y + 2)) by (apply Rmult_le_compat_l; lra). lra. }
    set (x := sqrt ((1 - p) / sq n v)). set (z := sqrt (p / sq n w)).
    assert (Ex : x ^ 2 * sq n v = 1 - p).
    { unfold x. rewrite pow2_sqrt by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]). field. lra. }
    assert (Ez : z ^ 2 * sq n w = p).
    { unfold z. rewrite pow2_sqrt by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]). field. lra. }
    assert (orth : dot n v w = 0).
    { assert (A : dot n v (kernel n D J w) = Lam * dot n v w).
      { unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros i Hi. rewrite Ew by easy. ring. }
      assert (B : dot n w (kernel n D J v) = m * dot n v w).
      { unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros i Hi. rewrite Ev by easy. ring. }
      rewrite kernel_dot in A, B. rewrite dot_sym in B. assert ((Lam - m) * dot n v w = 0) by lra.
      apply Rmult_integral in H. destruct H; [|easy]. exfalso. assert (mu * m < mu * Lam) by (unfold X, Y in *; lra).
      assert (m < Lam) by (apply (Rmult_lt_reg_l mu); lra). lra. }
    set (E := vplus (vscal x v) (vscal z w)).
    assert (nrm : forall a b, sq n (vplus (vscal (a * x) v) (vscal (b * z) w)) = a ^ 2 * (1 - p) + b ^ 2 * p).
    { intros a b. rewrite sq_plus, !sq_scal, dot_scal_l, dot_scal_r, orth, <- Ex, <- Ez. ring. }
    assert (KE : forall i, (i < n)%nat -> kernel n D J E i = vplus (vscal (m * x) v) (vscal (Lam * z) w) i).
    { intros i Hi. unfold kernel, E, pullback. rewrite !matvec_plus, !matvec_scal. unfold vplus, vscal.
      change (matvec D J (matvec n (transpose J) v) i) with (kernel n D J v i).
      change (matvec D J (matvec n (transpose J) w) i) with (kernel n D J w i). rewrite Ev, Ew by easy. ring. }
    exists E. unfold path.
    assert (N1 : vnorm n E = 1).
    { unfold vnorm. rewrite (sq_ext n E (vplus (vscal (1 * x) v) (vscal (1 * z) w))), nrm by
        (intros; unfold E, vplus, vscal; ring). transitivity (sqrt 1); [f_equal; ring|apply sqrt_1]. }
    assert (N2 : mu * sqrt m * vnorm D (pullback n J E) = X * (1 + c)).
    { assert (Q : sq D (pullback n J E) = (1 - p) * m + p * Lam).
      { rewrite sq_dot, <- kernel_dot, (dot_ext n E _ E (vplus (vscal (m * x) v) (vscal (Lam * z) w))) by easy.
        unfold E. rewrite dot_plus_l, !dot_plus_r, !dot_scal_l, !dot_scal_r, orth, (dot_sym n w v), orth, <- !sq_dot.
        transitivity (m * (x ^ 2 * sq n v) + Lam * (z ^ 2 * sq n w)); [ring|]. rewrite Ex, Ez. ring. }
      apply Rsqr_inj; [apply Rmult_le_pos; [apply Rmult_le_pos;
        [lra|apply sqrt_pos]|apply norm_ge0]|apply Rmult_le_pos; lra|].
      rewrite !Rsqr_pow2, !Rpow_mult_distr, Sm, norm_sq, Q.
      replace (mu ^ 2 * m * ((1 - p) * m + p * Lam)) with (X ^ 2 + X * (p * (Y - X))) by (unfold X, Y; ring).
      rewrite Ep. ring. }
    rewrite N1, N2.
    assert (N3 : 1 - X * (1 + c) < vnorm n (vminus E (vscal mu (kernel n D J E)))).
    { unfold vnorm. rewrite (sq_ext n _ (vplus (vscal ((1 - X) * x) v) (vscal ((1 - Y) * z) w))) by
        (intros i Hi; unfold vminus; unfold vscal at 1; rewrite KE by easy; unfold E, vplus, vscal, X, Y; ring).
      rewrite nrm. eapply Rle_lt_trans; [apply Rle_abs|]. rewrite <- sqrt_Rsqr_abs. apply sqrt_lt_1_alt.
      split; [apply Rle_0_sqr|].
      rewrite Rsqr_pow2. replace ((1 - X) ^ 2 * (1 - p) + (1 - Y) ^ 2 * p) with ((1 - X) ^ 2 + p * (Y - X) * (Y - 2 +
        X)) by ring.
      rewrite Ep. assert (0 < c * X * (2 * (Y - 1) + c * (Y - 2))); [|lra].
      apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra|]. nra. }
    lra.
Qed.

(** P is the pseudo-inverse of A, n rows of full rank, d columns: A P = I and P A is symmetric *)
Definition right_inverse (n d : nat) (A P : matrix) : Prop :=
  (forall i j, (i < n)%nat -> (j < n)%nat -> matmul d A P i j = if Nat.eqb i j then 1 else 0) /\
  (forall i j, (i < d)%nat -> (j < d)%nat -> matmul n P A i j = matmul n P A j i).

(** S_k = E⁽⁰⁾ + … + E⁽ᵏ⁻¹⁾ *)
Definition partial_sum (component : nat -> matrix) (k : nat) : matrix := fun i j => Sum k (fun l => component l i j).

Lemma delta_left n (B : matrix) (i j : nat) : (i < n)%nat ->
  Sum n (fun s => (if Nat.eqb i s then 1 else 0) * B s j) = B i j.
Proof.
  intros Hi. rewrite (Sum_single n _ i Hi); [rewrite Nat.eqb_refl; ring|]. intros s _ Hs.
  replace (Nat.eqb i s) with false by (symmetry; apply Nat.eqb_neq; auto). ring.
Qed.

(** P A (Aᵀ H) = Aᵀ H *)
Lemma row_space n d A P H i j : right_inverse n d A P -> (i < d)%nat ->
  matmul n P (matmul d A (matmul n (transpose A) H)) i j = matmul n (transpose A) H i j.
Proof.
  intros [H1 H2] Hi. rewrite matmul_assoc, matmul_assoc. unfold matmul at 1 4. apply Sum_ext; intros t Ht. f_equal.
  transitivity (matmul d A (matmul n P A) t i).
  - unfold matmul at 1 3. apply Sum_ext; intros k Hk. unfold transpose. rewrite H2 by easy. ring.
  - rewrite matmul_assoc. unfold matmul at 1. rewrite (Sum_ext n _ (fun s => (if Nat.eqb t s then 1 else 0) * A s i)).
    + now apply (delta_left n A t i).
    + intros s Hs. now rewrite H1.
Qed.

Lemma matmul_sum n L P (c : nat -> matrix) (g : nat -> R) i j :
  matmul n P (fun i j => Sum L (fun l => g l * c l i j)) i j = Sum L (fun l => g l * matmul n P (c l) i j).
Proof.
  unfold matmul. rewrite (Sum_ext n _ (fun k => Sum L (fun l => g l * (P i k * c l k j)))).
  - rewrite Sum_swap. apply Sum_ext; intros. now rewrite Sum_scal.
  - intros k _. rewrite <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma matmul_ext n A B B' i j : (forall k, (k < n)%nat -> B k j = B' k j) -> matmul n A B i j = matmul n A B' i j.
Proof. intros H. apply Sum_ext; intros. now rewrite H. Qed.

Lemma abel N (h e : nat -> R) :
  Sum (S N) (fun k => (h k - h (S k)) * Sum k e) = Sum N (fun l => h (S l) * e l) - h (S N) * Sum N e.
Proof. induction N; [simpl; ring|]. cbn [Sum] in *. rewrite IHN. ring. Qed.

Lemma telescope N (h : nat -> R) : Sum N (fun k => h k - h (S k)) = h 0%nat - h N.
Proof. induction N; simpl; [ring|]. rewrite IHN. ring. Qed.

(** rt-lemma-w-partial-sums
    Covers: the whole statement, for components along eigenvectors that are given in order; that a symmetric kernel has them is not part of it.
    Reads: let A₀ have n rows and the pseudo-inverse A₀⁺, A₀A₀⁺ = I; let E₀ = E⁽⁰⁾ + … + E⁽ᴸ⁻¹⁾ with A₀A₀ᵀE⁽ˡ⁾C₀ = κ_l E⁽ˡ⁾, κ_l falling, κ_l ≥ 0, μκ_l ≤ 1. For R_{t+1} = R_t − μA₀ᵀE_tC₀, E_t = E₀ + A₀(R_t − R₀), there are for every t weights w_k ≥ 0, 0 ≤ k ≤ L, Σ w_k = 1, with R_t = Σ w_k(R₀ − A₀⁺S_k) and outputs F₀ + A₀(R_t − R₀) = Σ w_k(F₀ − S_k), S_k = E⁽⁰⁾ + … + E⁽ᵏ⁻¹⁾.
    Mistake: without `(forall l, (S l < L)%nat -> kappa (S l) <= kappa l) ->`
    Mistake: `0 <= kappa l /\ mu * kappa l <= 3` for `0 <= kappa l /\ mu * kappa l <= 1`
*)
Theorem rt_lemma_w_partial_sums : forall n d K L A P C E0 F0 component kappa mu (run : nat -> matrix),
  let moved t := mminus (run t) (run 0%nat) in
  let E t := mplus E0 (matmul d A (moved t)) 1 in
  right_inverse n d A P ->
  (forall i j, (i < n)%nat -> (j < K)%nat -> E0 i j = partial_sum component L i j) ->
  (forall l i j, (l < L)%nat -> (i < n)%nat -> (j < K)%nat ->
    matmul d A (matmul n (transpose A) (matmul K (component l) C)) i j = kappa l * component l i j) ->
  (forall l, (S l < L)%nat -> kappa (S l) <= kappa l) ->
  (forall l, (l < L)%nat -> 0 <= kappa l /\ mu * kappa l <= 1) -> 0 < mu ->
  (forall t, run (S t) = mminus (run t) (fun i j => mu * matmul n (transpose A) (matmul K (E t) C) i j)) ->
  forall t, exists w, (forall k, (k <= L)%nat -> 0 <= w k) /\ Sum (S L) w = 1 /\
    (forall i j, (i < d)%nat -> (j < K)%nat ->
      run t i j = Sum (S L) (fun k => w k * (run 0%nat i j - matmul n P (partial_sum component k) i j))) /\
    (forall i j, (i < n)%nat -> (j < K)%nat ->
      F0 i j + matmul d A (moved t) i j = Sum (S L) (fun k => w k * (F0 i j - partial_sum component k i j))).
Proof.
  intros n d K L A P C E0 F0 component kappa mu run moved E HP HE HK Hf Hk Hmu Hrun t.
  set (gam := fun t l => 1 - (1 - mu * kappa l) ^ t).
  assert (AP : forall B i j, (i < n)%nat -> matmul d A (matmul n P B) i j = B i j).
  { intros B i j Hi. rewrite matmul_assoc. unfold matmul at 1.
    rewrite (Sum_ext n _ (fun s => (if Nat.eqb i s then 1 else 0) * B s j)).
    - now apply delta_left.
    - intros s Hs. destruct HP as [H1 _]. now rewrite H1. }
  assert (back : forall l i j, (l < L)%nat -> (i < d)%nat -> (j < K)%nat ->
    matmul n (transpose A) (matmul K (component l) C) i j = kappa l * matmul n P (component l) i j).
  { intros l i j Hl Hi Hj. rewrite <- (row_space n d A P) by easy.
    rewrite (matmul_ext n P _ (fun i j => kappa l * component l i j)) by (intros; now apply HK).
    unfold matmul. rewrite <- Sum_scal. apply Sum_ext; intros; ring. }
  assert (inv : forall t i j, (i < d)%nat -> (j < K)%nat ->
    moved t i j = - Sum L (fun l => gam t l * matmul n P (component l) i j)).
  { clear t. intros t. induction t as [|t IH]; intros i j Hi Hj.
    - unfold moved, mminus, gam. rewrite (Sum_ext L _ (fun _ => 0)) by (intros; simpl; ring). rewrite Sum_zero. ring.
    - assert (Et : forall i j, (i < n)%nat -> (j < K)%nat ->
      E t i j = Sum L (fun l => (1 - gam t l) * component l i j)).
      { clear i j Hi Hj. intros i j Hi Hj. unfold E, mplus. rewrite HE by easy. unfold partial_sum.
        rewrite (matmul_ext d A _ (fun i j => - matmul n P (fun i j => Sum L (fun l => gam t l * component l i j)) i
          j)).
        - replace (matmul d A (fun i j => - matmul n P (fun i j => Sum L (fun l => gam t l * component l i j)) i j) i j)
            with (- matmul d A (matmul n P (fun i j => Sum L (fun l => gam t l * component l i j))) i j).
          + rewrite AP by easy. rewrite (Sum_ext L (fun l => (1 - gam t l) * component l i j)
              (fun l => component l i j - gam t l * component l i j)) by (intros; ring). rewrite Sum_minus. ring.
          + unfold matmul at 1 3. rewrite <- (Rmult_1_l (- Sum d _)), Ropp_mult_distr_r_reverse, Ropp_mult_distr_l,
            <- Sum_scal.
            apply Sum_ext; intros; ring.
        - intros k Hk'. rewrite IH by easy. now rewrite matmul_sum. }
      replace (moved (S t) i j) with (moved t i j - mu * matmul n (transpose A) (matmul K (E t) C) i j)
        by (unfold moved; rewrite Hrun; unfold mminus; ring).
      rewrite IH by easy.
      assert (G : matmul n (transpose A) (matmul K (E t) C) i j =
        Sum L (fun l => (1 - gam t l) * (kappa l * matmul n P (component l) i j))).
      { rewrite (matmul_ext n (transpose A) _ (fun i j => Sum L (fun l => (1 - gam t l) * matmul K (component l) C i
        j))).
        - rewrite matmul_sum. apply Sum_ext; intros l Hl. now rewrite back.
        - intros k Hk'. unfold matmul.
          rewrite (Sum_ext K _ (fun q => Sum L (fun l => (1 - gam t l) * (component l k q * C q j)))).
          + rewrite Sum_swap. apply Sum_ext; intros. now rewrite Sum_scal.
          + intros q Hq. rewrite Et by easy. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring. }
      rewrite G, <- Sum_scal.
      replace (- Sum L (fun l => gam t l * matmul n P (component l) i j) -
        Sum L (fun l => mu * ((1 - gam t l) * (kappa l * matmul n P (component l) i j)))) with
        (- (Sum L (fun l => gam t l * matmul n P (component l) i j) +
          Sum L (fun l => mu * ((1 - gam t l) * (kappa l * matmul n P (component l) i j))))) by ring.
      rewrite <- Sum_plus. f_equal. apply Sum_ext; intros l _. unfold gam. simpl. ring. }
  set (h := fun k => match k with O => 1 | S l => if Nat.ltb l L then gam t l else 0 end).
  assert (base : forall l, (l < L)%nat -> 0 <= 1 - mu * kappa l <= 1).
  { intros l Hl. destruct (Hk l Hl). assert (0 <= mu * kappa l) by (apply Rmult_le_pos; lra). lra. }
  assert (g01 : forall l, (l < L)%nat -> 0 <= gam t l <= 1).
  { intros l Hl. unfold gam. destruct (base l Hl) as [B0 B1]. assert (0 <= (1 - mu * kappa l) ^ t) by now apply pow_le.
    assert ((1 - mu * kappa l) ^ t <= 1 ^ t) by now apply pow_incr. rewrite pow1 in *. lra. }
  assert (hd : forall k, (k <= L)%nat -> h (S k) <= h k).
  { intros [|l] Hl; unfold h.
    - destruct (Nat.ltb_spec 0 L); [apply g01; lia|lra].
    - destruct (Nat.ltb_spec (S l) L); destruct (Nat.ltb_spec l L); try lia; [|apply g01; lia].
      unfold gam. assert ((1 - mu * kappa l) ^ t <= (1 - mu * kappa (S l)) ^ t); [|lra].
      apply pow_incr. destruct (base l ltac:(lia)). assert (mu * kappa (S l) <= mu * kappa l)
        by (apply Rmult_le_compat_l; [lra|now apply Hf]). lra. }
  assert (hL : h (S L) = 0) by (unfold h; now rewrite Nat.ltb_irrefl).
  assert (sum : forall e : nat -> R, Sum (S L) (fun k => (h k - h (S k)) * Sum k e) = Sum L (fun l => gam t l * e l)).
  { intros e. rewrite abel, hL. rewrite Rmult_0_l, Rminus_0_r. apply Sum_ext; intros l Hl. unfold h.
    apply Nat.ltb_lt in Hl. now rewrite Hl. }
  assert (one : Sum (S L) (fun k => h k - h (S k)) = 1) by (rewrite telescope, hL; unfold h; ring).
  assert (conv : forall x (e : nat ->
    R), Sum (S L) (fun k => (h k - h (S k)) * (x - Sum k e)) = x - Sum L (fun l => gam t l * e l)).
  { intros x e. rewrite (Sum_ext (S L) _ (fun k => x * (h k - h (S k)) - (h k - h (S k)) * Sum k e)) by (intros; ring).
    rewrite Sum_minus, Sum_scal, one, sum. ring. }
  exists (fun k => h k - h (S k)). split; [intros k Hk'; specialize (hd k Hk'); lra|split; [exact one|split]].
  - intros i j Hi Hj. rewrite (Sum_ext (S L) _ (fun k => (h k - h (S k)) * (run 0%nat i j - Sum k (fun l => matmul n P
    (component l) i j)))).
    + rewrite conv. assert (I := inv t i j Hi Hj). unfold moved, mminus in I. lra.
    + intros k _. f_equal. f_equal. unfold partial_sum, matmul. rewrite Sum_swap. apply Sum_ext; intros.
      now rewrite Sum_scal.
  - intros i j Hi Hj. unfold partial_sum. rewrite conv.
    rewrite (matmul_ext d A _ (fun i j => Sum L (fun l => gam t l * (fun i j => - matmul n P (component l) i j) i j))).
    + rewrite matmul_sum. unfold Rminus. f_equal. rewrite <- (Rmult_1_l (- Sum L _)), Ropp_mult_distr_r_reverse,
      Ropp_mult_distr_l, <- Sum_scal.
      apply Sum_ext; intros l _. transitivity (gam t l * - matmul d A (matmul n P (component l)) i j).
      * f_equal. unfold matmul at 1 3. rewrite <- (Rmult_1_l (- Sum d _)), Ropp_mult_distr_r_reverse,
        Ropp_mult_distr_l, <- Sum_scal.
        apply Sum_ext; intros; ring.
      * rewrite AP by easy. ring.
    + intros k Hk'. rewrite inv by easy. rewrite <- (Rmult_1_l (- Sum L _)), Ropp_mult_distr_r_reverse,
      Ropp_mult_distr_l, <- Sum_scal.
      apply Sum_ext; intros; ring.
Qed.

(** s > 0 with s ‖w‖ ≤ ‖Aᵀ w‖ for all w ∈ ℝⁿ: A has full row rank and σ_min(A) ≥ s *)
Definition rank_at_least (n d : nat) (A : matrix) (s : R) : Prop :=
  0 < s /\ forall w, s * vnorm n w <= vnorm d (pullback n A w).

(** ‖(B − A) v‖ ≤ c ‖v‖ for all v ∈ ℝᵈ: ‖B − A‖ ≤ c in the spectral norm *)
Definition apart (n d : nat) (A B : matrix) (c : R) : Prop :=
  0 <= c /\ forall v, vnorm n (vminus (matvec d B v) (matvec d A v)) <= c * vnorm d v.

(** ‖P y‖ ≤ ‖y‖/s, ‖P A v‖ ≤ ‖v‖ for the pseudo-inverse P of A *)
Lemma pseudo_inverse n d A P s : right_inverse n d A P -> rank_at_least n d A s ->
  (forall y, s * vnorm d (matvec n P y) <= vnorm n y) /\ (forall v, vnorm d (matvec n P (matvec d A v)) <= vnorm d v).
Proof.
  intros [H1 H2] [s0 Hs].
  assert (AP : forall y i, (i < n)%nat -> matvec d A (matvec n P y) i = y i).
  { intros y i Hi. change (matmul d A (fun k (_ : nat) => matvec n P y k) i 0%nat = y i).
    rewrite (matmul_ext d A _ (matmul n P (fun k _ => y k))) by easy. rewrite matmul_assoc. unfold matmul at 1.
    rewrite (Sum_ext n _ (fun s => (if Nat.eqb i s then 1 else 0) * y s)) by (intros; now rewrite H1).
    exact (delta_left n (fun k _ => y k) i 0 Hi). }
  (* P y = Aᵀ z *)
  assert (row : forall y i, (i < d)%nat -> matvec n P y i = pullback n A (pullback d P (matvec n P y)) i).
  { intros y i Hi. transitivity (matmul n P (matmul d A (matmul n P (fun k _ => y k))) i 0%nat).
    - unfold matmul at 1. unfold matvec at 1. apply Sum_ext; intros k Hk. f_equal. symmetry. exact (AP y k Hk).
    - rewrite matmul_assoc. unfold matmul at 1. unfold pullback at 1. unfold matvec at 1.
      rewrite (Sum_ext d _ (fun j => Sum n (fun k => A k i * (P j k * matvec n P y j)))).
      + rewrite Sum_swap. apply Sum_ext; intros k _. rewrite Sum_scal. easy.
      + intros j Hj. rewrite H2 by easy. unfold matmul at 1. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros k _.
        change (matmul n P (fun k _ => y k) j 0%nat) with (matvec n P y j). ring. }
  assert (B1 : forall y, s * vnorm d (matvec n P y) <= vnorm n y).
  { intros y. set (x := matvec n P y). set (z := pullback d P x).
    assert (X : vnorm d x ^ 2 = dot n z y).
    { rewrite norm_sq, sq_dot, (dot_ext d x x (pullback n A z) x) by (easy || apply row). rewrite <- adjoint.
      apply dot_ext; [easy|]. intros i Hi. now apply AP. }
    assert (Z : s * vnorm n z <= vnorm d x).
    { eapply Rle_trans; [apply Hs|]. right. apply norm_ext. intros i Hi. symmetry. now apply row. }
    assert (C := Rle_trans _ _ _ (Rle_abs _) (cauchy n z y)). rewrite <- X in C.
    assert (x0 : 0 <= vnorm d x) by apply norm_ge0. assert (y0 : 0 <= vnorm n y) by apply norm_ge0.
    assert (s * vnorm n z * vnorm n y <= vnorm d x * vnorm n y) by now apply Rmult_le_compat_r.
    assert (s * vnorm d x ^ 2 <= s * (vnorm n z * vnorm n y)) by (apply Rmult_le_compat_l; lra).
    destruct (Req_dec (vnorm d x) 0) as [->|]; [lra|]. apply (Rmult_le_reg_r (vnorm d x)); lra. }
  split; [easy|]. intros v. set (x := matvec n P (matvec d A v)). assert (x0 : 0 <= vnorm d x) by apply norm_ge0.
  assert (X : vnorm d x ^ 2 = dot d x v).
  { rewrite norm_sq, sq_dot. set (z := pullback d P x).
    rewrite (dot_ext d x x (pullback n A z) x), (dot_ext d x v (pullback n A z) v) by (easy || apply row).
    rewrite <- !adjoint. apply dot_ext; [easy|]. intros i Hi. now apply AP. }
  assert (C := Rle_trans _ _ _ (Rle_abs _) (cauchy d x v)). rewrite <- X in C.
  destruct (Req_dec (vnorm d x) 0) as [->|]; [apply norm_ge0|]. apply (Rmult_le_reg_l (vnorm d x)); lra.
Qed.

(** A ψ = e gives ‖A′⁺ e‖ ≤ ‖ψ‖ (1 + c/s). *)
Lemma move_vector n d A A' P' s c psi e : right_inverse n d A' P' -> rank_at_least n d A' s -> apart n d A A' c ->
  (forall i, (i < n)%nat -> matvec d A psi i = e i) -> vnorm d (matvec n P' e) <= vnorm d psi * (1 + c / s).
Proof.
  intros HP HR [c0 Hc] He. destruct (pseudo_inverse n d A' P' s HP HR) as [B1 B2]. destruct HR as [s0 _].
  assert (E : forall i, (i < d)%nat -> matvec n P' e i =
    vplus (matvec n P' (matvec d A' psi)) (vscal (-1) (matvec n P' (vminus (matvec d A' psi) (matvec d A psi)))) i).
  { intros i _. rewrite matvec_minus. unfold vplus, vscal, vminus.
    assert (F : matvec n P' (matvec d A psi) i = matvec n P' e i) by (apply Sum_ext; intros; now rewrite He).
    rewrite F. ring. }
  rewrite (norm_ext d _ _ E). eapply Rle_trans; [apply norm_triangle|]. rewrite norm_scal.
  replace (Rabs (-1)) with 1 by (rewrite Rabs_left; lra). specialize (B2 psi).
  specialize (B1 (vminus (matvec d A' psi) (matvec d A psi))). specialize (Hc psi).
  set (x := vnorm d (matvec n P' (vminus (matvec d A' psi) (matvec d A psi)))) in *.
  assert (x <= c * vnorm d psi / s) by (apply (proj1 (Rle_div_r x (c * vnorm d psi) s s0)); lra).
  replace (vnorm d psi * (1 + c / s)) with (vnorm d psi + c * vnorm d psi / s) by (field; lra). lra.
Qed.

(** rt-lemma-w-move
    Covers: the whole statement, with any bounds on the singular values and on the moves; the spectral norm as a bound for every vector.
    Reads: let A, A′ have n rows, A′⁺ be the pseudo-inverse of A′ with A′A′⁺ = I, σ_min(A′) ≥ s > 0, ‖A′ − A‖ ≤ c, AΨ = E′ with K columns. Then ‖A′⁺E′‖_F ≤ ‖Ψ‖_F (1 + c/s), and ‖A′⁺E′v‖ ≤ C(1 + c/s)‖v‖ for all v if ‖Ψv‖ ≤ C‖v‖ for all v. For W_U, W_U′ with left inverses, the pseudo-inverses W⁺, W′⁺ (here as right inverses of their transposes), σ_min(W_U′) ≥ s_U > 0, ‖W_U′ − W_U‖ ≤ c_U: ‖A′⁺E′W′⁺‖_F ≤ ‖ΨW⁺‖_F (1 + c/s)(1 + c_U/s_U). For numbers 0 < a′ < a, 0 < w′ < w it is an equality.
    Mistake: `frob2 d K psi * (1 + c / (2 * s)) ^ 2 /\` for `frob2 d K psi * (1 + c / s) ^ 2 /\`
    Mistake: `((1 + c / s) * (1 + cU / (2 * sU))) ^ 2` for `((1 + c / s) * (1 + cU / sU)) ^ 2`
*)
Theorem rt_lemma_w_move : forall n d K A A' P' psi E' s c, right_inverse n d A' P' -> rank_at_least n d A' s ->
  apart n d A A' c -> (forall i k, (i < n)%nat -> (k < K)%nat -> matmul d A psi i k = E' i k) ->
  frob2 d K (matmul n P' E') <= frob2 d K psi * (1 + c / s) ^ 2 /\
  (forall C, 0 <= C -> (forall v, vnorm d (matvec K psi v) <= C * vnorm K v) ->
    forall v, vnorm d (matvec K (matmul n P' E') v) <= C * (1 + c / s) * vnorm K v) /\
  (forall m W W' Q Q' sU cU, let T := transpose in
    right_inverse K m (T W) (T Q) -> right_inverse K m (T W') (T Q') -> rank_at_least K m (T W') sU ->
      apart m K W W' cU ->
    frob2 d m (matmul K (matmul n P' E') Q') <= frob2 d m (matmul K psi Q) * ((1 + c / s) * (1 + cU / sU)) ^ 2) /\
  forall a a' w w' x, 0 < a' < a -> 0 < w' < w ->
    Rabs (/ a' * (a * x) * / w') = Rabs (x * / w) * (1 + Rabs (a' - a) / a') * (1 + Rabs (w' - w) / w').
Proof.
  intros n d K A A' P' psi E' s c HP HR HA HE.
  assert (fac : 0 <= 1 + c / s) by (destruct HR, HA; assert (0 <= c / s) by (apply Rmult_le_pos; [easy|left;
    now apply Rinv_0_lt_compat]); lra).
  assert (sqm : forall psi' e', (forall i, (i < n)%nat -> matvec d A psi' i = e' i) ->
    sq d (matvec n P' e') <= sq d psi' * (1 + c / s) ^ 2).
  { intros psi' e' H. rewrite <- !norm_sq, <- Rpow_mult_distr. apply pow_incr. split; [apply norm_ge0|].
    now apply (move_vector n d A A'). }
  split; [|split; [|split]].
  - rewrite !frob2_columns, Rmult_comm, <- Sum_scal. apply Sum_le; intros k Hk. rewrite Rmult_comm.
    apply (sqm (column psi k) (column E' k)). intros i Hi. now apply HE.
  - intros C HC Hpsi v. rewrite (norm_ext d _ (matvec n P' (matvec K E' v))).
    + eapply Rle_trans; [apply (move_vector n d A A' P' s c (matvec K psi v)); try easy|].
      * intros i Hi. unfold matvec at 2. 
        transitivity (matmul d A (matmul K psi (fun k _ => v k)) i 0%nat); [easy|]. rewrite matmul_assoc.
        apply Sum_ext; intros k Hk. now rewrite HE.
      * specialize (Hpsi v). assert (vnorm d (matvec K psi v) * (1 + c / s) <= C * vnorm K v * (1 + c / s))
        by now apply Rmult_le_compat_r. lra.
    + intros i _. symmetry. exact (matmul_assoc n K P' E' (fun k _ => v k) i 0%nat).
  - intros m W W' Q Q' sU cU T HQ HQ' HRU HWU.
    assert (fU : 0 <= 1 + cU / sU) by (destruct HRU, HWU; assert (0 <= cU / sU) by
      (apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]); lra).
    assert (HT : apart K m (T W) (T W') cU).
    { destruct HWU as [c0 Hc]. split; [easy|]. intros v. set (B := fun i j => W' i j - W i j).
      rewrite (norm_ext K _ (pullback m B v)).
      - apply transpose_norm; [easy|]. intros x. rewrite (norm_ext m _ (vminus (matvec K W' x) (matvec K W x)));
        [apply Hc|].
        intros i _. unfold matvec, vminus, B. rewrite <- Sum_minus. apply Sum_ext; intros; ring.
      - intros i _. unfold matvec, vminus, pullback, matvec, T, transpose, B. rewrite <- Sum_minus.
        apply Sum_ext; intros; ring. }
    assert (row : forall M N i j, matmul K M N i j = matvec K (T N) (M i) j).
    { intros M N i j. unfold matmul, matvec, T, transpose. apply Sum_ext; intros; ring. }
    assert (rows : frob2 d m (matmul K psi Q') <= frob2 d m (matmul K psi Q) * (1 + cU / sU) ^ 2).
    { unfold frob2. rewrite Rmult_comm, <- Sum_scal. apply Sum_le; intros i _.
      change (sq m (matmul K psi Q' i) <= (1 + cU / sU) ^ 2 * sq m (matmul K psi Q i)).
      rewrite (sq_ext m _ (matvec K (T Q') (psi i))), (sq_ext m (matmul K psi Q i) (matvec K (T Q) (psi i)))
        by (intros; apply row).
      rewrite Rmult_comm, <- !norm_sq, <- Rpow_mult_distr. apply pow_incr. split; [apply norm_ge0|].
      apply (move_vector K m (T W) (T W')); try easy. intros k Hk.
      change (matmul m (T W) (matmul K (T Q) (fun l _ => psi i l)) k 0%nat = psi i k). rewrite matmul_assoc.
      unfold matmul at 1.
      rewrite (Sum_ext K _ (fun l => (if Nat.eqb k l then 1 else 0) * psi i l)) by (intros; destruct HQ as [HQ _];
        now rewrite HQ).
      exact (delta_left K (fun l _ => psi i l) k 0 Hk). }
    rewrite Rpow_mult_distr. apply (Rle_trans _ (frob2 d m (matmul K psi Q') * (1 + c / s) ^ 2)).
    + rewrite !frob2_columns, Rmult_comm, <- Sum_scal. apply Sum_le; intros j Hj. rewrite Rmult_comm.
      eapply Rle_trans; [right; apply sq_ext; intros i Hi; symmetry; apply matmul_assoc|].
      apply (sqm (column (matmul K psi Q') j) (column (matmul K E' Q') j)). intros i Hi.
      transitivity (matmul d A (matmul K psi Q') i j); [easy|]. rewrite matmul_assoc. apply Sum_ext; intros k Hk.
      now rewrite HE.
    + replace (frob2 d m (matmul K psi Q) * ((1 + c / s) ^ 2 * (1 + cU / sU) ^ 2)) with
        (frob2 d m (matmul K psi Q) * (1 + cU / sU) ^ 2 * (1 + c / s) ^ 2) by ring.
      apply Rmult_le_compat_r; [apply pow2_ge_0|easy].
  - intros a a' w w' x Ha Hw. rewrite !Rabs_mult, !Rabs_inv. rewrite (Rabs_right a), (Rabs_right a'), (Rabs_right w),
    (Rabs_right w') by lra.
    rewrite (Rabs_left (a' - a)), (Rabs_left (w' - w)) by lra. field. lra.
Qed.

(** rt-theorem-w-closed
    Covers: a part: that with the linear budgets all slopes are at most what was put, the rate is at least (81/512)σ_A²σ_U², and X + η ≤ X̂; on the page: that a run with such budgets is certified, by the area theorem.
    Reads: let all numbers be at least 0, σ_A, σ_U, u, a > 0, σ_A ≤ a, σ_U ≤ u, s = σ_Aσ_U, budgets B_A ≤ σ_A/4, B_U ≤ σ_U/4, B_Z ≤ z/4, B₁ ≤ w/4, B_ℓ ≤ (81/512)·6.731 e₀, j̄ ≤ 2j₀, ē ≤ e₀. Then path = (e₀ + B_ℓ)/((σ_A − B_A)(σ_U − B_U)) ≤ 3.672 e₀/s, r = (u + B_U) path ≤ r̂ = 4.6 u e₀/s, n_B = g_f(u + B_U) + (w + B₁) r ≤ n̂ = 1.25(g_f u + w r̂), c_Z = j̄² n_B ≤ 4 j₀² n̂, (z + B_Z) r ≤ 1.25 z r̂, and h² = ((Y + ē)/(σ_U − B_U))² + (g_f(z + B_Z) + (a + B_A) B_U path/(σ_U − B_U))² ≤ ĥ². If n̂ĉ_Z + (1.25 z r̂)² + ĥ² ≤ (81/512)s², then n_B c_Z + ((z + B_Z) r)² + h² ≤ (81/512)s² and (81/512)s² ≤ (σ_A − B_A)²(σ_U − B_U)² − (81/512)s². If 0 ≤ μ ≤ (25au/16)⁻², then μ(a + B_A)²(u + B_U)² ≤ 1 and e₀/((81/512)s²) + μe₀ ≤ 6.75 e₀/s².
    Constants: 81 / 512 = companion.theory.residual.closed.RATE
    Mistake: `path <= 3.5 * e0 / s` for `path <= 3.672 * e0 / s`
    Mistake: `bL <= 2 * (81 / 512 * 6.731 * e0)` for `bL <= 81 / 512 * 6.731 * e0`
*)
Theorem rt_theorem_w_closed : forall sA sU a u w z j0 gf Y e0 mu bA bU bZ b1 bL j e,
  let s := sA * sU in let path := (e0 + bL) / ((sA - bA) * (sU - bU)) in let r := (u + bU) * path in
  let nB := gf * (u + bU) + (w + b1) * r in let cZ := j ^ 2 * nB in
  let h2 := ((Y + e) / (sU - bU)) ^ 2 + (gf * (z + bZ) + (a + bA) * bU * path / (sU - bU)) ^ 2 in
  let r' := 4.6 * u * e0 / s in let n' := 1.25 * (gf * u + w * r') in let c' := 4 * j0 ^ 2 * n' in
  let h' := (4 * (Y + e0) / (3 * sU)) ^ 2 + (gf * (1.25 * z) + 1.53 * a * e0 / s) ^ 2 in
  0 < sA <= a -> 0 < sU <= u -> 0 <= w -> 0 <= z -> 0 <= gf -> 0 <= Y -> 0 <= e0 ->
  0 <= bA <= sA / 4 -> 0 <= bU <= sU / 4 -> 0 <= bZ <= z / 4 -> 0 <= b1 <= w / 4 -> 0 <= bL ->
  bL <= 81 / 512 * 6.731 * e0 -> 0 <= j <= 2 * j0 -> 0 <= e <= e0 ->
  path <= 3.672 * e0 / s /\ r <= r' /\ nB <= n' /\ cZ <= c' /\ (z + bZ) * r <= 1.25 * z * r' /\ h2 <= h' /\
  (n' * c' + (1.25 * z * r') ^ 2 + h' <= 81 / 512 * s ^ 2 ->
    nB * cZ + ((z + bZ) * r) ^ 2 + h2 <= 81 / 512 * s ^ 2 /\
    81 / 512 * s ^ 2 <= (sA - bA) ^ 2 * (sU - bU) ^ 2 - 81 / 512 * s ^ 2) /\
  (0 <= mu -> mu * (25 / 16 * (a * u)) ^ 2 <= 1 ->
    mu * ((a + bA) ^ 2 * (u + bU) ^ 2) <= 1 /\ e0 / (81 / 512 * s ^ 2) + mu * e0 <= 6.75 * e0 / s ^ 2).
Proof.
  intros sA sU a u w z j0 gf Y e0 mu bA bU bZ b1 bL j e s path r nB cZ h2 r' n' c' h' HA HU Hw Hz Hgf HY He0
    HbA HbU HbZ Hb1 HbL0 HbL Hj He.
  assert (s0 : 0 < s) by (apply Rmult_lt_0_compat; lra).
  assert (low : 9 / 16 * s <= (sA - bA) * (sU - bU)).
  { replace (9 / 16 * s) with (3 / 4 * sA * (3 / 4 * sU)) by (unfold s; field). apply Rmult_le_compat; lra. }
  assert (l0 : 0 < (sA - bA) * (sU - bU)) by (apply Rmult_lt_0_compat; lra).
  assert (p0 : 0 <= path) by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
  set (p := e0 / s). assert (Ep : p * s = e0) by (unfold p; field; lra).
  assert (pp : 0 <= p) by (apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]).
  assert (P1 : path <= 3.672 * p).
  { apply (proj2 (Rle_div_l (e0 + bL) (3.672 * p) _ l0)).
    assert (3.672 * p * (9 / 16 * s) <= 3.672 * p * ((sA - bA) * (sU - bU))) by (apply Rmult_le_compat_l; lra).
    replace (3.672 * p * (9 / 16 * s)) with (3.672 * (9 / 16) * (p * s)) in H by ring. rewrite Ep in H. lra. }
  assert (Er : r' = 4.6 * u * p) by (unfold r', p; field; lra).
  assert (r0 : 0 <= r) by (apply Rmult_le_pos; lra).
  assert (R1 : r <= r').
  { rewrite Er. apply (Rle_trans _ (1.25 * u * (3.672 * p))); [apply Rmult_le_compat; lra|].
    assert (0 <= u * p) by (apply Rmult_le_pos; lra). lra. }
  assert (N0 : 0 <= nB) by (unfold nB; assert (0 <= gf * (u + bU)) by (apply Rmult_le_pos; lra);
    assert (0 <= (w + b1) * r) by (apply Rmult_le_pos; lra); lra).
  assert (N1 : nB <= n').
  { unfold nB, n'. assert (gf * (u + bU) <= gf * (1.25 * u)) by (apply Rmult_le_compat_l; lra).
    assert ((w + b1) * r <= 1.25 * w * r') by (apply Rmult_le_compat; lra). lra. }
  assert (C1 : cZ <= c').
  { unfold cZ, c'. apply Rmult_le_compat; [apply pow2_ge_0|easy| |easy].
    replace (4 * j0 ^ 2) with ((2 * j0) ^ 2) by ring. apply pow_incr. lra. }
  assert (Z1 : (z + bZ) * r <= 1.25 * z * r') by (apply Rmult_le_compat; lra).
  assert (H1 : h2 <= h').
  { unfold h2, h'. apply Rplus_le_compat; apply pow_incr; split.
    - apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra].
    - apply (proj2 (Rle_div_l (Y + e) (4 * (Y + e0) / (3 * sU)) (sU - bU) ltac:(lra))).
      assert (Q : Y + e0 = 4 * (Y + e0) / (3 * sU) * (3 / 4 * sU)) by (field; lra).
      assert (4 * (Y + e0) / (3 * sU) * (3 / 4 * sU) <= 4 * (Y + e0) / (3 * sU) * (sU - bU)); [|lra].
      apply Rmult_le_compat_l; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|lra].
    - assert (0 <= gf * (z + bZ)) by (apply Rmult_le_pos; lra). assert (0 <= (a + bA) * bU * path / (sU - bU)); [|lra].
      apply Rmult_le_pos; [apply Rmult_le_pos; [apply Rmult_le_pos|]; lra|left; apply Rinv_0_lt_compat; lra].
    - assert (gf * (z + bZ) <= gf * (1.25 * z)) by (apply Rmult_le_compat_l; lra).
      assert ((a + bA) * bU * path / (sU - bU) <= 1.53 * a * e0 / s); [|lra].
      replace (1.53 * a * e0 / s) with (1.53 * a * p) by (unfold p; field; lra).
      apply (proj2 (Rle_div_l _ _ (sU - bU) ltac:(lra))).
      assert (A1 : (a + bA) * bU <= 1.25 * a * (sU / 4)) by (apply Rmult_le_compat; lra).
      assert (A2 : (a + bA) * bU * path <= 1.25 * a * (sU / 4) * (3.672 * p))
        by (apply Rmult_le_compat; [apply Rmult_le_pos; lra|easy|easy|easy]).
      assert (ap : 0 <= a * p) by (apply Rmult_le_pos; lra).
      assert (1.53 * (a * p) * (3 / 4 * sU) <= 1.53 * (a * p) * (sU - bU)) by (apply Rmult_le_compat_l; lra).
      assert (0 <= a * p * sU) by (apply Rmult_le_pos; lra). lra. }
  split; [unfold p in P1; lra|]. do 5 (split; [assumption|]). split.
  - intros K. assert (nB * cZ <= n' * c').
    { apply Rmult_le_compat; try easy. unfold cZ. apply Rmult_le_pos; [apply pow2_ge_0|easy]. }
    assert (((z + bZ) * r) ^ 2 <= (1.25 * z * r') ^ 2) by (apply pow_incr; split; [apply Rmult_le_pos; lra|easy]).
    split; [lra|]. rewrite <- Rpow_mult_distr. assert ((9 / 16 * s) ^ 2 <= ((sA - bA) * (sU - bU)) ^ 2)
      by (apply pow_incr; lra). lra.
  - intros Hmu Hma. assert (au : s <= a * u) by (unfold s; apply Rmult_le_compat; lra). split.
    + eapply Rle_trans; [|exact Hma]. apply Rmult_le_compat_l; [easy|]. rewrite <- Rpow_mult_distr. apply pow_incr.
      split.
      * apply Rmult_le_pos; lra.
      * replace (25 / 16 * (a * u)) with (5 / 4 * a * (5 / 4 * u)) by field. apply Rmult_le_compat; lra.
    + assert (s2 : 0 < s ^ 2) by now apply pow_lt. assert (M : mu * s ^ 2 <= (16 / 25) ^ 2).
      { assert (s ^ 2 <= (a * u) ^ 2) by (apply pow_incr; lra).
        assert (mu * s ^ 2 <= mu * (a * u) ^ 2) by now apply Rmult_le_compat_l. lra. }
      apply (Rmult_le_reg_r (s ^ 2)); [easy|]. 
      replace ((e0 / (81 / 512 * s ^ 2) + mu * e0) * s ^ 2) with (e0 * (512 / 81 + mu * s ^ 2)) by (field; lra).
      replace (6.75 * e0 / s ^ 2 * s ^ 2) with (e0 * 6.75) by (field; lra). apply Rmult_le_compat_l; lra.
Qed.
