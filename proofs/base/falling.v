(** Integrals of functions that do not increase: they exist, and one more piece costs at most its first value. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums.
Open Scope R_scope.

(** s does not increase on [0, r] *)
Definition falling (s : R -> R) (r : R) : Prop := forall u v, 0 <= u -> u <= v -> v <= r -> s v <= s u.

(** 1 where s ≥ c, else 0 *)
Definition above (s : R -> R) (c u : R) : R := if Rle_dec c (s u) then 1 else 0.

Lemma above_integrable s r c : 0 <= r -> falling s r -> ex_RInt (above s c) 0 r.
Proof.
  intros Hr Hs. set (Q := fun u => 0 <= u <= r /\ (u = 0 \/ c <= s u)).
  destruct (completeness Q) as [m [Hm Hl]]; [exists r; intros u [Hu _]; lra | exists 0; split; [lra|now left]|].
  assert (0 <= m) by (apply Hm; split; [lra|now left]). assert (m <= r) by (apply Hl; intros u [Hu _]; lra).
  apply (ex_RInt_Chasles _ 0 m r).
  - apply (ex_RInt_ext (fun _ => 1)); [|apply ex_RInt_const]. rewrite Rmin_left, Rmax_right by easy. intros x Hx.
    unfold above. destruct (Rle_dec c (s x)) as [|N]; [easy|]. exfalso. assert (m <= x); [|lra]. apply Hl.
    intros u [Hu [->|Hc]]; [lra|]. destruct (Rle_lt_dec u x); [easy|]. exfalso. apply N.
    apply (Rle_trans _ (s u)); [easy|]. apply Hs; lra.
  - apply (ex_RInt_ext (fun _ => 0)); [|apply ex_RInt_const]. rewrite Rmin_left, Rmax_right by easy. intros x Hx.
    unfold above. destruct (Rle_dec c (s x)) as [Y|]; [|easy]. exfalso. assert (x <= m); [|lra]. apply Hm.
    split; [lra|now right].
Qed.

Lemma staircase n eps x : 0 <= eps -> 0 <= x -> x <= INR n * eps ->
  let y := Sum n (fun k => eps * (if Rle_dec (INR (S k) * eps) x then 1 else 0)) in y <= x /\ x - eps <= y.
Proof.
  intros He Hx Hn. cbv zeta.
  assert (K : forall n, let y := Sum n (fun k => eps * (if Rle_dec (INR (S k) * eps) x then 1 else 0)) in
    y <= x /\ y <= INR n * eps /\ (x - eps <= y \/ y = INR n * eps)).
  { clear n Hn. induction n as [|n [A [B C]]]; [simpl; lra|]. cbn [Sum]. rewrite S_INR in *.
    set (y := Sum n _) in *. destruct (Rle_dec ((INR n + 1) * eps) x) as [Y|N].
    - split; [|split; [lra|right]]; destruct C; lra.
    - apply Rnot_le_lt in N. split; [lra|split; [lra|left]]. destruct C; lra. }
  destruct (K n) as [A [B [C|C]]]; cbv zeta in *; split; lra.
Qed.

Lemma falling_integrable s r : 0 <= r -> falling s r -> ex_RInt s 0 r.
Proof.
  intros Hr Hs. set (cut := fun u => Rmax 0 (Rmin u r)).
  assert (Hcut : forall u, 0 <= cut u <= r)
    by (intros u; split; [apply Rmax_l|apply Rmax_lub; [easy|apply Rmin_r]]).
  apply (ex_RInt_ext (fun u => s (cut u))).
  { rewrite Rmin_left, Rmax_right by easy. intros x Hx. unfold cut. now rewrite Rmin_left, Rmax_right by lra. }
  set (g := fun u => s (cut u)).
  assert (Hg : falling g r).
  { intros u v Hu Huv Hv. unfold g, cut. rewrite !Rmin_left, !Rmax_right by lra. now apply Hs. }
  set (w := s 0 - s r). assert (Hw : 0 <= w) by (unfold w; specialize (Hs 0 r); lra).
  set (eps := fun n => w / INR (S n)).
  set (f := fun n u => s r + Sum (S n) (fun k => eps n * above (fun u => g u - s r) (INR (S k) * eps n) u)).
  assert (He : forall n, 0 <= eps n) by (intros n; apply Rmult_le_pos; [easy|left; apply Rinv_0_lt_compat, lt_0_INR;
    lia]).
  assert (If : forall n, ex_RInt (f n) 0 r).
  { intros n. apply (ex_RInt_plus (fun _ => s r)); [apply ex_RInt_const|]. generalize (S n). intros N.
    induction N; simpl; [apply ex_RInt_const|].
    apply (ex_RInt_plus (fun u => Sum N (fun k => eps n * above (fun u => g u - s r) (INR (S k) * eps n) u)));
      [easy|]. apply (ex_RInt_scal (above (fun u => g u - s r) (INR (S N) * eps n))), above_integrable; [easy|].
    intros u v A B C. specialize (Hg u v A B C). lra. }
  assert (U : forall n u, Rabs (f n u - g u) <= eps n).
  { intros n u. specialize (Hcut u).
    assert (g u <= s 0) by (apply Hs; lra). assert (s r <= g u) by (apply Hs; lra).
    destruct (staircase (S n) (eps n) (g u - s r)) as [A B]; [apply He|lra| |].
    - unfold eps. replace (INR (S n) * (w / INR (S n))) with w by (field; apply not_0_INR; lia). unfold w. lra.
    - unfold f, above. apply Rabs_le. lra. }
  destruct (filterlim_RInt f 0 r eventually _ g (fun n => RInt (f n) 0 r)) as [I [_ HI]].
  - intros n. now apply (RInt_correct (V := R_CompleteNormedModule)).
  - intros P [e HP]. destruct (nfloor_ex (w / e)) as [N [_ HN]];
      [apply Rmult_le_pos; [easy|left; apply Rinv_0_lt_compat, cond_pos]|]. exists N. intros n Hn. apply HP. intros u.
    apply (Rle_lt_trans _ (eps n)); [apply U|]. unfold eps. apply Rlt_div_l; [apply lt_0_INR; lia|].
    assert (INR N + 1 <= INR (S n)) by (rewrite <- S_INR; apply le_INR; lia). assert (H' := cond_pos e).
    apply Rlt_div_l in HN; [|easy]. nra.
  - now exists I.
Qed.

(** ∫₀^(U+h) s ≤ ∫₀ᵁ s + h s(U) *)
Lemma RInt_step s r U h : falling s r -> 0 <= U -> 0 <= h -> U + h <= r ->
  RInt s 0 (U + h) <= RInt s 0 U + h * s U.
Proof.
  intros Hs HU Hh Hr.
  assert (F : forall q, q <= r -> falling s q) by (intros q Hq u v A B C; apply Hs; lra).
  assert (I1 : ex_RInt s 0 U) by (apply falling_integrable; [easy|apply F; lra]).
  assert (I : ex_RInt s 0 (U + h)) by (apply falling_integrable; [lra|apply F; lra]).
  assert (I2 : ex_RInt s U (U + h)) by (apply (ex_RInt_Chasles_2 (V := R_CompleteNormedModule) s 0); [lra|easy]).
  assert (E := RInt_Chasles (V := R_CompleteNormedModule) s 0 U (U + h) I1 I2).
  assert (L : RInt s U (U + h) <= RInt (fun _ => s U) U (U + h)).
  { apply RInt_le; [lra|easy|apply ex_RInt_const|]. intros x Hx. apply Hs; lra. }
  rewrite RInt_const in L. unfold scal in L; simpl in L; unfold mult in L; simpl in L.
  unfold plus in E; simpl in E. rewrite <- E. replace (h * s U) with ((U + h - U) * s U) by ring. lra.
Qed.

(** ∫₀ᵁ s ≤ ∫₀ⱽ s for U ≤ V, s ≥ 0 *)
Lemma RInt_grows s r U V : falling s r -> (forall u, 0 <= u <= r -> 0 < s u) -> 0 <= U -> U <= V -> V <= r ->
  RInt s 0 U <= RInt s 0 V.
Proof.
  intros Hs Hp HU HV Hr. assert (I : ex_RInt s 0 V) by (apply falling_integrable; [lra|intros u v ? ? ?; apply Hs;
    lra]).
  assert (I1 : ex_RInt s 0 U) by (apply falling_integrable; [easy|intros u v ? ? ?; apply Hs; lra]).
  assert (I2 : ex_RInt s U V) by (apply (ex_RInt_Chasles_2 (V := R_CompleteNormedModule) s 0); [lra|easy]).
  assert (E := RInt_Chasles (V := R_CompleteNormedModule) s 0 U V I1 I2). unfold plus in E; simpl in E.
  assert (0 <= RInt s U V) by (apply RInt_ge_0; [easy|easy|intros x Hx; left; apply Hp; lra]). lra.
Qed.
