"""A signature that promises keeps its promise: whatever a type of ``contracts`` forbids is refused, wherever one stands."""

import importlib
import inspect
import pkgutil
import re
from collections import Counter
from typing import get_args

import sympy
import torch

import companion.experiments
import companion.theory
import shallowformer
from checks import unchecked
from shallowformer import contracts
from shallowformer.contracts import Count, Triple, allowed, contract
from shallowformer.kernel_regime.bounds import approximation

#: Values that break a contract, by its name, and what the refusal says of them.
BROKEN = {
    "Count": ((0, "a whole number of at least 1, got 0"), (1.0, "a whole number"), (True, "a whole number")),
    "Whole": ((-1, "a whole number of at least 0, got -1"),),
    "Even": ((3, "even"), (0, "at least 2")),
    "Level": ((1.0, r"in the open interval \(0, 1\), got 1.0"), (0, "got 0")),
    "Positive": ((0.0, "above 0, got 0.0"), (float("inf"), "finite")),
    "NonNegative": ((-1e-9, "a finite number of at least 0"), (float("nan"), "got nan")),
    "NonNegatives": ((-1.0, "at least 0, got -1.0"), (-torch.ones(2), "hold numbers of at least 0, got -1")),
    "Triple": tuple(
        (value, "three finite numbers")
        for value in ((1.0, 2.0), (1.0, -1.0, 2.0), (1.0, float("inf"), 2.0), 1.0, "abc")
    ),
}
#: How many arguments and fields have which contract.
MADE = {
    "Count": 178,
    "Whole": 9,
    "Even": 31,
    "Level": 34,
    "Positive": 141,
    "NonNegative": 87,
    "NonNegatives": 17,
    "Triple": 82,
}
NAMES = {allowed(getattr(contracts, name)): name for name in BROKEN}


def functions():
    """All functions, methods and dataclasses' ``__init__`` of the package and of the companion that are defined there, by name."""
    for package in (shallowformer, companion.theory, companion.experiments):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name.endswith("__main__"):
                continue
            module = importlib.import_module(found.name)
            here = [each for each in vars(module).values() if getattr(each, "__module__", None) == found.name]
            for each in here:
                inside = vars(each).values() if inspect.isclass(each) else [each]
                for held in inside:
                    function = getattr(held, "__func__", held)
                    if callable(function) and hasattr(function, "__qualname__"):
                        yield f"{found.name}.{function.__qualname__}", function


def promises():
    """Arguments and fields whose types are contracts: function's name, argument, contract's name, function, what breaks it, what is said then."""
    for name, function in functions():
        for argument, kind in inspect.get_annotations(inspect.unwrap(function)).items():
            if (told := allowed(kind)) and argument != "return":
                nothing = () if type(None) in get_args(kind) else ((None, "got None"),)
                for value, words in BROKEN[NAMES[told]] + nothing:
                    yield name, argument, NAMES[told], function, value, words


def says(function, argument, value) -> str:
    """What a call with this argument alone is answered; a contract is held before anything else is asked for."""
    try:
        function(**{argument: value})
    except (TypeError, ValueError) as answer:
        return str(answer)
    return "nothing"


def test_every_promise_of_the_package_and_the_companion_is_kept():
    kept, broken = set(), set()
    with unchecked():
        for name, argument, _, function, value, words in promises():
            answer = says(function, argument, value)
            held = re.match(rf"{argument} must .*{words}", answer)
            (kept if held else broken).add((name, argument, "" if held else answer))
    assert broken == set()
    # Whoever makes a promise less, or another, changes these counts.
    assert Counter(kind for *_, kind in {each[:3] for each in promises()}) == MADE


@contract
def _three(n: Count, steps: Count | None = None, rho: Triple = (1, 1, 1)):
    return n, steps, rho


def test_what_is_allowed_passes_by_place_and_by_name_and_none_where_it_may():
    assert _three(2, 3, (0, 1, 2)) == (2, 3, (0.0, 1.0, 2.0))
    assert _three(n=2, steps=None)[:2] == (2, None)
    assert _three(sympy.Symbol("n"))[0] == sympy.Symbol("n")


def test_help_says_what_an_argument_may_be():
    told = str(inspect.signature(approximation.sharp))
    for argument in (
        "n: Annotated[int, 1 or more]",
        "m: Annotated[int, even, 2 or more]",
        "delta: Annotated[float, in (0, 1)]",
    ):
        assert argument in told.replace("typing.", "")
