"""Execute the chapters that are stale, side by side, and hold what they find against the ledger.

    python -m bookext.execute              run what is stale; fail if a claim, a planted mistake, a chapter or the ledger does not agree
    python -m bookext.execute --accept     the same, but write what was found into the ledger, and what was said to the prose beside it
    python -m bookext.execute --full       the same, with mistakes planted without early exits
    python -m bookext.execute book/kernel_regime/descent.md [...]   these chapters only

Outputs go to the builder's cache, so the site's build only reads them. Executions are kept between checkouts (``records``) and taken from
there when nothing that they depend on has changed (``keys``); a few of those, drawn by the commit's hash, are executed all the same, and
must agree. COLD=1 in the environment takes none.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn

from bookext import keys, records, said, warm
from bookext.chapters import (
    CONTROLS,
    LEDGER,
    ROOT,
    chapter_of,
    chapters,
    code,
    docname,
    parts,
    read_notebook,
    statements,
)
from bookext.kernel import Run, run
from bookext.markup import MarkupError
from bookext.proofs.record import raised
from bookext.records import Record
from shallowformer.verify import ledger
from shallowformer.verify.claims import parse
from shallowformer.verify.verdict import MIME

#: The builder's own: outputs by code, and pages as it has read them.
CACHE, READ = ROOT / "_build" / ".jupyter_cache", ROOT / "_build" / ".doctrees"

#: Seconds of processor time that a chapter may take before it is told so: by itself, and with a supplement.
SECONDS, WITH_SUPPLEMENT = 25, 40

#: How many of the executions that come from the user's cache are repeated.
REPEATED = 2


def current(
    path: Path, full: bool = False, cold: bool = False, here: bool = False
) -> tuple[Record | None, bool]:
    """The record of a chapter that counts today. Returns: the record, or None; and whether it comes from the user's cache.

    Args:
        full: only one whose mistakes were planted without early exits.
        cold: only what was executed in this checkout.
        here: only what this checkout has, wherever it was executed.
    """
    return records.find(docname(path, ROOT), keys.key(docname(path, ROOT), code(path), full), cold, here)


def expected(path: Path) -> float:
    """How many seconds a chapter takes, roughly: what it took when it was last executed, or one for each call of ``verify``."""
    last = records.last(docname(path, ROOT))
    return last.seconds + last.planting if last else float("\n".join(code(path)).count("verify."))


def bring_up_to_date(
    paths: Sequence[Path], jobs: int, full: bool = False, cold: bool = False
) -> tuple[list[Run], list[str]]:
    """Execute what is stale, and a few of those that are not; the longest first, so that none runs alone at the end.

    Returns: one run a chapter, in the order of ``paths``; and where a repeated execution does not agree with the one that was kept.
    """
    start = time.monotonic()
    found = {path: current(path, full, cold) for path in paths}
    known = {path: record for path, (record, _) in found.items() if record}
    again = repeated([path for path, (record, foreign) in found.items() if record and foreign])
    todo = sorted((path for path in paths if path not in known or path in again), key=expected, reverse=True)
    print(
        f"{len(paths) - len(todo)} of {len(paths)} chapters as kept, {len(again)} repeated, {len(todo) - len(again)} to run"
    )
    # Kernels share the cores; and what is kept was made with as many threads.
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ.pop("MPLBACKEND", None)  # a kernel that obeys it shows no figures
    runs = {path: Run(docname(path, ROOT), record) for path, record in known.items()}
    disagreements: list[str] = []
    with ThreadPoolExecutor(jobs) as pool, warm.parent() if todo else nullcontext() as parent:
        running = {pool.submit(run, path, full, parent): path for path in todo}
        try:
            for done in as_completed(running):
                path, one = running[done], done.result()
                _tell(one)
                apart = differences(one.record, known[path]) if one.record and path in again else []
                disagreements += apart
                if apart:  # no one knows which of them is right
                    records.forget(one.chapter)
                elif one.record:
                    records.keep(one.record)
                runs[path] = one
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # who interrupts the run waits for no chapter
    for path, record in known.items():
        if found[path][1] and path not in again:
            records.keep(replace(record, foreign=True))  # here too
    if todo:
        _tell_all([runs[path] for path in todo], len(again), len(paths), time.monotonic() - start)
    return [runs[path] for path in paths], disagreements


def _tell(one: Run) -> None:
    if one.record is None:
        print(f"FAILED {one.chapter}: {one.error}", flush=True)
        return
    record, may = one.record, WITH_SUPPLEMENT if len(parts(ROOT / f"{one.chapter}.md")) > 1 else SECONDS
    planted = f"{len(record.mistakes)} mistakes planted in {record.planting:.0f} s"
    print(f"ran {one.chapter}: {record.seconds:.0f} s, {record.gigabytes:.1f} GB, {planted}", flush=True)
    if record.seconds > may:
        print(f"  {one.chapter} takes more than its {may} s: move the work to an experiment", flush=True)


def _tell_all(executed: Sequence[Run], again: int, of: int, seconds: float) -> None:
    """What the run took, in a line."""
    done = [one.record for one in executed if one.record]
    took = sum(record.seconds for record in done), sum(record.planting for record in done)
    print(
        f"{len(executed)} of {of} chapters executed ({again} repeated), {of - len(executed)} kept:"
        f" {sum(took):.0f} s of processor time, {took[1]:.0f} of them for planted mistakes, in {seconds:.0f} s;"
        f" peaks of memory together {sum(record.gigabytes for record in done):.1f} GB",
        flush=True,
    )


def repeated(paths: Sequence[Path]) -> set[Path]:
    """Which executions are repeated although they are known, drawn by the commit's hash. Returns: at most ``REPEATED`` of them."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    return set(random.Random(commit).sample(sorted(paths), min(REPEATED, len(paths))))


