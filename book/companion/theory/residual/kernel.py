"""What the hidden layer keeps of attention's output: the kernel of a Gaussian first layer in closed form, the sharp bound below it, widths.

Z is attention's output, one token a row; β the standard deviation of W_1's entries; κ̄ = ‖Z‖²_F/σ²_min(Z), the spread, at least n.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, Level, Positive, contract
from shallowformer.formulas import Number
from shallowformer.residual.smoothed import SmoothedReLU

#: ½ − 1/(2π): of λ_min(ZZᵀ), what ReLU keeps at least, at unit variance.
OF_RELU = 0.5 - 0.5 / math.pi


def arc_cosine(x: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """k(x) = [√(1 − x²) + x(π/2 + arcsin x)]/(2π), the mean of relu(G) relu(H) for standard Gaussians of correlation x.

    Values outside [−1, 1] count as the nearer end. Source: Cho, Saul 2009, the arc-cosine kernel of order 1, halved.
    """
    # The slope at the ends is a difference of infinities; this far inside, value and slope are right to rounding.
    x = x.clamp(-1 + 1e-15, 1 - 1e-15)
    return ((1 - x.square()).sqrt() + x * (math.pi / 2 + torch.arcsin(x))) / (2 * math.pi)


@contract
def gram(
    Z: Float[Tensor, "*s n d"], activation: SmoothedReLU, beta: Positive = 1.0
) -> Float[Tensor, "*s n n"]:
    """K = E φ(Zw)φ(Zw)ᵀ for w with independent N(0, β²) entries, exactly: d_1 K is the mean of A Aᵀ over W_1.

    With a_i = β‖z_i‖ and s_i = (a_i² + τ²)^{1/2}, K_ij = s_i s_j k(β²⟨z_i, z_j⟩/(s_i s_j)) − [τ(s_i + s_j) − τ²]/(2π).
    With τ = 0 no row of Z may be 0.
    """
    tau, scaled = activation.tau, beta * Z
    s = (scaled.square().sum(-1) + tau**2).sqrt()
    products = s[..., :, None] * s[..., None, :]
    shift = (tau * (s[..., :, None] + s[..., None, :]) - tau**2) / (2 * math.pi)
    return products * arc_cosine(scaled @ scaled.mT / products) - shift


def constant(q: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
    """v(q) = (k(q²) − k(0))/q² = Var φ_τ(aG)/a² with q² = a²/(a² + τ²): from ¼ at q → 0 to ½ − 1/(2π) at q = 1, ReLU."""
    square = q.square().clamp(max=1 - 1e-15)
    # 1 − √(1 − x²) as x²/(1 + √(1 − x²)): no digits are lost for a small q
    root = (1 - square.square()).sqrt()
    return 0.25 + (torch.arcsin(square) - square / (1 + root)) / (2 * math.pi)


@contract
def lower_bound(
    Z: Float[Tensor, "*s n d"], activation: SmoothedReLU, beta: Positive = 1.0
) -> Float[Tensor, "*s"]:
    """v(q) β² λ_min(ZZᵀ) ≤ λ_min(K), with q of the shortest row, not 0: an equality for n ≥ 2 orthogonal rows of equal norm.

    Source: Ours; takes the place of equation (9) of Qin, Zhou, Jiang, Zhu 2025, which is lost.
    """
    shortest = beta * Z.norm(dim=-1).amin(-1)
    q = shortest / (shortest.square() + activation.tau**2).sqrt()
    return constant(q) * beta**2 * torch.linalg.eigvalsh(Z @ Z.mT)[..., 0]


@contract
def failure(width: Number, spread: float, n: Count, v: float, eta: float, eps: float) -> Number:
    """P(σ²_min(A) ≤ (1 − ε)(v − η) d_1 β² σ²_min(Z)) ≤ n exp(−d_1 (v − η) h(ε)/(4 κ̄ log(2κ̄/η))), h(ε) = ε + (1 − ε) log(1 − ε).

    Args:
        spread: κ̄ = ‖Z‖²_F/σ²_min(Z), at least n.
        v: with λ_min(K) ≥ v β² σ²_min(Z), above 0.
        eta: η, between 0 and v.
        eps: ε, between 0 and 1.
    """
    rate = failure_rate(spread, v, eta, eps)
    return n * math.e ** (-width * rate)


@contract
def failure_rate(spread: float, v: Positive, eta: Positive, eps: Level) -> float:
    """The exponent a unit of width in ``failure``."""
    arguments.at_least("spread", spread, 1.0)
    arguments.at_most("eta", eta, "v", v)
    h = eps + (1 - eps) * math.log1p(-eps)
    return (v - eta) * h / (4 * spread * math.log(2 * spread / eta))


@contract
def width(spread: float, n: Count, delta: Level) -> float:
    """74 κ̄ log(34 κ̄) log(n/δ): from this width of a ReLU layer on, σ²_min(A) ≥ (d_1 β²/8) σ²_min(Z) with probability 1 − δ.

    Args:
        spread: κ̄ = ‖Z‖²_F/σ²_min(Z), at least n.
    """
    arguments.at_least("spread", spread, float(n))
    return 74 * spread * math.log(34 * spread) * math.log(n / delta)
