"""What the hypotheses on every start, on limits of directions, on the conserved quantity and on rounding are for: both sides of "left ≤ right", without one of them and with it."""

import math
from fractions import Fraction

import numpy as np

from companion.theory.token_selection.hypotheses import directions, instances
from companion.theory.token_selection.hypotheses.instances import LOSING, SCORED
from companion.theory.token_selection.hypotheses.plain import Data, normalised, two_gaps

Sides = tuple[float, float]

doubling, summable = directions.doubling, directions.summable


def falling_gap(kept: bool) -> Sides:
    """0 ≤ what h₂ gains in a step (No pair pulls another back, part 1) from weights (0.1, 0.5, 0.4) for orthonormal tokens, so G = (2, 1; 1, 2): scores 1, −10, −10 (kept) or 1, 0.9, −10."""
    scores = [1.0, -10.0 if kept else 0.9, -10.0]
    data = Data(np.eye(3)[None], np.ones(1), np.array(scores), (0,))
    W = np.zeros((3, 3))
    W[:, 0] = np.log([0.1, 0.5, 0.4])
    pull, _ = data.pull(W)
    return 0.0, float(pull[0, 0] - pull[1, 0])


def negative_entry(kept: bool) -> Sides:
    """1 − corr soon below 0.1 (No pair pulls another back, part 2): 1000 steps of length 1 from 0, G₁₂ = 0 (kept), or −2 in the example of lost samples."""
    return directions.attended_squares(kept)


def zero_pair(kept: bool) -> Sides:
    """0 < the smallest gap of some W (No pair pulls another back: feasible), as 10⁻⁹ ≤ that of E₁ + E₂: orthonormal E₁, E₂ (kept), or E₁ = 0, a zero query."""
    gram = np.diag([1.0 if kept else 0.0, 1.0])
    return 1e-9, float((gram @ np.ones(2)).min())


def nobody_kept(kept: bool) -> Sides:
    """0 ≤ the smallest gap over ‖W‖ of the only sample (Limit directions: some sample is kept), after 1000 normalised steps from 0: scores 11, 0, 0 (kept) or 11, 10.9, 0."""
    data, _ = instances.three_scores(kept)
    W = data.after(normalised(0.1), 1000)
    logits = data.X[0] @ W @ data.queries[0]
    return 0.0, float((logits[0] - logits[1:]).min() / np.linalg.norm(W))


def neither(kept: bool) -> Sides:
    """μ ≤ |m₁| (Limit directions: every sample is kept or lost) for the limit of a run from 0 on orthogonal E₁, E₂ of one length (kept), or E₁ = 0: V ∝ E₂, m = (0, μ)."""
    return (math.sqrt(0.5), math.sqrt(0.5)) if kept else (1.0, 0.0)


def short_path(kept: bool) -> Sides:
    """1 − corr(V, μW_A) = 0 up to 0.01 (Limit directions), orthonormal E_k, from gaps (0, 4), both kept: 40 steps of length 1 (kept), or of ½, ¼, …, so that ‖W_t‖ stays bounded."""
    return summable(kept)


def _from_the_ridge(x: float, steps: int) -> list[tuple[float, float]]:
    """Gaps from (−10, 10 + x) on the example of lost samples, steps of length 0.05."""
    return list(two_gaps(LOSING, [0.05] * steps, steps, (-10.0, 10.0 + x), **SCORED))


def edge(kept: bool) -> Sides:
    """1 − corr(W_t, W_A) ≤ 0.05 for some set A (Limit directions), on the example of lost samples from gaps (−10, 10 + x): x = −3, which loses sample 1 (kept), or the x between both fates, found by bisection, t = 400.

    In between h₁ + h₂ stays bounded, so V has gaps in the proportion −1 : 1.
    """
    low, high = -5.0, 5.0
    for _ in range(60):
        x = (low + high) / 2
        low, high = (low, x) if sum(_from_the_ridge(x, 400)[-1]) > 0 else (x, high)
    h = np.array(_from_the_ridge(-3.0, 20_000)[-1] if kept else _from_the_ridge(low, 400)[-1])
    inverse = np.array([[1.0, 2.0], [2.0, 5.0]])
    size = math.sqrt(h @ inverse @ h)
    of_sets = (h[0] / math.sqrt(5), h[1], (3 * h[0] + 7 * h[1]) / math.sqrt(10))
    return 1 - max(of_sets) / size, 0.05


def _law(u: Fraction, alpha: Fraction, of_u: Fraction, of_w: Fraction, q: Fraction) -> Sides:
    """|(1 + o)ẇ − ‖q‖²uu̇|: how fast the quantity of the law changes."""
    odds = alpha / (1 - alpha)
    return abs((1 + odds) * of_w - q * u * of_u), 0


def overlapping_tokens(kept: bool) -> Sides:
    """d/dt of o + log o − ½‖q‖²u² is 0 (Attention follows the decoder), two samples, p = (1, 1), α = (½, ⅓), u = (1, 2), unit tokens and queries, ⟨q₁, q₂⟩ = 0: ⟨x₁, x₂⟩ = 0 (kept), or ½."""
    half, third = Fraction(1, 2), Fraction(1, 3)
    cross = 0 if kept else half
    return _law(Fraction(1), half, half + third * cross, Fraction(1, 4), Fraction(1))


