"""Exercises of the chapter *A recurrence, for contrast*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _run(x: list[float], w: float, step: Callable[[float, float, float, float], float]) -> float:
    """P at the end; ``step`` makes it from the states before and after, w, and the last p."""
    h = p = 0.0
    for value in x:
        new = math.tanh(w * h + value)
        p = step(h, new, w, p)
        h = new
    return p


def _sensitivity(x: list[float], w: float) -> float:
    return _run(x, w, lambda before, after, w, p: (1 - after**2) * (before + w * p))


#: What people answer instead, by the hint they get.
SENSITIVITY_MISTAKES = {
    "the weight multiplies the state before this step: use h before it is overwritten.": lambda x, w: _run(
        x, w, lambda before, after, w, p: (1 - after**2) * (after + w * p)
    ),
    "the slope of tanh at z is 1 − tanh² z, with the new state in it, not the old one.": lambda x, w: _run(
        x, w, lambda before, after, w, p: (1 - before**2) * (before + w * p)
    ),
    "the slope is missing: h_t is tanh of what it is made of.": lambda x, w: _run(
        x, w, lambda before, after, w, p: before + w * p
    ),
    "what comes from the past is passed on by w: p_{t−1} carries that factor.": lambda x, w: _run(
        x, w, lambda before, after, w, p: (1 - after**2) * (before + p)
    ),
    "only the last step is there: w acted at every step before as well.": lambda x, w: _run(
        x, w, lambda before, after, w, p: (1 - after**2) * before
    ),
    "the slope belongs to both terms: (1 − h²)(h_{t−1} + w p_{t−1}).": lambda x, w: _run(
        x, w, lambda before, after, w, p: before + (1 - after**2) * w * p
    ),
    "a sign: both terms are added.": lambda x, w: _run(
        x, w, lambda before, after, w, p: (1 - after**2) * (before - w * p)
    ),
}


def check_sensitivity(sensitivity: Callable[[list[float], float], float]) -> Feedback:
    """Exercise *Forwards in time*: ∂h_T/∂w of a scalar tanh recurrence.

    Args:
        sensitivity: drives, w → a number.
    """
    drives = [0.7, -0.4, 0.2, 0.9, -0.6]
    cases = [
        (f"{len(x)} steps, w = {w:g}", (x, w))
        for x, w in ((drives[:3], 0.8), (drives, -1.3), (drives[:1], 0.5))
    ]
    return judge("ex-recurrence-forwards", sensitivity, _sensitivity, cases, SENSITIVITY_MISTAKES)


#: What people answer instead, by the hint they get.
WIDTH_MISTAKES = {
    "at 900 the largest weight is exactly 1: the paper allows that, the derivative grows like √(T/2)": 900,
    "nearly: a symmetric initialisation has an even width": 901,
    "solve for √m first, and then square": 30,
}


def check_width(m: Answer) -> Feedback:
    """Exercise *How wide must it be?*: the smallest even m with 0.9 + 3/√m < 1.

    Args:
        m: the reader's answer.
    """
    return judge_number(
        "ex-recurrence-width",
        m,
        902,
        WIDTH_MISTAKES,
        "the largest weight in Ω_ρ is 0.9 + 3/√m; it must stay below 1",
        "0.9 + 3/√902 is just below 1",
        tolerance=0.0,
        near=0.0,
    )


#: What people answer instead, by the hint they get.
GROWTH_MISTAKES = {
    "that is g_T/T; the last step still multiplies by σ′(z_T), at most a quarter": 0.5,
    "the quarter of the last step comes once, and g grows by a half a step": 0.25,
    "it does grow in proportion to T: the best state is near ½, not near 0": 0.0,
}


def check_growth(limit: Answer) -> Feedback:
    """Exercise *Another activation*: the largest |∂h_T/∂w| over T for the logistic function at w = 4.

    Args:
        limit: the reader's answer.
    """
    return judge_number(
        "ex-recurrence-logistic",
        limit,
        0.125,
        GROWTH_MISTAKES,
        "maximise h + 4h(1 − h)g over h, for large g",
        "g grows by ½ a step, and the last slope is ¼",
    )
