"""The kernel by drawing weights, the bound where it is attained, the width as the proof chooses its numbers."""

import math

import pytest
import torch

from checks import refused
from companion.theory.residual import kernel
from shallowformer.residual.smoothed import RELU, SmoothedReLU


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("tau", [0.0, 0.5, 2.0])
def test_the_kernel_is_a_mean_over_weights(tau):
    Z, activation = draw(4, 6), SmoothedReLU(tau)
    A = activation(Z @ (0.7 * draw(6, 400_000, seed=1)))
    assert torch.allclose(kernel.gram(Z, activation, 0.7), A @ A.T / 400_000, rtol=0.02, atol=0.01)


def test_of_one_token_it_is_half_of_its_square():
    Z = draw(1, 3)
    assert float(kernel.gram(Z, RELU)) == pytest.approx(float(Z.square().sum()) / 2, rel=1e-13)


def test_many_at_once():
    Z, activation = draw(5, 3, 4), SmoothedReLU(0.3)
    one = torch.stack([kernel.lower_bound(each, activation) for each in Z])
    assert torch.allclose(kernel.lower_bound(Z, activation), one, rtol=1e-13)
    assert kernel.gram(Z, activation).shape == (5, 3, 3)


@pytest.mark.parametrize("tau", [0.0, 0.3, 5.0])
def test_orthogonal_rows_of_one_length_attain_the_bound(tau):
    Z, activation = 1.7 * torch.linalg.qr(draw(5, 3))[0].T, SmoothedReLU(tau)
    least = float(torch.linalg.eigvalsh(kernel.gram(Z, activation, 0.6))[0])
    assert least == pytest.approx(float(kernel.lower_bound(Z, activation, 0.6)), rel=1e-10)


def test_the_constant_runs_from_a_quarter_to_that_of_relu():
    v = kernel.constant(torch.linspace(1e-4, 1, 200, dtype=torch.float64))
    assert float(v[0]) == pytest.approx(0.25, abs=1e-8)
    assert float(v[-1]) == pytest.approx(kernel.OF_RELU, abs=1e-7)
    assert bool((v.diff() > 0).all())


def test_slopes_are_finite_on_the_diagonal():
    Z = draw(3, 4).requires_grad_()
    kernel.gram(Z, RELU).sum().backward()
    assert bool(Z.grad.isfinite().all())


def test_the_width_makes_the_failure_as_unlikely_as_asked():
    for spread, n, delta in ((4.0, 4, 0.1), (300.0, 8, 1e-3)):
        at = kernel.width(spread, n, delta)
        assert kernel.failure(at, spread, n, kernel.OF_RELU, 0.06, 0.553) <= delta
        assert kernel.failure(0.98 * at, spread, n, kernel.OF_RELU, 0.06, 0.553) > delta
    assert (1 - 0.553) * (kernel.OF_RELU - 0.06) > 1 / 8


def test_what_is_refused():
    refused("spread", "2.0", "at least 4", kernel.width, 2.0, 4, 0.1)
    refused("eta", "1", "at most v", kernel.failure_rate, 2.0, 0.3, 1.0, 0.5)
    assert math.isfinite(kernel.failure_rate(1.0, 0.3, 0.1, 0.5))
