"""The symbols of a chapter, in a fold below its title: the rows of the notation page that it uses; shown where one is pointed at, too."""

import re
from dataclasses import dataclass
from functools import cache
from html import escape

from bs4 import BeautifulSoup
from sphinx.application import Sphinx

from bookext.chapters import ROOT, chapters, docname

NOTATION = ROOT / "book/notation.md"

#: Fences of code, and formulas, displayed or in a line.
_CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_MATH = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", re.DOTALL)
#: Chapters in brackets after a symbol, by the names of their files.
_CHAPTERS = re.compile(r"\s*\(([a-z_ ,]+)\)\s*$")
#: The first cell of a row that ends with them.
_FIRST_CELL = re.compile(r"^(\| (?:[^|\\\n]|\\.)*?\()([a-z_ ,]+)(\) \|)", re.MULTILINE)
#: Rooms of the package whose names stand before a module's in an identifier.
_ROOMS = ("training", "experiments", "beyond", "token_selection", "residual", "preconditioned")


@dataclass(frozen=True)
class Row:
    """A row of the notation page."""

    symbol: str  # formulas and words, as the page has them
    identifiers: tuple[str, ...]  # names in the package, "module.name"
    meaning: str  # of the symbol, as the page has it
    room: str = ""  # folder of the part that the row's table is headed by; empty for the table of the first

    @property
    def pieces(self) -> list[str]:
        """The symbols of the row, without spaces: a list in one formula is several, what follows "=" is not part of it."""
        formulas = [_plain(formula) for formula in re.findall(r"\$([^$]+)\$", self.symbol)]
        return [piece.split("=")[0] for formula in formulas for piece in _at_commas(formula)]

    @property
    def is_special(self) -> bool:
        """Whether words after the symbol narrow its meaning."""
        return bool(re.sub(r"\$[^$]+\$|\([^)]*\)|[, ]", "", self.symbol))

    @property
    def only_in(self) -> tuple[str, ...]:
        """Words in brackets after the symbol: the chapters that give it this meaning; empty if all do."""
        words = _CHAPTERS.search(self.symbol)
        return _files(words[1]) if words else ()


@cache
def rows() -> tuple[Row, ...]:
    """The rows of the notation page's tables of symbols; none in a book without that page."""
    if not NOTATION.exists():
        return ()
    tables = NOTATION.read_text(encoding="utf-8").split("## What the other papers")[0].split("\n## ")
    return tuple(
        Row(symbol.strip(), tuple(re.findall(r"`([^`]+)`", names)), meaning.strip(), _room(table))
        for table in tables
        for symbol, names, meaning, _ in _cells(table)
        if "$" in symbol or names.count("`")
    )


def _files(words: str) -> tuple[str, ...]:
    """Names of chapters' files, which may be written with spaces, from between two brackets."""
    return tuple(word.strip().replace(" ", "_") for word in words.split(","))


def name_chapters(app: Sphinx, page: str, source: list[str]) -> None:
    """Handle Sphinx's ``source-read``: the notation page calls chapters by their titles, where its source has the names of their files."""
    if page == docname(NOTATION):
        source[0] = _FIRST_CELL.sub(lambda row: f"{row[1]}{_titles(row[2])}{row[3]}", source[0])


def _titles(words: str) -> str:
    """Titles of chapters, up to a colon, linked from the notation page; words that name no chapter stay."""
    known = {path.stem: path for path in chapters()}
    paths = [known.get(name) for name in _files(words)]
    if not all(paths):
        return words
    titles = [re.search(r"^# ([^:\n]+)", path.read_text(encoding="utf-8"), re.MULTILINE)[1] for path in paths]
    return "; ".join(
        f"[{title}]({path.relative_to(NOTATION.parent).as_posix()})"
        for title, path in zip(titles, paths, strict=True)
    )


def _cells(table: str) -> list[list[str]]:
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines() if line.startswith("| ")]


def _room(table: str) -> str:
    """The folder of a part whose name, or the first word of it, heads the table."""
    name = table.partition("\n")[0].strip().lower().replace(" ", "_")
    folders = [
        folder for folder in (name, name.split("_")[0]) if folder and (ROOT / "book" / folder).is_dir()
    ]
    return folders[0] if folders else ""


