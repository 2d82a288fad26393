"""Figure 1(b): what is expected, and what is stored."""

import math

import pytest

from companion.experiments.kernel_regime import approximation_error
from shallowformer.experiments import SCALES
from shallowformer.experiments.experiment import stored


def test_expected_errors():
    assert approximation_error.expected(2.0, 4, 8) == pytest.approx(math.sqrt(2 * (1 / 2 + 1 / 8)))
    assert approximation_error.expected(2.0, 4, 8, "released") == pytest.approx(
        math.sqrt(2 * (1 / 4 + 1 / 8))
    )


@pytest.mark.parametrize("row", stored(approximation_error.EXPERIMENT), ids=lambda row: f"{row['variant']}-{row['m']}-{row['seed']}")  # fmt: skip
def test_stored_errors_are_near_what_is_expected(row):
    usual = approximation_error.expected(row["variance"], row["m"], row["heads"], row["variant"])
    assert row["rms"] < row["sup"]
    assert 0.2 < row["rms"] / usual < 5


@pytest.mark.parametrize("scale", SCALES)
def test_narrow_models_come_first(scale):
    widths = [config.m for config in approximation_error.plan(scale)]
    assert widths == sorted(widths)
