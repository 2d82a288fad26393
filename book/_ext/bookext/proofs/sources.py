"""The formal statements under ``proofs/``: what their files say of them, read without Coq.

Above each theorem that proves a statement of the book stands a comment: the statement's label, then lines that begin with ``Covers:``,
``Reads:``, ``Constants:`` and ``Mistake:``; what does not begin so goes on with the line before it.
"""

import functools
import re
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

from bookext import keys
from bookext.chapters import statements
from bookext.markup import ROOT

FOLDER = ROOT / "proofs"

#: How the line begins that says that a formal statement says all that the printed one says.
WHOLE = "the whole statement"

_THEOREM = re.compile(
    r"\(\*\*\s*(?P<label>[a-z]{2}-[\w-]+)\s*\n(?P<says>.*?)\*\)\s*"
    r"(?P<formal>Theorem\s+(?P<name>\w+).*?)\s*\nProof\.(?P<proof>.*?)\nQed\.",
    re.DOTALL,
)
_DEFINITION = re.compile(
    r"(?:\(\*\*\s*(?P<words>(?:(?!\*\)).)*?)\s*\*\)\s*)?^(?P<text>(?:Definition|Fixpoint|Inductive)\s+(?P<name>\w+).*?\.)(?=\s*\n)",
    re.DOTALL | re.MULTILINE,
)
_REQUIRED = re.compile(r"From\s+Shallow\s+Require\s+Import\s+(.*?)\.\s*$", re.MULTILINE | re.DOTALL)
_HEADS = re.compile(r"\s*(Covers|Reads|Constants|Mistake):\s*(.*)")


@dataclass(frozen=True)
class Constant:
    """A number in a formal statement that the package has too."""

    formal: str  # as it stands there
    code: str  # an expression on the package


@dataclass(frozen=True)
class Mistake:
    """A change of a formal statement after which its proof must fail."""

    says: str  # as it is declared
    old: str
    new: str


@dataclass(frozen=True)
class Theorem:
    """A statement of the book as a theorem of Coq."""

    label: str  # of the statement
    file: str  # relative to ``proofs/``
    line: int  # in the file
    covers: str
    reads: str  # the formal statement in words
    formal: str  # as compiled, from ``Theorem`` to its full stop
    proof: str  # what stands between ``Proof.`` and ``Qed.``
    constants: tuple[Constant, ...] = ()
    mistakes: tuple[Mistake, ...] = ()

    @property
    def name(self) -> str:
        """What Coq calls it."""
        return self.label.replace("-", "_")

    @property
    def whole(self) -> bool:
        """Whether it says all that the printed statement says."""
        return self.covers.startswith(WHOLE)

    def changed(self, mistake: Mistake) -> str:
        """The formal statement with a mistake in it, in one line."""
        return flat(self.formal).replace(mistake.old, mistake.new, 1)


@dataclass(frozen=True)
class Definition:
    """A definition that formal statements use."""

    name: str
    file: str  # relative to ``proofs/``
    line: int  # in the file
    words: str  # the comment above it, or above the definitions that it stands among
    text: str


def flat(text: str) -> str:
    """A text in one line."""
    return " ".join(text.split())


def files() -> list[Path]:
    """Every file of formal proofs, the shared ones first."""
    return sorted(FOLDER.rglob("*.v"), key=lambda file: (file.parent.name != "base", file))


def name_of(file: Path) -> str:
    """Returns: for example ``kernel_regime/gradients.v``."""
    return file.relative_to(FOLDER).as_posix()


def required(text: str) -> list[str]:
    """The files of ``proofs/`` that a file's text asks for, as names."""
    return [f"{module.replace('.', '/')}.v" for found in _REQUIRED.findall(text) for module in found.split()]


def needs() -> dict[str, list[str]]:
    """What every file asks for. Returns: name → names."""
    found = {name_of(file): required(file.read_text(encoding="utf-8")) for file in files()}
    for name, needed in found.items():
        if missing := [one for one in needed if one not in found]:
            raise ValueError(f"proofs/{name} asks for {', '.join(missing)}, which is not there")
    return found


def in_order() -> list[str]:
    """The names of all files, each behind those that it asks for."""
    return list(TopologicalSorter(needs()).static_order())


def closure(name: str) -> list[str]:
    """A file and all that it needs, in the order of ``in_order``."""
    asked, needed, waiting = needs(), set(), {name}
    while waiting:
        needed.add(one := waiting.pop())
        waiting |= set(asked[one]) - needed
    return [one for one in in_order() if one in needed]


def uses_intervals(name: str) -> bool:
    """Whether a file, or what it needs, calculates with enclosures."""
    return any("From Interval Require" in (FOLDER / one).read_text(encoding="utf-8") for one in closure(name))


