"""What chapters said of their runs (``shallowformer.said``): gathered, kept in ``results/said.json``, put where pages refer to it.

``{{ name }}`` is the page's own chapter's, ``{{ residual/climate.name }}`` another's, ``{{ name[0] }}`` the first number of a list,
``{{ name|tex }}`` the same inside a formula.
"""

import functools
import json
import re
from collections.abc import Iterable

from sphinx.application import Sphinx

from bookext.chapters import ROOT, chapter_of
from bookext.markup import MarkupError
from bookext.records import Record
from shallowformer.said import MIME
from shallowformer.verify.ledger import TOLERANCE

SAID = ROOT / "results" / "said.json"

#: chapter → name → pairs of number and text
Said = dict[str, dict[str, list[list]]]

REFERENCE = re.compile(r"\{\{ (?:([\w/]+)\.)?([A-Za-z]\w*)(?:\[(\d+)\])?(\|tex)? \}\}")
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")


def read() -> Said:
    """What is kept; nothing if there is no file yet."""
    return json.loads(SAID.read_text(encoding="utf-8")) if SAID.exists() else {}


_kept = functools.cache(read)


def gathered(records: Iterable[Record]) -> Said:
    """What chapters said, by their names; those that said nothing are left out."""
    said: Said = {}
    for record in records:
        for output in (output for outputs in record.outputs for output in outputs):
            for name, pairs in output.get("metadata", {}).get(MIME, {}).items():
                if name in said.setdefault(record.chapter, {}):
                    raise ValueError(f"{record.chapter} says {name} twice")
                said[record.chapter][name] = [list(pair) for pair in pairs]
    return said


def differences(fresh: Said, stored: Said) -> list[str]:
    """Where what was said departs from what is kept: other numbers, by the ledger's tolerance. A line each."""
    lines = []
    for chapter in sorted(fresh.keys() | stored.keys()):
        new, old = fresh.get(chapter, {}), stored.get(chapter, {})
        for name in sorted(new.keys() | old.keys()):
            if not _same(new.get(name, []), old.get(name, [])):
                lines.append(f"{chapter}: {name} is {_text(new, name)}, kept is {_text(old, name)}")
    return lines


def _same(new: list[list], old: list[list]) -> bool:
    near = lambda a, b: a[1] == b[1] or abs(a[0] - b[0]) <= TOLERANCE * max(abs(a[0]), abs(b[0]))
    return len(new) == len(old) > 0 and all(map(near, new, old))


def _text(said: dict[str, list[list]], name: str) -> str:
    return ", ".join(text for _, text in said[name]) if name in said else "not said"


def write(said: Said) -> None:
    """Keep what was said, a line a name."""
    chapter = lambda names: ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(pairs, ensure_ascii=False)}"
        for name, pairs in sorted(names.items())
    )
    text = ",\n".join(
        f" {json.dumps(name)}: {{\n{chapter(names)}\n }}" for name, names in sorted(said.items())
    )
    SAID.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


def filled(text: str, page: str) -> str:
    """A page's source with what it refers to in place; a name that was not said is refused."""

    def told(reference: re.Match) -> str:
        there, name, number, formula = reference.groups()
        chapter = f"book/{there}" if there else chapter_of(page)
        pairs = _kept().get(chapter, {}).get(name)
        if pairs is None or int(number or 0) >= len(pairs):
            raise MarkupError(
                f"{page}: {reference[0]}: {chapter} says no such number; execute it with --accept, or mend the name"
            )
        words = pairs[int(number)][1] if number else _listed([text for _, text in pairs])
        return _formula(words) if formula else words

    return REFERENCE.sub(told, text)


def _listed(texts: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def _formula(words: str) -> str:
    raised = re.sub(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda power: f"10^{{{power[1]}}}", words)
    return raised.translate(_LOWERED).replace("·", r"\cdot ").replace(" %", r"\,\%")


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    """Handle Sphinx's ``source-read``: put what was said where the page refers to it."""
    source[0] = filled(source[0], page)
