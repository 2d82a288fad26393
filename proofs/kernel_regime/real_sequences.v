(** Chapter "Real sequences": short averages have small gradients. *)
Require Import Reals Lra Lia.
From Shallow Require Import base.sums base.vectors base.attention kernel_regime.recurrence.
Open Scope R_scope.

(** σ(z)² + σ′(z)²(‖a‖² + ‖q‖²‖MU‖²) for tanh and z = ⟨U, a⟩: the squared gradient of a head and its readout ±1 *)
Definition gradient2 (d : nat) (a q : vector) (M : matrix) (U : vector) : R :=
  tanh (dot d U a) ^ 2 + (1 - tanh (dot d U a) ^ 2) ^ 2 * (sq d a + sq d q * sq d (matvec d M U)).

(** kr-proposition-d
    Covers: a part: everything for a given W, with Lemma 1 for the squared gradient and any law of U with the second moments of a standard Gaussian; on the page: the mean over W.
    Reads: for all a, q, M, U: tanh(z)² + tanh′(z)²(‖a‖² + ‖q‖²‖MU‖²) ≤ ⟨U, a⟩² + ‖a‖² + ‖q‖²‖MU‖² with z = ⟨U, a⟩, and equality if z = 0. Let Ex be a linear and monotone mean on a class I of functions of U that contains the products U_iU_j, and Ex U_iU_j = 1 for i = j and 0 else; then the mean of the left side, if it is in I, is at most 2‖a‖² + ‖q‖²‖M‖²_F.
    Mistake: `<= sq d a + sq d q * frob2 d d M` for `<= 2 * sq d a + sq d q * frob2 d d M`
    Mistake: `dot d U a = 1 ->` for `dot d U a = 0 ->`
*)
Theorem kr_proposition_d : forall d a q M,
  (forall U, gradient2 d a q M U <= dot d U a ^ 2 + sq d a + sq d q * sq d (matvec d M U) /\
    (dot d U a = 0 -> gradient2 d a q M U = dot d U a ^ 2 + sq d a + sq d q * sq d (matvec d M U))) /\
  forall (I : (vector -> R) -> Prop) (Ex : (vector -> R) -> R),
  (forall F G, (forall U, F U = G U) -> I F -> I G /\ Ex F = Ex G) ->
  (forall F G, I F -> I G -> I (fun U => F U + G U) /\ Ex (fun U => F U + G U) = Ex F + Ex G) ->
  (forall c F, I F -> I (fun U => c * F U) /\ Ex (fun U => c * F U) = c * Ex F) ->
  (forall F G, I F -> I G -> (forall U, F U <= G U) -> Ex F <= Ex G) -> I (fun _ => 1) -> Ex (fun _ => 1) = 1 ->
  (forall i j, I (fun U => U i * U j) /\ Ex (fun U => U i * U j) = if Nat.eq_dec i j then 1 else 0) ->
  I (gradient2 d a q M) -> Ex (gradient2 d a q M) <= 2 * sq d a + sq d q * frob2 d d M.
