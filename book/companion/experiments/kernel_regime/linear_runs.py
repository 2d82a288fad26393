"""Theorem F at the paper's size: how far a run can stray from its linear run, before its first step.

The runs themselves are those of ``training_loss`` and ``certificates``: the same problems, starts and step size.
"""

import math
from dataclasses import dataclass

import torch

from companion.experiments.kernel_regime import certificates, problems
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.linear_run.theorem_f import certify

STEPS, HORIZONS = certificates.PAPER[1], certificates.HORIZONS
WIDTHS = (8, 16, 32, 64, 128, 256)
SEEDS = range(10)


@dataclass(frozen=True)
class Config:
    """The certificate of one start on one problem."""

    m: int  # width
    seed: int  # of the problem and of the student
    n: int = 5000  # inputs
    heads: int = 8192  # of the teacher
    steps: int = STEPS  # horizon τ; the step size η is 1/√τ
    coarse: int = 1  # how many of these steps are made at once: τ/coarse steps of size coarse·η
    every: int = 100  # as ``known``


def plan(scale: str) -> list[Config]:
    """Narrow students first; ten problems of each width."""
    if scale == "smoke":
        return [Config(m, 0, 20, 32, 16, every=4) for m in (4, 8)]
    if scale == "laptop":
        return [Config(m, seed, n=500, coarse=10, every=8) for seed in SEEDS for m in (8, 16, 64)]
    return [Config(m, seed) for m in WIDTHS for seed in SEEDS]


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row, in float64 on the CPU.

    Returns: ``trivial``, the loss at the start; ``mu`` and ``E`` before the last of so many steps, for each of ``horizons`` (E is −1 where
    the recursion has exploded); ``best`` and ``at``, the smallest upper bound on the loss of a step, and the step; ``explodes``, the first
    step at which E exceeds the root of the trivial level, or −1; ``readout`` and ``head``, √m times bounds on how far any has moved by
    ``at``.
    """
    given = problems.problem("paper", config.seed, config.n, config.heads)
    X, y = given.X, given.labels.mean.flatten()
    steps, eta = config.steps // config.coarse, config.coarse / math.sqrt(config.steps)
    known = certify(X, y, problems.start(config.m, config.seed), eta, steps, config.every)
    trivial, at = float(y.square().mean()), int(known.upper.argmin())
    horizons = [t for t in HORIZONS if t <= config.steps and t % config.coarse == 0]
    ends = [t // config.coarse - 1 for t in horizons]
    beyond = torch.nonzero(trivial**0.5 < known.E)
    readout, head = (float(reach[at]) for reach in known.reach)
    return {
        "trivial": trivial,
        "horizons": horizons,
        "mu": [float(known.mu[t]) for t in ends],
        "E": [float(known.E[t]) if math.isfinite(known.E[t]) else -1.0 for t in ends],
        "best": float(known.upper[at]),
        "at": at * config.coarse,
        "explodes": int(beyond[0]) * config.coarse if len(beyond) else -1,
        "readout": readout,
        "head": head,
    }


EXPERIMENT = Experiment(
    name="linear_runs",
    title="Theorem F at the paper's setting: the loss of every step, certified before the first one",
    plan=plan,
    compute=compute,
    dtype="float64",
)
