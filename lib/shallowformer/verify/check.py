"""What all kinds of checks have in common: how one is stated, run, shown, and held to what it claims."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from inspect import signature
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from shallowformer.verify.claims import parse
from shallowformer.verify.power import Power
from shallowformer.verify.verdict import RECORDED, SUPPORT, ClaimFailed, Verdict


@dataclass(frozen=True)
class Check(ABC):
    """A claim and how it is put to the test; a kind adds what it is about, ``expect`` and ``because``.

    Args:
        claim: id, the label of the statement on the page.
        because: what a tolerance, a resolution or an allowance for rounding is derived from.
        support: ``proved``, ``numerical`` or ``open``.
        finding: a sentence for scoreboard and errata.
    """

    claim: str
    _: KW_ONLY
    support: str = "proved"
    finding: str = ""

    kind: ClassVar[str]
    expects: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        """Refuse a check that could not fail."""
        parse(self.claim)
        if self.expect not in self.expects:
            words = ", ".join(map(repr, self.expects[:-1])) + f" or {self.expects[-1]!r}"
            raise ValueError(f"expect must be {words} for this kind ({self.kind}), got {self.expect!r}")
        if not self.because:
            raise ValueError("because must say why it may differ by so much, got nothing")

    @abstractmethod
    def run(self) -> Verdict:
        """Measure, and compare with what is claimed."""

    def verdict(
        self,
        verdict: str,
        summary: str,
        measured: Mapping,
        budget: Mapping,
        notices: Power,
        witness: Mapping[str, Float[Tensor, "..."]] | None = None,
    ) -> Verdict:
        """The verdict on this claim; a claim that only repeats what is stored has a kind of its own."""
        return Verdict(
            claim=self.claim,
            kind=RECORDED if self.expect == RECORDED else self.kind,
            expectation=self.expect,
            verdict=verdict,
            summary=summary,
            measured=dict(measured),
            budget=dict(budget),
            notices=notices,
            because=self.because,
            support=self.support,
            finding=self.finding,
            witness=dict(witness or {}),
        )


_run: Callable[[Check], Verdict] = lambda check: check.run()


def run_by(runner: Callable[[Check], Verdict]) -> None:
    """Have every check run by a function that gives its verdict, and may keep what it measured."""
    global _run
    _run = runner


def settle(check: Check) -> Verdict:
    """Run a check, show its verdict, and insist on the expected one."""
    if check.support not in SUPPORT:
        raise ValueError(f"support must be one of {', '.join(SUPPORT)}, got {check.support!r}")
    if check.expect == RECORDED and check.support == "proved":
        raise ValueError(
            "support must be numerical or open of what is recorded: stored rows prove nothing, got 'proved'"
        )
    verdict = _run(check)
    verdict.show()
    if not verdict.passed:
        raise ClaimFailed(
            f"claim {verdict.claim} expects {verdict.expectation!r} but its check says {verdict.verdict!r}: {verdict.summary}"
        )
    return verdict


def putting(kind: type[Check]) -> Callable[..., Verdict]:
    """A function that states a claim of this kind and settles it, with the kind's arguments and documentation."""

    def put(*claimed, **options) -> Verdict:
        unknown = sorted(set(options) - {field.name for field in fields(kind)})
        if unknown:
            allowed = ", ".join(sorted(field.name for field in fields(kind)))
            raise ValueError(f"options must be among {allowed}; got {', '.join(unknown)}")
        return settle(kind(*claimed, **options))

    put.__name__, put.__qualname__, put.__module__ = kind.kind, kind.kind, "shallowformer.verify"
    shared = Check.__doc__.partition("Args:\n")[2]
    put.__doc__ = kind.__doc__.rstrip() + "\n" + shared
    put.__signature__ = signature(kind).replace(return_annotation=Verdict)
    return put
