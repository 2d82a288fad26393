(** Two factors, f_λ(U, V) = ½‖UVᵀ − M‖² + λ/4 ‖UᵀU − VᵀV‖²: gradients, and the coordinates of singular vectors. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.matrices.
Open Scope R_scope.

(** D = UVᵀ − M for factors with r columns *)
Definition residual (r : nat) (M U V : matrix) : matrix := mminus (matmul r U (transpose V)) M.

(** C = UᵀU − VᵀV for U with m rows and V with d rows *)
Definition imbalance (m d : nat) (U V : matrix) : matrix :=
  mminus (matmul m (transpose U) U) (matmul d (transpose V) V).

(** f_λ(U, V) = ½‖D‖² + λ/4 ‖C‖², Frobenius norms, for U m × r, V d × r, M m × d *)
Definition loss (lam : R) (m d r : nat) (M U V : matrix) : R :=
  / 2 * frob2 m d (residual r M U V) + lam / 4 * frob2 r r (imbalance m d U V).

(** DV + λUC *)
Definition grad_U (lam : R) (m d r : nat) (M U V : matrix) : matrix :=
  mplus (matmul d (residual r M U V) V) (mscal lam (matmul r U (imbalance m d U V))).

(** DᵀU − λVC *)
Definition grad_V (lam : R) (m d r : nat) (M U V : matrix) : matrix :=
  mminus (matmul m (transpose (residual r M U V)) U) (mscal lam (matmul r V (imbalance m d U V))).

(** ‖∇f_λ‖², the sum of the squared norms of both gradients *)
Definition slope2 (lam : R) (m d r : nat) (M U V : matrix) : R :=
  frob2 m r (grad_U lam m d r M U V) + frob2 d r (grad_V lam m d r M U V).

Lemma imbalance_sym m d U V : transpose (imbalance m d U V) = imbalance m d U V.
Proof. unfold imbalance. now spread. Qed.

Lemma residual_shifted r M U V A B e : residual r M (shifted U A e) (shifted V B e) =
  mplus (residual r M U V) (mplus (mscal e (mplus (matmul r A (transpose V)) (matmul r U (transpose B))))
    (mscal (e ^ 2) (matmul r A (transpose B)))).
Proof. unfold residual, shifted. spread. matrix_ext. unfold mplus, mminus, mscal. ring. Qed.

Lemma imbalance_shifted m d U V A B e : imbalance m d (shifted U A e) (shifted V B e) =
  mplus (imbalance m d U V) (mplus (mscal e (mminus (mplus (matmul m (transpose A) U) (matmul m (transpose U) A))
    (mplus (matmul d (transpose B) V) (matmul d (transpose V) B)))) (mscal (e ^ 2) (imbalance m d A B))).
Proof. unfold imbalance, shifted. spread. matrix_ext. unfold mplus, mminus, mscal. ring. Qed.

Lemma frob2_quartic m n F G H e : frob2 m n (mplus F (mplus (mscal e G) (mscal (e ^ 2) H))) =
  frob2 m n F + 2 * fdot m n F G * e + (frob2 m n G + 2 * fdot m n F H) * e ^ 2 + 2 * fdot m n G H * e ^ 3
  + frob2 m n H * e ^ 4.
Proof. rewrite !frob2_fdot. spread. rewrite !(fdot_sym m n G F), !(fdot_sym m n H). ring. Qed.

Lemma fdot_to_left m r k C A U : fdot r k C (matmul m (transpose A) U) = fdot m r A (matmul k U (transpose C)).
Proof. now rewrite fdot_sym, fdot_right, fdot_transpose, transpose_matmul, transpose_transpose. Qed.

Lemma fdot_to_right m r k C U A : fdot r k C (matmul m (transpose U) A) = fdot m k A (matmul r U C).
Proof. now rewrite fdot_sym, fdot_left, transpose_transpose. Qed.

Lemma fdot_outer_left m d r D A V : fdot m d D (matmul r A (transpose V)) = fdot m r A (matmul d D V).
Proof. now rewrite fdot_sym, fdot_right, transpose_transpose. Qed.

Lemma fdot_outer_right m d r D U B : fdot m d D (matmul r U (transpose B)) = fdot d r B (matmul m (transpose D) U).
Proof. now rewrite fdot_sym, fdot_left, fdot_transpose, transpose_matmul, !transpose_transpose. Qed.

(** The first-order terms are ⟨∇_U, A⟩ + ⟨∇_V, B⟩. *)
Lemma first_order lam m d r M U V A B :
  fdot m d (residual r M U V) (mplus (matmul r A (transpose V)) (matmul r U (transpose B))) +
  lam / 2 * fdot r r (imbalance m d U V) (mminus (mplus (matmul m (transpose A) U) (matmul m (transpose U) A))
    (mplus (matmul d (transpose B) V) (matmul d (transpose V) B))) =
  fdot m r (grad_U lam m d r M U V) A + fdot d r (grad_V lam m d r M U V) B.
Proof.
  unfold grad_U, grad_V. rewrite fdot_plus_r, fdot_minus_r, !fdot_plus_r.
  rewrite (fdot_outer_left _ _ _ _ A V), (fdot_outer_right _ _ _ _ U B),
    !(fdot_to_left _ _ _ _ A U), !(fdot_to_left _ _ _ _ B V),
    !(fdot_to_right _ _ _ _ U A), !(fdot_to_right _ _ _ _ V B), imbalance_sym.
  rewrite fdot_plus_l, fdot_minus_l, !fdot_scal_l, !(fdot_sym _ _ A), !(fdot_sym _ _ B). field.
Qed.

(** f_λ along a line: its value, slope and curvature at a point, and the two coefficients beyond *)
Lemma loss_along lam m d r M U V A B : exists c3 c4, forall e,
  loss lam m d r M (shifted U A e) (shifted V B e) = loss lam m d r M U V
  + (fdot m r (grad_U lam m d r M U V) A + fdot d r (grad_V lam m d r M U V) B) * e
  + (/ 2 * frob2 m d (mplus (matmul r A (transpose V)) (matmul r U (transpose B)))
     + fdot m d (residual r M U V) (matmul r A (transpose B))
     + lam / 4 * frob2 r r (mminus (mplus (matmul m (transpose A) U) (matmul m (transpose U) A))
         (mplus (matmul d (transpose B) V) (matmul d (transpose V) B)))
     + lam / 2 * fdot r r (imbalance m d U V) (imbalance m d A B)) * e ^ 2 + c3 * e ^ 3 + c4 * e ^ 4.
Proof.
  set (L := mplus (matmul r A (transpose V)) (matmul r U (transpose B))).
  set (N := mminus (mplus (matmul m (transpose A) U) (matmul m (transpose U) A))
    (mplus (matmul d (transpose B) V) (matmul d (transpose V) B))).
  exists (fdot m d L (matmul r A (transpose B)) + lam / 2 * fdot r r N (imbalance m d A B)),
    (/ 2 * frob2 m d (matmul r A (transpose B)) + lam / 4 * frob2 r r (imbalance m d A B)).
  intros e. rewrite <- first_order. unfold loss. rewrite residual_shifted, imbalance_shifted, !frob2_quartic.
  fold L N. field.
Qed.

(** The gradient, as a derivative along every line *)
Lemma loss_slope lam m d r M U V A B :
  is_derive (fun e => loss lam m d r M (shifted U A e) (shifted V B e)) 0
    (fdot m r (grad_U lam m d r M U V) A + fdot d r (grad_V lam m d r M U V) B).
Proof.
  destruct (loss_along lam m d r M U V A B) as (c3 & c4 & H).
  eapply is_derive_ext; [intros e; symmetry; apply H|]. auto_derive; [easy|]. ring.
Qed.

Lemma loss_ge0 m d r M U V : 0 <= loss (/ 2) m d r M U V.
Proof.
  unfold loss. assert (P1 := frob2_ge0 m d (residual r M U V)). assert (P2 := frob2_ge0 r r (imbalance m d U V)). lra.
Qed.

(** P is an orthogonal n × n matrix: PᵀP = PPᵀ = I *)
Definition orthogonal (n : nat) (P : matrix) : Prop :=
  orthonormal n n P /\ same n n (matmul n P (transpose P)) identity.

(** The m × d matrix with s_0, …, s_{k−1} on its diagonal and 0 elsewhere *)
Definition core (k : nat) (s : vector) : matrix := fun i j => if Nat.eqb i j then if Nat.ltb i k then s i else 0 else 0.

(** W = UᵀU + VᵀV *)
Definition gram (m d : nat) (U V : matrix) : matrix := mplus (matmul m (transpose U) U) (matmul d (transpose V) V).

(** ⟨AᵀA, G⟩ = ⟨A, AG⟩ and ⟨AᵀA, BᵀB⟩ = ‖ABᵀ‖² *)
Lemma fdot_gram_l k n A G : fdot n n (matmul k (transpose A) A) G = fdot k n A (matmul n A G).
Proof. now rewrite fdot_left, transpose_transpose. Qed.

Lemma fdot_gram k m n A B : fdot n n (matmul k (transpose A) A) (matmul m (transpose B) B) =
  frob2 k m (matmul n A (transpose B)).
Proof. now rewrite fdot_gram_l, <- matmul_assoc, fdot_sym, fdot_right, frob2_fdot. Qed.

Lemma loss_gram m d r M U V : loss (/ 2) m d r M U V =
  / 8 * (frob2 r r (gram m d U V) - 8 * fdot m r U (matmul d M V) + 4 * frob2 m d M).
Proof.
  unfold loss, residual, imbalance, gram.
  assert (E : frob2 m d (mminus (matmul r U (transpose V)) M) =
    fdot r r (matmul m (transpose U) U) (matmul d (transpose V) V) - 2 * fdot m r U (matmul d M V) + frob2 m d M).
  { rewrite fdot_gram, !frob2_fdot. spread. rewrite (fdot_sym m d M), (fdot_right m d r U (transpose V) M).
    rewrite transpose_transpose. ring. }
  rewrite E, !(frob2_fdot r r). rewrite fdot_minus_l, !fdot_minus_r, fdot_plus_l, !fdot_plus_r.
  rewrite (fdot_sym r r (matmul d _ _) (matmul m _ _)). field.
Qed.

Lemma grad_U_gram m d r M U V : grad_U (/ 2) m d r M U V =
  mminus (mscal (/ 2) (matmul r U (gram m d U V))) (matmul d M V).
Proof.
  unfold grad_U, residual, imbalance, gram. spread. rewrite matmul_assoc. matrix_ext.
  unfold mplus, mminus, mscal. field.
Qed.

Lemma grad_V_gram m d r M U V : grad_V (/ 2) m d r M U V =
  mminus (mscal (/ 2) (matmul r V (gram m d U V))) (matmul m (transpose M) U).
Proof.
  unfold grad_V, residual, imbalance, gram. spread. rewrite matmul_assoc. matrix_ext.
  unfold mplus, mminus, mscal. field.
Qed.

Lemma orthogonal_cancel n m P A : orthogonal n P -> same n m (matmul n P (matmul n (transpose P) A)) A.
Proof.
  intros [_ H] i j Hi Hj. rewrite <- matmul_assoc.
  rewrite (matmul_same n m n _ A identity A H (same_refl _ _ _) i j Hi Hj). now apply identity_l.
Qed.

Lemma orthogonal_cancel' n m P A : orthogonal n P -> same n m (matmul n (transpose P) (matmul n P A)) A.
Proof.
  intros [H _] i j Hi Hj. rewrite <- matmul_assoc.
  rewrite (matmul_same n m n _ A identity A H (same_refl _ _ _) i j Hi Hj). now apply identity_l.
Qed.

(** ⟨PᵀA, PᵀB⟩ = ⟨A, B⟩ and (PᵀA)ᵀ(PᵀA) = AᵀA for orthogonal P *)
Lemma fdot_rotate n m P A B : orthogonal n P ->
  fdot n m (matmul n (transpose P) A) (matmul n (transpose P) B) = fdot n m A B.
Proof.
  intros H. rewrite fdot_left, transpose_transpose. apply fdot_ext; [easy|]. now apply orthogonal_cancel.
Qed.

Lemma gram_rotate n P A : orthogonal n P ->
  matmul n (transpose (matmul n (transpose P) A)) (matmul n (transpose P) A) = matmul n (transpose A) A.
Proof.
  intros H. rewrite transpose_matmul, transpose_transpose, matmul_assoc. matrix_ext. apply Sum_ext; intros i Hi.
  f_equal. apply (orthogonal_cancel n (S x0) P A H); lia.
Qed.

Lemma core_l k d s A i j : (k <= d)%nat -> (i < k)%nat -> matmul d (core k s) A i j = s i * A i j.
Proof.
  intros Hd Hi. unfold matmul, core. rewrite (Sum_single d _ i).
  - rewrite Nat.eqb_refl. now replace (Nat.ltb i k) with true by (symmetry; apply Nat.ltb_lt; lia).
  - lia.
  - intros l _ Hl. apply not_eq_sym, Nat.eqb_neq in Hl. rewrite Hl. apply Rmult_0_l.
Qed.

Lemma core_l0 k d s A i j : (k <= i)%nat -> matmul d (core k s) A i j = 0.
Proof.
  intros Hi. unfold matmul, core. transitivity (Sum d (fun _ => 0)); [|apply Sum_zero]. apply Sum_ext; intros l _.
  replace (Nat.ltb i k) with false by (symmetry; apply Nat.ltb_ge; lia). destruct (Nat.eqb i l); apply Rmult_0_l.
Qed.

Lemma core_t k s : transpose (core k s) = core k s.
Proof.
  matrix_ext. unfold transpose, core. rewrite Nat.eqb_sym. destruct (Nat.eqb _ _) eqn:E; [|easy].
  apply Nat.eqb_eq in E. now subst.
Qed.

(** M = P S Qᵀ, a full singular value decomposition of an m × d matrix of rank k *)
Definition svd (k m d : nat) (s : vector) (P Q M : matrix) : Prop :=
  orthogonal m P /\ orthogonal d Q /\ same m d M (matmul m P (matmul d (core k s) (transpose Q))).

(** X and Y: the first k rows of (PᵀU ± QᵀV)/√2 *)
Definition rot_plus (m d : nat) (P Q U V : matrix) : matrix := fun i j =>
  / sqrt 2 * (matmul m (transpose P) U i j + matmul d (transpose Q) V i j).
Definition rot_minus (m d : nat) (P Q U V : matrix) : matrix := fun i j =>
  / sqrt 2 * (matmul m (transpose P) U i j - matmul d (transpose Q) V i j).

(** T: the rows of PᵀU and then of QᵀV beyond the first k *)
Definition rot_rest (k m d : nat) (P Q U V : matrix) : matrix := fun i j =>
  if Nat.ltb i (m - k) then matmul m (transpose P) U (k + i)%nat j
  else matmul d (transpose Q) V (k + (i - (m - k)))%nat j.

Lemma half_half : / sqrt 2 * / sqrt 2 = / 2.
Proof. rewrite <- Rinv_mult. now rewrite sqrt_sqrt by lra. Qed.

(** Sums over the rows of (X, Y, T) are sums over those of PᵀU and QᵀV. *)
Lemma rot_rows k m d P Q U V a b : (k <= m)%nat -> (k <= d)%nat ->
  let U' := matmul m (transpose P) U in let V' := matmul d (transpose Q) V in
  let X := rot_plus m d P Q U V in let Y := rot_minus m d P Q U V in let T := rot_rest k m d P Q U V in
  Sum k (fun i => X i a * X i b) + Sum k (fun i => Y i a * Y i b) + Sum (m + d - 2 * k) (fun i => T i a * T i b) =
  Sum m (fun i => U' i a * U' i b) + Sum d (fun i => V' i a * V' i b).
Proof.
  intros Hm Hd U' V' X Y T. replace (m + d - 2 * k)%nat with ((m - k) + (d - k))%nat by lia.
  replace (Sum m _) with (Sum (k + (m - k)) (fun i => U' i a * U' i b)) by (f_equal; lia).
  replace (Sum d _) with (Sum (k + (d - k)) (fun i => V' i a * V' i b)) by (f_equal; lia).
  rewrite !Sum_split.
  rewrite (Sum_ext (m - k) (fun i => T i a * T i b) (fun i => U' (k + i)%nat a * U' (k + i)%nat b)).
  2:{ intros i Hi. unfold T, rot_rest. now replace (Nat.ltb i (m - k)) with true by (symmetry; now apply Nat.ltb_lt). }
  rewrite (Sum_ext (d - k) (fun i => T (m - k + i)%nat a * T (m - k + i)%nat b)
    (fun i => V' (k + i)%nat a * V' (k + i)%nat b)).
  2:{ intros i Hi. unfold T, rot_rest. replace (Nat.ltb (m - k + i) (m - k)) with false
        by (symmetry; apply Nat.ltb_ge; lia). now replace (m - k + i - (m - k))%nat with i by lia. }
  enough (Sum k (fun i => X i a * X i b) + Sum k (fun i => Y i a * Y i b) =
    Sum k (fun i => U' i a * U' i b) + Sum k (fun i => V' i a * V' i b)) by lra.
  rewrite <- !Sum_plus. apply Sum_ext; intros i _. unfold X, Y, rot_plus, rot_minus. fold U' V'.
  transitivity (2 * (/ sqrt 2 * / sqrt 2) * (U' i a * U' i b + V' i a * V' i b)); [ring|]. rewrite half_half. field.
Qed.

Lemma rot_gram k m d P Q U V : (k <= m)%nat -> (k <= d)%nat -> orthogonal m P -> orthogonal d Q ->
  let X := rot_plus m d P Q U V in let Y := rot_minus m d P Q U V in let T := rot_rest k m d P Q U V in
  gram m d U V = mplus (mplus (matmul k (transpose X) X) (matmul k (transpose Y) Y))
    (matmul (m + d - 2 * k) (transpose T) T).
Proof.
  intros Hm Hd HP HQ X Y T. unfold gram. rewrite <- (gram_rotate m P U HP), <- (gram_rotate d Q V HQ).
  matrix_ext. symmetry. now apply rot_rows.
Qed.

Lemma rot_isometry k m d r P Q U V : (k <= m)%nat -> (k <= d)%nat -> orthogonal m P -> orthogonal d Q ->
  frob2 k r (rot_plus m d P Q U V) + frob2 k r (rot_minus m d P Q U V)
  + frob2 (m + d - 2 * k) r (rot_rest k m d P Q U V) = frob2 m r U + frob2 d r V.
Proof.
  intros Hm Hd HP HQ. rewrite !frob2_fdot, <- (fdot_rotate m r P U U HP), <- (fdot_rotate d r Q V V HQ).
  unfold fdot. rewrite !(Sum_swap _ r), <- !Sum_plus. apply Sum_ext; intros a _. now apply rot_rows.
Qed.

(** PᵀMV = S QᵀV and QᵀMᵀU = S PᵀU *)
Lemma svd_left k m d r s P Q M V : svd k m d s P Q M ->
  same m r (matmul m (transpose P) (matmul d M V)) (matmul d (core k s) (matmul d (transpose Q) V)).
Proof.
  intros (HP & HQ & HM).
  assert (E : same m r (matmul d M V) (matmul m P (matmul d (core k s) (matmul d (transpose Q) V)))).
  { eapply same_trans; [apply matmul_same; [exact HM|apply same_refl]|]. now rewrite !matmul_assoc. }
  eapply same_trans; [apply matmul_same; [apply same_refl|exact E]|]. now apply orthogonal_cancel'.
Qed.

Lemma svd_transpose k m d s P Q M : svd k m d s P Q M ->
  svd k d m s Q P (transpose M).
Proof.
  intros (HP & HQ & HM). split; [easy|split; [easy|]].
  eapply same_trans; [exact (same_transpose _ _ _ _ HM)|]. spread. rewrite core_t, matmul_assoc.
  apply same_refl.
Qed.

(** The rotated gradients: X, Y and T of (∇_U, ∇_V) are ½XW − SX, ½YW + SY and ½TW. *)
Section Gradients.
Variables (k m d r : nat) (s : vector) (P Q M U V : matrix).
Hypotheses (Hm : (k <= m)%nat) (Hd : (k <= d)%nat) (HM : svd k m d s P Q M).
Let GU := grad_U (/ 2) m d r M U V.
Let GV := grad_V (/ 2) m d r M U V.
Let W := gram m d U V.

Lemma turned_grad_U i j : (i < m)%nat -> (j < r)%nat -> matmul m (transpose P) GU i j =
  / 2 * matmul r (matmul m (transpose P) U) W i j - matmul d (core k s) (matmul d (transpose Q) V) i j.
Proof.
  intros Hi Hj. unfold GU. rewrite grad_U_gram. spread. unfold mminus, mscal. rewrite <- matmul_assoc.
  now rewrite (svd_left k m d r s P Q M V HM i j Hi Hj).
Qed.

Lemma turned_grad_V i j : (i < d)%nat -> (j < r)%nat -> matmul d (transpose Q) GV i j =
  / 2 * matmul r (matmul d (transpose Q) V) W i j - matmul m (core k s) (matmul m (transpose P) U) i j.
Proof.
  intros Hi Hj. unfold GV. rewrite grad_V_gram. spread. unfold mminus, mscal. rewrite <- matmul_assoc.
  now rewrite (svd_left k d m r s Q P (transpose M) U (svd_transpose _ _ _ _ _ _ _ HM) i j Hi Hj).
Qed.

Lemma rot_plus_W i j : matmul r (rot_plus m d P Q U V) W i j =
  / sqrt 2 * (matmul r (matmul m (transpose P) U) W i j + matmul r (matmul d (transpose Q) V) W i j).
Proof.
  change (rot_plus m d P Q U V) with (mscal (/ sqrt 2) (mplus (matmul m (transpose P) U) (matmul d (transpose Q) V))).
  now rewrite matmul_scal_l, matmul_plus_l.
Qed.

Lemma rot_minus_W i j : matmul r (rot_minus m d P Q U V) W i j =
  / sqrt 2 * (matmul r (matmul m (transpose P) U) W i j - matmul r (matmul d (transpose Q) V) W i j).
Proof.
  change (rot_minus m d P Q U V) with (mscal (/ sqrt 2) (mminus (matmul m (transpose P) U) (matmul d (transpose Q) V))).
  now rewrite matmul_scal_l, matmul_minus_l.
Qed.

Lemma rot_plus_grad : same k r (rot_plus m d P Q GU GV)
  (mminus (mscal (/ 2) (matmul r (rot_plus m d P Q U V) W)) (matmul k (diagonal s) (rot_plus m d P Q U V))).
Proof.
  intros i j Hi Hj. unfold mminus, mscal. rewrite rot_plus_W, diagonal_l by easy. unfold rot_plus.
  rewrite turned_grad_U, turned_grad_V, !core_l by lia. ring.
Qed.

Lemma rot_minus_grad : same k r (rot_minus m d P Q GU GV)
  (mplus (mscal (/ 2) (matmul r (rot_minus m d P Q U V) W)) (matmul k (diagonal s) (rot_minus m d P Q U V))).
Proof.
  intros i j Hi Hj. unfold mplus, mscal. rewrite rot_minus_W, diagonal_l by easy. unfold rot_minus.
  rewrite turned_grad_U, turned_grad_V, !core_l by lia. ring.
Qed.

Lemma rot_rest_grad : same (m + d - 2 * k) r (rot_rest k m d P Q GU GV)
  (mscal (/ 2) (matmul r (rot_rest k m d P Q U V) W)).
Proof.
  intros i j Hi Hj. unfold mscal, rot_rest at 1. destruct (Nat.ltb i (m - k)) eqn:E.
  - apply Nat.ltb_lt in E. rewrite turned_grad_U, core_l0 by lia. rewrite Rminus_0_r. f_equal.
    apply Sum_ext; intros. unfold rot_rest. apply Nat.ltb_lt in E. now rewrite E.
  - assert (L := E). apply Nat.ltb_ge in L. rewrite turned_grad_V, core_l0 by lia. rewrite Rminus_0_r. f_equal.
    apply Sum_ext; intros. unfold rot_rest. now rewrite E.
Qed.

(** ⟨U, MV⟩ = ½ (⟨SX, X⟩ − ⟨SY, Y⟩) and ‖M‖² = ‖S‖² *)
Lemma target_product : 2 * fdot m r U (matmul d M V) =
  fdot k r (matmul k (diagonal s) (rot_plus m d P Q U V)) (rot_plus m d P Q U V)
  - fdot k r (matmul k (diagonal s) (rot_minus m d P Q U V)) (rot_minus m d P Q U V).
Proof.
  destruct HM as (HP & HQ & _). rewrite <- (fdot_rotate m r P _ _ HP).
  rewrite (fdot_ext m r _ _ _ _ (same_refl _ _ _) (svd_left k m d r s P Q M V HM)). unfold fdot.
  replace (Sum m _) with (Sum (k + (m - k)) (fun i => Sum r (fun j => matmul m (transpose P) U i j *
    matmul d (core k s) (matmul d (transpose Q) V) i j))) by (f_equal; lia).
  rewrite Sum_split, (Sum_ext (m - k) _ (fun _ => 0)), Sum_zero, Rplus_0_r.
  2:{ intros. rewrite <- (Sum_zero r). apply Sum_ext; intros. rewrite core_l0 by lia. ring. }
  rewrite <- Sum_scal, <- Sum_minus. apply Sum_ext; intros i Hi. rewrite <- Sum_scal, <- Sum_minus.
  apply Sum_ext; intros j Hj. rewrite core_l, !diagonal_l by lia. unfold rot_plus, rot_minus.
  set (a := matmul m _ _ i j). set (b := matmul d _ _ i j).
  transitivity (4 * (/ sqrt 2 * / sqrt 2) * s i * a * b); [rewrite half_half; field|ring].
Qed.

Lemma frob2_orthogonal n c A B : orthogonal n A -> frob2 n c (matmul n A B) = frob2 n c B.
Proof.
  intros H. rewrite !frob2_fdot, fdot_left. apply fdot_ext; [easy|]. now apply orthogonal_cancel'.
Qed.

Lemma frob2_core n c : (k <= n)%nat -> (k <= c)%nat -> frob2 n c (core k s) = Sum k (fun i => s i ^ 2).
Proof.
  intros Hn Hc. unfold frob2. replace n with (k + (n - k))%nat by lia. rewrite Sum_split.
  rewrite (Sum_ext (n - k) _ (fun _ => 0)), Sum_zero, Rplus_0_r.
  - apply Sum_ext; intros i Hi. rewrite (Sum_single c _ i); [|lia|].
    + unfold core. rewrite Nat.eqb_refl. now replace (Nat.ltb i k) with true by (symmetry; now apply Nat.ltb_lt).
    + intros j _ Hj. apply not_eq_sym, Nat.eqb_neq in Hj. unfold core. rewrite Hj. ring.
  - intros i Hi. transitivity (Sum c (fun _ => 0)); [|apply Sum_zero]. apply Sum_ext; intros j _. unfold core.
    replace (Nat.ltb (k + i) k) with false by (symmetry; apply Nat.ltb_ge; lia). destruct (Nat.eqb _ _); ring.
Qed.

Lemma frob2_diagonal n t : frob2 n n (diagonal t) = Sum n (fun i => t i ^ 2).
Proof.
  apply Sum_ext; intros i Hi. rewrite (Sum_single n _ i); [unfold diagonal; now rewrite Nat.eqb_refl|easy|].
  intros j _ Hj. apply not_eq_sym, Nat.eqb_neq in Hj. unfold diagonal. rewrite Hj. ring.
Qed.

Lemma target_norm : frob2 m d M = frob2 k k (diagonal s).
Proof.
  destruct HM as (HP & HQ & HS). rewrite (frob2_ext _ _ _ _ HS), frob2_orthogonal by easy.
  rewrite frob2_transpose, transpose_matmul, transpose_transpose, core_t, frob2_orthogonal by easy.
  now rewrite frob2_core, frob2_diagonal.
Qed.

(** Σ ‖·‖² of the rotated gradient is ‖∇f‖². *)
Lemma slope_rotated : let X := rot_plus m d P Q U V in let Y := rot_minus m d P Q U V in
  let T := rot_rest k m d P Q U V in
  slope2 (/ 2) m d r M U V = frob2 k r (mminus (mscal (/ 2) (matmul r X W)) (matmul k (diagonal s) X))
  + frob2 k r (mplus (mscal (/ 2) (matmul r Y W)) (matmul k (diagonal s) Y))
  + frob2 (m + d - 2 * k) r (mscal (/ 2) (matmul r T W)).
Proof.
  intros X Y T. unfold slope2. destruct (HM) as (HP & HQ & _). rewrite <- (rot_isometry k m d r P Q) by easy.
  fold GU GV. now rewrite (frob2_ext _ _ _ _ rot_plus_grad), (frob2_ext _ _ _ _ rot_minus_grad),
    (frob2_ext _ _ _ _ rot_rest_grad).
Qed.

(** 8f in rotated coordinates *)
Lemma loss_rotated : let X := rot_plus m d P Q U V in let Y := rot_minus m d P Q U V in
  let T := rot_rest k m d P Q U V in let z := (m + d - 2 * k)%nat in
  8 * loss (/ 2) m d r M U V = frob2 k k (mminus (matmul r X (transpose X)) (mscal 2 (diagonal s)))
  + frob2 k k (matmul r Y (transpose Y)) + 4 * fdot k r (matmul k (diagonal s) Y) Y
  + frob2 z z (matmul r T (transpose T)) + 2 * frob2 k k (matmul r X (transpose Y))
  + 2 * frob2 k z (matmul r X (transpose T)) + 2 * frob2 k z (matmul r Y (transpose T)).
Proof.
  intros X Y T z. destruct (HM) as (HP & HQ & _). rewrite loss_gram, target_norm.
  replace (8 * fdot m r U (matmul d M V)) with (4 * (2 * fdot m r U (matmul d M V))) by ring.
  rewrite target_product, (rot_gram k m d P Q U V) by easy. fold X Y T z.
  assert (E : frob2 k k (mminus (matmul r X (transpose X)) (mscal 2 (diagonal s))) =
    frob2 k k (matmul r X (transpose X)) - 4 * fdot k r (matmul k (diagonal s) X) X + 4 * frob2 k k (diagonal s)).
  { rewrite !frob2_fdot. spread. rewrite (fdot_sym k k (diagonal s) (matmul r _ _)).
    rewrite (fdot_right k k r X (transpose X) (diagonal s)), transpose_transpose, (fdot_sym k r X). ring. }
  rewrite E, <- !fdot_gram. rewrite frob2_fdot. spread.
  rewrite (fdot_sym r r (matmul k (transpose Y) Y) (matmul k (transpose X) X)),
    !(fdot_sym r r (matmul z (transpose T) T) (matmul k _ _)). field.
Qed.

End Gradients.

(** The n × … matrix P times X, whose first k rows count and whose others are 0 *)
Definition placed (n k : nat) (P X : matrix) : matrix := matmul n P (fun i j => if Nat.ltb i k then X i j else 0).

(** Factors with given rotated coordinates X, Y and T = 0 *)
Section Placed.
Variables (k m d r : nat) (s : vector) (P Q M X Y : matrix).
Hypotheses (Hm : (k <= m)%nat) (Hd : (k <= d)%nat) (HM : svd k m d s P Q M).
Let U := placed m k P (mscal (/ sqrt 2) (mplus X Y)).
Let V := placed d k Q (mscal (/ sqrt 2) (mminus X Y)).

Lemma placed_turned n R A i j : orthogonal n R -> (i < n)%nat ->
  matmul n (transpose R) (placed n k R A) i j = if Nat.ltb i k then A i j else 0.
Proof. intros H Hi. exact (orthogonal_cancel' n (S j) R (fun i j => if Nat.ltb i k then A i j else 0) H i j Hi (le_n
  _)). Qed.

