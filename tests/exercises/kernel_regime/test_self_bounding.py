"""A number that no declared mistake leads to is told where to look."""

import pytest

from shallowformer.exercises.kernel_regime import self_bounding


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (0.3, "smaller"),
        (0.1, "larger"),
        (1.2, "between 0 and 1"),
    ],
)
def test_best_theta_is_told_where_to_look(number, word):
    feedback = self_bounding.check_best_theta(number)
    assert feedback.state == "wrong"
    assert word in feedback.told
