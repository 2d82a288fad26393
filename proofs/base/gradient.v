(** Functions of a vector or a matrix along straight lines: gradients, Jacobians, what bounds on derivatives allow. *)
Require Import Reals Lra Lia FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.matrices.
Open Scope R_scope.

(** ∇f(z) = g: in every direction v the derivative of f at z is ⟨g, v⟩ *)
Definition gradient (d : nat) (f : vector -> R) (z g : vector) : Prop :=
  forall v, is_derive (fun s => f (along z v s)) 0 (dot d g v).

(** the Jacobian of F : ℝᵈ → ℝⁿ at z is J: row k is the gradient of F_k *)
Definition jacobian_is (n d : nat) (F : vector -> vector) (z : vector) (J : matrix) : Prop :=
  forall k, (k < n)%nat -> gradient d (fun z => F z k) z (J k).

(** ∇Φ(W) = G for a matrix W of k rows and n columns: the derivative of Φ at W in direction V is ⟨G, V⟩ *)
Definition matrix_gradient (k n : nat) (Phi : matrix -> R) (W G : matrix) : Prop :=
  forall V, is_derive (fun s => Phi (shifted W V s)) 0 (fdot k n G V).

Lemma gradient_along d f x v s g : gradient d f (along x v s) g ->
  is_derive (fun s => f (along x v s)) s (dot d g v).
Proof.
  intros H. apply (is_derive_ext (fun t => f (along (along x v s) v (t - s)))).
  { intros t. f_equal. apply functional_extensionality; intros i. unfold along. ring. }
  rewrite <- (Rmult_1_l (dot d g v)).
  apply (is_derive_comp (fun u => f (along (along x v s) v u)) (fun t => t - s)).
  - replace (s - s) with 0 by ring. apply H.
  - auto_derive; [easy|ring].
Qed.

Lemma jacobian_along n d F x v s J w : jacobian_is n d F (along x v s) J ->
  is_derive (fun s => dot n w (F (along x v s))) s (dot n w (matvec d J v)).
Proof.
  intros H. apply (Sum_derive n (fun s k => w k * F (along x v s) k) (fun k => w k * matvec d J v k)).
  intros k Hk. apply (is_derive_scal (fun s => F (along x v s) k) s (w k)).
  apply (gradient_along d (fun z => F z k)). now apply H.
Qed.

Lemma falls a b h h' : a <= b -> (forall s, a <= s <= b -> is_derive h s (h' s)) ->
  (forall s, a <= s <= b -> h' s <= 0) -> h b <= h a.
Proof.
  intros Hab Hd Hn. destruct (MVT_gen h a b h') as [c [Hc E]].
  - intros x Hx. rewrite Rmin_left, Rmax_right in Hx by easy. apply Hd; lra.
  - intros x Hx. rewrite Rmin_left, Rmax_right in Hx by easy.
    apply continuity_pt_filterlim, (ex_derive_continuous h). eexists. apply Hd; lra.
  - rewrite Rmin_left, Rmax_right in Hc by easy. specialize (Hn c Hc). nra.
Qed.

(** A derivative that grows at most like c s. *)
Lemma grows_quadratically h h' c tau : 0 <= tau -> (forall s, 0 <= s <= tau -> is_derive h s (h' s)) ->
  (forall s, 0 <= s <= tau -> h' s <= h' 0 + c * s) -> h tau <= h 0 + h' 0 * tau + c / 2 * tau ^ 2.
