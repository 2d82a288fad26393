"""A number that no declared mistake leads to is told where to look."""

import pytest

from shallowformer.exercises.kernel_regime import linear_model


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (-0.8, "fit log error"),
    ],
)
def test_readout_exponent_is_told_where_to_look(number, word):
    feedback = linear_model.check_readout_exponent(number)
    assert feedback.state == "wrong"
    assert word in feedback.told
