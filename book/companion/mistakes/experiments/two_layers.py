"""Mistakes planted in the chapter *Two layers*: what its checks must notice."""

from dataclasses import replace

from companion.theory.beyond import bottleneck, heads, wide, wide_bounds
from shallowformer.training import self_bounding
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_slope = bottleneck.slope
_right_drop = bottleneck.drop
_right_square = bottleneck.square
_right_readings = wide.readings
_right_coherent = wide.coherent
_right_derivatives = heads.derivatives
_right_injective = heads.injective
_right_constants = wide_bounds.constants
_right_bound = self_bounding.bound

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-lemma-z-slope": [
        package("a deviation for a variance", bottleneck, "slope", lambda t: _right_slope(t**2)),
        package("a slope one per cent too steep", bottleneck, "slope", lambda t: 1.01 * _right_slope(t)),
    ],
}
