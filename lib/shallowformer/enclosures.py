"""Interval arithmetic: maxima and roots of functions of one variable, enclosed.

Numbers are balls (``flint.arb``): a midpoint and a radius that holds all rounding. A function here maps a ball to a ball that
contains all its values on the first one.
"""

import heapq
import math
from collections.abc import Callable
from itertools import count

from flint import arb, arb_series

from shallowformer.contracts import Positive, contract

Function = Callable[[arb], arb]


def hull(low: arb | float, high: arb | float) -> arb:
    """The smallest ball that holds two numbers."""
    return arb(low).union(arb(high))


def ends(ball: arb) -> tuple[float, float]:
    """Floating-point numbers at most and at least all numbers of a ball."""
    if not ball.is_finite():
        raise ValueError(f"ball must be finite, got {ball}")
    low, high = float(ball.lower()), float(ball.upper())
    return math.nextafter(low, -math.inf), math.nextafter(high, math.inf)


@contract
def maximum(f: Function, low: float, high: float, accuracy: Positive = 1e-12) -> arb:
    """The maximum of a differentiable function on an interval, by branch and bound, to a radius of ``accuracy``.

    On a piece with midpoint c the values are at most f(c) + sup|f′| · half of its length; where f′ has one sign, the value at an end.
    The piece with the highest bound is halved until that bound is hardly above a value that is attained.

    Args:
        f: the function; it is called with truncated Taylor series as well.
    """
    if not low < high:
        raise ValueError(f"low must be below high, got {low} and {high}")
    attained, pieces, order = arb("-inf"), [], count()

    def add(a: arb, b: arb) -> None:
        nonlocal attained
        slope = f(arb_series([hull(a, b), 1], prec=2))[1]
        if not slope.is_finite():  # as of a root of what is positive, which a wide ball does not show
            heapq.heappush(pieces, (-math.inf, next(order), a, b))
            return
        at = b if slope >= 0 else a if slope <= 0 else (a + b) / 2
        value = f(at)
        attained = attained.max(value.lower())
        over = arb(0) if slope >= 0 or slope <= 0 else abs(slope) * (b - a) / 2
        heapq.heappush(pieces, (-ends(value + over)[1], next(order), a, b))

    add(arb(low), arb(high))
    for _ in range(10**4):
        highest, _, a, b = heapq.heappop(pieces)
        if -highest - attained < accuracy:
            return hull(attained, -highest)
        add(a, (a + b) / 2)
        add((a + b) / 2, b)
    raise ArithmeticError(f"accuracy must be within reach, got {accuracy:g} for a maximum near {attained}")


@contract
def root(f: Function, low: float, high: float, accuracy: Positive = 1e-12) -> arb:
    """A root of a continuous f between two points at which its signs are different, the only one if f is monotone, by bisection.

    Args:
        accuracy: largest radius of the result.
    """
    a, b = arb(low), arb(high)
    rising = f(b) > 0
    if not (f(a) < 0 < f(b) or f(b) < 0 < f(a)):
        raise ValueError(f"f must have different signs at low and high, got {f(a)} and {f(b)}")
    while b - a > accuracy:
        middle = ((a + b) / 2).mid()
        value = f(middle)
        if value > 0:
            a, b = (a, middle) if rising else (middle, b)
        elif value < 0:
            a, b = (middle, b) if rising else (a, middle)
        else:
            raise ArithmeticError(f"accuracy must be within reach, got {accuracy:g} for a root near {middle}")
    return hull(a, b)
