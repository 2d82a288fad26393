import math

import pytest
import torch

from checks import numbers, unchecked
from shallowformer import activations
from shallowformer.probability import gaussian_means, gaussian_norms


@pytest.mark.parametrize(
    ("power", "mean"), [(0, 1.0), (1, math.sqrt(2 / math.pi)), (2, 1.0), (4, 3.0), (8, 105.0)]
)
def test_gaussian_means_of_powers(power, mean):
    found = gaussian_means.gaussian_mean(lambda g: g.abs() ** power)
    assert float(found) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("rate", [1.0, 10.0, 100.0, 1000.0])
def test_a_steep_function_is_seen(rate):
    # E sech²(rate·G) by the trapezoidal rule in x = rate·g, exponentially accurate.
    x = torch.arange(-60, 60, 0.01, dtype=torch.float64)
    density = torch.exp(-((x / rate) ** 2) / 2) / math.sqrt(2 * math.pi) / rate
    wanted = float(((1 - torch.tanh(x) ** 2) * density).sum() * 0.01)
    sigma = activations.stretched(activations.TANH, rate)
    assert float(gaussian_means.gaussian_mean(sigma.first)) == pytest.approx(wanted, rel=1e-9)


def test_the_half_line_carries_half_of_the_mass():
    nodes, weights = gaussian_means.half_line(torch.linspace(0, 9, 11))
    assert nodes.shape == weights.shape == (100,)
    assert float(weights.sum()) == pytest.approx(0.5, rel=1e-13)


def test_panels_integrate_a_polynomial_of_degree_19_exactly():
    nodes, weights = gaussian_means.panels([-1.0, 0.5, 2.0])
    assert float((weights * nodes**19).sum()) == pytest.approx((2.0**20 - 1) / 20, rel=1e-13)


@pytest.mark.parametrize("edges", [[0.0], [0.0, 0.0], [1.0, 0.0], [[0.0, 1.0]], [0.0, math.nan]])
def test_edges_that_do_not_increase_are_refused(edges):
    with pytest.raises(ValueError, match="edges must be at least two increasing numbers"), unchecked():
        gaussian_means.half_line(edges)


@pytest.mark.parametrize("d", [1, 2, 8, 64])
def test_the_expected_norm_of_equal_eigenvalues(d):
    found = float(gaussian_means.expected_norm(torch.full((d,), 0.3, dtype=torch.float64)))
    assert found == pytest.approx(0.3 * gaussian_norms.mean_norm(d), rel=1e-11)


def test_the_expected_norm_against_simulation_scale_and_rank_one():
    spectrum = numbers(0.7, 0.2, 0.1)
    G = torch.randn(400_000, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = float(gaussian_means.expected_norm(spectrum))
    assert found == pytest.approx(float((G * spectrum).norm(dim=-1).mean()), rel=5e-3)
    assert float(gaussian_means.expected_norm(-1e-6 * spectrum)) == pytest.approx(1e-6 * found, rel=1e-12)
    assert float(gaussian_means.expected_norm(numbers(0.5, 0.0))) == pytest.approx(
        0.5 * gaussian_means.MEAN_ABS, rel=1e-11
    )
    assert found < gaussian_means.MEAN_ABS


def test_the_expected_norm_of_nothing_is_refused():
    with pytest.raises(ValueError, match="spectrum must have an eigenvalue other than 0"):
        gaussian_means.expected_norm(numbers(0.0, 0.0))
