"""What a wrong answer is told, a step at a time: where it differs, which mistake gives its values, and all values side by side."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

#: A case: what to say about it when the answer is wrong there, and the arguments.
Case = tuple[str, tuple]

#: Slips that can happen in any exercise, by the hint they get: what they make of the right value.
SLIPS = {
    "the size is right, the sign is wrong.": lambda right: -right,
    "that is twice the right value: a factor of 2 too many.": lambda right: 2 * right,
    "that is half of the right value: a factor of 2 is missing.": lambda right: right / 2,
    "that is the square of the right value: a root is missing.": lambda right: right**2,
    "that is the root of the right value: a square is missing.": lambda right: right**0.5,
    "that is one over the right value: it is upside down.": lambda right: 1 / right,
    "that is one minus the right value.": lambda right: 1 - right,
    "that is the transpose of the right value.": lambda right: right.T if right.ndim == 2 else None,
}

#: Entries of a tensor, and cases, that are shown one by one.
_SHOWN = 9


def difference(value: object, right: object, tolerance: float) -> str:
    """What is wrong with a value, or "".

    Args:
        tolerance: allowed error of an entry relative to that of ``right``, or to 1 if that is larger.
    """
    right = torch.as_tensor(right, dtype=torch.float64)
    try:
        value = torch.as_tensor(value, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        return f"expected a number or a tensor, got {type(value).__name__}."
    if value.shape != right.shape:
        return f"expected shape {tuple(right.shape)}, got {tuple(value.shape)}."
    if not value.isfinite().all():
        return "your value is NaN or infinite."
    error = (value - right).abs()
    if (error <= tolerance * right.abs().clamp(min=1)).all():
        return ""
    if right.ndim == 0:
        wanted, given = f"{float(right):.6g}", f"{float(value):.6g}"
        if wanted == given:
            return f"off by {float(error):.3g}, which is more than rounding in double precision."
        return f"expected {wanted}, got {given}."
    worst = (error / right.abs().clamp(min=1)).argmax()
    return (
        f"off by {float(error.flatten()[worst]):.3g} at an entry that is {float(right.flatten()[worst]):.3g}."
    )


def copies(arguments: tuple) -> tuple:
    """Arguments that a function may change."""
    return tuple(a.clone() if isinstance(a, Tensor) else a for a in arguments)


def computed(function: Callable, arguments: tuple) -> object:
    """A finite value, or None where there is none: a mistake need not be computable on every case."""
    try:
        value = function(*copies(arguments))
        return value if torch.as_tensor(value).isfinite().all() else None
    except Exception:
        return None


def further(
    given: Sequence[object],
    right: Sequence[object],
    cases: Sequence[Case],
    mistakes: Mapping[str, Sequence[object]],
    tolerance: float,
    slips: bool,
) -> tuple[str, str]:
    """The second and the third step for a wrong function: its mistake, and its values beside the right ones.

    Args:
        given: what was answered on each case; None where it is no finite value.
        mistakes: hint → what this mistake gives on each case; None where it cannot be computed.
        tolerance: as in ``difference``.
        slips: whether values are such that sign, factor, square and the like have a meaning.
    """
    named = _named(given, mistakes, tolerance)
    if not named and slips:
        named = _named(given, _all_slipped(right, tolerance), tolerance)
    if not named:
        named = "no mistake that this check knows gives your values on all cases." + _pattern(
            given, right, cases, tolerance
        )
    return named, _table(given, right, cases, tolerance)


def slip(number: float, right: float, tolerance: float) -> str:
    """The hint for a number that a slip makes of the right one, or "".

    Args:
        tolerance: allowed error of the right number; that of the slip's is as large relative to it, and at most half a
            per cent, or any number would be some slip's.
    """
    near = min(tolerance / abs(right), 0.005) if right else 0.0
    for hint, by in SLIPS.items():
        slipped = _slipped(by, right)
        if slipped is None or abs(float(slipped) - right) <= tolerance or not right:
            continue
        if abs(number - float(slipped)) <= max(near, 1e-9) * abs(float(slipped)):
            return hint
    return ""


def _named(given: Sequence[object], mistakes: Mapping[str, Sequence[object]], tolerance: float) -> str:
    """The hint for the mistake that gives these values wherever it can be computed: two can agree on a case, hardly on all.

    If none does, cases on which the answer has no value are left out, if it has values on most: a mistake written without care
    may overflow.
    """
    for least in (len(given), max(2, len(given) / 2)):
        for hint, values in mistakes.items():
            both = [(g, w) for g, w in zip(given, values, strict=True) if w is not None]
            compared = [(g, w) for g, w in both if g is not None]
            if (
                compared
                and len(compared) >= min(least, len(both))
                and not any(difference(g, w, tolerance) for g, w in compared)
            ):
                return hint
    return ""


def _all_slipped(right: Sequence[Tensor | float], tolerance: float) -> dict[str, list[Tensor]]:
    """What slips give on each case: those that have a value on all of them, and not the right one on one of them."""
    found = {hint: [_slipped(by, value) for value in right] for hint, by in SLIPS.items()}
    return {
        hint: values
        for hint, values in found.items()
        if all(value is not None for value in values)
        and any(difference(value, r, tolerance) for value, r in zip(values, right, strict=True))
    }


def _slipped(by: Callable, right: Tensor | float) -> Tensor | None:
    value = by(torch.as_tensor(right, dtype=torch.float64))
    return value if value is not None and value.isfinite().all() else None


def _pattern(
    given: Sequence[object], right: Sequence[Tensor | float], cases: Sequence[Case], tolerance: float
) -> str:
    """On which cases the answer is right, if on any."""
    is_right = [not difference(g, r, tolerance) for g, r in zip(given, right, strict=True)]
    names = [description for (description, _), good in zip(cases, is_right, strict=True) if good]
    return f" Right on: {'; '.join(names)}. What is special there?" if names else ""


def _table(
    given: Sequence[object], right: Sequence[Tensor | float], cases: Sequence[Case], tolerance: float
) -> str:
    """The right values beside the given ones, a line a case."""
    lines = [
        f"{description}: {_compared(g, r, tolerance)}"
        for (description, _), r, g in zip(cases, right, given, strict=True)
    ]
    return "\n".join(["case by case.", *lines[:_SHOWN], *["…"] * (len(lines) > _SHOWN)])


def _compared(given: object, right: Tensor | float, tolerance: float) -> str:
    """A value beside the right one in a few characters: entries, or how far off they are if they are many."""
    if given is None:
        return f"expected {_shown(right)}, got no finite value"
    found = difference(given, right, tolerance)
    few = torch.as_tensor(right).numel() <= _SHOWN and not found.startswith("expected")
    return "right" if not found else f"expected {_shown(right)}, got {_shown(given)}" if few else found


def _shown(value: object) -> str:
    """A value in a few characters."""
    value = torch.as_tensor(value, dtype=torch.float64)
    if value.ndim == 0:
        return f"{float(value):.6g}"
    if value.numel() > _SHOWN:
        return f"a tensor of shape {tuple(value.shape)}"
    if value.ndim == 2:
        return "[" + ", ".join(map(_shown, value)) + "]"
    return "[" + ", ".join(f"{float(entry):.4g}" for entry in value.flatten()) + "]"
