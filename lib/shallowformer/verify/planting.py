"""Plant mistakes in the checks of a chapter, in the process where they have just settled.

A check is kept with what it measured, so that a mistake in the claim needs no new measurement. Exits are early only where they are
safe: a point, or a case, that contradicts the mistaken claim refutes it, however it was found; so does an interval from a share of the draws
or seeds, taken twice as wide; and a search that falls short of a mistaken claim may end when it rises no more after twice the steps that
the unmistaken one needed, and when its restarts agree, if the unmistaken check passes that way, too.
"""

import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer.verify.check import Check, run_by
from shallowformer.verify.control import Control
from shallowformer.verify.identity import Identity
from shallowformer.verify.inequality import Inequality
from shallowformer.verify.mistakes import Mistake
from shallowformer.verify.probability import Probability
from shallowformer.verify.rate import Rate
from shallowformer.verify.search import BRISK, SearchResult
from shallowformer.verify.verdict import Verdict

#: Restarts and steps of the search that precedes a full one.
SHORT = {"restarts": 8, "steps": 30}
#: What decides how a search begins.
SEARCH = ("restarts", "steps", "seed", "edges", "gap")
#: The share of seeds or draws that precedes all of them, and the fewest seeds that give an interval worth a look.
SHARE, FEWEST = 4, 4


@dataclass(frozen=True)
class Settled:
    """A check, and what came out."""

    check: Check  # as the chapter states it
    remembered: Check  # the same, but what it measured is not measured again
    verdict: Verdict  # the chapter's
    seconds: float  # of processor time that it took
    found: Mapping[str, SearchResult]  # by a search

    @functools.cached_property
    def patient(self) -> bool:
        """Whether an inequality passes only if its searches go on where restarts agree on less than they should reach."""
        ends = {name: result.agreed or result for name, result in self.found.items()}
        return any(result.agreed for result in self.found.values()) and not self.check.judged(ends).passed

    def steps(self, mistaken: Inequality) -> dict[str, int]:
        """Twice what each search needed, where that is less than it may have; of another search, nothing is known."""
        if any(getattr(mistaken, name) != getattr(self.check, name) for name in SEARCH):
            return {}
        needed = {name: max(2 * BRISK + 1, 2 * result.evaluations) for name, result in self.found.items()}
        return {name: min(mistaken.steps, most) for name, most in needed.items()}


@dataclass(frozen=True)
class Outcome:
    """What became of a planted mistake."""

    claim: str  # the check's id
    what: str  # the mistake in words
    red: bool  # whether the check noticed it
    seconds: float  # of processor time that it took
    error: str = ""  # what the mistaken check raised, in a line; empty if nothing


_kept: dict[str, Settled] = {}


def keep() -> None:
    """Keep every check that settles from now on, and what it measures."""
    global _kept
    _kept = {}
    run_by(run)


def kept() -> Mapping[str, Settled]:
    """The checks that have been kept, by claim."""
    return _kept


def run(check: Check) -> Verdict:
    """Run a check, and keep it."""
    start, remembered = time.process_time(), _remembering(check)
    found = remembered.searched() if isinstance(remembered, Inequality) else {}
    verdict = remembered.judged(found) if found else remembered.run()
    _kept[check.claim] = Settled(check, remembered, verdict, round(time.process_time() - start, 3), found)
    return verdict


def plant(mistakes: Mapping[str, Sequence[Mistake]], full: bool = False) -> list[Outcome]:
    """Plant mistakes in the checks that were kept, one at a time: one outcome a mistake; ``full`` runs each without early exits."""
    strange = sorted(set(mistakes) - set(kept()))
    if strange:
        raise ValueError(
            f"mistakes must belong to checks that settled ({', '.join(kept())}), got {', '.join(strange)}"
        )
    return [_outcome(kept()[claim], mistake, full) for claim, some in mistakes.items() for mistake in some]


def _outcome(settled: Settled, mistake: Mistake, full: bool) -> Outcome:
    start, red, error = time.process_time(), False, ""
    try:
        red = goes_red(settled, mistake, full)
    except Exception as raised:  # any: a mistake that breaks the check is no evidence, and is reported
        error = f"{type(raised).__name__}: {raised}"
    return Outcome(settled.check.claim, mistake.what, red, round(time.process_time() - start, 3), error)


