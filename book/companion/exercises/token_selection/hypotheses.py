"""Exercises of the page *What each hypothesis is for: token selection*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number

#: Instance → the hypothesis of *Bounded residual* that it breaks, 0 for none.
BROKEN = {"A": 1, "B": 3, "C": 2, "D": 0, "E": 4, "F": 0}

#: What people answer instead, by the hint they get.
BROKEN_MISTAKES = {
    "A: put the multiplier of E₁ to 0: both gaps are 1.": lambda name: {**BROKEN, "A": 0}[name],
    "C: the entry is what matters, not its sign alone: −G₁₂ exceeds G₂₂. Who is lost from 0?": lambda name: {
        **BROKEN, "C": 0,
    }[name],
    "D: steps are long, and of one length: bounded.": lambda name: {**BROKEN, "D": 3}[name],
    "F: the lengths fall, but their sum has no bound; and the theorem asks for bounded steps only.": lambda name: {
        **BROKEN, "F": 3,
    }[name],
    "E: being attended is not what fails first; look at the scores.": lambda name: {**BROKEN, "E": 2}[name],
}  # fmt: skip


def broken(name: str) -> int:
    """The hypothesis of *Bounded residual* that an instance breaks."""
    return BROKEN[name]


def check_broken(answer: Callable[[str], int]) -> Feedback:
    """Exercise *Which hypothesis fails?*: the name of an instance → the number of a hypothesis."""
    cases = [(f"instance {name}", (name,)) for name in BROKEN]
    return judge("ex-selection-hypotheses-which", answer, broken, cases, BROKEN_MISTAKES, slips=False)


def skewness(beta: float) -> float:
    """The limit of 1 − corr for steps of lengths βᵗ on two orthonormal pairs."""
    return 1 - (1 + beta) / math.sqrt(2 * (1 + beta**2))


#: What people answer instead, by the hint they get.
SKEW_MISTAKES = {
    "a gap adds up every second step: the two gaps are in the proportion of β : 1, not β² : 1.": lambda beta: (
        skewness(beta**2)
    ),
    "both gaps have earlier steps in them, too; the last step is not all.": lambda beta: 1 - 1 / math.sqrt(2),
    "W_mm is E₁ + E₂, of length √2.": lambda beta: 1 - (1 + beta) / math.sqrt(1 + beta**2),
    "that is the correlation.": lambda beta: 1 - skewness(beta),
}


def check_skewness(answer: Callable[[float], float]) -> Feedback:
    """Exercise *Steps that grow*: β → the limit of 1 − corr."""
    cases = [(f"β = {beta}", (beta,)) for beta in (1.1, 2.0, 10.0)]
    return judge("ex-selection-hypotheses-growing", answer, skewness, cases, SKEW_MISTAKES)


def check_overlap(answer: Answer) -> Feedback:
    """Exercise *A large start*: g/c that a limit with a lost sample can have at most, n = 6."""
    mistakes = {
        "at least one sample is lost, so at most n − 1 are kept.": 11.0,
        "that is N = n: use that the worst gap of a lost sample is at least −cΛ, too.": 5.0,
        "that is what (A1′) gives; what would a lost sample need?": 10.0,
    }
    otherwise = "add up one gap for each sample whose pairs have a share in V, and use Λ ≥ μ/c"
    return judge_number("ex-selection-hypotheses-start", answer, 9.0, mistakes, otherwise, "g ≤ (2n − 3)c")
