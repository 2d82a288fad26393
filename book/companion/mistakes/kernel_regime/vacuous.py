"""Mistakes planted in the chapter *How vacuous is it?*: what its checks must notice."""

from shallowformer.kernel_regime.bounds import blocks
from shallowformer.kernel_regime.convergence import cancellation, comparators, no_logs
from shallowformer.probability.cumulants import KAPPA
from shallowformer.training import self_bounding
from shallowformer.verify.mistakes import Mistake, package

_right_best_ridge = comparators.best_ridge
_right_G1 = blocks.G1
_right_G2_closed = blocks.G2_closed
_right_travel = cancellation.travel
_right_turn_of_pairs = cancellation.turn_of_pairs
_right_turn_over_heads = no_logs.turn_over_heads
_right_bound = self_bounding.bound

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-theorem-b-closed": [
        package("half of the bend", blocks, "G2_closed", lambda R, *r, other: (
            _right_G2_closed(R, *r, other=other) - 0.3 * blocks.G1_closed(R, *r) * blocks.G1_closed(R, *other))),
    ],
    "kr-theorem-b-closed/mixed": [
        package("one of the two mixed terms", blocks, "G2_closed", lambda R, *r, other: _right_G2_closed(R, *r, other=other) - r[0] * other[1]),
    ],
    "kr-theorem-b-closed/third": [
        package("no third cumulant", blocks, "G2_closed", lambda R, *r, other: (
            _right_G2_closed(R, *r, other=other) - KAPPA * r[1] * other[1] * R)),
    ],
    "kr-theorem-b-closed/slope": [
        package("a length squared for the square", blocks, "G1_closed", lambda R, u, w: (u**2 + w * R**2) ** 0.5),
        package("lengths of half the size", blocks, "G1", lambda R, u, w: _right_G1(2 * R, u, w)),
    ],
    "kr-theorem-a-stopping": [
        package("stopped after one round", comparators, "best_ridge", lambda *all, rounds: _right_best_ridge(*all, rounds=1)),
    ],
    "kr-theorem-a-stopping/parameter": [
        package("stopped after one round", comparators, "best_ridge", lambda *all, rounds: _right_best_ridge(*all, rounds=1)),
        package("half of the horizon", comparators, "best_ridge", lambda some, phi, H, steps, rounds: _right_best_ridge(some, phi, H / 2, steps, rounds)),
        package("never 0", comparators, "best_ridge", lambda some, phi, H, steps, rounds: _right_best_ridge(some, phi, min(H, 100), steps, rounds)),
    ],
    "kr-theorem-e": [
        package("half of the squared distance", self_bounding, "bound", lambda epsilon, V0, *run: _right_bound(epsilon, V0 / 2, *run)),
    ],
    "kr-theorem-e/pairs": [
        package("half of the turn of pairs", cancellation, "turn_of_pairs", lambda *all: _right_turn_of_pairs(*all) / 2),
        package("no way to the comparator", cancellation, "travel", lambda H, V0, epsilon, theta: _right_travel(H, 0.0, epsilon, theta)),
    ],
    "kr-theorem-e/width": [
        package("half of the turn", no_logs, "turn_over_heads", lambda *all: _right_turn_over_heads(*all) / 2),
    ],
    "kr-theorem-e/travel": [
        package("no way to the comparator", cancellation, "travel", lambda H, V0, epsilon, theta: _right_travel(H, 0.0, epsilon, theta)),
        package("half of the misfit", cancellation, "travel", lambda H, V0, epsilon, theta: _right_travel(H, V0, epsilon / 2, theta)),
    ],
}  # fmt: skip
