"""The stored measurements beyond the theory: planned, complete for the claims, and recomputable."""

import pytest

from shallowformer.experiments import beyond_theory, store, sweep, verification
from shallowformer.experiments.experiment import planned, stored

ROWS = stored(beyond_theory.EXPERIMENT)


def test_the_store_holds_what_is_planned_and_nothing_else():
    keys = {row["key"] for row in store.load("beyond_theory")}
    assert keys == set(planned(beyond_theory.EXPERIMENT, "paper"))


def test_a_row_is_consistent():
    for row in ROWS:
        if row["part"] in ("training", "length"):
            assert 0 < row["least"] <= row["last"] < 1
            assert row["least"] <= row["mean"] < 1
            assert row["gap_rms"] <= row["gap"]
            assert max(row["extent"].values()) <= 3.0 * (1 + 1e-4)
        if row["part"] == "gap":
            assert 0 < row["random"] < row["aligned"]


def test_the_last_output_of_a_sequence_has_the_paper_s_gradient():
    found = {
        (row["model"], row["T"], row["seed"]): row["gradient"] for row in ROWS if row["part"] == "length"
    }
    for (name, T, seed), value in found.items():
        if name == "sequence":
            assert value == pytest.approx(found["heads", T, seed])


def test_a_tiny_sweep_is_run_and_confirmed(tmp_path):
    report = sweep.run(beyond_theory.EXPERIMENT, "smoke", tmp_path)
    assert (report.planned, report.computed, report.failed) == (16, 16, ())
    again = verification.verify(beyond_theory.EXPERIMENT, 0.2, 0, tmp_path)
    assert all(compared.differences == () for compared in again)
