"""Exercises of the chapter *Stochastic gradients*."""

from collections.abc import Callable

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number
from shallowformer.exercises.heads import Scalar


def _parts(gram: Tensor, r: Tensor) -> tuple[Tensor, Tensor]:
    """Mean square of a sample's gradient, and the square of the mean."""
    n = len(r)
    return 4 / n * (r**2 * gram.diagonal()).sum(), 4 / n**2 * r @ gram @ r


def _noise(gram: Tensor, r: Tensor, b: int) -> Tensor:
    single, full = _parts(gram, r)
    return (single - full) * (len(r) - b) / (b * (len(r) - 1))


#: What people answer instead, by the hint they get; arguments are the Gram matrix, the residuals and the batch size.
NOISE_MISTAKES = {
    "that is the noise of samples drawn with replacement: here two of a batch are never the same, so they are not independent.": lambda gram, r, b: (_parts(gram, r)[0] - _parts(gram, r)[1]) / b,
    "nearly: 1 − b/n; but a pair of different samples is one of n(n − 1), not of n².": lambda gram, r, b: _noise(gram, r, b) * (len(r) - 1) / len(r),
    "that is E‖g‖²; subtract the square of the mean gradient.": lambda gram, r, b: _noise(gram, r, b) + _parts(gram, r)[1],
    "the factor 4 of the square of 2 r_j ∇f_j is missing.": lambda gram, r, b: _noise(gram, r, b) / 4,
    "a sample's noise is its mean square less the square of the mean gradient; the second is missing.": lambda gram, r, b: _parts(gram, r)[0] * (len(r) - b) / (b * (len(r) - 1)),
}  # fmt: skip


def check_noise(
    noise: Callable[[Float64[Tensor, "n n"], Float64[Tensor, " n"], int], Scalar],
) -> Feedback:
    """Exercise *Without replacement*: E‖g − ∇L‖² for batches of b different samples; Gram matrix, residuals, b → a number."""
    generator = Generator().manual_seed(0)
    J = torch.randn(5, 7, generator=generator, dtype=torch.float64)
    r = torch.randn(5, generator=generator, dtype=torch.float64)
    cases = [(f"5 samples, batches of {b}", (J @ J.T, r, b)) for b in (3, 1, 5, 2)]
    return judge("ex-stochastic-moment", noise, _noise, cases, NOISE_MISTAKES)


def _factor(largest: float, top: float, b: int) -> float:
    return largest / b + (1 - 1 / b) * top


#: What people answer instead, by the hint they get.
FACTOR_MISTAKES = {
    "the mean gradient's share is 1 − 1/b, not 1.": lambda largest, top, b: largest / b + top,
    "the two shares are exchanged: for b = 1 only the largest gradient counts.": lambda largest, top, b: top / b + (1 - 1 / b) * largest,
    "noise falls like 1/b, not like 1/√b, when squared.": lambda largest, top, b: largest / b**0.5 + (1 - 1 / b**0.5) * top,
}  # fmt: skip


def check_factor(factor: Callable[[float, float, int], float]) -> Feedback:
    """Exercise *Between one and all*: the A² of batches of b samples; max_j ‖∇f_j‖², λ_max/n, b → A²."""
    cases = [(f"batches of {b}", (0.6, 0.05, b)) for b in (3, 1, 100)]
    return judge("ex-stochastic-factor", factor, _factor, cases, FACTOR_MISTAKES)


#: What people answer instead, by the hint they get.
BATCH_MISTAKES = {
    "close: the full gradient's share (1 − 1/b)·0.05 counts as well": 5,
    "nearly: 10 is the ratio of the two numbers, and one sample fewer suffices": 10,
}


def check_batch(b: Answer) -> Feedback:
    """Exercise *How large a batch?*: the least b that allows half the full batch's step, for max_j ‖∇f_j‖² = 0.5 and λ_max/n = 0.05."""
    return judge_number(
        "ex-stochastic-batch",
        b,
        9,
        BATCH_MISTAKES,
        "solve 0.5/b + (1 − 1/b)·0.05 = 2·0.05 for b",
        "0.5/9 + (8/9)·0.05 = 0.1 = 2·0.05",
        tolerance=0.0,
    )


def floor(eta: float) -> float:
    """The excess loss at which SGD with step η < 1 on two quarrelling labels ends: η/(1 − η)."""
    return eta / (1 - eta)


#: What people answer instead, by the hint they get.
FLOOR_MISTAKES = {
    "that is the limit of small steps: (1 − 2η)² is 1 − 4η + 4η², not 1 − 4η.": lambda eta: eta,
    "that is the loss itself; its minimum, 1, is to be subtracted.": lambda eta: 1 / (1 - eta),
    "the gradient of a square has a factor 2: the state shrinks by 1 − 2η.": lambda eta: eta / (2 - eta),
    "that is what one step adds; what earlier ones added is still there, shrunk by (1 − 2η)² each time.": lambda eta: 4 * eta**2,
    "the state's variance shrinks by (1 − 2η)² a step, not by 1 − 2η.": lambda eta: 2 * eta,
}  # fmt: skip


def check_floor(answer: Callable[[float], float]) -> Feedback:
    """Exercise *Labels that cannot be fitted*: the excess loss that is left; η → a number."""
    cases = [(f"η = {eta:g}", (eta,)) for eta in (0.25, 0.75, 0.02)]
    return judge("ex-stochastic-floor", answer, floor, cases, FLOOR_MISTAKES)
