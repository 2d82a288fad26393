(** Samples of tokens that one head of attention reads: scores, gaps, the loss, the SVM of attention, descent. *)
Require Import Reals Lra Lia Psatz Arith.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.matrices.
Open Scope R_scope.

(** the cosine corr of two matrices *)
Definition corr (d : nat) (A B : matrix) : R := fdot d d A B / (fnorm d d A * fnorm d d B).

(** n samples of T tokens in ℝᵈ, their labels y, the decoder u, and the index of each sample's optimal token;
    indices start at 0, so that token 0 asks *)
Record data := Data { num : nat; len : nat; dim : nat; tok : nat -> nat -> vector; lab : vector; dec : vector;
  opt : nat -> nat }.

(** (i, t) is a sample and a token of it that is not optimal *)
Definition pair (D : data) (i t : nat) : Prop := (i < num D)%nat /\ (t < len D)%nat /\ t <> opt D i.

(** γ_it = y_i ⟨u, x_it⟩ *)
Definition score (D : data) (i t : nat) : R := lab D i * dot (dim D) (dec D) (tok D i t).

(** n ≥ 1, T ≥ 2, labels ±1, and opt_i is the only token of sample i with the largest score *)
Definition proper (D : data) : Prop := (1 <= num D)%nat /\ (2 <= len D)%nat /\
  forall i, (i < num D)%nat -> (lab D i = 1 \/ lab D i = -1) /\ (opt D i < len D)%nat /\
    forall t, pair D i t -> score D i t < score D i (opt D i).

(** φ_i = softmax (X_i W x_i1), y_i f_i with f_i = ⟨u, X_iᵀ φ_i⟩, ℓ_i = exp (− y_i f_i), the loss and its infimum *)
Definition phi (D : data) (W : matrix) (i : nat) : vector := weights (len D) (dim D) (tok D i) (tok D i 0%nat) W.
Definition answer (D : data) (W : matrix) (i : nat) : R := dot (dim D) (dec D) (attended (len D) (phi D W i) (tok D i)).
Definition sample_loss (D : data) (W : matrix) (i : nat) : R := exp (- (lab D i * answer D W i)).
Definition loss (D : data) (W : matrix) : R := / INR (num D) * Sum (num D) (sample_loss D W).
Definition infimum (D : data) : R := / INR (num D) * Sum (num D) (fun i => exp (- score D i (opt D i))).

(** h_it = ⟨x_opt − x_t, W x_i1⟩ and E_it = (x_opt − x_t) x_i1ᵀ *)
Definition gap (D : data) (W : matrix) (i t : nat) : R :=
  dot (dim D) (vminus (tok D i (opt D i)) (tok D i t)) (matvec (dim D) W (tok D i 0)).
Definition Ek (D : data) (i t : nat) : matrix := fun a b => (tok D i (opt D i) a - tok D i t a) * tok D i 0%nat b.

(** Σ over the tokens of sample i that are not optimal, and over all pairs *)
Definition others (D : data) (i : nat) (f : nat ->
  R) : R := Sum (len D) (fun t => if Nat.eqb t (opt D i) then 0 else f t).
Definition pairs (D : data) (f : nat -> nat -> R) : R := Sum (num D) (fun i => others D i (f i)).

(** Ψ_min = min (γ_opt − γ_t) exp (− γ_opt) over pairs, Ψ_max = max (γ_opt − γ_t) exp (− γ_t) over tokens *)
Definition psi_min (D : data) : R -> Prop := least (fun x =>
  exists i t, pair D i t /\ x = (score D i (opt D i) - score D i t) * exp (- score D i (opt D i))).
Definition psi_max (D : data) : R -> Prop := largest (fun x =>
  exists i t, (i < num D)%nat /\ (t < len D)%nat /\ x = (score D i (opt D i) - score D i t) * exp (- score D i t)).

(** W meets the constraints of (W-SVM); W is a shortest such matrix *)
Definition separates (D : data) (W : matrix) : Prop := forall i t, pair D i t -> 1 <= gap D W i t.
Definition solution (D : data) (W : matrix) : Prop :=
  separates D W /\ forall V, separates D V -> fnorm (dim D) (dim D) W <= fnorm (dim D) (dim D) V.

(** 𝖤 = max ‖E_k‖ *)
Definition longest (D : data) : R -> Prop := largest (fun x => exists i t, pair D i t /\ x = fnorm (dim D) (dim D)
  (Ek D i t)).

