"""A shared hidden layer with p units over m heads: how far its units and its output can leave the linear model on Ω_ρ."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.beyond import dense
from companion.theory.beyond.architecture import Blocks
from shallowformer.contracts import Count, Even, Level, NonNegative, contract
from shallowformer.formulas import Number
from shallowformer.probability.cumulants import KAPPA

#: max |tanh″| = 4/(3√3).
SIGMA_2 = 4 / (3 * math.sqrt(3))


@contract
def start(p: Even, m: Even, d: Count, generator: Generator, dtype: torch.dtype = torch.float64) -> Blocks:
    """The start of ``dense`` with p hidden units."""
    return dense.start(m, d, generator, dtype, p)


def spectral(V: Float[Tensor, "p m d"]) -> Float[Tensor, ""]:
    """N = ‖V‖_op of V as a matrix with a row a unit."""
    return torch.linalg.matrix_norm(V.flatten(1), 2)


@contract
def spectral_bound(p: Even, m: Even, d: Count, delta: Level) -> float:
    """√p + √(md) + 2√log(2/δ): N is at most this with probability at least 1 − δ at a mirrored Gaussian start."""
    return math.sqrt(p) + math.sqrt(m * d) + 2 * math.sqrt(math.log(2 / delta))


@dataclass(frozen=True)
class Bound:
    """What a move within Ω_ρ can do, for tanh and tokens in the unit ball, whatever the inputs: the four terms of the bound and Z."""

    units: (
        Number  # Z = ρ_u + ρ_w N̄/√m with N̄ = N + ρ_u: the root of the sum of squares of what the units move
    )
    readout: Number  # ρ_c Z/√p
    bend: Number  # ½ C σ₂ Z²/√p with C = 1 + ρ_c/√p
    mixed: Number  # C ρ_u ρ_w/√m
    skew: Number  # ½ C κ ρ_w² N̄/m

    @property
    def total(self) -> Number:
        """The bound on |f − f_lin|."""
        return self.readout + self.bend + self.mixed + self.skew


def bound(N: Number, p: int, m: int, rho: Sequence[Number]) -> Bound:
    """The linearisation theorem at a start with |c| = 1 and ‖V‖_op = N."""
    c, u, w = rho
    N_bar, C = N + u, 1 + c / p**0.5
    Z = u + w * N_bar / m**0.5
    return Bound(
        Z,
        c * Z / p**0.5,
        C * SIGMA_2 * Z**2 / (2 * p**0.5),
        C * u * w / m**0.5,
        C * KAPPA * w**2 * N_bar / (2 * m),
    )


def head_bound(V: Float[Tensor, "p m d"], delta: float) -> Float[Tensor, " m"]:
    """H_i (1 + √(2 log(m/2δ)))/√(pm): what the first gradients in all W_i are at most, up to probability δ, whatever the inputs are."""
    p, m, _ = V.shape
    H = (V[: p // 2] - V[p // 2 :]).square().sum((0, 2)).sqrt()
    return H / (p * m) ** 0.5 * (1 + math.sqrt(2 * math.log(m / (2 * delta))))


@contract
def approximation_bound(p: Even, rho_c: NonNegative, rho_u: NonNegative, delta: Level) -> float:
    """(ρ_c + ρ_u)√(2/p)(1 + √(2 log(1/δ))): how far the comparator's linear model is from its target in L², given the heads."""
    return (rho_c + rho_u) * math.sqrt(2 / p) * (1 + math.sqrt(2 * math.log(1 / delta)))


@contract
def covariance_bound(m: Even, delta: Level) -> float:
    """2√(log(2/δ)/m): how far A_m is from its mean for two inputs, up to probability δ."""
    return 2 * math.sqrt(math.log(2 / delta) / m)
