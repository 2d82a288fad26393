"""Gaussian constants in interval arithmetic: the worst sign's s_⋆, and norms of Gaussian vectors."""

import math
from itertools import pairwise

import torch
from flint import arb, ctx

from shallowformer import enclosures
from shallowformer.contracts import Count, Level, NonNegative, Positive, contract
from shallowformer.probability import dominated


def _distribution(x: arb) -> arb:
    """Φ."""
    return (-x / arb(2).sqrt()).erfc() / 2


def _density(x: arb) -> arb:
    """Φ′."""
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _moment_generating(lam: arb, r: arb) -> arb:
    """E exp(λC_r)."""
    return 2 * (lam * lam / 2).exp() * (_distribution(lam - r) + _distribution(lam + r) - _distribution(lam))


def _mean(r: arb) -> arb:
    """E C_r."""
    return 4 * _density(r) - 2 * _density(arb(0))


@contract
def worst_sign_below(lam: Positive, r: NonNegative) -> arb:
    """√(2 log E exp(λ(C_r − EC_r)))/λ, which s_⋆ is at least. Source: The page's ``kr-lemma-5-sign``."""
    lam, r = arb(lam), arb(r)
    return (2 * (_moment_generating(lam, r).log() - lam * _mean(r))).sqrt() / lam


@contract
def worst_sign_above(low: float = 0.35, high: float = 3.5, steps: Count = 2000) -> arb:
    """A bound of s_⋆: chords of Ψ between the points of a geometric grid from ``low`` to ``high``, and the bounds beyond both ends.

    Ψ is convex, as a maximum of cumulant generating functions, so that between neighbours it lies below the chord a + bλ of upper bounds.
    On a piece (a + bλ)/λ² is largest at an end or, for a < 0, at λ = −2a/b, where it is b²/(−4a). Source: The page's ``kr-lemma-5-sign``.
    """
    if not 0 < low < high:
        raise ValueError(f"low and high must satisfy 0 < low < high, got {low} and {high}")
    ratio = (high / low) ** (1 / steps)
    grid = [low * ratio**k for k in range(steps)] + [high]
    thresholds = dominated.worst_threshold(torch.tensor(grid, dtype=torch.float64)).tolist()
    points = [(arb(lam), _psi_above(arb(lam), arb(r))) for lam, r in zip(grid, thresholds, strict=True)]
    largest = _small_end(arb(low)).max(_large_end(arb(high)))
    for (left, at_left), (right, at_right) in pairwise(points):
        slope = (at_right - at_left) / (right - left)
        start = at_left - slope * left
        largest = largest.max(2 * at_left / (left * left)).max(2 * at_right / (right * right))
        if not (start >= 0 or -2 * start / slope < left or -2 * start / slope > right):
            largest = largest.max(-slope * slope / (2 * start))
    return largest.sqrt()


def _psi_above(lam: arb, r: arb) -> arb:
    """An upper bound of Ψ(λ), whatever the threshold."""
    omega = (lam * r).sinh() / (lam * r)
    return _moment_generating(lam, r) / omega - lam * _mean(r) + omega.log() - 1


def _small_end(lam: arb) -> arb:
    third = (
        2
        * (lam * lam / 2).exp()
        * ((lam * lam + 2) * _density(lam) + (lam**3 + 3 * lam) * _distribution(lam))
    )
    return 1 + lam / 3 * third


def _large_end(lam: arb) -> arb:
    return 1 + 2 * arb(2).log() / (lam * lam) + 2 * (2 / arb.pi()).sqrt() / lam


@contract
def tail(radius: arb | float, d: Count) -> arb:
    """P(‖G‖ > radius) for a standard Gaussian vector of ℝ^d."""
    radius = arb(radius)
    return (radius * radius / 2).gamma_upper(arb(d) / 2, 1)


@contract
def mean_norm(d: Count) -> arb:
    """E‖G‖ = √2 Γ((d + 1)/2)/Γ(d/2)."""
    half = arb(d) / 2
    return arb(2).sqrt() * (half + arb(1) / 2).gamma() / half.gamma()


@contract
def quantile_of_largest(N: Count, d: Count, delta: Level) -> arb:
    """The radius that max_k ‖G_k‖ of N independent vectors exceeds with probability δ."""
    half = arb(d) / 2
    with ctx.workprec(128):
        target = (1 - arb(delta)).log() / N
        inside = lambda radius: (radius * radius / 2).gamma_lower(half, 1).log() - target
        return enclosures.root(inside, 1e-3, 10 + 2 * math.sqrt(d))