Lemma placed_plus : same k r (rot_plus m d P Q U V) X.
Proof.
  destruct (HM) as (HP & HQ & _). intros i j Hi _. unfold rot_plus, U, V. rewrite !placed_turned by (easy || lia).
  replace (Nat.ltb i k) with true by (symmetry; now apply Nat.ltb_lt). unfold mscal, mplus, mminus.
  transitivity (2 * (/ sqrt 2 * / sqrt 2) * X i j); [ring|rewrite half_half; field].
Qed.

Lemma placed_minus : same k r (rot_minus m d P Q U V) Y.
Proof.
  destruct (HM) as (HP & HQ & _). intros i j Hi _. unfold rot_minus, U, V. rewrite !placed_turned by (easy || lia).
  replace (Nat.ltb i k) with true by (symmetry; now apply Nat.ltb_lt). unfold mscal, mplus, mminus.
  transitivity (2 * (/ sqrt 2 * / sqrt 2) * Y i j); [ring|rewrite half_half; field].
Qed.

Lemma placed_rest : same (m + d - 2 * k) r (rot_rest k m d P Q U V) (fun _ _ => 0).
Proof.
  destruct (HM) as (HP & HQ & _). intros i j Hi _. unfold rot_rest, U, V. destruct (Nat.ltb i (m - k)) eqn:E.
  - apply Nat.ltb_lt in E. rewrite placed_turned by (easy || lia).
    now replace (Nat.ltb (k + i) k) with false by (symmetry; apply Nat.ltb_ge; lia).
  - apply Nat.ltb_ge in E. rewrite placed_turned by (easy || lia).
    now replace (Nat.ltb (k + (i - (m - k))) k) with false by (symmetry; apply Nat.ltb_ge; lia).
