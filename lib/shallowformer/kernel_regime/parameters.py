"""Parameters φ = (c, U, W) of the model: random ones, random ones with diagonal W, and the symmetric initialisation."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from shallowformer import arguments


@dataclass(frozen=True)
class Parameters:
    """Parameters φ = (φ_1, …, φ_m), φ_i = (c_i, U_i, W_i), of m heads.

    Args:
        c: readout, Float[Tensor, "m"].
        U: feed-forward vectors, Float[Tensor, "m d"].
        W: attention matrices, Float[Tensor, "m d d"].

    Raises:
        ValueError: shapes that do not fit, mixed dtypes or devices, an empty, NaN or infinite block.

    Source:
        Arda, Cayci, Eryilmaz 2026, section 3.2.
    """

    c: Tensor
    U: Tensor
    W: Tensor

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
    def blocks(self) -> tuple[Tensor, Tensor, Tensor]:
        """(c, U, W)."""
        return self.c, self.U, self.W

    def map(self, function) -> "Parameters":
        """Apply a function to each block.

        Args:
            function: Tensor → Tensor that keeps the shape, e.g. ``lambda block: block.float()``.

        Returns:
            New parameters.
        """
        return Parameters(*(function(block) for block in self.blocks))


def random(m: int, d: int, generator: Generator, dtype: torch.dtype = torch.float64) -> Parameters:
    """Parameters in general position: every entry an independent standard Gaussian, heads unpaired.

    Args:
        m: number of heads, at least 1.
        d: dimension of a token, at least 1.
        generator: source of randomness.
        dtype: of the result.

    Returns:
        The parameters.

    Raises:
        ValueError: ``m`` or ``d`` is not a whole number of at least 1.
    """
    arguments.count("m", m)
    arguments.count("d", d)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=dtype, device=generator.device)
    return Parameters(c=draw(m), U=draw(m, d), W=draw(m, d, d))


def diagonal(m: int, d: int, generator: Generator, dtype: torch.dtype = torch.float64) -> Parameters:
    """As ``random``, but attention matrices keep their diagonal only.

    Args:
        m: number of heads, at least 1.
        d: dimension of a token, at least 1.
        generator: source of randomness.
        dtype: of the result.

    Returns:
        The parameters; c and U are those of ``random`` from the same generator.

    Raises:
        ValueError: ``m`` or ``d`` is not a whole number of at least 1.

    Source:
        The heads of the teacher in the code released with Arda, Cayci, Eryilmaz 2026.
    """
    full = random(m, d, generator, dtype)
    return Parameters(full.c, full.U, torch.diag_embed(full.W.diagonal(dim1=1, dim2=2)))


def symmetric(m: int, d: int, generator: Generator, dtype: torch.dtype = torch.float64) -> Parameters:
    """Symmetric random initialisation: heads i and i + m/2 share U and W and carry opposite c, so that f = 0.

    Entries of U and W are standard Gaussian, c_i is +1 or −1 with equal probability.

    Args:
        m: number of heads, even.
        d: dimension of a token, at least 1.
        generator: source of randomness.
        dtype: of the result.

    Returns:
        The parameters φ⁽⁰⁾.

    Raises:
        ValueError: ``m`` is odd or below 2, or ``d`` is below 1.

    Source:
        Arda, Cayci, Eryilmaz 2026, section 5.2.
    """
    half = random(arguments.even("m", m) // 2, d, generator, dtype)
    sign = torch.where(half.c < 0, -1.0, 1.0).to(dtype)
    return Parameters(c=torch.cat([sign, -sign]), U=half.U.repeat(2, 1), W=half.W.repeat(2, 1, 1))
