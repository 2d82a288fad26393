"""Elementary functions for formulas that are written once: of a number, of a tensor entry by entry, or of a symbol.

Roots are ``x**0.5``, which all three know. A symbol is an expression of sympy; it stands for any number that is allowed in its place.
What is computed with symbols is a formula, which can be printed in another language (``convergence.calculator``).
"""

import math
import sys
from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor

#: What formulas are evaluated at, symbols apart.
Number = float | Float[Tensor, "..."]
#: Replaces a denominator that is 0 where the numerator is 0 as well; it is above 0 also in single precision.
TINY = 1e-37


def is_symbol(value: object) -> bool:
    """Whether a value is an expression of sympy."""
    return hasattr(value, "free_symbols")


def log(x):
    """Natural logarithm of a number, a tensor, or a symbol above 0."""
    if isinstance(x, Tensor):
        return x.log()
    return sys.modules["sympy"].log(x) if is_symbol(x) else math.log(x)


def maximum(x, y):
    """The larger of two values: x a number, a tensor, or a symbol, y a number or a symbol."""
    if isinstance(x, Tensor):
        return x.clamp(min=y)
    return sys.modules["sympy"].Max(x, y) if is_symbol(x) or is_symbol(y) else max(x, y)


def minimum(x, y):
    """The smaller of two values: x a number, a tensor, or a symbol, y a number or a symbol."""
    return -maximum(-x, -y)


def when(condition, value: Callable, otherwise):
    """A value that exists only where a condition holds: a number, or, for an inequality between symbols, a formula with both cases.

    Args:
        value: gives the value; not called where the condition is false.
    """
    if is_symbol(condition):
        return sys.modules["sympy"].Piecewise((value(), condition), (otherwise, True))
    return value() if condition else otherwise
