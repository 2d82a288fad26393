"""Adversarial search: climb on a quantity over an admissible set, from many starts, in float64.

Half of the restarts begin inside the set, half at its edges, where bounds fail out of sight. They climb by quasi-Newton steps (``ascent``)
until they have arrived. Then the surroundings of the best are looked at without slopes, for another size, and for a jump on the lines to
where the others ended. Where a stated value has not been reached, Adam climbs from inside (``adam``).
A peak narrower than the distances between all these points is out of reach of any search.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.verify import adam
from shallowformer.verify.ascent import Ascent, Numbers, Points, Rows, ascend, pick
from shallowformer.verify.sets import AdmissibleSet, Point

#: Points at edges that are drawn for each restart; a quarter of the restarts begin at the best of them, a quarter at any.
DRAWN = 3
#: Steps of the first climb, which gets over kinks and onto boundaries; a search of at most twice as many makes no other.
BRISK = 60
#: Climbs after it, each more patient: evaluations over which a gain is judged, and the share of the value that is no gain.
PATIENCE = ((20, 1e-7), (40, 1e-8), (80, 1e-9))
#: A restart has arrived that is as near to the best; where nothing is stated, so many must.
NEAR, CONFIRMED = 1e-6, 3
#: Where between the best and another end, and beyond, a jump is looked for; the powers of ten between which other sizes are tried.
PLACES, DECADES = (-1.0, -0.1, 0.1, 0.25, 0.5, 0.75, 2.0), 3
#: So many times as far as the starts, a point without a value is no complaint: there numbers overflow.
FAR = 1e3


@dataclass(frozen=True)
class SearchResult:
    """The largest value found, and where."""

    value: float  # the largest value
    point: Point  # the admissible point, name → tensor with a leading dimension of 1
    values: Float64[Tensor, " restarts"]  # the largest value of each restart
    arrived: int  # how many restarts came as near as ``NEAR`` to it of themselves; those that were moved there count as one
    ends: dict[str, Float64[Tensor, "restarts ..."]]  # where each restart found its own
    undefined: int = 0  # how many evaluations gave no number while restarts that began inside climbed by Adam, but for those far out
    rising: bool = False  # whether the best restart had not come to rest when its steps were used up
    flat: bool = False  # whether the slope was 0 wherever a restart began, so that none could climb
    evaluations: int = 0  # of the batch of restarts, at most
    #: what a search for which nothing is stated would have found, if that is less than what is stated
    agreed: "SearchResult | None" = None


class _Objective:
    """An objective of named variables as a function of flat rows."""

    def __init__(self, objective: Callable[..., Tensor], over: AdmissibleSet, example: Point) -> None:
        self.objective, self.regions = objective, over.regions
        self.shapes = {name: value.shape[1:] for name, value in example.items()}
        ends = np.cumsum([math.prod(shape) for shape in self.shapes.values()]).tolist()
        self.columns = dict(zip(self.shapes, map(slice, [0, *ends], ends), strict=True))
        self.undefined = 0
        #: Restarts that began inside, and how far out they are still watched.
        self.watched, self.far = slice(0), math.inf

    @property
    def vectors(self) -> list[tuple[slice, int]]:
        """Columns of round regions, and the dimension of their vectors."""
        return [
            (self.columns[name], self.shapes[name][-1])
            for name, region in self.regions.items()
            if region.round
        ]

    def flat(self, point: Point) -> Points:
        return np.concatenate(
            [point[name].detach().reshape(len(point[name]), -1).numpy() for name in self.columns], axis=1
        )

    def _part(self, z: Points, name: str) -> Tensor:
        return torch.from_numpy(z[:, self.columns[name]]).reshape(len(z), *self.shapes[name])

    def point(self, z: Points) -> Point:
        """Named tensors of their own."""
        return {name: self._part(z, name).clone() for name in self.columns}

    def admit(self, z: Points) -> Points:
        return self.flat({name: region.admit(self._part(z, name)) for name, region in self.regions.items()})

    def open(self, z: Points, slope: Points) -> Points:
        return self.flat(
            {
                name: region.open(self._part(z, name), self._part(slope, name))
                for name, region in self.regions.items()
            }
        )

    def values(self, z: Points) -> Numbers:
        """Values without slopes; minus infinity where there is none or the objective refuses a point."""
        return self._row_by_row(lambda z: (_numbers(self._call(self.point(z)).detach()),), z)[0]

    def values_and_slopes(self, z: Points) -> tuple[Numbers, Points]:
        """The same with slopes, which are 0 where there is no value."""
        return self._row_by_row(self.measured, z)[:2]

    def watching(self, z: Points) -> tuple[Numbers, Points]:
        """The same; counts where restarts that are watched have no value."""
        f, g, nowhere = self._row_by_row(self.measured, z)
        self.undefined += int((nowhere & (np.abs(z).max(1) <= self.far))[self.watched].sum())
        return f, g

    def _row_by_row(self, function: Callable, z: Points) -> tuple[np.ndarray, ...]:
        """Where the search goes of its own accord, a point that the objective refuses must not cost it the others."""
        try:
            return function(z)
        except (ValueError, torch.linalg.LinAlgError):
            if len(z) == 1:
                return np.array([-math.inf]), np.zeros_like(z), np.array([True])
            rows = (self._row_by_row(function, z[k : k + 1]) for k in range(len(z)))
            return tuple(map(np.concatenate, zip(*rows, strict=False)))

    def measured(self, z: Points) -> tuple[Numbers, Points, Rows]:
        """Values and slopes, and where there is no number."""
        point = {name: value.requires_grad_() for name, value in self.point(z).items()}
        value = self._call(point)
        if not value.requires_grad:
            raise ValueError(
                "objective must be differentiable in its variables to be climbed; got a value without a gradient"
            )
        now = value.detach()
        finite = (now.abs() < math.inf).to(value.dtype)
        # Not by grad_outputs, for which torch imports sympy.
        slopes = torch.autograd.grad((value * finite).sum(), list(point.values()), allow_unused=True)
        known = {
            name: torch.zeros_like(at) if slope is None else slope
            for (name, at), slope in zip(point.items(), slopes, strict=True)
        }
        slopes = np.nan_to_num(self.flat(known), nan=0.0, posinf=0.0, neginf=0.0)
        return _numbers(now), slopes, now.isnan().numpy()

    def _call(self, point: Point) -> Tensor:
        restarts, value = len(next(iter(point.values()))), self.objective(**point)
        if not isinstance(value, Tensor) or value.shape != (restarts,):
            raise ValueError(
                f"objective must return one number a restart, shape ({restarts},), got "
                f"{tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__}"
            )
        return value


def _numbers(values: Tensor) -> Numbers:
    numbers = values.double().numpy()
    return np.where(np.isnan(numbers), -math.inf, numbers)


def maximise(
    objective: Callable[..., Float64[Tensor, " restarts"]],
    over: AdmissibleSet,
    restarts: int = 32,
    steps: int = 300,
    seed: int = 0,
    rate: float = 0.1,
    attains: float | None = None,
    gap: float = NEAR,
    edges: bool = True,
    enough: float = math.inf,
) -> SearchResult:
    """Climb on ``objective`` from many starts; a lower bound on the supremum, never more.

    Every start and every iterate counts, so the result is at least as good as random search with the same starts.

    Returns: the largest value and its point.

    Args:
        objective: named variables with a leading restart dimension → one number a restart, differentiable; restarts must not
            interact. NaN counts as minus infinity.
        over: where the variables may lie.
        restarts: starting points, at least 1.
        steps: of each climb at most, at least 0 (0: only the starting points inside are evaluated).
        rate: first step size of Adam, above 0.
        attains: the value that is said to be attained, if one is: the search goes on until it is reached.
        gap: how near counts as reached, relative to it.
        edges: whether half of the restarts begin at edges, and other sizes and jumps are tried; not where rounding decides there.
        enough: a value above which the search ends.
    """
    arguments.count("restarts", restarts)
    arguments.count("steps", steps, 0)
    arguments.positive("rate", rate)
    generator = Generator().manual_seed(seed)
    start = over.draw(restarts, generator)
    problem = _Objective(objective, over, start)
    inside = problem.flat(start)
    if not steps:
        value = problem._call(start).detach()
        problem.undefined = int(value.isnan().sum())
        return _result(problem, inside, _numbers(value), np.full(restarts, True))

    f, g, nowhere = problem.measured(inside)
    if f.max() > enough:
        return _result(problem, inside, f, np.full(restarts, True))
    first, evaluate, problem.undefined = Ascent(inside, f, g), problem.values_and_slopes, int(nowhere.sum())
    problem.far = FAR * max(1.0, float(np.abs(inside).max()))
    z = _with_edges(problem, over, inside, generator) if edges else inside
    problem.watched = slice(int((z == inside).all(1).sum()))
    climb = functools.partial(
        adam.climb, problem.watching, problem.admit, problem.open, rate=rate, vectors=problem.vectors
    )
    brisk = BRISK if steps > 2 * BRISK else steps
    begun = Ascent(z, *evaluate(z))
    at = climb(at=begun, steps=brisk, ended=lambda f: f.max() > enough)
    left, own, rest, agreed = steps - brisk, np.full(restarts, True), np.full(restarts, False), None

    def found(at: Ascent, own: Rows, rest: Rows) -> SearchResult:
        best, own = _better(at, first), own | (first.f > at.f)
        rest = rest & (first.f <= at.f) | (problem.open(best.z, best.g) == 0).all(1)
        flat = bool((problem.open(begun.z, begun.g) == 0).all())
        return replace(_result(problem, best.z, best.f, own), rising=not rest[best.f.argmax()], flat=flat)

    for window, near in PATIENCE:
        at, used, rest = ascend(evaluate, problem.admit, problem.open, at, left, window, near, enough)
        left -= used
        if at.f.max() > enough:
            break
        moved = _around(problem, at) if edges else None
        if moved is not None:
            at, own, rest = Ascent(moved[0], *evaluate(moved[0])), own & ~moved[1], rest & ~moved[1]
        elif _enough(at.f, own, attains, gap):
            break
        elif agreed is None and _enough(at.f, own, None, gap):
            agreed = found(at, own, rest)
        if left <= 0:
            break
    used = steps - left
    if attains is not None and at.f.max() < attains * (1 - gap):
        problem.watched = slice(restarts)
        ended = lambda f: _enough(np.maximum(f, at.f), own, attains, gap)
        agreed = agreed or found(at, own, rest)
        again, used = climb(at=first, steps=steps, ended=ended), used + steps
        at, own, rest = _better(at, again), own | (again.f > at.f), rest & (again.f <= at.f)
    return replace(found(at, own, rest), evaluations=used, agreed=agreed)


def _enough(f: Numbers, own: Rows, attains: float | None, gap: float) -> bool:
    """Whether a search may end: the stated value has been reached, or several restarts have come to the same best."""
    best = float(f.max())
    if attains is not None and best < attains * (1 - gap):
        return False
    reached = attains is not None and best >= attains * (1 - min(gap, 10 * NEAR))
    return best == math.inf or reached or _arrived(f, own) >= min(CONFIRMED, len(f))


def _arrived(f: Numbers, own: Rows) -> int:
    """How many restarts have come to the best, of themselves; those that were moved there count as one."""
    best = float(f.max())
    there = f >= (best - NEAR * abs(best) if math.isfinite(best) else best)
    return int((there & own).sum()) + bool((there & ~own).any())


def _better(a: Ascent, b: Ascent) -> Ascent:
    """The better of two, restart by restart."""
    more = b.f > a.f
    return Ascent(pick(more, b.z, a.z), np.where(more, b.f, a.f), pick(more, b.g, a.g))


def _result(problem: _Objective, z: Points, f: Numbers, own: Rows) -> SearchResult:
    winner = int(f.argmax())
    best, point = float(f[winner]), problem.point(z[winner : winner + 1])
    values = torch.from_numpy(f.copy())
    return SearchResult(best, point, values, _arrived(f, own), problem.point(z), problem.undefined)


def _with_edges(problem: _Objective, over: AdmissibleSet, inside: Points, generator: Generator) -> Points:
    """Replace the second half of the starts by points at edges: the best of those drawn, and any; where there is no value none begins."""
    half = len(inside) // 2
    drawn = [problem.flat(over.edges(len(inside), generator)) for _ in range(DRAWN)]
    f, drawn = np.concatenate([problem.values(z) for z in drawn]), np.concatenate(drawn)
    best = f.argsort(kind="stable")[::-1][: half // 2]
    chosen = np.concatenate([best, np.arange(half - half // 2)])
    edges = drawn[chosen[f[chosen] > -math.inf]]
    return np.concatenate([inside[: len(inside) - len(edges)], edges])


def _around(problem: _Objective, at: Ascent) -> tuple[Points, Rows] | None:
    """Where to go on if the best point has a better one near: of another size in one variable or in all, or on the way to another end.

    The worst quarter of the restarts goes there; the second array says which these are.
    """
    best = at.f.max()
    if not np.isfinite(best):
        return None
    top = at.z[at.f.argmax()]
    sizes = 10 ** np.linspace(-DECADES, DECADES, len(at.z))[:, None]
    tries = [top + place * (at.z - top) for place in PLACES]
    for columns in [*problem.columns.values(), slice(None)]:
        scaled = np.repeat(top[None], len(at.z), axis=0)
        scaled[:, columns] *= sizes
        tries.append(scaled)
    tries = [problem.admit(z) for z in tries]
    there, tried = np.concatenate([problem.values(z) for z in tries]), np.concatenate(tries)
    if not there.max() > best + 0.1 * NEAR * abs(best):
        return None
    few = max(1, len(at.f) // 4)
    winners, losers = there.argsort(kind="stable")[::-1][:few], at.f.argsort(kind="stable")[:few]
    better = there[winners] > at.f[losers]
    z, moved = at.z.copy(), np.full(len(at.f), False)
    z[losers[better]], moved[losers[better]] = tried[winners[better]], True
    return z, moved
