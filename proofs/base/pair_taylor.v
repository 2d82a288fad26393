(** One pair of heads at one step: how far it is from the known path, by Taylor's formula of third order. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.means base.paired.
Open Scope R_scope.

Lemma split_beta c ch gam gamL x z r u g o e :
  r * ((c + ch) * o + gam * e) - u * (c * z + gamL * g) =
  (r - u) * (c * x) + gam * ((r - u) * g) + (u * (c * (x - z)) + (gam - gamL) * (u * g)) +
  r * (c * (o - x) + (ch * o + gam * (e - g))).
Proof. ring. Qed.

(** One pair at one step: what follows from the four letters and the allowances. *)
Section Pair.
Variables (n d : nat) (c0 : R) (h0 : vector) (g0 : nat -> vector) (H0 : nat -> matrix).
Variables (alp alpL : vector) (gam gamL ch chL Da Dg Dc gb gs Hb : R).
Variables (odd even : vector) (godd geven : nat -> vector) (o v w b : R) (r u : vector) (E mu rho : R).
Hypotheses (Hn : (0 < n)%nat) (Hc : Rabs c0 = 1).
Hypothesis HDa : vnorm d (vminus alp alpL) <= Da.
Hypothesis HDg : Rabs (gam - gamL) <= Dg.
Hypothesis HDc : Rabs (ch - chL) <= Dc.
Hypothesis Ho : rms n (fun j => odd j - dot d (g0 j) alp) <= o.
Hypothesis Hv : rms n (fun j => even j - h0 j) <= v.
Hypothesis Hw : vrms n d (fun j => vminus (geven j) (g0 j)) <= w.
Hypothesis Hb_ : vrms n d (fun j => vminus (godd j) (matvec d (H0 j) alp)) <= b.
Hypothesis Hgs : forall x, vnorm d (fun k => mean n (fun j => x j * g0 j k)) <= gs * rms n x.
Hypothesis Hgb : vrms n d g0 <= gb.
Hypothesis HHb : forall z, vrms n d (fun j => matvec d (H0 j) z) <= Hb * vnorm d z.
Hypothesis HE : rms n (fun j => r j - u j) <= E.
Hypothesis Hmu : rms n u <= mu.
Hypothesis Hrho : rms n r <= rho.
Hypotheses (Hgs0 : 0 <= gs) (HHb0 : 0 <= Hb).
Let gmb := Rabs gamL + Dg.
Let chb := Rabs chL + Dc.
Let A1 := rms n (fun j => dot d (g0 j) alpL) + gb * Da.
Let A2 := vrms n d (fun j => matvec d (H0 j) alpL) + Hb * Da.
Let what := w + chb * (gb + w) + gmb * (A2 + b).
Let bracket j := fun k => (c0 + ch) * geven j k + gam * godd j k - c0 * g0 j k.

Lemma gam_le : Rabs gam <= gmb.
Proof. unfold gmb. replace gam with (gamL + (gam - gamL)) by ring. eapply Rle_trans; [apply Rabs_triang|lra]. Qed.

Lemma ch_le : Rabs ch <= chb.
Proof. unfold chb. replace ch with (chL + (ch - chL)) by ring. eapply Rle_trans; [apply Rabs_triang|lra]. Qed.

Lemma A1_le : rms n (fun j => dot d (g0 j) alp) <= A1.
Proof.
  rewrite (rms_ext n _ (fun j => dot d (g0 j) alpL + dot d (g0 j) (vminus alp alpL))).
  2: { intros. unfold dot, vminus. rewrite <- Sum_plus. apply Sum_ext; intros; ring. }
  eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat_l.
  eapply Rle_trans; [apply (rms_le n _ (fun j => vnorm d (vminus alp alpL) * vnorm d (g0 j))); [easy|]|].
  - intros. rewrite Rmult_comm. apply cauchy.
  - rewrite rms_scal, Rabs_right by (easy || apply Rle_ge, norm_ge0). rewrite Rmult_comm.
    apply Rmult_le_compat; (apply norm_ge0 || apply rms_ge0 || easy).
Qed.

Lemma A2_le : vrms n d (fun j => matvec d (H0 j) alp) <= A2.
Proof.
  rewrite (vrms_ext n d _ (fun j => vplus (matvec d (H0 j) alpL) (matvec d (H0 j) (vminus alp alpL)))).
  2: { intros. rewrite <- matvec_plus. apply Sum_ext; intros. unfold vplus, vminus. ring. }
  eapply Rle_trans; [now apply vrms_plus|]. apply Rplus_le_compat_l.
  eapply Rle_trans; [apply HHb|]. now apply Rmult_le_compat_l.
Qed.

Lemma geven_le : vrms n d geven <= gb + w.
Proof.
  rewrite (vrms_ext n d _ (fun j => vplus (g0 j) (vminus (geven j) (g0 j)))) by (intros; unfold vplus, vminus; ring).
  eapply Rle_trans; [now apply vrms_plus|]. lra.
Qed.

Lemma godd_le : vrms n d godd <= A2 + b.
Proof.
  rewrite (vrms_ext n d _ (fun j => vplus (matvec d (H0 j) alp) (vminus (godd j) (matvec d (H0 j) alp))))
    by (intros; unfold vplus, vminus; ring).
  eapply Rle_trans; [now apply vrms_plus|]. assert (Q := A2_le). lra.
Qed.

Lemma odd_le : rms n odd <= A1 + o.
Proof.
  rewrite (rms_ext n _ (fun j => dot d (g0 j) alp + (odd j - dot d (g0 j) alp))) by (intros; ring).
  eapply Rle_trans; [now apply rms_plus|]. assert (Q := A1_le). lra.
Qed.

(** c⁰ x + χ y + γ z *)
Lemma three X Y Z x z t : vrms n d X <= x -> vrms n d Y <= z -> vrms n d Z <= t ->
  vrms n d (fun j => vplus (vscal c0 (X j)) (vplus (vscal ch (Y j)) (vscal gam (Z j)))) <= x + chb * z + gmb * t.
Proof.
  intros HX HY HZ. eapply Rle_trans; [now apply vrms_plus|]. rewrite vrms_scal, Hc by easy.
  assert (Q : vrms n d (fun j => vplus (vscal ch (Y j)) (vscal gam (Z j))) <= chb * z + gmb * t).
  { eapply Rle_trans; [now apply vrms_plus|]. rewrite !vrms_scal by easy.
    apply Rplus_le_compat; apply Rmult_le_compat; (apply Rabs_pos || apply vrms_ge0 || apply ch_le || apply gam_le ||
      easy). }
  lra.
Qed.

Lemma bracket_le : vrms n d bracket <= what.
Proof.
  rewrite (vrms_ext n d _ (fun j => vplus (vscal c0 (vminus (geven j) (g0 j))) (vplus (vscal ch (geven j)) (vscal gam
    (godd j))))).
  - apply three; [easy|apply geven_le|apply godd_le].
  - intros. unfold bracket, vplus, vscal, vminus. ring.
Qed.

Lemma missed_le : rms n (fun j => (c0 + ch) * odd j - c0 * dot d (g0 j) alp + gam * (even j - h0 j)) <=
  o + gmb * v + chb * (A1 + o).
Proof.
  rewrite (rms_ext n _ (fun j => c0 * (odd j - dot d (g0 j) alp) + (gam * (even j - h0 j) + ch * odd j))) by (intros;
    ring).
  eapply Rle_trans; [now apply rms_plus|]. rewrite Rplus_assoc.
    apply Rplus_le_compat; [rewrite rms_scal, Hc by easy; lra|].
  eapply Rle_trans; [now apply rms_plus|]. rewrite !rms_scal by easy.
  apply Rplus_le_compat; apply Rmult_le_compat;
    (apply Rabs_pos || apply rms_ge0 || apply ch_le || apply gam_le || apply odd_le || easy).
Qed.

Lemma alpha_le : vnorm d (fun k => mean n (fun j => r j * ((c0 + ch) * geven j k + gam * godd j k)) -
  mean n (fun j => u j * (c0 * g0 j k))) <= E * gs + rho * what.
Proof.
  rewrite (norm_ext d _ (vplus (vscal c0 (fun k => mean n (fun j => (r j - u j) * g0 j k)))
    (fun k => mean n (fun j => r j * bracket j k)))).
  - eapply Rle_trans; [apply norm_triangle|]. rewrite norm_scal, Hc. apply Rplus_le_compat.
    + rewrite Rmult_1_l, Rmult_comm. eapply Rle_trans; [apply Hgs|]. now apply Rmult_le_compat_l.
    + eapply Rle_trans; [now apply mean_vector|]. apply Rmult_le_compat; (apply rms_ge0 || apply bracket_le || easy).
  - intros k _. unfold vplus, vscal. rewrite <- mean_scal, <- mean_plus, <- mean_minus. apply mean_ext; intros.
    unfold bracket. ring.
Qed.

Lemma gamma_le : Rabs (mean n (fun j => r j * even j) - mean n (fun j => u j * h0 j)) <= E * rms n h0 + rho * v.
Proof.
  replace (mean n (fun j => r j * even j) - mean n (fun j => u j * h0 j)) with
    (mean n (fun j => (r j - u j) * h0 j) + mean n (fun j => r j * (even j - h0 j))).
  - eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; (eapply Rle_trans; [now apply mean_product|]);
      apply Rmult_le_compat; (apply rms_ge0 || easy || apply Rle_refl).
  - rewrite <- mean_plus, <- mean_minus. apply mean_ext; intros; ring.
Qed.

Lemma beta_le : vnorm d (fun k => mean n (fun j => r j * ((c0 + ch) * godd j k + gam * geven j k)) -
  mean n (fun j => u j * (c0 * matvec d (H0 j) alpL k + gamL * g0 j k))) <=
  E * (A2 + gmb * gs) + mu * (Hb * Da + gs * Dg) + rho * (chb * (A2 + b) + b + gmb * w).
Proof.
  assert (E0 := rms_ge0 n (fun j => r j - u j)). assert (U0 := rms_ge0 n u).
  set (P1 := fun k => mean n (fun j => (r j - u j) * (vscal c0 (matvec d (H0 j) alp) k))).
  set (P2 := vscal gam (fun k => mean n (fun j => (r j - u j) * g0 j k))).
  set (P3 := fun k => mean n (fun j => u j * (vscal c0 (matvec d (H0 j) (vminus alp alpL)) k))).
  set (P4 := vscal (gam - gamL) (fun k => mean n (fun j => u j * g0 j k))).
  set (P5 := fun k => mean n (fun j => r j * (vplus (vscal c0 (vminus (godd j) (matvec d (H0 j) alp)))
    (vplus (vscal ch (godd j)) (vscal gam (vminus (geven j) (g0 j))))) k)).
  rewrite (norm_ext d _ (vplus (vplus (vplus P1 P2) (vplus P3 P4)) P5)).
  - assert (N1 : vnorm d P1 <= E * A2).
    { eapply Rle_trans; [now apply mean_vector|]. rewrite vrms_scal, Hc, Rmult_1_l by easy.
      apply Rmult_le_compat; (apply rms_ge0 || apply vrms_ge0 || apply A2_le || easy). }
    assert (N2 : vnorm d P2 <= E * (gmb * gs)).
    { unfold P2. rewrite norm_scal. replace (E * (gmb * gs)) with (gmb * (gs * E)) by ring.
      apply Rmult_le_compat; [apply Rabs_pos|apply norm_ge0|apply gam_le|].
      eapply Rle_trans; [apply Hgs|]. now apply Rmult_le_compat_l. }
    assert (N3 : vnorm d P3 <= mu * (Hb * Da)).
    { eapply Rle_trans; [now apply mean_vector|]. rewrite vrms_scal, Hc, Rmult_1_l by easy.
      apply Rmult_le_compat; [apply rms_ge0|apply vrms_ge0|easy|].
      eapply Rle_trans; [apply HHb|]. now apply Rmult_le_compat_l. }
    assert (N4 : vnorm d P4 <= mu * (gs * Dg)).
    { unfold P4. rewrite norm_scal. replace (mu * (gs * Dg)) with (Dg * (gs * mu)) by ring.
      apply Rmult_le_compat; [apply Rabs_pos|apply norm_ge0|easy|].
      eapply Rle_trans; [apply Hgs|]. now apply Rmult_le_compat_l. }
    assert (N5 : vnorm d P5 <= rho * (b + chb * (A2 + b) + gmb * w)).
    { eapply Rle_trans; [now apply mean_vector|]. apply Rmult_le_compat; [apply rms_ge0|apply vrms_ge0|easy|].
      apply three; [easy|apply godd_le|easy]. }
    assert (T1 := norm_triangle d (vplus (vplus P1 P2) (vplus P3 P4)) P5).
    assert (T2 := norm_triangle d (vplus P1 P2) (vplus P3 P4)).
    assert (T3 := norm_triangle d P1 P2). assert (T4 := norm_triangle d P3 P4). lra.
  - intros k _. unfold P1, P2, P3, P4, P5, vplus, vscal. rewrite <- !mean_scal, <- !mean_plus, <- mean_minus.
    apply mean_ext; intros j _. rewrite matvec_minus. unfold vminus. apply split_beta.
Qed.

Lemma chi_le : Rabs (mean n (fun j => r j * odd j) - mean n (fun j => u j * dot d (g0 j) alpL)) <=
  E * A1 + mu * gs * Da + rho * o.
Proof.
  replace (mean n (fun j => r j * odd j) - mean n (fun j => u j * dot d (g0 j) alpL)) with
    (mean n (fun j => (r j - u j) * dot d (g0 j) alp) +
     (dot d (fun k => mean n (fun j => u j * g0 j k)) (vminus alp alpL) + mean n (fun j => r j * (odd j - dot d (g0 j)
       alp)))).
  - assert (N1 := mean_product n (fun j => r j - u j) (fun j => dot d (g0 j) alp)).
    assert (N2 := cauchy d (fun k => mean n (fun j => u j * g0 j k)) (vminus alp alpL)).
    assert (N3 := mean_product n r (fun j => odd j - dot d (g0 j) alp)).
    assert (M1 : rms n (fun j => r j - u j) * rms n (fun j => dot d (g0 j) alp) <= E * A1).
    { apply Rmult_le_compat; (apply rms_ge0 || apply A1_le || easy). }
    assert (M2 : vnorm d (fun k => mean n (fun j => u j * g0 j k)) * vnorm d (vminus alp alpL) <= mu * gs * Da).
    { apply Rmult_le_compat; [apply norm_ge0|apply norm_ge0| |easy].
      eapply Rle_trans; [apply Hgs|]. rewrite Rmult_comm. now apply Rmult_le_compat_r. }
    assert (M3 : rms n r * rms n (fun j => odd j - dot d (g0 j) alp) <= rho * o).
    { apply Rmult_le_compat; (apply rms_ge0 || easy). }
    eapply Rle_trans; [apply Rabs_triang|]. assert (T := Rabs_triang (dot d (fun k => mean n (fun j => u j * g0 j k))
      (vminus alp alpL)) (mean n (fun j => r j * (odd j - dot d (g0 j) alp)))). lra.
  - assert (Q : dot d (fun k => mean n (fun j => u j * g0 j k)) (vminus alp alpL) =
      mean n (fun j => u j * dot d (g0 j) (vminus alp alpL))) by apply dot_mean.
    rewrite Q, <- !mean_plus, <- mean_minus. apply mean_ext; intros j _.
    replace (dot d (g0 j) (vminus alp alpL)) with (dot d (g0 j) alp - dot d (g0 j) alpL); [ring|].
    unfold dot. rewrite <- Sum_minus. apply Sum_ext; intros. unfold vminus. ring.
Qed.

End Pair.

(** T[x, y], the vector Σ T_kij x_i y_j, and the number T[x, y, z] *)
Definition form2 (d : nat) (T : nat -> matrix) (x y : vector) : vector := fun k => dot d x (matvec d (T k) y).
Definition form3 (d : nat) (T : nat -> matrix) (x y z : vector) : R := dot d z (form2 d T x y).

(** T does not change when its indices change places *)
Definition symmetric3 (T : nat -> matrix) : Prop := forall k i j, T k i j = T i k j /\ T k i j = T k j i.
Definition symmetric2 (A : matrix) : Prop := forall i j, A i j = A j i.

Lemma dot_matvec_sym d A x z : symmetric2 A -> dot d x (matvec d A z) = dot d z (matvec d A x).
Proof.
  intros S. rewrite dot_matvec, (dot_sym d _ z). apply Sum_ext; intros i _. f_equal. apply Sum_ext; intros j _.
  unfold transpose. now rewrite (S i j).
Qed.

Lemma form2_sym d T x z k : symmetric3 T -> form2 d T x z k = form2 d T z x k.
Proof. intros S. apply dot_matvec_sym. intros i j. apply S. Qed.

Lemma form3_sym d T x y z : symmetric3 T -> form3 d T x y z = form3 d T z y x.
Proof.
  intros S. unfold form3, form2, dot.
  rewrite (Sum_ext d _ (fun k => Sum d (fun i => z k * (x i * matvec d (T k) y i)))) by (intros; now rewrite Sum_scal).
  rewrite Sum_swap. apply Sum_ext; intros i _. rewrite <- Sum_scal. apply Sum_ext; intros k _.
  replace (matvec d (T k) y i) with (matvec d (T i) y k); [ring|].
  apply Sum_ext; intros j _. now rewrite (proj1 (S i k j)).
Qed.

Lemma form2_plus d T x x' z k : form2 d T (vplus x x') z k = form2 d T x z k + form2 d T x' z k.
Proof. apply dot_plus_l. Qed.

