"""A sample of stored rows is recomputed, and what differs is said."""

import json
from dataclasses import replace

import pytest
import toys

from shallowformer.__main__ import main
from shallowformer.experiments import store, verification


def change(results, **changes):
    """Change results of the last stored row."""
    file = store.path("toy", results)
    content = json.loads(file.read_text())
    content["rows"][-1]["result"].update(changes)
    file.write_text(json.dumps(content))


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


@pytest.mark.parametrize(
    ("asked", "confirmed"),
    [
        (lambda config, _: config.number == 3, True),
        (lambda config, _: config.number == 2, False),
        (lambda _, result: result["square"] > 10, True),
        (lambda _, result: result["square"] > 12, False),
    ],
)
def test_a_tolerance_may_depend_on_the_configuration_and_on_what_is_stored(swept, asked, confirmed):
    change(swept, square=12)  # of number = 3
    some = replace(toys.SQUARES, tolerance=lambda *row: {"square": 0.5} if asked(*row) else {})
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
