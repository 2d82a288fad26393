"""Exercises of the chapter *From a random start*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def waste(lam: list[float], mu: float) -> float:
    """The most that a step μ ≤ 1/M leaves unused of what the path lemma allows: μ(M − √(mM)), m and M the extreme eigenvalues."""
    return mu * (max(lam) - math.sqrt(min(lam) * max(lam)))


#: What people answer instead, by the hint they get.
WASTE_MISTAKES = {
    "equality holds on the least eigenvalue only; elsewhere something is left over.": lambda lam, mu: 0.0,
    "that is what the error loses; the path takes a share of it.": lambda lam, mu: mu * max(lam),
    "the path is μ√m ‖JᵀE‖ with ‖JᵀE‖² = ⟨E, KE⟩: on an eigenvector √(mλ), not m.": lambda lam, mu: (
        mu * (max(lam) - min(lam))
    ),
    "that is the left side on the largest eigenvalue; asked for is 1 minus it.": lambda lam, mu: 1 - waste(lam, mu),
    "the left side is concave in the shares of ‖E‖² on the eigenvectors: look at one eigenvector alone, not at equal shares.": lambda lam, mu: (
        1
        - math.sqrt(sum((1 - mu * k) ** 2 for k in lam) / len(lam))
        - mu * math.sqrt(min(lam) * sum(lam) / len(lam))
    ),
    "on the path ‖JᵀE‖ = √λ ‖E‖: a root is missing.": lambda lam, mu: (
        mu * (max(lam) - math.sqrt(min(lam)) * max(lam))
    ),
}  # fmt: skip


def check_waste(answer: Callable[[list[float], float], float]) -> Feedback:
    """Exercise *What a step wastes*: 1 less the smallest left side of the path lemma, over errors of norm 1.

    Args:
        answer: eigenvalues, step → a number.
    """
    cases = [
        (f"eigenvalues {lam}, step {mu:g}", (lam, mu))
        for lam, mu in (([1.0, 4.0], 0.2), ([5.0, 0.5, 2.0], 0.1), ([0.0, 3.0], 0.25), ([3.0, 3.0], 0.2))
    ]
    return judge("ex-random-start-share", answer, waste, cases, WASTE_MISTAKES)


#: What people answer instead, by the hint they get.
WIDTH_MISTAKES = {
    "that is the width at which the area is just short of 9: round up": 57,
    "that is what one gets by stopping where σ_A has halved, at the rate that is left there; take the whole area under α": 110,
    "the rate is the square of what is left of σ_A": 144,
    "that is σ_A³ itself; solve for the width": 54,
}


def check_width(d_1: Answer) -> Feedback:
    """Exercise *The area in the simplest case*: the least d_1 with (√(d_1/4))³/6 ≥ 9."""
    return judge_number(
        "ex-random-start-width",
        d_1,
        58,
        WIDTH_MISTAKES,
        "integrate (σ_A − 2x)² from 0 to where it vanishes, and compare with 9",
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
    """Exercise *No longer step*: the largest μ for which the path lemma holds at K = diag(1, 4)."""
    return judge_number(
        "ex-random-start-step",
        mu,
        0.25,
        STEP_MISTAKES,
        "put a small share p of ‖E‖² on the larger eigenvalue and differentiate at p = 0",
        "the derivative has the sign of μM − 1",
    )
