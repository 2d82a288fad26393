"""Mistakes planted in the chapter *The factorisation problem*: what its checks must notice."""

from dataclasses import replace

import torch

from companion.mistakes import larger
from companion.theory.preconditioned import rotated, steps, unregularised
from shallowformer.preconditioned import bounds, factorisation, landscape
from shallowformer.verify.mistakes import Mistake, formula, package

_right_gradient = factorisation.gradient
_right_slopes = factorisation.slopes
_right_spectrum = landscape.stationary_spectrum
_right_hessian = factorisation.hessian
_right_saddle = unregularised.saddle
_right_valley = unregularised.valley
_right_minima = unregularised.minimum_spectrum
_right_at = rotated.FlowStart.at
_right_excess = rotated.FlowStart.excess.fget
_right_curvature = bounds.curvature
_right_unstable = steps.unstable
_right_step = steps.step
_right_least = steps.AlignedStart.least
_right_value = steps.AlignedStart.value
_right_oscillation = steps.oscillation


def _wrong_sign(U, V, target, lam=0.5):
    """Grows with imbalance in V."""
    of_U, of_V = _right_gradient(U, V, target, lam)
    return of_U, of_V + 2 * lam * V @ factorisation.imbalance(U, V)


def _half_regulariser(U, V, target, lam=0.5):
    return _right_gradient(U, V, target, lam / 2)


def _half_hessian(U, V, target, lam=0.5):
    return _right_hessian(U, V, target, lam / 2)


def _weight_twice(kept, lost, lam, columns, m, d):
    return _right_spectrum(kept, lost, 2 * lam, columns, m, d)


def _missed_by_one(kept, lost, lam, columns, m, d):
    """The smallest missed value in place of the largest."""
    lower = lost.sort(descending=True).values.clone()
    if len(lower) > 1:
        lower[0] = lower[-1]
    return _right_spectrum(kept, lower, lam, columns, m, d)


def _half_of_the_rest(start):
    least = float(torch.linalg.svdvals(start.start.X)[-1]) ** 2
    return (_right_excess(start) + 1 + 2 * float(start.start.s[-1]) / least) / 2 - 1


def _balanced_saddle(s, gamma, width=None):
    U, V = _right_saddle(s, gamma, width)
    keep = len(s) - 1
    U[:, keep:] = 0
    return U, V


def _other_valley(s, gamma):
    U, V = _right_valley(s, gamma)
    return 1.05 * U, V


def _only_U(U, V):
    values = 2 * torch.linalg.svdvals(U).square()
    return values.repeat(len(U)).sort().values


def _slower(self, t):
    bound = _right_at(self, t)
    return replace(bound, least=1.05 * bound.least, misfit=0.95 * bound.misfit)


def _too_strict(self, t):
    bound = _right_at(self, t)
    return replace(bound, rest=0.4 * bound.rest, misfit=0.3 * bound.misfit, value=0.1 * bound.value)


def _half_curvature(s, f0):
    return _right_curvature(s, f0) / 2


def _other_sign(U, V, target, lam=0.5):
    """Rewards imbalance."""
    with_it, without = _right_gradient(U, V, target, lam), _right_gradient(U, V, target, 0.0)
    return tuple(2 * b - a for a, b in zip(with_it, without, strict=True))


def _unused_only(kept, lost, columns):
    """Forgets missed values above kept ones."""
    return len(lost) * (columns - len(kept))


def _longer_step(U, V, target, eta, lam=0.5):
    return _right_step(U, V, target, 1.05 * eta, lam)


def _wrong_cycle(s1, eta):
    high, low = _right_oscillation(s1, eta)
    return 1.05 * high, 0.95 * low


