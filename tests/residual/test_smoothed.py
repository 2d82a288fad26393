"""The smoothed ReLU against its definition as a Gaussian mean, its derivatives against autograd, its bounds where they are attained."""

import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad

from shallowformer.residual.smoothed import RELU, SmoothedReLU

GRID = torch.linspace(-6, 6, 2401, dtype=torch.float64)


@pytest.mark.parametrize("tau", [0.05, 0.3, 2.0])
@pytest.mark.parametrize("x", [-1.7, -0.1, 0.0, 0.4, 3.0])
def test_the_mean_of_relu_under_noise(tau, x):
    density = lambda u: max(x + tau * u, 0.0) * math.exp(-u * u / 2) / math.sqrt(2 * math.pi)
    kink = float(np.clip(-x / tau, -12, 12))
    mean = quad(density, -12, kink, epsabs=1e-14)[0] + quad(density, kink, 12, epsabs=1e-14)[0]
    expected = mean - tau / math.sqrt(2 * math.pi)
    found = SmoothedReLU(tau)(torch.tensor([x], dtype=torch.float64))
    assert float(found) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("tau", [0.01, 0.3, 2.0])
def test_derivatives_are_autograds(tau):
    phi, x = SmoothedReLU(tau), GRID.clone().requires_grad_()
    (first,) = torch.autograd.grad(phi(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert torch.allclose(phi.first(GRID), first.detach(), rtol=0, atol=1e-13 / tau)
    assert torch.allclose(phi.second(GRID), second, rtol=0, atol=1e-13 / tau)
    (by_first,) = torch.autograd.grad(phi.first(x).sum(), x)
    assert torch.allclose(phi.second(GRID), by_first, rtol=0, atol=1e-13 / tau)


@pytest.mark.parametrize("tau", [0.0, 0.01, 0.3, 2.0])
def test_assumption_1(tau):
    phi = SmoothedReLU(tau)
    assert float(phi(torch.zeros(1, dtype=torch.float64))) == 0
    assert bool((phi(GRID).abs() <= GRID.abs() * (1 + 1e-14)).all())
    assert bool(((phi.first(GRID) >= 0) & (phi.first(GRID) <= 1)).all())
    assert bool((phi.second(GRID) <= phi.beta).all())


def test_the_largest_curvature_is_attained_at_zero():
    phi = SmoothedReLU(0.3)
    assert phi.beta == pytest.approx(1 / (0.3 * math.sqrt(2 * math.pi)))
    assert float(phi.second(torch.zeros(1, dtype=torch.float64))) == phi.beta
    assert RELU.beta == math.inf


def test_relu_is_the_limit():
    near = SmoothedReLU(1e-9)
    assert torch.allclose(near(GRID), RELU(GRID), rtol=0, atol=1e-9)
    away = GRID.abs() > 1e-3
    assert torch.equal(near.first(GRID[away]), RELU.first(GRID[away]))
    assert not bool(RELU.second(GRID).any())


def test_small_arguments_keep_their_digits():
    x = torch.tensor([1e-9], dtype=torch.float64)
    assert float(SmoothedReLU(0.3)(x)) == pytest.approx(5e-10, rel=1e-8)
