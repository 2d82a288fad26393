(** The model: merged heads, narrow keys, independent heads, and what the model cannot see. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.spread base.multihead base.leader base.delta.
Open Scope R_scope.

(** σ(⟨u, Σ α_t W_V X_t⟩) with α = softmax(β ⟨W_K X_t, W_Q q⟩), matrices of k rows and d columns *)
Definition textbook_head (sigma : R -> R) (T k d : nat) (beta : R) (WQ WK WV : matrix) (u : vector)
  (X : matrix) (q : vector) : R :=
  let alpha := softmax T (fun t => beta * dot k (matvec d WK (X t)) (matvec d WQ q)) in
  sigma (dot k u (attended T alpha (fun t => matvec d WV (X t)))).

(** rank W ≤ k: all d columns of W are combinations of k vectors *)
Definition rank_le (d k : nat) (W : matrix) : Prop :=
  exists b coeff : matrix, forall i j, (i < d)%nat -> (j < d)%nat -> W i j = Sum k (fun s => coeff s j * b s i).

(** E(f + g) = E f + E g and E(c f) = c E f for real functions of a random point *)
Definition linear {P : Type} (Ex : (P -> R) -> R) : Prop :=
  (forall f g, Ex (fun o => f o + g o) = Ex f + Ex g) /\ (forall c f, Ex (fun o => c * f o) = c * Ex f).

(** the entries of the random k × d matrix K have mean 0, variance 1, and are uncorrelated *)
Definition standard {P : Type} (k d : nat) (Ex : (P -> R) -> R) (K : P -> matrix) : Prop :=
  forall s t i a, (s < k)%nat -> (t < k)%nat -> (i < d)%nat -> (a < d)%nat ->
    Ex (fun o => K o s i) = 0 /\ Ex (fun o => K o s i * K o t a) = delta s t * delta i a.

Lemma linear_Sum P (Ex : (P -> R) -> R) n f : linear Ex ->
  Ex (fun o => Sum n (f o)) = Sum n (fun s => Ex (fun o => f o s)).
Proof.
  intros [A C]. induction n as [|n IH].
  - simpl. transitivity (Ex (fun _ => 0 * 0)); [f_equal; apply functional_extensionality; intros; ring|].
    rewrite C. ring.
  - simpl. now rewrite A, IH.
Qed.

(** two independent draws: first the mean over the second, then over the first *)
Lemma linear_pair P P' (EK : (P -> R) -> R) (EQ : (P' -> R) -> R) : linear EK -> linear EQ ->
  linear (fun F : P * P' -> R => EK (fun o => EQ (fun o' => F (o, o')))).
Proof.
  intros [A1 C1] [A2 C2]. split; intros; [rewrite <- A1|rewrite <- C1]; f_equal; apply functional_extensionality; auto.
Qed.

Definition paired_zero {P : Type} k d (Ex : (P -> R) -> R) (K Q : P -> matrix) : Prop := forall s i j,
  (s < k)%nat -> (i < d)%nat -> (j < d)%nat -> Ex (fun o => K o s i * Q o s j) = 0.
Definition paired_one {P : Type} k d (Ex : (P -> R) -> R) (K Q : P -> matrix) : Prop := forall s t i j a b,
  (s < k)%nat -> (t < k)%nat -> (i < d)%nat -> (j < d)%nat -> (a < d)%nat -> (b < d)%nat ->
  Ex (fun o => K o s i * Q o s j * (K o t a * Q o t b)) = delta s t * (delta i a * delta j b).

Lemma standard_pair P P' (EK : (P -> R) -> R) (EQ : (P' -> R) -> R) k d K Q : linear EK -> linear EQ ->
  standard k d EK K -> standard k d EQ Q -> let Ex F := EK (fun o => EQ (fun o' => F (o, o'))) in
  paired_zero k d Ex (fun o => K (fst o)) (fun o => Q (snd o)) /\
  paired_one k d Ex (fun o => K (fst o)) (fun o => Q (snd o)).
Proof.
  intros [A1 C1] [A2 C2] SK SQ Ex. unfold Ex. simpl. split.
  - intros s i j Hs Hi Hj. simpl. transitivity (EK (fun o => 0 * K o s i)); [|rewrite C1; ring]. f_equal.
    apply functional_extensionality. intros o. rewrite C2, (proj1 (SQ s s j j Hs Hs Hj Hj)). ring.
  - intros s t i j a b Hs Ht Hi Hj Ha Hb. simpl.
    transitivity (EK (fun o => delta s t * delta j b * (K o s i * K o t a))).
    + f_equal. apply functional_extensionality. intros o. rewrite <- (proj2 (SQ s t j b Hs Ht Hj Hb)), Rmult_comm, <-
        C2.
      f_equal. apply functional_extensionality. intros; ring.
    + rewrite C1, (proj2 (SK s t i a Hs Ht Hi Ha)). unfold delta. destruct (s =? t)%nat; ring.
Qed.

