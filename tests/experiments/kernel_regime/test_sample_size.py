"""Errors and training against the number of samples, the sequences' length, and what a step costs."""

import pytest
import torch

from companion.experiments.kernel_regime import sample_size, sample_training, sequence_length, step_cost
from shallowformer.experiments.experiment import stored
from shallowformer.kernel_regime.kernel import transportation
from shallowformer.kernel_regime.model import gradients, linear_model, parameters
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters

CPU = torch.device("cpu")
ROWS = stored(sample_size.EXPERIMENT)


def test_an_error_is_that_of_the_linear_model_at_the_transported_point():
    source = torch.Generator().manual_seed(0)
    phi0 = parameters.symmetric(16, 3, source)
    X = torch.nn.functional.normalize(torch.randn(5, 4, 3, generator=source, dtype=torch.float64), dim=-1)
    there = transportation.transported(phi0, sample_size.TARGET)
    half = phi0.map(lambda block: block[:8])
    e = sample_size.errors(X, half, (16,))[:, 0]
    torch.testing.assert_close(e, linear_model.f_lin(X, there, phi0))


def test_a_row_is_what_its_stream_says():
    config = sample_size.plan("smoke")[0]
    row = sample_size.compute(config, CPU)
    heads, X = sample_size.stream(config)
    e = sample_size.errors(X, heads, (16, 32)).double()
    for k in range(2):
        assert row["largest"][k] == pytest.approx([float(e[:n, k].abs().max()) for n in row["counts"]])
        assert row["mean_square"][k] == pytest.approx([float(e[:n, k].pow(2).mean()) for n in row["counts"]])
    assert row["ceiling"] > 0


def test_the_target_is_zero():
    source = torch.Generator().manual_seed(1)
    heads = parameters.random(2000, 2, source)
    both = Parameters(
        *(
            torch.cat([block, sign])
            for block, sign in zip(heads.blocks, (heads.c, -heads.U, heads.W), strict=True)
        )
    )
    X = torch.rand(3, 3, 2, generator=source, dtype=torch.float64) - 0.5
    assert float(sample_size.errors(X, both, (8000,)).abs().max()) < 1e-12


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['d']}-{row['seed']}")
def test_stored_maxima_never_fall_and_exceed_root_mean_squares(row):
    for largest, squares in zip(row["largest"], row["mean_square"], strict=True):
        assert largest == sorted(largest)
        assert all(a**2 >= s for a, s in zip(largest, squares, strict=True))


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


def test_sizes_and_means_are_those_of_per_sample_gradients():
    source = torch.Generator().manual_seed(0)
    X = torch.nn.functional.normalize(torch.randn(6, 3, 2, generator=source, dtype=torch.float64), dim=-1)
    phi = parameters.random(4, 2, source)
    each = gradients.per_sample_gradient(X, phi)
    rms = [float(block.flatten(1).square().sum(1).mean().sqrt()) for block in each]
    means = [float(block.mean(0).norm()) for block in each]
    torch.testing.assert_close(sequence_length.sizes(X, phi), rms)
    y = torch.zeros(6, dtype=torch.float64)
    torch.testing.assert_close(sequence_length.of_the_mean(Loss(X, y), phi), means)


def test_one_token_has_no_attention_gradient():
    one, eight = (sequence_length.compute(config, CPU) for config in sequence_length.plan("smoke"))
    assert one["gradients"][2] == 0 < eight["gradients"][2]
    assert eight["losses"][0] < eight["trivial"]


def test_stored_losses_fall_along_a_run():
    rows = stored(sequence_length.EXPERIMENT)
    assert len(rows) == len(sequence_length.plan("paper"))
    assert all(row["losses"] == sorted(row["losses"], reverse=True) for row in rows)
    assert all(max(row["gradients"][:2]) <= 1 for row in rows)


def test_memory_of_autograd_grows_by_one_weight_a_token_sample_and_head():
    source = torch.Generator().manual_seed(0)
    phi = parameters.symmetric(4, 3, source)
    short, long = (
        step_cost.kept_by_autograd(torch.zeros(5, T, 3, dtype=torch.float64), phi) for T in (7, 17)
    )
    # Eight bytes for each entry of a token and each head's weight.
    assert (long - short) / 10 == 8 * 5 * (3 + 4)


def test_a_row_is_made_of_numbers_above_0():
    row = step_cost.compute(step_cost.plan("smoke")[1], torch.device("cpu"))
    assert row["data_bytes"] == 10 * 8 * 8 * 4
    assert all(value >= 0 for value in row.values())


def test_what_is_timed_is_not_the_first_call():
    calls = []
    step_cost.seconds(lambda: calls.append(0), 3)
    assert len(calls) == 4
