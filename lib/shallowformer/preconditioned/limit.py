"""Infinite contexts: attention is linear there, and its loss is that of a matrix factorisation in whitened coordinates.

Ã = AΣ^½, B̃ = Σ^½BΣ^½, M̃ = MΣ^½: 𝓔 = ½‖ÃB̃ᵀ − M̃‖². Plain descent on (Ã, B̃) is preconditioned descent on (A, B).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer import arguments
from shallowformer.preconditioned import covariances
from shallowformer.preconditioned.problems import Problem
from shallowformer.training.points import Point


def attended(
    B: Float[Tensor, "d d"], queries: Float[Tensor, "k d"], Sigma: Float[Tensor, "d d"]
) -> Float[Tensor, "k d"]:
    """ΣBᵀx, what ẑ_n(x) tends to: the mean of a Gaussian N(0, Σ) of tokens tilted by q = Bᵀx.

    Source: Gaussian tilting; with it, Goel, Soltanolkotabi, Bartlett 2026, in our reading.
    """
    return queries @ B @ Sigma


def error(A: Float[Tensor, "m d"], B: Float[Tensor, "d d"], problem: Problem) -> Float[Tensor, ""]:
    """𝓔(A, B) = ½‖(AΣBᵀ − M)Σ^½‖_F²; the risk is 𝓔 + mσ²/2. Source: Goel, Soltanolkotabi, Bartlett 2026, Theorem 1, in our reading."""
    _fits(A, B, problem.d)
    return _error(A, B, problem)


def _error(A: Tensor, B: Tensor, problem: Problem) -> Tensor:
    return (A @ problem.Sigma @ B.T @ problem.root - problem.target).square().sum() / 2


def gradients(
    A: Float[Tensor, "m d"], B: Float[Tensor, "d d"], problem: Problem
) -> tuple[Float[Tensor, "m d"], Float[Tensor, "d d"]]:
    """∇_A 𝓔 = (AΣBᵀ − M)ΣBΣ and ∇_B 𝓔 = Σ(AΣBᵀ − M)ᵀAΣ."""
    _fits(A, B, problem.d)
    return _gradients(A, B, problem)


def _gradients(A: Tensor, B: Tensor, problem: Problem) -> tuple[Tensor, Tensor]:
    Sigma = problem.Sigma
    F = A @ Sigma @ B.T - problem.M
    return F @ Sigma @ B @ Sigma, Sigma @ F.T @ A @ Sigma


def whitened(
    A: Float[Tensor, "m d"], B: Float[Tensor, "d d"], Sigma: Float[Tensor, "d d"]
) -> tuple[Float[Tensor, "m d"], Float[Tensor, "d d"]]:
    """Ã = AΣ^½ and B̃ = Σ^½BΣ^½."""
    root, _ = covariances.roots(Sigma)
    _fits(A, B, len(Sigma))
    return A @ root, root @ B @ root


def unwhitened(
    A_tilde: Float[Tensor, "m d"], B_tilde: Float[Tensor, "d d"], Sigma: Float[Tensor, "d d"]
) -> tuple[Float[Tensor, "m d"], Float[Tensor, "d d"]]:
    """A = ÃΣ^{−½} and B = Σ^{−½}B̃Σ^{−½}."""
    _, inverse = covariances.roots(Sigma)
    _fits(A_tilde, B_tilde, len(Sigma))
    return A_tilde @ inverse, inverse @ B_tilde @ inverse


def preconditioned(
    of_A: Float[Tensor, "m d"], of_B: Float[Tensor, "d d"], Sigma: Float[Tensor, "d d"]
) -> tuple[Float[Tensor, "m d"], Float[Tensor, "d d"]]:
    """The step (PC), with Σ or another positive definite preconditioner: ∇_A Σ⁻¹ and Σ⁻¹ ∇_B Σ⁻¹."""
    _, inverse = covariances.roots(Sigma)
    _fits(of_A, of_B, len(Sigma))
    inverse = inverse @ inverse
    return of_A @ inverse, inverse @ of_B @ inverse


@dataclass(frozen=True)
class Population:
    """𝓔 as an objective of ``training.descent.run``; points are (A, B)."""

    problem: Problem  # Σ and M
    #: what stands for Σ in (PC); descent is raw if not given
    preconditioner: Float[Tensor, "d d"] | None = None

    def __post_init__(self) -> None:
        """Check the preconditioner."""
        if self.preconditioner is not None:
            _ = covariances.roots(self.preconditioner)
            d = self.problem.d
            arguments.shape("preconditioner", self.preconditioner, (d, d), "[d, d] as the problem's Sigma")

    #: 𝓔 is an expectation: there are no samples to draw from.
    n = 1

    def losses(self, point: Point) -> Float[Tensor, "1"]:
        """𝓔."""
        return _error(*point, self.problem)[None]

    def losses_and_gradient(
        self, point: Point, rows: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "1"], Point]:
        """𝓔 and the direction of a step."""
        if rows is not None:
            raise ValueError("rows must not be given: 𝓔 is an expectation and has no samples, got some")
        of_A, of_B = _gradients(*point, self.problem)
        if self.preconditioner is not None:
            inverse = torch.linalg.inv(self.preconditioner)
            of_A, of_B = of_A @ inverse, inverse @ of_B @ inverse
        return self.losses(point), (of_A, of_B)


def _fits(A: Tensor, B: Tensor, d: int) -> None:
    m = arguments.floating("A", A, "m d").shape[0]
    arguments.shape("A", A, (m, d), "[m, d], d as Sigma has")
    arguments.shape("B", arguments.floating("B", B, "d d"), (d, d), "[d, d] as Sigma")
