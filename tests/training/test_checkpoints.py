"""Checkpoints: what tells runs apart, and what is refused."""

import functools
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


def scaled(factor):
    return lambda x: factor * x


@dataclass(frozen=True)
class Scaled:
    factor: float

    def __call__(self, x):
        return self.factor * x


PLAN = {"objective": "f", "seed": "0"}
ONE = torch.ones(2, dtype=torch.float64)
PARTS = [
    *(None, 1, 1.0, True, "1", (1,), [1, 2], {"a": 1}, {"b": 1}, ((1,), 2), (1, (2,))),
    *(ONE, ONE.float(), ONE[:, None], 2 * ONE, {"a": ONE}, {"b": ONE}),
    *(Constant(0.5), Constant(0.25), Polyak(0.5), Balls((ONE,), [1.0]), Balls((ONE,), [2.0])),
    *(Named(1), Named(2), some_function, torch.tanh, torch, Constant(0.5).__call__, Polyak(0.5).__call__),
    *(Scaled(1.0), Scaled(2.0), Scaled(1.0).__call__, Scaled, ONE.mul, (2 * ONE).mul),
]


def test_different_parts_have_different_names():
    names = [checkpoints.fingerprint(part) for part in PARTS]
    assert len(set(names)) == len(PARTS)
    assert len({checkpoints.fingerprint(*parts) for parts in ((1, 2), (2, 1), (12,), ((1, 2),))}) == 4


def test_equal_parts_have_equal_names():
    twice = [checkpoints.fingerprint(Balls((ONE.clone(),), [1.0]), {"a": ONE.clone()}) for _ in range(2)]
    assert twice[0] == twice[1]


def test_what_is_made_in_place_needs_an_identity():
    class Local:
        def __init__(self):
            self.made = "here"

    for part in (scaled(1.0), functools.lru_cache(scaled(1.0)), Local, Local().__init__):
        refused("checkpoint", part.__qualname__, "identity", checkpoints.fingerprint, part)
    one, two = scaled(1.0), scaled(2.0)
    one.identity, two.identity = "scaled by 1", "scaled by 2"
    assert checkpoints.fingerprint(one) != checkpoints.fingerprint(two)


def test_what_cannot_be_told_apart_is_refused():
    refused("checkpoint", "object", "identity", checkpoints.fingerprint, object())


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
    torch.save({"plan": "one fingerprint", "state": state}, path)  # as it was written once
    refused("checkpoint", "state.pt", "other objective, seed;", checkpoints.restore, path, PLAN, ONE.device)


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
