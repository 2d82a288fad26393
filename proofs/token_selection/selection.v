(** Attention as token selection: scores, the infimum of the loss, the SVM of attention, gradients, assumptions. *)
Require Import Reals Lra Lia Psatz Arith.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.shortest base.samples.
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
  (forall t, (t < len D)%nat -> t <> opt D i -> low <= (score D i (opt D i) - score D i t) * exp (- score D i (opt D i))) ->
  (forall t, (t < len D)%nat -> t <> opt D i -> (score D i (opt D i) - score D i t) * exp (- score D i t) <= high) ->
  low * (1 - phi D W i (opt D i)) <= sample_loss D W i - exp (- score D i (opt D i)) <= high * (1 - phi D W i (opt D i)).
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
      - rewrite Sum_minus, !Sum_scal, Q. assert (Q2 := answer_average D W i). fold f in Q2. unfold E in Q2. rewrite <- Q2. lra.
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
Definition dual (D : data) (lam : matrix) : R :=
  2 * pairs D lam - pairs D (fun i t => pairs D (fun j s => lam i t * gram D i t j s * lam j s)).

Lemma gram_Ek D i t j s : gram D i t j s = mdot (dim D) (Ek D i t) (Ek D j s).
Proof.
  unfold gram, mdot, Ek, dot, vminus. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros a _.
  rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros; ring.
Qed.

Lemma mdot_support D lam V : mdot (dim D) (support D lam) V = pairs D (fun i t => lam i t * gap D V i t).
Proof. unfold support. rewrite mdot_pairs. apply pairs_ext. intros. now rewrite gap_Ek. Qed.

Lemma dual_support D lam : dual D lam = 2 * pairs D lam - frob2 (dim D) (dim D) (support D lam).
Proof.
  unfold dual. f_equal. f_equal. rewrite frob2_mdot, mdot_support. apply pairs_ext. intros i t _.
  rewrite gap_Ek, mdot_sym. unfold support. rewrite mdot_pairs, <- pairs_scal. apply pairs_ext. intros.
  rewrite gram_Ek, (mdot_sym _ (Ek D i t)). ring.
Qed.

Lemma gap_ext D V W i t : (forall a b, (a < dim D)%nat -> (b < dim D)%nat -> V a b = W a b) -> gap D V i t = gap D W i t.
Proof. intros H. rewrite !gap_Ek, !(mdot_sym _ (Ek D i t)). now apply mdot_ext. Qed.

Lemma frob2_ext d V W : (forall a b, (a < d)%nat -> (b < d)%nat -> V a b = W a b) -> frob2 d d V = frob2 d d W.
Proof. intros H. rewrite !frob2_mdot, (mdot_ext _ V W) by easy. rewrite !(mdot_sym _ W). now apply mdot_ext. Qed.

(** Either multipliers exist, or a convex combination of the E_k is 0. *)
Lemma multipliers_or_certificate D : (0 < len D)%nat -> (exists lam, multipliers_of D lam (support D lam)) \/
  (exists lam, (forall i t, pair D i t -> 0 <= lam i t) /\ pairs D lam = 1 /\
    forall a b, (a < dim D)%nat -> (b < dim D)%nat -> support D lam a b = 0).
Proof.
  intros HT. set (T := len D) in *. set (N := (num D * T)%nat).
  set (F := fun k => flat (dim D) (Ek D (k / T) (k mod T))).
  set (b := fun k => if Nat.eqb (k mod T) (opt D (k / T)) then 0 else 1).
  set (back := fun (lam : vector) i t => lam (i * T + t)%nat).
  assert (KB : forall k, (k / T * T + k mod T)%nat = k) by (intros; rewrite Nat.mul_comm; symmetry; apply Nat.div_mod; lia).
  assert (ID : forall i t, (t < T)%nat -> ((i * T + t) / T)%nat = i /\ ((i * T + t) mod T)%nat = t).
  { intros i t Ht. split; [symmetry; apply (Nat.div_unique _ _ _ t); lia|symmetry; apply (Nat.mod_unique _ _ i); lia]. }
  assert (SP : forall (lam : vector) f, (forall i, f i (opt D i) = 0) ->
    Sum N (fun k => lam k * f (k / T)%nat (k mod T)%nat) = pairs D (fun i t => back lam i t * f i t)).
  { intros lam f Hf. rewrite (Sum_ext N _ (fun k => back lam (k / T)%nat (k mod T)%nat * f (k / T)%nat (k mod T)%nat))
      by (intros; unfold back; now rewrite KB).
    unfold N. rewrite (Sum_flat (num D) T (fun i t => back lam i t * f i t)). apply Sum_ext. intros i _.
    unfold others. fold T. apply Sum_ext. intros t _. destruct (Nat.eqb_spec t (opt D i)) as [->|]; [rewrite Hf; ring|easy]. }
  assert (CS : forall lam c, combination N lam F c = flat (dim D) (support D (back lam)) c).
  { intros lam c. unfold combination, F, flat, support. apply (SP lam (fun i t => Ek D i t (c / dim D)%nat (c mod dim D)%nat)).
    intros i. unfold Ek. ring. }
  assert (PK : forall i t, pair D i t -> (i * T + t < N)%nat).
  { intros i t [H1 [H2 _]]. fold T in H2. unfold N. nia. }
  destruct (shortest_or_certificate (dim D * dim D) N F b) as [[lam H]|[lam [H0 [H1 H2]]]].
  - left. exists (back lam). assert (G : forall i t, pair D i t -> 0 <= back lam i t /\ 1 <= gap D (support D (back lam)) i t /\
      back lam i t * (gap D (support D (back lam)) i t - 1) = 0).
    { intros i t Hp. assert (Q := H _ (PK i t Hp)). destruct Hp as [_ [Ht Hn]]. destruct (ID i t Ht) as [I1 I2].
      unfold F, b in Q. rewrite I1, I2 in Q. fold F in Q. destruct (Nat.eqb_spec t (opt D i)) as [|_]; [easy|].
      rewrite gap_Ek, mdot_flat.
      rewrite (dot_ext _ _ (combination N lam F) (flat (dim D) (Ek D i t)) (flat (dim D) (support D (back lam)))) in Q
        by (intros; easy || apply CS). exact Q. }
    split; [|split; [|split]].
    + intros i t Hp. now apply G.
    + easy.
    + intros i t Hp. now apply G.
    + intros i t Hp Hg. destruct (G i t Hp) as [_ [_ Q]]. apply Rmult_integral in Q. lra.
  - right. assert (S1 : Sum N (fun k => lam k * b k) = pairs D (back lam)).
    { unfold b. rewrite (SP lam (fun i t => if Nat.eqb t (opt D i) then 0 else 1)) by (intros; now rewrite Nat.eqb_refl).
      apply pairs_ext. intros i t [_ [_ Hn]]. destruct (Nat.eqb_spec t (opt D i)); [easy|ring]. }
    rewrite S1 in H2. exists (fun i t => / pairs D (back lam) * back lam i t). split; [|split].
    + intros i t Hp. apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat|]. apply H0, PK, Hp.
    + rewrite (pairs_scal D _ (back lam)). field. lra.
    + intros a c Ha Hc. assert (Q : (a * dim D + c < dim D * dim D)%nat) by nia. assert (Q2 := H1 _ Q). rewrite CS in Q2.
      unfold flat in Q2. rewrite <- (Nat.div_unique (a * dim D + c) (dim D) a c) in Q2 by lia.
      rewrite <- (Nat.mod_unique (a * dim D + c) (dim D) a c) in Q2 by lia. unfold support in *.
      rewrite (pairs_ext D _ (fun i t => / pairs D (back lam) * (back lam i t * Ek D i t a c))) by (intros; ring).
      rewrite pairs_scal, Q2. ring.
