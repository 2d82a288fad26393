"""Exercises of the chapter *The price of memory*."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _one_more(mu: float, S: float, A: Tensor, x: Tensor, logit: float) -> tuple[float, float, Tensor]:
    top = max(mu, logit)
    fade, new = math.exp(mu - top), math.exp(logit - top)
    return top, fade * S + new, fade * A + new * x


def _flat(value: tuple, *_: object) -> Tensor:
    return torch.cat([torch.as_tensor(part, dtype=torch.float64).reshape(-1) for part in value])


#: What people answer instead, by the hint they get; arguments are μ, S, A, the token and its logit.
ONE_MORE_MISTAKES = {
    "the new maximum may be larger: what was kept is measured against the old one, and must fade.": lambda mu, S, A, x, logit: (
        max(mu, logit), S + math.exp(logit - max(mu, logit)), A + math.exp(logit - max(mu, logit)) * x
    ),
    "A fades as S does.": lambda mu, S, A, x, logit: (
        max(mu, logit), math.exp(mu - max(mu, logit)) * S + math.exp(logit - max(mu, logit)), A + math.exp(logit - max(mu, logit)) * x
    ),
    "the token enters A with its weight e^(logit − μ').": lambda mu, S, A, x, logit: (
        max(mu, logit), math.exp(mu - max(mu, logit)) * S + math.exp(logit - max(mu, logit)), math.exp(mu - max(mu, logit)) * A + x
    ),
    "μ is the largest logit so far: the maximum of the old one and the new.": lambda mu, S, A, x, logit: (
        mu, S + math.exp(min(logit - mu, 700.0)), A + math.exp(min(logit - mu, 700.0)) * x
    ),
}  # fmt: skip


def check_one_more(
    one_more: Callable[
        [float, float, Float64[Tensor, " d"], Float64[Tensor, " d"], float],
        tuple[float, float, Float64[Tensor, " d"]],
    ],
) -> Feedback:
    """Exercise *One token more*: the running sums of a softmax after a further token; μ, S, A, token, logit → the new μ, S, A."""
    generator = Generator().manual_seed(0)
    draw = lambda: torch.randn(3, generator=generator, dtype=torch.float64)
    cases = [
        (f"μ = {mu:g}, logit {logit:g}", (mu, S, draw(), draw(), logit))
        for mu, S, logit in ((1.0, 2.0, 1.5), (1.0, 2.0, -0.5), (-3.0, 1.0, 990.0), (900.0, 5.0, 20.0))
    ]
    right = lambda *arguments: _flat(_one_more(*arguments))
    return judge("ex-price-stream", one_more, right, cases, ONE_MORE_MISTAKES, seen=_flat)


#: What people answer instead, by the hint they get.
HALF_MISTAKES = {
    "that is all of the last nine; forecasts at even times need values at odd times only": 9,
    "so it is at even times; at odd times one more is still needed": 4,
    "half of nine, but numbers are whole: count the odd times among t − 8, …, t": 4.5,
}


def check_half(k: Answer) -> Feedback:
    """Exercise *Every second forecast*: the numbers that a device must keep for L = 9 and forecasts at even times."""
    return judge_number(
        "ex-price-half",
        k,
        5,
        HALF_MISTAKES,
        "which of the last nine values will still be asked for?",
        "five at odd times, four at even ones",
        tolerance=0.0,
        near=0.0,
    )


#: What people answer instead, by the hint they get.
DIGITS_MISTAKES = {
    "that is the width of a cell; from its middle it is half as far": 2.0**-5,
    "52/8 bits a value are six whole ones": 2.0 ** -(52 / 8),
    "cells cover [−1, 1), which is 2 long, not 1": 2.0**-7,
    "the 52 bits are shared by eight values": 2.0**-52,
}


def check_digits(error: Answer) -> Feedback:
    """Exercise *One number for all*: the largest error with six bits a value."""
    return judge_number(
        "ex-price-digits",
        error,
        2.0**-6,
        DIGITS_MISTAKES,
        "how many whole bits does each of the eight values get, and how wide is a cell of [−1, 1)?",
        "six bits, 64 cells of width 1/32",
        tolerance=1e-6,
        near=0.01,
    )
