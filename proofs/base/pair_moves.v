(** How the parts of a pair move in a step of gradient descent, and lengths of points. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.means base.paired.
Open Scope R_scope.

(** ⟨x⟩, the mean over n samples *)
Definition mean (n : nat) (x : vector) : R := Sum n x / INR n.

(** ‖φ‖ for a point *)
Definition pnorm (N D : nat) (a : point) : R := sqrt (pdot N D a a).

Lemma mean_ext n x y : (forall j, (j < n)%nat -> x j = y j) -> mean n x = mean n y.
Proof. intros H. unfold mean. f_equal. now apply Sum_ext. Qed.

Lemma mean_plus n x y : mean n (fun j => x j + y j) = mean n x + mean n y.
Proof. unfold mean. rewrite Sum_plus. unfold Rdiv. ring. Qed.

Lemma mean_minus n x y : mean n (fun j => x j - y j) = mean n x - mean n y.
Proof. unfold mean. rewrite Sum_minus. unfold Rdiv. ring. Qed.

Lemma mean_scal n c x : mean n (fun j => c * x j) = c * mean n x.
Proof. unfold mean. rewrite Sum_scal. unfold Rdiv. ring. Qed.

Section Points.
Variables (N D : nat).

Lemma pdot_ge0 a : 0 <= pdot N D a a.
Proof.
  apply Sum_ge0; intros. apply Rplus_le_le_0_compat; [apply Rle_0_sqr|]. rewrite <- sq_dot. apply sq_ge0.
Qed.

Lemma pnorm_sq a : pnorm N D a ^ 2 = pdot N D a a.
Proof. apply pow2_sqrt, pdot_ge0. Qed.

Lemma pdot_cauchy a b : Rabs (pdot N D a b) <= pnorm N D a * pnorm N D b.
Proof.
  unfold pnorm. rewrite <- sqrt_mult by apply pdot_ge0. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. unfold Rsqr.
  assert (Q : forall t, 0 <= pdot N D a a - 2 * t * pdot N D a b + t ^ 2 * pdot N D b b).
  { intros t. replace (pdot N D a a - 2 * t * pdot N D a b + t ^ 2 * pdot N D b b) with
      (pdot N D (pminus a (pscal t b)) (pminus a (pscal t b))); [apply pdot_ge0|].
    rewrite pdot_minus_r, pdot_scal_r, !(pdot_sym N D (pminus a (pscal t b))), !pdot_minus_r, !pdot_scal_r.
    rewrite (pdot_sym N D b a). ring. }
  assert (A := pdot_ge0 a). assert (C := pdot_ge0 b).
  set (x := pdot N D a a) in *. set (z := pdot N D b b) in *. set (y := pdot N D a b) in *. clearbody x y z.
  destruct (Req_dec z 0) as [->|Z].
  - destruct (Req_dec y 0) as [->|Y]; [lra|]. specialize (Q ((x + 1) / (2 * y))).
    replace (2 * ((x + 1) / (2 * y)) * y) with (x + 1) in Q by (field; easy). lra.
  - specialize (Q (y / z)). replace (x - 2 * (y / z) * y + (y / z) ^ 2 * z) with ((x * z - y * y) * / z) in Q by
    (field; easy).
    assert (0 < / z) by (apply Rinv_0_lt_compat; lra). nra.
Qed.

(** The mean of r_l times the points b_l *)
Definition pmean (n : nat) (r : vector) (b : nat -> point) : point :=
  (fun i => mean n (fun l => r l * fst (b l) i), fun i k => mean n (fun l => r l * snd (b l) i k)).

Lemma pdot_pmean a n r b : pdot N D a (pmean n r b) = mean n (fun l => r l * pdot N D a (b l)).
Proof.
  unfold mean. rewrite <- pdot_combination. unfold Rdiv. rewrite Rmult_comm, <- pdot_scal_r.
  unfold pdot. apply Sum_ext; intros i _. unfold pmean, mean, pscal, dot. cbn [fst snd].
  f_equal; [unfold Rdiv; ring|]. apply Sum_ext; intros. unfold Rdiv. ring.
Qed.

Lemma pmean_norm n r b : (0 < n)%nat -> pnorm N D (pmean n r b) <= rms n r * rms n (fun l => pnorm N D (b l)).
Proof.
  intros H. set (v := pmean n r b). assert (V := sqrt_pos (pdot N D v v)). fold (pnorm N D v) in V.
  assert (Q : pnorm N D v ^ 2 <= rms n r * rms n (fun l => pnorm N D (b l)) * pnorm N D v).
  { rewrite pnorm_sq. unfold v at 2. rewrite pdot_pmean. eapply Rle_trans; [apply Rle_abs|].
    unfold mean. eapply Rle_trans; [now apply mean_product|].
    rewrite Rmult_assoc. apply Rmult_le_compat_l; [apply rms_ge0|].
    eapply Rle_trans; [apply (rms_le n _ (fun l => pnorm N D v * pnorm N D (b l))); [easy|]|].
    - intros. apply pdot_cauchy.
    - rewrite rms_scal, Rabs_right by (easy || now apply Rle_ge). lra. }
  assert (B : 0 <= rms n r * rms n (fun l => pnorm N D (b l))) by (apply Rmult_le_pos; apply rms_ge0).
  destruct (Req_dec (pnorm N D v) 0) as [->|Z]; [easy|]. apply Rmult_le_reg_r with (pnorm N D v); lra.
Qed.

End Points.

(** One step of gradient descent: the four parts of a pair. *)
Lemma parts_step n N (h : nat -> vector -> R) (g : nat -> vector -> vector) y eta phi0 phi p :
  mirrored N phi0 -> (p < N)%nat ->
  let x := pminus phi phi0 in let eh := 2 * eta / sqrt (INR (N + N)) in let c0 := fst phi0 p in
  let x' := pminus (pminus phi (pscal eta (loss_slope n N h g y phi))) phi0 in
  let r := fun j => output N h phi j - y j in
  let hp := fun j => h j (snd phi p) in let hm := fun j => h j (snd phi (N + p)%nat) in
  let gp := fun j => g j (snd phi p) in let gm := fun j => g j (snd phi (N + p)%nat) in
  (forall k, alpha N x' p k = alpha N x p k - eh * mean n (fun j => r j *
    ((c0 + chi N x p) * ((gp j k + gm j k) / 2) + gamma N x p * ((gp j k - gm j k) / 2)))) /\
  (forall k, beta N x' p k = beta N x p k - eh * mean n (fun j => r j *
    ((c0 + chi N x p) * ((gp j k - gm j k) / 2) + gamma N x p * ((gp j k + gm j k) / 2)))) /\
  gamma N x' p = gamma N x p - eh * mean n (fun j => r j * ((hp j + hm j) / 2)) /\
  chi N x' p = chi N x p - eh * mean n (fun j => r j * ((hp j - hm j) / 2)).
