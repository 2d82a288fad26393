"""Previews: what a link to a statement, an equation, an exercise or a source leads to, shown beside the link.

A page's targets are written to a script of their own, ``_static/previews/<page>.js``, which ``book.js`` loads when
the first link to that page is pointed at. A script, not JSON: it also loads from a site opened from disk.
"""

import copy
import json
from pathlib import Path

from bs4 import BeautifulSoup, Tag

#: Classes of elements that can be previewed if they have an id.
TARGETS = frozenset({"proof", "exercise", "math", "citation"})
#: What only its own page can use, by name and by class.
LEFT_OUT = frozenset(
    {"img", "figure", "button", "script", "headerlink", "verdict-badge", "used-by", "backrefs"}
)


def collect(soup: BeautifulSoup) -> dict[str, str]:
    """The previews of a page. Returns: element id → HTML of its preview, without ids, links, badges or pictures."""
    return {
        target["id"]: _bare(target)
        for target in soup.find_all("div", id=True)
        if TARGETS.intersection(target.get("class", ()))
    }


def _bare(target: Tag) -> str:
    bare = copy.copy(target)
    for element in [bare, *bare.find_all(True)]:
        if LEFT_OUT.intersection([element.name, *element.get("class", ())]):
            element.extract()
        else:
            del element["id"]
            if element.name == "a":
                element.unwrap()
    return str(bare)


def write(site: Path, page: str, found: dict[str, str]) -> None:
    """Write a page's previews, or take away what it had."""
    target = site / "_static" / "previews" / f"{page}.js"
    target.unlink(missing_ok=True)
    if found:
        target.parent.mkdir(parents=True, exist_ok=True)
        arguments = f"{json.dumps(page)}, {json.dumps(found, ensure_ascii=False)}"
        target.write_text(f"receivePreviews({arguments});\n", encoding="utf-8")
