"""Bounds on a head along steps of its blocks: ‖δU‖ ≤ r_u and ‖δW‖_F ≤ r_w, as functions of R ≥ ‖U‖.

``G1``, ``G2``, ``G3`` bound the first three orders; ``G1_closed`` and ``G2_closed`` bound G₁ and G₂ without a maximum, and their averages
over heads by the values at the root mean square of the R_i. ``head_curvature`` joins them with the readout. Proofs: the chapters *How
smooth is a head?*, *The linear model* and *How vacuous is it?*.

R is a number or a tensor of numbers; what comes out is of the same kind. Closed forms take symbols, too (``formulas``). A second direction
δ′ has the radii ``other`` = (o_u, o_w), those of δ if not given.
"""

from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import NonNegative, NonNegatives, Triple, contract
from shallowformer.formulas import TINY, Number, maximum
from shallowformer.kernel_regime.bounds import laws
from shallowformer.probability.cumulants import KAPPA

Pair = tuple[float, float]


@contract
def number_of_heads(R: NonNegatives) -> int:
    """m, from bounds on the heads' ‖U‖."""
    return len(arguments.floating("R", R, "m"))


def _other(r_u: float, r_w: float, other: Pair | None) -> Pair:
    """The radii of δ′."""
    o_u, o_w = (r_u, r_w) if other is None else other
    return arguments.at_least("other[0]", o_u, 0.0), arguments.at_least("other[1]", o_w, 0.0)


@contract
def G1(R: NonNegatives, r_u: NonNegative, r_w: NonNegative) -> Number:
    """The largest |⟨∇z, δ⟩|: max_s {r_u s + r_w(1 − s²)R}, in closed form; σ₁ times it bounds |⟨∇h, δ⟩|."""
    top = maximum(r_w * R, r_u / 2)  # the maximum lies at s = r_u/(2 top) ≤ 1
    return top + r_u**2 / (4 * maximum(top, TINY))


@contract
def G1_closed(R: NonNegatives, r_u: NonNegative, r_w: NonNegative) -> Number:
    """γ = (r_u² + r_w²R²)^{1/2}, at least G₁; at the root mean square of the R_i at least the average of the G₁(R_i)."""
    return (r_u**2 + (r_w * R) ** 2) ** 0.5


@contract
def G2(
    R: NonNegatives, r_u: NonNegative, r_w: NonNegative, sigma: Activation = TANH, other: Pair | None = None
) -> Number:
    """A bound on |∇²h[δ, δ′]|, as accurate as ``laws.largest``: the maximum over 0 ≤ s ≤ 1, |z| ≤ sR of.

    |σ″|(r_u s + r_w(1 − s²)R)(o_u s + o_w(1 − s²)R) + |σ′|(1 − s²)(r_u o_w + o_u r_w + 2r_w o_w sR).
    """
    o_u, o_w = _other(r_u, r_w, other)

    def value(R: Tensor, z: Tensor, s: Tensor) -> Tensor:
        spread = 1 - s**2
        bend = sigma.second(z).abs() * (r_u * s + r_w * spread * R) * (o_u * s + o_w * spread * R)
        return bend + sigma.first(z).abs() * spread * (r_u * o_w + o_u * r_w + 2 * r_w * o_w * s * R)

    return laws.largest(value, R, sigma)


@contract
def G2_closed(
    R: NonNegatives, r_u: NonNegative, r_w: NonNegative, sigma: Activation = TANH, other: Pair | None = None
) -> Number:
    """σ₂γ_rγ_o + σ₁(r_uo_w + o_ur_w + κr_wo_wR), at least G₂; at the root mean square of the R_i at least the average of the G₂(R_i)."""
    o_u, o_w = _other(r_u, r_w, other)
    bend = G1_closed(R, r_u, r_w) * G1_closed(R, o_u, o_w)
    return sigma.bounds[2] * bend + sigma.bounds[1] * (r_u * o_w + o_u * r_w + KAPPA * r_w * o_w * R)


@contract
def G3(R: NonNegatives, r_u: NonNegative, r_w: NonNegative, sigma: Activation = TANH) -> Number:
    """σ₃G₁³ + 3σ₂G₁Z₂ + σ₁(3κ r_u r_w² + 2R r_w³), a bound on |∇³h[δ, δ, δ]|; Z₂ = max_s 2(1 − s²)(r_u r_w + r_w² sR) bounds |∇²z[δ, δ]|."""
    first = G1(R, r_u, r_w)
    flat, tilt = r_u * r_w, r_w**2 * R
    s = tilt / maximum(flat + (flat**2 + 3 * tilt**2) ** 0.5, TINY)
    Z2 = 2 * (1 - s**2) * (flat + tilt * s)
    _, s1, s2, s3 = sigma.bounds
    return s3 * first**3 + 3 * s2 * first * Z2 + s1 * (3 * KAPPA * r_u * r_w**2 + 2 * R * r_w**3)


@contract
def head_curvature(
    R: Number, r: Triple, other: Triple, loud: NonNegative, sigma: Activation = TANH, closed: bool = False
) -> Number:
    """σ₁(r_cG₁(R; o) + o_cG₁(R; r)) + k G₂(R; r, o), a bound on the second derivative of c h(θ) along two directions, for |c| ≤ k.

    Here r = (r_c, r_u, r_w) and o alike; ``loud`` is k; ``closed`` puts ``G1_closed`` and ``G2_closed`` for G₁ and G₂.
    """
    (c, u, w), (o_c, o_u, o_w) = r, other
    first, second = (G1_closed, G2_closed) if closed else (G1, G2)
    lines = c * first(R, o_u, o_w) + o_c * first(R, u, w)
    return sigma.bounds[1] * lines + loud * second(R, u, w, sigma, (o_u, o_w))
