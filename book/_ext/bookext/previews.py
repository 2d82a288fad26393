"""Previews: what a link to a statement, an equation, an exercise or a source leads to, shown beside the link.

A page's targets are written to a script of their own, ``_static/previews/<page>.js``, which ``book.js`` loads when
the first link to that page is pointed at. A script, not JSON: it also loads from a site opened from disk.
"""

import json
from pathlib import Path

from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx

#: What can be previewed: elements with an id, or around one.
TARGETS = "div.proof[id], div.exercise[id], div.math[id], div.citation[id]"


def collect(html: str) -> dict[str, str]:
    """The previews of a page.

    Args:
        html: of the page's body.

    Returns:
        Element id → HTML of its preview, without ids, links, badges or pictures.
    """
    soup = BeautifulSoup(html, "html.parser")
    return {target["id"]: _bare(target) for target in soup.select(TARGETS)}


def _bare(target: Tag) -> str:
    copy = BeautifulSoup(str(target), "html.parser")
    for element in copy.select("a.headerlink, .verdict-badge, img, figure, button, script, .backrefs"):
        element.decompose()
    for element in copy.find_all(True):
        del element["id"]
    for link in copy.find_all("a"):
        link.unwrap()
    return str(copy)


def remember_previews(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: object) -> None:
    """Handle Sphinx's ``html-page-context``: write a page's previews.

    Args:
        app: the application.
        pagename: of the page.
        templatename: of the template.
        context: what the template will see.
        doctree: of the page, or None.
    """
    found = collect(context.get("body", "")) if doctree else {}
    target = Path(app.outdir) / "_static" / "previews" / f"{pagename}.js"
    target.unlink(missing_ok=True)
    if found:
        target.parent.mkdir(parents=True, exist_ok=True)
        arguments = f"{json.dumps(pagename)}, {json.dumps(found, ensure_ascii=False)}"
        target.write_text(f"receivePreviews({arguments});\n", encoding="utf-8")
