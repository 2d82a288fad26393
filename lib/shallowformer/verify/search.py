"""Adversarial search: climb on a quantity over an admissible set, from many starts, in float64."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.verify.sets import AdmissibleSet, Point


@dataclass(frozen=True)
class SearchResult:
    """The largest value found, and where.

    Args:
        value: the largest value.
        point: the admissible point, name → tensor with a leading dimension of 1.
        values: the largest value of each restart.
        undefined: how many evaluations gave NaN.
    """

    value: float
    point: Point
    values: Float64[Tensor, " restarts"]
    undefined: int = 0


class _Adam:
    """Adam for one variable; on a ball or sphere with one step size for each vector along the last dimension.

    There a step size for each coordinate would bend the direction, and the projected iteration would come to rest
    beside the maximum.
    """

    MEMORY, SQUARE_MEMORY = 0.8, 0.99

    def __init__(self, variable: Tensor, round: bool) -> None:
        self.mean, self.square, self.steps = torch.zeros_like(variable), torch.zeros_like(variable), 0
        self.round = round

    def direction(self, slope: Tensor) -> Tensor:
        """The next step in units of the step size."""
        self.steps += 1
        square = slope.square()
        if self.round:
            square = square.mean(-1, keepdim=True).expand_as(slope)
        self.mean.lerp_(slope, 1 - self.MEMORY)
        self.square.lerp_(square, 1 - self.SQUARE_MEMORY)
        mean = self.mean / (1 - self.MEMORY**self.steps)
        return mean.div_((self.square / (1 - self.SQUARE_MEMORY**self.steps)).sqrt_().add_(1e-12))


def maximise(
    objective: Callable[..., Float64[Tensor, " restarts"]],
    over: AdmissibleSet,
    restarts: int = 32,
    steps: int = 300,
    seed: int = 0,
    rate: float = 0.1,
) -> SearchResult:
    """Climb on ``objective`` by projected Adam with a cosine schedule; a lower bound on the supremum, never more.

    Every start and every iterate counts, so the result is at least as good as random search with the same starts.

    Args:
        objective: named variables with a leading restart dimension → one number a restart, differentiable; restarts must not
            interact. NaN counts as minus infinity.
        over: where the variables may lie.
        restarts: starting points, at least 1.
        steps: steps of each climb, at least 0 (0: only the starting points are evaluated).
        seed: of the starting points.
        rate: first step size, above 0.

    Returns:
        The largest value and its point.

    Raises:
        ValueError: a budget or rate out of range, an objective that does not return one number a restart, or one that
            is to be climbed and has no gradient.
    """
    arguments.count("restarts", restarts)
    arguments.count("steps", steps, 0)
    arguments.positive("rate", rate)
    raw = {
        name: value.requires_grad_()
        for name, value in over.draw(restarts, Generator().manual_seed(seed)).items()
    }
    climbers = {name: _Adam(value, over.regions[name].round) for name, value in raw.items()}
    best = torch.full((restarts,), -math.inf, dtype=torch.float64)
    best_point = {name: value.detach().clone() for name, value in raw.items()}
    among = {name: (restarts, *[1] * (value.ndim - 1)) for name, value in raw.items()}
    undefined = torch.zeros((), dtype=torch.int64)
    for step in range(steps + 1):
        point = over.admit(raw)
        value = objective(**point)
        if not isinstance(value, Tensor) or value.shape != (restarts,):
            raise ValueError(
                f"objective must return one number a restart, shape ({restarts},), got "
                f"{tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__}"
            )
        if steps and not value.requires_grad:
            raise ValueError(
                "objective must be differentiable in its variables to be climbed; got a value without a gradient"
            )
        with torch.no_grad():
            undefined += value.isnan().sum()
            better = value > best  # False for NaN
            best = torch.where(better, value.double(), best)
            for name, now in point.items():
                best_point[name] = torch.where(better.view(among[name]), now, best_point[name])
        if step == steps:
            break
        size = rate * (1e-4 + 0.5 * (1 + math.cos(math.pi * step / steps)))
        finite = (value.detach().abs() < math.inf).to(value.dtype)
        slopes = torch.autograd.grad(torch.dot(value, finite), list(raw.values()), allow_unused=True)
        with torch.no_grad():
            for (name, variable), slope in zip(raw.items(), slopes, strict=True):
                if slope is not None:
                    variable += size * climbers[name].direction(slope.nan_to_num(0.0, 0.0, 0.0))
            for name, now in over.admit(raw).items():
                raw[name].copy_(now)
    winner = int(best.argmax())
    return SearchResult(
        float(best[winner]),
        {name: value[winner : winner + 1] for name, value in best_point.items()},
        best,
        int(undefined),
    )
