"""The limit against finite contexts, its gradients against autograd, and whitening against descent."""

import pytest
import torch

from checks import refused
from shallowformer.preconditioned import factorisation, gradients, limit
from shallowformer.training import descent


def test_long_contexts_come_near(problem, draw, generator):
    """Off by about the root of the variance 𝒱/n there; 6 standard deviations."""
    B = 0.3 * draw(5, 5)
    x = problem.covariates(6, generator(1))
    n = 200_000
    found = gradients.attended(B, x, problem.covariates(n, generator(2)))
    expected = limit.attended(B, x, problem.Sigma)
    q = x @ B
    spread = ((q @ problem.Sigma * q).sum(1).exp() / n * (1 + (expected**2).sum(1))).sqrt()
    assert float(((found - expected).norm(dim=1) / spread).max()) < 6


def test_the_error_is_a_distance_of_linear_maps(problem, draw, generator):
    """½E‖AΣBᵀx − Mx‖²."""
    A, B = draw(5, 5), draw(5, 5, seed=1)
    x = problem.covariates(200_000, generator())
    sample = (limit.attended(B, x, problem.Sigma) @ A.T - x @ problem.M.T).square().sum(1) / 2
    found = float(limit.error(A, B, problem))
    assert abs(found - float(sample.mean())) < 5 * float(sample.std()) / len(x) ** 0.5


def test_gradients_by_autograd(problem, draw):
    A, B = draw(5, 5).requires_grad_(), draw(5, 5, seed=1).requires_grad_()
    expected = torch.autograd.grad(limit.error(A, B, problem), (A, B))
    for ours, theirs in zip(limit.gradients(A.detach(), B.detach(), problem), expected, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-12, atol=1e-13)


def test_whitening(problem, draw):
    A, B = draw(5, 5), draw(5, 5, seed=1)
    tilde = limit.whitened(A, B, problem.Sigma)
    value = factorisation.value(*tilde, problem.target, 0.0)
    assert torch.allclose(value, limit.error(A, B, problem), rtol=1e-12)
    for ours, back in zip((A, B), limit.unwhitened(*tilde, problem.Sigma), strict=True):
        assert torch.allclose(ours, back, atol=1e-12)


def test_preconditioned_descent_is_descent_on_whitened_factors(problem, draw):
    A, B = 0.5 * draw(5, 5), 0.5 * draw(5, 5, seed=1)
    U, V = limit.whitened(A, B, problem.Sigma)
    objective = limit.Population(problem, problem.Sigma)
    run = descent.run(objective, (A, B), eta=0.05, steps=20)
    plain = descent.run(factorisation.Factorisation(problem.target, 0.0), (U, V), eta=0.05, steps=20)
    assert torch.allclose(run.losses, plain.losses, rtol=1e-10)
    for ours, theirs in zip(limit.whitened(*run.end, problem.Sigma), plain.end, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-10)
    step = limit.preconditioned(*limit.gradients(A, B, problem), problem.Sigma)
    for ours, theirs in zip(objective.losses_and_gradient((A, B))[1], step, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-10)


def test_raw_descent(problem, draw):
    objective = limit.Population(problem)
    point = (draw(5, 5), draw(5, 5, seed=1))
    loss, slope = objective.losses_and_gradient(point)
    assert torch.equal(loss, objective.losses(point))
    assert all(torch.equal(a, b) for a, b in zip(slope, limit.gradients(*point, problem), strict=True))


def test_refused(problem, draw):
    B = draw(5, 5)
    refused("A", "(5, 4)", "(5, 5)", limit.error, draw(5, 4), B, problem)
    refused("B", "(4, 5)", "(5, 5)", limit.gradients, B, draw(4, 5), problem)
    with refused("Sigma", "eigenvalues from 0", "positive definite"):
        limit.whitened(B, B, torch.zeros(5, 5, dtype=torch.float64))
    with refused("preconditioner", "(2, 2)", "(5, 5)"):
        limit.Population(problem, torch.eye(2, dtype=torch.float64))
    with refused("rows", "some", "must not be given"):
        limit.Population(problem).losses_and_gradient((B, B), torch.tensor([0]))


@pytest.mark.parametrize("c", [0.1, 7.0])
def test_the_scale_is_free(problem, draw, c):
    A, B = draw(5, 5), draw(5, 5, seed=1)
    assert torch.allclose(limit.error(c * A, B / c, problem), limit.error(A, B, problem), rtol=1e-12)
