"""Whole series as labels: a sequence copied one place on, numbers sorted, a weather forecast several steps ahead at every hour.

Tokens have 8 numbers and lie in the unit ball. Each output is centred over the positions of a sample and divided by its root mean square;
the experiments multiply by a size. An output is a vector: it needs as many readouts as it has entries.
"""

import functools
import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer.contracts import Count, contract
from shallowformer.real import series, weather

D = 8  # of a token


@dataclass(frozen=True)
class Task:
    """What is asked."""

    name: str
    reading: str  # of ``vector_outputs.READINGS``
    T: int  # tokens
    k: int = 4  # outputs of a position


COPY, SORT, WEATHER = Task("copy", "every", 6), Task("sort", "last", 4), Task("weather", "causal", 6)
TASKS = {task.name: task for task in (COPY, SORT, WEATHER)}

#: Of the weather: the airport, and how many hours ahead each output says the temperature.
STATION, AHEAD = "JFK", (2, 4, 6, 8)


def copied(n: int, T: int, generator: Generator) -> tuple[Float[Tensor, "n T d"], Float[Tensor, "n T 4"]]:
    """Four numbers beside a code of the place, two waves around the sequence; at place s the numbers of place s − 1, the last before the first."""
    content = torch.randn(n, T, 4, generator=generator, dtype=torch.float64)
    content = content / content.norm(dim=-1, keepdim=True).clamp(min=1.0)
    angle = 2 * math.pi * torch.arange(T, dtype=torch.float64)[:, None] / T * torch.tensor([1.0, 2.0])
    code = torch.cat([angle.cos(), angle.sin()], 1) / 2**0.5
    X = torch.cat([content, code.expand(n, T, 4)], -1) / 2**0.5
    return X, content.roll(1, 1)


def sorted_numbers(
    n: int, T: int, generator: Generator
) -> tuple[Float[Tensor, "n T d"], Float[Tensor, "n 1 T"]]:
    """Numbers in [−1, 1], each as four waves; the last token asks for all of them in order."""
    x = 2 * torch.rand(n, T, generator=generator, dtype=torch.float64) - 1
    angle = math.pi / 2 * x[..., None] * torch.arange(1, 5)
    return torch.cat([angle.cos(), angle.sin()], -1) / 2, x.sort(1).values[:, None]


@functools.cache
def _hours() -> tuple[Tensor, Tensor]:
    """Standardised hours, and the first rows of stretches without a gap."""
    given = weather.new_york((STATION,))
    given = series.standardised(given, given)
    return given.values, torch.isfinite(given.values).all(1)


def forecast(n: int, T: int, generator: Generator) -> tuple[Float[Tensor, "n T d"], Float[Tensor, "n T 4"]]:
    """Stretches of measured hours, over the largest norm among them; at every hour the changes of temperature 2, 4, 6 and 8 hours on."""
    values, whole = _hours()
    long = T + AHEAD[-1]
    begins = whole.unfold(0, long, 1).all(1).nonzero()[:, 0]
    rows = begins[torch.randperm(len(begins), generator=generator)[:n]][:, None] + torch.arange(T)
    X, now = values[rows], values[rows, 0]
    y = torch.stack([values[rows + hours, 0] - now for hours in AHEAD], -1)
    return X / X.norm(dim=-1).max(), y


@contract
def sample(
    name: str, n: Count, generator: Generator
) -> tuple[Float[Tensor, "n T 8"], Float[Tensor, "n s k"]]:
    """Sequences and labels of a task; every output has mean 0 and root mean square 1 over the sample's positions."""
    draw = {"copy": copied, "sort": sorted_numbers, "weather": forecast}[name]
    X, y = draw(n, TASKS[name].T, generator)
    y = y - y.mean((0, 1))
    return X, y / y.square().mean((0, 1)).sqrt()
