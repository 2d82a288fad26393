"""The projection at work, and runs beyond the edge: stored runs obey it, and the gap is what it says."""

import pytest
import torch

from companion.experiments.kernel_regime import projection, runaway, training_loss
from shallowformer.experiments.experiment import stored
from shallowformer.kernel_regime.model import linear_model, parameters, transformer


@pytest.mark.parametrize("row", stored(projection.EXPERIMENT), ids=lambda row: f"{row['seed']}-{row['rho']}")
def test_a_projected_run_is_inside_and_starts_at_the_labels(row):
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
        there = runs["paper", m, row["seed"]]
        assert max(farthest) < 1
        # Stored there is the last displacement, here the largest on the way: for readouts it may come a little earlier.
        assert farthest == pytest.approx(there["displacement"], rel=1e-3)


def test_the_gap_is_that_of_the_linear_model():
    phi0, phi = (parameters.random(4, 3, torch.Generator().manual_seed(seed)) for seed in (0, 1))
    X = 0.5 * torch.nn.functional.normalize(torch.randn(5, 3, 3, dtype=torch.float64), dim=-1)
    direct = transformer.f(X, phi) - linear_model.f_lin(X, phi, phi0)
    assert torch.allclose(projection._gap(X, phi, phi0), direct)


def test_a_run_that_has_run_away_is_told_apart():
    rows = stored(runaway.EXPERIMENT)
    assert all((row["away"] >= 0) == (row["peak"] == "away") for row in rows)
    assert not any(row["peak"] == "away" for row in rows if row["rho"] is not None)
