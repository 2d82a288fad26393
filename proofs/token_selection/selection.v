(** Attention as token selection: scores, the infimum of the loss, the SVM of attention, gradients, assumptions. *)
Require Import Reals Lra Lia Psatz Arith.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.matrices base.samples.
Open Scope R_scope.

(** ts-definition-1
    Covers: the whole statement, a definition, with the two facts that the page derives from it at once.
    Reads: if opt_i is the only token of sample i with the largest score γ_it = y_i⟨u, x_it⟩, no other index has this property; for every W, y_i f_i is the average Σ φ_it γ_it of scores and is below γ_opt; and 1 − φ_opt = (1 + 1 / Σ exp(− h_it))⁻¹, the sum over t ≠ opt_i.
    Mistake: `score D i (opt D i) < lab D i * answer D W i` for `lab D i * answer D W i < score D i (opt D i)`
    Mistake: `/ (1 + others D i (fun t => exp (- gap D W i t)))` for `/ (1 + / others D i (fun t => exp (- gap D W i t)))`
*)
Theorem ts_definition_1 : forall D W i, proper D -> (i < num D)%nat ->
  (forall o, (o < len D)%nat -> (forall t, (t < len D)%nat -> t <> o -> score D i t < score D i o) -> o = opt D i) /\
  lab D i * answer D W i = Sum (len D) (fun t => phi D W i t * score D i t) /\
  lab D i * answer D W i < score D i (opt D i) /\
  1 - phi D W i (opt D i) = / (1 + / others D i (fun t => exp (- gap D W i t))).
