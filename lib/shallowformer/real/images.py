"""Pictures of digits that people wrote: 1797 of 8 × 8 pixels, which scikit-learn ships, or those of a file, as MNIST is passed around."""

import gzip
import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer.real.source import Source, given

DIGITS = Source(
    title="Optical recognition of handwritten digits, the test set (Alpaydin and Kaynak, UCI Machine Learning Repository)",
    licence="package BSD 3-Clause; the data CC BY 4.0, as UCI states",
    file="sklearn/datasets/data/digits.csv.gz",
    sha256="09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22",
    package="scikit-learn==1.9.1",
)
#: Names of pictures and labels in a file.
NAMES = (("x", "y"), ("x_train", "y_train"))


@dataclass(frozen=True)
class Pictures:
    """Pictures with labels."""

    values: Float[Tensor, "N pixels"]  # one picture a row, in [0, 1]
    labels: Int[Tensor, " N"]  # which digit it shows
    source: Source


def digits() -> Pictures:
    """Those of scikit-learn."""
    rows = np.loadtxt(gzip.decompress(DIGITS.read()).decode().splitlines(), delimiter=",")
    return _pictures(rows[:, :-1], rows[:, -1], DIGITS)


def read(path: Path | str) -> Pictures:
    """Those of a ``.npz`` file with arrays x and y, or x_train and y_train, as MNIST is passed around; nothing in the file is executed."""
    content = Path(path).read_bytes()
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise ValueError(f"path must be a .npz file, got {path}")
    with np.load(io.BytesIO(content), allow_pickle=False) as found:
        pair = next((pair for pair in NAMES if set(pair) <= set(found)), None)
        if pair is None:
            raise ValueError(f"path must hold arrays x and y, or x_train and y_train, got {sorted(found)}")
        x, y = (np.asarray(found[name]) for name in pair)
    return _pictures(x, y, given(path, content))


def _pictures(x: np.ndarray, y: np.ndarray, source: Source) -> Pictures:
    """What was read, pixels over the largest of all."""
    if x.dtype.kind not in "buif" or x.ndim < 2 or not x.size:
        raise ValueError(
            f"path must hold pictures, at least one, of numbers, a row each, got {x.dtype} of shape {x.shape}"
        )
    pixels = x.reshape(len(x), -1).astype(np.float64)
    if not (np.isfinite(pixels).all() and pixels.min() >= 0 and pixels.max() > 0):
        raise ValueError(
            f"path must hold pixels that are finite, at least 0 and not all 0, got {pixels.min()} to {pixels.max()}"
        )
    if y.dtype.kind not in "buif" or y.shape != x.shape[:1] or not (y == np.floor(y)).all():
        raise ValueError(
            f"path must hold labels, one whole number a picture ({len(x)}), got {y.dtype} of shape {y.shape}"
        )
    return Pictures(torch.from_numpy(pixels / pixels.max()), torch.from_numpy(y.astype(np.int64)), source)
