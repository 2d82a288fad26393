(** Chapter "The whole run, known before the first step": how training leaves its linear run, pair by pair. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.attention base.means base.paired base.pair_taylor.
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
  { unfold matvec. rewrite <- !Sum_plus. apply Sum_ext; intros l _. unfold r, led, missed, linear_run. fold phi G0 u.
    ring. }
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
  intros Hp x. destruct (M p Hp) as [A B]. assert (W := width_pos). unfold missed_by, slope. cbn [fst snd].
    rewrite A, B.
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
    Covers: the whole statement, for every head function h that has a gradient ∇h in its parameters, the page's among them; P and D in the coordinates of all heads, the two displayed parts of D in the orthonormal ones of α and γ; gradients as derivatives along every direction.
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

(** The known path of the pairs: the steps of α, γ, β, χ to second order, with the linear run's residuals u and the
    derivatives h, g, H (a matrix) of every head at the start. *)
Section Known.
Variables (n N D : nat) (eh : R) (c0 : vector) (u : nat -> vector) (h0 : nat -> nat -> R) (g0 : nat -> nat -> vector)
  (H0 : nat -> nat -> matrix).

(** γ of pair p after s steps *)
Fixpoint known_gamma (s p : nat) : R :=
  match s with O => 0 | S s' => known_gamma s' p - eh * mean n (fun j => u s' j * h0 p j) end.

(** α of pair p *)
Fixpoint known_alpha (s p : nat) : vector := fun k =>
  match s with O => 0 | S s' => known_alpha s' p k - eh * mean n (fun j => u s' j * (c0 p * g0 p j k)) end.

(** β of pair p *)
Fixpoint known_beta (s p : nat) : vector := fun k =>
  match s with O => 0 | S s' => known_beta s' p k - eh * mean n (fun j => u s' j *
    (c0 p * matvec D (H0 p j) (known_alpha s' p) k + known_gamma s' p * g0 p j k)) end.

(** χ of pair p *)
Fixpoint known_chi (s p : nat) : R :=
  match s with O => 0 | S s' => known_chi s' p - eh * mean n (fun j => u s' j * dot D (g0 p j) (known_alpha s' p)) end.

End Known.

Section Band.
Variables (n N D : nat) (eta : R) (h : nat -> vector -> R) (g : nat -> vector -> vector) (y : vector) (phi0 : point).
Hypotheses (Hn : (0 < n)%nat) (HN : (0 < N)%nat) (M : mirrored N phi0) (Heta : 0 < eta).
Let phi := run n N h g y eta phi0.
Let r s j := output N h (phi s) j - y j.
Let G0 := gram n N D h g phi0.
Let u := linear_run n N D h g y eta phi0.
Variables (omega nu Rb ell rho E : vector).
Hypothesis Homega : forall k x, rms n (decayed n G0 eta k (fun j => 2 * eta * matvec n G0 x j)) <= omega k * rms n x.
Hypothesis Hnu : forall k x, rms n (decayed n G0 eta k (tangent N D h g phi0 x)) <= nu k * pnorm N D x.
Hypothesis HE : forall s, E s = Rb s +
  Sum s (fun k => omega (s - 1 - k)%nat * Rb k + 2 * eta * nu (s - 1 - k)%nat * ell k * rho k).

Lemma decayed_plus s x z j : decayed n G0 eta s (fun i => x i + z i) j = decayed n G0 eta s x j + decayed n G0 eta s z
  j.
Proof.
  revert j. induction s; intros j; simpl; [easy|]. rewrite IHs. unfold matvec.
  rewrite (Sum_ext n _ (fun l => G0 j l * decayed n G0 eta s x l + G0 j l * decayed n G0 eta s z l)).
  - rewrite Sum_plus. ring.
  - intros. rewrite IHs. ring.
Qed.

(** What drives ê at step k. *)
Let push k := fun j => 2 * eta * matvec n G0 (missed N D h g phi0 (phi k)) j +
  tangent N D h g phi0 (pscal (2 * eta) (pmean n (r k) (turned N h g phi0 (phi k)))) j.

Lemma led_solved s j : led n N D h g y eta phi0 s j = - Sum s (fun k => decayed n G0 eta (s - 1 - k) (push k) j).
Proof.
  revert j. induction s; intros j.
  - unfold led. cbn [run Sum]. unfold tangent, linear_run. cbn [decayed]. rewrite pdot_minus_r. ring.
  - rewrite error_recursion by easy. fold phi G0.
    cbn [Sum]. replace (S s - 1 - s)%nat with O by lia. cbn [decayed].
    rewrite (Sum_ext s _ (fun k => decayed n G0 eta (s - 1 - k) (push k) j -
      2 * eta * matvec n G0 (decayed n G0 eta (s - 1 - k) (push k)) j)).
    2: { intros k Hk. replace (S s - 1 - k)%nat with (S (s - 1 - k)) by lia. reflexivity. }
    rewrite Sum_minus, IHs. assert (Q : matvec n G0 (led n N D h g y eta phi0 s) j =
      - Sum s (fun k => matvec n G0 (decayed n G0 eta (s - 1 - k) (push k)) j)).
    { unfold matvec. rewrite Sum_swap. rewrite (Sum_ext n _ (fun l => -1 * Sum s (fun k =>
        G0 j l * decayed n G0 eta (s - 1 - k) (push k) l))).
      - rewrite Sum_scal. ring.
      - intros l _. rewrite IHs, Sum_scal. ring. }
    rewrite Q, Sum_scal. set (A := Sum s (fun k => decayed n G0 eta (s - 1 - k) (push k) j)).
    set (B := Sum s (fun k => matvec n G0 (decayed n G0 eta (s - 1 - k) (push k)) j)). unfold push, tangent.
      rewrite pdot_scal_r, pdot_pmean. unfold mean.
    rewrite (Sum_ext n (fun l => pdot N D (slope N h g phi0 j) (turned N h g phi0 (phi s) l) * _)
      (fun l => r s l * pdot N D (slope N h g phi0 j) (turned N h g phi0 (phi s) l))) by (intros; unfold r, phi; ring).
    unfold Rdiv. ring.
Qed.

Lemma distance s :
  (forall k, (k <= s)%nat -> rms n (missed N D h g phi0 (phi k)) <= Rb k /\
    rms n (fun l => pnorm N D (turned N h g phi0 (phi k) l)) <= ell k) ->
  (forall k, (k < s)%nat -> rms n (r k) <= rho k) -> (forall k, 0 <= omega k /\ 0 <= nu k) ->
  rms n (fun j => r s j - u s j) <= E s.
Proof.
  intros HR Hr Hpos. rewrite HE.
  rewrite (rms_ext n _ (fun j => missed N D h g phi0 (phi s) j - Sum s (fun k => decayed n G0 eta (s - 1 - k) (push k)
    j))).
  2: { intros j _. assert (Q := led_solved s j). unfold led in Q. fold phi u in Q. unfold missed, r. lra. }
  eapply Rle_trans; [now apply rms_minus|]. apply Rplus_le_compat; [now apply HR|].
  eapply Rle_trans; [now apply rms_Sum|]. apply Sum_le; intros k Hk. destruct (HR k) as [A B]; [lia|].
  specialize (Hr k Hk). destruct (Hpos (s - 1 - k)%nat) as [O1 O2]. unfold push.
  rewrite (rms_ext n _ (fun j => decayed n G0 eta (s - 1 - k) (fun i => 2 * eta * matvec n G0 (missed N D h g phi0
    (phi k)) i) j
    + decayed n G0 eta (s - 1 - k) (tangent N D h g phi0
      (pscal (2 * eta) (pmean n (r k) (turned N h g phi0 (phi k))))) j)) by (intros; now rewrite decayed_plus).
  eapply Rle_trans; [now apply rms_plus|]. apply Rplus_le_compat.
  - eapply Rle_trans; [apply Homega|]. now apply Rmult_le_compat_l.
  - eapply Rle_trans; [apply Hnu|]. replace (2 * eta * nu (s - 1 - k)%nat * ell k * rho k) with
      (nu (s - 1 - k)%nat * (2 * eta * (rho k * ell k))) by ring.
    apply Rmult_le_compat_l; [easy|]. unfold pnorm. rewrite pdot_scal_r, pdot_sym, pdot_scal_r.
    rewrite <- Rmult_assoc, sqrt_mult, sqrt_square by (try apply pdot_ge0; nra). apply Rmult_le_compat_l; [lra|].
    eapply Rle_trans; [now apply pmean_norm|]. apply Rmult_le_compat; (apply rms_ge0 || easy).
Qed.

End Band.

(** The same descent with a map Π after every step. *)
Fixpoint projected (n N : nat) (h : nat -> vector -> R) (g : nat -> vector -> vector) (y : vector) (eta : R)
  (project : point -> point) (phi0 : point) (s : nat) : point :=
  match s with
  | O => phi0
  | S s' => let phi := projected n N h g y eta project phi0 s' in
    project (pminus phi (pscal eta (loss_slope n N h g y phi)))
  end.

(** φ moves no readout by more than rc from φ⁽⁰⁾, and no θ_i by more than rt. *)
Definition within (N D : nat) (rc rt : R) (phi0 phi : point) : Prop :=
  forall i, (i < N + N)%nat -> Rabs (fst phi i - fst phi0 i) <= rc /\ vnorm D (vminus (snd phi i) (snd phi0 i)) <= rt.

(** kr-theorem-f
    Covers: a part: the whole recursion with all its letters, the band and the projection, from Taylor's formula at the start with remainders 𝒢 and from ω_j, ν_j ≥ 0 that bound the norms of 2ηG₀(I − 2ηG₀)ʲ and (I − 2ηG₀)ʲJ₀/√n; on the page: that a head with tanh has these remainders (its growth lemma), and that the maxima over the spectrum of G₀ are these norms.
    Reads: for n ≥ 1 inputs, N = m/2 ≥ 1 pairs, any labels, η > 0, and a start with equal θ and opposite readouts ±1 of partners: let h, ∇h and symmetric arrays ∇²h, ∇³h at the start obey |h(θ + x) − h − ∇h[x] − ½∇²h[x, x] − ⅙∇³h[x, x, x]| ≤ 𝒢(r)‖x‖³/24 and ‖∇h(θ + x) − ∇h − ∇²h[x] − ½∇³h[x, x]‖ ≤ 𝒢(r)‖x‖²/6 for ‖x‖ ≤ r, with 𝒢 ≥ 0 and bounds on the norms of ∇²h, ∇³h. Let the known path, A, B, Q, C, t, o, v, w, b, R̄, ℓ, ŵ, E, ρ and the allowances D be computed as in the chapter, with its factors 3 from the cubic form and from ‖β ± α‖³, from D = 0. Then at every step ‖r − u‖_n ≤ E_s, |L^(1/2) − μ_s| ≤ E_s, and ‖α‖ ≤ ᾱ, ‖β‖ ≤ β̄, |γ| ≤ γ̄, |χ| ≤ χ̄ for every pair; and as long as γ̄ + χ̄ ≤ r_c and ᾱ + β̄ ≤ r_θ for all pairs, descent with any projection that leaves points alone whose readouts moved by at most r_c and whose θ_i moved by at most r_θ takes the same steps.
    Mistake: `eh * (E s * gs p)` for `eh * (E s * gs p + rho s * what s p)`
    Mistake: `b := fun s p => t s p` for `b := fun s p => Tb p * ab s p * bb s p + t s p`
    Mistake: `0 * Rb k + 2 * eta` for `omega (s - 1 - k)%nat * Rb k + 2 * eta`
*)
Theorem kr_theorem_f : forall n N D eta h g y phi0 (H : nat -> nat -> matrix) (T : nat -> nat -> nat -> matrix)
  (G : nat -> nat -> R -> R) (Hn Tn : matrix) (gs omega nu E : vector) (Da Db Dg Dc : matrix),
  (0 < n)%nat -> (0 < N)%nat -> 0 < eta ->
  mirrored N phi0 -> (forall p, (p < N)%nat -> Rabs (fst phi0 p) = 1) ->
  let c0 := fst phi0 in let th := snd phi0 in
  let h0 := fun p j => h j (th p) in let g0 := fun p j => g j (th p) in
  (forall p j, (p < N)%nat -> symmetric2 (H p j) /\ symmetric3 (T p j) /\ 0 <= Tn p j /\
    (forall x, vnorm D (matvec D (H p j) x) <= Hn p j * vnorm D x) /\
    (forall x y z, Rabs (form3 D (T p j) x y z) <= Tn p j * (vnorm D x * vnorm D y * vnorm D z)) /\
    forall r x, vnorm D x <= r -> 0 <= G p j r /\
      Rabs (h j (vplus (th p) x) -
        (h0 p j + dot D (g0 p j) x + / 2 * dot D x (matvec D (H p j) x) + / 6 * form3 D (T p j) x x x))
        <= / 24 * G p j r * vnorm D x ^ 3 /\
      vnorm D (fun k => g j (vplus (th p) x) k -
        (g0 p j k + matvec D (H p j) x k + / 2 * form2 D (T p j) x x k)) <= / 6 * G p j r * vnorm D x ^ 2) ->
  let G0 := gram n N D h g phi0 in
  (forall k, 0 <= omega k /\ 0 <= nu k /\
    (forall x, rms n (decayed n G0 eta k (fun j => 2 * eta * matvec n G0 x j)) <= omega k * rms n x) /\
    forall x, rms n (decayed n G0 eta k (tangent N D h g phi0 x)) <= nu k * pnorm N D x) ->
  (forall p, (p < N)%nat -> 0 <= gs p /\
    forall x, vnorm D (fun k => mean n (fun j => x j * g0 p j k)) <= gs p * rms n x) ->
  let phi := run n N h g y eta phi0 in
  let u := linear_run n N D h g y eta phi0 in
  let mu := fun s => rms n (u s) in
  let eh := 2 * eta / sqrt (INR (N + N)) in
  let aL := known_alpha n eh c0 u g0 in let bL := known_beta n D eh c0 u h0 g0 H in
  let gL := known_gamma n eh u h0 in let cL := known_chi n D eh c0 u g0 in
  let gb := fun p => vrms n D (g0 p) in let Hb := fun p => rms n (Hn p) in let Tb := fun p => rms n (Tn p) in
  let ab := fun s p => vnorm D (aL s p) + Da s p in let bb := fun s p => vnorm D (bL s p) + Db s p in
  let gmb := fun s p => Rabs (gL s p) + Dg s p in let chb := fun s p => Rabs (cL s p) + Dc s p in
  let A1 := fun s p => rms n (fun j => dot D (g0 p j) (aL s p)) + gb p * Da s p in
  let A2L := fun s p => vrms n D (fun j => matvec D (H p j) (aL s p)) in
  let A2 := fun s p => A2L s p + Hb p * Da s p in
  let B1 := fun s p => rms n (fun j => dot D (g0 p j) (bL s p)) + gb p * Db s p in
  let B2 := fun s p => vrms n D (fun j => matvec D (H p j) (bL s p)) + Hb p * Db s p in
  let Q2 := fun s p => rms n (fun j => dot D (aL s p) (matvec D (H p j) (aL s p))) +
    Da s p * (2 * A2L s p + Hb p * Da s p) in
  let Q' := fun s p => rms n (fun j => dot D (aL s p) (matvec D (H p j) (bL s p))) + A2L s p * Db s p +
    B2 s p * Da s p in
  let C2L := fun s p => vrms n D (fun j => form2 D (T p j) (aL s p) (aL s p)) in
  let C2 := fun s p => C2L s p + Tb p * Da s p * (2 * vnorm D (aL s p) + Da s p) in
  let C3 := fun s p => rms n (fun j => form3 D (T p j) (aL s p) (aL s p) (aL s p)) + 3 * C2L s p * Da s p +
    Tb p * Da s p ^ 2 * (3 * vnorm D (aL s p) + Da s p) in
  let Gb := fun s p => rms n (fun j => G p j (ab s p + bb s p)) in
  let t := fun s p => / 6 * Gb s p * (ab s p ^ 2 + bb s p ^ 2) in
  let t' := fun s p => / 24 * Gb s p *
    (Rmax (ab s p) (bb s p) * (Rmax (ab s p) (bb s p) ^ 2 + 3 * Rmin (ab s p) (bb s p) ^ 2)) in
  let o := fun s p => Q' s p + / 6 * C3 s p + / 2 * Tb p * ab s p * bb s p ^ 2 + t' s p in
  let v := fun s p => B1 s p + / 2 * (Q2 s p + B2 s p * bb s p + C2 s p * bb s p) + / 6 * Tb p * bb s p ^ 3 + t' s p in
  let w := fun s p => B2 s p + / 2 * (C2 s p + Tb p * bb s p ^ 2) + t s p in
  let b := fun s p => Tb p * ab s p * bb s p + t s p in
  let what := fun s p => w s p + chb s p * (gb p + w s p) + gmb s p * (A2 s p + b s p) in
  let Rb := fun s => 2 / sqrt (INR (N + N)) *
    Sum N (fun p => o s p + gmb s p * v s p + chb s p * (A1 s p + o s p)) in
  let ell := fun s => sqrt (2 / INR (N + N) * Sum N (fun p => v s p ^ 2 + what s p ^ 2)) in
  let rho := fun s => mu s + E s in
  (forall s, E s = Rb s + Sum s (fun k =>
    omega (s - 1 - k)%nat * Rb k + 2 * eta * nu (s - 1 - k)%nat * ell k * rho k)) ->
  (forall p, Da O p = 0 /\ Db O p = 0 /\ Dg O p = 0 /\ Dc O p = 0) ->
  (forall s p,
    Da (S s) p = Da s p + eh * (E s * gs p + rho s * what s p) /\
    Dg (S s) p = Dg s p + eh * (E s * rms n (h0 p) + rho s * v s p) /\
    Db (S s) p = Db s p + eh * (E s * (A2 s p + gmb s p * gs p) + mu s * (Hb p * Da s p + gs p * Dg s p) +
      rho s * (chb s p * (A2 s p + b s p) + b s p + gmb s p * w s p)) /\
    Dc (S s) p = Dc s p + eh * (E s * A1 s p + mu s * gs p * Da s p + rho s * o s p)) ->
  (forall s, rms n (fun j => output N h (phi s) j - y j - u s j) <= E s /\
    Rabs (sqrt (loss n N h y (phi s)) - mu s) <= E s /\
    forall p, (p < N)%nat -> let x := pminus (phi s) phi0 in
      vnorm D (alpha N x p) <= ab s p /\ vnorm D (beta N x p) <= bb s p /\
      Rabs (gamma N x p) <= gmb s p /\ Rabs (chi N x p) <= chb s p) /\
  forall s rc rt project, (forall x, within N D rc rt phi0 x -> project x = x) ->
    (forall k p, (k <= s)%nat -> (p < N)%nat -> gmb k p + chb k p <= rc /\ ab k p + bb k p <= rt) ->
    projected n N h g y eta project phi0 s = phi s.
Proof.
  intros n N D eta h g y phi0 H T G Hn Tn gs omega nu E Da Db Dg Dc Pn PN Peta M Hc c0 th h0 g0 HT G0 Hop Hgs phi u mu
    eh
    aL bL gL cL gb Hb Tb ab bb gmb chb A1 A2L A2 B1 B2 Q2 Q' C2L C2 C3 Gb t t' o v w b what Rb ell rho HE HD0 HD.
  set (x := fun s => pminus (phi s) phi0). set (r := fun s j => output N h (phi s) j - y j).
  assert (W : 0 < sqrt (INR (N + N))) by (apply sqrt_lt_R0, lt_0_INR; lia).
  assert (Heh : 0 < eh) by (unfold eh; apply Rdiv_lt_0_compat; lra).
  set (moves := fun s => forall p, (p < N)%nat ->
    vnorm D (vminus (alpha N (x s) p) (aL s p)) <= Da s p /\ vnorm D (vminus (beta N (x s) p) (bL s p)) <= Db s p /\
    Rabs (gamma N (x s) p - gL s p) <= Dg s p /\ Rabs (chi N (x s) p - cL s p) <= Dc s p).
  (* the four letters *)
  set (hp := fun s p j => h j (snd (phi s) p)). set (hm := fun s p j => h j (snd (phi s) (N + p)%nat)).
  set (gp := fun s p j => g j (snd (phi s) p)). set (gm := fun s p j => g j (snd (phi s) (N + p)%nat)).
  set (odd := fun s p j => (hp s p j - hm s p j) / 2). set (even := fun s p j => (hp s p j + hm s p j) / 2).
  set (godd := fun s p j k => (gp s p j k - gm s p j k) / 2).
    set (geven := fun s p j k => (gp s p j k + gm s p j k) / 2).
  assert (HHb : forall p, (p < N)%nat -> forall z, vrms n D (fun j => matvec D (H p j) z) <= Hb p * vnorm D z).
  { intros p Hp z. eapply Rle_trans; [apply (vrms_le n D _ (fun j => vnorm D z * Hn p j) Pn)|].
    - intros j. destruct (HT p j Hp) as (_ & _ & _ & L & _). rewrite Rmult_comm. apply L.
    - rewrite rms_scal, Rabs_right by (easy || apply Rle_ge, norm_ge0). unfold Hb. lra. }
  assert (letters : forall s p, (p < N)%nat -> moves s ->
    rms n (fun j => odd s p j - dot D (g0 p j) (alpha N (x s) p)) <= o s p /\
    rms n (fun j => even s p j - h0 p j) <= v s p /\
    vrms n D (fun j => vminus (geven s p j) (g0 p j)) <= w s p /\
    vrms n D (fun j => vminus (godd s p j) (matvec D (H p j) (alpha N (x s) p))) <= b s p).
  { intros s p Hp Mv. destruct (Mv p Hp) as (Ma & Mb & _ & _).
    assert (Ep : snd (phi s) p = vplus (th p) (vplus (beta N (x s) p) (alpha N (x s) p))).
    { apply FunctionalExtensionality.functional_extensionality; intros k. unfold vplus, alpha, beta, x, pminus, th.
      cbn [snd].
      destruct (M p Hp) as [_ ->]. field. }
    assert (Em : snd (phi s) (N + p)%nat = vplus (th p) (vminus (beta N (x s) p) (alpha N (x s) p))).
    { apply FunctionalExtensionality.functional_extensionality; intros k.
      unfold vplus, vminus, alpha, beta, x, pminus, th.
      cbn [snd]. destruct (M p Hp) as [_ ->]. field. }
    assert (Z : forall j, symmetric2 (H p j)) by (intros; now destruct (HT p j Hp)).
    assert (Z3 : forall j, symmetric3 (T p j)) by (intros; now destruct (HT p j Hp) as (_ & ? & _)).
    assert (ZT : forall j, 0 <= Tn p j) by (intros; now destruct (HT p j Hp) as (_ & _ & ? & _)).
    assert (ZF : forall j x y z, Rabs (form3 D (T p j) x y z) <= Tn p j * (vnorm D x * vnorm D y * vnorm D z))
      by (intros j; now destruct (HT p j Hp) as (_ & _ & _ & _ & ? & _)).
    assert (ZG : forall j r z, vnorm D z <= r -> 0 <= G p j r /\ _) by (intros j; destruct (HT p j Hp) as (_ & _ & _ &
      _ & _ & L); exact L).
    assert (Nr : vnorm D (vplus (beta N (x s) p) (alpha N (x s) p)) <= ab s p + bb s p) by (now apply near_plus).
    assert (HG : forall j, 0 <= G p j (ab s p + bb s p)) by (intros j; apply (ZG j _ _ Nr)).
    unfold odd, even, godd, geven, hp, hm, gp, gm. rewrite Ep, Em. split; [|split; [|split]].
    - apply (letter_o n D h g (th p) (H p) (T p) (fun j => G p j (ab s p + bb s p)) (Tn p)); try easy; try apply HHb;
      try apply Rle_refl;
        try apply rms_ge0; intros; try apply (ZG j _ x0); easy.
    - apply (letter_v n D h g (th p) (H p) (T p) (fun j => G p j (ab s p + bb s p)) (Tn p)); try easy; try apply HHb;
      try apply Rle_refl;
        try apply rms_ge0; intros; try apply (ZG j _ x0); easy.
    - apply (letter_w n D g (th p) (H p) (T p) (fun j => G p j (ab s p + bb s p)) (Tn p)); try easy; try apply HHb;
      try apply Rle_refl;
        try apply rms_ge0; intros; try apply (ZG j _ x0); easy.
    - apply (letter_b n D g (th p) (H p) (T p) (fun j => G p j (ab s p + bb s p)) (Tn p)); try easy; try apply HHb;
      try apply Rle_refl;
        try apply rms_ge0; intros; try apply (ZG j _ x0); easy. }
  (* what a pair misses and how its slopes turn *)
  assert (known : forall s p, (p < N)%nat -> moves s ->
    vnorm D (alpha N (x s) p) <= ab s p /\ vnorm D (beta N (x s) p) <= bb s p /\
    Rabs (gamma N (x s) p) <= gmb s p /\ Rabs (chi N (x s) p) <= chb s p).
  { intros s p Hp Mv. destruct (Mv p Hp) as (Ma & Mb & Mg & Mc).
    split; [now apply (alp_le D)|]. split; [now apply (bet_le D)|]. split; [now apply gam_le|now apply ch_le]. }
  assert (bounds : forall s, moves s -> rms n (missed N D h g phi0 (phi s)) <= Rb s /\
    rms n (fun l => pnorm N D (turned N h g phi0 (phi s) l)) <= ell s).
  { intros s Mv. split.
    - rewrite (rms_ext n _ (fun j => Sum N (fun p => missed_by N D h g phi0 (phi s) p j))) by (intros; now apply
      missed_pairs).
      eapply Rle_trans; [now apply rms_Sum|]. unfold Rb. rewrite <- Sum_scal. apply Sum_le; intros p Hp.
      destruct (letters s p Hp Mv) as (Lo & Lv & Lw & Lb). destruct (Mv p Hp) as (Ma & Mb & Mg & Mc).
      rewrite (rms_ext n _ (fun j => 2 / sqrt (INR (N + N)) * ((c0 p + chi N (x s) p) * odd s p j -
        c0 p * dot D (g0 p j) (alpha N (x s) p) + gamma N (x s) p * (even s p j - h0 p j)))).
      2: { intros j _. assert (Q := missed_pair n N D h g phi0 Pn PN M (phi s) p j Hp). cbn zeta in Q. fold (x s) in Q.
        unfold odd, even, c0, hp, hm, g0, h0, th. rewrite <- Q. field. lra. }
      rewrite rms_scal, Rabs_right by (easy || (apply Rle_ge; left; apply Rdiv_lt_0_compat; lra)).
      apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; lra|].
      apply (missed_le n D (c0 p) (h0 p) (g0 p) (alpha N (x s) p) (aL s p)); try easy; try (now apply Hc).
        exact (Rle_refl _).
    - unfold ell. assert (P0 : 0 <= 2 / INR (N + N)).
      { left. apply Rdiv_lt_0_compat; [lra|]. apply lt_0_INR. lia. }
      assert (Q : forall l, (l < n)%nat -> pnorm N D (turned N h g phi0 (phi s) l) ^ 2 = 2 / INR (N + N) * Sum N (fun
        p =>
        (even s p l - h0 p l) ^ 2 + vnorm D (fun k => (c0 p + chi N (x s) p) * geven s p l k +
          gamma N (x s) p * godd s p l k - c0 p * g0 p l k) ^ 2)).
      { intros l Hl. rewrite pnorm_sq, pdot_pairs, <- Sum_scal. apply Sum_ext; intros p Hp.
        destruct (turned_pair n N h g phi0 Pn PN M (phi s) p l Hp) as [TA TB]. cbn zeta in TA, TB. fold (x s) in TB.
        destruct (apart_parts N (pminus (slope N h g (phi s) l) (slope N h g phi0 l)) p Hp) as (_ & Z1 & _ & Z2).
        fold (turned N h g phi0 (phi s) l) in Z1, Z2. rewrite Z1.
        assert (INR (N + N) = sqrt (INR (N + N)) ^ 2) as -> by (symmetry; apply pow2_sqrt, pos_INR).
        replace (dot D (beta N (turned N h g phi0 (phi s) l) p) (beta N (turned N h g phi0 (phi s) l) p)) with 0.
        2: { symmetry. unfold dot. rewrite (Sum_ext D _ (fun _ => 0)); [apply Sum_zero|]. intros. rewrite Z2. ring. }
        rewrite <- sq_dot.
        replace (even s p l - h0 p l) with (sqrt (INR (N + N)) * gamma N (turned N h g phi0 (phi s) l) p)
          by (rewrite TA; reflexivity).
        rewrite (norm_ext D _ (vscal (sqrt (INR (N + N))) (alpha N (turned N h g phi0 (phi s) l) p))).
        - rewrite norm_scal, (Rpow_mult_distr (Rabs _)), pow2_abs, norm_sq. field. lra.
        - intros k _. unfold vscal. rewrite TB. unfold geven, godd, gp, gm, c0, g0, th. ring. }
      rewrite <- (sqrt_pow2 (rms n _)) by apply rms_ge0. apply sqrt_le_1_alt. rewrite rms_sq, (mean_ext n _ _ Q),
        mean_scal.
      apply Rmult_le_compat_l; [easy|]. unfold mean. rewrite Sum_swap, <- Sum_scal. apply Sum_le; intros p Hp.
      destruct (letters s p Hp Mv) as (Lo & Lv & Lw & Lb). destruct (Mv p Hp) as (Ma & Mb & Mg & Mc).
      rewrite Sum_plus, Rmult_plus_distr_l. apply Rplus_le_compat.
      + replace (/ INR n * Sum n (fun i => (even s p i - h0 p i) ^ 2)) with (rms n (fun i => even s p i - h0 p i) ^ 2).
        * apply pow_incr. split; [apply rms_ge0|easy].
        * apply rms_sq.
      + match goal with |- / INR n * Sum n (fun i => vnorm D (@?F i) ^ 2) <= _ =>
          replace (/ INR n * Sum n (fun i => vnorm D (F i) ^ 2)) with (vrms n D F ^ 2) end.
        * apply pow_incr. split; [apply vrms_ge0|].
          apply (bracket_le n D (c0 p) (g0 p) (H p) (alpha N (x s) p) (aL s p) (gamma N (x s) p) (gL s p) (chi N (x s)
            p) (cL s p));
            try easy; try (now apply Hc); try exact (Rle_refl _); try (now apply HHb). apply rms_ge0.
        * apply rms_sq. }
  (* the induction *)
  assert (main : forall s, moves s /\ (forall k, (k <= s)%nat -> moves k /\ rms n (fun j => r k j - u k j) <= E k)).
  { induction s as [|s [_ IH]].
    - assert (M0 : moves O).
      { intros p Hp. destruct (HD0 p) as (-> & -> & -> & ->). unfold x, phi. cbn [run].
        assert (Z : forall X : vector, (forall k, X k = 0) -> vnorm D X <= 0).
        { intros X HX. rewrite (norm_ext D X (vscal 0 X)) by (intros; unfold vscal; rewrite HX; ring).
          rewrite norm_scal, Rabs_R0. lra. }
        split; [apply Z; intros; unfold vminus, alpha, pminus, aL; cbn; field|].
        split; [apply Z; intros; unfold vminus, beta, pminus, bL; cbn; field|].
        unfold gamma, chi, pminus, gL, cL. cbn [fst known_gamma known_chi].
        split; (eapply Rle_trans; [apply Req_le|apply Req_le, Rabs_R0]; f_equal; field). }
      split; [easy|]. intros k Hk. replace k with O by lia. split; [easy|].
      apply (distance n N D eta h g y phi0 Pn PN M Peta omega nu Rb ell rho E); try (intros; apply Hop); try easy.
      + intros i Hi. replace i with O by lia. now apply bounds.
      + intros; split; apply Hop.
    - destruct (IH s (le_n s)) as [Mv Er]. assert (Hr : rms n (r s) <= rho s).
      { rewrite (rms_ext n (r s) (fun j => u s j + (r s j - u s j))) by (intros; ring).
        eapply Rle_trans; [now apply rms_plus|]. unfold rho, mu. lra. }
      assert (M1 : moves (S s)).
      { intros p Hp. destruct (HD s p) as (-> & -> & -> & ->). destruct (Mv p Hp) as (Ma & Mb & Mg & Mc).
        destruct (letters s p Hp Mv) as (Lo & Lv & Lw & Lb). destruct (Hgs p Hp) as [Gs0 Gs].
        destruct (parts_step n N h g y eta phi0 (phi s) p M Hp) as (Sa & Sb & Sg & Sc). cbn zeta in Sa, Sb, Sg, Sc.
        fold (x s) in Sa, Sb, Sg, Sc. change (pminus (pminus (phi s) (pscal eta (loss_slope n N h g y (phi s)))) phi0)
          with (x (S s)) in *.
        change (forall k, alpha N (x (S s)) p k = alpha N (x s) p k - eh * mean n (fun j => r s j *
          ((c0 p + chi N (x s) p) * geven s p j k + gamma N (x s) p * godd s p j k))) in Sa.
        change (forall k, beta N (x (S s)) p k = beta N (x s) p k - eh * mean n (fun j => r s j *
          ((c0 p + chi N (x s) p) * godd s p j k + gamma N (x s) p * geven s p j k))) in Sb.
        change (gamma N (x (S s)) p = gamma N (x s) p - eh * mean n (fun j => r s j * even s p j)) in Sg.
        change (chi N (x (S s)) p = chi N (x s) p - eh * mean n (fun j => r s j * odd s p j)) in Sc.
        assert (Add : forall X Y d1 d2, vnorm D X <= d1 -> vnorm D Y <= d2 -> vnorm D (vminus X (vscal eh Y)) <= d1 +
          eh * d2).
        { intros X Y d1 d2 H1 H2. eapply Rle_trans; [apply norm_minus|]. rewrite norm_scal, Rabs_right by lra.
          assert (eh * vnorm D Y <= eh * d2) by (apply Rmult_le_compat_l; lra). lra. }
        assert (Add1 : forall X Y d1 d2, Rabs X <= d1 -> Rabs Y <= d2 -> Rabs (X - eh * Y) <= d1 + eh * d2).
        { intros X Y d1 d2 H1 H2. unfold Rminus. eapply Rle_trans; [apply Rabs_triang|].
          rewrite Rabs_Ropp, Rabs_mult, (Rabs_right eh) by lra.
          assert (eh * Rabs Y <= eh * d2) by (apply Rmult_le_compat_l; lra). lra. }
        assert (Hc1 := Hc p Hp). fold (c0 p) in Hc1.
        split; [|split; [|split]].
        - eapply Rle_trans; [|eapply (Add _ _ _ _ Ma); apply (alpha_le n D (c0 p) (g0 p) (H p) (alpha N (x s) p) (aL s
          p)
            (gamma N (x s) p) (gL s p) (chi N (x s) p) (cL s p) (Da s p) (Dg s p) (Dc s p) (gb p) (gs p) (Hb p)
            (godd s p) (geven s p) (w s p) (b s p) (r s) (u s)); try easy; try exact (Rle_refl _); try (now apply
              HHb); apply rms_ge0].
          apply Req_le, norm_ext. intros k _. unfold vminus, vscal. rewrite Sa. unfold aL. cbn [known_alpha]. fold aL.
            ring.
        - eapply Rle_trans; [|eapply (Add _ _ _ _ Mb); apply (beta_le n D (c0 p) (g0 p) (H p) (alpha N (x s) p) (aL s p)
            (gamma N (x s) p) (gL s p) (chi N (x s) p) (cL s p) (Da s p) (Dg s p) (Dc s p) (gs p) (Hb p)
            (godd s p) (geven s p) (w s p) (b s p) (r s) (u s)); try easy; try exact (Rle_refl _); try (now apply
              HHb); apply rms_ge0].
          apply Req_le, norm_ext. intros k _. unfold vminus, vscal. rewrite Sb. unfold bL. cbn [known_beta].
            fold aL bL gL. ring.
        - eapply Rle_trans; [|eapply (Add1 _ _ _ _ Mg); apply (gamma_le n (h0 p) (even s p) (v s p) (r s) (u s)); easy].
          apply Req_le. f_equal. rewrite Sg. unfold gL. cbn [known_gamma]. fold gL. ring.
        - eapply Rle_trans; [|eapply (Add1 _ _ _ _ Mc); apply (chi_le n D (g0 p) (alpha N (x s) p) (aL s p) (Da s p)
          (gb p) (gs p)
            (odd s p) (o s p) (r s) (u s)); try easy; exact (Rle_refl _)].
          apply Req_le. f_equal. rewrite Sc. unfold cL. cbn [known_chi]. fold aL cL. ring. }
      split; [easy|]. intros k Hk. destruct (Nat.eq_dec k (S s)) as [->|Ne]; [|apply IH; lia]. split; [easy|].
      apply (distance n N D eta h g y phi0 Pn PN M Peta omega nu Rb ell rho E); try (intros; apply Hop); try easy.
      + intros i Hi. apply bounds. destruct (Nat.eq_dec i (S s)) as [->|Ne]; [easy|apply IH; lia].
      + intros i Hi. destruct (IH i ltac:(lia)) as [_ Ei].
        rewrite (rms_ext n (fun j => output N h (run n N h g y eta phi0 i) j - y j) (fun j => u i j + (r i j - u i j)))
          by (intros; unfold r, phi; ring).
        eapply Rle_trans; [now apply rms_plus|]. unfold rho, mu. lra.
      + intros; split; apply Hop. }
  split.
  - intros s. destruct (main s) as [Mv Er]. destruct (Er s (le_n s)) as [_ B]. split; [exact B|].
    split; [|intros; now apply known].
    replace (sqrt (loss n N h y (phi s))) with (rms n (r s))
      by (unfold rms, mean, loss, Rdiv; f_equal; apply Rmult_comm). unfold mu. apply Rabs_le_between.
    assert (L1 : rms n (r s) <= rms n (fun j => r s j - u s j) + rms n (u s)).
    { rewrite (rms_ext n (r s) (fun j => (r s j - u s j) + u s j)) by (intros; ring). now apply rms_plus. }
    assert (L2 : rms n (u s) <= rms n (r s) + rms n (fun j => r s j - u s j)).
    { rewrite (rms_ext n (u s) (fun j => r s j - (r s j - u s j))) by (intros; ring). now apply rms_minus. }
    lra.
  - intros s rc rt project HP. induction s; intros Hk; [reflexivity|]. cbn [projected].
    rewrite IHs by (intros; apply Hk; lia).
    change (pminus (phi s) (pscal eta (loss_slope n N h g y (phi s)))) with (phi (S s)). apply HP.
    assert (K : forall p, (p < N)%nat -> Rabs (fst (phi (S s)) p - fst phi0 p) <= rc /\
      Rabs (fst (phi (S s)) (N + p)%nat - fst phi0 (N + p)%nat) <= rc /\
      vnorm D (vminus (snd (phi (S s)) p) (snd phi0 p)) <= rt /\
      vnorm D (vminus (snd (phi (S s)) (N + p)%nat) (snd phi0 (N + p)%nat)) <= rt).
    { intros p Hp. destruct (Hk (S s) p (le_n _) Hp) as [K1 K2]. destruct (main (S s)) as [Mv _].
      destruct (known (S s) p Hp Mv) as (Ka & Kb & Kg & Kc).
      assert (T1 := Rabs_triang (gamma N (x (S s)) p) (chi N (x (S s)) p)).
      assert (T2 := Rabs_triang (gamma N (x (S s)) p) (- chi N (x (S s)) p)). rewrite Rabs_Ropp in T2.
      assert (T3 := norm_triangle D (beta N (x (S s)) p) (alpha N (x (S s)) p)).
      assert (T4 := norm_minus D (alpha N (x (S s)) p) (beta N (x (S s)) p)).
      replace (fst (phi (S s)) p - fst phi0 p) with (gamma N (x (S s)) p + chi N (x (S s)) p)
        by (unfold gamma, chi, x, pminus; cbn [fst]; field).
      replace (fst (phi (S s)) (N + p)%nat - fst phi0 (N + p)%nat) with (gamma N (x (S s)) p + - chi N (x (S s)) p)
        by (unfold gamma, chi, x, pminus; cbn [fst]; field).
      rewrite (norm_ext D (vminus (snd (phi (S s)) p) (snd phi0 p)) (vplus (beta N (x (S s)) p) (alpha N (x (S s)) p)))
        by (intros; unfold vplus, vminus, alpha, beta, x, pminus; cbn [snd]; field).
      rewrite (norm_ext D (vminus (snd (phi (S s)) (N + p)%nat) (snd phi0 (N + p)%nat))
        (vminus (beta N (x (S s)) p) (alpha N (x (S s)) p)))
        by (intros; unfold vminus, alpha, beta, x, pminus; cbn [snd]; field).
      lra. }
    intros i Hi. destruct (lt_dec i N) as [L|L].
    + destruct (K i L) as (K1 & _ & K3 & _). easy.
    + destruct (K (i - N)%nat ltac:(lia)) as (_ & K2 & _ & K4). replace (N + (i - N))%nat with i in K2, K4 by lia. easy.
Qed.
