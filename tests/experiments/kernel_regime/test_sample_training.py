"""Training against the number of samples."""

import torch

from companion.experiments.kernel_regime import sample_training
from shallowformer.experiments.experiment import stored

CPU = torch.device("cpu")


def test_fewer_samples_are_the_first_of_more():
    few, many = (sample_training.problem(config) for config in sample_training.plan("smoke"))
    assert torch.equal(few[0].X, many[0].X[:10])
    torch.testing.assert_close(few[0].y, many[0].y[:10])
    assert torch.equal(few[1].X, many[1].X)
    assert torch.equal(few[2].W, many[2].W)


def test_a_row_holds_losses_at_the_horizons_that_it_reaches():
    row = sample_training.compute(sample_training.plan("smoke")[0], CPU)
    assert row["horizons"] == [25, 50]
    assert row["training"][1] < row["training"][0] < row["trivial"]
    assert len(row["fresh_loss"]) == 2


def test_stored_training_losses_fall_along_a_run():
    rows = stored(sample_training.EXPERIMENT)
    assert {row["n"] for row in rows} <= set(sample_training.COUNTS)
    assert len(rows) == len(sample_training.plan("paper"))
    assert all(row["training"] == sorted(row["training"], reverse=True) for row in rows)
