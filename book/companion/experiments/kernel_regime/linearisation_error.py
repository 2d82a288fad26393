"""Figure 1(a): how far the model is from its tangent, at four points of the boundary of Ω_ρ."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from companion.experiments.kernel_regime import problems
from shallowformer import data
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.bounds import linearisation
from shallowformer.kernel_regime.model import linear_model, parameters
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.neighbourhood import perturbations, region

WIDTHS, SEEDS = (4, 8, 16, 32, 64, 128, 256, 512), range(10)
#: Inputs worked on at a time, and inputs that an adversary is looked for at.
CHUNK, ATTACKED = 250, 8
#: Ways to the boundary that are the same for all inputs.
WAYS = ("aligned", "random", "transported")


@dataclass(frozen=True)
class Config:
    """One initialisation."""

    m: int  # width
    seed: int  # of the inputs and of the initialisation
    n: int = 5000  # inputs
    attacked: int = ATTACKED  # inputs that an adversary is looked for at, the first ones


def plan(scale: str) -> list[Config]:
    """Narrow ones first."""
    n, attacked, widths, seeds = {
        "smoke": (20, 2, (4, 8), range(2)),
        "laptop": (500, 2, WIDTHS[:-2], SEEDS),
        "paper": (5000, ATTACKED, WIDTHS, SEEDS),
    }[scale]
    return [Config(m, seed, n, attacked) for m in widths for seed in seeds]


def displacement(way: str, X: Float[Tensor, "n T d"], phi0: Parameters, seed: int) -> Parameters:
    """A way to the boundary. Returns: δ.

    Args:
        way: "aligned", every head uphill, and every readout up; "random"; or "transported", partners in opposite directions.
    """
    if way == "aligned":
        return perturbations.head_aligned(X, phi0, problems.THREES)
    if way == "transported":
        return perturbations.transported(X, phi0, problems.THREES)
    drawn = parameters.random(phi0.m, phi0.d, torch.Generator().manual_seed(20_000 * phi0.m + seed))
    return region.on_boundary(drawn, problems.THREES)


def gaps(X: Float[Tensor, "n T d"], phi0: Parameters, delta: Parameters) -> Float[Tensor, " n"]:
    """The gap f − f_lin at φ⁽⁰⁾ + δ for each input."""
    return torch.cat([linear_model.head_errors(some, phi0, delta).sum(1) for some in X.split(CHUNK)])


def compute(config: Config, device: torch.device) -> dict:
    """Gaps at one initialisation; always computed on the CPU.

    Returns: by way: ``sup`` and ``mean`` of |f − f_lin| over the inputs; ``adversarial``, the largest gap that a search found for each of
    the attacked inputs alone; ``bound``, the head average that no point of Ω_ρ exceeds at any input.
    """
    X = data.clipped_gaussian(config.n, problems.T, problems.D, problems.source(config.seed))
    phi0 = problems.start(config.m, config.seed)
    found = {}
    for way in WAYS:
        gap = gaps(X, phi0, displacement(way, X, phi0, config.seed)).abs()
        found[way] = {"sup": float(gap.max()), "mean": float(gap.mean())}
    attacks = [
        float(perturbations.adversarial(X[j : j + 1], phi0, problems.THREES)[1])
        for j in range(config.attacked)
    ]
    bound = linearisation.B_lin(region.longest(phi0, problems.THREES[1]), problems.THREES)
    return found | {"adversarial": attacks, "bound": float(bound)}


EXPERIMENT = Experiment(
    name="linearisation_error",
    title="Figure 1(a): linearisation error at four points of the boundary against width",
    plan=plan,
    compute=compute,
    tolerance={"adversarial": 1e-2},
    dtype="float64",
)
