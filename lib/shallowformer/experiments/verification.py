"""Recompute a random sample of stored rows, and compare."""

import math
import random
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import torch
from tqdm import tqdm

from shallowformer.experiments import SCALES, store
from shallowformer.experiments.experiment import TOLERANCE, Experiment, planned
from shallowformer.experiments.workers import outcomes


@dataclass(frozen=True)
class Compared:
    """A row, stored and recomputed."""

    config: str  # the configuration in words
    differences: tuple[str, ...]  # a line each; empty if the row is confirmed


def sample(
    experiment: Experiment, share: float, seed: int, results: Path | None = None
) -> list[tuple[dict, object]]:
    """Draw a share, in (0, 1], rounded up, of the stored rows that the plan of some scale has: rows with their configurations."""
    if not 0 < share <= 1:
        raise ValueError(f"share must be in (0, 1], got {share!r}")
    plan = {key: config for scale in SCALES for key, config in planned(experiment, scale).items()}
    rows = [row for row in store.load(experiment.name, results) if row["key"] in plan]
    chosen = random.Random(seed).sample(rows, math.ceil(share * len(rows)))
    return [(row, plan[row["key"]]) for row in chosen]


def verify(
    experiment: Experiment,
    share: float = 0.05,
    seed: int = 0,
    results: Path | None = None,
    *,
    device: torch.device | str = "cpu",
    jobs: int = 1,
    scheduler: str | None = None,
    progress: bool = False,
) -> Iterator[Compared]:
    """Recompute a random share, in (0, 1], at least one, of the rows; each is handed out as soon as it is compared, and differs if it fails.

    The device may be another one than theirs.
    """
    drawn = sample(experiment, share, seed, results)
    held = {row["key"]: (row, config) for row, config in drawn}
    configs = [config for _, config in drawn]
    bar = tqdm(total=len(drawn), desc=f"verify {experiment.name}", unit="row", disable=not progress)
    with bar, closing(outcomes(experiment, configs, torch.device(device), jobs, scheduler)) as finished:
        for outcome in finished:
            bar.update()
            if outcome.row is None:
                yield Compared(outcome.config, (f"cannot be computed: {outcome.error}",))
            else:
                stored, config = held[outcome.row["key"]]
                tolerance = experiment.tolerance
                allowed = tolerance(config, stored["result"]) if callable(tolerance) else tolerance
                yield Compared(outcome.config, tuple(compare(stored, outcome.row, allowed)))


def compare(stored: Mapping, again: Mapping, tolerance: Mapping[str, float]) -> list[str]:
    """Say where a recomputed row departs from the stored one; tolerances are relative, by name of a result."""
    lines = []
    was, now = (row["provenance"].get("dtype") for row in (stored, again))
    if was != now:
        lines.append(f"was computed in {was}, is computed in {now} now")
    return lines + list(_differences("", stored["result"], again["result"], tolerance, TOLERANCE))


def _differences(
    name: str, old: object, new: object, tolerance: Mapping[str, float], near: float
) -> Iterator[str]:
    near = tolerance.get(name, near)
    if near == math.inf:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for part in dict.fromkeys([*old, *new]):
            inner = f"{name}.{part}" if name else part
            if part not in old or part not in new:
                yield f"{inner} is {'stored' if part in old else 'computed'} only"
            else:
                yield from _differences(inner, old[part], new[part], tolerance, near)
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{name} has {len(new)} entries, stored are {len(old)}"
        for place, (a, b) in enumerate(zip(old, new, strict=False)):
            for line in _differences(name, a, b, tolerance, near):
                yield f"at [{place}]: {line}"
    elif _number(old) and _number(new):
        apart, size = abs(old - new), max(abs(old), abs(new))
        if not apart <= near * size < math.inf:
            yield f"{name} is {new!r}, stored is {old!r}: {apart / size:.1e} apart, {near:g} allowed"
    elif type(old) is not type(new) or old != new:
        yield f"{name} is {new!r}, stored is {old!r}"


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
