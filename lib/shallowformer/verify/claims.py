"""The id of a claim: it is the label of the statement on the page and says which paper's statement it is."""

import re
from dataclasses import dataclass

#: Prefix of an id → (BibTeX key of the paper, its room in ``lib/`` and ``book/``).
ROOMS = {
    "kr": ("arda2026", "kernel_regime"),
    "rt": ("qin2025", "residual"),
    "ts": ("vasudeva2024", "token_selection"),
    "pa": ("goel2026", "preconditioned"),
}
#: Kinds of statements.
KINDS = ("fact", "lemma", "theorem", "proposition", "corollary", "definition", "remark")

#: Variants that are the paper's own: further versions of a numbered statement, and displays of its proof.
OF_THE_PAPER = {"kr-lemma-5-appendix", "kr-theorem-1-features", "kr-theorem-1-informal"}

#: What a paper numbers beside its theorems: ``ts-definition-a1`` is Assumption 1, ``ts-definition-c1`` Condition 1, ``ts-remark-e1`` Example 1.
LETTERED = {("definition", "a"): "Assumption", ("definition", "c"): "Condition", ("remark", "e"): "Example"}

_ID = re.compile(
    rf"({'|'.join(ROOMS)})-({'|'.join(KINDS)})-(\d+|[a-z]|(?<=definition-)[ac]\d+|(?<=remark-)e\d+)(?:-([a-z0-9-]+))?"
)


@dataclass(frozen=True)
class ClaimId:
    """What an id says: ``kr-fact-1-sharp`` is the variant ``sharp`` of the kernel-regime paper's Fact 1."""

    label: str  # the label on the page, without the part
    part: str  # name of a further check of the same claim (behind a slash), or ""
    paper: str  # BibTeX key of the paper, or "" for a reader's own claim
    #: the paper's own number, e.g. "Fact 1", or the book's letter, e.g. "Proposition A"; "" for a reader's own claim.
    number: str
    variant: str  # e.g. "sharp", or "".

    @property
    def origin(self) -> str:
        """Whose statement it is: ``paper``, or ``book`` for letters and for variants such as ``sharp``."""
        if self.label in OF_THE_PAPER:
            return "paper"
        return "book" if self.variant or not self.number[-1:].isdigit() else "paper"

    @property
    def own(self) -> bool:
        """Whether this is a reader's own claim: it is checked like any other, and stays out of the ledger."""
        return not self.paper


def parse(text: str) -> ClaimId:
    """Read an id such as ``kr-fact-1``, ``kr-fact-1-sharp/formula`` or, for a claim of one's own, ``my-claim``."""
    if not isinstance(text, str) or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*(/[a-z0-9-]+)?", text):
        raise ValueError(
            f"claim must be an id of lower-case words joined by '-', with at most one '/part', got {text!r}"
        )
    label, _, part = text.partition("/")
    match = _ID.fullmatch(label)
    if match:
        room, kind, number, variant = match.groups()
        lettered = LETTERED.get((kind, number[0])) if number[1:] else None
        name = f"{lettered} {number[1:]}" if lettered else f"{kind.capitalize()} {number.upper()}"
        return ClaimId(label, part, ROOMS[room][0], name, variant or "")
    if label.split("-")[0] in ROOMS:
        raise ValueError(
            f"claim must read PREFIX-KIND-NUMBER[-VARIANT] with a kind of {', '.join(KINDS)}, e.g. kr-fact-1-sharp; got {text!r}"
        )
    return ClaimId(label, part, "", "", "")
