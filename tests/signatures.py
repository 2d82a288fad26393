"""How signatures are checked while tests run: shapes by jaxtyping, types by beartype.

A check takes as long as some dozens of operations on small tensors: calls are checked once for each kind of what is given and returned.
"""

import functools
import types
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass

import beartype
import jaxtyping
import numpy as np
import sympy
import torch

#: What passes for a number: an int for a float, and for both a symbol that stands for one (``shallowformer.formulas``).
NUMBERS = {int: int | sympy.Basic, float: float | int | sympy.Basic}

#: Of which a signature can see no more than their type.
PLAIN = frozenset({int, float, str, bool, type(None)})

checked = beartype.beartype(conf=beartype.BeartypeConf(hint_overrides=beartype.FrozenDict(NUMBERS)))
always = jaxtyping.jaxtyped


def of_array(value: torch.Tensor | np.ndarray) -> object:
    return type(value), value.dtype, value.shape


def of_sequence(value: Sequence) -> object:
    held = tuple(map(type, value))  # of a million numbers that were stored, without a call for each
    return type(value), held if PLAIN.issuperset(held) else tuple(map(kind, value))


def of_mapping(value: dict) -> object:
    return type(value), tuple((key, kind(held)) for key, held in value.items())


@functools.cache
def look(form: type) -> Callable:
    """What to see of a value of this type; asked once of each, as torch is slow to say what is no tensor."""
    forms = {torch.Tensor: of_array, np.ndarray: of_array, tuple: of_sequence, list: of_sequence, dict: of_mapping, type: lambda value: value}  # fmt: skip
    return next((see for one, see in forms.items() if issubclass(form, one)), type)


def kind(value: object) -> object:
    """What a signature can see of a value: its type, of arrays dtype and shape, of containers the kinds of what they hold."""
    return look(type(value))(value)


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
        values = (*args, *kwargs.values())
        sizes = tuple([value for value in values if isinstance(value, int)])  # "{d}" names one
        given = tuple(map(kind, values)), tuple(kwargs), sizes
        known = seen.get(given)
        if known is None:
            result = check()(*args, **kwargs)
            seen[given] = {kind(result)}
            return result
        result = function(*args, **kwargs)
        if (came := kind(result)) not in known:
            always(giving(function, result), typechecker=typechecker)(*args, **kwargs)
            known.add(came)
        return result

    return call


def install(modules: list[str]) -> None:
    """Check the calls of all functions of these modules that are imported from now on."""
    jaxtyping.jaxtyped = lambda *, typechecker: functools.partial(jaxtyped, typechecker=typechecker)
    jaxtyping.install_import_hook(modules, f"{__name__}.checked")