Qed.

Lemma frob2_none n c A : same n c A (fun _ _ => 0) -> frob2 n c A = 0.
Proof.
  intros H. rewrite (frob2_ext _ _ _ _ H). unfold frob2. transitivity (Sum n (fun _ => 0)); [|apply Sum_zero].
  apply Sum_ext; intros. transitivity (Sum c (fun _ => 0)); [apply Sum_ext; intros; ring|apply Sum_zero].
Qed.

Lemma none_r n z A B : same z r B (fun _ _ => 0) -> same n z (matmul r A (transpose B)) (fun _ _ => 0).
Proof.
  intros H i j _ Hj. unfold matmul, transpose. transitivity (Sum r (fun _ => 0)); [|apply Sum_zero].
  apply Sum_ext; intros. rewrite H by easy. ring.
Qed.

Lemma placed_gram : same r r (gram m d U V) (mplus (matmul k (transpose X) X) (matmul k (transpose Y) Y)).
Proof.
  destruct (HM) as (HP & HQ & _). rewrite (rot_gram k m d P Q U V) by easy. intros i j Hi Hj.
  unfold mplus at 1. assert (Z : matmul (m + d - 2 * k) (transpose (rot_rest k m d P Q U V)) (rot_rest k m d P Q U V) i
    j = 0).
  { unfold matmul, transpose. transitivity (Sum (m + d - 2 * k) (fun _ => 0)); [|apply Sum_zero].
    apply Sum_ext; intros. rewrite placed_rest by easy. ring. }
  rewrite Z, Rplus_0_r. unfold mplus. f_equal.
  - apply (matmul_same r r k); [apply same_transpose, placed_plus|apply placed_plus|easy|easy].
  - apply (matmul_same r r k); [apply same_transpose, placed_minus|apply placed_minus|easy|easy].
