"""What lets a text fit any screen: formulas stay with their punctuation, rows of tables can be cards, pictures open alone."""

import re

from bs4 import NavigableString, Tag


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
    """Let each cell of a table of three or more columns know its column's name: a phone shows a row as a card."""
    head = table.find("thead", recursive=False)
    names = [
        "" if cell.find(class_="math") else cell.get_text(" ", strip=True)
        for cell in (head.find_all("th") if head else ())
    ]
    if len(names) < 3:
        return
    table["class"] = [*table.get("class", ()), "as-cards"]
    for row in table.select("tbody > tr"):
        for name, cell in list(zip(names, row.find_all(["td", "th"], recursive=False), strict=False))[1:]:
            if name and cell.get_text(strip=True):
                cell["data-name"] = name


def break_identifiers(code: Tag) -> None:
    """Let an identifier in a table break behind a dot or an underscore, so that its column is no wider than a piece."""
    if not code.find_parent("td"):
        return
    for word in code.find_all(string=re.compile(r"\w[._]\w")):
        pieces = re.split(r"(?<=\w[._])(?=\w)", word)
        broken = [part for piece in pieces for part in (Tag(name="wbr", can_be_empty_element=True), piece)]
        word.replace_with(*broken[1:])


def open_alone(picture: Tag) -> None:
    """Let a figure's picture lead to itself, where it can be enlarged."""
    if picture.parent.name == "figure":
        alone = {"class": ["picture"], "href": picture["src"], "title": "The picture alone"}
        picture.wrap(Tag(name="a", attrs=alone))
