"""Mistakes planted in the chapter *From the kernel regime to selection*: what its checks must notice."""

import math
from dataclasses import replace

import torch

from companion.experiments.token_selection import bridge, bridge_measures
from shallowformer.kernel_regime.model import gradients
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_gradient = gradients.per_sample_gradient
_right_start = bridge.start


def _unsigned(X, phi, *rest):
    """Gradients in U and W without the readout's sign."""
    of_c, of_U, of_W = _right_gradient(X, phi, *rest)
    return of_c, of_U, of_W * torch.sign(phi.c)[:, None, None]


def _looking_around(X, phi, *rest):
    """Gradients in U with uniform attention."""
    of_c, _, of_W = _right_gradient(X, phi, *rest)
    return of_c, _right_gradient(X, Parameters(phi.c, phi.U, 0 * phi.W), *rest)[1], of_W


def _scaled_decoder(config, m):
    """Only U is scaled."""
    phi = _right_start(config, m)
    return Parameters(phi.c, phi.U, 2 * phi.W)


def _bent(what, power):
    return Mistake(
        what, lambda check: replace(check, measure=lambda x, seed: check.measure(x, seed) * x**power)
    )


def _at_the_look(values, along, level):
    """Without a line between two looks."""
    return next((place for value, place in zip(values, along, strict=True) if value >= level), math.inf)


def _gain(own):
    """What attention gained, not as a share of what was missing."""
    return [value - own[0] for value in own]


_FITTED = [
    formula("5 % more", lambda value, case: 1.05 * value),
    package("no line between looks", bridge_measures, "crossing", _at_the_look),
]
_BOUNDARY = [measured("the power 3/2 of it", lambda value: value**1.5)]

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "ts-proposition-k": [
        package("the readout's sign is lost", gradients, "per_sample_gradient", _unsigned),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "ts-proposition-l": [
        package("uniform attention in the decoder's pull", gradients, "per_sample_gradient", _looking_around),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "ts-proposition-l/flow": [
        package("uniform attention in the decoder's pull", gradients, "per_sample_gradient", _looking_around),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "ts-remark-m": [*_FITTED, package("a gain, not a share of what lacks", bridge_measures, "gains", _gain)],
    "ts-remark-m/selects": [*_BOUNDARY, _bent("m^0.2 more", 0.2), _bent("m^0.2 less", -0.2)],
    "ts-remark-m/selects-small": [*_BOUNDARY, _bent("m^0.2 more", 0.2), _bent("m^0.2 less", -0.2)],
    "ts-remark-m/leaves": [_bent("m^0.2 more", 0.2), _bent("m^0.2 less", -0.2)],
    "ts-remark-m/leaves-small": [_bent("m^0.1 more", 0.1), _bent("m^0.1 less", -0.1)],
    "ts-remark-m/decoder": [_bent("m^0.1 more", 0.1), _bent("m^0.1 less", -0.1)],
    "ts-remark-m/fresh": _FITTED,
    "ts-remark-m/medians": [
        formula("5 % more", lambda value, case: tuple(1.05 * part for part in value)),
        package("attention itself for what it gained", bridge_measures, "gains", lambda own: list(own)),
    ],
    "ts-remark-m/slice": [
        package("another start", bridge, "start", _scaled_decoder),
        formula("5 % more", lambda value, case: (value[0], *(1.05 * part for part in value[1:]))),
    ],
    "ts-remark-n": [_bent("m^0.2 more", 0.2), _bent("m^0.2 less", -0.2)],
    "ts-remark-n/exponents": _FITTED,
    "ts-remark-n/medians": [
        formula("5 % more", lambda value, case: tuple(1.05 * part for part in value)),
        package("no line between looks", bridge_measures, "crossing", _at_the_look),
    ],
    "ts-remark-n/attention": [formula("5 % more", lambda value, case: 1.05 * value)],
}
