"""Exercises of the chapter *Softmax calculus*."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from shallowformer import softmax
from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number, judge_number_by
from shallowformer.exercises.heads import Scalar, Tokens, Vector
from shallowformer.exercises.memory import without_matrix
from shallowformer.exercises.unaided import without_solver


def _spectral_norm(z: Tensor) -> Tensor:
    return torch.linalg.matrix_norm(softmax.jacobian(z), 2)


#: What people answer instead, by the hint they get.
SPECTRAL_NORM_MISTAKES = {
    "this is one entry of the matrix, p(1 − p); apply J_s to the vector (1, −1)/√2.": lambda z: (
        _spectral_norm(z) / 2
    ),
    "this is the ∞→1 norm, not the largest singular value.": softmax.inf_to_one_norm,
    "these are the weights; the norm is a function of p(1 − p).": lambda z: torch.softmax(z, -1).amax(-1),
}


def check_spectral_norm(spectral_norm: Callable[[Float64[Tensor, "2"]], Scalar]) -> Feedback:
    """Exercise *The second norm*: ‖J_s(z)‖₂ of two tokens, without an eigenvalue solver; z → the norm."""
    draws = 3 * torch.randn(20, 2, generator=Generator().manual_seed(0), dtype=torch.float64)
    cases = [
        ("equal logits", (torch.zeros(2, dtype=torch.float64),)),
        ("z = (1, 0)", (torch.tensor([1.0, 0.0], dtype=torch.float64),)),
        ("saturated softmax, z = (900, 0)", (torch.tensor([900.0, 0.0], dtype=torch.float64),)),
        *[(f"z = ({z[0]:.2f}, {z[1]:.2f})", (z,)) for z in draws],
    ]
    feedback = judge("ex-softmax-spectral", spectral_norm, _spectral_norm, cases, SPECTRAL_NORM_MISTAKES)
    return without_solver(feedback, spectral_norm, cases[0][1])


#: What people answer instead, by the hint they get.
COVARIANCE_PRODUCT_MISTAKES = {
    "this is the second moment times U; subtract the part of the mean.": lambda X, alpha, U: torch.einsum("t,td,te,e->d", alpha, X, X, U),
    "tokens are rows: X[t] is a token, so the scores are X @ U, one for each token.": lambda X, alpha, U: (X - alpha @ X).T @ X @ U,
    "each token counts with its weight α_t, not with 1/T.": lambda X, alpha, U: softmax.covariance_product(X, torch.full_like(alpha, 1 / len(alpha)), U),
    "the sign is wrong.": lambda X, alpha, U: -softmax.covariance_product(X, alpha, U),
    "this is K_U or M without its product with U.": lambda X, alpha, U: softmax.covariance(X, alpha),
}  # fmt: skip


def check_covariance_product(
    covariance_product: Callable[[Tokens, Float64[Tensor, " T"], Vector], Vector],
) -> Feedback:
    """Exercise *M U without M*: the product of the softmax covariance with a vector in O(Td) memory; X, α, U → MU."""
    generator = Generator().manual_seed(1)

    def case(T: int, d: int) -> tuple[Tensor, Tensor, Tensor]:
        draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
        return draw(T, d), torch.softmax(draw(T), -1), draw(d)

    cases = [
        *[(f"T = {T}, d = {d}", case(T, d)) for T, d in ((2, 2), (4, 3), (7, 1), (16, 8))],
        ("one token, where M = 0", case(1, 3)),
    ]
    feedback = judge(
        "ex-softmax-product",
        covariance_product,
        softmax.covariance_product,
        cases,
        COVARIANCE_PRODUCT_MISTAKES,
    )
    return without_matrix(
        feedback, covariance_product, case(3, 400), "multiply by U before you sum over tokens"
    )


def mean_norm(scale: float, T: int = 12, draws: int = 400) -> float:
    """Mean of ‖J_s(z)‖_{∞→1} over logits z ~ N(0, scale²) of T tokens, in [0, 1]; drawn from a fixed seed."""
    z = scale * torch.randn(draws, T, generator=Generator().manual_seed(2), dtype=torch.float64)
    return float(softmax.inf_to_one_norm(z).mean())


def check_insensitive_scale(scale: Answer) -> Feedback:
    """Exercise *When does attention stop listening?*: the logit scale at which the mean norm is one half."""

    def verdict(scale: float) -> Feedback:
        if not 0 < scale < math.inf:
            return Feedback("ex-softmax-scale", "wrong", f"expected a finite number above 0, got {scale!r}")
        value = mean_norm(scale)
        if abs(value - 0.5) <= 0.025:
            return Feedback("ex-softmax-scale", "passed", f"at scale {scale:g} the mean norm is {value:.3f}")
        direction = "larger" if value > 0.5 else "smaller"
        return Feedback(
            "ex-softmax-scale",
            "wrong",
            f"at scale {scale:g} the mean norm is {value:.3f}: try a {direction} scale",
        )

    return judge_number_by("ex-softmax-scale", scale, verdict)


def check_least_norm(norm: Answer) -> Feedback:
    """Exercise *Attention that listens*: the least ‖J_s‖_{∞→1} if no token has more than a fifth of the mass."""
    mistakes = {
        "that is one token against the rest; the norm is the largest value over all sets of tokens": 0.64,
        "that needs a set with half of the mass, and five equal tokens have none": 1.0,
        "a set within a fifth of one half: with the right one of two neighbours it is within a tenth": 0.84,
        "the set's mass is 2/5, and the norm is 4p(1 − p): a factor of 4 is missing": 0.24,
        "the mass is off by at most a tenth from one half, and 4p(1 − p) is 1 minus the square of twice that": 0.99,
    }
    return judge_number(
        "ex-softmax-least",
        norm,
        0.96,
        mistakes,
        "collect tokens one by one: how near to one half must the mass come?",
        "1 − (1/5)²",
        tolerance=1e-6,
        near=1e-3,
    )
