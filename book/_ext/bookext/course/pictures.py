"""The figures of the book as files, with their captions: for slides, handouts and the pack of a release."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from bs4 import BeautifulSoup, Tag

from bookext import address
from bookext.chapters import ROOT, docname, pages

SITE = ROOT / "_build/html"


@dataclass(frozen=True)
class Picture:
    """A figure of the site."""

    page: str  # docname of its page
    label: str  # on the page, for example ``fig-tour-bounds``
    number: str  # for example "Fig. 3.1", possibly empty.
    caption: str  # plain text; formulas in TeX, as ``with_formulas`` finds them
    alt: str  # what it shows, in words
    file: Path | None  # of the picture, or None for a figure that moves: it stands on the site only

    @property
    def name(self) -> str:
        """The name of its file in a folder that holds those of all pages."""
        return f"{self.label}{self.file.suffix}" if self.file else ""


def of_page(page: str, site: Path = SITE) -> list[Picture]:
    """The figures of a page of the built site. Returns: its figures in their order; none if the page is not built."""
    built = site / f"{page}.html"
    if not built.exists():
        return []
    soup = BeautifulSoup(built.read_text(encoding="utf-8"), "html.parser")
    return [_picture(page, figure, built) for figure in soup.select("figure[id]") if figure.figcaption]


def _picture(page: str, figure: Tag, built: Path) -> Picture:
    image = figure.select_one("a.picture img")
    text = lambda part: " ".join(found.get_text().split()) if (found := figure.select_one(part)) else ""
    return Picture(
        page=page,
        label=figure["id"],
        number=text(".caption-number"),
        caption=text(".caption-text"),
        alt=image["alt"] if image else "",
        file=(built.parent / image["src"]).resolve() if image else None,
    )


def pack(out: Path, site: Path = SITE, names: list[str] | None = None) -> list[Picture]:
    """Write the figures of pages, or of all, into a folder, with ``captions.md``, in place of what is in it; without any, none is written."""
    shutil.rmtree(out, ignore_errors=True)
    names = names or [docname(path) for path in pages()]
    found = [picture for page in names for picture in of_page(page, site)]
    if found:
        out.mkdir(parents=True)
        for picture in found:
            if picture.file:
                shutil.copyfile(picture.file, out / picture.name)
        (out / "captions.md").write_text(captions(found), encoding="utf-8")
    return found


def with_formulas(caption: str) -> list[str]:
    """A caption in parts. Returns: by turns plain text, possibly empty, and the TeX of a formula."""
    return re.split(r"\\\((.*?)\\\)", caption)


def captions(found: list[Picture]) -> str:
    """What stands below the figures, and where they come from. Returns: Markdown."""
    lines = ["# Figures", "", f"From [the book]({address.site()}). Text and figures: CC BY 4.0 ([licence]({address.files()}/LICENSE-CONTENT)).", ""]  # fmt: skip
    for picture in found:
        where = f"[{picture.page}]({address.page(picture.page)}#{picture.label})"
        what = f"`{picture.name}`" if picture.file else "moves, and stands on the site only"
        lines += [f"## {picture.number or picture.label}: {picture.label}", "", f"{what}, {where}", "", "".join(f"${part}$" if k % 2 else part for k, part in enumerate(with_formulas(picture.caption))), ""]  # fmt: skip
        lines += [f"*In words:* {picture.alt}", ""] if picture.alt else []
    return "\n".join(lines)
