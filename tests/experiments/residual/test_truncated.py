"""The documented run on a tiny model and sentences made here."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from checks import refused
from companion.experiments.residual import truncated

V, D, T = 9, 8, 5


@pytest.fixture
def files(tmp_path):
    """A checkpoint of two blocks; the label of a sentence is whether its last token is above 4."""
    generator = torch.Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, generator=generator) / shape[0] ** 0.5
    model = {
        "wte.weight": D * draw(V, D),
        "wpe.weight": draw(T, D),
        "ln_f.weight": torch.ones(D),
        "ln_f.bias": torch.zeros(D),
    }
    for l in range(2):
        for name, shape in (("attn.c_attn", (D, 3 * D)), ("attn.c_proj", (D, D)), ("mlp.c_fc", (D, 4 * D)), ("mlp.c_proj", (4 * D, D))):  # fmt: skip
            model |= {f"h.{l}.{name}.weight": draw(*shape), f"h.{l}.{name}.bias": torch.zeros(shape[1])}
        for name in ("ln_1", "ln_2"):
            model |= {f"h.{l}.{name}.weight": torch.ones(D), f"h.{l}.{name}.bias": torch.zeros(D)}
    save_file(model, tmp_path / "model.safetensors")
    ids = torch.randint(V, (80, T), generator=generator)
    mask = torch.ones_like(ids)
    mask[::2, 3:] = 0
    last = ids[torch.arange(80), mask.sum(1) - 1]
    np.savez(tmp_path / "data.npz", inputs=ids.numpy(), mask=mask.numpy(), labels=(last > 4).long().numpy())
    return tmp_path / "model.safetensors", tmp_path / "data.npz"


def test_the_command_prints_a_row_a_depth_and_coefficient(files, capsys):
    truncated.main(
        [*map(str, files), "--layers", "1", "2", "--coefficients", "0", "1", "--steps", "300", "--heads", "2"]
    )
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["layers"], row["g"]) for row in rows] == [(1, 0.0), (1, 1.0), (2, 0.0), (2, 1.0)]
    for row in rows:
        assert row["step"] == [0, 10, 100, 300]
        assert row["loss"][0] == pytest.approx(np.log(2), rel=1e-5)
        assert row["loss"] == sorted(row["loss"], reverse=True)
        assert row["condition"] >= 1
    # The label is in the last token, which the residual passes on.
    assert rows[1]["loss"][-1] < rows[0]["loss"][-1]
    assert rows[1]["error"][-1] < 0.15


def test_the_condition_is_of_the_features_with_ones(files):
    ids, mask, labels = truncated.sentences(files[1], most=20)
    assert ids.shape == (20, T)
    (row,) = truncated.rows(files[0], ids, mask, labels, [1], [0.5], 1, heads=2)
    F = truncated.pretrained.features(truncated.pretrained.load(files[0], 1, 2), ids, mask, 0.5).double()
    gram = torch.cat([F, torch.ones(20, 1, dtype=torch.float64)], 1)
    values = torch.linalg.eigvalsh(gram.T @ gram)
    assert float(values[0]) < 1e-10 * float(values[1])
    assert row["condition"] == pytest.approx(float((values[-1] / values[1]).sqrt()), rel=1e-6)
    assert row["step"] == [0, 1]


def test_files_that_do_not_fit_are_refused(tmp_path):
    np.savez(tmp_path / "lacking.npz", inputs=np.zeros((2, 3), int), labels=np.zeros(2, int))
    with refused("path", "['inputs', 'labels']", "inputs, labels and mask"):
        truncated.sentences(tmp_path / "lacking.npz")
    np.savez(
        tmp_path / "other.npz",
        inputs=np.zeros((2, 3), int),
        mask=np.ones((2, 2), int),
        labels=np.zeros(2, int),
    )
    refused("path", "(2, 2)", "a mask of that shape", truncated.sentences, tmp_path / "other.npz")
