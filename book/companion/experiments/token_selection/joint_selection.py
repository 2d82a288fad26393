"""Figure 3: decoder and attention trained together on (DM), with the schedules of the theory and with four other rules."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from companion.theory.token_selection import joint, joint_gram, joint_rules
from companion.theory.token_selection.joint_rules import Rule
from shallowformer.experiments.experiment import Experiment
from shallowformer.token_selection import datasets
from shallowformer.token_selection.rules import recorded_steps

SEEDS = range(10)
#: Steps whose two halves are looked at apart.
HALVES = 2000
#: From which step on exponents are fitted.
LATE = 1000


@dataclass(frozen=True)
class Config:
    """One run."""

    rule: str  # a name in ``RULES``
    seed: int  # of the data
    eta: float  # η; not used by Polyak's rule
    steps: int  # how many
    n: int = 6  # sequences
    d: int = 1000  # dimension
    alpha: float = 3.0  # α
    sigma: float = 0.1  # σ
    most: float = 1e4  # cap on the multiplier of Polyak's rule


RULES: dict[str, Callable[[Config], Rule]] = {
    "schedule": lambda config: joint_rules.Scheduled(config.eta),
    "ngd": lambda config: joint_rules.Scheduled(config.eta, 0.0, 0.0),
    "ngd-joint": lambda config: joint_rules.JointNGD(config.eta),
    "gd": lambda config: joint_rules.GD(config.eta),
    "polyak": lambda config: joint_rules.Polyak(0.5, config.most),
}
#: Their η; the readable text of the paper gives none.
ETA = {"schedule": 0.05, "ngd": 0.005, "ngd-joint": 0.005, "gd": 0.02, "polyak": 1.0}


def plan(scale: str) -> list[Config]:
    """Five rules, seed by seed; the schedule of the theory with ten times as many steps."""
    if scale == "smoke":
        return [Config(rule, 0, ETA[rule], 20, n=2, d=30) for rule in RULES]
    seeds, steps = (range(3), 1000) if scale == "laptop" else (SEEDS, 10_000)
    return [
        Config(rule, seed, ETA[rule], steps * (10 if rule == "schedule" else 1))
        for seed in seeds
        for rule in RULES
    ]


def compute(config: Config, device: torch.device) -> dict:
    """Train, and look at some steps on the way.

    Returns: ``margin``, γ; ``at``, the steps shown, and there ``log_loss``, ``corr_u`` and ``corr_W`` (1 − correlation), ``norm_u``,
    ``norm_W``, ``residual_W``, ``reached`` (the optimal tokens' margin over γ). Over all recorded steps ``least_weight`` of an optimal
    token, ``loss_ratio``, ``least_pull``, the smallest ‖∇_u L‖/(γL). Of the schedule fits from step 1000 on: ``slope`` and ``intercept`` of
    log L against t^{1/3} and the largest ``residual``, ``slope_W`` of ‖W‖ against log t, ``exponent_u`` and ``exponent_W`` of 1 −
    correlation, in t and in log t, ``exponent_norm_u``; and over the first steps ``raised``, the largest change of log L in attention's
    half of a step, ``gained``, the sum of these changes, and ``spent``, the sum of what the decoder's halves missed of their first-order
    gain.
    """
    generator = torch.Generator().manual_seed(config.seed)
    data = datasets.dm(config.n, config.d, config.alpha, config.sigma, generator)
    run = joint.run(data, RULES[config.rule](config), config.steps)
    shown = torch.isin(run.steps, torch.tensor(recorded_steps(config.steps, 5)))
    log_loss, pull = run.log_loss, (run.log_u - run.log_loss).exp()
    found = {
        "margin": run.best_margin,
        "at": run.steps[shown].tolist(),
        "log_loss": log_loss[shown].tolist(),
        "corr_u": run.one_minus_corr_u[shown].tolist(),
        "corr_W": run.one_minus_corr_W[shown].tolist(),
        "norm_u": run.norm_u[shown].tolist(),
        "norm_W": run.norm_W[shown].tolist(),
        "residual_W": run.residual_W[shown].tolist(),
        "reached": (run.optimal_margin[shown] / run.best_margin).tolist(),
        "least_weight": float(run.log_best.exp().min()),
        "loss_ratio": float(run.log_loss_ratio.max().exp()),
        "least_pull": float(pull.min()) / run.best_margin,
    }
    return found | (_fits(run) | _halves(data, config) if config.rule == "schedule" else {})


def _fits(run: joint.Trajectory) -> dict[str, float]:
    late = run.steps >= min(LATE, int(run.steps.max()) // 2)
    t = run.steps[late].double().numpy()
    of = lambda name: getattr(run, name)[late].numpy()
    fit = np.polyfit(t ** (1 / 3), of("log_loss"), 1)
    line = lambda x, y: float(np.polyfit(x, y, 1)[0])
    return {
        "slope": float(fit[0]),
        "intercept": float(fit[1]),
        "residual": float(np.abs(np.polyval(fit, t ** (1 / 3)) - of("log_loss")).max()),
        "slope_W": line(np.log(t), of("norm_W")),
        "exponent_norm_u": line(np.log(t), np.log(of("norm_u"))),
        "exponent_u": line(np.log(t), np.log(of("one_minus_corr_u"))),
        "exponent_W": line(np.log(np.log(t)), np.log(of("one_minus_corr_W"))),
    }


def _halves(data: datasets.Instance, config: Config) -> dict[str, float]:
    K, query = joint_gram.gram(data)
    steps = min(HALVES, config.steps)
    seen = joint_gram.run(K, query, torch.tensor([config.eta], dtype=K.dtype), steps + 1)
    attention = (seen.log_loss[1:] - seen.between[:-1])[1:]  # it rests at t = 0
    decoder = (seen.between - seen.log_loss + seen.lengths * seen.pull)[:-1]
    return {
        "raised": float(attention.max()),
        "gained": float(attention.sum()),
        "spent": float(decoder.sum()),
    }


EXPERIMENT = Experiment(
    name="joint_selection",
    title="Figure 3: decoder and attention trained together, five rules",
    plan=plan,
    compute=compute,
    tolerance={"corr_u": 0.01, "corr_W": 0.01, "raised": 0.01},
    dtype="float64",
)
