"""Mistakes planted in checks that have settled: noticed, early where that is sound, and reported."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from shallowformer import verify
from shallowformer.verify import check, planting
from shallowformer.verify.mistakes import Mistake, formula, measured, package
from shallowformer.verify.rate import fit

MODULE = SimpleNamespace(square=lambda x: x * x)


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    monkeypatch.setattr(check, "_run", check._run)  # put back in the end
    planting.keep()
    return planting.kept


def settle_all() -> None:
    verify.identity(
        "my-identity",
        lambda x: MODULE.square(x),
        {"by a product": lambda x: x * x},
        [{"x": torch.ones(2, dtype=torch.float64)}, {"x": torch.full((2,), 3.0, dtype=torch.float64)}],
        1e-12,
        "exact",
    )
    verify.inequality(
        "my-inequality",
        lambda x: MODULE.square(x),
        1.0,
        verify.product(x=verify.interval(-1.0, 1.0)),
        "tight",
        "exact",
        restarts=4,
        steps=40,
    )
    verify.rate("my-rate", lambda x, seed: x**-0.5, (1, 2, 4), -0.5, "equal", (0,), 0.1, "exact", deterministic=True)  # fmt: skip
    verify.probability("my-probability", lambda n, g: torch.rand(n, generator=g) < 0.01, 0.05, 1000)


def test_every_check_is_kept_with_its_verdict(kept):
    settle_all()
    assert list(kept()) == ["my-identity", "my-inequality", "my-rate", "my-probability"]
    assert all(each.verdict.passed for each in kept().values())


def test_nothing_is_kept_unless_asked(monkeypatch):
    monkeypatch.undo()  # checks run by themselves again
    settle_all()
    assert planting.kept() == {}


@pytest.mark.parametrize("full", [False, True])
def test_mistakes_are_noticed_and_harmless_changes_are_not(full):
    settle_all()
    found = planting.plant(
        {
            "my-identity": [
                formula("twice", lambda value, case: 2 * value),
                package("a cube", MODULE, "square", lambda x: x**3),
                formula("nothing", lambda value, case: value),
            ],
            "my-inequality": [
                package("a root", MODULE, "square", lambda x: x.abs().sqrt() * 1.01),
                package("nothing", MODULE, "square", lambda x: x * x),
            ],
            "my-rate": [measured("logarithms", lambda value: 1 - math.log(value)), measured("nothing", lambda value: value)],
            "my-probability": [Mistake("the other way", lambda check: replace(check, fails=lambda *draws: ~check.fails(*draws)))],
        },
        full,
    )  # fmt: skip
    assert [(outcome.claim, outcome.what) for outcome in found if not outcome.red] == [
        ("my-identity", "nothing"),
        ("my-inequality", "nothing"),
        ("my-rate", "nothing"),
    ]
    assert [outcome.error for outcome in found if outcome.error] == []
    assert MODULE.square(3) == 9


def test_a_mistake_that_breaks_the_check_is_no_evidence():
    settle_all()

    def fails(x):
        raise ZeroDivisionError("no")

    (outcome,) = planting.plant({"my-identity": [package("raises", MODULE, "square", fails)]})
    assert not outcome.red
    assert outcome.error == "ZeroDivisionError: no"


def test_mistakes_of_a_check_that_did_not_settle_are_refused():
    settle_all()
    with pytest.raises(ValueError, match=r"must belong to checks that settled .*my-rate.* got my-other"):
        planting.plant({"my-other": []})


def test_what_was_measured_is_not_measured_again():
    calls = []
    verify.rate("my-count", lambda x, seed: calls.append(x) or x**-0.5, (1, 2, 4), -0.5, "equal", (0,), 0.1, "exact", deterministic=True)  # fmt: skip
    before = len(calls)
    planting.plant({"my-count": [measured("cubed", lambda value: value**3)]})
    assert len(calls) == before


def test_a_known_point_refutes_without_a_search(monkeypatch):
    check = verify.Inequality(
        "my-known",
        lambda x: x,
        1.0,
        verify.product(x=verify.interval(0.0, 1.0)),
        "tight",
        "exact",
        known={"the end": verify.batch(x=1.0)},
        restarts=4,
        steps=40,
    )
    verify.settle(check)
    monkeypatch.setattr(verify.Inequality, "run", lambda self: pytest.fail("searched"))
    (outcome,) = planting.plant(
        {"my-known": [Mistake("larger", lambda c: replace(c, lhs=lambda x: 1.1 * c.lhs(x)))]}
    )
    assert outcome.red
    assert outcome.error == ""


def test_an_erratum_is_not_refuted_by_a_single_point():
    assert not planting.contradicted(
        verify.Inequality("my-false", lambda x: x, 0.5, verify.product(x=verify.interval(0.0, 1.0)), "violated", "exact"),
        {"x": torch.tensor(1.0, dtype=torch.float64)},
    )  # fmt: skip


def test_a_share_of_the_seeds_refutes_a_rate_that_is_clearly_wrong():
    measured_at = []
    verify.rate("my-rate", lambda x, seed: x**-0.5 * (1 + 0.01 * seed), (1, 2, 4), -0.5, "equal", range(20), 0.1, "exact")  # fmt: skip
    wrong = Mistake("another law", lambda check: replace(check, measure=lambda x, seed: measured_at.append(seed) or x**-1.0 * (1 + 0.01 * seed)))  # fmt: skip
    (outcome,) = planting.plant({"my-rate": [wrong]})
    assert outcome.red
    assert set(measured_at) == set(range(5))


@pytest.mark.parametrize("stored", [False, True])
def test_draws_that_are_remembered_still_have_used_their_generator(stored):
    own = lambda n, g: torch.rand(n, generator=torch.Generator().manual_seed(0)) < 0.01
    seeded = lambda n, g: torch.rand(n, generator=torch.Generator().manual_seed(g.initial_seed())) < 0.01
    if not stored:
        with pytest.raises(ValueError, match="left it as it was"):
            verify.probability("my-own", own, 0.05, 1000)
    verify.probability("my-draws", own if stored else seeded, 0.05, 1000, stored=stored)
    (outcome,) = planting.plant({"my-draws": [Mistake("none", lambda check: check)]})
    assert (outcome.red, outcome.error) == (False, "")


def test_a_share_of_the_draws_refutes_a_probability_that_is_clearly_wrong():
    drawn = []
    verify.probability("my-probability", lambda n, g: torch.rand(n, generator=g) < 0.01, 0.05, 1000)
    wrong = Mistake("every other", lambda check: replace(check, fails=lambda n, g: drawn.append(n) or torch.rand(n, generator=g) < 0.5))  # fmt: skip
    (outcome,) = planting.plant({"my-probability": [wrong]})
    assert outcome.red
    assert drawn == [250]


def two_hills(x):
    """A broad hill of height 0.9, and a kinked peak of height 1 at (−1, −1)."""
    return torch.maximum(0.9 * (-4 * (x - 1).square().sum(-1)).exp(), (-30 * (x + 1).abs().sum(-1)).exp())


def steep(x, slope):
    """A ridge along a parabola, with its only maximum at (1, 1)."""
    return 1 / (1 + (x[:, 0] - 1) ** 2 + slope * (x[:, 1] - x[:, 0] ** 2) ** 2)


def square(**options):
    return dict(over=verify.product(x=verify.interval(-2.0, 2.0, 2)), because="exact", **options)


def test_no_mistake_is_noticed_where_only_patience_finds_what_is_known(kept):
    top = verify.batch(x=[-1.0, -1.0])
    verify.inequality("my-hills", two_hills, 0.5, expect="violated", known={"the peak": top}, **square(restarts=8, steps=121, edges=False))  # fmt: skip
    settled = kept()["my-hills"]
    assert settled.found[""].agreed.value == pytest.approx(1.8)  # of 2
    assert settled.patient
    assert not planting.goes_red(settled, Mistake("nothing", lambda check: check))
    assert planting.goes_red(settled, Mistake("less", lambda check: replace(check, rhs=1.5)))


def test_whether_the_check_is_patient_does_not_depend_on_a_mistake_in_the_package(kept):
    hills = SimpleNamespace(height=two_hills)
    top = verify.batch(x=[-1.0, -1.0])
    verify.inequality("my-hills", lambda x: hills.height(x), 0.5, expect="violated", known={"the peak": top}, **square(restarts=8, steps=121, edges=False))  # fmt: skip
    settled = kept()["my-hills"]
    without = package("no peak", hills, "height", lambda x: 0.9 * (-4 * (x - 1).square().sum(-1)).exp())
    planting.goes_red(settled, without)
    assert settled.patient


def test_a_claim_that_is_only_harder_to_climb_is_not_a_mistake(kept):
    verify.inequality(
        "my-top", lambda x: 1 / (1 + (x - 1).square().sum(-1)), 1.0, expect="tight", **square(restarts=8)
    )
    settled = kept()["my-top"]
    assert settled.steps(settled.check)[""] < settled.check.steps
    harder = Mistake("a ridge", lambda check: replace(check, lhs=lambda x: steep(x, 1e6)))
    assert not planting.goes_red(settled, harder)
    assert planting.goes_red(
        settled, Mistake("half", lambda check: replace(check, lhs=lambda x: check.lhs(x=x) / 2))
    )


@pytest.mark.parametrize("change", [{"seed": 5}, {"restarts": 2}, {"edges": False}])
def test_another_search_has_all_its_steps(kept, change):
    verify.inequality(
        "my-ridge", lambda x: steep(x, 100.0), 1.0, expect="tight", **square(restarts=8, steps=1000)
    )
    settled = kept()["my-ridge"]
    assert settled.steps(replace(settled.check, **change)) == {}
    assert not planting.goes_red(settled, Mistake("another search", lambda check: replace(check, **change)))


@pytest.mark.parametrize("expect", ["loose", "violated"])
def test_more_than_is_said_to_be_the_most_refutes_at_the_worst_known_point(kept, expect):
    most, calls = {"loose": 0.5, "violated": 2.0}[expect], []
    verify.inequality(
        "my-inequality",
        lambda x: calls.append(x) or most * x**2,
        1.0,
        verify.product(x=verify.interval(-1.0, 1.0)),
        expect,
        "exact",
        attains=most,
        restarts=4,
        steps=40,
    )
    calls.clear()
    more = Mistake("5 % more", lambda check: replace(check, lhs=lambda x: 1.05 * check.lhs(x=x)))
    assert planting.goes_red(kept()["my-inequality"], more)
    assert len(calls) == 1


def test_a_mistake_ends_at_the_first_set_that_falls_short(kept):
    seen = []
    verify.inequality(
        "my-inequality",
        lambda x: seen.append(x.shape[-1]) or MODULE.square(x).sum(-1),
        1.0,
        {f"d={d}": verify.product(x=verify.ball(d)) for d in (2, 3)},
        "tight",
        "exact",
        restarts=4,
        steps=40,
    )
    assert planting.goes_red(kept()["my-inequality"], package("half", MODULE, "square", lambda x: x * x / 2))
    assert seen.count(3) < seen.count(2)


def test_a_true_claim_about_another_set_is_not_refuted_by_a_point_outside(kept):
    verify.inequality("my-inequality", lambda x: x.abs() / 2, 1.0, verify.product(x=verify.interval(-1.0, 1.0)), "loose", "exact", attains=0.5, restarts=4, steps=40)  # fmt: skip
    half = verify.product(x=verify.interval(-0.5, 0.5))
    smaller = Mistake("another set", lambda check: replace(check, over=half, attains=0.25))
    assert not planting.goes_red(kept()["my-inequality"], smaller)


@pytest.mark.parametrize(("beyond", "refuted"), [(0.25, False), (0.75, True)])
def test_an_interval_from_a_share_of_the_seeds_is_taken_twice_as_wide(beyond, refuted):
    """A claimed exponent so far beyond the share's interval, in units of its width."""
    slopes = dict(enumerate((-0.5, -0.52, -0.47, -0.51, -0.49, -0.53)))
    law = lambda x, seed: x ** slopes[seed % 6]
    some = fit((1, 2, 4), np.array([[law(x, seed) for x in (1, 2, 4)] for seed in range(6)]), "power")
    claimed = some.high + beyond * (some.high - some.low)
    check = verify.Rate("my-rate", law, (1, 2, 4), claimed, "equal", range(24), 1.0, "exact")
    assert planting.contradicted(check, {}) is refuted
