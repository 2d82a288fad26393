"""Mistakes planted in the chapter *Transportation mappings and the RKHS*: what its checks must notice."""

from collections.abc import Callable
from dataclasses import replace

import torch

from shallowformer import activations
from shallowformer.kernel_regime.kernel import mappings, transportation
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.verify.mistakes import Mistake, formula, package

_right_transported = transportation.transported
_right_features = mappings.features
_right_section = mappings.section
_right_pairing = transportation.pairing


def _without_activation(*case):
    feature = _right_features(*case)
    return replace(feature, c=torch.atanh(feature.c.clamp(-0.999, 0.999)))


def _one_sign(phi, v):
    """U and W move along v, whatever the sign of c."""
    right = _right_transported(phi, v)
    step = v(phi).map(lambda block: block / phi.m**0.5)
    return Parameters(right.c, phi.U + step.U, phi.W + step.W)


def _step_of_1_over_m(phi, v):
    right = _right_transported(phi, v)
    return Parameters(
        *(old + (new - old) / phi.m**0.5 for old, new in zip(phi.blocks, right.blocks, strict=True))
    )


def _without_attention(anchor, *more):
    right = _right_section(anchor, *more)
    return transportation.Mapping(lambda phi: Parameters(right(phi).c, right(phi).U, 0 * phi.W), right.nu)


def _without_feed_forward(feature, v):
    return _right_pairing(feature, Parameters(v.c, 0 * v.U, v.W))


_right_exchange = mappings.exchange
_right_even_part = transportation.even_part
_right_teacher = mappings.teacher


def _without_divergence(field):
    """⟨θ, w⟩ for δw."""
    right = _right_exchange(field)

    def values(phi):
        v = right(phi)
        readout = -(phi.U * v.U).sum(1) - (phi.W * v.W).flatten(1).sum(1)
        return Parameters(readout, v.U, v.W)

    return transportation.Mapping(values, right.nu)


def _summed_signs(v):
    """v(c) + v(−c), without the half."""
    even = _right_even_part(v)
    double = lambda phi: even.values(phi).map(lambda block: 2 * block)
    return transportation.Mapping(double, tuple(2 * norm for norm in v.nu))


def _logistic_teacher(anchors, nu, **options):
    return _right_teacher(anchors, nu, sigma=activations.LOGISTIC)


def _at_plus_one(v):
    return transportation.Mapping(lambda phi: v(Parameters(phi.c.abs(), phi.U, phi.W)), v.nu)


def _idle_replaced(by: Callable) -> Callable:
    return lambda check: replace(check, over=[{**case, "idle": case["idle"].map(by)} for case in check.over])


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-remark-9-heights": [package("readouts without their activation", mappings, "features", _without_activation)],
    "kr-remark-9/kernel": [package("a section without its attention block", mappings, "section", _without_attention)],
    "kr-remark-9": [package("g without its feed-forward term", transportation, "pairing", _without_feed_forward)],
    "kr-remark-9-transport": [
        package("U and W move without the sign of c", transportation, "transported", _one_sign),
        package("a step of 1/m", transportation, "transported", _step_of_1_over_m),
    ],
    "kr-remark-9-transport/distance": [package("a step of 1/m", transportation, "transported", _step_of_1_over_m)],
    "kr-remark-9-norm": [Mistake("nothing is added", _idle_replaced(torch.zeros_like))],
    "kr-remark-9-norm/same-function": [Mistake("something is added that is not idle", _idle_replaced(torch.ones_like))],
    "kr-remark-9-quotient": [formula("the norm of the mapping at hand", lambda value, case: value + sum(
        block.pow(2).flatten(1).sum(1) if block.ndim > 1 else block.pow(2) for block in case["idle"].blocks).mean())],
    "kr-remark-9-quotient/reproducing": [package("a section without its attention block", mappings, "section", _without_attention)],
    "kr-remark-9-gradient": [package("no divergence", mappings, "exchange", _without_divergence)],
    "kr-remark-9-gradient/turn": [Mistake("stretched, not turned", lambda check: replace(
        check, over=[{**case, "A": torch.eye(2, dtype=torch.float64)} for case in check.over]))],
    "kr-remark-9-quotient/pythagoras": [formula("an idle block forgotten", lambda value, case: value - case["idle"].c.pow(2).mean())],
    "kr-remark-9-even": [package("v at c = +1", transportation, "even_part", _at_plus_one)],
    "kr-remark-9-even/paired": [package("v itself", transportation, "even_part", lambda v: v)],
    "kr-remark-9-even/norm": [
        package("a sum for the mean", transportation, "even_part", _summed_signs),
    ],
    "kr-remark-9-teacher/odd": [package("an activation that is not odd", mappings, "teacher", _logistic_teacher)],
}  # fmt: skip
