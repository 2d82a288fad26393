"""A sweep against runs of one network at a time, and what is posed."""

import itertools
import json
import math

import pytest
import torch

from checks import refused, unchecked
from companion.experiments.residual import climate_windows, coefficient_sweep, coefficients
from companion.experiments.residual.coefficient_sweep import Config
from companion.theory.residual import made_up_weather
from shallowformer.residual import model, starts
from shallowformer.residual.parameters import Parameters, Setting

SMALL = Config("with", 1, P=2, N=3, d=5, d_k=2, d_1=8, K=2, steps=100)
CPU = torch.device("cpu")


def one_at_a_time(X, Y, theta, setting, mu, steps):
    """Losses by automatic differentiation."""
    W = [part.clone().requires_grad_() for part in theta]
    losses = []
    for _ in range(steps + 1):
        loss = model.loss(X, Y, Parameters(*W), setting)
        losses.append(float(loss.detach()))
        slopes = torch.autograd.grad(loss, W, allow_unused=True)
        W = [
            (part if slope is None else part - mu * slope).detach().requires_grad_()
            for part, slope in zip(W, slopes, strict=True)
        ]
    return losses


def hessian_norm(X, Y, theta, setting):
    flat = torch.cat([part.flatten() for part in theta])
    sizes = [part.numel() for part in theta]

    def loss(vector):
        parts = [piece.reshape(part.shape) for piece, part in zip(vector.split(sizes), theta, strict=True)]
        return model.loss(X, Y, Parameters(*parts), setting)

    with unchecked():
        return float(torch.linalg.eigvalsh(torch.autograd.functional.hessian(loss, flat)).abs().max())


def test_a_sweep_is_many_runs(monkeypatch):
    monkeypatch.setattr(
        coefficients, "AT", (0, 5, 30)
    )  # later, steps at the edge of stability make rounding errors grow
    X, Y, theta = coefficient_sweep.posed(SMALL)
    pairs = ((0.0, 1.0), (1.0, 1.0), (0.5, 0.0))
    found = coefficients.sweep(X, Y, theta, 1e-3, 30, pairs)
    for which, pair in enumerate(pairs):
        setting = Setting(*pair)
        begin = starts.scaled(theta, W_U=float(Y.norm() / model.outputs(X, theta, setting).norm()))
        assert float(model.outputs(X, begin, setting).norm()) == pytest.approx(float(Y.norm()))
        for rule, start in (("fixed", theta), ("own", theta), ("level", begin)):
            mu = 1e-3 if rule == "fixed" else 1 / hessian_norm(X, Y, start, setting)
            losses = one_at_a_time(X, Y, start, setting, mu, 30)
            assert found[rule]["loss"][which] == pytest.approx([losses[0], losses[5], losses[30]], rel=1e-7)
            rises = sum(b > a for a, b in itertools.pairwise(losses)) / 30
            assert found[rule]["rises"][which] == pytest.approx(rises)
        assert found["curvature"][which] == pytest.approx(hessian_norm(X, Y, theta, setting), rel=1e-5)
        Z = model.forward(X, theta, setting).Z
        assert found["condition"][which] == pytest.approx(float(torch.linalg.cond(Z).log().mean().exp()))
        assert found["smallest"][which] == pytest.approx(float(torch.linalg.svdvals(Z).min()))


def test_a_network_whose_steps_are_too_long_is_stopped_and_others_are_not():
    X, Y, theta = coefficient_sweep.posed(SMALL)
    alone = coefficients.sweep(X, Y, theta, 1.0, 100, ((0.0, 0.0),))
    with_other = coefficients.sweep(X, Y, theta, 0.003, 100, ((0.0, 0.0), (30.0, 1.0)))
    assert alone["fixed"]["stopped"] == [True]
    assert with_other["fixed"]["stopped"] == [False, True]
    assert with_other["fixed"]["loss"][0][-1] < with_other["fixed"]["loss"][0][0]


def test_tokens_and_start_do_not_depend_on_the_targets():
    posed = [coefficient_sweep.posed(Config(targets, 3)) for targets in coefficient_sweep.TARGETS]
    for X, Y, theta in posed:
        assert torch.equal(X, posed[0][0])
        assert all(torch.equal(a, b) for a, b in zip(theta, posed[0][2], strict=True))
        assert float(Y.square().mean()) == pytest.approx(1.0)
    assert not torch.equal(posed[0][1], posed[1][1])
    refused("targets", "'nobody'", "with, without, noise", coefficient_sweep.posed, Config("nobody", 0))


def test_rows_of_weather_say_where_it_is_from(tmp_path, capsys):
    config = climate_windows.plan("smoke")[0]
    row = climate_windows.compute(config, CPU)
    assert row["weather"] == "made up"
    made_up_weather.write(tmp_path / "made_up.csv", config.days)
    record = climate_windows.climate.read(tmp_path / "made_up.csv")
    again = climate_windows.compute(config, CPU, record)
    assert again["weather"] == "given"
    assert {name: value for name, value in again.items() if name != "weather"} == {
        name: value for name, value in row.items() if name != "weather"
    }
    made_up_weather.write(tmp_path / "longer.csv", 30, seed=1)
    climate_windows.main([str(tmp_path / "longer.csv"), "--seeds", "1", "--steps", "2"])
    (printed,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert printed["weather"] == "given"
    assert printed["days"] is None
    with refused("sha256", "abc", printed["sha256"]):
        climate_windows.main([str(tmp_path / "longer.csv"), "--sha256", "abc"])


def test_rounding_may_grow_where_steps_are_at_the_edge_and_not_elsewhere():
    rises = {"fixed": [0.0, 0.001], "own": [0.2, 0.0], "level": [0.0, 0.0]}
    allowed = coefficients.tolerance(SMALL, {rule: {"rises": seen} for rule, seen in rises.items()})
    assert allowed["own.loss"] == math.inf
    assert allowed["fixed.loss"] == allowed["level.hidden_end"] == 0.02
