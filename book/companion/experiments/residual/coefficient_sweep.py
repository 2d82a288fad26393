"""Figure 3(a) on data that anyone can draw: the residual coefficient swept on autoregressive tokens, for three kinds of targets."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.experiments.residual import coefficients
from shallowformer.experiments.experiment import Experiment
from shallowformer.residual import datasets, starts
from shallowformer.residual.parameters import Parameters, Setting

#: Of a teacher with both residuals, of one without attention's, and of nobody: independent Gaussian numbers.
TARGETS = ("with", "without", "noise")


@dataclass(frozen=True)
class Config:
    """Data, a start, and the sweep over ``coefficients.COEFFICIENTS`` from there."""

    targets: str  # one of ``TARGETS``
    seed: int  # of tokens, teacher and start, drawn in this order
    P: int = 8  # sequences
    N: int = 8  # tokens a sequence
    d: int = 16  # dimension of a token
    d_k: int = 8  # of keys and queries
    d_1: int = 96  # hidden width
    K: int = 4  # outputs a token
    memory: float = 0.9  # of the autoregression
    mu: float = 2e-4  # the fixed step
    steps: int = coefficients.AT[-1]  # of every run


def plan(scale: str) -> list[Config]:
    """Every kind of targets, several seeds."""
    if scale == "smoke":
        return [Config("with", 0, P=2, N=3, d=5, d_k=2, d_1=8, K=2, steps=100)]
    return [Config(targets, seed) for targets in TARGETS for seed in range(3 if scale == "laptop" else 10)]


def posed(config: Config) -> tuple[Float[Tensor, "P N d"], Float[Tensor, "P N K"], Parameters]:
    """Tokens, targets of mean square 1, and the start; tokens and start are the same for all targets."""
    if config.targets not in TARGETS:
        raise ValueError(f"targets must be one of {', '.join(TARGETS)}, got {config.targets!r}")
    generator = Generator().manual_seed(config.seed)
    X = datasets.autoregressive(config.P, config.N, config.d, generator, config.memory)
    sizes = config.d, config.d_k, config.d_1, config.K
    teacher, theta = (starts.gaussian(*sizes, generator) for _ in range(2))
    if config.targets != "noise":
        return X, datasets.taught(X, teacher, Setting(g=float(config.targets == "with"))), theta
    Y = torch.randn(config.P, config.N, config.K, generator=generator, dtype=X.dtype)
    return X, Y / Y.square().mean().sqrt(), theta


def compute(config: Config, device: torch.device) -> dict:
    """Sweep. Returns: as ``coefficients.sweep``."""
    return coefficients.sweep(*posed(config), config.mu, config.steps)


EXPERIMENT = Experiment(
    name="coefficient_sweep",
    title="Figure 3(a) on autoregressive tokens: residual coefficients, three rules for the step, three kinds of targets",
    plan=plan,
    compute=compute,
    tolerance=coefficients.tolerance,
    dtype="float64",
)
