"""A number that no declared mistake leads to is told where to look."""

import pytest

from companion.exercises.kernel_regime import no_logs


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (-3, "root mean squares"),
    ],
)
def test_slope_is_told_where_to_look(number, word):
    feedback = no_logs.check_slope(number)
    assert feedback.state == "wrong"
    assert word in feedback.told
