(** Chapter "Reproduction": what partners miss that move together. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.paired.
Open Scope R_scope.

(** kr-lemma-3-alike
    Covers: the whole statement, for every head function h with the gradient ∇h, as the derivative along every direction.
    Reads: let partners start with equal θ and opposite readouts and move alike: δc_{N+p} = δc_p and δθ_{N+p} = δθ_p for p < N = m/2. Then at every input f − f_lin = m^(−1/2) Σ δc_i (h(θ_i) − h(θ_i⁽⁰⁾)), with f_lin = f(φ⁽⁰⁾) + ⟨∇f(φ⁽⁰⁾), φ − φ⁽⁰⁾⟩; and along every move ⟨∇f(φ⁽⁰⁾), ·⟩ is the derivative of f.
    Mistake: `snd phi p k - snd phi0 p k) = - (snd` for `snd phi p k - snd phi0 p k) = (snd`
    Mistake: without `mirrored N phi0 ->`
*)
Theorem kr_lemma_3_alike : forall N D h g (phi0 phi : point) j, mirrored N phi0 ->
  (forall th v, is_derive (fun e => h j (fun k => th k + e * v k) : R) 0 (dot D (g j th) v)) ->
  (forall p, (p < N)%nat ->
    fst phi (N + p)%nat - fst phi0 (N + p)%nat = fst phi p - fst phi0 p /\
    forall k, (snd phi p k - snd phi0 p k) = (snd phi (N + p)%nat k - snd phi0 (N + p)%nat k)) ->
  let lin := output N h phi0 j + pdot N D (slope N h g phi0 j) (pminus phi phi0) in
  output N h phi j - lin = / sqrt (INR (N + N)) *
    Sum (N + N) (fun i => (fst phi i - fst phi0 i) * (h j (snd phi i) - h j (snd phi0 i))) /\
  forall v, is_derive (fun e => output N h (pplus phi0 (pscal e v)) j) 0 (pdot N D (slope N h g phi0 j) v).
Proof.
  intros N D h g phi0 phi j M Hg Hm lin. split; [|intros; now apply output_derive].
  unfold lin, output. rewrite pdot_pairs. set (z := / sqrt (INR (N + N))).
  rewrite !Sum_split, !Rmult_plus_distr_l, <- !Sum_scal, <- !Sum_plus, <- Sum_minus. apply Sum_ext; intros p Hp.
  destruct (slope_start N h g phi0 j p M Hp) as (G & X & _ & Bt). destruct (M p Hp) as [A B].
    destruct (Hm p Hp) as [C E].
  fold z in G. rewrite G, X.
  assert (Th : snd phi (N + p)%nat = snd phi p).
  { apply FunctionalExtensionality.functional_extensionality; intros k. specialize (E k). rewrite B in E. lra. }
  assert (Al : dot D (alpha N (slope N h g phi0 j) p) (alpha N (pminus phi phi0) p) = 0).
  { unfold dot. rewrite (Sum_ext D _ (fun _ => 0)); [apply Sum_zero|]. intros k _. 
    replace (alpha N (pminus phi phi0) p k) with 0; [ring|].
    unfold alpha, pminus. cbn [snd]. rewrite (E k). unfold Rdiv. ring. }
  assert (Be : dot D (beta N (slope N h g phi0 j) p) (beta N (pminus phi phi0) p) = 0).
  { unfold dot. rewrite (Sum_ext D _ (fun _ => 0)); [apply Sum_zero|]. intros k _. rewrite Bt. ring. }
  rewrite Al, Be, Th, A, B. unfold gamma, pminus. cbn [fst]. rewrite ?A. rewrite A in C.
  replace (fst phi (N + p)%nat) with (fst phi p - fst phi0 p - fst phi0 p) by lra. field.
Qed.
