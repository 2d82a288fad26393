"""Cosines of a row against loops."""

import pytest
import torch

from companion.experiments.token_selection import sentence_geometry, sentence_selection
from companion.theory.token_selection import real_sentences
from shallowformer.real import transformer
from shallowformer.token_selection import svm

SMALL = sentence_geometry.Config(0, 4, 12, 50, n=3)


def test_cosines_within_sentences(monkeypatch):
    monkeypatch.setattr(sentence_geometry, "assumptions", lambda config, depth: {})  # which take longest
    rows, of, _ = sentence_geometry.tokens(SMALL)
    assert [len(row) - 2 for row in rows] == torch.bincount(of).tolist()
    assert max(map(len, rows)) <= 12
    found = sentence_geometry.compute(SMALL, torch.device("cpu"))
    E = real_sentences.encoder().tokens.double()
    ids, mask = transformer.padded(rows)
    last = transformer.stream(real_sentences.encoder(), ids, mask)[6].double()
    for place, vectors in (
        ("table", [[E[number] for number in row[1:-1]] for row in rows]),
        ("6", [list(each[1 : len(row) - 1]) for each, row in zip(last, rows, strict=True)]),
    ):
        cosines = [
            float(a @ b / a.norm() / b.norm())
            for each in vectors
            for k, a in enumerate(each)
            for b in each[:k]
        ]
        told = found[f"{place} raw"]["within"]
        assert told["mean"] == pytest.approx(sum(cosines) / len(cosines))
        assert told["size"] == pytest.approx(sum(map(abs, cosines)) / len(cosines))
        assert told["above"] == pytest.approx(sum(abs(c) > 1 / 36 for c in cosines) / len(cosines))
    assert sum(found["table raw"]["histogram"]) == len(cosines)


def test_what_theorems_ask_for():
    data = sentence_selection.posed(sentence_selection.Config(1, False, "mean", 0, n=3)).instance
    found = sentence_geometry.assumptions(SMALL, 1)
    tokens = [(i, t) for i in range(3) for t in range(data.T)]
    best = set(enumerate(data.optimal.tolist()))
    nu = max(
        abs(float(data.X[a] @ data.X[b]))
        for a in tokens
        for b in tokens
        if a != b and not (a in best and b in best)
    )
    assert found["orthogonal"] == pytest.approx(3 * nu / min(float(data.X[a] @ data.X[a]) for a in best))
    shortest = min(float(row.mean(0).square().sum()) for row in data.X)
    assert found["dependence"] == pytest.approx(3 * data.T * nu / shortest)
    assert found["solvable"] == 1
    assert svm.w_svm(data).gaps.min() > 0.99
