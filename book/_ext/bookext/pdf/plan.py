"""Which pages the document has, in which order, and where their headings stand in its outline."""

from dataclasses import dataclass
from pathlib import Path

import yaml

from bookext.chapters import ROOT


@dataclass(frozen=True)
class Leaf:
    """A page of the site."""

    page: str  # docname, for example ``book/kernel_regime/model``
    part: str | None  # caption of the part that it belongs to, or None before the first part
    depth: int = 0  # 0 for a chapter, 1 for a page below a chapter


def leaves(root: Path = ROOT) -> tuple[Leaf, ...]:
    """Every page of the table of contents, in reading order. Returns: the pages."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    found = [Leaf(toc["root"], None)]

    def visit(chapters: list[dict], part: str | None, depth: int) -> None:
        for chapter in chapters:
            found.append(Leaf(chapter["file"], part, depth))
            visit(chapter.get("sections", []), part, depth + 1)

    visit(toc.get("chapters", []), None, 0)
    for part in toc.get("parts", []):
        visit(part["chapters"], part.get("caption"), 0)
    return tuple(found)


def chosen(all_leaves: tuple[Leaf, ...], pages: list[str] | None) -> tuple[Leaf, ...]:
    """The pages that are asked for, in reading order. Returns: the pages."""
    if pages is None:
        return all_leaves
    if unknown := sorted(set(pages) - {leaf.page for leaf in all_leaves}):
        raise ValueError(f"pages must be in _toc.yml, for example book/tour; got {', '.join(unknown)}")
    return tuple(leaf for leaf in all_leaves if leaf.page in pages)
