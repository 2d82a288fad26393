"""Errors against the number of inputs: the row holds what the definition says, and stored rows hang together."""

import pytest
import torch

from companion.experiments.kernel_regime import sample_size
from shallowformer.experiments.experiment import stored
from shallowformer.kernel_regime.kernel import transportation
from shallowformer.kernel_regime.model import linear_model, parameters
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
