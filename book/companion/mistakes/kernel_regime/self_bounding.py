"""Mistakes planted in the chapter *Self-bounding: a better theorem*: what its checks must notice."""

from dataclasses import replace

import torch

from shallowformer.kernel_regime.bounds import blocks
from shallowformer.kernel_regime.convergence import comparators, unrolled
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.training import self_bounding
from shallowformer.verify.mistakes import Mistake, package

_right_forms = self_bounding.forms
_right_G1 = blocks.G1
_right_misfit = self_bounding.misfit
_right_ridge = comparators.ridge
_right_certificate = self_bounding.Trajectory.certificate


def _drift_without_misfit(self, form="gram"):
    return (-4 * self.eta * (1 - self.theta(form)) * self.losses[:-1])[:, None].expand_as(self.V[1:])


def _certificate_without_misfit(self, form="gram"):
    return _right_certificate(replace(self, epsilon=0 * self.epsilon), form)


def _lopsided_ridge(loss, phi0, lam):
    point = _right_ridge(loss, phi0, lam)
    shift = torch.zeros_like(point.c)
    shift[0] = 0.01
    return Parameters(point.c + shift, point.U, point.W)


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-theorem-a-gradient": [
        package("a quarter of the trace", unrolled.Path, "top", property(lambda self: self.trace / 4)),
    ],
    "kr-theorem-a-drift": [
        package("half of A²", self_bounding, "forms", lambda gram, r: {k: v / 2 for k, v in _right_forms(gram, r).items()}),
        package("the label forgotten", self_bounding, "misfit", lambda tangent, away: _right_misfit(replace(tangent, y=0 * tangent.y), away)),
    ],
    "kr-theorem-a-drift/projected": [
        package("half of the misfit", unrolled.Path, "epsilon", property(lambda self: self.misfit.square().mean(-1).sqrt() / 2)),
    ],
    "kr-theorem-a-drift/runs": [
        package("no misfit", self_bounding.Trajectory, "drift_bound", _drift_without_misfit),
    ],
    "kr-theorem-a": [
        package("θ without η A²", unrolled.Path, "top", property(lambda self: 0 * self.trace)),
    ],
    "kr-theorem-a/runs": [
        package("no misfit", self_bounding.Trajectory, "certificate", _certificate_without_misfit),
    ],
    "kr-theorem-a-ridge": [package("twice the penalty", comparators, "ridge", lambda loss, phi0, lam: _right_ridge(loss, phi0, 2 * lam))],
    "kr-theorem-a-ridge/paired": [package("readouts alone move by 0.01", comparators, "ridge", _lopsided_ridge)],
    "kr-theorem-a-ridge/nearest": [package("twice the penalty", comparators, "ridge", lambda loss, phi0, lam: _right_ridge(loss, phi0, 2 * lam))],
    "kr-theorem-a-initial": [
        package("no change of the outputs", blocks, "G1", lambda R, u, w: 0 * R),
        package("two radii exchanged", blocks, "G1", lambda R, u, w: _right_G1(R, w, u)),
    ],
    "kr-theorem-a-polyak": [
        package("θ without η A²", unrolled.Path, "top", property(lambda self: 0 * self.trace)),
    ],
    "kr-theorem-a-step/condition": [Mistake("half of θ, so that the condition holds", lambda check: replace(
        check, lhs=lambda theta, **point: check.lhs(theta=theta / 2, **point)))],
    "kr-theorem-a-average": [
        Mistake("a model that is taken for linear", lambda check: replace(check, rhs=lambda **point: check.rhs(**point, beta=0.0))),
    ],
    "kr-theorem-a-sgd": [
        package("the Gram form for the largest gradient", unrolled.Path, "largest", unrolled.Path.top),
    ],
    "kr-theorem-a-sgd/batch": [
        package("the Gram form for the largest gradient", unrolled.Path, "largest", unrolled.Path.top),
    ],
    "kr-theorem-a-sgd/drift": [
        package("the Gram form for the largest gradient", unrolled.Path, "largest", unrolled.Path.top),
        package("half of the misfit", unrolled.Path, "epsilon", property(lambda self: self.misfit.square().mean(-1).sqrt() / 2)),
    ],
}  # fmt: skip
