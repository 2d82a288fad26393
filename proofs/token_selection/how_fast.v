(** The residual of a run grows slowly: O(1/t) for normalised descent, and the paper's way to log t / t. *)
Require Import Reals Lra Lia Psatz.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.matrices base.samples.
From Shallow Require Import token_selection.selection token_selection.every_step.
Open Scope R_scope.

(** r with W = r V + D and D ⊥ V, the residual D, and ⟨W, V/‖V‖⟩ *)
Definition share (d : nat) (V W : matrix) : R := fdot d d W V / fnorm d d V ^ 2.
Definition residual (d : nat) (V W : matrix) : matrix := shifted W V (- share d V W).
Definition along (d : nat) (V W : matrix) : R := fdot d d W V / fnorm d d V.

(** φ_opt ≥ p > 0 for all samples at all steps *)
Definition attended_run (D : data) (p : R) (W : nat -> matrix) : Prop :=
  0 < p /\ forall t i, (i < num D)%nat -> p <= phi D (W t) i (opt D i).

(** Λ₀ ≥ 0 with Λ₀ exp Λ₀ = (K − 1) Υ / (e φ_min²), for K = n (T − 1) pairs and Υ = Ψ_max / Ψ_min *)
Definition key_constant (D : data) (low high p Lam : R) : Prop := 0 <= Lam /\
  Lam * exp Lam = (INR (num D) * (INR (len D) - 1) - 1) * (high / low) / (exp 1 * p ^ 2).

Lemma residual_sq d V W : 0 < fnorm d d V -> frob2 d d (residual d V W) = frob2 d d W - along d V W ^ 2.
Proof.
  intros H. unfold residual, share, along. rewrite frob2_shifted. rewrite <- (fnorm_sq d d V). field. lra.
Qed.

Lemma along_le d V W : 0 < fnorm d d V -> along d V W <= fnorm d d W.
Proof.
  intros H. unfold along. apply Rmult_le_reg_r with (fnorm d d V); [easy|].
  replace (fdot d d W V / fnorm d d V * fnorm d d V) with (fdot d d W V) by (field; lra). apply fdot_le.
Qed.

Lemma corr_residual d V W : 0 < fnorm d d V -> 0 < along d V W ->
  1 - corr d W V <= frob2 d d (residual d V W) / (2 * along d V W ^ 2).
Proof.
  intros H A. rewrite residual_sq by easy. assert (L := along_le d V W H). set (a := along d V W) in *.
  rewrite <- fnorm_sq. replace (corr d W V) with (a / fnorm d d W) by (unfold corr, a, along; field; lra).
  set (n := fnorm d d W) in *. assert (0 < a ^ 2) by (apply pow_lt; lra).
  apply Rmult_le_reg_r with (2 * a ^ 2 * n); [apply Rmult_lt_0_compat; lra|].
  replace ((1 - a / n) * (2 * a ^ 2 * n)) with (2 * a ^ 2 * (n - a)) by (field; lra).
  replace ((n ^ 2 - a ^ 2) / (2 * a ^ 2) * (2 * a ^ 2 * n)) with ((n - a) * (n * (n + a))) by (field; lra).
  rewrite Rmult_comm. apply Rmult_le_compat_l; [lra|]. nra.
Qed.

Lemma worst_gap_exists D W : proper D -> exists m, worst_gap D W m.
Proof.
  intros P. destruct (pair_least D (gap D W) P) as [i [t [Hp M]]]. exists (gap D W i t). split; [now exists i, t|].
  intros x [j [s [Hq ->]]]. now apply M.
Qed.

(** the smallest gap is at most r *)
Lemma worst_share D W Wmm m : proper D -> solution D Wmm -> worst_gap D W m -> m <= share (dim D) Wmm W.
Proof.
  intros P S [_ Hm]. assert (PW := solution_pos D Wmm P (proj1 S)). unfold share.
  apply Rmult_le_reg_r with (fnorm (dim D) (dim D) Wmm ^ 2); [now apply pow_lt|].
  replace (fdot (dim D) (dim D) W Wmm / fnorm (dim D) (dim D) Wmm ^ 2 * fnorm (dim D) (dim D) Wmm ^ 2) with (fdot (dim D) (dim D) W Wmm)
    by (field; lra).
  rewrite fnorm_sq. apply average; [easy|]. intros i t Hp. apply Hm. now exists i, t.
Qed.

Lemma pull_norm D W Wmm : proper D -> equal_scores D -> solution D Wmm ->
  pairs D (weight D W) <= fdot (dim D) (dim D) (descent D W) Wmm <= fnorm (dim D) (dim D) (descent D W) * fnorm (dim D) (dim D) Wmm.
Proof. intros P ES S. split; [apply descent_gain; easy || apply S|apply fdot_le]. Qed.

(** the gradient hardly points away from the line: ⟨−∇𝓛, D⟩ ≤ Λ₀ ‖W_mm‖ ‖∇𝓛‖ *)
Lemma outward D W Wmm low high p Lam : proper D -> equal_scores D -> psi_min D low -> psi_max D high ->
  solution D Wmm -> 0 < p -> (forall i, (i < num D)%nat -> p <= phi D W i (opt D i)) -> key_constant D low high p Lam ->
  0 <= share (dim D) Wmm W ->
  fdot (dim D) (dim D) (descent D W) W - share (dim D) Wmm W * fdot (dim D) (dim D) (descent D W) Wmm
    <= Lam * (fnorm (dim D) (dim D) Wmm * fnorm (dim D) (dim D) (descent D W)).
Proof.
  intros P ES Hl Hh S Hp Hphi [L0 HL] Hr. destruct (worst_gap_exists D W P) as [m Hm].
  assert (Q := one_line D W low high p Lam m P ES Hl Hh Hp Hphi L0 ltac:(rewrite HL; lra) Hm).
  rewrite <- mdot_descent_pairs in Q by easy. destruct (pull_norm D W Wmm P ES S) as [A B].
  assert (M := worst_share D W Wmm m P S Hm). assert (WP := weights_pos D W P ES). set (s := pairs D (weight D W)) in *.
  set (r := share (dim D) Wmm W) in *. set (g := fdot (dim D) (dim D) (descent D W) Wmm) in *.
  assert (m * s <= r * s) by (apply Rmult_le_compat_r; lra). assert (r * s <= r * g) by (apply Rmult_le_compat_l; lra).
  assert (Lam * s <= Lam * (fnorm (dim D) (dim D) Wmm * fnorm (dim D) (dim D) (descent D W))) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma length_eta D eta W t : run D eta W -> step_length D W t = eta t * fnorm (dim D) (dim D) (descent D (W t)).
Proof. apply run_step. Qed.

Lemma along_step D e Wmm eta W t : proper D -> equal_scores D -> longest D e -> solution D Wmm -> run D eta W ->
  0 < step_length D W t /\
  along (dim D) Wmm (W t) + / (e * fnorm (dim D) (dim D) Wmm) * step_length D W t <= along (dim D) Wmm (W (S t)).
Proof.
  intros P ES He S H. assert (PW := solution_pos D Wmm P (proj1 S)). rewrite (length_eta D eta) by easy.
  destruct (H t) as [Eta B]. rewrite B. unfold along. rewrite fdot_shifted_l.
  destruct (ts_lemma_4 D (W t) e P ES He) as [_ [_ [_ [_ Q]]]]. destruct (Q Wmm S) as [N C]. unfold corr in C.
  set (w := fnorm (dim D) (dim D) Wmm) in *. set (x := fnorm (dim D) (dim D) (descent D (W t))) in *.
  set (m := fdot (dim D) (dim D) (descent D (W t)) Wmm) in *. split; [now apply Rmult_lt_0_compat|].
  assert (C2 : / (e * w) * x <= m / w).
  { apply (Rmult_le_compat_r x) in C; [|lra]. replace (m / (x * w) * x) with (m / w) in C by (field; lra). easy. }
  assert (eta t * (/ (e * w) * x) <= eta t * (m / w)) by (apply Rmult_le_compat_l; lra).
  unfold Rdiv in *. rewrite Rmult_plus_distr_r. lra.
Qed.

Lemma share_along d V W : 0 < fnorm d d V -> share d V W = along d V W / fnorm d d V.
Proof. intros H. unfold share, along. field. lra. Qed.

Lemma residual_step D Wmm eta W t low high p Lam : proper D -> equal_scores D -> psi_min D low -> psi_max D high ->
  solution D Wmm -> run D eta W -> attended_run D p W -> key_constant D low high p Lam ->
  0 <= along (dim D) Wmm (W t) ->
  frob2 (dim D) (dim D) (residual (dim D) Wmm (W (S t))) <= frob2 (dim D) (dim D) (residual (dim D) Wmm (W t)) +
    2 * Lam * fnorm (dim D) (dim D) Wmm * step_length D W t + step_length D W t ^ 2.
Proof.
  intros P ES Hl Hh S H [Hp HA] HL Hr. assert (PW := solution_pos D Wmm P (proj1 S)).
  assert (Q := outward D (W t) Wmm low high p Lam P ES Hl Hh S Hp (HA t) HL).
  rewrite (length_eta D eta) by easy. destruct (H t) as [Eta B].
  rewrite !residual_sq, B, frob2_shifted by easy. rewrite share_along in Q by easy. unfold along in *. rewrite fdot_shifted_l.
  rewrite (fdot_sym _ _ (W t) (descent D (W t))), <- (fnorm_sq _ _ (descent D (W t))).
  set (w := fnorm (dim D) (dim D) Wmm) in *. set (x := fnorm (dim D) (dim D) (descent D (W t))) in *.
  set (m := fdot (dim D) (dim D) (descent D (W t)) Wmm) in *. set (a := fdot (dim D) (dim D) (W t) Wmm) in *.
  assert (Q2 : fdot (dim D) (dim D) (descent D (W t)) (W t) - a / w / w * m <= Lam * (w * x)).
  { apply Q. apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]. }
  set (v := fdot (dim D) (dim D) (descent D (W t)) (W t)) in *.
  assert (eta t * (v - a / w / w * m) <= eta t * (Lam * (w * x))) by (apply Rmult_le_compat_l; lra).
  replace (((a + eta t * m) / w) ^ 2) with ((a / w) ^ 2 + 2 * eta t * (a / w / w * m) + (eta t * m / w) ^ 2)
    by (field; lra).
  assert (0 <= (eta t * m / w) ^ 2) by apply pow2_ge_0. lra.
