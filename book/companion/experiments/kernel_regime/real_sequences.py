"""Theorem F and the tangent kernel on real sequences: sentences, hours of weather, and the paper's drawn tokens beside them.

Sentences are film reviews of at least 24 tokens, of which the first 24 are kept (no [CLS], no [SEP]); a sequence is the last T of these,
so that all T share the query. A token is MiniLM's embedding of the word, without place, on the 8 leading principal components of all the
tokens kept, centred. Weather is the 8 variables of one airport, 16 hours a sequence, standardised by the training part. All tokens of a
sample are divided by the largest norm among them. Labels: fresh or rotten; the change of temperature 8 hours after the last token; the
paper's teacher. Each is centred and scaled to a root mean square of 0.04, that of the paper's teacher, or more. The step is half the
largest that Theorem F covers.

Written down before the first run (ten seeds: draws of sequences and of starts; relative band: E/μ at the last step):

1. Held: in every run that is trained, the distance from the linear run is at most E at every step.
2. Like drawn tokens: at 64 heads the median relative band on sentences, and on weather, is within a factor of 2 of that on drawn tokens.
3. Narrow: at 64 heads the relative band is at most 10 % in all ten seeds of every kind.
4. Falls: from 64 to 1024 heads the medians of E and of the distance fall with an exponent between −0.8 and −1.3, for every kind (partners
   cancel, so theory says −1, not −1/2).
5. Says something: at 64 heads the loss at the last step is certain to be below 95 % of the first one, in at least 9 of 10 seeds of every
   kind.
6. Unit labels: with labels of root mean square 1 the bound exceeds the root of the first loss before the last step, at 64 heads in all
   seeds of every kind, and at 1024 heads in at least 6 of 10.
7. Aligned sentences: the ten leading eigenvectors of the tangent kernel hold more of the real labels' square than of 95 % of their
   permutations, in at least 8 of 10 seeds.
8. Aligned weather: the same for weather.
9. No growth with T: on the same sentences, at 64 heads, the median ratio of relative bands, T = 24 over T = 4, is at most 1.25.
10. Worse conditioned: no kernel is singular, and the median quotient of its extreme eigenvalues is at least 10 times as large on weather
    as on drawn tokens.

After these rows had been seen, ``PAPER_STEP`` was added: half of the largest step is many times the paper's, so the same samples and starts
were run with 126 steps of 0.5, those of the chapter on the linear run. Nothing was written down before.
"""

import functools
import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.experiments.kernel_regime import problems
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.linear_run import known
from shallowformer.kernel_regime.linear_run.theorem_f import Certificate, certificate
from shallowformer.kernel_regime.model import transformer
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.real import sentences, series, source, weather
from shallowformer.real.transformer import MINILM, minilm

KINDS = ("drawn", "sentences", "weather")
WIDTHS = (16, 64, 256, 1024)
SEEDS = range(10)
D, LONGEST = problems.D, 24
SIZE = 0.04  # root mean square of the labels
SIZES = (0.1, 0.3, 1.0)
AHEAD = 8  # hours
LEADING = 10  # eigenvectors
PERMUTATIONS = 400
AT = (1, 2, 5, 10, 15, 20, 25, 30)  # steps at which rows say more


@dataclass(frozen=True)
class Config:
    """One sample of sequences, one start, and a run of some steps."""

    kind: str  # of ``KINDS``
    m: int  # heads
    seed: int  # of the draw of sequences and of the start
    labels: str = "own"  # or "shuffled" among the sequences
    size: float = SIZE  # root mean square of the labels
    T: int = 16  # tokens; for weather from 8 on, for sentences up to 24
    n: int = 60  # sequences
    steps: int = AT[-1]
    every: int = 3  # as ``known``
    trains: bool = True  # whether the run is made, or only foreseen


def plan(scale: str) -> list[Config]:
    """Widths; then, for 64 heads, shuffled labels, lengths and larger labels; larger ones for the widest, too."""
    if scale == "smoke":
        return [Config(kind, 4, 0, n=6, steps=5) for kind in KINDS]
    seeds = SEEDS if scale == "paper" else range(2)
    widths = WIDTHS if scale == "paper" else WIDTHS[:2]
    each = [(kind, seed) for kind in KINDS for seed in seeds]
    shuffled = [Config(kind, 64, seed, labels="shuffled", trains=False) for kind, seed in each]
    lengths = [Config("sentences", 64, seed, T=T) for seed in seeds for T in (4, 8, LONGEST)]
    larger = [Config(kind, 64, seed, size=size, trains=False) for size in SIZES for kind, seed in each]
    widest = [
        Config(kind, m, seed, size=SIZES[-1], trains=False)
        for m in widths
        if m == 1024
        for kind, seed in each
    ]
    return [
        *(Config(kind, m, seed) for m in widths for kind, seed in each), *shuffled, *lengths, *larger, *widest
    ]  # fmt: skip


