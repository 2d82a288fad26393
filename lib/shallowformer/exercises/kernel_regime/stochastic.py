"""Exercises of the chapter *Stochastic gradients*."""

from collections.abc import Callable

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number
from shallowformer.exercises.heads import Scalar


def _second_moment(gram: Tensor, r: Tensor, b: int) -> Tensor:
    n = len(r)
    single = 4 / n * (r**2 * gram.diagonal()).sum()
    return single / b + (1 - 1 / b) * 4 / n**2 * r @ gram @ r


#: What people answer instead, by the hint they get; arguments are the Gram matrix, the residuals and the batch size.
SECOND_MOMENT_MISTAKES = {
    "that is the variance; add the square of the mean gradient.": lambda gram, r, b: _second_moment(gram, r, 1) / b
    - 4 / len(r) ** 2 * r @ gram @ r / b,
    "two samples of a batch are independent: their product has the mean gradient's square as its mean.": lambda gram, r, b: _second_moment(gram, r, 1) / b,
    "that is the square of the full gradient; a batch has noise on top.": lambda gram, r, b: 4 / len(r) ** 2 * r @ gram @ r,
    "the factor 4 of the square of 2 r_j ∇f_j is missing.": lambda gram, r, b: _second_moment(gram, r, b) / 4,
}  # fmt: skip


def check_second_moment(
    second_moment: Callable[[Float64[Tensor, "n n"], Float64[Tensor, " n"], int], Scalar],
) -> Feedback:
    """Exercise *The size of a stochastic gradient*: E‖g‖² for batches of b samples.

    Args:
        second_moment: Gram matrix, residuals, b → a number.
    """
    generator = Generator().manual_seed(0)
    J = torch.randn(5, 7, generator=generator, dtype=torch.float64)
    r = torch.randn(5, generator=generator, dtype=torch.float64)
    cases = [(f"5 samples, batches of {b}", (J @ J.T, r, b)) for b in (4, 1, 32)]
    return judge("ex-stochastic-moment", second_moment, _second_moment, cases, SECOND_MOMENT_MISTAKES)


def _factor(largest: float, top: float, b: int) -> float:
    return largest / b + (1 - 1 / b) * top


#: What people answer instead, by the hint they get.
FACTOR_MISTAKES = {
    "the mean gradient's share is 1 − 1/b, not 1.": lambda largest, top, b: largest / b + top,
    "the two shares are exchanged: for b = 1 only the largest gradient counts.": lambda largest, top, b: top / b + (1 - 1 / b) * largest,
    "noise falls like 1/b, not like 1/√b, when squared.": lambda largest, top, b: largest / b**0.5 + (1 - 1 / b**0.5) * top,
}  # fmt: skip


def check_factor(factor: Callable[[float, float, int], float]) -> Feedback:
    """Exercise *Between one and all*: the A² of batches of b samples.

    Args:
        factor: max_j ‖∇f_j‖², λ_max/n, b → A².
    """
    cases = [(f"batches of {b}", (0.6, 0.05, b)) for b in (3, 1, 100)]
    return judge("ex-stochastic-factor", factor, _factor, cases, FACTOR_MISTAKES)


#: What people answer instead, by the hint they get.
BATCH_MISTAKES = {
    "close: the full gradient's share (1 − 1/b)·0.05 counts as well": 5,
    "nearly: 10 is the ratio of the two numbers, and one sample fewer suffices": 10,
}


def check_batch(b: Answer) -> Feedback:
    """Exercise *How large a batch?*: the smallest b that allows half the step size of the full batch.

    Args:
        b: the reader's answer, for max_j ‖∇f_j‖² = 0.5 and λ_max/n = 0.05.
    """
    return judge_number(
        "ex-stochastic-batch",
        b,
        9,
        BATCH_MISTAKES,
        "solve 0.5/b + (1 − 1/b)·0.05 = 2·0.05 for b",
        "0.5/9 + (8/9)·0.05 = 0.1 = 2·0.05",
        tolerance=0.0,
    )