Qed.

Lemma placed_loss : 8 * loss (/ 2) m d r M U V =
  frob2 k k (mminus (matmul r X (transpose X)) (mscal 2 (diagonal s))) + frob2 k k (matmul r Y (transpose Y))
  + 4 * fdot k r (matmul k (diagonal s) Y) Y + 2 * frob2 k k (matmul r X (transpose Y)).
Proof.
  rewrite (loss_rotated k m d r s P Q M U V Hm Hd HM).
  rewrite !(frob2_none _ _ (matmul r _ (transpose (rot_rest _ _ _ _ _ _ _)))) by (apply none_r, placed_rest).
  assert (HX := placed_plus). assert (HY := placed_minus).
  rewrite (frob2_ext k k (matmul r (rot_minus m d P Q U V) _) (matmul r Y (transpose Y))) by
    (apply matmul_same; [easy|now apply same_transpose]).
  rewrite (frob2_ext k k (matmul r (rot_plus m d P Q U V) (transpose (rot_minus _ _ _ _ _ _)))
    (matmul r X (transpose Y))) by (apply matmul_same; [easy|now apply same_transpose]).
  rewrite (fdot_ext k r _ _ (matmul k (diagonal s) Y) Y (matmul_same k r k _ _ _ _ (same_refl _ _ _) HY) HY).
  rewrite (frob2_ext k k (mminus _ _) (mminus (matmul r X (transpose X)) (mscal 2 (diagonal s)))).
  - ring.
  - intros i j Hi Hj. unfold mminus. f_equal. apply (matmul_same k k r); [easy|now apply same_transpose|easy|easy].
