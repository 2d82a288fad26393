"""A number that no declared mistake leads to is told where to look."""

import pytest

from companion.exercises.experiments import scaling


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (7, "on the sphere"),
    ],
)
def test_last_token_is_told_where_to_look(number, word):
    feedback = scaling.check_last_token(number)
    assert feedback.state == "wrong"
    assert word in feedback.told
