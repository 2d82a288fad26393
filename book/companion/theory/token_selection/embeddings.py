"""How nearly orthogonal tokens are: cosine similarities of the rows of a matrix of embeddings."""

import math

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, contract

#: Pairs whose similarities are computed at once.
_AT_ONCE = 2**16


def similarities(
    embeddings: Float[Tensor, "V d"], pairs: int | None = None, generator: Generator | None = None
) -> Float[Tensor, " p"]:
    """cos(e_v, e_w) of pairs of different tokens: so many drawn at random with replacement, or all V(V − 1)/2 if no number is given.

    Rows of zeros (padding) are left out.
    """
    E = embeddings[embeddings.norm(dim=1) > 0]
    V = len(E)
    if V < 2:
        raise ValueError(f"embeddings must hold at least 2 rows that are not 0, got {V}")
    E = torch.nn.functional.normalize(E, dim=1)
    if pairs is None:
        first, second = torch.triu_indices(V, V, 1)
    else:
        if generator is None:
            raise ValueError("generator must be given to draw pairs, got None")
        first = torch.randint(V, (arguments.count("pairs", pairs),), generator=generator)
        second = (first + torch.randint(1, V, (pairs,), generator=generator)) % V
    parts = zip(first.split(_AT_ONCE), second.split(_AT_ONCE), strict=True)
    return torch.cat([(E[a] * E[b]).sum(1) for a, b in parts]).clamp(-1, 1)


@contract
def histogram(
    cosines: Float[Tensor, " p"], bins: Count = 80
) -> tuple[Float[Tensor, " {bins}+1"], Int[Tensor, " {bins}"]]:
    """How many similarities lie between each two of evenly spaced edges from −1 to 1. Returns: edges and counts."""
    counts, edges = np.histogram(cosines.numpy(), bins, (-1, 1))
    return torch.from_numpy(edges), torch.from_numpy(counts)


@contract
def random_spread(d: Count) -> float:
    """1/√d, the standard deviation of the cosine of two independent random directions: what the histogram is compared with."""
    return 1 / math.sqrt(d)
