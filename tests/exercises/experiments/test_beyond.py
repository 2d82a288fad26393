"""A number that no declared mistake leads to is told where to look."""

import pytest

from companion.exercises.experiments import beyond


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (1.0, "equal"),
    ],
)
def test_causal_is_told_where_to_look(number, word):
    feedback = beyond.check_causal(number)
    assert feedback.state == "wrong"
    assert word in feedback.told


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (4.0, "divide"),
        (-1.0, "above 0"),
    ],
)
def test_shift_is_told_where_to_look(number, word):
    feedback = beyond.check_shift(number)
    assert feedback.state == "wrong"
    assert word in feedback.told
