"""The scoreboard and the errata page: directives that write what the ledger says."""

import functools
from collections import Counter
from dataclasses import dataclass

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from bookext import hypotheses
from bookext.badges import badges
from bookext.chapters import LEDGER, ROOT, statements
from bookext.results import name, of_the_book, topic, whose
from shallowformer import svg
from shallowformer.verify import ledger
from shallowformer.verify.claims import parse
from shallowformer.verify.power import Power
from shallowformer.verify.typeset import as_html
from shallowformer.verify.verdict import RECORDED

#: Verdicts of what fails: not true as printed; said informally, and not implied by what is proved.
FAILS = ("violated", "not implied")
#: What the errata page lists of what is declared: by the verdict of the check, and what may be read wrongly.
DECLARED = (*FAILS, "questions")

#: Where checks are declared to show that a paper's own words fail; what else fails is a finding like others.
ERRATA = ROOT / "book/errata.yml"


def reference(entry: dict, titles: dict[str, dict[str, str]]) -> str:
    """MyST source of a link to a claim's statement, by the paper's own number or by what it says. Returns: Markdown."""
    return f"{{prf:ref}}`{name(entry['id'], titles[entry['id']]['title'])} <{entry['id']}>`"


class _LedgerDirective(SphinxDirective):
    """Writes Markdown made from the ledger in its place, and rebuilds the page when the ledger changes."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(LEDGER))
        entries = ledger.read(LEDGER)
        container = nodes.container(classes=["ledger"])
        self.state.nested_parse(StringList(self.markdown(entries, statements()), str(LEDGER)), 0, container)
        return container.children

    def markdown(self, entries: list[dict], titles: dict[str, dict[str, str]]) -> list[str]:
        raise NotImplementedError


class Scoreboard(_LedgerDirective):
    """Every claim with its verdict, in one table; the page's script lets readers sort and filter it."""

    def run(self) -> list[nodes.Node]:
        """Write the table, and mark it for style sheet and script. Returns: the nodes of the table and of the line above it."""
        written = super().run()
        for node in written:
            for table in node.findall(nodes.table):
                table["classes"].append("scoreboard")
        return written

    def markdown(self, entries: list[dict], titles: dict[str, dict[str, str]]) -> list[str]:
        """Make the table. Returns: lines of MyST."""
        by_label = {entry["id"]: entry for entry in entries}
        checks = [check for entry in entries for check in (entry, *entry["parts"])]
        recorded = sum(check["verdict"] == RECORDED for check in checks)
        lines = [
            f"{len(entries)} statements, {len(checks)} checks"
            f"{f', of which {recorded} only repeat what is stored' if recorded else ''}.",
            "",
            "| statement | paper | kind | verdict | measured | would notice | the statement is |",
            "|---|---|---|---|---|---|---|",
        ]
        by_power = sorted(by_label, key=lambda label: _blindness(_keenest(by_label[label])[0]))
        for label, words in badges(of_the_book()).items():
            entry = by_label[label]
            about = topic(titles[label]["title"])
            cells = [
                reference(entry, titles) + (f": {about}" if about else ""),
                _by(entry, titles[label]["title"]) + f"{{cite:t}}`{entry['paper']}`",
                entry["kind"],
                " ".join(f"[{badge.word}]{{.verdict-badge .{badge.style}}}" for badge in words),
                _measured(entry).replace("-", "−") + _further(entry["parts"]),
                f"[{_noticed(entry)}]{{.rank-{by_power.index(label)}}}",
                entry["support"] + _hypotheses(label),
            ]
            lines.append(f"| {' | '.join(cells)} |")
        return lines


class Errata(_LedgerDirective):
    """Findings of the ledger: declared errata, by their verdict, or what else was found in a part of the book, by its folder."""

    required_arguments = 1
    final_argument_whitespace = True

    def markdown(self, entries: list[dict], titles: dict[str, dict[str, str]]) -> list[str]:
        """Make the list that the page asks for. Returns: lines of MyST."""
        return errata(self.arguments[0], entries, titles)


def errata(which: str, entries: list[dict], titles: dict[str, dict[str, str]]) -> list[str]:
    """What is declared to be wrong in the papers, or what else was found: what can be said better, and what a hypothesis is for.

    Returns: lines of MyST, an entry each, in the order of the book.
    """
    order = {label: place for place, label in enumerate(titles)}
    found = [
        (entry, declared().get(check["id"]), check)
        for entry in sorted(entries, key=lambda entry: order[entry["id"]])
        for check in _found(entry)
    ]
    if which in DECLARED:
        lines = [
            said.of(reference(entry, titles), f"{{cite:p}}`{entry['paper']}`", as_html(check["finding"]))
            for entry, said, check in found
            if said and which == (check["verdict"] if said.says else "questions")
        ]
    else:
        lines = [
            f"- {reference(entry, titles)}{_credit(entry, titles)}: {as_html(check['finding'])}"
            for entry, said, check in found
            if not said and titles[entry["id"]]["page"].split("/")[1] == which
        ]
    return lines or ["None among the statements treated so far."]


def _by(entry: dict, title: str) -> str:
    """Who adds a statement to a paper: what is partly this book's counts as its own."""
    if entry["origin"] == "paper":
        return ""
    return "ours, on " if "this book" in whose(title) else "known, on "


