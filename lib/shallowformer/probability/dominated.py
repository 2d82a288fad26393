"""The constant s_⋆: how heavy the tail of a variable C with |C| ≤ |G|, G Gaussian, can be made by choosing its sign.

The worst choice is C = |G| sgn(|G| − r): small values negative, large values positive. Everything is in closed form in the
normal distribution function. Ψ(λ) is the largest log E exp(λ(C − EC)), and s_⋆² the supremum of 2Ψ(λ)/λ². Proofs: the chapter
*How well can m heads approximate?*.
"""

import math

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Positive, contract

#: Largest λ: beyond it e^{λ²/2} and sinh(λr) come near the end of double precision.
LARGEST = 30.0


def _valid(lam: Tensor, r: Tensor | None = None) -> None:
    """Refuse a λ outside (0, 30], and a threshold below 0."""
    arguments.floating("lam", lam, "...")
    if not (lam > 0).all() or not (lam <= LARGEST).all():
        raise ValueError(
            f"lam must lie above 0 and be at most {LARGEST:g}, got {float(lam.min()):.6g} to {float(lam.max()):.6g}"
        )
    if r is not None and not (r >= 0).all():
        raise ValueError(f"r must be at least 0, got {float(r.min()):.6g}")


def _q(x: Tensor) -> Tensor:
    return torch.special.ndtr(-x)


def _density(x: Tensor) -> Tensor:
    return torch.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def moment_generating(lam: Float64[Tensor, "*n"], r: Float64[Tensor, "*n"]) -> Float64[Tensor, "*n"]:
    """E exp(λC) for C = |G| sgn(|G| − r). Returns: 2e^{λ²/2} [Φ(λ − r) + Φ(r + λ) − Φ(λ)]."""
    _valid(lam, r)
    return 2 * torch.exp(lam**2 / 2) * (_q(r - lam) + _q(lam) - _q(r + lam))


def mean(r: Float64[Tensor, "*n"]) -> Float64[Tensor, "*n"]:
    """E C for C = |G| sgn(|G| − r). Returns: 4φ(r) − 2φ(0)."""
    return 4 * _density(r) - 2 / math.sqrt(2 * math.pi)


def cgf(lam: Float64[Tensor, "*n"], r: Float64[Tensor, "*n"]) -> Float64[Tensor, "*n"]:
    """The cumulant generating function log E exp(λ(C − EC)) of C = |G| sgn(|G| − r): a lower bound of the worst case."""
    return moment_generating(lam, r).log() - lam * mean(r)


def cgf_bound(lam: Float64[Tensor, "*n"], r: Float64[Tensor, "*n"]) -> Float64[Tensor, "*n"]:
    """An upper bound of log E exp(λ(C − EC)) for every C with |C| ≤ |G|, for every r > 0.

    E[e^{λC_r}]/κ − λE[C_r] + log κ − 1 with κ = sinh(λr)/(λr) and C_r = |G| sgn(|G| − r).
    """
    kappa = torch.sinh(lam * r) / (lam * r)
    return moment_generating(lam, r) / kappa - lam * mean(r) + kappa.log() - 1


def worst_threshold(lam: Float64[Tensor, "*n"]) -> Float64[Tensor, "*n"]:
    """The threshold r at which ``cgf_bound`` and ``cgf`` meet: sinh(λr)/(λr) = E exp(λC_r). Returns: r, by bisection."""
    _valid(lam)
    low, high = torch.zeros_like(lam), 30 / lam + lam
    for _ in range(100):
        middle = (low + high) / 2
        over = torch.sinh(lam * middle) / (lam * middle) > moment_generating(lam, middle)
        low, high = torch.where(over, low, middle), torch.where(over, middle, high)
    return (low + high) / 2


@contract
def small_end(lam: Positive) -> float:
    """A bound of 2Ψ(λ′)/λ′² for all λ′ in (0, λ]: 1 + (λ/3) E|G|³e^{λ|G|}."""
    at = torch.tensor(lam, dtype=torch.float64)
    third = 2 * torch.exp(at**2 / 2) * ((at**2 + 2) * _density(at) + (at**3 + 3 * at) * _q(-at))
    return 1 + lam / 3 * float(third)


@contract
def large_end(lam: Positive) -> float:
    """A bound of 2Ψ(λ′)/λ′² for all λ′ ≥ λ: 1 + 2 log 2/λ² + 2√(2/π)/λ."""
    return 1 + 2 * math.log(2) / lam**2 + 2 * math.sqrt(2 / math.pi) / lam


def certificate(low: float = 0.35, high: float = 3.5, ratio: float = 1.00002) -> float:
    """An upper bound of s_⋆, from a grid between ``low`` and ``high`` whose neighbours have a ratio above 1, and the two ends.

    Between grid points Ψ(λ)/λ² ≤ Ψ(λ_{i+1})/λ_i², because Ψ is nondecreasing. Floating point: each of its terms carries a relative rounding
    error of about 1e-14.
    """
    if not 0 < low < high:
        raise ValueError(f"low and high must satisfy 0 < low < high, got {low} and {high}")
    if not ratio > 1:
        raise ValueError(f"ratio must be above 1, got {ratio}")
    steps = math.ceil(math.log(high / low) / math.log(ratio))
    grid = low * torch.tensor(ratio, dtype=torch.float64) ** torch.arange(steps + 1, dtype=torch.float64)
    # Any threshold gives a valid bound, so it may be interpolated between exact ones.
    knots = torch.logspace(math.log10(low) - 0.01, math.log10(high) + 0.01, 200, dtype=torch.float64)
    r = torch.from_numpy(np.interp(grid.numpy(), knots.numpy(), worst_threshold(knots).numpy()))
    middle = float((2 * cgf_bound(grid, r)[1:] / grid[:-1] ** 2).max())
    return math.sqrt(max(middle, small_end(low), large_end(high)))
