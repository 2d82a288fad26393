"""Lemma 3: bounds on how far the model is from its linear model, the paper's and sharper ones.

``B_lin_paper`` and ``B_lin_joint`` take a bound B on every ‖U_i‖ over Ω_ρ, the paper's B_{U,m}; ``B_lin`` and ``B_lin_pairs`` the longest
U_i that each head can reach, ``region.longest(phi0, rho[1])``, or any bounds on them, and average over heads (m entries B give the bound
with the supremum over heads); ``B_lin_closed`` takes their root mean square R̄. ρ = (ρ_c, ρ_u, ρ_w).
"""

from jaxtyping import Float
from torch import Tensor

from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Count, Triple, contract
from shallowformer.formulas import Number
from shallowformer.kernel_regime.bounds import blocks, smoothness
from shallowformer.kernel_regime.neighbourhood import norm_event


@contract
def B_lin_paper(B: float, rho: Triple, m: Count, sigma: Activation = TANH) -> float:
    """The paper's bound on |f − f_lin| over Ω_ρ: m^{−1/2}(L₁ρ_c r + L₂r²) with r² = ρ_u² + ρ_w². Source: Lemma 3."""
    return _joint(smoothness.L1_paper(B, sigma), 2 * smoothness.L2_paper(B, sigma), rho, m)


@contract
def B_lin_joint(B: float, rho: Triple, m: Count, sigma: Activation = TANH) -> float:
    """The same with Taylor's factor ½ and the sharper constants: m^{−1/2}(L₁ρ_c r + ½L₂^♯r²)."""
    return _joint(smoothness.L1(B, sigma), smoothness.L2(B, sigma), rho, m)


@contract
def _joint(L1: float, L2: float, rho: Triple, m: Count) -> float:
    """m^{−1/2}(L₁ρ_c r + ½L₂r²)."""
    c, u, w = rho
    square = u**2 + w**2
    return (L1 * c * square**0.5 + L2 * square / 2) / m**0.5


@contract
def head_bound(R: Number, rho: Triple, sigma: Activation = TANH, closed: bool = False) -> Number:
    """The bound b = σ₁ρ_cG₁(R) + ½G₂(R), m^{3/2} times what a head can add to |f − f_lin| over Ω_ρ: half of its curvature along ρ."""
    return blocks.head_curvature(R, rho, rho, 1.0, sigma, closed) / 2


@contract
def B_lin(R: Float[Tensor, " m"], rho: Triple, sigma: Activation = TANH) -> Float[Tensor, ""]:
    """The head average m^{−1/2} · (1/m) Σ_i [σ₁ρ_c G₁(R_i) + ½G₂(R_i)]: a bound on |f − f_lin| over Ω_ρ, whatever X."""
    return head_bound(R, rho, sigma).mean() / blocks.number_of_heads(R) ** 0.5


@contract
def B_lin_closed(R: Number, m: Count, rho: Triple, sigma: Activation = TANH) -> Number:
    """m^{−1/2}[σ₁ρ_cγ̄ + ½σ₂γ̄² + σ₁(ρ_uρ_w + ½κρ_w²R̄)], γ̄² = ρ_u² + ρ_w²R̄²: at least ``B_lin``."""
    return head_bound(R, rho, sigma, closed=True) / m**0.5


@contract
def B_lin_no_log(m: int, d: int, rho: Triple, x: float, sigma: Activation = TANH) -> float:
    """``B_lin_closed`` at R̄ = ``norm_event.root_mean_square_bound``: with probability 1 − ½ exp(−x) at least ``B_lin``; no logarithm of m."""
    return B_lin_closed(norm_event.root_mean_square_bound(m, d, x, rho[1]), m, rho, sigma)


@contract
def B_lin_pairs(R: Float[Tensor, " m"], rho: Triple, sigma: Activation = TANH) -> Float[Tensor, ""]:
    """(1/m) · (1/m) Σ_i [G₃(R_i)/6 + ½ρ_c G₂(R_i)]: where partners move oppositely; |σ‴| ≤ σ₃ is no assumption of the paper."""
    m, (c, u, w) = blocks.number_of_heads(R), rho
    return (blocks.G3(R, u, w, sigma) / 6 + c * blocks.G2(R, u, w, sigma) / 2).mean() / m
