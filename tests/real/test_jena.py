"""A small file in the format of the climate file of Jena, made here, with every fault that the real one has."""

import hashlib
import zipfile

import pytest
import torch

from checks import refused
from jena_file import HEADER, hours, line, write
from shallowformer.real import jena

TEMPERATURE = list(jena.VARIABLES).index("T")


@pytest.fixture
def file(tmp_path):
    return lambda lines, header=HEADER: write(tmp_path / "climate.csv", lines, header)


def missing(read):
    return torch.isnan(read.values).all(1).nonzero()[:, 0].tolist()


def test_rows_are_chosen_by_the_clock(file):
    read = jena.read(file(hours(30)[1:]))  # begins at 00:10, as the real file does
    assert read.first == "2010-03-01T01:00"
    assert read.values[:, TEMPERATURE].tolist() == list(range(1, 30))
    assert read.values[3].tolist()[2] == 24.0
    assert (read.absent, read.bad) == (0, 0)
    assert len(jena.read(file(hours(30)), minutes=10).values) == 6 * 29 + 6


def test_a_gap_does_not_shift_what_follows(file):
    lines = hours(30)
    # From 05:30 to 08:20 nothing; counting lines would go on at 20 past.
    read = jena.read(file(lines[:33] + lines[50:]))
    assert read.absent == 3
    assert missing(read) == [6, 7, 8]
    assert read.values[9:, TEMPERATURE].tolist() == list(range(9, 30))
    assert read.present.tolist() == [0, 1, 2, 3, 4, 5, *range(9, 30)]


@pytest.mark.parametrize("wind", ["-9999.00", "-9999.99", "", "nan", "inf", "calm"])
def test_what_was_not_measured_is_missing(file, wind):
    lines = hours(10)
    lines[6 * 4] = line("01.03.2010 04:00:00", 4.0, wind)
    read = jena.read(file(lines))
    assert missing(read) == [4]
    assert (read.absent, read.bad) == (0, 1)


def test_times_that_come_twice(file):
    same, other = line("01.03.2010 04:00:00", 4.0), line("01.03.2010 05:00:00", 99.0)
    read = jena.read(file([*hours(10), same, other]))
    assert read.bad == 1
    assert read.present.tolist() == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    third = jena.read(file([*hours(10), other, line("01.03.2010 05:00:00", 5.0)]))
    assert third.bad == 1  # once contradicted, a time stays missing


def test_columns_are_found_by_name(file):
    expected = jena.read(file([line("01.03.2010 04:00:00")]))
    names = HEADER.split(",")
    entries = line("01.03.2010 04:00:00").split(",")
    swapped = ",".join([names[0], *names[:0:-1]])
    read = jena.read(file([",".join([entries[0], *entries[:0:-1]])], header=swapped))
    assert torch.equal(read.values, expected.values)


def test_a_zip_file_and_the_checksum_of_its_text(file, tmp_path):
    path = file(hours(5))
    with zipfile.ZipFile(tmp_path / "climate.csv.zip", "w") as folder:
        folder.write(path, "climate.csv")
        folder.writestr("__MACOSX/._climate.csv", "")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    one, two = (
        jena.read(path, sha256=found),
        jena.read(tmp_path / "climate.csv.zip", sha256=found.upper()),
    )
    assert torch.equal(one.values, two.values)
    assert one.source.sha256 == two.source.sha256 == found
    assert one.source.file == "climate.csv"
    refused("sha256", "0" * 64, found, jena.read, path, sha256="0" * 64)
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as folder:
        folder.writestr("readme.txt", "")
    refused("path", "[]", "one .csv file", jena.read, tmp_path / "empty.zip")


def test_what_is_no_such_file(file):
    refused("path", "T (degC)", "columns", jena.read, file(["1,2"], header='"Date Time","T"'))
    refused("path", "'2010-03-01'", "such as 31.12.2009", jena.read, file([line("2010-03-01")]))
    refused("path", "08:00:30", "such as 31.12.2009", jena.read, file([line("01.03.2010 08:00:30")]))
    last = ",".join([*HEADER.split(",")[1:], HEADER.split(",")[0]])
    refused("path", "'' in line 2", "such as 31.12.2009", jena.read, file(["1,2"], header=last))
    far = file([line("01.03.2010 04:00:00"), line("01.03.2021 04:00:00")])
    refused("path", "after 2010-03-01T04:00", "ten years", jena.read, far)
    refused("path", "none", "multiples of 60", jena.read, file([line("01.03.2010 04:10:00")]))
    refused("minutes", "7", "divide a day", jena.read, file(hours(5)), minutes=7)
    with pytest.raises(FileNotFoundError):
        jena.read("nowhere.csv")
