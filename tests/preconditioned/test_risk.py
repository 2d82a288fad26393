"""Excess risk of fresh queries: a loop, a limit, and what finite contexts add."""

import pytest
import torch

from checks import refused
from shallowformer.preconditioned import invariance, landscape, limit, noise, risk


def at_optimum(problem, b):
    U, V = landscape.optimum(problem.target)
    return limit.unwhitened(
        *invariance.rescaled(U, V, float(torch.linalg.matrix_norm(V, 2)) / b), problem.Sigma
    )


def test_a_loop(problem, generator, draw):
    A, B, context = draw(5, 5), 0.3 * draw(5, 5, seed=1), problem.covariates(8, generator())
    found = risk.excess(A, B, context, problem, 3, generator(2))
    for value, x in zip(found, problem.covariates(3, generator(2)), strict=True):
        weights = torch.stack([(token @ B.T @ x).exp() for token in context])
        off = A @ (weights / weights.sum() @ context) - problem.M @ x
        assert float(value) == pytest.approx(float(off @ off) / 2)


def test_at_the_optimum_only_the_contexts_noise_is_left(problem, generator):
    """𝓡_n ≈ 𝒱/(2n): over 30 contexts of 1000, within 5 standard errors."""
    A, B = at_optimum(problem, 0.4)
    g = generator()
    means = torch.stack([
        2000 * risk.excess(A, B, problem.covariates(1000, g), problem, 500, g).mean() for _ in range(30)
    ])  # fmt: skip
    off = float(means.mean()) - noise.at_radius(problem.singular_values, 0.4)
    assert abs(off) < 5 * float(means.std()) / 30**0.5


def test_refused(problem, draw, generator):
    A = draw(5, 5)
    refused("A", "(4, 5)", "(5, 5)", risk.excess, A[:4], A, A, problem, 2, generator())
    refused("context", "(5, 4)", "(5, 5)", risk.excess, A, A, A[:, :4], problem, 2, generator())
