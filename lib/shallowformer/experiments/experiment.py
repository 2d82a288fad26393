"""What an experiment is: configurations, and how to compute a row of results from one."""

import functools
import math
import platform
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
import torch

import shallowformer
from shallowformer.experiments import SCALES, keys, store

#: Relative tolerance of what an experiment does not name: another machine rounds differently, and thousands of steps amplify it.
TOLERANCE = 1e-3

#: A frozen dataclass; see ``keys.described`` for what its fields may be.
Config = Any


@dataclass(frozen=True)
class Experiment:
    """A sweep that can be run, resumed, verified and shown."""

    name: str  # of the experiment and of its file, ``results/NAME.json``: letters, digits and underscores
    title: str  # one line
    #: scale ("smoke", "laptop" or "paper") → frozen configurations, the cheapest first
    plan: Callable[[str], Sequence[Config]]
    #: configuration and device → one row: numbers, strings, and lists and mappings of these. It depends on nothing else, so that it can run
    #: in any process, again, and give the same row up to rounding. A function of a module, as workers import it.
    compute: Callable[[Config, torch.device], dict]
    #: relative tolerance of ``verify`` by name of a result; names inside are joined by dots (``"ridge.V0"``), and a name also covers what
    #: is inside it. 1e-3 for all others; ``math.inf`` leaves a result out. A function of the configuration and the stored results where
    #: rows differ in what they allow.
    tolerance: Mapping[str, float] | Callable[[Config, Mapping], Mapping[str, float]] = field(
        default_factory=dict
    )
    #: what ``compute`` works in, e.g. "float32"; not needed if the configuration has a field ``dtype``.
    dtype: str | None = None

    def __post_init__(self) -> None:
        """Refuse a name that is no file's."""
        if not re.fullmatch(r"\w+", self.name):
            raise ValueError(f"name must consist of letters, digits and underscores, got {self.name!r}")


def planned(experiment: Experiment, scale: str) -> dict[str, Config]:
    """The configurations of a scale, by key, in the plan's order."""
    if scale not in SCALES:
        raise ValueError(f"scale must be one of {', '.join(SCALES)}, got {scale!r}")
    plan = {}
    for config in experiment.plan(scale):
        fields = keys.described(config)
        key = keys.key(experiment.name, fields)
        if key in plan:
            raise ValueError(
                f"plan of {experiment.name} must name each configuration once, {keys.words(fields)} is there twice"
            )
        plan[key] = config
    return plan


def stored(experiment: Experiment, scale: str = "paper", results: Path | None = None) -> list[dict]:
    """The stored rows of a scale, for a chapter: what is planned and stored, in the plan's order.

    Returns: one mapping a row, fields of the configuration and results side by side; ``StoreError`` if there is none, or if seeds make no
    difference.
    """
    rows = {row["key"]: row for row in store.load(experiment.name, results)}
    found = [rows[key] for key in planned(experiment, scale) if key in rows]
    if not found:
        there = [f"{len(rows.keys() & planned(experiment, other))} of scale {other}" for other in SCALES]
        raise store.StoreError(
            f"no row of {experiment.name} at scale {scale} is stored in {store.path(experiment.name, results)}; there are "
            f"{', '.join(there)}. Run it at that scale, or name another scale or folder"
        )
    refuse_seedless(experiment.name, found)
    return [{**row["config"], **row["result"]} for row in found]


def refuse_seedless(name: str, rows: Sequence[Mapping]) -> None:
    """Refuse rows to which the seed makes no difference anywhere: ten seeds that are ignored look like ten observations."""
    first: dict[str, Mapping] = {}
    twice = None
    for row in rows:
        if "seed" not in row["config"]:
            return
        others = repr(sorted((key, value) for key, value in row["config"].items() if key != "seed"))
        if row["result"] != first.setdefault(others, row)["result"]:
            return
        if row is not first[others]:
            twice = twice or (first[others], row)
    if twice:
        a, b = (row["config"]["seed"] for row in twice)
        raise store.StoreError(
            f"rows of {name} must depend on the seed, got the same for seeds {a} and {b}, and for all others: compute ignores it"
        )


def row(experiment: Experiment, config: Config, device: torch.device) -> dict:
    """Compute one row. Returns: the row as it is stored: ``key``, ``config``, ``result``, ``provenance``."""
    fields = keys.described(config)
    dtype = fields.get("dtype", experiment.dtype)
    if not isinstance(dtype, str):
        raise ValueError(
            f"experiment {experiment.name} must say its dtype, in Experiment(dtype=...) or a field dtype of its configurations"
        )
    begun = time.perf_counter()
    result = experiment.compute(config, device)
    seconds = time.perf_counter() - begun
    try:
        result = _plain("", result)
        shared = sorted(set(result) & set(fields))
        if shared:
            raise ValueError(f"results must not have names of configuration fields, got {', '.join(shared)}")
    except ValueError as error:
        raise ValueError(f"{experiment.name}, {keys.words(fields)}: {error}") from None
    return {
        "key": keys.key(experiment.name, fields),
        "config": fields,
        "result": result,
        "provenance": provenance(dtype, device) | {"seconds": round(seconds, 2)},
    }


def provenance(dtype: str, device: torch.device) -> dict:
    """What a row was computed with: versions, kind of device, number of threads, the commit in a repository; nothing about whose machine."""
    return {
        "dtype": dtype,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "threads": torch.get_num_threads(),
        "shallowformer": shallowformer.__version__,
        **({"commit": commit} if (commit := _commit()) else {}),
        "python": platform.python_version(),
        "torch": torch.__version__.split("+")[0],
        "numpy": numpy.__version__,
    }


@functools.cache
def _commit() -> str | None:
    """The commit of the repository, with a "+" if the package has been changed since."""
    root = store.folder().parent  # the package itself if it is installed
    if not (root / ".git").exists():
        return None
    git = functools.partial(subprocess.run, cwd=root, capture_output=True, text=True, check=False)
    try:
        head = git(["git", "rev-parse", "--short=12", "HEAD"]).stdout.strip()
        return head and head + "+" * bool(
            git(["git", "status", "--porcelain", "--", "lib", "book/companion"]).stdout
        )
    except OSError:  # no git
        return None


def _plain(name: str, value: object) -> Any:
    """What JSON makes of a result, or a refusal."""
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(f"{name}.{key}" if name else key, item) for key, item in value.items()}
    if not name:
        raise ValueError(f"a row must be a mapping from names to results, got {value!r}")
    if isinstance(value, (list, tuple)):
        return [_plain(f"{name}[{place}]", item) for place, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(
            f'result {name} must be finite, got {value}; store the string "{value}" if it is meant to be that'
        )
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return float(value)
    raise ValueError(
        f"result {name} must be a number, a string, or a list or mapping of these, got {type(value).__name__}"
    )
