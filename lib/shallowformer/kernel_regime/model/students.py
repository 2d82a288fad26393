"""Students side by side: the heads of several models in one row, the last axis, so that one pass serves them all."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.training import points


@dataclass(frozen=True)
class Students:
    """One or several students; M is the number of heads of all of them."""

    c: Float[Tensor, " M"]  # readouts
    U: Float[Tensor, "d M"]  # feed-forward vectors
    W: Float[Tensor, "d d M"]  # attention matrices, with ``W[b, a, i]`` the entry (a, b) of W_i
    widths: tuple[int, ...]  # number of heads of each student, in order

    @classmethod
    def of(cls, *students: Parameters) -> "Students":
        """Put students side by side: at least one, all of the same token dimension, dtype and device; widths may differ."""
        if not students:
            raise ValueError("students must be at least one set of parameters, got none")
        first = students[0]
        for k, student in enumerate(students):
            if student.d != first.d:
                raise ValueError(
                    f"students must share one dimension d = {first.d}, got {student.d} at position {k}"
                )
            arguments.same_kind("students[0]", first.W, **{f"students[{k}]": student.W})
        last = lambda blocks: torch.cat(blocks).permute(*range(blocks[0].ndim - 1, -1, -1)).contiguous()
        c, U, W = (last(blocks) for blocks in zip(*(student.blocks for student in students), strict=True))
        return cls(c, U, W, tuple(student.m for student in students))

    @property
    def blocks(self) -> tuple[Float[Tensor, " M"], Float[Tensor, "d M"], Float[Tensor, "d d M"]]:
        """(c, U, W)."""
        return self.c, self.U, self.W

    def map(self, function, *others: "Students") -> "Students":
        """Apply a function, tensors → tensor of the same shape, to each block, together with the same block of others."""
        blocks = points.mapped(function, self.blocks, *(other.blocks for other in others))
        return Students(*blocks, self.widths)

    @property
    def owner(self) -> Int[Tensor, " M"]:
        """Which student each head belongs to."""
        widths = torch.tensor(self.widths, device=self.c.device)
        return torch.arange(len(widths), device=self.c.device).repeat_interleave(widths)

    def spread(self, values: Sequence[float]) -> Float[Tensor, " M"]:
        """One value a student, given to each of its heads."""
        if len(self.widths) == 1:
            return torch.full_like(self.c, *values)
        return self.c.new_tensor(values)[self.owner]

    def apart(self) -> tuple[Parameters, ...]:
        """The students one by one, in order: copies that nothing else writes to."""
        first = lambda block: block.permute(*range(block.ndim - 1, -1, -1)).contiguous().clone()
        parts = (first(block).split(self.widths) for block in self.blocks)
        return tuple(Parameters(*(part.clone() for part in blocks)) for blocks in zip(*parts, strict=True))
