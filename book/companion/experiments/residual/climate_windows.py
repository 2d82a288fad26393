"""Figure 3(a): the residual coefficient swept on windows of measured weather, of New York's airports in 2013.

Kennedy alone, 8 variables, and the three airports together, 24; the target is Kennedy's temperature. The paper's file of Jena is not
shipped; with it, rows of JSON come from

    python -m companion.experiments.residual.climate_windows jena_climate_2009_2016.csv.zip

Written down before the first run: the fixed step is 0.5 over the median, over ten seeds, of the curvature ‖∇²Φ(θ⁽⁰⁾)‖ at g = 1, rounded to
one digit, which gives 10⁻⁴ for both choices of stations (on made-up weather 10⁻⁴ was 0.52 over that median). What was said of made-up
weather (14 variables in the format of Jena, 400 days) is expected of either choice, at step 3000 in every one of ten seeds unless told
otherwise:

- ``fixed``: with one step for all, Φ at g = 2 is below that at 1, by a factor of at least 1.04.
- ``below``: with own steps Φ falls from 0 to ¼, to ½ and to ¾, by a factor of at least 1.03 each time.
- ``best``: with own steps the best coefficient is ¾, 1, 1½ or 2.
- ``four``: with own steps Φ at 4 is at least 1.4 times that at 1.
- ``without``: with own steps Φ at 0 is at least 1.5 times that at 1.
- ``even``: with own steps, at step 300, the 95 % interval of the geometric mean of Φ(0)/Φ(1) contains 1.
- ``late``: with own steps the rate log(Φ at 1000/Φ at 3000) at 0 is at most half of that at 1, in the geometric mean (0.31 there), and that
  at 4 is above it (1.26).
- ``exponent``: the 95 % interval of the mean exponent of that rate in g, from ¾ to 4, is above 0 (0.05 to 0.35 there).
"""

import argparse
import dataclasses
import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.experiments.residual import coefficients
from shallowformer.experiments.experiment import Experiment
from shallowformer.real import jena, series, weather
from shallowformer.real.series import Series
from shallowformer.real.source import short
from shallowformer.residual import starts
from shallowformer.residual.parameters import Parameters

#: Kennedy alone, and all three airports.
CHOICES = (("JFK",), weather.STATIONS)


@dataclass(frozen=True)
class Config:
    """Windows, a start, and the sweep over ``coefficients.COEFFICIENTS`` from there."""

    seed: int  # of the choice of windows and of the start, drawn in this order
    stations: tuple[str, ...] | None  # of ``weather.new_york``; not used with a reader's file
    share: float = 0.8  # of the series from which windows are taken, its earlier part
    P: int = 8  # windows
    N: int = 8  # hours a window
    d_k: int = 8  # of keys and queries
    d_1: int = 96  # hidden width
    mu: float = 1e-4  # the fixed step
    steps: int = coefficients.AT[-1]  # of every run


def plan(scale: str) -> list[Config]:
    """Several seeds of both choices of stations."""
    if scale == "smoke":
        return [Config(0, ("JFK",), P=2, N=3, d_k=2, d_1=8, steps=100)]
    return [Config(seed, stations) for stations in CHOICES for seed in range(3 if scale == "laptop" else 10)]


measured = functools.cache(weather.new_york)


def early(config: Config, given: Series) -> Series:
    """What windows are taken from, each variable standardised there."""
    first, _ = series.blocks(given, config.share)
    return series.standardised(first, first)


def posed(
    config: Config, given: Series, target: str
) -> tuple[Float[Tensor, "P N d"], Float[Tensor, "P N 1"], Parameters]:
    """X, Y and the start."""
    generator = Generator().manual_seed(config.seed)
    X, Y = series.windows(early(config, given), target, config.P, config.N, generator)
    return X, Y, starts.gaussian(X.shape[-1], config.d_k, config.d_1, 1, generator)


def swept(config: Config, given: Series, target: str) -> dict:
    """A row of any series."""
    return {
        "data": short(given.source),
        "windows": len(series.starts(early(config, given), config.N)),
        **coefficients.sweep(*posed(config, given, target), config.mu, config.steps),
    }


def compute(config: Config, device: torch.device) -> dict:
    """Sweep.

    Returns: ``data``: package, file and its SHA-256; ``windows`` there are to choose from; and the results of ``coefficients.sweep``.
    """
    return swept(config, measured(config.stations), "JFK temperature")


EXPERIMENT = Experiment(
    name="climate_windows",
    title="Figure 3(a) on measured weather of New York: residual coefficients, three rules for the step",
    plan=plan,
    compute=compute,
    tolerance=coefficients.tolerance,
    dtype="float64",
)


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description="Sweep the residual coefficient on the file of Jena; one row of JSON a seed."
    )
    parser.add_argument("file", type=Path, help="the .csv file, or a .zip file that holds it")
    parser.add_argument("--sha256", help="what the text of the file, unzipped, must have")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=coefficients.AT[-1])
    parser.add_argument("--mu", type=float, default=1e-4, help="the fixed step")
    given = parser.parse_args(words)
    record = jena.read(given.file, sha256=given.sha256)
    for seed in range(given.seeds):
        config = Config(seed, None, mu=given.mu, steps=given.steps)
        print(json.dumps(dataclasses.asdict(config) | swept(config, record, "T")), flush=True)


if __name__ == "__main__":
    main()
