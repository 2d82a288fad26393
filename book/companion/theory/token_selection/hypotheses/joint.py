"""What the hypotheses of *Training the decoder, too* are for: both sides of "left ≤ right", without one of them and with it.

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
    with_products,
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
    assert 4608 * nu**2 < G * (1 - G) and 2 * nu <= 1 - G
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
    """log ℒ ≤ log ℒ(θ₀) + s₀^u(B + ¾ηΞ²Q) after the first step (Lemma 13, part 2), three samples of ±½ on the line, η = 0.1, b asks in two of them: u₀ = 0 (kept), or 1000."""
    X = np.array([[[0.5], [-0.5]]] * 3)
    data, eta = Pairs(X, (0, 1, 1)), 0.1
    first, last = (data.after(eta, t, np.array([0.0 if kept else 1000.0])) for t in (0, 1))
    return last.log_loss, first.log_loss + eta * (0.5 + 0.75 * eta * 1 * 0.5)


def logistic(kept: bool) -> Sides:
    """γ_tℒ ≤ ‖∇_uℒ‖ (Lemma 13, part 1) for one sample with margin −10: exponential loss (kept), or the logistic one."""
    m = -10.0
    return (math.exp(-m), math.exp(-m)) if kept else (math.log1p(math.exp(-m)), 1 / (1 + math.exp(m)))


def _halves(data: Pairs, eta: float, t: int, u: np.ndarray | None = None) -> Sides:
    """log ℒ(u_{t+1}, W_{t+1}) and log ℒ(u_{t+1}, W_t)."""
    run = list(data.run(eta, t + 1, u))
    return run[t + 1][0].log_loss, run[t][1].log_loss


def half_long_steps(kept: bool) -> Sides:
    """log ℒ(u₂, W₂) ≤ log ℒ(u₂, W₁) (Attention's half), (N0) to (N3) with κ = 1.1, ν = 0.0045, ⟨E₁, E₂⟩ = −4ν²: η as in (E) (kept), or 10⁴."""
    nu = 0.0045
    K = np.diag([1.0, 0.5, 1.1, 0.5])
    K[0, 2], K[1, 3], K[0, 3], K[1, 2] = -nu, -nu, nu, nu
    K = np.triu(K) + np.triu(K, 1).T
    assert 96 * 1.1 * nu <= 0.5 and 4608 * 1.1**3 * nu**2 < 0.25
    return _halves(with_products(K, (0, 1)), small_step(2, 1.1, 1.1) if kept else 1e4, 1)


def half_other_start(kept: bool) -> Sides:
    """log ℒ(u₁, W₁) ≤ log ℒ(u₁, W₀) (Attention's half), within the limits: from u₀ = 0 (kept), or a little towards the b, −η/100 · Σ(a_i − b_i)."""
    data = orthogonal([(1.0, 0.5)] * 2, (0, 0))
    eta = small_step(2, 1.0, 1.0)
    start = -eta / 100 * (data.X[:, 0] - data.X[:, 1]).sum(0)
    return _halves(data, eta, 0, None if kept else start)


def half_overlap(kept: bool) -> Sides:
    """log ℒ(u₂, W₂) ≤ log ℒ(u₂, W₁) (Attention's half), (N0) and (E): orthogonal tokens (kept), or ⟨a₁ − b₁, a₂⟩ = −0.4999, which all but stops the first decoder's choice, and a short b₂ that asks."""
    K = np.diag([1.0, 0.5, 0.6, 1e-12])
    if not kept:
        K[0, 2] = K[2, 0] = -0.4999
    return _halves(with_products(K, (0, 1)), small_step(2, 1 / 0.6, 1.0), 1)


def loss_long_step(kept: bool) -> Sides:
    """log ℒ ≤ 1/18 − 0.489γη[3(t + ½)^{1/3} − 2.45] at t = 1 (Theorem 2), within the limits, squared lengths of a 1 and 100, of b ½: η as in (E) (kept), or 10."""
    data = orthogonal([(1.0, 0.5), (100.0, 0.5)], (0, 0))
    eta = small_step(2, 100.0, 100.0) if kept else 10.0
    gamma = 1 / math.sqrt(1 + 1 / 100)
    return data.after(eta, 1).log_loss, 1 / 18 - 0.489 * gamma * eta * (3 * 1.5 ** (1 / 3) - 2.45)


def loss_overlap(kept: bool) -> Sides:
    """log ℒ ≤ 1/18 − 0.489γη[3(t + ½)^{1/3} − 2.45] at t = 10⁵ (Theorem 2), (N0) and (E): orthogonal tokens (kept, t = 2000), or a = (±1, ½), b = (0, −½), whose means cancel, so that nothing ever moves."""
    n, kappa, longest = 2, 1.0, 1.25
    eta, t = small_step(n, kappa, longest), 100_000
    if kept:
        data, gamma, steps = orthogonal([(1.25, 0.25)] * 2, (0, 0)), math.sqrt(1.25 / 2), 2000
        t = steps
    else:
        data = Pairs(np.array([[[1, 0.5], [0, -0.5]], [[-1, 0.5], [0, -0.5]]]), (0, 0))
        gamma, steps = 0.5, 10
        assert all((pull == 0).all() for pull in data.pulls(data.after(eta, steps)))
    bound = 1 / 18 - 0.489 * gamma * eta * (3 * (t + 0.5) ** (1 / 3) - 2.45)
    return data.after(eta, steps).log_loss, bound


def loss_other_start(kept: bool) -> Sides:
    """log ℒ ≤ 1/18 − 0.489γη[3(t + ½)^{1/3} − 2.45] at t = 1 (Theorem 2), within the limits: from u₀ = 0 (kept), or −a₁."""
    data = orthogonal([(1.0, 0.5)] * 2, (0, 0))
    eta = small_step(2, 1.0, 1.0)
    loss = data.after(eta, 1, None if kept else -data.X[0, 0]).log_loss
    return loss, 1 / 18 - 0.489 * math.sqrt(0.5) * eta * (3 * 1.5 ** (1 / 3) - 2.45)


def turned_away(kept: bool) -> Sides:
    """S_t^W/(ℰ‖W_mm‖) ≤ ⟨W_t, Ŵ⟩ at t = 5 (Theorem 3), within the limits but for the squared lengths 1 and ½ (kept) or ½ and 1 of optimal and other tokens."""
    lengths = (1.0, 0.5) if kept else (0.5, 1.0)
    data = orthogonal([lengths] * 2, (0, 0))
    eta, E = small_step(2, 1.0, 1.0), data.E
    goal = E.sum(0) / (E[0] ** 2).sum()
    travelled = eta * sum(1 / k for k in range(2, 6))
    size = float(np.linalg.norm(goal))
    W = data.after(eta, 5).W
    return travelled / float(np.linalg.norm(E[0])) / size, float((W * goal).sum()) / size * (1 + 1e-9)


def inactive(kept: bool) -> Sides:
    """|⟨E₁, W_mm⟩ − 1| = 0 (Theorem 3: every constraint is active), squared lengths 16, 1 and 4, 1: orthogonal tokens (kept), or all on one line, where E = 12, 2 and W_mm = ½."""
    if not kept:
        return 12 / 2 - 1, 0
    data = orthogonal([(16.0, 1.0), (4.0, 1.0)], (0, 0))
    E = data.E
    goal = sum(e / (e**2).sum() for e in E)
    return abs(float((E[0] * goal).sum()) - 1), 1e-12


def decoder_of_the_others(kept: bool) -> Sides:
    """cγ ≤ min_i⟨u, a_i⟩/‖u‖ (Theorem 4), c = 10⁻³, in the limit, orthogonal tokens, squared lengths 1 and ½ (kept) or ½ and 1: u/‖u‖ tends to the SVM of the longer tokens."""
    lengths = (1.0, 0.5) if kept else (0.5, 1.0)
    data = orthogonal([lengths] * 2, (0, 0))
    longer = data.X[:, 0 if kept else 1]
    u = (longer / (longer**2).sum(1, keepdims=True)).sum(0)
    gamma = math.sqrt(lengths[0] / 2)
    return 1e-3 * gamma, float((data.X[:, 0] @ u).min() / np.linalg.norm(u))


def _opposed(kept: bool) -> Pairs:
    """a₁ = (1, −3), b₁ = (1, 2.9), a₂ = (0, 2), b₂ = (0, 1), queries b₁ and a₂; kept: orthogonal tokens of these lengths."""
    if kept:
        return orthogonal([(10.0, 9.41), (4.0, 1.0)], (1, 0))
    return Pairs(np.array([[[1, -3], [1, 2.9]], [[0, 2], [0, 1]]]), (1, 0))


def decoder_overlap(kept: bool) -> Sides:
    """0 ≤ min_i⟨u_t, a_i⟩/‖u_t‖ (Theorem 4) at t = 3000, (N0) and (E): orthogonal tokens (kept), or overlapping ones with γ > 0."""
    data = _opposed(kept)
    u = data.after(small_step(2, 2.5, 10.0), 3000).u
    return 0.0, float((data.X[:, 0] @ u).min() / np.linalg.norm(u))


def decoder_prefers_other(kept: bool) -> Sides:
    """(eq. of Theorem 4) for one sample after one step of length 10, a = e₁, b = ½e₂ (kept) or 10e₂, p = ½, ν = 0, C = 0: the loss condition is an equality."""
    b = 0.5 if kept else 10.0
    size = math.hypot(0.5, b / 2)
    return 1 - 0.5, 0.5 / size


def no_margin_left(kept: bool) -> Sides:
    """(eq. of Theorem 4) on the line, three samples of ten equal tokens, 1, 1, 1 (kept) or 1, −1, 1, after one step of length S = 100, C = 0, ν = 1, p = 1/10."""
    S = 100.0
    if kept:
        return 1 - math.log(3) / S - 2 * 0.9, 1.0
    assert math.log((2 * math.exp(-S) + math.exp(S)) / 3) <= S  # log ℒ ≤ C − Sγ₀, γ₀ = −1
    return -1 - math.log(3) / S + 2 * 0.9, -1.0
