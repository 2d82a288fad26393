"""Exercises of the chapter *Beyond the theory*."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number

#: What people answer instead, by the hint they get.
PARTNERS_MISTAKES = {
    "hidden units have changed places; heads must, too, or a unit reads its partner's heads.": lambda V: V.roll(len(V) // 2, 0),
    "heads have changed places; hidden units must, too.": lambda V: V.roll(V.shape[1] // 2, 1),
    "that is the transpose: units and heads have been confused.": lambda V: V.transpose(0, 1),
    "it is the readout c that changes its sign, not V.": lambda V: -partners(V),
    "that reverses the order; partners are half the width apart.": lambda V: V.flip(0, 1),
}  # fmt: skip


def partners(V: Float[Tensor, "p m d"]) -> Float[Tensor, "p m d"]:
    """V of Rφ: V_{k'i'} in the place of V_{ki}."""
    return V.roll((len(V) // 2, V.shape[1] // 2), (0, 1))


def check_partners(answer: Callable[[Float64[Tensor, "p m d"]], Float64[Tensor, "p m d"]]) -> Feedback:
    """Exercise *A mirror for a shared layer*: V of φ → V of Rφ."""
    source = torch.Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, generator=source, dtype=torch.float64)
    cases = [
        ("two units, two heads, d = 1", (draw(2, 2, 1),)),
        ("four units, four heads", (draw(4, 4, 3),)),
        ("eight units, four heads", (draw(8, 4, 2),)),
    ]
    return judge("ex-beyond-mirror", answer, partners, cases, PARTNERS_MISTAKES)


#: What people answer instead, by the hint they get; arguments r, τ, κ, ‖Wq‖, ‖W‖.
REACH_MISTAKES = {
    "tokens move the mean and the weights at right angles in the worst case: squares add up.": lambda r, t, k, s, w: t * (1 + r * s) + k * r**2 * w,
    "the query moves, too.": lambda r, t, k, s, w: t * math.sqrt(1 + r**2 * s**2),
    "the weights move by ⟨δX, Wq⟩, and that is spread over tokens of length r: one r for each.": lambda r, t, k, s, w: t * math.sqrt(1 + s**2) + k * w,
    "the query's part is M W δq, and M is at most r².": lambda r, t, k, s, w: t * math.sqrt(1 + r**2 * s**2) + k * r * w,
    "the query has a speed of its own.": lambda r, t, k, s, w: t * (math.sqrt(1 + r**2 * s**2) + r**2 * w),
}  # fmt: skip


def reach(r: float, t: float, k: float, s: float, w: float) -> float:
    """τ√(1 + r²s²) + κr²w.

    Args:
        r: bound on the tokens, above 0.
        t: τ, their speed, at least 0.
        k: κ, the query's speed, at least 0.
    """
    return t * math.sqrt(1 + r**2 * s**2) + k * r**2 * w


def check_reach(answer: Callable[[float, float, float, float, float], float]) -> Feedback:
    """Exercise *Tokens outside the unit ball*: the bound of Proposition W, attention, for two speeds; r, τ, κ, ‖Wq‖, ‖W‖_op → the bound."""
    cases = [
        ("r = 2, τ = 1, κ = ½, ‖Wq‖ = 1, ‖W‖ = 3", (2.0, 1.0, 0.5, 1.0, 3.0)),
        ("the unit ball", (1.0, 1.0, 2.0, 0.5, 0.5)),
        ("no attention, W = 0", (1.5, 2.0, 1.0, 0.0, 0.0)),
    ]
    return judge("ex-beyond-reach", answer, reach, cases, REACH_MISTAKES)


#: What people answer instead, by the hint they get.
CAUSAL_MISTAKES = {
    "that is the average without padding, or at the second copy.": 0.0,
    "the first token is +e, and both of its copies are seen.": -1 / 3,
    "a query sees its own token, too.": 1.0,
}


def check_causal(answer: Answer) -> Feedback:
    """Exercise *Padding under a mask*: the average at the first copy of the second token, as a multiple of e."""
    return judge_number(
        "ex-beyond-causal",
        answer,
        1 / 3,
        CAUSAL_MISTAKES,
        "W = 0 makes all weights equal: average what a mask lets the query see.",
        "e, e and -e are seen: a third of e, and not 0.",
    )


#: What people answer instead, by the hint they get.
SHIFT_MISTAKES = {
    "only the m/2 heads of one network push, and the stream divides by √(m/2).": 2.0,
    "one factor √(1/2) went in twice: (m/2) · (m/2)^(-1/2) · m^(-1/2) = 1/√2.": 1.0,
}


def check_shift(answer: Answer) -> Feedback:
    """Exercise *How far a stream can be pushed*: the length of Δ for ρ_c = 2 and |σ| = 1."""

    def otherwise(number: float) -> str:
        if not number > 0:
            return "a length that does not vanish is above 0."
        return "add m/2 equal pushes of length 2/√m, and divide by √(m/2)."

    return judge_number(
        "ex-beyond-shift",
        answer,
        math.sqrt(2),
        SHIFT_MISTAKES,
        otherwise,
        "2/√2 = √2, whatever the width.",
        tolerance=1e-3 * math.sqrt(2),
        begin="add m/2 equal pushes of length 2/√m, and divide by √(m/2).",
    )
