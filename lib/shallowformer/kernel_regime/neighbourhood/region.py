"""The neighbourhood Ω_ρ of the initialisation: for each head a ball for c_i, one for U_i, one for W_i. Source: Definition 2, section 3.3.

ρ = (ρ_c, ρ_u, ρ_w); φ⁽⁰⁾ is the centre, and every point has its shapes.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, NonNegative, Triple, contract
from shallowformer.kernel_regime.model.parameters import Parameters, difference, plus
from shallowformer.training import balls

Lengths = tuple[Float[Tensor, " m"], Float[Tensor, " m"], Float[Tensor, " m"]]


@contract
def radii(rho: Triple, m: Count) -> tuple[float, float, float]:
    """ρ_c/√m, ρ_u/√m, ρ_w/√m: what one head may move."""
    return tuple(radius / m**0.5 for radius in rho)


def displacement(phi: Parameters, phi0: Parameters) -> Lengths:
    """|c_i − c_i⁽⁰⁾|, ‖U_i − U_i⁽⁰⁾‖ and ‖W_i − W_i⁽⁰⁾‖_F of every head."""
    return tuple(balls.lengths(block) for block in difference(phi, phi0).blocks)


def _rounding(phi0: Parameters, rho: Sequence[float]) -> list[Float[Tensor, " m"]]:
    """How far beyond its radius rounding may put each block of a head that was pulled there."""
    return [
        arguments.NORM_ROUNDING * torch.finfo(block.dtype).eps * (balls.lengths(block) + radius)
        for block, radius in zip(phi0.blocks, radii(rho, phi0.m), strict=True)
    ]


@contract
def contains(phi: Parameters, phi0: Parameters, rho: Triple, tolerance: NonNegative | None = None) -> bool:
    """Whether φ lies in Ω_ρ, up to a tolerance: 64 machine precisions of what is subtracted, so that a projected point is found inside."""
    slack = _rounding(phi0, rho) if tolerance is None else [tolerance] * 3
    reached = zip(displacement(phi, phi0), radii(rho, phi0.m), slack, strict=True)
    return all(bool((length <= radius + more).all()) for length, radius, more in reached)


@contract
def project(phi: Parameters, phi0: Parameters, rho: Triple) -> Parameters:
    """Π(φ): every block outside its ball is pulled back radially; one inside is returned bit for bit, so that Π∘Π = Π."""
    difference(phi, phi0)
    each = zip(phi.blocks, phi0.blocks, radii(rho, phi0.m), _rounding(phi0, rho), strict=True)
    return Parameters(*(balls.project(*ball)[0] for ball in each))


@contract
def adversarial(gradient: Parameters, phi0: Parameters, rho: Triple) -> Parameters:
    """The point of Ω_ρ where φ ↦ ⟨gradient, φ − φ⁽⁰⁾⟩ is largest: radial in every block; a gradient of 0 leaves its block at the centre."""
    difference(gradient, phi0)
    return plus(phi0, _scaled(gradient, radii(rho, phi0.m)))


@contract
def reach(gradient: Parameters, rho: Triple) -> Float[Tensor, ""]:
    """The value there: m^{−1/2} Σ_i (ρ_c |g_c| + ρ_u ‖g_U‖ + ρ_w ‖g_W‖_F)."""
    each = zip(radii(rho, gradient.m), gradient.blocks, strict=True)
    return sum(radius * balls.lengths(block).sum() for radius, block in each)


def _directions(phi0: Parameters, generator: Generator) -> Parameters:
    draw = lambda block: torch.randn(
        block.shape, generator=generator, dtype=block.dtype, device=generator.device
    )
    return phi0.map(lambda block: draw(block).to(block.device))


@contract
def random_interior(phi0: Parameters, rho: Triple, generator: Generator) -> Parameters:
    """A point uniform in Ω_ρ: every block of every head uniform in its ball, independently."""
    direction, lengths = _directions(phi0, generator), []
    for block, radius in zip(phi0.blocks, radii(rho, phi0.m), strict=True):
        uniform = torch.rand(phi0.m, generator=generator, dtype=block.dtype, device=generator.device)
        lengths.append(radius * uniform.to(block.device) ** (phi0.m / block.numel()))
    return plus(phi0, _scaled(direction, lengths))


@contract
def random_boundary(phi0: Parameters, rho: Triple, generator: Generator) -> Parameters:
    """A point with every block of every head uniform on its sphere, independently: nothing could move further."""
    return plus(phi0, _scaled(_directions(phi0, generator), radii(rho, phi0.m)))


def on_boundary(direction: Parameters, radius: tuple[float, float, float]) -> Parameters:
    """The perturbation δ along a direction with |δc_i| = ρ_c/√m, ‖δU_i‖ = ρ_u/√m, ‖δW_i‖_F = ρ_w/√m, ρ above 0; a block of 0 stays 0."""
    for k, value in enumerate(radius):
        arguments.positive(f"radius[{k}]", value)
    return _scaled(direction, radii(radius, direction.m))


def _scaled(direction: Parameters, lengths: Sequence[balls.Radius]) -> Parameters:
    """Every block of every head scaled to a length, one for all or one a head; 0 stays 0."""
    return Parameters(*(balls.to_length(*each) for each in zip(direction.blocks, lengths, strict=True)))


@contract
def longest(phi0: Parameters, rho_u: NonNegative) -> Float[Tensor, " m"]:
    """R_i = ‖U_i⁽⁰⁾‖ + ρ_u/√m, the largest ‖U_i‖ in Ω_ρ, head by head: the sharp form of Remark 7."""
    return phi0.U.norm(dim=-1) + rho_u / phi0.m**0.5