def differences(fresh: Record, kept: Record) -> list[str]:
    """Where two executions of a chapter do not agree: the verdicts, and which mistakes were noticed. Returns: one line a difference."""
    lines = []
    for gather in (ledger.gather, ledger.controls):
        of = lambda record, gather=gather: gather((record.chapter, found) for found in verdicts_of(record))
        lines += ledger.differences(of(fresh), of(kept))
    noticed = lambda record: {(one["claim"], one["what"]) for one in record.mistakes if one["red"]}
    once = sorted(noticed(fresh) ^ noticed(kept))
    return lines + [f"{claim}: {what}: noticed only once" for claim, what in once]


def edited(runs: Sequence[Run], full: bool = False) -> list[str]:
    """Chapters whose code is no longer the one that ran: what it printed must not stand below what is there now. Returns: their names."""
    return [
        one.chapter
        for one in runs
        if keys.key(one.chapter, code(ROOT / f"{one.chapter}.md"), full) != one.record.key
    ]


def fill_builder_cache(runs: Sequence[Run]) -> None:
    """Give the site's builder the outputs of all chapters, and take away those of chapters that are no more."""
    cache = get_cache(CACHE)
    _ = cache.db  # creates the folder
    of_today = set()
    for one in runs:
        pages = [docname(page, ROOT) for page in parts(ROOT / f"{one.chapter}.md")]
        # The builder's hash sees captions: it reads the page with what was said in place.
        notebooks = [
            read_notebook(ROOT / f"{page}.md", fill=partial(said.filled, page=page)) for page in pages
        ]
        one.record.into(*notebooks)
        stamp = keys.digest(one.record.key, json.dumps([sorted(one.record.read.items()), one.record.outputs]))
        for page, notebook in zip(pages, notebooks, strict=True):
            try:
                there = cache.match_cache_notebook(notebook)
            except KeyError:
                there = None
            if there is None or (there.data or {}).get("stamp") != stamp:
                if there is not None:
                    cache.remove_cache(there.pk)
                bundle = CacheBundleIn(notebook, f"{page}.md", data={"stamp": stamp})
                there = cache.cache_notebook_bundle(bundle, overwrite=True, check_validity=False)
                (READ / f"{page}.doctree").unlink(missing_ok=True)  # so that the builder reads it again
            of_today.add(there.pk)
    for old in cache.list_cache_records():
        if old.pk not in of_today:
            cache.remove_cache(old.pk)


