(** Chapter "The whole run, known before the first step": how training leaves its linear run, pair by pair. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.means base.paired.
Open Scope R_scope.

(** (I − 2ηG)ˢ x for a matrix G over n samples *)
Fixpoint decayed (n : nat) (G : matrix) (eta : R) (s : nat) (x : vector) : vector :=
  match s with
  | O => x
  | S s' => fun j => decayed n G eta s' x j - 2 * eta * matvec n G (decayed n G eta s' x) j
  end.

(** G₀ = J₀J₀ᵀ/n with the rows ∇f_j(φ⁽⁰⁾) of J₀, and J₀ x *)
Definition gram (n N D : nat) h g (phi0 : point) : matrix := fun j l =>
  pdot N D (slope N h g phi0 j) (slope N h g phi0 l) / INR n.
Definition tangent (N D : nat) h g (phi0 x : point) : vector := fun j => pdot N D (slope N h g phi0 j) x.

(** u⁽ˢ⁾ = −(I − 2ηG₀)ˢ y, the linear run *)
Definition linear_run (n N D : nat) h g (y : vector) (eta : R) (phi0 : point) (s : nat) : vector :=
  decayed n (gram n N D h g phi0) eta s (fun j => - y j).

(** R = f(φ) − J₀(φ − φ⁽⁰⁾), what the tangent misses, and ê = J₀(φ − φ⁽⁰⁾) − y − u⁽ˢ⁾ *)
Definition missed (N D : nat) h g (phi0 phi : point) : vector := fun j =>
  output N h phi j - tangent N D h g phi0 (pminus phi phi0) j.
Definition led (n N D : nat) h g (y : vector) (eta : R) (phi0 : point) (s : nat) : vector := fun j =>
  tangent N D h g phi0 (pminus (run n N h g y eta phi0 s) phi0) j - y j - linear_run n N D h g y eta phi0 s j.

(** The row of D = (J(φ) − J₀)P at input j *)
Definition turned (N : nat) h g (phi0 phi : point) (j : nat) : point :=
  apart N (pminus (slope N h g phi j) (slope N h g phi0 j)).

(** What the heads p and N + p contribute to R *)
Definition missed_by (N D : nat) h g (phi0 phi : point) (p j : nat) : R :=
  / sqrt (INR (N + N)) * (fst phi p * h j (snd phi p) + fst phi (N + p)%nat * h j (snd phi (N + p)%nat)) -
  (fst (slope N h g phi0 j) p * (fst phi p - fst phi0 p) +
   dot D (snd (slope N h g phi0 j) p) (vminus (snd phi p) (snd phi0 p)) +
   (fst (slope N h g phi0 j) (N + p)%nat * (fst phi (N + p)%nat - fst phi0 (N + p)%nat) +
    dot D (snd (slope N h g phi0 j) (N + p)%nat) (vminus (snd phi (N + p)%nat) (snd phi0 (N + p)%nat)))).

Section Identity.
Variables (n N D : nat) (eta : R) (h : nat -> vector -> R) (g : nat -> vector -> vector) (y : vector) (phi0 : point).
Hypotheses (Hn : (0 < n)%nat) (HN : (0 < N)%nat) (M : mirrored N phi0).
Let phi := run n N h g y eta phi0.
Let r s j := output N h (phi s) j - y j.
Let G0 := gram n N D h g phi0.
Let J0 := tangent N D h g phi0.

Lemma width_pos : 0 < sqrt (INR (N + N)).
Proof. apply sqrt_lt_R0, lt_0_INR. lia. Qed.

Lemma tangent_step s j :
  J0 (pminus (phi (S s)) phi0) j = J0 (pminus (phi s) phi0) j -
    2 * eta / INR n * Sum n (fun l => r s l * pdot N D (slope N h g phi0 j) (slope N h g (phi s) l)).
Proof.
  unfold J0, tangent. rewrite !pdot_minus_r. unfold phi at 1. cbn [run]. fold phi. rewrite pdot_minus_r, pdot_scal_r.
  assert (Q : pdot N D (slope N h g phi0 j) (loss_slope n N h g y (phi s)) =
    2 / INR n * Sum n (fun l => r s l * pdot N D (slope N h g phi0 j) (slope N h g (phi s) l))).
  { rewrite <- pdot_combination, <- pdot_scal_r. reflexivity. }
  fold (phi s). rewrite Q. unfold Rdiv. ring.
Qed.

Lemma slopes_turned j s l : pdot N D (slope N h g phi0 j) (slope N h g (phi s) l) =
  INR n * G0 j l + pdot N D (slope N h g phi0 j) (turned N h g phi0 (phi s) l).
Proof.
  unfold turned. rewrite <- pdot_apart, pdot_minus_r by exact M. unfold G0, gram. field.
  apply Rgt_not_eq, lt_0_INR, Hn.
Qed.

Lemma error_recursion s j :
  led n N D h g y eta phi0 (S s) j = led n N D h g y eta phi0 s j
    - 2 * eta * matvec n G0 (led n N D h g y eta phi0 s) j - 2 * eta * matvec n G0 (missed N D h g phi0 (phi s)) j
    - 2 * eta / INR n * Sum n (fun l => pdot N D (slope N h g phi0 j) (turned N h g phi0 (phi s) l) * r s l).
Proof.
  unfold led at 1. fold phi J0. rewrite tangent_step. unfold linear_run. cbn [decayed]. fold G0.
  set (u := decayed n G0 eta s (fun j => - y j)).
  rewrite (Sum_ext n _ (fun l => INR n * (G0 j l * r s l) +
    pdot N D (slope N h g phi0 j) (turned N h g phi0 (phi s) l) * r s l)).
  2: { intros l _. rewrite slopes_turned. ring. }
  rewrite Sum_plus, Sum_scal.
  assert (Q : Sum n (fun l => G0 j l * r s l) = matvec n G0 (led n N D h g y eta phi0 s) j +
    matvec n G0 (missed N D h g phi0 (phi s)) j + matvec n G0 u j).
  { unfold matvec. rewrite <- !Sum_plus. apply Sum_ext; intros l _. unfold r, led, missed, linear_run. fold phi G0 u. ring. }
  rewrite Q. unfold led. fold phi J0. unfold linear_run. fold G0 u. field. apply Rgt_not_eq, lt_0_INR, Hn.
Qed.

Lemma missed_pairs psi j : missed N D h g phi0 psi j = Sum N (fun p => missed_by N D h g phi0 psi p j).
Proof.
  unfold missed, output, tangent, pdot. rewrite !Sum_split, <- Sum_plus, <- Sum_plus, <- Sum_scal, <- Sum_minus.
  apply Sum_ext; intros p _. unfold missed_by, pminus, vminus. cbn [fst snd]. ring.
Qed.

Lemma missed_pair psi p j : (p < N)%nat -> let x := pminus psi phi0 in
  sqrt (INR (N + N)) / 2 * missed_by N D h g phi0 psi p j =
    (fst phi0 p + chi N x p) * ((h j (snd psi p) - h j (snd psi (N + p)%nat)) / 2)
    - fst phi0 p * dot D (g j (snd phi0 p)) (alpha N x p)
    + gamma N x p * ((h j (snd psi p) + h j (snd psi (N + p)%nat)) / 2 - h j (snd phi0 p)).
Proof.
  intros Hp x. destruct (M p Hp) as [A B]. assert (W := width_pos). unfold missed_by, slope. cbn [fst snd]. rewrite A, B.
  set (z := sqrt (INR (N + N))) in *.
  assert (Q : dot D (fun k => / z * (fst phi0 p * g j (snd phi0 p) k)) (vminus (snd psi p) (snd phi0 p)) +
    dot D (fun k => / z * (- fst phi0 p * g j (snd phi0 p) k)) (vminus (snd psi (N + p)%nat) (snd phi0 p)) =
    2 / z * (fst phi0 p * dot D (g j (snd phi0 p)) (alpha N x p))).
  { unfold dot. rewrite <- Sum_plus, <- Sum_scal, <- Sum_scal. apply Sum_ext; intros k _.
    unfold vminus, alpha, x, pminus. cbn [fst snd]. rewrite B. field. lra. }
  match goal with |- _ * (?a - (?b + ?c + (?d + ?e))) = _ =>
    replace (a - (b + c + (d + e))) with (a - b - d - (c + e)) by ring end.
  rewrite Q. unfold chi, gamma, x, pminus. cbn [fst snd]. rewrite A. field. lra.
Qed.

Lemma turned_pair psi p j : (p < N)%nat -> let x := pminus psi phi0 in
  sqrt (INR (N + N)) * gamma N (turned N h g phi0 psi j) p =
    (h j (snd psi p) + h j (snd psi (N + p)%nat)) / 2 - h j (snd phi0 p) /\
  forall k, sqrt (INR (N + N)) * alpha N (turned N h g phi0 psi j) p k =
    (fst phi0 p + chi N x p) * ((g j (snd psi p) k + g j (snd psi (N + p)%nat) k) / 2) - fst phi0 p * g j (snd phi0 p) k
    + gamma N x p * ((g j (snd psi p) k - g j (snd psi (N + p)%nat) k) / 2).
Proof.
  intros Hp x. assert (W := width_pos). unfold turned.
  destruct (apart_parts N (pminus (slope N h g psi j) (slope N h g phi0 j)) p Hp) as (-> & _ & Q & _).
  destruct (M p Hp) as [A B]. split.
  - unfold gamma, pminus, slope. cbn [fst snd]. rewrite B. field. lra.
  - intros k. rewrite Q. unfold alpha, chi, gamma, x, pminus, slope. cbn [fst snd]. rewrite A, B. field. lra.
Qed.
End Identity.

(** kr-theorem-f-identity
    Covers: the whole statement, for every head function h that has a gradient ∇h in its parameters, the page's among them; P and D in the coordinates of all heads, the two displayed parts of D in the orthonormal ones of α and γ.
    Reads: for n ≥ 1 inputs, N = m/2 ≥ 1 pairs of heads, f = m^(−1/2) Σ c_i h(θ_i), and any start at which partners have equal parameters and opposite readouts: gradient descent (its step is η times the gradient of the loss) has r⁽ˢ⁾ = u⁽ˢ⁾ + ê⁽ˢ⁾ + R⁽ˢ⁾, f = 0 at the start and ê⁽⁰⁾ = 0, ê⁽ˢ⁺¹⁾ = (I − 2ηG₀)ê⁽ˢ⁾ − 2ηG₀R⁽ˢ⁾ − (2η/n) J₀D⁽ˢ⁾ᵀr⁽ˢ⁾; R is the sum over pairs of R_p, (√m/2) R_p = (c⁰ + χ)½(h₊ − h₋) − c⁰∇h[α] + γ(½(h₊ + h₋) − h), √(m/2) D_p^γ = ½(h₊ + h₋) − h, and √(m/2) D_p^α = (c⁰ + χ)½(∇h₊ + ∇h₋) − c⁰∇h + γ½(∇h₊ − ∇h₋).
    Mistake: `- 2 * eta * matvec n G0 (R_ s) j` for `+ 2 * eta * matvec n G0 (R_ s) j`
    Mistake: `sqrt (INR (N + N)) * missed_by` for `sqrt (INR (N + N)) / 2 * missed_by`
    Mistake: without `mirrored N phi0 ->`
*)
Theorem kr_theorem_f_identity : forall n N D eta h g y phi0,
  (0 < n)%nat -> (0 < N)%nat -> mirrored N phi0 ->
  (forall j th v, (j < n)%nat -> is_derive (fun e => h j (fun k => th k + e * v k) : R) 0 (dot D (g j th) v)) ->
  let phi := run n N h g y eta phi0 in
  let r := fun s j => output N h (phi s) j - y j in
  let G0 := gram n N D h g phi0 in
  let u := linear_run n N D h g y eta phi0 in
  let e := led n N D h g y eta phi0 in
  let R_ := fun s => missed N D h g phi0 (phi s) in
  let D_ := fun s => turned N h g phi0 (phi s) in
  (forall s v, is_derive (fun t => loss n N h y (pplus (phi s) (pscal t v))) 0
    (pdot N D (loss_slope n N h g y (phi s)) v)) /\
  (forall s, phi (S s) = pminus (phi s) (pscal eta (loss_slope n N h g y (phi s)))) /\
  (forall j, output N h phi0 j = 0) /\
  (forall s j, r s j = u s j + e s j + R_ s j) /\
  (forall j, e O j = 0) /\
  (forall s j, e (S s) j + 2 * eta * matvec n G0 (R_ s) j
    + 2 * eta / INR n * Sum n (fun l => pdot N D (slope N h g phi0 j) (D_ s l) * r s l) =
    e s j - 2 * eta * matvec n G0 (e s) j) /\
  (forall s j, R_ s j = Sum N (fun p => missed_by N D h g phi0 (phi s) p j)) /\
  (forall s p j, (p < N)%nat ->
    let x := pminus (phi s) phi0 in let c0 := fst phi0 p in
    let hp := h j (snd (phi s) p) in let hm := h j (snd (phi s) (N + p)%nat) in let h0 := h j (snd phi0 p) in
    let gp := g j (snd (phi s) p) in let gm := g j (snd (phi s) (N + p)%nat) in let g0 := g j (snd phi0 p) in
    sqrt (INR (N + N)) / 2 * missed_by N D h g phi0 (phi s) p j =
      (c0 + chi N x p) * ((hp - hm) / 2) - c0 * dot D g0 (alpha N x p) + gamma N x p * ((hp + hm) / 2 - h0) /\
    sqrt (INR N) * (sqrt 2 * gamma N (D_ s j) p) = (hp + hm) / 2 - h0 /\
    forall k, sqrt (INR N) * (sqrt 2 * alpha N (D_ s j) p k) =
      (c0 + chi N x p) * ((gp k + gm k) / 2) - c0 * g0 k + gamma N x p * ((gp k - gm k) / 2)).
Proof.
  intros n N D eta h g y phi0 Hn HN M Hg phi r G0 u e R_ D_.
  assert (W : sqrt (INR N) * sqrt 2 = sqrt (INR (N + N))).
  { rewrite <- sqrt_mult by (try lra; apply pos_INR). f_equal. rewrite plus_INR. ring. }
  split; [intros; now apply loss_derive|]. split; [reflexivity|]. split; [intros; now apply output_start|].
  split; [intros s j; unfold r, u, e, R_, led, missed; fold phi; ring|].
  split.
  { intros j. unfold e, led. cbn [run]. unfold tangent, linear_run. cbn [decayed]. rewrite pdot_minus_r. ring. }
  split.
  { intros s j. unfold e. rewrite error_recursion by easy. fold phi G0 e. unfold R_, D_, r. ring. }
  split; [intros; now apply (missed_pairs N D h g phi0)|].
  intros s p j Hp x c0 hp hm h0 gp gm g0.
  destruct (turned_pair n N h g phi0 Hn HN M (phi s) p j Hp) as [A B]. split; [now apply (missed_pair n N D h g phi0)|].
  split; [rewrite <- Rmult_assoc, W; exact A|]. intros k. rewrite <- Rmult_assoc, W. apply B.
Qed.
