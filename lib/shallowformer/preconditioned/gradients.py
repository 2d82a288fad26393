"""Softmax attention regression on finite contexts: loss and gradients in A and B, in closed form, in chunks of queries.

ẑ(x) = Σ_j p_j x_j with p = softmax_j(x_jᵀBᵀx), output Aẑ(x). A query's weights are used and thrown away: memory grows with chunk · tokens and
not with queries · tokens. Per step there are four products of queries, tokens and dimensions.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer import arguments, softmax
from shallowformer.contracts import Count, contract
from shallowformer.training.points import Point

#: Weights of about so many pairs of query and token are kept at once: 1 MB in float64, which stays in cache.
_PAIRS = 2**17


def attended(
    B: Float[Tensor, "d d"],
    queries: Float[Tensor, "k d"],
    context: Float[Tensor, "... N d"],
    chunk: int | None = None,
) -> Float[Tensor, "k d"]:
    """ẑ(x) = Σ_j p_j x_j of every query.

    Args:
        context: tokens x_j, the same for all queries, or those of each query.
        chunk: queries worked on at once; chosen by the number of tokens if not given.
    """
    _fits(B, queries, context)
    return _attended(B, queries, context, chunk)


def _attended(B: Tensor, queries: Tensor, context: Tensor, chunk: int | None) -> Tensor:
    """The same without a look at the numbers: a run that leaves the floating-point range is told of by its loss."""
    return torch.cat([
        _average(_weights(tokens, queries[rows] @ B), tokens)
        for rows, tokens in _parts(len(queries), context, chunk)
    ])  # fmt: skip


def outputs(
    A: Float[Tensor, "m d"],
    B: Float[Tensor, "d d"],
    queries: Float[Tensor, "k d"],
    context: Float[Tensor, "... N d"],
) -> Float[Tensor, "k m"]:
    """Aẑ(x) of every query; the context's tokens are the same for all queries, or those of each."""
    return attended(B, queries, context) @ A.T


def loss_and_gradients(
    A: Float[Tensor, "m d"],
    B: Float[Tensor, "d d"],
    X: Float[Tensor, "n d"],
    Y: Float[Tensor, "n m"],
    context: Float[Tensor, "... N d"] | None = None,
    chunk: int | None = None,
) -> tuple[Float[Tensor, ""], Float[Tensor, "m d"], Float[Tensor, "d d"]]:
    """𝓛_n = (1/2n) Σ_i ‖Aẑ_i − y_i‖², ∇_A = (1/n) Σ_i E_i ẑ_iᵀ, ∇_B = (1/n) Σ_i x_i (C_i AᵀE_i)ᵀ.

    E_i = Aẑ_i − y_i, and C_i is the covariance of the tokens under the weights of query i; no d × d matrix is formed per query.
    Source: The loss of Goel, Soltanolkotabi, Bartlett 2026, in our reading.

    Args:
        X: queries x_i.
        context: tokens: one set for all queries, or one a query; the queries themselves if not given.
        chunk: queries worked on at once.
    """
    context = X if context is None else context
    n, d = arguments.floating("X", X, "n d").shape
    _fits(B, X, context)
    m = arguments.floating("A", A, "m d").shape[0]
    arguments.shape("A", A, (m, d), "[m, d], d as in X")
    arguments.shape("Y", arguments.floating("Y", Y, "n m"), (n, m), "[n, m], n as in X and m as in A")
    arguments.same_kind("X", X, A=A, Y=Y)
    return _loss_and_gradients(A, B, X, Y, context, chunk)


def _loss_and_gradients(
    A: Tensor, B: Tensor, X: Tensor, Y: Tensor, context: Tensor, chunk: int | None
) -> tuple[Tensor, Tensor, Tensor]:
    square, of_A, of_B = A.new_zeros(()), torch.zeros_like(A), torch.zeros_like(B)
    for rows, tokens in _parts(len(X), context, chunk):
        x = X[rows]
        p = _weights(tokens, x @ B)
        z = _average(p, tokens)
        E = z @ A.T - Y[rows]
        square = square + E.square().sum()
        of_A = of_A + E.T @ z
        of_B = of_B + x.T @ _covariance_product(p, tokens, z, E @ A)
    n = len(X)
    return square / (2 * n), of_A / n, of_B / n


