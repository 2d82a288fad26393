"""What the algorithm is compared with: raw descent on (A, B) from several starts, each with the best of a grid of steps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer.contracts import Count, Positive, contract
from shallowformer.training import descent
from shallowformer.training.points import Point


@contract
def small_random(
    m: Count, d: Count, size: Positive, generator: Generator
) -> tuple[Float[Tensor, "{m} {d}"], Float[Tensor, "{d} {d}"]]:
    """Gaussian A and B of a small standard deviation an entry."""
    draw = lambda rows: size * torch.randn(rows, d, generator=generator, dtype=torch.float64)
    return draw(m), draw(d)


class _Reached(Exception):
    def __init__(self, step: int) -> None:
        self.step = step


def steps_to(
    objective: descent.Objective,
    start: Point,
    eta: float,
    measure: Callable[[Point], float],
    threshold: float,
    most: int,
) -> int | None:
    """How many steps of descent until ``measure`` of a point, e.g. 𝓔, is at most a threshold; None if ``most`` do not do or it diverges."""

    def watch(step: int, point: Point) -> None:
        if float(measure(point)) <= threshold:
            raise _Reached(step)

    try:
        descent.run(objective, start, eta=eta, steps=most, every=1, observe=watch)
    except _Reached as reached:
        return reached.step
    except descent.Diverged:
        pass
    return None


@dataclass(frozen=True)
class Best:
    """The best of a grid of steps."""

    eta: float | None  # the step, None if none reaches the threshold
    steps: int | None  # how many it takes, None likewise


def best_of(
    objective: descent.Objective,
    start: Point,
    etas: Sequence[float],
    measure: Callable[[Point], float],
    threshold: float,
    most: int,
) -> Best:
    """The step of a grid with which descent is first at a threshold in ``most`` steps, as ``steps_to``; of two that tie, the longer."""
    if len(etas) == 0:
        raise ValueError("etas must hold at least one step size, got none")
    best = Best(None, None)
    for eta in sorted(etas, reverse=True):
        # Who is not faster than the best so far need not be waited for.
        limit = most if best.steps is None else best.steps - 1
        if limit < 1:
            break
        taken = steps_to(objective, start, eta, measure, threshold, limit)
        if taken is not None:
            best = Best(eta, taken)
    return best
