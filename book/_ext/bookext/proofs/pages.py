"""How pages show what Coq has checked: a fold on the card of a statement's check, and lists for the page about it."""

import re
from collections.abc import Callable
from html import escape
from itertools import groupby

from bs4 import BeautifulSoup, Tag
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from bookext.proofs import record, sources
from bookext.proofs.sources import Definition, Theorem
from shallowformer.verify.typeset import as_html

#: The page with all definitions and statements.
PAGE = "book/machine_checked"


def anchor(definition: Definition) -> str:
    """Where the page shows a definition."""
    return f"defined-{definition.file.removesuffix('.v').replace('/', '-').replace('_', '-')}-{definition.name}".lower()


def show_on_card(name: Tag, address: Callable[[str], str]) -> None:
    """Tell on the card of a statement's check what of the statement Coq has checked; another card stays as it is."""
    label, card = name.get_text(), name.parent
    if "verdict" not in card.get("class", ()) or label not in record.accepted():
        return
    found, theorem = record.accepted()[label], sources.theorems()[label]
    support = card.find(class_="verdict-support")
    if support and record.is_machine_checked(found):
        support.string = record.LEVEL
    card.append(BeautifulSoup(_fold(theorem, found, address(PAGE)), "html.parser"))


def _fold(theorem: Theorem, found: dict, page: str) -> str:
    used = [
        f'<a class="reference internal" href="{page}#{anchor(one)}"><code>{escape(one.name)}</code></a>'
        for one in sources.used_by(theorem)
    ]
    defined = f"Definitions used: {', '.join(used)}. " if used else ""
    head = "Machine-checked" if record.is_machine_checked(found) else "Machine-checked in part"
    return (
        f'<details class="formal" id="formal-{theorem.label}"><summary>{head}: the formal statement</summary>'
        f"<p><strong>In words:</strong> {prose(theorem.reads)}</p>"
        f"<p><strong>Covers</strong> {prose(theorem.covers)}</p>"
        f"<pre>{escape(theorem.formal, quote=False)}</pre>"
        f"<p>{defined}"
        f"<code>proofs/{theorem.file}</code>, line {theorem.line}; {_accepted(found)}</p></details>"
    )


def _accepted(found: dict) -> str:
    """Who accepted a proof, when, and on what it rests."""
    when = "and so it is for this build" if record.checked_here() else "not checked in this build"
    rests = "; ".join(found["rests on"])
    return f"accepted by Coq {escape(record.read()['coq'])}, {when}; axioms used: {escape(rests) if rests else 'none'}; planted mistakes: {found['mistakes']}, none of which goes through."


def prose(text: str) -> str:
    """A comment as HTML: formulas set, code between backquotes."""
    pieces = re.split(r"`([^`]*)`", as_html(text))
    # What is no code has indices, also behind words: corr_t, W_QW_K, min_{s<τ}.
    indexed = lambda words: re.sub(r"_(?:{([^{}]*)}|([A-Z]|[a-z0-9]+))", r"<sub>\1\2</sub>", words)
    return "".join(
        f"<code>{piece}</code>" if place % 2 else indexed(piece) for place, piece in enumerate(pieces)
    )


class MachineChecked(SphinxDirective):
    """Lists what Coq has checked: ``counts``, ``statements``, or ``definitions``; or shows a ``lemma``, by its name, with its proof."""

    required_arguments = 1
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the list. Returns: its nodes."""
        for path in (record.RECORD, record.STATE, *sources.files()):
            self.env.note_dependency(str(path))
        container = nodes.container(classes=["formal-list"])
        what, *names = self.arguments
        lists = {"counts": counts, "statements": statements, "definitions": definitions, "lemma": lemma}
        lines = lists[what](*names)
        self.state.nested_parse(StringList(lines, str(record.RECORD)), 0, container)
        return container.children


def counts() -> list[str]:
    """How many statements are machine-checked, and by what. Returns: lines of MyST."""
    found = record.accepted().values()
    whole = sum(map(record.is_machine_checked, found))
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in sources.files())
    here = (
        "Coq was there when this was built; what it has accepted once, and what has not changed since, it does not read again."
        if record.checked_here()
        else "**Not checked in this build**, as Coq was missing: what stands here is the record of an earlier one."
    )
    return [
        f"{whole} statements are machine-checked as a whole, {len(found) - whole} more in part, in {lines:,} lines of Coq"
        f" {record.read()['coq']}; {sum(one['mistakes'] for one in found)} mistakes are planted in them, and none goes through. {here}"
    ]


def statements() -> list[str]:
    """A table of what is checked. Returns: lines of MyST."""
    from bookext.results import of_the_book

    rows = ["| statement | covers | in words |", "|---|---|---|"]
    for label, result in of_the_book().items():
        if label in record.accepted():
            theorem = sources.theorems()[label]
            rows.append(
                f"| {{prf:ref}}`{result.name} <{label}>` | {_cell(theorem.covers)} | {_cell(theorem.reads)} |"
            )
    return rows


def lemma(name: str) -> list[str]:
    """A lemma with its proof, as it stands in its file. Returns: lines of MyST."""
    found = [
        match[0]
        for file in sources.files()
        for match in re.finditer(rf"^Lemma {name}\b.*?^Qed\.", file.read_text(encoding="utf-8"), re.M | re.S)
    ]
    if len(found) != 1:
        raise ValueError(
            f"name must be that of one lemma under proofs/, and {len(found)} are called {name!r}"
        )
    return ["```text", *found[0].splitlines(), "```"]


def _cell(text: str) -> str:
    return re.sub(r"([|*_$\[\]])", r"\\\1", prose(text))


def definitions() -> list[str]:
    """Every definition that a formal statement uses, file by file. Returns: lines of MyST."""
    used = {one for label in record.accepted() for one in sources.used_by(sources.theorems()[label])}
    lines: list[str] = []
    for file in sources.in_order():
        mine = sorted((one for one in used if one.file == file), key=lambda one: one.line)
        if mine:
            lines += [f"**`proofs/{file}`**", "", "```{raw} html"]
            for words, block in groupby(mine, key=lambda one: one.words):
                texts = "\n".join(
                    f'<span id="{anchor(one)}">{escape(one.text, quote=False)}</span>' for one in block
                )
                lines.append(f'<div class="formal-definition"><p>{prose(words)}</p><pre>{texts}</pre></div>')
            lines += ["```", ""]
    return lines
