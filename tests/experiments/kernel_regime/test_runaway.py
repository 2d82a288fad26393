"""Runs beyond the edge: what is stored."""

from companion.experiments.kernel_regime import runaway
from shallowformer.experiments.experiment import stored


def test_a_run_that_has_run_away_is_told_apart():
    rows = stored(runaway.EXPERIMENT)
    assert all((row["away"] >= 0) == (row["peak"] == "away") for row in rows)
    assert not any(row["peak"] == "away" for row in rows if row["rho"] is not None)
