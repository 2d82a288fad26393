"""Theorem D: how far descent drives the partners of a pair from moving oppositely, and what is left of the width errors.

All bounds are per pair with head averages, as the proofs in the chapter *No log n, no log m, no d* have it. R holds the longest U_i of
each head in Ω_ρ (``region.longest``), L is ``constants`` of R, where they are at hand, and Γ = η Σ_{s<τ} √L̂(φ⁽ˢ⁾); r² = ρ_u² + ρ_w² and
r̃² = ν̄_u² + ν̄_w². They need |σ‴| ≤ σ₃ < ∞, which the paper does not assume; ``turn_of_pairs`` also needs a comparator whose partners
move oppositely.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import NonNegative, Triple, contract
from shallowformer.formulas import Number
from shallowformer.kernel_regime.bounds import blocks, smoothness
from shallowformer.kernel_regime.convergence import gradient_norms, no_logs
from shallowformer.kernel_regime.model import pairs
from shallowformer.kernel_regime.model.parameters import Parameters

#: L₁, L₂^♯ and L₃ of a head, or of many.
Constants = tuple[Number, Number, Number]


def constants(R: Float[Tensor, " m"], sigma: Activation = TANH) -> Constants:
    """L₁, L₂^♯ and L₃ at every R_i (``region.longest``): bounds on the first three derivatives of a head over Ω_ρ, if |σ‴| ≤ σ₃."""
    blocks.number_of_heads(R)
    return smoothness.L1(R, sigma), smoothness.L2(R, sigma), smoothness.L3(R, sigma)


def asymmetries(phi: Parameters, phi0: Parameters) -> tuple[Float[Tensor, " pairs"], Float[Tensor, " pairs"]]:
    """p_i = ‖δθ_i + δθ_{i+N}‖ and p′_i = |δc_i − δc_{i+N}| of every pair: 0 where partners move oppositely and are read out alike."""
    c, U, W = (2 * block[: phi.m // 2] for block in pairs.parts(phi, phi0)[0].blocks)
    return torch.hypot(U.norm(dim=-1), W.flatten(1).norm(dim=-1)), c.abs()


@contract
def travel(eta_tau: NonNegative, V0: NonNegative, epsilon: NonNegative, theta: float) -> float:
    """A bound on Γ from Theorem A: ητε/(1 − θ) + √(ητV₀/(4(1 − θ))), V₀ the squared distance from the initialisation to the comparator."""
    arguments.below_one("theta", theta)
    return eta_tau * epsilon / (1 - theta) + math.sqrt(eta_tau * V0 / (4 * (1 - theta)))


@contract
def drift(
    R: Float[Tensor, " m"], rho: Triple, Gamma: float, sigma: Activation = TANH, L: Constants | None = None
) -> tuple[Float[Tensor, " m"], Float[Tensor, " m"]]:
    """κ = 4(L₂^♯ r + ρ_cL₁)Γ and κ′ = 4L₁ r Γ at every R_i: p_i ≤ κ_i/m and p′_i ≤ κ′_i/m along the run.

    Args:
        R: the longest U_i of each head in Ω_ρ.
        rho: any radii that hold the iterates so far.
    """
    return _drift(constants(R, sigma) if L is None else L, rho, Gamma)


@contract
def _drift(L: Constants, rho: Triple, Gamma: NonNegative) -> tuple[Number, Number]:
    L1, L2, _ = L
    of_theta, of_c = gradient_norms.change_of_a_head(L1, L2, rho)
    travelled = 4 * Gamma
    return travelled * of_theta, travelled * of_c


@contract
def gap_of_a_pair(L: Constants, rho: Triple, kappa: Number, kappa_c: Number) -> Number:
    """m² times a bound on a pair's share of |f − f_lin|, where p ≤ κ/m and p′ ≤ κ′/m.

    ⅓L₃r³ + L₂rκ + ρ_c(L₂r² + L₁κ) + κ′L₁r with r² = ρ_u² + ρ_w².
    """
    here = (0.0, 0.0, 0.0)
    return no_logs.beyond_leading(*L[1:], rho, here) + _of_asymmetry(L, rho, here, kappa, kappa_c)


@contract
def turn_of_a_pair(L: Constants, rho: Triple, nu: Triple, kappa: Number, kappa_c: Number) -> Number:
    """m² times a bound on a pair's share of |e(φ) − e(φ⁽⁰⁾)| for a paired comparator, where p ≤ κ/m and p′ ≤ κ′/m.

    L₃r²(r̃ + ⅔r) + L₂(ν̄_c r² + 2ρ_c r(r̃ + r)) + κ(L₂(r̃ + r) + L₁(ν̄_c + ρ_c)) + κ′L₁(r̃ + r), r² = ρ_u² + ρ_w², r̃² = ν̄_u² + ν̄_w².
    """
    return 2 * no_logs.beyond_leading(*L[1:], rho, nu) + _of_asymmetry(L, rho, nu, kappa, kappa_c)


@contract
def _of_asymmetry(L: Constants, rho: Triple, nu: Triple, kappa: Number, kappa_c: Number) -> Number:
    """κ(L₂(r̃ + r) + L₁(ν̄_c + ρ_c)) + κ′L₁(r̃ + r): what partners add that do not move oppositely."""
    (L1, L2, _), (c, u, w), (nc, nu_u, nu_w) = L, rho, nu
    reach = math.hypot(u, w) + math.hypot(nu_u, nu_w)
    return kappa * (L2 * reach + L1 * (nc + c)) + kappa_c * L1 * reach


@contract
def gap_of_pairs(
    R: Float[Tensor, " m"], rho: Triple, Gamma: float, sigma: Activation = TANH, L: Constants | None = None
) -> Float[Tensor, ""]:
    """A bound on |f − f_lin| along the run, for all X: (1/2m) · (1/m) Σ_i [⅓L₃r³ + L₂rκ + ρ_c(L₂r² + L₁κ) + κ′L₁r].

    Args:
        R: the longest U_i of each head in Ω_ρ.
    """
    L = constants(R, sigma) if L is None else L
    kappas = _drift(L, rho, Gamma)
    return gap_of_a_pair(L, rho, *kappas).mean() / (2 * len(R))


@contract
def turn_of_pairs(
    R: Float[Tensor, " m"],
    rho: Triple,
    nu: Triple,
    Gamma: float,
    sigma: Activation = TANH,
    L: Constants | None = None,
) -> Float[Tensor, ""]:
    """A bound on |e(φ) − e(φ⁽⁰⁾)| along the run, for all X and a paired comparator in Ω_ν̄: of order 1/m.

    (1/2m) · (1/m) Σ_i [L₃r²(r̃ + ⅔r) + L₂(ν̄_c r² + 2ρ_c r(r̃ + r)) + κ(L₂(r̃ + r) + L₁(ν̄_c + ρ_c)) + κ′L₁(r̃ + r)].

    Args:
        R: the longest U_i of each head in Ω_ρ.
    """
    L = constants(R, sigma) if L is None else L
    kappas = _drift(L, rho, Gamma)
    return turn_of_a_pair(L, rho, nu, *kappas).mean() / (2 * len(R))
