"""The structure-aware algorithm on finite data: a geometric phase, then a floor that falls like 1/n."""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from shallowformer.contracts import contracted
from shallowformer.experiments.experiment import Experiment
from shallowformer.preconditioned import algorithm, covariances, factorisation, problems, risk, starts
from shallowformer.preconditioned.moments import Moments
from shallowformer.training import points
from shallowformer.training.points import Point

SEEDS = range(12)
SIZES = (250, 500, 1000, 2000, 4000)
NOISE = (0.0, 0.5)
#: Smallest singular value of M̃ → the start: the coarse one, and one inside the basin of the theorem on an easier problem.
CASES = ((0.375, "coarse"), (0.75, "basin"))
STARTS = ("coarse", "basin")


@dataclass(frozen=True)
class Config:
    """A training set, a start and a run of the algorithm."""

    n: int  # samples
    seed: int  # of data and start
    sigma: float  # σ
    least: float = 0.375  # s_d; s_1 is 1.5, and singular values lie geometrically between
    #: "coarse": the polar start of the first 40 samples and Gaussian noise of 0.1 an entry; "basin": that of all samples and noise of such
    #: a size that f̂ is 0.9 times ŝ_d²/8
    start: str = "coarse"
    radius: float = 0.4  # b
    condition: float = 10.0  # κ(Σ)
    d: int = 5  # dimension of covariates and responses
    #: how many, of length 1/(ŝ_1 + ŝ_d) from the coarse start, 0.9/(2ŝ_1 + 1.5ŝ_d) inside the basin; ŝ estimated
    steps: int = 30
    queries: int = 2000  # fresh ones, for the excess risk


def plan(scale: str) -> list[Config]:
    """Every size, noise and case, small sizes first."""
    if scale == "smoke":
        return [Config(60, 0, 0.5, 0.75, start, d=2, steps=3, queries=50) for start in STARTS]
    sizes, seeds = (SIZES[:3], SEEDS[:3]) if scale == "laptop" else (SIZES, SEEDS)
    return [
        Config(n, seed, sigma, least, start)
        for n in sizes
        for least, start in CASES
        for sigma in (NOISE if start == "coarse" else NOISE[1:])
        for seed in seeds
    ]


def posed(config: Config) -> tuple[problems.Problem, problems.Samples]:
    """The problem, the same for all n, seeds and σ of a case, and the training set."""
    s = covariances.geometric(config.d, 1.5, config.least)
    problem = problems.random(s, config.condition, Generator().manual_seed(7), config.sigma)
    return problem, problem.samples(config.n, Generator().manual_seed(100 + config.seed))


def target(problem: problems.Problem, moments: Moments) -> Float[Tensor, "m d"]:
    """MΣ̂^½, what the algorithm aims at in its own coordinates."""
    return problem.M @ moments.root


def start(
    config: Config, X: Float[Tensor, "n d"], Y: Float[Tensor, "n m"], aim: Float[Tensor, "m d"]
) -> starts.Factors:
    """Where the run begins."""
    generator = Generator().manual_seed(config.seed)
    if config.start == "coarse":
        return starts.perturbed(*starts.spectral(Moments.of(X[:40], Y[:40]), symmetric=True), 0.1, generator)
    if config.start != "basin":
        raise ValueError(f"start must be one of {', '.join(STARTS)}, got {config.start!r}")
    centre = starts.spectral(Moments.of(X, Y), symmetric=True)
    direction = starts.perturbed(*(torch.zeros_like(factor) for factor in centre), 1.0, generator)
    most = 0.9 * float(torch.linalg.svdvals(aim)[-1]) ** 2 / 8
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        inside = float(factorisation.value(*points.plus(centre, direction, middle), aim)) < most
        low, high = (middle, high) if inside else (low, middle)
    return points.plus(centre, direction, low)


@contracted
@dataclass(frozen=True)
class Recorded(algorithm.Algorithm):
    """The algorithm, which also notes f̂ before every step and how far the step's direction is from ∇f̂."""

    aim: Float[Tensor, "m d"] | None = None  # MΣ̂^½
    values: list[float] = field(default_factory=list)  # f̂, so far
    biases: list[float] = field(default_factory=list)  # the distances

    def losses_and_gradient(
        self, point: Point, rows: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, "1"], Point]:
        """The algorithm's, noted."""
        loss, direction = super().losses_and_gradient(point, rows)
        exact = factorisation.gradient(*point, self.aim, self.lam)
        self.values.append(float(factorisation.value(*point, self.aim, self.lam)))
        self.biases.append(float(points.norm(points.plus(direction, exact, -1.0))))
        return loss, direction


def compute(config: Config, device: torch.device) -> dict:
    """Run.

    Returns: ``error`` (𝓔 at every step), ``value`` (f̂), ``bias`` (largest ‖g − ∇f̂‖ along the run), ``first`` and ``last`` (singular
    values of MΣ̂^½), ``eta`` (of a step), ``misfit`` (‖UVᵀ − MΣ̂^½‖₂ at the start), ``risk`` (𝓡_n at the end), ``ols`` (𝓔 of least
    squares).
    """
    problem, (X, Y) = posed(config)
    moments = Moments.of(X, Y)
    aim = target(problem, moments)
    method = Recorded(X, Y, radius=config.radius, aim=aim)
    begin = start(config, X, Y, aim)
    estimated = moments.singular_values
    short = 0.9 / float(2 * estimated[0] + 1.5 * estimated[-1])
    eta = method.default_step if config.start == "coarse" else short
    run = algorithm.run(method, begin, config.steps, eta, problem)
    s = torch.linalg.svdvals(aim)
    fresh = risk.excess(run.A, run.B, X, problem, config.queries, Generator().manual_seed(config.seed))
    return {
        "error": run.error.tolist(),
        "value": [*method.values, float(factorisation.value(*run.run.end, aim))],
        "bias": max(method.biases),
        "first": float(s[0]),
        "last": float(s[-1]),
        "eta": eta,
        "misfit": float(torch.linalg.matrix_norm(factorisation.misfit(*begin, aim), 2)),
        "risk": float(fresh.mean()),
        "ols": float(((moments.M - problem.M) @ problem.root).square().sum()) / 2,
    }


EXPERIMENT = Experiment(
    name="convergence",
    title="The structure-aware algorithm on finite data: a geometric phase, then a floor that falls like 1/n",
    plan=plan,
    compute=compute,
    dtype="float64",
)
