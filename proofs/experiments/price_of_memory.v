(** Chapter "The price of memory": the exact gradient of a recurrent unit, forwards in time. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.recurrent.
Open Scope R_scope.

(** kr-proposition-2-forwards
    Covers: a part: 1; on the page: 2, attention with a query known beforehand.
    Reads: for every activation with a derivative, p_t and P_t (in ℝᵈ) made from 0 by p_t = σ′(z_t)(h_{t−1} + w p_{t−1}) and P_t = σ′(z_t)(X_t + w P_{t−1}) give the derivative of h_T along every direction (w′, U′): it is ⟨U′, P_T⟩ + w′ p_T. A step needs h, p, P and the token only.
    Mistake: `sigma' (z t) * (h t + p t)` for `sigma' (z t) * (h t + w * p t)`
    Mistake: `dot d U' (P T) + p T` for `dot d U' (P T) + w' * p T`
*)
Theorem kr_proposition_2_forwards : forall sigma sigma' d (w : R) (U : vector) (X : matrix) (h p z : vector) (P :
  matrix),
  (forall v, is_derive sigma v (sigma' v)) ->
  h O = 0 -> p O = 0 -> (forall k, P O k = 0) ->
  (forall t, z t = dot d U (X t) + w * h t /\ h (S t) = sigma (z t) /\ p (S t) = sigma' (z t) * (h t + w * p t) /\
    forall k, P (S t) k = sigma' (z t) * (X t k + w * P t k)) ->
  forall T, h T = state sigma w (fun t => dot d U (X t)) T /\
    forall w' U', is_derive (fun e => state sigma (w + e * w') (fun t => dot d (fun k => U k + e * U' k) (X t)) T) 0
      (dot d U' (P T) + w' * p T).
Proof.
  intros sigma sigma' d w U X h p z P Hs h0 p0 P0 St T. set (x := fun t => dot d U (X t)).
  assert (Hh : forall t, h t = state sigma w x t).
  { induction t; [easy|]. destruct (St t) as (Z & A & _). rewrite A, Z, IHt. reflexivity. }
  split; [apply Hh|]. intros w' U'.
  assert (Q := state_derive sigma sigma' Hs w w' x (fun t => dot d U' (X t)) T).
  evar_last; [eapply is_derive_ext; [|exact Q]|].
  - intros e. cbn beta. f_equal. apply FunctionalExtensionality.functional_extensionality; intros t. unfold x, dot.
    rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext; intros; ring.
  - clear Q. induction T; cbn [forwards].
    + rewrite p0. unfold dot. rewrite (Sum_ext d _ (fun _ => 0)) by (intros; rewrite P0; ring). rewrite Sum_zero. ring.
    + rewrite IHT. destruct (St T) as (Z & _ & A & B). rewrite A.
      replace (seen sigma w x T) with (z T) by (rewrite Z, Hh; reflexivity). rewrite Hh.
      replace (dot d U' (P (S T))) with (sigma' (z T) * (dot d U' (X T) + w * dot d U' (P T))); [ring|].
      unfold dot. rewrite <- Sum_scal, <- Sum_plus, <- Sum_scal. apply Sum_ext; intros. rewrite B. ring.
Qed.
