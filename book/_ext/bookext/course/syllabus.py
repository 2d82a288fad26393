"""What the syllabus (``book/course/index.md``) says of its weeks.

The chapters of a week are the links in the first column of its table. Of a row that says "its opening" no more is read.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from bookext.chapters import ROOT
from bookext.markup import MarkupError

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
