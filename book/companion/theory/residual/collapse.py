"""Rank collapse: how near attention with small logits is to averaging, and what a token's neighbours then leave of it.

L are logits, one query a row, and S = softmax(L).
"""

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.residual.spectra import largest


def centred(M: Float[Tensor, "*s N k"]) -> Float[Tensor, "*s N k"]:
    """Π M with Π = I − 11ᵀ/N: rows less their mean."""
    return M - M.mean(-2, keepdim=True)


def logit_range(L: Float[Tensor, "*s N N"]) -> Float[Tensor, "*s"]:
    """ω = max_i (max_j L_ij − min_j L_ij)."""
    return (L.amax(-1) - L.amin(-1)).amax(-1)


def steepness(omega: Float[Tensor, "*n"], N: int) -> Float[Tensor, "*n"]:
    """ψ_N(ω) = log(1 + (e^ω − 1)/N)/ω, from 1/N at ω = 0 up to 1: the mean of e^{tω}/(N − 1 + e^{tω}) over t in [0, 1]."""
    small = omega < 1e-6
    at = omega.where(~small, 1.0)
    return torch.where(small, 1 / N + omega * (N - 1) / (2 * N**2), torch.log1p(torch.expm1(at) / N) / at)


def distance_bound(L: Float[Tensor, "*s N N"]) -> Float[Tensor, "*s"]:
    """ψ_N(ω) ‖LΠ‖_F ≥ ‖S − 11ᵀ/N‖_F, S = softmax(L). Source: Ours; section III-B of Qin, Zhou, Jiang, Zhu 2025 has the limit."""
    return steepness(logit_range(L), L.shape[-1]) * centred(L.mT).norm(dim=(-2, -1))


def remainder_bound(L: Float[Tensor, "*s N N"]) -> Float[Tensor, "*s"]:
    """½ω e^ω/(N − 1 + e^ω) ‖LΠ‖_F ≥ ‖S − 11ᵀ/N − LΠ/N‖_F."""
    omega = logit_range(L)
    top = 1 / (1 + (L.shape[-1] - 1) * torch.exp(-omega))
    return omega * top / 2 * centred(L.mT).norm(dim=(-2, -1))


def difference(S: Float[Tensor, "*s N N"]) -> Float[Tensor, "*s"]:
    """‖ΠSΠ‖: by how much attention S still tells tokens apart."""
    return largest(centred(centred(S).mT))
