"""Means of P₂, P₃ and P₂²: against grids, drawn tokens, their own edge cases, and bounds."""

import math

import numpy as np
import pytest
import torch

from checks import refused
from shallowformer.preconditioned import participation


@pytest.mark.parametrize("rho", [0.0, 5e-4, 0.3, 1.7, 6.0])
def test_two_tokens_by_a_grid(rho):
    t = np.arange(-12, 12, 0.02)
    mass = np.exp(-(t**2) / 2) * 0.02 / math.sqrt(2 * math.pi)
    p = 1 / (1 + np.exp(-rho * math.sqrt(2) * t))
    P2, P3 = p**2 + (1 - p) ** 2, p**3 + (1 - p) ** 3
    expected = [mass @ P2, mass @ P3, mass @ P2**2]
    assert participation.means(rho, [2])[0].tolist() == pytest.approx(expected, rel=1e-11)


def test_one_token_and_equal_weights():
    assert participation.means(2.0, [1])[0].tolist() == pytest.approx([1, 1, 1], rel=1e-11)
    assert participation.means(0.0, [7])[0].tolist() == pytest.approx([1 / 7, 1 / 49, 1 / 49])


@pytest.mark.parametrize(("rho", "n"), [(1.5, 20), (3.0, 200)])
def test_drawn_tokens(rho, n):
    """Within 5 standard errors of 20 000 draws, below 1 % each."""
    t = torch.randn(20_000, n, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    p = torch.softmax(rho * t, 1)
    P2, P3 = p.square().sum(1), p.pow(3).sum(1)
    found = participation.means(rho, [n])[0]
    for expected, values in zip(found.tolist(), (P2, P3, P2.square()), strict=True):
        error = float(values.std()) / len(values) ** 0.5
        assert abs(float(values.mean()) - expected) < 5 * error
        assert error < 0.015 * expected


def test_several_sizes_at_once_are_the_same():
    together = participation.means(2.5, [3, 1e4, 1e12])
    alone = torch.cat([participation.means(2.5, [n]) for n in (3, 1e4, 1e12)])
    torch.testing.assert_close(together, alone, rtol=1e-10, atol=0)


@pytest.mark.parametrize("n", [1, 2, 50, 1e6, 1e30])
@pytest.mark.parametrize("rho", [0.0, 0.7, 3.0, 9.0])
def test_bounds(rho, n):
    P2 = float(participation.means(rho, [n])[0, 0])
    assert participation.one_token(rho, n) <= P2 * (1 + 1e-9)
    assert math.exp(rho**2) / (n - 1 + math.exp(rho**2)) * (1 + 1e-9) >= P2


def test_the_truncated_second_moment_by_a_grid():
    t = np.arange(-12, 30, 0.001)
    mass = np.exp(-(t**2) / 2) * 0.001 / math.sqrt(2 * math.pi)
    for rho, n in ((0.5, 10), (2.0, 1e3), (4.0, 1e3)):
        expected = n * mass @ np.minimum(1, np.exp(rho * t - rho**2 / 2) / n) ** 2
        assert participation.truncated(rho, n) == pytest.approx(expected, rel=1e-5)


def test_a_huge_context_at_fixed_scores():
    assert 1e80 * float(participation.means(2.0, [1e80])[0, 0]) == pytest.approx(math.exp(4), rel=1e-8)


def test_refused():
    refused("rho", "41", "at most 40", participation.means, 41.0, [2])
    refused("n", "0.5", "at least 1", participation.means, 1.0, [0.5])
    refused("n", "1e+101", "at most 1e+100", participation.one_token, 1.0, 1e101)