@functools.cache
def reviewed() -> tuple[Float[Tensor, "N 24 8"], Float[Tensor, " N"], tuple[str, ...], float]:
    """All reviews that are long enough.

    Returns: tokens on the leading principal components, labels ±1, the texts, and the share of the tokens' variance that is kept.
    """
    given, (model, tokenizer) = sentences.reviews(), minilm()
    rows = [tokenizer.ids(text)[1:-1][:LONGEST] for text in given.texts]
    long = [place for place, row in enumerate(rows) if len(row) == LONGEST]
    words = model.tokens[torch.tensor([rows[place] for place in long])].double()
    flat = words.flatten(0, 1)
    centred = flat - flat.mean(0)
    sizes, axes = torch.linalg.eigh(centred.mT @ centred)
    X = (centred @ axes[:, -D:].flip(1)).reshape(len(long), LONGEST, D)
    labels = 2.0 * given.labels[long].double() - 1
    return X, labels, tuple(given.texts[place] for place in long), float(sizes[-D:].sum() / sizes.sum())


@functools.cache
def hours(T: int) -> tuple[Float[Tensor, "N T 8"], Float[Tensor, " N"]]:
    """All windows of the training part without a gap, no two overlapping, and how far the temperature is from their last one 8 hours later."""
    given = weather.new_york()
    early, _ = series.blocks(given)
    early = series.standardised(early, early)
    target = given.names[0]
    X, Y = series.windows(early, target, len(series.starts(early, T)), T)
    return X, Y[:, AHEAD - 1, 0] - X[:, -1, 0]


def sample(kind: str, seed: int, n: int, T: int) -> tuple[Float[Tensor, "n T d"], Float[Tensor, " n"]]:
    """Sequences in the unit ball, and their labels, centred, with a root mean square of 1."""
    draw = Generator().manual_seed(seed)
    if kind == "drawn":
        given = problems.problem("paper", seed, n, 8192)
        X, y = given.X, given.labels.mean.flatten()
    else:
        X, y = reviewed()[:2] if kind == "sentences" else hours(T)
        if n > len(X):
            raise ValueError(f"n must be at most {len(X)}, the {kind} there are, got {n}")
        chosen = torch.randperm(len(X), generator=draw)[:n]
        X, y = X[chosen], y[chosen]
    X, y = X / X.norm(dim=-1).max(), y - y.mean()
    # A quotient by the largest norm can round to the next number above 1.
    return (1 - 1e-15) * X[:, -T:], y / y.square().mean().sqrt()


def foreseen(
    X: Float[Tensor, "n T d"],
    y: Float[Tensor, " n"],
    start: Parameters,
    steps: int,
    every: int,
    eta: float | None = None,
) -> tuple[known.LinearRun, Certificate, float]:
    """The linear run, what Theorem F says of the real one, and the step size: half the largest if none is given."""
    eta = known.largest_step(X, start) / 2 if eta is None else eta
    run, facts = known.known(X, y, start, eta, steps, every)
    return run, certificate(run, facts, eta, start.m), eta


def trained(
    X: Float[Tensor, "n T d"], y: Float[Tensor, " n"], start: Parameters, eta: float, steps: int
) -> Float[Tensor, "steps n"]:
    """Residuals of gradient descent before every step and after the last."""
    loss, phi, seen = Loss(X, y), start, []
    for step in range(steps + 1):
        seen.append(transformer.f(X, phi) - y)
        if step < steps:
            phi = phi.map(lambda block, slope: block - eta * slope, loss(phi)[1])
    return torch.stack(seen)


def share(vectors: Float[Tensor, "n k"], y: Float[Tensor, "... n"]) -> Float[Tensor, "..."]:
    """Of ‖y‖², what lies in the span of orthonormal vectors."""
    return (y @ vectors).square().sum(-1) / y.square().sum(-1)


def provenance(kind: str) -> list[dict[str, str]]:
    """What a row says of its data."""
    used = {"drawn": (), "sentences": (sentences.REVIEWS, MINILM), "weather": (weather.NEW_YORK,)}
    return [source.short(each) for each in used[kind]]


def _finite(values: Tensor) -> list[float]:
    """Numbers, −1 in place of an infinite one."""
    return [value if math.isfinite(value) else -1.0 for value in values.tolist()]


