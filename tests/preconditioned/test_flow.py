"""Gradient flow: against a closed form, and descent with small steps."""

import math

import pytest
import torch

from checks import refused
from shallowformer.preconditioned import factorisation, flow

ONE = torch.ones(1, 1, dtype=torch.float64)


def test_a_logistic_curve():
    """Balanced and 1 × 1, z = 2u² obeys ż = z(2s − z)."""
    start = 0.1 * ONE
    times = [0.0, 1.0, 5.0]
    for t, (U, V) in zip(times, flow.solve(start, start, ONE, times), strict=True):
        z = 2 / (1 + (2 / 0.02 - 1) * math.exp(-2 * t))
        assert float(2 * U * V) == pytest.approx(z, rel=1e-9)


@pytest.mark.parametrize("lam", [0.0, 0.5, 2.0])
def test_descent_follows(lam, draw):
    U, V, M = draw(3, 2), draw(4, 2, seed=2), draw(3, 4, seed=3)
    ((found, _),) = flow.solve(U, V, M, [0.2], lam)
    off = []
    for steps in (400, 800):
        A, B = U, V
        for _ in range(steps):
            of_A, of_B = factorisation.gradient(A, B, M, lam)
            A, B = A - 0.2 / steps * of_A, B - 0.2 / steps * of_B
        off.append(float((A - found).abs().max()))
    assert off[1] < 1e-2
    assert off[0] / off[1] == pytest.approx(2, abs=0.1)


def test_refused(draw):
    U = V = M = ONE
    refused("times", "[1.0, 0.5]", "increase from 0 on", flow.solve, U, V, M, [1, 0.5])
    refused("lam", "-1", "at least 0", flow.solve, U, V, M, [1], lam=-1.0)
