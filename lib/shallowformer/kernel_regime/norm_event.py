"""How large a head's U is at initialisation: the event E_{U,m}(δ'), the paper's radius and sharper ones.

Throughout, m heads come in m/2 pairs that share U, and the U of a pair is a standard Gaussian vector of ℝ^d.
"""

import math

import torch
from scipy.special import gammainc, gammaincc, gammainccinv, gammaln
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime.parameters import Parameters


def _sizes(m: int, d: int) -> tuple[int, int]:
    """Number of pairs, and the dimension."""
    return arguments.even("m", m) // 2, arguments.count("d", d)


def tail(radius: float, d: int) -> float:
    """P(‖G‖ > radius) for a standard Gaussian vector G of ℝ^d.

    Args:
        radius: at least 0.
        d: dimension, at least 1.

    Returns:
        The probability, accurate also where it is tiny.

    Raises:
        ValueError: a negative radius, or ``d`` below 1.
    """
    return float(gammaincc(arguments.count("d", d) / 2, arguments.at_least("radius", radius, 0.0) ** 2 / 2))


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


def tails(radius: Tensor, d: int) -> tuple[Tensor, Tensor]:
    """P(‖G‖ < r) and P(‖G‖ > r) for a standard Gaussian vector G of ℝ^d, differentiable in r.

    Relative errors are below 1e-12 where the radius is within 8 of √d and d at most 1024.

    Args:
        radius: r, at least 0, on the CPU, Float64[Tensor, "..."].
        d: dimension, at least 1.

    Returns:
        Lower and upper tail, each with the shape of ``radius``.

    Raises:
        ValueError: a radius that is negative or not a finite float64 number, or ``d`` below 1.
    """
    arguments.count("d", d)
    arguments.floating("radius", radius, "...")
    if radius.dtype != torch.float64 or bool((radius < 0).any()):
        raise ValueError(
            f"radius must hold float64 numbers of at least 0, got {radius.dtype} down to {float(radius.min()):g}"
        )
    return _Tails.apply(radius, d)


def mean_norm(d: int) -> float:
    """E‖G‖ = √2 Γ((d + 1)/2)/Γ(d/2) for a standard Gaussian vector of ℝ^d; a little below √d.

    Args:
        d: dimension, at least 1.

    Returns:
        The mean.

    Raises:
        ValueError: ``d`` below 1.
    """
    arguments.count("d", d)
    return math.sqrt(2) * math.exp(gammaln((d + 1) / 2) - gammaln(d / 2))


def coverage(radius: float, m: int, d: int) -> float:
    """P(max_i ‖U_i⁽⁰⁾‖ ≤ radius), exactly: the chi distribution function to the power m/2.

    Args:
        radius: at least 0.
        m: number of heads, even.
        d: dimension, at least 1.

    Returns:
        The probability.

    Raises:
        ValueError: an odd ``m``, ``d`` below 1 or a negative radius.
    """
    return 1 - failure(radius, m, d)


def failure(radius: float, m: int, d: int) -> float:
    """P(max_i ‖U_i⁽⁰⁾‖ > radius), exactly; accurate also where it is tiny.

    Args:
        radius: at least 0.
        m: number of heads, even.
        d: dimension, at least 1.

    Returns:
        The probability.

    Raises:
        ValueError: an odd ``m``, ``d`` below 1 or a negative radius.
    """
    pairs, d = _sizes(m, d)
    outside = tail(radius, d)
    return 1.0 if outside >= 1 else -math.expm1(pairs * math.log1p(-outside))


def exact_radius(m: int, d: int, delta: float) -> float:
    """The smallest radius that holds all heads with probability 1 − δ': F_{χ_d}(B)^{m/2} = 1 − δ'.

    Args:
        m: number of heads, even.
        d: dimension, at least 1.
        delta: δ', in (0, 1).

    Returns:
        The radius.

    Raises:
        ValueError: an odd ``m``, ``d`` below 1, or ``delta`` outside (0, 1).
    """
    pairs, d = _sizes(m, d)
    outside = -math.expm1(math.log1p(-arguments.probability("delta", delta)) / pairs)
    return math.sqrt(2 * float(gammainccinv(d / 2, outside)))


