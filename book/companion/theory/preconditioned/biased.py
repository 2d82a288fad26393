"""Descent on f_{1/2} along directions that are off by at most δ: the exact floor, the exact barrier, and a rate down to the floor.

``s`` holds the singular values of M̃ = MΣ^½, all above 0; factors are square, λ = ½.
"""

import math
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import NonNegative, Positive, Whole, contract
from shallowformer.preconditioned import bounds


def most_bias(s: Float[Tensor, " d"]) -> float:
    """√(8s_d³/27): a larger δ can carry descent from a minimum to a saddle."""
    return math.sqrt(8 / 27) * _least(s) ** 1.5


@contract
def floor_and_barrier(s: Float[Tensor, " d"], delta: NonNegative) -> tuple[float, float]:
    """f⁻ and f⁺, the roots of 4(s_d − √(2f))f = δ² below s_d²/2, for δ ≤ ``most_bias``: descent from below f⁺ ends below f⁻."""
    arguments.at_most("delta", delta, "most_bias", most_bias(s))
    least = _least(s)
    # φ = √(2f)/s_d solves φ²(1 − φ) = δ²/(2s_d³): a cubic with three real roots.
    turn = math.acos(max(-1.0, 1 - 27 * delta**2 / (4 * least**3))) / 3
    roots = ((1 + 2 * math.cos(turn - shift)) / 3 for shift in (2 * math.pi / 3, 0.0))
    floor, barrier = ((least * max(0.0, root)) ** 2 / 2 for root in roots)
    return floor, barrier


@dataclass(frozen=True)
class Biased:
    """f_t ≤ contraction^t f_0 + floor for steps along g_t with ‖g_t − ∇f‖ ≤ δ."""

    most_f0: float  # f_0 may be at most that
    most_eta: float  # η must be below that
    most_delta: float  # δ may be at most that
    contraction: float  # a step's factor
    floor: float  # what is left

    @contract
    def at(self, t: Whole, f0: NonNegative) -> float:
        """The bound on f_t after t steps from f_0 ≤ ``most_f0``."""
        arguments.at_most("f0", f0, "most_f0", self.most_f0)
        return self.contraction**t * f0 + self.floor


@contract
def in_the_basin(s: Float[Tensor, " d"], eta: Positive, delta: NonNegative) -> Biased:
    """From f_0 ≤ s_d²/8, with η < 1/(2s₁ + 1.5s_d) and δ² ≤ s_d³/4: f_t ≤ (1 − ηs_d)^t f_0 + δ²/(2s_d)."""
    least, most_eta = _least(s), bounds.step(s)
    most_delta = (least**3 / 4) ** 0.5
    arguments.at_most("eta", eta, "its limit", most_eta)
    arguments.at_most("delta", delta, "its limit", most_delta)
    return Biased(bounds.basin(s), most_eta, most_delta, bounds.contraction(s, eta), delta**2 / (2 * least))


def _least(s: Tensor) -> float:
    return (2 * bounds.saddle_free(s)) ** 0.5
