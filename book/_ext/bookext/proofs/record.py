"""What Coq found, kept: in ``results/proofs.json``, which is committed, and file by file in the user's cache.

The committed record stands for a statement as long as the printed one, its file and all that this needs are as they were. It decides which statements are *machine-checked*.
"""

import json
import os
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TypeVar

from filelock import FileLock

from bookext import keys
from bookext.markup import ROOT
from bookext.proofs import coq, sources
from bookext.records import user_cache

RECORD = ROOT / "results" / "proofs.json"
#: Compiled files, and whether Coq was there when this site was built.
BUILT, STATE = ROOT / "_build" / "proofs", ROOT / "_build" / ".proofs.json"

LEVEL = "machine-checked"

T = TypeVar("T")


def read() -> dict:
    """The committed record. Returns: the version that accepted the files, their hashes, and of each statement what it covers and rests on."""
    if not RECORD.exists():
        return {"coq": "", "files": {}, "statements": {}}
    return json.loads(RECORD.read_text(encoding="utf-8"))


def checked_here() -> bool:
    """Whether Coq has checked the proofs in this build."""
    return STATE.exists() and json.loads(STATE.read_text(encoding="utf-8"))["here"]


@cache
def accepted() -> dict[str, dict]:
    """What the committed record says of statements whose files are as they were. Returns: label → what it covers and rests on."""
    kept = read()
    today = {
        name
        for name, digest in kept["files"].items()
        if name in sources.needs() and sources.digest(name) == digest
    }
    return {
        label: one
        for label, one in kept["statements"].items()
        if one["file"] in today and one["printed"] == sources.printed(label)
    }


def is_machine_checked(found: dict) -> bool:
    """Whether what the record says of a statement makes it so: all of it, and on Coq's reals and classical logic alone."""
    return found["covers"] == "whole" and coq.INTEGERS not in found["rests on"]


def raised(entries: Iterable[dict]) -> list[dict]:
    """Ledger entries, those that the record says are machine-checked with that support."""
    checked = {label for label, found in accepted().items() if is_machine_checked(found)}
    return [{**entry, "support": LEVEL} if entry["id"] in checked else entry for entry in entries]


def check(jobs: int) -> tuple[dict, list[str]]:
    """Let Coq check every file that is not known to pass. Returns: a record as ``read`` gives it, and what went wrong, a line each."""
    found, wrong = {}, []
    sorter = TopologicalSorter(sources.needs())
    sorter.prepare()
    running: dict[Future, str] = {}
    with ThreadPoolExecutor(jobs) as pool:
        while sorter.is_active():
            running |= {pool.submit(_accepted, name): name for name in sorter.get_ready()}
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(future)
                try:
                    found[name] = future.result()
                except coq.Refused as refused:  # what asks for the file is told of, too
                    wrong.append(str(refused))
                sorter.done(name)
    statements: dict[str, dict] = {}
    if not wrong:
        try:
            for interval in (False, True):  # what calculates with enclosures rests on more
                theorems = [
                    one for one in sources.theorems().values() if sources.uses_intervals(one.file) == interval
                ]
                statements |= _described(theorems, _rests(theorems)) if theorems else {}
        except coq.Refused as refused:
            wrong.append(str(refused))
    files = {name: sources.digest(name) for name in sorted(found)}
    return {"coq": coq.version(), "files": files, "statements": dict(sorted(statements.items()))}, wrong


def _described(theorems: list[sources.Theorem], rests: list[str]) -> dict[str, dict]:
    """What the record keeps of theorems. Returns: by label."""
    return {
        one.label: {
            "file": one.file,
            "covers": "whole" if one.whole else "part",
            "printed": sources.printed(one.label),
            "rests on": rests,
            "mistakes": len(one.mistakes),
        }
        for one in theorems
    }


def _rests(theorems: list[sources.Theorem]) -> list[str]:
    """What theorems rest on together, in words."""
    names = sorted({one.file for one in theorems})

    def ask() -> list[str]:
        for name in names:
            _compiled(name)
        return coq.rests_on(coq.assumptions(theorems, BUILT))

    return _kept("rests", keys.digest(*map(sources.digest, names)), ask)


def unnoticed(name: str) -> list[str]:
    """Mistakes in the theorems of a file that Coq does not refuse. Returns: a line each."""
    return _kept(
        "planted", sources.digest(name), lambda: coq.unnoticed(name, _theorems(name), _compiled(name))
    )


def _accepted(name: str) -> bool:
    """Let Coq read a file, unless it is known to be accepted."""
    return _kept("accepted", sources.digest(name), lambda: _compiled(name).exists())


def _theorems(name: str) -> list[sources.Theorem]:
    return [one for one in sources.theorems().values() if one.file == name]


def _kept(what: str, of: str, find: Callable[[], T]) -> T:
    """What was found of files with this hash, from the user's cache if Coq and this code are as they were."""
    key = keys.digest(of, coq.version(), _method())
    kept = user_cache().with_name("proofs") / what / f"{key}.json"
    if kept.exists() and os.environ.get("COLD", "") in ("", "0"):
        return json.loads(kept.read_text(encoding="utf-8"))
    found = find()
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        scratch = kept.with_suffix(f".{os.getpid()}")
        scratch.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
        scratch.replace(kept)
    except OSError:  # a home that cannot be written to keeps nothing, and does no harm
        pass
    return found


@cache
def _method() -> str:
    """A hash of how files are checked."""
    return keys.digest(*(Path(module.__file__).read_text(encoding="utf-8") for module in (coq, sources)))


def _compiled(name: str) -> Path:
    """Compile a file and what it needs, but for what has been. Returns: the folder."""
    for needed in sources.closure(name):
        stamp, today = BUILT / f"{needed}.digest", sources.digest(needed)
        stamp.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(BUILT / f"{needed}.lock"):  # several files may need the same one
            if not stamp.exists() or stamp.read_text("utf-8") != today:
                coq.compile_file(needed, BUILT)
                stamp.write_text(today, "utf-8")
    return BUILT


def differences(fresh: dict, kept: dict) -> list[str]:
    """Where a fresh record departs from the committed one, but for Coq's version: a line each."""
    lines = []
    for what in ("files", "statements"):
        new, old = fresh[what], kept[what]
        lines += [f"{one}: checked, but not in the record" for one in new if one not in old]
        lines += [f"{one}: in the record, but not checked" for one in old if one not in new]
        lines += [
            f"{one}: is {new[one]}, the record says {old[one]}"
            for one in new
            if one in old and new[one] != old[one]
        ]
    return lines


def write(fresh: dict) -> None:
    """Keep a fresh record as the committed one."""
    RECORD.write_text(json.dumps(fresh, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    accepted.cache_clear()


def tell_site(here: bool) -> None:
    """Say to the site's builder whether Coq was there."""
    STATE.parent.mkdir(exist_ok=True)
    STATE.write_text(json.dumps({"here": here}), encoding="utf-8")
