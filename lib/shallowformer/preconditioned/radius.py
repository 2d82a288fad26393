"""The factorisation with the least noise: of all ÃB̃ᵀ = M̃, which K = B̃B̃ᵀ makes 𝒱 smallest."""

import math

import torch
from jaxtyping import Float
from scipy.optimize import brentq
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, contract


@contract
def orthogonal(d: Count) -> tuple[float, float]:
    """The best radius b of B̃ = bO, O orthogonal, b² = (d + 4 − √(d² + 4d + 8))/(2(d + 2)), and 𝒱/‖M̃‖_F² there."""
    # The other form of the root of (d + 2)β² − (d + 4)β + 1: nothing cancels.
    beta = 2 / (d + 4 + math.sqrt(d**2 + 4 * d + 8))
    return math.sqrt(beta), (1 - beta) / beta * (1 - 2 * beta) ** (-d / 2 - 1)


def value(singular_values: Float[Tensor, " d"], k: Float[Tensor, " d"]) -> float:
    """𝒱 = Π(1 − 2k_i)^{−1/2} Σ s_i² (1/k_i + 1/(1 − 2k_i)) for K with eigenvalues 0 < k_i < ½ along the right singular vectors of M̃."""
    s = _above_zero(singular_values)
    arguments.shape("k", k, tuple(s.shape), "[d], one for each singular value")
    if not bool(((k > 0) & (k < 0.5)).all()):
        raise ValueError(f"k must lie between 0 and 1/2, got {k.tolist()}")
    room = 1 - 2 * k
    return float(room.rsqrt().prod() * (s.square() * (1 / k + 1 / room)).sum())


def best(singular_values: Float[Tensor, " d"]) -> Float[Tensor, " d"]:
    """Eigenvalues k_i of the K with the least 𝒱: roots of s_i²(1/k² − 2/(1 − 2k)²) = T/(1 − 2k), T = Σ s_i²(1 − k_i)/(k_i(1 − 2k_i))."""
    s = _above_zero(singular_values)
    squares = [float(v) ** 2 / float(s.square().sum()) for v in s]

    def roots(T: float) -> list[float]:
        at = lambda k, g: g * ((1 - 2 * k) ** 2 / k**2 - 2) - T * (1 - 2 * k)
        return [brentq(at, 1e-12, 0.5 - 1e-12, args=(g,), xtol=1e-16) for g in squares]

    def gap(log_T: float) -> float:
        total = sum(
            g * (1 - k) / (k * (1 - 2 * k)) for g, k in zip(squares, roots(math.exp(log_T)), strict=True)
        )
        return log_T - math.log(total)

    log_T = brentq(gap, -5.0, 25.0, xtol=1e-14)
    return torch.tensor(roots(math.exp(log_T)), dtype=torch.float64)


def _above_zero(s: Tensor) -> Tensor:
    arguments.floating("singular_values", s, "d")
    if not bool((s > 0).all()):
        raise ValueError(f"singular_values must be above 0, got {s.tolist()}")
    return s
