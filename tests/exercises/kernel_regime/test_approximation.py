"""A number that no declared mistake leads to is told where to look."""

import pytest

from companion.exercises.kernel_regime import approximation


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (10000, "fewer"),
        (500, "power of 10"),
    ],
)
def test_enough_is_told_where_to_look(number, word):
    feedback = approximation.check_enough(number)
    assert feedback.state == "wrong"
    assert word in feedback.told
