"""Tables of measurements as tokens: how linear attention is, how noisy, what it is worth after training, how fast it is trained.

Written down before the first run. κ(Σ) of the five standardised tables: wine 46, diabetes 470, weather 1.2e3, three stations 4.8e4, breast
cancer 1.0e5. "Drawn" labels are Mx with M̃ = MΣ^½ of rank 3, singular values 1.5, 0.75, 0.375, in random directions. b is the radius.
Relative errors are root mean squares over ‖M̃‖. Means over ten seeds.

limit (the identity "softmax attention is linear"):
H1. On Gaussian rows the relative error falls like N^{−1/2}: at b = 0.4, N = 30 to 3000, the exponent lies within 0.05 of −½ on all tables.
H2. On real rows it has a floor: at b = 0.4 and N = 3000 the relative error is at least twice that of Gaussian rows, on all five tables.
H3. The floor is the third moment: from b = 0.1 to 0.4 it grows by a factor between 3 and 6 (4 if third moments were all), all tables.
H4. It is larger along the table's own target than along drawn directions, on all five tables (a random direction averages many columns and
    is nearer to Gaussian; own targets are bimodal for the two tables of classes).
noise:
H5. The noise constant holds within a factor of 2 at b = 0.2 on all tables, and is exceeded by more than a factor of 2 at b = 0.6 on at
    least the three tables with heavy tails: weather, three stations, breast cancer.
H6. Σ̂ is noisier than for Gaussian rows of the same covariance: N · E‖Σ^{−½}Σ̂Σ^{−½} − I‖² is more than 1.5 times d(d + 1) on weather,
    three stations, breast cancer; below 1.5 times on wine and diabetes.
held out:
H7. On the tables' own targets least squares has a lower held-out error than trained attention (b = 0.4) on all five tables.
H8. Ridge with a weight chosen by leave-one-out is not worse than least squares by more than 2 % on any table.
steps (to 1 % of the loss that can be gained, drawn labels, the best of eight steps each):
H9. Preconditioned: the largest median over tables is at most twice the smallest, though κ(Σ) varies 2000-fold.
H10. Plain descent and descent with the scale restored take more than ten times as many steps as preconditioned on the four tables with
    κ(Σ) > 100 ("more than 300" counts as more), and at most three times as many if rows are whitened first.
H11. Adam lies between: on the four tables at least twice as many steps as preconditioned, and fewer than plain descent.

Changed after the first run, in which 34 rows of 100 of the race and one of training failed. (1) The loss to reach was to lie 1 % above the
end of a run of the algorithm with half its own step; on heavy-tailed rows that run can diverge. It is now 1 % of the loss of the answer 0;
where they ended, those runs were at 0.2 % of it at most. (2) Of three stations, with rain in some ten hours, 400 rows are drawn: with fewer
the rain of two stations is often the same column, and Σ̂ has no inverse. (3) In training a step at which descent diverges is halved until
it does not. (4) Gaussian rows of the same Σ̂ were added to the race, as a control of preconditioned descent. (5) "Other context" held fewer
rows than the one trained on, and was asked half of the queries. Controls were added later: on this half, least squares, and the trained and
the untrained layer, each with the rows it was trained on as context, with as many of them as the other context has (the mean over 20
draws, since one draw differs much from the next), and with the other rows. No result of the first run is changed by them. Errors
of 10⁻³¹ are now 0.
"""

import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.preconditioned import least_squares, race, rows
from shallowformer.experiments.experiment import Experiment
from shallowformer.preconditioned import algorithm, covariances, gradients, noise, starts
from shallowformer.preconditioned.moments import Moments
from shallowformer.real import source, tables
from shallowformer.training import descent

NAMES = tuple(tables.TABLES)
LABELS = ("drawn", "own")
SEEDS = range(10)
RADII = (0.1, 0.2, 0.4, 0.6)
SIZES = (30, 100, 300, 1000, 3000)
#: Singular values of M̃ for drawn labels.
S = (1.5, 0.75, 0.375)

load = functools.cache(tables.load)


def provenance(name: str) -> list[dict[str, str]]:
    """Package, file and checksum of what a table was read from."""
    return [source.short(told) for told in load(name).sources]


