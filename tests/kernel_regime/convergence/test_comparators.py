"""The ridge comparator: against a dense solve, its optimality, its pairing, and the least norm."""

import pytest
import torch
from torch import Generator

from checks import assert_agrees, refused
from shallowformer import data, queries
from shallowformer.kernel_regime.convergence import comparators, trajectories
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model import gradients, linear_model, pairs, parameters
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.training.self_bounding import bound


def problem(n=7, m=6, d=3, query=queries.last_token):
    generator = Generator().manual_seed(n + 10 * m)
    X = data.clipped_gaussian(n, 4, d, generator)
    loss = Loss(X, torch.randn(n, generator=generator, dtype=torch.float64), query)
    return loss, parameters.symmetric(m, d, generator)


def flat(phi):
    return torch.cat([block.flatten() for block in phi.blocks])


def jacobian(loss, phi):
    blocks = gradients.per_sample_gradient(loss.X, phi, lambda X: loss.q)
    return torch.cat([block.flatten(1) for block in blocks], 1)


@pytest.mark.parametrize("lam", [1e-4, 1.0, 100.0])
@pytest.mark.parametrize("query", [queries.last_token, queries.seeded(3, 5)])
def test_ridge_solves_the_normal_equations(lam, query):
    loss, phi0 = problem(query=query)
    J = jacobian(loss, phi0)
    dense = torch.linalg.solve(
        J.T @ J / loss.n + lam * torch.eye(J.shape[1], dtype=J.dtype), J.T @ loss.y[:, 0] / loss.n
    )
    step = flat(parameters.difference(comparators.ridge(loss, phi0, lam), phi0))
    assert_agrees(step, dense, 1e4)


def test_ridge_counts_what_the_start_already_fits():
    loss, _ = problem()
    phi0 = parameters.random(5, 3, Generator().manual_seed(1))
    point = comparators.ridge(loss, phi0, 0.0)
    assert_agrees(linear_model.f_lin(loss.X, point, phi0), loss.y[:, 0], 1e4)


@pytest.mark.parametrize("lam", [0.0, 0.1])
def test_partners_move_oppositely(lam):
    loss, phi0 = problem()
    together, _ = pairs.parts(comparators.ridge(loss, phi0, lam), phi0)
    assert float(parameters.norm(together)) < 1e-12


def test_distance_and_misfit_follow_from_the_weights():
    loss, phi0 = problem()
    alpha, point = comparators.weights(loss, phi0, 0.3), comparators.ridge(loss, phi0, 0.3)
    J = jacobian(loss, phi0)
    assert_agrees(parameters.squared_distance(point, phi0), alpha @ J @ J.T @ alpha, 100)
    assert_agrees(linear_model.f_lin(loss.X, point, phi0) - loss.y[:, 0], -loss.n * 0.3 * alpha, 100)


def test_least_norm_where_inputs_are_equal():
    loss, phi0 = problem()
    X = loss.X.clone()
    X[1] = X[0]
    twins = Loss(X, loss.y[:, 0])
    point = comparators.ridge(twins, phi0, 0.0)
    fitted = linear_model.f_lin(X, point, phi0)
    assert float(fitted[0]) == pytest.approx(float(twins.y[:2].mean()), abs=1e-9)


def test_arguments_are_checked():
    loss, phi0 = problem()
    refused("lam", "-1", "at least 0", comparators.ridge, loss, phi0, -1.0)
    two = Loss(loss.X, loss.y.expand(-1, 2))
    refused("loss", "2", "one student", comparators.ridge, two, phi0, 0.1)


@pytest.mark.parametrize("horizon", [0.1, 1.0, 5.0])
def test_the_best_ridge_point_is_the_best_of_the_path(horizon):
    loss, phi0 = problem()
    best = comparators.best_ridge(loss, phi0, horizon, 1, rounds=200)

    def ell(lam):
        point = comparators.ridge(loss, phi0, lam)
        epsilon = trajectories.misfit(loss.X, loss.y[:, 0], phi0, point).square().mean().sqrt()
        V0 = sum((a - b).square().sum() for a, b in zip(point.blocks, phi0.blocks, strict=True))
        return bound(float(epsilon), float(V0), horizon, 1, 0.0), float(epsilon), float(V0)

    value, epsilon, V0 = ell(best.lam)
    assert (best.epsilon, best.V0) == pytest.approx((epsilon, V0), rel=1e-9)
    assert best.lam == pytest.approx(epsilon / (2 * value * horizon), rel=1e-6)
    assert best.lam <= 1 / (2 * horizon)
    assert all(ell(best.lam * factor)[0] > value for factor in (0.2, 0.8, 1.25, 5.0))
    for ours, theirs in zip(best.point.blocks, comparators.ridge(loss, phi0, best.lam).blocks, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_on_long_runs_interpolation_is_best():
    loss, phi0 = problem()
    K, g = tangent_kernel.finite(loss.X, phi0).total, loss.y[:, 0]
    alpha = torch.linalg.solve(K, g)
    edge = loss.n * float(alpha @ alpha / (alpha @ g))
    found = [comparators.best_ridge(loss, phi0, edge * factor, 1, rounds=400) for factor in (0.5, 2.0)]
    assert found[0].lam * edge > 1e-3
    assert found[1].lam * edge < 1e-12
    # Otherwise λ solves 2λ + λ²V₀/ε₀² = 1/H.
    left = 2 * found[0].lam + found[0].lam ** 2 * found[0].V0 / found[0].epsilon ** 2
    assert left == pytest.approx(2 / edge, rel=1e-9)
