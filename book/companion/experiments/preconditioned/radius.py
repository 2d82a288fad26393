"""The algorithm's radius on finite data, and least squares on the same data."""

from dataclasses import dataclass

import torch
from torch import Generator

from companion.experiments.preconditioned.ingredients import ROUNDED, SEEDS, ended, posed
from companion.theory.preconditioned import least_squares
from shallowformer.experiments.experiment import Experiment
from shallowformer.preconditioned import algorithm, starts

RADII = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2)


@dataclass(frozen=True)
class Radius:
    """A run from the estimate of all samples, to where 𝓔 and 𝓡_n no longer change much."""

    radius: float  # b
    n: int  # samples
    seed: int  # of the data; of the problem it is 7
    sigma: float = 0.5  # σ
    condition: float = 10.0  # κ(Σ)
    d: int = 5  # dimension of covariates and responses
    steps: int = 30  # how many
    queries: int = 2000  # fresh ones, for the excess risk


def radius_plan(scale: str) -> list[Radius]:
    """Radii at n = 300, two radii at other sizes, one without noise, small sizes first."""
    if scale == "smoke":
        return [Radius(0.4, 40, 0, d=2, steps=3, queries=20)]
    sizes, seeds = ((250, 500), SEEDS[:2]) if scale == "laptop" else ((250, 500, 1000, 2000), SEEDS)
    radii = [Radius(b, 300, seed) for b in RADII for seed in seeds]
    cases = ((0.4, 0.5), (0.4, 0.0), (1.0, 0.5))
    return radii + [Radius(b, n, seed, sigma) for n in sizes for b, sigma in cases for seed in seeds]


def at_radius(config: Radius, device: torch.device) -> dict:
    """Run.

    Returns: ``error``, ``risk``, ``imbalance`` and ``b`` in the end ("diverged" if a loss is not finite); ``squares``, the error of least
    squares.
    """
    problem = posed(config.d, config.condition, config.sigma)
    X, Y = problem.samples(config.n, Generator().manual_seed(100 + config.seed))
    method = algorithm.Algorithm(X, Y, radius=config.radius, allow_large_radius=True)
    begin = starts.spectral(method.moments, symmetric=True)
    end = ended(method, begin, method.default_step, config.steps, problem, config.queries, config.seed)
    return {"squares": float(least_squares.error(least_squares.fit(X, Y), problem)), **end}


EXPERIMENT = Experiment(
    name="ingredients_radius",
    title="The radius of the structure-aware algorithm, and least squares on the same data",
    plan=radius_plan,
    compute=at_radius,
    tolerance=ROUNDED,
    dtype="float64",
)
