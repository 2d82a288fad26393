"""Instances side by side agree with the package's own, one by one."""

import pytest
import torch

from checks import assert_agrees, refused
from shallowformer.token_selection import constants, gaps
from shallowformer.token_selection.batches import Batch, shortest
from shallowformer.token_selection.svm import Infeasible, w_svm


def draw(b, n, T, d, query, seed=0):
    generator = torch.Generator().manual_seed(seed)
    normal = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    return Batch.of(normal(b, n, T, d), normal(b, n), normal(b, n).abs() + 0.1, query), normal(b, d, d)


CASES = pytest.mark.parametrize(
    ("n", "T", "d", "query"), [(1, 2, 2, (0,)), (2, 2, 3, (1, 0)), (2, 3, 4, (2, 0)), (3, 2, 3, (0, 1, 0))]
)


@CASES
def test_scores_gaps_gram_and_constants_are_the_instance_s(n, T, d, query):
    batch, W = draw(4, n, T, d, query)
    for which in range(4):
        one = batch.instance(which)
        assert one.equal_scores()
        assert (one.optimal == 0).all()
        assert_agrees(batch.Delta[which], one.Delta, factor=1e3)
        assert_agrees(batch.gaps(W)[which], one.gaps(W[which]), factor=1e3)
        assert_agrees(batch.gram[which], one.gram, factor=1e3)
        assert float(batch.B[which]) == pytest.approx(constants.B(one), rel=1e-12)
        low, high = (float(value[which].exp()) for value in batch.log_psi)
        assert (low, high) == pytest.approx((constants.psi_min(one), constants.psi_max(one)), rel=1e-12)


@CASES
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_pulls_are_the_simulator_s_gradient(n, T, d, query, scale):
    batch, W = draw(4, n, T, d, query, 1)
    pulls = batch.pulls(batch.gaps(scale * W))
    for which in range(4):
        problem = gaps.stacked([gaps.problem(batch.instance(which), scale * W[which])])
        slope = problem.slope(problem.z0)
        weighted = pulls.shares[which] @ torch.from_numpy(problem.R[0])
        size = float(pulls.log_total[which] + weighted.norm().log())
        assert size == pytest.approx(float(slope.log_norm[0]), rel=1e-9, abs=1e-9)
        assert_agrees(weighted / weighted.norm(), torch.from_numpy(slope.direction[0]), factor=1e6)


def test_total_is_the_sum_of_the_weights():
    batch, W = draw(5, 2, 3, 4, (0, 1), 2)
    pulls = batch.pulls(batch.gaps(W))
    assert_agrees(pulls.log_total, pulls.log_weights.logsumexp(1), factor=1e3)


@CASES
def test_the_enumerated_solution_is_that_of_the_solver(n, T, d, query):
    batch, _ = draw(30, n, T, d, query, 3)
    lam, met = shortest(batch.gram), 0
    for which in range(30):
        try:
            best = w_svm(batch.instance(which))
        except Infeasible:
            continue
        met += 1
        assert_agrees(lam[which], best.multipliers, factor=1e6)
    assert met > 10


def test_repeated_constraints_do_no_harm():
    gram = torch.ones(1, 2, 2, dtype=torch.float64)
    assert_agrees(shortest(gram).sum(1), [1.0])


def test_what_cannot_be_is_refused():
    refused("query", "(0, 3)", "indices from 0 to 1", draw, 1, 2, 2, 2, (0, 3))
    refused("K", "9", "8", shortest, torch.eye(9, dtype=torch.float64)[None])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_vector_of_length_0_does_not_spoil_the_others(dtype):
    gram = torch.diag(torch.tensor([1.0, 0.0, 4.0], dtype=dtype))[None].requires_grad_()
    lam = shortest(gram)[0]
    assert lam.tolist() == [1.0, 0.0, 0.25]
    (slope,) = torch.autograd.grad(lam.sum(), gram)
    assert slope.isfinite().all()


def test_pulls_are_finite_where_attention_is_saturated_either_way():
    batch, _ = draw(2, 1, 2, 2, (0,))
    for gap in (-2000.0, -800.0, -40.0, 40.0, 800.0, 2000.0):
        h = torch.full((2, 1, 1), gap, dtype=torch.float64)
        pulls = batch.pulls(h)
        assert_agrees(pulls.log_best, -torch.logaddexp(torch.zeros(2, 1).double(), -h[..., 0]))
        assert_agrees(pulls.log_off, -torch.logaddexp(torch.zeros(2, 1).double(), h[..., 0]), logit=40)
