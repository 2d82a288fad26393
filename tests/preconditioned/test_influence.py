"""One context for all queries: T by hand, its first order by derivatives, and the jump of a context that is written out."""

import math

import numpy as np
import pytest
import torch
from scipy.special import ndtri

from checks import refused
from companion.theory.preconditioned import influence
from shallowformer.preconditioned import gradients

X = torch.arange(-9, 9.01, 0.05, dtype=torch.float64)
MASS = (-X.square() / 2).exp() * 0.05 / math.sqrt(2 * math.pi)


def by_hand(tokens, b):
    return float((MASS * X) @ (torch.softmax(b * X[:, None] * tokens, 1) @ tokens)) - b


@pytest.mark.parametrize("b", [0.4, 1.0, 2.0])
def test_deviation_is_the_mean_over_queries(draw, b):
    tokens = draw(5, 7)
    found = influence.deviation(tokens, b)
    assert found.tolist() == pytest.approx([by_hand(row, b) for row in tokens], abs=1e-7)


def test_deviation_does_not_depend_on_blocks(draw, monkeypatch):
    tokens = draw(6, 9)
    whole = influence.deviation(tokens, 1.3)
    monkeypatch.setattr(influence, "_BLOCK", 1500)
    torch.testing.assert_close(influence.deviation(tokens, 1.3), whole)


def test_among_is_the_gradient_at_zero(draw):
    """∇_A𝓛_n at A = 0, B = b, M̃ = −1 without noise is n^{−1}Σx_iẑ_i."""
    x = draw(12, 1)
    one = torch.ones(1, 1, dtype=torch.float64)
    _, of_A, _ = gradients.loss_and_gradients(0 * one, 1.5 * one, x, -x)
    assert float(influence.among(x[:, 0], 1.5)) == pytest.approx(float(of_A) - 1.5)


@pytest.mark.parametrize("b", [0.5, 1.0, 2.0])
def test_the_influence_is_a_mean_over_queries(b):
    for t in (-2.5, 0.0, 1.7):
        w = (b * X * t - (b * X).square() / 2).exp()
        expected = float((MASS * X * w) @ (t - b * X))
        assert float(influence.influence(torch.tensor(t, dtype=torch.float64), b)) == pytest.approx(expected)


def test_the_variance_is_that_of_the_influence():
    t = torch.arange(-20, 20, 0.01, dtype=torch.float64)
    mass = (-t.square() / 2).exp() * 0.01 / math.sqrt(2 * math.pi)
    for b in (0.3, 0.7):
        assert influence.variance(b) == pytest.approx(float(mass @ influence.influence(t, b).square()))
    assert influence.variance(1.0) == influence.variance(1.5) == math.inf


def test_the_exponent_is_one_half_up_to_1():
    assert [influence.exponent(b) for b in (0.3, 1.0, 2.0)] == pytest.approx([0.5, 0.5, 0.2])


@pytest.mark.parametrize("b", [1.0, 1.6])
def test_the_jump_of_a_context_that_is_written_out(b):
    """300 000 tokens at midpoints of equal shares of the normal law below y, and the largest."""
    n = 300_000
    jump, y = influence.jump(b, math.log(n))
    below = torch.from_numpy(ndtri((np.arange(n - 1) + 0.5) / n))
    assert float(below.max()) < y == pytest.approx(-ndtri(1 / n))
    ends = [by_hand(torch.cat([below, torch.tensor([top]).double()]), b) for top in (y, y + 1 / y)]
    assert math.log(ends[1] - ends[0]) == pytest.approx(jump, abs=0.01)


def test_refused(draw):
    refused("b", "4", "3", influence.deviation, draw(2, 3), 4.0)
    refused("log_n", "2", "3", influence.jump, 1.0, 2.0)
    refused("tokens", "(3,)", "contexts n", influence.deviation, draw(3), 1.0)
