"""Tokens of a multivariate autoregressive series: neighbours resemble one another, entries of a token depend on one another."""

import math

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments


def tokens(
    P: int,
    N: int,
    d: int,
    generator: Generator,
    memory: float = 0.9,
    dtype: torch.dtype = torch.float64,
) -> Float[Tensor, "{P} {N} {d}"]:
    """P stationary sequences x_{i+1} = a x_i + √(1 − a²) W ε_i, with one Gaussian W/√d for all of them.

    Given W, every token has the covariance WWᵀ, of trace about d, and tokens i and j of a sequence the covariance a^{|i−j|} WWᵀ.

    Args:
        P: sequences, at least 1.
        N: tokens a sequence, at least 1.
        d: dimension of a token, at least 1.
        generator: source of randomness; W is drawn first.
        memory: a, in [0, 1).
        dtype: of the result.

    Raises:
        ValueError: a size that is not a whole number of at least 1, ``memory`` outside [0, 1).
    """
    for name, value in (("P", P), ("N", N), ("d", d)):
        arguments.count(name, value)
    a = arguments.below_one("memory", memory)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=dtype, device=generator.device)
    W = draw(d, d) / math.sqrt(d)
    noise = draw(P, N, d) @ W.T
    x = [noise[:, 0]]
    for i in range(1, N):
        x.append(a * x[-1] + math.sqrt(1 - a**2) * noise[:, i])
    return torch.stack(x, 1)