@dataclass(frozen=True)
class Regression:
    """𝓛_n as an objective of ``training.descent.run``; points are (A, B)."""

    X: Float[Tensor, "n d"]  # queries
    Y: Float[Tensor, "n m"]  # responses
    #: tokens: one set for all queries, or one a query; the queries themselves if not given
    context: Float[Tensor, "... N d"] | None = None
    chunk: int | None = None  # queries worked on at once

    def __post_init__(self) -> None:
        """Check that the parts fit together."""
        d = arguments.floating("X", self.X, "n d").shape[1]
        m = arguments.floating("Y", self.Y, "n m").shape[1]
        arguments.shape("Y", self.Y, (self.n, m), "[n, m], n as in X")
        arguments.same_kind("X", self.X, Y=self.Y)
        _fits(self.X.new_zeros(d, d), self.X, self.tokens)

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.X)

    @property
    def tokens(self) -> Float[Tensor, "... N d"]:
        """The context."""
        return self.X if self.context is None else self.context

    def losses(self, point: Point) -> Float[Tensor, "1"]:
        """𝓛_n."""
        A, B = point
        E = _attended(B, self.X, self.tokens, self.chunk) @ A.T - self.Y
        return E.square().sum()[None] / (2 * self.n)

    def losses_and_gradient(
        self, point: Point, rows: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "1"], Point]:
        """𝓛_n and its gradient, on all queries or some; a context shared by all stays whole."""
        X, Y, tokens = self.X, self.Y, self.tokens
        if rows is not None:
            X, Y, tokens = X[rows], Y[rows], tokens if tokens.ndim == 2 else tokens[rows]
        loss, *gradient = _loss_and_gradients(*point, X, Y, tokens, self.chunk)
        return loss[None], tuple(gradient)


def _fits(B: Tensor, queries: Tensor, context: Tensor) -> None:
    k, d = arguments.floating("queries", queries, "k d").shape
    arguments.shape("B", arguments.floating("B", B, "d d"), (d, d), "[d, d], d as in the queries")
    arguments.floating("context", context, "... N d")
    N = context.shape[-2]
    own = context.ndim > 2
    why = "[k, N, d], k and d as in the queries" if own else "[N, d], d as in the queries"
    arguments.shape("context", context, (k, N, d) if own else (N, d), why)
    arguments.same_kind("queries", queries, B=B, context=context)


@contract
def _parts(k: int, context: Tensor, chunk: Count | None) -> Iterator[tuple[slice, Tensor]]:
    """Chunks of queries, with their tokens."""
    if chunk is None:
        chunk = max(1, _PAIRS // context.shape[-2])
    for start in range(0, k, chunk):
        rows = slice(start, start + chunk)
        yield rows, context if context.ndim == 2 else context[rows]


# Tokens that all queries share make plain matrix products; ``softmax`` serves queries that have tokens of their own.


def _weights(tokens: Tensor, q: Tensor) -> Tensor:
    """softmax_j ⟨x_j, q⟩."""
    logits = q @ tokens.T if tokens.ndim == 2 else (tokens @ q[..., None])[..., 0]
    return torch.softmax(logits, -1)


def _average(p: Tensor, tokens: Tensor) -> Tensor:
    """ẑ = Σ_j p_j x_j."""
    return p @ tokens if tokens.ndim == 2 else softmax.mean(tokens, p)


def _covariance_product(p: Tensor, tokens: Tensor, z: Tensor, u: Tensor) -> Tensor:
    """C u = Σ_j p_j ⟨x_j − ẑ, u⟩ x_j."""
    if tokens.ndim > 2:
        return softmax.covariance_product(tokens, p, u)
    scores = (u @ tokens.T).sub_((z * u).sum(-1, keepdim=True))
    return scores.mul_(p) @ tokens
