"""Run a sweep: compute what is missing, store each row as it is finished."""

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import torch
from tqdm import tqdm

from shallowformer.experiments import store
from shallowformer.experiments.experiment import Experiment, planned, refuse_seedless
from shallowformer.experiments.workers import Outcome, outcomes

#: Seconds that a stored row may have taken to be computed once more for the names of its results.
GLANCE = 10


@dataclass(frozen=True)
class Report:
    """What a sweep did."""

    planned: int  # number of rows of the scale
    before: int  # how many of them were stored before
    computed: int  # how many were computed and stored now
    failed: tuple[Outcome, ...]  # those that raised
    lacking: tuple[str, ...] = ()  # results that compute returns today, and stored rows lack


def run(
    experiment: Experiment,
    scale: str,
    results: Path | None = None,
    *,
    device: torch.device | str = "cpu",
    jobs: int = 1,
    scheduler: str | None = None,
    progress: bool = False,
) -> Report:
    """Compute the rows of a scale that are not stored yet; a row that fails does not stop the others.

    Stopped at any time, even by a kill or a full disk, it keeps every row that it had stored; the next run computes the others only.
    If the seed turns out to make no difference to any row, that is a ``StoreError``.
    Two runs at once lose none of each other's rows, but may both compute the same. Rows that were stored stay, also where compute has
    changed; what they lack is reported, as far as a look at quick ones tells.
    """
    plan = planned(experiment, scale)
    held = {row["key"]: row for row in store.load(experiment.name, results) if row["key"] in plan}
    missing = [config for key, config in plan.items() if key not in held]
    before = len(plan) - len(missing)
    if missing:
        store.prepare(experiment.name, results)
    failed, computed = [], []
    bar = tqdm(
        total=len(plan), initial=before, desc=experiment.name, unit="row", disable=not progress, smoothing=0.1
    )
    with bar, closing(outcomes(experiment, missing, torch.device(device), jobs, scheduler)) as finished:
        for outcome in finished:
            if outcome.row is None:
                failed.append(outcome)
            else:
                store.add(experiment.name, [outcome.row], results)
                computed.append(outcome.row)
            bar.update()
    if computed:
        refuse_seedless(
            experiment.name, [row for row in store.load(experiment.name, results) if row["key"] in plan]
        )
    looked_at = [plan[row["key"]] for row in _quick(held.values(), computed)]
    with closing(outcomes(experiment, looked_at, torch.device(device), 1, scheduler)) as again:
        fresh = [*computed, *(outcome.row for outcome in again if outcome.row)]
    return Report(len(plan), before, len(computed), tuple(failed), _lacking(held, fresh))


def _names(row: Mapping) -> frozenset[str]:
    return frozenset(row["result"])


def _quick(held: Iterable[Mapping], computed: Iterable[Mapping]) -> list[Mapping]:
    """Of stored rows with the same results that no row of today has, the quickest each, if it is quick."""
    today = set(map(_names, computed))
    seconds = lambda row: row["provenance"].get("seconds", GLANCE + 1)
    quickest = {_names(row): row for row in sorted(held, key=seconds, reverse=True)}
    return [row for names, row in quickest.items() if names not in today and seconds(row) <= GLANCE]


def _lacking(held: Mapping[str, Mapping], fresh: Iterable[Mapping]) -> tuple[str, ...]:
    """Results of today's rows that the same row lacks where it is stored, or all stored ones."""
    everywhere = frozenset().union(*map(_names, held.values()))
    new = (_names(row) - (_names(held[row["key"]]) if row["key"] in held else everywhere) for row in fresh)
    return tuple(sorted(frozenset().union(*new))) if held else ()
