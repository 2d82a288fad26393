"""Mistakes planted in the chapter *The model*: what its checks must notice."""

from dataclasses import replace

import torch

from companion.theory.kernel_regime import equivalences
from shallowformer import softmax
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.verify.mistakes import Mistake, formula, package


def _head_mean_of_keys(X, W, q):
    """Attention that also attends to a zero token."""
    X = torch.cat([X, torch.zeros_like(X[:, :1])], 1)
    return softmax.weights(X, W, q) @ X


_right_merge = equivalences.merge
_right_blocks = equivalences.block_diagonal


def _merge_transposed(W_Q, W_K, W_V, u, c, beta):
    right = _right_merge(W_Q, W_K, W_V, u, c, beta)
    return Parameters(right.c, right.U, right.W.mT)


def _merge_without_beta(W_Q, W_K, W_V, u, c, beta):
    return _right_merge(W_Q, W_K, W_V, u, c, 2 * beta)


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-remark-1": [
        package("W transposed", equivalences, "merge", _merge_transposed),
        package("a wrong β", equivalences, "merge", _merge_without_beta),
    ],
    "kr-remark-1/converse": [package("W transposed", equivalences, "merge", _merge_transposed)],
    "kr-remark-1-narrow": [formula("W transposed", lambda value, case: value.mT)],
    "kr-remark-1-narrow/one-query": [package("a zero token joins", softmax, "pooled_attention", _head_mean_of_keys)],
    "kr-remark-1-narrow/wide": [
        Mistake("a narrow head with its pole there", lambda check: replace(check, formula=lambda narrow, q, b, **rest: check.formula(
            narrow=(*narrow[:2], narrow[2] / (narrow[2] @ q @ b)[:, None, None]), q=q, b=b, **rest))),
        Mistake("the wide head has its pole elsewhere", lambda check: replace(check, formula=lambda wide, **rest: check.formula(
            wide=(*wide[:2], 0.6 * wide[2]), **rest))),
    ],
    "kr-remark-1-scaling/variance": [formula("E z = β²k for every token", lambda value, case: (value[0], torch.full_like(value[1], case["beta"] ** 2 * case["k"])))],
    "kr-remark-2": [package("heads in the wrong order", equivalences, "block_diagonal", lambda U: _right_blocks(U).flip(0))],
    "kr-proposition-a": [package("a zero token joins", softmax, "pooled_attention", _head_mean_of_keys)],
}  # fmt: skip
