"""Closed forms against autograd and loops."""

import pytest
import torch

from checks import refused
from shallowformer.token_selection import gradients
from shallowformer.training import autograd


def at(data, scale=1.0, seed=5):
    generator = torch.Generator().manual_seed(seed)
    return scale * torch.randn(data.d, data.d, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("shape", [(1, 2, 1), (3, 4, 5), (5, 2, 3)])
@pytest.mark.parametrize("scale", [0.0, 1.0, 20.0])
def test_gradients_by_autograd(shape, scale, case):
    data = case(*shape)
    W = at(data, scale)
    model = lambda X, point: gradients.outputs(X, point[0], point[1], data.queries)
    value, (of_W, of_u) = autograd.Autograd(model, data.X, data.y, gradients.exponential).losses_and_gradient(
        (W, data.u)
    )
    found = gradients.loss_and_gradients(data.X, data.y, W, data.u, data.queries)
    assert torch.allclose(found[0], value[0], rtol=1e-12)
    assert torch.allclose(found[1], of_W, rtol=1e-9, atol=1e-12 * float(value))
    assert torch.allclose(found[2], of_u, rtol=1e-12, atol=1e-12 * float(value))


def test_the_output_is_the_loop(case):
    data = case()
    W = at(data)
    for i, f in enumerate(gradients.outputs(data.X, W, data.u, data.queries)):
        weights = torch.softmax(data.X[i] @ W @ data.queries[i], 0)
        assert float(f) == pytest.approx(float(data.u @ (data.X[i].T @ weights)))


def test_the_centred_scores_keep_their_digits():
    """Weights 1 − ε and ε: diag φ − φφᵀ cancels, φ ⊙ (γ − φᵀγ) does not."""
    phi = torch.tensor([[1.0, 1e-30]], dtype=torch.float64)
    found = gradients.centred(phi, torch.tensor([[1.0, 0.0]], dtype=torch.float64))
    assert float(found[0, 1]) == pytest.approx(-1e-30, rel=1e-12)


def test_objectives_of_descent(case):
    data = case()
    W, rows = at(data), torch.tensor([2, 0, 2])
    value, (of_W,) = gradients.Attention(data).losses_and_gradient((W,), rows)
    loss, expected, of_u = gradients.loss_and_gradients(
        data.X[rows], data.y[rows], W, data.u, data.queries[rows]
    )
    assert torch.equal(value, loss[None])
    assert torch.equal(of_W, expected)
    both = gradients.Joint(data).losses_and_gradient((data.u, W), rows)[1]
    assert torch.equal(both[0], of_u)
    assert torch.equal(both[1], expected)
    assert gradients.Joint(data).n == gradients.Attention(data).n == 3


def test_the_infimum(case):
    data = case()
    expected = sum(float(torch.exp(-row.max())) for row in data.scores) / 3
    assert float(gradients.infimum(data)) == pytest.approx(expected)


def test_shapes_that_do_not_fit(case):
    data = case()
    with refused("W", "(4, 4)", "(5, 5)"):
        gradients.loss_and_gradients(
            data.X, data.y, torch.zeros(4, 4, dtype=torch.float64), data.u, data.queries
        )
