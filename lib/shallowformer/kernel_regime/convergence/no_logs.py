"""The turn of the tangent over Ω_ρ, and ε, without log n and log m, and to leading order without d: Theorems B and C.

Training has to live with the error of a tangent, e(φ) = f(φ) + ⟨∇f(φ), φ̃ − φ⟩ − y: the tangent of the model at φ, read at the
comparator φ̃. Its *turn* is e(φ) − e(φ⁽⁰⁾); e(φ⁽⁰⁾) is an approximation error. R holds the longest U_i that each head can reach in Ω_ρ,
``region.longest``. What the same theorems say of gradients is in ``gradient_norms``. Proofs: the chapter *No log n, no log m, no d*.
"""

import math

from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Level, Triple, contract
from shallowformer.formulas import Number
from shallowformer.kernel_regime.bounds import approximation, blocks, smoothness
from shallowformer.kernel_regime.convergence import gradient_norms
from shallowformer.probability.cumulants import KAPPA_HS


@contract
def turn_over_heads(
    R: Float[Tensor, "*n m"], rho: Triple, nu: Triple, sigma: Activation = TANH
) -> Float[Tensor, "*n"]:
    """A bound on |e(φ) − e(φ⁽⁰⁾)| for all X, all φ in Ω_ρ and all comparators in Ω_ν̄ (Theorem B).

    m^{−1/2} · (1/m) Σ_i [σ₁(ρ_cG₁(R_i; ν̄) + (ν̄_c + ρ_c)G₁(R_i; ρ)) + (1 + ρ_c/√m)(G₂(R_i; ρ, ν̄) + ½G₂(R_i; ρ))].

    Args:
        R: the longest U_i of each head in Ω_ρ, of one initialisation or of several.
    """
    return _turn(R, arguments.floating("R", R, "... m").shape[-1], rho, nu, sigma, closed=False).mean(-1)


@contract
def turn_closed(R: Number, m: int, rho: Triple, nu: Triple, sigma: Activation = TANH) -> Number:
    """The closed form of ``turn_over_heads``, and at least that, where R̄ is the root mean square of the R_i."""
    return _turn(R, m, rho, nu, sigma, closed=True)


@contract
def _turn(R: Number, m: int, rho: Triple, nu: Triple, sigma: Activation, closed: bool) -> Number:
    """What a head adds to the bound, times m: its curvature along ρ and ν̄, and half of that along ρ."""
    loud = gradient_norms.loudest(rho[0], m)
    ahead = blocks.head_curvature(R, rho, nu, loud, sigma, closed)
    back = ahead if nu == rho else blocks.head_curvature(R, rho, rho, loud, sigma, closed)
    return (ahead + back / 2) / m**0.5


@contract
def turn_leading(rho: Triple, nu: Triple, sigma: Activation = TANH) -> float:
    """Λ, a bound on (E ℓ²)^{1/2} of what one random head adds to the turn at leading order; no d (Theorem C).

    σ₁[ρ_cγ(ν̄) + (ν̄_c + ρ_c)γ(ρ)] + σ₂γ₄(ρ)γ₄(o) + σ₁[ρ_uo_w + o_uρ_w + κ_HS ρ_wo_w], o = ν̄ + ½ρ, γ = G₁(1; ·), γ₄ = G₁(3^{1/4}; ·).
    """
    (c, u, w), (nc, nu_u, nw) = rho, nu
    o_u, o_w = nu_u + u / 2, nw + w / 2
    _, s1, s2, _ = sigma.bounds
    first = c * blocks.G1(1.0, nu_u, nw) + (nc + c) * blocks.G1(1.0, u, w)
    bend = blocks.G1(3**0.25, u, w) * blocks.G1(3**0.25, o_u, o_w)
    return s1 * first + s2 * bend + s1 * (u * o_w + o_u * w + KAPPA_HS * w * o_w)


@contract
def beyond_leading(L2: Number, L3: Number, rho: Triple, nu: Triple) -> Number:
    """L₃r²(½r̃ + ⅓r) + L₂(ρ_c r r̃ + ρ_c r² + ½ν̄_c r²): m² times a bound on a head's share of the turn beyond leading order.

    L₂ and L₃ bound a head's second and third derivatives; r² = ρ_u² + ρ_w², and r̃² = ν̄_u² + ν̄_w² with ν̄ the radii of the comparator.
    """
    (c, u, w), (nc, nu_u, nw) = rho, nu
    r, far = math.hypot(u, w), math.hypot(nu_u, nw)
    return L3 * r**2 * (far / 2 + r / 3) + L2 * (c * r * far + c * r**2 + nc * r**2 / 2)


@contract
def turn_without_dimension(
    R: Float[Tensor, " m"], rho: Triple, nu: Triple, delta: Level, sigma: Activation = TANH
) -> tuple[float, Float[Tensor, ""]]:
    """The two terms, leading and of order 1/m, of a bound on the root mean square turn over Ω_ρ, with probability 1 − δ (Theorem C).

    Λ(1 + √(2/(mδ)))/√m without d, and (1/m) · (1/m) Σ_i [L₃r²(½r̃ + ⅓r) + L₂^♯(ρ_c r r̃ + ρ_c r² + ½ν̄_c r²)] at R_i.

    Args:
        R: the longest U_i of each head in Ω_ρ.
        sigma: the activation; |σ‴| ≤ σ₃ is used, which the paper does not assume.
    """
    m = arguments.even("m", blocks.number_of_heads(R))
    lead = turn_leading(rho, nu, sigma) * (1 + math.sqrt(2 / (m * delta)))
    rest = beyond_leading(smoothness.L2(R, sigma), smoothness.L3(R, sigma), rho, nu)
    return lead / m**0.5, rest.mean() / m


@contract
def epsilon(
    R: Float[Tensor, "*n m"], rho: Triple, nu: Triple, delta: float, sigma: Activation = TANH
) -> Float[Tensor, "*n"]:
    """Theorem B's bound on ε = sup over Ω_ρ of the root mean square of e, with probability 1 − δ: no n, no log m.

    It is ``approximation.rms_bernstein`` plus ``turn_over_heads``; the comparator is the transported point of a mapping with sup norms ν̄
    that represents the target.

    Args:
        R: the longest U_i of each head in Ω_ρ, m even, of one initialisation or of several.
    """
    m = arguments.floating("R", R, "... m").shape[-1]
    return approximation.rms_bernstein(tuple(nu), m, delta, sigma) + turn_over_heads(R, rho, nu, sigma)
