"""Blocks, standardised values and windows of a series that is counted by hand."""

import dataclasses

import numpy as np
import pytest
import torch

from checks import normal, refused, source
from shallowformer.real import series
from shallowformer.real.source import given

NAMES = ("time", *"abc")
SOURCE = given("nowhere.csv", b"")


def made(k=100, missing=()):
    values = normal(k, 4)
    values[:, 0] = torch.arange(k)
    values[list(missing)] = torch.nan
    return series.Series(values, NAMES, ("h", "", "", ""), "2010-03-01T00:00", 60, SOURCE)


def test_rows_are_put_where_their_time_is():
    rows = {60: [1.0, 2.0], 120: [3.0, float("nan")], 240: [5.0, 6.0], 300: [7.0, 8.0]}
    found = series.on_grid(rows, {300}, 60, ("a", "b"), ("", ""), SOURCE)
    assert found.first == "1970-01-01T01:00"
    assert found.values[found.present].tolist() == [[1.0, 2.0], [5.0, 6.0]]
    assert found.present.tolist() == [0, 3]
    assert (found.absent, found.bad, len(found.values)) == (1, 2, 5)


def test_blocks_follow_one_another():
    early, late = series.blocks(made(), 0.7)
    assert (len(early.values), len(late.values)) == (70, 30)
    assert late.first == "2010-03-03T22:00"
    assert late.values[0, 0] == 70
    refused("share", "0.001", "at least one", series.blocks, made(), 0.001)


def test_means_and_deviations_are_those_of_the_training_part():
    early, late = series.blocks(made(missing=(3, 80)), 0.7)
    own, later = series.standardised(early, early), series.standardised(late, early)
    values = own.values[own.present]
    assert values.mean(0).abs().max() < 1e-14
    assert (values.square().mean(0) - 1).abs().max() < 1e-14
    times = np.array([t for t in range(70) if t != 3])
    expected = (75 - times.mean()) / times.std()
    assert float(later.values[5, 0]) == pytest.approx(expected, rel=1e-14)
    assert torch.isnan(later.values[10]).all()
    assert later.units == ("",) * 4
    other = dataclasses.replace(early, names=("time", *"abd"))
    refused("by", "'d'", "'c'", series.standardised, late, other)
    early.values[:, 2] = 1.0
    early.values[3] = torch.nan
    refused("by", "'b'", "two different values", series.standardised, early, early)


def test_windows_have_no_gap_and_share_no_time():
    record = made(missing=(0, 17, 50, 51))
    assert series.starts(record, 4).tolist() == [1, 9, 18, 26, 34, 42, 52, 60, 68, 76, 84, 92]
    X, Y = series.windows(record, "time", 12, 4)
    assert X.shape == (12, 4, 4)
    assert Y.shape == (12, 4, 1)
    times = torch.cat([X[..., 0], Y[..., 0]], 1)
    assert times.unique().numel() == times.numel()
    assert torch.isfinite(X).all()
    assert torch.equal(Y[..., 0], X[..., 0] + 4)


def test_which_windows_is_drawn():
    drawn = [series.windows(made(), "a", 5, 3, source(seed))[0][:, 0, 0] for seed in (1, 1, 2)]
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])
    refused("P", "17", "at most 16", series.windows, made(), "a", 17, 3)
    refused("target", "'d'", "'time'", series.windows, made(), "d", 5, 3)
