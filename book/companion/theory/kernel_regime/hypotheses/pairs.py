"""What the hypotheses of Paired points and of Mirror symmetry are for: instances on a line without one of them, and with it.

Each function gives the two sides of the conclusion "left ≤ right"; all hypotheses but the named one hold at both instances.
"""

import math
from collections.abc import Sequence

import torch

from companion.theory.kernel_regime.hypotheses.on_a_line import (
    TANH,
    Bent,
    Head,
    apart,
    hidden,
    model,
    slopes,
    tangent,
)
from shallowformer.kernel_regime.bounds import linearisation

Sides = tuple[float, float]


def _pairs_gap(
    m: int, moves: Sequence[Head], c: Sequence[float] = (1.0, -1.0), u: Sequence[float] = (0.5, 0.5),
    tokens: Sequence[float] = (1.0,), q: float = 1.0,
) -> Sides:  # fmt: skip
    """|f − f_lin| and the bound of Paired points for m/2 pairs alike, ρ = (1, 1, 0) or (0, 0, 1) by what moves, moves in units of 1/√m."""
    start = [(c[i], u[i], 0.0) for i in (0, 1)]
    moved = [
        tuple(x + y / math.sqrt(m) for x, y in zip(*pair, strict=True))
        for pair in zip(start, moves, strict=True)
    ]
    gap = abs(model(moved, tokens, q) - tangent(start, moved, tokens, q)) * math.sqrt(m / 2)
    rho = (0.0, 0.0, 1.0) if moves[0][2] else (1.0, 1.0, 0.0)
    R = torch.tensor([abs(x) + rho[1] / math.sqrt(m) for x in u], dtype=torch.float64).repeat(m // 2)
    return gap, float(linearisation.B_lin_pairs(R, rho))


APART = ((1.0, 1.0, 0.0), (1.0, -1.0, 0.0))
TURNED = ((0.0, 0.0, 1.0), (0.0, 0.0, -1.0))


def pairs_that_move_alike(kept: bool) -> Sides:
    """|f − f_lin| ≤ the bound of Paired points, m = 10,000, one token 1, U = ½: partners part (kept), or move alike in c and U."""
    return _pairs_gap(10_000, APART if kept else (APART[0], APART[0]))


def pairs_with_equal_readouts(kept: bool) -> Sides:
    """The same: readouts 1, −1 (kept), or 1, 1; the partners part in U."""
    return _pairs_gap(10_000, APART, c=(1.0, -1.0) if kept else (1.0, 1.0))


def pairs_with_two_readins(kept: bool) -> Sides:
    """The same: partners share U = ½ (kept), or start from ½ and −½."""
    return _pairs_gap(10_000, APART, u=(0.5, 0.5) if kept else (0.5, -0.5))


def pairs_of_a_long_token(kept: bool) -> Sides:
    """The same with m = 100 and U = 0: one token of length 1 (kept) or 2."""
    return _pairs_gap(100, APART, u=(0.0, 0.0), tokens=(1.0,) if kept else (2.0,))


def pairs_of_a_long_query(kept: bool) -> Sides:
    """The same with m = 100, where W moves and tokens are ±1: a query of length 1 (kept) or 2."""
    return _pairs_gap(100, TURNED, tokens=(1.0, -1.0), q=1 if kept else 2)


def pairs_off_the_neighbourhood(kept: bool) -> Sides:
    """The same with m = 100: U moves by ρ_u/√m (kept), or by twice as much."""
    far = 1.0 if kept else 2.0
    return _pairs_gap(100, ((1.0, far, 0.0), (1.0, -far, 0.0)))


def _rough(z: float) -> float:
    """sgn(z)|z|^{5/2}e^{−z²}: odd, bounded, σ″ continuous and bounded, σ‴ not bounded at 0."""
    return math.copysign(abs(z) ** 2.5 * math.exp(-(z**2)), z)


def pairs_without_a_third_derivative(kept: bool) -> Sides:
    """m·|f − f_lin| at m = 2²⁰ ≤ twice that at m = 16 (Paired points: O(1/m)), U = 0 and partners part: sine (kept), or sgn(z)|z|^{5/2}e^{−z²}."""
    sigma, slope = (math.sin, 1.0) if kept else (_rough, 0.0)
    at = lambda m: m * abs(math.sqrt(m) * sigma(m**-0.5) - slope)
    return at(2**20), 2 * at(16)


def mirror_at_another_start(kept: bool) -> Sides:
    """|f(φ⁽⁰⁾ + δ)| ≤ 0 (Mirror symmetry, 1) for the symmetric δ that turns both W by ½: partners share U = 1 (kept), or have 1 and 2."""
    return abs(model([(1.0, 1.0, 0.5), (-1.0, 1.0 if kept else 2.0, 0.5)], (1.0, 0.0))), 0


def _descent(steps: int) -> list[Head]:
    """Gradient steps of size ½ on (f − 1)² from a symmetric start, tokens 1, 0 and q = 1."""
    tokens, heads = (1.0, 0.0), [(1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)]
    for _ in range(steps):
        pull = 2 * (1 - model(heads, tokens)) / math.sqrt(2) / 2
        heads = [
            (c + pull * hidden(tokens, u, w), u + pull * c * slopes(tokens, u, w)[0], w + pull * c * slopes(tokens, u, w)[1])
            for c, u, w in heads
        ]  # fmt: skip
    return heads


def mirror_after_two_steps(kept: bool) -> Sides:
    """|δU₁ + δU₂| ≤ 0 up to rounding (Mirror symmetry, 2): after the first step (kept), or the second."""
    (_, first, _), (_, second, _) = _descent(1 if kept else 2)
    return apart(first + second, 2, 1e-14), 0


def _order(moves: Sequence[Head], t: float, sigma: Bent = TANH, u: float = 0.5) -> float:
    """|f − f_lin|/t³ at φ⁽⁰⁾ + tδ, one token 1."""
    start = [(1.0, u, 0.0), (-1.0, u, 0.0)]
    moved = [tuple(x + t * y for x, y in zip(*pair, strict=True)) for pair in zip(start, moves, strict=True)]
    return abs(model(moved, (1.0,), 1, sigma) - tangent(start, moved, (1.0,), 1, sigma)) / t**3


def mirror_of_a_general_move(kept: bool) -> Sides:
    """|f − f_lin|/t³ at t = 0.001 ≤ twice that at t = 0.1 (Mirror symmetry, 3): partners part (kept), or only one of them moves."""
    moves = APART if kept else (APART[0], (0.0, 0.0, 0.0))
    return _order(moves, 1e-3), 2 * _order(moves, 0.1)


def mirror_of_a_rough_activation(kept: bool) -> Sides:
    """The same from U = 0, partners part in U: tanh (kept), or sgn(z)|z|^{5/2}e^{−z²}, which is C² and not C³."""
    sigma = (
        TANH if kept else (_rough, lambda z: (2.5 * abs(z) ** 1.5 - 2 * abs(z) ** 3.5) * math.exp(-(z**2)))
    )
    moves = ((0.0, 1.0, 0.0), (0.0, -1.0, 0.0))
    return _order(moves, 1e-3, sigma, 0.0), 2 * _order(moves, 0.1, sigma, 0.0)
