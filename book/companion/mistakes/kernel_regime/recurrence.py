"""Mistakes planted in the chapter *A recurrence, for contrast*: what its checks must notice."""

import math
from dataclasses import replace

import torch

from companion.theory.kernel_regime import cutoff
from shallowformer.kernel_regime.recurrent import backpropagation
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_gradient = backpropagation.per_sample_gradient
_right_states = cutoff.steep_states


def _last_step_only(X, phi, *rest):
    """Gradients in w without the past."""
    of_c, of_U, _ = _right_gradient(X, phi, *rest)
    return of_c, of_U, _right_gradient(X[:, -1:], phi, *rest)[2]


def _last_input_only(X, phi, *rest):
    """Gradients in U without the past."""
    of_c, _, of_w = _right_gradient(X, phi, *rest)
    return of_c, _right_gradient(X[:, -1:], phi, *rest)[1], of_w


def _bold_states(w, T, drive):
    """As large as the drive allows all the way."""
    states = _right_states(w, T, drive)
    return (
        torch.where(states == 0, states, torch.full_like(states, float(states[0]))) if abs(w) == 1 else states
    )


def _one_push(w, T, drive):
    """A push, then silence, whatever the weight."""
    states = torch.zeros(T, dtype=torch.float64)
    states[0] = _right_states(w, T, drive)[0]
    return states


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-proposition-2-gradient": [
        package("the last step only", backpropagation, "per_sample_gradient", _last_step_only),
        formula("1 % more in one block", lambda value, case: (value[0], value[1] * 1.01, value[2])),
    ],
    "kr-proposition-2": [
        package("the last step only", backpropagation, "per_sample_gradient", _last_input_only)
    ],
    "kr-proposition-2/weight": [package("a push, then silence", cutoff, "steep_states", _one_push)],
    "kr-proposition-2-below": [
        Mistake("1 % more", lambda check: replace(check, lhs=lambda **point: 1.01 * check.lhs(**point)))
    ],
    "kr-proposition-2-cutoff/inputs": [
        Mistake("1 % more", lambda check: replace(check, lhs=lambda **point: 1.01 * check.lhs(**point)))
    ],
    "kr-proposition-2-cutoff": [
        package("states too large", cutoff, "steep_states", _bold_states),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "kr-proposition-2-cutoff/growth": [
        package("a push, then silence", cutoff, "steep_states", _one_push),
        measured("a logarithm more", lambda value: value * math.log(value)),
    ],
    "kr-proposition-2-cutoff/below": [
        Mistake("5 % more", lambda check: replace(check, lhs=lambda **point: 1.05 * check.lhs(**point)))
    ],
    "kr-proposition-2-typical": [formula("5 % more", lambda value, case: 1.05 * value)],
}
