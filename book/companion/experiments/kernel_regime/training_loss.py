"""Figure 1(c): smallest and mean training loss against width, over 4000 steps of projected gradient descent.

The paper's problems 0 to 4 were run at widths 8 to 512 for ``certificates``; they are read from there and not run again.
``LONG`` is the small copy over ten times the length: where does the slope in the width go after the paper's horizon?
"""

import math
from dataclasses import dataclass

import torch

from companion.experiments.kernel_regime import certificates, problems
from shallowformer.experiments.experiment import Experiment, stored
from shallowformer.kernel_regime.convergence import descent
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.students import Students

STEPS, HORIZONS = certificates.PAPER[1], certificates.HORIZONS
WIDTHS, SEEDS = (4, 8, 16, 32, 64, 128, 256), range(10)
#: Widths and seeds that ``certificates`` holds.
HELD = {(m, seed) for m in (8, 16, 32, 64, 128, 256, 512) for seed in range(5)}
#: The step size is 1/√τ, so a run of ten times the length has a hundred times the steps.
LONGER = 100 * STEPS


@dataclass(frozen=True)
class Config:
    """One run."""

    variant: str  # one of ``problems.VARIANTS``
    m: int  # width
    seed: int  # of the problem and of the student
    n: int = 5000  # inputs, of which the released variant trains on four fifths
    heads: int = 8192  # of the teacher
    steps: int = STEPS  # horizon τ; the step size η is 1/√τ, or 1.75/√τ as released
    #: how many of these steps are made at once: τ/coarse steps of size coarse·η, a run of the same length. All are far below the largest
    #: useful step, so the losses hardly differ.
    coarse: int = 1


def plan(scale: str) -> list[Config]:
    """Narrow students first; the paper's variant before the released one. Small problems have those between the two as well."""
    if scale == "smoke":
        return [Config(variant, m, 0, 20, 32, 5) for m in (4, 8) for variant in problems.VARIANTS]
    if scale == "laptop":
        return [
            Config(variant, m, seed, n=500, coarse=10)
            for m in (4, 16, 64)
            for variant in problems.VARIANTS
            for seed in SEEDS
        ]
    return [
        Config(variant, m, seed)
        for m in WIDTHS
        for variant in problems.FIGURE
        for seed in SEEDS
        if variant == "released" or (m, seed) not in HELD
    ]


def plan_long(scale: str) -> list[Config]:
    """Small problems over ten times the paper's length, narrow students first; and the small copy in steps of the paper's size."""
    if scale == "smoke":
        return [Config(variant, 4, 0, 20, 32, LONGER, 1000) for variant in problems.FIGURE]
    widths, seeds = (WIDTHS[:-1], SEEDS) if scale == "paper" else ((4, 16, 64), range(3))
    return [
        config
        for m in widths
        for config in (
            *(
                Config(variant, m, seed, n=500, steps=LONGER, coarse=100)
                for variant in problems.FIGURE
                for seed in seeds
            ),
            *(Config("paper", m, seed, n=500) for seed in range(3) if m in (4, 16, 64)),
        )
    ]


def horizons(config: Config) -> list[int]:
    """After how many steps a run is read, multiples of ``coarse``: up to the paper's horizon the numbers that ``certificates`` has too.

    Of a longer run those after which its length ητ is that of a run of the paper's variant after 10^(k/10) of its own, so that lengths
    of different variants can be compared, and all of them.
    """
    if config.steps <= STEPS:
        return [t for t in HORIZONS if t <= config.steps and t % config.coarse == 0]
    ends = {round(config.steps / config.coarse / _step(config) * 10 ** (k / 10)) for k in range(-20, 3)}
    last = config.steps // config.coarse
    return [config.coarse * t for t in sorted({t for t in ends if 1 <= t < last} | {last})]


def compute(config: Config, device: torch.device) -> dict:
    """Train one student, in single precision.

    Returns: ``trivial``, the loss at the start; ``means`` and ``mins``, mean and smallest loss over the first so many steps, for each of
    ``horizons``; √m times the longest displacement of a head in c, U and W; the largest share of heads on the boundary; the loss on inputs
    that were held out, at the start and at the end, where there are any.
    """
    run, given = _run(config, config.steps // config.coarse, device)
    losses = run.step_losses[:, 0].double()
    read = horizons(config)
    ends = [t // config.coarse for t in read]
    result = {
        "trivial": _trivial(given),
        "horizons": read,
        "means": [float(losses[:t].mean()) for t in ends],
        "mins": [float(losses[:t].min()) for t in ends],
        "displacement": run.displacement[-1, 0].tolist(),
        "active": float(run.active.max()),
    }
    if given.trained < config.n:
        X, y = (of.to(device, torch.float32)[given.trained :] for of in (given.X, given.labels.mean))
        result["unseen"] = [float(Loss(X, y).losses(Students.of(phi))) for phi in (*run.phi0, *run.phi)]
    return result


def _run(config: Config, steps: int, device: torch.device) -> tuple[descent.Run, problems.Problem]:
    given = problems.problem(config.variant, config.seed, config.n, config.heads)
    X, y = (of.to(device, torch.float32)[: given.trained] for of in (given.X, given.labels.mean))
    start = problems.start(config.m, config.seed).map(lambda block: block.to(device, torch.float32))
    eta = config.coarse * _step(config) / math.sqrt(config.steps)
    return descent.run(Loss(X, y), start, eta=eta, steps=steps, rho=problems.THREES, every=steps), given


def _step(config: Config) -> float:
    """The step size, times √τ."""
    return problems.VARIANTS[config.variant].step


def _trivial(given: problems.Problem) -> float:
    """Loss of the zero function on what a student sees."""
    return float(given.labels.mean[: given.trained].square().mean())


def collected(scale: str = "paper") -> dict[tuple[str, int, int], dict]:
    """All stored runs of a scale over the paper's horizon; at the paper's size those of ``certificates`` are among them.

    Returns: ``trivial``, ``horizons``, ``means`` and ``mins`` by variant, width and seed.
    """
    own = {(row["variant"], row["m"], row["seed"]): row for row in stored(EXPERIMENT, scale)}
    if scale != "paper":
        return own
    first = {
        ("paper", row["m"], row["seed"]): row
        for row in stored(certificates.EXPERIMENT)
        if row["steps"] == STEPS
    }
    return first | own


def steps_of(config: Config, steps: int) -> dict:
    """The first steps of a run, for a comparison with what is stored. Returns: ``trivial``, and the ``mean`` loss over these steps."""
    run, given = _run(config, steps, torch.device("cpu"))
    return {"trivial": _trivial(given), "mean": float(run.step_losses.double().mean())}


EXPERIMENT = Experiment(
    name="training_loss",
    title="Figure 1(c): smallest and mean training loss against width, the paper's variant and the released one",
    plan=plan,
    compute=compute,
    tolerance={"active": math.inf},
    dtype="float32",
)
LONG = Experiment(
    name="long_runs",
    title="Figure 1(c) after the paper's horizon: the small copy over ten times the length",
    plan=plan_long,
    compute=compute,
    tolerance={"active": math.inf},
    dtype="float32",
)
