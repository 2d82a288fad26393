"""Tables of measurements: rows that have no order, or one, with a target; the three of scikit-learn's files and the hours of New York's weather."""

import csv
import gzip
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, contract
from shallowformer.real import weather
from shallowformer.real.series import scaled
from shallowformer.real.source import Source

#: Of a table whose rows are hours, this earlier share is to train on.
EARLY = 0.8

_SCIKIT_LEARN = "scikit-learn==1.9.1"
_FOLDER = "sklearn/datasets/data/"
_DIABETES = "442 diabetes patients and their state a year later (Efron, Hastie, Johnstone, Tibshirani 2004)"
_NOT_STATED = "package BSD 3-Clause; the data: scikit-learn names none"
_UCI = "package BSD 3-Clause; the data CC BY 4.0, as UCI states"
DIABETES = Source(
    title=_DIABETES,
    licence=_NOT_STATED,
    file=f"{_FOLDER}diabetes_data_raw.csv.gz",
    sha256="7fc0ded571454b1982210d3bb43f0aca44eae01a0b8654a3b24022bdb6b38009",
    package=_SCIKIT_LEARN,
)
DIABETES_TARGET = Source(
    title=_DIABETES,
    licence=_NOT_STATED,
    file=f"{_FOLDER}diabetes_target.csv.gz",
    sha256="8e53f65eb811df43c206f3534bb3af0e5fed213bc37ed6ba36310157d6023803",
    package=_SCIKIT_LEARN,
)
WINE = Source(
    title="Chemical analysis of 178 wines of three cultivars (Aeberhard, Forina; UCI Machine Learning Repository)",
    licence=_UCI,
    file=f"{_FOLDER}wine_data.csv",
    sha256="10e8a802908b34f86e5da8ce962f3c806694bc98450a18f61851af59f324bede",
    package=_SCIKIT_LEARN,
)
BREAST_CANCER = Source(
    title="Cell nuclei in 569 images of breast masses (Wolberg, Mangasarian, Street, Street; UCI Machine Learning Repository)",
    licence=_UCI,
    file=f"{_FOLDER}breast_cancer.csv",
    sha256="fed3eb72d0575ef6192293f5093c6e801b1476b577d0386bf4455504522172ed",
    package=_SCIKIT_LEARN,
)


@dataclass(frozen=True)
class Table:
    """Rows of measurements and what is to be told from them."""

    values: Float[Tensor, "k d"]  # one case a row, one variable a column, in their units
    target: Float[Tensor, "k m"]
    names: tuple[str, ...]  # of the variables
    units: tuple[str, ...]  # "" where a number has none, or none is stated
    targets: tuple[str, ...]  # names of what is to be told
    sources: tuple[Source, ...]  # of the files
    in_time: bool = False  # a row follows the one above: to be split by an earlier and a later part


def diabetes() -> Table:
    """442 patients: ten measurements, and how far the disease was a year later."""
    values = np.loadtxt(io.StringIO(_unzipped(DIABETES)))
    target = np.loadtxt(io.StringIO(_unzipped(DIABETES_TARGET)))
    names = ("age", "sex", "body mass index", "blood pressure", "total cholesterol", "low-density lipoproteins",
             "high-density lipoproteins", "cholesterol over high-density", "log of triglycerides, possibly", "blood sugar")  # fmt: skip
    units = ("year", "", "kg/m²", "mmHg", *[""] * 6)
    return Table(
        torch.from_numpy(values), torch.from_numpy(target)[:, None], names, units,
        ("progression",), (DIABETES, DIABETES_TARGET),
    )  # fmt: skip


def wine() -> Table:
    """178 wines: 13 measurements, and which of three cultivars, an indicator each."""
    values, kind = _with_classes(WINE)
    names = ("alcohol", "malic acid", "ash", "alcalinity of ash", "magnesium", "total phenols", "flavanoids",
             "nonflavanoid phenols", "proanthocyanins", "colour intensity", "hue", "OD280/OD315", "proline")  # fmt: skip
    classes = ("cultivar 0", "cultivar 1", "cultivar 2")
    return Table(values, (kind[:, None] == torch.arange(3)).double(), names, ("",) * 13, classes, (WINE,))


