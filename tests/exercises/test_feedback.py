"""Judging answers: values of any kind are compared, or refused with a reason."""

import math

import numpy as np
import pytest
import torch

from checks import refused
from shallowformer.exercises.feedback import Feedback, judge, judge_by, judge_number

CASES = [(name, (torch.tensor(value, dtype=torch.float64),)) for name, value in (("one", 1.0), ("two", 2.0))]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), "NaN or infinite"),
        ("text", "expected a number or a tensor, got str"),
        ([1, 2, 3], "expected shape (), got (3,)"),
        (3.0, "expected 1, got 3."),
        (1 + 1e-8, "off by 1e-08, which is more than rounding"),
    ],
)
def test_a_wrong_value_is_described(value, reason):
    feedback = judge("ex", lambda x: value, lambda x: x, CASES, {})
    assert feedback.state == "wrong"
    assert feedback.message.startswith("one: ")
    assert reason in feedback.told


def test_the_tolerance_is_relative_to_large_values():
    answer = lambda x: x * 1e6 + 1e-4
    assert judge("ex", answer, lambda x: x * 1e6, CASES, {}).passed
    assert not judge("ex", answer, lambda x: x * 1e6, CASES, {}, tolerance=1e-11).passed


def test_a_mistake_gives_its_hint_where_the_answer_agrees_with_it():
    mistakes = {"a mistake that raises": lambda x: x.nothing, "squared": lambda x: x**2}
    feedback = judge("ex", lambda x: x * x, lambda x: x, CASES, mistakes)
    assert (feedback.message, feedback.hint(2)) == ("two: expected 2, got 4.", "squared")


def test_of_two_mistakes_that_agree_on_a_case_the_one_that_was_made_gets_its_hint():
    doubled, squared = lambda x: 2 * x, lambda x: x**2
    mistakes = {"doubled": doubled, "squared": squared}
    cases = [("two", (2.0,)), ("three", (3.0,))]  # at two they agree
    for hint, mistake in mistakes.items():
        assert judge("ex", mistake, lambda x: x + 1, cases, mistakes).hint(2) == hint
    mixed = lambda x: 4.0 if x == 2 else 7.0
    told = judge("ex", mixed, lambda x: x + 1, cases, mistakes).told
    assert not any(hint in told for hint in mistakes)


def test_a_mistake_counts_only_on_the_cases_on_which_it_can_be_computed():
    mistakes = {"inverted": lambda x: 1 / x, "a root": lambda x: math.sqrt(x - 1)}
    cases = [("zero", (0.0,)), ("two", (2.0,))]
    answer = lambda x: 1 / x if x else 5.0
    assert judge("ex", answer, lambda x: x, cases, mistakes).hint(2) == "inverted"
    answer = lambda x: math.sqrt(x - 1)  # and so does the answer, where it is asked first
    assert "raises ValueError" in judge("ex", answer, lambda x: x, cases, mistakes).message


def test_what_is_seen_is_compared():
    answer = lambda x: {"value": x}
    seen = lambda value, x: value["value"]
    assert judge("ex", answer, lambda x: x, CASES, {}, seen=seen).passed
    feedback = judge("ex", lambda x: {}, lambda x: x, CASES, {}, seen=seen)
    assert "your function raises KeyError" in feedback.told


def test_an_answer_cannot_change_the_case():
    def answer(x):
        x += 1
        return x - 1

    assert judge("ex", answer, lambda x: x, CASES, {}).passed


@pytest.mark.parametrize("number", [torch.tensor(0.9), np.float32(0.9), 0.9])
def test_a_number_may_come_from_any_library(number):
    assert judge_number("ex", number, 0.9, {}, "", "well done").message == "well done"


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (3.001, "praise"),
        (3.002, "2.9 to 3.1"),  # beyond the tolerance
        (3.1, "2.9 to 3.1"),
        (0.005, "zero"),
        (-99.5, "minus a hundred"),
        (4.0, "other: 4"),
    ],
)
def test_a_number_is_compared_with_the_right_one_and_then_with_those_of_mistakes(number, message):
    mistakes = {"2.9 to 3.1": 3.05, "zero": 0.0, "minus a hundred": -100}
    otherwise = lambda number: f"other: {number:g}"
    told = judge_number("ex", number, 3, mistakes, otherwise, "praise", near=0.02).told
    assert told.split("\n")[-1] == message


def test_the_rest_may_be_told_one_thing():
    assert judge_number("ex", math.inf, 1, {}, "no", "yes").hint(2) == "no"


def test_hints_are_given_one_at_a_time():
    told = Feedback("ex-a", "wrong", "where", ("which", "x < y"))
    assert [told.hint(step) for step in (1, 2, 3)] == ["where", "which", "x < y"]
    assert told.hint() == "which"
    assert told.hint(4) == "there is no step 4 for this answer; the last one is 3."
    assert told.told == "where\nwhich\nx < y"
    refused("step", "0", "at least 1", told.hint, 0)


def test_the_next_hint_stays_folded_until_it_is_asked_for():
    told = Feedback("ex-a", "wrong", "where", ("which", "x < y"))
    assert "which" not in repr(told)
    assert ".hint(2), then .hint(3)" in repr(told)
    assert ".hint" not in repr(Feedback("ex-a", "passed", "well done"))
    page = told._repr_html_()
    assert page.index("where") < page.index("<details>") < page.index("which") < page.index("x &lt; y")
    assert page.count("<details>") == page.count("</details>") == 2
    assert page.index("which") < page.rindex("<details>")  # the third opens within the second


def test_a_property_may_have_hints_of_its_own():
    problem = lambda value, x: ("too large", "halve it") if value > 1 else ""
    told = judge_by("ex", lambda x: x, CASES, problem, "praise")
    assert (told.message, told.hints) == ("two: too large", ("halve it",))


def test_feedback_is_readable_as_text_and_as_html():
    feedback = Feedback("ex-a", "wrong", "x < y")
    assert "ex-a" in repr(feedback)
    assert "x &lt; y" in feedback._repr_html_()
