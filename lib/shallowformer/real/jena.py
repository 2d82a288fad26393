"""The climate file of Jena that forecasting tutorials use: 14 variables every ten minutes from 2009 to 2016. Hand in a path."""

import csv
import io
import zipfile
from pathlib import Path

import numpy as np

from shallowformer.contracts import Count, contract
from shallowformer.real.series import Series, on_grid
from shallowformer.real.source import given

#: Columns of the file, in its order, with their units.
VARIABLES = {
    "p": "mbar", "T": "degC", "Tpot": "K", "Tdew": "degC", "rh": "%", "VPmax": "mbar", "VPact": "mbar", "VPdef": "mbar",
    "sh": "g/kg", "H2OC": "mmol/mol", "rho": "g/m**3", "wv": "m/s", "max. wv": "m/s", "wd": "deg",
}  # fmt: skip
COLUMNS = tuple(f"{name} ({unit})" for name, unit in VARIABLES.items())
#: The column of times, such as 31.12.2009 23:50:00.
TIME = "Date Time"
#: The longest gap, in minutes: ten years. A mistyped year would make a series of millions of rows.
LONGEST_GAP = 10 * 366 * 1440
#: What stands for "not measured": −9999, in the two wind speeds. Nothing that is measured comes near.
NOT_MEASURED = -9000.0


@contract
def read(path: Path | str, minutes: Count = 60, sha256: str | None = None) -> Series:
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
    source = given(path, text, sha256)
    rows: dict[int, list[float]] = {}
    spoilt: set[int] = set()
    for time, row in _lines(text, minutes):
        if time in rows and rows[time] != row:
            spoilt.add(time)
        rows[time] = row
    if not rows:
        raise ValueError(f"path must hold times that are multiples of {minutes} minutes, got none in {path}")
    times = np.sort(list(rows))
    if (gaps := np.diff(times) > LONGEST_GAP).any():
        last = np.datetime64(int(times[:-1][gaps][0]), "m")
        raise ValueError(f"path must hold times no more than ten years apart, got such a gap after {last}")
    return on_grid(rows, spoilt, minutes, tuple(VARIABLES), tuple(VARIABLES.values()), source)


def _text(path: Path) -> bytes:
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as folder:
        names = [name for name in folder.namelist() if name.endswith(".csv") and not name.startswith("__")]
        if len(names) != 1:
            raise ValueError(f"path must be a zip file with one .csv file in it, got {names} in {path}")
        return folder.read(names[0])


def _lines(text: bytes, minutes: int):
    """Minutes since 1970 and the 14 numbers of every line on the grid; NaN for what is no number or was not measured."""
    lines = csv.reader(io.StringIO(text.decode("utf-8-sig", "replace"), newline=""))
    header = next(lines, [])
    if lacking := [name for name in (TIME, *COLUMNS) if name not in header]:
        raise ValueError(
            f"path must be a file with the columns {TIME} and {COLUMNS}, got none called {lacking}"
        )
    columns = [header.index(name) for name in COLUMNS]
    when = header.index(TIME)
    for number, line in enumerate(lines, 2):
        if not line:
            continue
        time = _minute(line[when] if when < len(line) else "", number)
        if time % minutes == 0:
            yield time, [_number(line[at] if at < len(line) else "") for at in columns]


def _minute(time: str, number: int) -> int:
    """31.12.2009 23:50:00 in minutes since 1970."""
    try:
        date, clock = time.split()
        day, month, year = date.split(".")
        exact = np.datetime64(f"{year}-{month}-{day}T{clock}")
        whole = exact.astype("datetime64[m]")
        if exact != whole:
            raise ValueError
        return int(whole.astype(int))
    except ValueError:
        raise ValueError(
            f"path must hold times such as 31.12.2009 23:50:00, got {time!r} in line {number}"
        ) from None


def _number(entry: str) -> float:
    try:
        value = float(entry)
    except ValueError:
        return float("nan")
    return value if value > NOT_MEASURED else float("nan")
