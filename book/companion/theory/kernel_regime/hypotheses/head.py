"""What the hypotheses of Lemmas 1 and 2 and of Remarks 3 to 7 are for: instances on a line without one of them, and with it.

Each function gives the two sides of the conclusion "left ≤ right"; all hypotheses but the named one hold at both instances. Finite steps
and difference quotients of heads in plain Python stand on the left, the package's bounds on the right.
"""

import math
from collections.abc import Callable

import numpy as np

from companion.theory.kernel_regime.hypotheses.on_a_line import (
    RAMP,
    SMOOTH_RAMP,
    Bent,
    Head,
    apart,
    attention,
    hidden,
    model,
    slopes,
)
from shallowformer.kernel_regime.bounds import smoothness
from shallowformer.kernel_regime.neighbourhood import norm_event

Sides = tuple[float, float]
CAMPS = (1.0, -1.0)
#: Two tokens without symmetry.
UNEVEN = (1.0, 0.0)


def _quotient(function: Callable[[float], float], at: float, step: float = 1e-5) -> float:
    """A central difference quotient, right to about 1e-10."""
    return (function(at + step) - function(at - step)) / (2 * step)


def gradient_at_a_kink(kept: bool) -> Sides:
    """|right − left difference quotient| ≤ 0 of f in U at U = 0 (Lemma 1), one token 1: σ(z) = z/(1 + z²) (kept) or |z|; steps of ½."""
    sigma = (lambda z: z / (1 + z**2)) if kept else abs
    return abs((sigma(0.5) - sigma(0)) / 0.5 - (sigma(0) - sigma(-0.5)) / 0.5), 0


def gradient_with_a_query_that_moves(kept: bool) -> Sides:
    """Distance of Lemma 1's ∂f/∂W from the difference quotient at W = 1, tokens ±1, U = 1: q = 1 (kept), or q = W."""
    query = (lambda w: 1.0) if kept else (lambda w: w)
    formula = slopes(CAMPS, 1.0, 1.0, query(1.0))[1]
    return apart(formula, _quotient(lambda w: hidden(CAMPS, 1.0, w, query(w)), 1.0), 1e-8), 0


def gradient_with_shared_attention(kept: bool) -> Sides:
    """The same for the first W of two heads with U = 1, 2 and readouts 1: each has its own W (kept), or W₂ is W₁."""
    f = lambda w: model([(1.0, 1.0, w), (1.0, 2.0, 0.5 if kept else w)], CAMPS)
    return apart(slopes(CAMPS, 1.0, 0.5)[1] / math.sqrt(2), _quotient(f, 0.5), 1e-8), 0


def _step_in_u(token: float, bound: Callable, B: float = 0.1) -> Sides:
    """|h(θ′) − h(θ)| ≤ L‖θ′ − θ‖ for one token and U from 0 to 0.1."""
    return abs(hidden((token,), 0.1, 0.0) - hidden((token,), 0.0, 0.0)), bound(B) * 0.1


def _step_in_w(u: float, q: float, bound: Callable, B: float = 1.0) -> Sides:
    """The same for tokens ±1 and W from 0 to 0.1."""
    return abs(hidden(CAMPS, u, 0.1, q) - hidden(CAMPS, u, 0.0, q)), bound(B) * 0.1


def step_with_a_long_token(kept: bool) -> Sides:
    """|h(θ′) − h(θ)| ≤ L₁‖θ′ − θ‖ (Lemma 2), U from 0 to B = 0.1: one token of length 1 (kept) or 2."""
    return _step_in_u(1 if kept else 2, smoothness.L1_paper)


def step_with_a_long_query(kept: bool) -> Sides:
    """The same for tokens ±1, U = B = 1, W from 0 to 0.1: a query of length 1 (kept) or 2."""
    return _step_in_w(1, 1 if kept else 2, smoothness.L1_paper)


def step_with_a_long_readin(kept: bool) -> Sides:
    """The same for q = 1 and the constant at B = 1: ‖U‖ = 1 (kept) or 3."""
    return _step_in_w(1 if kept else 3, 1, smoothness.L1_paper)


def _bends(bent: Bent) -> tuple[float, float]:
    """Bounds on |σ′| and on |σ″| where it exists, of the two ramps."""
    return {RAMP: (1.0, 0.0), SMOOTH_RAMP: (1.5, 6.0)}[bent]


