"""The neighbourhood Ω_ρ of the initialisation: for each head a ball for c_i, one for U_i, one for W_i."""

import math
from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.kernel_regime.pairs import difference
from shallowformer.kernel_regime.parameters import Parameters


def radii(rho: Sequence[float], m: int) -> tuple[float, float, float]:
    """ρ_c/√m, ρ_u/√m, ρ_w/√m: what one head may move.

    Args:
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        m: number of heads.

    Returns:
        The three radii.

    Raises:
        ValueError: not three finite numbers of at least 0, or ``m`` below 1.

    Source:
        Arda, Cayci, Eryilmaz 2026, Definition 2.
    """
    arguments.count("m", m)
    wrong = ValueError(f"rho must be three finite numbers of at least 0, (rho_c, rho_u, rho_w), got {rho!r}")
    try:
        values = tuple(float(value) for value in rho)
    except (TypeError, ValueError):
        raise wrong from None
    if len(values) != 3 or not all(value >= 0 and math.isfinite(value) for value in values):
        raise wrong
    return values[0] / m**0.5, values[1] / m**0.5, values[2] / m**0.5


def _lengths(block: Tensor) -> Tensor:
    """Norm of each head's part, scaled so that large entries do not overflow when squared: [m]."""
    flat = block.flatten(1) if block.ndim > 1 else block[:, None]
    top = flat.abs().amax(1).clamp(min=torch.finfo(block.dtype).tiny)
    return top * torch.linalg.vector_norm(flat / top[:, None], dim=1)


def _per_head(values: Tensor, block: Tensor) -> Tensor:
    return values.reshape(-1, *[1] * (block.ndim - 1))


def displacement(phi: Parameters, phi0: Parameters) -> tuple[Tensor, Tensor, Tensor]:
    """|c_i − c_i⁽⁰⁾|, ‖U_i − U_i⁽⁰⁾‖ and ‖W_i − W_i⁽⁰⁾‖_F of every head.

    Args:
        phi: parameters of m heads.
        phi0: the centre, with the same shapes.

    Returns:
        Three tensors, each Float[Tensor, "m"].

    Raises:
        ValueError: shapes, dtypes or devices differ.
    """
    c, U, W = (_lengths(block) for block in difference(phi, phi0).blocks)
    return c, U, W


def _inside(phi: Parameters, phi0: Parameters, rho: Sequence[float], tolerance: float | None) -> list[Tensor]:
    """Which blocks of which heads lie in their balls: three tensors Bool[Tensor, "m"]."""
    if tolerance is not None:
        arguments.at_least("tolerance", tolerance, 0.0)
    found = []
    for length, block, radius in zip(displacement(phi, phi0), phi0.blocks, radii(rho, phi0.m), strict=True):
        rounding = arguments.NORM_ROUNDING * torch.finfo(block.dtype).eps * (_lengths(block) + radius)
        found.append(length <= radius + (rounding if tolerance is None else tolerance))
    return found


def contains(phi: Parameters, phi0: Parameters, rho: Sequence[float], tolerance: float | None = None) -> bool:
    """Whether φ lies in Ω_ρ around φ⁽⁰⁾.

    Args:
        phi: parameters of m heads.
        phi0: the centre, with the same shapes.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        tolerance: how far beyond its radius a block may lie; if not given, 64 machine precisions of the numbers that are
            subtracted, so that a projected point is found inside.

    Returns:
        The answer.

    Raises:
        ValueError: shapes, dtypes or devices differ; a negative radius or tolerance.

    Source:
        Arda, Cayci, Eryilmaz 2026, Definition 2.
    """
    return all(bool(inside.all()) for inside in _inside(phi, phi0, rho, tolerance))


