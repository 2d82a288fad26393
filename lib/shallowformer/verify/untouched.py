"""A check hands the same tensors to several functions; one that writes on them would change what the others see.

Seen is what torch counts as a change in place: not what goes through ``x.data`` or NumPy, nor what lists and objects hold.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from torch import Tensor

Result = TypeVar("Result")


def call(what: str, function: Callable[..., Result], given: Mapping[str, object]) -> Result:
    """Call a function, ``what`` in the message, that may not write on what it is given, its arguments by name."""
    tensors = {
        name: value for name, value in given.items() if isinstance(value, Tensor) and not value.is_inference()
    }
    before = {name: value._version for name, value in tensors.items()}
    result = function(**given)
    if written := [name for name, value in tensors.items() if value._version != before[name]]:
        # No ValueError: with that a side refuses a point, and a search goes on.
        raise RuntimeError(
            f"{what} must not write on what it is given, wrote on {', '.join(written)}: let it work on a copy"
        )
    return result
