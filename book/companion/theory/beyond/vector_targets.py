"""k targets at once: every head is moved along k instructions, each as far as its readout for that output says."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.beyond.architecture import Blocks


def transported(
    phi0: Blocks, v_c: Float[Tensor, "m k"], v_u: Float[Tensor, "m k d"], v_w: Float[Tensor, "m k d d"]
) -> Blocks:
    """The step m^{−1/2}(v_c^a, Σ_b c_{ib} v_u^b, Σ_b c_{ib} v_w^b) of every head, from readouts ±1. Returns: φ̃ − φ⁽⁰⁾."""
    c, root = phi0["c"], len(phi0["c"]) ** 0.5
    return {
        "c": v_c / root,
        "U": torch.einsum("mk,mkd->md", c, v_u) / root,
        "W": torch.einsum("mk,mkde->mde", c, v_w) / root,
    }


def cross_talk(x: Float[Tensor, "P k"]) -> Float[Tensor, " k"]:
    """P^{−2} Σ_p Σ_{b≠a} x_{pb}²: the variance that the other outputs' instructions leave in output a, for x_b = ⟨φ_θ, v_θ^b⟩ of every pair."""
    squares = x.square()
    return (squares.sum(1, keepdim=True) - squares).sum(0) / len(x) ** 2


def factor(
    nu_c: Float[Tensor, " k"],
    nu_u: Float[Tensor, " k"],
    nu_w: Float[Tensor, " k"],
    sigma: tuple[float, float],
    s: float,
) -> Float[Tensor, " k"]:
    """S⁺_a = σ₀ν_{c,a} + σ₁ν_{u,a} + σ₁(Σ_{b≠a} ν_{u,b}²)^{1/2} + s σ₁ Σ_b ν_{w,b}: the sub-Gaussian proxy of output a."""
    others = (nu_u.square().sum() - nu_u.square()).clamp(min=0).sqrt()
    return sigma[0] * nu_c + sigma[1] * (nu_u + others) + s * sigma[1] * nu_w.sum()


def uniform_bound(S: Float[Tensor, " k"], m: int, count: int, delta: float) -> Float[Tensor, " k"]:
    """√2 S⁺ √(2 log(2·count/δ)/m): bounds all errors of so many outputs at positions, nTk in all, with probability 1 − δ."""
    return 2**0.5 * S * (2 * math.log(2 * count / delta) / m) ** 0.5
