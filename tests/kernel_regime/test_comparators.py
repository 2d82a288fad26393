"""The ridge comparator: against a dense solve, its optimality, its pairing, and the least norm."""

import math

import pytest
import torch
from torch import Generator

from checks import assert_agrees, refused
from shallowformer.kernel_regime import (
    comparators,
    data,
    gradients,
    linearisation,
    pairs,
    parameters,
    queries,
)
from shallowformer.kernel_regime.loss import Loss


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
    step = flat(pairs.difference(comparators.ridge(loss, phi0, lam), phi0))
    assert_agrees(step, dense, 1e4)


def test_ridge_counts_what_the_start_already_fits():
    loss, _ = problem()
    phi0 = parameters.random(5, 3, Generator().manual_seed(1))
    point = comparators.ridge(loss, phi0, 0.0)
    assert_agrees(linearisation.f_lin(loss.X, point, phi0), loss.y[:, 0], 1e4)


@pytest.mark.parametrize("lam", [0.0, 0.1])
def test_partners_move_oppositely(lam):
    loss, phi0 = problem()
    together, _ = pairs.parts(comparators.ridge(loss, phi0, lam), phi0)
    assert float(pairs.norm(together)) < 1e-12


def test_distance_and_misfit_follow_from_the_weights():
    loss, phi0 = problem()
    alpha, point = comparators.weights(loss, phi0, 0.3), comparators.ridge(loss, phi0, 0.3)
    J = jacobian(loss, phi0)
    assert_agrees(pairs.norm(pairs.difference(point, phi0)) ** 2, alpha @ J @ J.T @ alpha, 100)
    assert_agrees(linearisation.f_lin(loss.X, point, phi0) - loss.y[:, 0], -loss.n * 0.3 * alpha, 100)


def test_least_norm_where_inputs_are_equal():
    loss, phi0 = problem()
    X = loss.X.clone()
    X[1] = X[0]
    twins = Loss(X, loss.y[:, 0])
    point = comparators.ridge(twins, phi0, 0.0)
    fitted = linearisation.f_lin(X, point, phi0)
    assert float(fitted[0]) == pytest.approx(float(twins.y[:2].mean()), abs=1e-9)


def test_arguments_are_checked():
    loss, phi0 = problem()
    with refused("lam", "-1", "at least 0"):
        comparators.ridge(loss, phi0, -1.0)
    with refused("lam", "nan", "at least 0"):
        comparators.weights(loss, phi0, math.nan)
    two = Loss(loss.X, loss.y.expand(-1, 2))
    with refused("loss", "2", "one student"):
        comparators.ridge(two, phi0, 0.1)
