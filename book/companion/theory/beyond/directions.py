"""The neighbourhood Ω_ρ of any architecture, and ways to its boundary: every unit of a block with k units moves by at most ρ/√k."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Generator, Tensor
from torch.func import grad

from companion.theory.beyond.architecture import KINDS, Architecture, Blocks, gaussian
from companion.theory.beyond.tangents import gap
from shallowformer.training import autograd, balls, points


def radius(name: str, block: Float[Tensor, "k ..."], rho: Sequence[float]) -> float:
    """ρ/√k: how far a unit of the block of that name, with k units, may move."""
    return rho[KINDS[name[0]]] / len(block) ** 0.5


def on_boundary(direction: Blocks, rho: Sequence[float]) -> Blocks:
    """Every unit of every block scaled to its radius; 0 stays 0."""
    return {name: balls.to_length(block, radius(name, block, rho)) for name, block in direction.items()}


def projection(nowhere: Blocks, rho: Sequence[float]) -> balls.Balls:
    """The projection of displacements on those within Ω_ρ: what is inside stays, all else is pulled back radially.

    Args:
        nowhere: no displacement, 0 in every block.
    """
    return balls.Balls(nowhere, [radius(name, block, rho) for name, block in nowhere.items()])


def extent(delta: Blocks) -> dict[str, float]:
    """√k times the longest displacement of a unit, block by block: in the units of ρ."""
    return {name: float(balls.lengths(block).max()) * len(block) ** 0.5 for name, block in delta.items()}


def random_boundary(phi0: Blocks, rho: Sequence[float], generator: Generator) -> Blocks:
    """Every unit's displacement uniform on its sphere."""
    return on_boundary(
        {
            name: gaussian(*block.shape, generator=generator, dtype=block.dtype)
            for name, block in phi0.items()
        },
        rho,
    )


def aligned(model: Architecture, X: Float[Tensor, "n T d"], phi0: Blocks, rho: Sequence[float]) -> Blocks:
    """Head-aligned δ, on the boundary of Ω_ρ: every unit uphill on the sum of outputs with all readouts c set to 1, and c itself up."""
    agreeing = {**phi0, "c": torch.ones_like(phi0["c"])}
    uphill = autograd.pull_back(model.on(X), agreeing, torch.ones_like(model.outputs(X, phi0)))
    return on_boundary({**uphill, "c": torch.ones_like(phi0["c"])}, rho)


def adversarial(
    model: Architecture, x: Float[Tensor, "1 T d"], phi0: Blocks, rho: Sequence[float], steps: int = 40
) -> tuple[Blocks, Float[Tensor, ""]]:
    """A displacement on the boundary of Ω_ρ that makes f − f_lin large at the last output of one input.

    From the head-aligned one, every unit turns half-way towards its gradient, again and again; the best point counts.
    Returns: the displacement and the gap there, a lower bound on the supremum over Ω_ρ.
    """
    error = lambda delta: gap(model, x, phi0, delta).flatten()[-1]
    uphill = grad(error)
    delta = aligned(model, x, phi0, rho)
    best, value = delta, error(delta)
    for _ in range(steps):
        towards = on_boundary(uphill(delta), rho)
        delta = on_boundary(points.plus(delta, towards), rho)
        now = error(delta)
        if now > value:
            best, value = delta, now
    return best, value
