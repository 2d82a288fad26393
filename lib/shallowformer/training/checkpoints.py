"""Checkpoints: what a run needs to go on bit for bit, written whole or not at all, and refused by any other run."""

import dataclasses
import hashlib
import os
import sys
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from types import FunctionType, ModuleType

import torch
from torch import Tensor


def fingerprint(*parts: object) -> str:
    """A name that tells runs apart.

    Args:
        *parts: numbers, strings, tensors, functions, classes, modules, dataclasses and what has an ``identity``, and tuples, lists and
            mappings of these. A function or class is known by its name, and a module must have it under that; one made in place, or in a
            notebook, may be given an ``identity``.
    """
    sha = hashlib.sha256()

    def write(text: str) -> None:  # no two sequences of texts look alike
        sha.update(f"{len(text)}:{text}".encode())

    def add(part: object) -> None:
        if isinstance(part, Tensor):
            add((str(part.dtype), tuple(part.shape)))
            sha.update(part.detach().cpu().contiguous().numpy().tobytes())
        elif part is None or isinstance(part, (bool, int, float, str)):
            write(repr(part))
        elif isinstance(part, Mapping):
            add(tuple(part.items()))
        elif isinstance(part, (tuple, list)):
            write(f"{len(part)} parts")
            for inner in part:
                add(inner)
        elif isinstance(part, ModuleType):
            write(part.__name__)
        elif hasattr(part, "identity") and not isinstance(part, type):
            write(f"{type(part).__module__}.{type(part).__qualname__}")
            add(part.identity)
        elif hasattr(part, "__qualname__"):
            function = getattr(part, "__func__", part)  # of a method
            python = isinstance(function, (FunctionType, type)) or hasattr(function, "__wrapped__")
            if python and not _known(function):
                raise ValueError(
                    f"what a checkpoint is of must be told apart from others: put {part.__qualname__} into a module, or give it an identity"
                )
            write(f"{getattr(part, '__module__', None)}.{part.__qualname__}")
            add(getattr(part, "__self__", None))
        elif dataclasses.is_dataclass(part):
            add((type(part), *(getattr(part, field.name) for field in dataclasses.fields(part))))
        else:
            raise ValueError(
                f"what a checkpoint is of must be numbers, tensors, functions, dataclasses and what has an identity, got {part!r}"
            )

    add(parts)
    return sha.hexdigest()


def _known(part: FunctionType | type) -> bool:
    """Whether a module has it under its name; a notebook may define the name again."""
    try:
        home = sys.modules[part.__module__]
        return part.__module__ != "__main__" and attrgetter(part.__qualname__)(home) is part
    except (AttributeError, KeyError):
        return False


def save(path: Path, plan: Mapping[str, str], state: Mapping[str, object]) -> None:
    """Write a state: tensors, numbers, strings, and tuples, lists and mappings of them, by name; folders are made.

    ``plan`` has fingerprints of what the run depends on, by name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.part")
    torch.save({"plan": dict(plan), "state": dict(state)}, fresh)
    fresh.replace(path)


def restore(path: Path, plan: Mapping[str, str], device: torch.device) -> dict[str, object]:
    """Read a state back to a device, if the fingerprints are those of this run."""
    found = torch.load(path, map_location=device, weights_only=True)
    held = found["plan"] if isinstance(found["plan"], dict) else {}  # once it was one fingerprint
    other = [name for name, part in plan.items() if held.get(name) != part]
    if other:
        raise ValueError(
            f"checkpoint must belong to this run, but {path} was written with other {', '.join(other)}; name another file, or delete it"
        )
    return found["state"]
