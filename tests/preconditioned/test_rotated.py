"""Rotated coordinates: the same function, the same gradient, and bounds that gradient flow obeys."""

import math

import pytest
import torch

from checks import refused
from companion.theory.preconditioned.rotated import FlowStart, rotated
from shallowformer.preconditioned import covariances, factorisation, flow, landscape


def problem(generator, m, d, s):
    P, Q = (covariances.orthogonal(size, generator(seed))[:, : len(s)] for size, seed in ((m, 1), (d, 2)))
    return P * torch.tensor(s, dtype=torch.float64) @ Q.T


@pytest.mark.parametrize(
    ("m", "d", "r", "s"), [(3, 3, 3, (2.0, 1.0, 0.5)), (4, 3, 5, (2.0, 0.7)), (1, 1, 1, (1.0,))]
)
def test_value_and_gradient(m, d, r, s, generator, draw):
    M = problem(generator, m, d, s)
    U, V = draw(m, r), draw(d, r, seed=3)
    found = rotated(U, V, M, rank=len(s))
    assert found.value == pytest.approx(float(factorisation.value(U, V, M)), rel=1e-12)
    square = sum(float(each.square().sum()) for each in factorisation.gradient(U, V, M))
    assert sum(float(each.square().sum()) for each in found.gradient) == pytest.approx(square, rel=1e-12)


def test_the_optimum(generator):
    M = problem(generator, 3, 3, (2.0, 1.0, 0.5))
    found = rotated(*landscape.optimum(M), M)
    assert found.value < 1e-28
    assert torch.allclose(found.X @ found.X.T, 2 * found.s.diag())


def test_flow_obeys_the_bounds(generator, draw):
    M = problem(generator, 3, 3, (2.0, 1.0, 0.5))
    U, V = draw(3, 3), draw(3, 3, seed=5)
    bounds = FlowStart(rotated(U, V, M))
    times = [0.0, 0.5, 1.0, 3.0, 8.0]
    for t, point in zip(times, flow.solve(U, V, M, times), strict=True):
        now, bound = rotated(*point, M), bounds.at(t)
        assert float(torch.linalg.svdvals(now.X)[-1]) ** 2 >= bound.least - 1e-9
        assert float(now.Y.square().sum()) <= bound.rest + 1e-9
        assert float((now.X @ now.X.T - 2 * now.s.diag()).norm()) <= bound.misfit + 1e-9
        assert now.value <= bound.value + 1e-9
    assert bounds.wait == pytest.approx(math.log1p(bounds.excess))  # s_d = ½


def test_where_the_bounds_are_attained():
    s = torch.tensor([2.0, 0.5], dtype=torch.float64)
    factor = torch.tensor([math.sqrt(2.0), 0.1], dtype=torch.float64).diag()
    bounds = FlowStart(rotated(factor, factor, s.diag()))
    (point,) = flow.solve(factor, factor, s.diag(), [4.0])
    now = rotated(*point, s.diag())
    assert float(torch.linalg.svdvals(now.X)[-1]) ** 2 == pytest.approx(bounds.at(4.0).least, rel=1e-8)


def test_refused(generator, draw):
    M = problem(generator, 3, 3, (2.0, 1.0, 0.5))
    zero = torch.zeros(3, 3, dtype=torch.float64)
    refused("start", "det", "≠ 0", FlowStart, rotated(zero, zero, M))
    refused("start", "(3, 4)", "square", FlowStart, rotated(draw(3, 4), draw(3, 4), M))
    refused("rank", "4", "3", rotated, zero, zero, M, rank=4)
    refused("U", "(2, 3)", "m as in target", rotated, draw(2, 3), zero, M)
