"""Exercises of the chapter *A recurrence, for contrast*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number

Step = Callable[[float, float, float, float, float], tuple[float, float]]


def _run(x: list[float], w: float, step: Step) -> float:
    """The second derivative q at the end; ``step`` makes p and q from the states before and after, w, and the last p and q."""
    h = p = q = 0.0
    for value in x:
        new = math.tanh(w * h + value)
        p, q = step(h, new, w, p, q)
        h = new
    return q


def _step(
    before: float, after: float, w: float, p: float, q: float, bend: float = 1.0, both: float = 2.0
) -> tuple[float, float]:
    slope, inner = 1 - after**2, before + w * p
    return slope * inner, -2 * bend * after * slope * inner**2 + slope * (both * p + w * q)


def _bend(x: list[float], w: float) -> float:
    return _run(x, w, _step)


def _unsquared(before: float, after: float, w: float, p: float, q: float) -> tuple[float, float]:
    slope, inner = 1 - after**2, before + w * p
    return slope * inner, -2 * after * slope * inner + slope * (2 * p + w * q)


def _late(before: float, after: float, w: float, p: float, q: float) -> tuple[float, float]:
    """With the new p where the old one belongs."""
    slope, inner = 1 - after**2, before + w * p
    return slope * inner, -2 * after * slope * inner**2 + slope * (2 * slope * inner + w * q)


def _overwritten(before: float, after: float, w: float, p: float, q: float) -> tuple[float, float]:
    """With the new p in all of q."""
    slope, inner = 1 - after**2, before + w * p
    new = slope * inner
    return new, -2 * after * slope * (before + w * new) ** 2 + slope * (2 * new + w * q)


def _moved_on(before: float, after: float, w: float, p: float, q: float) -> tuple[float, float]:
    """With the new state where the old one belongs."""
    return _step(after, after, w, p, q)


#: What people answer instead, by the hint they get.
BEND_MISTAKES = {
    "w h_{t−1} is a product, and its second derivative is 2p_{t−1} + w q_{t−1}: the 2 is missing.": lambda x, w: _run(x, w, lambda *a: _step(*a, both=1.0)),
    "that derivative of w h_{t−1} has a term without q as well: w stands in front of a state that moves with w.": lambda x, w: _run(x, w, lambda *a: _step(*a, both=0.0)),
    "the slope σ′(z_t) moves with w as well: a term with σ″ is missing.": lambda x, w: _run(x, w, lambda *a: _step(*a, bend=0.0)),
    "σ″ of tanh is −2 tanh (1 − tanh²): mind its sign.": lambda x, w: _run(x, w, lambda *a: _step(*a, bend=-1.0)),
    "σ″ of tanh is −2 tanh (1 − tanh²): its 2 is missing.": lambda x, w: _run(x, w, lambda *a: _step(*a, bend=0.5)),
    "∂z_t/∂w stands twice beside σ″: once outside, once from the slope.": lambda x, w: _run(x, w, _unsquared),
    "every p in the formula for q is that of the step before: use it before it is overwritten.": lambda x, w: _run(x, w, _overwritten),
    "the 2p is that of the step before: use p before it is overwritten.": lambda x, w: _run(x, w, _late),
    "the weight multiplies the state before this step: use h before it is overwritten.": lambda x, w: _run(x, w, _moved_on),
}  # fmt: skip


def check_bend(bend: Callable[[list[float], float], float]) -> Feedback:
    """Exercise *Forwards in time, once more*: ∂²h_T/∂w² of a scalar tanh recurrence; drives, w → a number."""
    drives = [0.7, -0.4, 0.2, 0.9, -0.6]
    cases = [
        (f"{len(x)} steps, w = {w:g}", (x, w))
        for x, w in ((drives[:3], 0.8), (drives, -1.3), (drives[:2], 0.5), (drives[:1], 0.5))
    ]
    return judge("ex-recurrence-forwards", bend, _bend, cases, BEND_MISTAKES)


#: What people answer instead, by the hint they get.
WIDTH_MISTAKES = {
    "at 900 the largest weight is exactly 1: the paper allows that, the derivative grows like √(T/2)": 900,
    "nearly: a symmetric initialisation has an even width": 901,
    "solve for √m first, and then square": 30,
}


def check_width(m: Answer) -> Feedback:
    """Exercise *How wide must it be?*: the smallest even m with 0.9 + 3/√m < 1."""
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
    """Exercise *Another activation*: the largest |∂h_T/∂w| over T for the logistic function at w = 4."""
    return judge_number(
        "ex-recurrence-logistic",
        limit,
        0.125,
        GROWTH_MISTAKES,
        "maximise h + 4h(1 − h)g over h, for large g",
        "g grows by ½ a step, and the last slope is ¼",
    )
