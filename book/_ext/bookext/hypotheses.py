"""What each hypothesis of a statement is for: what ``book/hypotheses/*.yml`` say, a file a page, and what controls found."""

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape

import yaml
from bs4 import BeautifulSoup, Tag
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from bookext.chapters import CONTROLS, ROOT
from bookext.results import of_the_book
from shallowformer.verify import ledger
from shallowformer.verify.claims import ROOMS

FOLDER = ROOT / "book/hypotheses"

#: What a hypothesis can be, in the words of lists and of counts, and the class that colours it.
STATUS = {
    "needed": ("needed", "is-needed"),
    "not needed": ("not needed", "is-holds"),
    "this proof": ("needed by this proof", "is-loose"),
    "unknown": ("open", "is-undecided"),
}


@dataclass(frozen=True)
class Row:
    """A hypothesis of a statement."""

    hypothesis: str  # in a few words
    status: str  # of ``STATUS``
    because: str  # in a sentence or two of MyST
    check: str = ""  # the check that shows that it is needed: a control, or one that refutes
    rests_on: str = ""  # label of the stronger statement
    cite: str = ""  # key of who proves it
    proof: str = ""  # MyST
    tried: str = ""  # how hard it was tried to do without

    def entry(self) -> dict[str, str]:
        """As the public ledger has it."""
        return {name.replace("_", " "): value for name, value in asdict(self).items() if value}


@functools.cache
def files() -> dict[str, dict[str, list[Row] | str]]:
    """Docname of a page about hypotheses → label → its rows, or why it has none; read once."""
    found = {}
    for path in sorted(FOLDER.glob("*.yml")):
        listed = yaml.safe_load(path.read_text(encoding="utf-8"))
        found[_page(path.stem)] = {label: _rows(label, rows) for label, rows in listed.items()}
    return found


def _page(stem: str) -> str:
    room = next(room for _, room in ROOMS.values() if stem.startswith(room))
    return f"book/{room}/hypotheses{stem.removeprefix(room)}"


def _rows(label: str, listed: list[dict] | dict) -> list[Row] | str:
    if isinstance(listed, dict):
        return listed["none"]
    if any("|" in str(text) for row in listed for text in row.values()):
        raise ValueError(f"{label}: a row stands in a table, where | ends a cell: write \\vert")
    try:
        return [Row(**{name.replace(" ", "_"): str(value) for name, value in row.items()}) for row in listed]
    except TypeError as error:
        raise ValueError(f"{label}: a row has a key that is not known, or lacks one: {error}") from error


@functools.cache
def rows() -> dict[str, list[Row]]:
    """Label → its hypotheses, of statements that have any."""
    return {
        label: found
        for page in files().values()
        for label, found in page.items()
        if not isinstance(found, str)
    }


@functools.cache
def pages() -> dict[str, str]:
    """Label → docname of the page that tells of its hypotheses."""
    return {label: page for page, listed in files().items() for label in listed}


@functools.cache
def controls() -> dict[str, dict]:
    """Control → what was found."""
    return {entry["id"]: entry for entry in ledger.read(CONTROLS)}


def counted(found: Iterable[Row]) -> str:
    """How many hypotheses are what, for example "3 needed, 1 not needed, 1 open"."""
    came = Counter(row.status for row in found)
    return ", ".join(f"{came[status]} {words}" for status, (words, _) in STATUS.items() if came[status])


def headed(found: Sequence[Row]) -> str:
    """The same with the number of all of them before it."""
    return f"{_several(len(found))}: {counted(found)}"


def anchor(label: str) -> str:
    """Where its page tells of the hypotheses of a statement, or shows a control."""
    return f"hypotheses-{label.replace('/', '-')}"


def public(label: str) -> dict:
    """The hypotheses of a statement for the public ledger, each with the control that belongs to it; empty where none are listed."""
    if label not in rows():
        return {}
    shown = lambda row: {"control": controls()[row.check]} if row.check in controls() else {}
    return {"hypotheses": [row.entry() | shown(row) for row in rows()[label]]}


def mark_control(name: Tag) -> None:
    """Let the card of a control be found by the row that leads to it; other code stays as it is."""
    if "verdict" in name.parent.get("class", ()) and name.get_text() in controls():
        name.parent["id"] = anchor(name.get_text())


