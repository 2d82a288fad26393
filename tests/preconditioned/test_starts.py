"""Spectral starts: balanced, exact without noise in the limit, of a part of the data, of a rank; and random ones."""

import pytest
import torch

from checks import refused
from shallowformer.preconditioned import factorisation, limit, problems, starts
from shallowformer.preconditioned.moments import Moments


def test_the_spectral_start(problem, generator):
    X, Y = problem.samples(200, generator())
    known = Moments.of(X, Y)
    U, V = starts.spectral(known)
    assert torch.allclose(U @ V.T, known.target, atol=1e-12)
    assert float(factorisation.imbalance(U, V).abs().max()) < 1e-13
    expected = (known.target - problem.target).square().sum() / 2
    assert torch.allclose(factorisation.value(U, V, problem.target), expected, rtol=1e-10)


def test_it_solves_the_problem_with_its_own_covariance(problem, generator):
    """Without noise M̂ = M, and A, B of (U, V) give AΣ̂Bᵀ = M."""
    X, _ = problem.samples(50, generator())
    known = Moments.of(X, X @ problem.M.T)
    A, B = limit.unwhitened(*starts.spectral(known), known.Sigma)
    assert torch.allclose(A @ known.Sigma @ B.T, problem.M, atol=1e-11)


def test_a_part_of_the_data(problem, generator):
    X, Y = problem.samples(200, generator())
    found = starts.subsample(X, Y, 40)
    assert all(
        torch.equal(a, b) for a, b in zip(found, starts.spectral(Moments.of(X[:40], Y[:40])), strict=True)
    )
    coarse = starts.coarse(X, Y, 40, 0.1, generator(1))
    again = starts.perturbed(*found, 0.1, generator(1))
    assert all(torch.equal(a, b) for a, b in zip(coarse, again, strict=True))
    assert starts.subsample(X, Y, 3, ridge=0.1)[0].shape == (5, 5)


def test_a_rank(generator):
    problem = problems.random(torch.tensor([1.0, 0.5, 0.0], dtype=torch.float64), 5.0, generator())
    X, Y = problem.samples(100, generator(1))
    U, V = starts.spectral(Moments.of(X, Y), rank=2)
    assert U.shape == V.shape == (3, 2)
    assert torch.allclose(U @ V.T, Moments.of(X, Y).target, atol=1e-12)  # no noise: M̂ = M has rank 2


def test_random_starts(generator):
    U, V = starts.small_random(200, 100, 0.01, generator(), rank=50)
    assert (U.shape, V.shape) == ((200, 50), (100, 50))
    assert float(U.std()) == pytest.approx(0.01, rel=0.05)
    assert starts.small_random(3, 2, 1.0, generator())[0].shape == (3, 2)


def test_a_symmetric_start(problem, generator):
    X, Y = problem.samples(50, generator())
    known = Moments.of(X, Y)
    U, V = starts.spectral(known, symmetric=True)
    assert torch.allclose(U @ V.T, known.target, atol=1e-12)
    assert float(factorisation.imbalance(U, V).abs().max()) < 1e-13
    assert torch.allclose(V, V.T, atol=1e-13)


def test_refused(problem, generator, draw):
    X, Y = problem.samples(20, generator())
    refused("first", "21", "n = 20", starts.subsample, X, Y, 21)
    refused("X", "n = 4", "more than d = 5", starts.subsample, X, Y, 4)
    refused("rank", "6", "min(m, d) = 5", starts.spectral, Moments.of(X, Y), 6)
    refused("rank", "2", "symmetric", starts.spectral, Moments.of(X, Y), 2, symmetric=True)
