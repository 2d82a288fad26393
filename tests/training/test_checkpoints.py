"""Checkpoints: what tells runs apart, and what is refused."""

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


ONE = torch.ones(2, dtype=torch.float64)
PARTS = [
    *(None, 1, 1.0, True, "1", (1,), [1, 2], {"a": 1}, {"b": 1}, ((1,), 2), (1, (2,))),
    *(ONE, ONE.float(), ONE[:, None], 2 * ONE, {"a": ONE}, {"b": ONE}),
    *(Constant(0.5), Constant(0.25), Polyak(0.5), Balls((ONE,), [1.0]), Balls((ONE,), [2.0])),
    *(Named(1), Named(2), some_function, torch.tanh),
]


def test_different_parts_have_different_names():
    names = [checkpoints.fingerprint(part) for part in PARTS]
    assert len(set(names)) == len(PARTS)
    assert len({checkpoints.fingerprint(*parts) for parts in ((1, 2), (2, 1), (12,), ((1, 2),))}) == 4


def test_equal_parts_have_equal_names():
    twice = [checkpoints.fingerprint(Balls((ONE.clone(),), [1.0]), {"a": ONE.clone()}) for _ in range(2)]
    assert twice[0] == twice[1]


def test_what_cannot_be_told_apart_is_refused():
    with refused("checkpoint", "object", "identity"):
        checkpoints.fingerprint(object())


def test_a_state_comes_back_bit_for_bit_and_to_its_run_only(tmp_path):
    path = tmp_path / "deep" / "state.pt"
    state = {"now": (ONE / 3,), "seen": [{"a": ONE, "b": 0.1}, ()], "step": 3, "nothing": None}
    checkpoints.save(path, "plan", state)
    back = checkpoints.restore(path, "plan", ONE.device)
    assert back["now"][0].equal(state["now"][0])
    assert back["seen"][0]["b"] == 0.1
    assert (back["step"], back["nothing"]) == (3, None)
    with refused("checkpoint", "state.pt", "this run"):
        checkpoints.restore(path, "another plan", ONE.device)
    assert [file.name for file in path.parent.iterdir()] == ["state.pt"]


def test_a_save_that_is_interrupted_leaves_the_last_one(tmp_path, monkeypatch):
    path = tmp_path / "state.pt"
    checkpoints.save(path, "plan", {"step": 1})

    def half(state, file):
        file.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(KeyboardInterrupt):
        checkpoints.save(path, "plan", {"step": 2})
    monkeypatch.undo()
    assert checkpoints.restore(path, "plan", ONE.device) == {"step": 1}
