"""Checks of arguments: bad input is refused before any work, by a message that says what would be allowed.

A check takes the argument's name, for that message, and what the caller gave, and returns it. A symbol passes wherever a number is
expected (see ``formulas``): what is computed with it is a formula, not a number.
"""

import functools
import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.formulas import Number, is_symbol

#: How far above 1 the norm of a token may lie, in units of machine precision: normalising a vector of up to a few
#: thousand entries rounds its norm by less than this; inner products, too, relative to the lengths.
NORM_ROUNDING = 64


def tolerance(least: float, like: Tensor, scale: float = 1.0) -> float:
    """``least``, and on top of it what rounding makes of numbers of that scale in the tensor's dtype."""
    return least + NORM_ROUNDING * torch.finfo(like.dtype).eps * scale


def _or_symbol(check: Callable) -> Callable:
    """A check of a number that lets symbols pass."""

    @functools.wraps(check)
    def checked(name: str, value: object, *allowed):
        return value if is_symbol(value) else check(name, value, *allowed)

    return checked


def floating(name: str, value: object, dims: str) -> Float[Tensor, "..."]:
    """Return ``value`` if it is a non-empty, finite floating-point tensor with these dimensions.

    ``dims`` names them, e.g. ``"n T d"``; a leading ``"..."`` allows any further ones.
    """
    if not isinstance(value, Tensor):
        raise ValueError(f"{name} must be a torch tensor of shape [{dims}], got {type(value).__name__}")
    if not value.is_floating_point():
        raise ValueError(f"{name} must have a floating-point dtype, got {value.dtype}")
    names = dims.split()
    at_least = names[:1] == ["..."]
    wanted = len(names) - at_least
    if value.ndim < wanted or (value.ndim > wanted and not at_least):
        raise ValueError(f"{name} must have shape [{dims}], got {tuple(value.shape)}")
    if value.numel() == 0:
        raise ValueError(
            f"{name} must not be empty; every dimension of [{dims}] is at least 1, got {tuple(value.shape)}"
        )
    # One NaN or infinity makes a sum one; a sum can also overflow.
    if not (math.isfinite(value.detach().sum()) or torch.isfinite(value).all()):
        raise ValueError(
            f"{name} must be finite, got {int((~torch.isfinite(value)).sum())} entries that are NaN or infinite"
        )
    return value


def in_unit_ball(name: str, value: Float[Tensor, "*n d"]) -> Float[Tensor, "*n d"]:
    """Return ``value`` if every vector along its last dimension has norm at most 1, up to rounding."""
    longest = float(torch.linalg.vector_norm(value.detach(), dim=-1).max())
    if longest > 1 + NORM_ROUNDING * torch.finfo(value.dtype).eps:
        raise ValueError(
            f"{name} must lie in the unit ball (norm at most 1), got a vector of norm {longest!r}"
        )
    return value


def tokens(X: object, name: str = "X") -> Float[Tensor, "n T d"]:
    """Return ``X`` if it is a batch of tokens in the unit ball, the domain 𝒳. Source: Arda, Cayci, Eryilmaz 2026, section 3.1."""
    return in_unit_ball(name, floating(name, X, "n T d"))


def shape(name: str, value: Tensor, expected: tuple[int, ...], why: str) -> Tensor:
    """Return ``value`` if it has exactly the expected shape; ``why`` says what fixes that, e.g. ``"[m, d] as W has"``."""
    if tuple(value.shape) != tuple(expected):
        raise ValueError(f"{name} must have shape {tuple(expected)} ({why}), got {tuple(value.shape)}")
    return value


def same_kind(first_name: str, first: Tensor, **others: Tensor) -> None:
    """Refuse tensors, by name, that differ in dtype or device from the first."""
    for name, value in others.items():
        if value.dtype != first.dtype or value.device != first.device:
            raise ValueError(
                f"{name} must have the dtype and device of {first_name} ({first.dtype}, {first.device}), "
                f"got {value.dtype}, {value.device}"
            )


@_or_symbol
def count(name: str, value: object, minimum: int = 1) -> int:
    """Return ``value`` if it is a whole number of at least ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}, got {value!r}")
    return value


@_or_symbol
def even(name: str, value: object) -> int:
    """Return ``value`` if it is an even number of at least 2: symmetric initialisation pairs the heads."""
    if count(name, value, 2) % 2:
        raise ValueError(f"{name} must be even, because heads come in pairs, got {value}")
    return value


@_or_symbol
def probability(name: str, value: object) -> float:
    """Return ``value`` if it lies strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1:
        raise ValueError(f"{name} must be a number in the open interval (0, 1), got {value!r}")
    return float(value)


@_or_symbol
def positive(name: str, value: object) -> float:
    """Return ``value`` if it is a finite number above 0: a radius, a scale, a step size."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not (value > 0 and math.isfinite(value))
    ):
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    return float(value)


@_or_symbol
def at_least(name: str, value: object, minimum: float) -> float:
    """Return ``value`` if it is a finite number of at least ``minimum``."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not (value >= minimum and math.isfinite(value))
    ):
        raise ValueError(f"{name} must be a finite number of at least {minimum:g}, got {value!r}")
    return float(value)


@_or_symbol
def below_one(name: str, value: object) -> float:
    """Return ``value`` if it is a number of at least 0 and below 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise ValueError(f"{name} must be at least 0 and below 1, got {value!r}")
    return float(value)


@_or_symbol
def at_most(name: str, value: float, limit_name: str, limit: float) -> float:
    """Return ``value`` if it is at most ``limit``."""
    if value > limit:
        raise ValueError(f"{name} must be at most {limit_name} = {limit:g}, got {value:g}")
    return value


def nonnegative(name: str, value: object) -> Number:
    """Return ``value`` if it is a finite number of at least 0, or a tensor of such numbers: norms, or bounds on them."""
    if not isinstance(value, Tensor):
        return at_least(name, value, 0.0)
    smallest = float(floating(name, value, "...").detach().min())
    if smallest < 0:
        raise ValueError(f"{name} must hold numbers of at least 0, got {smallest:g}")
    return value


def triple(name: str, value: object) -> tuple[float, float, float]:
    """Return ``value`` if it holds three finite numbers of at least 0: one for each block c, U, W of the parameters."""
    wrong = ValueError(
        f"{name} must be three finite numbers of at least 0, ({name}_c, {name}_u, {name}_w), got {value!r}"
    )
    try:
        values = tuple(each if is_symbol(each) else float(each) for each in value)
    except (TypeError, ValueError):
        raise wrong from None
    if len(values) != 3 or not all(is_symbol(each) or 0 <= each < math.inf for each in values):
        raise wrong
    return values
