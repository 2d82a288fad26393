"""What the labels of Figure 1 cost in the norm of the student's kernel: the paper's teacher, the released one, and those between.

Labels of a function in the kernel's class 𝓕 cost at most its squared norm over their mean square, however many inputs there are. Where
the price goes on rising with their number, there may be no such function. ``LEFT`` says what gradient descent on the linear model leaves of
the labels of the small copy of Figure 1: what is dear is also late to learn.
"""

from dataclasses import dataclass

import torch

from companion.experiments.kernel_regime import certificates, problems
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.kernel.labels import labelled
from shallowformer.kernel_regime.model import parameters

SEEDS = range(10)
#: Variants with a teacher of their own.
TEACHERS = ("paper", "mixed", "diagonal", "both")
#: Those whose heads have the student's law.
OWN = ("paper", "mixed")
#: Heads for the limit kernel: of all problems, and of the first once more, as K⁻¹ of a mean over heads is too large on average.
HEADS, MORE_HEADS = 4096, 16384


@dataclass(frozen=True)
class Config:
    """Labels of all teachers at the same inputs, and the kernel there."""

    seed: int  # of the problem and of the kernel's heads
    #: numbers of inputs, rising; each takes the first ones
    sizes: tuple[int, ...] = (32, 64, 128, 256, 512, 1024)
    heads: int = HEADS  # drawn for the limit kernel
    teacher: int = 8192  # heads of the teachers, for each of two draws of the labels


def plan(scale: str) -> list[Config]:
    """The draws of a scale."""
    if scale == "smoke":
        return [Config(0, (4, 8, 16), heads=64, teacher=64)]
    if scale == "laptop":
        return [Config(seed, (32, 64, 128, 256), teacher=4096) for seed in SEEDS[:3]]
    return [Config(seed) for seed in SEEDS] + [Config(0, heads=MORE_HEADS)]


def compute(config: Config, device: torch.device) -> dict:
    """Compute the prices, in float64 on the CPU.

    Labels are drawn twice, with heads of their own, as y and z: n y⊤K⁻¹z / y⊤z. So what finitely many heads add to the labels adds
    nothing to the expectation of either product.
    Returns: lists over ``sizes`` by teacher: ``price``; and for teachers of the student's own law ``ceiling``, E‖v‖² over the labels' mean
    square, which the price never exceeds but for the errors of both estimates.
    """
    given = {name: problems.problem(name, config.seed, config.sizes[-1], config.teacher) for name in TEACHERS}
    X, source = given["paper"].X, torch.Generator().manual_seed(5000 + config.seed)
    K = tangent_kernel.limit(X, config.heads, source).total
    pairs = {
        name: (
            problem.labels.mean,
            labelled(X, problem.teacher, config.teacher, source, law=problems.VARIANTS[name].law).mean,
        )
        for name, problem in given.items()
    }
    inverses = {n: torch.linalg.inv(K[:n, :n]) for n in config.sizes}
    squares = {name: {n: float(y[:n] @ z[:n]) / n for n in config.sizes} for name, (y, z) in pairs.items()}
    found = {
        name: {"price": [float(y[:n] @ inverses[n] @ z[:n]) / squares[name][n] for n in config.sizes]}
        for name, (y, z) in pairs.items()
    }
    heads = parameters.random(config.teacher, problems.D, source)
    for name in OWN:
        norm = sum(float(block.square().sum()) for block in given[name].teacher(heads).blocks) / heads.m
        found[name]["ceiling"] = [norm / squares[name][n] for n in config.sizes]
    return found


EXPERIMENT = Experiment(
    name="prices",
    title="What the labels of Figure 1's teachers cost in the norm of the student's kernel, against the number of inputs",
    plan=plan,
    compute=compute,
    dtype="float64",
)


@dataclass(frozen=True)
class Left:
    """Labels of all teachers at the inputs of a small problem, and the kernel there."""

    seed: int  # of the problem and of the kernel's heads
    n: int = 500  # inputs
    heads: int = 2048  # drawn for the limit kernel
    teacher: int = 8192  # heads of the teachers


def plan_left(scale: str) -> list[Left]:
    """The problems of a scale."""
    if scale == "smoke":
        return [Left(0, 20, 64, 64)]
    return [Left(seed) for seed in (SEEDS if scale == "paper" else SEEDS[:3])]


def compute_left(config: Left, device: torch.device) -> dict:
    """What the linear model of infinitely many heads has left after the paper's run, in float64 on the CPU.

    Returns: ``left``: by teacher, the loss after the paper's step size and number of steps over that at the start.
    """
    given = {name: problems.problem(name, config.seed, config.n, config.teacher) for name in TEACHERS}
    source = torch.Generator().manual_seed(6000 + config.seed)
    K = tangent_kernel.limit(given["paper"].X, config.heads, source).total
    speeds, vectors = torch.linalg.eigh(K / config.n)
    eta, steps = certificates.PAPER
    kept = (1 - 2 * eta * speeds) ** (2 * steps)
    squares = {name: (vectors.T @ problem.labels.mean).square() for name, problem in given.items()}
    return {"left": {name: float(kept @ parts / parts.sum()) for name, parts in squares.items()}}


LEFT = Experiment(
    name="linear_left",
    title="What descent on the linear model leaves of the labels of Figure 1's teachers",
    plan=plan_left,
    compute=compute_left,
    dtype="float64",
)
