"""Two layers at one token of length 1: Gaussian integrals for the limit of the kernel, its law with a stream of fixed width, and one step.

Attention is trivial there, z = ⟨U, ξ⟩; t stands for ‖ξ‖².
"""

import math

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.beyond.bottleneck import _NODES, NU, mean

F64 = torch.float64


def _at(t: Float[Tensor, "..."]) -> Float[Tensor, "... g"]:
    return torch.tanh(t.sqrt()[..., None] * _NODES)


def reading(t: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """E σ(√t g)²."""
    return mean(_at(t) ** 2)


def gain(t: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """E σ'(√t g)²."""
    return mean((1 - _at(t) ** 2) ** 2)


def gain_along(t: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """E σ'(√t g)² g²."""
    return mean((1 - _at(t) ** 2) ** 2 * _NODES**2)


_ONE = torch.ones((), dtype=F64)
#: Θ of a unit token: E σ(g)² + E σ'(g)².
THETA = float(reading(_ONE) + gain(_ONE))


def own(t: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """E σ(z)² + t E σ'(z)², the second layer's own blocks."""
    return reading(t) + t * gain(t)


def limit() -> float:
    """K = own(1 + ν) + Θ gain(1 + ν)."""
    t = torch.tensor(1 + NU, dtype=F64)
    return float(own(t) + THETA * gain(t))


def floor(N: float) -> float:
    """2Θ²(N − 1)N⁻² gain(1 + ν)², below the variance of the kernel with a stream of N and infinitely many heads."""
    return 2 * THETA**2 * (N - 1) / N**2 * float(gain(torch.tensor(1 + NU, dtype=F64))) ** 2


def given_stream(N: int, t: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Variance of that kernel given the first layer: 2Θ²N⁻²((N − 1) gain² + gain_along²)."""
    return 2 * THETA**2 / N**2 * ((N - 1) * gain(t) ** 2 + gain_along(t) ** 2)


def lengths(N: int, count: int, generator: Generator) -> Float[Tensor, " count"]:
    """‖ξ‖² of Ox + √(ν/N) n; the square at right angles to x has a χ² law with N − 1 degrees of freedom."""
    along = torch.randn(count, generator=generator, dtype=F64)
    rest = torch.randn(count, N - 1, generator=generator, dtype=F64).square().sum(-1)
    return (1 + (NU / N) ** 0.5 * along) ** 2 + NU / N * rest


def draws(N: int, count: int, generator: Generator) -> Float[Tensor, " count"]:
    """The kernel with a stream of N and infinitely many heads: own(t) + Θ‖p‖², t = ‖ξ‖² and p Gaussian given ξ."""
    t = lengths(N, count, generator)
    across = torch.randn(count, N - 1, generator=generator, dtype=F64).square().sum(-1)
    along = torch.randn(count, generator=generator, dtype=F64).square()
    return own(t) + THETA / N * (gain(t) * across + gain_along(t) * along)


def moved(u: Float[Tensor, "..."], t: float) -> Float[Tensor, "..."]:
    """F(u) = E[(1 + uσ(z)) σ(z + utσ'(z))], z = √t g."""
    h = torch.tanh(math.sqrt(t) * _NODES)
    u = u[..., None]
    return mean((1 + u * h) * torch.tanh(math.sqrt(t) * _NODES + u * t * (1 - h**2)))
