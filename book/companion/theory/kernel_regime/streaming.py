"""Attention that reads a sequence once: with a query known beforehand, a few softmax sums a head carry the output and its gradient.

A head averages values with weights e^{logit}. Values ⟨U, X_t⟩ give the output, from 3 numbers a head; values X_t and ⟨U, X_t⟩ X_t give
the gradient as well, from 2 + 2d.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.activations import TANH, Activation, Function
from shallowformer.kernel_regime.model.parameters import Parameters


@dataclass(frozen=True)
class Stream:
    """What is carried from token to token; logits are ⟨X_t, λ⟩ with λ = Wq.

    Source: Milakov and Gimelshein 2018; with values for the gradient this book, *Streaming*.
    """

    top: Float[Tensor, "n m"]  # the largest logit so far, μ
    total: Float[Tensor, "n m"]  # Σ_t e^{logit − μ}
    sums: Float[Tensor, "n m k"]  # Σ_t e^{logit − μ} v_t of the values v_t

    @property
    def numbers(self) -> int:
        """How many numbers it holds a sequence and head."""
        return 2 + self.sums.shape[2]

    @property
    def means(self) -> Float[Tensor, "n m k"]:
        """Σ_t α_t v_t, after at least one token."""
        return self.sums / self.total[..., None]


def begin(n: int, lam: Float[Tensor, "m d"], k: int) -> Stream:
    """Nothing read yet of values of size k."""
    none = lam.new_zeros(n, len(lam))
    return Stream(none - torch.inf, none, lam.new_zeros(n, len(lam), k))


def read(
    stream: Stream, token: Float[Tensor, "n d"], lam: Float[Tensor, "m d"], values: Float[Tensor, "n m k"]
) -> Stream:
    """One more token of every sequence, and the values that each head makes of it."""
    logit = token @ lam.T
    top = torch.maximum(stream.top, logit)
    fade, new = (stream.top - top).exp(), (logit - top).exp()
    sums = fade[..., None] * stream.sums + new[..., None] * values
    return Stream(top, fade * stream.total + new, sums)


def for_answers(token: Float[Tensor, "n d"], U: Float[Tensor, "m d"]) -> Float[Tensor, "n m 1"]:
    """Values whose means are ⟨U_i, a⟩."""
    return (token @ U.T)[..., None]


def for_gradients(token: Float[Tensor, "n d"], U: Float[Tensor, "m d"]) -> Float[Tensor, "n m 2*d"]:
    """Values whose means are a and Σ_t α_t ⟨U_i, X_t⟩ X_t."""
    seen = token[:, None, :].expand(-1, len(U), -1)
    return torch.cat([seen, for_answers(token, U) * seen], -1)


def f(stream: Stream, phi: Parameters, sigma: Function = TANH) -> Float[Tensor, " n"]:
    """The output, from a stream ``for_answers`` after at least one token."""
    return sigma(stream.means[..., 0]) @ phi.c / phi.m**0.5


def per_sample_gradient(
    stream: Stream, phi: Parameters, sigma: Activation = TANH
) -> tuple[Float[Tensor, "n m"], Float[Tensor, "n m d"], Float[Tensor, "n m d"]]:
    """∇_φ f of every sample, from a stream ``for_gradients`` after at least one token.

    Returns: gradients in c, in U, and in λ: that in W is the last one times qᵀ. Source: Arda, Cayci, Eryilmaz 2026, Lemma 1.
    """
    a, second = stream.means.chunk(2, -1)
    z = (a * phi.U).sum(-1)
    slope = (phi.c * sigma.first(z))[..., None]
    MU = second - z[..., None] * a
    return tuple(part / phi.m**0.5 for part in (sigma(z), slope * a, slope * MU))
