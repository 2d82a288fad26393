"""A sweep against runs of one network at a time, and what is posed."""

import itertools
import json
import math
from collections import Counter

import pytest
import torch

from checks import refused, unchecked
from companion.experiments.residual import climate_windows, coefficient_sweep, coefficients
from companion.experiments.residual.coefficient_sweep import Config
from jena_file import write_noise
from shallowformer.real import jena
from shallowformer.real.source import short
from shallowformer.real.weather import NEW_YORK, STATIONS
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
    row = climate_windows.compute(climate_windows.plan("smoke")[0], CPU)
    assert row["data"] == short(NEW_YORK)
    path = write_noise(tmp_path / "jena.csv", 8)
    climate_windows.main([str(path), "--seeds", "2", "--steps", "2", "--mu", "1e-5"])
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["seed"] for one in printed] == [0, 1]
    assert printed[0]["stations"] is None
    assert printed[0]["data"] == short(jena.read(path).source)
    record = jena.read(path)
    config = climate_windows.Config(1, None, mu=1e-5, steps=2)
    assert climate_windows.swept(config, record, "T")["fixed"]["loss"] == printed[1]["fixed"]["loss"]
    with refused("sha256", "abc", printed[0]["data"]["sha256"]):
        climate_windows.main([str(path), "--sha256", "abc"])


def test_windows_are_of_the_first_part_and_both_choices_have_ten_seeds():
    configs = climate_windows.plan("paper")
    assert Counter(config.stations for config in configs) == {("JFK",): 10, STATIONS: 10}
    record = climate_windows.measured(("JFK",))
    early = climate_windows.early(configs[0], record)
    assert len(early.values) == int(0.8 * len(record.values))
    X, Y, theta = climate_windows.posed(configs[0], record, "JFK temperature")
    assert (X.shape, Y.shape, theta.W_U.shape) == ((8, 8, 8), (8, 8, 1), (8, 1))
    kept = early.values[early.present]
    assert all((kept == token).all(1).any() for token in X.flatten(0, 1))


def test_rounding_may_grow_where_steps_are_at_the_edge_and_not_elsewhere():
    rises = {"fixed": [0.0, 0.001], "own": [0.2, 0.0], "level": [0.0, 0.0]}
    allowed = coefficients.tolerance(SMALL, {rule: {"rises": seen} for rule, seen in rises.items()})
    assert allowed["own.loss"] == math.inf
    assert allowed["fixed.loss"] == allowed["level.hidden_end"] == 0.02
