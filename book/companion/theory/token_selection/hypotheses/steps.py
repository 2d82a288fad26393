"""What the hypotheses of the lemmas of *Why every step helps* and of Lemma 6 are for: both sides of "left ≤ right", without one of them and with it."""

import math

import numpy as np
from scipy import stats

from companion.theory.token_selection.hypotheses import instances
from companion.theory.token_selection.hypotheses.instances import FIRST
from companion.theory.token_selection.hypotheses.plain import Data, normalised
from shallowformer.token_selection import rates

Sides = tuple[float, float]

PAIR = Data(np.array([[[1.0, 0.0], [-1.0, 0.0]]]), np.ones(1), np.array([1.0, 0.0]), (0,))


def long_start(kept: bool) -> Sides:
    """1/(2T) ≤ φ_opt (Lemma 2) for the tokens ±e₁, B = 1, at W₀ = −½x e₁e₁ᵀ, x = 2B²‖W₀‖ = log 2 (kept) or 2."""
    x = math.log(2) if kept else 2.0
    return 0.25, float(PAIR.attended(-x / 2 * FIRST)[0])


def _below(deviation: float) -> float:
    """The probability of φ_opt < ¼, that is h < −log 3, for a centred Gaussian gap."""
    return float(stats.norm.cdf(-math.log(3) / deviation))


DELTA = 0.1
OMEGA = math.log(2) / (2 * math.sqrt(2 * math.log(2 * 2 / DELTA)))


def wide_gaussian(kept: bool) -> Sides:
    """P(φ_opt < 1/(2T)) ≤ δ = 0.1 (Lemma 2) for the tokens ±e₁: W₀'s entries at the lemma's ω (kept), or at ω = 10."""
    return _below(2 * (OMEGA if kept else 10.0)), DELTA


def same_entries(kept: bool) -> Sides:
    """P(φ_opt < 1/(2T)) ≤ δ = 0.1 (Lemma 2) for the tokens ±(1, …, 1)/√10, E = 2·𝟏𝟏ᵀ/10: entries of W₀ independent (kept), or all the same N(0, ω²), so that h = ω g · 20."""
    return _below(OMEGA * (2.0 if kept else 20.0)), DELTA


def overlap(kept: bool) -> Sides:
    """φ_min = 0.4 ≤ φ_{i,opt} (Lemma 3) after 200 steps from 0 within the limit, for orthonormal tokens (kept) or the example of lost samples."""
    data, _ = instances.losing(kept)
    longest = math.sqrt(2 if kept else 5)
    return 0.4, float(data.attended(data.after(normalised(math.log(1.5) / longest), 200)).min())


def neglected_start(kept: bool) -> Sides:
    """φ_min = 0.4 ≤ φ_opt (Lemma 3) along 20 steps for the tokens e₁, e₂ from φ_opt = ½ (kept) or 0.1: (A1′) holds as n = 1, ν = 0."""
    data = Data(np.eye(2)[None], np.ones(1), np.array([1.0, 0.0]), (0,))
    start = (0.0 if kept else -math.log(9)) * FIRST
    step = normalised(math.log(1.5) / math.sqrt(2))
    return 0.4, min(float(data.attended(W)[0]) for W in data.run(step, 20, start))


def long_step(kept: bool) -> Sides:
    """φ_min = 0.4 ≤ φ_{1,opt} (Lemma 3) after one step from h = (10, 0), ⟨E₁, E₂⟩ = −0.04 and (A1′): of the limit's length (kept), or 2000."""
    data, longest = instances.pushed()
    E = np.einsum("id,ie->ide", data.X[:, 0] - data.X[:, 1], data.queries).reshape(2, -1)
    start = (np.linalg.pinv(E) @ np.array([10.0, 0.0])).reshape(4, 4)
    W = data.after(normalised(math.log(1.5) / longest if kept else 2000.0), 1, start)
    return 0.4, float(data.attended(W)[0])


