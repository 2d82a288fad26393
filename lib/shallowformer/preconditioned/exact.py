"""The law of a finite softmax average of Gaussian tokens, exactly: mean, second moment, mean covariance, and what they make of the risk.

For n tokens N(0, I), scores q·x_j, ρ = |q|, e = ẑ − q, P_k = Σp_j^k:
E ẑ = (1 − E P₂) q, E eeᵀ = E P₂ I + E[P₂ − 6P₃ + 6P₂²] qqᵀ, E C = (1 − E P₂) I − 2E[P₂ − 4P₃ + 3P₂²] qqᵀ.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from scipy.interpolate import CubicSpline
from scipy.stats import chi
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, Positive, contract, contracted
from shallowformer.preconditioned import limit, participation


def mean(q: Float[Tensor, " d"], n: int) -> Float[Tensor, " d"]:
    """E ẑ = (1 − E P₂) q for |q| ≤ 40."""
    P2, _, _ = _at(q, n)
    return (1 - P2) * q


def second_moment(q: Float[Tensor, " d"], n: int) -> Float[Tensor, "d d"]:
    """E eeᵀ of the error e = ẑ − q for |q| ≤ 40."""
    P2, P3, square = _at(q, n)
    return P2 * torch.eye(len(q), dtype=q.dtype) + (P2 - 6 * P3 + 6 * square) * torch.outer(q, q)


def covariance(q: Float[Tensor, " d"], n: int) -> Float[Tensor, "d d"]:
    """E C of the covariance C = Σ_j p_j x_j x_jᵀ − ẑẑᵀ, which is the derivative of E ẑ, for |q| ≤ 40."""
    P2, P3, square = _at(q, n)
    return (1 - P2) * torch.eye(len(q), dtype=q.dtype) - 2 * (P2 - 4 * P3 + 3 * square) * torch.outer(q, q)


@contract
def _at(q: Tensor, n: Count) -> Tensor:
    arguments.floating("q", q, "d")
    return participation.means(float(q.norm()), [n])[0]


@contracted
@dataclass(frozen=True)
class Table:
    """E P₂ and E[P₂ − 6P₃ + 6P₂²] as functions of ρ, for one n; relative error below 1e-6."""

    n: float  # tokens, at least 1
    largest: Positive  # ρ up to which it reaches

    def __post_init__(self) -> None:
        """Tabulate."""
        nodes = np.linspace(0, self.largest, max(9, math.ceil(self.largest / 0.12)))
        P2, P3, square = torch.stack([participation.means(rho, [self.n])[0] for rho in nodes]).numpy().T
        object.__setattr__(self, "_log", CubicSpline(nodes, np.log(P2)))
        object.__setattr__(self, "_ratio", CubicSpline(nodes, 1 - 6 * (P3 - square) / P2))

    def __call__(self, rho: Float[Tensor, " k"]) -> tuple[Float[Tensor, " k"], Float[Tensor, " k"]]:
        """Both functions, for ρ from 0 to ``largest``."""
        if rho.numel() and not 0 <= float(rho.min()) <= float(rho.max()) <= self.largest:
            raise ValueError(f"rho must lie between 0 and {self.largest:g}, got {float(rho.max()):g}")
        P2 = torch.from_numpy(np.exp(self._log(rho.numpy())))
        return P2, P2 * torch.from_numpy(self._ratio(rho.numpy()))


def risk(
    A: Float[Tensor, "m d"],
    B: Float[Tensor, "d d"],
    Sigma: Float[Tensor, "d d"],
    n: int,
    draws: int,
    generator: Generator,
) -> tuple[float, float]:
    """E‖A(ẑ_n(x) − ΣBᵀx)‖² over fresh contexts and queries: exact in the contexts, a mean over drawn queries, and its standard error.

    Queries are drawn from a wider law and weighted, so that the few that matter are seen.
    """
    A, B = limit.whitened(A, B, Sigma)
    arguments.count("draws", draws, 2)
    _, b, right = torch.linalg.svd(B)
    wider = (1 - 2 * b.square().clamp(max=0.4)).rsqrt()
    g = torch.randn(draws, len(b), generator=generator, dtype=torch.float64)
    y = g * wider  # coordinates of x along the left singular vectors
    weight = (-(y.square() - g.square()).sum(1) / 2).exp() * wider.prod()
    q = y * b
    rho = q.norm(dim=1)
    P2, along = Table(n, float(rho.max()) * (1 + 1e-12) + 1e-9)(rho)
    values = weight * (A.square().sum() * P2 + (q @ right @ A.T).square().sum(1) * along)
    return float(values.mean()), float(values.std()) / draws**0.5


@contract
def isotropic(b: Positive, d: Count, n: Sequence[float]) -> list[float]:
    """E|ẑ_n(x) − bx|² for B = bI, tokens and query N(0, I), 1 ≤ n ≤ 1e100, by quadrature; relative error below 1e-8."""
    nodes, mass = _queries(b, d, n)
    P2, P3, square = torch.stack([participation.means(b * r, n) for r in nodes]).numpy().transpose(2, 0, 1)
    rho2 = (b * nodes[:, None]) ** 2
    return (mass @ (d * P2 + rho2 * (P2 - 6 * P3 + 6 * square))).tolist()


@contract
def shortfall(b: Positive, n: Sequence[float]) -> list[float]:
    """B E[x² E P₂(b|x|)] = −E[x(ẑ_n(bx) − bx)] for one-dimensional tokens and a fresh query, 1 ≤ n ≤ 1e100; relative error below 1e-8."""
    nodes, mass = _queries(b, 1, n)
    P2 = torch.stack([participation.means(b * r, n)[:, 0] for r in nodes]).numpy().T
    return (b * P2 @ (mass * nodes**2)).tolist()


def _queries(b: float, d: int, n: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of a query, as far as they matter to a risk at so many tokens, and their masses."""
    most = max(math.log(float(each)) for each in n)
    room = (1 + 4 / b**2) ** 0.5 / 2 - 0.5
    reach = (2 * (min(room, 1.0) * most + 25)) ** 0.5 + d**0.5
    nodes = np.arange(0, reach, 0.2 if d == 1 else 0.05)
    mass = chi.pdf(nodes, d) * (nodes[1] - nodes[0])
    mass[0] /= 2
    return nodes, mass