Qed.

(** What multipliers say of every other matrix *)
Lemma multipliers_pair D lam W V : multipliers_of D lam W -> mdot (dim D) V W = pairs D (fun i t => lam i t * gap D V i t).
Proof. intros [_ [H _]]. rewrite mdot_sym, (mdot_ext _ _ _ V H). apply mdot_support. Qed.

Lemma multipliers_norm D lam W : multipliers_of D lam W -> frob2 (dim D) (dim D) W = pairs D lam.
Proof.
  intros H. rewrite frob2_mdot, (multipliers_pair D lam W W H). apply pairs_ext. intros i t Hp.
  destruct H as [_ [_ [H1 H2]]]. destruct (Req_dec (gap D W i t) 1) as [->|N]; [ring|].
  rewrite (H2 i t Hp); [ring|]. assert (Q := H1 i t Hp). lra.
Qed.

Lemma multipliers_shortest D lam W V : multipliers_of D lam W -> separates D V -> pairs D lam <= mdot (dim D) V W.
Proof.
  intros H S. rewrite (multipliers_pair D lam W V H). apply pairs_le. intros i t Hp. assert (Q := S i t Hp).
  destruct H as [H _]. assert (Q2 := H i t Hp). nra.
Qed.

Lemma multipliers_solution D lam W : multipliers_of D lam W -> solution D W.
Proof.
  intros H. split; [apply H|]. intros V S. assert (Q := multipliers_shortest D lam W V H S).
  assert (Q2 := multipliers_norm D lam W H). rewrite <- Q2 in Q. apply mnorm_le_frob.
  assert (Q3 := frob2_ge0 (dim D) (madd V (-1) W)). rewrite frob2_madd in Q3. lra.
Qed.

Lemma solution_unique D V W : solution D V -> solution D W -> forall a b, (a < dim D)%nat -> (b < dim D)%nat -> V a b = W a b.
Proof.
  intros SV SW a b Ha Hb. assert (Q : 1 * frob2 (dim D) (dim D) W <= mdot (dim D) V W) by (apply (average D); [easy|apply SV]).
  assert (Q2 : frob2 (dim D) (dim D) V <= frob2 (dim D) (dim D) W) by (apply mnorm_le_frob, SV, SW).
  assert (Z := frob2_ge0 (dim D) (madd V (-1) W)). assert (Z2 := frob2_madd (dim D) V (-1) W).
  assert (Z3 : frob2 (dim D) (dim D) (madd V (-1) W) = 0) by lra.
  assert (Z4 := frob2_zero _ _ Z3 a b Ha Hb). unfold madd in Z4. lra.
Qed.

Lemma certificate_infeasible D lam V : (forall i t, pair D i t -> 0 <= lam i t) -> pairs D lam = 1 ->
  (forall a b, (a < dim D)%nat -> (b < dim D)%nat -> support D lam a b = 0) -> separates D V -> False.
Proof.
  intros H0 H1 H2 S. assert (Q := mdot_support D lam V). rewrite (mdot_ext _ _ (fun _ _ => 0) V H2) in Q.
  replace (mdot (dim D) (fun _ _ => 0) V) with 0 in Q.
  2:{ symmetry. unfold mdot. rewrite (Sum_ext _ _ (fun _ => 0)); [apply Sum_zero|]. intros.
      rewrite (Sum_ext _ _ (fun _ => 0)); [apply Sum_zero|]. intros; ring. }
  assert (pairs D lam <= pairs D (fun i t => lam i t * gap D V i t)); [|lra].
  apply pairs_le. intros i t Hp. assert (Q2 := S i t Hp). assert (Q3 := H0 i t Hp). nra.
Qed.

Lemma feasible_multipliers D : proper D -> (exists V, separates D V) -> exists lam, multipliers_of D lam (support D lam).
Proof.
  intros [_ [HT _]] [V S]. destruct (multipliers_or_certificate D ltac:(lia)) as [H|[lam [H0 [H1 H2]]]]; [easy|].
  exfalso. now apply (certificate_infeasible D lam V).
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
      * exists m. split; [lia|split; [easy|]]. intros j Hj Pj. destruct (Nat.eq_dec j N) as [->|]; [easy|apply M; [lia|easy]].
      * exists N. split; [lia|split; [easy|]]. intros j Hj Pj. destruct (Nat.eq_dec j N) as [->|]; [lra|].
        assert (f m <= f j) by (apply M; [lia|easy]). lra.
    + exists N. split; [lia|split; [easy|]]. intros j Hj Pj. destruct (Nat.eq_dec j N) as [->|]; [lra|].
      exfalso. apply (C j); [lia|easy].
  - destruct IH as [m [A [B M]]].
    { exists k. split; [|easy]. destruct (Nat.eq_dec k N) as [->|]; [easy|lia]. }
    exists m. split; [lia|split; [easy|]]. intros j Hj Pj. destruct (Nat.eq_dec j N) as [->|]; [easy|apply M; [lia|easy]].
