"""Vectors drawn anew: which are shared, and how large their mean is."""

import pytest
import torch

from companion.experiments.token_selection import sentence_controls, sentence_selection


def drawn(kind):
    return sentence_controls.posed(sentence_controls.Config(kind, 2, n=6))


def test_what_is_shared():
    shared, apart = drawn("shared"), drawn("apart")
    assert torch.equal(shared.ids, apart.ids)
    same_id = shared.ids[:, None] == shared.ids
    same = (shared.instance.X[:, None] == shared.instance.X).all(-1)
    assert torch.equal(same, same_id)
    assert bool(same[:, :, 0].all())
    assert len(apart.instance.X.flatten(0, 1).unique(dim=0)) == apart.ids.numel()


@pytest.mark.parametrize("kind", sentence_controls.KINDS)
def test_scores_are_of_size_one_and_the_mean_asks(kind):
    data = drawn(kind).instance
    assert float(data.scores.abs().mean()) == pytest.approx(1.0)
    assert torch.equal(data.queries, data.X.mean(1))
    real = sentence_selection.posed(sentence_selection.Config(0, False, "mean", 2, n=6)).instance
    assert torch.equal(data.y, real.y)


def test_the_mean_is_as_large_as_that_of_tokens():
    real = sentence_selection.posed(sentence_selection.Config(0, False, "mean", 2)).instance.X
    share = lambda X: float(X.flatten(0, 1).mean(0).square().sum() / X.square().sum(-1).mean())
    made = sentence_controls.posed(sentence_controls.Config("mean", 2)).instance.X
    assert share(made) == pytest.approx(share(real), abs=0.02)
    assert share(real) > 0.03
