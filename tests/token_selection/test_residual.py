"""The residual's limit, against minimising by another method and against runs."""

import pytest
import torch

from shallowformer.token_selection import datasets, descent, gaps, residual, rules, svm
from shallowformer.token_selection.instances import Instance


def gaussian(seed):
    data = datasets.gaussian(3, 3, 6, torch.Generator().manual_seed(seed))
    return data, svm.w_svm(data)


def test_gaussian_data_meet_assumption_2():
    data = datasets.gaussian(5, 4, 6, torch.Generator().manual_seed(0))
    assert data.equal_scores()
    assert (data.Delta > 0).all()
    assert len(data.Delta.unique()) == 5


def test_parts_add_up_and_are_orthogonal():
    _, best = gaussian(0)
    z = torch.randn(7, best.A.shape[1], generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    parts = residual.parts(best, z)
    torch.testing.assert_close(parts.r[:, None] * best.z + parts.P + parts.N, z)
    assert float((parts.P @ best.z).abs().max()) < 1e-12
    assert float((parts.N @ best.A[best.active].T).abs().max()) < 1e-12
    assert float((parts.P * parts.N).sum(1).abs().max()) < 1e-12


@pytest.mark.parametrize("seed", [3, 4, 6])
def test_the_limit_is_stationary_and_where_runs_end(seed, long):
    data, best = gaussian(seed)
    limit = residual.settled(data, best)
    at = residual.parts(best, limit.P)
    assert float(at.r.abs()) < 1e-12
    assert float(at.N.norm()) < 1e-12
    psi = data.Delta * torch.exp(-data.scores.amax(1)) / data.n
    P = limit.P.clone().requires_grad_()
    F = (psi[data.sequence] * torch.exp(-best.A @ P))[best.active].sum()
    assert float(F.detach()) == pytest.approx(limit.F, rel=1e-12)
    (slope,) = torch.autograd.grad(F, P)
    assert float(residual.parts(best, slope).P.norm()) < 1e-10 * limit.F
    eta = 1 / residual.harshness(best)
    assert eta * best.norm * limit.steepest < 2
    run = descent.run(gaps.problem(data, towards=best), rules.NGD(eta), 4000, at=[4000])
    assert float((residual.parts(best, run.z[0]).P - limit.P).norm()) < 1e-7


def test_one_pair_has_no_residual():
    data = datasets.two_tokens()
    best = svm.w_svm(data)
    limit = residual.settled(data, best)
    assert (float(limit.P.norm()), limit.F, limit.steepest) == (0.0, pytest.approx(torch.e**-1), 0.0)
    assert residual.harshness(best) == pytest.approx(0.0, abs=1e-12)


def test_a_constraint_that_does_not_pull_is_refused():
    X = torch.tensor([[[1.0, 0.0], [0.0, -1.0]], [[1.0, 0.0], [0.0, 0.0]]], dtype=torch.float64)
    data = Instance(X, torch.ones(2, dtype=torch.float64), X[0, 0].clone())
    with pytest.raises(ValueError, match="best must have multipliers above 0"):
        residual.settled(data, svm.w_svm(data))
