"""Exercises of the chapter *Constants, enclosed*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number

#: What people answer instead, by the hint they get; arguments mid, low, high, h.
PIECE_MISTAKES = {
    "that looks to the right only: f may rise to the left as well.": lambda mid, low, high, h: mid + h * high,
    "that looks to the left only: f may rise to the right as well.": lambda mid, low, high, h: mid - h * low,
    "h is half of the length already.": lambda mid, low, high, h: mid + h / 2 * max(high, -low),
    "from the midpoint it is half of the length to either end.": lambda mid, low, high, h: (
        mid + 2 * h * max(high, -low)
    ),
    "that is a lower bound.": lambda mid, low, high, h: mid - h * max(high, -low),
}


def piece_bound(mid: float, low: float, high: float, h: float) -> float:
    """The largest value on a piece of half length h > 0 that a value ``mid`` at its midpoint and bounds on the slope allow."""
    return mid + h * max(high, -low)


def check_piece_bound(answer: Callable[[float, float, float, float], float]) -> Feedback:
    """Exercise *One piece*: mid, low, high, h → the bound."""
    cases = [
        ("a slope that may have either sign", (1.0, -1.0, 3.0, 0.5)),
        ("a steeper way to the left", (1.0, -4.0, 2.0, 0.5)),
        ("a rising function", (0.0, 0.5, 2.0, 0.25)),
    ]
    return judge("ex-enclosed-piece", answer, piece_bound, cases, PIECE_MISTAKES)


def _chord(p: float, P: float, q: float, Q: float) -> tuple[float, float]:
    """Height a at 0 and slope b of the chord."""
    b = (Q - P) / (q - p)
    return P - b * p, b


#: What people answer instead, by the hint they get; arguments p, P, q, Q.
CHORD_MISTAKES = {
    "a chord over λ² can be larger inside than at both ends.": lambda p, P, q, Q: max(P / p**2, Q / q**2),
    "that is the staircase: it uses that Ψ is nondecreasing, and not that it is convex.": lambda p, P, q, Q: Q / p**2,
    "that is the chord's top, which counts only if it lies on the piece.": lambda p, P, q, Q: (
        -(_chord(p, P, q, Q)[1] ** 2) / (4 * _chord(p, P, q, Q)[0])
    ),
    "that is the middle of the piece; the top lies elsewhere.": lambda p, P, q, Q: 2 * (P + Q) / (p + q) ** 2,
}  # fmt: skip


def chord_bound(p: float, P: float, q: float, Q: float) -> float:
    """The maximum over p ≤ λ ≤ q of the chord from (p, P) to (q, Q) over λ², all above 0."""
    a, b = _chord(p, P, q, Q)
    ends = max(P / p**2, Q / q**2)
    return max(ends, -(b**2) / (4 * a)) if a < 0 and p < -2 * a / b < q else ends


def check_chord_bound(answer: Callable[[float, float, float, float], float]) -> Feedback:
    """Exercise *The top of a chord*: p, P, q, Q → the bound."""
    cases = [
        ("a parabola", (1.0, 1.0, 2.0, 4.0)),
        ("a steep piece", (1.0, 1.0, 1.5, 4.0)),
        ("a flat one", (1.0, 2.0, 2.0, 3.0)),
    ]
    return judge("ex-enclosed-chord", answer, chord_bound, cases, CHORD_MISTAKES)


def check_steepest(steepest: Answer) -> Feedback:
    """Exercise *Another activation*: sup |σ′| of GELU."""
    density = math.exp(-1.0) / math.sqrt(2 * math.pi)
    right = (1 + math.erf(1.0)) / 2 + math.sqrt(2) * density
    mistakes = {
        "that is the limit at infinity; on the way there the slope is larger.": 1.0,
        "that is the slope at 1; it still rises there.": (1 + math.erf(0.5**0.5)) / 2
        + math.exp(-0.5) / math.sqrt(2 * math.pi),
        "that is the smallest slope; asked for is the largest absolute value.": 1 - right,
        "that is the largest second derivative.": 2 / math.sqrt(2 * math.pi),
    }
    otherwise = "nine digits are wanted: the slope is Φ(x) + xφ(x); where does its derivative vanish?"
    return judge_number(
        "ex-enclosed-gelu", steepest, right, mistakes, otherwise, f"{right:.9f}", tolerance=2e-9, near=1e-4
    )
