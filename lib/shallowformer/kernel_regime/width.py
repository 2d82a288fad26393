"""Gradients and width errors over Ω_ρ without log n and log m, and to leading order without d.

Training has to live with the error of a tangent, e(φ) = f(φ) + ⟨∇f(φ), φ̃ − φ⟩ − y: the tangent of the model at φ, read at the
comparator φ̃. Its *turn* e(φ) − e(φ⁽⁰⁾) is what ``lines_and_remainder``, ``turn`` and ``turn_without_dimension`` bound; e(φ⁽⁰⁾) is an
approximation error. R holds the longest U_i that each head can reach in Ω_ρ, ``linearisation.longest``. Proofs: the chapter
*No log n, no log m, no d*.
"""

import math
from collections.abc import Sequence

from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime import approximation, norm_event, smoothness, theorem_1
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.cumulants import KAPPA_HS
from shallowformer.kernel_regime.linearisation import (
    B_lin,
    first_order,
    lengths,
    second_order,
    smoothness_of_heads,
    third_of_heads,
)
from shallowformer.kernel_regime.neighbourhood import radii

Radii = Sequence[float]


def gradient_over_heads(R: Tensor, rho_c: float, sigma: Activation = TANH) -> Tensor:
    """(1/m) Σ_i [σ₀² + (1 + ρ_c/√m)² σ₁² max(1, R_i²)]: a bound on ‖∇f(X; φ)‖² over Ω_ρ and all X (Theorem B).

    Args:
        R: the longest U_i of each head, Float[Tensor, "m"].
        rho_c: radius of the readouts, at least 0.
        sigma: the activation. For tanh the term σ₀² is left out, because tanh² + k²(1 − tanh²)² ≤ k² for k ≥ 1.

    Returns:
        The bound, a scalar tensor.

    Raises:
        ValueError: an entry of ``R`` or ``rho_c`` below 0.
    """
    loud = 1 + arguments.at_least("rho_c", rho_c, 0.0) / lengths(R) ** 0.5
    slope = (loud * sigma.bounds[1]) ** 2 * R.clamp(min=1).square().mean()
    return slope if sigma.name == TANH.name else sigma.bounds[0] ** 2 + slope


def gradient_no_log(m: int, d: int, rho: Radii, x: float, sigma: Activation = TANH) -> float:
    """A bound on ``gradient_over_heads`` that holds with probability 1 − ½ exp(−x) over the initialisation; no log m.

    σ₀² + (1 + ρ_c/√m)² σ₁² (1 + R̄²), without σ₀² for tanh; R̄ is the root of ``norm_event.mean_square_bound`` plus ρ_u/√m.

    Args:
        m: number of heads, even.
        d: dimension, at least 1.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        x: at least 0.
        sigma: the activation.

    Returns:
        The bound.

    Raises:
        ValueError: an odd ``m``, ``d`` below 1, a radius or ``x`` below 0.
    """
    c, u, _ = radii(rho, arguments.even("m", m))
    R = math.sqrt(norm_event.mean_square_bound(m, d, x)) + u
    slope = ((1 + c) * sigma.bounds[1]) ** 2 * (1 + R**2)
    return slope if sigma.name == TANH.name else sigma.bounds[0] ** 2 + slope


def gradient_at_start(m: int, x: float, sigma: Activation = TANH) -> float:
    """A bound on (1/n) Σ_j ‖∇f(X⁽ʲ⁾; φ⁽⁰⁾)‖² that fails with probability at most exp(−x); no d (Theorem C).

    σ₀² + σ₁²(1 + 2√(2x/m) + 4x/m); for tanh the smaller of that and 1 + 2√(3x/m) + 4x/m.

    Args:
        m: number of heads, even.
        x: at least 0.
        sigma: the activation.

    Returns:
        The bound.

    Raises:
        ValueError: an odd ``m`` or a negative ``x``.
    """
    level = arguments.at_least("x", x, 0.0) / arguments.even("m", m)
    s0, s1 = sigma.bounds[:2]
    bound = s0**2 + s1**2 * (1 + 2 * math.sqrt(2 * level) + 4 * level)
    return min(bound, 1 + 2 * math.sqrt(3 * level) + 4 * level) if sigma.name == TANH.name else bound


