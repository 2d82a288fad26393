"""Mistakes planted in the chapter *A dispute*: what its checks must notice."""

import math
from dataclasses import replace

import torch

from companion.theory.kernel_regime import perceptron, perceptron_run
from shallowformer.verify.mistakes import SIGNS, Mistake, measured, package

_right_certificate, _right_missed, _right_train, _right_width = (
    perceptron_run.certificate,
    perceptron_run.missed,
    perceptron.train,
    perceptron_run.width_enough,
)


def _left(what, wrong):
    """The left side replaced by a function of it and of the point."""
    return Mistake(what, lambda check: replace(check, lhs=lambda **p: wrong(check.lhs(**p), p)))


def _right(what, wrong):
    """The right side replaced."""
    return Mistake(what, lambda check: replace(check, rhs=lambda **p: wrong(check.rhs(**p), p)))


def _moments(probability, power):
    """Σ⟨x, x′⟩² times a power of a probability of the angle."""

    def left(_, p):
        cosine = (p["X"] @ p["X"].mT).clamp(-1 + 1e-12, 1 - 1e-12)
        return (cosine.square() * probability(torch.acos(cosine)) ** power).sum((-1, -2))

    return left


def _alone(X, w, run, act, eta):
    """The certificate with nothing but what is known at the start."""
    sure = _right_certificate(X, w, run, act, eta)
    return replace(sure, E=sure.E * 0.1, alpha=sure.alpha * 0.9, beta=sure.beta * 0.1)


def _first_order(z, A, B, act):
    """No shared move of the partners."""
    return _right_missed(z, A, 0 * B, act)


def _longer(X, y, w, act, eta, steps):
    """Steps twice as long."""
    return _right_train(X, y, w, act, 2 * eta, steps)


_NEXT = Mistake("the other way", lambda check: replace(check, lhs=check.rhs, rhs=check.lhs))

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-proposition-e-cube": [
        package("no attention", perceptron, "attended", lambda X: X),
        package("attention twice", perceptron, "attended", lambda X: X @ (X.mT @ X) @ (X.mT @ X)),
    ],
    "kr-proposition-e-cube/normalised": [
        package("no attention", perceptron, "attended", lambda X: X),
    ],
    "kr-proposition-e-cube/angles": [
        _left("singular values in place of their squares", lambda left, p: left * ((p["stretch"].amax(-1) - p["stretch"].amin(-1)) / 2).exp()),
    ],
    "kr-proposition-g-spectral": [SIGNS[0]],
    "kr-proposition-g-spectral/forms": [
        _right("no kink between them", lambda right, p: (1 - p["eps"]) * (1 - (p["share"] * (1 - p["eps"]) / 4).cos())),
    ],
    "kr-proposition-g-spectral/enough": [
        package("without the inner product", perceptron, "limit_kernel", lambda X: perceptron.both_active(X)),
    ],
    "kr-proposition-g-spectral/smallest": [
        _left("a pair counts as one unit", lambda left, p: 2 * left),
    ],
    "kr-proposition-f-kernel": [
        package("a second moment for a variance", perceptron, "mean_square_error", lambda X, m: 2 / m * float(((X @ X.mT).square() * perceptron.both_active(X)).sum())),
        package("active on either input", perceptron, "both_active", lambda X: 1 - (math.pi - torch.acos((X @ X.mT).clamp(-1, 1))) / (2 * math.pi)),
    ],
    "kr-proposition-f-kernel/least": [
        _left("the probability of the same sign", _moments(lambda angle: (math.pi - angle) / math.pi, 2)),
    ],
    "kr-proposition-f-kernel/most": [
        Mistake("angles that may be obtuse", lambda check: replace(check, lhs=lambda **p: check.lhs(**p | {"theta": 1.2 * p["theta"]}), rhs=lambda **p: check.rhs(**p | {"theta": 1.2 * p["theta"]}))),
    ],
    "kr-proposition-h-width": [
        package("what slopes change is forgotten", perceptron_run, "width_enough", lambda S, epsilon, size=1.0, curvature=None, p=0.1: _right_width(S, epsilon, size, curvature, p) * (1 + S) ** 2 / (3 + S) ** 2),
    ],
    "kr-proposition-h-width/smooth": [package("steps twice as long", perceptron, "train", _longer)],
    "kr-proposition-h-width/relu": [package("steps twice as long", perceptron, "train", _longer)],
    "kr-proposition-h-width/unlearned": [
        Mistake("half the time", lambda check: replace(check, lhs=lambda **p: check.lhs(**p | {"s": p["s"] / 2}))),
    ],
    "kr-theorem-f-perceptron": [package("a tenth of what is allowed", perceptron_run, "certificate", _alone)],
    "kr-theorem-f-perceptron/first": [package("a tenth of what is allowed", perceptron_run, "certificate", _alone)],
    "kr-theorem-f-perceptron/alpha": [package("a tenth less than what is known", perceptron_run, "certificate", _alone)],
    "kr-theorem-f-perceptron/beta": [package("a tenth of what is allowed", perceptron_run, "certificate", _alone)],
    "kr-theorem-f-perceptron/relu": [package("partners that share no move", perceptron_run, "missed", _first_order)],
    "kr-theorem-f-perceptron/softplus-value": [package("partners that share no move", perceptron_run, "missed", _first_order)],
    "kr-theorem-f-perceptron/softplus-even": [package("partners that share no move", perceptron_run, "missed", _first_order)],
    "kr-theorem-f-perceptron/softplus-odd": [package("partners that share no move", perceptron_run, "missed", _first_order)],
    "kr-remark-a-digits": [_NEXT],
    "kr-remark-a-digits/error": [_left("errors that are squares", lambda left, p: left**2)],
    "kr-remark-a-digits/softplus": [measured("a root of it", lambda value: value**0.5)],
    "kr-remark-a-digits/softplus-plain": [measured("a root of it", lambda value: value**0.5)],
    "kr-remark-b-certificate": [_NEXT],
    "kr-remark-c-controls": [_NEXT],
}  # fmt: skip
