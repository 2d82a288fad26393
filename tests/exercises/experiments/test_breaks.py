"""A number that no declared mistake leads to is told where to look."""

import pytest

from companion.exercises.experiments import breaks


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (100, "keep"),
    ],
)
def test_lazy_width_is_told_where_to_look(number, word):
    feedback = breaks.check_lazy_width(number)
    assert feedback.state == "wrong"
    assert word in feedback.told


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (0.5, "variance"),
    ],
)
def test_share_is_told_where_to_look(number, word):
    feedback = breaks.check_share(number)
    assert feedback.state == "wrong"
    assert word in feedback.told