def gradient_drift(R: Tensor, rho: Radii, sigma: Activation = TANH) -> Tensor:
    """How far ∇f(X; φ) can be from ∇f(X; φ⁽⁰⁾) over Ω_ρ and all X (Theorem C).

    m^{−1/2} ((1/m) Σ_i [(L₂^♯(R_i) r + ρ_c L₁(R_i))² + σ₁²G₁(R_i)²])^{1/2}, r² = ρ_u² + ρ_w².

    Args:
        R: the longest U_i of each head, Float[Tensor, "m"].
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        sigma: the activation.

    Returns:
        The bound on the norm of the difference, a scalar tensor.

    Raises:
        ValueError: an entry or a radius below 0.
    """
    m = lengths(R)
    c, u, w = radii(rho, 1)
    s1 = sigma.bounds[1]
    by_theta = smoothness_of_heads(R, sigma) * math.hypot(u, w) + c * s1 * R.clamp(min=1)
    return ((by_theta.square() + (s1 * first_order(R, u, w)).square()).mean() / m).sqrt()


def lines_and_remainder(R: Tensor, rho: Radii, nu: Radii, sigma: Activation = TANH) -> tuple[Tensor, Tensor]:
    """Two bounds that add up to one on the turn: |f − f_lin| at the comparator, and Taylor's remainder from φ to it.

    The remainder is m^{−1/2} · (1/m) Σ_i [(ν̄_c + ρ_c)σ₁G₁ + ½(1 + ρ_c/√m)G₂] at (R_i; ν̄ + ρ), for a comparator in Ω_ν̄ ⊆ Ω_ρ.

    Args:
        R: the longest U_i of each head in Ω_ρ, Float[Tensor, "m"].
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        nu: radii ν̄ of the comparator, each at least 0 and at most that of ``rho``.
        sigma: the activation.

    Returns:
        ``linearisation.B_lin`` at ν̄, and the bound on the remainder; scalar tensors.

    Raises:
        ValueError: an entry or a radius below 0; a radius of ``nu`` above that of ``rho``.
    """
    lengths(R)
    return B_lin(R, radii(nu, 1), sigma), theorem_1.B_rem(R, rho, nu, sigma)


def turn(R: Tensor, rho: Radii, nu: Radii, sigma: Activation = TANH) -> Tensor:
    """A bound on |e(φ) − e(φ⁽⁰⁾)| for all X, all φ in Ω_ρ and all comparators in Ω_ν̄ (Theorem B).

    m^{−1/2} · (1/m) Σ_i [σ₁(ρ_cG₁(R_i; ν̄) + (ν̄_c + ρ_c)G₁(R_i; ρ)) + (1 + ρ_c/√m)(G₂(R_i; ρ, ν̄) + ½G₂(R_i; ρ))].

    Args:
        R: the longest U_i of each head in Ω_ρ, Float[Tensor, "m"].
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        nu: radii ν̄ of the comparator, each at least 0.
        sigma: the activation.

    Returns:
        The bound, a scalar tensor.

    Raises:
        ValueError: an entry or a radius below 0.
    """
    m = lengths(R)
    (c, u, w), (nc, nu_u, nw) = radii(rho, 1), radii(nu, 1)
    first = c * first_order(R, nu_u, nw) + (nc + c) * first_order(R, u, w)
    second = second_order(R, u, w, sigma, (nu_u, nw)) + 0.5 * second_order(R, u, w, sigma)
    return (sigma.bounds[1] * first + (1 + c / m**0.5) * second).mean() / m**0.5


