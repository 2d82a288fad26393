"""The neighbourhood Ω_ρ of the initialisation: for each head a ball for c_i, one for U_i, one for W_i."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.kernel_regime.model.parameters import Parameters, difference, plus
from shallowformer.training import balls


def radii(rho: Sequence[float], m: int) -> tuple[float, float, float]:
    """ρ_c/√m, ρ_u/√m, ρ_w/√m: what one head may move. Source: Arda, Cayci, Eryilmaz 2026, Definition 2."""
    root = arguments.count("m", m) ** 0.5
    c, u, w = arguments.triple("rho", rho)
    return c / root, u / root, w / root


def displacement(
    phi: Parameters, phi0: Parameters
) -> tuple[Float[Tensor, " m"], Float[Tensor, " m"], Float[Tensor, " m"]]:
    """|c_i − c_i⁽⁰⁾|, ‖U_i − U_i⁽⁰⁾‖ and ‖W_i − W_i⁽⁰⁾‖_F of every head."""
    c, U, W = (balls.lengths(block) for block in difference(phi, phi0).blocks)
    return c, U, W


def _rounding(phi0: Parameters, rho: Sequence[float]) -> list[Float[Tensor, " m"]]:
    """How far beyond its radius rounding may put each block of a head that was pulled there."""
    return [
        arguments.NORM_ROUNDING * torch.finfo(block.dtype).eps * (balls.lengths(block) + radius)
        for block, radius in zip(phi0.blocks, radii(rho, phi0.m), strict=True)
    ]


def contains(phi: Parameters, phi0: Parameters, rho: Sequence[float], tolerance: float | None = None) -> bool:
    """Whether φ lies in Ω_ρ around φ⁽⁰⁾. Source: Arda, Cayci, Eryilmaz 2026, Definition 2.

    Args:
        tolerance: how far beyond its radius a block may lie; if not given, 64 machine precisions of the numbers that are
            subtracted, so that a projected point is found inside.
    """
    if tolerance is not None:
        arguments.at_least("tolerance", tolerance, 0.0)
    slack = _rounding(phi0, rho) if tolerance is None else [tolerance] * 3
    reached = zip(displacement(phi, phi0), radii(rho, phi0.m), slack, strict=True)
    return all(bool((length <= radius + more).all()) for length, radius, more in reached)


def project(phi: Parameters, phi0: Parameters, rho: Sequence[float]) -> Parameters:
    """The point of Ω_ρ that is nearest to φ: every block outside its ball is pulled back radially.

    Blocks inside their ball are returned bit for bit, so projecting twice changes nothing. Returns: Π(φ).

    Source: Arda, Cayci, Eryilmaz 2026, section 3.3 with Definition 2.
    """
    difference(phi, phi0)
    each = zip(phi.blocks, phi0.blocks, radii(rho, phi0.m), _rounding(phi0, rho), strict=True)
    return Parameters(*(balls.project(*ball)[0] for ball in each))


def adversarial(gradient: Parameters, phi0: Parameters, rho: Sequence[float]) -> Parameters:
    """The point of Ω_ρ where the linear function φ ↦ ⟨gradient, φ − φ⁽⁰⁾⟩ is largest: radial in every block.

    Returns: the maximiser; ``reach`` is the value there.

    Args:
        gradient: with the shapes of ``phi0``; a block of a head that is 0 leaves that block at the centre.
    """
    difference(gradient, phi0)
    return plus(phi0, _scaled(gradient, radii(rho, phi0.m)))


def reach(gradient: Parameters, rho: Sequence[float]) -> Float[Tensor, ""]:
    """The largest value of ⟨gradient, φ − φ⁽⁰⁾⟩ over Ω_ρ: m^{−1/2} Σ_i (ρ_c |g_c| + ρ_u ‖g_U‖ + ρ_w ‖g_W‖_F).

    Args:
        gradient: parameters-shaped, of m heads.
    """
    return sum(
        radius * balls.lengths(block).sum()
        for radius, block in zip(radii(rho, gradient.m), gradient.blocks, strict=True)
    )


def _directions(phi0: Parameters, generator: Generator) -> Parameters:
    return phi0.map(
        lambda block: torch.randn(
            block.shape, generator=generator, dtype=block.dtype, device=generator.device
        ).to(block.device)
    )


def random_interior(phi0: Parameters, rho: Sequence[float], generator: Generator) -> Parameters:
    """A point uniform in Ω_ρ: every block of every head uniform in its ball, independently."""
    bounds = radii(rho, phi0.m)
    direction = _directions(phi0, generator)
    lengths = []
    for block, radius in zip(phi0.blocks, bounds, strict=True):
        uniform = torch.rand(phi0.m, generator=generator, dtype=block.dtype, device=generator.device)
        lengths.append(radius * uniform.to(block.device) ** (phi0.m / block.numel()))
    return plus(phi0, _scaled(direction, lengths))


def random_boundary(phi0: Parameters, rho: Sequence[float], generator: Generator) -> Parameters:
    """A point with every block of every head uniform on its sphere, independently: nothing could move further."""
    return plus(phi0, _scaled(_directions(phi0, generator), radii(rho, phi0.m)))


def on_boundary(direction: Parameters, radius: tuple[float, float, float]) -> Parameters:
    """Scale every block of every head to the largest step that Ω_ρ allows: a point on its boundary, as seen from φ⁽⁰⁾.

    Returns: the perturbation δ with |δc_i| = ρ_c/√m, ‖δU_i‖ = ρ_u/√m, ‖δW_i‖_F = ρ_w/√m.

    Source: Arda, Cayci, Eryilmaz 2026, Definition 2.

    Args:
        direction: any direction, with the blocks of the parameters; a block of a head that is 0 stays 0.
        radius: ρ = (ρ_c, ρ_u, ρ_w), each above 0.
    """
    for k, value in enumerate(radius):
        arguments.positive(f"radius[{k}]", value)
    return _scaled(direction, radii(radius, direction.m))


def _scaled(direction: Parameters, lengths: Sequence[balls.Radius]) -> Parameters:
    """Every block of every head scaled to a length, one for all or one a head; 0 stays 0."""
    each = zip(direction.blocks, lengths, strict=True)
    return Parameters(*(balls.to_length(block, length) for block, length in each))


def longest(phi0: Parameters, rho_u: float) -> Float[Tensor, " m"]:
    """R_i = ‖U_i⁽⁰⁾‖ + ρ_u/√m, the largest ‖U_i‖ in Ω_ρ, head by head. Source: The sharp form of Arda, Cayci, Eryilmaz 2026, Remark 7.

    Args:
        phi0: the centre of Ω_ρ.
    """
    return phi0.U.norm(dim=-1) + arguments.at_least("rho_u", rho_u, 0.0) / phi0.m**0.5
