"""Steepest descent in three norms, the largest margins, and optimisers with memory, against other routes."""

import itertools
import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from companion.experiments.token_selection import margins
from companion.theory.token_selection import best_margins, norms, optimisers
from shallowformer.token_selection import gradients


@pytest.mark.parametrize("name", norms.NORMS)
@pytest.mark.parametrize("shape", [(3, 3), (5, 2), (2, 4)])
def test_a_steepest_direction_attains_the_dual_norm(name, shape):
    draw = np.random.default_rng(0)
    norm = norms.NORMS[name]
    for _ in range(20):
        G, V = draw.normal(size=(2, *shape))
        steepest = norm.steepest(G)
        assert norm.size(steepest) == pytest.approx(1)
        assert (G * steepest).sum() == pytest.approx(norm.dual(G))
        assert (G * V).sum() <= norm.dual(G) * norm.size(V) * (1 + 1e-12)


def test_newton_schulz_keeps_singular_vectors_and_brings_values_near_1():
    U, _, V = np.linalg.svd(np.random.default_rng(1).normal(size=(6, 4)), full_matrices=False)
    found = norms.newton_schulz((U * np.array([1.0, 0.5, 0.2, 0.05])) @ V)
    core = U.T @ found @ V.T
    np.testing.assert_allclose(core, np.diag(np.diag(core)), atol=1e-12)
    assert (abs(np.diag(core) - 1) < 0.35).all()


@pytest.mark.parametrize("setting", margins.SETTINGS)
def test_the_spectral_margin_is_that_of_another_solver(setting):
    data = margins.problem(setting, 2)
    E = best_margins.pairs(data)

    def nuclear(z):
        weights = np.exp(z - z.max())
        weights /= weights.sum()
        G = np.einsum("k,kab->ab", weights, E)
        slope = np.einsum("kab,ab->k", E, norms.polar(G))
        return norms.NORMS["spectral"].dual(G), weights * (slope - weights @ slope)

    found = minimize(nuclear, np.zeros(len(E)), jac=True, method="BFGS", options={"maxiter": 2000})
    best = best_margins.best(data, "spectral")
    assert best.margin == pytest.approx(best.above, rel=1e-8)
    assert best.margin <= found.fun <= 1.01 * best.margin


def test_an_unknown_norm_is_refused():
    with pytest.raises(ValueError, match="norm must be one of euclidean, max, spectral"):
        best_margins.best(margins.problem("example", 0), "nuclear")


@pytest.mark.parametrize("setting", margins.SETTINGS)
def test_slopes_are_the_gradient(setting):
    data = margins.problem(setting, 1)
    W = 0.05 * torch.randn(data.d, data.d, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    loss, of_W, _ = gradients.loss_and_gradients(data.X, data.y, W, data.u, data.queries)
    now = optimisers.Problem(data).slope(W.numpy())
    np.testing.assert_allclose(now.G * math.exp(now.scale), -of_W.numpy(), atol=1e-12)
    assert math.exp(now.log_excess) == pytest.approx(float(loss - gradients.infimum(data)), rel=1e-10)
    turned = optimisers.Problem(data, rotated=True)
    again = turned.slope(W.numpy() @ turned.right)
    np.testing.assert_allclose(again.G @ turned.right.T, now.G, atol=1e-12)


@pytest.mark.parametrize(("square", "epsilon"), [*itertools.product((0.95, 0.999), (1e-8, 1e-3))])
def test_adam_is_that_of_torch(square, epsilon):
    data = margins.problem("gaussian", 0)
    W = torch.zeros(data.d, data.d, dtype=torch.float64, requires_grad=True)
    theirs = torch.optim.Adam([W], lr=1e-3, betas=(0.9, square), eps=epsilon)
    for _ in range(40):
        theirs.zero_grad()
        torch.exp(-data.y * gradients.outputs(data.X, W, data.u, data.queries)).mean().backward()
        theirs.step()
    ours = optimisers.run(data, optimisers.Adam(0.9, square, epsilon), np.full(40, 1e-3), [40])[0][1]
    np.testing.assert_allclose(ours, W.detach().numpy(), rtol=1e-9, atol=1e-12)


def test_muon_is_that_of_its_formulas():
    data = margins.problem("gaussian", 0)
    W, M = torch.zeros(data.d, data.d, dtype=torch.float64), 0.0
    for _ in range(20):
        G = -gradients.loss_and_gradients(data.X, data.y, W, data.u, data.queries)[1]
        M = 0.95 * M + 0.05 * G
        X = 0.05 * G + 0.95 * M
        X = X / X.norm()
        for _ in range(5):
            A = X @ X.T
            X = 3.4445 * X + (-4.7750 * A + 2.0315 * A @ A) @ X
        W = W + 1e-2 * X
    ours = optimisers.run(data, margins.OPTIMISERS["muon_ns"], np.full(20, 1e-2), [20])[0][1]
    np.testing.assert_allclose(ours, W.numpy(), atol=1e-10)


def test_the_time_of_plain_descent_is_that_of_the_steps_it_takes():
    data = margins.problem("gaussian", 0)
    found = {name: best_margins.best(data, name) for name in norms.NORMS}
    start = 2.0 / found["euclidean"].margin * found["euclidean"].W
    rate = 1e-3
    seen = margins.followed(data, start, found, rate, 100)
    W = torch.from_numpy(start)
    problem = optimisers.Problem(data)
    lowest = problem.slope(
        optimisers.run(
            data,
            optimisers.Steepest("euclidean"),
            np.full(100, margins.FLOW / found["euclidean"].margin),
            [100],
            start,
        )[0][1]
    ).log_excess
    steps = 0
    while problem.slope(W.numpy()).log_excess > lowest:
        W = W - rate * gradients.loss_and_gradients(data.X, data.y, W, data.u, data.queries)[1]
        steps += 1
    assert math.log(steps) == pytest.approx(seen["log_time"][0], abs=0.2)
