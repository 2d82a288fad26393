"""What the number of samples does to the training loss, and to the loss on fresh inputs, at fixed width and number of steps."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import data
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.convergence import descent
from shallowformer.kernel_regime.kernel import mappings, transportation
from shallowformer.kernel_regime.model import parameters
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.model.students import Students

THREES = (3.0, 3.0, 3.0)
COUNTS = (10, 30, 100, 300, 1000, 3000)
SEEDS = range(10)
#: Losses are stored after so many steps, multiples of the first.
HORIZONS = (25, 50, 100, 250)


@dataclass(frozen=True)
class Config:
    """A run of gradient descent."""

    n: int  # samples
    seed: int  # of inputs, teacher and student; fewer samples are the first of more
    m: int = 64  # width
    d: int = 8  # dimension of tokens
    T: int = 16  # length of sequences
    eta: float = 1.0  # step size η
    steps: int = 250  # number of steps τ
    fresh: int = 1000  # inputs that training does not see
    teacher: int = 512  # heads of the teacher
    anchors: int = 16  # of the teacher's mapping
    dtype: str = "float32"  # "float32" or "float64"


def plan(scale: str) -> list[Config]:
    """The runs of a scale, few samples first."""
    if scale == "smoke":
        return [Config(n, 0, m=8, T=4, steps=50, fresh=20, teacher=16) for n in (10, 30)]
    counts = COUNTS[:4] if scale == "laptop" else COUNTS
    return [Config(n, seed) for n in counts for seed in SEEDS]


def problem(config: Config) -> tuple[Loss, Loss, Parameters]:
    """Training set, fresh set and start of a run. Returns: both losses, whose labels are one teacher's, and φ⁽⁰⁾."""
    sources = [torch.Generator().manual_seed(10 * config.seed + k) for k in range(4)]
    dtype = getattr(torch, config.dtype)
    draw = lambda n, source: data.clipped_gaussian(n, config.T, config.d, source)
    X = torch.cat([draw(config.n, sources[0]), draw(config.fresh, sources[1])])
    y = labels(X.to(dtype), draw(config.anchors, sources[2]).to(dtype), config.teacher, sources[2])
    start = parameters.symmetric(config.m, config.d, sources[3]).map(lambda block: block.to(dtype))
    n = config.n
    return Loss(X[:n].to(dtype), y[:n]), Loss(X[n:].to(dtype), y[n:]), start


def labels(
    X: Float[Tensor, "n T d"], anchors: Float[Tensor, "R T d"], teacher: int, source: torch.Generator
) -> Float[Tensor, " n"]:
    """Labels of the paper's teacher: an average over ``teacher`` pairs of heads."""
    return transportation.represented(X, mappings.teacher(anchors, THREES), teacher, source, chunk=64).mean


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row, from data and labels that are made on the CPU.

    Returns: ``trivial``: loss of the model that outputs 0, on the fresh inputs; ``horizons``; ``training`` and ``fresh_loss``: losses then.
    """
    seen, unseen, start = problem(config)
    move = lambda loss: Loss(loss.X.to(device), loss.y[:, 0].to(device))
    seen, unseen = move(seen), move(unseen)
    found: dict[int, tuple[float, float]] = {}

    def observe(step: int, students: tuple[Parameters, ...]) -> dict:
        if step in HORIZONS:
            both = Students.of(*students)
            found[step] = float(seen.losses(both)), float(unseen.losses(both))
        return {}

    begin = start.map(lambda block: block.to(device))
    descent.run(
        seen, begin, eta=config.eta, steps=config.steps, rho=THREES, every=HORIZONS[0], observe=observe
    )
    horizons = sorted(found)
    return {
        "trivial": float(unseen.y.square().mean()),
        "horizons": horizons,
        "training": [found[t][0] for t in horizons],
        "fresh_loss": [found[t][1] for t in horizons],
    }


EXPERIMENT = Experiment(
    name="sample_training",
    title="Training loss and loss on fresh inputs against the number of samples",
    plan=plan,
    compute=compute,
    tolerance={"trivial": 1e-4, "training": 0.1, "fresh_loss": 0.01},
)
