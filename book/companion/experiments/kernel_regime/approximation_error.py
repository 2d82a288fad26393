"""Figure 1(b): how well m heads approximate what 8192 heads say, in the largest error over the inputs and in root mean square."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from companion.experiments.kernel_regime import problems
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.kernel import transportation
from shallowformer.kernel_regime.model import linear_model

WIDTHS, SEEDS = (4, 8, 16, 32, 64, 128, 256, 512), range(10)
#: Inputs worked on at a time.
CHUNK = 250


@dataclass(frozen=True)
class Config:
    """One draw of m heads."""

    #: "paper", the transported point of a symmetric initialisation, or "released", m independent heads
    variant: str
    m: int  # width
    seed: int  # of the problem and of the heads
    n: int = 5000  # inputs
    heads: int = 8192  # of the teacher


def plan(scale: str) -> list[Config]:
    """Narrow ones first."""
    n, heads, widths, seeds = {
        "smoke": (20, 32, (4, 8), range(2)),
        "laptop": (500, 1024, WIDTHS[:-2], SEEDS),
        "paper": (5000, 8192, WIDTHS, SEEDS),
    }[scale]
    return [
        Config(variant, m, seed, n, heads) for m in widths for variant in problems.FIGURE for seed in seeds
    ]


def errors(config: Config) -> Float[Tensor, " n"]:
    """Approximation less label, input by input, in float64."""
    given = problems.problem(config.variant, config.seed, config.n, config.heads)
    if config.variant == "paper":
        phi0 = problems.start(config.m, config.seed)
        there = transportation.transported(phi0, given.teacher)
        made = torch.cat([linear_model.f_lin(some, there, phi0) for some in given.X.split(CHUNK)])
    else:
        drawn = torch.Generator().manual_seed(10_000 * config.m + config.seed)
        # A mean over pairs that share U and W: m pairs are m independent heads, as the mapping does not look at c.
        (made,) = transportation.averages(
            given.X, given.teacher, 2 * config.m, 1, drawn, law=problems.FIGURE["released"].law
        )
    return made - given.labels.mean


def compute(config: Config, device: torch.device) -> dict:
    """Errors of one draw; always computed on the CPU.

    Returns: ``sup`` and ``rms`` of the error, ``label``, root mean square of the labels, and ``variance``, mean variance of one of the
    teacher's heads.
    """
    found = errors(config)
    given = problems.problem(config.variant, config.seed, config.n, config.heads)
    return {
        "sup": float(found.abs().max()),
        "rms": float(found.square().mean().sqrt()),
        "label": float(given.labels.mean.square().mean().sqrt()),
        "variance": float(given.labels.variance.mean()),
    }


def expected(variance: float, m: int, heads: int, variant: str = "paper") -> float:
    """Root of the mean square error to expect: σ²(1/N + 1/M), N independent heads against M others, σ² the variance of one.

    Args:
        heads: of the teacher, M; ``math.inf`` for its limit.
        variant: "paper", where N = m/2 as heads are paired, or "released", where N = m.
    """
    return math.sqrt(variance * ((2 if variant == "paper" else 1) / m + 1 / heads))


EXPERIMENT = Experiment(
    name="approximation_error",
    title="Figure 1(b): approximation error of m heads, the paper's variant and the released one",
    plan=plan,
    compute=compute,
    tolerance={},
    dtype="float64",
)