def of_chapter(page: str, source: str) -> list[Row]:
    """The rows that a chapter uses: a symbol of the row stands in a formula, and the chapter's code works with its module.

    What cannot be mistaken for another symbol needs no code. A part with a table of its own has its symbols there.

    Returns: rows, in the order of the notation page; a row without an identifier needs its symbol only.
    """
    program = code(source)
    math = " ".join(_plain(a or b) for a, b in _MATH.findall(_CODE.sub("", source)))
    *folders, name = page.split("/")
    room = folders[-1] if folders and any(row.room == folders[-1] for row in rows()) else ""
    return [row for row in rows() if row.room == room and _used(row, name, math, program)]


def code(source: str) -> str:
    """The code that stands in a text."""
    return "\n".join([*_CODE.findall(source), ""])


def _used(row: Row, name: str, math: str, code: str) -> bool:
    if row.only_in and name not in row.only_in:
        return False
    works = any(_works_with(identifier, row.is_special, name, code) for identifier in row.identifiers)
    return any(
        piece in math and re.search(rf"(?<![\\a-zA-Z]){re.escape(piece)}(?![a-zA-Z_])", math)
        for piece in row.pieces
        if works or not row.identifiers or _is_unmistakable(piece)
    )


def _is_unmistakable(piece: str) -> bool:
    """Whether a symbol is written with two commands, an accent or an index say, and stands in one row only."""
    return piece.count("\\") > 1 and sum(piece in row.pieces for row in rows()) == 1


def _works_with(identifier: str, by_name: bool, chapter: str, code: str) -> bool:
    """Whether a chapter's code works with the module of an identifier, or with the identifier itself."""
    folder, *rest = identifier.split(".")
    if by_name:
        return folder == chapter or re.search(rf"\b{rest[-1]}\b", code) is not None
    module = rest[0] if folder in _ROOMS and rest else folder
    return module in code and re.search(rf"\b{module}\.|import[^\n]*\b{module}\b", code) is not None


def _plain(formula: str) -> str:
    """A formula without what only spaces or sizes it."""
    formula = formula.replace(r"\lVert", r"\|").replace(r"\rVert", r"\|").replace(r"\tfrac", r"\frac")
    return re.sub(r"\\[,;!:]|\\(?:bigl|bigr|Bigl|Bigr|quad)\b|[\s&]", "", formula.replace(r"\ ", ""))


def _at_commas(formula: str) -> list[str]:
    """Parts of a formula between commas that stand in no brackets."""
    parts, depth = [""], 0
    for character in formula:
        depth += (character in "({[") - (character in ")}]")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part]


def fold(soup: BeautifulSoup, found: list[Row], notation: str) -> None:
    """Put the symbols of a chapter, if there are any, into a fold below its title, with the address of the notation page."""
    title = soup.find("h1")
    if title is None or not found:
        return
    rows = "".join(
        f'<tr id="symbol-{place}"><td>{_html(_CHAPTERS.sub(" (here)", row.symbol))}</td><td>{_html(row.meaning)}</td></tr>'
        for place, row in enumerate(found)
    )
    box = (
        f'<details class="symbols"><summary>Symbols of this chapter</summary><table><tbody>{rows}</tbody></table>'
        f'<p><a href="{notation}">All symbols, with their names in the package</a></p></details>'
    )
    title.insert_after(BeautifulSoup(box, "html.parser").details)


def mark(soup: BeautifulSoup, found: list[Row]) -> None:
    """Say at every formula in a line that is one symbol which rows of the fold explain it: ``book.js`` shows them on pointing."""
    places: dict[str, list[int]] = {}
    for place, row in enumerate(found):
        for piece in row.pieces:
            places.setdefault(piece, []).append(place)
    for formula in soup.select("span.math"):
        tex = formula.get_text().strip()
        if explained := places.get(_plain(tex.removeprefix(r"\(").removesuffix(r"\)"))):
            formula["data-symbol"] = " ".join(map(str, explained))


def _html(text: str) -> str:
    """Words and formulas of a table's cell."""
    written = lambda part: rf'<span class="math notranslate nohighlight">\({part[1]}\)</span>' if part[1] else f"<code>{part[2]}</code>"  # fmt: skip
    return re.sub(r"\$([^$]+)\$|`([^`]+)`", written, escape(text, quote=False))
