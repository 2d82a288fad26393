"""The largest value of a function of a random token's law: of s, a bound on the length of its mean, and the pre-activation z.

A token in the unit ball whose mean has length at most s has |z| ≤ sR for ‖U‖ ≤ R. The bounds ``smoothness.L2`` and ``blocks.G2`` take
∇z, ∇²z, σ′ and σ″ at one and the same law and z, and are maxima over all of these.
"""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.activations import Activation
from shallowformer.formulas import Number

#: value(R, z, s), elementwise with broadcasting.
Value = Callable[[Float[Tensor, "..."], Float[Tensor, "..."], Float[Tensor, "..."]], Float[Tensor, "..."]]
#: From radii and grid coordinates −1 ≤ x ≤ 1, 0 ≤ y ≤ 1 to (z, s).
Chart = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]

#: Points of a grid along z and along s.
GRID = 81, 31
#: Local maxima of a grid that are followed, for how many rounds together, and the one that leads then until which round.
PEAKS, TOGETHER, ROUNDS = 4, 16, 60
#: Radii that are worked on at a time.
CHUNK = 128


def largest(value: Value, R: Number, sigma: Activation, free: bool = True) -> Number:
    """Maximum of value(R, z, s) over 0 ≤ s ≤ 1 and |z| ≤ sR, entry by entry of R and differentiable in R.

    The best local maxima of two grids are followed uphill, by a search that moves before it narrows. So the maximum is found from below.
    Against grids 16 times finer, with six times as many maxima followed, it lacks a few roundings, at most 1e-12, for R up to 1e8 and every
    activation of the package (sine: as long as Rσ₂/σ₁ ≤ 50, for more waves than that it may lack 1e-5). σ₁/σ₂ is the scale on which the
    grids resolve z; ``free=False`` keeps to |z| = sR.
    """
    radii = R if isinstance(R, Tensor) else torch.tensor(float(R), dtype=torch.float64)
    charts = _charts(sigma.bounds[1] / sigma.bounds[2])[: 2 if free else 1]
    rows = GRID[1] if free else 1
    top = lambda R, x, y: _at(value, charts, R[:, None, None], x, y).amax((0, 2, 3))
    with torch.no_grad():  # partners have the same length
        several, place = radii.unique(return_inverse=True)
        peaks = [_peaks(value, charts, part[:, None, None], rows) for part in several.split(CHUNK)]
        x, y = (torch.cat(each, 1) for each in zip(*peaks, strict=True))
    if radii.requires_grad:
        each = place.flatten()
        found = top(radii.flatten(), x[:, each], y[:, each]).view(radii.shape)
    else:
        found = top(several, x, y)[place]
    return found if isinstance(R, Tensor) else float(found)


def _charts(scale: float) -> tuple[Chart, Chart]:
    """Two ways to lay a grid on the set of (z, s), dense where |z| is small: the maximum lies on ridges that follow one or the other."""

    def spread(x: Tensor, end: Tensor) -> Tensor:
        return scale * torch.sinh(x * torch.asinh(end / scale))

    def from_z(R: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        R = R.clamp(min=torch.finfo(R.dtype).tiny)
        z = spread(x, R)
        return z, (z.abs() / R * (1 - y**3) + y**3).clamp(max=1)

    def from_s(R: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        z = spread(x, y * R)
        return z, y.expand_as(z)

    return from_z, from_s


def _at(value: Value, charts: Sequence[Chart], R: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """The value at coordinates [charts m ...]: of all charts at once, as most of the time goes into starting small operations."""
    places = [chart(R, *here) for chart, *here in zip(charts, x, y, strict=True)]
    return value(R, *map(torch.stack, zip(*places, strict=True)))


def _peaks(
    value: Value, charts: Sequence[Chart], R: Float[Tensor, "m 1 1"], rows: int
) -> tuple[Tensor, Tensor]:
    """Where the maxima lie for each R: local maxima of the grids, followed by a search that moves before it narrows."""
    like = {"dtype": R.dtype, "device": R.device}
    columns = GRID[0]
    x, y = torch.linspace(-1, 1, columns, **like), torch.linspace(0, 1, GRID[1], **like)[:rows]
    coarse = torch.stack([value(R, *chart(R, x[:, None], y[None])) for chart in charts])
    highest = torch.nn.functional.max_pool2d(coarse, 3, stride=1, padding=1)
    order = torch.where(coarse == highest, coarse, -torch.inf).flatten(2).topk(PEAKS).indices
    x, y = x[order // rows][..., None], y[order % rows][..., None]
    steps = torch.linspace(-1, 1, 5, **like)
    across = steps.repeat_interleave(5) * 2 / (columns - 1)
    along = steps.repeat(5) / (GRID[1] - 1) * (rows > 1)
    width = torch.ones_like(x)
    for k in range(1, ROUNDS + 1):
        around_x, around_y = (x + width * across).clamp(-1, 1), (y + width * along).clamp(0, 1)
        heights = _at(value, charts, R, around_x, around_y)
        best, place = heights.max(-1, keepdim=True)
        x, y = around_x.gather(-1, place), around_y.gather(-1, place)
        width = torch.where(best > heights[..., 12:13], width, width / 3)
        if k == TOGETHER:
            leader = best.argmax(2, keepdim=True)
            x, y, width = (each.gather(2, leader) for each in (x, y, width))
    return x, y
