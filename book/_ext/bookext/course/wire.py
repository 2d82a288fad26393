"""What passes between the grader and a student's process: data, never objects.

Numbers, text, None, ``...``, lists, tuples, sets, dicts, tensors, arrays and random generators are copied. A function stays where
it is, and a number is sent for it. Anything else arrives as an ``Odd``, which knows the name of its type and equals nothing.
What arrives is taken apart with care, as the other side may send anything: sizes have bounds, and nothing is ever run.

This module is read by both sides and imports nothing of the package.
"""

import base64
import math
from collections.abc import Callable

import numpy as np
import torch

if __package__:
    from bookext.course.line import LARGEST, Malformed, receive, send
else:  # in a student's process, which knows no package
    from line import LARGEST, Malformed, receive, send

__all__ = ["LARGEST", "Malformed", "Odd", "pack", "receive", "send", "unpack"]

DEEPEST = 20  # lists in lists
TENSORS = {
    str(getattr(torch, name)).removeprefix("torch."): getattr(torch, name)
    for name in ("float64", "float32", "float16", "bfloat16", "complex64", "complex128", "int64", "int32", "int16",
                 "int8", "uint8", "bool")
}  # fmt: skip
ARRAYS = frozenset("biufc")


class Odd:
    """Something that is no data; its class is named as the student's is."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def pack(value: object, keep: Callable[[Callable], int] | None = None, depth: int = 0) -> object:
    """What JSON can say of a value; ``keep`` receives a function and returns its number, None refuses functions."""
    large = issubclass(type(value), np.ndarray | torch.Tensor) and value.nbytes > LARGEST // 2
    try:
        packed = None if large else _pack(value, keep, depth)
    except Exception:  # a value may lie about itself
        packed = None
    if packed is not None:
        return packed[0]
    kind = f"{type(value).__name__[:60]}{' that is too large' if large else ''}"
    if keep is None:
        raise TypeError(f"a test can hand over numbers, text, lists, tensors and arrays, not {kind}")
    return {"!": "odd", "kind": kind}


def _pack(value: object, keep: Callable | None, depth: int) -> tuple | None:
    if depth > DEEPEST:
        return None
    inner = lambda part: pack(part, keep, depth + 1)
    if value is None or isinstance(value, bool | str):
        return (value if value is None else str(value) if isinstance(value, str) else bool(value),)
    if value is Ellipsis:
        return ({"!": "dots"},)
    if isinstance(value, np.generic | np.ndarray):
        if value.dtype.kind not in ARRAYS:
            return None
        array = np.asarray(value)
        kind = "array" if isinstance(value, np.ndarray) else "number"
        shape, raw = list(array.shape), _text(array.tobytes())
        return ({"!": kind, "dtype": array.dtype.str, "shape": shape, "bytes": raw},)
    if isinstance(value, int):
        return (int(value) if abs(value) < 2**53 else {"!": "int", "hex": hex(value)},)
    if isinstance(value, float):
        return (float(value),)
    if isinstance(value, complex):
        return ({"!": "complex", "parts": [value.real, value.imag]},)
    if isinstance(value, torch.Tensor):
        plain = value.detach().cpu().resolve_conj().resolve_neg().contiguous()
        name = str(plain.dtype).removeprefix("torch.")
        if name not in TENSORS:
            return None
        raw = plain.reshape(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b""
        shape, flags = list(plain.shape), [bool(value.requires_grad), bool(value.is_inference())]
        return ({"!": "tensor", "dtype": name, "shape": shape, "bytes": _text(raw), "flags": flags},)
    if isinstance(value, torch.Generator):
        return ({"!": "generator", "state": pack(value.get_state())},)
    if isinstance(value, list):
        return ([inner(part) for part in value],)
    if isinstance(value, tuple | set | frozenset):
        kind = "tuple" if isinstance(value, tuple) else "set"
        return ({"!": kind, "parts": [inner(part) for part in value]},)
    if isinstance(value, dict):
        return ({"!": "dict", "items": [[inner(key), inner(part)] for key, part in value.items()]},)
    if callable(value) and keep is not None:
        return ({"!": "function", "number": keep(value)},)
    return None


def unpack(packed: object, function: Callable[[int], object] | None = None, depth: int = 0) -> object:
    """The value again, a copy; ``function`` says what stands for the function of a number, None refuses functions."""
    if depth > DEEPEST + 1:
        raise Malformed("too deep")
    if packed is None or isinstance(packed, bool | int | float | str):
        return packed
    inner = lambda part: unpack(part, function, depth + 1)
    if isinstance(packed, list):
        return [inner(part) for part in packed]
    try:
        match packed["!"]:
            case "dots":
                return ...
            case "int":
                return int(packed["hex"], 16)
            case "complex":
                return complex(*map(float, packed["parts"]))
            case "array" | "number" as kind:
                dtype = np.dtype(packed["dtype"])
                if dtype.kind not in ARRAYS or dtype.hasobject:
                    raise Malformed("dtype")
                array = np.frombuffer(_bytes(packed, dtype.itemsize), dtype).reshape(packed["shape"]).copy()
                return array if kind == "array" else array[()]
            case "tensor":
                return _tensor(packed)
            case "generator":
                generator = torch.Generator()
                generator.set_state(inner(packed["state"]))
                return generator
            case "tuple":
                return tuple(map(inner, packed["parts"]))
            case "set":
                return set(map(inner, packed["parts"]))
            case "dict":
                return {inner(key): inner(part) for key, part in packed["items"]}
            case "function" if function is not None:
                return function(int(packed["number"]))
            case "odd":
                return type(str(packed["kind"])[:80].replace("\0", ""), (Odd,), {})()
    except Malformed:
        raise
    except Exception as error:
        raise Malformed(str(error)[:200]) from None
    raise Malformed("unknown")


def _tensor(packed: dict) -> torch.Tensor:
    dtype = TENSORS[packed["dtype"]]
    size = torch.empty(0, dtype=dtype).element_size()
    raw = _bytes(packed, size)
    differentiable, inference = packed["flags"]
    with torch.inference_mode(bool(inference)):
        if not raw:
            tensor = torch.empty(0, dtype=dtype)
        elif dtype == torch.bool:
            tensor = torch.frombuffer(bytearray(raw), dtype=torch.uint8) != 0
        else:
            tensor = torch.frombuffer(bytearray(raw), dtype=dtype)
        tensor = tensor.reshape([int(n) for n in packed["shape"]]).clone()
    return tensor.requires_grad_() if differentiable and not inference and dtype.is_floating_point else tensor


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(packed: dict, size: int) -> bytes:
    raw = base64.b64decode(packed["bytes"], validate=True)
    shape = [int(n) for n in packed["shape"]]
    if min(shape, default=0) < 0 or len(shape) > 32 or math.prod(shape) * size != len(raw):
        raise Malformed("shape")
    return raw
