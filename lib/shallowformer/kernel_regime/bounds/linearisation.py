"""Lemma 3: bounds on how far the model is from its linear model, the paper's and sharper ones.

``B_lin_paper`` and ``B_lin_joint`` take a bound B on every ‖U_i‖ over Ω_ρ, as the paper does; ``B_lin`` and ``B_lin_pairs``
take the longest U_i that each head can reach, ``region.longest(phi0, rho[1])``, and average over heads; ``B_lin_closed`` takes their root mean
square.
"""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.formulas import Number
from shallowformer.kernel_regime.bounds import blocks, smoothness
from shallowformer.kernel_regime.neighbourhood import norm_event


def B_lin_paper(B: float, rho: Sequence[float], m: int, sigma: Activation = TANH) -> float:
    """The paper's bound on |f − f_lin| over Ω_ρ: m^{−1/2}(L₁ρ_c r + L₂r²) with r² = ρ_u² + ρ_w².

    Source: Arda, Cayci, Eryilmaz 2026, Lemma 3.
    """
    return _joint(smoothness.L1_paper(B, sigma), 2 * smoothness.L2_paper(B, sigma), rho, m)


def B_lin_joint(B: float, rho: Sequence[float], m: int, sigma: Activation = TANH) -> float:
    """The form of the paper's bound with Taylor's factor ½ and the sharper constants: m^{−1/2}(L₁ρ_c r + ½L₂^♯r²).

    Args:
        B: bound on every ‖U_i‖ over Ω_ρ, at least 0.
    """
    return _joint(smoothness.L1(B, sigma), smoothness.L2(B, sigma), rho, m)


def _joint(L1: float, L2: float, rho: Sequence[float], m: int) -> float:
    """m^{−1/2}(L₁ρ_c r + ½L₂r²)."""
    c, u, w = arguments.triple("rho", rho)
    square = u**2 + w**2
    return (L1 * c * square**0.5 + L2 * square / 2) / arguments.count("m", m) ** 0.5


def head_bound(R: Number, rho: Sequence[float], sigma: Activation = TANH, closed: bool = False) -> Number:
    """The bound b = σ₁ρ_cG₁(R) + ½G₂(R), m^{3/2} times what a head can add to |f − f_lin| over Ω_ρ: half of its curvature along ρ.

    Returns: the bound, of the kind of ``R``.

    Args:
        R: bound on ‖U‖ of the head in Ω_ρ, at least 0.
        closed: with the closed forms of G₁ and G₂.
    """
    rho = arguments.triple("rho", rho)
    return blocks.head_curvature(R, rho, rho, 1.0, sigma, closed) / 2


def B_lin(R: Float[Tensor, " m"], rho: Sequence[float], sigma: Activation = TANH) -> Float[Tensor, ""]:
    """The head average m^{−1/2} · (1/m) Σ_i [σ₁ρ_c G₁(R_i) + ½G₂(R_i)]: a bound on |f − f_lin| over Ω_ρ, whatever X.

    Args:
        R: the largest ‖U_i‖ of each head in Ω_ρ (``region.longest``), or any bounds on them; m entries B give the bound with
            the supremum over heads, block by block.
    """
    return head_bound(R, rho, sigma).mean() / blocks.number_of_heads(R) ** 0.5


def B_lin_closed(R: Number, m: int, rho: Sequence[float], sigma: Activation = TANH) -> Number:
    """m^{−1/2}[σ₁ρ_cγ̄ + ½σ₂γ̄² + σ₁(ρ_uρ_w + ½κρ_w²R̄)], γ̄² = ρ_u² + ρ_w²R̄²: at least ``B_lin`` where R̄ is the root mean square of the R_i.

    Returns: the bound, of the kind of ``R``.
    """
    return head_bound(R, rho, sigma, closed=True) / arguments.count("m", m) ** 0.5


def B_lin_no_log(m: int, d: int, rho: Sequence[float], x: float, sigma: Activation = TANH) -> float:
    """A bound on ``B_lin`` that holds with probability 1 − ½ exp(−x) over the initialisation, and has no logarithm of m.

    Returns: ``B_lin_closed`` at R̄ = ``norm_event.root_mean_square_bound``.
    """
    _, rho_u, _ = arguments.triple("rho", rho)
    return B_lin_closed(norm_event.root_mean_square_bound(m, d, x, rho_u), m, rho, sigma)


def B_lin_pairs(R: Float[Tensor, " m"], rho: Sequence[float], sigma: Activation = TANH) -> Float[Tensor, ""]:
    """(1/m) · (1/m) Σ_i [G₃(R_i)/6 + ½ρ_c G₂(R_i)]: a bound on |f − f_lin| where partners move oppositely.

    Args:
        R: the largest ‖U_i‖ of each head.
        sigma: the activation; |σ‴| ≤ σ₃ is used, which the paper does not assume.
    """
    m = blocks.number_of_heads(R)
    c, u, w = arguments.triple("rho", rho)
    return (blocks.G3(R, u, w, sigma) / 6 + c * blocks.G2(R, u, w, sigma) / 2).mean() / m
