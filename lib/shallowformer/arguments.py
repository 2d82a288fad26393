"""Checks of arguments: bad input is refused before any work, by a message that says what would be allowed."""

import math

import torch
from torch import Tensor

#: How far above 1 the norm of a token may lie, in units of machine precision: normalising a vector of up to a few
#: thousand entries rounds its norm by less than this.
NORM_ROUNDING = 64


def floating(name: str, value: object, dims: str) -> Tensor:
    """Return ``value`` if it is a non-empty, finite floating-point tensor with the given dimensions.

    Args:
        name: the argument's name, for the message.
        value: what the caller gave.
        dims: names of the dimensions, e.g. ``"n T d"``; a leading ``"..."`` allows any further ones.

    Returns:
        The tensor, unchanged.

    Raises:
        ValueError: not a tensor, not floating point, a wrong number of dimensions, empty, NaN or infinite.
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
    if not torch.isfinite(value).all():
        raise ValueError(
            f"{name} must be finite, got {int((~torch.isfinite(value)).sum())} entries that are NaN or infinite"
        )
    return value


def in_unit_ball(name: str, value: Tensor) -> Tensor:
    """Return ``value`` if every vector along its last dimension has norm at most 1, up to rounding.

    Args:
        name: the argument's name, for the message.
        value: Float[Tensor, "... d"].

    Returns:
        The tensor, unchanged; nothing is clamped.

    Raises:
        ValueError: a vector is longer than 1 + 64 machine precisions.
    """
    longest = float(torch.linalg.vector_norm(value.detach(), dim=-1).max())
    if longest > 1 + NORM_ROUNDING * torch.finfo(value.dtype).eps:
        raise ValueError(
            f"{name} must lie in the unit ball (norm at most 1), got a vector of norm {longest!r}"
        )
    return value


def tokens(X: object, name: str = "X") -> Tensor:
    """Return ``X`` if it is a batch of token sequences from the data domain 𝒳.

    Args:
        X: Float[Tensor, "n T d"], every token X_t in the unit ball.
        name: the argument's name, for the message.

    Returns:
        The tensor, unchanged.

    Raises:
        ValueError: as ``floating`` and ``in_unit_ball``.

    Source:
        Arda, Cayci, Eryilmaz 2026, section 3.1.
    """
    return in_unit_ball(name, floating(name, X, "n T d"))


def shape(name: str, value: Tensor, expected: tuple[int, ...], why: str) -> Tensor:
    """Return ``value`` if it has exactly the expected shape.

    Args:
        name: the argument's name, for the message.
        value: the tensor.
        expected: the shape it must have.
        why: what fixes that shape, e.g. ``"[m, d] as W has"``.

    Returns:
        The tensor, unchanged.

    Raises:
        ValueError: any other shape.
    """
    if tuple(value.shape) != tuple(expected):
        raise ValueError(f"{name} must have shape {tuple(expected)} ({why}), got {tuple(value.shape)}")
    return value


def same_kind(first_name: str, first: Tensor, **others: Tensor) -> None:
    """Refuse tensors that differ in dtype or device.

    Args:
        first_name: name of the tensor that the others must match.
        first: that tensor.
        **others: further tensors by name.

    Raises:
        ValueError: a dtype or device differs.
    """
    for name, value in others.items():
        if value.dtype != first.dtype or value.device != first.device:
            raise ValueError(
                f"{name} must have the dtype and device of {first_name} ({first.dtype}, {first.device}), "
                f"got {value.dtype}, {value.device}"
            )


def count(name: str, value: object, minimum: int = 1) -> int:
    """Return ``value`` if it is a whole number of at least ``minimum``.

    Args:
        name: the argument's name, for the message.
        value: what the caller gave.
        minimum: the smallest allowed value.

    Returns:
        The number.

    Raises:
        ValueError: not an ``int``, or smaller.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}, got {value!r}")
    return value


def even(name: str, value: object) -> int:
    """Return ``value`` if it is an even number of at least 2: symmetric initialisation pairs the heads.

    Args:
        name: the argument's name, for the message.
        value: what the caller gave.

    Returns:
        The number.

    Raises:
        ValueError: not an ``int``, below 2, or odd.
    """
    if count(name, value, 2) % 2:
        raise ValueError(f"{name} must be even, because heads come in pairs, got {value}")
    return value


def probability(name: str, value: object) -> float:
    """Return ``value`` if it lies strictly between 0 and 1.

    Args:
        name: the argument's name, for the message.
        value: what the caller gave.

    Returns:
        The number.

    Raises:
        ValueError: not a number in (0, 1).
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1:
        raise ValueError(f"{name} must be a number in the open interval (0, 1), got {value!r}")
    return float(value)


def positive(name: str, value: object) -> float:
    """Return ``value`` if it is a finite number above 0: a radius, a scale, a step size.

    Args:
        name: the argument's name, for the message.
        value: what the caller gave.

    Returns:
        The number.

    Raises:
        ValueError: not a finite number above 0.
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not (value > 0 and math.isfinite(value))
    ):
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    return float(value)


def at_least(name: str, value: object, minimum: float) -> float:
    """Return ``value`` if it is a finite number of at least ``minimum``.

    Args:
        name: the argument's name, for the message.
        value: what the caller gave.
        minimum: the smallest allowed value.

    Returns:
        The number.

    Raises:
        ValueError: not a finite number, or smaller.
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not (value >= minimum and math.isfinite(value))
    ):
        raise ValueError(f"{name} must be a finite number of at least {minimum:g}, got {value!r}")
    return float(value)
