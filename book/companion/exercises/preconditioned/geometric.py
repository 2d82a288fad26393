"""Exercises of the chapter *Geometric convergence*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _factor(s: list[float], f0: float, share: float = 2.0) -> float:
    root = math.sqrt(2 * f0)
    return 1 - share * (min(s) - root) / (2 * max(s) + 3 * root)


#: What people answer instead, by the hint they get.
FACTOR_MISTAKES = {
    "with η = 1/L the bracket 1 − ηL/2 is one half: 4η becomes 2η.": lambda s, f0: _factor(s, f0, 4.0),
    "the inequality has √(2f), not √f.": lambda s, f0: (
        1 - 2 * (min(s) - math.sqrt(f0)) / (2 * max(s) + 3 * math.sqrt(2 * f0))
    ),
    "the step must fit the whole sublevel set: L = 2s₁ + 3√(2f_0), not 2s₁.": lambda s, f0: (
        1 - (min(s) - math.sqrt(2 * f0)) / max(s)
    ),
    "that is the limit: at f_0 itself the inequality has s_d − √(2f_0), not s_d.": lambda s, f0: (
        1 - 2 * min(s) / (2 * max(s) + 3 * math.sqrt(2 * f0))
    ),
    "singular values come in any order: s₁ is the largest and s_d the smallest.": lambda s, f0: (
        1 - 2 * (s[-1] - math.sqrt(2 * f0)) / (2 * s[0] + 3 * math.sqrt(2 * f0))
    ),
    "that is the share which is lost; asked is what is left.": lambda s, f0: 1 - _factor(s, f0),
}


def check_factor(factor: Callable[[list[float], float], float]) -> Feedback:
    """Exercise *The guaranteed factor*: what a step of 1/L leaves of f_0; singular values, f_0 → a number."""
    cases = [
        (f"s = {s}, f_0 = {f0}", (s, f0))
        for s, f0 in (([1.0], 0.08), ([2.0, 0.5], 0.02), ([0.8, 1.5, 2.5], 0.3))
    ]
    return judge("ex-geometric-factor", factor, _factor, cases, FACTOR_MISTAKES)


#: What people answer instead, by the hint they get.
SAMPLES_MISTAKES = {
    "at 540 the two roots coincide, and the theorem asks for a strict inequality": 540,
    "that is where the basin s_d²/8 is protected; a smaller or larger one may be before": 640,
    "δ² is compared with a multiple of s_d³, not of s_d²": 271,
    "the maximum of ψ is (8/27)s_d³: at f = (2/9)s_d² one third of s_d is left in the bracket": 160,
}


def check_samples(n: Answer) -> Feedback:
    """Exercise *How many samples for a barrier?*: the smallest n with 20/n < (8/27)/8."""
    return judge_number(
        "ex-geometric-barrier",
        n,
        541,
        SAMPLES_MISTAKES,
        "the theorem asks for δ² below the maximum of ψ, (8/27)s_d³",
        "20/541 is just below 1/27",
        tolerance=0.0,
        near=0.0,
    )


#: What people answer instead, by the hint they get.
LENGTH_MISTAKES = {
    "that is the distance from the saddle: the start is nearer to the minimum": 1.0,
    "not proportional to φ_0: the gradient is weak near the saddle, and the way there long": 0.75,
    "a factor: the integral of (1 − φ)^{−1/2} is −2√(1 − φ)": 0.25,
    "length in both factors: X carries √2 times the change of each": 0.5 / 2**0.5,
}


def check_length(length: Answer) -> Feedback:
    """Exercise *How long is the way?*: √(2s_d)(1 − √(1 − φ_0)) at s_d = ½, φ_0 = ¾."""
    return judge_number(
        "ex-geometric-length",
        length,
        0.5,
        LENGTH_MISTAKES,
        "integrate df/‖∇f‖ with the smallest gradient that the inequality allows",
        "√(2s_d)(1 − √(1 − φ_0)), the straight way in the slice",
    )