(** −∇L(W) = (1/n) Σ ℓ_i X_iᵀ (diag φ_i − φ_iφ_iᵀ) γ_i x_i1ᵀ *)
Definition descent (D : data) (W : matrix) : matrix := fun a b => / INR (num D) * Sum (num D) (fun i =>
  sample_loss D W i * Sum (len D) (fun t => tok D i t a * matvec (len D) (jacobian (phi D W i)) (score D i) t)
  * tok D i 0%nat b).

(** Assumption 2: all tokens of a sample but the optimal one have one score γ_i, that of the first of them *)
Definition rest (D : data) (i : nat) : R := score D i (if Nat.eqb (opt D i) 0 then 1%nat else 0%nat).
Definition equal_scores (D : data) : Prop := forall i t, pair D i t -> score D i t = rest D i.

(** Δ_i = γ_opt − γ_i, and the weight w_it = Δ_i ℓ_i φ_opt φ_t / n of E_it in descent *)
Definition lead (D : data) (i : nat) : R := score D i (opt D i) - rest D i.
Definition weight (D : data) (W : matrix) (i t : nat) : R :=
  / INR (num D) * (sample_loss D W i * lead D i) * phi D W i (opt D i) * phi D W i t.

(** A run of descent with multipliers η_t > 0, and the length s_t of a step *)
Definition run (D : data) (eta : nat -> R) (W : nat -> matrix) : Prop :=
  forall t, 0 < eta t /\ W (S t) = shifted (W t) (descent D (W t)) (eta t).
Definition step_length (D : data) (W : nat -> matrix) (t : nat) : R := fnorm (dim D) (dim D) (shifted (W (S t)) (W t)
  (-1)).

(** Sums over pairs *)
Lemma others_le D i f g : (forall t, (t < len D)%nat -> t <> opt D i -> f t <= g t) -> others D i f <= others D i g.
Proof. intros H. apply Sum_le. intros t Ht. destruct (Nat.eqb_spec t (opt D i)); [lra|auto]. Qed.

Lemma others_ext D i f g : (forall t, (t < len D)%nat -> t <> opt D i -> f t = g t) -> others D i f = others D i g.
Proof. intros H. apply Sum_ext. intros t Ht. destruct (Nat.eqb_spec t (opt D i)); auto. Qed.

Lemma others_scal D i c f : others D i (fun t => c * f t) = c * others D i f.
Proof. unfold others. rewrite <- Sum_scal. apply Sum_ext. intros. destruct (Nat.eqb i0 (opt D i)); ring. Qed.

Lemma others_plus D i f g : others D i (fun t => f t + g t) = others D i f + others D i g.
Proof. unfold others. rewrite <- Sum_plus. apply Sum_ext. intros. destruct (Nat.eqb i0 (opt D i)); ring. Qed.

Lemma others_split D i f : (opt D i < len D)%nat -> Sum (len D) f = f (opt D i) + others D i f.
Proof.
  intros H. unfold others.
  rewrite (Sum_ext (len D) f (fun t => (if Nat.eqb t (opt D i) then f t else 0) + if Nat.eqb t (opt D i)
    then 0 else f t))
    by (intros t _; destruct (Nat.eqb t (opt D i)); ring).
  rewrite Sum_plus, (Sum_single (len D) (fun t => if Nat.eqb t (opt D i) then f t else 0) (opt D i) H).
  - now rewrite Nat.eqb_refl.
  - intros t _ Ht. destruct (Nat.eqb_spec t (opt D i)); easy.
Qed.

Lemma others_ge0 D i f : (forall t, (t < len D)%nat -> t <> opt D i -> 0 <= f t) -> 0 <= others D i f.
Proof. intros H. apply Sum_ge0. intros t Ht. destruct (Nat.eqb_spec t (opt D i)); [lra|auto]. Qed.

Lemma others_term D i f s : (s < len D)%nat -> s <> opt D i ->
  (forall t, (t < len D)%nat -> t <> opt D i -> 0 <= f t) -> f s <= others D i f.
Proof.
  intros Hs Hn H. assert (Q := Sum_term (len D) (fun t => if Nat.eqb t (opt D i) then 0 else f t) s Hs).
  cbv beta in Q. destruct (Nat.eqb_spec s (opt D i)); [easy|]. apply Q.
  intros t Ht. destruct (Nat.eqb_spec t (opt D i)); [lra|auto].
Qed.

