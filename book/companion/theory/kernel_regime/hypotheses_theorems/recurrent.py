"""The recurrent comparison and its neighbours, each statement without one hypothesis: Proposition 2, the cutoff, memory.

For T = 1 the recurrent network is one of heads σ(⟨U, X⟩). "≲" is tried with a million for its constant.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
from scipy.integrate import quad

from companion.theory.kernel_regime import cutoff
from companion.theory.kernel_regime.hypotheses_theorems.one_token import expected

ANY, HUGE = 1e6, 1e30


def _claimed() -> float:
    """A million times 1/√τ + √(log(2n/δ)/m), with 10³⁰ steps and units, n = 1, δ = 0.05."""
    return ANY * (HUGE**-0.5 + math.sqrt(math.log(40) / HUGE))


def _fitted(y: float, eta: float) -> float:
    """Loss after 10³⁰ steps where only readouts move, M = E tanh²: f follows y(1 − (1 − 2ηM)ˢ)."""
    M = expected(lambda u: math.tanh(u) ** 2)
    return y**2 * math.exp(2 * HUGE * math.log1p(-2 * eta * M))


def _label() -> float:
    return expected(lambda u: math.tanh(u) ** 2)


def other_labels(kept: bool) -> tuple[float, float]:
    """Least loss on Ω_ρ, and what is claimed, T = 1, ρ = ν̄ = (1, 0, 0), |f| ≤ 1: the label E tanh² (kept) or 2, of no ν̄ ≤ ρ."""
    return (_fitted(_label(), HUGE**-0.5) if kept else (2 - 1) ** 2), _claimed()


def near_fence(kept: bool) -> tuple[float, float]:
    """The same for the label E tanh², ν̄ = (1, 0, 0), and ρ = ν̄ (kept) or (0.1, 0, 0), where |f| ≤ 0.1."""
    y = _label()
    return (_fitted(y, HUGE**-0.5) if kept else (y - 0.1) ** 2), _claimed()


def no_twins(kept: bool) -> tuple[float, float]:
    """The same for the label 0, ρ = (0.01, 0, 0): twins (kept), f = 0, or independent units, where |f⁽⁰⁾| ≥ 0.1 with probability 0.87."""
    return (0.0 if kept else (0.1 - 0.01) ** 2), _claimed()


def tiny_step(kept: bool) -> tuple[float, float]:
    """The smallest loss for the label E tanh², ρ = ν̄ = (1, 0, 0), after 10³⁰ steps of η = 1/√τ (kept) or 1/τ²."""
    return _fitted(_label(), HUGE**-0.5 if kept else HUGE**-2), _claimed()


def above_the_cutoff(kept: bool) -> tuple[float, float]:
    """|∂h_T/∂w| after a push of 0.1 and silence, T = 200, and a million: w = 0.9 (kept) or 1.2."""
    w = 0.9 if kept else 1.2
    return min(math.tanh(0.1), 0.1 / w) * w**198, ANY


def _through(w: float, T: int) -> float:
    """|∂h_T/∂w| at the states that are steep for w = 1 and drives up to 0.5."""
    h = [0.0, *cutoff.steep_states(1.0, T, 0.5).tolist()]
    p = 0.0
    for before, now in itertools.pairwise(h):
        p = (1 - now**2) * (before + w * p)
    return p


def weight_at_the_edge(kept: bool) -> tuple[float, float]:
    """|∂h_T/∂w| for T = 1000, and 1/(2√(w(1 − w))) at w = 0.99: for w = 0.99 (kept) or 1."""
    return _through(0.99 if kept else 1.0, 1000), 1 / (2 * math.sqrt(0.99 * 0.01))


def other_activation(kept: bool) -> tuple[float, float]:
    """A value of |∂h_T/∂w|/√(T/2) for w = 1, T = 10⁴, and 1.1: the supremum for tanh (kept), or one for z/(1 + z⁸)^{1/8}.

    The latter has σ' = (1 − h⁸)^{9/8}, in terms of h. With states h = (9g)^{−1/7} the gradient g grows like T^{7/8}.
    """
    T = 10**4
    if kept:
        return cutoff.supremum(1.0, T) / math.sqrt(T / 2), 1.1
    g = 0.0
    for _ in range(T - 1):
        h = min(0.5, (9 * g) ** (-1 / 7)) if g else 0.5
        g = h + (1 - h**8) ** 1.125 * g
    return g / math.sqrt(T / 2), 1.1


def silence(kept: bool) -> tuple[float, float]:
    """0.9 and |∂h_T/∂w|/√(T/2) for w = 1, T = 10⁴: the steep states that drives of 0.5 reach (kept), or drives of 0, where all is 0."""
    T = 10**4
    return 0.9, (_through(1.0, T) if kept else 0.0) / math.sqrt(T / 2)


def long_tokens(kept: bool) -> tuple[float, float]:
    """‖∂h_T/∂U‖ for T = 10, w = 1, tokens at a right angle to U, of length 1 (kept) or 2, and its largest value for the unit ball."""
    return 10 * (1 if kept else 2), 10


def on_a_line(kept: bool) -> tuple[float, float]:
    """1 = Σ_{k<1}|w|ᵏ and the largest ‖∂h_1/∂U‖ for ‖U‖ = 3: in the plane, by a token at a right angle to U (kept), or in one dimension."""
    on_line = max(x * (1 - math.tanh(3 * x) ** 2) for x in (k / 1000 for k in range(1001)))
    return 1.0, (1.0 if kept else on_line)


def discontinuous(kept: bool) -> tuple[Fraction, Fraction]:
    """|β| = ½, and the largest miss of a device of one number for L = 2: that keeps the last value (kept), or rounds and packs two into one.

    Rounded to six digits, which is not continuous, x₁ and x₂ are read from 10⁷x₁ + x₂: no series is missed by more than half of 10⁻⁶.
    (Interleaving all digits would miss none.) The values tried include 1/3 and ends of rounding.
    """
    beta, scale = Fraction(1, 2), 10**6
    values = [Fraction(-1), Fraction(-1, 3), Fraction(0), Fraction(1, 2 * scale), Fraction(2, 7), Fraction(1)]
    worst = Fraction(0)
    for first in values:
        for last in values:
            packed = 10**7 * round(first * scale) + round(last * scale)
            read = 0 if kept else Fraction(round(Fraction(packed, 10**7)), scale)
            worst = max(worst, abs(beta * (first - read)))
    return beta, worst


def ring_buffer(kept: bool) -> tuple[float, float]:
    """|β| = ½, and the largest miss for L = 2 of a device that forecasts from nothing (kept), or keeps L = 2 numbers."""
    beta = Fraction(1, 2)
    return beta, beta if kept else Fraction(0)


def mixing(kept: bool) -> tuple[float, float]:
    """|p₄ by the recursion − ∂h₄/∂w₁| for two tanh units with w = (½, ½) that are independent (kept), or see each other with the weight ½."""
    cross = 0.0 if kept else 0.5
    drives = ((1.0, 1.0), (1.0, 0.0), (0.3, 0.2), (0.1, 0.0))

    def states(w: float) -> list[tuple[float, float]]:
        h = [(0.0, 0.0)]
        for x in drives:
            a, b = h[-1]
            h.append((math.tanh(x[0] + w * a + cross * b), math.tanh(x[1] + 0.5 * b + cross * a)))
        return h

    step, h, p = 1e-5, states(0.5), 0.0
    for before, now in itertools.pairwise(h):
        p = (1 - now[0] ** 2) * (before[0] + 0.5 * p)
    exact = (states(0.5 + step)[-1][0] - states(0.5 - step)[-1][0]) / (2 * step)
    return abs(p - exact), 1e-8


def unknown_query(kept: bool) -> tuple[int, int]:
    """How many numbers of the past the answers tell apart, T = 6, d = 1, W = 8, and 2 + 2d: one query, known beforehand (kept), or any last token.

    The rank of the derivative of the means by the T − 1 tokens before, one row for each of 30 last tokens.
    """
    past = np.array([-0.8, -0.4, 0.0, 0.4, 0.8])
    queries = np.array([0.5]) if kept else np.linspace(-1, 1, 30)
    rows = []
    for query in queries:
        tokens = np.append(past, query)
        alpha = np.exp(8 * query * tokens)
        alpha /= alpha.sum()
        rows.append(alpha[:-1] * (1 + 8 * query * (past - alpha @ tokens)))
    return int(np.linalg.matrix_rank(np.array(rows), rtol=1e-9)), 4


def wide_attention(kept: bool) -> tuple[float, float]:
    """E α_t of the token 0.1 among three, the others −0.1, and (1/T)e^{½‖X_t − X̄‖²‖q‖²}: W standard normal (kept), or of deviation 100."""
    s = 1.0 if kept else 100.0
    density = lambda g: math.exp(-(g**2) / 2) / math.sqrt(2 * math.pi)
    weight = lambda g: 1 / (1 + 2 * math.exp(min(700.0, -0.2 * s * g)))
    value = quad(lambda g: weight(g) * density(g), -9, 9, limit=400, points=(0.0,))[0]
    return value, math.exp((0.1 + 0.1 / 3) ** 2 / 2) / 3


def seen_attention(kept: bool) -> tuple[float, float]:
    """E α_t and its bound for W standard normal, q = 1, the token t and two others ∓ it: t = 0.1 (kept), or 0.1 with the sign of W."""
    density = lambda g: math.exp(-(g**2) / 2) / math.sqrt(2 * math.pi)
    weight = lambda g: 1 / (1 + 2 * math.exp(-0.2 * (g if kept else abs(g))))
    value = quad(lambda g: weight(g) * density(g), -9, 9, limit=400, points=(0.0,))[0]
    return value, math.exp((0.1 + 0.1 / 3) ** 2 / 2) / 3


def different_tokens(kept: bool) -> tuple[float, float]:
    """|a − X₁| for W = 0 and the tokens 1 and 1 (kept), or 1 and −1."""
    tokens = (1.0, 1.0 if kept else -1.0)
    return abs(sum(tokens) / 2 - 1.0), 0.0


def unequal_share(kept: bool) -> tuple[float, float]:
    """|a − a'| for the tokens 1 and −1, W = 0, and the same with both tokens (kept) or the first one twice."""
    repeated = (1.0, 1.0, -1.0, -1.0) if kept else (1.0, 1.0, -1.0)
    return abs(sum(repeated) / len(repeated)), 0.0


def another_query(kept: bool) -> tuple[float, float]:
    """|a − a'| for the tokens (1, −½) and (−½, 1), W = 1: the query −½ is kept (kept), or it is the last token."""
    pooled = lambda q: (math.exp(q) - math.exp(-q / 2) / 2) / (math.exp(q) + math.exp(-q / 2))
    return abs(pooled(-0.5) - pooled(-0.5 if kept else 1.0)), 0.0


def far_token(kept: bool) -> tuple[float, float]:
    """‖a − X_{t*}‖ and 2ε/(1 + ε) for T = 2 and the gap 1: tokens 1 and −1, Wq = ½ (kept), or 1 and −10, Wq = 1/11."""
    other, epsilon = (-1.0 if kept else -10.0), math.exp(-1)
    return (1 - other) * epsilon / (1 + epsilon), 2 * epsilon / (1 + epsilon)


def small_gap(kept: bool) -> tuple[float, float]:
    """The same for g = 1 and the tokens 1 and −1, whose logits differ by 1 (kept, Wq = ½), or not at all (W = 0)."""
    weight, epsilon = math.exp(-1.0 if kept else 0.0), math.exp(-1)
    return 2 * weight / (1 + weight), 2 * epsilon / (1 + epsilon)