def _L2(B: float, bent: Bent) -> float:
    s1, s2 = _bends(bent)
    return s2 * (1 + B**2) + 8 * s1 * math.sqrt(1 + B**2)


def slope_across_a_kink(kept: bool) -> Sides:
    """|∂h/∂U at U = ε − at U = −ε| ≤ L₂·2ε (Lemma 2), ε = 0.01, one token 1, B = 1: a smooth ramp (kept), or min(max(z, 0), 1)."""
    bent, e = SMOOTH_RAMP if kept else RAMP, 0.01
    return abs(slopes((1.0,), e, 0, 1, bent)[0] - slopes((1.0,), -e, 0, 1, bent)[0]), _L2(1, bent) * 2 * e


def remainder_of_a_long_token(kept: bool) -> Sides:
    """|h(θ′) − h(θ) − ⟨∇h(θ), θ′ − θ⟩| ≤ ½L₂‖θ′ − θ‖² (Remark 3), U from 0.06 to 0.07 = B: a token of length 1 (kept) or 10."""
    x, u, step = 1.0 if kept else 10.0, 0.06, 0.01
    gap = hidden((x,), u + step, 0) - hidden((x,), u, 0) - slopes((x,), u, 0)[0] * step
    return abs(gap), smoothness.L2_paper(u + step) * step**2 / 2


def step_of_a_long_query(kept: bool) -> Sides:
    """‖∇h(θ)‖ ≤ L₁ (Remark 3) at W = 0, U = B = 1, tokens ±1: a query of length 1 (kept) or 2."""
    return math.hypot(*slopes(CAMPS, 1, 0, 1 if kept else 2)), smoothness.L1_paper(1.0)


def slope_of_a_long_readin(kept: bool) -> Sides:
    """The same for q = 1 and the constant at B = 1: ‖U‖ = 1 (kept) or 3."""
    return math.hypot(*slopes(CAMPS, 1 if kept else 3, 0, 1)), smoothness.L1_paper(1.0)


def remainder_across_a_kink(kept: bool) -> Sides:
    """Taylor's remainder (Remark 3) from U = −ε to ε = 0.01, one token 1, B = 1: a smooth ramp (kept), or min(max(z, 0), 1)."""
    bent, e = SMOOTH_RAMP if kept else RAMP, 0.01
    gap = (
        hidden((1.0,), e, 0, 1, bent)
        - hidden((1.0,), -e, 0, 1, bent)
        - slopes((1.0,), -e, 0, 1, bent)[0] * 2 * e
    )
    return abs(gap), _L2(1, bent) * (2 * e) ** 2 / 2


def _attention_slope(token: float, q: float) -> float:
    """‖∇_W f‖ at W = 0, m = 1, c = U = 1, tokens ±token, by a difference quotient."""
    return abs(_quotient(lambda w: hidden((token, -token), 1.0, w, q), 0.0))


def attention_slope_of_long_tokens(kept: bool) -> Sides:
    """‖∇_W f‖ ≤ |c|σ₁‖U‖/√m = 1 (Remark 4): tokens ±1 (kept) or ±2."""
    return _attention_slope(1 if kept else 2, 1), 1


def attention_slope_of_a_long_query(kept: bool) -> Sides:
    """The same for tokens ±1: a query of length 1 (kept) or 2."""
    return _attention_slope(1, 1 if kept else 2), 1


def readin_slope_of_a_long_token(kept: bool) -> Sides:
    """‖∇_U f‖ ≤ |c|σ₁/√m = 1 (Remark 5) at U = 0: one token of length 1 (kept) or 2."""
    return abs(_quotient(lambda u: hidden((1.0 if kept else 2.0,), u, 0), 0.0)), 1


def readin_slope_of_a_sum(kept: bool) -> Sides:
    """The same for three tokens 1, averaged (kept), or added up as in attention without a softmax."""
    pooled = 1.0 if kept else 3.0
    return abs(_quotient(lambda u: np.tanh(u * pooled), 0.0)), 1


def _start(*heads: Head) -> Sides:
    return abs(model(heads, UNEVEN)), 0


PAIR: tuple[Head, Head] = ((1.0, 0.7, 0.4), (-1.0, 0.7, 0.4))


def start_with_equal_readouts(kept: bool) -> Sides:
    """|f(X; φ⁽⁰⁾)| ≤ 0 (Remark 6) at tokens 1, 0: partners with opposite readouts (kept), or both 1."""
    return _start(PAIR[0], PAIR[1] if kept else PAIR[0])


