"""Lemma 6: how large the model and its targets can be, the paper's envelopes and sharper ones.

``*_paper`` are the paper's; the others are proved in the chapter *Envelopes*.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.kernel_regime.bounds import blocks, smoothness
from shallowformer.probability.gaussian_means import MEAN_ABS, gaussian_mean, half_line, panels


def f_max_paper(B: float, rho: Sequence[float], sigma: Activation = TANH) -> float:
    """The paper's bound on |f| over Ω_ρ: L₁r + σ₀ρ_c with r² = ρ_u² + ρ_w². Source: Arda, Cayci, Eryilmaz 2026, Lemma 6."""
    c, u, w = arguments.triple("rho", rho)
    return smoothness.L1_paper(B, sigma) * (u**2 + w**2) ** 0.5 + sigma.bounds[0] * c


def f_max(R: Float[Tensor, " m"], rho: Sequence[float], sigma: Activation = TANH) -> Float[Tensor, ""]:
    """σ₀ρ_c + (1/m) Σ_i min{σ₁G₁(R_i), σ₀√m}: a bound on |f| over Ω_ρ around a symmetric initialisation, for all X.

    Args:
        R: the largest ‖U_i‖ of each head in Ω_ρ (``region.longest``); partners have the same.
    """
    c, u, w = arguments.triple("rho", rho)
    s0, s1, _, _ = sigma.bounds
    return s0 * c + (s1 * blocks.G1(R, u, w)).clamp(max=s0 * blocks.number_of_heads(R) ** 0.5).mean()


def f_max_closed(R: float, rho: Sequence[float], sigma: Activation = TANH) -> float:
    """σ₀ρ_c + σ₁γ̄, γ̄² = ρ_u² + ρ_w²R̄²: at least ``f_max`` where R̄ is the root mean square of the R_i."""
    c, u, w = arguments.triple("rho", rho)
    return sigma.bounds[0] * c + sigma.bounds[1] * blocks.G1_closed(R, u, w)


def f_pulled_camps(
    along: Float[Tensor, " m"], rho: Sequence[float], sigma: Activation = TANH
) -> Float[Tensor, ""]:
    """(√m + ρ_c) · (1/m) Σ_i σ(tanh(ρ_w/√m) (|⟨e, U_i⟩| + ρ_u/√m)): what |f| reaches at two camps ±e of equal mass.

    Every head moves attention to one camp, and its partner to the other; σ odd, ‖q‖ = 1 and ⟨e, W_i q⟩ = 0 at the start.

    Args:
        along: ⟨e, U_i⁽⁰⁾⟩ of each of the m heads.
        sigma: the activation; odd.
    """
    m = arguments.floating("along", along, "m").shape[0]
    root = m**0.5
    c, u, w = (radius / root for radius in arguments.triple("rho", rho))
    return root * (1 + c) * sigma(math.tanh(w) * (along.abs() + u)).mean()


def f_max_at_data(
    m: int, n: int, rho: Sequence[float], delta: float, remainder: float = 0.0, sigma: Activation = TANH
) -> float:
    """A bound on |f(X⁽ʲ⁾; φ)| over Ω_ρ at n inputs that were fixed before φ⁽⁰⁾ was drawn; without d.

    σ₀ρ_c + σ₁[max_s{ρ_u s + √(2/π)ρ_w(1 − s²)} + 2ρ_w √(log(n/δ)/m)] + remainder, with probability 1 − δ.

    Args:
        remainder: a bound on |f − f_lin|, at least 0; 0 for the bound on |f_lin|.
    """
    w = arguments.triple("rho", rho)[2]
    arguments.even("m", m)
    arguments.count("n", n)
    spread = 2 * w * math.sqrt(math.log(n / arguments.probability("delta", delta)) / m)
    return y_max(rho, sigma) + sigma.bounds[1] * spread + arguments.at_least("remainder", remainder, 0.0)


def y_max_paper(d: int, nu: Sequence[float], sigma: Activation = TANH) -> float:
    """The paper's bound on a target of the class: σ₀ν̄_c + σ₁ν̄_u + σ₁√d ν̄_w. Source: Arda, Cayci, Eryilmaz 2026, Lemma 6."""
    c, u, w = arguments.triple("nu", nu)
    return sigma.bounds[0] * c + sigma.bounds[1] * (u + arguments.count("d", d) ** 0.5 * w)


def y_max(nu: Sequence[float], sigma: Activation = TANH) -> float:
    """σ₀ν̄_c + σ₁ max_s{ν̄_u s + √(2/π) ν̄_w(1 − s²)}, a bound without d; at most σ₀ν̄_c + σ₁(ν̄_u + √(2/π) ν̄_w).

    Returns: in closed form.
    """
    c, u, w = arguments.triple("nu", nu)
    return sigma.bounds[0] * c + sigma.bounds[1] * blocks.G1(MEAN_ABS, u, w)


def y_max_coupled(nu: Sequence[float], sigma: Activation = TANH) -> float:
    """max_s{ν̄_c E|σ(sG)| + E|σ′(sG)| (ν̄_u s + √(2/π) ν̄_w(1 − s²))}, G standard Gaussian: sharper, for bell-shaped |σ′|.

    Returns: To about 1e-9 of its size.

    Args:
        sigma: the activation; |σ′| must be even and must not grow with |z|.
    """
    c, u, w = arguments.triple("nu", nu)
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
    a: Float64[Tensor, "*n 2"],
    M: Float64[Tensor, "*n 2 2"],
    nu: Sequence[float],
    sigma: Activation = TANH,
    radial: int = 3,
    angular: int = 2,
) -> Float64[Tensor, "*n"]:
    """E over a Gaussian U of ν̄_c|σ(z)| + |σ′(z)|(ν̄_u‖a‖ + ν̄_w‖MU‖), z = ⟨U, a⟩, in the plane: W is held fixed, ‖q‖ = 1.

    Polar coordinates with the first axis along a: a kink at z = 0 falls between two panels.

    Returns: differentiable. With the default panels right to 1e-3, and to 1e-6 where M has rank one across a.

    Args:
        a: mean of the tokens.
        M: their covariance.
        radial: panels of ten nodes for ‖U‖.
        angular: panels of ten nodes for each of the two quarter circles (the integrand is even in U).
    """
    c, u, w = arguments.triple("nu", nu)
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
