"""Mistakes planted in the chapter *Theorem 1, line by line*: what its checks must notice."""

from dataclasses import replace

import torch

from companion.theory.kernel_regime import budget, comparison
from shallowformer import softmax
from shallowformer.kernel_regime.convergence import change_of_features, gradient_norms, theorem_1, unrolled
from shallowformer.kernel_regime.model import linear_model
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.verify.mistakes import Mistake, package

_right_best = theorem_1.Constants.best
_right_pull = comparison.Comparison.pulled
_right_along = linear_model.along
_right_optimisation = budget.Sheet.optimisation.fget
_right_lines = comparison.lines
_right_head_lines = comparison.head_lines
_right_outputs = unrolled.outputs
#: The chapter's radii; its longest U has length 4 + 1.2/√16.
RHO, NU = (1.0, 1.2, 0.8), (0.6, 0.9, 0.7)


def _uncentred_product(X, alpha, U):
    return softmax._average(alpha * softmax._scores(X, U), X)


def _lines_without_the_square(terms, after, constants, eta):
    sides = _right_lines(terms, after, constants, eta)
    return sides | {"24": (after, terms.distance + 2 * eta * terms.ascent)}


def _half_the_right_side_of(number):
    def head_lines(*evidence):
        sides = _right_head_lines(*evidence)
        left, right = sides[number]
        return sides | {number: (left, right / 2)}

    return head_lines


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-theorem-1-features": [
        package("M U not centred", softmax, "covariance_product", _uncentred_product),
        Mistake("ρ_c and ρ_w exchanged", lambda check: replace(check, rhs=change_of_features.B_cof_paper(4.3, RHO[::-1], NU, 16))),
        package("features that do not change", softmax, "mean", lambda X, alpha: X.mean(-2)),
    ],
    "kr-theorem-1-remainder": [
        package("M U not centred", softmax, "covariance_product", _uncentred_product),
        Mistake("ν̄_c and ν̄_w exchanged", lambda check: replace(
            check, rhs=float(change_of_features.B_rem(torch.full((16,), 4.3, dtype=torch.float64), RHO, NU[::-1])))),
    ],
    "kr-theorem-1": [package("the bound times 1e-8", theorem_1.Constants, "best", lambda self, *run: 1e-8 * _right_best(self, *run))],
    "kr-theorem-1/lines": [
        package("(24) without the square of the step", comparison, "lines", _lines_without_the_square),
        package("projections that lead away", comparison.Comparison, "pulled", lambda *step: -_right_pull(*step)),
        package("(31) halved", comparison, "head_lines", _half_the_right_side_of("31")),
        package("(32) halved", comparison, "head_lines", _half_the_right_side_of("32")),
    ],
    "kr-theorem-1-step": [
        package("slopes without W", linear_model, "along", lambda feature, c, step: _right_along(
            feature, c, Parameters(step.c, step.U, 0 * step.W))),
        package("(1/n) Σ r e for (2/n) Σ r e", comparison.Terms, "errors", property(lambda self: (self.app + self.lin + self.cof) / 2)),
        package("no change of features", comparison.Terms, "errors", property(lambda self: self.app + self.lin)),
    ],
    "kr-theorem-1-balance": [
        package("projections not entered", comparison.Comparison, "pulled", lambda self, phi, terms, *step: 0 * terms.distance),
        package("the distance at the end forgotten", budget.Sheet, "optimisation", property(
            lambda self: _right_optimisation(self) + self.last / (4 * self.eta * self.steps))),
    ],
    "kr-theorem-1-gradient": [
        Mistake("readouts that stay at ±1", lambda check: replace(check, rhs=check.rhs / (1 + 1 / 3**0.5))),
    ],
    "kr-theorem-1-gradient/generic": [
        Mistake("the longest head for all", lambda check: replace(check, rhs=float(gradient_norms.A(torch.full((3,), 4.3, dtype=torch.float64), 1.0)))),
    ],
    "kr-theorem-1-gradient/loss": [package("a loss without its mean", unrolled, "outputs", lambda *all: (
        (found := _right_outputs(*all))[0] * 2**0.5, found[1]))],
    "kr-theorem-1-sharp": [package("the bound times 3e-7", theorem_1.Constants, "best", lambda self, *run: 3e-7 * _right_best(self, *run))],
    "kr-theorem-1-average": [
        Mistake("4ℓ² + 5b²", lambda check: replace(check, rhs=lambda l, b: 11 / 12 * (4 * l**2 + 5 * b**2))),
    ],
    "kr-theorem-1-informal": [package("envelopes that do not grow", theorem_1.Constants, "envelope", property(lambda self: 1.0))],
}  # fmt: skip
