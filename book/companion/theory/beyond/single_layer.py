"""The paper's model, f = m^{−1/2} Σ_i c_i σ(⟨U_i, a(X; W_i)⟩), and the same with one output a position."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.beyond.architecture import (
    Architecture,
    Blocks,
    exchange,
    gaussian,
    half,
    opposite_signs,
    twice,
)
from companion.theory.beyond.attention import pooled


def start(m: int, d: int, generator: Generator, dtype: torch.dtype = torch.float64) -> Blocks:
    """The paper's symmetric initialisation: partners share U and W and carry opposite c.

    Returns: c of shape [m], U of shape [m, d] and W of shape [m, d, d]. Source: Arda, Cayci, Eryilmaz 2026, section 5.2.
    """
    pairs = half(m, d)
    draw = lambda *shape: gaussian(*shape, generator=generator, dtype=dtype)
    return {
        "c": opposite_signs(pairs, generator, dtype),
        "U": twice(draw(pairs, d)),
        "W": twice(draw(pairs, d, d)),
    }


def at_queries(X: Float[Tensor, "n T d"], phi: Blocks, q: Float[Tensor, "n s d"]) -> Float[Tensor, "n s"]:
    """The paper's model with each of several queries."""
    z = (pooled(X, phi["W"], q) * phi["U"]).sum(-1)
    return torch.tanh(z) @ phi["c"] / len(phi["c"]) ** 0.5


def f(X: Float[Tensor, "n T d"], phi: Blocks) -> Float[Tensor, " n"]:
    """The paper's model with q_X = X_T. Source: Arda, Cayci, Eryilmaz 2026, equation (4)."""
    return at_queries(X, phi, X[:, -1:])[:, 0]


def every_position(X: Float[Tensor, "n T d"], phi: Blocks) -> Float[Tensor, "n T"]:
    """One output a position: f_s(X) is the paper's model with the query q = X_s."""
    return at_queries(X, phi, X)


def turned(X: Float[Tensor, "n T d"]) -> Float[Tensor, "n*T T d"]:
    """Every sequence T times, turned so that each token is the last once: sequence outputs as a data set of the paper's model.

    Sample jT + s ends with token s of sequence j.
    """
    T = X.shape[1]
    return torch.stack([X.roll(-s - 1, 1) for s in range(T)], 1).flatten(0, 1)


HEADS = Architecture("heads", start, f, exchange)
SEQUENCE = Architecture("sequence", start, every_position, exchange)