def breast_cancer() -> Table:
    """569 masses: mean, standard error and worst value of ten features of cell nuclei, and whether the mass is benign."""
    values, kind = _with_classes(BREAST_CANCER)
    features = ("radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity",
                "concave points", "symmetry", "fractal dimension")  # fmt: skip
    names = tuple(f"{which} {feature}" for which in ("mean", "error of", "worst") for feature in features)
    return Table(values, kind[:, None].double(), names, ("",) * 30, ("benign",), (BREAST_CANCER,))


@contract
def weather_hours(stations: Sequence[str] = ("JFK",), ahead: Count = 8) -> Table:
    """Hours of New York's weather, one every ``ahead``, and the first station's temperature so many hours later.

    A row whose hour, or whose later hour, lacks a value is left out. That is not at random: pressure is missing mostly when it rains, so rain
    has a heavier tail here than outdoors. No hour is in two rows as measurements (its temperature is the target of the row before), but
    neighbouring rows are strongly dependent.
    """
    series = weather.new_york(stations)
    now, later = series.values[:-ahead:ahead], series.values[ahead::ahead]
    whole = torch.isfinite(now).all(1) & torch.isfinite(later).all(1)
    if (left := int(whole.sum())) < 2:
        raise ValueError(f"ahead must leave at least two rows, got {ahead}, which leaves {left}")
    return Table(
        now[whole], later[whole, :1], series.names, series.units,
        (f"{series.names[0]}, {ahead} hours later",), (series.source,), in_time=True,
    )  # fmt: skip


#: Name → what loads it.
TABLES: dict[str, Callable[[], Table]] = {
    "wine": wine,
    "diabetes": diabetes,
    "weather": weather_hours,
    "three stations": lambda: weather_hours(weather.STATIONS),
    "breast cancer": breast_cancer,
}


def load(name: str) -> Table:
    """A table by its name in ``TABLES``."""
    if name not in TABLES:
        raise ValueError(f"name must be one of {', '.join(TABLES)}, got {name!r}")
    return TABLES[name]()


def standardised(
    values: Float[Tensor, "k d"], by: Float[Tensor, "n d"] | None = None
) -> Float[Tensor, "k d"]:
    """Every column less its mean, over its standard deviation, both of other rows, ``by``, if given: those to train on."""
    by = values if by is None else by
    arguments.shape("by", by, (len(by), values.shape[1]), "[n, d] with the columns of values")
    return scaled(values, by, range(values.shape[1]))


@contract
def split(table: Table, n: Count, generator: Generator) -> tuple[Int[Tensor, " {n}"], Int[Tensor, " held"]]:
    """Numbers of n rows to train on, drawn without replacement, and of all rows that are held out.

    They are those that were not drawn; of hours, those of the later part, and the n are drawn from the earlier one.
    """
    k = len(table.values)
    border = int(EARLY * k) if table.in_time else k
    if n >= k or n > border:
        raise ValueError(f"n must be below {k}, and at most {border} to draw from, got {n}")
    order = torch.randperm(border, generator=generator)
    return order[:n], torch.arange(border, k) if table.in_time else order[n:]


def _unzipped(source: Source) -> str:
    return gzip.decompress(source.read()).decode("ascii")


def _with_classes(source: Source) -> tuple[Tensor, Tensor]:
    """Values, and the class in the last column; the first line counts rows and columns."""
    head, *lines = csv.reader(io.StringIO(source.read().decode("ascii")))
    rows = np.array(lines, dtype=float)
    if rows.shape != (int(head[0]), int(head[1]) + 1):
        raise ValueError(f"{source.file} must have as many rows and columns as it says, got {rows.shape}")
    return torch.from_numpy(rows[:, :-1]), torch.from_numpy(rows[:, -1]).long()
