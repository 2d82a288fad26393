"""A number that no declared mistake leads to is told where to look."""

import pytest

from shallowformer.exercises.kernel_regime import envelopes


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (1000, "close"),
        (256, "ρ_c on both sides"),
    ],
)
def test_crossover_is_told_where_to_look(number, word):
    feedback = envelopes.check_crossover(number)
    assert feedback.state == "wrong"
    assert word in feedback.told
