"""Cosine similarities of embeddings, from files of each kind made here."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from checks import refused
from companion.theory.token_selection import embeddings


def matrix(V=7, d=5):
    return torch.randn(V, d, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("kind", ["safetensors", "npz", "pt"])
def test_files_of_each_kind(kind, tmp_path):
    path, weights = (
        tmp_path / f"model.{kind}",
        {"bert.embeddings.word_embeddings.weight": matrix(), "pooler": matrix(3)},
    )
    if kind == "safetensors":
        save_file(weights, path)
    elif kind == "npz":
        np.savez(path, **{key: value.numpy() for key, value in weights.items()})
    else:
        torch.save(weights, path)
    found = embeddings.load(path)
    assert found.dtype == torch.float64
    assert torch.equal(found, matrix().double())
    assert torch.equal(embeddings.load(str(path), "pooler"), matrix(3).double())
    refused("name", "'other'", "one of", embeddings.load, path, "other")


def test_a_name_must_be_clear(tmp_path):
    torch.save({"a": matrix(), "b": matrix()}, tmp_path / "model.pt")
    refused("name", "0 look like it", "must say which", embeddings.load, tmp_path / "model.pt")
    torch.save([1], tmp_path / "list.pt")
    refused("path", "list", "mapping", embeddings.load, tmp_path / "list.pt")


class Touch:
    """Runs a command where pickles are trusted."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_a_file_is_data_and_not_code(tmp_path):
    torch.save({"wte": Touch(tmp_path / "touched")}, tmp_path / "model.pt")
    with pytest.raises(Exception, match=r"[Ww]eights"):
        embeddings.load(tmp_path / "model.pt")
    assert not (tmp_path / "touched").exists()


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
