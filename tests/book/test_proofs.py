"""The machine-checked statements: what their files say is understood and true of the package, and Coq is asked what it should be."""

import importlib
import math
import re
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

from bookext.chapters import LEDGER, statements
from bookext.proofs import __main__ as command
from bookext.proofs import coq, pages, record, sources
from shallowformer.verify import ledger

with_coq = pytest.mark.skipif(not coq.version(), reason="Coq is not there")

PROOF = """
(** A comment. *)
Require Import Reals Lra.
Open Scope R_scope.

(** twice x *)
Definition twice (x : R) : R := 2 * x.

(** kr-lemma-1
    Covers: the whole statement.
    Reads: twice a number between 0 and 3 is
      at most 6.
    Constants: 2 * 3 = math.factorial(3)
    Mistake: `<= 5` for `<= 2 * 3`
    Mistake: without `x <= 3 ->`
*)
Theorem kr_lemma_1 : forall x, 0 <= x -> x <= 3 -> twice x <= 2 * 3.
Proof.
  intros x L H. unfold twice. lra.
Qed.
"""


def theorem(text: str = PROOF) -> sources.Theorem:
    return sources.theorems_of(text)[0]


def test_a_file_is_understood():
    one = theorem()
    assert (one.label, one.name, one.whole, one.line) == ("kr-lemma-1", "kr_lemma_1", True, 17)
    assert one.reads == "twice a number between 0 and 3 is at most 6."
    assert one.constants == (sources.Constant("2 * 3", "math.factorial(3)"),)
    assert [one.changed(mistake) for mistake in one.mistakes] == [
        "Theorem kr_lemma_1 : forall x, 0 <= x -> x <= 3 -> twice x <= 5.",
        "Theorem kr_lemma_1 : forall x, 0 <= x -> True -> twice x <= 2 * 3.",
    ]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("Theorem kr_lemma_1 ", "Theorem another ", "a theorem of that name"),
        ("    Covers: the whole statement.\n", "", "must say Covers"),
        ("for `<= 2 * 3`", "for `<= 7`", "OLD stand in"),
        ("Mistake: without `x <= 3 ->`", "Mistake: without `y`", "OLD stand in"),
        ("    Constants: 2 * 3 = ", "    Constants: 2 * 3 is ", "FORMAL = CODE"),
    ],
)
def test_a_file_that_says_too_little_is_refused(old, new, complaint):
    with pytest.raises(ValueError, match=complaint):
        theorem(PROOF.replace(old, new))


def test_what_a_file_needs_stands_before_it():
    order = sources.in_order()
    assert all(order.index(needed) < order.index(name) for name, all_of_it in sources.needs().items() for needed in all_of_it)  # fmt: skip
    assert sources.closure("base/attention.v") == ["base/sums.v", "base/vectors.v", "base/attention.v"]


def test_the_record_is_that_of_the_committed_files():
    assert set(record.read()["files"]) == set(sources.needs())
    assert set(record.accepted()) == set(record.read()["statements"]) == set(sources.theorems())
    for label, found in record.accepted().items():
        one = sources.theorems()[label]
        assert (found["file"], found["covers"], found["mistakes"]) == (
            one.file,
            "whole" if one.whole else "part",
            len(one.mistakes),
        )


def test_a_printed_statement_that_changes_loses_the_level(monkeypatch):
    label = next(iter(record.accepted()))
    changed = {
        name: {**one, "body": one["body"] + " never"} if name == label else one
        for name, one in statements().items()
    }
    monkeypatch.setattr(sources, "statements", lambda: changed)
    record.accepted.cache_clear()
    try:
        assert set(record.read()["statements"]) - set(record.accepted()) == {label}
    finally:
        record.accepted.cache_clear()


def test_the_ledger_says_machine_checked_of_what_the_record_does_and_of_nothing_else():
    entries = ledger.read(LEDGER)
    below = [{**entry, "support": command._below(entry)} for entry in entries]
    whole = {label for label, found in record.accepted().items() if record.is_machine_checked(found)}
    assert record.raised(below) == entries
    # A paper's violated statement may stay open although Coq has checked that, and where, it is violated.
    assert all(entry["support"] == "proved" for entry in below if entry["id"] in whole)


def test_every_formal_statement_is_one_of_the_book_and_covers_what_it_says():
    assert set(sources.theorems()) <= set(statements())
    for label, one in sources.theorems().items():
        assert one.whole or one.covers.startswith("a part:"), label