def turn_leading(rho: Radii, nu: Radii, sigma: Activation = TANH) -> float:
    """Λ, a bound on (E ℓ²)^{1/2} of what one random head adds to the turn at leading order; no d (Theorem C).

    σ₁[ρ_cγ(ν̄) + (ν̄_c + ρ_c)γ(ρ)] + σ₂γ₄(ρ)γ₄(o) + σ₁[ρ_uo_w + o_uρ_w + κ_HS ρ_wo_w], o = ν̄ + ½ρ, γ = G₁(1; ·), γ₄ = G₁(3^{1/4}; ·).

    Args:
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        nu: radii ν̄ of the comparator, each at least 0.
        sigma: the activation.

    Returns:
        The constant.

    Raises:
        ValueError: a radius below 0.
    """
    (c, u, w), (nc, nu_u, nw) = radii(rho, 1), radii(nu, 1)
    o_u, o_w = nu_u + u / 2, nw + w / 2
    _, s1, s2, _ = sigma.bounds
    first = c * smoothness.G1(1.0, nu_u, nw) + (nc + c) * smoothness.G1(1.0, u, w)
    bend = smoothness.G1(3**0.25, u, w) * smoothness.G1(3**0.25, o_u, o_w)
    return s1 * first + s2 * bend + s1 * (u * o_w + o_u * w + KAPPA_HS * w * o_w)


def beyond_leading(L2: Tensor, L3: Tensor, rho: Radii, nu: Radii) -> Tensor:
    """L₃r²(½r̃ + ⅓r) + L₂(ρ_c r r̃ + ρ_c r² + ½ν̄_c r²): m² times a bound on a head's share of the turn beyond leading order.

    Args:
        L2: bound on the second derivatives of a head.
        L3: bound on its third derivatives.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0; r² = ρ_u² + ρ_w².
        nu: radii ν̄ of the comparator, each at least 0; r̃² = ν̄_u² + ν̄_w².

    Returns:
        The bound, of the common shape of the tensors.

    Raises:
        ValueError: a radius below 0.
    """
    (c, u, w), (nc, nu_u, nw) = radii(rho, 1), radii(nu, 1)
    r, far = math.hypot(u, w), math.hypot(nu_u, nw)
    return L3 * r**2 * (far / 2 + r / 3) + L2 * (c * r * far + c * r**2 + nc * r**2 / 2)


def turn_without_dimension(
    R: Tensor, rho: Radii, nu: Radii, delta: float, sigma: Activation = TANH
) -> tuple[float, Tensor]:
    """The two terms of a bound on the root mean square turn over Ω_ρ, with probability 1 − δ (Theorem C).

    Λ(1 + √(2/(mδ)))/√m without d, and (1/m) · (1/m) Σ_i [L₃r²(½r̃ + ⅓r) + L₂^♯(ρ_c r r̃ + ρ_c r² + ½ν̄_c r²)] at R_i.

    Args:
        R: the longest U_i of each head in Ω_ρ, Float[Tensor, "m"].
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        nu: radii ν̄ of the comparator, each at least 0.
        delta: probability of failure, in (0, 1).
        sigma: the activation; |σ‴| ≤ σ₃ is used, which the paper does not assume.

    Returns:
        The leading term, and the term of order 1/m.

    Raises:
        ValueError: an odd number of heads, an entry or a radius below 0, ``delta`` outside (0, 1).
    """
    m = arguments.even("m", lengths(R))
    lead = turn_leading(rho, nu, sigma) * (1 + math.sqrt(2 / (m * arguments.probability("delta", delta))))
    rest = beyond_leading(smoothness_of_heads(R, sigma), third_of_heads(R, sigma), rho, nu)
    return lead / m**0.5, rest.mean() / m


def epsilon(R: Tensor, rho: Radii, nu: Radii, delta: float, sigma: Activation = TANH) -> float:
    """Theorem B's bound on ε = sup over Ω_ρ of the root mean square of e, with probability 1 − δ: no n, no log m.

    Args:
        R: the longest U_i of each head in Ω_ρ, Float[Tensor, "m"], m even.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        nu: sup norms ν̄ of the mapping that represents the target; the comparator is its transported point.
        delta: probability of failure, in (0, 1).
        sigma: the activation.

    Returns:
        ``approximation.rms_bernstein`` plus ``turn``.

    Raises:
        ValueError: an odd number of heads, an entry or a radius below 0, ``delta`` outside (0, 1).
    """
    bound = approximation.rms_bernstein(tuple(nu), lengths(R), delta, sigma)
    return bound + float(turn(R, rho, nu, sigma))
