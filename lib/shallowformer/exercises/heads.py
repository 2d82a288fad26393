"""One head with tanh, written out, and heads as they are drawn at initialisation: what several chapters' exercises start from."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Float64
from torch import Generator, Tensor

from shallowformer import data, softmax

#: What exercises hand to a reader's function, and what they want: tokens of one sample, a vector, a matrix, a number.
Tokens, Vector = Float64[Tensor, "T d"], Float64[Tensor, " d"]
Matrix, Scalar = Float64[Tensor, "d d"], Float64[Tensor, ""]


class Head(NamedTuple):
    """What one head makes of one sample."""

    alpha: Float[Tensor, " T"]  # attention weights
    a: Float[Tensor, " d"]  # their mean of the tokens
    h: Float[Tensor, ""]  # σ(⟨U, a⟩)
    slope: Float[Tensor, ""]  # σ′(⟨U, a⟩)
    MU: Float[Tensor, " d"]  # softmax covariance times U


def head(
    X: Float[Tensor, "T d"], q: Float[Tensor, " d"], U: Float[Tensor, " d"], W: Float[Tensor, "d d"]
) -> Head:
    """One head on one sample."""
    alpha = torch.softmax(X @ W @ q, 0)
    a = alpha @ X
    h = torch.tanh(U @ a)
    return Head(alpha, a, h, 1 - h**2, softmax.covariance_product(X, alpha, U))


def at_start(
    draws: int, T: int, d: int, seed: int
) -> tuple[Float64[Tensor, "n T d"], Float64[Tensor, "n T"], Float64[Tensor, "n d"]]:
    """X, attention weights and U of n = ``draws`` inputs, each with a head of its own.

    Tokens are uniform on the sphere, q = X_T, entries of U and W standard Gaussian.
    """
    generator = Generator().manual_seed(seed)
    X = data.sphere(draws, T, d, generator)
    W = torch.randn(draws, d, d, generator=generator, dtype=torch.float64)
    U = torch.randn(draws, d, generator=generator, dtype=torch.float64)
    return X, torch.softmax((X @ (W @ X[:, -1, :, None]))[..., 0], -1), U
