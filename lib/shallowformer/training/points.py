"""Points of a parameter space: fixed tuples of tensors, or mappings of names to tensors, worked on block by block."""

from collections.abc import Callable, Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

Block = Float[Tensor, "..."]
Point = tuple[Block, ...] | Mapping[str, Block]


def blocks(point: Point) -> tuple[Block, ...]:
    """The blocks of a point, in order."""
    return tuple(point.values() if isinstance(point, Mapping) else point)


def mapped(function: Callable[..., Block], point: Point, *others: tuple | Mapping[str, object]) -> Point:
    """Apply a function to every block, together with the same block of others: points of the same form, or what ``one_each`` gives."""
    if isinstance(point, Mapping):
        return {name: function(block, *(other[name] for other in others)) for name, block in point.items()}
    return tuple(function(*parts) for parts in zip(point, *others, strict=True))


def one_each(name: str, values: Sequence, point: Point) -> tuple | dict:
    """One value a block, in the form of a point, for ``mapped``; refuses any other number of them by the name that they have."""
    if len(values) != len(point):
        raise ValueError(f"{name} must be one a block, {len(point)} of them, got {len(values)}")
    return dict(zip(point, values, strict=True)) if isinstance(point, Mapping) else tuple(values)


def plus(point: Point, step: Point, scale: float = 1.0) -> Point:
    """φ + scale · δ."""
    return mapped(lambda block, move: block + scale * move, point, step)


def inner(point: Point, other: Point) -> Float[Tensor, ""]:
    """⟨φ, ψ⟩ over all blocks."""
    return sum(blocks(mapped(lambda a, b: (a * b).sum(), point, other)))


def norm(point: Point) -> Float[Tensor, ""]:
    """‖φ‖ over all blocks."""
    return torch.stack([torch.linalg.vector_norm(block) for block in blocks(point)]).norm()


def squared_distance(point: Point, other: Point) -> Float[Tensor, ""]:
    """‖φ − ψ‖² over all blocks."""
    return sum(blocks(mapped(lambda a, b: (a - b).square().sum(), point, other)))
