"""Probabilities: the frequency of failure over independent draws, with an exact binomial interval; and the quantile that decides."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from scipy.stats import binom, binomtest
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.verify import power, watched
from shallowformer.verify.check import Check
from shallowformer.verify.verdict import SHORTFALL, Verdict

#: Level of the Clopper–Pearson interval: a check run on fresh seeds contradicts a true claim once in two hundred.
LEVEL = 0.99
#: How far outside the interval a stated quantile may lie: where the law has an atom, the interval is a single rounded number.
ROUNDING = 1e-12


def interval(failures: int, draws: int) -> tuple[float, float]:
    """Clopper–Pearson interval, at level 99 %, of a failure probability: lower and upper end."""
    arguments.count("draws", draws)
    if arguments.count("failures", failures, 0) > draws:
        raise ValueError(f"failures must be at most draws = {draws}, got {failures}")
    ends = binomtest(failures, draws).proportion_ci(confidence_level=LEVEL, method="exact")
    return float(ends.low), float(ends.high)


def _ranks(draws: int, quantile: float) -> tuple[int, int]:
    """Which two of so many values in order, counted from 1, enclose a quantile of their law, whatever it is, at level 99 %.

    The number of values below the quantile is binomial: each rank leaves at most half of the error beyond it.
    """
    lower = int(binom.ppf((1 - LEVEL) / 2, draws, quantile))
    upper = int(binom.isf((1 - LEVEL) / 2, draws, quantile)) + 1
    if lower < 1 or upper > draws:
        raise ValueError(f"draws must be more for an interval of the {quantile:g} quantile, got {draws}")
    return lower, upper


def quantile_interval(values: Float[Tensor, " draws"], quantile: float) -> tuple[float, float]:
    """Lower and upper end, at level 99 %, of a quantile, in (0, 1), of the law of independent values: two of these values in order."""
    arguments.probability("quantile", quantile)
    lower, upper = _ranks(arguments.count("the number of values", len(values)), quantile)
    if values.isnan().any():
        raise ValueError("values must be numbers, got NaN")
    ordered = values.sort().values
    return float(ordered[lower - 1]), float(ordered[upper - 1])


def _within(value: float, ends: tuple[float, float]) -> bool:
    """Whether a value lies in an interval, up to rounding."""
    return ends[0] * (1 - ROUNDING) <= value <= ends[1] * (1 + ROUNDING)


def _kind(value: object) -> str:
    """What a wrong result of ``fails`` is, for the message."""
    return (
        f"{value.dtype} of shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
    )


@dataclass(frozen=True)
class Probability(Check):
    """Put a probability to the test: the failure frequency over independent draws against the claimed level.

    Returns: the verdict: ``supported``, ``violated`` or ``undecided``.

    Args:
        fails: (draws, generator) → True where the event that should hold does not; with ``attains``, left side over right side.
        at_most: the claimed bound on the probability of failure, in (0, 1).
        draws: how many; the interval must end below the bound, so take at least 5.3 / ``at_most``.
        seed: of the draws.
        expect: ``supported`` or ``violated``.
        attains: what the 1 − ``at_most`` quantile (or ``quantile``) of left side over right side is. A bound that is hardly ever exceeded
            says more with it: the quantile's 99 % interval must hold it, and then a bound with another constant is noticed.
        quantile: the one that ``attains`` is, if not 1 − ``at_most``.
        stored: True of draws that were made before; else ``fails`` must use its generator.
    """

    fails: Callable[[int, Generator], Bool[Tensor, " draws"] | Float[Tensor, " draws"]]
    at_most: float
    draws: int
    seed: int = 0
    expect: str = "supported"
    because: str = "99 % Clopper–Pearson interval"
    attains: float | None = None
    quantile: float | None = None
    stored: bool = False

    kind = "probability"
    expects = ("supported", "violated")

    def __post_init__(self) -> None:
        """Refuse a check that could not fail."""
        super().__post_init__()
        arguments.probability("at_most", self.at_most)
        arguments.count("draws", self.draws)
        if self.quantile is not None and self.attains is None:
            raise ValueError("quantile must come with attains, the value that it has, got none")
        if self.attains is not None:
            arguments.positive("attains", self.attains)
            _ranks(self.draws, arguments.probability("quantile", self._quantile))

    @property
    def _quantile(self) -> float:
        """The quantile that decides: a bound with this failure probability is at least as large."""
        return 1 - self.at_most if self.quantile is None else self.quantile

    def excluded(self, frequency: tuple[float, float], quantile: tuple[float, float] | None) -> bool:
        """Whether intervals contradict the claimed level, or the value that the quantile is said to have."""
        if frequency[0] > self.at_most:
            return True
        return quantile is not None and not _within(self.attains, quantile)

    def run(self) -> Verdict:
        """Draw, count failures, compare the interval with the claimed level, and the quantile with its stated value."""
        drawn = self._drawn()
        failures = int((drawn if drawn.dtype == torch.bool else drawn > 1).sum())
        low, high = interval(failures, self.draws)
        verdict = "supported" if high <= self.at_most else "violated" if low > self.at_most else "undecided"
        summary = f"{failures} failures in {self.draws} draws, 99 % interval [{low:.4g}, {high:.4g}], claimed at most {self.at_most:g}"
        measured = {"frequency": failures / self.draws, "interval": [low, high], "at_most": self.at_most}
        ends = None
        if self.attains is not None:
            ends = quantile_interval(drawn, self._quantile)
            measured |= {
                "attains": self.attains,
                "quantile": self._quantile,
                "quantile_interval": list(ends),
            }
            summary += f"; {100 * self._quantile:g} % quantile of left side over right side in [{ends[0]:.4g}, {ends[1]:.4g}]"
            if not _within(self.attains, ends):
                summary += f", which the claim says is {self.attains:.4g}"
                verdict = SHORTFALL
        return self.verdict(
            verdict,
            summary,
            measured,
            {"draws": self.draws, "seed": self.seed},
            power.of_probability(low, high, self.at_most, self.expect, self.attains, ends),
        )

    def _drawn(self) -> Bool[Tensor, " draws"] | Float[Tensor, " draws"]:
        """What ``fails`` gives, refused unless it is one boolean a draw, or one ratio where a quantile is stated."""
        generator = watched.Listening().manual_seed(self.seed)
        before = generator.get_state()
        with watched.Comparing() as compared:
            drawn = self.fails(self.draws, generator)
        proper = isinstance(drawn, Tensor) and drawn.shape == (self.draws,)
        ratios = self.attains is not None
        if not proper or not (drawn.is_floating_point() if ratios else drawn.dtype == torch.bool):
            kinds = "ratios" if ratios else "booleans"
            raise ValueError(
                f"{self.claim}: fails must return {self.draws} {kinds}, one a draw, got {_kind(drawn)}"
            )
        if ratios and drawn.isnan().any():
            raise ValueError(f"{self.claim}: fails must return numbers, got {int(drawn.isnan().sum())} NaN")
        if compared.unanswered:
            raise ValueError(
                f"{self.claim}: fails must compare numbers, compared {compared.unanswered} times with NaN or an infinity with itself"
            )
        if not (self.stored or generator.asked) and torch.equal(before, generator.get_state()):
            raise ValueError(
                f"{self.claim}: fails must draw from the generator that it is given, left it as it was; or say stored=True of stored draws"
            )
        return drawn
