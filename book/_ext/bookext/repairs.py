"""Repairs to what other extensions write: no call to another host, valid ids, roles and names, titles that say what they mean."""

import re

from bs4 import Tag

#: Scripts and styles of Jupyter Book's live-code feature, which would load its library from another host.
_LIVE_CODE = re.compile("thebe", re.IGNORECASE)


def leave_out_live_code(context: dict) -> None:
    """Let a page load nothing of the live-code feature."""
    for kind in ("script_files", "css_files"):
        context[kind] = [file for file in context.get(kind, ()) if not _LIVE_CODE.search(_text(file))]


def _text(file: object) -> str:
    attributes = getattr(file, "attributes", {})
    return f"{getattr(file, 'filename', file)} {attributes.get('body', '')}"


def drop_live_code(script: Tag) -> None:
    """Take the live-code feature's settings out of a text."""
    if script.get("type") == "text/x-thebe-config":
        script.extract()


def drop_repeated_id(element: Tag, seen: set[str]) -> None:
    """Let the first element that bears an id keep it alone."""
    if "id" in element.attrs:
        if element["id"] in seen:
            del element["id"]
        else:
            seen.add(element["id"])


def say_list_item(entry: Tag) -> None:
    """Let screen readers take the bibliography for a list."""
    if "citation" in entry.get("class", ()) and "citation-list" in entry.parent.get("class", ()):
        entry["role"] = "listitem"


def name_by_text(summary: Tag) -> None:
    """Let screen readers call a fold by what it reads, which says more than its label."""
    del summary["aria-label"]


def say_image(mark: Tag) -> None:
    """Let the label of a verdict's mark count: on an element without a role it does not."""
    if "verdict-mark" in mark.get("class", ()) and "aria-label" in mark.attrs:
        mark["role"] = "img"


def plain_title(title: Tag) -> None:
    """Turn "Property (Fact 1: …)" into "Fact 1: …" where a statement carries the paper's number."""
    kind = is_statement_title(title) and title.find("span", class_="caption-number")
    if not kind or not kind.next_sibling or any(c.isdigit() for c in kind.get_text()):
        return
    opening = kind.next_sibling
    closing = [text for text in title.find_all(string=True) if text.strip()][-1]
    if opening.strip().startswith("(") and closing.rstrip().endswith(")"):
        kind.extract()
        if opening is closing:
            opening.replace_with(opening.strip()[1:-1])
        else:
            opening.replace_with(opening.lstrip()[1:])
            closing.replace_with(closing.rstrip()[:-1])


def is_statement_title(paragraph: Tag) -> bool:
    """Whether a paragraph is the title of a statement."""
    return "admonition-title" in paragraph.get("class", ()) and "proof" in paragraph.parent.get("class", ())


def leave_unmarked(hidden: Tag) -> None:
    """Let who comes from the search find no marks in what nobody sees: there they undo a style, and stop at an error in a picture."""
    hidden["class"] = [*hidden.get("class", ()), "nohighlight"]