Lemma form2_minus d T x x' z k : form2 d T (vminus x x') z k = form2 d T x z k - form2 d T x' z k.
Proof. apply dot_minus_l. Qed.

Lemma form3_plus d T x x' y z : form3 d T (vplus x x') y z = form3 d T x y z + form3 d T x' y z.
Proof.
  unfold form3. rewrite !(dot_sym d z), <- dot_plus_l. apply Sum_ext; intros. unfold vplus at 2. now rewrite form2_plus.
Qed.

Lemma form3_minus d T x x' y z : form3 d T (vminus x x') y z = form3 d T x y z - form3 d T x' y z.
Proof.
  unfold form3. rewrite !(dot_sym d z), <- dot_minus_l. apply Sum_ext; intros. unfold vminus at 2.
    now rewrite form2_minus.
Qed.

Lemma form3_swap d T x y z : symmetric3 T -> form3 d T x y z = form3 d T y x z.
Proof. intros S. apply dot_ext; [easy|]. intros. now apply form2_sym. Qed.

(** T[b ± a]³ *)
Lemma cube_plus d T a b : symmetric3 T -> let x := vplus b a in
  form3 d T x x x = form3 d T b b b + 3 * form3 d T b b a + 3 * form3 d T a a b + form3 d T a a a.
Proof.
  intros S x. unfold x. rewrite form3_plus, !(form3_swap d T _ (vplus b a)), !form3_plus by easy.
  rewrite !(form3_sym d T _ _ (vplus b a)), !form3_plus by easy.
  rewrite (form3_sym d T a b b), (form3_swap d T a b a), (form3_sym d T b a a), (form3_swap d T b a b) by easy.
  rewrite (form3_sym d T a b b) by easy. ring.
