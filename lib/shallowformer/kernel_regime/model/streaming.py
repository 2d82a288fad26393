"""Attention that reads a sequence once: with a query known beforehand, 2 + 2d numbers a head carry the output and its gradient."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Stream:
    """What is carried from token to token; logits are ⟨X_t, λ⟩ with λ = Wq.

    Args:
        top: the largest logit so far, μ.
        S: Σ_t e^{logit − μ}.
        A: Σ_t e^{logit − μ} X_t.
        B: Σ_t e^{logit − μ} ⟨U, X_t⟩ X_t.

    Source:
        This book, *Streaming*; without B, Milakov and Gimelshein 2018.
    """

    top: Float[Tensor, "n m"]
    S: Float[Tensor, "n m"]
    A: Float[Tensor, "n m d"]
    B: Float[Tensor, "n m d"]

    @property
    def numbers(self) -> int:
        """How many numbers it holds a sequence and head."""
        return 2 + 2 * self.A.shape[2]


def begin(n: int, lam: Float[Tensor, "m d"]) -> Stream:
    """Nothing read yet.

    Args:
        n: number of sequences.
        lam: λ of every head.
    """
    m, d = lam.shape
    none = lam.new_zeros(n, m)
    return Stream(none - torch.inf, none, lam.new_zeros(n, m, d), lam.new_zeros(n, m, d))


def read(
    stream: Stream, token: Float[Tensor, "n d"], lam: Float[Tensor, "m d"], U: Float[Tensor, "m d"]
) -> Stream:
    """One more token of every sequence.

    Args:
        stream: what has been read.
        token: the next.
        lam: λ of every head.
        U: their feed-forward vectors.
    """
    logit = token @ lam.T
    top = torch.maximum(stream.top, logit)
    fade, new = (stream.top - top).exp(), (logit - top).exp()
    seen = new[..., None] * token[:, None, :]
    return Stream(
        top,
        fade * stream.S + new,
        fade[..., None] * stream.A + seen,
        fade[..., None] * stream.B + (token @ U.T)[..., None] * seen,
    )


def answer(stream: Stream, U: Float[Tensor, "m d"]) -> tuple[Float[Tensor, "n m d"], Float[Tensor, "n m d"]]:
    """The mean a and the product MU, which make output and gradients.

    Args:
        stream: after at least one token.
        U: feed-forward vectors.
    """
    a = stream.A / stream.S[..., None]
    return a, stream.B / stream.S[..., None] - (a * U).sum(-1, keepdim=True) * a
