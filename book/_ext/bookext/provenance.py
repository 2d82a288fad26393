"""Where in its paper a statement stands, and which version of each paper the book treats: what ``book/provenance.yml`` says."""

import functools
import re
from html import escape

import yaml
from bs4 import BeautifulSoup, Tag
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from bookext.markup import ROOT
from shallowformer.verify.claims import parse

FILE = ROOT / "book/provenance.yml"

#: A place: section, then the paper's own number, then numbered displays.
PLACE = re.compile(
    r"(?P<section>Abstract|(?:Section|Appendix) [A-Z\d]\S*?)"
    r"(?:, (?P<prefix>as |proof of |\(Informal\) )?(?P<number>[A-Z][a-z]+ \d+))?"
    r"(?:, (?P<after>after )?(?P<equations>\(\d+\)(?:–\(\d+\))?))?"
)


@functools.cache
def read() -> dict[str, dict[str, dict]]:
    """What the file says of papers and of statements; read once."""
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def version(paper: str) -> str:
    """The version of a paper that the book treats, for example "2601.16514v1"."""
    known = read()["papers"][paper]
    return known["arxiv"] + known["treated"]


def source(label: str) -> dict[str, str]:
    """Where a statement of a paper stands, for the ledger; empty for one of this book."""
    found = read()["statements"].get(label)
    if found is None:
        return {}
    paper = read()["papers"][parse(label).paper]
    place = PLACE.fullmatch(found["at"]).groupdict(default="")
    return {
        "version": version(parse(label).paper),
        "place": found["at"],
        **{part: place[part] for part in ("section", "number", "equations") if place[part]},
        **{part: found[part] for part in ("proof", "also", "words") if part in found},
        **({"lost": lost} if (lost := _lost(found, paper)) else {}),
    }


def _lost(found: dict, paper: dict) -> str:
    """What our text has lost of a statement."""
    return found.get("lost", "") or ("" if paper["formulas"] else "formulas")


def line(label: str) -> str:
    """The line below a statement of a paper. Returns: HTML; empty for a statement of this book."""
    known = source(label)
    if not known:
        return ""
    said = [known["place"]]
    said += [f"proof in {known['proof']}"] if "proof" in known else []
    said += [f"see also {known['also']}"] if "also" in known else []
    said += [f"lost in our text: {known['lost']}"] if "lost" in known else []
    link = f'<a class="reference external" href="https://arxiv.org/abs/{known["version"]}">arXiv {known["version"]}</a>'
    return f"{link}, {escape('; '.join(said), quote=False)}"


def show(box: Tag) -> None:
    """Put the line below a statement of a paper into its box; another element stays as it is."""
    if "proof" in box.get("class", ()) and (words := line(box.get("id", ""))):
        box.append(BeautifulSoup(f'<p class="statement-source">{words}</p>', "html.parser").p)


def versions(paper: str) -> str:
    """Which version of a paper the book treats, which others there are, and what could not be read. Returns: MyST."""
    known = read()["papers"][paper]
    treated = known["treated"]
    others = [name for name in known["versions"] if name != treated]
    said = lambda name: f"{_dated(name, known)} ({known['versions'][name]['known']})"
    listed = f" Other versions: {'; '.join(map(said, others))}." if others else ""
    return (
        f"{{cite:t}}`{paper}`, [arXiv {version(paper)}](https://arxiv.org/abs/{version(paper)}): "
        f"the book treats {said(treated)}.{listed} "
        f"What we have of it: {known['text']}. Not read: {known['unread']}."
    )


def _dated(name: str, known: dict) -> str:
    """A version in words, for example "version 1 of January 2026"."""
    day = known["versions"][name].get("day")
    return f"version {name[1:]}" + (f" of {day}" if day else "")


def treated() -> list[str]:
    """What the book treats of each paper, in words, for example "version 1 of January 2026"."""
    return [_dated(known["treated"], known) for known in read()["papers"].values()]


class PaperVersions(SphinxDirective):
    """Lists the papers with their versions."""

    def run(self) -> list[nodes.Node]:
        """Write the list. Returns: its nodes."""
        self.env.note_dependency(str(FILE))
        container = nodes.container()
        lines = [f"- {versions(paper)}" for paper in read()["papers"]]
        self.state.nested_parse(StringList(lines, str(FILE)), 0, container)
        return container.children
