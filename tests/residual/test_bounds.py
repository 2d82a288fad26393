"""Block gradient bounds by diameters: never exceeded, attained, never above those by norms, many networks at once."""

import math

import pytest
import torch

from checks import refused
from shallowformer.residual import bounds, gradients, starts
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.smoothed import RELU, SmoothedReLU


def sizes(found):
    return torch.stack([W.flatten(-2).norm(dim=-1) for W in found], -1)


def draws(seed, number=40):
    """Networks whose blocks differ in scale by up to a hundred."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(number):
        X = torch.randn(2, 3, 4, generator=generator, dtype=torch.float64)
        theta = starts.gaussian(4, 2, 5, 3, generator)
        scale = 10 ** (2 * torch.rand(6, generator=generator, dtype=torch.float64) - 1)
        Y = torch.randn(2, 3, 3, generator=generator, dtype=torch.float64)
        yield X, Y, Parameters(*(s * W for s, W in zip(scale, theta, strict=True)))


@pytest.mark.parametrize("activation", [RELU, SmoothedReLU(0.3)])
def test_above_every_gradient_and_below_the_bounds_by_norms(activation):
    setting = Setting(0.7, 0.4, activation)
    for X, Y, theta in draws(0):
        found = sizes(gradients.gradients(X, Y, theta, setting))
        ours = bounds.by_diameters(X, Y, theta, setting)
        norms = torch.tensor(bounds.block_gradients(X, Y, theta, setting), dtype=torch.float64)
        assert bool((found <= ours * (1 + 1e-12)).all())
        assert bool((ours <= norms * (1 + 1e-12)).all())
        assert bool(torch.allclose(ours[2:], norms[2:], rtol=1e-12))


@pytest.mark.parametrize(
    ("block", "error", "q", "k"), [(0, (1, 0), 0, 2), (1, (1, 0), 2, 0), (2, (1, 1), 0, 2)]
)
def test_attained_by_two_scalar_tokens(block, error, q, k):
    number = lambda value: torch.full((1, 1), float(value), dtype=torch.float64)
    X = torch.tensor([[[1.3], [0.0]]], dtype=torch.float64)
    theta = Parameters(*map(number, (q, k, 0.7, 1.5, 0.8, 1.1)))
    E = torch.tensor(error, dtype=torch.float64).reshape(1, 2, 1)
    Y = gradients.backward(X, torch.zeros_like(E), theta, Setting()).E - E
    found = sizes(gradients.gradients(X, Y, theta, Setting()))
    ratio = found / bounds.by_diameters(X, Y, theta, Setting())
    assert float(ratio[block]) == pytest.approx(1, abs=1e-12)


def test_side_by_side():
    cases = list(draws(1, 3))
    X, Y = (torch.stack([case[k] for case in cases]) for k in (0, 1))
    together = bounds.by_diameters(X, Y, starts.side_by_side([case[2] for case in cases]), Setting())
    alone = [bounds.by_diameters(*case, Setting()) for case in cases]
    assert torch.allclose(together, torch.stack(alone), rtol=1e-12)


def test_a_diameter_is_the_largest_distance_and_has_a_slope_at_0():
    M = torch.tensor([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]], dtype=torch.float64)
    assert float(bounds.diameter(M)) == 5
    equal = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    value = bounds.diameter(equal)
    value.backward()
    assert float(value.detach()) == 0
    assert math.isfinite(float(equal.grad.sum()))


def test_what_does_not_fit_is_refused():
    X, Y, theta = next(iter(draws(2)))
    refused("Y", "(1, 3, 3)", "(2, 3, 3)", bounds.by_diameters, X, Y[:1], theta, Setting())
