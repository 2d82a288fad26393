"""A deck of slides a week: the core statements and the figures of the chapters that the syllabus lists.

Of a chapter whose opening alone is read, only the idea is shown. The slides are Markdown, which sphinx-revealjs turns into pages; they load nothing from elsewhere.
"""

import io
import json
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sphinx.application import Sphinx

from bookext import address
from bookext.chapters import ROOT, STATEMENTS, docname
from bookext.course.pictures import SITE, Picture, of_page, with_formulas
from bookext.markup import MarkupError, directives, settings
from bookext.notebooks.markdown import Flattener
from bookext.results import of_the_book, whose
from bookext.said import filled

LOOK = Path(__file__).with_name("deck")
#: The chapters of a week are the links in the first column of its table. Of a row that says "its opening" no more is read.
SYLLABUS = ROOT / "book/course/index.md"


@dataclass(frozen=True)
class Reading:
    """A row of the syllabus."""

    path: Path  # of the chapter
    purpose: str  # what it is read for, in MyST
    opening: bool = False  # only its opening is read


@dataclass(frozen=True)
class Week:
    """A week of the syllabus."""

    number: int  # from 1
    title: str  # for example "Token selection"
    aims: str  # what students can do afterwards, in MyST, possibly empty
    readings: tuple[Reading, ...]  # its chapters


