"""Exercises of the chapter *Scaling laws*."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number
from shallowformer.exercises.heads import Scalar

#: What people answer instead, by the hint they get; arguments m and ε.
TEACHER_MISTAKES = {
    "independent errors add in squares: it is the root of 1 + m/(2M) that must be at most 1 + ε.": lambda m, e: m / (2 * e),
    "m heads are m/2 independent pairs.": lambda m, e: m / ((1 + e) ** 2 - 1),
    "that is 1/M.": lambda m, e: 2 * ((1 + e) ** 2 - 1) / m,
    "that keeps the floor itself below ε times the error; a floor adds in squares.": lambda m, e: m / (2 * e**2),
}  # fmt: skip


def teacher_heads(m: int, excess: float) -> float:
    """M with √(1 + m/(2M)) = 1 + ε."""
    return m / (2 * ((1 + excess) ** 2 - 1))


def check_teacher_heads(answer: Callable[[int, float], float]) -> Feedback:
    """Exercise *How many heads for the teacher?*: m, ε → M."""
    cases = [("m = 2, ε = 1/2", (2, 0.5)), ("m = 256, one per cent", (256, 0.01)), ("m = 512", (512, 0.001))]
    return judge("ex-scaling-teacher", answer, teacher_heads, cases, TEACHER_MISTAKES)


def _line(t: Tensor, values: Tensor) -> Tensor:
    t = t - t.mean()
    return (values @ t) / (t @ t)


#: What people answer instead, by the hint they get; arguments widths and curves.
SLOPE_MISTAKES = {
    "that is the slope of the curve of arithmetic means; average the logarithms, or the slopes.": lambda m, y: _line(m.log(), y.mean(0).log()),
    "take logarithms of the values as well.": lambda m, y: _line(m.log(), y).mean(),
    "take logarithms of the widths as well.": lambda m, y: _line(m, y.log()).mean(),
    "that uses the first and the last width only.": lambda m, y: ((y[:, -1] / y[:, 0]).log() / (m[-1] / m[0]).log()).mean(),
    "one number is asked for: average over the seeds.": lambda m, y: _line(m.log(), y.log()),
}  # fmt: skip


def slope(widths: Float[Tensor, " k"], curves: Float[Tensor, "seeds k"]) -> Float[Tensor, ""]:
    """Slope of the least-squares line through the means over seeds of log y, against log m."""
    return _line(widths.log(), curves.log()).mean()


def check_slope(answer: Callable[[Float64[Tensor, " k"], Float64[Tensor, "seeds k"]], Scalar]) -> Feedback:
    """Exercise *A fitted slope*: widths, curves → the slope."""
    source = torch.Generator().manual_seed(0)
    m = torch.tensor([8.0, 16.0, 64.0, 128.0, 256.0], dtype=torch.float64)
    noise = torch.randn(4, 5, generator=source, dtype=torch.float64).exp()
    cases = [
        ("an exact law", (m, 3 / m.sqrt()[None].repeat(2, 1))),
        ("four noisy curves", (m, noise / m)),
        ("curves of different height", (m, noise[:, :1] * (1 / m + 0.01) + noise / 1000)),
    ]
    return judge("ex-scaling-slope", answer, slope, cases, SLOPE_MISTAKES)


#: What people answer instead, by the hint they get.
LAST_TOKEN_MISTAKES = {
    "1/d is right for a token that is independent of the query; the last token is the query.": 1 / 8,
    "that would be so if the entries were Gaussian of variance 1/d; their squares add up to 1.": 3 / 8,
    "that is the variance with the full W.": 1.0,
    "that is its root.": math.sqrt(0.3),
}


def check_last_token(answer: Answer) -> Feedback:
    """Exercise *The last token, seen through a diagonal*: E Σ_k q_k⁴ for q uniform on the sphere in eight dimensions."""
    return judge_number(
        "ex-scaling-last",
        answer,
        0.3,
        LAST_TOKEN_MISTAKES,
        "E q_k⁴ = 3/(d(d + 2)) on the sphere; there are d entries.",
        "3/(d + 2) = 3/10, where the full W gives 1.",
        tolerance=0.002,
    )