Qed.

Lemma cube_minus d T a b : symmetric3 T -> let x := vminus b a in
  form3 d T x x x = form3 d T b b b - 3 * form3 d T b b a + 3 * form3 d T a a b - form3 d T a a a.
Proof.
  intros S x. unfold x. rewrite form3_minus, !(form3_swap d T _ (vminus b a)), !form3_minus by easy.
  rewrite !(form3_sym d T _ _ (vminus b a)), !form3_minus by easy.
  rewrite (form3_sym d T a b b), (form3_swap d T a b a), (form3_sym d T b a a), (form3_swap d T b a b) by easy.
  rewrite (form3_sym d T a b b) by easy. ring.
Qed.

Lemma square_plus d T a b k : symmetric3 T -> let x := vplus b a in
  form2 d T x x k = form2 d T b b k + 2 * form2 d T a b k + form2 d T a a k.
Proof.
  intros S x. unfold x. rewrite form2_plus, !(form2_sym d T _ (vplus b a)), !form2_plus by easy.
  rewrite (form2_sym d T b a) by easy. ring.
Qed.

Lemma square_minus d T a b k : symmetric3 T -> let x := vminus b a in
  form2 d T x x k = form2 d T b b k - 2 * form2 d T a b k + form2 d T a a k.
Proof.
  intros S x. unfold x. rewrite form2_minus, !(form2_sym d T _ (vminus b a)), !form2_minus by easy.
  rewrite (form2_sym d T b a) by easy. ring.
Qed.

Lemma quad_plus d A a b : symmetric2 A -> let x := vplus b a in
  dot d x (matvec d A x) = dot d b (matvec d A b) + 2 * dot d a (matvec d A b) + dot d a (matvec d A a).
