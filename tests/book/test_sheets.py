"""A sheet shows every statement of its part in full, as it stands on its page, with links that lead somewhere."""

import pytest
from bs4 import BeautifulSoup

from bookext.chapters import ROOT
from bookext.results import of_the_book

SITE = ROOT / "_build/html"
PARTS = sorted(page.stem for page in (ROOT / "book/statements").glob("*.md"))


def sheet(part: str) -> BeautifulSoup:
    return BeautifulSoup((SITE / f"book/statements/{part}.html").read_text(encoding="utf-8"), "html.parser")


@pytest.mark.parametrize("part", PARTS)
def test_a_sheet_shows_every_statement_in_order_and_whole(part):
    mine = [result for result in of_the_book().values() if result.page.split("/")[1:-1] == [part]]
    shown = sheet(part).select(".statement-sheet .proof")
    assert [foot.code.get_text() for foot in sheet(part).select(".sheet-foot")] == [one.label for one in mine]
    assert len(shown) == len(mine)
    result, copy = mine[-1], shown[-1]
    page = BeautifulSoup((SITE / f"{result.page}.html").read_text(encoding="utf-8"), "html.parser")
    own = page.find(id=result.label)
    for link in own.select("a.headerlink"):
        link.decompose()
    assert copy.get_text() == own.get_text()


@pytest.mark.parametrize("part", PARTS)
def test_links_of_a_sheet_lead_somewhere_and_no_id_stands_there_twice(part):
    soup = sheet(part)
    ids = [element["id"] for element in soup.find_all(id=True)]
    assert len(ids) == len(set(ids))
    for link in soup.select(".statement-sheet a[href]"):
        if link["href"].startswith("https://arxiv.org/"):  # below a statement of a paper
            continue
        target, _, anchor = link["href"].partition("#")
        page = (SITE / "book/statements" / target).resolve()
        assert page.is_file(), link["href"]
        shown = (
            f'data-statement="{anchor[6:].partition("&")[0]}"'
            if anchor.startswith("focus=")
            else f'id="{anchor}"'
        )
        assert not anchor or shown in page.read_text(encoding="utf-8"), link["href"]


def test_every_part_with_statements_has_a_sheet():
    parts = {result.page.split("/")[1] for result in of_the_book().values() if result.page.count("/") > 1}
    assert parts == set(PARTS)
