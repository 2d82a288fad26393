"""The algorithm with one ingredient removed at a time, on finite data."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.preconditioned import baselines, least_squares
from shallowformer.experiments.experiment import Experiment
from shallowformer.preconditioned import algorithm, covariances, invariance, limit, problems, risk, starts
from shallowformer.preconditioned.moments import Moments
from shallowformer.preconditioned.problems import Problem
from shallowformer.training import descent
from shallowformer.training.points import Point

SEEDS = range(12)
CONDITIONS = (1.0, 10.0, 100.0, 1000.0)
#: What is removed.
REMOVED = (
    "nothing",
    "preconditioner",
    "all",
    "all, balanced",
    "radius",
    "radius and scale",
    "regulariser",
    "gauge",
    "balance",
    "balance and regulariser",
    "start",
)
#: Steps of raw descent, in units of a bound on 1/L at the optimum.
RAW = (4.0, 2.0**1.5, 2.0, 2.0**0.5, 1.0)


@dataclass(frozen=True)
class Config:
    """A run from the least squares estimate of a few samples."""

    removed: str  # one of ``REMOVED``
    condition: float  # κ(Σ)
    seed: int  # of the data; of the problem it is 7
    n: int = 300  # samples
    first: int = 10  # samples in the start
    sigma: float = 0.5  # σ
    radius: float = 0.4  # b
    d: int = 5  # dimension of covariates and responses
    steps: int = 60  # of the runs that give the floor, and the risk
    most: int = 300  # steps after which a run to twice the floor is given up
    queries: int = 2000  # fresh ones, for the excess risk


def plan(scale: str) -> list[Config]:
    """Everything removed in turn, small condition numbers first."""
    if scale == "smoke":
        return [Config(removed, 10.0, 0, n=40, d=2, steps=4, most=4, queries=20) for removed in REMOVED]
    conditions, seeds = (CONDITIONS[:2], SEEDS[:2]) if scale == "laptop" else (CONDITIONS, SEEDS)
    return [
        Config(removed, condition, seed) for condition in conditions for removed in REMOVED for seed in seeds
    ]


def posed(d: int, condition: float, sigma: float) -> Problem:
    """M̃ with singular values from 1.5 to 0.375; the same M̃ whatever κ(Σ) is."""
    return problems.random(covariances.geometric(d, 1.5, 0.375), condition, Generator().manual_seed(7), sigma)


def coarse(
    X: Float[Tensor, "n d"], Y: Float[Tensor, "n m"], first: int, symmetric: bool = True
) -> starts.Factors:
    """Least squares on the first samples, factorised in the whitened coordinates of all: polar, or by the SVD."""
    M_hat, whole = least_squares.fit(X[:first], Y[:first]), Moments.of(X, Y)
    return starts.spectral(Moments(whole.Sigma, M_hat @ whole.Sigma), symmetric=symmetric)


def without(
    config: Config, X: Float[Tensor, "n d"], Y: Float[Tensor, "n m"]
) -> tuple[algorithm.Algorithm, starts.Factors, float]:
    """The algorithm without an ingredient, where it starts, and a step: 1/(ŝ_1 + ŝ_d), or a bound on 1/L for raw descent."""
    removed, b = config.removed, config.radius
    if removed not in REMOVED:
        raise ValueError(f"removed must be one of {', '.join(REMOVED)}, got {removed!r}")
    U, V = coarse(X, Y, config.first, symmetric=removed != "gauge")
    scale = float(torch.linalg.matrix_norm(V, 2)) / b
    raw = removed.startswith(("preconditioner", "all"))
    # The regulariser balances whitened factors: raw descent has none.
    options = {"radius": b, "lam": 0.0 if raw or removed.endswith("regulariser") else 0.5}
    if removed.startswith(("all", "radius")):
        options |= {"radius": None, "scale": scale if removed == "radius" else 1.0}
    if raw:
        options["preconditioner"] = torch.eye(config.d, dtype=X.dtype)
    if removed == "all":
        U, V = invariance.rescaled(U, V, scale)
    if removed.startswith("balance"):
        U, V = invariance.rescaled(U, V, 3.0)
    if removed == "start":
        U, V = starts.small_random(config.d, config.d, 0.05, Generator().manual_seed(config.seed))
    method = algorithm.Algorithm(X, Y, **options)
    eta = method.default_step
    if removed.startswith("balance"):
        # Curvature at the start is about (3² + 3⁻²)/2 times that of balanced factors.
        eta *= 2 / (9 + 1 / 9)
    if raw:
        c = scale if removed == "all" else 1.0
        s, top = (
            float(torch.linalg.matrix_norm(G, 2)) for G in (method.moments.target, method.moments.Sigma)
        )
        eta = 1 / (top * s * (c**-2 + c**2 * top))
    return method, (U, V), eta


def compute(config: Config, device: torch.device) -> dict:
    """Run.

    Returns: ``start`` (𝓔 there), ``floor`` (𝓔 of the whole algorithm in the end), ``taken`` steps until 𝓔 is at most twice that, with the
    best of a grid of steps for raw descent ("never" if it is not reached), and with the algorithm's own step, for other runs, ``error``,
    ``risk``, ``imbalance`` and ``b`` after ``steps`` steps ("diverged" if a loss is not finite).
    """
    problem = posed(config.d, config.condition, config.sigma)
    X, Y = problem.samples(config.n, Generator().manual_seed(100 + config.seed))
    whole, begin, _ = without(replace(config, removed="nothing"), X, Y)
    floor = float(algorithm.run(whole, begin, config.steps, problem=problem, every=config.steps).error[-1])
    method, begin, eta = without(config, X, Y)
    measure = lambda point: float(limit.error(*method.parameters(point), problem))
    point = method.point(*begin)
    raw = method.preconditioner is not None
    etas = [factor * eta for factor in RAW] if raw else [eta]
    best = baselines.best_of(method, point, etas, measure, 2 * floor, config.most)
    row = {
        "start": measure(point),
        "floor": floor,
        "taken": "never" if best.steps is None else best.steps,
    }
    return row if raw else row | ended(method, begin, eta, config.steps, problem, config.queries, config.seed)


def ended(
    method: algorithm.Algorithm,
    begin: Point,
    eta: float,
    steps: int,
    problem: Problem,
    queries: int,
    seed: int,
) -> dict:
    """A run's end. Returns: ``error``, ``risk``, ``imbalance`` and ``b`` (‖Σ̂^½BΣ̂^½‖₂); all "diverged" if a loss is not finite.

    Args:
        queries: fresh ones, for the excess risk.
    """
    try:
        run = algorithm.run(method, begin, steps, eta, problem, every=steps)
    except descent.Diverged:
        return dict.fromkeys(("error", "risk", "imbalance", "b"), "diverged")
    fresh = risk.excess(run.A, run.B, method.X, problem, queries, Generator().manual_seed(seed))
    found = {
        "error": run.error[-1],
        "risk": fresh.mean(),
        "imbalance": run.imbalance[-1],
        "b": run.radius[-1],
    }
    return {name: float(value) for name, value in found.items()}


#: Counts may change by one where a threshold is met to rounding.
COUNTS = {"taken": 0.1}
#: LAPACK's least squares rounds by where in memory its input lies.
ROUNDED = dict.fromkeys(("start", "floor", "error", "risk", "imbalance", "b", "squares"), 1e-3)

EXPERIMENT = Experiment(
    name="ingredients",
    title="The structure-aware algorithm with one ingredient removed at a time: steps to twice its floor",
    plan=plan,
    compute=compute,
    tolerance={**COUNTS, **ROUNDED},
    dtype="float64",
)
