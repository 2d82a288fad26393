(** Chapter "A shared feed-forward layer": hidden units move little, and the model stays linear. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.means base.matrices base.attention base.head base.covariance.
From Shallow Require Import base.skewness base.lines base.gradient base.activations kernel_regime.smoothness.
Open Scope R_scope.

(* prove first what K needs *)
Local Ltac premise K := match type of K with ?A -> _ => let H := fresh in assert (H : A); [|specialize (K H)] end.

(** a = (a_1, …, a_m), a row a head, and z_k = m^(−1/2) ⟨V_k, a⟩, the preactivation of hidden unit k, whose weights V_k
    have a row a head, too *)
Definition looks (T d : nat) (X : matrix) (q : vector) (W : nat -> matrix) : matrix := fun i => pooled T d X q (W i).
Definition unit_input (m T d : nat) X q (V W : nat -> matrix) (k : nat) : R :=
  / sqrt (INR m) * fdot m d (V k) (looks T d X q W).

(** f = p^(−1/2) Σ c_k σ(z_k) *)
Definition shared (sigma : R -> R) (p m T d : nat) X q (c : vector) (V W : nat -> matrix) : R :=
  / sqrt (INR p) * Sum p (fun k => c k * sigma (unit_input m T d X q V W k)).

(** φ⁽⁰⁾ + t δ in a block of matrices *)
Definition moved_by (A D : nat -> matrix) (t : R) : nat -> matrix := fun i => shifted (A i) (D i) t.

(** N bounds ‖V‖_op: ‖V a‖ ≤ N ‖a‖ for all a, V with p rows *)
Definition norm_at_most (p m d : nat) (V : nat -> matrix) (N : R) : Prop :=
  0 <= N /\ forall a, vnorm p (fun k => fdot m d (V k) a) <= N * fnorm m d a.

Lemma radius_ge0 n r x : (0 < n)%nat -> 0 <= x -> x <= r / sqrt (INR n) -> 0 <= r.
Proof.
  intros Hn Hx H. assert (P := root_pos n Hn). replace r with (r / sqrt (INR n) * sqrt (INR n)) by (field; lra).
  apply Rmult_le_pos; lra.
Qed.

Lemma rows_norm p m d (v : nat -> matrix) a r : (0 < p)%nat ->
  (forall k, (k < p)%nat -> fnorm m d (v k) <= r / sqrt (INR p)) ->
  vnorm p (fun k => fdot m d (v k) a) <= r * fnorm m d a.
Proof.
  intros Hp H. assert (P := root_pos p Hp). assert (F := fnorm_ge0 m d a).
  assert (R0 := radius_ge0 p r _ Hp (fnorm_ge0 m d (v O)) (H O Hp)). apply norm_le; [now apply Rmult_le_pos|].
  apply Rle_trans with (Sum p (fun _ => (r / sqrt (INR p) * fnorm m d a) ^ 2)).
  - apply Sum_le; intros k Hk. rewrite <- (pow2_abs (fdot _ _ _ _)). apply pow_incr. split; [apply Rabs_pos|].
    eapply Rle_trans; [apply fdot_cauchy|]. apply Rmult_le_compat_r; [easy|now apply H].
  - right. rewrite Sum_const. assert (Q : sqrt (INR p) * sqrt (INR p) = INR p) by apply sqrt_sqrt, pos_INR.
    rewrite <- Q at 1. field. lra.
Qed.

Lemma rows_bound m d (A : matrix) r : 0 <= r -> (forall i, (i < m)%nat -> vnorm d (A i) <= r) ->
  fnorm m d A <= sqrt (INR m) * r.
Proof.
  intros Hr H. unfold fnorm. rewrite <- (sqrt_pow2 r Hr), <- sqrt_mult by (apply pos_INR || apply pow2_ge_0).
  apply sqrt_le_1_alt. rewrite frob2_rows, <- Sum_const. apply Sum_le; intros i Hi. now apply norm_le_sq, H.
Qed.

Section Moves.
Variables (m p T d : nat) (X : matrix) (q : vector) (V v W w : nat -> matrix) (N rho_u rho_w : R).
Hypotheses (Hm : (0 < m)%nat) (Hp : (0 < p)%nat) (HT : (0 < T)%nat) (Hd : (0 < d)%nat) (B : in_ball T d X).
Hypotheses (Q : vnorm d q <= 1) (HN : norm_at_most p m d V N).
Hypotheses (Hv : forall k, (k < p)%nat -> fnorm m d (v k) <= rho_u / sqrt (INR p)).
Hypotheses (Hw : forall i, (i < m)%nat -> fnorm d d (w i) <= rho_w / sqrt (INR m)).

(** a before and after, and a′ = M w q *)
Let a := looks T d X q W.
Let a1 := looks T d X q (moved_by W w 1).
Let a' : matrix := fun i => matvec d (covariance T (weights T d X q (W i)) X) (matvec d (w i) q).
Let K := 4 / (3 * sqrt 3).

Let radius_w : 0 <= rho_w := radius_ge0 m rho_w _ Hm (fnorm_ge0 d d (w O)) (Hw O Hm).
Let radius_u : 0 <= rho_u := radius_ge0 p rho_u _ Hp (fnorm_ge0 m d (v O)) (Hv O Hp).

Let K_ge0 : 0 <= K.
Proof. apply Rle_trans with (2 * 0 * (1 - 0 ^ 2)); [lra|apply kappa_above; lra]. Qed.

Lemma turn_small i : (i < m)%nat -> vnorm d (matvec d (w i) q) <= rho_w / sqrt (INR m).
Proof.
  intros Hi. eapply Rle_trans; [apply matvec_fnorm|]. assert (F := fnorm_ge0 d d (w i)). assert (G := norm_ge0 d q).
  assert (H := Hw i Hi). nra.
Qed.

(** ‖x‖ ≤ b from |⟨x, x⟩| ≤ b ‖x‖ *)
Lemma dual x b : 0 <= b -> Rabs (dot d x x) <= b * vnorm d x -> vnorm d x <= b.
Proof.
  intros Hb H. assert (S := sq_ge0 d x). rewrite <- sq_dot, Rabs_pos_eq, <- norm_sq in H by easy.
  assert (G := norm_ge0 d x). destruct (Req_dec (vnorm d x) 0); [lra|].
  apply Rmult_le_reg_r with (vnorm d x); lra.
Qed.

Lemma look_first i : (i < m)%nat -> vnorm d (vminus (a1 i) (a i)) <= rho_w / sqrt (INR m).
Proof.
  intros Hi. set (e := vminus (a1 i) (a i)). assert (L := turn_small i Hi). assert (G := norm_ge0 d e).
  apply dual; [eapply Rle_trans; [apply norm_ge0|exact L]|].
  assert (S := step_first _ _ (rho_w / sqrt (INR m) * vnorm d e) (attended_line T d X q (W i) (w i) HT e)).
  cbv beta in S. premise S.
  { intros t _. destruct (one_number T d (weights T d X q (shifted (W i) (w i) t)) X Hd
      (weights_distribution T d X q _ HT) B) as (s & S1 & _ & M & _).
    eapply Rle_trans; [apply M|]. assert (G' := norm_ge0 d (matvec d (w i) q)).
    assert (0 <= 1 - s ^ 2 <= 1) by nra.
    assert (C := Rmult_le_compat_l _ _ _ G L).
    assert (0 <= vnorm d e * vnorm d (matvec d (w i) q)) by now apply Rmult_le_pos. nra. }
  specialize (S 1 ltac:(lra)). rewrite shifted_0, Rmult_1_r in S.
  replace (dot d e e) with (dot d e (a1 i) - dot d e (a i)) by (now rewrite <- dot_minus_r). exact S.
Qed.

Lemma look_second i : (i < m)%nat ->
  vnorm d (vminus (vminus (a1 i) (a i)) (a' i)) <= / 2 * K * (rho_w / sqrt (INR m)) ^ 2.
Proof.
  intros Hi. set (e := vminus (vminus (a1 i) (a i)) (a' i)). assert (L := turn_small i Hi). assert (G := norm_ge0 d e).
  set (y := vnorm d (matvec d (w i) q)) in *. assert (Y : 0 <= y) by apply norm_ge0.
  assert (K0 := K_ge0).
  assert (YY : y ^ 2 <= (rho_w / sqrt (INR m)) ^ 2) by (apply pow_incr; lra).
  apply dual; [apply Rmult_le_pos; [lra|apply pow2_ge_0]|].
  assert (S := step_second _ _ _ (K * (rho_w / sqrt (INR m)) ^ 2 * vnorm d e) (attended_line T d X q (W i) (w i) HT e)
    (spread_line T d X q (W i) (w i) HT e (matvec d (w i) q))).
  cbv beta in S. premise S.
  { intros t _. destruct (one_number T d (weights T d X q (shifted (W i) (w i) t)) X Hd
      (weights_distribution T d X q _ HT) B) as (s & S1 & _ & _ & M).
    eapply Rle_trans; [apply M|]. fold y. assert (KS := kappa_above s (proj1 S1)). fold K in KS.
    replace (vnorm d e * y * y) with (y ^ 2 * vnorm d e) by ring.
    assert (0 <= y ^ 2 * vnorm d e) by (apply Rmult_le_pos; [apply pow2_ge_0|easy]).
    assert (y ^ 2 * vnorm d e <= (rho_w / sqrt (INR m)) ^ 2 * vnorm d e) by now apply Rmult_le_compat_r.
    apply Rle_trans with (K * (y ^ 2 * vnorm d e)); [now apply Rmult_le_compat_r|].
    rewrite Rmult_assoc. now apply Rmult_le_compat_l. }
  specialize (S 1 ltac:(lra)). rewrite shifted_0, Rmult_1_l, pow1, Rmult_1_r in S.
  replace (/ 2 * K * (rho_w / sqrt (INR m)) ^ 2 * vnorm d e) with
    (/ 2 * (K * (rho_w / sqrt (INR m)) ^ 2 * vnorm d e)) by ring.
  replace (dot d e e) with (dot d e (a1 i) - dot d e (a i) - dot d e (a' i)); [exact S|].
  now rewrite <- !dot_minus_r.
Qed.

Lemma looks_move : fnorm m d (mminus a1 a) <= rho_w /\
  fnorm m d (mminus (mminus a1 a) a') <= / 2 * K * rho_w ^ 2 / sqrt (INR m).
Proof.
  assert (P := root_pos m Hm). assert (R0 := radius_w). assert (K0 := K_ge0).
  split; (eapply Rle_trans; [apply rows_bound|]).
  2: exact look_first. 4: exact look_second. 2, 4: right; field; lra.
  - apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat].
  - apply Rmult_le_pos; [lra|apply pow2_ge_0].
Qed.

Lemma looks_length : fnorm m d a1 <= sqrt (INR m).
Proof.
  rewrite <- (Rmult_1_r (sqrt (INR m))). apply rows_bound; [lra|]. intros i _. apply attended_ball; [|easy].
  now apply weights_distribution.
Qed.

Let z := unit_input m T d X q V W.
Let z1 := unit_input m T d X q (moved_by V v 1) (moved_by W w 1).

(** z̃ − z = m^(−1/2) (v ã + V (ã − a)) *)
Lemma unit_split k : z1 k - z k = / sqrt (INR m) * (fdot m d (v k) a1 + fdot m d (V k) (mminus a1 a)).
Proof.
  unfold z1, z, unit_input. fold a a1. rewrite <- Rmult_minus_distr_l. f_equal.
  unfold moved_by at 1. rewrite fdot_shifted_l, fdot_minus_r. ring.
Qed.

Lemma units_move : vnorm p (fun k => z1 k - z k) <= rho_u + rho_w * N / sqrt (INR m).
Proof.
  assert (P := root_pos m Hm). assert (R0 := radius_u). destruct HN as [N0 NV].
  rewrite (norm_ext p _ (vscal (/ sqrt (INR m)) (vplus (fun k => fdot m d (v k) a1)
    (fun k => fdot m d (V k) (mminus a1 a))))) by (intros; apply unit_split).
  rewrite norm_scal, Rabs_pos_eq by (left; now apply Rinv_0_lt_compat).
  replace (rho_u + rho_w * N / sqrt (INR m)) with (/ sqrt (INR m) * (rho_u * sqrt (INR m) + N * rho_w)) by (field; lra).
  apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|].
  eapply Rle_trans; [apply norm_triangle|]. apply Rplus_le_compat.
  - eapply Rle_trans; [now apply (rows_norm p m d v a1 rho_u)|]. apply Rmult_le_compat_l; [easy|apply looks_length].
  - eapply Rle_trans; [apply NV|]. apply Rmult_le_compat_l; [easy|apply looks_move].
Qed.

Lemma one_unit k : (k < p)%nat ->
  Rabs (z1 k - z k) <= rho_u / sqrt (INR p) + fnorm m d (V k) * (rho_w / sqrt (INR m)).
Proof.
  intros Hk. assert (P := root_pos m Hm). assert (I := Rinv_0_lt_compat _ P).
  rewrite unit_split, Rabs_mult, Rabs_pos_eq by lra.
  replace (rho_u / sqrt (INR p) + fnorm m d (V k) * (rho_w / sqrt (INR m))) with
    (/ sqrt (INR m) * (rho_u / sqrt (INR p) * sqrt (INR m) + fnorm m d (V k) * rho_w))
    by (assert (P' := root_pos p Hp); field; lra).
  apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|].
  eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; (eapply Rle_trans; [apply fdot_cauchy|]).
  - apply Rmult_le_compat; [apply fnorm_ge0|apply fnorm_ge0|now apply Hv|apply looks_length].
  - apply Rmult_le_compat_l; [apply fnorm_ge0|apply looks_move].
Qed.

(** z̃ − z − z′ = m^(−1/2) (v (ã − a) + V (ã − a − a′)) *)
Lemma units_curve : let z' k := / sqrt (INR m) * (fdot m d (v k) a + fdot m d (V k) a') in
  vnorm p (fun k => z1 k - z k - z' k) <=
  / sqrt (INR m) * (rho_u * rho_w + / 2 * K * rho_w ^ 2 * N / sqrt (INR m)).
Proof.
  intros z'. assert (P := root_pos m Hm). assert (R0 := radius_u). destruct HN as [N0 NV].
  rewrite (norm_ext p _ (vscal (/ sqrt (INR m)) (vplus (fun k => fdot m d (v k) (mminus a1 a))
    (fun k => fdot m d (V k) (mminus (mminus a1 a) a'))))).
  2: { intros k _. rewrite unit_split. unfold z', vscal, vplus. rewrite !fdot_minus_r. ring. }
  rewrite norm_scal, Rabs_pos_eq by (left; now apply Rinv_0_lt_compat).
  apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|].
  eapply Rle_trans; [apply norm_triangle|]. apply Rplus_le_compat.
  - eapply Rle_trans; [now apply (rows_norm p m d v _ rho_u)|]. apply Rmult_le_compat_l; [easy|apply looks_move].
  - eapply Rle_trans; [apply NV|]. replace (/ 2 * K * rho_w ^ 2 * N / sqrt (INR m)) with
      (N * (/ 2 * K * rho_w ^ 2 / sqrt (INR m))) by (field; lra).
    apply Rmult_le_compat_l; [easy|apply looks_move].
Qed.

Lemma units_derive k : is_derive (fun t => unit_input m T d X q (moved_by V v t) (moved_by W w t) k) 0
  (/ sqrt (INR m) * (fdot m d (v k) a + fdot m d (V k) a')).
Proof.
  unfold unit_input. apply (is_derive_scal (fun t => fdot m d (moved_by V v t k) (looks T d X q (moved_by W w t)))).
  unfold fdot. rewrite <- Sum_plus.
  apply (Sum_derive m (fun t i => Sum d (fun j => moved_by V v t k i j * looks T d X q (moved_by W w t) i j))).
  intros i _. rewrite <- Sum_plus.
  apply (Sum_derive d (fun t j => moved_by V v t k i j * looks T d X q (moved_by W w t) i j)). intros j Hj.
  assert (A := attended_line T d X q (W i) (w i) HT (delta j) 0). cbv zeta beta in A. rewrite shifted_0 in A.
  eapply derive_value.
  - apply (derive_mult (fun t => moved_by V v t k i j) (fun t => looks T d X q (moved_by W w t) i j)).
    + instantiate (1 := v k i j). unfold moved_by, shifted, mplus, mscal. auto_derive; [easy|ring].
    + eapply (is_derive_ext (fun t => dot d (delta j) (attended T (weights T d X q (shifted (W i) (w i) t)) X)));
        [intros; now rewrite dot_sym, dot_delta|exact A].
  - cbv beta. unfold spread. rewrite dot_sym, dot_delta by easy. unfold moved_by. rewrite !shifted_0.
    unfold a, a', looks, moved_by. rewrite shifted_0. reflexivity.
Qed.

End Moves.

(** kr-proposition-w-dense-units
    Covers: a part: the bounds on all units together, the root mean square, the count and a single unit; sharper ones, with N in the place of N̄ = N + ρ_u, for all together and, with ‖V_k‖ alone, for one. On the page: that the count does not grow with the widths at the Gaussian start.
    Reads: let tokens and query lie in the unit ball of ℝᵈ, ‖Va‖ ≤ N‖a‖ for all a, each row of V move by at most ρ_u/√p and each W_i by at most ρ_w/√m (Frobenius norm). Then the preactivations z_k = m^(−1/2) ⟨V_k, a⟩ of the p units move by (Σ (z_k − z_k⁽⁰⁾)²)^½ ≤ ρ_u + ρ_w N/√m ≤ Z = ρ_u + ρ_w (N + ρ_u)/√m; their root mean square is at most Z/√p; at most Z²/θ² of them move by more than θ > 0; a single one moves by at most ρ_u/√p + ‖V_k‖ρ_w/√m, which is at most ρ_u/√p + (‖V_k‖ + ρ_u/√p)ρ_w/√m.
    Mistake: `<= rho_w * N / sqrt (INR m) <= Z` for `<= rho_u + rho_w * N / sqrt (INR m) <= Z`
    Mistake: `/ (2 * theta ^ 2)` for `/ theta ^ 2`
    Mistake: without `in_ball T d X ->`
*)
Theorem kr_proposition_w_dense_units : forall m p T d X q (V v W w : nat -> matrix) N rho_u rho_w,
  (0 < m)%nat -> (0 < p)%nat -> (0 < T)%nat -> (0 < d)%nat -> in_ball T d X -> vnorm d q <= 1 ->
  norm_at_most p m d V N -> (forall k, (k < p)%nat -> fnorm m d (v k) <= rho_u / sqrt (INR p)) ->
  (forall i, (i < m)%nat -> fnorm d d (w i) <= rho_w / sqrt (INR m)) ->
  let move k := unit_input m T d X q (moved_by V v 1) (moved_by W w 1) k - unit_input m T d X q V W k in
  let Z := rho_u + rho_w * (N + rho_u) / sqrt (INR m) in
  vnorm p move <= rho_u + rho_w * N / sqrt (INR m) <= Z /\
  rms p move <= Z / sqrt (INR p) /\
  (forall theta, 0 < theta -> Sum p (fun k => if Rlt_dec theta (Rabs (move k)) then 1 else 0) <= Z ^ 2 / theta ^ 2) /\
  (forall k, (k < p)%nat -> Rabs (move k) <= rho_u / sqrt (INR p) + fnorm m d (V k) * (rho_w / sqrt (INR m)) <=
    rho_u / sqrt (INR p) + (fnorm m d (V k) + rho_u / sqrt (INR p)) * (rho_w / sqrt (INR m))).
Proof.
  intros m p T d X q V v W w N rho_u rho_w Hm Hp HT Hd B Q HN Hv Hw move Z.
  assert (A := units_move m p T d X q V v W w N rho_u rho_w Hm Hp HT Hd B Q HN Hv Hw). fold move in A.
  assert (U0 := radius_ge0 p rho_u _ Hp (fnorm_ge0 m d (v O)) (Hv O Hp)).
  assert (W0 := radius_ge0 m rho_w _ Hm (fnorm_ge0 d d (w O)) (Hw O Hm)).
  assert (M := root_pos m Hm). assert (P := root_pos p Hp). assert (IM := Rinv_0_lt_compat _ M).
  assert (IP := Rinv_0_lt_compat _ P). assert (UW : 0 <= rho_w * rho_u) by now apply Rmult_le_pos.
  assert (C : rho_u + rho_w * N / sqrt (INR m) <= Z).
  { unfold Z, Rdiv. apply Rplus_le_compat_l. apply Rmult_le_compat_r; lra. }
  split; [easy|]. assert (S : sq p move <= Z ^ 2) by (apply norm_le_sq; lra). split; [|split].
  - unfold rms, mean. replace (/ INR p * _) with (/ INR p * sq p move) by reflexivity.
    rewrite sqrt_mult by (apply inv_ge0 || apply sq_ge0). fold (vnorm p move).
    assert (QP : sqrt (/ INR p) = / sqrt (INR p)) by (apply sqrt_inv). rewrite QP. unfold Rdiv. rewrite Rmult_comm.
    apply Rmult_le_compat_r; lra.
  - intros theta Ht. apply Rmult_le_reg_r with (theta ^ 2); [now apply pow_lt|].
    replace (Z ^ 2 / theta ^ 2 * theta ^ 2) with (Z ^ 2) by (field; lra). eapply Rle_trans; [|exact S].
    rewrite Rmult_comm, <- Sum_scal. apply Sum_le; intros k _. destruct (Rlt_dec theta (Rabs (move k))).
    + rewrite Rmult_1_r, <- (pow2_abs (move k)). apply pow_incr. lra.
    + rewrite Rmult_0_r. apply pow2_ge_0.
  - intros k Hk. split; [now apply (one_unit m p T d X q V v W w rho_u rho_w)|].
    apply Rplus_le_compat_l, Rmult_le_compat_r; [apply Rmult_le_pos; lra|].
    assert (0 <= rho_u / sqrt (INR p)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma tanh_curve x : Rabs (-2 * tanh x * (1 - tanh x ^ 2)) <= 4 / (3 * sqrt 3).
Proof.
  assert (H := tanh_bound x). rewrite !Rabs_mult, (Rabs_left (-2)) by lra.
  rewrite (Rabs_pos_eq (1 - tanh x ^ 2)) by nra. rewrite <- (pow2_abs (tanh x)).
  assert (K := kappa_above (Rabs (tanh x)) (Rabs_pos _)). lra.
Qed.

Lemma tanh_slope_le x : Rabs (1 - tanh x ^ 2) <= 1.
Proof. assert (H := tanh_bound x). rewrite Rabs_pos_eq; nra. Qed.

Lemma derive_tanh_slope x : is_derive (fun x => 1 - tanh x ^ 2) x (-2 * tanh x * (1 - tanh x ^ 2)).
Proof.
  assert (D : Derive (fun x => tanh x) x = 1 - tanh x ^ 2) by apply is_derive_unique, derive_tanh.
  auto_derive; [eexists; apply derive_tanh|]. rewrite D. ring.
Qed.

(** |σ(y) − σ(x)| ≤ |y − x| and |σ(y) − σ(x) − σ′(x)(y − x)| ≤ ½ σ₂ (y − x)² *)
Lemma tanh_taylor x y : Rabs (tanh y - tanh x) <= Rabs (y - x) /\
  Rabs (tanh y - tanh x - (1 - tanh x ^ 2) * (y - x)) <= / 2 * (4 / (3 * sqrt 3)) * (y - x) ^ 2.
Proof.
  set (h := y - x). set (g t := tanh (x + t * h)).
  assert (L : forall t, is_derive (fun t => x + t * h) t h) by (intros; auto_derive; [easy|ring]).
  assert (D1 : forall t, is_derive g t (h * (1 - tanh (x + t * h) ^ 2))).
  { intros t. apply (is_derive_comp tanh (fun t => x + t * h)); [apply derive_tanh|apply L]. }
  assert (D2 : forall t, is_derive (fun t => h * (1 - tanh (x + t * h) ^ 2)) t
    (h * (h * (-2 * tanh (x + t * h) * (1 - tanh (x + t * h) ^ 2))))).
  { intros t. apply (is_derive_scal (fun t => 1 - tanh (x + t * h) ^ 2)).
    apply (is_derive_comp (fun x => 1 - tanh x ^ 2) (fun t => x + t * h)); [apply derive_tanh_slope|apply L]. }
  assert (E1 : g 1 = tanh y) by (unfold g, h; f_equal; ring). assert (E0 : g 0 = tanh x) by (unfold g; f_equal; ring).
  split.
  - assert (K := step_first g _ (Rabs h) D1). premise K.
    { intros t _. rewrite Rabs_mult. rewrite <- (Rmult_1_r (Rabs h)) at 2. apply Rmult_le_compat_l; [apply Rabs_pos|].
      apply tanh_slope_le. }
    specialize (K 1 ltac:(lra)). rewrite E1, E0 in K. lra.
  - assert (K := step_second g _ _ (4 / (3 * sqrt 3) * h ^ 2) D1 D2). premise K.
    { intros t _. rewrite <- Rmult_assoc, Rabs_mult, Rmult_comm. replace (h * h) with (h ^ 2) by ring.
      rewrite (Rabs_pos_eq (h ^ 2)) by apply pow2_ge_0. apply Rmult_le_compat_r; [apply pow2_ge_0|apply tanh_curve]. }
    specialize (K 1 ltac:(lra)). rewrite E1, E0 in K. rewrite Rmult_0_l, Rplus_0_r, Rmult_1_l, pow1, Rmult_1_r in K.
    replace ((1 - tanh x ^ 2) * h) with (h * (1 - tanh x ^ 2)) by ring. lra.
Qed.

(** kr-theorem-g-dense
    Covers: a part: the bound, sharper, with 1 in the place of C and N in that of N̄ = N + ρ_u; the linear model by the derivative along the move. On the page: that none of the four constants can be smaller, and what N is at the Gaussian start.
    Reads: let tokens and query lie in the unit ball of ℝᵈ, σ = tanh, |c_k| = 1, ‖Va‖ ≤ N‖a‖ for all a, and each c_k, row V_k and W_i move by at most ρ_c/√p, ρ_u/√p and ρ_w/√m, to φ⁽⁰⁾ + δ. Let L be the derivative of f(φ⁽⁰⁾ + tδ) at t = 0, and κ = 4/(3√3), which is σ₂, too. Then |f(φ⁽⁰⁾ + δ) − f(φ⁽⁰⁾) − L| ≤ p^(−1/2) [ρ_c z + ½κz²] + m^(−1/2) [ρ_uρ_w + ½κρ_w² N/√m] with z = ρ_u + ρ_w N/√m, and that is at most p^(−1/2) [ρ_c Z + ½CκZ²] + C m^(−1/2) [ρ_uρ_w + ½κρ_w² (N + ρ_u)/√m] with Z = ρ_u + ρ_w (N + ρ_u)/√m and C = 1 + ρ_c/√p.
    Constants: 4 / (3 * sqrt 3) = shallowformer.probability.cumulants.KAPPA
    Mistake: `/ sqrt (INR p) * (/ 2 * rho_c * z + / 2 * kappa` for `/ sqrt (INR p) * (rho_c * z + / 2 * kappa`
    Mistake: `/ 4 * kappa * z ^ 2` for `/ 2 * kappa * z ^ 2`
    Mistake: without `(forall k, (k < p)%nat -> Rabs (c k) = 1) ->`
*)
Theorem kr_theorem_g_dense : forall m p T d X q (c gamma : vector) (V v W w : nat -> matrix) N rho_c rho_u rho_w L,
  (0 < m)%nat -> (0 < p)%nat -> (0 < T)%nat -> (0 < d)%nat -> in_ball T d X -> vnorm d q <= 1 ->
  (forall k, (k < p)%nat -> Rabs (c k) = 1) -> norm_at_most p m d V N ->
  (forall k, (k < p)%nat -> Rabs (gamma k) <= rho_c / sqrt (INR p)) ->
  (forall k, (k < p)%nat -> fnorm m d (v k) <= rho_u / sqrt (INR p)) ->
  (forall i, (i < m)%nat -> fnorm d d (w i) <= rho_w / sqrt (INR m)) ->
  let f t := shared tanh p m T d X q (along c gamma t) (moved_by V v t) (moved_by W w t) in
  is_derive f 0 L ->
  let kappa := 4 / (3 * sqrt 3) in let z := rho_u + rho_w * N / sqrt (INR m) in
  let Z := rho_u + rho_w * (N + rho_u) / sqrt (INR m) in let C := 1 + rho_c / sqrt (INR p) in
  Rabs (f 1 - f 0 - L) <= / sqrt (INR p) * (rho_c * z + / 2 * kappa * z ^ 2) +
    / sqrt (INR m) * (rho_u * rho_w + / 2 * kappa * rho_w ^ 2 * N / sqrt (INR m)) <=
  / sqrt (INR p) * (rho_c * Z + C / 2 * kappa * Z ^ 2) +
    C / sqrt (INR m) * (rho_u * rho_w + kappa / 2 * rho_w ^ 2 * (N + rho_u) / sqrt (INR m)).
Proof.
  intros m p T d X q c gamma V v W w N rho_c rho_u rho_w L Hm Hp HT Hd B Q C1 HN Hc Hv Hw f HL kappa z Z C.
  assert (U0 := radius_ge0 p rho_u _ Hp (fnorm_ge0 m d (v O)) (Hv O Hp)).
  assert (W0 := radius_ge0 m rho_w _ Hm (fnorm_ge0 d d (w O)) (Hw O Hm)).
  assert (M := root_pos m Hm). assert (P := root_pos p Hp). assert (IM := Rinv_0_lt_compat _ M).
  assert (IP := Rinv_0_lt_compat _ P). destruct (HN) as [N0 _].
  assert (K0 : 0 <= kappa) by (apply Rle_trans with (2 * 0 * (1 - 0 ^ 2)); [lra|apply kappa_above; lra]).
  assert (RC := radius_ge0 p rho_c _ Hp (Rabs_pos (gamma O)) (Hc O Hp)).
  assert (Z0 : 0 <= z).
  { unfold z, Rdiv. apply Rplus_le_le_0_compat; [easy|]. repeat apply Rmult_le_pos; lra. }
  set (x0 := unit_input m T d X q V W). set (x1 := unit_input m T d X q (moved_by V v 1) (moved_by W w 1)).
  set (x' := fun k => / sqrt (INR m) * (fdot m d (v k) (looks T d X q W) + fdot m d (V k)
    (fun i => matvec d (covariance T (weights T d X q (W i)) X) (matvec d (w i) q)))).
  assert (A := units_move m p T d X q V v W w N rho_u rho_w Hm Hp HT Hd B Q HN Hv Hw). fold x1 x0 z in A.
  assert (D := units_curve m p T d X q V v W w N rho_u rho_w Hm Hp HT Hd B Q HN Hv Hw). cbv zeta in D.
  fold x1 x0 kappa in D.
  assert (E : f 1 - f 0 - L = / sqrt (INR p) * Sum p (fun k => gamma k * (tanh (x1 k) - tanh (x0 k)) +
    (c k * (tanh (x1 k) - tanh (x0 k) - (1 - tanh (x0 k) ^ 2) * (x1 k - x0 k)) +
     c k * (1 - tanh (x0 k) ^ 2) * (x1 k - x0 k - x' k)))).
  { assert (at0 : forall A D : nat -> matrix, moved_by A D 0 = A).
    { intros. apply FunctionalExtensionality.functional_extensionality; intros i. apply shifted_0. }
    assert (DL : is_derive f 0 (/ sqrt (INR p) * Sum p (fun k => gamma k * tanh (x0 k) +
      c k * ((1 - tanh (x0 k) ^ 2) * x' k)))).
    { unfold f, shared. apply (is_derive_scal (fun t => Sum p (fun k => along c gamma t k *
        tanh (unit_input m T d X q (moved_by V v t) (moved_by W w t) k)))).
      apply (Sum_derive p (fun t k => along c gamma t k *
        tanh (unit_input m T d X q (moved_by V v t) (moved_by W w t) k))). intros k _.
      eapply derive_value; [apply derive_mult|].
      - instantiate (1 := gamma k). unfold along. auto_derive; [easy|ring].
      - apply (is_derive_comp tanh (fun t => unit_input m T d X q (moved_by V v t) (moved_by W w t) k));
          [apply derive_tanh|apply (units_derive m T d X q V v W w HT k)].
      - cbv beta. rewrite !at0, along_0. unfold scal. cbn. unfold mult. cbn. fold (x' k) (x0 k). ring. }
    rewrite <- (is_derive_unique _ _ _ HL), (is_derive_unique _ _ _ DL). unfold f, shared. rewrite !at0, along_0.
    rewrite <- !Rmult_minus_distr_l. f_equal. rewrite <- !Sum_minus. apply Sum_ext; intros k _.
    fold (x0 k) (x1 k). unfold along. ring. }
  split.
  - rewrite E, !Sum_plus, Rabs_mult, (Rabs_pos_eq (/ _)) by lra.
    assert (T1 : Rabs (Sum p (fun k => gamma k * (tanh (x1 k) - tanh (x0 k)))) <= rho_c * z).
    { eapply Rle_trans; [apply (cauchy p gamma (fun k => tanh (x1 k) - tanh (x0 k)))|].
      apply Rmult_le_compat; try apply norm_ge0.
      - apply norm_le; [easy|]. apply Rle_trans with (Sum p (fun _ => (rho_c / sqrt (INR p)) ^ 2)).
        + apply Sum_le; intros k Hk. rewrite <- (pow2_abs (gamma k)). apply pow_incr. split; [apply Rabs_pos|auto].
        + right. rewrite Sum_const. assert (QQ : sqrt (INR p) * sqrt (INR p) = INR p) by apply sqrt_sqrt, pos_INR.
          rewrite <- QQ at 1. field. lra.
      - eapply Rle_trans; [|exact A]. apply sqrt_le_1_alt, Sum_le; intros k _.
        rewrite <- (pow2_abs (tanh _ - _)), <- (pow2_abs (x1 k - x0 k)). apply pow_incr.
        split; [apply Rabs_pos|apply tanh_taylor]. }
    assert (T2 : Rabs (Sum p (fun k => c k * (tanh (x1 k) - tanh (x0 k) - (1 - tanh (x0 k) ^ 2) * (x1 k - x0 k)))) <=
      / 2 * kappa * z ^ 2).
    { eapply Rle_trans; [apply Sum_abs|]. apply Rle_trans with (/ 2 * kappa * sq p (fun k => x1 k - x0 k)).
      - unfold sq. rewrite <- Sum_scal. apply Sum_le; intros k Hk. rewrite Rabs_mult, C1, Rmult_1_l by easy.
        apply tanh_taylor.
      - apply Rmult_le_compat_l; [lra|]. now apply norm_le_sq. }
    assert (T3 : Rabs (Sum p (fun k => c k * (1 - tanh (x0 k) ^ 2) * (x1 k - x0 k - x' k))) <= sqrt (INR p) *
      (/ sqrt (INR m) * (rho_u * rho_w + / 2 * kappa * rho_w ^ 2 * N / sqrt (INR m)))).
    { eapply Rle_trans; [apply (cauchy p (fun k => c k * (1 - tanh (x0 k) ^ 2)) (fun k => x1 k - x0 k - x' k))|].
      apply Rmult_le_compat; try apply norm_ge0; [|exact D]. apply sqrt_le_1_alt.
      rewrite <- (Rmult_1_r (INR p)), <- Sum_const. apply Sum_le; intros k Hk. rewrite <- (pow2_abs (_ * _)).
      rewrite Rabs_mult, C1, Rmult_1_l by easy. apply Rle_trans with (1 ^ 2); [|lra].
      apply pow_incr. split; [apply Rabs_pos|apply tanh_slope_le]. }
    replace (/ sqrt (INR p) * (rho_c * z + / 2 * kappa * z ^ 2) +
      / sqrt (INR m) * (rho_u * rho_w + / 2 * kappa * rho_w ^ 2 * N / sqrt (INR m))) with
      (/ sqrt (INR p) * (rho_c * z + (/ 2 * kappa * z ^ 2 + sqrt (INR p) *
        (/ sqrt (INR m) * (rho_u * rho_w + / 2 * kappa * rho_w ^ 2 * N / sqrt (INR m)))))) by (field; lra).
    apply Rmult_le_compat_l; [lra|]. eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [exact T1|].
    eapply Rle_trans; [apply Rabs_triang|]. now apply Rplus_le_compat.
  - assert (CC : 1 <= C) by (unfold C; assert (0 <= rho_c / sqrt (INR p)) by (apply Rmult_le_pos; lra); lra).
    assert (ZZ : z <= Z).
    { unfold z, Z, Rdiv. apply Rplus_le_compat_l. apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_l; lra. }
    assert (S2 : z ^ 2 <= Z ^ 2) by (apply pow_incr; lra). assert (S0 := pow2_ge_0 z).
    assert (R2 := pow2_ge_0 rho_w). apply Rplus_le_compat.
    + apply Rmult_le_compat_l; [lra|]. apply Rplus_le_compat; [now apply Rmult_le_compat_l|].
      replace (C / 2 * kappa * Z ^ 2) with (/ 2 * kappa * (C * Z ^ 2)) by field. apply Rmult_le_compat_l; [lra|]. nra.
    + match goal with |- _ <= C / ?s * ?x => replace (C / s * x) with (/ s * (C * x)) by (unfold Rdiv; ring) end.
      apply Rmult_le_compat_l; [lra|].
      set (y := rho_u * rho_w + _). assert (0 <= rho_u * rho_w) by now apply Rmult_le_pos.
      assert (G : / 2 * kappa * rho_w ^ 2 * N / sqrt (INR m) <= kappa / 2 * rho_w ^ 2 * (N + rho_u) / sqrt (INR m)).
      { unfold Rdiv. apply Rmult_le_compat_r; [lra|]. rewrite (Rmult_comm kappa).
        apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|lra]. }
      assert (0 <= / 2 * kappa * rho_w ^ 2 * N / sqrt (INR m))
        by (clearbody kappa; unfold Rdiv; repeat apply Rmult_le_pos; lra).
      unfold y. set (g := kappa / 2 * rho_w ^ 2 * (N + rho_u) / sqrt (INR m)) in *. nra.
Qed.
