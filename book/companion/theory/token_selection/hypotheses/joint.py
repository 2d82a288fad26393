"""What the hypotheses of the lemmas of *Training the decoder, too* are for: both sides of "left ≤ right", without one of them and with it.

"Within the limits" means that (N0) to (N3) hold, all tokens orthogonal, so ν = 0, and that η is the limit of (E).
"""

import math
from fractions import Fraction

import numpy as np
from scipy import integrate, stats

from companion.theory.token_selection.hypotheses.together import (
    Pairs,
    orthogonal,
    small_step,
)

Sides = tuple[float, float]


def _product_above(level: float, d: int) -> float:
    """P(⟨x, x′⟩ > level) of two independent standard Gaussian vectors: ‖x‖² is χ², and given it the product is Gaussian."""
    tail = lambda square: stats.chi2.pdf(square, d) * stats.norm.sf(level / math.sqrt(square))
    return float(integrate.quad(tail, d / 3, 3 * d, points=[d])[0])


DELTA, DIMENSION = 0.1, 1000
EPSILON = math.sqrt(math.log(2 * 3 / DELTA) / DIMENSION)


def copied_tokens(kept: bool) -> Sides:
    """P(|⟨x, x′⟩| > d(√2ε + ε²)) ≤ δ = 0.1 (Lemma 9) for N = 2 tokens in 1000 dimensions: independent (kept), or x′ = x."""
    level = DIMENSION * (math.sqrt(2) * EPSILON + EPSILON**2)
    if kept:
        return 2 * _product_above(level, DIMENSION), DELTA
    return float(stats.chi2.sf(level, DIMENSION)), DELTA


def sparse_coordinates(kept: bool) -> Sides:
    """P(a squared norm leaves [1 − 2ε, 1 + 2ε + 2ε²] times its mean) ≤ δ = 0.1 (Lemma 9), d = 1000: Gaussian coordinates (kept), or ±d with probability 1/d² and else 0."""
    d, epsilon = DIMENSION, EPSILON
    if kept:
        ends = (
            stats.chi2.cdf(d * (1 - 2 * epsilon), d),
            stats.chi2.sf(d * (1 + 2 * epsilon + 2 * epsilon**2), d),
        )
        return 2 * float(sum(ends)), DELTA
    return (1 - d**-2) ** d, DELTA


def one_direction(kept: bool) -> Sides:
    """P(a squared norm leaves [1 − 2ε, 1 + 2ε + 2ε²] times its mean) ≤ δ = 0.1 (Lemma 9), d = 1000: covariance I (kept), or de₁e₁ᵀ."""
    if kept:
        return sparse_coordinates(True)
    low, high = 1 - 2 * EPSILON, 1 + 2 * EPSILON + 2 * EPSILON**2
    return float(stats.chi2.cdf(low, 1) + stats.chi2.sf(high, 1)), DELTA


def shorter_best(kept: bool) -> Sides:
    """P(|⟨x, x′⟩| > α²σ²d(√2ε + ε²)) ≤ δ = 0.1 (Lemma 9, last sentence) for the other tokens of two samples, N = 4, d = 1000: α = 1 (kept), or 0.1."""
    epsilon = math.sqrt(math.log(4 * 5 / DELTA) / DIMENSION)
    level = (1.0 if kept else 0.01) * DIMENSION * (math.sqrt(2) * epsilon + epsilon**2)
    return 2 * _product_above(level, DIMENSION), DELTA


LINE = Pairs(np.array([[[1.0], [0.5]]]), (0,))


def decoder_from_elsewhere(kept: bool) -> Sides:
    """‖W_t‖ ≤ η log t at t = 1 (Lemma 10), tokens 1 and ½, η = 0.1, from W₀ = 0 and u₀ = 0 (kept), or u₀ = 1."""
    return float(np.linalg.norm(LINE.after(0.1, 1, np.array([0.0 if kept else 1.0])).W)), 0.0


def norm_from_elsewhere(kept: bool) -> Sides:
    """‖u_t‖ ≤ S_t^u at t = 10 (Lemma 10), tokens 1 and ½, η = 0.1, from u₀ = 0 (kept), or u₀ = 1."""
    travelled = sum(0.1 / (k + 1) ** (2 / 3) for k in range(10))
    start = np.array([0.0 if kept else 1.0])
    return float(np.linalg.norm(LINE.after(0.1, 10, start).u)), travelled * (1 + 1e-12)


def equal_lengths(kept: bool) -> Sides:
    """‖u_{t+1}‖ s_t^W ≤ 3η s_t^u at t = 1000 (Lemma 10), ‖u_{t+1}‖ = S_{t+1}^u, η = 0.1: s_t^W = η/(t + 1) (kept), or s_t^W = s_t^u."""
    eta, t = 0.1, 1000
    travelled = sum(eta / (k + 1) ** (2 / 3) for k in range(t + 1))
    of_u = eta / (t + 1) ** (2 / 3)
    return travelled * (eta / (t + 1) if kept else of_u), 3 * eta * of_u


