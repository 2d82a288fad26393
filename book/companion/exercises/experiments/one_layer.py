"""Exercises of the chapter *One layer, four theories*."""

import statistics
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number

#: What people answer instead, by the hint they get.
LAZY_MISTAKES = {
    "the time is proportional to the root of m.": 2.0,
    "which power of m doubles when m is multiplied so? You have taken the root once more.": 2**0.5,
    "that is for four times the time.": 16.0,
}


def check_lazy(answer: Answer) -> Feedback:
    """Exercise *Twice as lazy*: the factor of m that doubles α√m."""
    return judge_number(
        "ex-one-layer-lazy",
        answer,
        4.0,
        LAZY_MISTAKES,
        "α√m has to double at the same α.",
        "√4 = 2. With a shared attention m does not enter.",
    )


#: What people answer instead, by the hint they get; argument a.
INTERVAL_MISTAKES = {
    "a is split between two sides.": lambda a: (a, 1 - a),
    "these are quantiles of the level a, and not what lies outside.": lambda a: ((1 - a) / 2, (1 + a) / 2),
    "narrower is not always cheaper: what does a miss cost?": lambda a: (0.5, 0.5),
    "all of the law is never missed, and dear.": lambda a: (0.0, 1.0),
}


def check_best_interval(answer: Callable[[float], tuple[float, float]]) -> Feedback:
    """Exercise *The score of a forecaster*: a → the interval of the smallest expected price for a uniform truth."""
    cases = [("a = 0.1", (0.1,)), ("a = 0.5", (0.5,)), ("a = 0.9", (0.9,))]
    seen = lambda value, *_: _both(value)
    return judge("ex-one-layer-score", answer, best_interval, cases, INTERVAL_MISTAKES, seen=seen)


def best_interval(a: float) -> tuple[float, float]:
    """The quantiles a/2 and 1 − a/2."""
    return a / 2, 1 - a / 2


#: Intervals and truths: all met; one missed from above, one from below.
CASES = [
    ("all met", ([0.1, 0.2, 0.0], [0.3, 0.3, 0.5], [0.2, 0.3, 0.1])),
    ("one above", ([0.1, 0.2, 0.4], [0.3, 0.3, 0.5], [0.2, 0.35, 0.45])),
    ("one below", ([0.1, 0.2, 0.4], [0.3, 0.6, 0.5], [0.2, 0.25, 0.3])),
]


def report(low: list[float], high: list[float], truth: list[float], level: float = 0.9) -> tuple[float, ...]:
    """Coverage, median width and mean interval score of intervals."""
    each = list(zip(low, high, truth, strict=True))
    covered = sum(l <= y <= h for l, h, y in each) / len(each)
    misses = [h - l + 2 / (1 - level) * max(l - y, y - h, 0.0) for l, h, y in each]
    return covered, statistics.median(h - l for l, h, _ in each), statistics.mean(misses)


def _without(part: int, wrong: Callable[[float], float]) -> Callable:
    """A report of which one number is another."""

    def made(*case):
        found = list(report(*case))
        found[part] = wrong(*case)
        return tuple(found)

    return made


#: What people answer instead, by the hint they get.
REPORT_MISTAKES = {
    "the mean width is moved by one wide interval; take the median.": _without(
        1, lambda low, high, _: statistics.mean(h - l for l, h in zip(low, high, strict=True))
    ),
    "a miss costs 2/(1 - level) times its distance, here 20 times.": _without(
        2, lambda low, high, truth: report(low, high, truth, level=0.0)[2]
    ),
}


def check_report(
    answer: Callable[[list[float], list[float], list[float]], tuple[float, float, float]],
) -> Feedback:
    """Exercise *A fifth theory*, its first part: intervals and truths → coverage, median width, mean interval score at level 0.9."""
    seen = lambda value, *_: torch.tensor([float(each) for each in value], dtype=torch.float64)
    return judge("ex-one-layer-fifth", answer, report, CASES, REPORT_MISTAKES, seen=seen, slips=False)


def _both(value: object) -> Float[Tensor, "2"]:
    """Two numbers as one tensor."""
    low, high = value
    return torch.tensor([float(low), float(high)], dtype=torch.float64)
