"""Compiling a loop for one floating-point type, when it is first called, and keeping it where there is a place to keep it."""

from collections.abc import Callable
from types import FunctionType

from numba import njit

from shallowformer.compiled.vectors import FAST, VERSION


def kept(loop: FunctionType, kind: str) -> Callable:
    """The loop, whose name begins with an underscore, compiled under a name of its own for the numbers of ``kind``, "float32" or "float64".

    Processes that compile different types at once do not touch each other's files, and one version's files are not another's.
    """
    copy = FunctionType(loop.__code__, loop.__globals__, f"{loop.__name__.lstrip('_')}_{kind}_{VERSION[:8]}")
    copy.__qualname__, copy.__doc__ = copy.__name__, loop.__doc__
    options = {"fastmath": FAST, "nogil": True, "error_model": "numpy"}
    try:
        return njit(**options, cache=True)(copy)
    except RuntimeError:  # no folder that can be written to
        return njit(**options)(copy)