Proof.
  intros M Hp x eh c0 x' r hp hm gp gm. destruct (M p Hp) as [A B].
  assert (C : fst phi p = c0 + chi N x p + gamma N x p) by (unfold chi, gamma, x, pminus, c0; cbn [fst]; field).
  assert (C' : fst phi (N + p)%nat = gamma N x p - c0 - chi N x p).
  { unfold chi, gamma, x, pminus, c0; cbn [fst]. rewrite A. field. }
  set (z := / sqrt (INR (N + N))). set (L := loss_slope n N h g y phi).
  assert (S2 : forall F G : vector, (forall j, F j = z * G j) -> 2 / INR n * Sum n F * eta = eh * mean n G).
  { intros F G H. rewrite (Sum_ext n F (fun j => z * G j)) by (intros; apply H). rewrite Sum_scal.
    unfold eh, mean, z, Rdiv. ring. }
  assert (HM : forall F G : vector,
    Sum n (fun j => r j * ((F j - G j) / 2)) = (Sum n (fun j => r j * F j) - Sum n (fun j => r j * G j)) / 2).
  { intros F G. rewrite <- Sum_minus. unfold Rdiv. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring. }
  assert (HP : forall F G : vector,
    Sum n (fun j => r j * ((F j + G j) / 2)) = (Sum n (fun j => r j * F j) + Sum n (fun j => r j * G j)) / 2).
  { intros F G. rewrite <- Sum_plus. unfold Rdiv. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring. }
  split; [|split; [|split]].
  - intros k. replace (alpha N x' p k) with (alpha N x p k - alpha N L p k * eta).
    2: { unfold alpha, x', x, L, pminus, pscal. cbn [fst snd]. field. }
    f_equal. rewrite <- (S2 (fun j => r j * alpha N (slope N h g phi j) p k)).
    + f_equal. unfold alpha. rewrite (HM (fun j => snd (slope N h g phi j) p k) (fun j => snd (slope N h g phi j) (N +
      p)%nat k)).
      unfold L, loss_slope, r, Rdiv. cbn [fst snd]. ring.
    + intros j. unfold alpha, slope. cbn [snd]. fold z. rewrite C, C'. fold (gp j) (gm j). field.
  - intros k. replace (beta N x' p k) with (beta N x p k - beta N L p k * eta).
    2: { unfold beta, x', x, L, pminus, pscal. cbn [fst snd]. field. }
    f_equal. rewrite <- (S2 (fun j => r j * beta N (slope N h g phi j) p k)).
    + f_equal. unfold beta. rewrite (HP (fun j => snd (slope N h g phi j) p k) (fun j => snd (slope N h g phi j) (N +
      p)%nat k)).
      unfold L, loss_slope, r, Rdiv. cbn [fst snd]. ring.
    + intros j. unfold beta, slope. cbn [snd]. fold z. rewrite C, C'. fold (gp j) (gm j). field.
  - replace (gamma N x' p) with (gamma N x p - gamma N L p * eta).
    2: { unfold gamma, x', x, L, pminus, pscal. cbn [fst snd]. field. }
    f_equal. rewrite <- (S2 (fun j => r j * gamma N (slope N h g phi j) p)).
    + f_equal. unfold gamma. rewrite (HP (fun j => fst (slope N h g phi j) p) (fun j => fst (slope N h g phi j) (N +
      p)%nat)).
      unfold L, loss_slope, r, Rdiv. cbn [fst snd]. ring.
    + intros j. unfold gamma, slope. cbn [fst]. fold z. fold (hp j) (hm j). field.
  - replace (chi N x' p) with (chi N x p - chi N L p * eta).
    2: { unfold chi, x', x, L, pminus, pscal. cbn [fst snd]. field. }
    f_equal. rewrite <- (S2 (fun j => r j * chi N (slope N h g phi j) p)).
    + f_equal. unfold chi. rewrite (HM (fun j => fst (slope N h g phi j) p) (fun j => fst (slope N h g phi j) (N +
      p)%nat)).
      unfold L, loss_slope, r, Rdiv. cbn [fst snd]. ring.
    + intros j. unfold chi, slope. cbn [fst]. fold z. fold (hp j) (hm j). field.
Qed.
