"""Links between the site's pages: which places of a page must be found again on paper, and where a link on paper leads."""

import posixpath
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

_HREF = re.compile(r'\b(?:xlink:)?href="([^"]+)"')


def places(site: Path, pages: list[str]) -> dict[str, list[str]]:
    """The places that links of these pages lead to. Returns: Docname → ids on that page, sorted; every page is there."""
    found: dict[str, set[str]] = {page: set() for page in pages}
    for page in pages:
        html = (site / f"{page}.html").read_text(encoding="utf-8")
        for href in map(unescape, _HREF.findall(html)):
            path, _, place = href.partition("#")
            if (
                not place or urlsplit(href).scheme or place.startswith("focus=")
            ):  # a choice on the map, which paper cannot make
                continue
            target = (
                posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else f"{page}.html"
            )
            if target.removesuffix(".html") in found and target.endswith(".html"):
                found[target.removesuffix(".html")].add(unquote(place))
    return {page: sorted(ids) for page, ids in found.items()}


def target(uri: str, home: str) -> tuple[str, str] | None:
    """Where an address leads if it is one of the site's pages.

    Returns: Docname and id ("" for the page itself), or None for what is not a page of the site.
    """
    if not uri.startswith(home):
        return None
    split = urlsplit(uri)
    path = unquote(split.path).lstrip("/")
    return (path.removesuffix(".html"), unquote(split.fragment)) if path.endswith(".html") else None


def published(uri: str, home: str, site: str) -> str:
    """An address of the site as it was printed, on the published site; what lies elsewhere stays as it is."""
    return urljoin(site, uri.removeprefix(home)) if uri.startswith(home) else uri