def project(phi: Parameters, phi0: Parameters, rho: Sequence[float]) -> Parameters:
    """The point of Ω_ρ that is nearest to φ: every block outside its ball is pulled back radially.

    Blocks inside their ball are returned bit for bit, so projecting twice changes nothing.

    Args:
        phi: parameters of m heads.
        phi0: the centre, with the same shapes.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.

    Returns:
        The projection Π(φ).

    Raises:
        ValueError: shapes, dtypes or devices differ; a negative radius.

    Source:
        Arda, Cayci, Eryilmaz 2026, section 3.3 with Definition 2.
    """
    blocks = []
    for block, centre, length, inside, radius in zip(
        phi.blocks,
        phi0.blocks,
        displacement(phi, phi0),
        _inside(phi, phi0, rho, None),
        radii(rho, phi0.m),
        strict=True,
    ):
        shrink = radius / torch.where(inside, 1.0, length)
        pulled = centre + _per_head(shrink, block) * (block - centre)
        blocks.append(torch.where(_per_head(inside, block), block, pulled))
    return Parameters(*blocks)


def _towards(direction: Parameters, phi0: Parameters, scale: list[Tensor]) -> Parameters:
    """φ⁽⁰⁾ plus, in every block of every head, a vector of the given length along ``direction``; 0 where that is 0."""
    blocks = []
    for block, centre, lengths in zip(direction.blocks, phi0.blocks, scale, strict=True):
        norm = _lengths(block)
        factor = torch.where(norm > 0, lengths / torch.where(norm > 0, norm, 1.0), 0.0)
        blocks.append(centre + _per_head(factor, block) * block)
    return Parameters(*blocks)


def adversarial(gradient: Parameters, phi0: Parameters, rho: Sequence[float]) -> Parameters:
    """The point of Ω_ρ where the linear function φ ↦ ⟨gradient, φ − φ⁽⁰⁾⟩ is largest: radial in every block.

    Args:
        gradient: with the shapes of ``phi0``; a block of a head that is 0 leaves that block at the centre.
        phi0: the centre.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.

    Returns:
        The maximiser; ``reach`` is the value there.

    Raises:
        ValueError: shapes, dtypes or devices differ; a negative radius.
    """
    difference(gradient, phi0)
    scale = [torch.full_like(phi0.c, radius) for radius in radii(rho, phi0.m)]
    return _towards(gradient, phi0, scale)


def reach(gradient: Parameters, rho: Sequence[float]) -> Tensor:
    """The largest value of ⟨gradient, φ − φ⁽⁰⁾⟩ over Ω_ρ: m^{−1/2} Σ_i (ρ_c |g_c| + ρ_u ‖g_U‖ + ρ_w ‖g_W‖_F).

    Args:
        gradient: parameters-shaped, of m heads.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.

    Returns:
        The value, a scalar tensor.

    Raises:
        ValueError: a negative radius.
    """
    return sum(
        radius * _lengths(block).sum()
        for radius, block in zip(radii(rho, gradient.m), gradient.blocks, strict=True)
    )


def _directions(phi0: Parameters, generator: Generator) -> Parameters:
    return phi0.map(
        lambda block: torch.randn(
            block.shape, generator=generator, dtype=block.dtype, device=generator.device
        ).to(block.device)
    )


def random_interior(phi0: Parameters, rho: Sequence[float], generator: Generator) -> Parameters:
    """A point uniform in Ω_ρ: every block of every head uniform in its ball, independently.

    Args:
        phi0: the centre.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        generator: source of randomness.

    Returns:
        The point.

    Raises:
        ValueError: a negative radius.
    """
    bounds = radii(rho, phi0.m)
    direction = _directions(phi0, generator)
    scale = []
    for block, radius in zip(phi0.blocks, bounds, strict=True):
        uniform = torch.rand(phi0.m, generator=generator, dtype=block.dtype, device=generator.device)
        scale.append(radius * uniform.to(block.device) ** (phi0.m / block.numel()))
    return _towards(direction, phi0, scale)


def random_boundary(phi0: Parameters, rho: Sequence[float], generator: Generator) -> Parameters:
    """A point with every block of every head uniform on its sphere, independently: nothing could move further.

    Args:
        phi0: the centre.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        generator: source of randomness.

    Returns:
        The point.

    Raises:
        ValueError: a negative radius.
    """
    scale = [torch.full_like(phi0.c, radius) for radius in radii(rho, phi0.m)]
    return _towards(_directions(phi0, generator), phi0, scale)
