(** Coordinate vectors: delta k is 1 at k and 0 elsewhere. *)
Require Import Reals Lra Lia.
From Shallow Require Import base.sums base.vectors.
Open Scope R_scope.

(** 1 if i = j, else 0 *)
Definition delta (i j : nat) : R := if (i =? j)%nat then 1 else 0.

Lemma delta_same i : delta i i = 1.
Proof. unfold delta. now rewrite Nat.eqb_refl. Qed.

Lemma delta_other i j : j <> i -> delta i j = 0.
Proof. intros H. unfold delta. destruct (Nat.eqb_spec i j); [now subst|easy]. Qed.

Lemma Sum_delta n i f : (i < n)%nat -> Sum n (fun j => delta i j * f j) = f i.
Proof.
  intros H. rewrite (Sum_single n _ i H); [rewrite delta_same; ring|]. intros j _ N. rewrite delta_other by easy. ring.
Qed.

Lemma dot_delta d a k : (k < d)%nat -> dot d a (delta k) = a k.
Proof.
  intros H. unfold dot. rewrite (Sum_ext d _ (fun j => delta k j * a j)) by (intros; ring). now apply Sum_delta.
Qed.
