"""Interval arithmetic: balls hold what they should, and nothing that they should not."""

import math

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from shallowformer import enclosures


@given(st.floats(-2, 2), st.floats(0.01, 3))
def test_the_maximum_of_a_parabola(top, length):
    low, high = top - length / 3, top + length
    found = enclosures.maximum(lambda x: 1 - (x - arb(top)) * (x - arb(top)), low, high)
    assert found.contains(1)
    assert found.rad() < 1e-12


def test_a_maximum_at_an_end():
    found = enclosures.maximum(lambda x: x * x, -1.0, 2.0)
    assert found.contains(4)
    assert found.rad() < 1e-12


def test_two_equal_maxima():
    assert enclosures.maximum(lambda x: x * x * (2 - x * x), -1.5, 1.5).contains(1)


@pytest.mark.parametrize("shift", [1e-11, -1e-11])
def test_a_shifted_enclosure_is_refused(shift):
    found = enclosures.maximum(lambda x: (x * (1 - x * x)) * 2 + shift, 0.0, 1.0)
    assert not found.contains(4 / (3 * arb(3).sqrt()))


def test_a_root_that_a_wide_ball_does_not_see():
    found = enclosures.maximum(lambda x: (1 + 8 * x * x).sqrt() * (1 - x * x), 0.0, 1.0)
    assert float(found) == pytest.approx(
        max((1 + 8 * (k / 1e4) ** 2) ** 0.5 * (1 - (k / 1e4) ** 2) for k in range(10001))
    )


def test_the_root_of_two():
    found = enclosures.root(lambda x: x * x - 2, 0.0, 3.0)
    assert found.contains(arb(2).sqrt())
    assert found.rad() < 1e-12
    assert enclosures.root(lambda x: 2 - x * x, 0.0, 3.0).contains(arb(2).sqrt())


def test_ends_lie_outside():
    third = arb(1) / 3
    low, high = enclosures.ends(third)
    assert arb(low) < third < arb(high)
    assert high - low < 1e-14
    with pytest.raises(ValueError, match="finite"):
        enclosures.ends(arb(math.inf))


def test_what_is_refused():
    with pytest.raises(ValueError, match="low must be below high"):
        enclosures.maximum(lambda x: x, 1.0, 1.0)
    with pytest.raises(ValueError, match="different signs"):
        enclosures.root(lambda x: x * x, -1.0, 1.0)
    with pytest.raises(ArithmeticError, match="accuracy must be within reach"):
        enclosures.maximum(lambda x: x.sin(), 0.0, 3.0, 1e-30)
    with pytest.raises(ArithmeticError, match="accuracy must be within reach"):
        enclosures.root(lambda x: x * x * x, -1.0, 2.0 - 1e-9 + 1e-9 - 1.0, 1e-30)
