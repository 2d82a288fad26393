"""Mistakes planted in the chapter *On data: what the residual buys*: what its checks must notice."""

from dataclasses import replace

from companion.experiments.residual import coefficient_sweep
from companion.mistakes import larger
from companion.theory.residual import pretrained
from shallowformer.real import transformer
from shallowformer.residual import model
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_outputs, _posed = model.outputs, coefficient_sweep.posed
_step, _rescaled, _pooled = pretrained.head_step, pretrained.rescaled, pretrained.pooled
_attention = transformer.attention


def _louder(X, theta, setting):
    """The coefficient on attention's part, not on the tokens."""
    return _outputs(X, theta._replace(W_V=1.05 * theta.W_V), setting)


def _other_tokens(config):
    X, Y, theta = _posed(config)
    return 1.05 * X, Y, theta


def _louder_to_itself(model, block, h, seen):
    """A skip around attention."""
    return _attention(model, block, h, seen) + 0.01 * h


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
        package("five times the step", pretrained, "head_step", lambda F: 5 * _step(F)),
        package("states of the first token", pretrained, "pooled", lambda h, mask: h[:, 0] ** 2),
    ],
    "rt-lemma-g-norm": [
        package("what is added multiplied", pretrained, "rescaled", lambda model, g: _rescaled(model, 1 / g)),
        package("the norm in front", transformer, "layer_norm", lambda model, h, norm: h * norm[0] + norm[1]),
    ],
    **{
        claim: [larger(1.15)]
        for claim in (
            "rt-remark-k-cut",
            "rt-remark-k-cut/with",
            "rt-remark-k-cut/embeddings",
            "rt-remark-k-cut/sixth",
            "rt-remark-k-cut/larger",
            "rt-remark-l-tokens",
            "rt-remark-l-tokens/powers",
            "rt-remark-l-tokens/kept",
            "rt-remark-n-shuffled",
            "rt-remark-n-shuffled/mean",
            "rt-remark-m-rank",
            "rt-remark-m-rank/loose",
            "rt-remark-m-rank/condition",
        )
    },
    "rt-lemma-h-cube": [
        measured("differences that are passed on", lambda size: size ** (1 / 3)),
        package("a head that sees itself", transformer, "attention", _louder_to_itself),
    ],
    "rt-lemma-h-cube/factor": [formula("5 % more", lambda value, case: 1.05 * value)],
    "rt-remark-l-tokens/live": [
        package("not less the mean", pretrained, "pooled", lambda h, mask: _pooled(h, mask) / 2),
        package("the norm in front", transformer, "layer_norm", lambda model, h, norm: h * norm[0] + norm[1]),
    ],
}
