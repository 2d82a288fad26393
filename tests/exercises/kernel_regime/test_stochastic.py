"""A number that no declared mistake leads to is told where to look."""

import pytest

from shallowformer.exercises.kernel_regime import stochastic


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (100, "solve"),
    ],
)
def test_batch_is_told_where_to_look(number, word):
    feedback = stochastic.check_batch(number)
    assert feedback.state == "wrong"
    assert word in feedback.told
