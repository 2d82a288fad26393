"""How gradients of a recurrence can grow with the number of its steps: the cutoff of Proposition 2, and what lies on either side."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, NonNegative, Positive, contract


@contract
def largest_weight(gamma: NonNegative, rho_w: NonNegative, m: Count) -> float:
    """γ + ρ_w/√m: the largest |w_i| in Ω_ρ, which Proposition 2 compares with 1/σ₁. Source: Arda, Cayci, Eryilmaz 2026, Proposition 2.

    Args:
        gamma: size of the recurrent weights at the start.
        rho_w: radius of Ω_ρ for them.
    """
    return gamma + rho_w / m**0.5


@contract
def supremum(w: float, T: Count) -> float:
    """Supremum of |∂h_T/∂w| over all inputs for h_t = tanh(w h_{t−1} + x_t) from h_0 = 0: Proposition C's C_{T−1}, and 0 at T = 1.

    Source: This book, Proposition C.
    """
    arguments.at_least("w", abs(w), 0.0)
    C = 0.0 if T == 1 else 1.0
    for _ in range(T - 2):
        y = abs(w) * C
        C = y + 1 / (4 * y) if y >= 0.5 else 1.0
        if math.isinf(C):
            return C
    return C


@contract
def steep_states(w: float, T: int, drive: Positive) -> Float[Tensor, " {T}"]:
    """States h_1, …, h_T with a large |∂h_T/∂w| for |w| ≥ 1, reached from h_0 = 0 by h_t = tanh(w h_{t−1} + x_t) with |x_t| ≤ R, the drive.

    As in the proof of this book's proposition on the cutoff: for |w| = 1 as large as the drive allows and not larger than ½ over the
    gradient before, of one sign (w = 1) or of alternating signs (w = −1); for |w| > 1 a push, then silence.
    """
    arguments.at_least("w", abs(w), 1.0)
    arguments.count("T", T, 2)
    h = torch.zeros(T, dtype=torch.float64)
    if abs(w) > 1:
        h[0] = min(math.tanh(drive), drive / abs(w))
        return h
    slope = 0.0
    for t in range(T - 1):
        state = min(math.tanh(drive), 1 / (2 * slope)) if slope > 0 else math.tanh(drive)
        h[t] = state * (1 if w > 0 else (-1) ** t)
        slope = state + (1 - state**2) * slope
    return h


def drives(states: Float[Tensor, " T"], w: float) -> Float[Tensor, " T"]:
    """The x_t that lead through given states from h_0 = 0: artanh h_t − w h_{t−1}."""
    return torch.atanh(states) - w * torch.cat([states.new_zeros(1), states[:-1]])
