"""Second moments of the series, and what is refused."""

import pytest
import torch

from checks import refused
from shallowformer.residual import autoregressive


def draws(P=40_000, N=3, d=2, memory=0.6, seed=0):
    return autoregressive.tokens(P, N, d, torch.Generator().manual_seed(seed), memory)


def test_neighbours_are_correlated_as_they_should_be():
    X = draws()
    generator = torch.Generator().manual_seed(0)
    W = torch.randn(2, 2, generator=generator, dtype=torch.float64) / 2**0.5
    moments = torch.einsum("pia,pjb->ijab", X, X) / len(X)
    for i in range(3):
        for j in range(3):
            expected = 0.6 ** abs(i - j) * W @ W.T
            assert torch.allclose(moments[i, j], expected, atol=0.05 * float((W @ W.T).trace()))


def test_no_memory_leaves_independent_tokens_and_the_series_is_drawn_from_the_generator():
    X = draws(memory=0.0)
    assert float(torch.einsum("pa,pa->p", X[:, 0], X[:, 1]).mean().abs()) < 0.05
    assert torch.equal(draws(P=3), draws(P=3))
    assert not torch.equal(draws(P=3), draws(P=3, seed=1))
    assert draws(P=1, N=1, d=1).shape == (1, 1, 1)


@pytest.mark.parametrize("memory", [1.0, -0.1])
def test_a_memory_outside_its_range_is_refused(memory):
    with refused("memory", str(memory), "at least 0 and below 1"):
        draws(memory=memory)
    with refused("N", "0", "at least 1"):
        draws(N=0)
