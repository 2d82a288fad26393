"""Build the site: only the pages whose text or outputs have changed, or all of them if anything else has.

    python -m bookext.build

Sphinx knows a page by its source. What stands on pages beside that (the ledger's verdicts, the extension's work, titles and numbers that
other pages refer to) it does not see change; a stamp of all that decides.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from bookext import keys
from bookext.chapters import LEDGER, ROOT, pages

BUILT = ROOT / "_build"
STAMP = BUILT / ".stamp"

#: What every page may depend on, beside its own source.
SHARED = ("_config.yml", "_toc.yml", "CITATION.cff", "requirements.txt", "lib/shallowformer/__init__.py", "lib/shallowformer/svg.py",
          "lib/shallowformer/verify/*.py", "book/notation.md", "book/errata.yml", "book/references.bib", "book/_ext/**/*.py", "book/_ext/**/*.jinja", "book/_static/*", "book/_templates/*", str(LEDGER.relative_to(ROOT)))  # fmt: skip


#: Headings, labels, directives with their options, in whole lines; and what a text refers to, as uses and sources are gathered from it.
_OUTLINE = re.compile(r"^[ \t]*(?:[#:`(]|\$\$|caption:|name:).*|\{[\w:]+\}`[^`]*`|\]\([^)]*\)", re.MULTILINE)


def outline(text: str) -> str:
    """What other pages may take from a page, in its order.

    Returns: the lines and references that can be such a thing, and some that are not.

    Args:
        text: of the page, in MyST.
    """
    return "\n".join(_OUTLINE.findall(text))


def stamp() -> str:
    """A hash of all that is not one page's own."""
    shared = sorted(path for pattern in SHARED for path in ROOT.glob(pattern) if path.is_file())
    return keys.digest(
        *(f"{path}\0{path.read_bytes().hex()}" for path in shared),
        *(f"{page}\0{outline(page.read_text(encoding='utf-8'))}" for page in pages()),
    )


def clear(site: Path) -> None:
    """Take away a site, but for pictures: their names tell what they show, and those that no page shows go in the end.

    Args:
        site: folder of the site, if there is one.
    """
    for path in site.glob("*"):
        if path.is_file():
            path.unlink()
        elif path.name != "_images":
            shutil.rmtree(path)


def main() -> int:
    """Command line. Returns: exit status of the builder."""
    now = stamp()
    same = STAMP.exists() and STAMP.read_text() == now and (BUILT / "html" / "index.html").exists()
    STAMP.unlink(missing_ok=True)  # a build that fails may have read pages that it will not complain of again
    if not same:
        clear(BUILT / "html")
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", "-n", "-W", "--keep-going"]
    status = subprocess.run([*command, *([] if same else ["--all"])], cwd=ROOT).returncode
    if status == 0:
        STAMP.write_text(now)
        print("The book is at _build/html/index.html")
    return status


if __name__ == "__main__":
    sys.exit(main())