Lemma others_const D i c : (opt D i < len D)%nat -> others D i (fun _ => c) = (INR (len D) - 1) * c.
Proof. intros H. assert (Q := others_split D i (fun _ => c) H). rewrite Sum_const in Q. lra. Qed.

Lemma pairs_le D f g : (forall i t, pair D i t -> f i t <= g i t) -> pairs D f <= pairs D g.
Proof. intros H. apply Sum_le. intros. apply others_le. intros. now apply H. Qed.

Lemma pairs_ext D f g : (forall i t, pair D i t -> f i t = g i t) -> pairs D f = pairs D g.
Proof. intros H. apply Sum_ext. intros. apply others_ext. intros. now apply H. Qed.

Lemma pairs_scal D c f : pairs D (fun i t => c * f i t) = c * pairs D f.
Proof. unfold pairs. rewrite <- Sum_scal. apply Sum_ext. intros. apply others_scal. Qed.

Lemma pairs_plus D f g : pairs D (fun i t => f i t + g i t) = pairs D f + pairs D g.
Proof. unfold pairs. rewrite <- Sum_plus. apply Sum_ext. intros. apply others_plus. Qed.

Lemma pairs_term D f i t : pair D i t -> (forall j s, pair D j s -> 0 <= f j s) -> f i t <= pairs D f.
Proof.
  intros [Hi [Ht Hn]] H. apply Rle_trans with (others D i (f i)).
  - apply others_term; auto. intros. now apply H.
  - apply (Sum_term (num D) (fun j => others D j (f j))); [easy|]. intros. apply others_ge0. intros. now apply H.
Qed.

Lemma others_swap D i d f : others D i (fun t => Sum d (f t)) = Sum d (fun a => others D i (fun t => f t a)).
Proof.
  unfold others. rewrite <- Sum_swap. apply Sum_ext. intros.
  destruct (Nat.eqb i0 (opt D i)); [now rewrite Sum_zero|easy].
Qed.

Lemma pairs_swap D d f : pairs D (fun i t => Sum d (f i t)) = Sum d (fun a => pairs D (fun i t => f i t a)).
Proof. unfold pairs. rewrite <- Sum_swap. apply Sum_ext. intros. apply others_swap. Qed.

(** ⟨Σ c_k A_k, V⟩ = Σ c_k ⟨A_k, V⟩ *)
Lemma mdot_pairs D d c A V :
  fdot d d (fun a b => pairs D (fun i t => c i t * A i t a b)) V = pairs D (fun i t => c i t * fdot d d (A i t) V).
Proof.
  unfold fdot. symmetry.
  rewrite (pairs_ext D _ (fun i t => Sum d (fun a => c i t * Sum d (fun b => A i t a b * V a b))))
    by (intros; now rewrite Sum_scal).
  rewrite pairs_swap. apply Sum_ext. intros a _.
  rewrite (pairs_ext D _ (fun i t => Sum d (fun b => c i t * (A i t a b * V a b)))) by (intros; now rewrite Sum_scal).
  rewrite pairs_swap. apply Sum_ext. intros b _. rewrite Rmult_comm, <- pairs_scal. apply pairs_ext. intros; ring.
Qed.

(** ‖Σ c_k A_k‖ ≤ (Σ c_k) e, for c ≥ 0 and ‖A_k‖ ≤ e *)
Lemma mnorm_pairs D d c A e : (forall i t, pair D i t -> 0 <= c i t /\ fnorm d d (A i t) <= e) ->
  fnorm d d (fun a b => pairs D (fun i t => c i t * A i t a b)) <= pairs D c * e.
Proof.
  intros H. set (V := fun a b => pairs D (fun i t => c i t * A i t a b)).
  assert (Q : fnorm d d V ^ 2 <= pairs D c * e * fnorm d d V).
  { rewrite fnorm_sq, frob2_fdot. unfold V at 1. rewrite mdot_pairs.
    rewrite Rmult_assoc, (Rmult_comm (pairs D c)), <- pairs_scal. apply pairs_le. intros i t Hp.
    destruct (H i t Hp) as [A1 A2]. rewrite Rmult_comm. apply Rmult_le_compat_r; [easy|].
    eapply Rle_trans; [apply fdot_le|]. apply Rmult_le_compat_r; [apply fnorm_ge0|easy]. }
  destruct (Req_dec (fnorm d d V) 0) as [->|N].
  - apply Rle_trans with (pairs D (fun _ _ => 0)).
    + unfold pairs, others. rewrite (Sum_ext (num D) _ (fun _ => 0)); [rewrite Sum_zero; lra|].
      intros. rewrite (Sum_ext (len D) _ (fun _ => 0)); [apply Sum_zero|]. intros. now destruct (Nat.eqb i0 (opt D i)).
    + rewrite Rmult_comm, <- pairs_scal. apply pairs_le. intros i t Hp. destruct (H i t Hp) as [A1 A2].
      apply Rmult_le_pos; [|easy]. eapply Rle_trans; [apply fnorm_ge0|exact A2].
  - apply Rmult_le_reg_r with (fnorm d d V); [assert (0 <= fnorm d d V) by apply fnorm_ge0; lra|]. lra.
