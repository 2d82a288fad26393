"""A number that no declared mistake leads to is told where to look."""

import pytest

from companion.exercises.experiments import headlines


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (50000, "far fewer"),
        (3.0, "add up"),
    ],
)
def test_records_is_told_where_to_look(number, word):
    feedback = headlines.check_records(number)
    assert feedback.state == "wrong"
    assert word in feedback.told
