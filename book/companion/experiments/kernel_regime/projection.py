"""What the projection is for: the same problems with radii from far to near and with none, at several label and step sizes.

Several widths run side by side on the same data. Labels are those of the paper's teacher, scaled to a given root mean square. The runs
of the paper's size are on the problems of ``training_loss``, with their labels as they come.
"""

import math
from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

from companion.experiments.kernel_regime import problems
from shallowformer import data
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.convergence import descent, step_size
from shallowformer.kernel_regime.kernel import mappings, tangent_kernel, transportation
from shallowformer.kernel_regime.model import linear_model, parameters
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.model.students import Students

SEEDS = range(10)
WIDTHS = (8, 32, 128)
#: Radii ρ of all three blocks.
RADII = (3.0, 1.0, 0.3, 0.1)
#: Root mean squares of the labels; the paper's own are about the last.
SIZES = (1.0, 1 / 4, 1 / 8, 1 / 16)
#: Below half of the largest safe step, and the paper's 1/√τ for 100 steps.
LARGE, PAPER = 5.0, 1 / math.sqrt(100)
#: Radius of the runs of the paper's size. 1 and 3 would change nothing there: no free run gets so far.
NEAR = 0.1
#: Who has left the kernel regime: root mean square of f − f_lin over that of f.
LEFT = 0.1
#: Inputs on which the turn of the kernel is measured.
SUBSET = 64


@dataclass(frozen=True)
class Config:
    """A problem and how it is run."""

    seed: int  # of data, teacher and initialisations
    scale: float | None  # root mean square of the labels; None for a problem of Figure 1, with its own labels
    eta: float  # step size η
    rho: float | None  # radius of all three blocks; None for no projection
    widths: tuple[int, ...] = WIDTHS  # of the students, side by side
    d: int = 8  # dimension of tokens
    T: int = 16  # length of sequences
    n: int = 128  # samples
    steps: int = 100  # τ
    teacher: int = 2048  # heads of the teacher that labels are made from
    records: int = 20  # how often the run is looked at


def plan(scale: str) -> list[Config]:
    """The runs of a scale, each question's together: sizes of labels, radii, the paper's step size, the paper's size."""
    if scale == "smoke":
        return [
            Config(0, 1.0, LARGE, rho, widths=(4, 8), n=12, steps=20, teacher=64, records=5)
            for rho in (None, 0.3)
        ]
    seeds, some = (SEEDS, SEEDS[:5]) if scale == "paper" else (SEEDS[:3], SEEDS[:3])
    full = [full_size(seed, rho) for rho in (None, NEAR) for seed in SEEDS[5:7]] if scale == "paper" else []
    return [
        *(Config(seed, size, LARGE, None) for size in SIZES for seed in seeds),
        *(Config(seed, 1.0, LARGE, rho) for rho in RADII for seed in some),
        *(Config(seed, 1.0, PAPER, None) for seed in some),
        *full,
    ]


def full_size(seed: int, rho: float | None) -> Config:
    """A run of two narrow students on a problem of Figure 1, with its step size and horizon.

    Args:
        rho: radius of all three blocks; None for no projection.
    """
    steps = 4000
    return Config(seed, None, 1 / math.sqrt(steps), rho, widths=(8, 32), n=5000, steps=steps, teacher=8192)


def problem(config: Config) -> tuple[Float[Tensor, "n T d"], Float[Tensor, " n"]]:
    """Inputs and labels, in float64. Returns: X, and y of root mean square ``config.scale`` unless that is None."""
    if config.scale is None:
        given = problems.problem("paper", config.seed, config.n, config.teacher)
        return given.X, given.labels.mean
    X, y = _drawn(config.seed, config.n, config.T, config.d, config.teacher)
    return X, config.scale * y


@cache
def _drawn(seed: int, n: int, T: int, d: int, heads: int) -> tuple[Tensor, Tensor]:
    """Inputs, and labels of root mean square 1: most of a small problem's time goes to its teacher."""
    source = torch.Generator().manual_seed(2000 + seed)
    X = data.clipped_gaussian(n, T, d, source)
    v = mappings.teacher(data.clipped_gaussian(problems.ANCHORS, T, d, source), problems.THREES)
    y = transportation.represented(X, v, heads, source).mean
    return X, y / y.square().mean().sqrt()


def start(config: Config, m: int) -> Parameters:
    """φ⁽⁰⁾ of a student of width m, symmetric: numbers of float32, held in float64."""
    return problems.start(m, config.seed, config.d)


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row: the run in float32 on the device, what is measured on the way in float64 on the CPU.

    Returns: lists by width; ``apart`` and ``loss`` hold one list a width, along the steps ``at``.
    """
    X, y = problem(config)
    starts = [start(config, m) for m in config.widths]
    loss = Loss(X.to(device, torch.float32), y.to(device, torch.float32))
    exact = Loss(X, y)

    def apart(step: int, students: tuple[Parameters, ...]) -> dict[str, Tensor]:
        students = [phi.map(lambda block: block.cpu().double()) for phi in students]
        f = exact.outputs(Students.of(*students))
        gap = torch.stack([_gap(X, phi, phi0) for phi, phi0 in zip(students, starts, strict=True)], 1)
        rms = f.square().mean(0).sqrt().clamp(min=torch.finfo(f.dtype).tiny)
        return {"mean": gap.square().mean(0).sqrt() / rms, "largest": gap.abs().amax(0) / rms}

    run = descent.run(
        loss,
        [phi.map(lambda block: block.to(device, torch.float32)) for phi in starts],
        eta=config.eta,
        steps=config.steps,
        rho=None if config.rho is None else (config.rho,) * 3,
        every=max(1, config.steps // config.records),
        observe=apart,
    )
    ends = [phi.map(lambda block: block.cpu().double()) for phi in run.phi]
    distance = torch.stack([seen["mean"] for seen in run.observed[1:]])  # at step 0 both are 0
    return {
        "at": run.steps.tolist(),
        "loss": run.losses.T.tolist(),
        "apart": [[0.0, *column] for column in distance.T.tolist()],
        "largest": run.observed[-1]["largest"].tolist(),
        "left": [_first(column, run.steps[1:]) for column in (distance > LEFT).T],
        "displacement": run.displacement.amax(0).tolist(),
        "active": run.active[-1].tolist(),
        "turn": [_turn(X[:SUBSET], phi, phi0) for phi, phi0 in zip(ends, starts, strict=True)],
        "edge": [1 / step_size.curvature(X, phi0) for phi0 in starts],
    }


def _gap(X: Tensor, phi: Parameters, phi0: Parameters) -> Tensor:
    """The linearisation error f − f_lin of every sample."""
    return linear_model.head_errors(X, phi0, parameters.difference(phi, phi0)).sum(1)


def _first(there: Tensor, steps: Tensor) -> int:
    """The first step at which something was seen; −1 for never."""
    return int(steps[there.nonzero()[0]]) if there.any() else -1


def _turn(X: Tensor, phi: Parameters, phi0: Parameters) -> float:
    """How far the tangent kernel has turned, relative to its norm at the start."""
    before, after = (tangent_kernel.finite(X, point).total for point in (phi0, phi))
    return float((after - before).norm() / before.norm())


EXPERIMENT = Experiment(
    name="projection",
    title="Projections of every radius and none: loss, displacement, distance from the linear model",
    plan=plan,
    compute=compute,
    tolerance={"left": math.inf, "loss": 0.05, "apart": 0.05, "largest": 0.05, "active": 0.1, "turn": 0.02, "displacement": 0.01},
    dtype="float32",
)  # fmt: skip
