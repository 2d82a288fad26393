"""A sheet shows every statement of its part in full, as it stands on its page, with links that lead somewhere."""

from copy import copy

import pytest
from built import SITE, file, ids, parsed, text

from bookext.chapters import ROOT
from bookext.results import of_the_book

PARTS = sorted(page.stem for page in (ROOT / "book/statements").glob("*.md"))


def sheet(part: str):
    return parsed(file(f"book/statements/{part}"))


@pytest.mark.parametrize("part", PARTS)
def test_a_sheet_shows_every_statement_in_order_and_whole(part):
    mine = [result for result in of_the_book().values() if result.page.split("/")[1:-1] == [part]]
    shown = sheet(part).select(".statement-sheet .proof")
    assert [foot.code.get_text() for foot in sheet(part).select(".sheet-foot")] == [one.label for one in mine]
    assert len(shown) == len(mine)
    own = copy(parsed(file(mine[-1].page)).find(id=mine[-1].label))
    for link in own.select("a.headerlink"):
        link.decompose()
    assert shown[-1].get_text() == own.get_text()


@pytest.mark.parametrize("part", PARTS)
def test_links_of_a_sheet_lead_somewhere_and_no_id_stands_there_twice(part):
    soup = sheet(part)
    names = [element["id"] for element in soup.find_all(id=True)]
    assert len(names) == len(set(names))
    for link in soup.select(".statement-sheet a[href]"):
        if link["href"].startswith("https://arxiv.org/"):  # below a statement of a paper
            continue
        target, _, anchor = link["href"].partition("#")
        page = (SITE / "book/statements" / target).resolve()
        assert page.is_file(), link["href"]
        if anchor.startswith("focus="):
            assert f'data-statement="{anchor[6:].partition("&")[0]}"' in text(page), link["href"]
        else:
            assert not anchor or anchor in ids(page), link["href"]


def test_every_part_with_statements_has_a_sheet():
    parts = {result.page.split("/")[1] for result in of_the_book().values() if result.page.count("/") > 1}
    assert parts == set(PARTS)
