"""Gaussian tokens, tokens of an autoregressive series, and targets that a network of the same kind can make (``shallowformer.real`` reads measured ones)."""

import math

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, Positive, contract
from shallowformer.residual import model
from shallowformer.residual.parameters import Parameters, Setting


@contract
def gaussian(
    P: Count,
    N: Count,
    d: Count,
    generator: Generator,
    deviation: Positive | None = None,
    dtype: torch.dtype = torch.float64,
) -> Float[Tensor, "{P} {N} {d}"]:
    """Independent Gaussian tokens; the standard deviation of an entry is d^{−1/2} if not given, for tokens of norm about 1."""
    size = d**-0.5 if deviation is None else deviation
    return size * torch.randn(P, N, d, generator=generator, dtype=dtype, device=generator.device)


@contract
def autoregressive(
    P: Count,
    N: Count,
    d: Count,
    generator: Generator,
    memory: float = 0.9,
    dtype: torch.dtype = torch.float64,
) -> Float[Tensor, "{P} {N} {d}"]:
    """Stationary sequences x_{i+1} = a x_i + √(1 − a²) W ε_i: neighbours resemble one another, entries of a token depend on one another.

    W is Gaussian/√d, one for all sequences and drawn first; tokens i and j have the covariance a^{|i−j|} WWᵀ, of trace about d.
    """
    a = arguments.below_one("memory", memory)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=dtype, device=generator.device)
    W = draw(d, d) / math.sqrt(d)
    noise = draw(P, N, d) @ W.T
    x = [noise[:, 0]]
    for i in range(1, N):
        x.append(a * x[-1] + math.sqrt(1 - a**2) * noise[:, i])
    return torch.stack(x, 1)


def taught(X: Float[Tensor, "P N d"], teacher: Parameters, setting: Setting) -> Float[Tensor, "P N K"]:
    """Outputs of a teacher, scaled to ‖Y‖²_F = PNK: a mean square of 1."""
    F = model.outputs(X, teacher, setting)
    size = F.square().mean().sqrt()
    if size == 0:
        raise ValueError("teacher must have an output other than 0, got outputs of norm 0")
    return F / size
