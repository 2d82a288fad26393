(** A complete Transformer and its six gradients: activation, softmax, covariance, gradients, entrywise maps. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.matrices base.dependence base.six_blocks.
From Shallow Require Import base.activations.
Open Scope R_scope.

(** rt-proposition-a-kink
    Covers: the whole statement.
    Reads: for all sizes 1, X = 1, W_V = 0, W_U = 1, g = g_f = 1, φ = relu, W_2 = a > 0, W_1 = w, any W_Q, W_K, γ and y < 1: F = 1 + a relu(w); for h > 0 the derivative of Φ = ½(F − y)² in w is D = (1 + ah − y)a at h and 0 at −h, (D − 0)/(2h) = ((1 − y)a + a²h)/(2h), which tends to ∞ as h falls to 0; Φ(h) − Φ(−h) = (1 − y)ah + ½a²h²; and for C > a²/4 the inequality Φ(h) ≤ Φ(−h) + 0·2h + ½C(2h)² fails if and only if h < 2(1 − y)a/(4C − a²).
    Mistake: `h < (1 - y) * a / (4 * C - a ^ 2)` for `h < 2 * (1 - y) * a / (4 * C - a ^ 2)`
    Mistake: `a ^ 2 * h ^ 2` for `/ 2 * a ^ 2 * h ^ 2`
    Mistake: without `y < 1 ->`
*)
Theorem rt_proposition_a_kink : forall gamma Q K a y, 0 < a -> y < 1 ->
  let one := fun _ _ : nat => 1 in
  let F := fun w => network 1 1 1 1 gamma 1 1 relu Q K (fun _ _ => 0) (fun _ _ => w) (fun _ _ => a) one one in
  let Phi := fun w => loss 1 1 1 (fun _ => F w) (fun _ _ _ => y) in
  (forall w, F w 0%nat 0%nat = 1 + a * relu w) /\
  (forall h, 0 < h -> is_derive Phi h ((1 + a * h - y) * a) /\ is_derive Phi (- h) 0 /\
    ((1 + a * h - y) * a - 0) / (2 * h) = ((1 - y) * a + a ^ 2 * h) / (2 * h) /\
    Phi h - Phi (- h) = (1 - y) * a * h + / 2 * a ^ 2 * h ^ 2) /\
  filterlim (fun h => ((1 - y) * a + a ^ 2 * h) / (2 * h)) (at_right 0) (Rbar_locally p_infty) /\
  (forall C h, / 4 * a ^ 2 < C -> 0 < h ->
    (~ Phi h <= Phi (- h) + 0 * (h - - h) + C / 2 * (h - - h) ^ 2 <-> h < 2 * (1 - y) * a / (4 * C - a ^ 2))).
Proof.
  intros gamma Q K a y Ha Hy one F Phi.
  assert (EF : forall w, F w 0%nat 0%nat = 1 + a * relu w).
  { intros w. unfold F, network, readout, output, matmul, entrywise, one. simpl.
    set (s := softmax_rows 1 1 1 gamma Q K _ 0%nat 0%nat).
    replace ((1 * 1 + (0 + (0 + s * 1) * 0)) * w) with w by ring.
    replace (0 + w) with w by ring. ring. }
  assert (EP : forall w, Phi w = / 2 * (1 + a * relu w - y) ^ 2).
  { intros w. unfold Phi, loss, frob2. simpl. rewrite EF. simpl. ring. }
  assert (pos : forall w, 0 <= w -> relu w = w) by (intros; unfold relu; now apply Rmax_left).
  assert (neg : forall w, w <= 0 -> relu w = 0) by (intros; unfold relu; now apply Rmax_right).
  split; [easy|]. split; [|split].
  - intros h Hh. split; [|split; [|split]].
    + apply (is_derive_ext_loc (fun w => / 2 * (1 + a * w - y) ^ 2)).
      * exists (mkposreal h Hh). intros w Hw. rewrite EP, pos; [easy|]. unfold ball in Hw. simpl in Hw.
          unfold AbsRing_ball, abs, minus, plus, opp in Hw. simpl in Hw.
        apply Rabs_def2 in Hw. lra.
      * auto_derive; [easy|]. field.
    + apply (is_derive_ext_loc (fun w => / 2 * (1 + a * 0 - y) ^ 2)).
      * exists (mkposreal h Hh). intros w Hw. rewrite EP, neg; [easy|]. unfold ball in Hw. simpl in Hw.
          unfold AbsRing_ball, abs, minus, plus, opp in Hw. simpl in Hw.
        apply Rabs_def2 in Hw. lra.
      * auto_derive; easy.
    + field. lra.
    + rewrite !EP, pos, neg by lra. field.
  - intros P [M HM]. set (d := (1 - y) * a / (2 * (Rabs M + 1))).
    assert (M0 := Rabs_pos M). assert (M1 := Rle_abs M).
    assert (Hd : 0 < d) by (unfold d; apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat|]; lra).
    exists (mkposreal d Hd). intros h Hh Hp. apply HM. unfold ball in Hh. simpl in Hh.
    unfold AbsRing_ball, abs, minus, plus, opp in Hh. simpl in Hh. apply Rabs_def2 in Hh.
    assert (Hh2 : h * (2 * (Rabs M + 1)) < (1 - y) * a).
    { apply Rlt_le_trans with (d * (2 * (Rabs M + 1))); [apply Rmult_lt_compat_r; lra|]. right. unfold d. field. lra. }
    apply (Rmult_lt_reg_r (2 * h)); [lra|].
    replace (((1 - y) * a + a ^ 2 * h) / (2 * h) * (2 * h)) with ((1 - y) * a + a ^ 2 * h) by (field; lra).
    assert (0 < a ^ 2) by (apply pow_lt; lra). nra.
  - intros C h HC Hh. rewrite !EP, pos, neg by lra. rewrite <- Rlt_div_r by lra. split.
    + intros H. apply Rnot_le_lt in H. apply (Rmult_lt_reg_r h); [easy|]. nra.
    + intros H. apply Rlt_not_le. assert (h * (4 * C - a ^ 2) * h < 2 * (1 - y) * a * h) by (apply Rmult_lt_compat_r;
        easy). nra.
Qed.
