"""Mends to what other extensions write: no call to another host, valid element ids, titles that say what they mean."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bs4 import BeautifulSoup, NavigableString, Tag
from sphinx.application import Sphinx

from bookext.chapters import LEDGER, ROOT, statements
from bookext.results import Badge, badges, results
from shallowformer.verify import ledger

#: Scripts and styles of Jupyter Book's live-code feature, which would load its library from another host.
_LIVE_CODE = re.compile("thebe", re.IGNORECASE)


def mend_page(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: object) -> None:
    """Handle Sphinx's ``html-page-context``.

    Args:
        app: the application.
        pagename: of the page.
        templatename: of the template.
        context: what the template will see; changed in place.
        doctree: of the page, or None.
    """
    for kind in ("script_files", "css_files"):
        context[kind] = [file for file in context.get(kind, ()) if not _LIVE_CODE.search(_text(file))]
    if "body" in context:
        words = badges(results(statements(ROOT), ledger.read(LEDGER)))
        context["body"] = mend_body(context["body"], words, partial(_address, app, pagename))


def _address(app: Sphinx, pagename: str, badge: Badge) -> str:
    """Where a badge of a page leads."""
    page = "" if badge.page == pagename else app.builder.get_relative_uri(pagename, badge.page)
    return f"{page}#{badge.anchor}"


def _text(file: object) -> str:
    attributes = getattr(file, "attributes", {})
    return f"{getattr(file, 'filename', file)} {attributes.get('body', '')}"


def mend_body(html: str, words: dict[str, list[Badge]], address: Callable[[Badge], str]) -> str:
    """Mend the body of a page.

    Args:
        html: of the body.
        words: label of a statement → its badges.
        address: of what a badge leads to.

    Returns:
        The same content, with unique element ids, statements titled by the paper's number alone and badged with their
        verdict, a bibliography that screen readers take for a list, folds that they call by what they read, pictures that
        open alone, formulas that stay with their punctuation, tables whose rows can be shown as cards, and
        nothing left of the live-code feature.
    """
    soup = BeautifulSoup(html, "html.parser")
    for script in soup.find_all("script", type="text/x-thebe-config"):
        script.decompose()
    seen: set[str] = set()
    for element in soup.find_all(id=True):
        if element["id"] in seen:
            del element["id"]
        else:
            seen.add(element["id"])
    for entry in soup.select("div.citation-list > div.citation"):
        entry["role"] = "listitem"
    for fold in soup.select("summary[aria-label]"):
        del fold["aria-label"]  # its text says more
    for mark in soup.select("span.verdict-mark[aria-label]"):
        mark["role"] = "img"  # a label counts for nothing on an element without a role
    for picture in soup.select("figure > img"):
        alone = {"class": "picture", "href": picture["src"], "title": "The picture alone"}
        picture.wrap(soup.new_tag("a", attrs=alone))
    for formula in soup.select("span.math"):
        _keep_together(soup, formula)
    for table in soup.select("table:has(> thead)"):
        _name_cells(table)
    for title in soup.select("div.proof > p.admonition-title"):
        _plain_title(title)
        label = title.parent.get("id") or title.get("id")
        if label in words:
            _show_badges(soup, title, {badge: address(badge) for badge in words[label]})
    for card in soup.select("div.verdict > code"):
        if card.get_text() in words:
            card.parent["id"] = f"check-{card.get_text()}"
    return str(soup)


def _keep_together(soup: BeautifulSoup, formula: Tag) -> None:
    """Let no line break come between a formula and what touches it: a bracket, a comma, "-dimensional"."""
    before, after = formula.previous_sibling, formula.next_sibling
    left = re.search(r"\S*\Z", before)[0] if isinstance(before, NavigableString) else ""
    right = re.match(r"\S*", after)[0] if isinstance(after, NavigableString) else ""
    if left or right:
        together = formula.wrap(soup.new_tag("span", attrs={"class": "together"}))
        if left:
            before.replace_with(before[: -len(left)])
            together.insert(0, left)
        if right:
            after.replace_with(after[len(right) :])
            together.append(right)


def _name_cells(table: Tag) -> None:
    """Let each cell of a table of three or more columns know its column's name: a phone shows a row as a card."""
    names = [
        "" if head.find(class_="math") else head.get_text(" ", strip=True)
        for head in table.select("thead th")
    ]
    if len(names) < 3:
        return
    table["class"] = [*table.get("class", ()), "as-cards"]
    for row in table.select("tbody > tr"):
        for name, cell in list(zip(names, row.find_all(["td", "th"], recursive=False), strict=False))[1:]:
            if name and cell.get_text(strip=True):
                cell["data-name"] = name


def _plain_title(title) -> None:
    """Turn "Property (Fact 1: …)" into "Fact 1: …" where a statement carries the paper's number."""
    kind = title.find("span", class_="caption-number")
    if kind is None or not kind.next_sibling or any(c.isdigit() for c in kind.get_text()):
        return
    opening = kind.next_sibling
    closing = [text for text in title.find_all(string=True) if text.strip()][-1]
    if opening.strip().startswith("(") and closing.rstrip().endswith(")"):
        kind.decompose()
        if opening is closing:
            opening.replace_with(opening.strip()[1:-1])
        else:
            opening.replace_with(opening.lstrip()[1:])
            closing.replace_with(closing.rstrip()[:-1])


def _show_badges(soup: BeautifulSoup, title, badges: dict[Badge, str]) -> None:
    """Show a statement's badges in its title, as links: the verdict leads to the check."""
    group = soup.new_tag("span", attrs={"class": "verdict-badges"})
    for badge, address in badges.items():
        link = soup.new_tag(
            "a", href=address, title=badge.says, attrs={"class": f"verdict-badge {badge.style}"}
        )
        link.string = badge.word
        group.append(link)
    title.append(group)


def inline_imported_style(app: Sphinx, exception: Exception | None) -> None:
    """Handle Sphinx's ``build-finished``: write Sphinx's basic style into the theme's instead of importing it.

    One request fewer, and tools that re-read style sheets out of place do not ask for a file that is not there.

    Args:
        app: the application.
        exception: what ended the build, or None.
    """
    theme = Path(app.outdir) / "_static" / "styles" / "theme.css"
    if exception or not theme.exists():
        return
    basic = (Path(app.outdir) / "_static" / "basic.css").read_text(encoding="utf-8")
    text = theme.read_text(encoding="utf-8")
    theme.write_text(
        re.sub(r"@import\s+(url\()?[\"']?\.\./basic\.css[\"']?\)?;?", lambda _: basic, text), encoding="utf-8"
    )
