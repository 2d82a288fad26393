"""A fresh run reproduces the ledger, and every check is shown to be able to fail: planted mistakes turn it red, other seeds do not.

The mistakes were planted where the chapters ran; here their outcomes are held against what there is.
"""

import functools
from collections import Counter
from dataclasses import replace

import pytest
from planted import checks, mistakes

from bookext import execute
from bookext.chapters import CONTROLS, LEDGER, ROOT, chapters, docname
from shallowformer import verify
from shallowformer.verify import ledger

ENTRIES, OF_HYPOTHESES = ledger.read(LEDGER), ledger.read(CONTROLS)
#: (chapter, claim or claim/part) of every check in the ledger, and of every control.
CHECKS = [(entry["chapter"], check["id"]) for entry in ENTRIES for check in (entry, *entry["parts"])]
CHECKS += [(entry["chapter"], entry["id"]) for entry in OF_HYPOTHESES]
CHAPTERS = sorted({chapter for chapter, _ in CHECKS})


@functools.cache
def record(chapter):
    """What a chapter found when it was executed here."""
    found, _ = execute.current(ROOT / f"{chapter}.md", here=True)
    assert found, f"{chapter} has not been executed: make book"
    return found


@pytest.mark.parametrize("chapter", sorted({*CHAPTERS, *map(docname, chapters())}))
def test_what_a_chapter_found_is_what_the_ledger_says(chapter):
    run = execute.Run(chapter, record(chapter))
    for gather, stored in ((execute.gathered, ENTRIES), (execute.controls, OF_HYPOTHESES)):
        entries = [entry for entry in stored if entry["chapter"] == chapter]
        assert ledger.differences(gather([run]), entries) == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_planted_mistake_turned_its_check_red(chapter):
    outcomes = record(chapter).mistakes
    planted = Counter((one["claim"], one["what"]) for one in outcomes)
    assert planted == Counter((claim, one.what) for claim, some in mistakes(chapter).items() for one in some)
    assert [(one["claim"], one["what"], one["error"]) for one in outcomes if not one["red"]] == []


#: Statements about how stored rows, or a few lines of the chapter's own, depend on a size: whatever is wrong there shows as another level or
#: exponent, and what of these is noticed the check says itself.
MEASURED = {
    "kr-lemma-3-scale", "kr-remark-9-diagonal", "kr-remark-w", "kr-remark-x", "kr-remark-z",
    "kr-theorem-a-length", "kr-theorem-d-labels", "kr-theorem-d-paired", "kr-theorem-1-horizon",
    "kr-proposition-2-figure", "kr-proposition-2-longer", "kr-proposition-2-released", "kr-proposition-2-training",
}  # fmt: skip


def test_every_statement_has_a_mistake_in_code_or_formula():
    planted = {claim for chapter in CHAPTERS for claim in mistakes(chapter)}
    without = {
        entry["id"]
        for entry in ENTRIES
        if planted.isdisjoint(check["id"] for check in (entry, *entry["parts"]))
    }
    assert without == MEASURED


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_mistake_belongs_to_a_check_of_its_chapter(chapter):
    assert set(mistakes(chapter)) <= {claim for other, claim in CHECKS if other == chapter}


def test_every_file_of_mistakes_belongs_to_a_chapter():
    files = {path for path in (ROOT / "book/companion/mistakes").rglob("*.py") if path.name != "__init__.py"}
    assert {
        path.relative_to(ROOT / "book/companion/mistakes").with_suffix("").as_posix() for path in files
    } <= {chapter.removeprefix("book/") for chapter in CHAPTERS}


def measured_at(rate, seed) -> bool:
    """Whether there is a seed: what is looked up in stored rows has its own only."""
    try:
        rate.measure(rate.over[0], seed)
    except (LookupError, StopIteration):
        return False
    return True


@pytest.mark.parametrize(
    ("chapter", "claim"), [pytest.param(*pair, id=f"{pair[0]}:{pair[1]}") for pair in CHECKS]
)
@pytest.mark.thorough
def test_the_check_does_not_depend_on_its_seed(chapter, claim):
    check = checks(chapter)[claim].check
    if isinstance(check, verify.Inequality | verify.Probability):
        others = [replace(check, seed=check.seed + shift) for shift in (101, 202)]
    elif isinstance(check, verify.Rate) and len(check.seeds) > 1:
        others = [replace(check, seeds=tuple(seed + 101 for seed in check.seeds))]
    else:
        pytest.skip("nothing random in this check")
    if isinstance(check, verify.Rate) and not measured_at(check, others[0].seeds[0]):
        pytest.skip("its seeds are those of stored rows")
    for verdict in (other.run() for other in others):
        assert verdict.passed, f"{claim}: {verdict.line()}"
