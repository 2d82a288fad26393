"""What a careful proofreader of HTML looks for: in one page, and in the links between the pages of a site."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import html5lib
from bs4 import BeautifulSoup, Tag
from built import ids, parsed, text

#: Attributes whose words are ids on the same page.
REFERENCES = ("aria-labelledby", "aria-controls", "aria-describedby", "aria-owns", "for", "headers", "list")

#: Printed code as Pygments writes it: half of many a page.
CODE = re.compile(
    r"<pre>((?:[^<&]++|&(?:amp|lt|gt|quot|#\d+);|<span(?: class=\"[\w ]+\")?>|</span>)*+)</pre>"
)


def without_code(html: str) -> str:
    """The page with only the lines of its code, which is slow to parse, where anyone sees that its tags are well nested."""

    def lines(code: re.Match) -> str:
        depths = [*accumulate((-1 if tag else 1 for tag in re.findall("<(/?)", code[1])), initial=0)]
        nested = min(depths) == depths[-1] == 0
        return "<pre>" + "\n" * code[1].count("\n") + "</pre>" if nested else code[0]

    return CODE.sub(lines, html)


def findings(page: Path) -> list[str]:
    """What is wrong with a page, as an HTML5 parser sees it."""
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    parser.parse(without_code(text(page)))
    soup = parsed(page)
    return [
        *(f"line {line}: {what} {detail}" for (line, _), what, detail in parser.errors),
        *_ids(soup),
        *_names(soup),
        *_outline(soup),
    ]


def _ids(soup: BeautifulSoup) -> Iterator[str]:
    elements = soup.find_all(True)
    ids = Counter(element["id"] for element in elements if "id" in element.attrs)
    yield from (f"the id {name!r} is used {count} times" for name, count in ids.items() if count > 1)
    for element in elements:
        for attribute in filter(element.has_attr, REFERENCES):
            for name in element[attribute].split():
                if name not in ids:
                    yield f"{attribute}={name!r} of <{element.name}> names no element"


def _names(soup: BeautifulSoup) -> Iterator[str]:
    for element in soup.select("a[href], button, summary"):
        if not _name(element):
            yield f"no name: {str(element)[:100]}"
    for element in soup.select("input:not([type=hidden]):not([type=checkbox]), select, textarea"):
        if not (
            element.get("aria-label")
            or soup.select(f'label[for="{element.get("id")}"]')
            or element.find_parent("label")
        ):
            yield f"no label: {str(element)[:100]}"  # fmt: skip
    for image in soup.find_all("img"):
        if not image.has_attr("alt") or not (image["alt"].strip() or image.get("role") == "presentation"):
            yield f"no alternative text: {str(image)[:100]}"


def _name(element: Tag) -> str:
    images = " ".join(image.get("alt", "") for image in element.find_all("img"))
    return f"{element.get('aria-label', '')}{element.get('title', '')}{element.get_text()}{images}".strip()


def _outline(soup: BeautifulSoup) -> Iterator[str]:
    """The document's language, landmark and headings; what the theme repeats for print alone does not count."""
    if not (soup.html and soup.html.get("lang")):
        yield "no language"
    if not (soup.title and soup.title.get_text().strip()):
        yield "no title"
    if len(soup.find_all("main")) != 1:
        yield "not one <main>"
    levels = [int(h.name[1]) for h in soup.find_all(["h1", "h2", "h3", "h4", "h5", "h6"]) if not h.find_parent(class_="onlyprint")]  # fmt: skip
    if levels[:1] != [1] or levels.count(1) != 1:
        yield f"headings begin with {levels[:2]}, {levels.count(1)} of them <h1>"
    yield from (f"<h{b}> after <h{a}>" for a, b in pairwise(levels) if b > a + 1)


def broken_links(site: Path, page: Path, address: str) -> list[str]:
    """Links, pictures, scripts and styles of a page that lead to no file, or to no element of one.

    Addresses below ``address``, where the site is published, are held against the site too.
    """
    here = urljoin(address, page.relative_to(site).as_posix())
    broken = []
    for element in parsed(page).find_all(
        ["a", "area", "link", "img", "script", "source", "iframe", "use", "object"]
    ):
        for attribute in ("href", "src", "data"):
            target = element.get(attribute)
            if target is None or not urljoin(here, target).startswith(address):
                continue
            parts = urlsplit(urljoin(here, target))
            file = site / unquote(parts.path.removeprefix(urlsplit(address).path))
            file = file / "index.html" if file.is_dir() else file
            if not file.is_file() or (
                parts.fragment and file.suffix == ".html" and not _is_on(file, unquote(parts.fragment))
            ):
                broken.append(target)
    return broken


def _is_on(page: Path, fragment: str) -> bool:
    """Whether a page has an element of a name, or is the map and shows the statement that a choice on it names (``map.js``)."""
    chosen = re.fullmatch(r"focus=([\w-]+)&direction=(?:up|down|both)&depth=(?:[123]|all)", fragment)
    return f'data-statement="{chosen[1]}"' in text(page) if chosen else fragment in ids(page)
