"""Exercises of the chapter *On real sequences*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Feedback, judge


def heads_needed(band: float, m: int, size: float, larger: float, allowed: float) -> int:
    """The smallest even number of heads with band·(m/heads)·(larger/size)² ≤ allowed, where E/μ = band at m heads and labels of that size."""
    return 2 * math.ceil(m * band / allowed * (larger / size) ** 2 / 2)


#: What people answer instead, by the hint they get; arguments band, m, size, larger, allowed.
HEADS_MISTAKES = {
    "E grows like the cube of the labels, but μ grows with them.": lambda band, m, size, larger, allowed: (
        2 * math.ceil(m * band / allowed * (larger / size) ** 3 / 2)
    ),
    "moves grow with the labels, and what they cost is of third order in them: E/μ is not linear in the labels.": (
        lambda band, m, size, larger, allowed: 2 * math.ceil(m * band / allowed * larger / size / 2)
    ),
    "partners cancel: E falls like 1/m, not like the root of it.": lambda band, m, size, larger, allowed: (
        2 * math.ceil(m * (band / allowed * (larger / size) ** 2) ** 2 / 2)
    ),
    "heads come in pairs: the number must be even, and large enough.": lambda band, m, size, larger, allowed: (
        m * band / allowed * (larger / size) ** 2
    ),
}


def check_heads_needed(answer: Callable[[float, int, float, float, float], int]) -> Feedback:
    """Exercise *What larger labels cost in heads*: band, m, size, larger, allowed → an even number of heads."""
    cases = [
        ("the same labels, a band that is to be halved", (0.02, 64, 0.1, 0.1, 0.0101)),
        ("labels three times as large", (0.05, 64, 0.1, 0.3, 0.05001)),
        ("labels ±1 instead of ±0.04", (0.006, 1024, 0.04, 1.0, 0.1)),
        ("fewer heads will do", (0.01, 256, 0.1, 0.1, 0.1)),
    ]
    return judge("ex-real-sequences-heads", answer, heads_needed, cases, HEADS_MISTAKES)
