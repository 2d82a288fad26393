"""Printouts and hidden code: one box for what is printed in a row, one bar for hidden cells in a row, and nothing is lost."""

import pytest
from bs4 import BeautifulSoup
from built import BOOK_PAGES, file, parsed

from bookext import listings

#: Characters of the longest line that a cell may print.
LONGEST = 80

PRINTED = '<div class="output stream highlight-myst-ansi"><div class="highlight"><pre><span></span>{}\n</pre></div></div>'


def cell(code, output="", classes="", hidden=True):
    inside = f'<div class="cell_input"><pre>{code}</pre></div>'
    if hidden:
        inside = (
            f'<details class="admonition hide above-input"><summary>Show the code</summary>{inside}</details>'
        )
    shown = f'<div class="cell_output">{output}</div>' if output else ""
    return f'<div class="cell {classes}">{inside}{shown}</div>'


def done(html, what):
    soup = BeautifulSoup(f"<section>{html}</section>", "html.parser")
    what(soup)
    return soup


def test_lines_in_a_row_stand_in_one_box_and_a_figure_parts_them():
    lines = [PRINTED.format(word) for word in ("a", "b", "c", "d")]
    soup = done(
        cell("x", f"{lines[0]}\n{lines[1]}<figure></figure>{lines[2]}\n{lines[3]}"), listings.join_printouts
    )
    assert [pre.get_text() for pre in soup.select(".cell_output pre")] == ["a\nb\n", "c\nd\n"]


def test_printouts_of_two_cells_and_of_two_kinds_stay_apart():
    error = PRINTED.replace("stream", "stream stderr").format("w")
    html = cell("x", PRINTED.format("a")) + cell("y", PRINTED.format("b") + error)
    assert len(done(html, listings.join_printouts).select("pre")) == 5


def test_hidden_cells_in_a_row_have_one_bar_with_their_code_in_order():
    soup = done(
        cell("import") + cell("helper") + cell("plot", "<figure></figure>"), listings.join_hidden_cells
    )
    (bar,) = soup.select("details")
    assert [code.get_text() for code in bar.select(".cell_input")] == ["import", "helper", "plot"]
    assert [piece.name for piece in bar.parent.find_all(recursive=False)] == ["details", "div"]
    assert soup.find(class_="shows-nothing") is None


def test_open_code_solutions_and_output_part_them():
    hidden = cell("import")
    for other in (cell("open", hidden=False), cell("solution", classes="tag_solution"), "<p>text</p>", ""):
        soup = done(hidden + other, listings.join_hidden_cells)
        assert len(soup.select(".shows-nothing")) == 1
        assert soup.select_one(".shows-nothing pre").get_text() == "import"
    soup = done(
        cell("table", PRINTED.format("a")) + cell("plot", "<figure></figure>"), listings.join_hidden_cells
    )
    assert len(soup.select("details")) == 2
    assert soup.find(class_="shows-nothing") is None


@pytest.mark.parametrize("page", BOOK_PAGES)
def test_no_printed_line_is_longer_than_a_terminal_s(site, page):
    printed = parsed(file(page)).select(".output.stream pre")
    assert [line for pre in printed for line in pre.get_text().splitlines() if len(line) > LONGEST] == []


def test_chapters_print():
    assert sum(len(parsed(file(page)).select(".output.stream pre")) for page in BOOK_PAGES) > 100
