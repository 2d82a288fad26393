"""Exercises of the chapter *On real tables*."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.exercises.feedback import Feedback, judge


def _bend(h: Tensor, b: float) -> Tensor:
    p = torch.softmax(b * h[:, None] * h, 1)
    return (p @ h / b - h).square().mean()


def _undivided(h: Tensor, b: float) -> Tensor:
    return (torch.softmax(b * h[:, None] * h, 1) @ h - h).square().mean()


def _of_the_average(h: Tensor, b: float) -> Tensor:
    return (torch.softmax(b * h[:, None] * h, 1) @ h - b * h).square().mean()


def _without_itself(h: Tensor, b: float) -> Tensor:
    scores = b * h[:, None] * h
    scores.fill_diagonal_(-torch.inf)
    return (torch.softmax(scores, 1) @ h / b - h).square().mean()


def _not_squared(h: Tensor, b: float) -> Tensor:
    return (torch.softmax(b * h[:, None] * h, 1) @ h / b - h).abs().mean()


def _no_temperature(h: Tensor, b: float) -> Tensor:
    return (torch.softmax(h[:, None] * h, 1) @ h / b - h).square().mean()


#: What people answer instead, by the hint they get.
BEND_MISTAKES = {
    "the answer is ẑ/b: it stands for h, not for bh.": _undivided,
    "that is the error of ẑ; divide it by b, so that it is the error of an answer of size 1.": _of_the_average,
    "the query is a row of the table, and the table holds it as a token too.": _without_itself,
    "mean square, not mean absolute value.": _not_squared,
    "b multiplies the scores.": _no_temperature,
}


def check_bend(bend: Callable[[Float[Tensor, " k"], float], Float[Tensor, ""]]) -> Feedback:
    """Exercise *Which column is straightest?*: mean square over rows h_i of ẑ_i/b − h_i, ẑ_i the average of all h_j with weights e^{b h_i h_j}."""
    generator = torch.Generator().manual_seed(3)
    cases = []
    for k, b in ((3, 0.5), (20, 0.2), (50, 0.7)):
        h = torch.randn(k, generator=generator, dtype=torch.float64).exp()
        cases.append((f"{k} rows, b = {b}", ((h - h.mean()) / h.std(correction=0), b)))
    return judge("ex-real-tables-bend", bend, _bend, cases, BEND_MISTAKES)
