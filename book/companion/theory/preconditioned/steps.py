"""Descent with steps on f_{1/2} from far away: one step, the levels it suits, saddles and what leaves them, aligned starts.

A start is aligned if U = PN and V = QN with one N: rotated, Y = 0 and T = 0, and descent is X⁺ = (I + ηS − (η/2)XXᵀ)X.
s₁ is the largest singular value of M̃.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Positive, Whole, contract, contracted
from shallowformer.preconditioned import factorisation


@contract
def step(
    U: Float[Tensor, "m r"],
    V: Float[Tensor, "d r"],
    target: Float[Tensor, "m d"],
    eta: Positive,
    lam: float = 0.5,
) -> tuple[Float[Tensor, "m r"], Float[Tensor, "d r"]]:
    """(U, V) − η∇f_λ(U, V)."""
    of_U, of_V = factorisation.gradient(U, V, target, lam)
    return U - eta * of_U, V - eta * of_V


@contract
def level(s1: Positive, eta: Positive) -> float:
    """R = (2/9)(1/η − s₁)² for η ≤ 1/s₁: η is below 2/(2s₁ + 3√(2f_0)) if and only if f_0 < R. Source: A theorem of this book."""
    arguments.at_most("eta", eta, "1/s1", 1 / s1)
    return 2 / 9 * (1 / eta - s1) ** 2


def unstable(kept: Float[Tensor, " rho"], lost: Float[Tensor, " q"], columns: int) -> int:
    """Negative eigenvalues of ∇²f_λ at the stationary point that keeps some singular values: what leaves it under a small step.

    One for each missed value and unused column, and one for each missed value above a kept one. Source: A theorem of this book.

    Args:
        kept: s_i for i ∈ I, above 0; ``lost`` the others.
        columns: r of the factors, at least as many as are kept.
    """
    for name, values in (("kept", kept), ("lost", lost)):
        if len(values) and not float(values.min()) > 0:
            raise ValueError(f"{name} must be above 0, got {float(values.min()):g} among them")
    free = arguments.count("columns", columns, max(1, len(kept))) - len(kept)
    return len(lost) * free + int((lost[:, None] > kept).sum())


@contract
def oscillation(s1: Positive, eta: float) -> tuple[float, float]:
    """The two values of f between which the pair of s₁ alternates, larger first: x² is (a ± √(a² − 4))/η in turn, a = 1 + ηs₁ ≥ 2."""
    arguments.at_least("eta", eta, 1 / s1)
    a = 1 + eta * s1
    root = math.sqrt(max(a**2 - 4, 0.0))
    high, low = (((a + sign * root) / eta - 2 * s1) ** 2 / 8 for sign in (1, -1))
    return max(high, low), min(high, low)


@contracted
@dataclass(frozen=True)
class AlignedStart:
    """What descent from an aligned start, X_0 of rank k, is known to do. Source: A theorem of this book."""

    X: Float[Tensor, "k r"]  # (PᵀU + QᵀV)/√2 at the start
    s: Float[Tensor, " k"]  # singular values of M̃, largest first, above 0
    eta: Positive  # η, at most 1/(2s₁ + 3√(2f_0))

    def __post_init__(self) -> None:
        k, r = arguments.floating("X", self.X, "k r").shape
        arguments.shape("s", arguments.floating("s", self.s, "k"), (k,), "one for each row of X")
        if r < k or not float(torch.linalg.svdvals(self.X)[-1]) > 0:
            raise ValueError(
                f"X must have full row rank, got shape {(k, r)} and singular values {torch.linalg.svdvals(self.X).tolist()}"
            )
        # One part in 1e12 for a step that a caller computed as the bound itself.
        arguments.at_most("eta", self.eta, "1/(2s₁ + 3√(2f_0))", (1 + 1e-12) / self.curvature)

    @property
    def start(self) -> float:
        """f_0 = ⅛‖X_0X_0ᵀ − 2S‖²."""
        return float((self.X @ self.X.T - 2 * self.s.diag()).square().sum()) / 8

    @property
    def curvature(self) -> float:
        """L = 2s₁ + 3√(2f_0)."""
        return 2 * float(self.s[0]) + 3 * math.sqrt(2 * self.start)

    @property
    def excess(self) -> float:
        """C_0 = max{2s_k/λ_min(X_0X_0ᵀ) − 1, 0}."""
        return max(2 * float(self.s[-1]) / float(torch.linalg.svdvals(self.X)[-1]) ** 2 - 1, 0.0)

    def least(self, t: int) -> float:
        """2s_k/(1 + C_0(1 + 2ηs_k)^−t), a lower bound on λ_min(X_tX_tᵀ)."""
        return 2 * float(self.s[-1]) / (1 + self.excess / self._growth(t))

    def value(self, t: int) -> float:
        """f_0 q_t^{2−ηL} with q_t = (1 + C_0)/((1 + 2ηs_k)^t + C_0), an upper bound on f after t steps."""
        q = (1 + self.excess) / (self._growth(t) + self.excess)
        return self.start * q ** (2 - self.eta * self.curvature)

    @contract
    def _growth(self, t: Whole) -> float:
        return (1 + 2 * self.eta * float(self.s[-1])) ** t
