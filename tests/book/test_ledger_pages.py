"""What the errata page and the scoreboard say of whose a statement is, and how they set names and findings."""

import re

import pytest

from bookext.chapters import LEDGER, ROOT, statements
from bookext.ledger_pages import (
    DECLARED,
    FAILS,
    Scoreboard,
    _blindness,
    _credit,
    _further,
    declared,
    errata,
    short,
)
from shallowformer.verify import ledger
from shallowformer.verify.power import Power
from shallowformer.verify.verdict import VERDICTS

#: What the errata page lists, one after the other: verdicts, and folders of parts.
LISTS = re.findall(
    r"^```\{errata\} (.+)$", (ROOT / "book/errata.md").read_text(encoding="utf-8"), re.MULTILINE
)


def listed(entries):
    """Every line of the errata page that the ledger gives."""
    return [line for which in LISTS for line in errata(which, entries, statements())]


@pytest.mark.parametrize(
    ("label", "number", "variant", "credit"),
    [
        (
            "kr-lemma-5-sharp",
            "Lemma 5",
            "sharp",
            " (sharpens or adds to {prf:ref}`Lemma 5 <kr-lemma-5>` of {cite:t}`arda2026`)",
        ),
        (
            "kr-theorem-d-paired",
            "Theorem D",
            "paired",
            " (sharpens or adds to {prf:ref}`Theorem D <kr-theorem-d>`)",
        ),
        (
            "pa-theorem-s-aligned",
            "Theorem S",
            "aligned",
            " (sharpens or adds to {prf:ref}`Almost every start reaches the optimum <pa-theorem-s>`)",
        ),
        ("kr-theorem-d", "Theorem D", "", " (this book)"),
        ("rt-remark-e-targets", "Remark E", "targets", " (this book)"),
        ("kr-lemma-99-sharp", "Lemma 99", "sharp", " (sharpens or adds to Lemma 99 of {cite:t}`arda2026`)"),
    ],
)
def test_a_variant_leads_to_what_it_is_a_variant_of(label, number, variant, credit):
    entry = {"id": label, "origin": "book", "paper": "arda2026", "number": number, "variant": variant}
    assert _credit(entry, statements()) == credit


def test_no_lettered_statement_is_credited_to_a_paper_or_named_by_a_letter_that_stands_on_no_box():
    lines = listed(ledger.read(LEDGER))
    assert any("`Theorem A <kr-theorem-a>`)" in line for line in lines)
    assert not any(re.search(r" [A-Z]>?`? of \{cite:t\}", line) for line in lines)
    titles = statements()
    for label, words in ((m[2], m[1]) for line in lines for m in re.finditer(r"`([^`<]+) <([\w-]+)>`", line)):
        if re.fullmatch(r"\w+ [A-Z]", words):
            assert titles[label]["title"].startswith(words), label


def test_the_errata_page_says_nothing_twice():
    entries = listed(ledger.read(LEDGER))
    assert len(entries) == len(set(entries))


def test_the_errata_page_lists_every_finding_under_a_heading_of_its_own():
    found = {
        (entry["id"], check["finding"])
        for entry in ledger.read(LEDGER)
        for check in (entry, *entry["parts"])
        if check["finding"]
    }
    entries = listed(ledger.read(LEDGER))
    assert all(line.startswith("- ") for line in entries)
    assert len(entries) == len(found)
    text = (ROOT / "book/errata.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^##+ .+\n\n(?:[A-Z].+\n\n)?```\{errata\}", text, re.MULTILINE)) == len(LISTS)
    assert LISTS[: len(DECLARED)] == list(DECLARED)


#: Papers whose formulas were read; of others whose words were, an erratum quotes words.
READ, WORDS = {"arda2026"}, {"qin2025"}


def test_an_erratum_is_declared_with_place_and_words_and_a_paper_that_was_not_read_has_none():
    entries = ledger.read(LEDGER)
    checks = {check["id"]: (entry["paper"], check) for entry in entries for check in (entry, *entry["parts"])}
    for claim, said in declared().items():
        paper, check = checks[claim]
        assert check["verdict"] in FAILS
        assert check["finding"]
        assert said.where
        assert bool(said.says) == bool(said.holds) != bool(said.reads)
        assert len(said.says.split()) <= 25
        if said.says:
            assert paper in READ | WORDS
            assert paper in READ or "$" not in said.says
        else:
            assert paper not in READ
    charged = [line for which in DECLARED for line in errata(which, entries, statements())]
    assert len(charged) == len(declared()) < sum(c["verdict"] in FAILS for _, c in checks.values())
    assert sum("*What holds:*" in line for line in charged) == sum(bool(s.says) for s in declared().values())


