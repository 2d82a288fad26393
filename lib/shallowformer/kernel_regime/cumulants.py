"""How skew a random point of the unit ball can be, and what that makes of ∇²z: bounds on the third cumulant, and H⋆."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from shallowformer import arguments

#: κ = 4/(3√3), the largest third cumulant |κ₃(u, v, w)| of a random point of the unit ball along unit vectors.
KAPPA = 4 / (3 * math.sqrt(3))

_S2 = (2 * math.sqrt(2) - 1) / 7
#: max_s (2s(1 − s²)(1 − s⁴))^{1/2} = 0.838836, a bound on the Hilbert–Schmidt norm of the third cumulant.
KAPPA_HS = math.sqrt(2 * math.sqrt(_S2) * (1 - _S2) * (1 - _S2**2))

Number = float | Tensor


def _elementwise(name: str, value: Number, function: Callable[[Tensor], Tensor], high: float) -> Number:
    """Apply a function to a number or, entry by entry, to a tensor; refuse entries outside [0, high]."""
    if not isinstance(value, Tensor):
        value = torch.tensor(arguments.at_least(name, value, 0.0), dtype=torch.float64)
        return float(_elementwise(name, value, function, high))
    arguments.floating(name, value, "...")
    if not (float(value.detach().min()) >= 0 and float(value.detach().max()) <= high):
        allowed = "at least 0" if high == math.inf else f"in [0, {high:g}]"
        raise ValueError(
            f"{name} must be {allowed}, got entries from {float(value.min()):g} to {float(value.max()):g}"
        )
    return function(value)


def skewness_given_mean(s: Number) -> Number:
    """k(s), the largest |κ₃(u, v, w)| along unit vectors of a random point of the unit ball whose mean has length s.

    Args:
        s: ‖a‖ in [0, 1]; a number or Float[Tensor, "..."].

    Returns:
        2s(1 − s²) for s ≥ 1/3 and (1 + s)³/4 below, of the kind of ``s``.

    Raises:
        ValueError: ``s`` outside [0, 1].
    """
    return _elementwise("s", s, lambda s: torch.where(s >= 1 / 3, 2 * s * (1 - s**2), (1 + s) ** 3 / 4), 1.0)


def skewness_given_spread(spread: Number) -> Number:
    """2λ√(1 − λ), the largest |κ₃(u, v, w)| along unit vectors of a random point of the unit ball with ‖M‖_op = λ.

    Args:
        spread: λ in [0, 1]; a number or Float[Tensor, "..."].

    Returns:
        The bound, of the kind of ``spread``.

    Raises:
        ValueError: ``spread`` outside [0, 1].
    """
    return _elementwise("spread", spread, lambda x: 2 * x * (1 - x).sqrt(), 1.0)


def _extremal_mean(R: Tensor) -> Tensor:
    """Without R⁴ where R is large: 1/R carries the same information."""
    small, r = R.clamp(max=1), 1 / R.clamp(min=1)
    below = small / (2 + small**2 + 2 * torch.sqrt(1 + small**2 + small**4)).sqrt()
    return torch.where(R <= 1, below, (2 * r**2 + 1 + 2 * torch.sqrt(r**4 + r**2 + 1)).rsqrt())


def extremal_mean(R: Number) -> Number:
    """s⋆(R): the mean of the two camps, with masses (1 ± s)/2, at which ‖∇²z‖_op attains H⋆(R).

    Args:
        R: ‖U‖, at least 0; a number or Float[Tensor, "..."].

    Returns:
        A value in [0, 1/√3), of the kind of ``R``.

    Raises:
        ValueError: ``R`` below 0.
    """
    return _elementwise("R", R, _extremal_mean, math.inf)


def H_star(R: Number) -> Number:
    """H⋆(R) = max_s (1 − s²)(sR + √(1 + s²R²)), the supremum of ‖∇²z‖_op over heads with ‖U‖ = R, T ≥ 2.

    Args:
        R: ‖U‖, at least 0; a number or Float[Tensor, "..."].

    Returns:
        The supremum, in closed form, of the kind of ``R``.

    Raises:
        ValueError: ``R`` below 0.
    """

    def largest(R: Tensor) -> Tensor:
        s = extremal_mean(R)
        return (1 - s**2) * (s * R + torch.sqrt(1 + (s * R) ** 2))

    return _elementwise("R", R, largest, math.inf)