Proof.
  intros D W i P Hi. assert (P' := P). destruct P' as [_ [HT HP]]. destruct (HP i Hi) as [_ [Ho Hs]].
  split; [|split; [|split]].
  - intros o Ho2 H. destruct (Nat.eq_dec o (opt D i)) as [|N]; [easy|].
    assert (score D i o < score D i (opt D i)) by (apply Hs; repeat split; easy).
    assert (score D i (opt D i) < score D i o) by (apply H; [easy|congruence]). lra.
  - apply answer_average.
  - destruct (some_pair D i P Hi) as [t Ht]. assert (Q := answer_below D W i Ho). destruct Ht as [_ [Ht1 Ht2]].
    assert (Q2 := others_term D i (fun t => phi D W i t * (score D i (opt D i) - score D i t)) t Ht1 Ht2).
    assert (Q3 : forall t, (t < len D)%nat -> t <> opt D i -> 0 < phi D W i t * (score D i (opt D i) - score D i t)).
    { intros s Hs1 Hs2. apply Rmult_lt_0_compat; [apply phi_pos; lia|].
      assert (score D i s < score D i (opt D i)) by (apply Hs; repeat split; easy). lra. }
    assert (Q4 := Q3 t Ht1 Ht2). assert (Q5 := Q2 ltac:(intros; left; auto)). cbv beta in Q5. lra.
  - destruct (some_pair D i P Hi) as [t Ht]. assert (Q := others_exp_pos D W i t Ht).
    assert (0 < exp (- gap D W i t)) by apply exp_pos. assert (Q2 := phi_opt D W i Ho).
    set (S := others D i (fun t => exp (- gap D W i t))) in *.
    replace (phi D W i (opt D i)) with (/ (1 + S)) by (field_simplify_eq; [|lra]; lra). field. lra.
Qed.

(** r = max_i (1 − φ_opt) *)
Definition unselected (D : data) (W : matrix) : R -> Prop :=
  largest (fun x => exists i, (i < num D)%nat /\ x = 1 - phi D W i (opt D i)).

Lemma phi_le1 D W i : (opt D i < len D)%nat -> 0 < phi D W i (opt D i) <= 1.
Proof.
  intros H. assert (Q := phi_others D W i H). assert (0 <= others D i (phi D W i)).
  { apply others_ge0. intros. left. apply phi_pos. lia. }
  split; [apply phi_pos; lia|lra].
Qed.

Lemma three_ge0 a b c : 0 <= a -> 0 <= b -> 0 <= c -> 0 <= a * (b * c).
Proof. intros. apply Rmult_le_pos; [easy|]. now apply Rmult_le_pos. Qed.

(** What sample i adds to n times the excess of the loss over its infimum, from both sides *)
Lemma sample_two_sides D W i low high : (opt D i < len D)%nat ->
  (forall t, (t < len D)%nat -> t <> opt D i ->
    low <= (score D i (opt D i) - score D i t) * exp (- score D i (opt D i))) ->
  (forall t, (t < len D)%nat -> t <> opt D i -> (score D i (opt D i) - score D i t) * exp (- score D i t) <= high) ->
  low * (1 - phi D W i (opt D i)) <= sample_loss D W i - exp (- score D i (opt D i))
    <= high * (1 - phi D W i (opt D i)).
Proof.
  intros Ho Hl Hh. assert (HT : (0 < len D)%nat) by lia. rewrite <- (phi_others D W i Ho), <- !others_scal.
  assert (B := answer_below D W i Ho). unfold sample_loss. set (f := lab D i * answer D W i) in *.
  set (g := score D i (opt D i)) in *. split.
  - apply Rle_trans with (exp (- g) * (g - f)).
    + rewrite B, <- others_scal. apply others_le. intros t Ht Hn. assert (Q := Hl t Ht Hn).
      assert (Q2 := phi_pos D W i t HT).
      assert (0 <= phi D W i t * ((g - score D i t) * exp (- g) - low)) by (apply Rmult_le_pos; lra). lra.
    + assert (Q := exp_ineq1_le (g - f)). assert (0 < exp (- g)) by apply exp_pos.
      replace (- f) with (- g + (g - f)) by ring. rewrite exp_plus.
      assert (0 <= exp (- g) * (exp (g - f) - (1 + (g - f)))) by (apply Rmult_le_pos; lra). lra.
  - assert (J : exp (- f) <= Sum (len D) (fun t => phi D W i t * exp (- score D i t))).
    { destruct (phi_distribution D W i HT) as [_ Q]. apply Rle_trans with
        (Sum (len D) (fun t => exp (- f) * (1 + f) * phi D W i t - exp (- f) * (phi D W i t * score D i t))).
      - rewrite Sum_minus, !Sum_scal, Q. assert (Q2 := answer_average D W i). fold f in Q2. unfold E in Q2.
        rewrite <- Q2. lra.
      - apply Sum_le. intros t Ht. assert (Q2 := phi_pos D W i t HT).
        assert (Q3 := exp_ineq1_le (f - score D i t)). assert (0 < exp (- f)) by apply exp_pos.
        replace (- score D i t) with (- f + (f - score D i t)) by ring. rewrite exp_plus.
        assert (0 <= phi D W i t * (exp (- f) * (exp (f - score D i t) - (1 + (f - score D i t))))) by
          (apply three_ge0; lra). lra. }
    rewrite (others_split D i _ Ho) in J. cbv beta in J. fold g in J. assert (Q := phi_others D W i Ho).
    apply Rle_trans with (others D i (fun t => phi D W i t * exp (- score D i t) + - exp (- g) * phi D W i t)).
    + rewrite others_plus, others_scal, Q. lra.
    + apply others_le. intros t Ht Hn. assert (Q1 := Hh t Ht Hn). assert (Q2 := phi_pos D W i t HT).
      assert (Q3 := exp_ineq1_le (score D i t - g)). assert (0 < exp (- score D i t)) by apply exp_pos.
      replace (- g) with (- score D i t + (score D i t - g)) by ring. rewrite exp_plus.
      assert (0 <= phi D W i t * (exp (- score D i t) * (exp (score D i t - g) - (1 + (score D i t - g))))) by
        (apply three_ge0; lra).
      assert (0 <= phi D W i t * (high - (g - score D i t) * exp (- score D i t))) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma loss_infimum D W : loss D W - infimum D =
  / INR (num D) * Sum (num D) (fun i => sample_loss D W i - exp (- score D i (opt D i))).
Proof. unfold loss, infimum. rewrite Sum_minus. ring. Qed.

Lemma num_pos D : proper D -> 0 < / INR (num D).
Proof. intros [H _]. apply Rinv_0_lt_compat, lt_0_INR. lia. Qed.

Lemma psi_min_pos D pm : proper D -> psi_min D pm -> 0 < pm.
Proof.
  intros [_ [_ H]] [[i [t [Hp ->]]] _]. apply Rmult_lt_0_compat; [|apply exp_pos].
  assert (Q := proj2 (proj2 (H i (proj1 Hp))) t Hp). lra.
Qed.

(** ts-definition-1-infimum
    Covers: the whole statement.
    Reads: for n ≥ 1 samples of T ≥ 2 tokens, each with one optimal token, and every W: with 𝓛* = (1/n) Σ exp(− γ_opt), r = max_i (1 − φ_opt), Ψ_min = min over pairs of (γ_opt − γ_t) exp(− γ_opt) and Ψ_max = max over tokens of (γ_opt − γ_t) exp(− γ_t), (Ψ_min / n) r ≤ 𝓛(W) − 𝓛* ≤ Ψ_max r.
    Mistake: `2 * (low / INR (num D)) * r <=` for `low / INR (num D) * r <=`
    Mistake: `<= high / INR (num D) * r` for `<= high * r`
*)
Theorem ts_definition_1_infimum : forall D W low high r,
  proper D -> psi_min D low -> psi_max D high -> unselected D W r ->
  low / INR (num D) * r <= loss D W - infimum D <= high * r.
Proof.
  intros D W low high r P Hl Hh [[j [Hj ->]] Hr]. assert (P' := P). destruct P' as [_ [_ HP]].
  assert (Hn := num_pos D P). assert (Pm := psi_min_pos D low P Hl). destruct Hl as [_ Hl]. destruct Hh as [_ Hh].
  assert (B : forall i, (i < num D)%nat -> low * (1 - phi D W i (opt D i)) <=
    sample_loss D W i - exp (- score D i (opt D i)) <= high * (1 - phi D W i (opt D i))).
  { intros i Hi. destruct (HP i Hi) as [_ [Ho _]]. apply sample_two_sides; [easy| |].
    - intros t Ht Hn'. apply Hl. exists i, t. repeat split; easy.
    - intros t Ht _. apply Hh. exists i, t. repeat split; easy. }
  assert (B0 : forall i, (i < num D)%nat -> 0 <= 1 - phi D W i (opt D i)).
  { intros i Hi. destruct (HP i Hi) as [_ [Ho _]]. assert (Q := phi_le1 D W i Ho). lra. }
  rewrite loss_infimum. split.
  - assert (Q := Sum_term (num D) (fun i => sample_loss D W i - exp (- score D i (opt D i))) j Hj). cbv beta in Q.
    assert (Q2 : forall i, (i < num D)%nat -> 0 <= sample_loss D W i - exp (- score D i (opt D i))).
    { intros i Hi. eapply Rle_trans; [|apply B, Hi]. apply Rmult_le_pos; [lra|auto]. }
    assert (Q3 := proj1 (B j Hj)). unfold Rdiv. rewrite Rmult_assoc, (Rmult_comm low), Rmult_assoc.
    apply Rmult_le_compat_l; [lra|]. specialize (Q Q2). lra.
  - assert (Hh0 : 0 <= high).
    { apply Rle_trans with ((score D j (opt D j) - score D j (opt D j)) * exp (- score D j (opt D j))); [lra|].
      apply Hh. exists j, (opt D j). destruct (HP j Hj) as [_ [Ho _]]. repeat split; easy. }
    apply Rle_trans with (/ INR (num D) * Sum (num D) (fun _ => high * (1 - phi D W j (opt D j)))).
    + apply Rmult_le_compat_l; [lra|]. apply Sum_le. intros i Hi. eapply Rle_trans; [apply B, Hi|].
      apply Rmult_le_compat_l; [easy|]. apply Hr. now exists i.
    + rewrite Sum_const. assert (0 < INR (num D)) by (apply lt_0_INR; lia). right. field. lra.
Qed.

(** Σ λ_k E_k *)
Definition support (D : data) (lam : matrix) : matrix := fun a b => pairs D (fun i t => lam i t * Ek D i t a b).

(** λ are multipliers of W: λ ≥ 0, W = Σ λ_k E_k, all gaps are at least 1, and λ_k = 0 wherever the gap exceeds 1 *)
Definition multipliers_of (D : data) (lam W : matrix) : Prop := (forall i t, pair D i t -> 0 <= lam i t) /\
  (forall a b, (a < dim D)%nat -> (b < dim D)%nat -> W a b = support D lam a b) /\ separates D W /\
  forall i t, pair D i t -> 1 < gap D W i t -> lam i t = 0.

(** G_kl = ⟨d_k, d_l⟩ ⟨q_k, q_l⟩ with d = x_opt − x_t and q = x_i1, and the dual objective 2 Σ λ_k − λᵀ G λ *)
Definition gram (D : data) (i t j s : nat) : R :=
  dot (dim D) (vminus (tok D i (opt D i)) (tok D i t)) (vminus (tok D j (opt D j)) (tok D j s)) *
  dot (dim D) (tok D i 0%nat) (tok D j 0%nat).

Lemma gram_Ek D i t j s : gram D i t j s = fdot (dim D) (dim D) (Ek D i t) (Ek D j s).
Proof.
  unfold gram, fdot, Ek, dot, vminus. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros a _.
  rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros; ring.
Qed.

Lemma mdot_support D lam V : fdot (dim D) (dim D) (support D lam) V = pairs D (fun i t => lam i t * gap D V i t).
Proof. unfold support. rewrite mdot_pairs. apply pairs_ext. intros. now rewrite gap_Ek. Qed.

Lemma gap_ext D V W i t : (forall a b, (a < dim D)%nat -> (b < dim D)%nat -> V a b = W a b) ->
  gap D V i t = gap D W i t.
Proof. intros H. rewrite !gap_Ek, !(fdot_sym _ _ (Ek D i t)). now apply fdot_ext_l. Qed.

(** What multipliers say of every other matrix *)
Lemma multipliers_pair D lam W V : multipliers_of D lam W ->
  fdot (dim D) (dim D) V W = pairs D (fun i t => lam i t * gap D V i t).
Proof. intros [_ [H _]]. rewrite fdot_sym, (fdot_ext_l _ _ _ _ V H). apply mdot_support. Qed.

Lemma multipliers_norm D lam W : multipliers_of D lam W -> frob2 (dim D) (dim D) W = pairs D lam.
Proof.
  intros H. rewrite frob2_fdot, (multipliers_pair D lam W W H). apply pairs_ext. intros i t Hp.
  destruct H as [_ [_ [H1 H2]]]. destruct (Req_dec (gap D W i t) 1) as [->|N]; [ring|].
  rewrite (H2 i t Hp); [ring|]. assert (Q := H1 i t Hp). lra.
Qed.

Lemma multipliers_shortest D lam W V : multipliers_of D lam W -> separates D V -> pairs D lam <= fdot (dim D) (dim D)
  V W.
Proof.
  intros H S. rewrite (multipliers_pair D lam W V H). apply pairs_le. intros i t Hp. assert (Q := S i t Hp).
  destruct H as [H _]. assert (Q2 := H i t Hp). nra.
Qed.

Lemma multipliers_solution D lam W : multipliers_of D lam W -> solution D W.
Proof.
  intros H. split; [apply H|]. intros V S. assert (Q := multipliers_shortest D lam W V H S).
  assert (Q2 := multipliers_norm D lam W H). rewrite <- Q2 in Q. apply fnorm_le.
  assert (Q3 := frob2_ge0 (dim D) (dim D) (shifted V W (-1))). rewrite frob2_shifted in Q3. lra.
Qed.

(** Of finitely many numbers one is the least. *)
Lemma finite_least N (P : nat -> Prop) (f : nat -> R) : (forall k, P k \/ ~ P k) -> (exists k, (k < N)%nat /\ P k) ->
  exists k, (k < N)%nat /\ P k /\ forall j, (j < N)%nat -> P j -> f k <= f j.
Proof.
  intros Dec. induction N as [|N IH]; intros [k [Hk Pk]]; [lia|].
  destruct (Dec N) as [PN|PN].
  - assert (C : (exists k, (k < N)%nat /\ P k) \/ forall j, (j < N)%nat -> ~ P j).
    { clear - Dec. induction N as [|N [[k [A B]]|IH]]; [right; intros; lia|left; exists k; split; [lia|easy]|].
      destruct (Dec N); [left; exists N; split; [lia|easy]|]. right. intros j Hj.
      destruct (Nat.eq_dec j N) as [->|]; [easy|apply IH; lia]. }
    destruct C as [C|C].
    + destruct (IH C) as [m [A [B M]]]. destruct (Rle_lt_dec (f m) (f N)).
      * exists m. split; [lia|split; [easy|]]. intros j Hj Pj.
        destruct (Nat.eq_dec j N) as [->|]; [easy|apply M; [lia|easy]].
      * exists N. split; [lia|split; [easy|]]. intros j Hj Pj. destruct (Nat.eq_dec j N) as [->|]; [lra|].
        assert (f m <= f j) by (apply M; [lia|easy]). lra.
    + exists N. split; [lia|split; [easy|]]. intros j Hj Pj. destruct (Nat.eq_dec j N) as [->|]; [lra|].
      exfalso. apply (C j); [lia|easy].
  - destruct IH as [m [A [B M]]].
    { exists k. split; [|easy]. destruct (Nat.eq_dec k N) as [->|]; [easy|lia]. }
    exists m. split; [lia|split; [easy|]]. intros j Hj Pj.
      destruct (Nat.eq_dec j N) as [->|]; [easy|apply M; [lia|easy]].
Qed.

Lemma pair_least D (f : nat -> nat -> R) : proper D ->
  exists i t, pair D i t /\ forall j s, pair D j s -> f i t <= f j s.
Proof.
  intros P. assert (HT : (0 < len D)%nat) by (destruct P as [_ [HT _]]; lia). set (T := len D) in *.
  assert (ID : forall i t, (t < T)%nat -> ((i * T + t) / T)%nat = i /\ ((i * T + t) mod T)%nat = t).
  { intros i t Ht. split; [symmetry; apply (Nat.div_unique _ _ _ t); lia|symmetry; apply (Nat.mod_unique _ _ i); lia]. }
  destruct (finite_least (num D * T) (fun k => pair D (k / T) (k mod T)) (fun k => f (k / T)%nat (k mod T)%nat))
    as [k [_ [B M]]].
  - intros k. unfold pair. destruct (lt_dec (k / T) (num D)), (lt_dec (k mod T) (len D)), (Nat.eq_dec (k mod T)
    (opt D (k / T)));
      tauto.
  - destruct (some_pair D 0 P) as [t Ht]; [destruct P; lia|]. exists (0 * T + t)%nat.
    assert (Ht' := Ht). destruct Ht' as [H1 [H2 _]]. fold T in H2. destruct (ID 0%nat t H2) as [-> ->].
      split; [nia|easy].
  - exists (k / T)%nat, (k mod T). split; [easy|]. intros j s Hp. assert (Hp' := Hp). destruct Hp' as [H1 [H2 _]].
    fold T in H2. assert (Q := M (j * T + s)%nat). destruct (ID j s H2) as [E1 E2]. rewrite E1, E2 in Q.
    apply Q; [nia|easy].
Qed.

(** ⟨W, W_mm⟩ / ‖W_mm‖² written with the cosine *)
Lemma corr_mdot d V W : 0 < fnorm d d V -> 0 < fnorm d d W -> fnorm d d V / fnorm d d W * corr d V W * frob2 d d W =
  fdot d d V W.
Proof. intros H1 H2. rewrite <- fnorm_sq. unfold corr. field. split; lra. Qed.

Lemma smallest_gap D V W : proper D -> solution D W -> 0 < fnorm (dim D) (dim D) V ->
  exists i t, pair D i t /\ (forall j s, pair D j s -> gap D V i t <= gap D V j s) /\
    gap D V i t <= fnorm (dim D) (dim D) V / fnorm (dim D) (dim D) W * corr (dim D) V W.
Proof.
  intros P S HV. destruct (pair_least D (gap D V) P) as [i [t [Hp M]]]. exists i, t. split; [easy|]. split; [easy|].
  assert (Q := average D V W _ S M). assert (HW := solution_pos D W P (proj1 S)).
  rewrite <- (corr_mdot (dim D) V W HV HW) in Q. apply Rmult_le_reg_r in Q; [easy|].
  rewrite <- fnorm_sq. now apply pow_lt.
Qed.

Lemma mnorm_scale d c A : fnorm d d (fun a b => c * A a b) = Rabs c * fnorm d d A.
Proof. rewrite !fnorm_flat. apply (norm_scal (d * d) c (flat d A)). Qed.

Lemma gap_scale D c W i t : gap D (fun a b => c * W a b) i t = c * gap D W i t.
Proof.
  rewrite !gap_Ek. unfold fdot. rewrite <- Sum_scal. apply Sum_ext. intros. rewrite <- Sum_scal. apply Sum_ext.
    intros; ring.
Qed.

Lemma mnorm_zero d A : (forall a b, (a < d)%nat -> (b < d)%nat -> A a b = 0) -> fnorm d d A = 0.
Proof.
  intros H. unfold fnorm, frob2. rewrite (Sum_ext d _ (fun _ => 0)); [now rewrite Sum_zero, sqrt_0|]. intros a Ha.
  rewrite (Sum_ext d _ (fun _ => 0)); [apply Sum_zero|]. intros b Hb. rewrite H by easy. ring.
Qed.

(** the smallest gap at W is h *)
Definition worst_gap (D : data) (W : matrix) : R -> Prop := least (fun h => exists i t, pair D i t /\ h = gap D W i t).

Lemma frob2_rank1 d c u v : frob2 d d (fun a b => c * (u a * v b)) = c ^ 2 * (sq d u * sq d v).
Proof.
  unfold frob2. rewrite (Sum_ext d _ (fun a => c ^ 2 * sq d v * u a ^ 2)).
  - rewrite Sum_scal. unfold sq. ring.
  - intros a _. unfold sq. rewrite <- Sum_scal, Rmult_comm, <- Sum_scal. apply Sum_ext. intros; ring.
Qed.

(** off(h) = 1 / (1 + exp h) *)
Definition off (h : R) : R := / (1 + exp h).

Lemma off_unselected D W i s : (opt D i < len D)%nat -> exp (- s) <= others D i (fun t => exp (- gap D W i t)) ->
  off s <= 1 - phi D W i (opt D i).
Proof.
  intros Ho H. assert (Q := phi_opt D W i Ho). assert (Q2 := phi_le1 D W i Ho). set (p := phi D W i (opt D i)) in *.
  assert (0 < exp s) by apply exp_pos. rewrite exp_Ropp in H. unfold off. apply Rmult_le_reg_r with (1 + exp s); [lra|].
  rewrite Rinv_l by lra. set (S := others D i (fun t => exp (- gap D W i t))) in *.
  assert (p * / exp s <= p * S) by (apply Rmult_le_compat_l; lra).
  assert ((p * / exp s) * exp s = p) by (field; lra).
    assert (p * / exp s * exp s <= p * S * exp s) by (apply Rmult_le_compat_r; lra).
  replace (p * S) with (1 - p) in * by lra. lra.
Qed.

Lemma unselected_off D W i s : (opt D i < len D)%nat -> others D i (fun t => exp (- gap D W i t)) <= exp (- s) ->
  1 - phi D W i (opt D i) <= off s.
Proof.
  intros Ho H. assert (Q := phi_opt D W i Ho). assert (Q2 := phi_le1 D W i Ho). set (p := phi D W i (opt D i)) in *.
  assert (0 < exp s) by apply exp_pos. rewrite exp_Ropp in H. unfold off. apply Rmult_le_reg_r with (1 + exp s); [lra|].
  rewrite Rinv_l by lra. set (S := others D i (fun t => exp (- gap D W i t))) in *.
  assert (p * S <= p * / exp s) by (apply Rmult_le_compat_l; lra).
  assert ((p * / exp s) * exp s = p) by (field; lra).
    assert (p * S * exp s <= p * / exp s * exp s) by (apply Rmult_le_compat_r; lra).
  replace (p * S) with (1 - p) in * by lra. lra.
Qed.

Lemma unselected_exists D W : proper D -> exists r, unselected D W r.
Proof.
  intros [Pn _]. destruct (finite_least (num D) (fun _ => True) (fun i => - (1 - phi D W i (opt D i))))
    as [k [Hk [_ M]]].
  - tauto.
  - exists 0%nat. split; [lia|easy].
  - exists (1 - phi D W k (opt D k)). split; [now exists k|]. intros x [i [Hi ->]]. assert (Q := M i Hi I). lra.
Qed.

Lemma off_decreasing g h : g <= h -> off h <= off g.
Proof.
  intros H. assert (0 < exp g) by apply exp_pos. apply Rinv_le_contravar; [lra|].
  destruct H as [H| ->]; [|lra]. apply exp_increasing in H. lra.
Qed.

(** The loss is bounded below through any one gap. *)
Lemma psi_max_exists D : proper D -> exists high, psi_max D high.
Proof.
  intros P. destruct (finite_least (num D * len D) (fun _ => True) (fun k => - ((score D (k / len D)
    (opt D (k / len D)) -
    score D (k / len D) (k mod len D)) * exp (- score D (k / len D) (k mod len D))))) as [k [Hk [_ M]]].
  - tauto.
  - exists 0%nat. destruct P as [A [B _]]. split; [nia|easy].
  - assert (HT : (0 < len D)%nat) by nia.
    exists ((score D (k / len D) (opt D (k / len D)) - score D (k / len D) (k mod len D))
      * exp (- score D (k / len D) (k mod len D))).
    split.
    + exists (k / len D)%nat, (k mod len D)%nat. split; [|split; [|easy]].
      * apply Nat.div_lt_upper_bound; lia.
      * apply Nat.mod_upper_bound. lia.
    + intros x [j [s [Hj [Hs ->]]]]. assert (Q := M (j * len D + s)%nat ltac:(nia) I).
      rewrite <- (Nat.div_unique (j * len D + s) (len D) j s) in Q by lia.
      rewrite <- (Nat.mod_unique (j * len D + s) (len D) j s) in Q by lia. lra.
Qed.

Lemma loss_above_gap D W low i t : proper D -> psi_min D low -> pair D i t ->
  low / INR (num D) * off (gap D W i t) <= loss D W - infimum D.
Proof.
  intros P Hl Hp. destruct (unselected_exists D W P) as [r Hr]. assert (P' := P). destruct P' as [_ [_ HP]].
  destruct (psi_max_exists D P) as [high Hh]. destruct (ts_definition_1_infimum D W low high r P Hl Hh Hr) as [Q _].
  eapply Rle_trans; [|exact Q]. destruct (HP i (proj1 Hp)) as [_ [Ho _]]. apply Rmult_le_compat_l.
  - assert (Q2 := psi_min_pos D low P Hl). assert (Q3 := num_pos D P). unfold Rdiv. apply Rmult_le_pos; lra.
  - eapply Rle_trans; [|apply Hr; exists i; split; [apply Hp|easy]]. apply off_unselected; [easy|].
    now apply others_exp_pos.
Qed.

Lemma ln_exp_opp T s : (2 <= T)%nat -> exp (- (s - ln (INR T - 1))) = (INR T - 1) * exp (- s).
Proof.
  intros H. assert (2 <= INR T) by (apply (le_INR 2); easy).
    replace (- (s - ln (INR T - 1))) with (ln (INR T - 1) + - s) by ring.
  rewrite exp_plus, exp_ln by lra. easy.
Qed.

(** ts-definition-1-path
    Covers: the whole statement.
    Reads: let W_mm be the solution of (W-SVM), off(h) = 1/(1 + e^h), Υ = Ψ_max/Ψ_min and R Ŵ = (R/‖W_mm‖) W_mm. Then 𝓛(W) − 𝓛* ≥ (Ψ_min/n) off((‖W‖/‖W_mm‖) corr(W, W_mm)) for every W ≠ 0 and 𝓛(R Ŵ) − 𝓛* ≤ Ψ_max off(R/‖W_mm‖ − log(T − 1)) for every R > 0; if R ≥ ‖W_mm‖ log(2n(T − 1)Υ), then every W with ‖W‖ ≤ R and 𝓛(W) ≤ 𝓛(R Ŵ), so also a minimiser of the loss among matrices of norm at most R, is not 0 and has 1 − corr ≤ (‖W_mm‖/R) log(2n(T − 1)Υ).
    Mistake: `off (fnorm (dim D) (dim D) W * fnorm (dim D) (dim D) Wmm * corr (dim D) W Wmm)` for `off (fnorm (dim D) (dim D) W / fnorm (dim D) (dim D) Wmm * corr (dim D) W Wmm)`
    Mistake: `off (R / fnorm (dim D) (dim D) Wmm + ln (INR (len D) - 1))` for `off (R / fnorm (dim D) (dim D) Wmm - ln (INR (len D) - 1))`
    Mistake: `/ 8 * (fnorm (dim D) (dim D) Wmm / R * ln` for `fnorm (dim D) (dim D) Wmm / R * (ln`
*)
Theorem ts_definition_1_path : forall D Wmm low high, proper D -> solution D Wmm -> psi_min D low -> psi_max D high ->
  (forall W, 0 < fnorm (dim D) (dim D) W -> low / INR (num D) * off (fnorm (dim D) (dim D) W / fnorm (dim D) (dim D)
    Wmm * corr (dim D) W Wmm)
    <= loss D W - infimum D) /\
  (forall R, 0 < R -> loss D (fun a b => R / fnorm (dim D) (dim D) Wmm * Wmm a b) - infimum D
    <= high * off (R / fnorm (dim D) (dim D) Wmm - ln (INR (len D) - 1))) /\
  (forall R W, 0 < R -> fnorm (dim D) (dim D) Wmm * ln (2 * INR (num D) * (INR (len D) - 1) * (high / low)) <= R ->
    fnorm (dim D) (dim D) W <= R -> loss D W <= loss D (fun a b => R / fnorm (dim D) (dim D) Wmm * Wmm a b) ->
    0 < fnorm (dim D) (dim D) W /\
    1 - corr (dim D) W Wmm <= fnorm (dim D) (dim D) Wmm / R * (ln (2 * INR (num D) * (INR (len D) - 1) * (high /
      low)))).
Proof.
  intros D Wmm low high P S Hl Hh. assert (P' := P). destruct P' as [Pn [HT HP]].
  assert (Pw := solution_pos D Wmm P (proj1 S)). set (w := fnorm (dim D) (dim D) Wmm) in *.
  assert (Pl := psi_min_pos D low P Hl). assert (Nn := num_pos D P).
  assert (IT : 2 <= INR (len D)) by (apply (le_INR 2); easy).
    assert (In : 1 <= INR (num D)) by (apply (le_INR 1); easy).
  assert (L1 : forall W, 0 < fnorm (dim D) (dim D) W -> low / INR (num D) * off (fnorm (dim D) (dim D) W / w * corr
    (dim D) W Wmm)
    <= loss D W - infimum D).
  { intros W HW. destruct (smallest_gap D W Wmm P S HW) as [i [t [Hp [_ Q]]]]. fold w in Q.
    eapply Rle_trans; [|apply (loss_above_gap D W low i t P Hl Hp)]. apply Rmult_le_compat_l.
    - unfold Rdiv. apply Rmult_le_pos; lra.
    - now apply off_decreasing. }
  assert (Ph : 0 < high).
  { destruct Hl as [[i [t [Hp E]]] _]. destruct Hp as [Hi [Ht Hn]].
    apply Rlt_le_trans with ((score D i (opt D i) - score D i t) * exp (- score D i t)).
    - apply Rmult_lt_0_compat; [|apply exp_pos]. assert (score D i t < score D i (opt D i)); [|lra].
      apply HP; [easy|]. repeat split; easy.
    - apply Hh. exists i, t. repeat split; easy. }
  assert (L2 : forall R, 0 < R -> loss D (fun a b => R / w * Wmm a b)
    - infimum D <= high * off (R / w - ln (INR (len D) - 1))).
  { intros R HR. destruct (unselected_exists D (fun a b => R / w * Wmm a b) P) as [r Hr].
    destruct (ts_definition_1_infimum D _ low high r P Hl Hh Hr) as [_ Q]. eapply Rle_trans; [exact Q|].
    apply Rmult_le_compat_l; [lra|]. destruct Hr as [[i [Hi ->]] _]. destruct (HP i Hi) as [_ [Ho _]].
    apply unselected_off; [easy|]. rewrite ln_exp_opp by easy. rewrite <- (others_const D i (exp (- (R / w)))) by easy.
    apply others_le. intros t Ht Hn. rewrite gap_scale. assert (Q2 := proj1 S i t ltac:(repeat split; easy)).
    assert (0 < R / w) by now apply Rdiv_lt_0_compat.
    assert (R / w * 1 <= R / w * gap D Wmm i t) by (apply Rmult_le_compat_l; lra).
    destruct (Req_dec (gap D Wmm i t) 1) as [->|N]; [rewrite Rmult_1_r; lra|]. left. apply exp_increasing.
    assert (R / w * 1 < R / w * gap D Wmm i t) by (apply Rmult_lt_compat_l; lra). lra. }
  split; [easy|]. split; [easy|]. intros R W HR Hlog HW HL.
  set (K := 2 * INR (num D) * (INR (len D) - 1) * (high / low)) in *.
  assert (PK : 0 < K) by (unfold K; apply Rmult_lt_0_compat; [nra|now apply Rdiv_lt_0_compat]).
  set (e := R / w - ln K). assert (He : 0 <= e).
  { unfold e. assert (ln K <= R / w); [|lra]. apply Rmult_le_reg_l with w; [easy|].
    replace (w * (R / w)) with R by (field; lra). easy. }
  assert (EE : 1 <= exp e) by (assert (Q := exp_ineq1_le e); lra).
  (* whatever the excess of W bounds from below by off(m) has m > e or so *)
  assert (KEY : forall m, low / INR (num D) * off m <= loss D W - infimum D -> 0 < m /\ e <= m).
  { intros m Hm. assert (Q := L2 R HR). assert (Q2 : low / INR (num D) * off m <= high * off (R / w - ln (INR (len D)
    - 1))) by lra.
    assert (Q3 : off (R / w - ln (INR (len D) - 1)) < (INR (len D) - 1) * exp (- (R / w))).
    { rewrite <- ln_exp_opp by easy. rewrite exp_Ropp. assert (0 < exp (R / w - ln (INR (len D) - 1))) by apply exp_pos.
      unfold off. apply Rinv_lt_contravar; [|lra]. apply Rmult_lt_0_compat; lra. }
    assert (Q4 : low / INR (num D) * off m < high * ((INR (len D) - 1) * exp (- (R / w)))).
    { eapply Rle_lt_trans; [exact Q2|]. apply Rmult_lt_compat_l; lra. }
    assert (Q5 : off m < / (2 * exp e)).
    { apply Rmult_lt_reg_l with (low / INR (num D)); [now apply Rdiv_lt_0_compat; [|lra]|].
      eapply Rlt_le_trans; [exact Q4|]. right. unfold e. replace (R / w - ln K) with (- ln K + - - (R / w)) by ring.
      rewrite exp_plus, (exp_Ropp (- (R / w))), (exp_Ropp (ln K)), exp_ln by easy.
        assert (0 < exp (- (R / w))) by apply exp_pos.
      unfold K. field. repeat split; lra. }
    assert (0 < exp m) by apply exp_pos. assert (Q6 : 2 * exp e < 1 + exp m).
    { apply Rnot_le_lt. intros A. assert (/ (2 * exp e) <= off m); [|lra]. apply Rinv_le_contravar; lra. }
    split.
    - apply exp_lt_inv. rewrite exp_0. lra.
    - left. apply exp_lt_inv. lra. }
  assert (NZ : 0 < fnorm (dim D) (dim D) W).
  { destruct (Req_dec (fnorm (dim D) (dim D) W) 0) as [Z|Z]; [|assert (0 <= fnorm (dim D) (dim D) W) by apply
    fnorm_ge0; lra]. exfalso.
    destruct (some_pair D 0 P) as [t Ht]; [lia|]. destruct (KEY _ (loss_above_gap D W low 0 t P Hl Ht)) as [A _].
    rewrite gap_Ek in A. assert (Q := fdot_le (dim D) (dim D) (Ek D 0 t) W). rewrite Z in Q. lra. }
  split; [easy|]. destruct (KEY _ (L1 W NZ)) as [A B]. set (c := corr (dim D) W Wmm) in *.
    set (x := fnorm (dim D) (dim D) W) in *.
  assert (Pc : 0 < c).
  { apply Rmult_lt_reg_l with (x / w); [now apply Rdiv_lt_0_compat|]. lra. }
  assert (C : e <= R / w * c).
  { eapply Rle_trans; [exact B|]. apply Rmult_le_compat_r; [lra|].
    apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|easy]. }
  unfold e in C. apply Rmult_le_reg_l with (R / w); [now apply Rdiv_lt_0_compat|].
  replace (R / w * (w / R * ln K)) with (ln K) by (field; lra). lra.
Qed.

Lemma exp_opp_derive g x l : is_derive g x l -> is_derive (fun e => exp (- g e)) x (- l * exp (- g x)).
Proof. intros H. auto_derive; [now exists l|].
  replace (Derive (fun y => g y) x) with l by (symmetry; now apply is_derive_unique). ring. Qed.

Lemma jacobian_score T p g t : (t < T)%nat -> matvec T (jacobian p) g t = p t * (g t - E T p g).
Proof.
  intros Ht. unfold matvec, jacobian, E.
  rewrite (Sum_ext T _ (fun s => (if Nat.eqb t s then p t * g s else 0) - p t * (p s * g s)))
    by (intros s _; destruct (Nat.eqb t s); ring).
  rewrite Sum_minus, Sum_scal, (Sum_single T _ t Ht).
  - rewrite Nat.eqb_refl. ring.
  - intros s _ Hs. destruct (Nat.eqb_spec t s); [congruence|easy].
Qed.

(** the same data with another decoder, and −∇_u of the loss in closed form *)
Definition with_dec (D : data) (u : vector) : data := Data (num D) (len D) (dim D) (tok D) (lab D) u (opt D).
Definition decoder_descent (D : data) (W : matrix) : vector := fun a => / INR (num D) *
  Sum (num D) (fun i => sample_loss D W i * lab D i * attended (len D) (phi D W i) (tok D i) a).

Lemma mdot_descent D W V : fdot (dim D) (dim D) (descent D W) V = / INR (num D) * Sum (num D) (fun i => sample_loss D
  W i *
  Sum (len D) (fun t => matvec (len D) (jacobian (phi D W i)) (score D i) t * dot (dim D) (tok D i t) (matvec (dim D)
    V (tok D i 0%nat)))).
Proof.
  unfold fdot, descent. set (J := fun i t => matvec (len D) (jacobian (phi D W i)) (score D i) t). set (d := dim D).
  rewrite (Sum_ext d _ (fun a => / INR (num D) * Sum (num D) (fun i => sample_loss D W i * Sum (len D) (fun t =>
    J i t * (tok D i t a * matvec d V (tok D i 0%nat) a))))).
  - rewrite Sum_scal. f_equal. rewrite Sum_swap. apply Sum_ext. intros i _. rewrite Sum_scal. f_equal.
    rewrite Sum_swap. apply Sum_ext. intros t _. unfold dot. now rewrite Sum_scal.
  - intros a _. rewrite (Sum_ext d _ (fun b => / INR (num D) * (Sum (num D) (fun i => sample_loss D W i *
      Sum (len D) (fun t => tok D i t a * J i t) * tok D i 0%nat b * V a b)))).
    2:{ intros b _. rewrite Rmult_assoc, (Rmult_comm _ (V a b)), <- Sum_scal. f_equal. apply Sum_ext. intros.
      unfold J. ring. }
    rewrite Sum_scal. f_equal. rewrite Sum_swap. apply Sum_ext. intros i _.
    rewrite (Sum_ext d _ (fun b => sample_loss D W i * Sum (len D) (fun t => tok D i t a * J i t)
      * (V a b * tok D i 0%nat b)))
      by (intros; ring).
    rewrite Sum_scal, Rmult_assoc. f_equal. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros. unfold matvec. ring.
Qed.

(** ts-definition-1-gradient
    Covers: the whole statement, gradients as derivatives along every line.
    Reads: for T ≥ 1, every W, every direction V and every v, the derivative of e ↦ 𝓛(W + eV) at 0 is −⟨G, V⟩ with G = (1/n) Σ ℓ_i X_iᵀ J(φ_i) γ_i x_i1ᵀ, and that of e ↦ 𝓛 with the decoder u + ev is −⟨g, v⟩ with g = (1/n) Σ ℓ_i y_i X_iᵀ φ_i.
    Mistake: `(fdot (dim D) (dim D) (descent D W) V)` for `(- fdot (dim D) (dim D) (descent D W) V)`
    Mistake: `(- (2 * dot (dim D) (decoder_descent D W) v))` for `(- dot (dim D) (decoder_descent D W) v)`
*)
Theorem ts_definition_1_gradient : forall D W V v, (0 < len D)%nat ->
  is_derive (fun e => loss D (shifted W V e)) 0 (- fdot (dim D) (dim D) (descent D W) V) /\
  is_derive (fun e => loss (with_dec D (fun a => dec D a + e * v a)) W) 0 (- dot (dim D) (decoder_descent D W) v).
Proof.
  intros D W V v HT. split.
  - set (z := fun i t => dot (dim D) (tok D i t) (matvec (dim D) W (tok D i 0%nat))).
    set (w := fun i t => dot (dim D) (tok D i t) (matvec (dim D) V (tok D i 0%nat))).
    assert (LG : forall e i t, dot (dim D) (tok D i t) (matvec (dim D) (shifted W V e) (tok D i 0%nat))
      = z i t + e * w i t).
    { intros e i t. unfold z, w, dot. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext. intros a _. unfold matvec,
      shifted, mplus, mscal.
      rewrite (Sum_ext (dim D) _ (fun j => W a j * tok D i 0%nat j + e * (V a j * tok D i 0%nat j))) by (intros; ring).
      rewrite Sum_plus, Sum_scal. ring. }
    set (f := fun e i => Sum (len D) (fun t => softmax (len D) (fun s => z i s + e * w i s) t * score D i t)).
    set (f' := fun i => Sum (len D) (fun t => phi D W i t * (w i t - E (len D) (phi D W i) (w i)) * score D i t)).
    assert (SF : forall e i, sample_loss D (shifted W V e) i = exp (- f e i)).
    { intros e i. unfold sample_loss. rewrite answer_average. unfold E, f, phi, weights. do 2 f_equal. apply Sum_ext.
      intros t _. f_equal.
      apply softmax_ext. intros. apply LG. }
    assert (DF : forall i, is_derive (fun e => f e i) 0 (f' i)).
    { intros i. apply (Sum_derive (len D) (fun e t => softmax (len D) (fun s => z i s + e * w i s) t * score D i t)).
      intros t _. apply (is_derive_ext (fun e => score D i t * softmax (len D) (fun s => z i s + e * w i s) t)).
      - intros. apply Rmult_comm.
      - evar_last; [apply is_derive_scal, (softmax_derive (len D) (z i) (w i) t HT)|]. unfold phi, weights. fold (z i).
        unfold z. ring. }
    assert (F0 : forall i, exp (- f 0 i) = sample_loss D W i).
    { intros i. unfold sample_loss. rewrite answer_average. unfold E, f, phi, weights. do 2 f_equal. apply Sum_ext.
      intros t _. f_equal.
      apply softmax_ext. intros. fold (z i s). ring. }
    apply (is_derive_ext (fun e => / INR (num D) * Sum (num D) (fun i => exp (- f e i)))).
    { intros e. unfold loss. f_equal. apply Sum_ext. intros. now rewrite SF. }
    evar_last; [apply is_derive_scal, (Sum_derive (num D) (fun e i => exp (- f e i))
      (fun i => - f' i * exp (- f 0 i)))|].
    { intros i _. apply (exp_opp_derive (fun e => f e i)), DF. }
    rewrite mdot_descent, Ropp_mult_distr_r. f_equal.
    rewrite <- (Rmult_1_l (Sum _ (fun i => sample_loss D W i * _))), Ropp_mult_distr_l, <- Sum_scal. apply Sum_ext.
      intros i _.
    rewrite F0. assert (Q : f' i = Sum (len D) (fun t => matvec (len D) (jacobian (phi D W i)) (score D i) t * w i t)).
    { rewrite (Sum_ext (len D) (fun t => _ * w i t) (fun t => phi D W i t * score D i t * w i t - E (len D)
      (phi D W i) (score D i) *
        (phi D W i t * w i t))) by (intros t Ht; rewrite jacobian_score by easy; ring).
      unfold f'. rewrite (Sum_ext (len D) _ (fun t => phi D W i t * score D i t * w i t - E (len D) (phi D W i) (w i) *
        (phi D W i t * score D i t))) by (intros; ring).
      rewrite !Sum_minus, !Sum_scal. unfold E. ring. }
    rewrite Q. unfold w. ring.
  - set (A := fun i => attended (len D) (phi D W i) (tok D i)).
    apply (is_derive_ext (fun e => / INR (num D) * Sum (num D) (fun i =>
      exp (- (lab D i * (dot (dim D) (dec D) (A i) + e * dot (dim D) v (A i))))))).
    { intros e. unfold loss. simpl num. f_equal. apply Sum_ext. intros i _. unfold sample_loss, answer. simpl.
      do 3 f_equal. unfold dot. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext. intros; unfold A; simpl.
      change (phi (with_dec D (fun a => dec D a + e * v a)) W i) with (phi D W i). ring. }
    evar_last; [apply is_derive_scal, (Sum_derive (num D) (fun e i => exp (- (lab D i * (dot (dim D) (dec D) (A i)
      + e * dot (dim D) v (A i)))))
      (fun i => - (lab D i * dot (dim D) v (A i)) * sample_loss D W i))|].
    { intros i _. cbv beta. auto_derive; [easy|]. unfold sample_loss, answer. fold (A i).
      rewrite Rmult_0_l, Rplus_0_r. ring. }
    unfold decoder_descent. unfold dot at 2.
    rewrite (Sum_ext (dim D) _ (fun a => / INR (num D) * Sum (num D)
      (fun i => sample_loss D W i * lab D i * (v a * A i a)))).
    2:{ intros a _. rewrite Rmult_assoc. f_equal. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext.
      intros; unfold A; ring. }
    rewrite Sum_scal, Sum_swap, Ropp_mult_distr_r. f_equal.
    rewrite <- (Rmult_1_l (Sum _ (fun j => Sum _ _))), Ropp_mult_distr_l, <- Sum_scal. apply Sum_ext. intros i _.
    rewrite Sum_scal. unfold dot. ring.
Qed.

(** Under equal scores descent is a sum of the E_k with positive weights. *)
Lemma descent_sample D W i a : (opt D i < len D)%nat -> (forall t, (t < len D)%nat -> t <> opt D i ->
  score D i t = rest D i) ->
  Sum (len D) (fun t => tok D i t a * matvec (len D) (jacobian (phi D W i)) (score D i) t) =
  lead D i * phi D W i (opt D i) * others D i (fun t => phi D W i t * (tok D i (opt D i) a - tok D i t a)).
Proof.
  intros Ho Hs. assert (PH := phi_others D W i Ho). set (p := phi D W i) in *. set (o := opt D i) in *.
  assert (EG : E (len D) p (score D i) = rest D i + p o * lead D i).
  { assert (Q := answer_below D W i Ho). rewrite answer_average in Q. fold p o in Q.
    rewrite (others_ext D i _ (fun t => lead D i * p t)) in Q.
    - rewrite others_scal, PH in Q. unfold lead in *. fold o in Q |- *. lra.
    - intros t Ht Hn. rewrite (Hs t Ht Hn). unfold lead. fold o. fold p. ring. }
  rewrite (Sum_ext (len D) _ (fun t => tok D i t a * (p t * (score D i t - E (len D) p (score D i)))))
    by (intros t Ht; now rewrite jacobian_score).
  rewrite (others_split D i _ Ho). fold o. rewrite EG, <- others_scal.
  rewrite (others_ext D i (fun t => tok D i t a * _) (fun t => - (lead D i * p o) * (p t * tok D i t a)))
    by (intros t Ht Hn; rewrite (Hs t Ht Hn); ring).
  rewrite (others_ext D i (fun t => lead D i * p o * _) (fun t => lead D i * p o * tok D i o a * p t +
    - (lead D i * p o) * (p t * tok D i t a))) by (intros; ring).
  rewrite others_plus, (others_scal D i _ p), PH.
  replace (score D i o - (rest D i + p o * lead D i)) with (lead D i * (1 - p o)) by (unfold lead; fold o; ring).
    ring.
Qed.

Lemma descent_pairs D W a b : proper D -> equal_scores D ->
  descent D W a b = pairs D (fun i t => weight D W i t * Ek D i t a b).
Proof.
  intros [_ [_ HP]] ES. unfold descent. rewrite <- Sum_scal. apply Sum_ext. intros i Hi.
    destruct (HP i Hi) as [_ [Ho _]].
  rewrite (descent_sample D W i a Ho) by (intros; apply ES; repeat split; easy).
  rewrite (others_ext D i (fun t => weight D W i t * _) (fun t => / INR (num D) * sample_loss D W i * lead D i *
    phi D W i (opt D i) * tok D i 0%nat b * (phi D W i t * (tok D i (opt D i) a - tok D i t a))))
    by (intros; unfold weight, Ek; ring).
  rewrite others_scal. ring.
Qed.

(** ts-definition-a2
    Covers: the whole statement.
    Reads: if all tokens of a sample but the optimal one have the same score γ_i, then with Δ_i = γ_opt − γ_i and a_i = ℓ_i Δ_i, −∇_W 𝓛 = (1/n) Σ_i a_i φ_opt Σ over t ≠ opt of φ_t (x_opt − x_t) x_i1ᵀ, entry by entry, where −∇_W 𝓛 is that of ts-definition-1-gradient; for T = 2 the assumption always holds, and all Δ_i are positive.
    Mistake: `(1 - phi D W i (opt D i)) * others` for `phi D W i (opt D i) * others`
    Mistake: without `equal_scores D ->`
    Mistake: `len D = 3%nat` for `len D = 2%nat`
*)
Theorem ts_definition_a2 : forall D, proper D ->
  (equal_scores D -> (forall i, (i < num D)%nat -> 0 < lead D i) /\ forall W a b, descent D W a b = / INR (num D) *
    Sum (num D) (fun i => sample_loss D W i * lead D i * (phi D W i (opt D i) * others D i (fun t =>
      phi D W i t * ((tok D i (opt D i) a - tok D i t a) * tok D i 0%nat b))))) /\
  (len D = 2%nat -> equal_scores D).
Proof.
  intros D P. split.
  - intros ES. split.
    + intros i Hi. destruct (some_pair D i P Hi) as [t Ht]. unfold lead. rewrite <- (ES i t Ht).
      destruct P as [_ [_ HP]].
      assert (Q := proj2 (proj2 (HP i Hi)) t Ht). lra.
    + intros W a b. rewrite descent_pairs by easy. unfold pairs. rewrite <- Sum_scal. apply Sum_ext. intros i _.
      rewrite <- !Rmult_assoc, <- others_scal. apply others_ext. intros. unfold weight, Ek. ring.
  - intros HL i t [Hi [Ht Hn]]. unfold rest. destruct P as [_ [_ HP]]. destruct (HP i Hi) as [_ [Ho _]].
    destruct (Nat.eqb_spec (opt D i) 0) as [Q|Q]; f_equal; lia.
Qed.

(** ν, M_o, m_o and s₁ of condition (A1′) *)
Definition inner (D : data) (i t j s : nat) : R := dot (dim D) (tok D i t) (tok D j s).
Definition overlaps (D : data) (nu M m s1 : R) : Prop :=
  largest (fun x => exists i t j s, (i < num D)%nat /\ (t < len D)%nat /\ (j < num D)%nat /\ (s < len D)%nat /\
    (i, t) <> (j, s) /\ ~ (t = opt D i /\ s = opt D j) /\ x = Rabs (inner D i t j s)) nu /\
  (num D = 1%nat /\ M = 0 \/ largest (fun x => exists i j, (i < num D)%nat /\ (j < num D)%nat /\ i <> j /\
    x = Rabs (inner D i (opt D i) j (opt D j))) M) /\
  least (fun x => exists i, (i < num D)%nat /\ x = inner D i (opt D i) i (opt D i)) m /\
  least (fun x => exists i, (i < num D)%nat /\ x = inner D i 0 i 0) s1.

(** (A1′): m_o > 3ν and (m_o − 3ν) s₁ ≥ (n − 1) Υ / (2 φ_min) ν (M_o + 3ν) *)
Definition a1_prime (n : nat) (upsilon phi_min nu M m s1 : R) : Prop :=
  3 * nu < m /\ (INR n - 1) * upsilon / (2 * phi_min) * (nu * (M + 3 * nu)) <= (m - 3 * nu) * s1.

(** ts-definition-a1-sufficient
    Covers: the whole statement, the definition of (A1′) and its last sentence.
    Reads: with ν, M_o, m_o, s₁ as on the page and Υ = Ψ_max/Ψ_min, if m_o > 0, M_o ≤ m_o, ν ≤ m_o/6 and s₁ ≥ 3(n − 1)TΥν, then m_o > 3ν and (m_o − 3ν)s₁ ≥ ((n − 1)Υ/(2φ_min)) ν(M_o + 3ν) for φ_min = 1/(2T).
    Mistake: `nu <= / 3 * m ->` for `nu <= / 6 * m ->`
    Mistake: without `3 * (INR (num D) - 1) * INR (len D) * (high / low) * nu <= s1 ->`
*)
Theorem ts_definition_a1_sufficient : forall D low high nu M m s1, proper D -> psi_min D low -> psi_max D high ->
  overlaps D nu M m s1 -> 0 < m -> M <= m -> nu <= / 6 * m ->
  3 * (INR (num D) - 1) * INR (len D) * (high / low) * nu <= s1 ->
  a1_prime (num D) (high / low) (/ (2 * INR (len D))) nu M m s1.
Proof.
  intros D low high nu M m s1 P Hl Hh [[[i [t [j [s [_ [_ [_ [_ [_ [_ EN]]]]]]]]]] _] [HM [_ [[k [_ ES]] _]]]]
    Hm HMm Hnu Hs.
  assert (N0 : 0 <= nu) by (rewrite EN; apply Rabs_pos). split; [lra|].
  destruct P as [Pn [HT _]]. assert (2 <= INR (len D)) by (apply (le_INR 2); easy).
    assert (1 <= INR (num D)) by (apply (le_INR 1); easy).
  assert (S0 : 0 <= s1) by (rewrite ES; unfold inner; rewrite <- sq_dot; apply sq_ge0).
  assert (M0 : 0 <= M) by (destruct HM as [[_ ->]|[[i1 [j1 [_ [_ [_ ->]]]]] _]]; [lra|apply Rabs_pos]).
  set (q := high / low) in *. set (X := 3 * (INR (num D) - 1) * INR (len D) * q * nu) in *.
  replace ((INR (num D) - 1) * q / (2 * / (2 * INR (len D))) * (nu * (M + 3 * nu))) with (X * (/ 3 * (M + 3 * nu)))
    by (unfold X; field; lra).
  apply Rle_trans with (s1 * (/ 3 * (M + 3 * nu))); [apply Rmult_le_compat_r; lra|].
  rewrite (Rmult_comm (m - 3 * nu)). apply Rmult_le_compat_l; lra.
Qed.

(** ts-remark-e1
    Covers: the whole statement, for every outcome of the noise.
    Reads: let μ₊ ⟂ μ₋ with norm U > 0, the optimal token of a sample be μ₊ for the label 1 and μ₋ for −1, the other tokens orthogonal to both, and u = (μ₊ − μ₋)/U². Then optimal tokens have score 1 and all others 0; they are the only optimal ones; Assumption 2 holds, Ψ_max = 1 and Υ = Ψ_max/Ψ_min = e.
    Mistake: `high / low = 1` for `high / low = exp 1`
    Mistake: without `0 < U ->`
*)
Theorem ts_remark_e1 : forall D U mup mum, (1 <= num D)%nat -> (2 <= len D)%nat -> 0 < U ->
  sq (dim D) mup = U ^ 2 -> sq (dim D) mum = U ^ 2 -> dot (dim D) mup mum = 0 ->
  (forall i, (i < num D)%nat -> (opt D i < len D)%nat /\
    (lab D i = 1 /\ (forall a, (a < dim D)%nat -> tok D i (opt D i) a = mup a) \/
     lab D i = -1 /\ (forall a, (a < dim D)%nat -> tok D i (opt D i) a = mum a))) ->
  (forall i t, pair D i t -> dot (dim D) mup (tok D i t) = 0 /\ dot (dim D) mum (tok D i t) = 0) ->
  (forall a, (a < dim D)%nat -> dec D a = (mup a - mum a) / U ^ 2) ->
  (forall i, (i < num D)%nat -> score D i (opt D i) = 1) /\ (forall i t, pair D i t -> score D i t = 0) /\
  proper D /\ equal_scores D /\ psi_max D 1 /\ forall low high, psi_min D low -> psi_max D high -> high / low = exp 1.
Proof.
  intros D U mup mum Pn HT HU Sp Sm O Ho Hn Hu. assert (PU : 0 < U ^ 2) by now apply pow_lt.
  assert (DU : forall v, dot (dim D) (dec D) v = (dot (dim D) mup v - dot (dim D) mum v) / U ^ 2).
  { intros v. rewrite <- dot_minus_l. unfold Rdiv. rewrite Rmult_comm, <- dot_scal_l. apply dot_ext; [|easy].
    intros a Ha. rewrite Hu by easy. unfold vscal, vminus, Rdiv. ring. }
  assert (G1 : forall i, (i < num D)%nat -> score D i (opt D i) = 1).
  { intros i Hi. unfold score. rewrite DU. destruct (Ho i Hi) as [_ [[-> Q]|[-> Q]]].
    - rewrite !(dot_ext (dim D) _ (tok D i (opt D i)) _ mup) by (easy || exact Q).
      rewrite <- sq_dot, Sp, (dot_sym _ mum), O. field. lra.
    - rewrite !(dot_ext (dim D) _ (tok D i (opt D i)) _ mum) by (easy || exact Q). rewrite <- sq_dot, Sm, O. field.
      lra. }
  assert (G0 : forall i t, pair D i t -> score D i t = 0).
  { intros i t Hp. unfold score. rewrite DU. destruct (Hn i t Hp) as [-> ->]. unfold Rdiv. ring. }
  assert (PR : proper D).
  { split; [easy|split; [easy|]]. intros i Hi. destruct (Ho i Hi) as [A B]. split; [tauto|split; [easy|]].
    intros t Hp. rewrite (G0 i t Hp), (G1 i Hi). lra. }
  assert (ES : equal_scores D).
  { intros i t Hp. rewrite (G0 i t Hp). unfold rest. symmetry. apply G0. destruct Hp as [Hi _].
    destruct (Nat.eqb_spec (opt D i) 0); repeat split; lia. }
  destruct (some_pair D 0 PR) as [t Ht]; [lia|].
  assert (MX : psi_max D 1).
  { split.
    - exists 0%nat, t. assert (Ht' := Ht). destruct Ht' as [A [B _]]. split; [easy|split; [easy|]].
      rewrite (G0 0%nat t Ht), (G1 0%nat A), Ropp_0, exp_0. ring.
    - intros x [i [s [Hi [Hs ->]]]]. rewrite (G1 i Hi). destruct (Nat.eq_dec s (opt D i)) as [->|N].
      + rewrite (G1 i Hi). lra.
      + rewrite (G0 i s) by (repeat split; easy). rewrite Ropp_0, exp_0. lra. }
  repeat (split; [easy|]). intros low high Hl Hh.
  assert (high = 1) by (apply Rle_antisym; [apply MX, Hh|apply Hh, MX]).
  assert (EL : low = exp (-1)).
  { destruct Hl as [[i [s [Hp ->]]] _]. rewrite (G0 i s Hp), (G1 i (proj1 Hp)). replace (- (1)) with (-1) by ring.
    ring. }
  rewrite EL, H. replace (-1) with (- (1)) by ring. rewrite exp_Ropp. field. apply Rgt_not_eq, exp_pos.
Qed.

(** (x, y, z) *)
Definition vec3 (x y z : R) : vector := fun a => match a with 0 => x | 1 => y | _ => z end%nat.
