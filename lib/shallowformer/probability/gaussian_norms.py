"""Norms of standard Gaussian vectors of ℝ^d: tails of one, of the largest of N, and of their mean square."""

import math

import numpy as np
import torch
from jaxtyping import Float64
from scipy.special import gammainc, gammaincc, gammainccinv, gammaln, log_ndtr, logsumexp, xlogy
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, Level, NonNegative, contract


@contract
def tail(radius: NonNegative, d: Count) -> float:
    """P(‖G‖ > radius) for a standard Gaussian vector G of ℝ^d. Returns: accurate also where it is tiny."""
    return float(gammaincc(d / 2, radius**2 / 2))


@contract
def log_tail(radius: NonNegative, d: Count) -> float:
    """Log P(‖G‖ > radius), to some roundings of radius²/2, also where the probability itself is too small for a floating-point number.

    A finite sum: Γ(a + 1, y) = a Γ(a, y) + y^a e^{−y} from a = 1 (even d) or a = ½ (odd d).
    """
    half, odd = divmod(d, 2)
    y = radius**2 / 2
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


@contract
def tails(radius: Float64[Tensor, "*n"], d: Count) -> tuple[Float64[Tensor, "*n"], Float64[Tensor, "*n"]]:
    """P(‖G‖ < r) and P(‖G‖ > r) for a standard Gaussian vector G of ℝ^d, on the CPU, differentiable in r ≥ 0.

    Relative errors are below 1e-12 where the radius is within 8 of √d and d at most 1024.
    """
    arguments.floating("radius", radius, "...")
    if radius.dtype != torch.float64 or bool((radius < 0).any()):
        raise ValueError(
            f"radius must hold float64 numbers of at least 0, got {radius.dtype} down to {float(radius.min()):g}"
        )
    return _Tails.apply(radius, d)


@contract
def mean_norm(d: Count) -> float:
    """E‖G‖ = √2 Γ((d + 1)/2)/Γ(d/2) for a standard Gaussian vector of ℝ^d; a little below √d."""
    return math.sqrt(2) * math.exp(gammaln((d + 1) / 2) - gammaln(d / 2))


@contract
def tail_of_largest(radius: float, N: Count, d: int) -> float:
    """P(max_k ‖G_k‖ > radius) for N independent vectors, exactly; accurate also where it is tiny."""
    outside = tail(radius, d)
    return 1.0 if outside >= 1 else -math.expm1(N * math.log1p(-outside))


@contract
def quantile_of_largest(N: Count, d: Count, delta: Level) -> float:
    """The radius that max_k ‖G_k‖ of N independent vectors exceeds with probability δ: F_{χ_d}(radius)^N = 1 − δ."""
    outside = -math.expm1(math.log1p(-delta) / N)
    return math.sqrt(2 * float(gammainccinv(d / 2, outside)))


@contract
def laurent_massart(d: Count, x: NonNegative) -> float:
    """The bound d + 2√(dx) + 2x, which ‖G‖² exceeds with probability at most ½ exp(−x).

    Source: Laurent and Massart 2000, Lemma 1, with 1 for ½.
    """
    return d + 2 * (d * x) ** 0.5 + 2 * x


@contract
def mean_square_bound(N: Count, d: Count, x: float) -> float:
    """The bound d + 2√(dx/N) + 2x/N, which the mean of ‖G_k‖² over N independent vectors exceeds with probability at most ½ exp(−x).

    It is ``laurent_massart`` for all N vectors in one, over N.
    """
    return laurent_massart(N * d, x) / N
