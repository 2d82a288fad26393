"""Displays of Theorem 1's proof, each without one hypothesis: the change of features, the gradient, a projected step, the edge of the step.

The change of features is that of two heads in one dimension, c = ±1, whose tokens are ±x with a query of 1, or x alone.
"""

import math
from dataclasses import dataclass, replace

from companion.theory.kernel_regime.hypotheses_theorems.theorem_1 import ALL, constants
from shallowformer.activations import SINE, Activation, stretched
from shallowformer.kernel_regime.convergence import change_of_features, gradient_norms
from shallowformer.kernel_regime.neighbourhood import norm_event

DELTA = 0.05
READ_AND_ATTEND, INPUTS = (1.0, 0.0, 1.0), (0.0, 1.0, 0.0)


@dataclass(frozen=True)
class Place:
    """Two heads that move oppositely from W = 0 and one U, and the comparator, in units of 1/√m = 1/√2."""

    U: float = 3.0
    token: float = 1.0
    c0: float = 1.0  # size of the readouts at the start
    dc: float = 0.0  # how far readouts move outwards
    dw: float = 1.0
    far: float = 1.0  # how far W̃ lies on the other side
    q: float = 1.0


def changed(place: Place) -> float:
    """|⟨∇f(φ) − ∇f(φ⁽⁰⁾), φ̃ − φ⟩| for the tokens ±x, where h = tanh(Ux tanh(xqw)), summed over both heads."""
    root, x, U, q = math.sqrt(2), place.token, place.U, place.q
    w, aim = place.dw / root, -(place.dw + place.far) / root

    def slope(w: float) -> float:
        z = U * x * math.tanh(x * q * w)
        return (1 - math.tanh(z) ** 2) * U * x**2 * q * (1 - math.tanh(x * q * w) ** 2)

    total = 0.0
    for sign in (1, -1):  # the head c = sign moves by sign · w: slopes are even, values odd
        c, dc = sign * place.c0, sign * place.dc / root
        h = sign * math.tanh(U * x * math.tanh(x * q * w))
        total += h * -dc + ((c + dc) * slope(w) - c * slope(0.0)) * sign * aim
    return abs(total) / root


def allowed() -> float:
    """B_CoF for ρ = ν̄ = (1, 0, 1), two heads in one dimension, on the event of probability 0.95."""
    B = norm_event.B_U(2, 1, DELTA, 0.0)
    return change_of_features.B_cof_paper(B, READ_AND_ATTEND, READ_AND_ATTEND, 2)


def _without(kept: bool, **missing: float) -> tuple[float, float]:
    return changed(Place() if kept else replace(Place(), **missing)), allowed()


def long_head(kept: bool) -> tuple[float, float]:
    """|ε_CoF| and B_CoF, for ‖U‖ = 3 (kept; on the event it is at most 3.45) or 1000."""
    return _without(kept, U=1e3)


def long_tokens(kept: bool) -> tuple[float, float]:
    """|ε_CoF| and B_CoF, for tokens ±1 (kept) or ±10."""
    return _without(kept, token=10.0)


def long_query(kept: bool) -> tuple[float, float]:
    """|ε_CoF| and B_CoF, for a query of length 1 (kept) or 100."""
    return _without(kept, q=100.0)


def far_iterate(kept: bool) -> tuple[float, float]:
    """|ε_CoF| and B_CoF, for a point of Ω_ρ (kept), or readouts that have moved by 100ρ_c/√m and nothing else."""
    return _without(kept, dc=100.0, dw=1e-9)


def far_comparator(kept: bool) -> tuple[float, float]:
    """|ε_CoF| and B_CoF, for W̃ within ν̄_w/√m of the start (kept) or 100 times as far."""
    return _without(kept, far=100.0)


def loud_start(kept: bool) -> tuple[float, float]:
    """|ε_CoF| and B_CoF, for readouts that start at ±1 (kept) or ±100."""
    return _without(kept, c0=100.0)


def kinks(kept: bool) -> tuple[float, float]:
    """|ε_CoF| and B_CoF for one token, ρ = ν̄ = (0, 1, 0), m = 10⁶: all U move by 1/√m, half a period of σ, and the comparator by −1/√m.

    σ is the zigzag of slope ±1, whose slope flips there (σ″ = 0 but at kinks; the bound has σ₂ = 1), or sin(Ku)/K (kept), σ₂ = K = π√m.
    A head adds (−2)·(−2/√m)/√m.
    """
    m = 10**6
    sigma: Activation = stretched(SINE, math.pi * m**0.5) if kept else SINE
    B = norm_event.B_U(m, 1, DELTA, 1.0)
    return 4.0, change_of_features.B_cof_paper(B, INPUTS, INPUTS, m, sigma)


def _steep(kept: bool, **missing: float) -> tuple[float, float]:
    """‖∇f‖² and Ā² for two heads, tokens ±x of equal weight, W = 0, U = 2 and readouts c: h = 0 and ∇h = (0, x²Uq); ρ = 0."""
    at = {"token": 1.0, "c": 1.0, "U": 2.0, "q": 1.0} | ({} if kept else missing)
    left = (at["c"] * at["token"] ** 2 * at["U"] * at["q"]) ** 2
    return left, gradient_norms.loudest(0.0, 2) ** 2 * max(1.0, 2.0**2)


