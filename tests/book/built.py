"""The built site as the tests read it: its pages, each parsed once in a process."""

import functools
import gc
import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from bookext.chapters import LEDGER, ROOT, SUPPLEMENT, chapters, docname, pages, statements

SITE = ROOT / "_build/html"

#: Pages without suffix: those of the table of contents in reading order, those of them that are notebooks, all that there are.
BOOK_PAGES = [docname(path) for path in pages()]
CHAPTERS = [docname(path) for path in chapters()]
ALL_PAGES = [*BOOK_PAGES, "index", "search", "404"]

#: Statements in the ledger, and a chapter that makes the first of them.
ENTRIES = json.loads(LEDGER.read_text(encoding="utf-8"))
LABELS = [entry["id"] for entry in ENTRIES]
CHAPTER = statements()[LABELS[0]]["page"]

#: Pages of each kind, for what is the same on all of them.
FEW = ("book/index", "book/notation", "book/kernel_regime/gradients", "book/experiments/reproduction")


def few_first(pages: list[str]) -> list:
    """The pages as parameters, those beyond the few marked ``thorough``."""
    return [pytest.param(page, marks=[pytest.mark.thorough] * (page not in FEW)) for page in pages]


def neighbours(page: str) -> tuple[str, str]:
    """The pages before and after one, in reading order without supplements, which can be skipped; "" where there is none."""
    order = ["", *(other for other in BOOK_PAGES if other == page or not other.endswith(SUPPLEMENT)), ""]
    place = order.index(page)
    return order[place - 1], order[place + 1]


def file(page: str) -> Path:
    """The file of a page."""
    return SITE / f"{page}.html"


@functools.cache
def text(file: Path) -> str:
    """The HTML of a file."""
    return file.read_text(encoding="utf-8")


@functools.cache
def parsed(file: Path) -> BeautifulSoup:
    """A file of HTML, parsed; not to be changed."""
    soup = BeautifulSoup(text(file), "html.parser")
    gc.freeze()  # a hundred pages are millions of objects, and as all of them stay, none need be looked at again
    return soup


@functools.cache
def ids(file: Path) -> frozenset[str]:
    """The ids of a file of HTML."""
    return frozenset(re.findall(r"""<[a-z][^<>]*\sid=["']([^"'<>]+)["']""", text(file)))
