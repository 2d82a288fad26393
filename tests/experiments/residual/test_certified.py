"""What is posed, and what a row says."""

import math

import pytest
import torch

from checks import refused
from companion.experiments.residual import certified_standard, certified_widths
from companion.experiments.residual.certified_widths import Config
from shallowformer.residual import gradients
from shallowformer.residual.parameters import Parameters

CPU = torch.device("cpu")


@pytest.mark.parametrize("tokens", ["gaussian", "orthonormal"])
def test_widths_share_all_but_the_number_of_neurons(tokens):
    narrow, wide = (certified_widths.posed(Config(tokens, 1.0, 0.0, "1", 3), d_1) for d_1 in (7, 20))
    assert torch.equal(narrow[0], wide[0])
    assert torch.equal(narrow[1], wide[1])
    assert torch.equal(narrow[2].W_U, wide[2].W_U)
    assert torch.equal(narrow[2].W_1[:, :4], wide[2].W_1[:, :4])
    assert not wide[2].W_2.any()
    assert float(wide[1].square().sum()) == pytest.approx(12)
    small = certified_widths.posed(Config(tokens, 1.0, 0.0, "1/sqrt d", 3), 20)[2]
    assert torch.allclose(small.W_1 * math.sqrt(6), wide[2].W_1)


def test_a_standard_start_differs_in_the_last_layer_only():
    config = certified_standard.Config("gaussian", 3.0, "1", 2)
    X, _, theta, setting = certified_standard.posed(config, 4000)
    zero = certified_widths.posed(Config("gaussian", 3.0, 0.3, "1", 2), 4000)
    assert torch.equal(X, zero[0])
    assert setting == zero[3]
    for name, W in theta._asdict().items():
        assert torch.equal(W, getattr(zero[2], name)) == (name != "W_2")
    assert float(theta.W_2.square().mean()) == pytest.approx(1 / 4000, rel=0.05)


def test_what_descent_needs_is_found_by_runs_of_one_network_at_a_time(monkeypatch):
    # Signatures are checked by the other tests; here are 1000 steps.
    monkeypatch.setattr(certified_widths, "NARROW", (0, 1, 3))
    monkeypatch.setattr(certified_widths, "STEPS", 500)
    config = Config("gaussian", 1.0, 0.0, "1/sqrt d", 0, P=1, N=2, d=3, d_k=2, K=1)
    reached = []
    for d_1 in (0, 1, 3):
        X, Y, theta, setting = certified_widths.posed(config, max(d_1, 1))
        theta = theta if d_1 else theta._replace(W_1=torch.zeros_like(theta.W_1))
        mu = 0.25 / certified_widths.curvature.largest(X, Y, theta, setting)
        first = float(gradients.backward(X, Y, theta, setting).loss)
        for _ in range(500):
            now = gradients.unchecked(X, Y, theta, setting)
            theta = Parameters(*(W - mu * g for W, g in zip(theta, now.gradients, strict=True)))
        reached.append(float(gradients.unchecked(X, Y, theta, setting).loss) < 1e-6 * first)
    expected = next((d_1 for d_1, there in zip((0, 1, 3), reached, strict=True) if there), -1)
    assert certified_widths.needed(config) == expected


def test_other_tokens_and_deviations_are_refused():
    refused("tokens", "'words'", "gaussian", certified_widths.posed, Config("words", 1.0, 0.0, "1", 0), 5)
    with refused("tokens", "'orthonormal'", "at most d"):
        certified_widths.posed(Config("orthonormal", 1.0, 0.0, "1", 0, P=3), 5)
    refused("deviation", "'2'", "'1/sqrt d'", certified_widths.posed, Config("gaussian", 1.0, 0.0, "2", 0), 5)


def test_a_width_that_is_not_found_is_said_to_be_so(monkeypatch):
    monkeypatch.setattr(certified_widths, "MOST", 10)
    config = Config("orthonormal", 3.0, 0.3, "1", 0, P=1, N=2, d=3, d_k=2, K=1)
    found = certified_widths.compute(config, CPU)
    assert found["width"] == -1
    assert found["run"] == {}
    assert found["law"] > 10
