"""What holds for every check of every room: a stub is not yet judged, mistakes get their hints, nothing that is answered raises.

The modules are found, not listed. What is particular to an exercise stands in the test of its chapter.
"""

import collections.abc
import functools
import importlib
import inspect
import pkgutil
import sys
import typing

import pytest
import torch

from companion import exercises
from shallowformer.exercises import feedback, hints

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

#: What ``judge`` compares unless a check says otherwise: the answer itself.
DEFAULT_SEEN = inspect.signature(feedback.judge).parameters["seen"].default


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


@functools.cache
def handed(check) -> dict:
    """What a check hands to ``judge`` or ``judge_number``; empty if it calls neither."""
    known = {}

    def spied(judge):
        def spy(*args, **kwargs):
            bound = inspect.signature(judge).bind(*args, **kwargs)
            bound.apply_defaults()
            known.update(bound.arguments)
            return judge(*args, **kwargs)

        return spy

    module = sys.modules[check.__module__]
    with pytest.MonkeyPatch.context() as patch:
        for name in ("judge", "judge_number"):
            if hasattr(module, name):
                patch.setattr(module, name, spied(getattr(module, name)))
        check((lambda *arguments: None) if wants_function(check) else 0.0)
    return known


def declared(check) -> dict:
    """The mistakes that a check knows, by hint."""
    return handed(check).get("mistakes", {})


@every_check
def test_a_declared_mistake_gets_its_hint(check):
    for hint, mistake in declared(check).items():
        told = check(mistake)
        assert told.state == "wrong"
        assert told.hint(2) == hint


def values(given: dict, function) -> list:
    """What a function gives on every case of a check, as it is compared; None where it has no finite value."""
    seen = given["seen"]
    return [hints.computed(lambda *a: seen(function(*a), *a), arguments) for _, arguments in given["cases"]]


def judged(given: dict, answer, cases: list):
    names = ("exercise", "reference", "mistakes", "tolerance", "seen", "slips")
    return feedback.judge(answer=answer, cases=cases, **{name: given[name] for name in names})


@functions
def test_a_mistake_gets_its_hint_whichever_case_comes_first(check):
    """On each case alone in front; where the mistake is right there, a later case is named, and the hint is the same."""
    given = handed(check)
    if not given:
        return
    cases = given["cases"]
    right = [given["reference"](*hints.copies(arguments)) for _, arguments in cases]
    for hint, mistake in given["mistakes"].items():
        made = values(given, mistake)
        wrong = [value is not None and bool(hints.difference(value, r, given["tolerance"])) for value, r in zip(made, right, strict=True)]  # fmt: skip
        for k, value in enumerate(made):
            if value is None:
                continue
            told = judged(given, mistake, [cases[k], *cases[:k], *cases[k + 1 :]])
            if "raises" not in told.message and told.hints:
                assert told.hint(2) == hint
                assert not wrong[k] or told.message.startswith(f"{cases[k][0]}: ")
            else:  # where it cannot be computed, the reader learns what was raised, or that it is no number
                assert None in made


@functions
def test_a_sign_a_factor_a_square_and_a_transpose_are_named(check):
    """Of every check that compares what is answered: by a hint of its own, or by the one for all."""
    given = handed(check)
    if not given or given["seen"] is not DEFAULT_SEEN or not given["slips"]:
        return
    right = [given["reference"](*arguments) for _, arguments in given["cases"]]
    for hint, made in hints._all_slipped(right, given["tolerance"]).items():
        slip = hints.SLIPS[hint]
        told = check(lambda *a, slip=slip: slip(torch.as_tensor(given["reference"](*a), dtype=torch.float64)))
        assert told.state == "wrong"
        assert told.hint(2) in (hint, *given["mistakes"])
        assert len(made) == len(right)


@numbers
def test_a_number_s_sign_factor_and_square_are_named(check):
    given = handed(check)
    if not given:
        return
    right = float(given["right"])
    for hint, by in hints.SLIPS.items():
        number = by(torch.tensor(right, dtype=torch.float64))
        if number is None or not number.isfinite() or abs(float(number) - right) <= given["tolerance"]:
            continue
        told = check(float(number))
        assert told.state == "wrong"
        named = [h for h in hints.SLIPS if h in told.hints]  # a root may be a half: 1/4
        assert named or told.hint(2) in given["mistakes"]
        assert hint in told.hints or told.hint(2) in given["mistakes"] or len(named) == 1


