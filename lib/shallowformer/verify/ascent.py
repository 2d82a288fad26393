"""Climb from many starts at once: projected quasi-Newton ascent, in which every restart has its own memory, step length and end.

One evaluation serves all restarts, so what a climb costs is the number of evaluations; numbers here are rows of flat arrays, one row a restart.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

Points = Float64[np.ndarray, "restarts size"]
Numbers = Float64[np.ndarray, " restarts"]
Rows = Bool[np.ndarray, " restarts"]

#: Steps that a restart remembers; failed trials in a row after which it forgets them, or else has come to its end.
MEMORY, FAILS = 12, 8
#: A restart that promises this share of what counts as a rise has arrived.
SETTLED = 1e-5
#: A trial is at most so many times as far from the centre as the point that it starts from: what grows, grows step by step.
GROWTH = 10.0


@dataclass(frozen=True)
class Ascent:
    """Where restarts are."""

    z: Points  # their points
    f: Numbers  # values; minus infinity where there is none
    g: Points  # slopes


def dot(a: Points, b: Points) -> Numbers:
    """⟨a, b⟩ row by row."""
    return np.einsum("rd,rd->r", a, b)


def pick(rows: Rows, yes: Points, no: Points) -> Points:
    """Rows of the one and of the other."""
    return np.where(rows[:, None], yes, no)


class _Memory:
    """Latest steps and changes of slope: the inverse of a curvature that is negative definite (Nocedal's two loops, each row its own)."""

    def __init__(self, rows: int) -> None:
        self.pairs: deque = deque(maxlen=MEMORY)
        self.scale = np.zeros(rows)  # 0: the row knows nothing

    def learn(self, step: Points, change: Points, use: Rows) -> None:
        """Remember the steps of some rows; of the others the pair has weight 0."""
        if not use.any():
            return
        inner, square = dot(step, change), dot(change, change)
        use = use & (inner > 1e-10 * np.sqrt(dot(step, step) * square)) & (inner > 1e-290)
        weight = np.divide(1, inner, out=np.zeros_like(inner), where=use)
        self.pairs.append((step, change, weight))
        np.divide(inner, square, out=self.scale, where=use)

    def forget(self, rows: Rows) -> None:
        for _, _, weight in self.pairs:
            weight[rows] = 0
        self.scale[rows] = 0

    def direction(self, slope: Points, first: Points) -> Points:
        """Where the remembered curvature says that the maximum is; ``first`` for rows that know nothing."""
        q, shares = slope.copy(), []
        for step, change, weight in reversed(self.pairs):
            shares.append(weight * dot(step, q))
            q -= shares[-1][:, None] * change
        q = pick(self.scale > 0, self.scale[:, None] * q, first)
        for (step, change, weight), share in zip(self.pairs, reversed(shares), strict=True):
            q += (share - weight * dot(change, q))[:, None] * step
        return q


def _first(z: Points, slope: Points) -> Points:
    """A step of a tenth of the point's size, or of 0.1, up the slope."""
    size = 0.1 * np.sqrt(np.square(z).mean(1)).clip(min=1)
    return slope * (size / np.sqrt(dot(slope, slope)).clip(min=1e-150))[:, None]


def _promise(before: Numbers, between: Numbers, now: Numbers) -> Numbers:
    """How far a value still rises whose gains go on shrinking as from the first half of a while to its second; infinite if they do not."""
    early, late = between - before, now - between
    ratio = np.divide(late, early, out=np.ones_like(late), where=late < early)
    further = np.divide(late * ratio, 1 - ratio, out=np.full_like(late, np.inf), where=ratio < 1)
    return np.where(late > 0, further, early.clip(min=0))


@np.errstate(all="ignore")  # infinities and what comes of them are dealt with
def ascend(
    evaluate: Callable[[Points], tuple[Numbers, Points]],
    admit: Callable[[Points], Points],
    open: Callable[[Points, Points], Points],
    at: Ascent,
    evaluations: int,
    window: int,
    near: float,
    enough: float = math.inf,
) -> tuple[Ascent, int, Rows]:
    """Climb until every restart has arrived, promises no more than the best has, or the evaluations are used up.

    Returns: where the restarts are then, how many evaluations it took, and which came to rest of themselves.

    Args:
        evaluate: points → values and slopes.
        admit: raw points → admissible ones.
        open: (points, slopes) → what of the slopes can be followed there.
        window: so many evaluations back a restart's gains are looked at, to see what it still promises.
        near: a promised rise below this share of the best value is none.
        enough: a value above which nobody wants to know more.
    """
    z, f, g = at.z, at.f, at.g
    rows = len(z)
    known, past = _Memory(rows), deque(maxlen=window)
    length, fails = np.ones(rows), np.zeros(rows, int)
    done = ~np.isfinite(f)
    slope = open(z, g)
    way = open(z, _first(z, slope))
    used = 0
    while used < evaluations and not done.all() and f.max() <= enough:
        past.append(f)
        wrong = ~done & (dot(slope, way) <= 0)
        if wrong.any():
            known.forget(wrong)
            way = pick(wrong, open(z, _first(z, slope)), way)
        step = length[:, None] * way
        most = GROWTH * (1 + np.abs(z).max(1)) / np.abs(step).max(1).clip(min=1e-300)
        trial = pick(done, z, admit(z + step * most.clip(max=1)[:, None]))
        ft, gt = f.copy(), g.copy()
        ft[~done], gt[~done] = evaluate(trial[~done])
        used += 1
        step = trial - z
        higher = ft >= f + 1e-4 * dot(g, step).clip(min=0) - 1e-15 * np.abs(f)
        ok = ~done & higher & (ft > -np.inf)
        slope_there = open(trial, gt)
        change = slope - slope_there
        known.learn(step, change, ok)
        bent_up = dot(step, change) <= 0
        z, f, g, slope = (
            pick(ok, trial, z),
            np.where(ok, ft, f),
            pick(ok, gt, g),
            pick(ok, slope_there, slope),
        )
        way = pick(ok, open(z, known.direction(slope, _first(z, slope))), way)
        fails = np.where(ok, 0, fails + 1)
        length = np.where(ok, np.where(bent_up, 2 * length, 1.0), length * np.where(fails > 3, 0.1, 0.4))
        stuck = fails >= FAILS
        again = stuck & (known.scale > 0)
        if again.any():
            known.forget(again)
            way = pick(again, open(z, _first(z, slope)), way)
            length, fails = np.where(again, 1.0, length), np.where(again, 0, fails)
        done |= (stuck & ~again) | (dot(slope, slope) == 0) | (f == np.inf)
        if len(past) == window and np.isfinite(f.max()):
            began = np.isfinite(past[0])
            promise = np.full(rows, np.inf)
            promise[began] = _promise(past[0][began], past[window // 2][began], f[began])
            least = near * abs(f.max())
            done |= (promise <= SETTLED * least) | ((f < f.max()) & (f + promise <= f.max() + least))
    return Ascent(z, f, g), used, done
