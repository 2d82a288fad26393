"""Transportation mappings with a name: kernel sections, the paper's teacher, and three that represent the zero function."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Positive, contract
from shallowformer.kernel_regime.kernel.transportation import ROUNDING, Mapping
from shallowformer.kernel_regime.model.gradients import features
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.queries import Query, last_token


def _zeros(phi: Parameters) -> Parameters:
    return phi.map(torch.zeros_like)


def section(anchor: Float[Tensor, "1 T d"], query: Query = last_token, sigma: Activation = TANH) -> Mapping:
    """The mapping v = φ(X′), which represents the kernel section K(·, X′); declared (σ₀, σ₁, ∞).

    Its attention block grows with U and is bounded for special X′ only. Source: Arda, Cayci, Eryilmaz 2026, section 5.4.
    """
    arguments.shape("anchor", arguments.tokens(anchor, "anchor"), (1, *anchor.shape[1:]), "one input")

    def values(phi: Parameters) -> Parameters:
        feature = features(anchor, phi, query, sigma)
        return Parameters(feature.c[0], feature.u[0], feature.w[0])

    return Mapping(values, (*sigma.bounds[:2], math.inf))


def teacher(
    anchors: Float[Tensor, "R T d"],
    nu: tuple[float, float, float],
    query: Query = last_token,
    sigma: Activation = TANH,
    weights: Float[Tensor, " R"] | None = None,
) -> Mapping:
    """The paper's teacher: the average over anchors of (ν_c/σ₀) φ_c, (ν_u/σ₁) φ_u and φ_w clipped to norm ν_w; it is declared ``nu`` > 0.

    Source: Arda, Cayci, Eryilmaz 2026, section 6.1.

    Args:
        weights: of the anchors, of any sign, with Σ|weights| ≤ 1; 1/R each if not given.
    """
    arguments.tokens(anchors, "anchors")
    for k, norm in enumerate(nu):
        arguments.positive(f"nu[{k}]", norm)
    share = anchors.new_full(anchors.shape[:1], 1 / len(anchors)) if weights is None else weights
    arguments.shape("weights", arguments.floating("weights", share, "R"), (len(anchors),), "one an anchor")
    arguments.same_kind("anchors", anchors, weights=share)
    if share.abs().sum() > 1 + ROUNDING * torch.finfo(share.dtype).eps:
        raise ValueError(
            f"weights must have absolute values that sum to at most 1, got {float(share.abs().sum())!r}"
        )

    def values(phi: Parameters) -> Parameters:
        feature = features(anchors, phi, query, sigma)
        # ‖left qᵀ‖_F = ‖left‖ ‖q‖: clipped without forming matrices for every anchor.
        size = feature.w_left.norm(dim=-1) * feature.q.norm(dim=-1)[:, None]
        kept = nu[2] / size.clamp(min=nu[2])
        return Parameters(
            (nu[0] / sigma.bounds[0]) * (share @ feature.c),
            (nu[1] / sigma.bounds[1]) * torch.einsum("r,rmd->md", share, feature.u),
            torch.einsum("rm,rmd,re->mde", share[:, None] * kept, feature.w_left, feature.q),
        )

    return Mapping(values, tuple(nu))


@contract
def sign_of_c(nu_c: Positive = 1.0) -> Mapping:
    """The mapping v = (ν_c · c, 0, 0): norm ν_c, and it represents zero, because the features do not depend on c."""

    def values(phi: Parameters) -> Parameters:
        zero = _zeros(phi)
        return Parameters(nu_c * phi.c, zero.U, zero.W)

    return Mapping(values, (nu_c, 0.0, 0.0))


def zero_target(nu: tuple[float, float, float]) -> Mapping:
    """v_c = ν_c, v_u = ν_u sgn(U₁) e₁, v_w = ν_w e₁e₁ᵀ: for an odd activation it represents zero exactly.

    g changes its sign with U, so its mean is 0 for every input, and whatever m heads make of it is approximation error. All norms are ν at
    every head with U₁ ≠ 0.
    """

    def values(phi: Parameters) -> Parameters:
        zero = _zeros(phi)
        U, W = zero.U.clone(), zero.W.clone()
        U[:, 0] = nu[1] * phi.U[:, 0].sign()
        W[:, 0, 0] = nu[2]
        return Parameters(zero.c + nu[0], U, W)

    return Mapping(values, tuple(nu))


def exchange(field: Callable[[Float[Tensor, " p"]], Float[Tensor, " p"]]) -> Mapping:
    """The mapping v = (δw, −w_u, −w_w), δw = ⟨θ, w⟩ − div w: for Gaussian θ = (U, W) it represents zero; no sup norms declared.

    Integration by parts: what moving the heads along w adds to the function, the readout δw (Gaussian divergence) adds as well.

    Args:
        field: w, for one head: θ = (U, W row by row), p = d + d² entries, → as many; differentiable by ``torch.func``.
    """

    def values(phi: Parameters) -> Parameters:
        theta = torch.cat([phi.U, phi.W.flatten(1)], 1)
        w = torch.func.vmap(field)(theta)
        arguments.shape("field(theta)", w, tuple(theta.shape), "[m, d + d²] as the heads")
        divergence = torch.func.vmap(lambda head: torch.func.jacrev(field)(head).diagonal().sum())(theta)
        readout = (theta * w).sum(1) - divergence
        return Parameters(readout, -w[:, : phi.d], -w[:, phi.d :].reshape(phi.W.shape))

    return Mapping(values, (math.inf,) * 3)
