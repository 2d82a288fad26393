"""Experiments on broken assumptions: stored rows are planned and consistent; tiny sweeps run; what is measured is what it says."""

import itertools
import math

import pytest
import torch

from shallowformer.experiments import outside, projection, runaway, store, sweep, training_loss
from shallowformer.experiments.experiment import planned, stored
from shallowformer.kernel_regime import linearisation, model, parameters, tangent_kernel, targets

EXPERIMENTS = (
    projection.EXPERIMENT,
    runaway.EXPERIMENT,
    outside.EXPERIMENT,
    outside.NORMS,
    outside.CERTIFIED,
)
CPU = torch.device("cpu")


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_the_store_holds_rows_of_the_paper_s_scale_only(experiment):
    keys = {row["key"] for row in store.load(experiment.name)}
    assert keys
    assert keys <= set(planned(experiment, "paper"))
    assert set(planned(experiment, "laptop")) < set(planned(experiment, "paper"))


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_a_tiny_sweep_runs(experiment, tmp_path):
    report = sweep.run(experiment, "smoke", tmp_path)
    assert report.failed == ()
    assert report.computed == report.planned == len(stored(experiment, "smoke", tmp_path))


@pytest.mark.parametrize("row", stored(projection.EXPERIMENT), ids=lambda row: f"{row['seed']}-{row['rho']}")
def test_a_fenced_run_is_inside_and_starts_at_the_labels(row):
    if row["rho"] is not None:
        # entries of size 4 in single precision, 64 of them, times √128
        assert max(max(blocks) for blocks in row["displacement"]) <= row["rho"] + 5e-5
    full = row["scale"] is None
    start = training_loss.collected()["paper", 8, row["seed"]]["trivial"] if full else row["scale"] ** 2
    for losses, apart, left in zip(row["loss"], row["apart"], row["left"], strict=True):
        assert losses[0] == pytest.approx(start, rel=1e-5)
        beyond = [step for step, value in zip(row["at"], apart, strict=True) if value > projection.LEFT]
        assert left == (beyond[0] if beyond else -1)


@pytest.mark.parametrize(
    "row",
    [row for row in stored(projection.EXPERIMENT) if row["scale"] is None and row["rho"] is None],
    ids=lambda row: str(row["seed"]),
)
def test_at_the_papers_size_the_free_run_is_the_one_of_figure_1(row):
    runs = training_loss.collected()
    for m, farthest in zip(row["widths"], row["displacement"], strict=True):
        fenced = runs["paper", m, row["seed"]]
        assert max(farthest) < 1
        # Stored there is the last displacement, here the largest on the way: for readouts it may come a little earlier.
        assert farthest == pytest.approx(fenced["displacement"], rel=1e-3)


def test_the_gap_is_that_of_the_linear_model():
    phi0, phi = (parameters.random(4, 3, torch.Generator().manual_seed(seed)) for seed in (0, 1))
    X = 0.5 * torch.nn.functional.normalize(torch.randn(5, 3, 3, dtype=torch.float64), dim=-1)
    direct = model.f(X, phi) - linearisation.f_lin(X, phi, phi0)
    assert torch.allclose(projection._gap(X, phi, phi0), direct)


def test_a_run_that_has_run_away_is_told_apart():
    rows = stored(runaway.EXPERIMENT)
    assert all((row["away"] >= 0) == (row["peak"] == "away") for row in rows)
    assert not any(row["peak"] == "away" for row in rows if row["rho"] is not None)


def test_the_closed_form_of_the_linear_model_is_its_descent():
    config = outside.Config(4, 0, n=8, T=3, teacher=16)
    X, Y, Z, labels = outside.problem(config)
    assert torch.equal(Z[:8], -Z[8:])
    assert torch.allclose(Y.square().mean(0), torch.ones(len(targets.NAMES), dtype=Y.dtype))
    even = targets.NAMES.index("product")
    assert torch.allclose(labels[:8, even], labels[8:, even])
    K = tangent_kernel.finite(X, outside.start(config)).total
    lam, V = torch.linalg.eigh(K)
    alpha, f = torch.zeros_like(Y), torch.zeros_like(Y)
    for _ in range(7):
        alpha = alpha - 2 * 0.4 / 8 * (f - Y)
        f = K @ alpha
    assert torch.allclose(outside._after(7, 0.4, lam, V, Y), alpha)


def test_norms_rise_with_the_sample():
    for row in stored(outside.NORMS):
        for values in row["norms"].values():
            assert all(a <= b * (1 + 1e-9) for a, b in itertools.pairwise(values))


def test_certificates_hold():
    for row in stored(outside.CERTIFIED):
        for seen in row["targets"].values():
            assert (seen["theta"] < 1) == (seen["certificate"][-1] != "inf")
            assert all(
                mean <= float(bound) for mean, bound in zip(seen["mean"], seen["certificate"], strict=True)
            )
            assert all(math.isfinite(value) for value in seen["epsilon"])
