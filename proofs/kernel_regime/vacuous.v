(** Chapter "Vacuous, and what to do about it": how the certificate before the first step is put together. *)
Require Import Reals Lra Lia.
From Shallow Require Import base.sums base.vectors base.means.
Open Scope R_scope.

(** kr-theorem-e
    Covers: a part: how both bounds on the misfit follow from the bounds on its turn and on the travel, and that ε⋆ solves its equation; on the page: those bounds themselves (Theorems B and D, the travel from Theorem A), and the mean loss.
    Reads: for n ≥ 1 samples, misfits e⁽ˢ⁾ and ε_s = ‖e⁽ˢ⁾‖_n: if |e_j⁽ˢ⁾ − e_j⁽⁰⁾| ≤ t_B/√m for all s < τ and all j, then ε_s ≤ ε₀ + t_B/√m. Let Γ_s = η Σ_{k<s} L_k with any root losses L_k, H = ητ, t₀, t₁, V₀ ≥ 0, 0 ≤ θ < 1, η ≥ 0, m > 0. If |e_j⁽ˢ⁾ − e_j⁽⁰⁾| ≤ (t₀ + t₁Γ_s)/m for s < τ, if every first part of the run has Γ_s ≤ ηsε/(1 − θ) + √(ηsV₀/(4(1 − θ))) whenever its misfits are at most ε, and if t₁H < (1 − θ)m, then ε_s ≤ ε⋆ = (1 − t₁H/((1 − θ)m))⁻¹ (ε₀ + t₀/m + (t₁/m)√(HV₀/(4(1 − θ)))); ε⋆ = ε₀ + (t₀ + t₁Γ⋆)/m with Γ⋆ = Hε⋆/(1 − θ) + √(HV₀/(4(1 − θ))), for all s < τ.
    Mistake: `sqrt (H * V0 / (8 * (1 - theta)))` for `sqrt (H * V0 / (4 * (1 - theta)))`
    Mistake: `(rms n (e O) + t1 / m *` for `(rms n (e O) + t0 / m + t1 / m *`
*)
Theorem kr_theorem_e : forall n tau (e : nat -> vector) (L : vector) eta V0 m tB t0 t1 theta,
  (0 < n)%nat -> 0 <= eta -> 0 < m -> 0 <= t0 -> 0 <= t1 -> 0 <= V0 -> 0 <= theta < 1 ->
  let H := eta * INR tau in
  let Gamma := fun s => eta * Sum s L in
  let star := / (1 - t1 * H / ((1 - theta) * m)) *
    (rms n (e O) + t0 / m + t1 / m * sqrt (H * V0 / (4 * (1 - theta)))) in
  ((forall s j, (s < tau)%nat -> (j < n)%nat -> Rabs (e s j - e O j) <= tB / sqrt m) ->
    forall s, (s < tau)%nat -> rms n (e s) <= rms n (e O) + tB / sqrt m) /\
  ((forall s j, (s < tau)%nat -> (j < n)%nat -> Rabs (e s j - e O j) <= (t0 + t1 * Gamma s) / m) ->
    (forall s eps, (s <= tau)%nat -> (forall k, (k < s)%nat -> rms n (e k) <= eps) ->
      Gamma s <= eta * INR s * eps / (1 - theta) + sqrt (eta * INR s * V0 / (4 * (1 - theta)))) ->
    t1 * H < (1 - theta) * m ->
    star = rms n (e O) + (t0 + t1 * (H * star / (1 - theta) + sqrt (H * V0 / (4 * (1 - theta))))) / m /\
    forall s, (s < tau)%nat -> rms n (e s) <= star).
Proof.
  intros n tau e L eta V0 m tB t0 t1 theta Hn He Hm H0 H1 HV Hth H Gamma star.
  assert (turn : forall s c, (forall j, (j < n)%nat -> Rabs (e s j - e O j) <= c) -> rms n (e s) <= rms n (e O) + c).
  { intros s c B. rewrite (rms_ext n (e s) (fun j => e O j + (e s j - e O j))) by (intros; ring).
    eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat_l.
    assert (C : 0 <= c) by (eapply Rle_trans; [apply Rabs_pos|apply (B O Hn)]).
    now apply rms_bound. }
  split; [intros B s Hs; apply turn; auto|]. intros B T C.
  set (root := sqrt (H * V0 / (4 * (1 - theta)))) in *. set (q := 1 - t1 * H / ((1 - theta) * m)).
  assert (D : 0 < (1 - theta) * m) by (apply Rmult_lt_0_compat; lra).
  assert (Q : 0 < q).
  { unfold q. assert (t1 * H / ((1 - theta) * m) < 1); [|lra].
    apply Rmult_lt_reg_r with ((1 - theta) * m); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (R0 := sqrt_pos (H * V0 / (4 * (1 - theta)))). fold root in R0. assert (E0 := rms_ge0 n (e O)).
  assert (I : 0 <= / m) by (left; now apply Rinv_0_lt_compat).
  assert (St : star = rms n (e O) + (t0 + t1 * (H * star / (1 - theta) + root)) / m).
  { apply Rmult_eq_reg_l with q; [|lra]. unfold star. fold q root.
    rewrite <- (Rmult_assoc q (/ q)), Rinv_r, Rmult_1_l by lra.
    set (w := rms n (e O) + t0 / m + t1 / m * root). replace (q * (rms n (e O) + (t0 + t1 * (H * (/ q * w) / (1 -
      theta) + root)) / m))
      with (q * w + w * (t1 * H / ((1 - theta) * m))) by (unfold w; field; lra). unfold q. ring. }
  assert (S0 : 0 <= star).
  { unfold star. fold q root. apply Rmult_le_pos; [left; now apply Rinv_0_lt_compat|].
    apply Rplus_le_le_0_compat; [apply Rplus_le_le_0_compat; [easy|now apply Rmult_le_pos]|].
    apply Rmult_le_pos; [now apply Rmult_le_pos|easy]. }
  split; [exact St|]. intros s. induction s as [s IH] using (well_founded_induction Wf_nat.lt_wf). intros Hs.
  rewrite St. apply turn. intros j Hj. eapply Rle_trans; [now apply B|].
  apply Rmult_le_compat_r; [easy|]. apply Rplus_le_compat_l, Rmult_le_compat_l; [easy|].
  eapply Rle_trans; [apply (T s star); [lia|intros k Hk; apply IH; lia]|].
  assert (Is : eta * INR s <= H) by (apply Rmult_le_compat_l; [easy|apply le_INR; lia]).
  assert (Ip : 0 <= / (1 - theta)) by (left; apply Rinv_0_lt_compat; lra). apply Rplus_le_compat.
  - apply Rmult_le_compat_r; [easy|]. now apply Rmult_le_compat_r.
  - apply sqrt_le_1_alt. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. now apply Rmult_le_compat_r.
Qed.
