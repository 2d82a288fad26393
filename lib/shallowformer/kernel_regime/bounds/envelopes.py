"""Lemma 6: how large the model and its targets can be, the paper's envelopes and sharper ones.

``*_paper`` are the paper's; the others are proved in the chapter *Envelopes*. ρ = (ρ_c, ρ_u, ρ_w) are the radii of Ω_ρ, and ν̄ likewise the
sup norms of a transport.
"""

import math

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Count, Even, Level, NonNegative, Triple, contract
from shallowformer.kernel_regime.bounds import blocks, smoothness
from shallowformer.probability.gaussian_means import MEAN_ABS, gaussian_mean, half_line, panels


@contract
def f_max_paper(B: float, rho: Triple, sigma: Activation = TANH) -> float:
    """The paper's bound on |f| over Ω_ρ: L₁r + σ₀ρ_c with r² = ρ_u² + ρ_w², and B = B_{U,m} for L₁. Source: Lemma 6."""
    c, u, w = rho
    return smoothness.L1_paper(B, sigma) * (u**2 + w**2) ** 0.5 + sigma.bounds[0] * c


@contract
def f_max(R: Float[Tensor, " m"], rho: Triple, sigma: Activation = TANH) -> Float[Tensor, ""]:
    """σ₀ρ_c + (1/m) Σ_i min{σ₁G₁(R_i), σ₀√m}: a bound on |f| over Ω_ρ around a symmetric initialisation, for all X.

    R_i is the largest ‖U_i‖ of a head in Ω_ρ (``region.longest``); partners have the same.
    """
    c, u, w = rho
    s0, s1, _, _ = sigma.bounds
    return s0 * c + (s1 * blocks.G1(R, u, w)).clamp(max=s0 * blocks.number_of_heads(R) ** 0.5).mean()


@contract
def f_max_closed(R: NonNegative, rho: Triple, sigma: Activation = TANH) -> float:
    """σ₀ρ_c + σ₁γ̄, γ̄² = ρ_u² + ρ_w²R̄²: at least ``f_max`` where R̄ is the root mean square of the R_i."""
    c, u, w = rho
    return sigma.bounds[0] * c + sigma.bounds[1] * blocks.G1_closed(R, u, w)


@contract
def f_pulled_camps(along: Float[Tensor, " m"], rho: Triple, sigma: Activation = TANH) -> Float[Tensor, ""]:
    """(√m + ρ_c) · (1/m) Σ_i σ(tanh(ρ_w/√m) (|⟨e, U_i⟩| + ρ_u/√m)): what |f| reaches at two camps ±e of equal mass; ``along`` is ⟨e, U_i⁽⁰⁾⟩.

    Every head moves attention to one camp, and its partner to the other; σ odd, ‖q‖ = 1 and ⟨e, W_i q⟩ = 0 at the start.
    """
    root = arguments.floating("along", along, "m").shape[0] ** 0.5
    c, u, w = (radius / root for radius in rho)
    return root * (1 + c) * sigma(math.tanh(w) * (along.abs() + u)).mean()


@contract
def f_max_at_data(
    m: Even, n: Count, rho: Triple, delta: Level, remainder: NonNegative = 0.0, sigma: Activation = TANH
) -> float:
    """σ₀ρ_c + σ₁[max_s{ρ_u s + √(2/π)ρ_w(1 − s²)} + 2ρ_w √(log(n/δ)/m)] + remainder, with probability 1 − δ and without d.

    A bound on |f(X⁽ʲ⁾; φ)| over Ω_ρ at n inputs that were fixed before φ⁽⁰⁾ was drawn; the remainder bounds |f − f_lin|, and 0 is for f_lin.
    """
    spread = 2 * rho[2] * math.sqrt(math.log(n / delta) / m)
    return y_max(rho, sigma) + sigma.bounds[1] * spread + remainder


@contract
def y_max_paper(d: Count, nu: Triple, sigma: Activation = TANH) -> float:
    """The paper's bound on a target of the class: σ₀ν̄_c + σ₁ν̄_u + σ₁√d ν̄_w. Source: Lemma 6."""
    c, u, w = nu
    return sigma.bounds[0] * c + sigma.bounds[1] * (u + d**0.5 * w)


@contract
def y_max(nu: Triple, sigma: Activation = TANH) -> float:
    """σ₀ν̄_c + σ₁ max_s{ν̄_u s + √(2/π) ν̄_w(1 − s²)} in closed form, without d; at most σ₀ν̄_c + σ₁(ν̄_u + √(2/π) ν̄_w)."""
    c, u, w = nu
    return sigma.bounds[0] * c + sigma.bounds[1] * blocks.G1(MEAN_ABS, u, w)


@contract
def y_max_coupled(nu: Triple, sigma: Activation = TANH) -> float:
    """max_s{ν̄_c E|σ(sG)| + E|σ′(sG)| (ν̄_u s + √(2/π) ν̄_w(1 − s²))}, G standard Gaussian: sharper, for |σ′| even and bell-shaped; to 1e-9."""
    c, u, w = nu
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


@contract
def target_given_weights(
    a: Float64[Tensor, "*n 2"],
    M: Float64[Tensor, "*n 2 2"],
    nu: Triple,
    sigma: Activation = TANH,
    radial: Count = 3,
    angular: Count = 2,
) -> Float64[Tensor, "*n"]:
    """E over a Gaussian U of ν̄_c|σ(z)| + |σ′(z)|(ν̄_u‖a‖ + ν̄_w‖MU‖), z = ⟨U, a⟩, in the plane: W is held fixed, ‖q‖ = 1.

    a is the mean of the tokens, M their covariance. Polar coordinates with the first axis along a, so that a kink at z = 0 falls between
    two panels; ``radial`` panels of ten nodes for ‖U‖ and ``angular`` for each of two quarter circles (the integrand is even in U).
    Differentiable; with the default panels right to 1e-3, and to 1e-6 where M has rank one across a.
    """
    c, u, w = nu
    arguments.floating("a", a, "... 2")
    arguments.shape("M", M, (*a.shape[:-1], 2, 2), "[..., 2, 2] as a")
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
