"""Mistakes planted in the page *One layer, four theories: corners and paths*: what its checks must notice."""

from dataclasses import replace

import torch

from companion.theory.one_layer import bends, layer, residual, run
from shallowformer.kernel_regime.linear_run import theorem_f
from shallowformer.verify.mistakes import Mistake, formula, package

_right_attended = layer.attended
_right_outputs = layer.outputs
_right_read = run.outputs
_right_bounds = bends.bounds
_right_still = bends.still
_right_largest = bends.largest
_right_shared = bends._shared
_right_between = residual._between
_right_by_kernel = residual.by_kernel
_right_certify = theorem_f.certify


def _turned(X, q, W, skip=0.0):
    """Attention of the transposed matrix."""
    return _right_attended(X, q, W.mT, skip)


def _without_skip(X, q, W, skip=0.0):
    return _right_attended(X, q, W)


def _mean(X, q, point, switches):
    """A mean over units instead of 1/√m."""
    return len(point["U"]) ** -0.5 * _right_outputs(X, q, point, switches)


def _unmoved(problem, at, moved):
    """Bounds of the start for the whole set."""
    none = [torch.zeros_like(far) for far in (moved.C, moved.U, moved.W)]
    return _right_bounds(problem, at, bends.Moved(*none, 0.0))


def _bounds(**factors):
    """Bounds of which some are multiplied."""

    def wrong(problem, at, moved):
        found = _right_bounds(problem, at, moved)
        return replace(found, **{name: by * getattr(found, name) for name, by in factors.items()})

    return wrong


def _no_skewness(problem):
    found = _right_still(problem)
    return replace(found, skew=0 * found.skew, far=0 * found.far, across=0 * found.across)


def _never_bent(name, z, dz):
    value, slope, bend = _right_largest(name, z, dz)
    return value, slope, 0 * bend


def _balanced(*arguments):
    """Units in opposite pairs, whatever they are."""
    found = _right_shared(*arguments)
    return replace(found, V=0 * found.V)


def _known(**factors):
    """A certificate of which some numbers are multiplied."""

    def wrong(start, known, steps):
        return _right_between(
            start, replace(known, **{name: by * getattr(known, name) for name, by in factors.items()}), steps
        )

    return wrong


def _certificate(**factors):
    def wrong(problem, start):
        found = _right_by_kernel(problem, start)
        return found and replace(found, **{name: by * getattr(found, name) for name, by in factors.items()})

    return wrong


def _certified(label=1.0, step=1.0):
    """Theorem F asked about other labels, or about another step."""

    def wrong(X, y, phi0, eta, *rest, **named):
        return _right_certify(X, label * y, phi0, step * eta, *rest, **named)

    return wrong


TURNED = package("attention of the transposed matrix", layer, "attended", _turned)
MEAN = package("a mean over units", layer, "outputs", _mean)

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-proposition-i-corners": [TURNED, MEAN],
    "kr-proposition-i-corners/selection": [TURNED],
    "kr-proposition-i-corners/network": [
        TURNED,
        MEAN,
        package("no skip", layer, "attended", _without_skip),
    ],
    "kr-proposition-i-corners/regression": [TURNED, MEAN],
    "kr-proposition-i-multiplier": [
        formula("a step later", lambda value, case: torch.cat([value[1:], value[-1:]])),
        package("a multiplier one per cent larger", run, "outputs", lambda *all: 1.01 * _right_read(*all)),
    ],
    "kr-proposition-i-multiplier/certificate": [
        package("labels half a per cent larger", theorem_f, "certify", _certified(label=1.005)),
        package("a step one per cent longer", theorem_f, "certify", _certified(step=1.01)),
    ],
    "rt-lemma-y-bends": [
        package("a set that does not grow", bends, "bounds", _unmoved),
        package("no third cumulant", bends, "still", _no_skewness),
        package("an activation that does not bend", bends, "largest", _never_bent),
        package("a sum over units that cancels", bends, "_shared", _balanced),
    ],
    "rt-lemma-y-bends/blocks": [
        package("a set that does not grow", bends, "bounds", _unmoved),
        package("a sum over units that cancels", bends, "_shared", _balanced),
        *(package(f"{name} one per cent smaller", bends, "bounds", _bounds(**{name: 0.99})) for name in "CUW"),
    ],
    "rt-lemma-y-bends/hidden": [
        package("a hidden layer one per cent slower", bends, "bounds", _bounds(ell=0.99)),
    ],
    "rt-proposition-y-path": [
        package("a singular value one per cent larger", residual, "_between", _known(s=1.01)),
        package("a norm one per cent smaller", residual, "_between", _known(nu=0.99)),
    ],
    "rt-proposition-y-path/equality": [
        package("half of M", bends, "bounds", _bounds(M=0.5)),
        package("a singular value that does not fall", residual, "_between", _known(ell=0.0)),
        package("steps that do not bend", residual, "_between", _known(M=0.0)),
    ],
    "rt-proposition-y-path/path": [
        package("a singular value that does not fall", residual, "by_kernel", _certificate(ell=1e-9)),
        package("a singular value one per cent larger", residual, "by_kernel", _certificate(s=1.01)),
    ],
    "rt-proposition-y-path/blocks": [
        *(package(f"{name} one per cent smaller", bends, "bounds", _bounds(**{name: 0.99})) for name in "CUW"),
        package("a singular value one per cent larger", residual, "by_kernel", _certificate(s=1.01)),
    ],
    "rt-proposition-y-path/key": [
        Mistake("one per cent less", lambda check: check.scaled(0.99)),
        Mistake("c = 1 beyond 1/ν, too", lambda check: replace(check, rhs=lambda **point: (
            check.rhs(**point) * ((1 + point["log_nu"]) * (1 - point["log_nu"] - point["log_ratio"].exp())).sqrt()), lhs=check.lhs)),
    ],
}  # fmt: skip
