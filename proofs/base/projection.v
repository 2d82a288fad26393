(** Projection on a convex set and on a product of balls, block by block; the descent of a projected step. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.squared_loss.
Open Scope R_scope.

(** the block b of x: its coordinates i with the label b, and 0 elsewhere *)
Definition block (label : nat -> nat) (b : nat) (x : vector) : vector :=
  fun i => if Nat.eqb (label i) b then x i else 0.

(** every block of x is within its radius r_b of the centre c *)
Definition in_balls (p : nat) (label : nat -> nat) (r : nat -> R) (c x : vector) : Prop :=
  forall b, vnorm p (block label b (vminus x c)) <= r b.

(** Π: in every block the displacement δ from the centre becomes δ min{1, r/‖δ‖} *)
Definition project (p : nat) (label : nat -> nat) (r : nat -> R) (c x : vector) : vector := fun i =>
  c i + (x i - c i) * Rmin 1 (r (label i) / vnorm p (block label (label i) (vminus x c))).

Section Blocks.
Variables (p : nat) (label : nat -> nat) (r : nat -> R) (c : vector).

Lemma block_dot b x y : dot p (block label b x) (block label b y) = dot p (block label b x) y.
Proof. apply Sum_ext. intros i _. unfold block. destruct (Nat.eqb (label i) b); ring. Qed.

Lemma block_minus b x y i : block label b (vminus x y) i = vminus (block label b x) (block label b y) i.
Proof. unfold block, vminus. destruct (Nat.eqb (label i) b); ring. Qed.

Lemma dot_ext d x x' y y' : (forall i, (i < d)%nat -> x i = x' i) -> (forall i, (i < d)%nat -> y i = y' i) ->
  dot d x y = dot d x' y'.
Proof. intros H K. apply Sum_ext. intros. now rewrite H, K. Qed.

(** A scalar product is the sum of those of the blocks. *)
Lemma dot_blocks m x y : (forall i, (i < p)%nat -> (label i < m)%nat) ->
  dot p x y = Sum m (fun b => dot p (block label b x) (block label b y)).
Proof.
  intros H. unfold dot. rewrite Sum_swap. apply Sum_ext. intros i Hi.
  rewrite (Sum_single m _ (label i) (H i Hi)); unfold block.
  - now rewrite Nat.eqb_refl.
  - intros b _ Hb. destruct (Nat.eqb_spec (label i) b); [now subst|ring].
Qed.

Lemma project_block x b :
  let k := Rmin 1 (r b / vnorm p (block label b (vminus x c))) in
  (forall i, block label b (vminus (project p label r c x) c) i = k * block label b (vminus x c) i) /\
  (forall i, block label b (vminus x (project p label r c x)) i = (1 - k) * block label b (vminus x c) i).
Proof.
  intros k. split; intros i; unfold block, vminus at 1, project; destruct (Nat.eqb_spec (label i) b) as [E|]; try ring;
    rewrite E; fold k; unfold vminus; ring.
Qed.

Lemma zero_block b x : vnorm p (block label b x) = 0 -> forall i, (i < p)%nat -> label i = b -> x i = 0.
Proof.
  intros H i Hi E. assert (S : sq p (block label b x) = 0) by (rewrite <- norm_sq, H; ring).
  assert (Z := sq_zero p _ S i Hi). unfold block in Z. now rewrite E, Nat.eqb_refl in Z.
Qed.

Hypothesis Hr : forall b, 0 <= r b.

Lemma shrink N b : 0 <= N -> let k := Rmin 1 (r b / N) in
  0 <= k <= 1 /\ k * N <= r b /\ (k = 1 \/ k * N = r b \/ N = 0).
Proof.
  intros HN k. destruct HN as [HN|HN].
  - assert (0 <= r b / N) by (apply Rmult_le_pos; [easy|left; now apply Rinv_0_lt_compat]).
    assert (E : r b / N * N = r b) by (field; lra).
    split; [split; [apply Rmin_glb; lra|apply Rmin_l]|].
    unfold k, Rmin. destruct (Rle_dec 1 (r b / N)) as [G|G].
    + assert (1 * N <= r b / N * N) by (apply Rmult_le_compat_r; lra). split; [lra|now left].
    + split; [lra|]. right; now left.
  - subst N. split; [split; [|apply Rmin_l]|split; [rewrite Rmult_0_r; apply Hr|now right; right]].
    unfold k, Rdiv. rewrite Rinv_0, Rmult_0_r. apply Rmin_glb; lra.
Qed.

Lemma norm_ext x y : (forall i, (i < p)%nat -> x i = y i) -> vnorm p x = vnorm p y.
Proof. intros H. unfold vnorm. f_equal. now apply sq_ext. Qed.

Lemma project_in x : in_balls p label r c (project p label r c x).
Proof.
  intros b. destruct (project_block x b) as [E _]. set (k := Rmin 1 _) in *.
  rewrite (norm_ext _ (vscal k (block label b (vminus x c)))) by (intros; apply E).
  destruct (shrink (vnorm p (block label b (vminus x c))) b (norm_ge0 p _)) as (K1 & K2 & _). fold k in K1, K2.
  rewrite norm_scal, Rabs_pos_eq; lra.
Qed.

Lemma project_inside x : in_balls p label r c x -> forall i, (i < p)%nat -> project p label r c x i = x i.
Proof.
  intros H i Hi. unfold project. assert (B := H (label i)).
  assert (N := norm_ge0 p (block label (label i) (vminus x c))). destruct N as [N|N].
  - rewrite Rmin_left; [ring|]. apply Rmult_le_reg_r with (vnorm p (block label (label i) (vminus x c))); [easy|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
  - assert (Z := zero_block (label i) (vminus x c) (eq_sym N) i Hi eq_refl). unfold vminus in Z. rewrite Z. lra.
Qed.

(** In every block: ⟨x − Πx, ψ − Πx⟩ ≤ 0 *)
Lemma project_angle x psi b : in_balls p label r c psi ->
  dot p (block label b (vminus x (project p label r c x))) (block label b (vminus psi (project p label r c x))) <= 0.
Proof.
  intros H. destruct (project_block x b) as [E1 E2]. set (k := Rmin 1 _) in *.
  set (d := block label b (vminus x c)). set (e := block label b (vminus psi c)).
  rewrite (dot_ext p _ (vscal (1 - k) d) _ (vminus e (vscal k d))).
  - rewrite dot_scal_l, dot_minus_r, dot_scal_r, <- sq_dot, <- norm_sq.
    destruct (shrink (vnorm p d) b (norm_ge0 p d)) as (K1 & K2 & K3). fold d in k. fold k in K1, K2, K3.
    assert (C := Rle_trans _ _ _ (Rle_abs _) (cauchy p d e)). assert (B := H b). fold e in B.
    assert (N := norm_ge0 p d).
    assert (B2 : vnorm p d * vnorm p e <= vnorm p d * r b) by now apply Rmult_le_compat_l.
    destruct K3 as [K3|[K3|K3]]; [rewrite K3; lra| |].
    + assert (0 <= (1 - k) * (vnorm p d * r b - dot p d e)) by (apply Rmult_le_pos; lra).
      replace (k * vnorm p d ^ 2) with (r b * vnorm p d) by (rewrite <- K3; ring). lra.
    + rewrite K3 in *. assert (0 <= (1 - k) * (0 - dot p d e)) by (apply Rmult_le_pos; lra). lra.
  - intros; apply E2.
  - intros i _. unfold vminus at 2, vscal. rewrite <- E1. unfold e. unfold block, vminus.
    destruct (Nat.eqb (label i) b); ring.
Qed.

Lemma balls_convex : convex (in_balls p label r c).
Proof.
  intros x z t Hx Hz Ht b. assert (Bx := Hx b). assert (Bz := Hz b).
  rewrite (norm_ext _ (vplus (vscal (1 - t) (block label b (vminus x c))) (vscal t (block label b (vminus z c))))).
  - eapply Rle_trans; [apply norm_triangle|]. rewrite !norm_scal, !Rabs_pos_eq by lra.
    apply (Rmult_le_compat_l (1 - t)) in Bx; [|lra]. apply (Rmult_le_compat_l t) in Bz; lra.
  - intros i _. unfold block, vplus, vscal, vminus. destruct (Nat.eqb (label i) b); ring.
Qed.

(** Πx is the nearest point. *)
Lemma project_nearest m x : (forall i, (i < p)%nat -> (label i < m)%nat) ->
  nearest p (in_balls p label r c) x (project p label r c x).
Proof.
  intros Hm. split; [apply project_in|]. intros psi H. set (z := project p label r c x).
  rewrite (sq_ext p (vminus x psi) (vminus (vminus x z) (vminus psi z))) by (intros; unfold vminus; ring).
  rewrite (sq_minus p (vminus x z)).
  assert (dot p (vminus x z) (vminus psi z) <= 0).
  { rewrite (dot_blocks m _ _ Hm), <- (Sum_zero m). apply Sum_le. intros b _. now apply project_angle. }
  assert (Q := sq_ge0 p (vminus psi z)). lra.
Qed.
End Blocks.

(** The descent lemma: a gradient that is Λ-Lipschitz on a convex set *)
Lemma descent_lemma p Omega F (DF : vector -> vector) Lam x z : convex Omega -> Omega x -> Omega z ->
  (forall u, Omega u -> gradient p F u (DF u)) ->
  (forall u w, Omega u -> Omega w -> vnorm p (vminus (DF u) (DF w)) <= Lam * vnorm p (vminus u w)) ->
  F z <= F x + dot p (DF x) (vminus z x) + Lam / 2 * sq p (vminus z x).
Proof.
  intros C Hx Hz G L. set (v := vminus z x). set (at_ t := vplus x (vscal t v)).
  assert (D : forall t, 0 <= t <= 1 -> is_derive (fun s => F (at_ s)) t (dot p (DF (at_ t)) v)).
  { intros t Ht. assert (K := G (at_ t) (C x z t Hx Hz Ht) v).
    apply (is_derive_ext (fun s => F (vplus (at_ t) (vscal (s - t) v)))).
    - intros s. f_equal. apply FunctionalExtensionality.functional_extensionality. intros i.
      unfold at_, vplus, vscal. ring.
    - replace (dot p (DF (at_ t)) v) with (scal 1 (dot p (DF (at_ t)) v)) by apply Rmult_1_l.
      apply (is_derive_comp (fun s => F (vplus (at_ t) (vscal s v))) (fun s => s - t)).
      + replace (t - t) with 0 by ring. exact K.
      + auto_derive; [easy|ring]. }
  set (k t := F (at_ t) - (t * dot p (DF x) v + Lam / 2 * sq p v * t ^ 2)).
  assert (Dk : forall t, 0 <= t <= 1 -> is_derive k t (dot p (DF (at_ t)) v - (dot p (DF x) v + Lam * sq p v * t))).
  { intros t Ht. apply (is_derive_minus (fun s => F (at_ s)) (fun s => s * dot p (DF x) v + Lam / 2 * sq p v * s ^ 2));
      [now apply D|]. auto_derive; [easy|field]. }
  destruct (MVT_gen k 0 1 (fun t => dot p (DF (at_ t)) v - (dot p (DF x) v + Lam * sq p v * t))) as (t & Ht & E).
  - intros t Ht. apply Dk. rewrite Rmin_left, Rmax_right in Ht by lra. lra.
  - intros t Ht. rewrite Rmin_left, Rmax_right in Ht by lra. apply continuity_pt_filterlim.
    apply (ex_derive_continuous k t). eexists. apply Dk. lra.
  - rewrite Rmin_left, Rmax_right in Ht by lra.
    assert (B : dot p (vminus (DF (at_ t)) (DF x)) v <= Lam * sq p v * t).
    { eapply Rle_trans; [apply Rle_abs|]. eapply Rle_trans; [apply cauchy|].
      assert (B := L (at_ t) x (C x z t Hx Hz Ht) Hx).
      assert (N : vnorm p (vminus (at_ t) x) = t * vnorm p v).
      { rewrite (norm_ext p _ (vscal t v)) by (intros; unfold at_, vminus, vplus, vscal; ring).
        now rewrite norm_scal, Rabs_pos_eq by lra. }
      rewrite N in B. apply (Rmult_le_compat_r (vnorm p v)) in B; [|apply norm_ge0]. rewrite <- norm_sq. lra. }
    rewrite dot_minus_l in B. unfold k in E. replace (at_ 1) with z in E.
    + replace (at_ 0) with x in E by (symmetry; apply line_start). lra.
    + apply FunctionalExtensionality.functional_extensionality. intros i. unfold at_, v, vplus, vscal, vminus. ring.
Qed.

(** From a point of a convex set: ‖x − x'‖² ≤ η⟨g, x − x'⟩ *)
Lemma projected_downhill p Omega x x' g eta : convex Omega -> Omega x -> nearest p Omega (vminus x (vscal eta g)) x' ->
  sq p (vminus x x') <= eta * dot p g (vminus x x').
Proof.
  intros C Hx N. assert (A := nearest_angle p Omega _ _ x C N Hx).
  rewrite (dot_ext p _ (vminus (vminus x x') (vscal eta g)) _ (vminus x x')) in A
    by (intros; unfold vminus, vscal; ring). rewrite dot_minus_l, dot_scal_l, <- sq_dot in A. lra.
Qed.
