"""Controls of what is proved of attention on a context: laws of one token, or of two, in one dimension, where everything can be written down.

Each returns the left and the right side of the conclusion, without a hypothesis or with it (``kept``).
"""

import math
from fractions import Fraction

import numpy as np
import torch
from scipy import stats

from shallowformer.preconditioned import exact, factorisation

Sides = tuple[float, float]

#: A Gauss–Hermite rule for the standard normal law.
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
NORMAL, SIGNS = (NODES, WEIGHTS), (np.array([-1.0, 1.0]), np.array([0.5, 0.5]))
FLOOR = 8.435767  # c_*, as the page has it


# Theorem 1.
def tokens(kept: bool) -> Sides:
    """|Limit of the loss − ℰ| against 0 (rounding 10⁻⁹) for tokens ±1, whose tilted mean is tanh q, or normal ones; a = b = M = 1, ℰ = 0, no noise.

    Queries are normal and independent of the tokens; of them those below 4 in size, which bounds the loss from below.
    """
    return sum(p * (tilted(kept, x) - x) ** 2 for x, p in zip(*NORMAL, strict=True) if abs(x) < 4) / 2, 1e-9


def tilted(normal: bool, q: float) -> float:
    """The mean of a token, normal or ±1, tilted by e^{qx}."""
    points, mass = NORMAL if normal else SIGNS
    return float((mass * np.exp(q * points) * points).sum() / (mass * np.exp(q * points)).sum())


def one_token(kept: bool) -> Sides:
    """|Limit − ℰ| against 0 for tokens that are all the same one, so that ẑ = x_1, or independent: a = b = M = 1, ℰ = 0."""
    return (Fraction(0) if kept else Fraction(1, 2) * (1 + 1)), 0


def dependent_noise(kept: bool) -> Sides:
    """|Limit − (ℰ + σ²/2)| against 0 for ω = x, σ = 1, or an independent ω, where ab − M = 1: ½E(Fx − ω)²."""
    F = 1
    mean_square = F**2 + 1 if kept else (F - 1) ** 2
    return abs(Fraction(mean_square, 2) - Fraction(F**2 + 1, 2)), 0


def own_query(kept: bool) -> Sides:
    """|E(aẑ − Mx)² − the exact loss| against 0 for one token, n = 1, P_2 = P_3 = 1, a = b = M = 1: the query itself, or a fresh one."""
    by_formula = 0 + 1 + 1 - 0
    return abs((2 if kept else 0) - by_formula), 0


# The exact law.
def two_signs(kept: bool) -> Sides:
    """|E ẑ − (1 − E P_2)q| against 0 (10⁻⁹) for two independent tokens, ±1 or normal, q = 1."""
    points, mass = NORMAL if kept else SIGNS
    s, t, p = points[:, None], points[None, :], 1 / (1 + np.exp(points[None, :] - points[:, None]))
    both = mass[:, None] * mass
    mean, square = (both * (p * s + (1 - p) * t)).sum(), (both * (p**2 + (1 - p) ** 2)).sum()
    return float(abs(mean - (1 - square))), 1e-9


def twice_the_same(kept: bool) -> Sides:
    """The same for a token that is there twice, E ẑ = 0 and P_2 = ½, or for two independent normal ones."""
    return two_signs(True) if kept else (0.5, 1e-9)


def query_is_the_token(kept: bool) -> Sides:
    """|E e² − E[P_2 + (P_2 − 6P_3 + 6P_2²)q²]| against 0 for one token: q = x_1, where e = 0 and the formula has 2, or q = 1, where both have 2."""
    return (0 if kept else 2), 0


# The noise constant.
def price(b: float) -> float:
    """𝒱 for a = 1, d = 1."""
    return (1 - 2 * b * b) ** -0.5 * (1 + b * b / (1 - 2 * b * b))


def price_of_its_own(kept: bool) -> Sides:
    """n·E(ẑ − bx)² against 𝒱 at n = 1, b = −½: the query is the only token, (1 − b)² = 9/4, or a fresh one, 1 + b²."""
    b = -0.5
    return (1 + b**2 if kept else (1 - b) ** 2), price(b)


def queries_of_size_one(kept: bool) -> Sides:
    """|lim n·E(ẑ − bx)² − 𝒱| against 0 (10⁻⁶) at b = 0.5: E v(bx) with v(q) = e^{q²}(1 + q²) for queries ±1 or normal."""
    points, mass = NORMAL if kept else SIGNS
    q = 0.5 * points
    return abs(float((mass * np.exp(q**2) * (1 + q**2)).sum()) - price(0.5)), 1e-6


