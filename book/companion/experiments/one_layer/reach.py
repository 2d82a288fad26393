"""How long a run stays with its tangent model: when the two losses are ``APART`` of the trivial loss from one another.

Expected, from the contest's grid and before the first row: under exponential loss on drawn tokens that step grows like α with an exponent between
0.8 and 1.4; with heads of their own like √m, with an exponent between 0.3 and 0.7; with shared attention not with m, exponent between −0.2 and 0.2.
"""

from dataclasses import asdict, dataclass

import numpy as np
import torch
from jaxtyping import Float

from companion.theory.one_layer import run
from companion.theory.one_layer.dials import Dials, problem
from companion.theory.one_layer.problem import Problem
from companion.theory.one_layer.tangent import gram, output_run
from shallowformer.contracts import Count, Even, Positive, contract
from shallowformer.experiments.experiment import Experiment

APART, SEEDS = 0.05, 10
ALPHAS, WIDTHS = (0.5, 1.0, 2.0, 4.0), (8, 32, 128)


@dataclass(frozen=True)
class Config:
    """One scale and width; all seeds side by side."""

    world: str  # "classifier" or "shared" heads, under exponential loss
    alpha: float
    m: int
    n: int = 32
    noise: float = 0.1
    step: float = 0.25
    steps: int = 1024
    seeds: int = SEEDS


def plan(scale: str) -> list[Config]:
    """Configurations of a scale, the cheapest first."""
    if scale == "smoke":
        return [
            Config(world, 0.25, 2, n=4, steps=4, seeds=2) for world in ("classifier", "shared_classifier")
        ]
    widths = WIDTHS[:2] if scale == "laptop" else WIDTHS
    return [
        Config(world, alpha, m)
        for m in widths
        for alpha in ALPHAS
        for world in ("classifier", "shared_classifier")
    ]


def problems(config: Config) -> list[Problem]:
    """The problem of each seed."""
    fixed = {name: value for name, value in asdict(config).items() if name != "seeds"}
    return [problem(Dials(source="gaussian", seed=40_000 + seed, **fixed)) for seed in range(config.seeds)]


def compute(config: Config, device: torch.device) -> dict:
    """One row: the step of each seed; one more than ``steps`` where the two stay together."""
    made = problems(config)
    true = run.run_many(made, range(config.steps + 1)).numpy()
    gap = np.abs(true - np.stack([tangent(each) for each in made]))
    return {"leaves": [float(f"{crossing(each):.5g}") for each in gap]}


def crossing(gap: Float[np.ndarray, " s"]) -> float:
    """Where a gap first is ``APART``, on the line between two steps; one more than the last step where it never is."""
    if not (gap > APART).any():
        return len(gap)
    k = int((gap > APART).argmax())
    return k - 1 + (APART - gap[k - 1]) / (gap[k] - gap[k - 1])


def tangent(made: Problem) -> Float[np.ndarray, " s"]:
    """What the tangent model's run leaves of the trivial loss, before every step and after the last."""
    at = range(made.steps + 1)
    still = gram(made).expand(len(at), -1, -1)
    return made.loss(output_run(made, still, made.outputs(made.start), at)[0]).numpy()


@contract
def shared_move(alpha: Positive, m: Even, steps: Count, seeds: Count = SEEDS) -> float:
    """How far the first steps move an attention that all units share: ‖W − W⁽⁰⁾‖_F, the mean over seeds."""
    made = problems(Config("shared_classifier", alpha, m, steps=steps, seeds=seeds))
    *_, (_, end) = run.descent(made)
    start = torch.stack([each.start["W"] for each in made])
    return float((end["W"] - start).flatten(1).norm(dim=1).mean())


REACH = Experiment(
    name="one_layer_reach",
    title="How long a layer stays with its tangent model: scale, width, and heads of their own or one for all",
    plan=plan,
    compute=compute,
    dtype="float64",
)
