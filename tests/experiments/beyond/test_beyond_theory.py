"""The stored measurements beyond the theory hang together."""

import pytest

from companion.experiments.beyond import beyond_theory
from shallowformer.experiments.experiment import stored

ROWS = stored(beyond_theory.EXPERIMENT)


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
