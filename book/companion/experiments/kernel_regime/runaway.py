"""Do gradients run away without a projection? Steps on both sides of the linear model's edge n/λ_max, with one and without."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.kernel_regime import targets
from shallowformer import data
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.convergence import descent, step_size
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model import parameters, transformer
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.training.descent import Diverged

SEEDS = range(10)
#: Step sizes in units of the edge.
MULTIPLES = (1.1, 2.0, 3.0, 4.0)
#: Below the edge, but hard: step size, size of labels, target, width, samples.
HARD = (0.5, 1.0, "wave", 16, 256)
#: A run that comes to so many times its first loss has run away.
AWAY = 1e6


@dataclass(frozen=True)
class Config:
    """A run near the edge."""

    multiple: float  # step size in units of n/λ_max at the start
    seed: int  # of data, teacher and initialisation
    rho: float | None  # radius of all three blocks; None for no projection
    scale: float = 1 / 16  # root mean square of the labels
    target: str = "teacher"  # one of ``targets.NAMES``
    m: int = 64  # width
    n: int = 64  # samples
    steps: int = 200  # τ
    teacher: int = 2048  # heads of the teacher that labels are made from


def plan(scale: str) -> list[Config]:
    """The runs of a scale. Returns: configurations, long steps without a projection first, as they end early."""
    if scale == "smoke":
        return [Config(4.0, 0, rho, m=4, n=12, steps=20, teacher=64) for rho in (None, 3.0)]
    seeds = SEEDS if scale == "paper" else SEEDS[:5]
    return [
        *(Config(size, seed, rho) for rho in (None, 3.0) for size in MULTIPLES[::-1] for seed in seeds),
        *(Config(*HARD[:1], seed, rho, *HARD[1:]) for rho in (None, 3.0) for seed in seeds),
    ]


def problem(config: Config) -> tuple[Float[Tensor, "n T d"], Float[Tensor, " n"]]:
    """Inputs and labels. Returns: X, and y of root mean square ``config.scale``."""
    source = torch.Generator().manual_seed(2000 + config.seed)
    X = data.clipped_gaussian(config.n, 16, 8, source)
    y = targets.labels(X, source, config.teacher)[config.target]
    return X, config.scale * y / y.square().mean().sqrt()


def start(config: Config) -> Parameters:
    """The symmetric initialisation. Returns: φ⁽⁰⁾."""
    return parameters.symmetric(config.m, 8, torch.Generator().manual_seed(10_000 * config.m + config.seed))


def follow(config: Config, X: Float[Tensor, "n T d"], y: Float[Tensor, " n"], phi0: Parameters) -> dict:
    """Run from a start, in float64.

    Returns: ``edge``, the step n/λ_max; ``peak`` and ``end``, largest and last loss over the first ("away" beyond ``AWAY``); ``away``, the
    first step seen beyond ``AWAY`` (−1 for never); and, at the first record beyond ``AWAY`` or else at the end, ``readouts`` and ``whole``,
    η times the curvature of the readouts alone (also ``readouts_at_start``) and of the whole kernel, and ``saturation``, the mean |σ|.
    """
    edge = 1 / step_size.curvature(X, phi0)
    eta, first = config.multiple * edge, float(y.square().mean())
    seen: list[tuple[int, float, Parameters]] = []  # up to the first record beyond AWAY

    def look(step: int, students: tuple[Parameters, ...]) -> dict:
        if not seen or seen[-1][1] <= AWAY:
            ratio = float((transformer.f(X, students[0]) - y).square().mean()) / first
            seen.append((step, ratio, students[0]))
        return {}

    radii = None if config.rho is None else (config.rho,) * 3
    try:
        run = descent.run(Loss(X, y), phi0, eta=eta, steps=config.steps, rho=radii, every=2, observe=look)
        peak, end = float(run.step_losses.max()) / first, float(run.losses[-1, 0]) / first
    except Diverged:
        peak = end = math.inf
    step, ratio, phi = seen[-1]
    K = tangent_kernel.finite(X, phi)
    top = lambda gram: eta * float(torch.linalg.eigvalsh(gram)[-1]) / len(X)
    bounded = lambda value: value if value <= AWAY else "away"
    return {
        "edge": edge,
        "peak": bounded(peak),
        "end": bounded(end),
        "away": step if ratio > AWAY else -1,
        "readouts": top(K.c),
        "whole": top(K.total),
        "saturation": float(transformer.hidden(X, phi).abs().mean()),
        "readouts_at_start": top(tangent_kernel.finite(X, phi0).c),
    }


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row, in float64. Returns: the row, of ``follow``."""
    X, y = (tensor.to(device) for tensor in problem(config))
    return follow(config, X, y, start(config).map(lambda block: block.to(device)))


def tolerance(config: Config, result: Mapping) -> dict[str, float]:
    """How far a row may be from the stored one, relatively, by name.

    With hard labels and no projection it is rounding that decides whether a run goes away (see the chapter), and nothing of its end comes
    back; all other runs hardly notice rounding.
    """
    if config.rho is None and config.target == HARD[2]:
        return dict.fromkeys(("away", "readouts", "whole", "saturation", "peak", "end"), math.inf)
    return {}


EXPERIMENT = Experiment(
    name="runaway",
    title="Steps beyond the edge of the linear model, with a projection and without",
    plan=plan,
    compute=compute,
    tolerance=tolerance,
    dtype="float64",
)