Qed.

Lemma placed_slope : let W := mplus (matmul k (transpose X) X) (matmul k (transpose Y) Y) in
  slope2 (/ 2) m d r M U V = frob2 k r (mminus (mscal (/ 2) (matmul r X W)) (matmul k (diagonal s) X))
  + frob2 k r (mplus (mscal (/ 2) (matmul r Y W)) (matmul k (diagonal s) Y)).
Proof.
  intros W. rewrite (slope_rotated k m d r s P Q M U V Hm Hd HM). assert (HW := placed_gram). fold W in HW.
  assert (HX := placed_plus). assert (HY := placed_minus).
  rewrite (frob2_none _ _ (mscal _ _)), Rplus_0_r.
  2:{ intros i j Hi Hj. unfold mscal. rewrite (matmul_same _ r r _ _ (fun _ _ => 0) W placed_rest HW i j Hi Hj).
      unfold matmul. rewrite (Sum_ext r _ (fun _ => 0)), Sum_zero; [ring|intros; ring]. }
  f_equal; apply frob2_ext; intros i j Hi Hj; unfold mminus, mplus, mscal; rewrite !diagonal_l by easy.
  - rewrite (matmul_same k r r _ _ X W HX HW i j Hi Hj). now rewrite HX.
  - rewrite (matmul_same k r r _ _ Y W HY HW i j Hi Hj). now rewrite HY.
