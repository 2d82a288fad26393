"""A small file in the format of the climate file, made here, with every fault that the real one has."""

import hashlib
import zipfile

import numpy as np
import pytest
import torch

from checks import normal, refused, source
from companion.theory.residual import climate, made_up_weather
from companion.theory.residual.climate import TEMPERATURE, VARIABLES

HEADER = '"Date Time",' + ",".join(f'"{name}"' for name in VARIABLES)


def line(time, T=5.0, wind="2.00"):
    """One line; entries tell columns apart."""
    entries = [f"{10 * place + T:.2f}" for place in range(14)]
    entries[TEMPERATURE], entries[11], entries[12] = f"{T:.2f}", wind, wind
    return ",".join([time, *entries])


def hours(count, first=0, **faults):
    """Lines every ten minutes."""
    return [
        line(f"{1 + h // 24:02d}.03.2010 {h % 24:02d}:{m:02d}:00", T=h + m / 100)
        for h in range(first, first + count)
        for m in range(0, 60, 10)
    ]


@pytest.fixture
def file(tmp_path):
    def written(lines, name="climate.csv", header=HEADER):
        path = tmp_path / name
        path.write_text("\n".join([header, *lines]) + "\n")
        return path

    return written


def test_rows_are_chosen_by_the_clock(file):
    record = climate.read(file(hours(30)[1:]))  # begins at 00:10, as the real file does
    assert record.first == "2010-03-01T01:00"
    assert record.values[:, TEMPERATURE].tolist() == list(range(1, 30))
    assert record.values[3].tolist()[2] == 24.0
    assert (record.absent, record.bad) == (0, 0)
    assert len(climate.read(file(hours(30)), minutes=10).values) == 6 * 29 + 6


def test_a_gap_does_not_shift_what_follows(file):
    lines = hours(30)
    record = climate.read(
        file(lines[:33] + lines[50:])
    )  # from 05:30 to 08:20 nothing; counting lines would go on at 20 past
    T = record.values[:, TEMPERATURE]
    assert record.absent == 3
    assert torch.isnan(T).nonzero()[:, 0].tolist() == [6, 7, 8]
    assert T[9:].tolist() == list(range(9, 30))
    assert record.present.tolist() == [0, 1, 2, 3, 4, 5, *range(9, 30)]


@pytest.mark.parametrize("wind", ["-9999.00", "-9999.99", "", "nan", "inf", "calm"])
def test_what_was_not_measured_is_missing(file, wind):
    lines = hours(10)
    lines[6 * 4] = line("01.03.2010 04:00:00", 4.0, wind)
    record = climate.read(file(lines))
    assert torch.isnan(record.values).all(1).nonzero()[:, 0].tolist() == [4]
    assert (record.absent, record.bad) == (0, 1)


def test_times_that_come_twice(file):
    same, other = line("01.03.2010 04:00:00", 4.0), line("01.03.2010 05:00:00", 99.0)
    record = climate.read(file([*hours(10), same, other]))
    assert record.bad == 1
    assert record.present.tolist() == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    third = climate.read(file([*hours(10), other, line("01.03.2010 05:00:00", 5.0)]))
    assert third.bad == 1  # once contradicted, a time stays missing


def test_columns_are_found_by_name(file):
    names = HEADER.split(",")
    swapped = ",".join([names[0], *names[:0:-1]])
    entries = line("01.03.2010 04:00:00").split(",")
    record = climate.read(file([",".join([entries[0], *entries[:0:-1]])], header=swapped))
    expected = climate.read(file([line("01.03.2010 04:00:00")], "right.csv"))
    assert torch.equal(record.values, expected.values)


def test_a_zip_file_and_the_checksum_of_its_text(file, tmp_path):
    path = file(hours(5))
    with zipfile.ZipFile(tmp_path / "climate.csv.zip", "w") as folder:
        folder.write(path, "climate.csv")
        folder.writestr("__MACOSX/._climate.csv", "")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    one, two = (
        climate.read(path, sha256=found),
        climate.read(tmp_path / "climate.csv.zip", sha256=found.upper()),
    )
    assert torch.equal(one.values, two.values)
    assert one.sha256 == two.sha256 == found
    refused("sha256", "0" * 64, found, climate.read, path, sha256="0" * 64)
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as folder:
        folder.writestr("readme.txt", "")
    refused("path", "[]", "one .csv file", climate.read, tmp_path / "empty.zip")


