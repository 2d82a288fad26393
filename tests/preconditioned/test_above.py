"""The exponent above the threshold, and the constant at it."""

import math

import pytest
import torch

from checks import refused
from shallowformer.preconditioned import above, noise


@pytest.mark.parametrize(("b", "alpha"), [(2**-0.5, 1.0), (1.0, (5**0.5 - 1) / 2), (2 / 3**0.5, 0.5)])
def test_known_exponents(b, alpha):
    assert above.exponent(b) == pytest.approx(alpha, rel=1e-12)


def test_the_exponent_is_the_least_sum_of_costs():
    r = torch.linspace(0.5, 2, 200_001, dtype=torch.float64)
    for b in (0.8, 1.3, 3.0):
        costs = r / (2 * b**2) + (r.rsqrt() - r.sqrt() / 2).square() / 2
        assert above.exponent(b) == pytest.approx(float(costs.min()), rel=1e-8)


def test_the_constant_of_one_dimension():
    one = torch.ones(1, 1, dtype=torch.float64)
    constant, power = above.at_threshold(3 * one, noise.THRESHOLD * one)
    assert constant == pytest.approx(9 * (4 / 3) ** 1.5 / (3 * math.sqrt(2 * math.pi)))
    assert power == 1.5


def test_multiplicity_and_the_rest():
    b = torch.tensor([2**-0.5, 2**-0.5, 0.5], dtype=torch.float64)
    constant, power = above.at_threshold(torch.eye(3, dtype=torch.float64), b.diag())
    assert power == 2.0
    assert constant == pytest.approx(2 * (4 / 3) ** 2 / (2 * 2 * 4) * 2**0.5)


def test_refused():
    refused("b", "0.5", "at least", above.exponent, 0.5)
    with refused("B_tilde", "1.0", "2^(-1/2)"):
        above.at_threshold(torch.eye(2, dtype=torch.float64), torch.eye(2, dtype=torch.float64))
