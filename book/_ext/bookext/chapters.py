"""The book's chapters: which files they are, what statements they make, how they are read as notebooks."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
import yaml
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook

from bookext.markup import ROOT, directives, syntax

LEDGER = ROOT / "results" / "ledger.json"
#: What became of hypotheses.
CONTROLS = ROOT / "results" / "controls.json"

#: How the name of a chapter's supplement ends: a page below the chapter, whose code goes on in the chapter's session.
SUPPLEMENT = "_supplement"

#: Directives of sphinx-proof that make a statement.
STATEMENTS = tuple(
    f"prf:{kind}"
    for kind in ("property", "lemma", "theorem", "proposition", "corollary", "definition", "remark")
)


def docname(path: Path, root: Path = ROOT) -> str:
    """What Sphinx calls a page: its path without suffix, relative to the repository. Returns: for example ``book/kernel_regime/model``."""
    return path.relative_to(root).with_suffix("").as_posix()


@dataclass(frozen=True)
class Leaf:
    """A page of the table of contents."""

    page: str  # docname, for example ``book/kernel_regime/model``
    part: str | None = None  # caption of the part that it belongs to, or None before the first part
    depth: int = 0  # 0 for a chapter, 1 for a page below a chapter
    numbered: bool = False  # whether its part's chapters are


@functools.cache
def leaves(root: Path = ROOT) -> tuple[Leaf, ...]:
    """Every page of the table of contents, in reading order; read once."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    found = [Leaf(toc["root"])]

    def visit(entries: list[dict], part: dict, depth: int = 0) -> None:
        for entry in entries:
            found.append(Leaf(entry["file"], part.get("caption"), depth, bool(part.get("numbered"))))
            visit(entry.get("sections", []), part, depth + 1)

    for part in (toc, *toc.get("parts", [])):
        visit(part.get("chapters", []), part)
    return tuple(found)


@functools.cache
def chapter_numbers(root: Path = ROOT) -> dict[str, int]:
    """The numbers of the chapters that have one: those of numbered parts, counted through the book. Returns: Docname → number."""
    numbered = (leaf.page for leaf in leaves(root) if leaf.numbered and not leaf.depth)
    return {page: number for number, page in enumerate(numbered, 1)}


@functools.cache
def pages(root: Path = ROOT) -> tuple[Path, ...]:
    """Every page of the table of contents, in reading order: paths of the Markdown files."""
    return tuple(root / f"{leaf.page}.md" for leaf in leaves(root))


@functools.cache
def chapters(root: Path = ROOT) -> tuple[Path, ...]:
    """The pages that are notebooks, without their supplements; read once. Returns: paths of the Markdown files, in reading order."""
    return tuple(
        page
        for page in pages(root)
        if not page.stem.endswith(SUPPLEMENT) and is_myst_markdown_notebook(page.read_text(encoding="utf-8"))
    )


def chapter_of(page: str) -> str:
    """The chapter that a page belongs to. Returns: Docname of the chapter."""
    return page.removesuffix(SUPPLEMENT)


def parts(chapter: Path) -> tuple[Path, ...]:
    """The pages that a chapter's session executes: its own, and its supplement if it has one. Returns: paths of the Markdown files."""
    supplement = chapter.with_stem(chapter.stem + SUPPLEMENT)
    return (chapter, supplement) if supplement.exists() else (chapter,)


def cells(chapter: Path) -> list[nbformat.NotebookNode]:
    """The cells of a chapter and its supplement. Returns: in the order in which they are executed."""
    return [cell for page in parts(chapter) for cell in read_notebook(page).cells]


def code(chapter: Path) -> list[str]:
    """The code of a chapter and its supplement. Returns: of each code cell."""
    return [source for page in parts(chapter) for source in _code(page, page.read_text(encoding="utf-8"))]


@functools.cache
def _code(page: Path, text: str) -> tuple[str, ...]:
    return tuple(cell.source for cell in _notebook(page, text).cells if cell.cell_type == "code")


def read_notebook(path: Path, root: Path = ROOT, fill: Callable[[str], str] = str) -> nbformat.NotebookNode:
    """Read a page exactly as the site's builder does, so that both agree on what is cached. Returns: the notebook, without outputs."""
    return _notebook(path, fill(path.read_text(encoding="utf-8")), root)


def _notebook(path: Path, text: str, root: Path = ROOT) -> nbformat.NotebookNode:
    return read_myst_markdown_notebook(text, config=syntax(root), add_source_map=True, path=path)


@functools.cache
def statements(root: Path = ROOT) -> dict[str, dict[str, str]]:
    """Every labelled statement of the book; read once. Returns: label → its kind of directive, title, body and the page it stands on."""
    found: dict[str, dict[str, str]] = {}
    for path in pages(root):
        page = docname(path, root)
        inner = directives(path.read_text(encoding="utf-8"))
        for statement in (each for each in inner if each.name in STATEMENTS):
            kind, label = statement.name.removeprefix("prf:"), statement.options.get("label")
            if not label:
                raise ValueError(f"{page}: the {kind} {statement.title!r} has no :label:")
            if label in found:
                raise ValueError(f"{page}: the label {label} stands in {found[label]['page']} already")
            found[label] = {"kind": kind, "title": statement.title, "body": statement.body, "page": page}
    return found
