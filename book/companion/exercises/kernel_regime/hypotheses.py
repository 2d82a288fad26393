"""Exercises of the page *What each hypothesis is for: the lemmas of the kernel regime*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number

#: Instance → the hypothesis that it breaks, 0 for none.
BROKEN = {"A": 5, "B": 4, "C": 0, "D": 0, "E": 0, "F": 2}

#: What people answer instead, by the hint they get.
BROKEN_MISTAKES = {
    "D: Lemma 3 asks for readouts of size 1. That they are opposite is another lemma's hypothesis.": lambda name: {
        **BROKEN, "D": 3,
    }[name],
    "E: look for what the lemma asks of the start of W.": lambda name: {**BROKEN, "E": 4}[name],
    "A: a block may move by ρ/√m, not by ρ.": lambda name: {**BROKEN, "A": 0}[name],
    "F: the move is short enough; look at what is left.": lambda name: {**BROKEN, "F": 5}[name],
    "C: a token inside the ball is in the ball, and so is a query that is one of the tokens.": lambda name: {
        **BROKEN, "C": 2,
    }[name],
}  # fmt: skip


def broken(name: str) -> int:
    """The hypothesis of Lemma 3 that an instance breaks."""
    return BROKEN[name]


def check_broken(answer: Callable[[str], int]) -> Feedback:
    """Exercise *Which one is broken?*: the name of an instance → the number of a hypothesis."""
    cases = [(f"instance {name}", (name,)) for name in BROKEN]
    return judge("ex-hypotheses-which", answer, broken, cases, BROKEN_MISTAKES, slips=False)


def length_tail(d: int, t: float) -> float:
    """P(‖G‖ − E‖G‖ ≥ t) for G = (g, ε₂g, …, ε_d g)."""
    return math.erfc(1 / math.sqrt(math.pi) + t / math.sqrt(2 * d))


#: What people answer instead, by the hint they get; arguments d, t.
TAIL_MISTAKES = {
    "‖G‖ is not negative: the event is about |g|, which has two tails.": lambda d, t: length_tail(d, t) / 2,
    "E‖G‖ is √d·E|g|, not √d.": lambda d, t: math.erfc((1 + t / math.sqrt(d)) / math.sqrt(2)),
    "that is d = 1: all d coordinates have the size |g|.": lambda d, t: length_tail(1, t),
    "t is measured from the mean of ‖G‖, not from 0.": lambda d, t: math.erfc(t / math.sqrt(2 * d)),
    "the coordinates are not independent: no chi law with d degrees of freedom.": lambda d, t: math.exp(
        -((t + math.sqrt(math.pi / 2)) ** 2) / 2
    ),
}


def check_length_tail(answer: Callable[[int, float], float]) -> Feedback:
    """Exercise *Equal up to signs*: d, t → the probability."""
    cases = [
        ("one coordinate", (1, 0.5)),
        ("two", (2, 0.0)),
        ("two, farther out", (2, 1.5)),
        ("a hundred", (100, 3.0)),
    ]
    return judge("ex-hypotheses-signs", answer, length_tail, cases, TAIL_MISTAKES)


def check_factor(factor: Answer) -> Feedback:
    """Exercise *Attention that looks at U*: the factor of √(log d)."""
    mistakes = {
        "that is one coordinate's size: half of the attention on x and y, and M = ¼(x − y)(x − y)ᵀ.": math.sqrt(
            2
        ),
        "that is ⟨x − y, U⟩; MU is a quarter of it, times x − y.": 2 * math.sqrt(2),
        "MU is a vector along x − y, whose length is √2.": math.sqrt(2) / 2,
    }
    otherwise = "which two tokens make ⟨x − y, U⟩ largest, and what is M when each has half of the attention?"
    return judge_number("ex-hypotheses-attention", factor, 1.0, mistakes, otherwise, "‖MU‖ ≈ √(log d)")
