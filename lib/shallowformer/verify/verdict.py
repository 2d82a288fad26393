"""What a check found: one line of plain text anywhere, a card on a page, an entry in the ledger."""

import html
import sys
from dataclasses import dataclass, field

from jaxtyping import Float
from torch import Tensor

from shallowformer.verify.claims import ClaimId, parse
from shallowformer.verify.power import Power
from shallowformer.verify.typeset import as_html

#: Key under which a verdict travels in the metadata of a notebook's outputs; the ledger is gathered from these.
MIME = "application/vnd.shallowformer.verdict+json"

#: What a check can come to; badges, scoreboard and map know a colour for each.
VERDICTS = (
    "holds",
    "certified",
    "tight",
    "loose",
    "supported",
    "recorded",
    "undecided",
    "not implied",
    "violated",
    "needed",
)
#: A kind of its own, and its verdict: what a page types is what is stored. That can fail, and is no evidence for what is said.
RECORDED = "recorded"
#: What a check says whose search misses what the claim says is attained. No claim expects it, so it always fails.
SHORTFALL = "search fell short"

#: What a verdict means, where no finding says it better.
IN_WORDS = {
    "holds": "The formula and independent routes to it agree.",
    "certified": "The number lies in an interval that provably holds the true one.",
    "tight": "The bound is reached and never exceeded.",
    "loose": "The bound is never exceeded; it is never reached either.",
    "supported": "What was measured agrees with the claim.",
    "recorded": "The page repeats what is stored; that is no evidence for more.",
    "undecided": "What was measured cannot decide.",
    "not implied": "What is said does not follow from what is proved.",
    "violated": "A counterexample was found.",
    "needed": "Without this hypothesis the conclusion fails; where it is put back, it holds.",
}

#: How sure we are that the statement itself (not only the check) is true.
SUPPORT = ("proved", "numerical", "open")


class ClaimFailed(AssertionError):
    """A verdict does not match what the claim expects; the message names the claim."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of one check of one claim."""

    claim: str  # id of the claim, with ``/part`` for a further check of the same claim
    kind: str  # identity, inequality, rate, probability, enclosure, control or recorded
    expectation: str  # the verdict that the claim expects
    verdict: str  # the verdict that the check reached, one of ``VERDICTS``
    summary: str  # what was measured, in one line
    measured: dict[str, float | list[float] | str]  # the same as numbers, by name
    budget: dict[str, int | str]  # how hard it was tried: cases, restarts, steps, draws, seed
    notices: Power  # the smallest wrong change of the claim that the check would notice
    because: str = ""  # why the tolerance is what it is
    support: str = "proved"  # ``proved`` where the page proves the statement, else ``numerical`` or ``open``
    finding: str = ""  # one sentence for the scoreboard and the errata page, or ""
    #: the worst point found, name → tensor
    witness: dict[str, Float[Tensor, "..."]] = field(default_factory=dict, repr=False, compare=False)
    _shown_in: int | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a word that readers would not find explained."""
        if self.verdict not in (*VERDICTS, SHORTFALL):
            raise ValueError(f"verdict must be one of {', '.join(VERDICTS)}, got {self.verdict!r}")

    @property
    def id(self) -> ClaimId:
        """The parsed id."""
        return parse(self.claim)

    @property
    def passed(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.verdict == self.expectation

    @property
    def headline(self) -> str:
        """The verdict in a word or two, with the slack of a loose bound."""
        ratio = self.measured.get("ratio")
        if self.verdict == "loose" and isinstance(ratio, float) and ratio > 0:
            # Near 1 what matters is the excess over 1, which gets two digits.
            slack = float(f"{1 / ratio:.3g}") if ratio < 0.95 else 1 + float(f"{1 / ratio - 1:.2g}")
            return f"loose ×{slack:,.7g}"
        return self.verdict

    def line(self) -> str:
        """One line of plain text."""
        mark = "✓" if self.passed else "✗"
        expected = "" if self.passed else f" (expected {self.expectation})"
        return f"{mark} {self.claim:<26} {self.headline}{expected}: {self.summary}; {self.notices.words}"

    def entry(self) -> dict:
        """The verdict as the ledger keeps it (JSON-able)."""
        return {
            "claim": self.claim,
            "kind": self.kind,
            "expectation": self.expectation,
            "verdict": self.verdict,
            "headline": self.headline,
            "summary": self.summary,
            "measured": self.measured,
            "budget": self.budget,
            "notices": self.notices.entry(),
            "because": self.because,
            "support": self.support,
            "finding": self.finding,
        }

    def card(self) -> str:
        """An HTML card; looks right on the site (which styles its classes) and bearable without."""
        state = "passed" if self.passed else "failed"
        refuted = not self.passed or self.verdict == "violated"
        expected = "" if self.passed else f" <em>expected {html.escape(self.expectation)}</em>"
        says = self.finding or IN_WORDS.get(self.verdict, "")
        why = f"why this tolerance: {self.because}" if self.because else ""
        tried = ", ".join(f"{name} {value}" for name, value in self.budget.items())
        details = " · ".join(as_html(text) for text in (self.kind, tried, why) if text)
        return (
            f'<div class="verdict verdict-{state}" data-verdict="{html.escape(self.verdict)}">'
            f'<span class="verdict-mark" aria-label="{"refuted" if refuted else "confirmed"}">{"✗" if refuted else "✓"}</span> '
            f'<strong class="verdict-word">{html.escape(self.headline)}</strong>{expected} '
            f'<span class="verdict-says">{as_html(says)}</span> '
            f'<code>{html.escape(self.claim)}</code> <span class="verdict-support">{html.escape(self.support)}</span>'
            f'<details class="verdict-details"><summary>Measured, and how hard it was tried; {html.escape(self.notices.words)}</summary>'
            f'<span class="verdict-summary">{as_html(self.summary)}</span><br><small>{details}</small></details></div>'
        )

    def show(self) -> None:
        """Display the card in a notebook, print the line elsewhere."""
        shell = _shell()
        if shell is None:
            print(self.line())
            return
        from IPython.display import publish_display_data

        publish_display_data(
            {"text/plain": self.line(), "text/html": self.card()}, metadata={MIME: self.entry()}
        )
        object.__setattr__(self, "_shown_in", shell.execution_count)

    def _ipython_display_(self) -> None:
        """Show the verdict as the value of a cell, unless this very cell has shown it already."""
        shell = _shell()
        if shell is None or self._shown_in != shell.execution_count:
            self.show()


def _shell():
    """The running notebook kernel, or None."""
    if "IPython" not in sys.modules:
        return None
    shell = sys.modules["IPython"].get_ipython()
    return shell if getattr(shell, "kernel", None) else None