def shorter_is_lost(kept: bool) -> Sides:
    """½ ≤ p_i (Lemma 11) after three steps, within the limits but for the squared lengths 1 and ½ (kept) or ½ and 1 of optimal and other tokens."""
    lengths = (1.0, 0.5) if kept else (0.5, 1.0)
    data = orthogonal([lengths] * 2, (0, 0))
    return 0.5, float(data.after(small_step(2, 1.0, 1.0), 3).p.min())


def zero_query(kept: bool) -> Sides:
    """p₁ grows (Lemma 11): its value before and after the second step, within the limits, ‖b₁‖² = ¼ (kept), or 0; b₁ asks."""
    data = orthogonal([(1.0, 0.25 if kept else 0.0), (1.0, 0.5)], (1, 0))
    eta = small_step(2, 1.0, 1.0)
    before, after = (float(data.after(eta, t).p[0]) for t in (1, 2))
    return before + 1e-12, after


def overlap(kept: bool) -> Sides:
    """0 ≤ Δ₁ (Lemma 11, part 2), exactly and times 2N₀/s₀, after the first step: n = 2, lengths 1 and 1 − G, G = 10⁻³, overlaps ±ν with ν = G/192 less a hair (kept), or 1.1·G/4.

    Both have (N0), (N1), 4608ν² < G(1 − G), and are positive definite; the products of a₁ are −ν, all others ν.
    """
    G = Fraction(1, 1000)
    nu = G / 192 if kept else Fraction(11, 10) * G / 4
    assert 4608 * nu**2 < G * (1 - G)
    assert 2 * nu <= 1 - G
    own = 1 - (1 - G)
    return 0, own - 4 * nu


def long_step(kept: bool) -> Sides:
    """log(ℓ₁/ℓ₂) ≤ log 12κ (Lemma 11, part 1) after the first step, within the limits, κ = 2, squared lengths of a 1 and 2, of b ½: η as in (E) (kept), or 1000."""
    data = orthogonal([(1.0, 0.5), (2.0, 0.5)], (0, 0))
    margins = data.after(small_step(2, 2.0, 2.0) if kept else 1000.0, 1).margins
    return float(margins[1] - margins[0]), math.log(24)


def other_start(kept: bool) -> Sides:
    """0 ≤ Δ₁ (Lemma 11, part 2) after the first step, within the limits: from u₀ = 0 (kept), or −a₁."""
    data = orthogonal([(1.0, 0.5)] * 2, (0, 0))
    state = data.after(small_step(2, 1.0, 1.0), 1, None if kept else -data.X[0, 0])
    return 0.0, float((data.X[0, 0] - data.X[0, 1]) @ state.u)


def no_margin(kept: bool) -> Sides:
    """pγ − (1 − p)ν/γ ≤ γ_t (Lemma 12) on the line, p = 1/10, ν = 1, b = (1, −1), a = (1, 1) (kept), or (1, −1), so that γ = −1."""
    a = (1, 1 if kept else -1)
    p, gamma = Fraction(1, 10), a[1]
    z = [p * x + (1 - p) * y for x, y in zip(a, (1, -1), strict=True)]
    return p * gamma - (1 - p) / gamma, max(min(z), min(-x for x in z))


def less_than_half(kept: bool) -> Sides:
    """(½A₋ − nν)/√(nA₊ + n²ν) ≤ γ_t (Lemma 12) for one sample, a = 1, b = 0, ν = 0: p = ½ (kept), or ¼."""
    return 0.5, 0.5 if kept else 0.25


def segment(kept: bool) -> Sides:
    """Log ℒ ≤ log ℒ(θ₀) + s₀^u(B + ¾ηΞ²Q) after the first step (Lemma 13, part 2), three samples of ±½ on the line, η = 0.1, b asks in two of them: u₀ = 0 (kept), or 1000."""
    X = np.array([[[0.5], [-0.5]]] * 3)
    data, eta = Pairs(X, (0, 1, 1)), 0.1
    first, last = (data.after(eta, t, np.array([0.0 if kept else 1000.0])) for t in (0, 1))
    return last.log_loss, first.log_loss + eta * (0.5 + 0.75 * eta * 1 * 0.5)


def logistic(kept: bool) -> Sides:
    """γ_tℒ ≤ ‖∇_uℒ‖ (Lemma 13, part 1) for one sample with margin −10: exponential loss (kept), or the logistic one."""
    m = -10.0
    return (math.exp(-m), math.exp(-m)) if kept else (math.log1p(math.exp(-m)), 1 / (1 + math.exp(m)))
