"""Stored certificates of linear runs: rows as the page reads them, and the runs that they are about."""

import pytest
import torch

from companion.experiments.kernel_regime import linear_runs, problems, training_loss
from shallowformer.experiments.experiment import stored
from shallowformer.kernel_regime.linear_run.theorem_f import certify

CPU = torch.device("cpu")


def test_a_row_by_a_plain_route():
    config = linear_runs.Config(8, 1, 20, 64, 25, every=3)
    row, given = linear_runs.compute(config, CPU), problems.problem("paper", 1, 20, 64)
    sure = certify(given.X, given.labels.mean.flatten(), problems.start(8, 1), 0.2, 25, 3)
    assert row["horizons"] == [1, 4, 10, 25]
    assert row["mu"] == [float(sure.mu[t - 1]) for t in (1, 4, 10, 25)]
    assert row["E"] == [float(sure.E[t - 1]) for t in (1, 4, 10, 25)]
    assert row["mu"][0] ** 2 == pytest.approx(row["trivial"], rel=1e-9)
    assert row["E"][0] < 1e-4 * row["mu"][0]
    assert row["best"] == float(sure.upper.min())
    assert row["explodes"] == -1


def test_coarse_steps_have_the_same_length():
    fine, coarse = (linear_runs.Config(8, 0, 20, 64, 100, k, every=5) for k in (1, 5))
    first, second = (linear_runs.compute(config, CPU) for config in (fine, coarse))
    assert second["best"] == pytest.approx(first["best"], rel=0.05)


def test_problems_and_starts_are_those_of_the_stored_runs():
    runs = training_loss.collected()
    rows = stored(linear_runs.EXPERIMENT)
    assert rows
    for row in rows:
        assert row["best"] < row["trivial"], "says nothing"
        run = runs.get(("paper", row["m"], row["seed"]))
        if run:
            assert run["trivial"] == pytest.approx(row["trivial"], rel=1e-6)
            assert run["horizons"] == row["horizons"]


def test_the_distance_falls_with_the_width():
    rows = {(row["m"], row["seed"]): row for row in stored(linear_runs.EXPERIMENT)}
    for (m, seed), row in rows.items():
        wider = rows.get((2 * m, seed))
        if wider and row["E"][-1] > 0:
            assert 0 < wider["E"][-1] < row["E"][-1]
