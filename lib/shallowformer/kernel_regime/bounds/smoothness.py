"""How smooth a head is: the constants of Lemma 2, the paper's and sharper ones, as functions of R ≥ ‖U‖.

``*_paper`` are the paper's; ``H_star``, ``L1``, ``L2_generic``, ``L2``, ``L3`` are proved in the chapter *How smooth is a head?*; ``blocks``
has what they become block by block. They are nondecreasing in R, so they hold for every head with ‖U‖ ≤ R, whatever the tokens in the unit
ball, W, and the query with ‖q‖ ≤ 1. ``two_camps`` and ``L2_two_camps`` are attained values, hence lower bounds.

R is a number or a tensor of numbers, at least 0; what comes out is of the same kind.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.formulas import Number, maximum, minimum
from shallowformer.kernel_regime.bounds import laws


def preactivation_paper(R: Number) -> Number:
    """√(2 + 64R²): the paper's bound on ‖∇²z‖_F. Source: Arda, Cayci, Eryilmaz 2026, equation (17)."""
    return (2 + 64 * arguments.nonnegative("R", R) ** 2) ** 0.5


def extremal_mean(R: Number) -> Number:
    """s⋆(R): the mean of the two camps, with masses (1 ± s)/2, at which ‖∇²z‖_op attains H⋆(R). Returns: a value in [0, 1/√3)."""
    # R = short/inverse, neither of which has large powers.
    short, inverse = minimum(arguments.nonnegative("R", R), 1.0), 1 / maximum(R, 1.0)
    root = (inverse**4 + (inverse * short) ** 2 + short**4) ** 0.5
    return short / (2 * inverse**2 + short**2 + 2 * root) ** 0.5


def H_star(R: Number) -> Number:
    """H⋆(R) = max_s (1 − s²)(sR + √(1 + s²R²)), the supremum of ‖∇²z‖_op over heads with ‖U‖ = R, T ≥ 2. Returns: in closed form."""
    s = extremal_mean(R)
    return (1 - s**2) * (s * R + (1 + (s * R) ** 2) ** 0.5)


def L1_paper(R: Number, sigma: Activation = TANH) -> Number:
    """The paper's Lipschitz constant σ₁√(1 + R²) of a head. Source: Arda, Cayci, Eryilmaz 2026, Lemma 2.

    Args:
        R: bound on ‖U‖ (the paper's B_{U,m}).
    """
    return sigma.bounds[1] * (1 + arguments.nonnegative("R", R) ** 2) ** 0.5


def L1(R: Number, sigma: Activation = TANH) -> Number:
    """The Lipschitz constant σ₁ max(1, R) of a head; attained if |σ′(0)| = σ₁ (and T ≥ 2 or R ≤ 1).

    Source: The sharp form of Arda, Cayci, Eryilmaz 2026, Lemma 2.
    """
    return sigma.bounds[1] * maximum(arguments.nonnegative("R", R), 1.0)


def L2_paper(R: Number, sigma: Activation = TANH) -> Number:
    """The paper's smoothness constant σ₂(1 + R²) + 8σ₁√(1 + R²) of a head. Source: Arda, Cayci, Eryilmaz 2026, Lemma 2.

    Args:
        R: bound on ‖U‖ (the paper's B_{U,m}).
    """
    return sigma.bounds[2] * (1 + arguments.nonnegative("R", R) ** 2) + 8 * L1_paper(R, sigma)


def L2_generic(R: Number, sigma: Activation = TANH) -> Number:
    """The smoothness constant σ₂ max(1, R²) + σ₁H⋆(R), which knows σ by its bounds only."""
    return sigma.bounds[2] * maximum(arguments.nonnegative("R", R), 1.0) ** 2 + sigma.bounds[1] * H_star(R)


def L2(R: Number, sigma: Activation = TANH) -> Number:
    """The smoothness constant L₂^♯(R), with ∇z, ∇²z, σ′ and σ″ taken at one and the same law and z.

    Returns: the maximum over r_u² + r_w² = 1 of ``blocks.G2``; how accurate, says ``laws.largest``.
    """

    def value(R: Tensor, z: Tensor, s: Tensor) -> Tensor:
        bend, slope, spread = sigma.second(z).abs(), sigma.first(z).abs(), 1 - s**2
        return _top(
            bend * s**2,
            (bend * s * R + slope) * spread,
            (bend * spread * R + 2 * slope * s) * spread * R,
        )

    return laws.largest(value, arguments.nonnegative("R", R), sigma)


def L3(R: Number, sigma: Activation = TANH) -> Number:
    """A bound on the third derivative of a head: σ₃B³ + 3σ₂B·H⋆(R) + σ₁(2R + 8/9) with B = max(1, R).

    Args:
        sigma: the activation; |σ‴| ≤ σ₃ is used, which the paper does not assume.
    """
    B, (_, s1, s2, s3) = maximum(arguments.nonnegative("R", R), 1.0), sigma.bounds
    return s3 * B**3 + 3 * s2 * B * H_star(R) + s1 * (2 * R + 8 / 9)


def two_camps(R: Number, s: Float[Tensor, "..."], sigma: Activation = TANH) -> Float[Tensor, "..."]:
    """‖∇²h‖_op for tokens ±U/R that carry the masses (1 ± s)/2: a lower bound on every smoothness constant.

    Returns: of the common shape of ``R`` and ``s``.

    Args:
        R: ‖U‖ (for 0, any direction).
        s: mean of the camps along U, in [-1, 1].
    """
    arguments.nonnegative("R", R)
    if float(arguments.floating("s", s, "...").abs().max()) > 1:
        raise ValueError(f"s must be in [-1, 1], got an entry of size {float(s.abs().max()):g}")
    bend, slope, spread = sigma.second(s * R), sigma.first(s * R), 1 - s**2
    blocks = (
        bend * s**2,
        (bend * s * R + slope) * spread,
        (bend * spread * R - 2 * slope * s) * spread * R,
    )
    return torch.maximum(_top(*blocks), _top(*(-block for block in blocks)))


def L2_two_camps(R: Number, sigma: Activation = TANH) -> Number:
    """The largest ‖∇²h‖_op over two camps: attained, and no search has found a larger value of ‖∇²h‖_op for tanh.

    Returns: the maximum over s of ``two_camps``; how accurate, says ``laws.largest``.
    """

    def value(R: Tensor, z: Tensor, s: Tensor) -> Tensor:
        return two_camps(R, torch.sign(z) * s, sigma)

    return laws.largest(value, arguments.nonnegative("R", R), sigma, free=False)


def _top(first: Tensor, cross: Tensor, second: Tensor) -> Tensor:
    """Largest eigenvalue of the symmetric matrices ((first, cross), (cross, second))."""
    return (first + second) / 2 + torch.hypot((first - second) / 2, cross)