@dataclass(frozen=True)
class Limit:
    """How linear attention is on rows of a table, along a drawn or the table's own M̃."""

    table: str
    labels: str  # "drawn": the seed is of M̃; "own": of a bootstrap of rows, whose least squares M̃ is
    seed: int  # also of contexts and queries
    contexts: int = 10
    queries: int = 100  # a context


def limits(scale: str) -> list[Limit]:
    """All tables, both kinds of labels, several seeds."""
    if scale == "smoke":
        return [Limit("wine", labels, 0, 2, 5) for labels in LABELS]
    seeds = SEEDS[:2] if scale == "laptop" else SEEDS
    return [Limit(name, labels, seed) for name in NAMES for labels in LABELS for seed in seeds]


def directions(config: Limit) -> tuple[Float[Tensor, "k d"], Float[Tensor, " r"], Float[Tensor, "d r"]]:
    """Whitened rows g, singular values s of M̃ and its right singular vectors Q."""
    generator = Generator().manual_seed(config.seed)
    table = load(config.table)
    if config.labels == "drawn":
        g = rows.whitened(tables.standardised(table.values))
        s = torch.tensor(S, dtype=torch.float64)
        return g, s, covariances.orthogonal(g.shape[1], generator)[:, : len(s)]
    if config.labels != "own":
        raise ValueError(f"labels must be one of {', '.join(LABELS)}, got {config.labels!r}")
    chosen = torch.randint(len(table.values), (len(table.values),), generator=generator)
    g = rows.whitened(tables.standardised(table.values[chosen]))
    _, s, Qt = torch.linalg.svd(tables.standardised(table.target[chosen]).T @ g / len(g), full_matrices=False)
    there = s > 1e-6 * s[0]  # indicators add up to 1: one direction is empty
    return g, s[there], Qt[there].T


def at_limit(config: Limit, device: torch.device) -> dict:
    """Floors, noise and errors.

    Returns: ``data``, ``k``, ``d``, ``kappa`` of Σ, ``kurtosis`` and ``excess`` (of the projected rows); lists over ``RADII`` of ``floor``,
    ``cubic`` (b² times its limit), ``constant`` of the rows, ``V`` (𝒱), the same ``gaussian_floor`` of as many Gaussian rows, whitened; and
    over ``RADII`` and ``SIZES`` of squares of errors: ``real`` and ``gaussian`` from the line, ``noise`` of the real ones from their limit.
    """
    g, s, Q = directions(config)
    generator = Generator().manual_seed(1000 + config.seed)
    normal = rows.whitened(torch.randn(g.shape, generator=generator, dtype=g.dtype)) @ Q
    h, layers = g @ Q, [rows.Layer(s, b) for b in RADII]
    real = [
        [rows.errors(layer, h, N, config.contexts, config.queries, generator) for N in SIZES]
        for layer in layers
    ]
    drawn = [
        [rows.errors(layer, h, N, config.contexts, config.queries, generator, gaussian=True) for N in SIZES]
        for layer in layers
    ]
    values = tables.standardised(load(config.table).values)
    spectrum = torch.linalg.eigvalsh(values.T @ values / len(values))
    return {
        "data": provenance(config.table),
        "k": len(g),
        "d": g.shape[1],
        "kappa": float(spectrum[-1] / spectrum[0]),
        "kurtosis": rows.kurtosis(g),
        "excess": rows.kurtosis(h),
        "floor": [rows.floor(layer, h) for layer in layers],
        "gaussian_floor": [rows.floor(layer, normal) for layer in layers],
        "cubic": [b**2 * rows.cubic(layer, h) for b, layer in zip(RADII, layers, strict=True)],
        "constant": [rows.constant(layer, h) for layer in layers],
        "V": [noise.at_radius(s, b) for b in RADII],
        "real": [[pair[0] for pair in at_b] for at_b in real],
        "noise": [[pair[1] for pair in at_b] for at_b in real],
        "gaussian": [[pair[0] for pair in at_b] for at_b in drawn],
    }


def rows_of(name: str, n: int) -> int:
    """Rows that are drawn of a table: n, but of three stations 400."""
    return 400 if name == "three stations" else n


LIMIT = Experiment(
    name="real_rows_limit",
    title="Rows of real tables as tokens: how far attention is from its line, with N tokens and with infinitely many",
    plan=limits,
    compute=at_limit,
    dtype="float64",
)