def weeks(syllabus: Path = SYLLABUS) -> list[Week]:
    """Read the weeks of the syllabus."""
    found = []
    sections = re.split(r"^## ", syllabus.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for section in sections:
        head = re.match(r"Week (\d+): (.+)\n", section)
        if not head:
            continue
        rows = re.findall(r"^\| \[[^\]]+\]\(([^)]+\.md)\)([^|]*)\|[^|]*\| (.*?) \|$", section, re.MULTILINE)
        readings = tuple(Reading((syllabus.parent / link).resolve(), purpose, "opening" in rest) for link, rest, purpose in rows)  # fmt: skip
        missing = [str(reading.path) for reading in readings if not reading.path.exists()]
        if missing or not readings:
            raise MarkupError(
                f"{syllabus}: week {head[1]} has no chapters, or these are not there: {missing}"
            )
        aims = re.search(r"^\*Afterwards you can\* (.+)$", section, re.MULTILINE)
        found.append(Week(int(head[1]), head[2].strip(), aims[1] if aims else "", readings))
    return found


def core(path: Path) -> list[tuple[str, str, str]]:
    """The core statements of a chapter. Returns: label, title and text of each, as they are written."""
    inner = directives(_text(path))
    return [(each.options["label"], each.title, each.body) for each in inner if each.name in STATEMENTS and "core" in each.options.get("class", "").split()]  # fmt: skip


def _text(path: Path) -> str:
    return filled(path.read_text(encoding="utf-8"), docname(path))


def idea(path: Path) -> str:
    """The sentence that a chapter puts in front: the quotation before its first section, possibly empty, as it is written."""
    opening = re.split(r"^## ", _text(path), maxsplit=1, flags=re.MULTILINE)[0]
    found = re.search(r"(?:^>.*\n?)+", opening, re.MULTILINE)
    return re.sub(r"^> ?", "", found[0], flags=re.MULTILINE).strip() if found else ""


def plain(text: str) -> str:
    """Text in which no character is a mark. Returns: Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>$|#~()])", r"\\\1", text)


def unsplit(text: str) -> str:
    """Formulas of several lines with a number, so written that Sphinx leaves them alone: it would put them into an environment that has none."""

    def one(found: re.Match) -> str:
        indent, formula = found.groups()
        if "\\tag" not in formula or r"\\" not in formula:
            return found[0]
        inside = map(str.strip, formula.strip().splitlines())
        lines = ["```{math}", ":nowrap:", "", r"\[", *inside, r"\]", "```"]
        return "\n".join(indent + line for line in lines)

    return re.sub(r"^( *)\$\$\n(.*?)\$\$ *$", one, text, flags=re.MULTILINE | re.DOTALL)


def statement(flattener: Flattener, label: str, title: str, body: str) -> str:
    """The slide of a statement. Returns: Markdown."""
    note = whose(title)
    found = of_the_book().get(label)
    verdict = ", ".join(filter(None, [found.headline, found.support])) if found else ""
    foot = " · ".join(filter(None, [note, verdict]))
    heading = flattener.line(re.sub(r"\s*\{cite[^`]*`[^`]*`|\s*\([^()]*\)$", "", title.strip()))
    foot = f"\n\n{{.foot}}\n{plain(foot)}" if foot else ""
    return f"### {heading}\n\n{unsplit(flattener.text(body))}{foot}"


def figure(picture: Picture) -> str:
    """The slide of a figure. Returns: Markdown; the figure lies beside it under its ``name``."""
    parts = enumerate(with_formulas(picture.caption))
    caption = "".join(f"${part}$" if k % 2 else plain(part) for k, part in parts)
    return f"### {plain(picture.number) or 'Figure'}\n\n:::{{figure}} {picture.name}\n:alt: {json.dumps(picture.alt, ensure_ascii=False)}\n\n{caption}\n:::"  # fmt: skip


def chapter(reading: Reading, pictures: list[Picture]) -> str:
    """The slides of a chapter. Returns: Markdown."""
    flattener = Flattener(reading.path)
    text = _text(reading.path)
    title = re.search(r"^# (.+)$", text, re.MULTILINE)[1]
    quote = "\n".join(f"> {line}" for line in flattener.text(idea(reading.path)).splitlines())
    link = f"{{.foot}}\n[The chapter on the site]({address.page(docname(reading.path))})"
    opening = [f"## {flattener.line(title)}", f"*{flattener.line(reading.purpose)}*", quote, link]
    slides = ["\n\n".join(filter(None, opening))]
    if not reading.opening:
        slides += [statement(flattener, *each) for each in core(reading.path)]
        slides += [figure(picture) for picture in pictures if picture.file]
    return "\n\n".join(slides)


def deck(week: Week, site: Path = SITE) -> tuple[str, list[Picture]]:
    """The slides of a week; of a page that is not built no figures. Returns: Markdown, and the figures that must lie beside it."""
    slides, used = [], []
    flattener = Flattener(SYLLABUS)
    aims = f"Afterwards you can {flattener.line(week.aims)}" if week.aims else ""
    slides.append(f"# Week {week.number}: {flattener.line(week.title)}\n\n{aims}")
    for reading in week.readings:
        pictures = [] if reading.opening else of_page(docname(reading.path), site)
        used += [picture for picture in pictures if picture.file]
        slides.append(chapter(reading, pictures))
    return "---\norphan: true\n---\n\n" + "\n\n".join(slides) + "\n", used


def build(out: Path, chosen: list[Week] | None = None, site: Path = SITE) -> list[Path]:
    """Write decks of the weeks, or of all, and a page that lists them, in place of what is in the folder. Returns: the decks."""
    chosen = chosen or weeks()
    listed = "\n".join(f"- [Week {week.number}: {week.title}](week{week.number}.md)" for week in chosen)
    with tempfile.TemporaryDirectory() as scratch:
        source, written = Path(scratch, "source"), Path(scratch, "out")
        source.mkdir()
        (source / "index.md").write_text(f"# {settings()['title']}\n\n{listed}\n", encoding="utf-8")
        for week in chosen:
            text, pictures = deck(week, site)
            (source / f"week{week.number}.md").write_text(text, encoding="utf-8")
            for picture in pictures:
                shutil.copyfile(picture.file, source / picture.name)
        _sphinx(source, written)
        shutil.rmtree(written / ".doctrees", ignore_errors=True)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(written, out, ignore=shutil.ignore_patterns("_sources", ".buildinfo*", "objects.inv"))
    return [out / f"week{week.number}.html" for week in chosen]


def _sphinx(source: Path, out: Path) -> None:
    """Turn Markdown into slides."""
    said = io.StringIO()
    config = {
        "project": settings()["title"],
        "extensions": ["myst_parser", "sphinx.ext.mathjax", "sphinx-mathjax-offline", "sphinx_revealjs"],
        "myst_enable_extensions": ["amsmath", "colon_fence", "dollarmath", "attrs_block"],
        "mathjax_path": "mathjax/tex-chtml.js",
        # a slide's formulas are set when it is shown (deck.js)
        "mathjax3_config": {"startup": {"typeset": False}, "options": {"menuOptions": {"settings": {"inTabOrder": False}}}},
        "revealjs_style_theme": "white",
        "revealjs_static_path": [str(LOOK)],
        "revealjs_css_files": ["deck.css"],
        "revealjs_js_files": [["deck.js", {"defer": "defer"}]],
        "revealjs_script_conf": {"width": 1280, "height": 760, "margin": 0.04, "hash": True, "slideNumber": "c/t", "transition": "none"},
        "html_copy_source": False,
    }  # fmt: skip
    app = Sphinx(source, None, out, out / ".doctrees", "revealjs", config, status=None, warning=said)
    app.build()
    if text := said.getvalue().strip():
        raise MarkupError(f"the decks cannot be made:\n{text}")
