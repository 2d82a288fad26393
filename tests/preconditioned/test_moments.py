"""Empirical moments against loops and least squares; least squares, its error and the mean of it."""

import pytest
import torch

from checks import refused, unchecked
from companion.theory.preconditioned import least_squares
from shallowformer.preconditioned import limit
from shallowformer.preconditioned.moments import Moments


def test_moments(problem, generator):
    X, Y = problem.samples(30, generator())
    found = Moments.of(X, Y)
    assert torch.allclose(found.Sigma, sum(torch.outer(x, x) for x in X) / 30, rtol=1e-12)
    assert torch.allclose(found.M, least_squares.fit(X, Y), rtol=1e-9)
    assert torch.allclose(found.target, found.M @ found.root, rtol=1e-9)
    assert torch.allclose(found.singular_values, torch.linalg.svdvals(found.target))
    one = torch.eye(5, dtype=torch.float64)
    assert torch.allclose(found.inverse_root @ found.Sigma @ found.inverse_root, one, atol=1e-12)


def test_a_ridge(problem, generator):
    X, Y = problem.samples(3, generator())
    found = Moments.of(X, Y, ridge=0.1)
    expected = torch.linalg.solve(X.T @ X + 0.3 * torch.eye(5, dtype=torch.float64), X.T @ Y).T
    assert torch.allclose(found.M, expected, rtol=1e-9)


def test_what_moments_refuses(problem, generator, draw):
    X, Y = problem.samples(5, generator())
    refused("X", "n = 5", "more than d = 5", Moments.of, X, Y)
    refused("Y", "(4, 5)", "(5, 5)", Moments.of, X, Y[:4], 0.1)
    refused("Sigma", "eigenvalues", "positive definite", Moments.of, X[:1].repeat(20, 1), Y[:1].repeat(20, 1))
    refused("X", "25 entries", "finite", Moments.of, torch.nan * X, Y)
    refused("cross", "(5, 4)", "(5, 5)", Moments, problem.Sigma, draw(5, 4))


def test_the_fit(problem, generator):
    X, Y = problem.samples(20, generator())
    M = least_squares.fit(X, Y)
    assert float(((X @ M.T - Y).T @ X).abs().max()) < 1e-12
    assert torch.allclose(least_squares.fit(X, X @ problem.M.T), problem.M, atol=1e-12)
    square = X[:5]
    assert torch.allclose(least_squares.fit(square, Y[:5]), (torch.linalg.inv(square) @ Y[:5]).T, rtol=1e-7)


def test_the_error(problem, draw):
    M_hat = draw(5, 5)
    A, B = M_hat, torch.linalg.inv(problem.Sigma)  # AΣBᵀ = M̂
    assert torch.allclose(least_squares.error(M_hat, problem), limit.error(A, B, problem), rtol=1e-10)


def test_the_mean_error(problem, generator):
    """4000 training sets of 20: within 5 standard errors."""
    g = generator()
    with unchecked():
        off = torch.stack([
            least_squares.error(least_squares.fit(*problem.samples(20, g)), problem) for _ in range(4000)
        ])  # fmt: skip
    expected = least_squares.expected_error(5, 5, 0.5, 20)
    assert expected == pytest.approx(25 * 0.25 / 28)
    assert abs(float(off.mean()) - expected) < 5 * float(off.std()) / 4000**0.5


def test_what_least_squares_refuses(problem, generator):
    X, Y = problem.samples(20, generator())
    refused("X", "4 rows", "rank d = 5", least_squares.fit, X[:4], Y[:4])
    refused("X", "20 rows", "rank d = 5", least_squares.fit, X[:1].repeat(20, 1), Y)
    refused("Y", "(3, 5)", "(20, 5)", least_squares.fit, X, Y[:3])
    refused("M_hat", "(2, 2)", "(5, 5)", least_squares.error, torch.zeros(2, 2, dtype=torch.float64), problem)
    refused("n", "6", "at least 7", least_squares.expected_error, 5, 5, 0.5, 6)
