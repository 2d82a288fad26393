"""Controls of what is proved about descent in general, about a last layer that starts at 0, and about gradients: numbers and small networks."""

import math
from fractions import Fraction

from companion.theory.residual.hypotheses import SMOOTH, TOKEN, matrix, six
from shallowformer.residual import gradients, model
from shallowformer.residual.parameters import Setting
from shallowformer.residual.smoothed import RELU

Sides = tuple[float, float]


# Lemma 1.
def jump(kept: bool) -> Sides:
    """Rise from −h to h against (C/2)(2h)² at h = 1/8, C = 1, for f = 1 on the right of 0 and 0 on the left, or f = max(x, 0)²/2.

    The first has the gradient 0 wherever it has one; the second is C¹ with a 1-Lipschitz gradient. Both have slope 0 at −h.
    """
    h = Fraction(1, 8)
    return (h**2 / 2 if kept else Fraction(1)), (2 * h) ** 2 / 2


def steep(kept: bool) -> Sides:
    """f(h) against f(0) + 0 + (C/2)h² at h = 10⁻⁸, C = 1000, for f = |x|^{3/2}, whose gradient has no Lipschitz constant near 0, or f = x²."""
    root = Fraction(1, 10**4)
    return (root**4 if kept else root**3), 500 * root**4


# Theorem B: Φ = ½(F − y)², start at 0.
def fold(kept: bool) -> Sides:
    """Error after 2000 steps of 1/100 against the rate of Theorem B for F = a + b − ab, s(u) = 1 − u, r′ = ½, and the target 5/4 or ½.

    From 0 the two numbers stay equal, and F = 1 − (1 − a)² ≤ 1. With the target ½, e_0 = ½ ≤ (2 − ν)∫s = (2 − ν)·3/8 for ν ≤ ½.
    """
    y, a, mu = (0.5 if kept else 1.25), 0.0, 0.01
    for _ in range(2000):
        a += mu * (1 - a) * (y - 1 + (1 - a) ** 2)
    return abs(y - 1 + (1 - a) ** 2), y * (1 - 1.5 * mu / 4) ** 1000


def rising(kept: bool) -> Sides:
    """How far a has to go against R = e_0/((1 − ν/2)s(r′)) (Theorem B), ν = 1/10, for F = (1/10 + b²)a from 0, b stays 0; or F = a/10.

    The slope in a is s(|b|) = 1/10 + b², which increases, r′ = 1, e_0 = 2/5 ≤ (2 − ν)(1/10 + 1/3). Or s = 1/10, r′ = 3.
    """
    e, s = Fraction(2, 5), Fraction(1, 10)
    return e / s, e / (Fraction(19, 20) * (s if kept else s + 1))


def small_ball(kept: bool) -> Sides:
    """Error in the end against a tenth of its start, for F = a − a²/2 ≤ ½ from 0 with R = ¼, s = ¾ there, r′ = 100, and e_0 = 1, or 1/8 ≤ (1 − ν/2)sR."""
    y, a = (0.125 if kept else 1.0), 0.0
    for _ in range(2000):
        a += 0.1 * (1 - a) * (y - a + a * a / 2)
    return abs(y - a + a * a / 2), y / 10


def flat_bound(kept: bool) -> Sides:
    """Φ_1 against (1 − (2 − ν)μs²)Φ_0 (Theorem B) for Φ = ½θ², s = 1/10, μ = 3 and L = ¼, so ν = ¾, or μ = 1 and L = 1, which is the curvature."""
    mu, L = (Fraction(1), Fraction(1)) if kept else (Fraction(3), Fraction(1, 4))
    return (1 - mu) ** 2 / 2, (1 - (2 - mu * L) * mu / 100) / 2


# Theorem C.
def beyond_the_area(kept: bool) -> Sides:
    """Error after 200 steps of ½ against the rate of Theorem C for F(u) = u − u²/2 from 0, s(u) = 1 − u, r = ½, and the target 1 or ¼; F ≤ ½.

    The area under s is 3/8, and ¼/(1 − ½·¼) = 2/7 is below it.
    """
    y, u = (0.25 if kept else 1.0), 0.0
    for _ in range(200):
        u += 0.5 * (1 - u) * (y - u + u * u / 2)
    return abs(y - u + u * u / 2), y * (1 - 0.5 * 0.25 * (1 - 0.25 * y)) ** 200


