"""f_λ, its gradient and its Hessian against autograd and against one another; its flow; the regulariser that does not see the scale."""

import math

import pytest
import torch

from checks import refused
from shallowformer.preconditioned import factorisation, flow, invariance
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


def test_what_factorisation_refuses(draw):
    U, V, target = case((3, 5, 2), draw)
    refused("V", "(5, 3)", "(5, 2)", factorisation.value, U, draw(5, 3), target)
    refused("U", "(2, 2)", "(3, 2)", factorisation.gradient, U[:2], V, target)
    refused("X", "(5, 2)", "(3, 2)", factorisation.hessian_form, U, V, V, V, target)
    refused("lam", "-1", "at least 0", factorisation.hessian, U, V, target, -1.0)
    refused("target", "1 entries", "finite", factorisation.Factorisation, torch.full((1, 1), torch.nan))
    with refused("rows", "some", "must not be given"):
        factorisation.Factorisation(target).losses_and_gradient((U, V), torch.tensor([0]))


ONE = torch.ones(1, 1, dtype=torch.float64)


def test_a_logistic_curve():
    """Balanced and 1 × 1, z = 2u² obeys ż = z(2s − z)."""
    start = 0.1 * ONE
    times = [0.0, 1.0, 5.0]
    for t, (U, V) in zip(times, flow.solve(start, start, ONE, times), strict=True):
        z = 2 / (1 + (2 / 0.02 - 1) * math.exp(-2 * t))
        assert float(2 * U * V) == pytest.approx(z, rel=1e-9)


@pytest.mark.parametrize("lam", [0.0, 0.5, 2.0])
def test_descent_follows(lam, draw):
    U, V, M = draw(3, 2), draw(4, 2, seed=2), draw(3, 4, seed=3)
    ((found, _),) = flow.solve(U, V, M, [0.2], lam)
    off = []
    for steps in (400, 800):
        A, B = U, V
        for _ in range(steps):
            of_A, of_B = factorisation.gradient(A, B, M, lam)
            A, B = A - 0.2 / steps * of_A, B - 0.2 / steps * of_B
        off.append(float((A - found).abs().max()))
    assert off[1] < 1e-2
    assert off[0] / off[1] == pytest.approx(2, abs=0.1)


def test_what_flow_refuses(draw):
    U = V = M = ONE
    refused("times", "[1.0, 0.5]", "increase from 0 on", flow.solve, U, V, M, [1, 0.5])
    refused("lam", "-1", "at least 0", flow.solve, U, V, M, [1], lam=-1.0)


def factors(draw):
    return draw(4, 3), 2 * draw(5, 3, seed=1)


@pytest.mark.parametrize("c", [0.1, 1.0, 30.0])
def test_it_is_invariant(c, draw):
    U, V = factors(draw)
    found = invariance.regulariser(*invariance.rescaled(U, V, c), 0.7)
    assert torch.allclose(found, invariance.regulariser(U, V, 0.7), rtol=1e-12)


def test_it_is_the_balanced_form_at_equal_norms(draw):
    U, V = factors(draw)
    left, right, c = invariance.equal_norms(U, V)
    assert torch.allclose(left.norm(), right.norm(), rtol=1e-14)
    assert torch.allclose(left @ right.T, U @ V.T, rtol=1e-12)
    assert torch.allclose(left, c * U, rtol=1e-14)
    balanced = 0.7 / 4 * factorisation.imbalance(left, right).square().sum()
    assert torch.allclose(invariance.regulariser(U, V, 0.7), balanced, rtol=1e-12)


def test_its_gradient(draw):
    U, V = (factor.requires_grad_() for factor in factors(draw))
    expected = torch.autograd.grad(invariance.regulariser(U, V, 0.7), (U, V))
    found = invariance.regulariser_gradient(U.detach(), V.detach(), 0.7)
    for ours, theirs in zip(found, expected, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-11, atol=1e-12)
    # Along the ambiguity it does not change (Euler).
    along = float((found[0] * U.detach()).sum() - (found[1] * V.detach()).sum())
    assert abs(along) < 1e-11 * float(expected[0].norm() * U.detach().norm())


def test_what_invariance_refuses(draw):
    U, V = factors(draw)
    refused("U", "0.0", "not 0", invariance.regulariser, 0 * U, V)
    refused("V", "nan", "finite", invariance.equal_norms, U, torch.nan * V)
