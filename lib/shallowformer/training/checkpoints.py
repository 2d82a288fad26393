"""Checkpoints: what a run needs to go on bit for bit, written whole or not at all, and refused by any other run."""

import dataclasses
import dis
import hashlib
import os
import sys
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import torch
from torch import Tensor


def fingerprint(*parts: object) -> str:
    """A name that tells runs apart.

    Args:
        *parts: numbers, strings, tensors, functions, classes, modules, dataclasses and what has an ``identity``, and tuples, lists and
            mappings of these. A function or class is known by its name where its module has it under that; one made in place, or in a
            notebook, by its code and all that it refers to.
    """
    sha, made = hashlib.sha256(), []

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
        elif hasattr(part, "__qualname__"):
            write(f"{part.__module__}.{part.__qualname__}")
            add(getattr(part, "__self__", None))  # of a method
            function = getattr(part, "__func__", part)
            if function in made:  # it refers to itself
                write(f"as above, {made.index(function)}")
            elif isinstance(function, (FunctionType, type)) and not _known(function):
                made.append(function)
                add(_class(function) if isinstance(function, type) else _function(function))
        elif hasattr(part, "identity"):
            add((type(part), part.identity))
        elif dataclasses.is_dataclass(part):
            add((type(part), *(getattr(part, field.name) for field in dataclasses.fields(part))))
        else:
            raise ValueError(
                "what a checkpoint is of, and what its functions refer to, must be numbers, tensors, functions, dataclasses and what has "
                f"an identity, got {part!r}"
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


def _function(part: FunctionType) -> tuple:
    """Code, defaults, what is enclosed, and the globals that are read."""
    codes, text = [part.__code__], []
    for code in codes:  # which grow by the functions inside
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
        text += [code.co_code.hex(), repr(code.co_names)]
        text += [
            sorted(map(repr, one))
            if isinstance(one, frozenset)
            else repr(one)  # a set's order is not its own
            for one in code.co_consts
            if not isinstance(one, CodeType)
        ]
    steps = (step for code in codes for step in dis.get_instructions(code))
    read = {step.argval for step in steps if step.opname == "LOAD_GLOBAL"} & part.__globals__.keys()
    enclosed = [cell.cell_contents for cell in part.__closure__ or ()]
    return text, part.__defaults__, part.__kwdefaults__, enclosed, [part.__globals__[name] for name in sorted(read)]  # fmt: skip


def _class(part: type) -> list:
    """What it derives from, and the functions and constants that are its own."""
    inside = {name: getattr(one, "fget", getattr(one, "__func__", one)) for name, one in vars(part).items()}
    own = {
        name: one
        for name, one in inside.items()
        if (isinstance(one, FunctionType) and name not in vars(object))
        or (isinstance(one, (bool, int, float, str, tuple, Tensor)) and not name.startswith("__"))
    }
    return [part.__bases__, own]


def save(path: Path, plan: Mapping[str, str], state: Mapping[str, object]) -> None:
    """Write a state.

    Args:
        path: of the file; folders are made.
        plan: fingerprints of what the run depends on, by name.
        state: tensors, numbers, strings, and tuples, lists and mappings of them, by name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.part")
    torch.save({"plan": dict(plan), "state": dict(state)}, fresh)
    fresh.replace(path)


def restore(path: Path, plan: Mapping[str, str], device: torch.device) -> dict[str, object]:
    """Read a state back.

    Args:
        plan: fingerprints of what this run depends on, by name.
        device: where its tensors go.
    """
    found = torch.load(path, map_location=device, weights_only=True)
    other = [name for name, part in plan.items() if found["plan"].get(name) != part]
    if other:
        raise ValueError(
            f"checkpoint must belong to this run, but {path} was written with other {', '.join(other)}; name another file, or delete it"
        )
    return found["state"]
