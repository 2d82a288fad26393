"""A number that no declared mistake leads to is told where to look."""

import pytest

from companion.exercises.kernel_regime import vacuous


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (0.125, "-0.1"),
        (0.001, "-0.9"),
        (-1, "above 0"),
    ],
)
def test_floor_is_told_where_to_look(number, word):
    feedback = vacuous.check_floor(number)
    assert feedback.state == "wrong"
    assert word in feedback.told
