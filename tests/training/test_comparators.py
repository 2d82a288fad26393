"""The ridge path from a Gram matrix: against normal equations, and the best point of the path against its neighbours."""

import math

import pytest
import torch

from checks import assert_agrees, refused
from shallowformer.training import autograd, comparators, points
from shallowformer.training.self_bounding import bound
from simple_models import network


def problem():
    """The Jacobian of a network, its Gram matrix, and what its outputs miss."""
    objective, point = network()
    tangent = objective.tangent(point)
    rows = [autograd.pull_back(tangent.outputs, point, each) for each in torch.eye(7, dtype=torch.float64)]
    J = torch.stack([torch.cat([block.flatten() for block in points.blocks(row)]) for row in rows])
    return J, tangent.gram(), -tangent.residual


def test_the_gram_matrix_is_that_of_the_gradients():
    J, K, _ = problem()
    assert_agrees(K, J @ J.T, 10)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
def test_weights_solve_the_normal_equations(lam):
    J, K, missing = problem()
    alpha = comparators.weights(K, missing, lam)
    dense = torch.linalg.solve(J.T @ J / 7 + lam * torch.eye(J.shape[1], dtype=J.dtype), J.T @ missing / 7)
    assert_agrees(J.T @ alpha, dense, 1e4)
    assert_agrees(missing - K @ alpha, 7 * lam * alpha, 100)


def test_without_a_penalty_the_least_norm_is_taken():
    _, K, missing = problem()
    singular, twice = K[[0, 0, 1, 2]][:, [0, 0, 1, 2]], missing[[0, 0, 1, 2]]
    alpha = comparators.weights(singular, twice, 0.0)
    assert_agrees(singular @ alpha, twice, 1e4)
    assert float(alpha[0]) == pytest.approx(float(alpha[1]))


@pytest.mark.parametrize("horizon", [0.1, 1.0, 5.0])
def test_the_best_point_is_the_best_of_the_path(horizon):
    _, K, missing = problem()
    best = comparators.best_ridge(K, missing, horizon, rounds=300)

    def ell(lam):
        alpha = comparators.weights(K, missing, lam)
        epsilon = float((missing - K @ alpha).square().mean().sqrt())
        return bound(epsilon, float(alpha @ K @ alpha), horizon, 1, 0.0)

    assert best.epsilon == pytest.approx(float((missing - K @ best.alpha).square().mean().sqrt()), rel=1e-6)
    assert pytest.approx(float(best.alpha @ K @ best.alpha), rel=1e-6) == best.V0
    assert all(ell(best.lam * factor) >= ell(best.lam) * (1 - 1e-12) for factor in (0.2, 0.8, 1.25, 5.0))


def test_arguments_are_checked():
    _, K, missing = problem()
    refused("lam", "nan", "at least 0", comparators.weights, K, missing, math.nan)
    refused("horizon", "0.0", "above 0", comparators.best_ridge, K, missing, 0.0)
    refused("rounds", "0", "at least 1", comparators.best_ridge, K, missing, 1.0, rounds=0)
