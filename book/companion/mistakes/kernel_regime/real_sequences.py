"""Mistakes planted in the chapter *On real sequences*: what its checks must notice."""

from companion.mistakes import larger
from shallowformer import softmax
from shallowformer.kernel_regime.linear_run import theorem_f
from shallowformer.verify.mistakes import Mistake, measured, package

_right_covariance = softmax.covariance
_right_distance = theorem_f._Recursion.distance


def _remainder_alone(recursion, s, moves, e):
    """E without what earlier errors have left."""
    _found, slopes = _right_distance(recursion, s, moves, e)
    return recursion.remainders[-1], slopes


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    **{
        claim: [larger(1.05)]
        for claim in (
            "kr-remark-r-held",
            "kr-remark-r-held/paper",
            "kr-remark-s-band/paper",
            "kr-remark-s-band/paper-weather",
            "kr-remark-s-band/paper-drawn",
            "kr-remark-u-length/left",
            "kr-remark-s-band",
            "kr-remark-s-band/weather",
            "kr-remark-s-band/256",
            "kr-remark-s-band/1024",
            "kr-remark-s-band/drawn",
            "kr-remark-y-unit",
            "kr-remark-y-unit/weather",
            "kr-remark-y-unit/1024",
            "kr-remark-y-unit/longer",
            "kr-remark-u-length",
            "kr-remark-u-length/distance",
            "kr-remark-u-length/band",
            "kr-remark-v-labels",
            "kr-remark-v-labels/drawn",
        )
    },
    "kr-proposition-d": [
        package(
            "half of the covariance",
            softmax,
            "covariance",
            lambda X, weights: 0.5 * _right_covariance(X, weights),
        ),
    ],
    "kr-remark-r-held/live": [
        package(
            "what earlier errors have left is forgotten", theorem_f._Recursion, "distance", _remainder_alone
        ),
    ],
    "kr-remark-t-rate": [measured("the root of it", lambda value: value**0.5)],
}
