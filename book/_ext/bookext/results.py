"""What readers are told of a statement wherever it is listed: its name, what it is about, its verdict."""

import functools
import re
from dataclasses import dataclass

from bookext.chapters import LEDGER, chapter_of, statements
from shallowformer.verify import ledger
from shallowformer.verify.claims import parse


@dataclass(frozen=True)
class Result:
    """A labelled statement of the book with what its check found."""

    label: str  # on the page
    page: str  # docname of the page
    kind: str  # of the directive, for example "lemma"
    #: the paper's number and the variant, for example "Fact 1, sharp"; the title of a reader's own claim
    name: str
    topic: str  # what it is about, in MyST, possibly empty
    ours: bool  # whether it is this book's own
    headline: str  # its verdict, for example "loose ×2"; empty for a statement that is not checked
    support: (
        str  # "machine-checked", "proved", "numerical" or "open"; empty for a statement that is not checked
    )
    varies: str  # label of the paper's statement that it sharpens or adds to, or ""
    sharper: str  # label of the sharper form of it that this book states, or ""

    @property
    def chapter(self) -> str:
        """Docname of the chapter on whose page, or in whose supplement, it stands."""
        return chapter_of(self.page)

    @property
    def machine_checked(self) -> bool:
        """Whether Coq has accepted a proof of all of it."""
        return self.support == "machine-checked"

    @property
    def verdict(self) -> str:
        """The verdict without the slack of a loose bound; the class that colours it."""
        return self.headline.partition(" ×")[0].replace(" ", "-") or "unchecked"


def name(label: str, title: str = "") -> str:
    """What readers call a statement, for example "Fact 1" or "Skewness bound": by its title, if it is no numbered one of the paper."""
    claim = parse(label)
    if claim.own or (title and (claim.variant or claim.origin == "book")):
        return _unsigned(title).partition(":")[0]
    return claim.number + (f", {claim.variant.replace('-', ' ')}" if claim.variant else "")


def topic(title: str) -> str:
    """What a statement is about: its title behind the colon, without citations and without whose it is. Returns: MyST, possibly empty."""
    return _unsigned(title).partition(":")[2].strip()


def whose(title: str) -> str:
    """The note behind a title that says whose the statement is.

    Returns: for example "this book" or "rate known, constants this book"; empty behind a title with a citation.
    """
    note = re.search(r"\(([^()]*)\)$", title.strip())
    return note[1] if note else ""


def _unsigned(title: str) -> str:
    """A title without citations and without the note behind it that says whose it is."""
    return re.sub(r"\s*\([^()]*\)$", "", title.split("{cite")[0].strip())


def plain(text: str) -> str:
    """MyST without the marks of mathematics and emphasis, for places that show plain text."""
    return re.sub(r"[$`\\{}]", "", re.sub(r"(\*+)([^*]+)\1", r"\2", text))


def results(stated: dict[str, dict[str, str]], entries: list[dict]) -> dict[str, Result]:
    """Everything that the book states, in reading order. Returns: label → result."""
    found = {entry["id"]: entry for entry in entries}
    varies = {label: _original(label, stated) for label in stated}
    sharper = {varies[label]: label for label in stated if parse(label).variant.startswith("sharp")}
    return {
        label: Result(
            label=label,
            page=statement["page"],
            kind=statement["kind"],
            name=name(label, statement["title"]),
            topic=topic(statement["title"]),
            ours=parse(label).own or parse(label).origin == "book",
            headline=found.get(label, {}).get("headline", ""),
            support=found.get(label, {}).get("support", ""),
            varies=varies[label],
            sharper=sharper.get(label, ""),
        )
        for label, statement in stated.items()
    }


def _original(label: str, stated: dict[str, dict[str, str]]) -> str:
    """Label of the statement of which this one is a variant, if the book has it."""
    variant = parse(label).variant
    original = label.removesuffix(f"-{variant}") if variant else ""
    return original if original in stated else ""


@functools.cache
def of_the_book() -> dict[str, Result]:
    """Everything that this book states, with what its ledger says; read once."""
    return results(statements(), ledger.read(LEDGER))