Proof.
  intros S x. unfold x. rewrite dot_plus_l, !(dot_matvec_sym d A _ (vplus b a)), !dot_plus_l by easy.
  rewrite (dot_matvec_sym d A b a) by easy. ring.
Qed.

Lemma quad_minus d A a b : symmetric2 A -> let x := vminus b a in
  dot d x (matvec d A x) = dot d b (matvec d A b) - 2 * dot d a (matvec d A b) + dot d a (matvec d A a).
Proof.
  intros S x. unfold x. rewrite dot_minus_l, !(dot_matvec_sym d A _ (vminus b a)), !dot_minus_l by easy.
  rewrite (dot_matvec_sym d A b a) by easy. ring.
Qed.

(** x³ + z³ for fixed x² + z² grows as the two move apart. *)
Lemma cubes_apart x z X Z : 0 <= Z <= z -> z <= x <= X -> x ^ 2 + z ^ 2 = X ^ 2 + Z ^ 2 -> x ^ 3 + z ^ 3 <= X ^ 3 + Z
  ^ 3.
Proof.
  intros H1 H2 H.
  assert (A : 0 <= (X - x) ^ 2 * (2 * X + x)) by (apply Rmult_le_pos; [apply pow2_ge_0|lra]).
  assert (B : 0 <= (z - Z) ^ 2 * (z + 2 * Z)) by (apply Rmult_le_pos; [apply pow2_ge_0|lra]).
  assert (C : 0 <= (x - z) * (X ^ 2 - x ^ 2)).
  { apply Rmult_le_pos; [lra|]. replace (X ^ 2 - x ^ 2) with ((X - x) * (X + x)) by ring. apply Rmult_le_pos; lra. }
  assert (D : X ^ 2 - x ^ 2 = z ^ 2 - Z ^ 2) by lra.
  assert (E1 : X ^ 3 - x ^ 3 = 3 / 2 * x * (X ^ 2 - x ^ 2) + / 2 * ((X - x) ^ 2 * (2 * X + x))) by field.
  assert (E2 : z ^ 3 - Z ^ 3 = 3 / 2 * z * (z ^ 2 - Z ^ 2) - / 2 * ((z - Z) ^ 2 * (z + 2 * Z))) by field.
  rewrite <- D in E2. nra.
Qed.

Lemma norms_sum d a b : sq d (vplus b a) + sq d (vminus b a) = 2 * (sq d a + sq d b).
Proof. rewrite sq_plus, sq_minus. ring. Qed.

(** ‖b + a‖³ + ‖b − a‖³ ≤ 2k(k² + 3l²) with the larger and the smaller bound on ‖a‖ and ‖b‖ *)
Lemma cubes_pair d a b A B : vnorm d a <= A -> vnorm d b <= B ->
  vnorm d (vplus b a) ^ 3 + vnorm d (vminus b a) ^ 3 <= 2 * (Rmax A B * (Rmax A B ^ 2 + 3 * Rmin A B ^ 2)).
Proof.
  intros HA HB. assert (S := norms_sum d a b). rewrite <- !norm_sq in S.
  assert (P := norm_triangle d b a). assert (Q := norm_minus d a b).
  set (x := vnorm d (vplus b a)) in *. set (z := vnorm d (vminus b a)) in *.
  assert (Ha := norm_ge0 d a). assert (Hb := norm_ge0 d b).
  assert (Hx : 0 <= x) by apply norm_ge0. assert (Hz : 0 <= z) by apply norm_ge0.
  set (k := vnorm d a) in *. set (l := vnorm d b) in *. clearbody x z k l.
  assert (K : forall u v, 0 <= v <= u -> u ^ 2 + v ^ 2 = x ^ 2 + z ^ 2 -> x <= u -> z <= u ->
    x ^ 3 + z ^ 3 <= u ^ 3 + v ^ 3).
  { intros u v Hv E Hxu Hzu. destruct (Rle_lt_dec z x).
    - apply cubes_apart; [|lra|lra]. split; [lra|]. apply Rnot_lt_le; intros L. nra.
    - rewrite (Rplus_comm (x ^ 3)). apply cubes_apart; [|lra|lra]. split; [lra|]. apply Rnot_lt_le; intros L. nra. }
  assert (K2 : x ^ 3 + z ^ 3 <= 2 * (Rmax k l * (Rmax k l ^ 2 + 3 * Rmin k l ^ 2))).
  { unfold Rmax, Rmin. destruct (Rle_dec k l).
    - eapply Rle_trans; [apply (K (k + l) (l - k)); nra|]. apply Req_le. ring.
    - eapply Rle_trans; [apply (K (k + l) (k - l)); nra|]. apply Req_le. ring. }
  eapply Rle_trans; [exact K2|]. apply Rmult_le_compat_l; [lra|].
  assert (M1 : 0 <= Rmax k l <= Rmax A B).
  { split; [eapply Rle_trans; [exact Ha|apply Rmax_l]|]. apply Rmax_lub; [eapply Rle_trans; [exact HA|apply Rmax_l]|].
    eapply Rle_trans; [exact HB|apply Rmax_r]. }
  assert (M2 : 0 <= Rmin k l <= Rmin A B).
  { split; [now apply Rmin_glb|]. apply Rmin_glb; [eapply Rle_trans; [apply Rmin_l|exact HA]|].
    eapply Rle_trans; [apply Rmin_r|exact HB]. }
  assert (M3 : Rmin k l ^ 2 <= Rmin A B ^ 2) by (apply pow_incr; lra).
  assert (M4 : Rmax k l ^ 2 <= Rmax A B ^ 2) by (apply pow_incr; lra).
  assert (M5 := pow2_ge_0 (Rmin k l)). assert (M6 := pow2_ge_0 (Rmax k l)).
  apply Rmult_le_compat; lra.
Qed.

