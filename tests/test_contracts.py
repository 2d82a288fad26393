"""A signature that promises keeps its promise: types of ``contracts`` refuse, and whoever uses one is held to it."""

import ast
from pathlib import Path

import pytest
import sympy

import shallowformer
from shallowformer import contracts
from shallowformer.contracts import (
    Count,
    Even,
    Level,
    NonNegative,
    NonNegatives,
    Positive,
    Triple,
    Whole,
    contract,
)

TYPES = {name for name, value in vars(contracts).items() if hasattr(value, "__metadata__")}


@contract
def _all(
    n: Count = 1, k: Whole = 0, m: Even = 2, delta: Level = 0.5, eta: Positive = 1.0, slack: NonNegative = 0.0,
    R: NonNegatives = 0.0, rho: Triple = (1, 1, 1), steps: Count | None = None,
):  # fmt: skip
    return n, k, m, delta, eta, slack, R, rho, steps


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("n", 0, "n must be a whole number of at least 1, got 0"),
        ("k", -1, "k must be a whole number of at least 0, got -1"),
        ("m", 3, "m must be even"),
        ("delta", 1.0, "delta must be"),
        ("eta", 0.0, "eta must be"),
        ("slack", -1e-9, "slack must be"),
        ("R", -1.0, "R must be"),
        ("rho", (1, 2), "rho must be"),
        ("rho", (1, -1, 2), "rho"),
        ("steps", 0, "steps must be"),
    ],
)
def test_a_call_that_breaks_a_promise_is_refused_by_the_arguments_name(name, value, words):
    with pytest.raises(ValueError, match=words):
        _all(**{name: value})


def test_what_is_allowed_passes_by_place_and_by_name_and_none_where_it_may():
    assert _all(2, 0, 4, steps=None)[:3] == (2, 0, 4)
    assert _all(sympy.Symbol("n"))[0] == sympy.Symbol("n")


def _decorated(node: ast.FunctionDef | ast.ClassDef) -> set[str]:
    return {ast.unparse(each) for each in node.decorator_list}


def test_whoever_uses_a_contract_is_held_to_it():
    loose = []
    for path in Path(shallowformer.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                given = [*node.args.args, *node.args.kwonlyargs]
                kinds = [each.annotation for each in given if each.annotation]
                held = "contract" in _decorated(node)
            elif isinstance(node, ast.ClassDef):
                kinds = [each.annotation for each in node.body if isinstance(each, ast.AnnAssign)]
                held = "contracted" in _decorated(node)
            else:
                continue
            named = {name.id for kind in kinds for name in ast.walk(kind) if isinstance(name, ast.Name)}
            if named & TYPES and not held and path.stem != "contracts":
                loose.append(f"{path.stem}.{node.name}")
    assert loose == []
