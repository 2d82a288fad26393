"""Controls of what is proved of random blocks and of ranks: laws whose probabilities are known exactly, and matrices of a few whole numbers."""

import math
from fractions import Fraction

import numpy as np
from scipy import stats

Sides = tuple[float, float]


def half_normal_squares(d_1: int, below: float) -> float:
    """P(Σ_j relu(g_j)² ≤ ``below``) of d_1 independent normal g_j: χ² with a binomial number of degrees of freedom."""
    k = np.arange(d_1 + 1)
    each = np.where(k > 0, stats.chi2.cdf(below, np.maximum(k, 1)), below >= 0)
    return float((stats.binom.pmf(k, d_1, 0.5) * each).sum())


# Theorem 3, Hoeffding: four numbers ±1.
def dependent_coins(kept: bool) -> Sides:
    """P(|ΣX_i| ≥ 4) against 2exp(−2·16/(4·2²)) for four independent coins ±1, or one coin four times."""
    return (0.125 if kept else 1.0), 2 * math.exp(-2)


def long_range(kept: bool) -> Sides:
    """P(|X| ≥ 3) against 2exp(−2·9/2²) for X = ±3, outside [a, b] = [−1, 1], or X = ±1."""
    return (0.0 if kept else 1.0), 2 * math.exp(-4.5)


def negative_deviation(kept: bool) -> Sides:
    """P(|X| ≥ t) against 2exp(−2t²/2²) for a coin ±1 at t = −2, or t = 2."""
    return (0.0 if kept else 1.0), 2 * math.exp(-2)


# Lemmas 3 and 4: one column.
def column(law: str, N: int, low: float, high: float) -> float:
    """P(‖A‖ outside [low, high]) of a column of N numbers: independent normal, one normal number N times, or 0 but for a part of 10⁻⁶."""
    if law == "normal":
        return float(stats.chi.cdf(low, N) + stats.chi.sf(high, N))
    if law == "repeated":
        return float(1 - 2 * (stats.norm.sf(low / math.sqrt(N)) - stats.norm.sf(high / math.sqrt(N))))
    return (1 - 1e-6) ** N  # all are 0, and low is above 0


def lemma_3(kept: bool, law: str) -> Sides:
    """P(singular value of 100 × 1 outside √100 ∓ 1 ∓ t) against 2e^{−t²/2}, t = 3.5."""
    t = 3.5
    return column("normal" if kept else law, 100, 9 - t, 11 + t), 2 * math.exp(-(t**2) / 2)


def negative_t(kept: bool) -> Sides:
    """The same at t = −3.5, where no number is in the interval, or at t = 3.5."""
    t = 3.5 if kept else -3.5
    inside = column("normal", 100, 9 - t, 11 + t) if t > 0 else 1.0
    return inside, 2 * math.exp(-(t**2) / 2)


def lemma_4(kept: bool, law: str) -> Sides:
    """P(singular value of 100 × 1 outside [½·9, ½·31]) against 2e^{−81/8}."""
    return column("normal" if kept else law, 100, 4.5, 15.5), 2 * math.exp(-81 / 8)


def wide_block(kept: bool) -> Sides:
    """The same for a row of 100 numbers, N = 1, n = 100, where Lemma 4 would say at most ½(3 + 10); or a column of 100."""
    low, high = (4.5, 15.5) if kept else (-4.5, 6.5)
    return column("normal", 100, low, high), 2 * math.exp(-81 / 8)


# Widths: one row, Z = 1 = β, so σ = 1 = κ̄ and K = ½ for ReLU and every symmetric law of variance 1.
def tail_of_p(d_1: int, v: float, theta: float, epsilon: float) -> float:
    """The right side of the tail bound at explicit widths, for one row of norm 1."""
    h = epsilon + (1 - epsilon) * math.log(1 - epsilon)
    return math.exp(-d_1 * (v - theta) * h / (4 * math.log(2 / theta)))


def width_p(kept: bool, law: str) -> Sides:
    """P(σ²_min(A) ≤ d_1/8) against the bound at v = ½, ϑ = ¼, ε = ½, d_1 = 1000: sparse entries, equal columns, or independent normal ones."""
    right = tail_of_p(1000, 0.5, 0.25, 0.5)
    if kept:
        return half_normal_squares(1000, 125.0), right
    return {"sparse": (1 - 1e-6) ** 1000, "equal columns": 0.5}[law], right


def too_large_v(kept: bool) -> Sides:
    """P(σ²_min(A) ≤ 0.9(v − 0.1)d_1) against the bound at d_1 = 20 000 for v = 1, although λ_min(K) = ½, or for v = ½; ϑ = ε = 1/10.

    For v = 1 by Chebyshev: the mean is ½d_1, the variance 5/4·d_1. For v = ½ the event is below 0.36d_1.
    """
    d_1 = 20_000
    if kept:
        return 1.25 / (0.14**2 * d_1), tail_of_p(d_1, 0.5, 0.1, 0.1)
    return 1 - 1.25 / (0.31**2 * d_1), tail_of_p(d_1, 1.0, 0.1, 0.1)


def collinear_rows(kept: bool) -> Sides:
    """P((9′) fails) against δ = 1/100 at the stated width for Z = (1, 2)ᵀ, d = 1, where σ_min(Z) = √5 is the only one and A has equal rows; or Z = 1."""
    width = math.ceil(74 * math.log(34) * math.log(1 / 0.01))
    return (half_normal_squares(width, width / 8) if kept else 1.0), 0.01


