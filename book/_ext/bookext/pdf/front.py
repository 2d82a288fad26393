"""What stands before the chapters: the title page and the contents."""

from dataclasses import dataclass
from html import escape

from bookext.pdf.printing import Printed

STYLE = """
@page { size: A4; margin: 24mm 24mm 20mm; @bottom-center { content: counter(page, lower-roman); font: 8.5pt sans-serif; color: #48566b; } }
@page :first { @bottom-center { content: ""; } }
body { font: 10pt/1.45 sans-serif; color: #14181e; margin: 0; }
a { color: inherit; text-decoration: none; }
.title { height: 240mm; display: flex; flex-direction: column; break-after: page; }
.title h1 { font-size: 30pt; line-height: 1.15; margin: 55mm 0 4mm; font-weight: 600; }
.title .sub { font-size: 15pt; color: #48566b; margin: 0 0 12mm; }
.title .foot { margin-top: auto; font-size: 9pt; color: #48566b; border-top: 0.6pt solid #0f4c81; padding-top: 4mm; }
.title .foot p { margin: 0 0 1.5mm; overflow-wrap: anywhere; }
h2 { font-size: 20pt; font-weight: 600; margin: 0 0 5mm; }
.part { font-weight: 600; margin: 4.5mm 0 1mm; color: #0f4c81; break-after: avoid; }
.line { display: flex; align-items: baseline; margin: 0.6mm 0; }
.line.below { padding-left: 6mm; }
.line .dots { flex: 1; border-bottom: 0.8pt dotted #9aa5b1; margin: 0 2mm; min-width: 6mm; }
"""


@dataclass(frozen=True)
class Book:
    """What the title page says."""

    title: str  # of the book, its subtitle behind a colon
    authors: str  # as one text
    version: str  # for example ``0.1.0``
    date: str  # the day of what is printed, for example ``2026-11-20``
    site: str  # address of the published site


def front(book: Book, printed: list[Printed], firsts: list[int], home: str) -> str:
    """Title page and contents, in HTML; ``firsts`` are the numbers of the chapters' first pages."""
    title, _, sub = book.title.partition(": ")
    lines, part = [], None
    for each, first in zip(printed, firsts, strict=True):
        if each.leaf.part != part:
            part = each.leaf.part
            lines.append(f'<p class="part">{escape(part or "")}</p>')
        below = " below" * bool(each.leaf.depth)
        lines.append(
            f'<a class="line{below}" href="{escape(home)}{each.leaf.page}.html"><span>{escape(each.title)}</span>'
            f'<span class="dots"></span><span>{first}</span></a>'
        )
    site = f'<a href="{escape(book.site)}">{escape(book.site)}</a>'
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(book.title)}</title><style>{STYLE}</style></head><body>
<section class="title"><h1>{escape(title)}</h1><p class="sub">{escape(sub[:1].upper() + sub[1:])}</p>
<p>{escape(book.authors)}</p><p>Version {escape(book.version)}, {escape(book.date)}</p>
<div class="foot"><p>Printed from the pages of the book's site, {site}. There, code and checks unfold, figures move, and the exercises have solutions.</p>
<p>Text and figures: CC BY 4.0. Code: MIT.</p></div></section>
<h2>Contents</h2>{"".join(lines)}</body></html>"""
