"""Where rows are stored: one file an experiment, ``results/NAME.json``, one row a line.

A file is replaced as a whole or not at all, so a reader never meets half of one, and a run that is killed or a full disk leaves the
old one. Writers hold a lock while they read, add and replace, so two runs lose none of each other's rows. A file that cannot be
understood is never overwritten.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import filelock

from shallowformer.experiments import keys

_PARTS = {"key": str, "config": dict, "result": dict, "provenance": dict}
#: How long to wait for other writers, in seconds; each holds the lock for a fraction of one.
PATIENCE = 60


class StoreError(RuntimeError):
    """A store that cannot be read or must not be written."""


def folder() -> Traversable:
    """Where results lie unless said otherwise: inside an installed package, which may be zipped, or in ``results/`` of the repository."""
    inside = files("shallowformer") / "results"
    return inside if inside.is_dir() else Path(__file__).parents[3] / "results"


def path(name: str, results: Path | None = None) -> Traversable:
    """The file of an experiment, in ``folder()`` if no folder is given."""
    return (folder() if results is None else Path(results)) / f"{name}.json"


def load(name: str, results: Path | None = None) -> list[dict]:
    """The stored rows of an experiment, in the order in which they were added; none if nothing is stored.

    They are mappings with ``key``, ``config``, ``result`` and ``provenance``.
    """
    file = path(name, results)
    if not file.is_file():
        return []
    try:
        content = json.loads(file.read_text(encoding="utf-8"), parse_constant=_refuse)
    except ValueError as error:  # not JSON, or not UTF-8
        raise _corrupted(file, f"is not JSON ({error}), or was cut off") from error
    if not isinstance(content, dict) or not isinstance(content.get("rows"), list):
        raise _corrupted(file, "has no list of rows")
    if content.get("experiment") != name:
        raise _corrupted(file, f"belongs to experiment {content.get('experiment')!r}, not to {name!r}")
    seen = set()
    for number, row in enumerate(content["rows"], start=1):
        _check(file, name, number, row)
        if row["key"] in seen:
            raise _corrupted(file, f"has key {row['key']} twice; row {number} is the second")
        seen.add(row["key"])
    return content["rows"]


def add(name: str, rows: Sequence[dict], results: Path | None = None) -> None:
    """Add rows as ``load`` returns them, all or none; a row whose key is stored already stays as it is."""
    file = path(name, results)
    with _locked(file):
        held = {row["key"]: row for row in load(name, results)}
        fresh = {row["key"]: row for row in rows if row["key"] not in held}
        if fresh:
            _replace(file, _text(name, [*held.values(), *fresh.values()]))


def prepare(name: str, results: Path | None = None) -> None:
    """Make the folder if need be, and see that rows can be added to it: better now than after an hour's row."""
    with _locked(path(name, results)):
        pass


@contextlib.contextmanager
def _locked(file: Traversable) -> Iterator[None]:
    if not isinstance(file, Path):
        raise StoreError(
            f"{file} is inside an archive, where nothing can be added; name another folder of results"
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with filelock.FileLock(file.with_name(f".{file.stem}.lock"), timeout=PATIENCE):
            yield
    except filelock.Timeout as error:
        raise StoreError(
            f"{file} has been locked by another process for {PATIENCE} s; end that one, and run again"
        ) from error


def _text(name: str, rows: Sequence[dict]) -> str:
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    return f'{{"experiment": {json.dumps(name)}, "rows": [\n{lines}\n]}}\n'


def _replace(file: Path, text: str) -> None:
    part = file.with_name(f".{file.stem}.part")
    try:
        with part.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(file)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def _check(file: Path, name: str, number: int, row: object) -> None:
    if not isinstance(row, dict):
        raise _corrupted(file, f"has a row {number} that is not a mapping")
    for part, kind in _PARTS.items():
        if not isinstance(row.get(part), kind):
            lacks = "lacks" if part not in row else "has a wrong"
            raise _corrupted(file, f"{lacks} {part!r} in row {number} (key {row.get('key')!r})")
    expected = keys.key(name, row["config"])
    if row["key"] != expected:
        raise _corrupted(
            file,
            f"has key {row['key']!r} in row {number}, but the key of {keys.words(row['config'])} is {expected!r}",
        )


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number")


def _corrupted(file: Path, what: str) -> StoreError:
    return StoreError(
        f"{file} {what}. Nothing was overwritten. Mend or delete that row, or move the file away to begin anew; rows that were "
        "committed are in git as well, where a checkout would take the place of all rows since"
    )
