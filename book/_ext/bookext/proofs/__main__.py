"""Let Coq check the proofs, and hold what it says against what is committed.

    python -m bookext.proofs            check what has changed; fail if Coq refuses a proof, or finds another thing than is committed
    python -m bookext.proofs --accept   the same, but write what was found beside the ledger, and raise the statements' support there

Where Coq is missing it says so; the level that the committed record gives stays.
"""

import argparse
import os
import sys
import time

from bookext.chapters import LEDGER, statements
from bookext.proofs import coq, record, sources
from shallowformer.verify import ledger


def main() -> int:
    """Command line. Returns: exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--accept", action="store_true", help="write what was found into results/")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="files side by side")
    options = parser.parse_args()
    if unknown := sorted(set(sources.theorems()) - set(statements())):
        print("proofs of what the book does not state:", *unknown, sep="\n  ", file=sys.stderr)
        return 1
    record.tell_site(here=False)
    if not coq.version():
        print(
            "No Coq: the proofs are not checked, and the pages say so. It is coq, libcoq-coquelicot and libcoq-interval in Debian."
        )
        return 0
    began, spent = time.monotonic(), _children()
    fresh, wrong = record.check(options.jobs)
    written_for = record.read()["coq"]
    different = [] if wrong or options.accept else record.differences(fresh, record.read())
    if coq.version() != written_for and not options.accept and (wrong or different):
        says = f"This is Coq {coq.version()}, and the proofs are written for {written_for}: not checked."
        print(says, *wrong, *different, sep="\n  ")
        return 0
    if wrong:
        print("Coq does not accept these:", *wrong, sep="\n  ", file=sys.stderr)
        return 1
    if options.accept:
        record.write(fresh)
        entries = [{**entry, "support": _below(entry)} for entry in ledger.read(LEDGER)]
        ledger.write(LEDGER, record.raised(entries))
    elif different:
        print("Coq's verdicts are not those of results/proofs.json:", *different, sep="\n  ", file=sys.stderr)
        print(
            "if the new ones are right, record them with 'make ledger' and commit the file", file=sys.stderr
        )
        return 1
    record.tell_site(here=True)
    whole = sum(record.is_machine_checked(one) for one in fresh["statements"].values())
    print(
        f"proofs: {whole} statements machine-checked by Coq {coq.version()}, {len(fresh['statements']) - whole} in part;"
        f" {_children() - spent:.0f} s of processor time in {time.monotonic() - began:.0f} s"
    )
    return 0


def _below(entry: dict) -> str:
    """What the support of an entry is without Coq: only what a page proves can be checked."""
    return "proved" if entry["support"] == record.LEVEL else entry["support"]


def _children() -> float:
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    sys.exit(main())
