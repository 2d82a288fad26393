"""Descent with steps from far away."""

import itertools
import math

import pytest
import torch

from checks import refused
from companion.theory.preconditioned import steps
from companion.theory.preconditioned.rotated import rotated
from shallowformer.preconditioned import bounds, factorisation, landscape

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


def test_refused(draw):
    refused("eta", "0.7", "at most 1/s1", steps.level, 1.5, 0.7)
    refused("kept", "-1", "above 0", steps.unstable, -S[:1] / 1.5, S[1:], 3)
    refused("columns", "1", "at least 2", steps.unstable, S[:2], S[2:], 1)
    refused("eta", "0.1", "at least 0.6", steps.oscillation, 1.5, 0.1)
    refused("X", "(3, 2)", "full row rank", steps.AlignedStart, draw(3, 2), S, 0.01)
    refused("eta", "1", "at most 1/(2s₁ + 3√(2f_0))", steps.AlignedStart, draw(3, 3), S, 1.0)
    refused("s", "(2,)", "one for each row", steps.AlignedStart, draw(3, 3), S[:2], 0.01)
    start = steps.AlignedStart(draw(3, 3), S, 0.01)
    refused("t", "-1", "at least 0", start.least, -1)
