(** Projected gradient descent: what a projected step does, the way to the boundary, the edge of the step size. *)
Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Shallow Require Import base.sums base.vectors base.squared_loss base.gram base.projection base.head_gradient.
Open Scope R_scope.

(** kr-theorem-1-projection
    Covers: the whole statement.
    Reads: let the coordinates of ℝᵖ be divided into m blocks, Ω = {‖block b of x − c‖ ≤ r_b for all b} with r_b ≥ 0, φ ∈ Ω, η > 0, φ⁺ = Π(φ − ηg) with δ ↦ δ min{1, r/‖δ‖} in every block. (1) η⟨g, φ − φ⁺⟩ ≥ ‖φ − φ⁺‖², the same in every block, and ‖φ⁺_b − φ_b‖ ≤ η‖g_b‖. (2) φ⁺ = φ iff ⟨g, φ⟩ ≤ ⟨g, ψ⟩ for all ψ ∈ Ω, iff every block has g_b = 0, or r_b = 0, or ‖φ_b − c_b‖ = r_b and g_b = −μ(φ_b − c_b) with some μ > 0. (3) If g = ∇F(φ) and ∇F is Λ-Lipschitz on Ω, F(φ⁺) ≤ F(φ) − (1/η − Λ/2)‖φ⁺ − φ‖².
    Mistake: `(2 / eta - Lam / 2)` for `(/ eta - Lam / 2)`
    Mistake: `(exists mu, forall i,` for `(exists mu, 0 < mu /\ forall i,`
    Mistake: without `0 < eta ->`
*)
Theorem kr_theorem_1_projection : forall p m label (r : nat -> R) c phi g eta,
  let Omega := in_balls p label r c in let next := project p label r c (vminus phi (vscal eta g)) in
  let part b x := block label b x in
  (forall i, (i < p)%nat -> (label i < m)%nat) -> (forall b, 0 <= r b) -> 0 < eta -> Omega phi ->
  (eta * dot p g (vminus phi next) >= sq p (vminus phi next) /\
   (forall b, eta * dot p (part b g) (part b (vminus phi next)) >= sq p (part b (vminus phi next))) /\
   (forall b, vnorm p (part b (vminus next phi)) <= eta * vnorm p (part b g))) /\
  (((forall i, (i < p)%nat -> next i = phi i) <-> (forall psi, Omega psi -> dot p g phi <= dot p g psi)) /\
   ((forall i, (i < p)%nat -> next i = phi i) <->
    (forall b, (b < m)%nat -> (forall i, (i < p)%nat -> part b g i = 0) \/ r b = 0 \/
      (vnorm p (part b (vminus phi c)) = r b /\
       (exists mu, 0 < mu /\ forall i, (i < p)%nat -> part b g i = - mu * part b (vminus phi c) i))))) /\
  (forall F DF Lam, (forall u, Omega u -> gradient p F u (DF u)) ->
   (forall u w, Omega u -> Omega w -> vnorm p (vminus (DF u) (DF w)) <= Lam * vnorm p (vminus u w)) ->
   (forall i, (i < p)%nat -> g i = DF phi i) ->
   F next <= F phi - (/ eta - Lam / 2) * sq p (vminus next phi)).
