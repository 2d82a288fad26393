"""Bounds on single steps with the decoder fixed: how large a start and a step may be, how fast ‖W‖ grows, how long Polyak's steps are."""

import math

from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, Level, NonNegative, Positive, contract


@contract
def start_scale(B: Positive) -> float:
    """The scale log 2/(2B²): if ‖W⁽⁰⁾‖ is at most this, in any direction, every optimal weight starts at 1/(2T) or more.

    Source: Lemma 2 of Vasudeva, Deora, Thrampoulidis 2024, in our reading; constant ours.
    """
    return math.log(2) / (2 * B**2)


@contract
def gaussian_start_scale(B: float, n: Count, T: int, delta: Level) -> float:
    """Standard deviation ω = log 2/(2B²√(2 log(2nT/δ))) of Gaussian entries with the same effect, with probability 1 − δ.

    Source: Lemma 2, Gaussian form, ours.
    """
    arguments.count("T", T, 2)
    return start_scale(B) / math.sqrt(2 * math.log(2 * n * T / delta))


@contract
def step_limit(B: Positive, phi_min: float) -> float:
    """s_max = log((1 − φ_min)/φ_min)/(2B²): steps no longer than this keep every optimal weight at φ_min or more, under (A1′).

    Source: Lemma 3 of Vasudeva, Deora, Thrampoulidis 2024; constant ours.
    """
    phi_min = _below_half(phi_min)
    return math.log((1 - phi_min) / phi_min) / (2 * B**2)


@contract
def gd_step_length(eta: Positive, B: Positive, psi_max: Positive) -> float:
    """ηB²Ψ_max/2, which no step of gradient descent exceeds. Source: Theorem 6 of Vasudeva, Deora, Thrampoulidis 2024; constant ours."""
    return eta * B**2 * psi_max / 2


@contract
def rho_star(B: Positive, norm: Positive) -> float:
    """ρ_* = 1/(2B²‖W_mm‖) ≤ ⟨−∇L/‖∇L‖, W_mm/‖W_mm‖⟩ at every W. Source: Lemma 4 of Vasudeva, Deora, Thrampoulidis 2024; constant ours."""
    return 1 / (2 * B**2 * norm)


@contract
def iterate_norm(
    t: Float[Tensor, " k"], eta: Positive, rho: Positive, start: NonNegative
) -> tuple[Float[Tensor, " k"], Float[Tensor, " k"]]:
    """Bounds ηρ_*t − ‖W⁽⁰⁾‖ ≤ ‖W_t‖ ≤ ηt + ‖W⁽⁰⁾‖ under normalised descent.

    Source: Lemma 5 and equation (9) of Vasudeva, Deora, Thrampoulidis 2024.
    """
    return eta * rho * t - start, eta * t + start


@contract
def polyak_lengths(
    Delta_max: Positive, B: Positive, best_norm: Positive, phi_min: Positive, factor: Positive = 0.5
) -> tuple[float, float]:
    """Bounds on the length of a Polyak step, factor · (L − L*)/‖∇L‖, where every optimal weight is at least φ_min, and Δ the largest Δ_i.

    With factor ½: (1 − e^{−Δ})/(4B²Δ) from below, ‖W_mm‖/(2φ_min) from above. Source: Ours, in the proof of Theorem 7 of Vasudeva, Deora,
    Thrampoulidis 2024.
    """
    arguments.at_most("phi_min", phi_min, "one", 1.0)
    return factor * -math.expm1(-Delta_max) / Delta_max / (2 * B**2), factor * best_norm / phi_min


@contract
def _below_half(phi_min: Level) -> float:
    if not 0 < phi_min < 0.5:
        raise ValueError(f"phi_min must lie in (0, ½), got {phi_min!r}")
    return phi_min
