"""Pictures of digits that people wrote: 1797 of 8 × 8 pixels, which scikit-learn ships, or those of a file, as MNIST is passed around."""

import gzip
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

from shallowformer.real.source import Source

DIGITS = Source(
    title="Optical recognition of handwritten digits, the test set (Alpaydin and Kaynak, UCI machine learning repository)",
    licence="package BSD 3-Clause; the data CC BY 4.0, as the repository states",
    file="sklearn/datasets/data/digits.csv.gz",
    sha256="09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22",
    package="scikit-learn==1.9.1",
)


def images(
    source: Path | str | Shaped[np.ndarray, "N rows columns"] | None = None,
    labels: Shaped[np.ndarray, " N"] | None = None,
) -> tuple[Float[Tensor, "N pixels"], Int[Tensor, " N"]]:
    """Pictures of digits as rows of pixels in [0, 1], and which digits they are.

    Args:
        source: a ``.npz`` file with arrays x and y, or x_train and y_train (as MNIST is passed around); pictures, with ``labels``;
            ``DIGITS`` if not given.
    """
    if source is None:
        rows = np.loadtxt(gzip.decompress(DIGITS.read()).decode().splitlines(), delimiter=",")
        source, labels = rows[:, :-1], rows[:, -1]
    if isinstance(source, (str, Path)):
        with np.load(source, allow_pickle=False) as found:
            names = next(
                (pair for pair in (("x", "y"), ("x_train", "y_train")) if set(pair) <= set(found)), None
            )
            if names is None:
                raise ValueError(
                    f"source must hold arrays x and y, or x_train and y_train, got {sorted(found)}"
                )
            source, labels = (found[name] for name in names)
    pictures = torch.from_numpy(np.asarray(source, dtype=np.float64)).flatten(1)
    if labels is None or len(labels) != len(pictures):
        raise ValueError(
            f"labels must be one a picture ({len(pictures)}), got {None if labels is None else len(labels)}"
        )
    return pictures / pictures.max(), torch.from_numpy(np.asarray(labels)).long()
