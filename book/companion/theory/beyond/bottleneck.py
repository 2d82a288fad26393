"""How far two layers stay from their linear model at every width: the Gaussian integrals of the lower bound, for σ = tanh."""

import math

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

#: Nodes of the trapezoidal rule on the line; for functions that are analytic in a strip it converges exponentially.
_NODES = torch.linspace(-9.0, 9.0, 721, dtype=torch.float64)
_WEIGHTS = torch.exp(-(_NODES**2) / 2) / math.sqrt(2 * math.pi) * (_NODES[1] - _NODES[0])
_FEW = torch.linspace(-9.0, 9.0, 145, dtype=torch.float64)
_OF_FEW = torch.exp(-(_FEW**2) / 2) / math.sqrt(2 * math.pi) * (_FEW[1] - _FEW[0])


def mean(values: Float[Tensor, "... g"]) -> Float[Tensor, "..."]:
    """E of a function of a standard Gaussian number, given at the nodes."""
    return values @ _WEIGHTS


def slope(t: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """κ(t) = E σ'(√t g), the mean slope of tanh at a Gaussian number of variance t."""
    return mean(1 / torch.cosh(t.sqrt()[..., None] * _NODES) ** 2)


def drop(t: Float[Tensor, "..."], s: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """κ(t) − κ(t + s²)."""
    return slope(t) - slope(t + s**2)


def square(r: Float[Tensor, " b"], s: Float[Tensor, " b"]) -> Float[Tensor, " b"]:
    """Q(r, s) = E[(σ(rg + sh) − σ(rg) − shσ'(rg))²], the mean squared Taylor remainder of a head."""
    rg, sh = (r[:, None] * _FEW)[:, :, None], (s[:, None] * _NODES)[:, None, :]
    R = torch.tanh(rg + sh) - torch.tanh(rg) - sh / torch.cosh(rg) ** 2
    return mean(R**2) @ _OF_FEW


#: μ = E|tanh g| and ν = E tanh² g.
MU = float(mean(torch.tanh(_NODES).abs()))
NU = float(mean(torch.tanh(_NODES) ** 2))


def chance(k: int, a: float) -> float:
    """A lower bound on P(A ≥ aμ), A the mean of |tanh g_i| over k independent Gaussians: Hoeffding's, or by Markov for 1 − A."""
    return max(1 - math.exp(-2 * k * ((1 - a) * MU) ** 2), (1 - a) * MU / (1 - a * MU))


def floor(m: int, N: int, rho_c: float, shares: int = 99) -> float:
    """The lower bound on E[e²]: the largest over a of P(A ≥ aμ) ½s²(κ(2) − κ(2 + s²))², s = aμρ_c/√(2N)."""
    a = torch.linspace(0.01, 0.99, shares, dtype=torch.float64)
    s = a * MU * rho_c / (2 * N) ** 0.5
    levels = s**2 * drop(torch.full_like(s, 2.0), s) ** 2 / 2
    return max(chance(m // 2, float(x)) * float(level) for x, level in zip(a, levels, strict=True))


def limit_floor(N: int, rho_c: float) -> float:
    """What the bound tends to for m → ∞: ½s²(κ(1 + ν) − κ(1 + ν + s²))², s = μρ_c/√(2N)."""
    s = torch.tensor(MU * rho_c / np.sqrt(2 * N), dtype=torch.float64)
    return float(s**2 * drop(torch.tensor(1 + NU, dtype=torch.float64), s) ** 2 / 2)
