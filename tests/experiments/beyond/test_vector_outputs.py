"""The stored rows of vector outputs hang together."""

import pytest

from companion.experiments.beyond import vector_outputs
from companion.theory.beyond import vector_tasks
from shallowformer.experiments.experiment import stored

ROWS = stored(vector_outputs.EXPERIMENT)


def test_a_row_is_consistent():
    for row in ROWS:
        assert 0 < row["train"] < 1
        assert row["test"] > 0
        # The root of the loss is no farther from the linear run's than the residuals are.
        assert abs(row["train"] ** 0.5 - row["linear"] ** 0.5) <= row["distance"] * (1 + 1e-9)
        if row["kind"] == "shared":
            assert row["used"] < 1
            assert row["certain"] < 1
            assert row["train"] <= row["certain"] or row["E"] < 0


def test_networks_have_as_many_heads_and_parameters_as_said():
    for row in ROWS:
        d, k = vector_tasks.D, row["k"]
        if row["kind"] == "shared":
            assert (row["heads"], row["parameters"]) == (row["m"], row["m"] * (k + d + d**2))
        if row["kind"] == "heads":
            assert row["heads"] == k * row["m"]
        if row["kind"] == "parameters":
            assert row["parameters"] == pytest.approx(row["m"] * (k + d + d**2), rel=0.04)
