"""Exercises of the chapter *From a random start*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _norm(vector: list[float]) -> float:
    return math.sqrt(sum(entry**2 for entry in vector))


def _sum(E: list[float], lam: list[float], mu: float, m: float, path: Callable[[list, list], float]) -> float:
    left = _norm([(1 - mu * size) * error for size, error in zip(lam, E, strict=True)])
    return (left + mu * math.sqrt(m) * path(lam, E)) / _norm(E)


def _gradient(lam: list[float], E: list[float]) -> float:
    """‖JᵀE‖ for JJᵀ = diag(lam)."""
    return _norm([math.sqrt(size) * error for size, error in zip(lam, E, strict=True)])


def _share(E: list[float], lam: list[float], mu: float) -> float:
    return _sum(E, lam, mu, min(lam), _gradient)


#: What people answer instead, by the hint they get.
SHARE_MISTAKES = {
    "JᵀE, not KE: its squared norm is the sum of λE², with one power of λ.": lambda E, lam, mu: _sum(
        E, lam, mu, min(lam), lambda lam, E: _norm([size * error for size, error in zip(lam, E, strict=True)])
    ),
    "m is the least eigenvalue, not the largest.": lambda E, lam, mu: _sum(E, lam, mu, max(lam), _gradient),
    "the root of m stands in front of the path, not m.": lambda E, lam, mu: _sum(
        E, lam, mu, min(lam) ** 2, _gradient
    ),
    "divide by ‖E‖: the question is which share is used.": lambda E, lam, mu: _share(E, lam, mu) * _norm(E),
    "the step's length is μ‖JᵀE‖: the factor μ is missing.": lambda E, lam, mu: _sum(
        E, lam, mu, min(lam) / mu**2, _gradient
    ),
    "that is what is left of the error only; the path has a share as well.": lambda E, lam, mu: _sum(
        E, lam, mu, 0.0, _gradient
    ),
}


def check_share(share: Callable[[list[float], list[float], float], float]) -> Feedback:
    """Exercise *What a step pays*: (‖E − μKE‖ + μ√m ‖JᵀE‖)/‖E‖ for K = diag(lam).

    Args:
        share: error, eigenvalues, step → a number.
    """
    cases = [
        (f"E = {E}, eigenvalues {lam}, step {mu:g}", (E, lam, mu))
        for E, lam, mu in (
            ([1.0, 2.0], [1.0, 4.0], 0.25),
            ([3.0, -1.0, 0.5], [0.5, 2.0, 5.0], 0.1),
            ([2.0], [3.0], 0.2),
        )
    ]
    return judge("ex-random-start-share", share, _share, cases, SHARE_MISTAKES)


#: What people answer instead, by the hint they get.
WIDTH_MISTAKES = {
    "that is the width at which the area is just short of 9: round up": 57,
    "that is what one gets by stopping where σ_A has halved, at the rate that is left there; take the whole area under α": 110,
    "the rate is the square of what is left of σ_A": 144,
    "that is σ_A³ itself; solve for the width": 54,
}


def check_width(d_1: Answer) -> Feedback:
    """Exercise *The area in the simplest case*: the least d_1 with (√(d_1/4))³/6 ≥ 9.

    Args:
        d_1: the reader's answer.
    """
    return judge_number(
        "ex-random-start-width",
        d_1,
        58,
        WIDTH_MISTAKES,
        "integrate (σ_A − 2x)² from 0 to where it vanishes, and compare with y_0",
        "the area is σ_A³/6",
        tolerance=0.0,
        near=0.0,
    )


#: What people answer instead, by the hint they get.
STEP_MISTAKES = {
    "at 2/M the error itself stops shrinking; the sum with the path fails before": 0.5,
    "that step is the best for the error alone, not for the sum": 0.4,
    "1/m is far beyond the stable steps": 1.0,
    "the lemma allows this step, and longer ones": 0.125,
}


def check_step(mu: Answer) -> Feedback:
    """Exercise *No longer step*: the largest μ for which the path lemma holds at K = diag(1, 4).

    Args:
        mu: the reader's answer.
    """
    return judge_number(
        "ex-random-start-step",
        mu,
        0.25,
        STEP_MISTAKES,
        "put a small share p of ‖E‖² on the larger eigenvalue and differentiate at p = 0",
        "the derivative has the sign of μM − 1",
    )
