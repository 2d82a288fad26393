"""Identities: they can hold, they can fail, and a check that could not fail is refused."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from checks import refused
from shallowformer import verify
from shallowformer.verify.identity import Identity, relative_error

NAN, INF = math.nan, math.inf


def tensor(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


CASES = [{"x": tensor(1.0, 2.0)}, {"x": tensor(-3.0)}, {"x": tensor(0.0)}]


def check(formula, *, over=CASES, tolerance=1e-15, because="exact", tolerances=None, **routes) -> Identity:
    return Identity(
        "my-claim", formula, routes or {"sum": lambda x: x + x}, over, tolerance, because, tolerances or {}
    )


def twice(x):
    return 2 * x


# The error ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "reference", "error"),
    [
        (tensor(1.0, 2.0), tensor(1.0, 2.0), 0.0),
        (tensor(1.0, 2.5), tensor(1.0, 2.0), 0.25),
        (tensor(1.0, -2.5), tensor(1.0, -2.0), 0.25),
        (tensor(1.5, 2e6), tensor(1.0, 2e6), 0.5),  # entry by entry: a large one hides no other
        (tensor(1e-6), tensor(0.0), 1e-3),  # below the floor, 1e-3, which stands in
        (tensor(2e-6), tensor(1e-6), 1e-3),
        (tensor(1.0), tensor(1.0, 2.0), INF),
        (tensor(1.0), torch.tensor(1.0), INF),
        (tensor(1.0), tensor(1.0)[None], INF),
        (tensor(NAN), tensor(1.0), INF),
        (tensor(1.0), tensor(NAN), INF),
        (tensor(NAN), tensor(NAN), INF),
        (tensor(INF), tensor(INF), INF),  # nothing is compared
        (tensor(INF, 1.0), tensor(INF, 1.0), 0.0),
        (tensor(INF, 1.0), tensor(-INF, 1.0), INF),
        (tensor(INF, 1.0), tensor(1e6, 1.0), INF),
        (torch.tensor([True, False]), torch.tensor([True, True]), 1.0),
        (tensor(1.7e308), tensor(-1.7e308), INF),
    ],
)
def test_relative_error(value, reference, error):
    assert relative_error(value, reference, 1e-3) == pytest.approx(error, rel=1e-12)


def test_relative_error_is_taken_in_float64():
    third = torch.tensor([1 / 3])
    assert 0 < relative_error(third, tensor(1 / 3), 1e-3) < 1e-7


# Verdicts -------------------------------------------------------------------------------------------------------------


def test_an_identity_holds():
    verdict = check(twice).run()
    assert verdict.verdict == "holds"
    assert verdict.passed
    assert verdict.measured["worst_error"] == 0
    assert verdict.budget == {"cases": 3, "floor": 1e-3}


def test_a_wrong_factor_is_violated():
    verdict = check(lambda x: 2.001 * x).run()
    assert verdict.verdict == "violated"
    assert verdict.measured["worst_error"] == pytest.approx(0.0005, rel=1e-9)


@pytest.mark.parametrize("bad", range(3))
def test_one_bad_case_is_enough_wherever_it_stands(bad):
    over = [{"x": tensor(1.0), "slip": 1.0 * (k == bad)} for k in range(3)]
    verdict = check(lambda x, slip: x + slip, over=over, itself=lambda x, slip: x).run()
    assert verdict.verdict == "violated"
    assert verdict.measured["worst_error"] == 1


def test_one_bad_route_is_enough_and_is_named():
    verdict = check(twice, sum=lambda x: x + x, wrong=lambda x: 3 * x).run()
    assert verdict.verdict == "violated"
    assert verdict.measured["error_sum"] == 0
    assert verdict.measured["error_wrong"] == pytest.approx(1 / 3)
    assert "against wrong" in verdict.summary


@pytest.mark.parametrize("broken", [NAN, INF])
def test_a_formula_that_is_not_finite_fails(broken):
    assert check(lambda x: broken * x, over=CASES[:1]).run().verdict == "violated"


@pytest.mark.parametrize("broken", [NAN, INF])
def test_a_route_that_is_not_finite_fails_even_if_the_formula_agrees(broken):
    verdict = check(lambda x: broken + x, same=lambda x: broken + x).run()
    assert verdict.verdict == "violated"
    assert verdict.measured["error_same"] == INF


@pytest.mark.parametrize(
    "formula", [lambda x: x[:1] + x[:1], lambda x: (2 * x)[None], lambda x: (2 * x).sum()]
)
def test_another_shape_fails_even_if_it_would_broadcast(formula):
    verdict = check(formula, over=[{"x": tensor(0.0, 0.0)}]).run()
    assert verdict.verdict == "violated"
    assert verdict.measured["worst_error"] == INF


def test_a_tolerance_is_met_up_to_its_value():
    nearly = lambda x: 2 * x * (1 + 1e-6)
    assert check(nearly, tolerance=1.01e-6).run().passed
    assert not check(nearly, tolerance=0.99e-6).run().passed


def test_a_less_accurate_route_may_have_its_own_tolerance():
    routes = {"sum": lambda x: x + x, "differences": lambda x: 2 * x * (1 + 1e-7)}
    assert not check(twice, **routes).run().passed
    verdict = check(twice, tolerances={"differences": 2e-7}, **routes).run()
    assert verdict.passed
    assert verdict.measured["tolerance_sum"] == 1e-15
    assert verdict.measured["tolerance_differences"] == 2e-7


def test_the_floor_decides_what_counts_as_0():
    over = [{"x": tensor(1e-9)}]
    off = Identity("my-claim", twice, {"thrice": lambda x: 3 * x}, over, 1e-5, "rounding", {})
    assert off.run().passed
    strict = Identity("my-claim", twice, {"thrice": lambda x: 3 * x}, over, 1e-5, "rounding", {}, floor=1e-12)
    assert not strict.run().passed


def test_parts_are_compared_one_by_one():
    both = lambda x: (x, 2 * x)
    assert check(both, same=lambda x: (x, x + x)).run().passed
    assert not check(both, swapped=lambda x: (x + x, x)).run().passed
    assert not check(both, second_wrong=lambda x: (x, x)).run().passed


def test_another_number_of_parts_is_refused():
    refused("route 'one'", "gives 1 parts", "the formula 2", check(lambda x: (x, x), one=lambda x: x).run)


def test_an_expected_violation_must_be_found():
    wrong = dict(
        claim="my-claim", against={"sum": lambda x: x + x}, over=CASES, tolerance=1e-9, because="exact"
    )
    assert verify.identity(formula=lambda x: 3 * x, expect="violated", **wrong).verdict == "violated"
    with pytest.raises(verify.ClaimFailed, match="my-claim"):
        verify.identity(formula=twice, expect="violated", **wrong)


def test_cases_may_come_from_a_generator():
    verdict = verify.identity("my-claim", twice, {"sum": lambda x: x + x}, iter(CASES), 1e-15, "exact")
    assert verdict.budget == {"cases": 3, "floor": 1e-3}


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (0.0, "relative error 0 against"),
        (3e-7, "below 1e-06 against"),
        (1.0, "relative error 1 against"),
        (NAN, "inf against"),
    ],
)
def test_the_summary_rounds_errors_up_to_a_power_of_ten(error, text):
    one = [{"x": tensor(1.0)}]
    assert text in check(lambda x: x + error, over=one, itself=lambda x: x).run().summary


def never(**_):
    raise AssertionError("the check ran although an argument is bad")


def declare(**changes):
    good = dict(
        claim="my-claim", formula=never, against={"route": never}, over=CASES, tolerance=1e-9, because="exact"
    )
    return verify.identity(**(good | changes))


@pytest.mark.parametrize(
    ("name", "value", "given", "allowed"),
    [
        *(("tolerance", value, repr(value), "above 0") for value in (0, -1e-9, NAN, INF)),
        *(("tolerances", {"route": value}, repr(value), "above 0") for value in (0, -1e-9, NAN, INF)),
        # An infinite floor, or one that is no number, would turn every error into 0.
        *(("floor", value, repr(value), "above 0") for value in (-1.0, NAN, INF)),
        ("against", {}, "none", "at least one independent route"),
        ("over", [], "none", "at least one case"),
        ("because", "", "nothing", "differ by so much"),
        ("expect", "tight", "'tight'", "'holds', 'violated', 'not implied' or 'recorded'"),
        ("tolerances", {"other": 1e-9}, "other", "routes (route)"),
    ],
)
def test_a_bad_argument_is_refused_before_the_check_runs(name, value, given, allowed):
    refused(name, given, allowed, declare, **{name: value})


def test_what_is_not_implied_is_no_erratum():
    said = dict(over=[{"x": torch.tensor(2.0)}], tolerance=1e-9, because="exact", tolerances={})
    check = Identity(
        "my-claim", lambda x: x, against={"square": lambda x: x**2}, expect="not implied", **said
    )
    assert check.run().verdict == "not implied"
    assert replace(check, against={"itself": lambda x: x}).run().verdict == "holds"


def test_complex_numbers_are_compared_as_such():
    turned = lambda sign: lambda x: torch.exp(sign * 1j * x)
    assert check(turned(1), against=turned(1)).run().verdict == "holds"
    assert check(turned(1), against=turned(-1)).run().verdict == "violated"
    eigenvalues = relative_error(torch.tensor([3j, -3j]), torch.zeros(2), 1e-3)
    assert eigenvalues == pytest.approx(3000)


def normalised_in_place(x):
    x /= x.norm()
    return x.norm()


@pytest.mark.parametrize(
    ("formula", "route", "writes"),
    [(normalised_in_place, torch.norm, "formula"), (torch.norm, normalised_in_place, "route 'norm'")],
)
def test_who_writes_on_a_case_is_refused(formula, route, writes):
    one = [{"x": tensor(3.0, 4.0)}]
    with pytest.raises(RuntimeError, match=f"{writes} must not write on what it is given, wrote on x"):
        check(lambda x: formula(x), over=one, norm=lambda x: route(x)).run()


def test_what_is_recorded_can_fail_and_is_no_evidence():
    typed = lambda value: verify.identity(
        "my-row", lambda: torch.tensor(value), {"stored": lambda: torch.tensor(2.0)}, [{}], 5e-3, "three digits",
        expect="recorded", support="numerical",
    )  # fmt: skip
    verdict = typed(2.001)
    assert (verdict.verdict, verdict.kind) == ("recorded", "recorded")
    assert "no evidence" in verdict.card()
    with pytest.raises(verify.ClaimFailed, match="expects 'recorded' but its check says 'violated'"):
        typed(2.02)