def far_target(kept: bool) -> Sides:
    """Error in the end against half of e_0 on the same F, μ = 1, r = ½, for the target 2 or 1/5.

    For 2, μMe_0 = 2, so e_0/(1 − μMe_0) = −2 is below every area; F ≤ ½. For 1/5 it is 1/4, below 3/8.
    """
    if not kept:
        return 1.5, 1.0
    y, u = 0.2, 0.0
    for _ in range(200):
        u += (1 - u) * (y - u + u * u / 2)
    return abs(y - u + u * u / 2), y / 2


def ripple(kept: bool) -> Sides:
    """e_1 against e_0 for a step of 1 from 0 to the target 1 on F(u) = u, or on F with the slope 100 for 2/5 < u < ½ and 1 elsewhere.

    The iterates 1, −8.9, 1, … keep off the steep part, so μ‖J‖² = 1 at each, s = 1 everywhere, and M = 0 where descent looks.
    """
    F = lambda u: u if kept or u <= Fraction(2, 5) else u + 99 * min(u - Fraction(2, 5), Fraction(1, 10))
    return abs(F(Fraction(1)) - 1), Fraction(1)


def three_halves(kept: bool) -> Sides:
    """The path against e_0 − e_1 (Theorem C, M = 0, s = 1) for one step of 3/2 or 1 on F(u) = u, e_0 = 1."""
    mu = Fraction(1) if kept else Fraction(3, 2)
    return mu, 1 - abs(1 - mu)


# Other activations, in Theorem A.
def stretching(kept: bool) -> Sides:
    """|ΔW_2| against (2/α)c_2e_0 (Theorem A) for φ(x) = 1000x or φ(x) = x, one token 1, V = U = W_1 = 1 and W_2 = 1/1000.

    F = (1 + V)(1 + kW_1W_2)U with k = 1000 has φ″ = 0 and φ(0) = 0; (I0) holds at the error 10⁻¹⁵, in all four cases.
    """
    k = 1.0 if kept else 1000.0
    return _drift_of_W_2(lambda x: k * x, lambda x: k, 1.0)


def offset(kept: bool) -> Sides:
    """The same for φ(x) = x + 1 or φ(x) = x with W_1 = 10⁻⁵: φ(0) = 1 makes A larger than every multiple of W_1."""
    return _drift_of_W_2(lambda x: x + (0.0 if kept else 1.0), lambda x: 1.0, 1e-5)


def _drift_of_W_2(phi, slope, w_1: float) -> Sides:
    """How far W_2 moves in 4000 steps of half of 1/‖J‖², and how far Theorem A lets it: all by hand."""
    V, w, a, U, e = 1.0, w_1, 1e-3, 1.0, 1e-15
    A = phi((1 + V) * w)
    grow = lambda V, w, a, U: (
        (1 + slope(0) * w * a) * U,
        (1 + V) * slope(0) * a * U,
        phi((1 + V) * w) * U,
        (1 + V) + phi((1 + V) * w) * a,
    )
    mu = 0.5 / sum(part**2 for part in grow(V, w, a, U))
    E, moved = e, 0.0
    for _ in range(4000):  # errors of 10⁻¹⁵: the Jacobian does not move
        J = grow(V, w, a, U)
        moved += mu * J[2] * E
        E -= mu * sum(part**2 for part in J) * E
    zeta = 1 + 1.5 * V
    c_2 = zeta * 1.5 * w_1 * 1.5 * U
    alpha = (A * U) ** 2 / 16
    return moved, 2 / alpha * c_2 * e


# A zero last layer: W_2 = 0, g = 1, g_f = 0, so F = 0 at the start.
def silent_readout(kept: bool, equal: bool) -> Sides:
    """e_1 against (1 − μα)e_0 (area theorem), α = ½σ_A²σ_U², e_0 = 2⁻²⁰, μ = 1/(4σ_A²σ_U²), at equal tokens with opposite errors or a blind W_U.

    Errors so small leave ω ≤ ½σ_A²σ_U². At equal tokens A⁺E = 0 and in the blind case EW_U⁺ = 0: the area to be paid is 0.
    """
    X = matrix([1.0], [1.0])[None] if equal and not kept else TOKEN
    U, way = ([[1.0]], [1.0]) if equal or kept else ([[1.0, 0.0]], [0.0, 1.0])
    theta = six(W_Q=[[1.0]], W_K=[[1.0]], W_V=[[0.5]], W_1=[[2.0]], W_2=[[0.0]], W_U=U)
    setting, e = Setting(1.0, 0.0, SMOOTH), 2.0**-20
    Y = -e * (matrix([1.0], [-1.0]) / math.sqrt(2) if len(X[0]) == 2 else matrix(way))[None]
    A = float(model.forward(X, theta, setting).A.norm())
    mu = 0.25 / A**2
    slope = gradients.gradients(X, Y, theta, setting)
    after = type(theta)(*(W - mu * D for W, D in zip(theta, slope, strict=True)))
    return math.sqrt(2 * float(model.loss(X, Y, after, setting))), (1 - mu * A**2 / 2) * e


