"""The book's chapters: which files they are, what statements they make, how they are read as notebooks."""

import re
from pathlib import Path

import nbformat
import yaml
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook

from bookext.markup import ROOT, syntax

LEDGER = ROOT / "results" / "ledger.json"

#: A sphinx-proof directive that makes a statement, and its label.
_STATEMENT = re.compile(
    r"^(?P<fence>:{3,}|`{3,})\{prf:(?P<kind>property|lemma|theorem|proposition|corollary|definition|remark)\}(?P<title>[^\n]*)\n"
    r"(?P<options>(?::[^\n]*\n)*)",
    re.MULTILINE,
)


def pages(root: Path = ROOT) -> list[Path]:
    """Every page of the table of contents, in reading order.

    Args:
        root: of the repository.

    Returns:
        Paths of the Markdown files.
    """
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    found: list[Path] = []

    def walk(node: object) -> None:
        if isinstance(node, list):
            for item in node:
                walk(item)
        elif isinstance(node, dict):
            for key in ("root", "file"):
                if key in node:
                    found.append(root / f"{node[key]}.md")
            for key in ("parts", "chapters", "sections"):
                walk(node.get(key))

    walk(toc)
    return found


def chapters(root: Path = ROOT) -> list[Path]:
    """The pages that are notebooks.

    Args:
        root: of the repository.

    Returns:
        Paths of the Markdown files, in reading order.
    """
    return [page for page in pages(root) if is_myst_markdown_notebook(page.read_text(encoding="utf-8"))]


def read_notebook(path: Path, root: Path = ROOT) -> nbformat.NotebookNode:
    """Read a chapter exactly as the site's builder does, so that both agree on what is cached.

    Args:
        path: of the Markdown file.
        root: of the repository.

    Returns:
        The notebook, without outputs.
    """
    text = path.read_text(encoding="utf-8")
    return read_myst_markdown_notebook(text, config=syntax(root), add_source_map=True, path=path)


def statements(root: Path = ROOT) -> dict[str, dict[str, str]]:
    """Every labelled statement of the book.

    Args:
        root: of the repository.

    Returns:
        Label → its kind of directive, its title and the page it stands on.

    Raises:
        ValueError: a statement without a label, or a label used twice.
    """
    found: dict[str, dict[str, str]] = {}
    for page in pages(root):
        for match in _STATEMENT.finditer(page.read_text(encoding="utf-8")):
            label = re.search(r"^:label:\s*(\S+)", match["options"], re.MULTILINE)
            where = page.relative_to(root).with_suffix("").as_posix()
            if not label:
                raise ValueError(f"{where}: the {match['kind']} {match['title'].strip()!r} has no :label:")
            if label[1] in found:
                raise ValueError(f"{where}: the label {label[1]} stands in {found[label[1]]['page']} already")
            found[label[1]] = {"kind": match["kind"], "title": match["title"].strip(), "page": where}
    return found