Qed.

Lemma longest_pos D e Wmm : proper D -> equal_scores D -> longest D e -> separates D Wmm -> 0 < e.
Proof.
  intros P ES He S. assert (A := descent_length D Wmm e P ES He). assert (B := descent_nonzero D Wmm Wmm P ES S).
  assert (C := weights_pos D Wmm P ES). destruct (Rle_lt_dec e 0); [|easy]. nra.
Qed.

Lemma rho_pos D e Wmm : proper D -> equal_scores D -> longest D e -> solution D Wmm -> 0 < / (e * fnorm (dim D) (dim D) Wmm).
Proof.
  intros P ES He [S _]. apply Rinv_0_lt_compat, Rmult_lt_0_compat; eauto using longest_pos, solution_pos.
Qed.

Lemma along_grows D e Wmm eta W t : proper D -> equal_scores D -> longest D e -> solution D Wmm -> run D eta W ->
  along (dim D) Wmm (W 0%nat) + / (e * fnorm (dim D) (dim D) Wmm) * Sum t (step_length D W) <= along (dim D) Wmm (W t).
Proof.
  intros P ES He S H. induction t as [|t IH]; cbn [Sum]; [lra|].
  destruct (along_step D e Wmm eta W t P ES He S H) as [_ Q]. lra.
Qed.