def verdicts_of(record: Record) -> Iterator[dict]:
    """Every verdict in the outputs of a chapter, as ``Verdict.entry``."""
    for outputs in record.outputs:
        for output in outputs:
            if MIME in output.get("metadata", {}):
                yield output["metadata"][MIME]


def gathered(runs: Sequence[Run]) -> list[dict]:
    """The ledger that executed chapters make, none of which failed, with what Coq has checked. Returns: its entries."""
    return raised(
        ledger.gather((one.chapter, verdict) for one in runs for verdict in verdicts_of(one.record))
    )


def controls(runs: Sequence[Run]) -> list[dict]:
    """What became of hypotheses in executed chapters, none of which failed. Returns: entries, one a control."""
    return ledger.controls((one.chapter, verdict) for one in runs for verdict in verdicts_of(one.record))


def unnoticed(runs: Sequence[Run]) -> list[str]:
    """Mistakes that turned no check red. Returns: one line a mistake."""
    return [
        f"{one['claim']} stays green although: {one['what']} {one['error']}".rstrip()
        for each in runs
        for one in each.record.mistakes
        if not one["red"]
    ]


def _complain(title: str, lines: Sequence[str], advice: str = "") -> int:
    print(title, *lines, sep="\n  ", file=sys.stderr)
    if advice:
        print(advice, file=sys.stderr)
    return 1


def compare_with_ledger(runs: Sequence[Run], accept: bool, partly: bool) -> int:
    """Hold what was found against the committed ledger, or write it there. Returns: exit status."""
    fresh, stored, others = gathered(runs), ledger.read(LEDGER), []
    there = {one.chapter for one in runs}
    stated = {
        label for label, s in statements().items() if not parse(label).own and chapter_of(s["page"]) in there
    }
    if partly:
        others = [entry for entry in stored if entry["chapter"] not in there]
        stored = [entry for entry in stored if entry["chapter"] in there]
    checked = {entry["id"] for entry in fresh}
    if stated != checked:
        return _complain(
            "statements and checks do not match:",
            [
                *(f"{label}: no check" for label in sorted(stated - checked)),
                *(f"{label}: no statement" for label in sorted(checked - stated)),
            ],
        )
    different = ledger.differences(fresh, stored)
    if accept and fresh != stored:
        ledger.write(LEDGER, sorted([*others, *fresh], key=lambda entry: entry["id"]))
        print(f"ledger: {len(fresh)} claims written to {LEDGER.relative_to(ROOT)}")
        return 0
    if different:
        advice = "if the new findings are right, record them with 'make ledger' and commit the file"
        return _complain("the chapters do not agree with results/ledger.json:", different, advice)
    print(f"ledger: {len(fresh)} claims, as recorded")
    return 0


def compare_with_controls(runs: Sequence[Run], accept: bool, partly: bool) -> int:
    """Hold what became of hypotheses against what is kept, or keep it. Returns: exit status."""
    fresh, stored, others = controls(runs), ledger.read(CONTROLS), []
    there = {one.chapter for one in runs}
    if partly:
        others = [entry for entry in stored if entry["chapter"] not in there]
        stored = [entry for entry in stored if entry["chapter"] in there]
    different = ledger.differences(fresh, stored)
    if accept and fresh != stored:
        ledger.write(CONTROLS, sorted([*others, *fresh], key=lambda entry: entry["id"]))
        print(f"controls: {len(fresh)} hypotheses written to {CONTROLS.relative_to(ROOT)}")
    elif different:
        advice = "if the new findings are right, record them with 'make ledger' and commit the file"
        return _complain("the chapters do not agree with results/controls.json:", different, advice)
    return 0


