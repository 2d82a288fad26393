"""Figure 3(a): the residual coefficient swept on windows of a climate series.

The file of Jena is not shipped. The stored rows are of made-up weather in the same format; with the file, rows of JSON come from

    python -m companion.experiments.residual.climate_windows jena_climate_2009_2016.csv.zip
"""

import argparse
import dataclasses
import functools
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Generator

from companion.experiments.residual import coefficients
from companion.theory.residual import climate, made_up_weather
from companion.theory.residual.climate import Record
from shallowformer.experiments.experiment import Experiment
from shallowformer.residual import starts


@dataclass(frozen=True)
class Config:
    """Windows, a start, and the sweep over ``coefficients.COEFFICIENTS`` from there."""

    seed: int  # of the choice of windows and of the start, drawn in this order
    days: int = 400  # of made-up weather; not used with a file
    share: float = 0.8  # of the series from which windows are taken, its earlier part
    P: int = 8  # windows
    N: int = 8  # hours a window
    d_k: int = 8  # of keys and queries
    d_1: int = 96  # hidden width
    mu: float = 1e-4  # the fixed step
    steps: int = coefficients.AT[-1]  # of every run


def plan(scale: str) -> list[Config]:
    """Several seeds."""
    if scale == "smoke":
        return [Config(0, days=20, P=2, N=3, d_k=2, d_1=8, steps=100)]
    return [Config(seed) for seed in range(3 if scale == "laptop" else 10)]


@functools.cache
def made_up(days: int) -> Record:
    """The record of a file of made-up weather."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made_up.csv"
        made_up_weather.write(path, days)
        return climate.read(path)


def compute(config: Config, device: torch.device, record: Record | None = None) -> dict:
    """Sweep.

    Returns: ``weather`` ("made up" or "given"), ``sha256`` of the file's text, ``windows`` there are to choose from, and the results of
    ``coefficients.sweep``.

    Args:
        record: of a file; made-up weather if not given.
    """
    given = made_up(config.days) if record is None else record
    early, _ = climate.blocks(given, config.share)
    early = climate.standardised(early, early)
    generator = Generator().manual_seed(config.seed)
    X, Y = climate.windows(early, config.P, config.N, generator)
    theta = starts.gaussian(X.shape[-1], config.d_k, config.d_1, 1, generator)
    return {
        "weather": "made up" if record is None else "given",
        "sha256": given.sha256,
        "windows": len(climate.starts(early, config.N)),
        **coefficients.sweep(X, Y, theta, config.mu, config.steps),
    }


EXPERIMENT = Experiment(
    name="climate_windows",
    title="Figure 3(a) on made-up weather in the format of the Jena file: residual coefficients, three rules for the step",
    plan=plan,
    compute=compute,
    tolerance=coefficients.tolerance,
    dtype="float64",
)


def main(words: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description="Sweep the residual coefficient on a climate file; one row of JSON a seed."
    )
    parser.add_argument("file", type=Path, help="the .csv file, or a .zip file that holds it")
    parser.add_argument("--sha256", help="what the text of the file, unzipped, must have")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=coefficients.AT[-1])
    given = parser.parse_args(words)
    record = climate.read(given.file, sha256=given.sha256)
    for seed in range(given.seeds):
        config = Config(seed, steps=given.steps)
        row = dataclasses.asdict(config) | {"days": None} | compute(config, torch.device("cpu"), record)
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
