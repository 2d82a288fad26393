"""Figure 2 with every step rule, and the same where the hypotheses of Theorem 1 hold: direction, norm, loss and sparsity against steps.

Two settings, both Example 1. ``figure_2`` has the size of an experiment, where (A1′) fails; ``hypotheses`` has so many dimensions that it
holds, and steps within the limits of Lemma 3. The numbers of the paper's Figure 2 are not readable: those here are ours.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch

from shallowformer.experiments.experiment import Experiment
from shallowformer.token_selection import (
    bounds,
    constants,
    datasets,
    descent,
    gaps,
    rates,
    residual,
    rules,
    svm,
)
from shallowformer.token_selection.instances import Instance
from shallowformer.token_selection.span import Start

SEEDS = range(10)
#: Rules of each setting, in the order of the figure.
RULES = {
    "figure_2": (
        "ngd",
        "momentum",
        "ngd_short",
        "polyak",
        "polyak_short",
        "polyak_capped",
        "ngd_capped",
        "gd",
    ),
    "hypotheses": ("ngd", "polyak_short", "gd"),
}
#: η of normalised steps, η of plain ones, η_max of capped multipliers, in the setting ``figure_2``.
ETA, PLAIN, MOST = 0.02, 1e-3, 50.0


@dataclass(frozen=True)
class Config:
    """A run."""

    setting: str  # a key of ``RULES``
    rule: str  # one of its rules
    seed: int  # of data and start
    n: int  # sequences
    T: int  # tokens a sequence
    d: int  # dimension
    U: float  # norm of the means
    steps: int  # how many
    a_decade: int = 6  # steps recorded between 1 and 10, 10 and 100, …


def plan(scale: str) -> list[Config]:
    """The runs of a scale, setting by setting."""
    if scale == "smoke":
        return [Config("figure_2", rule, 0, 2, 2, 40, 8.0, 50) for rule in RULES["figure_2"]]
    seeds = SEEDS if scale == "paper" else SEEDS[:3]
    return [
        *(
            Config("figure_2", rule, seed, 6, 6, 400, 20.0, 40_000)
            for rule in RULES["figure_2"]
            for seed in seeds
        ),
        *(
            Config("hypotheses", rule, seed, 3, 3, 200_000, 450.0, 20_000)
            for rule in RULES["hypotheses"]
            for seed in seeds
        ),
    ]


def problem(config: Config) -> tuple[Instance, Start]:
    """Example 1 with ρ = 1, and W⁽⁰⁾ in a random direction: of norm 10⁻², or rank 1 and as large as Lemma 2 allows."""
    generator = torch.Generator().manual_seed(config.seed)
    data = datasets.example_1(config.n, config.T, config.d, config.U, 1.0, generator)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    if config.setting == "figure_2":
        W0 = draw(config.d, config.d)
        return data, 1e-2 * W0 / W0.norm()
    a, b = draw(config.d, 1), draw(config.d, 1)
    size = bounds.start_scale(constants.B(data))
    return data, (size * a / a.norm(), b / b.norm())


def rule_of(config: Config, data: Instance) -> rules.Rule:
    """The step rule: for ``figure_2`` numbers of the module; short steps are half of ``bounds.step_limit``, capped lengths all of it."""
    B = constants.B(data)
    limit = bounds.step_limit(B, 1 / (2 * config.T))
    eta, plain = ETA, PLAIN
    if config.setting == "hypotheses":
        eta, plain = limit / 2, limit / 2 / bounds.gd_step_length(1.0, B, constants.psi_max(data))
    made = {
        "ngd": rules.NGD(eta),
        "momentum": rules.Momentum(rules.NGD(eta), 0.9),
        "ngd_short": rules.NGD(limit / 2),
        "polyak": rules.Polyak(),
        "polyak_short": rules.CapLength(rules.Polyak(), limit),
        "polyak_capped": rules.CapMultiplier(rules.Polyak(), MOST),
        "ngd_capped": rules.CapMultiplier(rules.NGD(eta), MOST),
        "gd": rules.GD(plain),
    }
    return made[config.rule]


def compute(config: Config, device: torch.device) -> dict:
    """Run, on the processor, and record.

    Returns: ``best_norm``, ‖W_mm‖; ``start``, ‖W⁽⁰⁾‖; ``eta``, the number of the rule (length or multiplier); ``most``, its cap, or 0;
    ``near_orthogonality``, left over right side of (A1′) at φ_min = 1/(2T); ``strict``, least multiplier of an active constraint over their
    mean; ``rho_star`` and ``Lambda_0`` of the bounds; ``settled``, the predicted ‖P_∞‖; ``least_weight``, the smallest optimal weight
    recorded. At the recorded steps ``at``: ``one_minus_corr``, ``residual``, ``norm``, ``log_excess``, ``log_off`` (largest over samples),
    ``length``.
    """
    data, W0 = problem(config)
    best = svm.w_svm(data)
    rule = rule_of(config, data)
    made = gaps.problem(data, W0, towards=best)
    at = rules.recorded_steps(config.steps, config.a_decade)
    run = descent.run(made, rule, config.steps, at=at)
    sides = constants.near_orthogonality(data, 1 / (2 * config.T))
    inner = rule.rule if hasattr(rule, "rule") else rule
    listed = lambda values: [float(value) for value in values]
    return {
        "best_norm": best.norm,
        "start": float(run.norm[0]),
        "eta": float(getattr(inner, "eta", getattr(inner, "factor", math.nan))),
        "most": float(getattr(rule, "most", 0.0)),
        "near_orthogonality": sides.left / sides.right,
        "strict": best.strict_complementarity(),
        "rho_star": bounds.rho_star(constants.B(data), best.norm),
        "Lambda_0": rates.Lambda_0(config.n, config.T, constants.upsilon(data), 1 / (2 * config.T)),
        "settled": float(residual.settled(data, best).P.norm()),
        "least_weight": float(run.log_best.exp().min()),
        "at": [int(step) for step in run.steps],
        "one_minus_corr": listed(run.one_minus_corr),
        "residual": listed(run.residual),
        "norm": listed(run.norm),
        "log_excess": listed(run.log_excess),
        "log_off": listed(run.log_off.amax(-1)),
        "length": listed(run.length),
    }


def slope(row: dict, after: int = 2000) -> float:
    """Slope of log(1 − corr) against log t in a stored row, least squares over the recorded steps beyond ``after``."""
    steps, values = np.array(row["at"]), np.array(row["one_minus_corr"])
    late = steps > after
    return float(np.polyfit(np.log(steps[late]), np.log(values[late]), 1)[0])


EXPERIMENT = Experiment(
    name="selection_rates",
    title="Figure 2 with every step rule: direction, norm, loss and sparsity against steps",
    plan=plan,
    compute=compute,
    dtype="float64",
)
