"""Laws of which the Orlicz norm is known, or the quantile of an average."""

import math

import pytest
import torch
from scipy.stats import norm

from checks import unchecked
from companion.theory.probability import averages, orlicz


def test_the_orlicz_norm_of_known_laws():
    coin = torch.tensor([[1.0, -1.0]], dtype=torch.float64)
    half = torch.full_like(coin, 0.5)
    assert float(orlicz.norm(coin, half)) == pytest.approx(1 / math.sqrt(math.log(2)), rel=1e-12)
    rare = torch.tensor([2.0, 0.0], dtype=torch.float64)
    p = torch.tensor([0.01, 0.99], dtype=torch.float64)
    assert float(orlicz.norm(rare, p)) == pytest.approx(2 / math.sqrt(math.log(101)), rel=1e-12)


def test_the_orlicz_norm_of_a_gaussian():
    y = torch.linspace(-30, 30, 60001, dtype=torch.float64)
    p = torch.exp(-(y**2) / 2)
    assert float(orlicz.norm(y, p / p.sum())) == pytest.approx(math.sqrt(8 / 3), rel=1e-6)


def test_the_orlicz_norm_has_a_gradient():
    values = torch.tensor([1.0, -0.4, 0.2], dtype=torch.float64, requires_grad=True)
    p = torch.tensor([0.2, 0.5, 0.3], dtype=torch.float64)
    (slope,) = torch.autograd.grad(orlicz.norm(values, p), values)
    step = 1e-5
    for k in range(3):
        shift = torch.zeros(3, dtype=torch.float64)
        shift[k] = step
        with torch.no_grad():
            difference = (orlicz.norm(values + shift, p) - orlicz.norm(values - shift, p)) / (2 * step)
        assert float(slope[k]) == pytest.approx(float(difference), abs=1e-8)


def test_the_orlicz_norm_wants_as_many_probabilities_as_values():
    with pytest.raises(ValueError, match="probabilities must have shape"), unchecked():
        orlicz.norm(torch.ones(3), torch.ones(2) / 2)


def test_the_orlicz_norm_ignores_values_without_weight():
    values = torch.tensor([1.0, -1.0, 5.0], dtype=torch.float64)
    p = torch.tensor([0.5, 0.5, 0.0], dtype=torch.float64)
    assert float(orlicz.norm(values, p)) == pytest.approx(1 / math.sqrt(math.log(2)), rel=1e-12)


@pytest.mark.parametrize(
    ("values", "p", "message"),
    [
        ([0.0, 0.0], [0.5, 0.5], "a variable that is 0"),
        ([0.0, 1.0], [1.0, 0.0], "a variable that is 0"),
        ([1.0, 2.0], [0.5, 0.6], "add up to 1"),
        ([1.0, 2.0], [1.5, -0.5], "at least 0"),
        ([1.0, math.nan], [0.5, 0.5], "values must be finite"),
    ],
)
def test_the_orlicz_norm_refuses_what_is_no_law(values, p, message):
    with pytest.raises(ValueError, match=message):
        orlicz.norm(torch.tensor(values, dtype=torch.float64), torch.tensor(p, dtype=torch.float64))


LINE = torch.linspace(-10, 10, 2001, dtype=torch.float64)


@pytest.mark.parametrize("count", [1, 7])
def test_the_quantile_of_gaussians(count):
    found = averages.quantile_of_mean(0.95, 3 + 2 * LINE, torch.exp(-(LINE**2) / 2), count)
    assert found == pytest.approx(2 * norm.isf(0.025) / math.sqrt(count), rel=1e-9)


def test_the_quantile_of_four_uniform_numbers():
    uniform = torch.linspace(-1, 1, 20001, dtype=torch.float64)
    found = averages.quantile_of_mean(0.95, uniform, torch.ones_like(uniform), 4)
    # near its end the sum of four uniform numbers on [-1, 1] has the tail (4 - x)^4/384
    sum_of_tail = 2 * ((4 - 4 * found) ** 4 - 4 * max(0.0, 2 - 4 * found) ** 4) / 384
    assert sum_of_tail == pytest.approx(0.05, rel=1e-3)


def test_the_quantile_of_a_skewed_law_is_that_of_draws():
    exponential = torch.arange(1, 40000, dtype=torch.float64) / 1000
    weights = torch.exp(-exponential)
    draws = torch.empty(200_000, 5, dtype=torch.float64)
    draws.exponential_(generator=torch.Generator().manual_seed(0))
    sampled = float((draws.mean(1) - 1).abs().quantile(0.95))
    assert averages.quantile_of_mean(0.95, exponential, weights, 5) == pytest.approx(sampled, rel=0.01)


def test_what_has_no_such_quantile_is_refused():
    coin, half = torch.tensor([-1.0, 1.0], dtype=torch.float64), torch.tensor([0.5, 0.5], dtype=torch.float64)
    with pytest.raises(ValueError, match="density"):
        averages.quantile_of_mean(0.95, coin, half, 16)
    with pytest.raises(ValueError, match="the same"):
        averages.quantile_of_mean(0.95, torch.ones_like(coin), half, 16)
    with pytest.raises(ValueError, match="weights"):
        averages.quantile_of_mean(0.95, coin, -half, 16)
