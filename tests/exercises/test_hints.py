"""Steps of a hint: the mistake that was made and no other, slips of any exercise, values side by side."""

import pytest
import torch

from shallowformer.exercises import hints
from shallowformer.exercises.feedback import judge, judge_number

CASES = [("two", (2.0,)), ("five", (5.0,)), ("a half", (0.5,))]


def right(t):
    return 3 * t + 0.25


SLIPPED = {
    "sign": lambda t: -right(t),
    "twice": lambda t: 2 * right(t),
    "half": lambda t: right(t) / 2,
    "square": lambda t: right(t) ** 2,
    "root of": lambda t: right(t) ** 0.5,
    "upside down": lambda t: 1 / right(t),
    "one minus": lambda t: 1 - right(t),
}


@pytest.mark.parametrize(("word", "answer"), SLIPPED.items())
def test_a_slip_of_a_function_is_named_though_none_is_declared(word, answer):
    told = judge("ex", answer, right, CASES, {})
    assert word in told.hint(2)
    assert told.message.startswith("two: expected 6.25, got")


@pytest.mark.parametrize(("word", "answer"), SLIPPED.items())
def test_a_slip_of_a_number_is_named(word, answer):
    told = judge_number("ex", answer(2.0), right(2.0), {}, "begin so", "praise")
    assert word in told.hint(2)
    assert told.hint(3) == "begin so"


def test_a_transpose_is_named_and_only_where_it_differs():
    A = torch.arange(6, dtype=torch.float64).reshape(2, 3)
    cases = [("square", (A[:, :2],)), ("wide", (A,))]
    assert "transpose" in judge("ex", lambda A: 2 * A.T, lambda A: 2 * A, cases, {}).hint(2)
    assert "transpose" not in judge("ex", lambda A: 3 * A, lambda A: 2 * A, cases, {}).told


def test_a_declared_mistake_goes_before_a_slip_and_values_may_have_none():
    cases = [("three", (3.0,)), ("five", (5.0,))]
    told = judge("ex", lambda t: 2 * t, lambda t: t, cases, {"counted twice": lambda t: t + t})
    assert told.hint(2) == "counted twice"
    told = judge("ex", lambda t: 2 * t, lambda t: t, cases, {}, slips=False)
    assert "no mistake that this check knows" in told.hint(2)


def test_a_slip_on_some_cases_only_is_no_slip():
    """Minus the right value at one case, something else at the others."""
    told = judge("ex", lambda t: -right(t) if t == 2 else 7.0, right, CASES, {})
    assert "sign" not in told.told
    told = judge("ex", lambda t: right(t) if t > 0.5 else -right(t), right, CASES, {})
    assert told.hint(2).endswith("Right on: two; five. What is special there?")


def test_the_third_step_shows_all_values_and_stops():
    told = judge("ex", lambda t: torch.ones(2, 2) + t, lambda t: t * torch.ones(2, 2), CASES, {})
    assert "\ntwo: expected [[2, 2], [2, 2]], got [[3, 3], [3, 3]]\n" in told.hint(3)
    told = judge("ex", lambda t: 2 * torch.ones(12), lambda t: t * torch.ones(12), CASES[::-1], {})
    assert told.hint(3).splitlines()[1:] == [
        "a half: off by 1.5 at an entry that is 0.5.",
        "five: off by 3 at an entry that is 5.",
        "two: right",
    ]
    many = [(f"case {k}", (float(k),)) for k in range(30)]
    table = judge("ex", lambda t: t + 1, lambda t: t, many, {}).hint(3).splitlines()
    assert len(table) == 11
    assert table[-1] == "…"
    odd = judge("ex", lambda t: "text" if t > 2 else 1.0, lambda t: t, CASES, {})
    assert "five: expected 5, got no finite value" in odd.hint(3)
    assert "expected shape (), got (2,)" in judge("ex", lambda t: torch.ones(2), right, CASES, {}).hint(3)


def test_a_mistake_is_named_though_the_answer_raises_on_a_case():
    """Written without care, it overflows where the mistake as the check computes it does not."""
    answer = lambda t: 1 / 0 if t == 0.5 else t + 7
    assert judge("ex", answer, right, CASES, {"seven": lambda t: t + 7}).hint(2) == "seven"
    answer = lambda t: t + 7 if t == 2 else 1 / 0  # one value is too few
    assert "seven" not in judge("ex", answer, right, CASES, {"seven": lambda t: t + 7}).told


def test_of_two_numbers_nearby_the_nearer_is_named():
    mistakes = {"a hundred": 100.0, "a hundred and one": 101.0}
    said = lambda number: judge_number("ex", number, 7.0, mistakes, "", "", near=0.02).hint(2)
    assert (said(100.2), said(100.9)) == tuple(mistakes)


def test_a_right_value_of_nothing_has_no_slips():
    assert hints.slip(5.0, 0.0, 1e-3) == hints.slip(1.0, 0.0, 1e-3) == ""


@pytest.mark.parametrize(("number", "right", "tolerance"), [(0.05, 131.8, 0.1), (0.05, 0.1009, 0.01), (0.3, 90_000.0, 9000.0), (450.0, 1000.0, 50.0)])  # fmt: skip
def test_a_number_near_a_slip_s_is_not_taken_for_it(number, right, tolerance):
    assert hints.slip(number, right, tolerance) == ""
