"""f_λ, its gradient and its Hessian against autograd and against one another; the identity of the gradient's parts."""

import pytest
import torch

from checks import refused
from shallowformer.preconditioned import factorisation
from shallowformer.training import descent

SHAPES = [(1, 1, 1), (4, 4, 4), (3, 5, 2), (5, 2, 4)]


def case(shape, draw):
    m, d, r = shape
    return draw(m, r), draw(d, r, seed=1), draw(m, d, seed=2)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lam", [0.0, 0.5, 2.0])
def test_derivatives_by_autograd(shape, lam, draw):
    U, V, target = case(shape, draw)
    flat = torch.cat([U.flatten(), V.flatten()])

    def f(entries):
        left, right = entries[: U.numel()].view_as(U), entries[U.numel() :].view_as(V)
        D, C = left @ right.T - target, left.T @ left - right.T @ right
        return (D**2).sum() / 2 + lam / 4 * (C**2).sum()

    assert torch.allclose(factorisation.value(U, V, target, lam), f(flat), rtol=1e-13)
    slope = torch.func.grad(f)(flat)
    found = torch.cat([each.flatten() for each in factorisation.gradient(U, V, target, lam)])
    assert torch.allclose(found, slope, rtol=1e-12, atol=1e-12)
    H = torch.func.hessian(f)(flat)
    ours = factorisation.hessian(U, V, target, lam)
    assert torch.allclose(ours, H, rtol=1e-12, atol=1e-12)
    X, Y = draw(*U.shape, seed=3), draw(*V.shape, seed=4)
    step = torch.cat([X.flatten(), Y.flatten()])
    form = factorisation.hessian_form(U, V, X, Y, target, lam)
    assert torch.allclose(form, step @ H @ step, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_gradients_parts(shape, draw):
    """‖∇f‖² = ‖DV‖² + ‖DᵀU‖² + λ²(‖UC‖² + ‖VC‖²)."""
    U, V, target = case(shape, draw)
    D, C = factorisation.misfit(U, V, target), factorisation.imbalance(U, V)
    square = sum(float(each.square().sum()) for each in factorisation.gradient(U, V, target, 0.7))
    parts = sum(float(each.square().sum()) for each in (D @ V, D.T @ U, 0.7 * U @ C, 0.7 * V @ C))
    assert square == pytest.approx(parts, rel=1e-12)


@pytest.mark.parametrize("invariant", [False, True])
def test_the_objective(invariant, draw):
    U, V, target = case((4, 4, 4), draw)
    objective = factorisation.Factorisation(target, 0.5, invariant)
    inputs = (U.clone().requires_grad_(), V.clone().requires_grad_())
    loss, slope = objective.losses_and_gradient((U, V))
    assert torch.equal(loss, objective.losses((U, V)))
    for ours, theirs in zip(slope, torch.autograd.grad(objective.losses(inputs)[0], inputs), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-11, atol=1e-12)
    # Singular values 2 and 0.5: a factor (1 − 2 · 0.5 · 0.2)² a step in the end, of either regulariser (at the optimum it has equal norms).
    root = torch.tensor([2.0, 0.5], dtype=torch.float64).sqrt().diag()
    start = (root + 0.1 * draw(2, 2), root + 0.1 * draw(2, 2, seed=5))
    run = descent.run(factorisation.Factorisation(root @ root, 0.5, invariant), start, eta=0.2, steps=150)
    assert float(run.losses[-1]) < 1e-20


def test_refused(draw):
    U, V, target = case((3, 5, 2), draw)
    refused("V", "(5, 3)", "(5, 2)", factorisation.value, U, draw(5, 3), target)
    refused("U", "(2, 2)", "(3, 2)", factorisation.gradient, U[:2], V, target)
    refused("X", "(5, 2)", "(3, 2)", factorisation.hessian_form, U, V, V, V, target)
    refused("lam", "-1", "at least 0", factorisation.hessian, U, V, target, -1.0)
    refused("target", "1 entries", "finite", factorisation.Factorisation, torch.full((1, 1), torch.nan))
    with refused("rows", "some", "must not be given"):
        factorisation.Factorisation(target).losses_and_gradient((U, V), torch.tensor([0]))
