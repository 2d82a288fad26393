"""Mistakes planted in the chapter *Stochastic gradients*: what its checks must notice."""

from dataclasses import replace

from shallowformer.kernel_regime.convergence import (
    theorem_1,
    trajectories,
    unrolled,
)
from shallowformer.kernel_regime.neighbourhood import region
from shallowformer.verify.mistakes import Mistake, formula, package

_right_best = theorem_1.Constants.best
_right_average = theorem_1.Constants.average_paper
_right_misfit = trajectories.misfit
_right_project = region.project
_right_batches = unrolled.all_batches
_right_largest = unrolled.Path.largest


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-proposition-1": [package("a bound that is 5 % larger", theorem_1.Constants, "best", lambda self, *run: 1.05 * _right_best(self, *run))],
    "kr-proposition-1/step": [
        package("half of the squared gradient", unrolled.Path, "largest", property(lambda self: _right_largest.fget(self) / 2)),
    ],
    "kr-proposition-1/average": [
        package("a bound that is 5 % larger", theorem_1.Constants, "average_paper", lambda self, *run: 1.05 * _right_average(self, *run)),
    ],
    "kr-proposition-1-noise": [
        formula("a batch without its mean", lambda value, case: value - (1 - 1 / case["b"]) * (2 / len(case["r"]) * case["r"] @ case["J"]).square().sum()),
        package("batches of one", unrolled, "all_batches", lambda n, steps, batch=1: _right_batches(n, steps, 1)),
    ],
    "kr-proposition-1-noise/single": [package("the mean squared gradient for the largest", unrolled.Path, "largest", unrolled.Path.trace)],
    "kr-proposition-1-noise/batch": [package("the mean squared gradient for the largest", unrolled.Path, "largest", unrolled.Path.trace)],
    "kr-proposition-1-noise/gram": [package("the largest gradient for the eigenvalue", unrolled.Path, "top", unrolled.Path.largest)],
    "kr-proposition-1-online": [
        Mistake("the mean of four steps", lambda check: replace(check, rhs=lambda **point: 0.75 * check.rhs(**point))),
    ],
    "kr-proposition-1-online/all-samples": [Mistake("half of the loss", lambda check: replace(check, lhs=lambda **point: check.lhs(**point) / 2))],
    "kr-proposition-1-online/drift": [
        package("half of the misfit", trajectories, "misfit", lambda *all: _right_misfit(*all) / 2),
        package("a radius that is too small", region, "project", lambda phi, phi0, rho: _right_project(phi, phi0, (0.1, 0.1, 0.1))),
    ],
}  # fmt: skip