def _part(index):
    """5 % more in one part."""
    return formula(
        f"5 % more in part {index}",
        lambda value, case: tuple(1.05 * v if k == index else v for k, v in enumerate(value)),
    )


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "pa-lemma-i": [
        package("wrong sign of the regulariser", factorisation, "gradient", _wrong_sign),
        formula("1 % more", lambda value, case: 1.01 * value),
    ],
    "pa-theorem-j": [_part(0), _part(2)],
    "pa-theorem-j/listed": [
        package("wrong sign of the regulariser", factorisation, "gradient", lambda U, V, target, lam=0.5: _right_gradient(U, 1.01 * V, target, lam)),
        _part(0),
    ],
    "pa-theorem-j-spectrum": [
        package("twice the weight", landscape, "stationary_spectrum", _weight_twice),
        package("the wrong missed value", landscape, "stationary_spectrum", _missed_by_one),
        package("half the weight", factorisation, "hessian", _half_hessian),
    ],
    "pa-theorem-j-spectrum/least": [formula("5 % more", lambda value, case: 1.05 * value)],
    "pa-theorem-k": [
        package("half the weight", factorisation, "hessian", _half_hessian),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "pa-theorem-k/best": [package("half the weight", factorisation, "hessian", _half_hessian)],
    "pa-theorem-j-flat": [_part(0)],
    "pa-theorem-j-flat/curvature": [larger(1.01)],
    "pa-theorem-j-flat/wide": [larger(1.01)],
    "pa-theorem-j-flat/width": [
        package("no turned column", unregularised, "saddle", _balanced_saddle),
        _part(0),
    ],
    "pa-proposition-j-slope": [
        package("another point", unregularised, "valley", _other_valley),
        _part(0),
        _part(1),
        _part(2),
    ],
    "pa-lemma-l": [
        package("half the regulariser", factorisation, "gradient", _half_regulariser),
        _part(0),
    ],
    "pa-lemma-m": [larger(1.01)],
    "pa-lemma-m/least": [larger(1.01)],
    "pa-proposition-r-exact": [
        package("half the regulariser", factorisation, "slopes", lambda U, V, target, lam: _right_slopes(U, V, target, lam / 2)),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "pa-theorem-r": [
        package("bounds too strict", rotated.FlowStart, "at", _too_strict),
        package("half of ‖Y₀‖²", rotated.FlowStart, "excess", property(_half_of_the_rest)),
    ],
    "pa-theorem-r/attained": [
        package("a wait too short", rotated.FlowStart, "at", _slower),
        _part(0),
        _part(1),
        _part(2),
    ],
    "pa-theorem-r/late": [
        package("a wait too short", rotated.FlowStart, "at", _slower),
        _part(0),
        _part(1),
    ],
    "pa-theorem-r/determinant": [
        package("half the regulariser", factorisation, "slopes", lambda U, V, target, lam: _right_slopes(U, V, target, lam / 2)),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "pa-theorem-r/singular": [larger(1.01)],
    "pa-theorem-r-operator": [larger(1.01)],
    "pa-theorem-s/decrease": [
        package("half the curvature", bounds, "curvature", _half_curvature),
        larger(1.01),
    ],
    "pa-theorem-s": [
        package("a fifth of the curvature", bounds, "curvature", lambda s, f0: _right_curvature(s, f0) / 5),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "pa-theorem-s/singular": [_part(0), _part(1)],
    "pa-theorem-s/unstable": [
        package("unused columns only", steps, "unstable", _unused_only),
        package("the regulariser with the other sign", factorisation, "gradient", _other_sign),
    ],
    "pa-theorem-s-aligned": [
        package("a wait too short", steps.AlignedStart, "least", lambda self, t: 1.05 * _right_least(self, t)),
        package("a loss too small", steps.AlignedStart, "value", lambda self, t: 0.95 * _right_value(self, t)),
    ],
    "pa-theorem-s-aligned/step": [
        package("a longer step", steps, "step", _longer_step),
        _part(0),
    ],
    "pa-theorem-s-aligned/least": [larger(1.01)],
    "pa-theorem-s-aligned/attained": [
        package("a wait too short", steps.AlignedStart, "least", lambda self, t: 1.05 * _right_least(self, t)),
        package("a loss too small", steps.AlignedStart, "value", lambda self, t: 0.95 * _right_value(self, t)),
        _part(0),
        _part(1),
    ],
    "pa-theorem-s-aligned/determinant": [formula("5 % more", lambda value, case: 1.05 * value)],
    "pa-proposition-s-edge": [
        package("a longer step", steps, "step", _longer_step),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "pa-proposition-s-edge/outwards": [larger(1.05)],
    "pa-proposition-s-edge/turned": [package("a longer step", steps, "step", _longer_step), _part(0), _part(1)],
    "pa-proposition-s-edge/cycle": [package("wrong values", steps, "oscillation", _wrong_cycle)],
    "pa-proposition-s-determinant": [formula("5 % more", lambda value, case: 1.05 * value)],
    "pa-proposition-s-determinant/equal": [package("a longer step", steps, "step", _longer_step)],
    "pa-proposition-s-determinant/singular": [
        package("a longer step", steps, "step", _longer_step),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "pa-theorem-k-orbit": [
        package("the left factor twice", unregularised, "minimum_spectrum", _only_U),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "pa-theorem-k-orbit/wide-open": [formula("5 % more", lambda value, case: 1.05 * value)],
}  # fmt: skip
