"""Covariance matrices with a given spectrum, and their roots."""

import functools

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, Positive, contract


@contract
def geometric(d: Count, largest: Positive, smallest: Positive) -> Float[Tensor, " {d}"]:
    """Numbers from the largest to the smallest, each the same fraction of the one before; one alone is the largest."""
    arguments.at_most("smallest", smallest, "largest", largest)
    steps = torch.arange(d, dtype=torch.float64) / max(1, d - 1)
    return largest * (smallest / largest) ** steps


@contract
def orthogonal(d: Count, generator: Generator) -> Float[Tensor, "{d} {d}"]:
    """A rotation or reflection, uniform (Haar)."""
    Q, R = torch.linalg.qr(torch.randn(d, d, generator=generator, dtype=torch.float64))
    return Q * torch.sign(R.diagonal())


def random(d: int, condition: float, generator: Generator) -> Float[Tensor, "{d} {d}"]:
    """Σ with eigenvalues geometric from 1 to 1/κ in a uniformly random basis."""
    values = geometric(d, 1.0, 1 / arguments.at_least("condition", condition, 1.0))
    basis = orthogonal(d, generator)
    return basis * values @ basis.T


def roots(Sigma: Float[Tensor, "d d"]) -> tuple[Float[Tensor, "d d"], Float[Tensor, "d d"]]:
    """Σ^½ and Σ^{−½}, symmetric, of a positive definite Σ."""
    d = arguments.floating("Sigma", Sigma, "d d").shape[0]
    arguments.shape("Sigma", Sigma, (d, d), "square")
    rounding = 16 * d * torch.finfo(Sigma.dtype).eps
    apart = float((Sigma - Sigma.T).abs().max())
    if apart > rounding * float(Sigma.abs().max()):
        raise ValueError(
            f"Sigma must be symmetric, got entries that differ by {apart:.3g} from the transpose"
        )
    values, basis = torch.linalg.eigh((Sigma + Sigma.T) / 2)
    if not values[0] > rounding * values[-1]:
        raise ValueError(
            f"Sigma must be positive definite, got eigenvalues from {float(values[0]):.3g} to {float(values[-1]):.3g}"
        )
    root = values.sqrt()
    return basis * root @ basis.T, basis / root @ basis.T


class Whitens:
    """What has a covariance ``Sigma`` and a regression matrix in whitened coordinates, ``target``: the roots, and the singular values."""

    Sigma: Float[Tensor, "d d"]
    target: Float[Tensor, "m d"]

    @functools.cached_property
    def _roots(self) -> tuple[Tensor, Tensor]:
        return roots(self.Sigma)

    @property
    def root(self) -> Float[Tensor, "d d"]:
        """Sigma^½."""
        return self._roots[0]

    @property
    def inverse_root(self) -> Float[Tensor, "d d"]:
        """Sigma^{−½}."""
        return self._roots[1]

    @functools.cached_property
    def singular_values(self) -> Float[Tensor, " r"]:
        """s_1 ≥ … of the target, min(m, d) of them."""
        return torch.linalg.svdvals(self.target)
