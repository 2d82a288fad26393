"""The bridge: the model of part one on token selection data, trained far beyond its fence. When does it leave the kernel regime, when does it select?

Widths run side by side from starts of one scale s: U and W are s times those of part one. Two losses. *Squared*, with labels ±1 and plain
gradient descent, as in part one: training ends where labels are met. *Exponential*, with steps of fixed length as in part two: training
never ends, and how far it has come is said by ln(1/L), the logarithm of the time that plain gradient descent would take, up to constants.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from companion.experiments.token_selection.bridge_measures import seen
from shallowformer.activations import TANH
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.convergence.descent import SideBySide
from shallowformer.kernel_regime.model import parameters
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.model.students import Students
from shallowformer.kernel_regime.model.torch_pass import TorchPass
from shallowformer.queries import last_token
from shallowformer.token_selection import datasets, svm
from shallowformer.token_selection.instances import Instance
from shallowformer.training import descent
from shallowformer.training.points import Point

SEEDS = range(10)
#: Draws for hypotheses that were chosen after a look at those of ``SEEDS``.
FRESH = range(10, 30)
WIDTHS = (4, 16, 64, 256)
#: Scales s of U and W at the start; part one has 1.
SCALES = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)
#: Loss → η and the number of steps.
LOSSES = {"squared": (0.5, 2048), "exponential": (0.02, 1400)}
#: Losses and scales of the fresh draws.
DECISIVE = (("exponential", 1 / 16), ("exponential", 1.0), ("squared", 1.0))
#: Steps of one length; later ones are in proportion to the way so far.
TURN = 200


@dataclass(frozen=True)
class Config:
    """Data, start and loss of students side by side."""

    loss: str  # "squared" or "exponential"
    scale: float  # s, of U and W at the start
    seed: int  # of data and starts
    eta: float  # step size of squared loss; for exponential loss the length of the first steps over √m
    steps: int  # how many
    widths: tuple[int, ...] = WIDTHS  # of the students
    n: int = 16  # sequences
    T: int = 4  # tokens a sequence
    d: int = 16  # dimension of a token
    alpha: float = 2.0  # how much longer the planted token is
    dtype: str = "float64"  # of the run
    turn: ClassVar[int] = TURN  # steps of one length


@dataclass(frozen=True)
class Halved(Config):
    """A run of the exponential loss whose steps are half as long, twice as many."""

    turn: int = 2 * TURN


def halved(scale: str) -> list[Halved]:
    """The runs of seed 0 from the scales that select."""
    if scale == "smoke":
        return [Halved("exponential", 1.0, 0, 0.01, 40, widths=(2, 4), n=4, T=3, d=5)]
    eta, steps = LOSSES["exponential"]
    return [Halved("exponential", s, 0, eta / 2, 2 * steps) for s in SCALES[: 2 if scale == "laptop" else 4]]


def plan(scale: str) -> list[Config]:
    """The runs of a scale, seed by seed."""
    if scale == "smoke":
        return [
            Config(loss, 1.0, 0, eta, 20, widths=(2, 4), n=4, T=3, d=5) for loss, (eta, _) in LOSSES.items()
        ]
    everywhere = [(loss, s) for loss in LOSSES for s in SCALES]
    draws = [(seed, everywhere) for seed in SEEDS] + [(seed, DECISIVE) for seed in FRESH]
    return [
        Config(loss, s, seed, *LOSSES[loss])
        for seed, cells in (draws if scale == "paper" else draws[:2])
        for loss, s in cells
    ]


def data(config: Config) -> Instance:
    """(DM), scaled into the unit ball; the last token asks, as in part one; the planted tokens are the optimal ones."""
    generator = torch.Generator().manual_seed(3000 + config.seed)
    drawn = datasets.dm(config.n, config.d, config.alpha, 1.0, generator, config.T)
    X = drawn.X / (drawn.X.norm(dim=-1).max() * (1 + 1e-12))
    return Instance(X, drawn.y, drawn.u, query=config.T - 1, opt=drawn.opt)


def start(config: Config, m: int) -> Parameters:
    """The symmetric initialisation of part one with U and W scaled by s."""
    drawn = parameters.symmetric(m, config.d, torch.Generator().manual_seed(1000 * config.seed + m))
    return Parameters(drawn.c, config.scale * drawn.U, config.scale * drawn.W)


@dataclass(frozen=True)
class Exponential:
    """Students side by side under L = mean exp(−y f): a "gradient" of length √m each, and ln L as the loss."""

    X: Float[Tensor, "n T d"]  # tokens in the unit ball
    y: Float[Tensor, " n"]  # labels ±1
    widths: tuple[int, ...]  # of the students

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.X)

    @property
    def _pass(self) -> TorchPass:
        return TorchPass(TANH, self.X.dtype)

    def losses(self, point: Point) -> Float[Tensor, " s"]:
        """Logarithm of the loss L of each student."""
        f = self._pass.outputs(Students(*point, self.widths), self.X, last_token(self.X))
        return torch.logsumexp(-self.y[:, None] * f, 0) - math.log(self.n)

    def losses_and_gradient(
        self, point: Point, rows: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, " s"], Point]:
        """Logarithm of the loss L of each student, and its gradient, stretched to length √m student by student."""
        students, q = Students(*point, self.widths), last_token(self.X)
        y, way = self.y[:, None], self._pass
        f = way.outputs(students, self.X, q)
        losses = torch.logsumexp(-y * f, 0) - math.log(self.n)
        # ∇ ln L = −Σ_j p_j y_j ∇f_j is half of n times the gradient of a mean square whose residuals are −p_j y_j.
        _, found = way.gradient(students, self.X, q, f + y * torch.softmax(-y * f, 0))
        squares = found.c.square() + found.U.square().sum(0) + found.W.square().sum((0, 1))
        norms = [float(part.sum().sqrt()) for part in squares.split(list(self.widths))]
        factor = students.spread([m**0.5 / norm for m, norm in zip(self.widths, norms, strict=True)])
        return losses, (found.c * factor, found.U * factor, found.W * factor)


def path(step: int, eta: float, turn: int = TURN) -> float:
    """How far a student has come, over √m: η a step for the first ``turn`` steps; later every step is in proportion to the way.

    Args:
        eta: length of the first steps over √m.
    """
    return eta * step if step <= turn else eta * turn * (1 + 1 / turn) ** (step - turn)


def schedule(config: Config) -> list[int]:
    """When runs are looked at: 0, whenever the way has doubled, and after the last step."""
    steps = range(1, config.steps + 1)
    way = steps if config.loss == "squared" else [path(step, 1.0, config.turn) for step in steps]
    octaves = [math.floor(math.log2(value)) for value in way]
    first = [step for step, now, before in zip(steps, octaves, [-1, *octaves], strict=False) if now > before]
    return sorted({0, config.steps, *first})


def compute(config: Config, device: torch.device) -> dict:
    """Train students of all widths from one scale, and look at them, on the CPU, on a logarithmic grid of times.

    Returns: ``at``, the steps; ``reached``, L, or ln(1/L) of exponential loss; and the numbers of ``seen``: one list along the steps a
    width.
    """
    instance = data(config)
    X, y = instance.X.to(device), instance.y.to(device)
    starts = [start(config, m) for m in config.widths]
    squared = config.loss == "squared"
    objective = SideBySide(Loss(X, y), config.widths) if squared else Exponential(X, y, config.widths)
    best = svm.w_svm(instance).W
    point = tuple(block.to(device) for block in Students.of(*starts).blocks)
    at, looks, losses, before = schedule(config), [], [], 0

    def rule(step: int, *_: object) -> float:
        step = step + before
        if squared:
            return config.eta
        return path(step + 1, config.eta, config.turn) - path(step, config.eta, config.turn)

    for step in at:
        if step:
            point = descent.run(objective, point, eta=rule, steps=step - before, every=step).end
        before = step
        losses.append((objective.losses(point) * (1 if squared else -1)).tolist())
        phis = Students(*(block.cpu() for block in point), config.widths).apart()
        looks.append([seen(instance, phi, phi0, best) for phi, phi0 in zip(phis, starts, strict=True)])
    over = lambda name: [[_rounded(look[k][name]) for look in looks] for k in range(len(config.widths))]
    return {"at": at, "reached": [list(map(_rounded, column)) for column in zip(*losses, strict=True)]} | {
        name: over(name) for name in looks[0][0]
    }


def _rounded(value: float) -> float:
    """Six digits: more than another machine would reproduce."""
    return float(f"{value:.6g}")


EXPERIMENT = Experiment(
    name="bridge",
    title="The bridge: part one's model on token selection data; kernel regime, decoder learning, selection",
    plan=plan,
    compute=compute,
    tolerance={"own": 0.02, "aligned_own": 0.05, "aligned": 0.05, "planted": 0.02},
)

HALVED = Experiment(
    name="bridge_halved",
    title="The bridge with steps half as long: what they move",
    plan=halved,
    compute=compute,
    tolerance=EXPERIMENT.tolerance,
)
