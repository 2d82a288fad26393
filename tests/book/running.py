"""Run a chapter's code in this process and keep its checks, so that they can be run again, perturbed."""

import functools
from pathlib import Path

import matplotlib

from bookext.chapters import ROOT, read_notebook
from shallowformer import verify

matplotlib.use("Agg")


def code_cells(path: Path) -> list[str]:
    return [cell.source for cell in read_notebook(path).cells if cell.cell_type == "code"]


@functools.cache
def checks(chapter: str) -> dict[str, verify.Check]:
    """Claim (with its part) → check, of one chapter; readers' own claims are left out."""
    namespace: dict = {"__name__": chapter}
    path = ROOT / f"{chapter}.md"
    with verify.collecting() as found:
        for number, source in enumerate(code_cells(path)):
            exec(compile(source, f"{path.name}[{number}]", "exec"), namespace)
    return {check.claim: check for check in found if not check.claim.startswith("my-")}