def start_with_two_readins(kept: bool) -> Sides:
    """The same: partners share U = 0.7 (kept), or one has 0.2."""
    return _start(PAIR[0], PAIR[1] if kept else (-1.0, 0.2, 0.4))


def start_with_two_attentions(kept: bool) -> Sides:
    """The same: partners share W = 0.4 (kept), or one has −1."""
    return _start(PAIR[0], PAIR[1] if kept else (-1.0, 0.7, -1.0))


def start_with_an_odd_head(kept: bool) -> Sides:
    """The same: two heads (kept), or a third one without a partner."""
    return _start(*PAIR, *(() if kept else (PAIR[0],)))


def _reached(start: float, step: float) -> Sides:
    """|U₁| ≤ B_{U,m}(δ′) for m = 2, d = 1, δ′ = 0.05, ρ_u = 1."""
    return abs(start + step), norm_event.B_U(2, 1, 0.05, 1.0)


def length_off_the_event(kept: bool) -> Sides:
    """‖U_i‖ ≤ B_{U,m} on Ω_ρ (Remark 7), m = 2, d = 1, δ′ = 0.05, ρ_u = 1: a start U = 3, in the event (kept), or 10."""
    return _reached(3 if kept else 10, 1 / math.sqrt(2))


def length_off_the_neighbourhood(kept: bool) -> Sides:
    """The same from U = 3: a move by ρ_u/√m (kept), or by 10."""
    return _reached(3, 1 / math.sqrt(2) if kept else 10)


def _third(tokens: tuple[float, ...], weights: tuple[float, ...]) -> float:
    """The third central moment of a random token."""
    a = sum(p * x for p, x in zip(weights, tokens, strict=True))
    return sum(p * (x - a) ** 3 for p, x in zip(weights, tokens, strict=True))


KAPPA = 4 / (3 * math.sqrt(3))


def skewness_outside_the_ball(kept: bool) -> Sides:
    """|κ₃(e, e, e)| ≤ 4/(3√3) (Skewness bound, 4), masses ¾, ¼: points ±1 (kept) or ±2."""
    size = 1 if kept else 2
    return abs(_third((size, -size), (0.75, 0.25))), KAPPA


def skewness_of_a_signed_law(kept: bool) -> Sides:
    """The same for points 0 and 1: masses ½, ½ (kept), or 2, −1."""
    return abs(_third((0, 1), (0.5, 0.5) if kept else (2, -1))), KAPPA


def _curvature(tokens: tuple[float, ...], key: float, u: float, q: float) -> float:
    """‖∇²z‖_op: the largest eigenvalue, in size, of ((0, qM), (qM, q²UE(x − a)³)), logits X_t·key."""
    a, spread = attention(tokens, key)
    weights = [math.exp(x * key) for x in tokens]
    third = sum(p * (x - a) ** 3 for p, x in zip(weights, tokens, strict=True)) / sum(weights)
    return abs(q**2 * u * third) / 2 + math.hypot(q**2 * u * third / 2, q * spread)


def curvature_of_long_tokens(kept: bool) -> Sides:
    """‖∇²z‖ ≤ H⋆(R) at R = 0 (Hessian bound), W = 0: tokens ±1 (kept) or ±2."""
    size = 1.0 if kept else 2.0
    return _curvature((size, -size), 0, 0, 1), smoothness.H_star(0.0)


def curvature_of_a_long_query(kept: bool) -> Sides:
    """The same for tokens ±1: a query of length 1 (kept) or 2."""
    return _curvature(CAMPS, 0, 0, 1 if kept else 2), smoothness.H_star(0.0)


def curvature_of_a_long_readin(kept: bool) -> Sides:
    """‖∇²z‖ ≤ H⋆(1), tokens ±1, masses ¾, ¼, q = 1: ‖U‖ = 1 (kept) or 10."""
    return _curvature(CAMPS, math.log(3) / 2, 1 if kept else 10, 1), smoothness.H_star(1.0)


def curvature_of_one_token(kept: bool) -> Sides:
    """How far ‖∇²z‖ stays below H⋆(1) at the camps that the Hessian bound names, U = q = 1: two tokens (kept), or T = 1."""
    s = float(smoothness.extremal_mean(1.0))
    key = math.atanh(s)
    return apart(smoothness.H_star(1.0), _curvature(CAMPS if kept else (1.0,), key, 1, 1), 1e-12), 0
