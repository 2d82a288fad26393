"""Checkpoints: what a run needs to go on bit for bit, written whole or not at all, and refused by any other run."""

import dataclasses
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor


def fingerprint(*parts: object) -> str:
    """A name that tells runs apart.

    Args:
        *parts: numbers, strings, tensors, functions (told apart by their qualified names), dataclasses and what has an ``identity``,
            and tuples, lists and mappings of these.
    """
    sha = hashlib.sha256()
    for part in parts:
        _add(sha, part)
    return sha.hexdigest()


def _add(sha: "hashlib._Hash", part: object) -> None:
    if isinstance(part, Tensor):
        _add(sha, (str(part.dtype), tuple(part.shape)))
        sha.update(part.detach().cpu().contiguous().numpy().tobytes())
    elif part is None or isinstance(part, (bool, int, float, str)):
        _write(sha, repr(part))
    elif isinstance(part, Mapping):
        _add(sha, tuple(part.items()))
    elif isinstance(part, (tuple, list)):
        _write(sha, f"{len(part)} parts")
        for inner in part:
            _add(sha, inner)
    elif hasattr(part, "identity"):
        _add(sha, (type(part).__qualname__, part.identity))
    elif hasattr(part, "__qualname__"):
        _write(sha, f"{part.__module__}.{part.__qualname__}")
    elif dataclasses.is_dataclass(part):
        values = (getattr(part, field.name) for field in dataclasses.fields(part))
        _add(sha, (type(part).__qualname__, *values))
    else:
        raise ValueError(
            "what a checkpoint is of must be numbers, tensors, functions, dataclasses and what has an identity, "
            f"got {part!r}"
        )


def _write(sha: "hashlib._Hash", text: str) -> None:
    """Add a text so that no two sequences of texts look alike."""
    sha.update(f"{len(text)}:{text}".encode())


def save(path: Path, plan: str, state: Mapping[str, object]) -> None:
    """Write a state.

    Args:
        path: of the file; folders are made.
        plan: fingerprint of the run.
        state: tensors, numbers, strings, and tuples, lists and mappings of them, by name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.part")
    torch.save({"plan": plan, "state": dict(state)}, fresh)
    fresh.replace(path)


def restore(path: Path, plan: str, device: torch.device) -> dict[str, object]:
    """Read a state back.

    Args:
        plan: fingerprint of the run.
        device: where its tensors go.
    """
    found = torch.load(path, map_location=device, weights_only=True)
    if found["plan"] != plan:
        raise ValueError(
            f"checkpoint must belong to this run, but {path} was written with other data, students or settings; "
            "name another file, or delete it"
        )
    return found["state"]
