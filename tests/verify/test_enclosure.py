"""Enclosures: a number is certified by both ends of an interval; a shifted one is refused."""

import math

import pytest

from shallowformer.verify import Enclosure


def pi(value=math.pi, low=3.14159, high=3.1416, tolerance=1e-5, **more):
    return Enclosure(
        "my-constant", lambda: value, lambda: (low, high), [{}], tolerance, "five digits", **more
    )


def test_a_number_within_is_certified():
    verdict = pi().run()
    assert verdict.verdict == "certified"
    assert verdict.measured["distance"] == pytest.approx((3.1416 - math.pi) / math.pi)
    assert "enclosed in intervals of relative length below 1e-05" in verdict.summary


@pytest.mark.parametrize("shift", [2e-5, -2e-5])
def test_a_shifted_enclosure_is_refused(shift):
    assert pi(low=3.14159 + 4 * shift, high=3.1416 + 4 * shift).run().verdict == "violated"


@pytest.mark.parametrize("shift", [1.01, -1.01])
def test_what_it_says_it_notices_it_does(shift):
    change = pi().run().notices.change
    assert pi(value=math.pi * (1 + shift * change)).run().verdict != "certified"


def test_a_wide_interval_decides_nothing():
    assert pi(low=3.0, high=4.0).run().verdict == "undecided"


def test_an_expected_refutation():
    verdict = pi(value=22 / 7, expect="violated").run()
    assert verdict.passed
    assert verdict.notices.change == pytest.approx(1 - 7 * math.pi / 22, rel=0.05)


def test_what_is_refused():
    with pytest.raises(ValueError, match="tolerance must be"):
        pi(tolerance=0.0)
    with pytest.raises(ValueError, match="expect must be"):
        pi(expect="tight")
    with pytest.raises(ValueError, match="over must hold"):
        Enclosure("my-constant", lambda: 1.0, lambda: (1.0, 1.0), [], 1e-9, "exact").run()
    for low, high in ((4.0, 3.0), (math.nan, 1.0), (1.0, math.inf)):
        with pytest.raises(ValueError, match="finite, ordered"):
            pi(low=low, high=high).run()
    with pytest.raises(ValueError, match="because must"):
        Enclosure("my-constant", lambda: 1.0, lambda: (1.0, 1.0), [{}], 1e-9, "")