Lemma ceiling x : exists n, x <= INR n.
Proof.
  destruct (archimed x) as [A _]. exists (Z.to_nat (up x)). destruct (Z_le_gt_dec 0 (up x)) as [H|H].
  - rewrite INR_IZR_INZ, Z2Nat.id by easy. lra.
  - assert (IZR (up x) < 0) by (apply (IZR_lt _ 0); lia). assert (0 <= INR (Z.to_nat (up x))) by apply pos_INR. lra.
Qed.

(** Normalised steps have one length. *)
Lemma normalised_path D Wmm eta W c : proper D -> equal_scores D -> solution D Wmm -> run D eta W -> 0 < c ->
  (forall t, eta t = c / fnorm (dim D) (dim D) (descent D (W t))) -> (forall t, step_length D W t = c) /\
  (forall t, Sum t (step_length D W) = c * INR t) /\ forall x, exists t, x <= Sum t (step_length D W).
Proof.
  intros P ES S H Hc Hn. assert (L : forall t, step_length D W t = c).
  { intros t. rewrite (length_eta D eta), Hn by easy. assert (Q := descent_nonzero D (W t) Wmm P ES (proj1 S)).
    field. lra. }
  assert (Ln : forall t, Sum t (step_length D W) = c * INR t).
  { intros t. rewrite (Sum_ext t _ (fun _ => c)), Sum_const by (intros; apply L). ring. }
  split; [easy|split; [easy|]]. intros x. destruct (ceiling (x / c)) as [n Q]. exists n. rewrite Ln.
  apply (Rmult_le_compat_l c) in Q; [|lra]. replace (c * (x / c)) with x in Q by (field; lra). easy.
Qed.

Lemma div_le a b x : 0 < x -> a <= b -> a / x <= b / x.
Proof. intros H A. apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|easy]. Qed.

Lemma div_le_below a x y : 0 <= a -> 0 < x -> x <= y -> a / y <= a / x.
Proof. intros H A B. apply Rmult_le_compat_l; [easy|]. now apply Rinv_le_contravar. Qed.

(** ts-theorem-a
    Covers: the whole statement, the bound on 1 − corr_t from t = 1 on (at t = 0 the page may divide by 0).
    Reads: for every attended run, with r = ⟨W, W_mm⟩/‖W_mm‖², D = W − r W_mm, ρ* = 1/(𝖤‖W_mm‖), S_t = Σ s_τ and Λ₀ ≥ 0 with Λ₀ exp Λ₀ = (K − 1)Υ/(e φ_min²): if r₀ ≥ 0, then for all t ‖D_t‖² ≤ ‖D₀‖² + 2Λ₀‖W_mm‖S_t + Σ s_τ², ⟨W_t, Ŵ⟩ ≥ ρ* S_t, and for all t ≥ 1 1 − corr_t ≤ ‖D_t‖²/(2⟨W_t, Ŵ⟩²); with η_t = η/‖∇𝓛‖, 1 − corr_t ≤ (‖D₀‖² + (2ηΛ₀‖W_mm‖ + η²)t)/(2η²ρ*²t²) ≤ C/t; with bounded lengths, 1 − corr_t ≤ C/S_t and ≤ C/‖W_t‖ for some C and all t ≥ 1. From any start r_t grows, and r_t < 0 only while S_t < ‖W₀‖/ρ*.
    Mistake: `2 * Lam * w * Sum t s - Sum t` for `2 * Lam * w * Sum t s + Sum t`
    Mistake: `/ (4 * along d Wmm (W t) ^ 2)` for `/ (2 * along d Wmm (W t) ^ 2)`
    Mistake: `C / INR t ^ 3` for `C / INR t`
*)
Theorem ts_theorem_a : forall D e Wmm eta W low high p Lam,
  proper D -> equal_scores D -> longest D e -> psi_min D low -> psi_max D high -> solution D Wmm ->
  run D eta W -> attended_run D p W -> key_constant D low high p Lam ->
  let d := dim D in let w := fnorm d d Wmm in let rho := / (e * w) in let s := step_length D W in
  let R2 t := frob2 d d (residual d Wmm (W t)) in
  (0 <= share d Wmm (W 0%nat) ->
    (forall t, R2 t <= R2 0%nat + 2 * Lam * w * Sum t s + Sum t (fun j => s j ^ 2)) /\
    (forall t, rho * Sum t s <= along d Wmm (W t)) /\
    (forall t, (1 <= t)%nat -> 1 - corr d (W t) Wmm <= R2 t / (2 * along d Wmm (W t) ^ 2)) /\
    (forall c, 0 < c -> (forall t, eta t = c / fnorm d d (descent D (W t))) ->
      (forall t, (1 <= t)%nat -> 1 - corr d (W t) Wmm <=
        (R2 0%nat + (2 * c * Lam * w + c ^ 2) * INR t) / (2 * c ^ 2 * rho ^ 2 * INR t ^ 2)) /\
      exists C, forall t, (1 <= t)%nat -> 1 - corr d (W t) Wmm <= C / INR t) /\
    (forall sbar, (forall t, s t <= sbar) -> exists C, forall t, (1 <= t)%nat ->
      1 - corr d (W t) Wmm <= C / Sum t s /\ 1 - corr d (W t) Wmm <= C / fnorm d d (W t))) /\
  (forall t, share d Wmm (W t) < share d Wmm (W (S t))) /\
  (forall t, share d Wmm (W t) < 0 -> Sum t s < fnorm d d (W 0%nat) / rho).