def steep_tokens(kept: bool) -> tuple[float, float]:
    """‖∇f‖² and Ā² of tanh heads, for tokens ±1 (kept) or ±2."""
    return _steep(kept, token=2.0)


def steep_query(kept: bool) -> tuple[float, float]:
    """‖∇f‖² and Ā² of tanh heads, for a query of length 1 (kept) or 2."""
    return _steep(kept, q=2.0)


def steep_readouts(kept: bool) -> tuple[float, float]:
    """‖∇f‖² and Ā² of tanh heads, for |c_i⁽⁰⁾| = 1 (kept) or 2."""
    return _steep(kept, c=2.0)


def steep_place(kept: bool) -> tuple[float, float]:
    """‖∇f‖² and Ā² of tanh heads, at φ⁽⁰⁾ with U = 2, all of Ω_ρ for ρ = 0 (kept), or where U has moved to 4."""
    return _steep(kept, U=4.0)


def tanh_in_place_of_any(kept: bool) -> tuple[float, float]:
    """‖∇f‖² and b² max(1, R²) = 1 for one token of length 1 and U = 0, for tanh (kept) or the logistic function times 4.

    The latter has σ₁ = 1, and h = 2, h' = 1 at 0; σ₀ = 4 then belongs into Ā².
    """
    h, slope = (0.0, 1.0) if kept else (2.0, 1.0)
    return h**2 + slope**2, 1.0


def off_the_event(kept: bool) -> tuple[float, float]:
    """Ā² and A_m² for two tanh heads in one dimension with |U| = 3 (kept; on the event it is at most 3.45), or 1000; ρ = 0."""
    R = 3.0 if kept else 1e3
    return 1 + max(1.0, R**2), gradient_norms.A_paper(norm_event.B_U(2, 1, DELTA, 0.0), 0.0, 2) ** 2


def hollow_set(kept: bool) -> tuple[float, float]:
    """‖φ − φ⁺‖² and η⟨g, φ − φ⁺⟩ for one step on the line from φ = 1 with ηg = ½, for Ω = [−2, 2] (kept) or the two points 1 and 0.4.

    The nearest of the two points to ½ is 0.4, farther than the step.
    """
    after = 0.5 if kept else 0.4
    return (1 - after) ** 2, 0.5 * (1 - after)


def start_outside(kept: bool) -> tuple[float, float]:
    """The same for Ω = [−2, 2] and g = 0, from φ = 1 (kept) or φ = 3, which the projection alone moves."""
    phi = 1.0 if kept else 3.0
    return (phi - min(phi, 2.0)) ** 2, 0.0


def rough_function(kept: bool) -> tuple[float, float]:
    """F(φ⁺) and F(φ) − (1/η − Λ/2)‖φ⁺ − φ‖² for F = φ² from φ = 1, η = 1, where Λ = 2 (kept) or a tenth of it is put."""
    Lambda = 2.0 if kept else 0.2
    after = 1 - 1.0 * 2.0
    return after**2, 1 - (1 - Lambda / 2) * (after - 1) ** 2


def beyond_the_edge(kept: bool) -> tuple[float, float]:
    """Loss after one step, and before, projected on [−9, 9]: f = φ, one input, label 0, λ_max = 1, from φ = 1, with η = 1 (kept) or 1.1."""
    eta = 1.0 if kept else 1.1
    return (1 - 2 * eta) ** 2, 1.0


def edge_of_a_curved_model(kept: bool) -> tuple[float, float]:
    """Loss after one step and before, n/λ_max = 1, η = 1, label 0, for f = φ from 1 (kept) or f = φ + 100(φ − 1)².

    The gradient at the start is 2 in both, the step leads to −1.
    """
    after = -1.0 if kept else -1.0 + 100 * 4
    return after**2, 1.0


def edge_outside(kept: bool) -> tuple[float, float]:
    """Loss after one step and before for f = φ, label 0, η = ½, from φ = 1, projected on [−2, 2] (kept) or on [3, 4], which lacks the start."""
    after = 0.0 if kept else 3.0
    return after**2, 1.0


def edge_in_two_pieces(kept: bool) -> tuple[float, float]:
    """Loss after one step and before, f = φ, label 0, η = n/λ_max = 1: from ½ the step leads to −½.

    Projected on [−2, 2] (kept), or on the two points ½ and −1, of which −1 is nearer.
    """
    target = 0.5 - 1.0
    after = target if kept else min((0.5, -1.0), key=lambda point: abs(point - target))
    return after**2, 0.25


def gradient_of_other_labels(kept: bool) -> tuple[float, float]:
    """‖∇L̂‖² and 4F²A_m² for ρ = ν̄ = (1, 1, 1), two heads with U = 1 and one token at the start, for the label 0.5 (kept) or 1000.

    E|tanh G| = 0.53, so 0.5 is the label of a mapping with sup norms below (1, 0, 0).
    """
    y = 0.5 if kept else 1e3
    h, slope = math.tanh(1.0), 1 - math.tanh(1.0) ** 2
    right = constants(2, ALL, ALL)
    return 4 * y**2 * (h**2 + slope**2), 4 * (right.envelope * right.A) ** 2