def paper_radius(m: int, d: int, delta: float) -> float:
    """The paper's √d + √(2 log(m/(2δ'))).

    Args:
        m: number of heads, even.
        d: dimension, at least 1.
        delta: δ', in (0, 1).

    Returns:
        The radius.

    Raises:
        ValueError: an odd ``m``, ``d`` below 1, or ``delta`` outside (0, 1).

    Source:
        Arda, Cayci, Eryilmaz 2026, Definition 1.
    """
    pairs, d = _sizes(m, d)
    return math.sqrt(d) + math.sqrt(2 * math.log(pairs / arguments.probability("delta", delta)))


def half_tail_radius(m: int, d: int, delta: float) -> float:
    """√d + √(2 log(m/(4δ'))), from P(‖G‖ ≥ √d + t) ≤ ½ exp(−t²/2): always below the paper's (√d if m ≤ 4δ').

    Args:
        m: number of heads, even.
        d: dimension, at least 1.
        delta: δ', in (0, 1).

    Returns:
        The radius.

    Raises:
        ValueError: an odd ``m``, ``d`` below 1, or ``delta`` outside (0, 1).
    """
    pairs, d = _sizes(m, d)
    return math.sqrt(d) + math.sqrt(
        2 * max(0.0, math.log(pairs / (2 * arguments.probability("delta", delta))))
    )


def laurent_massart_radius(m: int, d: int, delta: float) -> float:
    """(d + 2√(dL) + 2L)^{1/2} with L = log(m/(2δ')): a closed form below the paper's for all m, d and δ'.

    Args:
        m: number of heads, even.
        d: dimension, at least 1.
        delta: δ', in (0, 1).

    Returns:
        The radius.

    Raises:
        ValueError: an odd ``m``, ``d`` below 1, or ``delta`` outside (0, 1).

    Source:
        Laurent and Massart 2000, Lemma 1, with a union bound over pairs.
    """
    pairs, d = _sizes(m, d)
    L = math.log(pairs / arguments.probability("delta", delta))
    return math.sqrt(d + 2 * math.sqrt(d * L) + 2 * L)


def mean_square_bound(m: int, d: int, x: float) -> float:
    """A bound on (1/m) Σ_i ‖U_i⁽⁰⁾‖² that holds with probability 1 − exp(−x): d + 2√(2dx/m) + 4x/m.

    Args:
        m: number of heads, even.
        d: dimension, at least 1.
        x: at least 0.

    Returns:
        The bound.

    Raises:
        ValueError: an odd ``m``, ``d`` below 1 or a negative ``x``.

    Source:
        Laurent and Massart 2000, Lemma 1, for the chi-square law with dm/2 degrees of freedom.
    """
    _sizes(m, d)
    arguments.at_least("x", x, 0.0)
    return d + 2 * math.sqrt(2 * d * x / m) + 4 * x / m


def B_U(m: int, d: int, delta: float, rho_u: float) -> float:
    """The paper's B_{U,m}(δ') = √d + √(2 log(m/(2δ'))) + ρ_u/√m: no ‖U_i‖ in Ω_ρ is larger on the event E_{U,m}(δ').

    Args:
        m: number of heads, even.
        d: dimension, at least 1.
        delta: δ', in (0, 1).
        rho_u: at least 0.

    Returns:
        The bound.

    Raises:
        ValueError: an odd ``m``, ``d`` below 1, ``delta`` outside (0, 1), or a negative ``rho_u``.

    Source:
        Arda, Cayci, Eryilmaz 2026, Remark 7.
    """
    return paper_radius(m, d, delta) + arguments.at_least("rho_u", rho_u, 0.0) / math.sqrt(m)


def holds(phi0: Parameters, delta: float) -> bool:
    """Whether an initialisation lies in the event E_{U,m}(δ').

    Args:
        phi0: a symmetric initialisation, m even.
        delta: δ', in (0, 1).

    Returns:
        The answer.

    Raises:
        ValueError: an odd number of heads, or ``delta`` outside (0, 1).

    Source:
        Arda, Cayci, Eryilmaz 2026, Definition 1.
    """
    return bool(phi0.U.norm(dim=-1).max() <= paper_radius(phi0.m, phi0.d, delta))