Proof.
  intros D e Wmm eta W low high p Lam P ES He Hl Hh S H HA HL d w rho s R2.
  assert (PW : 0 < w) by (apply (solution_pos D); [easy|apply S]).
  assert (PR : 0 < rho) by now apply rho_pos. assert (L0 := proj1 HL).
  assert (AG := fun t => along_grows D e Wmm eta W t P ES He S H). fold d w rho s in AG.
  assert (SL := fun t => proj1 (along_step D e Wmm eta W t P ES He S H)). fold s in SL.
  assert (S0 : forall t, 0 <= Sum t s) by (intros; apply Sum_ge0; intros; left; apply SL).
  assert (SA : forall V, share d Wmm V = along d Wmm V / w) by (intros; now apply share_along).
  assert (GR : forall t, share d Wmm (W t) < share d Wmm (W (Datatypes.S t))).
  { intros t. rewrite !SA. destruct (along_step D e Wmm eta W t P ES He S H) as [A B]. fold d w rho s in A, B.
    apply Rmult_lt_compat_r; [now apply Rinv_0_lt_compat|].
    assert (0 < rho * s t) by now apply Rmult_lt_0_compat. lra. }
  split; [|split; [easy|]]. 2:{ intros t Ht. rewrite SA in Ht. assert (A : along d Wmm (W t) < 0).
      { apply Rmult_lt_reg_r with (/ w); [now apply Rinv_0_lt_compat|]. rewrite Rmult_0_l. exact Ht. }
      assert (B : - fnorm d d (W 0%nat) <= along d Wmm (W 0%nat)).
      { unfold along. apply Rmult_le_reg_r with w; [easy|]. fold w.
        replace (fdot d d (W 0%nat) Wmm / w * w) with (fdot d d (W 0%nat) Wmm) by (field; lra).
        assert (Q := fdot_ge d d (W 0%nat) Wmm). fold w in Q. lra. }
      specialize (AG t). apply Rmult_lt_reg_l with rho; [easy|].
      replace (rho * (fnorm d d (W 0%nat) / rho)) with (fnorm d d (W 0%nat)) by (field; lra). lra. }
  intros R0. assert (A0 : 0 <= along d Wmm (W 0%nat)).
  { rewrite SA in R0. apply Rmult_le_reg_r with (/ w); [now apply Rinv_0_lt_compat|]. rewrite Rmult_0_l. exact R0. }
  assert (AL : forall t, rho * Sum t s <= along d Wmm (W t)) by (intros t; specialize (AG t); lra).
  assert (RE : forall t, R2 t <= R2 0%nat + 2 * Lam * w * Sum t s + Sum t (fun j => s j ^ 2)).
  { induction t as [|t IH]; cbn [Sum]; [lra|].
    assert (Q := residual_step D Wmm eta W t low high p Lam P ES Hl Hh S H HA HL).
    fold d w s in Q. change (frob2 d d (residual d Wmm (W t))) with (R2 t) in Q. assert (Q2 : 0 <= along d Wmm (W t)).
    { eapply Rle_trans; [|apply AL]. apply Rmult_le_pos; [lra|easy]. }
    specialize (Q Q2). change (R2 (Datatypes.S t)) with (frob2 d d (residual d Wmm (W (Datatypes.S t)))). lra. }
  assert (PS : forall t, (1 <= t)%nat -> 0 < s 0%nat <= Sum t s).
  { intros t Ht. split; [easy|]. apply (Sum_term t s); [lia|]. intros. left. apply SL. }
  assert (PA : forall t, (1 <= t)%nat -> 0 < rho * Sum t s).
  { intros t Ht. apply Rmult_lt_0_compat; [easy|]. destruct (PS t Ht). lra. }
  assert (CR : forall t, (1 <= t)%nat -> 1 - corr d (W t) Wmm <= R2 t / (2 * along d Wmm (W t) ^ 2)).
  { intros t Ht. apply corr_residual; [easy|]. eapply Rlt_le_trans; [apply (PA t Ht)|apply AL]. }
  assert (N0 : forall t, 0 <= R2 t) by (intros; apply frob2_ge0).
  assert (CS : forall t, (1 <= t)%nat -> 1 - corr d (W t) Wmm <= R2 t / (2 * (rho * Sum t s) ^ 2)).
  { intros t Ht. eapply Rle_trans; [now apply CR|]. assert (Q := PA t Ht). apply div_le_below; [easy| |].
    - assert (0 < (rho * Sum t s) ^ 2) by now apply pow_lt. lra.
    - assert ((rho * Sum t s) ^ 2 <= along d Wmm (W t) ^ 2) by (apply pow_incr; split; [lra|apply AL]). lra. }
  assert (BD : forall sbar, (forall t, s t <= sbar) -> forall t, (1 <= t)%nat -> 1 - corr d (W t) Wmm <=
    (R2 0%nat + (2 * Lam * w + sbar) * Sum t s) / (2 * rho ^ 2 * Sum t s ^ 2)).
  { intros sb Hb t Ht. eapply Rle_trans; [now apply CS|]. assert (Q := PA t Ht). destruct (PS t Ht) as [Q1 Q2].
    replace (2 * (rho * Sum t s) ^ 2) with (2 * rho ^ 2 * Sum t s ^ 2) by ring. apply div_le.
    - apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [lra|now apply pow_lt]|apply pow_lt; lra].
    - eapply Rle_trans; [apply RE|]. assert (Sum t (fun j => s j ^ 2) <= Sum t (fun j => sb * s j)).
      { apply Sum_le. intros j _. specialize (Hb j). specialize (SL j). nra. }
      rewrite Sum_scal in *. lra. }
  assert (BC : forall sbar, (forall t, s t <= sbar) -> exists C, 0 <= C /\ forall t, (1 <= t)%nat ->
    1 - corr d (W t) Wmm <= C / Sum t s).
  { intros sb Hb. assert (0 < s 0%nat) by (apply (PS 1%nat); lia). assert (0 < sb) by (specialize (Hb 0%nat); lra).
    exists ((R2 0%nat / s 0%nat + (2 * Lam * w + sb)) / (2 * rho ^ 2)).
    assert (0 < rho ^ 2) by now apply pow_lt. assert (0 <= R2 0%nat / s 0%nat) by
      (apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]).
    assert (0 <= Lam * w) by (apply Rmult_le_pos; lra).
    split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
    intros t Ht. eapply Rle_trans; [apply (BD sb Hb t Ht)|]. destruct (PS t Ht) as [Q1 Q2].
    replace ((R2 0%nat / s 0%nat + (2 * Lam * w + sb)) / (2 * rho ^ 2) / Sum t s) with
      ((R2 0%nat / s 0%nat * Sum t s + (2 * Lam * w + sb) * Sum t s) / (2 * rho ^ 2 * Sum t s ^ 2)) by (field; lra).
    apply div_le; [apply Rmult_lt_0_compat; [lra|apply pow_lt; lra]|].
    apply Rplus_le_compat_r. rewrite <- (Rmult_1_r (R2 0%nat)) at 1.
    replace 1 with (/ s 0%nat * s 0%nat) by (field; lra). rewrite <- Rmult_assoc. apply Rmult_le_compat_l; lra. }
  split; [easy|]. split; [easy|]. split; [easy|]. split.
  - intros c Hc Hn. destruct (normalised_path D Wmm eta W c P ES S H Hc Hn) as [Lc [Ln _]]. fold s in Lc, Ln.
    assert (Lc' : forall t, s t <= c) by (intros; rewrite Lc; lra). split.
    + intros t Ht. eapply Rle_trans; [apply (BD c Lc' t Ht)|]. rewrite Ln. right.
      assert (0 < INR t) by (apply lt_0_INR; lia). field. lra.
    + destruct (BC c Lc') as [C [C0 HC]]. exists (C / c). intros t Ht. eapply Rle_trans; [now apply HC|].
      rewrite Ln. right. assert (0 < INR t) by (apply lt_0_INR; lia). field. lra.
  - intros sb Hb. destruct (BC sb Hb) as [C [C0 HC]]. set (k := 1 + fnorm d d (W 0%nat) / s 0%nat).
    assert (0 < s 0%nat) by (apply (PS 1%nat); lia).
    assert (K1 : 0 <= fnorm d d (W 0%nat) / s 0%nat) by
      (apply Rmult_le_pos; [apply fnorm_ge0|left; now apply Rinv_0_lt_compat]).
    exists (C * k). intros t Ht. destruct (PS t Ht) as [Q1 Q2]. assert (Q3 := HC t Ht).
    assert (Q4 : C / Sum t s <= C * k / Sum t s) by (apply div_le; [lra|]; unfold k; nra).
    split; [lra|]. eapply Rle_trans; [exact Q3|]. assert (PN : 0 < fnorm d d (W t)).
    { eapply Rlt_le_trans; [apply (PA t Ht)|]. eapply Rle_trans; [apply AL|]. now apply along_le. }
    assert (1 <= k) by (unfold k; lra). replace (C / Sum t s) with (C * k / (k * Sum t s)) by (field; lra).
    apply div_le_below; [apply Rmult_le_pos; unfold k; lra|easy|].
    eapply Rle_trans; [apply (ts_lemma_5 D e Wmm eta W P ES He S H)|]. fold d s. unfold k.
    rewrite Rmult_plus_distr_r, Rmult_1_l. apply Rplus_le_compat_l. rewrite <- (Rmult_1_r (fnorm d d (W 0%nat))) at 1.
    replace 1 with (/ s 0%nat * s 0%nat) by (field; lra). rewrite <- Rmult_assoc. apply Rmult_le_compat_l; lra.
Qed.

Lemma ln_step x : 0 < x -> / (x + 1) <= ln ((x + 1) / x).
Proof.
  intros H. assert (Q := exp_ineq1_le (- / (x + 1))). assert (0 < / (x + 1)) by (apply Rinv_0_lt_compat; lra).
  assert (E : 1 + - / (x + 1) = / ((x + 1) / x)) by (field; lra). rewrite E in Q.
  assert (P : 0 < (x + 1) / x) by (apply Rdiv_lt_0_compat; lra). assert (L : ln (/ ((x + 1) / x)) <= - / (x + 1)).
  { rewrite <- (ln_exp (- / (x + 1))). destruct Q as [Q|Q].
    - left. apply ln_increasing; [now apply Rinv_0_lt_compat|easy].
    - rewrite Q. lra. }
  rewrite ln_Rinv in L by easy. lra.
Qed.

(** ‖W‖ outgrows ⟨W, Ŵ⟩ by (η²/2 + η ‖W_mm‖ Λ₀)/‖W‖ in a step of length η at most. *)
Lemma norm_step D Wmm eta W t low high p Lam c : proper D -> equal_scores D -> psi_min D low -> psi_max D high ->
  solution D Wmm -> run D eta W -> attended_run D p W -> key_constant D low high p Lam ->
  eta t = c / fnorm (dim D) (dim D) (descent D (W t)) -> 0 < fnorm (dim D) (dim D) (W t) ->
  fnorm (dim D) (dim D) (W (S t)) - fnorm (dim D) (dim D) (W t) <= along (dim D) Wmm (W (S t)) - along (dim D) Wmm (W t) +
    (c ^ 2 / 2 + c * fnorm (dim D) (dim D) Wmm * Lam) / fnorm (dim D) (dim D) (W t).
Proof.
  intros P ES Hl Hh S H [Hp HA] [L0 HL] Hn PN. assert (PW := solution_pos D Wmm P (proj1 S)).
  destruct (worst_gap_exists D (W t) P) as [m Hm].
  assert (Q := one_line D (W t) low high p Lam m P ES Hl Hh Hp (HA t) L0 ltac:(rewrite HL; lra) Hm).
  rewrite <- mdot_descent_pairs in Q by easy. destruct (pull_norm D (W t) Wmm P ES S) as [A B].
  assert (M := worst_share D (W t) Wmm m P S Hm). assert (WP := weights_pos D (W t) P ES).
  assert (NG := descent_nonzero D (W t) Wmm P ES (proj1 S)). destruct (H t) as [Eta HB].
  assert (ML : m <= fnorm (dim D) (dim D) (W t) / fnorm (dim D) (dim D) Wmm).
  { eapply Rle_trans; [exact M|]. rewrite share_along by easy. apply div_le; [easy|]. now apply along_le. }
  assert (SQ : fnorm (dim D) (dim D) (W (Datatypes.S t)) ^ 2 = fnorm (dim D) (dim D) (W t) ^ 2 +
    2 * eta t * fdot (dim D) (dim D) (descent D (W t)) (W t) + (eta t * fnorm (dim D) (dim D) (descent D (W t))) ^ 2).
  { rewrite HB, fnorm_sq, frob2_shifted, (fdot_sym _ _ (W t)), Rpow_mult_distr, !fnorm_sq. ring. }
  assert (AS : along (dim D) Wmm (W (Datatypes.S t)) - along (dim D) Wmm (W t) =
    eta t * (fdot (dim D) (dim D) (descent D (W t)) Wmm / fnorm (dim D) (dim D) Wmm)).
  { rewrite HB. unfold along. rewrite fdot_shifted_l. field. lra. }
  rewrite AS. set (n := fnorm (dim D) (dim D) (W t)) in *. set (n' := fnorm (dim D) (dim D) (W (Datatypes.S t))) in *.
  assert (N' : 0 <= n') by apply fnorm_ge0. set (w := fnorm (dim D) (dim D) Wmm) in *.
  set (x := fnorm (dim D) (dim D) (descent D (W t))) in *. set (v := fdot (dim D) (dim D) (descent D (W t)) (W t)) in *.
  set (g := fdot (dim D) (dim D) (descent D (W t)) Wmm) in *. set (s := pairs D (weight D (W t))) in *.
  assert (EX : eta t * x = c) by (rewrite Hn; field; lra). assert (V : v <= n / w * g + Lam * (w * x)).
  { assert (0 <= n / w) by (apply Rmult_le_pos; [lra|left; now apply Rinv_0_lt_compat]).
    assert (m * s <= n / w * s) by (apply Rmult_le_compat_r; lra). assert (n / w * s <= n / w * g) by nra.
    assert (Lam * s <= Lam * (w * x)) by (apply Rmult_le_compat_l; lra). lra. }
  rewrite EX in SQ. apply Rmult_le_reg_r with n; [easy|].
  replace ((eta t * (g / w) + (c ^ 2 / 2 + c * w * Lam) / n) * n) with
    (eta t * (n / w * g) + eta t * x * (w * Lam) + c ^ 2 / 2) by (rewrite EX; field; lra).
  assert (eta t * v <= eta t * (n / w * g + Lam * (w * x))) by (apply Rmult_le_compat_l; lra).
  assert (0 <= (n' - n) ^ 2) by apply pow2_ge_0. lra.
Qed.

(** ts-theorem-5
    Covers: the whole statement, for every t₀ ≥ 1 with t₀ ≥ 2‖W₀‖/ρ₀ (the page takes the least).
    Reads: in an attended run with η_t = η/‖∇𝓛‖, ρ₀ = η/(𝖤‖W_mm‖), and any t₀ ≥ max{1, 2‖W₀‖/ρ₀}: for all t ≥ t₀ 1 − corr_t ≤ (2/(ρ₀ t)) [2(‖W₀‖ + ηt₀) + (2/ρ₀)(η²/2 + η‖W_mm‖Λ₀)(1 + log(t/t₀))].
    Mistake: `(1 - ln (INR t / INR t0))` for `(1 + ln (INR t / INR t0))`
    Mistake: `2 / (rho0 * INR t ^ 3) *` for `2 / (rho0 * INR t) *`
*)
Theorem ts_theorem_5 : forall D e Wmm eta W low high p Lam c t0,
  proper D -> equal_scores D -> longest D e -> psi_min D low -> psi_max D high -> solution D Wmm ->
  run D eta W -> attended_run D p W -> key_constant D low high p Lam ->
  0 < c -> (forall t, eta t = c / fnorm (dim D) (dim D) (descent D (W t))) ->
  let d := dim D in let w := fnorm d d Wmm in let rho0 := c / (e * w) in
  (1 <= t0)%nat -> 2 * fnorm d d (W 0%nat) / rho0 <= INR t0 -> forall t, (t0 <= t)%nat ->
  1 - corr d (W t) Wmm <= 2 / (rho0 * INR t) * (2 * (fnorm d d (W 0%nat) + c * INR t0) +
    2 / rho0 * (c ^ 2 / 2 + c * w * Lam) * (1 + ln (INR t / INR t0))).
Proof.
  intros D e Wmm eta W low high p Lam c t0 P ES He Hl Hh S H HA HL Hc Hn d w rho0 T1 T0 t Ht.
  assert (PW : 0 < w) by (apply (solution_pos D); [easy|apply S]).
  assert (PE : 0 < e) by now apply (longest_pos D e Wmm P ES He (proj1 S)).
  assert (PR : 0 < rho0) by (apply Rdiv_lt_0_compat; [easy|now apply Rmult_lt_0_compat]). assert (L0 := proj1 HL).
  destruct (ts_lemma_5 D e Wmm eta W P ES He S H) as [GR Ln]. specialize (Ln c Hn). fold d w in GR.
  assert (PI : forall s, (t0 <= s)%nat -> 1 <= INR t0 <= INR s) by
    (intros; split; [now apply (le_INR 1)|now apply le_INR]).
  set (n := fun s => fnorm d d (W s)). set (a := fun s => along d Wmm (W s)).
  change (fnorm d d (W 0%nat)) with (n 0%nat) in *. set (Q := c ^ 2 / 2 + c * w * Lam).
  assert (Q0 : 0 <= Q) by (unfold Q; assert (0 <= c ^ 2) by apply pow2_ge_0;
    assert (0 <= c * w * Lam) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]); lra).
  assert (LB : forall s, (t0 <= s)%nat -> rho0 / 2 * INR s <= n s).
  { intros s Hs. destruct (GR s) as [[A B] _]. rewrite Ln in A.
    change (fnorm d d (W s)) with (n s) in B. change (fnorm d d (W 0%nat)) with (n 0%nat) in A.
    assert (X : 2 * n 0%nat <= rho0 * INR s).
    { apply Rmult_le_reg_r with (/ rho0); [now apply Rinv_0_lt_compat|].
      replace (rho0 * INR s * / rho0) with (INR s) by (field; lra). destruct (PI s Hs). unfold Rdiv in T0. lra. }
    replace (/ (e * w) * (c * INR s)) with (rho0 * INR s) in A by (unfold rho0; field; lra). lra. }
  assert (IND : forall k, n (t0 + k)%nat - a (t0 + k)%nat <= 2 * (n 0%nat + c * INR t0) +
    2 / rho0 * Q * (/ INR t0 - / INR (t0 + k) + ln (INR (t0 + k) / INR t0))).
  { induction k as [|k IH].
    - rewrite Nat.add_0_r. destruct (PI t0 (Nat.le_refl _)) as [P1 _]. replace (INR t0 / INR t0) with 1 by (field; lra).
      rewrite ln_1. assert (A := proj2 (GR t0)). rewrite Ln in A. fold (n t0) (n 0%nat) in A.
      assert (B : - n t0 <= a t0).
      { unfold a, along. apply Rmult_le_reg_r with w; [easy|]. fold w.
        replace (fdot d d (W t0) Wmm / w * w) with (fdot d d (W t0) Wmm) by (field; lra).
        assert (X := fdot_ge d d (W t0) Wmm). fold w (n t0) in X. lra. }
      replace (2 / rho0 * Q * (/ INR t0 - / INR t0 + 0)) with 0 by ring. lra.
    - rewrite Nat.add_succ_r. set (s := (t0 + k)%nat) in *. destruct (PI s ltac:(unfold s; lia)) as [P1 P2].
      assert (NL := LB s ltac:(unfold s; lia)). assert (PN : 0 < n s) by (assert (0 < rho0 / 2 * INR s) by nra; lra).
      assert (ST := norm_step D Wmm eta W s low high p Lam c P ES Hl Hh S H HA HL (Hn s) PN).
      fold d w Q in ST. fold (n s) (n (Datatypes.S s)) (a s) (a (Datatypes.S s)) in ST.
      assert (QN : Q / n s <= 2 / rho0 * Q * / INR s).
      { replace (2 / rho0 * Q * / INR s) with (Q / (rho0 / 2 * INR s)) by (field; lra).
        apply div_le_below; [easy|nra|easy]. }
      assert (LS := ln_step (INR s) ltac:(lra)). rewrite S_INR.
      replace ((INR s + 1) / INR t0) with ((INR s + 1) / INR s * (INR s / INR t0)) by (field; lra).
      rewrite ln_mult by (apply Rdiv_lt_0_compat; lra).
      assert (0 <= 2 / rho0 * Q) by (apply Rmult_le_pos; [apply Rlt_le, Rdiv_lt_0_compat; lra|easy]).
      assert (2 / rho0 * Q * / (INR s + 1) <= 2 / rho0 * Q * ln ((INR s + 1) / INR s))
        by (apply Rmult_le_compat_l; easy).
      lra. }
  specialize (IND (t - t0)%nat). replace (t0 + (t - t0))%nat with t in IND by lia.
  destruct (PI t Ht) as [P1 P2]. assert (NL := LB t Ht). assert (PN : 0 < rho0 / 2 * INR t) by nra.
  replace (corr d (W t) Wmm) with (a t / n t) by (unfold corr, a, along, n in *; fold w; field; lra).
  replace (1 - a t / n t) with ((n t - a t) / n t) by (field; lra).
  set (X := 2 * (n 0%nat + c * INR t0) + 2 / rho0 * Q * (1 + ln (INR t / INR t0))).
  assert (IX : n t - a t <= X).
  { eapply Rle_trans; [exact IND|]. unfold X. apply Rplus_le_compat_l, Rmult_le_compat_l.
    - apply Rmult_le_pos; [apply Rlt_le, Rdiv_lt_0_compat; lra|easy].
    - assert (0 < / INR t) by (apply Rinv_0_lt_compat; lra).
      assert (/ INR t0 <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra). lra. }
  assert (X0 : 0 <= n t - a t) by (assert (Y := along_le d Wmm (W t) PW); unfold n, a; lra).
  apply Rle_trans with (X / n t); [apply div_le; lra|].
  replace (2 / (rho0 * INR t) * X) with (X / (rho0 / 2 * INR t)) by (field; lra). apply div_le_below; lra.
Qed.

Lemma key_constant_exists D Wmm W low high p : proper D -> equal_scores D -> psi_min D low -> psi_max D high ->
  solution D Wmm -> attended_run D p W -> exists Lam, key_constant D low high p Lam.
Proof. intros P ES Hl Hh S [Hp HA]. apply (ts_lemma_7_sharp D (W 0%nat) Wmm low high p P ES Hl Hh S Hp (HA 0%nat)). Qed.

Lemma path_mono s t k : (forall j, 0 < s j) -> (t <= k)%nat -> Sum t s <= Sum k s.
Proof.
  intros H L. replace k with (t + (k - t))%nat by lia. rewrite Sum_split.
  assert (0 <= Sum (k - t) (fun i => s (t + i)%nat)); [|lra]. apply Sum_ge0. intros. left. apply H.
Qed.

(** From any start: the theorem from a step on at which r ≥ 0 *)
Lemma late_rate D Wmm eta W p sbar : proper D -> equal_scores D -> solution D Wmm -> run D eta W ->
  attended_run D p W -> (forall t, step_length D W t <= sbar) -> (forall x, exists t, x <= Sum t (step_length D W)) ->
  exists C t0, forall t, (t0 <= t)%nat -> 1 - corr (dim D) (W t) Wmm <= C / Sum t (step_length D W).
Proof.
  intros P ES S H HA Hb HS. destruct (longest_exists D P) as [e He]. destruct (psi_min_exists D P) as [low Hl].
  destruct (psi_max_exists D P) as [high Hh].
  destruct (key_constant_exists D Wmm W low high p P ES Hl Hh S HA) as [Lam HL].
  destruct (ts_theorem_a D e Wmm eta W low high p Lam P ES He Hl Hh S H HA HL) as [_ [_ R0]].
  assert (SL := fun t => proj1 (along_step D e Wmm eta W t P ES He S H)). set (s := step_length D W) in *.
  destruct (HS (fnorm (dim D) (dim D) (W 0%nat) / / (e * fnorm (dim D) (dim D) Wmm))) as [k Hk].
  destruct (ts_theorem_a D e Wmm (fun t => eta (k + t)%nat) (fun t => W (k + t)%nat) low high p Lam P ES He Hl Hh S)
    as [Q _]; [intros t; rewrite Nat.add_succ_r; apply H|split; [apply HA|intros; now apply HA]|easy|].
  rewrite Nat.add_0_r in Q. destruct Q as [_ [_ [_ [_ Q]]]].
  { apply Rnot_lt_le. intros N. specialize (R0 k N). lra. }
  destruct (Q sbar) as [C HC].
  { intros t. unfold step_length. rewrite Nat.add_succ_r. apply Hb. }
  destruct (HS (2 * Sum k s)) as [k2 Hk2]. exists (2 * Rabs C), (k + k2 + 1)%nat. intros t Ht.
  destruct (HC (t - k)%nat ltac:(lia)) as [R _]. replace (k + (t - k))%nat with t in R by lia.
  assert (E : Sum t s = Sum k s + Sum (t - k) (step_length D (fun t => W (k + t)%nat))).
  { replace t with (k + (t - k))%nat at 1 by lia. rewrite Sum_split. f_equal. apply Sum_ext. intros i _.
    unfold s, step_length. now rewrite Nat.add_succ_r. }
  assert (M := path_mono s k2 t SL ltac:(lia)). set (x := Sum (t - k) _) in *.
  assert (PX : 0 < Sum t s) by (apply Sum_gt0; [lia|intros; apply SL]).
  assert (A := Rle_abs C). assert (A0 := Rabs_pos C). eapply Rle_trans; [exact R|].
  apply Rle_trans with (Rabs C / x); [apply div_le; lra|].
  replace (2 * Rabs C / Sum t s) with (Rabs C / (Sum t s / 2)) by (field; lra). apply div_le_below; lra.
Qed.

(** Lengths that are below no positive number as long as W stays in a ball add up to infinity. *)
Lemma path_unbounded D e Wmm eta W : proper D -> equal_scores D -> longest D e -> solution D Wmm -> run D eta W ->
  (forall X, exists l, 0 < l /\ forall t, fnorm (dim D) (dim D) (W t) <= X -> l <= step_length D W t) ->
  forall x, exists t, x <= Sum t (step_length D W).
Proof.
  intros P ES He S H HX x. assert (SL := fun t => proj1 (along_step D e Wmm eta W t P ES He S H)).
  destruct (HX (x + fnorm (dim D) (dim D) (W 0%nat))) as [l [L0 L]]. destruct (ceiling (x / l)) as [n Hn].
  exists n. destruct (Rle_lt_dec x (Sum n (step_length D W))) as [|N]; [easy|].
  apply Rle_trans with (Sum n (fun _ => l)).
  - rewrite Sum_const. apply (Rmult_le_compat_r l) in Hn; [|lra]. replace (x / l * l) with x in Hn by (field; lra).
    easy.
  - apply Sum_le. intros t Ht. apply L. eapply Rle_trans; [apply (ts_lemma_5 D e Wmm eta W P ES He S H)|].
    assert (M := path_mono (step_length D W) t n SL ltac:(lia)). lra.
Qed.

(** ts-theorem-1
    Covers: the whole statement, with 1/t for the page's t^(−1/2).
    Reads: under Assumption 2 and (A1′) at φ_min = 1/(2T), feasible (W-SVM), 2B²‖W₀‖ ≤ log 2 with all tokens of norm at most B, and η_t = η/‖∇𝓛‖ with 𝖤η ≤ log(2T − 1): there are C and t₀ such that 1 − corr_t ≤ C/t for all t ≥ t₀.
    Mistake: `C / INR t ^ 3` for `C / INR t`
    Mistake: without `solution D Wmm ->`
*)
Theorem ts_theorem_1 : forall D e low high nu M m s1 B Wmm eta W c,
  proper D -> equal_scores D -> longest D e -> psi_min D low -> psi_max D high -> overlaps D nu M m s1 ->
  a1_prime (num D) (high / low) (/ (2 * INR (len D))) nu M m s1 -> solution D Wmm ->
  (forall i t, (i < num D)%nat -> (t < len D)%nat -> vnorm (dim D) (tok D i t) <= B) ->
  2 * B ^ 2 * fnorm (dim D) (dim D) (W 0%nat) <= ln 2 ->
  run D eta W -> 0 < c -> (forall t, eta t = c / fnorm (dim D) (dim D) (descent D (W t))) ->
  e * c <= ln (2 * INR (len D) - 1) ->
  exists C t0, forall t, (t0 <= t)%nat -> 1 - corr (dim D) (W t) Wmm <= C / INR t.
Proof.
  intros D e low high nu M m s1 B Wmm eta W c P ES He Hl Hh HO A1 S HB H0 H Hc Hn Hs.
  assert (IT : 2 <= INR (len D)) by (apply (le_INR 2); apply P). set (p := / (2 * INR (len D))) in *.
  assert (Pp : 0 < p) by (apply Rinv_0_lt_compat; lra).
  assert (P2 : p < / 2) by (apply Rinv_lt_contravar; lra).
  destruct (normalised_path D Wmm eta W c P ES S H Hc Hn) as [SC [Ln HU]].
  destruct (late_rate D Wmm eta W p c P ES S H) as [C [t0 HC]].
  - split; [easy|]. apply (ts_lemma_3 D eta W e low high p nu M m s1); try easy; [now apply (ts_lemma_2 D B)|].
    intros t. replace ((1 - p) / p) with (2 * INR (len D) - 1) by (unfold p; field; lra). now rewrite SC.
  - intros t. rewrite SC. lra.
  - exact HU.
  - exists (C / c), (Datatypes.S t0). intros t Ht. eapply Rle_trans; [apply HC; lia|]. rewrite Ln. right.
    assert (1 <= INR t) by (apply (le_INR 1); lia). field. lra.
Qed.
