"""The regularised factorisation problem f_λ(U, V) = ½‖UVᵀ − M̃‖² + (λ/4)‖UᵀU − VᵀV‖²: value, gradient, Hessian."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import NonNegative, contract, contracted
from shallowformer.preconditioned import invariance
from shallowformer.training.points import Point

Matrix = Tensor | np.ndarray


def misfit(
    U: Float[Matrix, "m r"], V: Float[Matrix, "d r"], target: Float[Matrix, "m d"]
) -> Float[Matrix, "m d"]:
    """D = UVᵀ − M̃."""
    return U @ V.T - target


def imbalance(U: Float[Matrix, "m r"], V: Float[Matrix, "d r"]) -> Float[Matrix, "r r"]:
    """C = UᵀU − VᵀV."""
    return U.T @ U - V.T @ V


def value(
    U: Float[Tensor, "m r"], V: Float[Tensor, "d r"], target: Float[Tensor, "m d"], lam: float = 0.5
) -> Float[Tensor, ""]:
    """f_λ(U, V). Source: The regularised problem of Goel, Soltanolkotabi, Bartlett 2026, in our reading."""
    _fits(U, V, target, lam)
    return _value(U, V, target, lam)


def _value(U: Tensor, V: Tensor, target: Tensor, lam: float) -> Tensor:
    return misfit(U, V, target).square().sum() / 2 + lam / 4 * imbalance(U, V).square().sum()


def gradient(
    U: Float[Tensor, "m r"], V: Float[Tensor, "d r"], target: Float[Tensor, "m d"], lam: float = 0.5
) -> tuple[Float[Tensor, "m r"], Float[Tensor, "d r"]]:
    """∇_U = DV + λUC and ∇_V = DᵀU − λVC."""
    _fits(U, V, target, lam)
    return slopes(U, V, target, lam)


def slopes(
    U: Float[Matrix, "m r"], V: Float[Matrix, "d r"], target: Float[Matrix, "m d"], lam: float
) -> tuple[Float[Matrix, "m r"], Float[Matrix, "d r"]]:
    """The same for what fits: nothing is checked."""
    D, C = misfit(U, V, target), imbalance(U, V)
    return D @ V + lam * U @ C, D.T @ U - lam * V @ C


def hessian_form(
    U: Float[Tensor, "m r"],
    V: Float[Tensor, "d r"],
    X: Float[Tensor, "m r"],
    Y: Float[Tensor, "d r"],
    target: Float[Tensor, "m d"],
    lam: float = 0.5,
) -> Float[Tensor, ""]:
    """∇²f_λ[(X, Y), (X, Y)] = ‖XVᵀ + UYᵀ‖² + 2⟨D, XYᵀ⟩ + (λ/2)‖Ċ‖² + λ⟨C, XᵀX − YᵀY⟩, Ċ = XᵀU + UᵀX − YᵀV − VᵀY; X, Y directions of U, V."""
    _fits(U, V, target, lam)
    arguments.shape("X", arguments.floating("X", X, "m r"), tuple(U.shape), "as U")
    arguments.shape("Y", arguments.floating("Y", Y, "d r"), tuple(V.shape), "as V")
    D, C = misfit(U, V, target), imbalance(U, V)
    half = X.T @ U - Y.T @ V
    moved = (X @ V.T + U @ Y.T).square().sum() + 2 * (D * (X @ Y.T)).sum()
    return moved + lam / 2 * (half + half.T).square().sum() + lam * (C * imbalance(X, Y)).sum()


def hessian(
    U: Float[Tensor, "m r"], V: Float[Tensor, "d r"], target: Float[Tensor, "m d"], lam: float = 0.5
) -> Float[Tensor, "p p"]:
    """∇²f_λ as a matrix, p = (m + d)r: entries of U row by row, then those of V. For reading and for spectra, at small d."""
    _fits(U, V, target, lam)
    D, C = misfit(U, V, target), imbalance(U, V)
    (m, r), d = U.shape, len(V)
    one = lambda k: torch.eye(k, dtype=U.dtype, device=U.device)
    # One basis direction a row: X = e_i e_aᵀ, then Y = e_j e_aᵀ.
    X = torch.cat([one(m * r).view(-1, m, r), U.new_zeros(d * r, m, r)])
    Y = torch.cat([V.new_zeros(m * r, d, r), one(d * r).view(-1, d, r)])
    dD = X @ V.T + U @ Y.mT
    half = X.mT @ U - Y.mT @ V
    dC = half + half.mT
    of_U = D @ Y + dD @ V + lam * (X @ C + U @ dC)
    of_V = D.T @ X + dD.mT @ U - lam * (Y @ C + V @ dC)
    return torch.cat([of_U.flatten(1), of_V.flatten(1)], 1)


@contracted
@dataclass(frozen=True)
class Factorisation:
    """f_λ as an objective of ``training.descent.run``; points are (U, V)."""

    target: Float[Tensor, "m d"]  # M̃
    lam: NonNegative = 0.5  # λ
    invariant: bool = False  # take the regulariser of the representative with equal norms (``invariance``)

    #: f is no mean over samples.
    n = 1

    def __post_init__(self) -> None:
        """Check the numbers."""
        arguments.floating("target", self.target, "m d")

    def losses(self, point: Point) -> Float[Tensor, "1"]:
        """f_λ."""
        if not self.invariant:
            return _value(*point, self.target, self.lam)[None]
        return (_value(*point, self.target, 0.0) + invariance.regulariser(*point, self.lam))[None]

    def losses_and_gradient(
        self, point: Point, rows: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "1"], Point]:
        """f_λ and its gradient."""
        if rows is not None:
            raise ValueError("rows must not be given: f is no mean over samples, got some")
        slope = slopes(*point, self.target, 0.0 if self.invariant else self.lam)
        if self.invariant:
            more = invariance.regulariser_gradient(*point, self.lam)
            slope = tuple(a + b for a, b in zip(slope, more, strict=True))
        return self.losses(point), slope


@contract
def _fits(U: Tensor, V: Tensor, target: Tensor, lam: NonNegative) -> None:
    m, d = arguments.floating("target", target, "m d").shape
    r = arguments.floating("U", U, "m r").shape[1]
    arguments.shape("U", U, (m, r), "[m, r], m as in target")
    arguments.shape("V", arguments.floating("V", V, "d r"), (d, r), "[d, r], d as in target and r as in U")
    arguments.same_kind("target", target, U=U, V=V)
