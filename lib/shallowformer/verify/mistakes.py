"""Mistakes that a check must notice: in a formula, in a package function, in what is measured.

Mistakes that only rescale a constant or move an exponent are not planted: how small a change of that kind a check
notices follows from what it measured, and its verdict says it (``Verdict.notices``).
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from unittest.mock import patch

from torch import Tensor


@dataclass(frozen=True)
class Mistake:
    """A mistake: in the check itself (``change``), or in a package function that the check uses (``where``, ``wrong``)."""

    what: str  # in words
    change: Callable = lambda check: check  # the check → the check with the mistake in it
    where: object = None  # the module or class that holds the function
    name: str = ""  # of the function there
    wrong: object = None  # what takes its place; None for a mistake in the check itself

    @contextlib.contextmanager
    def planted(self) -> Iterator[None]:
        """Put the wrong function in place for a while."""
        if self.wrong is None:
            yield
        else:
            with patch.object(self.where, self.name, self.wrong):
                yield


def package(what: str, where: object, name: str, wrong: object) -> Mistake:
    """A package function replaced by a wrong one."""
    return Mistake(what, where=where, name=name, wrong=wrong)


def formula(what: str, wrong: Callable) -> Mistake:
    """The formula of an identity replaced by a function of its right values and the case."""
    return Mistake(
        what, lambda check: replace(check, formula=lambda **case: wrong(check.formula(**case), case))
    )


def measured(what: str, wrong: Callable[[float], float]) -> Mistake:
    """What a rate measures replaced by a function of it."""
    return Mistake(what, lambda check: replace(check, measure=lambda x, seed: wrong(check.measure(x, seed))))


#: Of a control: its instance fails no longer.
PUT_BACK = Mistake(
    "the hypothesis put back",
    lambda check: replace(check, instance=lambda kept: check.instance(kept=True)),
)


def _first_fails(failed: Tensor) -> Tensor:
    failed = failed.clone()
    failed[0] = ~failed[0]
    return failed


#: Of a check of a probability that allows for no failure among its draws.
SIGNS = [
    Mistake("the other way", lambda check: replace(check, fails=lambda *draws: ~check.fails(*draws))),
    Mistake("one draw that fails", lambda check: replace(check, fails=lambda *draws: _first_fails(check.fails(*draws)))),
]  # fmt: skip