@pytest.mark.parametrize("label", sorted(sources.theorems()))
def test_no_number_of_a_formal_statement_goes_unread(label):
    """A number stands in the words for readers, or it is compared with the package."""
    one = sources.theorems()[label]
    told = re.findall(r"\d+(?:\.\d+)?", one.reads + " ".join(constant.formal for constant in one.constants))
    # Indices, exponents and the numbers 0, 1 and 2 speak for themselves.
    formal = re.sub(r"\^\s*\d+|%nat|\b[A-Za-z_]\w*", "", one.formal)
    unread = [
        number
        for number in re.findall(r"\d+(?:\.\d+)?", formal)
        if number not in "012" and number not in told
    ]
    assert not unread


CONSTANTS = [(one, constant) for one in sources.theorems().values() for constant in one.constants]


@pytest.mark.parametrize(
    ("one", "constant"), CONSTANTS, ids=lambda it: getattr(it, "label", getattr(it, "formal", ""))
)
def test_constants_are_those_of_the_package(one, constant):
    assert " ".join(constant.formal.split()) in " ".join(one.formal.split())
    value = formal_value(constant.formal)
    assert value == pytest.approx(float(package_value(constant.code)), rel=1e-12)


def formal_value(text: str) -> float:
    """The value of a number as Coq writes it."""
    python = re.sub(r"\bsqrt\s+(\d+)", r"sqrt(\1)", text).replace("^", "**")
    return eval(
        python, {"sqrt": math.sqrt, "exp": math.exp, "ln": math.log, "PI": math.pi, "Rmax": max, "Rmin": min}
    )


def package_value(code: str) -> object:
    """The value of an expression on the package, whose modules are imported as they are named."""
    names: dict = {"math": math}
    for dotted in re.findall(r"\b(?:shallowformer|companion)(?:\.\w+)+", code):
        parts = dotted.split(".")
        for length in range(len(parts), 0, -1):
            try:
                importlib.import_module(".".join(parts[:length]))
                break
            except ModuleNotFoundError:
                continue
        names[parts[0]] = importlib.import_module(parts[0])
    return eval(code, names)


@with_coq
@pytest.mark.parametrize("name", sorted({one.file for one in sources.theorems().values()}))
def test_no_proof_goes_through_with_a_mistake_in_its_statement(name):
    assert not record.unnoticed(name)


@with_coq
def test_coq_notices_what_is_planted_and_what_is_not_wrong(tmp_path, monkeypatch):
    text = PROOF.replace("    Mistake: without", "    Mistake: `<= 7` for `<= 2 * 3`\n    Mistake: `<= y` for `<= 2 * 3`\n    Mistake: without")  # fmt: skip
    monkeypatch.setattr(sources, "FOLDER", tmp_path)
    (tmp_path / "room").mkdir()
    (tmp_path / "room/chapter.v").write_text(text, encoding="utf-8")
    coq.compile_file("room/chapter.v", tmp_path / "built")
    one = theorem(text)
    rests = coq.assumptions([replace(one, file="room/chapter.v")], tmp_path / "built")
    assert set(coq.rests_on(rests)) == {"those of Coq's reals", "functions that agree everywhere are equal"}
    assert coq.unnoticed("room/chapter.v", [one], tmp_path / "built") == [
        "kr-lemma-1: `<= 7` for `<= 2 * 3`: Coq accepts it all the same",
        "kr-lemma-1: `<= y` for `<= 2 * 3`: no statement that Coq understands",
    ]


@with_coq
def test_a_proof_that_cannot_be_gone_through_again_is_told_of(tmp_path, monkeypatch):
    """Else all its mistakes would seem to be noticed."""
    monkeypatch.setattr(sources, "FOLDER", tmp_path)
    text = PROOF.replace("(** kr-lemma-1\n", "Local Ltac easily := unfold twice; lra.\n\n(** kr-lemma-1\n")
    (tmp_path / "chapter.v").write_text(text.replace("unfold twice. lra.", "easily."), encoding="utf-8")
    coq.compile_file("chapter.v", tmp_path / "built")
    one = theorem((tmp_path / "chapter.v").read_text(encoding="utf-8"))
    (line,) = coq.unnoticed("chapter.v", [one], tmp_path / "built")
    assert "its proof fails here without a mistake" in line


