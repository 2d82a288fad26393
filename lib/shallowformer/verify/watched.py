"""What only shows while a function is evaluated: how much of its value is rounding, whether what it compares is a number, and whether it draws.

The first two look at torch's own operations one by one; of what NumPy or Python compute they see nothing.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Generator, Tensor
from torch._C._functorch import get_unwrapped, is_batchedtensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from shallowformer.verify.sets import Point

#: So often a value is computed again, with other roundings.
SHAKEN = 32
#: Operations that round nothing, and those whose terms may cancel without having been rounded before: these err by a share of all terms.
EXACT = {
    "_to_copy", "abs", "amax", "amin", "cat", "ceil", "clamp", "clamp_max", "clamp_min", "clone", "constant_pad_nd", "copy", "diag_embed", "empty_like",
    "fill", "flip", "floor", "full_like", "gather", "index", "index_select", "masked_fill", "max", "maximum", "min", "minimum", "neg", "new_full",
    "new_ones", "new_zeros", "ones_like", "relu", "repeat", "roll", "round", "scatter", "sgn", "sign", "sort", "stack", "topk", "tril", "triu",
    "where", "zero", "zeros_like",
}  # fmt: skip
SUMS = {"addmm", "addmv", "baddbmm", "bmm", "cumsum", "dot", "mean", "mm", "mv", "sum"}
#: Comparisons as torch and its tensors call them, and whether an infinity is no larger than itself there.
COMPARISONS = {
    "lt": True, "le": True, "gt": True, "ge": True, "less": True, "less_equal": True, "greater": True, "greater_equal": True,
    "eq": False, "ne": False, "not_equal": False,
}  # fmt: skip
CALLED = {
    getattr(where, called): order
    for name, order in COMPARISONS.items()
    for where in (torch, Tensor)
    for called in (name, f"__{name}__", f"{name}_")
    if hasattr(where, called)
}


def _name(operation: object) -> str:
    return operation.overloadpacket.__name__.removesuffix("_")


class _Shaken(TorchDispatchMode):
    """Every operation that rounds is off by a random part of a unit in the last place."""

    def __init__(self, generator: Generator) -> None:
        super().__init__()
        self.generator = generator

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        out, name = operation(*args, **(kwargs or {})), _name(operation)
        returned = operation._schema.returns
        alias = returned[0].alias_info if returned else None
        if name in EXACT or not _given(args) or (alias is not None and not alias.is_write):
            return out
        size = out
        if name in SUMS and alias is None:
            size = operation(*tree_map_only(Tensor, _size, args), **(kwargs or {}))
        if alias is not None:
            return out.add_(self._error(out, size)) if isinstance(out, Tensor) and _rounds(out) else out
        errors = lambda value, size: value + self._error(value, size) if _rounds(value) else value
        if isinstance(out, Tensor):
            return errors(out, size)
        if isinstance(out, tuple):
            return tuple(errors(part, part) if isinstance(part, Tensor) else part for part in out)
        return out

    def _error(self, value: Tensor, size: Tensor) -> Tensor:
        real = value.real if value.is_complex() else value
        uniform = 2 * torch.rand(value.shape, generator=self.generator, dtype=real.dtype) - 1
        return torch.finfo(real.dtype).eps * uniform * size


def _given(args: tuple) -> bool:
    """Whether an operation is handed a tensor: what it makes of none is a constant."""
    return any(isinstance(leaf, Tensor) for leaf in tree_leaves(args))


def _rounds(value: Tensor) -> bool:
    return value.is_floating_point() or value.is_complex()


def _size(value: Tensor) -> Tensor:
    return value if value.dtype == torch.bool else value.abs()


def least(ratio: Callable[..., Float[Tensor, " b"]], point: Point) -> float:
    """The least value that other roundings give at a point: what is above a limit by rounding alone falls below it.

    Infinite where shaken evaluations say nothing: the function refuses one, or has no value at the edge of its domain.

    Args:
        point: name → value with a leading dimension of 1.
    """
    copies = {name: value.expand(SHAKEN, *value.shape[1:]).clone() for name, value in point.items()}
    try:
        with _Shaken(Generator().manual_seed(0)):
            values = ratio(**copies).detach()
    except (ValueError, torch.linalg.LinAlgError):
        return math.inf
    return float(values.nan_to_num(nan=math.inf, posinf=math.inf, neginf=-math.inf).min())


class Listening(Generator):
    """A generator that notices whether it is asked for its seed, by what draws with another one of the same seed."""

    asked = False

    def initial_seed(self) -> int:
        """The seed."""
        self.asked = True
        return super().initial_seed()


class Comparing(TorchFunctionMode):
    """Counts comparisons without an answer: with NaN, or of a computed infinity with itself as to which is larger.

    ``x != x`` and ``x < math.inf`` are questions, and have one.
    """

    unanswered = 0

    def __torch_function__(self, called, types, args=(), kwargs=None):
        """What torch calls for every function of it."""
        kwargs = kwargs or {}
        order = CALLED.get(called)
        if order is not None:
            left, right = (*args, *(kwargs[name] for name in ("input", "other") if name in kwargs))[:2]
            if left is not right:
                self.unanswered += _unanswered(left, right, order)
        return called(*args, **kwargs)


def _unanswered(left: object, right: object, order: bool) -> int:
    """How many of two tensors' comparisons, or of a tensor's with a number, have no answer."""
    if not isinstance(left, Tensor):
        left, right = right, left
    nowhere = left.isnan()
    if isinstance(right, Tensor):
        nowhere = nowhere | right.isnan()
        if order and not (left.is_complex() or right.is_complex()):
            nowhere = nowhere | (left.isinf() & right.isinf() & (left.sign() == right.sign()))
    elif isinstance(right, float) and math.isnan(right):
        nowhere = torch.ones_like(nowhere)
    count = nowhere.sum()
    while is_batchedtensor(count):  # inside of vmap
        count = get_unwrapped(count)
    return int(count.sum())
