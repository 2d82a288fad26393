"""Heads on a line, with which hypotheses are taken away, are the package's heads in one dimension."""

import math

import pytest
import torch

from companion.theory.kernel_regime.hypotheses import on_a_line
from shallowformer import queries
from shallowformer.kernel_regime.model import linear_model, transformer
from shallowformer.kernel_regime.model.parameters import Parameters

START = [(1.0, 0.7, -0.4), (-1.0, 1.3, 0.9)]
MOVED = [(1.2, 0.5, 0.1), (-0.7, 1.6, 0.4)]
TOKENS, Q = (1.0, -0.3, 0.6), 0.8


def packed(heads):
    c, U, W = (torch.tensor(block, dtype=torch.float64) for block in zip(*heads, strict=True))
    return Parameters(c, U[:, None], W[:, None, None])


def of_the_package():
    query = queries.fixed(torch.tensor([Q], dtype=torch.float64))
    return torch.tensor(TOKENS, dtype=torch.float64)[None, :, None], query


def test_the_model_and_its_tangent_are_those_of_the_package():
    X, query = of_the_package()
    assert on_a_line.model(MOVED, TOKENS, Q) == pytest.approx(
        float(transformer.f(X, packed(MOVED), query)), rel=1e-13
    )
    linear = linear_model.f_lin(X, packed(MOVED), packed(START), query)
    assert on_a_line.tangent(START, MOVED, TOKENS, Q) == pytest.approx(float(linear), rel=1e-13)


@pytest.mark.parametrize("bent", [on_a_line.TANH, on_a_line.COSINE, on_a_line.SMOOTH_RAMP])
def test_slopes_are_derivatives(bent):
    u, w, step = 0.7, 0.4, 1e-6
    by = lambda du, dw: on_a_line.hidden(TOKENS, u + du, w + dw, Q, bent)
    quotients = ((by(step, 0) - by(-step, 0)) / (2 * step), (by(0, step) - by(0, -step)) / (2 * step))
    assert on_a_line.slopes(TOKENS, u, w, Q, bent) == pytest.approx(quotients, abs=1e-9)


def test_means_are_those_of_a_gaussian():
    assert on_a_line.mean(lambda g: g**4) == pytest.approx(3, rel=1e-12)
    assert on_a_line.mean_of_two(lambda u, w: (u * w) ** 2 + u) == pytest.approx(1, rel=1e-12)
    assert on_a_line.mean_of_two(lambda u, w: 2.0) == pytest.approx(2, rel=1e-12)
    assert on_a_line.tail(1.0) == pytest.approx(math.erfc(0.5**0.5), rel=1e-14)


def test_the_ramps_have_the_bounds_that_are_said_of_them():
    z = torch.linspace(-1, 2, 30001, dtype=torch.float64).numpy()
    step = z[1] - z[0]
    value, slope = on_a_line.SMOOTH_RAMP
    assert abs(slope(z)).max() == pytest.approx(1.5, rel=1e-6)
    assert abs(slope(z)[1:] - slope(z)[:-1]).max() <= 6 * step * (1 + 1e-9)
    assert on_a_line.RAMP[0](z).max() <= 1
    assert on_a_line.RAMP[1](z).max() == 1
    assert value(0.5) == 0.5
