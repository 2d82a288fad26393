"""What a theory says of a run before its first step, and how it is scored afterwards."""

import math
from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor

#: Wider than this share of the trivial loss, an interval says nothing.
SAYS_NOTHING = 0.5


@dataclass(frozen=True)
class Prediction:
    """An interval for a quantity at some steps of a run."""

    theory: str  # "kernel", "residual", "selection" or "preconditioned"
    voice: str  # "theorem": proved for this run, so that it cannot fail; "forecast": what the theory says in its limit
    quantity: str  # what is left of the trivial loss: "loss"
    steps: tuple[int, ...]  # at which steps
    low: Float[Tensor, " s"]
    high: Float[Tensor, " s"]
    rests_on: tuple[str, ...]  # ids of statements

    def speaks(self) -> Bool[Tensor, " s"]:
        """At which steps the interval is narrow enough to say something."""
        return (self.high - self.low <= SAYS_NOTHING) & self.high.isfinite()

    def holds(self, truth: Float[Tensor, " s"], rounding: float = 1e-9) -> Bool[Tensor, " s"]:
        """At which steps the truth lies in the interval."""
        return (self.low - rounding <= truth) & (truth <= self.high + rounding)


def interval_score(low: float, high: float, truth: float, level: float = 0.9) -> float:
    """Width plus 2/(1 − level) times the distance by which the truth was missed. Source: Gneiting and Raftery 2007, equation (43)."""
    if not math.isfinite(truth):
        return math.inf
    return high - low + 2 / (1 - level) * max(low - truth, truth - high, 0.0)
