"""What cells say stands where prose refers to it, and prose has no digit that someone typed."""

import re

import pytest
from built import SITE

from bookext import digits, said
from bookext.chapters import ROOT, docname, pages
from bookext.markup import MarkupError

KEPT = {
    "book/room/one": {"gain": [[0.444, "44 %"]], "few": [[1.0, "1"], [2.0, "2"], [3.0, "3"]]},
    "book/two": {"small": [[-2e-7, "−2·10⁻⁷"]]},
}


@pytest.fixture
def kept(monkeypatch):
    monkeypatch.setattr(said, "_kept", lambda: KEPT)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("It is {{ gain }}.", "It is 44 %."),
        ("{{ few }}; {{ few[1] }}", "1, 2 and 3; 2"),
        ("$x={{ two.small|tex }}$", r"$x=-2\cdot 10^{-7}$"),
        ("${{ gain|tex }}$", r"$44\,\%$"),
        (r"$\frac{{x}}{{y}}$", r"$\frac{{x}}{{y}}$"),
    ],
)
def test_a_reference_is_replaced(kept, source, text):
    assert said.filled(source, "book/room/one_supplement") == text


@pytest.mark.parametrize("reference", ["{{ lost }}", "{{ few[3] }}", "{{ two.gain }}", "{{ three.gain }}"])
def test_a_reference_to_nothing_is_refused(kept, reference):
    with pytest.raises(MarkupError, match=r"book/room/one: \{\{ .* says no such number"):
        said.filled(reference, "book/room/one")


def test_another_number_is_a_difference_and_another_rounding_is_none():
    other = lambda number, text: {"book/two": {"small": [[number, text]]}}
    assert said.differences(other(1.0004, "1.00"), other(1.0, "0.99")) == []
    assert said.differences(other(1.03, "1.0"), other(1.0, "1.0")) == []
    assert said.differences(other(1.03, "1.03"), other(1.0, "1.00")) == [
        "book/two: small is 1.03, kept is 1.00"
    ]
    assert said.differences({}, other(1.0, "1.0")) == ["book/two: small is not said, kept is 1.0"]


def test_what_is_kept_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(said, "SAID", tmp_path / "said.json")
    assert said.read() == {}
    said.write(KEPT)
    assert said.read() == KEPT


def test_no_digit_is_typed():
    assert {docname(page): found for page in pages() if (found := digits.typed(page))} == {}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("It falls to 0.37 in 12 % of runs, below $10^{-7}$ and 3e-5.", ["0.37", "12 %", "10^{-7}", "3e-5"]),
        ("By Theorem 2.1 of {cite:t}`arda2026`, Section 3.2.", []),
        ("It falls to {{ low }} with 0.5 for a step, and 0.99.", ["0.99"]),
        ("$$\nx = 0.37\n$$", []),
        ("% typed 0.37: Table 2 of the paper\n\nIt falls to 0.37, and to 0.38.", ["0.38"]),
        (":::{prf:lemma} Words\nAt most 0.37.\n:::", []),
        (":::{note}\nAt most 0.37.\n:::", ["0.37"]),
    ],
)
def test_typed_digits_are_found(tmp_path, monkeypatch, line, found):
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{line}\n", encoding="utf-8")
    monkeypatch.setattr(digits, "docname", lambda path: "page")
    monkeypatch.setattr(digits, "_settings", lambda name: {0.5})
    assert [number for number, _ in digits.typed(page)] == found


def test_every_number_that_is_kept_is_referred_to():
    referred = {
        (f"book/{there}" if there else said.chapter_of(docname(page)), name)
        for page in pages()
        for there, name, *_ in said.REFERENCE.findall(page.read_text(encoding="utf-8"))
    }
    assert {(chapter, name) for chapter, names in said.read().items() for name in names} == referred


def test_no_reference_is_left_on_a_page():
    left = re.compile(r"\{\{ [\w/.]+(\[\d+\])?(\|tex)? \}\}")
    assert [page.name for page in SITE.rglob("*.html") if left.search(page.read_text("utf-8"))] == []
    assert [docname(page) for page in pages() if re.search(r"(?m)^#.*\{\{ ", page.read_text("utf-8"))] == []
    assert (ROOT / "results" / "said.json").exists()
