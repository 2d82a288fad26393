"""Rates with the decoder fixed: the key lemma, how fast W turns to W_mm, how fast attention saturates, two tokens in closed form."""

import math

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import lambertw
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, Level, NonNegative, Positive, contract


@contract
def Lambda_0(n: Count, T: int, upsilon: float, phi_min: Level) -> float:
    """Λ₀ = 𝒲(nΥ(T − 1)/(e φ_min²)), 𝒲 Lambert's function: how far out the key lemma begins, in units of ‖W_mm‖/π; every φ_opt ≥ φ_min.

    Source: Ours: the key lemma (Lemma 7 of Vasudeva, Deora, Thrampoulidis 2024) in one line.
    """
    arguments.count("T", T, 2)
    arguments.at_least("upsilon", upsilon, 1.0)
    return float(np.real(lambertw(n * upsilon * (T - 1) / (math.e * phi_min**2))))


@contract
def best_Lambda_0(pairs: Count, upsilon: float, phi_min: Level) -> float:
    """The best Λ₀ that only K, Υ and φ_min, below every optimal weight, allow: 𝒲((K − 1)Υ/(e φ_min²)); 0 for one pair.

    Source: Ours: the key lemma (Lemma 7 of Vasudeva, Deora, Thrampoulidis 2024) in one line, with the best constant.
    """
    arguments.at_least("upsilon", upsilon, 1.0)
    return float(np.real(lambertw((pairs - 1) * upsilon / (math.e * phi_min**2))))


@contract
def key_lemma_excess(norm: Positive, best_norm: Positive, Lambda: Positive) -> float:
    """π = ‖W_mm‖Λ₀/‖W‖, for which (1 + π)⟨−∇L, W_mm/‖W_mm‖⟩ ≥ ⟨−∇L, W/‖W‖⟩.

    Source: Ours: the key lemma (Lemma 7 of Vasudeva, Deora, Thrampoulidis 2024).
    """
    return best_norm * Lambda / norm


@contract
def first_step(eta: Positive, rho: Positive, start: NonNegative) -> int:
    """t₀ = max{1, ⌈2‖W⁽⁰⁾‖/(ηρ_*)⌉}, from which ``normalised_rate`` holds."""
    return max(1, math.ceil(2 * start / (eta * rho)))


@contract
def normalised_rate(
    t: Float[Tensor, " k"], eta: float, rho: float, best_norm: Positive, Lambda: Positive, start: float
) -> Float[Tensor, " k"]:
    """Bound O(log t/t) on 1 − ⟨W_t/‖W_t‖, W_mm/‖W_mm‖⟩ under normalised descent, η at most the limit of Lemma 3; infinite before t₀.

    2/(ρ₀t) · [2(‖W⁽⁰⁾‖ + ηt₀) + (2/ρ₀)(η²/2 + η‖W_mm‖Λ₀)(1 + log(t/t₀))], ρ₀ = ηρ_*. Source: Ours: Theorem 1 of Vasudeva, Deora,
    Thrampoulidis 2024 with a better rate.
    """
    t0, speed = first_step(eta, rho, start), eta * rho
    drift = 2 / speed * (eta**2 / 2 + eta * best_norm * Lambda) * (1 + torch.log(t / t0))
    return torch.where(t >= t0, 2 / (speed * t) * (2 * (start + eta * t0) + drift), torch.inf)


@contract
def log_off(
    norm: Float[Tensor, " k"], one_minus_corr: Float[Tensor, " k"], T: int, B: Positive, best_norm: Positive
) -> Float[Tensor, " k"]:
    """Bound on log(1 − φ_{i,opt}): φ_{i,opt} ≥ 1/(1 + (T − 1)e^{−a}), a = ‖W‖(1/‖W_mm‖ − 2√2 B²√(1 − corr)).

    Source: Lemmas 1 and 8 of Vasudeva, Deora, Thrampoulidis 2024; constants ours.
    """
    arguments.count("T", T, 2)
    a = norm * (1 / best_norm - 2 * math.sqrt(2) * B**2 * one_minus_corr.sqrt())
    return -torch.nn.functional.softplus(a - math.log(T - 1), threshold=40)


@contract
def two_token_correlation(
    steps: Float[Tensor, " k"], eta: Positive, w0: float, C: NonNegative
) -> Float[Tensor, " k"]:
    """1 − corr of normalised descent on two tokens: 1 − w/√(w² + C²), w = w₀ + ηt, w₀ = ⟨W⁽⁰⁾, W_mm/‖W_mm‖⟩, C the norm of W⁽⁰⁾'s rest.

    Source: Vasudeva, Deora, Thrampoulidis 2024, section 3.3, in our reading.
    """
    w = w0 + eta * steps
    norm = torch.hypot(w, torch.full_like(w, C))
    return torch.where(w > 0, C * (C / norm) / (norm + w.abs()), 1 - w / norm)
