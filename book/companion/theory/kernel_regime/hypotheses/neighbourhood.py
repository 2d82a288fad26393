"""What the hypotheses of Lemmas 3 and 6, and of the head average, are for: instances on a line without one of them, and with it.

Each function gives the two sides of the conclusion "left ≤ right"; all hypotheses but the named one hold at both instances. Two heads with
U = 1, W = 0 and readouts ±1 are the start, tokens ±1 the input, q = 1, and δ′ = 0.05, unless something else is said.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch

from companion.theory.kernel_regime.hypotheses.on_a_line import (
    RAMP,
    SMOOTH_RAMP,
    Bent,
    Head,
    mean_of_two,
    model,
    tangent,
)
from shallowformer.kernel_regime.bounds import envelopes, linearisation
from shallowformer.kernel_regime.neighbourhood import norm_event

Sides = tuple[float, float]
#: What a pair moves by: δW = 1/√2 in one head, ρ = (0, 0, 1).
STEP = 1 / math.sqrt(2)


def _pair(u: float = 1.0, c: float = 1.0) -> tuple[Head, Head]:
    return (c, u, 0.0), (-c, u, 0.0)


def _gap(start: Sequence[Head], step: float = STEP, size: float = 1.0, q: float = 1.0) -> float:
    """|f − f_lin| where the first W has moved, tokens ±size."""
    (c, u, w), *others = start
    return abs(
        model(moved := [(c, u, w + step), *others], camps := (size, -size), q)
        - tangent(start, moved, camps, q)
    )


def paper(start: Sequence[Head], **instance: float) -> Sides:
    """The gap and the B_lin of Lemma 3 for ρ = (0, 0, 1)."""
    return _gap(start, **instance), linearisation.B_lin_paper(
        norm_event.B_U(2, 1, 0.05, 0), (0.0, 0.0, 1.0), 2
    )


def head_average(start: Sequence[Head], **instance: float) -> Sides:
    """The gap and this book's head average for ρ = (0, 0, 1)."""
    R = torch.tensor([abs(u) for _, u, _ in start], dtype=torch.float64)
    return _gap(start, **instance), float(linearisation.B_lin(R, (0.0, 0.0, 1.0)))


def gap_of_long_tokens(kept: bool, sides: Callable[..., Sides] = paper, far: float = 10) -> Sides:
    """|f − f_lin| ≤ B_lin: tokens ±1 (kept), or ±far."""
    return sides(_pair(), size=1 if kept else far)


def gap_of_a_long_query(kept: bool, sides: Callable[..., Sides] = paper, far: float = 100) -> Sides:
    """The same: a query of length 1 (kept) or ``far``."""
    return sides(_pair(), q=1 if kept else far)


def gap_of_large_readouts(kept: bool, sides: Callable[..., Sides] = paper, far: float = 300) -> Sides:
    """The same: readouts ±1 (kept) or ±far."""
    return sides(_pair(c=1 if kept else far))


def gap_off_the_event(kept: bool) -> Sides:
    """The same: U = 1, in the event (kept), or 100."""
    return paper(_pair(u=1 if kept else 100))


def gap_off_the_neighbourhood(kept: bool, sides: Callable[..., Sides] = paper, far: float = 100) -> Sides:
    """The same: W moves by 1/√2 = ρ_w/√m (kept), or by ``far``."""
    return sides(_pair(), step=STEP if kept else far)


def _across_a_kink(bent: Bent) -> float:
    """|f − f_lin| for one token 1 and U from −0.0001 by ρ_u/√2, ρ_u = 0.001, in one head of a pair."""
    start = ((1.0, -1e-4, 0.0), (-1.0, -1e-4, 0.0))
    moved = ((1.0, -1e-4 + 1e-3 * STEP, 0.0), start[1])
    return abs(model(moved, (1.0,), 1, bent) - tangent(start, moved, (1.0,), 1, bent))


def gap_across_a_kink(kept: bool) -> Sides:
    """|f − f_lin| ≤ L₂ρ_u²/√m (Lemma 3), ρ_u = 0.001, start U = −0.0001, one token 1: a smooth ramp (kept), or min(max(z, 0), 1)."""
    (s1, s2), bent = ((1.5, 6.0), SMOOTH_RAMP) if kept else ((1.0, 0.0), RAMP)
    B = norm_event.B_U(2, 1, 0.05, 1e-3)
    return _across_a_kink(bent), (s2 * (1 + B**2) + 8 * s1 * math.hypot(1, B)) * 1e-6 / math.sqrt(2)


def average_across_a_kink(kept: bool) -> Sides:
    """The same for the head average, which is ½σ₂ρ_u²/√m where only U moves."""
    s2, bent = (6.0, SMOOTH_RAMP) if kept else (0.0, RAMP)
    return _across_a_kink(bent), s2 * 1e-6 / 2 / math.sqrt(2)


#: ρ = (0, 0, 0.1): the W of partners part by ±0.1/√2.
SMALL = 0.1 * STEP


def _height(heads: Sequence[Head], size: float = 1.0, q: float = 1.0) -> Sides:
    """|f| and the paper's f^max for ρ = (0, 0, 0.1)."""
    B = norm_event.B_U(2, 1, 0.05, 0)
    return abs(model(heads, (size, -size), q)), envelopes.f_max_paper(B, (0.0, 0.0, 0.1))


def _parted(u: float = 1.0, c: float = 1.0, step: float = SMALL) -> list[Head]:
    return [(c, u, step), (-c, u, -step)]


def height_of_an_unpaired_start(kept: bool) -> Sides:
    """|f| ≤ f^max (Lemma 6) at the start U = W = 1 itself: opposite readouts (kept), or both 1."""
    return _height([(1.0, 1.0, 1.0), (-1.0 if kept else 1.0, 1.0, 1.0)])


def height_off_the_event(kept: bool) -> Sides:
    """|f| ≤ f^max (Lemma 6), partners' W part by ±0.1/√2: U = 1, in the event (kept), or 10."""
    return _height(_parted(u=1 if kept else 10))


def height_off_the_neighbourhood(kept: bool) -> Sides:
    """The same: W moves by 0.1/√2 (kept), or by 1."""
    return _height(_parted(step=SMALL if kept else 1))


def height_of_large_readouts(kept: bool) -> Sides:
    """The same: readouts ±1 (kept) or ±5."""
    return _height(_parted(c=1 if kept else 5))


def height_of_long_tokens(kept: bool) -> Sides:
    """The same: tokens ±1 (kept) or ±3."""
    return _height(_parted(), size=1 if kept else 3)


def height_of_a_long_query(kept: bool) -> Sides:
    """The same: a query of length 1 (kept) or 5."""
    return _height(_parted(), q=1 if kept else 5)


def target_of_longer_heads(kept: bool) -> Sides:
    """E⟨φ, v⟩ ≤ y^max = σ₁√d ν̄_w (Lemma 6), v_w = sgn U, σ = sin(z/10⁴)·10⁴: U of standard deviation 1 (kept) or 10."""
    scale = 1 if kept else 10

    def share(g: float, w: float) -> float:
        u = scale * g
        return np.sign(u) * np.cos(1e-4 * u * np.tanh(w)) * u / np.cosh(w) ** 2

    return mean_of_two(share), envelopes.y_max_paper(1, (0.0, 0.0, 1.0))
