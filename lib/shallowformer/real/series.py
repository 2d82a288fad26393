"""Series of measurements at equally spaced times: blocks, standardised values, windows without a gap. What is missing stays missing."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from shallowformer.contracts import Count, Level, contract
from shallowformer.real.source import Source


@dataclass(frozen=True)
class Series:
    """Measurements at equally spaced times; a row of NaN is a time at which something is missing."""

    values: Float[Tensor, "k d"]  # one time a row, one variable a column; in their units, or standardised
    names: tuple[str, ...]  # of the variables
    units: tuple[str, ...]  # "" where a number has none
    first: str  # time of the first row, as 2009-01-01T01:00
    minutes: int  # from one row to the next
    source: Source
    absent: int = 0  # times without a line, in the whole file, of which this may be a part
    bad: int = 0  # there, too: times whose line lacks a value, has an impossible one, or contradicts another

    @property
    def present(self) -> Int[Tensor, " m"]:
        """Rows at which nothing is missing."""
        return torch.isfinite(self.values).all(1).nonzero()[:, 0]


def on_grid(
    rows: dict[int, list[float]],
    spoilt: set[int],
    minutes: int,
    names: tuple[str, ...],
    units: tuple[str, ...],
    source: Source,
) -> Series:
    """The series of rows by minute since 1970; no value is made up: a time that is absent, spoilt, or lacks a value becomes a row of NaN."""
    first = min(rows)
    values = np.full(((max(rows) - first) // minutes + 1, len(names)), np.nan)
    for time, row in rows.items():
        if time not in spoilt and np.isfinite(row).all():
            values[(time - first) // minutes] = row
    return Series(
        torch.from_numpy(values),
        names,
        units,
        str(np.datetime64(first, "m")),
        minutes,
        source,
        absent=len(values) - len(rows),
        bad=len(rows) - int(np.isfinite(values[:, 0]).sum()),
    )


@contract
def blocks(series: Series, share: Level = 0.8) -> tuple[Series, Series]:
    """The earlier part of a series, that share of its times, to train on, and the later one, to test on: no window straddles the border."""
    border = int(share * len(series.values))
    if border == 0:
        raise ValueError(
            f"share must leave at least one of {len(series.values)} times for training, got {share}"
        )
    late = np.datetime64(series.first, "m") + border * series.minutes
    return (
        dataclasses.replace(series, values=series.values[:border]),
        dataclasses.replace(series, values=series.values[border:], first=str(late)),
    )


def standardised(series: Series, by: Series) -> Series:
    """Every variable less its mean, over its standard deviation, both of another series, ``by``: the one to train on."""
    if by.names != series.names:
        raise ValueError(f"by must have the variables {series.names}, got {by.names}")
    values = scaled(series.values, by.values[by.present], by.names)
    return dataclasses.replace(series, values=values, units=("",) * len(series.names))


def scaled(
    values: Float[Tensor, "k d"], by: Float[Tensor, "n d"], names: Iterable[object]
) -> Float[Tensor, "k d"]:
    """Every column less its mean, over its standard deviation, both of the rows ``by``; columns have names, to be told in a refusal."""
    spread = by.std(0, correction=0) if len(by) else torch.zeros(by.shape[1])
    if constant := [name for name, size in zip(names, spread.tolist(), strict=True) if not size > 0]:
        raise ValueError(
            f"by must hold at least two different values in every column, got fewer in {constant}"
        )
    return (values - by.mean(0)) / spread


@contract
def starts(series: Series, N: Count) -> Int[Tensor, " w"]:
    """Rows at which 2N rows, for a window of N tokens, begin with nothing missing, no two of these stretches overlapping."""
    whole = torch.isfinite(series.values).all(1)
    found, row = [], 0
    while row + 2 * N <= len(whole):
        missing = (~whole[row : row + 2 * N]).nonzero()
        if len(missing):
            row += int(missing[-1]) + 1
        else:
            found.append(row)
            row += 2 * N
    return torch.tensor(found, dtype=torch.long)


@contract
def windows(
    series: Series, target: str, P: Count, N: int, generator: Generator | None = None
) -> tuple[Float[Tensor, "{P} {N} d"], Float[Tensor, "{P} {N} 1"]]:
    """Windows of N ≥ 1 consecutive times of a standardised series, and one variable at the N times after them as targets.

    Returns: X and Y; token i of a window is to say the target N times later.

    Args:
        target: the name of a variable.
        P: how many windows; none shares a time with another, targets included.
        generator: draws which of them; the first ones if not given.
    """
    if target not in series.names:
        raise ValueError(f"target must be one of {series.names}, got {target!r}")
    begins = starts(series, N)
    if len(begins) < P:
        raise ValueError(f"P must be at most {len(begins)}, the windows without a gap, got {P}")
    order = (
        torch.arange(len(begins)) if generator is None else torch.randperm(len(begins), generator=generator)
    )
    rows = begins[order[:P]][:, None] + torch.arange(N)
    return series.values[rows], series.values[rows + N][..., [series.names.index(target)]]
