"""Exercises of the page *What each hypothesis is for: beyond the model*."""

from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number

#: Instance → the hypothesis of Theorem F for vector outputs that it breaks, 0 for none.
BROKEN = {"A": 0, "B": 2, "C": 0, "D": 1, "E": 3, "F": 4}

#: What people answer instead, by the hint they get.
BROKEN_MISTAKES = {
    "A: readouts may have any size; Γ and c̄ say which.": lambda name: {**BROKEN, "A": 2}[name],
    "C: nothing is asked of how readouts of different pairs, or of one pair's outputs, go together.": lambda name: {**BROKEN, "C": 2}[name],
    "D: a head is more than its readouts: the partners' W must be equal as well.": lambda name: {**BROKEN, "D": 0}[name],
    "E: near 0 they agree, but the bound on the fourth derivative is that of tanh.": lambda name: {**BROKEN, "E": 0}[name],
    "B: opposite in every output.": lambda name: {**BROKEN, "B": 0}[name],
}  # fmt: skip


def _broken(name: str) -> int:
    """The hypothesis that an instance breaks."""
    return BROKEN[name]


def check_broken(answer: Callable[[str], int]) -> Feedback:
    """Exercise *Which one of Theorem F?*: the name of an instance → the number of a hypothesis."""
    cases = [(f"instance {name}", (name,)) for name in BROKEN]
    return judge("ex-hypotheses-beyond-which", answer, _broken, cases, BROKEN_MISTAKES, slips=False)


def _spread(m: int, k: int, b: float) -> float:
    """k(k − 1)[b⁴ + (1 − b⁴)·2/m]."""
    return k * (k - 1) * (b**4 + (1 - b**4) * 2 / m)


#: What people answer instead, by the hint they get.
SPREAD_MISTAKES = {
    "that is the variance; its mean is not 0 if signs are not fair.": lambda m, k, b: k * (k - 1) * (1 - b**4) * 2 / m,
    "that is the square of the mean; the mean over pairs also varies.": lambda m, k, b: k * (k - 1) * b**4,
    "a product of two signs with the mean b has the mean b², not b.": lambda m, k, b: k * (k - 1) * (b**2 + (1 - b**2) * 2 / m),
    "there are m/2 independent pairs, not m.": lambda m, k, b: k * (k - 1) * (b**4 + (1 - b**4) / m),
    "each entry off the diagonal occurs twice.": lambda m, k, b: k * (k - 1) / 2 * (b**4 + (1 - b**4) * 2 / m),
}  # fmt: skip


def check_spread(answer: Callable[[int, int, float], float]) -> Feedback:
    """Exercise *Biased signs*: heads, outputs and the mean of a sign → E‖(2/m)C₀ᵀC₀ − I‖²."""
    cases = [("fair", (8, 3, 0.0)), ("always 1", (8, 2, 1.0)), ("biased", (16, 4, 0.5)), ("one pair", (2, 3, 0.6))]  # fmt: skip
    return judge("ex-hypotheses-beyond-spread", answer, _spread, cases, SPREAD_MISTAKES)


#: What people answer instead, by the hint they get.
HEADS_MISTAKES = {
    "the 2 in 2k(k − 1)/m stands for the m/2 pairs already.": 960,
    "k(k − 1), not k².": 640,
    "that is the number of pairs.": 240,
}


def check_heads(m: Answer) -> Feedback:
    """Exercise *How many heads make four outputs independent?*: smallest m with √(2k(k − 1)/(mδ)) ≤ 1, k = 4, δ = 0.05."""
    return judge_number(
        "ex-hypotheses-beyond-heads",
        m,
        480,
        HEADS_MISTAKES,
        "solve 2k(k − 1)/(mδ) = 1",
        "from 480 heads on Markov's inequality says so",
        tolerance=0.0,
        near=0.0,
    )
