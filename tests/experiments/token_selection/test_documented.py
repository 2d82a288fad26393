"""The loop of the documented runs, on a tiny classifier and data made here."""

import json
import math
import sys
import types

import numpy as np
import pytest
import torch
from torch import nn

from checks import unchecked
from companion.experiments.token_selection import documented
from companion.experiments.token_selection.documented import Examples, Rule


class Tiny(nn.Module):
    """Embeddings, a mean over what is no padding, a linear head."""

    def __init__(self):
        super().__init__()
        self.word_embeddings, self.head = nn.Embedding(8, 4), nn.Linear(4, 2)

    def forward(self, ids, attention_mask=None):
        weight = torch.ones_like(ids) if attention_mask is None else attention_mask
        mean = (self.word_embeddings(ids) * weight[..., None]).sum(1) / weight.sum(1, keepdim=True)
        return types.SimpleNamespace(logits=self.head(mean))


def text(N=64, seed=0):
    """Sentences whose label is whether they hold the token 7."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(7, (N, 5), generator=generator)
    labels = torch.arange(N) % 2
    ids[labels == 1, 2] = 7
    mask = torch.ones_like(ids)
    mask[:, 4] = 0
    return Examples(ids, labels, mask)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Tiny()


@pytest.mark.parametrize(
    "rule",
    [Rule("sgd", 0.5), Rule("sngd", 0.2), Rule("sps", most=5.0), Rule("adam", 0.02)],
    ids=lambda rule: rule.kind,
)
def test_every_rule_learns(model, rule):
    rows = list(documented.train(model, text(), text(seed=1), rule, epochs=30, size=8))
    assert len(rows) == 31
    assert rows[-1]["train"] < 0.5 * rows[0]["train"]
    assert rows[-1]["accuracy"] > 0.9


@pytest.mark.parametrize("rule", [Rule("sgd", 0.3), Rule("sngd", 0.3), Rule("sps"), Rule("sps", most=0.01)])
def test_a_step_is_the_formula(model, rule):
    data = text(8)
    before = [part.detach().clone() for part in model.parameters()]
    loss = nn.functional.cross_entropy(documented.logits(model, data), data.labels)
    grads = torch.autograd.grad(loss, list(model.parameters()))
    norm = math.sqrt(sum(float(g.square().sum()) for g in grads))
    eta = {"sgd": 0.3, "sngd": 0.3 / norm, "sps": min(float(loss.detach()) / (2 * norm**2), rule.most)}[
        rule.kind
    ]
    list(documented.train(model, data, data, rule, epochs=1, size=8))
    for now, then, grad in zip(model.parameters(), before, grads, strict=True):
        torch.testing.assert_close(now.detach(), then - eta * grad, rtol=1e-4, atol=1e-6)


def test_a_row_is_there_before_the_next_epoch_begins(model):
    before = [part.detach().clone() for part in model.parameters()]
    rows = documented.train(model, text(), text(), Rule("sgd", 0.5), epochs=2, size=8)
    assert next(rows)["epoch"] == 0
    assert all(torch.equal(now, then) for now, then in zip(model.parameters(), before, strict=True))
    assert next(rows)["epoch"] == 1
    assert any(not torch.equal(now, then) for now, then in zip(model.parameters(), before, strict=True))


def test_padding_is_not_looked_at(model):
    data = text(6)
    other = data.inputs.clone()
    other[:, 4] = 3
    changed = Examples(other, data.labels, data.mask)
    torch.testing.assert_close(documented.logits(model, data), documented.logits(model, changed))


def test_a_run_is_the_same_again():
    runs = []
    for _ in range(2):
        torch.manual_seed(1)
        runs.append(
            list(documented.train(Tiny(), text(), text(), Rule("sngd", 0.1), epochs=2, size=10, seed=3))
        )
    assert runs[0] == runs[1]


def test_pictures_become_numbers_and_ids_stay_ids(tmp_path):
    np.savez(tmp_path / "pictures.npz", inputs=np.full((3, 2, 2), 255, np.uint8), labels=np.arange(3))
    np.savez(
        tmp_path / "text.npz", inputs=np.ones((3, 4), np.int32), labels=np.arange(3), mask=np.ones((3, 4))
    )
    pictures, words = (documented.load(tmp_path / f"{name}.npz") for name in ("pictures", "text"))
    assert float(pictures.inputs.max()) == 1.0
    assert pictures.mask is None
    assert words.inputs.dtype == words.mask.dtype == torch.long


def test_the_command_prints_a_row_an_epoch(tmp_path, capsys, monkeypatch):
    data = text(16)
    for name in ("train", "test"):
        np.savez(
            tmp_path / f"{name}.npz",
            inputs=data.inputs.numpy(),
            labels=data.labels.numpy(),
            mask=data.mask.numpy(),
        )
    monkeypatch.setitem(sys.modules, "mine", types.SimpleNamespace(model=Tiny))
    documented.main(
        [
            "mine:model",
            str(tmp_path / "train.npz"),
            str(tmp_path / "test.npz"),
            "--rule",
            "sps",
            "--most",
            "1",
            "--epochs",
            "2",
            "--device",
            "cpu",
        ]
    )
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["epoch"] for row in rows] == [0, 1, 2]


def test_what_cannot_be_trained_is_refused(tmp_path):
    np.savez(tmp_path / "wrong.npz", x=np.ones(3))
    with pytest.raises(ValueError, match="inputs and labels"):
        documented.load(tmp_path / "wrong.npz")
    with pytest.raises(ValueError, match="labels must be"), unchecked():
        Examples(torch.ones(3, 2), torch.ones(3))
    with pytest.raises(ValueError, match="mask must have"), unchecked():
        Examples(torch.ones(3, 2), torch.ones(3).long(), torch.ones(3))
    with pytest.raises(ValueError, match="kind must be"):
        Rule("lbfgs")
    with pytest.raises(ValueError, match="most must be"):
        Rule("sps", most=0.0)
