"""Where descent begins: whitened factors (U, V) of an estimate of M̃, of a part of the data, perturbed, or small and random."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, NonNegative, Positive, contract
from shallowformer.preconditioned import landscape
from shallowformer.preconditioned.moments import Moments

Factors = tuple[Float[Tensor, "m r"], Float[Tensor, "d r"]]


def spectral(moments: Moments, rank: int | None = None, symmetric: bool = False) -> Factors:
    """(PS^½, QS^½) of the singular value decomposition of M̂Σ̂^½: balanced, and at the floor already if all data are in it.

    Source: The spectral initialisation of Goel, Soltanolkotabi, Bartlett 2026, in our reading.

    Args:
        rank: columns of the factors; min(m, d) if not given. With an M of lower rank, that one.
        symmetric: take (PS^½Qᵀ, QS^½Qᵀ), of d columns. With the preconditioner Σ̂ the whole run is then the same for data x and Lx, whatever
            the invertible matrix L is: it depends on Σ through M̃ only. Of other starts of the orbit this is true in the limit.
    """
    if not symmetric:
        return landscape.optimum(moments.target, rank=rank)
    if rank is not None:
        raise ValueError(f"rank must not be given with a symmetric start, which has d columns, got {rank}")
    P, s, Qt = torch.linalg.svd(moments.target, full_matrices=False)
    return P * s.sqrt() @ Qt, Qt.T * s.sqrt() @ Qt


@contract
def subsample(
    X: Float[Tensor, "n d"],
    Y: Float[Tensor, "n m"],
    first: Count,
    rank: int | None = None,
    ridge: float = 0.0,
) -> Factors:
    """The spectral start from the first samples only: coarser, so that a geometric phase can be seen.

    Factors are whitened by the covariance of these samples; who takes them for whitened by that of all makes the start coarser still.

    Args:
        first: how many samples, above d without a ridge and at most n.
        rank: columns of the factors; min(m, d) if not given.
        ridge: ε, added to the diagonal of Σ̂.
    """
    arguments.at_most("first", first, "n", len(X))
    return spectral(Moments.of(X[:first], Y[:first], ridge), rank)


@contract
def perturbed(
    U: Float[Tensor, "m r"], V: Float[Tensor, "d r"], size: NonNegative, generator: Generator
) -> tuple[Float[Tensor, "m r"], Float[Tensor, "d r"]]:
    """Factors plus Gaussian noise of a standard deviation an entry."""
    arguments.floating("U", U, "m r")
    arguments.floating("V", V, "d r")
    noise = lambda factor: torch.randn(
        factor.shape, generator=generator, dtype=factor.dtype, device=factor.device
    )
    return U + size * noise(U), V + size * noise(V)


def coarse(
    X: Float[Tensor, "n d"], Y: Float[Tensor, "n m"], first: int, size: float, generator: Generator
) -> Factors:
    """The spectral start from the first of the samples, above d of them, perturbed by noise of standard deviation ``size``."""
    return perturbed(*subsample(X, Y, first), size, generator)


@contract
def small_random(
    m: Count, d: Count, size: Positive, generator: Generator, rank: Count | None = None
) -> Factors:
    """Gaussian factors of a small standard deviation an entry; ``rank`` columns, min(m, d) if not given."""
    rank = min(m, d) if rank is None else rank
    U, V = (torch.zeros(rows, rank, dtype=torch.float64) for rows in (m, d))
    return perturbed(U, V, size, generator)
