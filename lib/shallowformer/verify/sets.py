"""Admissible sets: where the variables of a claim may lie, for random cases and for the search for the worst one.

A set draws starting points and maps any raw tensor to an admissible one. Every point carries a leading dimension for
the restarts of a search, so the functions of a claim are written for a batch: ``X`` of ``tokens(T, d)`` arrives with
the shape [restarts, T, d].
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments

#: Of one variable, at b points.
Values = Float[Tensor, "b ..."]
#: b points, by name of the variable.
Point = dict[str, Values]


@dataclass(frozen=True)
class Region:
    """The admissible values of one variable.

    Args:
        draw: (restarts, generator) → raw starting values.
        admit: raw values → admissible values of the same shape, differentiable; leaves admissible values as they are.
        text: what the region is, for verdict cards.
        round: whether ``admit`` acts on whole vectors along the last dimension, as on a ball; then a search must not
            give coordinates step sizes of their own, which would bend its direction.
    """

    draw: Callable[[int, Generator], Values]
    admit: Callable[[Values], Values]
    text: str
    round: bool = False


def _gaussian(shape: tuple[int, ...]) -> Callable[[int, Generator], Tensor]:
    for size in shape:
        arguments.count("shape", size)
    return lambda restarts, generator: torch.randn(restarts, *shape, generator=generator, dtype=torch.float64)


def _has_vectors(shape: tuple[int, ...]) -> None:
    """Refuse a shape without a last dimension to take norms along."""
    if not shape:
        raise ValueError("shape must have at least one dimension, got ()")


def free(*shape: int, scale: float = 1.0) -> Region:
    """All of ℝ^shape; starting points are Gaussian.

    Args:
        *shape: of the variable.
        scale: standard deviation of the starting points, above 0.

    Raises:
        ValueError: a size below 1 or a scale that is not above 0.
    """
    arguments.positive("scale", scale)
    start = _gaussian(shape)
    return Region(
        lambda restarts, generator: scale * start(restarts, generator), lambda raw: raw, f"ℝ^{shape}"
    )


def ball(*shape: int, radius: float = 1.0) -> Region:
    """Vectors along the last dimension of norm at most ``radius``; half of the starting vectors lie on the boundary.

    Args:
        *shape: of the variable; ``ball(T, d)`` is T vectors of dimension d.
        radius: above 0.

    Raises:
        ValueError: a size below 1 or a radius that is not above 0.
    """
    arguments.positive("radius", radius)
    _has_vectors(shape)
    start = _gaussian(shape)

    def draw(restarts: int, generator: Generator) -> Tensor:
        raw = torch.nn.functional.normalize(start(restarts, generator), dim=-1)
        inside = torch.rand(restarts, *shape[:-1], 1, generator=generator, dtype=torch.float64) * 2
        return radius * raw * inside.clamp(max=1)

    def admit(raw: Tensor) -> Tensor:
        return raw * (radius / torch.linalg.vector_norm(raw, dim=-1, keepdim=True).clamp(min=radius))

    return Region(draw, admit, f"ball of radius {radius:g} in ℝ^{shape}", round=True)


def sphere(*shape: int, radius: float = 1.0) -> Region:
    """Vectors along the last dimension of norm exactly ``radius``.

    Args:
        *shape: of the variable.
        radius: above 0.

    Raises:
        ValueError: a size below 1 or a radius that is not above 0.
    """
    arguments.positive("radius", radius)
    _has_vectors(shape)
    return Region(
        _gaussian(shape),
        lambda raw: radius * torch.nn.functional.normalize(raw, dim=-1),
        f"sphere of radius {radius:g} in ℝ^{shape}",
        round=True,
    )


def interval(low: float, high: float, *shape: int) -> Region:
    """Entries between ``low`` and ``high``; starting points are uniform.

    Args:
        low: smallest value.
        high: largest value, above ``low``.
        *shape: of the variable; none for one number a restart.

    Raises:
        ValueError: ``high`` is not above ``low``.
    """
    if not high > low:
        raise ValueError(f"high must lie above low = {low}, got {high}")
    for name, end in (("low", low), ("high", high)):
        if not math.isfinite(end):
            raise ValueError(f"{name} must be finite, got {end}")
    for size in shape:
        arguments.count("shape", size)
    draw = lambda restarts, generator: (
        low + (high - low) * torch.rand(restarts, *shape, generator=generator, dtype=torch.float64)
    )
    return Region(draw, lambda raw: raw.clamp(low, high), f"[{low:g}, {high:g}]^{shape}")


def tokens(T: int, d: int) -> Region:
    """A sequence of T tokens in the unit ball of ℝ^d.

    Args:
        T: tokens, at least 1.
        d: dimension, at least 1.

    Raises:
        ValueError: a size below 1.
    """
    return ball(T, d)


def logits(T: int) -> Region:
    """Logits of T tokens, any real numbers; starting points have standard deviation 2.

    Args:
        T: tokens, at least 1.

    Raises:
        ValueError: ``T`` below 1.
    """
    return free(T, scale=2.0)


@dataclass(frozen=True)
class AdmissibleSet:
    """A product of regions, one for each named variable of a claim.

    Args:
        regions: name → region.
    """

    regions: Mapping[str, Region]

    def draw(self, restarts: int, generator: Generator) -> Point:
        """Draw admissible starting points.

        Args:
            restarts: how many.
            generator: source of randomness.
        """
        return {name: region.admit(region.draw(restarts, generator)) for name, region in self.regions.items()}

    def admit(self, raw: Point) -> Point:
        """Map raw values to admissible ones.

        Args:
            raw: by name.
        """
        return {name: region.admit(raw[name]) for name, region in self.regions.items()}

    def __str__(self) -> str:
        return ", ".join(f"{name} in {region.text}" for name, region in self.regions.items())


def product(**regions: Region) -> AdmissibleSet:
    """The admissible set of several named variables.

    Args:
        **regions: name → region; the functions of the claim take these names.

    Raises:
        ValueError: no variable, or a value that is not a region.
    """
    if not regions:
        raise ValueError("product needs at least one variable, e.g. product(z=logits(3)), got none")
    for name, region in regions.items():
        if not isinstance(region, Region):
            raise ValueError(
                f"{name} must be a region such as ball(3) or logits(5), got {type(region).__name__}"
            )
    return AdmissibleSet(dict(regions))
