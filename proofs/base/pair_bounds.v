(** One pair of heads at one step: how far it can be from the known path, given four bounds on Taylor's formula. *)
Require Import Reals Lra Lia.
From Shallow Require Import base.sums base.vectors base.means base.paired base.pair_moves.
Open Scope R_scope.

(** Root mean square over the data of the lengths of vectors *)
Definition vrms (n d : nat) (X : nat -> vector) : R := rms n (fun j => vnorm d (X j)).

Lemma vrms_le n d X z : (0 < n)%nat -> (forall j, vnorm d (X j) <= z j) -> vrms n d X <= rms n z.
Proof. intros H L. apply rms_le; [easy|]. intros j _. rewrite Rabs_right by apply Rle_ge, norm_ge0. apply L. Qed.

Lemma vrms_plus n d X Z : (0 < n)%nat -> vrms n d (fun j => vplus (X j) (Z j)) <= vrms n d X + vrms n d Z.
Proof. intros H. eapply Rle_trans; [apply vrms_le; [easy|intros; apply norm_triangle]|]. now apply rms_triangle. Qed.

Lemma vrms_scal n d c X : (0 < n)%nat -> vrms n d (fun j => vscal c (X j)) = Rabs c * vrms n d X.
Proof.
  intros H. unfold vrms. rewrite (rms_ext n _ (fun j => Rabs c * vnorm d (X j))) by (intros; apply norm_scal).
  rewrite rms_scal, Rabs_Rabsolu by easy. easy.
Qed.

Lemma vrms_ext n d X Z : (forall j k, X j k = Z j k) -> vrms n d X = vrms n d Z.
Proof. intros H. apply rms_ext; intros. unfold vnorm, sq. f_equal. apply Sum_ext; intros. now rewrite H. Qed.

Lemma vrms_ge0 n d X : 0 <= vrms n d X.
Proof. apply rms_ge0. Qed.

Lemma norm_ext d x z : (forall k, x k = z k) -> vnorm d x = vnorm d z.
Proof. intros H. unfold vnorm, sq. f_equal. apply Sum_ext; intros. now rewrite H. Qed.

Lemma mean_le n x z : (0 < n)%nat -> Rabs (mean n (fun j => x j * z j)) <= rms n x * rms n z.
Proof. apply mean_product. Qed.

Lemma vmean_le n d x X : (0 < n)%nat -> vnorm d (fun k => mean n (fun j => x j * X j k)) <= rms n x * vrms n d X.
Proof. apply mean_vector. Qed.

Lemma matvec_plus n A x z k : matvec n A (vplus x z) k = matvec n A x k + matvec n A z k.
Proof. unfold matvec. rewrite <- Sum_plus. apply Sum_ext; intros. unfold vplus. ring. Qed.

Lemma matvec_minus n A x z k : matvec n A (vminus x z) k = matvec n A x k - matvec n A z k.
Proof. unfold matvec. rewrite <- Sum_minus. apply Sum_ext; intros. unfold vminus. ring. Qed.

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
  eapply Rle_trans; [now apply rms_triangle|]. apply Rplus_le_compat_l.
  eapply Rle_trans; [apply (rms_le n _ (fun j => vnorm d (vminus alp alpL) * vnorm d (g0 j))); [easy|]|].
  - intros. rewrite Rmult_comm. apply cauchy.
  - rewrite rms_scal, Rabs_right by (easy || apply Rle_ge, norm_ge0). rewrite Rmult_comm.
    apply Rmult_le_compat; (apply norm_ge0 || apply rms_ge0 || easy).
Qed.

Lemma A2_le : vrms n d (fun j => matvec d (H0 j) alp) <= A2.
Proof.
  rewrite (vrms_ext n d _ (fun j => vplus (matvec d (H0 j) alpL) (matvec d (H0 j) (vminus alp alpL)))).
  2: { intros. unfold vplus at 1. rewrite <- matvec_plus. apply Sum_ext; intros. unfold vplus, vminus. ring. }
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
  eapply Rle_trans; [now apply rms_triangle|]. assert (Q := A1_le). lra.
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
  eapply Rle_trans; [now apply rms_triangle|]. rewrite Rplus_assoc.
    apply Rplus_le_compat; [rewrite rms_scal, Hc by easy; lra|].
  eapply Rle_trans; [now apply rms_triangle|]. rewrite !rms_scal by easy.
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
    + eapply Rle_trans; [now apply vmean_le|]. apply Rmult_le_compat; (apply rms_ge0 || apply bracket_le || easy).
  - intros k. unfold vplus, vscal. rewrite <- mean_scal, <- mean_plus, <- mean_minus. apply mean_ext; intros.
    unfold bracket. ring.
Qed.

Lemma gamma_le : Rabs (mean n (fun j => r j * even j) - mean n (fun j => u j * h0 j)) <= E * rms n h0 + rho * v.
Proof.
  replace (mean n (fun j => r j * even j) - mean n (fun j => u j * h0 j)) with
    (mean n (fun j => (r j - u j) * h0 j) + mean n (fun j => r j * (even j - h0 j))).
  - eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; (eapply Rle_trans; [now apply mean_le|]);
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
    { eapply Rle_trans; [now apply vmean_le|]. rewrite vrms_scal, Hc, Rmult_1_l by easy.
      apply Rmult_le_compat; (apply rms_ge0 || apply vrms_ge0 || apply A2_le || easy). }
    assert (N2 : vnorm d P2 <= E * (gmb * gs)).
    { unfold P2. rewrite norm_scal. replace (E * (gmb * gs)) with (gmb * (gs * E)) by ring.
      apply Rmult_le_compat; [apply Rabs_pos|apply norm_ge0|apply gam_le|].
      eapply Rle_trans; [apply Hgs|]. now apply Rmult_le_compat_l. }
    assert (N3 : vnorm d P3 <= mu * (Hb * Da)).
    { eapply Rle_trans; [now apply vmean_le|]. rewrite vrms_scal, Hc, Rmult_1_l by easy.
      apply Rmult_le_compat; [apply rms_ge0|apply vrms_ge0|easy|].
      eapply Rle_trans; [apply HHb|]. now apply Rmult_le_compat_l. }
    assert (N4 : vnorm d P4 <= mu * (gs * Dg)).
    { unfold P4. rewrite norm_scal. replace (mu * (gs * Dg)) with (Dg * (gs * mu)) by ring.
      apply Rmult_le_compat; [apply Rabs_pos|apply norm_ge0|easy|].
      eapply Rle_trans; [apply Hgs|]. now apply Rmult_le_compat_l. }
    assert (N5 : vnorm d P5 <= rho * (b + chb * (A2 + b) + gmb * w)).
    { eapply Rle_trans; [now apply vmean_le|]. apply Rmult_le_compat; [apply rms_ge0|apply vrms_ge0|easy|].
      apply three; [easy|apply godd_le|easy]. }
    assert (T1 := norm_triangle d (vplus (vplus P1 P2) (vplus P3 P4)) P5).
    assert (T2 := norm_triangle d (vplus P1 P2) (vplus P3 P4)).
    assert (T3 := norm_triangle d P1 P2). assert (T4 := norm_triangle d P3 P4). lra.
  - intros k. unfold P1, P2, P3, P4, P5, vplus, vscal. rewrite <- !mean_scal, <- !mean_plus, <- mean_minus.
    apply mean_ext; intros j _. rewrite matvec_minus. unfold vminus. apply split_beta.
Qed.

Lemma chi_le : Rabs (mean n (fun j => r j * odd j) - mean n (fun j => u j * dot d (g0 j) alpL)) <=
  E * A1 + mu * gs * Da + rho * o.
Proof.
  replace (mean n (fun j => r j * odd j) - mean n (fun j => u j * dot d (g0 j) alpL)) with
    (mean n (fun j => (r j - u j) * dot d (g0 j) alp) +
     (dot d (fun k => mean n (fun j => u j * g0 j k)) (vminus alp alpL) + mean n (fun j => r j * (odd j - dot d (g0 j)
       alp)))).
  - assert (N1 := mean_le n (fun j => r j - u j) (fun j => dot d (g0 j) alp) Hn).
    assert (N2 := cauchy d (fun k => mean n (fun j => u j * g0 j k)) (vminus alp alpL)).
    assert (N3 := mean_le n r (fun j => odd j - dot d (g0 j) alp) Hn).
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
      mean n (fun j => u j * dot d (g0 j) (vminus alp alpL))).
    { unfold dot, mean. rewrite (Sum_ext n _ (fun j => Sum d (fun k => u j * (g0 j k * vminus alp alpL k)))).
      2: { intros. now rewrite Sum_scal. }
      rewrite Sum_swap. unfold Rdiv. symmetry. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros k _.
      rewrite (Sum_ext n _ (fun j => vminus alp alpL k * (u j * g0 j k))) by (intros; ring). rewrite Sum_scal. ring. }
    rewrite Q, <- !mean_plus, <- mean_minus. apply mean_ext; intros j _.
    replace (dot d (g0 j) (vminus alp alpL)) with (dot d (g0 j) alp - dot d (g0 j) alpL); [ring|].
    unfold dot. rewrite <- Sum_minus. apply Sum_ext; intros. unfold vminus. ring.
Qed.

End Pair.
