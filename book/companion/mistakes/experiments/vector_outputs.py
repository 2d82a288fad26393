"""Mistakes planted in the chapter *Whole series at once*: what its checks must notice."""

from dataclasses import replace

import torch

from companion.theory.beyond import (
    vector_certificate,
    vector_known,
    vector_outputs,
    vector_targets,
)
from shallowformer.kernel_regime.linear_run.theorem_f import Moves
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_features = vector_outputs._features
_right_kernel = vector_outputs.kernel
_right_spread = vector_outputs.spread
_right_bound = vector_outputs.linearisation_bound
_right_gram = vector_known.gram
_right_added = vector_certificate.added
_right_allowances = vector_certificate.allowances
_right_slopes = vector_certificate.slopes
_right_told = vector_certificate.told
_right_transported = vector_targets.transported
_right_uniform = vector_targets.uniform_bound


def _uncentred(X, q, phi):
    """Attention's part without what averages out."""
    h, u, w = _right_features(X, q, phi)
    return h, u, w + (u * phi["U"]).sum(-1, keepdim=True) * u


def _all_outputs(X, phi, reading):
    """Readouts that serve all outputs."""
    alone, shared = _right_kernel(X, phi, reading)
    return alone, shared + alone[:, None, :, None]


def _diagonal(X, phi, reading):
    """Outputs that are not coupled."""
    alone, shared = _right_kernel(X, phi, reading)
    eye = torch.eye(shared.shape[1], dtype=shared.dtype)
    return alone, shared * eye[None, :, None]


def _equal_signs(X, phi, reading):
    """Readouts that are all alike."""
    return _right_kernel(X, {**phi, "c": phi["c"].abs()}, reading)


def _nothing(facts, s, moves, *rest):
    """The path alone: what a wrong residual does to the pairs is forgotten."""
    return Moves(*(torch.zeros_like(moves.alpha) for _ in vector_certificate.NAMES))


def _stay_opposite(facts, s, moves, *rest):
    """An error of readouts that is forgotten."""
    found = _right_allowances(facts, s, moves, *rest)
    return replace(found, chi=torch.zeros_like(found.chi), gamma=torch.zeros_like(found.gamma))


_NOTHING = package("errors that do not feed back", vector_certificate, "allowances", _nothing)
_NO_REMAINDER = package("nothing missed by the tangent", vector_certificate, "remainder", lambda *facts: 0.0)

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-proposition-y-vector": [
        package("tokens that are not centred", vector_outputs, "_features", _uncentred),
        package("readouts that serve all outputs", vector_outputs, "kernel", _all_outputs),
        package("outputs that are not coupled", vector_outputs, "kernel", _diagonal),
    ],
    "kr-proposition-y-vector/signs": [
        package("outputs that are not coupled", vector_outputs, "kernel", _diagonal),
        package("readouts of one sign", vector_outputs, "kernel", _equal_signs),
    ],
    "kr-theorem-a-vector": [
        package("a mean in the place of the spectral norm", vector_outputs, "spread", lambda c: c.square().mean().sqrt()),
    ],
    "kr-theorem-a-vector/drift": [
        package("outputs that are not coupled", vector_outputs, "kernel", _diagonal),
    ],
    "kr-theorem-a-vector/signs": [
        formula("a diagonal that varies", lambda value, case: value + 2 * case["k"] / case["pairs"]),
    ],
    "kr-lemma-3-vector": [
        package("readouts that do not move", vector_outputs, "linearisation_bound", lambda phi0, rho: _right_bound(phi0, (0.5 * rho[0], *rho[1:]))),
    ],
    "kr-lemma-3-vector/curvature": [
        package("attention that does not move", vector_outputs, "linearisation_bound", lambda phi0, rho: _right_bound(phi0, (*rho[:2], 0.0))),
    ],
    "kr-lemma-5-vector": [
        package("the own instruction counted", vector_targets, "cross_talk", lambda x: x.square().sum() * torch.ones_like(x[0]) / len(x) ** 2),
        package("instructions that forget the readouts", vector_targets, "transported", lambda phi0, *v: (
            _right_transported({**phi0, "c": phi0["c"].abs()}, *v))),
    ],
    "kr-lemma-5-vector/maximum": [
        package("one output", vector_targets, "uniform_bound", lambda S, m, count, delta: _right_uniform(S, m, 1, delta)),
    ],
    "kr-theorem-f-vector/identity": [
        package("outputs that are not coupled", vector_known, "gram", lambda gradients, h, c: (
            _right_gram(gradients, h, c) * torch.eye(c.shape[1], dtype=h.dtype).repeat(len(h), len(h)))),
    ],
    "kr-theorem-f-vector/pairs": [
        formula("outputs in the wrong order", lambda value, case: value.flip(-1)),
    ],
    "kr-theorem-f-vector/one": [
        package("readouts that stay opposite", vector_certificate, "slopes", lambda facts, moves, e, rho, q: (
            _right_slopes(facts, replace(moves, chi=0 * moves.chi), e, rho, q))),
        package("an error that is not heard", vector_certificate, "told", lambda heard, length, distance: heard),
    ],
    "kr-theorem-f-vector/heard": [
        package("an error that is heard as by one output", vector_certificate, "told", lambda heard, length, distance: heard + distance),
        package("an error that is not heard", vector_certificate, "told", lambda heard, length, distance: heard),
    ],
    "kr-theorem-f-vector/added": [
        package("errors that do not add up", vector_certificate, "added", lambda length, spread, o: _right_added(length, 0.5 * spread, o)),
    ],
    "kr-theorem-f-vector": [_NO_REMAINDER],
    "kr-theorem-f-vector/readouts": [_NO_REMAINDER],
    "kr-theorem-f-vector/alpha": [_NOTHING],
    "kr-theorem-f-vector/beta": [_NOTHING],
    "kr-theorem-f-vector/gamma": [_NOTHING],
    "kr-theorem-f-vector/chi": [package("an error of readouts that is forgotten", vector_certificate, "allowances", _stay_opposite)],
    "kr-remark-y-vector": [measured("a root too many", lambda value: value**0.5)],
}  # fmt: skip