def _credit(entry: dict, titles: dict[str, dict[str, str]]) -> str:
    """Whose statement is meant: a variant leads to what it is a variant of, where that is a statement of the book."""
    if entry["origin"] == "paper":
        return f" {{cite:p}}`{entry['paper']}`"
    if not entry["variant"]:
        return " (this book)"
    varied = {"id": entry["id"].removesuffix(f"-{entry['variant']}")}
    # A letter alone says nothing to a reader: each part of the book begins again at A.
    if not entry["number"][-1].isdigit():
        return (
            f" (sharpens or adds to {reference(varied, titles)})"
            if varied["id"] in titles
            else " (this book)"
        )
    source = reference(varied, titles) if varied["id"] in titles else entry["number"]
    return f" (sharpens or adds to {source} of {{cite:t}}`{entry['paper']}`)"


@dataclass(frozen=True)
class Said:
    """What a paper says, and where: an erratum; or what we read there, where its formulas are lost: a question."""

    where: str
    says: str = ""  # a paper's own words or formula, of an erratum
    holds: str = ""  # in their place
    reads: str = ""  # what we take a paper to say, of a question

    def of(self, statement: str, paper: str, finding: str) -> str:
        """The line of the errata page; a question begins with the paper, as what answers it is this book's."""
        if self.says:
            return (
                f"- {statement} {paper}: {finding} *{self.where}:* “{self.says}”. *What holds:* {self.holds}."
            )
        return f"- *{self.where}* {paper}*.* We read: {self.reads}. {statement}: {finding}"


@functools.cache
def declared() -> dict[str, Said]:
    """Check → what it refutes: the errata of the papers, and questions to them."""
    entries = yaml.safe_load(ERRATA.read_text(encoding="utf-8"))
    return {entry.pop("check"): Said(**entry) for entry in entries}


def _found(entry: dict) -> list[dict]:
    """The checks of a statement that found something; of several that found the same, the first."""
    found: dict[tuple[bool, str], dict] = {}
    for check in (entry, *entry["parts"]):
        if check["finding"]:
            found.setdefault((check["id"] in declared(), check["finding"]), check)
    return list(found.values())


def _measured(check: dict) -> str:
    """The measurement that matters for the kind of a check, in a few words."""
    measured = check["measured"]
    if "worst_error" in measured:
        worst = max(
            (measured[key] / measured[f"tolerance_{key[6:]}"], key[6:])
            for key in measured
            if key.startswith("error_")
        )[1]
        return (
            f"error {short(measured[f'error_{worst}'])} (tolerance {short(measured[f'tolerance_{worst}'])})"
        )
    if "ratio" in measured:
        return f"ratio {measured['ratio']:.6f}"
    if check["kind"] == "enclosure":
        return f"enclosed to {short(measured['width'])} (relative width)"
    low, high = measured["interval"]
    if check["kind"] == "rate":
        return f"slope {measured['slope']:.3f} in [{low:.3f}, {high:.3f}]"
    return f"frequency {short(measured['frequency'], 2)} in [{short(low, 2)}, {short(high, 2)}]"


def short(value: float, digits: int = 1) -> str:
    """A number in few digits, as the other columns write it. Returns: for example "0.02", "3·10⁻¹⁶" or "10⁻⁷"."""
    if value == 0 or value >= 1e-3:
        return f"{float(f'{value:.{digits}g}'):g}"
    factor, exponent = f"{value:.{digits - 1}e}".split("e")
    ten = svg.power(int(exponent))
    return ten if float(factor) == 1 else f"{float(factor):g}·{ten}"


def _keenest(entry: dict) -> tuple[Power, str]:
    """Of a statement's checks, the one that would notice the smallest change: its power, and its part's name.

    What only repeats what is stored counts where there is nothing else.
    """
    checks = [entry, *entry["parts"]]
    evidence = [check for check in checks if check["verdict"] != RECORDED] or checks
    powers = ((Power.read(check["notices"]), check["id"]) for check in evidence)
    power, claim = min(powers, key=lambda found: found[0].change)
    return power, parse(claim).part


def _blindness(power: Power) -> float:
    """What checks are ranked by: a change, and of one to the smaller side, where that is relative, the change back."""
    if power.side == "smaller" and power.what != "exponent":
        return power.change / (1 - power.change) if power.change < 1 else float("inf")
    return power.change


def _noticed(entry: dict) -> str:
    power, part = _keenest(entry)
    return power.noticed + (f" (*{part}*)" if part else "")


def _hypotheses(label: str) -> str:
    """What the hypotheses of a statement are for, in numbers, where that is listed."""
    found = hypotheses.rows().get(label, ())
    return f" [{hypotheses.headed(found)}]{{.their-hypotheses}}" if found else ""


def _further(checks: list[dict]) -> str:
    """What further checks of a statement came to: up to two by their names; more are counted, and named in a fold (``bookext.folds``)."""
    named = [f"*{parse(check['id']).part}* {check['headline']}" for check in checks]
    if len(checks) < 3:
        return "".join(f"; {one}" for one in named)
    came = Counter(check["headline"].partition(" ×")[0] for check in checks)
    word, *others = came
    words = ": " + ", ".join(f"{word} ({count})" for word, count in came.most_common())
    if not others:
        words = ", all " + {"holds": "hold"}.get(word, word)
    return f" [and {len(checks)} more checks{words}]{{.further-checks}}[{'; '.join(named)}]{{.their-names}}"
