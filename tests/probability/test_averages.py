"""Averages of laws for which the quantile is known."""

import math

import pytest
import torch
from scipy.stats import norm

from companion.theory.probability import averages

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
