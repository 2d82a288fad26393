"""The command line: what it says, its tables of stored rows, and its exit codes."""

import dataclasses
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import toys

from shallowformer.__main__ import main
from shallowformer.experiments import experiment, store, tables


def test_help_and_list_are_there_without_torch():
    code = "import sys; from shallowformer.__main__ import main; main(['list']); sys.exit('torch' in sys.modules)"
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert listed.returncode == 0
    assert re.search(r"^certificates +Certificates of Theorem A", listed.stdout, re.MULTILINE)


def test_a_terminal_without_greek_letters_is_served(tmp_path):
    code = [sys.executable, "-m", "shallowformer", "list"]
    listed = subprocess.run(
        code, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, check=False
    )
    assert listed.returncode == 0, listed.stderr
    assert b"\\u" in listed.stdout


@pytest.mark.parametrize(
    "arguments", [["--help"], *([name, "--help"] for name in ("list", "run", "show", "verify"))]
)
def test_help(capsys, arguments):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 0
    said = capsys.readouterr().out
    assert said.startswith("usage: python -m shallowformer")
    if len(arguments) == 1:
        assert "examples:" in said
        assert "exit codes:" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "certificats"], "no experiment is called 'certificats'; did you mean 'certificates'?"),
        (["show", "nothing like it"], "There are: admissible_runs, approximation_error, balance"),
        (["run", "no_such_module:IT"], "there is no module 'no_such_module'"),
        (["verify", "toys:NOBODY"], "toys has no experiment called 'NOBODY'"),
        (["show", ":SQUARES"], "is named module:NAME, as in an import, got ':SQUARES'"),
        (["show", ".toys:SQUARES"], "is named module:NAME, as in an import, got '.toys:SQUARES'"),
        (["show", "toys.py:SQUARES"], "there is no module 'toys.py'"),
        (["show", "toys:RUNAWAY"], "toys:RUNAWAY is called 'runaway', as one of the book's experiments"),
        (
            ["run", "toys:SQUARES", "--dask", "nonsense"],
            "--dask: the scheduler's address must look like tcp://",
        ),
        (
            ["verify", "toys:SQUARES", "--dask", "tcp://here"],
            "--dask: the scheduler's address must look like tcp://",
        ),
        (["run", "toys:SQUARES", "--jobs", "two"], "must be a whole number, got 'two'"),
        (["verify", "toys:SQUARES", "--share", "0"], "--share must be in (0, 1], got 0"),
        (["run", "toys:SQUARES", "--device", "abacus"], "--device must name a torch device, got 'abacus'"),
        (["run", "toys:SQUARES", "--scale", "huge"], "invalid choice: 'huge'"),
        (["run", "toys:SQUARES", "--jobs", "0"], "must be at least 1"),
        ([], "required"),
    ],
)
def test_mistakes_are_named(capsys, arguments, message):
    try:
        code = main(arguments)
    except SystemExit as left:
        code = left.code
    assert code == 2
    assert message in capsys.readouterr().err


def test_a_run_reports(tmp_path, traces, capsys):
    arguments = ["run", "toys:SQUARES", "--scale", "smoke", "--results", str(tmp_path)]
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.out == "toy at scale smoke: 2 rows planned, 0 stored before, 2 computed, 0 failed\n"
    assert "2/2" in shown.err  # the progress bar
    assert main([*arguments, "--quiet"]) == 0
    shown = capsys.readouterr()
    assert "2 stored before, 0 computed" in shown.out
    assert shown.err == ""


def test_results_that_stored_rows_lack_are_said(swept, traces, capsys, monkeypatch):
    square = toys.SQUARES.compute
    wider = dataclasses.replace(toys.SQUARES, compute=lambda *row: square(*row) | {"cube": 0})
    monkeypatch.setattr(toys, "SQUARES", wider)
    assert main(["run", "toys:SQUARES", "--scale", "smoke", "--results", str(swept), "--quiet"]) == 0
    said = capsys.readouterr().err
    assert f"stored rows lack cube, which compute returns today; to compute them anew, move {swept}" in said


def test_failures_are_listed_at_the_end(tmp_path, traces, capsys):
    arguments = ["run", "toys:FAILING", "--scale", "paper", "--results", str(tmp_path), "--quiet"]
    assert main(arguments) == 1
    shown = capsys.readouterr()
    assert "4 computed, 2 failed" in shown.out
    assert "failed: number = 1, does = fail: ArithmeticError: the loss is not finite" in shown.err
    assert "Traceback" not in shown.err
    assert main([*arguments, "--traceback"]) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_said(swept, capsys):
    before = store.path("toy", swept).read_bytes()
    (swept / ".toy.part").symlink_to("/dev/full")
    assert main(["run", "toys:SQUARES", "--scale", "paper", "--results", str(swept), "--quiet"]) == 1
    assert "No space left on device. Stored rows are intact" in capsys.readouterr().err
    assert store.path("toy", swept).read_bytes() == before


@pytest.mark.parametrize("command", ["run", "show", "verify"])
def test_a_corrupted_store_is_said(swept, capsys, command):
    file = store.path("toy", swept)
    file.write_text(file.read_text()[:-30])
    before = file.read_bytes()
    assert main([command, "toys:SQUARES", "--results", str(swept)]) == 1
    assert f"{file} is not JSON" in capsys.readouterr().err
    assert file.read_bytes() == before


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
