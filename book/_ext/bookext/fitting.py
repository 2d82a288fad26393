"""What lets a text fit any screen: formulas stay with their punctuation, rows of tables can be cards, pictures open alone."""

import copy
import re

from bs4 import BeautifulSoup, NavigableString, Tag

#: Identifiers in a line that are longer may break: they are as wide as a phone, or nearly.
_LONG = 30


def keep_percent(soup: BeautifulSoup) -> None:
    """Let no line break come between a number and its "%"; code is as it was written."""
    for text in soup.find_all(string=re.compile(r"\s%")):
        if type(text) is NavigableString and not text.find_parent(["pre", "code", "script", "style"]):
            text.replace_with(re.sub(r"(?<=\d)\s+%", "\N{NO-BREAK SPACE}%", text))


def keep_together(formula: Tag) -> None:
    """Let no line break come between a formula and what touches it: a bracket, a comma, "-dimensional"."""
    if "math" not in formula.get("class", ()):
        return
    before, after = formula.previous_sibling, formula.next_sibling
    left = re.search(r"\S*\Z", before)[0] if isinstance(before, NavigableString) else ""
    right = re.match(r"\S*", after)[0] if isinstance(after, NavigableString) else ""
    if not left and not right:
        return
    together = formula.wrap(Tag(name="span", attrs={"class": ["together"]}))
    if len(left + right) > 1:
        together["style"] = f"--beside: {len(left + right)}"  # characters that must fit beside the formula
    if left:
        before.replace_with(before[: -len(left)])
        together.insert(0, left)
    if right:
        after.replace_with(after[len(right) :])
        together.append(right)


def name_cells(table: Tag) -> None:
    """Let each cell of a table of three or more columns know its column's name: a phone shows a row as a card.

    The name is an attribute for the style sheet to show; one that holds a formula, which no style sheet can, is repeated in the cell.
    """
    head = table.find("thead", recursive=False)
    names = head.find_all("th") if head else []
    if len(names) < 3:
        return
    table["class"] = [*table.get("class", ()), "as-cards"]
    for row in table.select("tbody > tr"):
        for name, cell in list(zip(names, row.find_all(["td", "th"], recursive=False), strict=False))[1:]:
            if not name.get_text(strip=True) or not cell.get_text(strip=True):
                continue
            if not name.find(class_="math"):
                words = name.get_text(" ", strip=True)
                cell["data-name"] = words if words.endswith("?") else f"{words}:"
                continue
            words = copy.copy(name.p or name)
            words.name, words.attrs = "span", {"class": ["column-name"]}
            cell.insert(0, words)
            for formula in words.find_all(class_="math"):
                keep_together(formula)


def break_identifiers(code: Tag) -> None:
    """Let an identifier break behind a dot or an underscore: in a table, so that its column is no wider than a piece, and where it is long."""
    for word in code.find_all(string=re.compile(r"\w[._]\w")):
        if len(word) <= _LONG and not code.find_parent("td"):
            continue
        pieces = re.split(r"(?<=\w[._])(?=\w)", word)
        broken = [part for piece in pieces for part in (Tag(name="wbr", can_be_empty_element=True), piece)]
        word.replace_with(*broken[1:])


def open_alone(picture: Tag) -> None:
    """Let a figure's picture lead to itself, where it can be enlarged."""
    if picture.parent.name == "figure":
        alone = {"class": ["picture"], "href": picture["src"], "title": "The picture alone"}
        picture.wrap(Tag(name="a", attrs=alone))
