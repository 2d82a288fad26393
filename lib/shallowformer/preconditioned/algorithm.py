"""The structure-aware algorithm: preconditioned descent on balanced factors of softmax attention, renormalised, on finite data.

The state is (U, V); attention's parameters are A = cUR and B = RVR/c with R the preconditioner's inverse root and c such that ‖Σ̂^½BΣ̂^½‖₂ = b. A
step follows the gradient of 𝓛_n at (A, B) by the chain rule, c held, and a regulariser. Each ingredient can be switched off or replaced:
the preconditioner (``preconditioner=torch.eye(d)``), the renormalisation (``radius=None``), the regulariser (``lam=0``), the start (``starts``).
"""

import functools
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import NonNegative, Positive, contracted
from shallowformer.preconditioned import covariances, factorisation, gradients, invariance, limit, noise
from shallowformer.preconditioned.moments import Moments
from shallowformer.preconditioned.problems import Problem
from shallowformer.training import descent
from shallowformer.training.points import Point


@contracted
@dataclass(frozen=True)
class Algorithm:
    """One training set and the ingredients; an objective of ``training.descent.run`` whose loss is 𝓛_n, points are (U, V).

    Source: The algorithm of Goel, Soltanolkotabi, Bartlett 2026, in our reading.
    """

    X: Float[Tensor, "n d"]  # training covariates: the queries, and the tokens unless a context is given
    Y: Float[Tensor, "n m"]  # responses
    radius: Positive | None = 0.4  # b in (0, 2^{−1/2}); None: no renormalisation, c stays what ``scale`` says
    lam: NonNegative = 0.5  # λ
    invariant: bool = False  # take the scale-invariant regulariser (``invariance``) and not ‖UᵀU − VᵀV‖²
    #: what stands for Σ in R = Σ^{−½}: Σ̂ if not given; the identity leaves descent raw
    preconditioner: Float[Tensor, "d d"] | None = None
    scale: Positive = 1.0  # c, if there is no radius
    allow_large_radius: bool = False  # let b be 2^{−1/2} or more, to see what happens there
    ridge: float = 0.0  # ε of Σ̂ + εI, for n ≤ d
    #: tokens: one set for all queries, or one a query; the queries themselves if not given
    context: Float[Tensor, "... N d"] | None = None

    def __post_init__(self) -> None:
        """Check the ingredients."""
        if self.radius is not None and self.radius >= noise.THRESHOLD and not self.allow_large_radius:
            raise ValueError(
                f"radius must lie in (0, 1/√2 = {noise.THRESHOLD:.4f}), unless allow_large_radius is set, got {self.radius!r}"
            )
        d = arguments.floating("X", self.X, "n d").shape[1]
        if self.preconditioner is not None:
            arguments.shape("preconditioner", self.preconditioner, (d, d), "[d, d], d as in X")
        _ = self._regression, self._moved

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.X)

    @functools.cached_property
    def moments(self) -> Moments:
        """Σ̂ and M̂."""
        return Moments.of(self.X, self.Y, self.ridge)

    @functools.cached_property
    def _regression(self) -> gradients.Regression:
        return gradients.Regression(self.X, self.Y, self.context)

    @functools.cached_property
    def _moved(self) -> tuple[Tensor, Tensor | None]:
        """R, and Σ̂^½R, by which coordinates are whitened; None for the identity."""
        if self.preconditioner is None:
            return self.moments.inverse_root, None
        R = covariances.roots(self.preconditioner)[1]
        return R, self.moments.root @ R

    @functools.cached_property
    def default_step(self) -> float:
        """1/(ŝ₁ + ŝ_r), of the singular values of M̂Σ̂^½: the best step in the end, if the preconditioner is Σ̂."""
        s = self.moments.singular_values
        return 1 / float(s[0] + s[-1])

    def point(self, U: Float[Tensor, "m r"], V: Float[Tensor, "d r"]) -> Point:
        """The point whose A and B, up to c, are those of whitened factors of an estimate of M̃: themselves, if the preconditioner is Σ̂."""
        d, m = self.X.shape[1], self.Y.shape[1]
        r = arguments.floating("U", U, "m r").shape[1]
        arguments.at_most("columns of U", r, "d", d)
        arguments.shape("U", U, (m, r), "[m, r], m as in Y")
        arguments.shape("V", arguments.floating("V", V, "d r"), (d, r), "[d, r], d as in X and r as in U")
        arguments.same_kind("X", self.X, U=U, V=V)
        to_whitened = self._moved[1]
        if to_whitened is None:
            return U, V
        # Ã = URΣ̂^½, B̃ = Σ̂^½RVRΣ̂^½: other coordinates mix the columns, and zeros fill up what is missing.
        back = torch.linalg.inv(to_whitened)
        return _padded(U, d) @ back.T, back @ _padded(V, d) @ back.T

    def scale_of(self, V: Float[Tensor, "d r"]) -> float:
        """The scale c of A = cUR and B = RVR/c."""
        if self.radius is None:
            return self.scale
        to_whitened = self._moved[1]
        if to_whitened is not None:
            V = to_whitened @ _padded(V, len(V)) @ to_whitened.T
        # What is no number goes on as such, so that the loss tells.
        return float(torch.linalg.matrix_norm(V, 2)) / self.radius if torch.isfinite(V).all() else torch.nan

    def parameters(self, point: Point) -> tuple[Float[Tensor, "m d"], Float[Tensor, "d d"]]:
        """A and B of attention at a point (U, V)."""
        U, V = point
        d, R, c = len(V), self._moved[0], self.scale_of(V)
        return c * _padded(U, d) @ R, R @ _padded(V, d) @ R / c

    def losses(self, point: Point) -> Float[Tensor, "1"]:
        """𝓛_n."""
        return self._regression.losses(self.parameters(point))

    def losses_and_gradient(
        self, point: Point, rows: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "1"], Point]:
        """𝓛_n, on all samples or some, and the direction of a step: (c ∇_A R, R ∇_B R/c) and the regulariser's gradient."""
        U, V = point
        R, c, r = self._moved[0], self.scale_of(V), U.shape[1]
        loss, (of_A, of_B) = self._regression.losses_and_gradient(self.parameters(point), rows)
        of_U, of_V = c * (of_A @ R)[:, :r], (R @ of_B @ R)[:, :r] / c
        if self.lam > 0:
            if self.invariant:
                pull = invariance.regulariser_gradient(U, V, self.lam)
            else:
                C = factorisation.imbalance(U, V)
                pull = self.lam * U @ C, -self.lam * V @ C
            of_U, of_V = of_U + pull[0], of_V + pull[1]
        return loss, (of_U, of_V)


