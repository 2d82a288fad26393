"""The command line: what it says, and its exit codes."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import toys

from shallowformer.__main__ import main
from shallowformer.experiments import store, sweep, tables, verification


@pytest.fixture
def swept(tmp_path, traces):
    sweep.run(toys.SQUARES, "laptop", tmp_path)
    return tmp_path


def change(results, **changes):
    """Change results of the last stored row."""
    file = store.path("toy", results)
    content = json.loads(file.read_text())
    content["rows"][-1]["result"].update(changes)
    file.write_text(json.dumps(content))


def test_help_and_list_are_there_without_torch():
    code = "import sys; from shallowformer.__main__ import main; main(['list']); sys.exit('torch' in sys.modules)"
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert listed.returncode == 0
    assert re.search(r"^certificates +Certificates of Theorem A", listed.stdout, re.MULTILINE)


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
        (["show", "nothing like it"], "There are: approximation_error, beyond_theory, certificates"),
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
    assert lines[-1] == "computed in 0.0 hours, added up over the rows"
    fewer = replace(toys.SQUARES, plan=lambda scale: [toys.Toy(k) for k in range(3)])
    assert "1 stored rows (*) belong to no plan any more" in (text := tables.show(fewer, swept))
    assert text.splitlines()[12].startswith("*")
    assert "smoke       0 rows stored,     2 missing" in tables.show(toys.SQUARES, swept / "elsewhere")


def test_verify_confirms_what_is_stored(swept, capsys):
    assert main(["verify", "toys:SQUARES", "--results", str(swept), "--seed", "1"]) == 0
    assert "1 of 1 rows confirmed (--share 0.05 --seed 1)" in capsys.readouterr().out
    assert main(["verify", "toys:SQUARES", "--results", str(swept), "--share", "1", "--quiet"]) == 0
    assert "4 of 4 rows confirmed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"square": 9.1}, "square is 9, stored is 9.1: 1.1e-02 apart, 0.001 allowed"),
        ({"root": 1.73206}, "apart, 1e-06 allowed"),
        ({"list": [1, 2.6]}, "at [1]: list is 2.5, stored is 2.6"),
        ({"list": [1]}, "list has 2 entries, stored are 1"),
        ({"label": "boy"}, "label is 'toy', stored is 'boy'"),
        ({"label": 1.0}, "label is 'toy', stored is 1.0"),
        ({"new": 1}, "new is stored only"),
    ],
)
def test_verify_says_what_differs_and_by_how_much(swept, capsys, changes, message):
    change(swept, **changes)
    assert main(["verify", "toys:SQUARES", "--results", str(swept), "--share", "1", "--quiet"]) == 1
    said = capsys.readouterr().out
    assert "differs: number = 3" in said
    assert message in said
    assert "3 of 4 rows confirmed" in said


def test_verify_allows_what_rounding_explains(swept):
    change(swept, square=9.001, root=3**0.5 * (1 + 5e-7))
    again = verification.verify(toys.SQUARES, 1.0, 0, swept)
    assert [compared.differences for compared in again] == [()] * 4


@pytest.mark.parametrize(("number", "confirmed"), [(3, True), (2, False)])
def test_a_tolerance_may_depend_on_the_configuration(swept, number, confirmed):
    change(swept, square=12)  # of number = 3
    some = replace(toys.SQUARES, tolerance=lambda config: {"square": 0.5} if config.number == number else {})
    found = [compared.differences == () for compared in verification.verify(some, 1.0, 0, swept)]
    assert all(found) == confirmed


def test_tolerances_are_found_by_name():
    rows = [
        {"result": {"a": {"b": value, "c": value}, "free": free}, "provenance": {"dtype": "float64"}}
        for value, free in ((1.0, "x"), (1.05, "y"))
    ]
    assert len(verification.compare(*rows, {})) == 3
    assert verification.compare(*rows, {"a": 0.1, "free": float("inf")}) == []
    (line,) = verification.compare(*rows, {"a": 0.1, "a.b": 0.01, "free": float("inf")})
    assert line.startswith("a.b is 1.05")
    for old, new in ((1.0, float("nan")), (float("inf"), float("inf")), (float("inf"), 1.0)):
        odd = [{**row, "result": {"a": value}} for row, value in zip(rows, (old, new), strict=True)]
        assert len(verification.compare(*odd, {})) == 1
    rows[1]["provenance"]["dtype"] = "float32"
    assert "was computed in float64, is computed in float32 now" in verification.compare(*rows, {"a": 0.1})


def test_verify_reports_a_row_that_cannot_be_computed(swept, capsys):
    broken = replace(toys.SQUARES, compute=lambda config, device: 1 / 0)
    (compared,) = verification.verify(broken, 0.1, 0, swept)
    assert "cannot be computed: ZeroDivisionError" in compared.differences[0]
    with pytest.raises(ValueError, match=r"share must be in \(0, 1\], got 2"):
        verification.sample(broken, 2, 0, swept)


def test_there_must_be_something_to_verify(tmp_path, traces, capsys):
    assert main(["verify", "toys:SQUARES", "--results", str(tmp_path), "--quiet"]) == 1
    assert "nothing that toy plans is stored" in capsys.readouterr().err


def test_the_sample_has_the_share_asked_for(swept):
    sizes = [len(verification.sample(toys.SQUARES, share, 0, swept)) for share in (0.01, 0.25, 0.3, 0.5, 1)]
    assert sizes == [1, 1, 2, 2, 4]
    draws = {verification.sample(toys.SQUARES, 0.05, seed, swept)[0][0]["key"] for seed in range(40)}
    assert len(draws) == 4
