"""How far the gradient is off, from b = 0.4 to b = 2: with one context for all queries, and in the mean with contexts of their own."""

import math
from dataclasses import dataclass

import torch
from torch import Generator

from companion.theory.preconditioned import influence
from shallowformer.experiments.experiment import Experiment
from shallowformer.preconditioned import exact

SEEDS = range(12)
SIZES = (256, 1024, 4096, 16384, 65536)
#: b → whether rows with the queries as tokens are computed too.
RADII = {0.4: False, 1.0: False, 1.5: True, 2.0: True}
#: Rows for the variance: b, tokens, contexts.
MANY = (0.4, 1024, 2500)


@dataclass(frozen=True)
class Config:
    """Contexts of one size."""

    b: float  # B = b in one dimension, A = 0, M̃ = −1
    n: int  # tokens
    seed: int  # with b and n, of the contexts
    contexts: int = 40  # how many
    own: bool = False  # whether the queries are the tokens; otherwise the mean is over all queries


def plan(scale: str) -> list[Config]:
    """Radii and sizes, small sizes first."""
    if scale == "smoke":
        return [Config(2.0, 30, 0, 3, own) for own in (False, True)]
    sizes, seeds = (SIZES[:3], SEEDS[:2]) if scale == "laptop" else (SIZES, SEEDS)
    shared = [Config(b, n, seed) for n in sizes for b in RADII for seed in seeds]
    itself = [
        Config(b, n, seed, own=True) for n in sizes[:3] for b, too in RADII.items() if too for seed in seeds
    ]
    return shared + itself + [Config(MANY[0], MANY[1], seed, MANY[2]) for seed in seeds]


def compute(config: Config, device: torch.device) -> dict:
    """Measure. Returns: ``median`` of |T| over the contexts and ``square``, n times the mean of T²."""
    # Its own randomness for every row.
    generator = Generator().manual_seed(10**7 * config.seed + 100 * config.n + round(10 * config.b))
    tokens = torch.randn(config.contexts, config.n, generator=generator, dtype=torch.float64)
    if config.own:
        T = torch.stack([influence.among(row, config.b) for row in tokens])
    else:
        T = influence.deviation(tokens, config.b)
    return {"median": float(T.abs().median()), "square": config.n * float(T.square().mean())}


EXPERIMENT = Experiment(
    name="one_context",
    title="How far the gradient is off with one context for all queries, below, at and above b = 1",
    plan=plan,
    compute=compute,
    dtype="float64",
)


@dataclass(frozen=True)
class Mean:
    """The mean of x(bx − ẑ_n(bx)), which is b E[x²P₂], for huge contexts."""

    b: float  # B = b in one dimension
    log10_n: tuple[int, ...] = (32, 48, 64)  # decimal logarithms of the numbers of tokens


def mean_plan(scale: str) -> list[Mean]:
    """Norms from 1 to 2, with 2/√3, where the exponent is one half."""
    if scale == "smoke":
        return [Mean(1.0, (1, 2))]
    norms = (1.0, 2 / math.sqrt(3), 1.5, 2.0)
    return [Mean(b) for b in (norms[:1] if scale == "laptop" else norms)]


def mean(config: Mean, device: torch.device) -> dict:
    """Integrate. Returns: ``log_mean``, one natural logarithm for each number of tokens."""
    found = exact.shortfall(config.b, [10.0**k for k in config.log10_n])
    return {"log_mean": [math.log(value) for value in found]}


MEAN = Experiment(
    name="mean_gradient",
    title="How far the mean gradient is off with up to 10⁶⁴ tokens, d = 1, for b from 1 to 2",
    plan=mean_plan,
    compute=mean,
    dtype="float64",
)
