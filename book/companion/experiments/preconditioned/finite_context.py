"""What a finite context costs: drawn contexts with a fresh query, the query among the tokens, and huge contexts by quadrature."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer.experiments.experiment import Experiment
from shallowformer.preconditioned import covariances, exact, invariance, landscape, limit, noise, problems
from shallowformer.preconditioned.problems import Problem

#: ‖B̃‖₂ of the rows.
RADII = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
#: Tokens of a context, and how many contexts a row draws.
SIZES = {500: 800, 2000: 800, 8000: 300}


@dataclass(frozen=True)
class Drawn:
    """Fresh queries to drawn contexts, at a balanced optimum."""

    b: float  # ‖B̃‖₂
    n: int  # tokens of a context
    seed: int  # with b and n, of the contexts and queries; of the problem it is 0
    contexts: int  # drawn; each gives one number
    queries: int = 100  # to each context


def drawn_plan(scale: str) -> list[Drawn]:
    """Radii, sizes, seeds."""
    if scale == "smoke":
        return [Drawn(0.3, 20, 0, contexts=3, queries=4)]
    seeds = range(2 if scale == "laptop" else 10)
    return [Drawn(b, n, seed, contexts) for n, contexts in SIZES.items() for b in RADII for seed in seeds]


def five() -> Problem:
    """D = 5, κ(Σ) = 10, singular values of M̃ from 1.5 to 0.375."""
    return problems.random(covariances.geometric(5, 1.5, 0.375), 10.0, Generator().manual_seed(0))


def optimum(problem: Problem, b: float) -> tuple[Float[Tensor, "m d"], Float[Tensor, "d d"]]:
    """(A, B) of a balanced optimum, scaled to ‖B̃‖₂ = b."""
    U, V = landscape.optimum(problem.target)
    c = float(torch.linalg.matrix_norm(V, 2)) / b
    return limit.unwhitened(*invariance.rescaled(U, V, c), problem.Sigma)


def draw(config: Drawn, device: torch.device) -> dict:
    """Measure. Returns: ``mean`` of n‖A(ẑ − ΣBᵀx)‖² and its standard error ``error`` over the contexts."""
    problem = five()
    A, B = optimum(problem, config.b)
    # Its own randomness for every row: deviations at different radii and sizes are independent.
    generator = Generator().manual_seed(10**7 * config.seed + 100 * config.n + round(100 * config.b))
    return _mean(noise.measured(A, B, problem.Sigma, config.n, config.contexts, config.queries, generator))


@dataclass(frozen=True)
class Own:
    """The query is the first token of its context, or not; d = 2, away from the optimum."""

    b: float  # ‖B‖₂
    n: int  # tokens of a context
    seed: int  # of the draws; of A, B and M it is 0
    among: bool  # whether the query is among the tokens
    tokens: int = 8_000_000  # drawn in all; so many over n contexts


def own_plan(scale: str) -> list[Own]:
    """Radii, sizes, seeds, both designs."""
    if scale == "smoke":
        return [Own(0.3, 10, 0, among, tokens=1000) for among in (False, True)]
    seeds = range(2 if scale == "laptop" else 10)
    return [
        Own(b, n, seed, among)
        for n in (100, 400, 1600)
        for b in (0.2, 0.3, 0.4)
        for among in (False, True)
        for seed in seeds
    ]


def generic(
    b: float, d: int = 2
) -> tuple[Float[Tensor, "{d} {d}"], Float[Tensor, "{d} {d}"], Float[Tensor, "{d} {d}"]]:
    """A, B of norm b, and M, without symmetry, in whitened coordinates."""
    generator = Generator().manual_seed(0)
    A, B, M = (torch.randn(d, d, generator=generator, dtype=torch.float64) for _ in range(3))
    return A, B * (b / float(torch.linalg.matrix_norm(B, 2))), M


def own(config: Own, device: torch.device) -> dict:
    """Measure, in blocks of contexts.

    Returns: of n‖Ae‖², ``mean`` and ``error``; of n(‖Aẑ − Mx‖² − ‖Fx‖²), less a term of mean 0, ``risk`` and ``risk_error``.
    """
    A, B, M = generic(config.b)
    F = A @ B.T - M
    generator = Generator().manual_seed(config.seed)
    squares, risks = [], []
    contexts, n = config.tokens // config.n, config.n
    for start in range(0, contexts, 1000):
        k = min(1000, contexts - start)
        x = torch.randn(k, 2, generator=generator, dtype=torch.float64)
        tokens = torch.randn(k, n, 2, generator=generator, dtype=torch.float64)
        if config.among:
            tokens[:, 0] = x
        q = x @ B
        logits = torch.einsum("knd,kd->kn", tokens, q)
        e = torch.einsum("kn,knd->kd", logits.softmax(1), tokens) - q
        square, with_F = (e @ A.T).square().sum(1), lambda v, x=x: 2 * ((x @ F.T) * (v @ A.T)).sum(1)
        # w_j(x_j − q) has mean 0 for every token but the query itself.
        w = (logits - q.square().sum(1, keepdim=True) / 2).exp()
        others = slice(int(config.among), None)
        first = torch.einsum("kn,knd->kd", w[:, others], tokens[:, others] - q[:, None]) / n
        squares.append(n * square)
        risks.append(n * (square + with_F(e - first)))
    risk = _mean(torch.cat(risks))
    return {**_mean(torch.cat(squares)), "risk": risk["mean"], "risk_error": risk["error"]}


@dataclass(frozen=True)
class Huge:
    """d = 1, A = 1, B = b, by quadrature."""

    b: float  # of B
    #: logarithms of the numbers of tokens
    log10_n: tuple[int, ...] = (2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64)


def huge_plan(scale: str) -> list[Huge]:
    """Radii on both sides of the threshold."""
    if scale == "smoke":
        return [Huge(1.0, (2, 3))]
    radii = (0.3, 0.5, 0.6, noise.THRESHOLD, 0.8, 1.0, 1.2, 1.5, 2.0)
    return [Huge(b) for b in (radii if scale == "paper" else radii[3:6])]


def huge(config: Huge, device: torch.device) -> dict:
    """Integrate. Returns: ``log_risk``: natural logarithms of E(ẑ − bx)²."""
    found = exact.isotropic(config.b, 1, [10.0**each for each in config.log10_n])
    return {"log_risk": torch.tensor(found, dtype=torch.float64).log().tolist()}


def _mean(values: Tensor) -> dict:
    return {"mean": float(values.mean()), "error": float(values.std()) / len(values) ** 0.5}


EXPERIMENT = Experiment(
    name="finite_context",
    title="What a finite context costs: fresh queries at a balanced optimum, against radius and number of tokens",
    plan=drawn_plan,
    compute=draw,
    dtype="float64",
)
OWN = Experiment(
    name="own_token",
    title="What a finite context costs if the query is one of its tokens, and if it is not",
    plan=own_plan,
    compute=own,
    dtype="float64",
)
HUGE = Experiment(
    name="huge_context",
    title="The exact risk of contexts of up to 10⁶⁴ tokens, d = 1, below, at and above the threshold",
    plan=huge_plan,
    compute=huge,
    dtype="float64",
)
