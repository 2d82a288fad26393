"""Run a chapter's code in this process and keep its checks, so that they can be run again, perturbed."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import matplotlib

from bookext.chapters import ROOT, read_notebook
from shallowformer import verify

matplotlib.use("Agg")


@dataclass(frozen=True)
class Settled:
    """A check of a chapter, and what came out.

    Args:
        check: as the chapter states it.
        remembered: the same, but what it measured is not measured again.
        verdict: the chapter's.
    """

    check: verify.Check
    remembered: verify.Check
    verdict: verify.Verdict


def code_cells(path: Path) -> list[str]:
    return [cell.source for cell in read_notebook(path).cells if cell.cell_type == "code"]


def _once(function: Callable) -> Callable:
    """A function of cases, evaluated once for each."""
    known: dict = {}

    @functools.wraps(function)
    def remembered(**case):
        key = tuple((name, id(value)) for name, value in sorted(case.items()))
        if key not in known:
            known[key] = case, function(**case)  # the case is kept, so that no other value gets its ids
        return known[key][1]

    return remembered


def _counted_once(fails: Callable) -> Callable:
    """Failures of draws, counted once for each number of draws and each seed."""
    known: dict = {}

    def remembered(draws, generator, **options):
        key = draws, generator.initial_seed(), *options.items()
        if key not in known:
            known[key] = fails(draws, generator, **options)
        return known[key]

    return remembered


def remembering(check: verify.Check) -> verify.Check:
    """The same check, which measures nothing twice; a search is not remembered."""
    if isinstance(check, verify.Rate):
        return replace(check, measure=functools.cache(check.measure))
    if isinstance(check, verify.Identity):
        routes = {name: _once(route) for name, route in check.routes.items()}
        return replace(check, formula=_once(check.formula), routes=routes, over=list(check.over))
    if isinstance(check, verify.Probability):
        return replace(check, fails=_counted_once(check.fails))
    return check


@functools.cache
def checks(chapter: str) -> dict[str, Settled]:
    """Claim (with its part) → check, of one chapter; readers' own claims are left out."""
    found: list[Settled] = []
    settle = verify.settle

    def keep(check):
        remembered = remembering(check)
        found.append(Settled(check, remembered, settle(remembered)))
        return found[-1].verdict

    namespace: dict = {"__name__": chapter}
    path = ROOT / f"{chapter}.md"
    with patch.object(verify, "settle", keep):
        for number, source in enumerate(code_cells(path)):
            exec(compile(source, f"{path.name}[{number}]", "exec"), namespace)
    return {each.check.claim: each for each in found if not each.check.claim.startswith("my-")}