def goes_red(settled: Settled, mistake: Mistake, full: bool = False) -> bool:
    """Whether a check notices a mistake; ``full`` without early exits."""
    # As the unmistaken check is: before the mistake is in the package.
    patient = isinstance(settled.check, Inequality) and not full and settled.patient
    with mistake.planted():
        # A mistake in the claim leaves what was measured as it is; one in the package does not.
        mistaken = mistake.change(settled.remembered if mistake.wrong is None else settled.check)
        # A point of another set is no evidence.
        here = not isinstance(mistaken, Inequality) or mistaken.over is settled.check.over
        if not full and contradicted(mistaken, settled.verdict.witness if here else {}):
            return True
        if full or not isinstance(mistaken, Inequality):
            return not mistaken.run().passed
        if mistaken.missed():
            return True
        if not mistaken.has_aim():
            return not mistaken.judged(mistaken.searched(patient=False)).passed
        steps = settled.steps(mistaken) if here else {}
        patient = patient or not steps
        found = mistaken.searched(patient, steps)
        refuted = any(result.value > mistaken.limit for result in found.values())
        cut_off = [
            found[name].rising for name, most in steps.items() if name in found and most < mistaken.steps
        ]
        if any(cut_off) and not refuted:  # slower is not wrong
            found = mistaken.searched(patient)
        return not (mistaken.judged(found).passed and mistaken.run().passed)


def contradicted(check: Check, witness: Mapping[str, Float[Tensor, "..."]]) -> bool:
    """Whether a mistaken claim fails at a single case, at the right one's worst point, in a short search, or on a share of what it draws."""
    if isinstance(check, Inequality):
        if math.isinf(check.limit):
            return False
        points = [{name: value[None] for name, value in witness.items()}] if witness else []
        points += check.known.values()
        if any(float(check.ratio(**point).detach().max()) > check.limit for point in points):
            return True
        short = {name: min(getattr(check, name), most) for name, most in SHORT.items()}
        found = replace(check, **short).searched(patient=False)
        return any(result.value > check.limit for result in found.values())
    if check.expect in ("violated", "not implied"):  # what a counterexample must do is not refuted by one
        return False
    if isinstance(check, Identity):
        return any(not replace(check, over=[case]).run().passed for case in check.over)
    if isinstance(check, Rate) and len(check.seeds) > FEWEST:
        some = replace(check, seeds=check.seeds[: max(FEWEST, len(check.seeds) // SHARE)])
        return check.excluded(*_twice_as_wide(some.run().measured["interval"]))
    if isinstance(check, Probability):
        try:
            measured = replace(check, draws=check.draws // SHARE).run().measured
        except ValueError:  # so few have no interval
            return False
        return check.excluded(
            _twice_as_wide(measured["interval"]), _twice_as_wide(measured.get("quantile_interval"))
        )
    return False


def _twice_as_wide(interval: Sequence[float] | None) -> tuple[float, float] | None:
    if interval is None:
        return None
    low, high = interval
    return low - (high - low) / 2, high + (high - low) / 2


def _once(function: Callable) -> Callable:
    """A function of cases, evaluated once for each."""
    known: dict = {}

    @functools.wraps(function)
    def remembered(**case):
        key = tuple((name, id(value)) for name, value in sorted(case.items()))
        if key not in known:
            known[key] = case, function(**case)  # the case is kept, so that no other value gets its ids
        return _copied(known[key][1])

    return remembered


def _copied(value: object) -> object:
    """A copy that a mistake may write to."""
    if isinstance(value, Tensor):
        return value.clone()
    return tuple(map(_copied, value)) if isinstance(value, tuple) else value


def _counted_once(fails: Callable) -> Callable:
    """Failures of draws, counted once for each number of draws and each seed; the generator is left as the draws have left it."""
    known: dict = {}

    def remembered(draws, generator, **options):
        key = draws, Generator.initial_seed(generator), *options.items()
        if key not in known:
            known[key] = fails(draws, generator, **options), generator.get_state(), generator.asked
        failed, state, generator.asked = known[key]
        generator.set_state(state)
        return failed

    return remembered


def _remembering(check: Check) -> Check:
    """The same check, which measures nothing twice; a search is not remembered."""
    if isinstance(check, Rate):
        return replace(check, measure=functools.cache(check.measure))
    if isinstance(check, Identity):
        routes = {name: _once(route) for name, route in check.against.items()}
        return replace(check, formula=_once(check.formula), against=routes)
    if isinstance(check, Probability):
        return replace(check, fails=_counted_once(check.fails))
    if isinstance(check, Control):
        return replace(check, instance=functools.cache(check.instance))
    return check
