"""Sentences as they are posed, and a row against descent on the model itself."""

import pytest
import torch

from companion.experiments.token_selection import sentence_selection
from companion.experiments.token_selection.sentence_selection import Config
from companion.theory.token_selection import real_sentences
from shallowformer.token_selection import gradients

CPU = torch.device("cpu")
SMALL = Config(0, False, "mean", 1, n=3, steps=30)


def test_sentences_are_of_the_file_and_not_those_of_the_decoder():
    rows, labels = real_sentences.encoded()
    given = sentence_selection.posed(SMALL)
    for ids, y in zip(given.ids.tolist(), given.instance.y.tolist(), strict=True):
        assert labels[rows.index(ids)] == y
    assert len(given.others.X) + 3 == sum(len(row) == real_sentences.T for row in rows)
    assert real_sentences.words(given.ids[:, [0, -1]]) == ["[CLS]", "[SEP]"] * 3
    assert real_sentences.no_word("[SEP]")
    assert real_sentences.no_word("'")
    assert not real_sentences.no_word("##s")
    assert real_sentences.head(0, False).mean.abs().max() == 0
    assert torch.equal(given.instance.queries, given.instance.X.mean(1))


def test_centring_takes_one_vector_off():
    raw, centred = (
        sentence_selection.posed(Config(0, way, "first", 1, n=3)).instance for way in (False, True)
    )
    off = (raw.X - centred.X).flatten(0, 1)
    assert float((off - off[0]).abs().max()) < 1e-12
    assert float(off[0].norm()) > 1
    assert torch.equal(raw.queries, raw.X[:, 0])


@pytest.mark.parametrize("rule", ["NGD", "GD", "momentum"])
def test_a_row_is_descent_on_the_model(rule):
    found = sentence_selection.compute(SMALL, CPU)[rule]
    data = sentence_selection.posed(SMALL).instance
    known = sentence_selection.rates(data)
    W = velocity = torch.zeros(data.d, data.d, dtype=torch.float64)
    for _ in range(30):
        _, slope, _ = gradients.loss_and_gradients(data.X, data.y, W, data.u, data.queries)
        step = known["GD"].eta if rule == "GD" else known["NGD"].eta / slope.norm()
        velocity = (0.9 if rule == "momentum" else 0.0) * velocity - step * slope
        W = W + velocity
    phi = torch.softmax(gradients.logits(data.X, W, data.queries), -1)
    assert torch.tensor(found["weights"]).allclose(phi.float(), atol=1e-4)
    assert found["least"][-1] == pytest.approx(float(phi[torch.arange(3), data.optimal].min()), rel=1e-6)
    assert found["kept"][-1] == int((phi[torch.arange(3), data.optimal] > 0.5).sum())


def test_numbers_of_a_row_by_loops():
    data = sentence_selection.posed(SMALL).instance
    E = [
        (i, torch.outer(data.X[i, data.optimal[i]] - data.X[i, t], data.queries[i]))
        for i in range(3)
        for t in range(data.T)
        if t != data.optimal[i]
    ]
    signs = [float((A * B).sum()) < 0 for i, A in E for j, B in E if i != j]
    assert sentence_selection.pulling(data) == pytest.approx(sum(signs) / len(signs))
    sides = []
    for X in data.X:
        inner = [abs(float(X[s] @ X[t])) for s in range(data.T) for t in range(data.T) if s != t]
        sides.append(4 * data.T * max(inner) / min(float(x @ x) for x in X))
    assert sentence_selection.alone(data) == pytest.approx(min(sides))


def test_a_contradiction_is_a_row_too():
    """Where [CLS] asks at the embeddings two sentences can want the two orders of one pair of tokens."""
    found = sentence_selection.compute(Config(0, False, "first", 0, steps=10), CPU)
    assert found["margin"] == 0
    assert found["NGD"]["apart"] == [1.0]
    assert found["NGD"]["elsewhere"] == "none"
