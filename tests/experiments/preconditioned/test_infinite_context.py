"""Infinite data: counts are those of runs, and spectra those of Hessians."""

import pytest
import torch

from companion.experiments.preconditioned import infinite_context
from companion.experiments.preconditioned.ingredients import posed
from shallowformer.preconditioned import invariance, landscape, limit

CPU = torch.device("cpu")


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_curvature_is_that_of_the_hessian(scale):
    problem = posed(3, 7.0, 0.0)
    factors = invariance.rescaled(*landscape.optimum(problem.target), scale)
    point = torch.stack(limit.unwhitened(*factors, problem.Sigma)).flatten()
    error = lambda flat: limit._error(*flat.view(2, 3, 3), problem)
    values = torch.linalg.eigvalsh(torch.autograd.functional.hessian(error, point))
    assert infinite_context.curvature(problem, scale) == pytest.approx([float(values[9]), float(values[-1])])


def test_preconditioned_counts_do_not_depend_on_the_covariance_and_raw_ones_do():
    rows = [
        infinite_context.count(infinite_context.Count(k, "near", 3, most=500, threshold=1e-4), CPU)
        for k in (1.0, 10.0)
    ]
    assert rows[0]["ours"] == rows[1]["ours"] < 20
    assert rows[1]["raw"] > 2 * rows[0]["raw"]
    assert rows[0]["spread"] == pytest.approx(4.0)


def test_the_whitened_step_is_preconditioned_descent():
    """The count on f_λ at a balanced start with λ that does not act is that of (PC)."""
    problem = posed(3, 20.0, 0.0)
    s = problem.singular_values
    U, V = infinite_context.whitened_start(problem, "near", 1)
    A, B = limit.unwhitened(U, V, problem.Sigma)
    _, (of_A, of_B) = limit.Population(problem, problem.Sigma).losses_and_gradient((A, B))
    eta = 1 / float(s[0] + s[-1])
    D = U @ V.T - problem.target
    after = limit.whitened(A - eta * of_A, B - eta * of_B, problem.Sigma)
    torch.testing.assert_close(after[0], U - eta * D @ V)
    torch.testing.assert_close(after[1], V - eta * D.T @ U)


def test_balance_is_kept_or_restored():
    rows = {lam: infinite_context.balance(infinite_context.Balance(2.0, lam, 1), CPU) for lam in (0.0, 0.5)}
    assert rows[0.0]["imbalance"] > 1 > 0.01 > rows[0.5]["imbalance"]


def test_an_unknown_start_is_refused():
    with pytest.raises(ValueError, match="far"):
        infinite_context.whitened_start(posed(2, 1.0, 0.0), "far", 0)
