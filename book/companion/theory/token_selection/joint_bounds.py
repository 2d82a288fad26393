"""Bounds of joint training with η_u = η(t + 1)^{−2/3}/‖∇_u L‖ and η_W = η(t + 1)^{−1}/‖∇_W L‖ from (0, 0).

γ is the best margin of the optimal tokens, ν a bound on inner products of distinct tokens; labels are absorbed in tokens.
"""

import math

import torch
from jaxtyping import Float
from scipy.special import zeta
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, NonNegative, Positive, contract

#: |Cov(a, (b − b̄)²)| ≤ 1/(6√3) under any law, for a and b of range 1; attained by two points.
THIRD_CUMULANT = 1 / (6 * math.sqrt(3))

#: The share of γ that attended tokens keep under the conditions of Lemma 11, for two tokens: ½(1 − 0.0217), rounded down.
KEPT = 0.489


@contract
def norms(t: Float[Tensor, " k"], eta: Positive) -> tuple[Float[Tensor, " k"], Float[Tensor, " k"]]:
    """‖u_t‖ ≤ η(3t^{1/3} − 2) and ‖W_t‖ ≤ η log t. Source: Lemma 10 of Vasudeva, Deora, Thrampoulidis 2024, in our reading."""
    return eta * (3 * t ** (1 / 3) - 2), eta * torch.log(t)


@contract
def travelled(t: Float[Tensor, " k"], eta: Positive) -> Float[Tensor, " k"]:
    """Lower bound η[3(t + ½)^{1/3} + ζ(2/3)] on S_t = Σ_{k<t} η(k + 1)^{−2/3}; the difference tends to 0. Source: Ours."""
    return eta * (3 * (t + 0.5) ** (1 / 3) + float(zeta(2 / 3)))


@contract
def attended_margin(
    gamma: Positive, nu: NonNegative, phi: float, least: Positive, most: Positive, n: Count
) -> tuple[float, float]:
    """Two lower bounds on γ_t, the best margin of the attended tokens z_i = X_iᵀφ_i.

    φγ − (1 − φ)ν/γ, and (m/2 − nν)/√(nM + n²ν) where m/2 ≥ nν; −∞ for the second elsewhere, where it can be false.
    Source: Lemma 12 of Vasudeva, Deora, Thrampoulidis 2024; constants ours.

    Args:
        phi: smallest optimal weight, in [½, 1].
        least: m = min ‖x_{i,opt}‖².
        most: M = max ‖x_{i,opt}‖².
    """
    arguments.at_most("phi", arguments.at_least("phi", phi, 0.5), "one", 1.0)
    top = least / 2 - n * nu
    return phi * gamma - (1 - phi) * nu / gamma, (
        top / math.sqrt(n * most + n**2 * nu) if top >= 0 else -math.inf
    )


@contract
def loss_constant(eta: Positive, R: Positive) -> float:
    """ζ(4/3)η²R²/8, what the decoder's halves of all steps cost log L at most.

    The whole constant of Theorem 2 on a run in which attention's halves never raise the loss.
    Source: Ours, in Theorem 2 of Vasudeva, Deora, Thrampoulidis 2024.

    Args:
        R: largest distance of two tokens, of one sequence or of two (labels absorbed).
    """
    return float(zeta(4 / 3)) * (eta * R) ** 2 / 8


@contract
def loss_constant_any_data(eta: float, R: float, D: Positive, Q: Positive) -> float:
    """The constant of Theorem 2 for any data, number of tokens and step: ``loss_constant`` plus what attention's halves may cost.

    Source: Ours, in Theorem 2 of Vasudeva, Deora, Thrampoulidis 2024.

    Args:
        R: largest distance of two tokens (labels absorbed), above 0.
        D: largest distance of two tokens of one sequence.
        Q: largest norm of a query.
    """
    fourthirds = 3 / 8 * eta**3 * R * D**2 * Q + 9 / 32 * eta**4 * D**4 * Q**2
    fivethirds = eta**2 * D**2 * Q / 4 + 3 / 2 * THIRD_CUMULANT * eta**3 * D**3 * Q**2
    # Attention rests at t = 0.
    return loss_constant(eta, R) + float(zeta(4 / 3) - 1) * fourthirds + float(zeta(5 / 3) - 1) * fivethirds


@contract
def log_loss(t: Float[Tensor, " k"], eta: float, margin: Positive, C: NonNegative) -> Float[Tensor, " k"]:
    """Bound on log L(θ_t): C − γη[3(t + ½)^{1/3} + ζ(2/3)], γ here any margin that the attended tokens have all along, γ ≤ γ_t.

    Source: Ours: Theorem 2 of Vasudeva, Deora, Thrampoulidis 2024 with constants.
    """
    return C - margin * travelled(t, eta)


@contract
def decoder_margin(
    lengths: Float[Tensor, " t"],
    off: Float[Tensor, " t"],
    gamma: Positive,
    nu: NonNegative,
    n: Count,
    C: NonNegative,
) -> Float[Tensor, " t"]:
    """Lower bound on min_i y_i⟨u_t, x_{i,opt}⟩/‖u_t‖ after t = 1, 2, … steps, valid where it is not negative.

    γ − (C + log n)/S_t − (γ + ν/γ) Σ_{k<t} s_k(1 − φ^k)/S_t, S_t = Σ_{k<t} s_k.
    Source: Ours: Theorem 4 of Vasudeva, Deora, Thrampoulidis 2024 with the full margin.

    Args:
        lengths: s_0, s_1, … of u's steps.
        off: 1 − min_i φ_{i,opt} before each of them.
        gamma: γ, the best margin of the optimal tokens.
        C: the constant of Theorem 2.
    """
    S = lengths.cumsum(0)
    lost = (lengths * off).cumsum(0) / S
    rest = C + math.log(n)
    return gamma - rest / S - (gamma + nu / gamma) * lost
