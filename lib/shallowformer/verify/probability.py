"""Probabilities: the frequency of failure over independent draws, with an exact binomial interval."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool
from scipy.stats import binomtest
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.verify import power
from shallowformer.verify.claims import parse
from shallowformer.verify.verdict import Verdict

#: Level of the Clopper–Pearson interval: a check run on fresh seeds contradicts a true claim once in two hundred.
LEVEL = 0.99


def interval(failures: int, draws: int) -> tuple[float, float]:
    """Clopper–Pearson interval, at level 99 %, of a failure probability.

    Args:
        failures: from 0 to ``draws``.
        draws: at least 1.

    Returns:
        Lower and upper end.

    Raises:
        ValueError: counts out of range.
    """
    arguments.count("draws", draws)
    if arguments.count("failures", failures, 0) > draws:
        raise ValueError(f"failures must be at most draws = {draws}, got {failures}")
    ends = binomtest(failures, draws).proportion_ci(confidence_level=LEVEL, method="exact")
    return float(ends.low), float(ends.high)


def _kind(value: object) -> str:
    """What a wrong result of ``fails`` is, for the message."""
    return (
        f"{value.dtype} of shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
    )


@dataclass(frozen=True)
class Probability:
    """The check of a probability: see ``verify.probability`` for the arguments."""

    claim: str
    fails: Callable[[int, Generator], Bool[Tensor, " draws"]]
    at_most: float
    draws: int
    seed: int = 0
    expect: str = "supported"
    because: str = "99 % Clopper–Pearson interval"
    support: str = "proved"
    finding: str = ""

    def __post_init__(self) -> None:
        """Refuse a check that could not fail."""
        parse(self.claim)
        arguments.probability("at_most", self.at_most)
        arguments.count("draws", self.draws)
        if self.expect not in ("supported", "violated"):
            raise ValueError(
                f"expect must be 'supported' or 'violated' for a probability, got {self.expect!r}"
            )

    def run(self) -> Verdict:
        """Draw, count failures, and compare the interval with the claimed level."""
        failed = self.fails(self.draws, Generator().manual_seed(self.seed))
        if not isinstance(failed, Tensor) or failed.shape != (self.draws,) or failed.dtype != torch.bool:
            raise ValueError(
                f"{self.claim}: fails must return {self.draws} booleans, one a draw, got {_kind(failed)}"
            )
        failures = int(failed.sum())
        low, high = interval(failures, self.draws)
        return Verdict(
            claim=self.claim,
            kind="probability",
            expectation=self.expect,
            verdict="supported"
            if high <= self.at_most
            else "violated"
            if low > self.at_most
            else "undecided",
            summary=f"{failures} failures in {self.draws} draws, 99 % interval [{low:.4g}, {high:.4g}], claimed at most {self.at_most:g}",
            measured={"frequency": failures / self.draws, "interval": [low, high], "at_most": self.at_most},
            budget={"draws": self.draws, "seed": self.seed},
            notices=power.of_probability(low, high, self.at_most, self.expect),
            because=self.because,
            support=self.support,
            finding=self.finding,
        )