Qed.

End Placed.

(** The matrix of zeros *)
Definition zero : matrix := fun _ _ => 0.

Lemma zero_l n A : matmul n zero A = zero.
Proof. matrix_ext. unfold matmul, zero. transitivity (Sum n (fun _ => 0)); [apply Sum_ext; intros;
  ring|apply Sum_zero]. Qed.

Lemma zero_r n A : matmul n A zero = zero.
Proof. matrix_ext. unfold matmul, zero. transitivity (Sum n (fun _ => 0)); [apply Sum_ext; intros;
  ring|apply Sum_zero]. Qed.

Lemma frob2_wide k r t : (k <= r)%nat -> frob2 k r (diagonal t) = Sum k (fun i => t i ^ 2).
Proof.
  intros H. apply Sum_ext; intros i Hi. rewrite (Sum_single r _ i); [unfold diagonal; now rewrite Nat.eqb_refl|lia|].
  intros j _ Hj. apply not_eq_sym, Nat.eqb_neq in Hj. unfold diagonal. rewrite Hj. ring.
Qed.

(** Factors with Y = T = 0 and X diagonal: 8f = Σ (x_i² − 2s_i)², 4‖∇f‖² = Σ x_i² (x_i² − 2s_i)². *)
Definition slice_U (m k : nat) (P : matrix) (x : vector) : matrix :=
  placed m k P (mscal (/ sqrt 2) (mplus (diagonal x) zero)).
