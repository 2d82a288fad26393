"""Exercises of the chapter *Why every step helps*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _log_pull(h: float) -> float:
    return -abs(h) - 2 * math.log1p(math.exp(-abs(h)))


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


#: What people answer instead, by the hint they get.
LOG_PULL_MISTAKES = {
    "that is log σ(−|h|): the other factor, log σ(|h|), is missing.": lambda h: (
        -abs(h) - math.log1p(math.exp(-abs(h)))
    ),
    "both factors have the denominator 1 + e^{−|h|}: it comes twice.": lambda h: -abs(h),
    "a sign: the pull fades on both sides, like e^{−|h|}.": lambda h: (
        abs(h) - 2 * math.log1p(math.exp(-abs(h)))
    ),
    "that is the logarithm of σ(h) alone: the other factor, σ(−h), is missing.": lambda h: -_softplus(-h),
    "σ(h) twice: the second factor has −h.": lambda h: -2 * _softplus(-h),
    "that is the pull itself; its logarithm is asked for.": lambda h: math.exp(_log_pull(h)),
}


def check_log_pull(log_pull: Callable[[float], float]) -> Feedback:
    """Exercise *A pull that does not underflow*: log σ(h)σ(−h); a number → a number."""
    cases = [(f"h = {h:g}", (h,)) for h in (0.0, 1.5, -2.0, 40.0, 1000.0, -1000.0)]
    return judge("ex-every-step-pull", log_pull, _log_pull, cases, LOG_PULL_MISTAKES)


#: What people answer instead, by the hint they get.
OVERLAP_MISTAKES = {
    "the limit is the smaller squared length, 4, and the cosine is −⟨E₁, E₂⟩ over −‖E₁‖‖E₂‖ = −6: opposite E are too much": 180.0,
    "up to a right angle no step pushes another sample at all; more is harmless": 90.0,
    "a sign: the angle is beyond a right angle": math.degrees(math.acos(2 / 3)),
    "the lengths are 3 and 2: divide 4 by 3 · 2, not by 9 · 4": math.degrees(math.acos(-1 / 9)),
    "the lengths are 3 and 2: divide 4 by their product 6, not by 9": math.degrees(math.acos(-4 / 9)),
    "the limit is the smaller squared length, 4, not the length, 2": math.degrees(math.acos(-1 / 3)),
    "give the angle in degrees": math.acos(-2 / 3),
}


def check_overlap(angle: Answer) -> Feedback:
    """Exercise *Harmless overlaps*: arccos(−2/3) in degrees."""
    return judge_number(
        "ex-every-step-overlap",
        angle,
        math.degrees(math.acos(-2 / 3)),
        OVERLAP_MISTAKES,
        "no start loses a sample if and only if −⟨E₁, E₂⟩ is at most the smaller squared length",
        "−⟨E₁, E₂⟩ = 4 where the cosine is −2/3",
        tolerance=0.1,
    )


#: What people answer instead, by the hint they get.
COPIES_MISTAKES = {
    "r is whole, and 8 < 3e": 8,
    "that is 3e, where equality holds; r is whole": 3 * math.e,
    "that is where the flow may lose it at the earliest; the cone argument needs 𝗊/r ≤ 1/3 with 𝗊 = e": 3,
    "𝗊 = e^{−2} is that of the example's scores; with ½ and −½ it is e^{1/2}/e^{−1/2} = e, and e/r ≤ 1/3": 1,
    "a sign: 𝗊 = Δ₁e^{−γ₁}/(Δ₂e^{−γ₂,opt}) = e^{1/2}/e^{−1/2} is e, not 1/e": 2,
    "that is what runs show; the cone argument needs more, 𝗊/r ≤ 1/3 with 𝗊 = e": 5,
    "the other bound: (c − g₂)/(g₁ − c) = 1/3, not 1/5": 14,
}


def check_copies(r: Answer) -> Feedback:
    """Exercise *How many against one?*: the smallest r with e/r ≤ 1/3."""
    return judge_number(
        "ex-every-step-copies",
        r,
        9,
        COPIES_MISTAKES,
        "in the cone w₁/(r w₂) ≤ 𝗊/r, and 𝗊 = e here",
        "3e is between 8 and 9",
        tolerance=0.0,
        near=0.001,
    )
