"""A number that no declared mistake leads to is told where to look."""

import pytest

from companion.exercises.kernel_regime import neighbourhood


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (float("nan"), "no length"),
        (3.0, "divide by"),
        (0.7, "W-block"),
        (2 ** (-1 / 64) / 4096**0.5, "in units of"),
        (0.501, "readout"),
        (0.917, "64 entries"),
    ],
)
def test_median_displacement_is_told_where_to_look(number, word):
    feedback = neighbourhood.check_median_displacement(number)
    assert feedback.state == "wrong"
    assert word in feedback.told