def test_what_is_no_such_file(file):
    refused("path", "T (degC)", "columns", climate.read, file(["1,2"], header='"Date Time","T"'))
    refused("path", "'2010-03-01'", "such as 31.12.2009", climate.read, file([line("2010-03-01")]))
    refused("path", "none", "multiples of 60", climate.read, file([line("01.03.2010 04:10:00")]))
    refused("minutes", "7", "divide a day", climate.read, file(hours(5)), minutes=7)
    with pytest.raises(FileNotFoundError):
        climate.read("nowhere.csv")


def made(k=100, missing=(), seed=0):
    values = normal(k, 14, seed=seed)
    values[:, TEMPERATURE] = torch.arange(k)
    values[list(missing)] = torch.nan
    return climate.Record(values, "2010-03-01T00:00", 60, "")


def test_blocks_follow_one_another():
    early, late = climate.blocks(made(), 0.7)
    assert (len(early.values), len(late.values)) == (70, 30)
    assert late.first == "2010-03-03T22:00"
    assert late.values[0, TEMPERATURE] == 70
    refused("share", "0.001", "at least one", climate.blocks, made(), 0.001)


def test_means_and_deviations_are_those_of_the_training_part():
    early, late = climate.blocks(made(missing=(3, 80)), 0.7)
    own, later = climate.standardised(early, early), climate.standardised(late, early)
    values = own.values[own.present]
    assert values.mean(0).abs().max() < 1e-14
    assert (values.square().mean(0) - 1).abs().max() < 1e-14
    times = np.array([t for t in range(70) if t != 3])
    expected = (75 - times.mean()) / times.std()
    assert float(later.values[5, TEMPERATURE]) == pytest.approx(expected, rel=1e-14)
    assert torch.isnan(later.values[10]).all()
    early.values[:, 4] = 1.0
    early.values[3] = torch.nan
    refused("by", "rh (%)", "two different values", climate.standardised, early, early)


def test_windows_have_no_gap_and_share_no_time():
    record = made(missing=(0, 17, 50, 51))
    begins = climate.starts(record, 4)
    assert begins.tolist() == [1, 9, 18, 26, 34, 42, 52, 60, 68, 76, 84, 92]
    X, Y = climate.windows(record, 12, 4)
    assert X.shape == (12, 4, 14)
    assert Y.shape == (12, 4, 1)
    times = torch.cat([X[..., TEMPERATURE], Y[..., 0]], 1)
    assert times.unique().numel() == times.numel()
    assert torch.isfinite(X).all()
    assert torch.equal(Y[..., 0], X[..., TEMPERATURE] + 4)


def test_which_windows_is_drawn():
    drawn = [climate.windows(made(), 5, 3, source(seed))[0][:, 0, TEMPERATURE] for seed in (1, 1, 2)]
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])
    refused("P", "17", "at most 16", climate.windows, made(), 17, 3)


def test_made_up_weather_is_read_back(tmp_path):
    path = tmp_path / "made_up.csv"
    made_up_weather.write(path, days=40, seed=3)
    record = climate.read(path)
    assert record.first == "2009-01-01T01:00"
    assert (
        record.absent == 4
    )  # 200 minutes without a line, from step 1000 on; 160 hours and 10 minutes after the first
    assert record.bad == 1  # six lines of −9999 after step 3000, one of them on the hour
    true = made_up_weather.variables(40, 3)[5::6]
    assert np.nanmax(np.abs(record.values.numpy() - true)) <= 0.005 + 1e-9
    windows, _ = climate.windows(climate.standardised(record, record), 8, 8)
    assert windows.shape == (8, 8, 14)


def test_made_up_weather_obeys_the_formulas():
    columns = dict(zip(VARIABLES, made_up_weather.variables(30, 1).T, strict=True))
    assert columns["VPdef (mbar)"] == pytest.approx(columns["VPmax (mbar)"] - columns["VPact (mbar)"])
    assert (columns["Tdew (degC)"] < columns["T (degC)"]).all()
    assert (columns["rh (%)"] > 0).all()
    assert (columns["rh (%)"] < 100).all()
    # Saturation of vapour at 0 °C is 6.11 mbar; dry air of 1000 mbar and 0 °C weighs 1275 g/m³.
    assert float(made_up_weather._pressure_of_vapour(np.zeros(1))[0]) == pytest.approx(6.112)
    dry = 1e5 * columns["p (mbar)"] / (287.05 * (columns["T (degC)"] + 273.15))
    assert (np.abs(columns["rho (g/m**3)"] / dry - 1) < 0.03).all()
