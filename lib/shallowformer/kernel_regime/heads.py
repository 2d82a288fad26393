"""Students side by side: the heads of several models in one row, the last axis, so that one pass serves them all."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime.parameters import Parameters


@dataclass(frozen=True)
class Heads:
    """Heads of one or several students; M is the number of heads of all of them.

    Args:
        c: readouts, Float[Tensor, "M"].
        U: feed-forward vectors, Float[Tensor, "d M"].
        W: attention matrices, Float[Tensor, "d d M"], with ``W[b, a, i]`` the entry (a, b) of W_i.
        widths: number of heads of each student, in order.
    """

    c: Tensor
    U: Tensor
    W: Tensor
    widths: tuple[int, ...]

    @classmethod
    def of(cls, *students: Parameters) -> "Heads":
        """Put students side by side.

        Args:
            *students: at least one, all of the same token dimension, dtype and device; widths may differ.

        Returns:
            Their heads.

        Raises:
            ValueError: no student, or students that differ in dimension, dtype or device.
        """
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
    def blocks(self) -> tuple[Tensor, Tensor, Tensor]:
        """(c, U, W)."""
        return self.c, self.U, self.W

    def map(self, function, *others: "Heads") -> "Heads":
        """Apply a function to each block, together with the same block of others.

        Args:
            function: tensors → tensor, of the blocks' shape.
            *others: further heads of the same shapes.

        Returns:
            New heads.
        """
        zipped = zip(self.blocks, *(other.blocks for other in others), strict=True)
        return Heads(*(function(*blocks) for blocks in zipped), self.widths)

    def spread(self, values: Sequence[float]) -> Tensor:
        """One value a student, given to each of its heads.

        Args:
            values: as many as there are students.

        Returns:
            Float[Tensor, "M"].
        """
        return torch.cat([self.c.new_full((m,), value) for m, value in zip(self.widths, values, strict=True)])

    def students(self) -> tuple[Parameters, ...]:
        """The students, in order: copies that nothing else writes to."""
        first = lambda block: block.permute(*range(block.ndim - 1, -1, -1)).contiguous().clone()
        parts = (first(block).split(self.widths) for block in self.blocks)
        return tuple(Parameters(*(part.clone() for part in blocks)) for blocks in zip(*parts, strict=True))
