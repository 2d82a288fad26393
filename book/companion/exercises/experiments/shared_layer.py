"""Exercises of the chapter *A shared feed-forward layer*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Feedback, judge

#: What people answer instead, by the hint they get; arguments N, m, ρ_u, ρ_w, θ.
COUNT_MISTAKES = {
    "squares of moves add up to Z²: each of the K units has θ² of it.": lambda N, m, u, w, t: (u + w * (N + u) / math.sqrt(m)) / t,
    "the norm on the way is N + ρ_u.": lambda N, m, u, w, t: ((u + w * N / math.sqrt(m)) / t) ** 2,
    "attention's part is divided by the root of the number of heads.": lambda N, m, u, w, t: ((u + w * (N + u)) / t) ** 2,
    "that is Z², not yet a number of units.": lambda N, m, u, w, t: (u + w * (N + u) / math.sqrt(m)) ** 2,
    "hidden weights move the units, too.": lambda N, m, u, w, t: (w * (N + u) / math.sqrt(m) / t) ** 2,
}  # fmt: skip


def count(N: float, m: int, u: float, w: float, t: float) -> float:
    """Z²/θ² with Z = ρ_u + ρ_w(N + ρ_u)/√m."""
    return ((u + w * (N + u) / math.sqrt(m)) / t) ** 2


def check_count(answer: Callable[[float, int, float, float, float], float]) -> Feedback:
    """Exercise *How many units can be moved?*: N, m, ρ_u, ρ_w, θ → the largest number of units, not rounded."""
    cases = [
        ("N = 10, m = 4, ρ_u = 1, ρ_w = 2, θ = ½", (10.0, 4, 1.0, 2.0, 0.5)),
        ("attention held", (10.0, 4, 1.0, 0.0, 2.0)),
        ("many heads", (30.0, 400, 0.5, 3.0, 0.1)),
    ]
    return judge("ex-shared-count", answer, count, cases, COUNT_MISTAKES)


#: What people answer instead, by the hint they get; arguments N, m, ρ_u, ρ_w, r.
LONGER_MISTAKES = {
    "the covariance of points in a ball of radius r is at most r², not r.": lambda N, m, u, w, r: r * u + r**2 * w * (N + u) / math.sqrt(m),
    "attention itself has length up to r: the part of V is larger, too.": lambda N, m, u, w, r: u + r**3 * w * (N + u) / math.sqrt(m),
    "both parts are not larger by the same factor: follow a and a′ separately.": lambda N, m, u, w, r: r**3 * (u + w * (N + u) / math.sqrt(m)),
    "only a was made longer; attention's move has a covariance and the query in it.": lambda N, m, u, w, r: r * (u + w * (N + u) / math.sqrt(m)),
}  # fmt: skip


def longer(N: float, m: int, u: float, w: float, r: float) -> float:
    """Z = rρ_u + r³ρ_w(N + ρ_u)/√m."""
    return r * u + r**3 * w * (N + u) / math.sqrt(m)


def check_longer(answer: Callable[[float, int, float, float, float], float]) -> Feedback:
    """Exercise *Longer tokens*: N, m, ρ_u, ρ_w, r → Z for tokens of length up to r."""
    cases = [
        ("N = 10, m = 4, ρ_u = 1, ρ_w = 2, r = 2", (10.0, 4, 1.0, 2.0, 2.0)),
        ("the unit ball", (10.0, 4, 1.0, 2.0, 1.0)),
        ("short tokens", (6.0, 16, 0.5, 3.0, 0.3)),
    ]
    return judge("ex-shared-radius", answer, longer, cases, LONGER_MISTAKES)


#: What people answer instead, by the hint they get; argument β.
EXPONENT_MISTAKES = {
    "with many units per head the norm of V is about √p, not √m: Z grows.": lambda b: max(-b / 2, -0.5),
    "that is for β ≤ 1 only.": lambda b: -b / 2,
    "Z stands squared over √p: twice (β − 1)/2, less β/2.": lambda b: max(-b / 2, -0.5 + (b - 1) / 4),
    "a smaller exponent is a smaller bound: write the power of m, which is negative where the bound falls.": lambda b: min(b / 2, 1 - b / 2),
}  # fmt: skip


def exponent(b: float) -> float:
    """max(−β/2, β/2 − 1)."""
    return max(-b / 2, b / 2 - 1)


def check_exponent(answer: Callable[[float], float]) -> Feedback:
    """Exercise *How wide should the layer be?*: β → the exponent of m in Theorem G's bound for p = m^β."""
    cases = [
        ("few units, β = ½", (0.5,)),
        ("as many as heads", (1.0,)),
        ("β = 1.6", (1.6,)),
        ("β = 3, where the bound grows", (3.0,)),
    ]
    return judge("ex-shared-split", answer, exponent, cases, EXPONENT_MISTAKES)
