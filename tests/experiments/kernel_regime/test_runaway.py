"""Runs beyond the edge: what is stored."""

from shallowformer.experiments.experiment import stored
from shallowformer.experiments.kernel_regime import runaway


def test_a_run_that_has_run_away_is_told_apart():
    rows = stored(runaway.EXPERIMENT)
    assert all((row["away"] >= 0) == (row["peak"] == "away") for row in rows)
    assert not any(row["peak"] == "away" for row in rows if row["rho"] is not None)