Proof.
  intros p m label r c phi g eta Omega next part Hm Hr He HO.
  assert (Hin : Omega next) by now apply project_in.
  assert (B1 : forall b, eta * dot p (part b g) (part b (vminus phi next)) >= sq p (part b (vminus phi next))).
  { intros b. assert (A := project_angle p label r c Hr (vminus phi (vscal eta g)) phi b HO). fold next in A.
    rewrite (dot_ext p _ (vminus (part b (vminus phi next)) (vscal eta (part b g))) _ (part b (vminus phi next))) in A.
    - rewrite dot_minus_l, dot_scal_l, <- sq_dot in A. lra.
    - intros i _. unfold part, block, vminus, vscal. destruct (Nat.eqb (label i) b); ring.
    - easy. }
  assert (B0 : eta * dot p g (vminus phi next) >= sq p (vminus phi next)).
  { rewrite sq_dot, !(dot_blocks p label m _ _ Hm), <- Sum_scal. apply Rle_ge, Sum_le. intros b _. rewrite <- sq_dot.
    apply Rge_le, B1. }
  assert (Q1 : (forall i, (i < p)%nat -> next i = phi i) -> forall psi, Omega psi -> dot p g phi <= dot p g psi).
  { intros E psi Hpsi. assert (A := nearest_angle p Omega _ _ psi (balls_convex p label r c)
      (project_nearest p label r c Hr m (vminus phi (vscal eta g)) Hm) Hpsi). fold next in A.
    rewrite (dot_ext p _ (vscal (- eta) g) _ (vminus psi phi)) in A
      by (intros i Hi; unfold vminus, vscal; rewrite (E i Hi); ring).
    rewrite dot_scal_l, dot_minus_r in A. apply Rmult_le_reg_l with eta; lra. }
  assert (Q2 : (forall psi, Omega psi -> dot p g phi <= dot p g psi) -> forall i, (i < p)%nat -> next i = phi i).
  { intros E i Hi. specialize (E next Hin). rewrite dot_minus_r in B0. assert (S := sq_ge0 p (vminus phi next)).
    assert (S0 : sq p (vminus phi next) = 0).
    { apply Rle_antisym; [|easy]. assert (0 <= eta * (dot p g next - dot p g phi)) by (apply Rmult_le_pos; lra). lra. }
    assert (Z := sq_zero p _ S0 i Hi). unfold vminus in Z. lra. }
  split; [split; [easy|split; [easy|]]|split; [split; [split; [exact Q1|exact Q2]|]|]].
  - intros b. assert (A := B1 b). set (d := part b (vminus phi next)) in *.
    rewrite (norm_ext p (part b (vminus next phi)) (vscal (-1) d))
      by (intros; unfold d, part, block, vminus, vscal; destruct (Nat.eqb (label i) b); ring).
    rewrite norm_scal, Rabs_left by lra. rewrite <- norm_sq in A.
    assert (Cs := Rle_trans _ _ _ (Rle_abs _) (cauchy p (part b g) d)). apply (Rmult_le_compat_l eta) in Cs; [|lra].
    assert (N := norm_ge0 p d). destruct N as [N|N].
    + apply Rmult_le_reg_r with (vnorm p d); [easy|]. lra.
    + rewrite <- N. assert (0 <= eta * vnorm p (part b g)) by (apply Rmult_le_pos; [lra|apply norm_ge0]). lra.
  - split; intros E.
    + assert (Mn := Q1 E). intros b _. set (gb := part b g). set (d := part b (vminus phi c)).
      destruct (Req_dec (vnorm p gb) 0) as [Z|Z].
      { left. intros i Hi. apply (sq_zero p gb); [|easy]. rewrite <- norm_sq, Z. ring. }
      destruct (Req_dec (r b) 0) as [Zr|Zr]; [now right; left|right; right].
      assert (Np : 0 < vnorm p gb) by (assert (0 <= vnorm p gb) by apply norm_ge0; lra).
      assert (Rp : 0 < r b) by (assert (0 <= r b) by apply Hr; lra).
      set (k := r b / vnorm p gb). assert (Kp : 0 < k) by now apply Rdiv_lt_0_compat.
      assert (KN : k * vnorm p gb = r b) by (unfold k; field; lra).
      set (psi := vminus phi (vplus d (vscal k gb))).
      assert (Hpsi : Omega psi).
      { intros b'. destruct (Nat.eq_dec b' b) as [->|Nb].
        - rewrite (norm_ext p _ (vscal (- k) gb)).
          + rewrite norm_scal, Rabs_Ropp, Rabs_pos_eq by lra. lra.
          + intros i _. unfold psi, d, gb, part, block, vminus, vplus, vscal. destruct (Nat.eqb (label i) b); ring.
        - rewrite (norm_ext p _ (block label b' (vminus phi c))); [apply HO|].
          intros i _. unfold psi, d, gb, part, block, vminus, vplus, vscal.
          destruct (Nat.eqb_spec (label i) b') as [Eb|]; [|easy].
          destruct (Nat.eqb_spec (label i) b); [congruence|ring]. }
      specialize (Mn psi Hpsi).
      assert (Gd : dot p g psi = dot p g phi - (dot p gb d + k * sq p gb)).
      { assert (D1 : dot p d g = dot p gb d)
          by (unfold d, gb, part; rewrite <- (block_dot p label b (vminus phi c) g); apply dot_sym).
        assert (D2 : dot p gb g = sq p gb) by (rewrite sq_dot; unfold gb, part; symmetry; apply block_dot).
        unfold psi. now rewrite dot_minus_r, (dot_sym p g (vplus d (vscal k gb))), dot_plus_l, dot_scal_l, D1, D2. }
      assert (Bd := HO b). fold (part b (vminus phi c)) in Bd. fold d in Bd.
      assert (Sd : sq p d <= r b ^ 2) by now apply norm_le_sq.
      assert (Sz : sq p (vplus d (vscal k gb)) = 0).
      { apply Rle_antisym; [|apply sq_ge0]. rewrite sq_plus, dot_scal_r, sq_scal, (dot_sym p d).
        assert (k * (dot p gb d + k * sq p gb) <= 0).
        { replace 0 with (k * 0) by ring. apply Rmult_le_compat_l; lra. }
        assert (k ^ 2 * sq p gb = r b ^ 2) by (rewrite <- norm_sq, <- KN; ring). lra. }
      assert (Ed : forall i, (i < p)%nat -> d i = - k * gb i).
      { intros i Hi. assert (Y := sq_zero p _ Sz i Hi). unfold vplus, vscal in Y. lra. }
      split.
      * rewrite (norm_ext p d (vscal (- k) gb)) by (intros; now apply Ed).
        rewrite norm_scal, Rabs_Ropp, Rabs_pos_eq; lra.
      * exists (/ k). split; [now apply Rinv_0_lt_compat|]. intros i Hi. fold (part b (vminus phi c)).
        rewrite (Ed i Hi). field. lra.
    + apply Q2. intros psi Hpsi. enough (0 <= dot p g (vminus psi phi)) by (rewrite dot_minus_r in H; lra).
      rewrite (dot_blocks p label m _ _ Hm), <- (Sum_zero m). apply Sum_le. intros b Hb.
      assert (Bp := HO b). assert (Bs := Hpsi b). fold (part b (vminus phi c)) in Bp.
      fold (part b (vminus psi c)) in Bs.
      fold (part b g). fold (part b (vminus psi phi)). set (d := part b (vminus phi c)) in *.
      set (e := part b (vminus psi c)) in *.
      assert (Ee : forall i, part b (vminus psi phi) i = vminus e d i)
        by (intros; unfold e, d, part, block, vminus; destruct (Nat.eqb (label i) b); ring).
      rewrite (dot_ext p (part b g) (part b g) (part b (vminus psi phi)) (vminus e d)) by (intros; easy || apply Ee).
      destruct (E b Hb) as [Z|[Z|(Z & mu & Hmu & Eg)]].
      * right. unfold dot. rewrite (Sum_ext p _ (fun _ => 0)), Sum_zero; [easy|]. intros i Hi. rewrite (Z i Hi). ring.
      * rewrite Z in Bp, Bs. assert (Zd : sq p d = 0) by (apply Rle_antisym; [|apply sq_ge0]; apply norm_le_sq in Bp;
        lra).
        assert (Ze : sq p e = 0) by (apply Rle_antisym; [|apply sq_ge0]; apply norm_le_sq in Bs; lra).
        right. unfold dot. rewrite (Sum_ext p _ (fun _ => 0)), Sum_zero; [easy|]. intros i Hi. unfold vminus.
        rewrite (sq_zero p d Zd i Hi), (sq_zero p e Ze i Hi). ring.
      * rewrite (dot_ext p (part b g) (vscal (- mu) d) (vminus e d) (vminus e d)) by (intros; try easy; now apply Eg).
        change (vnorm p d = r b) in Z. rewrite dot_scal_l, dot_minus_r, <- sq_dot, <- norm_sq, Z.
        assert (Cs := Rle_trans _ _ _ (Rle_abs _) (cauchy p d e)). rewrite Z in Cs.
        assert (r b * vnorm p e <= r b * r b) by (apply Rmult_le_compat_l; [apply Hr|easy]).
        assert (0 <= mu * (r b ^ 2 - dot p d e)) by (apply Rmult_le_pos; lra). lra.
  - intros F DF Lam G Lip Eg.
    assert (Ds := descent_lemma p Omega F DF Lam phi next (balls_convex p label r c) HO Hin G Lip).
    rewrite (dot_ext p (DF phi) g _ (vminus next phi)) in Ds by (intros i Hi; easy || now rewrite Eg).
    rewrite (sq_opp p phi next), !dot_minus_r in B0. rewrite dot_minus_r in Ds.
    apply (Rge_le) in B0. apply (Rmult_le_compat_l (/ eta)) in B0; [|left; now apply Rinv_0_lt_compat].
    rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l in B0 by lra. lra.
Qed.

(** the whole space, where nothing is projected *)
Definition whole (x : vector) : Prop := True.

(** (I − (2η/n) K) r *)
Definition propagate (n : nat) (K : matrix) (eta : R) (r : vector) : vector :=
  fun j => r j - 2 * eta / INR n * matvec n K r j.

(** the k-th coordinate vector *)
Definition unit (k : nat) : vector := fun j => if Nat.eqb j k then 1 else 0.

Lemma whole_convex : convex whole.
Proof. easy. Qed.

Lemma whole_nearest p x z : nearest p whole x z -> forall i, (i < p)%nat -> z i = x i.
Proof.
  intros [_ N] i Hi. specialize (N x I). rewrite (sq_ext p (vminus x x) (fun _ => 0)) in N by (intros; unfold vminus;
    ring).
  assert (S : sq p (vminus x z) = 0).
  { apply Rle_antisym; [|apply sq_ge0]. unfold sq at 2 in N.
    rewrite (Sum_ext p _ (fun _ => 0)), Sum_zero in N by (intros; ring). easy. }
  assert (Z := sq_zero p _ S i Hi). unfold vminus in Z. lra.
Qed.

Lemma linear_gradient p f D x0 j u : gradient p (linear_model p f D x0 j) u (D j x0).
Proof.
  intros v. assert (E : forall t : R, linear_model p f D x0 j u + t * dot p (D j x0) v =
    linear_model p f D x0 j (vplus u (vscal t v))).
  { intros t. unfold linear_model. rewrite !dot_minus_r, (dot_sym p _ (vplus u _)), dot_plus_l, dot_scal_l,
      (dot_sym p u), (dot_sym p v). ring. }
  apply (is_derive_ext _ _ _ _ E). auto_derive; [easy|]. apply Rmult_1_l.
Qed.

Lemma gradient_along_linear p n f D x0 y u g j : gradient p (loss n (linear_model p f D x0) y) u g ->
  dot p (D j x0) g = 2 / INR n * matvec n (gram p D x0) (residual (linear_model p f D x0) y u) j.
Proof.
  intros G. rewrite dot_sym, (loss_gradient_dot p n (linear_model p f D x0) y u (fun k _ => D k x0) g _
    (fun k _ => linear_gradient p f D x0 k u) G). unfold Mean, matvec, Rdiv.
  rewrite (Sum_ext n _ (fun k => 2 * (gram p D x0 j k * residual (linear_model p f D x0) y u k)))
    by (intros k _; unfold gram; rewrite (dot_sym p (D k x0)); ring). rewrite Sum_scal. ring.
Qed.

Lemma residual_step p n f D x0 y eta u u' j : projected_step p whole (loss n (linear_model p f D x0) y) eta u u' ->
  residual (linear_model p f D x0) y u' j = propagate n (gram p D x0) eta (residual (linear_model p f D x0) y u) j.
Proof.
  intros (g & G & N). assert (E := whole_nearest p _ _ N). unfold propagate.
  assert (A := gradient_along_linear p n f D x0 y u g j G).
  unfold residual at 1, linear_model at 1.
  rewrite (dot_ext p (D j x0) (D j x0) (vminus u' x0) (vminus (vminus u x0) (vscal eta g)))
    by (intros i Hi; try easy; unfold vminus at 1; rewrite (E i Hi); unfold vminus, vscal; ring).
  rewrite dot_minus_r, dot_scal_r, A. unfold residual at 2, linear_model at 2. unfold Rdiv. ring.
Qed.

Lemma loss_linear p n f D x0 y u u' g : gradient p (loss n (linear_model p f D x0) y) u g ->
  loss n (linear_model p f D x0) y u' = loss n (linear_model p f D x0) y u + dot p g (vminus u' u) +
  Mean n (fun j => dot p (D j x0) (vminus u' u) ^ 2).
Proof.
  intros G. rewrite (loss_gradient_dot p n (linear_model p f D x0) y u (fun k _ => D k x0) g _
    (fun k _ => linear_gradient p f D x0 k u) G). unfold loss. rewrite <- !Mean_plus. apply Mean_ext. intros j _.
  unfold residual, linear_model. rewrite !dot_minus_r. ring.
Qed.

Lemma linear_descends p n f D x0 y lam eta Omega x x' : (0 < n)%nat -> 0 < lam -> largest_eigenvalue n (gram p D x0)
  lam ->
  0 < eta <= INR n / lam -> convex Omega -> Omega x ->
  projected_step p Omega (loss n (linear_model p f D x0) y) eta x x' ->
  loss n (linear_model p f D x0) y x' <= loss n (linear_model p f D x0) y x.
Proof.
  intros Hn Hl L He C Hx (g & G & N). assert (Np := INR_pos n Hn).
  rewrite (loss_linear p n f D x0 y x x' g G). assert (P := projected_downhill p Omega x x' g eta C Hx N).
  assert (S := largest_spread p n D x0 lam (vminus x' x) L). rewrite (sq_opp p x x'), !dot_minus_r in P.
  rewrite dot_minus_r. set (q := sq p (vminus x' x)) in *. assert (Q0 : 0 <= q) by apply sq_ge0.
  assert (M : INR n * Mean n (fun j => dot p (D j x0) (vminus x' x) ^ 2) <= lam * q).
  { unfold Mean. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra. exact S. }
  set (m := Mean n _) in *. destruct He as [He0 He1].
  assert (E : eta * lam <= INR n).
  { apply (Rmult_le_compat_r lam) in He1; [|lra]. unfold Rdiv in He1.
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r in He1; lra. }
  assert (eta * lam * q <= INR n * q) by now apply Rmult_le_compat_r.
  apply (Rmult_le_compat_l eta) in M; [|lra].
  assert (INR n * (eta * m) <= INR n * q) by lra. apply Rmult_le_reg_l in H0; [|easy].
  apply Rmult_le_reg_l with eta; [easy|]. lra.
Qed.

Lemma propagate_iter p n f D x0 y eta (phi : nat -> vector) :
  (forall s, projected_step p whole (loss n (linear_model p f D x0) y) eta (phi s) (phi (S s))) ->
  forall s j, (j < n)%nat -> residual (linear_model p f D x0) y (phi s) j =
    Nat.iter s (propagate n (gram p D x0) eta) (residual (linear_model p f D x0) y (phi O)) j.
Proof.
  intros R s. induction s; intros j Hj; [easy|]. rewrite (residual_step p n f D x0 y eta _ _ j (R s)). simpl.
  unfold propagate. rewrite (IHs j Hj). f_equal. f_equal. apply Sum_ext. intros k Hk. now rewrite (IHs k Hk).
Qed.

Lemma gram_symmetric p n D x v r : dot n v (matvec n (gram p D x) r) = dot n (matvec n (gram p D x) v) r.
Proof.
  unfold dot, matvec. rewrite (Sum_ext n _ (fun i => Sum n (fun j => v i * gram p D x i j * r j)))
    by (intros; rewrite <- Sum_scal; apply Sum_ext; intros; ring).
  rewrite Sum_swap. apply Sum_ext. intros j _. rewrite (Rmult_comm (Sum n _)), <- Sum_scal. apply Sum_ext. intros i _.
  unfold gram. rewrite (dot_sym p (D i x)). ring.
Qed.

Lemma quadratic_unit n G k : (k < n)%nat -> quadratic n G (unit k) = G k k.
Proof.
  intros H. unfold quadratic. rewrite (Sum_single n _ k H).
  - unfold unit at 1. rewrite Nat.eqb_refl. unfold matvec. rewrite (Sum_single n _ k H); unfold unit.
    + rewrite Nat.eqb_refl. ring.
    + intros j _ Hj. apply Nat.eqb_neq in Hj. rewrite Hj. ring.
  - intros j _ Hj. unfold unit. apply Nat.eqb_neq in Hj. rewrite Hj. ring.
Qed.

Lemma sq_unit n k : (k < n)%nat -> sq n (unit k) = 1.
Proof.
  intros H. unfold sq. rewrite (Sum_single n _ k H); unfold unit.
  - rewrite Nat.eqb_refl. ring.
  - intros j _ Hj. apply Nat.eqb_neq in Hj. rewrite Hj. ring.
Qed.

Lemma matvec_unit n G j k : (k < n)%nat -> matvec n G (unit k) j = G j k.
Proof.
  intros H. unfold matvec. rewrite (Sum_single n _ k H); unfold unit.
  - rewrite Nat.eqb_refl. ring.
  - intros i _ Hi. apply Nat.eqb_neq in Hi. rewrite Hi. ring.
Qed.

(** kr-theorem-1-step-size
    Covers: the whole statement, where "almost all labels" are all those outside a hyperplane.
    Reads: let K = (⟨∇f_j, ∇f_k⟩) at φ⁽⁰⁾, λ > 0 its largest eigenvalue, L the mean squared loss of the linear model. (1) Every run of gradient descent without projection has the residuals r⁽ˢ⁾ = (I − (2η/n)K)ˢ r⁽⁰⁾. For η > 0, L never grows on any run from φ⁽⁰⁾ with any labels iff η ≤ n/λ. If η > n/λ there is v ≠ 0 such that L tends to ∞ on every run from φ⁽⁰⁾ with ⟨v, r⁽⁰⁾⟩ ≠ 0. (2) If 0 < η ≤ n/λ, L does not grow at any step of projected gradient descent from a point of any convex Ω. (3) With Q = (1/n) Σ ‖∇f_j‖² = tr K/n: 1/Q ≤ n/λ ≤ n/Q; the first is an equality iff all ∇f_j are multiples of one vector, the second iff they are orthogonal and of equal length.
    Mistake: `eta <= 2 * INR n / lam)` for `eta <= INR n / lam)`
    Mistake: `INR n / lam <= / Q` for `INR n / lam <= INR n / Q`
    Mistake: without `dot n v (residual fl y x0) <> 0 ->`
*)
Theorem kr_theorem_1_step_size : forall p n f D x0 lam,
  let K := gram p D x0 in let fl := linear_model p f D x0 in let L y u := loss n fl y u in
  let Q := Mean n (fun j => K j j) in
  let run y eta (phi : nat -> vector) := forall s, projected_step p whole (loss n fl y) eta (phi s) (phi (S s)) in
  (0 < n)%nat -> 0 < lam -> largest_eigenvalue n K lam ->
  ((forall y eta phi s j, run y eta phi -> (j < n)%nat ->
     residual fl y (phi s) j = Nat.iter s (propagate n K eta) (residual fl y (phi O)) j) /\
   (forall eta, 0 < eta ->
     ((forall y phi s, phi O = x0 -> run y eta phi -> L y (phi (S s)) <= L y (phi s)) <-> eta <= INR n / lam)) /\
   (forall eta, INR n / lam < eta -> exists v, sq n v <> 0 /\ forall y phi, phi O = x0 -> run y eta phi ->
     dot n v (residual fl y x0) <> 0 -> forall bound, exists s0, forall s, (s0 <= s)%nat -> bound < L y (phi s))) /\
  (forall Omega y eta x x', 0 < eta <= INR n / lam -> convex Omega -> Omega x ->
   projected_step p Omega (loss n fl y) eta x x' -> L y x' <= L y x) /\
  (/ Q <= INR n / lam /\ INR n / lam <= INR n / Q /\
   (/ Q = INR n / lam <-> exists u a, forall j i, (j < n)%nat -> (i < p)%nat -> D j x0 i = a j * u i) /\
   (INR n / lam = INR n / Q <->
    forall j k, (j < n)%nat -> (k < n)%nat -> K j j = K k k /\ (j <> k -> K j k = 0))).
Proof.
  intros p n f D x0 lam K fl L Q run Hn Hl HL. assert (N := INR_pos n Hn).
  assert (HL' := HL). destruct HL' as [(v & Hv & Ev) HR].
  assert (Vp : 0 < sq n v) by (assert (0 <= sq n v) by apply sq_ge0; lra).
  split; [split; [|split]|split].
  - intros y eta phi s j R Hj. now apply propagate_iter.
  - intros eta He. split.
    + intros H. destruct (Rle_or_lt eta (INR n / lam)) as [|G]; [easy|exfalso].
      set (y := fun j => f j x0 - v j).
      set (grad := fun u i => Mean n (fun j => 2 * residual fl y u j * D j x0 i)).
      set (phi := fun s => Nat.iter s (fun u => vminus u (vscal eta (grad u))) x0).
      assert (R : run y eta phi).
      { intros s. exists (grad (phi s)). split.
        - apply (loss_gradient p n fl y (phi s) (fun j _ => D j x0)). intros. apply linear_gradient.
        - split; [easy|]. intros psi _. change (phi (S s)) with (vminus (phi s) (vscal eta (grad (phi s)))).
          rewrite (sq_ext p _ (fun _ => 0)) by (intros; unfold vminus; ring). unfold sq at 1.
          rewrite (Sum_ext p _ (fun _ => 0)), Sum_zero by (intros; ring). apply sq_ge0. }
      specialize (H y phi O eq_refl R).
      assert (R0 : forall j, residual fl y x0 j = v j).
      { intros j. unfold residual, fl, linear_model, y. rewrite dot_minus_r. ring. }
      assert (R1 : forall j, (j < n)%nat -> residual fl y (phi 1%nat) j = (1 - 2 * eta * lam / INR n) * v j).
      { intros j Hj. assert (RS := residual_step p n f D x0 y eta _ _ j (R O)). fold fl K in RS. rewrite RS.
        unfold propagate. change (phi O) with x0. rewrite R0.
        replace (matvec n K (residual fl y x0) j) with (lam * v j); [field; lra|].
        rewrite <- (Ev j Hj). apply Sum_ext. intros k _. now rewrite R0. }
      unfold L, loss in H. change (phi O) with x0 in H.
      rewrite (Mean_ext n (fun j => residual fl y x0 j ^ 2) (fun j => v j ^ 2)) in H by (intros; now rewrite R0).
      rewrite (Mean_ext n _ (fun j => (1 - 2 * eta * lam / INR n) ^ 2 * v j ^ 2)), Mean_scal in H
        by (intros j Hj; rewrite (R1 j Hj); ring).
      assert (M0 : 0 < Mean n (fun j => v j ^ 2)).
      { apply Rmult_lt_0_compat; [now apply Rinv_0_lt_compat|exact Vp]. }
      assert (T : 1 < 2 * eta * lam / INR n - 1).
      { apply Rmult_lt_reg_r with (INR n); [easy|]. replace ((2 * eta * lam / INR n - 1) * INR n) with (2 * (eta * lam)
        - INR n)
          by (field; lra). apply (Rmult_lt_compat_r lam) in G; [|easy]. unfold Rdiv in G.
        rewrite Rmult_assoc, Rinv_l, Rmult_1_r in G by lra. lra. }
      set (t := 2 * eta * lam / INR n - 1) in *. replace (1 - 2 * eta * lam / INR n) with (- t) in H by (unfold t;
        ring).
      assert (1 < t ^ 2) by (assert (0 < (t - 1) * (t + 1)) by (apply Rmult_lt_0_compat; lra); lra).
      assert (1 * Mean n (fun j => v j ^ 2) < t ^ 2 * Mean n (fun j => v j ^ 2)) by (apply Rmult_lt_compat_r; lra).
      lra.
    + intros H y phi s _ R. apply (linear_descends p n f D x0 y lam eta whole); try easy.
  - intros eta He. exists v. split; [easy|]. intros y phi P0 R Hc bound.
    set (c := fun s => dot n v (residual fl y (phi s))). set (t := 1 - 2 * eta * lam / INR n).
    assert (St : forall s, c (S s) = t * c s).
    { intros s. unfold c. rewrite (dot_ext n v v _ (vminus (residual fl y (phi s)) (vscal (2 * eta / INR n) (matvec n K
        (residual fl y (phi s)))))) by (intros j Hj; try easy; apply (residual_step p n f D x0 y eta _ _ j (R s))).
      rewrite dot_minus_r, dot_scal_r. unfold K. rewrite gram_symmetric. fold K.
      rewrite (dot_ext n (matvec n K v) (vscal lam v) _ (residual fl y (phi s))) by (intros j Hj; easy || now apply Ev).
      rewrite dot_scal_l. unfold t. field. lra. }
    assert (Cs : forall s, c s ^ 2 = (t ^ 2) ^ s * c O ^ 2) 
      by (induction s; [simpl; ring|rewrite St, Rpow_mult_distr, IHs;
        change ((t ^ 2) ^ S s) with (t ^ 2 * (t ^ 2) ^ s); ring]).
    assert (C0 : 0 < c O ^ 2) by (unfold c; rewrite P0; rewrite <- Rsqr_pow2; now apply Rsqr_pos_lt).
    assert (T : 1 < Rabs (t ^ 2)).
    { rewrite Rabs_pos_eq by apply pow2_ge_0. apply (Rmult_lt_compat_r lam) in He; [|easy]. unfold Rdiv in He.
      rewrite Rmult_assoc, Rinv_l, Rmult_1_r in He by lra.
      assert (Z : 1 < - t). { unfold t. apply Rmult_lt_reg_r with (INR n); [easy|].
        replace (- (1 - 2 * eta * lam / INR n) * INR n) with (2 * (eta * lam) - INR n) by (field; lra). lra. }
      assert (0 < (- t - 1) * (- t + 1)) by (apply Rmult_lt_0_compat; lra). lra. }
    destruct (Pow_x_infinity (t ^ 2) T ((Rabs bound + 1) * (INR n * sq n v) / c O ^ 2)) as (s0 & Hs0). exists s0.
    intros s Hs.
    specialize (Hs0 s Hs). rewrite Rabs_pos_eq in Hs0 by (apply pow_le, pow2_ge_0).
    assert (B := cauchy_sq n v (residual fl y (phi s))). fold (c s) in B. rewrite Cs in B.
    assert (Ls : sq n (residual fl y (phi s)) = INR n * L y (phi s)) by (unfold L, loss, Mean, sq; field; lra).
    rewrite Ls in B. apply Rge_le, (Rmult_le_compat_r (c O ^ 2)) in Hs0; [|lra].
    replace ((Rabs bound + 1) * (INR n * sq n v) / c O ^ 2 * c O ^ 2) with ((INR n * sq n v) * (Rabs bound + 1)) in Hs0
      by (field; unfold c; now rewrite P0).
    assert (X : (INR n * sq n v) * (Rabs bound + 1) <= (INR n * sq n v) * L y (phi s)) by lra.
    apply Rmult_le_reg_l in X; [|now apply Rmult_lt_0_compat]. assert (A := Rle_abs bound). lra.
  - intros Omega y eta x x' He C Hx P. now apply (linear_descends p n f D x0 y lam eta Omega).
  - assert (T := trace_gap p n D x0 lam HL). fold K in T. assert (TQ : Sum n (fun j => K j j) = INR n * Q)
      by (unfold Q, Mean; field; lra). rewrite TQ in T.
    assert (D1 : forall k, (k < n)%nat -> K k k <= lam).
    { intros k Hk. rewrite <- (quadratic_unit n K k Hk). eapply Rle_trans; [apply HR|]. rewrite (sq_unit n k Hk). lra. }
    assert (Q1 : Q <= lam) by (rewrite <- (Mean_const n lam Hn); now apply Mean_le).
    assert (Qp : 0 < Q) by (apply Rmult_lt_reg_l with (INR n); lra).
    split; [|split; [|split]].
    + apply Rmult_le_reg_l with (Q * lam); [now apply Rmult_lt_0_compat|].
      replace (Q * lam * / Q) with lam by (field; lra). replace (Q * lam * (INR n / lam)) with (INR n * Q) by (field;
        lra). lra.
    + apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
    + rewrite <- (proj2 T). split; intros E.
      * apply (f_equal (Rmult (Q * lam))) in E. replace (Q * lam * / Q) with lam in E by (field; lra).
        replace (Q * lam * (INR n / lam)) with (INR n * Q) in E by (field; lra). lra.
      * rewrite E. field. lra.
    + split.
      * intros E. assert (LQ : lam = Q).
        { apply (f_equal (fun z => Q * lam * z / INR n)) in E.
          replace (Q * lam * (INR n / lam) / INR n) with Q in E by (field; lra).
          replace (Q * lam * (INR n / Q) / INR n) with lam in E by (field; lra). lra. }
        assert (D2 : forall k, (k < n)%nat -> K k k = lam).
        { intros k Hk. apply Rle_antisym; [now apply D1|].
          assert (S := Sum_term n (fun j => lam - K j j) k Hk (fun j Hj => ltac:(assert (X := D1 j Hj); lra))).
          cbv beta in S.
          rewrite Sum_minus, Sum_const, TQ in S. rewrite LQ in S at 1. rewrite <- LQ in S. lra. }
        intros j k Hj Hk. split; [now rewrite !D2|]. intros Hjk.
        assert (Y := top_vector p n D x0 lam (unit k) HL). fold K in Y.
        rewrite (quadratic_unit n K k Hk), (sq_unit n k Hk), (D2 k Hk) in Y. specialize (Y ltac:(ring) j Hj).
        rewrite (matvec_unit n K j k Hk) in Y. rewrite Y. unfold unit. apply Nat.eqb_neq in Hjk. rewrite Hjk. ring.
      * intros E. enough (lam = Q) by now subst lam.
        assert (X : forall j, (j < n)%nat -> K j j * v j = lam * v j).
        { intros j Hj. rewrite <- (Ev j Hj). unfold matvec. rewrite (Sum_single n _ j Hj); [easy|].
          intros k Hk Hkj. destruct (E j k Hj Hk) as [_ E2]. rewrite E2 by congruence. ring. }
        assert (Z : Q = K O O).
        { unfold Q. rewrite (Mean_ext n _ (fun _ => K O O)) by (intros j Hj; apply (E j O Hj Hn)).
          now apply Mean_const. }
        apply Rmult_eq_reg_r with (sq n v); [|easy]. unfold sq. rewrite <- !Sum_scal. apply Sum_ext. intros j Hj.
        rewrite Z, (proj1 (E O j Hn Hj)). simpl pow. rewrite <- !Rmult_assoc. now rewrite X.
Qed.

(** a head's parameters as one vector: the readout c, then U, then W row by row; the labels of the three blocks are 0,
  1, 2 *)
Definition kind (d k : nat) : nat := if Nat.eqb k 0 then 0%nat else if Nat.leb k d then 1%nat else 2%nat.
Definition readout (x : vector) : R := x O.
Definition feed (x : vector) : vector := fun i => x (1 + i)%nat.
Definition keys (d : nat) (x : vector) : matrix := fun i j => x (1 + d + (i * d + j))%nat.
Definition size (d : nat) : nat := (1 + d + d * d)%nat.

(** ∇(c σ(z)) of one head on one input: σ(z), then c σ'(z) a, then c σ'(z) (MU)qᵀ, by Lemma 1 *)
Definition head_gradient (T d : nat) (sigma sigma' : R -> R) (X : matrix) (q x : vector) : vector := fun k =>
  let z := score T d X q (feed x) (keys d x) in
  if Nat.eqb k 0 then sigma z
  else if Nat.leb k d then readout x * sigma' z * attention T d X q (keys d x) (k - 1)%nat
  else readout x * sigma' z * (spread T d X q (feed x) (keys d x) ((k - 1 - d) / d)%nat * q ((k - 1 - d) mod d)%nat).

(** f(X; φ) = m^(−1/2) Σ c_i σ(z_i) for m heads *)
Definition output (T d m : nat) (sigma : R -> R) (X : matrix) (q : vector) (phi : nat -> vector) : R :=
  / sqrt (INR m) * Sum m (fun i => readout (phi i) * sigma (score T d X q (feed (phi i)) (keys d (phi i)))).

Lemma Sum_rows d e f : Sum (d * e) f = Sum d (fun i => Sum e (fun j => f (i * e + j)%nat)).
Proof.
  induction d; [easy|]. replace (S d * e)%nat with (d * e + e)%nat by lia. rewrite Sum_split, IHd. cbn [Sum]. easy.
Qed.

Lemma kind_sq d x :
  sq (size d) (block (kind d) 0 x) = readout x ^ 2 /\ sq (size d) (block (kind d) 1 x) = sq d (feed x) /\
  sq (size d) (block (kind d) 2 x) = frob2 d d (keys d x).
Proof.
  assert (K : forall b, sq (size d) (block (kind d) b x) =
    (if Nat.eqb 0 b then readout x else 0) ^ 2 + Sum d (fun i => (if Nat.eqb 1 b then feed x i else 0) ^ 2) +
    Sum d (fun i => Sum d (fun j => (if Nat.eqb 2 b then keys d x i j else 0) ^ 2))).
  { intros b. unfold sq, size. rewrite Sum_split. f_equal.
    - rewrite (Sum_split 1 d). f_equal; [simpl; unfold block, kind, readout; simpl; ring|].
      apply Sum_ext. intros i Hi. unfold block, kind. replace (Nat.leb (1 + i) d) with true by (symmetry;
        apply Nat.leb_le; lia).
      easy.
    - rewrite Sum_rows. apply Sum_ext. intros i _. apply Sum_ext. intros j _. unfold block, kind.
      replace (Nat.leb (1 + d + (i * d + j)) d) with false by (symmetry; apply Nat.leb_gt; lia). easy. }
  assert (Z : forall k, Sum k (fun _ => 0 ^ 2) = 0) by (intros; rewrite Sum_const; ring).
  repeat split; rewrite K; simpl Nat.eqb; cbv iota.
  - rewrite Z, Sum_zero. ring.
  - rewrite Z, Sum_zero. unfold sq. ring.
  - rewrite Z. unfold frob2. ring.
Qed.

Lemma kind_other d b x : (3 <= b)%nat -> vnorm (size d) (block (kind d) b x) = 0.
Proof.
  intros H. unfold vnorm, sq. rewrite (Sum_ext _ _ (fun _ => 0)), Sum_zero, sqrt_0; [easy|]. intros i _. unfold block.
  replace (Nat.eqb (kind d i) b) with false; [ring|]. symmetry. apply Nat.eqb_neq. unfold kind.
  destruct (Nat.eqb i 0); [lia|destruct (Nat.leb i d); lia].
Qed.

Lemma head_blocks T d sigma sigma' X q x s0 s1 b R : (0 < T)%nat -> (forall t, (t < T)%nat -> sq d (X t) <= 1) -> sq d
  q <= 1 ->
  (forall u, Rabs (sigma u) <= s0) -> (forall u, Rabs (sigma' u) <= s1) -> Rabs (readout x) <= b -> vnorm d (feed x) <=
    R ->
  let G := head_gradient T d sigma sigma' X q x in
  vnorm (size d) (block (kind d) 0 G) <= s0 /\ vnorm (size d) (block (kind d) 1 G) <= b * s1 /\
  vnorm (size d) (block (kind d) 2 G) <= b * s1 * R.
Proof.
  intros HT HX Hq Hs0 Hs1 Hb HR G. destruct (kind_sq d G) as (K0 & K1 & K2).
  set (z := score T d X q (feed x) (keys d x)). set (W := keys d x) in *. set (U := feed x) in *.
  assert (A := attention_norm T d X q W HT HX). assert (A0 := sq_ge0 d (attention T d X q W)).
  assert (S := spread_norm T d X q U W HT HX).
  assert (b0 : 0 <= b) by (eapply Rle_trans; [apply Rabs_pos|apply Hb]).
  assert (s10 : 0 <= s1) by (eapply Rle_trans; [apply Rabs_pos|apply (Hs1 0)]).
  assert (BS : Rabs (readout x * sigma' z) <= b * s1)
    by (rewrite Rabs_mult; apply Rmult_le_compat; try apply Rabs_pos; easy).
  unfold vnorm. rewrite K0, K1, K2. split; [|split].
  - rewrite <- Rsqr_pow2, sqrt_Rsqr_abs. apply Hs0.
  - assert (E : sq d (feed G) = (readout x * sigma' z) ^ 2 * sq d (attention T d X q W)).
    { unfold sq. rewrite <- Sum_scal. apply Sum_ext. intros i Hi. change (feed G i) with (G (1 + i)%nat).
      unfold G, head_gradient.
      replace (Nat.eqb (1 + i) 0) with false by easy. replace (Nat.leb (1 + i) d) with true by (symmetry;
        apply Nat.leb_le; lia).
      replace (1 + i - 1)%nat with i by lia. cbv zeta iota. fold U W. fold z. ring. }
    rewrite E, <- (sqrt_pow2 (b * s1)) by now apply Rmult_le_pos. apply sqrt_le_1_alt.
    rewrite <- (pow2_abs (readout x * sigma' z)).
    rewrite <- (Rmult_1_r ((b * s1) ^ 2)). apply Rmult_le_compat; [apply pow2_ge_0|easy| |easy].
    apply pow_incr. split; [apply Rabs_pos|easy].
  - assert (E : frob2 d d (keys d G) = (readout x * sigma' z) ^ 2 * (sq d (spread T d X q U W) * sq d q)).
    { unfold frob2. rewrite <- Rmult_assoc. unfold sq at 1. rewrite <- Sum_scal, (Rmult_comm (Sum d _)), <- Sum_scal.
      apply Sum_ext. intros i Hi. unfold sq. rewrite (Rmult_comm (Sum d _)), <- Sum_scal. apply Sum_ext. intros j Hj.
      change (keys d G i j) with (G (1 + d + (i * d + j))%nat). unfold G, head_gradient.
      replace (Nat.eqb (1 + d + (i * d + j)) 0) with false by easy.
      replace (Nat.leb (1 + d + (i * d + j)) d) with false by (symmetry; apply Nat.leb_gt; lia).
      replace (1 + d + (i * d + j) - 1 - d)%nat with (j + i * d)%nat by lia.
      rewrite Nat.mod_add, Nat.mod_small, Nat.div_add, Nat.div_small by lia.
      cbv zeta iota. fold U W. fold z. simpl Nat.add. ring. }
    assert (R0 : 0 <= R) by (eapply Rle_trans; [apply norm_ge0|apply HR]).
    rewrite E, <- (sqrt_pow2 (b * s1 * R)) by (apply Rmult_le_pos; [now apply Rmult_le_pos|easy]). apply sqrt_le_1_alt.
    rewrite <- (pow2_abs (readout x * sigma' z)), (Rpow_mult_distr (b * s1)).
    assert (SU : sq d (spread T d X q U W) <= R ^ 2).
    { apply norm_le_sq. eapply Rle_trans; [apply S|]. assert (N := norm_ge0 d U).
      assert (0 <= sq d (attention T d X q W) * vnorm d U) by now apply Rmult_le_pos. lra. }
    apply Rmult_le_compat; [apply pow2_ge_0|apply Rmult_le_pos; apply sq_ge0| |].
    + apply pow_incr. split; [apply Rabs_pos|easy].
    + rewrite <- (Rmult_1_r (R ^ 2)). apply Rmult_le_compat; try apply sq_ge0; easy.
Qed.

(** the norm of (1/n) Σ 2 r_j v_j is at most 2 B √L, if no ‖v_j‖ exceeds B *)
Lemma mean_norm k n (r : vector) (v : nat -> vector) B : (0 < n)%nat -> 0 <= B -> (forall j, (j < n)%nat -> vnorm k (v
  j) <= B) ->
  vnorm k (fun i => Mean n (fun j => 2 * r j * v j i)) <= 2 * rms n r * B.
Proof.
  intros Hn HB H. set (w := fun i => Mean n (fun j => 2 * r j * v j i)). assert (N := norm_ge0 k w).
  assert (Q : vnorm k w ^ 2 <= 2 * rms n r * B * vnorm k w).
  { rewrite norm_sq, sq_dot. unfold w at 1. rewrite (dot_Mean k n (fun j => 2 * r j) v).
    apply Rle_trans with (Mean n (fun j => Rabs (r j) * (2 * B * vnorm k w))).
    - apply Mean_le. intros j Hj. eapply Rle_trans; [apply Rle_abs|]. rewrite !Rabs_mult, (Rabs_pos_eq 2) by lra.
      assert (C := cauchy k (v j) w). assert (C2 := Rmult_le_compat_r _ _ _ N (H j Hj)).
      assert (C3 : Rabs (r j) * Rabs (dot k (v j) w) <= Rabs (r j) * (B * vnorm k w))
        by (apply Rmult_le_compat_l; [apply Rabs_pos|lra]). lra.
    - rewrite (Mean_ext n _ (fun j => 2 * B * vnorm k w * Rabs (r j))) by (intros; ring). rewrite Mean_scal.
      assert (M := Mean_le_rms n (fun j => Rabs (r j)) Hn).
      assert (E : rms n (fun j => Rabs (r j)) = rms n r)
        by (unfold rms; f_equal; apply Mean_ext; intros; apply pow2_abs).
      rewrite E in M. apply (Rmult_le_compat_l (2 * B * vnorm k w)) in M; [lra|].
      apply Rmult_le_pos; [lra|easy]. }
  destruct N as [N|N]; [apply Rmult_le_reg_r with (vnorm k w); lra|]. rewrite <- N.
  apply Rmult_le_pos; [|easy]. assert (0 <= rms n r) by apply rms_ge0. lra.
Qed.

(** kr-theorem-1-active
    Covers: the whole statement, with ∇f in the closed form of Lemma 1.
    Reads: let tokens and queries lie in the unit ball, |σ| ≤ σ₀, |σ'| ≤ σ₁, |c_i⁽⁰⁾| = 1, and let every block of every head step by −η times its block of ∇L and be projected on its ball of radius ρ/√m about the start, with any labels. With S_s = 2η Σ_{t<s} √L(φ⁽ᵗ⁾), b = 1 + ρ_c/√m and R_i = ‖U_i⁽⁰⁾‖ + ρ_u/√m, for every head and s: √m|c_i⁽ˢ⁾ − c_i⁽⁰⁾| ≤ σ₀S_s, √m‖U_i⁽ˢ⁾ − U_i⁽⁰⁾‖ ≤ bσ₁S_s, √m‖W_i⁽ˢ⁾ − W_i⁽⁰⁾‖_F ≤ bσ₁R_iS_s. If σ₀S_s ≤ ρ_c, bσ₁S_s ≤ ρ_u and bσ₁R_iS_s ≤ ρ_w for all i, no projection up to step s changes anything.
    Mistake: `<= s0 * path s / 2 /\` for `<= s0 * path s /\`
    Mistake: `(forall s, s0 * path s / 2 <= rho_c ->` for `(forall s, s0 * path s <= rho_c ->`
*)
Theorem kr_theorem_1_active : forall T d m n sigma sigma' (X : nat -> matrix) (q : nat -> vector) y s0 s1
  rho_c rho_u rho_w eta (phi : nat -> nat -> vector),
  let rm := sqrt (INR m) in let r s j := output T d m sigma (X j) (q j) (phi s) - y j in
  let L s := Mean n (fun j => r s j ^ 2) in let path s := 2 * eta * Sum s (fun t => sqrt (L t)) in
  let gradL s i k := Mean n (fun j => 2 * r s j * (/ rm * head_gradient T d sigma sigma' (X j) (q j) (phi s i) k)) in
  let radius b := match b with 0 => rho_c | 1 => rho_u | 2 => rho_w | _ => 0 end / rm in
  let b := 1 + rho_c / rm in let R i := vnorm d (feed (phi O i)) + rho_u / rm in
  (0 < T)%nat -> (0 < m)%nat -> (0 < n)%nat -> 0 <= rho_c -> 0 <= rho_u -> 0 <= rho_w -> 0 < eta ->
  (forall j, (j < n)%nat -> sq d (q j) <= 1 /\ forall t, (t < T)%nat -> sq d (X j t) <= 1) ->
  (forall u, Rabs (sigma u) <= s0) -> (forall u, Rabs (sigma' u) <= s1) ->
  (forall i, (i < m)%nat -> Rabs (readout (phi O i)) = 1) ->
  (forall s i, (i < m)%nat -> phi (S s) i =
    project (size d) (kind d) radius (phi O i) (vminus (phi s i) (vscal eta (gradL s i)))) ->
  (forall s i, (i < m)%nat ->
    rm * Rabs (readout (phi s i) - readout (phi O i)) <= s0 * path s /\
    rm * vnorm d (vminus (feed (phi s i)) (feed (phi O i))) <= b * s1 * path s /\
    rm * sqrt (frob2 d d (fun k l => keys d (phi s i) k l - keys d (phi O i) k l)) <= b * s1 * R i * path s) /\
  (forall s, s0 * path s <= rho_c -> b * s1 * path s <= rho_u ->
    (forall i, (i < m)%nat -> b * s1 * R i * path s <= rho_w) ->
    forall t i k, (t < s)%nat -> (i < m)%nat -> (k < size d)%nat -> phi (S t) i k = phi t i k - eta * gradL t i k).
Proof.
  intros T d m n sigma sigma' X q y s0 s1 rho_c rho_u rho_w eta phi rm r L path gradL radius b R
    HT Hm Hn Rc Ru Rw He HX Hs0 Hs1 Hc0 St.
  assert (Sp : 0 < rm) by (apply sqrt_lt_R0; now apply INR_pos). assert (Is : 0 < / rm) by now apply Rinv_0_lt_compat.
  assert (Hr : forall k, 0 <= radius k) by (intros [|[|[|k]]]; unfold radius; apply Rmult_le_pos; lra).
  assert (Hk : forall i, (i < size d)%nat -> (kind d i < 3)%nat)
    by (intros i _; unfold kind; destruct (Nat.eqb i 0); [lia|destruct (Nat.leb i d); lia]).
  assert (b0 : 0 <= b) by (unfold b; assert (0 <= rho_c / rm) by (apply Rmult_le_pos; lra); lra).
  assert (s00 : 0 <= s0) by (eapply Rle_trans; [apply Rabs_pos|apply (Hs0 0)]).
  assert (s10 : 0 <= s1) by (eapply Rle_trans; [apply Rabs_pos|apply (Hs1 0)]).
  assert (R0 : forall i, 0 <= R i).
  { intros i. unfold R. assert (0 <= rho_u / rm) by (apply Rmult_le_pos; lra).
    assert (0 <= vnorm d (feed (phi O i))) by apply norm_ge0. lra. }
  (* the bound on a block of a head's gradient *)
  set (g i k := match k with 0 => s0 | 1 => b * s1 | 2 => b * s1 * R i | _ => 0 end).
  assert (g0 : forall i k, 0 <= g i k).
  { intros i [|[|[|k]]]; unfold g; try lra; repeat apply Rmult_le_pos; auto. }
  assert (Part : forall i s k, vnorm (size d) (block (kind d) k (vminus (phi s i) (phi O i))) =
    match k with 0 => Rabs (readout (phi s i) - readout (phi O i)) | 1 => vnorm d (vminus (feed (phi s i)) (feed (phi O
      i)))
    | 2 => sqrt (frob2 d d (fun k l => keys d (phi s i) k l - keys d (phi O i) k l)) | _ => 0 end).
  { intros i s k. destruct (kind_sq d (vminus (phi s i) (phi O i))) as (K0 & K1 & K2).
    destruct k as [|[|[|k]]]; [| | |apply kind_other; lia]; unfold vnorm.
    - rewrite K0, <- Rsqr_pow2, sqrt_Rsqr_abs. easy. - rewrite K1. easy. - rewrite K2. easy. }
  assert (In : forall s i, (i < m)%nat -> in_balls (size d) (kind d) radius (phi O i) (phi s i)).
  { intros [|s] i Hi.
    - intros k. rewrite (norm_ext _ _ (vscal 0 (phi O i)))
        by (intros; unfold block, vminus, vscal; destruct (Nat.eqb _ k); ring).
      rewrite norm_scal, Rabs_R0, Rmult_0_l. apply Hr.
    - rewrite (St s i Hi). now apply project_in. }
  assert (Gb : forall s i k, (i < m)%nat -> vnorm (size d) (block (kind d) k (gradL s i)) <= 2 * sqrt (L s) * (/ rm * g
    i k)).
  { intros s i k Hi. assert (I0 := In s i Hi 0%nat). assert (I1 := In s i Hi 1%nat). rewrite Part in I0, I1.
    rewrite (norm_ext _ _ (fun a => Mean n (fun j => 2 * r s j * (vscal (/ rm) (block (kind d) k
      (head_gradient T d sigma sigma' (X j) (q j) (phi s i)))) a))).
    - apply (mean_norm (size d) n (r s)); [easy|apply Rmult_le_pos; [lra|apply g0]|]. intros j Hj.
      rewrite norm_scal, Rabs_pos_eq by lra. apply Rmult_le_compat_l; [lra|]. destruct (HX j Hj) as [Hq Ht].
      destruct (head_blocks T d sigma sigma' (X j) (q j) (phi s i) s0 s1 b (R i) HT Ht Hq Hs0 Hs1) as (B0 & B1 & B2).
      + unfold b. replace (readout (phi s i)) with (readout (phi O i) + (readout (phi s i) - readout (phi O i)))
        by ring.
        eapply Rle_trans; [apply Rabs_triang|]. rewrite (Hc0 i Hi). unfold radius in I0. lra.
      + unfold R. rewrite (norm_ext d (feed (phi s i)) (vplus (feed (phi O i)) (vminus (feed (phi s i)) (feed (phi O
        i)))))
          by (intros; unfold vplus, vminus; ring).
        eapply Rle_trans; [apply norm_triangle|]. unfold radius in I1. lra.
      + destruct k as [|[|[|k]]]; try easy. rewrite kind_other by lia. apply g0.
    - intros a _. unfold gradL, vscal, block. cbv beta. destruct (Nat.eqb (kind d a) k).
      + apply Mean_ext. intros; ring.
      + unfold Mean. rewrite (Sum_ext n _ (fun _ => 0)), Sum_zero; [ring|]. intros; ring. }
  assert (Way : forall s i k, (i < m)%nat ->
    vnorm (size d) (block (kind d) k (vminus (phi s i) (phi O i))) <= / rm * (g i k * path s)).
  { induction s; intros i k Hi.
    - unfold path. simpl Sum. rewrite !Rmult_0_r. rewrite (norm_ext _ _ (vscal 0 (phi O i)))
        by (intros; unfold block, vminus, vscal; destruct (Nat.eqb _ k); ring). rewrite norm_scal, Rabs_R0. lra.
    - destruct (kr_theorem_1_projection (size d) 3 (kind d) radius (phi O i) (phi s i) (gradL s i) eta Hk Hr He (In s i
      Hi))
        as ((_ & _ & M) & _ & _). specialize (M k). rewrite <- (St s i Hi) in M.
      assert (G := Gb s i k Hi). apply (Rmult_le_compat_l eta) in G; [|lra].
      rewrite (norm_ext _ _ (vplus (block (kind d) k (vminus (phi s i) (phi O i))) (block (kind d) k (vminus (phi (S s)
        i) (phi s i)))))
        by (intros; unfold block, vminus, vplus; destruct (Nat.eqb _ k); ring).
      eapply Rle_trans; [apply norm_triangle|]. specialize (IHs i k Hi). unfold path in *. cbn [Sum]. lra. }
  split.
  - intros s i Hi. assert (W0 := Way s i 0%nat Hi). assert (W1 := Way s i 1%nat Hi). assert (W2 := Way s i 2%nat Hi).
    rewrite Part in W0, W1, W2. unfold g in W0, W1, W2.
    apply (Rmult_le_compat_l rm) in W0; [|lra]. apply (Rmult_le_compat_l rm) in W1; [|lra].
    apply (Rmult_le_compat_l rm) in W2; [|lra].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l in W0, W1, W2 by lra. repeat split; easy.
  - intros s C0 C1 C2 t i k Ht Hi Hkd. rewrite (St t i Hi).
    rewrite (project_inside (size d) (kind d) radius (phi O i)); [easy| |easy]. intros e.
    rewrite (norm_ext _ _ (vplus (block (kind d) e (vminus (phi t i) (phi O i))) (vscal (- eta) (block (kind d) e
      (gradL t i)))))
      by (intros; unfold block, vminus, vplus, vscal; destruct (Nat.eqb _ e); ring).
    eapply Rle_trans; [apply norm_triangle|]. rewrite norm_scal, Rabs_Ropp, Rabs_pos_eq by lra.
    assert (W := Way t i e Hi). assert (G := Gb t i e Hi). apply (Rmult_le_compat_l eta) in G; [|lra].
    assert (Mono : path (S t) <= path s).
    { unfold path. apply Rmult_le_compat_l; [lra|]. replace s with (S t + (s - S t))%nat by lia. rewrite Sum_split.
      assert (0 <= Sum (s - S t) (fun i => sqrt (L (S t + i)%nat))) by (apply Sum_ge0; intros; apply sqrt_pos). lra. }
    assert (Z : / rm * (g i e * path (S t)) <= / rm * (g i e * path s))
      by (apply Rmult_le_compat_l; [lra|apply Rmult_le_compat_l; [apply g0|easy]]).
    apply Rle_trans with (/ rm * (g i e * path s)); [unfold path in *; cbn [Sum] in Z; lra|].
    unfold radius, g, Rdiv. rewrite (Rmult_comm _ (/ rm)). apply Rmult_le_compat_l; [lra|].
    specialize (C2 i Hi). destruct e as [|[|[|e]]]; try easy. lra.
Qed.
