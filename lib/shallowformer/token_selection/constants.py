"""Numbers of an instance that the theorems use, and the assumptions on its tokens."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from shallowformer.contracts import Level, contract
from shallowformer.token_selection.instances import Instance


def B(instance: Instance) -> float:
    """B = max ‖x_{i,t}‖, queries included."""
    return max(float(instance.X.norm(dim=-1).max()), float(instance.queries.norm(dim=-1).max()))


def psi_max(instance: Instance) -> float:
    """Ψ_max = max_i Δ_i e^{−γ_i}, the "largest degradation factor", an upper bound on every ℓ_iΔ_i.

    Source: Vasudeva, Deora, Thrampoulidis 2024, section 3, in our reading.
    """
    return float((instance.Delta * torch.exp(instance.Delta - instance.scores.amax(1))).max())


def psi_min(instance: Instance) -> float:
    """Ψ_min = min_i Δ_i e^{−γ_{i,opt}}, a lower bound on every ℓ_iΔ_i.

    Source: Vasudeva, Deora, Thrampoulidis 2024, section 3 ("smallest degradation factor"), in our reading.
    """
    return float((instance.Delta * torch.exp(-instance.scores.amax(1))).min())


def upsilon(instance: Instance) -> float:
    """Υ = Ψ_max/Ψ_min, at least 1. Source: Vasudeva, Deora, Thrampoulidis 2024, section 3 ("conditioning parameter"), in our reading."""
    return psi_max(instance) / psi_min(instance)


def _optimal(instance: Instance) -> Bool[Tensor, " nT"]:
    """Which tokens, in one row, are optimal."""
    mask = torch.zeros(instance.n, instance.T, dtype=torch.bool)
    mask[torch.arange(instance.n), instance.optimal] = True
    return mask.flatten()


def _products(instance: Instance) -> Float[Tensor, "nT nT"]:
    """⟨x_{i,t}, x_{j,τ}⟩ of all pairs of tokens."""
    X = instance.X.flatten(0, 1)
    return X @ X.T


def nu(instance: Instance) -> float:
    """ν, the largest |⟨x_{i,t}, x_{j,τ}⟩| of two tokens (i, t) ≠ (j, τ) that are not both optimal."""
    best = _optimal(instance)
    count = (best[:, None] & best) | torch.eye(len(best), dtype=torch.bool)
    return float(_products(instance).abs().masked_fill(count, 0.0).max())


def m_o(instance: Instance) -> float:
    """m_o = min_i ‖x_{i,opt}‖²."""
    return float(instance.best.square().sum(1).min())


def s_1(instance: Instance) -> float:
    """s₁ = min_i ‖q_i‖², q_i = x_{i,1} in the paper."""
    return float(instance.queries.square().sum(1).min())


def M_o(instance: Instance) -> float:
    """M_o, the largest |⟨x_{i,opt}, x_{j,opt}⟩| of two sequences; 0 for one sequence."""
    return float((instance.best @ instance.best.T).fill_diagonal_(0.0).abs().max())


@dataclass(frozen=True)
class NearOrthogonality:
    """The two sides of (A1′)."""

    left: float  # (m_o − 3ν)s₁
    right: float  # (n − 1)Υν(M_o + 3ν)/(2φ_min)
    wide: float  # m_o − 3ν, which must be above 0 (it follows unless n = 1)

    @property
    def holds(self) -> bool:
        """Is (A1′) met?"""
        return self.left >= self.right and self.wide > 0


def near_orthogonality(instance: Instance, phi_min: float) -> NearOrthogonality:
    """(A1′), under Assumption 2 with tokens as queries: tokens are orthogonal enough for the optimal weights never to fall below φ_min.

    Source: Ours: a sufficient form of Assumption 1 of Vasudeva, Deora, Thrampoulidis 2024.
    """
    _fraction(phi_min)
    if instance.query_index is None:
        raise ValueError("query must be a token of each sequence for (A1′), got vectors of their own")
    overlap, wide = nu(instance), m_o(instance) - 3 * nu(instance)
    weight = (instance.n - 1) * upsilon(instance) / (2 * phi_min)
    return NearOrthogonality(wide * s_1(instance), weight * overlap * (M_o(instance) + 3 * overlap), wide)


@dataclass(frozen=True)
class PaperAssumption:
    """How far the paper's Assumption 1, in our reading, is from failing; at least 1 each where it holds."""

    noise: float  # smallest ‖x_{j,τ}‖² over 4nTΥ|⟨x_{i,t}, x_{j,τ}⟩|, x_{i,t} another token, not optimal
    apart: float  # the same with 4nΥ over optimal tokens of different labels
    together: float  # smallest ⟨x_{i,opt}, x_{j,opt}⟩ of one label

    @property
    def holds(self) -> bool:
        """Is Assumption 1 met?"""
        return self.noise >= 1 and self.apart >= 1 and self.together >= 0


def assumption_1(instance: Instance) -> PaperAssumption:
    """Assumption 1 in our reading: tokens that are not optimal are nearly orthogonal to all others, optimal ones by label.

    Its formulas are lost: the first part's constant 4nTΥ, and "small" for optimal tokens of different labels, are reconstructed.

    Source: Vasudeva, Deora, Thrampoulidis 2024, Assumption 1, in our reading.
    """
    n, T, best = instance.n, instance.T, _optimal(instance)
    products = _products(instance)
    squares = products.diagonal()
    itself = torch.eye(len(best), dtype=torch.bool)
    label = instance.y.repeat_interleave(T)
    both = best[:, None] & best & ~itself
    room = lambda which, factor: float(
        torch.where(which & (products != 0), squares / (factor * products.abs()), torch.inf).min()
    )
    weight = 4 * n * upsilon(instance)
    same = both & (label[:, None] == label)
    return PaperAssumption(
        room(~best[:, None] & ~itself, weight * T),
        room(both & (label[:, None] != label), weight),
        float(torch.where(same, products, torch.inf).min()),
    )


@contract
def _fraction(phi_min: Level) -> float:
    if not 0 < phi_min <= 0.5:
        raise ValueError(f"phi_min must lie in (0, ½], got {phi_min!r}")
    return phi_min
