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
from shallowformer.kernel_regime.linearisation import smoothness_of_heads, third_of_heads
from shallowformer.kernel_regime.neighbourhood import radii
from shallowformer.kernel_regime.parameters import Parameters
from shallowformer.kernel_regime.width import lengths

Radii = Sequence[float]


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
    lengths(R)
    c, u, w = radii(rho, 1)
    arguments.at_least("Gamma", Gamma, 0.0)
    r, L1 = math.hypot(u, w), sigma.bounds[1] * R.clamp(min=1)
    return 4 * Gamma * (smoothness_of_heads(R, sigma) * r + c * L1), 4 * Gamma * r * L1


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
    m, (c, u, w) = lengths(R), radii(rho, 1)
    r, L1, L2 = math.hypot(u, w), sigma.bounds[1] * R.clamp(min=1), smoothness_of_heads(R, sigma)
    kappa, kappa_c = drift(R, rho, Gamma, sigma)
    odd = third_of_heads(R, sigma) * r**3 / 3 + L2 * r * kappa
    even = c * (L2 * r**2 + L1 * kappa) + kappa_c * L1 * r
    return (odd + even).mean() / (2 * m)


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
    m, (c, u, w), (nc, nu_u, nw) = lengths(R), radii(rho, 1), radii(nu, 1)
    r, far = math.hypot(u, w), math.hypot(nu_u, nw)
    L1, L2 = sigma.bounds[1] * R.clamp(min=1), smoothness_of_heads(R, sigma)
    kappa, kappa_c = drift(R, rho, Gamma, sigma)
    smooth = third_of_heads(R, sigma) * r**2 * (far + 2 * r / 3) + L2 * (nc * r**2 + 2 * c * r * (far + r))
    apart = kappa * (L2 * (far + r) + L1 * (nc + c)) + kappa_c * L1 * (far + r)
    return (smooth + apart).mean() / (2 * m)
