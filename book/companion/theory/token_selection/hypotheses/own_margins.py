"""What the limit on the steps of descent in its own norm is for, on the example of lost samples: both sides of "left ≤ right", without it and with it."""

import math

from companion.theory.token_selection.hypotheses.instances import LOSING, SCORED
from companion.theory.token_selection.hypotheses.plain import two_gaps

Sides = tuple[float, float]

#: Of the example of lost samples: γ = 1/‖W_mm‖, A = 2𝖤(1 + Δ), the longest step allowed.
GAMMA, A = 1 / math.sqrt(10), 4 * math.sqrt(5)
LONGEST = GAMMA / (3 * A * A)


def long_step(kept: bool) -> Sides:
    """0 ≤ min h, as min h/‖W‖ → γ > 0 says in the end (Own margin), the example of lost samples from gaps (10, 10), steps within the limit that tend to 0: the first one, too (kept), or it has length 100."""
    lengths = [LONGEST / math.sqrt(t + 1) for t in range(2000)]
    if not kept:
        lengths[0] = 100.0
    *_, h = two_gaps(LOSING, lengths, 2000, (10.0, 10.0), **SCORED)
    return 0.0, min(h)