(** ⟨A x, y⟩ = ⟨x, Aᵀ y⟩ *)
Lemma dot_transpose k d A x y : dot k (matvec d A x) y = dot d x (matvec k (transpose A) y).
Proof.
  unfold dot, matvec, transpose. rewrite (Sum_ext k _ (fun i => Sum d (fun j => A i j * x j * y i))).
  - rewrite Sum_swap. apply Sum_ext; intros j _. rewrite <- Sum_scal. apply Sum_ext; intros; ring.
  - intros i _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma matvec_matmul k d A B q i : matvec d (matmul k A B) q i = matvec k A (matvec d B q) i.
Proof.
  unfold matvec, matmul. rewrite (Sum_ext d _ (fun j => Sum k (fun s => A i s * (B s j * q j)))).
  - rewrite Sum_swap. apply Sum_ext; intros s _. apply Sum_scal.
  - intros j _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

Lemma softmax_same T z y : (forall s, (s < T)%nat -> z s = y s) ->
  forall t, (t < T)%nat -> softmax T z t = softmax T y t.
Proof. intros H t Ht. unfold softmax. rewrite (H t Ht). f_equal. apply Sum_ext; intros; now rewrite H. Qed.

Lemma merged_moments P (Ex : (P -> R) -> R) k d (K Q : P -> matrix) : linear Ex -> (1 <= k)%nat ->
  paired_zero k d Ex K Q -> paired_one k d Ex K Q ->
  let W o i j := / sqrt (INR k) * matmul k (transpose (K o)) (Q o) i j in
  forall i j a b, (i < d)%nat -> (j < d)%nat -> (a < d)%nat -> (b < d)%nat ->
    Ex (fun o => W o i j) = 0 /\ Ex (fun o => W o i j * W o a b) = delta i a * delta j b.
Proof.
  intros [A C] Hk M1 M2 W i j a b Hi Hj Ha Hb. assert (L : linear Ex) by easy.
  assert (R0 : 0 < sqrt (INR k)) by (apply sqrt_lt_R0, lt_0_INR; lia).
  assert (R2 : sqrt (INR k) * sqrt (INR k) = INR k) by (apply sqrt_sqrt, pos_INR). split.
  + unfold W. rewrite C. unfold matmul, transpose. rewrite linear_Sum by easy.
    rewrite (Sum_ext k _ (fun _ => 0)) by (intros; now apply M1). rewrite Sum_zero. ring.
  + set (N := sqrt (INR k)) in *.
    transitivity (/ N * / N *
      Ex (fun o => Sum k (fun s => Sum k (fun t => K o s i * Q o s j * (K o t a * Q o t b))))).
    * rewrite <- C. f_equal. apply functional_extensionality. intros o. unfold W, matmul, transpose. fold N.
      rewrite (Sum_ext k (fun s => Sum k _) (fun s => Sum k (fun t => K o t a * Q o t b) * (K o s i * Q o s j))).
      -- rewrite Sum_scal. ring.
      -- intros s _. rewrite Sum_scal. ring.
    * rewrite linear_Sum by easy. rewrite (Sum_ext k _ (fun _ => delta i a * delta j b)).
      -- rewrite Sum_const, <- R2. field. lra.
      -- intros s Hs. rewrite linear_Sum by easy. rewrite (Sum_ext k _ (fun t => delta s t * (delta i a * delta j b)))
           by (intros; now apply M2). now rewrite (Sum_delta k s (fun _ => delta i a * delta j b)).
Qed.

