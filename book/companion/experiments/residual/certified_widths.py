"""From a random start: the smallest certified width of a draw, a run at it beside its bounds, and the width that descent needs."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.experiments.residual.coefficients import OwnSteps
from companion.theory.residual import closed, width
from shallowformer.experiments.experiment import Experiment
from shallowformer.residual import curvature, datasets, starts
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.random_start import certify, start, watch
from shallowformer.residual.smoothed import SmoothedReLU
from shallowformer.training import descent

#: Kinds of tokens and residual coefficients, from the hardest to the easiest.
KINDS = (("gaussian", 1.0), ("gaussian", 3.0), ("orthonormal", 1.0), ("orthonormal", 3.0))
#: Twice as many tokens as dimensions: here with four sequences.
CROWDED = ("gaussian", 1.0, 0.0, "1/sqrt d")
#: Largest width at which descent is run.
RUN = 12_000
#: How a run ends: its error below this share of the first one, or after so many steps.
STOP, LONG = 1e-2, 1500
#: Largest width that is drawn, and the width that the law of widths is taken from.
MOST, FIRST = 1_000_000, 20_000
#: Widths of the runs that ask what descent needs (0: attention and the read-out alone), how many steps they have, and which share of the
#: error they must come below.
NARROW, STEPS, REACHED = (0, 1, 2, 3, 4, 6, 8, 12, 24), 6000, 1e-3
#: Tokens, targets, start, setting.
Problem = tuple[Float[Tensor, "P N d"], Float[Tensor, "P N K"], Parameters, Setting]

#: What another machine may change: a certificate that holds narrowly here may fail there, and the width is the next one of a ladder.
TOLERANCE = {
    "law": 0.03,
    "closed": 0.03,
    "width": 0.07,
    "X": 0.1,
    "alpha": 0.3,
    "mu": 0.1,
    "run": 0.15,
    "run.left": math.inf,
}


@dataclass(frozen=True)
class Config:
    """A problem and how W_1 is scaled."""

    tokens: str  # "gaussian", entries N(0, 1/d), or "orthonormal"
    g: float  # attention's residual coefficient; the network's is 1
    tau: float  # width of the smoothed ReLU; 0 is ReLU
    deviation: str  # of W_1's entries: "1/sqrt d" or "1"
    seed: int  # of tokens, weights, targets and W_1, drawn in this order
    P: int = 2  # sequences
    N: int = 3  # tokens a sequence
    d: int = 6  # dimension of a token
    d_k: int = 4  # of keys and queries
    K: int = 2  # outputs a token


def plan(scale: str) -> list[Config]:
    """Every kind of problem, both activations, both sizes of W_1, several seeds; then twice as many tokens as dimensions."""
    if scale == "smoke":
        return [Config("orthonormal", 3.0, tau, "1", 0, P=1, N=2, d=3, d_k=2, K=1) for tau in (0.0, 0.3)]
    kinds, seeds = (KINDS[3:], 3) if scale == "laptop" else (KINDS[::-1], 10)
    sides = [
        (*kind, tau, deviation) for kind in kinds for tau in (0.0, 0.3) for deviation in ("1", "1/sqrt d")
    ]
    crowded = [] if scale == "laptop" else [Config(*CROWDED, seed, P=4) for seed in range(seeds)]
    return [Config(*side, seed) for side in sides for seed in range(seeds)] + crowded


def posed(config: Config, d_1: int) -> Problem:
    """Tokens, targets with ‖Y‖²_F = PNK, a start with W_2 = 0, and the setting; only W_1 depends on the width."""
    c, generator = config, Generator().manual_seed(config.seed)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    if c.tokens == "gaussian":
        X = datasets.gaussian(c.P, c.N, c.d, generator)
    elif c.tokens == "orthonormal" and c.d >= c.P * c.N:
        X = torch.linalg.qr(draw(c.d, c.d))[0][: c.P * c.N].reshape(c.P, c.N, c.d)
    else:
        raise ValueError(
            f"tokens must be gaussian, or orthonormal with P·N at most d = {c.d}, got {c.tokens!r}"
        )
    if c.deviation not in ("1", "1/sqrt d"):
        raise ValueError(f"deviation must be '1' or '1/sqrt d', got {c.deviation!r}")
    theta = starts.gaussian(c.d, c.d_k, 1, c.K, generator, W_2=0.0)
    Y = draw(c.P, c.N, c.K)
    W_1 = draw(d_1, c.d).mT.contiguous() / (1 if c.deviation == "1" else math.sqrt(c.d))
    theta = theta._replace(W_1=W_1, W_2=torch.zeros(d_1, c.d, dtype=torch.float64))
    return X, math.sqrt(Y.numel()) * Y / Y.norm(), theta, Setting(c.g, 1.0, SmoothedReLU(c.tau))


def needed(config: Config) -> int:
    """The least width among ``NARROW`` from which descent comes below ``REACHED``, each with step 1/(4‖∇²Φ(θ⁽⁰⁾)‖); -1 if none does."""
    most = max(NARROW)
    begins, steps = [], []
    for d_1 in NARROW:
        X, Y, theta, setting = posed(config, max(d_1, 1))
        theta = theta._replace(W_1=theta.W_1 * (d_1 > 0))  # no neuron: one whose weights are 0
        steps.append(0.25 / curvature.largest(X, Y, theta, setting))
        # Neurons with weights 0 stay at 0, and networks of many widths are one of the largest.
        pad, more = torch.nn.functional.pad, most - max(d_1, 1)
        begins.append(theta._replace(W_1=pad(theta.W_1, (0, more)), W_2=pad(theta.W_2, (0, 0, 0, more))))
    point, s = starts.side_by_side(begins), len(NARROW)
    X, Y = X.expand(s, *X.shape), Y.expand(s, *Y.shape)
    objective = OwnSteps(
        X, Y, setting, torch.tensor(steps, dtype=X.dtype), torch.full((s,), math.inf, dtype=X.dtype)
    )
    begun = objective.losses(point)
    for _ in range(STEPS // 500):
        run = descent.run(objective, point, eta=1.0, steps=500, every=500)
        point = run.end
        reached = run.losses[-1] < REACHED**2 * begun
        if reached[0]:
            break
    return next((d_1 for d_1, there in zip(NARROW, reached, strict=True) if there), -1)


def search(posed: Callable[[int], Problem]) -> tuple[start.Start, dict]:
    """The smallest certified width of a problem, and a run there beside its bounds.

    Returns: the start at width ``FIRST``; its ``e`` and ``law`` (the certificate's width by the law); ``width`` (-1: above ``MOST``),
    ``X``, ``alpha``, ``mu`` of the certificate there, and ``run`` (steps, what ``watch.compare`` found) if it is at most ``RUN``, else
    empty.
    """
    measured = lambda d_1: start.measure(*posed(d_1))
    first = measured(FIRST)
    found = width.smallest(measured, FIRST, most=MOST)
    ran = {}
    if found and found[0] <= RUN:
        problem = posed(found[0])
        ran = watch.compare(*problem, start.measure(*problem), found[1], steps=LONG, stop=STOP).row()
    return first, {
        "e": first.e,
        "law": FIRST * width.factor(first, lambda s: certify.certify(s).holds, 0.02),
        "width": found[0] if found else -1,
        **{name: getattr(found[1], name) if found else 0.0 for name in ("X", "alpha", "mu")},
        "run": ran,
    }


def compute(config: Config, device: torch.device) -> dict:
    """Search, and run.

    Returns: what ``search`` finds; of the draw at width ``FIRST`` also ``distance`` (y_0/e_0), ``lam`` (σ_A²/d_1) and ``closed`` (the
    closed form's width, by the law); ``needed``, for ReLU with the smaller W_1 only, else -1.
    """
    first, row = search(lambda d_1: posed(config, d_1))
    return {
        **row,
        "distance": first.distance / first.e,
        "lam": first.sigma_A**2 / FIRST,
        "closed": FIRST * width.factor(first, lambda s: max(closed.conditions(s)) <= 1, 0.02),
        "needed": needed(config) if (config.tau, config.deviation) == (0.0, "1/sqrt d") else -1,
    }


EXPERIMENT = Experiment(
    name="certified_widths",
    title="From a random start: smallest certified widths, runs there beside their bounds, and what descent needs",
    plan=plan,
    compute=compute,
    tolerance=TOLERANCE,
    dtype="float64",
)
