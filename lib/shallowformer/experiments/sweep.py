"""Run a sweep: compute what is missing, store each row as it is finished."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import torch
from tqdm import tqdm

from shallowformer.experiments import store
from shallowformer.experiments.experiment import Experiment, planned
from shallowformer.experiments.workers import Outcome, outcomes


@dataclass(frozen=True)
class Report:
    """What a sweep did.

    Args:
        planned: number of rows of the scale.
        before: how many of them were stored before.
        computed: how many were computed and stored now.
        failed: those that raised.
    """

    planned: int
    before: int
    computed: int
    failed: tuple[Outcome, ...]


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
    Two runs at once lose none of each other's rows, but may both compute the same.

    Args:
        experiment: what is run.
        scale: "smoke", "laptop" or "paper".
        results: folder of the store; that of the repository or installation if not given.
        device: where each row is computed.
        jobs: processes on this machine.
        scheduler: address of a Dask scheduler, whose workers take the place of ``jobs``.
        progress: show a bar with the time left.

    Raises:
        ValueError: no such scale, a plan that is not one, a wrong ``jobs`` or ``scheduler``.
        StoreError: the store is corrupted; nothing is computed.
        OSError: rows cannot be written, e.g. because the disk is full; a folder that cannot be written to is found before any work.
        Unavailable: workers that cannot be had, or died.
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
    return Report(len(plan), before, computed, tuple(failed))
