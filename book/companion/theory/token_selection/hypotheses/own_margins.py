"""What the hypotheses of steepest descent in its own norm are for, in the Frobenius norm: both sides of "left ≤ right", without one of them and with it."""

import math

import numpy as np

from companion.theory.token_selection.hypotheses.instances import LOSING, SCORED
from companion.theory.token_selection.hypotheses.plain import two_gaps

Sides = tuple[float, float]

#: Of the example of lost samples: γ = 1/‖W_mm‖, A = 2𝖤(1 + Δ), the longest step allowed.
GAMMA, A = 1 / math.sqrt(10), 4 * math.sqrt(5)
LONGEST = GAMMA / (3 * A * A)


def far_start(kept: bool) -> Sides:
    """γS_t − 2 − ⅗A²Σs² ≤ min h (Own margin) after 10,000 of the longest steps allowed, the example of lost samples: from gaps (10, 10), x₀ < 0.01 (kept), or from 0, x₀ > ½."""
    t = 10_000
    *_, h = two_gaps(LOSING, [LONGEST] * t, t, (10.0, 10.0) if kept else (0.0, 0.0), **SCORED)
    return GAMMA * t * LONGEST - 2 - 0.6 * A * A * t * LONGEST**2, min(h)


def long_step(kept: bool) -> Sides:
    """0 ≤ min h, as min h/‖W‖ → γ > 0 says in the end (Own margin), the example of lost samples from gaps (10, 10), steps within the limit that tend to 0: the first one, too (kept), or it has length 100."""
    lengths = [LONGEST / math.sqrt(t + 1) for t in range(2000)]
    if not kept:
        lengths[0] = 100.0
    *_, h = two_gaps(LOSING, lengths, 2000, (10.0, 10.0), **SCORED)
    return 0.0, min(h)


def summable(kept: bool) -> Sides:
    """0.99γ ≤ min h/‖W‖ in the end (Own margin) for orthonormal E_k, γ² = ½, from gaps (10, 12): 10⁵ steps of length 0.01/√t (kept), or 40 of 0.01/2ᵗ."""
    lengths = [0.01 / math.sqrt(t + 1) for t in range(100_000)] if kept else [0.01 / 2**t for t in range(40)]
    *_, h = two_gaps(((1.0, 0.0), (0.0, 1.0)), lengths, len(lengths), (10.0, 12.0), best=(1.0, 1.0))
    return 0.99 * math.sqrt(0.5), min(h) / float(np.hypot(*h))
