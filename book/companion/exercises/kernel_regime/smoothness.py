"""Exercises of the chapter *How smooth is a head?*."""

import functools
import math
from collections.abc import Callable

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from shallowformer import softmax
from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number
from shallowformer.exercises.heads import Tokens, Vector, at_start
from shallowformer.exercises.memory import without_matrix
from shallowformer.kernel_regime.model import hessian


def _heavy_mass(v: float) -> float:
    return (1 + math.sqrt(1 - v)) / 2


#: What people answer instead, by the hint they get.
HEAVY_MASS_MISTAKES = {
    "this is the mass at +1: a positive third moment has its long tail, and little mass, on the right.": lambda v: 1 - _heavy_mass(v),
    "this is the mean's size √(1 − v); the mass at −1 is (1 − mean)/2.": lambda v: math.sqrt(1 - v),
    "the variance of a law on {−1, 1} is 1 − μ², so |μ| = √(1 − v), not 1 − v.": lambda v: (1 + (1 - v)) / 2,
}  # fmt: skip


def check_heavy_mass(heavy_mass: Callable[[float], float]) -> Feedback:
    """Exercise *The most skew random number*: the mass at −1 of the extremal law on {−1, 1}; the variance v in (0, 1] → the mass."""
    cases = [(f"v = {v:g}", (v,)) for v in (0.75, 2 / 3, 0.1, 1.0)]
    return judge("ex-smoothness-mass", heavy_mass, _heavy_mass, cases, HEAVY_MASS_MISTAKES)


def _skewness_product(X: Tensor, alpha: Tensor, U: Tensor, w: Tensor) -> Tensor:
    return softmax.third_cumulant(X, alpha, U) @ w


#: What people answer instead, by the hint they get.
SKEWNESS_PRODUCT_MISTAKES = {
    "the last factor must be centred as well: the product of two centred scores has a mean.": lambda X, alpha, U, w: (alpha * ((X - alpha @ X) @ U) * ((X - alpha @ X) @ w)) @ X,
    "the tokens must be centred before they are scored.": lambda X, alpha, U, w: (alpha * (X @ U) * (X @ w)) @ X,
    "this is the covariance times w: one score is missing.": lambda X, alpha, U, w: softmax.covariance_product(X, alpha, w),
    "each token counts with its weight α_t, not with 1/T.": lambda X, alpha, U, w: _skewness_product(X, torch.full_like(alpha, 1 / len(alpha)), U, w),
    "the sign is wrong.": lambda X, alpha, U, w: -_skewness_product(X, alpha, U, w),
    "this is the matrix K_U; multiply it by w.": lambda X, alpha, U, w: softmax.third_cumulant(X, alpha, U),
}  # fmt: skip


def check_skewness_product(
    skewness_product: Callable[[Tokens, Float64[Tensor, " T"], Vector, Vector], Vector],
) -> Feedback:
    """Exercise *The skewness product*: K_U w in O(Td) memory; X, α, U, w → K_U w."""
    generator = Generator().manual_seed(3)

    def case(T: int, d: int) -> tuple[Tensor, ...]:
        draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
        return draw(T, d), torch.softmax(draw(T), -1), draw(d), draw(d)

    cases = [
        *[(f"T = {T}, d = {d}", case(T, d)) for T, d in ((3, 2), (4, 3), (7, 1), (16, 8))],
        ("one token, where K_U = 0", case(1, 3)),
    ]
    feedback = judge(
        "ex-smoothness-product", skewness_product, _skewness_product, cases, SKEWNESS_PRODUCT_MISTAKES
    )
    return without_matrix(
        feedback, skewness_product, case(3, 400), "multiply by w before you sum over tokens"
    )


@functools.cache
def mean_curvature(draws: int = 2000, seed: int = 0, T: int = 16, d: int = 8) -> float:
    """Mean of ‖∇²z‖_op at initialisation: tokens uniform on the sphere, q = X_T, U and W standard Gaussian, drawn anew for every input."""
    X, alpha, U = at_start(draws, T, d, seed)
    return float(torch.linalg.eigvalsh(hessian.preactivation(X, alpha, U)).abs().amax(-1).mean())


def check_typical_curvature(curvature: Answer) -> Feedback:
    """Exercise *The typical curvature*: the mean of ‖∇²z‖_op at initialisation, d = 8, T = 16."""
    right = mean_curvature()

    def otherwise(number: float) -> str:
        if number > 1:
            return f"{number:.3g} is near the worst case; average over random inputs, with q = X_T"
        if number > right:
            return f"{number:.3f} is too large: is it the operator norm, the largest eigenvalue in size?"
        return f"{number:.3f} is too small: are U and W standard Gaussian, and the tokens on the sphere?"

    praise = f"{right:.3f}, over inputs of our own"
    return judge_number(
        "ex-smoothness-typical",
        curvature,
        right,
        {},
        otherwise,
        praise,
        tolerance=0.02,
        begin="draw inputs with data.sphere, weights with a softmax of ⟨X_t, W X_T⟩, then the largest |eigenvalue| of hessian.preactivation, and its mean.",
    )


def ball_constant(L1: float, L2: float) -> float:
    """The k with |remainder| ≤ k ρ²/√m on one ball of radius ρ for all parameters: (L₂ + √(L₂² + 4L₁²))/4.

    L₁ is a Lipschitz constant of a head, L₂ one of its gradient.
    """
    return (L2 + math.hypot(L2, 2 * L1)) / 4


#: What people answer instead, by the hint they get; arguments L₁ and L₂.
BALL_MISTAKES = {
    "the readout and the head share one budget: both cannot have all of it.": lambda L1, L2: L2 / 2 + L1,
    "that is without the readouts; they move as well.": lambda L1, L2: L2 / 2,
    "half of the budget for each is not the best split.": lambda L1, L2: L2 / 4 + L1 / 2,
    "Taylor's remainder of second order has a ½: L₂/2.": lambda L1, L2: (L2 + math.hypot(L2, L1)) / 2,
    "in the matrix of the quadratic form the mixed term L₁ stands half on either side.": lambda L1, L2: (L2 + math.hypot(L2, 4 * L1)) / 4,
}  # fmt: skip


def check_ball_constant(answer: Callable[[float, float], float]) -> Feedback:
    """Exercise *One ball instead of blocks*: the constant of the remainder; L₁, L₂ → k."""
    cases = [
        ("L₁ = 1, L₂ = 1.5", (1.0, 1.5)),
        ("L₁ = 0.3, L₂ = 4", (0.3, 4.0)),
        ("L₁ = 2, L₂ = 0", (2.0, 0.0)),
    ]
    return judge("ex-smoothness-ball", answer, ball_constant, cases, BALL_MISTAKES)
