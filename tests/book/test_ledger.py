"""No statement without a verdict, no verdict without a statement; a fresh run reproduces the ledger."""

import pytest

from bookext import execute
from bookext.chapters import LEDGER, pages, statements
from shallowformer.verify import ledger
from shallowformer.verify.claims import parse

ENTRIES = ledger.read(LEDGER)


def test_the_ledger_is_not_empty():
    assert ENTRIES


def test_every_statement_has_a_verdict_and_every_verdict_a_statement():
    labelled = {label for label in statements() if not parse(label).own}
    assert labelled == {entry["id"] for entry in ENTRIES}


def test_a_verdict_is_reached_where_its_statement_stands():
    where = {label: statement["page"] for label, statement in statements().items()}
    assert {entry["id"]: entry["chapter"] for entry in ENTRIES} == {
        entry["id"]: where[entry["id"]] for entry in ENTRIES
    }


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
def test_an_entry_says_what_was_claimed_measured_and_tried(entry):
    assert entry["verdict"] == entry["expectation"]
    assert entry["kind"] in ("identity", "inequality", "rate", "probability")
    assert entry["measured"]
    assert entry["budget"]
    assert entry["paper"]
    assert entry["number"]
    assert entry["because"]


def test_every_statement_has_a_folded_proof():
    for page in pages():
        text = page.read_text(encoding="utf-8")
        stated = [
            label for label, s in statements().items() if page.with_suffix("").as_posix().endswith(s["page"])
        ]
        if stated:
            assert "{prf:proof}" in text, f"{page.name} states {stated} and proves nothing"


def test_a_fresh_run_reproduces_the_ledger():
    runs = execute.run_stale(jobs=2)
    assert [run.error for run in runs if run.error] == []
    assert ledger.differences(ledger.gather(execute.verdicts(runs)), ENTRIES) == []
    over = [f"{run.chapter}: {run.seconds:.0f} s" for run in runs if run.seconds > 3 * execute.SECONDS]
    assert over == [], "chapters that take several times what a chapter may take"
