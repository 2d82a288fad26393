"""Products of balls: each block of a point has units along its first dimension, and every unit has a ball of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from shallowformer import arguments
from shallowformer.training import points
from shallowformer.training.points import Point

#: One number for all units, or one a unit.
Radius = float | Float[Tensor, ""] | Float[Tensor, " k"]

#: Between this and its inverse the squares of a vector neither overflow nor vanish, in single precision too.
_PLAIN = 1e-12


def lengths(units: Float[Tensor, "k ..."]) -> Float[Tensor, " k"]:
    """Norm of each unit, whatever the size of its entries."""
    rows, scale = _balanced(units)
    return scale * torch.linalg.vector_norm(rows, dim=1)


def _balanced(units: Tensor) -> tuple[Tensor, Tensor]:
    """Units in rows, and the powers of 2 that they were divided by, which rounds nothing: the largest entry is in [1, 2), or all are 0."""
    rows = units.reshape(len(units), -1)
    largest = rows.abs().amax(1)
    largest = torch.where(largest > 0, largest, 1.0)
    scale = largest / (2 * torch.frexp(largest).mantissa)
    return rows / scale[:, None], scale


def spread(
    values: Float[Tensor, " k"] | Bool[Tensor, " k"], units: Float[Tensor, "k ..."]
) -> Shaped[Tensor, "k ..."]:
    """One value a unit, with as many dimensions as the units, to multiply or select them."""
    return values.reshape(-1, *[1] * (units.ndim - 1))


def to_length(units: Float[Tensor, " k *e"], length: Radius) -> Float[Tensor, " k *e"]:
    """Units scaled to a length, however short they are; 0 stays 0."""
    rows = units.reshape(len(units), -1)
    norm = torch.linalg.vector_norm(rows, dim=1)
    if not _PLAIN < float(norm.min()) <= float(norm.max()) < 1 / _PLAIN:  # squares may overflow or vanish
        rows, _ = _balanced(units)
        norm = torch.linalg.vector_norm(rows, dim=1).clamp(min=1)
    return (rows * (length / norm)[:, None]).reshape(units.shape)


def shorten(
    steps: Float[Tensor, " k *e"],
    radius: Radius,
    slack: Radius = 0.0,
    norm: Callable[[Float[Tensor, "k ..."]], Float[Tensor, " k"]] = lengths,
) -> tuple[Float[Tensor, " k *e"], Bool[Tensor, " k"]]:
    """Scale every step that is longer than its radius down to it; all others are returned bit for bit.

    Returns: the steps, and which of them were scaled.

    Args:
        slack: by how much a step may be longer and still counts as short enough.
        norm: how lengths are measured; a plain norm will do, and is faster, where squares neither overflow nor vanish.
    """
    length = norm(steps)
    outside = length > radius + slack
    if not outside.any():
        return steps, outside
    shrink = radius / torch.where(outside, length, 1.0)
    return torch.where(spread(outside, steps), steps * spread(shrink, steps), steps), outside


def project(
    units: Float[Tensor, " k *e"],
    centre: Float[Tensor, " k *e"],
    radius: Radius,
    slack: Radius = 0.0,
    norm: Callable[[Float[Tensor, "k ..."]], Float[Tensor, " k"]] = lengths,
) -> tuple[Float[Tensor, " k *e"], Bool[Tensor, " k"]]:
    """Pull every unit outside its ball back radially; what lies inside is returned bit for bit.

    Returns: the nearest point of the product, and which units were pulled.

    Args:
        slack: by how much a unit may be further out and still counts as inside.
    """
    step, outside = shorten(units - centre, radius, slack, norm)
    if not outside.any():
        return units, outside
    return torch.where(spread(outside, step), centre + step, units), outside


@dataclass(frozen=True)
class Balls:
    """The projection on a product of balls, to be handed to ``descent.run``."""

    centre: Point  # of the balls
    radii: Sequence[Radius]  # those of each block

    def __post_init__(self) -> None:
        """Check that each block has a radius."""
        points.one_each("radii", self.radii, self.centre)
        for radius in self.radii:
            arguments.nonnegative("radius", radius)

    def __call__(self, point: Point) -> tuple[Point, Float[Tensor, "1 b"]]:
        """The nearest point of the product, and which share of each block's units was pulled."""
        shares = []

        def nearest(block: Tensor, centre: Tensor, radius: Radius) -> Tensor:
            inside, outside = project(block, centre, radius)
            shares.append(outside.to(block.dtype).mean())
            return inside

        radii = points.one_each("radii", self.radii, self.centre)
        return points.mapped(nearest, point, self.centre, radii), torch.stack(shares)[None]
