"""Mistakes planted in the chapter *On data: what the residual buys*: what its checks must notice."""

from dataclasses import replace

from companion.experiments.residual import coefficient_sweep
from companion.mistakes import larger
from companion.theory.residual import pretrained
from shallowformer.residual import model
from shallowformer.verify.mistakes import Mistake, formula, package

_outputs, _posed = model.outputs, coefficient_sweep.posed
_step = pretrained.head_step


def _louder(X, theta, setting):
    """The coefficient on attention's part, not on the tokens."""
    return _outputs(X, theta._replace(W_V=1.05 * theta.W_V), setting)


def _other_tokens(config):
    X, Y, theta = _posed(config)
    return 1.05 * X, Y, theta


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    **{
        claim: [larger(1.05)]
        for claim in (
            "rt-remark-a-fixed",
            "rt-remark-a-fixed/without",
            "rt-remark-b-own",
            "rt-remark-b-own/below",
            "rt-remark-b-own/two",
            "rt-remark-b-own/without",
            "rt-remark-c-level",
            "rt-remark-c-level/without",
            "rt-remark-e-targets",
            "rt-remark-e-targets/fixed",
            "rt-remark-e-targets/level",
            "rt-remark-e-targets/order",
            "rt-remark-e-targets/noise",
            "rt-remark-f-weather",
            "rt-remark-f-weather/fixed",
            "rt-remark-f-weather/below",
            "rt-remark-f-weather/without",
            "rt-remark-f-weather/three",
        )
    },
    "rt-remark-d-rate": [
        Mistake(
            "a rate that grows like g to the 0.15",
            lambda check: replace(check, measure=lambda g, seed: g**0.15 * check.measure(g, seed)),
        )
    ],
    "rt-remark-d-rate/condition": [
        package("longer tokens", coefficient_sweep, "posed", _other_tokens),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "rt-proposition-e-part": [
        package("attention 5 % louder", model, "outputs", _louder),
        larger(1.05),
    ],
    "rt-proposition-d-head": [larger(1.05)],
    "rt-proposition-d-head/blocks": [
        package("features without the last norm", pretrained, "_norm", lambda h, weight, bias: h),
        package("five times the step", pretrained, "head_step", lambda F: 5 * _step(F)),
    ],
}
