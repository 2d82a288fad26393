"""What the length of sequences of independent tokens does to targets, gradients and losses."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from companion.experiments.kernel_regime.sample_training import THREES, labels
from shallowformer import data
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.convergence import descent
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model import parameters, transformer
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters

LENGTHS = (1, 2, 4, 16, 64, 256, 1024)
SEEDS = range(10)
#: Losses are stored after so many steps, multiples of the first.
HORIZONS = (25, 50, 100, 200)


@dataclass(frozen=True)
class Config:
    """A run of gradient descent on sequences of one length."""

    T: int  # length of sequences
    seed: int  # of inputs, teacher and student
    n: int = 100  # samples
    m: int = 64  # width
    d: int = 8  # dimension of tokens
    eta: float = 1.0  # step size η
    steps: int = 200  # number of steps τ
    teacher: int = 512  # heads of the teacher
    anchors: int = 16  # of the teacher's mapping, inputs of the same length
    dtype: str = "float32"  # "float32" or "float64"


def plan(scale: str) -> list[Config]:
    """The runs of a scale, short sequences first."""
    if scale == "smoke":
        return [Config(T, 0, n=10, m=8, steps=25, teacher=16, anchors=2) for T in (1, 8)]
    lengths = LENGTHS[:5] if scale == "laptop" else LENGTHS
    return [Config(T, seed) for T in lengths for seed in SEEDS]


def problem(config: Config) -> tuple[Loss, Parameters]:
    """Data and start of a run. Returns: the loss, labels by the paper's teacher, and φ⁽⁰⁾."""
    sources = [torch.Generator().manual_seed(100 * config.seed + k) for k in range(3)]
    dtype = getattr(torch, config.dtype)
    draw = lambda n, source: data.clipped_gaussian(n, config.T, config.d, source).to(dtype)
    X, anchors = draw(config.n, sources[0]), draw(config.anchors, sources[1])
    start = parameters.symmetric(config.m, config.d, sources[2]).map(lambda block: block.to(dtype))
    return Loss(X, labels(X, anchors, config.teacher, sources[1])), start


def sizes(X: Float[Tensor, "n T d"], phi: Parameters) -> list[float]:
    """Root mean square over samples of ‖∇_c f‖, ‖∇_U f‖, ‖∇_W f‖; the last is 0 for one token, not what rounding leaves."""
    blocks = tangent_kernel.diagonal(X, phi)
    return _alone(X, [float(block.mean()) ** 0.5 for block in (blocks.c, blocks.u, blocks.w)])


def of_the_mean(loss: Loss, phi: Parameters) -> list[float]:
    """‖(1/n) Σ_j ∇_b f(X⁽ʲ⁾; φ)‖ for the blocks b = c, U, W: the quantity of the paper's Figure 2."""
    # With every residual ½ the gradient of the loss is the mean of the outputs' gradients.
    _, gradient = Loss(loss.X, transformer.f(loss.X, phi) - 0.5)(phi)
    return _alone(loss.X, [float(block.norm()) for block in gradient.blocks])


def _alone(X: Float[Tensor, "n T d"], norms: list[float]) -> list[float]:
    return [*norms[:2], norms[2] if X.shape[1] > 1 else 0.0]


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row, from data and labels that are made on the CPU.

    Returns: ``trivial``: loss of the model that outputs 0; ``horizons`` and ``losses`` then; ``gradients`` and ``gradients_end``: see
    ``sizes``; ``mean_gradients``: the largest of ``of_the_mean`` over the records of the run.
    """
    loss, start = problem(config)
    loss = Loss(loss.X.to(device), loss.y[:, 0].to(device))
    start = start.map(lambda block: block.to(device))
    run = descent.run(
        loss,
        start,
        eta=config.eta,
        steps=config.steps,
        rho=THREES,
        every=HORIZONS[0],
        observe=lambda step, students: {"mean": torch.tensor(of_the_mean(loss, students[0]))},
    )
    at = dict(zip(run.steps.tolist(), run.losses[:, 0].tolist(), strict=True))
    horizons = [t for t in HORIZONS if t in at]
    return {
        "trivial": float(loss.y.square().mean()),
        "horizons": horizons,
        "losses": [at[t] for t in horizons],
        "gradients": sizes(loss.X, start),
        "gradients_end": sizes(loss.X, run.phi[0]),
        "mean_gradients": torch.stack([seen["mean"] for seen in run.observed]).amax(0).tolist(),
    }


EXPERIMENT = Experiment(
    name="sequence_length",
    title="Targets, losses and gradients against the length of sequences",
    plan=plan,
    compute=compute,
    tolerance={"losses": 0.02},
)
