"""Parameters φ = (c, U, W) of the model: random ones, random ones with diagonal W, and the symmetric initialisation."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, Even, contract
from shallowformer.training import points


@dataclass(frozen=True)
class Parameters:
    """Parameters φ = (φ_1, …, φ_m), φ_i = (c_i, U_i, W_i), of m heads. Source: Arda, Cayci, Eryilmaz 2026, section 3.2."""

    c: Float[Tensor, " m"]  # readout
    U: Float[Tensor, "m d"]  # feed-forward vectors
    W: Float[Tensor, "m d d"]  # attention matrices

    def __post_init__(self) -> None:
        """Check that the blocks fit together."""
        arguments.floating("W", self.W, "m d d")
        m, d, _ = self.W.shape
        arguments.shape("W", self.W, (m, d, d), "[m, d, d]")
        arguments.shape("U", arguments.floating("U", self.U, "m d"), (m, d), "[m, d] as in W")
        arguments.shape("c", arguments.floating("c", self.c, "m"), (m,), "[m] as in W")
        arguments.same_kind("W", self.W, c=self.c, U=self.U)

    @property
    def m(self) -> int:
        """Number of heads."""
        return self.W.shape[0]

    @property
    def d(self) -> int:
        """Dimension of a token."""
        return self.W.shape[1]

    @property
    def blocks(self) -> tuple[Float[Tensor, " m"], Float[Tensor, "m d"], Float[Tensor, "m d d"]]:
        """(c, U, W)."""
        return self.c, self.U, self.W

    def map(self, function, *others: "Parameters") -> "Parameters":
        """Apply a function, tensors → tensor of the same shape, to each block, together with the same block of others."""
        return Parameters(*points.mapped(function, self.blocks, *(other.blocks for other in others)))


@contract
def random(m: Count, d: Count, generator: Generator, dtype: torch.dtype = torch.float64) -> Parameters:
    """Parameters in general position: every entry an independent standard Gaussian, heads unpaired."""
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=dtype, device=generator.device)
    return Parameters(c=draw(m), U=draw(m, d), W=draw(m, d, d))


def diagonal(m: int, d: int, generator: Generator, dtype: torch.dtype = torch.float64) -> Parameters:
    """As ``random``, with the same c and U from the same generator, but attention matrices keep their diagonal only.

    Source: The heads of the teacher in the code released with Arda, Cayci, Eryilmaz 2026.
    """
    full = random(m, d, generator, dtype)
    return Parameters(full.c, full.U, torch.diag_embed(full.W.diagonal(dim1=1, dim2=2)))


@contract
def symmetric(m: Even, d: int, generator: Generator, dtype: torch.dtype = torch.float64) -> Parameters:
    """Symmetric random initialisation φ⁽⁰⁾: heads i and i + m/2 share U and W and carry opposite c, so that f = 0.

    Entries of U and W are standard Gaussian, c_i is ±1 with equal probability. Source: Arda, Cayci, Eryilmaz 2026, section 5.2.
    """
    half = random(m // 2, d, generator, dtype)
    sign = torch.where(half.c < 0, -1.0, 1.0).to(dtype)
    return Parameters(c=torch.cat([sign, -sign]), U=half.U.repeat(2, 1), W=half.W.repeat(2, 1, 1))


def difference(phi: Parameters, phi0: Parameters) -> Parameters:
    """The displacement φ − φ⁽⁰⁾, block by block."""
    arguments.shape("phi.W", phi.W, tuple(phi0.W.shape), "[m, d, d] as in phi0")
    arguments.same_kind("phi0", phi0.W, phi=phi.W)
    return phi.map(torch.sub, phi0)


def plus(phi: Parameters, delta: Parameters, scale: float = 1.0) -> Parameters:
    """φ + scale · δ, block by block."""
    arguments.shape("delta.W", delta.W, tuple(phi.W.shape), "[m, d, d] as in phi")
    arguments.same_kind("phi", phi.W, delta=delta.W)
    return Parameters(*points.plus(phi.blocks, delta.blocks, scale))


def norm(phi: Parameters) -> Float[Tensor, ""]:
    """‖φ‖ over all blocks and heads, for instance of a displacement or a gradient."""
    return points.norm(phi.blocks)


def squared_distance(phi: Parameters, other: Parameters) -> Float[Tensor, ""]:
    """‖φ − ψ‖² over all blocks and heads."""
    delta = difference(phi, other).blocks
    return points.inner(delta, delta)
