"""Exercises of the chapter *A dispute*."""

import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Feedback, judge

#: What people answer instead, by the hint they get.
ENOUGH_MISTAKES = {
    "that many are needed at least; where inputs are not parallel the variance of a product of two switches is larger.": lambda e: (
        2 / e**2
    ),
    "units come in pairs: m units are m/2 draws.": lambda e: 3 / e**2,
    "the mean square falls like 1/m, so the error like its root.": lambda e: 6 / e,
    "the error is of the kernel, relative; no root of a root.": lambda e: 6 / e**4,
}


def units_enough(epsilon: float) -> float:
    """Units for a root mean square relative error of the kernel of at most ε, whatever the pictures: 6/ε²."""
    return 6 / epsilon**2


def check_units_enough(answer: Callable[[float], float]) -> Feedback:
    """Exercise *Whatever the pictures*: how many units are enough for a relative error of the kernel; ε → m."""
    cases = [("ten per cent", (0.1,)), ("one per cent", (0.01,)), ("a half", (0.5,))]
    return judge("ex-dispute-enough", answer, units_enough, cases, ENOUGH_MISTAKES)


#: What people answer instead, by the hint they get; arguments are m and the scale of the start.
SMALL_START_MISTAKES = {
    "the labels grow by the factor by which the start shrinks, and the width stands under a root beside them.": lambda m, s: (
        m * s
    ),
    "the other way round: a smaller start makes relatively larger labels, as fewer units do.": lambda m, s: (
        m / s**2
    ),
    "the labels enter the bound as ‖y‖ over √m, both to the same power.": lambda m, s: m * s**4,
    "the network is not the same: its units switch after shorter moves.": lambda m, s: m,
}


def same_width(m: float, scale: float) -> float:
    """Units with weights of variance 1 that behave as m whose weights are smaller by a factor: m s²."""
    return m * scale**2


def check_same_width(answer: Callable[[float, float], float]) -> Feedback:
    """Exercise *A small start*: units at scale 1 for which the bound says the same; m, scale → number."""
    cases = [("a tenth of the weights", (1000, 0.1)), ("a hundredth", (4096, 0.01)), ("twice", (100, 2.0))]
    return judge("ex-dispute-start", answer, same_width, cases, SMALL_START_MISTAKES)


#: What people answer instead, by the hint they get; arguments are θ, κ and the number of layers.
LAYERS_MISTAKES = {
    "that is one layer: a layer cubes the singular values that it is given.": lambda t, k, n: 2 * math.atan(math.tan(t / 2) / k),
    "a layer's own Gram matrix is the cube of the last one's, so later layers contract more.": lambda t, k, n: 2 * math.atan(math.tan(t / 2) / k**n),
    "the inputs carry one factor already: of 3ᵏ singular values one is the input's own, the others come in pairs.": lambda t, k, n: 2 * math.atan(math.tan(t / 2) / k ** (3**n / 2)),
    "κ is the quotient of squares of singular values.": lambda t, k, n: 2 * math.atan(math.tan(t / 2) / k ** (3**n - 1)),
    "tangents of half the angles are what is divided.": lambda t, k, n: t / k ** ((3**n - 1) / 2),
}  # fmt: skip


def angle_after(theta: float, kappa: float, layers: int) -> float:
    """The smallest angle that k layers X ↦ X Xᵀ X can leave of θ: 2 arctan(tan(θ/2) κ^{−(3ᵏ−1)/2})."""
    return 2 * math.atan(math.tan(theta / 2) / kappa ** ((3**layers - 1) / 2))


def check_angle_after(answer: Callable[[float, float, int], float]) -> Feedback:
    """Exercise *Layer upon layer*: the smallest angle left; θ, κ, layers → angle."""
    cases = [
        ("one layer", (0.7, 3.0, 1)),
        ("two layers", (1.2, 2.0, 2)),
        ("a right angle, three", (math.pi / 2, 1.2, 3)),
    ]
    return judge("ex-dispute-layers", answer, angle_after, cases, LAYERS_MISTAKES)
