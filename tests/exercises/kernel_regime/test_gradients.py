"""A number that no declared mistake leads to is told where to look."""

import pytest

from shallowformer.exercises.kernel_regime import gradients


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (0.19, "long enough"),
        (0.0, "not 0"),
    ],
)
def test_long_sequence_limit_is_told_where_to_look(number, word):
    feedback = gradients.check_long_sequence_limit(number)
    assert feedback.state == "wrong"
    assert word in feedback.told
