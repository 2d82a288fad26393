"""Checkpoints: what tells runs apart, and what is refused."""

import sys
from dataclasses import dataclass

import pytest
import torch

from checks import refused
from shallowformer.training import checkpoints
from shallowformer.training.balls import Balls
from shallowformer.training.step_sizes import Constant, Polyak


class Named:
    def __init__(self, *identity):
        self.identity = identity


def some_function(x):
    return x


def scaled(factor, shift=0.0):
    """Functions made in place: a closure, a default, a global, a function inside."""
    return lambda x, shift=shift: [factor * y + shift for y in SIZES if some_function(y)]


def rule(factor):
    """An instance of a class made in place."""

    @dataclass(frozen=True)
    class Rule:
        eta: float = 1.0

        def __call__(self):
            return self.eta * factor

    return Rule()


def clamp(low):
    def clamp(x):
        return clamp(x) if x < low else x

    return clamp


PLAN = {"objective": "f", "seed": "0"}
SIZES = (1.0, 2.0)
ONE = torch.ones(2, dtype=torch.float64)
PARTS = [
    *(None, 1, 1.0, True, "1", (1,), [1, 2], {"a": 1}, {"b": 1}, ((1,), 2), (1, (2,))),
    *(ONE, ONE.float(), ONE[:, None], 2 * ONE, {"a": ONE}, {"b": ONE}),
    *(Constant(0.5), Constant(0.25), Polyak(0.5), Balls((ONE,), [1.0]), Balls((ONE,), [2.0])),
    *(Named(1), Named(2), some_function, torch.tanh, torch, Constant(0.5).__call__, Polyak(0.5).__call__),
    *(scaled(1.0), scaled(2.0), scaled(1.0, 3.0), lambda x: x, lambda x: 2 * x, lambda x: x in {"a", "b"}),
    *(clamp(1.0), clamp(2.0), rule(1.0), rule(2.0), type(rule(1.0)), ONE.mul, (2 * ONE).mul),
]


def test_different_parts_have_different_names():
    names = [checkpoints.fingerprint(part) for part in PARTS]
    assert len(set(names)) == len(PARTS)
    assert len({checkpoints.fingerprint(*parts) for parts in ((1, 2), (2, 1), (12,), ((1, 2),))}) == 4


def test_equal_parts_have_equal_names():
    parts = lambda: (Balls((ONE.clone(),), [1.0]), {"a": ONE.clone()}, scaled(2.0), clamp(1.0), rule(2.0))
    assert checkpoints.fingerprint(*parts()) == checkpoints.fingerprint(*parts())


def test_a_global_that_a_function_reads_is_part_of_it(monkeypatch):
    before = checkpoints.fingerprint(scaled(2.0))
    monkeypatch.setattr(sys.modules[__name__], "SIZES", (1.0, 3.0))
    assert checkpoints.fingerprint(scaled(2.0)) != before


def test_what_cannot_be_told_apart_is_refused():
    unknown = object()
    for part in (unknown, lambda x: unknown):
        with refused("checkpoint", "object", "identity"):
            checkpoints.fingerprint(part)


def test_a_state_comes_back_bit_for_bit_and_to_its_run_only(tmp_path):
    path = tmp_path / "deep" / "state.pt"
    state = {"now": (ONE / 3,), "seen": [{"a": ONE, "b": 0.1}, ()], "step": 3, "nothing": None}
    checkpoints.save(path, PLAN, state)
    back = checkpoints.restore(path, PLAN, ONE.device)
    assert back["now"][0].equal(state["now"][0])
    assert back["seen"][0]["b"] == 0.1
    assert (back["step"], back["nothing"]) == (3, None)
    with refused("checkpoint", "state.pt", "other seed;"):
        checkpoints.restore(path, PLAN | {"seed": "1"}, ONE.device)
    assert [file.name for file in path.parent.iterdir()] == ["state.pt"]


def test_a_save_that_is_interrupted_leaves_the_last_one(tmp_path, monkeypatch):
    path = tmp_path / "state.pt"
    checkpoints.save(path, PLAN, {"step": 1})

    def half(state, file):
        file.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(KeyboardInterrupt):
        checkpoints.save(path, PLAN, {"step": 2})
    monkeypatch.undo()
    assert checkpoints.restore(path, PLAN, ONE.device) == {"step": 1}
