"""Theorem D: how far descent drives the partners of a pair from moving oppositely, and what is left of the width errors.

All bounds are per pair with head averages, as the proofs in the chapter *No log n, no log m, no d* have it. R holds the longest U_i of
each head in Ω_ρ (``linearisation.longest``), and Γ = η Σ_{s<τ} √L̂(φ⁽ˢ⁾). They need |σ‴| ≤ σ₃ < ∞, which the paper does not assume;
``turn`` also needs a comparator whose partners move oppositely.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime import pairs
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.linearisation import lengths, smoothness_of_heads, third_of_heads
from shallowformer.kernel_regime.neighbourhood import radii
from shallowformer.kernel_regime.parameters import Parameters

Radii = Sequence[float]
#: L₁, L₂^♯ and L₃ of a head, or of many: numbers or tensors.
Constants = tuple[Tensor, Tensor, Tensor]


def constants(R: Tensor, sigma: Activation = TANH) -> Constants:
    """L₁, L₂^♯ and L₃ at every R_i: bounds on the first three derivatives of a head over Ω_ρ.

    Args:
        R: the longest U_i of each head, Float[Tensor, "m"].
        sigma: the activation; |σ‴| ≤ σ₃ is used, which the paper does not assume.

    Returns:
        Three tensors, each Float[Tensor, "m"].

    Raises:
        ValueError: an entry below 0.
    """
    lengths(R)
    return sigma.bounds[1] * R.clamp(min=1), smoothness_of_heads(R, sigma), third_of_heads(R, sigma)


def asymmetries(phi: Parameters, phi0: Parameters) -> tuple[Tensor, Tensor]:
    """p_i = ‖δθ_i + δθ_{i+N}‖ and p′_i = |δc_i − δc_{i+N}| of every pair: 0 where partners move oppositely and are read out alike.

    Args:
        phi: parameters of m heads, m even.
        phi0: the initialisation.

    Returns:
        Two tensors, Float[Tensor, "m/2"].

    Raises:
        ValueError: an odd number of heads; shapes, dtypes or devices differ.
    """
    c, U, W = (2 * block[: phi.m // 2] for block in pairs.parts(phi, phi0)[0].blocks)
    return torch.hypot(U.norm(dim=-1), W.flatten(1).norm(dim=-1)), c.abs()


def travel(eta_tau: float, V0: float, epsilon: float, theta: float) -> float:
    """A bound on Γ from Theorem A: ητε/(1 − θ) + √(ητV₀/(4(1 − θ))).

    Args:
        eta_tau: ητ, at least 0.
        V0: squared distance from the initialisation to the comparator, at least 0.
        epsilon: ε, at least 0.
        theta: ηĀ², at least 0 and below 1.

    Returns:
        The bound.

    Raises:
        ValueError: a negative argument, or ``theta`` of at least 1.
    """
    for name, value in (("eta_tau", eta_tau), ("V0", V0), ("epsilon", epsilon), ("theta", theta)):
        arguments.at_least(name, value, 0.0)
    if theta >= 1:
        raise ValueError(f"theta must be below 1, got {theta!r}")
    return eta_tau * epsilon / (1 - theta) + math.sqrt(eta_tau * V0 / (4 * (1 - theta)))


def drift(R: Tensor, rho: Radii, Gamma: float, sigma: Activation = TANH) -> tuple[Tensor, Tensor]:
    """κ = 4(L₂^♯ r + ρ_cL₁)Γ and κ′ = 4L₁ r Γ at every R_i: p_i ≤ κ_i/m and p′_i ≤ κ′_i/m along the run.

    Args:
        R: the longest U_i of each head, Float[Tensor, "m"].
        rho: (ρ_c, ρ_u, ρ_w), each at least 0; any radii that hold the iterates so far.
        Gamma: Γ, at least 0.
        sigma: the activation.

    Returns:
        κ and κ′, each Float[Tensor, "m"].

    Raises:
        ValueError: an entry, a radius or ``Gamma`` below 0.
    """
    return _drift(constants(R, sigma), radii(rho, 1), arguments.at_least("Gamma", Gamma, 0.0))


def _drift(L: Constants, rho: Radii, Gamma: float) -> tuple[Tensor, Tensor]:
    (L1, L2, _), (c, u, w) = L, rho
    r = math.hypot(u, w)
    return 4 * Gamma * (L2 * r + c * L1), 4 * Gamma * r * L1


def gap_of_a_pair(L: Constants, rho: Radii, kappa: Tensor, kappa_c: Tensor) -> Tensor:
    """⅓L₃r³ + L₂rκ + ρ_c(L₂r² + L₁κ) + κ′L₁r: m² times a bound on a pair's share of |f − f_lin|, where p ≤ κ/m and p′ ≤ κ′/m.

    Args:
        L: L₁, L₂, L₃.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0; r² = ρ_u² + ρ_w².
        kappa: κ, at least 0.
        kappa_c: κ′, at least 0.

    Returns:
        The bound, of the common shape of the tensors.

    Raises:
        ValueError: a radius below 0.
    """
    (L1, L2, L3), (c, u, w) = L, radii(rho, 1)
    r = math.hypot(u, w)
    odd = L3 * r**3 / 3 + L2 * r * kappa
    return odd + c * (L2 * r**2 + L1 * kappa) + kappa_c * L1 * r


def turn_of_a_pair(L: Constants, rho: Radii, nu: Radii, kappa: Tensor, kappa_c: Tensor) -> Tensor:
    """m² times a bound on a pair's share of |e(φ) − e(φ⁽⁰⁾)| for a paired comparator, where p ≤ κ/m and p′ ≤ κ′/m.

    L₃r²(r̃ + ⅔r) + L₂(ν̄_c r² + 2ρ_c r(r̃ + r)) + κ(L₂(r̃ + r) + L₁(ν̄_c + ρ_c)) + κ′L₁(r̃ + r), r̃² = ν̄_u² + ν̄_w².

    Args:
        L: L₁, L₂, L₃.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0; r² = ρ_u² + ρ_w².
        nu: radii ν̄ of the comparator, each at least 0.
        kappa: κ, at least 0.
        kappa_c: κ′, at least 0.

    Returns:
        The bound, of the common shape of the tensors.

    Raises:
        ValueError: a radius below 0.
    """
    (L1, L2, L3), (c, u, w), (nc, nu_u, nu_w) = L, radii(rho, 1), radii(nu, 1)
    r, far = math.hypot(u, w), math.hypot(nu_u, nu_w)
    smooth = L3 * r**2 * (far + 2 * r / 3) + L2 * (nc * r**2 + 2 * c * r * (far + r))
    return smooth + kappa * (L2 * (far + r) + L1 * (nc + c)) + kappa_c * L1 * (far + r)


def gap(R: Tensor, rho: Radii, Gamma: float, sigma: Activation = TANH) -> Tensor:
    """A bound on |f − f_lin| along the run, for all X: (1/2m) · (1/m) Σ_i [⅓L₃r³ + L₂rκ + ρ_c(L₂r² + L₁κ) + κ′L₁r].

    Args:
        R: the longest U_i of each head, Float[Tensor, "m"].
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        Gamma: Γ, at least 0.
        sigma: the activation.

    Returns:
        The bound, a scalar tensor.

    Raises:
        ValueError: an entry, a radius or ``Gamma`` below 0.
    """
    L = constants(R, sigma)
    kappas = _drift(L, radii(rho, 1), arguments.at_least("Gamma", Gamma, 0.0))
    return gap_of_a_pair(L, rho, *kappas).mean() / (2 * lengths(R))


def turn(R: Tensor, rho: Radii, nu: Radii, Gamma: float, sigma: Activation = TANH) -> Tensor:
    """A bound on |e(φ) − e(φ⁽⁰⁾)| along the run, for all X and a paired comparator in Ω_ν̄: of order 1/m.

    (1/2m) · (1/m) Σ_i [L₃r²(r̃ + ⅔r) + L₂(ν̄_c r² + 2ρ_c r(r̃ + r)) + κ(L₂(r̃ + r) + L₁(ν̄_c + ρ_c)) + κ′L₁(r̃ + r)].

    Args:
        R: the longest U_i of each head in Ω_ρ, Float[Tensor, "m"].
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        nu: radii ν̄ of the comparator, each at least 0.
        Gamma: Γ, at least 0.
        sigma: the activation.

    Returns:
        The bound, a scalar tensor.

    Raises:
        ValueError: an entry, a radius or ``Gamma`` below 0.
    """
    L = constants(R, sigma)
    kappas = _drift(L, radii(rho, 1), arguments.at_least("Gamma", Gamma, 0.0))
    return turn_of_a_pair(L, rho, nu, *kappas).mean() / (2 * lengths(R))
