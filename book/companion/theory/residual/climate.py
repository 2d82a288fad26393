"""The climate file of Jena: read, thinned to full hours, standardised, cut into windows. What is missing stays missing.

The file is the one that forecasting tutorials use, 14 variables every ten minutes from 2009 to 2016. It is not shipped: hand in a path.
"""

import csv
import dataclasses
import hashlib
import io
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from shallowformer.contracts import Count, Level, contract

#: Columns of the file, with their units, in its order.
VARIABLES = (
    "p (mbar)", "T (degC)", "Tpot (K)", "Tdew (degC)", "rh (%)", "VPmax (mbar)", "VPact (mbar)", "VPdef (mbar)",
    "sh (g/kg)", "H2OC (mmol/mol)", "rho (g/m**3)", "wv (m/s)", "max. wv (m/s)", "wd (deg)",
)  # fmt: skip
#: The column of times, such as 31.12.2009 23:50:00.
TIME = "Date Time"
TEMPERATURE = VARIABLES.index("T (degC)")
#: What stands for "not measured": −9999, in the two wind speeds. Nothing that is measured comes near.
NOT_MEASURED = -9000.0


@dataclass(frozen=True)
class Record:
    """Measurements at equally spaced times; a row of NaN is a time at which something is missing."""

    #: one time a row, one variable a column, as ``VARIABLES``; in their units, or standardised
    values: Float[Tensor, "k 14"]
    first: str  # time of the first row, as 2009-01-01T01:00
    minutes: int  # from one row to the next
    sha256: str  # of the text of the file, unzipped, in hexadecimal
    absent: int = 0  # times without a line in the file
    bad: int = 0  # times whose line holds −9999, no number, or two different readings

    @property
    def present(self) -> Int[Tensor, " m"]:
        """Rows at which nothing is missing."""
        return torch.isfinite(self.values).all(1).nonzero()[:, 0]


@contract
def read(path: Path | str, minutes: Count = 60, sha256: str | None = None) -> Record:
    """Read the file, and keep one row every so many minutes.

    Rows are chosen by the clock, not by counting lines, so that a gap does not shift all that follows. No value is made up: a time whose
    line is absent, holds −9999 or no number, or contradicts another line of the same time, becomes a row of NaN.

    Args:
        path: of the ``.csv`` file, or of a ``.zip`` file that holds it.
        minutes: from one row to the next, a divisor of a day.
        sha256: what the text of the file, unzipped, must have; copies that are passed around differ.
    """
    if 1440 % minutes:
        raise ValueError(f"minutes must divide a day of 1440 minutes, got {minutes}")
    text = _text(Path(path))
    found = hashlib.sha256(text).hexdigest()
    if sha256 is not None and found != sha256.lower():
        raise ValueError(f"sha256 must be {found}, that of {path}, got {sha256}")
    rows: dict[int, list[float]] = {}
    spoilt: set[int] = set()
    for time, row in _lines(text, minutes):
        if time in rows and rows[time] != row:
            spoilt.add(time)
        rows[time] = row
    if not rows:
        raise ValueError(f"path must hold times that are multiples of {minutes} minutes, got none in {path}")
    first = min(rows)
    values = np.full(((max(rows) - first) // minutes + 1, len(VARIABLES)), np.nan)
    for time, row in rows.items():
        if time not in spoilt and all(entry > NOT_MEASURED and np.isfinite(entry) for entry in row):
            values[(time - first) // minutes] = row
    return Record(
        torch.from_numpy(values),
        str(np.datetime64(first, "m")),
        minutes,
        found,
        absent=len(values) - len(rows),
        bad=len(rows) - int(np.isfinite(values[:, 0]).sum()),
    )


def _text(path: Path) -> bytes:
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as folder:
        names = [name for name in folder.namelist() if name.endswith(".csv") and not name.startswith("__")]
        if len(names) != 1:
            raise ValueError(f"path must be a zip file with one .csv file in it, got {names} in {path}")
        return folder.read(names[0])


def _lines(text: bytes, minutes: int):
    """Minutes since 1970 and the 14 numbers of every line on the grid; NaN for what is no number."""
    lines = csv.reader(io.StringIO(text.decode("utf-8-sig", "replace"), newline=""))
    header = next(lines, [])
    if lacking := [name for name in (TIME, *VARIABLES) if name not in header]:
        raise ValueError(
            f"path must be a file with the columns {TIME} and {VARIABLES}, got none called {lacking}"
        )
    columns = [header.index(name) for name in VARIABLES]
    when = header.index(TIME)
    for number, line in enumerate(lines, 2):
        if not line:
            continue
        time = _minute(line[when], number)
        if time % minutes == 0:
            yield time, [_number(line[at] if at < len(line) else "") for at in columns]


def _minute(time: str, number: int) -> int:
    """31.12.2009 23:50:00 in minutes since 1970."""
    try:
        date, clock = time.split()
        day, month, year = date.split(".")
        return int(np.datetime64(f"{year}-{month}-{day}T{clock}", "m").astype(int))
    except ValueError:
        raise ValueError(
            f"path must hold times such as 31.12.2009 23:50:00, got {time!r} in line {number}"
        ) from None


def _number(entry: str) -> float:
    try:
        return float(entry)
    except ValueError:
        return float("nan")


@contract
def blocks(record: Record, share: Level = 0.8) -> tuple[Record, Record]:
    """The earlier part of a record, that share of its times, to train on, and the later one, to test on: no window straddles the border."""
    border = int(share * len(record.values))
    if border == 0:
        raise ValueError(
            f"share must leave at least one of {len(record.values)} times for training, got {share}"
        )
    late = np.datetime64(record.first, "m") + border * record.minutes
    return (
        dataclasses.replace(record, values=record.values[:border]),
        dataclasses.replace(record, values=record.values[border:], first=str(late)),
    )


def standardised(record: Record, by: Record) -> Record:
    """Every variable less its mean, over its standard deviation, both of another record, ``by``: the one to train on."""
    values = by.values[by.present]
    spread = values.std(0, correction=0) if len(values) else torch.zeros(len(VARIABLES))
    if constant := [name for name, size in zip(VARIABLES, spread.tolist(), strict=True) if not size > 0]:
        raise ValueError(
            f"by must hold at least two different values of every variable, got one of {constant}"
        )
    return dataclasses.replace(record, values=(record.values - values.mean(0)) / spread)


@contract
def starts(record: Record, N: Count) -> Int[Tensor, " w"]:
    """Rows at which 2N rows, for a window of N tokens, begin with nothing missing, no two of these stretches overlapping."""
    whole = torch.isfinite(record.values).all(1)
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
    record: Record, P: Count, N: int, generator: Generator | None = None
) -> tuple[Float[Tensor, "{P} {N} 14"], Float[Tensor, "{P} {N} 1"]]:
    """Windows of N ≥ 1 consecutive times of a standardised record, and as targets the temperatures of the N times after them.

    Returns: X and Y; token i of a window is to say the temperature N times later.

    Args:
        P: how many windows; none shares a time with another, targets included.
        generator: draws which of them; the first ones if not given.
    """
    begins = starts(record, N)
    if len(begins) < P:
        raise ValueError(f"P must be at most {len(begins)}, the windows without a gap, got {P}")
    order = (
        torch.arange(len(begins)) if generator is None else torch.randperm(len(begins), generator=generator)
    )
    rows = begins[order[:P]][:, None] + torch.arange(N)
    return record.values[rows], record.values[rows + N][..., [TEMPERATURE]]
