"""Means over Gaussian numbers and vectors without sampling: quadrature rules, and E‖MU‖ from the spectrum of M."""

import math
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Float64
from numpy.polynomial.legendre import leggauss
from torch import Tensor

from shallowformer import arguments

#: E|G| of a standard Gaussian number.
MEAN_ABS = math.sqrt(2 / math.pi)

#: Nodes and weights of the Gauss–Legendre rule on [−1, 1].
_TEN = tuple(torch.tensor(values, dtype=torch.float64) for values in leggauss(10))


def gaussian_mean(
    function: Callable[[Float64[Tensor, " nodes"]], Float64[Tensor, "... nodes"]],
) -> Float64[Tensor, "..."]:
    """E function(G), elementwise, of a standard Gaussian number G, the two halves of the line apart: a kink at 0 does no harm.

    The panels shrink towards 0, so a function that varies on any scale from 1 down to 0.001 is seen.
    """
    half, weight = _HALF_LINE
    return ((function(half) + function(-half)) * weight).sum(-1)


def panels(
    edges: Sequence[float] | Float[Tensor, " k"],
) -> tuple[Float64[Tensor, " nodes"], Float64[Tensor, " nodes"]]:
    """Gauss–Legendre nodes and weights, ten nodes between any two neighbours of at least two increasing ``edges``."""
    ends = torch.as_tensor(edges, dtype=torch.float64)
    if ends.ndim != 1 or len(ends) < 2 or not bool((ends.diff() > 0).all()):
        raise ValueError(f"edges must be at least two increasing numbers, got {list(edges)}")
    nodes, weights = _TEN
    wide = ends.diff()[:, None]
    return (ends[:-1, None] + wide * (nodes + 1) / 2).flatten(), (wide * weights / 2).flatten()


def half_line(
    edges: Sequence[float] | Float[Tensor, " k"],
) -> tuple[Float64[Tensor, " nodes"], Float64[Tensor, " nodes"]]:
    """The rule of ``panels`` with the density of a standard Gaussian number in the weights.

    If edges go from 0 to where the line is cut, the weights add up to ½, less what is cut off.
    """
    x, weights = panels(edges)
    return x, weights * torch.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


_HALF_LINE = half_line([0.0, *(12 * 2 ** (-k / 2) for k in range(28, -1, -1))])


def expected_norm(spectrum: Float[Tensor, "*n d"]) -> Float[Tensor, "*n"]:
    """E‖MU‖ for a standard Gaussian U and a symmetric M ≠ 0 with eigenvalues λ_k, right to about 1e-11 of its size; differentiable.

    E√Y = (1/(2√π)) ∫₀^∞ (1 − E e^{−tY}) t^{−3/2} dt with E e^{−t‖MU‖²} = Π_k (1 + 2tλ_k²)^{−1/2}, on a logarithmic scale.
    """
    arguments.floating("spectrum", spectrum, "... d")
    scale = spectrum.abs().amax(-1, keepdim=True)
    if not float(scale.detach().min()) > 0:
        raise ValueError("spectrum must have an eigenvalue other than 0, got 0 only")
    squares = (spectrum / scale) ** 2
    # t = e^x: the integrand decays like e^{x/2} to the left and like e^{−x/2} to the right.
    x = torch.arange(-58.0, 58.0, 0.125, dtype=spectrum.dtype, device=spectrum.device)
    t = torch.exp(x)
    missing = -torch.expm1(-0.5 * torch.log1p(2 * t * squares[..., None]).sum(-2))
    total = (missing * torch.exp(-x / 2)).sum(-1) * 0.125
    return scale[..., 0] * total / (2 * math.sqrt(math.pi))
