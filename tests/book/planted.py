"""The mistakes of a chapter, and its checks, run in this process so that they can be run again with other seeds."""

import functools
import importlib
from collections.abc import Mapping, Sequence

import matplotlib

from bookext import planted
from bookext.chapters import ROOT, code
from shallowformer.verify import planting
from shallowformer.verify.mistakes import Mistake

matplotlib.use("Agg")


def mistakes(chapter: str) -> Mapping[str, Sequence[Mistake]]:
    """The mistakes that are to be planted in a chapter, by check."""
    name = planted.module(chapter)
    if not (ROOT / "book" / f"{name.replace('.', '/')}.py").exists():
        return {}
    return importlib.import_module(name).MISTAKES


@functools.cache
def checks(chapter: str) -> dict[str, planting.Settled]:
    """Claim (with its part) → check, of one chapter; readers' own claims are left out."""
    namespace: dict = {"__name__": chapter}
    planting.keep()
    for number, source in enumerate(code(ROOT / f"{chapter}.md")):
        exec(compile(source, f"{chapter}[{number}]", "exec"), namespace)
    return {claim: each for claim, each in planting.kept().items() if not claim.startswith("my-")}
