"""Plans are checked, and a row says what it was computed with."""

from dataclasses import replace

import pytest
import torch
import toys

from shallowformer.experiments import store, sweep
from shallowformer.experiments.experiment import planned, row

CPU = torch.device("cpu")


def test_a_row_says_what_it_was_computed_with(tmp_path, traces):
    report = sweep.run(toys.SQUARES, "smoke", tmp_path)
    assert (report.planned, report.before, report.computed, report.failed) == (2, 0, 2, ())
    row = store.load("toy", tmp_path)[1]
    assert row["config"] == {"number": 1, "does": "square"}
    assert row["result"] == {"square": 1, "root": 1.0, "label": "toy", "list": [1, 2.5]}
    known = {"dtype", "device", "threads", "shallowformer", "commit", "python", "torch", "numpy", "seconds"}
    assert known - {"commit"} <= set(row["provenance"]) <= known
    assert (row["provenance"]["dtype"], row["provenance"]["device"]) == ("float64", "cpu")


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"x": float("nan")}, r'result x must be finite, got nan; store the string "nan"'),
        ({"a": {"b": object()}}, r"result a\.b must be a number, a string, or a list or mapping.*got object"),
        ({"x": None}, "result x must be a number"),
        ({1: 2}, "a row must be a mapping from names"),
        (3.0, "a row must be a mapping from names"),
        ({"number": 3}, "must not have names of configuration fields, got number"),
    ],
)
def test_results_that_cannot_be_stored_are_refused(result, message):
    odd = replace(toys.SQUARES, compute=lambda config, device: result)
    with pytest.raises(ValueError, match=message):
        row(odd, toys.Toy(1), CPU)


def test_a_word_for_infinity_is_stored(tmp_path):
    odd = replace(toys.SQUARES, compute=lambda config, device: {"x": "inf", "pair": (1, 2), "yes": True})
    sweep.run(odd, "smoke", tmp_path)
    assert store.load("toy", tmp_path)[0]["result"] == {"x": "inf", "pair": [1, 2], "yes": True}


def test_an_experiment_says_its_dtype(traces):
    with pytest.raises(ValueError, match="experiment toy must say its dtype"):
        row(replace(toys.SQUARES, dtype=None), toys.Toy(1), CPU)


def test_plans_are_checked():
    with pytest.raises(ValueError, match="scale must be one of smoke, laptop, paper, got 'huge'"):
        planned(toys.SQUARES, "huge")
    with pytest.raises(ValueError, match="number = 1, does = square is there twice"):
        planned(replace(toys.SQUARES, plan=lambda scale: [toys.Toy(1), toys.Toy(1)]), "smoke")


@pytest.mark.parametrize("name", ["", "a/b", "../up", "two words"])
def test_a_name_that_is_no_file_is_refused(name):
    with pytest.raises(ValueError, match="letters, digits and underscores"):
        toys.experiment(name=name)
