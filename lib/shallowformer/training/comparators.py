"""The ridge path as comparators: from a Gram matrix K = ⟨∇f_j, ∇f_k⟩ at the start, and what the outputs there miss of the labels, y − f.

A weight vector α stands for the point φ⁽⁰⁾ + Σ_j α_j ∇f_j.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.training.self_bounding import bound


def weights(K: Float[Tensor, "n n"], missing: Float[Tensor, " n"], lam: float) -> Float[Tensor, " n"]:
    """The α with (K + nλI) α = y − f, λ at least 0; for 0 the solution of least norm, where there is one."""
    arguments.at_least("lam", lam, 0.0)
    n = len(missing)
    if lam == 0:
        return torch.linalg.pinv(K, hermitian=True) @ missing
    return torch.linalg.solve(K + n * lam * torch.eye(n, dtype=K.dtype, device=K.device), missing)


@dataclass(frozen=True)
class Ridge:
    """A point of the ridge path, and what Theorem A needs to know of it at the start."""

    alpha: Float[Tensor, " n"]  # its weights
    lam: float  # λ
    epsilon: float  # ε₀, root mean square of what the linear model misses there
    V0: float  # its squared distance from the start


def best_ridge(
    K: Float[Tensor, "n n"], missing: Float[Tensor, " n"], horizon: float, rounds: int = 6
) -> Ridge:
    """The ridge comparator at which ℓ = (ε₀ + √(ε₀² + V₀/H))/2, Theorem A's bound before training, is stationary; H = ητ.

    That is where λ = ε₀/(2ℓH). The equation is iterated from λ = 1/(2H): its right side is smaller there and grows with λ, so the
    iterates fall towards its only solution above 0, or towards 0 if there is none (interpolation is best for long runs).

    Args:
        rounds: how often the equation is iterated, at least 1; each solves an n × n system.
    """
    following, n = 1 / (2 * arguments.positive("horizon", horizon)), len(missing)
    for _ in range(arguments.count("rounds", rounds)):
        lam, regular = following, K.clone()
        regular.diagonal().add_(n * lam)
        alpha = torch.cholesky_solve(missing[:, None], torch.linalg.cholesky(regular))[:, 0]
        epsilon = float((n * lam * alpha).square().mean().sqrt())
        V0 = float(alpha @ (missing - n * lam * alpha))
        following = epsilon / (2 * bound(epsilon, V0, horizon, 1, 0.0) * horizon)
    return Ridge(alpha, lam, epsilon, V0)