def show(box: Tag, address: Callable[[str], str]) -> None:
    """Put a fold with its hypotheses below a statement; another element stays as it is."""
    label = box.get("id", "")
    if "proof" in box.get("class", ()) and label in rows():
        box.insert_after(BeautifulSoup(_fold(label, address(pages()[label])), "html.parser"))


def _fold(label: str, page: str) -> str:
    found = rows()[label]
    items = "".join(
        f'<li><span class="verdict-badge {STATUS[row.status][1]}">{STATUS[row.status][0]}</span> {_words(row.hypothesis)}</li>'
        for row in found
    )
    return (
        f'<details class="hypotheses"><summary>{headed(found)}</summary><ul>{items}</ul>'
        f'<p><a class="reference internal" href="{page}#{anchor(label)}">Why, with instances and proofs</a></p></details>'
    )


def _several(count: int) -> str:
    return f"{count} hypothes{'i' if count == 1 else 'e'}s"


def _words(text: str) -> str:
    """A phrase as HTML, its formulas as Sphinx writes them."""
    pieces = re.split(r"\$([^$]+)\$", text)
    set_as = (
        lambda text: escape(text, quote=False),
        lambda formula: (
            f'<span class="math notranslate nohighlight">\\({escape(formula, quote=False)}\\)</span>'
        ),
    )
    return "".join(set_as[place % 2](piece) for place, piece in enumerate(pieces))


class Hypotheses(SphinxDirective):
    """Lists the hypotheses of a statement, by its label, or says how many a page (``counts`` and a file's name) or the book (``counts``) has."""

    required_arguments = 1
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the list. Returns: its nodes."""
        for path in (CONTROLS, *FOLDER.glob("*.yml")):
            self.env.note_dependency(str(path))
        what = self.arguments[0]
        container = nodes.container(
            classes=["hypotheses-list"], ids=[] if what == "counts" else [anchor(what)]
        )
        self.state.nested_parse(StringList(written(*self.arguments), str(FOLDER)), 0, container)
        return [container]


def written(what: str, *names: str, linked: bool = True) -> list[str]:
    """What the directive writes for its arguments; ``linked``, as on the site, where a control is elsewhere on the page. Returns: lines of MyST."""
    return [counts(*names)] if what == "counts" else listed(what, linked)


def counts(name: str = "") -> str:
    """How many hypotheses a page has, by the name of its file, or the book, and what they are. Returns: MyST."""
    chosen = [files().get(_page(name), {})] if name else files().values()
    statements = [found for page in chosen for found in page.values() if not isinstance(found, str)]
    together = [row for found in statements for row in found]
    return f"{len(statements)} statements, {headed(together)}."


def listed(label: str, linked: bool = True) -> list[str]:
    """The hypotheses of a statement, with what each is for. Returns: lines of MyST."""
    about = f": {topic}" if (topic := of_the_book()[label].topic) else ""
    head = f"**{_link(label)}**{about}. "
    found = files()[pages()[label]][label]
    if isinstance(found, str):
        return [f"{head}No hypotheses: {found}"]
    table = ["| hypothesis | it is | |", "|---|---|---|"]
    for row in found:
        word, style = STATUS[row.status]
        table.append(f"| {row.hypothesis} | [{word}]{{.verdict-badge .{style}}} | {_reason(row, linked)} |")
    return [
        f"{head}{headed(found)}.",
        "",
        *(cell.replace("\n", " ") for cell in table),
    ]


def _link(label: str) -> str:
    return f"{{prf:ref}}`{of_the_book()[label].name} <{label}>`"


def _reason(row: Row, linked: bool) -> str:
    """Why a hypothesis is what it is, with what shows it. Returns: MyST in one line."""
    said = [row.because.strip()]
    if row.check in controls():
        said.append(f'<a href="#{anchor(row.check)}">Control</a>.' if linked else f"Control: `{row.check}`.")
    elif row.check:
        label, _, part = row.check.partition("/")
        said.append(f"See {_link(label)}" + (f", check *{part}*." if part else "."))
    said += [f"Stronger: {_link(row.rests_on)}."] if row.rests_on else []
    said += [f"Proved by {{cite:t}}`{row.cite}`."] if row.cite else []
    said += [f"Proof: {row.proof.strip()}"] if row.proof else []
    said += [f"Tried: {row.tried.strip()}"] if row.tried else []
    return " ".join(said)
