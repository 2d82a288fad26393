"""Figure 2: Transformer and IndRNN on series with a memory of L steps, gradients and validation loss against L.

A series is cut into overlapping windows of T values; a token is a value with the positional channels of its place, and the label is the
value that follows. Tokens of norm up to R are run as tokens in the unit ball: with U and W scaled by R and R², and their steps by R² and
R⁴, every output and every step is the same.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.convergence.descent import SideBySide
from shallowformer.kernel_regime.model import gradients, parameters
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.model.students import Students
from shallowformer.kernel_regime.recurrent import autoregression, backpropagation, network
from shallowformer.kernel_regime.recurrent.network import Units
from shallowformer.training import descent
from shallowformer.training.points import Point

LAGS, SEEDS = (1, 2, 4, 8, 16, 32, 64, 96), range(20)
#: The lag of runs whose windows alone grow, and their lengths; seeds of all that stands beside Figure 2.
FIXED, LENGTHS, FEW = 4, (5, 9, 17, 33, 65), range(5)
#: Lags of the released command.
RELEASED = (4, 16, 72, 96)
#: The training of the released command, and seeds of the runs that are as released in some things and not in others.
LONGER, APART = {"steps": 5000, "eta": 0.05}, range(3)
ALPHA, VARIANCE, PAIRS = 0.9, 0.1, 8
#: The loss of the best prediction from the past, σ_ε².
BAYES = VARIANCE
#: Samples at which per-sample gradients are measured.
MEASURED = 512


@dataclass(frozen=True)
class Config:
    """One run."""

    model: str  # "transformer" or "indrnn"
    lag: int  # L
    seed: int  # of the series and of the start
    gamma: float = 0.0  # γ of the IndRNN; 0 for the Transformer
    T: int = 2  # length of a window
    #: "raw", of norm about 3 as the text and the released code have them, or "unit", divided by the largest norm, as the theory has them
    tokens: str = "raw"
    targets: str = "raw"  # "raw" or "standardised", to mean 0 and variance 1 over the training windows
    #: "blocked", validation windows from later in the series than all of training, or "random", as released: a fifth of all windows
    split: str = "blocked"
    n: int = 5000  # training windows; with the random split all windows, of which four fifths are trained on
    m: int = 64  # width
    steps: int = 2000  # τ
    eta: float = 2000**-0.5  # step size η
    dtype: str = "float32"  # of the run


def plan(scale: str) -> list[Config]:
    """Figure 2 on five seeds, what stands beside it, and Figure 2 on the other seeds.

    Seed by seed, so that what is done at any time is a whole figure of fewer seeds; short windows first.
    """
    if scale == "smoke":
        return [Config(*each, 1, n=20, m=4, steps=3) for each in (("transformer", 1), ("indrnn", 1))]
    if scale == "laptop":
        return figure(range(3), (1, 4, 8, 16, 32), n=500)
    rest = [seed for seed in SEEDS if seed not in FEW]
    return figure(FEW, LAGS) + lengthened() + released() + apart() + varied() + figure(rest, LAGS)


def figure(seeds: Iterable[int], lags: tuple[int, ...], n: int = 5000) -> list[Config]:
    """Figure 2: both models with tokens as the text has them and in the unit ball, the recurrence with three γ; windows of L + 1 values."""
    return [
        Config(model, lag, seed, gamma, lag + 1, tokens, n=n)
        for seed in seeds
        for lag in lags
        for model, gamma, tokens in (
            ("transformer", 0.0, "raw"),
            ("indrnn", 1.0, "raw"),
            ("transformer", 0.0, "unit"),
            ("indrnn", 1.0, "unit"),
            ("indrnn", 0.5, "raw"),
            ("indrnn", 1.5, "raw"),
        )
    ]


def lengthened() -> list[Config]:
    """The same lag in ever longer windows."""
    return [
        Config(model, FIXED, seed, gamma, T)
        for seed in FEW
        for T in LENGTHS[1:]  # the first is in the figure
        for model, gamma in (("transformer", 0.0), ("indrnn", 1.0))
    ]


def released() -> list[Config]:
    """The setting of the released command: 5000 steps of 0.05, standardised labels, a random split, γ = 1.5."""
    return [
        Config(model, lag, seed, gamma, lag + 1, "raw", "standardised", "random", **LONGER)
        for lag in RELEASED
        for seed in FEW
        for model, gamma in (("transformer", 0.0), ("indrnn", 1.5))
    ]


def apart() -> list[Config]:
    """The Transformer as released at the longest lag, but with validation windows that share no value with training windows."""
    lag, trained = RELEASED[-1], 4000
    return [
        Config("transformer", lag, seed, 0.0, lag + 1, "raw", "standardised", n=trained, **LONGER)
        for seed in APART
    ]


def varied() -> list[Config]:
    """The Transformer as in the text at the longest lag, but with one thing as released: the training, or the labels."""
    lag = RELEASED[-1]
    return [
        Config("transformer", lag, seed, 0.0, lag + 1, **one)
        for one in (LONGER, {"targets": "standardised"})
        for seed in APART
    ]


@dataclass(frozen=True)
class Windows:
    """What a run sees."""

    X: Float[Tensor, "n T d"]  # training tokens in the unit ball
    y: Float[Tensor, " n"]  # their labels
    X_later: Float[Tensor, "k T d"]  # validation tokens
    y_later: Float[Tensor, " k"]  # their labels
    radius: float  # R, by which the tokens were divided
    spread: float  # by how much the labels were divided


def windows(config: Config, generator: Generator) -> Windows:
    """Windows of one series, and their split.

    For validation are a fifth of the n windows (random), or n/4 later ones besides (blocked), which have no value in common with training
    windows or their labels.
    """
    held, T = config.n // 4 if config.split == "blocked" else config.n // 5, config.T
    gap = T if config.split == "blocked" else 0
    count = config.n + gap + held if config.split == "blocked" else config.n
    X, y = autoregression.windows(autoregression.series(count + T, config.lag, ALPHA, VARIANCE, generator), T)
    X = autoregression.tokens(X, PAIRS)
    order = torch.arange(count) if config.split == "blocked" else torch.randperm(count, generator=generator)
    trained, later = order[: count - gap - held], order[count - held :]
    radius = float(X.norm(dim=-1).max()) * (1 + 1e-6)
    mean, spread = (
        (float(y[trained].mean()), float(y[trained].std()))
        if config.targets == "standardised"
        else (0.0, 1.0)
    )
    X, y = X / radius, (y - mean) / spread
    return Windows(X[trained], y[trained], X[later], y[later], radius, spread)


@dataclass(frozen=True)
class Subject:
    """A model as a run sees it, and what is measured of it."""

    start: Point  # its point
    trained: descent.Objective  # loss on the training windows
    later: descent.Objective  # loss on the validation windows
    rates: tuple[float, ...]  # step sizes of the blocks
    #: point → Jacobian in the attention or recurrent weights: norm of its mean over some windows, mean and largest of its norms
    jacobians: Callable[[Point], tuple[float, float, float]]


def attention(config: Config, seen: Windows, generator: Generator) -> Subject:
    """The Transformer."""
    R = seen.radius if config.tokens == "raw" else 1.0
    start = parameters.symmetric(config.m, seen.X.shape[2], generator).map(
        lambda block: block.to(seen.X.dtype)
    )
    scaled = Students.of(Parameters(start.c, R * start.U, R**2 * start.W))
    some = seen.X[:MEASURED]

    def jacobians(point: Point) -> tuple[float, float, float]:
        phi = Students(*point, (config.m,)).apart()[0]
        feature = gradients.features(some, phi)
        left = R**2 * config.m**-0.5 * phi.c[:, None] * feature.w_left  # ∇_{W_i} f = left · qᵀ
        norms = left.square().sum((1, 2)).sqrt() * feature.q.norm(dim=-1)
        mean = torch.einsum("nma,nb->mab", left, feature.q) / len(some)
        return float(mean.norm()), float(norms.mean()), float(norms.max())

    make = lambda X, y: SideBySide(Loss(X, y), (config.m,))
    return Subject(
        scaled.blocks, make(seen.X, seen.y), make(seen.X_later, seen.y_later), (1.0, R**2, R**4), jacobians
    )


def recurrence(config: Config, seen: Windows, generator: Generator) -> Subject:
    """The IndRNN on windows of any dtype; its start is drawn in the dtype of the run, as one seed means other numbers in each."""
    R = seen.radius if config.tokens == "raw" else 1.0
    start = network.symmetric(
        config.m, seen.X.shape[2], config.gamma, generator, getattr(torch, config.dtype)
    ).map(lambda block: block.to(seen.X.dtype))
    some = seen.X[:MEASURED]

    def jacobians(point: Point) -> tuple[float, float, float]:
        phi = Units(*point)
        each = config.m**-0.5 * phi.c * backpropagation.sensitivities(some, phi)
        norms = each.norm(dim=1)
        return float(each.mean(0).norm()), float(norms.mean()), float(norms.max())

    make = backpropagation.Loss
    scaled = (start.c, R * start.U, start.w)
    return Subject(
        scaled, make(seen.X, seen.y), make(seen.X_later, seen.y_later), (1.0, R**2, 1.0), jacobians
    )


MODELS = {"transformer": attention, "indrnn": recurrence}


def compute(config: Config, device: torch.device) -> dict:
    """Train one model, and look at it 101 times on the way.

    Returns: ``trivial``, the validation loss of the best constant; ``train`` and ``validation``, smallest losses on the way, and ``end``,
    the last validation loss, all in the units of the series; ``norm_of_mean``, ``mean_of_norms`` and ``largest_norm``, the largest met of
    the Jacobian in the attention or recurrent weights, and ``first`` these three at the start; ``loss_gradient``, the largest norm of the
    gradient of the training loss in these weights; ``weight``, the largest |w_i| at the end (0 for the Transformer); ``radius`` of the
    tokens; ``diverged_at``, the step at which a loss was no number any more, or −1.
    """
    generator = torch.Generator().manual_seed(config.seed)
    return followed(config, windows(config, generator), generator, device)


def followed(config: Config, seen: Windows, generator: Generator, device: torch.device) -> dict:
    """Train one model on some windows. Returns: as ``compute``."""
    dtype = getattr(torch, config.dtype)
    on = lambda tensor: tensor.to(dtype).to(device)
    seen = Windows(on(seen.X), on(seen.y), on(seen.X_later), on(seen.y_later), seen.radius, seen.spread)
    subject = MODELS[config.model](config, seen, generator)
    rates = tuple(config.eta * rate for rate in subject.rates)
    in_weights = subject.rates[2] ** 0.5  # a gradient in scaled weights is that much smaller
    told, slopes = [], []

    def rule(step: int, losses: Tensor, gradient: Point) -> tuple[float, ...]:
        slopes.append(in_weights * float(gradient[2].norm()))
        return rates

    def observe(step: int, point: Point) -> None:
        told.append(
            (
                float(subject.trained.losses(point)[0]),
                float(subject.later.losses(point)[0]),
                *subject.jacobians(point),
            )
        )

    diverged, weight = -1, 0.0
    try:
        run = descent.run(
            subject.trained,
            subject.start,
            eta=rule,
            steps=config.steps,
            every=max(1, config.steps // 100),
            observe=observe,
        )
        weight = float(run.end[2].abs().max()) if config.model == "indrnn" else 0.0
    except descent.Diverged:
        diverged = len(slopes)
    train, validation, *jacobians = zip(*told, strict=True)
    unit = seen.spread**2
    constant = float((seen.y_later - seen.y.mean()).square().mean())
    return {
        "trivial": unit * constant,
        "train": unit * min(train),
        "validation": unit * min(validation),
        "end": unit * validation[-1],
        **dict(zip(("norm_of_mean", "mean_of_norms", "largest_norm"), map(max, jacobians), strict=True)),
        "first": [values[0] for values in jacobians],
        "loss_gradient": max(slope for slope in slopes if math.isfinite(slope)),
        "weight": weight,
        "radius": seen.radius,
        "diverged_at": diverged,
    }  # fmt: skip


#: Relative tolerance where rounding is not amplified.
CLOSE = {
    "train": 0.02,
    "validation": 0.02,
    "end": 0.05,
    "norm_of_mean": 0.05,
    "mean_of_norms": 0.05,
    "largest_norm": 0.1,
    "loss_gradient": 0.05,
    "weight": 0.02,
}
#: And where it is: what a run has learned comes back roughly, its largest gradients and its last loss do not.
LOOSE = {"train": 0.1, "validation": 0.1, "weight": 0.25} | dict.fromkeys(
    ("end", "norm_of_mean", "mean_of_norms", "largest_norm", "loss_gradient"), math.inf
)


def amplification(config: Config, largest_norm: float) -> float:
    """By how much one window may amplify rounding in a run of the recurrence, as a logarithm: 2 τ η G² / n.

    A window with a Jacobian of norm G (``largest_norm``), whose second derivatives are of the size G², adds a curvature of the size
    2 G² / n to the loss. One step multiplies a difference in the weights by up to 1 + 2 η G² / n, and τ steps, if all are like that, by
    the exponential.
    """
    trained = config.n if config.split == "blocked" else config.n - config.n // 5
    return 2 * config.steps * config.eta * largest_norm**2 / trained


def tolerance(config: Config, result: Mapping) -> dict[str, float]:
    """How far a row may be from the stored one, relatively, by name.

    Where single windows of the recurrence explode, sums in another order (another thread, processor or version) make another run; on one
    machine, in one version, all of it comes back.
    """
    exploded = config.model == "indrnn" and amplification(config, result["largest_norm"]) > 1
    return LOOSE if exploded else CLOSE


EXPERIMENT = Experiment(
    name="recurrence",
    title="Figure 2: Transformer and IndRNN on series with a memory of L steps",
    plan=plan,
    compute=compute,
    tolerance=tolerance,
)


@dataclass(frozen=True)
class Ordered(Config):
    """A run whose training windows stand in another order: the same sums, rounded differently."""

    order: int = 0  # seed of the order; 0 for that of the series


def orders(scale: str) -> list[Ordered]:
    """A run in which single windows explode, in some orders."""
    if scale == "smoke":
        return [Ordered(**asdict(plan(scale)[1]), order=order) for order in range(2)]
    return [Ordered("indrnn", 16, 0, 1.5, 17, order=order) for order in range(2 if scale == "laptop" else 3)]


def reordered(config: Ordered, device: torch.device) -> dict:
    """Train on windows in another order; Jacobians are taken at the same ones. Returns: as ``compute``."""
    generator, shuffle = (torch.Generator().manual_seed(seed) for seed in (config.seed, config.order))
    seen = windows(config, generator)
    if config.order:
        every = torch.arange(len(seen.y))
        mixed = lambda part: part[torch.randperm(len(part), generator=shuffle)]
        order = torch.cat([mixed(every[:MEASURED]), mixed(every[MEASURED:])])
        seen = replace(seen, X=seen.X[order], y=seen.y[order])
    return followed(config, seen, generator, device)


ORDERED = Experiment(
    name="recurrence_ordered",
    title="A run of Figure 2 in which windows explode, computed with its training windows in several orders",
    plan=orders,
    compute=reordered,
    tolerance=tolerance,
)
