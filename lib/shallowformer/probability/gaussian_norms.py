"""Norms of standard Gaussian vectors of ℝ^d: tails of one, of the largest of N, and of their mean square."""

import math

import numpy as np
import torch
from jaxtyping import Float64
from scipy.special import gammainc, gammaincc, gammainccinv, gammaln, log_ndtr, logsumexp, xlogy
from torch import Tensor

from shallowformer import arguments


def tail(radius: float, d: int) -> float:
    """P(‖G‖ > radius) for a standard Gaussian vector G of ℝ^d. Returns: accurate also where it is tiny."""
    return float(gammaincc(arguments.count("d", d) / 2, arguments.at_least("radius", radius, 0.0) ** 2 / 2))


def log_tail(radius: float, d: int) -> float:
    """Log P(‖G‖ > radius), also where the probability itself is too small for a floating-point number.

    A finite sum: Γ(a + 1, y) = a Γ(a, y) + y^a e^{−y} from a = 1 (even d) or a = ½ (odd d).

    Returns: with an error of some roundings of radius²/2.
    """
    half, odd = divmod(arguments.count("d", d), 2)
    y = arguments.at_least("radius", radius, 0.0) ** 2 / 2
    powers = np.arange(half) + odd / 2
    terms = list(xlogy(powers, y) - gammaln(powers + 1) - y)
    if odd:
        terms.append(math.log(2) + float(log_ndtr(-radius)))
    return float(logsumexp(terms))


class _Tails(torch.autograd.Function):
    """P(‖G‖ < r) and P(‖G‖ > r) by scipy: torch's own incomplete gamma functions are right to 1e-9 only for d ≥ 64."""

    @staticmethod
    def forward(ctx, radius: Tensor, d: int) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(radius)
        ctx.d = d
        y = (radius.detach() ** 2 / 2).numpy()
        return torch.as_tensor(gammainc(d / 2, y)), torch.as_tensor(gammaincc(d / 2, y))

    @staticmethod
    def backward(ctx, from_lower: Tensor, from_upper: Tensor) -> tuple[Tensor, None]:
        (r,) = ctx.saved_tensors
        log_constant = (1 - ctx.d / 2) * math.log(2) - float(gammaln(ctx.d / 2))
        density = torch.exp(torch.special.xlogy(torch.tensor(ctx.d - 1.0), r) - r * r / 2 + log_constant)
        return (from_lower - from_upper) * density, None


def tails(radius: Float64[Tensor, "*n"], d: int) -> tuple[Float64[Tensor, "*n"], Float64[Tensor, "*n"]]:
    """P(‖G‖ < r) and P(‖G‖ > r) for a standard Gaussian vector G of ℝ^d, differentiable in r.

    Relative errors are below 1e-12 where the radius is within 8 of √d and d at most 1024. Returns: lower and upper tail.

    Args:
        radius: r, at least 0, on the CPU.
    """
    arguments.count("d", d)
    arguments.floating("radius", radius, "...")
    if radius.dtype != torch.float64 or bool((radius < 0).any()):
        raise ValueError(
            f"radius must hold float64 numbers of at least 0, got {radius.dtype} down to {float(radius.min()):g}"
        )
    return _Tails.apply(radius, d)


def mean_norm(d: int) -> float:
    """E‖G‖ = √2 Γ((d + 1)/2)/Γ(d/2) for a standard Gaussian vector of ℝ^d; a little below √d."""
    arguments.count("d", d)
    return math.sqrt(2) * math.exp(gammaln((d + 1) / 2) - gammaln(d / 2))


def tail_of_largest(radius: float, N: int, d: int) -> float:
    """P(max_k ‖G_k‖ > radius) for N independent vectors, exactly; accurate also where it is tiny."""
    arguments.count("N", N)
    outside = tail(radius, d)
    return 1.0 if outside >= 1 else -math.expm1(N * math.log1p(-outside))


def quantile_of_largest(N: int, d: int, delta: float) -> float:
    """The radius that max_k ‖G_k‖ of N independent vectors exceeds with probability δ: F_{χ_d}(radius)^N = 1 − δ."""
    outside = -math.expm1(math.log1p(-arguments.probability("delta", delta)) / arguments.count("N", N))
    return math.sqrt(2 * float(gammainccinv(arguments.count("d", d) / 2, outside)))


def laurent_massart(d: int, x: float) -> float:
    """The bound d + 2√(dx) + 2x, which ‖G‖² exceeds with probability at most ½ exp(−x).

    Source: Laurent and Massart 2000, Lemma 1, with 1 for ½.
    """
    d, x = arguments.count("d", d), arguments.at_least("x", x, 0.0)
    return d + 2 * (d * x) ** 0.5 + 2 * x


def mean_square_bound(N: int, d: int, x: float) -> float:
    """The bound d + 2√(dx/N) + 2x/N, which the mean of ‖G_k‖² over N independent vectors exceeds with probability at most ½ exp(−x).

    Returns: ``laurent_massart`` for all N vectors in one, over N.
    """
    return laurent_massart(arguments.count("N", N) * arguments.count("d", d), x) / N
