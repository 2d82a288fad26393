"""Rules for a step, and how many steps each needs: descent and Adam, on any objective, one pass a step."""

from collections.abc import Callable, Sequence

import torch

from shallowformer.contracts import Positive, contract
from shallowformer.training import descent
from shallowformer.training.points import Point

#: Gradient → what is added to the point; one is made for every run.
Rule = Callable[[Point], Point]


@contract
def plain(eta: Positive) -> Rule:
    """−ηg."""
    return lambda slope: tuple(-eta * g for g in slope)


@contract
def adam(eta: Positive, beta_1: float = 0.9, beta_2: float = 0.999, eps: float = 1e-12) -> Rule:
    """−η m̂/(√v̂ + ε), with running means m of g and v of g², each over 1 − β^t.

    Source: Adam, of Kingma and Ba 2015; ε is made so small that units of a weight do not matter.
    """
    t, m, v = 0, None, None

    def step(slope: Point) -> Point:
        nonlocal t, m, v
        if m is None:
            m, v = ([torch.zeros_like(g) for g in slope] for _ in range(2))
        t += 1
        m = [beta_1 * old + (1 - beta_1) * g for old, g in zip(m, slope, strict=True)]
        v = [beta_2 * old + (1 - beta_2) * g.square() for old, g in zip(v, slope, strict=True)]
        return tuple(
            -eta * a / (1 - beta_1**t) / ((b / (1 - beta_2**t)).sqrt() + eps)
            for a, b in zip(m, v, strict=True)
        )

    return step


@torch.no_grad()
def steps_to(
    objective: descent.Objective, start: Point, rule: Rule, threshold: float, most: int
) -> int | None:
    """How many steps until the loss is at most a threshold; None if ``most`` do not do or it is no number."""
    point = start
    for step in range(most + 1):
        loss, slope = objective.losses_and_gradient(point, None)
        if not torch.isfinite(loss).all():
            return None
        if float(loss[0]) <= threshold:
            return step
        point = tuple(block + move for block, move in zip(point, rule(slope), strict=True))
    return None


def best_of(
    objective: descent.Objective,
    start: Point,
    rule: Callable[[float], Rule],
    etas: Sequence[float],
    threshold: float,
    most: int,
) -> tuple[int | None, int | None]:
    """Fewest steps over a grid of η, and which place in the grid they were; None and None if none is there in time."""
    best: tuple[int | None, int | None] = None, None
    for place in reversed(range(len(etas))):
        limit = most if best[0] is None else best[0] - 1
        if limit < 1:
            break
        taken = steps_to(objective, start, rule(etas[place]), threshold, limit)
        if taken is not None:
            best = taken, place
    return best
