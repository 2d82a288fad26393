"""Execute the chapters that are stale, side by side, and hold what they find against the ledger.

    python -m bookext.execute             run what is stale; fail if a claim, a chapter or the ledger does not agree
    python -m bookext.execute --accept    the same, but write what was found into the ledger

Outputs go to the builder's cache, so the site's build only reads them. A cached chapter is stale when its code, the
package, the pinned environment or the stored results have changed.
"""

import argparse
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from bookext.chapters import LEDGER, ROOT, chapters, read_notebook, statements
from shallowformer.verify import ledger
from shallowformer.verify.claims import parse
from shallowformer.verify.verdict import MIME

CACHE = ROOT / "_build" / ".jupyter_cache"

#: What a chapter may take: seconds of wall time on two cores, and memory.
SECONDS, GIGABYTES = 60, 4


@dataclass(frozen=True)
class Run:
    """One chapter's execution.

    Args:
        chapter: its path without suffix, relative to the repository.
        notebook: with outputs.
        seconds: wall time, 0 for a cached one.
        gigabytes: peak memory of the kernel where it is known, else 0.
        error: what went wrong, or "".
    """

    chapter: str
    notebook: nbformat.NotebookNode
    seconds: float = 0.0
    gigabytes: float = 0.0
    error: str = ""


def environment_key() -> str:
    """Hash of what chapters depend on besides their own code."""
    digest = hashlib.sha256()
    inputs = [
        ROOT / "requirements.txt",
        *sorted((ROOT / "lib").rglob("*.py")),
        *sorted((ROOT / "results").rglob("[!.]*")),  # not the locks
    ]
    for path in inputs:
        if path.is_file() and path != LEDGER:
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def open_cache():
    """The builder's cache, emptied if it was filled under another package, environment or set of results."""
    key, stamp = environment_key(), CACHE / "environment-key"
    if CACHE.exists() and (not stamp.exists() or stamp.read_text() != key):
        shutil.rmtree(CACHE)
    cache = get_cache(CACHE)
    _ = cache.db  # creates the folder
    stamp.write_text(key)
    return cache


def _peak_gigabytes(client: NotebookClient) -> float:
    """Peak resident memory of a running kernel, where the system tells it."""
    try:
        status = Path(f"/proc/{client.km.provisioner.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1e6
    except (AttributeError, OSError, IndexError):
        return 0.0


def execute(path: Path, notebook: nbformat.NotebookNode) -> Run:
    """Execute one chapter in a kernel of its own.

    Args:
        path: of the chapter.
        notebook: the chapter as a notebook; outputs are written into it.

    Returns:
        The run; its ``error`` names the claim, the cell's exception, or the budget that was overrun.
    """
    chapter = path.relative_to(ROOT).with_suffix("").as_posix()
    peak: list[float] = []
    client = NotebookClient(
        notebook,
        timeout=10 * SECONDS,
        record_timing=False,  # the cache compares the metadata of cells
        extra_arguments=[
            "--log-level=ERROR"
        ],  # a kernel on this machine warns that its local port is not encrypted
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.on_cell_executed = lambda **_: peak.append(_peak_gigabytes(client))
    start, error = time.perf_counter(), ""
    try:
        client.execute()
    except CellExecutionError as failure:
        error = f"{failure.ename}: {failure.evalue}"
    except (CellTimeoutError, DeadKernelError) as failure:
        error = str(failure)
    seconds = time.perf_counter() - start
    if not error and max(peak, default=0) > GIGABYTES:
        error = f"took {max(peak):.1f} GB of memory, more than {GIGABYTES}"
    return Run(chapter, notebook, seconds, max(peak, default=0.0), error)


def run_stale(jobs: int) -> list[Run]:
    """Bring every chapter's outputs up to date.

    Args:
        jobs: kernels side by side.

    Returns:
        One run a chapter, in reading order.
    """
    cache = open_cache()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # kernels share the cores
    os.environ.pop("MPLBACKEND", None)  # a kernel that obeys it shows no figures
    runs: dict[Path, Run] = {}
    todo: list[tuple[Path, nbformat.NotebookNode]] = []
    for path in chapters():
        notebook = read_notebook(path)
        try:
            cache.match_cache_notebook(notebook)
            _, done = cache.merge_match_into_notebook(notebook)
            runs[path] = Run(path.relative_to(ROOT).with_suffix("").as_posix(), done)
        except KeyError:
            todo.append((path, notebook))
    with ThreadPoolExecutor(jobs) as pool:
        for (path, _), run in zip(todo, pool.map(lambda item: execute(*item), todo), strict=True):
            state = "FAILED" if run.error else "ran"
            print(
                f"{state} {run.chapter}: {run.seconds:.0f} s, {run.gigabytes:.1f} GB {run.error}".rstrip(),
                flush=True,
            )
            if run.seconds > SECONDS:
                print(
                    f"  {run.chapter} takes more than its {SECONDS} s: move the work to an experiment",
                    flush=True,
                )
            if not run.error:
                bundle = CacheBundleIn(run.notebook, str(path), data={"execution_seconds": run.seconds})
                cache.cache_notebook_bundle(bundle, overwrite=True, check_validity=False)
            runs[path] = run
    return [runs[path] for path in chapters()]


def verdicts(runs: list[Run]) -> Iterator[tuple[str, dict]]:
    """Every verdict in the outputs of executed chapters.

    Args:
        runs: from ``run_stale``.

    Yields:
        Pairs of a chapter and ``Verdict.entry()``.
    """
    for run in runs:
        for cell in run.notebook.cells:
            for output in cell.get("outputs", ()):
                if MIME in output.get("metadata", {}):
                    yield run.chapter, output["metadata"][MIME]


def main() -> int:
    """Command line.

    Returns:
        Exit status: 0 if every chapter ran, every claim held and the ledger agrees.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--accept", action="store_true", help="write what was found into the ledger")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="kernels side by side (default: one a core)"
    )
    options = parser.parse_args()
    runs = run_stale(options.jobs)
    failed = [run for run in runs if run.error]
    if failed:
        for run in failed:
            print(f"\n{run.chapter} failed\n  {run.error}", file=sys.stderr)
        return 1
    fresh, stored = ledger.gather(verdicts(runs)), ledger.read(LEDGER)
    stated = {label for label in statements() if not parse(label).own}
    if stated != {entry["id"] for entry in fresh}:
        unchecked, unstated = stated - {e["id"] for e in fresh}, {e["id"] for e in fresh} - stated
        print(
            f"statements without a check: {sorted(unchecked)}; checks without a statement: {sorted(unstated)}",
            file=sys.stderr,
        )
        return 1
    different = ledger.differences(fresh, stored)
    if different and options.accept:
        ledger.write(LEDGER, fresh)
        print(f"ledger: {len(fresh)} claims written to {LEDGER.relative_to(ROOT)}")
    elif different:
        print("the chapters do not agree with results/ledger.json:", *different, sep="\n  ", file=sys.stderr)
        print(
            "if the new findings are right, record them with 'make ledger' and commit the file",
            file=sys.stderr,
        )
        return 1
    else:
        print(f"ledger: {len(fresh)} claims, as recorded")
    return 0


if __name__ == "__main__":
    sys.exit(main())