def test_what_stands_under_one_heading_of_the_errata_has_names_of_its_own():
    titles = statements()
    for which in LISTS:
        labels = dict.fromkeys(re.findall(r"^- \{prf:ref\}`([^`<]+) <([\w-]+)>`", "\n".join(errata(which, ledger.read(LEDGER), titles)), re.M))  # fmt: skip
        names = [name for name, _ in labels]
        assert which in DECLARED or len(names) == len(set(names)), which


def test_two_findings_of_one_statement_both_stand():
    entry = next(entry for entry in ledger.read(LEDGER) if entry["finding"])
    same = {**entry, "parts": [{**entry, "parts": []}]}
    other = {**entry, "parts": [{**entry, "finding": "Something else."}]}
    count = lambda one: sum(line.startswith("- ") for line in listed([one]))
    assert (count(same), count(other)) == (1, 2)


def test_findings_are_set_on_the_errata_page():
    text = re.sub(r"\$[^$]*\$", "", "\n".join(listed(ledger.read(LEDGER))))
    for words in ("K<sub>m</sub>", "m<sup>−1/2</sup>", "ν̄<sub>w</sub>", "|w|<sup>T</sup>", "|w| &lt; 1"):
        assert words in text
    assert not re.search(r"\w\^|[\w̄]_\w|{su[bp]}", text)


def test_every_verdict_is_explained_before_the_table():
    before = (ROOT / "book/scoreboard.md").read_text(encoding="utf-8").partition("```{scoreboard}")[0]
    explained = set(re.findall(r"^- \[[^]]+\]{\.verdict-badge \.is-([\w-]+)} .", before, re.MULTILINE))
    assert explained >= {word.replace(" ", "-") for word in (*VERDICTS, "sharpened")}
    assert "*Would notice*" in before


_FACTOR = r"by a factor above ([\d,]+)[^|]*\.rank-(\d+)"


def test_a_bound_that_notices_a_constant_many_times_smaller_only_ranks_among_those_that_see_least():
    powers = [
        Power("constant", 0.05, side="smaller"),
        Power("exponent", 0.3, side="smaller"),
        Power("level", 17.0, side="larger"),
        Power("constant", 0.9999, side="smaller"),
        Power("constant", 1.0, side="smaller"),
    ]
    assert sorted(powers, key=_blindness) == powers
    text = "\n".join(Scoreboard.markdown(None, ledger.read(LEDGER), statements()))
    ranked = sorted((int(rank), int(n.replace(",", ""))) for n, rank in re.findall(_FACTOR, text))
    assert len(ranked) > 5
    assert [n for _, n in ranked] == sorted(n for _, n in ranked)


def test_no_name_on_the_scoreboard_ends_in_a_colon_with_nothing_behind():
    rows = [row for row in Scoreboard.markdown(None, ledger.read(LEDGER), statements()) if "{prf:ref}" in row]
    assert not [row for row in rows if re.search(r":\s*\|", row)]
    assert any(">`: " in row for row in rows)
    assert any(">` | " in row for row in rows)


@pytest.mark.parametrize(
    ("value", "digits", "words"),
    [(0, 1, "0"), (1.0, 1, "1"), (12.0, 1, "10"), (0.0166, 1, "0.02"), (1e-7, 1, "10⁻⁷"), (3.2e-16, 1, "3·10⁻¹⁶"),
     (9.7e-8, 1, "10⁻⁷"), (0.0037, 2, "0.0037"), (4.1e-5, 2, "4.1·10⁻⁵"), (1e-4, 2, "10⁻⁴")],
)  # fmt: skip
def test_small_numbers_are_written_as_powers_of_ten(value, digits, words):
    assert short(value, digits) == words


def test_the_scoreboard_writes_no_number_with_an_e():
    text = "\n".join(Scoreboard.markdown(None, ledger.read(LEDGER), statements()))
    assert not re.search(r"\de[-−+]\d", text)
    assert "(tolerance 10⁻¹¹)" in text


def test_many_further_checks_are_counted_and_named_apart():
    checks = lambda *headlines: [{"id": f"kr-lemma-2/p{k}", "headline": h} for k, h in enumerate(headlines)]
    assert _further([]) == ""
    assert _further(checks("tight", "loose ×2")) == "; *p0* tight; *p1* loose ×2"
    assert _further(checks("holds", "holds", "holds")) == (
        " [and 3 more checks, all hold]{.further-checks}[*p0* holds; *p1* holds; *p2* holds]{.their-names}"
    )
    assert "[and 3 more checks: loose (2), tight (1)]" in _further(checks("tight", "loose ×2", "loose ×3"))
