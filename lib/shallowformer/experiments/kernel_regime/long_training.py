"""Figure 1(c) ten times longer, on the small copy: does the slope of the smallest loss stop at −½?"""

import math
from dataclasses import dataclass

import torch

from shallowformer.experiments.experiment import Experiment
from shallowformer.experiments.kernel_regime import problems
from shallowformer.experiments.kernel_regime.training_loss import STEPS
from shallowformer.kernel_regime.convergence import descent
from shallowformer.kernel_regime.model.loss import Loss

WIDTHS, SEEDS = (4, 8, 16, 32, 64), range(10)
#: Steps of the paper after which losses are kept, up to ten times its 4000.
HORIZONS = (10, 100, 400, 1000, 4000, 10_000, 20_000, 40_000)


@dataclass(frozen=True)
class Config:
    """One run.

    Args:
        variant: one of ``problems.FIGURE``.
        m: width.
        seed: of the problem and of the student.
        n: inputs.
        heads: of the teacher.
        steps: length of the run in steps of the paper's size 1/√4000 (or 1.75/√4000 as released).
        coarse: how many of these are made at once.
    """

    variant: str
    m: int
    seed: int
    n: int = 500
    heads: int = 8192
    steps: int = HORIZONS[-1]
    coarse: int = 10


def plan(scale: str) -> list[Config]:
    """Narrow students first. There is no larger scale than "laptop": "paper" is the same.

    Args:
        scale: "smoke", "laptop" or "paper".
    """
    if scale == "smoke":
        return [Config(variant, 4, 0, 20, 32, 400) for variant in problems.FIGURE]
    return [Config(variant, m, seed) for m in WIDTHS for variant in problems.FIGURE for seed in SEEDS]


def compute(config: Config, device: torch.device) -> dict:
    """Train one student, in single precision.

    Args:
        config: of the run.
        device: where.

    Returns:
        ``trivial``, the loss at the start; ``horizons``; ``means`` and ``mins``, mean and smallest loss over so many steps.
    """
    given = problems.problem(config.variant, config.seed, config.n, config.heads)
    X, y = (of.to(device, torch.float32)[: given.trained] for of in (given.X, given.labels.mean))
    start = problems.start(config.m, config.seed).map(lambda block: block.to(device, torch.float32))
    eta, steps = (
        config.coarse * problems.VARIANTS[config.variant].step / math.sqrt(STEPS),
        config.steps // config.coarse,
    )
    run = descent.run(Loss(X, y), start, eta=eta, steps=steps, rho=problems.THREES, every=steps)
    losses = run.step_losses[:, 0].double()
    horizons = [t for t in HORIZONS if t <= config.steps]
    ends = [t // config.coarse for t in horizons]
    return {
        "trivial": float(y.double().square().mean()),
        "horizons": horizons,
        "means": [float(losses[:t].mean()) for t in ends],
        "mins": [float(losses[:t].min()) for t in ends],
    }


EXPERIMENT = Experiment(
    name="long_training",
    title="Figure 1(c) ten times longer, on the small copy",
    plan=plan,
    compute=compute,
    dtype="float32",
)
