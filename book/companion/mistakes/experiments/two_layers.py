"""Mistakes planted in the chapter *Two layers*: what its checks must notice."""

import math
from dataclasses import replace

from companion.theory.beyond import bottleneck, heads, limit_kernel, one_token, wide, wide_bounds
from shallowformer.training import self_bounding
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_slope = bottleneck.slope
_right_drop = bottleneck.drop
_right_readings = wide.readings
_right_stream = wide.stream
_right_coherent = wide.coherent
_right_derivatives = heads.derivatives
_right_injective = heads.injective
_right_constants = wide_bounds.constants
_right_expected = wide_bounds.expected
_right_gradient = wide_bounds.gradient
_right_bound = self_bounding.bound
_right_backward = limit_kernel.backward
_right_sampled = limit_kernel.sampled
_right_floor = one_token.floor
_right_moved = one_token.moved


def _smaller(factor: float, *names: str):
    """Constants of which some are smaller by a factor."""

    def wrong(*all_of_them):
        found = _right_constants(*all_of_them)
        parts = {name: getattr(found, name) for name in names}
        scaled = {
            k: tuple(x / factor for x in v) if isinstance(v, tuple) else v / factor for k, v in parts.items()
        }
        return replace(found, **scaled)

    return wrong


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-lemma-z-slope": [
        package("a deviation for a variance", bottleneck, "slope", lambda t: _right_slope(t**2)),
        package("a slope one per cent too steep", bottleneck, "slope", lambda t: 1.01 * _right_slope(t)),
    ],
    "kr-lemma-z-slope/floor": [
        package("a difference half as large again", bottleneck, "drop", lambda t, s: 1.5 * _right_drop(t, s)),
        Mistake("half of the square", lambda check: check.scaled(0.5)),
    ],
    "kr-theorem-z-bottleneck/jensen": [
        package("a difference that rises", bottleneck, "drop", lambda t, s: t.sqrt() * _right_drop(t, s)),
        package("a difference that is concave", bottleneck, "drop", lambda t, s: 4.0 - 0.01 * t.sqrt() - t**2 / 100),
    ],
    "kr-theorem-z-bottleneck": [
        formula("all heads push", lambda value, case: 2 * value),
        package("a stream that is not divided by its width", wide, "stream", lambda X, B, U, W: (
            _right_stream(X, B, U, W) + _right_readings(X, U, W) @ B / 100)),
    ],
    "kr-theorem-z-bottleneck/width": [
        Mistake("an error that falls like m^(-1/8)", lambda check: replace(
            check, measure=lambda m, seed: check.measure(m, seed) * m**-0.125)),
    ],
    "kr-theorem-z-bottleneck/floor": [
        package("a slope for a difference of slopes", bottleneck, "drop", lambda t, s: _right_slope(t)),
    ],
    "kr-lemma-z-heads": [
        Mistake("half of K", lambda check: check.scaled(0.5)),
    ],
    "kr-lemma-z-heads/second": [
        formula("one covariance of the speeds", lambda value, case: (value[0], value[1] * 0.9)),
        package("no third cumulant", heads, "derivatives", lambda y, dy, ddy, ell, dell, ddell: (
            _right_derivatives(y, dy, ddy, ell, dell, ddell)[0],
            _right_derivatives(y, dy, ddy, ell, 0 * dell, ddell + 0 * dell)[1])),
    ],
    "kr-lemma-z-heads/injective": [
        package("entries of variance two", heads, "injective", lambda *all: 2**0.5 * _right_injective(*all)),
    ],
    "kr-theorem-z-wide": [
        package("a bound without attention", wide_bounds, "constants", _smaller(1e3, "lam")),
        package("a bound on outputs that is too good", wide_bounds, "constants", _smaller(1e6, "M", "Z")),
    ],
    "kr-theorem-z-wide/met": [
        package("speeds one per cent too small", wide_bounds, "constants", _smaller(1.01, "tau")),
        package("logits one per cent too slow", wide_bounds, "constants", _smaller(1.01, "lam")),
        package("preactivations one per cent too slow", wide_bounds, "constants", _smaller(1.01, "Y")),
    ],
    **{
        f"kr-theorem-z-wide/{part}": [measured("a factor that grows", lambda value: value**0.3)]
        for part in ("rate", "narrower", "wider")
    },
    "kr-theorem-z-wide/logarithm": [
        package("the longest read-in for a mean of them", wide_bounds, "expected", lambda m, *rest: replace(
            _right_expected(m, *rest), first=(2 * math.log(m / 2)) ** 0.5 + 5)),
    ],
    "kr-theorem-a-layers": [
        package("a bound that is half as large", self_bounding, "bound", lambda *all: _right_bound(*all) / 6),
    ],
    "kr-theorem-a-layers/gradient": [
        package("a sum of squares for a mean", wide_bounds, "gradient", lambda *all: _right_gradient(*all) / 20),
    ],
    **{
        f"kr-remark-z-widths{part}": [measured("squares", lambda value, power=power: value**power)]
        for part, power in (("", 4), ("/wide", 0.3), ("/root", 3), ("/random", 1.3), ("/random-wide", 0.6), ("/trained", 3), ("/trained-wide", 0.3))
    },
    "kr-theorem-z-kernel/blocks": [
        package("a gradient at the stream one per cent too long", limit_kernel, "backward", lambda *all: 1.01 * _right_backward(*all)),
        package("no keys in the gradient at the stream", limit_kernel, "backward", lambda y, ell, c, U, right, left: (
            _right_backward(y, ell, c, U, 0 * right, left))),
    ],
    "kr-theorem-z-kernel/heads": [
        measured("a limit that is off by a hundredth", lambda value: (value**2 + 1e-4) ** 0.5),
    ],
    "kr-theorem-z-kernel": [
        measured("a limit that is off by a twentieth", lambda value: (value**2 + 0.0025) ** 0.5),
    ],
    "kr-proposition-z-random": [
        package("a stream of 16", limit_kernel, "sampled", lambda X, k, N, generator: _right_sampled(X, k, 2 * N, generator)),
        package("a stream that narrows nothing", limit_kernel, "sampled", lambda X, k, N, generator: _right_sampled(X, k, k, generator)),
    ],
    "kr-proposition-z-random/floor": [
        package("N for N − 1", one_token, "floor", lambda N: _right_floor(N) * N / (N - 1)),
    ],
    **{
        f"kr-remark-z-limit{part}": [measured("another power", lambda value, power=power: value**power)]
        for part, power in (("", 0.5), ("/root", 0.3), ("/fixed", 4), ("/run", 2), ("/run-own", 0.3), ("/run-fixed", 4), ("/not-faster", 1.6))
    },
    **{
        f"kr-remark-z-limit/{name}-{power}": [measured("another power", lambda value, n=9 if power == 2 else 2: value**n)]
        for name in ("features", "travel", "gap", "turn") for power in range(3)
    },
    "kr-proposition-z-scale": [
        package("readouts of one sign", limit_kernel, "backward", lambda y, ell, c, *rest: _right_backward(y, ell, c.abs(), *rest)),
        formula("no root of two", lambda value, case: value / 2**0.5),
    ],
    "kr-proposition-z-scale/step": [
        formula("a step for a loss of half the square", lambda value, case: value / 2),
    ],
    "kr-proposition-z-scale/lazy": [
        measured("a factor that grows", lambda value: value**0.5),
    ],
    "kr-proposition-z-scale/features": [
        package("a function that is linear", one_token, "moved", lambda u, t: _right_moved(u / 100, t) * 100),
    ],
}  # fmt: skip