def unequal_scores(kept: bool) -> Sides:
    """φ_min = 0.02 ≤ φ_opt (Lemma 3) after a short step from weights (0.02, 0.588, 0.392) for orthonormal tokens of scores 1, 0, 0 (kept) or 1, 0.9, −10."""
    scores = [1.0, 0.0, 0.0] if kept else [1.0, 0.9, -10.0]
    data = Data(np.eye(3)[None], np.ones(1), np.array(scores), (0,))
    start = np.zeros((3, 3))
    start[:, 0] = np.log([0.02, 0.588, 0.392])
    W = data.after(normalised(0.1), 1, start)
    return 0.02 * (1 - 1e-12), float(data.attended(W)[0])


def no_separator(kept: bool) -> Sides:
    """Σ w_k ≤ ⟨−∇ℒ, W′⟩ (Lemma 4) at h = (3, 0), orthonormal E₁ and E₂, W′ = E₁ + E₂ (kept) or E₁ − E₂, whose second gap is −1."""
    gaps = np.array([3.0, 0.0])
    phi = 1 / (1 + np.exp(-gaps))
    w = np.exp(-phi) * phi * (1 - phi) / 2
    return float(w.sum()), float(w[0] + (w[1] if kept else -w[1]))


def acute(kept: bool) -> Sides:
    """0 ≤ ⟨−∇ℒ, W_mm⟩ (Lemma 4) at W = 0, scores 1, −10, −10 (kept) or 1, 0.9, −10."""
    data, goal = instances.long_and_short(kept)
    return 0.0, float((data.pull(np.zeros((2, 2)))[0] * goal).sum())


def growth(kept: bool) -> Sides:
    """ρ_*S₁ − ‖W₀‖ ≤ ⟨W₁, Ŵ⟩ (Lemma 5) after one step of length 0.1 from 0, scores 1, −10, −10 (kept) or 1, 0.9, −10."""
    data, goal = instances.long_and_short(kept)
    E = [np.outer(data.X[0, 0] - x, data.X[0, 0]) for x in data.X[0, 1:]]
    size = np.linalg.norm(goal)
    rho = 1 / (max(map(np.linalg.norm, E)) * size)
    W = data.after(normalised(0.1), 1)
    return float(0.1 * rho), float((W * goal).sum() / size)


def low_dimension(kept: bool) -> Sides:
    """P(Assumption 1 fails) ≤ δ = 0.1 (Lemma 6) for n = 1, T = 3: a bound from above at the dimension asked for (kept), one from below at d = 3.

    Of two noise tokens ⟨x, x′⟩/‖x‖² is a t variable over √p, p = d − 2; the assumption asks that it is at most 1/(12e), both ways.
    """
    p = 284 * 9 * math.log(36 / DELTA) if kept else 1
    one_way = 2 * float(stats.t.sf(math.sqrt(p) / (12 * math.e), p))
    return (2 * one_way if kept else one_way), DELTA


def short_signal(kept: bool) -> Sides:
    """P((A1′) fails) ≤ δ = 0.1 (Lemma 6) for n = 1, T = 3, ρ = 1, d as asked: bounds on P(3|⟨g, g′⟩| ≥ U²) for U² = d from above (kept), for U = 1 from below."""
    p = 84 * 4 * math.log(36 / DELTA)
    tail = lambda x: 2 * float(stats.norm.sf(x))
    if kept:  # ⟨g, g′⟩ = ‖g‖z
        return tail(p / 3 / math.sqrt(2 * p)) + float(stats.chi2.sf(2 * p, p)), DELTA
    return tail(1 / 3 / math.sqrt(p / 2)) - float(stats.chi2.cdf(p / 2, p)), DELTA


def noise_along_means(kept: bool) -> Sides:
    """P(Assumption 1 fails) ≤ δ = 0.1 (Lemma 6) for n = 1, T = 3, d as asked, U = 10ρ: noise projected off the means (kept), or not.

    Not projected, a noise token has ⟨μ, x⟩ = ρUz, and the assumption asks for 12Υρ|z|U ≤ U², Υ ≥ 1: a bound from
    below, less the probability that the score of a noise token, N(0, 2ρ²/U²), exceeds 1.
    """
    if kept:
        return low_dimension(True)
    holds = 1 - 2 * float(stats.norm.sf(10 / 12))
    return 1 - holds**2 - 2 * float(stats.norm.sf(10 / math.sqrt(2))), DELTA


