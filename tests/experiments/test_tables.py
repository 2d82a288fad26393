"""Stored rows as a table, with counts of what is missing."""

from dataclasses import replace

import torch
import toys

from shallowformer.__main__ import main
from shallowformer.experiments import experiment, store, tables


def added():
    """A row as another ``compute`` makes it."""
    cubes = replace(toys.SQUARES, compute=lambda config, device: {"cube": config.number**3})
    return experiment.row(cubes, toys.Toy(4), torch.device("cpu"))


def test_show_counts_and_tabulates(swept, capsys):
    assert main(["show", "toys:SQUARES", "--results", str(swept)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "toy: Squares of small numbers"
    assert lines[3:6] == [
        "smoke       2 rows stored,     0 missing",
        "laptop      4 rows stored,     0 missing",
        "paper       4 rows stored,     2 missing",
    ]
    assert lines[7].split() == ["number", "square", "root", "label"]
    assert lines[11].split() == ["3", "9", "1.732", "toy"]
    assert lines[13] == "not shown, as they are lists or mappings: list"
    assert "not in every row" not in "".join(lines)
    assert lines[-1] == "computed in 0.0 hours, added up over the rows"
    fewer = replace(toys.SQUARES, plan=lambda scale: [toys.Toy(k) for k in range(3)])
    assert "1 stored rows (*) belong to no plan any more" in (text := tables.show(fewer, swept))
    assert text.splitlines()[12].startswith("*")
    assert "smoke       0 rows stored,     2 missing" in tables.show(toys.SQUARES, swept / "elsewhere")
    store.add("toy", [added()], swept)
    assert "changed: square (4), root (4), label (4), list (4), cube (1)" in tables.show(toys.SQUARES, swept)
