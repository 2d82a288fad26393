"""Enclosures: a printed constant against an interval that provably holds it."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from shallowformer import arguments
from shallowformer.verify import power, untouched
from shallowformer.verify.check import Check
from shallowformer.verify.verdict import Verdict

Ends = tuple[float, float]


@dataclass(frozen=True)
class Enclosure(Check):
    """Put constants to the test: printed numbers against intervals that provably hold the true ones.

    Returns: the verdict: ``certified``, ``violated`` (an interval excludes the number and all within the tolerance) or ``undecided``.

    Args:
        formula: keyword arguments of a case → the number that is used or printed, not 0.
        encloses: the same → the ends of an interval that holds the true one, from interval arithmetic (``enclosures.ends``).
        over: cases, each a mapping of keyword arguments.
        tolerance: how far, relative to the number, either end may lie from it.
        expect: ``certified`` or ``violated``.
    """

    formula: Callable[..., float]
    encloses: Callable[..., Ends]
    over: Iterable[Mapping]
    tolerance: float
    because: str
    expect: str = "certified"

    kind = "enclosure"
    expects = ("certified", "violated")

    def __post_init__(self) -> None:
        """Refuse a check that could not fail."""
        super().__post_init__()
        object.__setattr__(self, "over", list(self.over))
        arguments.positive("tolerance", self.tolerance)

    def run(self) -> Verdict:
        """Compare every number with both ends of its interval."""
        near, far, width = 0.0, 0.0, 0.0
        if not self.over:
            raise ValueError(f"{self.claim}: over must hold at least one case, got none")
        for case in self.over:
            value = float(untouched.call("formula", self.formula, case))
            low, high = untouched.call("encloses", self.encloses, case)
            if not (math.isfinite(value) and value != 0 and -math.inf < low <= high < math.inf):
                raise ValueError(
                    f"{self.claim}: numbers must be finite, ordered and other than 0, got {value} and {low}, {high}"
                )
            size = abs(value)
            far = max(far, abs(value - low) / size, abs(value - high) / size)
            near = max(near, (low - value) / size, (value - high) / size)
            width = max(width, (high - low) / size)
        verdict = (
            "certified" if far <= self.tolerance else "violated" if near > self.tolerance else "undecided"
        )
        change = far - self.tolerance if verdict == "violated" else far + self.tolerance
        return self.verdict(
            verdict,
            f"enclosed in intervals of relative length {_digits(width)}, at most {_digits(far)} away "
            f"(tolerance {self.tolerance:.0e}); {len(self.over)} constants",
            {"distance": far, "width": width, "tolerance": self.tolerance},
            {"cases": len(self.over)},
            power.Power("value", max(change, 1e-16)),
        )


def _digits(size: float) -> str:
    """The next power of ten above, which is the same on every machine."""
    return "0" if size == 0 else f"below 1e{math.floor(math.log10(size)) + 1:+03d}"