def bounded_tokens(kept: bool) -> Sides:
    """n·E(ẑ − bx)² against 𝒱 at n = 10⁶, b = ½, for tokens ±1, where |ẑ| ≤ 1 and the mean square is at least E(b|x| − 1)²₊, or normal ones."""
    b, n = 0.5, 10**6
    if kept:
        return n * _risk(b, n), price(b)
    points = np.linspace(2, 12, 100_001)
    density = np.exp(-(points**2) / 2) / math.sqrt(2 * math.pi)
    return n * 2 * float(((b * points - 1) ** 2 * density).sum() * (points[1] - points[0])), price(b)


def _risk(b: float, n: int) -> float:
    """E(ẑ − bx)² for normal tokens and a fresh normal query, d = 1, by the exact law."""
    return exact.isotropic(b, 1, [n])[0]


def all_the_same(kept: bool) -> Sides:
    """n·E(ẑ − bx)² against 𝒱 at n = 100, b = ½, for a token that is there a hundred times, 100(1 + b²), or independent ones."""
    b, n = 0.5, 100
    return (n * _risk(b, n) if kept else n * (1 + b * b)), price(b)


# Bias of the gradient, and the algorithm.
def far_radius(kept: bool) -> Sides:
    """√n|E T_n| at n = 10¹⁶ against ten times its value at 10⁸, at b = 2 or ½: E T_n = −bE[x²P̄_2(bx)] is the mean bias at A = 0, M = 1."""
    b = 0.5 if kept else 2.0
    near, far = exact.shortfall(b, [1e8, 1e16])
    return 1e8 * abs(far), 10 * 1e4 * abs(near)


def noise_is_the_query(kept: bool) -> Sides:
    """|lim ∇_Aℒ_n − ∇_Aℰ| against 0 at A = 0, d = 1, b = ½, for ω = x or an independent ω: −E(Mx + ω)bx + Mb."""
    return (Fraction(0) if kept else Fraction(1, 2)), 0


def sign_tokens(kept: bool) -> Sides:
    """|lim ∇_Aℒ_n − ∇_Aℰ| against 0 (10⁻⁹) at A = 0, d = 1, b = ½, M = 1, for tokens ±1, where ẑ tends to tanh bx, or normal ones.

    Queries are normal.
    """
    inner = zip(NODES[20:60], WEIGHTS[20:60], strict=True)  # the rest has a mass of 10⁻¹²
    found = sum(w * x * tilted(kept, 0.5 * x) for x, w in inner)
    return abs(found - 0.5), 1e-9


def saddle_start(kept: bool) -> Sides:
    """Value f after 200 steps of 1/10 against (1 − η s_2)²⁰⁰f_0, for s = (2, 1), in the limit of infinite data: from the saddle that misses s_2, or in the basin."""
    s = torch.tensor([2.0, 1.0], dtype=torch.float64)
    W = torch.diag(torch.tensor([2.0, 0.81 if kept else 0.0], dtype=torch.float64).sqrt())
    U = V = W
    start = float(factorisation.value(U, V, s.diag()))
    for _ in range(200):
        G, H = factorisation.gradient(U, V, s.diag())
        U, V = U - 0.1 * G, V - 0.1 * H
    return float(factorisation.value(U, V, s.diag())), 0.9**200 * start


def wrong_target(kept: bool) -> Sides:
    """Value f in the end, in the limit of infinite data, against 10⁻⁹ for noise ω = x, whose regression matrix is M + 1, or independent noise; d = 1."""
    u, goal = 1.0, 1.0 if kept else 2.0
    for _ in range(400):
        u -= 0.1 * (u * u - goal) * u
    return (u * u - 1.0) ** 2 / 2, 1e-9


def large_radius(kept: bool) -> Sides:
    """n·E(ẑ − bx)² at n = 10¹⁶ against twice its value at 10⁸, at the optimum, for b = 0.9 or b = ½."""
    b = 0.5 if kept else 0.9
    near, far = exact.isotropic(b, 1, [1e8, 1e16])
    return 1e16 * far, 2 * 1e8 * near


# The spectral start, d = 1 unless said.
def fewer_samples(kept: bool) -> Sides:
    """|E f̂_0 − d²σ²/(2n)| against 0 in units of σ², d = 2, with pseudo-inverses: n = 1, where dn numbers are fitted, or n = 2."""
    d, n = 2, 2 if kept else 1
    return abs(Fraction(d * min(n, d), 2 * n) - Fraction(d * d, 2 * n)), 0


