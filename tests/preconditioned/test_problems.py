"""Problems have the singular values that were asked for, and samples the law; spectra as asked for, roots that are roots."""

import pytest
import torch

from checks import refused
from shallowformer.preconditioned import covariances, problems
from shallowformer.preconditioned.problems import Problem

S = torch.tensor([2.0, 1.0, 0.5], dtype=torch.float64)


@pytest.mark.parametrize(("d", "m"), [(None, None), (5, 3), (3, 4), (4, 6)])
def test_singular_values(d, m, generator):
    problem = problems.random(S, 100.0, generator(), d=d, m=m)
    assert (problem.d, problem.m) == (d or 3, m or 3)
    assert torch.allclose(problem.singular_values[:3], S, rtol=1e-12)
    assert torch.allclose(problem.singular_values[3:], torch.zeros(1, dtype=torch.float64), atol=1e-12)
    assert torch.allclose(torch.linalg.cond(problem.Sigma), torch.tensor(100.0, dtype=torch.float64))


def test_a_matrix_of_lower_rank(generator):
    problem = problems.random(torch.tensor([1.0, 0.0], dtype=torch.float64), 3.0, generator())
    assert float(torch.linalg.svdvals(problem.M)[1]) < 1e-15


def test_moments_of_samples(problem, generator):
    """Of 200 000 samples: entries of covariances are off by about their size over √n."""
    n = 200_000
    X, Y = problem.samples(n, generator())
    off = 6 / n**0.5
    assert (
        float((problem.inverse_root @ (X.T @ X / n) @ problem.inverse_root - torch.eye(5)).abs().max()) < off
    )
    noise = Y - X @ problem.M.T
    assert float((noise.T @ noise / n - 0.25 * torch.eye(5)).abs().max()) < 0.25 * off
    assert float((X.T @ noise / n).abs().max()) < 0.5 * off


def test_noise_does_not_change_the_covariates(problem, generator):
    quiet = Problem(problem.Sigma, problem.M)
    X, Y = quiet.samples(10, generator())
    assert torch.equal(X, problem.samples(10, generator()).X)
    assert torch.equal(Y, X @ problem.M.T)


def test_contexts(problem, generator):
    assert problem.contexts(3, 4, generator()).shape == (3, 4, 5)
    found = problem.contexts(50, 1000, generator())
    assert torch.allclose(found.flatten(0, 1).T.cov(), problem.Sigma, atol=0.03)


def test_what_problems_refuses(draw):
    one = torch.eye(2, dtype=torch.float64)
    with refused("Sigma", "eigenvalues from 0", "positive definite"):
        Problem(torch.ones(2, 2, dtype=torch.float64), one)
    refused("M", "(3, 4)", "(3, 2)", Problem, one, draw(3, 4))
    refused("M", "1 entries", "finite", Problem, one, torch.tensor([[torch.nan, 0.0]], dtype=torch.float64))
    refused("d", "2", "at least 3", problems.random, S, 1.0, torch.Generator(), d=2)
    refused("singular_values", "-1", "at least 0", problems.random, -S[1:2], 1.0, torch.Generator())


def test_a_geometric_spectrum():
    found = covariances.geometric(4, 8.0, 1.0)
    assert torch.allclose(found, torch.tensor([8, 4, 2, 1], dtype=torch.float64))
    assert covariances.geometric(1, 2.0, 1.0).tolist() == [2.0]


@pytest.mark.parametrize("condition", [1.0, 10.0, 1000.0])
def test_the_spectrum_is_as_asked_for(condition, generator):
    values = torch.linalg.eigvalsh(covariances.random(4, condition, generator()))
    assert torch.allclose(values.flip(0), covariances.geometric(4, 1.0, 1 / condition), rtol=1e-10)


def test_bases_are_orthogonal_and_of_both_orientations(generator):
    g = generator()
    signs = set()
    for _ in range(20):
        O = covariances.orthogonal(3, g)
        assert torch.allclose(O @ O.T, torch.eye(3, dtype=torch.float64), atol=1e-14)
        signs.add(round(float(torch.linalg.det(O))))
    assert signs == {1, -1}


def test_roots(generator):
    Sigma = covariances.random(5, 100.0, generator())
    root, inverse = covariances.roots(Sigma)
    one = torch.eye(5, dtype=torch.float64)
    assert torch.allclose(root @ root, Sigma, atol=1e-14)
    assert torch.allclose(root @ inverse, one, atol=1e-13)
    assert torch.equal(root.T.round(decimals=13), root.round(decimals=13))


def test_what_covariances_refuses(draw):
    singular = torch.diag(torch.tensor([1.0, 1e-18], dtype=torch.float64))
    refused("Sigma", "1e-18", "positive definite", covariances.roots, singular)
    refused("Sigma", "-1", "positive definite", covariances.roots, -torch.eye(2, dtype=torch.float64))
    with refused("Sigma", "differ", "symmetric"):
        covariances.roots(torch.tensor([[1.0, 0.5], [0.0, 1.0]], dtype=torch.float64))
    refused("Sigma", "(2, 3)", "square", covariances.roots, draw(2, 3))
    with refused("Sigma", "1 entries", "finite"):
        covariances.roots(torch.tensor([[torch.nan]], dtype=torch.float64))
    refused("condition", "0.5", "at least 1", covariances.random, 2, 0.5, torch.Generator())
    refused("smallest", "3", "largest = 2", covariances.geometric, 2, 2.0, 3.0)
