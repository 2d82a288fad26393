"""Exercises of the chapter *No log n, no log m, no d*."""

import math
from collections.abc import Callable, Sequence

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _turn(a: Sequence[float], x: float, y: float) -> float:
    f = lambda t: a[0] + a[1] * t + a[2] * t**2 + a[3] * t**3
    slope = lambda t: a[1] + 2 * a[2] * t + 3 * a[3] * t**2
    return f(x) + slope(x) * (y - x) - f(0) - slope(0) * y


#: What people answer instead, by the hint they get.
TURN_MISTAKES = {
    "that is f − f_lin at x: read the tangent at y, not at x.": lambda a, x, y: a[2] * x**2 + a[3] * x**3,
    "the lever arm is y − tx, which shrinks as the point of contact moves on; you kept it at y.": lambda a, x, y: 2 * a[2] * x * y + 3 * a[3] * x**2 * y,
    "that is the reading at x alone: subtract f(0) + f′(0) y.": lambda a, x, y: _turn(a, x, y) + a[0] + a[1] * y,
    "the sign: the reading at x less the reading at 0.": lambda a, x, y: -_turn(a, x, y),
}  # fmt: skip


def check_turn(turn: Callable[[Sequence[float], float, float], float]) -> Feedback:
    """Exercise *Two legs, one integral*: 2a₂x(y − x/2) + 6a₃x²(y/2 − x/3); coefficients, x, y → the change of the tangent's reading."""
    cases = [
        ("f = t², x = 1, y = 3", ((0.0, 0.0, 1.0, 0.0), 1.0, 3.0)),
        ("f = t³, x = 2, y = −1", ((0.0, 0.0, 0.0, 1.0), 2.0, -1.0)),
        ("f = 1 − 2t + t²/2 + t³/3, x = 0.7, y = 1.9", ((1.0, -2.0, 0.5, 1 / 3), 0.7, 1.9)),
    ]
    return judge("ex-no-logs-turn", turn, _turn, cases, TURN_MISTAKES)


def _heads_for(excess: float, delta: float) -> float:
    u = (math.sqrt(3 + 4 * excess) - math.sqrt(3)) / 4
    return math.log(1 / delta) / u**2


#: What people answer instead, by the hint they get.
HEADS_MISTAKES = {
    "you dropped the term 4x/m; it counts for a large excess.": lambda e, d: 12 * math.log(1 / d) / e**2,
    "that is u = √(x/m); solve for m.": lambda e, d: (math.sqrt(3 + 4 * e) - math.sqrt(3)) / 4,
    "e^{−x} = δ, so x = log(1/δ), not 1/δ.": lambda e, d: _heads_for(e, d) / math.log(1 / d) / d,
    "that is the bound without tanh's improvement, 2√(2x/m).": lambda e, d: math.log(1 / d) * 16 / (math.sqrt(2 + 4 * e) - math.sqrt(2)) ** 2,
}  # fmt: skip


def check_heads_for(heads_for: Callable[[float, float], float]) -> Feedback:
    """Exercise *How wide for a given certainty?*: m with 2√(3x/m) + 4x/m = excess, x = log(1/δ); excess, δ → m."""
    cases = [(f"excess {e:g}, δ = {d:g}", (e, d)) for e, d in ((1.0, 0.05), (0.1, 0.05), (5.0, 1e-6))]
    return judge("ex-no-logs-width", heads_for, _heads_for, cases, HEADS_MISTAKES)


#: What people answer instead, by the hint they get.
SLOPE_MISTAKES = {
    "the size is right; it falls, so the slope is negative": 1.0,
    "that needs heads that conspire; draw the displacement of every block at random": -0.5,
}


def check_slope(slope: Answer) -> Feedback:
    """Exercise *Break the pairing*: at a random point the turn falls like 1/m."""
    return judge_number(
        "ex-no-logs-slope",
        slope,
        -1.0,
        SLOPE_MISTAKES,
        lambda number: (
            f"{number:g} is not it; use root mean squares over inputs, and tens of seeds at each width"
        ),
        "about −1: independent signs average out",
        tolerance=0.15,
        near=0.25,
        begin="one width at a time: root mean square of the turn over inputs and seeds; then the slope of its logarithm in log m.",
    )


def more_heads(part: str, k: float, inputs: float) -> float:
    """How many times as many heads divide the bound on a part by k, at leading order in m.

    Args:
        part: ``"level"``, ``"turn"`` (of any point, Theorem B), or ``"paired turn"`` (along a run, Theorem D).
        inputs: factor by which their number grows; it does not enter.
    """
    return k if part == "paired turn" else k**2


#: What people answer instead, by the hint they get; arguments part, k and the factor of the inputs.
MORE_HEADS_MISTAKES = {
    "of a paired run the bound on the turn is of order 1/m: k times as many heads divide it by k.": lambda part, k, inputs: k**2,
    "only the turn is of order 1/m, and only for pairs; what m heads get wrong at the start falls like m^{−1/2}.": lambda part, k, inputs: k,
    "pairs do not help the level: it is there before the first step.": lambda part, k, inputs: k**2 if part == "turn" else k,
    "Theorem B's bound on the turn is of order m^{−1/2}; pairs have to be followed along the run for 1/m.": lambda part, k, inputs: k**2 if part == "level" else k,
    "nothing is paid for more inputs: the loss is an average, and an average needs no union bound.": lambda part, k, inputs: more_heads(part, k, inputs) * (1 + math.log(inputs)),
    "to halve m^{−1/2} takes 4 times as many heads: a square, not a root.": lambda part, k, inputs: k if part == "paired turn" else k**0.5,
}  # fmt: skip


def check_more_heads(answer: Callable[[str, float, float], float]) -> Feedback:
    """Exercise *What more heads buy*: the factor in m that divides the bound on a part by k; part, k, factor of the inputs → a number."""
    cases = [
        (f"the {part} to a {name}, {inputs:g} times as many inputs", (part, k, inputs))
        for part, k, name, inputs in (
            ("level", 2.0, "half", 1.0),
            ("turn", 3.0, "third", 10.0),
            ("paired turn", 10.0, "tenth", 1.0),
            ("level", 10.0, "tenth", 100.0),
            ("paired turn", 3.0, "third", 10.0),
        )
    ]
    return judge("ex-no-logs-heads", answer, more_heads, cases, MORE_HEADS_MISTAKES)
