"""The scoreboard's style sheet and script, on a page of their own: the row that sorts keeps its distance from the first card."""

import pytest
from browsing import DESKTOP, PHONE, visiting

from bookext.chapters import ROOT

read = lambda name: (ROOT / "book/_static" / name).read_text(encoding="utf-8")
ROW = '<tr><td><a href="#">{0}</a></td><td data-name="kind:">bound</td><td data-name="would notice:"><span class="rank-{1}">{2}</span></td></tr>'
ROWS = "".join(
    ROW.format(*row) for row in (("Block by block", 2, "16,000"), ("Fact 1: softmax", 0, "1"), ("A", 1, "2"))
)
PAGE = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>T</title>
<style>* {{ box-sizing: border-box }} body {{ margin: 16px; font: 16px sans-serif }} table {{ border-collapse: collapse }}</style>
<style>{read("book.css")}</style><style>{read("results.css")}</style>
<table class="scoreboard as-cards"><thead><tr><th>statement</th><th>kind</th><th>would notice</th></tr></thead><tbody>{ROWS}</tbody></table>
<script>{read("scoreboard.js")}</script></html>"""

GAPS = """() => {
  const box = (part) => document.querySelector(part).getBoundingClientRect();
  const [first, second] = [box("tbody tr"), box("tbody tr:nth-child(2)")];
  return [first.top - box("thead").bottom, second.top - first.bottom];
}"""


@pytest.fixture
def shown(browser, tmp_path):
    """What an expression says of the page in a window of some size."""
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")

    def show(viewport, ask):
        with visiting(browser, viewport=viewport) as context:
            tab = context.new_page()
            tab.goto((tmp_path / "page.html").as_uri())
            return tab.evaluate(ask)

    return show


def test_on_a_phone_the_row_that_sorts_is_as_far_from_the_first_card_as_cards_are_from_one_another(shown):
    above, between = shown(PHONE, GAPS)
    assert between > 8
    assert above >= between


def test_on_a_large_window_rows_touch(shown):
    assert shown(DESKTOP, GAPS) == pytest.approx([0, 0], abs=1)


def test_the_statements_whose_checks_see_least_come_first(shown):
    names = "() => [...document.querySelectorAll('tbody a')].map(link => link.textContent)"
    assert shown(DESKTOP, names) == ["Block by block", "A", "Fact 1: softmax"]
