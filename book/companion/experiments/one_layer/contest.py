"""Four theories predict runs of one layer before their first step; the runs are made, and each theory is held against them.

A row is one setting of the dials and ``RUNS`` draws of data and start: what is left of the trivial loss at the checkpoints, and the interval of each
voice where it says something. Two plans: a grid, on which a rule of thumb may be read off; and settings drawn at random, on which theories and
rule are scored. The draws come from ``HELD_OUT``, which was fixed, as were all predictions, before the first row of either was made.
"""

import math
from dataclasses import asdict, dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from companion.theory.one_layer import run, theories
from companion.theory.one_layer.dials import SOURCES, Dials, problem
from companion.theory.one_layer.prediction import Prediction
from companion.theory.one_layer.problem import Problem
from companion.theory.one_layer.scores import SILENT
from shallowformer.experiments.experiment import Experiment

RUNS, STEPS = 4, 256
#: Seeds the draws of the settings on which theories are scored.
HELD_OUT, DRAWN = 20261130, 160

#: The worlds of the contest.
CONTEST = ("layer", "classifier", "shared", "readout", "attention", "normalised", "decoder", "regression", "preconditioned")  # fmt: skip

ALPHAS = (0.25, 1.0, 4.0, 16.0, 64.0)
WIDTHS = (8, 32, 128)


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
    radius: float = 0.4
    least: float = 0.375
    centred: bool = False
    step: float = 0.5
    steps: int = STEPS
    runs: int = RUNS
    first: int = 0  # seed of the first run

    def dials(self) -> list[Dials]:
        """The dials of its runs."""
        fixed = {name: value for name, value in asdict(self).items() if name not in ("runs", "first")}
        return [Dials(seed=self.first + run, **fixed) for run in range(self.runs)]


def grid(scale: str) -> list[Setting]:
    """Scale × width where a layer has both; elsewhere two or three dials of the world's own."""
    if scale == "smoke":
        return tried(1)
    found = [
        Setting(world, source, m=m, alpha=alpha, noise=0.1, step=0.25)
        for world in ("layer", "classifier", "shared")
        for source in SOURCES[world]
        for m in WIDTHS
        for alpha in ALPHAS
    ]
    found += [
        Setting("layer", "gaussian", m=32, alpha=alpha, noise=0.1, step=0.25, skip=skip, n=n)
        for skip in (0.5, 1.0)
        for alpha in ALPHAS
        for n in (8, 32)
    ]
    found += [
        Setting("readout", source, m=m, noise=noise)
        for source in SOURCES["readout"]
        for m in WIDTHS
        for noise in (0.1, 1.0)
    ]
    found += [
        Setting(
            world, "selection", 1, n, 2, 16, alpha, noise=noise, step=0.1 if world == "normalised" else 0.5
        )
        for world in ("attention", "normalised", "decoder")
        for n in (4, 16)
        for alpha in (1.0, 4.0)
        for noise in (0.1, 0.3, 1.0, 3.0)
    ]
    found += [
        Setting(world, "regression", 3, n, d=3, noise=0.1, away=away, radius=radius, centred=True)
        for world in ("regression", "preconditioned")
        for n in (32, 128)
        for away in (0.03, 0.1, 0.3)
        for radius in (0.1, 0.4)
    ]
    if scale == "laptop":
        found = [setting for setting in found if setting.m <= 16 and setting.n <= 64]
    return cheapest_first([replace(setting, first=9000) for setting in found])


def held_out(scale: str) -> list[Setting]:
    """Worlds and dials drawn at random, each setting with data and starts of its own."""
    if scale == "smoke":
        return tried(2)
    draw = np.random.default_rng(HELD_OUT)
    found = [replace(drawn(draw), first=20_000 + 10 * number) for number in range(DRAWN)]
    if scale == "laptop":
        found = [setting for setting in found if setting.m <= 16 and setting.n <= 64]
    return cheapest_first(found)


