"""Runs of Figure 2 with every rule: what is stored is what the theorems say."""

import math

import pytest
import torch

from companion.experiments.token_selection import selection_rates
from shallowformer.experiments.experiment import stored
from shallowformer.token_selection import descent, gaps, residual, rules, svm

CPU = torch.device("cpu")


def test_a_row_is_what_the_simulator_says():
    config = selection_rates.Config("figure_2", "ngd_short", 3, 2, 3, 40, 8.0, 60)
    row = selection_rates.compute(config, CPU)
    data, W0 = selection_rates.problem(config)
    best = svm.w_svm(data)
    run = descent.run(gaps.problem(data, W0, towards=best), rules.NGD(row["eta"]), 60, at=[60])
    assert row["at"][-1] == 60
    assert row["one_minus_corr"][-1] == float(run.one_minus_corr[0])
    assert row["start"] == pytest.approx(1e-2)
    W = gaps.problem(data, W0, towards=best).matrix(run.z[0])
    cosine = float((W * best.W).sum() / (W.norm() * best.norm))
    assert 1 - cosine == pytest.approx(row["one_minus_corr"][-1], rel=1e-6)


def test_starts_are_as_large_as_lemma_2_allows():
    config = selection_rates.Config("hypotheses", "ngd", 0, 2, 2, 50, 30.0, 5)
    data, (a, b) = selection_rates.problem(config)
    B = float(data.X.norm(dim=-1).max())
    assert float(torch.linalg.matrix_norm(a @ b.T)) == pytest.approx(math.log(2) / (2 * B**2))


def test_stored_rows_meet_their_hypotheses():
    rows = stored(selection_rates.EXPERIMENT)
    assert len(rows) == 110
    for row in rows:
        assert row["least_weight"] > 1 / (2 * row["T"])
        assert row["strict"] > 0.1
        assert (row["near_orthogonality"] > 1) == (row["setting"] == "hypotheses")


def test_short_steps_settle_where_they_should():
    for row in stored(selection_rates.EXPERIMENT):
        if row["rule"] in ("ngd_short", "polyak", "gd") and row["setting"] == "figure_2":
            # what is orthogonal to all E_k never moves, and all constraints are active here
            outside = math.sqrt(max(0.0, row["residual"][-1] ** 2 - row["settled"] ** 2))
            assert outside == pytest.approx(row["start"], rel=1e-2)


def test_predictions_are_of_the_package():
    config = selection_rates.Config("figure_2", "gd", 1, 2, 2, 40, 8.0, 5)
    data, _ = selection_rates.problem(config)
    limit = residual.settled(data, svm.w_svm(data))
    assert selection_rates.compute(config, CPU)["settled"] == float(limit.P.norm())
