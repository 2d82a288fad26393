"""What holds for every check of every room: a stub is not yet judged, mistakes get their hints, nothing that is answered raises.

The modules are found, not listed. What is particular to an exercise stands in the test of its chapter.
"""

import collections.abc
import importlib
import inspect
import pkgutil
import sys
import typing

import pytest

from shallowformer import exercises

MODULES = [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(exercises.__path__, f"{exercises.__name__}.")
]
CHECKS = [
    function
    for module in MODULES
    for name, function in vars(module).items()
    if name.startswith("check_") and function.__module__ == module.__name__
]


def wants_function(check) -> bool:
    """Whether the answer is a function; else it is a number."""
    (answer,) = inspect.signature(check).parameters
    return typing.get_origin(typing.get_type_hints(check)[answer]) is collections.abc.Callable


def of(checks):
    return pytest.mark.parametrize(
        "check", checks, ids=lambda check: f"{check.__module__.partition('exercises.')[2]}.{check.__name__}"
    )


every_check = of(CHECKS)
functions = of([check for check in CHECKS if wants_function(check)])
numbers = of([check for check in CHECKS if not wants_function(check)])


def declared(check) -> dict:
    """The mistakes that a check knows, by hint: what it hands to ``judge`` or ``judge_number``."""
    known = {}

    def spied(judge):
        def spy(*args, **kwargs):
            known.update(inspect.signature(judge).bind(*args, **kwargs).arguments["mistakes"])
            return judge(*args, **kwargs)

        return spy

    module = sys.modules[check.__module__]
    with pytest.MonkeyPatch.context() as patch:
        for name in ("judge", "judge_number"):
            if hasattr(module, name):
                patch.setattr(module, name, spied(getattr(module, name)))
        check((lambda *arguments: None) if wants_function(check) else 0.0)
    return known


@every_check
def test_a_declared_mistake_gets_its_hint(check):
    for hint, mistake in declared(check).items():
        feedback = check(mistake)
        assert feedback.state == "wrong"
        assert hint in feedback.told


def test_mistakes_are_declared():
    without = {check.__name__ for check in CHECKS if not declared(check)}
    assert without == {
        # more than one answer is right, or every hint depends on the answer: see the chapters' own tests
        "check_earliest_contact",
        "check_heads_needed",
        "check_idle",
        "check_insensitive_scale",
        "check_readout_for",
        "check_typical_curvature",
    }


@functions
def test_a_stub_is_not_yet_judged(check):
    def stub(*arguments):
        raise NotImplementedError

    assert check(stub).state == "not yet"
    assert check(lambda *arguments: ...).state == "not yet"
    none_is_an_answer = check.__name__ == "check_earliest_contact"
    assert check(lambda *arguments: None).state == ("wrong" if none_is_an_answer else "not yet")


@functions
def test_an_answer_that_raises_is_told_what_it_raised(check):
    def answer(*arguments):
        raise KeyError("token")

    feedback = check(answer)
    assert feedback.state == "wrong"
    assert "your function raises KeyError: 'token'" in feedback.told


@functions
@pytest.mark.parametrize("value", [3.0, "text", ...])
def test_the_value_instead_of_the_function_is_explained(check, value):
    feedback = check(value)
    assert feedback.state == "wrong"
    assert "give the function itself" in feedback.told


@functions
@pytest.mark.parametrize(
    "value", [float("nan"), "text", [1, 2, 3], object()], ids=["nan", "text", "list", "object"]
)
def test_a_strange_value_is_refused_without_raising(check, value):
    assert check(lambda *arguments: value).state == "wrong"


@numbers
@pytest.mark.parametrize("answer", [..., None])
def test_a_missing_number_is_not_yet_judged(check, answer):
    assert check(answer).state == "not yet"


@numbers
@pytest.mark.parametrize("answer", ["many", [1, 2], object()], ids=["text", "list", "object"])
def test_what_is_no_number_is_said_to_be_none(check, answer):
    feedback = check(answer)
    assert feedback.state == "wrong"
    assert "expected a number" in feedback.told


@numbers
@pytest.mark.parametrize("answer", [float("nan"), float("inf"), -float("inf"), -7.0, 1e300])
def test_a_strange_number_is_refused_without_raising(check, answer):
    assert check(answer).state == "wrong"
