"""What a training set says of Σ and M: empirical covariance, regression matrix, whitened target."""

import functools
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import NonNegative, contract
from shallowformer.preconditioned import covariances


@dataclass(frozen=True)
class Moments(covariances.Whitens):
    """Σ̂ = (1/n) Σ x_i x_iᵀ (+ εI) and (1/n) Σ y_i x_iᵀ."""

    Sigma: Float[Tensor, "d d"]  # Σ̂, symmetric and positive definite
    cross: Float[Tensor, "m d"]  # (1/n) Σ y_i x_iᵀ

    def __post_init__(self) -> None:
        """Check that the parts fit together."""
        _ = self._roots
        m = arguments.floating("cross", self.cross, "m d").shape[0]
        arguments.shape("cross", self.cross, (m, len(self.Sigma)), "[m, d], d as in Sigma")

    @classmethod
    @contract
    def of(cls, X: Float[Tensor, "n d"], Y: Float[Tensor, "n m"], ridge: NonNegative = 0.0) -> "Moments":
        """The moments of a training set, ε = ``ridge`` added to the diagonal of Σ̂.

        Source: The data-dependent preconditioner of Goel, Soltanolkotabi, Bartlett 2026, in our reading.
        """
        n, d = arguments.floating("X", X, "n d").shape
        arguments.shape("Y", Y, (n, arguments.floating("Y", Y, "n m").shape[1]), "[n, m], n as in X")
        arguments.same_kind("X", X, Y=Y)
        if ridge == 0 and n <= d:
            raise ValueError(f"X must have more than d = {d} rows, or ridge must be above 0, got n = {n}")
        one = torch.eye(d, dtype=X.dtype, device=X.device)
        return cls(X.T @ X / n + ridge * one, Y.T @ X / n)

    @functools.cached_property
    def M(self) -> Float[Tensor, "m d"]:
        """M̂ = (1/n) Σ y_i x_iᵀ Σ̂⁻¹: least squares, or ridge regression."""
        return self.target @ self.inverse_root

    @functools.cached_property
    def target(self) -> Float[Tensor, "m d"]:
        """M̂Σ̂^½."""
        return self.cross @ self.inverse_root
