"""Figure 1(a): what is stored."""

import pytest

from companion.experiments.kernel_regime import linearisation_error
from shallowformer.experiments import SCALES
from shallowformer.experiments.experiment import stored


@pytest.mark.parametrize(
    "row", stored(linearisation_error.EXPERIMENT), ids=lambda row: f"{row['m']}-{row['seed']}"
)
def test_no_stored_gap_is_above_the_bound(row):
    gaps = [*row["adversarial"], *(row[way]["sup"] for way in linearisation_error.WAYS)]
    assert max(gaps) < row["bound"]
    assert all(row[way]["mean"] < row[way]["sup"] for way in linearisation_error.WAYS)


@pytest.mark.parametrize("scale", SCALES)
def test_narrow_models_come_first(scale):
    widths = [config.m for config in linearisation_error.plan(scale)]
    assert widths == sorted(widths)
