"""Claims are chosen and written for others to read, the reader's own like the book's."""

import json

import jsonschema
import pytest
import torch

from bookext.chapters import LEDGER
from shallowformer import verify
from shallowformer.__main__ import CLAIM_FIELDS, main
from shallowformer.verify import ledger, report

BOOK = ledger.read(LEDGER)


@pytest.fixture(scope="module")
def mine() -> list[dict]:
    coin = verify.probability(
        "my-coin",
        lambda draws, generator: torch.rand(draws, generator=generator) < 0.4,
        at_most=0.5,
        draws=2000,
    )
    return report.of(coin)


def test_the_book_s_ledger_and_a_reader_s_own_claims_keep_the_schema(mine):
    for entries in (BOOK, mine, json.loads(report.written(mine, "json"))):
        jsonschema.validate(entries, report.schema())
    assert (mine[0]["id"], mine[0]["origin"], mine[0]["paper"]) == ("my-coin", "reader", "")


def test_a_control_of_a_reader_s_own_is_a_check_of_the_claim():
    x = torch.tensor([2.0], dtype=torch.float64)
    holds = verify.identity("my-square", lambda x: x * x, {"power": lambda x: x**2}, [{"x": x}], 1e-15, "exact")  # fmt: skip
    needed = verify.control("my-square/sign", lambda kept: (2, 2) if kept else (2, -2), "whole numbers")
    (entry,) = report.of(holds, needed)
    assert [part["verdict"] for part in entry["parts"]] == ["needed"]
    jsonschema.validate([entry], report.schema())
    pairs = [("", verdict.entry()) for verdict in (holds, needed)]
    assert ledger.gather(pairs) == ledger.controls(pairs) == []


@pytest.mark.parametrize("key", ["verdict", "support", "kind"])
def test_the_schema_refuses_words_that_are_none(mine, key):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate([{**mine[0], key: "certainly"}], report.schema())


def test_claims_are_chosen_by_what_they_are_and_by_words():
    violated = report.chosen(BOOK, verdict="violated")
    assert {entry["verdict"] for entry in violated} == {"violated"}
    found = report.chosen(BOOK, "attention GRADIENT", paper="arda2026")
    assert 0 < len(found) < len(BOOK)
    assert all("gradient" in report._text(entry) for entry in found)
    assert report.chosen(BOOK, "no such word") == []


def test_the_command_knows_all_fields():
    assert CLAIM_FIELDS == report.FIELDS


def test_what_cannot_be_chosen_by_is_refused(mine):
    with pytest.raises(ValueError, match="fields must be among paper, kind, verdict, support, got colour"):
        report.chosen(mine, colour="red")
    with pytest.raises(ValueError, match="format must be one of text, markdown, json, got 'xml'"):
        report.written(mine, "xml")


def test_a_page_has_a_row_a_check_and_no_cell_breaks_it(mine):
    split = [{**mine[0], "finding": "a | b"}]
    lines = report.written(split, title="Mine").splitlines()
    assert lines[0] == "# Mine"
    assert len(lines) == 5
    assert lines[4].replace(r"\|", "").count("|") == lines[2].count("|")


def test_the_command_prints_the_book_s_claims_and_those_of_a_file(capsys, tmp_path, mine):
    assert main(["claims", "--verdict", "violated"]) == 0
    assert "kr-lemma-5 " in capsys.readouterr().out
    file = tmp_path / "mine.json"
    file.write_text(report.written(mine, "json"), encoding="utf-8")
    assert main(["claims", "--file", str(file), "--as", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == mine
    assert main(["claims", "--file", str(tmp_path / "none.json")]) == 1
    assert "there is none" in capsys.readouterr().err
    assert main(["claims", "--as", "xml"]) == 2
    file.write_text("{}", encoding="utf-8")
    assert main(["claims", "--file", str(file)]) == 1
