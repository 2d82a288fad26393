"""Exercises of the page *What each hypothesis is for: preconditioned attention*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _mean(q: float) -> float:
    return math.tanh(q) / 2


#: What people answer instead, by the hint they get.
MEAN_MISTAKES = {
    "that is the infinite context; two coins agree in half of the draws.": math.tanh,
    "where the coins agree the score decides nothing: both signs are equally likely.": lambda q: (
        (1 + math.tanh(q)) / 2
    ),
    "the two scores are q and −q, so the odds are e^{2q} : 1.": lambda q: math.tanh(q / 2) / 2,
    "that is the formula for Gaussian tokens; average the four cases.": lambda q: (
        q * (1 - 0.5 * (0.5 + (1 + math.tanh(q) ** 2) / 2))
    ),
}


def check_mean(mean: Callable[[float], float]) -> Feedback:
    """Exercise *Two coins in a context*: the mean of attention on two tokens ±1.

    Args:
        mean: score → a number.
    """
    cases = [(f"q = {q}", (q,)) for q in (0.5, 1.0, -2.0, 0.0, 6.0)]
    return judge("ex-pa-hypotheses-coins", mean, _mean, cases, MEAN_MISTAKES)


#: What people answer instead, by the hint they get.
WEAK_MISTAKES = {
    "the factor is (1 − ηh)², so 1 − 2ηh: h ≥ 2s_d is asked for, not h ≥ s_d": 0.25,
    "that is where the condition number of wide factors is best; here all eigenvalues must be at least 2s_d": 1.0,
    "at λ = 0 imbalance does not move at all; it is too slow before that": 0.0,
}


def check_weak(lam: Answer) -> Feedback:
    """Exercise *How weak a regulariser*: the λ below which imbalance is slower than the theorem promises."""
    return judge_number(
        "ex-pa-hypotheses-weak",
        lam,
        0.5,
        WEAK_MISTAKES,
        "read the eigenvalues at the optimum off the table, and compare 1 − 2ηh with 1 − 4ηs_d",
        "imbalance has 4λs_d, so every λ below ½ is too weak",
    )


#: What people answer instead, by the hint they get.
FLAT_MISTAKES = {
    "that is the balanced saddle, γ = 0: with a column unused, −s_2": -1.0,
    "y_2 goes to 0, but y_1 does not: the form 2x_1² − 2x_1y_1 is left": 0.0,
    "that is γ = 10; go on": -0.4455,
    "the other eigenvalue of the same form": 1 + 2**0.5,
}


def check_flat(value: Answer) -> Feedback:
    """Exercise *How flat, and does it matter*: the limit of the least Hessian eigenvalue as the spare column grows."""
    return judge_number(
        "ex-pa-hypotheses-flat",
        value,
        1 - 2**0.5,
        FLAT_MISTAKES,
        "write the Hessian form on the row of the missed pair, four numbers, and let γ grow",
        "1 − √2: unbalanced, it repels less than half as strongly",
    )