Qed.

Lemma pair_least D (f : nat -> nat -> R) : proper D ->
  exists i t, pair D i t /\ forall j s, pair D j s -> f i t <= f j s.
Proof.
  intros P. assert (HT : (0 < len D)%nat) by (destruct P as [_ [HT _]]; lia). set (T := len D) in *.
  assert (ID : forall i t, (t < T)%nat -> ((i * T + t) / T)%nat = i /\ ((i * T + t) mod T)%nat = t).
  { intros i t Ht. split; [symmetry; apply (Nat.div_unique _ _ _ t); lia|symmetry; apply (Nat.mod_unique _ _ i); lia]. }
  destruct (finite_least (num D * T) (fun k => pair D (k / T) (k mod T)) (fun k => f (k / T)%nat (k mod T)%nat)) as [k [_ [B M]]].
  - intros k. unfold pair. destruct (lt_dec (k / T) (num D)), (lt_dec (k mod T) (len D)), (Nat.eq_dec (k mod T) (opt D (k / T)));
      tauto.
  - destruct (some_pair D 0 P) as [t Ht]; [destruct P; lia|]. exists (0 * T + t)%nat.
    assert (Ht' := Ht). destruct Ht' as [H1 [H2 _]]. fold T in H2. destruct (ID 0%nat t H2) as [-> ->]. split; [nia|easy].
  - exists (k / T)%nat, (k mod T). split; [easy|]. intros j s Hp. assert (Hp' := Hp). destruct Hp' as [H1 [H2 _]].
    fold T in H2. assert (Q := M (j * T + s)%nat). destruct (ID j s H2) as [E1 E2]. rewrite E1, E2 in Q.
    apply Q; [nia|easy].
Qed.

(** ⟨W, W_mm⟩ / ‖W_mm‖² written with the cosine *)
Lemma corr_mdot d V W : 0 < mnorm d V -> 0 < mnorm d W -> mnorm d V / mnorm d W * corr d V W * frob2 d d W = mdot d V W.
Proof. intros H1 H2. rewrite <- mnorm_sq. unfold corr. field. split; lra. Qed.

Lemma smallest_gap D V W : proper D -> solution D W -> 0 < mnorm (dim D) V ->
  exists i t, pair D i t /\ (forall j s, pair D j s -> gap D V i t <= gap D V j s) /\
    gap D V i t <= mnorm (dim D) V / mnorm (dim D) W * corr (dim D) V W.
Proof.
  intros P S HV. destruct (pair_least D (gap D V) P) as [i [t [Hp M]]]. exists i, t. split; [easy|]. split; [easy|].
  assert (Q := average D V W _ S M). assert (HW := solution_pos D W P (proj1 S)).
  rewrite <- (corr_mdot (dim D) V W HV HW) in Q. apply Rmult_le_reg_r in Q; [easy|].
  rewrite <- mnorm_sq. now apply pow_lt.
Qed.

(** ts-definition-1-svm
    Covers: the whole statement.
    Reads: if some matrix has gaps of at least 1, there is a shortest one and its d × d entries are unique; W is the solution if and only if some λ ≥ 0 has W = Σ λ_k E_k, all gaps at least 1 and λ_k = 0 wherever the gap exceeds 1; where the problem is feasible, a λ ≥ 0 maximises 2 Σ λ_k − λᵀGλ, with G_kl = ⟨d_k, d_l⟩⟨q_k, q_l⟩ = ⟨E_k, E_l⟩, if and only if it is such multipliers of Σ λ_k E_k. For such λ: ‖W_mm‖² = Σ λ_k, ⟨V, W_mm⟩ = Σ λ_k h_k(V) for every V, and for V ≠ 0 the smallest gap is at most (‖V‖ / ‖W_mm‖) corr(V, W_mm).
    Mistake: `frob2 (dim D) (dim D) W = 2 * pairs D lam` for `frob2 (dim D) (dim D) W = pairs D lam`
    Mistake: `mnorm (dim D) V * mnorm (dim D) W * corr` for `mnorm (dim D) V / mnorm (dim D) W * corr`
    Mistake: `(exists W, solution D W)` for `((exists V, separates D V) -> exists W, solution D W)`
*)
Theorem ts_definition_1_svm : forall D, proper D ->
  ((exists V, separates D V) -> exists W, solution D W) /\
  (forall V W, solution D V -> solution D W -> forall a b, (a < dim D)%nat -> (b < dim D)%nat -> V a b = W a b) /\
  (forall W, solution D W <-> exists lam, multipliers_of D lam W) /\
  (forall i t j s, gram D i t j s = mdot (dim D) (Ek D i t) (Ek D j s)) /\
  (forall lam, (exists V, separates D V) -> (forall i t, pair D i t -> 0 <= lam i t) ->
    ((forall mu, (forall i t, pair D i t -> 0 <= mu i t) -> dual D mu <= dual D lam) <->
      multipliers_of D lam (support D lam))) /\
  (forall lam W, multipliers_of D lam W -> frob2 (dim D) (dim D) W = pairs D lam /\
    (forall V, mdot (dim D) V W = pairs D (fun i t => lam i t * gap D V i t)) /\
    (forall V, 0 < mnorm (dim D) V -> exists i t, pair D i t /\
      gap D V i t <= mnorm (dim D) V / mnorm (dim D) W * corr (dim D) V W)).
Proof.
  intros D P. assert (EX : (exists V, separates D V) -> exists W, solution D W).
  { intros F. destruct (feasible_multipliers D P F) as [lam H]. exists (support D lam). now apply (multipliers_solution D lam). }
  assert (KK : forall W, solution D W -> exists lam, multipliers_of D lam W).
  { intros W S. destruct (feasible_multipliers D P ltac:(exists W; apply S)) as [lam H]. exists lam.
    assert (U := solution_unique D W (support D lam) S (multipliers_solution D lam _ H)).
    destruct H as [H0 [_ [H2 H3]]]. split; [easy|split; [easy|split; [apply S|]]].
    intros i t Hp. rewrite (gap_ext D W (support D lam)) by easy. now apply H3. }
  split; [easy|]. split; [apply solution_unique|].
  split; [intros W; split; [apply KK|intros [lam H]; now apply (multipliers_solution D lam)]|].
  split; [apply gram_Ek|]. split; [intros lam H H0; split|intros lam W M; split; [|split]].
  - (* a maximiser is multipliers *)
    intros Max. destruct (feasible_multipliers D P H) as [l0 H1]. set (W := support D l0) in *.
    assert (N0 := multipliers_norm D l0 W H1). assert (Q := Max l0 (proj1 H1)). rewrite !dual_support in Q. fold W in Q.
    set (V := support D lam) in *.
    assert (A1 : pairs D lam <= mdot (dim D) V W).
    { unfold V. rewrite mdot_support. apply pairs_le. intros i t Hp. destruct H1 as [_ [_ [S _]]].
      assert (Q2 := S i t Hp). assert (Q3 := H0 i t Hp). nra. }
    assert (A2 := frob2_ge0 (dim D) (madd V (-1) W)). assert (A3 := frob2_madd (dim D) V (-1) W).
    assert (A4 : frob2 (dim D) (dim D) (madd V (-1) W) = 0) by lra.
    assert (VW : forall a b, (a < dim D)%nat -> (b < dim D)%nat -> V a b = W a b).
    { intros a b Ha Hb. assert (Q2 := frob2_zero _ _ A4 a b Ha Hb). unfold madd in Q2. lra. }
    split; [easy|split; [easy|split]].
    + intros i t Hp. rewrite (gap_ext D V W) by easy. now apply H1.
    + intros i t Hp Hg. assert (A5 : pairs D (fun i t => lam i t * (gap D V i t - 1)) = 0).
      { assert (A6 : pairs D (fun i t => lam i t * gap D V i t) = frob2 (dim D) (dim D) V)
          by (rewrite frob2_mdot; unfold V at 2; now rewrite mdot_support).
        rewrite (pairs_ext D _ (fun i t => lam i t * gap D V i t + -1 * lam i t)) by (intros; ring).
        rewrite pairs_plus, pairs_scal, A6. assert (frob2 (dim D) (dim D) V = frob2 (dim D) (dim D) W) by now apply frob2_ext.
        lra. }
      assert (A7 : lam i t * (gap D V i t - 1) <= 0).
      { rewrite <- A5. apply (pairs_term D (fun i t => lam i t * (gap D V i t - 1)) i t Hp).
        intros j s Hq. apply Rmult_le_pos; [now apply H0|]. rewrite (gap_ext D V W) by easy.
        destruct H1 as [_ [_ [S _]]]. assert (Q2 := S j s Hq). lra. }
      assert (Q2 := H0 i t Hp). nra.
  - (* multipliers maximise *)
    intros M mu Hmu. rewrite !dual_support. assert (N0 := multipliers_norm D lam _ M). set (W := support D lam) in *.
    assert (pairs D mu <= mdot (dim D) (support D mu) W).
    { rewrite mdot_support. apply pairs_le. intros i t Hp. destruct M as [_ [_ [S _]]].
      assert (Q2 := S i t Hp). assert (Q3 := Hmu i t Hp). nra. }
    assert (A2 := frob2_ge0 (dim D) (madd (support D mu) (-1) W)). rewrite frob2_madd in A2. lra.
  - now apply multipliers_norm.
  - intros V. now apply multipliers_pair.
  - intros V HV. destruct (smallest_gap D V W P (multipliers_solution D lam W M) HV) as [i [t [Hp [_ Q]]]]. now exists i, t.
Qed.

Lemma mnorm_scale d c A : mnorm d (fun a b => c * A a b) = Rabs c * mnorm d A.
Proof. rewrite !mnorm_flat. apply (norm_scal (d * d) c (flat d A)). Qed.

Lemma gap_scale D c W i t : gap D (fun a b => c * W a b) i t = c * gap D W i t.
Proof.
  rewrite !gap_Ek. unfold mdot. rewrite <- Sum_scal. apply Sum_ext. intros. rewrite <- Sum_scal. apply Sum_ext. intros; ring.
Qed.

Lemma support_scale D c lam a b : support D (fun i t => c * lam i t) a b = c * support D lam a b.
Proof. unfold support. rewrite <- pairs_scal. apply pairs_ext. intros; ring. Qed.

Lemma mnorm_zero d A : (forall a b, (a < d)%nat -> (b < d)%nat -> A a b = 0) -> mnorm d A = 0.
Proof.
  intros H. unfold mnorm, frob2. rewrite (Sum_ext d _ (fun _ => 0)); [now rewrite Sum_zero, sqrt_0|]. intros a Ha.
  rewrite (Sum_ext d _ (fun _ => 0)); [apply Sum_zero|]. intros b Hb. rewrite H by easy. ring.
Qed.

(** the smallest gap at W is h; λ ≥ 0 with Σ λ_k = 1 *)
Definition worst_gap (D : data) (W : matrix) : R -> Prop := least (fun h => exists i t, pair D i t /\ h = gap D W i t).
Definition convex (D : data) (lam : matrix) : Prop := (forall i t, pair D i t -> 0 <= lam i t) /\ pairs D lam = 1.

(** ts-definition-1-farkas
    Covers: the whole statement.
    Reads: there is a number v that is the largest value of min_k h_k over matrices with ‖W‖ ≤ 1 and the smallest value of ‖Σ λ_k E_k‖ over λ ≥ 0 with Σ λ_k = 1; v = 1/‖W_mm‖ for a solution W_mm; if no matrix has gaps of at least 1, v = 0 and some such λ has Σ λ_k E_k = 0; and where such a λ exists, no matrix selects.
    Mistake: `v = 2 / mnorm (dim D) W` for `v = / mnorm (dim D) W`
    Mistake: `(v = 0 /\` for `((~ exists V, separates D V) -> v = 0 /\`
    Mistake: `mnorm (dim D) W <= 2 /\` for `mnorm (dim D) W <= 1 /\`
*)
Theorem ts_definition_1_farkas : forall D, proper D -> exists v,
  largest (fun x => exists W, mnorm (dim D) W <= 1 /\ worst_gap D W x) v /\
  least (fun x => exists lam, convex D lam /\ x = mnorm (dim D) (support D lam)) v /\
  (forall W, solution D W -> v = / mnorm (dim D) W) /\
  ((~ exists V, separates D V) -> v = 0 /\
    exists lam, convex D lam /\ forall a b, (a < dim D)%nat -> (b < dim D)%nat -> support D lam a b = 0) /\
  ((exists lam, convex D lam /\ forall a b, (a < dim D)%nat -> (b < dim D)%nat -> support D lam a b = 0) ->
    ~ exists V, forall i t, pair D i t -> 0 < gap D V i t).
Proof.
  intros D P.
  assert (CERT : (exists lam, convex D lam /\ forall a b, (a < dim D)%nat -> (b < dim D)%nat -> support D lam a b = 0) ->
    ~ exists V, forall i t, pair D i t -> 0 < gap D V i t).
  { intros [lam [[C1 C2] C3]] [V HV]. destruct (pair_least D (gap D V) P) as [i [t [Hp M]]]. assert (G := HV i t Hp).
    apply (certificate_infeasible D lam (fun a b => / gap D V i t * V a b) C1 C2 C3). intros j s Hq. rewrite gap_scale.
    apply Rmult_le_reg_l with (gap D V i t); [easy|]. rewrite <- Rmult_assoc, Rinv_r by lra. assert (Q := M j s Hq). lra. }
  destruct (multipliers_or_certificate D) as [[lam H]|[lam [C1 [C2 C3]]]]; [destruct P as [_ [HT _]]; lia| |].
  - set (W := support D lam) in *. assert (S := multipliers_solution D lam W H). assert (N := multipliers_norm D lam W H).
    assert (PW := solution_pos D W P (proj1 S)). set (w := mnorm (dim D) W) in *. rewrite <- mnorm_sq in N. fold w in N.
    assert (Pi : 0 < / w) by now apply Rinv_0_lt_compat.
    exists (/ w). split; [split|split; [split|split; [|split]]].
    + exists (fun a b => / w * W a b). split.
      * rewrite mnorm_scale, Rabs_pos_eq by lra. fold w. rewrite Rinv_l; lra.
      * destruct (smallest_gap D W W P S PW) as [i [t [Hp [M Q]]]]. fold w in Q. split.
        -- exists i, t. split; [easy|]. rewrite gap_scale. replace (gap D W i t) with 1; [ring|].
           apply Rle_antisym; [now apply S|]. unfold corr in Q. fold w in Q. rewrite <- frob2_mdot, <- mnorm_sq in Q. fold w in Q.
           replace (w / w * (w ^ 2 / (w * w))) with 1 in Q by (field; lra). easy.
        -- intros x [j [s [Hq ->]]]. rewrite gap_scale. assert (Q2 := proj1 S j s Hq). nra.
    + intros x [V [HV [[i [t [Hp ->]]] M]]].
      assert (Q := average D V W (gap D V i t) S ltac:(intros j s Hq; apply M; now exists j, s)).
      rewrite <- mnorm_sq in Q. fold w in Q. assert (Q2 := mdot_le (dim D) V W). fold w in Q2.
      assert (mnorm (dim D) V * w <= 1 * w) by (apply Rmult_le_compat_r; lra).
      apply Rmult_le_reg_r with (w ^ 2); [now apply pow_lt|]. replace (/ w * w ^ 2) with w by (field; lra). lra.
    + exists (fun i t => / w ^ 2 * lam i t). split; [split|].
      * intros i t Hp. apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; now apply pow_lt|now apply H].
      * rewrite (pairs_scal D _ lam), <- N. field. lra.
      * transitivity (mnorm (dim D) (fun a b => / w ^ 2 * W a b)).
        -- rewrite mnorm_scale. fold w. rewrite Rabs_pos_eq by (left; apply Rinv_0_lt_compat; now apply pow_lt). field. lra.
        -- unfold mnorm. f_equal. apply frob2_ext. intros. unfold W. now rewrite support_scale.
    + intros x [mu [[M1 M2] ->]]. assert (Q := mdot_support D mu W).
      assert (pairs D mu <= pairs D (fun i t => mu i t * gap D W i t)).
      { apply pairs_le. intros i t Hp. assert (Q2 := proj1 S i t Hp). assert (Q3 := M1 i t Hp). nra. }
      assert (Q2 := mdot_le (dim D) (support D mu) W). fold w in Q2.
      apply Rmult_le_reg_r with w; [easy|]. rewrite Rinv_l by lra. lra.
    + intros V SV. assert (Q := proj2 S V (proj1 SV)). assert (Q2 := proj2 SV W (proj1 S)). f_equal. fold w in Q, Q2. lra.
    + intros F. exfalso. apply F. exists W. apply S.
    + exact CERT.
  - assert (IN : ~ exists V, separates D V) by (intros [V SV]; now apply (certificate_infeasible D lam V)).
    assert (CV : convex D lam) by now split.
    exists 0. split; [split|split; [split|split; [|split]]].
    + exists (fun _ _ => 0). split; [rewrite mnorm_zero by easy; lra|].
      assert (G : forall i t, gap D (fun _ _ => 0) i t = 0).
      { intros i t. transitivity (gap D (fun a b => 0 * (fun _ _ => 0) a b) i t); [apply gap_ext; intros; ring|].
        rewrite gap_scale. ring. }
      split; [|intros x [i [t [_ ->]]]; rewrite G; lra].
      destruct (some_pair D 0 P) as [t Ht]; [destruct P; lia|]. exists 0%nat, t. now rewrite G.
    + intros x [V [_ [[i [t [Hp ->]]] M]]]. apply Rnot_lt_le. intros G. apply CERT; [now exists lam|]. exists V. intros j s Hq.
      eapply Rlt_le_trans; [exact G|]. apply M. now exists j, s.
    + exists lam. split; [easy|]. now rewrite mnorm_zero.
    + intros x [mu [_ ->]]. apply mnorm_ge0.
    + intros V SV. exfalso. apply IN. exists V. apply SV.
    + intros _. split; [easy|]. now exists lam.
    + exact CERT.
Qed.

(** v reads the labels off the queries: y_i ⟨v, x_i1⟩ ≥ 1 *)
Definition readable (D : data) (v : vector) : Prop :=
  forall i, (i < num D)%nat -> 1 <= lab D i * dot (dim D) v (tok D i 0%nat).

Lemma frob2_rank1 d c u v : frob2 d d (fun a b => c * (u a * v b)) = c ^ 2 * (sq d u * sq d v).
Proof.
  unfold frob2. rewrite (Sum_ext d _ (fun a => c ^ 2 * sq d v * u a ^ 2)).
  - rewrite Sum_scal. unfold sq. ring.
  - intros a _. unfold sq. rewrite <- Sum_scal, Rmult_comm, <- Sum_scal. apply Sum_ext. intros; ring.
Qed.

(** ts-definition-1-feasible
    Covers: the whole statement.
    Reads: if y_i⟨v, x_i1⟩ ≥ 1 for all i and δ₀ is the smallest γ_opt − γ_t, then u vᵀ/δ₀ has gaps of at least 1, (W-SVM) has a solution, and every solution has ‖W_mm‖ ≤ ‖u‖‖v‖/δ₀, so also for the shortest such v, which exists; and such v exist whenever the queries are linearly independent.
    Mistake: `<= / 2 * (vnorm (dim D) (dec D) * vnorm (dim D) v / d0)` for `<= vnorm (dim D) (dec D) * vnorm (dim D) v / d0`
    Mistake: without `(forall c, (forall a, (a < dim D)%nat -> Sum (num D) (fun i => c i * tok D i 0%nat a) = 0) -> forall i, (i < num D)%nat -> c i = 0) ->`
*)
Theorem ts_definition_1_feasible : forall D d0, proper D ->
  least (fun x => exists i t, pair D i t /\ x = score D i (opt D i) - score D i t) d0 ->
  (forall v, readable D v -> separates D (fun a b => / d0 * (dec D a * v b)) /\ (exists W, solution D W) /\
    forall W, solution D W -> mnorm (dim D) W <= vnorm (dim D) (dec D) * vnorm (dim D) v / d0) /\
  ((exists v, readable D v) -> exists v, readable D v /\ forall v', readable D v' -> vnorm (dim D) v <= vnorm (dim D) v') /\
  ((forall c, (forall a, (a < dim D)%nat -> Sum (num D) (fun i => c i * tok D i 0%nat a) = 0) -> forall i, (i < num D)%nat -> c i = 0) ->
    exists v, readable D v).
Proof.
  intros D d0 P [[i0 [t0 [Hp0 E0]]] M]. assert (P' := P). destruct P' as [Pn [_ HP]].
  assert (D0 : 0 < d0) by (assert (Q := proj2 (proj2 (HP i0 (proj1 Hp0))) t0 Hp0); lra).
  set (F := fun i a => lab D i * tok D i 0%nat a).
  assert (FD : forall i v, dot (dim D) (F i) v = lab D i * dot (dim D) v (tok D i 0%nat)).
  { intros i v. unfold dot, F. rewrite <- Sum_scal. apply Sum_ext. intros; ring. }
  split; [|split].
  - intros v Hv. assert (S : separates D (fun a b => / d0 * (dec D a * v b))).
    { intros i t Hp. rewrite gap_scale. apply Rmult_le_reg_l with d0; [easy|]. rewrite <- Rmult_assoc, Rinv_r by lra.
      destruct (HP i (proj1 Hp)) as [Hl _]. assert (Q := Hv i (proj1 Hp)).
      assert (Q2 : d0 <= score D i (opt D i) - score D i t) by (apply M; now exists i, t).
      replace (gap D (fun a b => dec D a * v b) i t) with
        ((score D i (opt D i) - score D i t) * (lab D i * dot (dim D) v (tok D i 0%nat))).
      - assert (0 <= (score D i (opt D i) - score D i t) * (lab D i * dot (dim D) v (tok D i 0%nat) - 1)) by
          (apply Rmult_le_pos; lra). lra.
      - rewrite gap_Ek. unfold mdot, Ek.
        rewrite (Sum_ext _ (fun a => Sum _ _) (fun a => dot (dim D) v (tok D i 0%nat) * (dec D a * (tok D i (opt D i) a - tok D i t a)))).
        2:{ intros. unfold dot. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros; ring. }
        rewrite Sum_scal, (Sum_ext _ (fun a => dec D a * _) (fun a => dec D a * tok D i (opt D i) a - dec D a * tok D i t a))
          by (intros; ring).
        rewrite Sum_minus. unfold score. fold (dot (dim D) (dec D) (tok D i (opt D i))). fold (dot (dim D) (dec D) (tok D i t)).
        destruct Hl as [->| ->]; ring. }
    split; [easy|]. split.
    + destruct (feasible_multipliers D P) as [lam H]; [now exists (fun a b => / d0 * (dec D a * v b))|].
      exists (support D lam). now apply (multipliers_solution D lam).
    + intros W SW. eapply Rle_trans; [apply SW, S|]. unfold mnorm. rewrite frob2_rank1.
      rewrite sqrt_mult, sqrt_mult by (apply pow2_ge_0 || apply sq_ge0 || (apply Rmult_le_pos; apply sq_ge0)).
      rewrite sqrt_pow2 by (left; now apply Rinv_0_lt_compat). unfold vnorm. right. field. lra.
  - intros [v Hv]. destruct (shortest_or_certificate (dim D) (num D) F (fun _ => 1)) as [[lam H]|[lam [H0 [H1 H2]]]].
    + set (w := combination (num D) lam F) in *. exists w. split.
      * intros i Hi. rewrite <- FD. now apply H.
      * intros v' Hv'. apply sqrt_le_1_alt. assert (Q := sq_ge0 (dim D) (vminus v' w)). rewrite sq_minus in Q.
        assert (sq (dim D) w <= dot (dim D) v' w); [|lra]. rewrite sq_dot, (dot_sym _ v'). unfold w at 1 3. rewrite !dot_combination.
        apply Sum_le. intros i Hi. destruct (H i Hi) as [A [B C]]. fold w in B, C.
        assert (Q2 := Hv' i Hi). rewrite <- FD in Q2.
        assert (0 <= lam i * (dot (dim D) (F i) v' - 1)) by (apply Rmult_le_pos; lra). lra.
    + exfalso. assert (Q := dot_combination (num D) (dim D) lam F v). rewrite (dot_ext _ _ v (fun _ => 0) v H1) in Q by easy.
      unfold dot in Q at 1. rewrite (Sum_ext _ _ (fun _ => 0)), Sum_zero in Q by (intros; ring).
      assert (Sum (num D) (fun k => lam k * 1) <= Sum (num D) (fun k => lam k * dot (dim D) (F k) v)); [|lra].
      apply Sum_le. intros i Hi. apply Rmult_le_compat_l; [now apply H0|]. rewrite FD. now apply Hv.
  - intros Ind. destruct (shortest_or_certificate (dim D) (num D) F (fun _ => 1)) as [[lam H]|[lam [H0 [H1 H2]]]].
    + exists (combination (num D) lam F). intros i Hi. rewrite <- FD. now apply H.
    + exfalso. assert (Z : forall i, (i < num D)%nat -> lam i * lab D i = 0).
      { apply (Ind (fun i => lam i * lab D i)). intros a Ha. rewrite <- (H1 a Ha). unfold combination, F. apply Sum_ext. intros; ring. }
      rewrite (Sum_ext _ _ (fun _ => 0)), Sum_zero in H2; [lra|]. intros i Hi. assert (Q := Z i Hi).
      destruct (HP i Hi) as [[L|L] _]; rewrite L in Q; lra.
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
  assert ((p * / exp s) * exp s = p) by (field; lra). assert (p * / exp s * exp s <= p * S * exp s) by (apply Rmult_le_compat_r; lra).
  replace (p * S) with (1 - p) in * by lra. lra.
Qed.

Lemma unselected_off D W i s : (opt D i < len D)%nat -> others D i (fun t => exp (- gap D W i t)) <= exp (- s) ->
  1 - phi D W i (opt D i) <= off s.
Proof.
  intros Ho H. assert (Q := phi_opt D W i Ho). assert (Q2 := phi_le1 D W i Ho). set (p := phi D W i (opt D i)) in *.
  assert (0 < exp s) by apply exp_pos. rewrite exp_Ropp in H. unfold off. apply Rmult_le_reg_r with (1 + exp s); [lra|].
  rewrite Rinv_l by lra. set (S := others D i (fun t => exp (- gap D W i t))) in *.
  assert (p * S <= p * / exp s) by (apply Rmult_le_compat_l; lra).
  assert ((p * / exp s) * exp s = p) by (field; lra). assert (p * S * exp s <= p * / exp s * exp s) by (apply Rmult_le_compat_r; lra).
  replace (p * S) with (1 - p) in * by lra. lra.
Qed.

Lemma unselected_exists D W : proper D -> exists r, unselected D W r.
Proof.
  intros [Pn _]. destruct (finite_least (num D) (fun _ => True) (fun i => - (1 - phi D W i (opt D i)))) as [k [Hk [_ M]]].
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
Lemma loss_above_gap D W low i t : proper D -> psi_min D low -> pair D i t ->
  low / INR (num D) * off (gap D W i t) <= loss D W - infimum D.
Proof.
  intros P Hl Hp. destruct (unselected_exists D W P) as [r Hr]. assert (P' := P). destruct P' as [_ [_ HP]].
  assert (EX : exists high, psi_max D high).
  { destruct (finite_least (num D * len D) (fun _ => True) (fun k => - ((score D (k / len D) (opt D (k / len D)) -
      score D (k / len D) (k mod len D)) * exp (- score D (k / len D) (k mod len D))))) as [k [Hk [_ M]]].
    - tauto.
    - exists 0%nat. destruct P as [A [B _]]. split; [nia|easy].
    - assert (HT : (0 < len D)%nat) by nia.
      exists ((score D (k / len D) (opt D (k / len D)) - score D (k / len D) (k mod len D)) * exp (- score D (k / len D) (k mod len D))).
      split.
      + exists (k / len D)%nat, (k mod len D)%nat. split; [|split; [|easy]].
        * apply Nat.div_lt_upper_bound; lia.
        * apply Nat.mod_upper_bound. lia.
      + intros x [j [s [Hj [Hs ->]]]]. assert (Q := M (j * len D + s)%nat ltac:(nia) I).
        rewrite <- (Nat.div_unique (j * len D + s) (len D) j s) in Q by lia.
        rewrite <- (Nat.mod_unique (j * len D + s) (len D) j s) in Q by lia. lra. }
  destruct EX as [high Hh]. destruct (ts_definition_1_infimum D W low high r P Hl Hh Hr) as [Q _].
  eapply Rle_trans; [|exact Q]. destruct (HP i (proj1 Hp)) as [_ [Ho _]]. apply Rmult_le_compat_l.
  - assert (Q2 := psi_min_pos D low P Hl). assert (Q3 := num_pos D P). unfold Rdiv. apply Rmult_le_pos; lra.
  - eapply Rle_trans; [|apply Hr; exists i; split; [apply Hp|easy]]. apply off_unselected; [easy|]. now apply others_exp_pos.
Qed.

Lemma ln_exp_opp T s : (2 <= T)%nat -> exp (- (s - ln (INR T - 1))) = (INR T - 1) * exp (- s).
Proof.
  intros H. assert (2 <= INR T) by (apply (le_INR 2); easy). replace (- (s - ln (INR T - 1))) with (ln (INR T - 1) + - s) by ring.
  rewrite exp_plus, exp_ln by lra. easy.
Qed.

(** ts-definition-1-path
    Covers: the whole statement.
    Reads: let W_mm be the solution of (W-SVM), off(h) = 1/(1 + e^h), Υ = Ψ_max/Ψ_min and R Ŵ = (R/‖W_mm‖) W_mm. Then 𝓛(W) − 𝓛* ≥ (Ψ_min/n) off((‖W‖/‖W_mm‖) corr(W, W_mm)) for every W ≠ 0 and 𝓛(R Ŵ) − 𝓛* ≤ Ψ_max off(R/‖W_mm‖ − log(T − 1)) for every R > 0; if R ≥ ‖W_mm‖ log(2n(T − 1)Υ), then every W with ‖W‖ ≤ R and 𝓛(W) ≤ 𝓛(R Ŵ), a minimiser among these among them, is not 0 and has 1 − corr ≤ (‖W_mm‖/R) log(2n(T − 1)Υ).
    Mistake: `off (mnorm (dim D) W * mnorm (dim D) Wmm * corr (dim D) W Wmm)` for `off (mnorm (dim D) W / mnorm (dim D) Wmm * corr (dim D) W Wmm)`
    Mistake: `off (R / mnorm (dim D) Wmm + ln (INR (len D) - 1))` for `off (R / mnorm (dim D) Wmm - ln (INR (len D) - 1))`
    Mistake: `/ 4 * (mnorm (dim D) Wmm / R * ln` for `mnorm (dim D) Wmm / R * (ln`
*)
Theorem ts_definition_1_path : forall D Wmm low high, proper D -> solution D Wmm -> psi_min D low -> psi_max D high ->
  (forall W, 0 < mnorm (dim D) W -> low / INR (num D) * off (mnorm (dim D) W / mnorm (dim D) Wmm * corr (dim D) W Wmm)
    <= loss D W - infimum D) /\
  (forall R, 0 < R -> loss D (fun a b => R / mnorm (dim D) Wmm * Wmm a b) - infimum D
    <= high * off (R / mnorm (dim D) Wmm - ln (INR (len D) - 1))) /\
  (forall R W, 0 < R -> mnorm (dim D) Wmm * ln (2 * INR (num D) * (INR (len D) - 1) * (high / low)) <= R ->
    mnorm (dim D) W <= R -> loss D W <= loss D (fun a b => R / mnorm (dim D) Wmm * Wmm a b) ->
    0 < mnorm (dim D) W /\
    1 - corr (dim D) W Wmm <= mnorm (dim D) Wmm / R * (ln (2 * INR (num D) * (INR (len D) - 1) * (high / low)))).
Proof.
  intros D Wmm low high P S Hl Hh. assert (P' := P). destruct P' as [Pn [HT HP]].
  assert (Pw := solution_pos D Wmm P (proj1 S)). set (w := mnorm (dim D) Wmm) in *.
  assert (Pl := psi_min_pos D low P Hl). assert (Nn := num_pos D P).
  assert (IT : 2 <= INR (len D)) by (apply (le_INR 2); easy). assert (In : 1 <= INR (num D)) by (apply (le_INR 1); easy).
  assert (L1 : forall W, 0 < mnorm (dim D) W -> low / INR (num D) * off (mnorm (dim D) W / w * corr (dim D) W Wmm)
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
  assert (L2 : forall R, 0 < R -> loss D (fun a b => R / w * Wmm a b) - infimum D <= high * off (R / w - ln (INR (len D) - 1))).
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
  { unfold e. assert (ln K <= R / w); [|lra]. apply Rmult_le_reg_l with w; [easy|]. replace (w * (R / w)) with R by (field; lra). easy. }
  assert (EE : 1 <= exp e) by (assert (Q := exp_ineq1_le e); lra).
  (* whatever the excess of W bounds from below by off(m) has m > e or so *)
  assert (KEY : forall m, low / INR (num D) * off m <= loss D W - infimum D -> 0 < m /\ e <= m).
  { intros m Hm. assert (Q := L2 R HR). assert (Q2 : low / INR (num D) * off m <= high * off (R / w - ln (INR (len D) - 1))) by lra.
    assert (Q3 : off (R / w - ln (INR (len D) - 1)) < (INR (len D) - 1) * exp (- (R / w))).
    { rewrite <- ln_exp_opp by easy. rewrite exp_Ropp. assert (0 < exp (R / w - ln (INR (len D) - 1))) by apply exp_pos.
      unfold off. apply Rinv_lt_contravar; [|lra]. apply Rmult_lt_0_compat; lra. }
    assert (Q4 : low / INR (num D) * off m < high * ((INR (len D) - 1) * exp (- (R / w)))).
    { eapply Rle_lt_trans; [exact Q2|]. apply Rmult_lt_compat_l; lra. }
    assert (Q5 : off m < / (2 * exp e)).
    { apply Rmult_lt_reg_l with (low / INR (num D)); [now apply Rdiv_lt_0_compat; [|lra]|].
      eapply Rlt_le_trans; [exact Q4|]. right. unfold e. replace (R / w - ln K) with (- ln K + - - (R / w)) by ring.
      rewrite exp_plus, (exp_Ropp (- (R / w))), (exp_Ropp (ln K)), exp_ln by easy. assert (0 < exp (- (R / w))) by apply exp_pos.
      unfold K. field. repeat split; lra. }
    assert (0 < exp m) by apply exp_pos. assert (Q6 : 2 * exp e < 1 + exp m).
    { apply Rnot_le_lt. intros A. assert (/ (2 * exp e) <= off m); [|lra]. apply Rinv_le_contravar; lra. }
    split.
    - apply exp_lt_inv. rewrite exp_0. lra.
    - left. apply exp_lt_inv. lra. }
  assert (NZ : 0 < mnorm (dim D) W).
  { destruct (Req_dec (mnorm (dim D) W) 0) as [Z|Z]; [|assert (0 <= mnorm (dim D) W) by apply mnorm_ge0; lra]. exfalso.
    destruct (some_pair D 0 P) as [t Ht]; [lia|]. destruct (KEY _ (loss_above_gap D W low 0 t P Hl Ht)) as [A _].
    rewrite gap_Ek in A. assert (Q := mdot_le (dim D) (Ek D 0 t) W). rewrite Z in Q. lra. }
  split; [easy|]. destruct (KEY _ (L1 W NZ)) as [A B]. set (c := corr (dim D) W Wmm) in *. set (x := mnorm (dim D) W) in *.
  assert (Pc : 0 < c).
  { apply Rmult_lt_reg_l with (x / w); [now apply Rdiv_lt_0_compat|]. lra. }
  assert (C : e <= R / w * c).
  { eapply Rle_trans; [exact B|]. apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|easy]. }
  unfold e in C. apply Rmult_le_reg_l with (R / w); [now apply Rdiv_lt_0_compat|].
  replace (R / w * (w / R * ln K)) with (ln K) by (field; lra). lra.
Qed.
