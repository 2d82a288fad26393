"""A number that no declared mistake leads to is told where to look."""

import pytest

from shallowformer.exercises.kernel_regime import tangent_kernel


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (6700, "pairs"),
        (1.33, "100²"),
        (115, "squared"),
        (300, "too small"),
        (1e6, "too large"),
    ],
)
def test_heads_for_one_per_cent_is_told_where_to_look(number, word):
    feedback = tangent_kernel.check_heads_for_one_per_cent(number)
    assert feedback.state == "wrong"
    assert word in feedback.told
