"""What a page folds: checks under a line that says what came out; nothing else."""

from bs4 import BeautifulSoup

from bookext import folds
from bookext.chapters import LEDGER
from bookext.folds import REFUTED
from shallowformer.verify import ledger
from shallowformer.verify.verdict import IN_WORDS


def card(
    claim="kr-fact-1", verdict="tight", mark="✓", says=None, notices="would notice a constant smaller by 1 %"
):
    return (
        f'<div class="verdict" data-verdict="{verdict}"><span class="verdict-mark">{mark}</span>'
        f'<span class="verdict-says">{says or IN_WORDS[verdict]}</span><code>{claim}</code>'
        f"<details><summary>Measured; {notices}</summary></details></div>"
    )


def cell(inside="", classes=""):
    return f'<div class="cell {classes}">{inside}</div>'


def folded(html, fold=folds.fold_checks):
    soup = BeautifulSoup(f"<section>{html}</section>", "html.parser")
    fold(soup)
    return soup


def test_helpers_and_checks_fold_with_the_paragraph_that_announces_them():
    soup = folded(
        f"<p>Before.</p><p><strong>Check.</strong> How.</p>{cell('helper')}{cell(card())}<p>After.</p>"
    )
    box = soup.find("details", class_="checks")
    assert [piece.name for piece in box.find_all(recursive=False)] == ["summary", "p", "div", "div"]
    assert [p.get_text() for p in soup.section.find_all("p", recursive=False)] == ["Before.", "After."]
    assert box.summary.get_text() == "✓ 1 check: tight; would notice a constant smaller by 1 %"


def test_hidden_helpers_before_the_announcement_fold_too_and_open_ones_and_tables_stay():
    check = f"<p><strong>Check.</strong> How.</p>{cell(card())}"
    hidden, table = cell("helper", "tag_hide-input"), '<div class="cell_output">m = 8: 0.3</div>'
    assert len(folded(hidden + hidden + check).find("details", class_="checks").select(".cell")) == 3
    for stays in (cell("helper"), cell(table, "tag_hide-input")):
        assert len(folded(stays + check).find("details", class_="checks").select(".cell")) == 1


def test_the_line_counts_verdicts_says_what_is_refuted_and_what_was_found():
    cards = card() + card("kr-fact-2") + card("kr-fact-3", "violated", "✗", "It is <em>false</em> at T = 1.")
    line = folded(cell(cards)).find("summary")
    assert line.get_text().startswith("✗ 3 checks: tight ×2, violated; the first would notice a constant ")
    assert "is-refuted" in line.find(class_="verdict-mark")["class"]
    assert line.find(class_="checks-found").get_text() == "It is false at T = 1."


def test_a_remark_that_is_refuted_as_expected_does_not_mark_a_true_statement():
    aside = card("kr-theorem-a-step/condition", "violated", "✗")
    line = folded(cell(card("kr-theorem-a-step") + card("kr-theorem-a-step/formula") + aside)).find("summary")
    assert line.get_text().startswith(
        "✓ 3 checks: tight ×2; the first would notice a constant smaller by 1 %"
    )
    assert "is-refuted" not in line.find(class_="verdict-mark")["class"]
    remark = line.find(class_="checks-found")
    assert remark.get_text() == "✗ refuted, as the text says: part 2 without its condition on τ"
    assert "is-refuted" in remark.find(class_="verdict-mark")["class"]


def test_a_remark_says_what_its_check_found():
    found = "The display carries 1/m twice."
    line = folded(cell(card("kr-lemma-4") + card("kr-lemma-4/printed", "violated", "✗", found))).find(
        "summary"
    )
    assert line.find(class_="checks-found").get_text() == f"✗ refuted, as the text says. Found: {found}"


def test_the_line_keeps_what_a_card_raises_and_lowers():
    raised = "falls like m<sup>−1/2</sup>, not λ<sub>max</sub> &lt; 1"
    cards = card("kr-lemma-4", says=raised) + card("kr-lemma-4/printed", "violated", "✗", raised)
    found = folded(cell(cards)).select("summary .checks-found")
    assert found[0].decode_contents() == raised
    assert found[1].decode_contents().endswith(f" refuted, as the text says. Found: {raised}")


def test_a_part_of_a_refuted_statement_and_a_check_that_fails_mark_the_line():
    refuted = cell(card("kr-lemma-5", "violated", "✗") + card("kr-lemma-5/wide", "violated", "✗"))
    failed = card("kr-theorem-a-step/condition", "violated", "✗").replace(
        '"verdict"', '"verdict verdict-failed"'
    )
    for html in (refuted, cell(card("kr-theorem-a-step") + failed)):
        assert "is-refuted" in folded(html).find("summary").find(class_="verdict-mark")["class"]


def test_every_remark_that_a_check_refutes_is_in_words():
    true = (entry for entry in ledger.read(LEDGER) if entry["verdict"] not in ("violated", "not implied"))
    parts = (part for entry in true for part in entry["parts"])
    assert set(REFUTED) == {p["id"] for p in parts if p["verdict"] == "violated" and not p["finding"]}


def test_figures_other_cells_and_a_readers_own_checks_stay():
    figure, plain = cell("<figure></figure>"), cell("print")
    soup = folded(figure + cell(card()) + plain + cell(card("my-claim")))
    outside = soup.section.find_all(recursive=False)
    assert [piece.name for piece in outside] == ["div", "details", "div", "div"]
    assert len(soup.find_all("details", class_="checks")) == 1


def test_a_table_before_the_checks_stays_in_sight():
    table = cell('<div class="cell_output">m = 8: 0.3</div>')
    soup = folded(table + cell("helper") + cell(card()))
    assert [piece.name for piece in soup.section.find_all(recursive=False)] == ["div", "details"]
    assert soup.section.find("div", recursive=False).get_text() == "m = 8: 0.3"


def test_a_solution_with_a_check_is_not_folded_again():
    assert folded(cell(card(), "tag_solution")).find("details", class_="checks") is None


def test_on_the_scoreboard_the_names_of_many_checks_fold_below_their_number():
    counted = (
        '<span class="further-checks">and 3 more</span><span class="their-names"><em>a</em> holds</span>'
    )
    soup = folded(f"<p>ratio 0.5 {counted}</p>", folds.fold_names)
    assert [piece.name for piece in soup.section.find_all(recursive=False)] == ["p", "details"]
    assert soup.p.get_text() == "ratio 0.5 "
    assert soup.details["class"] == ["checks"]
    assert [piece.get_text() for piece in soup.details] == ["and 3 more", "a holds"]
