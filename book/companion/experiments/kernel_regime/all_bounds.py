"""Every bound on the training loss at the paper's setting, on one axis: formulas, stored certificates, stored runs.

All over the trivial level, the loss of the model that outputs 0.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from matplotlib.axes import Axes

from companion.experiments.kernel_regime import certificates, linear_runs, theorem_e
from shallowformer import figures
from shallowformer.experiments.experiment import stored
from shallowformer.kernel_regime.convergence import closed_forms

#: Widths of the figure.
WIDTHS = tuple(8 * 2**k for k in range(11))
D, N, DELTA, (ETA, STEPS), THREES = 8, 5000, 0.05, certificates.PAPER, (3.0, 3.0, 3.0)

#: Bounds that hold before anything is drawn: name → bound on the mean loss as a function of the width.
FORMULAS: Mapping[str, Callable[[int], float]] = {
    "Theorem 1, as printed": lambda m: closed_forms.paper(D, m, N, DELTA, THREES, THREES).best(ETA, STEPS),
    "Theorem 1, sharper": lambda m: closed_forms.sharp(D, m, DELTA, THREES, THREES).best(ETA, STEPS),
    "Theorems A and B": lambda m: closed_forms.self_bounding(D, m, DELTA, THREES, THREES).best(STEPS),
}


@dataclass(frozen=True)
class Spread:
    """A number over the trivial level, over problems."""

    low: float  # smallest
    middle: float  # geometric mean
    high: float  # largest


def trivial_level() -> float:
    """Mean trivial level of the problems of the stored runs."""
    levels = {row["seed"]: row["trivial"] for row in _runs()}
    return sum(levels.values()) / len(levels)


def spread(rows: Iterable[Mapping], value: Callable[[Mapping], float]) -> dict[int, Spread]:
    """A number of stored rows over their ``trivial`` level by width; widths at which it does not exist for a problem (−1) are left out."""
    shares: dict[int, list[float]] = {}
    for row in rows:
        shares.setdefault(row["m"], []).append(value(row) / row["trivial"])
    return {
        m: Spread(min(each), math.exp(sum(map(math.log, each)) / len(each)), max(each))
        for m, each in sorted(shares.items())
        if min(each) > 0
    }


def of_starts() -> dict[str, dict[int, Spread]]:
    """What is known once a start, or a run, is there: name → width → spread over the stored problems."""
    runs, before = _runs(), stored(theorem_e.EXPERIMENT)
    problems = {row["seed"] for row in runs}
    linear = [row for row in stored(linear_runs.EXPERIMENT) if row["seed"] in problems]
    return {
        "Theorem E": spread(before, lambda row: row["value_by_width"]),
        "Theorem F": spread(linear, lambda row: row["best"]),
        "certificate along the run": spread(runs, lambda row: row["ridge"]["certificate"]),
        "achieved mean loss": spread(runs, lambda row: row["mean"]),
        "achieved smallest loss": spread(runs, lambda row: row["min"]),
    }


def draw(axis: Axes) -> None:
    """Draw all of them against the width."""
    colours, level = figures.COLOURS, trivial_level()
    for (name, rule), line in zip(FORMULAS.items(), ("-", "--", ":"), strict=True):
        axis.plot(WIDTHS, [rule(m) / level for m in WIDTHS], line, color=colours["claim"], label=name)
    axis.axhline(1.0, color=colours["quiet"], lw=4, alpha=0.5, label="trivial level: output 0")
    styles = (("accent", "-"), ("other", "-"), ("truth", "-"), ("truth", "--"), ("truth", ":"))
    for (name, found), (role, line) in zip(of_starts().items(), styles, strict=True):
        at = list(found)
        axis.plot(at, [found[m].middle for m in at], line, marker="o", ms=3, color=colours[role], label=name)
        low, high = [found[m].low for m in at], [found[m].high for m in at]
        axis.fill_between(at, low, high, color=colours[role], alpha=0.2, lw=0)
    axis.set(xscale="log", yscale="log", xlabel="heads $m$", ylabel="loss over the trivial level")
    axis.set_xticks(WIDTHS[::2], WIDTHS[::2])
    axis.minorticks_off()


def _runs() -> list[dict]:
    return [row for row in stored(certificates.EXPERIMENT) if row["steps"] == STEPS]
