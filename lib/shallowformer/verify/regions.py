"""Regions: where one variable of a claim may lie, from which points a search starts there, and which ways are open at a point.

Every tensor carries a leading dimension for the restarts of a search, so the functions of a claim are written for a batch: ``X`` of
``tokens(T, d)`` arrives with the shape [restarts, T, d].
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments

#: Of one variable, at b points.
Values = Float[Tensor, "b ..."]
Draw = Callable[[int, Generator], Values]

#: Sizes at which a search starts where there is no boundary, as powers of ten.
SMALLEST, LARGEST = -3, 6
#: A point counts as on a boundary from so near on, relative to the region's size.
ON = 1e-9


@dataclass(frozen=True)
class Region:
    """The admissible values of one variable."""

    draw: Draw  # (restarts, generator) → raw starting values
    #: the same, at places where bounds fail out of sight: faces, corners, axes, the centre; all sizes, where there is no boundary
    edges: Draw
    #: raw values → the nearest admissible ones; leaves admissible values as they are
    admit: Callable[[Values], Values]
    #: (admissible values, slope) → the part of the slope along which one can go on without leaving the region at once
    open: Callable[[Values, Values], Values]
    text: str  # what the region is, for verdict cards
    #: whether ``admit`` acts on whole vectors along the last dimension, as on a ball; then a search must not give coordinates step sizes of
    #: their own, which would bend its direction
    round: bool = False


def _uniform(generator: Generator, *shape: int) -> Tensor:
    return torch.rand(*shape, generator=generator, dtype=torch.float64)


def _normal(generator: Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def _one_of(generator: Generator, *choices: Tensor, each: tuple[int, ...]) -> Tensor:
    """One of several tensors of one shape, drawn anew for every index of ``each``."""
    drawn = torch.randint(len(choices), each, generator=generator)
    return torch.stack(torch.broadcast_tensors(*choices)).gather(0, drawn.expand(1, *choices[0].shape))[0]


def free(*shape: int, scale: float = 1.0) -> Region:
    """All of ℝ^shape; starting points are Gaussian of deviation ``scale``, at edges of sizes 10⁻³ to 10⁶, as a whole or entry by entry."""
    arguments.positive("scale", scale)
    _sizes(shape)
    size = lambda generator, *at: 10 ** (SMALLEST + (LARGEST - SMALLEST) * _uniform(generator, *at))

    def edges(restarts: int, generator: Generator) -> Tensor:
        raw, lead = _normal(generator, restarts, *shape), (restarts, *[1] * len(shape))
        whole, single = raw * size(generator, *lead), raw.sign() * size(generator, *raw.shape)
        return _one_of(generator, whole, single, each=lead)

    return Region(
        lambda restarts, generator: scale * _normal(generator, restarts, *shape),
        edges,
        lambda raw: raw,
        lambda x, slope: slope,
        f"ℝ^{shape}",
    )


def _sizes(shape: tuple[int, ...]) -> None:
    for size in shape:
        arguments.count("shape", size)


def _of_vectors(shape: tuple[int, ...], radius: float) -> None:
    """Refuse a radius, and a shape without a last dimension to take norms along."""
    arguments.positive("radius", radius)
    if not shape:
        raise ValueError("shape must have at least one dimension, got ()")
    _sizes(shape)


def _directions(restarts: int, shape: tuple[int, ...], generator: Generator) -> Tensor:
    """Unit vectors: all of a restart along axes, or all in corners of the cube, or anywhere."""
    *others, d = shape
    signs = torch.where(_uniform(generator, restarts, *shape) < 0.5, -1.0, 1.0).double()
    which = torch.randint(d, (restarts, *others), generator=generator)
    axes = torch.nn.functional.one_hot(which, d) * signs
    anywhere = torch.nn.functional.normalize(_normal(generator, restarts, *shape), dim=-1)
    return _one_of(generator, axes, signs / math.sqrt(d), anywhere, each=(restarts, *[1] * len(shape)))


def _nowhere_0(x: Tensor) -> Tensor:
    """The same with the first axis in place of vectors that have no direction."""
    none = torch.linalg.vector_norm(x, dim=-1, keepdim=True) == 0
    axis = torch.zeros_like(x)
    axis[..., 0] = 1
    return torch.where(none, axis, x)


def _along(x: Tensor, slope: Tensor, held: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """The slope without its part along x, as far as that is held back: (x·slope, x·x) → the part."""
    square = x.square().sum(-1, keepdim=True)
    return slope - held((x * slope).sum(-1, keepdim=True), square) / square.clamp(min=1e-300) * x


def ball(*shape: int, radius: float = 1.0) -> Region:
    """Vectors along the last dimension of norm at most ``radius``, T of dimension d for ``ball(T, d)``; half of the starts have that norm."""
    _of_vectors(shape, radius)

    def draw(restarts: int, generator: Generator) -> Tensor:
        raw = torch.nn.functional.normalize(_normal(generator, restarts, *shape), dim=-1)
        return radius * raw * (2 * _uniform(generator, restarts, *shape[:-1], 1)).clamp(max=1)

    def edges(restarts: int, generator: Generator) -> Tensor:
        one = torch.ones(restarts, *shape[:-1], 1, dtype=torch.float64)
        small = 10 ** (2 * SMALLEST * _uniform(generator, *one.shape))
        length = _one_of(generator, one, one, one, small, 0 * one, each=tuple(one.shape))
        return radius * _directions(restarts, shape, generator) * length

    def held(inner: Tensor, square: Tensor) -> Tensor:
        return torch.where(square >= (radius * (1 - ON)) ** 2, inner.clamp(min=0), 0.0)

    return Region(
        draw,
        edges,
        lambda raw: raw * (radius / torch.linalg.vector_norm(raw, dim=-1, keepdim=True).clamp(min=radius)),
        lambda x, slope: _along(x, slope, held),
        f"ball of radius {radius:g} in ℝ^{shape}",
        round=True,
    )


def sphere(*shape: int, radius: float = 1.0) -> Region:
    """Vectors along the last dimension of norm exactly ``radius``."""
    _of_vectors(shape, radius)
    return Region(
        lambda restarts, generator: _normal(generator, restarts, *shape),
        lambda restarts, generator: radius * _directions(restarts, shape, generator),
        lambda raw: radius * torch.nn.functional.normalize(_nowhere_0(raw), dim=-1, eps=0.0),
        lambda x, slope: _along(x, slope, lambda inner, square: inner),
        f"sphere of radius {radius:g} in ℝ^{shape}",
        round=True,
    )


def interval(low: float, high: float, *shape: int) -> Region:
    """Entries between ``low`` and ``high``, one number a restart if no shape is given; starting points are uniform."""
    if not high > low:
        raise ValueError(f"high must lie above low = {low}, got {high}")
    for name, end in (("low", low), ("high", high)):
        if not math.isfinite(end):
            raise ValueError(f"{name} must be finite, got {end}")
    _sizes(shape)
    length = high - low
    draw = lambda restarts, generator: low + length * _uniform(generator, restarts, *shape)

    def edges(restarts: int, generator: Generator) -> Tensor:
        anywhere = draw(restarts, generator)
        near = length * 10 ** (2 * SMALLEST * _uniform(generator, *anywhere.shape))
        ends = (torch.full_like(anywhere, end) for end in (low, high, (low + high) / 2))
        return _one_of(generator, *ends, low + near, high - near, anywhere, each=tuple(anywhere.shape))

    def ways(x: Tensor, slope: Tensor) -> Tensor:
        out = ((x <= low + ON * length) & (slope < 0)) | ((x >= high - ON * length) & (slope > 0))
        return slope.masked_fill(out, 0.0)

    return Region(draw, edges, lambda raw: raw.clamp(low, high), ways, f"[{low:g}, {high:g}]^{shape}")


def tokens(T: int, d: int) -> Region:
    """A sequence of T tokens in the unit ball of ℝ^d."""
    return ball(T, d)


def logits(T: int) -> Region:
    """Logits of T tokens, any real numbers; starting points have standard deviation 2."""
    return free(T, scale=2.0)
