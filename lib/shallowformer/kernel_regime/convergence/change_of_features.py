"""What the error terms of Theorem 1's proof are bounded by: the paper's change of features, and the joint remainder in its place."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Count, Triple, contract
from shallowformer.formulas import Number
from shallowformer.kernel_regime.bounds import blocks, smoothness
from shallowformer.kernel_regime.convergence import gradient_norms


@dataclass(frozen=True)
class HeadBounds:
    """The paper's bounds for a single head, over Ω_ρ and every X; φ_i is what belongs to head i."""

    reach: float  # (32), on ‖φ̃_i − φ_i‖
    change_theta: float  # (35), on ‖∇_{θ_i}f(φ) − ∇_{θ_i}f(φ⁽⁰⁾)‖
    change_c: float  # (36), on |∇_{c_i}f(φ) − ∇_{c_i}f(φ⁽⁰⁾)|
    gradient: float  # (40), on ‖∇_{φ_i}f(φ)‖

    @property
    def change(self) -> float:
        """(37), on ‖∇_{φ_i}f(φ) − ∇_{φ_i}f(φ⁽⁰⁾)‖: the sum of (35) and (36)."""
        return self.change_theta + self.change_c


@contract
def heads_paper(B: float, rho: Triple, nu: Triple, m: Count, sigma: Activation = TANH) -> HeadBounds:
    """The paper's bounds for each head: of size 1/√m for (32) and (40), of size 1/m for (35) to (37).

    Source: Arda, Cayci, Eryilmaz 2026, equations (32), (35) to (37) and (40).
    """
    length = lambda radii: sum(radius**2 for radius in radii) ** 0.5
    root = m**0.5
    of_theta, of_c = gradient_norms.change_of_a_head(
        smoothness.L1_paper(B, sigma), smoothness.L2_paper(B, sigma), rho
    )
    return HeadBounds(
        reach=(length(rho) + length(nu)) / root,
        change_theta=of_theta / m,
        change_c=of_c / m,
        gradient=gradient_norms.A_paper(B, rho[0], m, sigma) / root,
    )


@contract
def B_cof_paper(B: float, rho: Triple, nu: Triple, m: int, sigma: Activation = TANH) -> float:
    """The paper's bound m^{−1/2} (L₂r + L₁ρ_c + L₁r)(‖ρ‖ + ‖ν̄‖), r² = ρ_u² + ρ_w², on the change of features ⟨∇f(φ) − ∇f(φ⁽⁰⁾), φ̃ − φ⟩.

    It is that of m heads, each with (37) times (32). Source: Arda, Cayci, Eryilmaz 2026, equations (30) to (38).
    """
    each = heads_paper(B, rho, nu, m, sigma)
    return m * each.change * each.reach


@contract
def require_inside(rho: Triple, nu: Triple) -> None:
    """Refuse a mapping that could lead out of the neighbourhood."""
    each = zip("cuw", nu, rho, strict=True)
    for block, norm, radius in each:
        arguments.at_most(f"nu_{block}", norm, f"rho_{block}", radius)


@contract
def B_rem(R: Float[Tensor, " m"], rho: Triple, nu: Triple, sigma: Activation = TANH) -> Float[Tensor, ""]:
    """A bound on the remainder f(φ̃) − f(φ) − ⟨∇f(φ), φ̃ − φ⟩ for φ in Ω_ρ, φ̃ in Ω_ν̄ and ν̄ ≤ ρ, whatever X.

    The head average m^{−1/2} · (1/m) Σ_i [(ν̄_c + ρ_c) σ₁G₁ + ½(1 + ρ_c/√m) G₂] with G₁, G₂ at (R_i; ν̄_u + ρ_u, ν̄_w + ρ_w).

    Args:
        R: the largest ‖U_i‖ of each head in Ω_ρ (``region.longest``).
    """
    return head_remainder(R, blocks.number_of_heads(R), rho, nu, sigma).mean()


@contract
def B_rem_closed(R: Number, m: int, rho: Triple, nu: Triple, sigma: Activation = TANH) -> Number:
    """The closed form of ``B_rem``, and at least that, where R̄ is the root mean square of the R_i; ν̄ ≤ ρ."""
    return head_remainder(R, m, rho, nu, sigma, closed=True)


@contract
def head_remainder(
    R: Number, m: int, rho: Triple, nu: Triple, sigma: Activation = TANH, closed: bool = False
) -> Number:
    """What a head adds to ``B_rem``, times m: half of its curvature along ρ + ν̄."""
    require_inside(rho, nu)
    step = tuple(a + b for a, b in zip(rho, nu, strict=True))
    loud = gradient_norms.loudest(rho[0], m)
    return blocks.head_curvature(R, step, step, loud, sigma, closed) / (2 * m**0.5)