def one_neuron(kept: bool) -> Sides:
    """P((9′) fails) against 1/100 for Z = 1 at width 1, half of it where w < 0; or at the stated width."""
    width = math.ceil(74 * math.log(34) * math.log(1 / 0.01)) if kept else 1
    return half_normal_squares(width, width / 8), 0.01


def sparse_moment(kept: bool) -> Sides:
    """Ξ = E a⁴/(E a²)² against (3/2)κ̄²/v² = 6 (one row, ReLU, v = ½) for w = ±√10 with probability 1/10 and else 0; or w normal."""
    p = Fraction(1, 10)
    fourth = Fraction(3, 2) if kept else 1 / p / 2
    return fourth / Fraction(1, 4), Fraction(3, 2) * 4


def equal_columns(kept: bool) -> Sides:
    """P(AAᵀ < (1 − ε)d_1K) against e^{−d_1ε²/(2Ξ)} for ReLU, one row, Ξ = 6, ε = ½, d_1 = 200: all columns equal, or independent."""
    return (half_normal_squares(200, 50.0) if kept else 0.5), math.exp(-200 * 0.25 / 12)


# Gaussian values.
def signs_for_values(kept: bool) -> Sides:
    """P(σ_min(Z) ≤ t) against 2.348t, t = 1/100, N = d = 1, X = S = 1 = g: Z = 1 + W_V with W_V = ±1, or W_V normal."""
    t = 0.01
    return (float(stats.norm.cdf(t - 1) - stats.norm.cdf(-t - 1)) if kept else 0.5), 2.348 * t


def coefficient_afterwards(kept: bool) -> Sides:
    """The same with g = |W_V|, chosen after W_V is drawn, so that Z = 0 where W_V < 0; or g = 1."""
    return signs_for_values(kept)


def rank_of_tokens(kept: bool) -> Sides:
    """P(σ_min(Z) ≤ σ_V·σ_min(SX)·t) against 2.348√2t at t = 1/100, N = d = 2, g = 0: two equal tokens, where both are 0, or SX = I.

    For SX = I, Z = W_V, and σ_min = ||p| − |q|| of two independent vectors in the plane, |p| of density 2xe^{−x²} ≤ √(2/e): so
    P(σ_min ≤ t) ≤ 2√(2/e)t.
    """
    t = 0.01
    return (2 * math.sqrt(2 / math.e) * t if kept else 1.0), 2.348 * math.sqrt(2) * t


def large_c(kept: bool) -> Sides:
    """P(‖g‖ ≤ t) of ten normal numbers against P(χ_10 ≤ t/c)/(2Q(c)), N = 1, d = 10, g = 0, t = 1, for c = 2 or 1."""
    c, t = (1.0 if kept else 2.0), 1.0
    return float(stats.chi.cdf(t, 10)), float(stats.chi.cdf(t / c, 10) / (2 * stats.norm.sf(c)))


# The kernel of a hidden layer, and the affine hull.
def signs_for_weights(kept: bool) -> Sides:
    """v(1) = ½ − 1/(2π) against λ_min(K) for ReLU and Z = I: K = [[½, ¼], [¼, ½]] for weights ±1, and [[½, 1/(2π)], [1/(2π), ½]] for normal ones."""
    return 0.5 - 0.5 / math.pi, (0.5 - 0.5 / math.pi if kept else 0.25)


def dependent_tokens(kept: bool) -> Sides:
    """The distance of −w/g to the affine hull against 0, where Z loses rank: tokens (1, 0, 0), (2, 0, 0), (3, 0, 0), w = (0, 1, 0), g = 1.

    Z = X + 1wᵀ has the rows (k, 1, 0), of rank 2. With the independent tokens (1, 0, 0), (0, 1, 0), (0, 0, 1) and w = −(1, 1, 1)/3, which
    also loses rank, −w is in the hull.
    """
    X = np.eye(3) if kept else np.outer([1, 2, 3], [1, 0, 0])
    w = -np.ones(3) / 3 if kept else np.array([0, 1, 0])
    assert np.linalg.matrix_rank(X + w) < 3
    return _distance(X, -w), 1e-12


def own_attention(kept: bool) -> Sides:
    """The same for two tokens X = I, W_V = diag(−1, 0), g = 1: with S = I, Z = diag(0, 1), and −w = (½, 0); with S uniform the row sums are w."""
    X, V = np.eye(2), np.diag([-2.0, 0.0] if kept else [-1.0, 0.0])
    w = V.T @ X.mean(0)
    S = np.full((2, 2), 0.5) if kept else np.eye(2)
    assert np.linalg.matrix_rank(X + S @ X @ V) < 2
    return _distance(X, -w), 1e-12


def signs_near_hull(kept: bool) -> Sides:
    """P(gδ ≤ s) against P(χ_1 ≤ s), s = 1/100, for one token 1 in one dimension, g = 1: δ = |1 + W_V| with W_V = ±1, or normal."""
    s = 0.01
    return (float(stats.norm.cdf(s - 1) - stats.norm.cdf(-s - 1)) if kept else 0.5), float(
        stats.chi.cdf(s, 1)
    )


def _distance(X: np.ndarray, point: np.ndarray) -> float:
    """The distance of a point to the affine hull of the rows."""
    directions = (X[1:] - X[0]).T
    left = point - X[0]
    return float(np.linalg.norm(left - directions @ np.linalg.lstsq(directions, left, rcond=None)[0]))