def drawn(draw: np.random.Generator) -> Setting:
    """One setting; three digits a dial."""
    pick = lambda values: values[int(draw.integers(len(values)))]
    between = lambda low, high: float(f"{draw.uniform(low, high):.3g}")
    spread = lambda low, high: float(f"{math.exp(draw.uniform(math.log(low), math.log(high))):.3g}")
    world = pick(CONTEST)
    source = pick(SOURCES[world])
    if source == "selection":
        step = spread(0.01, 0.3) if world == "normalised" else spread(0.03, 1.0)
        sizes = {
            "m": 1,
            "n": pick((2, 4, 8, 16)),
            "T": pick((2, 4)),
            "d": pick((16, 32)),
            "alpha": spread(0.5, 4.0),
        }
        return Setting(
            world, source, **sizes, noise=spread(0.1, 3.2), correlation=pick((0.0, 0.5, 0.9)), step=step
        )
    if source == "regression":
        d = pick((2, 3, 4, 5))
        far = {"away": spread(0.02, 0.4), "radius": spread(0.02, 0.75), "least": between(0.375, 1.2)}
        sizes = {"m": d, "d": d, "n": pick((32, 64, 128)), "noise": pick((0.0, 0.1, 0.3))}
        return Setting(
            world, source, **sizes, **far, correlation=between(0, 1), centred=pick((True, True, True, False)), step=pick((0.25, 0.5, 0.9))
        )  # fmt: skip
    sizes = {
        "m": pick((4, 8, 16, 32, 64, 128)),
        "n": pick((4, 8, 16, 32)),
        "T": pick((2, 4, 8, 16)),
        "d": pick((2, 4, 8)),
    }
    turned = {
        "noise": pick((0.0, 0.1, 0.3)),
        "correlation": pick((0.0, 0.5, 0.9)),
        "skip": pick((0.0, 0.0, 0.5, 1.0)),
    }
    return Setting(world, source, **sizes, **turned, alpha=spread(0.25, 64.0), step=pick((0.1, 0.25, 0.5)))


def tried(runs: int) -> list[Setting]:
    """Every world and source, for a try-out."""
    pairs = [(world, source) for world in CONTEST for source in SOURCES[world]]
    return [Setting(*pair, **small(pair[0]), steps=4, runs=runs) for pair in pairs]


def cheapest_first(found: list[Setting]) -> list[Setting]:
    """Settings by how many numbers a step touches."""
    return sorted(
        found, key=lambda setting: (setting.m * setting.n * setting.T * setting.d**2, setting.world)
    )


def small(world: str) -> dict[str, int]:
    """Sizes of a try-out."""
    if SOURCES[world] == ("selection",):
        return {"m": 1, "n": 3, "T": 2, "d": 4}
    return {"m": 2, "n": 8, "T": 2, "d": 2}


def compute(setting: Setting, device: torch.device) -> dict:
    """One row, in float64 on the processor: hundreds of steps of small tensors."""
    made = [problem(dials) for dials in setting.dials()]
    said = [theories.predict(each) for each in made]
    return {"truth": [written(each) for each in run.run_many(made)], "voices": voices(made, said)}


def voices(made: list[Problem], said: list[list[Prediction]]) -> dict:
    """Low and high by "theory voice" and run, ``SILENT`` where nothing is said; a voice that is silent everywhere is left out."""
    names = sorted({f"{each.theory} {each.voice}" for there in said for each in there})
    at = run.checkpoints(made[0].steps)
    found = {}
    for name in names:
        ends = {"low": [], "high": []}
        for there in said:
            each = next((each for each in there if f"{each.theory} {each.voice}" == name), None)
            for end, lines in ends.items():
                told = written(getattr(each, end), each.speaks()) if each else []
                known = dict(zip(each.steps, told, strict=True)) if each else {}
                lines.append([known.get(step, SILENT) for step in at])
        if any(value != SILENT for line in ends["low"] for value in line):
            found[name] = ends
    return found


def written(values: Float[Tensor, " s"], where: Bool[Tensor, " s"] | None = None) -> list:
    """Four digits, as a table of results has them; ``SILENT`` for what is infinite, or not to be told."""
    told = values.isfinite() if where is None else where
    return [
        float(f"{value:.4g}") if tell else SILENT
        for value, tell in zip(values.tolist(), told.tolist(), strict=True)
    ]


#: Another machine rounds differently, and hundreds of steps amplify it.
TOLERANCE = {"truth": 2e-2, "voices": 2e-2}

EXPERIMENT = Experiment(
    name="one_layer",
    title="Four theories predict runs of one layer: a grid of scales, widths and the dials of each world",
    plan=grid,
    compute=compute,
    tolerance=TOLERANCE,
    dtype="float64",
)

DRAWS = Experiment(
    name="one_layer_held_out",
    title="Four theories predict runs of one layer: settings drawn at random before any was run",
    plan=held_out,
    compute=compute,
    tolerance=TOLERANCE,
    dtype="float64",
)
