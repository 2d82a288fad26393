(** The factorisation problem of preconditioned attention: f_λ(U, V) = ½‖UVᵀ − M‖² + λ/4 ‖UᵀU − VᵀV‖². *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.frobenius.
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

(** A + eB *)
Definition shifted (A B : matrix) (e : R) : matrix := mplus A (mscal e B).

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
