"""Exercises of the page *What each hypothesis is for: residual connections*."""

from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _left(y: float) -> float:
    return min(y, 0.0) ** 2 / 2


#: What people answer instead, by the hint they get.
LEFT_MISTAKES = {
    "a positive target can be met: F takes every value above 0.": lambda y: y**2 / 2,
    "the sign: it is a negative target that is never met.": lambda y: max(y, 0.0) ** 2 / 2,
    "that is the error; Φ is half its square.": lambda y: -min(y, 0.0),
    "Φ has a factor ½.": lambda y: min(y, 0.0) ** 2,
}


def check_left(left: Callable[[float], float]) -> Feedback:
    """Exercise *What is always left*: the largest lower bound on Φ that F ≥ 0 gives, for a target.

    Args:
        left: target → a number.
    """
    cases = [(f"y = {y}", (y,)) for y in (-1.0, -3.0, 0.5, 2.0, 0.0)]
    return judge("ex-rt-hypotheses-left", left, _left, cases, LEFT_MISTAKES)


#: What people answer instead, by the hint they get.
CORNER_MISTAKES = {
    "one of W_V and W_2 is forgotten: each of them moves both entries of H by −m": 3.0,
    "only the second entry of H is counted": 2.0,
    "W_U moves, too: its first entry by −m": 4.0,
    "that is the value of the instance, not the smallest": 12.0,
}


def check_corner(bc: Answer) -> Feedback:
    """Exercise *How large a step at a corner*: the value of bc above which every short step raises the loss."""
    return judge_number(
        "ex-rt-hypotheses-corner",
        bc,
        5.0,
        CORNER_MISTAKES,
        "write the token, W_2 and W_U after the step by m = μe_0, and keep what is of first order",
        "5 = ‖J‖² of what descent sees; the neuron at its corner pushes with bc",
    )


#: What people answer instead, by the hint they get.
RUNAWAY_MISTAKES = {
    "the pair grows by q a step, but it pushes by its square": 1.0,
    "that is the flow's: a step multiplies by 1 + μh, so compare that with q²": 2.0,
    "that is 1 + μh itself: solve for h": 1.21,
    "that is μh: divide by μ": 0.21,
}


def check_runaway(h: Answer) -> Feedback:
    """Exercise *Where does it fail without a semidefinite Hessian?*: the h at which the other block outruns the pair, μ = 0.1."""
    return judge_number(
        "ex-rt-hypotheses-runaway",
        h,
        2.1,
        RUNAWAY_MISTAKES,
        "δ_t is a sum of (1 + μh)^{t−1−s}q^{2s}: which of the two factors wins?",
        "1 + μh = q²: below, δ follows the square of the pair",
    )
