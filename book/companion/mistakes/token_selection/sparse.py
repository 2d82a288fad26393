"""Mistakes planted in the chapter *How attention becomes sparse*: what its checks must notice."""

from dataclasses import replace

import numpy as np
import torch

from companion.mistakes import larger
from shallowformer.token_selection import log_domain, rates, residual
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_settled = residual.settled
_right_of = log_domain.Weights.of.__func__


def _honest(check):
    """The weights in logarithms: they are not equal."""

    def excess(h):
        share = torch.softmax(-h - 2 * torch.nn.functional.softplus(-h), -1)
        return (share * (h - h.amin(-1, keepdim=True))).sum(-1)

    return replace(check, formula=excess)


def _by_subtraction(cls, h):
    """1 − φ as it stands."""
    found = _right_of(cls, h)
    with np.errstate(divide="ignore"):
        return replace(found, log_off=np.log(np.maximum(1 - np.exp(found.log_best), 1e-300)))


def _other_F(instance, best):
    found = _right_settled(instance, best)
    return replace(found, F=found.F * instance.n)


def _half_angle(norm, one_minus_corr, T, B, best_norm):
    """√(1 − corr) without the 2√2."""
    a = norm * (1 / best_norm - B**2 * one_minus_corr.sqrt())
    return -torch.nn.functional.softplus(a - np.log(T - 1))


_five = formula("5 % more", lambda value, case: tuple(1.05 * v for v in value) if isinstance(value, tuple) else 1.05 * value)  # fmt: skip

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "ts-lemma-1": [measured("a tenth less in the exponent", lambda value: value**0.9)],
    "ts-lemma-8": [larger(1.05)],
    "ts-lemma-8/package": [package("without 2√2", rates, "log_off", _half_angle), _five],
    "ts-lemma-8-sharp": [larger(1.01)],
    "ts-lemma-8-sharp/below": [larger(1.01)],
    "ts-lemma-8-sharp/exponent": [larger(1.01), larger(0.95)],
    "ts-lemma-8/exponent": [larger(1.01), larger(0.95)],
    "ts-lemma-8-floats/norm": [_five],
    "ts-lemma-1-rates": [_five],
    "ts-lemma-1-rates/plain": [package("F without 1/n", residual, "settled", _other_F), _five],
    "ts-lemma-1-rates/speed": [larger(1.01)],
    "ts-lemma-1-loss": [
        package(
            "eˣ − 1 as it stands",
            log_domain,
            "log_expm1",
            lambda log_x: np.log(np.maximum(np.exp(np.exp(log_x)) - 1, 1e-300)),
        ),
        formula("1 % more", lambda value, case: value + 0.01),
    ],
    "ts-lemma-1-loss/stored": [_five],
    "ts-lemma-8-floats": [_five],
    "ts-lemma-8-floats/direction": [formula("1 % along another axis", lambda value, case: value + 0.01)],
    "ts-lemma-8-logs": [
        package("1 − φ by subtraction", log_domain.Weights, "of", classmethod(_by_subtraction)),
        formula(
            "1e-12 more in one part",
            lambda value, case: (value[0] + 1e-12 * (1 + value[0].abs()), *value[1:]),
        ),
    ],
    "ts-lemma-8-logs/run": [formula("1e-9 more", lambda value, case: value * (1 + 1e-9))],
    "ts-lemma-8-trap": [Mistake("in logarithms", _honest)],
    "ts-lemma-8-trap/exact": [larger(1.01)],
}
