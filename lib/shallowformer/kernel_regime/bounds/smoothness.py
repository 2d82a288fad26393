"""How smooth a head is: the constants of Lemma 2, the paper's and sharper ones, as functions of R ≥ ‖U‖.

``*_paper`` are the paper's; ``H_star``, ``L1``, ``L2_generic``, ``L2``, ``L3`` are proved in the chapter *How smooth is a head?*; ``blocks``
has what they become block by block. They are nondecreasing in R, so they hold for every head with ‖U‖ ≤ R, whatever the tokens in the unit
ball, W, and the query with ‖q‖ ≤ 1. ``two_camps`` and ``L2_two_camps`` are attained values, hence lower bounds.

R is a number or a tensor of numbers; what comes out is of the same kind.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import NonNegatives, contract
from shallowformer.formulas import Number, maximum, minimum
from shallowformer.kernel_regime.bounds import laws


@contract
def preactivation_paper(R: NonNegatives) -> Number:
    """√(2 + 64R²): the paper's bound on ‖∇²z‖_F. Source: equation (17)."""
    return (2 + 64 * R**2) ** 0.5


@contract
def extremal_mean(R: NonNegatives) -> Number:
    """s⋆(R) in [0, 1/√3): the mean of the two camps, with masses (1 ± s)/2, at which ‖∇²z‖_op attains H⋆(R)."""
    # R = short/inverse, neither of which has large powers.
    short, inverse = minimum(R, 1.0), 1 / maximum(R, 1.0)
    root = (inverse**4 + (inverse * short) ** 2 + short**4) ** 0.5
    return short / (2 * inverse**2 + short**2 + 2 * root) ** 0.5


@contract
def H_star(R: NonNegatives) -> Number:
    """H⋆(R) = max_s (1 − s²)(sR + √(1 + s²R²)), in closed form: the supremum of ‖∇²z‖_op over heads with ‖U‖ = R, T ≥ 2."""
    s = extremal_mean(R)
    return (1 - s**2) * (s * R + (1 + (s * R) ** 2) ** 0.5)


@contract
def L1_paper(R: NonNegatives, sigma: Activation = TANH) -> Number:
    """The paper's Lipschitz constant σ₁√(1 + R²) of a head, R its B_{U,m}. Source: Lemma 2."""
    return sigma.bounds[1] * (1 + R**2) ** 0.5


@contract
def L1(R: NonNegatives, sigma: Activation = TANH) -> Number:
    """The sharp σ₁ max(1, R); attained if |σ′(0)| = σ₁ (and T ≥ 2 or R ≤ 1)."""
    return sigma.bounds[1] * maximum(R, 1.0)


@contract
def L2_paper(R: NonNegatives, sigma: Activation = TANH) -> Number:
    """The paper's smoothness constant σ₂(1 + R²) + 8σ₁√(1 + R²) of a head. Source: Lemma 2."""
    return sigma.bounds[2] * (1 + R**2) + 8 * L1_paper(R, sigma)


@contract
def L2_generic(R: NonNegatives, sigma: Activation = TANH) -> Number:
    """The smoothness constant σ₂ max(1, R²) + σ₁H⋆(R), which knows σ by its bounds only."""
    return sigma.bounds[2] * maximum(R, 1.0) ** 2 + sigma.bounds[1] * H_star(R)


@contract
def L2(R: NonNegatives, sigma: Activation = TANH) -> Number:
    """The smoothness constant L₂^♯(R), with ∇z, ∇²z, σ′ and σ″ at one and the same law and z: the largest ``blocks.G2``, r_u² + r_w² = 1."""

    def value(R: Tensor, z: Tensor, s: Tensor) -> Tensor:
        bend, slope, spread = sigma.second(z).abs(), sigma.first(z).abs(), 1 - s**2
        cross = (bend * s * R + slope) * spread
        return _top(bend * s**2, cross, (bend * spread * R + 2 * slope * s) * spread * R)

    return laws.largest(value, R, sigma)


@contract
def L3(R: NonNegatives, sigma: Activation = TANH) -> Number:
    """A bound on the third derivative of a head: σ₃B³ + 3σ₂B·H⋆(R) + σ₁(2R + 8/9), B = max(1, R); |σ‴| ≤ σ₃ is no assumption of the paper."""
    B, (_, s1, s2, s3) = maximum(R, 1.0), sigma.bounds
    return s3 * B**3 + 3 * s2 * B * H_star(R) + s1 * (2 * R + 8 / 9)


@contract
def two_camps(R: NonNegatives, s: Float[Tensor, "..."], sigma: Activation = TANH) -> Float[Tensor, "..."]:
    """‖∇²h‖_op for tokens ±U/R that carry the masses (1 ± s)/2, −1 ≤ s ≤ 1: a lower bound on every smoothness constant."""
    if float(arguments.floating("s", s, "...").abs().max()) > 1:
        raise ValueError(f"s must be in [-1, 1], got an entry of size {float(s.abs().max()):g}")
    bend, slope, spread = sigma.second(s * R), sigma.first(s * R), 1 - s**2
    cross = (bend * s * R + slope) * spread
    blocks = bend * s**2, cross, (bend * spread * R - 2 * slope * s) * spread * R
    return torch.maximum(_top(*blocks), _top(*(-block for block in blocks)))


@contract
def L2_two_camps(R: NonNegatives, sigma: Activation = TANH) -> Number:
    """The largest ``two_camps`` over s: attained, and no search has found a larger value of ‖∇²h‖_op for tanh."""
    return laws.largest(lambda R, z, s: two_camps(R, torch.sign(z) * s, sigma), R, sigma, free=False)


def _top(first: Tensor, cross: Tensor, second: Tensor) -> Tensor:
    """Largest eigenvalue of the symmetric matrices ((first, cross), (cross, second))."""
    return (first + second) / 2 + torch.hypot((first - second) / 2, cross)