def _along(
    run: known.LinearRun,
    sure: Certificate,
    residuals: Float[Tensor, "steps n"] | None,
    size: float,
    at: list[int],
) -> dict:
    """What rows say of a run, as ``compute`` lists it."""
    beyond = torch.nonzero(size < sure.E)
    certain = float(sure.upper[-1]) / size**2
    found = {
        "at": at,
        "mu": _finite(run.mu[at] / size),
        "E": _finite(sure.E[at] / size),
        "until": max([0, *torch.nonzero(sure.mu / 10 >= sure.E).flatten().tolist()]),
        "explodes": int(beyond[0]) if len(beyond) else -1,
        "certain": certain if math.isfinite(certain) else -1.0,
    }
    if residuals is None:
        return found
    distance = (residuals - run.u).square().mean(1).sqrt()
    return found | {
        "distance": (distance[at] / size).tolist(),
        "loss": (residuals[at].square().mean(1) / size**2).tolist(),
        "used": float((distance[1:] / sure.E[1:]).max()),
    }


def compute(config: Config, device: torch.device) -> dict:
    """Compute one row, in float64 on the CPU.

    Returns: ``mu``, ``E`` (−1 where the recursion has exploded) and, if trained, ``distance`` and ``loss`` at ``at``, all over the root
    of the first loss or over it; ``until``, the last step with E ≤ μ/10, or 0; ``explodes``, the first step with E above the root of the first
    loss, or −1; ``used``, the largest distance over E of any step; ``certain``, the upper bound at the last step over the first loss, −1 if
    infinite; of G₀: its trace, largest and smallest eigenvalue, the ``share`` of the labels in its leading eigenvectors, and ``rank``, the
    share of their permutations that have less there; mean ``norm`` of the tokens; and where the data come from.
    """
    X, y = sample(config.kind, config.seed, config.n, config.T)
    draw = Generator().manual_seed(10_000 + config.seed)
    if config.labels == "shuffled":
        y = y[torch.randperm(len(y), generator=draw)]
    start = problems.start(config.m, config.seed)
    run, sure, eta = foreseen(X, config.size * y, start, config.steps, config.every)
    residuals = trained(X, config.size * y, start, eta, config.steps) if config.trains else None
    row = {"eta": eta} | _along(run, sure, residuals, config.size, [s for s in AT if s <= config.steps])
    sizes, axes = torch.linalg.eigh(tangent_kernel.finite(X, start).total / len(X))
    leading = axes[:, -LEADING:]
    others = torch.stack([y[torch.randperm(len(y), generator=draw)] for _ in range(PERMUTATIONS)])
    return row | {
        "trace": float(sizes.sum()),
        "largest": float(sizes[-1]),
        "smallest": float(sizes[0]),
        "share": float(share(leading, y)),
        "rank": float((share(leading, others) < share(leading, y)).double().mean()),
        "norm": float(X.norm(dim=-1).mean()),
        "data": provenance(config.kind),
    }


EXPERIMENT = Experiment(
    name="real_sequences",
    title="Theorem F and the tangent kernel on sentences and on weather, beside drawn tokens",
    plan=plan,
    compute=compute,
    # Multiples of 1/400, and whole steps, which may jump.
    tolerance={"rank": math.inf, "until": math.inf, "explodes": math.inf, "smallest": 1e-2},
    dtype="float64",
)


@dataclass(frozen=True)
class Paper:
    """A sample, a start, and a run of the paper's length."""

    kind: str  # of ``KINDS``
    seed: int  # as ``Config``
    T: int = 16
    m: int = 64
    n: int = 60
    size: float = SIZE
    eta: float = 0.5
    steps: int = 126  # the paper's 4000 of 1/√4000
    every: int = 6


def paper_plan(scale: str) -> list[Paper]:
    """All kinds, and two more lengths of the same sentences."""
    if scale == "smoke":
        return [Paper(kind, 0, m=4, n=6, steps=5) for kind in KINDS]
    seeds = SEEDS if scale == "paper" else range(2)
    return [
        *(Paper(kind, seed) for kind in KINDS for seed in seeds),
        *(Paper("sentences", seed, T=T) for T in (4, LONGEST) for seed in seeds),
    ]


def paper_compute(config: Paper, device: torch.device) -> dict:
    """Compute one row, in float64 on the CPU. Returns: as ``compute``, of the run alone."""
    X, y = sample(config.kind, config.seed, config.n, config.T)
    start, y = problems.start(config.m, config.seed), config.size * y
    run, sure, eta = foreseen(X, y, start, config.steps, config.every, config.eta)
    residuals = trained(X, y, start, eta, config.steps)
    at = [step for step in (1, 6, 25, 63, 126) if step <= config.steps]
    return _along(run, sure, residuals, config.size, at) | {"data": provenance(config.kind)}


PAPER_STEP = Experiment(
    name="real_sequences_paper_step",
    title="Theorem F on sentences and on weather, with steps of 0.5 as on drawn tokens",
    plan=paper_plan,
    compute=paper_compute,
    tolerance={"until": math.inf, "explodes": math.inf},
    dtype="float64",
)
