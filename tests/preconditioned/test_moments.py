"""Empirical moments against loops and least squares."""

import torch

from checks import refused
from companion.theory.preconditioned import least_squares
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


def test_refused(problem, generator, draw):
    X, Y = problem.samples(5, generator())
    refused("X", "n = 5", "more than d = 5", Moments.of, X, Y)
    refused("Y", "(4, 5)", "(5, 5)", Moments.of, X, Y[:4], 0.1)
    refused("Sigma", "eigenvalues", "positive definite", Moments.of, X[:1].repeat(20, 1), Y[:1].repeat(20, 1))
    refused("X", "25 entries", "finite", Moments.of, torch.nan * X, Y)
    refused("cross", "(5, 4)", "(5, 5)", Moments, problem.Sigma, draw(5, 4))
