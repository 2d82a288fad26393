"""Rotated coordinates of f_{1/2}, in which it falls apart: X carries the target, Y and T only decay; and what that says of gradient flow.

M̃ = P diag(s) Qᵀ of rank k: X = (PᵀU + QᵀV)/√2, Y = (PᵀU − QᵀV)/√2, and T the rows of U and V outside the ranges of P and Q.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, NonNegative, contract


@dataclass(frozen=True)
class Rotated:
    """(X, Y, T) and the singular values of M̃."""

    X: Float[Tensor, "k r"]  # (PᵀU + QᵀV)/√2
    Y: Float[Tensor, "k r"]  # (PᵀU − QᵀV)/√2
    T: Float[Tensor, "z r"]  # what M̃ does not see
    s: Float[Tensor, " k"]  # singular values of M̃ above 0, largest first

    @property
    def value(self) -> float:
        """f_{1/2} = ⅛(‖XXᵀ − 2S‖² + 2‖XYᵀ‖² + ‖YYᵀ‖² + 4 tr SYYᵀ + ‖TTᵀ‖² + 2‖XTᵀ‖² + 2‖YTᵀ‖²)."""
        X, Y, T = self.X, self.Y, self.T
        square = lambda A: A.square().sum()
        of_Y = square(Y @ Y.T) + 4 * (self.s[:, None] * Y.square()).sum()
        of_T = square(T @ T.T) + 2 * square(X @ T.T) + 2 * square(Y @ T.T)
        return float(square(X @ X.T - 2 * self.s.diag()) + 2 * square(X @ Y.T) + of_Y + of_T) / 8

    @property
    def gradient(self) -> tuple[Float[Tensor, "k r"], Float[Tensor, "k r"], Float[Tensor, "z r"]]:
        """(½XW − SX, ½YW + SY, ½TW) with W = XᵀX + YᵀY + TᵀT."""
        W = sum(A.T @ A for A in (self.X, self.Y, self.T))
        s = self.s[:, None]
        return self.X @ W / 2 - s * self.X, self.Y @ W / 2 + s * self.Y, self.T @ W / 2


@contract
def rotated(
    U: Float[Tensor, "m r"], V: Float[Tensor, "d r"], target: Float[Tensor, "m d"], rank: Count | None = None
) -> Rotated:
    """(U, V) in the coordinates (X, Y, T), for M̃ of rank k; min(m, d) if no rank is given."""
    m, d = arguments.floating("target", target, "m d").shape
    r = arguments.floating("U", U, "m r").shape[1]
    arguments.shape("U", U, (m, r), "[m, r], m as in target")
    arguments.shape("V", arguments.floating("V", V, "d r"), (d, r), "[d, r], d as in target and r as in U")
    k = min(m, d) if rank is None else rank
    arguments.at_most("rank", k, "min(m, d)", min(m, d))
    P, s, Qt = torch.linalg.svd(target)
    PU, QV = P.T @ U, Qt @ V
    root = math.sqrt(2)
    return Rotated(
        (PU[:k] + QV[:k]) / root, (PU[:k] - QV[:k]) / root, torch.cat([PU[k:], QV[k:]]), s[:k]
    )  # fmt: skip


@dataclass(frozen=True)
class FlowBounds:
    """What gradient flow of f_{1/2} from (X_0, Y_0), square and X_0 invertible, is known to do by time t."""

    least: float  # lower bound on λ_min(XXᵀ)
    rest: float  # upper bound on ‖Y‖_F²
    misfit: float  # upper bound on ‖XXᵀ − 2S‖_F
    value: float  # upper bound on f


@dataclass(frozen=True)
class FlowStart:
    """What the bounds on gradient flow take from a start: square, with det X_0 ≠ 0."""

    start: Rotated  # in rotated coordinates, T empty

    def __post_init__(self) -> None:
        X, s = self.start.X, self.start.s
        if X.shape[0] != X.shape[1] or len(self.start.T):
            raise ValueError(
                f"start must be square with M̃ invertible, got X {tuple(X.shape)} and {len(self.start.T)} rows of T"
            )
        least = float(torch.linalg.svdvals(X)[-1])
        if not least > 16 * len(X) * torch.finfo(X.dtype).eps * max(1.0, float(s[0])) ** 0.5:
            raise ValueError(f"start must have det X_0 ≠ 0, got least singular value {least:.3g}")

    @property
    def excess(self) -> float:
        """C_0 = (2s_d + ‖Y_0‖₂²)/λ_min(X_0X_0ᵀ) − 1."""
        values = torch.linalg.svdvals(self.start.X)
        y0 = float(torch.linalg.matrix_norm(self.start.Y, 2)) ** 2
        return (2 * float(self.start.s[-1]) + y0) / float(values[-1]) ** 2 - 1

    @property
    def wait(self) -> float:
        """log(1 + C_0)/(2s_d), the time after which f decays like e^{−4s_d t}."""
        return math.log1p(self.excess) / (2 * float(self.start.s[-1]))

    @contract
    def at(self, t: NonNegative) -> FlowBounds:
        """The bounds at time t."""
        X, Y, s = self.start.X, self.start.Y, self.start.s
        most, least = float(s[0]), float(s[-1])
        C, decay = self.excess, math.exp(-2 * least * t)
        q = decay * (1 + C) / (1 + C * decay)
        norm = lambda A: float(torch.linalg.matrix_norm(A))
        top = lambda A: float(torch.linalg.matrix_norm(A, 2)) ** 2
        g = max(top(X), 2 * most)
        rest = norm(Y) ** 2 * decay * q
        misfit = q * (norm(X @ X.T - 2 * s.diag()) + g / (2 * least) * norm(Y @ Y.T))
        value = (misfit**2 + (2 * g + 4 * most + top(Y)) * rest) / 8
        return FlowBounds(2 * least / (1 + C * decay), rest, misfit, value)