Proof.
  intros Ht Hd Hs.
  assert (K := falls 0 tau (fun s => h s - (h' 0 * s + c / 2 * s ^ 2)) (fun s => h' s - (h' 0 + c * s)) Ht).
  assert (L : h tau - (h' 0 * tau + c / 2 * tau ^ 2) <= h 0 - (h' 0 * 0 + c / 2 * 0 ^ 2)).
  { apply K; intros s Hs'; [|specialize (Hs s Hs'); lra].
    apply (is_derive_minus h (fun s => h' 0 * s + c / 2 * s ^ 2)); [now apply Hd|].
    auto_derive; [easy|field]. }
  lra.
Qed.

Lemma real_induction tau (P : R -> Prop) :
  (forall u, 0 <= u < tau -> (forall v, 0 <= v <= u -> P v) -> exists eps, 0 < eps /\ forall v, u <= v <= u + eps ->
    P v) ->
  (forall u, 0 <= u <= tau -> (forall v, 0 <= v < u -> P v) -> P u) -> forall u, 0 <= u <= tau -> P u.
Proof.
  intros Ho Hc. set (Q := fun u => 0 <= u <= tau /\ forall v, 0 <= v <= u -> P v).
  intros u0 Hu0. assert (Q0 : Q 0) by (split; [lra|]; intros v Hv; apply Hc; [lra|]; intros; lra).
  destruct (completeness Q) as [m [Hm Hl]]; [exists tau; intros u [Hu _]; lra | now exists 0|].
  assert (m0 : 0 <= m) by now apply Hm. assert (mt : m <= tau) by (apply Hl; intros u [Hu _]; lra).
  assert (B : forall v, 0 <= v < m -> P v).
  { intros v Hv. destruct (Classical_Prop.classic (P v)) as [|N]; [easy|]. exfalso.
    assert (m <= v); [|lra]. apply Hl. intros u [Hu HP]. destruct (Rle_lt_dec u v); [easy|]. exfalso. apply N, HP.
    lra. }
  assert (Pm : P m) by (apply Hc; [lra|easy]).
  assert (A : forall v, 0 <= v <= m -> P v) by (intros v Hv; destruct (Req_dec v m) as [->|]; [easy|apply B; lra]).
  destruct (Rle_lt_dec tau m); [apply A; lra|].
  destruct (Ho m ltac:(lra) A) as [eps [He HP]].
  assert (Q (Rmin tau (m + eps))).
  { assert (Rmin tau (m + eps) <= m + eps) by apply Rmin_r. assert (Rmin tau (m + eps) <= tau) by apply Rmin_l.
    assert (m <= Rmin tau (m + eps)) by (apply Rmin_glb; lra).
    split; [lra|]. intros v Hv. destruct (Rle_lt_dec v m); [apply A; lra|apply HP; lra]. }
  assert (Rmin tau (m + eps) <= m) by now apply Hm.
  assert (m < Rmin tau (m + eps)) by (apply Rmin_glb_lt; lra). lra.
Qed.

Lemma near_below h u l b : is_derive h u l -> h u < b -> exists eps, 0 < eps /\ forall v, Rabs (v - u) < eps -> h v < b.
Proof.
  intros D H. assert (C : continuous h u) by (apply (ex_derive_continuous h); now exists l).
  destruct (C (fun y => y < b) (open_lt b (h u) H)) as [eps He]. exists eps. split; [apply cond_pos|].
  intros v Hv. apply He. exact Hv.
Qed.

(** The descent lemma if curvature is bounded only where h does not exceed its start. *)
Lemma sublevel h h' h2 c tau :
  (forall s, 0 <= s <= tau -> is_derive h s (h' s)) -> (forall s, 0 <= s <= tau -> is_derive h' s (h2 s)) ->
  (forall s, 0 <= s <= tau -> h s <= h 0 -> h2 s <= c) -> h' 0 < 0 -> h' 0 + c / 2 * tau < 0 ->
  forall s, 0 <= s <= tau -> h s <= h 0 /\ h s <= h 0 + h' 0 * s + c / 2 * s ^ 2.
Proof.
  intros D1 D2 Hc H0 Ht.
  assert (Q : forall u, 0 <= u <= tau -> (forall v, 0 <= v <= u -> h v <= h 0) ->
    h u <= h 0 + h' 0 * u + c / 2 * u ^ 2).
  { intros u Hu HP. apply grows_quadratically; [lra|intros; apply D1; lra|]. intros s Hs.
    assert (K := falls 0 s (fun s => h' s - c * s) (fun s => h2 s - c) ltac:(lra)). simpl in K.
    assert (h' s - c * s <= h' 0 - c * 0); [|lra]. apply K; intros r Hr.
    - apply (is_derive_minus h' (fun s => c * s)); [apply D2; lra|auto_derive; [easy|ring]].
    - assert (h2 r <= c); [|lra]. apply Hc; [lra|apply HP; lra]. }
  assert (P : forall u, 0 <= u <= tau -> h u <= h 0).
  { apply real_induction.
    - intros u Hu HP. destruct (Req_dec u 0) as [->|Hn].
      + destruct (near_below h' 0 (h2 0) 0 (D2 0 ltac:(lra)) H0) as [eps [He Hl]].
        exists (Rmin (eps / 2) tau). split; [apply Rmin_pos; lra|]. intros v Hv.
        assert (Rmin (eps / 2) tau <= eps / 2) by apply Rmin_l. assert (Rmin (eps / 2) tau <= tau) by apply Rmin_r.
        apply (falls 0 v h h'); [lra|intros; apply D1; lra|]. intros s Hs. left. apply Hl. rewrite Rabs_right; lra.
      + assert (B := Q u ltac:(lra) HP). assert (h u < h 0).
        { assert (h' 0 + c / 2 * u < 0); [|assert (h' 0 * u + c / 2 * u ^ 2 = u * (h' 0 + c / 2 * u)) by ring; nra].
          assert (u / tau <= 1) by (apply Rle_div_l; lra). assert (0 < u / tau) by (apply Rdiv_lt_0_compat; lra).
          replace (h' 0 + c / 2 * u) with (u / tau * (h' 0 + c / 2 * tau) + (1 - u / tau) * h' 0) by (field; lra).
          nra. }
        destruct (near_below h u (h' u) (h 0) (D1 u ltac:(lra)) ltac:(easy)) as [eps [He Hl]].
        exists (eps / 2). split; [lra|]. intros v Hv. left. apply Hl. rewrite Rabs_right; lra.
    - intros u Hu HP. destruct (Rle_lt_dec (h u) (h 0)) as [|Hl]; [easy|]. exfalso.
      destruct (near_below (fun x => - h x) u (- h' u) (- h 0)) as [eps [He Hn]];
        [apply (is_derive_opp h), D1, Hu|lra|].
      destruct (Req_dec u 0) as [->|]; [lra|]. set (v := Rmax 0 (u - eps / 2)).
      assert (0 <= v) by apply Rmax_l. assert (u - eps / 2 <= v) by apply Rmax_r.
      assert (v < u) by (apply Rmax_lub_lt; lra). specialize (HP v ltac:(lra)).
      specialize (Hn v). rewrite Rabs_left in Hn by lra. lra. }
  intros s Hs. split; [now apply P|]. apply Q; [easy|]. intros; apply P; lra.
Qed.

(** f ≤ g at t if f(0) ≤ g(0) and f′ ≤ g′ on [0, t]. *)
Lemma grow f g f' g' t : 0 <= t -> (forall x, is_derive f x (f' x)) -> (forall x, is_derive g x (g' x)) ->
  (forall x, 0 <= x <= t -> f' x <= g' x) -> f 0 <= g 0 -> f t <= g t.
Proof.
  intros Ht Df Dg L B.
  assert (D : forall x, is_derive (fun x => g x - f x) x (g' x - f' x)) by (intros; apply (is_derive_minus g f); easy).
  destruct (MVT_gen (fun x => g x - f x) 0 t (fun x => g' x - f' x)) as (c & C & E).
  - intros; apply D.
  - intros x _. apply continuity_pt_filterlim. apply (ex_derive_continuous (fun x => g x - f x)). eexists; apply D.
  - rewrite Rmin_left, Rmax_right in C by easy. specialize (L c C). rewrite Rminus_0_r in E.
    assert (0 <= (g' c - f' c) * t) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma step_first f f' K : (forall x, is_derive f x (f' x)) -> (forall x, 0 <= x <= 1 -> Rabs (f' x) <= K) ->
  forall t, 0 <= t <= 1 -> Rabs (f t - f 0) <= K * t.
Proof.
  intros D B t Ht. assert (LIN : forall c x, is_derive (fun x => f 0 + c * x) x c) by (intros; auto_derive;
    [easy|ring]).
  assert (A := grow f (fun x => f 0 + K * x) f' (fun _ => K) t ltac:(lra) D (LIN K)
    ltac:(intros x Hx; specialize (B x ltac:(lra)); apply Rabs_le_between in B; lra) ltac:(lra)).
  assert (C := grow (fun x => f 0 + - K * x) f (fun _ => - K) f' t ltac:(lra) (LIN (- K)) D
    ltac:(intros x Hx; specialize (B x ltac:(lra)); apply Rabs_le_between in B; lra) ltac:(lra)).
  cbv beta in A, C. apply Rabs_le. lra.
Qed.

(** Taylor's remainder: |f(t) − f(0) − t f′(0)| ≤ ½ K t². *)
Lemma step_second f f' f'' K : (forall x, is_derive f x (f' x)) -> (forall x, is_derive f' x (f'' x)) ->
  (forall x, 0 <= x <= 1 -> Rabs (f'' x) <= K) -> forall t, 0 <= t <= 1
    -> Rabs (f t - f 0 - t * f' 0) <= / 2 * K * t ^ 2.
Proof.
  intros D D' B t Ht. assert (F := step_first f' f'' K D' B).
  assert (QUAD : forall c x, is_derive (fun x => f 0 + x * f' 0 + c * / 2 * x ^ 2) x (f' 0 + c * x))
    by (intros; auto_derive; [easy|field]).
  assert (A := grow f (fun x => f 0 + x * f' 0 + K * / 2 * x ^ 2) f' (fun x => f' 0 + K * x) t ltac:(lra) D (QUAD K)
    ltac:(intros x Hx; specialize (F x ltac:(lra)); apply Rabs_le_between in F; lra) ltac:(lra)).
  assert (C := grow (fun x => f 0 + x * f' 0 + - K * / 2 * x ^ 2) f (fun x => f' 0 + - K * x) f' t ltac:(lra) (QUAD (-
    K)) D
    ltac:(intros x Hx; specialize (F x ltac:(lra)); apply Rabs_le_between in F; lra) ltac:(lra)).
  cbv beta in A, C. apply Rabs_le. lra.
Qed.
