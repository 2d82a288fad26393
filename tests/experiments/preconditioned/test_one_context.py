"""Rows are what their definitions say, and stored rows agree with the theorem."""

import math

import pytest
import torch

from companion.experiments.preconditioned import one_context
from companion.theory.preconditioned import influence
from shallowformer.experiments.experiment import stored
from shallowformer.preconditioned import above, exact

CPU = torch.device("cpu")


@pytest.mark.parametrize("own", [False, True])
def test_a_row_is_made_of_single_contexts(own):
    row = one_context.compute(one_context.Config(1.5, 20, 3, 5, own), CPU)
    generator = torch.Generator().manual_seed(3 * 10**7 + 2000 + 15)
    tokens = torch.randn(5, 20, generator=generator, dtype=torch.float64)
    each = [influence.among(x, 1.5) if own else influence.deviation(x[None], 1.5)[0] for x in tokens]
    sizes = sorted(abs(float(T)) for T in each)
    assert row["median"] == pytest.approx(sizes[2])
    assert row["square"] == pytest.approx(20 * sum(T**2 for T in sizes) / 5)


def test_a_mean_by_quadrature():
    row = one_context.mean(one_context.Mean(0.8, (1, 2)), CPU)
    assert row["log_mean"] == pytest.approx([math.log(v) for v in exact.shortfall(0.8, [10, 100])])


def test_stored_rows_are_complete():
    assert len(stored(one_context.EXPERIMENT)) == len(one_context.plan("paper")) == 324
    assert len(stored(one_context.MEAN)) == 4


def test_stored_means_fall_with_the_exponent_of_the_theorem():
    for row in stored(one_context.MEAN):
        slope = (row["log_mean"][0] - row["log_mean"][2]) / (32 * math.log(10))
        assert slope == pytest.approx(above.exponent(row["b"]), abs=0.01)
