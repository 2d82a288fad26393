"""Build the site: only the pages whose text or outputs have changed, all of them if anything else has, and none if nothing has.

    python -m bookext.build

Sphinx knows a page by its source. What stands on pages beside that (the ledger's verdicts, the extension's work, titles and numbers that
other pages refer to) it does not see change; a stamp of all that decides.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from bookext import address, keys
from bookext.chapters import LEDGER, ROOT, pages

BUILT = ROOT / "_build"
STAMP, DONE = BUILT / ".stamp", BUILT / ".done"

#: What every page may depend on, beside its own source.
SHARED = ("_config.yml", "_toc.yml", "CITATION.cff", "requirements.txt", "lib/shallowformer/__init__.py", "lib/shallowformer/svg.py",
          "lib/shallowformer/verify/*.py", "book/notation.md", "book/errata.yml", "book/provenance.yml", "book/hypotheses/*.yml", "results/controls.json", "book/references.bib", "book/_ext/**/*.py", "book/_ext/**/*.jinja", "book/_static/*", "book/_templates/*", str(LEDGER.relative_to(ROOT)), "results/said.json", "results/proofs.json", "proofs/**/*.v", "_build/.proofs.json")  # fmt: skip


#: All that it is made of.
INPUTS = ("*.*", "book/**/*", "lib/**/*.py", "proofs/**/*.v", "results/*", "_build/.proofs.json")

#: Headings, labels, directives with their options, in whole lines; and what a text refers to, as uses and sources are gathered from it.
_OUTLINE = re.compile(r"^[ \t]*(?:[#:`(]|\$\$|caption:|name:).*|\{[\w:]+\}`[^`]*`|\]\([^)]*\)", re.MULTILINE)


def outline(text: str) -> str:
    """What other pages may take from a page, in its order.

    Returns: the lines and references that can be such a thing, and some that are not.
    """
    return "\n".join(_OUTLINE.findall(text))


def stamp() -> str:
    """A hash of all that is not one page's own."""
    shared = sorted(path for pattern in SHARED for path in ROOT.glob(pattern) if path.is_file())
    return keys.digest(
        *(f"{path}\0{path.read_bytes().hex()}" for path in shared),
        *(f"{page}\0{outline(page.read_text(encoding='utf-8'))}" for page in pages()),
    )


def inputs() -> str:
    """A hash of all that the site is made of, but for outputs: a page with new ones is read again (``execute``)."""
    files = sorted(path for pattern in INPUTS for path in ROOT.glob(pattern) if path.is_file())
    return keys.digest(
        keys.environment(), address.history(), address.repository(), address.package(),
        *(f"{path}\0{path.read_bytes().hex()}" for path in files if path.suffix != ".pyc"),
    )  # fmt: skip


def listing(site: Path) -> str:
    """A hash of what a built site consists of: a file that is deleted or written by another hand is built again."""
    files = ((path, path.stat()) for path in sorted(site.rglob("*")) if path.is_file())
    return keys.digest(*(f"{path}\0{state.st_size}\0{state.st_mtime_ns}" for path, state in files))


def clear(site: Path) -> None:
    """Take away a site, but for pictures: their names tell what they show, and those that no page shows go in the end."""
    for path in site.glob("*"):
        if path.is_file():
            path.unlink()
        elif path.name != "_images":
            shutil.rmtree(path)


def main() -> int:
    """Command line. Returns: exit status of the builder."""
    now, given, site = stamp(), inputs(), BUILT / "html"
    has_been_read = (BUILT / ".doctrees" / path.relative_to(ROOT).with_suffix(".doctree") for path in pages())
    if (
        DONE.exists()
        and DONE.read_text("utf-8") == f"{given} {listing(site)}"
        and all(map(Path.exists, has_been_read))
    ):
        print("The book is at _build/html/index.html, as it was built")
        return 0
    same = STAMP.exists() and STAMP.read_text("utf-8") == now and (site / "index.html").exists()
    for old in (STAMP, DONE):  # a build that fails may have read pages that it will not complain of again
        old.unlink(missing_ok=True)
    if not same:
        clear(site)
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", "-n", "-W", "--keep-going"]
    status = subprocess.run([*command, *([] if same else ["--all"])], cwd=ROOT).returncode
    if status == 0:
        STAMP.write_text(now, "utf-8")
        DONE.write_text(f"{given} {listing(site)}")
        print("The book is at _build/html/index.html")
    return status


if __name__ == "__main__":
    sys.exit(main())
