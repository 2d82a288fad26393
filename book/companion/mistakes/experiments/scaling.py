"""Mistakes planted in the chapter *Scaling laws*: what its checks must notice."""

import math
from dataclasses import replace

from companion.experiments.kernel_regime import approximation_error
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.verify.mistakes import Mistake, formula, package

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-theorem-1-figure": [
        Mistake("from wide to narrow", lambda check: replace(check, lhs=check.rhs, rhs=check.lhs)),
    ],
    "kr-theorem-1-figure/medians": [
        Mistake("medians over means, without the 1", lambda check: replace(check, lhs=lambda which: 1 + check.lhs(which))),
    ],
    "kr-lemma-5-labels": [
        formula("no floor", lambda value, case: value * case["M"] / (case["N"] + case["M"])),
        formula("errors that add up unsquared", lambda value, case: value * (case["N"] ** -0.5 + case["M"] ** -0.5) ** 2 / (1 / case["N"] + 1 / case["M"])),
    ],
    "kr-lemma-5-labels/floor": [
        package("a teacher without error", approximation_error, "expected", lambda variance, m, heads, variant="paper": math.sqrt(2 * variance / m)),
    ],
    "kr-lemma-5-labels/stored": [
        package("an error that falls like 1/m", approximation_error, "expected", lambda variance, m, heads, variant="paper": 8 * math.sqrt(variance) / m),
    ],
    "kr-lemma-4-diagonal": [
        formula("the full W on the diagonal", lambda value, case: (value[0], value[0])),
        formula("an average over coordinates", lambda value, case: (value[0], value[0] / case["X"].shape[-1])),
    ],
    "kr-lemma-4-diagonal/average": [
        formula("the fourth moment of a Gaussian", lambda value, case: value * (1 + 2 / case["d"])),
    ],
    "kr-lemma-4-diagonal/turn": [
        formula("heads of which W does not turn", lambda value, case: tangent_kernel.finite(case["X"], Parameters(case["phi"].c, case["phi"].U @ case["R"].T, case["phi"].W)).total),
    ],
    "kr-theorem-1-slope/gradient": [
        formula("the gradient of half the loss", lambda value, case: value / 4),
        formula("a mean over pairs, not over heads", lambda value, case: 2 * value),
    ],
}  # fmt: skip
