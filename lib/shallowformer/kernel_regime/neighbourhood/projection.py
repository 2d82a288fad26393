"""Ω_ρ around students side by side, as descent meets it: the projection on it, and how far they have come."""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.contracts import Triple, contracted
from shallowformer.kernel_regime.model.students import Students
from shallowformer.kernel_regime.neighbourhood.region import radii
from shallowformer.training import balls
from shallowformer.training.points import Point


@contracted
@dataclass(frozen=True)
class Projection:
    """Π on Ω_ρ, each student around its own start, to be handed to ``training.descent``."""

    start: Students
    rho: Triple

    @property
    def identity(self) -> tuple:
        """What tells it from others, for ``training.checkpoints``; the start is known from the run."""
        return tuple(self.rho)

    @cached_property
    def limits(self) -> tuple[Float[Tensor, " M"], ...]:
        """How far each head may move in c, U and W."""
        by_block = zip(*(radii(self.rho, m) for m in self.start.widths), strict=True)
        return tuple(self.start.spread(values) for values in by_block)

    def __call__(self, point: Point) -> tuple[Point, Float[Tensor, "s 3"]]:
        """Π(φ), and which share of each student's heads it moved in c, U and W."""
        blocks, moved = [], []
        owner, sizes = self.start.owner, point[0].new_tensor(self.start.widths)
        for now, centre, limit in zip(point, self.start.blocks, self.limits, strict=True):
            inside, outside = balls.project(_heads(now), _heads(centre), limit, norm=_norm)
            blocks.append(inside.T.reshape(now.shape))
            moved.append(sizes.new_zeros(len(sizes)).index_add(0, owner, outside.to(now.dtype)) / sizes)
        return tuple(blocks), torch.stack(moved, -1)


def longest_displacements(start: Students, point: Point) -> Float[Tensor, "s 3"]:
    """√m times the longest displacement of a head in c, U and W, in the units of ρ, student by student."""
    owner, sizes = start.owner, start.c.new_tensor(start.widths)
    lengths = [_norm(_heads(block - centre)) for block, centre in zip(point, start.blocks, strict=True)]
    longest = [sizes.new_zeros(len(sizes)).scatter_reduce(0, owner, each, "amax") for each in lengths]
    return torch.stack(longest, -1) * sizes.sqrt()[:, None]


def _heads(block: Float[Tensor, "... M"]) -> Float[Tensor, "M p"]:
    """Heads of students side by side in rows: a view."""
    return block.reshape(-1, block.shape[-1]).T


def _norm(heads: Float[Tensor, "M p"]) -> Float[Tensor, " M"]:
    """Plain norms: what a run does is not so large that its square overflows."""
    return torch.linalg.vector_norm(heads, dim=1)
