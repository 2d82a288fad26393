"""What others may link to and embed: the ledger as a file of the site, a lasting address and a badge for every statement."""

import json
from pathlib import Path
from string import Template

from sphinx.application import Sphinx

from bookext import address, hypotheses, provenance
from bookext.chapters import LEDGER, ROOT
from bookext.proofs import record, sources
from bookext.results import Result, of_the_book, plain
from shallowformer.verify import ledger, report

#: Colours of badges: those of ``_static/results.css``.
COLOURS = ROOT / "book/_static/results.css"


def publish(app: Sphinx, exception: Exception | None) -> None:
    """Handle Sphinx's ``build-finished``."""
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    write(site / "ledger.json", json.dumps(entries(), indent=1, ensure_ascii=False))
    write(site / "ledger.schema.json", json.dumps(report.schema(), indent=1))
    page = Template((ROOT / "book/_templates/statement.html").read_text(encoding="utf-8"))
    for label, result in of_the_book().items():
        there = f"../../{result.page}.html#{label}"
        write(
            site / "s" / label / "index.html",
            page.substitute(name=plain(result.name), there=there, full=lasting(label)),
        )
        if result.headline:
            write(site / "s" / label / "badge.svg", badge(result))


def write(file: Path, text: str) -> None:
    """Write a file of the site, in a folder that need not be there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n", encoding="utf-8")


def lasting(label: str) -> str:
    """The address of a statement that stays when its page is moved."""
    return f"{address.site()}s/{label}/"


def entries() -> list[dict]:
    """The ledger for others: what it holds, with each statement's title, its lasting address, where in its paper it stands, what Coq accepted, if so, and what its hypotheses are for."""
    found = of_the_book()
    return [
        {
            **entry,
            "title": plain(
                found[entry["id"]].name
                + (f": {found[entry['id']].topic}" if found[entry["id"]].topic else "")
            ),
            "address": lasting(entry["id"]),
            **_source(entry["id"]),
            **_formal(entry["id"]),
            **hypotheses.public(entry["id"]),
        }
        for entry in ledger.read(LEDGER)
    ]


def _source(label: str) -> dict:
    found = provenance.source(label)
    return {"source": found} if found else {}


def _formal(label: str) -> dict:
    if label not in record.accepted():
        return {}
    one = sources.theorems()[label]
    return {
        "formal": {
            "file": f"proofs/{one.file}",
            "covers": one.covers,
            "reads": one.reads,
            "statement": one.formal,
            "coq": record.read()["coq"],
        }
    }


def badge(result: Result) -> str:
    """A statement's verdict as a picture for other pages: its label on the left, the verdict on the right. Returns: SVG."""
    words = result.headline + (f", {result.support}" if result.support == record.LEVEL else "")
    # No font is known where it is shown: the text is stretched to the width that it is given.
    left, right = (round(6.2 * len(text)) + 12 for text in (result.label, words))
    colour = (
        COLOURS.read_text(encoding="utf-8")
        .partition(f".is-{result.verdict} {{ --verdict: ")[2]
        .partition(";")[0]
    )
    text = lambda at, width, what: (
        f'<text x="{at + 6}" y="14" textLength="{width - 12}" lengthAdjust="spacingAndGlyphs">{what}</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{result.label}: {words}">'
        f"<title>{result.label}: {words}</title>"
        f'<rect width="{left + right}" height="20" rx="3" fill="#444"/>'
        f'<path d="M{left} 0h{right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{left}z" fill="{colour}"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f"{text(0, left, result.label)}{text(left, right, words)}</g></svg>"
    )
