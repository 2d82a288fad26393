"""Descent with steps from far away; rotated coordinates: the same function, and bounds that gradient flow obeys."""

import itertools
import math

import pytest
import torch

from checks import refused
from companion.theory.preconditioned import steps
from companion.theory.preconditioned.rotated import FlowStart, rotated
from shallowformer.preconditioned import bounds, covariances, factorisation, flow, landscape

S = torch.tensor([1.5, 1.0, 0.8], dtype=torch.float64)


def test_a_step(draw):
    U, V, M = draw(4, 2, seed=1), draw(3, 2, seed=2), draw(4, 3, seed=3)
    after = steps.step(U, V, M, 0.1, 1.3)
    slope = factorisation.gradient(U, V, M, 1.3)
    assert all(torch.equal(new, old - 0.1 * g) for new, old, g in zip(after, (U, V), slope, strict=True))


def test_the_level_is_where_the_step_is_twice_the_inverse_curvature():
    for eta in (0.1, 0.3, 0.6):
        assert 2 / bounds.curvature(S, steps.level(1.5, eta)) == pytest.approx(eta)
    assert steps.level(1.5, 1 / 1.5) == 0


@pytest.mark.parametrize("columns", [2, 3, 5])
def test_ways_out_of_a_saddle_are_negative_eigenvalues(columns):
    for size in range(min(columns, 3) + 1):
        for kept in map(list, itertools.combinations(range(3), size)):
            lost = [i for i in range(3) if i not in kept]
            spectrum = landscape.stationary_spectrum(S[kept], S[lost], 0.5, columns, 4, 3)
            assert steps.unstable(S[kept], S[lost], columns) == int((spectrum < -1e-9).sum())


@pytest.mark.parametrize("share", [0.2, 1.0])
@pytest.mark.parametrize("r", [3, 4])
def test_an_aligned_start_keeps_its_bounds(draw, share, r):
    N = draw(3, r, seed=4) / 2
    X = 2**0.5 * N
    f0 = float(factorisation.value(N, N, S.diag()))
    start = steps.AlignedStart(X, S, share / bounds.curvature(S, f0))
    assert start.start == pytest.approx(f0)
    assert start.value(0) == pytest.approx(f0)
    U, V = N, N
    for t in range(1, 80):
        U, V = steps.step(U, V, S.diag(), start.eta)
        now = rotated(U, V, S.diag())
        assert float(now.Y.abs().max()) < 1e-14
        assert now.value <= start.value(t) * (1 + 1e-9) + 1e-25
        assert float(torch.linalg.svdvals(now.X)[-1]) ** 2 >= start.least(t) * (1 - 1e-12)


def test_the_first_pair_alternates():
    eta = 1.1 / 1.5
    x = math.sqrt((2.1 + math.sqrt(2.1**2 - 4)) / eta / 2)
    point = torch.tensor([[x]], dtype=torch.float64)
    target = S[:1, None]
    other = steps.step(point, point, target, eta)
    values = [float(factorisation.value(*pair, target)) for pair in ((point, point), other)]
    assert sorted(values, reverse=True) == pytest.approx(steps.oscillation(1.5, eta))
    assert torch.allclose(steps.step(*other, target, eta)[0], point)


def test_what_steps_refuses(draw):
    refused("eta", "0.7", "at most 1/s1", steps.level, 1.5, 0.7)
    refused("kept", "-1", "above 0", steps.unstable, -S[:1] / 1.5, S[1:], 3)
    refused("columns", "1", "at least 2", steps.unstable, S[:2], S[2:], 1)
    refused("eta", "0.1", "at least 0.6", steps.oscillation, 1.5, 0.1)
    refused("X", "(3, 2)", "full row rank", steps.AlignedStart, draw(3, 2), S, 0.01)
    refused("eta", "1", "at most 1/(2s₁ + 3√(2f_0))", steps.AlignedStart, draw(3, 3), S, 1.0)
    refused("s", "(2,)", "one for each row", steps.AlignedStart, draw(3, 3), S[:2], 0.01)
    start = steps.AlignedStart(draw(3, 3), S, 0.01)
    refused("t", "-1", "at least 0", start.least, -1)


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


def test_what_rotated_refuses(generator, draw):
    M = problem(generator, 3, 3, (2.0, 1.0, 0.5))
    zero = torch.zeros(3, 3, dtype=torch.float64)
    refused("start", "det", "≠ 0", FlowStart, rotated(zero, zero, M))
    refused("start", "(3, 4)", "square", FlowStart, rotated(draw(3, 4), draw(3, 4), M))
    refused("rank", "4", "3", rotated, zero, zero, M, rank=4)
    refused("U", "(2, 3)", "m as in target", rotated, draw(2, 3), zero, M)