Qed.

(** Gaps *)
Lemma gap_Ek D W i t : gap D W i t = fdot (dim D) (dim D) (Ek D i t) W.
Proof.
  unfold gap, fdot, dot, Ek, vminus, matvec. apply Sum_ext. intros a _. rewrite <- Sum_scal. apply Sum_ext.
    intros; ring.
Qed.

Lemma gap_shifted D A c B i t : gap D (shifted A B c) i t = gap D A i t + c * gap D B i t.
Proof. rewrite !gap_Ek. apply fdot_shifted_r. Qed.

Lemma phi_gap D W i t : (0 < len D)%nat -> phi D W i t = phi D W i (opt D i) * exp (- gap D W i t).
Proof.
  intros H. unfold phi, weights, gap. rewrite dot_minus_l.
  set (z := fun t => dot (dim D) (tok D i t) (matvec (dim D) W (tok D i 0))).
  change (softmax (len D) z t = softmax (len D) z (opt D i) * exp (- (z (opt D i) - z t))). unfold softmax.
  assert (P := partition_pos (len D) z H).
  replace (- (z (opt D i) - z t)) with (z t + - z (opt D i)) by ring. rewrite exp_plus, exp_Ropp.
  assert (0 < exp (z (opt D i))) by apply exp_pos. field. split; lra.
Qed.

Lemma phi_pos D W i t : (0 < len D)%nat -> 0 < phi D W i t.
Proof. apply softmax_pos. Qed.

Lemma phi_distribution D W i : (0 < len D)%nat -> distribution (len D) (phi D W i).
Proof. apply weights_distribution. Qed.

Lemma phi_others D W i : (opt D i < len D)%nat -> others D i (phi D W i) = 1 - phi D W i (opt D i).
Proof.
  intros H. destruct (phi_distribution D W i ltac:(lia)) as [_ Q]. rewrite (others_split D i _ H) in Q. lra.
Qed.

Lemma phi_opt D W i : (opt D i < len D)%nat ->
  phi D W i (opt D i) * (1 + others D i (fun t => exp (- gap D W i t))) = 1.
Proof.
  intros H. assert (Q := phi_others D W i H).
  rewrite (others_ext D i (phi D W i) (fun t => phi D W i (opt D i) * exp (- gap D W i t))) in Q
    by (intros; apply phi_gap; lia).
  rewrite others_scal in Q. lra.
Qed.

Lemma others_exp_ge0 D W i : 0 <= others D i (fun t => exp (- gap D W i t)).
Proof. apply others_ge0. intros. left. apply exp_pos. Qed.

Lemma others_exp_pos D W i t : pair D i t -> exp (- gap D W i t) <= others D i (fun t => exp (- gap D W i t)).
Proof. intros [_ [H1 H2]]. apply (others_term D i (fun t => exp (- gap D W i t)) t H1 H2). intros. left.
  apply exp_pos. Qed.

(** y_i f_i = Σ φ_t γ_t *)
Lemma answer_average D W i : lab D i * answer D W i = E (len D) (phi D W i) (score D i).
Proof.
  unfold answer, attended, E, dot, score.
  rewrite (Sum_ext (dim D) _ (fun a => Sum (len D) (fun t => phi D W i t * (dec D a * tok D i t a))))
    by (intros; rewrite <- Sum_scal; apply Sum_ext; intros; ring).
  rewrite Sum_swap, <- Sum_scal. apply Sum_ext. intros. unfold dot. rewrite Sum_scal. ring.
Qed.

Lemma answer_below D W i : (opt D i < len D)%nat -> score D i (opt D i) - lab D i * answer D W i =
  others D i (fun t => phi D W i t * (score D i (opt D i) - score D i t)).