def noise_of_size_one(kept: bool) -> Sides:
    """|P(f̂_0 ≤ σ²/4n) − P(χ²_1 ≤ ½)| against 0 (10⁻⁹) for n = 1: f̂_0 = ½ω² with ω = ±σ, or normal."""
    law = float(stats.chi2.cdf(0.5, 1))
    return abs((law if kept else 0.0) - law), 1e-9


def noise_along_inputs(kept: bool) -> Sides:
    """E f̂_0 against σ²/(2n) for n = 10 and ω_i = σx_i, where f̂_0 = ½σ²Σ̂, or independent noise; σ = 1."""
    return (Fraction(1, 20) if kept else Fraction(1, 2)), Fraction(1, 20)


def few_and_noisy(kept: bool) -> Sides:
    """1 − 2e^{−t²/2} against P(f̂_0 ≤ ⅛ŝ²), t = 3, s = 1, n = 4 and σ = 10, or n = 100 000: a Fisher law, σ²χ²_1/(2n) ≤ χ²_n/(8n)."""
    n, sigma = 100_000 if kept else 4, 10.0
    return 1 - 2 * math.exp(-4.5), float(stats.f.cdf(n / (4 * sigma**2), 1, n))


# Perfect weights.
def no_weights(kept: bool) -> Sides:
    """c_*M² against 𝒱 for M = 1: Ã = 0, which predicts nothing, or ÃB̃ = M at K = (5 − √13)/6, the best."""
    k = (5 - math.sqrt(13)) / 6
    return FLOOR, ((1 - 2 * k) ** -0.5 * (1 / k + 1 / (1 - 2 * k)) if kept else 0.0)


def samples_of_size_one(kept: bool) -> Sides:
    """|Risk of least squares − σ²/(2(n − 2))| against 0 for n = 4, σ = 1: inputs ±1, σ²/(2n), or normal, by E 1/χ²_4 = ½."""
    return abs((Fraction(1, 4) if kept else Fraction(1, 8)) - Fraction(1, 4)), 0


# Whole runs, and imbalance.
def entrywise_step(kept: bool) -> Sides:
    """‖step(gOᵀ) − step(g)Oᵀ‖² against 0 for the rotation by 3/5, 4/5 and g = (1, 0): the signs of the entries, or g itself."""
    O = ((Fraction(3, 5), Fraction(-4, 5)), (Fraction(4, 5), Fraction(3, 5)))
    turn = lambda g: tuple(sum(row[k] * g[k] for k in range(2)) for row in O)
    step = (lambda g: g) if kept else (lambda g: tuple((x > 0) - (x < 0) for x in g))
    g = (Fraction(1), Fraction(0))
    return sum((a - b) ** 2 for a, b in zip(step(turn(g)), turn(step(g)), strict=True)), 0


def one_step_of_descent(kept: bool) -> Sides:
    """|ΔC| against 0 at λ = 0 for U = 2, V = 1, target 0: a step of 1/10, whose second order is η²(4 − 16), or the flow, whose first order is 0."""
    U, V, eta = 2, 1, Fraction(1, 10)
    g_U, g_V = U * V * V, U * V * U
    first = -2 * (U * g_U - V * g_V)
    return abs(first if kept else first * eta + eta**2 * (g_U**2 - g_V**2)), 0


def off_balance(kept: bool) -> Sides:
    """|∇f_½ − ∇f_0|² against 0 at a minimum of f_0, U = 2, V = ½, or U = V = 1, target 1."""
    U, V = (Fraction(1), Fraction(1)) if kept else (Fraction(2), Fraction(1, 2))
    C = U**2 - V**2
    return (U * C / 2) ** 2 + (V * C / 2) ** 2, 0


def rescaling_error(kept: bool) -> Sides:
    """|C_1| against 2ηf_0(z_0) = 0 from the minimum U = V = 1 with η = 1: an error ξ = (½, −1) of the gradient moves it to (½, 2), f = 0; or ξ = 0."""
    U, V = (1, 1) if kept else (Fraction(1, 2), 2)
    return abs(Fraction(U) ** 2 - Fraction(V) ** 2), 0


def imbalance_at_start(kept: bool) -> Sides:
    """|C_t| against 2ηf_0(z_0) = 0 from the minimum U = 2, V = ½, which stays, or U = V = 1."""
    return (0 if kept else 4 - Fraction(1, 4)), 0


def step_without_gain(kept: bool) -> Sides:
    """‖C_1‖_F against 2ηf_0, for U = V = e_1, target e_1e_1ᵀ + e_2e_1ᵀ, f_0 = ½ and η = 2, which overshoots, or η = 1: U = e_1 + ηe_2, C = η²."""
    eta = 1 if kept else 2
    return eta**2, 2 * eta * Fraction(1, 2)
