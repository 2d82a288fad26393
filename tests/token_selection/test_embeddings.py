"""Cosine similarities of embeddings."""

import pytest
import torch

from checks import refused
from companion.theory.token_selection import embeddings


def matrix(V=7, d=5):
    return torch.randn(V, d, generator=torch.Generator().manual_seed(0))


def test_all_pairs_by_a_loop():
    E = matrix().double()
    padded = torch.cat([E, torch.zeros(1, 5, dtype=torch.float64)])
    expected = [float(E[v] @ E[w] / E[v].norm() / E[w].norm()) for v in range(7) for w in range(v + 1, 7)]
    assert embeddings.similarities(padded).tolist() == pytest.approx(expected)


def test_drawn_pairs_are_of_different_tokens():
    E = torch.eye(4, dtype=torch.float64)
    found = embeddings.similarities(E, 1000, torch.Generator().manual_seed(0))
    assert found.shape == (1000,)
    assert float(found.abs().max()) == 0


def test_histogram():
    edges, counts = embeddings.histogram(torch.tensor([-1.0, 0.01, 0.02, 1.0]).double(), 4)
    assert edges.tolist() == [-1, -0.5, 0, 0.5, 1]
    assert counts.tolist() == [1, 0, 2, 1]


def test_independent_directions_have_the_spread_of_their_dimension():
    E = torch.randn(300, 64, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert float(embeddings.similarities(E).std()) == pytest.approx(embeddings.random_spread(64), rel=0.02)


def test_too_little():
    refused("embeddings", "1", "at least 2", embeddings.similarities, torch.eye(3, dtype=torch.float64)[:1])
    with refused("generator", "None", "must be given"):
        embeddings.similarities(torch.eye(3, dtype=torch.float64), 5)