Proof.
  intros H. rewrite answer_average. destruct (phi_distribution D W i ltac:(lia)) as [_ Q].
  assert (Q2 := others_split D i (fun t => phi D W i t * (score D i (opt D i) - score D i t)) H).
  cbv beta in Q2. rewrite (Sum_ext (len D) _ (fun t => score D i (opt D i)
    * phi D W i t - phi D W i t * score D i t)) in Q2
    by (intros; ring).
  rewrite Sum_minus, Sum_scal, Q in Q2. unfold E. lra.
Qed.

(** There is a pair, and a solution is not 0. *)
Lemma some_pair D i : proper D -> (i < num D)%nat -> exists t, pair D i t.
Proof.
  intros [_ [HT _]] Hi. destruct (Nat.eq_dec (opt D i) 0) as [H|H].
  - exists 1%nat. repeat split; lia.
  - exists 0%nat. repeat split; lia.
Qed.

Lemma solution_pos D W : proper D -> separates D W -> 0 < fnorm (dim D) (dim D) W.
Proof.
  intros P S. destruct (some_pair D 0 P) as [t Ht]; [destruct P; lia|].
  assert (Q := S _ _ Ht). rewrite gap_Ek in Q. assert (Q2 := fdot_le (dim D) (dim D) (Ek D 0 t) W).
  destruct (Req_dec (fnorm (dim D) (dim D) W) 0) as [Z|Z]; [rewrite Z in Q2; lra|].
  assert (0 <= fnorm (dim D) (dim D) W) by apply fnorm_ge0. lra.
Qed.

(** ⟨W, W_mm⟩ ≥ m ‖W_mm‖² where all gaps at W are at least m: from W_mm a step towards W − m W_mm separates still. *)
Lemma average D W Wmm m : solution D Wmm -> (forall i t, pair D i t -> m <= gap D W i t) ->
  m * frob2 (dim D) (dim D) Wmm <= fdot (dim D) (dim D) W Wmm.
Proof.
  intros [S H] Hm. set (d := dim D) in *. destruct (Rle_lt_dec (m * frob2 d d Wmm) (fdot d d W Wmm)) as [|Hlt]; [easy|].
  exfalso. set (V := shifted W Wmm (- m)). set (q := fdot d d Wmm V).
  assert (Hq : q < 0) by (unfold q, V; rewrite fdot_shifted_r, <- frob2_fdot, fdot_sym; lra).
  assert (HV : 0 <= frob2 d d V) by apply frob2_ge0.
  set (e := Rmin (/ (1 + Rabs m)) (- q / (frob2 d d V + 1))).
  assert (Ha : 0 <= Rabs m) by apply Rabs_pos. assert (Ha2 := Rle_abs m).
  assert (E1 : e <= / (1 + Rabs m)) by apply Rmin_l. assert (E2 : e <= - q / (frob2 d d V + 1)) by apply Rmin_r.
  assert (E0 : 0 < e) by (apply Rmin_glb_lt; [apply Rinv_0_lt_compat; lra|apply Rdiv_lt_0_compat; lra]).
  assert (e * (1 + Rabs m) <= 1).
  { apply (Rmult_le_compat_r (1 + Rabs m)) in E1; [|lra]. rewrite Rinv_l in E1; lra. }
  assert (e * (frob2 d d V + 1) <= - q).
  { apply Rmult_le_reg_r with (/ (frob2 d d V + 1)); [apply Rinv_0_lt_compat; lra|].
    replace (e * (frob2 d d V + 1) * / (frob2 d d V + 1)) with e by (field; lra). exact E2. }
  assert (Sep : separates D (shifted Wmm V e)).
  { intros i t Hp. rewrite gap_shifted. unfold V. rewrite gap_shifted. assert (Q := S i t Hp). assert (Q2 := Hm i t Hp).
    assert (e * m <= e * Rabs m) by (apply Rmult_le_compat_l; lra).
    assert (0 <= (1 - e * m) * (gap D Wmm i t - 1)) by (apply Rmult_le_pos; lra).
    assert (0 <= e * (gap D W i t - m)) by (apply Rmult_le_pos; lra). lra. }
  apply H in Sep. apply fnorm_le in Sep. fold d in Sep. rewrite frob2_shifted in Sep. fold q in Sep.
  assert (e * (e * (frob2 d d V + 1)) <= e * - q) by (apply Rmult_le_compat_l; lra).
  assert (e * q < 0) by (rewrite <- (Rmult_0_r e); apply Rmult_lt_compat_l; easy).
    assert (0 <= e ^ 2) by apply pow2_ge_0. lra.
Qed.
