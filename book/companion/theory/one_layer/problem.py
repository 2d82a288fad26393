"""A problem: data, a layer, a start and a way to step; everything that is known before the first step, and nothing else."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.one_layer.layer import LOSSES, Switches, outputs
from shallowformer import arguments
from shallowformer.contracts import Count, Positive, contracted

Point = dict[str, Tensor]


@contracted
@dataclass(frozen=True)
class Problem:
    """Descent of a layer on n samples, before it begins."""

    X: Float[Tensor, "n T d"]  # tokens
    q: Float[Tensor, "n d"]  # queries
    y: Float[Tensor, "n k"]  # labels; ±1 under exponential loss
    start: Point  # C [m, k], U [m, d], W [m, d, d] or [1, d, d]
    switches: Switches
    #: plain: the step η on the mean loss; normalised: the length of a step; preconditioned: η on (U, V) of ``shallowformer.preconditioned``
    eta: Positive
    steps: Count
    name: str = ""  # which data, for the reader

    def __post_init__(self) -> None:
        """Refuse blocks that do not fit the data or the switches, and labels that are no signs."""
        n, _, d = arguments.floating("X", self.X, "n T d").shape
        arguments.shape("q", arguments.floating("q", self.q, "n d"), (n, d), "[n, d] as in X")
        k = arguments.floating("y", self.y, "n k").shape[1]
        arguments.shape("y", self.y, (n, k), "[n, k], n as in X")
        if set(self.start) != set("CUW"):
            raise ValueError(f"start must have the blocks C, U, W, got {sorted(self.start)}")
        m = len(arguments.floating("start U", self.start["U"], "m d"))
        h = m if self.switches.heads == "own" else 1
        for name, there in (("C", (m, k)), ("U", (m, d)), ("W", (h, d, d))):
            arguments.shape(
                f"start {name}", self.start[name], there, f"for {self.switches.heads} heads and this U"
            )
        if self.switches.loss == "exponential" and not (self.y.abs() == 1).all():
            raise ValueError(
                f"y must be ±1 under exponential loss, got {float(self.y[self.y.abs() != 1][0])}"
            )

    @property
    def m(self) -> int:
        """Number of units."""
        return len(self.start["U"])

    def outputs(self, point: Point) -> Float[Tensor, "n k"]:
        """The layer's outputs on the data."""
        return outputs(self.X, self.q, point, self.switches)

    def loss(self, F: Float[Tensor, "*s n k"]) -> Float[Tensor, "*s"]:
        """The mean loss of outputs over its value at outputs 0: what is left of the trivial loss, the quantity that all theories predict."""
        value = LOSSES[self.switches.loss]
        return value(F, self.y).mean(-1) / value(torch.zeros_like(self.y), self.y).mean()


def checkpoints(steps: int) -> list[int]:
    """The steps at which predictions are held against a run: 0 and powers of 2, the last one included."""
    return [0, *(2**k for k in range(steps.bit_length()) if 2**k < steps), steps]


def symmetric(m: int, h: int, d: int, generator: Generator) -> Point:
    """Gaussian units in pairs with opposite readouts, so that outputs are 0; with shared attention the pairs share it as well."""
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    half = m // 2
    sign = draw(half, 1).sign()
    U, W = draw(half, d), draw(half if h > 1 else 1, d, d)
    return {"C": torch.cat([sign, -sign]), "U": U.repeat(2, 1), "W": W.repeat(2, 1, 1) if h > 1 else W}
