"""Attention that starts silent, with and without its residual: how long the loss stays at the floor, and what the network's own residual does."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.residual import plateau
from shallowformer.experiments.experiment import Experiment
from shallowformer.residual import curvature, datasets, spectra, starts
from shallowformer.residual.descent import Regression
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.smoothed import SmoothedReLU
from shallowformer.training import descent

#: Factors of W_Q and W_K at the start.
STARTS = {
    "drawn": (1.0, 1.0),
    "silent": (0.0, 0.0),
    "no queries": (0.0, 1.0),
    "1e-3": (1e-3, 1e-3),
    "1e-6": (1e-6, 1e-6),
}
#: Starts and coefficients (g, g_f) that are run.
CASES = (
    *((start, 0.0, 1.0) for start in STARTS),
    *((start, 1.0, 1.0) for start in ("drawn", "silent", "1e-3")),
    ("drawn", 0.0, 0.0),
    ("drawn", 1.0, 0.0),
)
#: Steps at which losses are stored.
AT = (0, 50, 100, 200, 500, 1000, 2000, 4000)


@dataclass(frozen=True)
class Config:
    """A start and a pair of coefficients, on Gaussian tokens and the outputs of a teacher with both residuals."""

    start: str  # one of ``STARTS``
    g: float  # attention's coefficient
    g_f: float  # the network's
    seed: int  # of tokens, teacher and start, drawn in this order
    P: int = 8  # sequences
    N: int = 8  # tokens a sequence
    d: int = 16  # dimension of a token
    d_k: int = 8  # of keys and queries
    d_1: int = 96  # hidden width
    K: int = 4  # outputs a token
    tau: float = 0.1  # width of the smoothed ReLU
    steps: int = AT[-1]  # of the run, each of length 1/(1.05 ‖∇²Φ(θ⁽⁰⁾)‖)


def plan(scale: str) -> list[Config]:
    """Every case, several seeds."""
    if scale == "smoke":
        return [Config(*case, 0, P=2, N=3, d=5, d_k=2, d_1=8, K=2, steps=100) for case in CASES]
    return [Config(*case, seed) for case in CASES for seed in range(3 if scale == "laptop" else 10)]


def posed(config: Config) -> tuple[Float[Tensor, "P N d"], Float[Tensor, "P N K"], Parameters, Setting]:
    """Tokens, targets of mean square 1, start and setting; data and the other four blocks are the same in all cases of a seed."""
    if config.start not in STARTS:
        raise ValueError(f"start must be one of {', '.join(STARTS)}, got {config.start!r}")
    generator = Generator().manual_seed(config.seed)
    X = datasets.gaussian(config.P, config.N, config.d, generator, 1.0)
    activation = SmoothedReLU(config.tau)
    draw = lambda: starts.gaussian(config.d, config.d_k, config.d_1, config.K, generator)
    Y = datasets.taught(X, draw(), Setting(activation=activation))
    queries, keys = STARTS[config.start]
    start = starts.scaled(draw(), W_Q=queries, W_K=keys)
    return X, Y, start, Setting(config.g, config.g_f, activation)


def compute(config: Config, device: torch.device) -> dict:
    """Run.

    Returns: ``floor``, ``mu``, ``loss`` at ``AT``, ``rises`` (share of steps that made it larger), ``hidden`` (σ_min(Ā) at the start),
    ``grown`` (‖(W_Q, W_K)‖_F at the end over that at the start; 1 if both are 0).
    """
    X, Y, theta, setting = posed(config)
    mu = curvature.step_size(X, Y, theta, setting)
    done = descent.run(Regression(X, Y, setting), theta, eta=mu, steps=config.steps, every=config.steps)
    losses = torch.cat([done.step_losses[:, 0], done.losses[-1]])
    size = lambda point: math.hypot(*(float(W.norm()) for W in point[:2]))
    return {
        "floor": float(plateau.floor(Y)),
        "mu": mu,
        "loss": [float(losses[step]) for step in AT if step <= config.steps],
        "rises": float((losses[1:] > losses[:-1] * (1 + 1e-12)).double().mean()),
        "hidden": float(spectra.spectrum(X, theta, setting).sigma_A),
        "grown": size(done.end) / size(theta) if size(theta) else 1.0,
    }


def tolerance(config: Config, stored: Mapping) -> dict[str, float]:
    """What another machine may change: where the loss rises, steps are at the edge of stability, and a rounding error grows."""
    edge = stored["rises"] > 0.005
    return {
        "rises": math.inf,
        "hidden": 1e-2,
        "loss": math.inf if edge else 0.02,
        "grown": math.inf if edge else 0.02,
    }


EXPERIMENT = Experiment(
    name="rank_collapse",
    title="Silent attention with and without its residual: the floor, the escape, and the network's residual",
    plan=plan,
    compute=compute,
    tolerance=tolerance,
    dtype="float64",
)
