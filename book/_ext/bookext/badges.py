"""Badges: the verdict on a statement's title, as links to its check and to its sharper form."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from bs4 import BeautifulSoup, Tag

from bookext.map_of_results import focused
from bookext.repairs import is_statement_title
from bookext.results import Result

#: Docname → address, relative to the page that shows the badge.
Address = Callable[[str], str]


@dataclass(frozen=True)
class Badge:
    """A word on a statement's title."""

    word: str  # what it says
    style: str  # CSS class that colours it, one of those of ``_static/results.css``
    page: str  # docname of the page that it leads to
    anchor: str  # on that page
    says: str  # the longer form, for a tooltip


def badges(found: dict[str, Result]) -> dict[str, list[Badge]]:
    """The badges of statements that are checked: the verdict, whether the book sharpens it, on how much it rests if in doubt."""
    return {label: _badges(result, found) for label, result in found.items() if result.headline}


def _badges(result: Result, found: dict[str, Result]) -> list[Badge]:
    check = (result.page, f"check-{result.label}")
    mine = [Badge(result.headline, f"is-{result.verdict}", *check, f"Verdict of the check of {result.label}")]
    if result.sharper:
        sharper = found[result.sharper]
        mine.append(
            Badge("sharpened", "is-sharpened", sharper.page, sharper.label, f"Sharper: {sharper.name}")
        )
    if result.support == "proved" and result.headline == "supported":
        mine.append(
            Badge("proved", "is-certified", *check, "Proved on the page; what was measured agrees with it")
        )
    if result.machine_checked:
        mine.append(
            Badge(
                "machine-checked",
                "is-machine-checked",
                result.page,
                f"formal-{result.label}",
                "Coq has checked a proof of the whole statement",
            )
        )
    if result.support in ("numerical", "open"):
        says = {"numerical": "Rests on numerical evidence, not on a proof", "open": "Not proved here"}
        mine.append(Badge(result.support, "is-open", *check, says[result.support]))
    return mine


def show(title: Tag, words: dict[str, list[Badge]], address: Address) -> None:
    """Show a statement's badges in its title, as links: the verdict leads to the check; another paragraph stays as it is."""
    if not is_statement_title(title) or not (mine := words.get(title.parent.get("id") or title.get("id"))):
        return
    links = "".join(
        f'<a class="verdict-badge {badge.style}" href="{address(badge.page)}#{badge.anchor}" title="{escape(badge.says)}">{badge.word}</a>'
        for badge in mine
    )
    title.append(BeautifulSoup(f'<span class="verdict-badges">{links}</span>', "html.parser").span)


def show_users(title: Tag, users: dict[str, int], map_page: str) -> None:
    """Say in a statement's title how many others use it, as a link to these on the map; where none does, and elsewhere, all stays."""
    label = title.parent.get("id") or title.get("id")
    if not is_statement_title(title) or not users.get(label):
        return
    soup = BeautifulSoup("", "html.parser")
    says = "The statements that use it, on the map of results"
    link = soup.new_tag(
        "a", attrs={"class": "used-by", "href": f"{map_page}#{focused(label)}", "title": says}
    )
    link.string = f"used by {users[label]}"
    beside = title.find("span", class_="verdict-badges", recursive=False)
    if beside is None:
        beside = soup.new_tag("span", attrs={"class": "verdict-badges"})
        title.append(beside)
    beside.append(link)


def mark_check(name: Tag, words: dict[str, list[Badge]]) -> None:
    """Let the card of a check be found by the badges that lead to it; other code stays as it is."""
    if "verdict" in name.parent.get("class", ()) and name.get_text() in words:
        name.parent["id"] = f"check-{name.get_text()}"
