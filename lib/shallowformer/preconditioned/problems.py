"""Linear regression with Gaussian covariates: x ~ N(0, Σ), y = Mx + w."""

import functools
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, NonNegative, contract, contracted
from shallowformer.preconditioned import covariances


class Samples(NamedTuple):
    """A training set."""

    X: Float[Tensor, "n d"]  # covariates, one a row
    Y: Float[Tensor, "n m"]  # responses


@contracted
@dataclass(frozen=True)
class Problem(covariances.Whitens):
    """The law of a sample: x ~ N(0, Σ), y = Mx + w with w ~ N(0, σ²I).

    Source: Assumptions A1 to A3 of Goel, Soltanolkotabi, Bartlett 2026, in our reading.
    """

    Sigma: Float[Tensor, "d d"]  # Σ, symmetric and positive definite
    M: Float[Tensor, "m d"]  # the regression matrix, of any rank
    sigma: NonNegative = 0.0  # σ

    def __post_init__(self) -> None:
        """Check that the parts fit together."""
        _ = self._roots
        m = arguments.floating("M", self.M, "m d").shape[0]
        arguments.shape("M", self.M, (m, self.d), "[m, d], d as in Sigma")
        arguments.same_kind("Sigma", self.Sigma, M=self.M)

    @property
    def d(self) -> int:
        """Dimension of a covariate."""
        return self.Sigma.shape[0]

    @property
    def m(self) -> int:
        """Dimension of a response."""
        return self.M.shape[0]

    @functools.cached_property
    def target(self) -> Float[Tensor, "m d"]:
        """M̃ = MΣ^½."""
        return self.M @ self.root

    @contract
    def covariates(self, n: Count, generator: Generator) -> Float[Tensor, "{n} d"]:
        """Independent draws of x."""
        return self._normal(generator, n, self.d) @ self.root

    @contract
    def contexts(self, n: Count, N: Count, generator: Generator) -> Float[Tensor, "{n} {N} d"]:
        """Contexts of N tokens each, independent of one another."""
        return self._normal(generator, n, N, self.d) @ self.root

    def samples(self, n: int, generator: Generator) -> Samples:
        """A training set; the generator draws all covariates first, then the noise, so that σ does not change them."""
        X = self.covariates(n, generator)
        return Samples(X, X @ self.M.T + self.sigma * self._normal(generator, n, self.m))

    def _normal(self, generator: Generator, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=self.Sigma.dtype, device=self.Sigma.device)


def random(
    singular_values: Float[Tensor, " r"],
    condition: float,
    generator: Generator,
    sigma: float = 0.0,
    d: int | None = None,
    m: int | None = None,
) -> Problem:
    """A problem whose M̃ has these singular values ≥ 0, in uniformly random bases; Σ as ``covariances.random`` makes it.

    The dimensions d and m are the number of singular values if not given.
    """
    arguments.nonnegative("singular_values", arguments.floating("singular_values", singular_values, "r"))
    r = len(singular_values)
    d, m = (r if size is None else arguments.count(name, size, r) for name, size in (("d", d), ("m", m)))
    Sigma = covariances.random(d, condition, generator)
    P, Q = (covariances.orthogonal(size, generator)[:, :r] for size in (m, d))
    return Problem(Sigma, P * singular_values @ Q.T @ covariances.roots(Sigma)[1], sigma)