@with_coq
@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("<= 2 * 3.\n", "<= 5.\n", "chapter.v"),
        (
            "  intros x L H. unfold twice. lra.",
            "  apply wish.",
            "classical logic alone, got the axiom .*wish",
        ),
        ("  intros x L H. unfold twice. lra.", "  admit.", "chapter.v"),
    ],
)
def test_coq_refuses_a_false_statement_an_axiom_and_a_gap(tmp_path, monkeypatch, old, new, complaint):
    wish = "Axiom wish : forall x, 0 <= x -> x <= 3 -> twice x <= 2 * 3.\n\n(** kr-lemma-1\n"
    text = PROOF.replace(old, new).replace("(** kr-lemma-1\n", wish if "wish" in new else "(** kr-lemma-1\n")
    monkeypatch.setattr(sources, "FOLDER", tmp_path)
    (tmp_path / "chapter.v").write_text(text, encoding="utf-8")

    def accept() -> None:
        coq.compile_file("chapter.v", tmp_path / "built")
        coq.rests_on(coq.assumptions([replace(theorem(text), file="chapter.v")], tmp_path / "built"))

    with pytest.raises(coq.Refused, match=complaint):
        accept()


def test_where_coq_is_missing_the_command_says_so_and_the_level_stays(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(coq, "version", lambda: "")
    monkeypatch.setattr(record, "STATE", tmp_path / "state.json")
    monkeypatch.setattr("sys.argv", ["proofs"])
    assert command.main() == 0
    assert "No Coq" in capsys.readouterr().out
    assert not record.checked_here()
    assert "not checked in this build" in "".join(pages.counts()).lower()


def card(label: str) -> BeautifulSoup:
    soup = BeautifulSoup(
        f'<div class="verdict"><code>{label}</code> <span class="verdict-support">proved</span></div>',
        "html.parser",
    )
    pages.show_on_card(soup.code, lambda page: f"../{page}.html")
    return soup


def test_a_card_unfolds_the_formal_statement():
    label = next(label for label, found in record.accepted().items() if record.is_machine_checked(found))
    soup, one = card(label), sources.theorems()[label]
    assert soup.find(class_="verdict-support").get_text() == "machine-checked"
    fold = soup.select_one("details.formal")
    assert one.formal in fold.pre.get_text()
    assert "Covers" in fold.get_text()
    for link in fold.find_all("a"):
        assert link["href"].startswith("../book/machine_checked.html#defined-")


def test_other_cards_stay_as_they_are():
    assert not card("kr-theorem-9").select("details")


def test_a_part_does_not_raise_the_level():
    whole = {"covers": "whole", "rests on": ["those of Coq's reals"]}
    assert record.is_machine_checked(whole)
    assert not record.is_machine_checked({**whole, "covers": "part"})
    assert not record.is_machine_checked({**whole, "rests on": ["those of Coq's reals", coq.INTEGERS]})


def test_another_version_of_coq_that_fails_does_not_fail_the_build(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(record, "STATE", tmp_path / "state.json")
    monkeypatch.setattr(coq, "version", lambda: "99.0")
    monkeypatch.setattr(record, "check", lambda jobs: ({}, ["a line"]))
    monkeypatch.setattr("sys.argv", ["proofs"])
    assert command.main() == 0
    assert "not checked" in capsys.readouterr().out
    monkeypatch.setattr(coq, "version", lambda: record.read()["coq"])
    assert command.main() == 1


def test_differences_name_what_departs():
    kept = {"files": {"a.v": "1"}, "statements": {"kr-fact-1": {"covers": "whole"}}}
    fresh = {"files": {"a.v": "2", "b.v": "1"}, "statements": {}}
    assert record.differences(fresh, kept) == [
        "b.v: checked, but not in the record",
        "a.v: is 2, the record says 1",
        "kr-fact-1: in the record, but not checked",
    ]
    assert not record.differences(kept, kept)


def test_indices_in_words_are_lowered_and_code_stays():
    assert pages.prose("S_nXW_V, corr_t and min_{s<τ} of `a_b`") == (
        "S<sub>n</sub>XW<sub>V</sub>, corr<sub>t</sub> and min<sub>s&lt;τ</sub> of <code>a_b</code>"
    )
    told = [text for one in sources.theorems().values() for text in (one.reads, one.covers)]
    assert [text for text in told if "_" in re.sub(r"<code>.*?</code>", "", pages.prose(text))] == []
