"""The stored measurements of two layers hang together."""

from companion.experiments.beyond import two_layers
from shallowformer.experiments.experiment import stored

ROWS = stored(two_layers.EXPERIMENT)


def test_all_rows_are_there():
    assert len(ROWS) == len(two_layers.plan("paper"))


def test_a_row_is_consistent():
    for row in ROWS:
        if row["part"] == "gap":
            assert 0 < row["random"] < row["worst"]
        else:
            assert 0 <= row["last"] < 1
            assert 0 < row["gap"] < two_layers.LABEL
