"""Executions that are kept: in this checkout (``_build/executed``), and between checkouts in a cache of the user's.

A record holds what an execution printed and drew, what it read, and what became of the mistakes that were planted in it. It counts as
long as its key is the one of today and the files that it read are as they were.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import nbformat
import platformdirs

from bookext import keys
from bookext.markup import ROOT
from shallowformer.said import MIME

HERE = ROOT / "_build" / "executed"

#: Records of one chapter that the user's cache holds at most.
MOST = 8


@dataclass(frozen=True)
class Record:
    """One execution of a chapter."""

    chapter: str  # its path without suffix, relative to the repository
    key: str  # from ``keys.key``
    read: dict[str, str]  # path → ``keys.state`` of what it read
    outputs: list[list[dict]]  # of each code cell
    seconds: float  # of processor time, without planting
    planting: float  # seconds of processor time that planting took
    gigabytes: float  # of memory at the peak, without planting
    mistakes: list[dict]  # outcomes, as ``planting.Outcome``
    checks: dict[str, float]  # claim → seconds that its check took
    foreign: bool = False  # whether this checkout has it from the user's cache

    def counts(self, key: str) -> bool:
        """Whether it stands for an execution of today."""
        return self.key == key and all(keys.state(path) == state for path, state in self.read.items())

    def into(self, *notebooks: nbformat.NotebookNode) -> None:
        """Put the outputs into notebooks that together have the same code; what was said to the prose stands there."""
        cells = [cell for notebook in notebooks for cell in notebook.cells if cell.cell_type == "code"]
        for count, (cell, outputs) in enumerate(zip(cells, self.outputs, strict=True), start=1):
            shown = (output for output in outputs if MIME not in output.get("metadata", {}))
            cell.outputs = [nbformat.from_dict(output) for output in shown]
            cell.execution_count = count


def user_cache() -> Path:
    """Where executions are kept between checkouts; ``SHALLOWFORMER_CACHE`` names another folder."""
    return (
        Path(os.environ.get("SHALLOWFORMER_CACHE") or platformdirs.user_cache_path("shallowformer"))
        / "executed"
    )


def find(chapter: str, key: str, cold: bool = False, here: bool = False) -> tuple[Record | None, bool]:
    """A record that counts. Returns: the record, or None; and whether it comes from the user's cache just now.

    Args:
        cold: only what was executed in this checkout.
        here: only what this checkout has, wherever it was executed.
    """
    for folder in (HERE,) if cold or here else (HERE, user_cache()):
        for record in _records(folder, chapter):
            if record.counts(key) and not (cold and record.foreign):
                return record, folder != HERE
    return None, False


def last(chapter: str) -> Record | None:
    """The latest record of a chapter, whether it counts today or not."""
    return next((record for folder in (HERE, user_cache()) for record in _records(folder, chapter)), None)


def forget(chapter: str) -> None:
    """Throw away every record of a chapter, here and in the user's cache."""
    for folder in (HERE, user_cache()):
        for file in (folder / chapter).glob("*.json"):
            file.unlink(missing_ok=True)


def keep(record: Record) -> None:
    """Keep a record here, in place of the chapter's others, and in the user's cache, beside its latest ones."""
    name = f"{keys.digest(record.key, *map(str, sorted(record.read.items())))}.json"
    for folder, most in ((HERE, 1), (user_cache(), MOST)):
        text = json.dumps(
            asdict(replace(record, foreign=record.foreign and folder == HERE)), ensure_ascii=False
        )
        home = folder / record.chapter
        try:
            home.mkdir(parents=True, exist_ok=True)
            scratch = home / f".{name}.{os.getpid()}"
            scratch.write_text(text, encoding="utf-8")
            scratch.replace(home / name)
            for old in sorted(home.glob("*.json"), key=_age, reverse=True)[most:]:
                old.unlink(missing_ok=True)
        except OSError:
            if folder == HERE:  # a home that cannot be written to keeps nothing, and does no harm
                raise


def _records(folder: Path, chapter: str) -> Iterator[Record]:
    for file in sorted((folder / chapter).glob("*.json"), key=_age, reverse=True):
        try:
            yield Record(**json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):  # cut short, or of another version
            file.unlink(missing_ok=True)


def _age(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
