"""Whole series at once: heads with k readouts, beside k networks with one readout each, on copying, sorting and weather.

A row is one draw of sample and start: ``shared`` is one network with m heads and k readouts; ``heads`` are k networks with m heads each,
one an output; ``parameters`` are k networks that together have as many parameters as the shared one, to the nearest even number of heads.
The loss is (1/N) Σ_j ‖f_j − y_j‖² over N positions, so that one output at a time has the same loss and step. Steps are the same for all
widths and kinds: 30 of a size that is near a quarter of the largest that Theorem F covers for 16 heads. Every output has root mean square
0.04, about that of the paper's teacher. Weather: test windows are drawn from the same year and may overlap those to train on.

Written down before the first run. Seen before: one draw of each task with 16, 64 and 128 heads and other steps, for 1 and 4 outputs, whose
losses and certificates (0.86, 0.45 and 0.58 of the trivial level with 16 heads) fixed sizes and steps. Ten seeds each:

1. Held: in every shared run the distance from the linear run is at most E at every step.
2. Something is certain: with 16 heads the loss of some step is certain to be below 95 % of the trivial level, in all seeds of every task.
3. Narrow: with 64 heads that certain level is within a tenth of the trivial level above the loss the run reaches, on weather in all seeds.
4. Width: from 16 to 64 heads the distance from the linear run at the last step falls with an exponent between −1.3 and −0.7 in every
   task, shared and with one output a network (partners cancel, so theory says −1).
5. Outputs: on copying with 32 heads, for the first k of 4 outputs, k = 1, 2, 4, the distance per output (over √k) grows with an exponent
   between ½ and 1½ (a head moves √k times as far, and what it adds to an output is of third order: k).
6. Same heads: with 64 heads the shared network leaves at most 1.25 times the training loss of k networks with 64 heads each, in the
   geometric mean, in every task (they have almost four times as many heads; in the limit of many all four learn alike).
7. Same parameters: the shared network leaves less training loss than k small ones, in the geometric mean, in every task and width
   (its readouts do not disturb each other, its heads do; k small networks are k times as narrow).
8. The same for the loss on new sequences.

After these rows had been seen, ten other draws of copying by shared networks were added, to repeat the exponent in m.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.beyond import vector_certificate, vector_known, vector_outputs, vector_tasks
from companion.theory.beyond.architecture import Blocks
from companion.theory.beyond.vector_known import Pairs
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.linear_run.known import LinearRun, linear_run
from shallowformer.training import descent
from shallowformer.training.autograd import Autograd

KINDS = ("shared", "heads", "parameters")
WIDTHS, SEEDS, OUTPUTS = (16, 32, 64), range(10), (1, 2, 4)
#: Ten others, to repeat with.
OTHERS = range(101, 111)
SIZE, STEPS = 0.04, 30
#: Step size η of each task.
ETA = {"copy": 4.0, "sort": 1.5, "weather": 1.25}


@dataclass(frozen=True)
class Config:
    """One sample, and one network with k outputs or k networks with one."""

    task: str  # of ``vector_tasks.TASKS``
    kind: str  # of ``KINDS``
    m: int  # heads of the shared network
    seed: int  # of sample and start
    k: int = 4  # outputs: the first so many
    n: int = 120  # positions of a sample
    steps: int = STEPS


def plan(scale: str) -> list[Config]:
    """Configurations of a scale, narrow models first."""
    if scale == "smoke":
        return [Config(task, kind, 4, 0, 2, 12, 3) for task in vector_tasks.TASKS for kind in KINDS]
    seeds = range(3) if scale == "laptop" else SEEDS
    series = [
        Config(task, kind, m, seed)
        for m in WIDTHS
        for seed in seeds
        for task in vector_tasks.TASKS
        for kind in KINDS
    ]
    series += [Config("copy", "shared", 32, seed, k) for seed in seeds for k in OUTPUTS[:-1]]
    again = [Config("copy", "shared", m, seed) for m in WIDTHS for seed in OTHERS]
    return series if scale == "laptop" else series + again


def sample(config: Config, test: bool = False) -> tuple[Float[Tensor, "n T d"], Float[Tensor, "n s k"]]:
    """Sequences and labels, to train on or new ones."""
    task = vector_tasks.TASKS[config.task]
    source = Generator().manual_seed(2 * config.seed + test)
    n = config.n if task.reading == "last" else config.n // task.T
    X, y = vector_tasks.sample(config.task, n, source)
    return X, SIZE * y[..., : config.k]


def width(config: Config, d: int = vector_tasks.D) -> int:
    """Heads of a network of this kind: as many as asked, or as the parameters of the shared one make for each of k, even."""
    if config.kind != "parameters":
        return config.m
    share = config.m * (config.k + d + d**2) / (config.k * (1 + d + d**2))
    return max(2, 2 * round(share / 2))


def starts(config: Config) -> list[Blocks]:
    """Symmetric starts: one with k readouts, or k with one."""
    draw = lambda which, k: vector_outputs.start(
        width(config), vector_tasks.D, k, Generator().manual_seed(10_000 + 100 * config.seed + which)
    )
    return [draw(0, config.k)] if config.kind == "shared" else [draw(1 + a, 1) for a in range(config.k)]


def total(f: Float[Tensor, "n s k"], y: Float[Tensor, "n s k"]) -> Float[Tensor, "n s"]:
    """‖f − y‖² of every position."""
    return (f - y).square().sum(-1)


def trained(
    X: Float[Tensor, "n T d"],
    y: Float[Tensor, "n s k"],
    phi0: Blocks,
    eta: float,
    steps: int,
    reading: str,
    every: int = 1,
) -> descent.Run:
    """Descent on (1/N) Σ_j ‖f_j − y_j‖² without projection; residuals are observed each so many steps."""
    model = lambda X, phi: vector_outputs.outputs(X, phi, reading)
    residuals = lambda step, phi: vector_outputs.by_position(model(X, phi) - y)
    objective = Autograd(model, X, y, total)
    return descent.run(objective, phi0, eta=eta, steps=steps, every=every, observe=residuals)


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row.

    Returns: ``train`` and ``test``, the loss of the last step over the trivial level; ``linear``, that of the linear run; ``distance`` from
    it, over the root of the trivial level; ``heads`` and ``parameters`` in all. Of a shared network also ``certain``, the smallest level that
    is certain, ``at`` its step, ``E`` at the last step over the root of the trivial level (−1: infinite), and ``used``, the largest distance
    over E from the second step on.
    """
    reading, eta = vector_tasks.TASKS[config.task].reading, ETA[config.task]
    (X, y), (X_test, y_test) = sample(config), sample(config, test=True)
    X, y, X_test, y_test = (block.to(device) for block in (X, y, X_test, y_test))
    shares = [y] if config.kind == "shared" else y.split(1, -1)
    rest, apart, left, predicted, found = [], [], [], [], {}
    networks = starts(config)
    for phi0, labels in zip(networks, shares, strict=True):
        phi0 = {name: block.to(device) for name, block in phi0.items()}
        shared = config.kind == "shared"
        run = trained(X, labels, phi0, eta, config.steps, reading, 1 if shared else config.steps)
        residuals = torch.stack(run.observed)
        if shared:
            linear, facts = vector_known.known(X, labels, phi0, eta, config.steps, reading, 2)
            found = _certain(linear, facts, eta, residuals, config.m)
        else:
            linear = _linear(X, labels, phi0, eta, config.steps, reading)
        u = linear.u[-1].view_as(residuals[-1])
        rest.append(residuals[-1])
        apart.append(residuals[-1] - u)
        left.append(u)
        predicted.append(vector_outputs.outputs(X_test, run.end, reading))
    square = lambda parts: float(torch.cat(parts, -1).square().sum(-1).mean())
    trivial = float(y.square().sum(-1).mean())
    return {
        "train": square(rest) / trivial,
        "test": float(total(torch.cat(predicted, -1), y_test).mean() / y_test.square().sum(-1).mean()),
        "linear": square(left) / trivial,
        "distance": (square(apart) / trivial) ** 0.5,
        "heads": sum(len(phi0["c"]) for phi0 in networks),
        "parameters": sum(block.numel() for phi0 in networks for block in phi0.values()),
        **found,
    }


