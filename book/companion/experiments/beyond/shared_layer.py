"""A shared layer with p hidden units over m heads: how its linearisation error falls with m alone, with p alone, and with both.

A row is one initialisation on its own data. Sizes are those of ``beyond_theory``: ρ = (3, 3, 3), d = T = 8, its labels and its runs.

Expected, before the first run (worst: the largest error that a search in Ω_ρ finds at one input; random: root mean square over random
points of the boundary of Ω_ρ; run: root mean square over the data at the end of a run):

1. Worst: with m and p together the exponent is −1/2. With m alone (p = 128) and with p alone (m = 128) it lies between −1/2 and 0. With the
   other width held at 8 the error levels off: from 128 to 512 it falls by less than a tenth.
2. Random: −1 together; the leading terms are 1/√(pm) and 1/m, so with m alone (p = 128) between −1 and −1/2, and with p alone (m = 128)
   between −1/2 and 0.
3. Run: −1 together; the terms are 1/p, 1/√(pm) and 1/m, so with either alone between −1 and 0.
4. The bound of the linearisation theorem is above every worst point found, by a factor between 10 and 100.
5. With many more units than heads, p = 512 and m = 8, the worst error found is not larger than with p = 128, although the bound is.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.experiments.beyond import beyond_theory
from companion.theory.beyond import dense, directions, shared_layer, tangents, training
from companion.theory.beyond.architecture import Blocks
from shallowformer.experiments.experiment import Experiment

THREES = beyond_theory.THREES
SEEDS = range(10)
#: Units and heads; the two largest of both are not combined.
SIZES = (8, 32, 128, 512)
PAIRS = [(p, m) for p in SIZES for m in SIZES if p * m <= 128**2]
PARTS = ("worst", "random", "run")


@dataclass(frozen=True)
class Config:
    """One measurement."""

    part: str  # "worst", "random" or "run"
    p: int  # hidden units
    m: int  # heads
    seed: int  # of data, labels and initialisation
    T: int = 8  # length of sequences
    n: int = 64  # samples
    d: int = 8  # dimension of tokens
    eta: float = 0.5  # step size η
    steps: int = 60  # of gradient descent, or of the search for the worst point, or random points


def plan(scale: str) -> list[Config]:
    """Configurations of a scale, few units first."""
    if scale == "smoke":
        return [Config(part, 4, 2, 0, T=3, n=4, steps=3) for part in PARTS]
    steps = {"worst": 30, "random": 16, "run": 60}
    samples = {"worst": 1, "random": 16, "run": 64}
    seeds = range(3) if scale == "laptop" else SEEDS
    return [
        Config(part, p, m, seed, n=samples[part], steps=steps[part])
        for p, m in PAIRS
        for part in PARTS
        for seed in seeds
    ]


def inputs(config: Config) -> Float[Tensor, "n T d"]:
    """The inputs of a measurement: the first of those of ``beyond_theory``."""
    return beyond_theory.inputs(_like(config))


def start(config: Config) -> Blocks:
    """The initialisation of a measurement: numbers of float32, held in float64. Returns: φ⁽⁰⁾."""
    source = Generator().manual_seed(1_000_000 * config.p + 1000 * config.m + config.seed)
    drawn = shared_layer.start(config.p, config.m, config.d, source)
    return {name: block.float().double() for name, block in drawn.items()}


def _like(config: Config) -> beyond_theory.Config:
    return beyond_theory.Config(
        config.part, "dense", config.m, config.seed, config.T, config.n, config.d, config.eta, config.steps
    )


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row, in float64."""
    X, phi0 = inputs(config).to(device), {name: block.to(device) for name, block in start(config).items()}
    if config.part == "random":
        return _random(X, phi0, config)
    if config.part == "run":
        return _run(X, beyond_theory.labels(_like(config)).to(device), phi0, config)
    _, worst = directions.adversarial(dense.DENSE, X[:1], phi0, THREES, config.steps)
    N = float(shared_layer.spectral(phi0["V"]))
    return {"worst": float(worst), "N": N, "bound": shared_layer.bound(N, config.p, config.m, THREES).total}


def _random(X: Tensor, phi0: Blocks, config: Config) -> dict:
    """The root mean square of f − f_lin over inputs and random points, drawn on the CPU."""
    source = Generator().manual_seed(3000 + config.seed)
    centre = {name: block.cpu() for name, block in phi0.items()}
    gaps = []
    for _ in range(config.steps):
        delta = directions.random_boundary(centre, THREES, source)
        gaps.append(
            tangents.gap(dense.DENSE, X, phi0, {name: block.to(X.device) for name, block in delta.items()})
        )
    gaps = torch.stack(gaps)
    return {"rms": float(gaps.square().mean().sqrt()), "largest": float(gaps.abs().max())}


def _run(X: Tensor, y: Tensor, phi0: Blocks, config: Config) -> dict:
    """What a run leaves of the loss, and how far from its linear model it ends."""
    run = training.run(dense.DENSE, X, y, phi0, eta=config.eta, steps=config.steps, rho=THREES)
    gap = tangents.gap(dense.DENSE, X, phi0, run.end)
    losses = torch.cat([run.step_losses, run.losses[-1:]])[:, 0]
    return {"last": float(losses[-1] / losses[0]), "gap_rms": float(gap.square().mean().sqrt())}


EXPERIMENT = Experiment(
    name="shared_layer",
    title="A shared hidden layer: its distance from the linear model by units and by heads",
    plan=plan,
    compute=compute,
    tolerance={"worst": 2e-2},
    dtype="float64",
)