(** The four letters o, v, w, b of a pair, from the remainders of Taylor's formula. *)
Section Letters.
Variables (n d : nat) (h : nat -> vector -> R) (g : nat -> vector -> vector) (th0 : vector).
Variables (H0 : nat -> matrix) (T0 : nat -> nat -> matrix) (Gr Tn : vector).
Variables (alp bet alpL betL : vector) (Da Db gb Hb Tb Gb : R).
Let ab := vnorm d alpL + Da.
Let bb := vnorm d betL + Db.
Let g0 j := g j th0.
Hypotheses (Hn : (0 < n)%nat) (HDa : vnorm d (vminus alp alpL) <= Da) (HDb : vnorm d (vminus bet betL) <= Db).
Hypothesis SH : forall j, symmetric2 (H0 j).
Hypothesis ST : forall j, symmetric3 (T0 j).
Hypothesis Taylor : forall j x, vnorm d x <= ab + bb ->
  Rabs (h j (vplus th0 x) - (h j th0 + dot d (g0 j) x + / 2 * dot d x (matvec d (H0 j) x) + / 6 * form3 d (T0 j) x x x))
    <= / 24 * Gr j * vnorm d x ^ 3.
Hypothesis Taylor' : forall j x, vnorm d x <= ab + bb ->
  vnorm d (fun k => g j (vplus th0 x) k - (g0 j k + matvec d (H0 j) x k + / 2 * form2 d (T0 j) x x k))
    <= / 6 * Gr j * vnorm d x ^ 2.
Hypothesis HG : forall j, 0 <= Gr j.
Hypothesis HT : forall j x y z, Rabs (form3 d (T0 j) x y z) <= Tn j * (vnorm d x * vnorm d y * vnorm d z).
Hypothesis HTn : forall j, 0 <= Tn j.
Hypothesis HHb : forall z, vrms n d (fun j => matvec d (H0 j) z) <= Hb * vnorm d z.
Hypothesis Hgb : vrms n d g0 <= gb.
Hypotheses (HTb : rms n Tn <= Tb) (HGb : rms n Gr <= Gb) (HHb0 : 0 <= Hb).
Let up j := h j (vplus th0 (vplus bet alp)).
Let um j := h j (vplus th0 (vminus bet alp)).
Let gp j := g j (vplus th0 (vplus bet alp)).
Let gm j := g j (vplus th0 (vminus bet alp)).

Lemma alp_le : vnorm d alp <= ab.
Proof.
  unfold ab. rewrite (norm_ext d alp (vplus alpL (vminus alp alpL))) by (intros; unfold vplus, vminus; ring).
  eapply Rle_trans; [apply norm_triangle|]. lra.
Qed.

Lemma bet_le : vnorm d bet <= bb.
Proof.
  unfold bb. rewrite (norm_ext d bet (vplus betL (vminus bet betL))) by (intros; unfold vplus, vminus; ring).
  eapply Rle_trans; [apply norm_triangle|]. lra.
Qed.

Lemma ab_ge0 : 0 <= ab. Proof. eapply Rle_trans; [apply (norm_ge0 d alp)|apply alp_le]. Qed.

Lemma bb_ge0 : 0 <= bb. Proof. eapply Rle_trans; [apply (norm_ge0 d bet)|apply bet_le]. Qed.

Lemma Da_ge0 : 0 <= Da. Proof. eapply Rle_trans; [apply norm_ge0|exact HDa]. Qed.

Lemma near_plus : vnorm d (vplus bet alp) <= ab + bb.
Proof. eapply Rle_trans; [apply norm_triangle|]. assert (A := alp_le). assert (B := bet_le). lra. Qed.

Lemma near_minus : vnorm d (vminus bet alp) <= ab + bb.
Proof. eapply Rle_trans; [apply norm_minus|]. assert (A := alp_le). assert (B := bet_le). lra. Qed.

Lemma form2_norm j x z : vnorm d (form2 d (T0 j) x z) <= Tn j * (vnorm d x * vnorm d z).
Proof.
  assert (Q := HT j x z (form2 d (T0 j) x z)). unfold form3 in Q. rewrite <- sq_dot, <- norm_sq in Q.
  set (v := vnorm d (form2 d (T0 j) x z)) in *. assert (V : 0 <= v) by apply norm_ge0.
  rewrite Rabs_right in Q by (apply Rle_ge, pow2_ge_0).
  assert (P : 0 <= Tn j * (vnorm d x * vnorm d z)).
  { apply Rmult_le_pos; [apply HTn|]. apply Rmult_le_pos; apply norm_ge0. }
  clearbody v. destruct (Req_dec v 0) as [->|Z]; [easy|]. apply Rmult_le_reg_r with v; lra.
Qed.

(** Numbers whose root mean squares are known: |x_j| ≤ c_j r_j and so on. *)
Lemma rms_T x c : (forall j, Rabs (x j) <= Tn j * c) -> 0 <= c -> rms n x <= Tb * c.
Proof.
  intros L C. eapply Rle_trans; [apply (rms_le n _ (fun j => c * Tn j)); [easy|]|].
  - intros. rewrite Rmult_comm. apply L.
  - rewrite rms_scal, Rabs_right by (easy || lra). rewrite Rmult_comm. now apply Rmult_le_compat_r.
Qed.

Lemma vrms_T X c : (forall j, vnorm d (X j) <= Tn j * c) -> 0 <= c -> vrms n d X <= Tb * c.
Proof. intros L C. apply rms_T; [|easy]. intros. rewrite Rabs_right by apply Rle_ge, norm_ge0. apply L. Qed.

Lemma rms_dot X z : rms n (fun j => dot d z (X j)) <= vrms n d X * vnorm d z.
Proof.
  eapply Rle_trans; [apply (rms_le n _ (fun j => vnorm d z * vnorm d (X j))); [easy|intros; apply cauchy]|].
  rewrite rms_scal, Rabs_right by (easy || apply Rle_ge, norm_ge0). unfold vrms. lra.
Qed.

Let B1 := rms n (fun j => dot d (g0 j) betL) + gb * Db.
Let A2L := vrms n d (fun j => matvec d (H0 j) alpL).
Let B2 := vrms n d (fun j => matvec d (H0 j) betL) + Hb * Db.
Let Q2 := rms n (fun j => dot d alpL (matvec d (H0 j) alpL)) + Da * (2 * A2L + Hb * Da).
Let Q' := rms n (fun j => dot d alpL (matvec d (H0 j) betL)) + A2L * Db + B2 * Da.
Let C2L := vrms n d (fun j => form2 d (T0 j) alpL alpL).
Let C2 := C2L + Tb * Da * (2 * vnorm d alpL + Da).
Let C3 := rms n (fun j => form3 d (T0 j) alpL alpL alpL) + 3 * C2L * Da + Tb * Da ^ 2 * (3 * vnorm d alpL + Da).
Let t := / 6 * Gb * (ab ^ 2 + bb ^ 2).
Let t' := / 24 * Gb * (Rmax ab bb * (Rmax ab bb ^ 2 + 3 * Rmin ab bb ^ 2)).

Lemma B2_le : vrms n d (fun j => matvec d (H0 j) bet) <= B2.
Proof.
  rewrite (vrms_ext n d _ (fun j => vplus (matvec d (H0 j) betL) (matvec d (H0 j) (vminus bet betL)))).
  2: { intros. rewrite matvec_minus. unfold vplus, vminus. ring. }
  eapply Rle_trans; [now apply vrms_plus|]. apply Rplus_le_compat_l.
  eapply Rle_trans; [apply HHb|]. now apply Rmult_le_compat_l.
Qed.

Lemma Hda_le : vrms n d (fun j => matvec d (H0 j) (vminus alp alpL)) <= Hb * Da.
Proof. eapply Rle_trans; [apply HHb|]. now apply Rmult_le_compat_l. Qed.

Lemma B1_le : rms n (fun j => dot d (g0 j) bet) <= B1.
Proof.
  rewrite (rms_ext n _ (fun j => dot d (g0 j) betL + dot d (vminus bet betL) (g0 j))).
  2: { intros. rewrite (dot_sym d (vminus bet betL)). unfold dot, vminus. rewrite <- Sum_plus.
    apply Sum_ext; intros; ring. }
  eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat_l.
  eapply Rle_trans; [apply rms_dot|]. apply Rmult_le_compat; (apply vrms_ge0 || apply norm_ge0 || easy).
Qed.

Lemma Q2_le : rms n (fun j => dot d alp (matvec d (H0 j) alp)) <= Q2.
Proof.
  set (da := vminus alp alpL).
  rewrite (rms_ext n _ (fun j => dot d alpL (matvec d (H0 j) alpL) + (2 * dot d da (matvec d (H0 j) alpL) +
    dot d da (matvec d (H0 j) da)))).
  2: { intros j _. replace (dot d alp (matvec d (H0 j) alp)) with (dot d (vplus alpL da) (matvec d (H0 j) (vplus alpL
    da))).
    - rewrite (quad_plus d (H0 j) da alpL (SH j)). ring.
    - unfold dot, matvec. apply Sum_ext; intros i _. unfold vplus, da, vminus.
      replace (alpL i + (alp i - alpL i)) with (alp i) by ring. f_equal. apply Sum_ext; intros; ring. }
  eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat_l.
  eapply Rle_trans; [now apply rms_plus|]. rewrite rms_scal, Rabs_right by (easy || lra).
  assert (D0 := Da_ge0). rewrite Rmult_plus_distr_l. apply Rplus_le_compat.
  - assert (L := rms_dot (fun j => matvec d (H0 j) alpL) da). fold A2L in L.
    assert (A2L * vnorm d da <= A2L * Da) by (apply Rmult_le_compat_l; [apply vrms_ge0|exact HDa]). lra.
  - eapply Rle_trans; [apply rms_dot|]. rewrite Rmult_comm.
    apply Rmult_le_compat; (apply vrms_ge0 || apply norm_ge0 || apply Hda_le || easy).
Qed.

Lemma Q'_le : rms n (fun j => dot d alp (matvec d (H0 j) bet)) <= Q'.
Proof.
  set (da := vminus alp alpL). set (db := vminus bet betL).
  rewrite (rms_ext n _ (fun j => dot d alpL (matvec d (H0 j) betL) + dot d db (matvec d (H0 j) alpL) +
    dot d da (matvec d (H0 j) bet))).
  2: { intros j _. rewrite (dot_matvec_sym d (H0 j) db alpL) by apply SH. unfold da. rewrite dot_minus_l.
    unfold db. rewrite matvec_minus, (dot_sym d alpL (vminus _ _)), dot_minus_l, !(dot_sym d _ alpL). ring. }
  eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat.
  - eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat_l.
    eapply Rle_trans; [apply rms_dot|]. apply Rmult_le_compat_l; [apply vrms_ge0|exact HDb].
  - eapply Rle_trans; [apply rms_dot|]. apply Rmult_le_compat; (apply vrms_ge0 || apply norm_ge0 || apply B2_le ||
    easy).
Qed.

Lemma C2_le : vrms n d (fun j => form2 d (T0 j) alp alp) <= C2.
Proof.
  set (da := vminus alp alpL).
  rewrite (vrms_ext n d _ (fun j => vplus (form2 d (T0 j) alpL alpL)
    (fun k => 2 * form2 d (T0 j) da alpL k + form2 d (T0 j) da da k))).
  2: { intros j k. replace (form2 d (T0 j) alp alp k) with (form2 d (T0 j) (vplus alpL da) (vplus alpL da) k).
    - rewrite (square_plus d (T0 j) da alpL k (ST j)). unfold vplus. ring.
    - unfold form2, dot, matvec. apply Sum_ext; intros i _. unfold vplus, da, vminus.
      replace (alpL i + (alp i - alpL i)) with (alp i) by ring. f_equal. apply Sum_ext; intros; ring. }
  eapply Rle_trans; [now apply vrms_plus|]. apply Rplus_le_compat_l.
  assert (A0 := norm_ge0 d alpL). assert (D0 := Da_ge0). rewrite Rmult_assoc. apply vrms_T.
  - intros j. eapply Rle_trans; [apply (norm_triangle d (vscal 2 (form2 d (T0 j) da alpL)) (form2 d (T0 j) da da))|].
    rewrite norm_scal, Rabs_right by lra. assert (F1 := form2_norm j da alpL). assert (F2 := form2_norm j da da).
    assert (T := HTn j). assert (N := norm_ge0 d da). fold da in HDa. set (x := vnorm d da) in *.
      set (a := vnorm d alpL) in *.
    assert (Tn j * (x * a) <= Tn j * (Da * a)) by (apply Rmult_le_compat_l; [easy|apply Rmult_le_compat_r; lra]).
    assert (Tn j * (x * x) <= Tn j * (Da * Da)) by (apply Rmult_le_compat_l; [easy|apply Rmult_le_compat; lra]). lra.
  - apply Rmult_le_pos; lra.
Qed.

Lemma C3_le : rms n (fun j => form3 d (T0 j) alp alp alp) <= C3.
Proof.
  set (da := vminus alp alpL).
  rewrite (rms_ext n _ (fun j => form3 d (T0 j) alpL alpL alpL + 3 * dot d da (form2 d (T0 j) alpL alpL) +
    (3 * form3 d (T0 j) da da alpL + form3 d (T0 j) da da da))).
  2: { intros j _. replace (form3 d (T0 j) alp alp alp) with
      (form3 d (T0 j) (vplus alpL da) (vplus alpL da) (vplus alpL da)).
    - rewrite (cube_plus d (T0 j) da alpL (ST j)). unfold form3. ring.
    - unfold form3, form2, dot, matvec. apply Sum_ext; intros i _. unfold vplus, da, vminus.
      replace (alpL i + (alp i - alpL i)) with (alp i) by ring. f_equal. apply Sum_ext; intros l _.
      replace (alpL l + (alp l - alpL l)) with (alp l) by ring. f_equal. apply Sum_ext; intros; ring. }
  assert (A0 := norm_ge0 d alpL). assert (D0 := Da_ge0).
  eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat.
  - eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat_l.
    rewrite rms_scal, Rabs_right, Rmult_assoc by (easy || lra). apply Rmult_le_compat_l; [lra|].
    eapply Rle_trans; [apply rms_dot|]. apply Rmult_le_compat_l; [apply vrms_ge0|exact HDa].
  - rewrite Rmult_assoc. apply rms_T.
    + intros j. eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (Rabs_right 3) by lra.
      assert (F1 := HT j da da alpL). assert (F2 := HT j da da da). assert (T := HTn j). assert (N := norm_ge0 d da).
      fold da in HDa. set (x := vnorm d da) in *. set (a := vnorm d alpL) in *.
      assert (X2 : x * x <= Da * Da) by (apply Rmult_le_compat; lra).
      assert (x * x * a <= Da * Da * a) by (apply Rmult_le_compat_r; lra).
      assert (x * x * x <= Da * Da * Da) by (apply Rmult_le_compat; [nra|lra|lra|lra]).
      assert (Tn j * (x * x * a) <= Tn j * (Da * Da * a)) by (apply Rmult_le_compat_l; lra).
      assert (Tn j * (x * x * x) <= Tn j * (Da * Da * Da)) by (apply Rmult_le_compat_l; lra). lra.
    + apply Rmult_le_pos; [apply pow2_ge_0|lra].
Qed.

Lemma rest j : / 24 * Gr j * vnorm d (vplus bet alp) ^ 3 + / 24 * Gr j * vnorm d (vminus bet alp) ^ 3 <=
  2 * (/ 24 * (Rmax ab bb * (Rmax ab bb ^ 2 + 3 * Rmin ab bb ^ 2)) * Gr j).
Proof.
  assert (Q := cubes_pair d alp bet ab bb alp_le bet_le). assert (G := HG j).
  set (k := Rmax ab bb * (Rmax ab bb ^ 2 + 3 * Rmin ab bb ^ 2)) in *.
  assert (Gr j * (vnorm d (vplus bet alp) ^ 3 + vnorm d (vminus bet alp) ^ 3) <= Gr j * (2 * k))
    by (apply Rmult_le_compat_l; easy). lra.
Qed.

Lemma rest' j : / 6 * Gr j * vnorm d (vplus bet alp) ^ 2 + / 6 * Gr j * vnorm d (vminus bet alp) ^ 2 <=
  2 * (/ 6 * (ab ^ 2 + bb ^ 2) * Gr j).
Proof.
  rewrite !norm_sq. assert (S := norms_sum d alp bet). assert (G := HG j).
  assert (A := norm_le_sq d alp ab alp_le). assert (B := norm_le_sq d bet bb bet_le).
  assert (Gr j * (sq d alp + sq d bet) <= Gr j * (ab ^ 2 + bb ^ 2)) by (apply Rmult_le_compat_l; lra). 
  assert (E : Gr j * (sq d (vplus bet alp) + sq d (vminus bet alp)) = Gr j * (2 * (sq d alp + sq d bet))) by now
    rewrite S.
  lra.
Qed.

Lemma rms_rest x c : 0 <= c -> (forall j, Rabs (x j) <= c * Gr j) -> rms n x <= c * Gb.
Proof.
  intros C L. eapply Rle_trans; [apply rms_le; [easy|intros; apply L]|]. rewrite rms_scal, Rabs_right by (easy || lra).
  now apply Rmult_le_compat_l.
Qed.

Lemma cubic_ge0 : 0 <= / 24 * (Rmax ab bb * (Rmax ab bb ^ 2 + 3 * Rmin ab bb ^ 2)).
Proof.
  apply Rmult_le_pos; [lra|]. apply Rmult_le_pos.
  - eapply Rle_trans; [apply ab_ge0|apply Rmax_l].
  - assert (A := pow2_ge_0 (Rmax ab bb)). assert (B := pow2_ge_0 (Rmin ab bb)). lra.
Qed.

Lemma letter_o : rms n (fun j => (up j - um j) / 2 - dot d (g0 j) alp) <=
  Q' + / 6 * C3 + / 2 * Tb * ab * bb ^ 2 + t'.
Proof.
  set (main := fun j => dot d alp (matvec d (H0 j) bet) + / 6 * form3 d (T0 j) alp alp alp + / 2 * form3 d (T0 j) bet
    bet alp).
  rewrite (rms_ext n _ (fun j => main j + ((up j - um j) / 2 - dot d (g0 j) alp - main j))) by (intros; ring).
  eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat.
  - unfold main. eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat.
    + eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat; [apply Q'_le|].
      rewrite rms_scal, Rabs_right by (easy || lra). apply Rmult_le_compat_l; [lra|apply C3_le].
    + rewrite rms_scal, Rabs_right by (easy || lra). rewrite !Rmult_assoc. apply Rmult_le_compat_l; [lra|].
      assert (A0 := ab_ge0). assert (B0 := bb_ge0). apply rms_T; [|apply Rmult_le_pos; [easy|apply pow2_ge_0]].
      intros j. eapply Rle_trans; [apply HT|]. apply Rmult_le_compat_l; [apply HTn|].
      rewrite Rmult_comm. replace (bb ^ 2) with (bb * bb) by ring.
      apply Rmult_le_compat; [apply norm_ge0|apply Rmult_le_pos; apply norm_ge0|apply alp_le|].
      apply Rmult_le_compat; (apply norm_ge0 || apply bet_le).
  - unfold t'. replace (/ 24 * Gb * (Rmax ab bb * (Rmax ab bb ^ 2 + 3 * Rmin ab bb ^ 2))) with
      (/ 24 * (Rmax ab bb * (Rmax ab bb ^ 2 + 3 * Rmin ab bb ^ 2)) * Gb) by ring.
    apply rms_rest; [apply cubic_ge0|]. intros j.
    assert (P := Taylor j _ near_plus). assert (N := Taylor j _ near_minus). assert (L := rest j). fold (up j) in P.
      fold (um j) in N.
    rewrite (cube_plus d (T0 j) alp bet (ST j)), (quad_plus d (H0 j) alp bet (SH j)), dot_sym, dot_plus_l in P.
    rewrite (cube_minus d (T0 j) alp bet (ST j)), (quad_minus d (H0 j) alp bet (SH j)), dot_sym, dot_minus_l in N.
    rewrite (dot_sym d (g0 j) alp). apply Rabs_le_between in P. apply Rabs_le_between in N. apply Rabs_le_between.
    unfold main. lra.
Qed.

Lemma letter_v : rms n (fun j => (up j + um j) / 2 - h j th0) <=
  B1 + / 2 * (Q2 + B2 * bb + C2 * bb) + / 6 * Tb * bb ^ 3 + t'.
Proof.
  set (main := fun j => dot d (g0 j) bet + / 2 * (dot d alp (matvec d (H0 j) alp) + dot d bet (matvec d (H0 j) bet) +
    form3 d (T0 j) alp alp bet) + / 6 * form3 d (T0 j) bet bet bet).
  rewrite (rms_ext n _ (fun j => main j + ((up j + um j) / 2 - h j th0 - main j))) by (intros; ring).
  assert (A0 := ab_ge0). assert (B0 := bb_ge0).
  eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat.
  - unfold main. eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat.
    + eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat; [apply B1_le|].
      rewrite rms_scal, Rabs_right by (easy || lra). apply Rmult_le_compat_l; [lra|].
      eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat.
      * eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat; [apply Q2_le|].
        eapply Rle_trans; [apply rms_dot|]. apply Rmult_le_compat; (apply vrms_ge0 || apply norm_ge0 || apply B2_le ||
          apply bet_le).
      * unfold form3. eapply Rle_trans; [apply rms_dot|].
        apply Rmult_le_compat; (apply vrms_ge0 || apply norm_ge0 || apply C2_le || apply bet_le).
    + rewrite rms_scal, Rabs_right by (easy || lra). rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|].
      apply rms_T; [|now apply pow_le]. intros j. eapply Rle_trans; [apply HT|]. apply Rmult_le_compat_l; [apply HTn|].
      replace (bb ^ 3) with (bb * bb * bb) by ring. assert (L := bet_le). assert (N := norm_ge0 d bet).
      apply Rmult_le_compat; [nra|easy| |easy]. apply Rmult_le_compat; lra.
  - unfold t'. replace (/ 24 * Gb * (Rmax ab bb * (Rmax ab bb ^ 2 + 3 * Rmin ab bb ^ 2))) with
      (/ 24 * (Rmax ab bb * (Rmax ab bb ^ 2 + 3 * Rmin ab bb ^ 2)) * Gb) by ring.
    apply rms_rest; [apply cubic_ge0|]. intros j.
    assert (P := Taylor j _ near_plus). assert (N := Taylor j _ near_minus). assert (L := rest j). fold (up j) in P.
      fold (um j) in N.
    rewrite (cube_plus d (T0 j) alp bet (ST j)), (quad_plus d (H0 j) alp bet (SH j)), dot_sym, dot_plus_l in P.
    rewrite (cube_minus d (T0 j) alp bet (ST j)), (quad_minus d (H0 j) alp bet (SH j)), dot_sym, dot_minus_l in N.
    unfold main. rewrite (dot_sym d (g0 j) bet).
    apply Rabs_le_between in P. apply Rabs_le_between in N. apply Rabs_le_between. lra.
Qed.

(** half the sum or half the difference of two remainders *)
Lemma half_norm X Y x y : vnorm d X <= x -> vnorm d Y <= y ->
  vnorm d (vscal (/ 2) (vplus X Y)) <= (x + y) / 2 /\ vnorm d (vscal (/ 2) (vminus X Y)) <= (x + y) / 2.
Proof.
  intros HX HY. rewrite !norm_scal, Rabs_right by lra.
  assert (A := norm_triangle d X Y). assert (B := norm_minus d Y X). lra.
Qed.

Lemma letter_w : vrms n d (fun j => vminus (fun k => (gp j k + gm j k) / 2) (g0 j)) <= B2 + / 2 * (C2 + Tb * bb ^ 2) +
  t.
Proof.
  set (main := fun j => vplus (matvec d (H0 j) bet) (vscal (/ 2) (vplus (form2 d (T0 j) alp alp) (form2 d (T0 j) bet
    bet)))).
  set (err := fun j => vscal (/ 2) (vplus
    (fun k => gp j k - (g0 j k + matvec d (H0 j) (vplus bet alp) k + / 2 * form2 d (T0 j) (vplus bet alp) (vplus bet
      alp) k))
    (fun k => gm j k - (g0 j k + matvec d (H0 j) (vminus bet alp) k + / 2 * form2 d (T0 j) (vminus bet alp) (vminus
      bet alp) k)))).
  rewrite (vrms_ext n d _ (fun j => vplus (main j) (err j))).
  2: { intros j k. assert (S1 := square_plus d (T0 j) alp bet k (ST j)).
    assert (S2 := square_minus d (T0 j) alp bet k (ST j)).
    assert (S3 := f_equal (fun v => v k) (matvec_plus d (H0 j) bet alp)).
    assert (S4 := f_equal (fun v => v k) (matvec_minus d (H0 j) bet alp)). unfold vplus at 2 in S3.
    unfold vminus at 2 in S4. cbv beta in S3, S4.
    cbn zeta in S1, S2. unfold main, err, vscal, vplus, vminus in *. lra. }
  assert (B0 := bb_ge0).
  eapply Rle_trans; [now apply vrms_plus|]. apply Rplus_le_compat.
  - unfold main. eapply Rle_trans; [now apply vrms_plus|]. apply Rplus_le_compat; [apply B2_le|].
    rewrite vrms_scal, Rabs_right by (easy || lra). apply Rmult_le_compat_l; [lra|].
    eapply Rle_trans; [now apply vrms_plus|]. apply Rplus_le_compat; [apply C2_le|].
    apply vrms_T; [|apply pow2_ge_0]. intros j. eapply Rle_trans; [apply form2_norm|].
    apply Rmult_le_compat_l; [apply HTn|]. replace (bb ^ 2) with (bb * bb) by ring.
    apply Rmult_le_compat; (apply norm_ge0 || apply bet_le).
  - unfold t. replace (/ 6 * Gb * (ab ^ 2 + bb ^ 2)) with (/ 6 * (ab ^ 2 + bb ^ 2) * Gb) by ring. unfold vrms.
    apply rms_rest; [assert (A := pow2_ge_0 ab); assert (B := pow2_ge_0 bb); lra|]. intros j.
    rewrite Rabs_right by apply Rle_ge, norm_ge0.
    eapply Rle_trans; [apply (half_norm _ _ _ _ (Taylor' j _ near_plus) (Taylor' j _ near_minus))|].
    assert (L := rest' j). lra.
Qed.

Lemma letter_b : vrms n d (fun j => vminus (fun k => (gp j k - gm j k) / 2) (matvec d (H0 j) alp)) <= Tb * ab * bb + t.
Proof.
  set (err := fun j => vscal (/ 2) (vminus
    (fun k => gp j k - (g0 j k + matvec d (H0 j) (vplus bet alp) k + / 2 * form2 d (T0 j) (vplus bet alp) (vplus bet
      alp) k))
    (fun k => gm j k - (g0 j k + matvec d (H0 j) (vminus bet alp) k + / 2 * form2 d (T0 j) (vminus bet alp) (vminus
      bet alp) k)))).
  rewrite (vrms_ext n d _ (fun j => vplus (form2 d (T0 j) alp bet) (err j))).
  2: { intros j k. assert (S1 := square_plus d (T0 j) alp bet k (ST j)).
    assert (S2 := square_minus d (T0 j) alp bet k (ST j)).
    assert (S3 := f_equal (fun v => v k) (matvec_plus d (H0 j) bet alp)).
    assert (S4 := f_equal (fun v => v k) (matvec_minus d (H0 j) bet alp)). unfold vplus at 2 in S3.
    unfold vminus at 2 in S4. cbv beta in S3, S4.
    cbn zeta in S1, S2. unfold err, vscal, vplus, vminus in *. lra. }
  assert (A0 := ab_ge0). assert (B0 := bb_ge0).
  eapply Rle_trans; [now apply vrms_plus|]. apply Rplus_le_compat.
  - rewrite Rmult_assoc. apply vrms_T; [|now apply Rmult_le_pos]. intros j. eapply Rle_trans; [apply form2_norm|].
    apply Rmult_le_compat_l; [apply HTn|]. apply Rmult_le_compat; (apply norm_ge0 || apply bet_le || apply alp_le).
  - unfold t. replace (/ 6 * Gb * (ab ^ 2 + bb ^ 2)) with (/ 6 * (ab ^ 2 + bb ^ 2) * Gb) by ring. unfold vrms.
    apply rms_rest; [assert (A := pow2_ge_0 ab); assert (B := pow2_ge_0 bb); lra|]. intros j.
    rewrite Rabs_right by apply Rle_ge, norm_ge0.
    eapply Rle_trans; [apply (half_norm _ _ _ _ (Taylor' j _ near_plus) (Taylor' j _ near_minus))|].
    assert (L := rest' j). lra.
Qed.

End Letters.
