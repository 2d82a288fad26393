"""Exercises of the chapter *Constants, enclosed*."""

from collections.abc import Callable

from shallowformer.exercises.feedback import Feedback, judge


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
    """The maximum over p ≤ λ ≤ q of the chord from (p, P) to (q, Q) over λ².

    Args:
        p: left end, above 0.
        P: value there, above 0.
        q: right end, above ``p``.
        Q: value there, above 0.
    """
    a, b = _chord(p, P, q, Q)
    ends = max(P / p**2, Q / q**2)
    return max(ends, -(b**2) / (4 * a)) if a < 0 and p < -2 * a / b < q else ends


def check_chord_bound(answer: Callable[[float, float, float, float], float]) -> Feedback:
    """Exercise *The top of a chord*: the bound from p, P, q, Q.

    Args:
        answer: p, P, q, Q → the bound.
    """
    cases = [
        ("a parabola", (1.0, 1.0, 2.0, 4.0)),
        ("a steep piece", (1.0, 1.0, 1.5, 4.0)),
        ("a flat one", (1.0, 2.0, 2.0, 3.0)),
    ]
    return judge("ex-enclosed-chord", answer, chord_bound, cases, CHORD_MISTAKES)