def _linear(X: Tensor, y: Tensor, phi0: Blocks, eta: float, steps: int, reading: str) -> LinearRun:
    heads, P = vector_known.Views(X, phi0, reading), len(phi0["c"]) // 2
    G = vector_known.gram(heads.gradients(), heads.h, phi0["c"][:P])
    return linear_run(G, vector_outputs.by_position(y).flatten(), eta, steps)


def _certain(linear: LinearRun, facts: Pairs, eta: float, residuals: Tensor, m: int) -> dict:
    sure = vector_certificate.certificate(linear, facts, eta, m)
    distance = (residuals - linear.u.view_as(residuals)).square().sum(-1).mean(-1).sqrt()
    trivial, end = float(sure.mu[0]), float(sure.E[-1])
    return {
        "certain": float(sure.upper.min()) / trivial**2,
        "at": int(sure.upper.argmin()),
        "E": end / trivial if end < float("inf") else -1.0,
        "used": float((distance / sure.E)[2:].max()),
    }


EXPERIMENT = Experiment(
    name="vector_outputs",
    title="Vector outputs at every position: copying, sorting and weather, at once and one output at a time",
    plan=plan,
    compute=compute,
    tolerance={"distance": 1e-3, "E": 1e-3, "used": 1e-2, "certain": 1e-3},
    dtype="float64",
)
