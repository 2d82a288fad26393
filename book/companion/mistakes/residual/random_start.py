"""Mistakes planted in the chapter *From a random start*: what its checks must notice."""

from dataclasses import replace

import torch

from companion.mistakes import larger
from companion.theory.residual import closed
from shallowformer.residual import gradients
from shallowformer.residual.random_start import certify, linear_run, slopes, start
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_slopes, _jacobian, _measure, _sums = (
    slopes.slopes,
    start.attention_jacobian,
    start.measure,
    linear_run.partial_sums,
)
_drift, _conditions, _backward, _certify = (
    slopes.jacobian_drift,
    closed.conditions,
    gradients.unchecked,
    certify.certify,
)


def _without_square(s, b, x, area):
    """c_Z without the square of j."""
    found = _slopes(s, b, x, area)
    return found and replace(found, grows=found.grows._replace(Z=found.grows.Z / found.j))


def _full_rate(s, b, x, area):
    """A rate that does not lose by the rest, and is 5 % too large."""
    found = _slopes(s, b, x, area)
    return found and replace(found, alpha=1.05 * found.alpha)


def _short_path(s, b, x, area):
    """Exact where the path's bound is 5 % too small."""
    found = _slopes(s, b, x, area)
    return found and replace(found, path=0.95 * found.path, r=0.95 * found.r)


def _without_network(s, b, x, area):
    """ω without what W_1 and W_U do to the error."""
    found = _slopes(s, b, x, area)
    return found and replace(found, grows=found.grows._replace(leak=found.n_B * found.grows.Z))


def _half_of(name):
    """A slope that is half as large."""

    def mistaken(s, b, x, area):
        found = _slopes(s, b, x, area)
        return found and replace(found, grows=found.grows._replace(**{name: getattr(found.grows, name) / 2}))

    return mistaken


def _of_values_only(X, theta, setting):
    """∂Z/∂W_V alone."""
    return _jacobian(X, theta, setting)[:, : X.shape[-1] ** 2]


def _other_order(left, sizes, W_U, E):
    """Components by rising eigenvalue."""
    parts = _sums(left, sizes, W_U, E).diff(dim=0, prepend=0 * E[None])
    return parts.flip(0).cumsum(0)


def _only_last_layer(X, Y, theta, setting):
    """Descent that trains W_2 and W_1 alone."""
    found = _backward(X, Y, theta, setting)
    kept = {name: 0 * getattr(found.gradients, name) for name in ("W_Q", "W_K", "W_V", "W_U")}
    return replace(found, gradients=found.gradients._replace(**kept))


def _measured_larger(*problem, **options):
    found = _measure(*problem, **options)
    return replace(found, sigma_A=1.01 * found.sigma_A)


def _one_more(k):
    """One entry of the table 2 % larger."""
    return lambda value, case: value * (1 + 0.02 * (torch.arange(len(value)) == k))


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "rt-lemma-w-path": [larger(1.001)],
    "rt-lemma-w-path/longer": [larger(0.95)],  # it checks that a claim fails, and here it would not
    "rt-lemma-w-move": [larger(1.05)],
    "rt-lemma-w-attention": [larger(1.05)],
    "rt-lemma-w-attention/sequences": [larger(1.05)],
    "rt-lemma-w-attention/code": [
        package("no half of the softmax", slopes, "jacobian_drift", lambda s, T: 2 * _drift(s, T)),
        formula("1 % more", lambda value, case: (1.01 * value[0], value[1])),
    ],
    "rt-theorem-w": [
        package("a rate 5 % too large", certify, "slopes", _full_rate),
        package("a path 5 % too short", certify, "slopes", _short_path),
        formula("5 % less", lambda value, case: tuple(0.95 * part for part in value)),
    ],
    "rt-theorem-w/first-step": [
        package("no square of j", slopes, "slopes", _without_square),
        package("values alone", start, "attention_jacobian", _of_values_only),
    ],
    "rt-theorem-w/last-slopes": [
        package("ω without W_1 and W_U", slopes, "slopes", _without_network),
        *(package(f"half of {name}", slopes, "slopes", _half_of(name)) for name in ("T", "one", "U", "leak")),
        package("1 % less read out", slopes, "slopes", lambda s, *rest: _slopes(replace(s, q_2=0.99 * s.q_2), *rest)),
    ],
    "rt-theorem-w/runs": [larger(1.05)],
    "rt-theorem-w/rate": [larger(1.05)],
    "rt-lemma-w-partial-sums": [package("by rising eigenvalue", linear_run, "partial_sums", _other_order)],
    "rt-lemma-w-deviation": [larger(1.01)],
    "rt-lemma-w-deviation/outputs": [larger(1.01)],
    "rt-lemma-w-deviation/run": [formula("1 % more", lambda value, case: 1.01 * value)],
    "rt-theorem-w-linear-run": [larger(1.05)],
    "rt-theorem-w-linear-run/standard": [larger(1.05)],
    "rt-theorem-w-linear-run/rate": [larger(1.05)],
    "rt-theorem-w-closed": [
        package("c_Z and the error back without the residual", slopes, "slopes", lambda s, *rest: _slopes(replace(s, g_f=0.0), *rest)),
        formula("2 % less", lambda value, case: tuple(0.98 * part for part in value)),
    ],
    "rt-theorem-w-closed/conditions": [
        package("X̂ without the 6.75", closed, "conditions", lambda s: _conditions(replace(s, e=6 * s.e / 6.75))),
    ],
    "rt-proposition-w-law": [
        Mistake("5 % more", lambda check: replace(check, fails=lambda *draws: 1.05 * check.fails(*draws)))
    ],
    "rt-proposition-w-law/two": [
        Mistake("2 % more", lambda check: replace(check, fails=lambda *draws: 1.02 * check.fails(*draws)))
    ],
    "rt-proposition-w-law/lambda": [measured("a fifth of a power more", lambda value: value**1.1)],
    "rt-proposition-w-law/tokens": [measured("a tenth of the power more", lambda value: value**1.1)],
    "rt-proposition-w-law/error": [measured("a fifth of a power more", lambda value: value**1.1)],
    "rt-remark-w-widths": [formula(f"2 % more in column {k}", _one_more(k)) for k in range(8)],
    "rt-remark-w-widths/again": [
        package("a singular value 1 % larger", start, "measure", _measured_larger),
        package("half the cells", certify, "certify", lambda s, cells=300, margin=1.5: _certify(s, 10, margin)),
    ],
    "rt-remark-w-widths/needed": [formula("one more", lambda value, case: tuple(part + 1 for part in value))],
    "rt-remark-w-drifts": [formula("2 % more", lambda value, case: 1.02 * value)],
    "rt-remark-w-drifts/ends": [formula("2 % more", lambda value, case: tuple(1.02 * part for part in value))],
    "rt-remark-w-standard": [measured("no fall", lambda value: value**0.7)],
    "rt-remark-w-standard/zero": [measured("a slower fall", lambda value: value**0.7)],
}  # fmt: skip
