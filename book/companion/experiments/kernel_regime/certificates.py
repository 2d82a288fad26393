"""Certificates of Theorem A at the paper's setting: five problems, seven widths, every step measured.

A problem is a draw of data, anchors and teacher heads. A row is one run on it: width, step size, horizon.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from companion.experiments.kernel_regime import problems
from shallowformer import data
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.convergence import certificates, comparators
from shallowformer.kernel_regime.kernel import mappings, transportation
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters

SEEDS = range(5)
PAPER, LARGE = (1 / math.sqrt(4000), 4000), (1.0, 400)  # step size, horizon
HORIZONS = (1, 4, 10, 25, 63, 100, 158, 250, 400, 632, 1000, 1585, 2500, 4000)


@dataclass(frozen=True)
class Config:
    """A run on a problem."""

    m: int  # width
    seed: int  # of the problem
    eta: float = PAPER[0]  # step size η
    steps: int = PAPER[1]  # horizon τ
    d: int = 8  # dimension of tokens
    T: int = 16  # length of sequences
    n: int = 5000  # samples
    teacher: int = 8192  # heads of the teacher that labels are made from
    anchors: int = 16  # of the teacher's mapping
    rho: tuple[float, float, float] = (3.0, 3.0, 3.0)  # radii of Ω, and of the teacher


def plan(scale: str) -> list[Config]:
    """The runs of a scale; narrow models of all problems come first."""
    if scale == "smoke":
        return [Config(4, seed, 0.1, 20, n=12, teacher=64) for seed in range(2)]
    narrow = [Config(m, seed) for m in (8, 16, 32) for seed in SEEDS]
    if scale == "laptop":
        return narrow
    return [
        *narrow,
        *(Config(m, seed) for m in (64, 128) for seed in SEEDS),
        *(Config(m, seed, *LARGE) for m in (8, 32, 128) for seed in SEEDS),
        *(Config(m, seed) for m in (256, 512) for seed in SEEDS),
    ]


def _source(config: Config) -> torch.Generator:
    return torch.Generator().manual_seed(1000 + config.seed)


def inputs(config: Config) -> Float[Tensor, "n T d"]:
    """The inputs of a problem, without the labels, which take longer."""
    return data.clipped_gaussian(config.n, config.T, config.d, _source(config))


def problem(config: Config) -> tuple[Loss, transportation.Mapping]:
    """Data, labels and teacher, in float64. Returns: the loss, and the mapping that the labels were made from."""
    source = _source(config)
    X = data.clipped_gaussian(config.n, config.T, config.d, source)
    teacher = mappings.teacher(data.clipped_gaussian(config.anchors, config.T, config.d, source), config.rho)
    return Loss(X, transportation.represented(X, teacher, config.teacher, source).mean), teacher


def start(config: Config) -> Parameters:
    """The symmetric initialisation of a run: numbers of float32, held in float64. Returns: φ⁽⁰⁾."""
    return problems.start(config.m, config.seed, config.d)


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row: problem and comparators in float64 on the CPU, the run in float32 on the device."""
    loss, teacher = problem(config)
    phi0 = start(config)
    ridge = comparators.best_ridge(loss, phi0, config.eta, config.steps)
    transported = transportation.transported(phi0, teacher)
    cast = lambda phi: phi.map(lambda block: block.to(device, torch.float32))
    seen = certificates.follow(
        Loss(loss.X.to(device, torch.float32), loss.y[:, 0].to(device, torch.float32)),
        cast(phi0),
        [cast(ridge.point), cast(transported)],
        eta=config.eta,
        steps=config.steps,
        rho=config.rho,
    )
    losses = seen.losses.double()
    horizons = [t for t in HORIZONS if t <= config.steps]
    return {
        "trivial": float(loss.y.square().mean()),
        "mean": float(losses.mean()),
        "min": float(losses.min()),
        "theta": float(seen.theta.max()),
        "trace": seen.trace,
        "active": float(seen.run.active.max()),
        "lambda": ridge.lam,
        "ridge": _comparator(seen, 0, ridge.point, phi0),
        "transported": _comparator(seen, 1, transported, phi0),
        "horizons": horizons,
        "means": [float(losses[:t].mean()) for t in horizons],
        "mins": [float(losses[:t].min()) for t in horizons],
    }


def _comparator(seen: certificates.Followed, k: int, point: Parameters, phi0: Parameters) -> dict:
    displacement = [
        (a - b).reshape(phi0.m, -1).norm(dim=1).max().item() * phi0.m**0.5
        for a, b in zip(point.blocks, phi0.blocks, strict=True)
    ]
    return {
        "V0": float(seen.V0[k]),
        "epsilon_start": float(seen.epsilon[0, k]),
        "epsilon": float(seen.epsilon[:, k].max()),
        "displacement": displacement,
        "certificate": seen.certificate()[k],
    }


EXPERIMENT = Experiment(
    name="certificates",
    title="Certificates of Theorem A at the paper's setting: five problems, seven widths, every step measured",
    plan=plan,
    compute=compute,
    dtype="float32",
)
