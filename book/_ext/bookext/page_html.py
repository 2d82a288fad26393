"""The HTML of a page's text: parsed once, handed element by element to whoever has something to do there, written once."""

import re
from functools import cache, partial
from pathlib import Path

from bs4 import BeautifulSoup
from sphinx.application import Sphinx

from bookext import (
    badges,
    fitting,
    folds,
    hypotheses,
    listings,
    map_of_results,
    previews,
    provenance,
    repairs,
    symbols,
)
from bookext.chapters import ROOT, chapter_of, chapters, docname
from bookext.proofs import pages as formal
from bookext.results import of_the_book

#: Listings and maps; neither can hold another.
_OPAQUE = re.compile(
    r"(?P<opening><pre\b[^>]*>|<svg\b[^>]*\bmap-picture\b[^>]*>)(?P<inside>.*?)(?P<closing></(?:pre|svg)>)",
    re.DOTALL,
)
#: A character that no text has.
_MARK = "\ue000"


def finish_page(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: object) -> None:
    """Handle Sphinx's ``html-page-context``."""
    repairs.leave_out_live_code(context)
    if "body" not in context:
        return
    address = lambda page: "" if page == pagename else app.builder.get_relative_uri(pagename, page)
    text, aside = set_aside(context["body"])
    users = map_of_results.users(app.env)
    soup = finish_text(text, badges.badges(of_the_book()), address, users)
    chapter = chapter_of(pagename)
    if chapter in _with_symbols():
        source = lambda page: (ROOT / f"{page}.md").read_text(encoding="utf-8")
        session = "" if chapter == pagename else symbols.code(source(chapter))
        found = symbols.of_chapter(chapter, session + source(pagename))
        symbols.mark(soup, found)
        symbols.fold(soup, found, address("book/notation"))
    context["body"] = put_back(str(soup), aside)
    found = {name: put_back(html, aside) for name, html in previews.collect(soup).items()}
    previews.write(Path(app.outdir), pagename, found)


@cache
def _with_symbols() -> frozenset[str]:
    """The chapters that are about a paper: those in a folder."""
    return frozenset(name for name in map(docname, chapters()) if name.count("/") > 1)


def set_aside(html: str) -> tuple[str, list[str]]:
    """Take out of a text what is most of it and what nobody has anything to do with: what stands in listings and on maps.

    Returns: the text, each piece replaced by its number between two marks; and the pieces.
    """
    pieces: list[str] = []

    def number(match: re.Match) -> str:
        pieces.append(match["inside"])
        return f"{match['opening']}{_MARK}{len(pieces) - 1}{_MARK}{match['closing']}"

    return _OPAQUE.sub(number, html), pieces


def put_back(html: str, pieces: list[str]) -> str:
    """Put back into a text, or a part of it, what was set aside."""
    return re.sub(rf"{_MARK}(\d+){_MARK}", lambda match: pieces[int(match[1])], html)


def finish_text(
    html: str,
    words: dict[str, list[badges.Badge]],
    address: badges.Address = lambda page: "",
    users: dict[str, int] | None = None,
) -> BeautifulSoup:
    """Finish the text of a page: the same content, repaired, badged (by the labels of statements), and fit for any screen."""
    map_page = address(map_of_results.PAGE)
    steps = {
        "script": [repairs.drop_live_code],
        "style": [repairs.leave_unmarked],
        "title": [repairs.leave_unmarked],
        "div": [repairs.say_list_item, provenance.show, partial(hypotheses.show, address=address)],
        "summary": [repairs.name_by_text],
        "span": [repairs.say_image, fitting.keep_together],
        "img": [fitting.open_alone],
        "table": [fitting.name_cells],
        "p": [
            repairs.plain_title,
            partial(badges.show, words=words, address=address),
            partial(badges.show_users, users=users or {}, map_page=map_page),
        ],
        "code": [
            partial(badges.mark_check, words=words),
            hypotheses.mark_control,
            partial(formal.show_on_card, address=address),
            fitting.break_identifiers,
        ],
    }
    soup, ids = BeautifulSoup(html, "html.parser"), set()
    for element in soup.find_all(True):  # a list: what the steps add is not visited
        repairs.drop_repeated_id(element, ids)
        for step in steps.get(element.name, ()):
            step(element)
    folds.fold_checks(soup)
    folds.fold_names(soup)
    listings.join_printouts(soup)
    listings.join_hidden_cells(soup)
    fitting.keep_percent(soup)
    return soup