def printed(label: str) -> str:
    """A hash of a statement as its page prints it; "" if no page does."""
    one = statements().get(label)
    return keys.digest(flat(one["title"]), flat(one["body"]))[:16] if one else ""


def digest(name: str) -> str:
    """A hash of a file and of all that it needs."""
    return keys.digest(*(f"{one}\0{(FOLDER / one).read_text(encoding='utf-8')}" for one in closure(name)))


def theorems_of(text: str, file: str = "") -> list[Theorem]:
    """The statements of the book that a file proves. Returns: in its order."""
    found = []
    for match in _THEOREM.finditer(text):
        said = _said(match["says"])
        where = f"proofs/{file}: {match['label']}"
        if match["name"] != match["label"].replace("-", "_"):
            raise ValueError(f"{where} must be proved by a theorem of that name, got {match['name']}")
        if unsaid := [head for head in ("Covers", "Reads", "Mistake") if not said.get(head)]:
            raise ValueError(f"{where} must say {', '.join(unsaid)}")
        found.append(
            Theorem(
                match["label"],
                file,
                text[: match.start("formal")].count("\n") + 1,
                said["Covers"][0],
                " ".join(said["Reads"]),
                match["formal"],
                match["proof"],
                tuple(_constant(line, where) for line in said.get("Constants", ())),
                tuple(_mistake(line, match["formal"], where) for line in said["Mistake"]),
            )
        )
    return found


def _said(text: str) -> dict[str, list[str]]:
    said: dict[str, list[str]] = {}
    head = ""
    for line in filter(str.strip, text.splitlines()):
        if begun := _HEADS.match(line):
            head = begun[1]
            said.setdefault(head, []).append(begun[2].strip())
        elif head:
            said[head][-1] += f" {line.strip()}"
    return said


def _constant(line: str, where: str) -> Constant:
    formal, equals, code = line.rpartition(" = ")
    if not equals:
        raise ValueError(f"{where}: a constant must read FORMAL = CODE, got {line!r}")
    return Constant(formal.strip(" `"), code.strip(" `"))


def _mistake(line: str, formal: str, where: str) -> Mistake:
    quoted = re.findall(r"`([^`]*)`", line)
    dropped = line.startswith("without")
    if len(quoted) != 2 - dropped or flat(quoted[-1]) not in flat(formal):
        raise ValueError(
            f"{where}: a mistake must read `NEW` for `OLD`, or without `OLD`, and OLD stand in the statement, got {line!r}"
        )
    # A hypothesis that is dropped leaves its place, so that the proof finds the others where they were.
    new = "True ->" * quoted[0].endswith("->") if dropped else quoted[0]
    return Mistake(line, flat(quoted[-1]), new)


@functools.cache
def theorems() -> dict[str, Theorem]:
    """Every statement of the book that has a formal proof. Returns: label → theorem."""
    found: dict[str, Theorem] = {}
    for file in files():
        for one in theorems_of(file.read_text(encoding="utf-8"), name_of(file)):
            if one.label in found:
                raise ValueError(
                    f"proofs/{one.file}: {one.label} is proved in proofs/{found[one.label].file} already"
                )
            found[one.label] = one
    return found


@functools.cache
def definitions() -> dict[str, list[Definition]]:
    """Every definition, by its name. Returns: name → definitions, one a file that defines it."""
    found: dict[str, list[Definition]] = {}
    for file in files():
        for one in definitions_of(file.read_text(encoding="utf-8"), name_of(file)):
            found.setdefault(one.name, []).append(one)
    return found


def definitions_of(text: str, file: str = "") -> list[Definition]:
    """The definitions in a file. Returns: in its order."""
    found: list[Definition] = []
    end = 0
    for match in _DEFINITION.finditer(text):
        words = " ".join((match["words"] or "").split())
        if not words and found and text[end : match.start("text")] == "\n":
            words = found[-1].words
        found.append(
            Definition(match["name"], file, text[: match.start("text")].count("\n") + 1, words, match["text"])
        )
        end = match.end()
    return found


def used_by(theorem: Theorem) -> list[Definition]:
    """The definitions that a formal statement names, and those that these name. Returns: in the order of the files."""
    at_hand = set(closure(theorem.file))
    found: dict[tuple[str, str], Definition] = {}
    waiting = [theorem.formal]
    while waiting:
        for word in set(re.findall(r"\w+", waiting.pop())):
            for one in definitions().get(word, ()):
                if one.file in at_hand and (one.file, one.name) not in found:
                    found[one.file, one.name] = one
                    waiting.append(one.text)
    order = in_order()
    return sorted(found.values(), key=lambda one: (order.index(one.file), one.line))
