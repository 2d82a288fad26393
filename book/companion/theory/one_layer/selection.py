"""Token selection: what its theory says of a run in which attention moves and the decoder stands still."""

import numpy as np
import torch

from companion.theory.one_layer import ray, selected, sides
from companion.theory.one_layer.prediction import Prediction
from companion.theory.one_layer.problem import Problem, checkpoints

THEOREM = (
    "ts-definition-1-infimum",
    "ts-definition-1-path",
    "ts-definition-a2",
    "ts-lemma-3",
    "ts-lemma-4",
    "ts-lemma-5",
)
FORECAST = ("ts-definition-1-svm", "ts-theorem-b-limit", "ts-theorem-c")


def predict(problem: Problem) -> list[Prediction]:
    """Both voices, where attention alone is trained, a matrix selects all optimal tokens and all others have one score."""
    here = selected.selection(problem)
    if here is None:
        return []
    steps = tuple(checkpoints(problem.steps))
    low, high = sides.theorem(here, steps)
    said = [_said("theorem", steps, low, high, THEOREM)]
    found = ray.forecast(here, steps)
    if found is not None:
        first, lower, upper = found
        # What is proved is not forecast otherwise.
        lower, upper = (np.clip(side, low[first:], high[first:]) for side in (lower, upper))
        said.append(_said("forecast", steps[first:], lower, upper, FORECAST))
    return said


def _said(
    voice: str, steps: tuple[int, ...], low: selected.Numbers, high: selected.Numbers, on: tuple[str, ...]
) -> Prediction:
    both = (torch.from_numpy(np.ascontiguousarray(side)) for side in (low, high))
    return Prediction("selection", voice, "loss", steps, *both, on)
