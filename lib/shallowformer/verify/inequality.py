"""Inequalities: an adversarial search for the largest left side over right side."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.formulas import Number
from shallowformer.verify import power, untouched, watched
from shallowformer.verify.check import Check
from shallowformer.verify.search import CONFIRMED, SearchResult, maximise
from shallowformer.verify.sets import AdmissibleSet, Point
from shallowformer.verify.verdict import RECORDED, SHORTFALL, Verdict

Side = Callable[..., Tensor]
#: Left and right side together.
Sides = Callable[..., Sequence[Tensor]]


@dataclass(frozen=True)
class OneOfTwo:
    """A side of an inequality whose sides are computed together: see ``sides``."""

    together: Sides
    which: int

    def __call__(self, **point: Float[Tensor, "b ..."]) -> Float[Tensor, " b"]:
        """This side alone."""
        return self.together(**point)[self.which]


def sides(together: Sides) -> tuple[Side, Side]:
    """Left and right side for ``inequality(claim, *sides(together), …)`` from a function that computes both; a check evaluates it once.

    Args:
        together: named variables with a leading restart dimension → (left, right).
    """
    return OneOfTwo(together, 0), OneOfTwo(together, 1)


@dataclass(frozen=True)
class Inequality(Check):
    """Put lhs ≤ rhs to the test: climb on lhs/rhs over the whole admissible set, from many starts.

    Returns: the verdict, with the worst point as ``witness``.

    Args:
        lhs: named variables with a leading restart dimension → one number a restart, differentiable.
        rhs: the same, or a number above 0; ``sides`` makes both of a function that computes them together.
        over: the admissible set, or several by name (other dimensions); each is searched, and where the expectation is ``tight``
            or ``attains`` is given, the search must get there in each.
        expect: ``tight`` (the ratio 1 is approached), ``loose`` (it stays below), ``violated``, or ``recorded`` (typed beside the rows that it was read from).
        known: name → extremal point, see ``batch``; each must attain what the claim says is attained, and the search must come to the best.
        attains: the supremum of the ratio, which the search must reach and must not exceed.
        gap: how near counts as reached.
        rounding: how far above 1 is rounding.
        restarts: of the search.
        steps: of each climb at most; 0 only looks at the starts.
        seed: of the starts.
        edges: False where rounding decides at faces, centres and far out.
    """

    lhs: Side
    rhs: Side | float
    over: AdmissibleSet | Mapping[str, AdmissibleSet]
    expect: str
    because: str
    known: Mapping[str, Point] = field(default_factory=dict)
    attains: float | None = None
    gap: float = 1e-6
    rounding: float = 1e-12
    restarts: int = 32
    steps: int = 300
    seed: int = 0
    edges: bool = True

    kind = "inequality"
    expects = ("tight", "loose", "violated", RECORDED)

    def __post_init__(self) -> None:
        """Refuse a check that could not fail."""
        super().__post_init__()
        if self.attains is not None:
            arguments.positive("attains", self.attains)
        if arguments.positive("gap", self.gap) >= 1:
            raise ValueError(f"gap must be below 1, or every bound is tight, got {self.gap!r}")
        if not callable(self.rhs):
            arguments.positive("rhs", self.rhs)
        sets = list(self.over.values()) if isinstance(self.over, Mapping) else [self.over]
        if not sets or not all(isinstance(over, AdmissibleSet) for over in sets):
            raise ValueError(
                f"over must be an admissible set or several by name, got {', '.join(type(s).__name__ for s in sets) or 'none'}"
            )
        arguments.positive("rounding", self.rounding)
        for name, point in self.known.items():
            self._check_known(name, point, sets[0])

    def _check_known(self, name: str, point: Point, over: AdmissibleSet) -> None:
        """Refuse a known point that does not have the set's variables, or lies outside (its sizes may differ)."""
        if set(point) != set(over.regions):
            raise ValueError(
                f"known[{name!r}] must have the variables {', '.join(over.regions)}, got {', '.join(point)}"
            )
        for variable, admitted in over.admit(point).items():
            if not torch.allclose(admitted, point[variable], rtol=0, atol=1e-9):
                raise ValueError(
                    f"known[{name!r}] must lie in the set: {variable} in {over.regions[variable].text}"
                )

    def ratio(self, **point: Float[Tensor, "b ..."]) -> Float[Tensor, " b"]:
        """Left side over right side of a batch of points."""
        left, right = self._sides(**point)
        negative = torch.as_tensor(right) < 0
        if not negative.any():
            return left / right
        # A negative right side turns a quotient around: there the claim holds or fails outright.
        return torch.where(negative, torch.where(left <= right, -math.inf, math.inf), left / right)

    def _sides(self, **point: Tensor) -> tuple[Tensor, Tensor | float]:
        lhs, rhs = self.lhs, self.rhs
        if isinstance(lhs, OneOfTwo) and isinstance(rhs, OneOfTwo) and lhs.together is rhs.together:
            both = untouched.call("sides", lhs.together, point)
            return both[lhs.which], both[rhs.which]
        left = untouched.call("lhs", lhs, point)
        return left, untouched.call("rhs", rhs, point) if callable(rhs) else rhs

    @property
    def limit(self) -> float:
        """A ratio above it refutes the claim: that the left side is no larger, or that a stated ratio is the largest."""
        most = math.inf if self.expect == "violated" else 1 + self.rounding
        return most if self.attains is None else min(most, self.attains * (1 + self.gap))

    def scaled(self, factor: float) -> "Inequality":
        """The same claim with its right side multiplied by ``factor``: a mutation that a sharp claim must not survive."""
        right = self.rhs
        return replace(self, rhs=(lambda **p: factor * right(**p)) if callable(right) else factor * right)

    def missed(self) -> str:
        """What is said to be attained at a known point and is not, or to be the most and is not, in words; "" if nothing."""
        return self._missed(self._at_known())

    def has_aim(self) -> bool:
        """Whether there is something to reach, so that a patient search may go on where another ends."""
        return self._aim(self._at_known()) is not None

    def run(self) -> Verdict:
        """Search every set, evaluate the known extremal points, and compare with the expectation."""
        return self.judged(self.searched())

    def searched(
        self, patient: bool = True, steps: Mapping[str, int] | None = None
    ) -> dict[str, SearchResult]:
        """Search every set, by name; ``steps`` has those of a set, if not ``self.steps``.

        Args:
            patient: whether a search goes on when it has refuted what should hold, or when its restarts agree on less than it should reach,
                and whether a set is searched after another has refuted or fallen short.
        """
        sets = self.over if isinstance(self.over, Mapping) else {"": self.over}
        aim = self._aim(self._at_known()) if patient else None
        enough = math.inf if patient else self.limit
        found = {}
        for name, over in sets.items():
            found[name] = maximise(
                self.ratio,
                over,
                self.restarts,
                (steps or {}).get(name, self.steps),
                self.seed,
                attains=aim,
                gap=self.gap,
                edges=self.edges,
                enough=enough,
            )
            if not patient and (found[name].value > enough or self._falls_short(found[name].value)):
                break
        return found

    def judged(self, found: Mapping[str, SearchResult]) -> Verdict:
        """Compare what searches found, and the known extremal points, with the expectation."""
        known = self._at_known()
        where = max(found, key=lambda name: found[name].value)
        searched, ratio = found[where].value, max([found[where].value, *known.values()])
        shortfall = self._shortfall({name: result.value for name, result in found.items()}, known)
        witness = (
            found[where].point if searched >= ratio - self.gap else self.known[max(known, key=known.get)]
        )
        undefined = sum(result.undefined for result in found.values())
        if undefined:
            shortfall = (
                f"the ratio is not a number at {undefined} of the points tried: leave them out of the set"
            )
        nowhere = [name for name, value in known.items() if math.isnan(value)]
        if nowhere:
            shortfall = f"the ratio is no number at the known {nowhere[0]}"
        again, limit = float(self.ratio(**found[where].point).detach()), 1 + self.rounding
        same = math.isclose(again, searched, rel_tol=self.gap) and (again > limit) == (searched > limit)
        if not shortfall and not same:
            shortfall = f"the ratio {searched:.7g} is {again:.7g} where it is evaluated again: a side draws random numbers, or points interact"
        verdict = "violated" if ratio > limit else "tight" if ratio >= 1 - self.gap else "loose"
        if verdict == "violated" and same and not self._stands(witness):
            sure = next((point for point in self._refuting(found) if self._stands(point)), None)
            if sure is None:
                verdict, shortfall = "undecided", self._rounding_alone(ratio)
            else:
                witness, ratio = sure, float(self.ratio(**sure).detach())
        elif verdict == "loose" and self.attains is None:
            why = next(filter(None, map(self._unsettled, found.values())), "")
            if why:
                verdict = "undecided"
                shortfall = (
                    shortfall
                    or f"largest ratio {ratio:.6f}, but {why}; search longer, or state the largest as attains"
                )
        if self.expect == RECORDED and verdict in ("tight", "loose"):
            verdict = RECORDED
        if shortfall and verdict == self.expect:
            verdict = SHORTFALL
        return self.verdict(
            verdict,
            shortfall or self._summary(ratio, where, known, found[where]),
            {
                "ratio": ratio,
                **({} if self.attains is None else {"attains": self.attains}),
                "searched": searched,
                "arrived": found[where].arrived,
                **{f"searched_{name}": result.value for name, result in found.items() if name},
                **{f"known_{name}": value for name, value in known.items()},
            },
            {
                "sets": len(self.over) if isinstance(self.over, Mapping) else 1,
                "restarts": self.restarts,
                "steps": self.steps,
                "seed": self.seed,
                "starts": "inside and at edges" if self.steps and self.edges else "inside",
            },
            power.of_inequality(
                ratio,
                self.rounding,
                self.expect,
                self.attains,
                self.gap,
                [result.value for result in found.values()],
            ),
            {name: value.squeeze(0) for name, value in witness.items()},
        )

    def _at_known(self) -> dict[str, float]:
        """The ratio at the known points."""
        return {name: float(self.ratio(**point).detach().max()) for name, point in self.known.items()}

    def _aim(self, known: dict[str, float]) -> float | None:
        """What a search should not miss: what is said to be attained, what a known point has, of a refutation as much as there is."""
        if self._target is None and self.expect == "violated":
            return math.inf
        return max(
            [value for value in (self._target, *known.values()) if value is not None and value > 0],
            default=None,
        )

    @property
    def _target(self) -> float | None:
        """The ratio that is said to be attained, if one is."""
        return 1.0 if self.attains is None and self.expect == "tight" else self.attains

    def _shortfall(self, found: dict[str, float], known: dict[str, float]) -> str:
        """What the search should have reached, set by set, and did not; "" if nothing."""
        target = self._target
        best_known = max(known.values(), default=None)
        for name, value in found.items():
            place = f" over {name}" if name else ""
            if self._falls_short(value):
                return (
                    f"the search reached only ratio {value:.7f}{place}, the claim says {target:.7f} is attained; "
                    "if you trust the claim, give the search more steps or restarts"
                )
            if self.attains is not None and value > target * (1 + self.gap):
                return f"the search reached ratio {value:.7f}{place}, the claim says that {target:.7f} is the most"
        if missed := self._missed(known):
            return missed
        if best_known is not None and max(found.values()) < best_known * (1 - self.gap):
            return (
                f"the search reached only ratio {max(found.values()):.7f}, a known point has {best_known:.7f}"
            )
        return ""

    def _falls_short(self, value: float) -> bool:
        return self._target is not None and value < self._target * (1 - self.gap)

    def _missed(self, known: dict[str, float]) -> str:
        for name, value in known.items():
            if self.attains is not None and value > self.attains * (1 + self.gap):
                return f"the known {name} has ratio {value:.7f}, the claim says that {self.attains:.7f} is the most"
            if self._falls_short(value):
                return f"the known {name} has only ratio {value:.7f}, the claim says {self._target:.7f} is attained there"
        return ""

    def _stands(self, point: Point) -> bool:
        """Whether a point refutes the claim whatever the last digits of what is computed there."""
        return watched.least(self.ratio, point) > 1 + self.rounding

    def _refuting(self, found: Mapping[str, SearchResult]) -> Iterator[Point]:
        """Where the restarts of the searches found ratios that are too large, the largest first."""
        for result in found.values():
            for row in result.values.argsort(descending=True).tolist():
                if result.values[row] > 1 + self.rounding:
                    yield {name: value[row : row + 1] for name, value in result.ends.items()}

    def _rounding_alone(self, ratio: float) -> str:
        return (
            f"the ratio {ratio:.7g} is rounding: with other last digits it is below 1 there; write the sides without cancellation, "
            "or leave out of the set where they cancel"
        )

    def _unsettled(self, result: SearchResult) -> str:
        """Why what a search found may not be the most there is, in words; "" if several restarts came to it of themselves."""
        if not self.steps:
            return "no climb was made"
        if result.flat:
            return "the slope was 0 at every start, so that none could climb"
        few = self.restarts < CONFIRMED and result.rising
        if result.arrived >= min(CONFIRMED, self.restarts) and not few:
            return ""
        rising = ", and was still rising" if result.rising else ""
        return f"the search had not arrived: {result.arrived} of {self.restarts} restarts{rising}"

    def _summary(self, ratio: float, where: str, known: dict[str, float], result: SearchResult) -> str:
        reached = (
            f", as at the known {max(known, key=known.get)}"
            if known and max(known.values()) >= ratio - self.gap
            else ""
        )
        place = f" ({where})" if where and len(self.over) > 1 and self.expect == "violated" else ""
        alone = self._unsettled(result) if ratio < 1 - self.gap else ""
        arrival = alone or f"{result.arrived} of {self.restarts} restarts arrive"
        return f"largest ratio {ratio:.6f}{place}{reached}; {arrival}"


def batch(**point: Number | Sequence) -> Point:
    """A single point as a batch of one, for ``known``: numbers, sequences or tensors, with a leading dimension of 1, in float64."""
    return {name: torch.as_tensor(value, dtype=torch.float64)[None] for name, value in point.items()}
