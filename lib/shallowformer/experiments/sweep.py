"""Run a sweep: compute what is missing, store each row as it is finished."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import torch
from tqdm import tqdm

from shallowformer.experiments import store
from shallowformer.experiments.experiment import Experiment, planned, refuse_seedless
from shallowformer.experiments.workers import Outcome, outcomes


@dataclass(frozen=True)
class Report:
    """What a sweep did."""

    planned: int  # number of rows of the scale
    before: int  # how many of them were stored before
    computed: int  # how many were computed and stored now
    failed: tuple[Outcome, ...]  # those that raised


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
    Two runs at once lose none of each other's rows, but may both compute the same.

    Args:
        experiment: what is run.
        results: folder of the store; that of the repository or installation if not given.
        device: where each row is computed.
        jobs: processes on this machine.
        scheduler: address of a Dask scheduler, whose workers take the place of ``jobs``.
    """
    plan = planned(experiment, scale)
    held = {row["key"] for row in store.load(experiment.name, results)}
    missing = [config for key, config in plan.items() if key not in held]
    before = len(plan) - len(missing)
    if missing:
        store.prepare(experiment.name, results)
    failed, computed = [], 0
    bar = tqdm(
        total=len(plan), initial=before, desc=experiment.name, unit="row", disable=not progress, smoothing=0.1
    )
    with bar, closing(outcomes(experiment, missing, torch.device(device), jobs, scheduler)) as finished:
        for outcome in finished:
            if outcome.row is None:
                failed.append(outcome)
            else:
                store.add(experiment.name, [outcome.row], results)
                computed += 1
            bar.update()
    if computed:
        refuse_seedless(
            experiment.name, [row for row in store.load(experiment.name, results) if row["key"] in plan]
        )
    return Report(len(plan), before, computed, tuple(failed))
