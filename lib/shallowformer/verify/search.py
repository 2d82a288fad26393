"""Adversarial search: climb on a quantity over an admissible set, from many starts, in float64."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.verify.sets import AdmissibleSet, Point


@dataclass(frozen=True)
class SearchResult:
    """The largest value found, and where.

    Args:
        value: the largest value.
        point: the admissible point, name → tensor with a leading dimension of 1.
        values: the largest value of each restart, Float64[Tensor, "restarts"].
    """

    value: float
    point: Point
    values: Tensor


def maximise(
    objective: Callable[..., Tensor],
    over: AdmissibleSet,
    restarts: int = 32,
    steps: int = 300,
    seed: int = 0,
    rate: float = 0.1,
) -> SearchResult:
    """Climb on ``objective`` by projected Adam with a cosine step size; a lower bound on the supremum, never more.

    Every start and every iterate counts, so the result is at least as good as random search with the same starts.

    Args:
        objective: named variables with a leading restart dimension → Float64[Tensor, "restarts"], differentiable;
            restarts must not interact. NaN counts as minus infinity.
        over: where the variables may lie.
        restarts: starting points, at least 1.
        steps: steps of each climb, at least 0 (0: only the starting points are evaluated).
        seed: of the starting points.
        rate: first step size, above 0.

    Returns:
        The largest value and its point.

    Raises:
        ValueError: a budget or rate out of range, or an objective that does not return one number a restart.
    """
    arguments.count("restarts", restarts)
    arguments.count("steps", steps, 0)
    arguments.positive("rate", rate)
    raw = {name: value.requires_grad_() for name, value in over.draw(restarts, Generator().manual_seed(seed)).items()}
    optimiser = torch.optim.Adam(raw.values(), lr=rate, betas=(0.8, 0.99), eps=1e-12)
    best = torch.full((restarts,), -math.inf, dtype=torch.float64)
    best_point = {name: value.detach().clone() for name, value in raw.items()}
    for step in range(steps + 1):
        point = over.admit(raw)
        value = objective(**point)
        if not isinstance(value, Tensor) or value.shape != (restarts,):
            raise ValueError(
                f"objective must return one number a restart, shape ({restarts},), got "
                f"{tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__}"
            )
        with torch.no_grad():
            better = value > best  # False for NaN
            best = torch.where(better, value.double(), best)
            for name, now in point.items():
                best_point[name][better] = now.detach()[better]
        if step == steps or not value.requires_grad:
            break
        optimiser.param_groups[0]["lr"] = rate * (1e-4 + 0.5 * (1 + math.cos(math.pi * step / steps)))
        optimiser.zero_grad()
        (-torch.where(value.isfinite(), value, 0.0).sum()).backward()
        for variable in raw.values():
            if variable.grad is not None:
                variable.grad.nan_to_num_(0.0, 0.0, 0.0)
        optimiser.step()
        with torch.no_grad():
            for name, now in over.admit(raw).items():
                raw[name].copy_(now)
    winner = int(best.argmax())
    return SearchResult(float(best[winner]), {name: value[winner : winner + 1] for name, value in best_point.items()}, best)
