"""Controls: an instance without a hypothesis, where the conclusion fails, and the same with it, where it holds."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

from shallowformer import arguments
from shallowformer.verify import power, untouched
from shallowformer.verify.check import Check
from shallowformer.verify.verdict import Verdict

Sides = tuple[Real, Real]


@dataclass(frozen=True)
class Control(Check):
    """Put a hypothesis to the test: a conclusion "left ≤ right" must fail at an instance without it, and hold where it is put back.

    Returns: the verdict: ``needed`` or ``undecided``.

    Args:
        instance: ``kept``, whether the hypothesis is → left and right side; whole numbers and fractions are compared exactly.
        rounding: how far the left side may exceed the right one by rounding, relative to the larger.
        expect: ``needed``.
    """

    instance: Callable[..., Sides]
    because: str
    rounding: float = 0.0
    expect: str = "needed"

    kind = "control"
    expects = ("needed",)

    def __post_init__(self) -> None:
        """Refuse a check that could not fail."""
        super().__post_init__()
        arguments.nonnegative("rounding", self.rounding)

    def run(self) -> Verdict:
        """Evaluate the conclusion without the hypothesis, and with it."""
        without, kept = (self._sides(kept) for kept in (False, True))
        needed = self._exceeds(*without) and not self._exceeds(*kept)
        (left, right), (low, high) = (map(float, sides) for sides in (without, kept))
        change = (
            power.Power("constant", left / right - 1, side="larger")
            if left > right > 0
            else power.Power("value", max(abs(left), 1e-16))
        )
        return self.verdict(
            "needed" if needed else "undecided",
            f"without it {left:.4g} where at most {right:.4g} is claimed; with it {low:.4g}, at most {high:.4g}",
            {"left": left, "right": right, "left_kept": low, "right_kept": high},
            {"instances": 2},
            change,
        )

    def _sides(self, kept: bool) -> Sides:
        left, right = untouched.call("instance", self.instance, {"kept": kept})
        if not (math.isfinite(left) and math.isfinite(right)):
            raise ValueError(f"{self.claim}: instance must give two finite numbers, got {left} and {right}")
        return left, right

    def _exceeds(self, left: Real, right: Real) -> bool:
        """Whether the conclusion fails by more than rounding."""
        if not self.rounding:
            return left > right
        return left - right > self.rounding * max(abs(left), abs(right))