Definition slice_V (d k : nat) (Q : matrix) (x : vector) : matrix :=
  placed d k Q (mscal (/ sqrt 2) (mminus (diagonal x) zero)).

Lemma slice_at k m d r s P Q M x : (k <= m)%nat -> (k <= d)%nat -> (k <= r)%nat -> svd k m d s P Q M ->
  8 * loss (/ 2) m d r M (slice_U m k P x) (slice_V d k Q x) = Sum k (fun i => (x i ^ 2 - 2 * s i) ^ 2) /\
  4 * slope2 (/ 2) m d r M (slice_U m k P x) (slice_V d k Q x) = Sum k (fun i => x i ^ 2 * (x i ^ 2 - 2 * s i) ^ 2).
Proof.
  intros Hm Hd Hr HM. unfold slice_U, slice_V.
  rewrite (placed_loss k m d r s P Q M (diagonal x) zero Hm Hd HM), (placed_slope k m d r s P Q M _ _ Hm Hd HM).
  change (transpose zero) with zero. rewrite !zero_l, !zero_r. split.
  - rewrite (frob2_ext k k (mminus _ _) (diagonal (fun i => x i ^ 2 - 2 * s i))).
    + rewrite frob2_wide by lia. rewrite (frob2_none k k zero (fun _ _ _ _ => eq_refl)). unfold fdot, zero.
      rewrite (Sum_ext k (fun i => Sum r _) (fun _ => 0)), Sum_zero; [ring|].
      intros. transitivity (Sum r (fun _ => 0)); [apply Sum_ext; intros; ring|apply Sum_zero].
    + intros i j Hi Hj. unfold mminus, mscal, matmul, transpose. rewrite (Sum_single r _ i); [|lia|].
      * unfold diagonal. rewrite Nat.eqb_refl, (Nat.eqb_sym j i). destruct (Nat.eqb i j) eqn:E; [|ring].
        apply Nat.eqb_eq in E. subst. ring.
      * intros l _ Hl. apply not_eq_sym, Nat.eqb_neq in Hl. unfold diagonal at 1. rewrite Hl. ring.
  - rewrite (frob2_none k r (mplus _ _)), Rplus_0_r.
    2:{ intros i j _ _. unfold mplus, mscal, zero. ring. }
    rewrite (frob2_ext k r _ (diagonal (fun i => / 2 * (x i * (x i ^ 2 - 2 * s i))))).
    + rewrite frob2_wide by easy. rewrite <- Sum_scal. apply Sum_ext; intros; field.
    + intros i j Hi Hj. unfold mminus, mscal. rewrite (diagonal_l k s) by easy.
      assert (E : matmul r (diagonal x) (mplus (matmul k (transpose (diagonal x)) (diagonal x)) zero) i j =
        x i * diagonal (fun i => x i ^ 2) i j).
      { rewrite diagonal_l by lia. f_equal. unfold mplus, zero.
      rewrite Rplus_0_r, transpose_diagonal, diagonal_l by easy.
        unfold diagonal. destruct (Nat.eqb i j); ring. }
      rewrite E. unfold diagonal. destruct (Nat.eqb i j); field.
Qed.

Lemma slice k m d r s P Q M x : (k <= m)%nat -> (k <= d)%nat -> (k <= r)%nat -> svd k m d s P Q M -> exists U V,
  8 * loss (/ 2) m d r M U V = Sum k (fun i => (x i ^ 2 - 2 * s i) ^ 2) /\
  4 * slope2 (/ 2) m d r M U V = Sum k (fun i => x i ^ 2 * (x i ^ 2 - 2 * s i) ^ 2).
Proof. intros. exists (slice_U m k P x), (slice_V d k Q x). now apply slice_at. Qed.

(** s_0 ≥ … ≥ s_{k−1} > 0, singular values in order *)
Definition descending (k : nat) (s : vector) : Prop :=
  (forall i j, (i <= j)%nat -> (j < k)%nat -> s j <= s i) /\ (forall i, (i < k)%nat -> 0 < s i).

Lemma root_8 f : sqrt (8 * f) = 2 * sqrt (2 * f).
Proof.
  replace (8 * f) with (2 ^ 2 * (2 * f)) by ring. rewrite sqrt_mult_alt by (apply pow2_ge_0).
  now rewrite sqrt_pow2 by lra.
Qed.
