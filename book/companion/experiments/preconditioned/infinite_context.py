"""Infinite data: what the preconditioner and the regulariser do to the number of steps."""

from dataclasses import dataclass

import torch
from torch import Generator

from companion.experiments.preconditioned.ingredients import CONDITIONS, COUNTS, posed
from companion.theory.preconditioned import baselines
from shallowformer.experiments.experiment import Experiment
from shallowformer.preconditioned import factorisation, invariance, landscape, limit, starts
from shallowformer.preconditioned.problems import Problem
from shallowformer.training.points import Point

SEEDS = range(10)
#: Steps of raw descent, in units of 2/λ_max at the balanced optimum.
RAW = (0.95, 0.67, 0.48, 0.34, 0.17, 0.085)


@dataclass(frozen=True)
class Count:
    """Descent on 𝓔 with and without the preconditioner."""

    condition: float  # κ(Σ)
    #: "near" (the optimum, and Gaussian noise of 0.1 an entry) or "small" (Gaussian of 0.05 an entry, in each method's own coordinates)
    start: str
    seed: int  # of the start; of the problem it is 7
    most: int = 10_000  # steps after which a run is given up
    threshold: float = 1e-8  # of 𝓔
    d: int = 5  # dimension


def count_plan(scale: str) -> list[Count]:
    """Both starts, small condition numbers first."""
    if scale == "smoke":
        return [Count(2.0, "near", 0, most=20, threshold=1e-2, d=2)]
    conditions, seeds = (CONDITIONS[:2], SEEDS[:2]) if scale == "laptop" else (CONDITIONS, SEEDS)
    return [Count(k, start, seed) for k in conditions for start in ("near", "small") for seed in seeds]


def whitened_start(problem: Problem, start: str, seed: int) -> starts.Factors:
    """Factors "near" the optimum, or "small"."""
    generator = Generator().manual_seed(seed)
    if start == "near":
        return starts.perturbed(*landscape.optimum(problem.target), 0.1, generator)
    if start != "small":
        raise ValueError(f"start must be near or small, got {start!r}")
    return starts.small_random(problem.m, problem.d, 0.05, generator)


def curvature(problem: Problem, scale: float = 1.0) -> list[float]:
    """Least and largest non-zero eigenvalue of ∇²𝓔 in (A, B) at the optimum Ã = cPS^½, B̃ = QS^½/c, for M square and invertible."""
    A, B = invariance.rescaled(*landscape.optimum(problem.target), scale)
    N, L = B @ problem.Sigma @ B.T, A @ problem.Sigma @ A.T
    one = torch.eye(problem.d, dtype=N.dtype)
    # E ↦ EN + LEΣ, rows of E one after the other.
    spectrum = torch.linalg.eigvalsh(torch.kron(one, N) + torch.kron(L, problem.Sigma))
    return [float(spectrum[0]), float(spectrum[-1])]


def count(config: Count, device: torch.device) -> dict:
    """Run.

    Returns: ``ours`` and ``raw``, steps until 𝓔 is at most the threshold ("never" if it is not): of preconditioned descent on 𝓔 and the
    regulariser, with the step 1/(s_1 + s_d), and of raw descent with the best of a grid; ``spread``, the condition number of the raw
    Hessian at the balanced optimum.
    """
    problem = posed(config.d, config.condition, 0.0)
    factors = whitened_start(problem, config.start, config.seed)
    s = problem.singular_values
    objective = factorisation.Factorisation(problem.target)
    error = lambda point: float(factorisation.misfit(*point, problem.target).square().sum()) / 2
    ours = baselines.steps_to(
        objective, factors, 1 / float(s[0] + s[-1]), error, config.threshold, config.most
    )
    raw = limit.Population(problem)
    low, high = curvature(problem)
    measure = lambda point: float(raw.losses(point)[0])
    begin = limit.unwhitened(*factors, problem.Sigma) if config.start == "near" else factors
    best = baselines.best_of(
        raw, begin, [share * 2 / high for share in RAW], measure, config.threshold, config.most
    )
    told = lambda steps: "never" if steps is None else steps
    return {"ours": told(ours), "raw": told(best.steps), "spread": high / low}


@dataclass(frozen=True)
class Balance:
    """Descent on f_λ from (kU, V/k), a rescaled optimum, and Gaussian noise of 0.1 an entry."""

    k: float  # the factor
    lam: float  # λ
    seed: int  # of the noise; of the problem it is 7
    most: int = 2000  # steps after which a run is given up
    d: int = 5  # dimension


def balance_plan(scale: str) -> list[Balance]:
    """Factors and weights."""
    if scale == "smoke":
        return [Balance(2.0, 0.5, 0, most=10, d=2)]
    seeds = SEEDS[:2] if scale == "laptop" else SEEDS
    return [Balance(k, lam, seed) for k in (1.0, 2.0, 3.0) for lam in (0.0, 0.5) for seed in seeds]


def balance(config: Balance, device: torch.device) -> dict:
    """Run with the step 2/((k² + k⁻²)(s_1 + s_d)).

    Returns: ``taken`` steps until ½‖UVᵀ − M̃‖² is at most 1e-10 ("never" if it is not), and ``imbalance``, ‖UᵀU − VᵀV‖_F, there.
    """
    problem = posed(config.d, 1.0, 0.0)
    k, s = config.k, problem.singular_values
    factors = starts.perturbed(
        *invariance.rescaled(*landscape.optimum(problem.target), k), 0.1, Generator().manual_seed(config.seed)
    )
    seen: list[float] = []

    def error(point: Point) -> float:
        seen.append(float(factorisation.imbalance(*point).norm()))
        return float(factorisation.misfit(*point, problem.target).square().sum()) / 2

    eta = 2 / float((k**2 + k**-2) * (s[0] + s[-1]))
    objective = factorisation.Factorisation(problem.target, config.lam)
    taken = baselines.steps_to(objective, factors, eta, error, 1e-10, config.most)
    return {"taken": "never" if taken is None else taken, "imbalance": seen[-1]}


EXPERIMENT = Experiment(
    name="infinite_context",
    title="Steps of descent on the population error against the condition number of Σ, preconditioned and raw",
    plan=count_plan,
    compute=count,
    tolerance={"ours": 0.1, "raw": 0.01},
    dtype="float64",
)
BALANCE = Experiment(
    name="balance",
    title="Steps of descent on factors from unbalanced starts, with and without the regulariser",
    plan=balance_plan,
    compute=balance,
    tolerance=COUNTS,
    dtype="float64",
)
