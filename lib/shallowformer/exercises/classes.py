"""Parameters of an assignment, drawn per class: answers of another year, or another class, do not fit.

A class is a number or a word; a parameter has a name. Both together decide the value, by a hash: the same in every process,
on every machine and in every version of Python, and no parameter tells of another.
"""

import hashlib
import json
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from shallowformer.arguments import count


def integer(seed: int | str, name: str, low: int, high: int) -> int:
    """Draw a whole number, each of ``low`` … ``high`` equally often over the classes, of which 2026 and "2026" are the same.

    Args:
        name: of the parameter, one for each, for example ``"ps1-q2-T"``.
    """
    for bound, value in (("low", low), ("high", high)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"{bound} must be a whole number, got {value!r}")
    if high < low:
        raise ValueError(f"high must be at least low = {low}, got {high}")
    return low + _hashed(seed, name) % (high - low + 1)


def real(seed: int | str, name: str, low: float, high: float, digits: int = 2) -> float:
    """Draw a number with few decimals, each of those from ``low`` to ``high`` equally often over the classes.

    What stands on the page, written with ``digits`` decimals, 0 to 12, is all of it; ``high`` is possible if it has no more decimals.

    Args:
        name: of the parameter, one for each, for example ``"ps1-q3-rho"``.
    """
    if count("digits", digits, 0) > 12:
        raise ValueError(f"digits must be at most 12, got {digits}")
    for bound, value in (("low", low), ("high", high)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
            raise ValueError(f"{bound} must be a finite number below 1e15, got {value!r}")
    # The decimals as they are written: 0.1 means one tenth, not the double beside it.
    first = int(Decimal(str(low)).scaleb(digits).to_integral_value(ROUND_CEILING))
    last = int(Decimal(str(high)).scaleb(digits).to_integral_value(ROUND_FLOOR))
    if last < first:
        raise ValueError(f"high must leave a number with {digits} decimals above low = {low}, got {high}")
    return float(Decimal(first + _hashed(seed, name) % (last - first + 1)).scaleb(-digits))


def _hashed(seed: int | str, name: str) -> int:
    """A number below 2²⁵⁶."""
    if isinstance(seed, bool) or not isinstance(seed, int | str) or seed == "":
        raise ValueError(f"seed must be a whole number or a word, got {seed!r}")
    if not isinstance(name, str) or not name:
        raise ValueError(f"name must be a word, got {name!r}")
    return int.from_bytes(hashlib.sha256(json.dumps([str(seed), name]).encode()).digest())
