"""Closed forms against autograd and a loop over queries, with every kind of context, and memory that does not grow with pairs."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from checks import refused
from shallowformer import softmax
from shallowformer.preconditioned import gradients
from shallowformer.training import autograd, descent

KINDS = ("self", "shared", "own")


def data(n, d, m, kind, draw, N=7):
    context = {"self": None, "shared": draw(N, d, seed=4), "own": draw(n, N, d, seed=4)}[kind]
    return draw(n, d, seed=1), draw(n, m, seed=2), context, draw(m, d, seed=3), draw(d, d, seed=5)


def naive(A, B, x, tokens):
    """Aẑ(x), softmax written out."""
    weights = torch.stack([(token @ B.T @ x).exp() for token in tokens])
    return A @ sum(w * token for w, token in zip(weights / weights.sum(), tokens, strict=True))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(1, 1, 1), (6, 3, 3), (5, 4, 2), (4, 2, 3)])
@pytest.mark.parametrize("scale", [0.0, 0.5, 5.0])
def test_gradients_by_autograd(kind, shape, scale, draw):
    X, Y, context, A, B = data(*shape, kind, draw)
    B = scale * B

    def model(X, point):
        tokens = X if context is None else context
        return torch.stack([
            point[0] @ (torch.softmax((tokens[i] if kind == "own" else tokens) @ point[1].T @ x, 0)
            @ (tokens[i] if kind == "own" else tokens)) for i, x in enumerate(X)
        ])  # fmt: skip

    half = lambda f, y: (f - y).square().sum(-1) / 2
    value, expected = autograd.Autograd(model, X, Y, half).losses_and_gradient((A, B))
    loss, *found = gradients.loss_and_gradients(A, B, X, Y, context, chunk=2)
    assert torch.allclose(loss, value[0], rtol=1e-12)
    for ours, theirs in zip(found, expected, strict=True):
        assert float((ours - theirs).abs().max()) < 1e-12 * max(1.0, float(theirs.abs().max()), scale)


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_the_loop(kind, draw):
    X, Y, context, A, B = data(4, 3, 2, kind, draw)
    total = 0.0
    for i in range(4):
        tokens = X if kind == "self" else context if kind == "shared" else context[i]
        total += float((naive(A, 0.3 * B, X[i], tokens) - Y[i]).square().sum()) / 8
    assert float(gradients.loss_and_gradients(A, 0.3 * B, X, Y, context)[0]) == pytest.approx(
        total, rel=1e-13
    )


def test_the_formula_with_covariance_matrices(draw):
    """E_i ẑ_iᵀ and x_i (C_i AᵀE_i)ᵀ, with softmax's own mean and covariance."""
    X, Y, _, A, B = data(6, 3, 2, "self", draw)
    p = torch.softmax(X @ B @ X.T, -1)
    z, C = softmax.mean(X, p), softmax.covariance(X, p)
    E = z @ A.T - Y
    of_B = torch.einsum("ia,ib->ab", X, (C @ (E @ A)[..., None])[..., 0]) / 6
    _, found_A, found_B = gradients.loss_and_gradients(A, B, X, Y)
    assert torch.allclose(found_A, E.T @ z / 6, rtol=1e-12)
    assert torch.allclose(found_B, of_B, rtol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_do_not_matter(kind, draw):
    X, Y, context, A, B = data(11, 3, 2, kind, draw)
    whole = gradients.loss_and_gradients(A, B, X, Y, context, chunk=11)
    for chunk in (None, 1, 4):
        for a, b in zip(gradients.loss_and_gradients(A, B, X, Y, context, chunk), whole, strict=True):
            assert torch.allclose(a, b, rtol=1e-13, atol=1e-14)
    one = gradients.attended(B, X, X if context is None else context, chunk=3)
    assert torch.allclose(
        one @ A.T, gradients.outputs(A, B, X, X if context is None else context), rtol=1e-13
    )


def test_memory_is_flat(draw):
    """No array is larger than a chunk of queries times all tokens, of n² pairs."""

    class Largest(TorchDispatchMode):
        most = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            out = function(*args, **kwargs or {})
            if isinstance(out, torch.Tensor):
                self.most = max(self.most, out.numel())
            return out

    X, Y, _, A, B = data(400, 3, 2, "self", draw)
    with Largest() as seen:
        gradients.loss_and_gradients(A, B, X, Y, chunk=10)
    assert seen.most == 10 * 400
    assert gradients._PAIRS < 1000**2  # so that the default, too, cuts what is large


def test_a_large_logit_does_not_overflow(draw):
    X, Y, _, A, B = data(5, 3, 2, "self", draw)
    assert all(torch.isfinite(each).all() for each in gradients.loss_and_gradients(A, 1e4 * B, X, Y))


@pytest.mark.parametrize("kind", KINDS)
def test_the_objective(kind, draw):
    X, Y, context, A, B = data(6, 3, 2, kind, draw)
    objective = gradients.Regression(X, Y, context)
    loss, *gradient = gradients.loss_and_gradients(A, B, X, Y, context)
    found, slope = objective.losses_and_gradient((A, B))
    assert objective.n == 6
    assert torch.equal(found, loss[None])
    assert torch.allclose(objective.losses((A, B)), loss[None], rtol=1e-13)
    assert all(torch.equal(a, b) for a, b in zip(slope, gradient, strict=True))
    rows = torch.tensor([4, 0, 4])
    tokens = X if kind == "self" else context if kind == "shared" else context[rows]
    part = gradients.loss_and_gradients(A, B, X[rows], Y[rows], tokens)
    found, slope = objective.losses_and_gradient((A, B), rows)
    assert torch.equal(found, part[0][None])
    assert torch.equal(slope[1], part[2])
    run = descent.run(objective, (A, 0.1 * B), eta=0.05, steps=30)
    assert float(run.losses[-1]) < float(run.losses[0])


def test_what_leaves_the_range_is_said_to_diverge(draw):
    X, Y, _, A, B = data(6, 3, 2, "self", draw)
    with pytest.raises(descent.Diverged):
        descent.run(gradients.Regression(X, Y), (A, B), eta=1e6, steps=1000)


def test_refused(draw):
    X, Y, _, A, B = data(6, 3, 2, "self", draw)
    refused("B", "(2, 2)", "(3, 3)", gradients.loss_and_gradients, A, draw(2, 2), X, Y)
    refused("A", "(2, 4)", "(2, 3)", gradients.loss_and_gradients, draw(2, 4), B, X, Y)
    refused("Y", "(5, 2)", "(6, 2)", gradients.loss_and_gradients, A, B, X, Y[:5])
    refused("context", "(5, 7, 3)", "(6, 7, 3)", gradients.loss_and_gradients, A, B, X, Y, draw(5, 7, 3))
    refused("context", "(7, 2)", "(7, 3)", gradients.Regression, X, Y, draw(7, 2))
    refused("B", "9 entries", "finite", gradients.attended, torch.nan * B, X, X)
    refused("chunk", "0", "at least 1", gradients.attended, B, X, X, chunk=0)
