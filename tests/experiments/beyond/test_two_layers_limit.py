"""The stored measurements of two layers in the limit hang together."""

from companion.experiments.beyond import two_layers_limit
from shallowformer.experiments.experiment import stored

ROWS = stored(two_layers_limit.EXPERIMENT)


def test_all_rows_are_there():
    assert len(ROWS) == len(two_layers_limit.plan("paper"))


def test_a_run_is_as_far_from_the_limit_as_its_parts_allow():
    for row in ROWS:
        if row["part"] == "run":
            assert row["limit"] <= row["own"] + row["kernels"] + 1e-12
            assert row["travel"] > 0
            assert row["last"] < 1.5
