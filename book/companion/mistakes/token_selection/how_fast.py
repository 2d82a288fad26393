"""Mistakes planted in the chapter *How fast*: what its checks must notice."""

import math
from dataclasses import replace

import numpy as np

from companion.mistakes import larger
from companion.mistakes.token_selection.every_step import beyond
from shallowformer.token_selection import rates, residual, rules
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_settled = residual.settled
_right_rate = rates.two_token_correlation
_right_bound = rates.normalised_rate


def _too_far(instance, best):
    """The minimiser of F, 5 % too far out."""
    found = _right_settled(instance, best)
    return replace(found, P=found.P * 1.05)


def _twice_as_steep(instance, best):
    found = _right_settled(instance, best)
    return replace(found, steepest=2 * found.steepest)


def _other_F(instance, best):
    """F without 1/n."""
    found = _right_settled(instance, best)
    return replace(found, F=found.F * instance.n)


def _looser(self, step, log_norm, log_excess):
    """A cap at twice the number."""
    return np.minimum(self.rule.length(step, log_norm, log_excess), 2 * self.most * np.exp(log_norm))


_ATTENDED = [beyond("(A1′) missed: twice the ν", "fill", 2.0), larger(1.05)]
_five = formula("5 % more", lambda value, case: tuple(1.05 * v for v in value) if isinstance(value, tuple) else 1.05 * value)  # fmt: skip

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "ts-theorem-1": [measured("no progress", lambda value: value**0.1)],
    "ts-theorem-1/attended": _ATTENDED,
    "ts-theorem-a": [larger(1.05)],
    "ts-theorem-a/step": [larger(1.05)],
    "ts-theorem-a/step-of-three": [larger(1.05)],
    "ts-theorem-b": [measured("5 % in the exponent", lambda value: value**0.95)],
    "ts-theorem-b-log": [
        Mistake("a residual like √S", lambda check: replace(check, measure=lambda t, seed: check.measure(t, seed) * t**0.35)),
        Mistake("bounded", lambda check: replace(check, measure=lambda t, seed: check.measure(t, seed) / math.log(t / 2))),
    ],
    "ts-theorem-b/figure": [measured("1 % in the exponent", lambda value: value**0.99)],
    "ts-theorem-b-limit": [
        package("5 % too far", residual, "settled", _too_far),
        package("F without 1/n", residual, "settled", _other_F),
    ],
    "ts-theorem-b-strict": [_five],
    "ts-theorem-b-strict/run": [_five],
    "ts-theorem-b-momentum": [measured("a quarter less", lambda value: value**0.75)],
    "ts-theorem-b-momentum/long-steps": [measured("a tenth less", lambda value: value**0.9)],
    "ts-theorem-6": [measured("its fourth root", lambda value: value**0.25)],
    "ts-theorem-c": [package("F without 1/n", residual, "settled", _other_F), _five],
    "ts-theorem-c/flow": [_five],
    "ts-theorem-c/stored": [_five],
    "ts-theorem-c-example": [_five],
    "ts-theorem-c-example/plain": [_five],
    "ts-theorem-c-example/normalised": [
        package(
            "C and w₀ exchanged", rates, "two_token_correlation",
            lambda steps, eta, w0, C: _right_rate(steps, eta, C, abs(w0)),
        ),
        _five,
    ],
    "ts-theorem-7": [measured("no progress", lambda value: value**0.1)],
    "ts-theorem-7/attended": _ATTENDED,
    "ts-theorem-7-lengths": [larger(1.01)],
    "ts-theorem-7-lengths/above": [larger(1.01)],
    "ts-theorem-7-lengths/rate": [measured("1 % in the exponent", lambda value: value**0.99)],
    "ts-theorem-7-scale": [package("twice as steep", residual, "settled", _twice_as_steep), _five],
    "ts-theorem-7-caps": [package("a cap at twice the number", rules.CapMultiplier, "length", _looser), _five],
    "ts-theorem-5": [
        package(
            "the norm of W_mm squared", rates, "normalised_rate",
            lambda t, eta, rho, best_norm, Lambda, start: _right_bound(t, eta, rho, best_norm**2, Lambda, start),
        )
    ],
}  # fmt: skip
