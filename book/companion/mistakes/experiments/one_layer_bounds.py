"""Mistakes planted in the page *One layer: two proved bounds*: what its checks must notice."""

from dataclasses import replace

import numpy as np
import torch

from companion.theory.one_layer import direction, preconditioned, selected, sides
from shallowformer.verify.mistakes import Mistake, formula, package

_right_barriers = sides.barriers
_right_pull = sides.pull
_right_minorant = sides.minorant
_right_at = sides.Curvature.at
_right_slope = sides.slope
_right_excess = direction.excess
_right_bias = direction.bias
_right_fallen = preconditioned.fallen
_right_step = preconditioned.Tube.step


def _no_one_is_lost(here, level):
    return selected.sigmoid(np.maximum(here.g0, level))


def _lenient(here, level):
    """Barriers as if what a sample's own tokens do for it were a quarter more; steps as long as they are."""
    wrong, G = replace(here), here.G.copy()
    for i in range(len(G)):
        G[i, :, i] *= 1.25
    vars(wrong).update(G=G, together=here.together)
    return _right_barriers(wrong, level)


def _too_high(here, z, touch):
    """A minorant that is five per cent too high."""
    value, slopes = _right_minorant(here, z, touch)
    return 1.05 * value, slopes


def _straight(rule):
    """A loss that does not curve."""

    def after(here, bend, x, slope):
        return x - here.eta * (slope if rule == "normalised" else slope**2)

    return after


def _half(moments):
    return lambda g, top: [each / 2 for each in moments(g, top)]


def _without_noise(reach, omega, b, off):
    return _right_bias(reach, 0.0, b, off._replace(h_omega=0.0))


def _no_growth(tube, delta):
    before = tube.r
    _right_step(tube, delta)
    tube.r = before + tube.eta * delta


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "ts-lemma-h-barrier": [
        package("no sample can be lost", sides, "barriers", _no_one_is_lost),
        package("a sample's own pull a quarter more", sides, "barriers", _lenient),
    ],
    "ts-lemma-h-pull": [
        package("weights that do not saturate", sides, "pull", lambda here, x, P: x),
        package("a slope a tenth too steep", sides, "pull", lambda *all: 1.1 * _right_pull(*all)),
    ],
    "ts-lemma-h-bend": [
        package("nine tenths of the bend", sides.Curvature, "at", lambda bend, x: 0.9 * _right_at(bend, x)),
    ],
    "ts-lemma-h-step": [
        package("a plain step of a loss that does not curve", sides, "after_plain", _straight("plain")),
        package("a normalised one", sides, "after_normalised", _straight("normalised")),
    ],
    "ts-proposition-h-sides": [
        package("a slope a tenth too steep", sides, "pull", lambda *all: 1.1 * _right_pull(*all)),
        package("plain steps in proportion to the gradient's root", sides, "after_plain", _straight("plain")),
    ],
    "ts-proposition-h-sides/below": [
        package("half of the path", sides, "slope", lambda *all: 0.5 * _right_slope(*all)),
        package("a minorant that is none", sides, "minorant", _too_high),
    ],
    **{
        f"pa-lemma-q-softmax{part}": [
            package("half of the moments", direction, "excess", _half(_right_excess)),
        ]
        for part in ("", "/along", "/h-g", "/h-e", "/h-omega")
    },
    "pa-lemma-q-bias": [
        package("noise that does not count", direction, "bias", _without_noise),
        package("half of the moments", direction, "excess", _half(_right_excess)),
    ],
    "pa-lemma-q-tube": [
        package("errors that do not grow", preconditioned.Tube, "step", _no_growth),
    ],
    "pa-proposition-q-run": [
        package("a direction without bias", preconditioned, "bias", lambda *all: (0.0, _right_bias(*all)[1])),
        package("f that falls twice as fast", preconditioned, "fallen", lambda level, *rest: (
            level - 2 * (level - _right_fallen(level, *rest)))),
    ],
    "pa-proposition-q-run/below": [
        package("a direction without bias", preconditioned, "bias", lambda *all: (0.0, 0.0)),
    ],
    "pa-corollary-q-centring": [
        package("weights that see where all tokens are", torch, "softmax", lambda x, dim: x.sigmoid() / x.sigmoid().sum(dim, keepdim=True)),
        formula("half of the gain", lambda value, case: value + 0.5 / case["n"]),
    ],
}  # fmt: skip