def compare_with_said(runs: Sequence[Run], accept: bool, partly: bool) -> int:
    """Hold what chapters said to their prose against what is kept, or keep it. Returns: exit status."""
    fresh, stored = said.gathered(one.record for one in runs), said.read()
    there, others = {one.chapter for one in runs}, {}
    if partly:
        others = {chapter: names for chapter, names in stored.items() if chapter not in there}
        stored = {chapter: names for chapter, names in stored.items() if chapter in there}
    if accept and fresh != stored:
        said.write(others | fresh)
        print(f"what chapters say to their prose is written to {said.SAID.relative_to(ROOT)}")
    elif different := said.differences(fresh, stored):
        advice = "if the new numbers are right, read the sentences that refer to them, and record them with 'make ledger'"
        return _complain("the chapters do not agree with results/said.json:", different, advice)
    return 0


def _share(text: str) -> tuple[int, int]:
    part, _, whole = text.partition("/")
    if not (part.isdigit() and whole.isdigit() and 1 <= int(part) <= int(whole)):
        raise argparse.ArgumentTypeError(f"must read K/N with K from 1 to N, got {text!r}")
    return int(part), int(whole)


def main() -> int:
    """Command line. Returns: exit status: 0 if every chapter ran, every claim held, every mistake was noticed and the ledger agrees."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("chapters", nargs="*", type=Path, help="paths of chapters (default: all of the table of contents)")  # fmt: skip
    parser.add_argument(
        "--accept",
        action="store_true",
        help="write what was found into the ledger, and what was said beside it",
    )
    parser.add_argument("--full", action="store_true", help="plant mistakes without early exits")
    parser.add_argument("--share", type=_share, default=(1, 1), metavar="K/N", help="the K-th of N shares of the chapters")  # fmt: skip
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="kernels side by side (default: one a core)"
    )
    options = parser.parse_args()
    part, whole = options.share
    every, asked = chapters(), [path.resolve() for path in options.chapters]
    if unknown := [str(path) for path in asked if path not in every]:
        parser.error(f"not a chapter of the table of contents: {', '.join(unknown)}")
    paths = (asked or every)[part - 1 :: whole]
    partly = len(paths) < len(every)
    cold = os.environ.get("COLD", "") not in ("", "0")
    runs, disagreements = bring_up_to_date(paths, options.jobs, options.full, cold)
    if failed := [f"{one.chapter}: {one.error}" for one in runs if one.record is None]:
        return _complain("\nchapters failed:", failed)
    if disagreements:
        return _complain(
            "repeated executions do not agree with those that were kept:", disagreements,
            "something changed that no key knows of, and neither is kept; look for it",
        )  # fmt: skip
    if changed := edited(runs, options.full):
        return _complain("chapters were edited while others ran; run them again:", changed)
    departs = max(
        compare(runs, options.accept, partly) for compare in (compare_with_said, compare_with_controls)
    )
    if not (partly or departs):
        try:
            fill_builder_cache(runs)
        except MarkupError as error:
            departs = _complain("a page refers to what is not said:", [str(error)])
    if green := unnoticed(runs):
        return _complain("mistakes that no check noticed:", green)
    return max(departs, compare_with_ledger(runs, options.accept, partly))


def _end(number: int, _: object) -> None:
    """End as after an interrupt, so that kernels and temporary files go; once, as ``make`` and a closed terminal may say it again."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    for ends in {"SIGTERM", "SIGHUP"} & set(dir(signal)):
        if signal.getsignal(number := getattr(signal, ends)) is signal.SIG_DFL:  # nohup ignores one of them
            signal.signal(number, _end)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print(
            "interrupted; finished chapters are kept, the same command goes on with the others",
            file=sys.stderr,
        )
        sys.exit(130)
