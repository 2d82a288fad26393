"""Mistakes planted in the chapter *The whole run, known before the first step*: what its checks must notice."""

from dataclasses import replace

from companion.experiments.kernel_regime import training_loss
from shallowformer.kernel_regime.linear_run import curvature, known, theorem_f
from shallowformer.kernel_regime.model import pairs
from shallowformer.verify.mistakes import Mistake, package

_right_parts = pairs.parts
_right_growth = curvature.Heads.growth
_right_moves = theorem_f._Recursion.moves
_right_errors = theorem_f._Recursion.errors
_right_distance = theorem_f._Recursion.distance
_right_linear_run = known.linear_run
_right_collected = training_loss.collected


def _nothing_allowed(recursion, *step):
    """The path alone: what a wrong residual does to the pairs is forgotten."""


def _remainder_alone(recursion, s, moves, e):
    """E without what earlier errors have left."""
    _found, slopes = _right_distance(recursion, s, moves, e)
    return recursion.remainders[-1], slopes


def _no_cancellation(recursion, s, moves):
    """The slopes of a pair change by the first order, as those of a single head do."""
    errors = _right_errors(recursion, s, moves)
    return replace(errors, slope=errors.slope + errors.hessian)


def _opposite(recursion, s):
    """Readouts that stay opposite."""
    return replace(_right_moves(recursion, s), chi=recursion.allowed[3])


def _next_seed(scale="paper"):
    """Runs of another problem."""
    return {(v, m, seed - 1): row for (v, m, seed), row in _right_collected(scale).items()}


_SWAPPED = package(
    "what keeps partners together for what drives them apart",
    pairs,
    "parts",
    lambda *points: _right_parts(*points)[::-1],
)
_NOTHING = package("errors that do not feed back", theorem_f._Recursion, "advance", _nothing_allowed)

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-theorem-f-identity": [
        _SWAPPED,
        package("half of a step", known, "linear_run", lambda G, y, eta, steps: _right_linear_run(G, y, eta / 2, steps)),
    ],
    "kr-theorem-f-identity/pairs": [_SWAPPED],
    "kr-lemma-f/fourth": [
        package("without the covariances", curvature, "FOUR", 0.5),
    ],
    "kr-lemma-f/fifth": [
        package("without the products of covariances", curvature, "FIVE", 0.25),
    ],
    "kr-lemma-f-growth": [
        package("no fourth derivative of the activation", curvature.Heads, "growth", lambda self, radius: (
            _right_growth(self, radius) - curvature.FOURTH * self.z1_norm**4 * radius)),
    ],
    "kr-lemma-f-growth/short": [package("fourth cumulants only", curvature, "FIVE", 0.0)],
    "kr-lemma-f-growth/attention": [
        package("tokens of half the diameter", curvature.Heads, "growth", lambda self, radius: _right_growth(self, radius / 2)),
    ],
    "kr-lemma-f-growth/taylor-of-slope": [
        package("no fourth derivative of the activation", curvature.Heads, "growth", lambda self, radius: (
            _right_growth(self, radius) - curvature.FOURTH * self.z1_norm**4 * radius)),
    ],
    "kr-lemma-f-growth/taylor": [
        package("no fourth derivative of the activation", curvature.Heads, "growth", lambda self, radius: (
            _right_growth(self, radius) - curvature.FOURTH * self.z1_norm**4 * radius)),
    ],
    "kr-theorem-f": [
        package("what earlier errors have left is forgotten", theorem_f._Recursion, "distance", _remainder_alone),
    ],
    "kr-theorem-f/alpha": [_NOTHING],
    "kr-theorem-f/beta": [_NOTHING],
    "kr-theorem-f/gamma": [_NOTHING],
    "kr-theorem-f/chi": [package("readouts that stay opposite", theorem_f._Recursion, "moves", _opposite)],
    "kr-theorem-f/rate": [
        package("no cancellation in a pair", theorem_f._Recursion, "errors", _no_cancellation),
    ],
    "kr-theorem-f/stored": [
        package("runs of another problem", training_loss, "collected", _next_seed),
    ],
}  # fmt: skip
