"""The real file, read a second time by pandas."""

import io

import numpy as np
import pandas
import pytest
import torch

from checks import refused
from shallowformer.real import series, weather


@pytest.fixture(scope="module")
def table():
    """Lines by station and hour."""
    lines = pandas.read_csv(io.BytesIO(weather.NEW_YORK.read()), na_values="NA")
    lines["time"] = pandas.to_datetime(lines["time_hour"], utc=True)
    return lines.set_index(["origin", "time"]).sort_index()


def expected(table, stations):
    """All variables hour by hour; an hour with a gap is NaN throughout."""
    parts = []
    for station in stations:
        there = table.loc[station]
        there = there.reindex(
            pandas.date_range(table.index.levels[1].min(), table.index.levels[1].max(), freq="h")
        )
        speed = there.wind_speed.where(there.wind_speed < weather.FASTEST)
        # Components of the vector that points to where the wind comes from, east and north being positive.
        east, north = speed * np.sin(np.deg2rad(there.wind_dir)), speed * np.cos(np.deg2rad(there.wind_dir))
        calm = speed == 0
        T = there.temp
        leap = ((T - T.shift(1)).abs() > weather.LEAP) & ((T - T.shift(-1)).abs() > weather.LEAP)
        wind = [-east.where(~calm, 0.0), -north.where(~calm, 0.0)]
        columns = [T.mask(leap), there.dewp, there.humid, *wind, there.precip, there.pressure, there.visib]
        parts.append(pandas.concat(columns, axis=1))
    whole = pandas.concat(parts, axis=1)
    return whole.mask(whole.isna().any(axis=1))


@pytest.mark.parametrize("stations", [("JFK",), ("LGA", "EWR"), weather.STATIONS])
def test_values_are_those_that_pandas_reads(table, stations):
    read, frame = weather.new_york(stations), expected(table, stations)
    assert read.first == frame.index[0].strftime("%Y-%m-%dT%H:%M")
    assert read.values.shape == frame.shape == (8730, 8 * len(stations))
    np.testing.assert_allclose(read.values.numpy(), frame.to_numpy(), rtol=1e-12, atol=1e-12)
    assert read.names[0] == f"{stations[0]} temperature"
    present = set().union(*(table.loc[station].index for station in stations))
    assert read.absent == len(frame) - len(present)
    assert read.bad == int(frame.isna().any(axis=1).sum()) - read.absent


def test_times_are_those_of_the_clock_in_new_york(table):
    local = table.index.get_level_values("time").tz_convert("America/New_York")
    assert (local.hour == table.hour).all()
    assert (local.day == table.day).all()
    assert not table.index.duplicated().any()


def test_winds():
    line = {"temp": "50", "dewp": "40", "humid": "60", "precip": "0", "pressure": "1000", "visib": "10"}
    wind = lambda direction, speed: weather._variables(line | {"wind_dir": direction, "wind_speed": speed})[
        3:5
    ]
    assert wind("270", "5") == pytest.approx([5, 0])
    assert wind("180", "5") == pytest.approx([0, 5])
    assert wind("45", "5") == pytest.approx([-(12.5**0.5)] * 2)
    assert wind("0", "0") == wind("NA", "0") == [0, 0]
    assert np.isnan([*wind("NA", "5"), *wind("90", "NA"), *wind("90", "1048.36")]).all()


def test_what_cannot_be_is_missing(table):
    T = table.loc["JFK"].temp
    night = T.index.get_loc("2013-05-09 02:00+00:00")
    assert T.iloc[night - 1 : night + 2].tolist() == [57.02, 13.1, 57.2]
    assert float(table.wind_speed.max()) > 1000
    read = weather.new_york(("JFK",))
    hour = int((T.index[night] - pandas.Timestamp(read.first, tz="UTC")) / pandas.Timedelta("1h"))
    assert torch.isnan(read.values[hour]).all()
    assert torch.isfinite(weather.new_york(("LGA",)).values[hour]).all()


@pytest.mark.parametrize("stations", [("JFK",), weather.STATIONS])
def test_no_window_contains_a_missing_hour(table, stations):
    read = weather.new_york(stations)
    whole = expected(table, stations).notna().all(axis=1).to_numpy()
    begins = series.starts(read, 8).tolist()
    assert all(whole[begin : begin + 16].all() for begin in begins)
    assert min(np.diff(begins)) >= 16
    X, Y = series.windows(read, "JFK temperature", len(begins), 8)
    assert torch.isfinite(X).all()
    assert torch.isfinite(Y).all()


def test_stations_that_are_none():
    for stations in ((), ("JFK", "JFK"), ("ORD",)):
        refused("stations", str(stations), "EWR", weather.new_york, stations)
