"""The bridge: the model of part one on token selection data, trained far beyond its fence. When does it leave the kernel regime, when does it select?

Widths run side by side from starts of one scale s: U and W are s times those of part one. Two losses. *Squared*, with labels ±1 and plain
gradient descent, as in part one: training ends where labels are met. *Exponential*, with steps of fixed length as in part two: training
never ends, and how far it has come is said by ln(1/L), the logarithm of the time that plain gradient descent would take, up to constants.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer import softmax
from shallowformer.activations import TANH
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.convergence.descent import SideBySide
from shallowformer.kernel_regime.model import linear_model, parameters, transformer
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
WIDTHS = (4, 16, 64, 256)
#: Scales s of U and W at the start; part one has 1.
SCALES = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)
#: Loss → η and the number of steps.
LOSSES = {"squared": (0.5, 2048), "exponential": (0.02, 1400)}
#: Who has left the kernel regime: root mean square of f − f_lin over that of f, as in ``projection``.
LEFT = 0.1
#: Who selects: attention on own tokens has gained so much of what was missing.
SELECTS = 1 / 4
#: Steps of one length; later ones are in proportion to the way so far.
TURN = 200
#: Heads of a student whose own support vector machine is solved.
SOME = 2


@dataclass(frozen=True)
class Config:
    """Data, start and loss of students side by side.

    Args:
        loss: "squared" or "exponential".
        scale: s, of U and W at the start.
        seed: of data and starts.
        eta: step size of squared loss; for exponential loss the length of the first steps over √m.
        steps: how many.
        widths: of the students.
        n: sequences.
        T: tokens a sequence.
        d: dimension of a token.
        alpha: how much longer the planted token is.
        dtype: of the run.
    """

    loss: str
    scale: float
    seed: int
    eta: float
    steps: int
    widths: tuple[int, ...] = WIDTHS
    n: int = 16
    T: int = 4
    d: int = 16
    alpha: float = 2.0
    dtype: str = "float64"


def plan(scale: str) -> list[Config]:
    """The runs of a scale, seed by seed.

    Args:
        scale: "smoke" (two tiny runs), "laptop" (two seeds) or "paper" (ten).
    """
    if scale == "smoke":
        return [
            Config(loss, 1.0, 0, eta, 20, widths=(2, 4), n=4, T=3, d=5) for loss, (eta, _) in LOSSES.items()
        ]
    return [
        Config(loss, s, seed, eta, steps)
        for seed in (SEEDS if scale == "paper" else SEEDS[:2])
        for loss, (eta, steps) in LOSSES.items()
        for s in SCALES
    ]


def data(config: Config) -> Instance:
    """(DM), scaled into the unit ball; the last token asks, as in part one.

    Args:
        config: of a run.

    Returns:
        The instance, with the planted tokens as the optimal ones.
    """
    generator = torch.Generator().manual_seed(3000 + config.seed)
    drawn = datasets.dm(config.n, config.d, config.alpha, 1.0, generator, config.T)
    X = drawn.X / (drawn.X.norm(dim=-1).max() * (1 + 1e-12))
    return Instance(X, drawn.y, drawn.u, query=config.T - 1, opt=drawn.opt)


def start(config: Config, m: int) -> Parameters:
    """The symmetric initialisation of part one with U and W scaled by s.

    Args:
        config: of a run.
        m: width.
    """
    drawn = parameters.symmetric(m, config.d, torch.Generator().manual_seed(1000 * config.seed + m))
    return Parameters(drawn.c, config.scale * drawn.U, config.scale * drawn.W)


@dataclass(frozen=True)
class Exponential:
    """Students side by side under L = mean exp(−y f): a "gradient" of length √m each, and ln L as the loss.

    Args:
        X: tokens in the unit ball.
        y: labels ±1.
        widths: of the students.
    """

    X: Float[Tensor, "n T d"]
    y: Float[Tensor, " n"]
    widths: tuple[int, ...]

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


def path(step: int, eta: float) -> float:
    """How far a student has come after some steps, over √m: η a step at first; from ``TURN`` steps on every step is 1/``TURN`` of the way.

    Args:
        step: how many.
        eta: length of the first steps over √m.
    """
    return eta * step if step <= TURN else eta * TURN * (1 + 1 / TURN) ** (step - TURN)


def schedule(config: Config) -> list[int]:
    """When runs are looked at: 0, whenever the way has doubled, and after the last step.

    Args:
        config: of the run.
    """
    steps = range(1, config.steps + 1)
    way = steps if config.loss == "squared" else [path(step, 1.0) for step in steps]
    octaves = [math.floor(math.log2(value)) for value in way]
    first = [step for step, now, before in zip(steps, octaves, [-1, *octaves], strict=False) if now > before]
    return sorted({0, config.steps, *first})


def compute(config: Config, device: torch.device) -> dict:
    """Train students of all widths from one scale, and look at them on a logarithmic grid of times.

    Args:
        config: of the run.
        device: where; what is measured is measured on the CPU.

    Returns:
        ``at``, the steps; ``reached``, L, or ln(1/L) of exponential loss; and the numbers of ``seen``: one list along the steps a width.
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
        return config.eta if squared else path(step + 1, config.eta) - path(step, config.eta)

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


