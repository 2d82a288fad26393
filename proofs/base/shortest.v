(** The shortest vector under finitely many linear constraints, or a certificate that there is none. *)
Require Import Reals Lra Lia Psatz.
From Shallow Require Import base.sums base.vectors.
Open Scope R_scope.

Lemma dot_ext d x y v w : (forall a, (a < d)%nat -> x a = v a) -> (forall a, (a < d)%nat -> y a = w a) ->
  dot d x y = dot d v w.
Proof. intros H K. apply Sum_ext; intros. now rewrite H, K. Qed.
