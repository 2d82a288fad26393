"""Rates: the exponent of a power law or of a geometric law, with a bootstrap interval over seeds; and whether a line fits at all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from jaxtyping import Num
from scipy.stats import norm
from scipy.stats import t as student

from shallowformer import arguments
from shallowformer.verify import power
from shallowformer.verify.check import Check
from shallowformer.verify.verdict import Verdict

#: Resamples of the seeds, and the level of the interval.
RESAMPLES, LEVEL = 2000, 0.95
#: Level at which all pairs of sizes together have slopes that a law allows.
FITS = 0.99


@dataclass(frozen=True)
class Fit:
    """A fitted slope."""

    slope: float  # least-squares slope through the means over seeds
    low: float  # lower end of the 95 % bootstrap interval
    high: float  # upper end
    intercept: float  # of the fitted line


def _sizes(x: Sequence[float] | Num[np.ndarray, " k"], law: str) -> np.ndarray:
    """The values to fit against, refused where no line can be fitted."""
    x = np.asarray(x, float)
    if law not in ("power", "geometric"):
        raise ValueError(f"law must be 'power' or 'geometric', got {law!r}")
    if x.ndim != 1 or len(np.unique(x)) < 3:
        raise ValueError(f"x must hold at least three different values, got {x.tolist()}")
    if law == "power" and not (x > 0).all():
        raise ValueError(f"x must be above 0 for a power law, got {x.tolist()}")
    if not np.isfinite(x).all():
        raise ValueError(f"x must be finite, got {x.tolist()}")
    return x


def fit(
    x: Sequence[float] | Num[np.ndarray, " k"],
    y: Num[np.ndarray, "seeds k"],
    law: str = "power",
    seed: int = 0,
) -> Fit:
    """Fit log y = intercept + slope · log x (``power``) or · x (``geometric``), resampling whole seeds.

    Returns: slope and interval; with a single seed the interval has no width.

    Args:
        x: at least three different values, above 0 for a power law.
        y: all above 0.
    """
    x, y = _sizes(x, law), np.asarray(y, float)
    if y.ndim != 2 or y.shape[1] != len(x) or y.shape[0] == 0:
        raise ValueError(f"y must have shape [seeds, {len(x)}], got {y.shape}")
    if not (np.isfinite(y).all() and (y > 0).all()):
        bad = y[~(np.isfinite(y) & (y > 0))][0]
        raise ValueError(f"y must be finite and above 0 to have a logarithm, got {float(bad)}")
    t = np.log(x) if law == "power" else x
    centred = t - t.mean()
    slopes = (
        np.log(y) @ centred / (centred @ centred)
    )  # one a seed; the slope of the mean is the mean of the slopes
    draws = np.random.default_rng(seed).integers(len(slopes), size=(RESAMPLES, len(slopes)))
    slope, S = float(slopes.mean()), len(slopes)
    # The percentile interval of few seeds is too short: widen it as Student's t does.
    widen = (
        np.sqrt(S / (S - 1)) * student.ppf((1 + LEVEL) / 2, S - 1) / norm.ppf((1 + LEVEL) / 2)
        if S > 1
        else 1.0
    )
    low, high = slope + widen * (
        np.quantile(slopes[draws].mean(1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) - slope
    )
    return Fit(slope, float(low), float(high), float(np.log(y).mean() - slope * t.mean()))


@dataclass(frozen=True)
class Rate(Check):
    """Put a rate to the test: fit the exponent over seeds and compare its bootstrap interval with the claimed one.

    Returns: the verdict: ``supported``, ``violated`` or ``undecided``.

    Args:
        measure: (value, seed) → a number above 0.
        over: at least three values of m, τ, T, n, …
        exponent: the claimed slope of log y against log x (or against x, for ``law="geometric"``).
        relation: ``equal``; ``at most`` for an upper bound y ≤ C·x^exponent, contradicted only by a larger slope; ``at least``.
        seeds: of the repetitions; 10 or more for a random quantity.
        resolution: widest interval that supports a claim; a wider one that meets the exponent is ``undecided`` and fails.
        law: ``power`` or ``geometric``.
        bias: known deviation at finite size.
        deterministic: one seed is enough.
        expect: ``supported`` or ``violated``.
    """

    measure: Callable[[float, int], float]
    over: Sequence[float]
    exponent: float
    relation: str
    seeds: Sequence[int]
    resolution: float
    because: str
    law: str = "power"
    bias: float = 0.0
    deterministic: bool = False
    expect: str = "supported"
    support: str = field(default="numerical", kw_only=True)

    kind = "rate"
    expects = ("supported", "violated")

    def __post_init__(self) -> None:
        """Refuse a check that could not fail."""
        super().__post_init__()
        for name in ("over", "seeds"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        arguments.positive("resolution", self.resolution)
        if self.relation not in ("equal", "at most", "at least"):
            raise ValueError(f"relation must be 'equal', 'at most' or 'at least', got {self.relation!r}")
        if not (self.bias >= 0 and np.isfinite(self.bias)):
            raise ValueError(f"bias must be finite and at least 0, got {self.bias}")
        if not np.isfinite(self.exponent):
            raise ValueError(f"exponent must be finite, got {self.exponent}")
        if not len(self.seeds):
            raise ValueError("seeds must hold at least one seed, got none")
        if len(self.seeds) == 1 and not self.deterministic:
            raise ValueError(
                "seeds must hold several seeds, or an interval has no width; or say deterministic=True; got 1"
            )
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"seeds must be different, got {list(self.seeds)}")
        _sizes(self.over, self.law)

    @property
    def _slack(self) -> float:
        """The bias, and a little: the fit rounds, and exact laws have no width."""
        return self.bias + 1e-12 * max(1.0, abs(self.exponent))

    def excluded(self, low: float, high: float) -> bool:
        """Whether an interval of slopes contradicts the claim."""
        above, below = low > self.exponent + self._slack, high < self.exponent - self._slack
        return {"equal": above or below, "at most": above, "at least": below}[self.relation]

    def _measured(self) -> np.ndarray:
        """What is measured, one row a seed; refused where seeds make no difference."""
        y = np.array([[float(self.measure(x, seed)) for x in self.over] for seed in self.seeds])
        if not self.deterministic:
            for a, b in combinations(range(len(y)), 2):
                if np.array_equal(y[a], y[b]):
                    raise ValueError(
                        f"{self.claim}: measure must depend on the seed, got the same at seeds {self.seeds[a]} and {self.seeds[b]}; "
                        "if nothing is drawn, give one seed and deterministic=True"
                    )
        return y

    def _bent(self, y: Num[np.ndarray, "seeds k"]) -> tuple[float, float, float, str] | None:
        """Between which two sizes what was measured contradicts most clearly the law that the line as a whole agrees with, if it does.

        A deviation that moves the slope by ``bias`` moves no value by more than ``bias`` times the length of the line. Returns: the ends of
        the interval of the slope there, the deviation that is allowed, and both in words; or None.
        """
        t, log, seeds = np.asarray(self.over, float), np.log(y), len(y)
        t = np.log(t) if self.law == "power" else t
        pairs = [(a, b) for a, b in combinations(np.argsort(t, kind="stable").tolist(), 2) if t[b] > t[a]]
        sure = student.ppf(1 - (1 - FITS) / (2 * len(pairs)), seeds - 1) if seeds > 1 else 0.0
        worst, found = 0.0, None
        for a, b in pairs:
            slopes = (log[:, b] - log[:, a]) / (t[b] - t[a])
            mean, width = slopes.mean(), sure * slopes.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else 0.0
            slack = self._slack * np.ptp(t) / (t[b] - t[a])
            above, below = mean - width - slack - self.exponent, self.exponent - mean - width - slack
            gap = {"equal": max(above, below), "at most": above, "at least": below}[self.relation]
            if gap > worst:
                words = f"between {self.over[a]:g} and {self.over[b]:g} the slope is {mean:.3f}: no such law"
                worst, found = gap, (float(mean - width), float(mean + width), float(slack), words)
        return found

    def run(self) -> Verdict:
        """Measure at every value and seed, fit, and compare the interval with the exponent, and every pair of sizes with the law."""
        y = self._measured()
        line = fit(self.over, y, self.law)
        spread = (
            f", 95 % interval [{line.low:.3f}, {line.high:.3f}] over {len(self.seeds)} seeds"
            if len(self.seeds) > 1
            else ""
        )
        unresolved = line.high - line.low > self.resolution
        refuted = self.excluded(line.low, line.high)
        low, high, slack, bent = (not refuted and self._bent(y)) or (line.low, line.high, self._slack, "")
        return self.verdict(
            "violated" if refuted or bent else "undecided" if unresolved else "supported",
            f"slope {line.slope:.3f}{spread}, claimed {self.relation} {self.exponent:g}, "
            f"{min(self.over):g} to {max(self.over):g}{bent and '; but ' + bent}",
            {
                "slope": line.slope,
                "interval": [line.low, line.high],
                "exponent": self.exponent,
                "relation": self.relation,
                "range": [float(min(self.over)), float(max(self.over))],
            },
            {"seeds": len(self.seeds), "points": len(self.over), "resamples": RESAMPLES},
            power.of_rate(low, high, self.exponent, slack, self.relation, self.expect),
        )
