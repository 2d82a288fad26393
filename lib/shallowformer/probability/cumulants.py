"""How skew a random point of the unit ball can be: bounds on its third cumulant."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from shallowformer import arguments
from shallowformer.formulas import Number

#: κ = 4/(3√3), the largest third cumulant |κ₃(u, v, w)| of a random point of the unit ball along unit vectors.
KAPPA = 4 / (3 * math.sqrt(3))

_S2 = (2 * math.sqrt(2) - 1) / 7
#: max_s (2s(1 − s²)(1 − s⁴))^{1/2} = 0.838836, a bound on the Hilbert–Schmidt norm of the third cumulant.
KAPPA_HS = math.sqrt(2 * math.sqrt(_S2) * (1 - _S2) * (1 - _S2**2))


def _elementwise(name: str, value: Number, function: Callable[[Tensor], Tensor]) -> Number:
    """Apply a function to a number or, entry by entry, to a tensor; refuse entries outside [0, 1]."""
    if not isinstance(value, Tensor):
        value = torch.tensor(arguments.at_least(name, value, 0.0), dtype=torch.float64)
        return float(_elementwise(name, value, function))
    arguments.floating(name, value, "...")
    if not (float(value.detach().min()) >= 0 and float(value.detach().max()) <= 1):
        raise ValueError(
            f"{name} must be in [0, 1], got entries from {float(value.min()):g} to {float(value.max()):g}"
        )
    return function(value)


def skewness_given_mean(s: Number) -> Number:
    """k(s), the largest |κ₃(u, v, w)| along unit vectors of a random point of the unit ball whose mean has length s.

    It is 2s(1 − s²) for s ≥ 1/3 and (1 + s)³/4 below.
    """
    return _elementwise("s", s, lambda s: torch.where(s >= 1 / 3, 2 * s * (1 - s**2), (1 + s) ** 3 / 4))


def skewness_given_spread(spread: Number) -> Number:
    """2λ√(1 − λ), the largest |κ₃(u, v, w)| along unit vectors of a random point of the unit ball with ‖M‖_op = λ."""
    return _elementwise("spread", spread, lambda x: 2 * x * (1 - x).sqrt())
