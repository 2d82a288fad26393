"""How large the gradients of f are over Ω_ρ, and how far they change: the paper's bounds, and those of Theorems B and C.

R holds the longest U_i that each head can reach in Ω_ρ, ``region.longest``. The bounds without log m need nothing drawn. Proofs: the
chapters *Theorem 1, line by line* and *No log n, no log m, no d*.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Count, NonNegative, Triple, contract
from shallowformer.formulas import Number
from shallowformer.kernel_regime.bounds import blocks, smoothness
from shallowformer.kernel_regime.neighbourhood import norm_event


@contract
def loudest(rho_c: NonNegative, m: Count) -> float:
    """1 + ρ_c/√m: how large a readout can be in Ω_ρ."""
    return 1 + rho_c / m**0.5


@contract
def A_paper(B: float, rho_c: NonNegative, m: int, sigma: Activation = TANH) -> float:
    """The paper's bound A_m = σ₀ + (1 + ρ_c/√m) L₁ on ‖∇f(X; φ)‖ over Ω_ρ. Source: Arda, Cayci, Eryilmaz 2026, equations (40) and (41)."""
    return sigma.bounds[0] + loudest(rho_c, m) * smoothness.L1_paper(B, sigma)


@contract
def A(R: Float[Tensor, " m"], rho_c: NonNegative, sigma: Activation = TANH) -> Float[Tensor, ""]:
    """The head average [(1/m) Σ_i (σ₀² + (1 + ρ_c/√m)² σ₁² max(1, R_i²))]^{1/2}: a bound on ‖∇f(X; φ)‖ over Ω_ρ.

    For tanh ``gradient_over_heads`` does without σ₀².

    Args:
        R: the longest U_i that each head can reach, ``region.longest``.
    """
    return (sigma.bounds[0] ** 2 + _of_theta(R, rho_c, sigma)).sqrt()


def _of_theta(R: Float[Tensor, " m"], rho_c: float, sigma: Activation) -> Float[Tensor, ""]:
    """(1 + ρ_c/√m)² (1/m) Σ_i L₁(R_i)²: the share of the blocks U and W in the squared gradient."""
    loud = loudest(rho_c, blocks.number_of_heads(R))
    return loud**2 * smoothness.L1(R, sigma).square().mean()


def _with_readouts(of_theta: Number, sigma: Activation) -> Number:
    """The share of the readouts added: none for tanh, because tanh² + k²(1 − tanh²)² ≤ k² for k ≥ 1."""
    return of_theta if sigma.name == TANH.name else sigma.bounds[0] ** 2 + of_theta


@contract
def gradient_over_heads(
    R: Float[Tensor, " m"], rho_c: NonNegative, sigma: Activation = TANH
) -> Float[Tensor, ""]:
    """(1/m) Σ_i [σ₀² + (1 + ρ_c/√m)² σ₁² max(1, R_i²)], without σ₀² for tanh: a bound on ‖∇f(X; φ)‖² over Ω_ρ and all X (Theorem B).

    Args:
        R: the longest U_i that each head can reach, ``region.longest``.
    """
    return _with_readouts(_of_theta(R, rho_c, sigma), sigma)


@contract
def gradient_no_log(m: int, d: int, rho: Triple, x: float, sigma: Activation = TANH) -> float:
    """A bound on ``gradient_over_heads`` that holds with probability 1 − ½ exp(−x) over the initialisation; no log m.

    σ₀² + (1 + ρ_c/√m)² σ₁² (1 + R̄²), without σ₀² for tanh; R̄ is ``norm_event.root_mean_square_bound``.
    """
    c, u, _ = rho
    R = norm_event.root_mean_square_bound(m, d, x, u)
    return _with_readouts((loudest(c, m) * sigma.bounds[1]) ** 2 * (1 + R**2), sigma)


def gradient_at_start(m: int, x: float, sigma: Activation = TANH) -> float:
    """A bound on (1/n) Σ_j ‖∇f(X⁽ʲ⁾; φ⁽⁰⁾)‖² that fails with probability at most exp(−x); no d (Theorem C).

    σ₀² + σ₁²(1 + 2√(2x/m) + 4x/m); for tanh the smaller of that and 1 + 2√(3x/m) + 4x/m.
    """
    s0, s1 = sigma.bounds[:2]
    bound = s0**2 + s1**2 * norm_event.mean_square_bound(m, 1, x)
    return min(bound, 1 + 2 * (3 * x / m) ** 0.5 + 4 * x / m) if sigma.name == TANH.name else bound


@contract
def change_of_a_head(L1: Number, L2: Number, rho: Triple) -> tuple[Number, Number]:
    """L₂r + ρ_cL₁ and L₁r, r² = ρ_u² + ρ_w²: m times bounds on how far ∇_{θ_i}f and ∇_{c_i}f change over Ω_ρ.

    L₁ and L₂ bound a head's first and second derivatives. Source: Arda, Cayci, Eryilmaz 2026, equations (35) and (36), with their constants.
    """
    c, u, w = rho
    r = (u**2 + w**2) ** 0.5
    return L2 * r + c * L1, L1 * r


@contract
def gradient_drift(
    R: Float[Tensor, " m"], rho: Triple, sigma: Activation = TANH, L2: Float[Tensor, " m"] | None = None
) -> Float[Tensor, ""]:
    """A bound on ‖∇f(X; φ) − ∇f(X; φ⁽⁰⁾)‖ over Ω_ρ and all X (Theorem C); L₂ is ``smoothness.L2`` of R, where it is at hand.

    m^{−1/2} ((1/m) Σ_i [(L₂^♯(R_i) r + ρ_c L₁(R_i))² + σ₁²G₁(R_i)²])^{1/2}, r² = ρ_u² + ρ_w², R_i of ``region.longest``.
    """
    m = blocks.number_of_heads(R)
    _, u, w = rho
    L2 = smoothness.L2(R, sigma) if L2 is None else L2
    of_theta, _ = change_of_a_head(smoothness.L1(R, sigma), L2, rho)
    return torch.hypot(of_theta, sigma.bounds[1] * blocks.G1(R, u, w)).square().mean().div(m).sqrt()