@dataclass(frozen=True)
class Trajectory:
    """What was recorded of a run at k steps."""

    steps: Int[Tensor, " k"]  # t
    loss: Float[Tensor, " k"]  # 𝓛_n
    error: Float[Tensor, " k"]  # 𝓔, if the problem is given; NaN else
    scale: Float[Tensor, " k"]  # c
    radius: Float[Tensor, " k"]  # ‖Σ̂^½BΣ̂^½‖₂
    imbalance: Float[Tensor, " k"]  # ‖UᵀU − VᵀV‖_F
    A: Float[Tensor, "m d"]  # value matrix in the end
    B: Float[Tensor, "d d"]  # key-query matrix in the end
    run: descent.Run  # the run of ``training.descent``


def run(
    algorithm: Algorithm,
    start: tuple[Float[Tensor, "m r"], Float[Tensor, "d r"]],
    steps: int,
    eta: float | None = None,
    problem: Problem | None = None,
    every: int = 1,
) -> Trajectory:
    """Run the algorithm from whitened factors (U, V), as ``starts`` makes them, and record 𝓔 if the problem is given.

    Args:
        eta: η, above 0; ``algorithm.default_step`` if not given.
        every: record after each so many steps.
    """
    if problem is not None and (problem.m, problem.d) != (algorithm.Y.shape[1], algorithm.X.shape[1]):
        raise ValueError(
            f"problem must have m = {algorithm.Y.shape[1]} and d = {algorithm.X.shape[1]} as the data, got {problem.m} and {problem.d}"
        )
    root = algorithm.moments.root

    def watch(_: int, point: Point) -> tuple[float, float, float, float]:
        A, B = algorithm.parameters(point)
        return (
            torch.nan if problem is None else float(limit.error(A, B, problem)),
            algorithm.scale_of(point[1]),
            float(torch.linalg.matrix_norm(root @ B @ root, 2)),
            float(factorisation.imbalance(*point).norm()),
        )

    eta = algorithm.default_step if eta is None else eta
    done = descent.run(algorithm, algorithm.point(*start), eta=eta, steps=steps, every=every, observe=watch)
    columns = torch.tensor(done.observed, dtype=torch.float64).unbind(1)
    return Trajectory(done.steps, done.losses[:, 0], *columns, *algorithm.parameters(done.end), done)


def _padded(factor: Tensor, d: int) -> Tensor:
    """Columns of zeros up to d."""
    return torch.nn.functional.pad(factor, (0, d - factor.shape[1]))
