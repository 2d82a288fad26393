(** Chapter "Envelopes": how large the model can get near a symmetric start. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.paired.
Open Scope R_scope.

(** Moves of pairs: what the readouts ±1 of the start do cancels but for the differences of the heads. *)
Lemma pair_bound N h (phi0 phi : point) j s0 rc (L : vector) : (0 < N)%nat -> mirrored N phi0 ->
  (forall p, (p < N)%nat -> Rabs (fst phi0 p) = 1) -> 0 <= s0 ->
  (forall th, Rabs (h j th) <= s0) ->
  (forall i, (i < N + N)%nat -> Rabs (fst phi i - fst phi0 i) <= rc / sqrt (INR (N + N)) /\
    Rabs (h j (snd phi i) - h j (snd phi0 i)) <= L i / sqrt (INR (N + N))) ->
  (forall p, (p < N)%nat -> L (N + p)%nat = L p) ->
  Rabs (output N h phi j) <= s0 * rc +
    / INR (N + N) * Sum (N + N) (fun i => Rmin (L i) (s0 * sqrt (INR (N + N)))).
Proof.
  intros HN M Hc Hs Hh Hm HL. set (m := INR (N + N)) in *. assert (P : 0 < m) by (apply lt_0_INR; lia).
  assert (W := sqrt_lt_R0 _ P). assert (E := sqrt_sqrt m ltac:(lra)). set (q := sqrt m) in *.
  assert (Iq : 0 < / q) by now apply Rinv_0_lt_compat.
  assert (pair : forall p, (p < N)%nat ->
    Rabs (fst phi p * h j (snd phi p) + fst phi (N + p)%nat * h j (snd phi (N + p)%nat)) <=
    2 * (s0 * rc / q) + 2 * (Rmin (L p) (s0 * q) / q)).
  { intros p Hp. destruct (M p Hp) as [A B]. destruct (Hm p ltac:(lia)) as [D1 D2].
    destruct (Hm (N + p)%nat ltac:(lia)) as [D3 D4]. rewrite A in D3. rewrite B, HL in D4 by easy.
    specialize (Hc p Hp). set (c0 := fst phi0 p) in *. set (h1 := h j (snd phi p)) in *.
    set (h2 := h j (snd phi (N + p)%nat)) in *. set (h0 := h j (snd phi0 p)) in *.
    assert (B1 : Rabs h1 <= s0) by apply Hh. assert (B2 : Rabs h2 <= s0) by apply Hh.
    replace (fst phi p * h1 + fst phi (N + p)%nat * h2) with
      (c0 * (h1 - h2) + ((fst phi p - c0) * h1 + (fst phi (N + p)%nat - - c0) * h2)) by ring.
    assert (T1 : Rabs (h1 - h2) <= 2 * (L p / q)).
    { replace (h1 - h2) with ((h1 - h0) + - (h2 - h0)) by ring. eapply Rle_trans; [apply Rabs_triang|].
      rewrite Rabs_Ropp. lra. }
    assert (T2 : Rabs (h1 - h2) <= 2 * s0).
    { unfold Rminus. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra. }
    assert (T3 : Rabs (h1 - h2) <= 2 * (Rmin (L p) (s0 * q) / q)).
    { unfold Rmin. destruct (Rle_dec (L p) (s0 * q)); [easy|]. replace (s0 * q / q) with s0 by (field; lra). easy. }
    assert (U1 : Rabs ((fst phi p - c0) * h1) <= rc / q * s0)
      by (rewrite Rabs_mult; apply Rmult_le_compat; (apply Rabs_pos || easy)).
    assert (U2 : Rabs ((fst phi (N + p)%nat - - c0) * h2) <= rc / q * s0)
      by (rewrite Rabs_mult; apply Rmult_le_compat; (apply Rabs_pos || easy)).
    eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, Hc.
    assert (V := Rabs_triang ((fst phi p - c0) * h1) ((fst phi (N + p)%nat - - c0) * h2)).
    replace (s0 * rc / q) with (rc / q * s0) by (field; lra). lra. }
  unfold output. fold m q. rewrite Rabs_mult, (Rabs_right (/ q)) by lra. rewrite !Sum_split, <- !Sum_plus.
  apply Rle_trans with (/ q * Sum N (fun p => 2 * (s0 * rc / q) + 2 * (Rmin (L p) (s0 * q) / q))).
  - apply Rmult_le_compat_l; [lra|]. eapply Rle_trans; [apply Sum_abs|]. apply Sum_le; intros p Hp. now apply pair.
  - rewrite Sum_plus, Sum_const. rewrite (Sum_ext N (fun p => Rmin (L p) (s0 * q) + _) (fun p => q * (2 * (Rmin (L p)
    (s0 * q) / q)))).
    2: { intros p Hp. rewrite HL by easy. field. lra. }
    rewrite !Sum_scal. apply Req_le.
    assert (Im : / m = / q * / q) by (rewrite <- Rinv_mult, E; reflexivity). rewrite Im.
    assert (M2 : INR N = q * q / 2) by (rewrite E; unfold m; rewrite plus_INR; lra). rewrite M2.
    set (V := Sum N (fun p => Rmin (L p) (s0 * q) / q)). field. lra.
Qed.

(** kr-lemma-6-heads
    Covers: a part: the bound, from what block smoothness says of every head: |h − h⁽⁰⁾| ≤ L_i/√m with L_i = σ₁G₁(R_i; ρ_u, ρ_w); on the page: that, and the comparison with f^max.
    Reads: at a start at which partners have equal θ and opposite readouts ±1, with |h| ≤ σ₀, |c_i − c_i⁽⁰⁾| ≤ ρ_c/√m and |h(θ_i) − h(θ_i⁽⁰⁾)| ≤ L_i/√m, L equal for partners: |f| ≤ σ₀ρ_c + (1/m) Σ min{L_i, σ₀√m}.
    Mistake: `Rmin (L i) (s0 * sqrt (INR (N + N)) / 2)` for `Rmin (L i) (s0 * sqrt (INR (N + N)))`
    Mistake: without `mirrored N phi0 ->`
*)
Theorem kr_lemma_6_heads : forall N h (phi0 phi : point) j s0 rc (L : vector), (0 < N)%nat -> mirrored N phi0 ->
  (forall p, (p < N)%nat -> Rabs (fst phi0 p) = 1) -> 0 <= s0 -> (forall th, Rabs (h j th) <= s0) ->
  (forall i, (i < N + N)%nat -> Rabs (fst phi i - fst phi0 i) <= rc / sqrt (INR (N + N)) /\
    Rabs (h j (snd phi i) - h j (snd phi0 i)) <= L i / sqrt (INR (N + N))) ->
  (forall p, (p < N)%nat -> L (N + p)%nat = L p) ->
  Rabs (output N h phi j) <= s0 * rc +
    / INR (N + N) * Sum (N + N) (fun i => Rmin (L i) (s0 * sqrt (INR (N + N)))).
Proof.
  intros. now apply (pair_bound N h phi0).
Qed.

(** kr-lemma-6
    Covers: a part: the envelope of the model, from the Lipschitz bound of every head; on the page: Lemma 2 for the heads, the event, and the envelope of the targets.
    Reads: at the same start, with |h| ≤ σ₀, |c_i − c_i⁽⁰⁾| ≤ ρ_c/√m and |h(θ_i) − h(θ_i⁽⁰⁾)| ≤ L₁r/√m for all heads: |f| ≤ L₁r + σ₀ρ_c.
    Mistake: `L1 * r / 2 + s0 * rc` for `L1 * r + s0 * rc`
*)
Theorem kr_lemma_6 : forall N h (phi0 phi : point) j s0 rc L1 r, (0 < N)%nat -> mirrored N phi0 ->
  (forall p, (p < N)%nat -> Rabs (fst phi0 p) = 1) -> 0 <= s0 -> (forall th, Rabs (h j th) <= s0) ->
  (forall i, (i < N + N)%nat -> Rabs (fst phi i - fst phi0 i) <= rc / sqrt (INR (N + N)) /\
    Rabs (h j (snd phi i) - h j (snd phi0 i)) <= L1 * r / sqrt (INR (N + N))) ->
  Rabs (output N h phi j) <= L1 * r + s0 * rc.
Proof.
  intros N h phi0 phi j s0 rc L1 r HN M Hc Hs Hh Hm.
  eapply Rle_trans; [apply (pair_bound N h phi0 phi j s0 rc (fun _ => L1 * r)); easy|].
  assert (P : 0 < INR (N + N)) by (apply lt_0_INR; lia).
  rewrite Rplus_comm. apply Rplus_le_compat_r. rewrite Sum_const, <- Rmult_assoc, Rinv_l, Rmult_1_l by lra.
    apply Rmin_l.
Qed.
