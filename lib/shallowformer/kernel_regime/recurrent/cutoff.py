"""How gradients of a recurrence can grow with the number of its steps: the cutoff of Proposition 2, and what lies on either side."""

import math

from shallowformer import arguments


def largest_weight(gamma: float, rho_w: float, m: int) -> float:
    """γ + ρ_w/√m: the largest |w_i| in Ω_ρ, which Proposition 2 compares with 1/σ₁.

    Args:
        gamma: size of the recurrent weights at the start, at least 0.
        rho_w: radius of Ω_ρ for them, at least 0.
        m: number of units.

    Raises:
        ValueError: an argument out of range.

    Source:
        Arda, Cayci, Eryilmaz 2026, Proposition 2.
    """
    return (
        arguments.nonnegative("gamma", gamma)
        + arguments.nonnegative("rho_w", rho_w) / arguments.count("m", m) ** 0.5
    )


def supremum(w: float, T: int) -> float:
    """Supremum of |∂h_T/∂w| over all inputs for h_t = tanh(w h_{t−1} + x_t) from h_0 = 0: Proposition C's C_{T−1}, and 0 at T = 1.

    Args:
        w: recurrent weight.
        T: number of steps, at least 1.

    Raises:
        ValueError: ``T`` below 1, or ``w`` not finite.

    Source:
        This book, Proposition C.
    """
    arguments.count("T", T)
    arguments.at_least("w", abs(w), 0.0)
    C = 0.0 if T == 1 else 1.0
    for _ in range(T - 2):
        y = abs(w) * C
        C = y + 1 / (4 * y) if y >= 0.5 else 1.0
        if math.isinf(C):
            return C
    return C


def geometric(alpha: float, T: int) -> float:
    """1 + α + … + α^{T−1}.

    Args:
        alpha: at least 0.
        T: number of terms, at least 1.

    Raises:
        ValueError: an argument out of range.
    """
    arguments.nonnegative("alpha", alpha)
    arguments.count("T", T)
    return float(T) if alpha == 1 else (alpha**T - 1) / (alpha - 1)
