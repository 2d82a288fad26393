"""The power that a check states is the one it has: a claim changed by more turns red, one changed by less does not."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from shallowformer.verify import Identity, Inequality, Probability, Rate, interval, ledger, product
from shallowformer.verify.power import Power

MORE, LESS = 1.05, 0.9


def bound(ceiling: float, **options) -> Inequality:
    """``x ≤ ceiling`` for x in [0, 1], of which the search finds the largest."""
    return Inequality(
        "my-bound",
        lambda x: x,
        ceiling,
        product(x=interval(0.0, 1.0)),
        because="exact",
        restarts=4,
        steps=50,
        **options,
    )


@pytest.mark.parametrize(
    ("ceiling", "expect", "change", "sign"), [(4.0, "loose", 0.75, -1), (0.5, "violated", 1.0, 1)]
)
def test_a_loose_bound_notices_a_smaller_constant_and_a_refuted_one_a_larger(ceiling, expect, change, sign):
    check = bound(ceiling, expect=expect)
    found = check.run().notices.change
    assert found == pytest.approx(change)
    assert not check.scaled(1 + sign * MORE * found).run().passed
    assert check.scaled(1 + sign * LESS * found).run().passed


@pytest.mark.parametrize("ceiling", [4.0, 0.5])
def test_a_bound_whose_attained_ratio_is_stated_notices_another_constant_on_either_side(ceiling):
    expect = "loose" if ceiling > 1 else "violated"
    check = bound(ceiling, expect=expect, attains=1 / ceiling, gap=1e-3)
    pinned = check.run().notices.pinned
    assert pinned == pytest.approx(1e-3, rel=0.1)
    for sign in (1, -1):
        assert not check.scaled(1 + sign * MORE * pinned).run().passed
        assert check.scaled(1 + sign * LESS * pinned).run().passed


def test_a_tight_bound_notices_next_to_nothing():
    assert bound(1.0, expect="tight").run().notices.change <= 1e-9


def rate(exponent: float, relation: str, expect: str = "supported") -> Rate:
    """Something that falls like x^{−1/2}, with noise."""

    def measure(x, seed):
        noise = torch.randn(1, generator=torch.Generator().manual_seed(int(1000 * x) + seed))
        return x**-0.5 * float((0.05 * noise).exp())

    return Rate(
        "my-rate",
        measure,
        (1, 4, 16, 64),
        exponent,
        relation,
        range(10),
        resolution=1.0,
        because="noise of 5 %",
        expect=expect,
    )


@pytest.mark.parametrize(
    ("relation", "exponent", "expect", "signs"),
    [
        ("equal", -0.5, "supported", (-1, 1)),
        ("at most", -0.4, "supported", (-1,)),
        ("at least", -0.7, "supported", (1,)),
        ("at most", -0.8, "violated", (1,)),
        ("at least", -0.1, "violated", (-1,)),
        ("equal", -0.1, "violated", (-1,)),
    ],
)
def test_a_rate_notices_an_exponent_outside_its_interval(relation, exponent, expect, signs):
    check = rate(exponent, relation, expect)
    verdict = check.run()
    assert verdict.passed
    change = verdict.notices.change
    for sign in signs:
        assert not replace(check, exponent=exponent + sign * (change + 0.002)).run().passed
    assert any(replace(check, exponent=exponent + sign * (change - 0.002)).run().passed for sign in signs)


def coin(at_most: float, expect: str = "supported") -> Probability:
    """Failures of probability 0.1."""
    return Probability(
        "my-coin", lambda n, g: torch.rand(n, generator=g) < 0.1, at_most, draws=2000, expect=expect
    )


@pytest.mark.parametrize(("at_most", "expect", "sign"), [(0.2, "supported", -1), (0.05, "violated", 1)])
def test_a_probability_notices_a_lower_level_and_a_refuted_one_a_higher(at_most, expect, sign):
    check = coin(at_most, expect)
    change = check.run().notices.change
    assert not replace(check, at_most=at_most * (1 + sign * MORE * change)).run().passed
    assert replace(check, at_most=at_most * (1 + sign * LESS * change)).run().passed


def parts(x, off=(0.0, 0.0, 0.0), error=0.0):
    """A large part, a small one, and one that is 0; each possibly off."""
    values = (x * (1 + off[0]), 1e-5 * x * (1 + off[1]), 0 * x + 1e-3 * off[2])
    return tuple(value + error for value in values)


def identity(formula, expect="holds") -> Identity:
    ones = torch.ones(3, dtype=torch.float64)
    return Identity(
        "my-identity",
        formula,
        {"itself": lambda x: parts(x)},
        [{"x": ones}, {"x": 2 * ones}],
        1e-6,
        "exact",
        {},
        expect=expect,
    )


def test_an_identity_notices_a_value_off_in_any_part():
    check = identity(lambda x: parts(x, error=1e-12))
    verdict = check.run()
    change = verdict.notices.change
    # The second part lies below the floor of 1e-3, by a factor of 50 where it is largest: so much of its error does not count.
    assert change == pytest.approx(5e-5, rel=1e-2)
    for part in range(3):
        off = tuple(MORE * change * (part == k) for k in range(3))
        assert not identity(lambda x, off=off: parts(x, off)).run().passed
    assert identity(lambda x: parts(x, (0.0, LESS * change, 0.0))).run().passed


def test_a_false_formula_notices_what_it_lacks_to_the_truth():
    """Here the first part is a tenth too large: taking away less than the power leaves it false, taking away as much makes it true."""
    check = identity(lambda x: parts(x, (0.1, 0.0, 0.0)), expect="violated")
    change = check.run().notices.change
    assert identity(lambda x: parts(x, (0.1 - LESS * change, 0.0, 0.0)), expect="violated").run().passed
    truth = 1.1 * (1 - change - 5e-7) - 1
    assert not identity(lambda x: parts(x, (truth, 0.0, 0.0)), expect="violated").run().passed


@pytest.mark.parametrize(
    ("power", "words"),
    [
        (Power("constant", 0.01), "would notice a constant off by 1 %"),
        (Power("constant", 0.794), "would notice a constant off by 80 %"),
        (Power("constant", 1.5), "would notice a constant off by 150 %"),
        (Power("constant", 41.0), "would notice a constant off by a factor above 42"),
        (Power("exponent", 0.05), "would notice an exponent off by 0.05"),
        (Power("level", 0.47), "would notice a level off by 47 %"),
        (Power("value", 1e-10), "would notice a value off by 10⁻¹⁰"),
        (Power("value", 3.2e-9), "would notice a value off by 10⁻⁸"),
        (
            Power("constant", 0.75, 1e-6),
            "would notice a constant off by 75 % (the attained ratio is pinned to 10⁻⁶)",
        ),
        (Power("constant", float("inf")), "would notice no change of the constant"),
    ],
)
def test_a_power_is_said_in_words(power, words):
    assert power.words == words


@pytest.mark.parametrize(
    ("change", "words"), [(0.2, "20 %"), (0.201, "21 %"), (1.01e-9, "10⁻⁸"), (123.0, "a factor above 131")]
)
def test_a_power_is_rounded_to_the_side_of_caution(change, words):
    assert Power("constant", change).noticed == f"a constant off by {words}"


def test_the_ledger_keeps_seven_digits_or_two_of_what_rounding_makes():
    assert Power("constant", 0.123456789).entry()["change"] == 0.1234568
    assert Power("value", 1.0012e-10).entry()["change"] == 1.1e-10


def test_an_infinite_power_is_json():
    assert Power("constant", float("inf")).entry() == {"what": "constant", "change": "inf"}


@pytest.mark.parametrize(("what", "change"), [("size", 0.1), ("constant", 0.0), ("constant", float("nan"))])
def test_a_power_that_says_nothing_is_refused(what, change):
    with pytest.raises(ValueError, match="must be"):
        Power(what, change)


def test_the_side_is_said():
    assert Power("level", 0.5, side="smaller").noticed == "a level smaller by 50 %"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (0.89, "89 %"),
        (0.9307454, "a factor above 15"),
        (0.9959448, "a factor above 250"),
        (0.9994092, "a factor above 1,700"),
        (0.9999364, "a factor above 16,000"),
    ],
)
def test_a_constant_that_may_be_many_times_smaller_is_said_by_its_factor(change, words):
    assert Power("constant", change, side="smaller").noticed == f"a constant smaller by {words}"


def test_no_check_of_the_ledger_would_notice_a_change_by_100_percent():
    entries = ledger.read(Path(__file__).parents[2] / "results" / "ledger.json")
    checks = [check for entry in entries for check in (entry, *entry["parts"])]
    words = [Power.read(check["notices"]).noticed for check in checks]
    assert not [text for text in words if "smaller by 100 %" in text]


@pytest.mark.parametrize(
    "power", [Power("level", 0.5), Power("constant", math.inf), Power("constant", 0.5, 0.01, "larger")]
)
def test_the_ledger_gives_a_power_back(power):
    assert Power.read(power.entry()) == power
