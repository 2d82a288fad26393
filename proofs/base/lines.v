(** How attention, the preactivation of a head and its slope move when the parameters move along a line. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.head base.matrices base.skewness.
Open Scope R_scope.

(** ⟨∇z, (u, w)⟩ = ⟨u, a⟩ + ⟨U, Mw⟩, w = Δq *)
Definition slope (T d : nat) (alpha : vector) (X : matrix) (U u w : vector) : R :=
  dot d u (attended T alpha X) + spread T d alpha X U w.

(** ∇²z[(u, w), (u′, w′)] = ⟨u, Mw′⟩ + ⟨u′, Mw⟩ + κ₃(U, w, w′) *)
Definition bend (T d : nat) (alpha : vector) (X : matrix) (U u w u' w' : vector) : R :=
  spread T d alpha X u w' + spread T d alpha X u' w + third T d alpha X U w w'.

Lemma spread_sym T d alpha X u w : spread T d alpha X u w = spread T d alpha X w u.
Proof. rewrite !spread_E. apply E_ext; intros; ring. Qed.

Lemma spread_along T d alpha X U tau u w :
  spread T d alpha X (along U u tau) w = spread T d alpha X U w + tau * spread T d alpha X u w.
Proof.
  rewrite !spread_E, <- E_scal, <- E_plus. apply E_ext; intros. change (along U u tau) with (vplus U (vscal tau u)).
  rewrite dot_plus_l, dot_scal_l. ring.
Qed.

Lemma weights_line T d X q W tau Delta :
  weights T d X q (shifted W Delta tau) =
  softmax T (fun t => dot d (X t) (matvec d W q) + tau * dot d (X t) (matvec d Delta q)).
Proof.
  unfold weights. f_equal. apply FunctionalExtensionality.functional_extensionality. intros t.
  rewrite <- dot_scal_r, <- dot_plus_r. apply Sum_ext; intros i _. f_equal. unfold matvec, vplus, vscal.
  rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext; intros; unfold shifted, mplus, mscal, matvec; ring.
Qed.

Section Line.
Variables (T d : nat) (X : matrix) (q : vector) (W Delta : matrix) (HT : (0 < T)%nat).
Let w := matvec d Delta q.
Let alpha tau := weights T d X q (shifted W Delta tau).

Lemma alpha_distribution tau : distribution T (alpha tau).
Proof. now apply softmax_distribution. Qed.

Lemma E_line (f : R -> vector) f' tau : (forall t, (t < T)%nat -> is_derive (fun tau => f tau t) tau (f' t)) ->
  is_derive (fun tau => E T (alpha tau) (f tau)) tau
    (E T (alpha tau) (fun t => dot d w (centred T (alpha tau) X t) * f tau t) + E T (alpha tau) f').
Proof.
  intros D. assert (K := E_derive T (fun t => dot d (X t) (matvec d W q)) (fun t => dot d (X t) w) f f' tau HT D).
  cbv zeta in K. unfold w in K. rewrite <- weights_line in K. fold w (alpha tau) in K.
  apply is_derive_ext with (2 := K) || (eapply is_derive_ext; [|evar_last; [exact K|]]).
  - intros s. unfold alpha. now rewrite weights_line.
  - f_equal. apply E_ext; intros t _. f_equal. rewrite dot_centred, (dot_sym d w (X t)), <- E_dot.
    f_equal. apply E_ext; intros. apply dot_sym.
Qed.

Lemma E_line_const f tau : is_derive (fun tau => E T (alpha tau) f) tau
  (E T (alpha tau) (fun t => dot d w (centred T (alpha tau) X t) * f t)).
Proof.
  evar_last; [apply (E_line (fun _ => f) (fun _ => 0)); intros; apply (is_derive_const (f t))|].
  rewrite (E_const _ _ _ (alpha_distribution tau)). ring.
Qed.

(** the attended token moves by Mw, *)
Lemma attended_line e tau : is_derive (fun tau => dot d e (attended T (alpha tau) X)) tau (spread T d (alpha tau) X e
  w).
Proof.
  apply is_derive_ext with (f := fun tau => E T (alpha tau) (fun t => dot d e (X t))); [intros; apply E_dot|].
  evar_last; [apply E_line_const|]. rewrite spread_E.
  rewrite (E_ext _ _ (fun t => _ * dot d e (X t)) (fun t => dot d e (centred T (alpha tau) X t) * dot d w (centred T
    (alpha tau) X t) +
    dot d e (attended T (alpha tau) X) * dot d w (centred T (alpha tau) X t))).
  - rewrite E_plus, E_scal, E_centred by apply alpha_distribution. ring.
  - intros t _. rewrite (dot_centred T d _ X e t). ring.
Qed.

(** and the covariance by K_w. *)
Lemma spread_line e f tau : is_derive (fun tau => spread T d (alpha tau) X e f) tau (third T d (alpha tau) X e f w).
Proof.
  apply is_derive_ext with (f := fun tau => E T (alpha tau) (fun t => dot d e (X t) * dot d f (X t)) -
    dot d e (attended T (alpha tau) X) * dot d f (attended T (alpha tau) X)).
  { intros s. match goal with |- ?a = ?b => change (@eq R a b) end. rewrite spread_E.
      set (A := dot d e (attended T (alpha s) X)). set (B := dot d f (attended T (alpha s) X)).
    rewrite (E_ext _ _ (fun t => dot d e (centred T (alpha s) X t) * dot d f (centred T (alpha s) X t))
      (fun t => dot d e (X t) * dot d f (X t) +
      (- B * dot d e (X t) + (- A * dot d f (X t) + A * B)))).
    - rewrite !E_plus, !E_scal, !E_dot, (E_const _ _ _ (alpha_distribution s)). fold A B. ring.
    - intros t _. rewrite !dot_centred. fold A B. ring. }
  evar_last.
  { apply (is_derive_minus (fun tau => E T (alpha tau) (fun t => dot d e (X t) * dot d f (X t)))
      (fun tau => dot d e (attended T (alpha tau) X) * dot d f (attended T (alpha tau) X))); [apply E_line_const|].
    apply (is_derive_mult (fun tau => dot d e (attended T (alpha tau) X)) (fun tau => dot d f (attended T (alpha tau)
      X)));
      [apply attended_line | apply attended_line | intros; apply Rmult_comm]. }
  unfold minus, plus, mult, opp. cbn. unfold third. set (A := dot d e (attended T (alpha tau) X)).
  set (B := dot d f (attended T (alpha tau) X)). rewrite !spread_E.
  set (Y := fun v t => dot d v (centred T (alpha tau) X t)).
  rewrite (E_ext _ _ (fun t => dot d w (centred T (alpha tau) X t) * (dot d e (X t) * dot d f (X t)))
    (fun t => Y e t * Y f t * Y w t + (A * (Y f t * Y w t) + (B * (Y e t * Y w t) + A * B * Y w t)))).
  - assert (YW : E T (alpha tau) (Y w) = 0) by (apply E_centred, alpha_distribution).
    rewrite !E_plus, !E_scal, YW. unfold Y. ring.
  - intros t _. unfold Y. rewrite (dot_centred T d _ X e t), (dot_centred T d _ X f t). fold A B. ring.
Qed.

Variables (U u : vector).

Lemma preactivation_line tau : is_derive (fun tau => preactivation T d X q (along U u tau) (shifted W Delta tau)) tau
  (slope T d (alpha tau) X (along U u tau) u w).
Proof.
  unfold slope. rewrite spread_along.
  apply is_derive_ext with (f := fun tau => dot d U (attended T (alpha tau) X) + tau * dot d u (attended T (alpha tau)
    X)).
  { intros s. unfold preactivation. fold (alpha s). change (along U u s) with (vplus U (vscal s u)).
    now rewrite dot_plus_l, dot_scal_l. }
  evar_last.
  { apply (is_derive_plus (fun tau => dot d U (attended T (alpha tau) X)) (fun tau => tau * dot d u (attended T (alpha
      tau) X)));
      [apply attended_line|]. apply (is_derive_mult (fun tau => tau) (fun tau => dot d u (attended T (alpha tau) X)));
      [apply is_derive_id|apply attended_line|intros; apply Rmult_comm]. }
  unfold plus, mult, one. cbn. unfold one. cbn. ring.
Qed.

(** ⟨∇z, (u′, w′)⟩ along the line. *)
Lemma slope_line u' w' tau : is_derive (fun tau => slope T d (alpha tau) X (along U u tau) u' w') tau
  (bend T d (alpha tau) X (along U u tau) u w u' w').
Proof.
  unfold slope, bend.
  apply is_derive_ext with (f := fun tau => dot d u' (attended T (alpha tau) X) +
    (spread T d (alpha tau) X U w' + tau * spread T d (alpha tau) X u w')).
  { intros s. now rewrite spread_along. }
  assert (TL : third T d (alpha tau) X (along U u tau) w w' = third T d (alpha tau) X U w' w + tau * third T d (alpha
    tau) X u w' w).
  { unfold third. rewrite <- E_scal, <- E_plus. apply E_ext; intros.
      change (along U u tau) with (vplus U (vscal tau u)).
    rewrite dot_plus_l, dot_scal_l. ring. }
  rewrite TL. evar_last.
  { apply (is_derive_plus (fun tau => dot d u' (attended T (alpha tau) X))
      (fun tau => spread T d (alpha tau) X U w' + tau * spread T d (alpha tau) X u w')); [apply attended_line|].
    apply (is_derive_plus (fun tau => spread T d (alpha tau) X U w') (fun tau => tau * spread T d (alpha tau) X u w'));
      [apply spread_line|]. apply (is_derive_mult (fun tau => tau) (fun tau => spread T d (alpha tau) X u w'));
      [apply is_derive_id|apply spread_line|intros; apply Rmult_comm]. }
  unfold plus, mult, one. cbn. unfold one. cbn. ring.
Qed.

End Line.
