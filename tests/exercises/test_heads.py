"""One head, written out, is that of the model."""

import torch

from checks import assert_agrees
from shallowformer.exercises import heads
from shallowformer.kernel_regime.model import gradients, parameters, transformer


def test_a_head_is_that_of_the_model():
    X, _, U = (tensor[0] for tensor in heads.at_start(1, 5, 3, 0))
    W = torch.randn(3, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    one = heads.head(X, X[-1], U, W)
    phi = parameters.Parameters(torch.ones(1, dtype=X.dtype), U[None], W[None])
    assert_agrees(one.h, transformer.f(X[None], phi)[0])
    feature = gradients.features(X[None], phi)
    assert_agrees(one.slope * one.a, feature.u[0, 0])
    assert_agrees(one.slope * torch.outer(one.MU, X[-1]), feature.w[0, 0])


def test_heads_at_the_start_are_repeatable_and_attend_fully():
    first, again = (heads.at_start(7, 5, 3, seed=4) for _ in range(2))
    assert all(a.equal(b) for a, b in zip(first, again, strict=True))
    X, alpha, U = first
    assert (X.shape, alpha.shape, U.shape) == ((7, 5, 3), (7, 5), (7, 3))
    assert_agrees(X.norm(dim=-1), torch.ones(7, 5))
    assert_agrees(alpha.sum(-1), torch.ones(7))
