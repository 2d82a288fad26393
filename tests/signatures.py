"""How signatures are checked while tests run: shapes by jaxtyping, types by beartype.

A check takes as long as some dozens of operations on small tensors: calls are checked once for each kind of what is given and returned.
"""

import functools
import types
from collections.abc import Callable
from dataclasses import is_dataclass

import beartype
import jaxtyping
import numpy as np
import sympy
import torch

#: What passes for a number: an int for a float, and for both a symbol that stands for one (``shallowformer.formulas``).
NUMBERS = {int: int | sympy.Basic, float: float | int | sympy.Basic}

#: Values of which a signature can see no more than their type.
PLAIN = frozenset({int, float, str, bool, type(None)})

checked = beartype.beartype(conf=beartype.BeartypeConf(hint_overrides=beartype.FrozenDict(NUMBERS)))
always = jaxtyping.jaxtyped


def kind(value: object) -> object:
    """What a signature can see of a value: its type, of arrays dtype and shape, of containers the kinds of what they hold."""
    if type(value) in PLAIN:
        return type(value)
    if isinstance(value, (torch.Tensor, np.ndarray)):  # a union is made and looked through at each call
        return type(value), value.dtype, tuple(value.shape)
    if isinstance(value, (tuple, list)):
        held = tuple(map(type, value))  # of a million numbers that were stored, without a call for each
        return type(value), held if PLAIN.issuperset(held) else tuple(map(kind, value))
    if isinstance(value, dict):
        return type(value), tuple((key, kind(held)) for key, held in value.items())
    return value if isinstance(value, type) else type(value)


def giving(function: Callable, result: object) -> Callable:
    """A function of the same signature that returns this."""
    give = lambda *args, **kwargs: result
    same = types.FunctionType(give.__code__, function.__globals__, closure=give.__closure__)
    return functools.wraps(function)(same)


def jaxtyped(function: Callable, *, typechecker: Callable) -> Callable:
    """In place of jaxtyping's decorator, which is made when the function is first called."""
    if isinstance(function, type):
        if is_dataclass(function) and "__init__" in vars(function):
            function.__init__ = jaxtyped(function.__init__, typechecker=typechecker)
        return function
    seen: dict[object, set] = {}
    check = functools.cache(lambda: always(function, typechecker=typechecker))

    @functools.wraps(function)
    def call(*args, **kwargs):
        if jaxtyping.config.jaxtyping_disable:
            return function(*args, **kwargs)
        sizes = tuple(
            value for value in (*args, *kwargs.values()) if isinstance(value, int)
        )  # "{d}" names one
        given = kind(args), kind(kwargs), sizes
        if given in seen:
            result = function(*args, **kwargs)
            if kind(result) not in seen[given]:
                always(giving(function, result), typechecker=typechecker)(*args, **kwargs)
        else:
            result = check()(*args, **kwargs)
        seen.setdefault(given, set()).add(kind(result))
        return result

    return call


def install(modules: list[str]) -> None:
    """Check the calls of all functions of these modules that are imported from now on."""
    jaxtyping.jaxtyped = lambda *, typechecker: functools.partial(jaxtyped, typechecker=typechecker)
    jaxtyping.install_import_hook(modules, f"{__name__}.checked")
