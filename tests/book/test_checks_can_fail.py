"""Every check is shown to be able to fail: planted mistakes turn it red, and other seeds do not."""

from dataclasses import replace

import pytest
from mutants import MUTANTS, of_kind
from running import checks

from bookext.chapters import LEDGER
from shallowformer import verify
from shallowformer.verify import ledger

ENTRIES = ledger.read(LEDGER)
#: (chapter, claim or claim/part) of every check in the ledger.
CHECKS = [(entry["chapter"], check["id"]) for entry in ENTRIES for check in (entry, *entry["parts"])]


def per_check(pairs):
    """Parameters whose ids begin with the chapter: the scheduler keeps those on one worker, which runs the chapter once."""
    return [pytest.param(*pair, id=f"{pair[0]}:{'-'.join(map(str, pair[1:]))}") for pair in pairs]


def refuted_at(check, witness) -> bool:
    """Whether a bound is broken at the worst point that the chapter's search found."""
    if not isinstance(check, verify.Inequality) or check.expect == "violated":
        return False
    ratio = check.ratio(**{name: value[None] for name, value in witness.items()})
    return float(ratio.detach().max()) > 1 + check.rounding


def refuted_early(check) -> bool:
    """Whether the first cases, or a short search, suffice to refute: no more of them could mend it."""
    if check.expect == "violated":
        return False
    if isinstance(check, verify.Identity):
        return any(replace(check, over=[case]).run().verdict == "violated" for case in check.over)
    if isinstance(check, verify.Inequality):
        short = replace(check, restarts=min(check.restarts, 8), steps=min(check.steps, 30))
        return short.run().verdict == "violated"
    return False


def goes_red(settled, mutant) -> bool:
    if mutant.wrong is None:  # the mistake is in the claim: what was measured stands
        mistaken = mutant.change(settled.remembered)
        return refuted_at(mistaken, settled.verdict.witness) or not mistaken.run().passed
    with mutant.planted():
        mistaken = mutant.change(settled.check)
        return refuted_early(mistaken) or not mistaken.run().passed


def test_every_claim_has_a_mutant_of_its_own():
    assert {entry["id"] for entry in ENTRIES} <= set(MUTANTS)


def test_every_mutant_belongs_to_a_check():
    assert set(MUTANTS) <= {claim for _, claim in CHECKS}


@pytest.mark.parametrize(
    ("chapter", "claim", "number"),
    per_check((c, i, n) for c, i in CHECKS for n in range(len(MUTANTS.get(i, ())))),
)
def test_a_planted_mistake_turns_the_check_red(chapter, claim, number):
    mutant = MUTANTS[claim][number]
    assert goes_red(checks(chapter)[claim], mutant), f"{claim} stays green although: {mutant.what}"


@pytest.mark.parametrize(("chapter", "claim"), per_check(CHECKS))
def test_a_small_change_of_the_claim_turns_the_check_red(chapter, claim):
    settled = checks(chapter)[claim]
    for mutant in of_kind(settled.check, settled.verdict):
        assert goes_red(settled, mutant), f"{claim} stays green although: {mutant.what}"


@pytest.mark.thorough
@pytest.mark.parametrize(("chapter", "claim"), per_check(CHECKS))
def test_the_check_does_not_depend_on_its_seed(chapter, claim):
    check = checks(chapter)[claim].check
    if isinstance(check, verify.Inequality | verify.Probability):
        others = [replace(check, seed=check.seed + shift) for shift in (101, 202)]
    elif isinstance(check, verify.Rate) and len(check.seeds) > 1:
        others = [replace(check, seeds=tuple(seed + 101 for seed in check.seeds))]
    else:
        pytest.skip("nothing random in this check")
    for verdict in (other.run() for other in others):
        assert verdict.passed, f"{claim}: {verdict.line()}"
