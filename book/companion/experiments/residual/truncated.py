"""Figure 3(b) as a documented run: a truncated pretrained GPT-2 with and without residuals, a linear head trained on sentences in a file.

The checkpoint and the sentences are not shipped, and nothing here is needed for anything else; the loop is tested on a tiny model.

    python -m companion.experiments.residual.truncated model.safetensors sentences.npz --layers 2 4 6 --coefficients 0 1

The second file holds arrays ``inputs`` (token ids, filled up on the right), ``labels``, and ``mask`` (1 for a token, 0 for what fills up).
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from companion.theory.residual import pretrained
from shallowformer.contracts import Count, contract

#: Steps at which a row is made.
AT = (0, 10, 100, 1000)


def sentences(
    path: Path | str, most: int | None = None
) -> tuple[Int[Tensor, "n T"], Int[Tensor, "n T"], Int[Tensor, " n"]]:
    """Token ids, mask and labels of a ``.npz`` file; of the first ``most`` sentences, or of all if not given."""
    with np.load(path, allow_pickle=False) as found:
        if not {"inputs", "labels", "mask"} <= set(found):
            raise ValueError(f"path must hold arrays inputs, labels and mask, got {sorted(found)}")
        ids, labels, mask = (
            torch.from_numpy(found[name]).long()[:most] for name in ("inputs", "labels", "mask")
        )
    if ids.ndim != 2 or mask.shape != ids.shape or labels.shape != ids.shape[:1]:
        raise ValueError(
            f"path must hold inputs [n, T], a mask of that shape and n labels, got {tuple(ids.shape)}, {tuple(mask.shape)} and "
            f"{tuple(labels.shape)}"
        )
    return ids, mask, labels


@contract
def rows(
    model: Path | str,
    ids: Int[Tensor, "n T"],
    mask: Int[Tensor, "n T"],
    labels: Int[Tensor, " n"],
    layers: Sequence[int],
    coefficients: Sequence[float],
    steps: Count,
    heads: int | None = None,
) -> Iterator[dict]:
    """A head for every depth and coefficient, each with the step 1/L of its own features.

    Yields:
        ``layers``, ``g``, ``condition`` of the features with a column of ones (but for the direction that the last layer norm leaves out), and at ``AT`` the step, ``loss`` and ``error``.

    Args:
        coefficients: g on both skip connections.
        heads: of attention; 64 entries each if not given.
    """
    classes = int(labels.max()) + 1
    for L in layers:
        kept = pretrained.load(model, L, heads)
        for g in coefficients:
            F = pretrained.features(kept, ids, mask, g)
            loss, wrong = pretrained.train_head(F, labels, max(2, classes), steps)
            at = [step for step in AT if step < steps] + [steps]
            ones = torch.cat([F, F.new_ones(len(F), 1)], 1).double()
            sizes = torch.linalg.svdvals(ones)[
                : F.shape[1]
            ]  # behind a layer norm one combination of these columns is 0
            yield {
                "layers": L, "g": g, "condition": float(sizes[0] / sizes[-1]), "step": at,
                "loss": loss[at].tolist(), "error": wrong[at].tolist(),
            }  # fmt: skip


def main(words: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description="Train a linear head on a truncated GPT-2, with and without residuals; one row of JSON a depth and coefficient."
    )
    parser.add_argument("model", type=Path, help="a .safetensors file with GPT-2's names")
    parser.add_argument("sentences", type=Path, help="an .npz file with inputs, labels and mask")
    parser.add_argument("--layers", type=int, nargs="+", default=[2, 4, 6])
    parser.add_argument("--coefficients", type=float, nargs="+", default=[0.0, 1.0])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--heads", type=int, help="64 entries each if not given, as in every GPT-2")
    parser.add_argument("--most", type=int, help="sentences to use, the first ones")
    given = parser.parse_args(words)
    data = sentences(given.sentences, given.most)
    for row in rows(given.model, *data, given.layers, given.coefficients, given.steps, given.heads):
        print(json.dumps(row), flush=True)  # a run takes long: what is done is on the screen


if __name__ == "__main__":
    main()
