"""Sheets: all statements of a part in full on one page, taken from the written pages when these are done."""

import re
from html import escape
from pathlib import Path
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from bookext.results import of_the_book

#: What a sheet is written between; a page that is not written anew keeps its marks.
_SHEET = re.compile(
    r'(<div class="statement-sheet" data-part="([\w-]+)">).*?(</div><!-- end of sheet -->)', re.DOTALL
)


class StatementSheet(SphinxDirective):
    """Holds the place of the statements of a part, which is named by its folder."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Hold the place. Returns: a node to be filled by ``fill``."""
        place = f'<div class="statement-sheet" data-part="{escape(self.arguments[0])}"></div><!-- end of sheet -->'
        return [nodes.raw("", place, format="html")]


def fill(app: Sphinx, exception: Exception | None) -> None:
    """Handle Sphinx's ``build-finished``: fill every sheet."""
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for page in sorted(site.glob("book/statements/*.html")):
        text = page.read_text(encoding="utf-8")
        here = page.relative_to(site).as_posix()
        for place in _SHEET.finditer(text):
            filled = f"{place[1]}{sheet(app, site, place[2], here)}{place[3]}"
            page.write_text(text.replace(place[0], filled), encoding="utf-8")


def sheet(app: Sphinx, site: Path, part: str, here: str) -> str:
    """The statements of a part, chapter by chapter, as they stand on their pages. Returns: HTML, with links as from ``here``."""
    mine = [result for result in of_the_book().values() if result.page.split("/")[1:-1] == [part]]
    pieces, soups = [], {}
    for chapter in dict.fromkeys(result.chapter for result in mine):
        title = escape(app.env.titles[chapter].astext())
        pieces.append(
            f'<h3><a class="reference internal" href="{_from(here, f"{chapter}.html")}">{title}</a></h3>'
        )
        for result in (result for result in mine if result.chapter == chapter):
            page = f"{result.page}.html"
            if page not in soups:
                soups[page] = BeautifulSoup((site / page).read_text(encoding="utf-8"), "html.parser")
            pieces.append(_moved(soups[page].find(id=result.label), page, here))
            rests = f"The statement is {result.support}" if result.support else "Not checked"
            pieces.append(
                f'<p class="sheet-foot"><code>{result.label}</code> · {rests} · '
                f'<a class="reference internal" href="{_from(here, page)}#{result.label}">on its page</a></p>'
            )
    return "\n".join(pieces)


def _moved(statement: Tag, page: str, here: str) -> str:
    """A statement for another page: without ids, its links leading where they led."""
    for link in statement.select("a.headerlink"):
        link.decompose()
    for element in [statement, *statement.find_all(True)]:
        del element["id"]
        if element.name == "a" and "href" in element.attrs:
            element["href"] = _from(here, urljoin(page, element["href"]))
        if element.name in ("img", "object"):
            element.decompose()
    return str(statement)


def _from(here: str, there: str) -> str:
    """An address of the site as a link from one of its pages; one elsewhere stays."""
    return there if "://" in there else "../" * here.count("/") + there
