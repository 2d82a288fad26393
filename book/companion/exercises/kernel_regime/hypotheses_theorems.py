"""Exercises of the page *What each hypothesis is for: the theorems of the kernel regime*."""

from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number

#: Instance → the hypothesis of Theorem A that it breaks, 0 for none.
BROKEN = {"A": 1, "B": 2, "C": 0, "D": 0, "E": 4, "F": 3, "G": 1, "H": 0}

#: What people answer instead, by the hint they get.
BROKEN_MISTAKES = {
    "C: a comparator may miss the label; ε says by how much. It must lie in Ω.": lambda name: {**BROKEN, "C": 2}[name],
    "D: no label has to be reached; ε takes care of it.": lambda name: {**BROKEN, "D": 2}[name],
    "G: not η counts but θ = ηĀ², and here A² = 9.": lambda name: {**BROKEN, "G": 0}[name],
    "H: not η counts but θ = ηĀ², and here A² = 1/100.": lambda name: {**BROKEN, "H": 1}[name],
    "E: each of the two steps is on one sample.": lambda name: {**BROKEN, "E": 0}[name],
    "F: is the segment between two points of a circle part of it?": lambda name: {**BROKEN, "F": 0}[name],
}  # fmt: skip


def _broken(name: str) -> int:
    """The hypothesis of Theorem A that an instance breaks."""
    return BROKEN[name]


def check_broken(answer: Callable[[str], int]) -> Feedback:
    """Exercise *Which one of Theorem A?*: the name of an instance → the number of a hypothesis."""
    cases = [(f"instance {name}", (name,)) for name in BROKEN]
    return judge("ex-hypotheses-theorems-which", answer, _broken, cases, BROKEN_MISTAKES, slips=False)


def _radius(h: list[float]) -> float:
    """Mean of the squares over the mean size."""
    return sum(value**2 for value in h) / sum(abs(value) for value in h)


#: What people answer instead, by the hint they get.
RADIUS_MISTAKES = {
    "that is the label. How large does f get if every readout moves by ρ_c/√m the right way?": lambda h: sum(value**2 for value in h) / len(h),
    "a readout may move against the sign of its head: sizes count, not the heads themselves.": lambda h: sum(value**2 for value in h) / abs(sum(h)),
    "that is the mean size of a head; the label must be reached.": lambda h: sum(abs(value) for value in h) / len(h),
    "the box allows each readout its own ρ_c/√m; it is not one ball for all.": lambda h: (sum(value**2 for value in h) / len(h)) ** 0.5,
    "that is the sup norm of the mapping, which is enough; less will do.": lambda h: max(abs(value) for value in h),
}  # fmt: skip


def check_radius(radius: Callable[[list[float]], float]) -> Feedback:
    """Exercise *How much fence is needed?*: the values of the heads at the token → the smallest ρ_c.

    Args:
        radius: list of numbers, not all 0 → a number.
    """
    cases = [
        ("two heads", ([0.5, -0.25],)),
        ("three", ([0.9, 0.1, -0.3],)),
        ("equal ones", ([0.4, 0.4, 0.4, -0.4],)),
        ("one that is small", ([0.8, -0.01],)),
    ]
    return judge("ex-hypotheses-theorems-fence", radius, _radius, cases, RADIUS_MISTAKES)


#: What people answer instead, by the hint they get.
HEADS_MISTAKES = {
    "at 28 the bound is still above 1.": 28,
    "that is 8 log(2/δ), not rounded up to an even number.": 29.511,
    "nearly: heads come in pairs.": 31,
    "the root has a factor 2 under it: 2√(2 log(2n/δ)/m).": 16,
    "that is the number of pairs.": 15,
}


def check_heads(m: Answer) -> Feedback:
    """Exercise *One token against all heads*: the smallest even m with 2√(2 log(2/δ)/m) < 1, δ = 0.05."""
    return judge_number(
        "ex-hypotheses-theorems-seen",
        m,
        30,
        HEADS_MISTAKES,
        "the error is 1; solve B_app < 1 for n = 1 and ν̄ = (1, 0, 0)",
        "from 30 heads on one token that looks at them breaks the bound of Lemma 5",
        tolerance=0.0,
        near=0.0,
    )
