"""Rules for the step size: constant, and Polyak's.

A rule is a function of the step's number s, the losses before it, and their gradient; it returns η_s, one number for all blocks or
one a block. It keeps nothing between steps (what remembers, as momentum does, belongs to the state of descent, which is saved), so that a run
goes on from a checkpoint as if it had never stopped. A rule is a frozen dataclass: its fields tell one run from another.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.training.points import Point, blocks

StepSize = Callable[[int, Float[Tensor, " s"], Point], float | Sequence[float]]


@dataclass(frozen=True)
class Constant:
    """η_s = η."""

    eta: float  # above 0

    def __post_init__(self) -> None:
        """Check the size."""
        arguments.positive("eta", self.eta)

    def __call__(self, step: int, losses: Float[Tensor, " s"], gradient: Point) -> float:
        """η."""
        return self.eta


@dataclass(frozen=True)
class Polyak:
    """η_s = factor · (L̂ − least)/‖∇L̂‖², of one model at a time; 0 where the gradient is 0.

    Source: Polyak 1969; Loizou, Vaswani, Laradji, Lacoste-Julien 2021.
    """

    factor: float  # above 0
    least: float = 0.0  # the smallest loss, as far as it is known

    def __post_init__(self) -> None:
        """Check the numbers."""
        arguments.positive("factor", self.factor)
        arguments.at_least("least", self.least, -float("inf"))

    def __call__(self, step: int, losses: Float[Tensor, " s"], gradient: Point) -> float:
        """η_s."""
        if len(losses) != 1:
            raise ValueError(f"losses must be of one model for a Polyak step, got {len(losses)}")
        square = sum(float(block.square().sum()) for block in blocks(gradient))
        return self.factor * (float(losses[0]) - self.least) / square if square > 0 else 0.0
