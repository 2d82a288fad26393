"""What the templates around a page's text need to know: the addresses of its buttons, and how to cite it.

The markup is in ``book/_templates``; the addresses are from ``bookext.address``.
"""

import re
from urllib.parse import urlencode

from sphinx.application import Sphinx
from sphinx.config import Config

from bookext import address
from bookext.chapters import SUPPLEMENT, chapter_numbers, chapter_of, chapters, docname
from bookext.version import VERSION, cited

#: Quotation marks of a title that stands in quotation marks.
_INNER_QUOTES = str.maketrans("“”", "‘’")


def configure(app: Sphinx, config: Config) -> None:
    """Handle Sphinx's ``config-inited``: say which version this is, and where the site will stand."""
    config.version = config.release = VERSION
    config.html_baseurl = config.ogp_site_url = address.site()
    # Part of a card's picture, so of what it is kept by.
    config.ogp_social_cards["site_url"] = address.site().partition("://")[2]


def number_supplement(app: Sphinx, page: str, source: list[str]) -> None:
    """Handle Sphinx's ``source-read``: a supplement's title names its chapter by number, as tabs and the search show it alone."""
    number = chapter_numbers().get(chapter_of(page))
    if number and page != chapter_of(page):
        source[0] = re.sub(
            r"(?m)^# Supplement to (?=“)", f"# Supplement to chapter {number}, ", source[0], count=1
        )


def add_context(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: object) -> None:
    """Handle Sphinx's ``html-page-context``."""
    if not doctree:
        return
    context |= neighbours(app, pagename)
    repository = address.repository()
    context["source"] = address.source(pagename)
    context["edit"] = f"{repository}/edit/{address.branch()}/{pagename}.md"
    context["issue"] = f"{repository}/issues/new?{urlencode({'title': f'On the page {pagename}'})}"
    chapter = chapter_of(pagename)
    if chapter in map(docname, chapters()):
        context["colab"] = address.colab(chapter)
        context["notebook"] = f"notebooks/{address.notebook(chapter)}"
        context["colab_solutions"] = address.colab(chapter, solutions=True)
        context["notebook_solutions"] = f"notebooks/{address.notebook(chapter, solutions=True)}"
    context["citation"] = citation(
        re.sub(r"<[^>]*>", "", context.get("title", "")), pagename, context.get("last_updated")
    )


def neighbours(app: Sphinx, page: str) -> dict[str, dict[str, str]]:
    """The chapters beside a page whose neighbour is a supplement: what can be skipped is not what comes next.

    Returns: ``next``, ``prev`` as templates want them; only what differs from the order of the pages.
    """
    relations = app.builder.relations
    _, before, after = relations.get(page, (None, None, None))
    found = {}
    if after == page + SUPPLEMENT and relations[after][2]:
        found["next"] = relations[after][2]
    if before and chapter_of(before) not in (before, page):
        found["prev"] = chapter_of(before)
    titled = lambda other: app.builder.render_partial(app.env.titles[other])["title"]
    return {
        way: {"link": app.builder.get_relative_uri(page, other), "title": titled(other)}
        for way, other in found.items()
    }


def citation(title: str, pagename: str, changed: str | None) -> dict[str, str]:
    """How to cite a page. Returns: ``text``, a sentence, and ``bibtex``, an entry."""
    book, url = cited(), address.page(pagename)
    authors = " and ".join(author["name"] for author in book["authors"])
    year = str(book["date-released"])[:4]
    day = f", {changed}" if changed else ""
    fields = {
        "title": f"{{{title}}}",
        "author": f"{{{authors}}}",
        "booktitle": book["title"],
        "year": year,
        "note": f"version {book['version']}{day}",
        "url": url,
    }
    inside = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return {
        "text": f"{authors}: “{title.translate(_INNER_QUOTES)}”, in {book['title']}, {year}, version {book['version']}{day}. {url}",
        "bibtex": f"@incollection{{shallowformer-{pagename.rpartition('/')[2].replace('_', '-')},\n{inside}\n}}",
    }