def seen(
    instance: Instance, phi: Parameters, phi0: Parameters, best: Float[Tensor, "d d"]
) -> dict[str, float]:
    """What is measured of a student.

    Args:
        instance: the data.
        phi: the student.
        phi0: its start.
        best: W_mm of the planted tokens.

    Returns:
        ``moved``, ‖φ − φ⁽⁰⁾‖/‖φ⁽⁰⁾‖; ``path``, ‖φ − φ⁽⁰⁾‖/√m; ``attention``, the same of the W_i alone; ``decoder``, root mean square of ‖U_i‖; ``apart``, root
        mean square of f − f_lin over that of f; over heads and samples, means of ``entropy`` of attention over ln T, attention ``own`` on the head's
        own token, the one with the largest y c_i⟨U_i, x⟩, and ``planted`` on the longest; means over heads of the cosines ``aligned`` of W_i with
        W_mm of the planted tokens, and ``aligned_own``, of some heads, with W_mm of their own.
    """
    X, delta = instance.X, parameters.difference(phi, phi0)
    f, tangent = transformer.f(X, phi), linear_model.f_lin(X, phi, phi0)
    alpha = softmax.weights(X, phi.W, last_token(X))
    scores = instance.y[:, None, None] * phi.c[:, None] * (X @ phi.U.T).mT
    length = lambda block: float(block.norm()) / phi.m**0.5
    size = lambda values: float(values.norm())
    return {
        "moved": float(parameters.norm(delta) / parameters.norm(phi0)),
        "path": float(parameters.norm(delta)) / phi.m**0.5,
        "attention": length(delta.W),
        "decoder": length(phi.U),
        "apart": size(f - tangent) / size(f) if size(f) else 0.0,
        "entropy": float(-torch.xlogy(alpha, alpha).sum(2).mean()) / math.log(instance.T),
        "own": float(alpha.gather(2, scores.argmax(2, keepdim=True)).mean()),
        "planted": float(alpha[torch.arange(len(X)), :, instance.optimal].mean()),
        "aligned": sum(_cosine(W, best) for W in phi.W) / phi.m,
        "aligned_own": own_alignment(instance, phi),
    }


def own_alignment(instance: Instance, phi: Parameters) -> float:
    """Mean cosine of W_i with W_mm of head i, whose decoder is c_i U_i, for ``SOME`` heads.

    Args:
        instance: the data; its own decoder is not used.
        phi: a student.
    """
    some = torch.linspace(0, phi.m - 1, min(SOME, phi.m)).long()
    heads = [Instance(instance.X, instance.y, phi.c[i] * phi.U[i], instance.query) for i in some]
    return sum(_cosine(phi.W[i], svm.w_svm(head).W) for i, head in zip(some, heads, strict=True)) / len(heads)


def crossing(values: Sequence[float], along: Sequence[float], level: float) -> float:
    """Where a measured quantity first reaches a level, between two looks by a straight line on log scales.

    Args:
        values: the quantity, look by look.
        along: where each look is, above 0 from the second on.
        level: above 0.

    Returns:
        The place; infinite if the level is not reached.
    """
    k = next((k for k, value in enumerate(values) if value >= level), None)
    if k is None:
        return math.inf
    if k == 0 or values[k - 1] <= 0 or along[k - 1] <= 0:
        return along[k]
    share = math.log(level / values[k - 1]) / math.log(values[k] / values[k - 1])
    return along[k - 1] * (along[k] / along[k - 1]) ** share


def gains(own: Sequence[float]) -> list[float]:
    """How much of what was missing at the start attention on own tokens has gained, look by look.

    Args:
        own: attention on own tokens.
    """
    return [(value - own[0]) / (1 - own[0]) for value in own]


def _rounded(value: float) -> float:
    """Six digits: more than another machine would reproduce."""
    return float(f"{value:.6g}")


def _cosine(W: Tensor, other: Tensor) -> float:
    return float((W * other).sum() / (W.norm() * other.norm()))


EXPERIMENT = Experiment(
    name="bridge",
    title="The bridge: part one's model on token selection data; kernel regime, decoder learning, selection",
    plan=plan,
    compute=compute,
    tolerance={"own": 0.02, "aligned_own": 0.05, "aligned": 0.05, "planted": 0.02},
)
