"""Mistakes planted in the chapter *On real tables*: what its checks must notice."""

from companion.experiments.preconditioned import real_rows
from companion.mistakes import larger
from companion.theory.preconditioned import rows
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_floor, _right_constant, _right_drawn = rows.floor, rows.constant, real_rows.drawn

_more = formula("5 % more", lambda value, case: 1.05 * value)


def _at_larger_radius(layer, h):
    return _right_floor(rows.Layer(layer.s, 1.05 * layer.b), h)


def _smaller(d, generator):
    return 0.2 * _right_drawn(d, generator)


def _less_ridge(X, Y):
    return real_rows.least_squares.fit(X, Y), 0.0


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "pa-proposition-z": [package("a larger radius", rows, "floor", _at_larger_radius), _more],
    "pa-remark-z-limit": [larger(1.05)],
    "pa-remark-z-limit/own": [larger(1.05)],
    "pa-remark-z-limit/gaussian": [measured("its square", lambda value: value**2)],
    "pa-remark-z-limit/again": [
        package("a larger radius", rows, "floor", _at_larger_radius),
        package("half the noise", rows, "constant", lambda layer, h: _right_constant(layer, h) / 2),
    ],
    **{
        claim: [larger(1.05)]
        for claim in (
            "pa-remark-z-noise",
            "pa-remark-z-noise/light",
            "pa-remark-z-noise/own",
            "pa-remark-z-held",
            "pa-remark-z-held/mean",
            "pa-remark-z-held/behind",
            "pa-remark-z-held/begin",
            "pa-remark-z-held/other",
            "pa-remark-z-held/rows",
            "pa-remark-z-held/untrained",
            "pa-remark-z-race/tails",
        )
    },
    "pa-remark-z-held/line": [_more],
    "pa-remark-z-held/again": [package("a smaller weight", real_rows, "ridge", _less_ridge), _more],
    "pa-remark-z-race": [_more],
    "pa-remark-z-race/adam": [larger(1.3)],
    "pa-remark-z-race/again": [package("smaller labels", real_rows, "drawn", _smaller)],
}
