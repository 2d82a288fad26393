"""Time and memory of a step."""

import torch

from companion.experiments.kernel_regime import step_cost
from shallowformer.kernel_regime.model import parameters


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
