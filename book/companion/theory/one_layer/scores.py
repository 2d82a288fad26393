"""How predictions did: per theory and voice as forecasters are scored, and who was sharpest where."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from companion.theory.one_layer.prediction import SAYS_NOTHING, interval_score

#: In a stored row: a run that has diverged, a voice that says nothing.
SILENT = -1.0
#: What a stored row holds: ``truth`` by run and checkpoint, and ``voices``, by "theory voice" the ``low`` and ``high`` of each run.
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Score:
    """What became of one voice."""

    asked: int  # how many runs and checkpoints it was asked about
    spoke: int  # about how many it said something
    held: int  # in how many of these it was right
    width: float  # median width of what it said
    interval: float  # mean interval score of what it said

    @property
    def coverage(self) -> float:
        """How often it was right where it spoke; NaN if it never did."""
        return self.held / self.spoke if self.spoke else math.nan


def bounds(row: Row, voice: str) -> tuple[Float[np.ndarray, "r s"], Float[np.ndarray, "r s"]]:
    """Low and high of a voice, NaN where it says nothing."""
    said = row["voices"].get(voice)
    nothing = np.full(np.shape(row["truth"]), math.nan)
    if said is None:
        return nothing, nothing
    low, high = (np.array(said[end], dtype=float) for end in ("low", "high"))
    silent = (high == SILENT) | ~(high - low <= SAYS_NOTHING)
    return np.where(silent, math.nan, low), np.where(silent, math.nan, high)


def true(row: Row) -> Float[np.ndarray, "r s"]:
    """What was measured; infinite where a run has diverged."""
    found = np.array(row["truth"])
    return np.where(found == SILENT, math.inf, found)


def right(row: Row, voice: str, rounding: float = 5e-4) -> tuple[np.ndarray, np.ndarray]:
    """Where a voice speaks and where it is right, by run and checkpoint; rows are stored with few digits, hence ``rounding``."""
    truth = true(row)
    low, high = bounds(row, voice)
    slack = rounding * (1 + np.where(np.isfinite(truth), truth, 0.0))  # what has diverged is in no interval
    return ~np.isnan(low), (low - slack <= truth) & (truth <= high + slack)


def score(rows: Iterable[Row], voice: str, first: int = 1) -> Score:
    """The score of a voice over rows, from a checkpoint on: the start itself is no prediction."""
    asked, held, widths, intervals = 0, 0, [], []
    for row in rows:
        spoke, correct = right(row, voice)
        low, high = bounds(row, voice)
        asked += spoke[:, first:].size
        held += int(correct[:, first:].sum())
        for i, s in zip(*np.nonzero(spoke[:, first:]), strict=True):
            one = low[i, s + first], high[i, s + first]
            widths.append(one[1] - one[0])
            intervals.append(interval_score(*one, float(true(row)[i, s + first])))
    middle, mean = (np.median(widths), np.mean(intervals)) if widths else (math.nan, math.nan)
    return Score(asked, len(widths), held, float(middle), float(mean))


def sharpest(row: Row, voices: Sequence[str]) -> np.ndarray:
    """Index of the narrowest of those voices that are right, by run and checkpoint; −1 where none is."""
    width = []
    for voice in voices:
        low, high = bounds(row, voice)
        width.append(np.where(right(row, voice)[1], high - low, math.inf))
    best = np.argmin(width, axis=0)
    return np.where(np.isfinite(np.min(width, axis=0)), best, -1)


def of_most(choices: np.ndarray) -> np.ndarray:
    """The choice of most runs at each checkpoint; −1 unless more than half of the runs have one, ties to the smaller."""
    found = []
    for column in choices.T:
        named = column[column >= 0]
        found.append(np.bincount(named).argmax() if 2 * len(named) > len(column) else -1)
    return np.array(found)