Proof.
  intros d a q M. assert (P : forall U, 0 <= sq d a + sq d q * sq d (matvec d M U)).
  { intros U. apply Rplus_le_le_0_compat; [apply sq_ge0|]. apply Rmult_le_pos; apply sq_ge0. }
  assert (A : forall U, gradient2 d a q M U <= dot d U a ^ 2 + sq d a + sq d q * sq d (matvec d M U)).
  { intros U. unfold gradient2. set (z := dot d U a). specialize (P U).
    set (y := sq d a + sq d q * sq d (matvec d M U)) in *.
    assert (B := tanh_bound z). assert (T : tanh z ^ 2 <= z ^ 2).
    { assert (Q : forall u, 0 <= u -> tanh u ^ 2 <= u ^ 2).
      { intros u Hu. apply pow_incr. split; [|now apply tanh_le]. rewrite <- tanh_0. destruct Hu as [Hu|<-]; [|lra].
        left. now apply tanh_incr. }
      destruct (Rle_dec 0 z) as [Z|Z]; [now apply Q|]. specialize (Q (- z) ltac:(lra)). rewrite tanh_odd in Q.
      replace ((- tanh z) ^ 2) with (tanh z ^ 2) in Q by ring. replace ((- z) ^ 2) with (z ^ 2) in Q by ring. exact Q. }
    assert (V0 : 0 <= (1 - tanh z) * (1 + tanh z)) by (apply Rmult_le_pos; lra).
    assert (V : 0 <= tanh z ^ 2 <= 1).
    { split; [apply pow2_ge_0|]. replace (tanh z ^ 2) with (1 - (1 - tanh z) * (1 + tanh z)) by ring. lra. }
    assert (S : (1 - tanh z ^ 2) ^ 2 <= 1 ^ 2) by (apply pow_incr; lra). rewrite pow1 in S.
    assert ((1 - tanh z ^ 2) ^ 2 * y <= 1 * y) by now apply Rmult_le_compat_r.
    replace (z ^ 2 + sq d a + sq d q * sq d (matvec d M U)) with (z ^ 2 + y) by (unfold y; ring). lra. }
  split.
  - intros U. split; [apply A|]. intros Z. unfold gradient2. rewrite Z, tanh_0. ring.
  - intros I Ex He Hp Hs Hm I1 E1 H2 HI.
    assert (Z : I (fun _ => 0) /\ Ex (fun _ => 0) = 0).
    { destruct (Hs 0 _ I1) as [Q1 Q2]. destruct (He (fun _ => 0 * 1) (fun _ => 0) ltac:(intros; cbn beta; ring) Q1) as
      [R1 R2].
      split; [easy|]. rewrite <- R2, Q2. ring. }
    assert (HS : forall n (F : nat -> vector -> R), (forall i, I (F i)) ->
      I (fun U => Sum n (fun i => F i U)) /\ Ex (fun U => Sum n (fun i => F i U)) = Sum n (fun i => Ex (F i))).
    { intros n F HF. induction n; cbn [Sum]; [exact Z|]. destruct IHn as [J1 J2].
      destruct (Hp _ _ J1 (HF n)) as [K1 K2].
      split; [exact K1|]. now rewrite K2, J2. }
    assert (HQ : forall b, I (fun U => dot d U b ^ 2) /\ Ex (fun U => dot d U b ^ 2) = sq d b).
    { intros b. assert (T : forall i j, I (fun U => b i * b j * (U i * U j)) /\ Ex (fun U => b i * b j * (U i * U j)) =
        b i * b j * (if Nat.eq_dec i j then 1 else 0)).
      { intros i j. destruct (H2 i j) as [J1 J2]. destruct (Hs (b i * b j) _ J1) as [K1 K2]. split; [easy|].
        now rewrite K2, J2. }
      destruct (HS d (fun i U => Sum d (fun j => b i * b j * (U i * U j)))) as [J1 J2].
      { intros i. apply (HS d (fun j U => b i * b j * (U i * U j))). intros j. apply T. }
      assert (L : forall U, Sum d (fun i => Sum d (fun j => b i * b j * (U i * U j))) = dot d U b ^ 2).
      { intros U. unfold dot. simpl. rewrite Rmult_1_r, <- Sum_scal. apply Sum_ext; intros i _.
        rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros j _. ring. }
      destruct (He _ (fun U => dot d U b ^ 2) L J1) as [K1 K2].
      split; [easy|]. etransitivity; [symmetry; exact K2|]. etransitivity; [exact J2|]. apply Sum_ext; intros i Hi.
      destruct (HS d (fun j U => b i * b j * (U i * U j)) ltac:(intros; apply T)) as [_ L2]. rewrite L2.
      rewrite (Sum_single d _ i Hi).
      - destruct (T i i) as [_ ->]. destruct (Nat.eq_dec i i); [ring|easy].
      - intros j _ N. destruct (T i j) as [_ ->]. destruct (Nat.eq_dec i j); [now subst|ring]. }
    destruct (HQ a) as [Ia Ea].
    destruct (HS d (fun k U => dot d U (M k) ^ 2) ltac:(intros; apply HQ)) as [Im Em].
    destruct (Hs (sq d q) _ Im) as [Iq Eq]. destruct (Hs (sq d a) _ I1) as [Ic Ec].
    destruct (Hp _ _ Ia Ic) as [J1 J2]. destruct (Hp _ _ J1 Iq) as [K1 K2].
    eapply Rle_trans; [apply (Hm _ _ HI K1)|].
    + intros U. eapply Rle_trans; [apply A|]. apply Req_le. rewrite Rmult_1_r. do 2 f_equal.
      apply Sum_ext; intros k _. f_equal. apply dot_sym.
    + rewrite K2, J2, Ea, Ec, E1, Eq, Em. rewrite (Sum_ext d _ (fun k => sq d (M k))) by (intros; apply HQ).
      unfold frob2, sq. lra.
Qed.