(** kr-remark-1
    Covers: a part: the merged head is the same function; a matrix arises exactly if its rank is at most k; the entries of W have mean 0, variance 1 and are uncorrelated, for independent factors whose entries have mean 0, variance 1 and are uncorrelated; on the page: the limit of many rows.
    Reads: (1) for any W_Q, W_K, W_V of k rows and d columns, u, β, tokens and query, the textbook head equals h(X; U, W) with W = β W_Kᵀ W_Q and U = W_Vᵀ u. (2) For β ≠ 0 and k ≥ 1, (U, W) arises in this way exactly when rank W ≤ k. (3) If k ≥ 1 and W_K, W_Q are random and independent (the expectation is that over W_Q, then that over W_K, both linear), each with entries of mean 0 and variance 1 that are uncorrelated, then W = k^(−1/2) W_Kᵀ W_Q has E W_ij = 0, and E[W_ij W_ab] = 1 if (i, j) = (a, b), else 0.
    Mistake: `matmul k (transpose WQ) WK i j)` for `matmul k (transpose WK) WQ i j)`
    Mistake: `rank_le d (k - 1) W` for `rank_le d k W`
    Mistake: `/ INR k * matmul` for `/ sqrt (INR k) * matmul`
*)
Theorem kr_remark_1 :
  (forall sigma T k d beta WQ WK WV u X q, textbook_head sigma T k d beta WQ WK WV u X q =
    head sigma T d X q (matvec k (transpose WV) u) (fun i j => beta * matmul k (transpose WK) WQ i j)) /\
  (forall k d beta U W, beta <> 0 -> (1 <= k)%nat ->
    ((exists WQ WK WV u, (forall i, (i < d)%nat -> U i = matvec k (transpose WV) u i) /\
      forall i j, (i < d)%nat -> (j < d)%nat -> W i j = beta * Sum k (fun s => WK s i * WQ s j)) <-> rank_le d k W)) /\
  (forall P P' (EK : (P -> R) -> R) (EQ : (P' -> R) -> R) k d (K : P -> matrix) (Q : P' -> matrix),
    linear EK -> linear EQ -> (1 <= k)%nat -> standard k d EK K -> standard k d EQ Q ->
    let W o o' i j := / sqrt (INR k) * matmul k (transpose (K o)) (Q o') i j in
    forall i j a b, (i < d)%nat -> (j < d)%nat -> (a < d)%nat -> (b < d)%nat ->
      EK (fun o => EQ (fun o' => W o o' i j)) = 0 /\
      EK (fun o => EQ (fun o' => W o o' i j * W o o' a b)) = delta i a * delta j b).
Proof.
  split; [|split].
  - intros sigma T k d beta WQ WK WV u X q. unfold textbook_head, head, pooled. f_equal.
    set (alpha := softmax T (fun t => beta * dot k (matvec d WK (X t)) (matvec d WQ q))).
    assert (Q : forall t, (t < T)%nat -> alpha t =
      weights T d X q (fun i j => beta * matmul k (transpose WK) WQ i j) t).
    { apply softmax_same. intros t _. rewrite dot_transpose. unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros i _.
      rewrite <- matvec_matmul. unfold matvec. rewrite (Sum_ext d (fun j => beta * _ * q j)
        (fun j => beta * (matmul k (transpose WK) WQ i j * q j))) by (intros; ring). rewrite Sum_scal. ring. }
    transitivity (dot k u (matvec d WV (attended T alpha X))).
    + unfold dot. apply Sum_ext; intros r _. f_equal. unfold attended, matvec. rewrite E_Sum. apply Sum_ext; intros i _.
      apply E_scal.
    + rewrite dot_sym, dot_transpose, dot_sym. unfold dot. apply Sum_ext; intros i _. f_equal.
      apply Sum_ext; intros t Ht. now rewrite Q.
  - intros k d beta U W Hb Hk. split.
    + intros (WQ & WK & _ & _ & _ & H). exists WK, (fun s j => beta * WQ s j). intros i j Hi Hj.
      rewrite H, <- Sum_scal by easy. apply Sum_ext; intros; ring.
    + intros (b & coeff & H). exists (fun s j => / beta * coeff s j), b, (fun r i => if (r =? 0)%nat then U i else 0),
        (delta 0).
      split.
      * intros i _. unfold matvec, transpose. rewrite (Sum_single k _ 0%nat); [simpl; unfold delta; simpl; ring|lia|].
        intros r _ N. rewrite delta_other by easy. ring.
      * intros i j Hi Hj. rewrite H, <- Sum_scal by easy. apply Sum_ext; intros. field. easy.
  - intros P P' EK EQ k d K Q LK LQ Hk SK SQ. destruct (standard_pair P P' EK EQ k d K Q LK LQ SK SQ) as [M1 M2].
    exact (merged_moments (P * P') (fun F => EK (fun o => EQ (fun o' => F (o, o')))) k d (fun o => K (fst o))
      (fun o => Q (snd o)) (linear_pair P P' EK EQ LK LQ) Hk M1 M2).
Qed.

Lemma Sum_product n m f g : Sum n f * Sum m g = Sum n (fun i => Sum m (fun j => f i * g j)).
Proof. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros i _. rewrite Rmult_comm. symmetry. apply Sum_scal. Qed.

(** E (K x)_s (Q q)_s (K x)_t (Q q)_t = δ_st ‖x‖² ‖q‖² *)
Lemma paired_moment P (Ex : (P -> R) -> R) k d (K Q : P -> matrix) x q s t : linear Ex ->
  paired_one k d Ex K Q -> (s < k)%nat -> (t < k)%nat ->
  Ex (fun o => matvec d (K o) x s * matvec d (Q o) q s * (matvec d (K o) x t * matvec d (Q o) q t)) =
  delta s t * (sq d x * sq d q).
Proof.
  intros L M Hs Ht. assert (C := proj2 L).
  transitivity (Ex (fun o => Sum d (fun i => Sum d (fun j => Sum d (fun a => Sum d (fun b =>
    x i * q j * (x a * q b) * (K o s i * Q o s j * (K o t a * Q o t b)))))))).
  - f_equal. apply functional_extensionality. intros o.
    assert (V : forall r, matvec d (K o) x r * matvec d (Q o) q r =
      Sum d (fun i => Sum d (fun j => x i * q j * (K o r i * Q o r j)))).
    { intros r. unfold matvec. rewrite Sum_product. apply Sum_ext; intros i _. apply Sum_ext; intros; ring. }
    rewrite !V, Rmult_comm, <- Sum_scal. apply Sum_ext; intros i _. rewrite <- Sum_scal.
    apply Sum_ext; intros j _. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros a _. rewrite <- Sum_scal.
    apply Sum_ext; intros b _. ring.
  - rewrite (linear_Sum _ _ _ _ L). unfold sq. rewrite Sum_product, <- Sum_scal. apply Sum_ext; intros i Hi.
    rewrite (linear_Sum _ _ _ _ L), <- Sum_scal. apply Sum_ext; intros j Hj. rewrite (linear_Sum _ _ _ _ L).
    rewrite (Sum_ext d _ (fun a => delta i a * (x i * x a * (delta s t * q j ^ 2)))).
    + rewrite (Sum_delta d i (fun a => x i * x a * (delta s t * q j ^ 2))) by easy. ring.
    + intros a Ha. rewrite (linear_Sum _ _ _ _ L).
      rewrite (Sum_ext d _ (fun b => delta j b * (x i * q j * (x a * q b) * (delta s t * delta i a)))).
      * rewrite (Sum_delta d j (fun b => x i * q j * (x a * q b) * (delta s t * delta i a))) by easy. ring.
      * intros b Hb. rewrite C, M by easy. ring.
Qed.

Lemma logit_moment P (Ex : (P -> R) -> R) k d beta (K Q : P -> matrix) x q : linear Ex ->
  paired_one k d Ex K Q ->
  Ex (fun o => (beta * dot k (matvec d (K o) x) (matvec d (Q o) q)) ^ 2) = beta ^ 2 * INR k * (sq d x * sq d q).
Proof.
  intros L M.
  transitivity (Ex (fun o => beta ^ 2 * Sum k (fun s => Sum k (fun t =>
    matvec d (K o) x s * matvec d (Q o) q s * (matvec d (K o) x t * matvec d (Q o) q t))))).
  - f_equal. apply functional_extensionality. intros o. rewrite <- Sum_product. unfold dot. ring.
  - rewrite (proj2 L), (linear_Sum _ _ _ _ L). rewrite Rmult_assoc. f_equal. rewrite <- Sum_const.
    apply Sum_ext; intros s Hs.
    rewrite (linear_Sum _ _ _ _ L), (Sum_ext k _ (fun t => delta s t * (sq d x * sq d q)))
      by (intros; now apply (paired_moment P Ex k)). now rewrite (Sum_delta k s (fun _ => sq d x * sq d q)).
Qed.

(** kr-remark-1-scaling
    Covers: a part: the second moment of the logits, for independent factors whose entries have mean 0, variance 1 and are uncorrelated; on the page: the bound on E‖α − 1/T‖₁, its order, and the laws in the limit of many rows.
    Reads: if W_K, W_Q are random and independent (the expectation is that over W_Q, then that over W_K, both linear), each with entries of mean 0 and variance 1 that are uncorrelated, then z = β⟨W_K x, W_Q q⟩ has E z² = β² k ‖x‖² ‖q‖², for matrices of k rows, every x and every q.
    Mistake: `beta * INR k` for `beta ^ 2 * INR k`
    Mistake: `beta ^ 2 * INR (k * k)` for `beta ^ 2 * INR k`
*)
Theorem kr_remark_1_scaling : forall P P' (EK : (P -> R) -> R) (EQ : (P' -> R) -> R) k d beta (K : P -> matrix)
  (Q : P' -> matrix) x q, linear EK -> linear EQ -> standard k d EK K -> standard k d EQ Q ->
  EK (fun o => EQ (fun o' => (beta * dot k (matvec d (K o) x) (matvec d (Q o') q)) ^ 2)) =
  beta ^ 2 * INR k * (sq d x * sq d q).
Proof.
  intros P P' EK EQ k d beta K Q x q LK LQ SK SQ. destruct (standard_pair P P' EK EQ k d K Q LK LQ SK SQ) as [_ M].
  exact (logit_moment (P * P') (fun F => EK (fun o => EQ (fun o' => F (o, o')))) k d beta (fun o => K (fst o))
    (fun o => Q (snd o)) x q (linear_pair P P' EK EQ LK LQ) M).
Qed.

(** the first T − 1 tokens are x, the last is q *)
Definition last_differs (T : nat) (x q : vector) : matrix := fun t => if (t =? T - 1)%nat then q else x.

Lemma last_differs_pooled T d U x q W : (2 <= T)%nat ->
  let r := weights T d (last_differs T x q) q W (T - 1)%nat in
  dot d U (pooled T d (last_differs T x q) q W) = dot d U x - r * dot d U (vminus x q) /\
  r * (1 + INR (T - 1) * exp (dot d (vminus x q) (matvec d W q))) = 1.
Proof.
  intros HT r. set (X := last_differs T x q). set (k := (T - 1)%nat). set (alpha := weights T d X q W) in *.
  assert (H : distribution T alpha) by (apply weights_distribution; lia).
  assert (Xk : X k = q) by (unfold X, last_differs, k; now rewrite Nat.eqb_refl).
  assert (Xt : forall t, t <> k -> X t = x).
  { intros t N. unfold X, last_differs. fold k. destruct (Nat.eqb_spec t k); easy. }
  assert (Hk : (k < T)%nat) by (unfold k; lia). split.
  - unfold pooled. rewrite <- score_split. fold alpha. unfold E. rewrite (Sum_others T k _ Hk), Xk.
    rewrite (others_ext T k _ (fun t => dot d x U * alpha t)) by (intros t _ N; rewrite (Xt t N); ring).
    rewrite others_scal. assert (O := proj2 H). rewrite (Sum_others T k _ Hk) in O. change (alpha k) with r in O |- *.
    replace (others T k alpha) with (1 - r) by lra.
    rewrite (dot_sym d U (vminus x q)), dot_minus_l, (dot_sym d U x). ring.
  - assert (L := leader_weight T (fun t => dot d (X t) (matvec d W q)) k Hk).
    rewrite (others_ext T k _ (fun _ => exp (dot d (vminus x q) (matvec d W q)))) in L.
    + rewrite others_const in L by easy. exact L.
    + intros t _ N. now rewrite (Xt t N), Xk, dot_minus_l.
Qed.

Lemma constant_pooled T d X q W y : (0 < T)%nat -> (forall t i, (t < T)%nat -> (i < d)%nat -> X t i = y i) ->
  forall i, (i < d)%nat -> pooled T d X q W i = y i.
Proof.
  intros HT H i Hi. unfold pooled, attended. rewrite (E_ext _ _ _ (fun _ => y i)) by auto.
  apply E_const. now apply weights_distribution.
Qed.

(** kr-remark-1-narrow
    Covers: a part: 1 and 2; on the page: 3, that heads of large rank are no sums of narrow heads.
    Reads: (1) for q ≠ 0 the matrix (Wq)qᵀ/‖q‖² has rank at most 1 and gives the same head as W, for every input, σ and U. (2) If T ≥ 2, the last token is the query, σ is injective, c, c′ ≠ 0 and U, U′ ≠ 0, and c σ(⟨U, a(X; W)⟩) = c′ σ(⟨U′, a(X; W′)⟩) for all inputs of T tokens in the ball, then W = W′.
    Mistake: without `(forall x y, sigma x = sigma y -> x = y) ->`
    Mistake: without `(2 <= T)%nat ->`
*)
Theorem kr_remark_1_narrow :
  (forall sigma T d X q U W, vnorm d q <> 0 -> let V k l := matvec d W q k * q l / sq d q in
    rank_le d 1 V /\ head sigma T d X q U V = head sigma T d X q U W) /\
  (forall sigma T d c c' U U' W W', (2 <= T)%nat -> (forall x y, sigma x = sigma y -> x = y) ->
    c <> 0 -> c' <> 0 -> vnorm d U <> 0 -> vnorm d U' <> 0 ->
    (forall X, in_ball T d X ->
      c * head sigma T d X (X (T - 1)%nat) U W = c' * head sigma T d X (X (T - 1)%nat) U' W') ->
    forall i j, (i < d)%nat -> (j < d)%nat -> W i j = W' i j).
Proof.
  split.
  - intros sigma T d X q U W Hq V. assert (N : sq d q <> 0) by (rewrite <- norm_sq; now apply pow_nonzero). split.
    + exists (fun _ => matvec d W q), (fun _ l => q l / sq d q). intros i j _ _. unfold V. simpl. field. easy.
    + unfold head. f_equal. apply Sum_ext; intros i _. f_equal. apply Sum_ext; intros t Ht. f_equal.
      apply softmax_same; [|easy]. intros s _. apply Sum_ext; intros k _. f_equal. unfold matvec at 1, V.
      rewrite (Sum_ext d _ (fun l => matvec d W q k / sq d q * q l ^ 2)) by (intros; field; easy).
      rewrite Sum_scal. fold (sq d q). field. easy.
  - intros sigma T d c c' U U' W W' HT Inj Hc _ HU _ H i j Hi Hj.
    assert (Same : forall X, in_ball T d X -> let q := X (T - 1)%nat in
      dot d U (pooled T d X q W) = dot d U (pooled T d X q W')).
    { intros X B q. set (y := pooled T d X q W'). assert (H1 := H X B).
      assert (By : in_ball T d (fun _ => y)).
      { intros t _. apply attended_ball; [apply weights_distribution; lia|easy]. }
      assert (H2 := H (fun _ => y) By). unfold head in H1, H2. fold q y in H1.
      assert (K : forall V A, dot d V (pooled T d (fun _ => y) y A) = dot d V y).
      { intros V A. apply Sum_ext; intros k Hk. f_equal. apply (constant_pooled T d _ _ _ y); try easy. lia. }
      rewrite !K in H2. rewrite <- H1 in H2. apply Rmult_eq_reg_l in H2; [|easy]. now apply Inj. }
    (* the scores of x − q agree *)
    assert (Score : forall b q, vnorm d q <= 1 -> vnorm d (vplus b q) <= 1 -> dot d U b <> 0 ->
      dot d b (matvec d W q) = dot d b (matvec d W' q)).
    { intros b q Nq Nx Ub. set (x := vplus b q). set (X := last_differs T x q).
      assert (B : in_ball T d X) by (intros t _; unfold X, last_differs; destruct (t =? T - 1)%nat; easy).
      assert (S := Same X B). cbv zeta in S. assert (Xq : X (T - 1)%nat = q) by (unfold X, last_differs;
        now rewrite Nat.eqb_refl).
      rewrite Xq in S. unfold X in S.
      destruct (last_differs_pooled T d U x q W HT) as [P1 R1], (last_differs_pooled T d U x q W' HT) as [P2 R2].
      rewrite P1, P2 in S. assert (Q : forall V, dot d V (vminus x q) = dot d V b).
      { intros V. apply Sum_ext; intros k _. unfold vminus, x, vplus. ring. }
      rewrite Q in S. rewrite (dot_sym d (vminus x q)), Q, (dot_sym d _ b) in R1.
      rewrite (dot_sym d (vminus x q)), Q, (dot_sym d _ b) in R2.
      assert (Hr : weights T d (last_differs T x q) q W (T - 1)%nat =
        weights T d (last_differs T x q) q W' (T - 1)%nat).
      { apply (Rmult_eq_reg_r (dot d U b)); [lra|easy]. }
      rewrite Hr in R1. set (r := weights _ _ _ _ W' _) in *. assert (r <> 0) by (intros Z; rewrite Z in R1; lra).
      assert (INR (T - 1) <> 0) by (apply not_0_INR; lia).
      apply exp_inv. apply (Rmult_eq_reg_l (INR (T - 1))); [|easy]. apply (Rmult_eq_reg_l r); [lra|easy]. }
    set (q := vscal (1 / 2) (delta j)). set (b := vscal (1 / 8) (delta i)).
    set (b1 := vscal (1 / 8) (vscal (/ vnorm d U) U)).
    assert (Pu : 0 < vnorm d U) by (assert (G := norm_ge0 d U); lra).
    assert (N1 : vnorm d b1 = 1 / 8).
    { unfold b1. rewrite !norm_scal, (Rabs_right (1 / 8)), (Rabs_right (/ vnorm d U)); [field; lra| |lra].
      left. now apply Rinv_0_lt_compat. }
    assert (Nb : vnorm d b = 1 / 8) by (unfold b; rewrite norm_scal, Rabs_right, delta_unit by (easy || lra); ring).
    assert (Nq : vnorm d q = 1 / 2) by (unfold q; rewrite norm_scal, Rabs_right, delta_unit by (easy || lra); ring).
    assert (U1 : dot d U b1 <> 0).
    { unfold b1. rewrite dot_sym, !dot_scal_l, <- sq_dot, <- norm_sq.
      replace (1 / 8 * (/ vnorm d U * vnorm d U ^ 2)) with (vnorm d U / 8) by (field; lra). lra. }
    assert (Tr := norm_triangle d).
    assert (Z : dot d b (matvec d W q) = dot d b (matvec d W' q)).
    { destruct (Req_dec (dot d U (vplus b b1)) 0) as [Z|Z].
      - apply Score; [lra|specialize (Tr b q); lra|]. rewrite dot_sym, dot_plus_l, !(dot_sym d _ U) in Z. lra.
      - assert (S1 := Score b1 q ltac:(lra) ltac:(specialize (Tr b1 q); lra) U1).
        assert (S2 := Score (vplus b b1) q ltac:(lra)
          ltac:(assert (A := Tr (vplus b b1) q); specialize (Tr b b1); lra) Z).
        rewrite !dot_plus_l in S2. lra. }
    assert (V : forall A, dot d b (matvec d A q) = A i j / 16).
    { intros A. unfold b. rewrite dot_scal_l, dot_sym, dot_delta by easy. unfold matvec, q, vscal.
      rewrite (Sum_ext d _ (fun l => delta j l * (A i l / 2))) by (intros; field).
      rewrite (Sum_delta d j (fun l => A i l / 2)) by easy. field. }
    rewrite !V in Z. lra.
Qed.

(** the outputs of m heads one after another, a vector of m d numbers, and blkdiag(U_1ᵀ, …, U_mᵀ) *)
Definition concatenated (T d : nat) (X : matrix) (q : vector) (W : nat -> matrix) : vector := fun n =>
  pooled T d X q (W (n / d)%nat) (n mod d)%nat.
Definition blkdiag (d : nat) (U : matrix) : matrix := fun i n => if (n / d =? i)%nat then U i (n mod d)%nat else 0.

Lemma Sum_mult m d f : Sum (m * d) f = Sum m (fun i => Sum d (fun k => f (i * d + k)%nat)).
Proof.
  induction m as [|m IH]; [easy|]. replace (S m * d)%nat with (m * d + d)%nat by lia. now rewrite Sum_split, IH.
Qed.

(** kr-remark-2
    Covers: the whole statement.
    Reads: for m heads with outputs concatenated to A(X) in ℝ^{md} and V = blkdiag(U_1ᵀ, …, U_mᵀ): σ((V A)_i) = h(X; U_i, W_i) for i < m, and f = m^(−1/2) ⟨c, σ(V A)⟩.
    Mistake: `matvec d (blkdiag d U) (concatenated T d X q W) j` for `matvec (m * d) (blkdiag d U) (concatenated T d X q W) j`
    Mistake: `sqrt (INR (m * d))` for `sqrt (INR m)`
*)
Theorem kr_remark_2 : forall sigma m T d X q c U W,
  (forall i, (i < m)%nat ->
    sigma (matvec (m * d) (blkdiag d U) (concatenated T d X q W) i) = head sigma T d X q (U i) (W i)) /\
  model sigma m T d X q c U W =
    / sqrt (INR m) * dot m c (fun j => sigma (matvec (m * d) (blkdiag d U) (concatenated T d X q W) j)).
Proof.
  intros sigma m T d X q c U W.
  assert (H : forall i, (i < m)%nat ->
    sigma (matvec (m * d) (blkdiag d U) (concatenated T d X q W) i) = head sigma T d X q (U i) (W i)).
  { intros i Hi. unfold head. f_equal. unfold matvec. rewrite Sum_mult, (Sum_single m _ i Hi).
    - apply Sum_ext; intros k Hk. unfold blkdiag, concatenated.
      rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r, Nat.eqb_refl, Nat.add_comm, Nat.mod_add, Nat.mod_small by lia.
      reflexivity.
    - intros j _ N. rewrite <- (Sum_zero d). apply Sum_ext; intros k Hk. unfold blkdiag.
      rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia. destruct (Nat.eqb_spec j i); [easy|ring]. }
  split; [exact H|]. unfold model. f_equal. apply Sum_ext; intros i Hi. now rewrite H.
Qed.

(** a sum over tokens that are repeated r times each, in any order *)
Lemma Sum_repeated T T' r (place : nat -> nat) g : (forall s, (s < T')%nat -> (place s < T)%nat) ->
  (forall t, (t < T)%nat -> Sum T' (fun s => if (place s =? t)%nat then 1 else 0) = r) ->
  Sum T' (fun s => g (place s)) = r * Sum T g.
Proof.
  intros P R. rewrite (Sum_ext T' _ (fun s => Sum T (fun t => g t * (if (place s =? t)%nat then 1 else 0)))).
  - rewrite Sum_swap, <- Sum_scal. apply Sum_ext; intros t Ht. rewrite Sum_scal, R by easy. ring.
  - intros s Hs. rewrite (Sum_single T _ (place s)); [rewrite Nat.eqb_refl; ring|now apply P|].
    intros t _ N. destruct (Nat.eqb_spec (place s) t); [now subst|ring].
Qed.

Lemma attended_repeated T T' r place z X i : (0 < T)%nat -> 0 < r -> (forall s, (s < T')%nat -> (place s < T)%nat) ->
  (forall t, (t < T)%nat -> Sum T' (fun s => if (place s =? t)%nat then 1 else 0) = r) ->
  attended T' (softmax T' (fun s => z (place s))) (fun s => X (place s)) i = attended T (softmax T z) X i.
Proof.
  intros HT Hr P R. assert (Z := partition_pos T z HT).
  assert (Q : forall n y x, Sum n (fun s => exp (y s)) <> 0 -> attended n (softmax n y) x i =
    Sum n (fun s => exp (y s) * x s i) / Sum n (fun s => exp (y s))).
  { intros n y x N. unfold attended, E, softmax, Rdiv. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring. }
  assert (S1 := Sum_repeated T T' r place (fun t => exp (z t)) P R).
  assert (S2 := Sum_repeated T T' r place (fun t => exp (z t) * X t i) P R). cbv beta in S1, S2.
  rewrite !Q, S1, S2; [field; lra|lra|]. rewrite S1. assert (0 < r * Sum T (fun s => exp (z s))) by now apply
    Rmult_lt_0_compat.
  lra.
Qed.

(** kr-proposition-a
    Covers: the whole statement.
    Reads: (1) if T = 1 or all tokens are equal, then a(X; W) = X_1 for every W. (2) If X′ lists every token of X exactly r ≥ 1 times, in any order, and the query is kept, then f(X′; φ) = f(X; φ). (3) For tokens in the ball and any logits z, if z_k leads every other by at least g, then ‖a − X_k‖ ≤ 2ε/(1 + ε) with ε = (T − 1) e^(−g); for T ≥ 2 equality holds exactly when all other logits are z_k − g, all other tokens are −X_k, and ‖X_k‖ = 1.
    Mistake: `<= eps / (1 + eps)` for `<= 2 * eps / (1 + eps)`
    Mistake: without `in_ball T d X ->`
    Mistake: `(1 <= T)%nat -> (vnorm` for `(2 <= T)%nat -> (vnorm`
*)
Theorem kr_proposition_a :
  (forall T d X q W i, (0 < T)%nat -> (i < d)%nat ->
    T = 1%nat \/ (forall t i, (t < T)%nat -> (i < d)%nat -> X t i = X 0%nat i) -> pooled T d X q W i = X 0%nat i) /\
  (forall sigma m T T' r place d X q c U W, (0 < T)%nat -> (0 < r)%nat ->
    (forall s, (s < T')%nat -> (place s < T)%nat) ->
    (forall t, (t < T)%nat -> Sum T' (fun s => if (place s =? t)%nat then 1 else 0) = INR r) ->
    model sigma m T' d (fun s => X (place s)) q c U W = model sigma m T d X q c U W) /\
  (forall T d X z k g, (k < T)%nat -> in_ball T d X -> (forall t, (t < T)%nat -> t <> k -> z t <= z k - g) ->
    let a := attended T (softmax T z) X in let eps := INR (T - 1) * exp (- g) in
    vnorm d (vminus a (X k)) <= 2 * eps / (1 + eps) /\
    ((2 <= T)%nat -> (vnorm d (vminus a (X k)) = 2 * eps / (1 + eps) <->
      (forall t, (t < T)%nat -> t <> k -> z t = z k - g) /\
      (forall t i, (t < T)%nat -> t <> k -> (i < d)%nat -> X t i = - X k i) /\ vnorm d (X k) = 1))).
Proof.
  split; [|split].
  - intros T d X q W i HT Hi H. apply (constant_pooled T d X q W (X 0%nat) HT); [|easy].
    destruct H as [->|H]; [intros t j Ht _; now replace t with 0%nat by lia|exact H].
  - intros sigma m T T' r place d X q c U W HT Hr P R. unfold model. f_equal. apply Sum_ext; intros j _. f_equal.
    unfold head. f_equal. apply Sum_ext; intros i _. f_equal. unfold pooled, weights.
    apply (attended_repeated T T' (INR r) place (fun t => dot d (X t) (matvec d (W j) q)) X); try easy.
    now apply lt_0_INR.
  - intros T d X z k g Hk B L a eps. assert (HT : (0 < T)%nat) by lia. assert (H := softmax_distribution T z HT).
    set (alpha := softmax T z) in *. destruct (leader_gap T z k g Hk L) as [G1 G2]. fold eps alpha in G1, G2.
    destruct (leader_split T d alpha X k H B Hk) as (W & N & D & _).
    set (w := fun t => if (t =? k)%nat then 0 else alpha t) in *. set (r := attended T w X) in *.
    set (p := alpha k) in *.
    assert (E0 : 0 <= eps) by (apply Rmult_le_pos; [apply pos_INR|left; apply exp_pos]).
    assert (Qe : 2 * eps / (1 + eps) = 2 * (1 - / (1 + eps))) by (field; lra). rewrite Qe.
    set (y := / (1 + eps)) in *. assert (X1 := proj1 (norm_le1 d (X k)) (B k Hk)).
    assert (R2 := norm_sq d r). assert (R0 := norm_ge0 d r). set (rho := vnorm d r) in *.
    assert (V : sq d (vminus a (X k)) = sq d r - 2 * (1 - p) * dot d (X k) r + (1 - p) ^ 2 * sq d (X k)).
    { transitivity (sq d (vminus r (vscal (1 - p) (X k)))).
      - apply Sum_ext; intros i _. f_equal. unfold vminus, vscal, a, r, attended, E. rewrite (Sum_others T k _ Hk).
        fold p. replace (others T k (fun t => alpha t * X t i)) with (Sum T (fun t => w t * X t i)); [ring|].
        apply Sum_ext; intros t _. unfold w. destruct (t =? k)%nat; ring.
      - rewrite sq_minus, sq_scal, (dot_sym d r), dot_scal_l. ring. }
    assert (P1 : 0 <= 1 - p) by lra.
    assert (V1 : (1 - p) * (- dot d (X k) r) <= (1 - p) * rho) by (apply Rmult_le_compat_l; lra).
    assert (V2 : (1 - p) * rho <= (1 - p) * (1 - p)) by (apply Rmult_le_compat_l; lra).
    assert (V3 : rho ^ 2 <= (1 - p) ^ 2) by (apply pow_incr; lra).
    assert (V4 : (1 - p) ^ 2 * sq d (X k) <= (1 - p) ^ 2 * 1) by (apply Rmult_le_compat_l; [apply pow2_ge_0|easy]).
    assert (T1 : vnorm d (vminus a (X k)) <= 2 * (1 - p)) by (apply norm_le; lra).
    split; [lra|]. intros T2. assert (Pos : forall t, (t < T)%nat -> 0 < alpha t) by (intros; now apply softmax_pos).
    assert (Ep : 0 < eps) by (apply Rmult_lt_0_compat; [apply lt_0_INR; lia|apply exp_pos]).
    assert (Py : 0 < 1 - y) by (unfold y; replace (1 - / (1 + eps)) with (eps / (1 + eps)) by (field; lra);
      apply Rdiv_lt_0_compat; lra).
    split.
    + intros Q. assert (Qp : p = y) by lra. assert (Q2 := norm_sq d (vminus a (X k))). rewrite Q, V, <- Qp in Q2.
      rewrite <- Qp in Py. assert (Z1 : (1 - p) ^ 2 * sq d (X k) = (1 - p) ^ 2 * 1) by lra.
      apply Rmult_eq_reg_l in Z1; [|apply pow_nonzero; lra].
      assert (Z2 : (1 - p) * (- dot d (X k) r) = (1 - p) * (1 - p)) by lra. apply Rmult_eq_reg_l in Z2; [|lra].
      split; [now apply G2|]. split; [|now apply norm_eq1].
      intros t i Ht Nt Hi. apply (leader_opposite T d alpha X k H Pos B Hk); try easy. fold w r p. lra.
    + intros (Gz & Gx & Gn). assert (Qp : p = y) by now apply G2. rewrite <- Qp.
      transitivity (vnorm d (vscal (- (2 * (1 - p))) (X k))); [|rewrite norm_scal, Gn, Rabs_Ropp, Rabs_right by lra;
        ring].
      unfold vnorm. f_equal. apply Sum_ext; intros i Hi. f_equal. unfold vminus, vscal, a, attended, E.
      rewrite (Sum_others T k _ Hk). fold p. rewrite (others_ext T k _ (fun t => - X k i * alpha t)).
      * rewrite others_scal. assert (O := proj2 H). rewrite (Sum_others T k _ Hk) in O. fold p in O.
        replace (others T k alpha) with (1 - p) by lra. ring.
      * intros t Ht Nt. rewrite (Gx t i Ht Nt Hi). ring.
Qed.