def long_first_step(kept: bool) -> Sides:
    """e_1 against (1 − μα)e_0, α = ½σ_A²σ_U² = ½, for F = (1 + V)W_1W_2U at W_2 = 0, all else of size 1, with the step 3 or 1/(σ_Aσ_U)²; exact.

    At W_2 = 0 = F only W_2 moves, by μe_0. The factor with μα > 1 is taken as 1.
    """
    mu, e = Fraction(1 if kept else 3), Fraction(1, 10**6)
    return abs(1 - mu) * e, (max(1 - mu / 2, 0) if kept else 1) * e


def stretched(kept: bool) -> Sides:
    """|ΔW_1| against its budget in the area theorem for F = k·(1 + V)W_1W_2U, φ(x) = kx, k = 10 or 1; z = W_1 = U = 1, W_2 = 0, e_0 = 1/1000.

    c_1 = z̄r with r ≤ ū·path, so a budget of 1.1·z e_0x/σ_A on [0, 1.1·e_0/(σ_Aσ_U)²] has the slope that is asked for; σ_A = k.
    """
    k, e = (1.0 if kept else 10.0), 1e-3
    V, w, a, U, mu = 1.0, 1.0, 0.0, 1.0, 0.5 / k**2
    for _ in range(60):
        E = k * V * w * a * U - e
        dV, dw, da, dU = w * a * U, V * a * U, V * w * U, V * w * a
        V, w, a, U = (x - mu * E * k * d for x, d in ((V, dV), (w, dw), (a, da), (U, dU)))
    return abs(w - 1), 1.1 * e / k * 1.1 * e / k**2


def unpaid(kept: bool) -> Sides:
    """The clock x_t after 60 steps of ½ against X (area theorem) for F = (1 + V)W_1W_2U at W_2 = 0, all else of size 1, e_0 = 10⁻⁶.

    σ_A = σ_U = 1 and A_* = e_0. Errors so small leave budgets below 10⁻⁵ and σ_A²σ_U² − ω above α = 0.95. X = 1.1e_0, so the area is
    1.045e_0, or X = e_0/2.
    """
    e_0, mu = 1e-6, 0.5
    V, w, a, U, x = 0.0, 1.0, 0.0, 1.0, 0.0
    for _ in range(60):
        E = (1 + V) * w * a * U - e_0
        x += mu * abs(E)
        slopes = w * a * U, (1 + V) * a * U, (1 + V) * w * U, (1 + V) * w * a
        V, w, a, U = (part - mu * E * d for part, d in zip((V, w, a, U), slopes, strict=True))
    return x, (1.1 if kept else 0.5) * e_0


# Gradients and softmax.
def one_sided_slope(kept: bool) -> Sides:
    """|(Φ(w + h) − Φ(w))/h − ∂_wΦ| against a²h/2, which a quadratic allows, at w = 0 or 1, for ½(1 + a·relu(w) − y)², a = 2, y = −1, h = 1/1000."""
    a, y, h, w = 2, -1, Fraction(1, 1000), int(kept)
    loss = lambda w: (1 + a * max(w, 0) - y) ** 2 / Fraction(2)
    slope = float(
        gradients.gradients(
            TOKEN,
            matrix([y])[None],
            six(W_Q=[[1]], W_K=[[1]], W_V=[[0]], W_1=[[w]], W_2=[[a]], W_U=[[1]]),
            Setting(1.0, 1.0, RELU),
        ).W_1
    )
    return abs((loss(w + h) - loss(w)) / h - Fraction(slope)), Fraction(a * a) * h / 2


def steeper(kept: bool) -> Sides:
    """‖∇_{W_1}‖ against ‖Z‖‖W_2‖‖W_U‖e for φ(x) = 2x or x and one number a block: |φ′·Z W_2 U e|, all numbers 1."""
    return (1 if kept else 2), 1


def more_queries(kept: bool) -> Sides:
    """‖S‖² against N, the number of tokens, for two queries, or one, on one token: S is a column of ones."""
    return (1 if kept else 2), 1
