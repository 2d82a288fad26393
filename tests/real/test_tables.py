"""Tables: what their files say, by other readers; standardised rows, and rows held out."""

import gzip
from importlib import metadata

import numpy as np
import pytest
import torch

from checks import refused
from shallowformer.real import source, tables, weather


def path(told):
    return metadata.distribution("scikit-learn").locate_file(told.file)


@pytest.mark.parametrize(
    ("name", "shape", "targets"),
    [
        ("wine", (178, 13), 3),
        ("diabetes", (442, 10), 1),
        ("weather", (884, 8), 1),
        ("three stations", (709, 24), 1),
        ("breast cancer", (569, 30), 1),
    ],
)
def test_a_table_has_its_rows_names_and_sources(name, shape, targets):
    table = tables.load(name)
    assert tuple(table.values.shape) == shape
    assert tuple(table.target.shape) == (shape[0], targets)
    assert len(table.names) == len(table.units) == shape[1] == len(set(table.names))
    assert len(table.targets) == targets
    assert torch.isfinite(table.values).all()
    assert torch.isfinite(table.target).all()
    assert all(len(told.sha256) == 64 and told.licence for told in table.sources)


@pytest.mark.parametrize(
    ("load", "file", "of_kind"),
    [(tables.wine, tables.WINE, 3), (tables.breast_cancer, tables.BREAST_CANCER, 2)],
)
def test_a_file_with_classes_by_numpy(load, file, of_kind):
    whole, table = np.loadtxt(path(file), delimiter=",", skiprows=1), load()
    np.testing.assert_array_equal(table.values.numpy(), whole[:, :-1])
    if of_kind == 2:
        np.testing.assert_array_equal(table.target[:, 0].numpy(), whole[:, -1])
    else:
        np.testing.assert_array_equal(table.target.numpy().argmax(1), whole[:, -1])
        assert torch.equal(table.target.sum(1), torch.ones(178, dtype=torch.float64))


def test_diabetes_by_hand():
    with gzip.open(path(tables.DIABETES), "rt") as lines:
        first = [float(word) for word in next(lines).split()]
    table = tables.diabetes()
    assert table.values[0].tolist() == first
    assert table.target[:2, 0].tolist() == [151.0, 75.0]
    assert table.names[2] == "body mass index"


def test_an_hour_and_the_temperature_eight_hours_later():
    table, series = tables.weather_hours(), weather.new_york()
    assert table.in_time
    found = 0
    for start in range(0, len(series.values) - 8, 8):
        now, later = series.values[start], series.values[start + 8, 0]
        if torch.isfinite(now).all() and torch.isfinite(series.values[start + 8]).all():
            assert torch.equal(table.values[found], now)
            assert table.target[found, 0] == later
            found += 1
    assert found == len(table.values)
    refused("ahead", "got 9999, which leaves 0", "at least two rows", tables.weather_hours, ahead=9999)


def test_another_file_is_refused(monkeypatch):
    wrong = source.Source(**{**tables.WINE.__dict__, "sha256": 64 * "0"})
    monkeypatch.setattr(tables, "WINE", wrong)
    with pytest.raises(ValueError, match="SHA-256"):
        tables.wine()


def test_an_unknown_table_is_refused():
    with pytest.raises(ValueError, match="beer"):
        tables.load("beer")


def test_columns_are_standardised_by_the_rows_to_train_on():
    values = torch.tensor([[1.0, 2.0], [3.0, 6.0], [100.0, 200.0]], dtype=torch.float64)
    assert tables.standardised(values, values[:2]).tolist() == [[-1, -1], [1, 1], [98, 98]]
    whole = tables.standardised(tables.wine().values)
    torch.testing.assert_close(whole.mean(0), torch.zeros(13, dtype=torch.float64))
    torch.testing.assert_close(whole.square().mean(0), torch.ones(13, dtype=torch.float64))
    with pytest.raises(ValueError, match="two different values"):
        tables.standardised(values, values[:1])
    refused("by", "(3, 1)", "(3, 2)", tables.standardised, values, values[:, :1])


def test_rows_are_held_out_once_and_hours_by_time():
    seeded = lambda: torch.Generator().manual_seed(3)
    chosen, held = tables.split(tables.wine(), 100, seeded())
    assert sorted([*chosen.tolist(), *held.tolist()]) == list(range(178))
    chosen, held = tables.split(tables.weather_hours(), 200, seeded())
    border = int(0.8 * 884)
    assert held.tolist() == list(range(border, 884))
    assert len(set(chosen.tolist())) == 200
    assert int(chosen.max()) < border
    for n in (178, 1000):
        with pytest.raises(ValueError, match="n must be below 178"):
            tables.split(tables.wine(), n, seeded())
