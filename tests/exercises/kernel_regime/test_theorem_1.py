"""A number that no declared mistake leads to is told where to look."""

import pytest

from shallowformer.exercises.kernel_regime import theorem_1


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (57, "exponent"),
        (1e17, "power of 2"),
        (2**40, "too few"),
        (2**60, "not the smallest"),
    ],
)
def test_heads_needed_is_told_where_to_look(number, word):
    feedback = theorem_1.check_heads_needed(number)
    assert feedback.state == "wrong"
    assert word in feedback.told
