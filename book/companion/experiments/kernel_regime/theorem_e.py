"""Theorem E at the paper's setting: true random starts, on the smallest neighbourhood that holds the ridge comparator.

No run is made. The problems and, up to 512 heads, the starts are those of ``certificates``.
"""

import math
from dataclasses import dataclass

import torch

from companion.experiments.kernel_regime import problems
from companion.experiments.kernel_regime.certificates import PAPER
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.convergence import certificates, comparators
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.neighbourhood import region
from shallowformer.training import self_bounding
from shallowformer.training.comparators import best_ridge

WIDTHS = tuple(8 * 2**k for k in range(11))
SEEDS = range(5)


@dataclass(frozen=True)
class Config:
    """The certificate of one start on one problem."""

    m: int  # width
    seed: int  # of the problem and of the student
    n: int = 5000  # inputs
    heads: int = 8192  # of the teacher


def plan(scale: str) -> list[Config]:
    """One width after the other, five problems each."""
    if scale == "smoke":
        return [Config(m, 0, 20, 64) for m in (8, 16)]
    if scale == "laptop":
        return [Config(m, seed, 500) for m in WIDTHS[:8] for seed in SEEDS]
    return [Config(m, seed) for m in WIDTHS for seed in SEEDS]


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row, in float64 on the CPU.

    Returns: ``trivial``, the loss at the start; ``epsilon`` and ``V0`` of the ridge comparator and ``displacement``, √m times its longest
    moves in c, U and W, which are the radii of Ω; ``by_width`` and ``by_pairs``, Theorem E's bounds on ε_s by Theorems B and D (−1 where it
    has none), and the bound on the mean loss that each gives, ``value_by_width`` and ``value_by_pairs``.
    """
    given = problems.problem("paper", config.seed, config.n, config.heads)
    X, y = given.X, given.labels.mean.flatten()
    phi0, (eta, steps) = problems.start(config.m, config.seed), PAPER
    # Partners have the same gradients up to signs that both factors share, and f vanishes: one of each pair gives the kernel.
    kernel = tangent_kernel.finite(X, _one_of_each_pair(phi0)).total
    ridge = best_ridge(kernel, y, eta * steps)
    point = comparators.moved(Loss(X, y), phi0, ridge.alpha)
    nu = [config.m**0.5 * float(moves.max()) for moves in region.displacement(point, phi0)]
    rho = [move * (1 + 1e-9) for move in nu]
    known = certificates.prior(
        region.longest(phi0, rho[1]),
        float(kernel.diagonal().mean()) ** 0.5,
        ridge.epsilon,
        ridge.V0,
        nu,
        eta=eta,
        steps=steps,
        rho=rho,
    )
    theta = eta * known.A**2

    def value(epsilon: float) -> float:
        if theta >= 1 or epsilon == math.inf:
            return -1.0
        return self_bounding.bound(epsilon, ridge.V0, eta, steps, theta) ** 2

    return {
        "trivial": float(y.square().mean()),
        "epsilon": ridge.epsilon,
        "V0": ridge.V0,
        "displacement": nu,
        "by_width": known.by_width,
        "by_pairs": known.by_pairs if known.by_pairs < math.inf else -1.0,
        "value_by_width": value(known.by_width),
        "value_by_pairs": value(known.by_pairs),
    }


def _one_of_each_pair(phi: Parameters) -> Parameters:
    return phi.map(lambda block: block[: phi.m // 2])


EXPERIMENT = Experiment(
    name="theorem_e",
    title="Theorem E at the paper's setting: true random starts, five problems, no run",
    plan=plan,
    compute=compute,
    dtype="float64",
)