def other_token(kept: bool) -> Sides:
    """d/dt of o + log o − ½‖q‖²u² is 0 (Attention follows the decoder), one sample of two tokens, u = 1, α = ½, ‖q‖ = ‖x‖ = 1: the other token 0 (kept), or a unit vector orthogonal to x and U."""
    half, other = Fraction(1, 2), 0 if kept else 1
    return _law(Fraction(1), half, half, Fraction(1, 4) * (1 + other), Fraction(1))


def two_speeds(kept: bool) -> Sides:
    """d/dt of o + log o − ½‖q‖²u² is 0 (Attention follows the decoder), one sample, u = 1, α = ½: both blocks at one speed (kept), or attention at twice the decoder's."""
    half = Fraction(1, 2)
    return _law(Fraction(1), half, half, Fraction(1, 4) * (1 if kept else 2), Fraction(1))


def one_step(kept: bool) -> Sides:
    """How much o + log o − ½u² changes by (Attention follows the decoder), one sample, p = 1, from u = 1, α = ½, over a time of 1: 10⁵ steps, as the flow, up to 10⁻⁵ (kept), or one step."""
    steps = 100_000 if kept else 1
    u, w = 1.0, 0.0
    value = lambda: math.exp(w) + w - u * u / 2
    first = value()
    for _ in range(steps):
        alpha = 1 / (1 + math.exp(-w))
        u, w = u + alpha / steps, w + alpha * (1 - alpha) * u / steps
    return max(0.0, abs(value() - first) - 1e-5), 0


def _rounded(x: Fraction, digits: int = 53, smallest: int = 1074, down: bool = False) -> Fraction:
    """The floating-point number for x > 0: the nearest, ties to even, or the next below."""
    exponent = math.floor(math.log2(x)) if x >= Fraction(1, 2**1000) else -1000 - smallest
    while Fraction(2) ** (exponent + 1) <= x:
        exponent += 1
    unit = Fraction(2) ** max(exponent - digits + 1, -smallest)
    return unit * (math.floor(x / unit) if down else round(x / unit))


def toward_zero(kept: bool) -> Sides:
    """Is the first weight computed as 1, and is e^{−h} ≤ 2^{−p} (Thresholds, part 1), e^{−h} = 1.5·2^{−53}: rounded to nearest (kept), or towards 0."""
    e = Fraction(3, 2**54)
    weight = _rounded(1 / _rounded(1 + e, down=not kept), down=not kept)
    return int(weight == 1), int(e <= Fraction(1, 2**53))


def flush_to_zero(kept: bool) -> Sides:
    """Is the second weight computed as 0, and is e^{−h} ≤ half the smallest positive number (Thresholds, part 2), which is 2^{−1074} (kept), or 2^{−1022} with smaller results set to 0, e^{−h} being ¾ of it."""
    q = 1074 if kept else 1022
    e = Fraction(3, 2 ** (q + 2))
    found = _rounded(e, smallest=1074)
    if not kept and found < Fraction(1, 2**1022):
        found = Fraction(0)
    return int(found == 0), int(e <= Fraction(1, 2 ** (q + 1)))


def faithful_exponential(kept: bool) -> Sides:
    """Is e^{−h} ≤ 2^{−q−1}, and is the second weight computed as 0 (Thresholds, part 2), e^{−h} = 0.4·2^{−1074}: rounded correctly (kept), or to the number above."""
    e = Fraction(4, 10) / 2**1074
    found = _rounded(e) if kept else Fraction(1, 2**1074)
    return int(e <= Fraction(1, 2**1075)), int(found == 0)


def as_complement(kept: bool) -> Sides:
    """Is the second weight computed as 0, and is e^{−h} ≤ 2^{−q−1} (Thresholds, part 2), h = 40: by its own formula (kept), or as 1 less the first."""
    e = math.exp(-40)
    second = e / (1 + e) if kept else 1 - 1 / (1 + e)
    return int(second == 0), int(e <= 2.0**-1074 / 2)


def small_best_score(kept: bool) -> Sides:
    """|φ_opt(γ_opt − ⟨φ, γ⟩)| as computed is 0 (Thresholds, part 3), two tokens, e^{−h} = 2^{−60}, γ = −1 of the other: γ_opt = 1 (kept), or 2^{−30}, below 2^{−p−1}γ_opt fails."""
    best, other = 1.0 if kept else 2.0**-30, -1.0
    first, second = 1 / (1 + 2.0**-60), 2.0**-60 / (1 + 2.0**-60)
    return abs(first * (best - (first * best + second * other))), 0.0


def unequal_others(kept: bool) -> Sides:
    """The two coefficients over −φ_t, as computed, differ by 0 (Thresholds, part 3), weights 1, 2^{−60}, 2^{−60}, γ_opt = 1: other scores 0, 0 (kept), or 0, ½."""
    phi, gamma = (1.0, 2.0**-60, 2.0**-60), (1.0, 0.0, 0.0 if kept else 0.5)
    mean = sum(p * g for p, g in zip(phi, gamma, strict=True))
    return abs((gamma[1] - mean) - (gamma[2] - mean)), 0.0
