"""Cosines of a row against loops."""

import pytest
import torch

from companion.experiments.token_selection import sentence_geometry
from companion.theory.token_selection import real_sentences
from shallowformer.real import transformer

SMALL = sentence_geometry.Config(0, 4, 12, 50)


def test_cosines_within_sentences():
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
