"""What the book's references lead to: places on the site with their numbers, and papers."""

import functools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from myst_nb.core.read import is_myst_markdown_notebook
from pybtex.database import parse_file

from bookext import address
from bookext.chapters import ROOT, chapter_numbers, docname, leaves, pages, read_notebook
from bookext.markup import directive, walk


@dataclass(frozen=True)
class Target:
    """What a label stands for."""

    page: str  # docname
    anchor: str  # id of the element on the site
    text: str  # what a reference without words of its own says, for example "(3)" or "Fig. 2".

    @property
    def url(self) -> str:
        """Address on the published site."""
        return f"{address.page(self.page)}#{self.anchor}"


@functools.cache
def targets(root: Path = ROOT) -> dict[str, Target]:
    """Label → what it stands for, numbered as on the site: by chapter where chapters have numbers, else through the book."""
    found: dict[str, Target] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for path in pages(root):
        page = docname(path, root)
        of_chapter = _chapter_numbers_of_pages(root).get(page)
        chapter = f"{of_chapter}." if of_chapter else ""

        def number(kind: str, chapter: str = chapter) -> str:
            seen[chapter, kind] += 1
            return f"{chapter}{seen[chapter, kind]}"

        for kind, label, text in _labelled(path):
            if kind == "equation":
                found[label] = Target(page, f"equation-{label}", f"({number(kind)})")
            elif kind == "figure":
                found[label] = Target(page, label, f"Fig. {number(kind)}")
            elif kind == "exercise":
                found[label] = Target(page, label, f"Exercise {number(kind)}")
            else:
                found[label] = Target(page, label, text)
    return found


def _chapter_numbers_of_pages(root: Path) -> dict[str, int]:
    """The number of the chapter that a page is, or stands below. Returns: Docname → number."""
    numbers, found, number = chapter_numbers(root), {}, None
    for leaf in leaves(root):
        number = number if leaf.depth else numbers.get(leaf.page)
        if number:
            found[leaf.page] = number
    return found


def _labelled(path: Path) -> Iterator[tuple[str, str, str]]:
    """Kind, label and text of what can be referred to on one page, in reading order."""
    text = path.read_text(encoding="utf-8")
    if not is_myst_markdown_notebook(text):
        yield from _labelled_in(text)
        return
    for cell in read_notebook(path).cells:
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        if cell.cell_type == "markdown":
            yield from _labelled_in(cell.source)
        elif "caption" in figure:
            yield "figure", figure.get("name", f"{path.stem}-figure"), ""


def _labelled_in(text: str) -> Iterator[tuple[str, str, str]]:
    waiting: list[str] = []  # labels that the next heading will explain
    at_heading = False
    for token in walk(text, inline=False):
        inner = directive(token)
        if token.type == "math_block_label":
            yield "equation", token.info, ""
        elif token.type == "myst_target":
            waiting.append(token.content)
        elif token.type == "heading_open":
            at_heading = True
        elif token.type == "inline" and at_heading:
            yield from (("heading", label, token.content) for label in waiting)
            waiting, at_heading = [], False
        elif inner and (label := inner.options.get("label") or inner.options.get("name")):
            kind = {"math": "equation", "figure": "figure", "exercise": "exercise"}
            yield kind.get(inner.name, "statement"), label, inner.title.partition(":")[0]


@dataclass(frozen=True)
class Paper:
    """An entry of the bibliography."""

    authors: str  # for example "Arda, Cayci & Eryilmaz"
    year: str  # of publication
    url: str  # where it can be read, or else where the book names it

    def cite(self, in_text: bool) -> str:
        """Author–year, linked; where the authors are part of the sentence, "Authors (year)" instead of "Authors year"."""
        return f"[{self.authors} {f'({self.year})' if in_text else self.year}]({self.url})"


@functools.cache
def papers(root: Path = ROOT) -> dict[str, Paper]:
    """The bibliography; read once. Returns: BibTeX key → paper."""
    found = {}
    for key, entry in parse_file(str(root / "book/references.bib")).entries.items():
        *others, last = (" ".join(person.last_names) for person in entry.persons["author"])
        authors = f"{', '.join(others)} & {last}" if others else last
        found[key] = Paper(re.sub(r"[{}]", "", authors), entry.fields["year"], _where(entry.fields))
    return found


def _where(fields: Mapping[str, str]) -> str:
    """Address of what an entry of the bibliography names; of the bibliography if it names none."""
    homes = {"url": "", "eprint": "https://arxiv.org/abs/", "doi": "https://doi.org/"}
    found = (home + fields[name] for name, home in homes.items() if name in fields)
    return next(found, address.page("book/bibliography"))
