"""The query q_X that drives single-query attention: fixed, a function of the input, or drawn once beforehand."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, contract

#: A query maps tokens X to one vector a sample, in the unit ball.
Query = Callable[[Float[Tensor, "n T d"]], Float[Tensor, "n d"]]


def fixed(vector: Float[Tensor, " d"]) -> Query:
    """A fixed vector of the unit ball for every input, as a class token. Source: Arda, Cayci, Eryilmaz 2026, section 3.2 ([CLS])."""
    arguments.in_unit_ball("vector", arguments.floating("vector", vector, "d"))
    return lambda X: vector.expand(X.shape[0], -1)


def last_token(X: Float[Tensor, "n T d"]) -> Float[Tensor, "n d"]:
    """q_X = X_T, the last token, as in next-token prediction. Source: Arda, Cayci, Eryilmaz 2026, section 3.2 (last-token pooling)."""
    return X[:, -1]


@contract
def seeded(d: Count, seed: int, dtype: torch.dtype = torch.float64) -> Query:
    """A query drawn once from the unit sphere, before any data is seen, and never trained.

    Source: Arda, Cayci, Eryilmaz 2026, section 3.2 (pre-specified seed query).
    """
    direction = torch.randn(d, generator=Generator().manual_seed(seed), dtype=torch.float64)
    return fixed((direction / direction.norm()).to(dtype))


def resolve(query: Query, X: Float[Tensor, "n T d"]) -> Float[Tensor, "n d"]:
    """Evaluate a query on a batch, and refuse one that the theory does not allow."""
    q = arguments.floating("query(X)", query(X), "n d")
    arguments.shape("query(X)", q, (X.shape[0], X.shape[2]), "[n, d] as in X")
    arguments.same_kind("X", X, **{"query(X)": q})
    return arguments.in_unit_ball("query(X)", q)
