"""Four theories predict runs of one layer before their first step; the runs are made, and each theory is held against them.

A row is one setting of the dials and ``RUNS`` draws of data and start: what is left of the trivial loss at the checkpoints, and the interval of each
voice where it says something. Two plans: a grid, on which a rule of thumb may be read off; and settings drawn at random, on which theories and
rule are scored. The draws come from ``HELD_OUT``, which was fixed, as were all predictions, before the first row of either was made.
"""

import math
from dataclasses import asdict, dataclass

import torch

from companion.theory.one_layer import run, theories
from companion.theory.one_layer.dials import SOURCES, Dials, problem
from companion.theory.one_layer.prediction import Prediction
from companion.theory.one_layer.problem import Problem

RUNS, STEPS = 6, 512
#: Seeds the draws of the settings on which theories are scored.
HELD_OUT, DRAWN = 20261130, 160

ALPHAS = (0.25, 1.0, 4.0, 16.0, 64.0)
WIDTHS = (4, 16, 64, 256)


@dataclass(frozen=True)
class Setting:
    """The dials of ``dials.Dials``, and which draws."""

    world: str
    source: str
    m: int = 16
    n: int = 32
    T: int = 8
    d: int = 4
    alpha: float = 1.0
    correlation: float = 0.0
    noise: float = 0.0
    skip: float = 0.0
    away: float = 0.3
    step: float = 0.5
    steps: int = STEPS
    runs: int = RUNS
    first: int = 0  # seed of the first run

    def dials(self) -> list[Dials]:
        """The dials of its runs."""
        fixed = {name: value for name, value in asdict(self).items() if name not in ("runs", "first")}
        return [Dials(seed=self.first + run, **fixed) for run in range(self.runs)]


def grid(scale: str) -> list[Setting]:
    """Scale × width where a layer has both; elsewhere two dials of the world's own."""
    if scale == "smoke":
        return [
            Setting(world, source, **small(world), steps=4, runs=2)
            for world, there in SOURCES.items()
            for source in there
        ]
    raise NotImplementedError


def small(world: str) -> dict[str, int]:
    """Sizes of a try-out."""
    if world in ("attention", "normalised", "decoder"):
        return {"m": 1, "n": 3, "T": 2, "d": 4}
    return {"m": 2, "n": 8, "T": 2, "d": 2}


def compute(setting: Setting, device: torch.device) -> dict:
    """One row, in float64 on the processor: hundreds of steps of small tensors."""
    made = [problem(dials) for dials in setting.dials()]
    said = [theories.predict(each) for each in made]
    return {"truth": written(run.run_many(made)), "voices": voices(made, said)}


def voices(made: list[Problem], said: list[list[Prediction]]) -> dict:
    """Low and high by "theory voice" and run; None where nothing is said at any checkpoint."""
    names = sorted({f"{each.theory} {each.voice}" for there in said for each in there})
    found = {}
    for name in names:
        of_each = [next((each for each in there if f"{each.theory} {each.voice}" == name), None) for there in said]
        silent = [None] * len(run.checkpoints(made[0].steps))
        ends = {"low": [], "high": []}
        for each in of_each:
            speaks = each.speaks() if each else None
            for end in ends:
                ends[end].append(
                    [value if s else None for value, s in zip(written(getattr(each, end)), speaks, strict=True)]
                    if each
                    else silent
                )
        if any(value is not None for line in ends["low"] for value in line):
            found[name] = ends
    return found


def written(values: torch.Tensor) -> list:
    """Four digits, as a table of results has them; what is infinite is None."""
    if values.dim() > 1:
        return [written(row) for row in values]
    return [float(f"{value:.4g}") if math.isfinite(value) else None for value in values.tolist()]