@dataclass(frozen=True)
class Trained:
    """A layer trained on rows of a table, and regressions, on rows that were held out."""

    table: str
    labels: str
    seed: int  # of the rows, and of M̃ where labels are drawn
    n: int = 200  # rows to train on; two thirds of the table if it is smaller
    steps: int = 60
    halvings: int = 8  # of the algorithm's own step, at most


def trained(scale: str) -> list[Trained]:
    """All tables, both kinds of labels, several seeds."""
    if scale == "smoke":
        return [Trained("wine", labels, 0, 40, 3) for labels in LABELS]
    seeds = SEEDS[:2] if scale == "laptop" else SEEDS
    return [
        Trained(name, labels, seed, rows_of(name, 200))
        for name in NAMES
        for labels in LABELS
        for seed in seeds
    ]


@dataclass(frozen=True)
class Posed:
    """Rows to train on and rows held out, standardised by the former."""

    X: Float[Tensor, "n d"]
    Y: Float[Tensor, "n m"]
    fresh: Float[Tensor, "k d"]
    wanted: Float[Tensor, "k m"]


def posed(name: str, labels: str, seed: int, n: int) -> Posed:
    """The task of a table and a seed; drawn labels have M̃ of the singular values ``S``, in the whitened coordinates of the n rows."""
    table, generator = load(name), Generator().manual_seed(seed)
    chosen, held = tables.split(table, min(n, 2 * len(table.values) // 3), generator)
    of = lambda values: (
        tables.standardised(values[chosen]),
        tables.standardised(values[held], values[chosen]),
    )
    X, fresh = of(table.values)
    if labels == "own":
        Y, wanted = of(table.target)
        return Posed(X, Y, fresh, wanted)
    M = drawn(X.shape[1], generator) @ covariances.roots(X.T @ X / len(X))[1]
    return Posed(X, X @ M.T, fresh, fresh @ M.T)


def drawn(d: int, generator: Generator) -> Float[Tensor, "3 d"]:
    """M̃ with the singular values ``S`` in random directions."""
    P, Q = (covariances.orthogonal(size, generator)[:, : len(S)] for size in (len(S), d))
    return P * torch.tensor(S, dtype=torch.float64) @ Q.T


def ridge(X: Float[Tensor, "n d"], Y: Float[Tensor, "n m"]) -> tuple[Float[Tensor, "m d"], float]:
    """Ridge regression and its weight, of a grid the one with the least square of leave-one-out residuals (Y − HY)/(1 − H_ii)."""
    n, best = len(X), (math.inf, 0.0)
    for weight in torch.logspace(-8, 1, 28, dtype=torch.float64).tolist():
        H = X @ Moments.of(X, Y, weight).inverse_root
        H = H @ H.T / n
        left_out = (Y - H @ Y) / (1 - H.diagonal())[:, None]
        best = min(best, (float(left_out.square().sum()), weight))
    return Moments.of(X, Y, best[1]).M, best[1]


def off(answers: Float[Tensor, "k m"], wanted: Float[Tensor, "k m"]) -> float:
    """‖answers − wanted‖²/‖wanted‖² to twelve digits, 0 below 10⁻²⁴: the rest is rounding, and not the same in each run."""
    share = float((answers - wanted).square().sum() / wanted.square().sum())
    return float(f"{share:.12g}") if share > 1e-24 else 0.0


#: Draws of as many rows to train on as the other context has.
SUBSETS = 20


def at_end(config: Trained, device: torch.device) -> dict:
    """Held-out errors, squares over those of the targets.

    Returns: ``data``, ``squares``, ``ridge`` and its ``weight``; lists over ``RADII`` of the algorithm's ``attention`` with the rows to train
    on as context, ``begin`` (before the first step, context as the first), ``line`` (the linear map AΣ̂Bᵀ that it stands for) and ``halved``
    (how often its step had to be). The held-out rows of the first half are an other context, those of the second its queries; on these alone
    ``half squares``, and lists over ``RADII`` of ``half`` and ``half begin`` (rows to train on as context), ``half fewer`` and ``half begin
    fewer`` (so many of these as the other context has, the mean over ``SUBSETS`` draws), ``other`` and ``half begin other`` (the other context).
    """
    task = posed(config.table, config.labels, config.seed, config.n)
    half = len(task.fresh) // 2
    queries, asked = task.fresh[half:], task.wanted[half:]
    M = least_squares.fit(task.X, task.Y)
    M_ridge, weight = ridge(task.X, task.Y)
    generator = Generator().manual_seed(2000 + config.seed)
    fewer = [task.X[torch.randperm(len(task.X), generator=generator)[:half]] for _ in range(SUBSETS)]
    contexts = {"half": [task.X], "half fewer": fewer, "other": [task.fresh[:half]]}
    of_begin = {"half": "half begin", "half fewer": "half begin fewer", "other": "half begin other"}
    names = ("attention", "begin", "line", "halved", *contexts, *of_begin.values())
    errors = lambda A, B, contexts: [off(gradients.outputs(A, B, queries, rows), asked) for rows in contexts]
    found: dict[str, list] = {name: [] for name in names}
    for b in RADII:
        method = algorithm.Algorithm(task.X, task.Y, radius=b)
        start = starts.spectral(method.moments, symmetric=True)
        before = method.parameters(method.point(*start))
        A, B, halved = settled(method, start, config.steps, config.halvings)
        line = task.fresh @ B @ method.moments.Sigma @ A.T
        found["begin"].append(off(gradients.outputs(*before, task.fresh, task.X), task.wanted))
        found["attention"].append(off(gradients.outputs(A, B, task.fresh, task.X), task.wanted))
        found["line"].append(off(line, task.wanted))
        found["halved"].append(halved)
        for name, given in contexts.items():
            found[name].append(statistics.mean(errors(A, B, given)))
            found[of_begin[name]].append(statistics.mean(errors(*before, given)))
    return {
        "data": provenance(config.table),
        "squares": off(task.fresh @ M.T, task.wanted),
        "ridge": off(task.fresh @ M_ridge.T, task.wanted),
        "weight": weight,
        "rows": len(task.X),
        "other rows": half,
        "half squares": off(queries @ M.T, asked),
        **found,
    }


def settled(
    method: algorithm.Algorithm, start: starts.Factors, steps: int, halvings: int
) -> tuple[Float[Tensor, "m d"], Float[Tensor, "d d"], int]:
    """A and B in the end, with the algorithm's own step halved as often as it takes for the loss to end finite and below its start."""
    for halved in range(halvings + 1):
        try:
            run = algorithm.run(method, start, steps, method.default_step / 2**halved, every=steps)
        except descent.Diverged:
            continue
        if float(run.loss[-1]) <= float(run.loss[0]):
            return run.A, run.B, halved
    raise descent.Diverged(f"the loss grows however short the step, {halvings} halvings")


TRAINED = Experiment(
    name="real_rows_trained",
    title="Preconditioned attention trained on rows of real tables against least squares and ridge, on rows held out",
    plan=trained,
    compute=at_end,
    dtype="float64",
)

METHODS = ("preconditioned", "scale restored", "plain", "adam")
#: Eight factors a method. Adam's are of its own step, the others' of a step that curvature suggests.
FACTORS = {
    "preconditioned": tuple(2.0**k for k in range(-4, 4)),
    "scale restored": tuple(2.0**k for k in range(-1, 7)),
    "plain": tuple(2.0**k for k in range(-1, 7)),
    "adam": tuple(1e-3 * 4.0**k for k in range(8)),
}
ROWS = ("real", "whitened", "gaussian")


@dataclass(frozen=True)
class Race:
    """Steps of each method from the same small start."""

    table: str
    rows: (
        str  # "real": standardised; "whitened": times Σ̂^{−½}; "gaussian": of the same Σ̂, preconditioned only
    )
    seed: int  # of rows, M̃ and start
    n: int = 150  # rows; two thirds of the table if it is smaller
    most: int = 300  # steps after which a run is given up
    start: float = 0.1  # singular values of the product at the start, in random directions
    share: float = 0.01  # of the loss of the answer 0, to be reached


def races(scale: str) -> list[Race]:
    """All tables, real and whitened rows, several seeds."""
    if scale == "smoke":
        return [Race("wine", kind, 0, n=40, most=5) for kind in ROWS]
    seeds = SEEDS[:2] if scale == "laptop" else SEEDS
    return [Race(name, kind, seed, rows_of(name, 150)) for name in NAMES for kind in ROWS for seed in seeds]


def runners(
    X: Float[Tensor, "n d"], Y: Float[Tensor, "n m"], start: starts.Factors, b: float = 0.4
) -> dict[str, tuple]:
    """Method → objective, point to start from (the same A and B for all), rule, and the eight steps."""
    one = torch.eye(X.shape[1], dtype=X.dtype)
    whole = algorithm.Algorithm(X, Y, radius=b)
    c = whole.scale_of(whole.point(*start)[1])
    s, top = (float(torch.linalg.matrix_norm(G, 2)) for G in (whole.moments.target, whole.moments.Sigma))
    restored = algorithm.Algorithm(X, Y, radius=b, lam=0.0, preconditioner=one)
    raw = algorithm.Algorithm(X, Y, radius=None, scale=1.0, lam=0.0, preconditioner=one)
    from_c = lambda scale: 1 / (top * s * (scale**-2 + scale**2 * top))
    A, B = whole.parameters(whole.point(*start))
    steps = {
        "preconditioned": whole.default_step,
        "scale restored": from_c(1.0),
        # At the optimum of a run that keeps the radius c is √s/b.
        "plain": from_c(s**0.5 / b),
        "adam": 1.0,
    }
    points = {"preconditioned": whole.point(*start), "scale restored": (A / c, c * B), "plain": (A, B), "adam": (A, B)}  # fmt: skip
    of = {"preconditioned": whole, "scale restored": restored, "plain": raw, "adam": raw}
    return {
        name: (
            of[name],
            points[name],
            race.adam if name == "adam" else race.plain,
            [factor * steps[name] for factor in FACTORS[name]],
        )
        for name in METHODS
    }


def raced(
    found: dict[str, tuple], methods: Sequence[str], threshold: float, most: int
) -> dict[str, int | str]:
    """Steps of methods ("never" if more than ``most``), and the place of each one's η in its grid."""
    row: dict[str, int | str] = {}
    for name in methods:
        objective, begin, rule, etas = found[name]
        taken, place = race.best_of(objective, begin, rule, etas, threshold, most)
        row[name] = "never" if taken is None else taken
        row[f"{name} place"] = "never" if place is None else place
    return row


def started(config: Race) -> tuple[Float[Tensor, "n d"], Float[Tensor, "n m"], starts.Factors]:
    """Rows, labels, and whitened factors to start from."""
    task = posed(config.table, "drawn", config.seed, config.n)
    X, Y, generator = task.X, task.Y, Generator().manual_seed(500 + config.seed)
    first = drawn(X.shape[1], generator)
    P, _, Qt = torch.linalg.svd(first, full_matrices=False)
    start = config.start**0.5 * P @ Qt, config.start**0.5 * Qt.T @ Qt
    root, inverse = covariances.roots(X.T @ X / len(X))
    if config.rows == "gaussian":
        normal = torch.randn(X.shape, generator=generator, dtype=X.dtype)
        M = Y.T @ X / len(X) @ inverse @ inverse
        X = normal @ covariances.roots(normal.T @ normal / len(X))[1] @ root
        Y = X @ M.T
    elif config.rows == "whitened":
        X = X @ inverse
    elif config.rows != "real":
        raise ValueError(f"rows must be one of {', '.join(ROWS)}, got {config.rows!r}")
    return X, Y, start


def at_race(config: Race, device: torch.device) -> dict:
    """A race.

    Returns: steps of each method and places in the grids; ``own``, steps with the algorithm's own η ("never" if more or it diverges);
    ``data``, and ``kappa`` of the covariance of the rows.
    """
    X, Y, start = started(config)
    found = runners(X, Y, start)
    whole, point = found["preconditioned"][:2]
    threshold = config.share * float(Y.square().sum() / (2 * len(Y)))
    taken = race.steps_to(whole, point, race.plain(whole.default_step), threshold, config.most)
    spectrum = torch.linalg.eigvalsh(X.T @ X / len(X))
    return {
        "data": provenance(config.table),
        "kappa": float(spectrum[-1] / spectrum[0]),
        "own": "never" if taken is None else taken,
        **raced(found, METHODS[:1] if config.rows == "gaussian" else METHODS, threshold, config.most),
    }


RACE = Experiment(
    name="real_rows_race",
    title="Steps to train attention on rows of real tables: preconditioned, scale restored, plain, Adam, the best of eight steps each",
    plan=races,
    compute=at_race,
    tolerance={name: 0.1 for name in (*METHODS, "own")} | {f"{name} place": math.inf for name in METHODS},
    dtype="float64",
)
