"""Controls: a hypothesis is needed where the conclusion fails without it and holds with it; else nothing is decided."""

from fractions import Fraction

import pytest

from shallowformer.verify import Control, planting
from shallowformer.verify.mistakes import PUT_BACK

CLAIM = "kr-lemma-2/positive"


def root(kept):
    """|x| ≤ x for positive x."""
    x = 2 if kept else -2
    return abs(x), x


def control(instance=root, **more):
    return Control(CLAIM, instance, "whole numbers", **more)


def test_an_instance_that_fails_without_and_holds_with_shows_that_it_is_needed():
    verdict = control().run()
    assert (verdict.verdict, verdict.passed) == ("needed", True)
    assert verdict.measured == {"left": 2.0, "right": -2.0, "left_kept": 2.0, "right_kept": 2.0}


@pytest.mark.parametrize(
    "instance",
    [lambda kept: (1, 2), lambda kept: (2, 1), lambda kept: (2, 1) if kept else (1, 2)],
    ids=["never fails", "always fails", "the other way round"],
)
def test_another_instance_decides_nothing(instance):
    assert control(instance).run().verdict == "undecided"


def test_a_hypothesis_put_back_is_noticed():
    planting._kept.clear()
    planting.run(control())
    (outcome,) = planting.plant({CLAIM: [PUT_BACK]})
    assert (outcome.red, outcome.error) == (True, "")


def test_fractions_are_compared_exactly_and_floats_with_rounding():
    third = lambda kept: (Fraction(1, 3), Fraction(1, 3) if kept else Fraction(1, 3) - Fraction(1, 10**30))
    assert control(third).run().passed
    nearly = lambda kept: (0.1 + 0.2, 0.3) if kept else (0.4, 0.3)
    assert not control(nearly).run().passed
    assert control(nearly, rounding=1e-15).run().passed


def test_what_it_notices_is_the_constant_that_would_save_the_bound():
    notices = control(lambda kept: (3, 6) if kept else (3, 2)).run().notices
    assert (notices.what, notices.change, notices.side) == ("constant", 0.5, "larger")


def test_what_is_refused():
    with pytest.raises(ValueError, match="finite"):
        control(lambda kept: (float("nan"), 1)).run()
    with pytest.raises(ValueError, match="rounding must be"):
        control(rounding=-1.0)
    with pytest.raises(ValueError, match="because must"):
        Control(CLAIM, root, "")
