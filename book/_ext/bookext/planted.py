"""Plant a chapter's mistakes where it has just run, and write down what became of them. Runs in the chapter's kernel."""

import dataclasses
import importlib
import json
import time
from pathlib import Path


def module(chapter: str) -> str:
    """The module that holds a chapter's mistakes. Returns: for example ``companion.mistakes.kernel_regime.model``.

    Args:
        chapter: for example ``book/kernel_regime/model``.
    """
    return chapter.replace("book/", "companion/mistakes/", 1).replace("/", ".")


def plant(chapter: str, book: str, full: bool, path: str) -> None:
    """Plant, and write the outcomes.

    Args:
        chapter: as for ``module``.
        book: the folder that holds ``companion``.
        full: without early exits.
        path: of the JSON file: outcomes, as ``planting.Outcome``, the seconds that each check took, and those of all this.
    """
    start = time.process_time()
    from shallowformer.verify import planting

    # A chapter without a file of mistakes has checks of readers' own only.
    there = Path(book, *module(chapter).split(".")).with_suffix(".py").is_file()
    mistakes = importlib.import_module(module(chapter)).MISTAKES if there else {}
    found = [dataclasses.asdict(outcome) for outcome in planting.plant(mistakes, full)]
    checks = {claim: settled.seconds for claim, settled in planting.kept().items()}
    outcomes = {"mistakes": found, "checks": checks, "planting": time.process_time() - start}
    Path(path).write_text(json.dumps(outcomes), encoding="utf-8")