@functions
def test_three_steps(check):
    """Where, which mistake, and all cases side by side."""
    for mistake in declared(check).values():
        told = check(mistake)
        where, named, table = (told.hint(step) for step in (1, 2, 3))
        assert ": " in where
        assert named not in where
        assert table.startswith("case by case.\n")
        assert "there is no step 4" in told.hint(4)


def right_ones(check) -> dict:
    """Functions of a check's module, and the reference, that are right: what a reader might hand in as an answer."""
    module, given = sys.modules[check.__module__], handed(check)
    found = {
        name: f
        for name, f in vars(module).items()
        if name.startswith("_") and inspect.isfunction(f) and f.__module__ == module.__name__
    }
    if given:
        found["reference"] = given["reference"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feedback, "borrowed", lambda *functions: "")
        judged = {name: check(f) for name, f in found.items()}
    return {name: found[name] for name, f in judged.items() if f.passed or f.message.startswith("right, but")}


@functions
def test_the_checker_s_own_functions_are_no_answers(check):
    """Though right, and under whatever name: only the origin is refused."""
    own = right_ones(check)
    compared_as_given = handed(check).get("seen") is DEFAULT_SEEN
    assert own or not compared_as_given
    for name, function in own.items():
        outside = {"function": function, "module": sys.modules[check.__module__]}
        exec("def helper(*a): return function(*a)\ndef by_helper(*a): return helper(*a)", outside)
        ways = [
            function,
            functools.partial(function),
            functools.wraps(function)(lambda *a, f=function: f(*a)),
            lambda *a, f=function: f(*a),
            lambda *a: function(*a),  # noqa: B023
            outside["by_helper"],
        ]
        if name != "reference":
            here = check.__module__
            exec(f"def by_module(*a): return module.{name}(*a)", outside)
            exec(f"def by_import(*a):\n    from {here} import {name} as f\n    return f(*a)", outside)
            exec(f"def from_the_top(*a):\n    import {here}\n    return {here}.{name}(*a)", outside)
            ways += [outside["by_module"], outside["by_import"], outside["from_the_top"]]
        for way in ways:
            told = check(way)
            assert told.state == "wrong", name
            assert "write your own" in told.message


def test_mistakes_are_declared():
    without = {check.__name__ for check in CHECKS if not declared(check)}
    assert without == {
        # more than one answer is right, or every hint depends on the answer: see the chapters' own tests
        "check_earliest_contact",
        "check_heads_needed",
        "check_idle",
        "check_insensitive_scale",
        "check_readout_for",
        "check_sharp_heads",
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


def test_a_library_that_lacks_something_is_not_a_stub():
    def answer(*arguments):
        raise NotImplementedError("max is not implemented for complex tensors")

    told = feedback.judge_by("ex-any", answer, [("one", (1.0,))], lambda value, *arguments: None, "")
    assert told.state == "wrong"
    assert "complex" in told.message


@functions
def test_an_answer_that_raises_is_told_what_it_raised(check):
    def answer(*arguments):
        raise KeyError("token")

    told = check(answer)
    assert told.state == "wrong"
    assert "your function raises KeyError: 'token'" in told.told


@functions
def test_the_value_instead_of_the_function_is_explained(check):
    for value in (3.0, "text", ...):
        told = check(value)
        assert told.state == "wrong"
        assert "give the function itself" in told.told


@functions
def test_a_strange_value_is_refused_without_raising(check):
    for value in (float("nan"), "text", [1, 2, 3], object()):
        assert check(lambda *arguments, value=value: value).state == "wrong", value


@numbers
def test_a_missing_number_is_not_yet_judged(check):
    assert check(...).state == check(None).state == "not yet"


@numbers
def test_what_is_no_number_is_said_to_be_none(check):
    for answer in ("many", [1, 2], object()):
        told = check(answer)
        assert told.state == "wrong", answer
        assert "expected a number" in told.told, answer


@numbers
def test_a_strange_number_is_refused_without_raising(check):
    for answer in (float("nan"), float("inf"), -float("inf"), -7.0, 1e300):
        assert check(answer).state == "wrong", answer
