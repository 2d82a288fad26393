"""Enclosures: a printed constant against an interval that provably holds it."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from shallowformer import arguments
from shallowformer.verify import power, untouched
from shallowformer.verify.claims import parse
from shallowformer.verify.verdict import Verdict

Ends = tuple[float, float]


@dataclass(frozen=True)
class Enclosure:
    """The check of an enclosure: see ``verify.enclosure`` for the arguments."""

    claim: str
    formula: Callable[..., float]
    encloses: Callable[..., Ends]
    over: Iterable[Mapping]
    tolerance: float
    because: str
    expect: str = "certified"
    support: str = "proved"
    finding: str = ""

    def __post_init__(self) -> None:
        """Refuse a check that could not fail."""
        parse(self.claim)
        arguments.positive("tolerance", self.tolerance)
        if not self.because:
            raise ValueError("because must say what the tolerance is derived from, got nothing")
        if self.expect not in ("certified", "violated"):
            raise ValueError(
                f"expect must be 'certified' or 'violated' for an enclosure, got {self.expect!r}"
            )

    def run(self) -> Verdict:
        """Compare every number with both ends of its interval."""
        near, far, width = 0.0, 0.0, 0.0
        cases = list(self.over)
        if not cases:
            raise ValueError(f"{self.claim}: over must hold at least one case, got none")
        for case in cases:
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
        return Verdict(
            claim=self.claim,
            kind="enclosure",
            expectation=self.expect,
            verdict=verdict,
            summary=f"enclosed in intervals of relative length {_digits(width)}, at most {_digits(far)} away "
            f"(tolerance {self.tolerance:.0e}); {len(cases)} constants",
            measured={"distance": far, "width": width, "tolerance": self.tolerance},
            budget={"cases": len(cases)},
            notices=power.Power("value", max(change, 1e-16)),
            because=self.because,
            support=self.support,
            finding=self.finding,
        )


def _digits(size: float) -> str:
    """The next power of ten above, which is the same on every machine."""
    return "0" if size == 0 else f"below 1e{math.floor(math.log10(size)) + 1:+03d}"