def means_not_orthogonal(kept: bool) -> Sides:
    """4nΥ|⟨μ₊, μ₋⟩| ≤ U² (Assumption 1 of Lemma 6) for n = 2, one sample of each label, at an angle of 90° (kept) or 60°; Υ = e^{1 − cos}, as u = (μ₊ − μ₋)/U²."""
    return 0.0 if kept else 8 * math.exp(0.5) * 0.5, 1.0


def _key(data: Data, W: np.ndarray, goal: np.ndarray, epsilon: float = 0.5) -> Sides:
    """⟨−∇ℒ, W/‖W‖⟩ and (1 + ε)⟨−∇ℒ, Ŵ⟩, over ‖∇ℒ‖."""
    pull, _ = data.pull(W)
    along = lambda V: float((pull * V).sum() / (np.linalg.norm(pull) * np.linalg.norm(V)))
    return along(W), (1 + epsilon) * along(goal)


def lost_direction(kept: bool) -> Sides:
    """Lemma 7 with ε = ½, φ_min = 0.4, at ‖W‖ = 100 > R_ε, data of the example: W along W_mm (kept), or along E₂ where φ_{1,opt} = e^{−200}."""
    data, goal = instances.losing(False)
    along = goal if kept else -FIRST
    return _key(data, 100 * along / np.linalg.norm(along), goal)


def near_the_origin(kept: bool) -> Sides:
    """Lemma 7 with ε = ½, φ_min = 0.4, data of the example: at 100 Ŵ, ‖W‖ > R_ε (kept), or at a thousandth of the gradient at 0."""
    data, goal = instances.losing(False)
    pull, _ = data.pull(np.zeros((2, 2)))
    W = 100 * goal / np.linalg.norm(goal) if kept else pull / np.linalg.norm(pull) / 1000
    return _key(data, W, goal)


def key_unequal_scores(kept: bool) -> Sides:
    """Lemma 7 with ε = ½ at a W of length 10⁶ that is orthogonal to all E_k, φ = ⅓: scores 1, −10, −10 (kept) or 1, 0.9, −10."""
    data, goal = instances.long_and_short(kept)
    q = data.queries[0]
    off = np.outer([1.0, 0.0], [-q[1], q[0]])
    return _key(data, 1e6 * off / np.linalg.norm(off), goal)


def mean_of_gaps(kept: bool) -> Sides:
    """Σw_kh_k/Σw_k ≤ min h + Λ₀ (the key lemma in one line), φ_min = 0.4, Υ = e⁴, data of the example: at 100 Ŵ (kept), or at −100 e₁e₁ᵀ, where φ_{1,opt} = e^{−200}."""
    _, goal = instances.losing(False)
    W = 100 * goal / np.linalg.norm(goal) if kept else -100 * FIRST
    E = np.array([[[2.0, 1.0], [0.0, 0.0]], [[-1.0, 0.0], [0.0, 0.0]]])
    h = np.einsum("kde,de->k", E, W)
    logs = np.array([-3.0, 0.0]) - np.abs(h) - 2 * np.log1p(np.exp(-np.abs(h))) + 1 / (1 + np.exp(h))
    w = np.exp(logs - logs.max())
    return float((w * h).sum() / w.sum()), float(h.min()) + rates.best_Lambda_0(2, math.exp(4), 0.4)


def mean_of_gaps_unequal(kept: bool) -> Sides:
    """Σw_kh_k/Σw_k ≤ min h + Λ₀ (the key lemma in one line), one sample with gaps 0 and log 1001, φ_min = φ_opt, scores γ, γ − 10⁻⁴, γ − 0.1001 (kept: the last twice).

    w_k = φ_k(γ̄ − γ_k), as the general gradient has it; none is negative.
    """
    step, rest = 1e-4, 0.1001
    scores = np.array([0.0, -rest if kept else -step, -rest])
    h = np.array([0.0, math.log(1001)])
    phi = np.exp(np.array([0.0, *-h]))
    phi /= phi.sum()
    w = np.array([(phi * (scores - scores[k])).sum() * phi[k] for k in (1, 2)])
    behind = -scores[1:]
    upsilon = float(behind.max() * math.exp(behind.max()) / behind.min())
    return float((w * h).sum() / w.sum()), float(h.min()) + rates.best_Lambda_0(2, upsilon, float(phi[0]))
