"""Mistakes planted in the chapter *Beyond the theory*: what its checks must notice."""

import torch

from companion.theory.beyond import attention, deep, dense, single_layer
from shallowformer.training import autograd
from shallowformer.verify.mistakes import Mistake, formula, package

_right_at_queries = single_layer.at_queries
_right_turned = single_layer.turned
_right_slope = autograd.along
_right_pooled = attention.pooled
_right_lipschitz = attention.lipschitz
_right_stream = deep.stream
_right_gradient_bound = dense.gradient_bound

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-proposition-w": [
        formula("the readout's sign forgotten", lambda value, case: (-value[0], *value[1:])),
        formula("an even error", lambda value, case: (value[0], -value[1], *value[2:])),
        package("an output that does not see the readout's sign", single_layer, "at_queries", lambda X, phi, q: (
            _right_at_queries(X, phi, q) + 0.01 * phi["c"].square().mean())),
    ],
    "kr-proposition-w/third": [
        package("half of the tangent", autograd, "along", lambda *all: _right_slope(*all) / 2),
    ],
    "kr-proposition-w-padding": [
        package("attention with a sink", single_layer, "pooled", lambda X, W, q: _right_pooled(torch.cat([X, 0 * X[:, :1]], 1), W, q)),
        package("a second layer that counts its tokens", deep, "stream", lambda X, *more: _right_stream(X, *more) / X.shape[1]),
    ],
    "kr-proposition-w-attention": [
        package("a query that stays", attention, "lipschitz", lambda W, q, r: _right_lipschitz(W, q, r) - torch.linalg.matrix_norm(W, 2) / 5),
        package("moves that add up", attention, "lipschitz", lambda W, q, r: 1.1 * _right_lipschitz(W, q, r)),
        package("lengths that are not squared", attention, "lipschitz", lambda W, q, r: _right_lipschitz(W, q, r.sqrt())),
    ],
    **{
        f"kr-proposition-x{part}": [
            package("a width too many", dense, "gradient_bound", lambda phi: [part / len(phi["c"]) for part in _right_gradient_bound(phi)]),
        ]
        for part in ("", "/v", "/c")
    },
    "kr-proposition-y": [
        package("sequences that are not turned", single_layer, "turned", lambda X: X.repeat_interleave(X.shape[1], 0)),
        package("turned the wrong way", single_layer, "turned", lambda X: _right_turned(X.flip(1))),
        formula("no mask", lambda value, case: (single_layer.every_position(case["X"], dict(zip("cUW", case["phi"].blocks, strict=True))).flatten(), *value[1:])),
    ],
    "kr-proposition-z": [
        formula("all heads push", lambda value, case: (2**0.5 * value[0], value[1])),
        package("a stream over the root of all heads", deep, "stream", lambda X, *more: X + (_right_stream(X, *more) - X) / 2**0.5),
    ],
}  # fmt: skip
