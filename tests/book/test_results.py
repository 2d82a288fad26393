"""What readers are told of a statement: its name, its verdict, its badges, in colours that can be read."""

import re

import pytest

from bookext.badges import badges
from bookext.chapters import LEDGER, ROOT, statements
from bookext.results import name, of_the_book, plain, results, topic, whose
from shallowformer.verify import ledger
from shallowformer.verify.verdict import SUPPORT, VERDICTS

STYLE = (ROOT / "book/_static/results.css").read_text(encoding="utf-8")
COLOURS = dict(re.findall(r"^\.is-([\w-]+) \{ --verdict: (#[0-9a-f]{6}); \}$", STYLE, re.MULTILINE))


def test_every_statement_of_the_book_has_a_name_and_the_verdict_of_the_ledger():
    found = of_the_book()
    assert list(found) == list(statements())
    assert all(r.name for r in found.values())
    assert {r.label: r.headline for r in found.values() if r.headline} == {
        entry["id"]: entry["headline"] for entry in ledger.read(LEDGER)
    }


def test_names_and_topics():
    assert name("kr-remark-4", "Remark 4: a ceiling {cite:p}`arda2026`") == "Remark 4"
    assert name("kr-remark-4-attained", "Attained ceilings: the same (this book)") == "Attained ceilings"
    assert name("kr-theorem-1-features", "Display (38): how much {cite:p}`arda2026`") == "Display (38)"
    assert name("my-claim", "A finite step: of attention") == "A finite step"
    assert topic("Fact 3: mean and spread (known on a line)") == "mean and spread"
    assert topic("Fact 1: the softmax Jacobian {cite:p}`arda2026`") == "the softmax Jacobian"
    assert whose("Fact 3: mean and spread (known on a line)") == "known on a line"
    assert whose("Display (38): how much {cite:p}`arda2026`") == ""
    assert plain(r"at most $\log m$, *not* `m`") == "at most log m, not m"
    assert plain("the loss tends to L* above 0") == "the loss tends to L* above 0"


def test_badges_lead_to_the_check_and_to_the_sharper_form():
    titles = {
        label: {"kind": "lemma", "title": "Lemma 2: x", "page": "p"}
        for label in ("kr-lemma-2", "kr-lemma-2-sharp")
    }
    entries = [
        {"id": "kr-lemma-2", "headline": "loose ×2", "support": "proved"},
        {"id": "kr-lemma-2-sharp", "headline": "tight", "support": "numerical"},
    ]
    found = badges(results(titles, entries))
    assert [(b.word, b.style, b.anchor) for b in found["kr-lemma-2"]] == [
        ("loose ×2", "is-loose", "check-kr-lemma-2"),
        ("sharpened", "is-sharpened", "kr-lemma-2-sharp"),
    ]
    assert [b.word for b in found["kr-lemma-2-sharp"]] == ["tight", "numerical"]
    unproved = [{"id": "kr-lemma-2", "headline": "tight", "support": support} for support in SUPPORT]
    assert [len(badges(results(titles, [entry]))["kr-lemma-2"]) for entry in unproved] == [2, 3, 3]


def test_every_word_has_a_colour():
    assert set(COLOURS) == {
        *(word.replace(" ", "-") for word in VERDICTS),
        "sharpened",
        "open",
        "unchecked",
        "machine-checked",
    }


@pytest.mark.parametrize("word", COLOURS)
def test_white_is_legible_on_a_colour(word):
    channels = [int(COLOURS[word][k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    assert 1.05 / (luminance + 0.05) >= 4.5
