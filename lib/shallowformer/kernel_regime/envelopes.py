"""Lemma 6: how large the model and its targets can be, the paper's envelopes and sharper ones.

``*_paper`` are the paper's; the others are proved in the chapter *Envelopes*.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime import smoothness
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.gaussian_means import MEAN_ABS, gaussian_mean, half_line, panels
from shallowformer.kernel_regime.linearisation import first_order
from shallowformer.kernel_regime.neighbourhood import radii


def _three(nu: Sequence[float]) -> tuple[float, float, float]:
    """Three numbers of at least 0: radii, or sup norms of a transport."""
    return radii(nu, 1)


def f_max_paper(B: float, rho: Sequence[float], sigma: Activation = TANH) -> float:
    """The paper's bound on |f| over Ω_ρ: L₁r + σ₀ρ_c with r² = ρ_u² + ρ_w².

    Args:
        B: bound on every ‖U_i‖ over Ω_ρ, at least 0 (the paper's B_{U,m}).
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        sigma: the activation.

    Returns:
        The bound.

    Raises:
        ValueError: ``B`` or a radius below 0.

    Source:
        Arda, Cayci, Eryilmaz 2026, Lemma 6.
    """
    c, u, w = _three(rho)
    return smoothness.L1_paper(B, sigma) * math.hypot(u, w) + sigma.bounds[0] * c


def f_max(R: Tensor, rho: Sequence[float], sigma: Activation = TANH) -> Tensor:
    """σ₀ρ_c + (1/m) Σ_i min{σ₁G₁(R_i), σ₀√m}: a bound on |f| over Ω_ρ around a symmetric initialisation, for all X.

    Args:
        R: the largest ‖U_i‖ of each head in Ω_ρ (``linearisation.longest``), Float[Tensor, "m"]; partners have the same.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        sigma: the activation.

    Returns:
        The bound, a scalar tensor.

    Raises:
        ValueError: an entry or a radius below 0.
    """
    c, u, w = _three(rho)
    s0, s1, _, _ = sigma.bounds
    return s0 * c + (s1 * first_order(R, u, w)).clamp(max=s0 * len(R) ** 0.5).mean()


def f_pulled_camps(along: Tensor, rho: Sequence[float], sigma: Activation = TANH) -> Tensor:
    """(√m + ρ_c) · (1/m) Σ_i σ(tanh(ρ_w/√m) (|⟨e, U_i⟩| + ρ_u/√m)): what |f| reaches at two camps ±e of equal mass.

    Every head moves attention to one camp, and its partner to the other; σ odd, ‖q‖ = 1 and ⟨e, W_i q⟩ = 0 at the start.

    Args:
        along: ⟨e, U_i⁽⁰⁾⟩ of each of the m heads, Float[Tensor, "m"].
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        sigma: the activation; odd.

    Returns:
        The value, a scalar tensor.

    Raises:
        ValueError: a radius below 0, or ``along`` that is not finite.
    """
    m = arguments.floating("along", along, "m").shape[0]
    c, u, w = radii(rho, m)
    return m**0.5 * (1 + c) * sigma(math.tanh(w) * (along.abs() + u)).mean()


def f_max_at_data(
    m: int, n: int, rho: Sequence[float], delta: float, remainder: float = 0.0, sigma: Activation = TANH
) -> float:
    """A bound on |f(X⁽ʲ⁾; φ)| over Ω_ρ at n inputs that were fixed before φ⁽⁰⁾ was drawn; without d.

    σ₀ρ_c + σ₁[max_s{ρ_u s + √(2/π)ρ_w(1 − s²)} + 2ρ_w √(log(n/δ)/m)] + remainder, with probability 1 − δ.

    Args:
        m: number of heads, even.
        n: number of inputs.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        delta: δ, in (0, 1).
        remainder: a bound on |f − f_lin|, at least 0; 0 for the bound on |f_lin|.
        sigma: the activation.

    Returns:
        The bound.

    Raises:
        ValueError: an odd ``m``, ``n`` below 1, a radius or ``remainder`` below 0, ``delta`` outside (0, 1).
    """
    w = _three(rho)[2]
    arguments.even("m", m)
    arguments.count("n", n)
    spread = 2 * w * math.sqrt(math.log(n / arguments.probability("delta", delta)) / m)
    return y_max(rho, sigma) + sigma.bounds[1] * spread + arguments.at_least("remainder", remainder, 0.0)


def y_max_paper(d: int, nu: Sequence[float], sigma: Activation = TANH) -> float:
    """The paper's bound on a target of the class: σ₀ν̄_c + σ₁ν̄_u + σ₁√d ν̄_w.

    Args:
        d: dimension, at least 1.
        nu: sup norms (ν̄_c, ν̄_u, ν̄_w) of the transport, each at least 0.
        sigma: the activation.

    Returns:
        The bound.

    Raises:
        ValueError: ``d`` below 1 or a norm below 0.

    Source:
        Arda, Cayci, Eryilmaz 2026, Lemma 6.
    """
    c, u, w = _three(nu)
    return sigma.bounds[0] * c + sigma.bounds[1] * (u + math.sqrt(arguments.count("d", d)) * w)


def y_max(nu: Sequence[float], sigma: Activation = TANH) -> float:
    """σ₀ν̄_c + σ₁ max_s{ν̄_u s + √(2/π) ν̄_w(1 − s²)}, a bound without d; at most σ₀ν̄_c + σ₁(ν̄_u + √(2/π) ν̄_w).

    Args:
        nu: sup norms (ν̄_c, ν̄_u, ν̄_w) of the transport, each at least 0.
        sigma: the activation.

    Returns:
        The bound, in closed form.

    Raises:
        ValueError: a norm below 0.
    """
    c, u, w = _three(nu)
    return sigma.bounds[0] * c + sigma.bounds[1] * smoothness.G1(MEAN_ABS, u, w)


def y_max_coupled(nu: Sequence[float], sigma: Activation = TANH) -> float:
    """max_s{ν̄_c E|σ(sG)| + E|σ′(sG)| (ν̄_u s + √(2/π) ν̄_w(1 − s²))}, G standard Gaussian: sharper, for bell-shaped |σ′|.

    Args:
        nu: sup norms (ν̄_c, ν̄_u, ν̄_w) of the transport, each at least 0.
        sigma: the activation; |σ′| must be even and must not grow with |z|.

    Returns:
        The bound, to about 1e-9 of its size.

    Raises:
        ValueError: a norm below 0, or an activation whose |σ′| is not even and nonincreasing in |z|.
    """
    c, u, w = _three(nu)
    grid = torch.linspace(0, 40, 4001, dtype=torch.float64)
    right, left = sigma.first(grid).abs(), sigma.first(-grid).abs()
    if float((right - left).abs().max()) > 1e-12 or float(right.diff().max()) > 1e-12:
        raise ValueError(f"sigma must have an even |σ′| that does not grow with |z|, got {sigma.name}")

    def value(s: Tensor) -> Tensor:
        size, slope = (gaussian_mean(lambda g, f=f: f(s[:, None] * g).abs()) for f in (sigma, sigma.first))
        return c * size + slope * (u * s + MEAN_ABS * w * (1 - s**2))

    # Coarse to fine; logarithmic towards 0, because a steep σ′ can hide a peak there.
    s = torch.cat([torch.zeros(1), torch.logspace(-4, 0, 121)]).to(torch.float64).clamp(max=1)
    for _ in range(6):
        best = int(value(s).argmax())
        s = torch.linspace(
            float(s[max(best - 1, 0)]), float(s[min(best + 1, len(s) - 1)]), 41, dtype=torch.float64
        )
    return float(value(s).max())


def target_given_weights(
    a: Tensor, M: Tensor, nu: Sequence[float], sigma: Activation = TANH, radial: int = 3, angular: int = 2
) -> Tensor:
    """E over a Gaussian U of ν̄_c|σ(z)| + |σ′(z)|(ν̄_u‖a‖ + ν̄_w‖MU‖), z = ⟨U, a⟩, in the plane: W is held fixed, ‖q‖ = 1.

    Polar coordinates with the first axis along a: a kink at z = 0 falls between two panels.

    Args:
        a: mean of the tokens, Float64[Tensor, "... 2"].
        M: their covariance, Float64[Tensor, "... 2 2"].
        nu: sup norms (ν̄_c, ν̄_u, ν̄_w) of the transport, each at least 0.
        sigma: the activation.
        radial: panels of ten nodes for ‖U‖.
        angular: panels of ten nodes for each of the two quarter circles (the integrand is even in U).

    Returns:
        Float64[Tensor, "..."]; differentiable. With the default panels to 1e-3, and to 1e-6 where M has rank one across a.

    Raises:
        ValueError: wrong shapes, a norm below 0, or a number of panels below 1.
    """
    c, u, w = _three(nu)
    arguments.floating("a", a, "... 2")
    arguments.shape("M", M, (*a.shape[:-1], 2, 2), "[..., 2, 2] as a")
    arguments.count("radial", radial)
    arguments.count("angular", angular)
    r, radial_weight = half_line(torch.linspace(0, 7, radial + 1))
    radial_weight = radial_weight * r * math.sqrt(2 * math.pi)  # density r e^{−r²/2}
    turn, turn_weight = panels(torch.linspace(0, math.pi, 2 * angular + 1, dtype=torch.float64))
    tiny = 1e-30
    s = (a.square().sum(-1) + tiny).sqrt()
    # a = 0 has no direction: any will do
    first = torch.where(
        (s > 1e-12)[..., None], a / s[..., None], torch.eye(2, dtype=a.dtype, device=a.device)[0]
    )
    second = torch.stack([-first[..., 1], first[..., 0]], -1)
    unit = turn.cos()[:, None] * first[..., None, :] + turn.sin()[:, None] * second[..., None, :]
    seen = (torch.einsum("...ij,...kj->...ki", M, unit).square().sum(-1) + tiny).sqrt()  # ‖MU‖/‖U‖
    z = (s[..., None] * turn.cos())[..., None] * r
    rest = sigma.first(z).abs() * (u * s[..., None, None] + w * seen[..., None] * r)
    value = c * sigma(z).abs() + rest
    return ((value * radial_weight).sum(-1) * turn_weight).sum(-1) / math.pi
